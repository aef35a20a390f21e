/* NKeys: an Ed25519 key pair as text. From the seed, which alone is in the credentials, the public
 * key is worked out, and the server's challenge signed.
 *
 * Text is base32 of a prefix (of seeds two bytes, of public keys one), 32 bytes, and their
 * CRC-16/XMODEM, low byte first: the format of NATS' nkeys. */
#include <openssl/evp.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "runtime/nats/dial.h"

enum { KEY = 32, SEED_BYTES = 2 + KEY + 2, PUBLIC_BYTES = 1 + KEY + 2, PUBLIC_TEXT = 56 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

static uint16_t crc_of(const uint8_t *bytes, size_t size)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < size; i++) {
        crc ^= (uint32_t)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
    }
    return (uint16_t)crc;
}

static bool decode(const char *text, uint8_t *out, size_t size)
{
    uint32_t held = 0, bits = 0;
    size_t count = 0;
    for (; *text; text++) {
        const char *at = strchr(alphabet, *text);
        if (!at)
            return false;
        held = held << 5 | (uint32_t)(at - alphabet);
        bits += 5;
        if (bits >= 8) {
            if (count == size)
                return false;
            bits -= 8;
            out[count++] = (uint8_t)(held >> bits);
        }
    }
    return count == size;
}

static void encode(const uint8_t *bytes, size_t size, char *out)
{
    uint32_t held = 0, bits = 0;
    for (size_t i = 0; i < size; i++) {
        held = held << 8 | bytes[i];
        for (bits += 8; bits >= 5; bits -= 5)
            *out++ = alphabet[held >> (bits - 5) & 31];
    }
    *out = 0; /* 35 bytes are 56 letters without a rest */
}

/* The public key's text of a seed's; false if it is none. */
static bool public_of(const char *seed, char out[PUBLIC_TEXT + 1])
{
    uint8_t raw[SEED_BYTES], key[PUBLIC_BYTES];
    size_t length = KEY;
    bool good = decode(seed, raw, sizeof raw) &&
                crc_of(raw, SEED_BYTES - 2) == cleave__load16(raw + SEED_BYTES - 2);
    EVP_PKEY *pair =
        good ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, raw + 2, KEY) : NULL;
    good = pair && EVP_PKEY_get_raw_public_key(pair, key + 1, &length) == 1 && length == KEY;
    EVP_PKEY_free(pair);
    key[0] = (uint8_t)((raw[0] & 7) << 5 | raw[1] >> 3);
    explicit_bzero(raw, sizeof raw);
    if (!good)
        return false;
    cleave__store16(key + 1 + KEY, crc_of(key, 1 + KEY));
    encode(key, sizeof key, out);
    return true;
}

static natsStatus sign(char **error, unsigned char **signature, int *length, const char *nonce,
                       void *closure)
{
    const struct cleave__dial *dial = closure;
    (void)error;
    return nats_Sign(dial->seed, nonce, signature, length);
}

enum cleave_status cleave__dial_use_nkey(struct cleave__dial *dial, const char *seed,
                                         struct cleave_error *error)
{
    char key[PUBLIC_TEXT + 1];
    if (strlen(seed) >= sizeof dial->seed || !public_of(seed, key))
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: what follows `nkey` is not a seed",
                                dial->options->credentials);
    memcpy(dial->seed, seed, strlen(seed) + 1);
    natsStatus status = natsOptions_SetNKey(dial->connecting, key, sign, dial);
    return status ? cleave__dial_error(error, status, "the NKey") : CLEAVE_OK;
}

/* Passwords, NKeys and certificates for a throw-away cluster, by libcrypto.
 *
 * An NKey is an Ed25519 key in base32: a seed is two bytes of prefix ("SU"), 32 of the key, and a
 * CRC-16 of them; a public name one byte of prefix ("U"), 32 and the CRC (nats-io/nkeys). */
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/inside.h"

enum { PREFIX_SEED = 18 << 3, PREFIX_USER = 20 << 3, KEY_BYTES = 32, DAYS = 30 };

static enum cleave_status refused(const char *what, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_IO, "libcrypto cannot make %s", what);
}

enum cleave_status cleave__cluster_secret_password(char password[CLEAVE__SECRET_SIZE],
                                                   struct cleave_error *error)
{
    unsigned char bytes[24];
    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return refused("a password", error);
    for (size_t i = 0; i < sizeof bytes; i++)
        password[i] = "abcdefghijkmnpqrstuvwxyz23456789"[bytes[i] % 32];
    password[sizeof bytes] = 0;
    return CLEAVE_OK;
}

/* CRC-16/XMODEM */
static unsigned crc16(const unsigned char *bytes, size_t length)
{
    unsigned crc = 0;
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
    }
    return crc;
}

/* Appends the CRC to `length` bytes (there is room) and writes base32 without padding. */
static void encode(unsigned char *bytes, size_t length, char *out)
{
    unsigned crc = crc16(bytes, length), bits = 0, held = 0;
    bytes[length] = (unsigned char)(crc & 0xff);
    bytes[length + 1] = (unsigned char)(crc >> 8);
    for (size_t i = 0; i < length + 2; i++) {
        held = held << 8 | bytes[i];
        for (bits += 8; bits >= 5; bits -= 5)
            *out++ = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[held >> (bits - 5) & 31];
    }
    if (bits)
        *out++ = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[held << (5 - bits) & 31];
    *out = 0;
}

enum cleave_status cleave__cluster_secret_nkey(char seed[CLEAVE__SECRET_SIZE],
                                               char public_key[CLEAVE__SECRET_SIZE],
                                               struct cleave_error *error)
{
    unsigned char bytes[KEY_BYTES + 4] = {PREFIX_SEED | PREFIX_USER >> 5, (PREFIX_USER & 31) << 3};
    size_t private_length = KEY_BYTES, public_length = KEY_BYTES;
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    bool made = key && EVP_PKEY_get_raw_private_key(key, bytes + 2, &private_length) == 1;
    encode(bytes, 2 + KEY_BYTES, seed);
    bytes[0] = PREFIX_USER;
    made = made && EVP_PKEY_get_raw_public_key(key, bytes + 1, &public_length) == 1;
    encode(bytes, 1 + KEY_BYTES, public_key);
    EVP_PKEY_free(key);
    return made ? CLEAVE_OK : refused("an NKey", error);
}

static bool add_extension(X509 *certificate, int kind, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    bool added = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

static bool sign(X509 *certificate, EVP_PKEY *key)
{
    X509_NAME *name = X509_get_subject_name(certificate);
    return X509_set_version(certificate, 2) == 1 &&
           ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), DAYS * 86400L) &&
           X509_set_pubkey(certificate, key) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost",
                                      -1, -1, 0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1 &&
           add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") &&
           add_extension(certificate, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost") &&
           X509_sign(certificate, key, EVP_sha256()) > 0;
}

static char *text_of(BIO *bio)
{
    char *bytes;
    long length = BIO_get_mem_data(bio, &bytes);
    return strndup(bytes, length > 0 ? (size_t)length : 0);
}

enum cleave_status cleave__cluster_secret_certificate(char **certificate, char **key,
                                                      struct cleave_error *error)
{
    EVP_PKEY *pair = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
    X509 *made = X509_new();
    BIO *first = BIO_new(BIO_s_mem()), *second = BIO_new(BIO_s_mem());
    char *texts[2] = {NULL, NULL};
    if (pair && made && first && second && sign(made, pair) &&
        PEM_write_bio_X509(first, made) == 1 &&
        PEM_write_bio_PrivateKey(second, pair, NULL, NULL, 0, NULL, NULL) == 1) {
        texts[0] = text_of(first);
        texts[1] = text_of(second);
    }
    BIO_free(first);
    BIO_free(second);
    X509_free(made);
    EVP_PKEY_free(pair);
    if (!texts[0] || !texts[1]) {
        free(texts[0]);
        free(texts[1]);
        return refused("a certificate", error);
    }
    *certificate = texts[0];
    *key = texts[1];
    return CLEAVE_OK;
}

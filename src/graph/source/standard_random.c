/* ChaCha12 as a stream of numbers; see the header. A u64 is two words, the low one first. */
#include "graph/source/standard_random.h"

#include <string.h>

void cleave__standard_seed(struct cleave__standard_random *random, uint64_t seed)
{
    *random = (struct cleave__standard_random){.at = 16};
    for (int i = 0; i < 8; i++) {
        seed = seed * 6364136223846793005u + 11634580027462260723u;
        uint32_t x = (uint32_t)(((seed >> 18) ^ seed) >> 27), turn = (uint32_t)(seed >> 59);
        random->key[i] = x >> turn | x << (-turn & 31);
    }
}

static uint32_t left(uint32_t x, int k)
{
    return x << k | x >> (32 - k);
}

static void quarter(uint32_t *w, int a, int b, int c, int d)
{
    w[a] += w[b];
    w[d] = left(w[d] ^ w[a], 16);
    w[c] += w[d];
    w[b] = left(w[b] ^ w[c], 12);
    w[a] += w[b];
    w[d] = left(w[d] ^ w[a], 8);
    w[c] += w[d];
    w[b] = left(w[b] ^ w[c], 7);
}

static void next_block(struct cleave__standard_random *random)
{
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    uint32_t *w = random->word;
    memcpy(start + 4, random->key, sizeof random->key);
    start[12] = (uint32_t)random->block;
    start[13] = (uint32_t)(random->block >> 32);
    memcpy(w, start, sizeof start);
    for (int round = 0; round < 12; round += 2) {
        for (int i = 0; i < 4; i++)
            quarter(w, i, 4 + i, 8 + i, 12 + i);
        for (int i = 0; i < 4; i++)
            quarter(w, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
    for (int i = 0; i < 16; i++)
        w[i] += start[i];
    random->block++;
    random->at = 0;
}

static uint32_t next_word(struct cleave__standard_random *random)
{
    if (random->at == 16)
        next_block(random);
    return random->word[random->at++];
}

static uint64_t next(struct cleave__standard_random *random)
{
    uint64_t low = next_word(random);
    return low | (uint64_t)next_word(random) << 32;
}

uint64_t cleave__standard_between(struct cleave__standard_random *random, uint64_t low,
                                  uint64_t high)
{
    uint64_t range = high - low + 1;
    if (range == 0)
        return next(random);
    uint64_t zone = (range << __builtin_clzll(range)) - 1;
    for (;;) {
        __uint128_t product = (__uint128_t)next(random) * range;
        if ((uint64_t)product <= zone)
            return low + (uint64_t)(product >> 64);
    }
}

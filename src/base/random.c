#include "base/random.h"

uint64_t cleave__mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void cleave__random_seed(struct cleave_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15u;
        random->state[i] = cleave__mix64(seed);
    }
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t cleave__random_next(struct cleave_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t cleave__random_below(struct cleave_random *random, uint64_t bound)
{
    /* Rejection of the short last stretch; at most two draws on average. */
    uint64_t limit = UINT64_MAX - (UINT64_MAX % bound + 1) % bound;
    uint64_t draw;
    do {
        draw = cleave__random_next(random);
    } while (draw > limit);
    return draw % bound;
}

int64_t cleave__random_between(struct cleave_random *random, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t draw = span ? cleave__random_below(random, span) : cleave__random_next(random);
    return (int64_t)((uint64_t)low + draw);
}

double cleave__random_real(struct cleave_random *random)
{
    return (double)(cleave__random_next(random) >> 11) * 0x1.0p-53;
}

void cleave__random_shuffle(struct cleave_random *random, uint32_t *items, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)cleave__random_below(random, i);
        uint32_t held = items[i - 1];
        items[i - 1] = items[j];
        items[j] = held;
    }
}

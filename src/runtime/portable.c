#include "runtime/portable.h"

#include <assert.h>
#include <float.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two pieces: the first has 33 bits, so that its product with an exponent is exact. */
static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double cleave__portable_log(double x)
{
    assert(x >= DBL_MIN && x <= DBL_MAX);
    uint64_t bits = bits_of(x);
    int64_t exponent = (int64_t)(bits >> 52) - 1023;
    double m = from_bits((bits & 0xfffffffffffffu) | UINT64_C(1023) << 52);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        exponent++;
    }
    /* ln m = 2 atanh(s), |s| <= 0.172. */
    double s = (m - 1) / (m + 1), s2 = s * s, sum = 0;
    for (int n = 23; n >= 3; n -= 2)
        sum = (sum + 1.0 / n) * s2;
    double e = (double)exponent;
    return e * ln2_high + (2 * s + (2 * s * sum + e * ln2_low));
}

double cleave__portable_exp(double x)
{
    if (x < -700)
        return 0;
    if (x > 700)
        return DBL_MAX * 2;
    int64_t k = (int64_t)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
    double r = (x - (double)k * ln2_high) - (double)k * ln2_low, sum = 1;
    for (int n = 14; n >= 1; n--)
        sum = 1 + sum * (r / n);
    return sum * from_bits((uint64_t)(1023 + k) << 52);
}

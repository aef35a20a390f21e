/* Measures of a placement; see the header. The share and limit arithmetic is here, once, because
 * "balanced" must mean the same to the partitioner, the recount and the tests. */
#include "model/measures.h"

#include <math.h>
#include <string.h>

int64_t cleave__measure_cut(const struct cleave_hypergraph *h, const uint32_t *block)
{
    int64_t cut = 0;
    for (uint32_t e = 0; e < h->nets; e++) {
        for (uint64_t i = h->net_offset[e] + 1; i < h->net_offset[e + 1]; i++) {
            if (block[h->pin[i]] != block[h->pin[h->net_offset[e]]]) {
                cut += h->net_weight[e];
                break;
            }
        }
    }
    return cut;
}

int64_t cleave__measure_km1(const struct cleave_hypergraph *h, const uint32_t *block,
                            uint32_t blocks, uint32_t *mark)
{
    int64_t km1 = 0;
    memset(mark, 0, blocks * sizeof *mark);
    for (uint32_t e = 0; e < h->nets; e++) {
        int64_t touched = 0;
        for (uint64_t i = h->net_offset[e]; i < h->net_offset[e + 1]; i++) {
            uint32_t b = block[h->pin[i]];
            if (mark[b] != e + 1) {
                mark[b] = e + 1;
                touched++;
            }
        }
        if (touched > 1)
            km1 += h->net_weight[e] * (touched - 1);
    }
    return km1;
}

void cleave__measure_weights(const struct cleave_hypergraph *h, const uint32_t *block,
                             uint32_t blocks, int64_t *weight)
{
    uint32_t W = h->weights;
    memset(weight, 0, (size_t)blocks * W * sizeof *weight);
    for (uint32_t v = 0; v < h->vertices; v++) {
        for (uint32_t c = 0; c < W; c++)
            weight[(size_t)block[v] * W + c] += h->vertex_weight[(size_t)v * W + c];
    }
}

int64_t cleave__share_of(double part, double whole, int64_t total)
{
    /* Whole-number ratios (equal shares above all) are done in integers: no rounding at all. */
    double ratio = whole / part;
    if (ratio == floor(ratio) && ratio < 4294967296.0) {
        int64_t n = (int64_t)ratio;
        return total / n + (total % n != 0);
    }
    double exact = part / whole * (double)total;
    double near = round(exact);
    double tolerance = 1e-12 * (exact > 1 ? exact : 1);
    double quota = fabs(exact - near) <= tolerance ? near : ceil(exact);
    return quota >= (double)total ? total : (int64_t)quota;
}

int64_t cleave__block_limit(int64_t quota, double epsilon)
{
    double limit = floor((1.0 + epsilon) * (double)quota);
    if (limit >= 0x1p62)
        return INT64_C(1) << 62;
    /* Past 2^53 the product may round below the quota itself. */
    return (int64_t)limit > quota ? (int64_t)limit : quota;
}

int64_t cleave__block_floor(double share, int64_t total, double underweight)
{
    double fair = floor(share * (double)total * (1 + 1e-12));
    double least = floor((1.0 - underweight) * fair);
    return least >= (double)total ? total : least > 0 ? (int64_t)least : 0;
}

static double spread(uint32_t n, const double *value)
{
    double mean = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        mean += value[i];
    mean /= n;
    if (mean == 0)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        double d = (value[i] - mean) / mean;
        sum += d * d;
    }
    return sum / n;
}

double cleave__skew_factor(uint32_t n, const double *size, const double *access, double alpha,
                           double beta)
{
    if (n == 0)
        return 0;
    return alpha * spread(n, size) + beta * spread(n, access);
}

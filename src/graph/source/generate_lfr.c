/* After Lancichinetti, Fortunato and Radicchi (2008), as a directed graph: degrees follow a power
 * law of exponent 2 with the mean asked for, community sizes one of exponent 1, and of each user's
 * edges a share `mixing` leaves its community. Targets are drawn in proportion to their own degree,
 * within the community or outside it, so that popular users are followed more.
 *
 * Unlike the original, in-degrees follow from the drawing instead of being fixed beforehand, and
 * repeated draws are dropped when the graph is built. Users are shuffled among communities, so that
 * ids tell nothing. */
#include <stdlib.h>

#include "base/random.h"
#include "graph/source/generate.h"

enum { SIZE_LEAST = 20 };

struct lfr {
    const struct cleave__generate_options *options;
    struct cleave_random random;
    uint32_t users;
    uint32_t *degree; /* [users] */
    uint32_t *order;  /* [users]: users, those of a community together */
    uint32_t *first;  /* [communities + 1]: where it begins in `order` */
    uint64_t *sum;    /* [users + 1]: degrees along `order`, cumulated */
    uint32_t communities;
};

/* From [low, high] with density x^-2: no libm, so that every machine draws the same. */
static uint32_t power_2(struct cleave_random *random, uint32_t low, uint32_t high)
{
    double u = cleave__random_real(random), a = 1.0 / low, b = 1.0 / ((double)high + 1);
    uint32_t x = (uint32_t)(1.0 / (a - u * (a - b)));
    return x < low ? low : x > high ? high : x;
}

/* The least lower end of degrees whose mean, with upper end `high`, is `mean` or more. */
static uint32_t lower_end(double mean, uint32_t high)
{
    double weight = 0, sum = 0;
    uint32_t best = high;
    for (uint32_t x = high; x > 0; x--) {
        weight += 1.0 / ((double)x * x);
        sum += 1.0 / x;
        if (sum / weight < mean)
            break;
        best = x;
    }
    return best;
}

/* Sizes with density x^-1: uniform among powers of two, uniform within. The last is what is left.
 */
static void draw_sizes(struct lfr *x)
{
    uint32_t most = x->users / 5 > SIZE_LEAST ? x->users / 5 : x->users, used = 0;
    x->communities = 0;
    while (used < x->users) {
        uint32_t size = SIZE_LEAST;
        while (size * 2 <= most && cleave__random_below(&x->random, 4))
            size *= 2;
        size += (uint32_t)cleave__random_below(&x->random, size);
        if (size > most)
            size = most;
        if (size > x->users - used || x->users - used - size < SIZE_LEAST)
            size = x->users - used;
        x->first[x->communities++] = used;
        used += size;
    }
    x->first[x->communities] = used;
}

/* A place in [low, high) of `order`, by degree. */
static uint32_t by_degree(struct lfr *x, uint32_t low, uint32_t high)
{
    uint64_t at = x->sum[low] + cleave__random_below(&x->random, x->sum[high] - x->sum[low]);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (x->sum[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static enum cleave_status draw_edges(struct lfr *x, struct cleave__drawn *drawn,
                                     struct cleave_error *error)
{
    for (uint32_t c = 0; c < x->communities; c++) {
        uint32_t low = x->first[c], high = x->first[c + 1];
        for (uint32_t i = low; i < high; i++) {
            enum cleave_status status = cleave__drawn_pulse(x->options, i, x->users, error);
            if (status)
                return status;
            drawn->community[x->order[i]] = c;
            for (uint32_t d = 0; d < x->degree[x->order[i]]; d++) {
                bool leaves = cleave__random_real(&x->random) < x->options->mixing;
                uint32_t to;
                do {
                    to = leaves ? by_degree(x, 0, x->users) : by_degree(x, low, high);
                } while (leaves && x->communities > 1 && to >= low && to < high);
                if (!cleave__drawn_add(drawn, x->order[i], x->order[to]))
                    return cleave__drawn_no_memory(error);
            }
        }
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__draw_lfr(const struct cleave__generate_options *options,
                                    struct cleave__drawn *drawn, struct cleave_error *error)
{
    uint32_t n = options->users;
    if (options->degree == 0 || options->degree >= n || !(options->mixing >= 0) ||
        options->mixing > 1)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "lfr needs a degree from 1, fewer than users, and a mixing from 0 "
                                "to 1");
    struct lfr x = {.options = options, .users = n};
    cleave__random_seed(&x.random, options->seed);
    x.degree = malloc(n * sizeof *x.degree);
    x.order = malloc(n * sizeof *x.order);
    x.first = malloc(((size_t)n / SIZE_LEAST + 2) * sizeof *x.first);
    x.sum = malloc(((size_t)n + 1) * sizeof *x.sum);
    drawn->community = malloc(n * sizeof *drawn->community);
    enum cleave_status status = CLEAVE_OK;
    if (!x.degree || !x.order || !x.first || !x.sum || !drawn->community) {
        status = cleave__drawn_no_memory(error);
    } else {
        uint64_t wide = (uint64_t)options->degree * 10;
        uint32_t high = wide < n - 1 ? (uint32_t)wide : n - 1;
        uint32_t low = lower_end(options->degree, high);
        for (uint32_t v = 0; v < n; v++) {
            x.degree[v] = power_2(&x.random, low, high);
            x.order[v] = v;
        }
        cleave__random_shuffle(&x.random, x.order, n);
        draw_sizes(&x);
        x.sum[0] = 0;
        for (uint32_t i = 0; i < n; i++)
            x.sum[i + 1] = x.sum[i] + x.degree[x.order[i]];
        drawn->users = n;
        drawn->communities = x.communities;
        status = draw_edges(&x, drawn, error);
    }
    free(x.degree);
    free(x.order);
    free(x.first);
    free(x.sum);
    return status;
}

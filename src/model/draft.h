/* A hypergraph while its file is read: what the readers of .hgr, .graph and PaToH share.
 *
 * Memory follows the bytes read, not the numbers announced: a header that lies costs nothing. The
 * arrays become the hypergraph's own at the end; there is never a second copy. Sums of weights are
 * kept within CLEAVE__WEIGHT_SUM_MAX as they come, so that the line at fault is known. */
#ifndef CLEAVE_MODEL_DRAFT_H
#define CLEAVE_MODEL_DRAFT_H

#include "base/vector.h"
#include "cleave/hypergraph.h"
#include "model/numbers.h"

struct cleave__draft {
    struct cleave__numbers in;
    /* What the opening line announced; the reader sets them before anything else. */
    uint32_t vertices, nets, weights; /* weights: of a vertex, 1 unless set */
    bool has_net_weights, has_vertex_weights;
    uint64_t opening_line;          /* its number */
    CLEAVE_VECTOR(uint64_t) offset; /* ends of the nets read, after a 0 */
    CLEAVE_VECTOR(uint32_t) pin;
    CLEAVE_VECTOR(int64_t) net_weight;    /* [nets], or empty */
    CLEAVE_VECTOR(int64_t) vertex_weight; /* [vertices * weights], or empty */
    int64_t net_sum, vertex_sum[CLEAVE_WEIGHTS_MAX];
};

/* A number of the opening line, and what it may be. */
struct cleave__announced {
    const char *name;
    int64_t low, high;
};

/* Reads the first line that is neither blank nor a comment into `out`: at least `least` numbers, at
 * most `most`; `*found` says how many. `form` shows what the line must be. */
enum cleave_status cleave__draft_opening(struct cleave__draft *draft, const char *form,
                                         const struct cleave__announced *announced, uint32_t least,
                                         uint32_t most, int64_t *out, uint32_t *found,
                                         struct cleave_error *error);

/* Reads the nets, a line each: a weight first if they have one, then vertices counted from `base`.
 */
enum cleave_status cleave__draft_nets(struct cleave__draft *draft, int64_t base,
                                      struct cleave_error *error);
enum cleave_status cleave__draft_pin(struct cleave__draft *draft, uint32_t vertex,
                                     struct cleave_error *error);
/* Ends the net that the last pins make; `weight` counts only if nets have weights. */
enum cleave_status cleave__draft_net(struct cleave__draft *draft, int64_t weight,
                                     struct cleave_error *error);
/* Reads a number of the line as the next weight, of constraint `c`. */
enum cleave_status cleave__draft_vertex_weight(struct cleave__draft *draft, uint32_t c,
                                               struct cleave_error *error);
/* "file ends after 3 of the 5 nets announced". */
enum cleave_status cleave__draft_ends(const struct cleave__draft *draft, const char *what,
                                      uint64_t read, uint64_t announced,
                                      struct cleave_error *error);

/* Opens `path`, has `parse` fill a draft, wants nothing after it, and builds the hypergraph. */
typedef enum cleave_status cleave__draft_parse(struct cleave__draft *draft,
                                               struct cleave_error *error);
enum cleave_status cleave__draft_read(const char *path, cleave__draft_parse *parse,
                                      struct cleave_hypergraph **out, struct cleave_error *error);

#endif

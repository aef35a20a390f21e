/* What the streaming placers share: vertices are placed one after another, each where the objective
 * of the placer wants it, never over a block's limit while any block has room. Not for other rooms.
 */
#ifndef CLEAVE_PLACE_STREAM_H
#define CLEAVE_PLACE_STREAM_H

#include "place/placer.h"

enum { CLEAVE__UNPLACED = UINT32_MAX };

struct cleave__stream {
    const struct cleave__request *request;
    uint32_t *block;  /* [vertices]: the caller's; CLEAVE__UNPLACED before */
    int64_t *load;    /* [blocks * W] */
    double *affinity; /* [blocks]: of the vertex last looked at */
};

/* Places fixed vertices; all others are unplaced. */
enum cleave_status cleave__stream_init(struct cleave__stream *stream,
                                       const struct cleave__request *request, uint32_t *block,
                                       struct cleave_error *error);
void cleave__stream_free(struct cleave__stream *stream);
/* Every vertex is unplaced; rewind next. */
void cleave__stream_forget(struct cleave__stream *stream);
/* Forgets loads, but those of fixed vertices: block[] stays, for the next pass to look at. */
void cleave__stream_rewind(struct cleave__stream *stream);

/* Fills affinity[]: each net's weight, divided among its other pins, goes to their blocks. Nets
 * past 1,000 pins are left out. O(pins of its nets + blocks). */
void cleave__stream_look(struct cleave__stream *stream, uint32_t vertex);
/* How full a block is of its limit, or of its quota: the fullest weight counts. */
double cleave__stream_fill(const struct cleave__stream *stream, uint32_t b, const int64_t *whole);
/* Would the vertex stay within every limit of the block? */
bool cleave__stream_fits(const struct cleave__stream *stream, uint32_t vertex, uint32_t b);
void cleave__stream_put(struct cleave__stream *stream, uint32_t vertex, uint32_t b);

/* Puts the vertex, which was looked at, into the block of the highest score that has room, the
 * emptier and then the lower one among equals; where none has room, into the emptiest. */
typedef double cleave__stream_score(const struct cleave__stream *stream, uint32_t b, double factor);
void cleave__stream_place(struct cleave__stream *stream, uint32_t vertex,
                          cleave__stream_score *score, double factor);
/* All free vertices in their order. CLEAVE_INTERRUPTED when the caller asked to stop. */
enum cleave_status cleave__stream_pass(struct cleave__stream *stream, cleave__stream_score *score,
                                       double factor, struct cleave_error *error);
/* LDG's score: affinity * (1 - fill). */
double cleave__stream_ldg(const struct cleave__stream *stream, uint32_t b, double factor);
/* Fennel's: affinity less the marginal cost a g x^(g-1) of a block of x vertices, with g = 1.5 and
 * a = m k^(g-1) / n^g for m of net weight. With weights, x is the fullest one's part of its quota,
 * times n / k; the cost is then `factor` times the root of that part, with 1.5 m / n as the factor.
 */
double cleave__stream_fennel(const struct cleave__stream *stream, uint32_t b, double factor);
double cleave__stream_fennel_price(const struct cleave__stream *stream);

#endif

/* Valid files of every kind, made from a seed, and ways to damage them. */
#ifndef CLEAVE_TESTS_MODEL_HOSTILE_TEXT_H
#define CLEAVE_TESTS_MODEL_HOSTILE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

enum { VERTICES_MAX = 24, TEXT_MAX = 1 << 18 };

struct text {
    struct cleave_random random;
    char bytes[TEXT_MAX];
    size_t length;
};

uint32_t below(struct text *text, uint32_t bound);

/* Each fills an empty text. Hypergraphs have up to VERTICES_MAX vertices; the other files are for
 * exactly so many, and blocks 0 to 3. */
void make_hgr(struct text *text);
void make_graph(struct text *text);
void make_patoh(struct text *text);
void make_fix(struct text *text);
void make_together(struct text *text);
void make_apart(struct text *text);

/* One wound: cut short, a bit turned, a number changed to one past some bound, lines gone or moved,
 * any bytes, very long lines, other line ends. */
void damage(struct text *text);

#endif

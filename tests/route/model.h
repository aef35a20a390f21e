/* Random layouts over small domains, and where a row lives by reading layout.h word for word. */
#ifndef CLEAVE_TESTS_ROUTE_MODEL_H
#define CLEAVE_TESTS_ROUTE_MODEL_H

#include "base/arena.h"
#include "base/shardset.h"
#include "support/property.h"
#include "tables/route/layout.h"

enum { MODEL_COLUMNS = 3, MODEL_DOMAIN_MAX = 16 };

struct model_domain {
    enum cleave_type type;
    uint32_t count;
    struct cleave_value values[MODEL_DOMAIN_MAX]; /* rising; NULL first */
};

struct model {
    struct cleave_arena arena;
    struct cleave_schema schema;
    struct cleave_layout layout;
    struct model_domain domains[MODEL_COLUMNS]; /* of every table's columns */
};

void model_random(struct property_source *source, struct model *model);
/* Another layout of the same tables, often with the same maps; `like` outlives it. */
void model_random_like(struct property_source *source, const struct model *like,
                       struct model *model);
void model_free(struct model *model);
void model_print(const struct model *model);

/* The definition, literally; CLEAVE_SHARDS_MAX when replicated. */
uint32_t model_row(const struct cleave_layout *layout, uint32_t table,
                   const struct cleave_value *values);

/* Where the copy by the second key lives, of a table that has two. */
uint32_t model_second(const struct cleave_layout *layout, uint32_t table,
                      const struct cleave_value *values);

/* A range within the domain (never empty), and a random box. `points`: each column gets a list of
 * points. */
struct cleave_range model_range(struct property_source *source, const struct model_domain *domain,
                                bool point);
void model_box(struct property_source *source, struct model *model, bool points,
               struct cleave_box *out);
bool model_box_holds(const struct cleave_box *box, const struct cleave_value *row);
/* The i-th row of the product of the domains; false past the last. */
bool model_nth_row(const struct model *model, uint32_t index, struct cleave_value *row);
void model_print_box(const struct cleave_box *box);

#endif

/* A lookup table for other programs: as JSON, as calls of Citus, as native partitions over
 * postgres_fdw. What a target cannot express is said in comments of its text, with counts. */
#ifndef CLEAVE_TABLES_ROUTE_EXPORT_H
#define CLEAVE_TABLES_ROUTE_EXPORT_H

#include "tables/route/lookup.h"
#include "tables/route/words.h"

enum cleave_export_target { CLEAVE_EXPORT_JSON, CLEAVE_EXPORT_CITUS, CLEAVE_EXPORT_FDW };

/* Where the shards are, for FDW; "{}" in a text stands for the shard's number; a text with commas
 * is a list, one item a shard. NULL: the usual. */
struct cleave_export_options {
    const char *host;     /* "shard-{}" */
    const char *port;     /* "5432" */
    const char *database; /* "postgres" */
    const char *user;     /* NULL: as whom the front's server runs */
};

/* "json", "citus", "fdw"; CLEAVE_NOT_FOUND for another name. */
enum cleave_status cleave__export_target(const char *name, enum cleave_export_target *out,
                                         struct cleave_error *error);
/* `*out` is malloc'd and NUL-terminated. `options` may be NULL. */
enum cleave_status cleave__lookup_export(const struct cleave_lookup *lookup,
                                         enum cleave_export_target target,
                                         const struct cleave_export_options *options, char **out,
                                         size_t *length, struct cleave_error *error);

/* One writer a target, for export.c; memory that is out shows in words->failed or the status. */
enum cleave_status cleave__export_json(const struct cleave_lookup *lookup,
                                       struct cleave_words *words);
enum cleave_status cleave__export_citus(const struct cleave_lookup *lookup,
                                        struct cleave_words *words);
enum cleave_status cleave__export_fdw(const struct cleave_lookup *lookup,
                                      const struct cleave_export_options *options,
                                      struct cleave_words *words);

/* Tables (views left out) so that the targets of foreign keys come first, cycles aside; replicated
 * ones before all others. malloc'd. */
uint32_t *cleave__export_order(const struct cleave_lookup *lookup, uint32_t *count);
/* Exceptions of one table. */
uint32_t cleave__export_exceptions(const struct cleave_lookup *lookup, uint32_t table);

#endif

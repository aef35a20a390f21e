/* What the `cleave stream` subcommands share: the space, made-up streams, files and their columns,
 * by options. */
#ifndef CLEAVE_CLI_STREAM_H
#define CLEAVE_CLI_STREAM_H

#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "stream/index/matcher.h"
#include "stream/source/generate.h"
#include "stream/source/objects.h"
#include "stream/source/queries.h"

struct cleave_stream_space {
    struct cleave__space space;
    bool told;    /* by option */
    bool bounded; /* a plane's bounds were, too */
};

struct cleave_stream_made {
    struct cleave_stream_space *space; /* set before parsing; borrowed */
    struct cleave__stream_options options;
};

struct cleave_stream_files {
    const char *objects, *queries; /* NULL: not told */
    enum cleave__format objects_format, queries_format;
    enum cleave__header header;
    const char *layer, *query_id;
    struct cleave__object_columns columns;
    bool skip_bad;
};

/* --space. Its input is a struct cleave_stream_space. */
extern const struct argp cleave__stream_space_argp;
/* --hot-spots, --vocabulary, ...: of a struct cleave_stream_made; after parsing the space and the
 * seed are to be put in (cleave__stream_made_settle). */
extern const struct argp cleave__stream_made_argp;
/* --queries, --objects, --x, ...: of a struct cleave_stream_files. */
extern const struct argp cleave__stream_files_argp;

void cleave__stream_space_default(struct cleave_stream_space *space, enum cleave__space_kind kind);
void cleave__stream_made_settle(struct cleave_stream_made *made, uint64_t seed);
/* --generate OBJECTS[,QUERIES]: how many of each; what is not told stays as it is. */
void cleave__stream_generate_read(struct argp_state *state, char *value, uint64_t *objects,
                                  uint64_t *queries);

/* By name; NULL if there is none. The list ends with NULL. */
extern const struct cleave__matcher_ops *const cleave__stream_matchers[];
const struct cleave__matcher_ops *cleave__stream_matcher(struct argp_state *state,
                                                         const char *name);

/* Queries that were read, kept as bytes (object.h) until the bounds of a plane are known. */
struct cleave_stream_loaded {
    struct cleave__queries *reader; /* closed; has the names */
    struct cleave__terms terms;
    struct cleave_intern fields;
    struct cleave_writer bytes;
    uint8_t *wants; /* [count]: events, by id - 1 */
    size_t wants_capacity;
    struct cleave__box extent; /* of the rectangles and circles that are not everywhere */
    uint64_t count, refused;
};
/* Reads all queries. A bad row ends it, or is counted (skip_bad). The caller frees either way. */
enum cleave_status cleave__stream_load(const struct cleave_stream_files *files,
                                       const struct cleave__space *space,
                                       const struct cleave_progress *progress,
                                       struct cleave_stream_loaded *out,
                                       struct cleave_error *error);
void cleave__stream_loaded_free(struct cleave_stream_loaded *loaded);

#endif

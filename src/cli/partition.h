/* What the files of `cleave partition` share: what was asked, what was read. */
#ifndef CLEAVE_CLI_PARTITION_H
#define CLEAVE_CLI_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/partition.h"
#include "cli/options.h"
#include "cli/partition_replicate.h"

enum { CLEAVE_BLOCKS_MAX = 1024 };

struct cleave_partition_arguments {
    struct cleave_options common;
    struct cleave_replicas replicas;
    const char *path, *fix, *together, *apart, *output, *placer, *warm;
    uint32_t blocks, starts, threads;
    enum cleave_objective objective;
    enum cleave_preset preset;
    uint32_t format; /* index in cleave__partition_formats */
    bool refine_only;
    int64_t budget;
    double epsilon[CLEAVE_WEIGHTS_MAX];
    uint32_t epsilons; /* numbers given; one counts for all weights */
    double underweight[CLEAVE_WEIGHTS_MAX];
    uint32_t underweights; /* 0: no lower bound */
    double share[CLEAVE_BLOCKS_MAX];
    uint32_t shares; /* 0: equal */
};

/* The words of options, in the order of their enums; each list ends with NULL. */
extern const char *const cleave__partition_objectives[];
extern const char *const cleave__partition_presets[];
extern const char *const cleave__partition_formats[]; /* "auto", then files' own */

/* Everything that files say. Zero-initialise; arrays are malloc'd, [vertices] or NULL. */
struct cleave_partition_input {
    struct cleave_hypergraph *hypergraph;
    int32_t *fixed, *warm;
    uint32_t *together;
    uint32_t (*apart)[2]; /* [apart_count] */
    uint32_t apart_count;
};

/* Reads the files named. Lists of numbers a weight are widened to the hypergraph's weights. Free
 * `input` whatever the status. */
enum cleave_status cleave__partition_read(struct cleave_partition_arguments *arguments,
                                          struct cleave_partition_input *input,
                                          struct cleave_error *error);
void cleave__partition_input_free(struct cleave_partition_input *input);

/* Writes block numbers to -o, or beside the input. `*where`, malloc'd: the file's name, or
 * "standard output"; NULL when they were not written: a default file that cannot be, beside an
 * input that lies where nothing may be, is a remark on standard error, for the figures are still an
 * answer. */
enum cleave_status cleave__partition_write(const struct cleave_partition_arguments *arguments,
                                           const uint32_t *block, uint32_t vertices, char **where,
                                           struct cleave_error *error);
/* The figures, as a table, CSV or JSON; on standard error when blocks have standard output.
 * `satisfied`: the blocks are an answer, not just the nearest to one. */
enum cleave_status cleave__partition_print(const struct cleave_partition_arguments *arguments,
                                           const struct cleave_hypergraph *hypergraph,
                                           const struct cleave_partition_result *result,
                                           bool satisfied, struct cleave_error *error);

#endif

/* One run of a stream, from its workload to figures that are checked: first partitions from a
 * sample, the run (stream/serve), the answer of an unsharded matcher beside it. */
#ifndef CLEAVE_STREAM_COMPARE_PLAY_H
#define CLEAVE_STREAM_COMPARE_PLAY_H

#include "stream/oracle/script.h"
#include "stream/serve/serve.h"
#include "stream/source/generate.h"

enum cleave__first_partition { CLEAVE__FIRST_KD, CLEAVE__FIRST_UNIFORM };

struct cleave__stream_play {
    /* The workload: made up, all queries stored before the first object; or a script, whatever it
     * has. Borrowed. */
    const struct cleave__stream_options *made;
    uint64_t objects, queries;
    struct cleave__stream_script *script;
    const struct cleave__stream_options
        *planned;       /* the first partitions are for this; NULL: made */
    uint32_t grid_side; /* cells in a row and in a column */
    enum cleave__first_partition first;
    uint32_t spare;  /* evaluators without cells at first; fewer than there are */
    uint32_t sample; /* objects, and queries, that first partitions are made for */
    bool unchecked;  /* no unsharded answer */
    /* All else of the run; `space`, `grid`, `partitions`, feed and keep_matches are set here. */
    struct cleave__streaming streaming;
};

struct cleave__stream_played {
    struct cleave__streamed run;
    bool verified;
    uint64_t missing, unexpected; /* against the unsharded answer */
    const char *against;          /* matcher that gave it; NULL: unchecked */
    char wrong[200];
};

/* `out` is written only when the run came to its end; the caller frees it. A wrong answer is no
 * error: see `verified`. */
enum cleave_status cleave__stream_play(const struct cleave__stream_play *play,
                                       struct cleave__stream_played *out,
                                       struct cleave_error *error);
/* The first partitions alone, into `cells` [evaluators]. Of `streaming` it takes space, grid and
 * evaluators. */
enum cleave_status cleave__stream_play_partition(const struct cleave__stream_play *play,
                                                 const struct cleave__streaming *streaming,
                                                 struct cleave__cells *cells,
                                                 struct cleave_error *error);
void cleave__stream_played_free(struct cleave__stream_played *played);

#endif

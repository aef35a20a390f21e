/* Whether what clients were answered is right.
 *
 * Where nothing changes: the oracle is asked about every query. Where lists change, three things:
 * 1. An answer is what the oracle says of the graph whose lists are those that the query read, and
 *    the query read all that it needs.
 * 2. There is one moment for each change such that every read saw the lists of a moment between its
 *    request and its answer (history.h).
 * 3. What is asked when nothing changes any more is answered as by the oracle on the last graph. */
#ifndef CLEAVE_GRAPH_SERVE_CHECK_H
#define CLEAVE_GRAPH_SERVE_CHECK_H

#include "graph/serve/client.h"
#include "graph/serve/history.h"

struct cleave__answer_check;

/* Calls `told` of the serving, if there is one, with every answer of the client; adds them up into
 * `out` (may be NULL). */
enum cleave_status cleave__answers_tell(const struct cleave__serving *serving,
                                        const struct cleave__graph_client *client,
                                        struct cleave__served *out, struct cleave_error *error);

/* `history` may be NULL: nothing changes. Both are borrowed. */
enum cleave_status cleave__answer_check_new(const struct cleave__world *world,
                                            struct cleave__history *history,
                                            struct cleave__answer_check **out,
                                            struct cleave_error *error);
void cleave__answer_check_free(struct cleave__answer_check *check);
/* Reads the log of a client: counts into `out`. The first answer that is wrong is told there, and
 * `verified` becomes false. */
enum cleave_status cleave__answer_check_client(struct cleave__answer_check *check,
                                               const struct cleave__graph_client *client,
                                               struct cleave__served *out,
                                               struct cleave_error *error);
/* After all clients: the history as a whole. */
void cleave__answer_check_history(struct cleave__answer_check *check, struct cleave__served *out);

#endif

/* Whether what clients were answered is right. */
#ifndef CLEAVE_GRAPH_SERVE_CHECK_H
#define CLEAVE_GRAPH_SERVE_CHECK_H

#include "graph/serve/client.h"

/* Reads the log of a client: counts into `out`, and asks the oracle about every answer. The first
 * that is wrong is told in `out`, and `verified` becomes false. */
struct cleave__graph_oracle;
enum cleave_status cleave__check_answers(const struct cleave__graph_client *client,
                                         struct cleave__graph_oracle *oracle,
                                         struct cleave__served *out, struct cleave_error *error);

#endif

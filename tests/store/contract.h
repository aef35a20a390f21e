/* One contract for every kind of store: what store.h promises, run against a URL. */
#ifndef CLEAVE_TESTS_STORE_CONTRACT_H
#define CLEAVE_TESTS_STORE_CONTRACT_H

#include <stdbool.h>

#include "store/store.h"

/* Runs all of it on the (empty) database at `url`, which is empty again after; the number of
 * failures. */
int contract_run(const char *url);
/* Random histories, likewise. */
int contract_run_random(const char *url);

/* A session and what it answered last, for tests. */
struct client {
    const struct cleave_store_ops *ops;
    struct cleave_store_session *session;
    struct cleave_arena arena;
    struct cleave_store_answer answers[16];
    struct cleave_error error;
    uint32_t failed;
};

void client_open(struct client *client, const char *url);
void client_close(struct client *client);
/* One batch of up to four statements (NULL: none more). */
enum cleave_status client_batch(struct client *client, enum cleave_batch_end end, const char *name,
                                const char *first, const char *second, const char *third,
                                const char *fourth);
/* The one value that a query gives, "-" for NULL, "" for no row. */
const char *client_value(struct client *client, const char *query);
enum cleave_status client_finish(struct client *client, const char *name, bool commit);
/* Asserts that it is done. */
void client_do(struct client *client, const char *statement);

#endif

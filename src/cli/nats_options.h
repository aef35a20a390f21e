/* How a command reaches a NATS cluster: its servers, credentials, and the world that is meant. */
#ifndef CLEAVE_CLI_NATS_OPTIONS_H
#define CLEAVE_CLI_NATS_OPTIONS_H

#include <argp.h>

#include "runtime/nats/options.h"

enum { CLEAVE_NATS_URLS_MAX = 32 };

struct cleave_nats_arguments {
    char *list; /* the URLs' text, cut at its commas; malloc'd */
    const char *urls[CLEAVE_NATS_URLS_MAX];
    uint32_t url_count;
    const char *credentials, *name;
    bool told; /* --nats or --name was given */
    uint32_t replicas;
};

/* --nats, --nats-creds, --name, --replicas; without the first two CLEAVE_NATS and
 * CLEAVE_NATS_CREDS of the environment. Its input: as above, after _default. */
extern const struct argp cleave__nats_argp;

void cleave__nats_arguments_default(struct cleave_nats_arguments *arguments);
void cleave__nats_arguments_free(struct cleave_nats_arguments *arguments);
/* Borrows from the arguments. */
struct cleave_nats_options cleave__nats_arguments(const struct cleave_nats_arguments *arguments);

#endif

/* A nats-server of a test's own: on loopback and a port that was free, in a temporary folder, gone
 * with the test's process however that ends. */
#ifndef CLEAVE_TESTS_NATS_SERVER_H
#define CLEAVE_TESTS_NATS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/nats/options.h"

struct nats_server {
    bool runs;
    int port; /* 0: a free one is found at the first start */
    char folder[64], url[64];
    char extra[2000]; /* lines of its configuration besides port and folder */
    pid_t nanny;      /* the process that starts and kills it */
    int line;         /* to the nanny */
};

/* Whether there is a server program; prints one line if not. */
bool nats_server_installed(void);
/* Starts it, with JetStream unless `extra` begins with "#bare"; the second time on the same port
 * and with the same data. False: it does not come up. */
bool nats_server_start(struct nats_server *server);
/* Options of a world of its own behind it, in which all messages go through it. Until the next
 * call. */
struct cleave_nats_options nats_server_world(struct nats_server *server);
/* A port of loopback that is free now. */
int nats_server_free_port(void);
/* As kill -9 does. */
void nats_server_kill(struct nats_server *server);
/* And its folder is removed. */
void nats_server_stop(struct nats_server *server);

#endif

/* Throw-away servers on loopback, for trials and tests: K PostgreSQL clusters, or a NATS JetStream
 * cluster.
 *
 * Everything of one cluster is in one folder, with a file `cluster.json` that says what runs where
 * (and as whom); `down` stops what runs and removes the folder, also after a crash of whoever
 * started it, and touches nothing that is not its own. Servers listen on 127.0.0.1 alone, on free
 * ports. PostgreSQL does not run as root: as root the servers run as an unprivileged user. */
#ifndef CLEAVE_CLUSTER_CLUSTER_H
#define CLEAVE_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/progress.h"
#include "cleave/status.h"

enum cleave_cluster_kind { CLEAVE_CLUSTER_POSTGRES, CLEAVE_CLUSTER_NATS };

struct cleave_cluster_options {
    const char *folder;        /* must not exist, or be empty */
    uint32_t postgres;         /* so many PostgreSQL clusters */
    uint32_t nats;             /* so many NATS servers: 1, or 3 and more that form a cluster */
    bool fsync;                /* PostgreSQL: as in earnest; else fast and unsafe */
    uint32_t connections_most; /* of a PostgreSQL cluster; 0: 100. As many may be prepared */
    /* NATS: with user and password, an NKey, or TLS (made for the occasion; see cluster.json). */
    bool nats_password, nats_nkey, nats_tls;
    const char *user; /* to run as, when root; NULL: "postgres" if there is one, else "nobody" */
    const struct cleave_progress *progress; /* of _up; may be NULL */
};

struct cleave_cluster_server {
    enum cleave_cluster_kind kind;
    uint32_t number; /* of its kind */
    uint16_t port;
    int pid;
    bool runs;
    char url[200]; /* postgresql://cleave@127.0.0.1:PORT/cleave, nats://127.0.0.1:PORT */
};

struct cleave_cluster;

/* Starts them and waits until each answers; NATS: until its JetStream knows a leader. On an error,
 * or when the progress says stop, nothing is left. What a client of NATS needs besides the URL is
 * in FOLDER/nats.creds (src/runtime/nats/options.h). */
enum cleave_status cleave__cluster_up(const struct cleave_cluster_options *options,
                                      struct cleave_cluster **out, struct cleave_error *error);
/* One that was started before. */
enum cleave_status cleave__cluster_open(const char *folder, struct cleave_cluster **out,
                                        struct cleave_error *error);
uint32_t cleave__cluster_size(const struct cleave_cluster *cluster);
const struct cleave_cluster_server *cleave__cluster_server(const struct cleave_cluster *cluster,
                                                           uint32_t index);
/* kill -9 (of a PostgreSQL server: of all its processes), and again on the same port with the same
 * data, waited for. */
enum cleave_status cleave__cluster_kill(struct cleave_cluster *cluster, uint32_t index,
                                        struct cleave_error *error);
enum cleave_status cleave__cluster_start(struct cleave_cluster *cluster, uint32_t index,
                                         struct cleave_error *error);
/* Stops all and removes the folder. */
enum cleave_status cleave__cluster_down(struct cleave_cluster *cluster, struct cleave_error *error);
/* A folder's name as a shell takes it, in `quoted`; cut off when it is longer. */
enum { CLEAVE__QUOTED_SIZE = 700 };
const char *cleave__cluster_quoted(const char *folder, char quoted[CLEAVE__QUOTED_SIZE]);
/* The servers go on. */
void cleave__cluster_free(struct cleave_cluster *cluster);

#endif

/* The inside of src/cluster.
 *
 * A server's folder is FOLDER/pgN or FOLDER/natsN, which is also the working folder of each of its
 * processes: a process is known as the cluster's own by that and its name, never by a number alone,
 * so that numbers which another process has got meanwhile do no harm. */
#ifndef CLEAVE_CLUSTER_INSIDE_H
#define CLEAVE_CLUSTER_INSIDE_H

#include <sys/types.h>

#include "base/vector.h"
#include "cleave/progress.h"
#include "cluster/cluster.h"

enum { CLEAVE__FOLDER_MOST = 300, CLEAVE__PATH_SIZE = 400 };

struct cleave__cluster_server {
    struct cleave_cluster_server shown;
    char name[16];               /* of its folder */
    uint16_t routes, monitoring; /* NATS: ports */
};

struct cleave_cluster {
    char folder[CLEAVE__FOLDER_MOST]; /* absolute */
    char programs[CLEAVE__PATH_SIZE]; /* folder of PostgreSQL's; "" when there is none of it */
    char user[64];                    /* to run as; "" as who we are */
    bool fsync, nats_password, nats_nkey, nats_tls;
    uint32_t connections_most;
    const struct cleave_progress *progress; /* while it starts; may be NULL */
    struct cleave__cluster_server *servers;
    uint32_t count;
};

bool cleave__cluster_stopped(const struct cleave_cluster *cluster);
/* FOLDER/name[/file]; `file` may be NULL. */
void cleave__cluster_path(const struct cleave_cluster *cluster, const char *name, const char *file,
                          char path[CLEAVE__PATH_SIZE]);

/* process.c */
/* A program in `where` (a folder's name) as the cluster's user, in a session of its own; what it
 * says goes to FOLDER/where.log. `arguments` ends with NULL, [0] is looked up in PATH. */
enum cleave_status cleave__cluster_process_start(const struct cleave_cluster *cluster,
                                                 const char *where, const char *const *arguments,
                                                 int *pid, struct cleave_error *error);
/* The same, waited for; it must succeed. Stops when the progress says so. */
enum cleave_status cleave__cluster_process_run(const struct cleave_cluster *cluster,
                                               const char *where, const char *const *arguments,
                                               struct cleave_error *error);
/* Whether this process runs and works in that folder. */
bool cleave__cluster_process_is(const struct cleave_cluster *cluster, const char *where, int pid);
/* Signals all processes that work there; how many there are. */
uint32_t cleave__cluster_process_signal(const struct cleave_cluster *cluster, const char *where,
                                        int number);
/* Ends all that work there: asked by `number` first, then killed. */
enum cleave_status cleave__cluster_process_end(const struct cleave_cluster *cluster,
                                               const char *where, int number,
                                               struct cleave_error *error);
/* The last line of FOLDER/where.log that says something, for messages; "" when there is none. */
void cleave__cluster_process_said(const struct cleave_cluster *cluster, const char *where,
                                  char *line, size_t size);
/* A port that was free a moment ago; 0: there is none. */
uint16_t cleave__cluster_process_port(void);

/* folder.c */
/* A folder, or file, within the cluster's, that belongs to its user and is closed to others. */
enum cleave_status cleave__cluster_folder_make(const struct cleave_cluster *cluster,
                                               const char *name, struct cleave_error *error);
enum cleave_status cleave__cluster_folder_write(const struct cleave_cluster *cluster,
                                                const char *name, const char *file,
                                                bool for_servers, const char *text,
                                                struct cleave_error *error);
enum cleave_status cleave__cluster_folder_remove(const char *path, bool itself,
                                                 struct cleave_error *error);
/* cluster.json */
enum cleave_status cleave__cluster_folder_save(const struct cleave_cluster *cluster,
                                               struct cleave_error *error);
enum cleave_status cleave__cluster_folder_read(struct cleave_cluster *cluster,
                                               struct cleave_error *error);

/* postgres.c, nats.c: folders and settings of all of a kind; start one (PostgreSQL: and wait until
 * it answers). */
enum cleave_status cleave__cluster_postgres_find(struct cleave_cluster *cluster,
                                                 struct cleave_error *error);
enum cleave_status cleave__cluster_postgres_make(struct cleave_cluster *cluster,
                                                 struct cleave_error *error);
enum cleave_status cleave__cluster_postgres_start(struct cleave_cluster *cluster, uint32_t index,
                                                  struct cleave_error *error);
enum cleave_status cleave__cluster_nats_make(struct cleave_cluster *cluster,
                                             struct cleave_error *error);
enum cleave_status cleave__cluster_nats_start(struct cleave_cluster *cluster, uint32_t index,
                                              struct cleave_error *error);
/* Until it is healthy, and knows the others' leader. */
enum cleave_status cleave__cluster_nats_wait_for(struct cleave_cluster *cluster, uint32_t index,
                                                 struct cleave_error *error);

/* secret.c: texts made for the occasion. */
enum { CLEAVE__SECRET_SIZE = 80 };
enum cleave_status cleave__cluster_secret_password(char password[CLEAVE__SECRET_SIZE],
                                                   struct cleave_error *error);
/* An NKey of a user: its seed, its public name. */
enum cleave_status cleave__cluster_secret_nkey(char seed[CLEAVE__SECRET_SIZE],
                                               char public_key[CLEAVE__SECRET_SIZE],
                                               struct cleave_error *error);
/* A certificate for 127.0.0.1 and localhost that vouches for itself, and its key, as PEM; the
 * caller frees both. */
enum cleave_status cleave__cluster_secret_certificate(char **certificate, char **key,
                                                      struct cleave_error *error);

#endif

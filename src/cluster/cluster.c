/* Clusters up and down. cluster.json is written before the first server starts and after each, so
 * that `down` finds all there is whenever the starter ends. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/inside.h"

enum { SERVERS_MOST = 64, CONNECTIONS_MOST = 10000, CONNECTIONS = 100 };

bool cleave__cluster_stopped(const struct cleave_cluster *cluster)
{
    return cluster->progress && cluster->progress->stop && *cluster->progress->stop;
}

static enum cleave_status check(const struct cleave_cluster_options *options,
                                struct cleave_error *error)
{
    if (!options->folder || !*options->folder)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "a cluster needs a folder");
    if (options->postgres > SERVERS_MOST || options->nats > SERVERS_MOST ||
        options->postgres + options->nats == 0)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "a cluster has 1 to %d servers of a kind", SERVERS_MOST);
    if (options->nats == 2)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "two NATS servers cannot agree when one is lost: take 1 or 3");
    if (options->nats_password && options->nats_nkey)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "NATS takes a password or an NKey, not both");
    if (options->connections_most > CONNECTIONS_MOST)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "at most %d connections",
                                CONNECTIONS_MOST);
    return CLEAVE_OK;
}

static bool is_empty(const char *folder)
{
    DIR *all = opendir(folder);
    bool empty = all;
    for (struct dirent *entry; empty && (entry = readdir(all));)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (all)
        closedir(all);
    return empty;
}

/* An empty cluster.json, made by one starter alone, is the claim to a folder: of two at once the
 * second must neither use nor remove what the first has there. */
static bool claim(const char *json)
{
    int fd = open(json, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Makes the folder, or takes an empty one. */
static enum cleave_status take_folder(const char *folder, char *path, bool *made,
                                      struct cleave_error *error)
{
    char json[CLEAVE__PATH_SIZE], quoted[CLEAVE__QUOTED_SIZE];
    *made = mkdir(folder, 0711) == 0;
    if (!*made && errno != EEXIST)
        return cleave_error_set(error, CLEAVE_IO, "%.300s: cannot make it: %s", folder,
                                strerror(errno));
    *path = 0;
    char *whole = realpath(folder, NULL);
    bool fits = whole && strlen(whole) < CLEAVE__FOLDER_MOST && !strpbrk(whole, "'\"\\\n$");
    if (fits)
        snprintf(path, CLEAVE__FOLDER_MOST, "%s", whole);
    free(whole);
    enum cleave_status status = CLEAVE_OK;
    if (!fits)
        status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                  "%.200s: a cluster's folder has a path of less than %d bytes "
                                  "without quotes, \"\\\" or \"$\"",
                                  folder, CLEAVE__FOLDER_MOST);
    snprintf(json, sizeof json, "%s/cluster.json", path);
    bool empty = !status && (*made || is_empty(path));
    bool ours = empty && claim(json);
    bool another = !ours && !status && (empty ? errno == EEXIST : access(json, F_OK) == 0);
    if (another)
        status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                  "%.200s: a cluster was started here; remove it first: cleave "
                                  "cluster down --dir %.200s",
                                  folder, cleave__cluster_quoted(folder, quoted));
    else if (!status && !empty)
        status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                  "%.300s: it is not an empty folder; name one that does not exist",
                                  folder);
    else if (!status && (!ours || chmod(path, 0711)))
        status = cleave_error_set(error, CLEAVE_IO, "%.300s: cannot use it: %s", folder,
                                  strerror(errno));
    if (status && ours)
        unlink(json);
    if (status && *made && !another)
        rmdir(folder);
    return status;
}

static enum cleave_status new_cluster(const struct cleave_cluster_options *options,
                                      const char *path, struct cleave_cluster **out,
                                      struct cleave_error *error)
{
    struct cleave_cluster *cluster = calloc(1, sizeof *cluster);
    uint32_t count = options->postgres + options->nats;
    if (cluster)
        cluster->servers = calloc(count, sizeof *cluster->servers);
    if (!cluster || !cluster->servers) {
        free(cluster);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.300s: out of memory", path);
    }
    const char *user = options->user ? options->user : getpwnam("postgres") ? "postgres" : "nobody";
    snprintf(cluster->folder, sizeof cluster->folder, "%s", path);
    if (geteuid() == 0)
        snprintf(cluster->user, sizeof cluster->user, "%s", user);
    cluster->fsync = options->fsync;
    cluster->connections_most = options->connections_most ? options->connections_most : CONNECTIONS;
    cluster->nats_password = options->nats_password;
    cluster->nats_nkey = options->nats_nkey;
    cluster->nats_tls = options->nats_tls;
    cluster->progress = options->progress;
    cluster->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct cleave__cluster_server *server = &cluster->servers[i];
        bool nats = i >= options->postgres;
        server->shown.kind = nats ? CLEAVE_CLUSTER_NATS : CLEAVE_CLUSTER_POSTGRES;
        server->shown.number = nats ? i - options->postgres : i;
        snprintf(server->name, sizeof server->name, "%s%u", nats ? "nats" : "pg",
                 server->shown.number);
    }
    *out = cluster;
    return CLEAVE_OK;
}

static void report(const struct cleave_cluster *cluster, const char *stage, uint32_t done)
{
    if (cluster->progress && cluster->progress->report)
        cluster->progress->report(cluster->progress->context, stage, done, cluster->count);
}

static enum cleave_status start_all(struct cleave_cluster *cluster, uint32_t postgres,
                                    struct cleave_error *error)
{
    enum cleave_status status = cleave__cluster_folder_save(cluster, error);
    report(cluster, "making the servers", 0);
    if (!status && postgres)
        status = cleave__cluster_postgres_find(cluster, error);
    if (!status && postgres)
        status = cleave__cluster_postgres_make(cluster, error);
    if (!status && postgres < cluster->count)
        status = cleave__cluster_nats_make(cluster, error);
    for (uint32_t i = 0; !status && i < cluster->count; i++) {
        report(cluster, "starting the servers", i);
        status = i < postgres ? cleave__cluster_postgres_start(cluster, i, error)
                              : cleave__cluster_nats_start(cluster, i, error);
        if (!status)
            status = cleave__cluster_folder_save(cluster, error);
    }
    for (uint32_t i = postgres; !status && i < cluster->count; i++)
        status = cleave__cluster_nats_wait_for(cluster, i, error);
    return status;
}

enum cleave_status cleave__cluster_up(const struct cleave_cluster_options *options,
                                      struct cleave_cluster **out, struct cleave_error *error)
{
    struct cleave_cluster *cluster = NULL;
    char path[CLEAVE__FOLDER_MOST];
    bool made = false;
    enum cleave_status status = check(options, error);
    if (!status && geteuid() == 0 && options->user && !getpwnam(options->user))
        status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "there is no user \"%.60s\"",
                                  options->user);
    if (!status)
        status = take_folder(options->folder, path, &made, error);
    if (status)
        return status;
    status = new_cluster(options, path, &cluster, error);
    if (status) {
        (void)cleave__cluster_folder_remove(path, made, NULL);
        return status;
    }
    status = start_all(cluster, options->postgres, error);
    cluster->progress = NULL;
    if (status) {
        for (uint32_t i = 0; i < cluster->count; i++)
            (void)cleave__cluster_process_end(cluster, cluster->servers[i].name, SIGKILL, NULL);
        (void)cleave__cluster_folder_remove(path, made, NULL);
        cleave__cluster_free(cluster);
        return status;
    }
    *out = cluster;
    return CLEAVE_OK;
}

enum cleave_status cleave__cluster_open(const char *folder, struct cleave_cluster **out,
                                        struct cleave_error *error)
{
    if (!*folder)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "a cluster needs a folder");
    char *whole = realpath(folder, NULL);
    if (!whole)
        return cleave_error_set(error, errno == ENOENT ? CLEAVE_NOT_FOUND : CLEAVE_IO, "%.300s: %s",
                                folder, strerror(errno));
    struct cleave_cluster *cluster = calloc(1, sizeof *cluster);
    enum cleave_status status = CLEAVE_OK;
    if (!cluster)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "%.300s: out of memory", folder);
    else if (strlen(whole) >= CLEAVE__FOLDER_MOST)
        status = cleave_error_set(error, CLEAVE_NOT_FOUND, "%.300s: no cluster was started here",
                                  folder);
    if (!status) {
        snprintf(cluster->folder, sizeof cluster->folder, "%s", whole);
        status = cleave__cluster_folder_read(cluster, error);
    }
    free(whole);
    if (status) {
        cleave__cluster_free(cluster);
        return status;
    }
    for (uint32_t i = 0; i < cluster->count; i++) {
        struct cleave__cluster_server *server = &cluster->servers[i];
        server->shown.runs = cleave__cluster_process_is(cluster, server->name, server->shown.pid);
    }
    *out = cluster;
    return CLEAVE_OK;
}

uint32_t cleave__cluster_size(const struct cleave_cluster *cluster)
{
    return cluster->count;
}

const struct cleave_cluster_server *cleave__cluster_server(const struct cleave_cluster *cluster,
                                                           uint32_t index)
{
    return &cluster->servers[index].shown;
}

enum cleave_status cleave__cluster_kill(struct cleave_cluster *cluster, uint32_t index,
                                        struct cleave_error *error)
{
    struct cleave__cluster_server *server = &cluster->servers[index];
    server->shown.runs = false;
    return cleave__cluster_process_end(cluster, server->name, SIGKILL, error);
}

enum cleave_status cleave__cluster_start(struct cleave_cluster *cluster, uint32_t index,
                                         struct cleave_error *error)
{
    struct cleave__cluster_server *server = &cluster->servers[index];
    enum cleave_status status = CLEAVE_OK;
    if (cleave__cluster_process_signal(cluster, server->name, 0))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%.300s/%s: it runs already",
                                cluster->folder, server->name);
    if (server->shown.kind == CLEAVE_CLUSTER_POSTGRES) {
        status = cleave__cluster_postgres_start(cluster, index, error);
    } else {
        status = cleave__cluster_nats_start(cluster, index, error);
        if (!status)
            status = cleave__cluster_nats_wait_for(cluster, index, error);
    }
    return status ? status : cleave__cluster_folder_save(cluster, error);
}

enum cleave_status cleave__cluster_down(struct cleave_cluster *cluster, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    /* All at once are asked to end, then each is waited for. SIGQUIT: PostgreSQL ends without a
     * checkpoint. */
    for (uint32_t i = 0; i < cluster->count; i++)
        (void)cleave__cluster_process_signal(
            cluster, cluster->servers[i].name,
            cluster->servers[i].shown.kind == CLEAVE_CLUSTER_POSTGRES ? SIGQUIT : SIGTERM);
    for (uint32_t i = 0; !status && i < cluster->count; i++) {
        status = cleave__cluster_process_end(cluster, cluster->servers[i].name, 0, error);
        cluster->servers[i].shown.runs = status != CLEAVE_OK;
    }
    return status ? status : cleave__cluster_folder_remove(cluster->folder, true, error);
}

void cleave__cluster_free(struct cleave_cluster *cluster)
{
    if (!cluster)
        return;
    free(cluster->servers);
    free(cluster);
}

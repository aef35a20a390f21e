/* PostgreSQL servers of a cluster: one initdb, copied for the others; each with prepared
 * transactions for all of its connections, on 127.0.0.1 and a socket in its folder's neighbour. */
#include <errno.h>
#include <glob.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster/inside.h"

#define TARGET                                                                                     \
    "host=127.0.0.1 port=%u user=cleave dbname=postgres sslmode=disable gssencmode=disable"

enum { START_MS = 60000, SOCKET_PATH_MOST = 90, PORT_TRIES = 5 };

enum cleave_status cleave__cluster_postgres_find(struct cleave_cluster *cluster,
                                                 struct cleave_error *error)
{
    static const char *const places[] = {"/usr/lib/postgresql/*/bin/initdb",
                                         "/usr/pgsql-*/bin/initdb", "/usr/local/pgsql/bin/initdb",
                                         "/usr/local/bin/initdb", "/usr/bin/initdb"};
    for (size_t i = 0; !*cluster->programs && i < sizeof places / sizeof *places; i++) {
        glob_t found;
        int newest = 0;
        if (glob(places[i], 0, NULL, &found) == 0) {
            for (size_t j = 0; j < found.gl_pathc; j++) {
                const char *digits = strpbrk(found.gl_pathv[j], "0123456789");
                int version = digits ? atoi(digits) : 1;
                if (version <= newest)
                    continue;
                newest = version;
                snprintf(cluster->programs, sizeof cluster->programs, "%.*s",
                         (int)(strlen(found.gl_pathv[j]) - strlen("/initdb")), found.gl_pathv[j]);
            }
        }
        globfree(&found);
    }
    if (*cluster->programs)
        return CLEAVE_OK;
    return cleave_error_set(error, CLEAVE_NOT_FOUND,
                            "no PostgreSQL server is installed here: install postgresql-15");
}

static enum cleave_status configure(struct cleave_cluster *cluster,
                                    struct cleave__cluster_server *server,
                                    struct cleave_error *error)
{
    char text[2000];
    const char *sockets = strlen(cluster->folder) <= SOCKET_PATH_MOST ? cluster->folder : "";
    /* A quote is doubled in no path that we make; one in the folder's name is refused before. */
    snprintf(text, sizeof text,
             "listen_addresses = '127.0.0.1'\nport = %u\nunix_socket_directories = '%s%s'\n"
             "max_connections = %u\nmax_prepared_transactions = %u\nmax_locks_per_transaction = "
             "256\nshared_buffers = 32MB\nlogging_collector = off\nlog_min_messages = warning\n"
             "autovacuum_naptime = 60\n%s",
             server->shown.port, sockets, *sockets ? "/sockets" : "", cluster->connections_most,
             cluster->connections_most,
             cluster->fsync ? "fsync = on\n"
                            : "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n");
    snprintf(server->shown.url, sizeof server->shown.url, "postgresql://cleave@127.0.0.1:%u/cleave",
             server->shown.port);
    return cleave__cluster_folder_write(cluster, server->name, "postgresql.auto.conf", true, text,
                                        error);
}

static enum cleave_status initialize(struct cleave_cluster *cluster,
                                     const struct cleave__cluster_server *server, const char *first,
                                     struct cleave_error *error)
{
    char program[CLEAVE__PATH_SIZE + 16], folder[CLEAVE__PATH_SIZE], from[CLEAVE__PATH_SIZE];
    snprintf(program, sizeof program, "%s/initdb", cluster->programs);
    cleave__cluster_path(cluster, server->name, NULL, folder);
    enum cleave_status status = cleave__cluster_folder_make(cluster, server->name, error);
    if (status)
        return status;
    if (!first) {
        const char *const arguments[] = {program, "-N",   "-A",         "trust", "-U",   "cleave",
                                         "-E",    "UTF8", "--locale=C", "-D",    folder, NULL};
        return cleave__cluster_process_run(cluster, server->name, arguments, error);
    }
    cleave__cluster_path(cluster, first, ".", from);
    const char *const arguments[] = {"cp", "-a", from, folder, NULL};
    return cleave__cluster_process_run(cluster, server->name, arguments, error);
}

enum cleave_status cleave__cluster_postgres_make(struct cleave_cluster *cluster,
                                                 struct cleave_error *error)
{
    const char *first = NULL;
    enum cleave_status status = cleave__cluster_folder_make(cluster, "sockets", error);
    for (uint32_t i = 0; !status && i < cluster->count; i++) {
        struct cleave__cluster_server *server = &cluster->servers[i];
        if (server->shown.kind != CLEAVE_CLUSTER_POSTGRES)
            continue;
        status = initialize(cluster, server, first, error);
        first = server->name;
    }
    return status;
}

/* Until it takes connections. `*gone`: it ended instead. */
static enum cleave_status wait_for(struct cleave_cluster *cluster,
                                   const struct cleave__cluster_server *server, bool *gone,
                                   struct cleave_error *error)
{
    char target[160], said[200];
    uint64_t begun = cleave__clock_ms();
    snprintf(target, sizeof target, TARGET " connect_timeout=5", server->shown.port);
    *gone = false;
    while (PQping(target) != PQPING_OK) {
        if (cleave__cluster_stopped(cluster))
            return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        bool late = cleave__clock_ms() - begun > START_MS;
        *gone = waitpid(server->shown.pid, NULL, WNOHANG) == server->shown.pid;
        if (*gone || late) {
            cleave__cluster_process_said(cluster, server->name, said, sizeof said);
            return cleave_error_set(error, CLEAVE_IO, "PostgreSQL %s on port %u: %s",
                                    *gone ? "ended" : "does not answer", server->shown.port,
                                    *said ? said : "it gave no reason");
        }
        cleave__nap_ms(20);
    }
    return CLEAVE_OK;
}

static enum cleave_status make_database(const struct cleave__cluster_server *server,
                                        struct cleave_error *error)
{
    char target[160];
    snprintf(target, sizeof target, TARGET, server->shown.port);
    PGconn *connection = PQconnectdb(target);
    PGresult *result = PQexec(connection, "SELECT FROM pg_database WHERE datname = 'cleave'");
    bool there = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0;
    PQclear(result);
    result = there ? NULL : PQexec(connection, "CREATE DATABASE cleave");
    enum cleave_status status = CLEAVE_OK;
    if (!there && PQresultStatus(result) != PGRES_COMMAND_OK)
        status = cleave_error_set(error, CLEAVE_IO, "PostgreSQL on port %u: %s", server->shown.port,
                                  PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
    return status;
}

enum cleave_status cleave__cluster_postgres_start(struct cleave_cluster *cluster, uint32_t index,
                                                  struct cleave_error *error)
{
    struct cleave__cluster_server *server = &cluster->servers[index];
    char program[CLEAVE__PATH_SIZE + 16], folder[CLEAVE__PATH_SIZE];
    snprintf(program, sizeof program, "%s/postgres", cluster->programs);
    cleave__cluster_path(cluster, server->name, NULL, folder);
    const char *const arguments[] = {program, "-D", folder, NULL};
    bool first = server->shown.port == 0, gone = true;
    enum cleave_status status = CLEAVE_OK;
    for (int tries = first ? PORT_TRIES : 1; gone && tries; tries--) {
        status = CLEAVE_OK;
        if (first && !(server->shown.port = cleave__cluster_process_port()))
            return cleave_error_set(error, CLEAVE_IO, "no port is free on 127.0.0.1");
        if (first)
            status = configure(cluster, server, error);
        gone = false;
        if (!status)
            status = cleave__cluster_process_start(cluster, server->name, arguments,
                                                   &server->shown.pid, error);
        if (!status)
            status = wait_for(cluster, server, &gone, error);
    }
    if (!status)
        status = make_database(server, error);
    server->shown.runs = !status;
    return status;
}

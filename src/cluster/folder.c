/* A cluster's folder, and cluster.json: what runs where, and as whom. The folder lets others pass
 * through, since servers run as another user; what is in it is closed to them. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "cluster/inside.h"

enum { SERVERS_MOST = 64 };

static enum cleave_status refused(const char *path, const char *what, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_IO, "%.300s: cannot %s: %s", path, what, strerror(errno));
}

void cleave__cluster_path(const struct cleave_cluster *cluster, const char *name, const char *file,
                          char path[CLEAVE__PATH_SIZE])
{
    snprintf(path, CLEAVE__PATH_SIZE, "%s/%s%s%s", cluster->folder, name, file ? "/" : "",
             file ? file : "");
}

const char *cleave__cluster_quoted(const char *folder, char quoted[CLEAVE__QUOTED_SIZE])
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+";
    bool quote = folder[strspn(folder, plain)] || *folder == '-';
    size_t used = 0;
    if (quote)
        quoted[used++] = '\'';
    for (; *folder && used + 8 < CLEAVE__QUOTED_SIZE; folder++) {
        if (*folder == '\'')
            used += (size_t)snprintf(quoted + used, 5, "'\\''");
        else
            quoted[used++] = *folder;
    }
    if (quote)
        quoted[used++] = '\'';
    quoted[used] = 0;
    return quoted;
}

static bool give_away(const struct cleave_cluster *cluster, const char *path)
{
    if (!*cluster->user)
        return true;
    struct passwd *entry = getpwnam(cluster->user);
    errno = ENOENT;
    return entry && chown(path, entry->pw_uid, entry->pw_gid) == 0;
}

enum cleave_status cleave__cluster_folder_make(const struct cleave_cluster *cluster,
                                               const char *name, struct cleave_error *error)
{
    char path[CLEAVE__PATH_SIZE];
    cleave__cluster_path(cluster, name, NULL, path);
    if (mkdir(path, 0700) || !give_away(cluster, path))
        return refused(path, "make it", error);
    return CLEAVE_OK;
}

enum cleave_status cleave__cluster_folder_write(const struct cleave_cluster *cluster,
                                                const char *name, const char *file,
                                                bool for_servers, const char *text,
                                                struct cleave_error *error)
{
    char path[CLEAVE__PATH_SIZE];
    struct cleave__output output;
    cleave__cluster_path(cluster, name, file, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600); /* the output keeps the mode */
    if (fd < 0)
        return refused(path, "write it", error);
    close(fd);
    enum cleave_status status = cleave__output_open(&output, path, error);
    if (status)
        return status;
    fputs(text, output.file);
    status = cleave__output_commit(&output, error);
    if (!status && for_servers && !give_away(cluster, path))
        status = refused(path, "give it to the servers' user", error);
    return status;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path) && errno != ENOENT ? -1 : 0;
}

static int remove_within(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    return walk->level ? remove_one(path, status, kind, walk) : 0;
}

enum cleave_status cleave__cluster_folder_remove(const char *path, bool itself,
                                                 struct cleave_error *error)
{
    if (nftw(path, itself ? remove_one : remove_within, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
        return refused(path, "remove it", error);
    return CLEAVE_OK;
}

enum cleave_status cleave__cluster_folder_save(const struct cleave_cluster *cluster,
                                               struct cleave_error *error)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < cluster->count; i++) {
        const struct cleave__cluster_server *server = &cluster->servers[i];
        bool nats = server->shown.kind == CLEAVE_CLUSTER_NATS;
        json_array_append_new(
            list, json_pack("{s:s, s:i, s:s, s:i, s:i, s:s, s:i, s:i}", "kind",
                            nats ? "nats" : "postgres", "number", (int)server->shown.number,
                            "folder", server->name, "port", (int)server->shown.port, "pid",
                            server->shown.pid, "url", server->shown.url, "routes",
                            (int)server->routes, "monitoring", (int)server->monitoring));
    }
    json_t *root = json_pack("{s:i, s:s, s:s, s:s, s:b, s:i, s:b, s:b, s:b, s:o}", "version", 1,
                             "folder", cluster->folder, "user", cluster->user, "programs",
                             cluster->programs, "fsync", cluster->fsync, "connections",
                             (int)cluster->connections_most, "password", cluster->nats_password,
                             "nkey", cluster->nats_nkey, "tls", cluster->nats_tls, "servers", list);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    enum cleave_status status =
        text ? cleave__cluster_folder_write(cluster, "cluster.json", NULL, false, text, error)
             : cleave_error_set(error, CLEAVE_NO_MEMORY, "%.300s: out of memory", cluster->folder);
    free(text);
    json_decref(root);
    return status;
}

static bool read_server(json_t *entry, struct cleave__cluster_server *server)
{
    const char *kind, *folder, *url;
    int number, port, pid, routes, monitoring;
    if (json_unpack(entry, "{s:s, s:i, s:s, s:i, s:i, s:s, s:i, s:i}", "kind", &kind, "number",
                    &number, "folder", &folder, "port", &port, "pid", &pid, "url", &url, "routes",
                    &routes, "monitoring", &monitoring))
        return false;
    bool nats = strcmp(kind, "nats") == 0;
    *server = (struct cleave__cluster_server){.routes = (uint16_t)routes,
                                              .monitoring = (uint16_t)monitoring};
    server->shown.kind = nats ? CLEAVE_CLUSTER_NATS : CLEAVE_CLUSTER_POSTGRES;
    server->shown.number = (uint32_t)number;
    server->shown.port = (uint16_t)port;
    server->shown.pid = pid;
    snprintf(server->shown.url, sizeof server->shown.url, "%s", url);
    snprintf(server->name, sizeof server->name, "%s%d", nats ? "nats" : "pg", number);
    return strcmp(server->name, folder) == 0 && number >= 0 && number < SERVERS_MOST;
}

static bool read_root(struct cleave_cluster *cluster, json_t *root)
{
    const char *user, *programs, *folder;
    json_t *list;
    int version, fsync, connections, password, nkey, tls;
    if (json_unpack(root, "{s:i, s:s, s:s, s:s, s:b, s:i, s:b, s:b, s:b, s:o}", "version", &version,
                    "folder", &folder, "user", &user, "programs", &programs, "fsync", &fsync,
                    "connections", &connections, "password", &password, "nkey", &nkey, "tls", &tls,
                    "servers", &list) ||
        version != 1 || strcmp(folder, cluster->folder) || /* a copy elsewhere is no cluster */
        !json_is_array(list) || json_array_size(list) > 2 * SERVERS_MOST)
        return false;
    snprintf(cluster->user, sizeof cluster->user, "%s", user);
    snprintf(cluster->programs, sizeof cluster->programs, "%s", programs);
    cluster->fsync = fsync;
    cluster->connections_most = (uint32_t)connections;
    cluster->nats_password = password;
    cluster->nats_nkey = nkey;
    cluster->nats_tls = tls;
    cluster->count = (uint32_t)json_array_size(list);
    cluster->servers = calloc(cluster->count + 1, sizeof *cluster->servers);
    bool right = cluster->servers;
    for (uint32_t i = 0; right && i < cluster->count; i++)
        right = read_server(json_array_get(list, i), &cluster->servers[i]);
    return right;
}

enum cleave_status cleave__cluster_folder_read(struct cleave_cluster *cluster,
                                               struct cleave_error *error)
{
    char path[CLEAVE__PATH_SIZE];
    json_error_t why;
    cleave__cluster_path(cluster, "cluster.json", NULL, path);
    if (access(path, R_OK))
        return cleave_error_set(error, errno == ENOENT ? CLEAVE_NOT_FOUND : CLEAVE_IO, "%.300s: %s",
                                path,
                                errno == ENOENT ? "no cluster was started here" : strerror(errno));
    json_t *root = json_load_file(path, 0, &why);
    if (!root)
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "%.300s:%d: %.100s; end what works in its folder, and remove that, "
                                "by hand",
                                path, why.line, why.text);
    bool right = read_root(cluster, root);
    json_decref(root);
    return right ? CLEAVE_OK
                 : cleave_error_set(error, CLEAVE_CORRUPT,
                                    "%.300s: it is not one that cleave has written there", path);
}

/* NATS servers of a cluster, with JetStream. Three and more know each other by routes; they are up
 * once each says by its monitoring port that it is healthy and knows the leader. */
#include <arpa/inet.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster/inside.h"

enum { START_MS = 60000, ANSWER_SIZE = 1 << 16, TEXT_SIZE = 16384 };

static const char *program(void)
{
    static const char *const places[] = {"/usr/sbin/nats-server", "/usr/bin/nats-server",
                                         "/usr/local/bin/nats-server",
                                         "/usr/local/sbin/nats-server"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (access(places[i], X_OK) == 0)
            return places[i];
    }
    return NULL;
}

static bool is_nats(const struct cleave__cluster_server *server)
{
    return server->shown.kind == CLEAVE_CLUSTER_NATS;
}

static uint32_t count_of(const struct cleave_cluster *cluster)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cluster->count; i++)
        count += is_nats(&cluster->servers[i]);
    return count;
}

struct secrets {
    char password[CLEAVE__SECRET_SIZE], routes[CLEAVE__SECRET_SIZE];
    char seed[CLEAVE__SECRET_SIZE], public_key[CLEAVE__SECRET_SIZE];
};

static enum cleave_status write_config(const struct cleave_cluster *cluster,
                                       struct cleave__cluster_server *server,
                                       const struct secrets *secrets, struct cleave_error *error)
{
    char folder[CLEAVE__PATH_SIZE], *text = malloc(TEXT_SIZE);
    if (!text)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "NATS: out of memory");
    FILE *out = fmemopen(text, TEXT_SIZE, "w");
    if (!out) {
        free(text);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "NATS: out of memory");
    }
    cleave__cluster_path(cluster, server->name, NULL, folder);
    fprintf(out,
            "server_name: \"%s\"\nlisten: \"127.0.0.1:%u\"\nhttp: \"127.0.0.1:%u\"\n"
            "jetstream { store_dir: \"%s/jetstream\" }\n",
            server->name, server->shown.port, server->monitoring, folder);
    if (cluster->nats_password)
        fprintf(out, "authorization { user: \"cleave\", password: \"%s\" }\n", secrets->password);
    if (cluster->nats_nkey)
        fprintf(out, "authorization { users: [ { nkey: %s } ] }\n", secrets->public_key);
    if (cluster->nats_tls)
        fprintf(out, "tls { cert_file: \"%s/cert.pem\", key_file: \"%s/key.pem\" }\n", folder,
                folder);
    if (count_of(cluster) > 1) {
        fprintf(out,
                "cluster {\n  name: cleave\n  listen: \"127.0.0.1:%u\"\n  authorization { user: "
                "routes, password: \"%s\" }\n  routes: [\n",
                server->routes, secrets->routes);
        for (uint32_t i = 0; i < cluster->count; i++) {
            if (is_nats(&cluster->servers[i]))
                fprintf(out, "    \"nats-route://routes:%s@127.0.0.1:%u\"\n", secrets->routes,
                        cluster->servers[i].routes);
        }
        fprintf(out, "  ]\n}\n");
    }
    fclose(out);
    snprintf(server->shown.url, sizeof server->shown.url, "%s://127.0.0.1:%u",
             cluster->nats_tls ? "tls" : "nats", server->shown.port);
    enum cleave_status status =
        cleave__cluster_folder_write(cluster, server->name, "nats.conf", true, text, error);
    free(text);
    return status;
}

/* What a client needs, in the form of src/runtime/nats/options.h. */
static enum cleave_status write_credentials(const struct cleave_cluster *cluster,
                                            const struct secrets *secrets,
                                            struct cleave_error *error)
{
    char text[1000] = "";
    size_t used = 0;
    if (cluster->nats_password)
        used += (size_t)snprintf(text + used, sizeof text - used, "user cleave\npassword %s\n",
                                 secrets->password);
    if (cluster->nats_nkey)
        used += (size_t)snprintf(text + used, sizeof text - used, "nkey %s\n", secrets->seed);
    if (cluster->nats_tls)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "ca %s/ca.pem\n", cluster->folder);
    return used ? cleave__cluster_folder_write(cluster, "nats.creds", NULL, false, text, error)
                : CLEAVE_OK;
}

static enum cleave_status write_certificates(const struct cleave_cluster *cluster,
                                             struct cleave_error *error)
{
    char *certificate, *key;
    enum cleave_status status = cleave__cluster_secret_certificate(&certificate, &key, error);
    if (status)
        return status;
    status = cleave__cluster_folder_write(cluster, "ca.pem", NULL, false, certificate, error);
    for (uint32_t i = 0; !status && i < cluster->count; i++) {
        const char *name = cluster->servers[i].name;
        if (!is_nats(&cluster->servers[i]))
            continue;
        status = cleave__cluster_folder_write(cluster, name, "cert.pem", true, certificate, error);
        if (!status)
            status = cleave__cluster_folder_write(cluster, name, "key.pem", true, key, error);
    }
    free(certificate);
    free(key);
    return status;
}

enum cleave_status cleave__cluster_nats_make(struct cleave_cluster *cluster,
                                             struct cleave_error *error)
{
    struct secrets secrets = {0};
    if (!program())
        return cleave_error_set(error, CLEAVE_NOT_FOUND,
                                "no NATS server is installed here: install nats-server");
    enum cleave_status status = cleave__cluster_secret_password(secrets.password, error);
    if (!status)
        status = cleave__cluster_secret_password(secrets.routes, error);
    if (!status && cluster->nats_nkey)
        status = cleave__cluster_secret_nkey(secrets.seed, secrets.public_key, error);
    for (uint32_t i = 0; !status && i < cluster->count; i++) {
        struct cleave__cluster_server *server = &cluster->servers[i];
        if (!is_nats(server))
            continue;
        server->shown.port = cleave__cluster_process_port();
        server->routes = cleave__cluster_process_port();
        server->monitoring = cleave__cluster_process_port();
        if (!server->shown.port || !server->routes || !server->monitoring)
            return cleave_error_set(error, CLEAVE_IO, "no port is free on 127.0.0.1");
        status = cleave__cluster_folder_make(cluster, server->name, error);
    }
    for (uint32_t i = 0; !status && i < cluster->count; i++) {
        if (is_nats(&cluster->servers[i]))
            status = write_config(cluster, &cluster->servers[i], &secrets, error);
    }
    if (!status && cluster->nats_tls)
        status = write_certificates(cluster, error);
    return status ? status : write_credentials(cluster, &secrets, error);
}

enum cleave_status cleave__cluster_nats_start(struct cleave_cluster *cluster, uint32_t index,
                                              struct cleave_error *error)
{
    struct cleave__cluster_server *server = &cluster->servers[index];
    char path[CLEAVE__PATH_SIZE];
    cleave__cluster_path(cluster, server->name, "nats.conf", path);
    const char *const arguments[] = {program(), "-c", path, NULL};
    if (!arguments[0])
        return cleave_error_set(error, CLEAVE_NOT_FOUND,
                                "no NATS server is installed here: install nats-server");
    return cleave__cluster_process_start(cluster, server->name, arguments, &server->shown.pid,
                                         error);
}

/* The body of what the monitoring port answers to a path, in `answer`; false: nothing good. */
static bool ask(uint16_t port, const char *path, char *answer, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval patience = {2, 0};
    char request[160];
    size_t used = 0;
    ssize_t got;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    int length =
        snprintf(request, sizeof request, "GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n", path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        send(fd, request, (size_t)length, MSG_NOSIGNAL) == length) {
        while (used + 1 < size && (got = recv(fd, answer + used, size - used - 1, 0)) > 0)
            used += (size_t)got;
    }
    close(fd);
    answer[used] = 0;
    char *body = strstr(answer, "\r\n\r\n");
    if (used < 12 || memcmp(answer + 9, "200", 3) || !body)
        return false;
    memmove(answer, body + 4, strlen(body + 4) + 1);
    return true;
}

static bool is_ready(const struct cleave_cluster *cluster,
                     const struct cleave__cluster_server *server, char *answer)
{
    const char *leader = "";
    int size = 0;
    uint32_t count = count_of(cluster);
    if (!ask(server->monitoring, "/healthz", answer, ANSWER_SIZE))
        return false;
    if (count == 1)
        return true;
    if (!ask(server->monitoring, "/jsz", answer, ANSWER_SIZE))
        return false;
    json_t *root = json_loads(answer, 0, NULL);
    bool known = root &&
                 !json_unpack(root, "{s:{s?s, s:i}}", "meta_cluster", "leader", &leader,
                              "cluster_size", &size) &&
                 *leader && (uint32_t)size == count;
    json_decref(root);
    return known;
}

enum cleave_status cleave__cluster_nats_wait_for(struct cleave_cluster *cluster, uint32_t index,
                                                 struct cleave_error *error)
{
    struct cleave__cluster_server *server = &cluster->servers[index];
    uint64_t begun = cleave__clock_ms();
    char said[200], *answer = malloc(ANSWER_SIZE);
    enum cleave_status status = CLEAVE_OK;
    if (!answer)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "NATS: out of memory");
    while (!status && !is_ready(cluster, server, answer)) {
        bool gone = waitpid(server->shown.pid, NULL, WNOHANG) == server->shown.pid;
        if (cleave__cluster_stopped(cluster)) {
            status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        } else if (gone || cleave__clock_ms() - begun > START_MS) {
            cleave__cluster_process_said(cluster, server->name, said, sizeof said);
            status = cleave_error_set(error, CLEAVE_IO, "nats-server %s on port %u: %s",
                                      gone ? "ended" : "is not ready", server->shown.port,
                                      *said ? said : "it gave no reason");
        }
        cleave__nap_ms(20);
    }
    free(answer);
    server->shown.runs = !status;
    return status;
}

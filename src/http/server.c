#include "http/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct cleave_http_server {
    struct cleave_http_options options;
    struct MHD_Daemon *daemon;
    uint16_t port;
    bool loopback;
};

static const char plain[] = "text/plain; charset=utf-8";

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status, const char *type,
                               void *body, size_t length, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(length, body, mode);
    if (!response) {
        if (mode == MHD_RESPMEM_MUST_FREE)
            free(body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (status >= 400)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

/* `line` is a constant. */
static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *line)
{
    return respond(connection, status, plain, (void *)(uintptr_t)line, strlen(line),
                   MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer(struct cleave_http_server *server, struct MHD_Connection *connection,
                              const char *path)
{
    for (uint32_t i = 0; i < server->options.route_count; i++) {
        const struct cleave_http_route *route = &server->options.routes[i];
        if (strcmp(route->path, path) != 0)
            continue;
        struct cleave_http_answer it = {.status = MHD_HTTP_OK, .type = plain};
        route->answer(route->context, &it);
        if (it.body.failed) {
            free(it.body.data);
            return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
        }
        return respond(connection, it.status, it.type, it.body.data, it.body.count,
                       it.body.data ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    }
    return refuse(connection, MHD_HTTP_NOT_FOUND, "there is nothing here\n");
}

/* Called when the headers are there, again for each part of a body, and once more at its end. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_length, void **state)
{
    struct cleave_http_server *server = context;
    const char *host, *length;
    (void)version, (void)upload, (void)upload_length;
    if (*state)
        return answer(server, connection, url);
    *state = server;
    CLEAVE_LOG(server->options.log, CLEAVE_LOG_DEBUG, "http request",
               CLEAVE_FIELD_TEXT("method", method), CLEAVE_FIELD_TEXT("path", url));
    if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD only\n");
    length =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if ((length && strcmp(length, "0")) ||
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING))
        return refuse(connection, MHD_HTTP_BAD_REQUEST, "a request here has no body\n");
    host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    if (!host || (server->loopback && !cleave__http_host_is_loopback(host)))
        return refuse(connection, MHD_HTTP_MISDIRECTED_REQUEST,
                      "this server answers for localhost only\n");
    return MHD_YES;
}

/* Paths stay as they came: routes need no escapes, and "%00" would cut one short. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
}

/* A listening socket; -1: `errno` says why. */
static int listen_on(struct cleave_http_server *server)
{
    const char *address = server->options.address ? server->options.address : "127.0.0.1";
    char port[10];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found;
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } bound;
    socklen_t size = sizeof bound;
    int yes = 1;
    if (strcmp(address, "localhost") == 0)
        address = "127.0.0.1";
    hints.ai_flags |= AI_NUMERICHOST;
    snprintf(port, sizeof port, "%u", server->options.port);
    if (getaddrinfo(address, port, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
                    bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 32) != 0 ||
                    getsockname(fd, &bound.any, &size) != 0)) {
        int failed = errno;
        close(fd);
        errno = failed;
        fd = -1;
    }
    if (fd >= 0) {
        server->port =
            ntohs(bound.any.sa_family == AF_INET6 ? bound.six.sin6_port : bound.four.sin_port);
        server->loopback = is_loopback(&bound.any);
    }
    freeaddrinfo(found);
    return fd;
}

enum cleave_status cleave__http_open(const struct cleave_http_options *options,
                                     struct cleave_http_server **out, struct cleave_error *error)
{
    struct cleave_http_server *server = calloc(1, sizeof *server);
    if (!server)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an HTTP server");
    server->options = *options;
    int fd = listen_on(server);
    if (fd < 0) {
        enum cleave_status status = cleave_error_set(
            error, CLEAVE_IO, "cannot listen on %s port %u: %s",
            options->address ? options->address : "127.0.0.1", options->port, strerror(errno));
        free(server);
        return status;
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    server->daemon =
        MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, handle, server,
                         MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                         (unsigned)CLEAVE_HTTP_CONNECTIONS_MOST, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                         (size_t)CLEAVE_HTTP_REQUEST_BYTES_MOST, MHD_OPTION_CONNECTION_TIMEOUT,
                         options->idle_s ? options->idle_s : (unsigned)CLEAVE_HTTP_IDLE_S,
                         MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK,
                         leave_escaped, NULL, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!server->daemon) {
        close(fd);
        free(server);
        return cleave_error_set(error, CLEAVE_IO, "the HTTP server does not start");
    }
    *out = server;
    return CLEAVE_OK;
}

uint16_t cleave__http_port(const struct cleave_http_server *server)
{
    return server->port;
}

void cleave__http_close(struct cleave_http_server *server)
{
    if (!server)
        return;
    MHD_stop_daemon(server->daemon);
    free(server);
}

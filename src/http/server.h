/* A small HTTP server beside a command's work: a table of routes, answered by a thread of its own.
 *
 * It listens where it is told, takes GET and HEAD only, and is bounded in everything: so many
 * connections, so many bytes of a request (line and headers), so many idle seconds. Where it
 * listens on loopback, a request's Host must be a name of loopback: else any page in a browser on
 * this machine could read it under a name that it had pointed here. What is said to it is logged at
 * level debug, and never in full.
 *
 * HTTP itself is libmicrohttpd's. A client that sends a byte now and then holds its connection, one
 * of the bounded number, as long as it goes on: a server open to a hostile network wants a proxy in
 * front.
 *
 * Thread rule: _open and _close by one thread; a route's `answer` is called by the server's thread,
 * one at a time, until _close has returned: what it reads must bear that. Signals are blocked in
 * the server's thread. */
#ifndef CLEAVE_HTTP_SERVER_H
#define CLEAVE_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/log.h"
#include "cleave/status.h"

enum {
    CLEAVE_HTTP_CONNECTIONS_MOST = 64,
    CLEAVE_HTTP_REQUEST_BYTES_MOST = 16384,
    CLEAVE_HTTP_IDLE_S = 5
};

struct cleave_http_answer {
    unsigned status;           /* 200 at first */
    const char *type;          /* of the content; "text/plain; charset=utf-8" at first */
    struct cleave_writer body; /* empty at first; if it has failed, the client is told 500 */
};

struct cleave_http_route {
    const char *path; /* "/metrics" */
    void (*answer)(void *context, struct cleave_http_answer *answer);
    void *context;
};

/* Borrowed until _close. */
struct cleave_http_options {
    const char *address; /* "127.0.0.1", "::1", "0.0.0.0", "localhost"; NULL: 127.0.0.1 */
    uint16_t port;       /* 0: any free one */
    const struct cleave_http_route *routes;
    uint32_t route_count;
    uint32_t idle_s;        /* 0: CLEAVE_HTTP_IDLE_S */
    struct cleave_log *log; /* may be NULL */
};

struct cleave_http_server;

enum cleave_status cleave__http_open(const struct cleave_http_options *options,
                                     struct cleave_http_server **out, struct cleave_error *error);
uint16_t cleave__http_port(const struct cleave_http_server *server);
/* Waits for the request being answered, not for idle connections. NULL is allowed. */
void cleave__http_close(struct cleave_http_server *server);

/* "9100", "127.0.0.1:9100", "[::1]:9100": the address goes to `address` [size] ("127.0.0.1" where
 * there is none). CLEAVE_BAD_ARGUMENT: it is none of these. */
enum cleave_status cleave__http_address(const char *text, char *address, size_t size,
                                        uint16_t *port, struct cleave_error *error);
/* Whether a Host (a name or address, perhaps a port) is loopback's. */
bool cleave__http_host_is_loopback(const char *host);

#endif

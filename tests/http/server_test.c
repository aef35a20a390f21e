/* The HTTP server as clients see it, friendly and hostile, through raw sockets. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "http/server.h"
#include "support/property.h"

enum { REPLY = 200000 };

static void hello(void *context, struct cleave_http_answer *answer)
{
    unsigned *calls = context;
    ++*calls;
    cleave__put_format(&answer->body, "hello\n");
}

static void large(void *context, struct cleave_http_answer *answer)
{
    (void)context;
    for (int i = 0; i < 10000; i++)
        cleave__put_format(&answer->body, "line %05d\n", i);
}

static void teapot(void *context, struct cleave_http_answer *answer)
{
    (void)context;
    answer->status = 503;
    answer->type = "application/json";
    cleave__put_format(&answer->body, "{}\n");
}

static void broken(void *context, struct cleave_http_answer *answer)
{
    (void)context;
    cleave__put_format(&answer->body, "half");
    answer->body.failed = true;
}

static struct cleave_http_server *open_server(unsigned *calls, unsigned idle_s)
{
    static struct cleave_http_route routes[] = {{"/hello", hello, NULL},
                                                {"/large", large, NULL},
                                                {"/sick", teapot, NULL},
                                                {"/broken", broken, NULL}};
    struct cleave_http_server *server;
    struct cleave_error error;
    routes[0].context = calls;
    if (cleave__http_open(
            &(struct cleave_http_options){.routes = routes, .route_count = 4, .idle_s = idle_s},
            &server, &error))
        fail_msg("%s", error.message);
    return server;
}

static int connect_to(const struct cleave_http_server *server)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(cleave__http_port(server))};
    struct timeval patience = {.tv_sec = 10};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Sends what it can and reads to the end. */
static size_t talk(const struct cleave_http_server *server, const char *bytes, size_t length,
                   char *reply)
{
    int fd = connect_to(server);
    size_t sent = 0, got = 0;
    ssize_t n;
    while (sent < length && (n = send(fd, bytes + sent, length - sent, MSG_NOSIGNAL)) > 0)
        sent += (size_t)n;
    shutdown(fd, SHUT_WR);
    while (got + 1 < REPLY && (n = recv(fd, reply + got, REPLY - 1 - got, 0)) > 0)
        got += (size_t)n;
    if (n < 0 && errno != ECONNRESET)
        fail_msg("no end of the answer: %s", strerror(errno));
    reply[got] = 0;
    close(fd);
    return got;
}

static char reply[REPLY];

static void must_answer(const struct cleave_http_server *server, const char *request,
                        const char *status, const char *has)
{
    talk(server, request, strlen(request), reply);
    char line[40];
    snprintf(line, sizeof line, "HTTP/1.1 %s", status);
    if (strncmp(reply, line, strlen(line)) || !strstr(reply, has))
        fail_msg("asked:\n%s\nwanted %s with '%s', got:\n%.500s", request, status, has, reply);
}

static void must_live(const struct cleave_http_server *server)
{
    must_answer(server, "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                "200", "\r\n\r\nhello\n");
}

static void answers(void **state)
{
    unsigned calls = 0;
    (void)state;
    struct cleave_http_server *s = open_server(&calls, 0);
    must_live(s);
    must_answer(s, "GET /hello?x=1 HTTP/1.1\r\nHost: 127.0.0.1:9\r\nConnection: close\r\n\r\n",
                "200", "hello");
    must_answer(s, "GET /hello HTTP/1.1\r\nHost: [::1]:9\r\nConnection: close\r\n\r\n", "200",
                "nosniff");
    must_answer(s, "HEAD /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "200",
                "Content-Length: 6\r\n");
    assert_null(strstr(reply, "hello"));
    assert_int_equal(calls, 4);
    must_answer(s, "GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "200",
                "\nline 09999\n");
    must_answer(s, "GET /sick HTTP/1.1\r\nHost: localhost\r\n\r\n", "503", "application/json");
    must_answer(s, "GET /broken HTTP/1.1\r\nHost: localhost\r\n\r\n", "500", "out of memory");
    assert_null(strstr(reply, "half"));
    must_answer(s, "GET /hello/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "404", "nothing");
    must_answer(s, "GET /../hello HTTP/1.1\r\nHost: localhost\r\n\r\n", "404", "nothing");
    must_answer(s, "GET /hello%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", "4", "");
    /* Two at once on one connection. */
    const char two[] = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"
                       "GET /sick HTTP/1.1\r\nHost: localhost\r\n\r\n";
    talk(s, two, sizeof two - 1, reply);
    assert_non_null(strstr(reply, "hello"));
    assert_non_null(strstr(reply, "503"));
    cleave__http_close(s);
}

static void refuses(void **state)
{
    unsigned calls = 0;
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"};
    static const char *const hosts[] = {"evil.example",
                                        "localhost.evil.example",
                                        "127.0.0.1.evil.example",
                                        "10.0.0.1",
                                        "localhost:80:80",
                                        "[::1",
                                        "[::2]",
                                        "",
                                        "localhost:999999",
                                        "127.1",
                                        "@localhost",
                                        "[::1]x"};
    char request[400];
    (void)state;
    struct cleave_http_server *s = open_server(&calls, 0);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        snprintf(request, sizeof request,
                 "%s /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
                 methods[i]);
        must_answer(s, request, "405", "Allow: GET, HEAD");
    }
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        snprintf(request, sizeof request, "GET /hello HTTP/1.1\r\nHost: %s\r\n\r\n", hosts[i]);
        must_answer(s, request, "4", "\r\n\r\n");
    }
    must_answer(s, "GET /hello HTTP/1.0\r\n\r\n", "421", "localhost");
    must_answer(s, "GET /hello HTTP/1.1\r\n\r\n", "4", "");
    must_answer(s, "GET /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", "400",
                "no body");
    must_answer(s,
                "GET /hello HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                "3\r\nabc\r\n0\r\n\r\n",
                "400", "no body");
    assert_int_equal(calls, 0);
    must_live(s);
    cleave__http_close(s);
}

/* Lines without end, headers without end: refused within the bound, or cut off. */
static void long_requests(void **state)
{
    enum { LONG = 1 << 20 };
    unsigned calls = 0;
    char *bytes = malloc(LONG);
    (void)state;
    assert_non_null(bytes);
    struct cleave_http_server *s = open_server(&calls, 0);
    memset(bytes, 'a', LONG);
    memcpy(bytes, "GET /", 5);
    talk(s, bytes, LONG, reply);
    assert_true(!*reply || !strncmp(reply, "HTTP/1.1 4", 10));
    static const char head[] = "GET /hello HTTP/1.1\r\nHost: localhost\r\n";
    memcpy(bytes, head, sizeof head - 1);
    for (size_t at = sizeof head - 1; at + 10 <= LONG; at += 10)
        memcpy(bytes + at, "A: bcdef\r\n", 10);
    talk(s, bytes, LONG, reply);
    assert_true(!*reply || !strncmp(reply, "HTTP/1.1 4", 10));
    memset(bytes, 0, LONG);
    talk(s, bytes, LONG, reply);
    assert_int_equal(calls, 0);
    must_live(s);
    cleave__http_close(s);
    free(bytes);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void slow_clients(void **state)
{
    unsigned calls = 0;
    (void)state;
    struct cleave_http_server *s = open_server(&calls, 1);
    int slow = connect_to(s), silent = connect_to(s);
    assert_int_equal(send(slow, "GET /hel", 8, MSG_NOSIGNAL), 8);
    must_live(s); /* others do not wait for them */
    double began = now_s();
    char byte;
    while (recv(slow, &byte, 1, 0) > 0) /* a word of farewell, perhaps */
        ;
    while (recv(silent, &byte, 1, 0) > 0)
        ;
    assert_true(now_s() - began < 8);
    close(slow);
    close(silent);
    must_live(s);
    /* More than it takes at once: some are turned away, and all goes on when they are gone. */
    int crowd[CLEAVE_HTTP_CONNECTIONS_MOST + 40];
    for (size_t i = 0; i < sizeof crowd / sizeof *crowd; i++)
        crowd[i] = connect_to(s);
    for (size_t i = 0; i < sizeof crowd / sizeof *crowd; i++)
        close(crowd[i]);
    struct timespec moment = {.tv_nsec = 200000000};
    nanosleep(&moment, NULL);
    must_live(s);
    /* It stops though a client sits there. */
    int sits = connect_to(s);
    assert_int_equal(send(sits, "GET", 3, MSG_NOSIGNAL), 3);
    began = now_s();
    cleave__http_close(s);
    assert_true(now_s() - began < 2);
    close(sits);
}

static bool bears(struct property_source *source, void *context)
{
    static const char *const pieces[] = {"GET ",
                                         "/hello",
                                         " HTTP/1.1",
                                         "\r\n",
                                         "Host: ",
                                         "localhost",
                                         ":",
                                         "\r\n\r\n",
                                         "HEAD ",
                                         "\n",
                                         "Content-Length: ",
                                         "99999999999999999999",
                                         "Expect: 100-continue",
                                         "Upgrade: h2c",
                                         "%",
                                         "%zz",
                                         "\t",
                                         "Transfer-Encoding: chunked"};
    char request[2000];
    size_t length = 0;
    for (uint64_t n = property_draw(source, 24); n; n--) {
        if (property_draw(source, 5)) {
            const char *piece = pieces[property_draw(source, sizeof pieces / sizeof *pieces)];
            memcpy(request + length, piece, strlen(piece));
            length += strlen(piece);
        } else {
            request[length++] = (char)property_draw(source, 256);
        }
    }
    talk(context, request, length, reply);
    bool good = !*reply || !strncmp(reply, "HTTP/1.1 ", 9) || !strncmp(reply, "HTTP/1.0 ", 9);
    if (!good && source->verbose)
        printf("  %.*s\n  -> %s\n", (int)length, request, reply);
    return good;
}

static void property(void **state)
{
    unsigned calls = 0;
    (void)state;
    struct cleave_http_server *s = open_server(&calls, 1);
    assert_true(property_run("http", bears, s, 300));
    must_live(s);
    cleave__http_close(s);
}

static void addresses(void **state)
{
    static const char *const bad[] = {"",           "x",      "70000",        "-1",    "1.2.3.4",
                                      "1.2.3.4:",   ":9",     "::1:9",        "[::1]", "[::1:9",
                                      "host.org:9", "9x",     " 9",           "[]:9",  "1.2.3:9",
                                      "[1.2.3.4:9", "::1]:9", "127.0.0.1:9:9"};
    char address[64];
    uint16_t port;
    struct cleave_error error;
    struct cleave_http_server *server, *other;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!cleave__http_address(bad[i], address, sizeof address, &port, &error))
            fail_msg("taken: '%s'", bad[i]);
    }
    assert_int_equal(cleave__http_address("9100", address, sizeof address, &port, &error), 0);
    assert_string_equal(address, "127.0.0.1");
    assert_int_equal(port, 9100);
    assert_int_equal(cleave__http_address("[::1]:0", address, sizeof address, &port, &error), 0);
    assert_string_equal(address, "::1");
    assert_int_equal(cleave__http_address("0.0.0.0:1", address, sizeof address, &port, &error), 0);
    struct cleave_http_options options = {0};
    assert_int_equal(cleave__http_open(&options, &server, &error), CLEAVE_OK);
    options.port = cleave__http_port(server);
    assert_int_equal(cleave__http_open(&options, &other, &error), CLEAVE_IO);
    assert_non_null(strstr(error.message, "Address already in use"));
    cleave__http_close(server);
    options = (struct cleave_http_options){.address = "203.0.113.7"};
    assert_int_equal(cleave__http_open(&options, &other, &error), CLEAVE_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),      cmocka_unit_test(refuses),  cmocka_unit_test(long_requests),
        cmocka_unit_test(slow_clients), cmocka_unit_test(property), cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tables/replay/world.h"

#include <stdio.h>

#include "base/clock.h"

void cleave__port_init(struct cleave__port *port, const char *url)
{
    *port = (struct cleave__port){cleave__store_of(url), url, NULL};
}

const char *cleave__port_shown(const struct cleave__port *port, char line[CLEAVE__SHOWN_SIZE])
{
    struct cleave_arena arena = {0};
    const char *shown = cleave__store_shown(port->url, &arena);
    snprintf(line, CLEAVE__SHOWN_SIZE, "%s", shown ? shown : "a shard");
    cleave__arena_free(&arena);
    return line;
}

void cleave__port_close(struct cleave__port *port)
{
    if (port->session)
        port->ops->close(port->session);
    port->session = NULL;
}

enum cleave_status cleave__port_open(struct cleave__port *port, struct cleave_error *error)
{
    return port->session ? CLEAVE_OK : port->ops->open(port->url, &port->session, error);
}

void cleave__conflict_nap(int times)
{
    enum { NAP_NS = 2000000 };
    cleave__nap_ns(NAP_NS << times);
}

enum cleave_status cleave__port_await(struct cleave__port *port,
                                      const struct cleave__replay_world *world,
                                      struct cleave_error *error)
{
    uint64_t until_ns = cleave__clock_ns() + world->patience_ns;
    for (;;) {
        enum cleave_status status = cleave__port_open(port, error);
        if (!status || status == CLEAVE_NO_MEMORY || cleave__clock_ns() > until_ns)
            return status;
        if (world->stop && *world->stop)
            return status;
        cleave__nap_ns(50000000);
    }
}

enum cleave_status cleave__port_batch(struct cleave__port *port,
                                      const struct cleave_store_batch *batch,
                                      struct cleave_arena *arena,
                                      struct cleave_store_answer *answers,
                                      struct cleave_error *error)
{
    enum cleave_status status = cleave__port_open(port, error);
    if (!status)
        status = port->ops->send(port->session, batch, error);
    if (!status)
        status = port->ops->receive(port->session, arena, answers, NULL, error);
    if (status == CLEAVE_IO)
        cleave__port_close(port);
    return status;
}

static enum cleave_status finish_once(struct cleave__port *port, const char *name, bool commit,
                                      struct cleave_error *error)
{
    enum cleave_status status = cleave__port_open(port, error);
    if (!status)
        status = port->ops->send_finish(port->session, name, commit, error);
    if (!status)
        status = port->ops->receive_finish(port->session, error);
    if (status == CLEAVE_IO)
        cleave__port_close(port);
    return status == CLEAVE_NOT_FOUND ? CLEAVE_OK : status;
}

enum cleave_status cleave__port_finish(struct cleave__port *port, const char *name, bool commit,
                                       struct cleave_error *error)
{
    /* While somebody else finishes the same one, PostgreSQL calls it busy. */
    enum { TRIES = 200, NAP_NS = 10000000 };
    enum cleave_status status;
    for (int tries = 0;; tries++) {
        status = finish_once(port, name, commit, error);
        if (!status || status == CLEAVE_IO || status == CLEAVE_NO_MEMORY || tries == TRIES)
            return status;
        cleave__nap_ns(NAP_NS);
    }
}

#include "probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/nats_server.h"

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct probe *probe = calloc(1, sizeof *probe);
    if (!probe)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a probe");
    probe->plan = argument;
    *self = probe;
    return CLEAVE_OK;
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct probe *probe = self;
    probe->got[message->sort]++;
    if (probe->plan->receive)
        probe->plan->receive(probe, context, message);
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    struct probe *probe = self;
    if (probe->plan->start)
        probe->plan->start(probe, context, saved, length);
}

const struct cleave_actor_ops probe_ops = {"probe", create, free, receive, start};

const struct probe_transport probe_transports[] = {{"sim", &cleave__sim, 0, false},
                                                   {"sim, checksums", &cleave__sim, 0, true},
                                                   {"threads, 1", &cleave__threads, 1, false},
                                                   {"threads, 3", &cleave__threads, 3, true},
                                                   {"nats, 1", &cleave__nats, 1, false},
                                                   {"nats, 2", &cleave__nats, 2, true}};
enum { ALL = sizeof probe_transports / sizeof *probe_transports, ON_NATS = 2 };
unsigned probe_transport_count = ALL - ON_NATS;

static struct nats_server server;

int probe_setup(void **state)
{
    (void)state;
    if (!nats_server_installed())
        return 0;
    probe_transport_count = ALL;
    return nats_server_start(&server) ? 0 : -1;
}

int probe_teardown(void **state)
{
    (void)state;
    nats_server_stop(&server);
    return 0;
}

void probe_options(const struct probe_transport *transport, struct cleave_runtime_options *options)
{
    options->transport = transport->ops;
    options->threads = transport->threads;
    options->checksums = transport->checksums;
    uint64_t probe_ns = options->nats.probe_ns;
    if (transport->ops == &cleave__nats)
        options->nats = nats_server_world(&server);
    options->nats.probe_ns = probe_ns;
}

struct cleave_runtime *probe_runtime(const struct probe_transport *transport,
                                     struct cleave_runtime_options options)
{
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error;
    probe_options(transport, &options);
    options.sim.check_always = options.plant == CLEAVE_PLANT_NOTHING; /* it would see first */
    if (cleave__runtime_new(&options, &runtime, &error))
        fail_msg("%s: %s", transport->name, error.message);
    return runtime;
}

uint32_t probe_spawn(struct cleave_runtime *runtime, const struct probe_plan *plan,
                     const struct cleave_spawn_options *options)
{
    uint32_t actor = 0;
    struct cleave_error error;
    if (cleave__runtime_spawn(runtime, &probe_ops, plan, options, &actor, &error))
        fail_msg("%s", error.message);
    return actor;
}

enum cleave_status probe_run(struct cleave_runtime *runtime, struct cleave_error *error)
{
    enum cleave_status status = cleave__runtime_run(runtime, 0, NULL, error);
    if (!status && !cleave__runtime_check(runtime))
        fail_msg("a check fails after the run");
    return status;
}

void probe_run_well(struct cleave_runtime *runtime)
{
    struct cleave_error error;
    if (probe_run(runtime, &error))
        fail_msg("%s", error.message);
}

struct probe *probe_state(struct cleave_runtime *runtime, uint32_t actor)
{
    return cleave__runtime_state(runtime, actor);
}

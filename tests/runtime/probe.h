/* A small actor for tests: what it does is a function given at spawning, what it saw is a few
 * numbers that the test reads after the run. */
#ifndef CLEAVE_TESTS_PROBE_H
#define CLEAVE_TESTS_PROBE_H

#include "runtime/runtime.h"

struct probe;
typedef void probe_receive(struct probe *probe, struct cleave_context *context,
                           const struct cleave_message *message);
typedef void probe_start(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                         size_t length);

/* The argument of a probe; must live as long as the runtime. */
struct probe_plan {
    probe_receive *receive;
    probe_start *start;   /* may be NULL */
    uint32_t peer, count; /* whatever the function makes of them */
    const uint32_t *peers;
    uint64_t delay_ns;
};

struct probe {
    const struct probe_plan *plan;
    uint64_t got[8];               /* messages by sort */
    uint64_t sum, digest, wrong;   /* whatever the function makes of them */
    uint64_t last_of[64];          /* last number from a sender, for order */
    struct cleave_promise promise; /* kept */
    uint64_t timer;
};

extern const struct cleave_actor_ops probe_ops;

/* A transport under test. On nats all messages go through a server, which probe_setup starts. */
struct probe_transport {
    const char *name;
    const struct cleave_transport_ops *ops;
    uint32_t threads;
    bool checksums;
};
extern const struct probe_transport probe_transports[];
extern unsigned probe_transport_count;
/* Of a group of tests, so that its tests run on nats too; without a server program they do not. */
int probe_setup(void **state);
int probe_teardown(void **state);
/* Fills in what the transport needs. */
void probe_options(const struct probe_transport *transport, struct cleave_runtime_options *options);

/* Fails the test unless all is well. */
struct cleave_runtime *probe_runtime(const struct probe_transport *transport,
                                     struct cleave_runtime_options options);
uint32_t probe_spawn(struct cleave_runtime *runtime, const struct probe_plan *plan,
                     const struct cleave_spawn_options *options);
/* Runs; every structure must obey its invariants afterwards. */
enum cleave_status probe_run(struct cleave_runtime *runtime, struct cleave_error *error);
void probe_run_well(struct cleave_runtime *runtime);
struct probe *probe_state(struct cleave_runtime *runtime, uint32_t actor);

#endif

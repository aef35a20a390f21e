/* Making, filling and asking a runtime. */
#include "runtime/runtime.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/core.h"

void cleave__runtime_fail(struct cleave_runtime *runtime, enum cleave_status status,
                          const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&runtime->lock);
    if (!atomic_load(&runtime->failed)) {
        cleave_error_set(&runtime->failure, status, "%s", text);
        atomic_store(&runtime->failed, true);
    }
    pthread_mutex_unlock(&runtime->lock);
}

void cleave__runtime_no_memory(struct cleave_runtime *runtime)
{
    cleave__runtime_fail(runtime, CLEAVE_NO_MEMORY, "no memory for the actors' messages");
}

static void actor_free(struct cleave_runtime *runtime, struct cleave__actor *actor)
{
    if (runtime->state)
        runtime->transport->drop(runtime->state, actor);
    if (actor->self)
        actor->ops->destroy(actor->self);
    cleave__actor_unpark(actor);
    CLEAVE_VECTOR_FREE(&actor->blocked);
    cleave__channels_free(&actor->channels);
    cleave__tickets_free(&actor->requests);
    cleave__tickets_free(&actor->timers);
    cleave__histogram_free(&actor->stats.waiting_ns);
    cleave__histogram_free(&actor->stats.answering_ns);
    CLEAVE_VECTOR_FREE(&actor->saved);
    cleave__watch_free(actor->watch);
    free(actor->name);
    free(actor);
}

void cleave__runtime_free(struct cleave_runtime *runtime)
{
    if (!runtime)
        return;
    if (runtime->state && runtime->transport->hush)
        runtime->transport->hush(runtime->state);
    for (size_t i = 0; i < runtime->actors.count; i++)
        actor_free(runtime, runtime->actors.data[i]);
    CLEAVE_VECTOR_FREE(&runtime->actors);
    if (runtime->state)
        runtime->transport->close(runtime->state);
    free(runtime->outside.writer.data);
    pthread_mutex_destroy(&runtime->lock);
    free(runtime);
}

static enum cleave_status add_actor(struct cleave_runtime *runtime,
                                    const struct cleave_actor_ops *ops, const void *argument,
                                    const struct cleave_spawn_options *options,
                                    enum cleave__actor_sort sort, struct cleave_error *error)
{
    struct cleave__actor *actor = calloc(1, sizeof *actor);
    if (!actor || !CLEAVE_RESERVE(&runtime->actors, runtime->actors.count + 1)) {
        free(actor);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an actor");
    }
    actor->number = (uint32_t)runtime->actors.count;
    actor->node = options->node;
    actor->sort = sort;
    actor->mailbox_most =
        options->mailbox_most ? options->mailbox_most : runtime->options.mailbox_most;
    actor->service = options->service;
    actor->service_per_byte_ps = options->service_per_byte_ps;
    actor->ops = ops;
    actor->argument = argument;
    cleave__random_seed(&actor->random,
                        cleave__mix64(runtime->options.seed) ^ cleave__mix64(actor->number));
    enum cleave_status status = CLEAVE_OK;
    char name[100];
    if (options->name)
        snprintf(name, sizeof name, "%s", options->name);
    else
        snprintf(name, sizeof name, "%s %u", ops ? ops->name : "outside", actor->number);
    actor->name = malloc(strlen(name) + 1);
    if (actor->name)
        memcpy(actor->name, name, strlen(name) + 1);
    else
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an actor");
    if (!status && ops && runtime->options.metrics)
        status = cleave__watch_new(runtime->options.metrics, name, &actor->watch, error);
    if (!status)
        status = runtime->transport->add(runtime->state, actor, error);
    if (!status && ops)
        status = ops->create(argument, &actor->self, error);
    if (status)
        actor_free(runtime, actor);
    else
        runtime->actors.data[runtime->actors.count++] = actor;
    return status;
}

enum cleave_status cleave__runtime_new(const struct cleave_runtime_options *options,
                                       struct cleave_runtime **out, struct cleave_error *error)
{
    assert(options->transport);
    struct cleave_runtime *runtime = calloc(1, sizeof *runtime);
    if (!runtime)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the runtime");
    runtime->options = *options;
    runtime->transport = options->transport;
    if (!runtime->options.mailbox_most)
        runtime->options.mailbox_most = 1024;
    if (!runtime->options.requests_most)
        runtime->options.requests_most = 65536;
    if (!runtime->options.threads)
        runtime->options.threads = 1;
    if (!runtime->options.batch)
        runtime->options.batch = 64;
    runtime->measures = (options->measure || options->transport->virtual_time) && !options->lean;
    pthread_mutex_init(&runtime->lock, NULL);
    enum cleave_status status = runtime->transport->open(runtime, &runtime->state, error);
    if (!status)
        status = add_actor(runtime, NULL, NULL, &(struct cleave_spawn_options){0},
                           CLEAVE__ACTOR_HERE, error);
    if (status) {
        cleave__runtime_free(runtime);
        return status;
    }
    runtime->outside.runtime = runtime;
    runtime->outside.actor = runtime->actors.data[0];
    *out = runtime;
    return CLEAVE_OK;
}

enum cleave_status cleave__runtime_spawn(struct cleave_runtime *runtime,
                                         const struct cleave_actor_ops *ops, const void *argument,
                                         const struct cleave_spawn_options *options, uint32_t *out,
                                         struct cleave_error *error)
{
    static const struct cleave_spawn_options plain = {0};
    assert(ops->create && ops->destroy && ops->receive);
    if (runtime->actors.count >= UINT32_MAX / 2)
        return cleave_error_set(error, CLEAVE_LIMIT, "too many actors");
    enum cleave_status status =
        add_actor(runtime, ops, argument, options ? options : &plain, CLEAVE__ACTOR_HERE, error);
    if (!status)
        *out = (uint32_t)runtime->actors.count - 1;
    return status;
}

/* A name that is a part of a subject. */
static bool is_token(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t length = strlen(name);
    return length > 0 && length <= 60 && strspn(name, letters) == length;
}

static enum cleave_status add_other(struct cleave_runtime *runtime, const char *name,
                                    enum cleave__actor_sort sort, uint32_t *out,
                                    struct cleave_error *error)
{
    if (!runtime->transport->reaches_out)
        return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                "%s: the transport %s has no actors of other processes", name,
                                runtime->transport->name);
    if (runtime->actors.count >= UINT32_MAX / 2)
        return cleave_error_set(error, CLEAVE_LIMIT, "too many actors");
    if (sort != CLEAVE__ACTOR_ELSEWHERE && !is_token(name))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "'%.40s' is no name of a group or log: up to 60 letters, digits, - "
                                "and _",
                                name);
    struct cleave_spawn_options options = {.name = name};
    enum cleave_status status = add_actor(runtime, NULL, NULL, &options, sort, error);
    if (!status)
        *out = (uint32_t)runtime->actors.count - 1;
    return status;
}

enum cleave_status cleave__runtime_remote(struct cleave_runtime *runtime, const char *name,
                                          uint32_t *out, struct cleave_error *error)
{
    return add_other(runtime, name, CLEAVE__ACTOR_ELSEWHERE, out, error);
}

enum cleave_status cleave__runtime_group(struct cleave_runtime *runtime, const char *name,
                                         uint32_t *out, struct cleave_error *error)
{
    return add_other(runtime, name, CLEAVE__ACTOR_GROUP, out, error);
}

enum cleave_status cleave__runtime_log(struct cleave_runtime *runtime, const char *name,
                                       uint32_t *out, struct cleave_error *error)
{
    return add_other(runtime, name, CLEAVE__ACTOR_LOG, out, error);
}

enum cleave_status cleave__runtime_join(struct cleave_runtime *runtime, uint32_t actor,
                                        uint32_t group, struct cleave_error *error)
{
    assert(actor && actor < runtime->actors.count && group < runtime->actors.count);
    struct cleave__actor *member = runtime->actors.data[actor], *of = runtime->actors.data[group];
    assert(member->sort == CLEAVE__ACTOR_HERE && of->sort == CLEAVE__ACTOR_GROUP);
    return runtime->transport->join(runtime->state, member, of, error);
}

static enum cleave_status tell_failure(struct cleave_runtime *runtime, struct cleave_error *error)
{
    if (!atomic_load(&runtime->failed))
        return CLEAVE_OK;
    if (!runtime->transport->virtual_time)
        return cleave_error_set(error, runtime->failure.status, "%s", runtime->failure.message);
    return cleave_error_set(error, runtime->failure.status, "%s (at %llu ns; seed %llu)",
                            runtime->failure.message,
                            (unsigned long long)cleave__runtime_now_ns(runtime),
                            (unsigned long long)runtime->options.seed);
}

enum cleave_status cleave__runtime_post(struct cleave_runtime *runtime, uint32_t receiver,
                                        uint32_t kind, const void *body, size_t length,
                                        struct cleave_error *error)
{
    runtime->outside.clock_read = false;
    if (receiver < runtime->actors.count &&
        runtime->actors.data[receiver]->sort != CLEAVE__ACTOR_HERE)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "%s is not here: only actors of this process take posts",
                                runtime->actors.data[receiver]->name);
    if (!atomic_load(&runtime->failed))
        cleave__context_send(&runtime->outside, receiver, kind, body, length);
    return tell_failure(runtime, error);
}

enum cleave_status cleave__runtime_run(struct cleave_runtime *runtime, uint64_t until_ns,
                                       const struct cleave_progress *progress,
                                       struct cleave_error *error)
{
    enum cleave_status status = tell_failure(runtime, error);
    if (status)
        return status;
    atomic_store(&runtime->ending, false);
    status = runtime->transport->run(runtime->state, until_ns, progress, error);
    return status ? status : tell_failure(runtime, error);
}

static struct cleave__actor *actor_of(const struct cleave_runtime *runtime, uint32_t actor)
{
    assert(actor < runtime->actors.count);
    return runtime->actors.data[actor];
}

void *cleave__runtime_state(const struct cleave_runtime *runtime, uint32_t actor)
{
    return actor_of(runtime, actor)->self;
}

const char *cleave__runtime_name(const struct cleave_runtime *runtime, uint32_t actor)
{
    return actor_of(runtime, actor)->name;
}

uint64_t cleave__runtime_now_ns(struct cleave_runtime *runtime)
{
    return runtime->transport->now_ns(runtime->state);
}

const struct cleave_actor_stats *cleave__runtime_stats(const struct cleave_runtime *runtime,
                                                       uint32_t actor)
{
    return &actor_of(runtime, actor)->stats;
}

enum cleave_status cleave__runtime_sum(const struct cleave_runtime *runtime,
                                       struct cleave_actor_stats *sum, struct cleave_error *error)
{
    for (size_t i = 0; i < runtime->actors.count; i++) {
        const struct cleave_actor_stats *one = &runtime->actors.data[i]->stats;
        if (!cleave__histogram_merge(&sum->waiting_ns, &one->waiting_ns) ||
            !cleave__histogram_merge(&sum->answering_ns, &one->answering_ns))
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the statistics");
        sum->received += one->received;
        sum->sent += one->sent;
        sum->bytes_received += one->bytes_received;
        sum->bytes_sent += one->bytes_sent;
        sum->timers += one->timers;
        sum->parkings += one->parkings;
        sum->lost += one->lost;
        sum->late += one->late;
        sum->crashes += one->crashes;
        sum->busy_ns += one->busy_ns;
        if (one->queue_most > sum->queue_most)
            sum->queue_most = one->queue_most;
    }
    return CLEAVE_OK;
}

uint64_t cleave__runtime_digest(const struct cleave_runtime *runtime)
{
    return runtime->transport->digest ? runtime->transport->digest(runtime->state) : 0;
}

bool cleave__runtime_check(const struct cleave_runtime *runtime)
{
    for (size_t i = 0; i < runtime->actors.count; i++) {
        if (!cleave__actor_check(runtime, runtime->actors.data[i]))
            return false;
    }
    return runtime->transport->check(runtime->state);
}

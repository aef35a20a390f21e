/* The threads transport: real time, a few threads, many actors. The caller of run is one of the
 * threads; the others are base/pool's. */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "runtime/threads/crew.h"

uint64_t cleave__crew_now_ns(void *state)
{
    struct cleave__crew *crew = state;
    return cleave__clock_ns() - crew->began_ns;
}

void cleave__crew_close(struct cleave__crew *crew)
{
    cleave__pool_free(crew->pool);
    for (uint32_t w = 0; w < crew->worker_count; w++) {
        free(crew->workers[w].context.writer.data);
        pthread_mutex_destroy(&crew->workers[w].lock);
    }
    free(crew->workers);
    cleave__timers_free(&crew->timers);
    pthread_cond_destroy(&crew->change);
    pthread_mutex_destroy(&crew->lock);
}

enum cleave_status cleave__crew_open(struct cleave__crew *crew, struct cleave_runtime *runtime,
                                     struct cleave_error *error)
{
    crew->runtime = runtime;
    crew->began_ns = cleave__clock_ns();
    atomic_init(&crew->next_timer_ns, UINT64_MAX);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&crew->change, &attributes);
    pthread_condattr_destroy(&attributes);
    crew->pool = cleave__pool_new(runtime->options.threads);
    uint32_t count = cleave__pool_threads(crew->pool);
    if (crew->pool)
        crew->workers =
            aligned_alloc(_Alignof(struct cleave__worker), count * sizeof *crew->workers);
    if (!crew->workers) {
        cleave__crew_close(crew);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for threads");
    }
    memset(crew->workers, 0, count * sizeof *crew->workers);
    crew->worker_count = count;
    for (uint32_t w = 0; w < count; w++) {
        struct cleave__worker *worker = &crew->workers[w];
        pthread_mutex_init(&worker->lock, NULL);
        worker->end = &worker->first;
        worker->crew = crew;
        worker->number = w;
        worker->context.runtime = runtime;
        worker->context.worker = worker;
    }
    return CLEAVE_OK;
}

static void close_threads(void *state)
{
    cleave__crew_close(state);
    free(state);
}

static enum cleave_status open_threads(struct cleave_runtime *runtime, void **state,
                                       struct cleave_error *error)
{
    struct cleave__crew *crew = aligned_alloc(_Alignof(struct cleave__crew), sizeof *crew);
    if (!crew)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for threads");
    memset(crew, 0, sizeof *crew);
    enum cleave_status status = cleave__crew_open(crew, runtime, error);
    if (status)
        free(crew);
    else
        *state = crew;
    return status;
}

enum cleave_status cleave__crew_add(void *state, struct cleave__actor *actor,
                                    struct cleave_error *error)
{
    (void)state;
    struct cleave__box *box = calloc(1, sizeof *box);
    if (!box)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an actor");
    pthread_mutex_init(&box->lock, NULL);
    box->actor = actor;
    box->scheduled = box->asleep = !actor->ops; /* the outside: has turns to drain only */
    actor->mail = box;
    return CLEAVE_OK;
}

void cleave__crew_drop(void *state, struct cleave__actor *actor)
{
    (void)state;
    struct cleave__box *box = actor->mail;
    if (!box)
        return;
    free(box->incoming.data);
    free(box->current.data);
    cleave__waiters_free(&box->waiters);
    pthread_mutex_destroy(&box->lock);
    free(box);
}

/* ---- timers ---- */

static void note_next_timer(struct cleave__crew *crew)
{
    const struct cleave__timer *next = cleave__timers_next(&crew->timers);
    atomic_store_explicit(&crew->next_timer_ns, next ? next->at_ns : UINT64_MAX,
                          memory_order_relaxed);
}

bool cleave__crew_timer_set(struct cleave_context *context, uint64_t at_ns, uint64_t number,
                            uint64_t *handle)
{
    struct cleave__crew *crew = context->runtime->state;
    pthread_mutex_lock(&crew->lock);
    bool set = cleave__timers_set(&crew->timers, at_ns, context->actor->number, number, handle);
    note_next_timer(crew);
    pthread_mutex_unlock(&crew->lock);
    return set;
}

void cleave__crew_timer_cancel(struct cleave_context *context, uint64_t handle)
{
    struct cleave__crew *crew = context->runtime->state;
    pthread_mutex_lock(&crew->lock);
    cleave__timers_cancel(&crew->timers, handle);
    note_next_timer(crew);
    pthread_mutex_unlock(&crew->lock);
}

/* Under the crew's lock. True if one was due. */
static bool fire_due(struct cleave__crew *crew, struct cleave__worker *worker, uint64_t now_ns)
{
    bool any = false;
    for (const struct cleave__timer *next;
         (next = cleave__timers_next(&crew->timers)) && next->at_ns <= now_ns; any = true) {
        struct cleave__timer timer = cleave__timers_take(&crew->timers);
        cleave__crew_fire(crew, worker, timer.actor, timer.number);
    }
    if (any) {
        note_next_timer(crew);
        pthread_cond_broadcast(&crew->change);
    }
    return any;
}

/* ---- workers ---- */

enum { STUCK_EVERY_NS = 100000000 };

void cleave__crew_call(struct cleave__crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->called = true;
    pthread_cond_signal(&crew->change);
    pthread_mutex_unlock(&crew->lock);
}

static void end_run(struct cleave__crew *crew)
{
    crew->ended = true;
    pthread_cond_broadcast(&crew->change);
}

/* Under the crew's lock: whether this run is over, found out here if need be. */
static bool run_is_over(struct cleave__crew *crew, uint64_t now_ns)
{
    const struct cleave_progress *progress = crew->progress;
    if (crew->ended)
        return true;
    if (progress && progress->stop && *progress->stop) {
        crew->interrupted = true;
        end_run(crew);
    } else if (cleave__runtime_over(crew->runtime) ||
               (crew->until_ns && now_ns >= crew->until_ns)) {
        end_run(crew);
    } else if (!crew->serves && atomic_load_explicit(&crew->active, memory_order_acquire) == 0) {
        /* Nobody has a turn, and timers need the lock: the actors may be looked at, if nobody else
         * can give them one. */
        if (!cleave__timers_next(&crew->timers)) {
            if (!crew->open)
                cleave__runtime_settle(crew->runtime);
            if (!crew->open || !crew->hooks->expects(crew))
                end_run(crew);
        } else if (!crew->open && cleave__runtime_find_cycle(crew->runtime)) {
            end_run(crew);
        }
    }
    return crew->ended;
}

/* Until there may be something to do; under the crew's lock. */
static void wait_for_change(struct cleave__crew *crew, uint64_t now_ns)
{
    enum { STEAL_NS = 1000000, STOP_NS = 50000000 };
    if (crew->called) {
        crew->called = false;
        return;
    }
    uint64_t until_ns = UINT64_MAX;
    const struct cleave__timer *next = cleave__timers_next(&crew->timers);
    if (next)
        until_ns = next->at_ns;
    if (crew->until_ns && crew->until_ns < until_ns)
        until_ns = crew->until_ns;
    if (atomic_load_explicit(&crew->active, memory_order_acquire) && now_ns + STEAL_NS < until_ns)
        until_ns = now_ns + STEAL_NS;
    if (crew->progress && now_ns + STOP_NS < until_ns)
        until_ns = now_ns + STOP_NS;
    atomic_fetch_add(&crew->idle, 1);
    if (until_ns == UINT64_MAX) {
        pthread_cond_wait(&crew->change, &crew->lock);
    } else {
        uint64_t at_ns = crew->began_ns + until_ns;
        struct timespec t = {.tv_sec = (time_t)(at_ns / 1000000000),
                             .tv_nsec = (long)(at_ns % 1000000000)};
        pthread_cond_timedwait(&crew->change, &crew->lock, &t);
    }
    atomic_fetch_sub(&crew->idle, 1);
}

/* Now and then between turns: timers, the clock's bound, a wish to stop, actors that are stuck.
 * True if the run is over.
 */
static bool look_around(struct cleave__worker *worker, uint32_t caller)
{
    struct cleave__crew *crew = worker->crew;
    const struct cleave_progress *progress = crew->progress;
    uint64_t now_ns = cleave__crew_now_ns(crew);
    unsigned long long stuck_ns = atomic_load_explicit(&crew->next_stuck_ns, memory_order_relaxed);
    if (now_ns >= stuck_ns &&
        atomic_compare_exchange_strong(&crew->next_stuck_ns, &stuck_ns, now_ns + STUCK_EVERY_NS))
        cleave__crew_find_stuck(crew);
    bool over = cleave__runtime_over(crew->runtime);
    if (over || progress || crew->until_ns ||
        atomic_load_explicit(&crew->next_timer_ns, memory_order_relaxed) <= now_ns) {
        pthread_mutex_lock(&crew->lock);
        over = run_is_over(crew, now_ns);
        if (!over)
            fire_due(crew, worker, now_ns);
        pthread_mutex_unlock(&crew->lock);
        if (!over && caller == 0 && progress && progress->report)
            progress->report(progress->context, "running", worker->turns, 0);
    }
    return over;
}

static void work(void *context, uint32_t task, uint32_t caller)
{
    enum { LOOK_EVERY = 32 };
    struct cleave__crew *crew = context;
    struct cleave__worker *worker = &crew->workers[task];
    for (;;) {
        struct cleave__box *box = cleave__crew_find(worker);
        if (box) {
            cleave__crew_turn(worker, box);
            if ((++worker->turns % LOOK_EVERY == 0 || cleave__runtime_over(crew->runtime)) &&
                look_around(worker, caller))
                return;
            continue;
        }
        pthread_mutex_lock(&crew->lock);
        uint64_t now_ns = cleave__crew_now_ns(crew);
        bool over = run_is_over(crew, now_ns);
        if (!over && !fire_due(crew, worker, now_ns))
            wait_for_change(crew, now_ns);
        pthread_mutex_unlock(&crew->lock);
        if (over)
            return;
    }
}

static void start_actors(struct cleave__crew *crew)
{
    struct cleave_runtime *runtime = crew->runtime;
    for (size_t a = 1; a < runtime->actors.count; a++) {
        struct cleave__box *box = runtime->actors.data[a]->mail;
        if (!box->actor->ops)
            continue;
        pthread_mutex_lock(&box->lock);
        bool starts = !box->actor->started && !box->scheduled;
        box->scheduled = box->scheduled || starts;
        pthread_mutex_unlock(&box->lock);
        if (starts)
            cleave__crew_runnable(crew, NULL, box);
    }
}

enum cleave_status cleave__crew_run(void *state, uint64_t until_ns,
                                    const struct cleave_progress *progress,
                                    struct cleave_error *error)
{
    struct cleave__crew *crew = state;
    crew->ended = crew->interrupted = false;
    crew->until_ns = until_ns;
    crew->progress = progress;
    atomic_store(&crew->next_stuck_ns, cleave__crew_now_ns(crew) + STUCK_EVERY_NS);
    start_actors(crew);
    cleave__pool_run(crew->pool, crew->worker_count, work, crew);
    if (crew->interrupted)
        return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    return CLEAVE_OK;
}

bool cleave__crew_check(void *state)
{
    struct cleave__crew *crew = state;
    for (size_t a = 0; a < crew->runtime->actors.count; a++) {
        struct cleave__box *box = crew->runtime->actors.data[a]->mail;
        pthread_mutex_lock(&box->lock); /* others may send, between runs too */
        bool good = cleave__box_check(box);
        pthread_mutex_unlock(&box->lock);
        if (!good)
            return false;
    }
    uint32_t queued = 0;
    for (uint32_t w = 0; w < crew->worker_count; w++) {
        struct cleave__worker *worker = &crew->workers[w];
        uint32_t length = 0;
        pthread_mutex_lock(&worker->lock);
        struct cleave__box *const *end = &worker->first;
        for (; *end; end = &(*end)->next)
            length++;
        bool good = length == worker->length && end == worker->end;
        pthread_mutex_unlock(&worker->lock);
        if (!good)
            return false;
        queued += length;
    }
    return (crew->hooks || queued == atomic_load(&crew->active)) &&
           cleave__timers_check(&crew->timers);
}

const struct cleave_transport_ops cleave__threads = {.name = "threads",
                                                     .open = open_threads,
                                                     .close = close_threads,
                                                     .add = cleave__crew_add,
                                                     .drop = cleave__crew_drop,
                                                     .offer = cleave__crew_offer,
                                                     .now_ns = cleave__crew_now_ns,
                                                     .timer_set = cleave__crew_timer_set,
                                                     .timer_cancel = cleave__crew_timer_cancel,
                                                     .run = cleave__crew_run,
                                                     .check = cleave__crew_check};

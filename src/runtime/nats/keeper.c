/* The keeper: a thread that now and then makes good what may have been lost. It asks for credit
 * where actors wait for it, and gives up when no server has been there for too long. */
#include <errno.h>
#include <time.h>

#include "runtime/nats/ask.h"

static uint64_t probe_ns(const struct cleave__nats *nats)
{
    return nats->options->probe_ns ? nats->options->probe_ns : CLEAVE__PROBE_NS;
}

static void look(struct cleave__nats *nats)
{
    uint64_t now_ns = cleave__crew_now_ns(&nats->crew);
    uint64_t since_ns = atomic_load(&nats->disconnected_ns);
    uint64_t patience_ns = nats->options->patience_ns;
    if (atomic_load(&nats->waiting)) {
        pthread_mutex_lock(&nats->lock);
        cleave__nats_probe(nats, probe_ns(nats));
        pthread_mutex_unlock(&nats->lock);
    }
    cleave__asks_repeat(nats);
    if (since_ns && patience_ns && now_ns > since_ns && now_ns - since_ns > patience_ns)
        cleave__nats_fail(nats, CLEAVE_IO, "no NATS server has been there for %.1f s",
                          (double)(now_ns - since_ns) / 1e9);
}

static void *keep(void *closure)
{
    struct cleave__nats *nats = closure;
    uint64_t every_ns = probe_ns(nats) / 2;
    every_ns = every_ns < CLEAVE__KEEPER_NS ? every_ns : CLEAVE__KEEPER_NS;
    pthread_mutex_lock(&nats->ears_lock);
    while (nats->keeps) {
        struct timespec at;
        clock_gettime(CLOCK_MONOTONIC, &at);
        at.tv_nsec += (long)every_ns;
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&nats->keeper_change, &nats->ears_lock, &at) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&nats->ears_lock);
        look(nats);
        pthread_mutex_lock(&nats->ears_lock);
    }
    pthread_mutex_unlock(&nats->ears_lock);
    return NULL;
}

bool cleave__nats_keep(struct cleave__nats *nats)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&nats->keeper_change, &attributes);
    pthread_condattr_destroy(&attributes);
    nats->keeps = true;
    nats->kept = pthread_create(&nats->keeper, NULL, keep, nats) == 0;
    if (!nats->kept)
        pthread_cond_destroy(&nats->keeper_change);
    return nats->kept;
}

void cleave__nats_keep_no_more(struct cleave__nats *nats)
{
    if (!nats->kept)
        return;
    pthread_mutex_lock(&nats->ears_lock);
    nats->keeps = false;
    pthread_cond_signal(&nats->keeper_change);
    pthread_mutex_unlock(&nats->ears_lock);
    pthread_join(nats->keeper, NULL);
    pthread_cond_destroy(&nats->keeper_change);
    nats->kept = false;
}

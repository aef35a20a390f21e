#include "runtime/watch.h"

#include <stdlib.h>

#include "runtime/runtime.h"

#define FIGURES(X)                                                                                 \
    X(received, "cleave_actor_messages_received_total", "Messages that the actor took")            \
    X(sent, "cleave_actor_messages_sent_total", "Messages that the actor sent")                    \
    X(bytes_received, "cleave_actor_received_bytes_total", "Bytes of the bodies it took")          \
    X(bytes_sent, "cleave_actor_sent_bytes_total", "Bytes of the bodies it sent")                  \
    X(parkings, "cleave_actor_parked_total", "Messages of it that met a full mailbox")             \
    X(timers, "cleave_actor_timers_total", "Timers of it that came")                               \
    X(lost, "cleave_actor_lost_total", "Messages to it that were lost")

struct cleave__watch {
#define X(member, name, help) struct cleave_counter *member;
    FIGURES(X)
#undef X
};

enum cleave_status cleave__watch_new(struct cleave_metrics *metrics, const char *name,
                                     struct cleave__watch **out, struct cleave_error *error)
{
    struct cleave__watch *watch = calloc(1, sizeof *watch);
    struct cleave_label label = {"actor", name};
    enum cleave_status status = CLEAVE_OK;
    if (!watch)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to watch an actor");
#define X(member, name_, help_)                                                                    \
    if (!status)                                                                                   \
        status = cleave__metrics_counter(metrics,                                                  \
                                         &(struct cleave_metric){.name = name_, .help = help_},    \
                                         &label, 1, &watch->member, error);
    FIGURES(X)
#undef X
    if (status) {
        free(watch);
        watch = NULL;
    }
    if (status && status != CLEAVE_LIMIT)
        return status;
    *out = watch;
    return CLEAVE_OK;
}

void cleave__watch_free(struct cleave__watch *watch)
{
    free(watch);
}

void cleave__watch_publish(struct cleave__watch *watch, const struct cleave_actor_stats *stats)
{
#define X(member, name, help) cleave__counter_set(watch->member, stats->member);
    FIGURES(X)
#undef X
}

/* Cycles of full mailboxes, found while other actors go on running.
 *
 * An actor that sleeps with parked messages, whose first one is for a full mailbox of an actor that
 * sleeps likewise, and so on around: none of them can have a turn again. As others run meanwhile,
 * what is looked at one after the other need not have been so at one time. So a cycle found is
 * looked at again: an actor that still sleeps the same sleep (`sleeps` counts them) has slept all
 * along, and its mailbox, which only its own turns empty, has been full. */
#include <stdlib.h>

#include "runtime/threads/crew.h"

struct look {
    uint32_t next; /* whose room it waits for; 0: awake, or that mailbox has room */
    uint64_t sleeps;
};

static bool is_full(struct cleave__box *box)
{
    pthread_mutex_lock(&box->lock);
    bool full = box->used >= box->actor->mailbox_most;
    pthread_mutex_unlock(&box->lock);
    return full;
}

static struct look look_at(const struct cleave_runtime *runtime, size_t actor)
{
    struct cleave__box *box = runtime->actors.data[actor]->mail;
    struct look look = {0};
    pthread_mutex_lock(&box->lock);
    look.sleeps = box->sleeps;
    /* The outbox of a sleeper is not touched until it is woken, under this lock. */
    if (box->asleep && box->actor->blocked.count)
        look.next = box->actor->blocked.data[0];
    pthread_mutex_unlock(&box->lock);
    if (look.next && !is_full(runtime->actors.data[look.next]->mail))
        look.next = 0;
    return look;
}

/* Whether all of the cycle that `first` is on are as they were. */
static bool still_there(const struct cleave_runtime *runtime, const struct look *looks,
                        uint32_t first)
{
    uint32_t at = first;
    do {
        struct look again = look_at(runtime, at);
        if (again.next != looks[at].next || again.sleeps != looks[at].sleeps)
            return false;
        at = looks[at].next;
    } while (at != first);
    return true;
}

void cleave__crew_find_stuck(struct cleave__crew *crew)
{
    struct cleave_runtime *runtime = crew->runtime;
    size_t count = runtime->actors.count;
    struct look *looks = malloc(count * sizeof *looks);
    uint32_t *walk = calloc(count, sizeof *walk); /* by which walk it was passed */
    for (size_t a = 0; looks && walk && a < count; a++)
        looks[a] = look_at(runtime, a);
    for (size_t a = 1; looks && walk && a < count; a++) {
        uint32_t at = (uint32_t)a;
        while (at && !walk[at]) {
            walk[at] = (uint32_t)a;
            at = looks[at].next;
        }
        if (at && walk[at] == a && still_there(runtime, looks, at)) {
            uint32_t members[CLEAVE__CYCLE_TOLD];
            size_t length = 0;
            for (uint32_t next = at; length < CLEAVE__CYCLE_TOLD && (!length || next != at);
                 next = looks[next].next)
                members[length++] = next;
            cleave__runtime_fail_cycle(runtime, members, length);
            break;
        }
    }
    if (!looks || !walk)
        cleave__runtime_no_memory(runtime);
    free(looks);
    free(walk);
}

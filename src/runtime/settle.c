/* Nothing runs any more: is this the end, or are actors stuck?
 *
 * An actor with parked messages gets no turn until all are delivered; the receiver of the first one
 * has a full mailbox. Following these receivers from any stuck actor leads, as none can go on, into
 * a cycle, whose names are told. If none is stuck, whatever was sent must have been taken up, and
 * whatever was asked answered. */
#include <stdio.h>

#include "runtime/core.h"

static struct cleave__actor *next_of(const struct cleave_runtime *runtime,
                                     const struct cleave__actor *actor)
{
    return actor->blocked.count ? runtime->actors.data[actor->blocked.data[0]] : NULL;
}

void cleave__runtime_fail_cycle(struct cleave_runtime *runtime, const uint32_t *actors,
                                size_t count)
{
    char text[350];
    size_t length = 0;
    for (size_t i = 0; i < count && i < CLEAVE__CYCLE_TOLD - 1; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%.30s -> ",
                                   runtime->actors.data[actors[i]]->name);
    cleave__runtime_fail(runtime, CLEAVE_CORRUPT,
                         "stuck: each waits for room in the next one's mailbox: %s%s%.30s", text,
                         count > CLEAVE__CYCLE_TOLD - 1 ? "... -> " : "",
                         runtime->actors.data[actors[0]]->name);
}

bool cleave__runtime_find_cycle(struct cleave_runtime *runtime)
{
    size_t count = runtime->actors.count;
    for (size_t i = 0; i < count; i++) {
        /* Brent's: one of the two is left behind until the other meets it. */
        struct cleave__actor *slow = runtime->actors.data[i], *fast = next_of(runtime, slow);
        for (size_t steps = 0, power = 1; fast && fast != slow; fast = next_of(runtime, fast)) {
            if (++steps == power) {
                slow = fast;
                power *= 2;
                steps = 0;
            }
        }
        if (fast) {
            uint32_t members[CLEAVE__CYCLE_TOLD];
            size_t length = 0;
            slow = fast;
            do {
                members[length++] = fast->number;
                fast = next_of(runtime, fast);
            } while (fast != slow && length < CLEAVE__CYCLE_TOLD);
            cleave__runtime_fail_cycle(runtime, members, length);
            return true;
        }
    }
    return false;
}

/* Nothing is under way, so each channel's two ends agree; a last message that got lost leaves no
 * gap that a later one would show. False: they do not. */
static bool check_ends(struct cleave_runtime *runtime, const struct cleave__actor *sender)
{
    const struct cleave__channels *channels = &sender->channels;
    for (uint32_t s = 0; channels->slots && s <= channels->mask; s++) {
        const struct cleave__channel *out = &channels->slots[s];
        if (!out->key || !out->sent)
            continue;
        const struct cleave__actor *receiver = runtime->actors.data[out->key - 1];
        const struct cleave__channel *in =
            cleave__channels_find(&receiver->channels, sender->number);
        if (receiver->sort != CLEAVE__ACTOR_HERE)
            continue;
        uint64_t arrived = in ? in->received : 0;
        uint64_t lost = runtime->transport->lost
                            ? runtime->transport->lost(runtime->state, receiver, sender->number)
                            : 0;
        if (lost == UINT64_MAX || arrived + lost == out->sent)
            continue;
        cleave__runtime_fail(runtime, CLEAVE_CORRUPT,
                             "nothing is left to do, but from %s to %s %llu messages were sent and "
                             "%llu taken up",
                             sender->name, receiver->name, (unsigned long long)out->sent,
                             (unsigned long long)arrived);
        return false;
    }
    return true;
}

void cleave__runtime_settle(struct cleave_runtime *runtime)
{
    if (cleave__runtime_over(runtime) || cleave__runtime_find_cycle(runtime))
        return;
    uint64_t open = 0;
    const struct cleave__actor *asker = NULL;
    const struct cleave__ticket *request = NULL;
    for (size_t i = 0; i < runtime->actors.count; i++) {
        const struct cleave__actor *actor = runtime->actors.data[i];
        if (actor->parked) {
            cleave__runtime_fail(runtime, CLEAVE_CORRUPT,
                                 "%s waits for room in the mailbox of %s, which is not full",
                                 actor->name, next_of(runtime, actor)->name);
            return;
        }
        if (!check_ends(runtime, actor))
            return;
        open += actor->requests.count;
        for (uint32_t s = 0; !request && actor->requests.count && s <= actor->requests.mask; s++) {
            if (actor->requests.slots[s].number) {
                request = &actor->requests.slots[s];
                asker = actor;
            }
        }
    }
    if (open)
        cleave__runtime_fail(runtime, CLEAVE_CORRUPT,
                             "nothing is left to do, but %llu request%s never answered: one of "
                             "%s to %s",
                             (unsigned long long)open, open == 1 ? " was" : "s were", asker->name,
                             runtime->actors.data[request->peer]->name);
}

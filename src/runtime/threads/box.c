#include "runtime/threads/box.h"

uint8_t *cleave__box_append(struct cleave__box *box, const struct cleave__record *record)
{
    struct cleave__bytes *bytes = &box->incoming;
    size_t whole = cleave__record_bytes(record->size);
    if (!CLEAVE_RESERVE(bytes, bytes->count + whole))
        return NULL;
    uint8_t *to = bytes->data + bytes->count;
    memcpy(to, record, sizeof *record);
    bytes->count += whole;
    box->used += !record->reserved;
    box->incoming_messages++;
    uint64_t waiting = (uint64_t)box->incoming_messages;
    if (waiting > box->actor->stats.queue_most)
        box->actor->stats.queue_most = waiting;
    return to + sizeof *record;
}

bool cleave__box_begin(struct cleave__box *box)
{
    pthread_mutex_lock(&box->lock);
    if (box->left == 0) {
        struct cleave__bytes held = box->current;
        box->current = box->incoming;
        box->incoming = held;
        box->incoming.count = 0;
        box->at = 0;
        box->left = box->incoming_messages;
        box->incoming_messages = 0;
    }
    bool over_full = box->used > box->actor->mailbox_most;
    pthread_mutex_unlock(&box->lock);
    return over_full;
}

const uint8_t *cleave__box_next(struct cleave__box *box, struct cleave__record *record)
{
    if (box->left == 0)
        return NULL;
    const uint8_t *from = box->current.data + box->at;
    memcpy(record, from, sizeof *record);
    box->at += cleave__record_bytes(record->size);
    box->left--;
    box->credits += !record->reserved;
    return from + sizeof *record;
}

uint32_t cleave__box_pop_waiters(struct cleave__box *box, uint32_t *out, uint32_t most)
{
    uint32_t count = 0;
    while (count < most && (out[count] = cleave__waiters_take(&box->waiters)) != UINT32_MAX)
        count++;
    return count;
}

/* Counts the messages of a buffer from `at` on; SIZE_MAX if they do not fill it. */
static size_t count_messages(const struct cleave__bytes *bytes, size_t at, uint32_t *unreserved)
{
    size_t count = 0;
    while (at < bytes->count) {
        struct cleave__record record;
        if (bytes->count - at < sizeof record)
            return SIZE_MAX;
        memcpy(&record, bytes->data + at, sizeof record);
        at += cleave__record_bytes(record.size);
        *unreserved += !record.reserved;
        count++;
    }
    return at == bytes->count ? count : SIZE_MAX;
}

bool cleave__box_check(const struct cleave__box *box)
{
    uint32_t unreserved = box->credits;
    return cleave__waiters_check(&box->waiters) &&
           count_messages(&box->incoming, 0, &unreserved) == box->incoming_messages &&
           count_messages(&box->current, box->at, &unreserved) == box->left &&
           unreserved == box->used && box->used <= box->actor->mailbox_most &&
           (!box->asleep || box->scheduled);
}

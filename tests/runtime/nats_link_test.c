/* Envelopes and links, without a server: what is written is read back, and every altered or
 * shortened one refused; over a network that loses, repeats and delays envelopes, between processes
 * that are started again, messages are taken in order and at most once, what is lost is counted,
 * and one probe brings all credit back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/nats/saved.h"
#include "support/property.h"

static bool envelopes_return(struct property_source *source, void *context)
{
    (void)context;
    enum { MOST = 100 };
    uint8_t bytes[CLEAVE__ENVELOPE_BYTES + MOST];
    struct cleave__envelope envelope = {
        .sort = (enum cleave__envelope_sort)(1 + property_draw(source, CLEAVE__ENVELOPE_SORTS - 1)),
        .sender = (uint32_t)property_draw(source, UINT32_MAX),
        .receiver = (uint32_t)property_draw(source, UINT32_MAX),
        .flags = (uint32_t)property_draw(source, CLEAVE__ENVELOPE_FLAGS + 1),
        .life = 1 + property_draw(source, UINT64_MAX - 1),
        .receiver_life = property_draw(source, UINT64_MAX),
        .charged = property_draw(source, UINT64_MAX),
        .credit = property_draw(source, UINT64_MAX),
        .number = property_draw(source, UINT64_MAX)};
    size_t length =
        envelope.sort == CLEAVE__ENVELOPE_PROBE ? 8
        : envelope.sort == CLEAVE__ENVELOPE_FRAMES || envelope.sort == CLEAVE__ENVELOPE_PIECE
            ? property_draw(source, MOST)
            : 0;
    if (envelope.sort == CLEAVE__ENVELOPE_PIECE)
        envelope.offset = (uint32_t)property_draw(source, 1000);
    for (size_t i = 0; i < length; i++)
        bytes[CLEAVE__ENVELOPE_BYTES + i] = (uint8_t)property_draw(source, 256);
    size_t size = CLEAVE__ENVELOPE_BYTES + length;
    cleave__envelope_write(&envelope, bytes, size);
    cleave__envelope_renumber(bytes, size, envelope.number);
    struct cleave__envelope got;
    bool good = !cleave__envelope_read(bytes, size, &got, NULL) && got.sort == envelope.sort &&
                got.sender == envelope.sender && got.receiver == envelope.receiver &&
                got.flags == envelope.flags && got.offset == envelope.offset &&
                got.life == envelope.life && got.receiver_life == envelope.receiver_life &&
                got.charged == envelope.charged && got.credit == envelope.credit &&
                got.number == envelope.number && got.length == length &&
                got.content == bytes + CLEAVE__ENVELOPE_BYTES;
    for (size_t cut = 0; good && cut < size; cut++)
        good = cleave__envelope_read(bytes, cut, &got, NULL) == CLEAVE_CORRUPT;
    for (size_t bit = 0; good && bit < size * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        good = cleave__envelope_read(bytes, size, &got, NULL) == CLEAVE_CORRUPT;
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    return good;
}

/* ---- two links and a bad network ---- */

enum { QUEUE = 32 };

struct parcel {
    struct cleave__envelope envelope;
    uint64_t sequence; /* of its one message; 0: none */
};

struct ends {
    struct cleave__link out, in; /* the sender's, the receiver's */
    uint64_t lives[2], sequence, held, taken, lost, newest;
    struct parcel there[QUEUE], back[QUEUE];
    size_t there_count, back_count;
    uint32_t window;
};

static void send_parcel(struct parcel *queue, size_t *count, struct parcel parcel)
{
    if (*count < QUEUE)
        queue[(*count)++] = parcel;
}

static struct cleave__envelope say(const struct ends *e, bool sender)
{
    const struct cleave__link *link = sender ? &e->out : &e->in;
    return (struct cleave__envelope){.sort = CLEAVE__ENVELOPE_FRAMES,
                                     .life = e->lives[!sender],
                                     .receiver_life = link->life,
                                     .charged = link->charged,
                                     .credit = cleave__link_credit(link)};
}

static bool arrive_there(struct ends *e, const struct parcel *parcel)
{
    uint64_t life = e->in.life;
    if (!cleave__link_hear(&e->in, &parcel->envelope, e->lives[1]))
        return parcel->envelope.life < life;
    if (e->in.life != life)
        e->held = e->newest = 0;
    if (parcel->envelope.sort == CLEAVE__ENVELOPE_PROBE) {
        cleave__link_skip(&e->in, parcel->sequence, &e->lost);
        e->in.told = cleave__link_credit(&e->in);
        send_parcel(e->back, &e->back_count, (struct parcel){say(e, false), 0});
    } else if (parcel->sequence && cleave__link_take(&e->in, parcel->sequence, &e->lost)) {
        if (parcel->sequence <= e->newest)
            return false; /* out of order, or twice */
        e->newest = parcel->sequence;
        e->in.held++;
        e->held++;
        e->taken++;
    }
    return true;
}

static struct parcel take_from(struct parcel *queue, size_t *count, size_t at)
{
    struct parcel parcel = queue[at];
    memmove(queue + at, queue + at + 1, (--*count - at) * sizeof *queue);
    return parcel;
}

static bool step(struct ends *e, struct property_source *source, bool bad)
{
    switch (property_draw(source, bad ? 12 : 6)) {
    case 0:
    case 1: /* a message, if there is credit */
        if (cleave__link_has_credit(&e->out, e->window) && e->there_count < QUEUE) {
            e->out.charged++;
            e->sequence++;
            struct parcel parcel = {say(e, true), e->sequence};
            if (!cleave__link_has_credit(&e->out, e->window))
                parcel.envelope.flags = CLEAVE__ENVELOPE_STARVED;
            send_parcel(e->there, &e->there_count, parcel);
        }
        return true;
    case 2:
    case 3:
        if (e->there_count) {
            struct parcel parcel = take_from(e->there, &e->there_count, 0);
            return arrive_there(e, &parcel);
        }
        return true;
    case 4: /* one is taken up */
        if (e->held) {
            e->held--;
            cleave__link_release(&e->in, e->in.epoch, 1);
            if (cleave__link_owes(&e->in, e->window)) {
                e->in.told = cleave__link_credit(&e->in);
                send_parcel(e->back, &e->back_count, (struct parcel){say(e, false), 0});
            }
        }
        return true;
    case 5:
        if (e->back_count) {
            struct parcel parcel = take_from(e->back, &e->back_count, 0);
            uint64_t life = e->out.life;
            bool heard = cleave__link_hear(&e->out, &parcel.envelope, e->lives[0]);
            return heard || parcel.envelope.life < life;
        }
        return true;
    case 6: /* lost */
    case 7:
        if (e->there_count)
            take_from(e->there, &e->there_count, property_draw(source, e->there_count));
        return true;
    case 8:
        if (e->back_count)
            take_from(e->back, &e->back_count, property_draw(source, e->back_count));
        return true;
    case 9: /* there twice */
        if (e->there_count)
            send_parcel(e->there, &e->there_count, e->there[property_draw(source, e->there_count)]);
        return true;
    case 10: /* overtaken */
        if (e->there_count > 1) {
            struct parcel parcel = take_from(e->there, &e->there_count, 0);
            send_parcel(e->there, &e->there_count, parcel);
        }
        return true;
    default: /* one of the two is started again */
        if (property_draw(source, 10) == 0) {
            e->lives[0] += 1000;
            e->out = (struct cleave__link){0};
            e->sequence = 0;
        } else if (property_draw(source, 10) == 0) {
            e->lives[1] += 1000;
            e->in = (struct cleave__link){0};
            e->held = e->newest = 0;
        }
        return true;
    }
}

static bool links_hold(struct property_source *source, void *context)
{
    (void)context;
    struct ends e = {.lives = {5, 7}, .window = 1 + (uint32_t)property_draw(source, 9)};
    bool bad = property_draw(source, 4);
    uint64_t steps = property_draw(source, 400);
    bool good = true;
    for (uint64_t s = 0; good && s < steps; s++)
        good = step(&e, source, bad) && cleave__link_check(&e.out) && cleave__link_check(&e.in) &&
               e.out.charged - e.out.credited <= e.window;
    if (good && !bad) /* nothing is lost where nothing loses */
        good = e.lost == 0 && e.taken + e.there_count == e.sequence;
    /* All that is under way is gone, all that is held taken up: a probe makes all good. */
    e.there_count = e.back_count = 0;
    cleave__link_release(&e.in, e.in.epoch, (uint32_t)e.held);
    struct parcel probe = {say(&e, true), e.sequence};
    probe.envelope.sort = CLEAVE__ENVELOPE_PROBE;
    good = good && arrive_there(&e, &probe) && e.back_count == 1 &&
           cleave__link_hear(&e.out, &e.back[0].envelope, e.lives[0]) &&
           cleave__link_check(&e.out) && cleave__link_check(&e.in);
    if (good && e.out.charged != e.out.credited) /* the receiver was new to it: once more */
        good = arrive_there(&e, &(struct parcel){.envelope = say(&e, true)});
    return good && e.out.charged == e.out.credited;
}

/* ---- what is saved ---- */

static bool changes_return(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__saved saved = {.made = 0};
    struct cleave_writer wanted = {0}, got = {0}, all = {0};
    uint64_t turns = property_draw(source, 10);
    bool good = true;
    for (uint64_t t = 0; t < turns; t++) {
        uint64_t changes = property_draw(source, 4);
        saved.turn.count = 0;
        for (uint64_t c = 0; c < changes; c++) {
            uint8_t bytes[20];
            size_t length = property_draw(source, sizeof bytes);
            bool anew = property_draw(source, 3) == 0;
            for (size_t i = 0; i < length; i++)
                bytes[i] = (uint8_t)property_draw(source, 256);
            if (anew)
                wanted.count = 0;
            cleave__put_bytes(&wanted, bytes, length);
            good = good && cleave__saved_note(&saved, anew, bytes, length);
        }
        cleave__put_bytes(&all, saved.turn.data, saved.turn.count);
    }
    good = good && cleave__saved_apply(&got, all.data, all.count) && got.count == wanted.count &&
           (!got.count || memcmp(got.data, wanted.data, got.count) == 0);
    if (good && all.count) { /* cut off within a change: refused */
        got.count = 0;
        size_t whole = 0;
        for (size_t cut = 1; good && cut < all.count; cut++) {
            struct cleave_writer part = {0};
            whole += cleave__saved_apply(&part, all.data, cut);
            free(part.data);
        }
        good = whole < all.count;
    }
    free(saved.turn.data);
    free(wanted.data);
    free(got.data);
    free(all.data);
    return good;
}

static void envelopes(void **state)
{
    (void)state;
    assert_true(property_run("envelopes", envelopes_return, NULL, 300));
}

static void links(void **state)
{
    (void)state;
    assert_true(property_run("links over a bad network", links_hold, NULL, 20000));
}

static void changes(void **state)
{
    (void)state;
    assert_true(property_run("what is saved", changes_return, NULL, 3000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(envelopes), cmocka_unit_test(links),
                                       cmocka_unit_test(changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

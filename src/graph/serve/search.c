/* A query's search, level by level, as src/graph/route carries it out, but in pieces: between two
 * of them the coordinator waits for shards. What is counted is what is counted there. */
#include <stdlib.h>
#include <string.h>

#include "graph/serve/coordinator.h"

void cleave__marks_clear(struct cleave__marks *marks)
{
    if (marks->count)
        memset(marks->slot, 0, ((size_t)marks->mask + 1) * sizeof *marks->slot);
    marks->count = 0;
}

static uint32_t seat(const struct cleave__marks *marks, uint32_t number)
{
    uint32_t at = (uint32_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & marks->mask;
    while (marks->slot[at] && marks->slot[at] != number + 1)
        at = (at + 1) & marks->mask;
    return at;
}

static bool grow(struct cleave__marks *marks)
{
    struct cleave__marks larger = {.mask = marks->slot ? marks->mask * 2 + 1 : 127,
                                   .count = marks->count};
    larger.slot = calloc((size_t)larger.mask + 1, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (uint64_t i = 0; marks->slot && i <= marks->mask; i++) {
        if (marks->slot[i])
            larger.slot[seat(&larger, marks->slot[i] - 1)] = marks->slot[i];
    }
    free(marks->slot);
    *marks = larger;
    return true;
}

int cleave__marks_add(struct cleave__marks *marks, uint32_t number)
{
    if ((!marks->slot || marks->count * 2 > marks->mask) && !grow(marks))
        return -1;
    uint32_t at = seat(marks, number);
    if (marks->slot[at])
        return 0;
    marks->slot[at] = number + 1;
    marks->count++;
    return 1;
}

static bool early(const struct cleave__search *s)
{
    return s->executor == CLEAVE__SERVE_EARLY && s->query.limit && !s->query.top;
}

static bool satisfied(const struct cleave__search *s)
{
    return early(s) && s->answer.count >= s->query.limit;
}

/* Is it an answer? `degree` and `label` count only where the query needs them. */
static bool settle(struct cleave__coordinator *c, struct cleave__search *s, uint32_t user,
                   uint32_t distance, uint32_t degree, uint32_t label)
{
    const struct cleave__query *q = &s->query;
    const struct cleave__graph *graph = c->seat->world->graph;
    if (distance == 0 || (q->exactly && distance < q->hops) ||
        (q->by_id && (graph->number[user] < q->id_low || graph->number[user] > q->id_high)) ||
        (q->by_label && label != q->label) ||
        (q->by_degree && (degree < q->degree_low || degree > q->degree_high)))
        return true;
    return CLEAVE_PUSH(&s->answer, (struct cleave__found){user, degree});
}

bool cleave__search_record(struct cleave__coordinator *c, struct cleave__search *s, uint32_t user,
                           uint32_t degree, uint32_t label, const uint8_t *targets)
{
    bool needs = cleave__query_needs_user(&s->query);
    if (needs && !settle(c, s, user, s->level, degree, label))
        return false;
    if (!targets) {
        s->looks++;
        return true;
    }
    s->reads++;
    bool goes_on = needs || s->level + 1 < s->query.hops; /* those found will be asked */
    for (uint32_t i = 0; i < degree; i++) {
        uint32_t to = cleave__load32(targets + (size_t)i * 4);
        int fresh = cleave__marks_add(&s->seen, to);
        s->hops += c->owner[to] != c->owner[user];
        if (fresh < 0 || (fresh && goes_on && !CLEAVE_PUSH(&s->next, to)) ||
            (fresh && !needs && !settle(c, s, to, s->level + 1, 0, 0)))
            return false;
    }
    return true;
}

/* How many of the `left` users to ask in this wave: as many as should bring what is missing. */
static uint32_t wave_of(const struct cleave__search *s, uint32_t left)
{
    const struct cleave__query *q = &s->query;
    if (!early(s))
        return left;
    bool needs = cleave__query_needs_user(q);
    bool brings = s->looking ||
                  (needs ? !q->exactly && s->level > 0 : s->level + 1 == q->hops || !q->exactly);
    double yield = s->looking || needs ? 1 : 4, missing = (double)(q->limit - s->answer.count);
    if (!brings)
        return left;
    if (s->asked > 0)
        yield = ((double)(s->answer.count - s->before) + 0.5) / s->asked;
    double wanted = missing / yield;
    uint32_t wave = wanted >= left ? left : wanted < 1 ? 1 : (uint32_t)wanted;
    if (wave < s->asked / 2)
        wave = s->asked / 2 < left ? s->asked / 2 : left;
    return wave;
}

struct order {
    const struct cleave__coordinator *c;
    const struct cleave__search *search;
};

/* Own shard first, then shard by shard. */
static int compare(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t home = order->search->home;
    uint32_t sx = cleave__coordinator_shard(order->c, order->search, x, false);
    uint32_t sy = cleave__coordinator_shard(order->c, order->search, y, false);
    if (sx == sy)
        return (x > y) - (x < y);
    if (sx == home || sy == home)
        return sx == home ? -1 : 1;
    return sx < sy ? -1 : 1;
}

/* Sends the next wave of the frontier: the rest of it is in frontier[asked ...]. */
static bool send_wave(struct cleave__coordinator *c, struct cleave_context *context,
                      uint32_t number)
{
    struct cleave__search *s = c->searches.data[number];
    bool single = s->executor == CLEAVE__SERVE_DIRECT;
    uint32_t left = (uint32_t)s->frontier.count - s->asked, wave = wave_of(s, left);
    s->ask.count = 0;
    if (!CLEAVE_RESERVE(&s->ask, wave))
        return false;
    if (!s->asked && !single)
        qsort_r(s->frontier.data, s->frontier.count, sizeof *s->frontier.data, compare,
                &(struct order){c, s});
    memcpy(s->ask.data, s->frontier.data + s->asked, wave * sizeof *s->ask.data);
    s->ask.count = s->pending = wave;
    s->asked += wave;
    s->rounds++;
    cleave__coordinator_ask(c, context, number, 0, wave, false, 0);
    return true;
}

bool cleave__search_begin(struct cleave__coordinator *c, struct cleave_context *context,
                          uint32_t number)
{
    struct cleave__search *s = c->searches.data[number];
    s->level = s->asked = s->before = 0;
    s->looking = false;
    s->frontier.count = s->next.count = s->answer.count = s->notes.count = 0;
    s->hops = s->requests = s->remote_requests = s->reads = s->looks = s->rounds = 0;
    s->home = c->owner[s->source];
    cleave__marks_clear(&s->seen);
    return cleave__marks_add(&s->seen, s->source) >= 0 && CLEAVE_PUSH(&s->frontier, s->source) &&
           send_wave(c, context, number);
}

static int compare_found(const void *a, const void *b)
{
    const struct cleave__found *x = a, *y = b;
    return x->degree != y->degree ? (x->degree < y->degree) - (x->degree > y->degree)
                                  : (x->user > y->user) - (x->user < y->user);
}

static void finish(struct cleave__coordinator *c, struct cleave_context *context,
                   struct cleave__search *s)
{
    const struct cleave__query *q = &s->query;
    if (q->top && s->answer.count)
        qsort(s->answer.data, s->answer.count, sizeof *s->answer.data, compare_found);
    if (q->limit && s->answer.count > q->limit)
        s->answer.count = (size_t)q->limit;
    cleave__coordinator_answer(c, context, s);
}

bool cleave__search_go_on(struct cleave__coordinator *c, struct cleave_context *context,
                          uint32_t number)
{
    struct cleave__search *s = c->searches.data[number];
    const struct cleave__query *q = &s->query;
    if (!satisfied(s) && s->asked < s->frontier.count)
        return send_wave(c, context, number);
    if (!s->looking && !satisfied(s)) { /* a level farther */
        s->frontier.count = 0;
        if (!CLEAVE_RESERVE(&s->frontier, s->next.count))
            return false;
        if (s->next.count)
            memcpy(s->frontier.data, s->next.data, s->next.count * sizeof *s->next.data);
        s->frontier.count = s->next.count;
        s->next.count = 0;
        s->asked = 0;
        s->before = (uint32_t)s->answer.count;
        s->looking = ++s->level == q->hops;
        if (s->frontier.count && (!s->looking || cleave__query_needs_user(q)))
            return send_wave(c, context, number);
    }
    finish(c, context, s);
    return true;
}

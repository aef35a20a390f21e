/* Which operation, if any; see the header. */
#include "stream/balance/decide.h"

#include <assert.h>

/* The search goes on to so many evaluators if nothing helps the costliest. */
enum { SOURCES_MOST = 8 };

struct search {
    const struct cleave__balance_report *reports;
    uint32_t evaluators;
    const struct cleave__balance_options *options;
    uint32_t idle_count, idle; /* the first idle one, if any */
    uint64_t least_cost;       /* of those with cells */
    struct cleave__balance_decision best;
};

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool allowed(const struct search *s, enum cleave__balance_kind kind)
{
    return s->options->kinds == 0 || s->options->kinds >> kind & 1;
}

/* The loads' difference may be below 0. */
static double gain_of(uint64_t before, uint64_t after)
{
    return before >= after ? (double)(before - after) : -(double)(after - before);
}

static void offer(struct search *s, struct cleave__balance_decision decision)
{
    double net = decision.gain - decision.overhead;
    if (net > 0 && (s->best.kind == CLEAVE__BALANCE_NONE || net > s->best.gain - s->best.overhead))
        s->best = decision;
}

static uint64_t worse_half(const struct cleave__balance_report *x)
{
    return greater(x->split.cost, x->cost - x->split.cost);
}

static void try_split(struct search *s, uint32_t x)
{
    const struct cleave__balance_report *report = &s->reports[x];
    if (!report->can_split || s->idle_count <= s->options->spare)
        return;
    offer(s, (struct cleave__balance_decision){.kind = CLEAVE__BALANCE_SPLIT,
                                               .gain = gain_of(report->cost, worse_half(report)),
                                               .overhead =
                                                   s->options->beta * (double)report->split.queries,
                                               .step_count = 1,
                                               .steps = {{x, s->idle, report->split.cells}}});
}

/* Whether x's split may still be the best choice, beside a merge that costs so much or more. */
static bool may_win(const struct search *s, const struct cleave__balance_report *report,
                    uint64_t merged)
{
    double net = gain_of(report->cost, greater(worse_half(report), merged)) -
                 s->options->beta * (double)report->split.queries;
    return net > 0 &&
           (s->best.kind == CLEAVE__BALANCE_NONE || net > s->best.gain - s->best.overhead);
}

static void offer_split_merge(struct search *s, uint32_t x, uint32_t y, uint32_t z)
{
    const struct cleave__balance_report *report = &s->reports[x];
    const struct cleave__balance_report *one = &s->reports[y], *other = &s->reports[z];
    bool keep_y = one->queries >= other->queries;
    uint32_t keeper = keep_y ? y : z, freed = keep_y ? z : y;
    uint64_t moved = report->split.queries + s->reports[freed].queries;
    struct cleave__balance_decision decision = {
        .kind = CLEAVE__BALANCE_SPLIT_MERGE,
        .gain = gain_of(report->cost, greater(worse_half(report), one->cost + other->cost)),
        .overhead = s->options->beta * (double)moved,
        .step_count = 2};
    struct cleave__balance_step merge = {freed, keeper, s->reports[freed].cells};
    struct cleave__balance_step split = {x, freed, report->split.cells};
    if (s->idle_count) { /* relief first */
        split.to = s->idle;
        decision.steps[0] = split;
        decision.steps[1] = merge;
    } else {
        decision.steps[0] = merge;
        decision.steps[1] = split;
    }
    offer(s, decision);
}

/* Of the pairs but x that share a whole border the one that merges best; what cannot win is passed
 * over before geometry is asked. */
static void try_split_merge(struct search *s, uint32_t x)
{
    const struct cleave__balance_report *report = &s->reports[x];
    struct cleave__cells whole;
    if (!report->can_split || !may_win(s, report, 0))
        return;
    for (uint32_t y = 0; y < s->evaluators; y++) {
        const struct cleave__balance_report *one = &s->reports[y];
        if (y == x || cleave__cells_empty(one->cells) ||
            !may_win(s, report, one->cost + s->least_cost))
            continue;
        for (uint32_t z = y + 1; z < s->evaluators; z++) {
            const struct cleave__balance_report *other = &s->reports[z];
            if (one->cost + other->cost < report->cost && z != x &&
                !cleave__cells_empty(other->cells) && may_win(s, report, one->cost + other->cost) &&
                cleave__cells_join(one->cells, other->cells, &whole))
                offer_split_merge(s, x, y, z);
        }
    }
}

static void try_shifts(struct search *s, uint32_t x)
{
    const struct cleave__balance_report *report = &s->reports[x];
    enum cleave__side side;
    for (uint32_t y = 0; y < s->evaluators; y++) {
        const struct cleave__balance_report *other = &s->reports[y];
        if (y == x || other->cost >= report->cost ||
            !cleave__cells_border(report->cells, other->cells, &side) ||
            report->refused >> side & 1)
            continue;
        bool by_rows = side == CLEAVE__BELOW || side == CLEAVE__ABOVE;
        enum cleave__balance_kind kind =
            by_rows ? CLEAVE__BALANCE_HORIZONTAL : CLEAVE__BALANCE_VERTICAL;
        if (!allowed(s, kind))
            continue;
        uint64_t between = report->cost - other->cost, edge = report->edge[side];
        if (edge >= between)
            continue;
        double half = (double)between / 2;
        double moved = (double)edge > half ? (double)edge : half, gain = (double)between - moved;
        offer(s, (struct cleave__balance_decision){.kind = kind,
                                                   .gain = gain,
                                                   .overhead = s->options->beta *
                                                               (double)report->queries *
                                                               (moved / (double)report->cost),
                                                   .step_count = 1,
                                                   .steps = {{x, y, CLEAVE__NO_CELLS}},
                                                   .side = side,
                                                   .neighbour_cost = other->cost});
    }
}

static void try_corners(struct search *s, uint32_t x)
{
    const struct cleave__balance_report *report = &s->reports[x];
    struct cleave__cells strip;
    for (uint32_t i = 0; i < report->corner_count; i++) {
        uint32_t y = report->corners[i].neighbour;
        const struct cleave__balance_part *part = &report->corners[i].part;
        /* A report of before a change may name one that is no such neighbour now. */
        if (y >= s->evaluators || y == x ||
            !cleave__cells_corner(report->cells, s->reports[y].cells, &strip) ||
            !cleave__cells_equal(strip, part->cells))
            continue;
        uint64_t after = greater(report->cost - part->cost, s->reports[y].cost + part->cost);
        offer(s, (struct cleave__balance_decision){.kind = CLEAVE__BALANCE_CORNER,
                                                   .gain = gain_of(report->cost, after),
                                                   .overhead =
                                                       s->options->beta * (double)part->queries,
                                                   .step_count = 1,
                                                   .steps = {{x, y, part->cells}}});
    }
}

/* The costliest evaluator that comes after `last` in falling cost; of equals the lower number.
 * `evaluators`: none does. */
static uint32_t next_costliest(const struct search *s, uint32_t last)
{
    uint32_t best = s->evaluators;
    for (uint32_t e = 0; e < s->evaluators; e++) {
        uint64_t cost = s->reports[e].cost;
        if (last < s->evaluators &&
            (cost > s->reports[last].cost || (cost == s->reports[last].cost && e <= last)))
            continue;
        if (best == s->evaluators || cost > s->reports[best].cost)
            best = e;
    }
    return best;
}

struct cleave__balance_decision
cleave__balance_decide(const struct cleave__balance_report *reports, uint32_t evaluators,
                       const struct cleave__balance_options *options)
{
    struct search s = {
        .reports = reports, .evaluators = evaluators, .options = options, .least_cost = UINT64_MAX};
    assert(options->beta >= 0);
    for (uint32_t e = evaluators; e-- > 0;) {
        if (cleave__cells_empty(reports[e].cells)) {
            s.idle_count++;
            s.idle = e;
        } else if (reports[e].cost < s.least_cost) {
            s.least_cost = reports[e].cost;
        }
    }
    uint32_t x = evaluators;
    for (uint32_t tried = 0; tried < SOURCES_MOST && s.best.kind == CLEAVE__BALANCE_NONE; tried++) {
        x = next_costliest(&s, x);
        if (x == evaluators || reports[x].cost == 0)
            break;
        if (allowed(&s, CLEAVE__BALANCE_SPLIT))
            try_split(&s, x);
        if (allowed(&s, CLEAVE__BALANCE_SPLIT_MERGE))
            try_split_merge(&s, x);
        try_shifts(&s, x);
        if (allowed(&s, CLEAVE__BALANCE_CORNER))
            try_corners(&s, x);
    }
    return s.best;
}

const char *cleave__balance_kind_name(enum cleave__balance_kind kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        CLEAVE_BALANCE_LIST(X)
#undef X
    };
    assert(kind < CLEAVE__BALANCE_KINDS);
    return names[kind];
}

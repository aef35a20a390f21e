/* The interpreter of conditions: a search for one assignment that meets them all.
 *
 * What is known of a variable is a piece of its domain: bounds, or NULL. Variables made equal form
 * a class that shares one. A conjunction is worked off one condition after another, each narrowing
 * a class; an empty class is a contradiction. Alternatives (OR, a padded outer join) wait until
 * the rest is done, and are tried in turn; a trail undoes what a failed one did. This is a plain
 * tableau search, exponential at worst: past STEPS_MAX steps the answer is "maybe", that is, yes.
 *
 * Rows of the padded side of an outer join matter in two ways: when the joined row passes WHERE,
 * and when the padded row would (then the row's absence would show). The second is asked by
 * reading every condition outside that join with the whole side NULL. */
#include "tables/oracle/solve.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 20000, BRANCH_DEPTH_MAX = 400 };

/* Nullness of a class. PADDED by an outer join, or IS_NULL by the question or a condition. THERE:
 * compared with another column, which rules out padding, but is not taken to rule out the row's own
 * NULL. NOT_NULL rules out both. */
enum nullness { EITHER, PADDED, IS_NULL, THERE, NOT_NULL };

struct known { /* about a class, kept at its root */
    uint32_t parent;
    uint32_t round; /* of asking; older: nothing is known yet */
    enum nullness null;
    bool integer;
    /* Of the variable itself: it was compared, padded, asked to be NULL. */
    bool there, padded, nulled;
    struct cleave_range range;
};

struct change {
    uint32_t variable;
    struct known before;
};

struct goal {
    const struct oracle_node *node;
    const struct goal *next;
    uint32_t level; /* place in the chain of the block it belongs to */
    bool outside;   /* of the join whose padded side is read as NULL */
};

struct start {
    const struct oracle_node *node;
    uint32_t level;
    bool inside; /* the padded side that is read as NULL elsewhere */
};

struct oracle_solver {
    const struct oracle_program *program;
    uint32_t target_side;             /* of the target's row */
    uint32_t padded;                  /* side that conditions outside see as NULL, or ORACLE_NONE */
    uint32_t outer_side;              /* outermost padded side around the target, or ORACLE_NONE */
    CLEAVE_VECTOR(uint32_t) relevant; /* by pool: target_round of the last target it bears on */
    uint32_t target_round;
    uint32_t reference;            /* the target's */
    CLEAVE_VECTOR(uint32_t) chain; /* blocks from the target's outwards */
    CLEAVE_VECTOR(struct start) starts;
    CLEAVE_VECTOR(struct known) known;
    CLEAVE_VECTOR(struct change) trail;
    struct cleave_arena goals;
    bool nulled; /* some variable may be */
    uint32_t steps, depth, round;
    enum cleave_status status;
};

struct oracle_solver *cleave__oracle_solver_new(void)
{
    return calloc(1, sizeof(struct oracle_solver));
}

void cleave__oracle_solver_free(struct oracle_solver *s)
{
    if (!s)
        return;
    CLEAVE_VECTOR_FREE(&s->relevant);
    CLEAVE_VECTOR_FREE(&s->chain);
    CLEAVE_VECTOR_FREE(&s->starts);
    CLEAVE_VECTOR_FREE(&s->known);
    CLEAVE_VECTOR_FREE(&s->trail);
    cleave__arena_free(&s->goals);
    free(s);
}

static bool in_chain(const struct oracle_solver *s, uint32_t block)
{
    for (size_t i = 0; i < s->chain.count; i++) {
        if (s->chain.data[i] == block)
            return true;
    }
    return false;
}

enum cleave_status cleave__oracle_solver_start(struct oracle_solver *s,
                                               const struct oracle_program *program,
                                               const struct oracle_target *target)
{
    s->program = program;
    s->status = CLEAVE_OK;
    if (!CLEAVE_RESERVE(&s->relevant, program->variables.count))
        return CLEAVE_NO_MEMORY;
    while (s->relevant.count < program->variables.count)
        s->relevant.data[s->relevant.count++] = 0;
    if (++s->target_round == 0) {
        memset(s->relevant.data, 0, s->relevant.count * sizeof *s->relevant.data);
        s->target_round = 1;
    }
    for (uint32_t r = target->reference; r != ORACLE_NONE; r = program->references.data[r].old) {
        for (const struct oracle_slot *slot = program->references.data[r].slots; slot;
             slot = slot->next)
            s->relevant.data[cleave__oracle_pool(program, slot->variable)] = s->target_round;
    }
    s->reference = target->reference;
    s->chain.count = s->starts.count = 0;
    s->padded = s->outer_side = ORACLE_NONE;
    s->target_side = program->references.data[target->reference].side;
    for (uint32_t b = target->block; b != ORACLE_NONE; b = program->blocks.data[b].parent) {
        if (!CLEAVE_PUSH(&s->chain, b))
            return CLEAVE_NO_MEMORY;
        if (program->blocks.data[b].flow == ORACLE_FLOW_NONE)
            break;
    }
    /* The outermost padded side that conditions in view lie outside of. */
    uint32_t join_block = ORACLE_NONE;
    for (uint32_t side = s->target_side; side != ORACLE_NONE;
         side = program->sides.data[side].parent) {
        if (in_chain(s, program->sides.data[side].block)) {
            s->outer_side = side;
            join_block = program->sides.data[side].block;
        }
    }
    bool inside = join_block != ORACLE_NONE;
    for (size_t i = 0; i < s->chain.count; i++) {
        uint32_t b = s->chain.data[i];
        if (b == join_block)
            inside = false;
        const struct oracle_node *where = program->blocks.data[b].where;
        if (where && !CLEAVE_PUSH(&s->starts, (struct start){where, (uint32_t)i, inside}))
            return CLEAVE_NO_MEMORY;
    }
    return CLEAVE_OK;
}

/* --- what is known of a class --- */

static struct known *root_of(struct oracle_solver *s, uint32_t variable, uint32_t *root)
{
    struct known *k = &s->known.data[variable];
    if (k->round != s->round)
        *k = (struct known){
            .parent = variable,
            .round = s->round,
            .integer = cleave__oracle_sort_is_integer(s->program->variables.data[variable].sort),
            .range = {.flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED}};
    while (s->known.data[variable].parent != variable)
        variable = s->known.data[variable].parent;
    *root = variable;
    return &s->known.data[variable];
}

static bool save(struct oracle_solver *s, uint32_t variable)
{
    if (CLEAVE_PUSH(&s->trail, (struct change){variable, s->known.data[variable]}))
        return true;
    s->status = CLEAVE_NO_MEMORY;
    return false;
}

static void undo(struct oracle_solver *s, size_t mark)
{
    while (s->trail.count > mark) {
        const struct change *change = &s->trail.data[--s->trail.count];
        s->known.data[change->variable] = change->before;
    }
}

static bool combine(enum nullness a, enum nullness b, enum nullness *out)
{
    if (a > b) {
        enum nullness swap = a;
        a = b;
        b = swap;
    }
    *out = b;
    if (a == EITHER || a == b || a == THERE)
        return true;
    *out = a;
    return (a == PADDED && b == IS_NULL) || (a == IS_NULL && b == THERE);
}

static bool assert_nullness(struct oracle_solver *s, uint32_t variable, enum nullness wanted)
{
    uint32_t root;
    enum nullness after;
    struct known *k = root_of(s, variable, &root);
    if (!combine(k->null, wanted, &after) || (after != k->null && !save(s, root)))
        return false;
    k->null = after;
    return true;
}

static bool assert_there(struct oracle_solver *s, uint32_t variable)
{
    uint32_t root;
    if (!assert_nullness(s, variable, THERE) || s->known.data[variable].padded)
        return false;
    (void)root_of(s, variable, &root);
    if (s->known.data[variable].there)
        return true;
    if (!save(s, variable))
        return false;
    s->known.data[variable].there = true;
    return true;
}

static bool assert_padded(struct oracle_solver *s, uint32_t variable)
{
    if (!assert_nullness(s, variable, PADDED) || s->known.data[variable].there ||
        !save(s, variable))
        return false;
    s->known.data[variable].padded = true;
    return true;
}

static bool is_padding(struct oracle_solver *s, uint32_t variable)
{
    uint32_t root;
    return root_of(s, variable, &root)->null == PADDED;
}

static bool assert_range(struct oracle_solver *s, uint32_t variable,
                         const struct cleave_range *range)
{
    uint32_t root;
    struct known *k = root_of(s, variable, &root);
    enum nullness after;
    if (!combine(k->null, NOT_NULL, &after) || !save(s, root))
        return false;
    k->null = after;
    return cleave__oracle_narrow(&k->range, range, k->integer);
}

/* One value for both (or NULL for both). */
static bool assert_same(struct oracle_solver *s, uint32_t a, uint32_t b)
{
    uint32_t ra, rb;
    struct known *ka = root_of(s, a, &ra), *kb = root_of(s, b, &rb);
    if (ra == rb)
        return true;
    enum nullness after;
    if (!combine(ka->null, kb->null, &after) || !save(s, ra) || !save(s, rb))
        return false;
    ka->null = after;
    ka->integer = ka->integer || kb->integer;
    kb->parent = ra;
    return cleave__oracle_narrow(&ka->range, &kb->range, ka->integer);
}

/* --- the search --- */

static bool search(struct oracle_solver *s, const struct goal *todo, const struct goal *waiting);

static const struct goal *push(struct oracle_solver *s, const struct oracle_node *node,
                               uint32_t level, bool outside, const struct goal *next)
{
    struct goal *goal = cleave__arena_alloc(&s->goals, sizeof *goal);
    if (!goal) {
        s->status = CLEAVE_NO_MEMORY;
        return next;
    }
    *goal = (struct goal){node, next, level, outside};
    return goal;
}

static bool is_padded(const struct oracle_solver *s, const struct goal *goal, uint32_t variable)
{
    return goal->outside && s->padded != ORACLE_NONE &&
           cleave__oracle_side_within(s->program, s->program->variables.data[variable].side,
                                      s->padded);
}

/* Is the variable beyond a border that this condition does not reach across? */
static bool is_masked(const struct oracle_solver *s, const struct goal *goal, uint32_t variable)
{
    const struct oracle_program *p = s->program;
    for (uint32_t b = p->variables.data[variable].block; b != ORACLE_NONE;
         b = p->blocks.data[b].parent) {
        if (p->blocks.data[b].flow != ORACLE_FLOW_MASKED)
            continue;
        for (uint32_t i = 0; i < goal->level; i++) {
            if (s->chain.data[i] == b)
                return true;
        }
    }
    return false;
}

/* Can the variable's value bear on the target's row? Only if some equality ties it to one of its
 * columns; of the others only whether they are NULL is followed. */
static bool is_relevant(const struct oracle_solver *s, uint32_t variable)
{
    return s->relevant.data[cleave__oracle_pool(s->program, variable)] == s->target_round;
}

/* One of the target's own columns (or, of a row that UPDATE makes, of the row before). */
static bool is_own(const struct oracle_solver *s, uint32_t variable)
{
    for (uint32_t r = s->reference; r != ORACLE_NONE; r = s->program->references.data[r].old) {
        for (const struct oracle_slot *slot = s->program->references.data[r].slots; slot;
             slot = slot->next) {
            if (slot->variable == variable)
                return true;
        }
    }
    return false;
}

/* Is an own column that must be NULL equal to another one? */
static bool nulls_clash(struct oracle_solver *s)
{
    const struct oracle_reference *references = s->program->references.data;
    uint32_t root, other;
    for (uint32_t r = s->reference; s->nulled && r != ORACLE_NONE; r = references[r].old) {
        for (const struct oracle_slot *a = references[r].slots; a; a = a->next) {
            (void)root_of(s, a->variable, &root);
            if (!s->known.data[a->variable].nulled)
                continue;
            for (uint32_t q = s->reference; q != ORACLE_NONE; q = references[q].old) {
                for (const struct oracle_slot *b = references[q].slots; b; b = b->next) {
                    (void)root_of(s, b->variable, &other);
                    if (b->variable != a->variable && other == root)
                        return true;
                }
            }
        }
    }
    return false;
}

/* IS NULL of an own column. */
static bool assert_null(struct oracle_solver *s, uint32_t variable)
{
    if (!assert_nullness(s, variable, IS_NULL) || !save(s, variable))
        return false;
    s->known.data[variable].nulled = true;
    s->nulled = true;
    return !nulls_clash(s);
}

static bool target_within(const struct oracle_solver *s, uint32_t side)
{
    return cleave__oracle_side_within(s->program, s->target_side, side);
}

static bool serves_outer(const struct oracle_solver *s, const struct oracle_node *node)
{
    if (target_within(s, node->side[0]))
        return true;
    for (size_t i = 0; i < s->chain.count; i++) {
        if (s->chain.data[i] >= node->inside[0] && s->chain.data[i] < node->inside[1])
            return true;
    }
    return false;
}

/* Every variable of a padded side is NULL. */
static bool assert_side_null(struct oracle_solver *s, uint32_t side)
{
    for (size_t v = 0; v < s->program->variables.count; v++) {
        if (cleave__oracle_side_within(s->program, s->program->variables.data[v].side, side) &&
            !assert_padded(s, (uint32_t)v))
            return false;
        s->steps++;
    }
    return true;
}

/* Does the class allow one of the set's values, and is it settled already? */
static bool set_possible(struct oracle_solver *s, const struct oracle_node *node, uint32_t *first,
                         uint32_t *last)
{
    uint32_t root;
    const struct known *k = root_of(s, node->variable, &root);
    uint32_t low = 0, high = node->count;
    *first = 0;
    *last = node->count;
    if (k->null == IS_NULL || k->null == PADDED)
        return false;
    if (!(k->range.flags & CLEAVE_LOW_UNBOUNDED)) {
        bool open = k->range.flags & CLEAVE_LOW_OPEN;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            int order = cleave__value_compare(&node->values[middle], &k->range.low);
            if (order < 0 || (order == 0 && open))
                low = middle + 1;
            else
                high = middle;
        }
        *first = low;
    }
    if (!(k->range.flags & CLEAVE_HIGH_UNBOUNDED)) {
        bool open = k->range.flags & CLEAVE_HIGH_OPEN;
        low = *first;
        high = node->count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            int order = cleave__value_compare(&node->values[middle], &k->range.high);
            if (order > 0 || (order == 0 && open))
                high = middle;
            else
                low = middle + 1;
        }
        *last = low;
    }
    return *first < *last;
}

/* Tries one branch: `node` (or a side's NULLs) with all that is left to do. */
static bool attempt(struct oracle_solver *s, const struct goal *from,
                    const struct oracle_node *const *nodes, uint32_t count, uint32_t null_side,
                    bool inside, const struct goal *waiting)
{
    size_t mark = s->trail.count;
    struct cleave_arena_mark memory = cleave__arena_mark(&s->goals);
    const struct goal *todo = NULL;
    bool found = null_side == ORACLE_NONE || assert_side_null(s, null_side);
    if (found) {
        for (uint32_t i = 0; i < count; i++)
            todo = push(s, nodes[i], from->level, from->outside && !inside, todo);
        found = search(s, todo, waiting);
    }
    if (!found)
        undo(s, mark);
    cleave__arena_rewind(&s->goals, memory);
    return found;
}

static bool branch(struct oracle_solver *s, const struct goal *goal, const struct goal *rest)
{
    const struct oracle_node *node = goal->node;
    if (node->op == ORACLE_OR) {
        for (uint32_t i = 0; i < node->count; i++) {
            const struct oracle_node *child = node->children[i];
            if (attempt(s, goal, &child, 1, ORACLE_NONE, false, rest))
                return true;
        }
        return false;
    }
    if (node->op == ORACLE_SET) {
        uint32_t first, last;
        if (!set_possible(s, node, &first, &last))
            return false;
        for (uint32_t i = first; i < last; i++) {
            struct oracle_node one = {.op = ORACLE_RANGE,
                                      .variable = node->variable,
                                      .range = {node->values[i], node->values[i], 0}};
            const struct oracle_node *only = &one;
            if (attempt(s, goal, &only, 1, ORACLE_NONE, false, rest))
                return true;
        }
        return false;
    }
    const struct oracle_node *const *c = (const struct oracle_node *const *)node->children;
    if (node->op == ORACLE_OUTER)
        return attempt(s, goal, c, 1, ORACLE_NONE, false, rest) ||
               attempt(s, goal, NULL, 0, node->side[0], false, rest);
    /* FULL */
    if (!target_within(s, node->side[0]) && !target_within(s, node->side[1])) {
        return attempt(s, goal, c, 3, ORACLE_NONE, false, rest) ||
               attempt(s, goal, c + 1, 1, node->side[1], false, rest) ||
               attempt(s, goal, c + 2, 1, node->side[0], false, rest);
    }
    bool left = target_within(s, node->side[0]);
    bool inside = node->side[left ? 0 : 1] == s->padded;
    return attempt(s, goal, c, 3, ORACLE_NONE, inside, rest) ||
           attempt(s, goal, c + (left ? 1 : 2), 1, node->side[left ? 1 : 0], inside, rest);
}

/* Does this condition have to wait, as an alternative? */
static bool is_alternative(const struct oracle_node *node)
{
    return node->op == ORACLE_OR || node->op == ORACLE_FULL || node->op == ORACLE_OUTER ||
           node->op == ORACLE_SET;
}

/* One condition other than AND and alternatives. */
static bool apply(struct oracle_solver *s, const struct goal *goal)
{
    const struct oracle_node *node = goal->node;
    uint32_t v = node->variable, w = node->other;
    if (node->op == ORACLE_FALSE)
        return false;
    if (node->op == ORACLE_TRUE || node->op == ORACLE_NOTHING || v == ORACLE_NONE)
        return true;
    bool masked = is_masked(s, goal, v), other_masked = w != ORACLE_NONE && is_masked(s, goal, w);
    bool padded = is_padded(s, goal, v), other_padded = w != ORACLE_NONE && is_padded(s, goal, w);
    switch (node->op) {
    case ORACLE_RANGE:
        if (masked || padded)
            return masked || node->lax;
        if (node->lax && is_padding(s, v))
            return true;
        return is_relevant(s, v) ? assert_range(s, v, &node->range)
                                 : assert_nullness(s, v, NOT_NULL);
    case ORACLE_NULL:
        if (masked || padded || !is_relevant(s, v))
            return true;
        /* What equals a column of the row is not NULL, unless it is only the same. */
        if (s->program->loose)
            return assert_nullness(s, v, IS_NULL);
        if (!is_own(s, v))
            return assert_padded(s, v); /* it equals nothing */
        return assert_null(s, v);
    case ORACLE_NOT_NULL:
        return masked || (!padded && assert_nullness(s, v, NOT_NULL));
    case ORACLE_STRICT:
    case ORACLE_EQUAL:
        if ((padded && !masked) || (other_padded && !other_masked) ||
            !(masked || assert_there(s, v)) ||
            !(w == ORACLE_NONE || other_masked || assert_there(s, w)))
            return false;
        return node->op == ORACLE_STRICT || masked || other_masked ||
               (assert_same(s, v, w) && !nulls_clash(s));
    case ORACLE_SAME:
        if (masked || other_masked)
            return true;
        if (padded || other_padded)
            return (padded || assert_nullness(s, v, PADDED)) &&
                   (other_padded || assert_nullness(s, w, PADDED));
        return assert_same(s, v, w);
    default:
        return true;
    }
}

/* Meets all of `todo`, then one way through each of `waiting`. */
static bool search(struct oracle_solver *s, const struct goal *todo, const struct goal *waiting)
{
    if (s->depth >= BRANCH_DEPTH_MAX)
        return true;
    s->depth++;
    bool result = true;
    while (todo && result) {
        const struct goal *goal = todo;
        const struct oracle_node *node = goal->node;
        todo = todo->next;
        if (++s->steps > STEPS_MAX || s->status != CLEAVE_OK)
            goto out; /* maybe: yes */
        if (node->op == ORACLE_AND) {
            for (uint32_t i = node->count; i-- > 0;)
                todo = push(s, node->children[i], goal->level, goal->outside, todo);
        } else if (node->op == ORACLE_OUTER && serves_outer(s, node)) {
            /* The target is on the padded side, or in ON: its rows matter only where ON holds. */
            todo = push(s, node->children[0], goal->level,
                        goal->outside && node->side[0] != s->padded, todo);
        } else if (node->op == ORACLE_BLOCK) {
            const struct oracle_node *where = s->program->blocks.data[node->block].where;
            if (where && !in_chain(s, node->block)) /* those in the chain are there already */
                todo = push(s, where, goal->level, goal->outside, todo);
        } else if (node->op == ORACLE_SET) {
            uint32_t first, last;
            if (is_masked(s, goal, node->variable))
                continue;
            if (!is_relevant(s, node->variable)) {
                result = !is_padded(s, goal, node->variable) &&
                         assert_nullness(s, node->variable, NOT_NULL);
                continue;
            }
            if (is_padded(s, goal, node->variable) || !set_possible(s, node, &first, &last)) {
                result = false;
            } else if (last - first == 1) {
                struct cleave_range point = {node->values[first], node->values[first], 0};
                result = assert_range(s, node->variable, &point);
            } else {
                waiting = push(s, node, goal->level, goal->outside, waiting);
            }
        } else if (is_alternative(node)) {
            waiting = push(s, node, goal->level, goal->outside, waiting);
        } else {
            result = apply(s, goal);
        }
    }
    if (result && waiting)
        result = branch(s, waiting, waiting->next);
out:
    s->depth--;
    return result;
}

static bool assert_cell(struct oracle_solver *s, uint32_t variable, const struct oracle_cell *cell)
{
    return cell->is_null ? assert_nullness(s, variable, IS_NULL)
                         : assert_range(s, variable, &cell->range);
}

static bool ask_once(struct oracle_solver *s, const uint32_t *variables,
                     const struct oracle_cell *const *cells, uint32_t count)
{
    const struct goal *todo = NULL;
    size_t variable_count = s->program->variables.count;
    struct cleave_arena_mark memory = cleave__arena_mark(&s->goals);
    s->trail.count = 0;
    s->steps = s->depth = 0;
    s->nulled = false;
    if (!CLEAVE_RESERVE(&s->known, variable_count)) {
        s->status = CLEAVE_NO_MEMORY;
        return true;
    }
    for (; s->known.count < variable_count; s->known.count++)
        s->known.data[s->known.count].round = 0;
    if (++s->round == 0) {
        for (size_t v = 0; v < s->known.count; v++)
            s->known.data[v].round = 0;
        s->round = 1;
    }
    bool result = true;
    for (uint32_t i = 0; i < count && result; i++)
        result = assert_cell(s, variables[i], cells[i]);
    if (result) {
        for (size_t i = 0; i < s->starts.count; i++)
            todo = push(s, s->starts.data[i].node, s->starts.data[i].level,
                        !s->starts.data[i].inside, todo);
        result = search(s, todo, NULL);
    }
    cleave__arena_rewind(&s->goals, memory);
    return result || s->status != CLEAVE_OK;
}

bool cleave__oracle_solver_ask(struct oracle_solver *s, const uint32_t *variables,
                               const struct oracle_cell *const *cells, uint32_t count,
                               enum cleave_status *status)
{
    s->padded = ORACLE_NONE;
    bool result = ask_once(s, variables, cells, count);
    if (!result && s->outer_side != ORACLE_NONE) {
        s->padded = s->outer_side;
        result = ask_once(s, variables, cells, count);
        s->padded = ORACLE_NONE;
    }
    if (s->status != CLEAVE_OK)
        *status = s->status;
    return result;
}

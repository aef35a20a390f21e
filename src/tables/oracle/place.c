/* Reading a layout literally: which shards do the rows of a target live on?
 *
 * The columns that the layout names for the table are cut into cells by the statement's constants;
 * each combination of cells that the conditions allow is one kind of row. Then, as layout.h says:
 *   - a cell that lies wholly in one exception lives there; one that meets exceptions partly lives
 *     there or where the key map says;
 *   - the key map sends a point by its explicit entry, else by its default; an interval of up to
 *     4096 integers is sent value by value, a wider one wherever the default may send anything;
 *   - before exceptions are looked at, integer intervals are taken apart value by value: up to 4096
 *     values of the key, 64 of other columns, 4096 combinations;
 *   - with a second key, a read takes the smaller of the two sets of shards, a write both;
 *   - a derived column tells the key only where the statement leaves the key open, that is, not a
 *     list of values, and not for new rows.
 * These limits are the lookup table's, so that both count alike. */
#include "tables/oracle/place.h"

#include <stdio.h>
#include <string.h>

#include "tables/oracle/map.h"

enum { OTHER_VALUES_MAX = 64, COMBINATIONS_MAX = 4096, COLUMNS_MAX = 64, ASKED_MAX = 100000 };

struct dimension {
    uint32_t column, variable; /* variable ORACLE_NONE: the statement does not name it */
    const struct cleave_derived_key *derived;
    struct oracle_cell *cells; /* that the conditions allow, other columns left open */
    uint32_t cell_count;
    struct oracle_cell now; /* the cell being looked at */
    bool asked;             /* `now` takes part in questions */
};

struct place {
    struct oracle_solver *solver;
    struct oracle_program *program;
    const struct oracle_target *target;
    const struct cleave_table *table;
    const struct cleave_table_layout *layout;
    const struct cleave_key_map *map;
    uint32_t shards, enough;
    struct cleave_shardset *out;
    /* Derived columns, the key (at `key`), then the exceptions' columns. */
    struct dimension dimensions[COLUMNS_MAX];
    uint32_t count, key;
    const struct cleave_exception **relevant;
    uint32_t relevant_count;
    uint64_t combinations;
    enum cleave_status status;
};

static bool done(const struct place *p)
{
    return p->status != CLEAVE_OK || cleave__shardset_count(p->out) >= p->enough;
}

static bool is_listed(const struct oracle_cell *cell)
{
    return cell->is_null || cleave__oracle_cell_point(cell) ||
           cleave__oracle_cell_integers(cell, ORACLE_KEY_VALUES_MAX) > 0;
}

/* --- exceptions --- */

static struct dimension *dimension_of(struct place *p, uint32_t column)
{
    for (uint32_t i = p->key; i < p->count; i++) {
        if (p->dimensions[i].column == column)
            return &p->dimensions[i];
    }
    return NULL;
}

/* Every dimension has a cell: add the shards of its rows. */
static void resolve(struct place *p)
{
    for (uint32_t e = 0; e < p->relevant_count; e++) {
        const struct cleave_exception *exception = p->relevant[e];
        int inside = 1;
        for (uint32_t r = 0; r < exception->range_count && inside >= 0; r++) {
            const struct dimension *d = dimension_of(p, exception->column[r]);
            int part = d ? cleave__oracle_cell_in(&d->now, &exception->range[r]) : 0;
            inside = part < inside ? part : inside;
        }
        if (inside >= 0)
            cleave__shardset_add(p->out, exception->shard);
        if (inside > 0)
            return;
    }
    cleave__oracle_map(p->map, p->shards, &p->dimensions[p->key].now, p->enough, p->out);
}

/* Takes integer intervals apart, dimension by dimension, then resolves. */
static void take_apart(struct place *p, uint32_t at)
{
    if (done(p))
        return;
    if (at == p->count) {
        resolve(p);
        return;
    }
    struct dimension *d = &p->dimensions[at];
    struct oracle_cell whole = d->now;
    uint64_t count = cleave__oracle_cell_integers(&whole, at == p->key ? ORACLE_KEY_VALUES_MAX
                                                                       : OTHER_VALUES_MAX);
    if (count < 2 || p->relevant_count == 0 || p->combinations * count > COMBINATIONS_MAX) {
        take_apart(p, at + 1);
        return;
    }
    p->combinations *= count;
    for (uint64_t i = 0; i < count && !done(p); i++) {
        d->now.range.low.integer = (int64_t)((uint64_t)whole.range.low.integer + i);
        d->now.range.high = d->now.range.low;
        take_apart(p, at + 1);
    }
    d->now = whole;
    p->combinations /= count;
}

/* --- combinations of cells --- */

/* Columns of one row that the statement equates are asked about one by one: conditions narrow each,
 * but are not taken to tie them together. */
static bool ask(struct place *p)
{
    uint32_t variables[COLUMNS_MAX];
    const struct oracle_cell *cells[COLUMNS_MAX];
    for (uint32_t first = 0; first < p->count; first++) {
        const struct dimension *f = &p->dimensions[first];
        uint32_t count = 0;
        bool clash = false;
        if (!f->asked || f->variable == ORACLE_NONE)
            continue;
        variables[count] = f->variable;
        cells[count++] = &f->now;
        for (uint32_t i = 0; i < p->count; i++) {
            const struct dimension *d = &p->dimensions[i];
            bool tied = false;
            if (i == first || !d->asked || d->variable == ORACLE_NONE)
                continue;
            for (uint32_t k = 0; k < count && !tied; k++)
                tied = cleave__oracle_pool(p->program, variables[k]) ==
                       cleave__oracle_pool(p->program, d->variable);
            clash |= tied;
            if (!tied) {
                variables[count] = d->variable;
                cells[count++] = &d->now;
            }
        }
        if (!cleave__oracle_solver_ask(p->solver, variables, cells, count, &p->status))
            return false;
        if (!clash) /* all at once */
            return true;
    }
    return true;
}

/* The number in a derived column's text. */
static bool derive(const struct cleave_derived_key *derived, const struct oracle_cell *cell,
                   struct cleave_value *key)
{
    char text[32];
    const char *start;
    size_t length, prefix = strlen(derived->prefix), suffix = strlen(derived->suffix);
    if (!cleave__oracle_cell_point(cell))
        return false;
    const struct cleave_value *value = &cell->range.low;
    if (value->kind == CLEAVE_INTEGER) {
        length = (size_t)snprintf(text, sizeof text, "%lld", (long long)value->integer);
        start = text;
    } else {
        start = value->text;
        length = value->length;
    }
    if (length <= prefix + suffix || strncmp(start, derived->prefix, prefix) != 0 ||
        memcmp(start + length - suffix, derived->suffix, suffix) != 0)
        return false;
    start += prefix;
    length -= prefix + suffix;
    int64_t sign = 1, number = 0;
    if (*start == '-') {
        sign = -1;
        start++;
        length--;
    }
    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (start[i] < '0' || start[i] > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, start[i] - '0', &number))
            return false;
    }
    *key = (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = sign * number};
    return true;
}

/* What the conditions allow, dimension by dimension: the cells of one, and for each what they allow
 * of the next. Neighbouring cells that allow the same are one piece, as a range is one piece. */
struct allowed {
    uint32_t count;
    struct oracle_cell *cells;
    struct allowed **next; /* NULL after the last dimension */
};

static bool same_allowed(const struct allowed *a, const struct allowed *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (!cleave__oracle_cell_same(&a->cells[i], &b->cells[i]) ||
            !same_allowed(a->next[i], b->next[i]))
            return false;
    }
    return true;
}

static void allow(struct allowed *list, const struct oracle_cell *cell, struct allowed *next)
{
    if (list->count) {
        struct oracle_cell *last = &list->cells[list->count - 1];
        if ((last->between || cell->between) && cleave__oracle_cell_adjacent(last, cell) &&
            same_allowed(list->next[list->count - 1], next)) {
            last->between = true;
            last->range.high = cell->range.high;
            last->range.flags =
                (uint8_t)((last->range.flags & (CLEAVE_LOW_OPEN | CLEAVE_LOW_UNBOUNDED)) |
                          (cell->range.flags & (CLEAVE_HIGH_OPEN | CLEAVE_HIGH_UNBOUNDED)));
            return;
        }
    }
    list->cells[list->count] = *cell;
    list->next[list->count++] = next;
}

/* The number that some derived column's cell tells. */
static bool told(const struct place *p, struct oracle_cell *key)
{
    struct cleave_value number;
    for (uint32_t i = 0; i < p->key; i++) {
        if (derive(p->dimensions[i].derived, &p->dimensions[i].now, &number)) {
            *key = (struct oracle_cell){.range = {.low = number, .high = number}};
            return true;
        }
    }
    return false;
}

static struct allowed *find_allowed(struct place *p, uint32_t at)
{
    if (at == p->count || p->status != CLEAVE_OK)
        return NULL;
    struct dimension *d = &p->dimensions[at];
    struct allowed *list = cleave__arena_zalloc(p->program->arena, sizeof *list);
    if (list) {
        list->cells =
            cleave__arena_array(p->program->arena, d->cell_count + 1, sizeof *list->cells);
        list->next = cleave__arena_array(p->program->arena, d->cell_count + 1, sizeof *list->next);
    }
    if (!list || !list->cells || !list->next) {
        p->status = CLEAVE_NO_MEMORY;
        return NULL;
    }
    struct oracle_cell number;
    if (at == p->key && told(p, &number)) {
        bool open = false; /* is the key left open, that is, not a list of values? */
        d->asked = true;
        for (uint32_t c = 0; c < d->cell_count && !open; c++) {
            d->now = d->cells[c];
            open = !is_listed(&d->now) && ask(p);
        }
        d->asked = false;
        if (open) {
            d->now = number;
            allow(list, &number, find_allowed(p, at + 1));
            return list;
        }
    }
    d->asked = true;
    for (uint32_t c = 0; c < d->cell_count && p->status == CLEAVE_OK; c++) {
        d->now = d->cells[c];
        if (p->count > 1 && !ask(p)) /* alone it was asked before */
            continue;
        struct allowed *next = find_allowed(p, at + 1);
        if (at + 1 == p->count || (next && next->count))
            allow(list, &d->now, next);
    }
    d->asked = false;
    return list;
}

static void walk(struct place *p, const struct allowed *list, uint32_t at)
{
    if (at == p->count) {
        p->combinations = 1;
        take_apart(p, p->key);
        return;
    }
    for (uint32_t i = 0; list && i < list->count && !done(p); i++) {
        p->dimensions[at].now = list->cells[i];
        walk(p, list->next[i], at + 1);
    }
}

/* Too many combinations to ask about: columns other than the key are taken as open. */
static void limit_combinations(struct place *p)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < p->count; i++)
        product = product > ASKED_MAX ? product : product * (p->dimensions[i].cell_count + 1);
    if (product <= ASKED_MAX)
        return;
    for (uint32_t i = 0; i < p->count; i++) {
        struct dimension *d = &p->dimensions[i];
        if (i == p->key || d->cell_count == 0)
            continue;
        d->variable = ORACLE_NONE;
        d->cells[0] =
            (struct oracle_cell){.range = {.flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED}};
        d->cell_count = 1;
    }
}

/* --- setting up --- */

static bool is_nullable(const struct cleave_table *table, uint32_t column)
{
    for (uint32_t i = 0; i < table->primary.count; i++) {
        if (table->primary.columns[i] == column)
            return false;
    }
    return !table->columns[column].not_null;
}

static void add_dimension(struct place *p, uint32_t column,
                          const struct cleave_derived_key *derived)
{
    if (p->count == COLUMNS_MAX || column >= p->table->column_count)
        return;
    struct dimension *d = &p->dimensions[p->count];
    *d = (struct dimension){.column = column, .derived = derived};
    d->variable = cleave__oracle_column_find(p->program, p->target->reference, column);
    if (derived && d->variable == ORACLE_NONE)
        return;
    size_t count = 0;
    const struct oracle_constant *constants = NULL;
    if (d->variable != ORACLE_NONE)
        constants = cleave__oracle_constants(p->program, d->variable, &count);
    struct cleave_value *values = cleave__arena_array(p->program->arena, count, sizeof *values);
    if (!values || count > UINT32_MAX / 4) {
        p->status = CLEAVE_NO_MEMORY;
        return;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = constants[i].value;
    enum cleave_type type = p->table->columns[column].type;
    bool integer = cleave__oracle_sort_is_integer(
        cleave__oracle_sort(type, p->table->columns[column].type_name));
    bool nullable =
        is_nullable(p->table, column) ||
        (d->variable != ORACLE_NONE && p->program->variables.data[d->variable].null_named);
    p->status = cleave__oracle_cells(values, (uint32_t)count, integer, nullable, p->program->arena,
                                     &d->cells, &d->cell_count);
    if (p->status != CLEAVE_OK)
        return;
    /* Keep what the conditions allow while other columns are left open. */
    uint32_t kept = 0;
    const uint32_t one[1] = {d->variable};
    for (uint32_t c = 0; c < d->cell_count && p->status == CLEAVE_OK; c++) {
        const struct oracle_cell *cell[1] = {&d->cells[c]};
        if (d->variable == ORACLE_NONE ||
            cleave__oracle_solver_ask(p->solver, one, cell, 1, &p->status))
            d->cells[kept++] = d->cells[c];
    }
    d->cell_count = kept;
    p->count++;
}

static bool meets(struct place *p, const struct cleave_exception *exception)
{
    for (uint32_t r = 0; r < exception->range_count; r++) {
        const struct dimension *d = dimension_of(p, exception->column[r]);
        bool met = !d;
        for (uint32_t c = 0; d && c < d->cell_count && !met; c++)
            met = cleave__oracle_cell_in(&d->cells[c], &exception->range[r]) >= 0;
        if (!met)
            return false;
    }
    return true;
}

static void find_exceptions(struct place *p)
{
    const struct cleave_table_layout *layout = p->layout;
    for (uint32_t e = 0; e < layout->exception_count && p->status == CLEAVE_OK; e++) {
        for (uint32_t r = 0; r < layout->exceptions[e].range_count; r++) {
            if (!dimension_of(p, layout->exceptions[e].column[r]))
                add_dimension(p, layout->exceptions[e].column[r], NULL);
        }
    }
    p->relevant = cleave__arena_array(p->program->arena, layout->exception_count,
                                      sizeof(const struct cleave_exception *));
    if (!p->relevant) {
        p->status = CLEAVE_NO_MEMORY;
        return;
    }
    for (uint32_t e = 0; e < layout->exception_count; e++) {
        if (meets(p, &layout->exceptions[e]))
            p->relevant[p->relevant_count++] = &layout->exceptions[e];
    }
    if (p->relevant_count == 0)
        p->count = p->key + 1;
}

/* The shards of the target's rows by one of the table's keys. */
static enum cleave_status place_by(struct oracle_solver *solver, struct oracle_program *program,
                                   const struct oracle_target *target,
                                   const struct cleave_layout *layout, bool second, uint32_t enough,
                                   struct cleave_shardset *shards)
{
    uint32_t table = program->references.data[target->reference].table;
    struct place p = {.solver = solver,
                      .program = program,
                      .target = target,
                      .table = &layout->schema->tables[table],
                      .layout = &layout->tables[table],
                      .shards = layout->shards,
                      .enough = enough,
                      .out = shards,
                      .status = CLEAVE_OK};
    uint32_t column = second ? p.layout->second_column : p.layout->key_column;
    p.map = &layout->maps[second ? p.layout->second_map : p.layout->map];
    enum cleave_type type = p.table->columns[column].type;
    bool tells =
        !target->fresh && !second && (type == CLEAVE_TYPE_INTEGER || type == CLEAVE_TYPE_NUMBER);
    for (uint32_t i = 0; i < p.layout->derived_count && tells; i++)
        add_dimension(&p, p.layout->derived[i].column, &p.layout->derived[i]);
    p.key = p.count;
    add_dimension(&p, column, NULL);
    if (p.status == CLEAVE_OK && p.layout->exception_count && !second)
        find_exceptions(&p);
    if (p.status != CLEAVE_OK)
        return p.status;
    limit_combinations(&p);
    walk(&p, find_allowed(&p, 0), 0);
    return p.status;
}

enum cleave_status cleave__oracle_place(struct oracle_solver *solver,
                                        struct oracle_program *program,
                                        const struct oracle_target *target,
                                        const struct cleave_layout *layout, uint32_t enough,
                                        struct cleave_shardset *shards)
{
    uint32_t table = program->references.data[target->reference].table;
    struct cleave_shardset by[2] = {{{0}}, {{0}}};
    if (!layout->tables[table].twice)
        return place_by(solver, program, target, layout, false, enough, shards);
    for (int second = 0; second < 2; second++) {
        enum cleave_status status =
            place_by(solver, program, target, layout, second, UINT32_MAX, &by[second]);
        if (status != CLEAVE_OK)
            return status;
    }
    bool fewer = cleave__shardset_count(&by[1]) < cleave__shardset_count(&by[0]);
    if (target->write || !fewer)
        cleave__shardset_or(shards, &by[0]);
    if (target->write || fewer)
        cleave__shardset_or(shards, &by[1]);
    return CLEAVE_OK;
}

/* Building the key space: vertices in order of first appearance, so that one workload gives one
 * hypergraph. A class whose key is often given as a range of integers gets interval vertices, cut
 * at quantiles of the constants. A transaction of more than PINS_MAX keys is given up: no placement
 * makes it local but one that gives up balance. O(accesses). */
#include "tables/scheme/hgp/keys.h"

#include <stdlib.h>
#include <string.h>

enum { INTERVALS_PER_SHARD = 64, INTERVALS_MIN = 1024, RUN_MAX = 4096, PINS_MAX = 1000 };

static uint32_t class_index(struct cleave_key_space *space, uint32_t table, uint32_t column)
{
    const struct cleave_profile *profile = space->input->profile;
    uint32_t root = profile->class_of[profile->base[table] + column], c = 0;
    while (c < space->class_count && space->classes[c].root != root)
        c++;
    if (c == space->class_count)
        space->classes[space->class_count++].root = root;
    return c;
}

static bool find_classes(struct cleave_key_space *space)
{
    uint32_t tables = space->input->schema->table_count;
    space->class_of_table = malloc(((size_t)tables + 1) * sizeof *space->class_of_table);
    space->second_class = malloc(((size_t)tables + 1) * sizeof *space->second_class);
    space->classes = calloc(2 * (size_t)tables + 1, sizeof *space->classes);
    if (!space->class_of_table || !space->second_class || !space->classes)
        return false;
    for (uint32_t t = 0; t < tables; t++) {
        const struct cleave_table_design *design = &space->design->tables[t];
        space->class_of_table[t] = space->second_class[t] = CLEAVE_ABSENT;
        if (design->replicated || design->key == CLEAVE_ABSENT)
            continue;
        space->class_of_table[t] = class_index(space, t, design->key);
        if (design->second == CLEAVE_ABSENT)
            continue;
        space->second_class[t] = class_index(space, t, design->second);
        space->twice = true;
    }
    return true;
}

/* Key `which` (0, 1) of a table: its column and class; false when there is none. */
static bool key_of(const struct cleave_key_space *space, uint32_t table, uint32_t which,
                   uint32_t *column, uint32_t *class)
{
    const struct cleave_table_design *design = &space->design->tables[table];
    *column = which ? design->second : design->key;
    *class = which ? space->second_class[table] : space->class_of_table[table];
    return *class != CLEAVE_ABSENT;
}

/* A class is of intervals when at least a tenth of its accesses give ranges. */
static bool find_intervals(struct cleave_key_space *space)
{
    const struct cleave_scheme_input *input = space->input;
    const struct cleave_workload *workload = input->workload;
    uint64_t *all = calloc((size_t)space->class_count + 1, sizeof *all);
    uint64_t *ranged = calloc((size_t)space->class_count + 1, sizeof *ranged);
    bool ok = all && ranged;
    for (size_t b = 0; ok && b < 2 * workload->boxes.count; b++) {
        const struct cleave_workload_box *box = &workload->boxes.data[b / 2];
        uint32_t key, c;
        if (!key_of(space, box->table, b % 2, &key, &c))
            continue;
        const struct cleave_term *term = cleave__box_term(&box->box, key);
        if (!term)
            continue;
        uint64_t times = input->profile->box_transactions[b / 2];
        all[c] += times;
        ranged[c] += cleave__term_is_points(term) ? 0 : times;
    }
    for (uint32_t c = 0; ok && c < space->class_count; c++)
        space->classes[c].intervals = all[c] && ranged[c] * 10 >= all[c];
    free(all);
    free(ranged);
    return ok;
}

/* The class and value of one end (0, 1) of a rule, when its column is its table's key. */
static bool rule_value(struct cleave_key_space *space, const struct cleave_rule *rule, int end,
                       uint32_t *class, struct cleave_value *value)
{
    bool pair = rule->kind == CLEAVE_TOGETHER || rule->kind == CLEAVE_APART;
    uint32_t table, column;
    if (!pair && (rule->kind != CLEAVE_PIN || end))
        return false;
    if (!cleave__selector_find(space->input->schema, end ? &rule->b : &rule->a, &space->arena,
                               &table, &column, value) ||
        column == CLEAVE_ABSENT || space->design->tables[table].key != column)
        return false;
    *class = space->class_of_table[table];
    return *class != CLEAVE_ABSENT;
}

/* Cuts of an interval class: all constants, thinned to quantiles; and what rules name. */
static bool cut_class(struct cleave_key_space *space, uint32_t c)
{
    struct cleave_key_class *class = &space->classes[c];
    const struct cleave_workload *workload = space->input->workload;
    for (size_t b = 0; b < 2 * workload->boxes.count; b++) {
        const struct cleave_workload_box *box = &workload->boxes.data[b / 2];
        uint32_t key, of;
        if (!key_of(space, box->table, b % 2, &key, &of) || of != c)
            continue;
        const struct cleave_term *term = cleave__box_term(&box->box, key);
        for (uint32_t r = 0; term && r < term->range_count; r++) {
            if (!cleave__cuts_add(&class->cuts, &term->ranges[r]))
                return false;
        }
    }
    cleave__cuts_sort(&class->cuts);
    size_t most = (size_t)INTERVALS_PER_SHARD * space->input->shards;
    if (most < INTERVALS_MIN)
        most = INTERVALS_MIN;
    size_t count = class->cuts.list.count;
    if (count > most) {
        for (size_t i = 0; i < most; i++)
            class->cuts.list.data[i] = class->cuts.list.data[i * count / most];
        class->cuts.list.count = most;
    }
    for (uint32_t r = 0; r < 2 * space->input->steer->rule_count; r++) {
        struct cleave_range point = {.flags = 0};
        uint32_t of;
        if (!rule_value(space, &space->input->steer->rules[r / 2], r % 2, &of, &point.low) ||
            of != c)
            continue;
        point.high = point.low;
        if (!cleave__cuts_add(&class->cuts, &point))
            return false;
    }
    if (class->cuts.list.count == 0) { /* only unbounded ranges: nothing to cut by */
        class->intervals = false;
        return true;
    }
    /* A map of intervals knows where each starts, so every cut lies before its value, and what is
     * below the first goes with the first. */
    for (size_t i = 0; i < class->cuts.list.count; i++)
        class->cuts.list.data[i].after = 0;
    cleave__cuts_sort(&class->cuts);
    struct cleave_cut *list = class->cuts.list.data;
    struct cleave_value lowest = list[0].value;
    class->cuts.list.count--;
    memmove(list, list + 1, class->cuts.list.count * sizeof *list);
    class->first_vertex = (uint32_t)space->vertices.count;
    class->vertex_count = (uint32_t) class->cuts.list.count + 1;
    for (uint32_t p = 0; p < class->vertex_count; p++) {
        struct cleave_key_vertex vertex = {.class = c, .value = p ? list[p - 1].value : lowest};
        if (!CLEAVE_PUSH(&space->vertices, vertex))
            return false;
    }
    return true;
}

/* ---- transactions ---- */

struct gather {
    struct cleave_key_space *space;
    uint32_t class;
    uint32_t *stamp; /* [capacity]: transaction + 1 that last took the vertex */
    size_t stamp_capacity;
    uint32_t transaction;
    bool failed;
};

static bool take_vertex(struct gather *gather, uint32_t vertex)
{
    if (vertex >= gather->stamp_capacity) {
        size_t before = gather->stamp_capacity;
        if (!cleave__vector_reserve(&gather->stamp, &gather->stamp_capacity, (size_t)vertex + 1,
                                    sizeof *gather->stamp))
            return false;
        memset(gather->stamp + before, 0,
               (gather->stamp_capacity - before) * sizeof *gather->stamp);
    }
    if (gather->stamp[vertex] == gather->transaction + 1)
        return true;
    gather->stamp[vertex] = gather->transaction + 1;
    gather->space->vertices.data[vertex].access++;
    return CLEAVE_PUSH(&gather->space->pins, vertex);
}

static uint32_t index_key(unsigned char *buffer, uint32_t class, const struct cleave_value *value)
{
    uint64_t hash = cleave__value_hash(value);
    memcpy(buffer, &class, sizeof class);
    memcpy(buffer + sizeof class, &hash, sizeof hash);
    return sizeof class + sizeof hash;
}

static bool gather_value(void *context, const struct cleave_value *value)
{
    struct gather *gather = context;
    struct cleave_key_space *space = gather->space;
    unsigned char key[16];
    uint32_t length = index_key(key, gather->class, value);
    uint32_t known = space->index.count;
    uint32_t id = cleave__intern_add(&space->index, key, length);
    gather->failed = id == CLEAVE_INTERN_NONE;
    if (!gather->failed && id == known) {
        struct cleave_key_vertex vertex = {.class = gather->class, .value = *value};
        gather->failed = !CLEAVE_PUSH(&space->vertices, vertex);
    }
    /* Interval vertices come first, so point vertex ids are offset by their number. */
    if (!gather->failed)
        gather->failed =
            !take_vertex(gather, (uint32_t)(space->vertices.count - space->index.count) + id);
    return !gather->failed;
}

static bool count_value(void *context, const struct cleave_value *value)
{
    uint32_t *count = context;
    (void)value;
    return ++*count < RUN_MAX;
}

/* How many values a box gives for a key; CLEAVE_ABSENT when it leaves it open. */
static uint32_t key_values(const struct cleave_key_space *space,
                           const struct cleave_workload_box *box, uint32_t key, uint32_t class)
{
    const struct cleave_scheme_input *input = space->input;
    uint32_t count = 0;
    if (space->classes[class].intervals) {
        const struct cleave_term *term = cleave__box_term(&box->box, key);
        return term ? term->range_count : CLEAVE_ABSENT;
    }
    return cleave__box_key_points(input->profile, input->steer->derived_keys, box->table, &box->box,
                                  key, count_value, &count)
               ? count
               : CLEAVE_ABSENT;
}

/* Adds the vertices of one key of a box; false when it leaves the key open. */
static bool gather_key(struct gather *gather, const struct cleave_workload_box *box, uint32_t key,
                       uint32_t class_number)
{
    struct cleave_key_space *space = gather->space;
    const struct cleave_scheme_input *input = space->input;
    struct cleave_key_class *class = &space->classes[class_number];
    gather->class = class_number;
    if (!class->intervals)
        return cleave__box_key_points(input->profile, input->steer->derived_keys, box->table,
                                      &box->box, key, gather_value, gather);
    const struct cleave_term *term = cleave__box_term(&box->box, key);
    if (!term)
        return false;
    for (uint32_t r = 0; r < term->range_count; r++) {
        uint32_t first, last;
        cleave__cuts_run(&class->cuts, &term->ranges[r], &first, &last);
        if (last - first > RUN_MAX)
            return false;
        for (uint32_t p = first; p <= last && !gather->failed; p++)
            gather->failed = !take_vertex(gather, class->first_vertex + p);
    }
    return !gather->failed;
}

/* Adds what one access touches; false when it leaves open what it needs. With two keys a read goes
 * by the one that it gives fewer values of, a write by both. */
static bool gather_box(struct gather *gather, const struct cleave_workload_box *box, bool write)
{
    const struct cleave_key_space *space = gather->space;
    uint32_t key, class, second, second_class;
    key_of(space, box->table, 0, &key, &class);
    if (!key_of(space, box->table, 1, &second, &second_class))
        return gather_key(gather, box, key, class);
    if (write)
        return gather_key(gather, box, key, class) && gather_key(gather, box, second, second_class);
    if (key_values(space, box, second, second_class) < key_values(space, box, key, class))
        return gather_key(gather, box, second, second_class);
    return gather_key(gather, box, key, class);
}

static bool gather_transactions(struct cleave_key_space *space)
{
    const struct cleave_workload *workload = space->input->workload;
    struct gather gather = {.space = space};
    space->offsets = calloc((size_t)workload->transactions + 2, sizeof *space->offsets);
    space->kinds = calloc((size_t)workload->transactions + 1, 1);
    if (!space->offsets || !space->kinds)
        return false;
    for (uint32_t t = 0; t < workload->transactions && !gather.failed; t++) {
        gather.transaction = t;
        for (uint64_t a = workload->offsets.data[t];
             a < workload->offsets.data[t + 1] && !gather.failed; a++) {
            struct cleave_workload_access access = workload->accesses.data[a];
            const struct cleave_workload_box *box = &workload->boxes.data[access.box];
            bool lost = false;
            if (space->class_of_table[box->table] == CLEAVE_ABSENT)
                lost = access.write && space->design->tables[box->table].replicated;
            else
                lost = !gather_box(&gather, box, access.write);
            if (lost)
                space->kinds[t] = CLEAVE_TRANSACTION_LOST;
        }
        space->offsets[t + 1] = space->pins.count;
        if (space->pins.count - space->offsets[t] > PINS_MAX)
            space->kinds[t] = CLEAVE_TRANSACTION_LOST;
    }
    free(gather.stamp);
    return !gather.failed;
}

/* Values that rules name get vertices even when no transaction shows them. */
static bool add_ruled(struct cleave_key_space *space)
{
    const struct cleave_steer *steer = space->input->steer;
    for (uint32_t r = 0; r < 2 * steer->rule_count; r++) {
        struct cleave_key_vertex vertex = {.class = 0};
        if (!rule_value(space, &steer->rules[r / 2], r % 2, &vertex.class, &vertex.value) ||
            space->classes[vertex.class].intervals)
            continue;
        unsigned char key[16];
        uint32_t known = space->index.count;
        uint32_t length = index_key(key, vertex.class, &vertex.value);
        uint32_t id = cleave__intern_add(&space->index, key, length);
        if (id == CLEAVE_INTERN_NONE || (id == known && !CLEAVE_PUSH(&space->vertices, vertex)))
            return false;
    }
    return true;
}

/* ---- sizes ---- */

static void add_sizes(struct cleave_key_space *space, uint32_t t, uint32_t key, uint32_t c,
                      double size)
{
    const struct cleave_table *table = &space->input->schema->tables[t];
    space->size_total += size;
    for (size_t v = 0; v < space->vertices.count; v++) {
        struct cleave_key_vertex *vertex = &space->vertices.data[v];
        if (vertex->class != c)
            continue;
        struct cleave_range range = {.low = vertex->value, .high = vertex->value};
        if (space->classes[c].intervals)
            cleave__cuts_piece(&space->classes[c].cuts,
                               (uint32_t)v - space->classes[c].first_vertex, &range);
        vertex->size += size * cleave__selectivity(table, key, &range);
    }
}

static void set_sizes(struct cleave_key_space *space)
{
    const struct cleave_schema *schema = space->input->schema;
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct cleave_table *table = &schema->tables[t];
        double size = table->rows * cleave__row_weight(schema, t);
        if (table->view || size <= 0)
            continue;
        uint32_t c = space->class_of_table[t];
        if (c == CLEAVE_ABSENT) {
            if (!space->design->tables[t].replicated)
                space->size_total += size;
            continue;
        }
        for (uint32_t which = 0; which < 2; which++) {
            uint32_t key;
            if (key_of(space, t, which, &key, &c))
                add_sizes(space, t, key, c, size);
        }
    }
}

enum cleave_status cleave__keys_build(const struct cleave_scheme_input *input,
                                      const struct cleave_design *design,
                                      struct cleave_key_space *out, struct cleave_error *error)
{
    struct cleave_key_space space = {.input = input, .design = design};
    bool ok = find_classes(&space) && find_intervals(&space);
    for (uint32_t c = 0; ok && c < space.class_count; c++) {
        if (space.classes[c].intervals)
            ok = cut_class(&space, c);
    }
    ok = ok && gather_transactions(&space) && add_ruled(&space);
    if (!ok) {
        cleave__keys_free(&space);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the workload hypergraph");
    }
    set_sizes(&space);
    *out = space;
    return CLEAVE_OK;
}

void cleave__keys_free(struct cleave_key_space *space)
{
    for (uint32_t c = 0; space->classes && c < space->class_count; c++)
        CLEAVE_VECTOR_FREE(&space->classes[c].cuts.list);
    free(space->classes);
    free(space->class_of_table);
    free(space->second_class);
    CLEAVE_VECTOR_FREE(&space->vertices);
    cleave__intern_free(&space->index);
    free(space->offsets);
    CLEAVE_VECTOR_FREE(&space->pins);
    free(space->kinds);
    cleave__arena_free(&space->arena);
    *space = (struct cleave_key_space){0};
}

uint32_t cleave__keys_find(const struct cleave_key_space *space, uint32_t class,
                           const struct cleave_value *value)
{
    if (space->classes[class].intervals) {
        struct cleave_range point = {.low = *value, .high = *value};
        uint32_t first, last;
        cleave__cuts_run(&space->classes[class].cuts, &point, &first, &last);
        return space->classes[class].first_vertex + first;
    }
    unsigned char key[16];
    uint32_t length = index_key(key, class, value);
    uint32_t id = cleave__intern_find(&space->index, key, length);
    if (id == CLEAVE_INTERN_NONE)
        return CLEAVE_ABSENT;
    return (uint32_t)(space->vertices.count - space->index.count) + id;
}

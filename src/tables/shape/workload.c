/* Workload: see workload.h. Boxes are interned by their bytes: table, flags, then each term's
 * column and ranges, values included, so that two boxes are one exactly when they say the same. */
#include "tables/shape/workload.h"

#include <stdlib.h>
#include <string.h>

void cleave__workload_init(struct cleave_workload *workload, const struct cleave_schema *schema)
{
    *workload = (struct cleave_workload){.schema = schema};
}

void cleave__workload_free(struct cleave_workload *workload)
{
    cleave__arena_free(&workload->arena);
    cleave__intern_free(&workload->interned);
    CLEAVE_VECTOR_FREE(&workload->boxes);
    CLEAVE_VECTOR_FREE(&workload->offsets);
    CLEAVE_VECTOR_FREE(&workload->accesses);
    CLEAVE_VECTOR_FREE(&workload->unions);
    CLEAVE_VECTOR_FREE(&workload->union_offsets);
    CLEAVE_VECTOR_FREE(&workload->writes);
    *workload = (struct cleave_workload){0};
}

static void put(struct cleave_box_bytes *bytes, const void *data, size_t length)
{
    if (bytes->failed || !CLEAVE_RESERVE(&bytes->out, bytes->out.count + length)) {
        bytes->failed = true;
        return;
    }
    if (length)
        memcpy(bytes->out.data + bytes->out.count, data, length);
    bytes->out.count += length;
}

static void put_value(struct cleave_box_bytes *bytes, const struct cleave_value *value)
{
    unsigned char kind = (unsigned char)value->kind;
    put(bytes, &kind, 1);
    if (value->kind == CLEAVE_INTEGER) {
        put(bytes, &value->integer, sizeof value->integer);
    } else if (value->kind != CLEAVE_NULL) {
        put(bytes, &value->length, sizeof value->length);
        put(bytes, value->text, value->length);
    }
}

static void put_box(struct cleave_box_bytes *bytes, uint32_t table, bool insert,
                    const struct cleave_box *box)
{
    unsigned char flag = insert;
    put(bytes, &table, sizeof table);
    put(bytes, &flag, 1);
    for (uint32_t t = 0; t < box->term_count; t++) {
        const struct cleave_term *term = &box->terms[t];
        put(bytes, &term->column, sizeof term->column);
        put(bytes, &term->range_count, sizeof term->range_count);
        for (uint32_t r = 0; r < term->range_count; r++) {
            const struct cleave_range *range = &term->ranges[r];
            put(bytes, &range->flags, 1);
            if (!(range->flags & CLEAVE_LOW_UNBOUNDED))
                put_value(bytes, &range->low);
            if (!(range->flags & CLEAVE_HIGH_UNBOUNDED))
                put_value(bytes, &range->high);
        }
    }
}

uint32_t cleave__box_intern(struct cleave_intern *table, uint32_t tag, bool insert,
                            const struct cleave_box *box, struct cleave_box_bytes *scratch)
{
    scratch->out.count = 0;
    put_box(scratch, tag, insert, box);
    if (scratch->failed)
        return CLEAVE_INTERN_NONE;
    return cleave__intern_add(table, scratch->out.data, scratch->out.count);
}

static bool copy_value(struct cleave_arena *arena, struct cleave_value *value)
{
    if (value->kind != CLEAVE_NUMBER && value->kind != CLEAVE_TEXT)
        return true;
    value->text = cleave__arena_copy(arena, value->text, value->length);
    return value->text != NULL;
}

/* Deep copy of a box into the arena. */
static bool copy_box(struct cleave_arena *arena, const struct cleave_box *from,
                     struct cleave_box *to)
{
    struct cleave_term *terms = cleave__arena_array(arena, from->term_count, sizeof *terms);
    if (!terms)
        return false;
    for (uint32_t t = 0; t < from->term_count; t++) {
        const struct cleave_term *term = &from->terms[t];
        struct cleave_range *ranges = cleave__arena_array(arena, term->range_count, sizeof *ranges);
        if (!ranges)
            return false;
        for (uint32_t r = 0; r < term->range_count; r++) {
            ranges[r] = term->ranges[r];
            if (!(ranges[r].flags & CLEAVE_LOW_UNBOUNDED) && !copy_value(arena, &ranges[r].low))
                return false;
            if (!(ranges[r].flags & CLEAVE_HIGH_UNBOUNDED) && !copy_value(arena, &ranges[r].high))
                return false;
        }
        terms[t] = (struct cleave_term){term->column, term->range_count, ranges};
    }
    *to = (struct cleave_box){from->term_count, terms};
    return true;
}

/* The id of a box; CLEAVE_INTERN_NONE when memory is out. */
static uint32_t intern_box(struct cleave_workload *workload, uint32_t table, bool insert,
                           const struct cleave_box *box, struct cleave_box_bytes *bytes)
{
    uint32_t id = cleave__box_intern(&workload->interned, table, insert, box, bytes);
    if (id == CLEAVE_INTERN_NONE || id < workload->boxes.count)
        return id;
    struct cleave_workload_box held = {.table = table, .insert = insert};
    if (!copy_box(&workload->arena, box, &held.box) || !CLEAVE_PUSH(&workload->boxes, held))
        return CLEAVE_INTERN_NONE;
    return id;
}

static int compare_accesses(const void *left, const void *right)
{
    const struct cleave_workload_access *a = left, *b = right;
    return (a->box > b->box) - (a->box < b->box);
}

/* Sorts the accesses from `start` by box and merges equal ones; a write wins over a read, and what
 * stands alone over a part. */
static void merge_accesses(struct cleave_workload *workload, size_t start)
{
    struct cleave_workload_access *items = workload->accesses.data + start;
    size_t count = workload->accesses.count - start;
    if (count == 0)
        return;
    qsort(items, count, sizeof *items, compare_accesses);
    size_t kept = 0;
    for (size_t i = 1; i < count; i++) {
        if (items[i].box == items[kept].box) {
            items[kept].write |= items[i].write;
            items[kept].part &= items[i].part;
        } else {
            items[++kept] = items[i];
        }
    }
    workload->accesses.count = start + kept + 1;
}

static bool add_statement(struct cleave_workload *workload,
                          const struct cleave_statement *statement, struct cleave_box_bytes *bytes,
                          bool *writes)
{
    for (uint32_t a = 0; a < statement->access_count; a++) {
        const struct cleave_access *access = &statement->accesses[a];
        bool together = !access->write && access->box_count > 1;
        if (together && !CLEAVE_PUSH(&workload->unions, access->box_count))
            return false;
        for (uint32_t b = 0; b < access->box_count; b++) {
            uint32_t id =
                intern_box(workload, access->table, access->insert, &access->boxes[b], bytes);
            struct cleave_workload_access item = {id, access->write, together};
            if (id == CLEAVE_INTERN_NONE || !CLEAVE_PUSH(&workload->accesses, item) ||
                (together && !CLEAVE_PUSH(&workload->unions, id)))
                return false;
        }
        if (access->write && access->box_count)
            *writes = true;
    }
    return true;
}

/* Where a transaction that is being added starts. */
struct start {
    size_t accesses, unions;
};

static bool open_transaction(struct cleave_workload *workload, struct start *start)
{
    *start = (struct start){workload->accesses.count, workload->unions.count};
    return (workload->offsets.count || CLEAVE_PUSH(&workload->offsets, 0)) &&
           (workload->union_offsets.count || CLEAVE_PUSH(&workload->union_offsets, 0));
}

static void drop_transaction(struct cleave_workload *workload, struct start start)
{
    workload->accesses.count = start.accesses;
    workload->unions.count = start.unions;
}

/* False when memory is out. */
static bool close_transaction(struct cleave_workload *workload, bool writes)
{
    if (!CLEAVE_RESERVE(&workload->offsets, workload->offsets.count + 1) ||
        !CLEAVE_RESERVE(&workload->union_offsets, workload->union_offsets.count + 1) ||
        !CLEAVE_PUSH(&workload->writes, writes))
        return false;
    workload->offsets.data[workload->offsets.count++] = workload->accesses.count;
    workload->union_offsets.data[workload->union_offsets.count++] = workload->unions.count;
    workload->transactions++;
    return true;
}

const uint32_t *cleave__workload_union(const struct cleave_workload *workload, uint32_t transaction,
                                       uint64_t *at, uint32_t *count)
{
    if (transaction + 1 >= workload->union_offsets.count)
        return NULL;
    uint64_t start = workload->union_offsets.data[transaction];
    if (*at >= workload->union_offsets.data[transaction + 1] - start)
        return NULL;
    const uint32_t *boxes = &workload->unions.data[start + *at];
    *count = *boxes;
    *at += 1 + (uint64_t)*count;
    return boxes + 1;
}

enum cleave_status cleave__workload_copy(struct cleave_workload *workload,
                                         const struct cleave_workload *from, uint32_t transaction,
                                         struct cleave_error *error)
{
    struct start start;
    bool ok = open_transaction(workload, &start);
    struct cleave_box_bytes bytes = {0};
    uint64_t end = from->offsets.data[transaction + 1];
    for (uint64_t a = from->offsets.data[transaction]; ok && a < end; a++) {
        struct cleave_workload_access access = from->accesses.data[a];
        const struct cleave_workload_box *box = &from->boxes.data[access.box];
        access.box = intern_box(workload, box->table, box->insert, &box->box, &bytes);
        ok = access.box != CLEAVE_INTERN_NONE && CLEAVE_PUSH(&workload->accesses, access);
    }
    uint64_t at = 0;
    uint32_t count;
    for (const uint32_t *u; ok && (u = cleave__workload_union(from, transaction, &at, &count));) {
        ok = CLEAVE_PUSH(&workload->unions, count);
        for (uint32_t i = 0; ok && i < count; i++) {
            const struct cleave_workload_box *box = &from->boxes.data[u[i]];
            uint32_t id = intern_box(workload, box->table, box->insert, &box->box, &bytes);
            ok = id != CLEAVE_INTERN_NONE && CLEAVE_PUSH(&workload->unions, id);
        }
    }
    CLEAVE_VECTOR_FREE(&bytes.out);
    if (ok) {
        merge_accesses(workload, start.accesses);
        ok = close_transaction(workload, from->writes.data[transaction]);
    }
    if (!ok) {
        drop_transaction(workload, start);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the workload");
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__workload_add(struct cleave_workload *workload,
                                        struct cleave_analyzer *analyzer,
                                        const struct cleave_trace_transaction *transaction,
                                        bool *added, struct cleave_error *error)
{
    struct start start;
    if (!open_transaction(workload, &start))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the workload");
    bool writes = false, failed = false;
    struct cleave_arena scratch = {0};
    struct cleave_box_bytes bytes = {0};
    for (uint32_t s = 0; s < transaction->statement_count && !failed; s++) {
        const struct cleave_trace_statement *text = &transaction->statements[s];
        struct cleave_statement statement;
        struct cleave_error ignored;
        enum cleave_status status =
            cleave__analyze(analyzer, text->text, text->length, text->parameters,
                            text->parameter_count, &scratch, &statement, &ignored);
        workload->statements++;
        if (status == CLEAVE_NO_MEMORY) {
            failed = true;
        } else if (status == CLEAVE_LIMIT) {
            workload->oversized++;
        } else if (status) {
            workload->unparsed++;
        } else {
            if (statement.access_count == 0 && statement.unknown_tables)
                workload->foreign++;
            workload->opaque += statement.opaque;
            failed = !add_statement(workload, &statement, &bytes, &writes);
        }
        cleave__arena_rewind(&scratch, (struct cleave_arena_mark){0});
    }
    cleave__arena_free(&scratch);
    CLEAVE_VECTOR_FREE(&bytes.out);
    if (failed) {
        drop_transaction(workload, start);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the workload");
    }
    merge_accesses(workload, start.accesses);
    bool touches = workload->accesses.count > start.accesses;
    if (added)
        *added = touches;
    if (!touches) {
        workload->empty_transactions++;
        return CLEAVE_OK;
    }
    if (!close_transaction(workload, writes)) {
        drop_transaction(workload, start);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the workload");
    }
    return CLEAVE_OK;
}

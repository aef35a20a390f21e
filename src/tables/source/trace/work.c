/* Building transactions. Offsets travel in the pointer fields as integers (uintptr_t) until
 * resolve() turns them into pointers, once the buffer has stopped growing. */
#include "tables/source/trace/work.h"

#include <stdlib.h>
#include <string.h>

enum { FREE_MAX = 64, KEEP_BYTES = 1 << 16 };

struct cleave_trace_work *cleave__work_take(struct cleave_trace_works *works)
{
    struct cleave_trace_work *work = works->free;
    if (!work)
        return calloc(1, sizeof *work);
    works->free = work->next;
    works->free_count--;
    work->next = NULL;
    return work;
}

static void work_free(struct cleave_trace_work *work)
{
    CLEAVE_VECTOR_FREE(&work->bytes);
    CLEAVE_VECTOR_FREE(&work->statements);
    CLEAVE_VECTOR_FREE(&work->parameters);
    free(work);
}

void cleave__work_drop(struct cleave_trace_works *works, struct cleave_trace_work *work)
{
    if (!work)
        return;
    if (works->free_count >= FREE_MAX || work->bytes.capacity > KEEP_BYTES) {
        work_free(work);
        return;
    }
    work->bytes.count = work->statements.count = work->parameters.count = 0;
    work->dropped = 0;
    work->next = works->free;
    works->free = work;
    works->free_count++;
}

/* Appends bytes and a NUL; the caller has reserved the room. */
static const char *append(struct cleave_trace_work *work, const char *bytes, size_t length)
{
    size_t at = work->bytes.count;
    if (length)
        memcpy(work->bytes.data + at, bytes, length);
    work->bytes.data[at + length] = 0;
    work->bytes.count = at + length + 1;
    return (const char *)(uintptr_t)at;
}

bool cleave__work_add(struct cleave_trace_work *work, const char *text, size_t length,
                      const struct cleave_parameter *parameters, uint32_t count)
{
    size_t need = length + 1;
    for (uint32_t i = 0; i < count; i++)
        need += parameters[i].length + 1;
    if (need + work->bytes.count + count * sizeof *parameters > CLEAVE_TRANSACTION_MAX ||
        work->statements.count >= CLEAVE_TRANSACTION_MAX / 64) {
        work->dropped++;
        return true;
    }
    if (!CLEAVE_RESERVE(&work->bytes, work->bytes.count + need) ||
        !CLEAVE_RESERVE(&work->parameters, work->parameters.count + count) ||
        !CLEAVE_RESERVE(&work->statements, work->statements.count + 1))
        return false;
    struct cleave_trace_statement *s = &work->statements.data[work->statements.count++];
    *s = (struct cleave_trace_statement){append(work, text, length), length, NULL, count};
    for (uint32_t i = 0; i < count; i++) {
        struct cleave_parameter p = parameters[i];
        p.text = append(work, p.text, p.length);
        work->parameters.data[work->parameters.count++] = p;
    }
    return true;
}

bool cleave__work_finish(struct cleave_trace_works *works, struct cleave_trace_work *work,
                         const char *label, uint32_t file)
{
    size_t length = strlen(label);
    if (!CLEAVE_RESERVE(&work->bytes, work->bytes.count + length + 1))
        return false;
    work->label = (uintptr_t)append(work, label, length);
    work->file = file;
    work->next = NULL;
    if (works->ready_last)
        works->ready_last->next = work;
    else
        works->ready_first = work;
    works->ready_last = work;
    return true;
}

static void resolve(struct cleave_trace_work *work)
{
    const char *base = work->bytes.data;
    size_t parameter = 0;
    for (size_t i = 0; i < work->statements.count; i++) {
        struct cleave_trace_statement *s = &work->statements.data[i];
        s->text = base + (uintptr_t)s->text;
        if (s->parameter_count)
            s->parameters = work->parameters.data + parameter;
        parameter += s->parameter_count;
    }
    for (size_t i = 0; i < work->parameters.count; i++)
        work->parameters.data[i].text = base + (uintptr_t)work->parameters.data[i].text;
}

bool cleave__work_give(struct cleave_trace_works *works, struct cleave_trace_transaction *out)
{
    struct cleave_trace_work *work = works->ready_first;
    if (!work)
        return false;
    cleave__work_drop(works, works->given);
    works->ready_first = work->next;
    if (!works->ready_first)
        works->ready_last = NULL;
    work->next = NULL;
    works->given = work;
    resolve(work);
    *out = (struct cleave_trace_transaction){.session = work->bytes.data + work->label,
                                             .file = work->file,
                                             .statements = work->statements.data,
                                             .statement_count = (uint32_t)work->statements.count};
    return true;
}

void cleave__works_free(struct cleave_trace_works *works)
{
    struct cleave_trace_work *lists[] = {works->free, works->ready_first, works->given};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (struct cleave_trace_work *work = lists[i]; work;) {
            struct cleave_trace_work *next = work->next;
            work_free(work);
            work = next;
        }
    }
    *works = (struct cleave_trace_works){0};
}

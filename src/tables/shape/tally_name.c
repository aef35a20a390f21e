#include "tables/shape/tally_name.h"

#include <stdio.h>
#include <string.h>

enum { PIECES_MAX = 8 };

struct writer {
    struct cleave_name *out;
    bool failed;
};

static void put(struct writer *w, const char *text, size_t length)
{
    w->failed = w->failed || !CLEAVE_RESERVE(&w->out->text, w->out->text.count + length + 1);
    if (w->failed)
        return;
    memcpy(w->out->text.data + w->out->text.count, text, length);
    w->out->text.count += length;
}

static void say(struct writer *w, const char *text)
{
    put(w, text, strlen(text));
}

/* As SQL wants a name: quoted when it is not plain. */
static void put_name(struct writer *w, const char *name)
{
    bool plain = *name && strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") == strlen(name) &&
                 !(*name >= '0' && *name <= '9');
    if (plain) {
        say(w, name);
        return;
    }
    say(w, "\"");
    for (const char *at = name; *at; at++) {
        if (*at == '"')
            say(w, "\"");
        put(w, at, 1);
    }
    say(w, "\"");
}

static void put_value(struct writer *w, const struct cleave_value *value, enum cleave_type type)
{
    int length = cleave__value_print(value, type, NULL, 0);
    char *text = malloc((size_t)length + 1);
    if (!text) {
        w->failed = true;
        return;
    }
    cleave__value_print(value, type, text, (size_t)length + 1);
    for (int i = 0; i < length; i++) {
        char escaped[8];
        if ((unsigned char)text[i] >= ' ' && text[i] != 127) {
            put(w, &text[i], 1);
            continue;
        }
        snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned)(unsigned char)text[i]);
        say(w, escaped);
    }
    free(text);
}

static void put_range(struct writer *w, const struct cleave_column *column,
                      const struct cleave_range *range)
{
    bool low = !(range->flags & CLEAVE_LOW_UNBOUNDED);
    bool high = !(range->flags & CLEAVE_HIGH_UNBOUNDED);
    if (cleave__range_is_point(range)) {
        put_name(w, column->name);
        say(w, range->low.kind == CLEAVE_NULL ? " IS " : " = ");
        put_value(w, &range->low, column->type);
        return;
    }
    if (!low && !high)
        say(w, "true");
    if (low) {
        put_name(w, column->name);
        say(w, range->flags & CLEAVE_LOW_OPEN ? " > " : " >= ");
        put_value(w, &range->low, column->type);
    }
    if (high) {
        say(w, low ? " AND " : "");
        put_name(w, column->name);
        say(w, range->flags & CLEAVE_HIGH_OPEN ? " < " : " <= ");
        put_value(w, &range->high, column->type);
    }
}

static void put_values(struct writer *w, const struct cleave_table *table,
                       const struct cleave_grain *grain, const struct cleave_intern_entry *cell)
{
    struct cleave_value values[CLEAVE_GRAIN_MAX];
    uint32_t count;
    cleave__cell_decode(cell->bytes, cell->length, values, &count);
    for (uint32_t i = 0; i < count; i++) {
        say(w, i ? " AND " : "");
        put_range(w, &table->columns[grain->columns[i]],
                  &(struct cleave_range){values[i], values[i], 0});
    }
    if (count == 0)
        say(w, "true");
}

static void put_group(struct writer *w, const struct cleave_table *table,
                      const struct cleave_tally_table *it, const struct cleave_group *group)
{
    const struct cleave_grain *grain = &it->grain;
    const struct cleave_column *last = &table->columns[grain->columns[grain->count - 1]];
    if (grain->count <= 2)
        put_range(w, &table->columns[grain->columns[0]], &group->first);
    else if (group->first.flags & CLEAVE_HIGH_UNBOUNDED)
        say(w, "NOT NAMED");
    else
        put_values(w, table, grain, &it->prefixes.entries[group->first.high.integer]);
    if (group->second_count == 0)
        return;
    uint32_t pieces = group->second_count > PIECES_MAX ? 1 : group->second_count;
    bool several = group->second_count > 1;
    say(w, several ? " AND (" : " AND ");
    for (uint32_t p = 0; p < pieces; p++) {
        const struct cleave_range *piece = &it->groups.pieces.data[group->second_start + p];
        say(w, p ? " OR " : "");
        put_range(w, last, piece);
    }
    say(w, group->second_count > PIECES_MAX ? " OR ...)" : several ? ")" : "");
}

bool cleave__tally_name(const struct cleave_tally *tally, uint32_t vertex, struct cleave_name *out)
{
    struct cleave_tally_vertex v = tally->vertices.data[vertex];
    const struct cleave_table *table = &tally->schema->tables[v.table];
    const struct cleave_tally_table *it = &tally->tables[v.table];
    struct writer w = {out, false};
    out->text.count = 0;
    say(&w, table->name);
    say(&w, "\t");
    if (v.item == CLEAVE_ABSENT)
        say(&w, "true");
    else if (it->wide)
        put_group(&w, table, it, &it->groups.list.data[v.item]);
    else
        put_values(&w, table, &it->grain, &tally->cells.entries[v.item]);
    if (w.failed)
        return false;
    out->text.data[out->text.count] = 0;
    return true;
}

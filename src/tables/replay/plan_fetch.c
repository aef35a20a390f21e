/* The rows of some boxes, as a query.
 *
 * Boxes compare as cleave does (text bytewise); a store may not. So only terms that mean the same
 * everywhere become conditions: whole numbers, and text that must be equal. What is left out, or is
 * too long to say, fetches more rows, and the statement itself then leaves them out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "tables/replay/plan.h"

enum { RANGES_MOST = 1000 };

static void say(struct cleave_writer *w, const char *text)
{
    cleave__put_bytes(w, text, strlen(text));
}

static void say_name(struct cleave_writer *w, const char *name)
{
    say(w, "\"");
    for (; *name; name++) {
        if (*name == '"')
            say(w, "\"");
        cleave__put_bytes(w, name, 1);
    }
    say(w, "\"");
}

static void say_value(struct cleave_writer *w, const struct cleave_value *value)
{
    if (value->kind == CLEAVE_INTEGER) {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, value->integer);
        say(w, text);
        return;
    }
    say(w, "'");
    for (uint32_t i = 0; i < value->length; i++) {
        if (value->text[i] == '\'')
            say(w, "'");
        cleave__put_bytes(w, &value->text[i], 1);
    }
    say(w, "'");
}

/* Whether a range means the same in any store. */
static bool is_plain(const struct cleave_range *range, enum cleave_type type)
{
    bool low = !(range->flags & CLEAVE_LOW_UNBOUNDED),
         high = !(range->flags & CLEAVE_HIGH_UNBOUNDED);
    if (low && high && range->low.kind == CLEAVE_NULL && range->high.kind == CLEAVE_NULL)
        return true;
    if (type == CLEAVE_TYPE_INTEGER)
        return (!low || range->low.kind == CLEAVE_INTEGER) &&
               (!high || range->high.kind == CLEAVE_INTEGER) &&
               !(range->flags & (CLEAVE_LOW_OPEN | CLEAVE_HIGH_OPEN));
    if (type != CLEAVE_TYPE_TEXT || !low || !high || !cleave__range_is_point(range) ||
        range->low.kind != CLEAVE_TEXT)
        return false;
    for (uint32_t i = 0; i < range->low.length; i++) {
        if ((unsigned char)range->low.text[i] < 0x20 || range->low.text[i] == '\\')
            return false;
    }
    return true;
}

static bool is_said(const struct cleave_term *term, const struct cleave_table *table)
{
    const struct cleave_column *column = &table->columns[term->column];
    /* Types that are text to cleave and may be anything to a store are left out. */
    if (column->type == CLEAVE_TYPE_TEXT &&
        (!column->type_name || (strncmp(column->type_name, "text", 4) != 0 &&
                                strncmp(column->type_name, "varchar", 7) != 0 &&
                                strncmp(column->type_name, "character varying", 17) != 0)))
        return false;
    for (uint32_t r = 0; r < term->range_count; r++) {
        if (!is_plain(&term->ranges[r], column->type))
            return false;
    }
    return term->range_count && term->range_count <= RANGES_MOST;
}

static void say_range(struct cleave_writer *w, const char *name, const struct cleave_range *range)
{
    bool low = !(range->flags & CLEAVE_LOW_UNBOUNDED),
         high = !(range->flags & CLEAVE_HIGH_UNBOUNDED);
    say_name(w, name);
    if (low && range->low.kind == CLEAVE_NULL) {
        say(w, " IS NULL");
    } else if (low && high && cleave__range_is_point(range)) {
        say(w, " = ");
        say_value(w, &range->low);
    } else if (!low && !high) {
        say(w, " IS NOT NULL");
    } else {
        if (low) {
            say(w, " >= ");
            say_value(w, &range->low);
        }
        if (low && high) {
            say(w, " AND ");
            say_name(w, name);
        }
        if (high) {
            say(w, " <= ");
            say_value(w, &range->high);
        }
    }
}

static void say_term(struct cleave_writer *w, const struct cleave_table *table,
                     const struct cleave_term *term)
{
    const char *name = table->columns[term->column].name;
    bool points = term->range_count > 1;
    for (uint32_t r = 0; points && r < term->range_count; r++)
        points =
            cleave__range_is_point(&term->ranges[r]) && term->ranges[r].low.kind != CLEAVE_NULL;
    if (points) {
        say_name(w, name);
        for (uint32_t r = 0; r < term->range_count; r++) {
            say(w, r ? ", " : " IN (");
            say_value(w, &term->ranges[r].low);
        }
        say(w, ")");
        return;
    }
    say(w, "(");
    for (uint32_t r = 0; r < term->range_count; r++) {
        say(w, r ? " OR " : "");
        say_range(w, name, &term->ranges[r]);
    }
    say(w, ")");
}

bool cleave__fetch_box(struct cleave_writer *w, const struct cleave_table *table,
                       const struct cleave_box *box)
{
    bool any = false;
    for (uint32_t t = 0; t < box->term_count; t++) {
        if (!is_said(&box->terms[t], table))
            continue;
        say(w, any ? " AND " : "(");
        say_term(w, table, &box->terms[t]);
        any = true;
    }
    if (any)
        say(w, ")");
    return any;
}

const char *cleave__fetch_text(const struct cleave_table *table,
                               const struct cleave_access *const *accesses, uint32_t access_count,
                               struct cleave_arena *arena)
{
    struct cleave_writer w = {0};
    say(&w, "SELECT * FROM ");
    say_name(&w, table->name);
    size_t all = w.count;
    bool narrowed = true, any = false;
    for (uint32_t a = 0; a < access_count; a++) {
        for (uint32_t b = 0; narrowed && b < accesses[a]->box_count; b++) {
            say(&w, any ? " OR " : " WHERE ");
            narrowed = cleave__fetch_box(&w, table, &accesses[a]->boxes[b]);
            any = true;
        }
    }
    if (!narrowed)
        w.count = all;
    if (access_count == 0)
        say(&w, " WHERE 1 = 0");
    char *text = w.failed ? NULL : cleave__arena_copy(arena, (const char *)w.data, w.count);
    free(w.data);
    return text;
}

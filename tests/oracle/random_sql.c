/* See random_sql.h. Evaluation is three-valued logic by nested loops, the slow and plain way. */
#include "random_sql.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const comparisons[] = {"<", "<=", "=", "<>", ">=", ">"};
static const char *const source_names[] = {"r0", "r1", "s"};
static const char column_names[] = "xyz";

static void put(struct sql_statement *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct sql_statement *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(s->text + s->length, sizeof s->text - s->length, format, arguments);
    va_end(arguments);
    if (n > 0)
        s->length += (size_t)n;
    if (s->length >= sizeof s->text)
        s->length = sizeof s->text - 1;
}

/* --- making --- */

static int draw(struct property_source *source, int bound)
{
    return (int)property_draw(source, (uint64_t)bound);
}

/* Sources in scope are a set of bits. */
static int pick(struct property_source *source, unsigned sources)
{
    int list[3], count = 0;
    for (int i = 0; i < 3; i++) {
        if (sources >> i & 1)
            list[count++] = i;
    }
    return list[draw(source, count)];
}

static struct sql_node *make(struct property_source *source, struct sql_statement *s,
                             unsigned sources, int depth, bool nested, bool must)
{
    static const enum sql_op leaves[] = {SQL_COMPARE,       SQL_COMPARE, SQL_COMPARE,
                                         SQL_COLUMNS_EQUAL, SQL_IN,      SQL_BETWEEN,
                                         SQL_IS_NULL,       SQL_ROW,     SQL_DISTINCT};
    struct sql_node *n = &s->nodes[s->node_count++];
    *n = (struct sql_node){0};
    int choice = draw(source, depth > 0 && s->node_count < SQL_NODES_MAX - 20 ? 18 : 9);
    for (int i = 0; i < 2; i++) {
        n->source[i] = pick(source, sources);
        n->column[i] = draw(source, SQL_COLUMNS);
    }
    n->comparison = draw(source, 2) ? draw(source, 6) : 2;
    n->constant_count = 2 + draw(source, 3);
    for (int i = 0; i < 4; i++)
        n->constant[i] = draw(source, 12) == 11 ? SQL_NULL : draw(source, SQL_DOMAIN);
    if (choice < 9) {
        n->op = leaves[choice];
        bool odd = n->op == SQL_DISTINCT || (n->op == SQL_COLUMNS_EQUAL && !must);
        if (s->plain && odd)
            n->op = SQL_COMPARE;
        return n;
    }
    if (choice < 15) {
        n->op = choice < 13 ? SQL_AND : SQL_OR;
        must = must && n->op == SQL_AND;
        n->child[0] = make(source, s, sources, depth - 1, nested, must);
        n->child[1] = make(source, s, sources, depth - 1, nested, must);
    } else if (choice == 15 || nested) {
        n->op = SQL_NOT;
        n->child[0] = make(source, s, sources, depth - 1, nested, false);
    } else {
        n->op = choice == 16 ? SQL_IN_QUERY : SQL_EXISTS;
        n->table = draw(source, 2);
        n->child[0] = make(source, s, draw(source, 3) ? 4 | sources : 4, depth - 1, true, true);
    }
    return n;
}

static void put_constant(struct sql_statement *s, int constant)
{
    if (constant == SQL_NULL)
        put(s, "NULL");
    else
        put(s, "%d", constant);
}

static void put_column(struct sql_statement *s, const struct sql_node *n, int which)
{
    put(s, "%s.%c", source_names[n->source[which]], column_names[n->column[which]]);
}

static void put_node(struct sql_statement *s, const struct sql_node *n)
{
    put(s, "(");
    switch (n->op) {
    case SQL_COMPARE:
        put_column(s, n, 0);
        put(s, " %s ", comparisons[n->comparison]);
        put_constant(s, n->constant[0]);
        break;
    case SQL_COLUMNS_EQUAL:
        put_column(s, n, 0);
        put(s, " = ");
        put_column(s, n, 1);
        break;
    case SQL_IN:
        put_column(s, n, 0);
        put(s, " IN (");
        for (int i = 0; i < n->constant_count; i++) {
            put(s, "%s", i ? ", " : "");
            put_constant(s, n->constant[i]);
        }
        put(s, ")");
        break;
    case SQL_BETWEEN:
        put_column(s, n, 0);
        put(s, " BETWEEN ");
        put_constant(s, n->constant[0]);
        put(s, " AND ");
        put_constant(s, n->constant[1]);
        break;
    case SQL_IS_NULL:
        put_column(s, n, 0);
        put(s, n->comparison > 2 ? " IS NOT NULL" : " IS NULL");
        break;
    case SQL_ROW:
        put(s, "(");
        put_column(s, n, 0);
        put(s, ", ");
        put_column(s, n, 1);
        put(s, ") %s (", comparisons[n->comparison]);
        put_constant(s, n->constant[0]);
        put(s, ", ");
        put_constant(s, n->constant[1]);
        put(s, ")");
        break;
    case SQL_DISTINCT:
        put_column(s, n, 0);
        put(s, n->comparison > 2 ? " IS DISTINCT FROM " : " IS NOT DISTINCT FROM ");
        put_constant(s, n->constant[0]);
        break;
    case SQL_AND:
    case SQL_OR:
        put_node(s, n->child[0]);
        put(s, n->op == SQL_AND ? " AND " : " OR ");
        put_node(s, n->child[1]);
        break;
    case SQL_NOT:
        put(s, "NOT ");
        put_node(s, n->child[0]);
        break;
    case SQL_IN_QUERY:
    case SQL_EXISTS:
        if (n->op == SQL_IN_QUERY) {
            put_column(s, n, 0);
            put(s, " IN (SELECT s.%c", column_names[n->column[1]]);
        } else {
            put(s, "EXISTS (SELECT 1");
        }
        put(s, " FROM %s s WHERE ", n->table ? "b" : "a");
        put_node(s, n->child[0]);
        put(s, ")");
        break;
    }
    put(s, ")");
}

static void put_where(struct sql_statement *s, const struct sql_node *node)
{
    if (node) {
        put(s, " WHERE ");
        put_node(s, node);
    }
}

/* r0 in FROM. Conditions inside speak of r0 too. */
static void put_first(struct sql_statement *s)
{
    if (s->wrap == SQL_NESTED) {
        put(s, "(SELECT r0.x, r0.y, z FROM a r0");
        put_where(s, s->inner);
        put(s, ") r0");
    } else {
        put(s, s->wrap == SQL_WITH ? "r0" : s->wrap == SQL_VIEW ? "va r0" : "a r0");
    }
}

static void put_statement(struct sql_statement *s)
{
    static const char *const joins[] = {[SQL_JOIN] = "JOIN",
                                        [SQL_LEFT] = "LEFT JOIN",
                                        [SQL_RIGHT] = "RIGHT JOIN",
                                        [SQL_FULL] = "FULL JOIN"};
    if (s->wrap == SQL_WITH) {
        put(s, "WITH r0 AS (SELECT * FROM a r0");
        put_where(s, s->inner);
        put(s, ") ");
    }
    switch (s->kind) {
    case SQL_SELECT:
    case SQL_UNION:
        put(s, "SELECT r0.x, r0.y, r0.z FROM ");
        put_first(s);
        put_where(s, s->where);
        if (s->kind == SQL_UNION) {
            put(s, " UNION ALL SELECT r1.x, r1.y, r1.z FROM b r1");
            put_where(s, s->second);
        }
        break;
    case SQL_JOIN:
    case SQL_LEFT:
    case SQL_RIGHT:
    case SQL_FULL:
        put(s, "SELECT * FROM ");
        put_first(s);
        put(s, " %s b r1 ON ", joins[s->kind]);
        put_node(s, s->on);
        put_where(s, s->where);
        break;
    case SQL_DELETE:
    case SQL_DELETE_USING:
        put(s, "DELETE FROM a r0%s", s->kind == SQL_DELETE ? "" : " USING b r1");
        put_where(s, s->where);
        break;
    case SQL_UPDATE:
        put(s, "UPDATE a r0 SET %c = ", column_names[s->set_column]);
        if (s->set_from >= 0)
            put(s, "%c", column_names[s->set_from]);
        else
            put_constant(s, s->set_value);
        put_where(s, s->where);
        break;
    case SQL_INSERT:
        put(s, "INSERT INTO a (x, y, z) VALUES ");
        for (int i = 0; i < s->insert_count; i++) {
            put(s, "%s(", i ? ", " : "");
            for (int c = 0; c < SQL_COLUMNS; c++) {
                put(s, "%s", c ? ", " : "");
                put_constant(s, s->inserted[i][c]);
            }
            put(s, ")");
        }
        break;
    case SQL_INSERT_SELECT:
        put(s, "INSERT INTO b (y, x, z) SELECT r0.x, r0.y, 3 FROM ");
        put_first(s);
        put_where(s, s->where);
        break;
    case SQL_KINDS:
        break;
    }
}

void sql_random(struct property_source *source, struct sql_statement *s, bool plain)
{
    s->plain = plain;
    s->node_count = 0;
    s->length = 0;
    s->text[0] = 0;
    s->inner = s->on = s->where = s->second = NULL;
    s->kind = (enum sql_kind)draw(source, SQL_KINDS);
    s->wrap = SQL_PLAIN;
    bool reads = s->kind <= SQL_UNION || s->kind == SQL_INSERT_SELECT;
    bool joins = s->kind >= SQL_JOIN && s->kind <= SQL_FULL;
    if (reads && draw(source, 3) == 2)
        s->wrap = (enum sql_wrap)draw(source, SQL_WRAPS);
    if ((s->wrap == SQL_NESTED || s->wrap == SQL_WITH) && draw(source, 4))
        s->inner = make(source, s, 1, 1, false, true);
    if (joins)
        s->on = make(source, s, 3, 2, false, true);
    if (draw(source, 5))
        s->where = make(source, s, joins || s->kind == SQL_DELETE_USING ? 3 : 1, 3, false, true);
    if (s->kind == SQL_UNION && draw(source, 5))
        s->second = make(source, s, 2, 2, false, true);
    s->set_column = draw(source, SQL_COLUMNS);
    s->set_from = draw(source, 3) == 2 ? draw(source, SQL_COLUMNS) : -1;
    s->set_value = draw(source, 10) == 9 ? SQL_NULL : draw(source, SQL_DOMAIN);
    s->insert_count = 1 + draw(source, 2);
    for (int i = 0; i < 2; i++) {
        for (int c = 0; c < SQL_COLUMNS; c++)
            s->inserted[i][c] = draw(source, 10) == 9 ? SQL_NULL : draw(source, SQL_DOMAIN);
    }
    put_statement(s);
}

/* --- running --- */

enum truth { NO, YES, MAYBE };

struct frame {
    const struct sql_table *tables;
    const int *row[3]; /* NULL: padded with NULLs */
};

static int value_of(const struct frame *f, const struct sql_node *n, int which)
{
    const int *row = f->row[n->source[which]];
    return row ? row[n->column[which]] : SQL_NULL;
}

static enum truth compare(int a, int comparison, int b)
{
    if (a == SQL_NULL || b == SQL_NULL)
        return MAYBE;
    switch (comparison) {
    case 0:
        return a < b ? YES : NO;
    case 1:
        return a <= b ? YES : NO;
    case 2:
        return a == b ? YES : NO;
    case 3:
        return a != b ? YES : NO;
    case 4:
        return a >= b ? YES : NO;
    default:
        return a > b ? YES : NO;
    }
}

static enum truth both(enum truth a, enum truth b)
{
    return a == NO || b == NO ? NO : a == YES && b == YES ? YES : MAYBE;
}

static enum truth either(enum truth a, enum truth b)
{
    return a == YES || b == YES ? YES : a == NO && b == NO ? NO : MAYBE;
}

static enum truth row_compare(int a0, int a1, int comparison, int b0, int b1)
{
    if (comparison == 2)
        return both(compare(a0, 2, b0), compare(a1, 2, b1));
    if (comparison == 3)
        return either(compare(a0, 3, b0), compare(a1, 3, b1));
    if (a0 == SQL_NULL || b0 == SQL_NULL)
        return MAYBE;
    if (a0 != b0)
        return compare(a0, comparison, b0);
    return compare(a1, comparison, b1);
}

static enum truth run(const struct frame *f, const struct sql_node *n)
{
    enum truth t = NO;
    int v = value_of(f, n, 0);
    switch (n->op) {
    case SQL_COMPARE:
        return compare(v, n->comparison, n->constant[0]);
    case SQL_COLUMNS_EQUAL:
        return compare(v, 2, value_of(f, n, 1));
    case SQL_IN:
        for (int i = 0; i < n->constant_count; i++)
            t = either(t, compare(v, 2, n->constant[i]));
        return t;
    case SQL_BETWEEN:
        return both(compare(v, 4, n->constant[0]), compare(v, 1, n->constant[1]));
    case SQL_IS_NULL:
        return (v == SQL_NULL) != (n->comparison > 2) ? YES : NO;
    case SQL_ROW:
        return row_compare(v, value_of(f, n, 1), n->comparison, n->constant[0], n->constant[1]);
    case SQL_DISTINCT:
        return (v == n->constant[0]) != (n->comparison > 2) ? YES : NO;
    case SQL_AND:
        return both(run(f, n->child[0]), run(f, n->child[1]));
    case SQL_OR:
        return either(run(f, n->child[0]), run(f, n->child[1]));
    case SQL_NOT:
        t = run(f, n->child[0]);
        return t == MAYBE ? MAYBE : t == YES ? NO : YES;
    case SQL_IN_QUERY:
    case SQL_EXISTS: {
        struct frame inner = *f;
        const struct sql_table *table = &f->tables[n->table];
        for (int i = 0; i < table->count; i++) {
            inner.row[2] = table->rows[i];
            if (run(&inner, n->child[0]) != YES)
                continue;
            t = n->op == SQL_EXISTS ? YES : either(t, compare(v, 2, table->rows[i][n->column[1]]));
        }
        return t;
    }
    }
    return MAYBE;
}

static bool holds(const struct frame *f, const struct sql_node *node)
{
    return !node || run(f, node) == YES;
}

static unsigned long long mix(unsigned long long h, const int *row)
{
    for (int c = 0; c < SQL_COLUMNS; c++) {
        h ^= (unsigned long long)(row ? row[c] + 2 : 99);
        h *= 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

/* Rows of r0's source. */
static int first_rows(const struct sql_statement *s, const struct sql_table tables[2],
                      const int *out[SQL_ROWS_MAX])
{
    int count = 0;
    for (int i = 0; i < tables[0].count; i++) {
        struct frame f = {.tables = tables, .row = {tables[0].rows[i]}};
        int y = tables[0].rows[i][1];
        if (s->wrap == SQL_VIEW && (y == SQL_NULL || y == 2))
            continue;
        if (holds(&f, s->inner))
            out[count++] = tables[0].rows[i];
    }
    return count;
}

static unsigned long long finish(const struct sql_statement *s, const struct frame *f)
{
    return holds(f, s->where) ? mix(mix(7, f->row[0]), f->row[1]) : 0;
}

unsigned long long sql_run(const struct sql_statement *s, const struct sql_table tables[2])
{
    const int *first[SQL_ROWS_MAX];
    int count = first_rows(s, tables, first);
    unsigned long long sum = 0;
    struct frame f = {.tables = tables};
    bool matched1[SQL_ROWS_MAX] = {false};
    switch (s->kind) {
    case SQL_INSERT:
        return 0;
    case SQL_DELETE_USING:
        for (int i = 0; i < count; i++) {
            f.row[0] = first[i];
            bool hit = false;
            for (int j = 0; j < tables[1].count && !hit; j++) {
                f.row[1] = tables[1].rows[j];
                hit = holds(&f, s->where);
            }
            sum += hit ? mix(7, first[i]) : 0;
        }
        return sum;
    case SQL_JOIN:
    case SQL_LEFT:
    case SQL_RIGHT:
    case SQL_FULL:
        for (int i = 0; i < count; i++) {
            bool matched = false;
            f.row[0] = first[i];
            for (int j = 0; j < tables[1].count; j++) {
                f.row[1] = tables[1].rows[j];
                if (!holds(&f, s->on))
                    continue;
                matched = matched1[j] = true;
                sum += finish(s, &f);
            }
            f.row[1] = NULL;
            if (!matched && (s->kind == SQL_LEFT || s->kind == SQL_FULL))
                sum += finish(s, &f);
        }
        f.row[0] = NULL;
        for (int j = 0; j < tables[1].count; j++) {
            f.row[1] = tables[1].rows[j];
            if (!matched1[j] && (s->kind == SQL_RIGHT || s->kind == SQL_FULL))
                sum += finish(s, &f);
        }
        return sum;
    default:
        for (int i = 0; i < count; i++) {
            f.row[0] = first[i];
            sum += finish(s, &f);
        }
        for (int j = 0; s->kind == SQL_UNION && j < tables[1].count; j++) {
            f.row[1] = tables[1].rows[j];
            if (holds(&f, s->second))
                sum += mix(13, f.row[1]);
        }
        return sum;
    }
}

int sql_new_rows(const struct sql_statement *s, const struct sql_table tables[2],
                 int (*out)[SQL_COLUMNS], int most, int *table)
{
    const int *first[SQL_ROWS_MAX];
    int count = first_rows(s, tables, first), made = 0;
    *table = 0;
    if (s->kind == SQL_INSERT) {
        for (; made < s->insert_count && made < most; made++)
            memcpy(out[made], s->inserted[made], sizeof out[made]);
        return made;
    }
    if (s->kind != SQL_UPDATE && s->kind != SQL_INSERT_SELECT)
        return 0;
    for (int i = 0; i < count && made < most; i++) {
        struct frame f = {.tables = tables, .row = {first[i]}};
        if (!holds(&f, s->where))
            continue;
        if (s->kind == SQL_UPDATE) {
            memcpy(out[made], first[i], sizeof out[made]);
            out[made][s->set_column] = s->set_from >= 0 ? first[i][s->set_from] : s->set_value;
        } else {
            *table = 1;
            out[made][0] = first[i][1];
            out[made][1] = first[i][0];
            out[made][2] = 3;
        }
        made++;
    }
    return made;
}

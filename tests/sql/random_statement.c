#include "random_statement.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const statement_ddl =
    "CREATE TABLE t0 (a int, b int, s text, n numeric(4,1), d date, ok boolean, UNIQUE (a, b));"
    "CREATE TABLE t1 (a int, b int, s varchar(5), n numeric, d timestamp, ok boolean);"
    "CREATE TABLE t2 (a bigint, b int REFERENCES t0 (a), s char(4), n real, d date, ok boolean);"
    "CREATE VIEW v0 AS SELECT a, b, s FROM t0 WHERE b <> 2;"
    "CREATE VIEW v1 AS SELECT x.a, y.b, x.s FROM t0 x LEFT JOIN t1 y ON x.a = y.a;";

struct writer {
    struct property_source *source;
    struct random_statement *out;
    size_t length[2];
    bool full;
    int aliases, ctes, cte_shape;
};

struct source {
    char alias[12];
    int table; /* or -1: a query, columns a, b, s only */
};

struct level {
    const struct level *outer;
    struct source sources[6];
    int count;
};

static int draw(struct writer *w, int bound)
{
    return (int)property_draw(w->source, (uint64_t)bound);
}

static void put_both(struct writer *w, const char *first, const char *second)
{
    const char *texts[2] = {first, second};
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(texts[i]);
        if (w->length[i] + n + 1 > STATEMENT_SIZE) {
            w->full = true;
            return;
        }
        memcpy(w->out->text[i] + w->length[i], texts[i], n + 1);
        w->length[i] += n;
    }
}

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_both(w, text, text);
}

/* Column kinds, by index. */
static const char *const names[] = {"a", "b", "s", "n", "d", "ok"};
static const char *const texts[] = {"'a'",  "'ab'", "'abc'", "'b'", "''",
                                    "'Ab'", "'a_'", "'ab '", "'z'"};
static const char *const dates[] = {"'2020-01-01'", "'2020-01-02'", "'2020-02-29'", "'2021-06-30'"};
static const char *const moments[] = {"'2020-01-01 00:00:00'", "'2020-01-01 12:30:00'",
                                      "'2020-02-29 00:00:00'", "'2021-06-30 23:59:59.5'"};
static const char *const numbers[] = {"0", "0.5", "1", "1.5", "2.0", "3.50", "1e0", "00.50"};

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* Two constants of one lexical form for a column. */
static void constant(struct writer *w, int column)
{
    char text[2][32];
    bool quoted = draw(w, 6) == 5, null = draw(w, 24) == 23, typed = draw(w, 6) == 5;
    if (null) {
        put(w, "NULL");
        return;
    }
    for (int i = 0; i < 2; i++) {
        switch (column) {
        case 0:
        case 1:
            snprintf(text[i], sizeof text[i], quoted ? "'%d'" : "%d", draw(w, 3));
            break;
        case 2:
            strcpy(text[i], texts[draw(w, COUNT(texts))]);
            break;
        case 3:
            strcpy(text[i], numbers[draw(w, COUNT(numbers))]);
            break;
        case 4:
            strcpy(text[i],
                   quoted ? moments[draw(w, COUNT(moments))] : dates[draw(w, COUNT(dates))]);
            break;
        default:
            strcpy(text[i], draw(w, 2) ? "'t'" : "'no'");
        }
    }
    put_both(w, text[0], text[1]);
    if (typed && column == 4)
        put(w, quoted ? "::timestamp" : "::date");
    if (typed && column < 2)
        put(w, "::int");
    if (typed && column == 2)
        put(w, "::text");
    if (!typed && column < 2 && !quoted && draw(w, 8) == 7)
        put(w, draw(w, 2) ? " + 1" : " - 2");
}

void statement_value(struct property_source *source, int table, int column, char *text)
{
    if (property_draw(source, 8) == 7) {
        strcpy(text, "NULL");
        return;
    }
    switch (column) {
    case 0:
    case 1:
        sprintf(text, "%d", (int)property_draw(source, 3));
        break;
    case 2:
        strcpy(text, texts[property_draw(source, (uint64_t)COUNT(texts))]);
        break;
    case 3:
        strcpy(text, numbers[property_draw(source, (uint64_t)COUNT(numbers))]);
        break;
    case 4:
        strcpy(text, table == 1 ? moments[property_draw(source, (uint64_t)COUNT(moments))]
                                : dates[property_draw(source, (uint64_t)COUNT(dates))]);
        break;
    default:
        strcpy(text, property_draw(source, 2) ? "true" : "false");
    }
}

static void condition(struct writer *w, const struct level *level, int depth);
static void query(struct writer *w, const struct level *outer, int depth);

/* "alias.column" of a kind of column, from this level or (sometimes) one further out. */
static void column_of(struct writer *w, const struct level *level, int column)
{
    while (level->outer && level->outer->count > 0 && (level->count == 0 || draw(w, 6) == 5))
        level = level->outer;
    if (level->count == 0) {
        put(w, "NULL");
        return;
    }
    const struct source *source = &level->sources[draw(w, level->count)];
    for (int i = 0; column > 2 && i < level->count; i++) {
        if (source->table < 0)
            source = &level->sources[i];
    }
    if (source->table < 0 && column > 2)
        column = column == 3 ? 0 : 2; /* kinds still fit: a number, a text */
    put(w, "%s.%s", source->alias, names[column]);
}

static void list_of(struct writer *w, int column)
{
    int count = 1 + draw(w, 4);
    for (int i = 0; i < count; i++) {
        put(w, i ? ", " : "");
        constant(w, column);
    }
}

static int comparable(struct writer *w, const struct level *level)
{
    for (int i = 0; i < level->count; i++) {
        if (level->sources[i].table >= 0)
            return draw(w, 5);
    }
    return draw(w, 3);
}

static void comparison(struct writer *w, const struct level *level, int depth)
{
    static const char *const operators[] = {"=", "=", "=", "<", "<=", ">", ">=", "<>", "<>", ">="};
    int column = comparable(w, level);
    const char *op = operators[draw(w, COUNT(operators))];
    switch (draw(w, 26)) {
    default:
        column_of(w, level, column);
        put(w, " %s ", op);
        constant(w, column);
        break;
    case 5:
        constant(w, column);
        put(w, " %s ", op);
        column_of(w, level, column);
        break;
    case 6:
    case 7:
    case 8:
        column = draw(w, 3);
        column_of(w, level, column);
        put(w, " %s ", draw(w, 4) ? "=" : op);
        column_of(w, level, column);
        break;
    case 9:
        column_of(w, level, column);
        put(w, draw(w, 4) ? " IN (" : " NOT IN (");
        list_of(w, column);
        put(w, ")");
        break;
    case 10:
        column_of(w, level, column);
        put(w, draw(w, 4) ? " BETWEEN %s" : " NOT BETWEEN %s", draw(w, 3) ? "" : "SYMMETRIC ");
        constant(w, column);
        put(w, " AND ");
        constant(w, column);
        break;
    case 11:
    case 22:
    case 23:
    case 24:
        column_of(w, level, draw(w, 3));
        put(w, draw(w, 2) ? " IS NULL" : " IS NOT NULL");
        break;
    case 12: {
        static const char *const patterns[] = {"'a%'", "'ab'", "'%b'", "'a\\_%'", "'a_c'", "''"};
        column_of(w, level, 2);
        put(w, draw(w, 4) ? " LIKE " : " NOT LIKE ");
        put_both(w, patterns[draw(w, COUNT(patterns))], patterns[draw(w, COUNT(patterns))]);
        break;
    }
    case 13:
        put(w, "(");
        column_of(w, level, 0);
        put(w, ", ");
        column_of(w, level, 1);
        if (draw(w, 2)) {
            put(w, ") IN ((");
            list_of(w, 0);
            /* a row of two: the list above may be longer, then the server refuses it */
            put(w, ", ");
            constant(w, 1);
            put(w, "))");
        } else {
            put(w, ") %s (", op);
            constant(w, 0);
            put(w, ", ");
            constant(w, 1);
            put(w, ")");
        }
        break;
    case 14:
        column_of(w, level, column);
        put(w, draw(w, 2) ? " IS DISTINCT FROM " : " IS NOT DISTINCT FROM ");
        if (draw(w, 2))
            constant(w, column);
        else
            column_of(w, level, column);
        break;
    case 15:
        column_of(w, level, 0);
        if (draw(w, 2))
            put_both(w, " = ANY('{1,2,NULL}')", " = ANY('{0,3}')");
        else
            put_both(w, " <> ALL(ARRAY[1, 2])", " <> ALL(ARRAY[0, 3])");
        break;
    case 16:
        if (level->count && level->sources[0].table >= 0)
            put(w, "%s.ok%s", level->sources[0].alias,
                draw(w, 3)   ? ""
                : draw(w, 2) ? " IS NOT TRUE"
                             : " IS UNKNOWN");
        else
            put(w, "true");
        break;
    case 17:
        put_both(w, "1", "2");
        put(w, " %s ", op);
        put_both(w, "2", "2");
        break;
    case 18:
        if (depth > 0) {
            put(w, draw(w, 3) ? "EXISTS (" : "NOT EXISTS (");
            query(w, level, depth - 1);
            put(w, ")");
            break;
        }
        /* fall through */
    case 19:
        if (depth > 0) {
            column_of(w, level, 0);
            put(w, draw(w, 3) ? " IN (SELECT a FROM (" : " NOT IN (SELECT b FROM (");
            query(w, level, depth - 1);
            put(w, ") q%d)", w->aliases++);
            break;
        }
        /* fall through */
    case 20:
        if (depth > 0) {
            column_of(w, level, 0);
            put(w, " = (SELECT %s(a) FROM (", draw(w, 2) ? "max" : "count");
            query(w, level, depth - 1);
            put(w, ") q%d)", w->aliases++);
            break;
        }
        /* fall through */
    case 21:
        put(w, "CASE WHEN ");
        column_of(w, level, 0);
        put(w, " = ");
        constant(w, 0);
        put(w, " THEN ");
        column_of(w, level, 1);
        put(w, " = ");
        constant(w, 1);
        put(w, " ELSE ");
        column_of(w, level, 2);
        put(w, " > ");
        constant(w, 2);
        put(w, " END");
        break;
    }
}

static void condition(struct writer *w, const struct level *level, int depth)
{
    switch (depth > 0 ? draw(w, 8) : 0) {
    default:
        comparison(w, level, depth);
        break;
    case 4:
    case 5:
        put(w, "(");
        condition(w, level, depth - 1);
        put(w, " AND ");
        condition(w, level, depth - 1);
        put(w, ")");
        break;
    case 6:
    case 3:
        put(w, "(");
        condition(w, level, depth - 1);
        put(w, " OR ");
        condition(w, level, depth - 1);
        put(w, ")");
        break;
    case 7:
        put(w, "NOT (");
        condition(w, level, depth - 1);
        put(w, ")");
        break;
    }
}

/* Adds a table or a query to the level. */
static void source(struct writer *w, struct level *level, int depth)
{
    struct source *made = &level->sources[level->count];
    snprintf(made->alias, sizeof made->alias, "x%d", w->aliases++);
    made->table = -1;
    switch (draw(w, depth > 0 ? 10 : 6)) {
    default:
        made->table = draw(w, STATEMENT_TABLES);
        put(w, "t%d %s", made->table, made->alias);
        break;
    case 4:
        put(w, "v%d %s", draw(w, 2), made->alias);
        break;
    case 5:
        if (w->ctes > 0) {
            put(w, "w%d %s", draw(w, w->ctes), made->alias);
        } else {
            put(w, "(VALUES (");
            constant(w, 0);
            put(w, ", ");
            constant(w, 1);
            put(w, ", 'a'), (1, 2, 'ab')) %s (a, b, s)", made->alias);
        }
        break;
    case 6:
    case 7: {
        const struct level closed = {.outer = level->outer};
        put(w, "(");
        query(w, closed.outer ? closed.outer : &closed, depth - 1);
        put(w, ") %s", made->alias);
        break;
    }
    case 8:
        put(w, "LATERAL (");
        query(w, level, depth - 1);
        put(w, ") %s", made->alias);
        break;
    case 9:
        put(w, "(SELECT a, count(*)::int AS b, min(s) AS s FROM (");
        query(w, level->outer ? level->outer : &(struct level){.outer = NULL}, depth - 1);
        put(w, ") q%d GROUP BY a) %s", w->aliases++, made->alias);
        break;
    }
    level->count++;
}

static void from(struct writer *w, struct level *level, int depth)
{
    static const char *const joins[] = {" JOIN ",      " LEFT JOIN ", " RIGHT JOIN ",
                                        " FULL JOIN ", " LEFT JOIN ", " LEFT JOIN "};
    int count = 1 + (draw(w, 3) ? draw(w, 3) : 0);
    source(w, level, depth);
    for (int i = 1; i < count; i++) {
        int kind = draw(w, COUNT(joins) + 2);
        if (kind >= COUNT(joins)) {
            put(w, kind == COUNT(joins) ? ", " : " CROSS JOIN ");
            source(w, level, depth);
            continue;
        }
        put(w, "%s", joins[kind]);
        source(w, level, depth);
        if (draw(w, 6) == 5) {
            put(w, " USING (%s)", draw(w, 2) ? "a" : "a, b");
            continue;
        }
        put(w, " ON ");
        if (draw(w, 4))
            put(w, "%s.a = %s.a%s", level->sources[i - 1].alias, level->sources[i].alias,
                draw(w, 2) ? " AND " : "");
        else
            put(w, "true AND ");
        if (strcmp(w->out->text[0] + w->length[0] - 5, " AND ") == 0)
            condition(w, level, depth > 1 ? 1 : depth);
    }
}

static void select_one(struct writer *w, const struct level *outer, int depth)
{
    struct level level = {.outer = outer};
    size_t starts[2] = {w->length[0], w->length[1]};
    char head[256];
    /* FROM first, as the outputs name its sources; then the outputs are put before it. */
    put(w, " FROM ");
    from(w, &level, depth);
    if (draw(w, 3)) {
        put(w, " WHERE ");
        condition(w, &level, draw(w, depth + 1));
    }
    const char *x = level.sources[draw(w, level.count)].alias;
    const char *y = level.sources[draw(w, level.count)].alias;
    switch (draw(w, 8)) {
    default:
        snprintf(head, sizeof head, "SELECT%s %s.a, %s.b, %s.s", draw(w, 5) ? "" : " DISTINCT", x,
                 y, x);
        break;
    case 5:
        snprintf(head, sizeof head, "SELECT %s.a AS a, 3 AS b, %s.s AS s", x, y);
        break;
    case 6:
        snprintf(head, sizeof head,
                 "SELECT %s.b AS a, (rank() OVER (ORDER BY %s.a))::int AS b, %s.s AS s", x, y, x);
        break;
    case 7:
        snprintf(head, sizeof head, "SELECT count(*)::int AS a, max(%s.b) AS b, min(%s.s) AS s", x,
                 y);
        break;
    }
    size_t n = strlen(head);
    for (int i = 0; i < 2; i++) {
        if (w->length[i] + n + 1 > STATEMENT_SIZE) {
            w->full = true;
            return;
        }
        memmove(w->out->text[i] + starts[i] + n, w->out->text[i] + starts[i],
                w->length[i] - starts[i] + 1);
        memcpy(w->out->text[i] + starts[i], head, n);
        w->length[i] += n;
    }
}

static void query(struct writer *w, const struct level *outer, int depth)
{
    static const char *const sets[] = {" UNION ALL ", " UNION ", " INTERSECT ", " EXCEPT "};
    if (w->full)
        return;
    bool set = depth > 0 && draw(w, 6) == 5;
    select_one(w, outer, depth);
    if (set) {
        put(w, "%s", sets[draw(w, COUNT(sets))]);
        select_one(w, outer, depth);
    }
    if (draw(w, 8) == 7)
        put(w, " ORDER BY 1, 2, 3 LIMIT 2");
}

static void assignments(struct writer *w, const struct level *level)
{
    put(w, " SET %s = ", draw(w, 2) ? "a" : "b");
    if (draw(w, 2))
        constant(w, 0);
    else
        put(w, "%s.a + 1", level->sources[0].alias);
    put(w, ", s = ");
    constant(w, 2);
}

static void change(struct writer *w, int depth)
{
    static const struct level none = {.outer = NULL};
    struct level level = {.outer = NULL};
    int table = draw(w, STATEMENT_TABLES);
    int kind = draw(w, 7);
    struct source *target = &level.sources[0];
    w->out->change = true;
    snprintf(target->alias, sizeof target->alias, "y%d", w->aliases++);
    target->table = table;
    level.count = 1;
    switch (kind) {
    case 0:
    case 1:
        put(w, "UPDATE t%d %s", table, target->alias);
        assignments(w, &level);
        if (draw(w, 3) == 2) {
            put(w, " FROM ");
            struct level inner = {.outer = NULL};
            from(w, &inner, depth);
            for (int i = 0; i < inner.count; i++)
                level.sources[level.count++] = inner.sources[i];
        }
        put(w, " WHERE ");
        condition(w, &level, depth + 1);
        break;
    case 2:
        put(w, "DELETE FROM t%d %s", table, target->alias);
        if (draw(w, 3) == 2) {
            put(w, " USING ");
            struct level inner = {.outer = NULL};
            from(w, &inner, depth);
            for (int i = 0; i < inner.count; i++)
                level.sources[level.count++] = inner.sources[i];
        }
        put(w, " WHERE ");
        condition(w, &level, depth + 1);
        break;
    case 3:
    case 4:
        put(w, "INSERT INTO t%d (a, b, s, d) VALUES ", table);
        for (int i = 0, rows = 1 + draw(w, 3); i < rows; i++) {
            put(w, "%s(", i ? ", " : "");
            for (int c = 0; c < 3; c++) {
                constant(w, c);
                put(w, ", ");
            }
            constant(w, 4);
            put(w, ")");
        }
        break;
    case 5:
        put(w, "INSERT INTO t%d (a, b, s) ", table);
        query(w, &none, depth);
        break;
    default:
        put(w, "MERGE INTO t%d %s USING (", table, target->alias);
        query(w, &none, depth > 0 ? depth - 1 : 0);
        put(w, ") z ON %s.a = z.a AND ", target->alias);
        condition(w, &level, 1);
        put(w, " WHEN MATCHED THEN ");
        if (draw(w, 2))
            put(w, "DELETE");
        else
            put(w, "UPDATE SET b = 1");
        put(w, " WHEN NOT MATCHED THEN INSERT (a, b, s) VALUES (z.a, %s, z.s)",
            draw(w, 2) ? "z.b" : "4");
        return;
    }
    if ((kind == 3 || kind == 4 || kind == 5) && table == 0) {
        static const char *const conflicts[] = {"", " ON CONFLICT DO NOTHING",
                                                " ON CONFLICT (a, b) DO NOTHING",
                                                " ON CONFLICT (b, a) DO UPDATE SET s = excluded.s",
                                                " ON CONFLICT (a, b) DO UPDATE SET s = 'z', b = 3"};
        put(w, "%s", conflicts[draw(w, COUNT(conflicts))]);
    }
}

bool statement_draw(struct property_source *source, struct random_statement *out)
{
    struct writer w = {.source = source, .out = out};
    static const struct level none = {.outer = NULL};
    out->text[0][0] = out->text[1][0] = 0;
    out->change = false;
    int depth = draw(&w, 4);
    bool with = draw(&w, 4) == 3;
    if (with) {
        put(&w, "WITH ");
        for (int i = 0, count = 1 + draw(&w, 2); i < count; i++) {
            put(&w, "%sw%d AS %s(", i ? ", " : "", i, draw(&w, 6) == 5 ? "MATERIALIZED " : "");
            if (draw(&w, 5) == 4) {
                change(&w, depth > 0 ? 1 : 0);
                put(&w, " RETURNING a, b, s");
            } else {
                query(&w, &none, depth > 0 ? depth - 1 : 0);
            }
            put(&w, ")");
            w.ctes++;
        }
        put(&w, " ");
    }
    if (draw(&w, 3) == 2)
        change(&w, depth > 1 ? 1 : depth);
    else
        query(&w, &none, depth);
    return !w.full;
}

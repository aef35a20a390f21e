/* Whatever a statement's answer or effect depends on lies in its accesses: against a PostgreSQL.
 *
 * For random rows and a random statement: run it, then run it again with each row missing in turn.
 * When the answer (or what the statement leaves in the tables, that row aside) differs, the row is
 * one the statement touches, and must lie in a box of an access to its table. Rows that the
 * statement changes or removes must lie in a writing access; rows it adds, in an inserting (or,
 * when a key moved, writing) one. Nothing of how the analyzer works is repeated here.
 *
 * usage: touch_test CONNECTION (touch_test.sh starts a server) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "describe.h"
#include "random_statement.h"

enum { ROWS = 4, ROWS_MAX = 1500, LINES_MAX = 4096 };

static const char *const columns = "a, b, s, n, d, ok";

struct world {
    PGconn *connection;
    struct cleave_schema *schema;
    struct cleave_analyzer *analyzer;
    unsigned run, refused, touched, changed;
};

/* A row of a table, its columns as text (NULL: SQL's NULL). */
struct row {
    int table, id; /* id 0: made by the statement */
    char *values[STATEMENT_COLUMNS];
};

struct rows {
    struct row items[ROWS_MAX];
    int count;
};

static bool command(struct world *w, const char *sql)
{
    PGresult *result = PQexec(w->connection, sql);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static void free_rows(struct rows *rows)
{
    for (int i = 0; i < rows->count; i++) {
        for (int c = 0; c < STATEMENT_COLUMNS; c++)
            free(rows->items[i].values[c]);
    }
    rows->count = 0;
}

static bool read_rows(struct world *w, struct rows *rows)
{
    rows->count = 0;
    for (int t = 0; t < STATEMENT_TABLES; t++) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT rid, %s FROM t%d ORDER BY rid, a, b, s", columns, t);
        PGresult *result = PQexec(w->connection, sql);
        if (PQresultStatus(result) != PGRES_TUPLES_OK) {
            PQclear(result);
            return false;
        }
        if (rows->count + PQntuples(result) > ROWS_MAX) {
            PQclear(result);
            return false; /* as if refused */
        }
        for (int i = 0; i < PQntuples(result); i++) {
            struct row *row = &rows->items[rows->count++];
            row->table = t;
            row->id = atoi(PQgetvalue(result, i, 0));
            if (row->id > ROWS * STATEMENT_TABLES)
                row->id = 0;
            for (int c = 0; c < STATEMENT_COLUMNS; c++)
                row->values[c] =
                    PQgetisnull(result, i, c + 1) ? NULL : strdup(PQgetvalue(result, i, c + 1));
        }
        PQclear(result);
    }
    return true;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What running the statement answers and leaves behind, without the row `missing`; malloc'd, or
 * NULL when the server refuses it. */
static char *effect(struct world *w, const struct random_statement *statement, int missing,
                    struct rows *after)
{
    char *lines[LINES_MAX];
    int count = 0;
    PGresult *result = PQexec(w->connection, statement->text[1]);
    ExecStatusType status = PQresultStatus(result);
    bool fine = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
    if (!fine && getenv("TOUCH_VERBOSE"))
        fprintf(stderr, "%s: %s\n", PQerrorMessage(w->connection), statement->text[1]);
    for (int i = 0; fine && i < PQntuples(result) && count < LINES_MAX; i++) {
        char line[512] = "answer";
        for (int c = 0; c < PQnfields(result); c++) {
            size_t n = strlen(line);
            snprintf(line + n, sizeof line - n, "|%s",
                     PQgetisnull(result, i, c) ? "\\N" : PQgetvalue(result, i, c));
        }
        lines[count++] = strdup(line);
    }
    PQclear(result);
    if (fine && statement->change) {
        struct rows rows = {.count = 0};
        fine = read_rows(w, &rows);
        if (!fine)
            free_rows(&rows);
        for (int i = 0; fine && i < rows.count && count < LINES_MAX; i++) {
            const struct row *row = &rows.items[i];
            if (row->id == missing && missing)
                continue;
            char line[512];
            snprintf(line, sizeof line, "t%d|%d", row->table, row->id);
            for (int c = 0; c < STATEMENT_COLUMNS; c++) {
                size_t n = strlen(line);
                snprintf(line + n, sizeof line - n, "|%s", row->values[c] ? row->values[c] : "\\N");
            }
            lines[count++] = strdup(line);
        }
        if (after)
            *after = rows;
        else
            free_rows(&rows);
    }
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    size_t size = 1;
    for (int i = 0; i < count; i++)
        size += strlen(lines[i]) + 1;
    char *text = malloc(size), *p = text;
    *p = 0;
    for (int i = 0; i < count; i++) {
        p = stpcpy(stpcpy(p, lines[i]), "\n");
        free(lines[i]);
    }
    if (!fine) {
        free(text);
        return NULL;
    }
    return text;
}

enum wanted { ANY_ACCESS, WRITING, ADDING };

static bool holds(const struct world *w, const struct cleave_box *box, const struct row *row)
{
    const struct cleave_table *table = &w->schema->tables[row->table];
    for (uint32_t t = 0; t < box->term_count; t++) {
        const struct cleave_term *term = &box->terms[t];
        struct cleave_arena arena = {0};
        struct cleave_value value = {.kind = CLEAVE_NULL};
        const char *text = row->values[term->column];
        bool in = false;
        if (text && cleave__value_parse(table->columns[term->column].type, text, strlen(text),
                                        &arena, &value))
            abort();
        for (uint32_t r = 0; r < term->range_count; r++)
            in |= cleave__range_contains(&term->ranges[r], &value);
        cleave__arena_free(&arena);
        if (!in)
            return false;
    }
    return true;
}

static bool is_covered(const struct world *w, const struct cleave_statement *statement,
                       const struct row *row, enum wanted wanted)
{
    for (uint32_t i = 0; i < statement->access_count; i++) {
        const struct cleave_access *access = &statement->accesses[i];
        if (access->table != (uint32_t)row->table || (wanted != ANY_ACCESS && !access->write) ||
            (wanted == WRITING && access->insert))
            continue;
        for (uint32_t b = 0; b < access->box_count; b++) {
            if (holds(w, &access->boxes[b], row))
                return true;
        }
    }
    return false;
}

static bool same_values(const struct row *a, const struct row *b)
{
    for (int c = 0; c < STATEMENT_COLUMNS; c++) {
        if (!a->values[c] != !b->values[c] || (a->values[c] && strcmp(a->values[c], b->values[c])))
            return false;
    }
    return true;
}

static const struct row *find(const struct rows *rows, int id)
{
    for (int i = 0; i < rows->count; i++) {
        if (rows->items[i].id == id)
            return &rows->items[i];
    }
    return NULL;
}

static void print_row(const struct row *row)
{
    printf("  t%d:", row->table);
    for (int c = 0; c < STATEMENT_COLUMNS; c++)
        printf(" %s", row->values[c] ? row->values[c] : "NULL");
    printf("\n");
}

/* Rows that the statement changed, removed or added. */
static bool changes_are_covered(struct world *w, const struct cleave_statement *statement,
                                const struct rows *before, const struct rows *after, bool verbose)
{
    bool fine = true;
    for (int i = 0; i < before->count; i++) {
        const struct row *old = &before->items[i], *new = find(after, old->id);
        if (new &&same_values(old, new))
            continue;
        w->changed++;
        bool covered = is_covered(w, statement, old, WRITING);
        /* Where it went matters when a key moved. */
        bool moved = false;
        for (int c = 0; new &&c < 2; c++) {
            if (w->schema->tables[old->table].foreign_count || old->table == 0)
                moved |= !old->values[c] != !new->values[c] ||
                         (old->values[c] && strcmp(old->values[c], new->values[c]));
        }
        if (old->table == 2)
            moved = new && (!old->values[1] != !new->values[1] ||
                            (old->values[1] && strcmp(old->values[1], new->values[1])));
        if (moved)
            covered &= is_covered(w, statement, new, ADDING);
        if (!covered && verbose) {
            printf("changed, not in a writing access:\n");
            print_row(old);
            if (new)
                print_row(new);
        }
        fine &= covered;
    }
    for (int i = 0; i < after->count; i++) {
        const struct row *new = &after->items[i];
        if (new->id != 0)
            continue;
        w->changed++;
        if (!is_covered(w, statement, new, ADDING)) {
            fine = false;
            if (verbose) {
                printf("added, not in an inserting access:\n");
                print_row(new);
            }
        }
    }
    return fine;
}

static void load(struct world *w, struct property_source *source)
{
    command(w, "BEGIN");
    int id = 1;
    for (int t = 0; t < STATEMENT_TABLES; t++) {
        for (int r = 0; r < ROWS; r++, id++) {
            char sql[512], value[64];
            int n =
                snprintf(sql, sizeof sql, "INSERT INTO t%d (rid, %s) VALUES (%d", t, columns, id);
            for (int c = 0; c < STATEMENT_COLUMNS; c++) {
                statement_value(source, t, c, value);
                n += snprintf(sql + n, sizeof sql - (size_t)n, ", %s", value);
            }
            snprintf(sql + n, sizeof sql - (size_t)n, ") ON CONFLICT DO NOTHING");
            command(w, sql);
        }
    }
    command(w, "SAVEPOINT filled");
}

static bool touches(struct property_source *source, void *context)
{
    struct world *w = context;
    static struct random_statement statement;
    struct cleave_statement first, accesses;
    struct cleave_arena arena = {0};
    struct cleave_error error;
    if (!statement_draw(source, &statement))
        return true;
    load(w, source);
    struct rows before = {.count = 0}, after = {.count = 0};
    bool fine = read_rows(w, &before);
    char *whole = fine ? effect(w, &statement, 0, &after) : NULL;
    command(w, "ROLLBACK TO filled");
    bool parsed = cleave__analyze(w->analyzer, statement.text[0], strlen(statement.text[0]), NULL,
                                  0, &arena, &first, &error) == CLEAVE_OK;
    parsed = parsed && cleave__analyze(w->analyzer, statement.text[1], strlen(statement.text[1]),
                                       NULL, 0, &arena, &accesses, &error) == CLEAVE_OK;
    if (!whole) {
        w->refused++; /* by the server: kinds that do not compare, keys that collide */
    } else if (!parsed || first.template_id != accesses.template_id) {
        fine = false;
        printf("not analysed, or as two templates: %s\n%s\n", parsed ? "" : error.message,
               statement.text[1]);
    } else {
        w->run++;
        if (statement.change)
            fine = changes_are_covered(w, &accesses, &before, &after, source->verbose);
        for (int i = 0; i < before.count; i++) {
            const struct row *row = &before.items[i];
            char sql[64];
            snprintf(sql, sizeof sql, "DELETE FROM t%d WHERE rid = %d", row->table, row->id);
            command(w, sql);
            char *without = effect(w, &statement, row->id, NULL);
            /* The same, less the row's own line. */
            char *with = NULL;
            command(w, "ROLLBACK TO filled");
            if (statement.change)
                with = effect(w, &statement, row->id, NULL);
            command(w, "ROLLBACK TO filled");
            if (without && strcmp(without, with ? with : whole) != 0) {
                w->touched++;
                if (!is_covered(w, &accesses, row, ANY_ACCESS)) {
                    fine = false;
                    if (source->verbose) {
                        printf("touched, not in an access:\n");
                        print_row(row);
                    }
                }
            }
            free(with);
            free(without);
        }
        if (!fine && source->verbose) {
            char text[8192];
            describe_statement(w->schema, &accesses, text, sizeof text);
            printf("%s\n  first seen as %s\n  %s\n", statement.text[1], statement.text[0], text);
            for (int i = 0; i < before.count; i++)
                print_row(&before.items[i]);
        }
    }
    free(whole);
    free_rows(&before);
    free_rows(&after);
    command(w, "ROLLBACK");
    cleave__arena_free(&arena);
    return fine;
}

int main(int argc, char **argv)
{
    struct world w = {.connection = PQconnectdb(argc > 1 ? argv[1] : "")};
    struct cleave_error error;
    if (PQstatus(w.connection) != CONNECTION_OK) {
        fprintf(stderr, "touch: %s", PQerrorMessage(w.connection));
        return 1;
    }
    if (!command(&w,
                 "SET client_min_messages = error;"
                 "CREATE SEQUENCE ids START 100;"
                 "CREATE TABLE t0 (rid int DEFAULT nextval('ids'), a int, b int, s text,"
                 " n numeric(4,1), d date, ok boolean, UNIQUE (a, b));"
                 "CREATE TABLE t1 (rid int DEFAULT nextval('ids'), a int, b int, s varchar(5),"
                 " n numeric, d timestamp, ok boolean);"
                 "CREATE TABLE t2 (rid int DEFAULT nextval('ids'), a bigint, b int, s char(4),"
                 " n real, d date, ok boolean);"
                 "CREATE VIEW v0 AS SELECT a, b, s FROM t0 WHERE b <> 2;"
                 "CREATE VIEW v1 AS SELECT x.a, y.b, x.s FROM t0 x LEFT JOIN t1 y ON x.a = y.a;") ||
        cleave__schema_parse_ddl(statement_ddl, strlen(statement_ddl), "tables", &w.schema,
                                 &error) ||
        cleave__analyzer_new(w.schema, &w.analyzer, &error)) {
        fprintf(stderr, "touch: cannot make the tables: %s\n", PQerrorMessage(w.connection));
        return 1;
    }
    bool fine = property_run("touched rows", touches, &w, 600);
    printf("%u statements run, %u refused by the server, %u rows touched, %u changed\n", w.run,
           w.refused, w.touched, w.changed);
    printf("%d passed, %d failed\n", fine, !fine);
    cleave__analyzer_free(w.analyzer);
    cleave__schema_free(w.schema);
    PQfinish(w.connection);
    return !fine;
}

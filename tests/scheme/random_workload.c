/* See random_workload.h. */
#include "scheme/random_workload.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 12, TEXT = 4096 };

struct text {
    char bytes[TEXT];
    size_t length;
};

static void say(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->bytes + text->length, TEXT - text->length, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= TEXT - text->length)
        abort();
    text->length += (size_t)length;
}

void random_workload_key(enum random_key kind, uint64_t n, char *buffer, size_t size)
{
    switch (kind) {
    case RANDOM_TEXT:
        snprintf(buffer, size, "k%" PRIu64 "''é", n);
        break;
    case RANDOM_UUID:
        snprintf(buffer, size, "00000000-0000-4000-8000-%012" PRIu64, n * 7919);
        break;
    case RANDOM_TIMESTAMP:
        snprintf(buffer, size, "2024-01-%02" PRIu64 " 10:00:00", n % 28 + 1);
        break;
    default:
        snprintf(buffer, size, "%" PRId64, (int64_t)n - 2);
    }
}

static void key(const struct random_workload *w, struct text *text, uint64_t n)
{
    char value[80];
    random_workload_key(w->key, n, value, sizeof value);
    say(text, w->key == RANDOM_INTEGER ? "%s" : "'%s'", value);
}

static void draw_key(struct property_source *source, const struct random_workload *w,
                     struct text *text)
{
    key(w, text, property_draw(source, VALUES));
}

static void condition(struct property_source *source, const struct random_workload *w,
                      const char *column, struct text *text)
{
    uint64_t low = property_draw(source, VALUES);
    if (w->ranges && property_draw(source, 3)) {
        say(text, "%s BETWEEN ", column);
        key(w, text, low);
        say(text, " AND ");
        key(w, text, low + property_draw(source, 4));
        return;
    }
    switch (property_draw(source, 8)) {
    case 6:
        say(text, "%s IN (", column);
        key(w, text, low);
        say(text, ", ");
        draw_key(source, w, text);
        say(text, ")");
        break;
    case 7:
        say(text, "%s > ", column);
        key(w, text, low);
        break;
    default:
        say(text, "%s = ", column);
        key(w, text, low);
    }
}

static void read_statement(struct property_source *source, const struct random_workload *w,
                           struct text *text)
{
    switch (property_draw(source, 8)) {
    case 0:
        say(text, "SELECT * FROM account WHERE ");
        condition(source, w, "id", text);
        break;
    case 1:
        say(text, "SELECT * FROM visit WHERE ");
        condition(source, w, "account", text);
        say(text, " AND n = %d", (int)property_draw(source, 5));
        break;
    case 2:
        say(text, "SELECT v.note FROM account a JOIN visit v ON v.account = a.id WHERE ");
        condition(source, w, "a.id", text);
        break;
    case 3:
        say(text, "SELECT name FROM catalog WHERE id = %d", (int)property_draw(source, 9));
        break;
    case 4:
        say(text, "SELECT * FROM audit WHERE who IS NULL");
        break;
    case 5:
        say(text, "SELECT * FROM recent WHERE ");
        condition(source, w, "account", text);
        break;
    case 6:
        say(text, "SELECT * FROM visit WHERE n BETWEEN %d AND 3 AND ",
            (int)property_draw(source, 5));
        condition(source, w, "account", text);
        break;
    default:
        say(text, "SELECT * FROM audit WHERE at >= '2024-01-%02d'",
            (int)property_draw(source, 28) + 1);
    }
}

static void write_statement(struct property_source *source, const struct random_workload *w,
                            struct text *text)
{
    switch (property_draw(source, 6)) {
    case 0:
        say(text, "UPDATE account SET balance = balance + 1 WHERE ");
        condition(source, w, "id", text);
        break;
    case 1:
        say(text, "INSERT INTO visit (account, n, note) VALUES (");
        draw_key(source, w, text);
        say(text, ", %d, 'x')", (int)property_draw(source, 5));
        break;
    case 2:
        say(text, "DELETE FROM visit WHERE n = %d AND ", (int)property_draw(source, 5));
        condition(source, w, "account", text);
        break;
    case 3:
        if (property_draw(source, 3))
            say(text, "INSERT INTO audit (at, who) VALUES ('2024-01-%02d', %d)",
                (int)property_draw(source, 28) + 1, (int)property_draw(source, 5));
        else
            say(text, "INSERT INTO audit (at, who) VALUES (NULL, NULL)");
        break;
    case 4:
        say(text, "UPDATE catalog SET name = 'n' WHERE id = %d", (int)property_draw(source, 9));
        break;
    default:
        say(text, "INSERT INTO account (id, balance) VALUES (");
        draw_key(source, w, text);
        say(text, ", 0)");
    }
}

static char *draw_transaction(struct property_source *source, const struct random_workload *w)
{
    struct text text = {.length = 0};
    uint64_t statements = 1 + property_draw(source, 3);
    for (uint64_t s = 0; s < statements; s++) {
        bool writes = w->writes_only || (!w->reads_only && property_draw(source, 2));
        if (writes)
            write_statement(source, w, &text);
        else
            read_statement(source, w, &text);
        say(&text, ";");
    }
    return strdup(text.bytes);
}

void random_workload_draw(struct property_source *source, struct random_workload *w)
{
    static const char *const types[] = {"integer", "text", "uuid", "timestamp"};
    memset(w, 0, sizeof *w);
    w->key = (enum random_key)property_draw(source, RANDOM_KEYS);
    w->foreign_keys = property_draw(source, 2);
    w->ranges =
        (w->key == RANDOM_INTEGER || w->key == RANDOM_TIMESTAMP) && property_draw(source, 2);
    uint64_t mix = property_draw(source, 6);
    w->reads_only = mix == 4;
    w->writes_only = mix == 5;
    snprintf(w->ddl, sizeof w->ddl,
             "CREATE TABLE account (id %s PRIMARY KEY, balance numeric);"
             "CREATE TABLE visit (account %s%s, n int, note text, PRIMARY KEY (account, n));"
             "CREATE TABLE audit (at timestamp, who int);"
             "CREATE TABLE catalog (id int PRIMARY KEY, name text);"
             "CREATE TABLE unused (id int PRIMARY KEY, account %s);"
             "CREATE VIEW recent AS SELECT account, note FROM visit WHERE n > 2;",
             types[w->key], types[w->key], w->foreign_keys ? " REFERENCES account (id)" : "",
             types[w->key]);
    w->count = 1 + (uint32_t)property_draw(source, RANDOM_TRANSACTIONS);
    for (uint32_t t = 0; t < w->count; t++)
        w->transactions[t] = draw_transaction(source, w);
}

void random_workload_free(struct random_workload *workload)
{
    for (uint32_t t = 0; t < workload->count; t++)
        free(workload->transactions[t]);
}

void random_workload_print(const struct random_workload *workload)
{
    printf("%s\n", workload->ddl);
    for (uint32_t t = 0; t < workload->count; t++)
        printf("%s\n", workload->transactions[t]);
}

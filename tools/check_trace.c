/* What TPC-C statements promise each other, one rule a line of `rules`: when a statement starts
 * like so, the server's answer must show up in a later statement like so. TATP and Epinions have
 * no such ties; for them a statement need only run. */
#include "check_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point {
    const struct cleave_trace_transaction *transaction;
    uint32_t index; /* of the statement that was answered */
    PGresult *answer;
};

static const char *later(const struct point *point, const char *start)
{
    for (uint32_t i = point->index + 1; i < point->transaction->statement_count; i++) {
        if (strncmp(point->transaction->statements[i].text, start, strlen(start)) == 0)
            return point->transaction->statements[i].text;
    }
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool says(const char *text, const char *before, const char *value, const char *after)
{
    char want[200];
    snprintf(want, sizeof want, "%s%s%s", before, value, after);
    return *after ? strstr(text, want) != NULL : ends_with(text, want);
}

/* "12.34" in cents. */
static long cents(const char *text)
{
    const char *dot = strchr(text, '.');
    return atol(text) * 100 + (dot ? (dot[1] - '0') * 10 + (dot[2] - '0') : 0);
}

static long number_after(const char *text, const char *mark)
{
    const char *at = strstr(text, mark);
    return at ? atol(at + strlen(mark)) : -1;
}

static bool oldest_order(const struct point *p)
{
    const char *next = p->index + 1 < p->transaction->statement_count
                           ? p->transaction->statements[p->index + 1].text
                           : "";
    bool deletes = strncmp(next, "DELETE", 6) == 0;
    if (PQntuples(p->answer) == 0)
        return !deletes;
    return deletes && says(next, "no_o_id = ", PQgetvalue(p->answer, 0, 0), "");
}

static bool order_customer(const struct point *p)
{
    const char *text = later(p, "UPDATE customer");
    return PQntuples(p->answer) == 1 && text &&
           says(text, "c_id = ", PQgetvalue(p->answer, 0, 0), "");
}

static bool order_total(const struct point *p)
{
    const char *text = later(p, "UPDATE customer");
    return text && says(text, "c_balance + ", PQgetvalue(p->answer, 0, 0), ",");
}

/* By name: the customer in the middle is the one worked on; bad credit changes c_data. */
static bool named_customer(const struct point *p)
{
    int rows = PQntuples(p->answer);
    if (rows == 0)
        return false;
    int middle = (rows + 1) / 2 - 1;
    const char *id = PQgetvalue(p->answer, middle, 0), *update = later(p, "UPDATE customer");
    if (!update) {
        const char *orders = later(p, "SELECT o_id");
        return orders && says(orders, "o_c_id = ", id, " ORDER");
    }
    bool bad = strcmp(PQgetvalue(p->answer, middle, PQfnumber(p->answer, "c_credit")), "BC") == 0;
    return says(update, "c_id = ", id, "") && bad == (strstr(update, "c_data") != NULL);
}

static bool last_order(const struct point *p)
{
    const char *text = later(p, "SELECT ol_i_id");
    return PQntuples(p->answer) == 1 && text &&
           says(text, "ol_o_id = ", PQgetvalue(p->answer, 0, 0), "");
}

static bool next_order(const struct point *p)
{
    const char *insert = later(p, "INSERT INTO new_order"), *id = PQgetvalue(p->answer, 0, 0);
    if (insert)
        return says(insert, ", ", id, ")");
    const char *range = later(p, "SELECT DISTINCT");
    if (!range)
        range = later(p, "SELECT count(DISTINCT");
    return range && number_after(range, "ol_o_id < ") == atol(id);
}

static int compare_longs(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static bool recent_items(const struct point *p)
{
    const char *text = later(p, "SELECT count(*) FROM stock");
    const char *at = text ? strstr(text, "IN (") : NULL;
    if (!at)
        return false;
    at += 4;
    int count = PQntuples(p->answer);
    long items[400];
    for (int i = 0; i < count && i < 400; i++)
        items[i] = atol(PQgetvalue(p->answer, i, 0));
    qsort(items, (size_t)count, sizeof items[0], compare_longs);
    for (int i = 0; i < count; i++) {
        char *end;
        if (strtol(at, &end, 10) != items[i])
            return false;
        at = end + (*end == ',' ? 2 : 0);
    }
    return *at == ')';
}

static bool stock_left(const struct point *p)
{
    const char *update = later(p, "UPDATE stock");
    if (PQntuples(p->answer) != 1 || !update)
        return false;
    long have = atol(PQgetvalue(p->answer, 0, 0)), take = number_after(update, "s_ytd + ");
    long left = have - take >= 10 ? have - take : have - take + 91;
    return number_after(update, "s_quantity = ") == left;
}

static bool line_amount(const struct point *p)
{
    const char *update = later(p, "UPDATE stock"), *insert = later(p, "INSERT INTO order_line");
    if (PQntuples(p->answer) != 1 || !update || !insert)
        return false;
    long want = cents(PQgetvalue(p->answer, 0, 0)) * number_after(update, "s_ytd + ");
    char text[40];
    snprintf(text, sizeof text, ", %ld.%02ld, '", want / 100, want % 100);
    return strstr(insert, text) != NULL;
}

static bool one_row(const struct point *p)
{
    return strcmp(PQcmdTuples(p->answer), "1") == 0;
}

static bool some_rows(const struct point *p)
{
    return PQntuples(p->answer) > 0 || atol(PQcmdTuples(p->answer)) > 0;
}

static const struct {
    const char *start;
    bool (*holds)(const struct point *point);
} rules[] = {
    {"SELECT no_o_id", oldest_order},
    {"SELECT o_c_id", order_customer},
    {"SELECT sum(ol_amount)", order_total},
    {"SELECT c_id, c_", named_customer},
    {"SELECT c_", one_row},
    {"SELECT o_id, o_entry_d", last_order},
    {"SELECT d_next_o_id", next_order},
    {"SELECT DISTINCT ol_i_id", recent_items},
    {"SELECT s_quantity", stock_left},
    {"SELECT i_price", line_amount},
    {"SELECT ol_i_id", some_rows},
    {"UPDATE order_line", some_rows},
    {"UPDATE warehouse", one_row},
    {"UPDATE district", one_row},
    {"UPDATE customer", one_row},
    {"UPDATE stock", one_row},
    {"UPDATE orders", one_row},
    {"DELETE FROM new_order", one_row},
};

static unsigned complain(const char *what, const char *sql, const char *answer)
{
    fprintf(stderr, "%s: %.300s -> %s\n", what, sql, answer);
    return 1;
}

unsigned check_transaction(PGconn *connection, const struct cleave_trace_transaction *transaction)
{
    unsigned wrong = 0;
    PQclear(PQexec(connection, "BEGIN"));
    for (uint32_t i = 0; i < transaction->statement_count; i++) {
        const char *sql = transaction->statements[i].text;
        struct point point = {transaction, i, PQexec(connection, sql)};
        ExecStatusType status = PQresultStatus(point.answer);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            wrong += complain("refused", sql, PQerrorMessage(connection));
        for (size_t j = 0; !wrong && j < sizeof rules / sizeof rules[0]; j++) {
            if (strncmp(sql, rules[j].start, strlen(rules[j].start)) != 0)
                continue;
            if (!rules[j].holds(&point))
                wrong += complain("differs", sql,
                                  PQntuples(point.answer) ? PQgetvalue(point.answer, 0, 0)
                                                          : PQcmdTuples(point.answer));
            break;
        }
        PQclear(point.answer);
    }
    PQclear(PQexec(connection, "COMMIT"));
    return wrong;
}

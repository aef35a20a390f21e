#include "model/hostile_text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t below(struct text *t, uint32_t bound)
{
    return (uint32_t)cleave__random_below(&t->random, bound);
}

static void add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(t->bytes + t->length, TEXT_MAX - t->length, format, arguments);
    va_end(arguments);
    assert(length >= 0 && t->length + (size_t)length < TEXT_MAX);
    t->length += (size_t)length;
}

static void splice(struct text *t, size_t at, size_t drop, const char *bytes, size_t length)
{
    assert(at + drop <= t->length);
    if (t->length - drop + length >= TEXT_MAX)
        return;
    memmove(t->bytes + at + length, t->bytes + at + drop, t->length - at - drop);
    if (length)
        memcpy(t->bytes + at, bytes, length);
    t->length = t->length - drop + length;
}

static void write_weights(struct text *t, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++)
        add(t, "%s%u", c ? " " : "", below(t, 9));
    add(t, "\n");
}

/* Valid files to start from. */
void make_hgr(struct text *t)
{
    uint32_t n = 1 + below(t, VERTICES_MAX), m = below(t, 20), format = below(t, 4);
    add(t, "%u %u", m, n);
    add(t, format == 0 ? "\n" : format == 1 ? " 1\n" : format == 2 ? " 10\n" : " 11\n");
    for (uint32_t e = 0; e < m; e++) {
        const char *space = "";
        if (format % 2) {
            add(t, "%u", below(t, 100));
            space = " ";
        }
        for (uint32_t i = below(t, 6); i > 0; i--) {
            add(t, "%s%u", space, 1 + below(t, n));
            space = " ";
        }
        add(t, "\n");
    }
    uint32_t weights = 1 + below(t, 3);
    for (uint32_t v = 0; v < n && format >= 2; v++)
        write_weights(t, weights);
}

void make_patoh(struct text *t)
{
    uint32_t n = 1 + below(t, VERTICES_MAX), m = below(t, 20), scheme = below(t, 4), pins = 0;
    uint32_t base = below(t, 2), weights = 1 + below(t, 3), size[20];
    for (uint32_t e = 0; e < m; e++)
        pins += size[e] = below(t, 6);
    add(t, "%u %u %u %u %u %u\n", base, n, m, pins, scheme, weights);
    for (uint32_t e = 0; e < m; e++) {
        if (scheme >= 2)
            add(t, "%u ", below(t, 100));
        for (uint32_t i = 0; i < size[e]; i++)
            add(t, "%u ", base + below(t, n));
        add(t, "\n");
    }
    if (scheme % 2)
        write_weights(t, n * weights);
}

void make_graph(struct text *t)
{
    uint32_t n = 1 + below(t, VERTICES_MAX), edges = 0, format = below(t, 8), weights = below(t, 3);
    uint32_t weight[VERTICES_MAX][VERTICES_MAX] = {{0}};
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t u = 0; u < v; u++) {
            if (below(t, 4) == 0) {
                weight[u][v] = weight[v][u] = 1 + below(t, 50);
                edges++;
            }
        }
    }
    add(t, "%u %u %u%u%u", n, edges, format >> 2, format >> 1 & 1, format & 1);
    if (format >> 1 & 1)
        add(t, " %u", ++weights);
    add(t, "\n");
    for (uint32_t v = 0; v < n; v++) {
        if (format >> 2)
            add(t, "%u ", below(t, 9));
        for (uint32_t c = 0; c < weights && format >> 1 & 1; c++)
            add(t, "%u ", below(t, 9));
        for (uint32_t u = 0; u < n; u++) {
            if (weight[v][u] && format & 1)
                add(t, "%u %u ", u + 1, weight[v][u]);
            else if (weight[v][u])
                add(t, "%u ", u + 1);
        }
        add(t, "\n");
    }
}

void make_fix(struct text *t)
{
    for (uint32_t v = 0; v < VERTICES_MAX; v++)
        add(t, "%d\n", (int)below(t, 5) - 1);
}

void make_together(struct text *t)
{
    for (uint32_t v = 0; v < VERTICES_MAX; v++)
        add(t, "%u\n", below(t, 4));
}

void make_apart(struct text *t)
{
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t a = below(t, VERTICES_MAX);
        add(t, "%u %u\n", 1 + a, 1 + (a + 1 + below(t, VERTICES_MAX - 1)) % VERTICES_MAX);
    }
}

/* The start of a random line; its length with the newline in `*length`. */
static size_t pick_line(struct text *t, size_t *length)
{
    size_t at = below(t, (uint32_t)t->length + 1), end;
    while (at > 0 && t->bytes[at - 1] != '\n')
        at--;
    for (end = at; end < t->length && t->bytes[end++] != '\n';)
        ;
    *length = end - at;
    return at;
}

/* A random number of a random line, half the time of the first. */
static size_t pick_number(struct text *t, size_t *length)
{
    size_t line, at = below(t, 2) ? 0 : pick_line(t, &line);
    for (uint32_t skip = below(t, 6);; skip--) {
        while (at < t->length && t->bytes[at] == ' ')
            at++;
        size_t end = at;
        while (end < t->length && t->bytes[end] != ' ' && t->bytes[end] != '\n')
            end++;
        if (skip == 0 || end == t->length || t->bytes[end] == '\n') {
            *length = end - at;
            return at;
        }
        at = end;
    }
}

static void replace_number(struct text *t)
{
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "2",
                                          "25",
                                          "1000000",
                                          "2147483646",
                                          "2147483647",
                                          "4000000000",
                                          "4294967295",
                                          "4294967296",
                                          "1152921504606846976",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "-9223372036854775808",
                                          "18446744073709551615",
                                          "18446744073709551617",
                                          "999999999999999999999999999999",
                                          "1.5",
                                          "1e3",
                                          "0x10",
                                          "nan",
                                          "+",
                                          "-",
                                          "+3",
                                          "007",
                                          ""};
    const char *number = numbers[below(t, sizeof numbers / sizeof *numbers)];
    size_t length, at = pick_number(t, &length);
    splice(t, at, length, number, strlen(number));
}

/* A line of up to 100,000 bytes: digits, blanks, or one pin again and again. */
static void add_long_line(struct text *t)
{
    static const char *const parts[] = {"7", " ", "1 ", "\t", "\r", "9 8 ", "%"};
    const char *part = parts[below(t, sizeof parts / sizeof *parts)];
    size_t length = 1 + below(t, 100000), size = strlen(part), line;
    char *bytes = malloc(length);
    assert(bytes);
    for (size_t i = 0; i < length; i++)
        bytes[i] = part[i % size];
    size_t at = pick_line(t, &line);
    splice(t, at + line - (line > 0 && below(t, 2)), 0, bytes, length);
    free(bytes);
}

void damage(struct text *t)
{
    static const char *const inserted[] = {"\n", "%\n",      "\r\n", " ",    "\xef\xbb\xbf",
                                           "\r", "\x1f\x8b", "BZh9", "\n\n", "% 1 2 3\n"};
    size_t at = below(t, (uint32_t)t->length + 1), line;
    char byte = (char)below(t, 256), copy[1000];
    switch (below(t, 12)) {
    case 0: /* cut short */
        t->length = at;
        break;
    case 1: /* a bit turned */
        if (at < t->length)
            t->bytes[at] = (char)(t->bytes[at] ^ (1 << below(t, 8)));
        break;
    case 2:
    case 3:
    case 4:
        replace_number(t);
        break;
    case 5: /* a line gone, or twice, or elsewhere */
    case 6:
        at = pick_line(t, &line);
        if (line >= sizeof copy)
            break;
        memcpy(copy, t->bytes + at, line);
        if (below(t, 3))
            splice(t, at, line, NULL, 0);
        if (below(t, 3))
            splice(t, pick_line(t, &at), 0, copy, line);
        break;
    case 7: /* any byte, NUL among them */
        splice(t, at, 0, below(t, 3) ? &byte : "", 1);
        break;
    case 8:
        splice(t, below(t, 2) ? 0 : at, 0, inserted[below(t, 6)], 1);
        break;
    case 9: {
        const char *bytes = inserted[below(t, sizeof inserted / sizeof *inserted)];
        splice(t, below(t, 3) ? at : 0, 0, bytes, strlen(bytes));
        break;
    }
    case 10:
        add_long_line(t);
        break;
    default: /* line ends of another system */
        for (size_t i = t->length; i-- > 0;) {
            if (t->bytes[i] == '\n')
                splice(t, i, 0, "\r", 1);
        }
        break;
    }
}

/* Parameters: from a DETAIL line, and from the arguments of an SQL-level EXECUTE.
 *
 * The log writes $n = 'value' with quotes doubled, or $n = NULL; a value cut by
 * log_parameter_max_length ends in ...' (a value that really ends in three dots is taken for cut,
 * which loses a constant but never invents one). */
#include "tables/source/trace/message.h"

#include <string.h>
#include <strings.h>

#include "tables/sql/split.h"

enum { PARAMETERS_MAX = 65535 };

void cleave__bindings_free(struct cleave_bindings *b)
{
    CLEAVE_VECTOR_FREE(&b->parameters);
    CLEAVE_VECTOR_FREE(&b->bytes);
}

static bool behind_word(struct cleave_span s, const char *word, struct cleave_span *rest)
{
    size_t length = strlen(word);
    if (s.length < length || strncasecmp(s.text, word, length) != 0)
        return false;
    *rest = (struct cleave_span){s.text + length, s.length - length};
    return true;
}

bool cleave__detail_is_parameters(struct cleave_span detail, struct cleave_span *rest)
{
    return behind_word(detail, "parameters: ", rest);
}

bool cleave__detail_is_prepare(struct cleave_span detail, struct cleave_span *rest)
{
    return behind_word(detail, "prepare: ", rest);
}

/* While building, a parameter's text holds its offset in `bytes`, or NULL's flag. */
static void resolve(struct cleave_bindings *b)
{
    for (size_t i = 0; i < b->parameters.count; i++) {
        struct cleave_parameter *p = &b->parameters.data[i];
        p->text = b->bytes.data ? b->bytes.data + (uintptr_t)p->text : "";
    }
}

/* Sets parameter `index` (from 0), with unknown ones before it where the log skipped. */
static bool set(struct cleave_bindings *b, size_t index, struct cleave_parameter value)
{
    while (b->parameters.count <= index) {
        if (!CLEAVE_PUSH(&b->parameters, (struct cleave_parameter){.is_cut = true}))
            return false;
    }
    b->parameters.data[index] = value;
    return true;
}

/* Unquotes the string at text[*at] == '\''; *closed tells whether its end was found. */
static bool unquote(struct cleave_bindings *b, struct cleave_span s, size_t *at, bool escapes,
                    struct cleave_parameter *out, bool *closed)
{
    size_t i = *at + 1, start = b->bytes.count;
    if (!CLEAVE_RESERVE(&b->bytes, start + (s.length - i) + 1))
        return false;
    char *to = b->bytes.data + start;
    *closed = false;
    while (i < s.length) {
        char c = s.text[i++];
        if (c == '\'') {
            if (i >= s.length || s.text[i] != '\'') {
                *closed = true;
                break;
            }
            i++;
        } else if (c == '\\' && escapes && i < s.length) {
            c = s.text[i++];
            c = c == 'n'   ? '\n'
                : c == 't' ? '\t'
                : c == 'r' ? '\r'
                : c == 'b' ? '\b'
                : c == 'f' ? '\f'
                           : c;
        }
        *to++ = c;
    }
    *to = 0;
    size_t length = (size_t)(to - (b->bytes.data + start));
    b->bytes.count = start + length + 1;
    *out = (struct cleave_parameter){.text = (const char *)(uintptr_t)start, .length = length};
    *at = i;
    return true;
}

bool cleave__bindings_of_detail(struct cleave_bindings *b, struct cleave_span s)
{
    b->parameters.count = b->bytes.count = 0;
    b->cut = 0;
    size_t i = 0;
    while (i < s.length && s.text[i] == '$') {
        size_t number = 0, start = ++i;
        while (i < s.length && s.text[i] >= '0' && s.text[i] <= '9' && number <= PARAMETERS_MAX)
            number = number * 10 + (size_t)(s.text[i++] - '0');
        if (i == start || number == 0 || number > PARAMETERS_MAX || i + 3 > s.length ||
            memcmp(s.text + i, " = ", 3) != 0)
            break;
        i += 3;
        struct cleave_parameter p = {0};
        if (i < s.length && s.text[i] == '\'') {
            bool closed = false;
            if (!unquote(b, s, &i, false, &p, &closed))
                return false;
            const char *bytes = b->bytes.data + (uintptr_t)p.text;
            if (!closed || (p.length >= 3 && memcmp(bytes + p.length - 3, "...", 3) == 0)) {
                p.is_cut = true;
                p.length -= closed ? 3 : 0;
                b->cut++;
            }
        } else if (i + 4 <= s.length && memcmp(s.text + i, "NULL", 4) == 0) {
            p.is_null = true;
            i += 4;
        } else {
            p.is_cut = true;
            b->cut++;
        }
        if (!set(b, number - 1, p))
            return false;
        if (p.is_cut && i < s.length && s.text[i] != ',')
            break;
        if (i + 2 <= s.length && s.text[i] == ',' && s.text[i + 1] == ' ')
            i += 2;
    }
    resolve(b);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* One argument of EXECUTE. */
static bool argument(struct cleave_bindings *b, struct cleave_span s)
{
    while (s.length && is_blank(s.text[s.length - 1]))
        s.length--;
    size_t i = cleave__split_skip_blank(s.text, s.length);
    struct cleave_parameter p = {.is_cut = true};
    size_t word = i;
    while (i < s.length && ((s.text[i] | 32) >= 'a') && ((s.text[i] | 32) <= 'z'))
        i++;
    size_t letters = i - word;
    bool escapes = letters == 1 && (s.text[word] | 32) == 'e';
    bool typed = false;
    if (letters && !escapes) {
        while (i < s.length && is_blank(s.text[i]))
            i++;
        typed = i < s.length && s.text[i] == '\''; /* date '2026-01-01' */
    }
    if (i < s.length && s.text[i] == '\'' && (letters == 0 || escapes || typed)) {
        bool closed = false;
        if (!unquote(b, s, &i, escapes, &p, &closed))
            return false;
        p.is_cut = !closed;
    } else if (letters == 4 && strncasecmp(s.text + word, "null", 4) == 0) {
        p = (struct cleave_parameter){.is_null = true};
        i = word + 4;
    } else if ((letters == 4 && strncasecmp(s.text + word, "true", 4) == 0) ||
               (letters == 5 && strncasecmp(s.text + word, "false", 5) == 0) || letters == 0) {
        /* A number, or a boolean: copied as written. */
        size_t start = word;
        i = word + letters;
        if (letters == 0 && i < s.length && (s.text[i] == '-' || s.text[i] == '+'))
            i++;
        size_t digits = i;
        while (
            letters == 0 && i < s.length &&
            ((s.text[i] >= '0' && s.text[i] <= '9') || s.text[i] == '.' ||
             (i > digits && (s.text[i] | 32) == 'e') ||
             (i > digits && (s.text[i - 1] | 32) == 'e' && (s.text[i] == '-' || s.text[i] == '+'))))
            i++;
        if (letters || i > digits) {
            size_t length = i - start, at = b->bytes.count;
            if (!CLEAVE_RESERVE(&b->bytes, at + length + 1))
                return false;
            memcpy(b->bytes.data + at, s.text + start, length);
            b->bytes.data[at + length] = 0;
            b->bytes.count += length + 1;
            p = (struct cleave_parameter){.text = (const char *)(uintptr_t)at, .length = length};
        }
    }
    /* Only a cast may follow: anything else makes it an expression. */
    while (i < s.length && is_blank(s.text[i]))
        i++;
    if (i + 1 < s.length && s.text[i] == ':' && s.text[i + 1] == ':') {
        for (i += 2; i < s.length; i++) {
            char c = s.text[i];
            if (strchr("+-*/|<>=~!@#%^&?'$", c) || c == 0)
                break;
        }
    }
    if (i < s.length)
        p = (struct cleave_parameter){.is_cut = true};
    return set(b, b->parameters.count, p);
}

bool cleave__bindings_of_arguments(struct cleave_bindings *b, struct cleave_span s)
{
    b->parameters.count = b->bytes.count = 0;
    b->cut = 0;
    size_t i = cleave__split_skip_blank(s.text, s.length);
    if (i >= s.length || s.text[i] != '(') {
        resolve(b);
        return true;
    }
    size_t depth = 0, start = ++i;
    for (; i < s.length && b->parameters.count < PARAMETERS_MAX; i++) {
        char c = s.text[i];
        bool escapes = c == '\'' && i > start && (s.text[i - 1] | 32) == 'e';
        if (c == '\'' || c == '"') {
            for (i++; i < s.length && s.text[i] != c; i++) {
                if (escapes && s.text[i] == '\\')
                    i++;
            } /* a doubled quote just opens the next string */
        } else if (c == '(' || c == '[') {
            depth++;
        } else if (depth && (c == ')' || c == ']')) {
            depth--;
        } else if (depth == 0 && (c == ',' || c == ')')) {
            bool empty = c == ')' && b->parameters.count == 0 &&
                         cleave__split_skip_blank(s.text + start, i - start) == i - start;
            if (!empty && !argument(b, (struct cleave_span){s.text + start, i - start}))
                return false;
            start = i + 1;
            if (c == ')')
                break;
        }
    }
    resolve(b);
    return true;
}

/* The splitter: one pass, a table of the bytes that can change its mode, everything else skipped.
 *
 * Invariant: a mode other than PLAIN is left only by its own closing token, so a semicolon counts
 * only in PLAIN, outside CREATE's parentheses and routine bodies. The words that open and close a
 * routine body are counted as psql does (BEGIN and CASE open, END closes). */
#include "tables/sql/split.h"

#include <string.h>
#include <strings.h>

enum mode { PLAIN, STRING, ESCAPES, IDENTIFIER, DOLLAR, COMMENT, LINE_COMMENT };

static bool is_blank(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static bool is_word(unsigned char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '$';
}

static bool word_is(const char *word, size_t length, const char *what)
{
    return strlen(what) == length && strncasecmp(word, what, length) == 0;
}

/* Counts the words that matter: only those of a CREATE do after the first. */
static void note_word(struct cleave_splitter *s, const char *word, size_t length)
{
    if (s->words < 4)
        s->words++;
    if (s->words == 1)
        s->create = word_is(word, length, "create");
    if (!s->create)
        return;
    if (s->words >= 2 && !s->routine && s->words <= 4)
        s->routine = word_is(word, length, "function") || word_is(word, length, "procedure");
    if (!s->routine || s->parens)
        return;
    if (word_is(word, length, "begin") || (s->begins && word_is(word, length, "case")))
        s->begins++;
    else if (s->begins && word_is(word, length, "end"))
        s->begins--;
}

/* Length of a dollar-quote tag at `text` ("$$", "$a$"), or 0. */
static size_t dollar_tag(const char *text, size_t length)
{
    size_t i = 1;
    if (i < length && is_letter((unsigned char)text[i])) {
        while (i < length && is_word((unsigned char)text[i]) && text[i] != '$')
            i++;
    }
    return i < length && text[i] == '$' && i + 1 < sizeof((struct cleave_splitter *)0)->tag ? i + 1
                                                                                            : 0;
}

/* Handles the token at text[i] in PLAIN; returns the position behind it, or 0 for a semicolon that
 * ends the statement. */
static size_t plain_token(struct cleave_splitter *s, const char *text, size_t length, size_t i)
{
    unsigned char c = (unsigned char)text[i];
    if (c == '-' && i + 1 < length && text[i + 1] == '-') {
        s->mode = LINE_COMMENT;
        return i + 2;
    }
    if (c == '/' && i + 1 < length && text[i + 1] == '*') {
        s->mode = COMMENT;
        s->depth = 1;
        return i + 2;
    }
    if (c == ';' && !s->begins && !s->parens)
        return 0;
    s->some = true;
    if (is_letter(c)) {
        size_t start = i;
        while (i < length && is_word((unsigned char)text[i]))
            i++;
        if (i < length && text[i] == '\'') {
            s->mode = word_is(text + start, i - start, "e") ? ESCAPES : STRING;
            return i + 1;
        }
        if (s->words == 0 || s->create)
            note_word(s, text + start, i - start);
        return i;
    }
    switch (c) {
    case '\'':
        s->mode = STRING;
        break;
    case '"':
        s->mode = IDENTIFIER;
        break;
    case '(':
        s->parens += s->create;
        break;
    case ')':
        s->parens -= s->parens > 0;
        break;
    case '$': {
        size_t tag = dollar_tag(text + i, length - i);
        if (tag) {
            s->mode = DOLLAR;
            s->tag_size = (uint8_t)tag;
            memcpy(s->tag, text + i, tag);
            return i + tag;
        }
        break;
    }
    default:
        if (c >= '0' && c <= '9') {
            while (i < length && is_word((unsigned char)text[i]))
                i++;
            return i;
        }
    }
    return i + 1;
}

/* Behind the closing quote, or `length` when the text ends first. */
static size_t quoted(struct cleave_splitter *s, const char *text, size_t length, size_t i,
                     char quote)
{
    for (;;) {
        const char *end = memchr(text + i, quote, length - i);
        if (!end)
            return length;
        i = (size_t)(end - text) + 1;
        if (i < length && text[i] == quote) {
            i++;
            continue;
        }
        s->mode = PLAIN;
        return i;
    }
}

static size_t escapes(struct cleave_splitter *s, const char *text, size_t length, size_t i)
{
    for (; i < length; i++) {
        if (s->escaped) {
            s->escaped = false;
        } else if (text[i] == '\\') {
            s->escaped = true;
        } else if (text[i] == '\'') {
            if (i + 1 < length && text[i + 1] == '\'') {
                i++;
                continue;
            }
            s->mode = PLAIN;
            return i + 1;
        }
    }
    return i;
}

static size_t comment(struct cleave_splitter *s, const char *text, size_t length, size_t i)
{
    while (i < length) {
        if (i + 1 < length && text[i] == '*' && text[i + 1] == '/') {
            i += 2;
            if (--s->depth == 0) {
                s->mode = PLAIN;
                return i;
            }
        } else if (i + 1 < length && text[i] == '/' && text[i + 1] == '*' &&
                   s->depth < UINT32_MAX) {
            i += 2;
            s->depth++;
        } else {
            i++;
        }
    }
    return i;
}

bool cleave__split_feed(struct cleave_splitter *s, const char *text, size_t length, size_t *used)
{
    size_t i = 0;
    while (i < length) {
        switch ((enum mode)s->mode) {
        case PLAIN:
            while (i < length && is_blank((unsigned char)text[i]))
                i++;
            if (i < length) {
                size_t next = plain_token(s, text, length, i);
                if (next == 0) {
                    *used = i + 1;
                    return true;
                }
                i = next;
            }
            break;
        case STRING:
            i = quoted(s, text, length, i, '\'');
            break;
        case IDENTIFIER:
            i = quoted(s, text, length, i, '"');
            break;
        case ESCAPES:
            i = escapes(s, text, length, i);
            break;
        case COMMENT:
            i = comment(s, text, length, i);
            break;
        case LINE_COMMENT: {
            const char *end = memchr(text + i, '\n', length - i);
            i = end ? (size_t)(end - text) + 1 : length;
            if (end)
                s->mode = PLAIN;
            break;
        }
        case DOLLAR: {
            const char *end = memmem(text + i, length - i, s->tag, s->tag_size);
            i = end ? (size_t)(end - text) + s->tag_size : length;
            if (end)
                s->mode = PLAIN;
            break;
        }
        }
    }
    *used = length;
    return false;
}

bool cleave__split_is_open(const struct cleave_splitter *s)
{
    return s->mode != PLAIN && s->mode != LINE_COMMENT;
}

size_t cleave__split_skip_blank(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length) {
        if (is_blank((unsigned char)text[i])) {
            i++;
        } else if (text[i] == '-' && i + 1 < length && text[i + 1] == '-') {
            const char *end = memchr(text + i, '\n', length - i);
            i = end ? (size_t)(end - text) + 1 : length;
        } else if (text[i] == '/' && i + 1 < length && text[i + 1] == '*') {
            struct cleave_splitter s = {.mode = COMMENT, .depth = 1};
            i = comment(&s, text, length, i + 2);
        } else {
            break;
        }
    }
    return i;
}

/* A cursor over the first words of one statement. */
struct words {
    const char *text;
    size_t length, at;
};

/* The next word, string or quoted identifier; length 0 at anything else. */
static const char *next_word(struct words *w, size_t *length)
{
    w->at += cleave__split_skip_blank(w->text + w->at, w->length - w->at);
    size_t start = w->at, i = start;
    if (i < w->length && (w->text[i] == '\'' || w->text[i] == '"')) {
        struct cleave_splitter s = {0};
        i = quoted(&s, w->text, w->length, i + 1, w->text[i]);
    } else {
        while (i < w->length && is_word((unsigned char)w->text[i]))
            i++;
        if (i < w->length && i == start + 1 && (w->text[start] | 32) == 'e' && w->text[i] == '\'') {
            struct cleave_splitter s = {.mode = ESCAPES};
            i = escapes(&s, w->text, w->length, i + 1);
        }
    }
    w->at = i;
    *length = i - start;
    return w->text + start;
}

static bool accept(struct words *w, const char *what)
{
    size_t before = w->at, length = 0;
    const char *word = next_word(w, &length);
    if (word_is(word, length, what))
        return true;
    w->at = before;
    return false;
}

static void take_name(struct words *w, struct cleave_piece *out)
{
    size_t length = 0;
    const char *word = next_word(w, &length);
    if (length) {
        out->name = word;
        out->name_length = length;
    }
}

/* [WORK | TRANSACTION] [AND [NO] CHAIN] */
static void take_chain(struct words *w, struct cleave_piece *out)
{
    if (!accept(w, "work"))
        accept(w, "transaction");
    if (accept(w, "and") && !accept(w, "no"))
        out->chain = accept(w, "chain");
}

static const char *const known_words[] = {
    "alter",   "analyze",  "call", "checkpoint", "close",    "cluster",  "comment", "create",
    "declare", "do",       "drop", "explain",    "fetch",    "grant",    "import",  "listen",
    "load",    "lock",     "move", "notify",     "reassign", "refresh",  "reindex", "reset",
    "revoke",  "security", "set",  "show",       "truncate", "unlisten", "vacuum",
};

static enum cleave_verb verb_of(struct words *w, const char *word, size_t length,
                                struct cleave_piece *out)
{
    switch (length ? word[0] | 32 : 0) {
    case 's':
        if (word_is(word, length, "select"))
            return CLEAVE_VERB_SELECT;
        if (word_is(word, length, "start"))
            return accept(w, "transaction") ? CLEAVE_VERB_BEGIN : CLEAVE_VERB_OTHER;
        if (word_is(word, length, "savepoint")) {
            take_name(w, out);
            return CLEAVE_VERB_SAVEPOINT;
        }
        break;
    case 'i':
        if (word_is(word, length, "insert"))
            return CLEAVE_VERB_DML;
        break;
    case 'u':
        if (word_is(word, length, "update"))
            return CLEAVE_VERB_DML;
        break;
    case 'm':
        if (word_is(word, length, "merge"))
            return CLEAVE_VERB_DML;
        break;
    case 'v':
        if (word_is(word, length, "values"))
            return CLEAVE_VERB_SELECT;
        break;
    case 't':
        if (word_is(word, length, "table"))
            return CLEAVE_VERB_SELECT;
        break;
    case 'w':
        if (word_is(word, length, "with"))
            return CLEAVE_VERB_SELECT;
        break;
    case 'b':
        if (word_is(word, length, "begin"))
            return CLEAVE_VERB_BEGIN;
        break;
    case 'c':
        if (word_is(word, length, "commit")) {
            if (accept(w, "prepared")) {
                take_name(w, out);
                return CLEAVE_VERB_COMMIT_PREPARED;
            }
            take_chain(w, out);
            return CLEAVE_VERB_COMMIT;
        }
        if (word_is(word, length, "copy"))
            return CLEAVE_VERB_COPY;
        break;
    case 'e':
        if (word_is(word, length, "end")) {
            take_chain(w, out);
            return CLEAVE_VERB_COMMIT;
        }
        if (word_is(word, length, "execute")) {
            take_name(w, out);
            return CLEAVE_VERB_EXECUTE;
        }
        break;
    case 'a':
        if (word_is(word, length, "abort")) {
            take_chain(w, out);
            return CLEAVE_VERB_ROLLBACK;
        }
        break;
    case 'r':
        if (word_is(word, length, "rollback")) {
            if (accept(w, "prepared")) {
                take_name(w, out);
                return CLEAVE_VERB_ROLLBACK_PREPARED;
            }
            if (!accept(w, "work"))
                accept(w, "transaction");
            if (accept(w, "to")) {
                accept(w, "savepoint");
                take_name(w, out);
                return CLEAVE_VERB_ROLLBACK_TO;
            }
            take_chain(w, out);
            return CLEAVE_VERB_ROLLBACK;
        }
        if (word_is(word, length, "release")) {
            accept(w, "savepoint");
            take_name(w, out);
            return CLEAVE_VERB_RELEASE;
        }
        break;
    case 'p':
        if (word_is(word, length, "prepare")) {
            size_t before = w->at;
            if (accept(w, "transaction")) {
                take_name(w, out);
                if (out->name && (out->name[0] == '\'' || (out->name[0] | 32) == 'e'))
                    return CLEAVE_VERB_PREPARE_TRANSACTION;
                w->at = before;
                out->name = NULL;
                out->name_length = 0;
            }
            take_name(w, out);
            return CLEAVE_VERB_PREPARE;
        }
        break;
    case 'd':
        if (word_is(word, length, "delete"))
            return CLEAVE_VERB_DML;
        if (word_is(word, length, "deallocate")) {
            accept(w, "prepare");
            take_name(w, out);
            return CLEAVE_VERB_DEALLOCATE;
        }
        if (word_is(word, length, "discard")) {
            take_name(w, out);
            return CLEAVE_VERB_DISCARD;
        }
        break;
    default:
        break;
    }
    for (size_t i = 0; i < sizeof known_words / sizeof *known_words; i++) {
        if (word_is(word, length, known_words[i]))
            return CLEAVE_VERB_KNOWN;
    }
    return CLEAVE_VERB_OTHER;
}

static void classify(const char *text, size_t length, struct cleave_piece *out)
{
    while (length && is_blank((unsigned char)*text)) {
        text++;
        length--;
    }
    while (length && is_blank((unsigned char)text[length - 1]))
        length--;
    *out = (struct cleave_piece){.text = text, .length = length};
    struct words w = {text, length, 0};
    w.at = cleave__split_skip_blank(text, length);
    while (w.at < length && text[w.at] == '(')
        w.at += 1 + cleave__split_skip_blank(text + w.at + 1, length - w.at - 1);
    size_t word_length = 0;
    const char *word = next_word(&w, &word_length);
    out->verb = verb_of(&w, word, word_length, out);
    out->rest = text + w.at;
    out->rest_length = length - w.at;
}

void cleave__split_classify(const char *text, size_t length, struct cleave_piece *out)
{
    while (length && (is_blank((unsigned char)text[length - 1]) || text[length - 1] == ';'))
        length--;
    classify(text, length, out);
}

bool cleave__split_next(const char **at, const char *end, struct cleave_piece *out)
{
    while (*at < end) {
        struct cleave_splitter s = {0};
        const char *text = *at;
        size_t used = 0;
        bool ended = cleave__split_feed(&s, text, (size_t)(end - text), &used);
        *at = text + used;
        if (!s.some)
            continue;
        classify(text, used - ended, out);
        return true;
    }
    return false;
}

/* Cutting a script into statements: one state machine, a byte at a time. See ddl_script.h. */
#include "tables/source/ddl_script.h"

#include <string.h>

enum state {
    PLAIN,
    DASH,  /* after one '-' */
    SLASH, /* after one '/' */
    LINE_COMMENT,
    BLOCK_COMMENT,
    BLOCK_STAR,   /* in a comment, after '*' */
    BLOCK_SLASH,  /* in a comment, after '/' */
    QUOTE,        /* '...' */
    QUOTE_ESCAPE, /* after a backslash in E'...' */
    IDENTIFIER,   /* "..." */
    DOLLAR,       /* "$tag" so far, not yet a quote */
    DOLLAR_BODY,
    META, /* a backslash command */
    DATA, /* COPY data */
};

/* Steps of seeing COPY ... FROM STDIN. */
enum copy { COPY_NO, COPY_WORD, COPY_FROM, COPY_STDIN };

void cleave__script_init(struct cleave_script *script, const char *name, cleave_script_take take,
                         void *context)
{
    *script = (struct cleave_script){.name = name, .take = take, .context = context, .line = 1};
}

void cleave__script_free(struct cleave_script *script)
{
    CLEAVE_VECTOR_FREE(&script->text);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static enum cleave_status keep(struct cleave_script *script, char c, struct cleave_error *error)
{
    if (script->text.count >= CLEAVE_SCRIPT_STATEMENT_MAX) {
        script->cut = true;
        return CLEAVE_OK;
    }
    if (!CLEAVE_PUSH(&script->text, c))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s:%zu: out of memory", script->name,
                                script->line);
    return CLEAVE_OK;
}

static bool first_words(const struct cleave_script *script, const char *last)
{
    /* CREATE [OR REPLACE] last */
    uint32_t at = 1;
    if (script->word_count == 0 || strcmp(script->words[0], "create") != 0)
        return false;
    if (script->word_count > 2 && strcmp(script->words[1], "or") == 0)
        at = 3;
    return script->word_count > at && strcmp(script->words[at], last) == 0;
}

static void end_word(struct cleave_script *script)
{
    if (!script->in_word)
        return;
    script->in_word = false;
    script->word[script->word_length] = 0;
    const char *word = script->word;
    if (!script->words_closed && script->word_count < CLEAVE_SCRIPT_WORDS) {
        memcpy(script->words[script->word_count++], word, script->word_length + 1);
        if (script->word_count == 1 && strcmp(word, "copy") == 0)
            script->copy = COPY_WORD;
    }
    if (script->copy && script->parentheses == 0) {
        if (script->copy == COPY_WORD && strcmp(word, "from") == 0)
            script->copy = COPY_FROM;
        else if (script->copy == COPY_FROM)
            script->copy = strcmp(word, "stdin") == 0 ? COPY_STDIN : COPY_NO;
    }
    if (script->begins == 0) {
        if (strcmp(word, "atomic") == 0 &&
            (first_words(script, "function") || first_words(script, "procedure")))
            script->begins = 1;
    } else if (strcmp(word, "begin") == 0 || strcmp(word, "case") == 0) {
        script->begins++;
    } else if (strcmp(word, "end") == 0) {
        script->begins--;
    }
}

static void start_statement(struct cleave_script *script)
{
    script->text.count = 0;
    script->parentheses = script->begins = 0;
    script->word_count = 0;
    script->words_closed = script->cut = script->in_word = false;
    script->copy = COPY_NO;
    script->previous = 0;
}

static enum cleave_status give(struct cleave_script *script, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    bool data = script->copy == COPY_STDIN;
    if (script->text.count) {
        bool cut = script->cut;
        size_t length = script->text.count;
        if (!CLEAVE_PUSH(&script->text, 0))
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s:%zu: out of memory", script->name,
                                    script->line);
        struct cleave_script_statement statement = {
            .text = script->text.data,
            .length = length,
            .line = script->start_line,
            .cut = cut,
            .word_count = script->word_count,
            .words = (const char(*)[CLEAVE_SCRIPT_WORD_MAX])script->words,
        };
        status = script->take(script->context, &statement, error);
    }
    start_statement(script);
    if (data) {
        /* The rest of this line still belongs to the statement; data start on the next. */
        script->state = DATA;
        script->data_length = UINT32_MAX;
    }
    return status;
}

static void open_at(struct cleave_script *script, enum state state)
{
    script->state = state;
    script->open_line = script->line;
    script->words_closed = true;
}

/* A byte outside quotes and comments. */
static enum cleave_status plain(struct cleave_script *script, char c, struct cleave_error *error)
{
    bool continues = script->in_word;
    bool doubled = script->previous == '\'' && c == '\''; /* E'..''..': still the same string */
    script->previous = c;
    if (is_word(c)) {
        if (!continues) {
            script->in_word = true;
            script->word_length = 0;
        }
        if (script->word_length < CLEAVE_SCRIPT_WORD_MAX - 1)
            script->word[script->word_length++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (continues && c == '$') {
        /* part of the identifier a$b, not a quote */
        script->word[0] = '$';
    } else {
        bool escape_prefix = continues && script->word_length == 1 && script->word[0] == 'e';
        bool string_prefix = escape_prefix || (continues && script->word_length == 1 &&
                                               strchr("bxn", script->word[0]));
        if (c == '\'' && string_prefix)
            script->in_word = false; /* E'..' is no word */
        end_word(script);
        switch (c) {
        case '\'':
            open_at(script, QUOTE);
            script->escapes = escape_prefix || (doubled && script->escapes);
            break;
        case '"':
            open_at(script, IDENTIFIER);
            break;
        case '$':
            open_at(script, DOLLAR);
            script->tag[0] = '$';
            script->tag_length = 1;
            break;
        case '-':
            script->state = DASH;
            return CLEAVE_OK; /* kept, if need be, with what follows */
        case '/':
            script->state = SLASH;
            return CLEAVE_OK;
        case '\\':
            script->state = META;
            return CLEAVE_OK;
        case '(':
            script->words_closed = true;
            script->parentheses++;
            break;
        case ')':
            script->words_closed = true;
            if (script->parentheses)
                script->parentheses--;
            break;
        case ';':
            if (script->begins || (script->parentheses && first_words(script, "rule")))
                break;
            return give(script, error);
        default:
            if (!is_space(c))
                script->words_closed = true;
        }
    }
    if (script->text.count == 0) {
        if (is_space(c))
            return CLEAVE_OK;
        script->start_line = script->line;
    }
    return keep(script, c, error);
}

static enum cleave_status dollar(struct cleave_script *script, char c, struct cleave_error *error)
{
    bool digit_first = script->tag_length == 1 && c >= '0' && c <= '9';
    if (c == '$' || (is_word(c) && !digit_first && script->tag_length < sizeof script->tag - 2)) {
        script->tag[script->tag_length++] = c;
        if (c == '$') {
            script->state = DOLLAR_BODY;
            script->tag_match = 0;
        }
        return keep(script, c, error);
    }
    script->state = PLAIN; /* "$1" or a stray dollar */
    return plain(script, c, error);
}

static void dollar_body(struct cleave_script *script, char c)
{
    if (c == script->tag[script->tag_match]) {
        if (++script->tag_match == script->tag_length)
            script->state = PLAIN;
    } else {
        /* '$' stands only at a tag's ends, so a failed match can restart only at a '$'. */
        script->tag_match = c == '$';
    }
}

static void data_byte(struct cleave_script *script, char c)
{
    if (c != '\n') {
        if (script->data_length < sizeof script->data_start)
            script->data_start[script->data_length++] = c;
        return;
    }
    uint32_t length = script->data_length;
    if (length <= sizeof script->data_start && length && script->data_start[length - 1] == '\r')
        length--;
    if (length == 2 && memcmp(script->data_start, "\\.", 2) == 0)
        script->state = PLAIN;
    script->data_length = 0;
}

static enum cleave_status step(struct cleave_script *script, char c, struct cleave_error *error)
{
    enum cleave_status status;
    switch ((enum state)script->state) {
    case PLAIN:
        return plain(script, c, error);
    case DASH:
    case SLASH: {
        bool dash = script->state == DASH;
        if (c == (dash ? '-' : '*')) {
            script->state = dash ? LINE_COMMENT : BLOCK_COMMENT;
            script->depth = 1;
            script->open_line = script->line;
            return script->text.count ? keep(script, ' ', error) : CLEAVE_OK;
        }
        script->state = PLAIN;
        script->words_closed = true;
        if (script->text.count == 0)
            script->start_line = script->line;
        if ((status = keep(script, dash ? '-' : '/', error)))
            return status;
        return plain(script, c, error);
    }
    case LINE_COMMENT:
        if (c != '\n')
            return CLEAVE_OK;
        script->state = PLAIN;
        return script->text.count ? keep(script, c, error) : CLEAVE_OK;
    case BLOCK_COMMENT:
    case BLOCK_STAR:
    case BLOCK_SLASH:
        if (script->state == BLOCK_STAR && c == '/') {
            script->state = --script->depth ? BLOCK_COMMENT : PLAIN;
            return CLEAVE_OK;
        }
        if (script->state == BLOCK_SLASH && c == '*') {
            script->depth++;
            script->state = BLOCK_COMMENT;
            return CLEAVE_OK;
        }
        script->state = c == '*' ? BLOCK_STAR : c == '/' ? BLOCK_SLASH : BLOCK_COMMENT;
        /* Newlines are kept, so that lines can be counted in the statement's text. */
        return c == '\n' && script->text.count ? keep(script, c, error) : CLEAVE_OK;
    case QUOTE:
        if (c == '\'')
            script->state = PLAIN; /* a doubled quote opens another at once: the same outcome */
        else if (c == '\\' && script->escapes)
            script->state = QUOTE_ESCAPE;
        script->previous = c;
        return keep(script, c, error);
    case QUOTE_ESCAPE:
        script->state = QUOTE;
        return keep(script, c, error);
    case IDENTIFIER:
        if (c == '"')
            script->state = PLAIN;
        return keep(script, c, error);
    case DOLLAR:
        return dollar(script, c, error);
    case DOLLAR_BODY:
        dollar_body(script, c);
        return keep(script, c, error);
    case META:
        if (c != '\n')
            return CLEAVE_OK;
        script->state = PLAIN;
        return plain(script, c, error);
    case DATA:
        data_byte(script, c);
        return CLEAVE_OK;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__script_feed(struct cleave_script *script, const char *bytes,
                                       size_t length, struct cleave_error *error)
{
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        if (script->order_mark < 3) {
            if (c == "\xef\xbb\xbf"[script->order_mark++])
                continue;
            script->order_mark = 3;
        }
        if (script->state == DATA && c != '\n' &&
            script->data_length >= sizeof script->data_start) {
            /* The bulk of a dump: run to the end of the line. */
            const char *end = memchr(bytes + i, '\n', length - i);
            if (!end)
                return CLEAVE_OK;
            i = (size_t)(end - bytes);
            c = '\n';
        }
        if (c == 0)
            return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                    "%s:%zu: a NUL byte; this is not an SQL script in UTF-8",
                                    script->name, script->line);
        enum cleave_status status = step(script, c, error);
        if (status)
            return status;
        if (c == '\n')
            script->line++;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__script_end(struct cleave_script *script, struct cleave_error *error)
{
    static const char *const what[] = {
        [BLOCK_COMMENT] = "a comment",
        [BLOCK_STAR] = "a comment",
        [BLOCK_SLASH] = "a comment",
        [QUOTE] = "a quoted string",
        [QUOTE_ESCAPE] = "a quoted string",
        [IDENTIFIER] = "a quoted identifier",
        [DOLLAR_BODY] = "a dollar-quoted string",
    };
    if (script->state < sizeof what / sizeof *what && what[script->state])
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s:%zu: %s opens here and never closes",
                                script->name, script->open_line, what[script->state]);
    end_word(script);
    if (script->state == DATA)
        return CLEAVE_OK;
    if ((script->state == DASH || script->state == SLASH) && script->text.count) {
        enum cleave_status status = keep(script, script->state == DASH ? '-' : '/', error);
        if (status)
            return status;
    }
    return give(script, error);
}

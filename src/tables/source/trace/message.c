/* Log messages. The forms are those of PostgreSQL's tcop/postgres.c, all versions since 9:
 *   [duration: N ms  ]statement: TEXT
 *   [duration: N ms  ]execute NAME[/PORTAL]: TEXT
 *   [duration: N ms  ]execute fetch from NAME[/PORTAL]: TEXT
 *   duration: N ms  parse|bind NAME: TEXT        duration: N ms        duration: N ms  plan: ... */
#include "tables/source/trace/message.h"

#include <string.h>

static bool starts(const struct cleave_span *s, const char *what, size_t length)
{
    return s->length >= length && memcmp(s->text, what, length) == 0;
}
#define STARTS(span, literal) starts((span), "" literal, sizeof(literal) - 1)

static struct cleave_span behind(struct cleave_span s, size_t count)
{
    return (struct cleave_span){s.text + count, s.length - count};
}

enum cleave_severity cleave__severity_of(const char *text, size_t size, size_t *length)
{
    static const struct {
        const char *word;
        uint8_t length, severity;
    } words[] = {
        {"LOG", 3, CLEAVE_SEVERITY_LOG},
        {"DETAIL", 6, CLEAVE_SEVERITY_DETAIL},
        {"STATEMENT", 9, CLEAVE_SEVERITY_STATEMENT},
        {"ERROR", 5, CLEAVE_SEVERITY_ERROR},
        {"FATAL", 5, CLEAVE_SEVERITY_FATAL},
        {"PANIC", 5, CLEAVE_SEVERITY_FATAL},
        {"WARNING", 7, CLEAVE_SEVERITY_NOTICE},
        {"NOTICE", 6, CLEAVE_SEVERITY_NOTICE},
        {"INFO", 4, CLEAVE_SEVERITY_NOTICE},
        {"HINT", 4, CLEAVE_SEVERITY_ASIDE},
        {"CONTEXT", 7, CLEAVE_SEVERITY_ASIDE},
        {"QUERY", 5, CLEAVE_SEVERITY_ASIDE},
        {"LOCATION", 8, CLEAVE_SEVERITY_ASIDE},
        {"BACKTRACE", 9, CLEAVE_SEVERITY_ASIDE},
        {"DEBUG1", 6, CLEAVE_SEVERITY_NOTICE},
        {"DEBUG2", 6, CLEAVE_SEVERITY_NOTICE},
        {"DEBUG3", 6, CLEAVE_SEVERITY_NOTICE},
        {"DEBUG4", 6, CLEAVE_SEVERITY_NOTICE},
        {"DEBUG5", 6, CLEAVE_SEVERITY_NOTICE},
        {"DEBUG", 5, CLEAVE_SEVERITY_NOTICE},
    };
    if (size == 0 || *text < 'B' || *text > 'W')
        return CLEAVE_SEVERITY_NONE;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (size >= words[i].length && memcmp(text, words[i].word, words[i].length) == 0) {
            *length = words[i].length;
            return (enum cleave_severity)words[i].severity;
        }
    }
    return CLEAVE_SEVERITY_NONE;
}

/* What follows "NAME: ": a name may hold anything but that. */
static bool behind_name(struct cleave_span s, struct cleave_span *text)
{
    const char *colon = memmem(s.text, s.length, ": ", 2);
    if (!colon)
        return false;
    *text = behind(s, (size_t)(colon - s.text) + 2);
    return true;
}

static struct cleave_message step_of(struct cleave_span s, bool done)
{
    struct cleave_message m = {CLEAVE_MESSAGE_OTHER, done, {s.text, 0}};
    if (STARTS(&s, "statement: ")) {
        m.kind = CLEAVE_MESSAGE_SIMPLE;
        m.text = behind(s, 11);
    } else if (s.length == 10 && STARTS(&s, "statement:")) {
        m.kind = CLEAVE_MESSAGE_SIMPLE; /* an empty string whose blank a shipper trimmed */
    } else if (STARTS(&s, "execute fetch from ")) {
        if (behind_name(behind(s, 19), &m.text))
            m.kind = CLEAVE_MESSAGE_FETCH;
    } else if (STARTS(&s, "execute ")) {
        if (behind_name(behind(s, 8), &m.text))
            m.kind = CLEAVE_MESSAGE_EXECUTE;
    } else if (done && (STARTS(&s, "parse ") || STARTS(&s, "bind "))) {
        if (behind_name(behind(s, 5), &m.text))
            m.kind = CLEAVE_MESSAGE_PARSE;
    }
    return m;
}

struct cleave_message cleave__message_of(struct cleave_span s)
{
    if (STARTS(&s, "duration: ")) {
        size_t i = 10;
        while (i < s.length && ((s.text[i] >= '0' && s.text[i] <= '9') || s.text[i] == '.'))
            i++;
        struct cleave_span rest = behind(s, i);
        if (i == 10 || !STARTS(&rest, " ms"))
            return (struct cleave_message){0};
        rest = behind(rest, 3);
        size_t blanks = 0;
        while (blanks < rest.length && rest.text[blanks] == ' ')
            blanks++;
        rest = behind(rest, blanks);
        if (rest.length == 0)
            return (struct cleave_message){CLEAVE_MESSAGE_DURATION, true, rest};
        return step_of(rest, true);
    }
    struct cleave_message m = step_of(s, false);
    if (m.kind != CLEAVE_MESSAGE_OTHER)
        return m;
    if (STARTS(&s, "connection received:"))
        m.kind = CLEAVE_MESSAGE_CONNECT;
    else if (STARTS(&s, "connection authorized:"))
        m.kind = CLEAVE_MESSAGE_AUTHORIZE;
    else if (STARTS(&s, "disconnection:"))
        m.kind = CLEAVE_MESSAGE_DISCONNECT;
    else if (STARTS(&s, "database system was ") || STARTS(&s, "starting PostgreSQL ") ||
             STARTS(&s, "all server processes terminated"))
        m.kind = CLEAVE_MESSAGE_RESTART;
    m.text = s;
    return m;
}

struct cleave_span cleave__message_field(struct cleave_span s, const char *key)
{
    size_t size = strlen(key);
    for (size_t i = 0; i + size < s.length; i++) {
        if ((i == 0 || s.text[i - 1] == ' ') && memcmp(s.text + i, key, size) == 0 &&
            s.text[i + size] == '=') {
            struct cleave_span value = behind(s, i + size + 1);
            const char *end = memchr(value.text, ' ', value.length);
            if (end)
                value.length = (size_t)(end - value.text);
            return value;
        }
    }
    return (struct cleave_span){s.text, 0};
}

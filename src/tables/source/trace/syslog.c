/* What syslog puts before each line: "May  1 12:00:00 host postgres[123]: [5-1] ", the same with an
 * ISO time, or RFC 5424's "<134>1 2026-11-30T02:21:31.845Z host postgres 123 - - [5-1] ". The
 * number behind the dash counts the pieces into which the server cut one message. */
#include <string.h>

#include "tables/source/trace/prefix.h"

enum { HEADER_MAX = 256 };

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_time(const char *s, size_t n)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (n < 16)
        return false;
    if (digit(s[0]))
        return s[4] == '-' && s[7] == '-' && s[10] == 'T' && s[13] == ':';
    for (size_t m = 0; m < 36; m += 3) {
        if (memcmp(s, months + m, 3) == 0)
            return s[3] == ' ' && s[9] == ':' && s[12] == ':';
    }
    return false;
}

/* Skips a blank-separated word; 0 when there is none. */
static size_t behind_word(const char *s, size_t n, size_t at)
{
    while (at < n && s[at] != ' ')
        at++;
    return at < n ? at + 1 : 0;
}

bool cleave__syslog_header(const char *line, size_t length, struct cleave_syslog *out)
{
    size_t n = length < HEADER_MAX ? length : HEADER_MAX, at = 0;
    struct cleave_syslog result = {.chunk = 0};
    bool modern = false;
    if (n && line[0] == '<') { /* <priority>version */
        while (at < n && line[at] != '>')
            at++;
        at += at < n;
        if (at + 2 < n && line[at] == '1' && line[at + 1] == ' ') {
            modern = true;
            at += 2;
        }
    }
    if (!is_time(line + at, n - at))
        return false;
    if (modern) {
        for (int word = 0; word < 5; word++) { /* time, host, program, process, message */
            size_t next = behind_word(line, n, at);
            if (!next)
                return false;
            if (word == 3)
                result.pid = (struct cleave_span){line + at, next - 1 - at};
            at = next;
        }
        if (at + 1 < n && line[at] == '-' && line[at + 1] == ' ')
            at += 2;
        for (size_t i = 0; i < result.pid.length; i++) {
            if (!digit(result.pid.text[i]))
                return false;
        }
    } else {
        const char *end = memmem(line + at, n - at, "]: ", 3);
        if (!end)
            return false;
        const char *start = end;
        while (start > line + at && digit(start[-1]))
            start--;
        if (start == end || start == line + at || start[-1] != '[')
            return false;
        result.pid = (struct cleave_span){start, (size_t)(end - start)};
        at = (size_t)(end - line) + 3;
    }
    /* [message-piece] */
    size_t i = at;
    if (i < n && line[i] == '[') {
        size_t first = ++i;
        while (i < n && digit(line[i]))
            i++;
        size_t dash = i;
        uint32_t piece = 0;
        if (i > first && i < n && line[i] == '-') {
            for (i++; i < n && digit(line[i]) && piece < 1000000; i++)
                piece = piece * 10 + (uint32_t)(line[i] - '0');
            if (i > dash + 1 && i + 1 < n && line[i] == ']' && line[i + 1] == ' ') {
                result.chunk = piece;
                at = i + 2;
            }
        }
    }
    result.rest = at;
    *out = result;
    return result.pid.length > 0;
}

/* A record as a line of logfmt or JSON, within its bound whatever the fields hold: each field is
 * written whole, or cut, or (when not even its name has room) left out. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log_line.h"
#include "base/text.h"

static const char *const levels[] = {"debug", "info", "warn", "error"};

enum { TAIL = 8 }; /* kept free: "..." and what closes quotes, record and line */

static size_t room(const struct cleave__log_line *line)
{
    size_t most = sizeof line->text - TAIL;
    return line->length < most ? most - line->length : 0;
}

static void put(struct cleave__log_line *line, const char *bytes, size_t length)
{
    memcpy(line->text + line->length, bytes, length);
    line->length += length;
}

/* One code point of `text` as it is written between quotes; its length in `text`. */
static size_t escape(const char *text, size_t left, bool json, char out[8], size_t *out_length)
{
    uint32_t length = cleave__utf8_length(text, left);
    unsigned char c = (unsigned char)*text;
    if (!length) {
        memcpy(out, "\xef\xbf\xbd", *out_length = 3);
        return 1;
    }
    if (c == '"' || c == '\\') {
        out[0] = '\\';
        out[1] = *text;
        *out_length = 2;
    } else if (c == '\n' || c == '\t' || c == '\r') {
        out[0] = '\\';
        out[1] = c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
        *out_length = 2;
    } else if (c < 0x20 || c == 0x7f) {
        *out_length = (size_t)snprintf(out, 8, json ? "\\u%04x" : "\\x%02x", c);
    } else {
        memcpy(out, text, *out_length = length);
    }
    return length;
}

static void put_quoted(struct cleave__log_line *line, const char *text, size_t length, bool json)
{
    put(line, "\"", 1);
    while (length) {
        char piece[8];
        size_t piece_length, taken = escape(text, length, json, piece, &piece_length);
        if (room(line) < piece_length) {
            put(line, "...", 3);
            break;
        }
        put(line, piece, piece_length);
        text += taken;
        length -= taken;
    }
    put(line, "\"", 1);
}

static bool is_bare(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c <= 0x20 || c >= 0x7f || c == '"' || c == '=' || c == '\\')
            return false;
    }
    return length > 0;
}

static void put_text(struct cleave__log_line *line, const char *text, size_t length, bool json)
{
    if (!json && is_bare(text, length) && length <= room(line))
        put(line, text, length);
    else
        put_quoted(line, text, length, json);
}

void cleave__url_password(const char *url, size_t *from, size_t *to)
{
    *from = *to = 0;
    const char *scheme = strstr(url, "://");
    const char *start = scheme ? scheme + 3 : url;
    const char *end = start + strcspn(start, "/?#"), *at = NULL;
    for (const char *c = start; c < end; c++)
        at = *c == '@' ? c : at;
    /* A password with a slash in it: no URL, but nothing of it shall be shown. */
    const char *last = strrchr(start, '@');
    if (last && !at)
        at = last;
    const char *colon = at ? memchr(start, ':', (size_t)(at - start)) : NULL;
    if (colon) {
        *from = (size_t)(colon + 1 - url);
        *to = (size_t)(at - url);
    } else if (at) { /* a token alone */
        *from = (size_t)(start - url);
        *to = (size_t)(at - url);
    }
}

static void put_url(struct cleave__log_line *line, const char *url, bool json)
{
    char shown[1000];
    size_t from, to, length = strlen(url);
    cleave__url_password(url, &from, &to);
    size_t head = from < sizeof shown - 4 ? from : sizeof shown - 4, used = head;
    memcpy(shown, url, head);
    if (to > from) {
        memcpy(shown + used, "***", 3);
        used += 3;
    }
    size_t tail = length - to < sizeof shown - used ? length - to : sizeof shown - used;
    memcpy(shown + used, url + to, tail);
    put_text(line, shown, used + tail, json);
}

static void put_number(struct cleave__log_line *line, const struct cleave_log_field *field,
                       bool json)
{
    char text[60];
    struct cleave_writer real = {0};
    switch (field->type) {
    case CLEAVE_LOG_FIELD_INTEGER:
        snprintf(text, sizeof text, "%lld", (long long)field->value.integer);
        break;
    case CLEAVE_LOG_FIELD_UNSIGNED:
        snprintf(text, sizeof text, "%llu", (unsigned long long)field->value.number);
        break;
    case CLEAVE_LOG_FIELD_BOOLEAN:
        snprintf(text, sizeof text, "%s", field->value.boolean ? "true" : "false");
        break;
    default:
        if (!isfinite(field->value.real) && json) {
            snprintf(text, sizeof text, "null");
            break;
        }
        cleave__put_real(&real, field->value.real);
        snprintf(text, sizeof text, "%.*s", real.failed ? 1 : (int)real.count,
                 real.failed ? "0" : (const char *)real.data);
        free(real.data);
        break;
    }
    put(line, text, strlen(text));
}

static void put_field(struct cleave__log_line *line, const struct cleave_log_field *field,
                      bool json)
{
    enum { NUMBER = 60 };
    size_t name = strlen(field->name);
    if (room(line) < name + NUMBER)
        return;
    put(line, json ? ",\"" : " ", json ? 2 : 1);
    put(line, field->name, name);
    put(line, json ? "\":" : "=", json ? 2 : 1);
    if (field->type == CLEAVE_LOG_FIELD_TEXT)
        put_text(line, field->value.text ? field->value.text : "",
                 field->value.text ? strlen(field->value.text) : 0, json);
    else if (field->type == CLEAVE_LOG_FIELD_URL)
        put_url(line, field->value.text ? field->value.text : "", json);
    else
        put_number(line, field, json);
}

void cleave__log_format(struct cleave__log_line *line, enum cleave_log_format format,
                        uint64_t now_ms, enum cleave_log_level level, const char *event,
                        const struct cleave_log_field *fields, uint32_t count, uint64_t repeated)
{
    bool json = format == CLEAVE_LOG_JSON;
    time_t seconds = (time_t)(now_ms / 1000);
    struct tm tm = {0};
    char head[100];
    gmtime_r(&seconds, &tm);
    snprintf(head, sizeof head,
             json ? "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\",\"level\":\"%s\""
                  : "time=%04d-%02d-%02dT%02d:%02d:%02d.%03dZ level=%s",
             tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
             (int)(now_ms % 1000), levels[level]);
    line->length = 0;
    put(line, head, strlen(head));
    put_field(line, &CLEAVE_FIELD_TEXT("event", event), json);
    if (repeated)
        put_field(line, &CLEAVE_FIELD_UNSIGNED("repeated", repeated), json);
    for (uint32_t i = 0; i < count; i++)
        put_field(line, &fields[i], json);
    put(line, json ? "}\n" : "\n", json ? 2 : 1);
}

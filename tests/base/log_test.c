/* Logs: exact lines; random fields, read back by a JSON parser and a reader of logfmt; repeats,
 * torn lines, lost lines; no passwords; many threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/log.h"
#include "base/log_line.h"
#include "support/property.h"

struct sink {
    char text[200000];
    size_t length, most; /* a disk of that many bytes; 0: no bound */
    uint64_t now_ms;
};

static size_t sink_write(void *context, const char *bytes, size_t length)
{
    struct sink *sink = context;
    size_t most = sink->most ? sink->most : sizeof sink->text - 1;
    size_t room = most > sink->length ? most - sink->length : 0;
    size_t n = length < room ? length : room;
    memcpy(sink->text + sink->length, bytes, n);
    sink->length += n;
    sink->text[sink->length] = 0;
    return n;
}

static uint64_t sink_now(void *context)
{
    return ((struct sink *)context)->now_ms;
}

static struct cleave_log *log_on(struct sink *sink, enum cleave_log_format format)
{
    struct cleave_log *log;
    struct cleave_error error;
    sink->now_ms = 1796089892123;
    assert_int_equal(cleave__log_new(&(struct cleave_log_options){.level = CLEAVE_LOG_INFO,
                                                                  .format = format,
                                                                  .write = sink_write,
                                                                  .context = sink,
                                                                  .now_ms = sink_now},
                                     &log, &error),
                     CLEAVE_OK);
    return log;
}

static void lines_are_exact(void **state)
{
    static struct sink sink;
    (void)state;
    struct cleave_log *log = log_on(&sink, CLEAVE_LOG_TEXT);
    CLEAVE_LOG(log, CLEAVE_LOG_DEBUG, "not told", CLEAVE_FIELD_TEXT("a", "b"));
    CLEAVE_LOG(log, CLEAVE_LOG_INFO, "listening", CLEAVE_FIELD_TEXT("address", "127.0.0.1"),
               CLEAVE_FIELD_UNSIGNED("port", UINT64_MAX), CLEAVE_FIELD_INTEGER("off", -3),
               CLEAVE_FIELD_REAL("share", 0.1), CLEAVE_FIELD_BOOLEAN("up", true),
               CLEAVE_FIELD_TEXT("why", "a \"b\"\n\x01 \xff"), CLEAVE_FIELD_TEXT("none", NULL),
               CLEAVE_FIELD_URL("url", "nats://me:secret@host:4222/x"));
    cleave__log_free(log);
    assert_string_equal(sink.text,
                        "time=2026-12-01T01:51:32.123Z level=info event=listening "
                        "address=127.0.0.1 port=18446744073709551615 off=-3 share=0.1 up=true "
                        "why=\"a \\\"b\\\"\\n\\x01 \xef\xbf\xbd\" none=\"\" "
                        "url=nats://me:***@host:4222/x\n");
    sink = (struct sink){0};
    log = log_on(&sink, CLEAVE_LOG_JSON);
    CLEAVE_LOG(log, CLEAVE_LOG_WARN, "it is", CLEAVE_FIELD_TEXT("why", "a \"\x01"),
               CLEAVE_FIELD_REAL("nan", (double)__builtin_nan("")), CLEAVE_FIELD_UNSIGNED("n", 7));
    cleave__log_free(log);
    assert_string_equal(sink.text, "{\"time\":\"2026-12-01T01:51:32.123Z\",\"level\":\"warn\","
                                   "\"event\":\"it is\",\"why\":\"a \\\"\\u0001\",\"nan\":null,"
                                   "\"n\":7}\n");
    cleave__log_write(NULL, CLEAVE_LOG_ERROR, "nowhere", NULL, 0);
}

static void passwords_are_cut(void **state)
{
    static const char *const urls[] = {
        "nats://user:hunter2@h:1",
        "nats://hunter2@h:1",
        "postgres://u:hunter2@h/db",
        "tls://u:hun:hunter2@h",
        "nats://u:p@hunter2@h:1",
        "nats://u:p/hunter2@h:1",
        "u:hunter2@h",
        "nats://u:hunter2@",
    };
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct sink *sink = calloc(1, sizeof *sink);
        struct cleave_log *log = log_on(sink, i % 2 ? CLEAVE_LOG_JSON : CLEAVE_LOG_TEXT);
        CLEAVE_LOG(log, CLEAVE_LOG_WARN, "e", CLEAVE_FIELD_URL("url", urls[i]));
        cleave__log_free(log);
        if (strstr(sink->text, "hunter2") || !strstr(sink->text, "***"))
            fail_msg("%s", sink->text);
        free(sink);
    }
    size_t from, to;
    cleave__url_password("nats://host:4222/a:b", &from, &to);
    assert_int_equal(from, 0);
    assert_int_equal(to, 0);
}

static uint64_t lines_with(const char *text, const char *what)
{
    uint64_t count = 0;
    for (; (text = strstr(text, what)); text++)
        count++;
    return count;
}

static void repeats_are_held(void **state)
{
    static struct sink sink;
    (void)state;
    struct cleave_log *log = log_on(&sink, CLEAVE_LOG_TEXT);
    for (int i = 0; i < 822; i++) {
        CLEAVE_LOG(log, CLEAVE_LOG_WARN, "gone", CLEAVE_FIELD_INTEGER("i", i));
        assert_true(cleave__log_check(log));
    }
    assert_int_equal(lines_with(sink.text, "event=gone"), CLEAVE_LOG_BURST);
    CLEAVE_LOG(log, CLEAVE_LOG_WARN, "other", CLEAVE_FIELD_INTEGER("i", 1));
    assert_int_equal(lines_with(sink.text, "repeated"), 0);
    sink.now_ms += 1000;
    CLEAVE_LOG(log, CLEAVE_LOG_WARN, "other", CLEAVE_FIELD_INTEGER("i", 2));
    assert_non_null(strstr(sink.text, "level=warn event=gone repeated=812\n"));
    for (int i = 0; i < 13; i++)
        CLEAVE_LOG(log, CLEAVE_LOG_WARN, "gone", CLEAVE_FIELD_INTEGER("i", i));
    sink.now_ms += 1000;
    cleave__log_settle(log);
    assert_non_null(strstr(sink.text, "event=gone repeated=3\n"));
    for (int i = 0; i < 15; i++)
        CLEAVE_LOG(log, CLEAVE_LOG_WARN, "last", CLEAVE_FIELD_INTEGER("i", i));
    cleave__log_free(log);
    assert_non_null(strstr(sink.text, "event=last repeated=5\n"));
}

static void lost_lines_are_told(void **state)
{
    static struct sink sink;
    (void)state;
    struct cleave_log *log = log_on(&sink, CLEAVE_LOG_TEXT);
    CLEAVE_LOG(log, CLEAVE_LOG_INFO, "one", CLEAVE_FIELD_INTEGER("i", 1));
    sink.most = sink.length + 10; /* the disk fills up in the next line */
    CLEAVE_LOG(log, CLEAVE_LOG_INFO, "two", CLEAVE_FIELD_INTEGER("i", 2));
    CLEAVE_LOG(log, CLEAVE_LOG_INFO, "three", CLEAVE_FIELD_INTEGER("i", 3));
    assert_int_equal(cleave__log_lost(log), 2);
    sink.most = 0;
    CLEAVE_LOG(log, CLEAVE_LOG_INFO, "four", CLEAVE_FIELD_INTEGER("i", 4));
    assert_true(cleave__log_check(log));
    cleave__log_free(log);
    const char *torn = strstr(sink.text, "i=1\n") + 4;
    assert_true(torn[10] == '\n'); /* the torn line ends before the next begins */
    assert_non_null(strstr(torn + 10, "event=four i=4\n"));
    assert_non_null(strstr(torn + 10, "event=\"log lines lost\" count=2\n"));
}

/* ---- random fields ---- */

/* The next field of a line of logfmt; false if it is none. `value` unescaped. */
static bool logfmt_next(const char **at, char *name, char *value)
{
    size_t n = strcspn(*at, "=\n");
    if (n == 0 || n > 30 || (*at)[n] != '=')
        return false;
    memcpy(name, *at, n);
    name[n] = 0;
    const char *c = *at + n + 1;
    if (*c != '"') {
        n = strcspn(c, " \n");
        if (memchr(c, '"', n) || memchr(c, '=', n))
            return false;
        memcpy(value, c, n);
        value[n] = 0;
        c += n;
    } else {
        for (c++; *c != '"'; c++) {
            unsigned x;
            if ((unsigned char)*c < 0x20)
                return false;
            if (*c != '\\') {
                *value++ = *c;
                continue;
            }
            c++;
            if (*c == 'x') {
                if (sscanf(c + 1, "%2x", &x) != 1)
                    return false;
                *value++ = (char)x;
                c += 2;
            } else if (strchr("ntr\"\\", *c)) {
                *value++ = (char)(*c == 'n' ? '\n' : *c == 't' ? '\t' : *c == 'r' ? '\r' : *c);
            } else {
                return false;
            }
        }
        *value = 0;
        c++;
    }
    if (*c != ' ' && *c != '\n')
        return false;
    *at = c + (*c == ' ');
    return true;
}

static bool reads_back(struct property_source *source, void *context)
{
    static char values[6][6000], got[6000];
    static struct cleave__log_line line;
    struct cleave_log_field fields[6];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    uint32_t count = (uint32_t)property_draw(source, 7);
    bool json = property_draw(source, 2), good, sound = true;
    (void)context;
    for (uint32_t i = 0; i < count; i++) {
        size_t length =
            property_draw(source, 20) ? property_draw(source, 30) : property_draw(source, 5900);
        for (size_t b = 0; b < length; b++)
            values[i][b] = (char)(1 + property_draw(source, 255));
        values[i][length] = 0;
        fields[i] = CLEAVE_FIELD_TEXT(names[i], values[i]);
        for (size_t b = 0; b < length; b++)
            sound = sound && (unsigned char)values[i][b] < 0x80;
    }
    cleave__log_format(&line, json ? CLEAVE_LOG_JSON : CLEAVE_LOG_TEXT, 0, CLEAVE_LOG_INFO, "it",
                       fields, count, 0);
    good = line.length <= CLEAVE_LOG_LINE_MOST && line.text[line.length - 1] == '\n';
    for (size_t i = 0; i + 1 < line.length && good; i++)
        good = (unsigned char)line.text[i] >= 0x20 && line.text[i] != 0x7f;
    bool cut = line.length > CLEAVE_LOG_LINE_MOST - 200;
    if (json) {
        json_error_t error;
        json_t *root = json_loadb(line.text, line.length, JSON_REJECT_DUPLICATES, &error);
        good = good && root;
        for (uint32_t i = 0; i < count && good && sound && !cut; i++) {
            const char *text = json_string_value(json_object_get(root, names[i]));
            good = text && !strcmp(text, values[i]);
        }
        json_decref(root);
    } else {
        char name[40], terminated[CLEAVE_LOG_LINE_MOST + 100];
        memcpy(terminated, line.text, line.length);
        terminated[line.length] = 0;
        const char *at = terminated;
        for (int head = 0; head < 3 && good; head++)
            good = logfmt_next(&at, name, got);
        for (uint32_t i = 0; i < count && good; i++) {
            if (*at == '\n' && cut)
                break;
            good = logfmt_next(&at, name, got) && (cut || !strcmp(name, names[i])) &&
                   (!sound || cut || !strcmp(got, values[i]));
        }
        good = good && *at == '\n';
    }
    if (!good && source->verbose)
        printf("  %.*s", (int)line.length, line.text);
    return good;
}

static void property(void **state)
{
    (void)state;
    assert_true(property_run("log", reads_back, NULL, 2000));
}

static void *many(void *context)
{
    for (int i = 0; i < 500; i++)
        CLEAVE_LOG(context, CLEAVE_LOG_INFO, i % 2 ? "odd" : "even", CLEAVE_FIELD_INTEGER("i", i));
    return NULL;
}

static void many_threads(void **state)
{
    static struct sink sink;
    (void)state;
    struct cleave_log *log = log_on(&sink, CLEAVE_LOG_TEXT);
    pthread_t thread[4];
    for (int t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, many, log), 0);
    for (int t = 0; t < 4; t++)
        pthread_join(thread[t], NULL);
    assert_true(cleave__log_check(log));
    cleave__log_free(log);
    assert_int_equal(lines_with(sink.text, " i="), 2 * CLEAVE_LOG_BURST);
    assert_int_equal(lines_with(sink.text, "repeated=990"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_exact),  cmocka_unit_test(passwords_are_cut),
        cmocka_unit_test(repeats_are_held), cmocka_unit_test(lost_lines_are_told),
        cmocka_unit_test(property),         cmocka_unit_test(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

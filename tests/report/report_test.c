/* One table in its three forms; odd bytes, absent and infinite cells; memory that runs out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/json.h"
#include "report/report.h"
#include "support/failalloc.h"
#include "support/property.h"

static const struct cleave_report_column columns[] = {
    {.key = "scheme", .title = "scheme"},
    {.key = "train.distributed", .title = "train", .type = CLEAVE_REPORT_INTEGER},
    {.key = "train.share",
     .title = "share",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .decimals = 2,
     .scale = 100},
    {.key = "feasible", .title = "fits", .type = CLEAVE_REPORT_BOOLEAN},
    {.key = "note"},
};

static bool fill(struct cleave_report *report)
{
    cleave__report_init(report, columns, 5);
    if (!cleave__report_row(report) || !cleave__report_text(report, 0, "HGP"))
        return false;
    cleave__report_integer(report, 1, 82);
    cleave__report_real(report, 2, 0.0825);
    cleave__report_boolean(report, 3, true);
    if (!cleave__report_row(report) || !cleave__report_text(report, 0, "a \"b\", c"))
        return false;
    cleave__report_real(report, 2, INFINITY);
    return cleave__report_text(report, 4, "line\nline");
}

static char *printed(const struct cleave_report *report, char form, uint32_t width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct cleave_error error;
    if (form == 't')
        assert_int_equal(cleave__report_print(report, out, width, &error), CLEAVE_OK);
    else if (form == 'c')
        assert_int_equal(cleave__report_print_csv(report, out, &error), CLEAVE_OK);
    else
        assert_int_equal(cleave__json_write(cleave__report_json(report), out, &error), CLEAVE_OK);
    fclose(out);
    return text;
}

static void trim_lines(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        while (*from == '\n' && to > text && to[-1] == ' ')
            to--;
        *to++ = *from;
    }
    *to = 0;
}

static void three_forms(void **state)
{
    (void)state;
    struct cleave_report report;
    assert_true(fill(&report));
    assert_int_equal(cleave__report_rows(&report), 2);
    char *text = printed(&report, 't', 0);
    trim_lines(text);
    assert_string_equal(text, "scheme    train  share %  fits\n"
                              "HGP          82     8.25   yes\n"
                              "a \"b\", c\n");
    free(text);
    text = printed(&report, 'c', 0);
    assert_string_equal(text, "scheme,train.distributed,train.share,feasible,note\n"
                              "HGP,82,0.0825,true,\n"
                              "\"a \"\"b\"\", c\",,,,\"line\nline\"\n");
    free(text);
    text = printed(&report, 'j', 0);
    json_error_t error;
    json_t *rows = json_loads(text, 0, &error);
    assert_non_null(rows);
    json_t *wanted =
        json_pack("[{s:s, s:{s:i, s:f}, s:b, s:n}, {s:s, s:{s:n, s:n}, s:n, s:s}]", "scheme", "HGP",
                  "train", "distributed", 82, "share", 0.0825, "feasible", 1, "note", "scheme",
                  "a \"b\", c", "train", "distributed", "share", "feasible", "note", "line\nline");
    assert_non_null(wanted);
    assert_true(json_equal(rows, wanted));
    json_decref(rows);
    json_decref(wanted);
    free(text);
    cleave__report_free(&report);
}

static void narrow_terminal_keeps_numbers(void **state)
{
    (void)state;
    struct cleave_report report;
    cleave__report_init(&report, columns, 2);
    assert_true(cleave__report_row(&report));
    assert_true(cleave__report_text(
        &report, 0, "a rather long name that does not fit on so narrow a terminal at all"));
    cleave__report_integer(&report, 1, 1234567890123);
    char *text = printed(&report, 't', 40);
    assert_non_null(strstr(text, "1234567890123"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= 40);
    free(text);
    text = printed(&report, 't', 0);
    assert_non_null(strstr(text, "so narrow a terminal at all"));
    free(text);
    cleave__report_free(&report);
}

static void empty_table(void **state)
{
    (void)state;
    struct cleave_report report;
    cleave__report_init(&report, columns, 2);
    char *text = printed(&report, 'c', 0);
    assert_string_equal(text, "scheme,train.distributed\n");
    free(text);
    text = printed(&report, 'j', 0);
    assert_string_equal(text, "[]\n");
    free(text);
    cleave__report_free(&report);
}

static void full_disk(void **state)
{
    (void)state;
    struct cleave_report report;
    assert_true(fill(&report));
    FILE *out = fopen("/dev/full", "w");
    if (!out)
        skip();
    setvbuf(out, NULL, _IONBF, 0);
    struct cleave_error error = {0};
    assert_int_equal(cleave__report_print_csv(&report, out, &error), CLEAVE_IO);
    assert_non_null(strstr(error.message, "No space left"));
    clearerr(out);
    assert_int_equal(cleave__json_write(cleave__report_json(&report), out, &error), CLEAVE_IO);
    clearerr(out);
    assert_int_equal(cleave__report_print(&report, out, 0, &error), CLEAVE_IO);
    fclose(out);
    cleave__report_free(&report);
}

/* Whatever the bytes, the JSON string is accepted by a strict reader, and good UTF-8 is kept. */
static bool text_is_valid(struct property_source *source, void *context)
{
    (void)context;
    static const unsigned char pool[] = {0,    'a',  0x7f, 0x80, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xa0,
                                         0xed, 0x9f, 0xef, 0xf0, 0x90, 0xf4, 0x8f, 0xf5, 0xff, '"'};
    char bytes[40];
    size_t length = (size_t)property_draw(source, sizeof bytes + 1);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)pool[property_draw(source, sizeof pool)];
    if (source->verbose) {
        for (size_t i = 0; i < length; i++)
            fprintf(stderr, "%02x ", (unsigned char)bytes[i]);
        fputc('\n', stderr);
    }
    json_t *text = cleave__json_text(bytes, length);
    if (!text)
        return false;
    json_t *checked = json_stringn(json_string_value(text), json_string_length(text));
    json_t *strict = json_stringn(bytes, length);
    bool right = checked && (!strict || memchr(bytes, 0, length) || json_equal(strict, text)) &&
                 !memchr(json_string_value(text), 0, json_string_length(text));
    json_decref(text);
    json_decref(checked);
    json_decref(strict);
    return right;
}

static void any_bytes(void **state)
{
    (void)state;
    assert_true(property_run("json_text_is_valid", text_is_valid, NULL, 5000));
}

static bool build(void *context)
{
    (void)context;
    struct cleave_report report;
    if (fill(&report)) {
        json_t *rows = cleave__report_json(&report);
        json_decref(rows);
    }
    cleave__report_free(&report);
    return true;
}

static void memory_runs_out(void **state)
{
    (void)state;
    assert_true(failalloc_run("report", build, NULL, 1));
    struct cleave_error error;
    assert_int_equal(cleave__json_write(NULL, stdout, &error), CLEAVE_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_forms), cmocka_unit_test(narrow_terminal_keeps_numbers),
        cmocka_unit_test(empty_table), cmocka_unit_test(full_disk),
        cmocka_unit_test(any_bytes),   cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

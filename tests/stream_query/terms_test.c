/* Words: which are one term, where text is cut, what is refused. The short way for ASCII gives what
 * the long way gives; normal forms are their own normal forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include <cmocka.h>

#include "stream/query/object.h"
#include "stream/query/terms.h"
#include "support/failalloc.h"
#include "support/property.h"

/* The words of text (or of a keyword) with bars between. */
static const char *cut(const char *text, bool keyword)
{
    static char out[4096];
    struct cleave__terms terms = {0};
    struct cleave__term_list list = {0};
    struct cleave_error error = {0};
    out[0] = 0;
    if ((keyword ? cleave__terms_keyword : cleave__terms_text)(&terms, text, strlen(text), true,
                                                               &list, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < list.items.count; i++) {
        size_t length;
        if (i)
            strcat(out, "|");
        strcat(out, cleave__terms_word(&terms, list.items.data[i], &length));
    }
    assert_true(cleave__terms_check(&terms));
    assert_int_equal(list.words, list.items.count);
    CLEAVE_VECTOR_FREE(&list.items);
    cleave__terms_free(&terms);
    return out;
}

static void text_is_cut(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {" ,.; ", ""},
        {"4km W of Castaic, CA", "4km|w|of|castaic|ca"},
        {"Don't 'quote' rock'n'roll's dogs'", "don't|quote|rock'n'roll's|dogs"},
        {"don’t DON'T", "don't|don't"},
        {"5' 6'2 a'1 '", "5|6|2|a|1"},
        {"#hash_tag @user c++ e-mail", "hash|tag|user|c|e|mail"},
        {"Sant Julià de Lòria", "sant|julià|de|lòria"},
        {"Juli\x61\xcc\x80", "julià"}, /* the accent apart */
        {"Ｔｏｋｙｏ ﬁne x²", "tokyo|fine|x2"},
        {"STRASSE straße ΣΊΣΥΦΟΣ", "strasse|strasse|σίσυφοσ"},
        {"東京都", "東京|京都"},
        {"東 京", "東|京"},
        {"Tokyo東京x", "tokyo|東京|x"},
        {"ｺｰﾋｰ", "コー|ーヒ|ヒー"}, /* half-width */
        {"がぎ", "がぎ"},
        {"สวัสดี", "สวั|วัส|สดี"},
        {"서울 특별시", "서울|특별시"},
        {"Москва́ दिल्ली", "москва́|दिल्ली"},
        {"soft\xc2\xadhyphen zero\xe2\x80\x8bwidth", "softhyphen|zerowidth"},
        {" \xcc\x81 a", "a"}, /* a mark on nothing */
        {"😀 ok👍", "ok"},
        {"١٢٣ Ⅷ", "١٢٣|viii"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(cut(cases[i][0], false), cases[i][1]);
}

static void keywords_are_whole(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {" \t ", ""},
        {"\xe2\x80\x8b", ""},
        {"  New \t York ", "new york"},
        {"\xc2\xa0New\xe3\x80\x80York\xc2\xa0", "new york"},
        {"C++", "c++"},
        {"東京都", "東京都"},
        {"👍", "👍"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(cut(cases[i][0], true), cases[i][1]);
}

static void not_utf8_is_refused(void **state)
{
    (void)state;
    struct cleave__terms terms = {0};
    struct cleave__term_list list = {0};
    struct cleave_error error = {0};
    static const char *const bad[] = {"S\xe3o", "\xff", "\xed\xa0\x80", "\xc0\xaf", "a\xe2\x82"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(cleave__terms_text(&terms, bad[i], strlen(bad[i]), true, &list, &error),
                         CLEAVE_BAD_INPUT);
        assert_int_equal(cleave__terms_keyword(&terms, bad[i], strlen(bad[i]), true, &list, &error),
                         CLEAVE_BAD_INPUT);
    }
    assert_non_null(strstr(error.message, "byte 2 of the text, 0xe2"));
    assert_int_equal(terms.words.count, 0);
    cleave__terms_free(&terms);
    CLEAVE_VECTOR_FREE(&list.items);
}

static void looking_up_adds_nothing(void **state)
{
    (void)state;
    struct cleave__terms terms = {0};
    struct cleave__term_list list = {0};
    assert_int_equal(cleave__terms_text(&terms, "b a b", 5, true, &list, NULL), 0);
    assert_int_equal(cleave__term_list_settle(&list, &terms, NULL), 0);
    assert_int_equal(list.items.count, 2);
    assert_int_equal(terms.uses.data[0], 1);
    cleave__term_list_clear(&list);
    assert_int_equal(cleave__terms_text(&terms, "A c d a", 7, false, &list, NULL), 0);
    assert_int_equal(list.words, 4);
    assert_int_equal(list.unknown, 2);
    assert_int_equal(list.items.count, 2);
    assert_int_equal(terms.words.count, 2);
    assert_int_equal(cleave__terms_find(&terms, "a", 1), 1);
    assert_int_equal(cleave__terms_find(&terms, "c", 1), CLEAVE__NO_TERM);
    assert_true(cleave__terms_bytes(&terms) > 0);
    cleave__term_list_clear(&list);
    for (uint32_t i = 0; i <= CLEAVE__TERMS_MOST; i++)
        assert_true(CLEAVE_PUSH(&list.items, CLEAVE__TERMS_MOST - i));
    assert_int_equal(cleave__term_list_settle(&list, NULL, NULL), CLEAVE_LIMIT);
    cleave__terms_free(&terms);
    CLEAVE_VECTOR_FREE(&list.items);
}

/* Pieces that meet in ways that matter. */
static size_t draw_text(struct property_source *source, char *text, bool ascii)
{
    static const char *const pieces[] = {
        "a",  "B",  "z",  "7",  " ", "'", "-", "\t", "é", "e", "\xcc\x81",     "’", "東", "京",
        "ก",  "ั",   "ß",  "İ",  "ﬁ", "ͅ",  "ྃ",  "ｶ",  "ﾞ", "²", "\xe2\x80\x8d", "ำ", "ζ",  "Ⅷ",
        "각", "ᄀ", "ᅡ", "ᆨ", "ཱི",  "Å", "ʼ", "　"};
    size_t used = 0, count = property_draw(source, 24);
    for (size_t i = 0; i < count; i++) {
        const char *piece =
            pieces[property_draw(source, ascii ? 8 : sizeof pieces / sizeof *pieces)];
        used += (size_t)sprintf(text + used, "%s", piece);
    }
    text[used] = 0;
    return used;
}

/* ASCII text gives the same words with a letter behind it that is not ASCII. */
static bool short_way_is_the_long_way(struct property_source *source, void *context)
{
    (void)context;
    char text[400];
    size_t length = draw_text(source, text, true);
    struct cleave__terms terms = {0};
    struct cleave__term_list a = {0}, b = {0};
    bool same = !cleave__terms_text(&terms, text, length, true, &a, NULL);
    strcpy(text + length, " é");
    same = same && !cleave__terms_text(&terms, text, length + 3, true, &b, NULL) &&
           b.items.count == a.items.count + 1 &&
           (a.items.count == 0 ||
            !memcmp(a.items.data, b.items.data, a.items.count * sizeof *a.items.data));
    cleave__term_list_clear(&a);
    cleave__term_list_clear(&b);
    strcpy(text + length, "x");
    same = same && !cleave__terms_keyword(&terms, text, length + 1, true, &a, NULL);
    strcpy(text + length, "ｘ");
    same = same && !cleave__terms_keyword(&terms, text, length + 3, true, &b, NULL) &&
           a.items.count == 1 && b.items.count == 1 && a.items.data[0] == b.items.data[0];
    if (source->verbose)
        printf("text '%s'\n", text);
    CLEAVE_VECTOR_FREE(&a.items);
    CLEAVE_VECTOR_FREE(&b.items);
    cleave__terms_free(&terms);
    return same;
}

/* A word put in again, as keyword or as text, is the same word; words are what text of them, with
 * blanks between, has. */
static bool normal_forms_stay(struct property_source *source, void *context)
{
    (void)context;
    char text[400];
    size_t length = draw_text(source, text, false);
    struct cleave__terms terms = {0};
    struct cleave__term_list list = {0}, again = {0};
    bool same = !cleave__terms_text(&terms, text, length, true, &list, NULL);
    for (size_t i = 0; i < list.items.count && same; i++) {
        size_t size;
        const char *word = cleave__terms_word(&terms, list.items.data[i], &size);
        cleave__term_list_clear(&again);
        same = !cleave__terms_text(&terms, word, size, true, &again, NULL) &&
               !cleave__terms_keyword(&terms, word, size, true, &again, NULL) &&
               again.items.count == 2 && again.items.data[0] == list.items.data[i] &&
               again.items.data[1] == list.items.data[i];
        if (!same && source->verbose)
            printf("word '%s'\n", word);
    }
    same = same && cleave__terms_check(&terms);
    if (source->verbose)
        printf("text '%s'\n", text);
    CLEAVE_VECTOR_FREE(&list.items);
    CLEAVE_VECTOR_FREE(&again.items);
    cleave__terms_free(&terms);
    return same;
}

static void properties(void **state)
{
    (void)state;
    assert_true(property_run("short_way", short_way_is_the_long_way, NULL, 20000));
    assert_true(property_run("normal_forms", normal_forms_stay, NULL, 20000));
}

/* Every code point, alone: what utf8proc makes of it at once is what we make of it. */
static void as_utf8proc(void **state)
{
    (void)state;
    struct cleave__terms terms = {0};
    struct cleave__term_list list = {0};
    for (int32_t point = 0x80; point < 0x110000; point++) {
        uint8_t bytes[16] = "x";
        utf8proc_uint8_t *wanted = NULL;
        if (point >= 0xd800 && point < 0xe000)
            continue;
        size_t length = 1 + (size_t)utf8proc_encode_char(point, bytes + 1);
        bytes[length++] = 'y';
        cleave__term_list_clear(&list);
        assert_int_equal(cleave__terms_keyword(&terms, (char *)bytes, length, true, &list, NULL),
                         0);
        assert_true(utf8proc_map(bytes, (utf8proc_ssize_t)length, &wanted,
                                 UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE |
                                     UTF8PROC_CASEFOLD | UTF8PROC_IGNORE) > 0);
        size_t size;
        const char *word = cleave__terms_word(&terms, list.items.data[0], &size);
        if (strcmp(word, (char *)wanted) != 0 && point != 0x85 && point != 0x1680 &&
            point != 0x2028 && point != 0x2029)
            fail_msg("U+%04X: '%s', not '%s'", (unsigned)point, word, (char *)wanted);
        free(wanted);
    }
    cleave__terms_free(&terms);
    CLEAVE_VECTOR_FREE(&list.items);
}

/* A megabyte of marks in the worst order takes a moment, not minutes. */
static void marks_without_end(void **state)
{
    (void)state;
    static const char *const pairs[] = {"\xcc\x81\xcc\xa3", "\xef\xbe\x9e\xcc\x81", "ཱཱིི",
                                        "\xcc\x81\xe2\x80\x8d\xcc\xa3"};
    for (size_t p = 0; p < 4; p++) {
        struct cleave__terms terms = {0};
        struct cleave__term_list list = {0};
        size_t size = strlen(pairs[p]), count = (1 << 20) / size;
        char *text = malloc(count * size + 2);
        assert_non_null(text);
        text[0] = 'a';
        for (size_t i = 0; i < count; i++)
            memcpy(text + 1 + i * size, pairs[p], size);
        assert_int_equal(cleave__terms_keyword(&terms, text, count * size + 1, true, &list, NULL),
                         0);
        assert_int_equal(list.items.count, 1);
        free(text);
        cleave__terms_free(&terms);
        CLEAVE_VECTOR_FREE(&list.items);
    }
}

static bool attempt(void *context)
{
    (void)context;
    struct cleave__terms terms = {0};
    struct cleave__term_list list = {0};
    struct cleave_error error = {0};
    static const char text[] = "Sant Julià de Lòria, and some more words that are plain: é";
    enum cleave_status status =
        cleave__terms_text(&terms, text, sizeof text - 1, true, &list, &error);
    if (!status)
        status = cleave__terms_keyword(&terms, "New York", 8, true, &list, &error);
    bool right = (!status || (status == CLEAVE_NO_MEMORY && error.message[0])) &&
                 cleave__terms_check(&terms);
    CLEAVE_VECTOR_FREE(&list.items);
    cleave__terms_free(&terms);
    return right;
}

static void allocations_fail(void **state)
{
    (void)state;
    assert_true(failalloc_run("terms", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_cut),         cmocka_unit_test(keywords_are_whole),
        cmocka_unit_test(not_utf8_is_refused), cmocka_unit_test(looking_up_adds_nothing),
        cmocka_unit_test(properties),          cmocka_unit_test(as_utf8proc),
        cmocka_unit_test(marks_without_end),   cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

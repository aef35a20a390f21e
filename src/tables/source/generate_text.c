/* Statements and rows as text, and filler text that is a function of a hash.
 *
 * Everything is formatted from integers: floating point would print by locale and library. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/source/generate_common.h"

/* ---- scripts ---- */

void cleave__draft_reset(struct cleave_draft *script)
{
    script->text.count = 0;
    script->starts.count = 0;
    script->statements.count = 0;
    script->failed = false;
}

void cleave__draft_free(struct cleave_draft *script)
{
    CLEAVE_VECTOR_FREE(&script->text);
    CLEAVE_VECTOR_FREE(&script->starts);
    CLEAVE_VECTOR_FREE(&script->statements);
}

static void add(struct cleave_draft *script, const char *format, va_list arguments)
{
    if (script->failed)
        return;
    va_list again;
    va_copy(again, arguments);
    size_t room = script->text.capacity - script->text.count;
    char *at = script->text.data ? script->text.data + script->text.count : NULL;
    int length = vsnprintf(at, room, format, arguments);
    if (length < 0) {
        script->failed = true;
    } else if ((size_t)length >= room) {
        if (CLEAVE_RESERVE(&script->text, script->text.count + (size_t)length + 1))
            vsnprintf(script->text.data + script->text.count, (size_t)length + 1, format, again);
        else
            script->failed = true;
    }
    if (!script->failed)
        script->text.count += (size_t)length;
    va_end(again);
}

void cleave__draft_open(struct cleave_draft *script)
{
    if (!script->failed && !CLEAVE_PUSH(&script->starts, script->text.count))
        script->failed = true;
}

void cleave__draft_add(struct cleave_draft *script, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(script, format, arguments);
    va_end(arguments);
}

void cleave__draft_close(struct cleave_draft *script)
{
    if (!script->failed && !CLEAVE_PUSH(&script->text, 0))
        script->failed = true;
}

void cleave__draft_say(struct cleave_draft *script, const char *format, ...)
{
    cleave__draft_open(script);
    va_list arguments;
    va_start(arguments, format);
    add(script, format, arguments);
    va_end(arguments);
    cleave__draft_close(script);
}

bool cleave__draft_finish(struct cleave_draft *script)
{
    if (script->failed || !CLEAVE_RESERVE(&script->statements, script->starts.count))
        return false;
    for (size_t i = 0; i < script->starts.count; i++) {
        size_t start = script->starts.data[i];
        size_t end = i + 1 < script->starts.count ? script->starts.data[i + 1] : script->text.count;
        script->statements.data[i] = (struct cleave_trace_statement){
            .text = script->text.data + start, .length = end - start - 1};
    }
    script->statements.count = script->starts.count;
    return true;
}

/* ---- rows ---- */

void cleave__row_table(struct cleave_row_writer *writer, const char *name)
{
    writer->row.table = cleave__schema_table(writer->schema, name, strlen(name));
    writer->row.name = name;
    writer->row.count = 0;
    writer->used = 0;
}

void cleave__row_add(struct cleave_row_writer *writer, const char *format, ...)
{
    assert(writer->row.count < CLEAVE_ROW_COLUMNS);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(writer->text + writer->used, sizeof writer->text - writer->used, format,
                           arguments);
    va_end(arguments);
    assert(length >= 0 && (size_t)length < sizeof writer->text - writer->used);
    writer->values[writer->row.count++] = writer->text + writer->used;
    writer->used += (size_t)length + 1;
}

void cleave__row_null(struct cleave_row_writer *writer)
{
    assert(writer->row.count < CLEAVE_ROW_COLUMNS);
    writer->values[writer->row.count++] = NULL;
}

enum cleave_status cleave__row_send(struct cleave_row_writer *writer)
{
    enum cleave_status status = writer->each(writer->context, &writer->row, writer->error);
    writer->row.count = 0;
    writer->used = 0;
    return status;
}

/* ---- filler ---- */

void cleave__content_letters(uint64_t hash, uint32_t low, uint32_t high, char *out)
{
    uint32_t length = low + cleave__content_below(hash, high - low + 1);
    uint64_t bits = cleave__mix64(hash + 1);
    for (uint32_t i = 0; i < length; i++) {
        if (i && i % 10 == 0)
            bits = cleave__mix64(hash + 1 + i);
        out[i] = (char)('a' + bits % 26);
        bits /= 26;
    }
    out[length] = 0;
}

void cleave__content_digits(uint64_t hash, uint32_t length, char *out)
{
    uint64_t bits = cleave__mix64(hash + 1);
    for (uint32_t i = 0; i < length; i++) {
        if (i && i % 16 == 0)
            bits = cleave__mix64(hash + 1 + i);
        out[i] = (char)('0' + bits % 10);
        bits /= 10;
    }
    out[length] = 0;
}

void cleave__content_words(uint64_t hash, uint32_t low, uint32_t high, char *out)
{
    static const char word[16][8] = {"amber ", "basin ", "cedar ", "delta ", "ember ", "fjord ",
                                     "glade ", "heath ", "inlet ", "knoll ", "ledge ", "marsh ",
                                     "north ", "oasis ", "plain ", "ridge "};
    uint32_t length = low + cleave__content_below(hash, high - low + 1);
    uint64_t bits = cleave__mix64(hash + 1);
    for (uint32_t i = 0; i < length; i++) {
        if (i && i % 6 == 0)
            bits = i % 96 == 0 ? cleave__mix64(hash + 1 + i) : bits >> 4;
        out[i] = word[bits % 16][i % 6];
    }
    if (length && out[length - 1] == ' ')
        out[length - 1] = '.';
    out[length] = 0;
}

void cleave__content_stamp(int64_t milliseconds, char out[CLEAVE_STAMP_BYTES])
{
    /* Proleptic Gregorian date from a day count, by eras of 400 years that start in March. */
    int64_t days = milliseconds / 86400000, rest = milliseconds % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    days += 20454 + 719468; /* 2026-01-01 counted from 1970-01-01, and that from 0000-03-01 */
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* 0 is March */
    int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    int64_t year = year_of_era + era * 400 + (month <= 2);
    int length = snprintf(out, CLEAVE_STAMP_BYTES, "%04d-%02d-%02d %02d:%02d:%02d.%03d", (int)year,
                          (int)month, (int)day, (int)(rest / 3600000), (int)(rest / 60000 % 60),
                          (int)(rest / 1000 % 60), (int)(rest % 1000));
    while (out[length - 1] == '0' && rest % 1000)
        out[--length] = 0;
    if (rest % 1000 == 0)
        out[length - 4] = 0;
}

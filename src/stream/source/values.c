/* Text to numbers, times, distances. */
#include "stream/source/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void trim(const char **text, size_t *length)
{
    while (*length && (**text == ' ' || **text == '\t')) {
        (*text)++;
        (*length)--;
    }
    while (*length && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t'))
        (*length)--;
}

bool cleave__text_is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !strncasecmp(text, word, length);
}

bool cleave__text_real(const char *text, size_t length, double *out)
{
    char buffer[64], *end;
    trim(&text, &length);
    if (length == 0 || length >= sizeof buffer)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (!(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E')
            return false;
        buffer[i] = c;
    }
    buffer[length] = 0;
    double number = strtod(buffer, &end);
    if (*end || end == buffer || !isfinite(number))
        return false;
    *out = number;
    return true;
}

/* Exactly `digits` digits; -1: not so. */
static int take(const char **at, const char *end, int digits)
{
    int number = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (*at == end || **at < '0' || **at > '9')
            return -1;
        number = number * 10 + (**at - '0');
    }
    return number;
}

static bool take_char(const char **at, const char *end, char c)
{
    if (*at == end || **at != c)
        return false;
    (*at)++;
    return true;
}

/* Days from 1970 of the Gregorian calendar (Hinnant's algorithm, from March on). */
static int64_t days(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year, era = y / 400, in_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + of_year - 719468;
}

static bool is_day(int year, int month, int day)
{
    static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1)
        return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= length[month - 1] + (month == 2 && leap);
}

/* Minutes to add; false: no zone. */
static bool take_zone(const char **at, const char *end, int *minutes)
{
    *minutes = 0;
    if (*at == end || take_char(at, end, 'Z') || take_char(at, end, 'z'))
        return true;
    bool east = take_char(at, end, '+');
    if (!east && !take_char(at, end, '-'))
        return false;
    int hour = take(at, end, 2), minute = 0;
    if (*at < end) {
        take_char(at, end, ':');
        minute = take(at, end, 2);
    }
    if (hour < 0 || hour > 18 || minute < 0 || minute > 59)
        return false;
    *minutes = (east ? -1 : 1) * (hour * 60 + minute);
    return true;
}

static bool calendar_time(const char *at, const char *end, uint64_t *out_ms)
{
    int year = take(&at, end, 4), hour = 0, minute = 0, second = 0, milli = 0, zone = 0;
    bool dashes = take_char(&at, end, '-');
    int month = take(&at, end, 2);
    if (dashes && !take_char(&at, end, '-'))
        return false;
    int day = take(&at, end, 2);
    if (year < 0 || !is_day(year, month, day))
        return false;
    if (at < end) {
        if (!take_char(&at, end, 'T') && !take_char(&at, end, ' ') && !take_char(&at, end, 't'))
            return false;
        hour = take(&at, end, 2);
        bool colons = take_char(&at, end, ':');
        minute = take(&at, end, 2);
        if (colons ? take_char(&at, end, ':') : at < end && *at >= '0' && *at <= '9')
            second = take(&at, end, 2);
        if (at < end && (*at == '.' || *at == ',')) {
            int scale = 100, digits = 0;
            for (at++; at < end && *at >= '0' && *at <= '9'; at++, scale /= 10, digits++)
                milli += scale * (*at - '0');
            if (digits == 0)
                return false;
        }
        take_char(&at, end, ' ');
        if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || second < 0 || second > 60 ||
            (hour == 24 && (minute || second || milli)) || !take_zone(&at, end, &zone))
            return false;
    }
    int64_t minutes = days(year, month, day) * 1440 + hour * 60 + minute + zone;
    if (at != end || minutes < 0)
        return false;
    *out_ms = (uint64_t)minutes * 60000 + (uint64_t)second * 1000 + (uint64_t)milli;
    return true;
}

bool cleave__text_time(const char *text, size_t length, uint64_t unit_ms, uint64_t *out_ms)
{
    double number;
    trim(&text, &length);
    bool date = length >= 8 && memchr(text, '-', length) && text[0] != '-';
    if (date || (length > 8 && memchr(text, 'T', length)))
        return calendar_time(text, text + length, out_ms);
    if (!cleave__text_real(text, length, &number) || number < 0)
        return false;
    double ms = unit_ms         ? number * (double)unit_ms
                : number < 1e11 ? number * 1000
                : number < 1e14 ? number
                : number < 1e17 ? number / 1e3
                                : number / 1e6;
    if (ms >= 0x1p53)
        return false;
    *out_ms = (uint64_t)(ms + 0.5);
    return true;
}

bool cleave__text_distance(const char *text, size_t length, bool plane, double *out)
{
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"km", 1000}, {"mi", 1609.344}, {"nmi", 1852}, {"m", 1}};
    trim(&text, &length);
    double factor = 1;
    size_t digits = length;
    while (digits && ((text[digits - 1] >= 'a' && text[digits - 1] <= 'z') ||
                      (text[digits - 1] >= 'A' && text[digits - 1] <= 'Z')))
        digits--;
    if (digits < length) {
        size_t i = 0;
        while (i < 4 && !cleave__text_is(text + digits, length - digits, units[i].name))
            i++;
        if (i == 4 || plane)
            return false;
        factor = units[i].metres;
    }
    double number;
    if (!cleave__text_real(text, digits, &number) || number < 0 || !isfinite(number * factor))
        return false;
    *out = number * factor;
    return true;
}

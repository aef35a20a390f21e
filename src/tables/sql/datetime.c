/* See datetime.h. Day numbers follow the usual closed form with years that begin in March, so that
 * the leap day comes last. */
#include "tables/sql/datetime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct reader {
    const char *at, *end;
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_blank(struct reader *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

static bool take(struct reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || strncasecmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* A run of `least` to `most` digits. */
static bool take_digits(struct reader *r, int least, int most, int64_t *out, int *count)
{
    int64_t value = 0;
    int n = 0;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        if (++n > most)
            return false;
        value = value * 10 + (*r->at++ - '0');
    }
    if (n < least)
        return false;
    *out = value;
    if (count)
        *count = n;
    return true;
}

static int days_in_month(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* What floor_divide leaves, 0 .. b - 1; never overflows. */
static int64_t floor_rest(int64_t a, int64_t b)
{
    int64_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

/* Days from 1970-01-01; year 0 is 1 BC. */
static int64_t day_number(int64_t year, int64_t month, int64_t day)
{
    if (month <= 2)
        year--;
    int64_t era = floor_divide(year, 400);
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void calendar(int64_t number, int64_t *year, int64_t *month, int64_t *day)
{
    number += 719468;
    int64_t era = floor_divide(number, 146097);
    int64_t of_era = number - era * 146097;
    int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    int64_t m = (5 * of_year + 2) / 153;
    *day = of_year - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = years + era * 400 + (*month <= 2);
}

/* "YYYY-MM-DD" or "YYYYMMDD"; the year is as written (BC comes at the end of the text). */
static bool read_date(struct reader *r, int64_t *year, int64_t *month, int64_t *day)
{
    int digits;
    if (!take_digits(r, 4, 8, year, &digits))
        return false;
    if (r->at < r->end && *r->at == '-') {
        r->at++;
        if (digits > 6 || !take_digits(r, 1, 2, month, NULL) || !take(r, '-') ||
            !take_digits(r, 1, 2, day, NULL))
            return false;
    } else if (digits == 8) {
        *day = *year % 100;
        *month = *year / 100 % 100;
        *year /= 10000;
    } else {
        return false;
    }
    return *month >= 1 && *month <= 12 && *day >= 1;
}

/* "HH:MM[:SS[.ffffff]]" in microseconds; 24:00 and a 60th second are allowed, as in PostgreSQL. */
static bool read_time(struct reader *r, int64_t *out)
{
    int64_t hours, minutes, seconds = 0, fraction = 0;
    if (!take_digits(r, 1, 2, &hours, NULL) || !take(r, ':') ||
        !take_digits(r, 2, 2, &minutes, NULL))
        return false;
    if (take(r, ':')) {
        if (!take_digits(r, 2, 2, &seconds, NULL))
            return false;
        if (take(r, '.')) {
            int64_t value;
            int digits;
            /* Up to 15 digits, the division below is correctly rounded. */
            if (!take_digits(r, 1, 15, &value, &digits))
                return false;
            double power = 1;
            for (int i = 0; i < digits; i++)
                power *= 10;
            fraction = (int64_t)rint((double)value / power * 1000000);
        }
    }
    if (hours > 24 || minutes > 59 || seconds > 60)
        return false;
    *out = ((hours * 60 + minutes) * 60 + seconds) * 1000000 + fraction;
    return *out <= CLEAVE_DAY_US;
}

/* "Z", "UTC", "+HH", "+HHMM", "+HH:MM[:SS]": seconds east of UTC. Absent: 0 and *found false. */
static bool read_zone(struct reader *r, int64_t *seconds, bool *found)
{
    *seconds = 0;
    *found = true;
    if (take_word(r, "utc") || take_word(r, "gmt") || take_word(r, "zulu") || take_word(r, "z"))
        return r->at == r->end || is_blank(*r->at);
    bool west = r->at < r->end && *r->at == '-';
    if (!take(r, '+') && !take(r, '-')) {
        *found = false;
        return true;
    }
    int64_t hours, minutes = 0, rest = 0;
    int digits;
    if (!take_digits(r, 1, 4, &hours, &digits) || digits == 3)
        return false;
    if (digits == 4) {
        minutes = hours % 100;
        hours /= 100;
    } else if (take(r, ':')) {
        if (!take_digits(r, 2, 2, &minutes, NULL) ||
            (take(r, ':') && !take_digits(r, 2, 2, &rest, NULL)))
            return false;
    }
    if (hours > 15 || minutes > 59 || rest > 59)
        return false;
    *seconds = (hours * 60 + minutes) * 60 + rest;
    if (west)
        *seconds = -*seconds;
    return true;
}

struct moment {
    int64_t day, time; /* day number; microseconds within it */
    int64_t zone;      /* seconds east */
    bool has_zone;
};

static bool read_moment(struct reader *r, struct moment *out)
{
    int64_t year, month, day;
    if (!read_date(r, &year, &month, &day))
        return false;
    *out = (struct moment){0};
    bool mark = take(r, 'T') || take(r, 't');
    if (!mark)
        skip_blank(r);
    if (mark || (r->at < r->end && *r->at >= '0' && *r->at <= '9')) {
        if (!read_time(r, &out->time))
            return false;
        skip_blank(r);
        if (!read_zone(r, &out->zone, &out->has_zone))
            return false;
        skip_blank(r);
    }
    if (take_word(r, "bc"))
        year = 1 - year;
    else if (year == 0)
        return false;
    if (day > days_in_month(year, month))
        return false;
    out->day = day_number(year, month, day);
    return r->at == r->end;
}

static struct reader reader_of(const char *text, size_t length)
{
    struct reader r = {text, text + length};
    skip_blank(&r);
    while (r.end > r.at && is_blank(r.end[-1]))
        r.end--;
    return r;
}

static bool read_special(struct reader r, int64_t *out)
{
    struct reader whole = r;
    if (take_word(&r, "infinity") && r.at == r.end) {
        *out = INT64_MAX;
        return true;
    }
    r = whole;
    if (take_word(&r, "-infinity") && r.at == r.end) {
        *out = INT64_MIN;
        return true;
    }
    r = whole;
    if (take_word(&r, "epoch") && r.at == r.end) {
        *out = 0;
        return true;
    }
    return false;
}

bool cleave__date_parse(const char *text, size_t length, int64_t *out)
{
    struct reader r = reader_of(text, length);
    struct moment moment;
    int64_t result;
    if (read_special(r, out))
        return true;
    if (!read_moment(&r, &moment) || __builtin_mul_overflow(moment.day, CLEAVE_DAY_US, &result))
        return false;
    *out = result;
    return true;
}

bool cleave__timestamp_parse(const char *text, size_t length, int64_t *out, bool *has_zone)
{
    struct reader r = reader_of(text, length);
    struct moment moment;
    int64_t result;
    if (has_zone)
        *has_zone = false;
    if (read_special(r, out))
        return true;
    if (!read_moment(&r, &moment) || __builtin_mul_overflow(moment.day, CLEAVE_DAY_US, &result) ||
        __builtin_add_overflow(result, moment.time - moment.zone * 1000000, &result) ||
        result == INT64_MAX || result == INT64_MIN)
        return false;
    if (has_zone)
        *has_zone = moment.has_zone;
    *out = result;
    return true;
}

bool cleave__time_parse(const char *text, size_t length, int64_t *out)
{
    struct reader r = reader_of(text, length);
    int64_t result;
    if (!read_time(&r, &result) || r.at != r.end)
        return false;
    *out = result;
    return true;
}

static int print_day(int64_t number, char *buffer, bool *before_christ)
{
    int64_t year, month, day;
    calendar(number, &year, &month, &day);
    *before_christ = year <= 0;
    return sprintf(buffer, "%04lld-%02d-%02d", (long long)(year <= 0 ? 1 - year : year), (int)month,
                   (int)day);
}

static bool print_infinite(int64_t microseconds, char *buffer)
{
    if (microseconds != INT64_MAX && microseconds != INT64_MIN)
        return false;
    strcpy(buffer, microseconds > 0 ? "infinity" : "-infinity");
    return true;
}

void cleave__date_print(int64_t microseconds, char *buffer)
{
    bool bc;
    if (print_infinite(microseconds, buffer))
        return;
    int64_t day = floor_divide(microseconds, CLEAVE_DAY_US);
    if (floor_rest(microseconds, CLEAVE_DAY_US) != 0) { /* a bound that is no whole day */
        cleave__timestamp_print(microseconds, buffer);
        return;
    }
    int length = print_day(day, buffer, &bc);
    strcpy(buffer + length, bc ? " BC" : "");
}

void cleave__time_print(int64_t microseconds, char *buffer)
{
    int64_t seconds = floor_divide(microseconds, 1000000);
    int64_t fraction = floor_rest(microseconds, 1000000);
    int length = sprintf(buffer, "%02lld:%02d:%02d", (long long)(seconds / 3600),
                         (int)(seconds / 60 % 60), (int)(seconds % 60));
    if (fraction) {
        length += sprintf(buffer + length, ".%06d", (int)fraction);
        while (buffer[length - 1] == '0')
            buffer[--length] = 0;
    }
}

void cleave__timestamp_print(int64_t microseconds, char *buffer)
{
    bool bc;
    if (print_infinite(microseconds, buffer))
        return;
    int64_t day = floor_divide(microseconds, CLEAVE_DAY_US);
    int64_t rest = floor_rest(microseconds, CLEAVE_DAY_US);
    int length = print_day(day, buffer, &bc);
    buffer[length++] = ' ';
    cleave__time_print(rest, buffer + length);
    if (bc)
        strcat(buffer, " BC");
}

/* Typed constants, and the ranges that predicates cut out of a column.
 *
 * A value is one of four kinds. What a column's SQL type turns into:
 *   integer types, oid, serial -> INTEGER          boolean -> INTEGER 0/1
 *   date, timestamp(tz), time  -> INTEGER, microseconds (dates too: days * 86,400,000,000)
 *   numeric, decimal, real, double -> NUMBER, canonical decimal text ("12.5", "-3", "0"); a NUMBER
 *       and an INTEGER of the same number are equal
 *   uuid -> TEXT of 36 lower-case characters       text, varchar, char(n) (trailing blanks cut),
 *   anything else -> TEXT, the bytes as written, compared bytewise ("C" collation) */
#ifndef CLEAVE_TABLES_SQL_VALUE_H
#define CLEAVE_TABLES_SQL_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "cleave/status.h"

enum cleave_type {
    CLEAVE_TYPE_TEXT, /* also every type not named below */
    CLEAVE_TYPE_INTEGER,
    CLEAVE_TYPE_NUMBER,
    CLEAVE_TYPE_BOOLEAN,
    CLEAVE_TYPE_DATE,
    CLEAVE_TYPE_TIMESTAMP, /* with or without zone; zone offsets are applied, none means UTC */
    CLEAVE_TYPE_TIME,
    CLEAVE_TYPE_UUID,
    CLEAVE_TYPE_CHAR, /* char(n), bpchar: trailing blanks do not count */
};

enum cleave_value_kind { CLEAVE_NULL, CLEAVE_INTEGER, CLEAVE_NUMBER, CLEAVE_TEXT };

struct cleave_value {
    enum cleave_value_kind kind;
    uint32_t length;  /* of text, for NUMBER and TEXT */
    int64_t integer;  /* for INTEGER */
    const char *text; /* for NUMBER and TEXT; borrowed, not always NUL-terminated */
};

/* SQL type name ("character varying(20)", "int4", "TIMESTAMP WITH TIME ZONE") -> type. */
enum cleave_type cleave__type_of_name(const char *name);
const char *cleave__type_name(enum cleave_type type);

/* Reads `text` as a constant of `type`, in the column's canonical form. CLEAVE_BAD_INPUT when it is
 * not one (callers then treat the predicate as saying nothing). Text is copied into `arena` only
 * when it must change; else `out` borrows it. */
enum cleave_status cleave__value_parse(enum cleave_type type, const char *text, size_t length,
                                       struct cleave_arena *arena, struct cleave_value *out);
/* Total order within one column's type: NULL first, then by number or bytes. -1, 0, 1. */
int cleave__value_compare(const struct cleave_value *a, const struct cleave_value *b);
/* Stable 64-bit hash: equal values (INTEGER 5, NUMBER "5") hash alike, on every machine. */
uint64_t cleave__value_hash(const struct cleave_value *value);
/* Where hashing sends a value, 0 .. shards - 1; equal values go alike, on every machine. Whole
 * numbers are multiplied by 2^64 over the golden ratio (Fibonacci hashing: Knuth, volume 3), which
 * spreads runs of consecutive ids as evenly as can be: k ids in a row over k shards rarely collide.
 */
uint32_t cleave__value_shard(const struct cleave_value *value, uint32_t shards);
/* As people write it, with the column's type (a date as a date, text quoted as SQL). Returns the
 * length that a full print needs, like snprintf. */
int cleave__value_print(const struct cleave_value *value, enum cleave_type type, char *buffer,
                        size_t size);

/* A contiguous piece of a column's domain. NULL is a point of its own (kind NULL both ends) and
 * lies in no other range. INTEGER bounds are always stored closed. */
enum {
    CLEAVE_LOW_UNBOUNDED = 1,
    CLEAVE_HIGH_UNBOUNDED = 2,
    CLEAVE_LOW_OPEN = 4,
    CLEAVE_HIGH_OPEN = 8,
};
struct cleave_range {
    struct cleave_value low, high;
    uint8_t flags;
};

bool cleave__range_is_point(const struct cleave_range *range);
bool cleave__range_is_empty(const struct cleave_range *range);
bool cleave__range_contains(const struct cleave_range *range, const struct cleave_value *value);
bool cleave__range_overlaps(const struct cleave_range *a, const struct cleave_range *b);
/* True when `inner` lies wholly in `outer`. */
bool cleave__range_covers(const struct cleave_range *outer, const struct cleave_range *inner);
/* out = a ∩ b; false when empty. `out` may alias an input. */
bool cleave__range_intersect(const struct cleave_range *a, const struct cleave_range *b,
                             struct cleave_range *out);

#endif

/* Inside of inferring a schema: what its files share. Not for other rooms. */
#ifndef CLEAVE_TABLES_SOURCE_INFER_H
#define CLEAVE_TABLES_SOURCE_INFER_H

#include "tables/source/schema_build.h"
#include "tables/source/schema_infer.h"
#include "tables/sql/parse.h"

/* What a column's constants look like so far. */
enum cleave_guess {
    CLEAVE_GUESS_NONE,
    CLEAVE_GUESS_DIGITS, /* '42': a whole number in quotes, or a bound parameter */
    CLEAVE_GUESS_INTEGER,
    CLEAVE_GUESS_NUMBER,
    CLEAVE_GUESS_BOOLEAN,
    CLEAVE_GUESS_DATE,
    CLEAVE_GUESS_TIMESTAMP,
    CLEAVE_GUESS_UUID,
    CLEAVE_GUESS_TEXT,
};

/* infer_guess.c */
enum cleave_guess cleave__guess_string(const char *text, size_t length);
enum cleave_guess cleave__guess_number(const char *text, size_t length); /* unquoted */
enum cleave_guess cleave__guess_type_name(const char *name);
/* What fits both: commutative, associative, NONE is neutral. */
enum cleave_guess cleave__guess_merge(enum cleave_guess a, enum cleave_guess b);
enum cleave_type cleave__guess_type(enum cleave_guess guess, const char **type_name);

enum { CLEAVE_CANDIDATES_MAX = 16, CLEAVE_PENDING_MAX = 1 << 16 };

/* A column as a statement named it: settled, or one of the pending. */
struct cleave_infer_ref {
    uint32_t table;  /* CLEAVE_ABSENT: nothing we keep; CLEAVE_REF_PENDING */
    uint32_t column; /* of the build, or index among the pending */
};
enum { CLEAVE_REF_PENDING = UINT32_MAX - 1 };

struct cleave_infer_equal { /* a = b in some statement: one type fits both */
    struct cleave_infer_ref a, b;
};

/* A column named without its table where several could be meant. */
struct cleave_pending_column {
    const char *name;
    enum cleave_guess guess;
    bool derived; /* may also come from a subquery or function */
    uint32_t count;
    uint32_t tables[CLEAVE_CANDIDATES_MAX]; /* innermost first */
    struct cleave_infer_ref placed;         /* where it went; table CLEAVE_ABSENT: nowhere yet */
};

struct cleave_guess_table {
    CLEAVE_VECTOR(uint8_t) columns;  /* enum cleave_guess, by column of the build */
    CLEAVE_VECTOR(uint8_t) nameless; /* likewise, by position in an INSERT without a column list */
};

struct cleave_schema_observer {
    char origin[200];
    struct cleave_parser *parser;
    struct cleave_build build;
    CLEAVE_VECTOR(struct cleave_guess_table) guesses; /* by table of the build */
    CLEAVE_VECTOR(struct cleave_pending_column) pending;
    struct cleave_intern pending_keys; /* name and tables of each */
    CLEAVE_VECTOR(struct cleave_infer_equal) equals;
    struct cleave_intern equal_keys;
    struct cleave_intern seen; /* hashes of statements with their constants' kinds */
    struct cleave_arena scratch;
    /* The statement at hand. */
    const struct cleave_parameter *parameters;
    uint32_t parameter_count;
    bool no_memory;
};

/* infer_walk.c: takes in a parse tree. Sets observer->no_memory when memory runs out. */
struct PgQuery__ParseResult;
void cleave__infer_walk(struct cleave_schema_observer *observer,
                        const struct PgQuery__ParseResult *tree);

/* schema_infer.c: what the walk reports. A name past the builder's bounds is left out. */
uint32_t cleave__infer_table(struct cleave_schema_observer *observer, const char *schema,
                             const char *name);
struct cleave_infer_ref cleave__infer_column(struct cleave_schema_observer *observer,
                                             uint32_t table, const char *name,
                                             enum cleave_guess guess);
void cleave__infer_nameless(struct cleave_schema_observer *observer, uint32_t table,
                            uint32_t position, enum cleave_guess guess);
struct cleave_infer_ref cleave__infer_pending(struct cleave_schema_observer *observer,
                                              const struct cleave_pending_column *column);
void cleave__infer_equal(struct cleave_schema_observer *observer, struct cleave_infer_ref a,
                         struct cleave_infer_ref b);

/* infer_settle.c: places what is pending and gives every column its type. */
enum cleave_status cleave__infer_settle(struct cleave_schema_observer *observer,
                                        struct cleave_error *error);

#endif

/* What a function of a given name may do. */
#ifndef CLEAVE_TABLES_SQL_BUILTIN_H
#define CLEAVE_TABLES_SQL_BUILTIN_H

enum cleave_function {
    CLEAVE_FUNCTION_UNKNOWN,  /* a user's: may touch any table */
    CLEAVE_FUNCTION_ORDINARY, /* one row in, one (or some) out */
    CLEAVE_FUNCTION_AGGREGATE,
    CLEAVE_FUNCTION_WINDOW,
};

/* `name` is folded and without its schema. */
enum cleave_function cleave__function_class(const char *name);

#endif

/* Inside of the DDL reader: what its files share. A statement's parse tree (libpg_query's) comes
 * in, the schema under construction changes. Not for other rooms. */
#ifndef CLEAVE_TABLES_SOURCE_DDL_H
#define CLEAVE_TABLES_SOURCE_DDL_H

#include <pg_query/pg_query.pb-c.h>

#include "tables/source/ddl_script.h"
#include "tables/source/schema_build.h"
#include "tables/sql/parse.h"

struct cleave_ddl_type { /* CREATE DOMAIN, CREATE TYPE ... AS ENUM and others */
    const char *base_name;
    enum cleave_type base;
    bool not_null, has_default;
};

struct cleave_ddl_index { /* where a unique index went, for DROP INDEX and USING INDEX */
    uint32_t table, key;
};

struct cleave_ddl {
    struct cleave_parser *parser;
    struct cleave_arena scratch; /* the parse tree at hand */
    struct cleave_build build;
    struct cleave_intern type_names;
    CLEAVE_VECTOR(struct cleave_ddl_type) types; /* by id in type_names */
    struct cleave_intern index_names;
    CLEAVE_VECTOR(struct cleave_ddl_index) indexes; /* by id in index_names */
    CLEAVE_VECTOR(const char *) path;               /* search_path, without $user and pg_catalog */
    /* The statement at hand. */
    const struct cleave_script_statement *statement;
    const char *inside_schema; /* of CREATE SCHEMA's elements, or NULL */
    struct cleave_error *error;
};

/* Fails at a byte offset of the statement (-1: its start). */
enum cleave_status cleave__ddl_fail(const struct cleave_ddl *ddl, int location,
                                    enum cleave_status status, const char *format, ...)
    CLEAVE_PRINTF(4, 5);
enum cleave_status cleave__ddl_no_memory(const struct cleave_ddl *ddl);
size_t cleave__ddl_line(const struct cleave_ddl *ddl, int location);

/* ddl_name.c: names through the search path, and types. Strings live in the schema's arena. */
enum cleave_status cleave__ddl_set_path(struct cleave_ddl *ddl, size_t count, char *const *names);
enum cleave_status cleave__ddl_set_path_text(struct cleave_ddl *ddl, const char *list);
/* Canonical name for a new table. NULL: no memory. */
const char *cleave__ddl_new_name(struct cleave_ddl *ddl, const char *schema, const char *name);
/* The live table a name means, or CLEAVE_ABSENT. */
uint32_t cleave__ddl_find(struct cleave_ddl *ddl, const PgQuery__RangeVar *relation);
uint32_t cleave__ddl_find_name(struct cleave_ddl *ddl, const char *schema, const char *name);
/* A list of String nodes: schema (or "") and name of its last two. False if there is none. */
bool cleave__ddl_split_name(size_t count, PgQuery__Node **names, const char **schema,
                            const char **name);
const char *cleave__ddl_string(const PgQuery__Node *node); /* "" when it is no String */
/* Fills type, type_name, and for serials fallback and not_null. */
enum cleave_status cleave__ddl_type(struct cleave_ddl *ddl, const PgQuery__TypeName *type,
                                    struct cleave_build_column *out);
enum cleave_status cleave__ddl_define_type(struct cleave_ddl *ddl, size_t count,
                                           PgQuery__Node **names,
                                           const struct cleave_ddl_type *type);

/* ddl_table.c */
/* The column, or CLEAVE_ABSENT. Of a table whose columns a query gives, one that was not seen so
 * far is added. */
enum cleave_status cleave__ddl_column(struct cleave_ddl *ddl, uint32_t table, const char *name,
                                      uint32_t *out);
enum cleave_status cleave__ddl_create(struct cleave_ddl *ddl, const PgQuery__CreateStmt *create);
enum cleave_status cleave__ddl_composite(struct cleave_ddl *ddl,
                                         const PgQuery__CompositeTypeStmt *type);
enum cleave_status cleave__ddl_add_column(struct cleave_ddl *ddl, uint32_t table,
                                          const PgQuery__ColumnDef *definition);
enum cleave_status cleave__ddl_add_constraint(struct cleave_ddl *ddl, uint32_t table,
                                              const PgQuery__Constraint *constraint);
enum cleave_status cleave__ddl_unique_index(struct cleave_ddl *ddl,
                                            const PgQuery__IndexStmt *index);
/* Makes `child` a partition of `parent`. */
enum cleave_status cleave__ddl_fold(struct cleave_ddl *ddl, uint32_t parent, uint32_t child,
                                    int location);

/* ddl_alter.c */
enum cleave_status cleave__ddl_alter(struct cleave_ddl *ddl, const PgQuery__AlterTableStmt *alter);
enum cleave_status cleave__ddl_rename(struct cleave_ddl *ddl, const PgQuery__RenameStmt *rename);
enum cleave_status cleave__ddl_move(struct cleave_ddl *ddl,
                                    const PgQuery__AlterObjectSchemaStmt *move);
enum cleave_status cleave__ddl_drop(struct cleave_ddl *ddl, const PgQuery__DropStmt *drop);

/* ddl_query.c: tables and views that a query defines. */
enum cleave_status cleave__ddl_view(struct cleave_ddl *ddl, PgQuery__ViewStmt *view);
enum cleave_status cleave__ddl_create_as(struct cleave_ddl *ddl,
                                         const PgQuery__CreateTableAsStmt *create);

#endif

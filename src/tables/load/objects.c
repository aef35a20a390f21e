/* From PostgreSQL to PostgreSQL: types of the user's own, sequences behind defaults, and what is
 * not brought, named.
 *
 * A sequence is one a shard, and no two give the same value: shard S has every so-many-th value
 * from the source's next one on, S steps behind it. So many: by the sequence's type (stride), which
 * leaves room for shards that are added later. */
#include <stdlib.h>
#include <string.h>

#include "tables/load/inside.h"

static const char *keep(struct cleave__load *load, const char *text)
{
    return text ? cleave__arena_copy(&load->arena, text, strlen(text)) : NULL;
}

/* CREATE statement, schema */
static enum cleave_status take_type(void *context, uint32_t count, const char *const *values,
                                    struct cleave_error *error)
{
    struct cleave__load *load = context;
    (void)count;
    if (!values[0] || !values[1])
        return CLEAVE_OK;
    struct cleave__load_extra type = {keep(load, values[1]), keep(load, values[0])};
    return type.name && type.text && CLEAVE_PUSH(&load->types, type)
               ? CLEAVE_OK
               : cleave__load_no_memory(error);
}

static int64_t number(const char *text)
{
    return text ? strtoll(text, NULL, 10) : 0;
}

/* table, column, identity, sequence in quotes, type, increment, min, max, start, cache, last or
 * NULL, whether it may be read */
static enum cleave_status take_sequence(void *context, uint32_t count, const char *const *values,
                                        struct cleave_error *error)
{
    struct cleave__load *load = context;
    struct cleave__load_column *column = cleave__load_column_named(load, values[0], values[1]);
    (void)count;
    if (!column)
        return CLEAVE_OK;
    struct cleave__load_sequence *s = cleave__arena_zalloc(&load->arena, sizeof *s);
    if (!s || !(s->name = keep(load, values[3])) || !(s->type = keep(load, values[4])))
        return cleave__load_no_memory(error);
    s->identity = *values[2];
    s->increment = number(values[5]);
    s->min = number(values[6]);
    s->max = number(values[7]);
    s->cache = number(values[9]);
    s->stride = strcmp(s->type, "smallint") == 0 ? 16 : strcmp(s->type, "integer") == 0 ? 64 : 1024;
    int64_t last = values[10] ? number(values[10]) : number(values[8]);
    bool fits = s->increment > 0 && s->increment <= INT32_MAX && *values[11] == 't';
    s->next = last;
    if (fits && values[10])
        fits = !__builtin_add_overflow(last, s->increment, &s->next);
    if (load->copies) { /* shard 0's: the step is for all, and its first value is its own */
        s->increment /= s->stride;
        fits = fits && s->increment > 0;
    }
    /* The last shard's first value must be one. */
    int64_t room = s->increment * (int64_t)load->lookup->shards;
    fits =
        fits && load->lookup->shards <= s->stride && s->next <= s->max && s->max - s->next >= room;
    if (fits) {
        column->sequence = s;
        return CLEAVE_OK;
    }
    return cleave__load_remark(load,
                               "sequence %.100s of %.100s.%.100s: not brought; it counts down, is "
                               "near its end, may not be read, or has less room than shards",
                               s->name, values[0], values[1])
               ? CLEAVE_OK
               : cleave__load_no_memory(error);
}

/* kind, name */
static enum cleave_status take_left(void *context, uint32_t count, const char *const *values,
                                    struct cleave_error *error)
{
    struct cleave__load *load = context;
    (void)count;
    return cleave__load_remark(load, "%.40s %.200s: not brought", values[0], values[1])
               ? CLEAVE_OK
               : cleave__load_no_memory(error);
}

/* Of an object (`catalog`, `object`) in the schema `n`: neither the system's, nor cleave's, nor an
 * extension's. */
#define OF_USERS                                                                                   \
    "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ "                      \
    "'^(pg_(toast|temp)|cleave_)' AND NOT EXISTS (SELECT FROM pg_depend x WHERE x.classid = "      \
    "catalog AND x.objid = object AND x.deptype = 'e') "

enum cleave_status cleave__load_objects(struct cleave__load *load, struct cleave_error *error)
{
    static const char types[] =
        "SELECT CASE t.typtype WHEN 'e' THEN 'CREATE TYPE ' || quote_ident(n.nspname) || '.' || "
        "quote_ident(t.typname) || ' AS ENUM (' || coalesce((SELECT "
        "string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) FROM pg_enum e "
        "WHERE e.enumtypid = t.oid), '') || ')' ELSE 'CREATE DOMAIN ' || quote_ident(n.nspname) || "
        "'.' || quote_ident(t.typname) || ' AS ' || format_type(t.typbasetype, t.typtypmod) || "
        "coalesce(' DEFAULT ' || t.typdefault, '') || CASE WHEN t.typnotnull THEN ' NOT NULL' ELSE "
        "'' END || coalesce((SELECT string_agg(' CONSTRAINT ' || quote_ident(k.conname) || ' ' || "
        "pg_get_constraintdef(k.oid), '' ORDER BY k.conname) FROM pg_constraint k WHERE k.contypid "
        "= t.oid AND k.contype = 'c'), '') END, n.nspname FROM pg_type t JOIN pg_namespace n ON "
        "n.oid = t.typnamespace CROSS JOIN LATERAL (SELECT 'pg_type'::regclass AS catalog, t.oid "
        "AS object) AS k WHERE t.typtype IN ('e', 'd') AND " OF_USERS "ORDER BY t.oid";
    static const char sequences[] =
        "WITH used AS (SELECT d.refobjid AS seq, k.adrelid AS rel, k.adnum AS num, '-' AS identity "
        "FROM pg_depend d JOIN pg_attrdef k ON d.classid = 'pg_attrdef'::regclass AND d.objid = "
        "k.oid WHERE d.refclassid = 'pg_class'::regclass UNION ALL SELECT d.objid, d.refobjid, "
        "d.refobjsubid, a.attidentity::text FROM pg_depend d JOIN pg_attribute a ON a.attrelid = "
        "d.refobjid AND a.attnum = d.refobjsubid WHERE d.classid = 'pg_class'::regclass AND "
        "d.refclassid = 'pg_class'::regclass AND d.deptype = 'i' AND a.attidentity <> '') "
        "SELECT DISTINCT " CLEAVE__LOAD_NAME
        ", a.attname, u.identity, quote_ident(qn.nspname) || '.' || "
        "quote_ident(q.relname), format_type(s.seqtypid, NULL), s.seqincrement, s.seqmin, "
        "s.seqmax, s.seqstart, s.seqcache, CASE WHEN has_sequence_privilege(q.oid, "
        "'USAGE,SELECT') THEN pg_sequence_last_value(q.oid) END, has_sequence_privilege(q.oid, "
        "'USAGE,SELECT') FROM used u JOIN pg_sequence s ON s.seqrelid = u.seq JOIN pg_class q ON "
        "q.oid = u.seq JOIN pg_namespace qn ON qn.oid = q.relnamespace JOIN pg_class c ON c.oid = "
        "u.rel JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = "
        "u.rel AND a.attnum = u.num WHERE NOT c.relispartition ORDER BY 1, 2";
    static const char left[] =
        "SELECT kind, name FROM (SELECT 'materialized view' AS kind, " CLEAVE__LOAD_NAME
        " AS name, n.oid AS space, 'pg_class'::regclass AS catalog, c.oid AS object FROM pg_class "
        "c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm' "
        "UNION ALL SELECT 'trigger', g.tgname || ' of ' || " CLEAVE__LOAD_NAME
        ", n.oid, 'pg_class', c.oid FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN "
        "pg_namespace n ON n.oid = c.relnamespace WHERE NOT g.tgisinternal "
        "UNION ALL SELECT 'rule', g.rulename || ' of ' || " CLEAVE__LOAD_NAME
        ", n.oid, 'pg_class', c.oid FROM pg_rewrite g JOIN pg_class c ON c.oid = g.ev_class JOIN "
        "pg_namespace n ON n.oid = c.relnamespace WHERE g.rulename <> '_RETURN' "
        "UNION ALL SELECT 'policy', g.polname || ' of ' || " CLEAVE__LOAD_NAME
        ", n.oid, 'pg_class', c.oid FROM pg_policy g JOIN pg_class c ON c.oid = g.polrelid JOIN "
        "pg_namespace n ON n.oid = c.relnamespace "
        "UNION ALL SELECT 'function', g.oid::regprocedure::text, g.pronamespace, 'pg_proc', g.oid "
        "FROM pg_proc g "
        "UNION ALL SELECT 'type', format_type(t.oid, NULL), t.typnamespace, 'pg_type', t.oid FROM "
        "pg_type t WHERE t.typtype = 'r' OR (t.typtype = 'c' AND EXISTS (SELECT FROM pg_class c "
        "WHERE c.oid = t.typrelid AND c.relkind = 'c')) "
        "UNION ALL SELECT 'rights (GRANT) on', " CLEAVE__LOAD_NAME
        ", n.oid, 'pg_class', c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relkind IN ('r', 'p') AND c.relacl IS NOT NULL "
        "UNION ALL SELECT 'ON DELETE or ON UPDATE of foreign key', k.conname || ' of ' "
        "|| " CLEAVE__LOAD_NAME
        ", n.oid, 'pg_class', c.oid FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid "
        "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE k.contype = 'f' AND k.conparentid = 0 "
        "AND (k.confdeltype NOT IN ('a', 'r') OR k.confupdtype NOT IN ('a', 'r'))) AS k JOIN "
        "pg_namespace n ON n.oid = space WHERE " OF_USERS
        "UNION ALL SELECT 'extension', e.extname FROM pg_extension e WHERE e.extname <> 'plpgsql' "
        "ORDER BY 1, 2";
    enum cleave_status status = cleave__load_query(load, types, take_type, load, error);
    if (!status)
        status = cleave__load_query(load, sequences, take_sequence, load, error);
    return status ? status : cleave__load_query(load, left, take_left, load, error);
}

/* One that is there already is taken as it is: made by hand, or by an earlier load. */
void cleave__load_put_type(struct cleave_words *w, const struct cleave__load_extra *type)
{
    struct cleave_words body = {.grows = true};
    cleave__words_add(&body, "BEGIN %s; EXCEPTION WHEN duplicate_object THEN NULL; END",
                      type->text);
    cleave__words_add(w, "DO ");
    if (body.failed)
        w->failed = true;
    else
        cleave__words_literal(w, body.data, body.length);
    free(body.data);
}

/* How it counts on one target. */
static void put_counting(struct cleave_words *w, const struct cleave__load_target *target,
                         const struct cleave__load_sequence *s)
{
    long long shard = target->reference ? 0 : (long long)target->number;
    long long stride = target->reference ? 1 : (long long)s->stride;
    cleave__words_add(w, "START WITH %lld INCREMENT BY %lld MINVALUE %lld MAXVALUE %lld CACHE %lld",
                      (long long)s->next + shard * (long long)s->increment,
                      (long long)s->increment * stride, (long long)s->min, (long long)s->max,
                      (long long)s->cache);
}

void cleave__load_put_sequence(struct cleave_words *w, const struct cleave__load_target *target,
                               const struct cleave__load_sequence *s)
{
    cleave__words_add(w, "CREATE SEQUENCE %s AS %s ", s->name, s->type);
    put_counting(w, target, s);
}

void cleave__load_put_identity(struct cleave_words *w, const struct cleave__load_target *target,
                               const struct cleave__load_sequence *s)
{
    cleave__words_add(w, " GENERATED %s AS IDENTITY (",
                      s->identity == 'a' ? "ALWAYS" : "BY DEFAULT");
    put_counting(w, target, s);
    cleave__words_add(w, ")");
}

/* Where rows come from: a generated benchmark, SQLite, or PostgreSQL, which is read in one
 * read-only transaction and tells its defaults, checks and indexes too. */
#include <string.h>
#include <unistd.h>

#include "tables/load/inside.h"

enum cleave_status cleave__load_query(struct cleave__load *load, const char *query,
                                      enum cleave_status (*each)(void *context, uint32_t columns,
                                                                 const char *const *values,
                                                                 struct cleave_error *error),
                                      void *context, struct cleave_error *error)
{
    return load->ops->scan(load->session, query, each, context, error);
}

static enum cleave_status source_postgres(struct cleave__load *load, struct cleave_error *error)
{
    struct cleave_store_statement begin[] = {
        {"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL, 0},
        {"SET LOCAL search_path = pg_catalog", NULL, 0},
        /* Rows that a policy hides from this role are an error, not left out without a word. */
        {"SET LOCAL row_security = off", NULL, 0}};
    enum { COUNT = sizeof begin / sizeof *begin };
    struct cleave_store_batch batch = {begin, COUNT, CLEAVE_BATCH_OPEN, NULL};
    struct cleave_store_answer answers[COUNT];
    enum cleave_status status = load->ops->send(load->session, &batch, error);
    if (!status)
        status = load->ops->receive(load->session, &load->arena, answers, NULL, error);
    if (!status)
        status = cleave__schema_read_catalog(load->options->from, &load->owned, error);
    return status;
}

enum cleave_status cleave__load_source(struct cleave__load *load, struct cleave_error *error)
{
    const struct cleave_load_options *options = load->options;
    if (options->generator) {
        load->schema = cleave__generator_schema(options->generator);
        load->shown = "the benchmark";
        return CLEAVE_OK;
    }
    load->ops = cleave__store_of(options->from);
    load->shown = cleave__store_shown(options->from, &load->arena);
    if (!load->shown)
        return cleave__load_no_memory(error);
    bool sqlite = load->ops == &cleave__sqlite;
    const char *path = strncmp(options->from, "sqlite:", 7) ? options->from : options->from + 7;
    if (sqlite && access(path, R_OK))
        return cleave_error_set(error, CLEAVE_IO, "%.300s: there is no such file that can be read",
                                load->shown);
    enum cleave_status status = load->ops->open(options->from, &load->session, error);
    if (!status)
        status = cleave__store_identity(options->from, load->session, load->identity, error);
    if (!status)
        status = sqlite ? cleave__load_source_sqlite(load, error) : source_postgres(load, error);
    load->schema = load->owned;
    return status;
}

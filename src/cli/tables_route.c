/* cleave tables route, explain and export: what a lookup table says. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/lookup.h"
#include "cli/tables.h"
#include "report/json.h"
#include "tables/route/explain.h"
#include "tables/route/export.h"

enum { STATEMENTS_MAX = 4096, PARAMETERS_MAX = 1024 };

struct arguments {
    struct cleave_options common;
    const char *path;
    const char *texts[STATEMENTS_MAX];
    uint32_t text_count;
    struct cleave_text parameters[PARAMETERS_MAX];
    uint32_t parameter_count;
    const char *key;
    uint32_t to;
    struct cleave_export_options nodes;
};

static const char *const targets[] = {"json", "citus", "fdw", NULL};

static error_t parse_common(int key, char *value, struct argp_state *state, uint32_t most)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case ARGP_KEY_ARG:
        if (!a->path) {
            a->path = value;
            return 0;
        }
        if (a->text_count == most)
            argp_error(state, "too many arguments");
        a->texts[a->text_count++] = value;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no lookup table given");
        return 0;
    case ARGP_KEY_END:
        if (a->common.csv)
            argp_error(state, "there is no table here to print as CSV");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option route_options[] = {
    {"param", 'p', "VALUE", 0, "Value of $1, $2, ... (repeatable)", 0},
    {"key", 'K', "TABLE.COLUMN=VALUE", 0, "Route a key instead of SQL", 0},
    {0}};

static error_t parse_route(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    if (key == 'p') {
        if (a->parameter_count == PARAMETERS_MAX)
            argp_error(state, "more than %d parameters", PARAMETERS_MAX);
        a->parameters[a->parameter_count++] = (struct cleave_text){value, strlen(value)};
        return 0;
    }
    if (key == 'K') {
        if (a->key)
            argp_error(state, "one --key at a time");
        a->key = value;
        return 0;
    }
    if (key == ARGP_KEY_END && !a->text_count && !a->key)
        argp_error(state, "give SQL, or --key TABLE.COLUMN=VALUE");
    return parse_common(key, value, state, STATEMENTS_MAX);
}

static enum cleave_status route_key(const struct cleave_lookup *lookup, char *key,
                                    struct cleave_route *route, struct cleave_error *error)
{
    char *equals = strchr(key, '=');
    char *dot = NULL;
    for (char *c = key; equals && c < equals; c++)
        dot = *c == '.' ? c : dot;
    if (!dot)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "--key takes TABLE.COLUMN=VALUE, not '%s'", key);
    *dot = *equals = 0;
    const char *column = dot + 1;
    struct cleave_text value = {equals + 1, strlen(equals + 1)};
    return cleave_lookup_route_key(lookup, key, &column, &value, 1, false, route, error);
}

static json_t *route_json(const char *text, const struct cleave_route *route, uint32_t shards)
{
    json_t *list = json_array();
    for (uint32_t s = 0; s < shards; s++) {
        if (cleave_route_has(route, s))
            json_array_append_new(list, json_integer(s));
    }
    json_t *root = json_object();
    json_object_set_new(root, "sql", cleave__json_text(text, strlen(text)));
    json_object_set_new(root, "shards", list);
    json_object_set_new(root, "any", json_boolean(route->count == 0));
    json_object_set_new(root, "distributed", json_boolean(route->distributed));
    json_object_set_new(root, "writes", json_boolean(route->writes));
    json_object_set_new(root, "certain", json_boolean(route->certain));
    json_object_set_new(root, "why", cleave__json_text(route->why, strlen(route->why)));
    return root;
}

static void print_route(const struct cleave_route *route, uint32_t shards)
{
    if (route->count == 0) {
        printf("any shard");
    } else if (route->count == shards && shards > 1) {
        printf("every shard");
    } else {
        printf(route->count > 1 ? "shards" : "shard");
        for (uint32_t s = 0, n = 0; s < shards; s++) {
            if (cleave_route_has(route, s))
                printf("%s %" PRIu32, n++ ? "," : "", s);
        }
    }
    printf("\t%s%s\t%s\n", route->distributed ? "distributed " : "local ",
           route->writes ? "write" : "read", route->why);
}

int cleave__command_tables_route(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cleave__options_argp, 0, "Common:", 9}, {0}};
    static const struct argp argp = {
        route_options,
        parse_route,
        "LOOKUP [SQL...]",
        "Says which shards a transaction goes to, and why. Each SQL argument is one transaction.",
        children,
        NULL,
        NULL};
    static struct arguments a;
    a = (struct arguments){.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error;
    struct cleave_lookup *lookup;
    struct cleave_router *router = NULL;
    enum cleave_status status = cleave_lookup_open(a.path, &lookup, &error);
    if (status)
        return cleave__command_fail(&error);
    status = cleave_router_new(lookup, &router, &error);
    json_t *list = json_array();
    uint32_t shards = cleave_lookup_shards(lookup);
    for (uint32_t i = 0; !status && i < a.text_count + (a.key != NULL); i++) {
        static struct cleave_route route;
        bool keyed = i == a.text_count;
        const char *text = keyed ? a.key : a.texts[i];
        status = keyed ? route_key(lookup, (char *)a.key, &route, &error)
                       : cleave_router_route(router, text, strlen(text), a.parameters,
                                             a.parameter_count, &route, &error);
        if (!status && a.common.json)
            json_array_append_new(list, route_json(text, &route, shards));
        else if (!status)
            print_route(&route, shards);
    }
    if (!status && a.common.json)
        status = cleave__json_write(list, stdout, &error);
    else
        json_decref(list);
    cleave_router_free(router);
    cleave_lookup_close(lookup);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}

static error_t parse_explain(int key, char *value, struct argp_state *state)
{
    return parse_common(key, value, state, 0);
}

int cleave__command_tables_explain(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cleave__options_argp, 0, "Common:", 9}, {0}};
    static const struct argp argp = {
        NULL,     parse_explain, "LOOKUP", "Prints a placement's rules in words, table by table.",
        children, NULL,          NULL};
    static struct arguments a;
    a = (struct arguments){.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error;
    struct cleave_lookup *lookup;
    enum cleave_status status = cleave_lookup_open(a.path, &lookup, &error);
    if (status)
        return cleave__command_fail(&error);
    char *text = NULL;
    status = cleave__lookup_explain(lookup, 0, &text, &error);
    if (!status && a.common.json) {
        json_t *root = json_object();
        json_object_set_new(root, "explanation", cleave__json_text(text, strlen(text)));
        status = cleave__json_write(root, stdout, &error);
    } else if (!status) {
        fputs(text, stdout);
    }
    free(text);
    cleave_lookup_close(lookup);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}

static const struct argp_option export_options[] = {
    {"to", 't', "FORM", 0, "json, citus or fdw (json)", 0},
    {"host", 'H', "NAME", 0,
     "fdw: host of a shard, {} is its number; or a list with commas, one a shard (shard-{})", 0},
    {"port", 'P', "PORT", 0, "fdw: port of a shard, {} likewise (5432)", 0},
    {"dbname", 'd', "NAME", 0, "fdw: database of a shard, {} likewise (postgres)", 0},
    {"user", 'U', "NAME", 0, "fdw: whom to log in to a shard as (as whom the server runs)", 0},
    {0}};

static error_t parse_export(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    if (key == 't') {
        a->to = cleave__option_choice(state, "--to", value, targets);
        return 0;
    }
    if (key == 'H' || key == 'P' || key == 'd' || key == 'U') {
        const char **target = key == 'H'   ? &a->nodes.host
                              : key == 'P' ? &a->nodes.port
                              : key == 'd' ? &a->nodes.database
                                           : &a->nodes.user;
        *target = value;
        return 0;
    }
    return parse_common(key, value, state, 0);
}

/* What the text warns of is easily missed in it: rows that will not be found. */
static void tell_warnings(const char *text)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, "\n-- WARNING: ")); at++)
        count++;
    if (count)
        fprintf(
            stderr,
            "cleave: %u warning%s of tables that are not here as the lookup table has them: see "
            "the lines \"-- WARNING: ...\"\n",
            count, count == 1 ? "" : "s");
}

int cleave__command_tables_export(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cleave__options_argp, 0, "Common:", 9}, {0}};
    static const struct argp argp = {
        export_options,
        parse_export,
        "LOOKUP",
        "Prints a placement for other systems: complete JSON, Citus calls, or native partitions "
        "with postgres_fdw.",
        children,
        NULL,
        NULL};
    static struct arguments a;
    a = (struct arguments){.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error;
    struct cleave_lookup *lookup;
    enum cleave_status status = cleave_lookup_open(a.path, &lookup, &error);
    if (status)
        return cleave__command_fail(&error);
    char *text = NULL;
    size_t length = 0;
    status = cleave__lookup_export(lookup, (enum cleave_export_target)a.to, &a.nodes, &text,
                                   &length, &error);
    if (!status)
        fwrite(text, 1, length, stdout);
    if (!status && !a.common.quiet)
        tell_warnings(text);
    free(text);
    cleave_lookup_close(lookup);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}

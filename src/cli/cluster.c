/* cleave cluster: throw-away servers on loopback, to try things on. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cluster/cluster.h"
#include "report/json.h"
#include "report/report.h"

enum { KEY_NATS = 0x3000, KEY_FSYNC, KEY_CONNECTIONS, KEY_PASSWORD, KEY_NKEY, KEY_TLS, KEY_USER };

struct arguments {
    struct cleave_options common;
    struct cleave_cluster_options up;
};

#define DIR_OPTION                                                                                 \
    {                                                                                              \
        "dir", 'd', "DIR", 0, "The cluster's folder", 0                                            \
    }

static const struct argp_option up_options[] = {
    {"dir", 'd', "DIR", 0, "The cluster's folder, which must not exist yet", 0},
    {"postgres", 'p', "K", 0, "So many PostgreSQL servers", 0},
    {"nats", KEY_NATS, "N", 0, "So many NATS servers with JetStream: 1, or 3 and more", 0},
    {"fsync", KEY_FSYNC, NULL, 0, "PostgreSQL writes to disk as in earnest; else fast, unsafe", 0},
    {"connections", KEY_CONNECTIONS, "N", 0,
     "Connections of each PostgreSQL server; as many transactions may be prepared (100)", 0},
    {"nats-password", KEY_PASSWORD, NULL, 0, "NATS asks for user and password", 0},
    {"nats-nkey", KEY_NKEY, NULL, 0, "NATS asks for an NKey", 0},
    {"nats-tls", KEY_TLS, NULL, 0, "NATS by TLS, with a certificate made for it", 0},
    {"user", KEY_USER, "NAME", 0, "As root: the user to run servers as (postgres, or nobody)", 0},
    {0}};
static const struct argp_option dir_options[] = {DIR_OPTION, {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case 'd':
        a->up.folder = value;
        return 0;
    case 'p':
        a->up.postgres = (uint32_t)cleave__option_integer(state, "--postgres", value, 0, 64);
        return 0;
    case KEY_NATS:
        a->up.nats = (uint32_t)cleave__option_integer(state, "--nats", value, 0, 64);
        return 0;
    case KEY_FSYNC:
        a->up.fsync = true;
        return 0;
    case KEY_CONNECTIONS:
        a->up.connections_most =
            (uint32_t)cleave__option_integer(state, "--connections", value, 1, 10000);
        return 0;
    case KEY_PASSWORD:
        a->up.nats_password = true;
        return 0;
    case KEY_NKEY:
        a->up.nats_nkey = true;
        return 0;
    case KEY_TLS:
        a->up.nats_tls = true;
        return 0;
    case KEY_USER:
        a->up.user = value;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no argument is wanted: %s", value);
        return 0;
    case ARGP_KEY_END:
        if (!a->up.folder)
            argp_error(state, "which folder? --dir DIR");
        if (a->common.csv)
            argp_error(state, "there is no CSV of it; --json there is");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_up(int key, char *value, struct argp_state *state)
{
    const struct arguments *a = state->input;
    if (key == ARGP_KEY_END && !a->up.postgres && !a->up.nats)
        argp_error(state, "which servers? --postgres K, --nats N");
    return parse(key, value, state);
}

static const struct argp_child children[] = {{&cleave__options_argp, 0, "Common:", 9}, {0}};

static json_t *describe(const struct cleave_cluster *cluster)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < cleave__cluster_size(cluster); i++) {
        const struct cleave_cluster_server *server = cleave__cluster_server(cluster, i);
        json_array_append_new(
            list, json_pack("{s:s, s:i, s:i, s:i, s:b, s:s}", "kind",
                            server->kind == CLEAVE_CLUSTER_NATS ? "nats" : "postgres", "number",
                            (int)server->number, "port", (int)server->port, "pid", server->pid,
                            "runs", server->runs, "url", server->url));
    }
    return json_pack("{s:o}", "servers", list);
}

static void print_up(const struct cleave_cluster *cluster, const struct arguments *a)
{
    char quoted[CLEAVE__QUOTED_SIZE];
    for (uint32_t i = 0; i < cleave__cluster_size(cluster); i++)
        printf("%s\n", cleave__cluster_server(cluster, i)->url);
    if (a->up.nats_password || a->up.nats_nkey || a->up.nats_tls)
        printf("credentials for NATS: %s/nats.creds\n", a->up.folder);
    printf("remove it all with: cleave cluster down --dir %s\n",
           cleave__cluster_quoted(a->up.folder, quoted));
}

int cleave__command_cluster_up(int argc, char **argv)
{
    static const struct argp argp = {
        up_options,
        parse_up,
        "",
        "Starts throw-away servers on 127.0.0.1, on free ports, all of them in one folder. They "
        "run on until `cleave cluster down`. PostgreSQL's superuser is cleave, without a "
        "password: whoever can log in here can use it.",
        children,
        NULL,
        NULL};
    struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT};
    struct cleave_error error;
    struct cleave_cluster *cluster;
    struct cleave_terminal terminal;
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    a.up.progress = &terminal.progress;
    enum cleave_status status = cleave__cluster_up(&a.up, &cluster, &error);
    cleave__terminal_clear(&terminal);
    if (status)
        return cleave__command_fail(&error);
    if (a.common.json)
        status = cleave__json_write(describe(cluster), stdout, &error);
    else
        print_up(cluster, &a);
    cleave__cluster_free(cluster);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}

int cleave__command_cluster_status(int argc, char **argv)
{
    static const struct argp argp = {
        dir_options, parse, "",  "What of a cluster runs; exit status 1 when some does not.",
        children,    NULL,  NULL};
    struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT};
    struct cleave_error error;
    struct cleave_cluster *cluster;
    cleave__options_parse(&argp, argc, argv, &a);
    enum cleave_status status = cleave__cluster_open(a.up.folder, &cluster, &error);
    if (status)
        return cleave__command_fail(&error);
    bool all = true;
    for (uint32_t i = 0; i < cleave__cluster_size(cluster); i++) {
        const struct cleave_cluster_server *server = cleave__cluster_server(cluster, i);
        all = all && server->runs;
        if (!a.common.json)
            printf("%s\t%s\n", server->runs ? "runs" : "down", server->url);
    }
    if (a.common.json)
        status = cleave__json_write(describe(cluster), stdout, &error);
    cleave__cluster_free(cluster);
    if (status)
        return cleave__command_fail(&error);
    return all ? CLEAVE_EXIT_OK : CLEAVE_EXIT_FAILED;
}

int cleave__command_cluster_down(int argc, char **argv)
{
    static const struct argp argp = {dir_options,
                                     parse,
                                     "",
                                     "Stops what of a cluster still runs, and removes its folder. "
                                     "Nothing else is touched.",
                                     children,
                                     NULL,
                                     NULL};
    struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT};
    struct cleave_error error;
    struct cleave_cluster *cluster;
    cleave__options_parse(&argp, argc, argv, &a);
    enum cleave_status status = cleave__cluster_open(a.up.folder, &cluster, &error);
    if (status)
        return cleave__command_fail(&error);
    status = cleave__cluster_down(cluster, &error);
    cleave__cluster_free(cluster);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}

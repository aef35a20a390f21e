#include "cli/nats_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

enum { KEY_NATS = 0x7100, KEY_CREDENTIALS, KEY_NAME, KEY_REPLICAS };

static const struct argp_option options[] = {
    {"nats", KEY_NATS, "URLS", 0,
     "Servers of one cluster, with commas between: nats://HOST:PORT, tls://HOST:PORT "
     "($CLEAVE_NATS, else nats://127.0.0.1:4222)",
     1},
    {"nats-creds", KEY_CREDENTIALS, "FILE", 0,
     "A .creds file, or lines `user NAME`, `password WORD`, `nkey SEED`, `ca FILE`, `cert FILE`, "
     "`key FILE` ($CLEAVE_NATS_CREDS)",
     1},
    {"name", KEY_NAME, "WORLD", 0, "Of the world that its processes make together (cleave)", 1},
    {"replicas", KEY_REPLICAS, "N", 0, "Servers that keep each thing, of a new world (1)", 1},
    {0}};

static void read_urls(struct argp_state *state, struct cleave_nats_arguments *a, const char *text)
{
    free(a->list);
    a->url_count = 0;
    a->list = malloc(strlen(text) + 1);
    if (!a->list)
        argp_failure(state, 1, 0, "no memory");
    memcpy(a->list, text, strlen(text) + 1);
    for (char *rest = a->list, *item; (item = cleave__option_item(state, "--nats", &rest));) {
        if (a->url_count == CLEAVE_NATS_URLS_MAX)
            argp_error(state, "--nats: at most %d servers", CLEAVE_NATS_URLS_MAX);
        a->urls[a->url_count++] = item;
    }
}

/* Names are parts of subjects and of streams. */
static bool is_name(const char *text)
{
    size_t length =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    return length && !text[length] && length <= 60;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct cleave_nats_arguments *a = state->input;
    switch (key) {
    case KEY_NATS:
        read_urls(state, a, value);
        a->told = true;
        return 0;
    case KEY_CREDENTIALS:
        a->credentials = value;
        return 0;
    case KEY_NAME:
        if (!is_name(value))
            argp_error(state, "--name: letters, digits, - and _, at most 60, not '%.60s'", value);
        a->name = value;
        a->told = true;
        return 0;
    case KEY_REPLICAS:
        a->replicas = (uint32_t)cleave__option_integer(state, "--replicas", value, 1, 5);
        return 0;
    case ARGP_KEY_END:
        if (!a->url_count) {
            const char *servers = getenv("CLEAVE_NATS");
            read_urls(state, a, servers && *servers ? servers : "nats://127.0.0.1:4222");
        }
        if (!a->credentials) {
            const char *file = getenv("CLEAVE_NATS_CREDS");
            a->credentials = file && *file ? file : NULL;
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cleave__nats_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

void cleave__nats_arguments_default(struct cleave_nats_arguments *a)
{
    *a = (struct cleave_nats_arguments){.name = "cleave", .replicas = 1};
}

void cleave__nats_arguments_free(struct cleave_nats_arguments *a)
{
    free(a->list);
    a->list = NULL;
}

struct cleave_nats_options cleave__nats_arguments(const struct cleave_nats_arguments *a)
{
    return (struct cleave_nats_options){.urls = a->urls,
                                        .url_count = a->url_count,
                                        .credentials = a->credentials,
                                        .prefix = a->name,
                                        .replicas = a->replicas};
}

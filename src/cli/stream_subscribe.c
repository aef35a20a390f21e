/* cleave stream subscribe: what a world on NATS finds, as it is found. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "cli/nats_options.h"
#include "cli/stream.h"
#include "cli/stream_row.h"
#include "stream/net/subscribe.h"
#include "stream/net/things.h"
#include "stream/serve/sink.h"

enum { KEY_FROM = 0x7200, KEY_UNTIL_END, KEY_IDLE, KEY_COUNT };

struct arguments {
    struct cleave_options common;
    struct cleave_nats_arguments nats;
    uint64_t from, idle_ns;
    bool until_end, count;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is told:", 2},
    {"from", KEY_FROM, "N|all|new", 0,
     "From this sequence number of the world's stream on (new: what comes from "
     "now on)",
     2},
    {"until-end", KEY_UNTIL_END, NULL, 0, "End with what is there now", 2},
    {"idle", KEY_IDLE, "TIME", 0, "End when nothing has come for so long (never)", 2},
    {"count", KEY_COUNT, NULL, 0, "Print how many there were, and their digest, nothing else", 2},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    struct cleave_error error;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->nats;
        state->child_inputs[1] = &a->common;
        return 0;
    case KEY_FROM:
        a->from = !strcmp(value, "all") ? 1
                  : !strcmp(value, "new")
                      ? 0
                      : (uint64_t)cleave__option_integer(state, "--from", value, 1, INT64_MAX);
        return 0;
    case KEY_UNTIL_END:
        a->until_end = true;
        return 0;
    case KEY_IDLE:
        if (cleave__duration_parse(value, &a->idle_ns, &error))
            argp_error(state, "--idle: %s", error.message);
        return 0;
    case KEY_COUNT:
        a->count = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is too much", value);
        return 0;
    case ARGP_KEY_END:
        if (a->common.csv)
            argp_error(state, "--csv: output is tab-separated, or with --json an object a line");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

struct told {
    const struct arguments *arguments;
    const struct cleave_progress *progress;
    struct cleave__map name_of; /* id to number in names, + 1 */
    struct cleave_intern names;
    uint64_t names_from;
    uint64_t objects, matches, digest, sequence;
    uint64_t entered, left, event_digest;
    struct cleave_writer line;
    int closed; /* errno of the write that failed */
};

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for matches");
}

/* ---- names ---- */

static uint64_t number_of(const json_t *item)
{
    return json_is_string(item) ? strtoull(json_string_value(item), NULL, 10)
                                : (uint64_t)json_integer_value(item);
}

static enum cleave_status take_name(void *context, uint64_t sequence, const char *subject,
                                    const char *content, size_t length, struct cleave_error *error)
{
    struct told *t = context;
    json_t *root = json_loadb(content, length, 0, NULL);
    const json_t *name = json_object_get(root, "name");
    uint64_t id = number_of(json_object_get(root, "id"));
    bool fine = true;
    (void)subject;
    t->names_from = sequence + 1;
    if (json_is_string(name)) {
        uint32_t at =
            cleave__intern_add(&t->names, json_string_value(name), json_string_length(name));
        uint64_t *slot = at == CLEAVE_INTERN_NONE ? NULL : cleave__map_put(&t->name_of, id);
        fine = slot != NULL;
        if (slot)
            *slot = (uint64_t)at + 1;
    }
    json_decref(root);
    return fine ? CLEAVE_OK : no_memory(error);
}

static enum cleave_status read_names(struct told *t, struct cleave_error *error)
{
    struct cleave_nats_options nats = cleave__nats_arguments(&t->arguments->nats);
    struct cleave__net_following following = {.nats = &nats,
                                              .log = CLEAVE__NET_QUERIES,
                                              .from = t->names_from,
                                              .until_end = true,
                                              .progress = t->progress,
                                              .each = take_name,
                                              .context = t};
    return cleave__net_follow(&following, error);
}

/* ---- matches ---- */

static void print_one(struct told *t, const char *event, uint64_t query, const json_t *root,
                      const json_t *row)
{
    const uint64_t *slot = cleave__map_find(&t->name_of, query);
    struct cleave_writer *w = &t->line;
    char number[24];
    const char *name = number;
    size_t length = (size_t)snprintf(number, sizeof number, "%" PRIu64, query);
    char *text = row ? json_dumps(row, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    if (slot) {
        name = t->names.entries[*slot - 1].bytes;
        length = t->names.entries[*slot - 1].length;
    }
    w->count = 0;
    if (t->arguments->common.json) {
        cleave__row_put(w, "{\"event\":\"");
        cleave__row_put(w, event);
        cleave__row_put(w, "\",\"query\":");
        cleave__row_put_json(w, name, length);
    } else {
        cleave__row_put(w, event);
        cleave__row_put(w, "\t");
        cleave__row_put_flat(w, name, length, false);
    }
    snprintf(number, sizeof number, "%" PRIu64, number_of(json_object_get(root, "object")));
    if (t->arguments->common.json) {
        cleave__row_put(w, ",\"number\":");
        cleave__row_put(w, number);
        if (text) {
            cleave__row_put(w, ",\"object\":");
            cleave__row_put(w, text);
        }
        cleave__row_put(w, "}\n");
    } else {
        cleave__row_put(w, "\t");
        if (json_is_string(row))
            cleave__row_put_flat(w, json_string_value(row), json_string_length(row), true);
        else
            cleave__row_put(w, text ? text : number);
        cleave__row_put(w, "\n");
    }
    free(text);
    if (!t->closed && fwrite(w->data, 1, w->count, stdout) != w->count)
        t->closed = errno;
}

/* What a message has of each kind; the first by the sinks, the others by the tracker. */
static const struct {
    const char *key, *event;
} lists[] = {{"queries", "match"}, {"entered", "enter"}, {"left", "exit"}};
enum { LISTS = sizeof lists / sizeof *lists };

static void count(struct told *t, const json_t *root, int list, uint64_t query)
{
    /* Numbers of one publisher's session, which are all the same but for its
     * upper bits. */
    const uint64_t within_session = (UINT64_C(1) << CLEAVE__NET_NUMBER_BITS) - 1;
    if (list == 0) {
        t->matches++;
        t->digest += cleave__match_digest(
            number_of(json_object_get(root, "object")) & within_session, query);
    } else {
        *(list == 1 ? &t->entered : &t->left) += 1;
        t->event_digest +=
            cleave__passage_digest(number_of(json_object_get(root, "thing")), query,
                                   number_of(json_object_get(root, "sequence")), list == 2);
    }
}

static enum cleave_status take_match(void *context, uint64_t sequence, const char *subject,
                                     const char *content, size_t length, struct cleave_error *error)
{
    struct told *t = context;
    json_t *root = json_loadb(content, length, 0, NULL);
    enum cleave_status status = CLEAVE_OK;
    (void)subject;
    t->sequence = sequence;
    t->objects += json_object_get(root, "queries") != NULL;
    bool unknown = false;
    for (int l = 0; l < LISTS; l++) {
        const json_t *queries = json_object_get(root, lists[l].key);
        for (size_t i = 0; i < json_array_size(queries); i++) {
            uint64_t query = number_of(json_array_get(queries, i));
            count(t, root, l, query);
            /* Where nothing has a name, numbers that are no hash are names (query_number,
             * stream_feed.c). */
            unknown = unknown ||
                      (!cleave__map_find(&t->name_of, query) && (t->names.count || query >> 62));
        }
    }
    if (!t->arguments->count && unknown)
        status = read_names(t, error); /* of one that is younger */
    for (int l = 0; l < LISTS && !status && !t->arguments->count; l++) {
        const json_t *queries = json_object_get(root, lists[l].key);
        for (size_t i = 0; i < json_array_size(queries); i++)
            print_one(t, lists[l].event, number_of(json_array_get(queries, i)), root,
                      json_object_get(root, "row"));
    }
    json_decref(root);
    if (!status && t->line.failed)
        status = no_memory(error);
    if (t->progress->report && t->objects % 65536 == 0)
        t->progress->report(t->progress->context, "objects", t->objects, 0);
    return !status && t->closed ? CLEAVE_END : status;
}

/* What was printed leaves; false: nobody reads it. */
static bool flush(void *context)
{
    struct told *t = context;
    struct pollfd reader = {.fd = STDOUT_FILENO};
    if (fflush(stdout) && !t->closed)
        t->closed = errno;
    if (!t->closed && poll(&reader, 1, 0) > 0 && reader.revents & POLLERR)
        t->closed = EPIPE;
    return !t->closed;
}

static enum cleave_status run(struct told *t, struct cleave_error *error)
{
    const struct arguments *a = t->arguments;
    struct cleave_nats_options nats = cleave__nats_arguments(&a->nats);
    struct cleave__net_following following = {.nats = &nats,
                                              .log = CLEAVE__NET_MATCHES,
                                              .from = a->from,
                                              .until_end = a->until_end,
                                              .idle_ns = a->idle_ns,
                                              .progress = t->progress,
                                              .each = take_match,
                                              .idle = flush,
                                              .context = t};
    t->names_from = 1;
    enum cleave_status status = a->count ? CLEAVE_OK : read_names(t, error);
    if (!status)
        status = cleave__net_follow(&following, error);
    flush(t);
    return !status && t->closed ? cleave__row_output_closed(t->closed, error) : status;
}

static void sum_up(const struct told *t)
{
    bool passed = t->entered || t->left;
    if (t->arguments->count)
        printf("%" PRIu64 " objects, %" PRIu64 " matches, digest %016" PRIx64 "\n", t->objects,
               t->matches, t->digest);
    if (t->arguments->count && passed)
        printf("%" PRIu64 " enter, %" PRIu64 " exit, digest %016" PRIx64 "\n", t->entered, t->left,
               t->event_digest);
    if (t->arguments->common.quiet)
        return;
    fprintf(stderr, "cleave: %" PRIu64 " objects with %" PRIu64 " matches", t->objects, t->matches);
    if (passed)
        fprintf(stderr, ", %" PRIu64 " enter, %" PRIu64 " exit", t->entered, t->left);
    fprintf(stderr, "; go on behind them with --from %" PRIu64 "\n", t->sequence + 1);
}

int cleave__command_stream_subscribe(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&cleave__nats_argp, 0, NULL, 1}, {&cleave__options_argp, 0, "Common:", 9}, {0}};
    static const struct argp argp = {
        options,
        parse,
        "",
        "Prints what a world on NATS finds, each match (and in a world with --track each enter "
        "and exit) once: tab-separated event, query and object, or with --json an object a line. "
        "See docs/stream-nats.md.",
        children,
        NULL,
        NULL};
    struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT};
    struct cleave_terminal terminal;
    struct cleave_error error;
    cleave__nats_arguments_default(&a.nats);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__interrupt_catch();
    cleave__terminate_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    signal(SIGPIPE, SIG_IGN);
    struct told told = {.arguments = &a, .progress = &terminal.progress};
    enum cleave_status status = run(&told, &error);
    cleave__terminal_clear(&terminal);
    if ((!status || status == CLEAVE_INTERRUPTED) && !told.closed)
        sum_up(&told);
    cleave__nats_arguments_free(&a.nats);
    cleave__map_free(&told.name_of);
    cleave__intern_free(&told.names);
    free(told.line.data);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}

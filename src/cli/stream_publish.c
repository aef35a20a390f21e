/* cleave stream publish: queries and objects into a world on NATS. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/nats_options.h"
#include "cli/observe.h"
#include "cli/stream_feed.h"
#include "cli/stream_missing.h"
#include "stream/net/presence.h"

enum { KEY_REMOVE = 0x7400, KEY_FIELDS, KEY_ARRIVAL, KEY_GENERATE };

struct arguments {
    struct cleave_options common;
    struct cleave_nats_arguments nats;
    struct cleave_observe_arguments observe;
    struct cleave_stream_space space;
    struct cleave_stream_made made;
    struct cleave_stream_files files;
    bool remove, arrival, generate;
    char *fields;
    uint64_t objects, queries;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is published:", 2},
    {"remove", KEY_REMOVE, NULL, 0, "The queries of --queries end", 2},
    {"fields", KEY_FIELDS, "COLUMNS", 0, "Of an object, to go along instead of its whole row", 2},
    {"arrival-time", KEY_ARRIVAL, NULL, 0, "Objects have the time at which they come", 2},
    {"generate", KEY_GENERATE, "OBJECTS,QUERIES", 0, "Make up so many, instead of files", 3},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->nats;
        state->child_inputs[1] = &a->files;
        state->child_inputs[2] = &a->made;
        state->child_inputs[3] = &a->observe;
        state->child_inputs[4] = &a->common;
        return 0;
    case KEY_REMOVE:
        a->remove = true;
        return 0;
    case KEY_FIELDS:
        a->fields = value;
        return 0;
    case KEY_ARRIVAL:
        a->arrival = true;
        return 0;
    case KEY_GENERATE:
        a->generate = true;
        cleave__stream_generate_read(state, value, &a->objects, &a->queries);
        return 0;
    case ARGP_KEY_ARG:
        if (a->files.objects)
            argp_error(state, "objects come from one file; '%s' is one more", value);
        a->files.objects = value;
        return 0;
    case ARGP_KEY_END:
        if (a->generate && (a->files.objects || a->files.queries))
            argp_error(state, "either files or --generate");
        if (!a->generate && !a->files.objects && !a->files.queries)
            argp_error(state, "what is to be published? --queries FILE, --objects FILE (- is "
                              "standard input), or --generate");
        if (a->remove && !a->generate && !a->files.queries)
            argp_error(state, "--remove: which? --queries FILE");
        if (a->remove && a->files.objects)
            argp_error(state, "--remove: queries alone");
        if (a->files.objects && a->files.queries && !strcmp(a->files.objects, "-") &&
            !strcmp(a->files.queries, "-"))
            argp_error(state, "objects and queries cannot both come from standard input");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void tell(const struct cleave_stream_feed *feed, const struct cleave__net_published *p)
{
    uint64_t refused = feed->loaded.refused, rows = 0;
    if (feed->objects) {
        const struct cleave__objects_counts *c = cleave__objects_counts(feed->objects);
        rows = c->rows;
        refused += c->refused;
    }
    if (p->queries)
        fprintf(stderr, "cleave: %" PRIu64 " queries stored, %.0f a second", p->queries,
                p->queries_per_s);
    if (p->queries && p->removals)
        fprintf(stderr, ", %" PRIu64 " in place of older ones", p->removals);
    else if (p->removals)
        fprintf(stderr, "cleave: %" PRIu64 " queries removed, %.0f a second", p->removals,
                p->queries_per_s);
    if (p->queries || p->removals)
        fputc('\n', stderr);
    if (p->objects || rows)
        fprintf(stderr,
                "cleave: %" PRIu64 " objects acknowledged, %.0f a second, after %.3f ms (p50), "
                "%.3f ms (p99), %.1f ms (most)\n",
                p->objects, p->objects_per_s,
                (double)cleave__histogram_quantile(&p->ack_ns, 0.5) * 1e-6,
                (double)cleave__histogram_quantile(&p->ack_ns, 0.99) * 1e-6,
                (double)cleave__histogram_quantile(&p->ack_ns, 1) * 1e-6);
    if (refused)
        fprintf(stderr, "cleave: %" PRIu64 " rows refused\n", refused);
    if (p->repeated)
        fprintf(stderr, "cleave: %" PRIu64 " messages were sent again\n", p->repeated);
}

struct publishing {
    const struct arguments *arguments;
    struct cleave_observe *observe;
};

static void missing(void *context, const char *names)
{
    const struct publishing *p = context;
    cleave__stream_tell_missing(p->arguments->nats.name, names, p->arguments->common.quiet,
                                p->observe->log);
}

static enum cleave_status publish(struct arguments *a, struct cleave_terminal *terminal,
                                  struct cleave_observe *observe, struct cleave_error *error)
{
    struct cleave_nats_options nats = cleave__nats_arguments(&a->nats);
    struct cleave__net_session *session = NULL;
    struct cleave__net_hold *hold = NULL;
    struct cleave__net_published published = {0};
    struct cleave__net_presence *presence = NULL;
    struct publishing publishing = {a, observe};
    struct cleave_stream_feed *feed = calloc(1, sizeof *feed);
    enum cleave_status status =
        feed ? cleave__net_session_open(&nats, NULL, NULL, &session, error)
             : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a publisher");
    const struct cleave__net_presence_options looking = {.session = session,
                                                         .missing = missing,
                                                         .context = &publishing,
                                                         .metrics = observe->metrics};
    if (!status)
        status = cleave__net_presence_open(&looking, &presence, error);
    if (!status)
        status = cleave__net_seat_take(session, &hold, &feed->seat, error);
    if (!status) {
        feed->hold = hold;
        feed->files = &a->files;
        feed->session = session;
        feed->progress = &terminal->progress;
        feed->remove = a->remove;
        feed->arrival = a->arrival;
        feed->fields = a->fields;
        if (a->generate) {
            a->space.space = session->world.space;
            cleave__stream_made_settle(&a->made, a->common.seed);
            feed->made = &a->made.options;
            feed->made_objects = a->objects;
            feed->made_queries = a->queries;
        }
        status = cleave__stream_feed_open(feed, error);
    }
    if (!status)
        status = cleave__net_publish(session, &feed->seat, &cleave__stream_feed_ops, feed,
                                     observe->metrics, &terminal->progress, &published, error);
    cleave__net_presence_close(presence);
    cleave__terminal_clear(terminal);
    if (feed && !a->common.quiet && (published.objects || published.queries || published.removals))
        tell(feed, &published);
    cleave__histogram_free(&published.ack_ns);
    if (feed)
        cleave__stream_feed_close(feed);
    free(feed);
    cleave__net_seat_release(hold);
    cleave__net_session_close(session);
    return status;
}

int cleave__command_stream_publish(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&cleave__nats_argp, 0, NULL, 1},         {&cleave__stream_files_argp, 0, NULL, 2},
        {&cleave__stream_made_argp, 0, NULL, 3},  {&cleave__observe_argp, 0, NULL, 8},
        {&cleave__options_argp, 0, "Common:", 9}, {0}};
    static const struct argp argp = {
        options,
        parse,
        "[OBJECTS]",
        "Stores standing queries in a world on NATS, removes them, and brings it "
        "objects; ends "
        "when everything is acknowledged. See docs/stream-nats.md.\n\n"
        "  cleave stream publish --nats nats://HOST --name fences --queries "
        "fences.csv\n"
        "  tail -f positions.csv | cleave stream publish --nats nats://HOST "
        "--name fences -",
        children,
        NULL,
        NULL};
    struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT};
    struct cleave_terminal terminal;
    struct cleave_error error;
    a.made = (struct cleave_stream_made){.space = &a.space, .options = cleave__stream_defaults};
    cleave__nats_arguments_default(&a.nats);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__interrupt_catch();
    cleave__terminate_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    struct cleave_observe observe;
    enum cleave_status status = cleave__observe_open(&observe, &a.observe, a.common.quiet, &error);
    if (!status) {
        cleave__observe_ready(&observe);
        status = publish(&a, &terminal, &observe, &error);
        status = cleave__observe_close(&observe, status, &error);
    }
    cleave__nats_arguments_free(&a.nats);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}

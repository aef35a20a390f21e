/* cleave cache: eviction policies on a trace of requests, every policy at every capacity. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "graph/cache/replay.h"
#include "report/json.h"
#include "report/report.h"

enum { POLICIES_MAX = 64, CAPACITIES_MAX = 256 };
enum { KEY_POLICY = 0x4000, KEY_CAPACITY, KEY_FORMAT };

/* "100" entries; "1MiB" bytes; "10%" of the objects, or of their bytes where the trace has sizes.
 */
struct capacity {
    const char *asked;
    enum { ENTRIES, BYTES, PERCENT } kind;
    uint64_t units;
    double percent;
};

struct arguments {
    struct cleave_options common;
    const char *path;
    uint32_t format;
    struct cleave__cache_choice policies[POLICIES_MAX];
    const char *policy_names[POLICIES_MAX];
    uint32_t policy_count;
    struct capacity capacities[CAPACITIES_MAX];
    uint32_t capacity_count;
};

static const char *const formats[] = {[CLEAVE_TRACE_GUESS] = "auto",
                                      [CLEAVE_TRACE_KEYS] = "keys",
                                      [CLEAVE_TRACE_SIZED] = "sized",
                                      NULL};

static const struct argp_option options[] = {
    {"policy", KEY_POLICY, "P[,P...]", 0,
     "Eviction policies (all); a parameter is given as in s3-fifo:small=0.2; see the list below",
     1},
    {"capacity", KEY_CAPACITY, "C[,C...]", 0,
     "Capacities: 100 entries; 64KiB, 1.5MiB, 2GB; or 10% of the objects (of their bytes, where "
     "the trace gives sizes)",
     1},
    {"format", KEY_FORMAT, "auto|keys|sized", 0,
     "A line of the trace is a key, or a key and its size in bytes (auto: as the first line looks)",
     1},
    {0},
};

/* "KiB" and the like after a number; 0: no such unit. */
static double unit_bytes(const char *text)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"B", 1},        {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
                 {"TB", 1e12},    {"PB", 1e15},    {"EB", 1e18},    {"KiB", 0x1p10},
                 {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50},
                 {"EiB", 0x1p60}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!strcmp(units[i].name, text))
            return units[i].bytes;
    }
    return 0;
}

static void add_capacity(struct argp_state *state, struct arguments *a, const char *text)
{
    if (a->capacity_count == CAPACITIES_MAX)
        argp_error(state, "more than %d capacities", CAPACITIES_MAX);
    struct capacity c = {.asked = text};
    char *end;
    double number = strtod(text, &end), most = (double)CLEAVE_CACHE_CAPACITY_MAX;
    bool fine = *text >= '0' && *text <= '9' && strspn(text, "0123456789.") == (size_t)(end - text);
    if (fine && !*end) {
        c.kind = ENTRIES;
        fine = number >= 1 && number <= most && number == floor(number);
        c.units = fine ? (uint64_t)number : 0;
    } else if (fine && !strcmp(end, "%")) {
        c.kind = PERCENT;
        c.percent = number;
        fine = number > 0 && number <= 1000;
    } else if (fine) {
        c.kind = BYTES;
        number *= unit_bytes(end);
        fine = number >= 1 && number <= most;
        c.units = fine ? (uint64_t)number : 0;
    }
    if (!fine)
        argp_error(
            state,
            "--capacity takes entries (100), bytes (64KiB, 1MB), each from 1 to 2^60, or a share "
            "of what there is (10%%, at most 1000%%), not '%s'",
            text);
    a->capacities[a->capacity_count++] = c;
}

static void add_policy(struct argp_state *state, struct arguments *a, const char *text)
{
    struct cleave_error error;
    if (a->policy_count == POLICIES_MAX)
        argp_error(state, "more than %d policies", POLICIES_MAX);
    if (cleave__cache_choice_parse(text, strlen(text), &a->policies[a->policy_count], &error))
        argp_error(state, "%s", error.message);
    a->policy_names[a->policy_count++] = text;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    char *item;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_POLICY:
        while ((item = cleave__option_item(state, "--policy", &value)))
            add_policy(state, a, item);
        return 0;
    case KEY_CAPACITY:
        while ((item = cleave__option_item(state, "--capacity", &value)))
            add_capacity(state, a, item);
        return 0;
    case KEY_FORMAT:
        a->format = cleave__option_choice(state, "--format", value, formats);
        return 0;
    case ARGP_KEY_ARG:
        if (a->path)
            argp_error(state, "one trace at a time, not '%s' too", value);
        a->path = value;
        return 0;
    case ARGP_KEY_END:
        if (!a->path)
            argp_error(state, "which trace? Name a file, or - for standard input");
        if (!a->capacity_count)
            argp_error(state, "how large a cache? Say --capacity C");
        for (uint32_t i = 0; a->policy_count == i && cleave__cache_policy_at(i); i++)
            add_policy(state, a, cleave__cache_policy_name(cleave__cache_policy_at(i)));
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --help ends with the policies and their parameters, straight from their registry. */
static char *list_policies(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    char *list = NULL;
    size_t size;
    FILE *out = open_memstream(&list, &size);
    if (!out)
        return NULL;
    fputs("Policies:", out);
    const struct cleave__cache_policy *policy;
    for (uint32_t i = 0; (policy = cleave__cache_policy_at(i)); i++) {
        const struct cleave__cache_parameter *p;
        fprintf(out, "\n  %-11s %s", cleave__cache_policy_name(policy),
                cleave__cache_policy_summary(policy));
        for (uint32_t j = 0; (p = cleave__cache_policy_parameter(policy, j)); j++)
            fprintf(out, "\n    %-9s %s (%g)", p->name, p->summary, p->usual);
    }
    fputc('\n', out);
    fclose(out);
    return list;
}

static const struct argp_child children[] = {{&cleave__options_argp, 0, "Common:", 9}, {0}};
static const struct argp argp = {
    options,
    parse,
    "TRACE",
    "Replays a trace of requests through caches, each policy at each capacity, and counts what "
    "misses. A line of TRACE is a request: a key, any text, perhaps followed by its size in bytes; "
    "plain or packed (gz, bz2, xz, zst); - is standard input.\n\n"
    "  cleave cache TRACE --policy lru,s3-fifo,belady --capacity 1%,10%\n\v",
    children,
    list_policies,
    NULL};

static const struct cleave_report_column columns[] = {
    {.key = "policy", .title = "policy"},
    {.key = "asked", .title = NULL},
    {.key = "capacity", .title = "capacity", .type = CLEAVE_REPORT_INTEGER},
    {.key = "unit", .title = "unit"},
    {.key = "requests", .title = "requests", .type = CLEAVE_REPORT_INTEGER},
    {.key = "objects", .title = "objects", .type = CLEAVE_REPORT_INTEGER},
    {.key = "hits", .title = "hits", .type = CLEAVE_REPORT_INTEGER},
    {.key = "misses", .title = "misses", .type = CLEAVE_REPORT_INTEGER},
    {.key = "miss_ratio",
     .title = "miss",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .scale = 100,
     .decimals = 2},
    {.key = "evictions", .title = "evictions", .type = CLEAVE_REPORT_INTEGER},
    {.key = "refused", .title = "refused", .type = CLEAVE_REPORT_INTEGER},
    {.key = "entries", .title = NULL, .type = CLEAVE_REPORT_INTEGER},
    {.key = "bytes.held", .title = NULL, .type = CLEAVE_REPORT_INTEGER},
    {.key = "bytes.requested", .title = NULL, .type = CLEAVE_REPORT_INTEGER},
    {.key = "bytes.missed", .title = NULL, .type = CLEAVE_REPORT_INTEGER},
    {.key = "byte_miss_ratio",
     .title = "bytes missed",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .scale = 100,
     .decimals = 2},
    {.key = "memory_bytes", .title = "memory", .unit = "B", .type = CLEAVE_REPORT_INTEGER},
};
enum { COLUMNS = sizeof columns / sizeof *columns, COLUMN_BYTE_MISS = COLUMNS - 2 };

static bool fill_row(struct cleave_report *report, const struct arguments *a, uint32_t policy,
                     const struct capacity *capacity, const struct cleave__cache_trace *trace,
                     const struct cleave__cache_replay *got)
{
    const struct cleave__cache_counts *n = &got->counts;
    uint32_t c = 0;
    bool ok = cleave__report_row(report) &&
              cleave__report_text(report, c++, a->policy_names[policy]) &&
              cleave__report_text(report, c++, capacity->asked);
    cleave__report_integer(report, c++, (int64_t)capacity->units);
    ok = ok && cleave__report_text(report, c, capacity->kind == BYTES ? "bytes" : "entries");
    c = 4;
    cleave__report_integer(report, c++, (int64_t)n->requests);
    cleave__report_integer(report, c++, trace->objects);
    cleave__report_integer(report, c++, (int64_t)n->hits);
    cleave__report_integer(report, c++, (int64_t)n->misses);
    cleave__report_real(report, c++, (double)n->misses / (double)n->requests);
    cleave__report_integer(report, c++, (int64_t)n->evictions);
    cleave__report_integer(report, c++, (int64_t)n->refused);
    cleave__report_integer(report, c++, (int64_t)n->entries);
    if (trace->size) {
        cleave__report_integer(report, c++, (int64_t)n->bytes);
        cleave__report_integer(report, c++, (int64_t)got->requested_bytes);
        cleave__report_integer(report, c++, (int64_t)got->missed_bytes);
        cleave__report_real(report, c++, (double)got->missed_bytes / (double)got->requested_bytes);
    }
    cleave__report_integer(report, COLUMNS - 1, (int64_t)got->memory_bytes);
    return ok;
}

static const char *name_of(const struct arguments *a)
{
    return strcmp(a->path, "-") ? a->path : "standard input";
}

/* The capacity in entries or bytes of this trace. */
static struct capacity settle(const struct capacity *asked, const struct cleave__cache_trace *trace)
{
    struct capacity c = *asked;
    if (c.kind != PERCENT)
        return c;
    double part = c.percent / 100 * (trace->size ? (double)trace->bytes : (double)trace->objects);
    c.kind = trace->size ? BYTES : ENTRIES;
    c.units = part < 1                                    ? 1
              : part >= (double)CLEAVE_CACHE_CAPACITY_MAX ? CLEAVE_CACHE_CAPACITY_MAX
                                                          : (uint64_t)part;
    return c;
}

static enum cleave_status sweep(const struct arguments *a, const struct cleave__cache_trace *trace,
                                struct cleave_report *report, struct cleave_error *error)
{
    struct cleave_terminal terminal;
    cleave__terminal_init(&terminal, a->common.quiet);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < a->capacity_count && !status; i++) {
        struct capacity c = settle(&a->capacities[i], trace);
        if (c.kind == BYTES && !trace->size) {
            status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                      "%s gives no sizes: --capacity %s needs lines of a key and "
                                      "its size, or say a number of entries",
                                      name_of(a), c.asked);
            break;
        }
        for (uint32_t p = 0; p < a->policy_count && !status; p++) {
            struct cleave__cache_replay got;
            status = cleave__cache_replay(trace, &a->policies[p], c.units, c.kind == BYTES,
                                          &terminal.progress, &got, error);
            if (!status && !fill_row(report, a, p, &c, trace, &got))
                status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the table");
        }
    }
    cleave__terminal_clear(&terminal);
    return status;
}

static uint32_t terminal_width(void)
{
    struct winsize size;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static enum cleave_status print(const struct arguments *a, const struct cleave__cache_trace *trace,
                                const struct cleave_report *report, struct cleave_error *error)
{
    if (a->common.csv)
        return cleave__report_print_csv(report, stdout, error);
    if (!a->common.json) {
        if (!a->common.quiet) {
            printf("%s: %" PRIu64 " requests for %" PRIu32 " objects", name_of(a), trace->requests,
                   trace->objects);
            if (trace->size)
                printf(" of %" PRIu64 " bytes", trace->bytes);
            printf("\n\n");
        }
        return cleave__report_print(report, stdout, terminal_width(), error);
    }
    json_t *root = json_object();
    json_object_set_new(root, "trace", cleave__json_text(a->path, strlen(a->path)));
    json_object_set_new(root, "requests", json_integer((json_int_t)trace->requests));
    json_object_set_new(root, "objects", json_integer(trace->objects));
    json_object_set_new(root, "bytes",
                        trace->size ? json_integer((json_int_t)trace->bytes) : json_null());
    json_object_set_new(root, "resized", json_integer((json_int_t)trace->resized));
    json_object_set_new(root, "rows", cleave__report_json(report));
    return cleave__json_write(root, stdout, error);
}

static enum cleave_status read_trace(const struct arguments *a, struct cleave__cache_trace *trace,
                                     struct cleave_error *error)
{
    struct cleave_terminal terminal;
    cleave__terminal_init(&terminal, a->common.quiet);
    cleave__interrupt_release();
    enum cleave_status status = cleave__cache_trace_read(
        a->path, (enum cleave__cache_trace_format)a->format, &terminal.progress, trace, error);
    cleave__interrupt_catch();
    cleave__terminal_clear(&terminal);
    if (!status && trace->resized && !a->common.quiet)
        fprintf(stderr,
                "cleave: %" PRIu64 " requests give another size than the first for their key; the "
                "first counts\n",
                trace->resized);
    return status;
}

int cleave__command_cache(int argc, char **argv)
{
    static struct arguments a; /* large: lists */
    a = (struct arguments){.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error = {0};
    struct cleave__cache_trace trace = {0};
    struct cleave_report report;
    struct cleave_report_column shown[COLUMNS];
    enum cleave_status status = read_trace(&a, &trace, &error);
    memcpy(shown, columns, sizeof columns);
    if (!trace.size)
        shown[COLUMN_BYTE_MISS].title = NULL;
    cleave__report_init(&report, shown, COLUMNS);
    if (!status)
        status = sweep(&a, &trace, &report, &error);
    if (!status)
        status = print(&a, &trace, &report, &error);
    cleave__report_free(&report);
    cleave__cache_trace_free(&trace);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}

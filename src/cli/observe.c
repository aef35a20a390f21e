#include "cli/observe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/options.h"

enum { KEY_METRICS = 0x7000, KEY_LOG, KEY_LOG_FORMAT, KEY_LOG_LEVEL };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Watching a long run (docs/observability.md):", 8},
    {"metrics", KEY_METRICS, "[ADDRESS:]PORT", 0,
     "Serve /metrics for Prometheus and /healthz here (loopback; port 0: any free one)", 8},
    {"log", KEY_LOG, "FILE", 0, "Add a line for what happens; - is standard error", 8},
    {"log-format", KEY_LOG_FORMAT, "text|json", 0, "logfmt, or JSON (text)", 8},
    {"log-level", KEY_LOG_LEVEL, "LEVEL", 0, "debug, info, warn or error, and worse (info)", 8},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    static const char *const formats[] = {"text", "json", NULL};
    static const char *const levels[] = {"debug", "info", "warn", "error", NULL};
    struct cleave_observe_arguments *a = state->input;
    struct cleave_error error;
    switch (key) {
    case ARGP_KEY_INIT:
        a->level = CLEAVE_LOG_INFO;
        return 0;
    case KEY_METRICS:
        if (cleave__http_address(value, a->address, sizeof a->address, &a->port, &error))
            argp_error(state, "--metrics: %s", error.message);
        a->serves = true;
        return 0;
    case KEY_LOG:
        a->log = value;
        return 0;
    case KEY_LOG_FORMAT:
        a->format =
            (enum cleave_log_format)cleave__option_choice(state, "--log-format", value, formats);
        return 0;
    case KEY_LOG_LEVEL:
        a->level =
            (enum cleave_log_level)cleave__option_choice(state, "--log-level", value, levels);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cleave__observe_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

/* ---- the log's sink ---- */

/* Whether a line can be written now, or after a moment; a pipe that says so takes a whole one. */
static bool is_writable(struct cleave_observe *observe)
{
    enum { PATIENCE_MS = 100 };
    struct pollfd waits = {.fd = observe->log_fd, .events = POLLOUT};
    int ready = poll(&waits, 1, observe->log_stalled ? 0 : PATIENCE_MS);
    if (ready == 0)
        observe->log_stalled = true; /* and is not waited for again */
    else if (ready > 0)
        observe->log_stalled = false;
    return ready > 0;
}

/* Broken pipes give an error here, and no signal: it is blocked, and taken back. */
static size_t write_line(void *context, const char *bytes, size_t length)
{
    struct cleave_observe *observe = context;
    sigset_t pipe, pending, before;
    const struct timespec now = {0};
    size_t written = 0;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    while (written < length && is_writable(observe)) {
        ssize_t n = write(observe->log_fd, bytes + written, length - written);
        if (n > 0)
            written += (size_t)n;
        else if (n < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE))
            sigtimedwait(&pipe, NULL, &now);
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return written;
}

static enum cleave_status open_log(struct cleave_observe *observe,
                                   const struct cleave_observe_arguments *arguments,
                                   struct cleave_error *error)
{
    const char *path = arguments->log;
    struct stat log, out;
    observe->log_fd = strcmp(path, "-")
                          ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640)
                          : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (observe->log_fd < 0)
        return cleave_error_set(error, CLEAVE_IO, "%s: cannot log there: %s", path,
                                strerror(errno));
    if (strcmp(path, "-") && fstat(observe->log_fd, &log) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
        log.st_dev == out.st_dev && log.st_ino == out.st_ino && !S_ISCHR(log.st_mode)) {
        close(observe->log_fd);
        observe->log_fd = -1;
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "--log %s: results go there; give another file, or -", path);
    }
    return cleave__log_new(&(struct cleave_log_options){.level = arguments->level,
                                                        .format = arguments->format,
                                                        .write = write_line,
                                                        .context = observe},
                           &observe->log, error);
}

/* ---- routes ---- */

/* What the system says of this process, under the names that Prometheus' own clients use. */
static void read_process(struct cleave_observe *observe)
{
    struct rusage usage;
    long page = sysconf(_SC_PAGESIZE);
    unsigned long long size = 0, resident = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm && fscanf(statm, "%llu %llu", &size, &resident) == 2) {
        cleave__gauge_set(observe->process.virtual, (int64_t)size * page);
        cleave__gauge_set(observe->process.resident, (int64_t)resident * page);
    }
    if (statm)
        fclose(statm);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        cleave__counter_set(observe->process.cpu,
                            (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                                (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
    DIR *files = opendir("/proc/self/fd");
    int64_t count = -3; /* this one, "." and ".." */
    for (; files && readdir(files); count++)
        ;
    if (files) {
        closedir(files);
        cleave__gauge_set(observe->process.files, count);
    }
    if (observe->log)
        cleave__counter_set(observe->process.lost, cleave__log_lost(observe->log));
}

static void answer_metrics(void *context, struct cleave_http_answer *answer)
{
    struct cleave_observe *observe = context;
    read_process(observe);
    answer->type = CLEAVE_METRICS_TYPE;
    cleave__metrics_write(observe->metrics, &answer->body);
}

static void answer_health(void *context, struct cleave_http_answer *answer)
{
    struct cleave_observe *observe = context;
    bool ready = atomic_load(&observe->ready);
    answer->status = ready ? 200 : 503;
    cleave__put_format(&answer->body, ready ? "ok\n" : "starting\n");
}

static enum cleave_status make_metrics(struct cleave_observe *observe, struct cleave_error *error)
{
    struct cleave_gauge *started = NULL, *build = NULL;
    const struct {
        struct cleave_metric metric;
        struct cleave_gauge **gauge;
        struct cleave_counter **counter;
    } figure[] = {
        {{"process_resident_memory_bytes", "Memory in use", 0, NULL, 0},
         &observe->process.resident,
         NULL},
        {{"process_virtual_memory_bytes", "Memory mapped", 0, NULL, 0},
         &observe->process.virtual,
         NULL},
        {{"process_open_fds", "Open files", 0, NULL, 0}, &observe->process.files, NULL},
        {{"process_start_time_seconds", "When it began, since 1970", 1e-3, NULL, 0},
         &started,
         NULL},
        {{"process_cpu_seconds_total", "Processor time", 1e-6, NULL, 0},
         NULL,
         &observe->process.cpu},
        {{"cleave_log_lines_lost_total", "Lines that the log could not write", 0, NULL, 0},
         NULL,
         &observe->process.lost},
    };
    struct cleave_label version = {"version", CLEAVE_VERSION};
    enum cleave_status status = cleave__metrics_new(&observe->metrics, error);
    for (size_t i = 0; i < sizeof figure / sizeof *figure && !status; i++)
        status = figure[i].gauge ? cleave__metrics_gauge(observe->metrics, &figure[i].metric, NULL,
                                                         0, figure[i].gauge, error)
                                 : cleave__metrics_counter(observe->metrics, &figure[i].metric,
                                                           NULL, 0, figure[i].counter, error);
    if (!status)
        status = cleave__metrics_gauge(observe->metrics,
                                       &(struct cleave_metric){.name = "cleave_build_info",
                                                               .help = "1; its version is a label"},
                                       &version, 1, &build, error);
    cleave__gauge_set(started, (int64_t)cleave__wall_ms());
    cleave__gauge_set(build, 1);
    return status;
}

static enum cleave_status serve(struct cleave_observe *observe,
                                const struct cleave_observe_arguments *arguments, bool quiet,
                                struct cleave_error *error)
{
    bool six = strchr(arguments->address, ':');
    enum cleave_status status = make_metrics(observe, error);
    if (status)
        return status;
    observe->routes[0] = (struct cleave_http_route){"/metrics", answer_metrics, observe};
    observe->routes[1] = (struct cleave_http_route){"/healthz", answer_health, observe};
    status = cleave__http_open(&(struct cleave_http_options){.address = arguments->address,
                                                             .port = arguments->port,
                                                             .routes = observe->routes,
                                                             .route_count = 2,
                                                             .log = observe->log},
                               &observe->server, error);
    if (status)
        return status;
    unsigned port = cleave__http_port(observe->server);
    if (!quiet)
        fprintf(stderr, "cleave: metrics at http://%s%s%s:%u/metrics\n", six ? "[" : "",
                arguments->address, six ? "]" : "", port);
    CLEAVE_LOG(observe->log, CLEAVE_LOG_INFO, "metrics served",
               CLEAVE_FIELD_TEXT("address", arguments->address),
               CLEAVE_FIELD_UNSIGNED("port", port));
    return CLEAVE_OK;
}

static void release(struct cleave_observe *observe)
{
    cleave__http_close(observe->server);
    cleave__metrics_free(observe->metrics);
    cleave__log_free(observe->log);
    if (observe->log_fd >= 0)
        close(observe->log_fd);
}

enum cleave_status cleave__observe_open(struct cleave_observe *observe,
                                        const struct cleave_observe_arguments *arguments,
                                        bool quiet, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    memset(observe, 0, sizeof *observe);
    observe->log_fd = -1;
    if (arguments->log)
        status = open_log(observe, arguments, error);
    CLEAVE_LOG(observe->log, CLEAVE_LOG_INFO, "starting",
               CLEAVE_FIELD_TEXT("version", CLEAVE_VERSION), CLEAVE_FIELD_INTEGER("pid", getpid()));
    if (!status && arguments->serves)
        status = serve(observe, arguments, quiet, error);
    if (status)
        release(observe);
    return status;
}

void cleave__observe_ready(struct cleave_observe *observe)
{
    atomic_store(&observe->ready, true);
    if (cleave__log_tells(observe->log, CLEAVE_LOG_INFO))
        cleave__log_write(observe->log, CLEAVE_LOG_INFO, "ready", NULL, 0);
}

enum cleave_status cleave__observe_close(struct cleave_observe *observe, enum cleave_status ran,
                                         struct cleave_error *error)
{
    enum cleave_status status = ran;
    if (!status && observe->metrics)
        status = cleave__metrics_check(observe->metrics, error);
    if (status)
        CLEAVE_LOG(observe->log, status == CLEAVE_INTERRUPTED ? CLEAVE_LOG_INFO : CLEAVE_LOG_ERROR,
                   "ended", CLEAVE_FIELD_TEXT("status", cleave_status_name(status)),
                   CLEAVE_FIELD_TEXT("why", error->message));
    else
        CLEAVE_LOG(observe->log, CLEAVE_LOG_INFO, "ended",
                   CLEAVE_FIELD_TEXT("status", cleave_status_name(status)));
    release(observe);
    return status;
}

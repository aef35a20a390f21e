/* Where a long run of a command can be watched: metrics over HTTP, and a log. One place where
 * commands get the options, open both, and close both.
 *
 *     struct arguments { ...; struct cleave_observe_arguments observe; };
 *     ... children: {&cleave__observe_argp, 0, NULL, 8}, its input: &a->observe
 *     struct cleave_observe observe;
 *     status = cleave__observe_open(&observe, &a.observe, a.common.quiet, &error);
 *     if (!status) {
 *         status = run(..., observe.metrics, observe.log, ...);
 *         status = cleave__observe_close(&observe, status, &error);
 *     }
 *
 * A log is a file that is added to, or standard error; never standard output. Writing it does not
 * wait for a reader longer than a moment, and neither a full disk nor a pipe that was closed ends
 * the process: what is lost is counted. */
#ifndef CLEAVE_CLI_OBSERVE_H
#define CLEAVE_CLI_OBSERVE_H

#include <argp.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/log.h"
#include "base/metrics.h"
#include "http/server.h"

struct cleave_observe_arguments {
    bool serves; /* --metrics was given */
    char address[64];
    uint16_t port;
    const char *log; /* NULL: none */
    enum cleave_log_format format;
    enum cleave_log_level level;
};

/* --metrics, --log, --log-format, --log-level. Its input: as above; all zeroes is a good start. */
extern const struct argp cleave__observe_argp;

struct cleave_observe {
    struct cleave_metrics *metrics; /* NULL without --metrics */
    struct cleave_log *log;         /* NULL without --log */
    /* Inside. */
    struct cleave_http_server *server;
    struct cleave_http_route routes[2];
    struct {
        struct cleave_gauge *resident, *virtual, *files;
        struct cleave_counter *cpu, *lost;
    } process;
    int log_fd;
    bool log_stalled;
    atomic_bool ready;
};

/* Says on standard error where the metrics are, unless `quiet`. Not movable afterwards. On an error
 * nothing is open. */
enum cleave_status cleave__observe_open(struct cleave_observe *observe,
                                        const struct cleave_observe_arguments *arguments,
                                        bool quiet, struct cleave_error *error);
/* From now on /healthz says so: 200 "ok" and no longer 503 "starting". */
void cleave__observe_ready(struct cleave_observe *observe);
/* `ran`, with `error`, is how the run ended, which is logged and returned; when all is well and
 * nothing is under way any more, the counters must add up: else CLEAVE_CORRUPT. */
enum cleave_status cleave__observe_close(struct cleave_observe *observe, enum cleave_status ran,
                                         struct cleave_error *error);

#endif

/* How long work tells its caller where it is, and how the caller stops it. */
#ifndef CLEAVE_PROGRESS_H
#define CLEAVE_PROGRESS_H

#include <signal.h>
#include <stdint.h>

/* Borrowed by the call it is passed to. `report` may be NULL; it is called from the calling
 * thread, at most a few times a second of work. `total` 0 means unknown. When `*stop` becomes
 * non-zero (a signal handler may set it) the call returns CLEAVE_INTERRUPTED soon after, with
 * nothing half-written. */
struct cleave_progress {
    void (*report)(void *context, const char *stage, uint64_t done, uint64_t total);
    void *context;
    const volatile sig_atomic_t *stop;
};

#endif

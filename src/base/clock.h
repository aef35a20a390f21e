/* The clock that only goes forward, the clock on the wall, and a nap. */
#ifndef CLEAVE_BASE_CLOCK_H
#define CLEAVE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t cleave__clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Since some moment of the machine's; other processes count from the same one. */
static inline uint64_t cleave__clock_ns(void)
{
    return cleave__clock_of(CLOCK_MONOTONIC);
}

static inline uint64_t cleave__clock_ms(void)
{
    return cleave__clock_ns() / 1000000;
}

static inline double cleave__clock_s(void)
{
    return (double)cleave__clock_ns() * 1e-9;
}

/* Since 1970. */
static inline uint64_t cleave__wall_ns(void)
{
    return cleave__clock_of(CLOCK_REALTIME);
}

static inline uint64_t cleave__wall_ms(void)
{
    return cleave__wall_ns() / 1000000;
}

/* Shorter when a signal comes. */
static inline void cleave__nap_ns(uint64_t ns)
{
    nanosleep(
        &(struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)},
        NULL);
}

static inline void cleave__nap_ms(uint64_t ms)
{
    cleave__nap_ns(ms * 1000000);
}

#endif

/* The Nth allocation fails, for every N.
 *
 * The linker's --wrap sends every malloc, calloc, ... of the objects linked into a test here (those
 * inside shared libraries are not seen). Allocations count only while an attempt runs, from any
 * thread. Freed memory is not tracked: under AddressSanitizer a leak check follows every attempt
 * when it is cheap to, and always the last one. Idea: SQLite's and H3's out-of-memory tests. */
#include "support/failalloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_ullong allocations; /* since the attempt began */
static atomic_ullong failing;     /* which of them fails; 0: none, not counting */
static atomic_bool failed;
static atomic_bool one_thread;           /* only the thread below counts */
static _Thread_local bool is_the_thread; /* the one that called failalloc_run_thread */

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
int __real_vasprintf(char **out, const char *format, va_list arguments);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);
int __wrap_vasprintf(char **out, const char *format, va_list arguments);
int __wrap_asprintf(char **out, const char *format, ...);

static bool refuse(void)
{
    unsigned long long target = atomic_load(&failing);
    if (target && atomic_load(&one_thread) && !is_the_thread)
        return false;
    if (target == 0 || atomic_fetch_add(&allocations, 1) + 1 != target)
        return false;
    atomic_store(&failed, true);
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return refuse() ? NULL : __real_reallocarray(old, count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return refuse() ? NULL : __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    return refuse() ? ENOMEM : __real_posix_memalign(out, alignment, size);
}

char *__wrap_strdup(const char *text)
{
    return refuse() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t length)
{
    return refuse() ? NULL : __real_strndup(text, length);
}

int __wrap_vasprintf(char **out, const char *format, va_list arguments)
{
    return refuse() ? -1 : __real_vasprintf(out, format, arguments);
}

int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = __wrap_vasprintf(out, format, arguments);
    va_end(arguments);
    return length;
}

static bool leaked(void)
{
    return __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() != 0;
}

bool failalloc_run(const char *name, bool (*attempt)(void *context), void *context, unsigned every)
{
    enum { LEAK_CHECKS = 64 };
    if (every == 0)
        every = 1;
    unsigned long long n = 1, checked = 0;
    for (;; n += every) {
        atomic_store(&allocations, 0);
        atomic_store(&failed, false);
        atomic_store(&failing, n);
        bool right = attempt(context);
        atomic_store(&failing, 0);
        if (!right) {
            fprintf(stderr, "failalloc %s: wrong when allocation %llu fails\n", name, n);
            return false;
        }
        bool last = !atomic_load(&failed);
        if ((last || checked++ < LEAK_CHECKS) && leaked()) {
            fprintf(stderr, "failalloc %s: leak when allocation %llu%s fails\n", name, n,
                    last ? " or an earlier one" : "");
            return false;
        }
        if (last)
            return true;
    }
}

bool failalloc_run_thread(const char *name, bool (*attempt)(void *context), void *context,
                          unsigned every)
{
    is_the_thread = true;
    atomic_store(&one_thread, true);
    bool right = failalloc_run(name, attempt, context, every);
    atomic_store(&one_thread, false);
    is_the_thread = false;
    return right;
}

/* The failing allocator, shown to find deliberate mistakes: a wrong answer, an unchecked pointer,
 * and (under AddressSanitizer) a leak on the error path. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/failalloc.h"

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static unsigned attempts, refused;

static bool careful(void *context)
{
    (void)context;
    attempts++;
    char *a = malloc(10);
    char *b = calloc(3, 4);
    char *c = strdup("word");
    char *grown = realloc(a, 100);
    char *d = NULL;
    if (asprintf(&d, "%d", 5) < 0)
        d = NULL;
    if (!a || !b || !c || !grown || !d)
        refused++;
    free(grown ? grown : a);
    free(b);
    free(c);
    free(d);
    return true;
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    attempts = refused = 0;
    assert_true(failalloc_run("careful", careful, NULL, 1));
    assert_int_equal(attempts, 6); /* five allocations, and one attempt where none fails */
    assert_int_equal(refused, 5);
}

static bool wrong(void *context)
{
    (void)context;
    void *a = malloc(10);
    void *b = malloc(10);
    bool right = b != NULL; /* as if it could not be */
    free(a);
    free(b);
    return right;
}

static bool unchecked(void *context)
{
    (void)context;
    volatile char *a = malloc(10);
    a[0] = 1;
    free((void *)a);
    return true;
}

static bool leaking(void *context)
{
    (void)context;
    char *a = malloc(100);
    if (!a)
        return true;
    char *b = malloc(100);
    if (!b)
        return true; /* and a is lost */
    free(a);
    free(b);
    return true;
}

/* True when a child that runs `attempt` under failalloc ends badly. */
static bool is_found(const char *name, bool (*attempt)(void *))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL); /* not cmocka's */
        if (!freopen("/dev/null", "w", stderr))
            _exit(0);
        _exit(failalloc_run(name, attempt, NULL, 1) ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void finds_wrong_answer(void **state)
{
    (void)state;
    assert_true(is_found("wrong", wrong));
    assert_false(is_found("careful", careful));
}

static void finds_unchecked_pointer(void **state)
{
    (void)state;
    assert_true(is_found("unchecked", unchecked));
}

static void finds_leak(void **state)
{
    (void)state;
    if (!__lsan_do_recoverable_leak_check)
        skip();
    assert_true(is_found("leaking", leaking));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(finds_wrong_answer),
        cmocka_unit_test(finds_unchecked_pointer),
        cmocka_unit_test(finds_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

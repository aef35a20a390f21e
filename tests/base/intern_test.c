/* The table of byte strings: what was added last is taken back, and all else is where it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/intern.h"
#include "support/property.h"

static uint32_t text_of(uint64_t number, char text[24])
{
    return (uint32_t)snprintf(text, 24, "word %llu", (unsigned long long)number);
}

/* Against a plain list, which is searched from its beginning. */
static bool rewinds(struct property_source *source, void *context)
{
    enum { MOST = 400, NUMBERS = 300 };
    struct cleave_intern table = {0};
    uint64_t list[MOST];
    uint32_t count = 0;
    bool fine = true;
    (void)context;
    for (uint64_t step = property_draw(source, 40); step && fine; step--) {
        struct cleave_intern_mark mark = cleave__intern_mark(&table);
        uint32_t before = count;
        for (uint64_t more = property_draw(source, 120); more && count < MOST; more--) {
            char text[24];
            uint64_t number = property_draw(source, NUMBERS);
            uint32_t length = text_of(number, text), at = 0;
            while (at < count && list[at] != number)
                at++;
            if (at == count)
                list[count++] = number;
            fine = fine && cleave__intern_add(&table, text, length) == at;
        }
        if (property_draw(source, 2)) {
            cleave__intern_rewind(&table, mark);
            count = before;
        }
        fine = fine && table.count == count;
        for (uint64_t number = 0; number < NUMBERS && fine; number++) {
            char text[24];
            uint32_t length = text_of(number, text), at = 0;
            while (at < count && list[at] != number)
                at++;
            fine = cleave__intern_find(&table, text, length) ==
                   (at == count ? (uint32_t)CLEAVE_INTERN_NONE : at);
        }
    }
    cleave__intern_free(&table);
    return fine;
}

static void properties(void **state)
{
    (void)state;
    assert_true(property_run("intern rewinds", rewinds, NULL, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(properties)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

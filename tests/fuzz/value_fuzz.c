/* Any bytes as a constant of every type: what is accepted prints, and what is printed is read back
 * as an equal value with an equal hash. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tables/sql/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cleave_arena arena = {0};
    struct cleave_value values[CLEAVE_TYPE_CHAR + 1];
    for (int t = CLEAVE_TYPE_TEXT; t <= CLEAVE_TYPE_CHAR; t++) {
        enum cleave_type type = (enum cleave_type)t;
        values[t] = (struct cleave_value){.kind = CLEAVE_NULL};
        if (cleave__value_parse(type, (const char *)data, size, &arena, &values[t]))
            continue;
        assert(cleave__value_compare(&values[t], &values[t]) == 0);
        int length = cleave__value_print(&values[t], type, NULL, 0);
        char *text = malloc((size_t)length + 1);
        assert(text && cleave__value_print(&values[t], type, text, (size_t)length + 1) == length);
        struct cleave_value again;
        bool quoted = *text == '\'';
        if (values[t].kind == CLEAVE_TEXT && memchr(data, '\'', size)) {
            free(text); /* its quotes are doubled in print */
            continue;
        }
        enum cleave_status status =
            cleave__value_parse(type, text + quoted, (size_t)length - 2 * quoted, &arena, &again);
        assert(status == CLEAVE_OK);
        assert(cleave__value_compare(&values[t], &again) == 0);
        assert(cleave__value_hash(&values[t]) == cleave__value_hash(&again));
        free(text);
    }
    /* The order is total and consistent across kinds. */
    for (int i = 0; i <= CLEAVE_TYPE_CHAR; i++) {
        for (int j = 0; j <= CLEAVE_TYPE_CHAR; j++) {
            int order = cleave__value_compare(&values[i], &values[j]);
            assert(order == -cleave__value_compare(&values[j], &values[i]));
            struct cleave_range range = {.low = values[i], .high = values[j]};
            bool empty = cleave__range_is_empty(&range);
            assert(empty == (order > 0));
            assert(cleave__range_covers(&range, &range));
        }
    }
    if (size < 64) { /* also as the name of a type */
        char name[64];
        memcpy(name, data, size);
        name[size] = 0;
        assert(cleave__type_name(cleave__type_of_name(name)));
    }
    cleave__arena_free(&arena);
    return 0;
}

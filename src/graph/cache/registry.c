/* The eviction policies there are, and their names with parameters. To add one: its file, its row.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/cache/state.h"

static const struct cleave__cache_policy *const policies[] = {
    &cleave__cache_fifo,       &cleave__cache_lru,     &cleave__cache_clock, &cleave__cache_lfu,
    &cleave__cache_sieve,      &cleave__cache_s3_fifo, &cleave__cache_arc,   &cleave__cache_lirs,
    &cleave__cache_w_tiny_lfu, &cleave__cache_belady,
};

enum { POLICIES = sizeof policies / sizeof *policies };

const struct cleave__cache_policy *cleave__cache_policy_at(uint32_t index)
{
    return index < POLICIES ? policies[index] : NULL;
}

const char *cleave__cache_policy_name(const struct cleave__cache_policy *policy)
{
    return policy->name;
}

const char *cleave__cache_policy_summary(const struct cleave__cache_policy *policy)
{
    return policy->summary;
}

bool cleave__cache_policy_needs_future(const struct cleave__cache_policy *policy)
{
    return policy->needs_future;
}

const struct cleave__cache_parameter *
cleave__cache_policy_parameter(const struct cleave__cache_policy *policy, uint32_t index)
{
    for (uint32_t i = 0; policy->parameters && policy->parameters[i].name; i++) {
        if (i == index)
            return &policy->parameters[i];
    }
    return NULL;
}

/* What may stand there, joined by ", ". */
static void list_policies(char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = 0;
    for (uint32_t i = 0; i < POLICIES && used < size; i++) {
        int n = snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", policies[i]->name);
        used += n > 0 ? (size_t)n : 0;
    }
}

static void list_parameters(const struct cleave__cache_policy *policy, char *buffer, size_t size)
{
    const struct cleave__cache_parameter *p;
    size_t used = 0;
    snprintf(buffer, size, "none");
    for (uint32_t i = 0; (p = cleave__cache_policy_parameter(policy, i)) && used < size; i++) {
        int n = snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", p->name);
        used += n > 0 ? (size_t)n : 0;
    }
}

static bool same(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* "name=number", `length` bytes. */
static enum cleave_status read_parameter(const char *text, size_t length,
                                         struct cleave__cache_choice *choice,
                                         struct cleave_error *error)
{
    const struct cleave__cache_parameter *p;
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : length;
    char known[200], number[40], *end;
    uint32_t i = 0;
    while ((p = cleave__cache_policy_parameter(choice->policy, i)) && !same(text, name, p->name))
        i++;
    if (!p) {
        list_parameters(choice->policy, known, sizeof known);
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "%s has no parameter '%.*s'; there is: %s", choice->policy->name,
                                (int)(name < 40 ? name : 40), text, known);
    }
    size_t digits = equals ? length - name - 1 : 0;
    if (digits < sizeof number) {
        memcpy(number, text + (equals ? name + 1 : 0), digits);
        number[digits] = 0;
        double value = strtod(number, &end);
        if (digits && !*end && isfinite(value) && value >= p->low && value <= p->high) {
            choice->parameter[i] = value;
            return CLEAVE_OK;
        }
    }
    return cleave_error_set(
        error, CLEAVE_BAD_ARGUMENT, "%s: %s takes a number from %g to %g, as in %s:%s=%g",
        choice->policy->name, p->name, p->low, p->high, choice->policy->name, p->name, p->usual);
}

enum cleave_status cleave__cache_choice_parse(const char *text, size_t length,
                                              struct cleave__cache_choice *out,
                                              struct cleave_error *error)
{
    struct cleave__cache_choice choice = {0};
    const char *colon = memchr(text, ':', length), *end = text + length;
    size_t name = colon ? (size_t)(colon - text) : length;
    for (uint32_t i = 0; i < POLICIES && !choice.policy; i++) {
        if (same(text, name, policies[i]->name))
            choice.policy = policies[i];
    }
    if (!choice.policy) {
        char known[200];
        list_policies(known, sizeof known);
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "no eviction policy is called '%.*s'; there is: %s",
                                (int)(name < 40 ? name : 40), text, known);
    }
    const struct cleave__cache_parameter *p;
    for (uint32_t i = 0; (p = cleave__cache_policy_parameter(choice.policy, i)); i++)
        choice.parameter[i] = p->usual;
    for (const char *at = text + name; at < end;) {
        at++; /* the colon */
        const char *next = memchr(at, ':', (size_t)(end - at));
        if (!next)
            next = end;
        enum cleave_status status = read_parameter(at, (size_t)(next - at), &choice, error);
        if (status)
            return status;
        at = next;
    }
    *out = choice;
    return CLEAVE_OK;
}

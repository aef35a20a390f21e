/* Random batches on several sessions against a model, for any kind of store.
 *
 * Work that is under way never conflicts: each transaction takes a slot of keys that is free, and
 * gives it back at its end, so that what a prepared one holds is not asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contract.h"
#include "support/property.h"

enum { SESSIONS = 3, SLOTS = 8, KEYS = 4, STEPS = 24, NONE = -1 };

struct slot {
    int committed[KEYS], here[KEYS]; /* 0: no row */
    int owner;                       /* session, NONE: free; SESSIONS: prepared */
};

struct model {
    struct client clients[SESSIONS], reader;
    struct slot slots[SLOTS];
    int at[SESSIONS]; /* slot of its open transaction */
};

/* One change of a random key; the rows it affects in `*affected`. A duplicate fails. */
static bool change(struct property_source *source, struct slot *slot, int number, char *text,
                   size_t size, uint64_t *affected)
{
    uint64_t key = property_draw(source, KEYS);
    int value = 1 + (int)property_draw(source, 50), id = number * KEYS + (int)key;
    int *row = &slot->here[key];
    *affected = 1;
    switch (property_draw(source, 4)) {
    case 0:
        snprintf(text, size, "INSERT INTO random VALUES (%d, %d)", id, value);
        if (*row)
            return false;
        *row = value;
        return true;
    case 1:
        snprintf(text, size, "DELETE FROM random WHERE id = %d", id);
        *affected = *row != 0;
        *row = 0;
        return true;
    case 2:
        snprintf(text, size, "UPDATE random SET v = v + %d WHERE id BETWEEN %d AND %d FOR UPDATE",
                 value, number * KEYS, id);
        text[strlen(text) - strlen(" FOR UPDATE")] = 0; /* only SELECT may have it */
        *affected = 0;
        for (uint64_t k = 0; k <= key; k++) {
            *affected += slot->here[k] != 0;
            slot->here[k] += slot->here[k] ? value : 0;
        }
        return true;
    default:
        snprintf(text, size, "SELECT v FROM random WHERE id = %d FOR UPDATE", id);
        *affected = *row != 0;
        return true;
    }
}

static bool agrees(struct model *m)
{
    char wanted[40];
    int rows = 0, sum = 0;
    for (int s = 0; s < SLOTS; s++) {
        for (int k = 0; k < KEYS; k++) {
            rows += m->slots[s].committed[k] != 0;
            sum += m->slots[s].committed[k];
        }
    }
    snprintf(wanted, sizeof wanted, "%d/%d", rows, sum);
    const char *seen =
        client_value(&m->reader, "SELECT count(*) || '/' || coalesce(sum(v), 0) FROM random");
    if (strcmp(seen, wanted) == 0)
        return true;
    printf("the store has %s, the model %s\n", seen, wanted);
    return false;
}

static bool finish(struct property_source *source, struct model *m, int number, struct client *by)
{
    char name[40];
    struct slot *slot = &m->slots[number];
    bool commit = property_draw(source, 2);
    snprintf(name, sizeof name, "slot-%d", number);
    enum cleave_status status = client_finish(by, name, commit);
    if (source->verbose)
        printf("finish %s: %s\n", name, commit ? "commit" : "roll back");
    if ((slot->owner == SESSIONS) != (status == CLEAVE_OK) ||
        (status && status != CLEAVE_NOT_FOUND)) {
        printf("finish of %s: %s\n", name, by->error.message);
        return false;
    }
    if (status)
        return true;
    slot->owner = NONE;
    if (commit)
        memcpy(slot->committed, slot->here, sizeof slot->here);
    return true;
}

static bool batch(struct property_source *source, struct model *m, int session, int number)
{
    static const char *const ends[] = {"open", "commit", "roll back", "prepare"};
    struct slot *slot = &m->slots[number];
    struct client *client = &m->clients[session];
    char texts[4][160], name[40];
    const char *given[4] = {NULL};
    uint64_t affected[4], count = property_draw(source, 5);
    enum cleave_batch_end end = (enum cleave_batch_end)property_draw(source, 4);
    uint32_t failing = UINT32_MAX;
    snprintf(name, sizeof name, "slot-%d", number);
    for (uint32_t i = 0; i < count; i++) {
        given[i] = texts[i];
        if (!change(source, slot, number, texts[i], sizeof texts[i], &affected[i]) &&
            failing == UINT32_MAX)
            failing = i;
        if (source->verbose)
            printf("session %d: %s\n", session, texts[i]);
    }
    if (source->verbose)
        printf("session %d: %s\n", session, ends[end]);
    enum cleave_status status =
        client_batch(client, end, name, given[0], given[1], given[2], given[3]);
    bool fails = failing != UINT32_MAX;
    if (fails != (status != CLEAVE_OK) || (fails && client->failed != failing)) {
        printf("batch gives %d: %s\n", status, client->error.message);
        return false;
    }
    for (uint32_t i = 0; !fails && i < count; i++) {
        if (client->answers[i].affected != affected[i]) {
            printf("%s affects %d\n", texts[i], (int)client->answers[i].affected);
            return false;
        }
    }
    m->at[session] = !fails && end == CLEAVE_BATCH_OPEN ? number : NONE;
    slot->owner = m->at[session] == number ? session : NONE;
    if (!fails && end == CLEAVE_BATCH_PREPARE)
        slot->owner = SESSIONS;
    if (!fails && end == CLEAVE_BATCH_COMMIT)
        memcpy(slot->committed, slot->here, sizeof slot->here);
    return true;
}

static bool step(struct property_source *source, struct model *m)
{
    int session = (int)property_draw(source, SESSIONS), number = m->at[session];
    if (number == NONE) {
        number = (int)property_draw(source, SLOTS);
        if (m->slots[number].owner == SESSIONS || property_draw(source, 8) == 0)
            return m->slots[number].owner == NONE || m->slots[number].owner == SESSIONS
                       ? finish(source, m, number, &m->clients[session])
                       : true;
        if (m->slots[number].owner != NONE)
            return true;
        memcpy(m->slots[number].here, m->slots[number].committed, sizeof m->slots[number].here);
    }
    return batch(source, m, session, number);
}

static bool history(struct property_source *source, void *context)
{
    struct model m = {0};
    bool right = true;
    client_open(&m.reader, context);
    client_do(&m.reader, "CREATE TABLE random (id int PRIMARY KEY, v int)");
    for (int s = 0; s < SESSIONS; s++) {
        client_open(&m.clients[s], context);
        m.at[s] = NONE;
    }
    for (int s = 0; s < SLOTS; s++)
        m.slots[s].owner = NONE;
    for (int i = 0; right && i < STEPS; i++)
        right = step(source, &m) && agrees(&m);
    for (int s = 0; s < SESSIONS; s++)
        client_close(&m.clients[s]);
    for (int s = 0; right && s < SLOTS; s++) {
        m.slots[s].owner = m.slots[s].owner == SESSIONS ? SESSIONS : NONE;
        right = finish(source, &m, s, &m.reader) && agrees(&m);
    }
    if (!right) { /* so that the next case begins anew */
        const char *const *names;
        uint32_t count = 0;
        m.reader.ops->prepared(m.reader.session, "", &m.reader.arena, &names, &count, NULL);
        for (uint32_t i = 0; i < count; i++)
            client_finish(&m.reader, names[i], false);
    }
    client_do(&m.reader, "DROP TABLE random");
    client_close(&m.reader);
    return right;
}

static void random_histories(void **state)
{
    assert_true(property_run(cleave__store_of(*state)->name, history, *state, 30));
}

int contract_run_random(const char *url)
{
    const struct CMUnitTest tests[] = {
        {"random_histories", random_histories, NULL, NULL, (char *)url}};
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}

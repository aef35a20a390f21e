/* Sessions of a load, and that it is alone.
 *
 * A load holds a name that no coordinator has (store.h) in each PostgreSQL that it loads onto, for
 * as long as its sessions live: who has it knows that no other load is at work there, and that no
 * COMMIT of one that was cut off is still on its way, so that what is there to be seen is all there
 * will be. SQLite needs none: a COMMIT ends with its process. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tables/load/inside.h"

enum { LOCK_TRIES = 25, LOST_TRIES = 150, NAP_MS = 200 };

enum cleave_status cleave__load_target_open(struct cleave__load *load,
                                            struct cleave__load_target *target, const char *url,
                                            struct cleave_error *error)
{
    struct cleave_store_answer answer;
    target->ops = cleave__store_of(url);
    target->sqlite = target->ops == &cleave__sqlite;
    target->shown = cleave__store_shown(url, &load->arena);
    enum cleave_status status = target->shown ? target->ops->open(url, &target->session, error)
                                              : cleave__load_no_memory(error);
    if (!status &&
        !target->sqlite) /* names without a schema are in public, whatever the role says */
        status = cleave__load_one(load, target, "SET search_path = public", &answer, error);
    return status;
}

enum cleave_status cleave__load_lock(struct cleave__load *load, struct cleave__load_target *target,
                                     struct cleave_error *error)
{
    for (int i = 0; !target->sqlite && i < LOCK_TRIES; i++) {
        if (i)
            cleave__nap_ms(NAP_MS);
        enum cleave_status status =
            cleave__load_stopped(load, "waiting for another load", 0, error);
        if (!status)
            status = target->ops->hold(target->session, "tables load", error);
        if (status != CLEAVE_CONFLICT)
            return status;
    }
    return target->sqlite ? CLEAVE_OK
                          : cleave_error_set(error, CLEAVE_CONFLICT,
                                             "%.200s: another `cleave tables load` is at work "
                                             "there; wait for it to end",
                                             target->shown);
}

enum cleave_status cleave__load_has_decided(struct cleave__load *load,
                                            struct cleave__load_target *target, const char *name,
                                            bool *decided, struct cleave_error *error)
{
    struct cleave_store_answer answer;
    char text[160];
    size_t length = sizeof CLEAVE__LOAD_PREFIX - 1; /* the load's name, without the part's number */
    length += strcspn(name + length, "-'");
    enum cleave_status status = cleave__load_one(
        load, target,
        target->sqlite
            ? "SELECT 1 FROM sqlite_schema WHERE name = 'cleave_loads'"
            : "SELECT 1 FROM pg_tables WHERE tablename = 'cleave_loads' AND schemaname = "
              "current_schema()",
        &answer, error);
    if (status || !answer.rows)
        return status;
    snprintf(text, sizeof text, "SELECT 1 FROM cleave_loads WHERE name = '%.*s'", (int)length,
             name);
    status = cleave__load_one(load, target, text, &answer, error);
    *decided = *decided || (!status && answer.rows);
    return status;
}

enum cleave_status cleave__load_find_out(struct cleave__load *load, bool *decided,
                                         const struct cleave_error *why, struct cleave_error *error)
{
    struct cleave__load_target *target = &load->targets[0];
    enum cleave_status status = CLEAVE_IO;
    for (int i = 0; status == CLEAVE_IO && i < LOST_TRIES; i++) {
        if (target->session)
            target->ops->close(target->session);
        target->session = NULL;
        if (i)
            cleave__nap_ms(NAP_MS);
        status = cleave__load_target_open(load, target, load->options->shards[0], NULL);
        if (!status)
            status = cleave__load_lock(load, target, NULL);
        if (!status)
            status = cleave__load_has_decided(load, target, load->name, decided, NULL);
    }
    if (status)
        return cleave_error_set(error, CLEAVE_IO,
                                "%.250s; whether the load was committed is not known: once the "
                                "shard is there, run it again, with --replace",
                                why->message);
    return CLEAVE_OK;
}

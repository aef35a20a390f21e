/* Two-phase commit: transactions between PREPARE TRANSACTION and COMMIT or ROLLBACK PREPARED, which
 * any session may send. They are bounded in number and text: past that the oldest counts as
 * committed, as do those that are left at the end. */
#include <stdlib.h>
#include <string.h>

#include "tables/source/trace/transaction.h"

enum { ASIDE_MAX = 1024 };

bool cleave__aside_put(struct cleave_machine *m, struct cleave_session *x,
                       const struct cleave_piece *piece)
{
    if (x->block != CLEAVE_BLOCK_OPEN)
        return true;
    if (!piece->name)
        return cleave__session_commit(m, x);
    while (m->aside && (m->aside_count >= ASIDE_MAX || m->held_bytes > CLEAVE_HELD_MAX)) {
        struct cleave_aside *oldest = m->aside; /* counts as committed */
        m->aside = oldest->next;
        m->aside_count--;
        m->held_bytes -= cleave__work_bytes(oldest->work);
        bool ok = cleave__machine_deliver(m, oldest->work, oldest->label, oldest->file, true);
        free(oldest->label);
        free(oldest);
        if (!ok)
            return false;
    }
    struct cleave_aside *aside = malloc(sizeof *aside + piece->name_length);
    char *label = strdup(x->label);
    if (!aside || !label) {
        free(aside);
        free(label);
        return false;
    }
    x->block = CLEAVE_BLOCK_NONE;
    *aside = (struct cleave_aside){NULL, cleave__session_detach(m, x), x->file, label,
                                   piece->name_length};
    memcpy(aside->id, piece->name, piece->name_length);
    m->held_bytes += cleave__work_bytes(aside->work);
    struct cleave_aside **last = &m->aside;
    while (*last)
        last = &(*last)->next;
    *last = aside;
    m->aside_count++;
    return true;
}

bool cleave__aside_decide(struct cleave_machine *m, const struct cleave_piece *piece,
                          bool committed)
{
    struct cleave_aside **at = &m->aside;
    while (*at && !(piece->name && (*at)->id_length == piece->name_length &&
                    memcmp((*at)->id, piece->name, piece->name_length) == 0))
        at = &(*at)->next;
    struct cleave_aside *aside = *at;
    if (!aside)
        return true; /* prepared before the log began */
    *at = aside->next;
    m->aside_count--;
    m->held_bytes -= cleave__work_bytes(aside->work);
    bool ok = true;
    if (committed) {
        ok = cleave__machine_deliver(m, aside->work, aside->label, aside->file, true);
    } else {
        m->counters->statements_rolled_back += cleave__work_count(aside->work);
        m->counters->transactions_rolled_back++;
        cleave__work_drop(m->works, aside->work);
    }
    free(aside->label);
    free(aside);
    return ok;
}

bool cleave__machine_finish(struct cleave_machine *m)
{
    while (m->aside) {
        struct cleave_piece piece = {.name = m->aside->id, .name_length = m->aside->id_length};
        if (!cleave__aside_decide(m, &piece, true))
            return false;
    }
    return true;
}

void cleave__machine_release(struct cleave_machine *m)
{
    while (m->aside) {
        struct cleave_aside *aside = m->aside;
        m->aside = aside->next;
        cleave__work_drop(m->works, aside->work);
        free(aside->label);
        free(aside);
    }
    cleave__bindings_free(&m->bindings);
}

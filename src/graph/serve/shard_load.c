/* What a shard tells of its load: reads and users in all, and its users of most reads a byte, which
 * are those worth a copy on every shard. */
#include <stdlib.h>

#include "graph/serve/shard.h"

enum { TOLD_MOST = 256 };

/* More reads a byte first; the lower number among equals. */
static int compare(const void *a, const void *b)
{
    const struct cleave__user *x = *(struct cleave__user *const *)a,
                              *y = *(struct cleave__user *const *)b;
    __extension__ typedef unsigned __int128 wide;
    wide l = (wide)x->reads * cleave__user_bytes(y), r = (wide)y->reads * cleave__user_bytes(x);
    return l != r ? (l < r) - (l > r) : (x->number > y->number) - (x->number < y->number);
}

void cleave__shard_tell_load(struct cleave__shard *shard, struct cleave_context *context,
                             const struct cleave_message *message)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    struct cleave__user **user = malloc(((size_t)shard->own.count + 1) * sizeof *user);
    uint32_t count = 0;
    for (uint64_t i = 0; user && shard->own.slot && i <= shard->own.mask; i++) {
        if (shard->own.slot[i])
            user[count++] = shard->own.slot[i];
    }
    cleave__put64(writer, shard->reads);
    cleave__put32(writer, count);
    if (user)
        qsort(user, count, sizeof(struct cleave__user *), compare);
    for (uint32_t i = 0; user && i < count && i < TOLD_MOST && user[i]->reads; i++) {
        cleave__put32(writer, user[i]->number);
        cleave__put64(writer, user[i]->reads);
        cleave__put64(writer, cleave__user_bytes(user[i]));
    }
    if (!user || writer->failed)
        cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for a shard's load");
    else
        cleave__context_answer(context, message->promise, CLEAVE__GRAPH_LOADS, writer->data,
                               writer->count);
    free(user);
}

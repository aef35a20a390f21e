/* Users by number: what a shard keeps. Open addressing by the mixed number, linear probing, at most
 * half full; who leaves moves those behind up, so that there are no graves.
 *
 * A user's record is never changed in its list: a change puts another in its place. */
#ifndef CLEAVE_GRAPH_SERVE_USERS_H
#define CLEAVE_GRAPH_SERVE_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct cleave__user {
    uint32_t number, degree, label;
    bool replicated; /* of a primary: other shards have copies */
    bool valid;      /* of a copy: may be read */
    uint64_t version;
    uint64_t reads;    /* since it came here */
    uint32_t target[]; /* [degree], rising */
};

struct cleave__users {
    struct cleave__user **slot; /* malloc'd records; NULL: free */
    uint32_t mask, count;
};

void cleave__users_free(struct cleave__users *users);
struct cleave__user *cleave__users_find(const struct cleave__users *users, uint32_t number);
/* Takes the record over, in place of one of that number. False: memory is out, it is the caller's.
 */
bool cleave__users_put(struct cleave__users *users, struct cleave__user *user);
/* Frees the record; nothing if there is none. */
void cleave__users_remove(struct cleave__users *users, uint32_t number);
bool cleave__users_check(const struct cleave__users *users);

/* A record with room for `degree` targets; NULL when memory is out. */
struct cleave__user *cleave__user_new(uint32_t number, uint32_t degree);
/* Bytes that a copy of the list takes: what budgets count. */
static inline uint64_t cleave__user_bytes(const struct cleave__user *user)
{
    return 24 + (uint64_t)user->degree * 4;
}
/* 24 bytes and 4 a target; reading gives NULL when the bytes are wrong or memory is out. */
void cleave__user_write(const struct cleave__user *user, struct cleave_writer *writer);
struct cleave__user *cleave__user_read(struct cleave_reader *reader);

struct cleave__change;
/* The record as it is after a change; NULL when memory is out. (shard_change.c) */
struct cleave__user *cleave__user_changed(const struct cleave__user *user,
                                          const struct cleave__change *change);

#endif

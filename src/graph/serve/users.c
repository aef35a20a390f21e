#include "graph/serve/users.h"

#include <assert.h>
#include <stdlib.h>

#include "base/random.h"

void cleave__users_free(struct cleave__users *users)
{
    for (uint64_t i = 0; users->slot && i <= users->mask; i++)
        free(users->slot[i]);
    free(users->slot);
    *users = (struct cleave__users){0};
}

/* Where the number is, or would be put. */
static uint32_t seat(const struct cleave__users *users, uint32_t number)
{
    uint32_t at = (uint32_t)cleave__mix64(number) & users->mask;
    while (users->slot[at] && users->slot[at]->number != number)
        at = (at + 1) & users->mask;
    return at;
}

struct cleave__user *cleave__users_find(const struct cleave__users *users, uint32_t number)
{
    return users->slot ? users->slot[seat(users, number)] : NULL;
}

static bool grow(struct cleave__users *users)
{
    struct cleave__users larger = {.mask = users->slot ? users->mask * 2 + 1 : 15};
    larger.slot = calloc((size_t)larger.mask + 1, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (uint64_t i = 0; users->slot && i <= users->mask; i++) {
        if (users->slot[i])
            larger.slot[seat(&larger, users->slot[i]->number)] = users->slot[i];
    }
    larger.count = users->count;
    free(users->slot);
    *users = larger;
    return true;
}

bool cleave__users_put(struct cleave__users *users, struct cleave__user *user)
{
    if ((!users->slot || users->count * 2 > users->mask) && !grow(users))
        return false;
    uint32_t at = seat(users, user->number);
    users->count += !users->slot[at];
    if (users->slot[at] != user)
        free(users->slot[at]);
    users->slot[at] = user;
    return true;
}

void cleave__users_remove(struct cleave__users *users, uint32_t number)
{
    uint32_t hole = users->slot ? seat(users, number) : 0;
    if (!users->slot || !users->slot[hole])
        return;
    free(users->slot[hole]);
    users->slot[hole] = NULL;
    users->count--;
    for (uint32_t at = (hole + 1) & users->mask; users->slot[at]; at = (at + 1) & users->mask) {
        uint32_t home = (uint32_t)cleave__mix64(users->slot[at]->number) & users->mask;
        if (((at - home) & users->mask) < ((at - hole) & users->mask))
            continue; /* its home lies behind the hole */
        users->slot[hole] = users->slot[at];
        users->slot[at] = NULL;
        hole = at;
    }
}

bool cleave__users_check(const struct cleave__users *users)
{
    uint32_t count = 0;
    for (uint64_t i = 0; users->slot && i <= users->mask; i++) {
        const struct cleave__user *user = users->slot[i];
        if (!user)
            continue;
        count++;
        if (seat(users, user->number) != i)
            return false;
        for (uint32_t t = 1; t < user->degree; t++) {
            if (user->target[t - 1] >= user->target[t])
                return false;
        }
    }
    return count == users->count && (!users->slot || count <= users->mask);
}

struct cleave__user *cleave__user_new(uint32_t number, uint32_t degree)
{
    struct cleave__user *user = calloc(1, sizeof *user + (size_t)degree * sizeof user->target[0]);
    if (user) {
        user->number = number;
        user->degree = degree;
    }
    return user;
}

void cleave__user_write(const struct cleave__user *user, struct cleave_writer *writer)
{
    uint8_t *to = cleave__put_space(writer, 24 + (size_t)user->degree * 4);
    if (!to)
        return;
    cleave__store32(to, user->number);
    cleave__store32(to + 4, user->degree);
    cleave__store32(to + 8, user->label);
    cleave__store32(to + 12, user->replicated);
    cleave__store64(to + 16, user->version);
    for (uint32_t i = 0; i < user->degree; i++)
        cleave__store32(to + 24 + (size_t)i * 4, user->target[i]);
}

struct cleave__user *cleave__user_read(struct cleave_reader *reader)
{
    const uint8_t *from = cleave__get_bytes(reader, 24);
    const uint8_t *list =
        from ? cleave__get_bytes(reader, (uint64_t)cleave__load32(from + 4) * 4) : NULL;
    struct cleave__user *user =
        list ? cleave__user_new(cleave__load32(from), cleave__load32(from + 4)) : NULL;
    if (!user)
        return NULL;
    user->label = cleave__load32(from + 8);
    user->replicated = cleave__load32(from + 12);
    user->version = cleave__load64(from + 16);
    for (uint32_t i = 0; i < user->degree; i++)
        user->target[i] = cleave__load32(list + (size_t)i * 4);
    return user;
}

/* Operations by chance instead of by cost: to see that none loses anything. */
#include "base/random.h"
#include "stream/serve/balancer.h"

static uint32_t below(struct cleave_random *random, uint32_t bound)
{
    return (uint32_t)cleave__random_below(random, bound);
}

static uint32_t lines(struct cleave__cells cells, enum cleave__side side)
{
    return side == CLEAVE__LEFT || side == CLEAVE__RIGHT ? cells.x1 - cells.x0 + 1
                                                         : cells.y1 - cells.y0 + 1;
}

/* Some lines of one at a random side. */
static bool halve(const struct cleave__balancer *b, struct cleave_random *random, uint32_t x,
                  struct cleave__cells *out)
{
    enum cleave__side side = (enum cleave__side)below(random, CLEAVE__SIDES);
    uint32_t count = lines(b->cells[x], side);
    if (count < 2)
        return false;
    *out = cleave__cells_strip(b->cells[x], side, 1 + below(random, count - 1));
    return true;
}

static bool possible(const struct cleave__balancer *b, struct cleave_random *random,
                     enum cleave__balance_kind kind, uint32_t x, uint32_t y,
                     struct cleave__balance_decision *out)
{
    struct cleave__cells whole, strip;
    enum cleave__side side;
    uint32_t z;
    struct cleave__balance_step *step = out->steps;
    switch (kind) {
    case CLEAVE__BALANCE_SPLIT:
        step[0] = (struct cleave__balance_step){x, y, CLEAVE__NO_CELLS};
        return cleave__cells_empty(b->cells[y]) && halve(b, random, x, &step[0].cells);
    case CLEAVE__BALANCE_SPLIT_MERGE:
        if (cleave__cells_empty(b->cells[y]) ||
            !cleave__cells_join(b->cells[x], b->cells[y], &whole))
            return false;
        step[0] = (struct cleave__balance_step){x, y, b->cells[x]};
        z = below(random, b->seat->world->streaming->evaluators);
        if (z != x && z != y && !cleave__cells_empty(b->cells[z]) &&
            halve(b, random, z, &step[1].cells)) {
            step[1].from = z;
            step[1].to = x;
            out->step_count = 2;
        }
        return true;
    case CLEAVE__BALANCE_HORIZONTAL:
    case CLEAVE__BALANCE_VERTICAL:
        if (cleave__cells_empty(b->cells[y]) ||
            !cleave__cells_border(b->cells[x], b->cells[y], &side) ||
            (kind == CLEAVE__BALANCE_HORIZONTAL) !=
                (side == CLEAVE__BELOW || side == CLEAVE__ABOVE) ||
            lines(b->cells[x], side) < 2)
            return false;
        strip =
            cleave__cells_strip(b->cells[x], side, 1 + below(random, lines(b->cells[x], side) - 1));
        step[0] = (struct cleave__balance_step){x, y, strip};
        return true;
    case CLEAVE__BALANCE_CORNER:
        if (cleave__cells_empty(b->cells[y]) ||
            !cleave__cells_corner(b->cells[x], b->cells[y], &strip))
            return false;
        step[0] = (struct cleave__balance_step){x, y, strip};
        return true;
    default:
        return false;
    }
}

bool cleave__balancer_force(struct cleave__balancer *b, struct cleave_random *random,
                            enum cleave__balance_kind kind)
{
    uint32_t n = b->seat->world->streaming->evaluators, seen = 0;
    struct cleave__balance_decision chosen = {0};
    for (uint32_t x = 0; x < n; x++) {
        for (uint32_t y = 0; y < n; y++) {
            struct cleave__balance_decision found = {.kind = kind, .step_count = 1};
            if (x == y || cleave__cells_empty(b->cells[x]) ||
                !possible(b, random, kind, x, y, &found))
                continue;
            if (below(random, ++seen) == 0)
                chosen = found;
        }
    }
    if (seen)
        b->decision = chosen;
    return seen;
}

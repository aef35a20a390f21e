/* Rectangles of cells; see the header. Corner shifts are Tornado's (seed's Figure 4c). */
#include "model/tiling.h"

bool cleave__cells_cut(struct cleave__cells whole, struct cleave__cells part,
                       struct cleave__cells *out)
{
    struct cleave__cells left = whole;
    if (!cleave__cells_within(part, whole))
        return false;
    bool wide = part.x0 == whole.x0 && part.x1 == whole.x1;
    bool high = part.y0 == whole.y0 && part.y1 == whole.y1;
    if (wide && high)
        left = CLEAVE__NO_CELLS;
    else if (wide && part.y0 == whole.y0)
        left.y0 = part.y1 + 1;
    else if (wide && part.y1 == whole.y1)
        left.y1 = part.y0 - 1;
    else if (high && part.x0 == whole.x0)
        left.x0 = part.x1 + 1;
    else if (high && part.x1 == whole.x1)
        left.x1 = part.x0 - 1;
    else
        return false;
    *out = left;
    return true;
}

bool cleave__cells_border(struct cleave__cells a, struct cleave__cells b, enum cleave__side *side)
{
    if (cleave__cells_empty(a) || cleave__cells_empty(b))
        return false;
    if (a.y0 == b.y0 && a.y1 == b.y1 && (b.x1 + 1 == a.x0 || a.x1 + 1 == b.x0))
        *side = b.x1 + 1 == a.x0 ? CLEAVE__LEFT : CLEAVE__RIGHT;
    else if (a.x0 == b.x0 && a.x1 == b.x1 && (b.y1 + 1 == a.y0 || a.y1 + 1 == b.y0))
        *side = b.y1 + 1 == a.y0 ? CLEAVE__BELOW : CLEAVE__ABOVE;
    else
        return false;
    return true;
}

bool cleave__cells_join(struct cleave__cells a, struct cleave__cells b, struct cleave__cells *out)
{
    enum cleave__side side;
    if (cleave__cells_empty(a) || cleave__cells_empty(b)) {
        *out = cleave__cells_empty(a) ? b : a;
        return true;
    }
    if (!cleave__cells_border(a, b, &side))
        return false;
    *out = (struct cleave__cells){a.x0 < b.x0 ? a.x0 : b.x0, a.y0 < b.y0 ? a.y0 : b.y0,
                                  a.x1 > b.x1 ? a.x1 : b.x1, a.y1 > b.y1 ? a.y1 : b.y1};
    return true;
}

struct cleave__cells cleave__cells_strip(struct cleave__cells cells, enum cleave__side side,
                                         uint32_t lines)
{
    if (side == CLEAVE__LEFT)
        cells.x1 = cells.x0 + lines - 1;
    else if (side == CLEAVE__RIGHT)
        cells.x0 = cells.x1 - lines + 1;
    else if (side == CLEAVE__BELOW)
        cells.y1 = cells.y0 + lines - 1;
    else
        cells.y0 = cells.y1 - lines + 1;
    return cells;
}

/* Whether [b0, b1] is a part of [a0, a1] that reaches one of its ends only. */
static bool reaches_end(uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1)
{
    return (b0 == a0 && b1 < a1) || (b1 == a1 && b0 > a0);
}

bool cleave__cells_corner(struct cleave__cells a, struct cleave__cells b,
                          struct cleave__cells *strip)
{
    if (cleave__cells_empty(a) || cleave__cells_empty(b))
        return false;
    if ((b.x1 + 1 == a.x0 || a.x1 + 1 == b.x0) && reaches_end(a.y0, a.y1, b.y0, b.y1))
        *strip = (struct cleave__cells){a.x0, b.y0, a.x1, b.y1};
    else if ((b.y1 + 1 == a.y0 || a.y1 + 1 == b.y0) && reaches_end(a.x0, a.x1, b.x0, b.x1))
        *strip = (struct cleave__cells){b.x0, a.y0, b.x1, a.y1};
    else
        return false;
    return true;
}

bool cleave__cells_tile(uint32_t columns, uint32_t rows, const struct cleave__cells *parts,
                        uint32_t count)
{
    uint64_t cells = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (cleave__cells_empty(parts[i]))
            continue;
        if (parts[i].x1 >= columns || parts[i].y1 >= rows)
            return false;
        cells += cleave__cells_count(parts[i]);
        for (uint32_t j = 0; j < i; j++) {
            if (cleave__cells_meet(parts[i], parts[j]))
                return false;
        }
    }
    return cells == (uint64_t)columns * rows;
}

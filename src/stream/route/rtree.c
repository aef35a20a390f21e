/* A packed R-tree of the partitions, to compare with: sorted into tiles once (sort-tile-recursive,
 * Leutenegger and others), 16 entries a node, over arrays, as lean as they come. A point is a range
 * of one cell.
 *
 * Invariants: nodes are numbered from the leaves up, the last is the root; a node's rectangles are
 * the hulls of what lies below them. */
#include <math.h>
#include <stdlib.h>

#include "stream/route/locator.h"

enum { FAN = 16, STACK = 4 * FAN };

struct node {
    uint16_t x0[FAN], y0[FAN], x1[FAN], y1[FAN];
    uint32_t child[FAN]; /* of a leaf: evaluators */
    uint32_t count;
    bool leaf;
};
struct rtree {
    struct cleave__grid grid;
    uint32_t count;
    struct node nodes[]; /* [count] */
};
struct entry {
    struct cleave__cells box;
    uint32_t child;
};

static int by_x(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;
    uint32_t x = one->box.x0 + one->box.x1, y = other->box.x0 + other->box.x1;
    return x != y ? (x > y) - (x < y) : (one->child > other->child) - (one->child < other->child);
}

static int by_y(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;
    uint32_t x = one->box.y0 + one->box.y1, y = other->box.y0 + other->box.y1;
    return x != y ? (x > y) - (x < y) : (one->child > other->child) - (one->child < other->child);
}

static uint32_t nodes_for(uint32_t entries)
{
    uint32_t sum = 0;
    do {
        entries = (entries + FAN - 1) / FAN;
        sum += entries;
    } while (entries > 1);
    return sum;
}

static struct entry pack(struct rtree *tree, const struct entry *entries, uint32_t count, bool leaf)
{
    struct node *node = &tree->nodes[tree->count];
    struct cleave__cells all = entries[0].box;
    node->leaf = leaf;
    node->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct cleave__cells b = entries[i].box;
        node->x0[i] = (uint16_t)b.x0;
        node->y0[i] = (uint16_t)b.y0;
        node->x1[i] = (uint16_t)b.x1;
        node->y1[i] = (uint16_t)b.y1;
        node->child[i] = entries[i].child;
        all = cleave__ranges_hull((struct cleave__cells[]){all, b}, 2);
    }
    return (struct entry){all, tree->count++};
}

static void build(struct rtree *tree, struct entry *entries, uint32_t count)
{
    for (bool leaf = true;; leaf = false) {
        uint32_t nodes = (count + FAN - 1) / FAN, above = 0;
        uint32_t slices = (uint32_t)ceil(sqrt(nodes)), slice = (nodes + slices - 1) / slices * FAN;
        qsort(entries, count, sizeof *entries, by_x);
        for (uint32_t s = 0; s < count; s += slice)
            qsort(entries + s, s + slice < count ? slice : count - s, sizeof *entries, by_y);
        for (uint32_t at = 0; at < count; at += FAN, above++)
            entries[above] = pack(tree, entries + at, count - at < FAN ? count - at : FAN, leaf);
        count = above;
        if (count == 1)
            return;
    }
}

static enum cleave_status create(const struct cleave__grid *grid,
                                 const struct cleave__cells *partitions, uint32_t evaluators,
                                 void **self, struct cleave_error *error)
{
    struct cleave__agrid *tiling; /* says what is wrong with them */
    enum cleave_status status = cleave__agrid_new(grid, partitions, evaluators, &tiling, error);
    if (status)
        return status;
    cleave__agrid_free(tiling);
    struct entry *entries = malloc(evaluators * sizeof *entries);
    struct rtree *tree = calloc(1, sizeof *tree + nodes_for(evaluators) * sizeof *tree->nodes);
    if (!entries || !tree) {
        free(entries);
        free(tree);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a tree of %u evaluators",
                                evaluators);
    }
    uint32_t count = 0;
    for (uint32_t e = 0; e < evaluators; e++) {
        if (!cleave__cells_empty(partitions[e]))
            entries[count++] = (struct entry){partitions[e], e};
    }
    tree->grid = *grid;
    build(tree, entries, count);
    free(entries);
    *self = tree;
    return CLEAVE_OK;
}

static uint32_t range(void *self, struct cleave__cells cells, uint32_t *out)
{
    const struct rtree *tree = self;
    uint32_t stack[STACK], depth = 0, count = 0; /* three levels of at most 15 that wait, and one */
    stack[depth++] = tree->count - 1;
    while (depth) {
        const struct node *node = &tree->nodes[stack[--depth]];
        for (uint32_t i = 0; i < node->count; i++) {
            if (node->x0[i] > cells.x1 || node->x1[i] < cells.x0 || node->y0[i] > cells.y1 ||
                node->y1[i] < cells.y0)
                continue;
            if (node->leaf)
                out[count++] = node->child[i];
            else
                stack[depth++] = node->child[i];
        }
    }
    return count;
}

static uint32_t point(void *self, double x, double y)
{
    const struct rtree *tree = self;
    uint32_t column = cleave__grid_column(&tree->grid, x), row = cleave__grid_row(&tree->grid, y);
    uint32_t out[1] = {0};
    range(self, (struct cleave__cells){column, row, column, row}, out);
    return out[0];
}

static size_t bytes(const void *self)
{
    const struct rtree *tree = self;
    return sizeof *tree + tree->count * sizeof *tree->nodes;
}

const struct cleave__locator_ops cleave__locator_rtree = {
    .name = "rtree",
    .summary = "a packed R-tree of the partitions",
    .create = create,
    .destroy = free,
    .point = point,
    .range = range,
    .bytes = bytes,
};

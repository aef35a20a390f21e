/* Building groups, one table at a time:
 *   1. boxes are projected to the two attributes; equal projections are one (a "shadow");
 *   2. the first attribute's cuts give columns of the plane; each shadow is entered in those it
 * meets;
 *   3. in each column a sweep along the second attribute sums a random 64-bit mark per shadow, so
 *      that equal sums mean the same set of shadows (wrong with probability about 2^-64 a pair);
 *   4. pieces of one column with one sum become one group.
 * O(entries log entries), where entries = shadows x columns they meet, bounded by the limit. */
#include "tables/shape/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { LINKS_PER_ENTRY = 8 };

struct shadow {
    struct cleave_box box; /* at most two terms: column 0 the first attribute, 1 the second */
};

struct entry {
    uint32_t column, shadow;
};

struct mark_piece {
    uint64_t sum;
    uint32_t piece;
};

struct link {
    uint32_t shadow, group;
};

struct builder {
    const struct cleave_workload *workload;
    const struct cleave_profile *profile;
    bool derived;
    const struct cleave_phantom *phantoms;
    uint32_t phantom_count, limit;
    struct cleave_groups *out;
    struct cleave_arena arena; /* projections of the table at hand */
    struct cleave_intern known;
    struct cleave_box_bytes bytes;
    CLEAVE_VECTOR(struct shadow) shadows;
    CLEAVE_VECTOR(struct entry) entries;
    CLEAVE_VECTOR(struct mark_piece) marks;
    CLEAVE_VECTOR(uint64_t) sums;
    CLEAVE_VECTOR(struct link) links;
    uint32_t *box_shadow; /* [boxes]: number among all shadows, or CLEAVE_ABSENT */
    uint32_t shadow_base; /* number of the table's first shadow */
    uint32_t *last_group; /* scratch for linking */
    bool failed;
};

static const struct cleave_derivation *find_derivation(const struct builder *builder,
                                                       uint32_t table, uint32_t key,
                                                       const struct cleave_box *box)
{
    for (uint32_t d = 0; builder->derived && d < builder->profile->derivation_count; d++) {
        const struct cleave_derivation *derivation = &builder->profile->derivations[d];
        if (derivation->table != table || derivation->key_column != key)
            continue;
        const struct cleave_term *term = cleave__box_term(box, derivation->column);
        if (term && cleave__term_is_points(term))
            return derivation;
    }
    return NULL;
}

/* The box's term on an attribute, by a derived column if need be; `*out` has range_count 0 when the
 * box says nothing about it. */
static bool project_term(struct builder *builder, uint32_t table, const struct cleave_box *box,
                         uint32_t attribute, uint32_t number, struct cleave_term *out)
{
    *out = (struct cleave_term){.column = number};
    const struct cleave_term *term = cleave__box_term(box, attribute);
    if (term) {
        out->range_count = term->range_count;
        out->ranges = term->ranges;
        return true;
    }
    const struct cleave_derivation *derivation = find_derivation(builder, table, attribute, box);
    if (!derivation)
        return true;
    term = cleave__box_term(box, derivation->column);
    out->ranges = cleave__arena_array(&builder->arena, term->range_count, sizeof *out->ranges);
    if (!out->ranges)
        return false;
    for (uint32_t r = 0; r < term->range_count; r++) {
        struct cleave_value value = {.kind = CLEAVE_INTEGER};
        if (!cleave__derived_number(&term->ranges[r].low, derivation->prefix, derivation->suffix,
                                    &value.integer)) {
            out->range_count = 0;
            return true;
        }
        out->ranges[out->range_count++] = (struct cleave_range){value, value, 0};
    }
    return true;
}

/* The number of a projection among the table's shadows; CLEAVE_ABSENT when memory is out. */
static uint32_t add_shadow(struct builder *builder, const struct cleave_box *box)
{
    uint32_t id = cleave__box_intern(&builder->known, 0, false, box, &builder->bytes);
    if (id == CLEAVE_INTERN_NONE || id < builder->shadows.count)
        return id;
    struct shadow held = {.box = {.term_count = box->term_count}};
    held.box.terms = cleave__arena_array(&builder->arena, 2, sizeof *held.box.terms);
    if (!held.box.terms || !CLEAVE_PUSH(&builder->shadows, held))
        return CLEAVE_ABSENT;
    for (uint32_t t = 0; t < box->term_count; t++)
        held.box.terms[t] = box->terms[t];
    return id;
}

static bool project_boxes(struct builder *builder, uint32_t table,
                          struct cleave_attributes attributes)
{
    const struct cleave_workload *workload = builder->workload;
    for (size_t b = 0; b < workload->boxes.count; b++) {
        const struct cleave_workload_box *box = &workload->boxes.data[b];
        if (box->table != table || builder->profile->box_transactions[b] == 0)
            continue;
        struct cleave_term terms[2];
        struct cleave_box shadow = {0, terms};
        uint32_t columns[2] = {attributes.first, attributes.second};
        for (uint32_t i = 0; i < 2; i++) {
            if (columns[i] == CLEAVE_ABSENT)
                continue;
            if (!project_term(builder, table, &box->box, columns[i], i, &terms[shadow.term_count]))
                return false;
            shadow.term_count += terms[shadow.term_count].range_count > 0;
        }
        uint32_t id = add_shadow(builder, &shadow);
        if (id == CLEAVE_ABSENT)
            return false;
        builder->box_shadow[b] = builder->shadow_base + id;
    }
    for (uint32_t p = 0; p < builder->phantom_count; p++) {
        struct cleave_box box = builder->phantoms[p].box;
        if (builder->phantoms[p].table != table)
            continue;
        if (attributes.second == CLEAVE_ABSENT && box.term_count > 1)
            box.term_count = 1;
        if (add_shadow(builder, &box) == CLEAVE_ABSENT)
            return false;
    }
    return true;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return (a->shadow > b->shadow) - (a->shadow < b->shadow);
}

static int compare_marks(const void *left, const void *right)
{
    const struct mark_piece *a = left, *b = right;
    if (a->sum != b->sum)
        return a->sum < b->sum ? -1 : 1;
    return (a->piece > b->piece) - (a->piece < b->piece);
}

static uint64_t mark_of(uint32_t shadow)
{
    return cleave__mix64((uint64_t)shadow + 0x9e3779b97f4a7c15u);
}

/* Enters every shadow in the columns it meets; false when memory is out, `*fits` false when there
 * are more than the limit. */
static bool enter_shadows(struct builder *builder, const struct cleave_cuts *cuts, bool *fits)
{
    builder->entries.count = 0;
    *fits = true;
    for (uint32_t s = 0; s < builder->shadows.count; s++) {
        const struct cleave_term *term = cleave__box_term(&builder->shadows.data[s].box, 0);
        uint32_t ranges = term ? term->range_count : 1;
        for (uint32_t r = 0; r < ranges; r++) {
            uint32_t first = 0, last = (uint32_t)cuts->list.count;
            if (term)
                cleave__cuts_run(cuts, &term->ranges[r], &first, &last);
            if (first > last)
                continue; /* an empty range touches nothing */
            if (builder->entries.count + (last - first) > builder->limit) {
                *fits = false;
                return true;
            }
            for (uint32_t c = first; c <= last; c++) {
                if (!CLEAVE_PUSH(&builder->entries, (struct entry){c, s}))
                    return false;
            }
        }
    }
    if (builder->entries.count)
        qsort(builder->entries.data, builder->entries.count, sizeof *builder->entries.data,
              compare_entries);
    return true;
}

/* One column of the plane: entries [start, end). */
static bool sweep_column(struct builder *builder, uint32_t table, const struct cleave_cuts *firsts,
                         size_t start, size_t end)
{
    struct cleave_cuts cuts = {0};
    struct cleave_groups *out = builder->out;
    bool ok = true;
    for (size_t e = start; ok && e < end; e++) {
        const struct cleave_box *box = &builder->shadows.data[builder->entries.data[e].shadow].box;
        const struct cleave_term *term = cleave__box_term(box, 1);
        for (uint32_t r = 0; ok && term && r < term->range_count; r++)
            ok = cleave__cuts_add(&cuts, &term->ranges[r]);
    }
    cleave__cuts_sort(&cuts);
    size_t pieces = cuts.list.count + 1;
    ok =
        ok && CLEAVE_RESERVE(&builder->sums, pieces + 1) && CLEAVE_RESERVE(&builder->marks, pieces);
    uint32_t *group_of = ok ? malloc(pieces * sizeof *group_of) : NULL;
    if (!group_of) {
        CLEAVE_VECTOR_FREE(&cuts.list);
        return false;
    }
    memset(builder->sums.data, 0, (pieces + 1) * sizeof *builder->sums.data);
    for (size_t e = start; e < end; e++) {
        uint32_t shadow = builder->entries.data[e].shadow;
        const struct cleave_term *term = cleave__box_term(&builder->shadows.data[shadow].box, 1);
        for (uint32_t r = 0; r < (term ? term->range_count : 1); r++) {
            uint32_t first = 0, last = (uint32_t)pieces - 1;
            if (term)
                cleave__cuts_run(&cuts, &term->ranges[r], &first, &last);
            if (first > last)
                continue;
            builder->sums.data[first] += mark_of(shadow);
            builder->sums.data[last + 1] -= mark_of(shadow);
        }
    }
    uint64_t sum = 0;
    for (uint32_t p = 0; p < pieces; p++) {
        sum += builder->sums.data[p];
        builder->marks.data[p] = (struct mark_piece){sum, p};
    }
    qsort(builder->marks.data, pieces, sizeof *builder->marks.data, compare_marks);
    struct cleave_range column;
    cleave__cuts_piece(firsts, builder->entries.data[start].column, &column);
    for (size_t p = 0; ok && p < pieces; p++) {
        const struct mark_piece *mark = &builder->marks.data[p];
        bool fresh = p == 0 || builder->marks.data[p - 1].sum != mark->sum;
        if (mark->sum == 0) {
            group_of[mark->piece] = CLEAVE_ABSENT; /* no transaction comes here */
            continue;
        }
        if (fresh) {
            struct cleave_group group = {.table = table, .first = column};
            group.second_start = (uint32_t)out->pieces.count;
            ok = CLEAVE_PUSH(&out->list, group);
        }
        if (!ok)
            break;
        struct cleave_group *group = &out->list.data[out->list.count - 1];
        group_of[mark->piece] = (uint32_t)out->list.count - 1;
        struct cleave_range piece;
        cleave__cuts_piece(&cuts, mark->piece, &piece);
        group->rest |= !cleave__range_is_point(&piece);
        if (pieces > 1) {
            ok = CLEAVE_PUSH(&out->pieces, piece);
            group->second_count++;
        }
    }
    /* Which groups each shadow touches. */
    for (size_t e = start; ok && e < end; e++) {
        uint32_t shadow = builder->entries.data[e].shadow;
        const struct cleave_term *term = cleave__box_term(&builder->shadows.data[shadow].box, 1);
        for (uint32_t r = 0; ok && r < (term ? term->range_count : 1); r++) {
            uint32_t first = 0, last = (uint32_t)pieces - 1;
            if (term)
                cleave__cuts_run(&cuts, &term->ranges[r], &first, &last);
            for (uint32_t p = first; ok && p <= last && first <= last; p++) {
                if (group_of[p] == CLEAVE_ABSENT)
                    continue;
                ok = CLEAVE_PUSH(&builder->links,
                                 (struct link){builder->shadow_base + shadow, group_of[p]});
            }
        }
    }
    free(group_of);
    CLEAVE_VECTOR_FREE(&cuts.list);
    return ok;
}

static void estimate_rows(struct builder *builder, uint32_t table, uint32_t first_group,
                          struct cleave_attributes attributes)
{
    const struct cleave_table *t = &builder->workload->schema->tables[table];
    struct cleave_groups *out = builder->out;
    for (size_t g = first_group; g < out->list.count; g++) {
        struct cleave_group *group = &out->list.data[g];
        double share = cleave__selectivity(t, attributes.first, &group->first);
        if (group->second_count) {
            double part = 0;
            for (uint32_t p = 0; p < group->second_count; p++)
                part += cleave__selectivity(t, attributes.second,
                                            &out->pieces.data[group->second_start + p]);
            share *= part < 1 ? part : 1;
        }
        group->rows = t->rows * share;
    }
}

static bool build_table(struct builder *builder, uint32_t table,
                        struct cleave_attributes *attributes)
{
    struct cleave_groups *out = builder->out;
    struct cleave_cuts cuts = {0};
    bool ok = project_boxes(builder, table, *attributes), fits = true;
    for (uint32_t s = 0; ok && s < builder->shadows.count; s++) {
        const struct cleave_term *term = cleave__box_term(&builder->shadows.data[s].box, 0);
        for (uint32_t r = 0; ok && term && r < term->range_count; r++)
            ok = cleave__cuts_add(&cuts, &term->ranges[r]);
    }
    cleave__cuts_sort(&cuts);
    ok = ok && enter_shadows(builder, &cuts, &fits);
    if (ok && !fits) {
        attributes->first = CLEAVE_ABSENT; /* the caller tries again, coarser */
        CLEAVE_VECTOR_FREE(&cuts.list);
        return true;
    }
    uint32_t first_group = (uint32_t)out->list.count;
    size_t first_piece = out->pieces.count, first_link = builder->links.count;
    for (size_t start = 0; ok && start < builder->entries.count;) {
        size_t end = start + 1;
        while (end < builder->entries.count &&
               builder->entries.data[end].column == builder->entries.data[start].column)
            end++;
        ok = sweep_column(builder, table, &cuts, start, end);
        start = end;
        if (builder->links.count - first_link > builder->limit * (size_t)LINKS_PER_ENTRY) {
            out->list.count = first_group;
            out->pieces.count = first_piece;
            builder->links.count = first_link;
            attributes->first = CLEAVE_ABSENT;
            break;
        }
    }
    if (ok && attributes->first != CLEAVE_ABSENT)
        estimate_rows(builder, table, first_group, *attributes);
    CLEAVE_VECTOR_FREE(&cuts.list);
    return ok;
}

static void reset_table(struct builder *builder)
{
    builder->shadow_base += (uint32_t)builder->shadows.count;
    builder->shadows.count = 0;
    cleave__intern_free(&builder->known);
}

/* shadow -> groups, then box -> groups through its shadow. */
static bool link_boxes(struct builder *builder)
{
    const struct cleave_workload *workload = builder->workload;
    struct cleave_groups *out = builder->out;
    size_t shadows = builder->shadow_base, boxes = workload->boxes.count;
    uint64_t *offset = calloc(shadows + 2, sizeof *offset);
    uint32_t *group = malloc((builder->links.count + 1) * sizeof *group);
    out->box_offset = calloc(boxes + 2, sizeof *out->box_offset);
    bool ok = offset && group && out->box_offset;
    if (ok) {
        for (size_t l = 0; l < builder->links.count; l++)
            offset[builder->links.data[l].shadow + 2]++;
        for (size_t s = 0; s < shadows; s++)
            offset[s + 2] += offset[s + 1];
        for (size_t l = 0; l < builder->links.count; l++)
            group[offset[builder->links.data[l].shadow + 1]++] = builder->links.data[l].group;
        uint64_t total = 0;
        for (size_t b = 0; b < boxes; b++) {
            uint32_t s = builder->box_shadow[b];
            out->box_offset[b] = total;
            if (s != CLEAVE_ABSENT)
                total += offset[s + 1] - offset[s];
        }
        out->box_offset[boxes] = total;
        out->box_group = malloc((total + 1) * sizeof *out->box_group);
        ok = out->box_group != NULL;
    }
    for (size_t b = 0; ok && b < boxes; b++) {
        uint32_t s = builder->box_shadow[b];
        if (s == CLEAVE_ABSENT)
            continue;
        uint64_t count = offset[s + 1] - offset[s];
        if (count)
            memcpy(out->box_group + out->box_offset[b], group + offset[s], count * sizeof *group);
    }
    free(offset);
    free(group);
    return ok;
}

/* Transactions that touch each group, each counted once. */
static bool count_access(struct builder *builder)
{
    const struct cleave_workload *workload = builder->workload;
    struct cleave_groups *out = builder->out;
    uint32_t *last = calloc(out->list.count + 1, sizeof *last);
    if (!last)
        return false;
    for (uint32_t t = 0; t < workload->transactions; t++) {
        for (uint64_t a = workload->offsets.data[t]; a < workload->offsets.data[t + 1]; a++) {
            uint32_t box = workload->accesses.data[a].box;
            for (uint64_t i = out->box_offset[box]; i < out->box_offset[box + 1]; i++) {
                uint32_t g = out->box_group[i];
                if (last[g] == t + 1)
                    continue;
                last[g] = t + 1;
                out->list.data[g].access++;
            }
        }
    }
    free(last);
    return true;
}

enum cleave_status cleave__groups_build(const struct cleave_workload *workload,
                                        const struct cleave_profile *profile, bool derived,
                                        const struct cleave_attributes *attributes,
                                        const struct cleave_phantom *phantoms,
                                        uint32_t phantom_count, uint32_t limit,
                                        struct cleave_groups *out, struct cleave_error *error)
{
    struct cleave_groups groups = {0};
    struct builder builder = {.workload = workload,
                              .profile = profile,
                              .derived = derived,
                              .phantoms = phantoms,
                              .phantom_count = phantom_count,
                              .limit = limit,
                              .out = &groups};
    uint32_t tables = workload->schema->table_count;
    builder.box_shadow = malloc((workload->boxes.count + 1) * sizeof *builder.box_shadow);
    groups.attributes = malloc(((size_t)tables + 1) * sizeof *groups.attributes);
    groups.table_start = malloc(((size_t)tables + 1) * sizeof *groups.table_start);
    bool ok = builder.box_shadow && groups.attributes && groups.table_start;
    if (ok)
        memset(builder.box_shadow, 0xff, (workload->boxes.count + 1) * sizeof *builder.box_shadow);
    for (uint32_t t = 0; ok && t < tables; t++) {
        groups.table_start[t] = (uint32_t)groups.list.count;
        groups.attributes[t] = attributes[t];
        if (attributes[t].first == CLEAVE_ABSENT)
            continue;
        ok = build_table(&builder, t, &groups.attributes[t]);
        if (ok && groups.attributes[t].first == CLEAVE_ABSENT &&
            attributes[t].second != CLEAVE_ABSENT) {
            builder.shadows.count = 0;
            cleave__intern_free(&builder.known);
            groups.attributes[t] = (struct cleave_attributes){attributes[t].first, CLEAVE_ABSENT};
            ok = build_table(&builder, t, &groups.attributes[t]);
        }
        reset_table(&builder);
    }
    if (ok) {
        groups.table_start[tables] = (uint32_t)groups.list.count;
        ok = link_boxes(&builder) && count_access(&builder);
    }
    free(builder.box_shadow);
    cleave__arena_free(&builder.arena);
    cleave__intern_free(&builder.known);
    CLEAVE_VECTOR_FREE(&builder.bytes.out);
    CLEAVE_VECTOR_FREE(&builder.shadows);
    CLEAVE_VECTOR_FREE(&builder.entries);
    CLEAVE_VECTOR_FREE(&builder.marks);
    CLEAVE_VECTOR_FREE(&builder.sums);
    CLEAVE_VECTOR_FREE(&builder.links);
    if (!ok) {
        cleave__groups_free(&groups);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the tuple groups");
    }
    *out = groups;
    return CLEAVE_OK;
}

void cleave__groups_free(struct cleave_groups *groups)
{
    CLEAVE_VECTOR_FREE(&groups->list);
    CLEAVE_VECTOR_FREE(&groups->pieces);
    free(groups->attributes);
    free(groups->table_start);
    free(groups->box_offset);
    free(groups->box_group);
    *groups = (struct cleave_groups){0};
}

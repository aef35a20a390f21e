/* HGP: hypergraph partitioning of tuple groups, the scheme of seed 002.
 *
 *   design   which column decides, table by table (design.c), under three degrees of trust in how
 *            well a map can bring values together; several designs are compared by cross-validation
 *   keys     the hypergraph with groups contracted into key values (keys.c), placed by the
 *            multilevel partitioner (keys_place.c): rules that hold for rows never seen
 *   moves    tuple groups that are better off elsewhere (moves.c): exceptions to the rules
 *   regroup  when balance comes first: groups are split and placed themselves (regroup.c)
 *   emit     the layout (emit.c)
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/scheme/hgp/hgp.h"
#include "tables/scheme/hgp/sample.h"

enum { SEARCHES = 3, DESIGNS = SEARCHES + 1, FOLDS = 3, LARGE = 5000 };

struct candidate {
    struct cleave_design design;
    struct cleave_key_space space;
    uint32_t *shard;
    uint64_t unseen; /* distributed, each transaction judged by a placement that did not see it */
    uint64_t seen;   /* distributed in the placement made from all */
    bool balanced;
    bool relaxed; /* balance was given up for fewer distributed transactions */
};

/* Keeps every FOLDS-th block of transactions out in turn, as later transactions would be. */
static void mark_fold(unsigned char *used, uint32_t transactions, uint32_t fold)
{
    for (uint32_t t = 0; t < transactions; t++)
        used[t] = (uint64_t)t * FOLDS / transactions != fold;
}

/* Cross-validation: each block of transactions is judged by a placement made without it; of a large
 * workload only the last block, scaled up. */
static enum cleave_status validate(struct candidate *candidate, struct cleave_error *error)
{
    const struct cleave_key_space *space = &candidate->space;
    uint32_t transactions = space->input->workload->transactions;
    uint32_t first = transactions > LARGE ? FOLDS - 1 : 0;
    unsigned char *used = malloc((size_t)transactions + 1);
    enum cleave_status status = CLEAVE_OK;
    if (!used)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the placement");
    for (uint32_t f = first; !status && f < FOLDS; f++) {
        bool balanced;
        mark_fold(used, transactions, f);
        status = cleave__keys_place(space, used, space->input->steer->epsilon, candidate->shard,
                                    &balanced, error);
        if (!status)
            candidate->unseen += cleave__keys_count(space, candidate->shard, used, 0);
    }
    if (first)
        candidate->unseen *= FOLDS;
    free(used);
    return status;
}

/* Work of the busiest shard under a balance, judged by the last block of transactions when it is
 * placed without them. `shard` is scratch. */
static enum cleave_status busiest_unseen(const struct cleave_key_space *space, double epsilon,
                                         uint32_t *shard, double *busiest,
                                         struct cleave_error *error)
{
    uint32_t transactions = space->input->workload->transactions;
    unsigned char *used = malloc((size_t)transactions + 1);
    bool balanced;
    if (!used)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the placement");
    mark_fold(used, transactions, FOLDS - 1);
    enum cleave_status status = cleave__keys_place(space, used, epsilon, shard, &balanced, error);
    if (!status)
        *busiest = cleave__keys_busiest(space, shard, used, 0);
    free(used);
    return status;
}

/* Balance is worth having for the work of the busiest shard. When it costs so many distributed
 * transactions that even the busiest shard is better off without, now and for transactions not
 * seen, the aim is relaxed. */
static enum cleave_status relax(struct candidate *candidate, struct cleave_error *error)
{
    static const double factors[] = {2, 5, 0};
    const struct cleave_key_space *space = &candidate->space;
    uint32_t shards = space->input->shards;
    double aim = space->input->steer->epsilon, unseen, best = aim;
    double busiest = cleave__keys_busiest(space, candidate->shard, NULL, 0);
    if (busiest * shards < 1.25) /* an even share of local work is 1: little is to be had */
        return CLEAVE_OK;
    uint32_t *trial = malloc((space->vertices.count + 1) * sizeof *trial);
    if (!trial)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the placement");
    enum cleave_status status = busiest_unseen(space, aim, trial, &unseen, error);
    for (size_t i = 0; !status && i < sizeof factors / sizeof *factors; i++) {
        double epsilon = factors[i] > 0 ? aim * factors[i] : shards, now;
        status = busiest_unseen(space, epsilon, trial, &now, error);
        if (!status && now < unseen * 0.95) {
            unseen = now;
            best = epsilon;
        }
    }
    bool balanced;
    if (!status && best > aim)
        status = cleave__keys_place(space, NULL, best, trial, &balanced, error);
    if (!status && best > aim && cleave__keys_busiest(space, trial, NULL, 0) < busiest * 0.95) {
        memcpy(candidate->shard, trial, space->vertices.count * sizeof *trial);
        candidate->relaxed = true;
    }
    free(trial);
    return status;
}

static enum cleave_status judge(struct candidate *candidate, bool compared,
                                struct cleave_error *error)
{
    const struct cleave_key_space *space = &candidate->space;
    enum cleave_status status = CLEAVE_OK;
    candidate->shard = malloc((space->vertices.count + 1) * sizeof *candidate->shard);
    if (!candidate->shard)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the placement");
    if (!status && compared)
        status = validate(candidate, error);
    if (!status)
        status = cleave__keys_place(space, NULL, space->input->steer->epsilon, candidate->shard,
                                    &candidate->balanced, error);
    if (!status)
        candidate->seen = cleave__keys_count(space, candidate->shard, NULL, 0);
    return status;
}

/* What a candidate costs: transactions not seen count double, they are what the placement is for.
 * To copy everything must be worth its storage: it has to win by a tenth. */
static double price(const struct cleave_scheme_input *input, const struct candidate *candidate)
{
    bool keyed = false;
    for (uint32_t t = 0; t < input->schema->table_count; t++)
        keyed |= candidate->design.tables[t].key != CLEAVE_ABSENT;
    double cost = 4.0 * (double)candidate->unseen + (double)candidate->seen;
    return keyed ? cost : cost * 1.1 + 1;
}

static void candidate_free(struct candidate *candidate)
{
    cleave__keys_free(&candidate->space);
    free(candidate->shard);
}

/* Every table copied that may be: what to fall back on when no key holds for transactions not seen.
 * CLEAVE_NOT_FOUND when some table that the workload shows may not be copied. */
static enum cleave_status copy_all(const struct cleave_scheme_input *input,
                                   struct cleave_arena *arena, struct cleave_design *out,
                                   struct cleave_error *error)
{
    uint32_t tables = input->schema->table_count;
    struct cleave_table_design *list = cleave__arena_zalloc(arena, tables * sizeof *list);
    if (!list)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the design");
    for (uint32_t t = 0; t < tables; t++) {
        list[t] = (struct cleave_table_design){.key = CLEAVE_ABSENT, .second = CLEAVE_ABSENT};
        list[t].replicated = input->profile->tables[t].accesses > 0;
        if (list[t].replicated && !cleave__may_replicate(input, t))
            return CLEAVE_NOT_FOUND;
    }
    *out = (struct cleave_design){.tables = list};
    return CLEAVE_OK;
}

/* Fills `list`; returns how many distinct designs there are through `count`. */
static enum cleave_status find_designs(const struct cleave_scheme_input *input,
                                       struct cleave_arena *arena, struct candidate *list,
                                       uint32_t *count, struct cleave_error *error)
{
    static const double pessimism[SEARCHES] = {1.0, 0.3, 0.0};
    *count = 0;
    for (uint32_t i = 0; i < DESIGNS; i++) {
        struct cleave_design design;
        enum cleave_status status =
            i < SEARCHES ? cleave__design_search(input, pessimism[i], arena, &design, error)
                         : copy_all(input, arena, &design, error);
        if (status == CLEAVE_NOT_FOUND)
            continue;
        if (status)
            return status;
        bool known = false;
        for (uint32_t j = 0; j < *count; j++)
            known |= cleave__design_equal(input->schema, &design, &list[j].design);
        if (!known)
            list[(*count)++].design = design;
    }
    return CLEAVE_OK;
}

/* Lines of words. */
struct notes {
    char text[4096];
    size_t length;
};

static void note(struct notes *notes, const char *format, ...) CLEAVE_PRINTF(2, 3);
static void note(struct notes *notes, const char *format, ...)
{
    size_t room = sizeof notes->text - notes->length;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(notes->text + notes->length, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        notes->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* Names each decision that the placement could not follow. */
static void note_unmet(const struct cleave_hgp *hgp, struct cleave_arena *arena,
                       struct notes *notes)
{
    const struct cleave_steer *steer = hgp->input->steer;
    for (uint32_t r = 0; r < steer->rule_count; r++) {
        const struct cleave_rule *rule = &steer->rules[r];
        const struct cleave_schema *schema = hgp->input->schema;
        uint32_t table = cleave__schema_table(schema, rule->a.table, strlen(rule->a.table));
        if (rule->kind == CLEAVE_PIN && table != CLEAVE_ABSENT &&
            hgp->design.tables[table].replicated)
            note(notes, "not followed: %s is copied to every shard, so its rows cannot be pinned\n",
                 rule->a.table);
        if (rule->kind != CLEAVE_TOGETHER && rule->kind != CLEAVE_APART)
            continue;
        bool together = rule->kind == CLEAVE_TOGETHER;
        uint32_t a = cleave__keys_selected(&hgp->space, &rule->a, arena);
        uint32_t b = cleave__keys_selected(&hgp->space, &rule->b, arena);
        bool known = a != CLEAVE_ABSENT && b != CLEAVE_ABSENT;
        if (!known || together != (cleave__keys_shard(&hgp->space, hgp->shard, a) ==
                                   cleave__keys_shard(&hgp->space, hgp->shard, b)))
            note(notes, "not followed: %s %s.%s=%s %s.%s=%s%s\n", together ? "together" : "apart",
                 rule->a.table, rule->a.column, rule->a.value, rule->b.table, rule->b.column,
                 rule->b.value, known ? "" : " (both columns must be their tables' keys)");
    }
}

const char *cleave__hgp_notes(const struct cleave_hgp *hgp, struct cleave_arena *arena)
{
    const struct cleave_scheme_input *input = hgp->input;
    struct notes notes = {.length = 0};
    for (uint32_t t = 0; t < input->schema->table_count; t++) {
        const struct cleave_table_profile *profile = &input->profile->tables[t];
        if (hgp->design.tables[t].replicated)
            note(&notes,
                 "%s is copied to every shard: %llu transactions only read it, %llu write it\n",
                 input->schema->tables[t].name, (unsigned long long)profile->reads,
                 (unsigned long long)profile->writes);
        if (hgp->space.second_class[t] != CLEAVE_ABSENT)
            note(&notes,
                 "%s has a copy by %s and one by %s: %llu transactions only read it, %llu write "
                 "it\n",
                 input->schema->tables[t].name,
                 input->schema->tables[t].columns[hgp->design.tables[t].key].name,
                 input->schema->tables[t].columns[hgp->design.tables[t].second].name,
                 (unsigned long long)profile->reads, (unsigned long long)profile->writes);
    }
    if (hgp->relaxed)
        note(&notes,
             "balance within %.0f %% would cost so many distributed transactions that every shard "
             "is "
             "better off without (--strict keeps it)\n",
             input->steer->epsilon * 100);
    else if (!hgp->balanced)
        note(&notes, "no placement of whole keys keeps every shard within %.0f %% of its share%s\n",
             input->steer->epsilon * 100,
             input->steer->strict ? "" : "; this is the nearest (--strict splits keys)");
    note_unmet(hgp, arena, &notes);
    uint32_t moved = 0;
    for (uint32_t g = 0; hgp->grouped && g < hgp->moves.groups.list.count; g++)
        moved += hgp->moves.shard[g] != hgp->moves.rule[g];
    if (moved)
        note(&notes, "%u tuple groups of %zu leave their key's shard\n", moved,
             hgp->moves.groups.list.count);
    return cleave__arena_copy(arena, notes.text, notes.length);
}

enum cleave_status cleave__hgp_begin(const struct cleave_scheme_input *input,
                                     struct cleave_hgp *out, struct cleave_error *error)
{
    struct candidate list[DESIGNS];
    memset(list, 0, sizeof list);
    memset(out, 0, sizeof *out);
    out->input = input;
    uint32_t count = 0, best = 0;
    enum cleave_status status = find_designs(input, &out->arena, list, &count, error);
    for (uint32_t i = 0; !status && i < count; i++) {
        status = cleave__keys_build(input, &list[i].design, &list[i].space, error);
        if (!status)
            status = judge(&list[i], count > 1, error);
        if (!status && i != best && price(input, &list[i]) < price(input, &list[best]))
            best = i;
    }
    if (!status && !input->steer->strict && input->shards > 1)
        status = relax(&list[best], error);
    for (uint32_t i = 0; i < count; i++) {
        if (status || i != best)
            candidate_free(&list[i]);
    }
    if (!status) {
        out->design = list[best].design;
        out->space = list[best].space;
        out->space.design = &out->design;
        out->shard = list[best].shard;
        out->balanced = list[best].balanced;
        out->relaxed = list[best].relaxed;
    }
    /* Exceptions and second copies do not mix (layout.h). */
    if (!status && input->steer->exceptions && input->steer->attributes > 1 && !out->space.twice) {
        status = cleave__moves_build(&out->space, out->shard, NULL, 0, &out->moves, error);
        out->grouped = !status;
        if (out->grouped)
            cleave__moves_improve(&out->moves);
    }
    if (status)
        cleave__hgp_free(out);
    return status;
}

enum cleave_status cleave__hgp_layout(const struct cleave_hgp *hgp, struct cleave_arena *arena,
                                      struct cleave_layout *layout, struct cleave_error *error)
{
    return cleave__hgp_emit(&hgp->space, hgp->shard, hgp->grouped ? &hgp->moves : NULL, arena,
                            layout, error);
}

void cleave__hgp_free(struct cleave_hgp *hgp)
{
    if (hgp->grouped)
        cleave__moves_free(&hgp->moves);
    cleave__keys_free(&hgp->space);
    free(hgp->shard);
    CLEAVE_VECTOR_FREE(&hgp->phantoms);
    cleave__arena_free(&hgp->arena);
    memset(hgp, 0, sizeof *hgp);
}

enum cleave_status cleave__place_hgp(const struct cleave_scheme_input *input,
                                     struct cleave_arena *arena, struct cleave_layout *layout,
                                     const char **notes, struct cleave_error *error)
{
    struct cleave_hgp hgp;
    enum cleave_status status = cleave__hgp_begin(input, &hgp, error);
    if (status)
        return status;
    bool balanced = hgp.balanced || !input->steer->strict;
    for (uint32_t i = 0; !status && !balanced && i < input->steer->iterations; i++) {
        uint32_t cut;
        status = cleave__hgp_split(&hgp, input->steer->split_top, input->steer->rank_by_ratio, &cut,
                                   error);
        if (!status)
            status = cleave__hgp_regroup(&hgp, &balanced, error);
        if (!status && cut == 0)
            break;
    }
    if (!status)
        status = cleave__hgp_layout(&hgp, arena, layout, error);
    if (!status && notes) {
        *notes = cleave__hgp_notes(&hgp, arena);
        if (!*notes)
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the notes");
    }
    cleave__hgp_free(&hgp);
    return status;
}

#include "cli/partition_replicate.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/vector.h"
#include "cli/options.h"
#include "model/numbers.h"

enum { KEY_REPLICATE = 0x5000, KEY_COPIES, KEY_BUDGET, KEY_BLOCK_BUDGET };

static const struct argp_option replica_options[] = {
    {"replicate", KEY_REPLICATE, "FILE", 0,
     "A line a vertex: what writing one further copy of it costs (how often it is written), or -1 "
     "for no copies. Says by how much copies lower the objective",
     0},
    {"copies", KEY_COPIES, "FILE", 0,
     "With --replicate: write a line a vertex, all its blocks with blanks between", 0},
    {"replica-budget", KEY_BUDGET, "W[%][,W[%]...]", 0,
     "With --replicate: most that further copies may weigh together, or percent of all there is; "
     "one each weight (no limit)",
     0},
    {"replica-block-budget", KEY_BLOCK_BUDGET, "W[%][,W[%]...]", 0,
     "Likewise in each block; percent of an even share", 0},
    {0},
};

static uint32_t read_budgets(struct argp_state *state, const char *option, const char *value,
                             struct cleave_replica_budget *out)
{
    uint32_t count = 0;
    for (const char *at = value;; at++) {
        char *end;
        errno = 0;
        double amount = strtod(at, &end);
        bool number = end != at && isfinite(amount) && amount >= 0, percent = *end == '%';
        end += percent;
        if (!number || (*end && *end != ','))
            argp_error(state, "%s takes weights or percents with commas between, not '%s'", option,
                       value);
        if (count == CLEAVE_WEIGHTS_MAX)
            argp_error(state, "%s takes at most %d numbers", option, CLEAVE_WEIGHTS_MAX);
        out[count++] = (struct cleave_replica_budget){amount, percent};
        if (!*end)
            return count;
        at = end;
    }
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct cleave_replicas *r = state->input;
    switch (key) {
    case KEY_REPLICATE:
        r->costs = value;
        return 0;
    case KEY_COPIES:
        r->copies = value;
        return 0;
    case KEY_BUDGET:
        r->budgets = read_budgets(state, "--replica-budget", value, r->budget);
        return 0;
    case KEY_BLOCK_BUDGET:
        r->block_budgets = read_budgets(state, "--replica-block-budget", value, r->block_budget);
        return 0;
    case ARGP_KEY_END:
        if (!r->costs && (r->copies || r->budgets || r->block_budgets))
            argp_error(state, "--copies, --replica-budget and --replica-block-budget need "
                              "--replicate");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cleave__replicas_argp = {replica_options, parse, NULL, NULL, NULL, NULL, NULL};

struct chosen {
    CLEAVE_VECTOR(uint32_t) vertices;
    CLEAVE_VECTOR(int64_t) costs;
};

static enum cleave_status read_costs(const char *path, uint32_t vertices, struct chosen *out,
                                     struct cleave_error *error)
{
    struct cleave__numbers in;
    enum cleave_status status = cleave__numbers_open(&in, path, error);
    if (status)
        return status;
    for (uint32_t v = 0; !status && v < vertices; v++) {
        int64_t cost = 0;
        status = cleave__numbers_line(&in, error);
        if (status == CLEAVE_END)
            status =
                cleave__numbers_fail(&in, error, "file ends after %u of %u vertices", v, vertices);
        if (!status)
            status = cleave__numbers_next(&in, "write cost", -1, INT64_MAX, &cost, error);
        if (!status && !cleave__numbers_done(&in))
            status = cleave__numbers_fail(&in, error, "more than one number on the line");
        if (!status && cost >= 0 &&
            (!CLEAVE_PUSH(&out->vertices, v) || !CLEAVE_PUSH(&out->costs, cost)))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: no memory", path);
    }
    if (!status)
        status = cleave__numbers_finish(&in, "the hypergraph has vertices", error);
    cleave__numbers_close(&in);
    return status;
}

static int64_t amount_of(const struct cleave_replica_budget *budget, int64_t whole)
{
    double amount = budget->percent ? (double)whole / 100 * budget->amount : budget->amount;
    return amount < 9e18 ? (int64_t)amount : INT64_MAX;
}

/* The weights named on the command line; those that were not have no limit. */
static enum cleave_status fill_budgets(const struct cleave_replicas *r,
                                       const struct cleave_hypergraph *h, uint32_t blocks,
                                       int64_t **budget, int64_t **block_budget,
                                       struct cleave_error *error)
{
    uint32_t W = h->weights;
    if (r->budgets > W || r->block_budgets > W)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "--replica-budget: more numbers than the %u weights of vertices",
                                W);
    *budget = malloc(W * sizeof **budget);
    *block_budget = malloc((size_t)W * blocks * sizeof **block_budget);
    if (!*budget || !*block_budget)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u blocks", blocks);
    for (uint32_t c = 0; c < W; c++) {
        int64_t whole = 0;
        for (uint32_t v = 0; v < h->vertices; v++)
            whole += h->vertex_weight[(size_t)v * W + c];
        (*budget)[c] = c < r->budgets ? amount_of(&r->budget[c], whole) : INT64_MAX;
        for (uint32_t b = 0; b < blocks; b++)
            (*block_budget)[(size_t)b * W + c] =
                c < r->block_budgets ? amount_of(&r->block_budget[c], whole / blocks) : INT64_MAX;
    }
    return CLEAVE_OK;
}

static enum cleave_status write_copies(const char *path, const struct cleave_hypergraph *h,
                                       const struct chosen *chosen, const uint32_t *block,
                                       const struct cleave_copies *copies,
                                       struct cleave_error *error)
{
    struct cleave__output output;
    enum cleave_status status = cleave__output_open(&output, path, error);
    if (status)
        return status;
    for (uint32_t v = 0, i = 0; v < h->vertices; v++) {
        if (i == chosen->vertices.count || chosen->vertices.data[i] != v) {
            fprintf(output.file, "%" PRIu32 "\n", block[v]);
            continue;
        }
        for (uint64_t j = copies->offset[i]; j < copies->offset[i + 1]; j++)
            fprintf(output.file, "%s%" PRIu32, j > copies->offset[i] ? " " : "", copies->block[j]);
        fputc('\n', output.file);
        i++;
    }
    return cleave__output_commit(&output, error);
}

static bool agree(const struct cleave_replicate_result *a, const struct cleave_replicate_result *b,
                  uint32_t weights)
{
    bool same = a->before == b->before && a->nets == b->nets && a->writes == b->writes &&
                a->saved == b->saved && a->copies == b->copies;
    for (uint32_t c = 0; c < weights; c++)
        same = same && a->added[c] == b->added[c];
    return same;
}

static enum cleave_status divide(struct cleave_replicas *r, const struct cleave_hypergraph *h,
                                 const struct cleave_partition_options *options,
                                 struct cleave_replicate_options *o, const struct chosen *chosen,
                                 uint32_t *block, struct cleave_partition_result *result,
                                 struct cleave_error *error)
{
    struct cleave_copies copies = {0};
    struct cleave_replicate_result recount;
    struct cleave_error late = {0};
    enum cleave_status answered =
        cleave_replicate_partition(h, options, o, block, result, &copies, &r->result, error);
    if (answered && answered != CLEAVE_UNSATISFIABLE)
        return answered;
    o->blocks = options->blocks;
    o->objective = options->objective;
    enum cleave_status status = cleave_replicate_measure(h, o, block, &copies, &recount, &late);
    if (!status && !agree(&r->result, &recount, h->weights))
        status = cleave_error_set(&late, CLEAVE_CORRUPT,
                                  "copies are said to save %" PRId64 ", a recount says %" PRId64
                                  ": please report this",
                                  r->result.saved, recount.saved);
    if (!status && r->copies)
        status = write_copies(r->copies, h, chosen, block, &copies, &late);
    cleave_copies_free(&copies);
    r->made = !status;
    r->chosen = o->count;
    if (status)
        *error = late;
    return status ? status : answered;
}

enum cleave_status
cleave__replicas_partition(struct cleave_replicas *r, const struct cleave_hypergraph *h,
                           const struct cleave_partition_options *options, uint32_t *block,
                           struct cleave_partition_result *result, struct cleave_error *error)
{
    struct chosen chosen = {0};
    int64_t *budget = NULL, *block_budget = NULL;
    if (!r->costs)
        return cleave_partition(h, options, block, result, error);
    enum cleave_status status = read_costs(r->costs, h->vertices, &chosen, error);
    if (!status)
        status = fill_budgets(r, h, options->blocks, &budget, &block_budget, error);
    if (!status) {
        struct cleave_replicate_options o = {.vertices = chosen.vertices.data,
                                             .write_cost = chosen.costs.data,
                                             .count = (uint32_t)chosen.vertices.count,
                                             .budget = r->budgets ? budget : NULL,
                                             .block_budget =
                                                 r->block_budgets ? block_budget : NULL};
        status = divide(r, h, options, &o, &chosen, block, result, error);
    }
    free(budget);
    free(block_budget);
    CLEAVE_VECTOR_FREE(&chosen.vertices);
    CLEAVE_VECTOR_FREE(&chosen.costs);
    return status;
}

void cleave__replicas_print(const struct cleave_replicas *r, FILE *out)
{
    if (!r->made)
        return;
    fprintf(out,
            "copies: %" PRIu64 " more of %" PRIu32 " vertices; objective %" PRId64 " -> %" PRId64
            " and writes %" PRId64 ": %" PRId64 " saved (recounted)\n",
            r->result.copies, r->chosen, r->result.before, r->result.nets, r->result.writes,
            r->result.saved);
}

struct json_t *cleave__replicas_json(const struct cleave_replicas *r, uint32_t weights)
{
    if (!r->made)
        return json_null();
    json_t *added = json_array();
    for (uint32_t c = 0; c < weights; c++)
        json_array_append_new(added, json_integer((json_int_t)r->result.added[c]));
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "chosen", (json_int_t)r->chosen,
                     "copies", (json_int_t)r->result.copies, "before", (json_int_t)r->result.before,
                     "nets", (json_int_t)r->result.nets, "writes", (json_int_t)r->result.writes,
                     "saved", (json_int_t)r->result.saved, "added", added);
}

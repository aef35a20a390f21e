/* Options of cleave tables hypergraph. */
#include <stdlib.h>
#include <string.h>

#include "cli/tables_hypergraph.h"

enum {
    KEY_NAMES = 0x3000,
    KEY_WRITES,
    KEY_COPY,
    KEY_START,
    KEY_START_FROM,
    KEY_WEIGHTS,
    KEY_ATTRIBUTES,
    KEY_GRAIN,
    KEY_LEAVE_OUT,
    KEY_REPLICATE,
    KEY_NO_READ_ONLY,
    KEY_NO_DERIVED
};

const char *const cleave__weight_names[] = {"size", "rows", "access", "writes", "one", NULL};

const struct argp_option cleave__hypergraph_options[] = {
    {0, 0, 0, 0, "What is written:", 4},
    {"output", 'o', "FILE", 0, "The hypergraph (.hgr); required", 4},
    {"names", KEY_NAMES, "FILE", 0, "What each vertex is: table, tab, predicate; one a line", 4},
    {"writes", KEY_WRITES, "FILE", 0,
     "Transactions that write each vertex, one a line, as cleave partition's --replicate takes it",
     4},
    {"copy", KEY_COPY, "TABLE[,TABLE]", 0,
     "With --writes: -1 for vertices of all other tables (repeatable)", 4},
    {"start-from", KEY_START_FROM, "NAMES,BLOCKS", 0,
     "An old placement, by the names of then: carried over to the new numbers. A vertex that it "
     "does not know goes where most of its transactions' other vertices are",
     4},
    {"start", KEY_START, "FILE", 0, "With --start-from: write it here (FILE.start beside -o)", 4},
    {0, 0, 0, 0, "The hypergraph:", 5},
    {"attributes", KEY_ATTRIBUTES, "N", 0,
     "Most accessed attributes that cut a table; 0: one vertex a table (2)", 5},
    {"grain", KEY_GRAIN, "TABLE=COLUMN[,COLUMN]", 0,
     "Cut this table by these columns; none: one vertex (repeatable)", 5},
    {"leave-out", KEY_LEAVE_OUT, "TABLE[,TABLE]", 0, "As if nothing touched it (repeatable)", 5},
    {"replicate", KEY_REPLICATE, "TABLE[,TABLE]", 0,
     "Copied everywhere: no vertices; transactions that write it are counted (repeatable)", 5},
    {"no-read-only", KEY_NO_READ_ONLY, 0, 0, "Leave out tables that nothing writes", 5},
    {"no-derived-keys", KEY_NO_DERIVED, 0, 0, "Do not see keys in columns that spell them", 5},
    {"weights", KEY_WEIGHTS, "LIST", 0,
     "Of a vertex, in this order: size (bytes where every table's row size is known, else rows), "
     "rows, access, writes, one (size,access)",
     5},
    {0},
};

static void append(struct argp_state *state, struct cleave_list *list, const char *value)
{
    if (list->count == CLEAVE_LISTED_MAX)
        argp_error(state, "more than %d tables listed", CLEAVE_LISTED_MAX);
    list->values[list->count++] = value;
}

/* Splits "a,b,c" in place. */
static void append_all(struct argp_state *state, const char *option, struct cleave_list *list,
                       char *value)
{
    for (char *word; (word = cleave__option_item(state, option, &value));)
        append(state, list, word);
}

static void read_weights(struct argp_state *state, struct cleave_hypergraph_arguments *a,
                         char *value)
{
    a->weight_count = 0;
    for (char *word; (word = cleave__option_item(state, "--weights", &value));) {
        if (a->weight_count == CLEAVE_WEIGHTS_MAX)
            argp_error(state, "more than %d weights", CLEAVE_WEIGHTS_MAX);
        a->weights[a->weight_count++] = (enum cleave_vertex_weight)cleave__option_choice(
            state, "--weights", word, cleave__weight_names);
    }
}

static void check(struct argp_state *state, struct cleave_hypergraph_arguments *a)
{
    if (!a->output)
        argp_error(state, "where to? Name the hypergraph's file with -o");
    if (a->copy.count && !a->writes)
        argp_error(state, "--copy needs --writes");
    if (a->start && !a->start_from)
        argp_error(state, "--start needs --start-from");
    if (a->start_from) {
        char *comma = strrchr(a->start_from, ',');
        if (!comma || comma == a->start_from || !comma[1])
            argp_error(state, "--start-from takes two files with a comma between: NAMES,BLOCKS");
        a->old_names = strndup(a->start_from, (size_t)(comma - a->start_from));
        a->old_blocks = comma + 1;
        if (!a->old_names)
            argp_failure(state, 1, 0, "no memory");
        if (!a->start && !strcmp(a->output, "-"))
            argp_error(state, "--start-from needs --start FILE when -o is standard output");
    }
    if (!strcmp(a->output, "-") && (a->tables.common.json || a->tables.common.csv))
        argp_error(state, "-o - and --json or --csv both want standard output");
}

error_t cleave__hypergraph_parse(int key, char *value, struct argp_state *state)
{
    struct cleave_hypergraph_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->tables;
        state->child_inputs[1] = &a->tables.common;
        return 0;
    case 'o':
        a->output = value;
        return 0;
    case KEY_NAMES:
        a->names = value;
        return 0;
    case KEY_WRITES:
        a->writes = value;
        return 0;
    case KEY_COPY:
        append_all(state, "--copy", &a->copy, value);
        return 0;
    case KEY_START:
        a->start = value;
        return 0;
    case KEY_START_FROM:
        a->start_from = value;
        return 0;
    case KEY_WEIGHTS:
        read_weights(state, a, value);
        return 0;
    case KEY_ATTRIBUTES:
        a->attributes =
            (uint32_t)cleave__option_integer(state, "--attributes", value, 0, CLEAVE_GRAIN_MAX);
        return 0;
    case KEY_GRAIN:
        if (!strchr(value, '='))
            argp_error(state, "--grain takes TABLE=COLUMN,COLUMN, not '%s'", value);
        append(state, &a->grain, value);
        return 0;
    case KEY_LEAVE_OUT:
        append_all(state, "--leave-out", &a->leave_out, value);
        return 0;
    case KEY_REPLICATE:
        append_all(state, "--replicate", &a->replicate, value);
        return 0;
    case KEY_NO_READ_ONLY:
        a->no_read_only = true;
        return 0;
    case KEY_NO_DERIVED:
        a->no_derived = true;
        return 0;
    case ARGP_KEY_END:
        check(state, a);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

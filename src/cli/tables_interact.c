#include "cli/tables_interact.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 8, LINE = 4096 };

static const char help[] =
    "  go                                  next iteration: anew after a decision, else refine\n"
    "  stop                                keep the best placement and end\n"
    "  pin TABLE[.COLUMN=VALUE] SHARD      rows stay on a shard\n"
    "  together T.C=V T.C=V                rows share a shard\n"
    "  apart T.C=V T.C=V                   rows are on different shards\n"
    "  split T.C=V | merge T.C=V           rows of one key may be divided; take that back\n"
    "  replicate TABLE always|never|auto   a copy on every shard\n"
    "  key TABLE COLUMN|auto               partition by this column\n"
    "  weights SIZE ACCESS                 what balance minds; 0 leaves one out\n"
    "  capacity SHARD STORAGE ACCESSES NETWORK SHARE   limits of a node; 0: none\n"
    "  epsilon SHARE [strict]              balance aimed at; strict: before fewer distributed\n"
    "  undo                                take the last decision back\n"
    "  show | explain | save FILE | help\n";

void cleave__interact_show(FILE *out, const struct cleave_session_result *result,
                           const struct cleave_session_result *last)
{
    double train = result->train_transactions ? 100.0 * (double)result->train_distributed /
                                                    (double)result->train_transactions
                                              : 0;
    double held = result->held_out_transactions ? 100.0 * (double)result->held_out_distributed /
                                                      (double)result->held_out_transactions
                                                : 0;
    fprintf(out, "iteration %" PRIu32 ": %s\n", result->iteration, result->action);
    fprintf(out, "  distributed    %" PRIu64 " of %" PRIu64 " (%.2f %%)", result->train_distributed,
            result->train_transactions, train);
    if (last)
        fprintf(out, "  %+" PRId64, (int64_t)(result->train_distributed - last->train_distributed));
    fprintf(out, "\n");
    if (result->held_out_transactions) {
        fprintf(out, "  held out       %" PRIu64 " of %" PRIu64 " (%.2f %%)",
                result->held_out_distributed, result->held_out_transactions, held);
        if (last)
            fprintf(out, "  %+" PRId64,
                    (int64_t)(result->held_out_distributed - last->held_out_distributed));
        fprintf(out, "\n");
    }
    fprintf(out, "  imbalance      size %.1f %%, accesses %.1f %%; skew factor %.4f",
            100 * result->imbalance_size, 100 * result->imbalance_access, result->skew_factor);
    if (last)
        fprintf(out, "  %+.4f", result->skew_factor - last->skew_factor);
    fprintf(out, "\n");
    if (last)
        fprintf(out, "  moved          about %" PRIu64 " rows since the last\n",
                result->moved_rows);
    if (!result->feasible)
        fprintf(out, "  NOT FEASIBLE   %s\n", result->infeasible);
    for (const char *line = result->notes; *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* "table.column=value" or "table" into parts; the word is cut up in place. */
static bool parse_rows(char *word, struct cleave_rows *rows)
{
    char *equals = strchr(word, '=');
    *rows = (struct cleave_rows){.table = word};
    if (!equals)
        return true;
    *equals = 0;
    char *dot = strrchr(word, '.');
    if (!dot)
        return false;
    *dot = 0;
    rows->column = dot + 1;
    rows->value = equals + 1;
    return true;
}

static bool parse_number(const char *word, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(word, &end);
    return end != word && *end == 0 && !errno && isfinite(*out);
}

static bool parse_shard(const char *word, uint32_t *out)
{
    double number;
    if (!parse_number(word, &number) || number < 0 || number > 1e6 || number != floor(number))
        return false;
    *out = (uint32_t)number;
    return true;
}

/* Splits on blanks; '...' and "..." keep blanks. */
static int split_words(char *line, char **words)
{
    int count = 0;
    char *to = line;
    for (char *c = line; *c && count < WORDS_MAX;) {
        while (*c == ' ' || *c == '\t' || *c == '\n' || *c == '\r')
            c++;
        if (!*c)
            break;
        words[count++] = to;
        char quote = 0;
        for (; *c && (quote || !strchr(" \t\r\n", *c)); c++) {
            if (quote ? *c == quote : *c == '\'' || *c == '"')
                quote = quote ? 0 : *c;
            else
                *to++ = *c;
        }
        if (*c)
            c++;
        *to++ = 0;
    }
    return count;
}

/* The lines of the help that begin with a verb, as one. */
static enum cleave_status usage(const char *verb, struct cleave_error *error)
{
    size_t length = strlen(verb);
    for (const char *line = help; *line; line = strchr(line, '\n') + 1) {
        if (strncmp(line + 2, verb, length) == 0 && (line[2 + length] == ' '))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "usage:%.*s",
                                    (int)strcspn(line, "\n"), line);
    }
    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "'%s' is no command; type help", verb);
}

static enum cleave_status decide(struct cleave_session *session, char **words, int count,
                                 struct cleave_error *error)
{
    const char *verb = words[0];
    struct cleave_rows a, b;
    uint32_t shard;
    double n[4];
    if (strcmp(verb, "undo") == 0)
        return cleave_session_undo(session, error);
    if (strcmp(verb, "pin") == 0 && count == 3 && parse_rows(words[1], &a) &&
        parse_shard(words[2], &shard))
        return cleave_session_pin(session, &a, shard, error);
    if ((strcmp(verb, "together") == 0 || strcmp(verb, "apart") == 0) && count == 3 &&
        parse_rows(words[1], &a) && parse_rows(words[2], &b))
        return *verb == 't' ? cleave_session_together(session, &a, &b, error)
                            : cleave_session_apart(session, &a, &b, error);
    if ((strcmp(verb, "split") == 0 || strcmp(verb, "merge") == 0) && count == 2 &&
        parse_rows(words[1], &a))
        return *verb == 's' ? cleave_session_split(session, &a, error)
                            : cleave_session_merge(session, &a, error);
    if (strcmp(verb, "replicate") == 0 && count == 3) {
        static const char *const modes[] = {"auto", "always", "never"};
        for (int m = 0; m < 3; m++) {
            if (strcmp(words[2], modes[m]) == 0)
                return cleave_session_replicate(session, words[1], (enum cleave_replication)m,
                                                error);
        }
        return usage(verb, error);
    }
    if (strcmp(verb, "key") == 0 && count == 3)
        return cleave_session_key(session, words[1],
                                  strcmp(words[2], "auto") == 0 ? NULL : words[2], error);
    if (strcmp(verb, "weights") == 0 && count == 3 && parse_number(words[1], &n[0]) &&
        parse_number(words[2], &n[1]))
        return cleave_session_weights(session, n[0], n[1], error);
    if (strcmp(verb, "capacity") == 0 && count == 6 && parse_shard(words[1], &shard) &&
        parse_number(words[2], &n[0]) && parse_number(words[3], &n[1]) &&
        parse_number(words[4], &n[2]) && parse_number(words[5], &n[3]))
        return cleave_session_capacity(session, shard, n[0], n[1], n[2], n[3], error);
    if (strcmp(verb, "epsilon") == 0 && (count == 2 || count == 3) &&
        parse_number(words[1], &n[0]) && (count == 2 || strcmp(words[2], "strict") == 0))
        return cleave_session_epsilon(session, n[0], count == 3, error);
    return usage(verb, error);
}

static enum cleave_status go(struct cleave_session *session, FILE *out, uint32_t *shown,
                             struct cleave_error *error)
{
    struct cleave_session_result result, last;
    bool any = *shown > 0 && cleave_session_result_at(session, *shown - 1, &last);
    enum cleave_status status = cleave_session_iterate(session, &result, error);
    if (status)
        return status;
    cleave__interact_show(out, &result, any ? &last : NULL);
    *shown = result.iteration;
    return CLEAVE_OK;
}

static enum cleave_status obey(struct cleave_session *session, FILE *out, char **words, int count,
                               uint32_t *shown, struct cleave_error *error)
{
    struct cleave_session_result best;
    if (strcmp(words[0], "help") == 0) {
        fputs(help, out);
        return CLEAVE_OK;
    }
    if (strcmp(words[0], "go") == 0 && count == 1)
        return go(session, out, shown, error);
    if (strcmp(words[0], "show") == 0) {
        if (cleave_session_best(session, &best))
            cleave__interact_show(out, &best, NULL);
        return CLEAVE_OK;
    }
    if (strcmp(words[0], "explain") == 0) {
        char *text;
        enum cleave_status status = cleave_session_explain(session, &text, error);
        if (!status) {
            fputs(text, out);
            free(text);
        }
        return status;
    }
    if (strcmp(words[0], "save") == 0 && count == 2)
        return cleave_session_save(session, words[1], error);
    enum cleave_status status = decide(session, words, count, error);
    if (!status)
        fprintf(out, "noted; go places anew\n");
    return status;
}

enum cleave_status cleave__interact(struct cleave_session *session, FILE *in, FILE *out,
                                    struct cleave_error *error)
{
    char line[LINE];
    uint32_t shown = 0;
    enum cleave_status status = go(session, out, &shown, error);
    if (status)
        return status;
    for (;;) {
        fputs("cleave> ", out);
        fflush(out);
        if (!fgets(line, sizeof line, in))
            break;
        char *words[WORDS_MAX];
        int count = split_words(line, words);
        if (count == 0)
            continue;
        if (strcmp(words[0], "stop") == 0 || strcmp(words[0], "quit") == 0)
            break;
        struct cleave_error wrong;
        status = obey(session, out, words, count, &shown, &wrong);
        if (status == CLEAVE_INTERRUPTED || status == CLEAVE_NO_MEMORY) {
            if (error)
                *error = wrong;
            return status;
        }
        if (status)
            fprintf(out, "%s\n", wrong.message);
    }
    fputs("\n", out);
    return CLEAVE_OK;
}

/* Kills a shard's server, or the coordinator, at random points of commits (kill -9), and looks what
 * is left: no transaction by halves, no money made or lost, nothing that was acknowledged missing,
 * nothing prepared and no lock kept.
 *
 *     bench/tables_faults [KILLS [SEED]]        ends with 1 if anything is wrong
 *     bench/tables_faults --planted             of a build that commits before it decides: ends
 * with 0 once that was found
 *
 * Now and then both, and now and then a sweep runs all the while. Transfers between accounts (two
 * rows changed, two told, often on two shards) and TPC-C Payments go through cleave__replay in a
 * process of their own, on three PostgreSQL servers. What must hold is computed from the rows
 * alone: every transfer has both its rows or none, an account has what its rows sum up to, and the
 * Payments' sums by warehouse, district, customer and history are one.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "base/vector.h"
#include "cluster/cluster.h"
#include "tables/replay/decide.h"
#include "tables/replay/fill.h"
#include "tables/replay/replay.h"

enum { SHARDS = 3, ACCOUNTS = 60, MONEY = 1000, TRANSACTIONS = 40, CLIENTS = 4, SKIPPED = 77 };
enum { POINTS_MOST = 120, PLANTED_KILLS_MOST = 100 };

static const char accounts_ddl[] =
    "CREATE TABLE account (a_id integer NOT NULL PRIMARY KEY, balance bigint NOT NULL);\n"
    "CREATE TABLE transfer (account integer NOT NULL, t_id bigint NOT NULL, amount bigint NOT "
    "NULL, PRIMARY KEY (account, t_id));\n";

struct faults {
    char folder[64];
    struct cleave_cluster *cluster;
    const char *urls[SHARDS];
    struct cleave_schema *schema;
    struct cleave_arena arena;
    struct cleave_layout layout;
    struct cleave_lookup *lookup;
    struct cleave_random random;
    uint64_t next_transfer;
    uint64_t kills_of_shards, kills_of_coordinators, in_doubt, transfers, payments;
    int64_t paid; /* cents, at the beginning: what each sum of Payments then was */
    int64_t begin[4], history_begin;
};

static void die(const struct cleave_error *error)
{
    fprintf(stderr, "tables_faults: %s\n", error->message);
    exit(1);
}

static void must(enum cleave_status status, const struct cleave_error *error)
{
    if (status)
        die(error);
}

static const struct cleave_benchmark_option tpcc[] = {
    {"warehouses", "6"}, {"items", "20"}, {"customers-per-district", "10"}, {"mix", "0/100/0/0/0"}};

/* ---- asking the shards ---- */

struct cells {
    int64_t *data;
    size_t count, capacity;
};

static enum cleave_status take_cells(void *context, uint32_t columns, const char *const *values,
                                     struct cleave_error *error)
{
    struct cells *cells = context;
    (void)error;
    for (uint32_t c = 0; c < columns; c++) {
        if (!CLEAVE_PUSH(cells, values[c] ? strtoll(values[c], NULL, 10) : 0))
            return CLEAVE_NO_MEMORY;
    }
    return CLEAVE_OK;
}

/* All rows of all shards, one after the other. */
static struct cells ask(const struct faults *faults, const char *query)
{
    struct cells cells = {0};
    for (uint32_t s = 0; s < SHARDS; s++) {
        struct cleave_error error;
        struct cleave__port port;
        cleave__port_init(&port, faults->urls[s]);
        must(cleave__port_open(&port, &error), &error);
        must(port.ops->scan(port.session, query, take_cells, &cells, &error), &error);
        cleave__port_close(&port);
    }
    return cells;
}

static int64_t ask_sum(const struct faults *faults, const char *query)
{
    struct cells cells = ask(faults, query);
    int64_t sum = 0;
    for (size_t i = 0; i < cells.count; i++)
        sum += cells.data[i];
    free(cells.data);
    return sum;
}

static void run_statements(const char *url, const struct cleave_store_statement *statements,
                           uint32_t count)
{
    struct cleave_error error;
    struct cleave_arena arena = {0};
    struct cleave__port port;
    struct cleave_store_answer *answers = calloc(count, sizeof *answers);
    const struct cleave_store_batch batch = {statements, count, CLEAVE_BATCH_COMMIT, NULL};
    cleave__port_init(&port, url);
    must(cleave__port_batch(&port, &batch, &arena, answers, &error), &error);
    cleave__port_close(&port);
    cleave__arena_free(&arena);
    free(answers);
}

/* ---- the database ---- */

/* Every table by its first key column, round robin: a district's rows are on their warehouse's
 * shard, so a Payment for a customer of another warehouse is often distributed. */
static void place(struct faults *faults, const char *ddl)
{
    struct cleave_error error;
    char *text = malloc(strlen(ddl) + sizeof accounts_ddl);
    strcat(strcpy(text, ddl), accounts_ddl);
    must(cleave__schema_parse_ddl(text, strlen(text), "faults", &faults->schema, &error), &error);
    free(text);
    faults->layout = (struct cleave_layout){
        .schema = faults->schema, .shards = SHARDS, .map_count = 1, .arena = &faults->arena};
    faults->layout.maps = cleave__arena_zalloc(&faults->arena, sizeof *faults->layout.maps);
    faults->layout.maps[0].otherwise = CLEAVE_MAP_ROUND_ROBIN;
    faults->layout.tables = cleave__arena_zalloc(&faults->arena, faults->schema->table_count *
                                                                     sizeof *faults->layout.tables);
    for (uint32_t t = 0; t < faults->schema->table_count; t++) {
        const struct cleave_table *table = &faults->schema->tables[t];
        uint32_t history = cleave__schema_column(table, "h_w_id", 6);
        faults->layout.tables[t].key_column = history != CLEAVE_ABSENT ? history
                                              : table->primary.count   ? table->primary.columns[0]
                                                                       : 0;
    }
    must(cleave__lookup_build(&faults->layout, &faults->lookup, &error), &error);
}

static void load(struct faults *faults)
{
    struct cleave_error error;
    struct cleave_generator *generator;
    must(cleave__generator_new("tpcc", tpcc, sizeof tpcc / sizeof *tpcc, 1, &generator, &error),
         &error);
    place(faults, cleave__generator_ddl(generator));
    must(cleave__replay_fill(generator, faults->lookup, faults->urls, NULL, NULL, &error), &error);
    cleave__generator_free(generator);
    for (uint32_t s = 0; s < SHARDS; s++) {
        char fill[200];
        snprintf(fill, sizeof fill,
                 "INSERT INTO account SELECT n, %d FROM generate_series(0, %d) n WHERE n %% %d = "
                 "%u",
                 MONEY, ACCOUNTS - 1, SHARDS, s);
        const struct cleave_store_statement statements[] = {
            {"CREATE TABLE account (a_id integer NOT NULL PRIMARY KEY, balance bigint NOT NULL)",
             NULL, 0},
            {"CREATE TABLE transfer (account integer NOT NULL, t_id bigint NOT NULL, amount bigint "
             "NOT NULL, PRIMARY KEY (account, t_id))",
             NULL, 0},
            {fill, NULL, 0}};
        run_statements(faults->urls[s], statements, 3);
    }
}

static const char *const sums[4] = {"SELECT (sum(w_ytd) * 100)::bigint FROM warehouse",
                                    "SELECT (sum(d_ytd) * 100)::bigint FROM district",
                                    "SELECT (-sum(c_balance) * 100)::bigint FROM customer",
                                    "SELECT (sum(c_ytd_payment) * 100)::bigint FROM customer"};
static const char history_sum[] = "SELECT (sum(h_amount) * 100)::bigint FROM history";
static const char history_count[] = "SELECT count(*) FROM history";

/* ---- the coordinator: a process of its own ---- */

struct coordinator {
    struct faults *faults;
    struct cleave_random random;
    struct cleave_generator *payments;
    uint64_t ids[TRANSACTIONS]; /* of transfers; 0: a Payment */
    uint32_t made;
    char texts[4][120];
    struct cleave_trace_statement statements[4];
    int acknowledged; /* file: 8 bytes each */
    atomic_int countdown;
    bool kills_itself;
    int ask, told; /* pipes: a byte asks for the shard's death, a byte says it is dead */
};

static enum cleave_status next(void *context, struct cleave_trace_transaction *out,
                               struct cleave_error *error)
{
    struct coordinator *c = context;
    if (c->made == TRANSACTIONS)
        return CLEAVE_END;
    if (cleave__random_below(&c->random, 3) == 0) {
        c->ids[c->made++] = 0;
        return cleave__generator_next(c->payments, out, NULL, error);
    }
    uint64_t id = c->faults->next_transfer + c->made;
    uint32_t from = (uint32_t)cleave__random_below(&c->random, ACCOUNTS);
    uint32_t to = (from + 1 + (uint32_t)cleave__random_below(&c->random, ACCOUNTS - 1)) % ACCOUNTS;
    uint32_t amount = 1 + (uint32_t)cleave__random_below(&c->random, 50);
    snprintf(c->texts[0], sizeof c->texts[0],
             "UPDATE account SET balance = balance - %u WHERE a_id = %u", amount, from);
    snprintf(c->texts[1], sizeof c->texts[1],
             "UPDATE account SET balance = balance + %u WHERE a_id = %u", amount, to);
    snprintf(c->texts[2], sizeof c->texts[2],
             "INSERT INTO transfer (account, t_id, amount) VALUES (%u, %" PRIu64 ", -%u)", from, id,
             amount);
    snprintf(c->texts[3], sizeof c->texts[3],
             "INSERT INTO transfer (account, t_id, amount) VALUES (%u, %" PRIu64 ", %u)", to, id,
             amount);
    for (uint32_t s = 0; s < 4; s++)
        c->statements[s] =
            (struct cleave_trace_statement){.text = c->texts[s], .length = strlen(c->texts[s])};
    c->ids[c->made++] = id;
    *out = (struct cleave_trace_transaction){
        .session = "1", .statements = c->statements, .statement_count = 4};
    return CLEAVE_OK;
}

static void acknowledged(void *context, uint64_t number)
{
    struct coordinator *c = context;
    if (write(c->acknowledged, &c->ids[number], sizeof c->ids[number]) < 0)
        _exit(3);
}

static void at_point(void *context, const char *point)
{
    struct coordinator *c = context;
    char byte = 0;
    (void)point;
    if (atomic_fetch_sub(&c->countdown, 1) != 1)
        return;
    if (c->kills_itself)
        kill(getpid(), SIGKILL);
    if (write(c->ask, &byte, 1) != 1 || read(c->told, &byte, 1) != 1)
        _exit(3);
}

static int coordinate(struct coordinator *c)
{
    struct cleave_error error;
    struct cleave_replay_result result;
    must(cleave__generator_new("tpcc", tpcc, sizeof tpcc / sizeof *tpcc,
                               cleave__random_next(&c->random), &c->payments, &error),
         &error);
    struct cleave_replay_options options = {.lookup = c->faults->lookup,
                                            .urls = c->faults->urls,
                                            .source = {next, c},
                                            .coordinator = "faults",
                                            .clients = CLIENTS,
                                            .patience_s = 60,
                                            .acknowledged = acknowledged,
                                            .at = at_point,
                                            .test_context = c};
    if (cleave__replay(&options, &result, &error)) {
        fprintf(stderr, "the coordinator: %s\n", error.message);
        return 2;
    }
    if (!cleave__replay_right(&result)) {
        fprintf(stderr, "the coordinator counts wrongly\n");
        return 2;
    }
    cleave__replay_result_free(&result);
    cleave__generator_free(c->payments);
    return 0;
}

/* ---- what must hold ---- */

static bool wrong(const char *what, int64_t got, int64_t wanted)
{
    fprintf(stderr, "WRONG: %s: %" PRId64 ", not %" PRId64 "\n", what, got, wanted);
    return false;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Ids of transfers, each twice. */
static bool check_pairs(struct faults *faults, const struct cells *acknowledged)
{
    struct cells ids = ask(faults, "SELECT t_id FROM transfer");
    bool right = ids.count % 2 == 0 || wrong("rows of transfers", (int64_t)ids.count, 0);
    if (ids.count)
        qsort(ids.data, ids.count, sizeof *ids.data, by_value);
    for (size_t i = 0; i + 1 < ids.count && right; i += 2) {
        if (ids.data[i] != ids.data[i + 1])
            right = wrong("a transfer by halves", ids.data[i], ids.data[i + 1]);
    }
    for (size_t i = 0; i < acknowledged->count && right; i++) {
        if (acknowledged->data[i] &&
            !bsearch(&acknowledged->data[i], ids.data, ids.count, sizeof *ids.data, by_value))
            right = wrong("a transfer acknowledged and lost", acknowledged->data[i], 0);
    }
    faults->transfers = ids.count / 2;
    free(ids.data);
    return right;
}

static bool check_payments(struct faults *faults, int64_t acknowledged, int64_t most)
{
    int64_t paid = ask_sum(faults, history_sum) - faults->history_begin;
    int64_t count = ask_sum(faults, history_count) - (int64_t)faults->paid;
    bool right = true;
    for (int i = 0; i < 4 && right; i++) {
        int64_t sum = ask_sum(faults, sums[i]) - faults->begin[i];
        right = sum == paid || wrong(sums[i], sum, paid);
    }
    if (right && (count < acknowledged || count > most))
        right = wrong("Payments", count, acknowledged);
    faults->payments = (uint64_t)count;
    return right;
}

/* Sessions of who was killed go away by themselves, soon. */
static bool await_quiet(const struct faults *faults)
{
    for (int tries = 0; tries < 200; tries++) {
        if (ask_sum(faults, "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                            "AND backend_type = 'client backend'") == 0)
            return true;
        usleep(50000);
    }
    return wrong("sessions that stay", 1, 0);
}

static bool check(struct faults *faults, const struct cells *acknowledged, int64_t payments_before)
{
    int64_t payments = 0;
    for (size_t i = 0; i < acknowledged->count; i++)
        payments += acknowledged->data[i] == 0;
    int64_t locks = ask_sum(faults, "SELECT count(*) FROM pg_locks WHERE pid IS DISTINCT FROM "
                                    "pg_backend_pid()");
    int64_t prepared = ask_sum(faults, "SELECT count(*) FROM pg_prepared_xacts");
    int64_t money = ask_sum(faults, "SELECT sum(balance)::bigint FROM account");
    int64_t apart =
        ask_sum(faults, "SELECT count(*) FROM account a WHERE balance <> 1000 + coalesce((SELECT "
                        "sum(amount) FROM transfer t WHERE t.account = a.a_id), 0)");
    if (prepared)
        return wrong("transactions that wait", prepared, 0);
    if (locks)
        return wrong("locks", locks, 0);
    if (money != (int64_t)ACCOUNTS * MONEY)
        return wrong("money", money, (int64_t)ACCOUNTS * MONEY);
    if (apart)
        return wrong("accounts that are not what their transfers sum up to", apart, 0);
    return check_pairs(faults, acknowledged) &&
           check_payments(faults, payments_before + payments, payments_before + TRANSACTIONS);
}

static struct cells read_acknowledged(const char *path)
{
    struct cells cells = {0};
    FILE *file = fopen(path, "rb");
    int64_t id;
    while (file && fread(&id, sizeof id, 1, file) == 1) {
        if (!CLEAVE_PUSH(&cells, id))
            exit(1);
    }
    if (file)
        fclose(file);
    return cells;
}

/* ---- one kill ---- */

/* Sweeps again and again, in a process of its own, while the coordinator is at work: it may make
 * transactions begin anew, and nothing worse. */
static pid_t start_sweeper(const struct cleave__replay_world *world, int asked, int tell)
{
    pid_t sweeper = fork();
    if (sweeper == 0) { /* the coordinator's end is to be seen */
        close(asked);
        close(tell);
    }
    while (sweeper == 0) {
        struct cleave__recovery recovery;
        struct cleave__replay_world now = *world;
        now.patience_ns = 0;
        (void)cleave__recover(&now, true, &recovery, NULL);
        usleep(20000);
    }
    return sweeper;
}

/* The shard dies when the coordinator says so, and comes back a little later. */
static void serve_kill(struct faults *faults, pid_t coordinator, int asked, int tell)
{
    struct cleave_error error;
    char byte;
    uint32_t shard = (uint32_t)cleave__random_below(&faults->random, SHARDS);
    if (read(asked, &byte, 1) != 1)
        return; /* it ended before */
    must(cleave__cluster_kill(faults->cluster, shard, &error), &error);
    faults->kills_of_shards++;
    if (write(tell, &byte, 1) != 1)
        return;
    usleep((useconds_t)cleave__random_below(&faults->random, 200000));
    if (cleave__random_below(&faults->random, 4) == 0)
        kill(coordinator, SIGKILL); /* both */
    /* A backend that was just being started may outlive the kill for a moment. */
    enum cleave_status status = CLEAVE_BAD_ARGUMENT;
    for (int tries = 0; status && tries < 50; tries++) {
        status = cleave__cluster_start(faults->cluster, shard, &error);
        if (status)
            usleep(100000);
    }
    must(status, &error);
}

static bool kill_once(struct faults *faults)
{
    char path[100];
    int ask_pipe[2], tell_pipe[2], state = 0;
    struct coordinator *c = calloc(1, sizeof *c);
    snprintf(path, sizeof path, "%s.acknowledged", faults->folder);
    if (!c || pipe(ask_pipe) || pipe(tell_pipe))
        exit(1);
    c->faults = faults;
    c->acknowledged = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    cleave__random_seed(&c->random, cleave__random_next(&faults->random));
    c->kills_itself = cleave__random_below(&faults->random, 2);
    atomic_init(&c->countdown, 1 + (int)cleave__random_below(&faults->random, POINTS_MOST));
    c->ask = ask_pipe[1];
    c->told = tell_pipe[0];
    const struct cleave__replay_world world = {.lookup = faults->lookup,
                                               .urls = faults->urls,
                                               .coordinator = "faults",
                                               .patience_ns = 30000000000};
    pid_t sweeper = 0, child = fork();
    if (child == 0) {
        close(ask_pipe[0]);
        close(tell_pipe[1]);
        _exit(coordinate(c));
    }
    close(ask_pipe[1]);
    close(tell_pipe[0]);
    if (cleave__random_below(&faults->random, 3) == 0)
        sweeper = start_sweeper(&world, ask_pipe[0], tell_pipe[1]);
    if (!c->kills_itself)
        serve_kill(faults, child, ask_pipe[0], tell_pipe[1]);
    waitpid(child, &state, 0);
    if (sweeper > 0) {
        kill(sweeper, SIGKILL);
        waitpid(sweeper, NULL, 0);
    }
    close(ask_pipe[0]);
    close(tell_pipe[1]);
    close(c->acknowledged);
    bool killed = WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL;
    bool right = killed || (WIFEXITED(state) && WEXITSTATUS(state) == 0);
    if (!right)
        wrong("the coordinator's end", state, 0);
    faults->kills_of_coordinators += killed;

    struct cleave_error error;
    struct cleave__recovery recovery;
    struct cells list = read_acknowledged(path);
    if (!killed && right && list.count != TRANSACTIONS)
        right = wrong("acknowledged", (int64_t)list.count, TRANSACTIONS);
    must(cleave__recover(&world, false, &recovery, &error), &error);
    faults->in_doubt += recovery.committed + recovery.rolled_back;
    right = right && await_quiet(faults) && check(faults, &list, (int64_t)faults->payments);
    faults->next_transfer += TRANSACTIONS;
    unlink(path);
    free(list.data);
    free(c);
    return right;
}

int main(int argc, char **argv)
{
    bool planted = argc > 1 && strcmp(argv[1], "--planted") == 0;
    uint32_t kills = planted    ? PLANTED_KILLS_MOST
                     : argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10)
                                : 200;
    static struct faults faults;
    struct cleave_error error;
    bool right = true;
    cleave__random_seed(&faults.random, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    signal(SIGPIPE, SIG_IGN);
    snprintf(faults.folder, sizeof faults.folder, "/tmp/cleave-faults-XXXXXX");
    if (!mkdtemp(faults.folder))
        return 1;
    struct cleave_cluster_options options = {
        .folder = faults.folder, .postgres = SHARDS, .fsync = true};
    enum cleave_status status = cleave__cluster_up(&options, &faults.cluster, &error);
    if (status) {
        printf("%s\n", error.message);
        rmdir(faults.folder);
        return status == CLEAVE_NOT_FOUND ? SKIPPED : 1;
    }
    for (uint32_t s = 0; s < SHARDS; s++)
        faults.urls[s] = cleave__cluster_server(faults.cluster, s)->url;
    load(&faults);
    faults.next_transfer = 1;
    for (int i = 0; i < 4; i++)
        faults.begin[i] = ask_sum(&faults, sums[i]);
    faults.history_begin = ask_sum(&faults, history_sum);
    faults.paid = ask_sum(&faults, history_count);
    uint32_t done = 0;
    while (done < kills && right) {
        right = kill_once(&faults);
        done++;
    }
    printf("%u runs of %d transactions: %" PRIu64 " kills of a shard, %" PRIu64
           " of the coordinator; %" PRIu64 " prepared parts were left to the sweep\n",
           done, TRANSACTIONS, faults.kills_of_shards, faults.kills_of_coordinators,
           faults.in_doubt);
    printf("%" PRIu64 " transfers, %" PRIu64 " Payments; %s\n", faults.transfers, faults.payments,
           right ? "money conserved, nothing by halves, nothing lost, no lock left" : "WRONG");
    must(cleave__cluster_down(faults.cluster, &error), &error);
    cleave__cluster_free(faults.cluster);
    cleave__lookup_release(faults.lookup);
    cleave__schema_free(faults.schema);
    cleave__arena_free(&faults.arena);
    if (planted)
        printf("the planted bug was %sfound\n", right ? "NOT " : "");
    return planted ? right : !right;
}

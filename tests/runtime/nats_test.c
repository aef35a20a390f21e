/* What the nats transport alone promises: one clear line where there is no way in; a server that
 * is killed under a world in one process, which still comes to its end; logs; buckets; NKeys,
 * passwords and TLS. Processes are in nats_processes_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe.h"
#include "runtime/nats/bucket.h"
#include "support/nats_server.h"

static struct nats_server server;

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* ---- no way in ---- */

static void refused(struct cleave_nats_options nats, enum cleave_status wanted, const char *part)
{
    struct cleave_runtime_options options = {.transport = &cleave__nats, .nats = nats};
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error = {.message = ""};
    enum cleave_status status = cleave__runtime_new(&options, &runtime, &error);
    if (status != wanted || !strstr(error.message, part))
        fail_msg("wanted %d '%s', got %d '%s'", wanted, part, status, error.message);
    assert_null(runtime);
    printf("  %s\n", error.message);
}

static void wrong_addresses(void **state)
{
    (void)state;
    struct cleave_nats_options world = nats_server_world(&server);
    const char *url = "nats://ann:secret@127.0.0.1:1";
    world.urls = &url;
    world.patience_ns = 300000000;
    refused(world, CLEAVE_IO, "no NATS server answers at nats://...@127.0.0.1:1");
    url = "nats://no-such-host.invalid:4222";
    refused(world, CLEAVE_IO, "no NATS server answers at nats://no-such-host.invalid:4222");
    url = "nats://127.0.0.1:port";
    refused(world, CLEAVE_BAD_ARGUMENT, "is not the address of a NATS server");
    world = nats_server_world(&server);
    world.prefix = "a b";
    refused(world, CLEAVE_BAD_ARGUMENT, "the prefix of subjects 'a b'");
    world.prefix = "x";
    world.credentials = "/nonexistent/file";
    refused(world, CLEAVE_IO, "/nonexistent/file: cannot be opened");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* One that is made and freed: there is a way in. */
static void admitted(struct cleave_nats_options nats)
{
    struct cleave_runtime_options options = {.transport = &cleave__nats, .nats = nats};
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error = {.message = ""};
    static const struct probe_plan plan = {.receive = NULL};
    uint32_t actor;
    if (cleave__runtime_new(&options, &runtime, &error) ||
        cleave__runtime_spawn(runtime, &probe_ops, &plan, NULL, &actor, &error) ||
        cleave__runtime_post(runtime, actor, 1, NULL, 0, &error) ||
        cleave__runtime_run(runtime, 0, NULL, &error))
        fail_msg("%s", error.message);
    cleave__runtime_free(runtime);
}

static void credentials(void **state)
{
    (void)state;
    struct nats_server other = {
        .extra = "authorization { users = ["
                 "{user: ann, password: secret}, "
                 "{nkey: UAWGR6DQDHZEOC4VWWX5FPOWKHYLEB22JS6QLIUGRHE7GLJGWSY4WRWF}"
                 "] }"};
    char path[100];
    assert_true(nats_server_start(&other));
    struct cleave_nats_options world = nats_server_world(&other);
    refused(world, CLEAVE_IO, "refuses the credentials: none were given");
    snprintf(path, sizeof path, "%s/keys", other.folder);
    world.credentials = path;
    write_file(path, "user ann\npassword wrong\n");
    refused(world, CLEAVE_IO, "refuses the credentials of /tmp/");
    write_file(path, "user ann\npassword secret\n");
    admitted(world);
    write_file(path,
               "# of a user\nnkey SUAMK2FG4MI6UE3ACF3FK3OIQBCEIEZV7NSWFFEW63UXMRLFM2XLAXK4GY\n");
    refused(world, CLEAVE_IO, "refuses the credentials");
    write_file(path, "nkey SUAMK2FG4MI6UE3ACF3FK3OIQBCEIEZV7NSWFFEW63UXMRLFM2XLAXK4G\n");
    refused(world, CLEAVE_BAD_INPUT, "is not a seed");
    write_file(path, "user ann\n");
    refused(world, CLEAVE_BAD_INPUT, "user and password belong together");
    write_file(path, "usr ann\n");
    refused(world, CLEAVE_BAD_INPUT, "keys:1: not a line of credentials");
    nats_server_stop(&other);
}

/* A certificate of its own for localhost, and its key: FOLDER/NAME.pem and .key. */
static bool make_certificate(const char *folder, const char *name)
{
    char command[500];
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
             "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 "
             "-keyout %s/%s.key -out %s/%s.pem >/dev/null 2>&1",
             folder, name, folder, name);
    return system(command) == 0;
}

static void tls(void **state)
{
    (void)state;
    struct nats_server other = {.folder = "/tmp/cleave-nats-XXXXXX"};
    char path[100], text[300], url[100];
    const char *urls = url;
    assert_non_null(mkdtemp(other.folder));
    if (!make_certificate(other.folder, "own") || !make_certificate(other.folder, "strange")) {
        printf("SKIPPED TLS: no openssl program is installed\n");
        nats_server_stop(&other);
        return;
    }
    snprintf(other.extra, sizeof other.extra,
             "tls { cert_file: \"%s/own.pem\", key_file: \"%s/own.key\" }", other.folder,
             other.folder);
    assert_true(nats_server_start(&other));
    struct cleave_nats_options world = nats_server_world(&other);
    refused(world, CLEAVE_IO, "TLS"); /* nothing said of it */
    snprintf(url, sizeof url, "tls://localhost:%d", other.port);
    world.urls = &urls;
    refused(world, CLEAVE_IO, "TLS"); /* nobody vouches for the certificate */
    snprintf(path, sizeof path, "%s/keys", other.folder);
    world.credentials = path;
    snprintf(text, sizeof text, "ca %s/strange.pem\n", other.folder);
    write_file(path, text);
    refused(world, CLEAVE_IO, "TLS");
    snprintf(text, sizeof text, "ca %s/own.pem\n", other.folder);
    write_file(path, text);
    admitted(world);
    world.credentials = NULL;
    world.urls = nats_server_world(&server).urls; /* one without TLS */
    snprintf(url, sizeof url, "tls://127.0.0.1:%d", server.port);
    world.urls = &urls;
    refused(world, CLEAVE_IO, "TLS");
    nats_server_stop(&other);
}

/* ---- a server killed under one process ---- */

enum { TOKENS = 40, HOPS = 400 };

static void hop(struct probe *probe, struct cleave_context *context,
                const struct cleave_message *message)
{
    if (message->sort == CLEAVE_REQUEST) {
        cleave__context_answer(context, message->promise, 2, message->body, message->length);
        return;
    }
    if (message->sort == CLEAVE_TIMER) {
        nats_server_kill(&server);
        sleep_ms(50);
        if (!nats_server_start(&server))
            cleave__context_fail(context, CLEAVE_IO, "no server");
        return;
    }
    if (message->sort == CLEAVE_REPLY && message->tag)
        probe->sum++;
    if (message->sort == CLEAVE_REPLY && !message->tag)
        return;
    if (message->sort == CLEAVE_REPLY || message->sort == CLEAVE_TIMEOUT) {
        uint64_t next = message->tag - (message->sort == CLEAVE_REPLY);
        if (next)
            cleave__context_request(context, probe->plan->peer, 1, &next, sizeof next, 200000000,
                                    next);
    }
    /* Plain messages besides: those that are lost are counted. */
    if (message->sort == CLEAVE_REPLY)
        for (int i = 0; i < 3; i++)
            cleave__context_send(context, probe->plan->peer, 3, &probe->sum, sizeof probe->sum);
}

static void hop_first(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                      size_t length)
{
    (void)saved, (void)length;
    uint64_t left = HOPS;
    for (int i = 0; i < TOKENS; i++)
        cleave__context_request(context, probe->plan->peer, 1, &left, sizeof left, 200000000, left);
    for (uint32_t i = 1; i <= probe->plan->count; i++)
        cleave__context_timer(context, i * 15000000, 0);
}

static void server_killed(void **state)
{
    (void)state;
    struct cleave_runtime_options options = {.transport = &cleave__nats,
                                             .threads = 2,
                                             .mailbox_most = 5,
                                             .nats = nats_server_world(&server)};
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error;
    const struct probe_plan plans[] = {{.receive = hop, .start = hop_first, .peer = 3},
                                       {.receive = hop, .start = hop_first, .peer = 3, .count = 4},
                                       {.receive = hop}};
    if (cleave__runtime_new(&options, &runtime, &error))
        fail_msg("%s", error.message);
    for (int i = 0; i < 3; i++)
        probe_spawn(runtime, &plans[i], NULL);
    probe_run_well(runtime);
    struct cleave_actor_stats sum = {0};
    assert_int_equal(cleave__runtime_sum(runtime, &sum, &error), CLEAVE_OK);
    for (uint32_t a = 1; a <= 2; a++)
        assert_int_equal(probe_state(runtime, a)->sum, TOKENS * HOPS);
    printf("  sent %llu, received %llu, lost %llu, late %llu\n", (unsigned long long)sum.sent,
           (unsigned long long)sum.received, (unsigned long long)sum.lost,
           (unsigned long long)sum.late);
    assert_true(sum.received + sum.lost <= sum.sent);
    cleave__runtime_free(runtime);
}

/* ---- a server that takes little ---- */

enum { TURNS = 60, IN_TURN = 20, LONG_MOST = 20000 };

static void take_sized(struct probe *probe, struct cleave_context *context,
                       const struct cleave_message *message)
{
    if (message->length < 8 || message->length != message->kind) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "a message of another length");
        return;
    }
    probe->wrong += cleave__load64(message->body) != probe->sum++;
    for (size_t i = 8; i < message->length; i++)
        probe->wrong += message->body[i] != (uint8_t)(i * 7);
}

/* Messages of every length in one turn: some together are too large for the server, some alone. */
static void send_sized(struct probe *probe, struct cleave_context *context,
                       const struct cleave_message *message)
{
    static uint8_t body[LONG_MOST];
    (void)message;
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(i * 7);
    for (int i = 0; i < IN_TURN; i++) {
        uint64_t drawn = cleave__random_next(cleave__context_random(context));
        uint32_t length = 8 + (uint32_t)(drawn % (drawn >> 32 & 7 ? 900 : LONG_MOST - 8));
        cleave__store64(body, probe->sum++);
        cleave__context_send(context, probe->plan->peer, length, body, length);
    }
    if (probe->sum < TURNS * IN_TURN)
        cleave__context_timer(context, 1000000, 0);
}

static void start_sized(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                        size_t length)
{
    (void)probe, (void)saved, (void)length;
    cleave__context_timer(context, 1, 0);
}

static void small_payload(void **state)
{
    (void)state;
    struct nats_server little = {.extra = "max_payload: 4096\n"};
    assert_true(nats_server_start(&little));
    struct cleave_runtime_options options = {
        .transport = &cleave__nats, .threads = 2, .seed = 3, .nats = nats_server_world(&little)};
    const struct probe_plan plans[] = {{.receive = send_sized, .start = start_sized, .peer = 2},
                                       {.receive = take_sized}};
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error;
    if (cleave__runtime_new(&options, &runtime, &error))
        fail_msg("%s", error.message);
    for (int i = 0; i < 2; i++)
        probe_spawn(runtime, &plans[i], NULL);
    probe_run_well(runtime);
    assert_int_equal(probe_state(runtime, 2)->sum, TURNS * IN_TURN);
    assert_int_equal(probe_state(runtime, 2)->wrong, 0);
    cleave__runtime_free(runtime);
    nats_server_stop(&little);
}

/* ---- logs ---- */

static void put_in_log(struct cleave_context *context, uint32_t log, uint64_t number)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    char id[30];
    int length = snprintf(id, sizeof id, "id-%llu", (unsigned long long)number);
    cleave__put8(writer, (uint8_t)length);
    cleave__put_bytes(writer, id, (size_t)length);
    cleave__put8(writer, 4);
    cleave__put_bytes(writer, "part", 4);
    cleave__put64(writer, number);
    cleave__context_request(context, log, 1, writer->data, writer->count, 0, number);
}

static void log_first(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                      size_t length)
{
    (void)saved, (void)length;
    for (uint64_t i = 0; i < probe->plan->count; i++)
        put_in_log(context, probe->plan->peer, i / 2); /* each twice */
    if (probe->plan->delay_ns)
        cleave__context_timer(context, probe->plan->delay_ns, 0);
}

static void log_on(struct probe *probe, struct cleave_context *context,
                   const struct cleave_message *message)
{
    if (message->sort == CLEAVE_TIMER) {
        nats_server_kill(&server);
        sleep_ms(50);
        if (!nats_server_start(&server))
            cleave__context_fail(context, CLEAVE_IO, "no server");
        return;
    }
    probe->wrong +=
        message->sort != CLEAVE_REPLY || message->kind != CLEAVE_LOGGED || message->length != 9;
    probe->digest += message->length == 9 && message->body[8]; /* known before */
    uint64_t sequence = message->length == 9 ? cleave__load64(message->body) : 0;
    if (sequence > probe->sum)
        probe->sum = sequence;
}

static void logs(void **state)
{
    (void)state;
    for (int kill = 0; kill < 2; kill++) {
        struct cleave_runtime_options options = {.transport = &cleave__nats,
                                                 .threads = 2,
                                                 .mailbox_most = 100,
                                                 .nats = nats_server_world(&server)};
        struct cleave_runtime *runtime = NULL;
        struct cleave_error error;
        struct probe_plan plan = {
            .receive = log_on, .start = log_first, .count = 4000, .delay_ns = kill ? 30000000 : 0};
        if (cleave__runtime_new(&options, &runtime, &error))
            fail_msg("%s", error.message);
        uint32_t actor = probe_spawn(runtime, &plan, NULL);
        assert_int_equal(cleave__runtime_log(runtime, "results", &plan.peer, &error), CLEAVE_OK);
        probe_run_well(runtime);
        const struct probe *probe = probe_state(runtime, actor);
        assert_int_equal(probe->got[CLEAVE_REPLY], 4000);
        assert_int_equal(probe->wrong, 0);
        assert_int_equal(probe->sum, 2000); /* kept once each, whatever was repeated */
        assert_true(probe->digest >= 2000);
        cleave__runtime_free(runtime);
    }
}

static void no_jetstream(void **state)
{
    (void)state;
    struct nats_server bare = {.extra = "#bare"};
    struct cleave_runtime_options options = {.transport = &cleave__nats};
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error;
    struct probe_plan plan = {.start = log_first, .count = 1};
    assert_true(nats_server_start(&bare));
    options.nats = nats_server_world(&bare);
    if (cleave__runtime_new(&options, &runtime, &error))
        fail_msg("%s", error.message);
    probe_spawn(runtime, &plan, NULL);
    assert_int_equal(cleave__runtime_log(runtime, "results", &plan.peer, &error), CLEAVE_OK);
    assert_int_equal(cleave__runtime_run(runtime, 0, NULL, &error), CLEAVE_UNSUPPORTED);
    printf("  %s\n", error.message);
    assert_non_null(strstr(error.message, "JetStream is off"));
    cleave__runtime_free(runtime);
    struct cleave__bucket *bucket = NULL;
    assert_int_equal(cleave__bucket_open(&options.nats, "map", true, &bucket, &error),
                     CLEAVE_UNSUPPORTED);
    printf("  %s\n", error.message);
    nats_server_stop(&bare);
    options.nats = nats_server_world(&server); /* one server, three replicas */
    options.nats.replicas = 3;
    if (cleave__runtime_new(&options, &runtime, &error))
        fail_msg("%s", error.message);
    assert_int_equal(cleave__runtime_log(runtime, "results", &plan.peer, &error), CLEAVE_OK);
    assert_int_equal(cleave__runtime_run(runtime, 0, NULL, &error), CLEAVE_UNSATISFIABLE);
    printf("  %s\n", error.message);
    cleave__runtime_free(runtime);
}

/* ---- what outlives a process ---- */

/* Saves what it gets: a message of one byte is appended, a longer one saved; the sink hears how
 * long it is now. */
static void keep(struct probe *probe, struct cleave_context *context,
                 const struct cleave_message *message)
{
    if (message->length == 1)
        cleave__context_append(context, message->body, 1);
    else
        cleave__context_save(context, message->body, message->length);
    probe->sum = message->length == 1 ? probe->sum + 1 : message->length;
    cleave__context_send(context, probe->plan->peer, 1, &probe->sum, sizeof probe->sum);
}

static void remember(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                     size_t length)
{
    (void)context;
    probe->sum = length;
    for (size_t i = 0; i < length; i++)
        probe->digest = cleave__mix64(probe->digest ^ saved[i]);
}

static void hear(struct probe *probe, struct cleave_context *context,
                 const struct cleave_message *message)
{
    (void)context;
    probe->sum = message->length == 8 ? cleave__load64(message->body) : 0;
}

static void saved(void **state)
{
    (void)state;
    enum { MOST = 3 << 20 };
    struct cleave_nats_options world = nats_server_world(&server);
    world.loop = false;
    world.durable = true;
    uint8_t *all = calloc(1, MOST);
    size_t length = 0;
    /* Appended; saved; appended; saved in pieces; appended; saved again. */
    const size_t saves[] = {0, 5000, 0, MOST - 1000, 0, 2000000, 2, 0};
    for (unsigned life = 0; life < sizeof saves / sizeof *saves; life++) {
        struct cleave_runtime_options options = {
            .transport = &cleave__nats, .threads = 2, .nats = world};
        struct cleave_runtime *runtime = NULL;
        struct cleave_error error;
        struct probe_plan keeper = {.receive = keep, .start = remember, .peer = 2},
                          sink = {.receive = hear};
        if (cleave__runtime_new(&options, &runtime, &error))
            fail_msg("%s", error.message);
        probe_spawn(runtime, &keeper, NULL);
        probe_spawn(runtime, &sink, NULL);
        uint64_t digest = 0;
        for (size_t i = 0; i < length; i++)
            digest = cleave__mix64(digest ^ all[i]);
        if (saves[life]) {
            length = saves[life];
            for (size_t i = 0; i < length; i++)
                all[i] = (uint8_t)(i * 31 + life + (i >> 9));
            assert_int_equal(cleave__runtime_post(runtime, 1, 1, all, length, NULL), CLEAVE_OK);
        }
        for (int i = 0; i < 300; i++) {
            all[length++] = (uint8_t)(i + (int)life);
            assert_int_equal(cleave__runtime_post(runtime, 1, 1, all + length - 1, 1, NULL),
                             CLEAVE_OK);
        }
        probe_run_well(runtime);
        assert_int_equal(probe_state(runtime, 1)->digest, digest); /* of the life before */
        assert_int_equal(probe_state(runtime, 2)->sum, length);
        cleave__runtime_free(runtime);
    }
    free(all);
}

/* ---- buckets ---- */

static void buckets(void **state)
{
    (void)state;
    struct cleave_nats_options world = nats_server_world(&server);
    struct cleave__bucket *one = NULL, *two = NULL;
    struct cleave_writer value = {0};
    struct cleave_error error;
    uint64_t first = 0, second = 0, at = 0;
    assert_int_equal(cleave__bucket_open(&world, "map", true, &one, &error), CLEAVE_OK);
    assert_int_equal(cleave__bucket_open(&world, "map", true, &two, &error), CLEAVE_OK);
    assert_int_equal(cleave__bucket_get(one, "cells", &value, &at, &error), CLEAVE_NOT_FOUND);
    assert_int_equal(cleave__bucket_create(one, "cells", "abc", 3, &first, &error), CLEAVE_OK);
    assert_int_equal(cleave__bucket_create(two, "cells", "xyz", 3, &second, &error),
                     CLEAVE_CONFLICT);
    printf("  %s\n", error.message);
    assert_int_equal(cleave__bucket_get(two, "cells", &value, &at, &error), CLEAVE_OK);
    assert_true(at == first && value.count == 3 && memcmp(value.data, "abc", 3) == 0);
    assert_int_equal(cleave__bucket_update(two, "cells", "de", 2, at, &second, &error), CLEAVE_OK);
    assert_true(second > first);
    assert_int_equal(cleave__bucket_update(one, "cells", "fg", 2, first, &at, &error),
                     CLEAVE_CONFLICT);
    assert_int_equal(at, first); /* untouched */
    assert_int_equal(cleave__bucket_get(one, "cells", &value, &at, &error), CLEAVE_OK);
    assert_true(at == second && value.count == 2 && memcmp(value.data, "de", 2) == 0);
    assert_int_equal(cleave__bucket_remove(one, "cells", &error), CLEAVE_OK);
    assert_int_equal(cleave__bucket_get(two, "cells", &value, &at, &error), CLEAVE_NOT_FOUND);
    assert_int_equal(cleave__bucket_create(two, "cells", "hi", 2, &at, &error), CLEAVE_OK);
    nats_server_kill(&server);
    assert_true(nats_server_start(&server));
    assert_int_equal(cleave__bucket_update(two, "cells", "jk", 2, at, &second, &error), CLEAVE_OK);
    cleave__bucket_close(one);
    cleave__bucket_close(two);
    free(value.data);
}

static int set_up(void **state)
{
    (void)state;
    return nats_server_start(&server) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    nats_server_stop(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_addresses),
        cmocka_unit_test(credentials),
        cmocka_unit_test(tls),
        cmocka_unit_test(server_killed),
        cmocka_unit_test(logs),
        cmocka_unit_test(saved),
        cmocka_unit_test(no_jetstream),
        cmocka_unit_test(buckets),
        cmocka_unit_test(small_payload),
    };
    if (!nats_server_installed())
        return 0;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

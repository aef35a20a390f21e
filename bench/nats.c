/* What the nats transport costs, beside bare libnats with the same bytes in the same run.
 *
 *   bench/nats [replicas]          (default 1; 3 needs a cluster) against $NATS_URL, or else a
 *                                  nats-server of its own, which must be installed
 *
 * `bare`: one process publishes messages of so many bytes as fast as it can, another subscribes;
 * the library's own defaults, which are its fastest. `transport`: one actor sends messages with
 * bodies of as many bytes to another in another process, 256 a turn. Both are timed at the
 * receiver, from the first to the last, three times in turn; the best is told. `request`: asked
 * and answered between two processes; one at a time, 64 at a time, and (half load) at half the rate
 * of 64 at a time, four each millisecond and more. `log`: kept by JetStream and acknowledged, with
 * message ids, as many under way as a mailbox holds. */
#include <nats/nats.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/runtime.h"
#include "support/nats_server.h"

struct shared {
    atomic_uint ready;
    _Atomic double rate;
    atomic_ullong p50_ns, p99_ns, count;
};

static struct shared *shared;
static struct cleave_nats_options world;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        _exit(1);
    }
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Two processes, one after the other is ready. */
static void pair(void (*first)(void *), void (*second)(void *), void *context)
{
    pid_t pids[2];
    atomic_store(&shared->ready, 0);
    for (int i = 0; i < 2; i++) {
        fflush(NULL);
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            (i ? second : first)(context);
            _exit(0);
        }
        while (i == 0 && !atomic_load(&shared->ready) && waitpid(pids[0], NULL, WNOHANG) == 0)
            sleep_ms(1);
    }
    int status = 0;
    waitpid(pids[1], &status, 0);
    must(status == 0, "the second process failed");
    kill(pids[0], SIGTERM);
    waitpid(pids[0], NULL, 0);
}

/* ---- bare ---- */

struct load {
    uint32_t size, count;
};

static void bare_receive(void *context)
{
    const struct load *load = context;
    natsConnection *connection = NULL;
    natsSubscription *subscription = NULL;
    must(!natsConnection_ConnectTo(&connection, world.urls[0]) &&
             !natsConnection_SubscribeSync(&subscription, connection, "bare") &&
             !natsSubscription_SetPendingLimits(subscription, -1, -1) &&
             !natsConnection_Flush(connection),
         "no connection");
    atomic_store(&shared->ready, 1);
    double first = 0, last = 0;
    uint32_t count = 0;
    for (natsMsg *message = NULL; count < load->count; count++) {
        if (natsSubscription_NextMsg(&message, subscription, 3000))
            break;
        if (!count)
            first = now_s();
        natsMsg_Destroy(message);
    }
    last = now_s();
    atomic_store(&shared->rate, (count - 1) / (last - first));
    atomic_store(&shared->count, count);
    atomic_store(&shared->ready, 2);
    sleep_ms(100000);
}

static void bare_send(void *context)
{
    const struct load *load = context;
    natsConnection *connection = NULL;
    char *body = calloc(1, load->size);
    must(body && !natsConnection_ConnectTo(&connection, world.urls[0]), "no connection");
    for (uint32_t i = 0; i < load->count; i++)
        must(!natsConnection_Publish(connection, "bare", body, (int)load->size), "cannot publish");
    natsConnection_Flush(connection);
    while (atomic_load(&shared->ready) != 2)
        sleep_ms(1);
}

/* JetStream by itself: asynchronous publishes with message ids, as many under way as actors have.
 */
static void bare_keep(void *context)
{
    const struct load *load = context;
    natsConnection *connection = NULL;
    jsCtx *js = NULL;
    jsOptions options;
    jsStreamConfig stream;
    const char *subject = "bare.kept";
    char *body = calloc(1, load->size), id[40];
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = 1000;
    jsStreamConfig_Init(&stream);
    stream.Name = "bare-kept";
    stream.Subjects = &subject;
    stream.SubjectsLen = 1;
    stream.Replicas = world.replicas;
    must(body && !natsConnection_ConnectTo(&connection, world.urls[0]) &&
             !natsConnection_JetStream(&js, connection, &options) &&
             !js_AddStream(NULL, js, &stream, NULL, NULL),
         "no stream");
    double began = now_s();
    for (uint32_t i = 0; i < load->count; i++) {
        jsPubOptions publish;
        jsPubOptions_Init(&publish);
        snprintf(id, sizeof id, "%d-%u", (int)getpid(), i);
        publish.MsgId = id;
        must(!js_PublishAsync(js, subject, body, (int)load->size, &publish), "cannot publish");
    }
    jsPubOptions all;
    jsPubOptions_Init(&all);
    all.MaxWait = 60000;
    must(!js_PublishAsyncComplete(js, &all), "not all acknowledged");
    atomic_store(&shared->rate, load->count / (now_s() - began));
}

static void nobody(void *context)
{
    (void)context;
    atomic_store(&shared->ready, 1);
    sleep_ms(100000);
}

/* ---- actors ---- */

enum { KIND_MESSAGE = 1, KIND_MORE, KIND_DONE, KIND_ASK };

struct part {
    uint32_t own, log_size;
    struct load load;
    uint32_t at_once; /* requests */
    uint32_t every_ms_ask;
    uint64_t got, sent;
    double first;
};

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    (void)error;
    *self = (void *)(uintptr_t)argument;
    return CLEAVE_OK;
}

static void destroy(void *self)
{
    (void)self;
}

/* Actor 1 takes, and answers. */
static void take(void *self, struct cleave_context *context, const struct cleave_message *message)
{
    struct part *part = self;
    if (message->kind == KIND_ASK) {
        cleave__context_answer(context, message->promise, KIND_ASK, message->body, message->length);
    } else if (message->kind == KIND_DONE) {
        atomic_store(&shared->rate, (double)(part->got - 1) / (now_s() - part->first));
        atomic_store(&shared->count, part->got);
        cleave__context_answer(context, message->promise, KIND_DONE, NULL, 0);
    } else if (!part->got++) {
        part->first = now_s();
    }
}

static void ask(struct part *part, struct cleave_context *context)
{
    static const uint8_t body[64];
    part->sent++;
    cleave__context_request(context, 1, KIND_ASK, body, sizeof body, 0, 0);
}

static void log_one(struct part *part, struct cleave_context *context)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    char id[40];
    int length =
        snprintf(id, sizeof id, "%d-%llu", (int)getpid(), (unsigned long long)part->sent++);
    cleave__put8(writer, (uint8_t)length);
    cleave__put_bytes(writer, id, (size_t)length);
    cleave__put8(writer, 1);
    cleave__put_bytes(writer, "x", 1);
    cleave__put_space(writer, part->log_size);
    cleave__context_request(context, 3, 1, writer->data, writer->count, 0, 0);
}

/* Actor 2 sends, or asks. */
static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    struct part *part = self;
    (void)saved, (void)length;
    if (part->log_size) {
        part->first = now_s();
        for (uint32_t i = 0; i < part->at_once; i++)
            log_one(part, context);
    } else if (part->every_ms_ask) {
        cleave__context_timer(context, 1000000, 0);
    } else if (part->at_once) {
        part->first = now_s();
        for (uint32_t i = 0; i < part->at_once; i++)
            ask(part, context);
    } else {
        cleave__context_send(context, 2, KIND_MORE, NULL, 0);
    }
}

static void give(void *self, struct cleave_context *context, const struct cleave_message *message)
{
    struct part *part = self;
    if (message->sort == CLEAVE_TIMER) {
        for (uint32_t i = 0; i < part->every_ms_ask && part->sent < part->load.count; i++)
            ask(part, context);
        if (part->sent < part->load.count)
            cleave__context_timer(context, 1000000, 0);
    } else if (message->sort == CLEAVE_REPLY && message->kind == KIND_DONE) {
        cleave__context_end(context);
    } else if (message->sort == CLEAVE_REPLY) {
        if (++part->got == part->load.count) {
            atomic_store(&shared->rate, (double)part->got / (now_s() - part->first));
            cleave__context_end(context);
        } else if (part->log_size && part->sent < part->load.count) {
            log_one(part, context);
        } else if (!part->every_ms_ask && part->sent < part->load.count) {
            ask(part, context);
        }
    } else {
        static const uint8_t body[1 << 16];
        for (int i = 0; i < 256 && part->sent < part->load.count; i++, part->sent++)
            cleave__context_send(context, 1, KIND_MESSAGE, body, part->load.size);
        if (part->sent < part->load.count)
            cleave__context_send(context, 2, KIND_MORE, NULL, 0);
        else
            cleave__context_request(context, 1, KIND_DONE, NULL, 0, 0, 0);
    }
}

static void play(struct part part)
{
    static const struct cleave_actor_ops taker = {"taker", create, destroy, take, NULL},
                                         giver = {"giver", create, destroy, give, start};
    struct cleave_runtime_options options = {
        .transport = &cleave__nats, .nats = world, .measure = part.at_once || part.every_ms_ask};
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error;
    uint32_t number;
    options.nats.serve = true;
    must(!cleave__runtime_new(&options, &runtime, &error), error.message);
    for (uint32_t a = 1; a <= 2; a++)
        must(a == part.own ? !cleave__runtime_spawn(runtime, a == 1 ? &taker : &giver, &part, NULL,
                                                    &number, &error)
                           : !cleave__runtime_remote(runtime, "other", &number, &error),
             error.message);
    if (part.log_size)
        must(!cleave__runtime_log(runtime, "bench", &number, &error), error.message);
    if (part.own == 1) /* the other waits for it; it is there in a moment */
        atomic_store(&shared->ready, 1);
    else
        sleep_ms(200);
    must(!cleave__runtime_run(runtime, 0, NULL, &error), error.message);
    const struct cleave_actor_stats *stats = cleave__runtime_stats(runtime, part.own);
    if (stats->answering_ns.count) {
        atomic_store(&shared->p50_ns, cleave__histogram_quantile(&stats->answering_ns, 0.5));
        atomic_store(&shared->p99_ns, cleave__histogram_quantile(&stats->answering_ns, 0.99));
    }
    cleave__runtime_free(runtime);
}

static void first_actor(void *context)
{
    struct part part = *(const struct part *)context;
    part.own = 1;
    play(part);
}

static void second_actor(void *context)
{
    struct part part = *(const struct part *)context;
    part.own = 2;
    play(part);
}

/* ---- the figures ---- */

static void throughput(uint32_t size, uint32_t count)
{
    struct load load = {size, count};
    struct part part = {.load = load};
    double bare = 0, ours = 0;
    for (int round = 0; round < 3; round++) {
        pair(bare_receive, bare_send, &load);
        if (atomic_load(&shared->count) != count)
            printf("bare: %llu of %u came\n", (unsigned long long)shared->count, count);
        else if (shared->rate > bare)
            bare = shared->rate;
        pair(first_actor, second_actor, &part);
        must(atomic_load(&shared->count) == count, "messages are missing");
        if (shared->rate > ours)
            ours = shared->rate;
    }
    printf("%6u bytes   bare %10.0f /s   transport %10.0f /s   %5.2f x bare\n", size, bare, ours,
           ours / bare);
}

static double requests(const char *name, struct part part)
{
    pair(first_actor, second_actor, &part);
    printf("request, %-22s", name);
    if (!part.every_ms_ask)
        printf("%9.0f /s", (double)shared->rate);
    else
        printf("%9u /s", part.every_ms_ask * 1000);
    printf("   p50 %.3f ms   p99 %.3f ms\n", (double)shared->p50_ns / 1e6,
           (double)shared->p99_ns / 1e6);
    return shared->rate;
}

int main(int argc, char **argv)
{
    static struct nats_server server;
    const char *given = getenv("NATS_URL");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(shared != MAP_FAILED, "no memory");
    must(given || (nats_server_installed() && nats_server_start(&server)), "no nats-server");
    world = nats_server_world(&server);
    if (given)
        world.urls = &given;
    world.loop = false;
    world.replicas = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
    throughput(16, 1000000);
    throughput(256, 400000);
    throughput(4096, 60000);
    requests("one at a time", (struct part){.at_once = 1, .load = {.count = 10000}});
    double most = requests("64 at a time", (struct part){.at_once = 64, .load = {.count = 200000}});
    uint32_t half = (uint32_t)(most / 2000);
    requests("half load", (struct part){.every_ms_ask = half, .load = {.count = half * 3000}});
    struct part part = {.log_size = 256, .at_once = 1000, .load = {256, 50000}};
    pair(nobody, bare_keep, &part.load);
    double kept = shared->rate;
    pair(first_actor, second_actor, &part);
    printf("log, 256 bytes, %u replica%s   bare %10.0f /s   transport %10.0f /s   %5.2f x bare\n",
           world.replicas, world.replicas > 1 ? "s" : "", kept, (double)shared->rate,
           (double)shared->rate / kept);
    nats_server_stop(&server);
    return 0;
}

/* NATS clusters of a test's own: each way to log in works with what is in nats.creds and with
 * nothing less; three nodes agree, and go on when one is killed and comes again. */
#include <nats/nats.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/cluster.h"

enum { SKIPPED = 77 };

static char folder[64];

static struct cleave_cluster *up(struct cleave_cluster_options options)
{
    struct cleave_cluster *cluster;
    struct cleave_error error;
    options.folder = folder;
    if (cleave__cluster_up(&options, &cluster, &error))
        fail_msg("%s", error.message);
    return cluster;
}

static void down(struct cleave_cluster *cluster)
{
    struct cleave_error error;
    if (cleave__cluster_down(cluster, &error))
        fail_msg("%s", error.message);
    cleave__cluster_free(cluster);
    assert_int_equal(access(folder, F_OK), -1);
}

/* The word after `what` in nats.creds; "" when there is none. */
static void credential(const char *what, char word[300])
{
    char path[100], line[400];
    snprintf(path, sizeof path, "%s/nats.creds", folder);
    FILE *file = fopen(path, "r");
    *word = 0;
    while (file && fgets(line, sizeof line, file)) {
        size_t length = strlen(what);
        if (strncmp(line, what, length) == 0 && line[length] == ' ')
            snprintf(word, 300, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
    }
    if (file)
        fclose(file);
}

/* Connects, with what is in the file if `trusted`, and publishes to a stream. */
static natsStatus publish(const char *url, bool trusted)
{
    char user[300], password[300], seed[300], ca[300];
    natsOptions *options = NULL;
    natsConnection *connection = NULL;
    jsCtx *context = NULL;
    jsPubAck *ack = NULL;
    jsStreamConfig config;
    const char *subjects[] = {"said"};
    credential("user", user);
    credential("password", password);
    credential("nkey", seed);
    credential("ca", ca);
    natsStatus status = natsOptions_Create(&options);
    natsOptions_SetURL(options, url);
    natsOptions_SetTimeout(options, 3000);
    natsOptions_SetMaxReconnect(options, 0);
    if (*ca) {
        natsOptions_SetSecure(options, true);
        if (trusted)
            status = natsOptions_LoadCATrustedCertificates(options, ca);
    }
    if (trusted && *user)
        natsOptions_SetUserInfo(options, user, password);
    if (trusted && *seed) { /* it wants the public name: that of the server's configuration */
        char path[120], text[4000] = "";
        snprintf(path, sizeof path, "%s/nats0/nats.conf", folder);
        FILE *file = fopen(path, "r");
        text[file ? fread(text, 1, sizeof text - 1, file) : 0] = 0;
        fclose(file);
        char *name = strstr(text, "nkey: ");
        assert_non_null(name);
        name += 6;
        name[strcspn(name, " ")] = 0;
        char seed_path[120];
        snprintf(seed_path, sizeof seed_path, "%s/seed", folder);
        file = fopen(seed_path, "w");
        fputs(seed, file);
        fclose(file);
        status = natsOptions_SetNKeyFromSeed(options, name, seed_path);
    }
    if (status == NATS_OK)
        status = natsConnection_Connect(&connection, options);
    if (status == NATS_OK)
        status = natsConnection_JetStream(&context, connection, NULL);
    jsStreamConfig_Init(&config);
    config.Name = "test";
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.Replicas = 1;
    if (status == NATS_OK)
        status = js_AddStream(NULL, context, &config, NULL, NULL);
    if (status == NATS_OK)
        status = js_Publish(&ack, context, "said", "x", 1, NULL, NULL);
    jsPubAck_Destroy(ack);
    jsCtx_Destroy(context);
    natsConnection_Destroy(connection);
    natsOptions_Destroy(options);
    return status;
}

static void logs_in(void **state)
{
    static const struct cleave_cluster_options ways[] = {
        {.nats = 1},
        {.nats = 1, .nats_password = true},
        {.nats = 1, .nats_nkey = true},
        {.nats = 1, .nats_tls = true},
        {.nats = 1, .nats_tls = true, .nats_password = true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct cleave_cluster *cluster = up(ways[i]);
        const char *url = cleave__cluster_server(cluster, 0)->url;
        natsStatus status = publish(url, true);
        if (status != NATS_OK)
            fail_msg("way %zu: %s", i, natsStatus_GetText(status));
        if (i)
            assert_int_not_equal(publish(url, false), NATS_OK);
        down(cluster);
    }
}

static void three_nodes(void **state)
{
    struct cleave_cluster *cluster =
        up((struct cleave_cluster_options){.nats = 3, .nats_password = true});
    struct cleave_cluster *again;
    struct cleave_error error;
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        assert_true(cleave__cluster_server(cluster, i)->runs);
    assert_int_equal(publish(cleave__cluster_server(cluster, 1)->url, true), NATS_OK);
    assert_int_equal(cleave__cluster_kill(cluster, 0, &error), CLEAVE_OK);
    assert_int_equal(cleave__cluster_open(folder, &again, &error), CLEAVE_OK);
    assert_false(cleave__cluster_server(again, 0)->runs);
    assert_true(cleave__cluster_server(again, 2)->runs);
    cleave__cluster_free(again);
    uint16_t port = cleave__cluster_server(cluster, 0)->port;
    if (cleave__cluster_start(cluster, 0, &error)) /* waits for a leader */
        fail_msg("%s", error.message);
    assert_int_equal(cleave__cluster_server(cluster, 0)->port, port);
    assert_int_equal(cleave__cluster_start(cluster, 0, &error), CLEAVE_BAD_ARGUMENT);
    assert_int_equal(publish(cleave__cluster_server(cluster, 0)->url, true), NATS_OK);
    down(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(logs_in), cmocka_unit_test(three_nodes)};
    if (access("/usr/sbin/nats-server", X_OK) && access("/usr/bin/nats-server", X_OK)) {
        printf("no nats-server is installed here\n");
        return SKIPPED;
    }
    snprintf(folder, sizeof folder, "/tmp/cleave-nats-%d", (int)getpid());
    nats_Open(-1);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    nats_Close();
    return failures;
}

/* A store's session in tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "contract.h"

void client_open(struct client *client, const char *url)
{
    *client = (struct client){.ops = cleave__store_of(url)};
    if (client->ops->open(url, &client->session, &client->error))
        fail_msg("%s", client->error.message);
}

void client_close(struct client *client)
{
    client->ops->close(client->session);
    cleave__arena_free(&client->arena);
}

enum cleave_status client_batch(struct client *client, enum cleave_batch_end end, const char *name,
                                const char *first, const char *second, const char *third,
                                const char *fourth)
{
    const char *texts[] = {first, second, third, fourth};
    struct cleave_store_statement statements[4];
    struct cleave_store_batch batch = {statements, 0, end, name};
    while (batch.count < 4 && texts[batch.count]) {
        statements[batch.count] = (struct cleave_store_statement){.text = texts[batch.count]};
        batch.count++;
    }
    client->error = (struct cleave_error){0};
    enum cleave_status status = client->ops->send(client->session, &batch, &client->error);
    if (!status)
        status = client->ops->receive(client->session, &client->arena, client->answers,
                                      &client->failed, &client->error);
    if (status && (!*client->error.message || client->error.status != status))
        fail_msg("status %d without its line: %s", status, client->error.message);
    return status;
}

const char *client_value(struct client *client, const char *query)
{
    if (client_batch(client, CLEAVE_BATCH_COMMIT, NULL, query, NULL, NULL, NULL))
        fail_msg("%s", client->error.message);
    if (!client->answers[0].rows)
        return "";
    return client->answers[0].values[0] ? client->answers[0].values[0] : "-";
}

enum cleave_status client_finish(struct client *client, const char *name, bool commit)
{
    enum cleave_status status =
        client->ops->send_finish(client->session, name, commit, &client->error);
    return status ? status : client->ops->receive_finish(client->session, &client->error);
}

void client_do(struct client *client, const char *statement)
{
    if (client_batch(client, CLEAVE_BATCH_COMMIT, NULL, statement, NULL, NULL, NULL))
        fail_msg("%s", client->error.message);
}

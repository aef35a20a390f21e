/* Logs: a request to one becomes a message in a JetStream stream, and is answered once that is
 * acknowledged.
 *
 * As many as a mailbox holds are under way at a time; beyond that the sender waits, as for a full
 * mailbox. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/nats/ask.h"

enum { WINDOW_S = 600 };

enum cleave_status cleave__log_open(struct cleave__nats *nats, jsCtx *js,
                                    const struct cleave__box *box, struct cleave_error *error)
{
    struct cleave__stream_wish wish = {.window_ns = nats->options->log_window_ns
                                                        ? nats->options->log_window_ns
                                                        : WINDOW_S * UINT64_C(1000000000)};
    cleave__nats_stream_name(nats->dial.prefix, "log", box->actor->name, wish.name);
    snprintf(wish.subject, sizeof wish.subject, "%s.>", box->wire->subject);
    return cleave__stream_make(&nats->dial, js, &wish, error);
}

static void done(struct cleave__ask *ask, const struct cleave__ack *ack)
{
    uint8_t body[9];
    struct cleave__wire *wire = ask->context;
    cleave__store64(body, ack->sequence);
    body[8] = ack->known;
    cleave__nats_answer(wire, ask->requester, ask->correlation, CLEAVE_LOGGED, body, sizeof body);
}

/* The request's body as an ask; NULL: the run fails. */
static struct cleave__ask *read_request(struct cleave__nats *nats, struct cleave_context *context,
                                        const struct cleave__box *log,
                                        const struct cleave_frame *frame)
{
    struct cleave_reader reader = {frame->body, frame->body + frame->length, false};
    const uint8_t *lengths[2], *texts[2];
    struct cleave__ask *ask = calloc(1, sizeof *ask);
    if (!ask) {
        cleave__runtime_no_memory(context->runtime);
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        lengths[i] = cleave__get_bytes(&reader, 1);
        texts[i] = cleave__get_bytes(&reader, lengths[i] ? *lengths[i] : 0);
    }
    bool good = !reader.failed && *lengths[0] < 150 && *lengths[1] > 0 && *lengths[1] < 60 &&
                frame->flags & CLEAVE_FRAME_REQUEST;
    for (int i = 0; good && i < 2; i++) { /* letters of a header and of a subject */
        for (uint32_t c = 0; c < *lengths[i]; c++)
            good = good && texts[i][c] > ' ' && texts[i][c] < 127 &&
                   (i == 0 || !strchr("*>", texts[i][c]));
    }
    size_t size = cleave__left(&reader);
    if (!good || size > nats->dial.payload_most - 1024) {
        cleave__runtime_fail(context->runtime, good ? CLEAVE_LIMIT : CLEAVE_BAD_ARGUMENT,
                             "%s: what is sent to the log %s %s", context->actor->name,
                             log->actor->name,
                             good ? "is too large for one message"
                                  : "is not a request with an id, a subject's part and a content");
        free(ask);
        return NULL;
    }
    ask->nats = nats;
    ask->done = done;
    snprintf(ask->subject, sizeof ask->subject, "%s.%.*s", log->wire->subject, *lengths[1],
             (const char *)texts[1]);
    snprintf(ask->id, sizeof ask->id, "%.*s", *lengths[0], (const char *)texts[0]);
    ask->bytes = malloc(size + 1);
    ask->size = size;
    if (!ask->bytes) {
        free(ask);
        cleave__runtime_no_memory(context->runtime);
        return NULL;
    }
    if (size)
        memcpy(ask->bytes, reader.at, size);
    return ask;
}

struct cleave__ask *cleave__log_ask(struct cleave__nats *nats, struct cleave_context *context,
                                    const struct cleave__box *log, const struct cleave_frame *frame)
{
    struct cleave__box *own = context->actor->mail;
    struct cleave__ask *ask = read_request(nats, context, log, frame);
    if (ask) {
        ask->context = own->wire;
        ask->requester = log->actor->number;
        ask->correlation = frame->correlation;
    }
    return ask;
}

/* A stranger who may publish where a world of cleave listens, and does:
 *
 *     nats-hostile URL PREFIX SECONDS SEED raw|forged
 *
 * It hears what is sent under PREFIX and sends it again, spoilt. `raw`: random bytes, cut off,
 * bits changed, something appended; made-up answers of JetStream to requests that are not answered
 * yet. What makes of this a message of cleave's is a checksum of 32 bits. `forged`: content and
 * numbers changed under a checksum that is right, which only somebody does who means it. What
 * streams keep (PREFIX.s, PREFIX.l) is left alone. Prints how much it sent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nats/nats.h>

#include "base/random.h"
#include "runtime/nats/envelope.h"

enum { MOST = 1 << 20, BURST = 4 };

struct hostile {
    natsConnection *connection;
    struct cleave_random random;
    bool forges;
    uint64_t heard, sent;
    uint8_t bytes[MOST];
};

static uint64_t draw(struct hostile *h, uint64_t below)
{
    return cleave__random_below(&h->random, below);
}

static void send(struct hostile *h, const char *subject, const void *bytes, size_t size)
{
    h->sent += natsConnection_Publish(h->connection, subject, bytes, (int)size) == NATS_OK;
}

static void flip(struct hostile *h, size_t from, size_t to)
{
    if (to > from)
        h->bytes[from + draw(h, to - from)] ^= (uint8_t)(1 << draw(h, 8));
}

static void send_spoilt(struct hostile *h, const char *subject, size_t size)
{
    switch (draw(h, 4)) {
    case 0:
        size = draw(h, 200);
        for (size_t i = 0; i < size; i++)
            h->bytes[i] = (uint8_t)draw(h, 256);
        break;
    case 1:
        size = draw(h, size + 1);
        break;
    case 2:
        for (uint64_t n = 1 + draw(h, 8); n; n--)
            flip(h, 0, size);
        break;
    default:
        h->bytes[size++] = (uint8_t)draw(h, 256);
    }
    send(h, subject, h->bytes, size);
}

/* Frames of an envelope changed: bodies, kinds, flags, lengths. Each has the number behind its own,
 * or nobody would take it; not one far ahead, for then all up to there would be taken for lost,
 * which is what their sender said. */
static void send_forged(struct hostile *h, const char *subject, size_t size)
{
    enum { FRAME = CLEAVE__ENVELOPE_BYTES + 4, BODY = FRAME + 40 };
    uint64_t sequence[32];
    size_t frame[32], frames = 0;
    for (size_t at = FRAME; at + 40 <= size && frames < 32; frames++) {
        frame[frames] = at;
        sequence[frames] = cleave__load64(h->bytes + at + 32);
        at += cleave__load32(h->bytes + at - 4) + 4;
    }
    if (size < BODY || frames == 32)
        return;
    for (uint64_t n = 1 + draw(h, 4); n && size > BODY; n--) {
        size_t at = BODY + draw(h, size - BODY);
        uint64_t what = draw(h, 4);
        h->bytes[at] = what == 0 ? 0xff : what == 1 ? 0 : (uint8_t)draw(h, 256);
    }
    if (draw(h, 8) == 0 && size > BODY) { /* shorter: frame and envelope say so */
        size_t less = draw(h, size - BODY) + 1;
        cleave__store32(h->bytes + CLEAVE__ENVELOPE_BYTES, (uint32_t)(size - less - FRAME));
        cleave__store32(h->bytes + FRAME + 8, (uint32_t)(size - less - BODY));
        size -= less;
    }
    if (draw(h, 4) == 0)
        h->bytes[FRAME + 4] = (uint8_t)draw(h, 24);
    if (draw(h, 8) == 0)
        h->bytes[FRAME + 5] = 0x4d; /* of a move */
    if (draw(h, 16) == 0)
        flip(h, CLEAVE__ENVELOPE_BYTES + 4, BODY);
    if (draw(h, 16) == 0) /* sort, flags, credit: not who it is, and since when */
        h->bytes[draw(h, 2) ? 3 : 32 + draw(h, 32)] = (uint8_t)draw(h, 8);
    if (draw(h, 32) == 0)
        flip(h, 8, 16);
    for (size_t f = 0; f < frames && frame[f] + 40 <= size; f++) {
        cleave__store64(h->bytes + frame[f] + 32, sequence[f] + 1);
        h->bytes[frame[f] + 3] &= (uint8_t)~4; /* without a checksum of its own */
    }
    struct cleave__envelope envelope;
    cleave__envelope_renumber(h->bytes, size, draw(h, 4) ? 0 : cleave__load64(h->bytes + 48));
    if (!cleave__envelope_read(h->bytes, size, &envelope, &(struct cleave_error){.message = ""}) ||
        draw(h, 4) == 0)
        send(h, subject, h->bytes, size);
}

/* Of requests that come next, as JetStream would not answer. */
static void send_acknowledgements(struct hostile *h, const char *subject)
{
    static const char *const said[] = {"",
                                       "{",
                                       "[]",
                                       "{}",
                                       "null",
                                       "{\"seq\":0}",
                                       "{\"seq\":-1}",
                                       "{\"error\":{}}",
                                       "\"seq\"",
                                       "{\"error\":7}",
                                       "{\"seq\":\"9\"}",
                                       "{\"error\":{\"code\":503}}"};
    char to[300];
    const char *dot = strrchr(subject, '.');
    unsigned long long token = strtoull(dot + 1, NULL, 10);
    snprintf(to, sizeof to, "%.*s.%llu", (int)(dot - subject), subject,
             token + draw(h, 2) * draw(h, 4));
    const char *words = said[draw(h, sizeof said / sizeof *said)];
    send(h, to, words, strlen(words));
}

static void hear(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
                 void *context)
{
    struct hostile *h = context;
    const char *subject = natsMsg_GetSubject(message);
    size_t size = (size_t)natsMsg_GetDataLength(message);
    (void)connection, (void)subscription;
    h->heard++;
    bool kept = strstr(subject, ".s.") || strstr(subject, ".l.");
    if (!kept && size && size < MOST / 2 && draw(h, 3) == 0) {
        for (uint64_t n = 1 + draw(h, BURST); n; n--) {
            memcpy(h->bytes, natsMsg_GetData(message), size);
            if (strstr(subject, ".r."))
                send_acknowledgements(h, subject);
            else if (h->forges)
                send_forged(h, subject, size);
            else
                send_spoilt(h, subject, size);
        }
    }
    natsMsg_Destroy(message);
}

int main(int argc, char **argv)
{
    static struct hostile h;
    natsOptions *options = NULL;
    natsSubscription *subscription = NULL;
    char subject[200];
    if (argc != 6) {
        fprintf(stderr, "nats-hostile URL PREFIX SECONDS SEED raw|forged\n");
        return 2;
    }
    cleave__random_seed(&h.random, strtoull(argv[4], NULL, 10));
    h.forges = strcmp(argv[5], "forged") == 0;
    snprintf(subject, sizeof subject, "%s.>", argv[2]);
    natsStatus status = natsOptions_Create(&options);
    status = status ? status : natsOptions_SetURL(options, argv[1]);
    status = status ? status : natsOptions_SetNoEcho(options, true);
    status = status ? status : natsConnection_Connect(&h.connection, options);
    status =
        status ? status : natsConnection_Subscribe(&subscription, h.connection, subject, hear, &h);
    if (status) {
        fprintf(stderr, "nats-hostile: %s\n", natsStatus_GetText(status));
        return 1;
    }
    nanosleep(&(struct timespec){.tv_sec = atoi(argv[3])}, NULL);
    natsSubscription_Unsubscribe(subscription);
    natsConnection_FlushTimeout(h.connection, 1000);
    natsConnection_Close(h.connection);
    natsSubscription_Destroy(subscription);
    natsConnection_Destroy(h.connection);
    natsOptions_Destroy(options);
    nats_Close();
    printf("%llu heard, %llu sent\n", (unsigned long long)h.heard, (unsigned long long)h.sent);
    return 0;
}

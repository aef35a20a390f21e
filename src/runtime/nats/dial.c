/* The way in: servers, credentials, and one clear line when there is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/nats/dial.h"

enum cleave_status cleave__dial_error(struct cleave_error *error, natsStatus status,
                                      const char *what)
{
    if (status == NATS_NO_MEMORY)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the NATS connection");
    const char *detail = nats_GetLastError(NULL);
    const char *text = natsStatus_GetText(status);
    bool more = detail && detail[0] && strcmp(detail, text) != 0;
    return cleave_error_set(error, CLEAVE_IO, "%s: %s%s%s", what, text, more ? ": " : "",
                            more ? detail : "");
}

void cleave__dial_url(const char *url, char *out, size_t size)
{
    const char *host = strstr(url, "://"), *at = strrchr(url, '@');
    size_t scheme = host ? (size_t)(host + 3 - url) : 0;
    if (at)
        snprintf(out, size, "%.*s...%s", (int)(scheme < size ? scheme : 0), url, at);
    else
        snprintf(out, size, "%s", url);
}

/* ---- credentials ---- */

struct keys {
    char user[200], password[200], nkey[200], ca[500], cert[500], key[500];
    bool creds; /* the file is a .creds file */
};

static enum cleave_status read_keys(const char *path, struct keys *keys, struct cleave_error *error)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return cleave_error_set(error, CLEAVE_IO, "%s: cannot be opened: the credentials for NATS",
                                path);
    const struct {
        const char *name;
        char *value;
        size_t size;
    } words[] = {{"user", keys->user, sizeof keys->user},
                 {"password", keys->password, sizeof keys->password},
                 {"nkey", keys->nkey, sizeof keys->nkey},
                 {"ca", keys->ca, sizeof keys->ca},
                 {"cert", keys->cert, sizeof keys->cert},
                 {"key", keys->key, sizeof keys->key}};
    enum cleave_status status = CLEAVE_OK;
    char line[700];
    for (unsigned number = 1; !status && fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "\r\n")] = 0;
        if (strncmp(line, "-----BEGIN NATS USER JWT", 24) == 0) {
            keys->creds = true;
            break;
        }
        if (line[0] == 0 || line[0] == '#')
            continue;
        size_t length = strcspn(line, " "), w = 0;
        const char *value = line + length + (line[length] == ' ');
        while (w < 6 && (strlen(words[w].name) != length || strncmp(line, words[w].name, length)))
            w++;
        if (w == 6 || !value[0] || strlen(value) >= words[w].size)
            status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                      "%s:%u: not a line of credentials: user, password, nkey, ca, "
                                      "cert or key, then its value",
                                      path, number);
        else
            memcpy(words[w].value, value, strlen(value) + 1);
    }
    bool unread = ferror(file); /* a folder */
    fclose(file);
    bool says = keys->creds || keys->user[0] || keys->password[0] || keys->nkey[0] || keys->ca[0] ||
                keys->cert[0] || keys->key[0];
    if (!status && unread)
        status = cleave_error_set(error, CLEAVE_IO, "%s: cannot be read: the credentials for NATS",
                                  path);
    else if (!status && !says)
        status =
            cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: holds no credentials for NATS", path);
    if (!status && !!keys->cert[0] != !!keys->key[0])
        status =
            cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: cert and key belong together", path);
    if (!status && !!keys->user[0] != !!keys->password[0])
        status = cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: user and password belong together",
                                  path);
    return status;
}

static enum cleave_status use_keys(struct cleave__dial *dial, struct cleave_error *error)
{
    const char *path = dial->options->credentials;
    natsOptions *options = dial->connecting;
    struct keys keys = {.user = ""};
    if (!path)
        return CLEAVE_OK;
    enum cleave_status status = read_keys(path, &keys, error);
    natsStatus said = NATS_OK;
    if (!status && keys.creds)
        said = natsOptions_SetUserCredentialsFromFiles(options, path, NULL);
    if (!status && !said && keys.user[0])
        said = natsOptions_SetUserInfo(options, keys.user, keys.password);
    if (!status && !said && keys.ca[0])
        said = natsOptions_LoadCATrustedCertificates(options, keys.ca);
    if (!status && !said && keys.cert[0])
        said = natsOptions_LoadCertificatesChain(options, keys.cert, keys.key);
    if (!status && !said && (keys.ca[0] || keys.cert[0]))
        said = natsOptions_SetSecure(options, true);
    if (!status && !said && keys.nkey[0])
        status = cleave__dial_use_nkey(dial, keys.nkey, error);
    explicit_bzero(&keys, sizeof keys);
    return said ? cleave__dial_error(error, said, path) : status;
}

/* ---- connecting ---- */

enum { TRY_MS = 100, SYNC_MS = 500, HUNG_UP_MOST = 10 };
static const uint64_t start_patience_ns = UINT64_C(5000000000);

static natsStatus set_options(struct cleave__dial *dial, const struct cleave__dial_calls *calls)
{
    natsOptions *o = dial->connecting;
    const struct cleave_nats_options *options = dial->options;
    natsStatus s = natsOptions_SetServers(o, (const char **)options->urls, (int)options->url_count);
    s = s ? s : natsOptions_SetName(o, "cleave");
    s = s ? s : natsOptions_SetSendAsap(o, true);
    s = s ? s : natsOptions_UseGlobalMessageDelivery(o, true);
    s = s ? s : natsOptions_SetTimeout(o, 2000);
    s = s ? s : natsOptions_SetAllowReconnect(o, true);
    s = s ? s : natsOptions_SetMaxReconnect(o, -1);
    s = s ? s : natsOptions_SetReconnectWait(o, 100);
    s = s ? s : natsOptions_SetReconnectJitter(o, 50, 50);
    s = s ? s : natsOptions_SetPingInterval(o, 5000);
    s = s ? s : natsOptions_SetMaxPingsOut(o, 2);
    s = s ? s : natsOptions_SetMaxPendingMsgs(o, 1 << 20);
    /* What was asked of a server that died is asked again at once. */
    s = s ? s : natsOptions_SetFailRequestsOnDisconnect(o, true);
    for (uint32_t u = 0; u < options->url_count; u++) { /* the library takes it for a wish only */
        if (strncmp(options->urls[u], "tls://", 6) == 0)
            s = s ? s : natsOptions_SetSecure(o, true);
    }
    if (!calls)
        return s;
    s = s ? s : natsOptions_SetDisconnectedCB(o, calls->disconnected, calls->context);
    s = s ? s : natsOptions_SetReconnectedCB(o, calls->reconnected, calls->context);
    s = s ? s : natsOptions_SetClosedCB(o, calls->closed, calls->context);
    return s ? s : natsOptions_SetErrorHandler(o, calls->error, calls->context);
}

bool cleave__dial_passes(natsStatus status)
{
    return status == NATS_NO_SERVER || status == NATS_TIMEOUT || status == NATS_IO_ERROR ||
           status == NATS_CONNECTION_DISCONNECTED || status == NATS_STALE_CONNECTION ||
           status == NATS_NO_RESPONDERS;
}

static enum cleave_status no_address(const struct cleave__dial *dial, struct cleave_error *error)
{
    char url[200];
    cleave__dial_url(dial->options->urls[0], url, sizeof url);
    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                            "%s is not the address of a NATS server: nats://HOST:PORT or "
                            "tls://HOST:PORT",
                            url);
}

static enum cleave_status tell(const struct cleave__dial *dial, natsStatus status,
                               struct cleave_error *error)
{
    const struct cleave_nats_options *options = dial->options;
    char url[200];
    cleave__dial_url(options->urls[0], url, sizeof url);
    const char *others = options->url_count > 1 ? " (nor any other of the servers given)" : "";
    switch (status) {
    case NATS_NO_SERVER:
    case NATS_TIMEOUT:
        return cleave_error_set(error, CLEAVE_IO,
                                "no NATS server answers at %s%s: is it running, and is the address "
                                "right?",
                                url, others);
    case NATS_CONNECTION_AUTH_FAILED:
        return cleave_error_set(error, CLEAVE_IO,
                                "the NATS server at %s refuses the credentials%s%s", url,
                                options->credentials ? " of " : ": none were given",
                                options->credentials ? options->credentials : "");
    case NATS_SECURE_CONNECTION_REQUIRED:
    case NATS_SECURE_CONNECTION_WANTED:
    case NATS_SSL_ERROR: {
        char text[300];
        snprintf(text, sizeof text, "the NATS server at %s and TLS", url);
        return cleave__dial_error(error, status, text);
    }
    case NATS_PROTOCOL_ERROR: /* it hangs up, where a certificate is missing */
        return cleave_error_set(error, CLEAVE_IO,
                                "the NATS server at %s ends the connection: does it want a "
                                "certificate (lines `cert FILE` and `key FILE`), or is it another "
                                "kind of server?",
                                url);
    case NATS_INVALID_ARG:
    case NATS_ADDRESS_MISSING:
        return no_address(dial, error);
    default: {
        char text[300];
        snprintf(text, sizeof text, "the NATS server at %s", url);
        return cleave__dial_error(error, status, text);
    }
    }
}

static uint64_t patience_of(const struct cleave__dial *dial)
{
    return dial->options->patience_ns ? dial->options->patience_ns : start_patience_ns;
}

natsStatus cleave__dial_sync(const struct cleave__dial *dial)
{
    uint64_t began_ns = cleave__clock_ns();
    natsStatus status;
    while ((status = natsConnection_FlushTimeout(dial->connection, SYNC_MS)) &&
           cleave__dial_passes(status) && cleave__clock_ns() - began_ns < patience_of(dial))
        cleave__nap_ms(TRY_MS);
    return status;
}

void cleave__dial_unsubscribe(const struct cleave__dial *dial, natsSubscription *subscription)
{
    if (!subscription)
        return;
    uint64_t began_ns = cleave__clock_ns();
    natsStatus status;
    natsSubscription_Unsubscribe(subscription);
    while ((status = natsConnection_FlushTimeout(dial->connection, SYNC_MS)) == NATS_TIMEOUT &&
           natsConnection_Status(dial->connection) == NATS_CONN_STATUS_CONNECTED &&
           cleave__clock_ns() - began_ns < patience_of(dial))
        ;
    if (status) /* nothing comes over a connection that is lost */
        cleave__nap_ms(TRY_MS);
    natsSubscription_Destroy(subscription);
}

static enum cleave_status connect_to(struct cleave__dial *dial,
                                     const struct cleave__dial_calls *calls,
                                     struct cleave_error *error)
{
    const struct cleave_nats_options *options = dial->options;
    if (!options->url_count || !options->prefix || !options->prefix[0])
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "the nats transport needs a server's URL and a prefix");
    for (const char *p = options->prefix; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || *p == '-' || *p == '_' ||
                     (*p == '.' && p > options->prefix && p[1] && p[1] != '.');
        if (!plain || p - options->prefix >= (int)sizeof dial->prefix - 1)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "the prefix of subjects '%.40s' is not of letters, digits, - "
                                    "and _, with single dots between",
                                    options->prefix);
    }
    snprintf(dial->prefix, sizeof dial->prefix, "%s", options->prefix);
    natsStatus status = natsOptions_Create(&dial->connecting);
    if (!status)
        status = set_options(dial, calls);
    if (status)
        return no_address(dial, error);
    enum cleave_status done = use_keys(dial, error);
    if (done)
        return done;
    uint64_t began_ns = cleave__clock_ns();
    for (int hung_up = 0;;) {
        status = natsConnection_Connect(&dial->connection, dial->connecting);
        /* A server that dies meanwhile hangs up as one does that misses a certificate. */
        bool again = status == NATS_PROTOCOL_ERROR
                         ? ++hung_up < HUNG_UP_MOST
                         : (cleave__dial_passes(status) || status == NATS_CONNECTION_CLOSED) &&
                               cleave__clock_ns() - began_ns < patience_of(dial);
        if (!again)
            break;
        cleave__nap_ms(TRY_MS);
    }
    if (status)
        return tell(dial, status, error);
    int64_t most = natsConnection_GetMaxPayload(dial->connection);
    dial->payload_most = most > 0 && most < 1 << 20 ? (size_t)most : 1 << 20;
    if (dial->payload_most < 4096)
        return cleave_error_set(error, CLEAVE_LIMIT,
                                "the NATS server takes messages of %zu bytes; at least 4096 are "
                                "needed (max_payload)",
                                dial->payload_most);
    return CLEAVE_OK;
}

enum cleave_status cleave__dial_open(struct cleave__dial *dial,
                                     const struct cleave_nats_options *options,
                                     const struct cleave__dial_calls *calls,
                                     struct cleave_error *error)
{
    *dial = (struct cleave__dial){.options = options};
    return connect_to(dial, calls, error);
}

void cleave__dial_close(struct cleave__dial *dial)
{
    natsConnection_Destroy(dial->connection);
    natsOptions_Destroy(dial->connecting);
    explicit_bzero(dial->seed, sizeof dial->seed);
    dial->connection = NULL;
    dial->connecting = NULL;
}

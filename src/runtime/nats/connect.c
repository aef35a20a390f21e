/* The way in: servers, credentials, and one clear line when there is none. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/nats/core.h"

void cleave__nats_fail(struct cleave__nats *nats, enum cleave_status status, const char *format,
                       ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cleave__runtime_fail(nats->crew.runtime, status, "%s", text);
    cleave__crew_call(&nats->crew);
}

enum cleave_status cleave__nats_error(struct cleave_error *error, natsStatus status,
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

void cleave__nats_url(const char *url, char *out, size_t size)
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
    fclose(file);
    if (!status && !!keys->cert[0] != !!keys->key[0])
        status =
            cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: cert and key belong together", path);
    if (!status && !!keys->user[0] != !!keys->password[0])
        status = cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: user and password belong together",
                                  path);
    return status;
}

static enum cleave_status use_keys(struct cleave__nats *nats, struct cleave_error *error)
{
    const char *path = nats->options->credentials;
    natsOptions *options = nats->connecting;
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
        status = cleave__nats_use_nkey(nats, keys.nkey, error);
    explicit_bzero(&keys, sizeof keys);
    return said ? cleave__nats_error(error, said, path) : status;
}

/* ---- what the library tells ---- */

static void on_disconnected(natsConnection *connection, void *closure)
{
    struct cleave__nats *nats = closure;
    (void)connection;
    atomic_store(&nats->disconnects, true);
    atomic_store(&nats->disconnected_ns, cleave__crew_now_ns(&nats->crew) + 1);
}

static void on_reconnected(natsConnection *connection, void *closure)
{
    struct cleave__nats *nats = closure;
    (void)connection;
    atomic_store(&nats->disconnected_ns, 0);
    cleave__nats_mark(nats);
}

static void on_closed(natsConnection *connection, void *closure)
{
    struct cleave__nats *nats = closure;
    (void)connection;
    if (!atomic_load(&nats->closing))
        cleave__nats_fail(nats, CLEAVE_IO, "the NATS servers refuse to take the connection back");
    pthread_mutex_lock(&nats->ears_lock);
    nats->closed = true;
    pthread_cond_broadcast(&nats->ears_change);
    pthread_mutex_unlock(&nats->ears_lock);
}

static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status,
                     void *closure)
{
    struct cleave__nats *nats = closure;
    const char *text = NULL;
    (void)subscription;
    if (status != NATS_NOT_PERMITTED && status != NATS_SLOW_CONSUMER)
        return;
    natsConnection_GetLastError(connection, &text);
    cleave__nats_fail(nats, CLEAVE_IO,
                      "the NATS server does not permit it: %s; subjects %s.> are "
                      "needed",
                      text && text[0] ? text : natsStatus_GetText(status), nats->prefix);
}

/* ---- connecting ---- */

enum { START_PATIENCE_NS = 2000000000, TRY_MS = 100 };

static natsStatus set_options(struct cleave__nats *nats)
{
    natsOptions *o = nats->connecting;
    const struct cleave_nats_options *options = nats->options;
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
    s = s ? s : natsOptions_SetDisconnectedCB(o, on_disconnected, nats);
    s = s ? s : natsOptions_SetReconnectedCB(o, on_reconnected, nats);
    s = s ? s : natsOptions_SetClosedCB(o, on_closed, nats);
    return s ? s : natsOptions_SetErrorHandler(o, on_error, nats);
}

/* Only that nobody is there may pass by waiting. */
static bool may_pass(natsStatus status)
{
    return status == NATS_NO_SERVER || status == NATS_TIMEOUT || status == NATS_IO_ERROR ||
           status == NATS_CONNECTION_CLOSED;
}

static enum cleave_status tell(struct cleave__nats *nats, natsStatus status,
                               struct cleave_error *error)
{
    const struct cleave_nats_options *options = nats->options;
    char url[200];
    cleave__nats_url(options->urls[0], url, sizeof url);
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
        return cleave__nats_error(error, status, text);
    }
    default: {
        char text[300];
        snprintf(text, sizeof text, "the NATS server at %s", url);
        return cleave__nats_error(error, status, text);
    }
    }
}

enum cleave_status cleave__nats_connect(struct cleave__nats *nats, struct cleave_error *error)
{
    const struct cleave_nats_options *options = nats->options;
    if (!options->url_count || !options->prefix || !options->prefix[0])
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "the nats transport needs a server's URL and a prefix");
    for (const char *p = options->prefix; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || *p == '-' || *p == '_' ||
                     (*p == '.' && p > options->prefix && p[1] && p[1] != '.');
        if (!plain || p - options->prefix >= (int)sizeof nats->prefix - 1)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "the prefix of subjects '%.40s' is not of letters, digits, - "
                                    "and _, with single dots between",
                                    options->prefix);
    }
    snprintf(nats->prefix, sizeof nats->prefix, "%s", options->prefix);
    natsStatus status = natsOptions_Create(&nats->connecting);
    if (!status)
        status = set_options(nats);
    if (status) {
        char url[200];
        cleave__nats_url(options->urls[0], url, sizeof url);
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "%s is not the address of a NATS server: nats://HOST:PORT or "
                                "tls://HOST:PORT",
                                url);
    }
    enum cleave_status done = use_keys(nats, error);
    if (done)
        return done;
    uint64_t patience_ns = options->patience_ns ? options->patience_ns : START_PATIENCE_NS;
    uint64_t began_ns = cleave__crew_now_ns(&nats->crew);
    for (;;) {
        status = natsConnection_Connect(&nats->connection, nats->connecting);
        if (!status || !may_pass(status) ||
            cleave__crew_now_ns(&nats->crew) - began_ns >= patience_ns)
            break;
        nanosleep(&(struct timespec){.tv_nsec = TRY_MS * 1000000}, NULL);
    }
    if (status)
        return tell(nats, status, error);
    int64_t most = natsConnection_GetMaxPayload(nats->connection);
    nats->payload_most = most > 0 && most < 1 << 20 ? (size_t)most : 1 << 20;
    if (nats->payload_most < 4096)
        return cleave_error_set(error, CLEAVE_LIMIT,
                                "the NATS server takes messages of %zu bytes; at least 4096 are "
                                "needed (max_payload)",
                                nats->payload_most);
    return CLEAVE_OK;
}

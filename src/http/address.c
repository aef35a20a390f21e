/* Where to listen, and under what names a client may ask for it. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/server.h"

static bool is_port(const char *text, uint16_t *port)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || number > 65535)
        return false;
    *port = (uint16_t)number;
    return true;
}

static bool is_address(const char *text)
{
    struct in6_addr any;
    return inet_pton(AF_INET, text, &any) == 1 || inet_pton(AF_INET6, text, &any) == 1 ||
           !strcmp(text, "localhost");
}

enum cleave_status cleave__http_address(const char *text, char *address, size_t size,
                                        uint16_t *port, struct cleave_error *error)
{
    const char *colon = strrchr(text, ':'), *from = text;
    char host[64] = "127.0.0.1";
    size_t length = colon ? (size_t)(colon - text) : 0;
    uint16_t number;
    bool good = true;
    if (colon) {
        if (length > 2 && text[0] == '[' && text[length - 1] == ']') {
            from++;
            length -= 2;
        } else if (memchr(text, ':', length)) {
            good = false; /* of IPv6, without brackets */
        }
        good = good && length < sizeof host;
        if (good) {
            memcpy(host, from, length);
            host[length] = 0;
        }
    }
    if (!good || !is_address(host) || strlen(host) >= size ||
        !is_port(colon ? colon + 1 : text, &number))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "'%.100s' is no address to listen on: write PORT, ADDRESS:PORT or "
                                "[ADDRESS]:PORT, with a numeric address",
                                text);
    memcpy(address, host, strlen(host) + 1);
    *port = number;
    return CLEAVE_OK;
}

bool cleave__http_host_is_loopback(const char *host)
{
    char name[64];
    const char *end = host[0] == '[' ? strchr(host, ']') : strchr(host, ':');
    size_t length = end ? (size_t)(end - host) : strlen(host);
    uint16_t port;
    struct in_addr four;
    struct in6_addr six;
    if (host[0] == '[') {
        if (!end)
            return false;
        end++;
        host++;
        length--;
    }
    if (length >= sizeof name || (end && *end && (*end != ':' || !is_port(end + 1, &port))))
        return false;
    memcpy(name, host, length);
    name[length] = 0;
    if (!strcasecmp(name, "localhost"))
        return true;
    if (inet_pton(AF_INET, name, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, name, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* Which store a URL means, and URLs for shards and for messages. */
#include "store/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/vector.h"

static bool has_scheme(const char *url)
{
    return strncmp(url, "postgres://", 11) == 0 || strncmp(url, "postgresql://", 13) == 0;
}

/* "word=": the beginning of a libpq connection string. */
static bool is_connection_string(const char *url)
{
    const char *c = url;
    while (islower((unsigned char)*c) || *c == '_')
        c++;
    return c != url && *c == '=';
}

const struct cleave_store_ops *cleave__store_of(const char *url)
{
    return has_scheme(url) || is_connection_string(url) ? &cleave__postgres : &cleave__sqlite;
}

const char *cleave__store_url(const char *url, uint32_t shard, struct cleave_arena *arena)
{
    char number[12];
    size_t digits = 0, places = 0;
    for (uint32_t rest = shard; digits == 0 || rest; rest /= 10)
        number[digits++] = (char)('0' + rest % 10);
    for (const char *at = url; (at = strstr(at, "{}")); at += 2)
        places++;
    char *out = cleave__arena_alloc(arena, strlen(url) + places * digits + 1), *to = out;
    while (out && *url) {
        if (url[0] == '{' && url[1] == '}') {
            for (size_t d = digits; d--;)
                *to++ = number[d];
            url += 2;
        } else {
            *to++ = *url++;
        }
    }
    if (out)
        *to = 0;
    return out;
}

/* Takes the bytes from `from` to `to` out. */
static void cut(char *from, char *to)
{
    memmove(from, to, strlen(to) + 1);
}

/* The password in scheme://user:password@host/...: what lies between the first ":" and the last "@"
 * is taken for one, so that one with unescaped signs is found whole; but not an "@" that comes
 * after "?...=", which is in a parameter. */
static char *password_of(char *url, char **end)
{
    char *begin = strstr(url, "://") + 3;
    char *query = strchr(begin, '?'), *equals = query ? strchr(query, '=') : NULL;
    char *at = NULL;
    for (char *c = begin; *c && c != equals; c++)
        at = *c == '@' ? c : at;
    char *colon = at ? memchr(begin, ':', (size_t)(at - begin)) : NULL;
    *end = at;
    return colon ? colon + 1 : NULL;
}

static void cut_uri(char *url)
{
    char *end, *password = password_of(url, &end);
    if (password)
        cut(password - 1, end);
    for (char *c = strstr(url, "://"); (c = strstr(c, "password="));) {
        c += strlen("password=");
        cut(c, c + strcspn(c, "&"));
    }
}

bool cleave__store_escaped(const char *url)
{
    char *end, *password = has_scheme(url) ? password_of((char *)url, &end) : NULL;
    size_t length = password ? (size_t)(end - password) : 0;
    return !password || strcspn(password, "@/?") >= length;
}

/* host=... password='it''s \'' ... */
static void cut_connection_string(char *text)
{
    for (char *c = text; (c = strstr(c, "password"));) {
        c += strlen("password");
        while (isspace((unsigned char)*c))
            c++;
        if (*c != '=')
            continue;
        c++;
        char *end = c;
        while (isspace((unsigned char)*end))
            end++;
        bool quoted = *end == '\'';
        end += quoted;
        while (*end && (quoted ? *end != '\'' : !isspace((unsigned char)*end)))
            end += end[0] == '\\' && end[1] ? 2 : 1;
        cut(c, end + (quoted && *end));
    }
}

const char *cleave__store_shown(const char *url, struct cleave_arena *arena)
{
    char *shown = cleave__arena_copy(arena, url, strlen(url));
    if (!shown)
        return NULL;
    if (has_scheme(shown))
        cut_uri(shown);
    else if (is_connection_string(shown))
        cut_connection_string(shown);
    return shown;
}

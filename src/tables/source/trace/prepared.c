/* SQL-level PREPARE: what a session remembers of it, and what EXECUTE means then. (The protocol's
 * own prepared statements need none of this: the log repeats their text.) */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tables/source/trace/transaction.h"

enum { PREPARED_BYTES_MAX = 1 << 20 };

/* A name as the server sees it: unquoted, or folded to lower case. Compares equal forms only. */
static bool names_match(const char *a, size_t a_length, const char *b, size_t b_length)
{
    bool a_quoted = a_length >= 2 && a[0] == '"', b_quoted = b_length >= 2 && b[0] == '"';
    if (a_quoted)
        a++, a_length -= 2;
    if (b_quoted)
        b++, b_length -= 2;
    if (a_length != b_length)
        return false;
    return a_quoted && b_quoted ? memcmp(a, b, a_length) == 0 : strncasecmp(a, b, a_length) == 0;
}

/* "(int, text) AS body" -> body. */
static bool body_of(struct cleave_span rest, struct cleave_span *body)
{
    size_t i = cleave__split_skip_blank(rest.text, rest.length);
    if (i < rest.length && rest.text[i] == '(') {
        size_t depth = 0;
        for (; i < rest.length; i++) {
            if (rest.text[i] == '(')
                depth++;
            else if (rest.text[i] == ')' && --depth == 0)
                break;
        }
        i += i < rest.length;
    }
    i += cleave__split_skip_blank(rest.text + i, rest.length - i);
    if (i + 2 >= rest.length || strncasecmp(rest.text + i, "as", 2) != 0)
        return false;
    i += 2;
    i += cleave__split_skip_blank(rest.text + i, rest.length - i);
    *body = (struct cleave_span){rest.text + i, rest.length - i};
    return body->length > 0;
}

void cleave__prepared_forget(struct cleave_session *x, const char *name, size_t length)
{
    for (struct cleave_prepared **at = &x->prepared; *at;) {
        struct cleave_prepared *p = *at;
        if (name && !names_match(p->bytes, p->name_length, name, length)) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        x->prepared_bytes -= p->name_length + p->body_length;
        free(p);
    }
}

bool cleave__prepared_remember(struct cleave_session *x, const struct cleave_piece *piece)
{
    struct cleave_span body;
    if (!piece->name || !body_of((struct cleave_span){piece->rest, piece->rest_length}, &body))
        return true;
    cleave__prepared_forget(x, piece->name, piece->name_length);
    size_t size = piece->name_length + body.length;
    if (size > PREPARED_BYTES_MAX - x->prepared_bytes)
        return true; /* its EXECUTEs will count as unbound unless the log shows the body */
    struct cleave_prepared *p = malloc(sizeof *p + size);
    if (!p)
        return false;
    *p = (struct cleave_prepared){x->prepared, piece->name_length, body.length};
    memcpy(p->bytes, piece->name, piece->name_length);
    memcpy(p->bytes + piece->name_length, body.text, body.length);
    x->prepared = p;
    x->prepared_bytes += size;
    return true;
}

/* The body of the statement that EXECUTE names: from the DETAIL, else from the session. */
bool cleave__prepared_body(const struct cleave_session *x, const struct cleave_piece *piece,
                           struct cleave_span detail, struct cleave_span *body)
{
    struct cleave_span shown;
    if (piece->name && cleave__detail_is_prepare(detail, &shown)) {
        struct cleave_piece source;
        cleave__split_classify(shown.text, shown.length, &source);
        if (source.verb != CLEAVE_VERB_PREPARE) {
            *body = (struct cleave_span){source.text, source.length};
            return source.length > 0; /* prepared by protocol, run by SQL */
        }
        if (source.name &&
            names_match(source.name, source.name_length, piece->name, piece->name_length))
            return body_of((struct cleave_span){source.rest, source.rest_length}, body);
    }
    for (const struct cleave_prepared *p = x->prepared; p && piece->name; p = p->next) {
        if (names_match(p->bytes, p->name_length, piece->name, piece->name_length)) {
            *body = (struct cleave_span){p->bytes + p->name_length, p->body_length};
            return true;
        }
    }
    return false;
}

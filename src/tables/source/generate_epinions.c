/* Epinions as a trace: users who review items and trust each other; nine transactions.
 *
 * Two mixes are known. "schism" (Curino et al., VLDB 2010, as their workload generator has it):
 * reads 10/2/5/10/2, each update 1, of 33. "benchbase" (the benchmark suite's sample settings):
 * every transaction 10 but UpdateTrustRating 20, of 100. Keys of queries are uniform over users and
 * items, independent of what was reviewed, as in both.
 *
 * Reviews and trusts are drawn with a skew (rank = count * x * y for uniform x, y, which needs no
 * floating point) over ids that a permutation scatters. With `communities`, a user or item whose
 * permuted number is p belongs to community p mod N: nothing in the ids or the schema shows it,
 * only who is accessed together. */
#include <stdlib.h>

#include "tables/source/generate_common.h"

enum epinions_tag {
    EPINIONS_USERS,
    EPINIONS_ITEMS,
    EPINIONS_REVIEW,
    EPINIONS_TRUST,
    EPINIONS_TEXT
};

struct epinions {
    uint64_t seed;
    uint32_t users, items, reviews, trusts;
    uint32_t communities, local, clients;             /* local: percent */
    struct cleave_permutation user_order, item_order; /* id - 1 -> scattered number */
    uint64_t *review_pairs;                           /* user << 32 | item, [reviews] */
    uint64_t *trust_pairs;                            /* source << 32 | target, [trusts] */
    struct cleave_deck deck;
};

static const char ddl[] = "CREATE TABLE useracct (\n"
                          "    u_id integer PRIMARY KEY,\n"
                          "    name varchar(128)\n"
                          ");\n"
                          "\n"
                          "CREATE TABLE item (\n"
                          "    i_id integer PRIMARY KEY,\n"
                          "    title varchar(128)\n"
                          ");\n"
                          "\n"
                          "CREATE TABLE review (\n"
                          "    a_id integer PRIMARY KEY,\n"
                          "    u_id integer NOT NULL REFERENCES useracct (u_id),\n"
                          "    i_id integer NOT NULL REFERENCES item (i_id),\n"
                          "    rating integer,\n"
                          "    rank integer\n"
                          ");\n"
                          "CREATE INDEX review_user ON review (u_id);\n"
                          "CREATE INDEX review_item ON review (i_id);\n"
                          "\n"
                          "CREATE TABLE trust (\n"
                          "    source_u_id integer NOT NULL REFERENCES useracct (u_id),\n"
                          "    target_u_id integer NOT NULL REFERENCES useracct (u_id),\n"
                          "    trust integer NOT NULL,\n"
                          "    creation_date timestamp,\n"
                          "    PRIMARY KEY (source_u_id, target_u_id)\n"
                          ");\n"
                          "CREATE INDEX trust_target ON trust (target_u_id);\n";

static const char *const option_texts[][2] = {
    {"users", "rows of useracct (2000)"},
    {"items", "rows of item (1000)"},
    {"reviews", "rows of review (6 an item)"},
    {"trusts", "rows of trust (3 a user)"},
    {"mix", "schism (12 % updates) or benchbase (50 % updates) (benchbase)"},
    {"communities", "plant so many communities over users and items; 0: none (0)"},
    {"local", "with communities: percent of reviews, trusts and query pairs inside one (95)"},
    {"clients", "number of client sessions (10)"},
    {NULL, NULL},
};

static void destroy(void *state)
{
    struct epinions *e = state;
    cleave__deck_free(&e->deck);
    free(e->review_pairs);
    free(e->trust_pairs);
    free(e);
}

/* ---- who belongs together ---- */

static uint32_t community_of(const struct epinions *e, const struct cleave_permutation *order,
                             uint32_t id)
{
    return cleave__permutation_at(order, id - 1) % e->communities;
}

static uint32_t skewed(struct cleave_random *random, uint32_t count)
{
    uint64_t x = cleave__random_next(random) >> 32, y = cleave__random_next(random) >> 32;
    return (uint32_t)(((x * y >> 32) * count) >> 32);
}

/* An id of `order`'s kind to go with user `anchor`: of the same community in `local` percent of
 * draws, of another one else; of any when there are no communities. */
static uint32_t companion(const struct epinions *e, struct cleave_random *random,
                          const struct cleave_permutation *order, uint32_t anchor, bool skew)
{
    uint32_t count = order->count, community = 0, step = 1;
    if (e->communities) {
        step = e->communities;
        community = community_of(e, &e->user_order, anchor);
        if (step > 1 && cleave__random_below(random, 100) >= e->local)
            community = (community + 1 + (uint32_t)cleave__random_below(random, step - 1)) % step;
        count = (count - community + step - 1) / step;
    }
    uint32_t member = skew ? skewed(random, count) : (uint32_t)cleave__random_below(random, count);
    return cleave__permutation_find(order, community + member * step) + 1;
}

/* ---- setting up ---- */

static enum cleave_status read_options(struct epinions *e, uint32_t *mix,
                                       const struct cleave_benchmark_options *options,
                                       struct cleave_error *error)
{
    static const char *const mixes[] = {"schism", "benchbase", NULL};
    enum { MOST = 50000000 };
    enum cleave_status status =
        cleave__generator_option_integer(options, "users", 2, MOST, &e->users, error);
    if (status == CLEAVE_OK)
        status = cleave__generator_option_integer(options, "items", 1, MOST, &e->items, error);
    if (status != CLEAVE_OK)
        return status;
    /* A user reviews an item once and trusts another once; past half of all pairs, drawing new
     * ones would take too long. */
    uint64_t most_reviews = (uint64_t)e->users * e->items / 2;
    uint64_t most_trusts = (uint64_t)e->users * (e->users - 1) / 2;
    most_reviews = most_reviews > MOST ? MOST : most_reviews;
    most_trusts = most_trusts > MOST ? MOST : most_trusts;
    e->reviews = (uint64_t)e->items * 6 > most_reviews ? (uint32_t)most_reviews : e->items * 6;
    e->trusts = (uint64_t)e->users * 3 > most_trusts ? (uint32_t)most_trusts : e->users * 3;
    uint32_t smallest = e->users < e->items ? e->users : e->items;
    const struct {
        const char *name;
        uint32_t low, high, *value;
    } numbers[] = {
        {"reviews", 0, (uint32_t)most_reviews, &e->reviews},
        {"trusts", 0, (uint32_t)most_trusts, &e->trusts},
        {"communities", 0, smallest, &e->communities},
        {"local", 0, 100, &e->local},
        {"clients", 1, 100000, &e->clients},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        status = cleave__generator_option_integer(options, numbers[i].name, numbers[i].low,
                                                  numbers[i].high, numbers[i].value, error);
        if (status != CLEAVE_OK)
            return status;
    }
    return cleave__generator_option_choice(options, "mix", mixes, mix, error);
}

/* Fills `count` distinct pairs (user, companion). A pair that keeps colliding, because the heads
 * of the skew or a small community are used up, is drawn without skew, then anywhere. */
static bool draw_pairs(const struct epinions *e, enum epinions_tag tag,
                       const struct cleave_permutation *other, uint64_t *pairs, uint32_t count)
{
    struct cleave_random random;
    cleave__random_seed(&random, cleave__content(e->seed, (uint32_t)tag, 0, 0, 0, 0));
    struct cleave_change_map seen = {0};
    bool done = true;
    for (uint32_t made = 0, tries = 0; made < count && done; tries++) {
        uint32_t user =
            cleave__permutation_find(
                &e->user_order, tries < 32 ? skewed(&random, e->users)
                                           : (uint32_t)cleave__random_below(&random, e->users)) +
            1;
        uint32_t with = tries < 256 ? companion(e, &random, other, user, tries < 32)
                                    : 1 + (uint32_t)cleave__random_below(&random, other->count);
        uint64_t pair = (uint64_t)user << 32 | with;
        if ((other == &e->user_order && user == with) || cleave__change_find(&seen, pair))
            continue;
        done = cleave__change_set(&seen, pair, 1);
        pairs[made++] = pair;
        tries = UINT32_MAX; /* 0 at the next draw */
    }
    cleave__change_free(&seen);
    return done;
}

static enum cleave_status create(struct cleave_generator *generator,
                                 const struct cleave_benchmark_options *options,
                                 struct cleave_error *error)
{
    static const uint32_t weights[2][9] = {{10, 2, 5, 10, 2, 1, 1, 1, 1},
                                           {10, 10, 10, 10, 10, 10, 10, 10, 20}};
    struct epinions *e = calloc(1, sizeof *e);
    if (!e)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "epinions: out of memory");
    e->seed = generator->seed;
    e->users = 2000;
    e->items = 1000;
    e->local = 95;
    e->clients = 10;
    uint32_t mix = 1;
    enum cleave_status status = read_options(e, &mix, options, error);
    if (status != CLEAVE_OK) {
        destroy(e);
        return status;
    }
    e->user_order =
        cleave__permutation(cleave__content(e->seed, EPINIONS_USERS, 0, 0, 0, 0), e->users);
    e->item_order =
        cleave__permutation(cleave__content(e->seed, EPINIONS_ITEMS, 0, 0, 0, 0), e->items);
    e->review_pairs = malloc((e->reviews + (size_t)1) * sizeof *e->review_pairs);
    e->trust_pairs = malloc((e->trusts + (size_t)1) * sizeof *e->trust_pairs);
    if (!e->review_pairs || !e->trust_pairs || !cleave__deck_init(&e->deck, weights[mix], 9) ||
        !draw_pairs(e, EPINIONS_REVIEW, &e->item_order, e->review_pairs, e->reviews) ||
        !draw_pairs(e, EPINIONS_TRUST, &e->user_order, e->trust_pairs, e->trusts)) {
        cleave_error_set(error, CLEAVE_NO_MEMORY,
                         "epinions: out of memory for %u reviews and %u trusts", e->reviews,
                         e->trusts);
        destroy(e);
        return CLEAVE_NO_MEMORY;
    }
    generator->state = e;
    return CLEAVE_OK;
}

static bool sizes(struct cleave_generator *generator)
{
    const struct epinions *e = generator->state;
    struct cleave_schema *schema = generator->schema;
    cleave__size_table(schema, "useracct", e->users, 24 + 4);
    cleave__size_table(schema, "item", e->items, 64 + 4);
    cleave__size_table(schema, "review", e->reviews, 20);
    cleave__size_table(schema, "trust", e->trusts, 20);
    return cleave__size_column(schema, "useracct", "u_id", 1, e->users) &&
           cleave__size_column(schema, "item", "i_id", 1, e->items) &&
           cleave__size_column(schema, "review", "a_id", 1, e->reviews) &&
           cleave__size_column(schema, "review", "u_id", 1, e->users) &&
           cleave__size_column(schema, "review", "i_id", 1, e->items) &&
           cleave__size_column(schema, "trust", "source_u_id", 1, e->users) &&
           cleave__size_column(schema, "trust", "target_u_id", 1, e->users);
}

/* ---- rows ---- */

static enum cleave_status named_rows(const struct epinions *e, struct cleave_row_writer *writer,
                                     const char *table, uint32_t count, uint32_t bytes)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t id = 1; id <= count && status == CLEAVE_OK; id++) {
        char text[132];
        cleave__content_words(cleave__content(e->seed, EPINIONS_TEXT, bytes, id, 0, 0), bytes,
                              bytes, text);
        cleave__row_table(writer, table);
        cleave__row_add(writer, "%u", id);
        cleave__row_add(writer, "%s", text);
        status = cleave__row_send(writer);
    }
    return status;
}

static enum cleave_status rows(const struct cleave_generator *generator,
                               struct cleave_row_writer *writer)
{
    const struct epinions *e = generator->state;
    enum cleave_status status = named_rows(e, writer, "useracct", e->users, 24);
    if (status == CLEAVE_OK)
        status = named_rows(e, writer, "item", e->items, 64);
    for (uint32_t i = 0; i < e->reviews && status == CLEAVE_OK; i++) {
        uint64_t hash = cleave__content(e->seed, EPINIONS_REVIEW, 1, i, 0, 0);
        cleave__row_table(writer, "review");
        cleave__row_add(writer, "%u", i + 1);
        cleave__row_add(writer, "%u", (uint32_t)(e->review_pairs[i] >> 32));
        cleave__row_add(writer, "%u", (uint32_t)e->review_pairs[i]);
        cleave__row_add(writer, "%u", cleave__content_below(hash, 5));
        cleave__row_null(writer);
        status = cleave__row_send(writer);
    }
    for (uint32_t i = 0; i < e->trusts && status == CLEAVE_OK; i++) {
        uint64_t hash = cleave__content(e->seed, EPINIONS_TRUST, 1, i, 0, 0);
        char stamp[CLEAVE_STAMP_BYTES];
        cleave__content_stamp(-(int64_t)i * 1000, stamp);
        cleave__row_table(writer, "trust");
        cleave__row_add(writer, "%u", (uint32_t)(e->trust_pairs[i] >> 32));
        cleave__row_add(writer, "%u", (uint32_t)e->trust_pairs[i]);
        cleave__row_add(writer, "%u", cleave__content_below(hash, 2));
        cleave__row_add(writer, "%s", stamp);
        status = cleave__row_send(writer);
    }
    return status;
}

/* ---- transactions ---- */

enum {
    REVIEW_ITEM,
    REVIEWS_USER,
    TRUSTED_AVERAGE,
    ITEM_AVERAGE,
    TRUSTED_REVIEWS,
    USER_NAME,
    ITEM_TITLE,
    REVIEW_RATING,
    TRUST_RATING
};

static const char *const kind_names[] = {
    [REVIEW_ITEM] = "GetReviewItemById",
    [REVIEWS_USER] = "GetReviewsByUser",
    [TRUSTED_AVERAGE] = "GetAverageRatingByTrustedUser",
    [ITEM_AVERAGE] = "GetItemAverageRating",
    [TRUSTED_REVIEWS] = "GetItemReviewsByTrustedUser",
    [USER_NAME] = "UpdateUserName",
    [ITEM_TITLE] = "UpdateItemTitle",
    [REVIEW_RATING] = "UpdateReviewRating",
    [TRUST_RATING] = "UpdateTrustRating",
};

static const char *next(struct cleave_generator *generator)
{
    struct epinions *e = generator->state;
    struct cleave_random *random = &generator->random;
    struct cleave_draft *script = &generator->script;
    snprintf(generator->session, sizeof generator->session, "client-%u",
             1 + (unsigned)cleave__random_below(random, e->clients));
    uint32_t kind = cleave__deck_draw(&e->deck, random);
    /* Every draw is made for every kind, so that a mix changes which queries are asked only. */
    uint32_t user = 1 + (uint32_t)cleave__random_below(random, e->users);
    uint32_t item = companion(e, random, &e->item_order, user, false);
    uint32_t target = companion(e, random, &e->user_order, user, false);
    uint64_t value = cleave__random_next(random);
    char text[132];
    cleave__content_words(value, 24, 64, text);
    switch (kind) {
    case REVIEW_ITEM:
        cleave__draft_say(script,
                          "SELECT r.a_id, r.u_id, r.rating, i.title FROM review r JOIN item i ON "
                          "i.i_id = r.i_id WHERE r.i_id = %u ORDER BY r.rating DESC, r.a_id LIMIT "
                          "10",
                          item);
        break;
    case REVIEWS_USER:
        cleave__draft_say(script,
                          "SELECT r.a_id, r.i_id, r.rating, u.name FROM review r JOIN useracct u "
                          "ON u.u_id = r.u_id WHERE r.u_id = %u ORDER BY r.rating DESC, r.a_id "
                          "LIMIT 10",
                          user);
        break;
    case TRUSTED_AVERAGE:
        cleave__draft_say(script,
                          "SELECT avg(r.rating) FROM review r JOIN trust t ON r.u_id = "
                          "t.target_u_id WHERE r.i_id = %u AND t.source_u_id = %u",
                          item, user);
        break;
    case ITEM_AVERAGE:
        cleave__draft_say(script, "SELECT avg(rating) FROM review WHERE i_id = %u", item);
        break;
    case TRUSTED_REVIEWS:
        cleave__draft_say(script, "SELECT a_id, u_id, rating FROM review WHERE i_id = %u", item);
        cleave__draft_say(script, "SELECT target_u_id, trust FROM trust WHERE source_u_id = %u",
                          user);
        break;
    case USER_NAME:
        text[24] = 0;
        cleave__draft_say(script, "UPDATE useracct SET name = '%s' WHERE u_id = %u", text, user);
        break;
    case ITEM_TITLE:
        cleave__draft_say(script, "UPDATE item SET title = '%s' WHERE i_id = %u", text, item);
        break;
    case REVIEW_RATING:
        cleave__draft_say(script, "UPDATE review SET rating = %u WHERE i_id = %u AND u_id = %u",
                          cleave__content_below(value, 5), item, user);
        break;
    default:
        cleave__draft_say(script,
                          "UPDATE trust SET trust = %u WHERE source_u_id = %u AND target_u_id = "
                          "%u",
                          cleave__content_below(value, 2), user, target);
        break;
    }
    return kind_names[kind];
}

const struct cleave_generate_ops cleave__generate_epinions = {
    .benchmark = {"epinions", "Epinions: a social network of reviews and trust", option_texts},
    .ddl = ddl,
    .create = create,
    .sizes = sizes,
    .next = next,
    .rows = rows,
    .destroy = destroy,
};

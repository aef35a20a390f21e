/* TATP, the telecom benchmark, as a trace: seven transactions on four tables, 35/10/35/2/14/2/2.
 *
 * Contents are functions of (seed, s_id): which access types, facilities and forwardings a
 * subscriber has. sub_nbr is s_id in 15 digits, so that 18 % of transactions name the subscriber
 * by a column that no key relates to the others.
 * The benchmark expects some attempts to fail (a forwarding that exists already or does not exist,
 * a facility that is absent). Here each is committed work that changes nothing: the insert says ON
 * CONFLICT DO NOTHING and names a facility that the subscriber has; updates, deletes and reads of
 * an absent row touch no row. */
#include <stdlib.h>

#include "tables/source/generate_common.h"

enum tatp_tag { TATP_SUBSCRIBER, TATP_ACCESS, TATP_FACILITY, TATP_FORWARD };

struct tatp {
    uint64_t seed;
    uint32_t subscribers, mask; /* mask: A of the non-uniform draw */
    uint32_t uniform, clients;
    struct cleave_deck deck;
};

static const char ddl[] = "CREATE TABLE subscriber (\n"
                          "    s_id integer PRIMARY KEY,\n"
                          "    sub_nbr varchar(15) NOT NULL UNIQUE,\n"
                          "    bit_1 smallint, bit_2 smallint, bit_3 smallint, bit_4 smallint,\n"
                          "    bit_5 smallint, bit_6 smallint, bit_7 smallint, bit_8 smallint,\n"
                          "    bit_9 smallint, bit_10 smallint,\n"
                          "    hex_1 smallint, hex_2 smallint, hex_3 smallint, hex_4 smallint,\n"
                          "    hex_5 smallint, hex_6 smallint, hex_7 smallint, hex_8 smallint,\n"
                          "    hex_9 smallint, hex_10 smallint,\n"
                          "    byte2_1 smallint, byte2_2 smallint, byte2_3 smallint,\n"
                          "    byte2_4 smallint, byte2_5 smallint, byte2_6 smallint,\n"
                          "    byte2_7 smallint, byte2_8 smallint, byte2_9 smallint,\n"
                          "    byte2_10 smallint,\n"
                          "    msc_location bigint, vlr_location bigint\n"
                          ");\n"
                          "\n"
                          "CREATE TABLE access_info (\n"
                          "    s_id integer NOT NULL REFERENCES subscriber (s_id),\n"
                          "    ai_type smallint NOT NULL,\n"
                          "    data1 smallint, data2 smallint, data3 char(3), data4 char(5),\n"
                          "    PRIMARY KEY (s_id, ai_type)\n"
                          ");\n"
                          "\n"
                          "CREATE TABLE special_facility (\n"
                          "    s_id integer NOT NULL REFERENCES subscriber (s_id),\n"
                          "    sf_type smallint NOT NULL,\n"
                          "    is_active smallint NOT NULL,\n"
                          "    error_cntrl smallint, data_a smallint, data_b char(5),\n"
                          "    PRIMARY KEY (s_id, sf_type)\n"
                          ");\n"
                          "\n"
                          "CREATE TABLE call_forwarding (\n"
                          "    s_id integer NOT NULL,\n"
                          "    sf_type smallint NOT NULL,\n"
                          "    start_time smallint NOT NULL,\n"
                          "    end_time smallint NOT NULL,\n"
                          "    numberx varchar(15),\n"
                          "    PRIMARY KEY (s_id, sf_type, start_time),\n"
                          "    FOREIGN KEY (s_id, sf_type) REFERENCES special_facility (s_id, "
                          "sf_type)\n"
                          ");\n";

static const char *const option_texts[][2] = {
    {"subscribers", "rows of subscriber (100000)"},
    {"distribution", "of s_id: nonuniform, as the benchmark has it, or uniform (nonuniform)"},
    {"clients", "number of client sessions (10)"},
    {"mix", "weights of GetSubscriberData/GetNewDestination/GetAccessData/UpdateSubscriberData/"
            "UpdateLocation/InsertCallForwarding/DeleteCallForwarding (35/10/35/2/14/2/2)"},
    {NULL, NULL},
};

static void destroy(void *state)
{
    struct tatp *tatp = state;
    cleave__deck_free(&tatp->deck);
    free(tatp);
}

static enum cleave_status read_options(struct tatp *tatp, uint32_t *weights,
                                       const struct cleave_benchmark_options *options,
                                       struct cleave_error *error)
{
    static const char *const distributions[] = {"nonuniform", "uniform", NULL};
    enum cleave_status status = cleave__generator_option_integer(
        options, "subscribers", 1, 1000000000, &tatp->subscribers, error);
    if (status == CLEAVE_OK)
        status = cleave__generator_option_choice(options, "distribution", distributions,
                                                 &tatp->uniform, error);
    if (status == CLEAVE_OK)
        status =
            cleave__generator_option_integer(options, "clients", 1, 100000, &tatp->clients, error);
    if (status == CLEAVE_OK)
        status = cleave__generator_option_weights(options, "mix", 7, weights, error);
    return status;
}

static enum cleave_status create(struct cleave_generator *generator,
                                 const struct cleave_benchmark_options *options,
                                 struct cleave_error *error)
{
    struct tatp *tatp = calloc(1, sizeof *tatp);
    if (!tatp)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "tatp: out of memory");
    uint32_t weights[7] = {35, 10, 35, 2, 14, 2, 2};
    tatp->seed = generator->seed;
    tatp->subscribers = 100000;
    tatp->clients = 10;
    enum cleave_status status = read_options(tatp, weights, options, error);
    if (status == CLEAVE_OK && !cleave__deck_init(&tatp->deck, weights, 7))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "tatp: out of memory");
    if (status != CLEAVE_OK) {
        destroy(tatp);
        return status;
    }
    tatp->mask = tatp->subscribers <= 1000000    ? 65535
                 : tatp->subscribers <= 10000000 ? 1048575
                                                 : 2097151;
    generator->state = tatp;
    return CLEAVE_OK;
}

/* ---- contents ---- */

static uint64_t cell(const struct tatp *tatp, enum tatp_tag tag, uint32_t s_id, uint32_t a,
                     uint32_t b)
{
    return cleave__content(tatp->seed, (uint32_t)tag, s_id, a, b, 0);
}

/* A set of 1..4 of the types 1..4, as bits 1..4: first how many, then which. */
static uint32_t types_of(const struct tatp *tatp, enum tatp_tag tag, uint32_t s_id)
{
    uint64_t hash = cell(tatp, tag, s_id, 0, 0);
    uint32_t count = 1 + cleave__content_below(hash, 4);
    struct cleave_permutation order = cleave__permutation(hash, 4);
    uint32_t types = 0;
    for (uint32_t i = 0; i < count; i++)
        types |= 2u << cleave__permutation_at(&order, i);
    return types;
}

/* Of the start times 0, 8 and 16: 0..3 of them, as bits 0..2. */
static uint32_t starts_of(const struct tatp *tatp, uint32_t s_id, uint32_t sf_type)
{
    uint64_t hash = cell(tatp, TATP_FORWARD, s_id, sf_type, 99);
    uint32_t count = cleave__content_below(hash, 4);
    struct cleave_permutation order = cleave__permutation(hash, 3);
    uint32_t starts = 0;
    for (uint32_t i = 0; i < count; i++)
        starts |= 1u << cleave__permutation_at(&order, i);
    return starts;
}

static void add_capitals(struct cleave_row_writer *writer, uint64_t hash, uint32_t length)
{
    char text[16];
    cleave__content_letters(hash, length, length, text);
    for (uint32_t i = 0; i < length; i++)
        text[i] = (char)(text[i] - 'a' + 'A');
    cleave__row_add(writer, "%s", text);
}

static enum cleave_status subscriber_row(const struct tatp *tatp, struct cleave_row_writer *writer,
                                         uint32_t s_id)
{
    uint64_t hash = cell(tatp, TATP_SUBSCRIBER, s_id, 0, 0);
    cleave__row_table(writer, "subscriber");
    cleave__row_add(writer, "%u", s_id);
    cleave__row_add(writer, "%015u", s_id);
    for (uint32_t i = 0; i < 10; i++)
        cleave__row_add(writer, "%u", (unsigned)(hash >> i & 1));
    for (uint32_t i = 0; i < 10; i++)
        cleave__row_add(writer, "%u", (unsigned)(hash >> (12 + 4 * i) & 15));
    hash = cleave__mix64(hash + 1);
    for (uint32_t i = 0; i < 10; i++) {
        cleave__row_add(writer, "%u", (unsigned)(hash >> (5 * i) & 255));
    }
    for (uint32_t i = 1; i <= 2; i++)
        cleave__row_add(
            writer, "%u",
            1 + cleave__content_below(cell(tatp, TATP_SUBSCRIBER, s_id, i, 0), UINT32_MAX));
    return cleave__row_send(writer);
}

static enum cleave_status access_row(const struct tatp *tatp, struct cleave_row_writer *writer,
                                     uint32_t s_id, uint32_t type)
{
    uint64_t hash = cell(tatp, TATP_ACCESS, s_id, type, 1);
    cleave__row_table(writer, "access_info");
    cleave__row_add(writer, "%u", s_id);
    cleave__row_add(writer, "%u", type);
    cleave__row_add(writer, "%u", (unsigned)(hash & 255));
    cleave__row_add(writer, "%u", (unsigned)(hash >> 8 & 255));
    add_capitals(writer, hash + 1, 3);
    add_capitals(writer, hash + 2, 5);
    return cleave__row_send(writer);
}

static enum cleave_status facility_row(const struct tatp *tatp, struct cleave_row_writer *writer,
                                       uint32_t s_id, uint32_t type)
{
    uint64_t hash = cell(tatp, TATP_FACILITY, s_id, type, 1);
    cleave__row_table(writer, "special_facility");
    cleave__row_add(writer, "%u", s_id);
    cleave__row_add(writer, "%u", type);
    cleave__row_add(writer, "%u", (unsigned)(cleave__content_below(hash, 100) < 85));
    cleave__row_add(writer, "%u", (unsigned)(hash & 255));
    cleave__row_add(writer, "%u", (unsigned)(hash >> 8 & 255));
    add_capitals(writer, hash + 1, 5);
    return cleave__row_send(writer);
}

static enum cleave_status forward_rows(const struct tatp *tatp, struct cleave_row_writer *writer,
                                       uint32_t s_id, uint32_t type)
{
    uint32_t starts = starts_of(tatp, s_id, type);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < 3 && status == CLEAVE_OK; i++) {
        if (!(starts >> i & 1))
            continue;
        uint64_t hash = cell(tatp, TATP_FORWARD, s_id, type, i);
        char number[16];
        cleave__content_digits(hash, 15, number);
        cleave__row_table(writer, "call_forwarding");
        cleave__row_add(writer, "%u", s_id);
        cleave__row_add(writer, "%u", type);
        cleave__row_add(writer, "%u", i * 8);
        cleave__row_add(writer, "%u", i * 8 + 1 + cleave__content_below(hash, 8));
        cleave__row_add(writer, "%s", number);
        status = cleave__row_send(writer);
    }
    return status;
}

static enum cleave_status rows(const struct cleave_generator *generator,
                               struct cleave_row_writer *writer)
{
    static const struct {
        enum tatp_tag types;
        enum cleave_status (*row)(const struct tatp *tatp, struct cleave_row_writer *writer,
                                  uint32_t s_id, uint32_t type);
    } details[] = {
        {TATP_ACCESS, access_row}, {TATP_FACILITY, facility_row}, {TATP_FACILITY, forward_rows}};
    const struct tatp *tatp = generator->state;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t s = 1; s <= tatp->subscribers && status == CLEAVE_OK; s++)
        status = subscriber_row(tatp, writer, s);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t s = 1; s <= tatp->subscribers && status == CLEAVE_OK; s++) {
            uint32_t types = types_of(tatp, details[i].types, s);
            for (uint32_t type = 1; type <= 4 && status == CLEAVE_OK; type++) {
                if (types >> type & 1)
                    status = details[i].row(tatp, writer, s, type);
            }
        }
    }
    return status;
}

static bool sizes(struct cleave_generator *generator)
{
    const struct tatp *tatp = generator->state;
    struct cleave_schema *schema = generator->schema;
    double s = tatp->subscribers;
    cleave__size_table(schema, "subscriber", s, 100);
    cleave__size_table(schema, "access_info", s * 2.5, 20);
    cleave__size_table(schema, "special_facility", s * 2.5, 20);
    cleave__size_table(schema, "call_forwarding", s * 3.75, 29);
    static const char *const tables[] = {"subscriber", "access_info", "special_facility",
                                         "call_forwarding"};
    for (uint32_t i = 0; i < 4; i++) {
        if (!cleave__size_column(schema, tables[i], "s_id", 1, tatp->subscribers))
            return false;
    }
    return cleave__size_digits(schema, "subscriber", "sub_nbr", tatp->subscribers, 15) &&
           cleave__size_column(schema, "access_info", "ai_type", 1, 4) &&
           cleave__size_column(schema, "special_facility", "sf_type", 1, 4) &&
           cleave__size_column(schema, "call_forwarding", "sf_type", 1, 4);
}

/* ---- transactions ---- */

static uint32_t draw(struct cleave_generator *generator, uint32_t low, uint32_t high)
{
    return (uint32_t)cleave__random_between(&generator->random, low, high);
}

static uint32_t draw_subscriber(struct cleave_generator *generator)
{
    const struct tatp *tatp = generator->state;
    uint32_t plain = draw(generator, 1, tatp->subscribers);
    if (tatp->uniform)
        return plain;
    return (draw(generator, 0, tatp->mask) | plain) % tatp->subscribers + 1;
}

static void get_subscriber(struct cleave_generator *generator, uint32_t s_id)
{
    cleave__draft_say(&generator->script,
                      "SELECT s_id, sub_nbr, bit_1, bit_2, bit_3, bit_4, bit_5, bit_6, bit_7, "
                      "bit_8, bit_9, bit_10, hex_1, hex_2, hex_3, hex_4, hex_5, hex_6, hex_7, "
                      "hex_8, hex_9, hex_10, byte2_1, byte2_2, byte2_3, byte2_4, byte2_5, "
                      "byte2_6, byte2_7, byte2_8, byte2_9, byte2_10, msc_location, vlr_location "
                      "FROM subscriber WHERE s_id = %u",
                      s_id);
}

static void get_destination(struct cleave_generator *generator, uint32_t s_id)
{
    uint32_t type = draw(generator, 1, 4), start = draw(generator, 0, 2) * 8;
    cleave__draft_say(&generator->script,
                      "SELECT cf.numberx FROM special_facility sf JOIN call_forwarding cf ON "
                      "cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type WHERE sf.s_id = %u AND "
                      "sf.sf_type = %u AND sf.is_active = 1 AND cf.start_time <= %u AND "
                      "cf.end_time > %u",
                      s_id, type, start, start + draw(generator, 1, 8));
}

static void get_access(struct cleave_generator *generator, uint32_t s_id)
{
    cleave__draft_say(&generator->script,
                      "SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = %u AND "
                      "ai_type = %u",
                      s_id, draw(generator, 1, 4));
}

static void update_subscriber(struct cleave_generator *generator, uint32_t s_id)
{
    uint32_t bit = draw(generator, 0, 1), data = draw(generator, 0, 255);
    cleave__draft_say(&generator->script, "UPDATE subscriber SET bit_1 = %u WHERE s_id = %u", bit,
                      s_id);
    cleave__draft_say(&generator->script,
                      "UPDATE special_facility SET data_a = %u WHERE s_id = %u AND sf_type = %u",
                      data, s_id, draw(generator, 1, 4));
}

static void update_location(struct cleave_generator *generator, uint32_t s_id)
{
    cleave__draft_say(&generator->script,
                      "UPDATE subscriber SET vlr_location = %u WHERE sub_nbr = '%015u'",
                      draw(generator, 1, UINT32_MAX), s_id);
}

static void insert_forwarding(struct cleave_generator *generator, uint32_t s_id)
{
    uint32_t types = types_of(generator->state, TATP_FACILITY, s_id);
    uint32_t type;
    do {
        type = draw(generator, 1, 4);
    } while (!(types >> type & 1));
    uint32_t start = draw(generator, 0, 2) * 8, end = start + draw(generator, 1, 8);
    char number[16];
    cleave__content_digits(cleave__random_next(&generator->random), 15, number);
    cleave__draft_say(&generator->script, "SELECT s_id FROM subscriber WHERE sub_nbr = '%015u'",
                      s_id);
    cleave__draft_say(&generator->script, "SELECT sf_type FROM special_facility WHERE s_id = %u",
                      s_id);
    cleave__draft_say(&generator->script,
                      "INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx) "
                      "VALUES (%u, %u, %u, %u, '%s') ON CONFLICT DO NOTHING",
                      s_id, type, start, end, number);
}

static void delete_forwarding(struct cleave_generator *generator, uint32_t s_id)
{
    uint32_t type = draw(generator, 1, 4), start = draw(generator, 0, 2) * 8;
    cleave__draft_say(&generator->script, "SELECT s_id FROM subscriber WHERE sub_nbr = '%015u'",
                      s_id);
    cleave__draft_say(&generator->script,
                      "DELETE FROM call_forwarding WHERE s_id = %u AND sf_type = %u AND "
                      "start_time = %u",
                      s_id, type, start);
}

static const char *next(struct cleave_generator *generator)
{
    static const struct {
        const char *name;
        void (*write)(struct cleave_generator *generator, uint32_t s_id);
    } kinds[] = {
        {"GetSubscriberData", get_subscriber},
        {"GetNewDestination", get_destination},
        {"GetAccessData", get_access},
        {"UpdateSubscriberData", update_subscriber},
        {"UpdateLocation", update_location},
        {"InsertCallForwarding", insert_forwarding},
        {"DeleteCallForwarding", delete_forwarding},
    };
    struct tatp *tatp = generator->state;
    snprintf(generator->session, sizeof generator->session, "client-%u",
             draw(generator, 1, tatp->clients));
    uint32_t kind = cleave__deck_draw(&tatp->deck, &generator->random);
    kinds[kind].write(generator, draw_subscriber(generator));
    return kinds[kind].name;
}

const struct cleave_generate_ops cleave__generate_tatp = {
    .benchmark = {"tatp", "TATP: reads and updates of telephone subscribers", option_texts},
    .ddl = ddl,
    .create = create,
    .sizes = sizes,
    .next = next,
    .rows = rows,
    .destroy = destroy,
};

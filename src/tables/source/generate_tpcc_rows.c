/* The rows of TPC-C's initial database (clause 4.3.3.1), table by table. */
#include "tables/source/generate_tpcc.h"

static uint64_t cell(const struct tpcc *tpcc, enum tpcc_tag tag, uint64_t a, uint64_t b, uint64_t c,
                     uint64_t d)
{
    return cleave__content(tpcc->seed, (uint32_t)tag, a, b, c, d);
}

static void add_cents(struct cleave_row_writer *writer, uint64_t cents)
{
    cleave__row_add(writer, "%llu.%02u", (unsigned long long)(cents / 100),
                    (unsigned)(cents % 100));
}

static void add_letters(struct cleave_row_writer *writer, uint64_t hash, uint32_t low,
                        uint32_t high)
{
    char text[64];
    cleave__content_letters(hash, low, high, text);
    cleave__row_add(writer, "%s", text);
}

static void add_words(struct cleave_row_writer *writer, uint64_t hash, uint32_t low, uint32_t high)
{
    char text[512];
    cleave__content_words(hash, low, high, text);
    cleave__row_add(writer, "%s", text);
}

static void add_stamp(struct cleave_row_writer *writer, int64_t milliseconds)
{
    char text[CLEAVE_STAMP_BYTES];
    cleave__content_stamp(milliseconds, text);
    cleave__row_add(writer, "%s", text);
}

/* street 1, street 2, city, state, zip */
static void add_address(struct cleave_row_writer *writer, uint64_t hash)
{
    for (uint64_t i = 1; i <= 3; i++)
        add_letters(writer, hash + i, 10, 20);
    char state[3], zip[5];
    cleave__content_letters(hash + 4, 2, 2, state);
    cleave__content_digits(hash + 5, 4, zip);
    cleave__row_add(writer, "%c%c", state[0] - 'a' + 'A', state[1] - 'a' + 'A');
    cleave__row_add(writer, "%s11111", zip);
}

/* The 10 % of items and stock rows whose data says so (clause 4.3.3.1). */
static void add_original(struct cleave_row_writer *writer, uint64_t hash)
{
    char text[64];
    cleave__content_words(hash, 26, 50, text);
    bool original = cleave__content_below(cleave__mix64(hash + 3), 10) == 0;
    cleave__row_add(writer, "%s%s", original ? "ORIGINAL" : "", text + (original ? 8 : 0));
}

static enum cleave_status warehouse_row(const struct tpcc *tpcc, struct cleave_row_writer *writer,
                                        uint32_t w)
{
    char name[TPCC_NAME_BYTES];
    uint64_t hash = cell(tpcc, TPCC_WAREHOUSE, w, 1, 0, 0);
    cleave__row_table(writer, "warehouse");
    cleave__row_add(writer, "%u", w);
    cleave__tpcc_warehouse_name(tpcc, w, name);
    cleave__row_add(writer, "%s", name);
    add_address(writer, hash);
    cleave__row_add(writer, "0.%04u", cleave__content_below(hash, 2001));
    add_cents(writer, (uint64_t)tpcc->customers * TPCC_DISTRICTS * 1000);
    return cleave__row_send(writer);
}

static enum cleave_status district_row(const struct tpcc *tpcc, struct cleave_row_writer *writer,
                                       uint32_t w, uint32_t d)
{
    char name[TPCC_NAME_BYTES];
    uint64_t hash = cell(tpcc, TPCC_DISTRICT, w, d, 1, 0);
    cleave__row_table(writer, "district");
    cleave__row_add(writer, "%u", w);
    cleave__row_add(writer, "%u", d);
    cleave__tpcc_district_name(tpcc, w, d, name);
    cleave__row_add(writer, "%s", name);
    add_address(writer, hash);
    cleave__row_add(writer, "0.%04u", cleave__content_below(hash, 2001));
    add_cents(writer, (uint64_t)tpcc->customers * 1000);
    cleave__row_add(writer, "%u", tpcc->customers + 1);
    return cleave__row_send(writer);
}

static enum cleave_status customer_row(const struct tpcc *tpcc, struct cleave_row_writer *writer,
                                       uint32_t w, uint32_t d, uint32_t c)
{
    char text[TPCC_NAME_BYTES];
    uint64_t hash = cell(tpcc, TPCC_CUSTOMER_TEXT, w, d, c, 0);
    cleave__row_table(writer, "customer");
    cleave__row_add(writer, "%u", w);
    cleave__row_add(writer, "%u", d);
    cleave__row_add(writer, "%u", c);
    cleave__tpcc_first_name(tpcc, w, d, c, text);
    cleave__row_add(writer, "%s", text);
    cleave__row_add(writer, "OE");
    cleave__tpcc_last_name(cleave__tpcc_name_number(tpcc, w, d, c), text);
    cleave__row_add(writer, "%s", text);
    add_address(writer, hash);
    cleave__content_digits(hash + 6, 16, text);
    cleave__row_add(writer, "%s", text);
    add_stamp(writer, -86400000);
    cleave__row_add(writer, "%s", cleave__tpcc_bad_credit(tpcc, w, d, c) ? "BC" : "GC");
    cleave__row_add(writer, "50000.00");
    cleave__row_add(writer, "0.%04u",
                    cleave__content_below(cell(tpcc, TPCC_DISCOUNT, w, d, c, 0), 5001));
    cleave__row_add(writer, "-10.00");
    cleave__row_add(writer, "10.00");
    cleave__row_add(writer, "1");
    cleave__row_add(writer, "0");
    add_words(writer, hash + 7, 300, 500);
    return cleave__row_send(writer);
}

static enum cleave_status history_row(const struct tpcc *tpcc, struct cleave_row_writer *writer,
                                      uint32_t w, uint32_t d, uint32_t c)
{
    cleave__row_table(writer, "history");
    cleave__row_add(writer, "%u", c);
    cleave__row_add(writer, "%u", d);
    cleave__row_add(writer, "%u", w);
    cleave__row_add(writer, "%u", d);
    cleave__row_add(writer, "%u", w);
    add_stamp(writer, -86400000);
    cleave__row_add(writer, "10.00");
    add_words(writer, cell(tpcc, TPCC_HISTORY, w, d, c, 0), 12, 24);
    return cleave__row_send(writer);
}

/* Orders were entered a second apart, the last one just before the run. */
static int64_t entered(const struct tpcc *tpcc, uint32_t number)
{
    return ((int64_t)number - (int64_t)tpcc->customers - 1) * 1000;
}

static enum cleave_status order_row(const struct tpcc *tpcc, struct cleave_row_writer *writer,
                                    uint32_t w, uint32_t d, uint32_t o)
{
    struct tpcc_order order;
    cleave__tpcc_order_make(tpcc, w, d, o, &order);
    cleave__row_table(writer, "orders");
    cleave__row_add(writer, "%u", w);
    cleave__row_add(writer, "%u", d);
    cleave__row_add(writer, "%u", o);
    cleave__row_add(writer, "%u", order.customer);
    add_stamp(writer, entered(tpcc, o));
    if (o < tpcc->first_undelivered)
        cleave__row_add(writer, "%u",
                        1 + cleave__content_below(cell(tpcc, TPCC_CARRIER, w, d, o, 0), 10));
    else
        cleave__row_null(writer);
    cleave__row_add(writer, "%u", order.line_count);
    cleave__row_add(writer, "%u", order.all_local);
    return cleave__row_send(writer);
}

static enum cleave_status new_order_row(const struct tpcc *tpcc, struct cleave_row_writer *writer,
                                        uint32_t w, uint32_t d, uint32_t o)
{
    if (o < tpcc->first_undelivered)
        return CLEAVE_OK;
    cleave__row_table(writer, "new_order");
    cleave__row_add(writer, "%u", w);
    cleave__row_add(writer, "%u", d);
    cleave__row_add(writer, "%u", o);
    return cleave__row_send(writer);
}

static enum cleave_status line_rows(const struct tpcc *tpcc, struct cleave_row_writer *writer,
                                    uint32_t w, uint32_t d, uint32_t o)
{
    struct tpcc_order order;
    cleave__tpcc_order_make(tpcc, w, d, o, &order);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < order.line_count && status == CLEAVE_OK; i++) {
        const struct tpcc_line *line = &order.lines[i];
        char dist[TPCC_NAME_BYTES];
        cleave__tpcc_stock_dist(tpcc, line->supply, line->item, d, dist);
        cleave__row_table(writer, "order_line");
        cleave__row_add(writer, "%u", w);
        cleave__row_add(writer, "%u", d);
        cleave__row_add(writer, "%u", o);
        cleave__row_add(writer, "%u", i + 1);
        cleave__row_add(writer, "%u", line->item);
        cleave__row_add(writer, "%u", line->supply);
        if (o < tpcc->first_undelivered)
            add_stamp(writer, entered(tpcc, o));
        else
            cleave__row_null(writer);
        cleave__row_add(writer, "%u", line->quantity);
        add_cents(writer, line->amount);
        cleave__row_add(writer, "%s", dist);
        status = cleave__row_send(writer);
    }
    return status;
}

static enum cleave_status item_row(const struct tpcc *tpcc, struct cleave_row_writer *writer,
                                   uint32_t i)
{
    uint64_t hash = cell(tpcc, TPCC_ITEM_TEXT, i, 0, 0, 0);
    cleave__row_table(writer, "item");
    cleave__row_add(writer, "%u", i);
    cleave__row_add(writer, "%u", 1 + cleave__content_below(hash, 10000));
    add_letters(writer, hash + 1, 14, 24);
    add_cents(writer, cleave__tpcc_price(tpcc, i));
    add_original(writer, hash + 2);
    return cleave__row_send(writer);
}

static enum cleave_status stock_row(const struct tpcc *tpcc, struct cleave_row_writer *writer,
                                    uint32_t w, uint32_t i)
{
    char dist[TPCC_NAME_BYTES];
    cleave__row_table(writer, "stock");
    cleave__row_add(writer, "%u", w);
    cleave__row_add(writer, "%u", i);
    cleave__row_add(writer, "%u", cleave__tpcc_initial_stock(tpcc, w, i));
    for (uint32_t d = 1; d <= TPCC_DISTRICTS; d++) {
        cleave__tpcc_stock_dist(tpcc, w, i, d, dist);
        cleave__row_add(writer, "%s", dist);
    }
    for (int k = 0; k < 3; k++)
        cleave__row_add(writer, "0");
    add_original(writer, cell(tpcc, TPCC_STOCK_TEXT, w, i, 0, 0));
    return cleave__row_send(writer);
}

/* `row` for every number 1..customers of every district. */
static enum cleave_status
each_district(const struct tpcc *tpcc, struct cleave_row_writer *writer,
              enum cleave_status (*row)(const struct tpcc *tpcc, struct cleave_row_writer *writer,
                                        uint32_t w, uint32_t d, uint32_t number))
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t w = 1; w <= tpcc->warehouses && status == CLEAVE_OK; w++) {
        for (uint32_t d = 1; d <= TPCC_DISTRICTS && status == CLEAVE_OK; d++) {
            for (uint32_t n = 1; n <= tpcc->customers && status == CLEAVE_OK; n++)
                status = row(tpcc, writer, w, d, n);
        }
    }
    return status;
}

enum cleave_status cleave__tpcc_rows(const struct cleave_generator *generator,
                                     struct cleave_row_writer *writer)
{
    const struct tpcc *tpcc = generator->state;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t w = 1; w <= tpcc->warehouses && status == CLEAVE_OK; w++)
        status = warehouse_row(tpcc, writer, w);
    for (uint32_t w = 1; w <= tpcc->warehouses && status == CLEAVE_OK; w++) {
        for (uint32_t d = 1; d <= TPCC_DISTRICTS && status == CLEAVE_OK; d++)
            status = district_row(tpcc, writer, w, d);
    }
    if (status == CLEAVE_OK)
        status = each_district(tpcc, writer, customer_row);
    if (status == CLEAVE_OK)
        status = each_district(tpcc, writer, history_row);
    if (status == CLEAVE_OK)
        status = each_district(tpcc, writer, order_row);
    if (status == CLEAVE_OK)
        status = each_district(tpcc, writer, new_order_row);
    for (uint32_t i = 1; i <= tpcc->items && status == CLEAVE_OK; i++)
        status = item_row(tpcc, writer, i);
    for (uint32_t w = 1; w <= tpcc->warehouses && status == CLEAVE_OK; w++) {
        for (uint32_t i = 1; i <= tpcc->items && status == CLEAVE_OK; i++)
            status = stock_row(tpcc, writer, w, i);
    }
    if (status == CLEAVE_OK)
        status = each_district(tpcc, writer, line_rows);
    return status;
}

/* TPC-C's five transactions as a driver sends them (clauses 2.4 to 2.8), with the literals that a
 * serial run against the initial database would see. */
#include <stdlib.h>
#include <string.h>

#include "tables/source/generate_tpcc.h"

/* The terminal at work: whose, where, when, and where its statements go. */
struct turn {
    struct tpcc *tpcc;
    struct cleave_random *random;
    struct cleave_draft *script;
    uint32_t warehouse, terminal; /* the terminal's number is its district's */
    char now[CLEAVE_STAMP_BYTES];
};

static uint32_t between(const struct turn *turn, uint32_t low, uint32_t high)
{
    return (uint32_t)cleave__random_between(turn->random, low, high);
}

static bool percent(const struct turn *turn, uint32_t chance)
{
    return cleave__random_below(turn->random, 100) < chance;
}

static struct tpcc_district *district_of(const struct tpcc *tpcc, uint32_t w, uint32_t d)
{
    return &tpcc->districts[(size_t)(w - 1) * TPCC_DISTRICTS + (d - 1)];
}

static uint64_t customer_key(const struct tpcc *tpcc, uint32_t w, uint32_t d, uint32_t c)
{
    return ((uint64_t)(w - 1) * TPCC_DISTRICTS + (d - 1)) * tpcc->customers + (c - 1);
}

/* The name that a terminal types: NURand over those that some customer bears. */
static uint32_t name_asked(const struct turn *turn)
{
    return cleave__tpcc_nurand(&turn->tpcc->run_name, turn->random);
}

/* Clause 2.4.2.2: the stock left, refilled by 91 when it would fall under 10. */
static bool take_stock(struct tpcc *tpcc, uint32_t w, uint32_t item, uint32_t quantity,
                       uint32_t *left)
{
    uint64_t key = (uint64_t)(w - 1) * tpcc->items + (item - 1);
    const uint32_t *changed = cleave__change_find(&tpcc->stock, key);
    uint32_t have = changed ? *changed : cleave__tpcc_initial_stock(tpcc, w, item);
    *left = have >= quantity + 10 ? have - quantity : have + 91 - quantity;
    return cleave__change_set(&tpcc->stock, key, *left);
}

static bool new_order(const struct turn *turn)
{
    struct tpcc *tpcc = turn->tpcc;
    struct cleave_draft *script = turn->script;
    uint32_t w = turn->warehouse, d = between(turn, 1, TPCC_DISTRICTS);
    struct tpcc_district *district = district_of(tpcc, w, d);
    if (district->next_order == UINT32_MAX)
        return false;
    uint32_t o = district->next_order++;
    struct tpcc_order order;
    cleave__tpcc_order_make(tpcc, w, d, o, &order);
    if (!cleave__change_set(&tpcc->last_order, customer_key(tpcc, w, d, order.customer), o))
        return false;

    cleave__draft_say(script,
                      "SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON "
                      "w_id = c_w_id WHERE c_w_id = %u AND c_d_id = %u AND c_id = %u",
                      w, d, order.customer);
    cleave__draft_say(script,
                      "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = %u AND d_id = %u "
                      "FOR UPDATE",
                      w, d);
    cleave__draft_say(script,
                      "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = %u AND "
                      "d_id = %u",
                      w, d);
    cleave__draft_say(script,
                      "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, "
                      "o_all_local) VALUES (%u, %u, %u, %u, '%s', %u, %u)",
                      w, d, o, order.customer, turn->now, order.line_count, order.all_local);
    cleave__draft_say(
        script, "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (%u, %u, %u)", w, d, o);
    for (uint32_t i = 0; i < order.line_count; i++) {
        const struct tpcc_line *line = &order.lines[i];
        char dist[TPCC_NAME_BYTES];
        uint32_t left;
        cleave__tpcc_stock_dist(tpcc, line->supply, line->item, d, dist);
        if (!take_stock(tpcc, line->supply, line->item, line->quantity, &left))
            return false;
        cleave__draft_say(script, "SELECT i_price, i_name, i_data FROM item WHERE i_id = %u",
                          line->item);
        cleave__draft_say(script,
                          "SELECT s_quantity, s_data, s_dist_%02u FROM stock WHERE s_w_id = %u "
                          "AND s_i_id = %u FOR UPDATE",
                          d, line->supply, line->item);
        cleave__draft_say(script,
                          "UPDATE stock SET s_quantity = %u, s_ytd = s_ytd + %u, s_order_cnt = "
                          "s_order_cnt + 1, s_remote_cnt = s_remote_cnt + %u WHERE s_w_id = %u "
                          "AND s_i_id = %u",
                          left, line->quantity, (unsigned)(line->supply != w), line->supply,
                          line->item);
        cleave__draft_say(script,
                          "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, "
                          "ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES (%u, %u, "
                          "%u, %u, %u, %u, %u, %u.%02u, '%s')",
                          w, d, o, i + 1, line->item, line->supply, line->quantity,
                          line->amount / 100, line->amount % 100, dist);
    }
    return true;
}

#define CUSTOMER_COLUMNS                                                                           \
    "c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, "         \
    "c_credit, c_credit_lim, c_discount, c_balance, c_since"

/* A customer by last name or by number; says the SELECT. 0: out of memory. */
static uint32_t find_customer(const struct turn *turn, uint32_t w, uint32_t d, const char *columns)
{
    struct tpcc *tpcc = turn->tpcc;
    if (!percent(turn, tpcc->by_name)) {
        uint32_t customer = cleave__tpcc_nurand(&tpcc->customer, turn->random);
        cleave__draft_say(turn->script,
                          "SELECT %s FROM customer WHERE c_w_id = %u AND c_d_id = %u AND c_id = "
                          "%u",
                          columns, w, d, customer);
        return customer;
    }
    char last[TPCC_NAME_BYTES];
    uint32_t number = name_asked(turn);
    cleave__tpcc_last_name(number, last);
    cleave__draft_say(turn->script,
                      "SELECT c_id, %s FROM customer WHERE c_w_id = %u AND c_d_id = %u AND c_last "
                      "= '%s' ORDER BY c_first",
                      columns, w, d, last);
    uint32_t customer = cleave__tpcc_customer_named(tpcc, w, d, number);
    return customer == UINT32_MAX ? 0 : customer;
}

static bool payment(const struct turn *turn)
{
    struct tpcc *tpcc = turn->tpcc;
    struct cleave_draft *script = turn->script;
    uint32_t w = turn->warehouse, d = between(turn, 1, TPCC_DISTRICTS);
    uint32_t customer_w = w, customer_d = d;
    if (percent(turn, tpcc->remote_payment) && tpcc->warehouses > 1) {
        uint32_t other = between(turn, 1, tpcc->warehouses - 1);
        customer_w = other + (other >= w);
        customer_d = between(turn, 1, TPCC_DISTRICTS);
    }
    uint32_t cents = between(turn, 100, 500000);
    char amount[24], warehouse_name[TPCC_NAME_BYTES], district_name[TPCC_NAME_BYTES];
    snprintf(amount, sizeof amount, "%u.%02u", cents / 100, cents % 100);
    cleave__tpcc_warehouse_name(tpcc, w, warehouse_name);
    cleave__tpcc_district_name(tpcc, w, d, district_name);

    cleave__draft_say(script, "UPDATE warehouse SET w_ytd = w_ytd + %s WHERE w_id = %u", amount, w);
    cleave__draft_say(script,
                      "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM "
                      "warehouse WHERE w_id = %u",
                      w);
    cleave__draft_say(script,
                      "UPDATE district SET d_ytd = d_ytd + %s WHERE d_w_id = %u AND d_id = %u",
                      amount, w, d);
    cleave__draft_say(script,
                      "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM "
                      "district WHERE d_w_id = %u AND d_id = %u",
                      w, d);
    uint32_t customer = find_customer(turn, customer_w, customer_d, CUSTOMER_COLUMNS);
    if (!customer)
        return false;
    cleave__draft_open(script);
    cleave__draft_add(script,
                      "UPDATE customer SET c_balance = c_balance - %s, c_ytd_payment = "
                      "c_ytd_payment + %s, c_payment_cnt = c_payment_cnt + 1",
                      amount, amount);
    if (cleave__tpcc_bad_credit(tpcc, customer_w, customer_d, customer))
        cleave__draft_add(script, ", c_data = left('%u %u %u %u %u %s|' || c_data, 500)", customer,
                          customer_d, customer_w, d, w, amount);
    cleave__draft_add(script, " WHERE c_w_id = %u AND c_d_id = %u AND c_id = %u", customer_w,
                      customer_d, customer);
    cleave__draft_close(script);
    cleave__draft_say(script,
                      "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, "
                      "h_amount, h_data) VALUES (%u, %u, %u, %u, %u, '%s', %s, '%s    %s')",
                      customer, customer_d, customer_w, d, w, turn->now, amount, warehouse_name,
                      district_name);
    return true;
}

static bool order_status(const struct turn *turn)
{
    struct tpcc *tpcc = turn->tpcc;
    uint32_t w = turn->warehouse, d = between(turn, 1, TPCC_DISTRICTS);
    uint32_t customer = find_customer(turn, w, d, "c_balance, c_first, c_middle, c_last");
    if (!customer)
        return false;
    const uint32_t *placed =
        cleave__change_find(&tpcc->last_order, customer_key(tpcc, w, d, customer));
    uint32_t order = placed ? *placed : cleave__tpcc_initial_order(tpcc, w, d, customer);
    cleave__draft_say(turn->script,
                      "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = %u AND "
                      "o_d_id = %u AND o_c_id = %u ORDER BY o_id DESC LIMIT 1",
                      w, d, customer);
    cleave__draft_say(turn->script,
                      "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM "
                      "order_line WHERE ol_w_id = %u AND ol_d_id = %u AND ol_o_id = %u",
                      w, d, order);
    return true;
}

/* All ten districts in one transaction; a district with nothing to deliver is passed over. */
static bool delivery(const struct turn *turn)
{
    struct tpcc *tpcc = turn->tpcc;
    struct cleave_draft *script = turn->script;
    uint32_t w = turn->warehouse, carrier = between(turn, 1, 10);
    for (uint32_t d = 1; d <= TPCC_DISTRICTS; d++) {
        struct tpcc_district *district = district_of(tpcc, w, d);
        cleave__draft_say(script,
                          "SELECT no_o_id FROM new_order WHERE no_w_id = %u AND no_d_id = %u "
                          "ORDER BY no_o_id LIMIT 1",
                          w, d);
        if (district->oldest_undelivered == district->next_order)
            continue;
        uint32_t o = district->oldest_undelivered++;
        struct tpcc_order order;
        cleave__tpcc_order_make(tpcc, w, d, o, &order);
        uint64_t total = 0;
        for (uint32_t i = 0; i < order.line_count; i++)
            total += order.lines[i].amount;
        cleave__draft_say(script,
                          "DELETE FROM new_order WHERE no_w_id = %u AND no_d_id = %u AND no_o_id "
                          "= %u",
                          w, d, o);
        cleave__draft_say(script,
                          "SELECT o_c_id FROM orders WHERE o_w_id = %u AND o_d_id = %u AND o_id = "
                          "%u",
                          w, d, o);
        cleave__draft_say(script,
                          "UPDATE orders SET o_carrier_id = %u WHERE o_w_id = %u AND o_d_id = %u "
                          "AND o_id = %u",
                          carrier, w, d, o);
        cleave__draft_say(script,
                          "UPDATE order_line SET ol_delivery_d = '%s' WHERE ol_w_id = %u AND "
                          "ol_d_id = %u AND ol_o_id = %u",
                          turn->now, w, d, o);
        cleave__draft_say(script,
                          "SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = %u AND ol_d_id = "
                          "%u AND ol_o_id = %u",
                          w, d, o);
        cleave__draft_say(script,
                          "UPDATE customer SET c_balance = c_balance + %llu.%02u, c_delivery_cnt "
                          "= c_delivery_cnt + 1 WHERE c_w_id = %u AND c_d_id = %u AND c_id = %u",
                          (unsigned long long)(total / 100), (unsigned)(total % 100), w, d,
                          order.customer);
    }
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool stock_level(const struct turn *turn)
{
    struct tpcc *tpcc = turn->tpcc;
    struct cleave_draft *script = turn->script;
    uint32_t w = turn->warehouse, d = turn->terminal, threshold = between(turn, 10, 20);
    uint32_t next = district_of(tpcc, w, d)->next_order;
    uint32_t first = next > 20 ? next - 20 : 1;
    cleave__draft_say(script, "SELECT d_next_o_id FROM district WHERE d_w_id = %u AND d_id = %u", w,
                      d);
    if (tpcc->stock_level == 1) {
        cleave__draft_say(script,
                          "SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = "
                          "ol_w_id AND s_i_id = ol_i_id WHERE ol_w_id = %u AND ol_d_id = %u AND "
                          "ol_o_id >= %u AND ol_o_id < %u AND s_quantity < %u",
                          w, d, first, next, threshold);
        return true;
    }
    uint32_t items[20 * TPCC_LINES_MAX], count = 0;
    for (uint32_t o = first; o < next; o++) {
        struct tpcc_order order;
        cleave__tpcc_order_make(tpcc, w, d, o, &order);
        for (uint32_t i = 0; i < order.line_count; i++)
            items[count++] = order.lines[i].item;
    }
    qsort(items, count, sizeof items[0], compare_numbers);
    cleave__draft_say(script,
                      "SELECT DISTINCT ol_i_id FROM order_line WHERE ol_w_id = %u AND ol_d_id = "
                      "%u AND ol_o_id >= %u AND ol_o_id < %u",
                      w, d, first, next);
    cleave__draft_open(script);
    cleave__draft_add(script, "SELECT count(*) FROM stock WHERE s_w_id = %u AND s_i_id IN (", w);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || items[i] != items[i - 1])
            cleave__draft_add(script, "%s%u", i ? ", " : "", items[i]);
    }
    cleave__draft_add(script, ") AND s_quantity < %u", threshold);
    cleave__draft_close(script);
    return true;
}

/* Passes over the warehouses; in pass p each warehouse's p-th terminal of its shuffled ten. */
static void take_turn(struct tpcc *tpcc, struct cleave_random *random, struct turn *turn)
{
    uint32_t pass = tpcc->turn / tpcc->warehouses, at = tpcc->turn % tpcc->warehouses;
    if (tpcc->turn == 0) {
        for (uint32_t w = 0; w < tpcc->warehouses; w++)
            cleave__random_shuffle(random, tpcc->terminal_order + (size_t)w * TPCC_DISTRICTS,
                                   TPCC_DISTRICTS);
    }
    if (at == 0)
        cleave__random_shuffle(random, tpcc->warehouse_order, tpcc->warehouses);
    turn->warehouse = tpcc->warehouse_order[at];
    turn->terminal = tpcc->terminal_order[(size_t)(turn->warehouse - 1) * TPCC_DISTRICTS + pass];
    tpcc->turn = (tpcc->turn + 1) % (tpcc->warehouses * TPCC_DISTRICTS);
}

const char *cleave__tpcc_next(struct cleave_generator *generator)
{
    static const struct {
        const char *name;
        bool (*write)(const struct turn *turn);
    } kinds[] = {
        {"NewOrder", new_order}, {"Payment", payment},        {"OrderStatus", order_status},
        {"Delivery", delivery},  {"StockLevel", stock_level},
    };
    struct tpcc *tpcc = generator->state;
    struct turn turn = {.tpcc = tpcc, .random = &generator->random, .script = &generator->script};
    take_turn(tpcc, &generator->random, &turn);
    cleave__content_stamp((int64_t)(tpcc->sequence++ * 100), turn.now);
    snprintf(generator->session, sizeof generator->session, "w%u.t%u", turn.warehouse,
             turn.terminal);
    uint32_t kind = cleave__deck_draw(&tpcc->deck, &generator->random);
    return kinds[kind].write(&turn) ? kinds[kind].name : NULL;
}

/* TPC-C as a trace: options, sizes, and the state of a run.
 *
 * What is emitted: committed transactions in the standard mix (45 NewOrder, 43 Payment, 4 each of
 * OrderStatus, Delivery, StockLevel), dealt from a deck, so that any 100 consecutive cards hold it
 * exactly. The 1 % of NewOrder that the standard has roll back are left out, not replaced: the
 * shares are those of committed work.
 * Terminals: ten a warehouse, one for each district, as in clause 2.8.1.1 (StockLevel asks about
 * the terminal's district; the other transactions draw a district of the home warehouse). They
 * take turns in shuffled passes over the warehouses, so that after n transactions every warehouse
 * has started n / warehouses of them, give or take one. */
#include <stdlib.h>
#include <string.h>

#include "tables/source/generate_tpcc.h"

static const char *const option_texts[][2] = {
    {"warehouses", "number of warehouses (10)"},
    {"items", "rows of item, and of stock for each warehouse (100000)"},
    {"customers-per-district", "customers, and initial orders, of a district (3000)"},
    {"remote-item", "percent of order lines supplied by another warehouse (1)"},
    {"remote-payment", "percent of payments by a customer of another warehouse (15)"},
    {"by-name", "percent of Payment and OrderStatus that look a customer up by last name (60)"},
    {"stock-level", "list: the items of the last 20 orders, then their stock; join: one statement "
                    "(list)"},
    {"mix", "weights of NewOrder/Payment/OrderStatus/Delivery/StockLevel (45/43/4/4/4)"},
    {NULL, NULL},
};

static void destroy(void *state)
{
    struct tpcc *tpcc = state;
    cleave__deck_free(&tpcc->deck);
    free(tpcc->warehouse_order);
    free(tpcc->terminal_order);
    free(tpcc->districts);
    cleave__change_free(&tpcc->last_order);
    cleave__change_free(&tpcc->stock);
    CLEAVE_VECTOR_FREE(&tpcc->named);
    free(tpcc);
}

static enum cleave_status read_options(struct tpcc *tpcc, uint32_t *weights,
                                       const struct cleave_benchmark_options *options,
                                       struct cleave_error *error)
{
    static const char *const levels[] = {"list", "join", NULL};
    const struct {
        const char *name;
        uint32_t low, high, *value;
    } numbers[] = {
        {"warehouses", 1, 100000, &tpcc->warehouses},
        {"items", 10, 10000000, &tpcc->items},
        {"customers-per-district", 10, 100000, &tpcc->customers},
        {"remote-item", 0, 100, &tpcc->remote_item},
        {"remote-payment", 0, 100, &tpcc->remote_payment},
        {"by-name", 0, 100, &tpcc->by_name},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        enum cleave_status status = cleave__generator_option_integer(
            options, numbers[i].name, numbers[i].low, numbers[i].high, numbers[i].value, error);
        if (status != CLEAVE_OK)
            return status;
    }
    enum cleave_status status =
        cleave__generator_option_choice(options, "stock-level", levels, &tpcc->stock_level, error);
    if (status == CLEAVE_OK)
        status = cleave__generator_option_weights(options, "mix", 5, weights, error);
    return status;
}

static enum cleave_status create(struct cleave_generator *generator,
                                 const struct cleave_benchmark_options *options,
                                 struct cleave_error *error)
{
    struct tpcc *tpcc = calloc(1, sizeof *tpcc);
    if (!tpcc)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "tpcc: out of memory");
    uint32_t weights[5] = {45, 43, 4, 4, 4};
    tpcc->seed = generator->seed;
    tpcc->warehouses = 10;
    tpcc->items = 100000;
    tpcc->customers = 3000;
    tpcc->remote_item = 1;
    tpcc->remote_payment = 15;
    tpcc->by_name = 60;
    enum cleave_status status = read_options(tpcc, weights, options, error);
    if (status != CLEAVE_OK) {
        destroy(tpcc);
        return status;
    }
    /* The newest 30 % of the initial orders wait for delivery (900 of 3000). */
    tpcc->first_undelivered = tpcc->customers - tpcc->customers * 3 / 10 + 1;
    uint32_t terminals = tpcc->warehouses * TPCC_DISTRICTS;
    tpcc->warehouse_order = calloc(tpcc->warehouses, sizeof *tpcc->warehouse_order);
    tpcc->terminal_order = calloc(terminals, sizeof *tpcc->terminal_order);
    tpcc->districts = calloc(terminals, sizeof *tpcc->districts);
    if (!tpcc->warehouse_order || !tpcc->terminal_order || !tpcc->districts ||
        !cleave__deck_init(&tpcc->deck, weights, 5)) {
        cleave_error_set(error, CLEAVE_NO_MEMORY, "tpcc: out of memory for %u warehouses",
                         tpcc->warehouses);
        destroy(tpcc);
        return CLEAVE_NO_MEMORY;
    }
    for (uint32_t i = 0; i < terminals; i++) {
        tpcc->districts[i] = (struct tpcc_district){tpcc->customers + 1, tpcc->first_undelivered};
        tpcc->terminal_order[i] = i % TPCC_DISTRICTS + 1;
        tpcc->warehouse_order[i / TPCC_DISTRICTS] = i / TPCC_DISTRICTS + 1;
    }
    cleave__tpcc_constants(tpcc);
    generator->state = tpcc;
    return CLEAVE_OK;
}

static bool sizes(struct cleave_generator *generator)
{
    const struct tpcc *tpcc = generator->state;
    struct cleave_schema *schema = generator->schema;
    double w = tpcc->warehouses, districts = w * TPCC_DISTRICTS;
    double customers = districts * tpcc->customers;
    /* Widths are those of clause 4.2.2. */
    cleave__size_table(schema, "warehouse", w, 89);
    cleave__size_table(schema, "district", districts, 95);
    cleave__size_table(schema, "customer", customers, 655);
    cleave__size_table(schema, "history", customers, 46);
    cleave__size_table(schema, "orders", customers, 24);
    cleave__size_table(schema, "new_order",
                       districts * (tpcc->customers + 1 - tpcc->first_undelivered), 8);
    cleave__size_table(schema, "order_line", customers * 10, 54);
    cleave__size_table(schema, "item", tpcc->items, 82);
    cleave__size_table(schema, "stock", w * tpcc->items, 306);

    const struct {
        const char *table, *column;
        uint32_t low, high;
    } columns[] = {
        {"warehouse", "w_id", 1, tpcc->warehouses},
        {"district", "d_w_id", 1, tpcc->warehouses},
        {"district", "d_id", 1, TPCC_DISTRICTS},
        {"customer", "c_w_id", 1, tpcc->warehouses},
        {"customer", "c_d_id", 1, TPCC_DISTRICTS},
        {"customer", "c_id", 1, tpcc->customers},
        {"history", "h_c_w_id", 1, tpcc->warehouses},
        {"history", "h_c_d_id", 1, TPCC_DISTRICTS},
        {"history", "h_c_id", 1, tpcc->customers},
        {"history", "h_w_id", 1, tpcc->warehouses},
        {"history", "h_d_id", 1, TPCC_DISTRICTS},
        {"orders", "o_w_id", 1, tpcc->warehouses},
        {"orders", "o_d_id", 1, TPCC_DISTRICTS},
        {"orders", "o_id", 1, tpcc->customers},
        {"orders", "o_c_id", 1, tpcc->customers},
        {"new_order", "no_w_id", 1, tpcc->warehouses},
        {"new_order", "no_d_id", 1, TPCC_DISTRICTS},
        {"new_order", "no_o_id", tpcc->first_undelivered, tpcc->customers},
        {"order_line", "ol_w_id", 1, tpcc->warehouses},
        {"order_line", "ol_d_id", 1, TPCC_DISTRICTS},
        {"order_line", "ol_o_id", 1, tpcc->customers},
        {"order_line", "ol_number", 1, TPCC_LINES_MAX},
        {"order_line", "ol_i_id", 1, tpcc->items},
        {"order_line", "ol_supply_w_id", 1, tpcc->warehouses},
        {"item", "i_id", 1, tpcc->items},
        {"stock", "s_w_id", 1, tpcc->warehouses},
        {"stock", "s_i_id", 1, tpcc->items},
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        if (!cleave__size_column(schema, columns[i].table, columns[i].column, columns[i].low,
                                 columns[i].high))
            return false;
    }
    return true;
}

const struct cleave_generate_ops cleave__generate_tpcc = {
    .benchmark = {"tpcc", "TPC-C: orders, payments and deliveries at warehouses (OLTP)",
                  option_texts},
    .ddl = cleave__tpcc_ddl,
    .create = create,
    .sizes = sizes,
    .next = cleave__tpcc_next,
    .rows = cleave__tpcc_rows,
    .destroy = destroy,
};

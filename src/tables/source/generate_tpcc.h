/* TPC-C inside the generator: the run's state, and the contents of the database as functions.
 *
 * Numbering is the standard's: warehouses, districts, customers, items and orders from 1; ten
 * districts a warehouse. An order, initial or new, is a function of (warehouse, district, number),
 * so that a delivery can price it and a stock-level query list its items without it being kept. */
#ifndef CLEAVE_TABLES_SOURCE_GENERATE_TPCC_H
#define CLEAVE_TABLES_SOURCE_GENERATE_TPCC_H

#include "tables/source/generate_common.h"

enum { TPCC_DISTRICTS = 10, TPCC_LINES_MAX = 15, TPCC_NAME_BYTES = 32, TPCC_NAMES = 1000 };

/* NURand(A, x, y) of clause 2.1.6, with x the lowest value: ((rand(0,A) | rand(x,y)) + C) mod
 * (y - x + 1) + x. */
struct tpcc_nurand {
    uint32_t a, c, low, high;
};

struct tpcc_district {
    uint32_t next_order;
    uint32_t oldest_undelivered;
};

struct tpcc {
    uint64_t seed;
    uint32_t warehouses, items, customers; /* customers a district; as many initial orders */
    uint32_t first_undelivered;
    uint32_t remote_item, remote_payment, by_name; /* percent */
    uint32_t stock_level;                          /* 0 list, 1 join */
    struct tpcc_nurand load_name, run_name, customer, item;
    struct cleave_deck deck;
    /* Rounds: each warehouse's terminals in shuffled order, warehouses shuffled in each pass. */
    uint32_t *warehouse_order; /* [warehouses] */
    uint32_t *terminal_order;  /* [warehouses * 10] */
    uint32_t turn;             /* of the round, 0..warehouses * 10 - 1 */
    uint64_t sequence;
    struct tpcc_district *districts;        /* [warehouses * 10] */
    struct cleave_change_map last_order;    /* customer -> newest order placed in the run */
    struct cleave_change_map stock;         /* stock row -> quantity after the run's orders */
    CLEAVE_VECTOR(struct tpcc_named) named; /* scratch of the lookup by name */
};

struct tpcc_named {
    uint32_t customer;
    char first[TPCC_NAME_BYTES];
};

struct tpcc_line {
    uint32_t item, supply, quantity, amount; /* amount in cents */
};

struct tpcc_order {
    uint32_t customer, line_count, all_local;
    struct tpcc_line lines[TPCC_LINES_MAX];
};

/* Columns that are told apart when hashed. */
enum tpcc_tag {
    TPCC_CONSTANT,
    TPCC_ORDER_CUSTOMER,
    TPCC_ORDER,
    TPCC_LAST_NAME,
    TPCC_FIRST_NAME,
    TPCC_CREDIT,
    TPCC_DISCOUNT,
    TPCC_CUSTOMER_TEXT,
    TPCC_PRICE,
    TPCC_ITEM_TEXT,
    TPCC_STOCK_QUANTITY,
    TPCC_STOCK_DIST,
    TPCC_STOCK_TEXT,
    TPCC_WAREHOUSE,
    TPCC_DISTRICT,
    TPCC_HISTORY,
    TPCC_CARRIER,
};

uint32_t cleave__tpcc_nurand(const struct tpcc_nurand *range, struct cleave_random *random);
/* Sets the run's constants from the seed; needs the sizes. */
void cleave__tpcc_constants(struct tpcc *tpcc);

void cleave__tpcc_order_make(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                             uint32_t number, struct tpcc_order *out);
/* The initial order of a customer. */
uint32_t cleave__tpcc_initial_order(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                                    uint32_t customer);
uint32_t cleave__tpcc_name_number(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                                  uint32_t customer);
void cleave__tpcc_last_name(uint32_t number, char out[TPCC_NAME_BYTES]);
void cleave__tpcc_first_name(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                             uint32_t customer, char out[TPCC_NAME_BYTES]);
bool cleave__tpcc_bad_credit(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                             uint32_t customer);
/* Of all with that name, ordered by first name, the one at the middle (clause 2.5.2.2); 0 when
 * nobody has it, UINT32_MAX when memory is out. O(customers). */
uint32_t cleave__tpcc_customer_named(struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                                     uint32_t number);
uint32_t cleave__tpcc_price(const struct tpcc *tpcc, uint32_t item); /* cents */
uint32_t cleave__tpcc_initial_stock(const struct tpcc *tpcc, uint32_t warehouse, uint32_t item);
/* s_dist_xx: 24 bytes and a NUL. */
void cleave__tpcc_stock_dist(const struct tpcc *tpcc, uint32_t warehouse, uint32_t item,
                             uint32_t district, char out[TPCC_NAME_BYTES]);
void cleave__tpcc_warehouse_name(const struct tpcc *tpcc, uint32_t warehouse,
                                 char out[TPCC_NAME_BYTES]);
void cleave__tpcc_district_name(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                                char out[TPCC_NAME_BYTES]);

enum cleave_status cleave__tpcc_rows(const struct cleave_generator *generator,
                                     struct cleave_row_writer *writer);
/* One transaction; yields its kind or NULL when memory is out. */
const char *cleave__tpcc_next(struct cleave_generator *generator);

extern const char cleave__tpcc_ddl[];

#endif

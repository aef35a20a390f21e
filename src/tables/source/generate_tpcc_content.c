/* TPC-C's database as functions of its keys (TPC-C 5.11, clauses 2.1.6, 4.3.2, 4.3.3). */
#include <stdlib.h>
#include <string.h>

#include "tables/source/generate_tpcc.h"

static uint64_t cell(const struct tpcc *tpcc, enum tpcc_tag tag, uint64_t a, uint64_t b, uint64_t c,
                     uint64_t d)
{
    return cleave__content(tpcc->seed, (uint32_t)tag, a, b, c, d);
}

static uint32_t nurand(const struct tpcc_nurand *range, uint32_t draw_a, uint32_t draw)
{
    uint64_t span = (uint64_t)range->high - range->low + 1;
    return (uint32_t)(((draw_a | (uint64_t)draw) + range->c) % span) + range->low;
}

uint32_t cleave__tpcc_nurand(const struct tpcc_nurand *range, struct cleave_random *random)
{
    uint32_t draw_a = (uint32_t)cleave__random_below(random, (uint64_t)range->a + 1);
    uint32_t draw = (uint32_t)cleave__random_between(random, range->low, range->high);
    return nurand(range, draw_a, draw);
}

/* The standard's A belongs to the standard's range; a scaled range gets the mask of ones that
 * keeps about the same ratio. */
static struct tpcc_nurand nurand_for(uint32_t low, uint32_t high, uint32_t standard_a,
                                     uint32_t standard_span)
{
    uint64_t want = (uint64_t)standard_a * (high - low + 1) / standard_span;
    uint32_t a = 1;
    while ((uint64_t)a * 2 + 1 <= want)
        a = a * 2 + 1;
    return (struct tpcc_nurand){a, 0, low, high};
}

void cleave__tpcc_constants(struct tpcc *tpcc)
{
    uint32_t names = tpcc->customers < TPCC_NAMES ? tpcc->customers : TPCC_NAMES;
    tpcc->load_name = nurand_for(0, names - 1, 255, TPCC_NAMES);
    tpcc->run_name = tpcc->load_name;
    tpcc->customer = nurand_for(1, tpcc->customers, 1023, 3000);
    tpcc->item = nurand_for(1, tpcc->items, 8191, 100000);
    struct tpcc_nurand *all[] = {&tpcc->load_name, &tpcc->run_name, &tpcc->customer, &tpcc->item};
    for (uint32_t i = 0; i < 4; i++)
        all[i]->c = cleave__content_below(cell(tpcc, TPCC_CONSTANT, i, 0, 0, 0), all[i]->a + 1);
    if (tpcc->load_name.a != 255)
        return;
    /* Clause 2.1.6.1: the two constants differ by 65..119, but not by 96 or 112. */
    uint32_t delta = 65 + cleave__content_below(cell(tpcc, TPCC_CONSTANT, 9, 0, 0, 0), 53);
    delta += delta >= 96;
    delta += delta >= 112;
    tpcc->run_name.c =
        tpcc->load_name.c + delta <= 255 ? tpcc->load_name.c + delta : tpcc->load_name.c - delta;
}

static uint64_t place(uint32_t warehouse, uint32_t district)
{
    return (uint64_t)warehouse << 8 | district;
}

static struct cleave_permutation order_customers(const struct tpcc *tpcc, uint32_t warehouse,
                                                 uint32_t district)
{
    return cleave__permutation(cell(tpcc, TPCC_ORDER_CUSTOMER, place(warehouse, district), 0, 0, 0),
                               tpcc->customers);
}

uint32_t cleave__tpcc_initial_order(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                                    uint32_t customer)
{
    struct cleave_permutation p = order_customers(tpcc, warehouse, district);
    return cleave__permutation_find(&p, customer - 1) + 1;
}

/* Clause 4.3.3.1 for the initial ones, 2.4.1 for those of the run. */
void cleave__tpcc_order_make(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                             uint32_t number, struct tpcc_order *out)
{
    struct cleave_random random;
    cleave__random_seed(&random, cell(tpcc, TPCC_ORDER, place(warehouse, district), number, 0, 0));
    bool initial = number <= tpcc->customers;
    if (initial) {
        struct cleave_permutation p = order_customers(tpcc, warehouse, district);
        out->customer = cleave__permutation_at(&p, number - 1) + 1;
    } else {
        out->customer = cleave__tpcc_nurand(&tpcc->customer, &random);
    }
    out->line_count = (uint32_t)cleave__random_between(&random, 5, TPCC_LINES_MAX);
    out->all_local = 1;
    for (uint32_t i = 0; i < out->line_count; i++) {
        struct tpcc_line *line = &out->lines[i];
        line->supply = warehouse;
        if (initial) {
            line->item = (uint32_t)cleave__random_between(&random, 1, tpcc->items);
            line->quantity = 5;
            line->amount = number < tpcc->first_undelivered
                               ? 0
                               : (uint32_t)cleave__random_between(&random, 1, 999999);
            continue;
        }
        line->item = cleave__tpcc_nurand(&tpcc->item, &random);
        bool remote = cleave__random_below(&random, 100) < tpcc->remote_item;
        if (remote && tpcc->warehouses > 1) {
            uint32_t other = 1 + (uint32_t)cleave__random_below(&random, tpcc->warehouses - 1);
            line->supply = other + (other >= warehouse);
            out->all_local = 0;
        }
        line->quantity = (uint32_t)cleave__random_between(&random, 1, 10);
        line->amount = line->quantity * cleave__tpcc_price(tpcc, line->item);
    }
}

uint32_t cleave__tpcc_name_number(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                                  uint32_t customer)
{
    if (customer <= TPCC_NAMES)
        return customer - 1;
    uint64_t hash = cell(tpcc, TPCC_LAST_NAME, place(warehouse, district), customer, 0, 0);
    uint32_t draw_a = cleave__content_below(hash << 32, tpcc->load_name.a + 1);
    return nurand(&tpcc->load_name, draw_a, cleave__content_below(hash, TPCC_NAMES));
}

void cleave__tpcc_last_name(uint32_t number, char out[TPCC_NAME_BYTES])
{
    static const char *const syllables[] = {"BAR", "OUGHT", "ABLE",  "PRI",   "PRES",
                                            "ESE", "ANTI",  "CALLY", "ATION", "EING"};
    snprintf(out, TPCC_NAME_BYTES, "%s%s%s", syllables[number / 100 % 10],
             syllables[number / 10 % 10], syllables[number % 10]);
}

/* Lower-case letters only, so that any collation orders them as bytes. */
void cleave__tpcc_first_name(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                             uint32_t customer, char out[TPCC_NAME_BYTES])
{
    cleave__content_letters(cell(tpcc, TPCC_FIRST_NAME, place(warehouse, district), customer, 0, 0),
                            8, 16, out);
}

bool cleave__tpcc_bad_credit(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                             uint32_t customer)
{
    return cleave__content_below(
               cell(tpcc, TPCC_CREDIT, place(warehouse, district), customer, 0, 0), 10) == 0;
}

static int compare_named(const void *a, const void *b)
{
    const struct tpcc_named *x = a, *y = b;
    int order = strcmp(x->first, y->first);
    return order ? order : (x->customer > y->customer) - (x->customer < y->customer);
}

uint32_t cleave__tpcc_customer_named(struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                                     uint32_t number)
{
    tpcc->named.count = 0;
    for (uint32_t customer = 1; customer <= tpcc->customers; customer++) {
        if (cleave__tpcc_name_number(tpcc, warehouse, district, customer) != number)
            continue;
        struct tpcc_named named = {.customer = customer};
        cleave__tpcc_first_name(tpcc, warehouse, district, customer, named.first);
        if (!CLEAVE_PUSH(&tpcc->named, named))
            return UINT32_MAX;
    }
    if (!tpcc->named.count)
        return 0;
    qsort(tpcc->named.data, tpcc->named.count, sizeof tpcc->named.data[0], compare_named);
    return tpcc->named.data[(tpcc->named.count - 1) / 2].customer;
}

uint32_t cleave__tpcc_price(const struct tpcc *tpcc, uint32_t item)
{
    return 100 + cleave__content_below(cell(tpcc, TPCC_PRICE, item, 0, 0, 0), 9901);
}

uint32_t cleave__tpcc_initial_stock(const struct tpcc *tpcc, uint32_t warehouse, uint32_t item)
{
    return 10 + cleave__content_below(cell(tpcc, TPCC_STOCK_QUANTITY, warehouse, item, 0, 0), 91);
}

/* Sixteen texts serve all rows, which keeps logs of the trace small when packed. */
void cleave__tpcc_stock_dist(const struct tpcc *tpcc, uint32_t warehouse, uint32_t item,
                             uint32_t district, char out[TPCC_NAME_BYTES])
{
    uint64_t hash = cell(tpcc, TPCC_STOCK_DIST, place(warehouse, district), item, 0, 0);
    cleave__content_words(hash & 15, 24, 24, out);
}

void cleave__tpcc_warehouse_name(const struct tpcc *tpcc, uint32_t warehouse,
                                 char out[TPCC_NAME_BYTES])
{
    cleave__content_letters(cell(tpcc, TPCC_WAREHOUSE, warehouse, 0, 0, 0), 6, 10, out);
}

void cleave__tpcc_district_name(const struct tpcc *tpcc, uint32_t warehouse, uint32_t district,
                                char out[TPCC_NAME_BYTES])
{
    cleave__content_letters(cell(tpcc, TPCC_DISTRICT, place(warehouse, district), 0, 0, 0), 6, 10,
                            out);
}

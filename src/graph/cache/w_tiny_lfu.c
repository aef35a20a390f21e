/* W-TinyLFU: new entries pass through a small LRU window; the one that falls out of it enters the
 * main part only if a sketch says that it is asked for more often than what would have to leave.
 * The main part is a segmented LRU: probation, and protected for what was used while there.
 * Einziger, Friedman, Manes: TinyLFU, a highly efficient cache admission policy, ACM TOS 2017.
 *
 * With sizes, a candidate must be asked for more often than all its victims together (aggregated
 * victims: Einziger, Eytan, Friedman, Manes 2021); a tie keeps what is there. An entry larger than
 * the window is a candidate at once; it may be refused. Every request, hit or miss, is counted.
 * The sketch has 16 bytes for each node; its counters are halved after `sample` requests a
 * unit of capacity (in bytes: for each of the most entries held so far). Left open by the paper:
 * the window (1 %), the protected share of the main part (80 %), the sample (10). */
#include "graph/cache/sketch.h"
#include "graph/cache/state.h"

enum { WINDOW = 1, PROBATION, PROTECTED };
enum { PARAMETER_WINDOW, PARAMETER_PROTECTED, PARAMETER_SAMPLE };
enum { SAMPLE_LEAST = 16 };

static const struct cleave__cache_parameter parameters[] = {
    {"window", "share of the window", 0.01, 0, 1},
    {"protected", "protected share of the rest", 0.8, 0, 1},
    {"sample", "requests a unit of capacity until counts are halved", 10, 1, 1e6},
    {0},
};

struct w_tiny_lfu {
    struct cleave__cache_list list[4]; /* by the names above */
    uint64_t window_limit, main_limit, protected_limit;
    uint64_t sampled; /* requests since counts were halved */
    struct cleave__sketch sketch;
};

static void start(struct cleave__cache *cache)
{
    struct w_tiny_lfu *s = cache->state;
    const double *p = cache->options.choice.parameter;
    uint64_t window = cleave__cache_share(cache, p[PARAMETER_WINDOW], 1);
    s->window_limit = window < cache->capacity ? window : cache->capacity;
    s->main_limit = cache->capacity - s->window_limit;
    s->protected_limit = (uint64_t)(p[PARAMETER_PROTECTED] * (double)s->main_limit);
}

static void clear(struct cleave__cache *cache)
{
    struct w_tiny_lfu *s = cache->state;
    struct cleave__sketch sketch = s->sketch;
    cleave__sketch_clear(&sketch);
    *s = (struct w_tiny_lfu){.sketch = sketch};
}

static void stop(struct cleave__cache *cache)
{
    struct w_tiny_lfu *s = cache->state;
    cleave__sketch_free(&s->sketch);
}

static bool reserve(struct cleave__cache *cache, uint32_t nodes)
{
    struct w_tiny_lfu *s = cache->state;
    return cleave__sketch_reserve(&s->sketch, nodes);
}

static uint64_t memory_bytes(const struct cleave__cache *cache)
{
    const struct w_tiny_lfu *s = cache->state;
    return cleave__sketch_bytes(&s->sketch);
}

static void count_request(struct cleave__cache *cache, uint64_t key)
{
    struct w_tiny_lfu *s = cache->state;
    uint64_t units = cache->options.in_bytes ? cache->entries_peak : cache->capacity;
    double period = cache->options.choice.parameter[PARAMETER_SAMPLE] * (double)units;
    cleave__sketch_add(&s->sketch, key);
    s->sampled++;
    if (s->sampled >= SAMPLE_LEAST && (double)s->sampled >= period) {
        cleave__sketch_halve(&s->sketch);
        s->sampled = 0;
    }
}

static void move(struct cleave__cache *cache, uint32_t node, unsigned to)
{
    struct w_tiny_lfu *s = cache->state;
    struct cleave__cache_node *n = &cache->nodes[node];
    if (n->queue == to) {
        cleave__cache_make_newest(cache, &s->list[to], 0, node);
        return;
    }
    if (n->queue)
        cleave__cache_unlink(cache, &s->list[n->queue], 0, node);
    n->queue = (uint8_t)to;
    cleave__cache_push_newest(cache, &s->list[to], 0, node);
}

static void hit(struct cleave__cache *cache, uint32_t node)
{
    struct w_tiny_lfu *s = cache->state;
    count_request(cache, cache->nodes[node].key);
    move(cache, node, cache->nodes[node].queue == WINDOW ? WINDOW : PROTECTED);
    while (s->list[PROTECTED].cost > s->protected_limit)
        move(cache, s->list[PROTECTED].oldest, PROBATION);
}

/* The next to leave the main part after `node` (0: the first); 0: none. */
static uint32_t next_victim(const struct cleave__cache *cache, uint32_t node)
{
    const struct w_tiny_lfu *s = cache->state;
    if (!node)
        return s->list[PROBATION].count ? s->list[PROBATION].oldest : s->list[PROTECTED].oldest;
    uint32_t newer = cache->nodes[node].link[0].newer;
    if (!newer && cache->nodes[node].queue == PROBATION)
        return s->list[PROTECTED].oldest;
    return newer;
}

/* Whether `node` gets into the main part; its victims have then left. */
static bool wins(struct cleave__cache *cache, uint32_t node)
{
    struct w_tiny_lfu *s = cache->state;
    uint64_t cost = cleave__cache_cost(cache, node);
    if (cost > s->main_limit)
        return false;
    uint64_t held = s->list[PROBATION].cost + s->list[PROTECTED].cost, freed = 0;
    unsigned mine = cleave__sketch_estimate(&s->sketch, cache->nodes[node].key), theirs = 0;
    uint32_t victim = 0;
    while (held + cost > s->main_limit + freed) {
        victim = next_victim(cache, victim);
        theirs += cleave__sketch_estimate(&s->sketch, cache->nodes[victim].key);
        freed += cleave__cache_cost(cache, victim);
        if (mine <= theirs)
            return false;
    }
    while (s->list[PROBATION].cost + s->list[PROTECTED].cost + cost > s->main_limit) {
        victim = next_victim(cache, 0);
        cleave__cache_unlink(cache, &s->list[cache->nodes[victim].queue], 0, victim);
        cleave__cache_evict(cache, victim);
    }
    return true;
}

static enum cleave__cache_verdict admit(struct cleave__cache *cache, uint32_t node,
                                        uint32_t recalled)
{
    struct w_tiny_lfu *s = cache->state;
    (void)recalled;
    if (cleave__cache_cost(cache, node) > s->window_limit) {
        if (!wins(cache, node))
            return CLEAVE_CACHE_REFUSED;
        move(cache, node, PROBATION);
        return CLEAVE_CACHE_KEPT;
    }
    move(cache, node, WINDOW);
    while (s->list[WINDOW].cost > s->window_limit) {
        uint32_t candidate = s->list[WINDOW].oldest;
        if (wins(cache, candidate)) {
            move(cache, candidate, PROBATION);
        } else {
            cleave__cache_unlink(cache, &s->list[WINDOW], 0, candidate);
            cleave__cache_evict(cache, candidate);
        }
    }
    return CLEAVE_CACHE_KEPT;
}

static void forget(struct cleave__cache *cache, uint32_t node)
{
    struct w_tiny_lfu *s = cache->state;
    cleave__cache_unlink(cache, &s->list[cache->nodes[node].queue], 0, node);
}

static bool check(const struct cleave__cache *cache, const char **why)
{
    const struct w_tiny_lfu *s = cache->state;
    uint64_t nodes = 0;
    for (unsigned which = WINDOW; which <= PROTECTED; which++) {
        if (!cleave__cache_list_check(cache, &s->list[which], 0, (uint8_t)which, why))
            return false;
        nodes += s->list[which].count;
    }
    return cleave__cache_true(nodes == cache->counts.entries && nodes == cache->node_count,
                              "an entry is in no list", why) &&
           cleave__cache_true(s->list[WINDOW].cost <= s->window_limit &&
                                  s->list[PROTECTED].cost <= s->protected_limit &&
                                  s->list[PROBATION].cost + s->list[PROTECTED].cost <=
                                      s->main_limit,
                              "a part is past its share", why);
}

const struct cleave__cache_policy cleave__cache_w_tiny_lfu = {
    .name = "w-tiny-lfu",
    .summary = "a window, then only what beats what would leave",
    .parameters = parameters,
    .state_bytes = sizeof(struct w_tiny_lfu),
    .hit = hit,
    .admit = admit,
    .forget = forget,
    .check = check,
    .start = start,
    .stop = stop,
    .miss = count_request,
    .reserve = reserve,
    .clear = clear,
    .memory_bytes = memory_bytes,
};

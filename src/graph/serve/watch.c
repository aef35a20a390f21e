/* What a graph at work counts, and which of it adds up when nothing is under way. */
#include "graph/serve/world.h"

enum cleave_status cleave__graph_watch_make(struct cleave__graph_watch *watch,
                                            struct cleave_metrics *metrics,
                                            struct cleave_error *error)
{
    const struct cleave_counter_row counter[] = {
        {"cleave_graph_queries_asked_total", "Queries that clients began", &watch->asked},
        {"cleave_graph_queries_answered_total", "Queries answered", &watch->answered},
        {"cleave_graph_queries_repeated_total", "Queries asked again for want of an answer",
         &watch->asked_again},
        {"cleave_graph_requests_total", "Requests to shards", &watch->requested},
        {"cleave_graph_requests_repeated_total", "Requests to shards that had no answer in time",
         &watch->requested_again},
        {"cleave_graph_messages_refused_total", "Messages that no process of this world sends",
         &watch->refused},
        {"cleave_graph_reads_total", "Lists read at shards", &watch->reads},
        {"cleave_graph_reads_uncached_total", "Of these, past the cache or from copies",
         &watch->uncached},
        {"cleave_graph_cache_hits_total", "Of these, from a cache", &watch->cache_hits},
        {"cleave_graph_cache_misses_total", "Of these, from the store for want of a cached one",
         &watch->cache_misses},
    };
    static const char *const balances[] = {
        "cleave_graph_queries_asked_total = cleave_graph_queries_answered_total + "
        "cleave_graph_queries_under_way",
        "cleave_graph_queries_answered_total = cleave_graph_query_seconds",
        "cleave_graph_reads_total = cleave_graph_reads_uncached_total + "
        "cleave_graph_cache_hits_total + cleave_graph_cache_misses_total",
    };
    enum cleave_status status =
        cleave__metrics_counters(metrics, counter, sizeof counter / sizeof *counter, error);
    if (!status)
        status = cleave__metrics_gauge(
            metrics,
            &(struct cleave_metric){.name = "cleave_graph_queries_under_way",
                                    .help = "Queries asked and not answered yet"},
            NULL, 0, &watch->under_way, error);
    if (!status)
        status = cleave__metrics_timing(
            metrics,
            &(struct cleave_metric){.name = "cleave_graph_query_seconds",
                                    .help = "From a client's question to its answer",
                                    .scale = 1e-9},
            NULL, 0, &watch->answering, error);
    for (size_t i = 0; i < sizeof balances / sizeof *balances && !status; i++)
        status = cleave__metrics_balance(metrics, balances[i], error);
    return status;
}

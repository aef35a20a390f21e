/* What a stream at work counts, and which of it adds up when nothing is under way. */
#include "stream/serve/world.h"

enum cleave_status cleave__stream_watch_make(struct cleave__stream_watch *watch,
                                             const struct cleave__streaming *streaming,
                                             struct cleave_error *error)
{
    struct cleave_metrics *metrics = streaming->metrics;
    const struct cleave_counter_row counter[] = {
        {"cleave_stream_objects_accepted_total", "Objects taken in", &watch->accepted},
        {"cleave_stream_objects_acknowledged_total", "Objects all of whose matches are told",
         &watch->acknowledged},
        {"cleave_stream_objects_pruned_total",
         "Objects that a summary kept from their evaluator: no query has them", &watch->pruned},
        {"cleave_stream_objects_unmatched_total", "Objects that their evaluator found no query for",
         &watch->unmatched},
        {"cleave_stream_objects_matched_total", "Objects that a query has", &watch->matched},
        {"cleave_stream_matches_total", "Pairs of object and query", &watch->matches},
        {"cleave_stream_queries_total", "Standing queries stored", &watch->queries},
        {"cleave_stream_removals_total", "Standing queries removed", &watch->removals},
    };
    enum cleave_status status =
        cleave__metrics_counters(metrics, counter, sizeof counter / sizeof *counter, error);
    if (!status)
        status = cleave__metrics_gauge(
            metrics,
            &(struct cleave_metric){.name = "cleave_stream_objects_under_way",
                                    .help = "Objects accepted and not acknowledged yet"},
            NULL, 0, &watch->under_way, error);
    if (!status)
        status = cleave__metrics_timing(
            metrics,
            &(struct cleave_metric){.name = "cleave_stream_match_seconds",
                                    .help = "From an object's sending to its matches' taking",
                                    .scale = 1e-9},
            NULL, 0, &watch->matching, error);
    if (!status)
        status = cleave__metrics_balance(metrics,
                                         "cleave_stream_objects_accepted_total = "
                                         "cleave_stream_objects_acknowledged_total + "
                                         "cleave_stream_objects_under_way",
                                         error);
    /* By keywords an object goes to several evaluators; after a fault it may be routed again. */
    if (!status && streaming->routing != CLEAVE__ROUTING_TEXT && !streaming->retry_ns)
        status = cleave__metrics_balance(metrics,
                                         "cleave_stream_objects_acknowledged_total = "
                                         "cleave_stream_objects_matched_total + "
                                         "cleave_stream_objects_unmatched_total + "
                                         "cleave_stream_objects_pruned_total",
                                         error);
    return status;
}

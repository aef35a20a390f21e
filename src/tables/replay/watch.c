#include "tables/replay/watch.h"

enum cleave_status cleave__replay_watch_make(struct cleave__replay_watch *watch,
                                             struct cleave_metrics *metrics,
                                             struct cleave_error *error)
{
    const struct cleave_counter_row counter[] = {
        {"cleave_tables_transactions_read_total", "Transactions of the trace", &watch->read},
        {"cleave_tables_transactions_replayed_total", "Transactions given to clients",
         &watch->replayed},
        {"cleave_tables_transactions_refused_total", "Transactions that cannot be replayed",
         &watch->refused},
        {"cleave_tables_transactions_empty_total", "Transactions that touch no table",
         &watch->empty},
        {"cleave_tables_transactions_failed_total",
         "Of those given to clients: rolled back because a statement failed", &watch->failed},
        {"cleave_tables_transactions_repeated_total",
         "Transactions begun anew because a shard was lost or another was in the way",
         &watch->repeated},
    };
    static const char *const balances[] = {
        "cleave_tables_transactions_read_total = cleave_tables_transactions_replayed_total + "
        "cleave_tables_transactions_refused_total + cleave_tables_transactions_empty_total",
        "cleave_tables_transactions_replayed_total = cleave_tables_transaction_seconds",
    };
    enum cleave_status status =
        cleave__metrics_counters(metrics, counter, sizeof counter / sizeof *counter, error);
    if (!status)
        status = cleave__metrics_timing(
            metrics,
            &(struct cleave_metric){.name = "cleave_tables_transaction_seconds",
                                    .help = "A transaction at its client, to its last commit",
                                    .scale = 1e-9},
            NULL, 0, &watch->running, error);
    for (size_t i = 0; i < sizeof balances / sizeof *balances && !status; i++)
        status = cleave__metrics_balance(metrics, balances[i], error);
    return status;
}

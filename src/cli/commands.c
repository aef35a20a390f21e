/* The table of commands: help, dispatch and the documentation test derive from it. */
#include "cli/command.h"

static const struct cleave_command tables[] = {
    {"compare", "seven placement schemes on one workload", cleave__command_tables_compare, NULL},
    {"inspect", "what a schema and a workload show", cleave__command_tables_inspect, NULL},
    {"place", "place tables, write a lookup table", cleave__command_tables_place, NULL},
    {"refine", "place, split and place again, with or without you", cleave__command_tables_refine,
     NULL},
    {"explain", "a lookup table in words", cleave__command_tables_explain, NULL},
    {"route", "where SQL or a key goes", cleave__command_tables_route, NULL},
    {"replay", "a trace on real shards, every answer compared", cleave__command_tables_replay,
     NULL},
    {"recover", "finish what a dead coordinator left prepared", cleave__command_tables_recover,
     NULL},
    {"repartition", "move rows to where another lookup table has them",
     cleave__command_tables_repartition, NULL},
    {"export", "a lookup table for Citus, postgres_fdw, or as JSON", cleave__command_tables_export,
     NULL},
    {"generate", "a benchmark's transactions, schema or rows", cleave__command_tables_generate,
     NULL},
    {"load", "a database's rows onto its shards", cleave__command_tables_load, NULL},
    {"hypergraph", "a workload's hypergraph, for partition", cleave__command_tables_hypergraph,
     NULL},
    {0},
};

static const struct cleave_command graph[] = {
    {"compare", "placements and executors on one graph, swept", cleave__command_graph_compare,
     NULL},
    {"place", "a shard for every user", cleave__command_graph_place, NULL},
    {"query", "who is reachable, and what it costs on shards", cleave__command_graph_query, NULL},
    {"stats", "users, edges, degrees, components", cleave__command_graph_stats, NULL},
    {"generate", "a made-up graph as an edge list", cleave__command_graph_generate, NULL},
    {"reads", "the reads of a workload, for a cache", cleave__command_graph_reads, NULL},
    {"run", "shards at work: latency, queues, caches", cleave__command_graph_run, NULL},
    {"serve", "one process of a graph behind NATS", cleave__command_graph_serve, NULL},
    {0},
};

static const struct cleave_command stream[] = {
    {"compare", "routing, matching and balancing, beside others'", cleave__command_stream_compare,
     NULL},
    {"generate", "made-up objects or queries as a file", cleave__command_stream_generate, NULL},
    {"run", "routers and evaluators at work on a stream", cleave__command_stream_run, NULL},
    {"match", "objects against standing queries, in a pipe", cleave__command_stream_match, NULL},
    {"serve", "a router, an evaluator or the balancer, on NATS", cleave__command_stream_serve,
     NULL},
    {"publish", "queries and objects into a world on NATS", cleave__command_stream_publish, NULL},
    {"subscribe", "what a world on NATS finds", cleave__command_stream_subscribe, NULL},
    {0},
};

static const struct cleave_command cluster[] = {
    {"up", "PostgreSQL and NATS servers to try things on", cleave__command_cluster_up, NULL},
    {"status", "what of it runs", cleave__command_cluster_status, NULL},
    {"down", "stop and remove it", cleave__command_cluster_down, NULL},
    {0},
};

const struct cleave_command cleave__commands[] = {
    {"tables", "shard a database by its query log", NULL, tables},
    {"graph", "shard a graph by its queries", NULL, graph},
    {"stream", "match a stream of objects with standing queries", NULL, stream},
    {"partition", "divide a hypergraph into balanced blocks", cleave__command_partition, NULL},
    {"cluster", "throw-away servers on loopback", NULL, cluster},
    {"cache", "eviction policies on a trace of requests", cleave__command_cache, NULL},
    {0},
};

/* The table of commands: help, dispatch and the documentation test derive from it. */
#include "cli/command.h"

const struct cleave_command cleave__commands[] = {
    {"partition", "divide a hypergraph into balanced blocks", cleave__command_partition, NULL},
    {0},
};

/* The table of commands: help, dispatch and the documentation test derive from it. */
#include "cli/command.h"

const struct cleave_command cleave__commands[] = {
    {0},
};

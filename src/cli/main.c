/* The `cleave` command. What it prints must reach its reader: a full disk is an error. */
#include <argp.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/progress.h"

/* Runs at exit, after argp's --help too. A command that has failed has said why. */
static void close_output(int status, void *unused)
{
    int failed = ferror(stdout);
    (void)unused;
    errno = 0;
    if ((fclose(stdout) != 0 || failed) && status == CLEAVE_EXIT_OK) {
        fprintf(stderr, "cleave: cannot write the output: %s\n",
                errno ? strerror(errno) : "a write failed");
        _exit(CLEAVE_EXIT_FAILED);
    }
}

/* Freed blocks of 128 KiB and more go back to the system: else glibc raises that bound to the
 * largest block it saw freed, keeps the rest in its heap, and large inputs take a fifth more. */
enum { RETURNED_BYTES_MIN = 128 * 1024 };

int main(int argc, char **argv)
{
    argp_program_version = "cleave " CLEAVE_VERSION;
    if (on_exit(close_output, NULL) != 0)
        return CLEAVE_EXIT_FAILED;
    mallopt(M_MMAP_THRESHOLD, RETURNED_BYTES_MIN);
    cleave__interrupt_catch();
    return cleave__command_dispatch(argc, argv, cleave__commands);
}

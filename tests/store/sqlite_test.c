/* The contract on a file; what is SQLite's alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "contract.h"

static char folder[] = "/tmp/cleave-store-XXXXXX";

int main(void)
{
    char url[100];
    if (!mkdtemp(folder))
        return 1;
    snprintf(url, sizeof url, "sqlite:%s/store.db", folder);
    int failures = contract_run(url);
    unlink(strchr(url, ':') + 1);
    rmdir(folder);
    return failures;
}

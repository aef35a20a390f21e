#!/bin/bash
# The program of docs/examples/route.c, linked with the shared library, on a real lookup table.
#   example_test.sh EXAMPLE FDW_PRINT
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$2" file "$directory/table"
expect() { # expected output, arguments...
    local wanted=$1 got
    shift
    got=$("$example" "$directory/table" "$@")
    if [ "$got" != "$wanted" ]; then
        printf 'FAILED: %s\nwanted: %s\ngot:    %s\n' "$*" "$wanted" "$got"
        exit 1
    fi
}
example=$1
expect $'shard 1\nread hashed by select = 3: shard 1' 'SELECT * FROM hashed WHERE "select" = $1' 3
expect $'any one shard; read item: on every shard, any one serves' 'SELECT * FROM item'
if "$example" "$2" 'SELECT 1' 2>"$directory/error"; then
    echo "FAILED: a program is taken for a lookup table"
    exit 1
fi
grep -q 'not a lookup table' "$directory/error"
if "$example" 2>/dev/null; then
    exit 1
fi
echo "3 passed, 0 failed"

#!/bin/bash
# Rows that statements touch on a real server lie in the accesses found for them.
# usage: touch_test.sh PROGRAM (made from touch_test.c)
set -euo pipefail
program=$(realpath "$1")
postgres=$(cd "$(dirname "$0")/.." && pwd)/support/postgres.sh
directory=$(mktemp -d)
trap '"$postgres" stop "$directory"; rm -rf "$directory"' EXIT
"$postgres" bindir >/dev/null || exit 77
connection=$("$postgres" start "$directory")
"$program" "$connection"

#!/bin/bash
# Reading speed, and that memory does not grow with the log.
# usage: bench/read.sh PROGRAM LOG [MEGABYTES...]    (a stderr log; default sizes 100 and 2048)
# PROGRAM is bench/read as built; LOG may be packed.
set -euo pipefail
program=$1 log=$2
shift 2
"$program" read --parse "$log"
[ $# -gt 0 ] || set -- 100 2048
for size in "$@"; do
    "$program" grow "$log" "$size" | "$program" read -
done

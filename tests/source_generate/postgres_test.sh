#!/bin/bash
# The generated rows and traces on a real PostgreSQL: all keys hold, and the server's answers are
# those that the traces' literals take for granted. The checker is first shown to fail, on rows of
# another seed.
#
# usage: postgres_test.sh REPLAY-TRACE
set -euo pipefail

server=$(cd "$(dirname "$0")/../support" && pwd)/postgres.sh
replay=$(realpath "$1")
bin=$("$server" bindir) # exits with 77 when there is no server
home=$(mktemp -d)
cleanup() {
    "$server" stop "$home" || true
    rm -rf "$home"
}
trap cleanup EXIT
connection=$("$server" start "$home")

load() { # DATABASE SEED BENCHMARK [option ...]
    local database=$1 seed=$2
    shift 2
    "$bin/createdb" -h "$home" -U postgres "$database"
    for part in ddl rows; do
        "$replay" $part "$@" --seed "$seed" |
            "$bin/psql" -h "$home" -U postgres -q -v ON_ERROR_STOP=1 "$database" >/dev/null
    done
}
check() { # DATABASE SEED TRANSACTIONS BENCHMARK [option ...]
    local database=$1 seed=$2 transactions=$3
    shift 3
    "$replay" check "$@" --seed "$seed" --transactions "$transactions" \
        --connection "${connection/dbname=postgres/dbname=$database}"
}

tpcc=(tpcc warehouses=2 items=300 customers-per-district=1050)
load tpcc 7 "${tpcc[@]}"
check tpcc 7 1500 "${tpcc[@]}"
if check tpcc 8 100 "${tpcc[@]}" 2>/dev/null; then
    echo "the check passes a trace that is not of this database" >&2
    exit 1
fi
# TPC-C's consistency conditions 1 to 4 (clause 3.3.2), after the run.
wrong=$("$bin/psql" -h "$home" -U postgres -At tpcc <<'SQL'
SELECT 'w_ytd' FROM warehouse WHERE w_ytd <> (SELECT sum(d_ytd) FROM district WHERE d_w_id = w_id)
UNION ALL
SELECT 'd_next_o_id' FROM district WHERE d_next_o_id - 1 <>
    (SELECT max(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id)
UNION ALL
SELECT 'new_order' FROM (SELECT max(no_o_id) - min(no_o_id) + 1 - count(*) AS gap FROM new_order
    GROUP BY no_w_id, no_d_id) AS district WHERE gap <> 0
UNION ALL
SELECT 'order_line' FROM orders WHERE o_ol_cnt <> (SELECT count(*) FROM order_line
    WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id);
SQL
)
if [ -n "$wrong" ]; then
    echo "inconsistent: $wrong" >&2
    exit 1
fi

join=(tpcc warehouses=1 items=100 customers-per-district=30 stock-level=join)
load joined 1 "${join[@]}"
check joined 1 500 "${join[@]}"
load tatp 3 tatp subscribers=500
check tatp 3 2000 tatp subscribers=500
load epinions 3 epinions communities=5
check epinions 3 2000 epinions communities=5

#!/bin/bash
# The foreign partitions that an export makes, on a real PostgreSQL: four databases of one server,
# three of them shards. Rows inserted through the first must lie where the lookup table says, and
# an update of the key must be refused.
#   fdw_test.sh FDW_PRINT
set -euo pipefail
print=$(realpath "$1")
support=$(cd "$(dirname "$0")/../support" && pwd)
bindir=$("$support/postgres.sh" bindir) || exit $?
directory=$(mktemp -d /tmp/fdw.XXXXXX)
trap '"$support/postgres.sh" stop "$directory"; rm -rf "$directory"' EXIT
connection=$("$support/postgres.sh" start "$directory")
sql() { # database, then psql's arguments
    local database=$1
    shift
    PGOPTIONS='-c client_min_messages=warning' "$bindir/psql" -X -q -A -t -v ON_ERROR_STOP=1 \
        -d "$connection dbname=$database" "$@"
}
fail() {
    echo "FAILED: $*"
    exit 1
}

"$print" ddl "$directory" 5432 >"$directory/front.sql"
for shard in 0 1 2; do
    sql postgres -c "CREATE DATABASE shard_$shard"
    { echo 'CREATE SCHEMA IF NOT EXISTS sales;'; "$print" shard; } | sql "shard_$shard" -f - >/dev/null
done
sql postgres -c 'CREATE DATABASE front'
sql front -f "$directory/front.sql" >/dev/null || fail "the DDL is refused"

passed=0
while IFS=$'\t' read -r table value shard; do
    if [ "$shard" != - ]; then # brought there by whoever follows the lookup table
        sql "shard_$shard" -c "INSERT INTO $table VALUES ($value, 'brought')"
        found=$(sql front -c "SELECT note FROM $table WHERE \"select\" IS NOT DISTINCT FROM $value")
        [ "$found" = brought ] || fail "$table, key $value is on shard $shard, but the front finds '$found'"
        found=$(sql front -c "SELECT note FROM $table WHERE \"select\" = $value")
        [ "$found" = brought ] || [ "$value" = NULL ] || fail "$table, key $value is not where the front looks"
        sql front -c "DELETE FROM $table WHERE \"select\" IS NOT DISTINCT FROM $value"
    fi
    sql front -c "INSERT INTO $table VALUES ($value, 'row')"
    for candidate in 0 1 2; do
        there=$(sql "shard_$candidate" -c "SELECT count(*) FROM $table WHERE \"select\" IS NOT DISTINCT FROM $value")
        if [ "$shard" != - ] && [ "$there" != "$([ "$candidate" = "$shard" ] && echo 1 || echo 0)" ]; then
            fail "$table, key $value: $there rows on shard $candidate, its place is shard $shard"
        fi
    done
    found=$(sql front -c "SELECT count(*) FROM $table WHERE \"select\" IS NOT DISTINCT FROM $value")
    [ "$found" = 1 ] || fail "$table, key $value: found $found times through the front"
    if [ "$value" != NULL ]; then
        sql front -c "EXPLAIN (COSTS OFF) SELECT * FROM $table WHERE \"select\" = $value" >"$directory/plan"
        [ "$(grep -c 'Foreign Scan' "$directory/plan")" = 1 ] ||
            fail "$table, key $value does not lead to one shard: $(cat "$directory/plan")"
        if sql front -c "UPDATE $table SET \"select\" = NULL WHERE \"select\" = $value" 2>"$directory/refused"; then
            fail "$table: an update of the key passes"
        fi
        grep -q 'may not change the partition key' "$directory/refused" || fail "$(cat "$directory/refused")"
    fi
    passed=$((passed + 1))
done < <("$print" rows)
[ "$(sql front -c 'SELECT count(*) FROM hashed')" = 8 ] || fail "a full scan counts rows twice"
[ "$(sql front -c 'SELECT count(*) FROM turns')" = 6 ] || fail "a full scan counts rows twice"
sql front -c 'EXPLAIN (COSTS OFF) SELECT * FROM hashed WHERE "select" = 3' >"$directory/plan"
[ "$(grep -c 'Foreign Scan' "$directory/plan")" = 1 ] || fail "a key does not lead to one shard: $(cat "$directory/plan")"
[ "$passed" -gt 50 ] || fail "only $passed rows"

if sql front -c 'UPDATE hashed SET "select" = 2 WHERE "select" = 1' 2>"$directory/refused"; then
    fail "an update of the key passes"
fi
grep -q 'may not change the partition key' "$directory/refused" || fail "$(cat "$directory/refused")"
sql front -c "UPDATE hashed SET note = 'new' WHERE \"select\" = 1"
[ "$(sql shard_0 -c 'SELECT note FROM hashed WHERE "select" = 1')" = new ] || fail "an update is lost"
sql shard_0 -c "INSERT INTO item VALUES (9, 'everywhere')"
[ "$(sql front -c 'SELECT note FROM item')" = everywhere ] || fail "a replicated table is not read"
if sql front -c 'DELETE FROM item' 2>/dev/null; then
    fail "a replicated table is written on one shard only"
fi
echo "$passed rows where they belong"

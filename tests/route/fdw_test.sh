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
    sed -n "s/^--$shard: //p" "$directory/front.sql" >"$directory/shard_$shard.sql"
    [ -s "$directory/shard_$shard.sql" ] || fail "no lines for shard $shard"
    { cat "$directory/shard_$shard.sql"; echo 'CREATE SCHEMA IF NOT EXISTS sales;'; "$print" shard; } | sql "shard_$shard" -f - >/dev/null
done
sql postgres -c 'CREATE DATABASE front'
sql front -f "$directory/front.sql" >/dev/null || fail "the DDL is refused"

passed=0
while IFS=$'\t' read -r table value shard; do
    sql front -c "INSERT INTO $table VALUES ($value, 'row')"
    for candidate in 0 1 2; do
        there=$(sql "shard_$candidate" -c "SELECT count(*) FROM $table WHERE \"select\" IS NOT DISTINCT FROM $value")
        if [ "$shard" != - ] && [ "$there" != "$([ "$candidate" = "$shard" ] && echo 1 || echo 0)" ]; then
            fail "$table, key $value: $there rows on shard $candidate, its place is shard $shard"
        fi
    done
    found=$(sql front -c "SELECT count(*) FROM $table WHERE \"select\" IS NOT DISTINCT FROM $value")
    [ "$found" = 1 ] || fail "$table, key $value: found $found times through the front"
    passed=$((passed + 1))
done < <("$print" rows)
[ "$(sql front -c 'SELECT count(*) FROM hashed')" = 6 ] || fail "a full scan counts rows twice"
[ "$(sql front -c 'SELECT count(*) FROM turns')" = 6 ] || fail "a full scan counts rows twice"
sql front -c 'EXPLAIN (COSTS OFF) SELECT * FROM hashed WHERE "select" = 3' >"$directory/plan"
[ "$(grep -c 'Foreign Scan' "$directory/plan")" = 1 ] || fail "a key does not lead to one shard: $(cat "$directory/plan")"
[ "$passed" -gt 20 ] || fail "only $passed rows"

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

#!/bin/bash
# A placement on real servers from end to end: tables load, then tables export --to fdw on a server
# that stands before the shards. Through it each row is there once, a key leads to the shard that
# the lookup table names, inserts land there, and a key cannot be updated.
source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/servers.sh"

expect 0 cluster up --postgres 4 --dir c
mapfile -t urls < <(grep '^postgresql://' out)
ports=$(for s in 0 1 2; do echo "${urls[$s]}"; done | sed 's/.*:\([0-9]*\).*/\1/' | paste -sd,)
front=${urls[3]%/*}/front
shards=(--shard "${urls[0]}" --shard "${urls[1]}" --shard "${urls[2]}")
sql "${urls[3]}" -c 'CREATE DATABASE front'

# on_front LOOKUP: the front is made anew.
on_front() {
    sql "${urls[3]}" -c 'DROP DATABASE front' -c 'CREATE DATABASE front'
    expect 0 tables export "$1" --to fdw --host 127.0.0.1 --port "$ports" --dbname cleave --user cleave
    grep -q '^--[0-9]' out && fail "$1: the shards would need other tables than load makes"
    sql "$front" -f out >/dev/null || fail "$1: the DDL is refused"
}

# once TABLE: the rows through the front are those of the unsharded database.
once() {
    [ "$(sql "$front" -c "SELECT * FROM $1" | sort | md5sum)" = "$(sql "${urls[3]}" -c "SELECT * FROM $1" | sort | md5sum)" ] ||
        fail "$1 through the front is not the unsharded table"
}

for benchmark in 'tatp --subscribers 200' 'tpcc --warehouses 3 --items 100 --customers-per-district 30' 'epinions'; do
    read -ra options <<<"--benchmark $benchmark"
    expect 0 tables place "${options[@]}" --shards 3 --transactions 500 --held-out 0 -o placed.lookup
    for url in "${urls[@]}"; do
        sql "$url" -c 'DROP SCHEMA public CASCADE' -c 'CREATE SCHEMA public'
    done
    expect 0 tables load --lookup placed.lookup "${shards[@]}" --reference "${urls[3]}" "${options[@]}" --json
    mapfile -t tables < <(python3 -c '
import json
for t in json.load(open("out"))["tables"]:
    if not t["twice"]: print(t["table"])')
    on_front placed.lookup
    for table in "${tables[@]}"; do once "$table"; done
done

# Keys of every kind, and rules of every kind, on rows that load brought.
cat >keys.sql <<'END'
CREATE TABLE numbers (key bigint PRIMARY KEY, note text);
CREATE TABLE days (key date PRIMARY KEY, note text);
CREATE TABLE times (key timestamp PRIMARY KEY, note text);
CREATE TABLE copied (key int PRIMARY KEY, note text);
END
{
    for i in $(seq 1 40); do
        echo "BEGIN; UPDATE numbers SET note = 'x' WHERE key = $i; UPDATE days SET note = 'x' WHERE key = '2020-01-$((i % 28 + 1))';"
        echo "UPDATE times SET note = 'x' WHERE key = '2020-01-01 00:00:$((i + 10))'; SELECT count(*) FROM copied; COMMIT;"
    done
} >keys.trace
sql "${urls[3]}" -c 'DROP SCHEMA public CASCADE' -c 'CREATE SCHEMA public'
sql "${urls[3]}" -f keys.sql -c "INSERT INTO numbers SELECT i * i * i, i FROM generate_series(-100, 100) i" \
    -c "INSERT INTO days SELECT '2020-01-01'::date + i * 3, i FROM generate_series(-100, 100) i" \
    -c "INSERT INTO times SELECT '2020-01-01'::timestamp + i * interval '0.7 s', i FROM generate_series(-100, 100) i" \
    -c "INSERT INTO copied SELECT i, i FROM generate_series(1, 50) i"
expect 0 tables place --schema keys.sql --trace keys.trace --shards 3 -o keys.lookup
for s in 0 1 2; do sql "${urls[$s]}" -c 'DROP SCHEMA public CASCADE' -c 'CREATE SCHEMA public'; done
expect 0 tables load --lookup keys.lookup "${shards[@]}" --from "${urls[3]}" --csv
expect_line 'copied,all shards,50,50,50,50' out
on_front keys.lookup
tried=0
for table in numbers days times copied; do
    once $table
    mapfile -t keys < <(sql "${urls[3]}" -c "SELECT key FROM $table ORDER BY md5(key::text) LIMIT 6")
    for key in "${keys[@]}"; do
        [ "$(sql "$front" -c "SELECT count(*) FROM $table WHERE key = '$key'")" = 1 ] || fail "$table $key is not found"
        [ $table != copied ] || continue
        "$cleave" tables route keys.lookup --json --key "$table.key=$key" >route
        shard=$(python3 -c 'import json; print(*json.load(open("route"))[0]["shards"])')
        sql "$front" -c "EXPLAIN (COSTS OFF, VERBOSE) SELECT * FROM $table WHERE key = '$key'" >plan
        [ "$(grep -c 'Foreign Scan on cleave_shard_' plan)" = 1 ] && grep -q "cleave_shard_$shard" plan ||
            fail "$table $key: its shard is $shard, but $(cat plan)"
        sql "$front" -c "DELETE FROM $table WHERE key = '$key'" -c "INSERT INTO $table VALUES ('$key', 'again')"
        [ "$(sql "${urls[$shard]}" -c "SELECT note FROM $table WHERE key = '$key'")" = again ] ||
            fail "$table $key, inserted through the front, is not on shard $shard"
        if sql "$front" -c "UPDATE $table SET key = key + 1000 WHERE key = '$key'" 2>refused ||
            ! grep -q 'may not change the partition key\|operator does not exist' refused; then
            fail "$table: a key can be updated: $(cat refused)"
        fi
        tried=$((tried + 1))
    done
done
[ $tried -ge 12 ] || fail "only $tried keys were tried"
sql "$front" -c "INSERT INTO copied VALUES (777, 'x')" 2>/dev/null && fail "a copied table is written on one shard"

# Citus cannot be installed from Debian's packages. Its calls are run against functions of the same
# names and arguments that only note them: so they are SQL, and name tables and columns that exist.
sql "${urls[3]}" <<'END' || fail "stand-ins for Citus"
CREATE TABLE noted (call text);
CREATE TABLE pg_dist_node (nodename text, nodeport int, noderole text, shouldhaveshards boolean);
CREATE TABLE citus_shards (shardid bigint, nodename text, nodeport int);
INSERT INTO pg_dist_node SELECT 'node', i, 'primary', true FROM generate_series(0, 2) i;
INSERT INTO citus_shards VALUES (1, 'other', 9);
CREATE FUNCTION create_reference_table(t regclass) RETURNS void LANGUAGE sql AS $$ INSERT INTO noted VALUES ('copy ' || t) $$;
CREATE FUNCTION create_distributed_table(t regclass, c text, colocate_with text DEFAULT 'default') RETURNS void LANGUAGE sql AS
    $$ INSERT INTO noted SELECT 'spread ' || t FROM pg_attribute WHERE attrelid = t AND attname = c $$;
CREATE FUNCTION isolate_tenant_to_new_shard(t regclass, v "any", o text, shard_transfer_mode text) RETURNS bigint LANGUAGE internal AS 'pg_backend_pid';
CREATE FUNCTION get_shard_id_for_distribution_column(t regclass, v "any") RETURNS bigint LANGUAGE internal AS 'pg_backend_pid';
CREATE FUNCTION citus_move_shard_placement(s bigint, a text, b int, c text, d int, m text) RETURNS void LANGUAGE sql AS
    $$ INSERT INTO noted VALUES ('move to ' || d) $$;
END
expect 0 tables export keys.lookup --to citus
grep -v '^CREATE EXTENSION' out >citus.sql
sql "${urls[3]}" -f citus.sql >/dev/null || fail "what Citus is told is no SQL"
[ "$(sql "${urls[3]}" -c "SELECT count(*) FILTER (WHERE call ~ '^copy'), count(*) FILTER (WHERE call ~ '^spread') FROM noted")" = '1|3' ] ||
    fail "Citus is not told of each table: $(sql "${urls[3]}" -c 'SELECT * FROM noted')"
expect 0 cluster down --dir c
done_testing

#!/bin/bash
# cleave tables load on servers and roles with settings of their own: time limits, row security, time zones, search paths,
# collations; inheritance; two loads at once; shard 0 lost as it commits.
source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/servers.sh"

expect 0 cluster up --postgres 3 --dir c --connections 30
mapfile -t urls < <(grep '^postgresql://' out)
source_url=${urls[2]}
sql "$source_url" <<'END'
CREATE COLLATION loud (provider = icu, locale = 'und');
CREATE TABLE shop (id int PRIMARY KEY, name text COLLATE "POSIX", loud text COLLATE loud, price money, mood "char");
CREATE TABLE sale (shop int, no int, PRIMARY KEY (shop, no));
INSERT INTO shop SELECT i, E'\\.' || i, E'\u00e9\\N\t' || i, i * 1000.5, 'x' FROM generate_series(1, 40000) i;
INSERT INTO sale SELECT 1 + i % 40000, i FROM generate_series(1, 40000) i;
END
for i in $(seq 1 60); do
    printf '%s\n' 'BEGIN;' "UPDATE shop SET name = 'x' WHERE id = $i;" "UPDATE sale SET no = no WHERE shop = $i;" 'COMMIT;'
done >app.log
expect 0 tables place --catalog "$source_url" --shards 2 --trace app.log -o app.lookup
for s in 0 1; do sql "${urls[$s]}" -c "CREATE COLLATION loud (provider = icu, locale = 'und')"; done
load=(tables load --lookup app.lookup --from "$source_url")
shards=(--shard "${urls[0]}" --shard "${urls[1]}")

# Limits that stop people stop no load; a schema of the role's name takes no tables.
for s in 0 1 2; do
    [ $s = 2 ] || sql "${urls[$s]}" -c 'CREATE SCHEMA cleave'
    for limit in statement_timeout=100 idle_in_transaction_session_timeout=100 idle_session_timeout=100; do
        sql "${urls[$s]}" -c "ALTER ROLE cleave SET $limit"
    done
done
expect 0 "${load[@]}" "${shards[@]}"
for s in 0 1 2; do
    PGOPTIONS='-c statement_timeout=0 -c idle_session_timeout=0' "$bin/psql" -X -q -d "${urls[$s]}" -c 'ALTER ROLE cleave RESET ALL'
done
for table in shop sale; do
    all=$(sql "$source_url" -c "SELECT * FROM public.$table" | sort | md5sum)
    parts=$(for s in 0 1; do sql "${urls[$s]}" -c "SELECT * FROM public.$table"; done | sort | md5sum)
    [ "$all" = "$parts" ] || fail "$table: the shards together are not the source"
done
sql "${urls[1]}" -c "SELECT attname, collname FROM pg_attribute a JOIN pg_collation o ON o.oid = a.attcollation WHERE attrelid = 'shop'::regclass" >collations
expect_line 'name|POSIX' collations
expect_line 'loud|loud' collations
# What the URL asks for stays.
expect 1 "${load[@]}" --shard "${urls[0]}" --shard "${urls[1]}?options=-c%20statement_timeout%3D2ms" --replace
expect_line 'canceling statement due to' err

# One database under two time zones is one.
sql "${urls[0]}" -c 'CREATE ROLE zoned SUPERUSER LOGIN' -c "ALTER ROLE zoned SET timezone = 'Asia/Kathmandu'"
expect 2 "${load[@]}" "${shards[@]:0:2}" --shard "postgresql://zoned@${urls[0]#*@}" --replace
expect_line 'are the same database' err

# Rows that the role may not see are not left out without a word.
sql "$source_url" -c 'CREATE ROLE weak LOGIN' -c 'GRANT SELECT ON shop, sale TO weak' -c 'ALTER TABLE sale ENABLE ROW LEVEL SECURITY' \
    -c 'CREATE POLICY few ON sale USING (shop < 100)'
expect 1 tables load --lookup app.lookup --from "postgresql://weak@${source_url#*@}" "${shards[@]}" --replace
expect_one_line
expect_line 'row-level security policy for table "sale"' err
sql "$source_url" -c 'ALTER TABLE sale DISABLE ROW LEVEL SECURITY'
sql "$source_url" -c 'CREATE TABLE heir (more int) INHERITS (sale)'
expect 0 tables place --catalog "$source_url" --shards 2 --trace app.log -o heir.lookup
expect 1 tables load --lookup heir.lookup --from "$source_url" "${shards[@]}" --replace
expect_line 'table heir inherits from public.sale' err
sql "$source_url" -c 'DROP TABLE heir' -c 'CREATE TABLE bare ()'
expect 1 tables place --catalog "$source_url" --shards 2 --trace app.log -o bare.lookup
expect_line 'table bare has no columns' err
sql "$source_url" -c 'DROP TABLE bare'

# Another load is at work at a shard.
mkfifo hold
sql "${urls[1]}" <hold >/dev/null &
other=$!
exec 9>hold
echo "SELECT pg_advisory_lock(hashtextextended('cleave tables load', 0));" >&9
for try in $(seq 1 100); do
    [ "$(sql "${urls[1]}" -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")" = 0 ] || break
    sleep 0.1
done
expect 1 "${load[@]}" "${shards[@]}" --replace
expect_one_line
expect_line 'another `cleave tables load` is at work there' err
exec 9>&-
wait $other

# Shard 0 is lost as it commits: its answer does not come (it waits for a standby that is not there), and it has committed.
counts() { for s in 0 1; do sql "${urls[$s]}" -c 'SELECT count(*) FROM shop' -c 'SELECT count(*) FROM pg_prepared_xacts'; done | tr '\n' ' '; }
sql "$source_url" -c "DELETE FROM shop WHERE id > 100"
sql "${urls[0]}" -c "ALTER SYSTEM SET synchronous_standby_names = 'nobody'" -c 'ALTER SYSTEM SET synchronous_commit = on' -c 'SELECT pg_reload_conf()' >/dev/null
"$cleave" "${load[@]}" "${shards[@]}" --replace >out 2>err &
job=$!
for try in $(seq 1 100); do
    sleep 0.1
    waits=$(sql "${urls[0]}" -c "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    [ -z "$waits" ] || break
done
[ -n "$waits" ] || fail "it waits for no standby"
sql "${urls[0]}" -c "ALTER SYSTEM RESET synchronous_standby_names" -c 'ALTER SYSTEM RESET synchronous_commit' >/dev/null
sql "${urls[0]}" -c "SELECT pg_terminate_backend($waits)" -c 'SELECT pg_reload_conf()' >/dev/null
wait $job || { fail "a commit whose answer is lost is not found out"; cat err; }
[ "$(counts | awk '{print $1 + $3, $2, $4}')" = '100 0 0' ] || fail "half a load: $(counts)"
expect 0 cluster down --dir c
done_testing

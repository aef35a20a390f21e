#!/bin/bash
# cleave tables load, replay, recover and repartition on the servers of one throw-away cluster: statements
# that fail, two at once, shards in a wrong order, and a shard more with all that a loaded one has.
source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/servers.sh"
json() {
    python3 -c 'import json, sys; d = json.load(open("out")); sys.exit(not eval(sys.argv[1]))' "$1" ||
        { fail "not so: $1"; head -c 1500 out; }
}

expect 0 cluster up --postgres 4 --dir c --connections 40
mapfile -t urls < <(grep '^postgresql://' out)
sql "${urls[2]}" -c 'CREATE DATABASE source' # a server that is no shard yet may hold it
source=${urls[2]%/*}/source
sql "$source" <<'END'
CREATE TYPE mood AS ENUM ('calm', 'wild');
CREATE TABLE owner (id int PRIMARY KEY, name text NOT NULL DEFAULT 'nobody', feels mood DEFAULT 'calm',
    upper_name text GENERATED ALWAYS AS (upper(name)) STORED);
CREATE TABLE pet (owner int REFERENCES owner, no int, legs int CHECK (legs >= 0), tag bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (owner, no));
CREATE INDEX pet_legs ON pet (legs) WHERE legs > 2;
INSERT INTO owner (id, name) SELECT i, 'owner ' || i FROM generate_series(1, 40) i;
INSERT INTO pet (owner, no, legs) SELECT o, n, n % 5 FROM generate_series(1, 40) o, generate_series(1, 3) n;
END
for i in $(seq 1 40); do
    echo "BEGIN; SELECT name FROM owner WHERE id = $i; UPDATE pet SET legs = legs + 1 WHERE owner = $i; COMMIT;"
    echo "BEGIN; DELETE FROM pet WHERE owner = $i; UPDATE owner SET id = id + 100 WHERE id = $i; COMMIT;"
done >app.sql
expect 0 tables place --catalog "$source" --shards 2 --trace app.sql --no-replication -o two
expect 0 tables place --catalog "$source" --shards 3 --trace app.sql --no-replication -o three
expect 0 tables load --lookup two --cluster c --from "$source"
expect_line 'counted: every shard' out
[ "$(sql "${urls[3]}" -c 'SELECT count(*) FROM pet')" = 120 ] || fail 'the last server is not the reference'

# Failing statements, whatever fails: both sides alike, nothing stays.
cat >failing.sql <<'END'
UPDATE pet SET legs = 1 WHERE owner = 7;
BEGIN; UPDATE pet SET legs = 9 WHERE owner = 7; SELECT 1 / (legs - 9) FROM pet WHERE owner = 7; COMMIT;
BEGIN; UPDATE pet SET legs = 3; SELECT sum(1 / (legs - 3)) FROM pet; COMMIT;
BEGIN; UPDATE pet SET legs = 9 WHERE owner IN (1, 2, 3, 4, 5, 6); INSERT INTO pet (owner, no, legs) VALUES (7, 1, 1); COMMIT;
INSERT INTO pet (owner, no, legs) VALUES (1000, 1, 1);
UPDATE pet SET legs = -1 WHERE owner = 8;
UPDATE owner SET feels = 'odd' WHERE id = 3;
SELECT lower(name, 3) FROM owner WHERE id = 4;
UPDATE pet SET tag = 5 WHERE owner = 9;
SELECT sum(legs), count(*) FROM pet;
END
expect 0 tables replay --lookup two --cluster c failing.sql --json
json 'd["verified"] and d["failed"] == 8 and d["failed_alone"] == 0 and d["replayed"] == 2'
json 'd["counted"] == d["predicted"] and d["audit"]["prepared"] == 0'
# A serialization failure that does not go away, on the shards alone.
for s in 0 1; do
    sql "${urls[$s]}" <<'END'
CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = 'serialization_failure'; END $$;
CREATE TRIGGER never BEFORE UPDATE ON owner FOR EACH ROW WHEN (NEW.name = 'never') EXECUTE FUNCTION never();
END
done
printf "UPDATE owner SET name = 'never' WHERE id = 5;\nUPDATE owner SET name = 'ever' WHERE id = 6;\n" >again.sql
expect 1 tables replay --lookup two --cluster c again.sql --json
json 'd["failed"] == 1 and d["failed_alone"] == 1 and d["replayed"] == 1 and d["retries"] > 2'
json '"fails on the shards alone" in d["differences"][0]'
sql "${urls[3]}" -c "UPDATE owner SET name = 'owner 5' WHERE id = 5"
for s in 0 1; do sql "${urls[$s]}" -c 'DROP FUNCTION never CASCADE'; done

# A second one under the same name; shards in another order; the reference as a shard.
"$cleave" tables replay --lookup two --cluster c app.sql --rate 4 >slow.out 2>&1 &
slow=$!
for i in $(seq 1 100); do
    [ "$(sql "${urls[0]}" -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")" = 1 ] && break
    sleep 0.1
done
expect 1 tables replay --lookup two --cluster c failing.sql
expect_one_line
expect_line 'another replay or repartition is running under this name' err
kill -INT $slow
wait $slow
expect 0 tables recover --lookup two --cluster c
expect 1 tables recover --lookup two --shard "${urls[1]}" --shard "${urls[0]}"
expect_one_line
expect_line 'is given as shard 0, but was loaded as shard 1' err
expect 1 tables recover --lookup two --shard "${urls[0]}" --shard "${urls[3]}"
expect_one_line
expect_line 'was loaded as the unsharded reference' err

# A part that a dead coordinator's server prepares after the sweep: whoever waits for its locks gets on.
"$cleave" tables replay --lookup two --cluster c app.sql --rate 20 >slow.out 2>&1 &
slow=$!
for i in $(seq 1 100); do
    [ "$(sql "${urls[0]}" -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")" = 1 ] && break
    sleep 0.1
done
for s in 0 1; do
    printf '%s;\n' BEGIN 'UPDATE pet SET legs = 77 WHERE owner > 30' "PREPARE TRANSACTION 'cleave-replay-1-0-$s'" | sql "${urls[$s]}"
done
for i in $(seq 1 300); do
    kill -0 $slow 2>/dev/null || break
    sleep 0.1
done
kill -9 $slow 2>/dev/null && fail 'a replay waits without end for what a dead one left'
wait $slow
[ "$(for s in 0 1; do sql "${urls[$s]}" -c 'SELECT count(*) FROM pg_prepared_xacts' -c 'SELECT count(*) FROM pet WHERE legs >= 77'; done | sort -u)" = 0 ] ||
    fail 'a part of a dead replay is left, or was committed'

# A shard more: it gets what the others have, and goes on with values of its own.
expect 0 tables load --lookup two --cluster c --from "$source" --replace
expect 0 tables replay --lookup two --cluster c app.sql --repartition three --repartition-at 10 --json
json 'd["verified"] and d["repartition"]["whole"] and d["repartition"]["rows"] > 0'
for s in 0 2; do
    "$bin/psql" -X -d "${urls[$s]}" -c '\d owner' -c '\d pet' -c '\dT+ mood' | sed 's/_seq[0-9]*//' >described.$s
done
diff described.0 described.2 || fail 'the new shard is not like the first'
grep -q 'pet_legs.*WHERE' described.2 && grep -q 'pet_legs_check' described.2 || { fail 'indexes or checks are missing'; cat described.2; }
[ "$(sql "${urls[2]}" -c 'SELECT count(*) FROM owner')" -gt 0 ] || fail 'the new shard has no rows'
for s in 0 1 2; do
    sql "${urls[$s]}" -c "INSERT INTO owner VALUES ($((1000 + s)))" -c "INSERT INTO pet (owner, no) SELECT $((1000 + s)), i FROM generate_series(1, 4) i RETURNING tag"
done >drawn
[ "$(wc -l <drawn)" = 12 ] && [ -z "$(sort drawn | uniq -d)" ] || { fail 'values are drawn twice'; cat drawn; }
for s in 0 1 2; do
    sql "${urls[$s]}" -c 'INSERT INTO pet (owner, no) VALUES (5000, 1)' 2>/dev/null && fail "shard $s keeps no foreign key"
done
expect 0 cluster down --dir c
done_testing

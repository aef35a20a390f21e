#!/bin/bash
# cleave tables replay and recover on SQLite: in one command, by a lookup table, with a trace of its
# own; what is refused, what is wrong, and nothing left behind.
. "$(dirname "$0")/harness.sh"
command -v python3 >/dev/null || exit 77
export TMPDIR=$scratch/tmp
mkdir "$TMPDIR"

json() {
    python3 -c 'import json, sys; d = json.load(open("out")); sys.exit(not eval(sys.argv[1]))' "$1" ||
        { fail "not so: $1"; head -c 1500 out; }
}
small=(--benchmark tpcc --warehouses 3 --items 50 --customers-per-district 10)

# One command, files made for the occasion and taken away again.
expect 0 tables replay "${small[@]}" --shards 3 --transactions 40 --held-out 20
expect_line '60 transactions read: 60 replayed, 0 refused' out
expect_line "answers are the unsharded database's" out
expect_line 'each where it belongs, nothing prepared' out
expect 0 tables replay "${small[@]}" --scheme CMRR --shards 3 --transactions 40 --held-out 20 --json \
    --connections 3
json 'd["verified"] and d["different"] == 0 and d["counted"] == d["predicted"]'
json 'd["counted"]["distributed"] > 40 and d["two_phase"] > 0 and d["compared"] > 500'
json 'd["read"] == d["replayed"] + d["refused"] + d["empty"] == 60'
expect 0 tables replay "${small[@]}" --scheme PKH --shards 3 --transactions 30 --held-out 0 --unordered
expect_line 'not verified: no answer was compared' out
[ -z "$(ls -A "$TMPDIR")" ] || fail "files are left: $(ls "$TMPDIR")"

# As many distributed ones as compare counts, which the oracle recounts.
expect 0 tables compare "${small[@]}" --schemes PKH --shards 3 --transactions 40 --held-out 20 --json
cp out compared
expect 0 tables replay "${small[@]}" --scheme PKH --shards 3 --transactions 40 --held-out 20 --json
json 'd["counted"]["distributed"] == sum(json.load(open("compared"))["schemes"][0][p]["distributed"] for p in ("train", "held_out"))'

# By a lookup table, on files that stay.
expect 0 tables place "${small[@]}" --shards 2 --transactions 40 --held-out 0 -o lookup
expect 0 tables replay "${small[@]}" --lookup lookup --shards 'sqlite:s{}.db' --reference sqlite:u.db \
    --fill --transactions 30 --held-out 0
expect_line '30 replayed' out
expect 0 tables recover --lookup lookup --shards 'sqlite:s{}.db'
expect_line '0 parts committed, 0 rolled back, 0 of others left alone' out

# A trace of its own: key columns change, what cannot be run is left out and told.
cat >ddl.sql <<'SQL'
CREATE TABLE t (k integer NOT NULL PRIMARY KEY, v integer);
SQL
cat >trace.sql <<'SQL'
INSERT INTO t (k, v) VALUES (1, 10), (2, 20), (3, 30), (4, 40);
BEGIN; UPDATE t SET k = 8 WHERE k = 1; SELECT v FROM t WHERE k = 8; COMMIT;
SELECT sum(v), count(*) FROM t;
SELECT k FROM t ORDER BY k DESC LIMIT 2;
INSERT INTO t (k, v) SELECT k + 100, v FROM t;
SET work_mem = 100;
DELETE FROM t WHERE v > 15 RETURNING k;
SQL
expect 0 tables place --schema ddl.sql trace.sql --shards 2 --no-replication --held-out-fraction 0 -o own
rm -f s?.db* u.db*
for store in s0 s1 u; do
    python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open("ddl.sql").read())' $store.db
done
expect 0 tables replay --lookup own --shards 'sqlite:s{}.db' --reference sqlite:u.db trace.sql --json
json 'd["read"] == 7 and d["replayed"] == 5 and d["refused"] == 1 and d["empty"] == 1 and d["verified"]'
expect_line 'cleave: transaction 5 is left out: statement 1, "INSERT INTO t (k, v) SELECT k + 100, v FROM t": an INSERT' err

# Transactions that fail: on both sides alike they are counted, and the replay goes on; on one side alone they are
# differences. A failure leaves nothing on any shard, whatever the rule of the statement.
cat >failing.sql <<'SQL'
INSERT INTO t (k, v) VALUES (11, 1), (12, 2), (13, 3), (14, 4);
INSERT INTO t (k, v) VALUES (21, 1), (22, 2), (14, 4);
BEGIN; UPDATE t SET v = 99; INSERT INTO t (k, v) VALUES (11, 5); COMMIT;
BEGIN; INSERT INTO t (k, v) VALUES (31, 1); UPDATE t SET k = 12 WHERE k = 13; COMMIT;
BEGIN; DELETE FROM t WHERE k IN (11, 12, 13); SELECT max(abs(v - 9223372036854775807 - 5)) FROM t; COMMIT;
SELECT abs(v - 9223372036854775807 - 5) FROM t WHERE k = 14;
UPDATE t SET v = 5 WHERE k = 14;
SELECT count(*), sum(v) FROM t;
SQL
expect 0 tables replay --lookup own --shards 'sqlite:s{}.db' --reference sqlite:u.db failing.sql --json
json 'd["read"] == 8 and d["replayed"] == 3 and d["refused"] == d["failed"] == 5 and d["verified"]'
json 'd["counted"] == d["predicted"] and d["counted"]["transactions"] == 3 and d["failed_alone"] == 0'
expect_line 'cleave: transaction 2 is left out: it fails, as on the unsharded database: sqlite:s' err
sed 1d failing.sql >again.sql
expect 0 tables replay --lookup own --shards 'sqlite:s{}.db' --no-verify again.sql
expect_line 'failed at a statement, and were rolled back' out
python3 -c 'import sqlite3; c = sqlite3.connect("u.db"); c.execute("INSERT INTO t VALUES (51, 5)"); c.commit()'
python3 -c 'import sqlite3; [c.commit() for c in [sqlite3.connect(f"s{i}.db") for i in (0, 1)] if c.execute("INSERT INTO t VALUES (52, 5)")]'
printf 'INSERT INTO t (k, v) VALUES (51, 1);\nINSERT INTO t (k, v) VALUES (52, 1);\n' >alone.sql
expect 1 tables replay --lookup own --shards 'sqlite:s{}.db' --reference sqlite:u.db alone.sql
expect_line 'DIFFERENT: transaction 1 fails on the unsharded database alone: sqlite:u.db: UNIQUE' out
expect_line 'DIFFERENT: transaction 2 fails on the shards alone: sqlite:s' out
expect_line '2 failed on one side alone' out

# Shards know who they are: another order, or shards of two sets, is refused whatever is prepared.
for command in recover 'replay --no-verify alone.sql'; do
    expect 1 tables $command --lookup own --shard sqlite:s1.db --shard sqlite:s0.db
    expect_one_line
    expect_line 'sqlite:s1.db is given as shard 0, but was loaded as shard 1' err
done
cp s1.db other.db
python3 -c 'import sqlite3; c = sqlite3.connect("other.db"); c.execute("UPDATE cleave_shard SET load = 1"); c.commit()'
expect 1 tables recover --lookup own --shard sqlite:s0.db --shard sqlite:other.db
expect_one_line
expect_line 'were not loaded together' err

# Two at once under one name: the second is told so; under a name of its own it may.
touch s0.db-cleave-replay
exec 9<s0.db-cleave-replay
flock -n 9 || fail 'no lock'
expect 1 tables replay --lookup own --shards 'sqlite:s{}.db' --no-verify again.sql
expect_one_line
expect_line 'another replay or repartition is running under this name' err
expect_line '--coordinator' err
expect 0 tables replay --lookup own --shards 'sqlite:s{}.db' --no-verify again.sql --coordinator second
exec 9<&-
expect 0 tables replay --lookup own --shards 'sqlite:s{}.db' --no-verify again.sql
[ -z "$(ls | grep -- -cleave-)" ] || fail "a lock is left: $(ls)"

# A store that is not what the trace saw: found, and the status says so.
python3 -c 'import sqlite3; c = sqlite3.connect("u.db"); c.execute("INSERT INTO t VALUES (77, 7)"); c.commit()'
echo 'SELECT v FROM t WHERE v = 7;' >more.sql
expect 1 tables replay --lookup own --shards 'sqlite:s{}.db' --reference sqlite:u.db more.sql
expect_line 'DIFFERENT: transaction 1, statement 1: 0 rows' out
expect_line 'NOT verified' out

# What is wrong is one line.
expect 1 tables replay --lookup own --shards 'sqlite:none/s{}.db' --no-verify trace.sql
expect_one_line
expect 2 tables replay --lookup own --shards sqlite:s.db --no-verify trace.sql
expect_line 'needs {}' err
expect 2 tables replay --lookup own --shard sqlite:s0.db --no-verify trace.sql
expect_line '2 shards, but 1' err
expect 2 tables replay --lookup own --shard sqlite:s0.db --shard sqlite:s0.db --no-verify trace.sql
expect_line 'shards 0 and 1 are the same' err
expect 2 tables replay --lookup own --shard sqlite:s0.db --shard sqlite:./s0.db --no-verify trace.sql # however it is spelled
expect_line 'shards 0 and 1 are the same' err
expect 2 tables replay --lookup own --shards 'sqlite:s{}.db' --reference "$PWD/s1.db" trace.sql
expect_line 'the reference is the same database as shard 1' err
expect 2 tables replay --lookup own trace.sql
expect 2 tables replay --lookup own --shards 'sqlite:s{}.db' --coordinator 'a b' trace.sql
expect 2 tables recover --shards 'sqlite:s{}.db'
echo 'SELECT v FROM t WHERE v = 7;' | "$cleave" tables replay --schema ddl.sql --shards 'sqlite:s{}.db' - 2>err
expect_line 'cannot be read twice' err
python3 -c 'import sqlite3; c = sqlite3.connect("s1.db"); c.execute("DROP TABLE t"); c.commit()'
expect 1 tables replay --lookup own --shards 'sqlite:s{}.db' --no-verify more.sql
expect_one_line
expect_line "sqlite:s1.db has none of the lookup table's tables: load it first" err
done_testing

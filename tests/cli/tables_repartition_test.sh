#!/bin/bash
# cleave tables replay --repartition, and tables repartition, on SQLite: to more shards and back, with
# every answer and row verified; what is wrong, and nothing half done.
. "$(dirname "$0")/harness.sh"
command -v python3 >/dev/null || exit 77
export TMPDIR=$scratch/tmp
mkdir "$TMPDIR"

json() {
    python3 -c 'import json, sys; d = json.load(open("out")); sys.exit(not eval(sys.argv[1]))' "$1" ||
        { fail "not so: $1"; head -c 1500 out; }
}
rows() { # FILE: of all of TPC-C's tables
    python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
names = [n for n, in db.execute("SELECT name FROM sqlite_schema WHERE type = '"'table'"'") if not n.startswith("cleave_")]
print(sum(db.execute(f"SELECT count(*) FROM {n}").fetchone()[0] for n in names))' "$1"
}
small=(--benchmark tpcc --warehouses 3 --items 50 --customers-per-district 10)

expect 0 tables place "${small[@]}" --shards 2 --transactions 100 --held-out 0 -o two
expect 0 tables place "${small[@]}" --shards 3 --transactions 100 --held-out 0 -o three

# In one command, from a scheme to a lookup table.
expect 0 tables replay "${small[@]}" --scheme PKH --shards 3 --transactions 150 --held-out 0 \
    --repartition three --repartition-at 40
expect_line 'repartition: ' out
expect_line "answers are the unsharded database's" out
expect_line 'each where it belongs, nothing prepared' out
[ -z "$(ls -A "$TMPDIR")" ] || fail "files are left: $(ls "$TMPDIR")"

# More shards, on files that stay.
expect 0 tables replay "${small[@]}" --lookup two --shards 'sqlite:s{}.db' --reference sqlite:u.db --fill \
    --transactions 150 --held-out 0 --repartition three --repartition-at 20 --pieces 8 --json
json 'd["verified"] and d["counted"] == d["predicted"] and d["repartition"]["whole"]'
json 'd["repartition"]["rows"] > 500 and len(d["shard_transactions"]) == 3'
json 'sum(d["repartition"][p]["transactions"] for p in ("before", "meanwhile", "after")) == 150'
[ "$(rows s2.db)" -gt 100 ] || fail "the new shard has $(rows s2.db) rows"

# And back, with nothing running; the same once more has nothing to do.
before=$(($(rows s0.db) + $(rows s1.db) + $(rows s2.db)))
expect 0 tables repartition --from three --to two --shards 'sqlite:s{}.db'
expect_line ' moves, ' out
[ "$(rows s2.db)" = 0 ] || fail "shard 2 still has $(rows s2.db) rows"
after=$(($(rows s0.db) + $(rows s1.db)))
[ "$after" -le "$before" ] && [ "$after" -gt 500 ] || fail "$before rows became $after"
expect 0 tables repartition --from three --to two --shards 'sqlite:s{}.db' --json
json 'd["whole"] and d["rows"] == 0 and d["moves"] == 0'

# Half way, only the same repartition may go on.
python3 -c 'import sqlite3; c = sqlite3.connect("s0.db"); c.execute("UPDATE cleave_plan SET whole = 0"); c.commit()'
expect 1 tables replay "${small[@]}" --lookup two --shards 'sqlite:s{}.db' --no-verify --transactions 1 --held-out 0
expect_one_line
expect_line 'half way from one placement to another' err
expect_line '`cleave tables repartition --from three --to two`' err
expect 1 tables repartition --from two --to three --shards 'sqlite:s{}.db'
expect_one_line
expect_line '`cleave tables repartition --from three --to two`' err
expect 0 tables repartition --from three --to two --shards 'sqlite:s{}.db'
expect 0 tables replay "${small[@]}" --lookup two --shards 'sqlite:s{}.db' --no-verify --transactions 1 --held-out 0

# What is wrong is one clear line.
expect 1 tables repartition --from two --to nowhere --shards 'sqlite:s{}.db'
expect_one_line
expect 1 tables repartition --from two --to three --shards 'sqlite:empty{}.db'
expect_one_line
expect_line "none of the lookup table's tables: load it first" err
expect 2 tables repartition --from two --to three --shard sqlite:s0.db --shard sqlite:s1.db
expect_one_line
cat >ddl.sql <<'SQL'
CREATE TABLE t (k integer NOT NULL PRIMARY KEY, v integer);
SQL
echo 'SELECT v FROM t WHERE k = 1' >trace.sql
expect 0 tables place --schema ddl.sql trace.sql --shards 2 --held-out-fraction 0 -o own
expect 2 tables repartition --from two --to own --shards 'sqlite:s{}.db'
expect_one_line
expect_line 'different schemas' err
expect 2 tables repartition --from two --shards 'sqlite:s{}.db'

done_testing

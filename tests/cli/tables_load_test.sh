#!/bin/bash
# cleave tables load onto SQLite files: every row where the lookup table sends it, all or nothing.
source "$(dirname "$0")/harness.sh"

small=(--benchmark tatp --subscribers 300)
expect 0 tables place "${small[@]}" --shards 3 --transactions 300 --held-out 0 -o tatp.lookup

# The shards together are the reference; what is on a shard is what route says.
expect 0 tables load --lookup tatp.lookup --shards 'sqlite:shard-{}.db' --reference whole.db "${small[@]}" --json
cat >check.py <<'END'
import glob, json, sqlite3, subprocess, sys
cleave, lookup, whole, pattern = sys.argv[1:5]
told = {t["table"]: t for t in json.load(open("out"))["tables"]} if sys.argv[5:] else None
names = sorted(glob.glob(pattern))
shards = [sqlite3.connect(n) for n in names]
reference = sqlite3.connect(whole)
tables = [r[0] for r in reference.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND "
                                          "name NOT LIKE 'cleave%' ORDER BY 1")]
assert tables, "no tables"
for t in tables:
    rows = [[r for r in s.execute(f'SELECT * FROM "{t}"')] for s in shards]
    all_rows = sorted(map(repr, reference.execute(f'SELECT * FROM "{t}"')))
    if told:
        assert told[t]["shards"] == [len(r) for r in rows] and told[t]["rows"] == len(all_rows), t
    if told and told[t]["replicated"]:
        assert all(sorted(map(repr, r)) == all_rows for r in rows), t
    else:
        assert sorted(repr(x) for r in rows for x in r) == all_rows, t
for i, s in enumerate(shards): # nothing of cleave's own but its number and an empty table
    own = [r[0] for r in s.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'cleave%'")]
    assert "cleave_shard" in own and set(own) <= {"cleave_prepared", "cleave_shard"}, own
    assert list(s.execute("SELECT shard FROM cleave_shard")) == [(i,)], names[i]
    assert len(own) == 1 or not list(s.execute("SELECT 1 FROM cleave_prepared")), names[i]
    for key, in list(s.execute("SELECT s_id FROM subscriber"))[:5]:
        out = subprocess.run([cleave, "tables", "route", lookup, "--json", "--key", f"subscriber.s_id={key}"],
                             stdout=subprocess.PIPE, check=True).stdout
        assert json.loads(out)[0]["shards"] == [i], (key, i, out)
END
python3 check.py "$cleave" tatp.lookup whole.db 'shard-?.db' told || fail "rows are not where they belong"
python3 - <<'END'
import sqlite3
db = sqlite3.connect("shard-1.db")
db.execute("DELETE FROM subscriber WHERE s_id = (SELECT min(s_id) FROM subscriber)")
db.commit()
END
python3 check.py "$cleave" tatp.lookup whole.db 'shard-?.db' 2>/dev/null && fail "the check passes a row that is lost"

# From the live reference, over what is there.
expect 1 tables load --lookup tatp.lookup --shards 'sqlite:shard-{}.db' --from whole.db
expect_one_line
expect_line 'is there already; --replace drops it' err
expect 0 tables load --lookup tatp.lookup --shards 'sqlite:shard-{}.db' --from sqlite:whole.db --replace
expect_line 'counted: every shard has the rows' out
python3 check.py "$cleave" tatp.lookup whole.db 'shard-?.db' || fail "rows from a live file are not where they belong"
expect 0 tables load --lookup tatp.lookup --shards 'empty-{}.db' --from whole.db --only-schema --csv
[ "$(sed -n 2p out | cut -d, -f3-)" = 0,0,0,0 ] || { fail "--only-schema brings rows"; cat out; }

# What makes no sense: one line, and no file.
refuses() { # STATUS TEXT ARGUMENT...
    local status=$1 text=$2
    shift 2
    expect "$status" tables load --lookup tatp.lookup "$@"
    expect_line "$text" err
    [ "$(wc -l <err)" -le 3 ] || { fail "$*: more than a line"; cat err; }
    [ -z "$(ls new-* 2>/dev/null)" ] || { fail "$*: files are left: $(ls new-*)"; rm -f new-*; }
}
refuses 2 'the lookup table has 3 shards, but 2 are given' --shard new-0 --shard new-1 "${small[@]}"
refuses 2 'are the same database' --shard new-0 --shard new-1 --shard new-0 "${small[@]}"
refuses 2 'are the same database' --shard new-0 --shard shard-0.db --shard "$PWD/shard-0.db" --from whole.db --replace
refuses 2 'wants {}' --shards new-0.db "${small[@]}"
refuses 2 'where to?' "${small[@]}"
refuses 2 'where from?' --shards 'new-{}'
refuses 2 'where from?' --shards 'new-{}' --from whole.db "${small[@]}"
refuses 1 'nowhere.db: there is no such file' --shards 'new-{}' --from nowhere.db
refuses 1 'is not a database' --shards 'new-{}' --from tatp.lookup
refuses 1 'No such file or directory' --shards 'no/such/folder/{}' --from whole.db
expect 1 tables load --lookup whole.db --shards 'new-{}' --from whole.db
expect_one_line

# A source whose schema is not that of the lookup table.
drift() { # TEXT SQL
    cp whole.db drifted.db
    python3 -c 'import sqlite3, sys; sqlite3.connect("drifted.db").executescript(sys.argv[1])' "$2"
    refuses 1 "$1" --shards 'new-{}' --from drifted.db
    refuses 1 'is not the database that the lookup table was made for' --shards 'new-{}' --from drifted.db
}
drift 'column more of table subscriber is not in the lookup table' 'ALTER TABLE subscriber ADD COLUMN more int'
drift 'table subscriber has no column bit_1' 'ALTER TABLE subscriber RENAME COLUMN bit_1 TO bit'
drift 'there is no table special_facility' 'DROP TABLE special_facility'
drift 'table extra is not in the lookup table' 'CREATE TABLE extra (x int)'
drift 'special_facility is a view' 'ALTER TABLE special_facility RENAME TO special;
    CREATE VIEW special_facility AS SELECT * FROM special'

# Money.
cat >money.sql <<'END'
CREATE TABLE money (id int PRIMARY KEY, amount numeric(30, 4) NOT NULL, flag boolean, code char(6));
END
cat >money.log <<'END'
UPDATE money SET amount = 1 WHERE id = 1;
UPDATE money SET amount = 1 WHERE id = 2;
END
expect 0 tables place --schema money.sql --trace money.log --shards 2 -o money.lookup
python3 - <<'END'
import sqlite3
c = sqlite3.connect("money.db")
c.execute("CREATE TABLE money (id int PRIMARY KEY, amount TEXT NOT NULL, flag int, code text)")
c.executemany("INSERT INTO money VALUES (?, ?, ?, ?)", [(i, f"{i}.1000", i % 2, "ab") for i in range(50)])
c.commit()
END
expect 0 tables load --lookup money.lookup --shards 'money-{}.db' --from money.db
python3 - <<'END' || fail "sums of money differ"
import sqlite3
total = sum(sqlite3.connect(f"money-{i}.db").execute("SELECT coalesce(sum(amount), 0) FROM money").fetchone()[0] for i in (0, 1))
assert abs(total - sum(i + .1 for i in range(50))) < 1e-9, total
assert sqlite3.connect("money-0.db").execute("SELECT type FROM pragma_table_info('money') WHERE name = 'amount'").fetchone()[0] == "NUMERIC"
END

# A wrong row, in the middle: nothing is left. A decimal that SQLite would round, too.
for wrong in "'x1', '1'" "77, '12345678901234.5678'"; do
    cp money.db wrong.db
    python3 -c 'import sqlite3, sys; c = sqlite3.connect("wrong.db"); c.execute(f"INSERT INTO money VALUES ({sys.argv[1]}, 0, NULL)"); c.commit()' "$wrong"
    expect 1 tables load --lookup money.lookup --shards 'new-{}' --from wrong.db
    expect_one_line
    [ -z "$(ls new-* 2>/dev/null)" ] || fail "$wrong: files are left"
    cat err >>wrongs
done
expect_line '"x1" is not of type integer, so the row has no shard' wrongs
expect_line 'money.amount: SQLite would round 12345678901234.5678 to 15 digits' wrongs

# Ctrl-C and kill -9 leave nothing half done.
for signal in INT KILL KILL KILL KILL KILL; do
    rm -f cut-*.db*
    "$cleave" tables load --lookup tatp.lookup --shards 'cut-{}.db' --benchmark tatp --subscribers 3000 --quiet \
        >out 2>err </dev/null &
    job=$!
    sleep 0.0$((RANDOM % 9 + 1))
    kill -$signal $job 2>/dev/null
    wait $job 2>/dev/null
    # The next load settles what was left: it loads all, or finds all there.
    "$cleave" tables load --lookup tatp.lookup --shards 'cut-{}.db' --benchmark tatp --subscribers 3000 --reference 'cut-whole' --json \
        >out 2>err </dev/null || grep -q 'is there already' err || { fail "after $signal:"; cat err; }
    rm -f cut-whole*
    python3 - <<'END' || fail "half a load after $signal"
import sqlite3
rows = [sqlite3.connect(f"cut-{i}.db").execute("SELECT count(*) FROM subscriber").fetchone()[0] for i in range(3)]
assert sum(rows) == 3000, rows
END
done
done_testing

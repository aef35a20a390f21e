#!/bin/bash
# cleave tables hypergraph: what it writes, an old placement carried over, and what it refuses.
. "$(dirname "$0")/harness.sh"

cat >schema.sql <<'S'
CREATE TABLE customer (id int PRIMARY KEY, name text);
CREATE TABLE basket (customer_id int REFERENCES customer, line int, what text, PRIMARY KEY (customer_id, line));
CREATE TABLE country (code text PRIMARY KEY, name text);
S
cat >sizes.yaml <<'S'
tables:
  customer: {rows: 100, row_bytes: 50}
  basket: {rows: 300, row_bytes: 20}
  country: {rows: 10, row_bytes: 5}
S
cat >trace.sql <<'S'
BEGIN; SELECT * FROM customer WHERE id = 1; UPDATE basket SET what = 'a' WHERE customer_id = 1 AND line = 1; SELECT * FROM country WHERE code = 'x'; COMMIT;
BEGIN; SELECT * FROM customer WHERE id = 1; UPDATE basket SET what = 'b' WHERE customer_id = 1 AND line = 1; SELECT * FROM country WHERE code = 'x'; COMMIT;
BEGIN; UPDATE customer SET name = 'c' WHERE id = 2; SELECT * FROM country WHERE code = 'x'; COMMIT;
S
both=(--schema schema.sql --sizes sizes.yaml)

expect 0 tables hypergraph "${both[@]}" trace.sql -o w.hgr --names w.names --writes w.writes
expect_line '4 vertices, 2 nets, 5 pins: w.hgr' out
diff - w.hgr <<'S' || fail "the hypergraph"
2 4 11
2 1 3 4
1 2 4
50 2
50 1
20 2
5 3
S
printf 'customer\tid = 1\ncustomer\tid = 2\nbasket\tcustomer_id = 1 AND line = 1\ncountry\tcode = '"'x'"'\n' | diff - w.names || fail "names"
printf '0\n1\n2\n0\n' | diff - w.writes || fail "writes"

expect 0 tables hypergraph "${both[@]}" trace.sql -o w.hgr --writes w.writes --copy country,customer --weights rows,writes,one --json
expect_line '"vertices": 4,' out
expect_line '"weight": "writes"' out
printf '0\n1\n-1\n0\n' | diff - w.writes || fail "--copy"
[ "$(sed -n 4p w.hgr)" = "1 0 1" ] || fail "--weights: $(sed -n 4p w.hgr)"
expect 0 tables hypergraph "${both[@]}" trace.sql -o w.hgr --csv
expect_line 'table,cut_by,vertices,pins,rows,remark' out

# Which tables, which columns.
expect 0 tables hypergraph "${both[@]}" trace.sql -o w.hgr --replicate country,basket
expect_line '2 vertices, 2 nets, 2 pins' out
expect_line '2  transactions write a table that is copied everywhere' out
expect 0 tables hypergraph "${both[@]}" trace.sql -o w.hgr --no-read-only
expect_line 'only read, left out' out
expect_line '3 vertices, 2 nets, 3 pins' out
expect 0 tables hypergraph "${both[@]}" trace.sql -o w.hgr --leave-out customer --leave-out country
expect_line '1  transactions touch nothing that is placed' out
expect 0 tables hypergraph "${both[@]}" trace.sql -o w.hgr --attributes 0 --names w.names
[ "$(cut -f2 w.names | sort -u)" = true ] || fail "--attributes 0: $(cat w.names)"
expect 0 tables hypergraph "${both[@]}" trace.sql -o w.hgr --grain basket=line --names w.names
expect_line 'line = 1' w.names
grep -q 'customer_id' w.names && fail "--grain was not"

# Standard input and output; packed; the same by --benchmark's own seed.
"$cleave" tables hypergraph "${both[@]}" --trace - -o - <trace.sql >piped 2>err || fail "pipes: $(cat err)"
expect 0 tables hypergraph "${both[@]}" trace.sql -o w.hgr --quiet
cmp -s piped w.hgr || fail "pipes differ"
expect 0 tables hypergraph --benchmark tpcc --warehouses 1 --transactions 300 -o a.hgr
expect 0 tables hypergraph --benchmark tpcc --warehouses 1 --transactions 300 -o b.hgr
cmp -s a.hgr b.hgr || fail "not the same twice"

# An old placement: kept by name, new vertices with those that they are used with.
expect 0 tables hypergraph "${both[@]}" trace.sql -o old.hgr --names old.names
printf '1\n0\n1\n0\n' >old.part
cat >more.sql <<'S'
BEGIN; SELECT * FROM customer WHERE id = 1; UPDATE basket SET what = 'a' WHERE customer_id = 1 AND line = 7; COMMIT;
S
expect 0 tables hypergraph "${both[@]}" trace.sql more.sql -o new.hgr --names new.names --start-from old.names,old.part
expect_line 'start: 4 vertices in their old block, 1 new ones; 0 old ones are gone' out
[ "$(paste new.hgr.start new.names | grep 'line = 7' | cut -f1)" = 1 ] || fail "a new vertex: $(paste new.hgr.start new.names)"
[ "$(paste new.hgr.start new.names | grep 'id = 2' | cut -f1)" = 0 ] || fail "an old vertex"
expect 0 partition new.hgr -k 2 -e 1 --start new.hgr.start --budget 1 -o new.part
expect 0 tables hypergraph "${both[@]}" more.sql -o new.hgr --start-from old.names,old.part --start here --json
expect_line '"gone": 3' out
[ -s here ] || fail "--start"

# One clear line each, and nothing written.
rm -f w.hgr
expect 2 tables hypergraph "${both[@]}" trace.sql
expect_line '-o' err
expect 2 tables hypergraph "${both[@]}" trace.sql -o w.hgr --weights heavy
expect 2 tables hypergraph "${both[@]}" trace.sql -o w.hgr --weights ,
expect 2 tables hypergraph "${both[@]}" trace.sql -o w.hgr --grain basket
expect 2 tables hypergraph "${both[@]}" trace.sql -o w.hgr --copy basket
expect 2 tables hypergraph "${both[@]}" trace.sql -o w.hgr --start x
expect 2 tables hypergraph "${both[@]}" trace.sql -o w.hgr --start-from x
expect 2 tables hypergraph "${both[@]}" trace.sql -o - --json
expect 2 tables hypergraph "${both[@]}" trace.sql -o - --start-from old.names,old.part
expect 2 tables hypergraph -o w.hgr
for wrong in "--grain nowhere=x" "--grain basket=nothing" "--grain basket=line,line" "--leave-out nowhere" \
    "--replicate nowhere" "--writes w --copy nowhere" "--start-from absent,old.part" \
    "--start-from old.names,absent" "--start-from old.part,old.names"; do
    # shellcheck disable=SC2086
    expect 1 tables hypergraph "${both[@]}" trace.sql -o w.hgr $wrong
    expect_one_line
done
printf '1\n0\n1\n' >short
expect 1 tables hypergraph "${both[@]}" trace.sql -o w.hgr --start-from old.names,short
expect_line 'fewer blocks than names' err
printf '1\n0\n1\n0\n0\n' >long
expect 1 tables hypergraph "${both[@]}" trace.sql -o w.hgr --start-from old.names,long
expect_line 'more blocks than names' err
cat old.names old.names >twice
cat old.part old.part >twice.part
expect 1 tables hypergraph "${both[@]}" trace.sql -o w.hgr --start-from twice,twice.part
expect_line 'repeats an earlier name' err
echo 'SELECT 1;' >nothing.sql
expect 1 tables hypergraph "${both[@]}" nothing.sql -o w.hgr
expect_one_line
expect 1 tables hypergraph "${both[@]}" trace.sql -o /nowhere/w.hgr
expect_one_line
[ ! -e w.hgr ] || fail "wrote a hypergraph all the same"
done_testing

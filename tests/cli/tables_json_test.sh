#!/bin/bash
# cleave tables ...: every command's JSON and text, on a small database and on generated ones.
. "$(dirname "$0")/harness.sh"
command -v python3 >/dev/null || exit 77

# json EXPRESSION: Python over the document `d` in ./out; must be true.
json() {
    python3 -c 'import json, sys; d = json.load(open("out")); sys.exit(not eval(sys.argv[1]))' "$1" ||
        { fail "not so: $1"; head -c 1500 out; }
}

cat >shop.sql <<'S'
CREATE TABLE shop (id int PRIMARY KEY, name text);
CREATE TABLE sale (shop int REFERENCES shop, n int, item int, PRIMARY KEY (shop, n));
CREATE TABLE item (id int PRIMARY KEY, price numeric);
S
for i in $(seq 0 119); do
    echo "BEGIN; SELECT * FROM item WHERE id = $((i % 9)); INSERT INTO sale VALUES ($((i % 6)), $i, 1);"
    echo "UPDATE shop SET name = 'x' WHERE id = $(((i + (i % 20 == 3)) % 6)); COMMIT;"
done >shop.trace
printf 'tables: {shop: 6, sale: {rows: 6000, row_bytes: 40}, item: 100}\n' >sizes.yaml
shop=(--schema shop.sql --sizes sizes.yaml --trace shop.trace --shards 3)

# compare: the keys that others rely on.
expect 0 tables compare "${shop[@]}" --json --seed 5
json 'd["benchmark"] is None and d["shards"] == 3 and d["seed"] == 5 and d["verified"] is True'
json 'd["train"] == {"transactions": 84} and d["held_out"] == {"transactions": 36}'
json '[s["scheme"] for s in d["schemes"]] == ["HGP", "SH", "PKH", "PKR", "PKRR", "CMRR", "AllR"]'
json 'all(set(s[p]) == {"distributed", "read_only_distributed", "write_distributed"} for s in d["schemes"] for p in ("train", "held_out"))'
json 'all(set(s["imbalance"]) == {"size", "access"} for s in d["schemes"])'
json 'all({"skew_factor", "feasible", "lookup_bytes", "seconds"} <= set(s) for s in d["schemes"])'
json 'all(s["train"]["distributed"] == s["train"]["read_only_distributed"] + s["train"]["write_distributed"] for s in d["schemes"])'
json 'd["schemes"][0]["train"]["distributed"] <= min(s["train"]["distributed"] for s in d["schemes"])'
json 'd["trace"]["transactions"] == 120 and d["trace"]["statements_control"] == 240'
sed '/"seconds"/d' out >one
expect 0 tables compare "${shop[@]}" --json --seed 5
sed '/"seconds"/d' out | cmp -s - one || fail "another answer for the same seed"

for benchmark in tpcc tatp epinions; do
    size=(--warehouses 2)
    [ $benchmark = tatp ] && size=(--subscribers 200)
    [ $benchmark = epinions ] && size=(--users 50 --items 20)
    expect 0 tables compare --benchmark $benchmark "${size[@]}" --shards 2 --transactions 60 \
        --held-out 30 --schemes hgp,AllR --verify 20 --json
    json 'd["benchmark"] == "'$benchmark'" and d["train"]["transactions"] == 60 and d["verified"] is True'
    json 'd["held_out"]["transactions"] == 30 and d["verified_transactions"] == 40'
    json '[s["scheme"] for s in d["schemes"]] == ["HGP", "AllR"]'
done
expect 0 tables compare --benchmark tatp --subscribers 200 --transactions 40 --held-out 0 --verify 0 --json
json 'd["verified"] is False and d["held_out"] == {"transactions": 0}'
expect 0 tables compare "${shop[@]}" --json --seed 18446744073709551615
json 'd["seed"] == "18446744073709551615"'
expect 0 tables place "${shop[@]}" --json --seed 9223372036854775808
json 'd["seed"] == "9223372036854775808"'

# People see a table; CSV has a line a scheme.
expect 0 tables compare "${shop[@]}"
expect_line "84 transactions to place by, 36 held out" out
expect_line "verified: 120 transactions" out
expect 0 tables compare "${shop[@]}" --csv
[ "$(wc -l <out)" = 8 ] || fail "CSV: $(wc -l <out) lines"
head -1 out | grep -q '^scheme,train,held_out,' || fail "CSV: $(head -1 out)"

expect 0 tables inspect "${shop[@]}" --json
json 'd["trace"]["transactions"] == 120 and d["trace"]["format"]'
expect 0 tables inspect "${shop[@]}"
expect_line "shop.id = sale.shop" out

# place, explain, route, export.
expect 0 tables place "${shop[@]}" -o shop.lookup --json
json 'd["shards"] == 3 and len(d["iterations"]) == 1 and d["output"] == "shop.lookup"'
json 'd["best"] == d["iterations"][0] and d["best"]["feasible"] is True and d["best"]["train"]["transactions"] == 84'
json 'd["best"]["lookup_bytes"] == '"$(stat -c %s shop.lookup)"
expect 0 tables explain shop.lookup
expect_line "item" out
expect_line "every shard" out
expect 0 tables explain shop.lookup --json
json '"sale" in d["explanation"]'
expect 0 tables route shop.lookup "SELECT * FROM sale WHERE shop = 2 AND n = 4" \
    "UPDATE item SET price = 1 WHERE id = 3" "SELECT * FROM item" "SELECT * FROM sale" --json
json 'len(d) == 4 and len(d[0]["shards"]) == 1 and not d[0]["distributed"] and not d[0]["writes"]'
json 'd[1]["shards"] == [0, 1, 2] and d[1]["distributed"] and d[1]["writes"]'
json 'd[2]["any"] and d[2]["shards"] == [] and d[3]["shards"] == [0, 1, 2]'
expect 0 tables route shop.lookup --key shop.id=2 --json
json 'len(d[0]["shards"]) == 1 and d[0]["sql"].startswith("shop")'
expect 0 tables route shop.lookup 'SELECT * FROM sale WHERE shop = $1' -p 2 --json
json 'len(d[0]["shards"]) == 1'
expect 0 tables route shop.lookup "SELECT * FROM sale WHERE shop = 2 AND n = 4"
grep -qE '^shard [0-2]	local read' out || fail "route: $(cat out)"
expect 0 tables export shop.lookup --to json
json 'd'
expect 0 tables export shop.lookup --to citus
expect_line "create_reference_table" out
expect 0 tables export shop.lookup --to fdw
expect_line "CREATE SERVER" out
# Text keys without an entry go by PostgreSQL's own hash there: told in the text, and beside it.
echo 'CREATE TABLE tag (name text PRIMARY KEY, n int);' >tag.sql
for i in $(seq 1 30); do echo "UPDATE tag SET n = 1 WHERE name = 'tag $i';"; done >tag.log
expect 0 tables place --schema tag.sql --shards 3 --trace tag.log -o tag.lookup
expect 0 tables export tag.lookup --to fdw
expect_line '-- WARNING: values without an entry' out
expect_one_line
expect_line 'cleave: 1 warning of tables' err
expect 0 tables export tag.lookup --to fdw --quiet
[ ! -s err ] || fail "--quiet warns: $(cat err)"

# refine: what was decided reproduces the result.
cat >decided.yaml <<'S'
rules:
  - {kind: pin, table: shop, column: id, value: 4, shard: 2}
tables:
  - {table: item, replicate: always}
S
expect 0 tables refine "${shop[@]}" --constraints decided.yaml -o first.lookup --save-constraints saved.yaml --json
json 'd["best"]["good"] and d["iterations"]'
expect 0 tables refine "${shop[@]}" --constraints saved.yaml -o second.lookup --json
cmp -s first.lookup second.lookup || fail "saved constraints give another lookup table"
expect 0 tables route first.lookup --key shop.id=4 --json
json 'd[0]["shards"] == [2]'
expect 0 tables refine "${shop[@]}" --strict --epsilon 0.01 --iterations 3 --split 5 --rank ratio --json
json '1 <= len(d["iterations"]) <= 3'
# Rows in two copies have no groups to split: strict balance gives what there is.
communities=(--benchmark epinions --communities 10 --users 200 --items 100 --transactions 2000 --shards 4)
expect 0 tables refine "${communities[@]}" --strict --epsilon 0 --iterations 3 --json
expect 0 tables compare "${communities[@]}" --strict --epsilon 0 --schemes HGP --json

# generate, and what it wrote read back: the same transactions.
expect 0 tables generate --help
expect 0 tables compare --benchmark tatp --subscribers 100 --transactions 50 --held-out 0 --json --schemes HGP
json 'd["train"]["transactions"] == 50'

# Traces from standard input, packed or not, are the same.
for pack in cat gzip xz; do
    $pack <shop.trace | "$cleave" tables inspect --schema shop.sql --trace - --json >out 2>err ||
        fail "standard input through $pack: $(head -1 err)"
    json 'd["trace"]["transactions"] == 120'
done
# Without a schema, tables are inferred and it is said.
expect 0 tables compare --trace shop.trace --shards 3 --schemes HGP --json
json 'd["trace"]["schema_inferred"] is True and d["verified"] is True'
# Held-out files instead of a share.
expect 0 tables compare --schema shop.sql shop.trace --held-out-trace shop.trace --schemes SH --json
json 'd["train"]["transactions"] == 120 and d["held_out"]["transactions"] == 120'
expect 0 tables compare --schema shop.sql shop.trace --limit 10 --held-out-fraction 0.5 --schemes SH --json
json 'd["train"]["transactions"] == 5 and d["held_out"]["transactions"] == 5'
done_testing

#!/bin/bash
# cleave tables ...: senseless command lines, missing and hostile files. One clear line each, the
# right exit status, and nothing half-written.
. "$(dirname "$0")/harness.sh"

cat >shop.sql <<'S'
CREATE TABLE shop (id int PRIMARY KEY, name text);
CREATE TABLE sale (shop int REFERENCES shop, n int, PRIMARY KEY (shop, n));
S
for i in $(seq 0 39); do
    echo "BEGIN; INSERT INTO sale VALUES ($((i % 5)), $i); UPDATE shop SET name = 'x' WHERE id = $((i % 5)); COMMIT;"
done >shop.trace
shop=(--schema shop.sql --trace shop.trace)

# refused WORDS ARGUMENT...: a command line that makes no sense; argp says so and shows the way.
refused() {
    local words=$1
    shift
    expect 2 "$@"
    expect_line "$words" err
    [ ! -s out ] || fail "$* wrote to standard output"
}
# broken WORDS ARGUMENT...: input that cannot be used; one line.
broken() {
    local words=$1
    shift
    expect 1 "$@"
    expect_one_line
    expect_line "$words" err
}

refused "no workload" tables compare
refused "whole number from 1 to 1024" tables compare "${shop[@]}" --shards 0
refused "whole number from 1 to 1024" tables compare "${shop[@]}" --shards 5000
refused "whole number from 1 to 1024" tables compare "${shop[@]}" --shards 2x
refused "whole number from 1 to 1024" tables compare "${shop[@]}" --shards -3
refused "epsilon" tables compare "${shop[@]}" --epsilon -1
refused "epsilon" tables compare "${shop[@]}" --epsilon nan
refused "alpha" tables compare "${shop[@]}" --alpha 2
refused "no scheme is called 'best'" tables compare "${shop[@]}" --schemes HGP,best
refused "brings its own" tables compare --benchmark tpcc "${shop[@]}"
refused "belongs to --benchmark" tables compare "${shop[@]}" --warehouses 3
refused "exclude each other" tables compare "${shop[@]}" --json --csv
refused "exclude each other" tables compare --schema shop.sql --catalog x shop.trace
refused "exclude each other" tables refine "${shop[@]}" --interactive --json
refused "held-out-fraction" tables compare "${shop[@]}" --held-out-fraction 1
refused "--seed" tables compare "${shop[@]}" --seed -1
refused "--format" tables compare "${shop[@]}" --format xml
refused "--iterations" tables refine "${shop[@]}" --iterations 0
refused "--rank" tables refine "${shop[@]}" --rank best
refused "no lookup table" tables route
refused "give SQL" tables route some.lookup
refused "--to takes one of" tables export some.lookup --to excel

refused "--benchmark takes one of tpcc, tatp, epinions, not 'nothing'" tables compare --benchmark nothing
for option in "warehouses 0" "warehouses x" "warehouses -4" "warehouses 99999999999999"; do
    expect 2 tables compare --benchmark tpcc --${option% *} "${option#* }"
    expect_one_line
done
expect 2 tables compare --benchmark tatp --warehouses 3
expect_one_line
expect_line "warehouses" err

broken "missing.sql" tables compare --schema missing.sql --trace shop.trace
broken "missing.trace" tables compare --schema shop.sql --trace missing.trace
broken "missing.yaml" tables compare "${shop[@]}" --sizes missing.yaml
broken "missing.json" tables compare "${shop[@]}" --stats missing.json
broken "missing.yaml" tables compare "${shop[@]}" --constraints missing.yaml
broken "missing.lookup" tables route missing.lookup "SELECT 1"
broken "missing.lookup" tables explain missing.lookup
broken "missing.lookup" tables export missing.lookup
mkdir folder
broken "folder" tables compare --schema folder --trace shop.trace
broken "folder" tables compare --schema shop.sql --trace folder
broken "folder" tables compare "${shop[@]}" --constraints folder
broken "folder" tables explain folder
: >empty
broken "" tables compare --schema shop.sql --trace empty
broken "" tables explain empty
broken "" tables compare --schema empty --trace shop.trace

# A schema that lacks the trace's tables.
echo 'CREATE TABLE other (id int);' >other.sql
broken "is this the right schema" tables compare --schema other.sql --trace shop.trace

constraints() {
    printf "$1" >bad.yaml
    expect 1 tables ${3:-compare} "${shop[@]}" --shards 2 --constraints bad.yaml
    expect_one_line
    expect_line "$2" err
}
constraints 'tables: [{table: castle, replicate: always}]\n' castle
constraints 'rules: [{kind: pin, table: shop, column: x, value: 1, shard: 0}]\n' "no column 'x'" refine
constraints 'rules: [{kind: pin, table: shop, column: id, value: 1, shard: 2}]\n' "0 to 1" place
constraints 'epsilon: -1\n' epsilon
constraints 'nonsense: 1\n' nonsense
constraints 'a: [\n' bad.yaml
constraints '\000\001\002' bad.yaml

# Hostile traces: whatever the bytes, an answer or one line.
hostile() {
    "$cleave" tables inspect --schema shop.sql --trace "$1" >out 2>err </dev/null
    local status=$?
    if [ $status -gt 1 ] || grep -qE 'Sanitizer|runtime error' err; then
        fail "$1 gave $status"
        head -c 1000 err
    fi
    [ $status = 0 ] || expect_one_line
}
head -c 100000 /dev/urandom >noise
{ cat shop.trace; head -c 1000 /dev/zero; cat shop.trace; } >nuls
{ cat shop.trace; printf "SELECT 'never closed\n"; cat shop.trace; } >unclosed
{ printf 'SELECT '; head -c 3000000 /dev/zero | tr '\0' '('; } >deep
{ printf "INSERT INTO shop VALUES (1, '"; head -c 5000000 /dev/zero | tr '\0' x; printf "');\n"; cat shop.trace; } >long
head -c 2000 shop.trace >cut
iconv -f utf-8 -t utf-16 shop.trace >wide 2>/dev/null
xz -k shop.trace && head -c 100 shop.trace.xz >cut.xz
for file in noise nuls unclosed deep long cut wide cut.xz; do
    [ -f $file ] && hostile $file
done

# Lookup tables: cut, altered, of another kind; nothing is half-written.
expect 0 tables place "${shop[@]}" -o shop.lookup
size=$(stat -c %s shop.lookup)
for keep in 0 1 10 $((size / 2)) $((size - 1)); do
    head -c $keep shop.lookup >cut.lookup
    expect 1 tables explain cut.lookup
    expect_one_line
done
for at in 0 9 $((size / 2)) $((size - 1)); do
    cp shop.lookup bad.lookup
    printf '\xa5' | dd of=bad.lookup bs=1 seek=$at conv=notrunc status=none
    expect 1 tables route bad.lookup "SELECT 1"
    expect_one_line
done
broken "" tables explain shop.sql
expect 1 tables route shop.lookup "SELEC nonsense"
expect_one_line
expect 2 tables route shop.lookup --key shop
expect_one_line
for key in nothing.id=1 shop.x=1 shop.id=one; do
    "$cleave" tables route shop.lookup --key $key >out 2>err && fail "--key $key was routed"
    expect_one_line
done

expect 1 tables place "${shop[@]}" -o /dev/full
expect_one_line
expect 1 tables place "${shop[@]}" -o no/such/folder
expect_one_line
expect 1 tables refine "${shop[@]}" --save-constraints no/such/folder
expect_one_line
cp shop.lookup before
chmod -w . 2>/dev/null
"$cleave" tables place "${shop[@]}" --shards 3 -o shop.lookup >out 2>err
chmod +w .
cmp -s shop.lookup before || "$cleave" tables explain shop.lookup >/dev/null || fail "a lookup table was left half-written"
# What inspect does not understand, it shows: file, line and why.
printf 'SELECT * FROM shop WHERE id = 1;\nSELEC 1 FROM shop;\nSELECT * FROM shop WHERE id = 2;\n' >typo.sql
expect 0 tables inspect --schema shop.sql typo.sql
expect_line 'typo.sql:2: syntax error at or near "SELEC" (character 1): SELEC 1 FROM shop' out
printf '2026-01-01 00:00:00.000 UTC [12] LOG:  statement: SELECT * FROM shop WHERE id = 1\nrubbish\x01here\n' >bad.log
for i in 1 2 3; do echo '2026-01-01 00:00:01.000 UTC [12] LOG:  statement: SELECT * FROM shop WHERE id = 1'; done >>bad.log
expect 0 tables inspect --schema shop.sql bad.log
expect_line 'bad.log:2: no log entry: rubbish here' out
expect 0 tables inspect --schema shop.sql bad.log --json
expect_line 'bad.log:2: no log entry: rubbish here' out

for command in "compare ${shop[*]}" "inspect ${shop[*]}" "explain shop.lookup" "export shop.lookup" "route shop.lookup SELECT"; do
    "$cleave" tables $command >/dev/full 2>err
    [ $? = 1 ] || fail "$command: a full disk was not noticed"
done
ls -A | grep -E '\.(tmp|part)|lookup\..+' && fail "a temporary file was left"
done_testing

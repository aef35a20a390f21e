#!/bin/bash
# cleave tables refine --interactive from a script, and Ctrl-C.
. "$(dirname "$0")/harness.sh"

cat >shop.sql <<'S'
CREATE TABLE shop (id int PRIMARY KEY, name text);
CREATE TABLE sale (shop int REFERENCES shop, n int, PRIMARY KEY (shop, n));
CREATE TABLE item (id int PRIMARY KEY, price int);
S
for i in $(seq 0 79); do
    echo "BEGIN; SELECT * FROM item WHERE id = $((i % 7)); INSERT INTO sale VALUES ($((i % 5)), $i); UPDATE shop SET name = 'x' WHERE id = $((i % 5)); COMMIT;"
done >shop.trace
shop=(--schema shop.sql --trace shop.trace --shards 3)

# talk WORDS...: refine --interactive with each word a line on standard input.
talk() {
    printf '%s\n' "$@" | "$cleave" tables refine "${shop[@]}" --interactive -o talked.lookup >out 2>err
    local status=$?
    if [ $status != 0 ] || [ -s err ]; then
        fail "talking gave $status: $(head -c 1000 err)"
    fi
}

talk help stop
expect_line "iteration 1: placed anew" out
expect_line "pin TABLE[.COLUMN=VALUE] SHARD" out
[ -s talked.lookup ] || fail "stop did not write the placement"

talk "pin shop.id=3 2" go stop
expect_line "noted; go places anew" out
expect_line "iteration 2: placed anew" out
expect 0 tables route talked.lookup --key shop.id=3
expect_line "shard 2" out

talk "apart shop.id=1 shop.id=2" "together shop.id=3 sale.shop=4" "replicate item never" "key sale shop" \
    "weights 1 2" "capacity 1 1e9 1e9 1e9 2" "epsilon 0.3 strict" "merge shop.id=1" go show explain \
    "save saved.yaml" undo undo undo undo undo undo undo undo undo go stop
[ "$(grep -c 'noted; go places anew' out)" -ge 16 ] || fail "decisions: $(cat out)"
expect_line "no decision to undo" out
grep -q "replicate: never" saved.yaml || fail "saved: $(cat saved.yaml)"
expect 0 tables place "${shop[@]}" --constraints saved.yaml -o placed.lookup

# What cannot be understood is said, and the talk goes on.
talk nonsense pin "pin castle 1" "pin shop.id=3 7" "pin shop.id=x 1" "weights a b" "weights -1 1" \
    "capacity 9 1 1 1 1" "epsilon" "epsilon -1" "replicate item often" "key sale nothing" "split sale.n=3" \
    go "undo" explain "save no/such/folder/file" "pin shop.id='3' 1" go stop
[ "$(grep -c 'is no command; type help' out)" = 1 ] || fail "no command: $(grep -c 'is no command' out)"
[ "$(grep -c 'usage: ' out)" = 4 ] || fail "usage: $(grep -c 'usage: ' out)"
expect_line "no table 'castle'" out
expect_line "shards are numbered 0 to 2" out
expect_line "no column 'nothing'" out
expect_line "no/such/folder" out

# The input ends without stop; a line too long; NULs; a quote that never ends.
printf 'go' | "$cleave" tables refine "${shop[@]}" --interactive >out 2>err || fail "an input that ends"
{ head -c 20000 /dev/zero | tr '\0' 'a'; printf '\nhelp\nstop\n'; } |
    "$cleave" tables refine "${shop[@]}" --interactive >out 2>err || fail "a long line"
printf 'pin \0 3\n"open\n\n   \nstop\n' |
    "$cleave" tables refine "${shop[@]}" --interactive >out 2>err || fail "odd bytes"
if grep -qE 'Sanitizer|runtime error' err; then fail "a sanitizer: $(head -5 err)"; fi
"$cleave" tables refine "${shop[@]}" --interactive >out 2>err <&- || fail "no standard input"

# Ctrl-C: exit status 130, one line at most, no file.
for command in "refine -o never.lookup --strict --epsilon 0" "compare --verify all"; do
    timeout --foreground --preserve-status -s INT 1 "$cleave" tables $command --benchmark tpcc --warehouses 4 \
        --shards 7 --transactions 100000 --held-out 1000 >out 2>err
    status=$?
    [ $status = 130 ] || fail "Ctrl-C: $command gave $status"
    [ "$(wc -l <err)" -le 1 ] || fail "Ctrl-C: $(head -c 500 err)"
    [ ! -e never.lookup ] || fail "Ctrl-C left a file"
done
done_testing

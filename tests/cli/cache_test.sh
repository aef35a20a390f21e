#!/bin/bash
# cleave cache: what it counts on a stream whose misses are known, what a trace and a capacity may be,
# and what it says to those that are neither.
. "$(dirname "$0")/harness.sh"

# The hub stream, byte by byte that of the upstream generator.
"$data/hub_stream.py" edges reads || fail "hub_stream.py"
sum=339cad297c1e700a164cbcee3562ab9be0fb44cd43b49bf1c7283268a275dc9a
[ "$(sha256sum <edges | cut -d ' ' -f 1)" = $sum ] || fail "the hub graph differs from the upstream's"

# misses CAPACITY POLICY COUNT...: misses of the policies on it. Another simulator's figures agree: docs/cache.md.
misses() {
    local capacity=$1
    shift
    while [ $# -gt 0 ]; do
        expect 0 cache reads --policy "$1" --capacity "$capacity" --csv
        local got
        got=$(sed -n 2p out | cut -d , -f 8)
        [ "$got" = "$2" ] || fail "$1 at $capacity: $got misses, not $2"
        shift 2
    done
}
misses 100 fifo 75429 lru 75108 clock 74794 lfu 64882 sieve 64882 s3-fifo 62944 arc 62859 \
    lirs 62613 w-tiny-lfu 62418 belady 57692
misses 25 lru 78717
misses 500 lru 62222
misses 1000 lru 55462

# Lists sweep; a share is of the objects, or of their bytes; units; a row a policy and capacity.
printf 'a 10\nb 20\na 10\nc 70\nb 20\n' >sized
printf 'a\nb\n\n  a \nc\nb\n' >keys
expect 0 cache sized --policy lru,fifo --capacity 2,50%,30B,1kB --json
[ "$(grep -c '"policy"' out)" = 8 ] || fail "not 8 rows: $(cat out)"
for line in '"objects": 3' '"bytes": 100' '"capacity": 50' '"capacity": 1000' '"unit": "bytes"' \
    '"unit": "entries"' '"refused": 1' '"miss_ratio": 0.6' '"byte_miss_ratio":' '"requested": 130'; do
    expect_line "$line" out
done
expect 0 cache keys --policy lru --capacity 50% --csv
expect_line 'lru,50%,1,entries,5,3,0,5,1,4,0,1,,,,,' out
expect 0 cache keys --capacity 2
[ "$(grep -cE '^(fifo|lru|clock|lfu|sieve|s3-fifo|arc|lirs|w-tiny-lfu|belady) ' out)" = 10 ] ||
    fail "not every policy: $(cat out)"
expect_line 'keys: 5 requests for 3 objects' out
[ -s err ] && fail "said something: $(cat err)"
expect 0 cache sized --format keys --policy lru --capacity 2 --json
expect_line '"bytes": null' out
printf 'a 10\na 11\n' >resized
expect 0 cache resized --policy lru --capacity 2
expect_one_line
expect_line '1 requests give another size' err
expect 0 cache resized --policy lru --capacity 2 --quiet
[ -s err ] && fail "--quiet is not: $(cat err)"

# Parameters change what is counted; packed and piped traces are the same ones.
expect 0 cache reads --policy s3-fifo,s3-fifo:small=0.5:ghost=0 --capacity 100 --csv
[ "$(sed 1d out | cut -d , -f 8 | sort -u | wc -l)" = 2 ] || fail "a parameter without effect"
expect 0 cache reads --policy lru,lirs --capacity 7% --json
grep -v '"trace"' out >plain
gzip -k reads && xz -k reads
for packed in reads.gz reads.xz; do
    expect 0 cache $packed --policy lru,lirs --capacity 7% --json
    grep -v '"trace"' out | cmp -s - plain || fail "$packed differs"
done
"$cleave" cache - --policy lru,lirs --capacity 7% --json <reads | grep -v '"trace"' | cmp -s - plain ||
    fail "standard input differs"

# Bad input: one line that says where, nothing on standard output.
# bad STATUS TEXT ARGUMENT...
bad() {
    local status=$1 text=$2
    shift 2
    expect "$status" cache "$@"
    expect_line "$text" err
    [ -s out ] && fail "cache $*: printed $(head -c 200 out)"
    [ "$status" = 2 ] || expect_one_line
}
printf 'a 1\nb\n' >unsized
printf 'a 1\nb 99999999999999999\n' >huge
head -c 70000 /dev/zero >zeros
head -c 300 reads.gz >cut.gz
bad 1 'unsized:2: no size at the end of the line' unsized --capacity 2
bad 1 'huge:2: a size past 2^48 bytes' huge --capacity 2
bad 1 'zeros:1: a line longer than 65536 bytes' zeros --capacity 2
bad 1 'cut.gz' cut.gz --capacity 2
bad 1 'keys gives no sizes' keys --capacity 2,1kB
bad 1 'absent: cannot open' absent --capacity 2
bad 1 'no request in it' /dev/null --capacity 2
for capacity in 0 -1 x 1.5 1e3 10%% 0% 1kiB nan 1e99 0.5B ' 5'; do
    bad 2 "not '$capacity'" keys --capacity "$capacity"
done
bad 2 'how large a cache' keys
for list in '' , 2, ,2 2,,4; do
    bad 2 '--capacity: a value is missing' keys --capacity "$list"
done
bad 2 '--policy: a value is missing' keys --capacity 2 --policy lru,
expect 0 cache sized --capacity 1EiB,1EB --policy lru --csv
expect_line '1152921504606846976' out
bad 2 'from 1 to 2^60' keys --capacity 18446744073709551615
bad 2 'how large a cache' keys
bad 2 'which trace' --capacity 2
bad 2 'one trace at a time' keys sized --capacity 2
bad 2 "no eviction policy is called 'mru'; there is: fifo, lru" keys --policy lru,mru --capacity 2
bad 2 'lirs: hir takes a number from 0 to 1' keys --policy lirs:hir=2 --capacity 2
bad 2 '--format takes one of auto, keys, sized' keys --format text --capacity 2

# Ctrl-C: soon over, nothing printed.
for i in $(seq 10); do cat reads; done >long
timeout --foreground --preserve-status -s INT 1 "$cleave" cache long --capacity "$(seq -s , 10 90)" >out 2>err
status=$?
[ $status = 130 ] || fail "Ctrl-C gave $status"
[ -s out ] && fail "interrupted, and printed: $(head -c 200 out)"
expect_line 'stopped' err

# While it waits for input, too.
mkfifo slow
exec 9<>slow
timeout --foreground --preserve-status -s INT 0.5 "$cleave" cache slow --capacity 3 >out 2>err
status=$?
[ $status = 130 ] || fail "Ctrl-C while reading gave $status"
expect_one_line
expect_line 'cleave: stopped' err
done_testing

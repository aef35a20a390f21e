#!/bin/bash
# cleave stream run: what it prints is checked against an unsharded matcher, repeats on sim to the
# last digit, and bad options are one line.
. "$(dirname "$0")/harness.sh"

# verified ARGUMENT...: a run whose JSON says that nothing is missing or twice.
verified() {
    expect 0 stream run --json "$@"
    for line in '"duplicates": 0' '"missing": 0' '"unexpected": 0' '"verified": true'; do
        expect_line "$line" out
    done
}

small='--generate 20000,2000 --query-words 1'
verified $small
for key in objects queries matches objects_per_s matched_latency_ms rebalances evaluator_load; do
    expect_line "\"$key\":" out
done
cp out first
verified $small
cmp -s out first || fail "a seed's second run differs"
verified $small --seed 2
cmp -s out first && fail "another seed is the same run"

# Every way of routing and balancing, both transports, faults, things.
verified $small --routing text
verified $small --routing broadcast --matcher scan
verified $small --routing broadcast --matcher cells --contains 0.5
verified $small --routing text --contains 0.5
verified $small --summary broadcast --routers 3
verified $small --summary none --first uniform --grid 128
verified $small --balance forced --balance-every 1ms --spare 2
expect_line '"kind": "split-merge"' out
expect_line '"done": true' out
verified $small --balance adaptive --balance-every 1ms --scale 0.4 --beta 0
verified $small --balance forced --balance-every 2ms --faults 30 --fault-within 40ms --retry 5ms
grep -q '"crashes": 0' out && fail "no crash"
verified --generate 4000,300 --query-words 1 --balance forced --balance-every 1ms --faults 20 --retry 1ns
verified $small --balance forced --balance-every 2ms --faults 10 --router-faults 20 --balancer-crashes 5 \
    --fault-within 40ms --retry 5ms
grep -q '"crashes": 0' out && fail "no crash"
verified $small --transport threads --balance forced --balance-every 1ms
verified $small --things 200 --track --circles 0.5 --lifetime-ms 5000 --range 0.05
entered=$(sed -n 's/.*"entered": \([0-9]*\).*/\1/p' out)
[ "$entered" -gt 100 ] || fail "entered: $entered"
verified $small --things 200 --track --transport threads --balance adaptive --balance-every 1ms --range 0.05
# A thing's object that is late is overtaken by many more than are under way at once.
for seed in 71 72 73; do
    verified --generate 10000,500 --query-words 2 --range 0.1 --vocabulary 100 --routers 12 --batch 1 --window 3 --things 1 \
        --track --delay pareto:50us,1.1 --seed $seed
done
verified $small --space globe --range 0.1 --circles 0.5

# Files; objects may be late, queries have ends.
printf 'id,west,south,east,north,keywords,end\neurope,-10,35,40,70,,\nall,-180,-90,180,90,"big,city",\nfiji,177,-20,-178,-15,,\n' >queries.csv
printf 'lon,lat,keywords\n2,48,big|city\n179,-17,big\n-179,-16,city\n-179,-10,big|city|old\n' >objects.csv
verified --objects objects.csv --queries queries.csv --evaluators 3
expect_line '"matches": 5' out
expect 0 stream run --objects objects.csv --queries queries.csv
expect_line 'verified: 5 matches' out
expect 0 stream run --objects /dev/null --queries queries.csv --header no --x 1 --y 2 --json || true
expect 0 stream run --generate 0,0 --json
expect_line '"objects": 0' out
expect 0 stream run --generate 0,100 --json
expect 0 stream run --generate 100,0 --json
expect_line '"matches": 0' out
expect 0 stream run $small --evaluators 1 --routers 1 --grid 1 --json
expect_line '"verified": true' out
expect 0 stream run $small --evaluators 70 --grid 4 --json
expect_line '"verified": true' out

# bad STATUS TEXT ARGUMENT...
bad() {
    local status=$1 text=$2
    shift 2
    expect "$status" stream run "$@"
    expect_line "$text" err
    [ -s out ] && fail "stream run $*: printed $(head -c 200 out)"
    [ "$status" = 2 ] || expect_one_line
}
bad 2 'either files or --generate' --objects a --queries b --generate 1,1
bad 2 'which queries? --queries FILE' --objects a
bad 2 'either files or --generate' --queries b --generate 1,1
bad 2 'both come from standard input' --queries - --objects -
"$cleave" stream run --queries queries.csv --json -q <objects.csv >out 2>err || fail "objects from a pipe: $(cat err)"
expect_line '"matches": 5' out
bad 1 'absent' --objects objects.csv --queries absent
bad 1 'absent' --objects absent --queries queries.csv
bad 2 'how many objects and how many queries' --generate 1,2,3
bad 2 '--generate' --generate x
bad 2 '--evaluators' --evaluators 0
bad 2 '--evaluators' --evaluators 4097
bad 2 '--routing: only agrid' --routing text --balance adaptive
bad 2 '--spare' --spare 8
bad 2 '--balance-every' --balance adaptive --balance-every 0s
bad 2 '--delay' --delay fast
bad 2 '--faults: on sim only' --faults 3 --transport threads
bad 2 '--faults: on sim only' --balancer-crashes 3 --transport threads
bad 2 'at most' --faults 1000 --router-faults 1000
bad 2 "'x'" x
bad 2 '--csv' --csv
bad 2 'at most as many keywords' --words 4 --query-words 5

# Ctrl-C: soon over, nothing printed.
timeout --foreground --preserve-status -s INT 1 "$cleave" stream run --generate 1000000000,10 >out 2>err
status=$?
[ $status = 130 ] || fail "Ctrl-C gave $status"
[ -s out ] && fail "interrupted, and printed: $(head -c 200 out)"
expect_line 'stopped' err
done_testing

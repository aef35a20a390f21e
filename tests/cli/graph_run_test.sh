#!/bin/bash
# cleave graph run: graphshard lab's cache figures, runs that repeat, both transports, bad input.
. "$(dirname "$0")/harness.sh"

expect 0 graph run --generate hub --seed 42 --shards 1 --executors direct --source-past-cache --cache lru \
    --capacity 25,100,500,1000 --clients 1 --coordinators 1 --json
python3 - <<'END' || fail "hub: $(head -c 2000 out)"
import json
got = json.load(open("out"))
assert got["verified"] and got["answers"] == 40000, got
assert [round(100 * r["cache"]["hit_ratio"], 2) for r in got["rows"]] == [1.6, 6.12, 22.22, 30.67], got
assert got["rows"][0]["hot"]["reads_per_user"] == 200, got
assert round(got["rows"][0]["hot"]["reads_per_other_user"], 2) == 6.06, got
END

run="graph run --generate communities --users 2000 --communities 8 --queries 1000 --placements hash,community"
expect 0 $run --cache s3-fifo --hot 0.01:0.25 --delay lognormal:1ms,1 --seed 3 --json
mv out first
expect 0 $run --cache s3-fifo --hot 0.01:0.25 --delay lognormal:1ms,1 --seed 3 --json
cmp -s first out || fail "another run of the same seed differs"
expect 0 $run --transport threads
expect_line 'verified: 4000 answers' out
expect 0 $run --clients 1,8 --csv -q
[ "$(wc -l <out)" = 9 ] || fail "sweep: $(cat out)"

# Everything changes, machines fail, and it repeats.
all="$run --cache lru --changes 500 --change-every 200us --moves 10 --replicate 20000 --split --faults 12"
expect 0 $all --json
mv out first
expect 0 $all --json
cmp -s first out || fail "another run of the same seed differs"
python3 - <<'END' || fail "change: $(head -c 2000 out)"
import json
for row in json.load(open("out"))["rows"]:
    assert row["verified"] and row["change"]["lists"] == 500, row
    assert row["change"]["moves"] + row["change"]["moves_given_up"] >= 10 and row["copies"]["users"], row
END
expect 0 $run --transport threads --changes 500 --change-every 20us --moves 10 --manage-every 200us --replicate 20000
expect_line 'verified: 8000 answers' out
# Copies changed as fast as can be, small mailboxes: shards do not wait for each other for ever.
expect 0 graph run --generate hub --users 2000 --hubs 20 --mailbox 128 --shards 8 --queries 3000 --executors batched \
    --changes 5000 --change-every 5us --replicate 10000000 --manage-every 20ms --clients 64 -q
expect 2 graph run --generate hub --changes 5 --mailbox 127
expect_line "128 messages" err
expect 0 $run --clients 4,16 --replicate 0,9000 --plot tail.svg -q
grep -q '</svg>' tail.svg || fail "no plot"
expect 2 graph run --generate hub --plot tail2.svg
[ ! -e tail2.svg ] || fail "a plot of nothing"
expect 2 graph run --generate hub --faults 3 --transport threads
expect_line "--faults" err
expect 2 graph run --generate hub --change-every 0
expect 2 graph run --generate hub --y colour

expect 2 graph run --generate hub --cache lru-ish
expect_line "lru-ish" err
expect 2 graph run --generate hub --cache belady
expect_line "future" err
expect 2 graph run --generate hub --delay 3parsecs
expect_line "--delay" err
expect 2 graph run --generate hub --hot 0.01
expect_line "0.01:0.25" err
expect 2 graph run --generate hub --transport pigeons
expect 2 graph run
done_testing

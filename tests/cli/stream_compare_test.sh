#!/bin/bash
# cleave stream compare: every experiment on small sizes, its claims where they show at such sizes, its
# documents, plots that are the same each time, and what it says to senseless options.
. "$(dirname "$0")/harness.sh"

small=(--generate 10000,1000 --evaluators 8 --routers 4 --seed 5)

expect 0 stream compare routing "${small[@]}" --part ways --sweep 8 --json
python3 - <<'P' || fail "routing ways: $(head -c 1500 out)"
import json
d = json.load(open("out"))
assert d["experiment"] == "routing" and d["verified"] and d["checked"] and d["transport"] == "sim" and d["seed"] == 5
assert d["objects"] == 10000 and d["queries"] == 1000 and d["costs_ns"]["route_object"] == 100, d["costs_ns"]
(part,) = d["parts"]
assert (part["part"], part["figure"], part["x"], part["y"], part["timed"]) == \
    ("ways", "8a, 8b", "evaluators", "objects_per_s", False)
rows = {r["way"]: r for r in part["rows"]}
assert set(rows) == {"agrid", "uniform", "text", "broadcast"}
for r in rows.values():
    assert r["verified"] and r["evaluators"] == 8 and r["objects_per_s"] > 0 and r["busiest"] >= 1, r
assert rows["broadcast"]["candidates_per_object"] == 1000
assert rows["agrid"]["busiest_load"] < min(rows["uniform"]["busiest_load"], rows["text"]["busiest_load"])
assert rows["agrid"]["objects_per_s"] > 3 * rows["broadcast"]["objects_per_s"]
P

# The rarer the keywords, the more is kept from evaluators.
expect 0 stream compare routing "${small[@]}" --part band --sweep 0,1 --json
python3 - <<'P' || fail "band: $(head -c 1500 out)"
import json
r = {(r["way"], r["band"]): r for r in json.load(open("out"))["parts"][0]["rows"]}
assert r["place and words", 0]["pruned"] > 0.9 > r["place and words", 1]["pruned"]
assert r["place and words", 0]["objects_per_s"] > r["place and words", 1]["objects_per_s"]
assert r["place alone", 0]["pruned"] == 0
P

expect 0 stream compare routing "${small[@]}" --part points,ranges,routers --json --plot figure.svg
python3 - <<'P' || fail "points, ranges, routers: $(head -c 1500 out)"
import json
parts = {p["part"]: p for p in json.load(open("out"))["parts"]}
assert list(parts) == ["points", "ranges", "routers"] and parts["points"]["timed"]
assert {r["way"] for r in parts["ranges"]["rows"]} == {"agrid", "scan", "bitset", "rtree"}
assert all(r["verified"] and r["ns"] > 0 for p in ("points", "ranges") for r in parts[p]["rows"])
at = [r["objects_per_s"] for r in parts["routers"]["rows"]]
assert at[0] < at[2], at
P
for part in points ranges routers; do
    grep -q '<svg' "figure-$part.svg" || fail "no figure-$part.svg"
done

expect 0 stream compare summary --sweep 2000,20000 --part queries --window 16 --json --plot one.svg
python3 - <<'P' || fail "summary: $(head -c 1500 out)"
import json
r = {(r["way"], r["queries"]): r for r in json.load(open("out"))["parts"][0]["rows"]}
for n in (2000, 20000):
    assert r["broadcast", n]["keyword_messages"] == 3 * n and r["none", n]["keyword_messages"] == 0
    assert 3 * r["forward", n]["keywords"] < r["broadcast", n]["keywords"]
gain = [r["broadcast", n]["keyword_messages"] / r["forward", n]["keyword_messages"] for n in (2000, 20000)]
assert 1 < gain[0] < gain[1], gain
P
# The same seed gives the same plot and the same bytes.
cp out first
expect 0 stream compare summary --sweep 2000,20000 --part queries --window 16 --json --plot two.svg
cmp -s one.svg two.svg || fail "two plots of the same run differ"
cmp -s out first || fail "two tables of the same run differ"

expect 0 stream compare index --generate 5000,1000 --part range --sweep 0.0001,0.015 --json
python3 - <<'P' || fail "index: $(head -c 1500 out)"
import json
rows = json.load(open("out"))["parts"][0]["rows"]
assert [r["way"] for r in rows] == ["index", "cells", "scan", "at work"] * 2
assert all(r["verified"] for r in rows)
assert len({r["matches"] for r in rows[4:]}) == 1 and rows[4]["matches"] > rows[0]["matches"]
P
expect 0 stream compare index --generate 5000,1000 --part words --sweep 1..3 --csv
[ "$(wc -l <out)" = 13 ] && head -1 out | grep -q '^words,way,objects_per_s,' || fail "index --csv: $(head -3 out)"

expect 0 stream compare scale --generate 100000,5000 --part together --sweep 4,16 --json
python3 - <<'P' || fail "scale: $(head -c 1500 out)"
import json
a, b = json.load(open("out"))["parts"][0]["rows"]
assert a["verified"] and b["verified"] and b["objects_per_s"] > a["objects_per_s"]
P
expect 0 stream compare scale --generate 10000,2000 --part evaluators --sweep 4,100
expect_line "verified: the answers of all 2 runs" out

expect 0 stream compare balance --generate 200000,3000 --part scale --sweep 0.4 --json
python3 - <<'P' || fail "balance: $(head -c 1500 out)"
import json
r = {r["way"]: r for r in json.load(open("out"))["parts"][0]["rows"]}
assert r["static"]["rebalances"] == 0 < r["adaptive"]["rebalances"]
assert r["adaptive"]["busiest"] < r["static"]["busiest"]
P
# Without halving in between, the centralized balancer decides as evaluators' sums do, for more bytes.
expect 0 stream compare balance --generate 120000,2000 --part bytes --sweep 16,64 --json
python3 - <<'P' || fail "bytes: $(head -c 1500 out)"
import json
rows = json.load(open("out"))["parts"][0]["rows"]
assert all(r["verified"] and r["load_rounds"] for r in rows)
for sums, cells in (rows[0:2], rows[2:4]):
    assert sums["way"] == "decentralized" and sums["load_bytes"] > 0 and sums["rebalances"] > 0
    assert sums["load_bytes_a_look"] < cells["load_bytes_a_look"], (sums, cells)
assert rows[3]["load_bytes_a_look"] > 2 * rows[1]["load_bytes_a_look"]
P

# On threads, and with times measured here.
expect 0 stream compare routing "${small[@]}" --part ways --sweep 4 --transport threads --json
expect 0 stream compare calibrate --generate 5000,1000 --json
python3 - <<'P' || fail "calibrate: $(cat out)"
import json
costs = json.load(open("out"))["costs_ns"]
assert len(costs) == 9 and all(1 <= ns < 10**7 for ns in costs.values()), costs
P
expect 0 stream compare scale --generate 5000,1000 --part evaluators --sweep 4 --calibrate
expect_line "(measured)" out

# What makes no sense.
for bad in "" "nonsense" "routing summary" "routing --part" "routing --part nope" "routing --part ways,ways" \
    "summary --part ways" "routing --sweep 3" "routing --csv" "routing --part ways --sweep 0" \
    "routing --part ways --sweep 1.5" "routing --part band --sweep 2" "routing --part ways --sweep 5000" \
    "routing --part ways --plot x.png" "calibrate --sweep 3" "calibrate --plot x.svg" "balance --faults 3" \
    "routing --scan-candidate soon" "--part ways"; do
    # shellcheck disable=SC2086
    expect 2 stream compare $bad
    [ -s out ] && fail "'$bad' printed a result"
    head -1 err | grep -q "^cleave stream compare: " || fail "'$bad': $(cat err)"
done
expect 1 stream compare summary --sweep 100 --part queries --plot /nowhere/at/all.svg
expect_line "/nowhere/at/all.svg" err
expect 2 stream compare calibrate --generate 0,0
expect_one_line
expect 2 stream compare routing --part ways --words 2
expect_one_line
done_testing

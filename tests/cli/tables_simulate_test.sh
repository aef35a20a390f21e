#!/bin/bash
# cleave tables compare --simulate: figures for every scheme, the same for the same seed, that follow
# the limits given; senseless times are refused.
. "$(dirname "$0")/harness.sh"
command -v python3 >/dev/null || exit 77

json() {
    python3 -c 'import json, sys; d = json.load(open("out")); S = {s["scheme"]: s["simulated"] for s in d["schemes"]}; sys.exit(not eval(sys.argv[1]))' "$1" ||
        { fail "not so: $1"; head -c 1500 out; }
}
tpcc=(tables compare --benchmark tpcc --warehouses 4 --shards 4 --transactions 200 --held-out 200
    --verify 0 --schemes SH,PKH,AllR --seed 3)

# As many distributed transactions are played as are counted.
expect 0 "${tpcc[@]}" --json --simulate --simulated 200
json 'all({"tx_per_s", "p50_ms", "p99_ms"} <= set(s) for s in S.values())'
json 'all(s["simulated"]["transactions"] == 200 for s in d["schemes"])'
json 'all(round(s["held_out"]["distributed"] * 200 if s["held_out"]["distributed"] <= 1 else s["held_out"]["distributed"]) == s["simulated"]["distributed"] for s in d["schemes"])'

# Fewer distributed ones, more throughput; the same seed, the same digits.
expect 0 "${tpcc[@]}" --json --simulate
json 'S["SH"]["tx_per_s"] > S["PKH"]["tx_per_s"] > S["AllR"]["tx_per_s"] > 0'
json 'all(0 < s["p50_ms"] <= s["p99_ms"] for s in S.values())'
sed '/"seconds"/d' out >one
expect 0 "${tpcc[@]}" --json --simulate
sed '/"seconds"/d' out | cmp -s - one || fail "other figures for the same seed"

# Limits of a node take effect.
python3 -c 'import json; print(json.load(open("out"))["schemes"][0]["simulated"]["tx_per_s"])' >usual
expect 0 "${tpcc[@]}" --json --node-processors 1
json "S['SH']['tx_per_s'] < 0.5 * $(cat usual)"
expect 0 "${tpcc[@]}" --json --node-processors 4,4,4,1
json "S['SH']['tx_per_s'] < 0.8 * $(cat usual) and S['SH']['busiest'] > 0.9"
expect 0 "${tpcc[@]}" --json --node-bandwidth 1e6
json "S['SH']['tx_per_s'] < 0.5 * $(cat usual)"
printf '# one way\n1ms\n2ms\n' >delays
expect 0 "${tpcc[@]}" --json --network empirical:delays --connections 1 --work uniform:1us,2us --flush 0
json 'S["SH"]["p50_ms"] >= 2 and S["PKH"]["p99_ms"] >= 4'

# People see three columns more; without --simulate nothing changes.
expect 0 "${tpcc[@]}" --simulate
expect_line "tx/s" out
expect 0 "${tpcc[@]}" --csv --simulate
head -1 out | grep -q ',simulated.tx_per_s,simulated.p50_ms,simulated.p99_ms$' || fail "CSV: $(head -1 out)"
expect 0 "${tpcc[@]}" --json
grep -q simulated out && fail "simulated without being asked"

for bad in "--network fast" "--work 5" "--flush pareto:1ms" "--network empirical:nowhere" \
    "--connections 0" "--simulated 0" "--node-processors -1" "--node-processors 4,x" "--node-bandwidth ," "--node-bandwidth x" "--node-bandwidth 0.5" "--node-processors 4,,4"; do
    read -r option value <<<"$bad"
    expect 2 "${tpcc[@]}" "$option" "$value"
    expect_line "${option}" err
    [ ! -s out ] || fail "$bad wrote to standard output"
done
done_testing

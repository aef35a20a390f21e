#!/bin/bash
# Graphshard lab's graphs to the byte, and its figures to two decimals.
. "$(dirname "$0")/harness.sh"

same() { # name, sum, arguments
    local got
    got=$("$cleave" graph generate "${@:3}" | sha256sum | cut -d' ' -f1)
    [ "$got" = "$2" ] || fail "$1: $got, not $2"
}
same communities 6ada6688a34e30c4c1b467b8d1e238ae5c236e0afa005ad19dca511ec69ae936 \
    --generate graphshard --users 10000 --communities 10 --degree 8 --local 7 --seed 42
same hub 339cad297c1e700a164cbcee3562ab9be0fb44cd43b49bf1c7283268a275dc9a \
    --generate hub --users 10000 --hubs 100 --degree 8 --to-hubs 2 --seed 42

# local: hops by hash and by community, per cent saved, requests batched by community.
expect 0 graph compare --generate communities --users 10000 --communities 10 --degree 8 --local 0,2,4,6,7,8 \
    --shards 4 --placements hash,community --executors direct,batched --seed 42 --json
python3 - <<'END' || fail "the locality sweep"
import json
wanted = {0: (54.10, 59.25, -9.52, 4.49), 2: (54.11, 44.43, 17.89, 4.52), 4: (53.92, 29.69, 44.93, 4.14),
          6: (54.04, 14.85, 72.52, 3.41), 7: (54.02, 7.46, 86.19, 2.83), 8: (54.12, 0.00, 100.00, 2.00)}
rows = {(r["local"], r["placement"], r["executor"]): r for r in json.load(open("out"))["rows"]}
for local, (by_hash, by_community, saved, batched) in wanted.items():
    h, c = rows[local, "hash", "direct"], rows[local, "community", "direct"]
    b = rows[local, "community", "batched"]
    got = (round(h["hops_per_query"], 2), round(c["hops_per_query"], 2), round(100 * c["hops_saved"], 2),
           round(b["requests_per_query"], 2))
    assert got == (by_hash, by_community, saved, batched), (local, got)
    assert h["requests_per_query"] == c["requests_per_query"] == 9
    assert all(r["verified"] for r in (h, c, b))
END

expect 0 graph compare --generate uneven --sizes 4000+2500+1500+1000+1000 --degree 8 --local 7 --seed 42 \
    --placements hash,community,balanced --executors direct --json
python3 - <<'END' || fail "uneven communities"
import json
got = [(r["placement"], round(r["hops_per_query"], 2), round(100 * r["imbalance"]["vertices"]))
       for r in json.load(open("out"))["rows"]]
assert got == [("hash", 53.97, 0), ("community", 8.02, 100), ("balanced", 8.79, 60)], got
END

# What batching saves, a mean over seeds: from 37.61 % to 71.87 %.
expect 0 graph compare --generate communities --communities 16 --seeds 42..46 --shards 2,16 --local 4,7 \
    --placements community --executors direct,batched --json
python3 - <<'END' || fail "batching"
import collections, json
saved = collections.defaultdict(list)
for r in json.load(open("out"))["rows"]:
    if r["executor"] == "batched":
        saved[r["shards"], r["local"]].append(r["requests_saved"])
means = [100 * sum(x) / len(x) for x in saved.values()]
assert (round(min(means), 2), round(max(means), 2)) == (37.61, 71.87), means
END

# Hidden communities are found: as many hops are saved as where they are told.
expect 0 graph compare --generate hidden --seed 42 --placements hash,community --executors direct --json
python3 - <<'END' || fail "hidden communities"
import json
hidden = json.load(open("out"))["rows"][1]
assert hidden["verified"] and round(hidden["hops_per_query"], 2) == 7.46, hidden
END

# Hubs are read 33 times as often as others.
"$cleave" graph reads --generate hub --seed 42 --no-source >reads || fail "reads"
awk '{ if ($1 <= 100) hub++; else other++ } END { h = hub / 100; o = other / 9900
    printf "%.2f %.2f %.0f\n", h, o, h / o }' reads >ratio
[ "$(cat ratio)" = "200.00 6.06 33" ] || fail "hubs: $(cat ratio)"

# Such reads in a cache: hits of LRU at 25, 100, 500 and 1000 lists.
expect 0 cache reads --policy lru --capacity 25,100,500,1000 --json
python3 - <<'END' || fail "hits: $(head -c 500 out)"
import json
def rows(x):
    if isinstance(x, dict):
        return [x] if "hits" in x else [r for v in x.values() for r in rows(v)]
    return [r for v in x for r in rows(v)] if isinstance(x, list) else []
got = [round(100 * r["hits"] / 80000, 2) for r in rows(json.load(open("out")))]
assert got == [1.60, 6.12, 22.22, 30.67], got
END

# What the streaming placers cut of real graphs, in parts of 10,000; where the data are.
if [ -f "$shared/graph/ego-facebook.txt.gz" ]; then
    for graph in ego-facebook lastfm-asia; do
        expect 0 graph compare --edges "$shared/graph/$graph.txt.gz" --undirected --shards 4,16 \
            --placements ldg,fennel,restream --executors batched --queries 10 --json
        python3 - $graph <<'END' || fail "streaming placers on $graph"
import json, sys
wanted = {"ego-facebook": [1927, 1290, 619, 4127, 4716, 2561],
          "lastfm-asia": [2905, 2905, 1087, 4524, 4546, 2197]}[sys.argv[1]]
rows = json.load(open("out"))["rows"]
assert all(r["verified"] and r["balanced"] for r in rows)
got = [round(10000 * r["cut"]) for r in rows]
assert got == wanted, got
END
    done
fi
done_testing

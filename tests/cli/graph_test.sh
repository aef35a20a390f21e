#!/bin/bash
# cleave graph: commands, files, sweeps, and what it says to senseless or broken input.
. "$(dirname "$0")/harness.sh"

# Two triangles joined by an edge, words as ids.
printf 'source,target\nann,bob\nbob,carla\ncarla,ann\ndan,eva\neva,fay\nfay,dan\nann,dan\nann,ann\nann,bob\n' >two.csv
sed 1d two.csv | tr , ' ' | gzip >two.txt.gz
expect 0 graph stats --edges two.txt.gz --undirected --json
expect_line '"vertices": 6,' out
expect_line '"edges": 14,' out
expect_line '"loops": 1,' out
expect_line '"duplicates": 1,' out
expect_line '"components": 1,' out
expect 0 graph stats --edges two.txt.gz
expect_line '6 users, 7 edges' out
expect 0 graph stats --edges two.txt.gz --csv
expect_line '6,7,2,2,0,1,6,1,1' out

# Placing, and using the placement that was written.
expect 0 graph place --edges two.txt.gz --undirected --shards 2 -o owner --hypergraph two.hgr
expect_line 'multilevel' out
[ "$(cut -d' ' -f2 owner | sort | uniq -c | tr -s ' \n' ' ')" = " 3 0 3 1 " ] || fail "shards: $(cat owner)"
[ "$(head -1 two.hgr | cut -d' ' -f1,2)" = "7 6" ] || fail "hypergraph: $(head -1 two.hgr)"
expect 0 graph place --edges two.txt.gz --shards 2 --placements hash -q
[ "$(wc -l <out)" = 6 ] || fail "not one line a user"
expect 0 graph place --edges two.txt.gz --undirected --shards 2 -o again --json
expect_line '"balanced": true' out
cmp -s owner again || fail "another placement for the same seed"
expect 0 graph query --edges two.txt.gz --undirected --placements @owner --shards 2 --from bob --hops 2
expect_line '3 users: ann carla dan' out
expect 0 graph query --edges two.txt.gz --undirected --placements @owner --shards 2 --from bob --json \
    --executors direct,batched,early
expect_line '"verified": true' out
expect_line '"users": [' out
python3 - <<'END' || fail "executors: $(cat out)"
import json
got = {e["executor"]: e for e in json.load(open("out"))["executors"]}
# bob reads itself, ann and carla: all on one shard.
assert got["direct"]["requests"] == 3 and got["batched"]["requests"] == 2, got
assert got["direct"]["remote_requests"] == 0 and got["direct"]["hops"] == 1, got
END
printf 'ann x\nbob x\ncarla y\ndan y\neva y\nfay y\n' >labels
expect 0 graph query --edges two.txt.gz --labels labels --undirected --from bob --target-label y \
    --executors direct,batched,early
expect_line '2 users: carla dan' out
expect 0 graph query --edges two.txt.gz --undirected --from eva --hops 3 --limit 2 --top
expect_line '2 users: ann dan' out
expect 0 graph query --edges two.txt.gz --undirected --from eva --hops 2 --exactly --target-degree 3..
expect_line '1 users: ann' out

# A sweep: every row there, verified, drawn the same twice.
sweep=(graph compare --generate communities --users 200 --communities 5 --degree 4 --local 0..4
       --queries 50 --seed 7)
expect 0 "${sweep[@]}" --json --plot one.svg
python3 - <<'END' || fail "rows: $(head -c 600 out)"
import json
document = json.load(open("out"))
rows = document["rows"]
assert document["verified"] is True and len(rows) == 5 * 3 * 2, len(rows)
assert [r["local"] for r in rows[::6]] == [0, 1, 2, 3, 4]
for r in rows:
    assert r["verified"] is True and r["shards"] == 4
    assert set(r["imbalance"]) == {"vertices", "edges", "reads"}
    if r["executor"] == "direct":
        assert r["requests_per_query"] == 5
    if r["local"] == 4 and r["placement"] == "community":
        assert r["hops_per_query"] == 0
END
expect 0 "${sweep[@]}" --plot two.svg -q
cmp -s one.svg two.svg || fail "the plot differs"
expect_line '</svg>' one.svg
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("one.svg")' || fail "the plot is no XML"
expect 0 graph compare --generate lfr --users 300 --mixing 0.1,0.4 --shards 4 --limit 0,5 --preset fast \
    --hops 1..2 --placements ldg,traversals --executors direct,batched,early --balance reads,vertices+edges \
    --queries 20 --csv
[ "$(wc -l <out)" = $((1 + 2 * 2 * 2 * 2 * 2 * 3)) ] || fail "rows: $(wc -l <out)"
[ "$(grep -c 'true$' out)" = $((2 * 2 * 2 * 2 * 2 * 3)) ] || fail "not all verified"

# Generators.
for generator in communities graphshard hub hidden rmat lfr; do
    expect 0 graph generate --generate $generator --users 500 -o made
    expect 0 graph stats --edges made --json
done
expect 0 graph generate --generate uneven --sizes 60+40+20 -o made --labels-output made.labels
expect 0 graph stats --edges made --labels made.labels --json
expect_line '"count": 3,' out
expect 0 graph compare --edges made --labels made.labels --placements community,balanced-split --shards 3
expect 0 graph reads --generate hub --users 300 --hubs 10 --no-source
[ "$(wc -l <out)" = 2400 ] || fail "reads: $(wc -l <out)"
expect 0 graph reads --generate hub --users 300 --hubs 10 --queries 10 -o reads
[ "$(wc -l <reads)" = 90 ] || fail "reads: $(wc -l <reads)"

# Wrong usage: one line, status 2.
usage() {
    expect 2 graph "$@"
    head -1 err | grep -q '^cleave' || fail "no clear line for $*: $(head -c 300 err)"
}
usage compare
usage compare --edges two.csv --generate hub
usage compare --generate nothing
usage compare --generate hub --labels labels
usage compare --generate hub --shards 0
usage compare --generate hub --shards 2..1
usage compare --generate hub --shards 1..9..0
usage compare --generate hub --shards 2,,4
usage compare --generate hub --shards 2x
usage compare --generate hub --epsilon x
usage compare --generate hub --balance edge
usage compare --generate hub --placements hash,nothing
usage compare --generate hub --executors fast
usage compare --generate hub --y nothing
usage compare --generate hub --target-degree 9..3
usage compare --generate hub --target-id 3
usage place --generate hub --shards 2,4
usage place --generate hub --placements hash,ldg
usage query --generate hub
usage generate --edges two.csv
usage compare --generate hub stray
for list in "" , hash, ,hash hash,,ldg; do
    usage compare --generate hub --placements "$list"
done
usage compare --generate hub --executors ""
usage compare --generate hub --executors direct,,batched
usage compare --generate hub --y hops_per_query
usage place --generate hub -o same --hypergraph same
usage place --generate hub --hypergraph -
usage generate --generate communities -o same --labels-output same
usage generate --generate communities --labels-output -
usage generate --labels made.labels --generate communities
[ -e same ] && fail "written though refused"
expect 2 graph compare --generate hub --plot x.svg
expect_one_line
expect 2 graph compare --generate communities --local 9
expect_one_line
expect 2 graph compare --generate uneven --sizes 3++4
expect_one_line
expect 2 graph compare --generate hub --top
expect_one_line
expect 2 graph query --generate hub --from 1 --target-label x
expect_one_line

# Bad input: one line, status 1, nothing left behind.
expect 1 graph query --generate hub --from nobody
expect_one_line
expect 1 graph stats --edges absent
expect_one_line
printf '1 2\n3\n' >broken
expect 1 graph place --edges broken -o never
expect_one_line
expect_line 'broken:2: only one field' err
[ ! -e never ] || fail "half a file"
expect 1 graph compare --edges two.csv --placements @labels
expect_one_line
expect 1 graph compare --edges two.csv --labels broken
expect_one_line
head -c 20 two.txt.gz >cut.gz
expect 1 graph stats --edges cut.gz
expect_one_line
expect 1 graph generate --generate hub --users 300 -o nowhere/made
expect_one_line
expect 1 graph generate --generate communities --users 300 -o nowhere/made --labels-output never
expect_one_line
[ ! -e never ] || fail "labels without their edges"
expect 1 graph generate --generate communities --users 300 -o /dev/full --labels-output never
expect_one_line
[ ! -e never ] || fail "labels without their edges"
printf '0 0\n' >none.graph
for command in stats place compare reads 'query --from 1'; do
    expect 1 graph $command --edges none.graph
    expect_one_line
    expect_line 'none.graph: no vertices' err
done
expect 2 graph compare --edges two.csv --placements @
expect_one_line
expect 2 graph place --edges two.csv -o ''
expect_one_line
expect_line 'name of a file to write is empty' err
expect 2 graph compare --edges - --placements @-
expect_one_line
expect_line 'cannot both be standard input' err
expect 1 "${sweep[@]}" --plot /dev/full
expect_one_line
expect_line '/dev/full: cannot write' err
# More edges than there is room for are refused at once, not when memory is out.
for generator in communities hub hidden rmat lfr; do
    expect 2 graph generate --generate $generator --users 2147483646 --degree 1000000 -o never
    expect_one_line
done

done_testing

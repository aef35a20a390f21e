#!/bin/bash
# cleave partition: figures, files, and what it says to senseless or broken input.
. "$(dirname "$0")/harness.sh"

# Two triangles joined by an edge: the best bisection cuts that edge alone.
printf '7 6\n1 2\n2 3\n1 3\n4 5\n5 6\n4 6\n3 4\n' >two.hgr
expect 0 partition two.hgr -k 2 -e 0 --objective cut --json
expect_line '"cut": 1,' out
expect_line '"balanced": true' out
expect_line '"vertices": 6,' out
expect_line '"imbalance": [' out
expect_line 'two.hgr.part.2' err
[ "$(sort two.hgr.part.2 | uniq -c | tr -s ' \n' ' ')" = " 3 0 3 1 " ] || fail "blocks: $(cat two.hgr.part.2)"

expect 0 partition two.hgr -k 2 -o named --quiet
expect_line 'balanced' out
[ ! -s err ] || fail "--quiet was not"
[ "$(wc -l <named)" = 6 ] || fail "not one line a vertex"
expect 0 partition two.hgr -k 2 -o - --quiet
grep -qxE '[01]' out || fail "no blocks on standard output"
[ "$(wc -l <out)" = 6 ] || fail "-o - mixes figures with blocks"
expect 0 partition two.hgr -k 3 -o named --csv
expect_line 'vertices,nets,pins,k,objective' out
xz -k two.hgr
expect 0 partition two.hgr.xz -k 2 -o named --json
"$cleave" partition - -k 2 --json <two.hgr >piped 2>err || fail "standard input"
grep -v seconds out >one
grep -v seconds piped >two
cmp -s one two || fail "packed and plain differ"

# Presets, objectives and threads: all find this optimum; what was asked is said.
for preset in fast default quality; do
    for objective in cut km1 soed; do
        expect 0 partition two.hgr -k 2 --preset $preset --objective $objective -t 2 --json -o named
        expect_line '"cut": 1,' out
        expect_line '"soed": 2,' out
        expect_line "\"objective\": \"$objective\"" out
        expect_line "\"preset\": \"$preset\"" out
        expect_line '"threads": 2' out
    done
done
expect 0 partition two.hgr -k 2 --threads 256 -o more
cmp -s named more || fail "more threads, another answer"
expect 0 partition two.hgr -k 2 --underweight 0 --json -o named
expect_line '"underweight": 0.0,' out
expect 0 partition two.hgr -k 2 --json -o named --seed 18446744073709551615
expect_line '"underweight": null' out
expect_line '"epsilon": 0.03,' out
expect_line '"seed": "18446744073709551615"' out

# Steering.
printf '1\n-1\n-1\n-1\n-1\n0\n' >fix
expect 0 partition two.hgr -k 2 --fix fix -o fixed
[ "$(tr -d '\n' <fixed)" = 111000 ] || fail "fixed: $(tr -d '\n' <fixed)"
expect 0 partition two.hgr -k 2 --start fixed --refine -o again
cmp -s fixed again || fail "an optimum was not kept"
expect 0 partition two.hgr -k 2 --shares 2,1 -e 0 -o shares
[ "$(grep -c 0 shares)" = 4 ] || fail "shares: $(tr -d '\n' <shares)"
printf '4 3 11\n2 3\n2 1 3\n2 1\n' >grid.graph
printf '4 4\n2 3\n1 4\n1 4\n2 3\n' >square.graph
expect 0 partition square.graph -k 2 -o named --json
expect_line '"cut": 2,' out
printf '3\n0\n0\n0\n3\n0\n' >together
printf '2 3\n%% and\n1 4\n' >apart
expect 0 partition two.hgr -k 2 --together together --apart apart -o named
{ read -r b1; read -r b2; read -r b3; read -r b4; read -r b5; } <named
[ $b1 = $b5 ] || fail "not together: $(tr -d '\n' <named)"
[ $b2 != $b3 ] && [ $b1 != $b4 ] || fail "not apart: $(tr -d '\n' <named)"

# The same hypergraph in PaToH's form, counted from 0, by its name and by option.
printf '0 6 7 14\r\n0 1\r\n1 2\r\n0 2\r\n3 4\r\n4 5\r\n3 5\r\n2 3\r\n' >two.u
expect 0 partition two.hgr -k 2 -o named
for name in two.u two.patoh; do
    [ $name = two.u ] || cp two.u $name
    expect 0 partition $name -k 2 -o patoh
    cmp -s named patoh || fail "$name is read as another hypergraph"
done
xz -kf two.u
expect 0 partition two.u.xz -k 2 -o patoh
cmp -s named patoh || fail "two.u.xz is read as another hypergraph"
"$cleave" partition - -k 2 --format patoh --quiet -o - <two.u >patoh 2>err
cmp -s named patoh || fail "--format patoh is read as another hypergraph"
for placer in hash range round-robin multilevel; do
    expect 0 partition two.hgr -k 2 -e 5 --placer $placer -o named
done

# One clear line each, nothing written.
rm -f named
expect 2 partition two.hgr -o named
expect_line '-k K' err
expect 2 partition two.hgr -k 0 -o named
expect 2 partition two.hgr -k 2000 -o named
expect 2 partition two.hgr -k 2 -e -1 -o named
expect 2 partition two.hgr -k 2 -e nan -o named
expect 2 partition two.hgr -k 2 -e 0.1,0.2 -o named
expect 2 partition two.hgr -k 2 --shares 1,2,3 -o named
for list in '' , 1, ,1 1,,2 nan,1 inf,1 -1,1 0,1 1e999,1 1e-300,1 '1;2' '1 ,2' 1,2,3 1,2x 0x,1 \
    "$(printf '1,%.0s' {1..2000})1"; do
    expect 2 partition two.hgr -k 2 --shares "$list" -o named
    expect 2 partition two.hgr -k 2 -e "0,$list" -o named
done
expect 2 partition two.hgr -k 2 --placer best -o named
expect_line 'round-robin' err
expect 2 partition two.hgr -k 2 --refine -o named
expect 2 partition two.hgr -k 2 --preset best -o named
expect_line 'default, fast, quality' err
expect 2 partition two.hgr -k 2 --objective edges -o named
expect_line 'cut, km1, soed' err
expect 2 partition two.hgr -k 2 --threads 0 -o named
expect 2 partition two.hgr -k 2 --threads 257 -o named
expect 2 partition two.hgr -k 2 --underweight 1.5 -o named
expect 2 partition two.hgr -k 2 --underweight 0.1,0.2 -o named
expect 2 partition two.hgr -k 2 --json -o -
expect 1 partition missing.hgr -k 2 -o named
expect_one_line
expect 1 partition two.hgr -k 2 --fix two.hgr -o named
expect_one_line
printf '5\n0\n0\n0\n0\n0\n' >outside
expect 1 partition two.hgr -k 2 --fix outside -o named
expect_line "outside:1: block is '5'" err
printf '1 7\n' >outside
expect 1 partition two.hgr -k 2 --apart outside -o named
expect_line "outside:1: vertex is '7'" err
expect 1 partition two.hgr -k 2 --together outside -o named
expect_line 'outside:1: more than 1 number' err
printf -- '0\n0\n0\n-1\n1\n1\n' >outside
expect 1 partition two.hgr -k 2 --start outside -o named
expect_line 'outside: vertex 4 has no block' err
hostile() {
    printf "$1" >bad.hgr
    expect 1 partition bad.hgr -k 2 -o named
    expect_one_line
    expect_line "$2" err
}
hostile '' 'no header'
hostile '3 4\n1 2\n' 'bad.hgr:2: file ends after 1 of the 3 nets'
hostile '1 4\n1 \0 2\n' 'not a whole number'
hostile '1 4\n1 5\n' 'bad.hgr:2: vertex'
hostile '1 4 10\n1 2\n1\n-2\n3\n4\n' 'bad.hgr:4: vertex weight'
hostile '1 4 1\n-2 1 2\n' 'net weight'
hostile '99999999999 4\n1 2\n' 'number of nets'
hostile '1 2000000000\n1 2\n' 'correct the header'
hostile '1 4 10\n1 2\n1152921504606846976\n1152921504606846976\n1\n1\n' 'scale them down'
hostile '\x1f\x8b\x08\x00cut' 'bad.hgr'
head -c 100 two.hgr.xz >bad.hgr
truncate -s -20 bad.hgr
expect 1 partition bad.hgr -k 2 -o named
expect_one_line
[ ! -e named ] || fail "something was written"

# What cannot be balanced is shown, written, and reported.
printf '1 3 10\n1 2 3\n100\n1\n1\n' >heavy.hgr
expect 1 partition heavy.hgr -k 2 -o nearest --json
expect_line '"balanced": false' out
expect_line 'carries 100' err
[ "$(wc -l <nearest)" = 3 ] || fail "the nearest answer was not written"

# A disk without room, a folder that does not exist: no file is left.
expect 1 partition two.hgr -k 2 -o /dev/full
expect_one_line
expect 1 partition two.hgr -k 2 -o no/such/folder
expect_one_line
ls | grep -q 'named\..*' && fail "a temporary file was left"
# Ctrl-C, in the search and while input is awaited: exit status 130, one line at most, no file.
awk 'BEGIN { print 3000, 2000; for (e = 0; e < 3000; e++) print 1 + e * 7 % 2000, 1 + e * 13 % 1999, 1 + e * 31 % 1997 }' >long.hgr
for file in long.hgr -; do
    timeout --foreground --preserve-status -s INT 1 "$cleave" partition $file -k 16 --starts 1000000 -o never \
        >out 2>err < <(sleep 3)
    status=$?
    [ $status = 130 ] || fail "Ctrl-C: $file gave $status"
    [ "$(wc -l <err)" -le 1 ] || fail "Ctrl-C: $(head -c 500 err)"
    [ ! -s out ] || fail "Ctrl-C: figures were printed"
    ls | grep -q never && fail "Ctrl-C left a file: $(ls | grep never)"
done
done_testing

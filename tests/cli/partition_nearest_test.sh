#!/bin/bash
# What cleave partition does where no placement satisfies all that is asked: it writes the nearest,
# says in one line what it does not keep and where it is, and fails.
. "$(dirname "$0")/harness.sh"

printf '7 6\n1 2\n2 3\n1 3\n4 5\n5 6\n4 6\n3 4\n' >two.hgr
printf '1 3 10\n1 2 3\n100\n1\n1\n' >heavy.hgr
printf '1 2 10\n1 2\n10 1\n1 10\n' >conflict.hgr

# nearest VERTICES TEXT ARGUMENT...: fails with the text, having written a block for each vertex.
nearest() {
    local vertices=$1 text=$2
    shift 2
    rm -f near
    expect 1 partition "$@" -o near --json
    expect_one_line
    expect_line "$text" err
    expect_line '; the nearest placement is in near' err
    expect_line '"satisfied": false,' out
    [ "$(grep -cxE '[0-9]+' near)" = "$vertices" ] || fail "$*: no nearest placement: $(cat near)"
}

# One vertex heavier than a block may be.
nearest 3 'carries 100 of weight 0, 48 over its limit 52' heavy.hgr -k 2
expect_line '"balanced": false,' out
# Two weights of which only one can be even.
nearest 2 'over its limit 6' conflict.hgr -k 2 -e 0
# A block that cannot carry what it must.
printf '1 4 10\n1 2 3 4\n9\n1\n1\n1\n' >under.hgr
nearest 4 'carries 3 of weight 0, 2 under its lower bound 5' under.hgr -k 2 -e 5 --underweight 0.1
expect_line '"balanced": false,' out
# Fixed vertices overfill a block.
printf '0\n0\n0\n0\n0\n1\n' >fix
nearest 6 'block 0 carries 5 of weight 0, 2 over its limit 3' two.hgr -k 2 --fix fix
cmp -s fix near || fail "the nearest placement moved fixed vertices"
# More vertices apart from each other than there are blocks.
printf '1 2\n2 3\n1 3\n' >apart
nearest 6 'are to be kept apart, but both are in block' two.hgr -k 2 --apart apart
# Together and apart at once; groups and fixed vertices in conflict, pairs and fixed vertices.
printf '1\n1\n0\n0\n0\n0\n' >together
printf '1 2\n' >apart
nearest 6 'are to be kept apart, but both' two.hgr -k 2 --apart apart --together together
printf '0\n1\n-1\n-1\n-1\n-1\n' >fix
nearest 6 'vertices 0 and 1 are to stay together' two.hgr -k 2 --fix fix --together together
printf '0\n0\n-1\n-1\n-1\n-1\n' >fix
nearest 6 'vertices 0 and 1 are to be kept apart' two.hgr -k 2 --fix fix --apart apart
# A group too heavy for a block.
printf '1\n1\n1\n1\n1\n0\n' >together
nearest 6 'carries 5 of weight 0, 2 over its limit 3' two.hgr -k 2 --together together
# A budget that does not reach balance: no more than it has moved.
printf '0\n0\n0\n0\n0\n1\n' >start
nearest 6 'over its limit 3' two.hgr -k 2 --start start --budget 1
[ "$(diff start near | grep -c '^>')" -le 1 ] || fail "the budget was overdrawn: $(diff start near)"

# By its default name, it is one line too; on standard output, the figures make way.
expect 1 partition heavy.hgr -k 2
expect_one_line
expect_line 'the nearest placement is in heavy.hgr.part.2' err
[ "$(wc -l <heavy.hgr.part.2)" = 3 ] || fail "no heavy.hgr.part.2"
expect 1 partition heavy.hgr -k 2 -o -
expect_line 'the nearest placement is on standard output' err
[ "$(grep -cxE '[01]' out)" = 3 ] || fail "not on standard output: $(cat out)"
done_testing

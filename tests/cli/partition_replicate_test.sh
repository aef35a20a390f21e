#!/bin/bash
# cleave partition --replicate: copies of chosen vertices, their file, and what is refused.
. "$(dirname "$0")/harness.sh"

# Two pairs, and vertex 5 that both read.
printf '4 5 11\n3 1 2\n3 3 4\n1 1 2 5\n1 3 4 5\n1\n1\n1\n1\n1\n' >hub.hgr
printf -- '-1\n-1\n-1\n-1\n0\n' >costs
expect 0 partition hub.hgr -k 2 -e 0.5 -o part --replicate costs --copies copies
expect_line 'copies: 1 more of 1 vertices; objective 1 -> 0 and writes 0: 1 saved (recounted)' out
[ "$(tail -1 copies)" = "0 1" ] || fail "copies: $(cat copies)"
diff <(head -4 copies) <(head -4 part) || fail "vertices with one copy"
expect 0 partition hub.hgr -k 2 -e 0.5 -o part --replicate costs --json
expect_line '"saved": 1,' out
expect 0 partition hub.hgr -k 2 -e 0.5 -o - --replicate costs
[ "$(wc -l <out)" = 5 ] || fail "-o - mixes blocks with figures"

# Written as often as read; no budget; a budget in percent.
printf -- '-1\n-1\n-1\n-1\n1\n' >costs
expect 0 partition hub.hgr -k 2 -e 0.5 -o part --replicate costs
expect_line 'copies: 0 more' out
printf -- '-1\n-1\n-1\n-1\n0\n' >costs
for budget in "--replica-budget 0" "--replica-budget 19%" "--replica-block-budget 39%"; do
    # shellcheck disable=SC2086
    expect 0 partition hub.hgr -k 2 -e 0.5 -o part --replicate costs $budget
    expect_line 'copies: 0 more' out
done
for budget in "--replica-budget 1" "--replica-budget 20%" "--replica-block-budget 50%"; do
    # shellcheck disable=SC2086
    expect 0 partition hub.hgr -k 2 -e 0.5 -o part --replicate costs $budget
    expect_line 'copies: 1 more' out
done

# One clear line each.
expect 2 partition hub.hgr -k 2 -o part --copies copies
expect 2 partition hub.hgr -k 2 -o part --replica-budget 1
expect 2 partition hub.hgr -k 2 -o part --replicate costs --replica-budget much
expect 2 partition hub.hgr -k 2 -o part --replicate costs --replica-budget -1
expect 2 partition hub.hgr -k 2 -e 0.5 -o part --replicate costs --replica-budget 1,1
expect_one_line
printf '0\n0\n' >short
expect 1 partition hub.hgr -k 2 -e 0.5 -o part --replicate short
expect_line 'short' err
printf '0\n0\n0\n0\n0\n0\n' >long
expect 1 partition hub.hgr -k 2 -e 0.5 -o part --replicate long
printf '0\n0\n0\n0\n-2\n' >wrong
expect 1 partition hub.hgr -k 2 -e 0.5 -o part --replicate wrong
expect_one_line
expect 1 partition hub.hgr -k 2 -e 0.5 -o part --replicate absent
expect_one_line
expect 1 partition hub.hgr -k 2 -e 0.5 -o part --replicate costs --copies /nowhere/copies
expect_one_line
done_testing

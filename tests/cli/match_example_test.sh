#!/bin/bash
# The program of docs/examples/match.c, linked with the shared library: what a report concerns.
#   match_example_test.sh EXAMPLE
. "$(dirname "$0")/harness.sh"
"$cleave" >out 2>err || fail "the example failed"
[ ! -s err ] || fail "the example complains"
printf 'query 1\nquery 2\nquery 3\n' | cmp -s - out || fail "matches: $(cat out)"
[ "$(wc -l <"$source_root/docs/examples/match.c")" -lt 50 ] || fail "the example grew"
done_testing

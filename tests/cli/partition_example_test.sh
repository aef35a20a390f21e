#!/bin/bash
# The program of docs/examples/partition.c, linked with the shared library: the one best answer.
#   partition_example_test.sh EXAMPLE
. "$(dirname "$0")/harness.sh"
"$cleave" >out 2>err || fail "the example failed"
[ ! -s err ] || fail "the example complains"
expect_line 'weight of queries on both servers: 1' out
[ "$(wc -l <out)" = 9 ] || fail "not a line a table"
[ "$(sed -n '1,4s/.*: //p' out | uniq | wc -l)" = 1 ] || fail "the first four are not together"
[ "$(sed -n '5,8s/.*: //p' out | uniq | wc -l)" = 1 ] || fail "the last four are not together"
[ "$(wc -l <"$source_root/docs/examples/partition.c")" -lt 40 ] || fail "the example grew"
done_testing

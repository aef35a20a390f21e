#!/bin/bash
# The command itself: help, version, what was perhaps meant, a full disk, Ctrl-C.
. "$(dirname "$0")/harness.sh"

expect 0 --help
expect_line "Usage: cleave COMMAND" out
expect_line "Exit status:" out
cp out help
expect 0 help
cmp -s out help || fail "cleave help differs from cleave --help"
expect 0 --version
grep -qE '^cleave [0-9]+\.[0-9]+\.[0-9]+$' out || fail "version: $(cat out)"

expect 2
expect_line "Usage: cleave COMMAND" err
[ ! -s out ] || fail "usage went to standard output"
expect 2 --nonsense
expect_one_line
expect 2 $'bad\nword\033[31m'
expect_one_line
if grep -q $'\033' err; then fail "an escape sequence reached the terminal"; fi
expect 2 "$(head -c 100000 /dev/zero | tr '\0' x)"
expect_one_line

"$cleave" --help >/dev/full 2>err
[ $? = 1 ] || fail "a full disk was not noticed"
expect_line "No space left" err

# Every command: help on standard output, unknown options refused with status 2.
while read -r name; do
    expect 0 $name --help
    expect_line "Usage: cleave $name" out
    [ ! -s err ] || fail "cleave $name --help wrote to standard error"
    expect 2 $name --no-such-option
    first=${name%% *}
    expect 2 "${first}x"
    expect_line "did you mean" err
done < <(awk '/^Commands:/ { on = 1; next } !on || !NF { on = 0; next }
    /^  [a-z]/ { group = $1; print $1 } /^    [a-z]/ { print group, $1 }' help)
done_testing

# Sourced by the command-line tests. $1 of a test is the command; later arguments are its own.
# Every check prints what it saw when it fails; the test goes on and fails at its end.
set -uo pipefail
export LC_ALL=C.UTF-8
cleave=$(realpath "$1")
data=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$data/../.." && pwd)
shared=$source_root/../shared/data
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS ARGUMENT...: runs the command; its output is in $scratch/out and $scratch/err.
# A sanitizer's report never passes.
expect() {
    local wanted=$1 status
    shift
    "$cleave" "$@" >out 2>err </dev/null
    status=$?
    if [ $status != "$wanted" ] || grep -qE 'Sanitizer|runtime error' err; then
        fail "cleave $* gave $status, not $wanted"
        head -c 2000 err
    fi
}

# expect_line TEXT FILE: a line of the file holds the text.
expect_line() {
    grep -qF -e "$1" "$2" || { fail "no '$1' in $2:"; head -c 2000 "$2"; }
}

# expect_one_line: standard error is one line that starts with "cleave".
expect_one_line() {
    [ "$(wc -l <err)" = 1 ] && grep -q '^cleave' err || { fail "not one clear line:"; head -c 2000 err; }
}

done_testing() {
    [ $failures = 0 ] || exit 1
    exit 0
}

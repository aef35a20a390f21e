#!/bin/sh
# Makes one object file of the static libpg_query that shows nothing but the functions pg_query_*,
# and those hidden.
#
# libpg_query carries a large piece of PostgreSQL: some 2,100 global names (errmsg, list_*, palloc,
# XXH*, protobuf_c_*) that would clash with libpq, libxxhash and programs that embed us. All of them
# become local here. The functions that stay are marked hidden, so that a shared library made from
# this object does not export them either: visibilities merge to the strictest when `ld -r` meets
# `.hidden name` in the second object.
#
# usage: isolate.sh ARCHIVE OUTPUT.o CC...
set -eu
archive=$1
output=$2
shift 2
whole=$output.whole.o
marks=$output.marks
trap 'rm -f "$whole" "$marks".*' EXIT

ld -r -o "$whole" --whole-archive "$archive"
nm --defined-only --extern-only --format=posix "$whole" |
    sed -n 's/^\(pg_query_[A-Za-z0-9_]*\) T .*/\1/p' >"$marks.names"
test -s "$marks.names"
{
    sed 's/^/.hidden /' "$marks.names"
    echo '.section .note.GNU-stack,"",%progbits'
} >"$marks.s"
"$@" -c "$marks.s" -o "$marks.o"
ld -r -o "$output" "$whole" "$marks.o"
objcopy --keep-global-symbols="$marks.names" "$output"

#!/bin/bash
# A schema read from a live database, from pg_dump's output, and from the DDL that made it must be
# the same; statistics read live and from the dumps that docs/sizes.md describes likewise.
# usage: catalog_test.sh PRINT (the program made from print.c)
set -euo pipefail
export LC_ALL=C.UTF-8
print=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
postgres=$root/tests/support/postgres.sh
directory=$(mktemp -d)
trap '"$postgres" stop "$directory"; rm -rf "$directory"' EXIT
bin=$("$postgres" bindir) || exit 77
connection=$("$postgres" start "$directory")
port=${connection#*port=}
export PGHOST=$directory PGPORT=${port%% *} PGUSER=postgres PGDATABASE=postgres
export PGOPTIONS="-c client_min_messages=warning"
passed=0
failed=0

# same WHAT FILE FILE
same() {
    if diff "$2" "$3" >"$directory/diff"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1"
        head -20 "$directory/diff"
    fi
}

# refuses WHAT TEXT ARGUMENT...: the program fails with one line that holds the text.
refuses() {
    local what=$1 text=$2
    shift 2
    if ! "$print" "$@" >"$directory/out" 2>"$directory/err" && grep -qF -e "$text" "$directory/err" &&
        [ "$(wc -l <"$directory/err")" = 1 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        cat "$directory/out" "$directory/err"
    fi
}

# A view's columns are not always known from DDL: leave views out of the comparison of columns.
columns_of_tables() {
    sed 's/^\([^(]*\) view (.*/\1 view/' | sort
}

for ddl in "$here"/data/*.sql; do
    name=$(basename "$ddl" .sql)
    "$bin/createdb" "$name"
    # psql of another minor version may not know \restrict.
    grep -v '^\\\(un\)\{0,1\}restrict' "$ddl" | "$bin/psql" -q -v ON_ERROR_STOP=1 -d "$name" >/dev/null
    "$bin/pg_dump" -d "$name" >"$directory/$name.dump"
    "$print" catalog "$connection dbname=$name" | columns_of_tables >"$directory/live"
    "$print" ddl "$directory/$name.dump" | columns_of_tables >"$directory/dump"
    "$print" ddl "$ddl" | columns_of_tables >"$directory/ddl"
    same "$name: dump and database" "$directory/dump" "$directory/live"
    same "$name: DDL and database" "$directory/ddl" "$directory/live"
done

# Statistics, through both kinds of dump; a partitioned table counts as one.
"$bin/createdb" filled
"$bin/pgbench" -q -i -s 2 --partitions=3 filled >/dev/null 2>&1
"$bin/psql" -q -d filled <<'SQL'
CREATE SCHEMA other;
CREATE TABLE other.words (id int PRIMARY KEY, word text, said "char", at timestamptz, d date,
    n numeric, r real, u uuid, b bool, e text[], empty int, t time);
INSERT INTO other.words SELECT i, chr(97 + i % 26) || E',"{}\\ ' || i % 500, 'x',
    '2020-01-01 00:00+02'::timestamptz + i * interval '1 hour', '2020-01-01'::date + i % 300,
    i / 7.0, i / 3.0, md5(i::text)::uuid, i % 5 = 0, ARRAY[i % 9, NULL], NULL,
    '10:00'::time + i % 60 * interval '1 minute' FROM generate_series(1, 5000) i;
CREATE TABLE never_analysed (a int);
ANALYZE;
SQL
sed -n '/^```sql/,/^```/p' "$root/docs/sizes.md" | grep -v '^```' >"$directory/sizes.sql"
"$bin/pg_dump" -s -d filled >"$directory/filled.dump"
"$bin/psql" --csv -f "$directory/sizes.sql" filled >"$directory/sizes.csv"
"$bin/psql" -At -c "SELECT row_to_json(s) FROM ($(cat "$directory/sizes.sql")) s" filled >"$directory/sizes.json"
"$bin/psql" -At -c "SELECT json_agg(s) FROM ($(cat "$directory/sizes.sql")) s" filled >"$directory/array.json"
gzip -c "$directory/sizes.csv" >"$directory/sizes.csv.gz"
sorted() {
    sort "$1" >"$1.sorted"
}
"$print" catalog "$connection dbname=filled" --values >"$directory/live"
sorted "$directory/live"
for dump in sizes.csv sizes.json array.json sizes.csv.gz; do
    "$print" ddl "$directory/filled.dump" --stats "$directory/$dump" --values >"$directory/read"
    sorted "$directory/read"
    same "statistics from $dump" "$directory/live.sorted" "$directory/read.sorted"
done
grep -q '^pgbench_accounts: rows 200000 of 125 bytes, origin 2$' "$directory/live" ||
    { failed=$((failed + 1)); echo "FAILED: rows of a partitioned table"; grep rows "$directory/live"; }
grep -q '^other.words.word: .* bounds .*' "$directory/live" ||
    { failed=$((failed + 1)); echo "FAILED: statistics of text"; }

# Refusals.
"$bin/createdb" empty
refuses "no database" 'database "nowhere" does not exist' catalog "$connection dbname=nowhere"
refuses "no server" 'connection to server' catalog "host=$directory port=1 user=postgres"
refuses "no tables" 'database "empty": it has no tables' catalog "$connection dbname=empty"
refuses "not a connection string" 'PostgreSQL: ' catalog "host=$directory nonsense"
refuses "not a URI" 'PostgreSQL: ' catalog "postgresql://[::1"
"$print" catalog "postgresql:///filled?host=$directory&port=$PGPORT&user=postgres" >/dev/null
passed=$((passed + 1))

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

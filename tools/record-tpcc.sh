#!/bin/bash
# Makes data/tpcc-4w.log.xz: starts a throw-away PostgreSQL, loads a small TPC-C, lets several
# concurrent clients run a generated trace, and keeps the server's log. data/README.md says what
# is in it. The tool it needs is built by
#   ninja -C BUILD tests/source_generate/replay-trace
#
# usage: tools/record-tpcc.sh REPLAY-TRACE [OUT-DIRECTORY]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
replay=$(realpath "${1:?usage: tools/record-tpcc.sh REPLAY-TRACE [OUT-DIRECTORY]}")
out=$(realpath "${2:-$here/../data}")
options=(--seed 2026 warehouses=4 items=1000 customers-per-district=300)
# Rolled back on purpose and then done again, in percent of NewOrder (clause 2.4.1.4 has 1).
run=(--transactions 3000 --clients 6 --rollbacks 1)

server=$here/../tests/support/postgres.sh
bin=$("$server" bindir)
home=$(mktemp -d)
cleanup() {
    "$server" stop "$home" || true
    rm -rf "$home"
}
trap cleanup EXIT

# The socket is named relative to the server's directory, so that the log names no directory.
"$server" start "$home" "unix_socket_directories=." "timezone=UTC" "log_timezone=UTC" \
    "deadlock_timeout=50ms" "log_line_prefix=%t [%p] %q%u@%d " >/dev/null
admin=("$bin/psql" -h "$home/cluster" -U postgres -q -v ON_ERROR_STOP=1)
client=("$bin/psql" -h "$home/cluster" -U app -q -v ON_ERROR_STOP=1 tpcc)
"${admin[@]}" -c "CREATE ROLE app LOGIN" -c "CREATE DATABASE tpcc OWNER app"
"$replay" ddl tpcc "${options[@]}" >"$out/tpcc-schema.sql"
"$replay" sizes tpcc "${options[@]}" >"$out/tpcc-sizes.yaml"
"${client[@]}" -f "$out/tpcc-schema.sql"
"$replay" rows tpcc "${options[@]}" | "${client[@]}"
"${admin[@]}" -d tpcc -c "VACUUM ANALYZE"
"${admin[@]}" -c "ALTER SYSTEM SET log_statement = 'all'" -c "SELECT pg_reload_conf()" >/dev/null
sleep 1

"$replay" run tpcc --connection "host=$home/cluster user=app dbname=tpcc" "${run[@]}" "${options[@]}"
sleep 1
xz --lzma2=preset=9e,lc=4,pb=0 -c "$home/server.log" >"$out/tpcc-4w.log.xz"
ls -l "$out"

#!/bin/bash
# A PostgreSQL of a test's own: made in a directory, run as an unprivileged user, reached through a
# unix socket in that directory only (unless settings say otherwise), gone at the end.
#
#   postgres.sh start DIR [name=value ...]   prints the connection string; settings go to the server
#   postgres.sh stop DIR                     stops the server and removes its files from DIR
#   postgres.sh bindir                       prints where psql, pg_dump, pgbench are
#
# DIR must exist (mktemp -d; keep it short, a socket's path has a limit). Exit code 77: there is no
# PostgreSQL server here.
set -euo pipefail

find_bindir() {
    local candidate
    for candidate in $(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/local/pgsql/bin 2>/dev/null | sort -rV); do
        if [ -x "$candidate/initdb" ] && [ -x "$candidate/pg_ctl" ]; then
            echo "$candidate"
            return
        fi
    done
    if command -v initdb >/dev/null && command -v pg_ctl >/dev/null; then
        dirname "$(command -v initdb)"
        return
    fi
    echo "no PostgreSQL server installed" >&2
    exit 77
}

# The server refuses to run as root.
as_user() {
    if [ "$(id -u)" != 0 ]; then
        "$@"
    elif command -v setpriv >/dev/null; then
        setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"
    else
        runuser -u "$user" -- "$@"
    fi
}

user=nobody
if id postgres >/dev/null 2>&1; then
    user=postgres
fi
action=${1:-}
directory=${2:-}
bindir=$(find_bindir)
case $action in
bindir)
    echo "$bindir"
    ;;
start)
    shift 2
    directory=$(cd "$directory" && pwd)
    if [ "$(id -u)" = 0 ]; then
        chown "$user" "$directory"
    fi
    cd "$directory" # the caller's directory may be closed to the unprivileged user
    as_user "$bindir/initdb" -N -A trust -U postgres -E UTF8 --locale=C -D "$directory/cluster" \
        >"$directory/initdb.log" 2>&1 || { cat "$directory/initdb.log" >&2; exit 1; }
    {
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$directory'"
        echo "fsync = off"
        echo "synchronous_commit = off"
        echo "full_page_writes = off"
        for setting in "$@"; do
            echo "${setting%%=*} = '${setting#*=}'"
        done
    } >>"$directory/cluster/postgresql.conf"
    as_user "$bindir/pg_ctl" -D "$directory/cluster" -l "$directory/server.log" -w -t 60 start \
        >"$directory/start.log" 2>&1 || { cat "$directory/start.log" "$directory/server.log" >&2; exit 1; }
    port=5432
    for setting in "$@"; do
        if [ "${setting%%=*}" = port ]; then
            port=${setting#*=}
        fi
    done
    echo "host=$directory port=$port user=postgres dbname=postgres"
    ;;
stop)
    directory=$(cd "$directory" && pwd)
    cd "$directory"
    if [ -f cluster/postmaster.pid ]; then
        as_user "$bindir/pg_ctl" -D "$directory/cluster" -m immediate -w stop >/dev/null 2>&1 || true
    fi
    rm -rf cluster initdb.log start.log server.log
    ;;
*)
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

# Sourced after harness.sh by the tests that start servers of their own: $bin, sql, servers_of; all
# clusters of the scratch folder go at the end. Exit code 77: there is no PostgreSQL here.
bin=$(bash "$source_root/tests/support/postgres.sh" bindir) || exit 77
chmod 711 "$scratch" # servers run as another user
trap 'for d in "$scratch"/c*; do "$cleave" cluster down --dir "$d" >/dev/null 2>&1; done; umount "$scratch/full" 2>/dev/null; rm -rf "$scratch"' EXIT

sql() { # URL, then psql's arguments
    local url=$1
    shift
    PGOPTIONS='-c client_min_messages=warning' "$bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 -d "$url" "$@"
}

servers_of() { # how many processes work in the folder
    ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -c " $1/"
}

# Sourced by tests of a stream's world on NATS, after harness.sh: servers and processes of their own.
command -v nats-server >/dev/null || [ -x /usr/sbin/nats-server ] || {
    echo "nats-server is not installed: skipped"
    exit 77
}
chmod 755 "$scratch" # servers run as another user
started=()
count=0
stop_all() {
    [ ${#started[@]} = 0 ] || kill -CONT "${started[@]}" 2>/dev/null
    [ ${#started[@]} = 0 ] || kill "${started[@]}" 2>/dev/null
    wait 2>/dev/null
    timeout 60 "$cleave" cluster down --dir "$scratch/cluster" >/dev/null 2>&1
    rm -rf "$scratch"
}
trap stop_all EXIT

start_cluster() {
    expect 0 cluster up --nats "${1:-1}" --dir cluster
    CLEAVE_NATS=$(grep -m1 -o 'nats://[0-9.:]*' out)
    export CLEAVE_NATS
}

# begin NAME ARGUMENT...: starts a process of world w; its number is in $NAME.
declare -A serving=()
begin() {
    local name=$1
    shift
    "$cleave" stream serve --name w "$@" >"$name.out" 2>"$name.err" </dev/null &
    started+=($!)
    serving[$name]=$!
    printf -v "$name" %s $!
}

# at_work NAME: waits until what was started under it is at work, or has ended.
at_work() {
    for _ in $(seq 200); do
        grep -q 'is at work' "$1.err" && return
        kill -0 "${!1}" 2>/dev/null || return
        sleep 0.1
    done
}

# serve NAME ARGUMENT...: the same; without its balancer there is no world, so that is waited for.
serve() {
    begin "$@"
    case " $* " in *" --role balancer "*) at_work "$1" ;; esac
}

# All that was started last under its name ends in good order.
orderly_end() {
    local name
    kill -TERM "${serving[@]}" 2>/dev/null
    for name in "${!serving[@]}"; do
        wait "${serving[$name]}" || fail "$name ended with $?: $(head -c 500 "$name.err")"
    done
}

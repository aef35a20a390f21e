#!/bin/bash
# Clients of a graph behind NATS: more than there are seats, some of them killed; processes that do
# not agree on the placement; servers that forbid something.
. "$(dirname "$0")/harness.sh"

server=$(command -v nats-server || ls /usr/sbin/nats-server 2>/dev/null)
[ -n "$server" ] || { echo "nats-server is not installed: skipped"; exit 77; }
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"' EXIT

begin_server() { # lines of its configuration; CLEAVE_NATS says where it is
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    printf 'listen: "127.0.0.1:%s"\njetstream { store_dir: "%s" }\n%s\n' "$port" "$scratch/js$port" "$1" >"$port.conf"
    setpriv --pdeathsig KILL "$server" -c "$port.conf" >/dev/null 2>&1 &
    pids+=($!)
    export CLEAVE_NATS=nats://127.0.0.1:$port
    for _ in $(seq 200); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
        sleep 0.05
    done
}
graph="--generate communities --users 500 --communities 4"
serve() { # NAME OPTION...: a process, that is up
    local name=$1
    shift
    setpriv --pdeathsig KILL "$cleave" graph serve --name w $graph --shards 1 --coordinators 1 --clients 3 "$@" 2>"err.$name" &
    pids+=($!)
    for _ in $(seq 200); do
        grep -q 'of the world' "err.$name" && return
        sleep 0.05
    done
    fail "$name does not come up: $(cat "err.$name")"
}

begin_server ''
serve shard --role shard --seat 0 --placements community
serve coordinator --role coordinator --seat 0

# Another placement than that which was agreed on.
expect 2 graph serve --name w $graph --shards 1 --coordinators 1 --role shard --seat 0 --placements hash
expect_one_line
expect_line "was placed by 'community', not by 'hash'" err
expect 0 graph place $graph --shards 1 --placements hash -o owner.txt -q
serve again --role coordinator --seat 0 --placements @owner.txt # one shard: the same owners

# Four times as many clients as seats, at once, and two of the seats left by the dead.
expect 0 graph query $graph --from 7 --hops 2 --json
users() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["users"])' "$1"; }
users out >near
dead=()
for _ in 1 2; do
    setpriv --pdeathsig KILL "$cleave" graph run --name w $graph --queries 10000000 --clients 2 -q >/dev/null 2>&1 &
    dead+=($!)
done
sleep 3
kill -9 "${dead[@]}"
asked=()
for i in $(seq 12); do
    timeout 100 "$cleave" graph query --name w $graph --from 7 --hops 2 --patience 60 --json >"far.$i" 2>"err.$i" &
    asked+=($!)
done
for i in $(seq 12); do
    wait "${asked[$((i - 1))]}" || fail "client $i: $(cat "err.$i")"
    users "far.$i" | cmp -s near - || fail "client $i is answered otherwise"
done

# What a server does not permit is told, wherever it is.
begin_server 'authorization { users = [
    {user: bucket, password: p, permissions: {publish: {deny: ["$KV.>"]}}},
    {user: api, password: p, permissions: {publish: {deny: ["$JS.API.>"]}}},
    {user: inbox, password: p, permissions: {subscribe: {deny: ["_INBOX.>"]}}},
    {user: actors, password: p, permissions: {publish: {deny: ["w.graph.>"]}}}] }'
for user in bucket api inbox actors; do
    printf 'user %s\npassword p\n' $user >keys
    timeout 40 "$cleave" graph serve --name w $graph --shards 1 --coordinators 1 --role shard --seat 0 \
        --nats-creds keys -q >out 2>err
    [ $? = 1 ] || fail "$user is served"
    expect_one_line
    expect_line 'the NATS server does not permit it: Permissions Violation' err
done
: >keys
expect 1 graph query --name w $graph --from 7 --nats-creds keys
expect_line 'keys: holds no credentials' err
mkdir folder
expect 1 graph query --name w $graph --from 7 --nats-creds folder
expect_line 'folder: cannot be read' err
done_testing

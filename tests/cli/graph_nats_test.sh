#!/bin/bash
# cleave graph serve and graph query --nats: processes of a graph behind a nats-server; killed under
# load and started again, every answer is right; who does not agree is refused in one line.
. "$(dirname "$0")/harness.sh"

server=$(command -v nats-server || ls /usr/sbin/nats-server 2>/dev/null)
[ -n "$server" ] || { echo "SKIPPED: no nats-server is installed"; exit 0; }
pids=()
trap 'kill -9 "${pids[@]}" $(cat pid.* 2>/dev/null) 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"' EXIT

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >nats.conf <<END
listen: "127.0.0.1:$port"
log_file: "$scratch/nats.log"
jetstream { store_dir: "$scratch/js" }
END
setpriv --pdeathsig KILL "$server" -c nats.conf >/dev/null 2>&1 &
pids+=($!)
export CLEAVE_NATS=nats://127.0.0.1:$port
python3 - "$port" <<'END'
import socket, sys, time
for _ in range(200):
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
        break
    except OSError:
        time.sleep(0.05)
END

graph="--generate communities --users 1000 --communities 8"
# serve NAME OPTION...: a process of the world, in the background.
serve() {
    local name=$1
    shift
    setpriv --pdeathsig KILL "$cleave" graph serve --name w $graph --shards 2 "$@" 2>"err.$name" &
    echo $! >"pid.$name"
    pids+=($!)
}
# ready NAME: it says that it serves.
ready() {
    for _ in $(seq 400); do
        grep -q "of the world" "err.$1" && return
        sleep 0.05
    done
    fail "$1 does not come up: $(cat "err.$1")"
}

serve shard0 --role shard --seat 0 --placements community --log shard0.log
serve shard1 --role shard --seat 1 --placements community
serve coordinator0 --role coordinator --seat 0 --placements community --metrics 0 --log coordinator0.log
serve coordinator1 --role coordinator --seat 1 --placements community
for name in shard0 shard1 coordinator0 coordinator1; do ready $name; done
[ "$(cat err.* | grep -c 'placed now')" = 1 ] || fail "one places, the others agree: $(cat err.*)"

# Answers and costs are those of one process.
for question in "--from 12" "--from 700 --hops 3 --limit 7 --top" "--from 5 --target-id 1..500 --exactly"; do
    expect 0 graph query --name w $graph $question --check --json
    mv out far
    expect 0 graph query $graph --shards 2 --placements community $question --json
    # A request that waits for long is sent again, and counted.
    python3 - <<'END' || fail "far: $(cat far), near: $(cat out)"
import json
far, near = json.load(open("far")), json.load(open("out"))
assert far["users"] == near["users"] and far["verified"], far
for f, n in zip(far["executors"], near["executors"], strict=True):
    assert f.pop("requests") >= n.pop("requests") and f.pop("remote_requests") >= n.pop("remote_requests"), f
    assert f == n, (f, n)
END
done
expect 0 graph query --name w $graph --from 12 --csv
expect_line 'executor,hops,requests,remote_requests,reads,looks,rounds,answers' out
expect 0 graph query --name w $graph --from 12 --json
expect_line '"verified":null' <(tr -d ' \n' <out)

# Many queries: latency and throughput as a client sees them, and every answer checked.
expect 0 graph run --name w $graph --queries 2000 --clients 4,16 --executors batched --metrics 0 -q
expect_line 'verified: 4000 answers' out
expect 2 graph run --name w $graph --changes 5
expect 2 graph run --name w $graph --placements hash

# One after another is killed while queries are asked, and started again.
load=()
for loop in 1 2 3; do
    (for ((i = loop; ; i += 3)); do
        [ ! -e enough ] || break
        timeout 60 "$cleave" graph query --name w $graph --from $((i % 1000 + 1)) --check --json >"load.$i" 2>"err.load$loop" ||
            cat "err.load$loop" >>load.failed
    done) &
    load+=($!)
done
for name in shard1 coordinator0 shard0 coordinator1 shard1 shard0 coordinator0 shard1 shard0 coordinator1; do
    kill -9 "$(cat pid.$name)"
    sleep 0.2
    case $name in
    shard*) serve $name --role shard --seat "${name#shard}" ;;
    *) serve $name --role coordinator --seat "${name#coordinator}" --log $name.log ;;
    esac
    ready $name
done
touch enough
wait "${load[@]}"
[ ! -s load.failed ] || fail "under load: $(cat load.failed)"
count=$(ls load.[0-9]* | wc -l)
[ "$count" -ge 8 ] || fail "only $count queries under load"
[ "$(grep -l '"verified": *true' load.[0-9]* | wc -l)" = "$count" ] || fail "not all of $count are right"

# Who does not agree is refused; nobody there is told.
expect 1 graph serve --name w --generate communities --users 1001 --communities 8 --shards 2 --role shard --seat 0
expect_one_line
expect_line 'this world is of another graph (1000 users; here 1001)' err
expect 2 graph serve --name w $graph --shards 3 --role shard --seat 0
expect_line "the world 'w' has 2 shards and 2 coordinators, not 3 and 2" err
expect 2 graph serve --name w $graph --shards 2 --role shard --seat 2
expect_line 'seat 2: there are 2 of its kind, from 0 on' err
expect 1 graph query --name nobody $graph --from 12
expect_line "nobody serves a graph under the name 'nobody' there" err
expect 1 graph query --nats nats://127.0.0.1:1 $graph --from 12
expect_one_line
expect 2 graph serve --name 'a b' $graph --role shard --seat 0
expect 2 graph serve --name w $graph --seat 0
expect 2 graph query $graph --nats nats://x:1,, --from 12

# A seat is the later process's; SIGTERM ends one in good order.
serve again --role shard --seat 0 --log again.log
ready again
wait "$(cat pid.shard0)" && fail "an older process of the same seat goes on"
expect_line 'shard 1: another process that began later is this actor now; this one stops' err.shard0
kill -TERM "$(cat pid.again)"
wait "$(cat pid.again)" || fail "SIGTERM: $? $(cat err.again)"
expect_line 'event=ended status=ok' again.log
# Nobody is that shard now: coordinators tell, and whoever needs it gives up.
for i in 1 2 3 4; do
    expect 1 graph query --name w $graph --from 12 --hops 3 --patience 2
    expect_line '1 of 1 queries have no answer after 2 s' err
    grep -q 'level=warn event="shard does not answer" shard=0' coordinator0.log && break
done
expect_line 'level=warn event="shard does not answer" shard=0' coordinator0.log
serve shard0 --role shard --seat 0
ready shard0
expect 0 graph query --name w $graph --from 12 --hops 3 --check
for _ in $(seq 100); do
    grep -q 'level=info event="shard is back" shard=0' coordinator0.log && break
    sleep 0.05
done
expect_line 'level=info event="shard is back" shard=0' coordinator0.log
for name in coordinator0 coordinator1; do kill -9 "$(cat pid.$name)"; done
expect 1 graph query --name w $graph --from 12 --patience 1
expect_line '1 of 1 queries have no answer after 1 s' err
echo "load: $count queries"
# A server that cannot do it, or will not: one clear line.
second_server() { # lines of its configuration
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    printf 'listen: "127.0.0.1:%s"\n%s\n' "$port" "$1" >second.conf
    setpriv --pdeathsig KILL "$server" -c second.conf >/dev/null 2>&1 &
    pids+=($!)
    for _ in $(seq 100); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
        sleep 0.05
    done
}
second_server ''
expect 1 graph serve --nats "nats://127.0.0.1:$port" --name w $graph --shards 2 --role shard --seat 0
expect_one_line
expect_line JetStream err
second_server "authorization { user: me, password: hunter2 }
jetstream { store_dir: \"$scratch/js2\" }"
expect 1 graph query --nats "nats://127.0.0.1:$port" --name w $graph --from 1
expect_one_line
expect_line 'refuses the credentials' err
printf 'user me\npassword hunter3\n' >creds
expect 1 graph query --nats "nats://127.0.0.1:$port" --nats-creds creds --name w $graph --from 1
expect_one_line
! grep -q hunter err || fail "a password is told: $(cat err)"
printf 'user me\npassword hunter2\n' >creds
expect 1 graph query --nats "nats://127.0.0.1:$port" --nats-creds creds --name w $graph --from 1
expect_line "nobody serves a graph under the name 'w' there" err
done_testing

#!/bin/bash
# A stranger publishes where the processes of a graph and of a stream listen: whatever it sends, none
# crashes; what only accidents would send is counted and changes no answer; what is not cleave's in
# a stream or bucket is told in one line.
. "$(dirname "$0")/harness.sh"

hostile=$(cd "$OLDPWD" && realpath "$2")
server=$(command -v nats-server || ls /usr/sbin/nats-server 2>/dev/null)
[ -n "$server" ] || { echo "nats-server is not installed: skipped"; exit 77; }
declare -A pid
trap 'kill -9 "${pid[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"' EXIT

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >nats.conf <<END_OF
listen: "127.0.0.1:$port"
log_file: "$scratch/nats.log"
jetstream { store_dir: "$scratch/js" }
END_OF
setpriv --pdeathsig KILL "$server" -c nats.conf >/dev/null 2>&1 &
pid[server]=$!
export CLEAVE_NATS=nats://127.0.0.1:$port
for _ in $(seq 200); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.05
done

# put SUBJECT TEXT: publishes it, whatever it is.
put() {
    printf 'CONNECT {"verbose":false}\r\nPUB %s %d\r\n%s\r\nPING\r\n' "$1" "${#2}" "$2" |
        python3 -c 'import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(sys.stdin.buffer.read())
while b"PONG" not in s.recv(4096): pass' "$port"
}

# start NAME ARGUMENT...: a process of a world.
start() {
    local name=$1
    shift
    setpriv --pdeathsig KILL "$cleave" "$@" --metrics 0 >"out.$name" 2>"err.$name" </dev/null &
    pid[$name]=$!
    for _ in $(seq 300); do
        grep -q 'metrics at' "err.$name" && return
        kill -0 "${pid[$name]}" 2>/dev/null || return
        sleep 0.05
    done
}

# refused NAME...: messages that these passed over, in all.
refused() {
    local name
    for name; do
        python3 - "$(grep -o 'http://[^ ]*' "err.$name")" <<'END_OF'
import sys, urllib.request
for line in urllib.request.urlopen(sys.argv[1]).read().decode().splitlines():
    if "_messages_refused_total " in line and line[0] != "#":
        print(int(float(line.split()[1])))
END_OF
    done 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }'
}

# none_crashed NAME...: those that ended did so with one line.
none_crashed() {
    local name status
    for name; do
        kill -0 "${pid[$name]}" 2>/dev/null && continue
        wait "${pid[$name]}"
        status=$?
        [ $status = 1 ] || fail "$name ended with $status: $(head -c 3000 "err.$name")"
        [ "$(grep -vc 'metrics at\|of the world\|is at work' "err.$name")" = 1 ] || fail "$name: $(head -c 3000 "err.$name")"
        echo "$name ended: $(tail -n 1 "err.$name")"
    done
}

all_live() {
    local name
    for name; do
        kill -0 "${pid[$name]}" 2>/dev/null || fail "$name has ended: $(head -c 3000 "err.$name")"
    done
}

attack() { # PREFIX SECONDS SEED HOW
    setpriv --pdeathsig KILL "$hostile" "$CLEAVE_NATS" "$@" >hostile.out 2>hostile.err &
    pid[hostile]=$!
    sleep 0.3
}

# ---- a graph ----

graph="--generate communities --users 1000 --communities 8"
serve_graph() { # NAME
    start "$1" graph serve --name w $graph --shards 2 --role "${1%[0-9]}" --seat "${1#"${1%[0-9]}"}"
}
parts="shard0 shard1 coordinator0 coordinator1"
for name in $parts; do serve_graph $name; done
attack w 5 1 raw
expect 0 graph run --name w $graph --queries 3000 --clients 4 --executors direct,batched
expect_line 'verified: 6000 answers' out
expect 0 graph query --name w $graph --from 12 --hops 3 --check
wait "${pid[hostile]}" || fail "the stranger: $(cat hostile.err)"
all_live $parts
[ "$(refused $parts)" -gt 50 ] || fail "refused: $(refused $parts), of $(cat hostile.out)"
expect 0 graph query --name w $graph --from 12 --hops 3 --check
echo "raw: $(cat hostile.out), $(refused $parts) refused"

for seed in 2; do
    attack w 4 $seed forged
    timeout 5 "$cleave" graph run --name w $graph --queries 1000000 --clients 4 >forged.out 2>forged.err
    [ $? = 124 ] || [ "$(wc -l <forged.err)" = 1 ] || fail "asking under forgery: $(head -c 2000 forged.err)"
    wait "${pid[hostile]}"
    echo "forged: $(cat hostile.out)"
    all_live $parts
    for name in $parts; do
        kill -0 "${pid[$name]}" 2>/dev/null || serve_graph $name
    done
    for seat in 0 3 17 63; do put "\$KV.w-graph.client.$seat" 'nobody'"'"'s'; done
    expect 0 graph query --name w $graph --from 12 --hops 3 --check
done

# What was agreed on, spoilt.
for name in $parts; do kill "${pid[$name]}"; done
for spoilt in '' 'of sixteen bytes' "$(printf 'x%.0s' $(seq 5000))"; do
    put '$KV.w-graph.world' "$spoilt"
    expect 1 graph query --name w $graph --from 12
    expect_one_line
    expect_line "what the world 'w' agreed on is damaged" err
done

# ---- a stream ----

serve_stream() { # NAME
    case $1 in
    balancer) start balancer stream serve --name s --role balancer --evaluators 2 --routers 1 --retry 100ms \
        --balance forced --balance-every 300ms ;;
    *) start "$1" stream serve --name s --role "${1%[0-9]}" --seat "${1#"${1%[0-9]}"}" ;;
    esac
}
cat >queries.csv <<'END_OF'
id,x0,y0,x1,y1,keywords,match
harbour,0,0,10,10,ship;boat,overlaps
east,90,-90,180,90,train,contains
everywhere,-180,-90,180,90,fire,contains
END_OF
{
    echo id,lon,lat,text
    words=(ship boat train fire nothing)
    for i in $(seq 0 999); do
        echo "thing$((i % 50)),$((i * 37 % 360 - 180)).5,$((i * 17 % 170 - 85)).25,a ${words[$((i % 5))]} comes"
    done
} >objects.csv
expect 0 stream match --queries queries.csv --json objects.csv
sed 's/"line":[0-9]*,//' out | sort >wanted

parts="balancer evaluator0 evaluator1 router0"
for name in $parts; do serve_stream $name; done
attack s 8 4 raw
expect 0 stream publish --name s --queries queries.csv
for _ in 1 2 3; do
    expect 0 stream publish --name s objects.csv
    expect_line '1000 objects acknowledged' err
done
wait "${pid[hostile]}" || fail "the stranger: $(cat hostile.err)"
all_live $parts
expect 0 stream subscribe --name s --from all --until-end --json
sed 's/"number":[0-9]*,//' out | sort >told
cat wanted wanted wanted | sort >thrice
cmp thrice told || fail "what is told is not what matches: $(diff thrice told | head -5)"
[ "$(refused $parts)" -gt 50 ] || fail "refused: $(refused $parts), of $(cat hostile.out)"
echo "raw: $(cat hostile.out), $(refused $parts) refused"

for seed in 5; do
    attack s 4 $seed forged
    for _ in 1 2; do
        timeout 4 "$cleave" stream publish --name s objects.csv >forged.out 2>forged.err
        status=$?
        case $status in
        0 | 1 | 124) ;;
        *) fail "publishing under forgery gave $status: $(head -c 2000 forged.err)" ;;
        esac
    done
    wait "${pid[hostile]}"
    echo "forged: $(cat hostile.out)"
    none_crashed $parts
    for name in $parts; do
        kill -0 "${pid[$name]}" 2>/dev/null || serve_stream $name
    done
done
none_crashed $parts
for name in $parts; do kill "${pid[$name]}" 2>/dev/null; wait "${pid[$name]}"; done

# Into what is kept.
put s.l.matches.0 'no match'
put s.l.matches.0 '{"object": [], "queries": 7}'
timeout 20 "$cleave" stream subscribe --name s --from all --until-end --json >out 2>err
status=$?
[ $status -le 1 ] && ! grep -q 'Sanitizer\|runtime error' err || fail "subscribing gave $status: $(head -c 2000 err)"
for actor in $(seq 9); do put s.s.$actor 'not what an actor saved'; done
serve_stream balancer
for name in evaluator0 evaluator1 router0; do
    serve_stream $name
    for _ in $(seq 200); do
        kill -0 "${pid[$name]}" 2>/dev/null || break
        sleep 0.05
    done
    kill -0 "${pid[$name]}" 2>/dev/null && fail "$name begins with what it did not save"
    none_crashed $name
    expect_line 'is not what cleave writes there' "err.$name"
done
for spoilt in '{' '{"version": 1, "space": []}'; do
    put '$KV.s-world.world' "$spoilt"
    expect 1 stream publish --name s objects.csv
    expect_one_line
done
done_testing

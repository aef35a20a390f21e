#!/bin/bash
# A stream on a NATS server whose storage is full: who cannot save ends with a line, nothing that was
# acknowledged is lost, and it goes on once there is room.
. "$(dirname "$0")/harness.sh"

server=$(command -v nats-server || ls /usr/sbin/nats-server 2>/dev/null)
[ -n "$server" ] || { echo "nats-server is not installed: skipped"; exit 77; }
declare -A pid
trap 'kill -9 "${pid[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"' EXIT

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export CLEAVE_NATS=nats://127.0.0.1:$port
server_with() { # how much storage
    printf 'listen: "127.0.0.1:%s"\njetstream { store_dir: "%s", max_file_store: %s }\n' "$port" "$scratch/js" "$1" >nats.conf
    setpriv --pdeathsig KILL "$server" -c nats.conf >/dev/null 2>&1 &
    pid[server]=$!
    for _ in $(seq 200); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
        sleep 0.05
    done
}
serve() { # NAME ARGUMENT...
    local name=$1
    shift
    setpriv --pdeathsig KILL "$cleave" stream serve --name s "$@" >/dev/null 2>"err.$name" </dev/null &
    pid[$name]=$!
}

server_with 600K
serve balancer --role balancer --evaluators 2 --routers 1
serve router --role router --seat 0
for seat in 0 1; do serve evaluator$seat --role evaluator --seat $seat; done
for _ in $(seq 400); do
    grep -q 'is at work' err.balancer && break
    sleep 0.05
done
printf 'id,x0,y0,x1,y1,keywords,match\nall,-180,-90,180,90,,overlaps\n' >queries.csv
{
    echo id,lon,lat,text
    for i in $(seq 6000); do echo "t$i,$((i % 360 - 180)).5,$((i % 170 - 85)).5,words that take room"; done
} >objects.csv
expect 0 stream publish --name s --queries queries.csv
timeout --foreground 15 "$cleave" stream publish --name s objects.csv >out 2>err
status=$?
[ $status = 124 ] || fail "publishing gave $status: $(cat err)"
acknowledged=$(grep -o '[0-9]* objects acknowledged' err | grep -o '^[0-9]*')
[ "${acknowledged:-0}" -gt 0 ] || fail "nothing was acknowledged, which says nothing: $(cat err)"
ended=0
for seat in 0 1; do
    kill -0 "${pid[evaluator$seat]}" 2>/dev/null && continue
    ((++ended))
    wait "${pid[evaluator$seat]}"
    [ $? = 1 ] || fail "evaluator $seat ended otherwise"
    grep -v 'is at work' "err.evaluator$seat" >err
    expect_one_line
    expect_line 'make room on the servers' err
done
[ $ended -gt 0 ] || fail "no evaluator noticed"
told() { timeout 60 "$cleave" stream subscribe --name s --from all --until-end --count -q 2>/dev/null | grep -o '^[0-9]*'; }
before=$(told)
[ "${before:-0}" -ge "${acknowledged:-1}" ] || fail "acknowledged: $acknowledged, told: $before"

kill "${pid[server]}"
wait "${pid[server]}"
server_with 100MB
for seat in 0 1; do
    kill -0 "${pid[evaluator$seat]}" 2>/dev/null || serve evaluator$seat --role evaluator --seat $seat
done
timeout 60 "$cleave" stream publish --name s objects.csv >out 2>err || fail "there is room: $(cat err)"
expect_line '6000 objects acknowledged' err
after=$(told)
[ "${after:-0}" -ge $((before + 6000)) ] || fail "told $before, then $after"
echo "$acknowledged acknowledged, $before told; $after with room"
done_testing

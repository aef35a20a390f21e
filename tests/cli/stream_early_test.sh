#!/bin/bash
# The NATS server dies again and again while the processes of a world begin: each waits for it, and
# in the end the world is whole and tells what matches.
. "$(dirname "$0")/harness.sh"
. "$data/stream_world.sh"

program=$(command -v nats-server || echo /usr/sbin/nats-server)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export CLEAVE_NATS="nats://127.0.0.1:$port"
start_server() {
    "$program" -a 127.0.0.1 -p "$port" -js -sd "$scratch/js" >server.log 2>&1 &
    server=$!
}
kill_server() {
    kill -9 $server
    wait $server 2>/dev/null
}
nap() { sleep "0.$(printf %03d $((RANDOM % $1)))"; }

printf 'id,x0,y0,x1,y1\nall,-180,-90,180,90\n' >queries.csv
{
    echo id,lon,lat
    for i in $(seq 50); do echo "o$i,$i,1"; done
} >objects.csv

for round in 1 2 3; do
    RANDOM=$round
    rm -rf js
    start_server
    begin balancer --role balancer --evaluators 2 --routers 1 --retry 200ms --track
    begin tracker --role tracker
    begin evaluator0 --role evaluator --seat 0
    begin evaluator1 --role evaluator --seat 1
    begin router0 --role router --seat 0
    for _ in $(seq 8); do
        nap 100
        kill_server
        nap 10
        start_server
    done
    for name in "${!serving[@]}"; do
        at_work "$name"
        grep -q 'is at work' "$name.err" || fail "round $round: $name is not at work: $(cat "$name.err")"
    done
    expect 0 stream publish --name w --queries queries.csv
    expect 0 stream publish --name w objects.csv
    expect 0 stream subscribe --name w --from all --until-end
    [ "$(wc -l <out)" = 50 ] || fail "round $round: $(wc -l <out) matches are told, not 50"
    orderly_end
    kill_server
done
done_testing

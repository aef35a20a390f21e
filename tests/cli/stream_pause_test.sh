#!/bin/bash
# Processes of a stream's world on NATS that are stopped and go on, for as long as a lot says, and
# meanwhile others take their seats: nothing is lost, nothing told twice. CLEAVE_PAUSE_SEED draws
# another lot, CLEAVE_PAUSE_ROUNDS more of them; CLEAVE_PAUSE_MOST is the longest pause, in tenths
# of a second; CLEAVE_PAUSE_ONLY names who is drawn from.
. "$(dirname "$0")/harness.sh"
. "$data/stream_world.sh"

seed=${CLEAVE_PAUSE_SEED:-1} rounds=${CLEAVE_PAUSE_ROUNDS:-6} most=${CLEAVE_PAUSE_MOST:-30}
RANDOM=$seed
echo "lot $seed"
pairs=()

cat >queries.csv <<'END'
id,x0,y0,x1,y1,keywords,match,events
harbour,0,0,90,60,ship;boat,overlaps,match;enter;exit
everywhere,-180,-90,180,90,fire,contains,match
west,-180,-90,0,90,,,enter;exit
END
row() {
    local words=(ship boat train fire nothing)
    echo "thing$(($1 % 23)),$(($1 * 37 % 360 - 180)).5,$(($1 * 17 % 170 - 85)).25,$1 ${words[$(($1 % 5))]}"
}

start_cluster
# Of so many balancers at once one is left, in each of some worlds.
for i in $(seq 6); do
    for k in 1 2 3; do
        "$cleave" stream serve --name "pair$i" --role balancer --evaluators 1 --spare 0 --balance-every 100ms --retry 100ms 2>"pair$i.$k.err" &
        started+=($!)
        pairs+=("$!")
    done
done
for i in $(seq 6); do
    for _ in $(seq 150); do
        left=0
        for k in 1 2 3; do
            kill -0 "${pairs[$((3 * i + k - 4))]}" 2>/dev/null && ((++left))
        done
        [ $left -le 1 ] && break
        sleep 0.2
    done
    [ $left = 1 ] || fail "of three balancers at once $left are left: $(cat pair$i.*.err)"
done
kill -TERM "${pairs[@]}" 2>/dev/null
wait "${pairs[@]}" 2>/dev/null
declare -A command=(
    [balancer]='--role balancer'
    [tracker]='--role tracker'
    [evaluator0]='--role evaluator --seat 0'
    [evaluator1]='--role evaluator --seat 1'
    [router0]='--role router --seat 0'
    [router1]='--role router --seat 1'
)
# Two balancers at once make one world, and one is left.
world='--evaluators 2 --routers 2 --balance forced --balance-every 300ms --retry 200ms --track'
serve balancer --role balancer $world
serve balancer2 --role balancer $world
for name in tracker evaluator0 evaluator1 router0 router1; do
    serve $name ${command[$name]}
done
for name in balancer balancer2 tracker evaluator0 evaluator1 router0 router1; do
    at_work $name
done
for _ in $(seq 100); do
    kill -0 "$balancer" 2>/dev/null && kill -0 "$balancer2" 2>/dev/null || break
    sleep 0.1
done
sleep 1 # the one that is left stays
if kill -0 "$balancer2" 2>/dev/null; then
    kill -0 "$balancer" 2>/dev/null && fail "two balancers are at work"
    balancer=$balancer2
fi
unset "serving[balancer2]"
serving[balancer]=$balancer

expect 0 stream publish --name w --queries queries.csv
mkfifo lines
timeout 150 "$cleave" stream publish --name w - <lines >pub.out 2>pub.err &
publisher=$!
(
    echo id,lon,lat,text
    i=0
    until [ -e enough ]; do
        row $((i++)) && row $((i++)) && row $((i++))
        sleep 0.02
    done
) | tee objects.csv >lines &

old=()
for round in $(seq "$rounds"); do
    # One that is at work is stopped; two of three times another takes its seat before it goes on.
    names=(${CLEAVE_PAUSE_ONLY:-balancer tracker evaluator0 evaluator1 router0 router1})
    name=${names[$(((round + seed + RANDOM % 2) % ${#names[@]}))]}
    pause=$((5 + RANDOM % most))
    other=$((RANDOM % 3))
    echo "round $round: $name is stopped for $pause tenths of a second, $other"
    kill -STOP "${!name}"
    stopped=${!name}
    sleep $((pause / 10)).$((pause % 10))
    if [ $other != 0 ]; then
        old+=("$stopped")
        cp $name.err $name.$round.err
        serve $name ${command[$name]}
        sleep 0.$((1 + RANDOM % 8))
    fi
    kill -CONT "$stopped"
    # And two on one seat, both at work.
    if [ $other = 2 ]; then
        sleep 0.3
        old+=("${!name}")
        serve $name ${command[$name]}
    fi
    at_work $name
    sleep 0.5
    kill -0 "${!name}" 2>/dev/null || fail "round $round: nobody is $name: $(cat $name.err)"
done
touch enough
wait $publisher || fail "the publisher ended with $?: $(cat pub.err)"
sent=$(($(wc -l <objects.csv) - 1))
expect_line "$sent objects acknowledged" pub.err

expect 0 stream match --queries queries.csv --json objects.csv
sed 's/"line":[0-9]*,//' out | sort >wanted
expect 0 stream subscribe --name w --from all --until-end --json
sed 's/"number":[0-9]*,//' out | sort >told
[ "$(wc -l <wanted)" -gt 100 ] || fail "too few matches for a test"
cmp wanted told || fail "what is told is not what matches: $(diff wanted told | head -5)"

# Whoever's seat was taken has ended by itself.
for process in "${old[@]}"; do
    for _ in $(seq 100); do
        kill -0 "$process" 2>/dev/null || break
        sleep 0.1
    done
    kill -0 "$process" 2>/dev/null && fail "a process whose seat was taken is still there"
done
orderly_end
done_testing

#!/bin/bash
# A stream's world on NATS: processes that serve, publish and subscribe; what is told is what
# `stream match` says, also when processes are killed in between; bad input is one line.
. "$(dirname "$0")/harness.sh"
. "$data/stream_world.sh"

# Without servers, and with wrong options.
export CLEAVE_NATS=nats://127.0.0.1:1
timeout 60 "$cleave" stream publish --name w --generate 1,1 >out 2>err
[ $? = 1 ] || fail "no server, and no failure"
expect_one_line
expect_line 'no NATS server answers at nats://127.0.0.1:1' err
expect 2 stream serve --name w
expect 2 stream serve --name w --role router --evaluators 3
expect 2 stream serve --name 'a b' --role router
expect 2 stream publish --name w
expect 2 stream publish --name w --remove

start_cluster
expect 1 stream publish --name w --generate 1,1
expect_one_line
expect_line "there is no world 'w'" err
expect 1 stream subscribe --name w --until-end
expect_one_line
expect_line "there is no world 'w'" err

serve balancer --role balancer --evaluators 2 --routers 2 --balance forced --balance-every 200ms --retry 200ms
for seat in 0 1; do
    serve evaluator$seat --role evaluator --seat $seat
    serve router$seat --role router --seat $seat
done

cat >queries.csv <<'EOF'
id,x0,y0,x1,y1,keywords,match
harbour,0,0,10,10,ship;boat,overlaps
17,5,5,20,20,,
east,90,-90,180,90,train,contains
everywhere,-180,-90,180,90,fire,contains
EOF
{
    echo id,lon,lat,text
    for i in $(seq 0 1999); do
        words=(ship boat train fire nothing)
        echo "thing$((i % 50)),$((i * 37 % 360 - 180)).5,$((i * 17 % 170 - 85)).25,a ${words[$((i % 5))]} comes"
    done
} >objects.csv

expect 0 stream match --queries queries.csv --json objects.csv
sed 's/"line":[0-9]*,//' out | sort >wanted
[ "$(wc -l <wanted)" -gt 100 ] || fail "too few matches for a test"

timeout 100 "$cleave" stream subscribe --name w --from all --json >early.out 2>early.err &
early=$!
sleep 1
expect 0 stream publish --name w --queries queries.csv
expect_line '4 queries stored' err
expect 0 stream publish --name w objects.csv
expect_line '2000 objects acknowledged' err
expect 0 stream subscribe --name w --from all --until-end --json
sed 's/"number":[0-9]*,//' out | sort >told
cmp wanted told || fail "what is told is not what matches"
sleep 2
kill -TERM $early
wait $early
sed 's/"number":[0-9]*,//' early.out | sort >told
cmp wanted told || fail "a subscriber that was there before all names is told otherwise"

# Killed and started again while objects come: still the same, each once.
next=$(grep -o 'from [0-9]*$' err | grep -o '[0-9]*')
{
    head -1 objects.csv
    tail -n +2 objects.csv | while IFS= read -r line; do
        echo "$line"
        ((++count % 50)) || sleep 0.1
    done
} | timeout 100 "$cleave" stream publish --name w - >pub.out 2>pub.err &
publisher=$!
sleep 1
for victim in evaluator0 router1 evaluator1 balancer; do
    kill -9 "${!victim}"
    sleep 0.3
    case $victim in
    evaluator?) serve $victim --role evaluator --seat ${victim#evaluator} ;;
    router?) serve $victim --role router --seat ${victim#router} ;;
    balancer) serve balancer --role balancer ;;
    esac
    sleep 0.4
done
wait $publisher || fail "the publisher ended badly: $(cat pub.err)"
expect_line '2000 objects acknowledged' pub.err
expect 0 stream subscribe --name w --from "$next" --until-end --json
sed 's/"number":[0-9]*,//' out | sort >told
cmp wanted told || fail "after kills what is told is not what matches: $(diff wanted told | head -5)"

# A query under a name that stands takes the old one's place, wherever that was.
sed 's/^17,5,5,20,20/17,-100,-50,-90,-40/' queries.csv >moved.csv
expect 0 stream publish --name w --queries moved.csv
expect_line '4 queries stored' err
expect_line '4 in place of older ones' err
expect 0 stream match --queries moved.csv --json objects.csv
sed 's/"line":[0-9]*,//' out | sort >wanted_moved
cmp -s wanted wanted_moved && fail "the moved query matches the same"
next=$(timeout 60 "$cleave" stream subscribe --name w --from all --until-end --count 2>&1 >out | grep -o 'from [0-9]*$' | grep -o '[0-9]*')
expect 0 stream publish --name w objects.csv
expect 0 stream subscribe --name w --from "$next" --until-end --json
sed 's/"number":[0-9]*,//' out | sort >told
cmp wanted_moved told || fail "the old query still matches: $(diff wanted_moved told | head -3)"

# Removed queries match no more; a seat that is taken is refused; another world's options are.
expect 0 stream publish --name w --queries queries.csv --remove
expect_line '4 queries removed' err
expect 0 stream publish --name w objects.csv
expect 0 stream subscribe --name w --from all --until-end --count --quiet
expect_line "$((2 * $(wc -l <wanted) + $(wc -l <wanted_moved))) matches" out
expect 2 stream serve --name w --role evaluator --seat 7
expect_one_line
expect_line 'there is no seat 7' err
expect 2 stream serve --name w --role balancer --evaluators 5
expect_one_line
expect_line 'was made with other options' err
printf 'id,x0,y0,x1,y1,events\ngate,0,0,1,1,enter\n' >enter.csv
expect 1 stream publish --name w --queries enter.csv
expect_one_line
expect_line "query 'gate' wants enter" err

# More copies than there are servers.
expect 1 stream serve --name many --role balancer --evaluators 2 --replicas 3
expect_one_line
expect_line 'too few servers' err

# An orderly end.
kill -TERM "${started[@]}" 2>/dev/null
for process in "$balancer" "$evaluator0" "$evaluator1" "$router0" "$router1"; do
    wait "$process" || fail "a process ended with $?"
done
done_testing

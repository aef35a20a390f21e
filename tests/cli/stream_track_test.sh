#!/bin/bash
# Who enters and leaves, in a stream's world on NATS: told once each, as `stream match` says, also
# when evaluators, routers and the tracker are killed in between.
. "$(dirname "$0")/harness.sh"
. "$data/stream_world.sh"

cat >queries.csv <<'END'
id,x0,y0,x1,y1,keywords,match,events
harbour,0,0,10,10,ship;boat,overlaps,enter;exit
17,5,5,60,60,,,enter
east,90,-90,180,90,train,contains,match;exit
west,-180,-90,-90,90,,,match;enter;exit
everywhere,-180,-90,180,90,fire,contains,match
north,-180,40,180,90,,,exit
END
{
    echo id,lon,lat,text
    for i in $(seq 0 1999); do
        words=(ship boat train fire nothing)
        echo "thing$((i * i % 53)),$((i * 37 % 360 - 180)).5,$((i * 17 % 170 - 85)).25,a ${words[$((i % 5))]} comes"
    done
} >objects.csv
expect 0 stream match --queries queries.csv --json objects.csv
sed 's/"line":[0-9]*,//' out | sort >wanted
for event in match enter exit; do
    [ "$(grep -c "\"event\":\"$event\"" wanted)" -gt 50 ] || fail "too few of $event for a test"
done

expect 1 stream serve --name w --role tracker --quiet --nats nats://127.0.0.1:1
start_cluster
serve balancer --role balancer --evaluators 2 --routers 2 --balance forced --balance-every 200ms --retry 200ms --track
serve tracker --role tracker
for seat in 0 1; do
    serve evaluator$seat --role evaluator --seat $seat
    serve router$seat --role router --seat $seat
done
expect 0 stream publish --name w --queries queries.csv
expect 0 stream publish --name w objects.csv
expect_line '2000 objects acknowledged' err
expect 0 stream subscribe --name w --from all --until-end --json
sed 's/"number":[0-9]*,//' out | sort >told
cmp wanted told || fail "what is told is not what matches: $(diff wanted told | head -5)"
expect_line "$(grep -c '"enter"' wanted) enter, $(grep -c '"exit"' wanted) exit" err
expect 0 stream subscribe --name w --from all --until-end --count --quiet
cp out counted

# A second publisher's things go on from where the first left them: matched as one file.
{ cat objects.csv; tail -n +2 objects.csv; } >twice.csv
expect 0 stream match --queries queries.csv --json twice.csv
sed 's/"line":[0-9]*,//' out | sort >wanted
{
    head -1 objects.csv
    tail -n +2 objects.csv | while IFS= read -r line; do
        echo "$line"
        ((++count % 50)) || sleep 0.1
    done
} | timeout 100 "$cleave" stream publish --name w - >pub.out 2>pub.err &
publisher=$!
sleep 1
for victim in tracker evaluator0 router1 tracker evaluator1; do
    kill -9 "${!victim}"
    sleep 0.3
    case $victim in
    evaluator?) serve $victim --role evaluator --seat ${victim#evaluator} ;;
    router?) serve $victim --role router --seat ${victim#router} ;;
    tracker) serve tracker --role tracker ;;
    esac
    sleep 0.4
done
wait $publisher || fail "the publisher ended badly: $(cat pub.err)"
expect_line '2000 objects acknowledged' pub.err
expect 0 stream subscribe --name w --from all --until-end --json
sed 's/"number":[0-9]*,//' out | sort >told
cmp wanted told || fail "after kills what is told is not what matches: $(diff wanted told | head -5)"

# What is not told on NATS, and worlds that track nothing.
printf 'id,x0,y0,x1,y1,events\ngate,0,0,1,1,expire\n' >expire.csv
expect 1 stream publish --name w --queries expire.csv
expect_one_line
expect_line "query 'gate' wants expire" err

orderly_end
done_testing

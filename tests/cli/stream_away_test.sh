#!/bin/bash
# A stream's world on a NATS server that takes messages of 4 KiB; processes that are not there,
# publishers that were stopped, subscribers whose reader has had enough; words of refused rows.
. "$(dirname "$0")/harness.sh"
. "$data/stream_world.sh"

server=$(command -v nats-server || echo /usr/sbin/nats-server)
cat >nats.conf <<END
listen: "127.0.0.1:-1"
max_payload: 4096
ports_file_dir: "$scratch"
jetstream { store_dir: "$scratch/js" }
END
"$server" -c nats.conf >server.log 2>&1 &
started+=($!)
for _ in $(seq 100); do
    CLEAVE_NATS=$(cat ./*.ports 2>/dev/null | grep -m1 -o 'nats://[0-9.:]*') && break
    sleep 0.1
done
export CLEAVE_NATS

expect 1 stream serve --name w --role balancer --evaluators 300
expect_one_line
expect_line 'a world of 300 evaluators needs a server that takes messages of' err

serve balancer --role balancer --evaluators 2 --routers 2 --retry 200ms --track
serve tracker --role tracker
serve evaluator0 --role evaluator --seat 0
serve evaluator1 --role evaluator --seat 1
serve router0 --role router --seat 0

# So many queries have an object that its matches are several messages.
{
    echo id,x0,y0,x1,y1,keywords,match,events
    for i in $(seq 400); do
        echo "all$i,-180,-90,180,90,word$i;thing,overlaps,match;enter;exit"
    done
    echo 'east,90,-90,180,90,,,enter;exit'
    echo "badend,0,0,1,1,wordofrefused,overlaps,never-heard-of"
} >queries.csv
{
    echo id,lon,lat,text
    for i in $(seq 0 199); do
        words=(thing nothing word7)
        echo "bus$((i % 7)),$((i * 37 % 360 - 180)).5,1,a ${words[$((i % 3))]} comes"
    done
    echo "bus1,1,95,outsidetheworld comes"
    echo "bus1,1,1,$(head -c 3000 /dev/zero | tr '\0' a)"
    echo "bus1,1,1,$(for i in $(seq 700); do echo -n "toolong$i "; done)"
} >objects.csv

# Router 1 is not there: that is said, and what is told waits for it.
timeout 60 "$cleave" stream publish --name w --queries queries.csv --skip-bad 2>pub.err &
publisher=$!
for _ in $(seq 100); do
    grep -q 'waits for' pub.err && break
    sleep 0.1
done
expect_line "cleave: world 'w' waits for router 1: not there, or without an answer" pub.err
grep -q "waits for router 1" balancer.err || fail "the balancer says nothing: $(cat balancer.err)"
kill -0 $publisher 2>/dev/null || fail "queries are stored without a router"
serve router1 --role router --seat 1
wait $publisher || fail "the publisher ended with $?: $(cat pub.err)"
expect_line '401 queries stored' pub.err
expect_line "router 1 of world 'w' is at work, by nats://127.0.0.1:" router1.err
expect_line "evaluator 0 of world 'w' is at work" evaluator0.err

expect 0 stream publish --name w --skip-bad objects.csv
expect_line '200 objects acknowledged' err
expect 0 stream subscribe --name w --from all --until-end --json
sed 's/"number":[0-9]*,//' out | sort >told
grep -v badend queries.csv >good_queries.csv
head -201 objects.csv >good.csv
expect 0 stream match --queries good_queries.csv --json good.csv
sed 's/"line":[0-9]*,//' out | sort >wanted
cmp wanted told || fail "what is told is not what matches: $(diff wanted told | head -5)"

# Words of rows that were refused are nobody's; a word that is too long says where.
! grep -rqa 'wordofrefused\|outsidetheworld\|toolong3' js || fail "words of refused rows were sent"
printf 'id,lon,lat,keywords\nx,1,1,%s\n' "$(head -c 2000000 /dev/zero | tr '\0' k)" >long.csv
expect 1 stream publish --name w long.csv
expect_one_line
expect_line 'long.csv:2: a word of 2000000 bytes: at most' err
printf 'id,x0,y0,x1,y1,keywords\nx,0,0,1,1,%s\n' "$(head -c 2000000 /dev/zero | tr '\0' k)" >longq.csv
expect 1 stream publish --name w --queries longq.csv
expect_one_line
expect_line 'longq.csv:2: a word of 2000000 bytes: at most' err

# Bytes that are no text are shown as what they are.
printf 'id,l\xff\x1b[31mon,b\n1,2,3\n' >odd.csv
expect 1 stream publish --name w odd.csv
expect_one_line
! grep -qP '[\x00-\x08\x0b-\x1f\x7f-\xff]' <(LC_ALL=C cat err) || fail "raw bytes: $(od -c err | head -5)"

# A reader that has had enough.
for _ in $(seq 30); do
    timeout 20 "$cleave" stream subscribe --name w --from all 2>head.err | head -1 >head.out
    [ "${PIPESTATUS[0]}" = 0 ] || fail "subscribe | head ended badly"
    [ ! -s head.err ] || fail "subscribe | head says: $(cat head.err)"
    [ "$(wc -l <head.out)" = 1 ] || fail "subscribe | head gave $(wc -l <head.out) lines"
done

# Two publishers are stopped for so long that their seats are free. One comes back before anybody
# came: it goes on. Then there is a third, and the other one ends.
feed() {
    head -1 objects.csv
    sed -n "2,50p" objects.csv
    until [ -e "$1" ]; do sleep 0.1; done
    sed -n "51,100p" objects.csv
}
told() { timeout 20 "$cleave" stream subscribe --name w --from all --until-end | wc -l; }
# told_more COUNT: waits until more than that is told: then whoever feeds has its seat.
told_more() {
    for _ in $(seq 60); do
        [ "$(told)" -gt "$1" ] && return
        sleep 0.2
    done
    fail "a publisher's objects do not come"
}
before=$(told)
feed go1 | timeout 100 "$cleave" stream publish --name w - 2>first.err &
first=$!
told_more "$before"
before=$(told)
feed go2 | timeout 100 "$cleave" stream publish --name w - 2>second.err &
second=$!
told_more "$before"
commands=$(pgrep -P $$ -x timeout)
stopped=$(for t in $commands; do pgrep -P "$t"; done)
kill -STOP $stopped
sleep 11
touch go1
kill -CONT $(pgrep -P "$first")
wait $first || fail "a publisher that came back in time ended with $?: $(cat first.err)"
expect_line '99 objects acknowledged' first.err
expect 0 stream publish --name w --queries good_queries.csv
touch go2
kill -CONT $(pgrep -P "$second")
wait $second
status=$?
[ $status = 1 ] || fail "a publisher that lost its seat ended with $status"
expect_line 'gave no sign of life for 10 s, and its seat in world' second.err
[ "$(grep -vc 'objects acknowledged\|sent again\|waits for\|answer again' second.err)" = 1 ] || fail "$(cat second.err)"

orderly_end
done_testing

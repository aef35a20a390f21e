#!/bin/bash
# cleave cluster: servers come up, tell their URLs, and go without a trace, whatever happens.
source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/servers.sh"

expect 0 cluster up --postgres 2 --dir c --connections 30
expect_line 'remove it all with: cleave cluster down --dir c' out
mapfile -t urls < <(grep '^postgresql://' out)
[ ${#urls[@]} = 2 ] || fail "not two URLs"
[ "$(stat -c %a c/cluster.json)" = 600 ] || fail "cluster.json is open to others"
for url in "${urls[@]}"; do
    [ "$(sql "$url" -c 'SHOW max_prepared_transactions')" = 30 ] || fail "$url: prepared transactions"
    [ "$(sql "$url" -c 'SHOW listen_addresses')" = 127.0.0.1 ] || fail "$url listens elsewhere"
done
expect 0 cluster status --dir c
[ "$(grep -c ^runs out)" = 2 ] || fail "not two that run"
expect 2 cluster up --postgres 1 --dir c
expect_one_line
expect_line 'a cluster was started here; remove it first: cleave cluster down --dir c' err
mkdir filled
touch filled/mine
expect 2 cluster up --postgres 1 --dir filled
expect_line 'not an empty folder' err
expect 1 cluster down --dir filled
expect_line 'no cluster was started here' err
[ -f filled/mine ] || fail "a folder that is not a cluster's is touched"
cp c/cluster.json filled
expect 1 cluster down --dir filled
expect_line 'it is not one that cleave has written there' err
echo '{"version": 1, "servers": [{}]' >filled/cluster.json
expect 1 cluster down --dir filled
expect_one_line
[ -f filled/mine ] || fail "a folder with a copy of cluster.json is removed"
expect 2 cluster up --nats 2 --dir c2
expect 2 cluster up --postgres 1 --user nobody-of-that-name --dir c2
[ ! -e c2 ] || fail "a cluster that was refused leaves a folder"

# Ctrl-C while it starts, and a starter that is killed.
for after in 0.05 0.4 1.0; do
    "$cleave" cluster up --postgres 2 --dir c3 >out 2>err &
    job=$!
    sleep $after
    kill -INT $job
    wait $job
    status=$?
    if [ $status = 0 ]; then # it was faster
        "$cleave" cluster down --dir c3
    elif [ $status != 130 ] || [ -e c3 ]; then
        fail "Ctrl-C after $after gives $status: $(cat err; ls c3)"
    fi
    [ "$(servers_of "$scratch/c3")" = 0 ] || fail "Ctrl-C after $after leaves servers"
done
"$cleave" cluster up --postgres 3 --dir c3 >out 2>err &
job=$!
sleep 1.2
kill -KILL $job
wait $job 2>/dev/null
expect 0 cluster down --dir c3
[ ! -e c3 ] && [ "$(servers_of "$scratch/c3")" = 0 ] || fail "a killed starter's servers are left"

# A server that is dead already, and numbers that another process has got.
expect 0 cluster up --postgres 2 --dir c4 --json
first=$(python3 -c 'import json; print(json.load(open("out"))["servers"][0]["pid"])')
kill -KILL "$first"
sleep 1000 &
other=$!
sed -i "s/\"pid\": $first/\"pid\": $other/" c4/cluster.json
expect 1 cluster status --dir c4
[ "$(grep -c ^down out)" = 1 ] || fail "the dead one is not told"
expect 0 cluster down --dir c4
kill -0 $other || fail "another's process was killed"
kill $other
wait $other 2>/dev/null
[ ! -e c4 ] && [ "$(servers_of "$scratch/c4")" = 0 ] || fail "down leaves something"
expect 0 cluster down --dir c
[ ! -e c ] && [ "$(servers_of "$scratch/c")" = 0 ] || fail "down leaves something"

# Of several at once in one folder one starts, and the others leave it alone; a name for a shell is quoted.
for name in c5 'c 6'; do
    [ "$name" = c5 ] || mkdir "$name"
    for n in 1 2 3; do
        ("$cleave" cluster up --postgres 1 --dir "$name" >out$n 2>err$n; echo $? >status$n) &
    done
    wait
    [ "$(cat status[123] | sort -n | tr '\n' ' ')" = '0 2 2 ' ] || fail "not one of three starts: $(cat status[123] err[123])"
    expect 0 cluster status --dir "$name"
    [ "$(cat err[123] | grep -c 'a cluster was started here')" = 2 ] || fail "the others say: $(cat err[123])"
    remove=$(cat out[123] | sed -n 's/^remove it all with: cleave //p')
    eval "expect 0 $remove"
    [ ! -e "$name" ] || fail "not removed by: $remove"
done
expect 2 cluster down --dir ''
expect 2 cluster up --postgres 1 --dir "it's"
expect_line 'without quotes' err
[ ! -e "it's" ] || fail "a folder that was refused is left"

# A full disk, of which the servers' own logs can tell nothing.
mkdir full
for size in 4k 20m; do
    mount -t tmpfs -o size=$size,mode=755 tmpfs full 2>/dev/null || break
    expect 1 cluster up --postgres 2 --dir full/c7
    expect_one_line
    expect_line 'No space left on device' err
    [ -z "$(ls full)" ] || fail "a full disk leaves: $(ls full)"
    umount full
done
done_testing

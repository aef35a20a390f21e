#!/bin/bash
# Metrics and logs of long runs: scraped while they run, read back, stopped; bad addresses, a full
# disk, a pipe whose reader is gone.
. "$(dirname "$0")/harness.sh"

# A run is scraped while it goes on, then stopped by Ctrl-C; what it served must make sense.
cat >scrape.py <<'END'
import json, re, signal, socket, subprocess, sys, time

def ask(port, request):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
        s.sendall(request)
        s.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := s.recv(65536):
            answer += piece
    return answer.decode()

def get(port, path):
    head, body = ask(port, f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
                     .encode()).split("\r\n\r\n", 1)
    return head.split("\r\n"), body

def series(body):
    found = {}
    for line in body.split("\n")[:-1]:
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP|TYPE) [a-z_]+ .+", line), line
            continue
        m = re.fullmatch(r'([a-z_]+(?:\{[^}]*\})?) ([-+.0-9eInf]+)', line)
        assert m and m[1] not in found, line
        found[m[1]] = float(m[2])
    return found

wanted = sys.argv[1]
run = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
line = run.stderr.readline()
port = int(re.fullmatch(r"cleave: metrics at http://127\.0\.0\.1:(\d+)/metrics\n", line)[1])
before, grew = None, False
for _ in range(400):
    head, body = get(port, "/metrics")
    assert head[0] == "HTTP/1.1 200 OK", head
    assert "Content-Type: text/plain; version=0.0.4; charset=utf-8" in head, head
    now = series(body)
    if before and now.get(wanted, 0) > before.get(wanted, 0):
        for name, value in before.items():
            if "_total" in name or "_bucket" in name:
                assert now[name] >= value, name
        grew = True
        break
    before = now
    time.sleep(0.05)
assert grew, body
assert now["process_resident_memory_bytes"] > 1e6 and now["process_cpu_seconds_total"] > 0
assert any(n.startswith("cleave_actor_messages_received_total") and v for n, v in now.items())
assert get(port, "/healthz")[1] == "ok\n"
assert get(port, "/")[0][0].startswith("HTTP/1.1 404")
assert ask(port, b"POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith("HTTP/1.1 405")
assert ask(port, b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n").startswith("HTTP/1.1 421")
run.send_signal(signal.SIGINT)
rest = run.stderr.read()
assert run.wait(60) == 130, (run.returncode, rest)
assert "stopped" in rest and "Sanitizer" not in rest, rest
END
timeout 110 python3 scrape.py cleave_stream_objects_acknowledged_total "$cleave" stream run --generate 2000000000,1000 \
    --transport threads --metrics 0 --log stream.log || fail "stream: $(cat stream.log)"
expect_line 'level=info event=ready' stream.log
expect_line 'event=ended status=interrupted why=stopped' stream.log
timeout 110 python3 scrape.py cleave_graph_queries_answered_total "$cleave" graph run --generate communities --users 2000 \
    --communities 8 --queries 2000000 --transport threads --cache lru --metrics 127.0.0.1:0 || fail "graph"

# Counters add up at the end of runs, and with --quiet nothing is said.
graph="graph run --generate communities --users 2000 --communities 8 --queries 500"
expect 0 $graph --cache lru --changes 200 --moves 5 --replicate 20000 --faults 6 --clients 1,8 --metrics 0 -q
[ ! -s err ] || fail "not quiet: $(cat err)"
expect 0 $graph --transport threads --metrics 0 --log graph.log --log-format json
python3 - <<'END' || fail "log: $(cat graph.log)"
import json, re
lines = [json.loads(line) for line in open("graph.log")]
assert [l["event"] for l in lines] == ["starting", "metrics served", "ready", "ended"], lines
assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", l["time"]) for l in lines)
assert lines[-1]["status"] == "ok"
END
expect 0 $graph --log graph.log --log-level warn -q
[ "$(wc -l <graph.log)" = 4 ] || fail "a log is added to, from its level on"
for options in '' '--balance adaptive' '--routing text' '--routing broadcast' '--faults 10' '--track'; do
    expect 0 stream run --generate 20000,1000 $options --metrics 0 -q
done

expect 0 tables replay --benchmark tpcc --warehouses 1 --items 50 --customers-per-district 10 --transactions 60 --held-out 20 --metrics 0 --log replay.log -q
expect_line 'event=ended status=ok' replay.log

# Where the log cannot be written, the run goes on.
if [ -w /dev/full ]; then
    expect 0 $graph --log /dev/full -q
fi
mkfifo pipe
(exec 3<pipe; exec 3<&-) &
timeout 60 "$cleave" $graph --log pipe -q >out 2>err
status=$?
wait
[ $status = 0 ] || fail "a pipe whose reader is gone: $status $(cat err)"
{ timeout 60 "$cleave" $graph --log - --log-format json 2>&1 >out; echo $? >status; } | head -c 1 >/dev/null
[ "$(cat status)" = 0 ] || fail "standard error whose reader is gone: $(cat status)"

# Bad input.
expect 2 $graph --metrics nowhere
expect_line "PORT, ADDRESS:PORT or [ADDRESS]:PORT" err
expect 2 $graph --metrics 127.0.0.1:99999
expect 1 $graph --metrics 203.0.113.7:0
expect_one_line
expect_line 'cannot listen on 203.0.113.7 port 0' err
expect 1 $graph --log missing/folder.log
expect_one_line
expect 2 $graph --log-level loud
"$cleave" $graph --log same >>same 2>err && fail "a log into the results"
expect_line 'results go there' err
done_testing

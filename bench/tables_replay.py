#!/usr/bin/python3
"""The seven schemes on real PostgreSQL shards: TPC-C, 10 warehouses, 4 shards.

    ninja -C build && bench/tables_replay.py build/cleave [--transactions N] [--connections N]

For each scheme, on servers of its own (`cleave cluster up`, fsync on): once with every answer compared
with an unsharded server's, and some times for speed, without, the schemes in turns. Shown side by side:
distributed transactions predicted (compare's count, which the oracle recounts; and replay's own) and
counted, throughput and latency, and what the simulation says (`compare --simulate`).

What the simulation is told of times is measured on one unsharded server: processor time of a
transaction, of preparing and committing a part, of a query's rows put together; and a flush of the disk.
All shards are on this machine, and it is told so.

Ends with 1 when counts differ, an answer does, HGP is not 1.3 times as fast as PKH, or the simulation
orders two schemes otherwise than the measurement. A pair counts as ordered by measurement if the same
one is ahead in every round, by 5 % at the median; others are a tie.
"""
import argparse
import glob
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SCHEMES = ["HGP", "SH", "PKH", "PKR", "PKRR", "CMRR", "AllR"]
SHARDS = 4


def run(cleave, *arguments):
    done = subprocess.run([cleave, *arguments], capture_output=True, text=True, timeout=900)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"cleave {' '.join(arguments)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def empty(urls):
    for url in urls:
        subprocess.run(["psql", "-q", "-X", url, "-c", "SET client_min_messages = error",
                        "-c", "DROP SCHEMA public CASCADE", "-c", "CREATE SCHEMA public"],
                       check=True, capture_output=True)


def ticks_of(pid, children=False):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return sum(int(f) for f in fields[11:15 if children else 13])


class Clock:
    """Processor seconds of a folder's servers and of this process's children, those under way too."""

    def __init__(self, folder):
        self.masters = [int(open(p).readline()) for p in glob.glob(folder + "/**/postmaster.pid", recursive=True)]

    def now(self):
        ticks = 0
        under_way = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True).stdout.split()
        parents = {int(pid): int(parent) for pid, parent in zip(under_way[::2], under_way[1::2])}
        for pid, parent in parents.items():
            if pid in self.masters:
                ticks += ticks_of(pid, True)
            elif parent in self.masters or parent == os.getpid():
                ticks += ticks_of(pid)
        return ticks / os.sysconf("SC_CLK_TCK") + sum(os.times()[2:4])


class Watch:
    """Meanwhile: processor seconds ten times a second, and how long a write of 8 KiB and its flush take."""

    def __init__(self, clock, folder):
        self.clock, self.path = clock, os.path.join(folder, "flush")
        self.seen, self.flushes, self.over = [], [], threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        file = os.open(self.path, os.O_CREAT | os.O_WRONLY)
        while not self.over.wait(0.1):
            self.seen.append((time.time(), self.clock.now()))
            began = time.perf_counter()
            os.write(file, b"x" * 8192)
            os.fdatasync(file)
            self.flushes.append((time.perf_counter() - began) * 1e6)
        os.close(file)
        os.unlink(self.path)

    def __exit__(self, *_):
        self.ended = time.time()
        self.over.set()
        self.thread.join()
        self.last = self.clock.now()

    def of_last(self, seconds):
        """Processor seconds of the last so many before the end."""
        return self.last - min(self.seen, key=lambda s: abs(s[0] - (self.ended - seconds)))[1]


UPDATE = "\\set id random(201, 10000)\nUPDATE calibration SET value = value + 1 WHERE id = :id;\n"
SCRIPTS = {  # what pgbench plays on a table of its own
    "one": f"BEGIN;\n{UPDATE}COMMIT;\n",
    "two": f"BEGIN;\n{UPDATE}{UPDATE}COMMIT;\n",
    "prepare": f"BEGIN;\n{UPDATE}PREPARE TRANSACTION 'bench :client_id';\nCOMMIT PREPARED 'bench :client_id';\n",
    # As rows of other shards are put together: into a temporary table that is there already.
    "gather": "SET client_min_messages = error;\n"
              "CREATE TEMP TABLE IF NOT EXISTS rows (LIKE calibration INCLUDING INDEXES);\n"
              "BEGIN;\nINSERT INTO rows SELECT * FROM calibration WHERE id <= 200;\n"
              "SELECT count(*) FROM rows WHERE value < 3;\nROLLBACK;\n"}


def calibrate(url, clock, folder, clients, gathers):
    """Processor time in us: of preparing or committing a part; of gathering a query's rows, in a session that
    is begun for that and does it so many times."""
    pgbench = (glob.glob("/usr/lib/postgresql/*/bin/pgbench") or ["pgbench"])[-1]
    each = {}
    subprocess.run(["psql", "-q", "-X", url, "-c", "CREATE TABLE calibration (id int PRIMARY KEY, value int, text text)",
                    "-c", "INSERT INTO calibration SELECT i, 0, repeat('x', 100) FROM generate_series(1, 10000) i"],
                   check=True, capture_output=True)
    for name, script in SCRIPTS.items():
        path = os.path.join(folder, name + ".sql")
        with open(path, "w") as file:
            file.write(script)

        def played(transactions):
            began = clock.now()
            subprocess.run([pgbench, "-n", "-f", path, "-c", str(clients), "-t", str(transactions), url],
                           check=True, capture_output=True)
            time.sleep(0.3)  # its sessions have ended
            return (clock.now() - began) / clients * 1e6

        # What a session costs at its beginning is taken off, or shared by what it does.
        each[name] = played(gathers) / gathers if name == "gather" else (played(220) - played(20)) / 200
        os.unlink(path)
    subprocess.run(["psql", "-q", "-X", url, "-c", "DROP TABLE calibration"], check=True, capture_output=True)
    update = each["two"] - each["one"]
    return max(1, (each["prepare"] - update) / 2), max(1, each["gather"])


def pairs(schemes, rounds):
    """Those that the measurement orders: (faster, slower)."""
    for a, b in itertools.combinations(schemes, 2):
        medians = statistics.median(rounds[a]), statistics.median(rounds[b])
        if all(x > y for x, y in zip(rounds[a], rounds[b])) and medians[0] > 1.05 * medians[1]:
            yield a, b
        elif all(x < y for x, y in zip(rounds[a], rounds[b])) and 1.05 * medians[0] < medians[1]:
            yield b, a


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cleave")
    parser.add_argument("--transactions", type=int, default=1500, help="to place by; as many held out")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--items", default="1000", help="scaled down, as are customers: loading takes long")
    parser.add_argument("--customers", default="60")
    parser.add_argument("--repeat", type=int, default=5, help="rounds of timed runs; medians count")
    parser.add_argument("--schemes", default=",".join(SCHEMES))
    a = parser.parse_args()
    cleave = os.path.realpath(a.cleave)
    schemes = a.schemes.split(",")
    each = str(a.transactions)
    workload = ["--benchmark", "tpcc", "--warehouses", "10", "--items", a.items,
                "--customers-per-district", a.customers, "--transactions", each, "--held-out", each,
                "--seed", "1"]
    folder = tempfile.mkdtemp(prefix="cleave-bench-")
    shutil.rmtree(folder)
    up = run(cleave, "cluster", "up", "--dir", folder, "--postgres", str(SHARDS + 1), "--fsync", "--json")
    failures = []
    try:
        servers = [s["url"] for s in up["servers"]]
        urls, reference = servers[:SHARDS], servers[SHARDS]
        shards = [x for url in urls for x in ("--shard", url)]

        def replay(scheme, where, *more):
            empty(servers)
            return run(cleave, "tables", "replay", *workload, "--scheme", scheme, *where, "--fill",
                       "--connections", str(a.connections), "--json", "--quiet", *more)

        clock = Clock(folder)
        cores = len(os.sched_getaffinity(0))
        # One server, all of the work: what a transaction costs the machine.
        with Watch(clock, folder) as watch:
            alone = replay("PKH", ["--shard", urls[0]], "--no-verify")
        cost = watch.of_last(alone["seconds"]) / alone["replayed"] * 1e6
        flush = statistics.median(watch.flushes)
        compare = ["tables", "compare", *workload, "--shards", str(SHARDS), "--json", "--simulate",
                   "--simulated", str(2 * a.transactions)]
        first = {s["scheme"]: s for s in run(cleave, *compare, "--verify", "0")["schemes"]}
        whole = first["PKH"]["simulated"]
        # How many of a scheme's transactions read on several shards: counted, not measured.
        reading = max(s[part].get("read_only_distributed", 0) for s in first.values() for part in ("train", "held_out"))
        prepare, gather = calibrate(urls[1], clock, folder, a.connections,
                                    max(1, round(2 * reading / a.connections)))
        work = cost / (whole["accesses"] / whole["transactions"])
        print(f"one server: {alone['tx_per_s']:.0f} tx/s, {cost:.0f} us of processors a transaction, "
              f"{work:.0f} us an access; {prepare:.0f} us to prepare or commit a part, {gather:.0f} us to gather "
              f"a query's rows; a flush {flush:.0f} us; {cores} cores")
        compared = run(cleave, *compare, "--work", f"{work:.0f}us", "--prepare", f"{prepare:.0f}us",
                       "--gather", f"{gather:.0f}us", "--flush", f"{flush:.0f}us", "--network", "constant:50us",
                       "--machines", "1", "--node-processors", str(cores), "--node-bandwidth", "0",
                       "--connections", str(a.connections))
        predicted = {s["scheme"]: s for s in compared["schemes"]}
        if not compared["verified"]:
            failures.append("compare is not verified")

        def check(scheme, one):
            of = predicted[scheme]
            wanted = of["train"]["distributed"] + of["held_out"]["distributed"]
            if not (one["counted"] == one["predicted"] and one["counted"]["distributed"] == wanted):
                failures.append(f"{scheme}: counted {one['counted']}, predicted {one['predicted']}, {wanted}")
            return wanted

        seen = {s: replay(s, shards, "--reference", reference) for s in schemes}
        timed = {s: [] for s in schemes}
        for _ in range(a.repeat):  # in turns, since others may use the machine
            for scheme in schemes:
                timed[scheme].append(replay(scheme, shards, "--no-verify"))
        print(f"{'':6}{'predicted':>10}{'counted':>9}{'reading':>9}{'tx/s':>8}{'p50 ms':>8}{'p99 ms':>8}"
              f"{'simulated':>11}{'p99 ms':>8}  answers")
        measured, simulated = [], []
        for scheme in schemes:
            for one in [seen[scheme], *timed[scheme]]:
                wanted = check(scheme, one)
            if not seen[scheme]["verified"] or seen[scheme]["refused"]:
                failures.append(f"{scheme}: not verified: {seen[scheme]['differences']}")
            of = predicted[scheme]["simulated"]
            tx, p50, p99 = (statistics.median(t[k] for t in timed[scheme]) for k in ("tx_per_s", "p50_ms", "p99_ms"))
            counted = timed[scheme][0]["counted"]
            measured.append(tx)
            simulated.append(of["tx_per_s"])
            print(f"{scheme:6}{wanted:>10}{counted['distributed']:>9}{counted['read_only_distributed']:>9}{tx:>8.0f}"
                  f"{p50:>8.2f}{p99:>8.1f}{of['tx_per_s']:>11.0f}{of['p99_ms']:>8.1f}"
                  f"  {seen[scheme]['compared']} {'equal' if seen[scheme]['verified'] else 'DIFFER'}")
        apart = list(pairs(schemes, {s: [t["tx_per_s"] for t in timed[s]] for s in schemes}))
        wrong = [(x, y) for x, y in apart
                 if simulated[schemes.index(x)] <= simulated[schemes.index(y)]]
        print(f"of {len(schemes) * (len(schemes) - 1) // 2} pairs the measurement orders {len(apart)}, "
              f"the simulation {len(apart) - len(wrong)} of them likewise")
        for x, y in wrong:
            failures.append(f"{x} is faster than {y}, and the simulation says otherwise")
        if "HGP" in schemes and "PKH" in schemes:
            ratio = measured[schemes.index("HGP")] / measured[schemes.index("PKH")]
            print(f"HGP / PKH: {ratio:.2f}")
            if ratio < 1.3:
                failures.append("HGP is not 1.3 times PKH")
    finally:
        subprocess.run([cleave, "cluster", "down", "--dir", folder], capture_output=True)
    for failure in failures:
        print("WRONG:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""The seven schemes on real PostgreSQL shards: TPC-C, 10 warehouses, 4 shards.

    ninja -C build && bench/tables_replay.py build/cleave [--transactions N] [--connections N]

For each scheme, on servers of its own (`cleave cluster up`, fsync on): once with every answer compared
with an unsharded server's, and once for speed, without. Shown side by side: distributed transactions
predicted (compare's count, which the oracle recounts; and replay's own) and counted, throughput and
latency, and what the simulation says (`compare --simulate`), whose times are taken once from one
unsharded server, not from any scheme. Ends with 1 when counts differ, an answer does, or HGP is not
1.3 times as fast as PKH.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
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


def flush_us(folder):
    """The median time of a write of 8 KiB and its flush, on the servers' disk."""
    path = os.path.join(folder, "flush")
    file = os.open(path, os.O_CREAT | os.O_WRONLY)
    times = []
    for _ in range(200):
        began = time.perf_counter()
        os.write(file, b"x" * 8192)
        os.fdatasync(file)
        times.append((time.perf_counter() - began) * 1e6)
    os.close(file)
    os.unlink(path)
    return statistics.median(times)


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    out = [0.0] * len(values)
    for rank, i in enumerate(order):
        out[i] = rank
    return out


def correlation(a, b):
    """Spearman's."""
    x, y = ranks(a), ranks(b)
    n = len(x)
    return 1 - 6 * sum((p - q) ** 2 for p, q in zip(x, y)) / (n * (n * n - 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cleave")
    parser.add_argument("--transactions", type=int, default=1500, help="to place by; as many held out")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--items", default="1000", help="scaled down, as are customers: loading takes long")
    parser.add_argument("--customers", default="60")
    parser.add_argument("--repeat", type=int, default=3, help="timed runs of each scheme; medians count")
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

        # One server, all of the work: what a transaction costs the machine.
        alone = replay("PKH", ["--shard", urls[0]], "--no-verify")
        cores = len(os.sched_getaffinity(0))
        accesses = alone["statements"] / alone["replayed"]
        # The machine's cores are shared by the shards: each node is a processor as slow as its part.
        work = cores / alone["tx_per_s"] / accesses * 1e6 * SHARDS / cores
        flush = flush_us(folder)
        print(f"one server: {alone['tx_per_s']:.0f} tx/s, {accesses:.1f} statements a transaction; "
              f"a flush {flush:.0f} us; {cores} cores")
        times = ["--work", f"{work:.0f}us", "--flush", f"{flush:.0f}us", "--network", "constant:50us",
                 "--node-processors", "1", "--node-bandwidth", "0", "--connections", str(a.connections)]
        compared = run(cleave, "tables", "compare", *workload, "--shards", str(SHARDS), "--json",
                       "--simulate", *times)
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
        if len(schemes) > 2:
            print(f"order of the simulation against the measured: {correlation(simulated, measured):.2f} (Spearman)")
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

#!/usr/bin/python3
"""The partitioner on shared hypergraphs, beside measured values of other tools.

usage: bench/partition.py CLEAVE HGR-FOLDER ANCHORS.csv [km1|cut [SEEDS [--starts=N]]]

ANCHORS.csv holds instance,k,epsilon,objective,tool,seeds,value,best,cpu_s. For each instance and k
there it prints our mean value, the others', CPU seconds, and at the end geometric means of ratios.
"""
import collections
import csv
import json
import math
import pathlib
import resource
import subprocess
import sys
import tempfile


def run(cleave, path, k, epsilon, objective, seed, extra):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with tempfile.NamedTemporaryFile() as out:
        done = subprocess.run(
            [cleave, "partition", path, "-k", k, "-e", epsilon, "--objective", objective,
             "--seed", str(seed), "--json", "-o", out.name, *extra],
            capture_output=True, text=True)
    result = json.loads(done.stdout)
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return result[objective], cpu, result["balanced"]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    cleave, folder, anchors = sys.argv[1:4]
    objective = sys.argv[4] if len(sys.argv) > 4 else "km1"
    seeds = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    rows = collections.defaultdict(dict)
    with open(anchors, newline="") as f:
        for row in csv.DictReader(f):
            if row["objective"] == objective:
                key = row["instance"], row["k"], row["epsilon"]
                rows[key][row["tool"]] = float(row["value"]), float(row["cpu_s"])
    ratio, seconds = collections.defaultdict(list), collections.defaultdict(list)
    for (instance, k, epsilon), tools in rows.items():
        path = pathlib.Path(folder, instance + ".hgr.xz")
        if not path.exists():
            continue
        runs = [run(cleave, path, k, epsilon, objective, 1 + s, sys.argv[6:]) for s in range(seeds)]
        value = sum(r[0] for r in runs) / seeds
        cpu = sum(r[1] for r in runs) / seeds
        others = "  ".join(f"{t} {v:.0f} ({c:.2f} s)" for t, (v, c) in tools.items())
        note = "" if all(r[2] for r in runs) else "  NOT BALANCED"
        print(f"{instance:40} k={k:4} {value:9.0f} ({cpu:.2f} s)  {others}{note}", flush=True)
        for tool, (v, c) in tools.items():
            ratio[tool].append(math.log(value / v))
            seconds[tool].append(math.log(cpu / c))
    for tool in ratio:
        mean = lambda xs: math.exp(sum(xs) / len(xs))
        print(f"against {tool}: {mean(ratio[tool]):.3f} of its {objective}, "
              f"{mean(seconds[tool]):.2f} of its time, {len(ratio[tool])} cases")


main()

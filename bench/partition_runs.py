"""Running a plan of partitions, and what its answers come to: cells, ratios, bounds, tables."""
import collections
import concurrent.futures
import csv
import math
import pathlib
import sys

import hypergraph as hg

COLUMNS = ["show", "instance", "k", "epsilon", "objective", "tool", "preset", "seed", "value", "imbalance",
           "cpu_s"]
Key = collections.namedtuple("Key", "instance k epsilon objective label")


class Case:
    """A hypergraph by name, as an object and as a plain .hgr file."""

    def __init__(self, name, h, folder):
        self.name, self.h = name, h
        self.path = pathlib.Path(folder, name.replace(" ", "_").replace("/", "_") + ".hgr")
        if not self.path.exists():
            hg.write_hgr(h, self.path)


class Cell:
    """All seeds of one partitioner on one case: means, best, and what went wrong."""

    def __init__(self, values=(), seconds=0.0, whole=0.0, balanced=0, runs=0, faults=(), disagree=0):
        self.values, self.seconds, self.whole = list(values), seconds, whole
        self.balanced, self.runs, self.faults, self.disagree = balanced, runs, list(faults), disagree

    @classmethod
    def of(cls, runs, objective, epsilon):
        done = [r for r in runs if r.count]
        return cls([r.count.value(objective) for r in done],
                   sum(r.seconds for r in runs) / len(runs), sum(r.whole for r in runs) / len(runs),
                   sum(r.count.balanced(epsilon) for r in done), len(runs),
                   [r.fault for r in runs if r.fault], sum(r.agrees is False for r in done))

    mean = property(lambda self: sum(self.values) / len(self.values) if self.values else None)
    best = property(lambda self: min(self.values, default=None))
    unbalanced = property(lambda self: len(self.values) - self.balanced)


class Bound:
    """A figure beside what it must be. figure None: nothing to judge by, which is not met."""

    def __init__(self, text, figure, limit, strict=False, form="{:.3f}", note=""):
        self.text, self.figure, self.limit = text, figure, limit
        self.strict, self.form, self.note = strict, form, note

    @property
    def met(self):
        if self.figure is None:
            return False
        return self.figure < self.limit if self.strict else self.figure <= self.limit

    def line(self):
        word = "met" if self.met else "NOT met" if self.figure is not None else "NOT CHECKED"
        figure = "-" if self.figure is None else self.form.format(self.figure)
        sign = "<" if self.strict else "<="
        note = f"  ({self.note})" if self.note else ""
        return f"{word:11}  {self.text:62} {figure:>9} {sign:>2} {self.form.format(self.limit)}{note}"


def geometric_mean(ratios):
    ratios = list(ratios)
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def ratio(a, b):
    """Of two values, a cut of nothing counting as a half."""
    return max(a, 0.5) / max(b, 0.5)


def table(head, rows):
    """Text left, figures right; None is a dash."""
    cells = [head] + [["-" if x is None else x if isinstance(x, str) else f"{x:.2f}" if isinstance(x, float)
                       else str(x) for x in row] for row in rows]
    width = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for row in cells:
        print("  ".join(x.ljust(w) if i == 0 else x.rjust(w) for i, (x, w) in enumerate(zip(row, width))))
    print(flush=True)


def rounded(x, digits=1):
    return None if x is None else f"{x:.{digits}f}"


def label(tool):
    return tool.preset or tool.name


class Bench:
    """Runs plans with `jobs` processes at a time; every answer goes to the CSV file as it comes."""

    def __init__(self, jobs=1, limit=3600, csv_path=None, quiet=False):
        self.jobs, self.limit, self.quiet = jobs, limit, quiet
        self.bounds = []
        self.file = open(csv_path, "w", newline="") if csv_path else None
        self.rows = csv.writer(self.file, lineterminator="\n") if self.file else None
        if self.rows:
            self.rows.writerow(COLUMNS)

    def say(self, text):
        if not self.quiet:
            print(f"partition: {text}", file=sys.stderr, flush=True)

    def record(self, *row):
        if self.rows:
            self.rows.writerow(["" if x is None else x for x in row])
            self.file.flush()

    def run(self, show, plan, seeds):
        """plan: (case, k, epsilon, objective, tool). Returns cells by Key. A tool that knows no
        objective, or no seed, answers once for all of them."""
        jobs = {}
        for case, k, epsilon, objective, tool in plan:
            for seed in seeds:
                key = (case, k, epsilon, objective if tool.uses_objective else None, tool,
                       seed if tool.seeded else None)
                jobs.setdefault(key, []).append((objective, seed))
        answers = {}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            future = {pool.submit(tool.run, case.path, case.h, k, epsilon, objective or "km1",
                                  seeds[0] if seed is None else seed, self.limit): key
                      for key, (case, k, epsilon, objective, tool, seed) in zip(jobs, jobs)}
            for done, ready in enumerate(concurrent.futures.as_completed(future), 1):
                key = future[ready]
                answers[key] = ready.result()
                self.tell(show, key, jobs[key], answers[key], f"show {show}: {done}/{len(jobs)}")
        cells = {}
        for case, k, epsilon, objective, tool in plan:
            runs = [answers[case, k, epsilon, objective if tool.uses_objective else None, tool,
                            seed if tool.seeded else None] for seed in seeds]
            cells[Key(case.name, k, epsilon, objective, label(tool))] = Cell.of(runs, objective, epsilon)
        return cells

    def tell(self, show, key, asked, run, progress):
        case, k, epsilon, objective, tool, _ = key
        what = f"{case.name} k={k} {objective or 'cut, km1'} {label(tool)} seed {asked[0][1]}"
        if run.fault:
            self.say(f"{progress} {what}: FAILED: {run.fault}")
        else:
            note = ("" if run.count.balanced(epsilon) else ", not balanced") + (
                ", its own figures DISAGREE" if run.agrees is False else "")
            values = {o: run.count.value(o) for o, _ in asked}
            self.say(f"{progress} {what}: {' '.join(map(str, values.values()))}, {run.seconds:.2f} s{note}")
        for o, seed in asked:
            self.record(show, case.name, k, epsilon, o, tool.name, tool.preset, seed,
                        run.count and run.count.value(o), run.count and f"{run.count.imbalance():.6f}",
                        f"{run.seconds:.4f}")

    def conclude(self, bounds):
        for bound in bounds:
            print(bound.line())
        print(flush=True)
        self.bounds += bounds

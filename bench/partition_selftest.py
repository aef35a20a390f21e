"""bench/partition --self-test: each check is shown to see what it is there to see, in a few seconds."""
import json
import pathlib
import shlex
import sys
import tempfile

import generate_hypergraph as generated
import hypergraph as hg
import partition_shows as shows
import partitioners as tools
from partition_runs import Bench, Bound, Case, Cell, Key

TEXT = "% nets weighted, two weights a vertex\n3 4 11\n5 1 2\n2 2 3 4\n7 4 1 4\n1 10\n2 0\n1 30\n2 0\n"


def expect(problems, what, seen, wanted):
    if seen != wanted:
        problems.append(f"{what}: {seen}, not {wanted}")


def counting(folder, problems):
    path = folder / "h.hgr"
    path.write_text(TEXT)
    h = hg.read_hgr(path)
    c = hg.Count(h, [0, 1, 2, 0], 3)
    expect(problems, "cut", c.cut, 7)
    expect(problems, "km1", c.km1, 5 + 2 * 2)
    expect(problems, "load", c.load, [[3, 2, 1], [10, 0, 30]])
    expect(problems, "imbalance", c.imbalance(), 30 * 3 / 40 - 1)
    expect(problems, "balance at the limit", hg.Count(h, [0, 0, 1, 1], 2).balanced("0.5"), True)
    expect(problems, "balance past the limit", hg.Count(h, [0, 0, 1, 1], 2).balanced("0.49"), False)
    expect(problems, "degree", h.degrees(), [2, 2, 1, 2])
    hg.write_hgr(h, folder / "again.hgr")
    again = hg.read_hgr(folder / "again.hgr")
    expect(problems, "written and read", (again.nets, again.net_weight, again.weights),
           (h.nets, h.net_weight, h.weights))
    expect(problems, "possible", hg.impossible(h, 2, "0.5"), False)
    expect(problems, "impossible", hg.impossible(h, 2, "0.4"), True)
    expect(problems, "packs", hg.packs(h, 2, "0.5"), True)
    expect(problems, "packs the unpackable", hg.packs(h, 2, "0.4"), False)


def corruption(folder, cleave, problems):
    """A changed block file must be denied, a broken one refused."""
    h, planted = generated.giant(60, 1, giants=1)
    case = Case("small", h, folder)
    out = folder / "blocks"
    if cleave:
        status, text, error, _ = tools.run_process(
            [cleave, "partition", case.path, "-k", "4", "--json", "-q", "-o", out], 60)
        expect(problems, f"cleave partition ({error.strip()})", status, 0)
    else:
        out.write_text("\n".join(map(str, planted)))
        c = hg.Count(h, planted, 4)
        text = json.dumps({"cut": c.cut, "km1": c.km1, "balanced": True, "imbalance": [c.imbalance()]})
    blocks = hg.read_blocks(out, h.vertices, 4)
    expect(problems, "recount of a true file", tools.agrees(text, hg.Count(h, blocks, 4), "0.03"), True)
    for v in (0, h.vertices // 2):
        wrong = list(blocks)
        wrong[v] = (wrong[v] + 1) % 4
        expect(problems, f"recount of a file with vertex {v + 1} moved",
               tools.agrees(text, hg.Count(h, wrong, 4), "0.03"), False)
    said = json.loads(text)
    for name, other in {"cut": said["cut"] + 1, "km1": said["km1"] - 1, "balanced": not said["balanced"],
                        "imbalance": [said["imbalance"][0] + 1e-6]}.items():
        expect(problems, f"recount of another {name}",
               tools.agrees(json.dumps({**said, name: other}), hg.Count(h, blocks, 4), "0.03"), False)
    expect(problems, "recount without figures", tools.agrees("", hg.Count(h, blocks, 4), "0.03"), False)
    for what, words in {"short": blocks[1:], "long": blocks + [0], "high": [4] + blocks[1:],
                        "negative": [-1] + blocks[1:], "words": ["x"] + blocks[1:]}.items():
        out.write_text("\n".join(map(str, words)))
        expect(problems, f"a {what} file refused", tools.read_count(out, h, 4)[1] is None, False)


def planted(problems):
    h, blocks = generated.giant(100, 3)
    halves = hg.Count(h, [b // 2 for b in blocks], 2)
    trap = hg.Count(h, [b % 2 for b in blocks], 2)
    expect(problems, "planted cost", (halves.cut, halves.balanced("0")), (200, True))
    expect(problems, "the trap's cost", trap.cut, 120 + 12 * 40)
    expect(problems, "a giant net's pins", max(map(len, h.nets)), 160)
    expect(problems, "the numbers drawn", [generated.Numbers(1).below(2**64), generated.Numbers(2).below(1000)],
           [0x910A2DEC89025CC1, 591])
    a, b = (generated.weights(h, [name], 1)[0] for name in ("skewed", "random"))
    expect(problems, "skewed over 3, of 400", 80 < sum(x > 3 for x in a) < 120, True)
    expect(problems, "random from 1 to 100", (min(b) >= 1, max(b) <= 100, len(set(b)) > 50), (True,) * 3)


def programs(folder, problems):
    """A peer by its path: any program that writes one file; failure, silence and time-out are told."""
    case = Case("small", generated.giant(20, 1, giants=1)[0], folder)
    write = "{{ for (i = 0; i < n; i++) print i % {k} }}"
    good = f"{{program}} -v n={case.h.vertices} 'BEGIN {write}' > h.hgr.part.{{k}}"
    for what, command, fault in [("good", good, None), ("silent", "true {hgr}", "0 new files"),
                                 ("failing", "echo no >&2; exit 3 {hgr}", "exit status 3"),
                                 ("slow", "sleep 20 {seed}", "exit status -9")]:
        template = "sh -c " + shlex.quote(command)
        tool = tools.ByPath("fake", "awk", template)
        run = tool.run(case.path, case.h, 4, "0.03", "cut", 1, 1 if what == "slow" else 20)
        expect(problems, f"{what} program", run.fault is None if fault is None else fault in (run.fault or ""), True)
    bench = Bench(csv_path=folder / "out.csv", quiet=True)
    tool = tools.ByPath("fake", "awk", "sh -c " + shlex.quote(good))
    cells = bench.run("1", [(case, 4, "0.03", o, tool) for o in ("cut", "km1")], [1, 2])
    expect(problems, "cells of one answer for all", [(len(c.values), c.balanced) for c in cells.values()], [(2, 2)] * 2)
    bench.file.close()
    expect(problems, "lines of CSV", len((folder / "out.csv").read_text().splitlines()), 5)


def bounds(problems):
    """Each bound met by figures just within, and alone unmet by figures just past."""
    def cell(value, seconds=1.0, balanced=3, faults=(), disagree=0):
        return Cell([value] * (3 - len(faults)), seconds, seconds, balanced, 3, faults, disagree)

    def cells_1(**changed):
        given = {"fast": cell(119), "zoltan": cell(120, 1.1), "default": cell(100), "mt-default": cell(100),
                 "quality": cell(93, 2.0)}
        given.update(changed)
        return {Key("a", 2, "0.03", "cut", name): c for name, c in given.items()}

    presets = ["fast", "default", "quality"]
    first = lambda impossible=(), **changed: shows.bounds_1(cells_1(**changed), presets, impossible)
    cases = [
        (first, {}, None),
        (first, {"fast": cell(120)}, "fast's objective"),
        (first, {"fast": cell(119, 1.1)}, "fast's time"),
        (first, {"default": cell(101)}, "default's objective"),
        (first, {"default": cell(100, 1.1)}, "default's time"),
        (first, {"quality": cell(94, 2.0)}, "quality's objective"),
        (first, {"quality": cell(93, 2.1)}, "quality's time"),
        (first, {"quality": cell(93, 2.0, balanced=2)}, "out of balance"),
        (first, {"quality": cell(93, 2.0, balanced=2), "impossible": {("a", 2)}}, None),
        (first, {"quality": cell(93, 2.0, balanced=2), "impossible": {("a", 8)}}, "out of balance"),
        (first, {"quality": cell(93, 2.0, balanced=2, faults=["x"])}, "without an answer"),
        (first, {"default": cell(100, disagree=1)}, "recount denies"),
    ]
    second = lambda **c: shows.bounds_2({Key("ibm01", 2, "0.02", "cut", "quality"): cell(**c)}, "quality")
    cases += [(second, {"value": 203}, None), (second, {"value": 204}, "e = 0.02"),
              (second, {"value": 201, "balanced": 2}, "out of balance")]
    third = lambda **c: shows.bounds_3({Key("giant", 2, "0.03", "km1", "default"): cell(**c)}, "default", {2: 200})
    cases += [(third, {"value": 200}, None), (third, {"value": 201}, "planted"),
              (third, {"value": 200, "disagree": 1}, "recount denies")]

    def fourth(unpacked=(), **changed):
        given = {("w+unit,degree", "default"): cell(83), ("w+unit,degree", "metis"): cell(100, balanced=0),
                 ("v+unit,degree", "default"): cell(83), ("v+unit,degree", "metis"): cell(100),
                 ("x", "default"): cell(60), ("x+degree", "default"): cell(80),
                 ("x+areas,degree", "default"): cell(100)}
        given.update({tuple(name.split("/")): c for name, c in changed.items()})
        cells = {Key(name, 2, "0.03", "km1", tool): c for (name, tool), c in given.items()}
        return shows.bounds_4(cells, "default", {(name, 2): name not in unpacked for name, _ in given})

    cases += [(fourth, {}, None),
              (fourth, {"w+unit,degree/default": cell(84)}, "over METIS"),
              (fourth, {"w+unit,degree/default": cell(84), "unpacked": ["w+unit,degree"]}, None),
              (fourth, {"x+areas,degree/default": cell(101)}, "areas + degree"),
              (fourth, {"x+areas,degree/default": cell(101), "unpacked": ["x+areas,degree"]}, None),
              (fourth, {"x/default": cell(60, balanced=2)}, "out of balance where"),
              (fourth, {"x/default": cell(60, balanced=2), "unpacked": ["x"]}, None)]
    for make, changed, broken in cases:
        unmet = [b.text for b in make(**changed) if not b.met]
        wanted = [broken] if broken else []
        if len(unmet) != len(wanted) or any(w not in u for w, u in zip(wanted, unmet)):
            problems.append(f"bounds with {changed}: unmet are {unmet}, not {wanted}")
    missing = {k: c for k, c in cells_1().items() if k.label != "mt-default"}
    expect(problems, "unmet without mt-default", sum(not b.met for b in shows.bounds_1(missing, presets)), 4)
    expect(problems, "a bound without a figure", Bound("x", None, 1.0).met, False)
    twice = {Key("a", 2, "0.03", "cut", "zoltan"): cell(1, 3.0)}
    file = {Key("a", 2, "0.03", "cut", "zoltan"): cell(1, 2.0), Key("a", 2, "0.03", "cut", "kahypar"): cell(1, 9.0)}
    expect(problems, "the times' scale", round(shows.time_scale(twice, file), 9), 1.5)


def self_test(cleave):
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        counting(folder, problems)
        planted(problems)
        for part, test in enumerate([lambda f: corruption(f, cleave, problems), lambda f: programs(f, problems)]):
            (folder / str(part)).mkdir()
            test(folder / str(part))
    bounds(problems)
    for problem in problems:
        print(f"bench/partition: {problem}", file=sys.stderr)
    return 1 if problems else 0

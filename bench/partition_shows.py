"""The four shows of bench/partition: which runs, which table, which bounds.

Bounds are made by functions of cells alone, so that the self-test can show them unmet.
"""
import csv
import fractions

import generate_hypergraph as generated
import hypergraph as hg
from partition_runs import Bound, Case, Cell, Key, geometric_mean, ratio, rounded, table

EPSILON = "0.03"
# ISPD98, unit weights, two blocks of at most (1/2 + e) W: the best cuts known, by e and instance.
BEST_KNOWN = {
    "0.02": [201, 325, 952, 579, 1706, 963, 881, 1140, 620, 1254, 1051, 1920, 831, 1842],
    "0.10": [166, 262, 950, 388, 1645, 733, 760, 1120, 519, 1244, 763, 1841, 655, 1518],
}
WEIGHT_SETS = ["unit,degree", "unit,skewed", "unit,degree,random", "unit,degree,skewed,random"]


def read_anchors(path):
    """Cells by Key, label the tool's name in the file, and a mark of where they are from."""
    cells = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            key = Key(row["instance"], int(row["k"]), row["epsilon"], row["objective"], row["tool"])
            seconds = float(row["cpu_s"])
            cells[key] = Cell([float(row["value"])], seconds, seconds)
    return cells


def time_scale(cells, anchors):
    """This machine's CPU seconds a second of the file's: geometric mean over the runs that both have."""
    return geometric_mean(cells[key].whole / anchors[key].seconds for key in anchors
                          if key.label in ("zoltan", "metis") and key in cells and cells[key].whole)


def compare(cells, ours, theirs):
    """Geometric means of ours over theirs, in value and in seconds, and of how many cases."""
    pairs = [(cells[key], cells[key._replace(label=theirs)]) for key in cells
             if key.label == ours and key._replace(label=theirs) in cells]
    pairs = [(a, b) for a, b in pairs if a.values and b.values]
    return (geometric_mean(ratio(a.mean, b.mean) for a, b in pairs),
            geometric_mean(max(a.seconds, 1e-3) / max(b.seconds, 1e-3) for a, b in pairs), len(pairs))


def soundness(cells, ours, show, impossible=()):
    """Bounds on our own answers: all there, all recounted alike, and all balanced but those of the
    `impossible`: (instance, k)."""
    mine = [cell for key, cell in cells.items() if key.label in ours]
    able = [cell for key, cell in cells.items() if key.label in ours and (key.instance, key.k) not in impossible]
    runs, possible = sum(cell.runs for cell in mine), sum(cell.runs for cell in able)
    left = f"; {runs - possible} not judged: a vertex outweighs a block" if possible < runs else ""
    return [
        Bound(f"{show}: runs without an answer", sum(len(c.faults) for c in mine), 0, form="{}", note=f"of {runs}"),
        Bound(f"{show}: partitions out of balance", sum(c.unbalanced for c in able), 0, form="{}",
              note=f"of {possible}{left}"),
        Bound(f"{show}: figures that an independent recount denies", sum(c.disagree for c in mine), 0,
              form="{}", note=f"of {runs}"),
    ]


# Show 1: preset, whom it is compared with, most of their value, most of their time.
GOALS = [("fast", "zoltan", 1.0, 1.0), ("default", "mt-default", 1.0, 1.0), ("quality", "mt-default", 0.93, 2.0)]


def bounds_1(cells, presets, impossible=()):
    bounds = []
    for preset, peer, value, seconds in GOALS:
        if preset not in presets:
            continue
        by_value, by_time, cases = compare(cells, preset, peer)
        strict = preset == "fast"
        note = f"{cases} cases" if cases else f"no runs of {preset} beside {peer}"
        bounds += [Bound(f"1: {preset}'s objective over {peer}'s", by_value, value, strict, note=note),
                   Bound(f"1: {preset}'s time over {peer}'s", by_time, seconds, strict, note=note)]
    return bounds + soundness(cells, presets, "1", impossible)


def show_1(bench, cases, ours, peers, o):
    wanted = [(c, k, EPSILON, objective, tool) for c in cases for k in o.blocks for objective in o.objectives
              for tool in ours + peers]
    cells = bench.run("1", wanted, o.seeds)
    anchors = read_anchors(o.anchors) if o.anchors else {}
    zoltan = [t for t in peers if t.name == "zoltan"]
    scale = time_scale(cells, anchors)
    if scale is None and zoltan and anchors:
        bench.say("no run is in the file of anchors: Zoltan runs on some that are, for the times' scale")
        by_name = {c.name: c for c in o.all_cases}
        extra = [(by_name[key.instance], key.k, key.epsilon, key.objective, zoltan[0]) for key in anchors
                 if key.label == "zoltan" and key.objective == "km1" and key.instance in by_name]
        scale = time_scale(bench.run("scale", extra, o.seeds[:1]), anchors)
    # A peer that ran here replaces the file's figures of it.
    here = {"mt-default": "mt-kahypar", "kahypar": "kahypar", "zoltan": "zoltan", "metis": "metis"}
    ran = {key.label for key in cells}
    asked = {key[:4] for key in cells}
    for key, cell in anchors.items():
        if here.get(key.label) in ran or key[:4] not in asked:
            continue
        cells[key] = Cell(cell.values, cell.seconds * (scale or 1.0), runs=0)
        bench.record("1", *key[:4], key.label, "file", None, rounded(cell.mean), None,
                     f"{cells[key].seconds:.4f}")
    for key in [key for key in cells if key.label == "mt-kahypar"]:
        cells[key._replace(label="mt-default")] = cells.pop(key)

    print(f"Show 1: epsilon {EPSILON}, seeds {o.seeds[0]} to {o.seeds[-1]}, one thread. Means, best, user CPU "
          "seconds of whole processes.")
    if anchors:
        print(f"* from {o.anchors.name}, times x {scale or 1.0:.3f}: "
              + ("what Zoltan and METIS take here over what the file says they took, geometric mean, MPI's start "
                 "included." if scale else "NOT SCALED, for no peer of the file ran here."))
    mine = [t.preset for t in ours]
    others = [x for x in ("zoltan", "metis", "hmetis", "patoh", "mt-default", "mt-quality", "kahypar")
              if any(key.label == x for key in cells)]
    others += sorted({key.label for key in cells} - {*mine, *others})
    impossible = {(c.name, k) for c in cases for k in o.blocks if hg.impossible(c.h, k, EPSILON)}
    if impossible:
        print("! a vertex outweighs what a block may weigh: no placement is balanced, no answer judged for it.")
    head = ["instance", "k", "objective"] + [x for p in mine for x in (p, "best", "s")]
    head += [x for p in others for x in (p + ("" if here.get(p) in ran or p in ran else "*"), "s")]
    rows = []
    for case, k, objective in [(c, k, x) for c in cases for k in o.blocks for x in o.objectives]:
        get = lambda x: cells.get(Key(case.name, k, EPSILON, objective, x), Cell())
        rows.append([case.name, f"{k}{'!' if (case.name, k) in impossible else ''}", objective]
                    + [x for p in mine for x in (rounded(get(p).mean), get(p).best, get(p).seconds)]
                    + [x for p in others for x in (rounded(get(p).mean), get(p).seconds if get(p).values else None)])
    table(head, rows)
    print_ratios(cells, mine, others)
    bench.conclude(bounds_1(cells, o.presets, impossible))


def print_ratios(cells, mine, others):
    """Ours over theirs, geometric means: all, each objective, each k; and the aim beyond the bounds."""
    rows = []
    for preset in mine:
        for other in others:
            value, seconds, count = compare(cells, preset, other)
            if not count:
                continue
            part = lambda name, x: compare({k: c for k, c in cells.items() if getattr(k, name) == x}, preset, other)[0]
            rows.append([f"{preset} / {other}", rounded(value, 3), rounded(seconds, 2), count]
                        + [rounded(part("objective", x), 3) for x in ("cut", "km1")]
                        + [rounded(part("k", k), 3) for k in sorted({key.k for key in cells})])
    table(["ratio (geometric mean)", "value", "time", "cases", "cut", "km1"]
          + [f"k={k}" for k in sorted({key.k for key in cells})], rows)
    value, seconds, count = compare(cells, "quality", "kahypar")
    if count:
        mt, kahypar = (rounded(compare(cells, x, "mt-default")[0], 3) for x in ("quality", "kahypar"))
        print(f"The aim: KaHyPar's value at a third of its time. On its {count} cases quality is at {value:.3f} of its "
              f"value and {seconds:.2f} of its time; over mt-default, quality is at {mt}, KaHyPar at {kahypar}.\n")


def bounds_2(cells, preset, note=""):
    """cells by Key, epsilon the e of BEST_KNOWN."""
    bounds = []
    for key, cell in cells.items():
        if key.label == preset:
            best = BEST_KNOWN[key.epsilon][int(key.instance[3:5]) - 1]
            bounds.append(Bound(f"2: {key.instance}, e = {key.epsilon}: best of {cell.runs}, over {best}",
                                None if cell.best is None else cell.best / best, 1.01, note=note))
    return bounds + soundness(cells, [preset], "2")


def show_2(bench, cases, ours, peers, o):
    tool = next((t for t in ours if t.preset == "quality"), ours[-1])
    units = {}
    for case in cases:
        name = case.name.removesuffix(".weight")
        if name[:3] == "ibm" and name[3:].isdigit() and int(name[3:]) <= 14 and name not in units:
            units[name] = case if case.h.weights == [[1] * case.h.vertices] else Case(
                name, hg.Hypergraph(case.h.vertices, case.h.nets, case.h.net_weight), case.path.parent)
    if not units:
        return
    # Two blocks of (1/2 + e) W are an overweight of 2 e.
    epsilon = {e: f"{float(2 * fractions.Fraction(e)):.2f}" for e in BEST_KNOWN}
    plan = [(c, 2, epsilon[e], "cut", t) for c in units.values() for e in BEST_KNOWN
            for t in [tool] + [t for t in peers if t.seeded]]
    back = {epsilon[e]: e for e in BEST_KNOWN}
    cells = {key._replace(epsilon=back[key.epsilon]): cell
             for key, cell in bench.run("2", plan, o.seeds_2).items()}
    print(f"Show 2: ISPD98, unit weights, two blocks of at most (1/2 + e) W; cut, best of {len(o.seeds_2)}.")
    others = sorted({key.label for key in cells} - {tool.preset})
    rows = []
    for key, cell in cells.items():
        if key.label == tool.preset:
            rows.append([key.instance, key.epsilon, BEST_KNOWN[key.epsilon][int(key.instance[3:5]) - 1], cell.best,
                         rounded(cell.mean), cell.seconds]
                        + [cells[key._replace(label=x)].best for x in others])
    table(["instance", "e", "known", tool.preset, "mean", "s"] + others, rows)
    bench.conclude(bounds_2(cells, tool.preset, "" if tool.preset == "quality" else f"preset {tool.preset}"))


def bounds_3(cells, preset, planted):
    """planted: cost by k."""
    bounds = []
    for key, cell in cells.items():
        if key.label == preset:
            bounds.append(Bound(f"3: {key.instance} k={key.k}: the worst of {cell.runs} seeds, over the planted cost "
                                f"{planted[key.k]}",
                                max(cell.values) / planted[key.k] if cell.values else None, 1.0))
    return bounds + soundness(cells, [preset], "3")


def show_3(bench, ours, peers, o):
    tool = next((t for t in ours if t.preset == "default"), ours[0])
    h, blocks = generated.giant(o.cluster, 1)
    case = Case("giant", h, o.scratch)
    planted = {k: hg.Count(h, [b * k // 4 for b in blocks], k).km1 for k in (2, 4)}
    cells = bench.run("3", [(case, k, EPSILON, "km1", t) for k in planted for t in [tool, *peers]], o.seeds)
    size = max(map(len, h.nets))
    print(f"Show 3: giant nets, {h.vertices} vertices, nets of {size} pins each inside a half; km1.")
    table(["k", "planted", "tool", "mean", "best", "worst", "s", "balanced"],
          [[str(key.k), planted[key.k], key.label, rounded(c.mean), c.best, max(c.values, default=None), c.seconds,
            f"{c.balanced}/{c.runs}"] for key, c in cells.items()])
    bench.conclude(bounds_3(cells, tool.preset, planted))


def bounds_4(cells, preset, packed):
    """packed: for (instance, k), whether vector bin packing finds a placement. Without one, a case says
    nothing of value either, for nobody keeps within the limits."""
    mine = {key: c for key, c in cells.items() if key.label == preset}
    several = {key: c for key, c in cells.items() if "+" in key.instance and packed[key.instance, key.k]}
    bad = sum(c.unbalanced for key, c in mine.items() if packed[key.instance, key.k])
    runs = sum(c.runs for key, c in mine.items() if packed[key.instance, key.k])
    metis, _, count = compare(several, preset, "metis")
    alone = lambda key, end: (cells.get(key._replace(instance=key.instance.removesuffix("+areas,degree") + end)))
    both = [(c, alone(key, ""), alone(key, "+degree")) for key, c in mine.items()
            if key in several and key.instance.endswith("+areas,degree")]
    both = [(c.mean, areas.mean, degree.mean) for c, areas, degree in both
            if areas and degree and c.values and areas.values and degree.values]
    pairs = [ratio(c, max(areas, degree)) for c, areas, degree in both]
    bounds = [Bound("4: partitions out of balance where bin packing finds one", bad, 0, form="{}",
                    note=f"of {runs} runs"),
              Bound("4: km1 over METIS's on the clique expansion", metis, 0.83, note=f"{count} cases")]
    if pairs:
        # Whoever keeps both limits keeps each: the dearer of the two alone is the fair measure.
        over_areas = geometric_mean([ratio(c, areas) for c, areas, _ in both])
        bounds.append(Bound("4: km1 of areas + degree over the dearer of the two alone", geometric_mean(pairs), 1.25,
                            note=f"{len(pairs)} cases, the worst {max(pairs):.2f}; over areas alone {over_areas:.2f}"))
    return bounds + [b for b in soundness(cells, [preset], "4") if "out of balance" not in b.text]


def show_4(bench, cases, ours, peers, o):
    tool = next((t for t in ours if t.preset == "default"), ours[0])
    peers = [t for t in peers if t.several]
    weighted = []
    for case in cases:
        if case.name.endswith(".weight"):
            weighted.append(case)
            h = hg.Hypergraph(case.h.vertices, case.h.nets, case.h.net_weight, case.h.weights + [case.h.degrees()])
            weighted.append(Case(case.name + "+areas,degree", h, o.scratch))
            h = hg.Hypergraph(case.h.vertices, case.h.nets, case.h.net_weight, [case.h.degrees()])
            weighted.append(Case(case.name + "+degree", h, o.scratch))
        else:
            for names in WEIGHT_SETS:
                h = hg.Hypergraph(case.h.vertices, case.h.nets, case.h.net_weight,
                                  generated.weights(case.h, names.split(","), 1))
                weighted.append(Case(f"{case.name}+{names}", h, o.scratch))
    cells = bench.run("4", [(c, k, EPSILON, "km1", t) for c in weighted for k in o.blocks for t in [tool, *peers]],
                      o.seeds)
    bench.say("show 4: bin packing of every case")
    packed = {(c.name, k): hg.packs(c.h, k, EPSILON) for c in weighted for k in o.blocks}
    print(f"Show 4: several constraints, each within {EPSILON}; km1, means of {len(o.seeds)}; balanced runs.")
    names = [t.name for t in peers]
    rows = []
    for key, cell in cells.items():
        if key.label == tool.preset:
            row = [key.instance, key.k, "yes" if packed[key.instance, key.k] else "no", rounded(cell.mean), cell.seconds,
                   f"{cell.balanced}/{cell.runs}"]
            for name in names:
                other = cells[key._replace(label=name)]
                row += [rounded(other.mean), other.seconds, f"{other.balanced}/{other.runs}"]
            rows.append(row)
    table(["instance + weights", "k", "packs", tool.preset, "s", "balanced"]
          + [x for n in names for x in (n, "s", "balanced")], rows)
    print_sets(cells, tool.preset, names)
    bench.conclude(bounds_4(cells, tool.preset, packed))


def print_sets(cells, preset, names):
    """Ours over each peer's by set of weights, and over those cases alone where the peer is balanced."""
    rows = []
    for name in names:
        sets = sorted({key.instance.partition("+")[2] or "areas" for key in cells})
        for chosen in sets:
            some = {k: c for k, c in cells.items() if (k.instance.partition("+")[2] or "areas") == chosen}
            theirs = {k: c for k, c in some.items() if k.label == name}
            fair = {k: c for k, c in some.items()
                    if theirs[k._replace(label=name)].balanced == theirs[k._replace(label=name)].runs}
            value, seconds, count = compare(some, preset, name)
            rows.append([f"{chosen}: {preset} / {name}", rounded(value, 3), rounded(seconds, 2), count,
                         rounded(compare(fair, preset, name)[0], 3), compare(fair, preset, name)[2],
                         f"{sum(c.unbalanced for c in theirs.values())}/{sum(c.runs for c in theirs.values())}"])
    table(["ratio (geometric mean)", "km1", "time", "cases", "balanced only", "cases", "peer out of balance"], rows)

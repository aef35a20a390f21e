"""Hypergraphs for the benchmarks: files, and a count of a placement that shares no code with cleave.

A block may weigh (1 + epsilon) * ceil(W / k) in each constraint, compared in whole numbers.
"""
import bz2
import fractions
import gzip
import lzma
import pathlib

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class Bad(Exception):
    """A file that is not what it should be."""


class Hypergraph:
    """nets: lists of vertices from 0; net_weight: one a net; weights: one list of all vertices a constraint."""

    def __init__(self, vertices, nets, net_weight=None, weights=None):
        self.vertices = vertices
        self.nets = nets
        self.net_weight = net_weight or [1] * len(nets)
        self.weights = weights or [[1] * vertices]

    def degrees(self):
        """Nets that touch each vertex; a pin named twice is one."""
        degree = [0] * self.vertices
        for net in self.nets:
            for v in set(net):
                degree[v] += 1
        return degree


def read_hgr(path):
    """hMETIS's format: fmt none, 1 (nets weighted), 10 (vertices), 11; several weights a vertex."""
    with OPENERS.get(pathlib.Path(path).suffix, open)(path, "rt") as file:
        lines = [line for line in file if not line.startswith("%")]
    head = [int(x) for x in lines[0].split()]
    count, vertices, form = head[0], head[1], head[2] if len(head) > 2 else 0
    nets, net_weight = [], []
    for line in lines[1:count + 1]:
        numbers = [int(x) for x in line.split()]
        net_weight.append(numbers.pop(0) if form % 10 else 1)
        nets.append([p - 1 for p in numbers])
    if form < 10:
        return Hypergraph(vertices, nets, net_weight)
    rows = [[int(x) for x in line.split()] for line in lines[count + 1:count + 1 + vertices]]
    return Hypergraph(vertices, nets, net_weight, [list(column) for column in zip(*rows)])


def write_hgr(h, path):
    form = (1 if any(w != 1 for w in h.net_weight) else 0) + (
        10 if h.weights != [[1] * h.vertices] else 0)
    with open(path, "w") as out:
        out.write(f"{len(h.nets)} {h.vertices}{' %d' % form if form else ''}\n")
        for weight, net in zip(h.net_weight, h.nets):
            start = f"{weight} " if form % 10 else ""
            out.write(start + " ".join(str(p + 1) for p in net) + "\n")
        for row in zip(*h.weights) if form >= 10 else ():
            out.write(" ".join(map(str, row)) + "\n")


def write_patoh(h, path):
    """PaToH's own format: base, cells, nets, pins, scheme 3 (both weighted); the first weight alone,
    all on one line."""
    with open(path, "w") as out:
        out.write(f"1 {h.vertices} {len(h.nets)} {sum(map(len, h.nets))} 3\n")
        for weight, net in zip(h.net_weight, h.nets):
            out.write(f"{weight} " + " ".join(str(p + 1) for p in net) + "\n")
        out.write(" ".join(map(str, h.weights[0])) + "\n")


def read_blocks(path, vertices, k):
    """One block a vertex, from 0 to k - 1; Bad when the file says anything else."""
    try:
        blocks = [int(x) for x in pathlib.Path(path).read_text().split()]
    except (OSError, ValueError) as fault:
        raise Bad(f"no blocks: {fault}") from None
    if len(blocks) != vertices:
        raise Bad(f"{len(blocks)} blocks for {vertices} vertices")
    if blocks and not 0 <= min(blocks) <= max(blocks) < k:
        raise Bad(f"block {min(blocks)} or {max(blocks)} outside 0 to {k - 1}")
    return blocks


class Count:
    """What a placement costs and carries. load: one list of all blocks a constraint."""

    def __init__(self, h, blocks, k):
        self.k = k
        self.cut = self.km1 = 0
        for weight, net in zip(h.net_weight, h.nets):
            touched = len({blocks[v] for v in net})
            if touched > 1:
                self.cut += weight
                self.km1 += weight * (touched - 1)
        self.load = []
        for weights in h.weights:
            load = [0] * k
            for block, weight in zip(blocks, weights):
                load[block] += weight
            self.load.append(load)

    def value(self, objective):
        return self.cut if objective == "cut" else self.km1

    def imbalance(self):
        """The worst constraint's: heaviest block over the mean, less 1."""
        return max(max(load) * self.k / sum(load) - 1 if sum(load) else 0.0 for load in self.load)

    def balanced(self, epsilon):
        return all(max(load) <= limit(sum(load), self.k, epsilon) for load in self.load)


def limit(total, k, epsilon):
    """The most that a block may weigh; epsilon as text, "0.03"."""
    return (1 + fractions.Fraction(epsilon)) * -(-total // k)


def impossible(h, k, epsilon):
    """Whether some vertex alone weighs more than a block may."""
    return any(max(weights, default=0) > limit(sum(weights), k, epsilon) for weights in h.weights)


def packs(h, k, epsilon):
    """Whether plain vector bin packing places every vertex: the largest (by its worst constraint)
    first, into the first block with room; failing that, into the block that it leaves least full."""
    limits = [limit(sum(weights), k, epsilon) for weights in h.weights]
    floor = [int(x) for x in limits]
    sizes = list(zip(*h.weights))
    share = [max(w / m if m else 0 for w, m in zip(row, floor)) for row in sizes]
    order = sorted(range(h.vertices), key=lambda v: -share[v])
    return _first_fit(sizes, order, k, floor) or _least_full(sizes, order, k, floor)


def _first_fit(sizes, order, k, most):
    room = [list(most) for _ in range(k)]
    for v in order:
        size = sizes[v]
        for have in room:
            if all(w <= left for w, left in zip(size, have)):
                for c, w in enumerate(size):
                    have[c] -= w
                break
        else:
            return False
    return True


def _least_full(sizes, order, k, most):
    load = [[0] * len(most) for _ in range(k)]
    scale = [1 / m if m else 0.0 for m in most]
    for v in order:
        size = sizes[v]
        best, lowest = None, 2.0
        for have in load:
            full = max((a + w) * s for a, w, s in zip(have, size, scale))
            if full < lowest and all(a + w <= m for a, w, m in zip(have, size, most)):
                best, lowest = have, full
        if best is None:
            return False
        for c, w in enumerate(size):
            best[c] += w
    return True

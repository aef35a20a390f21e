#!/usr/bin/python3
"""Generated cases for bench/partition, from whole numbers alone: the same on every machine.

usage: bench/generate_hypergraph.py giant OUT.hgr [--cluster N] [--seed N]   (the planted answer: OUT.planted)
       bench/generate_hypergraph.py weights IN.hgr OUT.hgr NAMES [--seed N]  (unit,degree,skewed,random)

giant: four clusters of N vertices, A B C D, each held together by small nets. Ties lie between A and C
and between B and D, fewer between A and B and between C and D; but nets over a quarter of all vertices,
heavy ones, lie each inside A and B or inside C and D. Who overlooks these cuts the fewer ties, and all of
them. Vertices are numbered at random.
"""
import argparse
import sys

sys.dont_write_bytecode = True

import hypergraph as hg  # noqa: E402

SKEW_MOST = 1000
RANDOM_MOST = 100


class Numbers:
    """splitmix64 (Steele, Lea, Flood 2014)."""

    def __init__(self, seed):
        self.state = seed & (2**64 - 1)

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return ((z ^ (z >> 31)) * n) >> 64

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


def weights(h, names, seed):
    """One list a name. skewed: Pareto's law, P(w >= x) = 1 / x, up to 1000. random: 1 to 100, alike."""
    lists = []
    for name in names:
        r = Numbers(int.from_bytes(name.encode(), "big") + seed)
        if name == "unit":
            lists.append([1] * h.vertices)
        elif name == "degree":
            lists.append(h.degrees())
        elif name == "skewed":
            lists.append([min(SKEW_MOST, 2**32 // (1 + r.below(2**32))) for _ in range(h.vertices)])
        elif name == "random":
            lists.append([1 + r.below(RANDOM_MOST) for _ in range(h.vertices)])
        else:
            raise ValueError(f"no weights are called {name}")
    return lists


def giant(cluster, seed, few=60, many=100, giants=6, giant_weight=40):
    """Returns the hypergraph and its planted answer for k = 4 (blocks // 2: for k = 2)."""
    r = Numbers(seed)
    number = list(range(4 * cluster))
    r.shuffle(number)
    vertex = lambda c: number[c * cluster + r.below(cluster)]
    nets, net_weight = [], []
    for c in range(4):
        for i in range(cluster):  # each vertex in one at least: no cluster falls apart
            nets.append(sorted({number[c * cluster + i], *(vertex(c) for _ in range(1 + r.below(4)))}))
    for (a, b), count in {(0, 1): few, (2, 3): few, (0, 2): many, (1, 3): many}.items():
        nets += [[vertex(a), vertex(b)] for _ in range(count)]
    net_weight += [1] * len(nets)
    size = 2 * cluster * 4 // 5
    for half in (0, 1):
        members = number[2 * half * cluster:2 * (half + 1) * cluster]
        for _ in range(giants):
            r.shuffle(members)
            nets.append(members[:size])
            net_weight.append(giant_weight)
    blocks = [0] * (4 * cluster)
    for place, v in enumerate(number):
        blocks[v] = place // cluster
    return hg.Hypergraph(4 * cluster, nets, net_weight), blocks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    one = kinds.add_parser("giant")
    one.add_argument("out")
    one.add_argument("--cluster", type=int, default=32768)
    other = kinds.add_parser("weights")
    other.add_argument("input")
    other.add_argument("out")
    other.add_argument("names")
    for kind in (one, other):
        kind.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    if a.kind == "giant":
        h, blocks = giant(a.cluster, a.seed)
        with open(a.out.removesuffix(".hgr") + ".planted", "w") as out:
            out.writelines(f"{b}\n" for b in blocks)
    else:
        h = hg.read_hgr(a.input)
        h.weights = weights(h, a.names.split(","), a.seed)
    hg.write_hgr(h, a.out)


if __name__ == "__main__":
    main()

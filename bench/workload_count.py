"""Counts for bench/workload, in one pass over a .hgr file that is never held; no code of cleave's.

A placement is a list of bit masks, one a vertex: the blocks that hold a copy of it.
"""
import itertools

EXACT = 16  # blocks in question, as include/cleave/replicate.h has it


def read_masks(path):
    """A line a vertex: its block, or all blocks that hold a copy, with blanks between."""
    with open(path) as file:
        return [sum(1 << int(b) for b in line.split()) for line in file]


def greedy(masks):
    taken = 0
    while masks:
        blocks = max(m.bit_length() for m in masks)
        best = max(range(blocks), key=lambda b: (sum(m >> b & 1 for m in masks), -b))
        masks = [m for m in masks if not m >> best & 1]
        taken += 1
    return taken


def fewest(masks):
    """Fewest blocks that hold a copy of every pin."""
    forced = 0
    for m in masks:
        if m & (m - 1) == 0:
            forced |= m
    rest = {m for m in masks if not m & forced}
    base = forced.bit_count()
    if not rest:
        return base
    union = 0
    for m in rest:
        union |= m
    bits = [1 << b for b in range(union.bit_length()) if union >> b & 1]
    if len(bits) > EXACT:
        return base + greedy([m for m in masks if not m & forced])
    for size in range(1, len(bits) + 1):
        for chosen in itertools.combinations(bits, size):
            among = sum(chosen)
            if all(m & among for m in rest):
                return base + size
    raise AssertionError("unreachable")


class Count:
    """cut, km1, load[constraint][block] and total[constraint] of one placement."""

    def __init__(self, masks, blocks):
        self.masks, self.blocks = masks, blocks
        self.cut = self.km1 = 0
        self.load = self.total = None

    def value(self, objective):
        return self.cut if objective == "cut" else self.km1

    def imbalance(self):
        return [max(load) * self.blocks / total - 1 if total else 0.0
                for load, total in zip(self.load, self.total)]

    def past(self, epsilon):
        """Blocks over (1 + epsilon) * ceil(total / blocks), epsilon in percent."""
        return sum(weight * 100 > (100 + epsilon) * -(-total // self.blocks)
                   for load, total in zip(self.load, self.total) for weight in load)


class File:
    """Sizes of the file, and counts of any number of placements."""

    def __init__(self, path, *counts):
        with open(path) as file:
            head = [int(x) for x in file.readline().split()]
            self.nets, self.vertices, form = head[0], head[1], head[2] if len(head) > 2 else 0
            self.pins = self.net_weight = 0
            self.first = []  # the first weight of each vertex
            for _ in range(self.nets):
                numbers = [int(x) for x in file.readline().split()]
                weight = numbers.pop(0) if form % 10 else 1
                self.pins += len(numbers)
                self.net_weight += weight
                for count in counts:
                    masks = count.masks
                    needed = fewest([masks[p - 1] for p in numbers])
                    count.cut += weight if needed > 1 else 0
                    count.km1 += weight * (needed - 1)
            self.weigh(file, form, counts)

    def weigh(self, file, form, counts):
        for v in range(self.vertices):
            weights = [int(x) for x in file.readline().split()] if form >= 10 else [1]
            self.first.append(weights[0])
            for count in counts:
                if count.load is None:
                    count.load = [[0] * count.blocks for _ in weights]
                    count.total = [0] * len(weights)
                mask = count.masks[v]
                for c, weight in enumerate(weights):
                    count.total[c] += weight
                    for b in range(count.blocks):
                        if mask >> b & 1:
                            count.load[c][b] += weight

    def moved(self, before, after):
        """Share of the first weight that is elsewhere."""
        moved = sum(w for w, a, b in zip(self.first, before, after) if a != b)
        return moved / sum(self.first)


def self_test():
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".hgr") as file:
        file.write("3 4 11\n5 1 2\n2 2 3 4\n7 4 1\n10 1\n20 1\n30 1\n40 1\n")
        file.flush()
        plain, copied = Count([1, 2, 4, 1], 3), Count([1, 3, 4, 1], 3)
        h = File(file.name, plain, copied)
    problems = []

    def expect(what, seen, wanted):
        if seen != wanted:
            problems.append(f"{what}: {seen}, not {wanted}")

    expect("sizes", (h.nets, h.vertices, h.pins, h.net_weight, h.first), (3, 4, 7, 14, [10, 20, 30, 40]))
    expect("cut", plain.cut, 7)
    expect("km1", plain.km1, 5 + 2 * 2)
    expect("copied", (copied.cut, copied.km1), (2, 2))
    expect("load", plain.load, [[50, 20, 30], [2, 1, 1]])
    expect("balanced", (plain.past(50), plain.past(46)), (0, 1))
    expect("moved", h.moved([1, 2, 4, 1], [1, 1, 4, 1]), 0.2)
    expect("cover", [fewest(x) for x in ([1, 2], [3, 6], [3, 6, 5], [3, 12], [1, 6, 12], [7])],
           [2, 1, 2, 2, 2, 1])
    wide = [(1 << 20) - 1 & ~(1 << b) for b in range(20)]
    expect("greedy", fewest(wide), 2)
    return problems

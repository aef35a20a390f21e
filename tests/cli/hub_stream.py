#!/usr/bin/python3
"""The hub stream: a graph of 10,000 users whose 8 targets are 2 hubs (users 1 to 100) and 6 others, as
graph-shard-lab draws it from seed 42 (Rust's rand 0.8.5: StdRng::seed_from_u64 and gen_range), and the
reads of a two-hop query from every user in turn: the targets in order. Each other user is asked for 6 or
so times, each hub 200 times.

usage: hub_stream.py EDGES READS      writes `source target` lines, and a target a line
"""
import sys

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1
QUARTERS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
            (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def rotate(value, by):
    return (value << by | value >> (32 - by)) & MASK32


def chacha12(key, counter):
    start = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, *key, counter & MASK32, counter >> 32, 0, 0]
    x = start[:]
    for _ in range(6):
        for a, b, c, d in QUARTERS:
            for into, other, turned, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[into] = (x[into] + x[other]) & MASK32
                x[turned] = rotate(x[turned] ^ x[into], by)
    return [(a + b) & MASK32 for a, b in zip(x, start)]


def expand(seed):
    """The 64-bit seed as 8 words, by PCG32."""
    words = []
    for _ in range(8):
        seed = (seed * 6364136223846793005 + 11634580027462260723) & MASK64
        mixed = ((seed >> 18 ^ seed) >> 27) & MASK32
        words.append(rotate(mixed, (32 - (seed >> 59)) % 32))
    return words


def numbers(seed):
    key, counter = expand(seed), 0
    while True:
        block = chacha12(key, counter)
        for low, high in zip(block[::2], block[1::2]):
            yield high << 32 | low
        counter += 1


def between(source, low, high):
    size = high - low + 1
    zone = (size << (64 - size.bit_length())) - 1
    while True:
        product = next(source) * size
        if product & MASK64 <= zone:
            return low + (product >> 64)


def main():
    users, hubs, degree, to_hubs = 10000, 100, 8, 2
    source = numbers(42)
    with open(sys.argv[1], "w") as edges, open(sys.argv[2], "w") as reads:
        for user in range(1, users + 1):
            targets = set()
            while len(targets) < degree:
                low, high = (1, hubs) if len(targets) < to_hubs else (hubs + 1, users)
                target = between(source, low, high)
                if target != user:
                    targets.add(target)
            for target in sorted(targets):
                edges.write(f"{user} {target}\n")
                reads.write(f"{target}\n")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""foresight.py on a graph of which the copies were counted by hand, and its rule
that knows all of the one memory's future against the optimum. Prints TAP.

usage: test-foresight.py
"""
import io
import random
import sys

sys.dont_write_bytecode = True
import foresight   # pylint: disable=wrong-import-position

HEAD = """orrery-graph 1
machine "a GPU"
run simulated 100
node "NUMA 0" inf
node "CUDA 0" {room}
worker "CPU 0" 0
worker "CUDA 0.0" 1
kind "k" 0 0 3 1 0
"""
SIZE = 100


def graph(ndata, room, tasks):
    """Tasks are (worker, [datum, mode …], [numbers of tasks before it]); the n-th
    one runs from n to n + 1."""
    text = HEAD.format(room=room * SIZE)
    text += f"datum 0 valued {SIZE}\n" * ndata
    for number, (worker, uses, before) in enumerate(tasks, 1):
        text += f"task 0 {number} 0 ran {worker} {number} {number + 1}\n"
        text += "".join(f"after {task} {SIZE}\n" for task in before)
        text += "".join(f"uses {datum} {mode}\n" for datum, mode in uses)
    return foresight.Recorded(io.StringIO(text + "end\n"))


# The GPU, with room for two, reads 0 and 1, then 2, of which something must go.
# Per case its tasks, and the copies that the rules make, in their order.
BY_HAND = [
    # 1 and 0 again: 1 is not ready when 2 comes, 2 is used no more, 0 twice.
    ([(1, [(1, "r")], []), (1, [(0, "r")], []), (1, [(2, "r")], []),
      (0, [(3, "rw")], []), (1, [(1, "r")], [4]), (1, [(0, "r")], []),
      (1, [(0, "rw")], [])], [5, 4, 4, 4, 4]),
    # 0, 2 and 1 again: 0 is the oldest, and the one that is ready.
    ([(1, [(0, "r")], []), (1, [(1, "r")], []), (1, [(2, "r")], []),
      (1, [(0, "r")], []), (1, [(2, "r")], []), (1, [(1, "r")], [5])],
     [5, 5, 5, 4, 4]),
]


def counts_as_by_hand():
    for tasks, expected in BY_HAND:
        recorded = graph(4, 2, tasks)
        found = [foresight.loads(recorded, 1, rule)
                 for rule in foresight.RULES.values()]
        if found != expected:
            return f"{found} copies instead of {expected}"
    return None


def forgets_what_is_written_elsewhere():
    recorded = graph(1, 2, [(1, [(0, "r")], []), (0, [(0, "rw")], []),
                            (1, [(0, "r")], [])])
    for name, rule in foresight.RULES.items():
        if foresight.loads(recorded, 1, rule) != 2:
            return name
    return None


def knows_the_future_of_one_memory():
    """Tasks of the GPU alone that read: all uses are there, and their order is
    what the optimum needs."""
    rng = random.Random(31)
    for _ in range(300):
        ndata, room = rng.randint(2, 6), rng.randint(1, 4)
        tasks = [(1, [(d, "r") for d in rng.sample(
            range(ndata), rng.randint(1, min(room, ndata)))], [])
                 for _ in range(rng.randint(1, 20))]
        recorded = graph(ndata, room, tasks)
        least = recorded.optima()["CUDA 0"]
        for name, rule in foresight.RULES.items():
            found = foresight.loads(recorded, 1, rule)
            if found < least or (rule is foresight.by_next_use and
                                 found != least):
                return f"{name}: {found}, optimum {least}: {tasks}"
    return None


def main():
    claims = [counts_as_by_hand, forgets_what_is_written_elsewhere,
              knows_the_future_of_one_memory]
    failed = 0
    print(f"1..{len(claims)}")
    for n, claim in enumerate(claims, 1):
        wrong = claim()
        failed += wrong is not None
        print(f"{'not ok' if wrong else 'ok'} {n} - "
              f"{claim.__name__.replace('_', ' ')}")
        if wrong:
            print(f"# {wrong}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""belady.py counts as few loads as trying everything: small random cases with
tasks of several data, tasks elsewhere that write, values that tasks overwrite.
Prints TAP.

usage: test-belady.py
"""
import io
import itertools
import random
import sys

sys.dont_write_bytecode = True
import belady   # pylint: disable=wrong-import-position
from belady import Outdate, Use   # pylint: disable=wrong-import-position

CASES = 1500
SEED = 1966


def subsets(data, most):
    for n in range(min(most, len(data)) + 1):
        yield from map(frozenset, itertools.combinations(sorted(data), n))


def exhaustive(steps, capacity):
    """The least number of loads when before each step anything may be loaded or
    thrown out. A state is the set of data whose values are here."""
    everything = {use.datum for step in steps if not isinstance(step, Outdate)
                  for use in step}
    states = list(subsets(everything, capacity))
    cost = {frozenset(): 0}
    for step in steps:
        following = {}
        if isinstance(step, Outdate):
            for state, loads in cost.items():
                left = state - {step.datum}
                following[left] = min(loads, following.get(left, loads))
        else:
            needed = {use.datum for use in step}
            made = {datum for datum in needed
                    if not any(u.reads for u in step if u.datum == datum)}
            for state in states:
                if not needed <= state:
                    continue
                following[state] = min(
                    loads + len(state - before - made)
                    for before, loads in cost.items())
        cost = following
    return min(cost.values())


def random_case(rng):
    ndata = rng.randint(2, 5)
    capacity = rng.randint(1, 4)
    steps = []
    for _ in range(rng.randint(1, 9)):
        if rng.random() < 0.2:
            steps.append(Outdate(rng.randrange(ndata)))
            continue
        n = rng.randint(1, min(3, capacity, ndata))
        step = []
        for datum in rng.sample(range(ndata), n):
            reads = rng.random() < 0.8
            step.append(Use(datum, reads, not reads or rng.random() < 0.5))
        if rng.random() < 0.1:
            step.append(Use(step[0].datum, True, False))    # in two buffers
        steps.append(step)
    return steps, capacity


def agrees_with_trying_everything():
    rng = random.Random(SEED)
    for _ in range(CASES):
        steps, capacity = random_case(rng)
        least = exhaustive(steps, capacity)
        found = belady.fewest_loads(steps, capacity)
        if found != least:
            return f"{found} instead of {least} loads, capacity {capacity}: " \
                   f"{steps}"
    return None


def read(*data):
    return [Use(datum, True, False) for datum in data]


def counts_the_textbook_case():
    steps = [read(d) for d in (7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0,
                               1, 7, 0, 1)]
    found = belady.fewest_loads(steps, 3)
    return None if found == 9 else f"{found} loads instead of 9"


def refuses_tasks_larger_than_memory():
    try:
        belady.fewest_loads([read(0, 1, 2)], 2)
    except ValueError:
        return None
    return "was accepted"


GRAPH = """orrery-graph 1
machine "two GPUs"
run simulated 5
node "NUMA 0" inf
node "CUDA 0" 250
node "CUDA 1" 250
worker "CPU 0" 0
worker "CUDA 0.0 (one of two)" 1
worker "CUDA 1.0" 2
kind "k" 0 0 3 1 0
datum 0 valued 100 "a"
datum 0 valued 100
datum 0 valued 100
task 0 1 0 ran 1 0 1
uses 0 r
uses 1 rw
task 0 2 0 ran 2 2 3
uses 1 rw
task 0 3 0 tag 2a ran 1 1 2
after 0 100
uses 0 r
uses 2 r
task 0 4 0 ran 1 3 4
uses 0 r
uses 1 r
task 0 5 0
uses 2 r
end
"""


def reads_a_graph():
    """CUDA 0 runs tasks 1, 3, 4 and holds two data: 0 and 1, then 2 for 1, then
    1 again, for CUDA 1 has written it."""
    found = belady.Graph(io.StringIO(GRAPH)).optima()
    if found == {"CUDA 0": 4, "CUDA 1": 1}:
        return None
    return f"{found}"


def main():
    claims = [counts_the_textbook_case, agrees_with_trying_everything,
              refuses_tasks_larger_than_memory, reads_a_graph]
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

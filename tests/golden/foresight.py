#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What knowledge of the future would save: the copies into each memory of a
recorded run under rules of eviction that know more or less of what comes, for the
tasks that ran there, in their order, over the fewest possible.

usage: foresight.py GRAPH

GRAPH is a file of ORRERY_GRAPH (docs/GRAPH.md) whose data have one size. Prints a
line per rule: its name, loads per memory, and their ratios to the optimum
(belady.py). Uses that rules know are those by any worker: of those that will be
on the memory only the optimum knows.
"""
import bisect
import math
import sys
from typing import NamedTuple

sys.dont_write_bytecode = True
import belady   # pylint: disable=wrong-import-position


class Use(NamedTuple):
    """A use of a datum, at the task of that rank in the order of starts."""
    rank: int
    ready: float    # when its task became ready
    writes: bool


class Recorded(belady.Graph):
    """A graph of tasks with what rules may know of them."""

    def __init__(self, file):
        self._ends, self._ids, self._before = {}, [], {}
        super().__init__(file)
        ready = [max((self._ends.get(i, 0) for i in self._before.get(id_, [])),
                     default=0) for id_ in self._ids]
        order = sorted(range(len(self.tasks)), key=lambda i: self.tasks[i][0])
        self.order = [self.tasks[i] for i in order]
        self._uses_of = {}
        for rank, i in enumerate(order):
            for datum, writes in written(self.tasks[i][2]).items():
                self._uses_of.setdefault(datum, []).append(
                    Use(rank, ready[i], writes))
        self._ranks_of = {datum: [use.rank for use in uses]
                          for datum, uses in self._uses_of.items()}

    def _line(self, words):
        super()._line(words)
        if words and words[0] == "task":
            self._last = int(words[2])
            if "ran" in words and words[words.index("ran") + 1] != "-":
                self._ids.append(self._last)
                self._ends[self._last] = float(words[words.index("ran") + 3])
        elif words and words[0] == "after":
            self._before.setdefault(self._last, []).append(int(words[1]))

    def left(self, datum, rank):
        """The uses of the datum after that task, in their order."""
        passed = bisect.bisect_right(self._ranks_of[datum], rank)
        return self._uses_of[datum][passed:]


def written(uses):
    """Per datum of a task, whether it writes it."""
    result = {}
    for use in uses:
        result[use.datum] = result.get(use.datum, False) or use.writes
    return result


# --- rules: the larger, the sooner it leaves. `used` is the rank of its last use
# in the memory, `left` its uses to come, `rank` and `now` are the present. ---

def by_age(used, left, rank, now):
    del left, rank, now
    return -used


def by_age_unless_dead(used, left, rank, now):
    del rank, now
    return (not left, -used)


def by_rate(used, left, rank, now):
    """Of n uses until it is written, in an order that nobody knows, the first
    comes n times sooner than one would."""
    del now
    n = next((i for i, use in enumerate(left, 1) if use.writes), len(left))
    return (rank - used + 1) / n if n else math.inf


def by_ready(used, left, rank, now):
    """The tasks that are ready start in the order that is known here."""
    del rank
    first = next((use.rank for use in left if use.ready <= now), None)
    return (not left, first is None, first if first is not None else -used)


def by_next_use(used, left, rank, now):
    del used, rank, now
    return left[0].rank if left else math.inf


RULES = {"age": by_age, "age, what has no use left first": by_age_unless_dead,
         "age over the number of uses until it is written": by_rate,
         "the order of all uses by tasks that are ready": by_ready,
         "the order of all uses": by_next_use}


def loads(recorded, node, rule):
    """The copies into the memory under the rule."""
    room, resident, count = recorded.room(node), {}, 0
    for rank, (now, where, uses) in enumerate(recorded.order):
        if where != node:
            for datum in (d for d, writes in written(uses).items() if writes):
                resident.pop(datum, None)
            continue
        needed = {use.datum for use in uses}
        count += sum(any(use.reads for use in uses if use.datum == datum)
                     for datum in needed if datum not in resident)
        resident.update((datum, rank) for datum in needed)
        while len(resident) > room:
            del resident[max(
                (d for d in resident if d not in needed),
                key=lambda d: rule(resident[d], recorded.left(d, rank), rank,
                                   now))]
    return count


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        recorded = Recorded(file)
    optima = recorded.optima()
    nodes = [recorded.names.index(name) for name in optima]
    least = list(optima.values())
    table = {"optimum": least}
    for name, rule in RULES.items():
        table[name] = [loads(recorded, node, rule) for node in nodes]
    for name, counts in table.items():
        ratios = " ".join(f"x{count / max(best, 1):.2f}"
                          for count, best in zip(counts, least))
        print(f"{name}: {' '.join(map(str, counts))} ({ratios})", flush=True)


if __name__ == "__main__":
    main()

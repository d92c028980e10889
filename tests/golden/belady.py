# SPDX-License-Identifier: LGPL-2.1-or-later
"""How few copies into a memory would have been enough for the tasks that ran
there, in the order in which they ran: Belady's rule, out goes what is used
again latest. A task needs all of its data at once.

The rule is optimal for data of one size (L. A. Belady, IBM Systems Journal
5(2), 1966); others are refused. What a run had in memory for the next task
while one computed is not asked for, so the figure is a lower bound for it.
"""
import heapq
import math
import shlex
from typing import NamedTuple


class Use(NamedTuple):
    datum: int
    reads: bool
    writes: bool


class Outdate(NamedTuple):
    """A task elsewhere writes the datum: the value here is no use any more."""
    datum: int


def pages_of(steps):
    """Turns steps, each a list of Use or one Outdate, into lists of pages, which are
    numbers: a page is a datum from one loss of its value to the next. What has been
    outdated or is overwritten without being read becomes another page: keeping the old
    value would save nothing. Beside it: of each page whether its first use is a read;
    else a task here makes the value."""
    present, result, loaded = {}, [], []
    for step in steps:
        if isinstance(step, Outdate):
            present.pop(step.datum, None)
            continue
        reads = {}
        for use in step:
            reads[use.datum] = use.reads or reads.get(use.datum, False)
        needed = []
        for datum, read in reads.items():
            page = present.get(datum)
            if page is None or not read:
                page = present[datum] = len(loaded)
                loaded.append(read)
            needed.append(page)
        result.append(needed)
    return result, loaded


def next_uses(needed):
    """Per step and page of it, the step that uses the page next, or inf."""
    following, result = {}, []
    for i in range(len(needed) - 1, -1, -1):
        result.append([following.get(page, math.inf) for page in needed[i]])
        for page in needed[i]:
            following[page] = i
    return result[::-1]


def fewest_loads(steps, capacity):
    """The least number of loads that serves the steps in their order, with room
    for `capacity` data. ValueError: a step needs more than that."""
    needed, loaded = pages_of(steps)
    resident = {}           # page: the step that uses it next
    latest = []             # heap of (-next use, page), some of them stale
    loads = 0
    for i, (pages, following) in enumerate(zip(needed, next_uses(needed))):
        if len(pages) > capacity:
            raise ValueError(f"step {i} needs {len(pages)} data at once, "
                             f"memory holds {capacity}")
        for page, use in zip(pages, following):
            if page not in resident:
                loads += loaded[page]
                loaded[page] = True     # when it comes here again
            resident[page] = use
        # What this step needs is pushed afterwards, so it is not thrown out.
        while len(resident) > capacity:
            use, page = heapq.heappop(latest)
            if resident.get(page) == -use:
                del resident[page]
        for page, use in zip(pages, following):
            heapq.heappush(latest, (-use, page))
    return loads


class Graph:
    """What belady needs of a graph of tasks (docs/GRAPH.md)."""

    def __init__(self, file):
        self.capacities, self.names = [], []   # per node
        self.nodes = []                        # of workers
        self.sizes = []                        # bytes of data
        self.tasks = []                        # (start, node, [Use])
        for line in file:
            self._line(line.split())

    def _line(self, words):
        kind = words[0] if words else ""
        if kind == "node":
            words = shlex.split(" ".join(words))
            self.names.append(words[1])
            self.capacities.append(float(words[2]))
        elif kind == "worker":
            self.nodes.append(int(shlex.split(" ".join(words))[2]))
        elif kind == "datum":
            self.sizes.append(float(words[3]))
        elif kind == "task":
            uses = []
            ran = words[words.index("ran") + 1:] if "ran" in words else "-"
            if ran[0] != "-":
                self.tasks.append((float(ran[1]), self.nodes[int(ran[0])],
                                   uses))
            self._uses = uses
        elif kind == "uses":
            self._uses.append(Use(int(words[1]), "r" in words[2],
                                  "w" in words[2]))

    def steps(self, node):
        """What happens to the memory of the node, in the order in which kernels
        began."""
        result = []
        for _, where, uses in sorted(self.tasks, key=lambda task: task[0]):
            if where == node:
                result.append(uses)
            else:
                result.extend([Outdate(use.datum) for use in uses if use.writes])
        return result

    def room(self, node):
        """How many data the node holds."""
        sizes = {self.sizes[use.datum] for _, _, uses in self.tasks
                 for use in uses}
        if len(sizes) != 1:
            raise ValueError(f"data of {len(sizes)} sizes")
        return self.capacities[node] // sizes.pop()

    def optima(self):
        """Per node with a limit: its name and the least number of loads."""
        return {name: fewest_loads(self.steps(node), self.room(node))
                for node, name in enumerate(self.names)
                if self.capacities[node] < math.inf}

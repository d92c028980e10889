# SPDX-License-Identifier: LGPL-2.1-or-later
"""Graphs of tasks: those of a record, or made here, which become one."""

import html
import math
import os
import tempfile
from numbers import Integral, Real

from ._command import Error, run
from ._drawing import html_of
from ._machine import as_machine, assumed

_KINDS = ("cpu", "cuda", "opencl", "hip")


def record(program, path, machine=None, assume=None):
    """Runs a program, a list of words, here or on a simulated machine, and keeps its
    calls in a file: a Graph."""
    if isinstance(program, str):
        raise Error("record: the program must be a list of words, "
                    f"[{program!r}]")
    words = as_machine(machine).words() if machine is not None else []
    run("record", "-o", path, *words, *assumed(assume), "--", *program)
    return Graph.from_record(path)


def _quote(text):
    """A text as records have it."""
    parts = []
    for char in str(text):
        if char in '"\\':
            parts.append("\\" + char)
        elif char < " ":
            parts.append(f"\\x{ord(char):02x}")
        else:
            parts.append(char)
    return '"' + "".join(parts) + '"'


def _number(value):
    return "nan" if math.isnan(value) else repr(float(value))


def _bytes_between(source, node, target, size):
    """Those of an edge of networkx; of all, where there may be several."""
    edges = source.get_edge_data(node, target)
    several = edges.values() if source.is_multigraph() else [edges]
    return sum(edge.get(size) or 0 for edge in several)


def _check_times(times):
    for kind, us in times.items():
        if kind not in _KINDS:
            raise Error(f"add_task: {kind!r} is no type of devices: use "
                        f"{', '.join(_KINDS)}")
        if isinstance(us, bool) or not isinstance(us, Real) \
                or not 0 <= us < math.inf:
            raise Error(f"add_task: times={times!r}: use µs, a number from 0")


class _Task:
    """What add_task was given."""

    def __init__(self, kernel, uses, after, options):
        self.kernel = kernel
        self.uses = uses
        self.after = after
        self.options = options
        self.kept = False


class Graph:
    """A graph of tasks: Graph.from_record(path), Graph.from_networkx(graph), or

        graph = orrery.Graph()
        a = graph.add_data(8 << 20, name="A")
        first = graph.add_task("scale", writes=[a], times={"cpu": 900, "cuda": 20})
        graph.add_task("sum", reads=[a], after=[first], model="my_sum")

    Tasks depend on each other by their data, in the order in which they are added,
    and by `after`.
    """

    def __init__(self):
        self._path = None
        self._folder = None
        self._data = []
        self._tasks = []

    @classmethod
    def from_record(cls, path):
        """The calls of a program that `orrery record` has kept."""
        try:
            path = os.path.abspath(os.fspath(path))
        except TypeError:
            raise Error(f"{path!r} is no graph: use an orrery.Graph, or the path "
                        "of a record") from None
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                first = file.readline()
        except OSError as error:
            raise Error(f"from_record: {path}: {error.strerror}") from error
        if not first.startswith("orrery-record "):
            raise Error(f"from_record: {path} is no record: `orrery record -o "
                        "FILE -- PROGRAM` makes one")
        graph = cls()
        graph._path = path
        return graph

    @classmethod
    def from_networkx(cls, source, kernel="kernel", times="times",
                      size="bytes"):
        """A directed graph of networkx: a node is a task, whose attributes name its
        kernel and have its times (µs, by type of device); an edge is what the
        one makes for the other, as many bytes as its attribute says, or without a
        dependency alone."""
        graph = cls()
        if not source.is_directed():
            raise Error("from_networkx: the graph must be a directed one")
        try:
            import networkx

            order = list(networkx.lexicographical_topological_sort(
                source, key=str))
        except networkx.NetworkXUnfeasible as error:
            raise Error("from_networkx: the graph has a cycle") from error
        numbers, made = {}, {}
        for node in order:
            attributes = source.nodes[node]
            reads, after = [], []
            for before in source.predecessors(node):
                if (before, node) in made:
                    reads.append(made[before, node])
                else:
                    after.append(numbers[before])
            writes = []
            for target in source.successors(node):
                nbytes = _bytes_between(source, node, target, size)
                if nbytes:
                    made[node, target] = graph.add_data(int(nbytes))
                    writes.append(made[node, target])
            numbers[node] = graph.add_task(
                str(attributes.get(kernel, "task")), reads=reads,
                makes=writes, after=after, times=attributes.get(times),
                name=str(node))
        return graph

    def _changeable(self):
        if self._path:
            raise Error("a graph from a record cannot be changed: make another "
                        "one, orrery.Graph()")

    def add_data(self, size=None, shape=None, itemsize=8, name=None):
        """A datum of so many bytes, or an array of up to four dimensions, the one
        with the closest neighbours first. Returns its number."""
        self._changeable()
        if (size is None) == (shape is None):
            raise Error("add_data: give size= or shape=")
        if size is not None:
            layout = ("variable", [size])
        else:
            shape = [int(n) for n in shape]
            if not 1 <= len(shape) <= 4:
                raise Error(f"add_data: {len(shape)} dimensions: use 1 to 4")
            strides = [math.prod(shape[:i]) for i in range(1, len(shape))]
            layout = {
                1: ("vector", [*shape, itemsize, itemsize * shape[0], 0]),
                2: ("matrix", [*shape, *strides, itemsize,
                               itemsize * math.prod(shape)]),
                3: ("block", [*shape, *strides, itemsize]),
                4: ("tensor", [*shape, *strides, itemsize]),
            }[len(shape)]
        if any(not isinstance(n, int) or n < 0 for n in layout[1]):
            raise Error(f"add_data: {layout[1]}: lengths must be ints from 0")
        self._data.append((*layout, name))
        return len(self._data)

    def add_task(self, kernel, reads=(), writes=(), makes=(), after=(),
                 times=None, model=None, devices=None, footprint=None,
                 priority=0, flops=0, name=None):
        """A task. It reads, changes (writes) and makes (without reading it) data.
        Its time is that of the performance model of a symbol, or given, in µs by
        type of device: {"cpu": 900, "cuda": 20}; without either simulations need
        assume=. Only such devices run it that times has, or `devices`, as ["cpu"].
        Returns its number."""
        self._changeable()
        uses = {}
        for numbers, letters in ((reads, "r"), (writes, "rw"), (makes, "w")):
            for number in numbers:
                if not isinstance(number, int) or \
                        not 1 <= number <= len(self._data):
                    raise Error(f"add_task: there is no datum {number!r}: use "
                                "what add_data returned")
                uses[number] = "".join(sorted(set(uses.get(number, "")
                                                  + letters)))
        for number in after:
            if not isinstance(number, int) or \
                    not 1 <= number <= len(self._tasks):
                raise Error(f"add_task: there is no task {number!r} before this "
                            "one: use what add_task returned")
        _check_times(times or {})
        if isinstance(priority, bool) or \
                not isinstance(priority, Integral) or \
                not -2 ** 31 <= priority < 2 ** 31:
            raise Error(f"add_task: priority={priority!r}: use an int of 32 "
                        "bits")
        devices = tuple(sorted(devices or times or _KINDS))
        for kind in devices:
            if kind not in _KINDS:
                raise Error(f"add_task: {kind!r} is no type of devices: use "
                            f"{', '.join(_KINDS)}")
        if times and model:
            raise Error("add_task: give times= or model=")
        for number in after:
            self._tasks[number - 1].kept = True
        self._tasks.append(_Task(kernel, uses, list(after), {
            "times": times, "model": model, "devices": devices,
            "footprint": footprint,
            "priority": priority, "flops": flops, "name": name}))
        return len(self._tasks)

    def __len__(self):
        return len(self._tasks)

    def __repr__(self):
        if self._path:
            return f"orrery.Graph.from_record({self._path!r})"
        return f"<orrery.Graph of {len(self._tasks)} tasks>"

    def _repr_html_(self):
        """Its tasks and what they wait for, drawn by Graphviz where they are few, and
        how many each kernel has."""
        if self._path or self._tasks:
            return html_of(self.path())
        return html.escape(repr(self))

    # --- as a record ---

    def _lines(self):
        yield "run"
        for number, (kind, shape, name) in enumerate(self._data, 1):
            lengths = ",".join(map(str, shape))
            yield f'data {number} kind="{kind}" shape={lengths}'
            if name is not None:
                yield f"name {number} name={_quote(name)}"
        codelets = {}
        for number, task in enumerate(self._tasks, 1):
            yield from self._codelet_of(task, codelets)
            if task.after:
                before = ",".join(map(str, task.after))
                yield f"depend {number} before={before}"
            yield self._submission(number, task, codelets)
        yield "wait-all"
        for number in range(1, len(self._data) + 1):
            yield f"unregister {number}"

    @staticmethod
    def _key(task):
        options = task.options
        return (task.kernel, options["model"], options["times"] is not None,
                options["devices"], options["footprint"] is not None)

    def _codelet_of(self, task, codelets):
        key = self._key(task)
        if key in codelets:
            return
        codelets[key] = number = len(codelets) + 1
        kernel, model, times, devices, marked = key
        functions = " ".join(f"{kind}=1" for kind in devices)
        if model:
            yield (f'model {number} kind="history" symbol={_quote(model)} '
                   f"flags={1 if marked else 0}")
        elif times:
            yield (f'model {number} kind="per-arch" symbol={_quote(kernel)} '
                   "flags=4")
        yield (f"codelet {number} name={_quote(kernel)} {functions} buffers=-1"
               + (f" model={number}" if model or times else ""))

    def _submission(self, number, task, codelets):
        options = task.options
        words = [f"submit {number} codelet={codelets[self._key(task)]}"]
        if task.uses:
            words.append("data=" + ",".join(
                f"{datum}:{letters}" for datum, letters in task.uses.items()))
        if options["times"]:
            words.append("times=" + ",".join(
                _number(options["times"].get(kind, math.nan))
                for kind in _KINDS))
        if options["footprint"] is not None:
            words.append(f"footprint={options['footprint']:x}")
        if options["priority"]:
            words.append(f"priority={int(options['priority'])}")
        if options["flops"]:
            words.append(f"flops={float(options['flops'])!r}")
        if options["name"] is not None:
            words.append(f"name={_quote(options['name'])}")
        if task.kept:
            words.append("kept=1")
        return " ".join(words)

    def save(self, path):
        """Writes the graph as a record, for `orrery replay` and others."""
        if self._path:
            with open(self._path, "rb") as source, open(path, "wb") as target:
                target.write(source.read())
            return
        lines = list(self._lines())
        text = "\n".join(["orrery-record 1", *lines,
                          f"end value={len(lines)}"])
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def path(self):
        """A file with the record: its own, or a temporary one that lives as long as
        the graph is not changed."""
        if self._path:
            return self._path
        if not self._tasks:
            raise Error("the graph has no tasks: add_task makes one")
        size = (len(self._data), len(self._tasks))
        if self._folder is None or self._folder[1] != size:
            # The former one is kept by those who use it still.
            folder = tempfile.TemporaryDirectory(prefix="orrery-")
            self.save(os.path.join(folder.name, "graph.rec"))
            self._folder = (folder, size)
        return os.path.join(self._folder[0].name, "graph.rec")

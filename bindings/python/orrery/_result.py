# SPDX-License-Identifier: LGPL-2.1-or-later
"""What studies return: plain attributes, tables for notebooks, frames of pandas
where that is installed."""

import html
import json
import math
import re

from ._command import Error


def frame_of(rows):
    try:
        import pandas
    except ImportError as missing:
        raise Error("there is no pandas: install python3-pandas") from missing
    return pandas.DataFrame(rows)


def table_of(rows, columns):
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(
            f"<td>{html.escape(_cell(row.get(column)))}</td>"
            for column in columns) + "</tr>"
        for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value):
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# --- one simulation ---

_NARROW = 0.2  # pixels
_NAMED = 8  # kernels below a picture


# Those of all pictures (tools/common/colours.c), which differ in lightness, too.
_COLOURS = ("#25568a", "#f49b41", "#45854a", "#470f11", "#b08fd0", "#583d30", "#eeb3cb",
            "#656565", "#34350e", "#2097a8")


def _ticks(span, most=8):
    """Round values from 0 to the span, `most` of them or fewer."""
    if not span > 0:
        return [0.0]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * round_one for round_one in (1, 2, 5, 10)
                if power * round_one >= span / most)
    return [step * i for i in range(int(span / step + 1e-9) + 1)]


_NAME = re.compile(r'(?:worker|kind) (?:"((?:[^"\\]|\\.)*)"|(\S+))')
_ESCAPED = re.compile(r"\\(x[0-9a-f]{2}|.)")
_TASK = re.compile(r"task (\d+) (\d+) (-?\d+)(?: tag \S+)?"
                   r"(?: ran (\d+) (\S+) (\S+))?")


def _unescape(match):
    what = match[1]
    return chr(int(what[1:], 16)) if len(what) == 3 else what


def _name_of(line):
    quoted, plain = _NAME.match(line).groups()
    return plain or _ESCAPED.sub(_unescape, quoted)


def read_graph(path):
    """The workers and tasks of a graph file (docs/GRAPH.md)."""
    workers, kernels, tasks = [], [], []
    with open(path, encoding="utf-8") as file:
        # Most lines are of edges and of data.
        lines = [line for line in file if line[:5] in
                 ("worke", "kind ", "task ")]
    for line in lines:
        if line[0] == "w":
            workers.append(_name_of(line))
        elif line[0] == "k":
            kernels.append(_name_of(line))
        else:
            kind, job, priority, worker, start, end = \
                _TASK.match(line).groups()
            ran = worker is not None
            tasks.append({
                "task": int(job), "kernel": kernels[int(kind)],
                "priority": int(priority),
                "worker": workers[int(worker)] if ran else None,
                "start_us": float(start) * 1e3 if ran else None,
                "end_us": float(end) * 1e3 if ran else None,
            })
    return workers, tasks


def read_report(path):
    """The report of a run."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return json.load(file)


class Run:
    """A simulation. Times are µs of virtual time.

    makespan_us, transfers, transferred_bytes, evictions; tasks: a dict for each
    task (task, kernel, priority, worker, start_us, end_us) in the order of
    submission; workers: a dict for each; links: a dict for each direction
    between two memories that was used (from, to, count, bytes, total_us);
    kernels: a dict for each kernel, architecture and size (count, mean_us …);
    seed: the one that was given; report: all that the run says.
    """

    def __init__(self, machine, scheduler, report, workers, tasks, seed=None):
        self.machine = machine
        self.scheduler = scheduler
        self.report = report
        self.makespan_us = report["makespan_us"]
        self.transfers = report["transfers"]
        self.transferred_bytes = report["transferred_bytes"]
        self.evictions = report["evictions"]
        self.workers = report["workers"]
        self.links = report["links"]
        self.kernels = report["kernels"]
        self.tasks = tasks
        self.seed = seed
        self.graph = None  # its name, where several were compared
        self._names = workers

    def _rows(self, what):
        if what not in ("tasks", "workers", "links", "kernels"):
            raise Error(f"there are no {what!r} of a run: use 'tasks', "
                        "'workers', 'links' or 'kernels'")
        return getattr(self, what)

    def arrays(self, what="tasks"):
        """The tasks, "workers", "links" or "kernels" as numpy's arrays by name."""
        rows = self._rows(what)
        try:
            import numpy
        except ImportError as missing:
            raise Error("there is no numpy: install python3-numpy") from missing
        return {key: numpy.array([row[key] for row in rows])
                for key in (rows[0] if rows else ())}

    def frame(self, what="tasks"):
        """The tasks, "workers", "links" or "kernels" as a frame of pandas."""
        return frame_of(self._rows(what))

    def row(self):
        """What a comparison shows of it."""
        return {
            **({} if self.graph is None else {"graph": self.graph}),
            "machine": str(self.machine), "scheduler": self.scheduler,
            **({} if self.seed is None else {"seed": self.seed}),
            "makespan_ms": self.makespan_us / 1e3,
            "tasks": len(self.tasks), "transfers": self.transfers,
            "transferred_MiB": self.transferred_bytes / 2 ** 20,
            "evictions": self.evictions,
        }

    def __repr__(self):
        return (f"<orrery.Run on {self.machine} with {self.scheduler}: "
                f"{self.makespan_us / 1e3:.3f} ms>")

    def _repr_html_(self):
        # A notebook shows one of the two: so that has the picture, too.
        row = self.row()
        return table_of([row], list(row)) + self._repr_svg_()

    def _colours(self):
        """By kernel, those with most time first."""
        time = {}
        for task in self.tasks:
            if task["worker"] is not None:
                time.setdefault(task["kernel"], 0.0)
                time[task["kernel"]] += task["end_us"] - task["start_us"]
        order = sorted(time, key=lambda kernel: (-time[kernel], kernel))
        return {kernel: _COLOURS[i % len(_COLOURS)] for i, kernel in enumerate(order)}

    def _repr_svg_(self):
        """Who ran what when: a row for each worker, the time, what each link carried."""
        width, height, left, right = 900, 16, 150, 30
        scale = (width - left - right) / (self.makespan_us or 1)
        rows = {name: i for i, name in enumerate(self._names)}
        colours, below = self._colours(), height * len(rows)
        high = below + 46 + height * len(self.links)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{high}" font-family="sans-serif" font-size="10" fill="#111">'
            f'<rect width="{width}" height="{high}" fill="#fff"/>']
        parts += self._axis(left, below, scale)
        for name, i in rows.items():
            short = html.escape(name.partition(" (")[0])
            parts.append(f'<text x="4" y="{height * i + 12}">{short}</text>')
        drawn = dict.fromkeys(rows, 0.0)
        for task in self.tasks:
            if task["worker"] is None:
                continue
            start, end = (left + task[which] * scale
                          for which in ("start_us", "end_us"))
            # Of what is too narrow to be seen, one is drawn for all.
            if end < drawn[task["worker"]] + _NARROW:
                continue
            drawn[task["worker"]] = end
            kernel = task["kernel"]
            parts.append(
                f'<rect x="{start:.2f}" '
                f'y="{height * rows[task["worker"]] + 1}" '
                f'width="{max(end - start, _NARROW):.2f}" '
                f'height="{height - 2}" '
                f'fill="{colours[kernel]}"><title>{html.escape(kernel)} '
                f'{task["task"]}: {task["start_us"]:.0f} to '
                f'{task["end_us"]:.0f} µs</title></rect>')
        parts += self._legend(left, below + 36, colours)
        parts += self._carried(left, below + 52, height)
        parts.append("</svg>")
        return "\n".join(parts)

    def _axis(self, left, below, scale):
        """Lines at round times, which stand below the rows."""
        unit, name = (1e6, "s") if self.makespan_us >= 1e7 else (1e3, "ms")
        for value in _ticks(self.makespan_us / unit):
            x = left + value * unit * scale
            yield (f'<line x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{below + 4}" '
                   f'stroke="#ddd"/><text x="{x:.1f}" y="{below + 15}" '
                   f'text-anchor="middle">{value:g} {name}</text>')

    def _carried(self, left, y, height):
        """What went over each link; when it did, traces say (orrery trace, report)."""
        most = max((link["bytes"] for link in self.links), default=0) or 1
        for link in self.links:
            yield (f'<text x="4" y="{y}">{html.escape(link["from"])} to '
                   f'{html.escape(link["to"])}</text><rect x="{left}" y="{y - 9}" '
                   f'width="{300 * link["bytes"] / most:.1f}" height="10" '
                   f'fill="#9aa7b3"/><text x="{left + 306}" y="{y}">'
                   f'{link["bytes"] / 2 ** 20:.1f} MiB in {link["count"]} transfers, '
                   f'{link["total_us"] / 1e3:.3f} ms</text>')
            y += height

    def _legend(self, left, y, colours):
        yield (f'<text x="4" y="{y}">{self.makespan_us / 1e3:.3f} ms</text>')
        for kernel in list(colours)[:_NAMED]:
            yield (f'<rect x="{left}" y="{y - 9}" width="10" height="10" '
                   f'fill="{colours[kernel]}"/><text x="{left + 14}" '
                   f'y="{y}">{html.escape(kernel)}</text>')
            left += 24 + 6 * len(kernel)


class Comparison(list):
    """Runs, in the order that was asked for; the best one is `best`."""

    @property
    def best(self):
        """The shortest."""
        return min(self, key=lambda run: run.makespan_us)

    def frame(self):
        """A row for each run, as a frame of pandas."""
        return frame_of([run.row() for run in self])

    def _repr_html_(self):
        rows = [run.row() for run in self]
        return table_of(rows, list(rows[0]) if rows else [])


# --- bounds and explanations ---


class Bounds:
    """Lower bounds on the makespan (docs/BOUNDS.md).

    bounds: a dict for each (bound, name, ms, proved, limited_by …); best_us: the
    greatest that is proved; makespan_us: of the run; report: everything.
    """

    def __init__(self, report):
        self.report = report
        self.bounds = report["bounds"]
        self.makespan_us = report["makespan_ms"] * 1e3

    @property
    def best_us(self):
        """The greatest bound that is proved, µs."""
        values = [bound["ms"] for bound in self.bounds
                  if bound["proved"] and bound["ms"] is not None]
        if not values:
            raise Error("no bound is proved: give more time=")
        return max(values) * 1e3

    def frame(self):
        """A row for each bound, as a frame of pandas."""
        return frame_of(self.bounds)

    def __repr__(self):
        return (f"<orrery.Bounds: at least {self.best_us / 1e3:.3f} ms, "
                f"scheduled {self.makespan_us / 1e3:.3f} ms>")

    def _repr_html_(self):
        return table_of(self.bounds,
                      ["name", "ms", "proved", "limited_by", "ignores"])


class Explanation:
    """Why a run took that long: makespan_us, critical_path, idle, misplaced, links,
    changes (each with its gain), as `orrery explain --json` has them."""

    def __init__(self, report):
        self.report = report
        self.makespan_us = report["makespan_ms"] * 1e3
        self.critical_path = report["critical_path"]
        self.idle = report["idle"]
        self.misplaced = report["misplaced"]
        self.links = report["links"]
        self.changes = report["changes"]

    def __repr__(self):
        return (f"<orrery.Explanation of {self.makespan_us / 1e3:.3f} ms: "
                f"{len(self.critical_path)} steps, {len(self.changes)} changes>")

    def _repr_html_(self):
        return table_of(self.changes, ["change", "makespan_ms", "gain_percent"])

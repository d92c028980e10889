# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `orrery compare` says of many simulations, as rows and as a picture."""

import os
import tempfile

from ._command import Error, run, run_json
from ._result import frame_of, table_of


class Picture:
    """A picture that a notebook shows and save() keeps."""

    def __init__(self, svg, draw):
        self.svg = svg
        self._draw = draw  # into a file of another format

    def save(self, path):
        """Writes it, as SVG or PNG by the end of the file's name."""
        path = os.path.abspath(os.fspath(path))
        if path.endswith(".svg"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.svg)
        elif path.endswith(".png"):
            self._draw(path)
        else:
            raise Error(f"save: {path}: a picture is a file .svg or .png")

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return f"<orrery.Picture: {len(self.svg)} bytes of SVG>"


class Sweep:
    """Simulations of one graph, a row for each combination of a machine, values of
    edits and a scheduler: rows, a dict for each, and the report that each is from.

    A row has machine, scheduler, the values by what they change, median_ms, low_ms
    and high_ms between which the median lies (with one run: None), to_best,
    slower_share, transferred_MiB, idle, with bound=True of_bound, energy_j where the machine's
    description has powers; one that cannot be simulated has its error instead. `best` is the row of the least median.
    """

    def __init__(self, words, path, graph):
        self._words = words
        self._path = path
        self._keeps = getattr(graph, "_folder", None)  # with the graph's file
        self._folder = tempfile.TemporaryDirectory(prefix="orrery-")
        self.reports = run_json(*self._command(), "--json", "--", path,
                                good=(0, 1))
        self.rows = [self._row(report) for report in self.reports]
        if all(row["error"] for row in self.rows):
            raise Error(f"sweep: {self.rows[0]['error']}")

    def _command(self):
        """With the runs that there are already."""
        return ["compare", *self._words, "--runs",
                os.path.join(self._folder.name, "runs")]

    @staticmethod
    def _row(report):
        def milli(value):
            return None if value is None else value / 1e3

        row = {"machine": report["machine"], "scheduler": report["scheduler"],
               **report["settings"]}
        if "error" in report:
            return {**row, "error": report["error"]}
        low, high = report["interval_us"] or (None, None)
        return {
            **row, "median_ms": milli(report["median_us"]), "low_ms": milli(low),
            "high_ms": milli(high), "to_best": report["to_best"],
            "slower_share": report["slower_share"],
            "transferred_MiB": report["transferred_bytes"] / 2 ** 20,
            "idle": report["idle"],
            **{key: report[key] for key in ("of_bound",) if key in report},
            **({} if report["energy_j"] is None else {"energy_j": report["energy_j"]}),
            "error": None,
        }

    @property
    def best(self):
        """The row of the least median."""
        return min((row for row in self.rows if not row["error"]),
                   key=lambda row: row["median_ms"])

    def frame(self):
        """The rows as a frame of pandas."""
        return frame_of(self.rows)

    def plot(self):
        """Bars by machine and scheduler; lines over the values of one edit; a map
        of the best over those of two: a Picture. gnuplot draws it."""
        picture = os.path.join(self._folder.name, "sweep.svg")
        self._plot_into(picture)
        with open(picture, encoding="utf-8") as file:
            return Picture(file.read(), self._plot_into)

    def _plot_into(self, path):
        failed = any(row["error"] for row in self.rows)
        run(*self._command(), "--plot", path, "--", self._path,
            good=(1,) if failed else (0,))

    def __len__(self):
        return len(self.rows)

    def __repr__(self):
        best = self.best
        return (f"<orrery.Sweep of {len(self.rows)}: best {best['scheduler']} on "
                f"{best['machine']}, {best['median_ms']:.3f} ms>")

    def _repr_html_(self):
        columns = [name for name in self.rows[0] if name != "error"]
        if any(row["error"] for row in self.rows):
            columns.append("error")
        return table_of(self.rows, columns)

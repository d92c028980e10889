# SPDX-License-Identifier: LGPL-2.1-or-later
"""One simulation: in this process, in a worker of the pool (_pool.py), or by the
command `orrery replay`.

In this process, where the library is free: the package starpu has not initialised it
here, and no other thread simulates. Else in a worker, which is a process that has
loaded the library already. Policies in Python files, and those of a library of the
user's, need a process that has not run them before: the command's.
"""

import os
import tempfile
import threading

from . import _replay
from ._command import Error, run_json
from ._result import read_graph, read_report


class Case:
    """What is simulated, in words that another process understands."""

    def __init__(self, graph, machine, scheduler=None, assume=(), luck=None):
        self._graph = graph  # its file lives as long
        self.path = os.path.abspath(graph.path())
        self.machine = machine.name
        self.edits = tuple(machine.edits)
        self.scheduler = scheduler
        self.assume = tuple(assume)
        self.luck = luck or {}  # the variables of noise
        self.traced = True

    def __getstate__(self):
        return {**self.__dict__, "_graph": None}

    def settings(self):
        """Those of orrery_replay."""
        found = {
            "machine": self.machine,
            "edits": "\n".join(self.edits) or None,
            "scheduler": self.scheduler,
            "assume": "\n".join(self.assume) or None,
            "seed": self.luck.get("ORRERY_SIM_SEED"),
            "noise": self.luck.get("ORRERY_SIM_NOISE"),
        }
        if self.traced:  # else the environment may name a file
            return found
        return {**found, "trace": ""}

    def needs_command(self):
        scheduler = self.scheduler or os.environ.get("STARPU_SCHED", "")
        return scheduler.endswith(".py") or bool(
            os.environ.get("STARPU_SCHED_LIB"))

    def without_edits(self):
        """The same on the machine as it is."""
        other = Case.__new__(Case)
        other.__dict__.update(self.__dict__, edits=(), traced=False)
        return other


class Busy(Exception):
    """The library is in use in this process."""


def _any_unused(report):
    """Whether an edit of the machine touches nothing that the run used."""
    return any(edit.get("effect") is True and edit.get("tasks") == 0
               and edit.get("bytes") == 0
               for edit in report.get("edits", ()))


def play(case):
    """Simulates it in this process: report, workers and tasks. Busy; Error, with what
    the library said."""
    with tempfile.TemporaryDirectory(prefix="orrery-") as folder:
        report = os.path.join(folder, "report.json")
        graph = os.path.join(folder, "run.graph")
        settings = {**case.settings(), "report": report, "graph": graph}
        try:
            status, said = _replay.play(
                case.path, {name: os.fsencode(value)
                            for name, value in settings.items()
                            if value is not None},
                threading.current_thread() is threading.main_thread())
        except ValueError as error:  # null characters, half characters
            raise Error(f"simulate: {error}") from None
        if status == _replay.BUSY:
            raise Busy
        if status:
            raise Error("orrery replay: "
                        + (said.strip() or os.strerror(-status)))
        found = read_report(report), *read_graph(graph)
    if _any_unused(found[0]):
        found[0]["without_edits"] = {"makespan_us": _makespan(
            case.without_edits())}
    return found


def _makespan(case):
    try:
        return play(case)[0]["makespan_us"]
    except Error:
        return None


def command(case):
    """The same by the command."""
    words = ["-m", case.machine]
    for edit in case.edits:
        words += ["--set", edit]
    if case.scheduler is not None:
        words += ["-s", case.scheduler]
    for text in case.assume:
        words += ["--assume", text]
    with tempfile.TemporaryDirectory(prefix="orrery-") as folder:
        graph = os.path.join(folder, "run.graph")
        report = run_json("replay", case.path, *words, "--json",
                          env={"ORRERY_GRAPH": graph, **case.luck})
        return report, *read_graph(graph)

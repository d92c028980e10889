# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulations of graphs, one or many at once."""

import concurrent.futures
import os
import tempfile

from ._command import Error, run_json
from ._graph import Graph
from ._machine import Machine, as_machine
from ._result import Bounds, Comparison, Explanation, Run, read_graph


def _path(graph):
    return graph.path() if isinstance(graph, Graph) \
        else Graph.from_record(graph).path()


def _words(machine, scheduler, assume):
    words = as_machine(machine).words()
    if scheduler is not None:
        words += ["-s", scheduler]
    for text in ((assume,) if isinstance(assume, str) else assume or ()):
        words += ["--assume", text]
    return words


def simulate(graph, machine, scheduler=None, assume=None):
    """Simulates a graph, or the record of that path, on a machine: a Run. `assume`
    has times of kernels without figures, a text or several (docs/ASSUME.md)."""
    path = _path(graph)
    with tempfile.TemporaryDirectory(prefix="orrery-") as folder:
        trace = os.path.join(folder, "run.graph")
        report = run_json("replay", path, *_words(machine, scheduler, assume),
                          "--json", env={"ORRERY_GRAPH": trace})
        workers, tasks = read_graph(trace)
    return Run(as_machine(machine), report["scheduler"], report, workers, tasks)


def _several(given, one):
    return [given] if given is None or isinstance(given, one) else list(given)


def compare(graphs, machines, schedulers=None, assume=None, jobs=None):
    """Simulates each graph on each machine with each scheduler, `jobs` at once (as
    many as there are processors): a Comparison, a list of Runs in that order."""
    graphs = _several(graphs, (str, os.PathLike, Graph))
    machines = _several(machines, (str, os.PathLike, Machine))
    schedulers = _several(schedulers, str)
    cases = [(graph, machine, scheduler) for graph in graphs
             for machine in machines for scheduler in schedulers]
    for graph in graphs:
        _path(graph)  # written once, before the threads need it
    with concurrent.futures.ThreadPoolExecutor(
            jobs or os.cpu_count()) as pool:
        pending = [pool.submit(simulate, *case, assume) for case in cases]
        try:
            return Comparison(future.result() for future in pending)
        except Error:
            for future in pending:
                future.cancel()
            raise


def bounds(graph, machine, scheduler=None, assume=None, time=None):
    """Lower bounds on what the graph takes on a machine under any scheduler, in at
    most `time` seconds: Bounds."""
    words = _words(machine, scheduler, assume)
    if time is not None:
        words += ["--time", time]
    return Bounds(run_json("bound", *words, "--json", "--", _path(graph)))


def explain(graph, machine, scheduler=None, assume=None):
    """Why the graph takes as long as it does there: an Explanation."""
    return Explanation(run_json("explain", *_words(machine, scheduler, assume),
                                "--json", "--", _path(graph)))

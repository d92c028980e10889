# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulations of graphs, one or many at once."""

import concurrent.futures
import os

from . import _simulation
from ._command import Error, run_json
from ._graph import Graph
from ._machine import Machine, as_machine, assumed
from ._pool import pool
from ._result import Bounds, Comparison, Explanation, Run
from ._simulation import Case
from ._sweep import Sweep


def _path(graph):
    return graph.path() if isinstance(graph, Graph) \
        else Graph.from_record(graph).path()


def _words(machine, scheduler, assume):
    words = as_machine(machine).words()
    if scheduler is not None:
        words += ["-s", scheduler]
    return words + assumed(assume)


def _share(noise):
    """Noise as the commands take it."""
    if isinstance(noise, str):
        return noise
    if isinstance(noise, bool) or not isinstance(noise, (int, float)) \
            or not 0 <= noise <= 10:
        raise Error(f"noise={noise!r}: use 'measured', or a share from 0 to 10, "
                    "such as 0.02")
    return repr(noise)


def _luck(seed, noise):
    """The variables that say how lengths of kernels vary."""
    if seed is None and noise is None:
        return {}
    if seed is not None and (
            isinstance(seed, bool) or not isinstance(seed, int)
            or not 0 <= seed < 2 ** 31):
        raise Error(f"seed={seed!r}: use an int from 0 to {2 ** 31 - 1}")
    return {"ORRERY_SIM_SEED": str(seed or 0),
            "ORRERY_SIM_NOISE":
                "measured" if noise is None else _share(noise)}


def _case(graph, machine, scheduler, assume, seed, noise):
    texts = (assume,) if isinstance(assume, str) else assume or ()
    if scheduler is not None and not isinstance(scheduler, str):
        raise Error(f"scheduler={scheduler!r}: use its name, a text")
    graph = graph if isinstance(graph, Graph) else Graph.from_record(graph)
    return Case(graph, machine, scheduler, texts, _luck(seed, noise))


def _run(machine, case, seed, found):
    report, workers, tasks = found
    return Run(machine, report["scheduler"], report, workers, tasks,
               seed if case.luck else None)


def _simulate(machine, seed, case):
    """In this process, if that can be."""
    if case.needs_command():
        return _run(machine, case, seed, _simulation.command(case))
    try:
        return _run(machine, case, seed, _simulation.play(case))
    except _simulation.Busy:
        return _run(machine, case, seed, pool().simulate(case))


def _simulate_aside(machine, seed, case, group):
    """In another process."""
    found = _simulation.command(case) if case.needs_command() \
        else pool().simulate(case, group)
    return _run(machine, case, seed, found)


def simulate(graph, machine, scheduler=None, assume=None, seed=None,
             noise=None):
    """Simulates a graph, or the record of that path, on a machine: a Run. `assume`
    has times of kernels without figures, a text or several (docs/ASSUME.md).

    The lengths of kernels are the expected ones, unless there is `noise`: 0.02 is
    their standard deviation, 'measured' that of the measures. The same seed gives
    the same lengths; one without noise= means noise='measured'."""
    machine = as_machine(machine)
    return _simulate(machine, seed, _case(graph, machine, scheduler, assume,
                                          seed, noise))


def _several(given, one):
    return [given] if given is None or isinstance(given, one) else list(given)


def _jobs(jobs):
    if jobs is None:
        return os.cpu_count() or 1
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise Error(f"jobs={jobs!r}: use a number of processes, from 1")
    return jobs


def _name_of(graph, number):
    """Of one of several graphs: the file of a record, else its number."""
    return f"graph {number + 1}" if isinstance(graph, Graph) \
        else os.path.basename(os.fspath(graph))


def _compared(runs, named):
    runs = Comparison(runs)
    for run, name in zip(runs, named):
        run.graph = name
    return runs


def compare(graphs, machines, schedulers=None, assume=None, jobs=None,
            seed=None, noise=None):
    """Simulates each graph on each machine with each scheduler and each seed, `jobs`
    at once (as many as there are processors): a Comparison, a list of Runs in that
    order. Of several graphs each run has the name of its own: `graph`."""
    graphs = _several(graphs, (str, os.PathLike, Graph))
    machines = _several(machines, (str, os.PathLike, Machine))
    schedulers = _several(schedulers, str)
    seeds = _several(seed, int)
    cases = [(as_machine(machine), one,
              _case(graph, as_machine(machine), scheduler, assume, one, noise))
             for graph in graphs for machine in machines
             for scheduler in schedulers for one in seeds]
    named = [_name_of(graph, number) if len(graphs) > 1 else None
             for number, graph in enumerate(graphs)
             for _ in range(len(cases) // len(graphs))]
    jobs = min(_jobs(jobs), len(cases))
    if jobs <= 1:
        return _compared((_simulate(*case) for case in cases), named)
    group = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        pending = [threads.submit(_simulate_aside, *case, group)
                   for case in cases]
        try:
            return _compared((future.result() for future in pending), named)
        except BaseException:
            for future in pending:
                future.cancel()
            for worker in list(group):
                worker.end()
            raise


def _edits_of(machines):
    """The edits that all of the machines have, if they are the same."""
    edits = {one.edits for one in machines}
    if len(edits) != 1:
        raise Error("sweep: the machines have different edits: sweep each on its "
                    "own, or use compare")
    return edits.pop()


def sweep(graph, machines, schedulers, set=(), repeat=1, noise=None,
          assume=None, bound=False, jobs=None):
    """Simulates a graph on each machine, with each value of the edits `set`, a text
    or several ("cuda.count = 1..8"), and each scheduler, `repeat` times with other
    seeds: a Sweep, what `orrery compare` says of them (docs/COMPARE.md)."""
    machines = [as_machine(one) for one in
                _several(machines, (str, os.PathLike, Machine))]
    words = ["-m", ",".join(one.name for one in machines),
             "-s", ",".join(_several(schedulers, str))]
    for edit in (*_edits_of(machines), *_several(set, str)):
        words += ["--set", edit]
    words += assumed(assume)
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise Error(f"sweep: repeat={repeat!r}: use a number of runs")
    words += ["--repeat", repeat]
    if noise is not None:
        words += ["--noise", _share(noise)]
    if bound:
        words.append("--bound")
    if jobs is not None:
        words += ["-j", jobs]
    return Sweep(words, _path(graph), graph)


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

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Studies of task graphs on simulated machines. docs/PYTHON.md describes it.

    import orrery
    graph = orrery.Graph.from_record("cholesky.rec")
    run = orrery.simulate(graph, "h100-pcie-4", "dmdas")
    print(run.makespan_us, orrery.bounds(graph, "h100-pcie-4").best_us)
"""

from ._command import Error
from ._debug import Debugger, Event, debug
from ._graph import Graph, record
from ._machine import Machine, machine, machines
from ._perfmodel import PerfModel, Prediction, perfmodel
from ._result import Bounds, Comparison, Explanation, Run
from ._study import bounds, compare, explain, simulate, sweep
from ._sweep import Picture, Sweep

__all__ = [
    "Bounds", "Comparison", "Debugger", "Error", "Event", "Explanation", "Graph",
    "Machine", "PerfModel", "Picture", "Prediction", "Run", "Sweep", "bounds",
    "compare", "debug", "explain", "machine", "machines", "perfmodel", "record",
    "simulate", "sweep",
]

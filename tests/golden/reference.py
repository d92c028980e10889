# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cholesky and LU simulated as the reference figures of StarPU on SimGrid were: what
test-spread.py and test-memory-pressure.py share.

SHARED is the folder with reference/ (figures, perturb.py) and sampling/.
"""
import csv
import dataclasses
import json
import os
import subprocess
import sys
import tempfile

NOISE = "0.002"


@dataclasses.dataclass
class Run:
    """What one simulated run said of itself."""
    ms: float       # as the program printed it
    report: dict    # ORRERY_REPORT
    graph: object   # what `read` made of ORRERY_GRAPH, or None


def figures(shared, name):
    """Path of a table of reference figures; None where it is not present."""
    path = os.path.join(shared, "reference", name)
    return path if os.path.exists(path) else None


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t")


def perturbed(shared, folder, seed):
    """A copy of sampling/ in which every kernel mean is multiplied by 1 + u, u
    uniform in +-0.2 %."""
    target = os.path.join(folder, str(seed))
    subprocess.run([sys.executable,
                    os.path.join(shared, "reference", "perturb.py"),
                    os.path.join(shared, "sampling"), target, str(seed), NOISE,
                    "mirage,attila"], check=True)
    return target


def printed_ms(text):
    """Milliseconds in the line of figures that the program prints last."""
    for line in reversed(text.splitlines()):
        fields = line.split()
        if len(fields) >= 2 and fields[0].isdigit():
            return float(fields[1])
    return None


def simulate(program, sampling, machine, arguments, sched, variables=None,
             read=None):
    """Runs the program on the machine. `variables` are set beside the usual
    ones; with `read`, the graph of tasks is recorded and given to it as an open
    file."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        graph = os.path.join(folder, "graph")
        env = dict(os.environ, ORRERY_MACHINE=machine, STARPU_SCHED=sched,
                   STARPU_PERF_MODEL_DIR=sampling, ORRERY_REPORT=report,
                   STARPU_NOPENCL="0", STARPU_SILENT="1", **(variables or {}))
        env.pop("STARPU_HOSTNAME", None)
        if read:
            env["ORRERY_GRAPH"] = graph
        done = subprocess.run([program] + arguments, env=env, text=True,
                              capture_output=True)
        if done.returncode != 0:
            sys.exit(f"{machine} {sched}: {done.stderr}")
        with open(report, encoding="utf-8") as file:
            said = json.load(file)
        recorded = None
        if read:
            with open(graph, encoding="utf-8") as file:
                recorded = read(file)
        ms = printed_ms(done.stdout)
        if ms is None:
            ms = said["makespan_us"] / 1e3
        return Run(ms, said, recorded)

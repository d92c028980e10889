#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What each second of `orrery bound` buys: the steps of each bound of three Choleskys, by
default and in ten seconds, each step with its time and what it adds to the best
bound that the rows above it have.

usage: bench-stages.py ORRERY CHOLESKY MACHINE [TILES ...]
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

ENV = dict(os.environ, STARPU_SILENT="1", STARPU_PERF_MODEL_DIR="/dev/null/none")
ENV.pop("ORRERY_CHECK_BOUNDS", None)


def bounds_of(orrery, graph, *words):
    """The bounds, the processor time of all, and the most memory of a process, MiB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([orrery, "bound", "--json", *words, graph], env=ENV,
                          stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (json.loads(done.stdout), after.ru_utime + after.ru_stime -
            before.ru_utime - before.ru_stime, after.ru_maxrss / 1024)


def print_steps(bounds):
    """Those that gain a ten thousandth, or are the last, of bounds with a value."""
    known = 0
    for bound in bounds:
        if bound["ms"] is None:
            continue
        for step in bound["steps"]:
            gain = step["ms"] / known - 1 if known else 0
            if step is bound["steps"][-1] or gain > 1e-4:
                print("    %-14s %7.3f s %12.4f ms%s" % (
                    bound["bound"], step["seconds"], step["ms"],
                    "  %+.4f %%" % (100 * gain) if gain > 0 else ""))
            known = max(known, step["ms"])


def main():
    orrery, cholesky, machine = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "graph")
        for tiles in map(int, sys.argv[4:] or (8, 20, 80)):
            subprocess.run([cholesky, "-size", str(960 * tiles), "-nblocks", str(tiles)],
                           stdout=subprocess.DEVNULL, check=True,
                           env=dict(ENV, ORRERY_MACHINE=machine, STARPU_SCHED="dmdas",
                                    ORRERY_GRAPH=graph))
            best = []
            for words in ((), ("--time", "10")):
                found, busy, memory = bounds_of(orrery, graph, *words)
                best.append(found["best"]["ms"])
                print("bench bound %d tasks%s: %.4f ms in %.2f s, %.2f s of processor time, "
                      "%.0f MiB" % (found["tasks"], " " + " ".join(words) if words else "",
                                    best[-1], sum(bound["seconds"] for bound in
                                                  found["bounds"]), busy, memory))
                print_steps(found["bounds"])
            print("bench bound %d tasks: ten seconds are worth %.4f %% more" % (
                found["tasks"], 100 * (best[1] / best[0] - 1)))


if __name__ == "__main__":
    main()

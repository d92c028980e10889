#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What traces cost: a simulated Cholesky without and with a trace in each format, in
turns, and a real one; processor time, in seconds for a million events, and relative to
the run.

usage: bench-trace.py CHOLESKY [TILES [ROUNDS]]

106 tiles are a million events.
"""
import os
import statistics
import subprocess
import sys
import tempfile

SIMULATED = {"ORRERY_MACHINE": "h100-pcie-4", "STARPU_SCHED": "dmdas",
             "STARPU_SILENT": "1", "STARPU_PERF_MODEL_DIR": "/nonexistent"}
REAL = {"STARPU_SCHED": "lws", "STARPU_SILENT": "1", "OPENBLAS_NUM_THREADS": "1"}
FORMATS = ("csv", "paje", "json", "dot")


def run(words, settings, trace=None):
    """Seconds of the processor."""
    env = dict(os.environ, **settings)
    env.pop("ORRERY_CHECK_BOUNDS", None)
    if trace:
        env["ORRERY_TRACE"] = trace
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("%s ended with %d" % (words, process.returncode))
    return used.ru_utime + used.ru_stime


def lines_of(path):
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def measure(words, settings, folder, rounds):
    """Of each format the seconds that it cost, and those of the run."""
    costs, plain = {name: [] for name in FORMATS}, []
    for _ in range(rounds):
        plain.append(run(words, settings))
        for name in FORMATS:
            costs[name].append(run(words, settings, os.path.join(
                folder, "run." + name)) - plain[-1])
    return costs, statistics.median(plain)


def main():
    tiles = int(sys.argv[2]) if len(sys.argv) > 2 else 106
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        for what, settings, size in (("simulated", SIMULATED, 960 * tiles),
                                     ("real", REAL, 2400)):
            count = tiles if what == "simulated" else 20
            words = [sys.argv[1], "-size", str(size), "-nblocks", str(count)]
            costs, plain = measure(words, settings, folder, rounds)
            events = lines_of(os.path.join(folder, "run.csv"))
            for name in FORMATS:
                cost = statistics.median(costs[name])
                print("bench trace %s %s: %.3f s for a million events (%d events, "
                      "median of %d, %.3f to %.3f s), %.1f %% of the run" % (
                          what, name, cost / events * 1e6, events, rounds,
                          min(costs[name]), max(costs[name]), 100 * cost / plain))


if __name__ == "__main__":
    main()

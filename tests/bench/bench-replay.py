#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What records cost: a simulated Cholesky, the same while it is recorded, and its
replay, in turns; processor time relative to the first, memory, bytes per task. Then a
real run of tasks of about 1 ms, recorded and not: processor time, and the time of
each task as the run's report has it, to say that they were as long.

usage: bench-replay.py CHOLESKY PLAYER BUSY [TILES [ROUNDS]]

BUSY is the program of tests/api/busy.c. 180 tiles are a million tasks.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

MACHINE = {"ORRERY_MACHINE": "h100-pcie-4", "STARPU_SCHED": "dmda",
           "STARPU_SILENT": "1", "STARPU_PERF_MODEL_DIR": "/dev/null/none",
           "STARPU_LIMIT_MAX_SUBMITTED_TASKS": "2000",
           "STARPU_LIMIT_MIN_SUBMITTED_TASKS": "1000"}


REAL = {"STARPU_SILENT": "1", "STARPU_NCPU": "1", "STARPU_NCUDA": "0",
        "STARPU_NOPENCL": "0", "STARPU_PERF_MODEL_DIR": "/dev/null/none"}


def run(words, where=None, **more):
    """Seconds of the processor and KiB of memory at most."""
    env = dict(os.environ, **(where or MACHINE), **more)
    env.pop("ORRERY_CHECK_BOUNDS", None)
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("%s ended with %d" % (words, process.returncode))
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def real(busy, rounds):
    """What recording adds to a real run; goal: 5 % or less."""
    words = [busy, "-size", "1000", "-tasks", "500"]
    ratios, lengths = [], []
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        for _ in range(rounds):
            plain, _ = run(words, REAL, ORRERY_REPORT=report)
            recorded, _ = run(words, REAL, ORRERY_REPORT=report,
                              ORRERY_RECORD=os.path.join(folder, "rec"))
            ratios.append(recorded / plain)
            with open(report, encoding="utf-8") as file:
                kernels = json.load(file)["kernels"]
            n = sum(kernel["count"] for kernel in kernels)
            lengths.append(sum(kernel["count"] * kernel["mean_us"]
                               for kernel in kernels) / n)
    print("real, recorded   %.4f of the processor time without (median of %d, "
          "%.4f to %.4f): %d tasks of %.0f us" %
          (statistics.median(ratios), rounds, min(ratios), max(ratios), n,
           statistics.median(lengths)))


def main():
    cholesky, player, busy = sys.argv[1:4]
    tiles = int(sys.argv[4]) if len(sys.argv) > 4 else 80
    rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 5
    words = [cholesky, "-size", str(960 * tiles), "-nblocks", str(tiles)]
    ratios = {"recorded": [], "compact": [], "replayed": [],
              "compact replayed": []}
    more = {"recorded": [], "compact": []}
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "rec")
        small = record + ".recb"
        for _ in range(rounds):
            plain, memory = run(words)
            recorded, _ = run(words, ORRERY_RECORD=record)
            replayed, again = run([player, record])
            ratios["recorded"].append(recorded / plain)
            more["recorded"].append(recorded - plain)
            ratios["replayed"].append(replayed / plain)
            recorded, _ = run(words, ORRERY_RECORD=small)
            replayed, _ = run([player, small])
            ratios["compact"].append(recorded / plain)
            more["compact"].append(recorded - plain)
            ratios["compact replayed"].append(replayed / plain)
        with open(record, encoding="utf-8") as file:
            tasks = len(re.findall("^submit", file.read(), re.MULTILINE))
        size, compact = os.path.getsize(record), os.path.getsize(small)
    for name, values in ratios.items():
        print("%-16s %.2f of the time of simulating it (median of %d, "
              "%.2f to %.2f)" % (name, statistics.median(values), rounds,
                                 min(values), max(values)))
    for name, values in more.items():
        us = statistics.median(values) * 1e6 / tasks
        print("%-16s %.2f us a task: %.2f %% of tasks of 1 ms" %
              (name, us, us / 10))
    print("tasks %d; record %.0f bytes a task, compact %.0f; memory of the replay "
          "%.2f of the program's (%.0f MiB, %.0f bytes a task more)" %
          (tasks, size / tasks, compact / tasks, again / memory, again / 1024,
           (again - memory) * 1024 / tasks))
    real(busy, 2 * rounds + 1)


if __name__ == "__main__":
    main()

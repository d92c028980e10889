#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Time and memory of simulating the tiled Cholesky, each beside bare SimGrid
doing the same number of sleeps and copies in the same run.

usage: bench-simulate.py CHOLESKY BARE MACHINE [TILES...]

Prints one line per size: name, parameters, value, unit. Memory is (peak -
baseline) private memory over tasks, from a second run of the same size against
one of two tiles.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

TILE = 960
REPEATS = 5


def command(cholesky, tiles):
    return [cholesky, "-size", str(tiles * TILE), "-nblocks", str(tiles)]


def environment(machine, report):
    env = dict(os.environ, ORRERY_MACHINE=machine, STARPU_SCHED="dmdas",
               ORRERY_REPORT=report, STARPU_SILENT="1")
    # OpenBLAS would start threads that are never used.
    env["OPENBLAS_NUM_THREADS"] = "1"
    return env


def run(cholesky, machine, tiles):
    """Wall seconds of the whole command, peak KiB, and the report."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        start = time.monotonic()
        process = subprocess.Popen(command(cholesky, tiles),
                                   env=environment(machine, report.name),
                                   stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        if status != 0:
            sys.exit(f"{cholesky} failed with status {status}")
        with open(report.name, encoding="utf-8") as file:
            return wall, usage.ru_maxrss, json.load(file)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    cholesky, bare, machine = sys.argv[1:4]
    sizes = [int(s) for s in sys.argv[4:]] or [20, 40, 80]
    _, baseline, _ = run(cholesky, machine, 2)
    for tiles in sizes:
        walls, ratios = [], []
        for _ in range(REPEATS):
            wall, peak, report = run(cholesky, machine, tiles)
            arguments = [bare, str(report["tasks"]),
                         str(len(report["workers"])),
                         str(max(report["transfers"], 1)), "3"]
            seconds = float(subprocess.run(arguments, check=True, text=True,
                                           capture_output=True).stdout)
            walls.append(wall)
            ratios.append(wall / seconds)
        wall = statistics.median(walls)
        tasks = report["tasks"]
        print(f"bench simulate_cholesky tiles={tiles} tasks={tasks} "
              f"copies={report['transfers']} value={wall:.3f} unit=s "
              f"spread={min(walls):.3f}..{max(walls):.3f} "
              f"tasks_per_s={tasks / wall:.0f} "
              f"ratio_to_bare={statistics.median(ratios):.2f} "
              f"bytes_per_task={(peak - baseline) * 1024 / tasks:.0f}",
              flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()

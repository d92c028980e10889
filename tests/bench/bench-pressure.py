#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How much slower the tiled Cholesky is simulated when GPUs' memory is too
small: simulated tasks per second of processor time, under pressure over
without, runs of both in turn.

usage: bench-pressure.py CHOLESKY MACHINE [TILES...]

On machine mirage, whose figures are in ORRERY_SHARED; where that is absent, on
MACHINE. Under pressure all GPUs together hold a quarter of the matrix, without
each holds twice the matrix. Prints one line per policy and size: name,
parameters, value, unit.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "unit"))
import tools_util   # noqa: E402

TILE = 960
TILE_BYTES = 4 * TILE * TILE
REPEATS = 5
SCHEDS = ("dmda", "dmdas")


def environment(shared, machine):
    """Name of the machine, and the variables that lead to it."""
    env = dict(os.environ, STARPU_SILENT="1", OPENBLAS_NUM_THREADS="1")
    # Checks of the results would be measured as well.
    env.pop("ORRERY_CHECK_BOUNDS", None)
    sampling = os.path.join(shared, "sampling")
    if os.path.isdir(sampling):
        machine = "mirage"
        env.update(STARPU_PERF_MODEL_DIR=sampling, STARPU_NOPENCL="0")
    env["ORRERY_MACHINE"] = machine
    return machine, env


def run(cholesky, env, tiles, sched, mib):
    """Seconds of processor time of the whole command, and the report."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        process = subprocess.Popen(
            [cholesky, "-size", str(tiles * TILE), "-nblocks", str(tiles)],
            env=dict(env, STARPU_SCHED=sched, STARPU_LIMIT_CUDA_MEM=str(mib),
                     ORRERY_REPORT=report.name),
            stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{cholesky} failed with status {status}")
        with open(report.name, encoding="utf-8") as file:
            return usage.ru_utime + usage.ru_stime, json.load(file)


def measure(cholesky, machine, env, tiles, sched):
    matrix = tiles * (tiles + 1) // 2 * TILE_BYTES
    _, report = run(cholesky, env, 2, sched, 1024)
    gpus = sum("CUDA" in w["name"] for w in report["workers"])
    small = max(matrix // (4 * gpus) >> 20, 32)
    large = 2 * (matrix >> 20) + 32
    rates, ratios = ([], []), []
    for _ in range(REPEATS):
        spent, pressed = run(cholesky, env, tiles, sched, small)
        free_spent, free = run(cholesky, env, tiles, sched, large)
        if not pressed["evictions"] or free["evictions"]:
            sys.exit(f"{tiles} tiles: {pressed['evictions']} evictions with "
                     f"{small} MiB, {free['evictions']} with {large} MiB")
        rates[0].append(pressed["tasks"] / spent)
        rates[1].append(free["tasks"] / free_spent)
        ratios.append(rates[0][-1] / rates[1][-1])
    print(f"bench pressure machine={machine} sched={sched} tiles={tiles} "
          f"mib={small} evictions={pressed['evictions']} "
          f"copies={pressed['transfers']} copies_without={free['transfers']} "
          f"tasks_per_s={statistics.median(rates[0]):.0f} "
          f"tasks_per_s_without={statistics.median(rates[1]):.0f} "
          f"value={statistics.median(ratios):.3f} unit=ratio "
          f"spread={min(ratios):.3f}..{max(ratios):.3f}", flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    cholesky, machine = sys.argv[1:3]
    machine, env = environment(tools_util.shared_folder(), machine)
    for tiles in [int(s) for s in sys.argv[3:]] or [80]:
        for sched in SCHEDS:
            measure(cholesky, machine, env, tiles, sched)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()

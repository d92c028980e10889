#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `orrery compare` takes: nine schedulers over the record of a Cholesky of
1,540 tasks, and eight machines with 20 repetitions of each, whose runs share a process per
processor. Beside it, in turn, the same runs in processes of their own, as many at a time.

usage: bench-compare.py ORRERY CHOLESKY PLAYER [ROUNDS]
"""
import concurrent.futures
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SCHEDULERS = ["eager", "prio", "random", "lws", "dm", "dmda", "dmdar", "dmdas",
              "modular-heft"]
MACHINES = ["h100-pcie-4", "hgx-h100-8", "a100-pcie-1", "sirocco-v100",
            "sirocco-a100", "rtx4090-2", "r940xa-4", "gemini-1"]
REPEAT = 20
ENV = dict(os.environ, STARPU_SILENT="1", STARPU_PERF_MODEL_DIR="/dev/null/none",
           ORRERY_ASSUME="kernel[*] = 1ms")
ENV.pop("ORRERY_CHECK_BOUNDS", None)


def run(words, **more):
    """Wall time, and that of the processor with all children, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    subprocess.run(words, env=dict(ENV, **more), stdout=subprocess.DEVNULL,
                   check=True)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, (after.ru_utime + after.ru_stime - before.ru_utime -
                  before.ru_stime)


def alone(player, record, machines, repeat, folder):
    """The same runs, each in a process of its own, as the command starts them."""
    def one(case):
        machine, scheduler, seed = case
        subprocess.run(
            [player, record], check=True, stdout=subprocess.DEVNULL,
            env=dict(ENV, ORRERY_MACHINE=machine, STARPU_SCHED=scheduler,
                     ORRERY_SIM_SEED=str(seed), ORRERY_SIM_NOISE="measured",
                     ORRERY_REPORT=os.path.join(folder, machine + scheduler)))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, [(machine, scheduler, seed) for machine in machines
                            for scheduler in SCHEDULERS for seed in range(repeat)]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begin, (after.ru_utime + after.ru_stime -
                                      before.ru_utime - before.ru_stime)


def measure(orrery, player, record, machines, repeat, rounds, folder):
    runs = len(SCHEDULERS) * len(machines) * repeat
    walls, busys, ratios = [], [], []
    for _ in range(rounds):
        wall, busy = run([orrery, "compare", "-m", ",".join(machines), "-s",
                          ",".join(SCHEDULERS), "--repeat", str(repeat), "--noise",
                          "measured", "--", record])
        own_wall, own_busy = alone(player, record, machines, repeat, folder)
        walls.append(wall)
        busys.append(busy)
        ratios.append((wall / own_wall, busy / own_busy))
    print("bench compare %d runs, %d processors: %.2f s, %.2f s of processor time; over "
          "that of processes of their own: %.2f, %.2f (medians of %d)" % (
              runs, os.cpu_count(), statistics.median(walls), statistics.median(busys),
              statistics.median(ratio[0] for ratio in ratios),
              statistics.median(ratio[1] for ratio in ratios), rounds))


def main():
    orrery, cholesky, player = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "cholesky.rec")
        run([cholesky, "-size", "19200", "-nblocks", "20"],
            ORRERY_MACHINE=MACHINES[0], ORRERY_RECORD=record)
        measure(orrery, player, record, MACHINES, 2, rounds, folder)
        measure(orrery, player, record, MACHINES, REPEAT, 1, folder)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `orrery compare` takes: nine schedulers over the record of a Cholesky of
1,540 tasks, and eight machines of the catalogue with 20 repetitions of each; wall
time, and processor time relative to the same runs without the command.

usage: bench-compare.py ORRERY CHOLESKY PLAYER [ROUNDS]
"""
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


def measure(orrery, player, record, machines, repeat, rounds):
    """The command beside its runs: each scheduler's on the first machine, once,
    stands for its repetitions and machines."""
    runs = len(SCHEDULERS) * len(machines) * repeat
    walls, ratios = [], []
    for _ in range(rounds):
        wall, busy = run([orrery, "compare", "-m", ",".join(machines), "-s",
                          ",".join(SCHEDULERS), "--repeat", str(repeat), "--",
                          record])
        alone = sum(run([player, record], ORRERY_MACHINE=machine,
                        STARPU_SCHED=scheduler)[1]
                    for machine in machines for scheduler in SCHEDULERS) * repeat
        walls.append(wall)
        ratios.append(busy / alone)
    print("%4d runs: %.2f s of wall time, %.0f runs per second; processor time "
          "%.2f of the runs' alone (median of %d, %.2f to %.2f)" % (
              runs, statistics.median(walls), runs / statistics.median(walls),
              statistics.median(ratios), rounds, min(ratios), max(ratios)))


def main():
    orrery, cholesky, player = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "cholesky.rec")
        run([cholesky, "-size", "19200", "-nblocks", "20"],
            ORRERY_MACHINE=MACHINES[0], ORRERY_RECORD=record)
        measure(orrery, player, record, MACHINES[:1], 1, rounds)
        measure(orrery, player, record, MACHINES, REPEAT, 1)


if __name__ == "__main__":
    main()

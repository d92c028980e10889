#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions that a policy's push and pop take per task, counted by valgrind: the dm
family on machines of two classes with 4 to 256 workers (one is a GPU), eager, prio and
lws. Counts, no
times: the same on a busy machine.

usage: bench-decisions.py CHOLESKY
"""
import os
import re
import subprocess
import sys
import tempfile

CHOLESKY = sys.argv[1]
TILES = 12
NTASKS = TILES * (TILES + 1) * (TILES + 2) // 6
# Policy: its functions, which are counted with all that they call.
FUNCTIONS = {"dmda": ["dm_push"], "dmdas": ["dm_push"],
             "eager": ["central_push", "eager_pop"],
             "prio": ["central_push", "prio_pop"],
             "lws": ["ws_push", "ws_pop"]}


def instructions(policy, ncpus, ngpus, folder):
    """Per task."""
    out = os.path.join(folder, "callgrind")
    words = ["valgrind", "--tool=callgrind", "--collect-atstart=no",
             f"--callgrind-out-file={out}"]
    words += [f"--toggle-collect={f}" for f in FUNCTIONS[policy]]
    done = subprocess.run(
        [*words, CHOLESKY, "-size", str(960 * TILES), "-nblocks", str(TILES)],
        check=True, text=True, capture_output=True,
        env=dict(os.environ, ORRERY_MACHINE="h100-pcie-4",
                 ORRERY_SET=f"cpu.count = {ncpus}\ncuda.count = {ngpus}",
                 STARPU_SCHED=policy, STARPU_SILENT="1",
                 ORRERY_CHECK_BOUNDS="0"))
    return int(re.search(r"Collected : (\d+)", done.stderr)[1]) / NTASKS


def main():
    with tempfile.TemporaryDirectory() as folder:
        for policy in FUNCTIONS:
            first = None
            for nworkers in 4, 16, 64, 256:
                n = instructions(policy, nworkers - 1, 1, folder)
                first = first or n
                print("bench decisions policy=%s workers=%d %.0f "
                      "instructions/task ratio %.2f" %
                      (policy, nworkers, n, n / first), flush=True)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulated tasks per second of the policy eager in Python, beside the built-in one: a
whole Cholesky of 60 by 60 tiles, start of the interpreter included.

usage: bench-python-policy.py CHOLESKY EAGER.PY
"""
import os
import resource
import statistics
import subprocess
import sys

CHOLESKY, EAGER = sys.argv[1:3]
TILES = 60
NTASKS = TILES * (TILES + 1) * (TILES + 2) // 6
REPEATS = 5


def seconds(policy):
    """Processor time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([CHOLESKY, "-size", str(960 * TILES), "-nblocks",
                    str(TILES)], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, ORRERY_MACHINE="h100-pcie-4",
                            STARPU_SCHED=policy, STARPU_SILENT="1",
                            ORRERY_CHECK_BOUNDS="0"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime -
            before.ru_utime - before.ru_stime)


def main():
    both = {name: [NTASKS / seconds(policy) for _ in range(REPEATS)]
            for name, policy in (("eager", "eager"), ("eager.py", EAGER))}
    plain = statistics.median(both["eager"])
    for name, rates in both.items():
        rate = statistics.median(rates)
        print("bench python-policy policy=%s tasks=%d %.0f tasks/s spread %.0f "
              "ratio %.2f" % (name, NTASKS, rate, max(rates) - min(rates),
                              rate / plain))


main()

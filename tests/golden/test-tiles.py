#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines that were measured with Chameleon run its algorithms: every kernel has a
time on the measured tiles, and GPUs are used. TAP.

usage: test-tiles.py TILES
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

TILES = sys.argv[1]
MACHINES = {"sirocco-v100": 1600, "sirocco-p100": 1240, "sirocco-rtx8000": 1600,
            "sirocco-a100": 1600}
ALGORITHMS = ("potrf", "geqrf", "getrf_nopiv", "gemm", "potri")
TAP = Tap()


def run(machine, algorithm, precision, **variables):
    """Its exit status, the simulated seconds, what it says."""
    done = subprocess.run(
        [TILES, algorithm, precision, "5", str(MACHINES[machine])],
        env=dict(os.environ, ORRERY_MACHINE=machine, STARPU_SCHED="dmdas",
                 **variables),
        stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        check=False, timeout=120)
    said = done.stdout.split()
    return (done.returncode, float(said[0]) if said else 0.0,
            done.stdout + done.stderr)


def main():
    for machine in MACHINES:
        for algorithm in ALGORITHMS:
            for precision in "sd":
                status, took, said = run(machine, algorithm, precision)
                _, alone, _ = run(machine, algorithm, precision, STARPU_NCUDA="0",
                                  ORRERY_CHECK_BOUNDS="0")
                TAP.claim(f"{precision}{algorithm} runs on {machine}, faster than "
                          "on its cores", status == 0 and 0 < took < alone,
                          f"{took} s, {alone} s", said)
    TAP.end()


if __name__ == "__main__":
    main()

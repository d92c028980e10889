#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Breakpoints of gdb on transfers, of tasks on a device (cases.c). Prints TAP.

    test-gdb-events.py COMMANDS CASES     COMMANDS is tools/gdb/orrery.py
"""
import re
import shutil
import subprocess
import sys

import debug_util as debug
from tools_util import Tap

COMMANDS, CASES = sys.argv[1:]
OUT = "from NUMA 0 to CUDA 0"
STOPS = (
    ("transfer data left", [f"left #1 sets out, {OUT}"] * 2),
    ("transfer on 'CUDA 0'", [f"left #1 sets out, {OUT}", f"right #2 sets out, {OUT}"]),
    ("arrival data right", [f"right #2 arrives, {OUT}"]),
    ("transfer data right on nowhere", []),
)


def stops_of(where, times):
    words = ["tbreak main", "run", f"source {COMMANDS}", f"orrery-break {where}",
             *["continue"] * times, "kill"]
    line = ["gdb", "-nx", "-batch"]
    for word in words:
        line += ["-ex", word]
    return subprocess.run(
        [*line, "--args", CASES, "thrashing"], stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100, check=False,
        env=debug.environment(ORRERY_MACHINE=debug.GPU, STARPU_SCHED="dmda",
                              ORRERY_ASSUME=debug.TIMES, **debug.SMALL)).stdout


def main():
    tap = Tap()
    if not shutil.which("gdb"):
        tap.skip("breakpoints on transfers", "gdb is not installed")
        tap.end()
    if "Temporary breakpoint 1, main" not in stops_of("transfer", 1):
        tap.skip("breakpoints on transfers", "gdb cannot run a program here")
        tap.end()
    for where, expected in STOPS:
        output = stops_of(where, len(expected) or 1)
        found = re.findall(r"^\w+ #\d+ (?:sets out|arrives), .*", output, re.MULTILINE)
        tap.claim(where, found == expected and "Python Exception" not in output, output)
    tap.end()


main()

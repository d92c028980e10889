#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An example as the ranks of a simulated cluster leaves the same traces, byte for byte, as
images of its executable and as functions (orrery_mpi_run_ranks). TAP.

usage: test-same-traces.py NAME HOSTED RUN_RANKS [ARG...]
"""
import glob
import os
import subprocess
import sys
import tempfile

NAME, HOSTED, RUN_RANKS, *ARGS = sys.argv[1:]


def traces(folder, command, machine=None):
    """The traces that it leaves, by rank; None: it fails."""
    env = dict(os.environ, ORRERY_TRACE=f"{folder}/run.csv", ORRERY_ASSUME="* = 50us",
               STARPU_SILENT="1")
    env.pop("ORRERY_MACHINE", None)
    if machine:
        env["ORRERY_MACHINE"] = machine
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
    if done.returncode:
        print("# " + done.stderr.replace("\n", "\n# "))
        return None
    found = {}
    for path in glob.glob(f"{folder}/run.*"):
        with open(path, "rb") as file:
            found[os.path.basename(path)] = file.read()
        os.unlink(path)
    return found


def main():
    number = failed = 0
    for n in (4, 16):
        machine = f"{n - 1}*h100-pcie-4 + 1*epyc-64 + 100Gb/s fat-tree:8,2:1"
        with tempfile.TemporaryDirectory() as folder:
            images = traces(folder, [HOSTED] + ARGS, machine)
            functions = traces(folder, [RUN_RANKS, machine] + ARGS)
        well = images and len(images) == n and images == functions and \
            min(map(len, images.values())) > 500
        number += 1
        failed += not well
        print(f"{'ok' if well else 'not ok'} {number} - {NAME}: {n} images and {n} functions")
        for name in sorted(set(images or ()) | set(functions or ())):
            if images and functions and images.get(name) != functions.get(name):
                print(f"# {name} differs")
    print(f"1..{number}")
    return failed > 0


sys.exit(main())

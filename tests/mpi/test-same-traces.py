#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program as the ranks of a simulated cluster leaves the same traces, byte for byte, as
images of its executable, as functions (orrery_mpi_run_ranks), and as records of these ranks that
are played together. TAP.

usage: test-same-traces.py NAME HOSTED RUN_RANKS PLAYER [ARG...]
"""
import glob
import os
import subprocess
import sys
import tempfile

NAME, HOSTED, RUN_RANKS, PLAYER, *ARGS = sys.argv[1:]


def traces(folder, command, machine=None, **more):
    """The traces that it leaves, by rank; None: it fails."""
    env = dict(os.environ, ORRERY_TRACE=f"{folder}/run.csv", ORRERY_ASSUME="* = 50us",
               STARPU_SILENT="1", **more)
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


def compare(images, others, n, what):
    """Whether the n traces of the others are those of images; those that differ are named."""
    for name in sorted(set(images or ()) | set(others or ())):
        if not images or not others or images.get(name) != others.get(name):
            print(f"# {name} differs of {what}")
    return images and len(images) == n and images == others and \
        min(map(len, images.values())) > 500


def main():
    number = failed = 0
    for n in (4, 16):
        machine = f"{n - 1}*h100-pcie-4 + 1*epyc-64 + 100Gb/s fat-tree:8,2:1"
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as kept:
            images = traces(folder, [HOSTED] + ARGS, machine)
            found = [(f"{n} images and {n} functions",
                      traces(folder, [RUN_RANKS, machine] + ARGS))]
            if PLAYER:
                recorded = traces(folder, [HOSTED] + ARGS, machine,
                                  ORRERY_RECORD=f"{kept}/it.rec")
                found += [(f"{n} images, and the same while they are recorded", recorded),
                          (f"{n} images and {n} records",
                           traces(folder, [PLAYER, f"{kept}/it.rank0.rec"], machine))]
        for what, others in found:
            well = compare(images, others, n, what)
            number += 1
            failed += not well
            print(f"{'ok' if well else 'not ok'} {number} - {NAME}: {what}")
    print(f"1..{number}")
    return failed > 0


sys.exit(main())

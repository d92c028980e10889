#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Devices that are absent cost a program's start nothing, in instructions, beside one that
wants none. (What tasks and starts take as such: tests/bench/instructions.py.) Prints TAP.

usage: test-absent-devices.py START
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

MORE = 1.05


def callgrind(folder, command, **more):
    """Runs it with only these variables of ours; the path of what it took."""
    out = os.path.join(folder, "out")
    kept = ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_")) or name in kept}
    env.update(STARPU_SILENT="1", STARPU_PERF_MODEL_DIR=folder, **more)
    env.pop("MALLOC_PERTURB_", None)
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out,
         "--compress-strings=no", "--compress-pos=no", *command],
        env=env, text=True, capture_output=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr[-2000:])
    return out


def start(program, folder, **more):
    """In all objects, what is loaded among them. A run before it has made the files
    that the first one makes; threads that look for work make the rest differ a little."""
    counts = []
    for _ in range(3):
        out = callgrind(folder, [program], STARPU_NCPU="1", STARPU_HOME=folder,
                        **more)
        with open(out, encoding="utf-8", errors="replace") as file:
            counts += [int(line.split()[1]) for line in file
                       if line.startswith(("totals:", "summary:"))][-1:]
    return min(counts[1:])


def claim_start(tap, program, folder):
    """Absent: the vendors' libraries are not found."""
    kinds = ("CUDA", "HIP", "OPENCL")
    unwanted = start(program, folder,
                     **{"STARPU_N" + kind: "0" for kind in kinds})
    nowhere = os.path.join(folder, "none")
    absent = start(program, folder, ORRERY_CUDA_LIBRARY=nowhere,
                   ORRERY_HIP_LIBRARY=nowhere, OCL_ICD_VENDORS=nowhere)
    tap.claim("devices that are absent cost a start nothing: %d, %+.1f %%" %
              (absent, (absent / unwanted - 1) * 100),
              absent <= unwanted * MORE, "without any it takes %d" % unwanted)


def main():
    tap = Tap()
    if shutil.which("valgrind"):
        with tempfile.TemporaryDirectory() as folder:
            claim_start(tap, sys.argv[1], folder)
    else:
        tap.skip("devices that are absent cost a start nothing", "no valgrind")
    tap.end()


if __name__ == "__main__":
    main()

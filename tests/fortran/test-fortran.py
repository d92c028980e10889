#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs in Fortran for real, simulated, and simulated with their kernels run: they
check their own results, and print the same wherever kernels run. TAP.

usage: test-fortran.py GPUS_XML PROGRAM...
       test-fortran.py --valgrind SUPPRESSIONS PROGRAM...
"""
import os
import shutil
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

TAP = Tap()


def run(words, **settings):
    env = dict(os.environ, STARPU_SILENT="1", **settings)
    try:
        return subprocess.run(words, env=env, stdin=subprocess.DEVNULL, timeout=120,
                              capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(words, "does not end", str(late.stdout),
                                           str(late.stderr))


def results(text):
    """What a program has said but for times, and which machine it is."""
    return [line for line in text.splitlines()
            if not line.endswith(" ms") and not line.startswith("simulated")]


def everywhere(gpus, programs):
    virtual = {"ORRERY_MACHINE": gpus, "ORRERY_ASSUME": "* = 5us"}
    places = {
        "real": {"STARPU_NCPU": "2"},
        "real, one worker, lws": {"STARPU_NCPU": "1", "STARPU_SCHED": "lws"},
        "simulated, its kernels run": dict(virtual, ORRERY_SIM_KERNELS="run"),
        "simulated, its kernels run, dmdas": dict(
            virtual, ORRERY_SIM_KERNELS="run", STARPU_SCHED="dmdas"),
        "simulated": dict(virtual, KERNELS_ARE_SKIPPED="1", STARPU_SCHED="dmda"),
    }
    for program in programs:
        said = None
        for place, settings in places.items():
            done = run([program], **settings)
            name = f"{os.path.basename(program)} {place}"
            if done.returncode == 77:
                TAP.skip(name, "no worker can take its tasks")
                continue
            TAP.claim(name, done.returncode == 0, f"status {done.returncode}", done.stdout,
                      done.stderr)
            if "KERNELS_ARE_SKIPPED" not in settings:
                lines = results(done.stdout)
                said = said if said is not None else lines
                TAP.claim(name + ": the same result", lines == said, *said, *lines)


def checked(suppressions, programs):
    for program in programs:
        name = f"{os.path.basename(program)} makes no mistake that valgrind sees"
        if not shutil.which("valgrind"):
            TAP.skip(name, "there is no valgrind")
            continue
        done = run(["valgrind", "--error-exitcode=9", "--leak-check=full", "--quiet",
                    "--errors-for-leak-kinds=definite", "--suppressions=" + suppressions,
                    program], STARPU_NCPU="2")
        TAP.claim(name, done.returncode == 0, f"status {done.returncode}", done.stderr)


if sys.argv[1] == "--valgrind":
    checked(sys.argv[2], sys.argv[3:])
else:
    everywhere(sys.argv[1], sys.argv[2:])
TAP.end()

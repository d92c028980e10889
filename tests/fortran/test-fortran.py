#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs in Fortran, or Rust, for real, simulated, and simulated with their kernels run: they
check their own results, and print the same wherever kernels run. TAP.

usage: test-fortran.py GPUS_XML PROGRAM...
       test-fortran.py --valgrind SUPPRESSIONS [--lost] PROGRAM...
           --lost: they lose memory on purpose
       test-fortran.py --mistakes NF_MISTAKES
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
    leaks = "no" if "--lost" in programs else "full"
    for program in [name for name in programs if name != "--lost"]:
        name = f"{os.path.basename(program)} makes no mistake that valgrind sees"
        if not shutil.which("valgrind"):
            TAP.skip(name, "there is no valgrind")
            continue
        done = run(["valgrind", "--error-exitcode=9", "--leak-check=" + leaks, "--quiet",
                    "--errors-for-leak-kinds=definite", "--suppressions=" + suppressions,
                    program], STARPU_NCPU="2")
        TAP.claim(name, done.returncode == 0, f"status {done.returncode}", done.stderr)


# What the message of each says, beside the name of the call.
MISTAKES = {
    "ncpu": ("fstarpu_conf_set_ncpu", "-1 is none of 0 to"),
    "constant": ("fstarpu_get_constant", "FSTARPU_NONSENSE", "compile fstarpu_mod.f90 again"),
    "color": ("fstarpu_codelet_set_color", "a colour -1"),
    "where": ("fstarpu_codelet_set_where", "FSTARPU_CPU"),
    "type": ("fstarpu_codelet_set_type", "77", "FSTARPU_SPMD"),
    "parallelism": ("fstarpu_codelet_set_max_parallelism", "0 is none of 1 to"),
    "mode": ("fstarpu_codelet_add_buffer", "no access mode"),
    "buffers": ("fstarpu_codelet_add_buffer", "8 buffers", "FSTARPU_DATA_MODE_ARRAY"),
    "functions": ("fstarpu_codelet_add_cpu_func", "4 functions"),
    "model": ("fstarpu_perfmodel_set_type", "77", "FSTARPU_HISTORY_BASED"),
    "acquire": ("fstarpu_data_acquire", "FSTARPU_RW"),
    "child": ("fstarpu_data_get_sub_data", "the number of a child, 0"),
    "unpack": ("fstarpu_unpack_arg", "FSTARPU_VALUE"),
    "insert": ("fstarpu_task_insert", "codelet"),
}


def mistakes(program):
    for which, words in MISTAKES.items():
        done = run([program, which], STARPU_NCPU="1")
        TAP.claim(f"{which}: the program ends with a message", done.returncode < 0 and
                  all(word in done.stderr for word in words), done.returncode, done.stderr)


if sys.argv[1] == "--mistakes":
    mistakes(sys.argv[2])
elif sys.argv[1] == "--valgrind":
    checked(sys.argv[2], sys.argv[3:])
else:
    everywhere(sys.argv[1], sys.argv[2:])
TAP.end()

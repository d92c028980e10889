#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program in Fortran, or Rust, does what the equal one in C does: simulated, their traces are the
same, byte for byte; and a task takes at most a tenth more instructions. TAP.

usage: test-fortran-twins.py GPUS_XML TWIN_C TWIN...
       test-fortran-twins.py --instructions TWIN_C TWIN...   prints a table as well
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

TAP = Tap()
PROGRAMS = (("vector", "5"), ("cholesky", "6"), ("redux", "60"))
LIMIT = 1.1
FEW, MANY = 1000, 3000


def trace_of(program, which, n, machine, **settings):
    """What it has said, and its trace."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.csv")
        env = dict(os.environ, STARPU_SILENT="1", ORRERY_MACHINE=machine,
                   ORRERY_ASSUME="* on cpu = 50us; * on cuda = 7us", ORRERY_TRACE=path,
                   **settings)
        done = subprocess.run([program, which, n], env=env, capture_output=True, text=True,
                              timeout=100, check=False)
        if done.returncode:
            return f"status {done.returncode} {done.stderr}", None
        with open(path, encoding="utf-8") as file:
            return done.stdout.strip(), file.read()


def compare(machine, twin, others):
    for which, n in PROGRAMS:
        for policy in ("lws", "dmdas"):
            said, trace = trace_of(twin, which, n, machine, STARPU_SCHED=policy)
            TAP.claim(f"{which} in C, {policy}", trace and trace.count("\n") > 40, said)
            for other in others:
                name = f"{which}, {policy}: {os.path.basename(other)}"
                its_said, its_trace = trace_of(other, which, n, machine,
                                               STARPU_SCHED=policy)
                TAP.claim(f"{name} takes the same virtual time", said == its_said, said,
                          its_said)
                TAP.claim(f"{name} has the same trace", trace == its_trace,
                          *difference(trace, its_trace))


def difference(one, other):
    pairs = zip((one or "").splitlines(), (other or "").splitlines())
    return [text for pair in pairs if pair[0] != pair[1] for text in pair][:6]


def count(program, n, machine):
    """Instructions of a simulated run with n tasks on one datum."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        env = dict(os.environ, STARPU_SILENT="1", ORRERY_MACHINE=machine, STARPU_SCHED="lws",
                   ORRERY_ASSUME="* = 5us")
        env.pop("ORRERY_CHECK_BOUNDS", None)
        subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out,
                        program, "tasks", str(n)], env=env, capture_output=True,
                       timeout=300, check=True)
        with open(out, encoding="utf-8") as file:
            return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1])


def instructions(twin, others):
    if not shutil.which("valgrind"):
        TAP.skip("instructions of a task", "there is no valgrind")
        return
    per_task = {}
    for program in (twin, *others):
        per_task[program] = (count(program, MANY, "laptop-8") -
                             count(program, FEW, "laptop-8")) / (MANY - FEW)
        ratio = per_task[program] / per_task[twin]
        print(f"# {os.path.basename(program)}: {per_task[program]:.0f} instructions of a "
              f"simulated task with one RW buffer, {ratio:.3f} of C")
        if program != twin:
            TAP.claim(f"{os.path.basename(program)}: at most {LIMIT} of C's", ratio <= LIMIT,
                      f"{ratio:.3f}")


if sys.argv[1] == "--instructions":
    instructions(sys.argv[2], sys.argv[3:])
else:
    compare(sys.argv[1], sys.argv[2], sys.argv[3:])
TAP.end()

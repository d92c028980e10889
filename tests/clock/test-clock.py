#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that time themselves: `orrery run --clock=virtual` answers them with the
simulation's time, and without it says that they asked. Nothing here depends on how long
anything really takes. TAP.

usage: test-clock.py ORRERY LIBRARY ASKS CHRONO MPI [OPENMP]
"""
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../unit"))
from tools_util import Result, Tap  # noqa: E402  pylint: disable=wrong-import-position

ORRERY, LIBRARY, ASKS, CHRONO, MPI = sys.argv[1:6]
OPENMP = sys.argv[6] if len(sys.argv) > 6 else None
TAP = Tap()
MACHINE = ["-m", "h100-pcie-4", "--assume", "kernel[k] = 70ms"]


def run(*words, **more):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("STARPU_", "ORRERY_MACHINE", "LD_PRELOAD"))}
    env.update(more, STARPU_SILENT="1")
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", check=False)
    return Result(words, done.returncode, done.stdout, done.stderr)


def orrery(*words, **more):
    return run(ORRERY, "run", *words, **more)


def said(ran, what):
    return {name: float(ms) for name, ms in
            re.findall(r"^%s (\w+) (\S+)$" % what, ran.out, re.M)}


def claim_program(text, program, names):
    ran = orrery(*MACHINE, "--clock=virtual", "--", *program)
    ms = said(ran, "tasks")
    TAP.claim("%s: each says what the simulation took" % text,
              ran.code == 0 and sorted(ms) == sorted(names) and
              all(abs(value - 1500) < 0.01 for value in ms.values()), ran)


def test_c(program, more):
    ran = orrery(*MACHINE, "--clock=virtual", "--", program)
    tasks, slept = said(ran, "tasks"), said(ran, "sleep")
    own = tasks.pop("starpu_timing_now", 0)
    whole = tasks.pop("time", -1)
    whole_slept = slept.pop("time", -1)
    TAP.claim("C: each clock says what ten kernels of 70 ms took",
              ran.code == 0 and 700 < own < 710 and
              len(tasks) == 6 + len(more) and set(more) <= set(tasks) and
              all(abs(ms - own) < 0.01 for ms in tasks.values()) and
              whole in (0, 1000), ran)
    TAP.claim("C: each way of sleeping passes that time",
              all(abs(ms - 2750) < 0.1 for ms in slept.values()) and
              whole_slept in (2000, 3000) and "back 0" in ran.out, ran)
    TAP.claim("what was answered is counted", "clock       virtual" in ran.out, ran)


def test_report():
    ran = orrery(*MACHINE, "--", ASKS)
    TAP.claim("without, one line says that the program's clock was real",
              ran.code == 0 and
              len(re.findall(r"^clock       real.*--clock=virtual", ran.out,
                             re.M)) == 1 and "back 0" in ran.out, ran)
    ran = orrery(*MACHINE, "--", ASKS, "quiet")
    TAP.claim("not of a program that does not ask", ran.code == 0 and
              not re.search(r"^clock ", ran.out, re.M), ran)
    ran = orrery(*MACHINE, "--json", "--", ASKS)
    clock = json.loads(ran.out).get("clock") if ran.code == 0 else {}
    TAP.claim("as JSON, how often", clock and clock["virtual"] is False and
              clock["asked"] > 20, ran)
    ran = orrery("--", ASKS, "quiet")
    TAP.claim("a real run has nothing to say of it", ran.code == 0 and
              not re.search(r"^clock ", ran.out, re.M), ran)
    ran = orrery("--clock=virtual", "--", ASKS)
    TAP.claim("a real run is not refused its real clock in silence",
              ran.code == 2 and "simulated" in ran.err, ran)
    ran = orrery(*MACHINE, "--clock=sun", "--", ASKS)
    TAP.claim("another clock is refused", ran.code == 2 and
              "virtual or real" in ran.err, ran)
    ran = orrery(*MACHINE, "--clock=real", "--", ASKS)
    TAP.claim("with the real one nothing is preloaded", ran.code == 0 and
              not re.search(r"^clock ", ran.out, re.M), ran)


def test_date():
    """The date is that of today, and goes on behind the run."""
    script = ("import ctypes,sys,time\nl=ctypes.CDLL(sys.argv[1])\n"
              "l.orrery_usleep.argtypes=[ctypes.c_double]\n"
              "assert l.starpu_init(None)==0\na=time.time()\n"
              "l.orrery_usleep(3600e6)\nb=time.time()\nl.starpu_shutdown()\n"
              "c=time.time()\nprint('date',a,b,c)")
    ran = orrery(*MACHINE, "--clock=virtual", "--", sys.executable, "-c", script,
                 LIBRARY)
    dates = re.search(r"date (\S+) (\S+) (\S+)", ran.out)
    a, b, c = map(float, dates.groups()) if dates else (0, 0, 0)
    TAP.claim("an hour of the run is one of the date, which never goes back",
              abs(a - time.time()) < 600 and abs(b - a - 3600) < 0.01 and
              b <= c < b + 600, ran)


def test_variable():
    ran = orrery(*MACHINE, "--", ASKS, ORRERY_CLOCK="virtual")
    tasks = said(ran, "tasks")
    TAP.claim("the variable is set by the option, whatever it was",
              ran.code == 0 and "clock       real" in ran.out and
              abs(tasks["monotonic"] - tasks["starpu_timing_now"]) > 0.01, ran)


def test_library():
    """Without, a library is asked itself."""
    ran = orrery(*MACHINE, "--", MPI)
    TAP.claim("a library's own clock is that of the library",
              ran.code == 0 and said(ran, "tasks").get("MPI_Wtime") == 1e6, ran)


test_c(ASKS, ())
test_c(MPI, ("MPI_Wtime",))
test_library()
test_variable()
if OPENMP:
    test_c(OPENMP, ("omp_get_wtime",))
else:
    TAP.skip("omp_get_wtime", "the compiler has no OpenMP")
claim_program("C++", [CHRONO], ["steady", "system", "high"])
claim_program("Python", [sys.executable, os.path.join(HERE, "asks.py"), LIBRARY],
              ["time", "monotonic", "perf_counter", "process_time"])
test_date()
test_report()
TAP.end()

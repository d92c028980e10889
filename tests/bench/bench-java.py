#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a task of a Java program costs beside one in C: the same program in both, whose
kernels do nothing, tasks with one buffer that is read and written, on one worker; µs per
task and the ratio. The programs take turns; each figure is the median of
five runs. Java has executed as many tasks before, so that its code is compiled.

usage: bench-java.py TWIN_C TWIN_JAVA [TASKS]
"""
import os
import statistics
import subprocess
import sys
import time

REPEATS = 5
C, JAVA = sys.argv[1:3]
TASKS = int(sys.argv[3]) if len(sys.argv) > 3 else 200_000
PLACES = {
    "real, one worker, eager": {"STARPU_NCPU": "1", "STARPU_SCHED": "eager"},
    "real, one worker, lws": {"STARPU_NCPU": "1", "STARPU_SCHED": "lws"},
}


def measured(words, **settings):
    """µs per task, as the program says."""
    env = dict(os.environ, STARPU_SILENT="1", **settings)
    env.pop("ORRERY_CHECK_BOUNDS", None)
    done = subprocess.run([*words, "tasks", str(TASKS)] +
                          ([str(TASKS)] if words == [JAVA] else []),
                          env=env, capture_output=True, text=True, check=True)
    return float(done.stdout) / TASKS


def beside(place, settings):
    figures = {C: [], JAVA: []}
    for _ in range(REPEATS):
        for program, found in figures.items():
            found.append(measured([program], **settings))
    c, java = (statistics.median(figures[program]) for program in (C, JAVA))
    print(f"{place}: C {c:.2f} us per task, Java {java:.2f}: {java / c:.2f} times")


def start_up():
    """Seconds of a whole run with one task."""
    for name, program in (("C", C), ("Java", JAVA)):
        before = time.perf_counter()
        subprocess.run([program, "tasks", "1"], check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, STARPU_SILENT="1", STARPU_NCPU="1"))
        print(f"a program with one task in {name}: {time.perf_counter() - before:.2f} s")


for a_place, its_settings in PLACES.items():
    beside(a_place, its_settings)
start_up()

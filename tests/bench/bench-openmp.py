#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What recording OpenMP programs costs, and how true it is: processor time of a program of
150,048 tiny tasks with the recorder and without, in turns; its log; what orrery record takes
to read it; and for programs with larger tasks the replay's time relative to that of their
regions, on as many cores as threads.

usage: bench-openmp.py ORRERY RECORDER PROGRAMS [ROUNDS]

RECORDER is openmp_record.so, PROGRAMS tests/openmp/programs. Goals: 0.15 us an event (0.5 with
the processor's clock), replays within 5 % of what was measured.
"""
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../openmp"))
import compilers  # noqa: E402  pylint: disable=wrong-import-position

FINE, EVENT = 150048, 40
ARGUMENTS = {"fib": "36", "nqueens": "12", "sort": "3000000", "sparselu": "12 96",
             "strassen": "512", "alignment": "40 500", "health": "20 80000", "uts": "19 400000",
             "cholesky": "10 128"}
# With two threads: so short that they may keep both processors from others (chrt), if that is
# allowed; else replays are beside times with others' turns in them.
SHORT = {"fib": "33", "sort": "300000", "sparselu": "12 48", "strassen": "256", "alignment": "20 200",
         "cholesky": "10 64"}
ALONE = ["chrt", "-f", "10"]
SOURCE = """#include <stdio.h>
static long fib(int n)
{
    long a, b;

    if (n < 2)
        return n;
#pragma omp task shared(a) if (n > 12)
    a = fib(n - 1);
#pragma omp task shared(b) if (n > 12)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}
int main(void)
{
#pragma omp parallel
#pragma omp single
    printf("%ld\\n", fib(24));
    return 0;
}
"""


def used(words, **more):
    """Seconds of the processor, and KiB of memory at most."""
    process = subprocess.Popen(words, env=dict(os.environ, **more), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def costs(orrery, recorder, rounds, compiler, words, folder):
    source, program = os.path.join(folder, "fine.c"), os.path.join(folder, "fine")
    with open(source, "w", encoding="ascii") as file:
        file.write(SOURCE)
    compilers.compile_program(words, source, program)
    for clock in ("wall", "cpu"):
        more, log = [], ""
        for _ in range(rounds):
            for old in glob.glob(os.path.join(folder, "log.*")):
                os.unlink(old)
            plain, _ = used([program], OMP_NUM_THREADS="1")
            recorded, _ = used([program], OMP_NUM_THREADS="1", LD_PRELOAD=recorder,
                               ORRERY_OPENMP_LOG=os.path.join(folder, "log"),
                               ORRERY_OPENMP_CLOCK=clock)
            log = glob.glob(os.path.join(folder, "log.*"))[0]
            more.append(recorded - plain)
        bytes_ = os.path.getsize(log)
        print("%s, %s's time: %.3f us an event, %.0f bytes a task" % (
            compiler, clock, 1e6 * statistics.median(more) / (bytes_ / EVENT), bytes_ / FINE))
    seconds, kib = used([orrery, "record", "import", "-o", os.path.join(folder, "x.rec"), log])
    print("%s: orrery record: %.2f us and %.0f bytes a task" % (
        compiler, 1e6 * seconds / FINE, 1024 * kib / FINE))


def alone():
    """The words before a program that keep others off its processors; none: it may not."""
    try:
        done = subprocess.run(ALONE + ["true"], capture_output=True, check=False)
    except OSError:
        return []
    return ALONE if done.returncode == 0 else []


def fidelity(orrery, rounds, program, arguments, threads, folder):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="active",
               KMP_LIBRARY="turnaround")
    record, pairs = os.path.join(folder, "x.rec"), []
    for _ in range(rounds):
        done = subprocess.run([orrery, "record", "-o", record, "--",
                               *(alone() if threads > 1 else []), program,
                               *arguments.split()], capture_output=True, text=True,
                              env=env, check=True)
        measured = float(re.search(r"took ([0-9.]+) ms", done.stderr)[1])
        done = subprocess.run([orrery, "replay", record, "--json", "-m", "epyc-64", "--set",
                               "cpu.count = %d" % threads, "--times", "record"],
                              capture_output=True, text=True, check=True)
        pairs.append((measured, json.loads(done.stdout)["makespan_us"] / 1e3))
    best = min(pairs)
    return "%d threads %.3f (best %.1f ms: %.3f)" % (
        threads, statistics.median(b / a for a, b in pairs), best[0], best[1] / best[0])


def main():
    orrery, recorder, programs = map(os.path.abspath, sys.argv[1:4])
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    with tempfile.TemporaryDirectory(prefix="orrery-openmp-") as folder:
        there, lacking = compilers.find(folder)
        for compiler, words in there.items():
            costs(orrery, recorder, rounds, compiler, words, folder)
            for name in ARGUMENTS:
                program = os.path.join(folder, name)
                compilers.compile_program(words, os.path.join(programs, name + ".c"), program)
                shown = [fidelity(orrery, rounds, program, ARGUMENTS[name], 1, folder)]
                if name in SHORT:
                    shown.append(fidelity(orrery, rounds, program, SHORT[name], 2, folder))
                print("%s, %s: replayed to measured: %s" % (name, compiler, ", ".join(shown)))
                sys.stdout.flush()
        for why in lacking.values():
            print("left out: " + why)


main()

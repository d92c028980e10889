#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Empty tasks with 0, 1, 2 and 4 buffers beside other runtimes: libgomp, libomp, TBB and
Taskflow, all in one run, by turns.

usage: rivals.py BUILD [--tasks N] [--rounds N]

Prints two tables, one per number of our workers: us per task (the median of the rounds),
and in brackets ours over theirs (the median of the pairs). Main submits; the others have
two threads, one of which does. What is not installed is named and left out; Debian's
packages: gcc, libomp-dev with clang, libtbb-dev; Taskflow is headers alone, found where
the compiler looks for them (CPLUS_INCLUDE_PATH).
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUFFERS = (0, 1, 2, 4)
WORKERS = (1, 2)
THREADS = 2
# Name, compiler, source, words for it
RIVALS = (
    ("libgomp", "gcc", "rivals-openmp.c", ["-fopenmp"]),
    ("libomp", "clang", "rivals-openmp.c", ["-fopenmp=libomp"]),
    ("TBB", "g++", "rivals-tbb.cpp", ["-std=c++17", "-ltbb"]),
    ("Taskflow", "g++", "rivals-taskflow.cpp", ["-std=c++17", "-pthread"]),
)


def compile_program(compiler, source, words, program):
    """Why it cannot be, None where it is."""
    if not shutil.which(compiler):
        return f"{compiler} is not installed"
    done = subprocess.run([compiler, "-O2", os.path.join(HERE, source), "-o", program,
                           *words], text=True, capture_output=True, check=False)
    if done.returncode == 0:
        return None
    told = [line for line in done.stderr.splitlines() if "error" in line or
            "cannot find" in line]
    return (told or [done.stderr.strip()])[0]


def microseconds(program, ntasks, nbuffers, nthreads):
    done = subprocess.run([program, str(ntasks), str(nbuffers), str(nthreads)],
                          check=False, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{program} ended with {done.returncode}: {done.stderr.strip()}")
    return float(done.stdout)


def measure(ours, programs, nbuffers, nworkers, given):
    """Of each runtime: a median; of the others the median of the ratios, too."""
    own, theirs = [], {name: [] for name in programs}
    for _ in range(given.rounds):
        own.append(microseconds(ours, given.tasks, nbuffers, nworkers))
        for name, program in programs.items():
            theirs[name].append(microseconds(program, given.tasks, nbuffers, THREADS))
    return statistics.median(own), {
        name: (statistics.median(values),
               statistics.median(a / b for a, b in zip(own, values)))
        for name, values in theirs.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS)
    parser.add_argument("build")
    parser.add_argument("--tasks", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    build = os.path.abspath(given.build)
    os.environ.update(STARPU_SILENT="1", ORRERY_MODULE_DIR=build,
                      OMP_PROC_BIND="false")
    with tempfile.TemporaryDirectory() as folder:
        ours = os.path.join(folder, "orrery")
        why = compile_program("cc", "rivals-orrery.c",
                              ["-I" + os.path.join(HERE, "..", "..", "include"),
                               "-L" + build, "-lorrery", "-Wl,-rpath," + build], ours)
        if why:
            sys.exit(f"{build}: {why}")
        programs = {}
        for name, compiler, source, words in RIVALS:
            path = os.path.join(folder, name)
            why = compile_program(compiler, source, words, path)
            if why:
                print(f"{name} is left out: {why}")
            else:
                programs[name] = path
        for nworkers in WORKERS:
            print(f"{nworkers} worker{'s' * (nworkers > 1)}, us per task"
                  f"{'':<3}{'orrery':>9}" + "".join(f"{name:>17}" for name in programs))
            for nbuffers in BUFFERS:
                own, theirs = measure(ours, programs, nbuffers, nworkers, given)
                print(f"  {nbuffers} buffer{'s' * (nbuffers != 1):<14}{own:>9.3f}" +
                      "".join(f"{us:>9.3f} ({ratio:>4.2f})"
                              for us, ratio in theirs.values()), flush=True)


if __name__ == "__main__":
    main()

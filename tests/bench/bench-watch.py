#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `orrery watch` costs real tasks of 100 us: the same program alone, watched with a
reader of the stream (--no-report), and as it is by default, with what the report needs
recorded as well, by turns.

usage: bench-watch.py ORRERY WATCH_TASKS CHOLESKY [TASKS [ROUNDS]]

The program takes the times itself, from the first submission to the end of the last task, on
as many workers as processors less one, for the command has to run somewhere: the report,
which is made after the program's end, is in none of them. First empty tasks, whose cost and
page faults other programs hardly change; then tasks of 100 us, in many short runs, the quickest
of which are those that nobody disturbed. What the command costs is the processor's time that
the program does not use itself. Between them a simulation, whose time is overhead alone.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import urllib.request

ENV = dict(os.environ, STARPU_SCHED="lws", STARPU_SILENT="1", STARPU_NCUDA="0",
           STARPU_NCPU=str(max(1, (os.cpu_count() or 2) - 1)))
ENV.pop("ORRERY_MACHINE", None)

VARIANTS = {"watched": ["--no-report"], "and recorded": ["--plain", "-o", "r.html"]}
EMPTY = 10000
MACHINE, TILES = "h100-pcie-4", 48


class Run:
    """What one run took: `beside` is the processor's time that the program did not use."""

    def __init__(self, process, out):
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit("%s ended with %d" % (process.args, process.returncode))
        self.seconds, self.processor, self.system, self.faults = map(float, out.split())
        self.beside = used.ru_utime + used.ru_stime - self.processor


def alone(words):
    process = subprocess.Popen(words, env=ENV, stdout=subprocess.PIPE, encoding="ascii")
    return Run(process, process.stdout.read())


def read_stream(address):
    with urllib.request.urlopen(address + "events") as answer:
        for line in answer:
            if b'"phase":"over"' in line or b'"phase":"reported"' in line:
                return


def watched(orrery, words, *options):
    process = subprocess.Popen([orrery, "watch", *options, "--wait", "--", *words], env=ENV,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               encoding="utf-8")
    address = re.search("http://.*", process.stderr.readline())[0]
    reader = threading.Thread(target=read_stream, args=(address,), daemon=True)
    reader.start()
    return Run(process, process.stdout.readline())


def print_per_task(orrery, program, rounds):
    """Of tasks of one turn, which are all overhead: what each costs the processor more."""
    words = [program, str(EMPTY), "1"]
    plain = [alone(words) for _ in range(rounds)]
    for name, options in VARIANTS.items():
        runs = [watched(orrery, words, *options) for _ in range(rounds)]
        more = {kind: (min(getattr(run, kind) for run in runs)
                       - min(getattr(run, kind) for run in plain)) / EMPTY
                for kind in ("processor", "faults")}
        print("bench watch %s: a task costs the processor %.2f us more in the program, %.2f %% "
              "of 100 us, and %.3f page faults (%d empty tasks, the least of %d; %.2f us and "
              "%.3f alone)" % (
                  name, 1e6 * more["processor"], 1e6 * more["processor"], more["faults"], EMPTY,
                  rounds, 1e6 * min(run.processor for run in plain) / EMPTY,
                  min(run.faults for run in plain) / EMPTY), flush=True)


def processor_of(words, **settings):
    """Of the processor, seconds of a process and of those that it has started."""
    process = subprocess.Popen(words, env=dict(ENV, **settings), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit("%s ended with %d" % (words, process.returncode))
    return used.ru_utime + used.ru_stime


def print_simulated(orrery, cholesky, rounds):
    words = [cholesky, "-size", str(960 * TILES), "-nblocks", str(TILES)]
    plain = min(processor_of(words, ORRERY_MACHINE=MACHINE) for _ in range(rounds))
    both = min(processor_of([orrery, "watch", "-m", MACHINE, "--tty", "--no-report", "--",
                             *words]) for _ in range(rounds))
    print("bench watch simulated: %.0f %% more of the processor for command and program, of "
          "%.2f s (%d tasks, the least of %d)" % (
              100 * both / plain - 100, plain, TILES * (TILES + 1) * (TILES + 2) // 6, rounds),
          flush=True)


def print_ratios(name, tasks, plain, runs):
    """`plain`: those alone, each before one of `runs`."""
    wall = [100 * run.seconds / before.seconds - 100 for run, before in zip(runs, plain)]
    least = {kind: 100 * min(getattr(run, kind) for run in runs)
             / min(getattr(run, kind) for run in plain) - 100
             for kind in ("seconds", "processor")}
    print("bench watch %s: %s tasks of 100 us on %s workers: %.2f %% more time, %.2f %% more of "
          "the processor in the program (the least of %d each, over %.2f s; of pairs the median "
          "is %.2f %% more time)" % (
              name, tasks, ENV["STARPU_NCPU"], least["seconds"], least["processor"], len(runs),
              min(run.seconds for run in plain), statistics.median(wall)), flush=True)


def print_command(orrery, program, tasks, turns, rounds):
    """Of the processor, what the command uses while a run goes on: the difference of two."""
    long, short = ([watched(orrery, [program, str(n), turns], *VARIANTS["watched"])
                    for _ in range(rounds)] for n in (5 * tasks, tasks))
    more = min(run.beside for run in long) - min(run.beside for run in short)
    least = (min(run.processor for run in long) - min(run.processor for run in short))
    print("bench watch command: %.2f %% of the processor's time of the program, whose page is "
          "read (of %.2f s, the least of %d)" % (100 * more / least, least, rounds), flush=True)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    orrery, program, cholesky = map(os.path.abspath, sys.argv[1:4])
    tasks = sys.argv[4] if len(sys.argv) > 4 else "2000"
    rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 15
    turns = subprocess.run([program], check=True, stdout=subprocess.PIPE,
                           encoding="ascii").stdout.strip()
    words = [program, tasks, turns]
    plain, found = [], {name: [] for name in VARIANTS}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print_per_task(orrery, program, 3)
        print_simulated(orrery, cholesky, 3)
        print_command(orrery, program, int(tasks), turns, 3)
        for _ in range(rounds):
            plain.append(alone(words))
            for name, options in VARIANTS.items():
                found[name].append(watched(orrery, words, *options))
    for name, runs in found.items():
        print_ratios(name, tasks, plain, runs)


main()

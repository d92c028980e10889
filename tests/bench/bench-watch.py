#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `orrery watch` costs real tasks of 100 us: the same program alone, watched with a
reader of the stream (--no-report), and with what the report needs recorded as well, by turns.

usage: bench-watch.py ORRERY WATCH_TASKS CHOLESKY [TASKS [ROUNDS]]

First what an empty task costs the processor more, which other programs hardly change; then
times from the first submission to the end of the last task, as the program takes them, on as
many workers as processors less one, for the command has to run somewhere. The processor's
time of the command is what the program does not use itself. Between them a simulation, whose time is
overhead alone.
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
EMPTY = 100000
MACHINE, TILES = "h100-pcie-4", 80


def ended(process, out):
    """Seconds of the run, of the processor in it, and of the processor beside it."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit("%s ended with %d" % (process.args, process.returncode))
    seconds, processor = map(float, out.split())
    return seconds, processor, used.ru_utime + used.ru_stime


def alone(words):
    process = subprocess.Popen(words, env=ENV, stdout=subprocess.PIPE, encoding="ascii")
    return ended(process, process.stdout.read())


def read_stream(address):
    with urllib.request.urlopen(address + "events") as answer:
        for _ in answer:
            pass


def watched(orrery, words, *options):
    process = subprocess.Popen([orrery, "watch", *options, "--wait", "--", *words], env=ENV,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               encoding="utf-8")
    address = re.search("http://.*", process.stderr.readline())[0]
    reader = threading.Thread(target=read_stream, args=(address,), daemon=True)
    reader.start()
    return ended(process, process.stdout.readline())


def print_per_task(orrery, program, rounds):
    """Of tasks of one turn, which are all overhead: what each costs the processor more."""
    words = [program, str(EMPTY), "1"]
    plain = min(alone(words)[1] for _ in range(rounds))
    for name, options in VARIANTS.items():
        more = min(watched(orrery, words, *options)[1] for _ in range(rounds)) - plain
        print("bench watch %s: a task costs the processor %.2f us more in the program, %.2f %% "
              "of 100 us (%d empty tasks, the least of %d; %.2f us alone)" % (
                  name, 1e6 * more / EMPTY, 1e6 * more / EMPTY, EMPTY, rounds,
                  1e6 * plain / EMPTY), flush=True)


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


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    orrery, program, cholesky = map(os.path.abspath, sys.argv[1:4])
    tasks = sys.argv[4] if len(sys.argv) > 4 else "20000"
    rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 7
    turns = subprocess.run([program], check=True, stdout=subprocess.PIPE,
                           encoding="ascii").stdout.strip()
    words = [program, tasks, turns]
    found = {name: [] for name in VARIANTS}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print_per_task(orrery, program, rounds)
        print_simulated(orrery, cholesky, rounds)
        for _ in range(rounds):
            plain = alone(words)
            for name, options in VARIANTS.items():
                got = watched(orrery, words, *options)
                found[name].append((got[0] / plain[0], got[1] / plain[1],
                                    (got[2] - got[1]) / plain[1], plain[0]))
    for name, ratios in found.items():
        wall, processor, beside, plain = zip(*ratios)
        print("bench watch %s: %s tasks of 100 us on %s workers: %.2f %% more time "
              "(median of %d, %.2f to %.2f), %.2f %% more of the processor in the program, "
              "over %.2f s" % (
                  name, tasks, ENV["STARPU_NCPU"], 100 * statistics.median(wall) - 100, rounds,
                  100 * min(wall) - 100, 100 * max(wall) - 100,
                  100 * statistics.median(processor) - 100, statistics.median(plain)),
              end="")
        print("; the command %.2f %% of it" % (100 * statistics.median(beside))
              if name == "watched" else "", flush=True)


main()

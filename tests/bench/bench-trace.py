#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What traces cost: a simulated Cholesky without and with a trace in each format, in
turns, and a real one; processor time, in seconds for a million events, and relative to
the run, and the memory that the record takes, since to touch it first takes as long.

usage: bench-trace.py CHOLESKY [TILES [ROUNDS]]
       bench-trace.py CHOLESKY --instructions [TILES [ROUNDS]]

106 tiles are a million events. With --instructions valgrind counts those of a
simulated run of 40 tiles instead, which a busy machine does not change: of all threads,
and of the one that the run is on, beside which another one writes the trace. What that
one had not written at the end is chance, since valgrind gives its threads turns: of
several rounds the least is what the run pays where the other thread has kept up.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

SIMULATED = {"ORRERY_MACHINE": "h100-pcie-4", "STARPU_SCHED": "dmdas",
             "STARPU_SILENT": "1", "STARPU_PERF_MODEL_DIR": "/dev/null/none"}
REAL = {"STARPU_SCHED": "lws", "STARPU_SILENT": "1", "OPENBLAS_NUM_THREADS": "1"}
PAGE = os.sysconf("SC_PAGE_SIZE")
FORMATS = ("csv", "paje", "json", "dot", "tasks.rec")


def run(words, settings, trace=None):
    """Seconds of the processor, and pages of memory that it touched first."""
    env = dict(os.environ, **settings)
    env.pop("ORRERY_CHECK_BOUNDS", None)
    if trace:
        env["ORRERY_TRACE"] = trace
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("%s ended with %d" % (words, process.returncode))
    return used.ru_utime + used.ru_stime, used.ru_minflt


def lines_of(path):
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def measure(words, settings, folder, rounds):
    """Of each format the seconds that it cost, the same over those of the run beside
    it, and pages."""
    costs, shares, pages = ({name: [] for name in FORMATS} for _ in range(3))
    for _ in range(rounds):
        plain, touched = run(words, settings)
        for name in FORMATS:
            seconds, faults = run(words, settings, os.path.join(folder, "run." + name))
            costs[name].append(seconds - plain)
            shares[name].append((seconds - plain) / plain)
            pages[name].append(faults - touched)
    return costs, shares, pages


def count(words, trace=None):
    """Instructions of a simulated run: all, and those of its own thread."""
    env = dict(os.environ, **SIMULATED)
    env.pop("ORRERY_CHECK_BOUNDS", None)
    if trace:
        env["ORRERY_TRACE"] = trace
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "counts")
        subprocess.run(
            # By turns: else it is chance how much is left to write at the end.
            ["valgrind", "--fair-sched=try", "--tool=callgrind", "--separate-threads=yes",
             "--callgrind-out-file=" + out, *words], env=env, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        threads = []
        names = sorted(os.listdir(folder))
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                threads += re.findall(r"^totals: (\d+)", file.read(), re.M)
    return sum(map(int, threads)), int(threads[0])


def count_instructions(program, tiles, rounds):
    words = [program, "-size", str(960 * tiles), "-nblocks", str(tiles)]
    with tempfile.TemporaryDirectory() as folder:
        plain = count(words)
        for name in FORMATS:
            path = os.path.join(folder, "run." + name)
            counts = [count(words, path) for _ in range(rounds)]
            cost = min(total for total, _ in counts) - plain[0]
            own = [100 * (mine - plain[1]) / plain[1] for _, mine in counts]
            if name == FORMATS[0]:
                events = lines_of(path)
            print("bench trace instructions %s: %.0f per event (%d events), %.1f %% of "
                  "the run's %.0f million; on the run's own thread %.1f %% (of %d rounds "
                  "the least, the most %.1f)" % (
                      name, cost / events, events, 100 * cost / plain[0],
                      plain[0] / 1e6, min(own), rounds, max(own)), flush=True)


def main():
    if sys.argv[2:3] == ["--instructions"]:
        numbers = [int(word) for word in sys.argv[3:]] + [40, 3][len(sys.argv) - 3:]
        count_instructions(sys.argv[1], *numbers)
        return
    tiles = int(sys.argv[2]) if len(sys.argv) > 2 else 106
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        for what, settings, size in (("simulated", SIMULATED, 960 * tiles),
                                     ("real", REAL, 2400)):
            count = tiles if what == "simulated" else 20
            words = [sys.argv[1], "-size", str(size), "-nblocks", str(count)]
            costs, shares, pages = measure(words, settings, folder, rounds)
            events = lines_of(os.path.join(folder, "run.csv"))
            for name in FORMATS:
                cost = statistics.median(costs[name])
                print("bench trace %s %s: %.3f s for a million events (%d events, "
                      "median of %d, %.3f to %.3f s), %.1f %% of the run, %.0f bytes "
                      "of memory touched for an event" % (
                          what, name, cost / events * 1e6, events, rounds,
                          min(costs[name]), max(costs[name]),
                          100 * statistics.median(shares[name]),
                          statistics.median(pages[name]) * PAGE / events))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whose the error of a prediction is: twelve applications under three policies on this
machine, by `orrery validate`.

usage: bench-predictions.py ORRERY EXAMPLES PROGRAMS [--rounds N] [--seconds S]
                            [--sched POLICIES] [--only WORD]

EXAMPLES and PROGRAMS are the folders of the built examples and of tests/programs. The
runtime's costs are measured once, the kernels of each application for --seconds at most
before its runs; 0: not at all, then the models are not judged.

A line each: the median makespan, then errors, median and worst of the rounds: of the
simulator (each run, simulated from the times of its own kernels), of the models, of the
machine (from the times of another run), and whether it was quiet. Then a summary; goals
on a quiet machine: the simulator 2 % (median) and 5 % (worst), the models 5 and 15 %.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

APPLICATIONS = (
    ("cholesky", "E/cholesky/cholesky -size 3840 -nblocks 20"),
    ("lu", "E/lu/lu -size 3000 -nblocks 15"),
    ("qr", "E/qr/qr -size 2000 -nblocks 10"),
    ("mult", "E/mult -size 768 -nblocks 8"),
    ("stencil", "E/stencil -size 2000 -nblocks 16 -steps 60"),
    ("tree", "E/tree -depth 6 -size 2048 -rounds 500"),
    ("vector_scal", "E/vector_scal"),
    ("dot_product", "E/dot_product"),
    ("nbody", "P/nbody 12 300 4"),
    ("multifrontal", "P/multifrontal 7 768"),
    ("windows", "P/windows 12 128 2"),
    ("layers", "P/layers 48 192 4"),
)
PARTS = ("simulator", "models", "machine")


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("orrery")
    parser.add_argument("examples")
    parser.add_argument("programs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--sched", default="eager,lws,dmdas")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def percent(error):
    if error["median"] is None:
        return "-"
    return "%.1f (%.1f)" % (100 * error["median"], 100 * error["worst"])


def main():
    given = arguments()
    errors = {part: [] for part in PARTS}
    with tempfile.TemporaryDirectory() as home:
        env = dict(os.environ, STARPU_HOME=home, STARPU_SILENT="1",
                   OPENBLAS_NUM_THREADS="1", KERNELS_ARE_SKIPPED="1")
        for name in ("ORRERY_MACHINE", "ORRERY_ASSUME", "STARPU_PERF_MODEL_DIR"):
            env.pop(name, None)

        def orrery(*words):
            return subprocess.run([given.orrery, *words], env=env, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

        orrery("calibrate", "runtime")
        for name, text in APPLICATIONS:
            if given.only not in name:
                continue
            command = [word.replace("E/", given.examples + "/", 1)
                       if word.startswith("E/") else
                       word.replace("P/", given.programs + "/", 1)
                       if word.startswith("P/") else word for word in text.split()]
            if given.seconds:
                orrery("calibrate", "kernels", "-t", "%gs" % given.seconds, "--",
                       *command)
            for policy in given.sched.split(","):
                done = orrery("validate", "--json", "-n", str(given.rounds), "-s",
                              policy, "--", *command)
                try:
                    said = json.loads(done.stdout)
                except json.JSONDecodeError:
                    print("bench predictions %s %s failed" % (name, policy))
                    continue
                found = said["predictions"]
                print("bench predictions %s %s %.1f ms, simulator %s %%, models %s %%, "
                      "machine %s %%%s" % (
                          name, policy, said["ends"][0]["measured_us"]["median"] / 1e3,
                          *[percent(found[part]) for part in PARTS],
                          "" if said["quiet"]["quiet"] else ", busy"), flush=True)
                for part in PARTS:
                    if found[part]["median"] is not None:
                        errors[part].append(100 * found[part]["median"])
    for part in PARTS:
        if errors[part]:
            print("bench predictions %s: median %.1f %%, worst %.1f %%, of %d" % (
                part, statistics.median(errors[part]), max(errors[part]),
                len(errors[part])))
    return 0


if __name__ == "__main__":
    sys.exit(main())

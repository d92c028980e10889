#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well this machine is predicted by its own simulated copy: five applications with
kernels of some 50 us to some 20 ms, under three policies.

usage: bench-fidelity.py ORRERY EXAMPLES [--cpus N] [--rounds N] [--sched POLICIES]
                         [--seconds S] [--only WORD] [--check]

EXAMPLES is the folder of the built examples. Links and the runtime's costs are
measured once. In each round of an application its kernels are measured anew, for
--seconds at most, then real and simulated runs take turns: a machine whose speed
changes in between changes both. --only: applications with that word. --check: fails
if the median error is more than 5 %, or one more than 15 %.

A line each: tasks, their mean length in us in real and in simulated runs (the models'),
the median of the real times that the application prints with quartiles, of the
simulated ones, and of the error of a round, with quartiles; then of the error apart
from the kernels' lengths, of makespans in mean lengths of a kernel: what the simulation
adds where the machine's speed has changed since the kernels were measured. Then a
summary: the median and worst of both, and the system's load. The simulation gives each worker a
processor of its own: with others on the machine it is too fast.
"""
import argparse
import os
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
from own_machine import OwnMachine  # pylint: disable=wrong-import-position

# Kernels of some 80 us, 1.5 ms and 20 ms.
APPLICATIONS = (
    ("cholesky", ("cholesky/cholesky", "-size", "2560", "-nblocks", "20")),
    ("cholesky", ("cholesky/cholesky", "-size", "3072", "-nblocks", "8")),
    ("cholesky", ("cholesky/cholesky", "-size", "6144", "-nblocks", "6")),
    ("lu", ("lu/lu", "-size", "1920", "-nblocks", "15")),
    ("lu", ("lu/lu", "-size", "2304", "-nblocks", "6")),
    ("lu", ("lu/lu", "-size", "4096", "-nblocks", "4")),
    ("qr", ("qr/qr", "-size", "960", "-nblocks", "12")),
    ("qr", ("qr/qr", "-size", "1600", "-nblocks", "5")),
    ("qr", ("qr/qr", "-size", "3200", "-nblocks", "5")),
    ("stencil", ("stencil", "-size", "640", "-nblocks", "8", "-steps", "240")),
    ("stencil", ("stencil", "-size", "2400", "-nblocks", "8", "-steps", "20")),
    ("stencil", ("stencil", "-size", "6400", "-nblocks", "4", "-steps", "20")),
    ("tree", ("tree", "-depth", "8", "-size", "512", "-rounds", "100")),
    ("tree", ("tree", "-depth", "6", "-size", "2048", "-rounds", "500")),
    ("tree", ("tree", "-depth", "5", "-size", "4096", "-rounds", "3000")),
)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("orrery")
    parser.add_argument("examples")
    parser.add_argument("--cpus", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sched", default="dmdas,lws,eager")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    chosen = [(name, (os.path.join(options.examples, words[0]),) + words[1:])
              for name, words in APPLICATIONS if options.only in name]
    errors = []
    with tempfile.TemporaryDirectory() as home:
        machine = OwnMachine(options.orrery, home, STARPU_NCUDA="0",
                             STARPU_NHIP="0", STARPU_NOPENCL="0",
                             STARPU_NCPU=str(options.cpus))
        machine.calibrate_machine()
        for name, words in chosen:
            errors += machine.measure(f"fidelity {name}", words, options)
    errors, apart = zip(*errors)
    median, worst = statistics.median(errors), max(errors)
    print(f"bench fidelity-error cpus={options.cpus} cases={len(errors)} "
          f"value={median:.1f} unit=% worst={worst:.1f} goal=5.0,15.0 "
          f"apart={statistics.median(apart):.1f},{max(apart):.1f} "
          f"load={os.getloadavg()[0]:.1f}")
    return options.check and (median > 5 or worst > 15)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well this machine's processors and an OpenCL device together are predicted by
their own simulated copy: a tiled Cholesky, on CPU workers and on a device that PoCL
makes of one processor; each size is checked once for real.

usage: bench-devices.py ORRERY CHOLESKY [--cpus N] [--devices N] [--rounds N]
                        [--sched POLICIES] [--seconds S] [--alone] [--kernels]
                        [TILE,TILES ...]

Rounds and lines are those of bench-fidelity.py. The simulation gives each worker a
processor of its own, so that each has one here: the CPU workers those from the second on,
the device the first, to which PoCL binds its thread, and the worker that drives it; main
sleeps. PoCL has one set of threads for all devices of a process: with POCL_MAX_PTHREAD_COUNT=1
several devices are one processor that they share, which no simulation knows (--devices 2).
PoCL loads a kernel when it runs for the first time in a process, 2 to 10 ms, which is
done before the time is taken (cholesky -warm). Kernels are measured by runs in which all workers are at work; --alone: by `orrery calibrate
kernels`, where each type of worker has some runs of its own, beside idle processors.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
from own_machine import OwnMachine  # pylint: disable=wrong-import-position


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("orrery")
    parser.add_argument("cholesky")
    parser.add_argument("sizes", nargs="*", default=["160,6", "240,6", "160,14"])
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sched", default="eager,dmdas")
    parser.add_argument("--seconds", type=int, default=5)
    return parser.parse_intermixed_args()


class Machine(OwnMachine):
    """On which PoCL makes devices of processors."""

    def __init__(self, options, home):
        cache = pathlib.Path(home, "pocl")
        cache.mkdir()
        super().__init__(
            options.orrery, home, POCL_CACHE_DIR=str(cache),
            POCL_MAX_PTHREAD_COUNT="1", POCL_AFFINITY="1",
            STARPU_WORKERS_CPUID=" ".join(map(str, [*range(1, options.cpus + 1), 0])),
            POCL_DEVICES=" ".join(["pthread"] * options.devices),
            STARPU_OPENCL_ON_CPUS="1", STARPU_NCPU=str(options.cpus),
            STARPU_NOPENCL=str(options.devices))
        self.options = options

    def cholesky(self, size, *more):
        tile, tiles = size
        return (self.options.cholesky, "-size", str(tile * tiles), "-nblocks",
                str(tiles), "-warm") + more


def main():
    options = arguments()
    if len(os.sched_getaffinity(0)) < options.cpus + 1:
        print(f"bench-devices: {options.cpus + 1} workers, fewer processors: the "
              "figures say nothing", file=sys.stderr)
    sizes = [tuple(map(int, size.split(","))) for size in options.sizes]
    errors = []
    with tempfile.TemporaryDirectory() as home:
        machine = Machine(options, home)
        machine.calibrate_machine()
        for size in sizes:
            machine.must(*machine.cholesky(size, "-check"))
            errors += machine.measure(
                f"devices tile={size[0]} tiles={size[1]}", machine.cholesky(size),
                options, together=not options.alone)
    errors, apart = zip(*errors)
    print(f"bench devices-error cpus={options.cpus} "
          f"devices={options.devices} value={statistics.median(errors):.1f} "
          f"unit=% worst={max(errors):.1f} "
          f"apart={statistics.median(apart):.1f},{max(apart):.1f} load={os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()

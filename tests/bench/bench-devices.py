#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well this machine's processors and OpenCL devices together are predicted by
their own simulated copy: a tiled Cholesky, on CPU workers and on devices that PoCL
makes of one processor each. Everything is measured here first: links, the
runtime's costs, the kernels; each size is checked once for real.

usage: bench-devices.py ORRERY CHOLESKY [--cpus N] [--devices N] [--repeats N]
                        [--sched POLICY] [--seconds S] [TILE,TILES ...]

--seconds: calibration of the kernels of one size. Real and simulated runs take
turns. A line per size and policy: the median of the real makespans in ms, their
quartiles and least, that of the simulated run, its error against the median and
against the least, and the system's load. The simulation gives each worker a
processor of its own: with more workers than processors, or others on the machine,
it is too fast, and the least is closest to what a quiet machine would have shown.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
from own_machine import (  # pylint: disable=wrong-import-position
    OwnMachine, error, printed_ms, quartiles)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("orrery")
    parser.add_argument("cholesky")
    parser.add_argument("sizes", nargs="*", default=["160,6", "240,6"])
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--sched", default="eager,dmdas")
    parser.add_argument("--seconds", type=int, default=30)
    return parser.parse_intermixed_args()


class Machine(OwnMachine):
    """On which PoCL makes devices of processors."""

    def __init__(self, options, home):
        cache = pathlib.Path(home, "pocl")
        cache.mkdir()
        super().__init__(
            options.orrery, home, POCL_CACHE_DIR=str(cache),
            POCL_MAX_PTHREAD_COUNT="1",
            POCL_DEVICES=" ".join(["pthread"] * options.devices),
            STARPU_OPENCL_ON_CPUS="1", STARPU_NCPU=str(options.cpus),
            STARPU_NOPENCL=str(options.devices))
        self.options = options

    def cholesky(self, size, *more):
        tile, tiles = size
        return (self.options.cholesky, "-size", str(tile * tiles), "-nblocks",
                str(tiles)) + more

    def makespan(self, size, sched, **env):
        """In ms."""
        return printed_ms(
            self.must(*self.cholesky(size), STARPU_SCHED=sched, **env))


def measure(machine, size, sched, repeats):
    real, simulated = [], []
    for _ in range(repeats):
        real.append(machine.makespan(size, sched))
        simulated.append(
            machine.makespan(size, sched, ORRERY_MACHINE="bench"))
    low, high = quartiles(real)
    median, least = statistics.median(real), min(real)
    predicted = statistics.median(simulated)
    print(f"bench devices tile={size[0]} tiles={size[1]} sched={sched} "
          f"cpus={machine.options.cpus} devices={machine.options.devices} "
          f"value={median:.2f} unit=ms quartiles={low:.2f}..{high:.2f} "
          f"least={least:.2f} simulated={predicted:.2f} "
          f"error={error(predicted, median)} "
          f"error_least={error(predicted, least)} load={os.getloadavg()[0]:.1f}",
          flush=True)
    return abs(predicted / median - 1)


def main():
    options = arguments()
    sizes = [tuple(map(int, size.split(","))) for size in options.sizes]
    errors = []
    with tempfile.TemporaryDirectory() as home:
        machine = Machine(options, home)
        machine.calibrate(options.seconds,
                          [machine.cholesky(size) for size in sizes])
        for size in sizes:
            machine.must(*machine.cholesky(size, "-check"))
            for sched in options.sched.split(","):
                errors.append(measure(machine, size, sched, options.repeats))
    print(f"bench devices-error value={100 * statistics.median(errors):.1f} "
          f"unit=%")


if __name__ == "__main__":
    main()

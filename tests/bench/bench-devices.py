#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well this machine's processors and OpenCL devices together are predicted by
their own simulated copy: a tiled Cholesky, on CPU workers and on devices that PoCL
makes of one processor each; each size is checked once for real.

usage: bench-devices.py ORRERY CHOLESKY [--cpus N] [--devices N] [--rounds N]
                        [--sched POLICIES] [--seconds S] [TILE,TILES ...]

Rounds and lines are those of bench-fidelity.py. The simulation gives each worker a
processor of its own: with more workers than processors, or others on the machine,
it is too fast.
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
    parser.add_argument("sizes", nargs="*", default=["160,6", "240,6"])
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--devices", type=int, default=1)
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
            POCL_MAX_PTHREAD_COUNT="1",
            POCL_DEVICES=" ".join(["pthread"] * options.devices),
            STARPU_OPENCL_ON_CPUS="1", STARPU_NCPU=str(options.cpus),
            STARPU_NOPENCL=str(options.devices))
        self.options = options

    def cholesky(self, size, *more):
        tile, tiles = size
        return (self.options.cholesky, "-size", str(tile * tiles), "-nblocks",
                str(tiles)) + more


def main():
    options = arguments()
    sizes = [tuple(map(int, size.split(","))) for size in options.sizes]
    errors = []
    with tempfile.TemporaryDirectory() as home:
        machine = Machine(options, home)
        machine.calibrate_machine()
        for size in sizes:
            machine.must(*machine.cholesky(size, "-check"))
            errors += machine.measure(
                f"devices tile={size[0]} tiles={size[1]}", machine.cholesky(size),
                options)
    errors, apart = zip(*errors)
    print(f"bench devices-error cpus={options.cpus} "
          f"devices={options.devices} value={statistics.median(errors):.1f} "
          f"unit=% worst={max(errors):.1f} "
          f"apart={statistics.median(apart):.1f},{max(apart):.1f} load={os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()

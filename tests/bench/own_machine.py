# SPDX-License-Identifier: LGPL-2.1-or-later
"""This machine and its own simulated copy, with an environment and measurements apart
from the user's, for benchmarks that hold one to the other."""

import json
import os
import subprocess
import sys


def quartiles(values):
    values = sorted(values)
    return values[len(values) // 4], values[(3 * len(values)) // 4]


def error(simulated, real):
    return f"{100 * (simulated / real - 1):+.1f}%"


class OwnMachine:
    """`home` is an empty folder."""

    def __init__(self, orrery, home, **env):
        self.orrery, self.home = orrery, home
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("STARPU_") and
                name not in ("ORRERY_MACHINE", "ORRERY_SET", "ORRERY_ASSUME",
                             "ORRERY_CHECK_BOUNDS")}
        self.env = dict(kept, STARPU_HOME=home, STARPU_HOSTNAME="bench",
                        STARPU_SILENT="1", STARPU_CALIBRATE="0",
                        OPENBLAS_NUM_THREADS="1", **env)

    def run(self, *words, **env):
        return subprocess.run(words, env={**self.env, **env}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)

    def must(self, *words, **env):
        ended = self.run(*words, **env)
        if ended.returncode != 0:
            sys.exit(f"{' '.join(words)}: {ended.stdout}{ended.stderr}")
        return ended.stdout

    def calibrate(self, seconds, programs):
        """Links and the runtime's costs, then the kernels of each program."""
        self.must(self.orrery, "calibrate", "bus")
        self.must(self.orrery, "calibrate", "runtime")
        for words in programs:
            # Its status says whether all is as precise as was asked for.
            self.run(self.orrery, "calibrate", "kernels", "-t", f"{seconds}s",
                     "--confidence", "2%", "--", *words)

    def timed(self, words, **env):
        """The milliseconds that an example prints, and its kernels with a model, as
        ORRERY_REPORT has them."""
        path = os.path.join(self.home, "report.json")
        ms = printed_ms(self.must(*words, ORRERY_REPORT=path, **env))
        with open(path, encoding="utf-8") as file:
            return ms, [kernel for kernel in json.load(file)["kernels"]
                        if kernel["model"]]

    def in_turns(self, words, repeats, **env):
        """The same of real and of simulated runs, in turns."""
        real, simulated = [], []
        for _ in range(repeats):
            real.append(self.timed(words, **env))
            simulated.append(self.timed(words, ORRERY_MACHINE="bench", **env))
        return real, simulated


def printed_ms(said):
    """Of the examples' line "size ms ...": without what comes before and after."""
    lines = [line.split() for line in said.splitlines()]
    return next(float(line[1]) for line in lines if line and line[0].isdigit())


def tasks_and_us(kernels):
    """How many there are, and how long one takes on average."""
    n = sum(kernel["count"] for kernel in kernels)
    return n, sum(kernel["count"] * kernel["mean_us"] for kernel in kernels) / n

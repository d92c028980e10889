# SPDX-License-Identifier: LGPL-2.1-or-later
"""This machine and its own simulated copy, with an environment and measurements apart
from the user's, for benchmarks that hold one to the other."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time


REALS = 3


def quartiles(values):
    values = sorted(values)
    return values[len(values) // 4], values[(3 * len(values)) // 4]


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

    def calibrate_machine(self):
        """Links and the runtime's costs."""
        self.must(self.orrery, "calibrate", "bus", "--spread", "1000%")
        self.must(self.orrery, "calibrate", "runtime")

    def calibrate_kernels(self, seconds, words):
        """Those of a program; what was measured before is forgotten."""
        for models in pathlib.Path(self.home).glob("**/codelets"):
            shutil.rmtree(models)
        # Its status says whether all is as precise as was asked for.
        self.run(self.orrery, "calibrate", "kernels", "-t", f"{seconds}s",
                 "--confidence", "2%", "--", *words)

    def calibrate_together(self, seconds, words, scheds):
        """The same, by runs in which all workers are at work, as in those to be
        predicted: each kernel beside those of the other workers."""
        for models in pathlib.Path(self.home).glob("**/codelets"):
            shutil.rmtree(models)
        start = time.monotonic()
        lacking = scheds
        while time.monotonic() < start + seconds or lacking:
            for sched in scheds:
                self.must(*words, STARPU_CALIBRATE="1", STARPU_SCHED=sched)
            lacking = [sched for sched in lacking
                       if self.lacks_measures(words, sched)]
            if time.monotonic() > start + 20 * seconds:
                sys.exit(f"{' '.join(words)}: kernels are not measured often enough "
                         f"in {20 * seconds} s")

    def lacks_measures(self, words, sched):
        """Whether a real run would still look which worker is faster."""
        return "is not calibrated enough" in self.run(
            *words, STARPU_SCHED=sched, STARPU_SILENT="0").stderr

    def timed(self, words, **env):
        """The milliseconds that an example prints, and its kernels with a model, as
        ORRERY_REPORT has them."""
        path = os.path.join(self.home, "report.json")
        ms = printed_ms(self.must(*words, ORRERY_REPORT=path, **env))
        with open(path, encoding="utf-8") as file:
            return ms, [kernel for kernel in json.load(file)["kernels"]
                        if kernel["model"]]

    def measure(self, what, words, options, together=False):
        """In each of `rounds` the program's kernels are measured anew (`together`: by
        calibrate_together), then each policy
        is run, another one first in each round: REALS real runs, of which the median
        one counts, and a simulated one. A line for each, which begins with `what`;
        returns the medians of the rounds' errors, in per cent, and of those apart from
        the kernels' lengths."""
        scheds = options.sched.split(",")
        rounds = {sched: [] for sched in scheds}
        for n in range(options.rounds):
            if together:
                self.calibrate_together(options.seconds, words, scheds)
            else:
                self.calibrate_kernels(options.seconds, words)
            for sched in scheds[n % len(scheds):] + scheds[:n % len(scheds)]:
                real = sorted((self.timed(words, STARPU_SCHED=sched)
                               for _ in range(REALS)), key=lambda run: run[0])
                rounds[sched].append(
                    [real[REALS // 2],
                     self.timed(words, STARPU_SCHED=sched, ORRERY_MACHINE="bench"),
                     real])
        return [tell(f"{what} sched={sched}", rounds[sched],
                     getattr(options, "kernels", False)) for sched in scheds]


def tell(what, rounds, kernels=False):
    """`again` is how far the other real runs of a round are from the one that counts:
    what a prediction by another run would be wrong by."""
    again = [100 * abs(run[0] / counts[0] - 1) for counts, _, runs in rounds
             for run in runs if run is not counts]
    if kernels:
        tell_kernels(what, rounds)
    real, simulated, _ = zip(*rounds)
    rounds = list(zip(real, simulated))
    errors = [100 * (s[0] / r[0] - 1) for r, s in rounds]
    low, high = quartiles([r[0] for r in real])
    least, most = quartiles(errors)
    error = statistics.median(errors)
    apart = statistics.median(100 * (in_kernels(s) / in_kernels(r) - 1)
                              for r, s in rounds)
    ntasks, us = zip(*(tasks_and_us(r[1]) for r in real))
    models = [tasks_and_us(s[1])[1] for s in simulated]
    print(f"bench {what:<26} tasks={ntasks[0]:<5} "
          f"kernel={statistics.median(us):<7.1f} "
          f"model={statistics.median(models):<7.1f} "
          f"value={statistics.median(r[0] for r in real):<8.2f} unit=ms "
          f"quartiles={low:.2f}..{high:.2f} "
          f"simulated={statistics.median(s[0] for s in simulated):<8.2f} "
          f"error={error:+.1f}% quartiles={least:+.1f}..{most:+.1f} "
          f"apart={apart:+.1f}% again={statistics.median(again):.1f}%", flush=True)
    return abs(error), abs(apart)


def tell_kernels(what, rounds):
    """Each kernel on each device: by how much its mean in a real run is off its model, in
    each round, the three real runs in the order of their makespans; and what share of the
    kernels' time it is."""
    models = [{(k["name"], k["arch"]): k["mean_us"] for k in simulated[1]}
              for _, simulated, _ in rounds]
    found = sorted({(k["name"], k["arch"]) for _, _, runs in rounds
                    for run in runs for k in run[1]})
    for key in found:
        off = []
        share = []
        for (_, _, runs), model in zip(rounds, models):
            per_run = [{(k["name"], k["arch"]): k for k in run[1]} for run in runs]
            off.append("/".join(
                f"{100 * (kernels[key]['mean_us'] / model[key] - 1):+.0f}"
                if key in kernels and key in model else "-" for kernels in per_run))
            share += [kernels[key]["mean_us"] * kernels[key]["count"] /
                      sum(k["mean_us"] * k["count"] for k in kernels.values())
                      if key in kernels else 0 for kernels in per_run]
        print(f"bench {what} kernel={key[0]} arch={key[1]} "
              f"share={100 * statistics.mean(share):.0f}% off={','.join(off)} unit=%",
              flush=True)


def in_kernels(run):
    """A makespan in mean lengths of its own kernels."""
    return run[0] / tasks_and_us(run[1])[1]


def printed_ms(said):
    """Of the examples' line "size ms ...": without what comes before and after."""
    lines = [line.split() for line in said.splitlines()]
    return next(float(line[1]) for line in lines if line and line[0].isdigit())


def tasks_and_us(kernels):
    """How many there are, and how long one takes on average."""
    n = sum(kernel["count"] for kernel in kernels)
    return n, sum(kernel["count"] * kernel["mean_us"] for kernel in kernels) / n

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an asynchronous task on a GPU costs beside the vendor's calls: instructions
that valgrind counts in a program of N tasks less those of one with none, on the
stand-in for CUDA's driver, by the file that they are in; what the system's libraries do
for ours ("system": locks, clocks, memory) is told apart from what they do for the
stand-in. The stand-in does at once what it is told. What a worker looks for its
next task while the device computes, before it sleeps, is no cost of a task, and told
apart: "waiting".

usage: bench-gpu-tasks.py GPU_TASKS STANDIN [--tasks N] [--functions INSTRUCTIONS]
                          [--most INSTRUCTIONS]

With --functions those that take as many per task are named, and who calls what of the
system's. With --most the result is 1 if liborrery and what is done for it take more per
task.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("program")
    parser.add_argument("standin")
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--most", type=float)
    parser.add_argument("--functions", type=float, metavar="INSTRUCTIONS",
                        help="names the functions that take as many")
    return parser.parse_args()


# Functions in which threads wait for each other.
WAITS = ("threads_park", "threads_linger")
STANDIN = "devices=1 delay=0 now=1"
# Objects whose instructions are somebody else's, who calls them.
SYSTEM = ("libc.so", "ld-linux", "libpthread", "libm.so", "[vdso]")


def is_system(name):
    return name.startswith(SYSTEM)


class Counts:
    """The instructions that a file of callgrind's has: of each object, without what it
    calls; of each function of an object, of its own; and what each function has had
    done by the system's libraries. Those of WAITS are apart."""

    def __init__(self, path):
        self.objects = collections.Counter()
        self.functions = collections.Counter()
        self.system = collections.Counter()
        self.names = {}
        self.object = self.callee_object = self.function = self.callee = "?"
        self.called = False
        for line in path.read_text().splitlines():
            self.read(line)

    def name(self, kind, text):
        number, _, name = text.partition(" ")
        if name:
            self.names[kind, number] = os.path.basename(name) if kind == "ob" else name
        return self.names[kind, number]

    def read(self, line):
        key, _, text = line.partition("=")
        if key == "ob":
            self.object = self.callee_object = self.name("ob", text)
        elif key == "fn":
            self.function = self.name("fn", text)
            self.callee_object = self.object
        elif key == "cob":
            self.callee_object = self.name("ob", text)
        elif key == "cfn":
            self.callee = self.name("fn", text)
        elif key == "calls":
            self.called = True
        elif re.match(r"[+\-*\d]", line):
            self.add(int(line.split()[1]))

    def add(self, n):
        if not self.called:
            waits = self.function.startswith(WAITS)
            self.objects["waiting" if waits else self.object] += n
            self.functions[self.object, self.function] += n
        elif is_system(self.callee_object) and not is_system(self.object) \
                and self.function != "(below main)":
            self.system[self.object, self.function, self.callee] += n
        if self.called:
            self.called = False
            self.callee_object = self.object


def run(options, folder, *numbers, under=()):
    env = dict(os.environ, ORRERY_CUDA_LIBRARY=options.standin, STARPU_NCPU="0",
               GPU_STANDIN=STANDIN, STARPU_HOME=folder,
               STARPU_SCHED="eager", STARPU_SILENT="1", STARPU_NCUDA="1",
               STARPU_BACKOFF_MIN="0", STARPU_BACKOFF_MAX="0")
    return subprocess.run([*under, options.program, *numbers], env=env, text=True,
                          capture_output=True, check=True)


def count(options, folder, ntasks):
    out = pathlib.Path(folder, f"callgrind.{ntasks}")
    run(options, folder, str(ntasks), under=(
        "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "-q"))
    return Counts(out)


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        # It measures the links, once for all.
        print(run(options, folder, "20000", "20").stdout, end="")
        few = count(options, folder, options.tasks)
        many = count(options, folder, 2 * options.tasks)
    def per_task(counter):
        before, after = counter(few), counter(many)
        return sorted(((name, (after[name] - before[name]) / options.tasks)
                       for name in after), key=lambda item: -item[1])

    objects = per_task(lambda counts: counts.objects)
    for name, value in objects:
        if value >= 1:
            print(f"bench gpu-tasks object={name} value={value:.0f} "
                  "unit=instructions/task")
    for (name, function), value in per_task(lambda counts: counts.functions):
        if options.functions and value >= options.functions:
            print(f"bench gpu-tasks function={function} object={name} "
                  f"value={value:.0f} unit=instructions/task")
    lent = 0
    for (name, function, callee), value in per_task(lambda counts: counts.system):
        ours = name.startswith("liborrery") and not function.startswith(WAITS)
        lent += value if ours else 0
        if options.functions and value >= options.functions:
            print(f"bench gpu-tasks system={callee} for={function} object={name} "
                  f"value={value:.0f} unit=instructions/task")
    ours = sum(value for name, value in objects if name.startswith("liborrery"))
    print(f"bench gpu-tasks object=ours value={ours:.0f} system={lent:.0f} "
          f"unit=instructions/task tasks={options.tasks}")
    return options.most is not None and ours + lent > options.most


if __name__ == "__main__":
    sys.exit(main())

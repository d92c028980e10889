#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an asynchronous task on a GPU costs beside the vendor's calls: instructions
that valgrind counts in a program of N tasks less those of one with none, on the
stand-in for CUDA's driver, by the file that they are in. What a worker looks for its
next task while the device computes, before it sleeps, is no cost of a task, and told
apart: "waiting".

usage: bench-gpu-tasks.py GPU_TASKS STANDIN [--tasks N] [--most INSTRUCTIONS]

With --most the result is 1 if liborrery alone takes more per task.
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
    return parser.parse_args()


def read(path):
    """The instructions of each object, without what it calls; those of threads_park, in
    which threads wait for each other, apart."""
    names, counts = {}, collections.Counter()
    current, called = "?", False
    functions, function = {}, ""
    for line in path.read_text().splitlines():
        found = re.match(r"ob=\((\d+)\)(?: (.*))?", line)
        if found:
            if found.group(2):
                names[found.group(1)] = os.path.basename(found.group(2))
            current = names[found.group(1)]
        elif line.startswith(("fn=", "cfn=")):
            found = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line)
            if found.group(2):
                functions[found.group(1)] = found.group(2)
            if line.startswith("fn="):
                function = functions[found.group(1)]
        elif line.startswith("cob="):
            found = re.match(r"cob=\((\d+)\) (.*)", line)
            if found:
                names[found.group(1)] = os.path.basename(found.group(2))
        elif line.startswith("calls="):
            called = True
        elif re.match(r"[+\-*\d]", line):
            if not called:
                where = "waiting" if function == "threads_park" else current
                counts[where] += int(line.split()[1])
            called = False
    return counts


def count(options, folder, ntasks):
    out = pathlib.Path(folder, f"callgrind.{ntasks}")
    env = dict(os.environ, ORRERY_CUDA_LIBRARY=options.standin, STARPU_NCPU="1",
               GPU_STANDIN="devices=1 delay=0", STARPU_HOME=folder,
               STARPU_SCHED="eager", STARPU_SILENT="1", STARPU_NCUDA="1",
               STARPU_BACKOFF_MIN="0", STARPU_BACKOFF_MAX="0")
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
                    "-q", options.program, str(ntasks)], env=env, check=True)
    return read(out)


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        count(options, folder, 1)  # measures the links, once for all
        few = count(options, folder, options.tasks)
        many = count(options, folder, 2 * options.tasks)
    per_task = {name: (many[name] - few[name]) / options.tasks for name in many}
    for name, value in sorted(per_task.items(), key=lambda item: -item[1]):
        if value >= 1:
            print(f"bench gpu-tasks object={name} value={value:.0f} "
                  "unit=instructions/task")
    ours = sum(value for name, value in per_task.items()
               if name.startswith("liborrery"))
    print(f"bench gpu-tasks object=ours value={ours:.0f} unit=instructions/task "
          f"tasks={options.tasks}")
    return options.most is not None and ours > options.most


if __name__ == "__main__":
    sys.exit(main())

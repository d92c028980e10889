#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulations per second of orrery.simulate: in this process, and by the command
`orrery replay`, in turn; orrery.compare with its pool beside as many commands at once.

usage: bench-studies.py [MACHINE [TASKS...]]       (h100-pcie-4, 10 100 1000)

Prints one line per size and way: name, parameters, value, unit.
"""
import concurrent.futures
import os
import statistics
import sys
import time

import orrery
from orrery import _simulation, _study

ROUNDS = 9
RUNS = 8  # of a comparison


def layers(tasks):
    """Tasks that read what those ten before have made."""
    graph = orrery.Graph()
    data = [graph.add_data(1 << 20) for _ in range(10)]
    for i in range(tasks):
        graph.add_task(f"kernel{i % 3}", reads=[data[(i + 1) % 10]],
                       writes=[data[i % 10]],
                       times={"cpu": 900.0 + i % 7, "cuda": 30.0})
    return graph


def seconds(function):
    start = time.monotonic()
    function()
    return time.monotonic() - start


def several(case):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        for future in [threads.submit(_simulation.command, case)
                       for _ in range(RUNS)]:
            future.result()


def main():
    machine = sys.argv[1] if len(sys.argv) > 1 else "h100-pcie-4"
    sizes = [int(n) for n in sys.argv[2:]] or [10, 100, 1000]
    for tasks in sizes:
        graph = layers(tasks)
        case = _study._case(graph, orrery.machine(machine), "dmdas", None, None,
                            None)
        ways = {
            "here": lambda: _simulation.play(case),
            "command": lambda: _simulation.command(case),
            "pool": lambda: orrery.compare([graph] * RUNS, machine, "dmdas"),
            "commands": lambda: several(case),
        }
        took = {way: [] for way in ways}
        for i in range(ROUNDS + 1):
            for way, function in ways.items():
                wall = seconds(function)
                if i:  # the first one starts the pool
                    took[way].append(wall)
        median = {way: statistics.median(walls) for way, walls in took.items()}
        for one, other, runs in (("here", "command", 1),
                                 ("pool", "commands", RUNS)):
            print(f"studies tasks={tasks} way={one} "
                  f"{runs / median[one]:.1f} simulations/s")
            print(f"studies tasks={tasks} way={other} "
                  f"{runs / median[other]:.1f} simulations/s")
            print(f"studies tasks={tasks} {one}/{other} "
                  f"{median[other] / median[one]:.2f} ratio", flush=True)


if __name__ == "__main__":
    main()

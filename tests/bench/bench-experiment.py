#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a large `orrery study` costs: 40 policies on 8 machines, 3 records of a Cholesky
factorization of 1,540 tasks, so many repetitions. With --instructions, those of one
simulation of each policy, by valgrind, on one of the machines.

usage: bench-experiment.py ORRERY PLAYER CHOLESKY [REPETITIONS]      (20)
       bench-experiment.py ORRERY PLAYER CHOLESKY --instructions MACHINE

Processor time is that of all processes, which is little disturbed by others that use the
machine; two processors need half of it. Prints one line per figure: name, parameters,
value, unit.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

TILES = 20
SIZES = (9600, 14400, 19200)
MACHINES = ("laptop-8", "gtx1650-4gb", "thunderbolt-rtx3080", "a100-pcie-1", "rtx4090-2",
            "h100-pcie-4", "epyc-64", "hgx-h100-8")
LEFT_OUT = ("plan-heft",)  # 41 come with Orrery


def policies(orrery):
    lines = subprocess.run([orrery, "sched", "list"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split("\n")
    names = [line.split()[0] for line in lines[1:] if line.strip()]
    return [name for name in names
            if name.isprintable() and "=" not in name and "." not in name
            and name not in LEFT_OUT]


def record(orrery, cholesky, folder, size):
    path = os.path.join(folder, f"cholesky-{size}.rec")
    subprocess.run([orrery, "record", "-o", path, "-m", "h100-pcie-4", "--", cholesky,
                    "-size", str(size), "-nblocks", str(TILES)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def study(orrery, folder, records, names, repetitions):
    path = os.path.join(folder, "large.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"programs: [{', '.join(map(os.path.basename, records))}]\n"
                   f"machines: [{', '.join(MACHINES)}]\n"
                   f"policies: [{', '.join(names)}]\n"
                   f"repetitions: {repetitions}\n")
    before, start = children_s(), time.monotonic()
    done = subprocess.run([orrery, "study", path], check=False, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"the study ended with {done.returncode}: {done.stderr[-800:]}")
    wall, used = time.monotonic() - start, children_s() - before
    runs = len(names) * len(MACHINES) * len(records) * repetitions
    what = (f"bench experiment policies={len(names)} machines={len(MACHINES)} "
            f"programs={len(records)} repetitions={repetitions}")
    print(f"{what} {runs} runs")
    print(f"{what} processor {used:.1f} s")
    print(f"{what} processor/run {1e3 * used / runs:.2f} ms")
    print(f"{what} wall {wall:.1f} s", flush=True)


def instructions(player, path, names, machine):
    total = 0
    for name in names:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", player, path],
            check=True, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, "ORRERY_MACHINE": machine, "STARPU_SCHED": name,
                 "ORRERY_SIM_NOISE": "measured"})
        count = next(int(line.split(":")[1]) for line in done.stderr.split("\n")
                     if "Collected" in line)
        total += count
        print(f"bench experiment machine={machine} policy={name} {count / 1e6:.1f} Minstructions",
              flush=True)
    print(f"bench experiment machine={machine} mean {total / len(names) / 1e6:.1f} Minstructions")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    orrery, player, cholesky = map(os.path.abspath, sys.argv[1:4])
    rest = sys.argv[4:]
    with tempfile.TemporaryDirectory(prefix="orrery-experiment-") as folder:
        names = policies(orrery)
        if rest and rest[0] == "--instructions":
            path = record(orrery, cholesky, folder, SIZES[0])
            instructions(player, path, names, rest[1])
            return
        records = [record(orrery, cholesky, folder, size) for size in SIZES]
        study(orrery, folder, records, names, int(rest[0]) if rest else 20)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program of MPI as 1,024 simulated ranks, in a ring (smpi-ring.c): as Orrery hosts it, as it
was built, and as SMPI simulates it, compiled by smpicc; in turns. Processor time per message,
without and with what 1,024 ranks take to begin and to end, and memory. Both copy the bytes of
messages; Orrery also without (ORRERY_SIM_MPI_VALUES). Goal: a fifth of SMPI's time.

usage: bench-hosted-ring.py HOSTED SMPICC SMPIRUN
"""
import os
import statistics
import subprocess
import sys
import tempfile

RANKS, TURNS = 1024, 3
# Bytes, messages of each rank, and for Orrery whether the bytes are moved.
RUNS = [(1000, 20, True), (1000, 200, True), (1000000, 20, True), (1000000, 20, False)]
HERE = os.path.dirname(os.path.abspath(__file__))
PLATFORM = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{RANKS - 1}" speed="1Gf"
           bw="12.5GBps" lat="500ns"/>
</platform>
"""


def run(words, **more):
    """Processor time in seconds, and the most memory of one process in MiB."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, **more})
    text = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{words[0]} failed:\n{text}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def hosted(program, messages, size, moves):
    more = {} if moves else {"ORRERY_SIM_MPI_VALUES": "4096"}
    return run([program, str(messages), str(size)],
               ORRERY_MACHINE=f"{RANKS}*epyc-64 + 100Gb/s latency=1us", **more)


def smpi(smpirun, folder, messages, size):
    # smpirun is a script, whose time and memory are those of its child here: it waits for it.
    return run([smpirun, "-np", str(RANKS), "-platform", f"{folder}/ring.xml",
                "--cfg=smpi/host-speed:1Gf", "--log=root.thres:error", f"{folder}/ring",
                str(messages), str(size)])


def median(samples):
    return [statistics.median(column) for column in zip(*samples)]


def compare(program, smpirun, folder, size, messages, moves):
    ways = [lambda n: hosted(program, n, size, moves),
            lambda n: smpi(smpirun, folder, n, size)]
    samples = [[[], []], [[], []]]
    for _ in range(TURNS):
        for way, kept in zip(ways, samples):
            kept[0].append(way(0))
            kept[1].append(way(messages))
    us = []
    memory = []
    for kept in samples:
        (start, _), (whole, most) = median(kept[0]), median(kept[1])
        us += [1e6 * (whole - start) / RANKS / messages, 1e6 * whole / RANKS / messages]
        memory.append(most)
    print(f"bench hosted-ring ranks={RANKS} messages={messages} bytes={size} "
          f"moved={'yes' if moves else 'no'} {us[0]:.2f} us per message, {us[1]:.2f} us with the "
          f"start, {memory[0]:.0f} MiB; smpi {us[2]:.1f} us, {us[3]:.1f} us, {memory[1]:.0f} "
          f"MiB; ratio {us[0] / us[2]:.3f}, {us[1] / us[3]:.3f}", flush=True)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip())
    program, smpicc, smpirun = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="orrery-bench-") as folder:
        with open(f"{folder}/ring.xml", "w", encoding="utf-8") as file:
            file.write(PLATFORM)
        run([smpicc, "-O2", "-w", f"{HERE}/smpi-ring.c", "-o", f"{folder}/ring"])
        for size, messages, moves in RUNS:
            compare(program, smpirun, folder, size, messages, moves)


if __name__ == "__main__":
    main()

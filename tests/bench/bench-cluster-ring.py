#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A ring of 1,024 nodes, 20 messages each, in the network between nodes (bench-cluster),
beside SMPI's simulation of the same MPI program (smpi-ring.c): processor time per message,
SMPI's without its start. SMPI runs the ranks and copies their bytes as well; the network
alone does neither.

usage: bench-cluster-ring.py BENCH_CLUSTER SMPICC SMPIRUN
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

NODES, MESSAGES = 1024, 20
HERE = os.path.dirname(os.path.abspath(__file__))
PLATFORM = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{NODES - 1}" speed="1Gf"
           bw="12.5GBps" lat="500ns"/>
</platform>
"""


def children_s():
    """Processor time of all programs that have been run."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{words[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def smpi_s(smpirun, folder, messages, size):
    since = children_s()
    run(smpirun, "-np", str(NODES), "-platform", f"{folder}/ring.xml",
        "--cfg=smpi/host-speed:1Gf", "--log=root.thres:error", f"{folder}/ring",
        str(messages), str(size))
    return children_s() - since


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip())
    ours, smpicc, smpirun = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="orrery-bench-") as folder:
        with open(f"{folder}/ring.xml", "w", encoding="utf-8") as file:
            file.write(PLATFORM)
        run(smpicc, "-O2", "-w", f"{HERE}/smpi-ring.c", "-o", f"{folder}/ring")
        for size in (1000, 1000000):
            start = smpi_s(smpirun, folder, 0, size)
            smpi = smpi_s(smpirun, folder, MESSAGES, size) - start
            smpi *= 1e6 / NODES / MESSAGES
            text = run(ours, "ring", str(NODES), str(MESSAGES), str(size))
            own = float(re.search(r"([0-9.]+) us per message", text)[1])
            print(f"bench cluster-ring nodes={NODES} messages={MESSAGES} bytes={size} "
                  f"{own:.2f} us per message, smpi {smpi:.1f} us, ratio {own / smpi:.4f}",
                  flush=True)


if __name__ == "__main__":
    main()

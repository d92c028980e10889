#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Bytes that the policy memaware moves beside dmdar, where matrices do not fit into
the memories of devices. Prints the table and TAP.

usage: test-memaware.py MULT CHOLESKY LU
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
MULT, CHOLESKY, LU = sys.argv[1:4]
TIMES = "kernel[*] on cuda = 3ms; kernel[*] on cpu = 90ms"
# What, machine, MiB of each device, most bytes by those of dmdar, the program. A
# matrix of mult has 100 MiB, of lu 1,406; of cholesky's 1,600 MiB are used.
ROWS = [
    ("mult, 3 times the memory of one GPU", "gtx1650-4gb", 34, 0.7,
     [MULT, "-size", "5120", "-nblocks", "32"]),
    ("mult, 2 times", "gtx1650-4gb", 50, 0.7,
     [MULT, "-size", "5120", "-nblocks", "32"]),
    ("mult, 3 times the memory of two GPUs", "rtx4090-2", 16, 0.6,
     [MULT, "-size", "5088", "-nblocks", "48"]),
    ("mult, 3 times the memory of four GPUs", "h100-pcie-4", 8, 0.75,
     [MULT, "-size", "5088", "-nblocks", "48"]),
    ("Cholesky, 3 times the memory of one GPU", "gtx1650-4gb", 533, 0.7,
     [CHOLESKY, "-size", "28800", "-nblocks", "30"]),
    ("Cholesky, 4 times", "gtx1650-4gb", 400, 0.7,
     [CHOLESKY, "-size", "28800", "-nblocks", "30"]),
    ("Cholesky, 3 times the memory of two GPUs", "rtx4090-2", 266, 0.7,
     [CHOLESKY, "-size", "28800", "-nblocks", "30"]),
    ("Cholesky, as much as 4 GPUs have", "h100-pcie-4", 400, 1,
     [CHOLESKY, "-size", "28800", "-nblocks", "30"]),
    ("LU, 3 times the memory of one GPU", "gtx1650-4gb", 468, 0.7,
     [LU, "-size", "19200", "-nblocks", "20"]),
    ("LU, 3 times the memory of two GPUs", "rtx4090-2", 234, 0.7,
     [LU, "-size", "19200", "-nblocks", "20"]),
]


def moved(machine, mib, sched, program):
    """Bytes and milliseconds of a run."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        env = dict(os.environ, ORRERY_MACHINE=machine, STARPU_SCHED=sched,
                   ORRERY_SET=f"cuda.memory = {mib}MiB", STARPU_SILENT="1",
                   ORRERY_REPORT=report, STARPU_HOME=folder)
        env.pop("ORRERY_CHECK_BOUNDS", None)
        if program[0] != CHOLESKY:
            env["ORRERY_ASSUME"] = TIMES
        subprocess.run(program, env=env, check=True, stdout=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as file:
            said = json.load(file)
    return said["transferred_bytes"], said["makespan_us"] / 1e3


def main():
    failed = 0
    print(f"1..{len(ROWS)}")
    for n, (what, machine, mib, limit, program) in enumerate(ROWS, 1):
        theirs, their_ms = moved(machine, mib, "dmdar", program)
        ours, our_ms = moved(machine, mib, "memaware", program)
        good = ours <= limit * theirs
        failed += not good
        print(f"{'ok' if good else 'not ok'} {n} - {what}: "
              f"{ours / 2**20:.0f} MiB, dmdar {theirs / 2**20:.0f} MiB "
              f"({100 * (ours / theirs - 1):+.0f} %); {our_ms:.0f} ms, dmdar "
              f"{their_ms:.0f} ms", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

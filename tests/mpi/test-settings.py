#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Variables of MPI's layer: each changes a fact that programs/settings.c tells, or what is
on standard error. Prints TAP.
usage: test-settings.py [MPIRUN.SH openmpi|mpich PROGRAM]"""
import os
import re
import subprocess
import sys

if len(sys.argv) < 4:
    print("1..0 # SKIP no MPI: neither Open MPI nor MPICH was there when this was built")
    sys.exit(0)
START = [*sys.argv[1:3], "4", *sys.argv[3:]]
NAMES = ("STARPU_MPI_", "ORRERY_MPI_", "STARPU_COMM_", "LB_HEAT_")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(NAMES)}
CLEAN.update(SETTINGS_COUNT="1", STARPU_WORKERS_NOBIND="1", STARPU_NCPU="1",
             STARPU_MPI_NOBIND="1", LB_HEAT_SLEEP_THRESHOLD="50")


def run(**settings):
    """The facts, what was on standard error, the exit status."""
    env = {name: value for name, value in {**CLEAN, **settings}.items() if value is not None}
    done = subprocess.run(START, env=env, capture_output=True, text=True, check=False)
    facts = {name: int(number)
             for name, number in re.findall(r"rank \d+: (.*) = (-?\d+)", done.stdout)}
    return facts, done.stderr, done.returncode


# Variable, value, fact, what it is without, and with it.
CHANGES = (
    ("STARPU_MPI_COOP_SENDS", "0", "values sent", 2, 3),
    ("STARPU_MPI_CACHE", "0", "values sent again", 0, 1),
    ("STARPU_MPI_REDUX_ARITY_THRESHOLD", "0", "copies sent to the owner", 1, 0),
    ("STARPU_MPI_THREAD_MULTIPLE_SEND", "1", "level of threads", 0, 1),
    ("STARPU_MPI_PRIORITIES", "0", "number that came first", 2, 1),
    ("LB_HEAT_WAKEUP_RATIO", "0", "half of the tasks was done", 1, 0),
    ("LB_HEAT_TIME_THRESHOLD", "500", "owner after balancing", 0, 1),
    ("LB_HEAT_SLEEP_THRESHOLD", "50", "owner after balancing", 0, 1),
)
# Variable, value, what standard error has with it alone.
TEXTS = (
    ("STARPU_MPI_STATS", "1", "[starpu_comm_stats]"),
    ("STARPU_COMM_STATS", "1", "[starpu_comm_stats]"),
    ("STARPU_MPI_CACHE_STATS", "1", "[starpu_mpi_cache_stats]"),
    ("STARPU_MPI_LB", "help", "heat  slower ranks give data"),
)
# Four ranks with a worker each, all on the first processor.
CROWDED = {"SETTINGS_COUNT": None, "STARPU_WORKERS_NOBIND": "0", "STARPU_WORKERS_CPUID": "0"}
# Variable, what is said without, with what else.
WARNINGS = (("ORRERY_MPI_WARN_CORES", "so that they take turns", CROWDED),)
claims = []
plain = run()
for name, value, fact, without, given in CHANGES:
    before, beside = plain, {}
    if name == "LB_HEAT_SLEEP_THRESHOLD":
        beside = {"LB_HEAT_TIME_THRESHOLD": "500"}
        before = run(**beside, LB_HEAT_SLEEP_THRESHOLD=None)
    if name == "LB_HEAT_WAKEUP_RATIO":
        beside = {"SETTINGS_FREE": "0"} # else it would wait for tasks that wait for it
    after = run(**beside, **{name: value})
    claims.append((f"{name}={value} changes: {fact}",
                   before[0].get(fact) == without and after[0].get(fact) == given and
                   before[2] == after[2] == 0, before, after))
for name, value, text in TEXTS:
    before, after = run(SETTINGS_COUNT=None), run(SETTINGS_COUNT=None, **{name: value})
    claims.append((f"{name}={value} is told", text not in before[1] and text in after[1],
                   before, after))
for name, text, beside in WARNINGS:
    before, after = run(**beside), run(**beside, **{name: "0"})
    claims.append((f"{name}=0 leaves out a warning, which rank 0 gives once",
                   before[1].count(text) == 1 and f"{name}=0" in before[1] and
                   "rank 0: warning" in before[1] and text not in after[1] and
                   before[2] == after[2] == 0, before, after))
unbound, bound = plain, run(STARPU_MPI_NOBIND=None, STARPU_MPI_THREAD_CPUID="0")
claims.append(("STARPU_MPI_THREAD_CPUID binds the thread, STARPU_MPI_NOBIND does not",
               unbound[0].get("processor of MPI") == -1 and
               bound[0].get("processor of MPI") == 0, unbound, bound))
print(f"1..{len(claims)}")
for n, (text, holds, *seen) in enumerate(claims, 1):
    print(f"{'ok' if holds else 'not ok'} {n} - {text}")
    for line in [] if holds else "\n".join(map(str, seen)).splitlines():
        print("# " + line)
sys.exit(not all(holds for _, holds, *_ in claims))

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Variables that change what policies do: with them one policy is another, to the
makespan's last digit, or is itself no more.

usage: test-settings.py CHOLESKY
"""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "unit"))
import tools_util  # noqa: E402

CHOLESKY = sys.argv[1]
ENV = {name: value for name, value in os.environ.items()
       if not name.startswith(("STARPU_", "ORRERY_")) or
       name in ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")}
# Machine and order of a tile.
FAST, MEASURED = ("rtx4090-2", 960), ("sirocco-v100", 1600)
# Policy with what is set is that policy; without, it is not.
SAME = [
    (FAST, "modular-dmda", {"STARPU_SCHED_READY": "1"}, "modular-dmdar"),
    (FAST, "modular-dmda", {"STARPU_SCHED_SORTED_BELOW": "1"}, "modular-dmdap"),
    (FAST, "modular-eager", {"STARPU_SCHED_SORTED_ABOVE": "1"}, "modular-prio"),
    (MEASURED, "robust", {"ORRERY_ROBUST_QUANTILE": "0.5"}, "dmdas"),
]
DIFFERENT = [
    (FAST, "modular-heft", {"STARPU_EXP_LEN_THRESHOLD": "1"}),
    (FAST, "modular-heft", {"STARPU_NTASKS_THRESHOLD": "1"}),
    (MEASURED, "robust", {"ORRERY_ROBUST_QUANTILE": "0.999"}),
]
TAP = tools_util.Tap()


def makespan(where, policy, settings):
    machine, tile = where
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        done = tools_util.run(
            CHOLESKY, "-size", 10 * tile, "-nblocks", 10,
            env=dict(ENV, ORRERY_MACHINE=machine, STARPU_SCHED=policy,
                     ORRERY_REPORT=report, STARPU_HOME=folder, **settings))
        if done.code != 0:
            sys.exit(str(done))
        with open(report, encoding="utf-8") as file:
            return json.load(file)["makespan_us"]


for at, first, said, second in SAME:
    usual = makespan(at, first, {})
    changed = makespan(at, first, said)
    other = makespan(at, second, {})
    TAP.claim(f"{first} with {said} is {second}",
              changed == other and changed != usual, usual, changed, other)
for at, first, said in DIFFERENT:
    usual, changed = makespan(at, first, {}), makespan(at, first, said)
    TAP.claim(f"{first} with {said} is not as usual", usual != changed, usual)
TAP.end()

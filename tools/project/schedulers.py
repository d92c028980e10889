#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes docs/SCHEDULERS.md: every policy on six machines of the catalogue,
`ninja schedulers-doc`.

usage: schedulers.py ORRERY CHOLESKY LU OUTPUT
"""
import json
import os
import re
import subprocess
import sys

ORRERY, CHOLESKY, LU, OUTPUT = sys.argv[1:5]
# Machine, order of a tile: of those that were measured, the one that was.
MACHINES = [("a100-pcie-1", 960), ("h100-pcie-4", 960),
            ("mixed-a100-v100", 960), ("rtx4090-2", 960),
            ("sirocco-v100", 1600), ("sirocco-p100", 1240)]
TILES = 16
ENV = {name: value for name, value in os.environ.items()
       if not name.startswith(("STARPU_", "ORRERY_")) or
       name in ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")}
ENV["STARPU_SILENT"] = "1"

INTRODUCTION = """\
# Schedulers

What each policy makes of two factorisations in %d by %d tiles on six simulated machines
of the [catalogue](CATALOGUE.md), of which the last two were measured. `ninja -C build
schedulers-doc` runs it all and writes this page. In each field: by how many per cent the
makespan is above the best lower bound ([BOUNDS.md](BOUNDS.md)), and the GB (10⁹ bytes)
moved between memories. Tiles are of 960, on the measured machines of the size that was
measured (1600, 1240).

One run says little: a kernel that takes 0.2 %% longer can change any of these figures by
some per cent. Priorities are the programs' own. What the policies do:
[core/sched](../core/sched/README.md). `orrery optimise` searches what none of them
finds.
"""

LU_NOTE = """\
The catalogue has no times of LU's kernels: gemm and both trsm take what they take in the
Cholesky of the same machine, getrf twice as long as potrf (it has twice the flops).
"""


def run(*words, env=None):
    done = subprocess.run(words, env=env or ENV, text=True,
                          capture_output=True, check=False)
    if not done.stdout.strip():
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def policies():
    """All built-in ones in their order."""
    done = subprocess.run([CHOLESKY, "-size", "480", "-nblocks", "1"],
                          env=dict(ENV, STARPU_SCHED="help", STARPU_SILENT="0",
                                   ORRERY_MACHINE=MACHINES[0][0],
                                   ORRERY_ASSUME="kernel[*] = 1us"),
                          text=True, capture_output=True, check=True)
    return [name for name in re.findall(r"^  (\S+) ", done.stderr, re.M)
            if "=" not in name]


def compare(machine, names, program, assume):
    more = ["--assume", assume] if assume else []
    return json.loads(run(ORRERY, "compare", "-m", machine, "-s",
                          ",".join(names), *more, "--json", "--", *program))


def best_bound(machine, program, assume):
    more = ["--assume", assume] if assume else []
    text = run(ORRERY, "bound", "-m", machine, "-s", "dmdas", *more, "--json",
               "--", *program)
    said = json.loads(text[text.index("{"):])
    return max(row["ms"] for row in said["bounds"] if row["proved"])


def lu_times(machine, tile):
    """Assumptions from what kernels of Cholesky take."""
    program = [CHOLESKY, "-size", str(6 * tile), "-nblocks", "6"]
    alike = {"gemm": [("gemm", 1)], "trsm": [("trsm_ll", 1), ("trsm_ru", 1)],
             "potrf": [("getrf", 2)]}
    found = {}
    for report in compare(machine, ["random", "eager", "dmdas"], program, None):
        for kernel in report["kernels"]:
            name = kernel["name"].removeprefix("chol_model_")
            for ours, factor in alike.get(name, []):
                found[ours, kernel["arch"]] = factor * kernel["predicted_us"]
    return ";".join(f"starpu_slu_lu_model_{ours} on {arch} = {us:.6g}us"
                    for (ours, arch), us in sorted(found.items()))


def table(names, program, tile_times):
    """Markdown: a row per policy, a column per machine."""
    cells = {name: [] for name in names}
    for machine, tile in MACHINES:
        words = [program, "-size", str(TILES * tile), "-nblocks", str(TILES)]
        assume = tile_times(machine, tile)
        bound = best_bound(machine, words, assume)
        for report in compare(machine, names, words, assume):
            cell = report.get("error") and "failed"
            if not cell:
                cell = "%.0f %%, %.1f" % (
                    100 * (report["makespan_us"] / 1e3 / bound - 1),
                    report["transferred_bytes"] / 1e9)
            cells[report["scheduler_asked"]].append(cell)
    rows = ["| policy | " + " | ".join(name for name, _ in MACHINES) + " |",
            "|---|" + "---|" * len(MACHINES)]
    rows += ["| %s | %s |" % (name, " | ".join(cells[name])) for name in names]
    return "\n".join(rows) + "\n"


def main():
    names = policies()
    text = INTRODUCTION % (TILES, TILES)
    text += "\n## Cholesky\n\n" + table(names, CHOLESKY, lambda *_: None)
    text += "\n## LU without pivoting\n\n" + LU_NOTE + "\n"
    text += table(names, LU, lu_times)
    with open(OUTPUT, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()

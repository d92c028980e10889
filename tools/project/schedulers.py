#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes docs/SCHEDULERS.md: every policy on six machines of the catalogue,
`ninja schedulers-doc`.

usage: schedulers.py ORRERY CHOLESKY LU MULT OUTPUT
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ORRERY, CHOLESKY, LU, MULT, OUTPUT = sys.argv[1:6]
# Machine, order of a tile: of those that were measured, the one that was.
MACHINES = [("a100-pcie-1", 960), ("h100-pcie-4", 960),
            ("mixed-a100-v100", 960), ("rtx4090-2", 960),
            ("sirocco-v100", 1600), ("sirocco-p100", 1240)]
TILES = 16
LAYERS, WIDTH = 24, 34 # 816 tasks, as many as a Cholesky of 16 tiles
ENV = {name: value for name, value in os.environ.items()
       if not name.startswith(("STARPU_", "ORRERY_")) or
       name in ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")}
ENV["STARPU_SILENT"] = "1"

INTRODUCTION = """\
# Schedulers

What each policy makes of two factorisations in %d by %d tiles, a matrix product and a
random layered graph on six simulated machines of the [catalogue](CATALOGUE.md), of which the last two were measured. `ninja -C build
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


MULT_NOTE = """\
256 tasks, all ready at once, each a row of tiles by a column of tiles: it takes as long as
16 gemm of the Cholesky.
"""

LAYERED_NOTE = """\
%d layers of %d tasks, the kernels of the Cholesky by chance (1 potrf to 4 trsm, 4 syrk,
12 gemm), each on a tile of its own, with tiles of the layer before as input. No
priorities.
""" % (LAYERS, WIDTH)

# Kernel of the Cholesky: buffers that it reads, share.
KERNELS = {"potrf": (0, 1), "trsm": (1, 4), "syrk": (1, 4), "gemm": (2, 12)}


def layered(folder, tile):
    """A record (docs/RECORD.md) of a random layered graph."""
    chance = random.Random(1)
    names = list(KERNELS)
    lines = ["run"]
    for i, name in enumerate(names, 1):
        reads = KERNELS[name][0]
        lines += [f'model {i} kind="history" symbol="chol_model_{name}"',
                  f'codelet {i} name="{name}" cpu=1 cuda=1 asynchronous=10 '
                  f"buffers={reads + 1} modes={'1,' * reads}3 model={i}"]
    tiles = LAYERS * WIDTH
    lines += [f'data {i} kind="matrix" shape={tile},{tile},{tile},4,'
              f"{4 * tile * tile}" for i in range(1, tiles + 1)]
    for t in range(tiles):
        own, layer = t + 1, t // WIDTH
        name = chance.choices(names, [KERNELS[n][1] for n in names])[0]
        before = range((layer - 1) * WIDTH + 1, layer * WIDTH + 1)
        inputs = (chance.sample(before, KERNELS[name][0]) if layer
                  else [])
        if len(inputs) < KERNELS[name][0]: # of the first layer: potrf
            name = "potrf"
        data = ",".join([f"{i}:r" for i in inputs] + [f"{own}:rw"])
        lines.append(f"submit {own} codelet={names.index(name) + 1} "
                     f"data={data}")
    lines += ["wait-all"] + [f"unregister {i}" for i in range(1, tiles + 1)]
    path = os.path.join(folder, f"layered-{tile}.rec")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(["orrery-record 1"] + lines +
                             [f"end value={len(lines)}", ""]))
    return path


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


def known_times(machine, tile):
    """Times of LU's kernels, from what those of the Cholesky take."""
    program = [CHOLESKY, "-size", str(6 * tile), "-nblocks", "6"]
    alike = {"gemm": [("gemm", 1)], "trsm": [("trsm_ll", 1), ("trsm_ru", 1)],
             "potrf": [("getrf", 2)]}
    found = {}
    for report in compare(machine, ["random", "eager", "dmdas"], program, None):
        for kernel in report["kernels"]:
            name = kernel["name"].removeprefix("chol_model_")
            for ours, factor in alike.get(name, []):
                found[ours, kernel["arch"]] = factor * kernel["predicted_us"]
    return found


def lu_times(machine, tile):
    return ";".join(f"starpu_slu_lu_model_{ours} on {arch} = {us:.6g}us"
                    for (ours, arch), us in
                    sorted(known_times(machine, tile).items()))


def mult_times(machine, tile):
    return ";".join(f"mult on {arch} = {TILES * us:.6g}us"
                    for (ours, arch), us in
                    sorted(known_times(machine, tile).items())
                    if ours == "gemm")


def tiled(program):
    """The words of a program for tiles of that order."""
    return lambda tile: [program, "-size", str(TILES * tile), "-nblocks",
                         str(TILES)]


def table(names, words_of, tile_times):
    """Markdown: a row per policy, a column per machine."""
    cells = {name: [] for name in names}
    for machine, tile in MACHINES:
        words = words_of(tile)
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
    text += "\n## Cholesky\n\n" + table(names, tiled(CHOLESKY),
                                        lambda *_: None)
    text += "\n## LU without pivoting\n\n" + LU_NOTE + "\n"
    text += table(names, tiled(LU), lu_times)
    text += "\n## Matrix product\n\n" + MULT_NOTE + "\n"
    text += table(names, tiled(MULT), mult_times)
    with tempfile.TemporaryDirectory() as folder:
        text += "\n## Random layered graph\n\n" + LAYERED_NOTE + "\n"
        text += table(names, lambda tile: [layered(folder, tile)],
                      lambda *_: None)
    with open(OUTPUT, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes docs/SCHEDULERS.md: every policy on six machines of the catalogue,
`ninja schedulers-doc`.

usage: schedulers.py ORRERY CHOLESKY LU QR MULT OUTPUT
"""
import concurrent.futures
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ORRERY, CHOLESKY, LU, QR, MULT, OUTPUT = sys.argv[1:7]
# Machine, order of a tile: of those that were measured, the one that was.
MACHINES = [("a100-pcie-1", 960), ("h100-pcie-4", 960),
            ("mixed-a100-v100", 960), ("rtx4090-2", 960),
            ("sirocco-v100", 1600), ("sirocco-p100", 1240)]
TILES = 16
FEWER_TILES = 12 # of LU and QR, which have 650 tasks with them, Cholesky 816
SEARCHED_TILES, SIMULATIONS = 10, 200 # of orrery optimise
# Machine, GPUs whose memory is made small.
SCARCE = [("gtx1650-4gb", 1), ("rtx4090-2", 2), ("h100-pcie-4", 4)]
SCARCE_TIMES = "kernel[*] on cuda = 3ms; kernel[*] on cpu = 90ms"
LAYERS, WIDTH = 24, 34 # 816 tasks, as many as a Cholesky of 16 tiles
ENV = {name: value for name, value in os.environ.items()
       if not name.startswith(("STARPU_", "ORRERY_")) or
       name in ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")}
ENV["STARPU_SILENT"] = "1"
POOL = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

INTRODUCTION = """\
# Schedulers

What each policy makes of three factorisations (Cholesky in %d by %d tiles, LU and QR in
%d by %d), a matrix product and a random layered graph on six simulated machines of the
[catalogue](CATALOGUE.md), of which the last two were measured. `ninja -C build
schedulers-doc` runs it all, in some minutes, and writes this page. In each field: by how
many per cent the makespan is above the best lower bound ([BOUNDS.md](BOUNDS.md)), and
the GB (10⁹ bytes) moved between memories. Tiles are of 960, on the measured machines of
the size that was measured (1600, 1240).

One run says little: a kernel that takes 0.2 %% longer can change any of these figures by
some per cent. Priorities are the programs' own. What the policies do:
[core/policies](../core/policies/README.md). `orrery optimise` searches what none of them
finds.
"""

LU_NOTE = """\
The catalogue has no times of LU's kernels: gemm and both trsm take what they take in the
Cholesky of the same machine, getrf twice as long as potrf (it has twice the flops).
"""

QR_NOTE = """\
The catalogue has no times of QR's kernels either. They are as many gemm as they take on
sirocco-v100, measured by Chameleon (github.com/miniskar/chameleon 8d2fdd45,
simucore/perfmodels): geqrt 1.37, tpqrt 1.71, on processors alone; ormqr 2.78 there and
2.84 on GPUs; tpmqrt 5.57 and 5.33.
"""

MULT_NOTE = """\
256 tasks, all ready at once, each a row of tiles by a column of tiles: it takes as long as
16 gemm of the Cholesky.
"""

LAYERED_NOTE = """\
%d layers of %d tasks, the kernels of the Cholesky by chance (1 potrf to 4 trsm, 4 syrk,
12 gemm), each on a tile of its own, with tiles of the layer before as input; potrf on
processors alone. No priorities.
""" % (LAYERS, WIDTH)

PLANNED_NOTE = """\
How much longer (+) or shorter (-) than dmdas plan-heft takes. It wins where few kernels
are worth a slow core, and where copies matter: it sees the whole graph, so that the
panel's tasks come in time and data go where they will be needed. It loses on several
fast devices, where what it prefetches for all tasks that are ready is in the way of what
is needed at once ([core/policies](../core/policies/README.md)). Priorities of the program and
the sizes of memories do not matter to it.
"""

SEARCHED_NOTE = """
The Cholesky in %d by %d tiles: the policy that is best, what `orrery optimise` has found
after %d simulations, those of the policies beside, and the best bound, all beside dmdas.
The search begins with the best policy and is never worse; it gains little where devices
are busy all the time, or a policy has planned already.
""" % (SEARCHED_TILES, SEARCHED_TILES, SIMULATIONS)

SCARCE_NOTE = """\
GPUs have a third of a matrix together: bytes that memaware moves beside dmdar, and the
makespan. In the matrix product 4 GPUs have room for two rows and columns each, and a
task needs two; with smaller tasks, for five. In the Cholesky and LU a panel has 30 and 20
tiles, and each of 4 GPUs has room for 37 and 33, which leaves little for the tiles that
are updated.
"""

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
                  f'codelet {i} name="{name}" cpu=1 '
                  f"{'' if name == 'potrf' else 'cuda=1 asynchronous=10 '}"
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
            if re.fullmatch("[a-z0-9-]+", name)]


def compare(machine, names, program, assume, edit=None):
    more = ["--assume", assume] if assume else []
    more += ["--set", edit] if edit else []
    return json.loads(run(ORRERY, "compare", "-m", machine, "-s",
                          ",".join(names), *more, "--json", "--", *program))


def best_bound(machine, program, assume):
    more = ["--assume", assume] if assume else []
    text = run(ORRERY, "bound", "-m", machine, "-s", "dmdas", *more, "--json",
               "--", *program)
    said = json.loads(text[text.index("{"):])
    return max(row["ms"] for row in said["bounds"] if row["proved"])


@functools.cache
def known_times(machine, tile):
    """Microseconds of (kernel of the Cholesky, architecture)."""
    program = [CHOLESKY, "-size", str(6 * tile), "-nblocks", "6"]
    found = {}
    for report in compare(machine, ["random", "eager", "dmdas"], program, None):
        for kernel in report["kernels"]:
            name = kernel["name"].removeprefix("chol_model_")
            found[name, kernel["arch"]] = kernel["predicted_us"]
    return found


def times_like(alike, machine, tile):
    """Times to assume. `alike`: (kernel, the one that it is like, architecture or
    None for all, factor)."""
    known = known_times(machine, tile)
    return ";".join(f"{kernel} on {arch} = {factor * us:.6g}us"
                    for kernel, like, where, factor in alike
                    for (name, arch), us in sorted(known.items())
                    if name == like and where in (None, arch.rstrip("0123456789")))


LU_LIKE = [("starpu_slu_lu_model_gemm", "gemm", None, 1),
           ("starpu_slu_lu_model_getrf", "potrf", None, 2),
           ("starpu_slu_lu_model_trsm_ll", "trsm", None, 1),
           ("starpu_slu_lu_model_trsm_ru", "trsm", None, 1)]
QR_LIKE = [("sgeqrt", "gemm", "cpu", 1.37), ("stpqrt", "gemm", "cpu", 1.71),
           ("sormqr", "gemm", "cpu", 2.78), ("sormqr", "gemm", "cuda", 2.84),
           ("stpmqrt", "gemm", "cpu", 5.57), ("stpmqrt", "gemm", "cuda", 5.33)]
MULT_LIKE = [("mult", "gemm", None, TILES)]


def tiled(program, tiles=TILES):
    """The words of a program for tiles of that order."""
    return lambda tile: [program, "-size", str(tiles * tile), "-nblocks",
                         str(tiles)]


def rows(first, names, cells):
    """Markdown: a row per name, a column per machine."""
    lines = [f"| {first} | " + " | ".join(name for name, _ in MACHINES) + " |",
             "|---|" + "---|" * len(MACHINES)]
    lines += ["| %s | %s |" % (name, " | ".join(cells[name]))
              for name in names]
    return "\n".join(lines) + "\n"


def column(machine, names, words, assume):
    """What each policy makes of a program: (milliseconds or None, cell)."""
    print(f"{os.path.basename(words[0])} on {machine}", file=sys.stderr,
          flush=True)
    bound = best_bound(machine, words, assume)
    cells = {}
    for report in compare(machine, names, words, assume):
        ms, cell = None, "failed"
        if not report.get("error"):
            ms = report["makespan_us"] / 1e3
            cell = "%.0f %%, %.1f" % (100 * (ms / bound - 1),
                                      report["transferred_bytes"] / 1e9)
        cells[report["scheduler_asked"]] = (ms, cell)
    return cells


def table(names, columns, makespans):
    """A row per policy; adds the milliseconds of each to `makespans`."""
    for (machine, _), column_of in zip(MACHINES, columns):
        makespans.update({(machine, name): column_of[name][0]
                          for name in names})
    return rows("policy", names, {
        name: [column_of[name][1] for column_of in columns]
        for name in names})


def beside(makespans, machine, name):
    """The makespan beside that of dmdas."""
    return "%+.0f %%" % (100 * (makespans[machine, name] /
                                makespans[machine, "dmdas"] - 1))


def search(machine, program):
    """What `orrery optimise` finds, and the best policy."""
    print(f"optimise on {machine}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        text = run(ORRERY, "optimise", "-m", machine, "-o",
                   os.path.join(folder, "schedule"), "--runs",
                   str(SIMULATIONS), "--json", "--", *program)
    found = json.loads(text[text.index("{"):])
    dmdas = next(policy["ms"] for policy in found["policies"]
                 if policy["policy"] == "dmdas")
    return ("%s %+.0f %%" % (found["best_policy"],
                             100 * (found["best_policy_ms"] / dmdas - 1)),
            "%+.0f %%" % (100 * (found["schedule_ms"] / dmdas - 1)),
            "%+.0f %%" % (100 * (found["bound_ms"] / dmdas - 1)))


def planned(makespans):
    """plan-heft beside dmdas in the graphs, and what a search finds in the Cholesky
    of fewer tiles."""
    cells = {name: [beside(of, machine, "plan-heft")
                    for machine, _ in MACHINES]
             for name, of in makespans.items()}
    found = {name: [] for name in ("best policy", "optimise", "best bound")}
    searches = POOL.map(
        lambda m: search(m[0], tiled(CHOLESKY, SEARCHED_TILES)(m[1])), MACHINES)
    for cells_of_one in searches:
        for name, cell in zip(found, cells_of_one):
            found[name].append(cell)
    return PLANNED_NOTE + "\n" + rows("plan-heft", cells, cells) + \
        SEARCHED_NOTE + "\n" + rows("", found, found)


def scarce_cell(program, size, nblocks, mib, machine, ngpus):
    print(f"{os.path.basename(program)} on {machine}, little memory",
          file=sys.stderr, flush=True)
    ran = {report["scheduler_asked"]: report for report in compare(
        machine, ["dmdar", "memaware"],
        [program, "-size", str(size), "-nblocks", str(nblocks)],
        None if program == CHOLESKY else SCARCE_TIMES,
        f"cuda.memory = {mib // 3 // ngpus}MiB")}
    return ", ".join("%+.0f %%" % (
        100 * (ran["memaware"][key] / ran["dmdar"][key] - 1))
        for key in ("transferred_bytes", "makespan_us"))


def scarce():
    """memaware beside dmdar in memories a third as large as a matrix."""
    lines = ["| | " + " | ".join(name for name, _ in SCARCE) + " |",
             "|---|" + "---|" * len(SCARCE)]
    for name, *graph in (
            ("matrix product", MULT, 5120, 32, 100),
            ("matrix product, smaller tasks", MULT, 5120, 64, 100),
            ("Cholesky", CHOLESKY, 28800, 30, 1600), ("LU", LU, 19200, 20, 1406)):
        cells = POOL.map(lambda m, graph=graph: scarce_cell(*graph, *m), SCARCE)
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    return "\n".join(lines) + "\n"


def main():
    names = policies()
    nobody = lambda *_: None
    graphs = {
        "Cholesky": ("", tiled(CHOLESKY), nobody),
        "LU without pivoting": (LU_NOTE, tiled(LU, FEWER_TILES),
                                functools.partial(times_like, LU_LIKE)),
        "QR": (QR_NOTE, tiled(QR, FEWER_TILES),
               functools.partial(times_like, QR_LIKE)),
        "Matrix product": (MULT_NOTE, tiled(MULT),
                           functools.partial(times_like, MULT_LIKE)),
    }
    makespans = {name: {} for name in [*graphs, "Random layered graph"]}
    text = INTRODUCTION % (TILES, TILES, FEWER_TILES, FEWER_TILES)
    with tempfile.TemporaryDirectory() as folder:
        graphs["Random layered graph"] = (
            LAYERED_NOTE, lambda tile: [layered(folder, tile)], nobody)
        ran = {name: [POOL.submit(lambda m, words_of=words_of, times=times:
                                  column(m[0], names, words_of(m[1]), times(*m)),
                                  machine) for machine in MACHINES]
               for name, (_, words_of, times) in graphs.items()}
        for name, (note, *_) in graphs.items():
            text += f"\n## {name}\n\n" + (note + "\n" if note else "")
            text += table(names, [future.result() for future in ran[name]],
                          makespans[name])
    text += "\n## Plans and searches beside dmdas\n\n" + planned(makespans)
    text += "\n## Little memory\n\n" + SCARCE_NOTE + "\n" + scarce()
    with open(OUTPUT, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()

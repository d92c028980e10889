#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The trace of a replay is that of the program, byte for byte: on the machine and
under the policy where the record was made, and on others. Prints TAP.

usage: test-replay.py PLAYER FOLDER-OF-EXAMPLES CHOLESKY PIECES
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

ASSUME = "kernel[*] = 100us"


class Place:
    """A machine, a policy and what else is set."""

    def __init__(self, machine, sched, **env):
        self.env = dict(env, ORRERY_MACHINE=machine, STARPU_SCHED=sched,
                        ORRERY_ASSUME=ASSUME)
        self.name = " ".join([machine, sched] + sorted(env))


# Cholesky chooses its priorities by the policy's range: any, or two of them. The
# first one of each has the most.
ANY = [Place("h100-pcie-4", sched) for sched in
       ("dmdas", "prio", "lws", "modular-heft")]
FEW = [Place("h100-pcie-4", sched) for sched in
       ("pheft", "eager", "random", "dm", "dmda", "heteroprio")]
NONE = [Place("h100-pcie-4", sched) for sched in ("eager", "random", "dm", "dmda")]
SMALL = [Place("h100-pcie-4", "dmda"), Place("laptop-8", "lws"),
         Place("mixed-a100-v100", "dmdas"),
         Place("r940xa-4", "dmda", STARPU_USE_NUMA="1")]
MEMORY = [Place("gtx1650-4gb", sched, STARPU_NCPU="1",
                STARPU_LIMIT_CUDA_MEM="16", **more)
          for sched in ("prio", "dmdas")
          for more in ({}, {"ORRERY_EVICTION": "lru"},
                       {"ORRERY_EVICTION": "starpu"})]
EDITED = [Place("h100-pcie-4", "dmda", ORRERY_SET="cuda.count = 2; "
                "pcie.bandwidth *= 0.3; kernel[gemm] on cuda[0] *= 0.7"),
          Place("r940xa-4", "dmda", STARPU_USE_NUMA="1"),
          Place("h100-pcie-4", "dmda", ORRERY_SIM_KERNELS="run")]


def clean_environment():
    kept = ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR", "ORRERY_CHECK_BOUNDS")
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_")) or name in kept}
    return dict(env, STARPU_SILENT="1", STARPU_PERF_MODEL_DIR="/nonexistent",
                OPENBLAS_NUM_THREADS="1", LC_ALL="C")


def trace(words, place, folder, record=None):
    """The bytes of the run's trace."""
    path = os.path.join(folder, "trace")
    env = dict(clean_environment(), ORRERY_TRACE=path, **place.env)
    if record:
        env["ORRERY_RECORD"] = record
    if os.path.exists(path):
        os.remove(path)
    done = subprocess.run(words, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=100, check=False,
                          encoding="utf-8", errors="replace")
    if done.returncode != 0:
        raise AssertionError("%s ended with %d\n%s" %
                             (words, done.returncode, done.stdout))
    with open(path, "rb") as file:
        return file.read()


def first_difference(one, other):
    for number, (a, b) in enumerate(zip(one.splitlines(), other.splitlines()),
                                    1):
        if a != b:
            return "line %d\n-%r\n+%r" % (number, a, b)
    return "one is longer"


def difference(player, words, place, folder, record):
    """What tells the traces apart, None: nothing. The record was made elsewhere,
    or is made here."""
    made = record or os.path.join(folder, "record")
    try:
        program = trace(words, place, folder, None if record else made)
        replay = trace([player, made], place, folder)
    except AssertionError as failure:
        return failure
    if program.count(b"\n20\t") < 2:
        return "no tasks in the trace"
    return None if program == replay else first_difference(program, replay)


# Programs whose record lacks something, and what it says of that.
LACKING = (("modular", [], "lws", "a scheduling policy of the application's own"),
           ("openmp/openmp-translated", ["4"], "lws", "calls in kernels and callbacks"),
           ("cholesky/cholesky", ["-size", "960", "-nblocks", "3"], "pheft",
            "under a policy with another range"),
           ("cholesky/cholesky", ["-size", "960", "-nblocks", "3"], "heteroprio",
            "under a policy with another range"))


def announced(examples, folder):
    """Where the replay cannot be the run, the record says why: yields what was run,
    and what is wrong, or None."""
    for name, words, sched, said in LACKING:
        record = os.path.join(folder, "lacking")
        try:
            trace([os.path.join(examples, name)] + words,
                  Place("h100-pcie-4", sched), folder, record)
            with open(record, encoding="utf-8") as file:
                notes = [line for line in file if line.startswith("note ")]
            yield name, None if any(said in note for note in notes) else notes
        except AssertionError as failure:
            yield name, failure


def main():
    player, examples, cholesky, pieces = sys.argv[1:]
    tiles = [cholesky, "-size", "4800", "-nblocks", "5"]
    programs = {"cholesky": (tiles, ANY + MEMORY +
                             [Place("laptop-8", "lws"),
                              Place("mixed-a100-v100", "dmdas")]),
                # Recorded where the policy has no priorities.
                "cholesky 3": (tiles, NONE + ANY + MEMORY + EDITED +
                               [Place("laptop-8", "lws"),
                                Place("mixed-a100-v100", "dmdas")]),
                "cholesky 2": (tiles, FEW + EDITED),
                "pieces": ([pieces], [Place("h100-pcie-4", "dmda",
                                            STARPU_NCUDA="2"),
                                      Place("h100-pcie-4", "eager")] + SMALL)}
    for name in ("vector_scal", "mult", "stencil", "dot_product", "tree",
                 "stf/stf-stencil"):
        programs[name] = ([os.path.join(examples, name)], SMALL)
    for name in ("lu", "qr"):
        programs[name] = ([os.path.join(examples, name, name)] + tiles[1:], SMALL)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for name, (words, places) in programs.items():
            for place in places:
                found = difference(player, words, place, folder, None)
                tap.claim("%s on %s: the replay is the run" %
                          (name, place.name), not found, found)
            record = os.path.join(folder, os.path.basename(name) + ".rec")
            trace(words, places[0], folder, record)
            for place in places[1:]:
                if "ORRERY_SIM_KERNELS" in place.env:
                    continue    # Cholesky fills its matrix only then
                found = difference(player, words, place, folder, record)
                tap.claim("%s, recorded on %s, is on %s what the program is "
                          "there" % (name, places[0].name, place.name),
                          not found, found)
        for name, wrong in announced(examples, folder):
            tap.claim("%s: its record says what it lacks" % name, wrong is None,
                      wrong)
    tap.end()


if __name__ == "__main__":
    main()

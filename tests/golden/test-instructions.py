#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions that a simulated task takes in the library and the simulator, beside
those in instructions.txt: five in a hundred more fail. And those of a program's start
where there are no devices, beside one that wants none: devices that are absent cost
nothing. Prints TAP.

usage: test-instructions.py PLAYER START COMPILER LIST [--update]

Two replays of records of different lengths run under callgrind, whose difference has
neither start nor end. What libc does is not counted: it has variants per processor.
Counts of another compiler are others: without lines for it the cases are skipped.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

OURS = re.compile(r"/(liborrery\.so[.0-9]*|sim\.so)$")
MORE = 1.05


def record(ntasks, nbuffers, ndata):
    """Independent or ordered tasks of 100 µs, in turns on the data."""
    calls = ["run", 'model 1 kind="per-arch" flags=4',
             'codelet 1 name="k" cpu=1 cuda=1 asynchronous=10 buffers=-1 model=1']
    calls += ['data %d kind="vector" shape=1000,4,4000,0' % d
              for d in range(1, ndata + 1)]
    for t in range(ntasks):
        uses = ["%d:%s" % ((t * 7 + b * 3) % ndata + 1, "r" if b else "rw")
                for b in range(nbuffers)]
        calls.append("submit %d codelet=1%s priority=%d times=100,20" %
                     (t + 1, " data=" + ",".join(uses) if uses else "", t % 5))
    calls += ["wait-all"] + ["unregister %d" % d for d in range(1, ndata + 1)]
    return "\n".join(["orrery-record 1"] + calls + ["end value=%d" % len(calls),
                                                    ""])


# Name: policy, buffers of a task, data, how many tasks; what else is set. Of 256 workers most have
# nothing to do, and look for something at every push.
CASES = {
    "no data, eager": ("eager", 0, 1, (300, 1100), {}),
    "one buffer, lws": ("lws", 1, 100, (300, 1100), {}),
    "three buffers, dmdas": ("dmdas", 3, 100, (300, 1100), {}),
    "256 workers, lws": ("lws", 0, 1, (100, 200), {
        "ORRERY_SET": "cpu.count = 255\ncuda.count = 1"}),
}


def callgrind(folder, command, **more):
    """Runs it with only these variables of ours; the path of what it took."""
    out = os.path.join(folder, "out")
    kept = ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_")) or name in kept}
    env.update(STARPU_SILENT="1", STARPU_PERF_MODEL_DIR=folder, **more)
    env.pop("MALLOC_PERTURB_", None)
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out,
         "--compress-strings=no", "--compress-pos=no", *command],
        env=env, text=True, capture_output=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr[-2000:])
    return out


def instructions(player, folder, policy, text, more):
    """In objects of ours."""
    path = os.path.join(folder, "record")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    out = callgrind(folder, [player, path], STARPU_SCHED=policy,
                    ORRERY_MACHINE="h100-pcie-4", ORRERY_SIM_WATCHDOG="0",
                    **more)
    total, ours, called = 0, False, False
    with open(out, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("ob="):
                ours = OURS.search(line.strip()) is not None
            elif line.startswith("calls="):
                called = True       # the next line is what the callee took
            elif line[0].isdigit():
                if ours and not called:
                    total += int(line.split()[1])
                called = False
    return total


def per_task(player, folder, policy, nbuffers, ndata, counts, more):
    few, many = (instructions(player, folder, policy,
                              record(n, nbuffers, ndata), more)
                 for n in counts)
    return (many - few) / (counts[1] - counts[0])


def start(program, folder, **more):
    """In all objects, what is loaded among them. A run before it has made the files
    that the first one makes; threads that look for work make the rest differ a little."""
    counts = []
    for _ in range(3):
        out = callgrind(folder, [program], STARPU_NCPU="1", STARPU_HOME=folder,
                        **more)
        with open(out, encoding="utf-8", errors="replace") as file:
            counts += [int(line.split()[1]) for line in file
                       if line.startswith(("totals:", "summary:"))][-1:]
    return min(counts[1:])


def claim_start(tap, program, folder):
    """Absent: the vendors' libraries are not found."""
    kinds = ("CUDA", "HIP", "OPENCL")
    unwanted = start(program, folder,
                     **{"STARPU_N" + kind: "0" for kind in kinds})
    nowhere = os.path.join(folder, "none")
    absent = start(program, folder, ORRERY_CUDA_LIBRARY=nowhere,
                   ORRERY_HIP_LIBRARY=nowhere, OCL_ICD_VENDORS=nowhere)
    tap.claim("devices that are absent cost a start nothing: %d, %+.1f %%" %
              (absent, (absent / unwanted - 1) * 100),
              absent <= unwanted * MORE, "without any it takes %d" % unwanted)


def read_list(path):
    """{(compiler, case): instructions}"""
    found = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            if not line.startswith("#") and line.strip():
                compiler, case, n = line.rstrip("\n").split("\t")
                found[compiler, case] = float(n)
    return found


def main():
    player, program, compiler, path = sys.argv[1:5]
    known = read_list(path)
    tap = Tap()
    if not shutil.which("valgrind"):
        for case in CASES:
            tap.skip("instructions of a task: " + case, "no valgrind")
        tap.skip("devices that are absent cost a start nothing", "no valgrind")
        tap.end()
    with tempfile.TemporaryDirectory() as folder:
        for case, parts in CASES.items():
            before = known.get((compiler, case))
            if not before and len(sys.argv) < 6:
                tap.skip("instructions of a task: " + case,
                         "no figure for " + compiler)
                continue
            now = per_task(player, folder, *parts)
            if len(sys.argv) > 5:
                print("%s\t%s\t%.0f" % (compiler, case, now))
                continue
            tap.claim("a task takes no more instructions: %s, %.0f (%+.1f %%)" %
                      (case, now, (now / before - 1) * 100),
                      now <= before * MORE, "it took %.0f" % before,
                      "if that is meant: instructions.txt says how to update it")
        if len(sys.argv) < 6:
            claim_start(tap, program, folder)
            tap.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""That no wake is lost, by spin on wakes.pml, and that spin finds each fault that the
model names. TAP; skipped without spin, or without a compiler for what it writes.

usage: test-wakes-model.py COMPILER
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MODEL = pathlib.Path(__file__).resolve().with_name("wakes.pml")


def call(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          check=False, timeout=100, stdin=subprocess.DEVNULL)


def check(compiler, fault):
    """What spin says: the number of errors and of states, or why it says nothing."""
    with tempfile.TemporaryDirectory() as folder:
        for command in (["spin", *([f"-D{fault}"] if fault else []), "-a", str(MODEL)],
                        [*compiler, "-w", "-DSAFETY", "-o", "pan", "pan.c"],
                        ["./pan", "-m100000"]):
            ran = call(command, folder)
            if ran.returncode:
                return None, f"{command[0]}: {ran.stdout}{ran.stderr}"
    errors = re.search(r"errors: (\d+)", ran.stdout)
    states = re.search(r"(\d+) states, stored", ran.stdout)
    if not errors or not states or "max search depth too small" in ran.stdout:
        return None, ran.stdout
    return int(errors[1]), int(states[1])


def main():
    compiler = sys.argv[1:]
    faults = re.findall(r"^ \* ([A-Z_]+)  ", MODEL.read_text(encoding="utf-8"), re.M)
    failed = 0
    if not shutil.which("spin"):
        print("1..0 # SKIP there is no spin (Debian's package spin)")
        return 0
    print(f"1..{1 + len(faults)}")
    for number, fault in enumerate([None, *faults], 1):
        errors, said = check(compiler, fault)
        done = errors is not None and (errors > 0 if fault else
                                       errors == 0 and said > 1000)
        failed += not done
        print(f"{'ok' if done else 'not ok'} {number} - "
              + (f"spin finds {fault}" if fault else "no wake is lost"))
        if not done:
            print("# " + str(said).replace("\n", "\n# "))
    return failed > 0


sys.exit(main())

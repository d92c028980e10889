#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tests/bench/instructions.py on made-up counts: what it refuses, what it cannot compare,
and how it says so. Prints TAP.

    test-instructions.py INSTRUCTIONS.PY
"""
import os
import subprocess
import sys
import tempfile

import tools_util as util

KEY = {"compiler": "cc 12", "build": "buildtype=release", "libc": "ldd 2.36"}
COUNTS = {"simulated task": 10000, "orrery --version": 300000}
# Claim, counts before, counts after, what else differs, words, exit status, words of what
# it prints
CASES = (
    ("equal counts pass", {}, {}, {}, [], 0, "10000       10000   1.000"),
    ("1.9 % more passes", {}, {"simulated task": 10190}, {}, [], 0, "1.019"),
    ("2.1 % more does not", {}, {"simulated task": 10210}, {}, [], 1,
     "10210   1.021 more"),
    ("nor does another row's", {}, {"orrery --version": 330000}, {}, [], 1,
     "1 of these have grown by more than 2 %"),
    ("half passes", {}, {"simulated task": 5000}, {}, [], 0, "0.500"),
    ("the limit can be another one", {}, {"simulated task": 10210}, {},
     ["--limit", "3"], 0, "1.021"),
    ("rows that are named are compared alone", {}, {"simulated task": 20000}, {},
     ["--only", "orrery --version"], 0, "300000"),
    ("a row that is nowhere is an error", {}, {}, {}, ["--only", "nonsense"], 2,
     "invalid choice: 'nonsense'"),
    ("counts of another compiler are not compared", {}, {"simulated task": 20000},
     {"compiler": "cc 13"}, [], 77, "the compiler differs: cc 12, and cc 13"),
    ("nor those of another libc", {}, {}, {"libc": "ldd 2.37"}, [], 77, "the libc differs"),
)


def write(path, counts, key):
    with open(path, "w", encoding="utf-8") as file:
        file.write("# Written by a test.\n")
        file.writelines(f"# {n}\t{v}\n" for n, v in {**KEY, **key}.items())
        file.writelines(f"{n}\t{v}\n" for n, v in {**COUNTS, **counts}.items())


def run(script, *words):
    done = subprocess.run([sys.executable, "-B", script, *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def main():
    tap = util.Tap()
    script = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        before, after = (os.path.join(folder, name) for name in ("before", "after"))
        for claim, old, new, key, words, status, text in CASES:
            write(before, old, {})
            write(after, new, key)
            code, out = run(script, before, after, *words)
            tap.claim(claim, code == status and text in out, code, out)
        code, out = run(script, before, os.path.join(folder, "none"))
        tap.claim("what is no build, file or commit is named", code == 77 and
                  "none is neither a build folder, nor a file of counts" in out, code, out)
        code, out = run(script, before, folder)
        tap.claim("a folder in which nothing is built is an error", code == 2 and
                  "is no build folder: meson setup" in out, code, out)
        code, out = run(script, before)
        tap.claim("one is too few", code == 2 and "two builds, commits" in out, code, out)
    tap.end()


if __name__ == "__main__":
    main()

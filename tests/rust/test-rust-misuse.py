#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the crate's types refuse: each file of misuse/ is refused by the compiler with the
error that its first line names, and compiles without the lines that end in `// wrong`, so
that it is refused for nothing else. TAP.

usage: test-rust-misuse.py RUSTC ORRERY_RLIB SYS_RLIB FOLDER
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

TAP = Tap()
RUSTC, ORRERY, SYS, FOLDER = sys.argv[1:]


def compiles(text, folder):
    path = os.path.join(folder, "misuse.rs")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(
        [*RUSTC.split(), "--edition=2021", "--crate-type=bin", "--emit=metadata", "-Awarnings",
         "--out-dir", folder, "--extern", "orrery=" + ORRERY,
         "-Ldependency=" + os.path.dirname(SYS), path],
        capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


with tempfile.TemporaryDirectory() as scratch:
    for name in sorted(os.listdir(FOLDER)):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as source:
            program = source.read()
        code, claim = re.match(r"// .*\n// (E\d+): (.*)\n", program).groups()
        good, said = compiles(program, scratch)
        TAP.claim(claim, not good and f"error[{code}]" in said, said)
        rest = "".join(line for line in program.splitlines(True)
                       if not line.rstrip().endswith("// wrong"))
        good, said = compiles(rest, scratch)
        TAP.claim("all else of it compiles: " + name, good and rest != program, said)
TAP.end()

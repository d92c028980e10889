#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Build a program of this folder, then run a command: no other build does.

usage: built.py BUILD_FOLDER PROGRAM [WORD...]
Runs WORD..., or PROGRAM where there is none.
"""

import os
import subprocess
import sys


def main():
    if len(sys.argv) < 3 or sys.argv[1] == "--help":
        print(__doc__.strip())
        return 2
    build, program = map(os.path.abspath, sys.argv[1:3])
    words = sys.argv[3:] or [program]
    done = subprocess.run(["ninja", "-C", build, os.path.relpath(program, build)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", check=False)
    if done.returncode:
        print(done.stdout, end="")
        return done.returncode
    os.execvp(words[0], words)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Say how many warnings the compilers have given of what is built. Called by ./check.

usage: build_warnings.py BUILD_FOLDER
Reads build.log there, what ninja said of its last build, and remembers in warnings.json
which object each warning is of: it stands until this object is made again, or is gone. (What
ninja has made by hand since is not known, and counts as without.) A warning of several objects is counted once. Prints nothing where there is none. Ends with 0
in any case: only where warnings are errors, as in continuous integration, do they end a build.
"""

import json
import os
import re
import sys

SHOWN, WIDTH = 10, 200
STEP = re.compile(r"^\[\d+/\d+\] (.*)$")
OBJECT = re.compile(r"^(?:Compiling|Linking) .* (\S+)$") # others may be made by any command
WARNING = re.compile(r"(^|: )warning: ")
TOTAL = re.compile(r"^warning: .*\d+ warnings? emitted$") # Rust's own count


def steps(lines):
    """What each step of a log of ninja's is called, and what was said of it."""
    name, said = None, []
    for line in lines:
        begin = STEP.match(line)
        if not begin:
            said.append(line.rstrip())
            continue
        if name is not None:
            yield name, said
        name, said = begin[1], []
    if name is not None:
        yield name, said


def remembered(path):
    """Of earlier builds: warnings by step."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def stands(build, name, when):
    """Whether what a step made is there, and has not been made again after that time."""
    made = OBJECT.match(name)
    if not made:
        return True
    try:
        return os.path.getmtime(os.path.join(build, made[1])) <= when
    except FileNotFoundError:
        return False


def update(build):
    """All warnings of what is there, by step."""
    memory, log = (os.path.join(build, name) for name in ("warnings.json", "build.log"))
    known = remembered(memory)
    with open(log, encoding="utf-8", errors="replace") as file:
        for name, said in steps(file):
            known[name] = [line for line in said
                           if WARNING.search(line) and not TOTAL.match(line)]
    when = os.path.getmtime(log)
    known = {name: lines for name, lines in known.items() if lines and stands(build, name, when)}
    with open(memory, "w", encoding="utf-8") as file:
        json.dump(known, file, indent=1, sort_keys=True)
    return known


def main():
    if len(sys.argv) != 2 or sys.argv[1] == "--help":
        print(__doc__.strip())
        return 0 if "--help" in sys.argv else 2
    try:
        known = update(sys.argv[1])
    except (OSError, ValueError) as error:
        print(f"build_warnings.py: {error}", file=sys.stderr)
        return 2
    found = sorted({line for lines in known.values() for line in lines})
    if found:
        print(f"{len(found)} {'warning' if len(found) == 1 else 'warnings'} of compilers, "
              "which are errors in continuous integration (CI=1 ./check):")
        print(*(f"    {line[:WIDTH]}" for line in found[:SHOWN]), sep="\n")
        if len(found) > SHOWN:
            print(f"    and {len(found) - SHOWN} more, in {sys.argv[1]}/warnings.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())

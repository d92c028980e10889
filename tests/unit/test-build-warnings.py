#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tools/project/build_warnings.py, with which ./check says what compilers have warned of, on
logs as ninja writes them. Prints TAP.

    test-build-warnings.py BUILD_WARNINGS.PY
"""
import os
import sys
import tempfile

import tools_util as util

UNUSED = "../core/a.c:12:5: warning: unused variable 'i' [-Wunused-variable]"
SHADOW = "../core/a.h:3:9: warning: declaration of 'n' shadows [-Wshadow]"
LINKER = "/usr/bin/ld: b.o: warning: b.o: missing .note.GNU-stack section"
A, B, LIBRARY = "core.p/a.c.o", "core.p/b.c.o", "liborrery.so"


class Build:
    """A folder with logs, whose times are set: nothing waits for a clock."""

    def __init__(self, program, folder):
        self.program, self.folder, self.now = program, folder, 1000

    def touch(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "ab"):
            pass
        self.now += 10
        os.utime(path, (self.now, self.now))

    def log(self, *steps):
        """A build whose steps are pairs (what is made, lines); what it says is returned."""
        with open(os.path.join(self.folder, "build.log"), "w", encoding="utf-8") as file:
            for number, (made, lines) in enumerate(steps, 1):
                word = {".o": "Compiling C object ", "so": "Linking target "}.get(made[-2:], "")
                print(f"[{number}/{len(steps)}] {word}{made}", *lines, sep="\n", file=file)
                if word:
                    self.touch(made)
        self.touch("build.log")
        return self.said()

    def said(self):
        return util.run(sys.executable, self.program, self.folder)


def shows(result, *lines):
    """Whether it counts and shows exactly these."""
    said = result.out.splitlines()
    number = f"{len(lines)} warning{'s'[:len(lines) != 1]} of compilers"
    return (result.code == 0 and said[:1] != [] and said[0].startswith(number) and
            said[1:] == [f"    {line}" for line in sorted(lines)])


def check_memory(tap, build):
    result = build.log((A, []), (B, ["In file included from x:", "  12 | int i;"]))
    tap.claim("of a build without warnings nothing is said",
              result.code == 0 and result.out == "" and result.err == "", result)
    result = build.log((A, ["../core/a.c: In function 'f':", UNUSED, SHADOW]), (B, [SHADOW]),
                       (LIBRARY, [LINKER]))
    tap.claim("warnings are counted and shown, of several objects once",
              shows(result, UNUSED, SHADOW, LINKER), result)
    result = build.said()
    tap.claim("they stand where nothing is built", shows(result, UNUSED, SHADOW, LINKER), result)
    result = build.log((LIBRARY, []))
    tap.claim("and where others are made", shows(result, UNUSED, SHADOW), result)
    result = build.log((A, []))
    tap.claim("until the object is made again", shows(result, SHADOW), result)
    os.unlink(os.path.join(build.folder, B))
    result = build.said()
    tap.claim("or is there no more", result.code == 0 and result.out == "", result)
    build.log((A, [UNUSED]))
    build.touch(A)
    result = build.said()
    tap.claim("or was made again by hand", result.code == 0 and result.out == "", result)


def check_more(tap, build):
    command = "Generating tests/rust/basic with a custom command"
    result = build.log((command, ["warning: unused import: `x`", " --> basic.rs:3:5",
                                  "warning: 1 warning emitted"]))
    tap.claim("what a command says is a warning, its own count is none",
              shows(result, "warning: unused import: `x`"), result)
    result = build.log((command, []), (A, [f"a.c:{n}:1: warning: {n}" for n in range(10, 35)]))
    said = result.out.splitlines()
    tap.claim("of many the first are shown, and where the others are",
              len(said) == 12 and said[0].startswith("25 warnings") and
              said[-1] == f"    and 15 more, in {build.folder}/warnings.json", result)
    result = build.log((A, ["x.c:1:2: note: declared here", "puts(\"a warning\");"]))
    tap.claim("notes and sources are none", result.out == "" and result.code == 0, result)
    with open(os.path.join(build.folder, "warnings.json"), "w", encoding="utf-8") as file:
        file.write("{")
    result = build.said()
    tap.claim("a memory that is cut is named", result.code == 2 and
              "build_warnings.py: " in result.err, result)


def main(program):
    tap = util.Tap()
    for check in (check_memory, check_more):
        with tempfile.TemporaryDirectory() as folder:
            check(tap, Build(program, folder))
    with tempfile.TemporaryDirectory() as folder:
        result = util.run(sys.executable, program, folder)
        tap.claim("a folder without a log is named",
                  result.code == 2 and folder in result.err, result)
    tap.end()


if __name__ == "__main__":
    main(sys.argv[1])

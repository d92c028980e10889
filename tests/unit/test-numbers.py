#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is linked with applications prints and reads numbers with a fraction by
core/base/number.h alone: the C library's own functions follow the application's locale.
Prints TAP.

usage: test-numbers.py SOURCE
"""
import os
import re
import sys

from tools_util import Tap

FOLDERS = ("bound", "core", "debug", "import", "mpi", "opencl", "openmp", "perfmodel", "platforms",
           "record", "replay", "sim")
PRINTS = re.compile(r"(?<![\w\"])(?:std::)?([fs]n?printf|asprintf|dprintf|printf)\(")
OTHERS = re.compile(r"(?<!\w)(?:std::)?(strto[df]|strtold|atof|v[fs]n?printf|vasprintf)\(")
FRACTION = re.compile(r"%[-+ 0#]*(\d+|\*)?(\.(\d+|\*)?)?[lL]?[fgeaFGEA]")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def call_at(text, begin):
    """The call whose parenthesis opens at `begin`, without what strings have inside."""
    depth = 0
    for at, char in enumerate(STRING.sub(lambda m: "_" * len(m[0]), text[begin:])):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text[begin:begin + at + 1]
    return text[begin:]


def faults(text):
    text = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
    for match in PRINTS.finditer(text):
        strings = "".join(STRING.findall(call_at(text, match.end() - 1)))
        if FRACTION.search(strings.replace("%%", "")):
            yield text.count("\n", 0, match.start()) + 1, match[1]
    for match in OTHERS.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1]


def main():
    tap = Tap()
    tap.claim("a call that prints a fraction is found",
              list(faults('x;\nfprintf(out, "a)%s"\n " %.3f", a, f(b));')) ==
              [(2, "fprintf")])
    tap.claim("one that does not is not",
              not list(faults('fprintf(out, "%s %d %%f", a); orr_fprintf(out, "%f", b);')))
    tap.claim("one that reads is", list(faults("strtod(a, b);")) == [(1, "strtod")])
    for folder in FOLDERS:
        wrong = []
        nfiles = 0
        for where, _, names in os.walk(os.path.join(sys.argv[1], folder)):
            for name in names:
                path = os.path.join(where, name)
                if not name.endswith((".c", ".h", ".cpp")) or name == "number.c":
                    continue
                nfiles += 1
                with open(path, encoding="utf-8") as file:
                    wrong += [f"{path}:{line}: {function}"
                              for line, function in faults(file.read())]
        tap.claim(f"{folder}: numbers are printed and read as in C",
                  nfiles > 0 and not wrong, *wrong)
    tap.end()


main()

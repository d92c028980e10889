#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a stamp by which a library and its modules know that they share their
structures: a hash of all headers that the modules' sources read, without comments
and blanks. Run by the build.

    module_stamp.py modules|driver ROOT OUT OUT.d SOURCE...

For modules of the build OUT is a source, and a build that checks itself has another
stamp; for drivers, which users compile, it is a header.
"""
import hashlib
import os
import re
import sys

INCLUDE = re.compile(rb'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
BLANK = re.compile(rb'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*|\s+', re.S)
SOURCE = """/* Written by core/base/module_stamp.py. */
#include "core/base/module.h"

#ifdef NDEBUG
#    define CHECKS "n"
#else
#    define CHECKS "d"
#endif

const char orr_module_stamp[] =
    "orrery-tables-" ORR_VERSION "-%s" CHECKS;
"""
HEADER = """/* Written by core/base/module_stamp.py: of core/device/driver_module.h and what it
 * includes. */
#pragma once

#define ORR_DRIVER_STAMP "orrery-driver-%s"
"""


def find(root, name):
    for folder in ("", "include"):
        path = os.path.join(root, folder, name)
        if os.path.isfile(path):
            return os.path.normpath(path)
    return None  # of the system, or written by the build


def headers_of(root, sources):
    """Path and bytes of each of our headers that a source reads, and of those that are
    among the sources, in order."""
    found = {}
    for path in sources:
        if path.endswith(".h"):
            with open(path, "rb") as file:
                found[os.path.normpath(path)] = file.read()
    left = list(sources)
    while left:
        with open(left.pop(), "rb") as file:
            names = INCLUDE.findall(file.read())
        for path in filter(None, (find(root, os.fsdecode(n)) for n in names)):
            if path not in found:
                with open(path, "rb") as file:
                    found[path] = file.read()
                left.append(path)
    return sorted(found.items())


def main():
    what, root, output, depends, *sources = sys.argv[1:]
    digest = hashlib.sha256()
    headers = headers_of(root, sources)
    for path, text in headers:
        digest.update(os.fsencode(os.path.relpath(path, root)) + b"\0" +
                      BLANK.sub(lambda m: m[1] or b" ", text))
    with open(output, "w", encoding="utf-8") as file:
        file.write((HEADER if what == "driver" else SOURCE) %
                   digest.hexdigest()[:16])
    with open(depends, "w", encoding="utf-8") as file:
        file.write("%s: %s\n" % (output, " ".join(
            path.replace(" ", "\\ ") for path, _ in headers)))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the stamp by which a library and its modules know that they share
their structures: a hash of all headers that the modules' sources read. Run by
the build.

    module_stamp.py ROOT OUT.c OUT.d SOURCE...
"""
import hashlib
import os
import re
import sys

INCLUDE = re.compile(rb'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)


def find(root, name):
    for folder in ("", "include"):
        path = os.path.join(root, folder, name)
        if os.path.isfile(path):
            return os.path.normpath(path)
    return None  # of the system


def headers_of(root, sources):
    """Path and bytes of each of our headers that a source reads, in order."""
    found = {}
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
    root, output, depends, *sources = sys.argv[1:]
    digest = hashlib.sha256()
    headers = headers_of(root, sources)
    for path, text in headers:
        digest.update(os.fsencode(os.path.relpath(path, root)) + b"\0" + text)
    with open(output, "w", encoding="utf-8") as file:
        file.write('/* Written by core/base/module_stamp.py. */\n'
                   '#include "core/base/module.h"\n\n'
                   '#ifdef NDEBUG\n#    define CHECKS "n"\n#else\n'
                   '#    define CHECKS "d"\n#endif\n\n'
                   'const char orr_module_stamp[] =\n'
                   '    "orrery-tables-" ORR_VERSION "-%s" CHECKS;\n'
                   % digest.hexdigest()[:16])
    with open(depends, "w", encoding="utf-8") as file:
        file.write("%s: %s\n" % (output, " ".join(
            path.replace(" ", "\\ ") for path, _ in headers)))


if __name__ == "__main__":
    main()

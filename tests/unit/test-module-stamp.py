#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules of another build than the library: refused by name with the remedy,
never used. Each is a copy with another stamp. Prints TAP.

    test-module-stamp.py ORRERY PROGRAM MODULE...

PROGRAM is any that simulates and asks for a bound; MODULE are the names of
those that were built.
"""
import os
import re
import shutil
import sys
import tempfile

import tools_util as util

STAMP = re.compile(rb"orrery-tables-[0-9.]+-([0-9a-f]{16})[dn]\0")


def copy_with_other_stamp(source, target):
    """Returns how many stamps the file had."""
    with open(source, "rb") as file:
        text = file.read()
    other, count = STAMP.subn(
        lambda m: m[0].replace(m[1], m[1][::-1].translate(
            bytes.maketrans(b"0123456789abcdef", b"123456789abcdef0"))), text)
    with open(target, "wb") as file:
        file.write(other)
    return count


class Bench:
    def __init__(self, folder, orrery, program):
        self.built = os.environ["ORRERY_MODULE_DIR"]
        self.stale = os.path.join(folder, "stale")
        self.orrery, self.program = orrery, program
        self.env = util.clean_environment(
            os.path.join(folder, "sampling"), "box",
            ORRERY_MODULE_DIR=self.stale, ORRERY_ASSUME="kernel[*] = 50us")

    def prepare(self, stale, modules):
        """A folder with all modules, of which one is stale."""
        shutil.rmtree(self.stale, ignore_errors=True)
        os.mkdir(self.stale)
        for name in modules:
            if name != stale:
                shutil.copy(f"{self.built}/{name}.so", self.stale)
        return copy_with_other_stamp(f"{self.built}/{stale}.so",
                                     f"{self.stale}/{stale}.so")

    def provoke(self, name, folder):
        """Does what opens the module."""
        graph = os.path.join(folder, "graph")
        box = os.path.join(folder, "box.orrery")
        if name == "sim":
            return util.run(self.program, env=dict(
                self.env, ORRERY_MACHINE="gtx1650-4gb"))
        if name == "packed":
            return util.run(self.orrery, "machine", "export", "gtx1650-4gb",
                            "-o", box, env=self.env)
        if name == "bound":
            return util.run(self.program, env=dict(
                self.env, ORRERY_MACHINE="gtx1650-4gb",
                ORRERY_CHECK_BOUNDS="1"))
        return None


def refused(result, path):
    return path in result.err and "another build" in result.err and \
        "ninja" in result.err


def main():
    orrery, program, *modules = sys.argv[1:]
    tap = util.Tap()
    with tempfile.TemporaryDirectory(prefix="module-stamp") as folder:
        bench = Bench(folder, orrery, program)
        for name in modules:
            count = bench.prepare(name, modules)
            tap.claim(f"{name}.so has one stamp", count == 1, count)
            result = bench.provoke(name, folder)
            if result is None:
                continue
            path = os.path.join(bench.stale, name + ".so")
            tap.claim(f"{name}.so with another is refused by its name, with "
                      "the remedy", refused(result, path), result)
            tap.claim(f"the program fails without {name}.so" if name != "bound"
                      else "a run that is to be checked says that it was not",
                      result.code != 0, result)
    tap.end()


if __name__ == "__main__":
    main()

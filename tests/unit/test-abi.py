#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The binary interface that the last release has promised is still there. TAP.

usage: test-abi.py BUILD_FOLDER SOURCE_ROOT COMPILER...
"""
import os
import platform
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402

if len(sys.argv) < 4:
    sys.exit(__doc__.strip())
BUILD, SOURCE = map(os.path.abspath, sys.argv[1:3])
COMPILER = sys.argv[3:]
FOLDER = os.path.join(SOURCE, "tools", "project", "abi")
sys.dont_write_bytecode = True
sys.path.insert(0, FOLDER)
import abi  # noqa: E402

SONAME = next(name for name in sorted(os.listdir(BUILD))
              if name.startswith("liborrery.so.") and name.count(".") == 2)
LIST = os.path.join(FOLDER, f"{SONAME}-{platform.machine()}.txt")
REMEDY = """docs/VERSIONS.md, "The soname": keep it, or give the library another soname. While
the version in meson.build is not released yet: ninja -C build abi-list"""


def promised():
    with open(LIST, encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if not line.startswith("#")]


@test
def what_the_last_release_has_promised_is_there():
    if not shutil.which("gdb"):
        raise Skip("gdb is not installed")
    if not os.path.exists(LIST):
        raise Skip(f"there is no list of {SONAME} for {platform.machine()}")
    there = abi.interface(os.path.join(BUILD, SONAME), os.path.join(SOURCE, "include"),
                          COMPILER)
    faults = list(abi.broken(promised(), there))
    assert not faults, "\n".join(
        f"promised: {line}\n  here:   {found or 'is gone'}"
        for line, found in faults) + "\n" + REMEDY
    # The list is of what there is, not of nothing.
    kinds = {line.split(" ")[0] for line in there}
    assert kinds >= {"function", "variable", "struct", "enum", "macro"}, kinds


@test
def what_is_lost_or_differs_is_a_fault_and_what_is_new_is_none():
    was = ["function starpu_a", "variable starpu_v 4", "struct s 16 a@0+8 b@8+4",
           "enum e 4 A=0 B=1", "macro STARPU_M 2"]
    assert not list(abi.broken(was, was + ["function starpu_new"]))
    # A member where there was padding, another constant.
    assert not list(abi.broken(was, [
        *was[:2], "struct s 16 a@0+8 b@8+4 c@12+4", "enum e 4 A=0 B=1 C=2", was[4]]))
    for i, other in enumerate((None, "variable starpu_v 8", "struct s 24 a@0+8 b@8+4",
                               "enum e 4 A=0 B=2", "macro STARPU_M 3")):
        now = was[:i] + ([other] if other else []) + was[i + 1:]
        assert list(abi.broken(was, now)) == [(was[i], other)], other
    # A member that has moved.
    assert list(abi.broken(was, [*was[:2], "struct s 16 b@0+4 a@8+8", *was[3:]]))


run_all()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/STF.md is true: its programs are compiled, its commands executed, one after the
other as they stand. TAP.

usage: test-stf-page.py BUILD_FOLDER SOURCE_ROOT
"""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../unit"))
sys.path.append(os.path.join(HERE, "../api"))
# pylint: disable=wrong-import-position
from commands import Shell, fenced  # noqa: E402
from tools_util import Tap  # noqa: E402

BUILD, SOURCE = map(os.path.abspath, sys.argv[1:3])
TAP = Tap()


def checkout(parent):
    """A folder that looks like the source with its build folder `build`."""
    root = os.path.join(parent, "checkout")
    os.mkdir(root)
    for name in os.listdir(SOURCE):
        if not name.startswith((".", "build")):
            os.symlink(os.path.join(SOURCE, name), os.path.join(root, name))
    os.symlink(BUILD, os.path.join(root, "build"))
    return root


# What the last block before them says, by its last command.
SAID = {
    "./heat": "beside the edge, a change of ",
    "orrery run": "dmda",
    "orrery explain": "critical path",
    "grep -c": "320\n",
    "ORRERY_STF_PLACE=any ./axpy": "1999\n",
}


def follow(shell):
    with open(os.path.join(SOURCE, "docs", "STF.md"), encoding="utf-8") as file:
        page = file.read()
    used = set()
    for block in fenced(page):
        if block.file_name():
            with open(os.path.join(shell.folder, block.file_name()), "w",
                      encoding="utf-8") as file:
                file.write(block.text)
            continue
        status, out, err = shell.run(block.text)
        last = block.text.strip().splitlines()[-1]
        TAP.claim("the page: " + last, status == 0, f"status {status}", out,
                  err)
        for words, said in SAID.items():
            if last.startswith(words):
                used.add(words)
                TAP.claim(f"{last} says {said.strip()}", said in out, out)
    TAP.claim("the page has all that is looked at", used == set(SAID),
              set(SAID) - used)


with tempfile.TemporaryDirectory() as scratch:
    home = os.path.join(scratch, "user")
    os.mkdir(home)
    follow(Shell(checkout(scratch), home))
TAP.end()

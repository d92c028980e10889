#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/OPENMP_PROGRAMS.md is true: its commands are executed as they stand, on the program that
it prints. They say what the page shows, but for numbers, which are measured. TAP.

usage: test-page.py [--update] BUILD_FOLDER SOURCE_ROOT

--update writes what the commands say into the page instead of comparing.
"""
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "../unit"), os.path.join(HERE, "../api")]
import compilers  # noqa: E402  pylint: disable=wrong-import-position
from commands import Shell, fenced  # noqa: E402  pylint: disable=wrong-import-position
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

UPDATE = "--update" in sys.argv
BUILD, SOURCE = [os.path.abspath(w) for w in sys.argv[1:] if w != "--update"]
PAGE = os.path.join(SOURCE, "docs", "OPENMP_PROGRAMS.md")
TAP = Tap()


def shape(text):
    """Without numbers, names of hosts, and blanks that depend on them."""
    text = re.sub(r"times of kernels on \S+", "times of kernels on HOST", text)
    text = re.sub(r"neither longer nor shorter|[0-9.]+ . longer|[0-9.]+ . shorter", "N", text)
    return [re.sub(r"\s+|-+", " ", re.sub(r"[0-9]+([.][0-9]+)?", "N", line)).strip()
            for line in text.splitlines() if line.strip()]


def checkout(parent):
    root = os.path.join(parent, "checkout")
    os.mkdir(root)
    for name in os.listdir(SOURCE):
        if not name.startswith((".", "build")):
            os.symlink(os.path.join(SOURCE, name), os.path.join(root, name))
    os.symlink(BUILD, os.path.join(root, "build"))
    return root


def follow(shell):
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    lines, said, shift = page.splitlines(), "", 0
    for block in fenced(page):
        if block.file_name():
            with open(os.path.join(shell.folder, block.file_name()), "w",
                      encoding="utf-8") as file:
                file.write(block.text)
        elif block.language == "sh":
            status, out, err = shell.run(block.text)
            said = out + err
            TAP.claim(block.text.strip().splitlines()[-1], status == 0, status, said)
        elif UPDATE:
            new = [line.rstrip() for line in said.strip().splitlines()]
            lines[block.first + shift:block.end + shift] = new
            shift += len(new) - (block.end - block.first)
        else:
            TAP.claim("what %s shows" % block.heading, shape(said) == shape(block.text),
                      *shape(said), "", *shape(block.text))
    if UPDATE:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


with tempfile.TemporaryDirectory(prefix="orrery-openmp-") as where:
    have, lack = compilers.find(where)
    if "gcc" not in have:
        TAP.skip("the page's commands", lack["gcc"])
        TAP.end()
    home = os.path.join(where, "home")
    os.mkdir(home)
    follow(Shell(checkout(where), home))
TAP.end()

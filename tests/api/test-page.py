#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page about a language is true: its commands are executed as they stand, on the programs
that it prints, and what simulated ones say is what it shows. TAP.

usage: test-page.py [--update] LANGUAGE COMPILER BUILD_FOLDER SOURCE_ROOT

The page is docs/LANGUAGE.md; a block in the language begins with a comment, "NAME - what".
--update writes what the commands say into the page instead of comparing.
"""
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "../unit"), HERE]
from commands import Shell, comparable, fenced  # noqa: E402  pylint: disable=wrong-import-position
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

UPDATE = "--update" in sys.argv
LANGUAGE, COMPILER, BUILD, SOURCE = [w for w in sys.argv[1:] if w != "--update"]
BUILD, SOURCE = os.path.abspath(BUILD), os.path.abspath(SOURCE)
PAGE = os.path.join(SOURCE, "docs", LANGUAGE.upper() + ".md")
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


def follow(shell):
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    lines, said, shift = page.splitlines(), "", 0
    for block in fenced(page):
        name = re.match(r"(?:!|//) ([\w/]+\.\w+) - ", block.text)
        if block.language == LANGUAGE:
            path = os.path.join(shell.folder, name[1])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(block.text)
        elif block.language == "sh":
            status, said, err = shell.run(block.text)
            TAP.claim(block.text.strip().splitlines()[-1], status == 0, f"status {status}",
                      said, err)
        elif UPDATE and comparable(said) != comparable(block.text):
            new = said.rstrip().splitlines()
            lines[block.first + shift:block.end + shift] = new
            shift += len(new) - (block.end - block.first)
        elif not UPDATE:
            TAP.claim(f"what {block.heading} shows",
                      comparable(said) == comparable(block.text), said, block.text)
    if UPDATE:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if not shutil.which(COMPILER) or not shutil.which("pkg-config"):
    TAP.skip("the page's commands", f"there is no {COMPILER}, or no pkg-config")
    TAP.end()
with tempfile.TemporaryDirectory(prefix="orrery-page-") as folder:
    home = os.path.join(folder, "home")
    os.mkdir(home)
    # Where rustup is, as the shell has a home of its own.
    rustup = os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup"))
    follow(Shell(checkout(folder), home, RUSTUP_HOME=rustup))
TAP.end()

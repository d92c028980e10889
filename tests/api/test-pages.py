#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages about decisions are true: their blocks in `sh` are executed one after the other as they
stand, and the options of commands that they mention exist. TAP.

usage: test-pages.py BUILD_FOLDER SOURCE_ROOT PAGE...
"""
import os
import re
import shutil
import sys
import tempfile

from commands import Shell, fenced, indented

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

BUILD, SOURCE, *PAGES = [os.path.abspath(word) for word in sys.argv[1:]]
TAP = Tap()


def checkout(parent):
    """A folder that looks like the source with the programs of its build folder, in which
    pages may leave files."""
    root = os.path.join(parent, "checkout")
    os.makedirs(os.path.join(root, "build", "examples"))
    shutil.copytree(os.path.join(BUILD, "examples", "cholesky"),
                    os.path.join(root, "build", "examples", "cholesky"),
                    ignore=shutil.ignore_patterns("*.p"))
    return root


def execute(page, text, parent):
    """Each page in a folder of its own."""
    folder = os.path.join(parent, os.path.basename(page))
    os.mkdir(folder)
    root = checkout(folder)
    shell = Shell(root, folder)
    library = os.pathsep.join([os.path.join(BUILD), os.environ.get("LD_LIBRARY_PATH", "")])
    shell.variables["LD_LIBRARY_PATH"] = library.strip(os.pathsep)
    shell.variables["PATH"] = os.path.join(BUILD, "tools") + os.pathsep + os.environ["PATH"]
    blocks = [block for block in fenced(text) if block.language == "sh"]
    TAP.claim(f"{page} has commands", blocks)
    for block in blocks:
        status, out, err = shell.run(block.text)
        title = block.text.strip().splitlines()[-1]
        TAP.claim(f"{page}: {title}", status == 0, f"status {status}", out, err)


def options_exist(page, text, shell):
    """Of lines that show a command, or mention one."""
    shown = [line for block in indented(text) for line in block.text.splitlines()]
    shown += re.findall(r"`(orrery [^`]*)`", text)
    for line in shown:
        found = re.match(r"orrery ([a-z]+)", line)
        if not found:
            continue
        status, out, _ = shell.run(f"orrery {found.group(1)} --help")
        words = re.findall(r"(?<=\s)--[a-z][a-z-]+", re.sub(r"'[^']*'| -- .*", "", line))
        missing = [word for word in words if word not in out]
        TAP.claim(f"{page}: {line}", status == 0 and not missing, *missing)


def main():
    with tempfile.TemporaryDirectory(prefix="orrery-pages-") as parent:
        shell = Shell(parent, parent)
        shell.variables["PATH"] = os.path.join(BUILD, "tools") + os.pathsep + os.environ["PATH"]
        for path in PAGES:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            page = os.path.basename(path)
            execute(page, text, parent)
            options_exist(page, text, shell)
    TAP.end()


main()

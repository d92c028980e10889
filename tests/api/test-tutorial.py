#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tutorial and the README are true: their commands are executed one after the
other as they stand, on the programs that the tutorial prints, and what the
simulated ones say is what the page shows. TAP.

usage: test-tutorial.py [--update] BUILD_FOLDER SOURCE_ROOT

--update writes what the commands say into the tutorial instead of comparing.
"""
import os
import re
import shutil
import sys
import tempfile

from commands import Shell, comparable, fenced, indented

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

UPDATE = "--update" in sys.argv
BUILD, SOURCE = [os.path.abspath(w) for w in sys.argv[1:] if w != "--update"]
TAP = Tap()


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def checkout(parent):
    """A folder that looks like the source with its build folder `build`."""
    root = os.path.join(parent, "a checkout")
    os.mkdir(root)
    for name in os.listdir(SOURCE):
        if not name.startswith((".", "build")):
            os.symlink(os.path.join(SOURCE, name), os.path.join(root, name))
    os.symlink(BUILD, os.path.join(root, "build"))
    return root


def user(parent, root, name):
    home = os.path.join(parent, name)
    os.mkdir(home)
    return Shell(root, home)


def execute(shell, block, page):
    status, out, err = shell.run(block.text)
    title = block.text.strip().splitlines()[-1].split("  #")[0]
    TAP.claim(f"{page}: {title}", status == 0, f"status {status}", out, err)
    return out


def follow_tutorial(shell):
    page = read("docs", "TUTORIAL.md")
    lines, said, shift = page.splitlines(), "", 0
    for block in fenced(page):
        if block.file_name():
            with open(os.path.join(shell.folder, block.file_name()), "w",
                      encoding="utf-8") as file:
                file.write(block.text)
        elif block.language == "sh":
            said = execute(shell, block, "tutorial")
        elif UPDATE and comparable(said) != comparable(block.text):
            new = said.rstrip().splitlines()
            lines[block.first + shift:block.end + shift] = new
            shift += len(new) - (block.end - block.first)
        elif not UPDATE:
            TAP.claim(f"tutorial: what {block.heading} shows",
                      comparable(said) == comparable(block.text),
                      *difference(block.text, said))
    if UPDATE:
        with open(os.path.join(SOURCE, "docs", "TUTORIAL.md"), "w",
                  encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


def difference(shown, said):
    shown, said = comparable(shown), comparable(said)
    return ["- " + line for line in shown if line not in said] + \
        ["+ " + line for line in said if line not in shown]


def follow_readme(shell, program):
    """Its block about an own program: the tutorial's, on a smaller plate, since
    some of these commands repeat it until its times are known."""
    block = [b for b in indented(read("README.md"))
             if "gcc app.c" in b.text][0]
    shell.variables["ORRERY_ASSUME"] = "kernel[heat] = 10us"
    with open(program, encoding="utf-8") as file:
        text = re.sub("(?<=COLUMNS )2048", "128", file.read())
    with open(os.path.join(shell.home, "app.c"), "w", encoding="utf-8") as file:
        file.write(text)
    for line in block.text.splitlines():
        status, out, err = shell.run(line)
        TAP.claim("README: " + line.split("  #")[0].strip(), status == 0,
                  f"status {status}", out, err)
        if "orrery-env" in line:
            # What an own program makes is not for the source's folder.
            shell.folder = shell.home


def links(page, folder):
    """The files that a page points to, as paths from the root."""
    text = re.sub(r"^```.*?^```", "", read(page), flags=re.S | re.M)
    found = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    return {os.path.normpath(os.path.join(folder, name)) for name in found}


def pages_point_to_files():
    for page in ("README.md", "docs/TUTORIAL.md", "examples/README.md"):
        missing = [name for name in links(page, os.path.dirname(page))
                   if not os.path.exists(os.path.join(SOURCE, name))]
        TAP.claim(f"{page} points to files that exist", not missing, *missing)


def readme_starts_with_two_commands():
    """A stranger's first screen: what it is, its output, the two commands."""
    first = read("README.md").splitlines()[:60]
    commands = indented("\n".join(first))[0].text.splitlines()
    TAP.claim("README: the first screen has the two commands",
              len(commands) == 2 and commands[1] == "./quickstart" and
              commands[0].startswith("git clone"), *commands)
    TAP.claim("README: the first screen has the tour's output",
              sum(line.startswith("    == ") for line in first) == 4)


for needed in ("gnuplot", "gcc", "g++", "pkg-config"):
    if not shutil.which(needed):
        TAP.skip("the tutorial's commands", f"no {needed} here")
        TAP.end()
with tempfile.TemporaryDirectory(prefix="orrery tutorial ") as parent:
    tree = checkout(parent)
    reader = user(parent, tree, "home")
    follow_tutorial(reader)
    if not UPDATE:
        follow_readme(user(parent, tree, "other home"),
                      os.path.join(reader.home, "heat", "heat.c"))
        pages_point_to_files()
        readme_starts_with_two_commands()
TAP.end()

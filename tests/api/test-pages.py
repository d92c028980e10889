#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages about decisions are true: their blocks in `sh` are executed one after the other as they
stand, a block in `text` behind one is what it prints, pictures are those that it draws, as far
as their words go, and the options of commands that they mention exist. TAP.

usage: test-pages.py [--update] BUILD_FOLDER SOURCE_ROOT PAGE...

--update writes what commands print and draw into the pages' folder instead of comparing.
"""
import os
import re
import shutil
import sys
import tempfile

from commands import Shell, comparable, fenced, indented

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

UPDATE = "--update" in sys.argv
BUILD, SOURCE, *PAGES = [os.path.abspath(word) for word in sys.argv[1:] if word != "--update"]
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


def shell_of(page, parent):
    """Each page has a folder of its own."""
    folder = os.path.join(parent, page)
    os.mkdir(folder)
    shell = Shell(checkout(folder), folder)
    for name, path in (("LD_LIBRARY_PATH", BUILD), ("PATH", os.path.join(BUILD, "tools/starpu")),
                       ("PATH", os.path.join(BUILD, "tools")),
                       ("PKG_CONFIG_PATH", os.path.join(BUILD, "meson-uninstalled")),
                       ("PYTHONPATH", os.path.join(BUILD, "bindings", "python"))):
        shell.variables[name] = os.pathsep.join([path, shell.variables.get(name, os.environ.get(name, ""))]).strip(os.pathsep)
    shell.variables["STARPU_SILENT"] = "1"
    return shell


def execute(page, text, shell):
    """Returns the text with what the commands printed in the place of what they should."""
    blocks = [block for block in fenced(text) if block.language in ("sh", "text")]
    TAP.claim(f"{page} has commands", blocks)
    lines, shift, out = text.splitlines(), 0, ""
    for block in blocks:
        if block.language == "sh":
            status, out, err = shell.run(block.text)
            title = block.text.strip().splitlines()[-1]
            TAP.claim(f"{page}: {title}", status == 0, f"status {status}", out, err)
        elif UPDATE:
            new = [line.rstrip() for line in out.strip("\n").splitlines()]
            lines[block.first + shift:block.end + shift] = new
            shift += len(new) - (block.end - block.first)
        else:
            TAP.claim(f"{page}: what {block.heading} shows",
                      comparable(out) == comparable(block.text), out, block.text)
    return "\n".join(lines) + "\n"


def words_of_picture(path):
    """Where lines are depends on gnuplot's version; what is written there does not."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"<text.*?</text>", file.read(), re.S)
    return [" ".join(re.sub(r"<[^>]*>", " ", one).split()) for one in found]


def compare_pictures(page, path, text, shell):
    for name in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text):
        drawn, kept = os.path.join(shell.folder, name), os.path.join(os.path.dirname(path), name)
        if UPDATE and os.path.exists(drawn):
            shutil.copyfile(drawn, kept)
        words = words_of_picture(drawn)
        TAP.claim(f"{page}: the picture {name} is that of the commands",
                  words and words == words_of_picture(kept), words, words_of_picture(kept))


def options_exist(page, text, shell):
    """Of lines that show a command, or mention one."""
    shown = [line for block in indented(text) for line in block.text.splitlines()]
    shown += re.findall(r"`(orrery [^`]*)`", text)
    for line in shown:
        found = re.match(r"orrery (machine new (?:hosts|cluster)\b|"
                         r"(?:machine|perfmodel|calibrate) [a-z]+|record import|[a-z]+)",
                         line)
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
            if ".svg" in text and not shutil.which("gnuplot"):
                TAP.skip(page, "no gnuplot here")
                continue
            own = shell_of(page, parent)
            new = execute(page, text, own)
            compare_pictures(page, path, text, own)
            if UPDATE and new != text:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(new)
            options_exist(page, text, shell)
    TAP.end()


main()

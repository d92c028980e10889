#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recipes of other package managers can be read, and know the build's version and
options. TAP.

usage: test-recipes.py SOURCE_ROOT VERSION
"""
import ast
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
SOURCE, VERSION = sys.argv[1:]
SPACK = "packaging/spack/packages/orrery/package.py"
GUIX = "packaging/guix/orrery.scm"


def text(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def forms(source):
    """The depth of parentheses at the end of a text of Scheme, and the least there was."""
    source = re.sub(r'"(?:\\.|[^"\\])*"|;[^\n]*|#\\.', "", source)
    depth = least = 0
    for one in source:
        depth += (one == "(") - (one == ")")
        least = min(least, depth)
    return depth, least


@test
def spacks_is_python():
    tree = ast.parse(text(SPACK))
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    assert classes == ["Orrery"], classes


@test
def guixs_is_scheme():
    assert forms(text(GUIX)) == (0, 0), forms(text(GUIX))
    assert forms("(a \"(\" ; (\n)") == (0, 0) and forms("(a))")[1] < 0


@test
def guile_reads_guixs():
    guile = shutil.which("guile") or shutil.which("guile-3.0")
    if not guile:
        raise Skip("guile is not installed")
    subprocess.run([guile, "-c", "(let loop ((form (read))) "
                    "(unless (eof-object? form) (loop (read))))"], check=True,
                   input=text(GUIX), encoding="utf-8")


@test
def both_have_the_builds_version():
    assert f'version("{VERSION}", tag="v{VERSION}")' in text(SPACK)
    assert f'(version "{VERSION}")' in text(GUIX)


@test
def all_recipes_give_options_that_there_are():
    known = set(re.findall(r"^option\('([\w-]+)'", text("meson_options.txt"), re.M))
    for name in (SPACK, GUIX, "debian/rules"):
        given = set(re.findall(r"-D([a-z][\w-]*)=", text(name)))
        assert given and given <= known, f"{name}: {given - known}"
    # Those that Spack's writes from its variants.
    assert set(re.search(r'for name in \(([^)]*)\)', text(SPACK))[1].replace(
        '"', "").split(", ")) <= known


run_all()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles the Java classes: a jar, and the header of what C has for them.

    build.py JAVAC JAR HEADER SOURCE... -- TEMPLATE...

A template is a class for each of the types of numbers.
"""
import os
import shutil
import subprocess
import sys
import tempfile

TYPES = (("Int", "int", "Integer", "Int"), ("Long", "long", "Long", "Long"),
         ("Float", "float", "Float", "Float"), ("Double", "double", "Double", "Double"))


def fill(template, folder):
    """The sources made of a template, Vector.java.in."""
    with open(template, encoding="utf-8") as file:
        text = file.read()
    kind = os.path.basename(template).split(".")[0]
    for name, primitive, box, buffer in TYPES:
        made = text
        for mark, value in (("Name", name), ("type", primitive), ("Box", box),
                            ("Type", buffer)):
            made = made.replace(f"@{mark}@", value)
        path = os.path.join(folder, f"{name}{kind}.java")
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
        yield path


def main(javac, jar, header, *words):
    split = words.index("--")
    sources, templates = list(words[:split]), words[split + 1:]
    with tempfile.TemporaryDirectory() as folder:
        for template in templates:
            sources += fill(template, folder)
        classes, headers = os.path.join(folder, "classes"), os.path.join(folder, "headers")
        subprocess.run([javac, "--release", "11", "-encoding", "UTF-8", "-Xlint:all",
                        "-Werror", "-g", "-d", classes, "-h", headers, *sources], check=True)
        shutil.copy(os.path.join(headers, os.path.basename(header)), header)
        subprocess.run([os.path.join(os.path.dirname(os.path.realpath(javac)), "jar"),
                        "--create", "--file", jar, "-C", classes, "fr"], check=True)


main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The jar has StarPU's names for Java, with their types: programs compile as they are. TAP.

usage: test-java-names.py NAMES JAVA ORRERY_JAR
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

NAMES, JAVA, JAR = sys.argv[1:]
PACKAGE = "fr.labri.hpccloud.starpu."
TAP = Tap()

# What is not there, or is otherwise, and why no program notices.
OTHERWISE = {
    "StarPU": {
        "static boolean runNativeTests()": "tests of StarPU's own HDFS",
    },
    "DataHandle": {
        "String caller": "a stack trace for each handle; setName is for that",
        "void finalize()": "a Cleaner has its part",
        "static double variableGetLongValue(long)": "StarPU's has the wrong type: it is long",
        "static long variableGetDoubleValue(long)": "StarPU's has the wrong type: it is double",
    },
    "DataSet": {
        "VectorHandle dataHandle": "a set has a datum for each part",
        "DataSet newInstance(int)": "nothing here makes sets of a class of the program's",
        "DataSet newInstance(Collection)": "the same",
    },
    "DataPairSet": {
        "DataSet newInstance(int)": "the same",
        "DataSet newInstance(Collection)": "the same",
    },
}


def plain(line):
    """A member without packages, modifiers that do not matter, and parameters of types."""
    line = re.sub(r"\b(?:[a-z]\w*\.)+(?=[A-Z])", "", line.strip().rstrip(";").replace("$", "."))
    while re.search(r"<[^<>]*>", line):
        line = re.sub(r"<[^<>]*>", "", line)
    line = re.sub(r"\b(public|protected|native|final|abstract|transient|synchronized)\s+", "",
                  line)
    return re.sub(r"\s+", " ", re.sub(r"\bDataHandle\.(?=AccessMode)", "",
                                      line.replace(PACKAGE, ""))).strip()


def shown(names):
    """What javap says of classes: {name: (head, members)}."""
    done = subprocess.run([os.path.join(os.path.dirname(JAVA), "javap"), "-protected", "-cp", JAR,
                           *(PACKAGE + name.replace(".", "$") for name in names)],
                          capture_output=True, text=True, check=True)
    texts = re.split(r"^Compiled from .*\n", done.stdout, flags=re.M)[1:]
    return {name: (text.splitlines()[0], {plain(line) for line in text.splitlines()[1:]
                                          if line.strip() != "}"})
            for name, text in zip(names, texts)}


def members(classes, name):
    """Those of a class and of those above it."""
    found = set()
    while name in classes:
        head, own = classes[name]
        found |= own
        above = re.search(r"extends fr\.labri\.hpccloud\.starpu\.(\w+)", head)
        name = above[1] if above else None
    return found


def described():
    classes, name = {}, None
    with open(NAMES, encoding="utf-8") as file:
        for line in file:
            if line.startswith(" "):
                classes[name].append(plain(line))
            elif not line.startswith("#"):
                name = line.strip()
                classes[name] = []
    return classes


def without_checked(member):
    return member.replace("public ", "").replace("throws Throwable", "").strip()


DESCRIBED = described()
SHOWN = shown([*DESCRIBED, "MemoryHandle"])
for its_class, wanted in DESCRIBED.items():
    there = {without_checked(m) for m in members(SHOWN, its_class)}
    there |= {m.replace("T ", "DataHandle ", 1) for m in there}
    otherwise = OTHERWISE.get(its_class, {})
    missing = [m for m in map(without_checked, wanted) if m not in there and m not in otherwise]
    TAP.claim(f"{its_class} has StarPU's members", not missing, *missing, "---",
              *sorted(there))
    vain = [m for m in otherwise if m in there]
    TAP.claim(f"{its_class}: what is said to be otherwise is", not vain, *vain)
TAP.end()

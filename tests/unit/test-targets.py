#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tools/project/targets.py, with which ./quickstart and ./check say what is built: of a build
that meson describes here, and of this one. Prints TAP.

    test-targets.py TARGETS.PY BUILD_FOLDER
"""
import json
import os
import subprocess
import sys
import tempfile

import tools_util as util

# Path: whether a build makes it by itself.
MADE = {"bound.so": True, "examples/cholesky": True, "examples/lu": True, "tests/cholesky": True,
        "tests/short": True, "tests/long": True, "tests/both": True, "tests/bench": False,
        "tools/measure": True}
# Name of a test: its suites, and what it needs.
TESTS = {"one": (["orrery:unit"], ["tests/short", "tests/both"]),
         "two": (["orrery:unit", "orrery:full"],
                 ["tests/long", "tests/both", "bound.so", "tools/measure"]),
         "three": (["orrery:api"], ["bound.so"])}


def describe(build):
    folder = os.path.join(build, "meson-info")
    os.mkdir(folder)
    targets = [{"id": path + "@id", "name": os.path.basename(path).split(".")[0],
                "filename": [os.path.join(build, path)], "build_by_default": made, "installed": not path.startswith("tests")}
               for path, made in MADE.items()]
    tests = [{"name": name, "suite": suites, "depends": [path + "@id" for path in needs]}
             for name, (suites, needs) in TESTS.items()]
    for name, what in (("targets", targets), ("tests", tests)):
        with open(os.path.join(folder, f"intro-{name}.json"), "w", encoding="utf-8") as file:
            json.dump(what, file)


def call(*words):
    return subprocess.run([sys.executable, "-B", sys.argv[1], *words], capture_output=True,
                          text=True, check=False)


def tests(tap, build):
    describe(build)
    done = call("tour", build)
    tap.claim("the tour has its programs, and none of tests that are called so",
              done.stdout.split() == ["bound.so", "examples/cholesky"], done.stdout, done.stderr)
    done = call("tests", build)
    tap.claim("tests have all but what long ones have for themselves, and is not installed",
              done.stdout.split() == ["bound.so", "examples/cholesky", "examples/lu",
                                      "tests/cholesky", "tests/short", "tests/both",
                                      "tools/measure"],
              done.stdout, done.stderr)
    done = call("all", build)
    tap.claim("nothing is built for a word that it does not know",
              done.returncode == 2 and "usage: " in done.stdout, done.stdout, done.stderr)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    tap = util.Tap()
    with tempfile.TemporaryDirectory() as folder:
        tests(tap, os.path.realpath(folder))
    done = call("tests", sys.argv[2])
    here = done.stdout.split()
    tap.claim("of this build too: the library is there, a program for GPUs alone is not",
              any(word.startswith("liborrery.so.") for word in here)
              and not any(word.endswith("/test-hip") for word in here), done.stdout[:2000], done.stderr)
    tap.end()


if __name__ == "__main__":
    main()

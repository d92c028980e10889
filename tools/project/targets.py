#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print what ninja builds for ./quickstart and ./check. Called by setup.sh.

usage: targets.py tour|tests BUILD_FOLDER
tour   what ./quickstart's tour and docs/TUTORIAL.md run, without other languages, other
       examples, ranks of MPI and what reads rare files
tests  all that a build makes by itself but programs that only tests of the suite `full' run,
       what is not installed and only these are made of
"""

import json
import os
import sys

# Names of targets, of the build's own files; what they need is built with them.
TOUR = {
    "bound", "catalogue", "cholesky", "clock", "describe-policies", "measure-runtime",
    "orrery", "replay", "report-page", "sim",
}


def described(build, what):
    """What meson says of the targets, or of the tests, of a build."""
    with open(os.path.join(build, "meson-info", f"intro-{what}.json"),
              encoding="utf-8") as file:
        return json.load(file)


def tour(targets, _):
    """Those of the tour."""
    return [target for target in targets
            if target["name"] in TOUR and not target["path"].startswith("tests" + os.sep)]


def tests(targets, suites):
    """All but those which tests name, and only long ones, and which are not installed."""
    short, long = set(), set()
    for test in suites:
        full = any(suite.split(":")[-1] == "full" for suite in test["suite"])
        (long if full else short).update(test["depends"])
    return [target for target in targets
            if target["installed"] or target["id"] not in long - short]


def wanted(build, select):
    """Paths of what the selected targets make."""
    targets = [target | {"path": os.path.relpath(target["filename"][0], build)}
               for target in described(build, "targets") if target["build_by_default"]]
    return [target["path"] for target in select(targets, described(build, "tests"))]


if __name__ == "__main__":
    SELECT = {"tour": tour, "tests": tests}
    if len(sys.argv) != 3 or sys.argv[1] not in SELECT:
        print(__doc__.strip())
        sys.exit(0 if "--help" in sys.argv else 2)
    print(*wanted(os.path.abspath(sys.argv[2]), SELECT[sys.argv[1]]))

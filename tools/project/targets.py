#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print what ninja builds for ./quickstart: what its tour and docs/TUTORIAL.md run, without
other languages, other examples, ranks of MPI and what reads rare files. Called by setup.sh.

usage: targets.py BUILD_FOLDER
"""

import json
import os
import sys

# Names of targets, of the build's own files; what they need is built with them.
WANTED = {
    "bound", "catalogue", "cholesky", "clock", "describe-policies", "measure-runtime",
    "orrery", "replay", "report-page", "sim",
}


def wanted(build):
    """Paths of what these targets make."""
    with open(os.path.join(build, "meson-info", "intro-targets.json"),
              encoding="utf-8") as file:
        targets = json.load(file)
    for target in targets:
        path = os.path.relpath(target["filename"][0], build)
        if (target["build_by_default"] and target["name"] in WANTED
                and not path.startswith("tests" + os.sep)):
            yield path


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] == "--help":
        sys.exit(__doc__.strip())
    print(*wanted(os.path.abspath(sys.argv[1])))

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print what ninja builds of a build folder without its tests. Called by setup.sh.

usage: targets.py BUILD_FOLDER
"""

import json
import os
import sys


def product(build):
    """Paths of what is built by default, of all folders but tests/."""
    with open(os.path.join(build, "meson-info", "meson-info.json"),
              encoding="utf-8") as file:
        root = json.load(file)["directories"]["source"]
    with open(os.path.join(build, "meson-info", "intro-targets.json"),
              encoding="utf-8") as file:
        targets = json.load(file)
    for target in targets:
        folder = os.path.relpath(os.path.dirname(target["defined_in"]), root)
        if target["build_by_default"] and folder.split(os.sep)[0] != "tests":
            yield os.path.relpath(target["filename"][0], build)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] == "--help":
        sys.exit(__doc__.strip())
    print(*product(os.path.abspath(sys.argv[1])))

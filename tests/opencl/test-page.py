#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/OPENCL_PROGRAMS.md as it stands: its program is compiled, its commands print what it
shows. TAP.

usage: test-page.py BUILD_FOLDER SOURCE_ROOT, under on-opencl.sh
"""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../api"), os.path.join(HERE, "../unit")]
from commands import Shell, comparable, fenced  # noqa: E402  pylint: disable=wrong-import-position
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

BUILD, SOURCE = sys.argv[1:3]
tap = Tap()
with open(os.path.join(SOURCE, "docs", "OPENCL_PROGRAMS.md"), encoding="utf-8") as file:
    blocks = fenced(file.read())
with tempfile.TemporaryDirectory(prefix="orrery-page-") as home:
    shell = Shell(home, home, **{name: os.environ[name] for name in (
        "POCL_DEVICES", "POCL_MAX_PTHREAD_COUNT", "POCL_CACHE_DIR") if name in os.environ})
    status, out, err = shell.run(f". {BUILD}/orrery-env")
    tap.claim("a shell finds what was built", status == 0, out, err)
    for block in blocks:
        if block.file_name():
            with open(os.path.join(home, block.file_name()), "w", encoding="utf-8") as file:
                file.write(block.text)
        elif block.language == "sh":
            status, out, err = shell.run(block.text)
            tap.claim(block.text.strip().splitlines()[-1], status == 0, out, err)
        elif block.language == "text":
            tap.claim("… prints what the page shows", comparable(out) == comparable(block.text),
                      out, "--- the page", block.text)
tap.end()

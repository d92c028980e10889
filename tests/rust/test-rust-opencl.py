#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/rust/opencl.rs computes the same on devices of OpenCL and without. TAP.

usage: on-opencl.sh HAS_OPENCL python3 test-rust-opencl.py PROGRAM
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

TAP = Tap()


def run(**settings):
    env = dict(os.environ, STARPU_SILENT="1", STARPU_NCPU="2", **settings)
    return subprocess.run(sys.argv[1:2], env=env, capture_output=True, text=True, timeout=100,
                          check=False)


without, both = run(STARPU_NOPENCL="0"), run(STARPU_NOPENCL="2")
TAP.claim("without devices it computes", without.stdout == "[1.0, 3.0, 32767.0]\n" and
          "OpenCL" not in without.stderr, without.stdout, without.stderr)
TAP.claim("devices execute half of it", "4 of 8 parts by OpenCL" in both.stderr, both.stderr)
TAP.claim("with the same result", both.stdout == without.stdout, both.stdout)
TAP.end()

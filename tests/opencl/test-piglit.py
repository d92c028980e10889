#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Piglit's programs for OpenCL, where they are installed: none ends by a signal or hangs, and
those pass that are not in the list of what is different here. TAP.

usage: test-piglit.py SOCL, under on-opencl.sh
"""
import glob
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
import tools_util as util   # noqa: E402  pylint: disable=wrong-import-position

SOCL = sys.argv[1]
FOLDER = "/usr/lib/x86_64-linux-gnu/piglit/bin"
# What fails, and why; of PoCL by itself those with "below" fail, too.
DIFFERENT = {
    "cl-api-create-command-queue": "a queue without a device is one of the context's",
    "cl-api-create-program-with-binary": "below: a kernel of a program that was not built",
    "cl-api-get-device-info": "below: flags of PoCL's that are newer",
    "cl-api-get-extension-function-address-for-platform": "below: the loader answers",
    "cl-api-get-kernel-arg-info": "what is known of arguments is known always",
    "cl-api-get-kernel-info": "below: attributes other than required groups are not told",
    "cl-custom-use-sub-buffer-in-kernel": "below: a part that is not aligned",
    "cl-program-predefined-macros": "macros are those of the compiler below, 3.0 with images",
}
tap = util.Tap()
programs = sorted(glob.glob(FOLDER + "/cl-*"))
if not programs:
    tap.skip("programs of piglit pass", "no piglit here: install piglit")
for path in programs:
    name = os.path.basename(path)
    if name == "cl-program-tester":  # it takes a file
        continue
    done = util.run(path, env={**os.environ, "STARPU_SILENT": "1", "OCL_ICD_VENDORS": SOCL,
                               "PIGLIT_PLATFORM": "mixed_glx_egl"}, timeout=120)
    found = re.findall(r'PIGLIT: {"result": "(\w+)"', done.out)
    if name in DIFFERENT:
        tap.claim(f"{name} ends: {DIFFERENT[name]}", done.code in (0, 1), done)
    else:
        tap.claim(f"{name} passes", found and found[-1] in ("pass", "skip", "warn"), done)
tap.end()

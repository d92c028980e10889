#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ViennaCL's own examples and tests, as Debian's libviennacl-doc has them, which is in pages:
compiled, right on a real machine and on a simulated one that executes kernels. TAP.

usage: test-viennacl.py ORRERY, under on-opencl.sh
"""
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
import tools_util as util   # noqa: E402  pylint: disable=wrong-import-position

ORRERY = os.path.abspath(sys.argv[1])
PAGES = "/usr/share/doc/libviennacl-dev/html"
HEADER = "/usr/include/viennacl/version.hpp"
# What each says when it is right; None: the same wherever it runs.
PROGRAMS = {"custom-kernels": None, "vector-range": None,
            "scalar": "------- Test completed --------"}
tap = util.Tap()


def lacking():
    if not os.path.exists(HEADER):
        return "no ViennaCL here: install libviennacl-dev"
    if not os.path.exists(os.path.join(PAGES, "scalar_8cpp_source.html")):
        return "no examples of ViennaCL here: install libviennacl-doc"
    return None if shutil.which("g++") else "no g++ here"


def source_of(page):
    """The text of a page of Doxygen's that shows a file."""
    with open(page, encoding="utf-8", errors="replace") as file:
        lines = re.findall(r'<div class="line">(.*?)</div>', file.read(), re.S)
    lines = [re.sub(r'<span class="lineno">.*?</span>', "", line, flags=re.S) for line in lines]
    return "".join(html.unescape(re.sub(r"<[^>]+>", "", line)).replace("\xa0", " ") + "\n"
                   for line in lines)


def build(folder, name):
    source, program = (os.path.join(folder, name + end) for end in (".cpp", ""))
    with open(source, "w", encoding="utf-8") as file:
        file.write(source_of(os.path.join(PAGES, name + "_8cpp_source.html")))
    done = subprocess.run(["g++", "-w", "-DVIENNACL_WITH_OPENCL", source, "-o", program,
                           "-lOpenCL"], capture_output=True, text=True, check=False, timeout=300)
    tap.claim(f"{name} is compiled", done.returncode == 0, done.stderr[-2000:])
    return program if done.returncode == 0 else None


def run(program, *options):
    """The exit code, and what the program itself has printed."""
    done = util.run(ORRERY, "run", *options, "--", program, timeout=300,
                    env={**os.environ, "STARPU_SILENT": "1", "ORRERY_SIM_KERNELS": "run"})
    return done, re.split(r"^machine  ", done.out, maxsplit=1, flags=re.M)[0].strip()


def is_right(name, program):
    real, said = run(program)
    wanted = PROGRAMS[name]
    tap.claim(f"{name}: right on the devices of this machine",
              real.code == 0 and len(said) > 0 and (wanted is None or wanted in said), real)
    simulated, again = run(program, "-m", "h100-pcie-4")
    tap.claim(f"{name}: says the same on a simulated machine that executes kernels",
              simulated.code == 0 and (again == said if wanted is None else wanted in again),
              said, simulated)


def main():
    why = lacking()
    if why:
        tap.skip("ViennaCL's examples", why)
        return
    with tempfile.TemporaryDirectory(prefix="orrery-viennacl-") as folder:
        for name in PROGRAMS:
            program = build(folder, name)
            if program:
                is_right(name, program)


main()
tap.end()

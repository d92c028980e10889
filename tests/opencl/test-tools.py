#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of others, as they are installed: clinfo, clpeak, pyopencl, CLBlast. TAP.

usage: test-tools.py ORRERY CLBLAST|"", under on-opencl.sh
"""
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../unit"))
import tools_util as util   # noqa: E402  pylint: disable=wrong-import-position

ORRERY, CLBLAST = sys.argv[1:3]
MACHINE = "h100-pcie-4"
# Debian's packages are those of its own interpreter.
PYTHON = "/usr/bin/python3"
tap = util.Tap()


def orrery(*words, **env):
    return util.run(ORRERY, *words, env={**os.environ, "STARPU_SILENT": "1", **env},
                    timeout=300)


def clinfo():
    claims = "clinfo lists the devices of a real machine", "… and of a simulated one"
    if not shutil.which("clinfo"):
        for claim in claims:
            tap.skip(claim, "no clinfo here")
        return
    done = orrery("run", "--", "clinfo")
    tap.claim(claims[0], re.search(r"Number of devices +2\b", done.out), done)
    done = orrery("run", "-m", MACHINE, "--", "clinfo")
    tap.claim(claims[1], len(re.findall(r"Device Name +CUDA \d.*H100", done.out)) >= 4, done)


def figures(text, section):
    part = text.split(section, 1)[-1].split("\n\n")[0]
    return [float(n) for n in re.findall(r"^ +\w+ +: ([\d.]+)$", part, re.M)]


def clpeak():
    claims = ("clpeak prints the described bandwidth of memory within 10 %",
              "… the peak in single precision", "… and in double precision")
    if not shutil.which("clpeak"):
        for claim in claims:
            tap.skip(claim, "no clpeak here")
        return
    shown = util.run(ORRERY, "machine", "show", MACHINE).out
    peak = re.search(r"peak fp32 ([\d.]+) Tflop/s, fp64 ([\d.]+) Tflop/s.*memory ([\d.]+) TB/s",
                     shown)
    fp32, fp64, memory = (1e3 * float(n) for n in peak.groups())
    done = orrery("run", "-m", MACHINE, "--clock=virtual", "--", "clpeak", "-d", "0",
                  "--global-bandwidth", "--compute-sp", "--compute-dp", "--kernel-latency")
    for claim, section, wanted in zip(claims, ("Global memory bandwidth", "Single-precision",
                                               "Double-precision"), (memory, fp32, fp64)):
        found = figures(done.out, section)
        tap.claim(claim, len(found) == 5 and
                  all(abs(n / wanted - 1) <= 0.1 for n in found), found, wanted, done)


def pyopencl():
    script = os.path.join(HERE, "arrays.py")
    claims = ("pyopencl computes on a real machine", "… on a simulated one that executes kernels",
              "… and on one that does not")
    if util.run(PYTHON, "-c", "import pyopencl").code != 0:
        for claim in claims:
            tap.skip(claim, "no pyopencl here: install python3-pyopencl")
        return
    done = orrery("run", "--", PYTHON, script, "check")
    tap.claim(claims[0], done.code == 0 and "right" in done.out, done)
    done = orrery("run", "-m", MACHINE, "--", PYTHON, script, "check",
                  ORRERY_SIM_KERNELS="run")
    tap.claim(claims[1], done.code == 0 and "right" in done.out, done)
    done = orrery("run", "-m", MACHINE, "--", PYTHON, script)
    tap.claim(claims[2], done.code == 0 and "100.0 % derived" in done.out, done)


def clblast():
    claims = "CLBlast multiplies on a real machine", "… and its kernels have times of a roofline"
    if not CLBLAST:
        for claim in claims:
            tap.skip(claim, "no CLBlast here: install libclblast-dev")
        return
    done = orrery("run", "--", CLBLAST, "check")
    tap.claim(claims[0], done.code == 0 and "right" in done.out, done)
    done = orrery("run", "-m", MACHINE, "--", CLBLAST)
    tap.claim(claims[1], done.code == 0 and "100.0 % derived" in done.out, done)


clinfo()
clpeak()
pyopencl()
clblast()
tap.end()

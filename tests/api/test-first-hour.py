#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stranger's first hour: a fresh clone, then programs of one's own in C and C++,
each compiled, run, calibrated, simulated on a machine with GPUs, compared, edited,
bounded and traced. TAP.

usage: test-first-hour.py [--full] BUILD_FOLDER SOURCE_ROOT

The clone takes BUILD_FOLDER for what ./quickstart would build. With --full it
runs ./quickstart, which builds no test, and then the tutorial's test of its own.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from commands import Shell, fenced

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

FULL = "--full" in sys.argv
BUILD, SOURCE = [os.path.abspath(w) for w in sys.argv[1:] if w != "--full"]
TAP = Tap()
MACHINE = "h100-pcie-4"
BUILT_WITH = "$(pkg-config --cflags --libs starpu-1.4)"


class Program:
    """A program of the user's: its source, how it is compiled, what it prints for
    real, its kernels, the architecture that they are simulated on."""

    def __init__(self, name, source, compiler, prints, kernels, only_gpus):
        self.name, self.source, self.compiler = name, source, compiler
        self.prints = prints
        self.assume = "; ".join(f"kernel[{k}] = 20us" for k in kernels)
        self.variables = "STARPU_NCPU=0 " if only_gpus else ""


def programs(root):
    with open(os.path.join(root, "docs", "TUTORIAL.md"),
              encoding="utf-8") as file:
        tutorial = {b.file_name(): b.text for b in fenced(file.read())
                    if b.file_name()}
    with open(os.path.join(root, "tests", "programs", "pipeline.c"),
              encoding="utf-8") as file:
        pipeline = file.read().replace('#include "expect.h"',
                                       f'#include "{root}/tests/programs/'
                                       'expect.h"')
    stages = ("generate", "brighten", "add")
    return (
        Program("heat.c", tutorial["heat.c"], "gcc -O2 -Wall", "82.4 degrees",
                ("heat",), True),
        Program("heat.cpp", tutorial["heat.c"], "g++ -O2 -Wall",
                "82.4 degrees", ("heat",), True),
        Program("pipeline.c", pipeline, "gcc -O2 -Wall", "",
                ("generate", "filter", "sum"), False),
        Program("pipeline.cpp", tutorial["pipeline.cpp"], "g++ -O2 -Wall",
                "64 frames, sum 208000000", stages, False))


def step(shell, what, text, *expected):
    """Runs it; the claim holds if it succeeds and prints what is expected."""
    status, out, err = shell.run(text)
    missing = [word for word in expected if word not in out + err]
    TAP.claim(what, status == 0 and not missing, f"$ {text}",
              f"status {status}", *[f"missing: {w}" for w in missing], out, err)


def hour(shell, program):
    app = "./" + program.name.replace(".", "-")
    on = f"{program.variables}orrery"
    assume = f"--assume '{program.assume}'"
    with open(os.path.join(shell.folder, program.name), "w",
              encoding="utf-8") as file:
        file.write(program.source)

    def do(what, text, *expected):
        step(shell, f"{program.name}: {what}", text, *expected)

    do("is compiled", f"{program.compiler} {program.name} {BUILT_WITH} "
       f"-o {app}")
    do("runs", f"STARPU_SILENT=1 {app}", program.prints)
    do("is calibrated", "orrery calibrate kernels --confidence 20% -t 30s "
       f"-- {app}", "kernels known to")
    do("has models", "orrery perfmodel list", *[
        word.split("]")[0] for word in program.assume.split("[")[1:]])
    do("runs on a copy of this machine", f"orrery machine copy {app}.xml; "
       f"KERNELS_ARE_SKIPPED=1 orrery run -m {app}.xml -- {app}",
       "figures measured")
    shell.variables["KERNELS_ARE_SKIPPED"] = "1"
    do("runs on GPUs", f"{on} run -m {MACHINE} -s dmdas {assume} -- {app}",
       "makespan", "CUDA", "figures derived")
    do("is compared", f"{on} compare -m {MACHINE},hgx-h100-8 -s lws,dmdas "
       f"{assume} -- {app}", "predicted ms", "hgx-h100-8")
    do("is asked what if", f"{on} run -m {MACHINE} -s dmdas {assume} "
       f"--set 'pcie.bandwidth *= 2' -- {app}", "what if")
    do("is bounded", f"{on} bound -m {MACHINE} -s dmdas {assume} "
       f"--kind critical-path,area -- {app}", "critical path", "scheduled")
    do("is traced", f"{on} trace -m {MACHINE} -s dmdas {assume} "
       f"-o {app}.paje -- {app}", "trace")
    del shell.variables["KERNELS_ARE_SKIPPED"]
    if shutil.which("pj_dump"):
        opens_in_pj_dump(shell, program, app)
    else:
        TAP.skip(f"{program.name}: pj_dump opens the trace", "no pj_dump here")


def opens_in_pj_dump(shell, program, app):
    status, out, err = shell.run(f"pj_dump {app}.paje")
    TAP.claim(f"{program.name}: pj_dump opens the trace without a warning",
              status == 0 and not err.strip() and "State" in out,
              f"status {status}", err)


def clone(parent):
    """A fresh clone with a build folder; None if the source is none to clone."""
    root = os.path.join(parent, "orrery")
    done = subprocess.run(["git", "clone", "--quiet", SOURCE, root],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8",
                          check=False)
    TAP.claim("the source is cloned", done.returncode == 0, done.stdout)
    if not FULL:
        os.symlink(BUILD, os.path.join(root, "build"))
    return root


def tour(shell, root):
    """What the README's first screen tells to do, and what the page that it names
    next does."""
    status, out, err = shell.run("./quickstart", limit_s=3000)
    TAP.claim("quickstart: it ends well", status == 0, out[-3000:], err)
    for title in ("1. Calibrating", "2. The same program on a simulated copy",
                  "3. The same program on a machine with GPUs",
                  "4. How good could any scheduler be there", "orrery-env"):
        TAP.claim(f"quickstart: {title}", f"== {title}" in out or
                  title in out.splitlines()[-2], out[-3000:])
    done = subprocess.run(
        [sys.executable, os.path.join(root, "tests/api/test-tutorial.py"),
         os.path.join(root, "build"), root], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        check=False)
    TAP.claim("the tutorial and the README hold in the clone",
              done.returncode == 0, *[line for line in done.stdout.splitlines()
                                      if not line.startswith("ok")])


def leaves_the_clone_clean(root):
    status = subprocess.run(["git", "status", "--porcelain"], cwd=root,
                            stdout=subprocess.PIPE, encoding="utf-8",
                            check=True).stdout
    dirt = [line for line in status.splitlines() if line != "?? build"]
    TAP.claim("nothing was written into the clone", not dirt, *dirt)


needed = [tool for tool in ("git", "gcc", "g++", "pkg-config", "gnuplot")
          if not shutil.which(tool)]
if needed or not os.path.exists(os.path.join(SOURCE, ".git")):
    TAP.skip("a fresh clone is usable", f"no {needed[0]} here" if needed else
             "the source is no git checkout")
    TAP.end()
with tempfile.TemporaryDirectory(prefix="orrery-hour-") as temporary:
    tree = clone(temporary)
    user = Shell(tree, os.path.join(temporary, "home"))
    os.mkdir(user.home)
    if FULL:
        tour(user, tree)
    step(user, "a shell finds what was built",
         ". build/orrery-env && cd && orrery --version")
    for each in programs(tree):
        hour(user, each)
    leaves_the_clone_clean(tree)
TAP.end()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/openmp: the programs translated by hand print what the same source does
that the compiler's OpenMP runs, for real and simulated, with few and many threads.
TAP.

usage: test-openmp.py GPUS_XML TRANSLATED SOURCE
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

GPUS, TRANSLATED, SOURCE = sys.argv[1:]
SIMULATED = {"ORRERY_MACHINE": GPUS, "STARPU_NCUDA": "1"}
PLACES = [("for real", {}, "lws"), ("for real", {}, "eager"),
          ("for real", {"STARPU_NCPU": "1"}, "lws"),
          ("simulated", SIMULATED, "lws"), ("simulated", SIMULATED, "dmdas")]
TAP = Tap()


def run(program, threads, env):
    done = subprocess.run([program, str(threads)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, **env), timeout=120,
                          encoding="utf-8", check=False)
    return done.stdout + ("" if done.returncode == 0
                          else f"status {done.returncode}\n")


for count in (1, 2, 8):
    expected = run(SOURCE, count, {})
    TAP.claim(f"the source prints six results, {count} threads",
              expected.count("\n") == 6, expected)
    for where, variables, policy in PLACES:
        env = dict({"STARPU_SILENT": "1", "STARPU_SCHED": policy,
                    "STARPU_NCPU": "2"}, **variables)
        printed = run(TRANSLATED, count, env)
        TAP.claim(f"its translation prints the same {where}, {count} threads "
                  f"on {env['STARPU_NCPU']} workers, {policy}",
                  printed == expected, printed, expected)
TAP.end()

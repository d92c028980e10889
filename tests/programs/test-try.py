#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery try: a program built for processors alone, one without models, programs with
which there is nothing to try, and others, which are shapes of applications. TAP.

usage: test-try.py ORRERY TILED MULTIFRONTAL IDLE PROGRAM...
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

ORRERY, TILED, NO_MODELS, IDLE = (os.path.abspath(word) for word in sys.argv[1:5])
TAP = Tap()


def run_try(folder, *words, **variables):
    """In that folder, with models and records of its own."""
    env = dict(os.environ, STARPU_HOME=folder, STARPU_NCPU="2", **variables)
    return subprocess.run([ORRERY, "try", *words], env=env, cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", check=False, timeout=300)


def models_in(folder):
    found = []
    for where, _, names in os.walk(folder):
        found += [os.path.join(where, name) for name in names if "codelets" in where]
    return found


def test_tiled(folder):
    told = run_try(folder, "--", TILED, "8", "32")
    TAP.claim("a program for processors alone is tried", told.returncode == 0, told.stdout,
              told.stderr)
    for line in ("1. ", "2. Simulated, this machine takes", "3. rtx4090-2",
                 "4. h100-pcie-4", "5. sirocco-a100", "with --devices=all, which lifts",
                 "asks for 0 of 2 CUDA devices", "restricted to CPUs (where)",
                 "Go on with", "performance models are as they were"):
        TAP.claim(f"it says `{line}'", line in told.stdout, told.stdout)
    TAP.claim("no model of the user's was written", not models_in(folder),
              models_in(folder))
    TAP.claim("the record stays", os.path.exists(os.path.join(folder, "tiled.rec")))
    # What it recommends runs.
    commands = [line.strip() for line in told.stdout.splitlines()
                if line.startswith("  orrery ")]
    explain = next(line for line in commands if line.startswith("orrery explain"))
    done = subprocess.run([ORRERY, *explain.split()[1:]], cwd=folder,
                          env=dict(os.environ, STARPU_HOME=folder,
                                   ORRERY_ASSUME="dplgsy = 5us; dpotrf = 5us; dtrsm = 5us"
                                                 "; dsyrk = 5us; dgemm = 5us"),
                          stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          encoding="utf-8", timeout=300)
    TAP.claim("a command that it recommends runs", done.returncode == 0, explain,
              done.stderr)


def test_json(folder):
    done = run_try(folder, "--json", "-m", "sirocco-a100", "-o", "other.rec", "--", TILED,
                   "8", "32", "combine")
    told = json.loads(done.stdout[done.stdout.index("{"):])
    one = told["machines"][0]
    TAP.claim("as JSON: the same figures", len(told["machines"]) == 1 and
              one["machine"] == "sirocco-a100" and one["all_devices"] and
              one["makespan_us"] > 0 and one["as_is_us"] > 0 and
              0 < one["least_us"] <= one["most_us"] and
              one["run"]["held"]["all_devices"] and told["real"]["tasks"] >= 164,
              one["problem"], told["real"]["tasks"])
    TAP.claim("this machine's simulation has its kernels' times",
              told["here"]["makespan_us"] > 0 and not told["here"]["all_devices"],
              told["here"])
    again = subprocess.run([ORRERY, "replay", "--json", "other.rec"], cwd=folder,
                           stdin=subprocess.DEVNULL, capture_output=True, check=False,
                           env=dict(os.environ, STARPU_HOME=folder, STARPU_NCPU="2"),
                           encoding="utf-8", timeout=100)
    replayed = json.loads(again.stdout[again.stdout.index("{"):])
    TAP.claim("which is what replay says of the record",
              replayed["makespan_us"] == told["here"]["makespan_us"],
              replayed["makespan_us"], told["here"]["makespan_us"])


def test_without_models(folder):
    told = run_try(folder, "-m", "sirocco-a100", "--", NO_MODELS)
    # Whether a device is worth while for its short kernels differs from run to run.
    TAP.claim("a program without models is tried", told.returncode == 0 and
              "3. sirocco-a100" in told.stdout and
              "what is projected from that" in told.stdout, told.stdout, told.stderr)


def test_others(folder):
    for program in map(os.path.abspath, sys.argv[5:]):
        told = run_try(folder, "--json", "-m", "sirocco-a100", "--", program)
        name = os.path.basename(program)
        TAP.claim(f"{name} is tried", told.returncode == 0, told.stdout, told.stderr)
        said = json.loads(told.stdout[told.stdout.index("{"):])
        TAP.claim(f"{name} has a time for real, here and there",
                  said["real"]["makespan_us"] > 0 and said["here"]["makespan_us"] > 0 and
                  [machine["makespan_us"] > 0 for machine in said["machines"]] == [True],
                  said)


# Exit code, and what is said.
EXPECTED = {"fails": (5, "exit status 5"), "empty": (1, "submitted no tasks"),
            "none": (1, "never started liborrery"), "quick": (0, "1 task of 1 kernel")}


def test_nothing_to_try(folder):
    for name, (code, text) in EXPECTED.items():
        told = run_try(folder, "-m", "sirocco-a100", "--", IDLE, name)
        TAP.claim(f"{name}: {text}", told.returncode == code and
                  text in told.stdout + told.stderr, told.returncode, told.stdout,
                  told.stderr)


def test_words(folder):
    for words, text in (((), "which program?"),
                        (("-m", "no-such", "--", TILED), "no machine `no-such'"),
                        (("--", os.path.join(folder, "tiled.rec")), "no kernels")):
        told = run_try(folder, *words)
        TAP.claim(f"{text}", told.returncode == 2 and text in told.stderr, told.stdout,
                  told.stderr)


def main():
    folder = tempfile.mkdtemp()
    try:
        test_tiled(folder)
        test_json(folder)
        test_words(folder)
        test_without_models(folder)
        test_others(folder)
        test_nothing_to_try(folder)
    finally:
        shutil.rmtree(folder)
    TAP.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that was built for processors alone on machines with GPUs: --devices=all lets
its kernels run where they have times, and without it every report says what the program
holds back. TAP.

usage: test-devices.py ORRERY GPUS_XML TILED
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

ORRERY, GPUS, TILED = sys.argv[1:4]
TAP = Tap()
TIMES = "; ".join(
    ["kernel[*] on cpu = 40us"] +
    [f"kernel[{name}] on cuda = 5us" for name in ("dplgsy", "dgemm", "dsyrk", "dtrsm", "dcount")])
# What keeps a kernel from GPUs, and whether --devices=all lifts it.
VARIANTS = {"": True, "where": True, "counts": True, "tasks": True, "two": True,
            "place": True, "combine": True, "forms": True, "refuse": False, "named": False}


def orrery(*words, assume=TIMES, **variables):
    env = dict(os.environ, KERNELS_ARE_SKIPPED="1", ORRERY_ASSUME=assume, **variables)
    if variables.get("ORRERY_SIM_KERNELS") == "run":
        del env["KERNELS_ARE_SKIPPED"]
    return subprocess.run([ORRERY, *words], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, encoding="utf-8", check=False,
                          timeout=300)


def report_of(done):
    """What --json prints; None after a failure."""
    if done.returncode:
        return None
    return json.loads(done.stdout[done.stdout.index("{"):])


def on_cuda(report):
    return sum(worker["tasks"] for worker in report["workers"]
               if worker["name"].startswith("CUDA"))


def run(policy, devices, *words, **variables):
    return orrery("run", "--json", "-m", GPUS, "-s", policy, "--devices", devices,
                  "--", TILED, "6", "8", *words, **variables)


def policies():
    listed = json.loads(orrery("sched", "list", "--json").stdout)
    names = [one["name"] for one in listed]
    return [name for name in names if "=" not in name and "." not in name]


def test_policies():
    """Each policy, with the kernels run: the program checks its result."""
    for policy in policies():
        failed = []
        for variant, lifts in VARIANTS.items():
            if variant not in ("", "combine") and policy not in ("eager", "lws", "dmdas",
                                                                 "modular-heft"):
                continue
            for devices in ("program", "all"):
                words = [variant] if variant else []
                done = run(policy, devices, *words, ORRERY_SIM_KERNELS="run")
                report = report_of(done)
                used = report is not None and on_cuda(report) > 0
                if report is None or used != (lifts and devices == "all"):
                    failed.append((variant, devices, done.returncode, used,
                                   done.stderr[-300:]))
        TAP.claim(f"{policy} runs kernels on GPUs where that is lifted", not failed,
                  *failed)


def test_commands(folder):
    """Every command sees the same run."""
    plain = report_of(run("dmdas", "program"))
    lifted = report_of(run("dmdas", "all"))
    rows = json.loads(orrery("compare", "--json", "--bound", "--devices=all", "-m", GPUS,
                             "-s", "dmdas", "--", TILED, "6", "8").stdout)
    TAP.claim("compare simulates the run that run does, above the bound",
              rows[0]["makespan_us"] == lifted["makespan_us"] and
              0 < rows[0].get("bound_us", 0) <= lifted["makespan_us"], rows[0])
    record = os.path.join(folder, "tiled.rec")
    made = orrery("record", "-o", record, "-m", GPUS, "-s", "dmdas", "--", TILED, "6", "8")
    for devices, expected in (("program", plain), ("all", lifted)):
        again = report_of(orrery("replay", "--json", "-m", GPUS, "-s", "dmdas",
                                 "--devices", devices, record))
        TAP.claim(f"a record replayed with --devices={devices} is the program's run",
                  again and again["makespan_us"] == expected["makespan_us"] and
                  on_cuda(again) == on_cuda(expected) and
                  again["held"] == expected["held"], made.stderr, again)
    told = json.loads(orrery("explain", "--json", "-m", GPUS, "-s", "dmdas", "--", TILED,
                             "6", "8").stdout)
    tried = [one for one in told["changes"] if "all devices" in one["change"]]
    TAP.claim("explain tries what lifting gives", len(tried) == 1 and abs(
        tried[0]["makespan_ms"] * 1000 - lifted["makespan_us"]) < 0.01, told["changes"])
    told = orrery("explain", "-m", GPUS, "-s", "dmdas", "--", TILED, "6", "8")
    TAP.claim("explain says how, also where it does not help",
              "(--devices=all)" in told.stdout, told.stdout)
    for words in (("trace", "-o", os.path.join(folder, "t.csv")),
                  ("report", "-o", os.path.join(folder, "t.html")),
                  ("bound",), ("record", "-o", record),
                  ("optimise", "--runs", "45", "-o", os.path.join(folder, "s"))):
        done = orrery(*words, "-m", GPUS, "--devices=all", "--", TILED, "6", "8")
        TAP.claim(f"{words[0]} takes --devices=all", done.returncode == 0, done.stderr)
    with open(os.path.join(folder, "t.csv"), encoding="utf-8") as trace:
        TAP.claim("its trace has tasks on GPUs", "CUDA" in trace.read())


def test_told():
    """What is said."""
    told = orrery("run", "-m", GPUS, "--", TILED, "6", "8").stdout
    for line in ("held back   the program asks for 0 of 3 CUDA devices",
                 "dplgsy, dtrsm, dsyrk, dgemm are restricted to CPUs (where), and have "
                 "times on CUDA",
                 "dpotrf is restricted to CPUs (where), and has no time on CUDA",
                 "--devices=all lifts that"):
        TAP.claim(f"run says `{line}'", line in told, told)
    told = orrery("run", "-m", GPUS, "--", TILED, "6", "8", "open").stdout
    TAP.claim("a kernel without function and time is told, and no remedy that is none",
              "dpotrf has no functions for" not in told and
              "dpotrf has no function for CUDA, nor a time there" in told and
              "--devices" not in told, told)
    told = orrery("run", "-m", GPUS, "--devices=all", "--", TILED, "6", "8").stdout
    TAP.claim("a run says what was lifted",
              "lifted      the program asks for 0 of 3 CUDA devices" in told, told)
    told = orrery("compare", "-m", GPUS, "--", TILED, "6", "8").stdout
    TAP.claim("compare says it", "held back, on" in told and
              "the program asks for 0 of 3 CUDA devices" in told, told)
    for words, reason in ((("counts",), "asks for 0 of 3 CUDA devices: --devices=all"),
                          (("where",), "`where' of the kernel leaves CUDA devices out: "
                                       "--devices=all")):
        told = orrery("run", "-m", GPUS, "--", TILED, "6", "8", *words).stdout
        TAP.claim(f"an assumption is not used because {reason}", any(
            "dgemm] on cuda" in line and reason in line for line in told.splitlines()),
                  told)
    told = subprocess.run([TILED, "6", "8"], stdin=subprocess.DEVNULL,
                          capture_output=True, encoding="utf-8", check=False, timeout=100,
                          env=dict(os.environ, ORRERY_MACHINE=GPUS, ORRERY_ASSUME=TIMES,
                                   KERNELS_ARE_SKIPPED="1"))
    TAP.claim("so does the library without the command",
              "asks for 0 of 3 CUDA devices" in told.stderr and
              "ORRERY_DEVICES=all" in told.stderr, told.stderr)


def test_limits():
    report = report_of(run("dmdas", "all", STARPU_NCUDA="1"))
    names = {worker["name"].split(" (")[0] for worker in report["workers"]}
    TAP.claim("STARPU_NCUDA still restricts", "CUDA 0.0" in names and
              "CUDA 1.0" not in names, names)
    told = orrery("run", "-m", GPUS, "--devices=all", "--", TILED, "6", "8", "ask").stdout
    TAP.claim("the program finds the devices", "1 CPUs, 3 CUDA devices" in told, told)
    report = report_of(run("dmdas", "all", "open",
                           assume="kernel[*] = 5us"))
    TAP.claim("a time for all devices is one on each, with that",
              on_cuda(report) > 0, report["workers"])
    report = report_of(run("dmdas", "program", "open", assume="kernel[*] = 5us"))
    TAP.claim("and none without", on_cuda(report) == 0 and
              all(one["why"] == "function" and one["time"]
                  for one in report["held"]["kernels"]), report["held"])
    done = orrery("run", "--devices=most", "--", TILED)
    TAP.claim("another value is an error", done.returncode == 2 and
              "`all' and `program'" in done.stderr, done.stderr)
    done = orrery("run", "--devices=all", "--", TILED)
    TAP.claim("a real run says that it has no effect", done.returncode == 0 and
              "has no effect" in done.stderr, done.stderr)


def test_catalogue():
    """A machine of the catalogue has times of its own for these kernels."""
    spans = {}
    for devices in ("program", "all"):
        report = report_of(orrery("run", "--json", "-m", "sirocco-a100", "-s", "dmdas",
                                  "--devices", devices, "--", TILED, "12", "1600",
                                  assume=""))
        spans[devices] = report["makespan_us"]
    TAP.claim("sirocco-a100 runs it several times as fast on its GPUs",
              spans["all"] * 2 < spans["program"], spans)


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_commands(folder)
    test_told()
    test_limits()
    test_catalogue()
    test_policies()
    TAP.end()


if __name__ == "__main__":
    main()

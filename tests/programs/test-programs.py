#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs as users of StarPU write them, for real and simulated, under each
policy: they check their own results. TAP.

usage: test-programs.py GPUS_XML PROGRAM...
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

GPUS, PROGRAMS = sys.argv[1], sys.argv[2:]
POLICIES = ("eager", "prio", "ws", "lws", "dmda", "dmdas")
TAP = Tap()


def kernels():
    """Assumes a time of each kernel that a program of this folder names."""
    here = os.path.dirname(os.path.abspath(__file__))
    names = set()
    for file in os.listdir(here):
        if file.endswith((".c", ".cpp")):
            with open(os.path.join(here, file), encoding="utf-8") as text:
                names |= set(re.findall(r'name = "(\w+)"', text.read()))
    names.add("layers_*")  # layers.cpp puts its names together
    return "; ".join(f"kernel[{name}] = 5us" for name in sorted(names))


ASSUME = kernels()
VIRTUAL = {"ORRERY_MACHINE": GPUS, "ORRERY_SIM_KERNELS": "run",
           "ORRERY_ASSUME": ASSUME}
# Variables and policies.
PLACES = {
    "real": ({}, POLICIES),
    "real, one worker": ({"STARPU_NCPU": "1"}, ("lws",)),
    "on virtual GPUs": (VIRTUAL, POLICIES),
    "on virtual GPUs alone": (dict(VIRTUAL, STARPU_NCPU="0"),
                              ("lws", "dmdas")),
    "with its kernels skipped": ({"ORRERY_MACHINE": "h100-pcie-4",
                                  "KERNELS_ARE_SKIPPED": "1",
                                  "ORRERY_ASSUME": ASSUME}, ("ws", "dmda")),
}


def try_program(program, place, policy):
    env = dict(os.environ, STARPU_SILENT="1", STARPU_SCHED=policy,
               **PLACES[place][0])
    name = os.path.basename(program)
    try:
        done = subprocess.run([program], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=120, encoding="utf-8", check=False)
    except subprocess.TimeoutExpired as late:
        TAP.claim(f"{name} {place}, {policy}", False, "does not end",
                  late.output or "")
        return
    if done.returncode == 77:
        TAP.skip(f"{name} {place}, {policy}", "no worker can take its tasks")
    else:
        TAP.claim(f"{name} {place}, {policy}", done.returncode == 0,
                  f"status {done.returncode}", done.stdout)


def needs_cpu(program):
    """Whether one of its kernels has no GPU version."""
    here = os.path.dirname(os.path.abspath(__file__))
    name = os.path.basename(program)
    for file in (name + ".c", name + ".cpp"):
        path = os.path.join(here, file)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as text:
                source = text.read()
            return source.count("cpu_funcs") != source.count("cuda_funcs")
    return True


for each in PROGRAMS:
    for where in PLACES:
        if where.endswith("alone") and needs_cpu(each):
            continue
        for which in PLACES[where][1]:
            try_program(each, where, which)
TAP.end()

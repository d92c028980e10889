#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands that simulate say which models they used that `orrery perfmodel check`
does not trust, and which of its findings that is. TAP.

usage: test-trust.py ORRERY BUSY MACHINE

BUSY is the program of busy.c, MACHINE is gpus.xml: four cores, three devices.
"""

import json
import os
import sys

from busy_models import CPU, CUDA, KERNELS, SIZES, Busy, linear
from programs import run_all, test

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
ORRERY, BUSY, MACHINE = sys.argv[1:]
RUN = Busy(ORRERY, BUSY, MACHINE)


def spoil(folder, name, *sizes, host="gpus"):
    """Of these sizes a deviation as large as the mean: spikes."""
    path = os.path.join(folder, "sampling", "codelets", "45",
                        "%s.%s" % (name, host))
    with open(path, encoding="ascii") as file:
        lines = file.read().splitlines()
    for at, line in enumerate(lines):
        words = line.split()
        if words[0] in [RUN.footprint(size) for size in sizes]:
            mean = float(words[3])
            words[4], words[6] = "%.9e" % mean, "%.9e" % (20 * mean * mean)
            lines[at] = " ".join(words)
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    return folder


def spoilt(*sizes, name="busy_alpha"):
    return spoil(RUN.models({(CPU, 0): linear(*SIZES)}), name, *sizes)


def commands(folder, *more):
    trace = os.path.join(folder, "t.paje")
    for words in (("run",), ("compare", "-s", "eager,dmda"),
                  ("bound", "--kind", "area"), ("trace", "-o", trace)):
        yield words[0], (*words, *more, "-m", MACHINE, "--", BUSY, "-size",
                         "400")


def untrusted(folder, *more):
    """What each command says in JSON."""
    for command, words in commands(folder, "--json", *more):
        ended = RUN.orrery(*words, folder=folder)
        ended.has_status(0)
        said = json.loads(ended.out)
        for report in said if command == "compare" else [said]:
            yield command, report["untrusted"]


@test
def each_command_names_the_model_that_is_not_to_be_trusted():
    folder = spoilt(400)
    checked = json.loads(RUN.orrery("perfmodel", "check", "--json", "-m", MACHINE,
                                    folder=folder).out)
    wrong = [f for f in checked["findings"] if f["severity"] == "error"]
    assert {f["fault"] for f in wrong} == {"spikes", "imprecise"}, wrong
    for command, found in untrusted(folder):
        assert found == wrong, (command, found)
    for command, words in commands(folder):
        out = RUN.orrery(*words, folder=folder).out
        assert out.count("busy_alpha cpu0_impl0") == 1, (command, out)
        assert out.count(wrong[0]["text"]) == 1, (command, out)
        assert "and 1 more error\n" in out, (command, out)
        assert RUN.footprint(400) in out, (command, out)
        assert "  orrery perfmodel check" in out, (command, out)
        assert "untrusted   orrery" not in out, (command, out)


@test
def pictures_say_it_as_well():
    for folder, expected in ((spoilt(400), True),
                             (RUN.models({(CPU, 0): linear(*SIZES)}), False)):
        log = os.path.join(folder, "gnuplot.log")
        tools = os.path.join(folder, "bin")
        os.mkdir(tools)
        with open(os.path.join(tools, "gnuplot"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexec cat >>%s\n" % log)
        os.chmod(os.path.join(tools, "gnuplot"), 0o755)
        picture = os.path.join(folder, "p.png")
        for words in (("compare", "-s", "eager", "--plot", picture),
                      ("bound", "--kind", "area", "--plot", picture),
                      ("trace", "-o", os.path.join(folder, "t.paje"))):
            if os.path.exists(log):
                os.remove(log)
            RUN.orrery(*words, "-m", MACHINE, "--", BUSY, "-size", "400",
                       folder=folder, PATH=tools + ":" + os.environ["PATH"])
            with open(log, encoding="utf-8") as file:
                said = "models not to be trusted" in file.read()
            assert said == expected, words


@test
def nothing_is_said_of_models_that_can_be_trusted_or_were_not_used():
    good = RUN.models({(CPU, 0): linear(*SIZES)})
    other = spoil(RUN.models({(CPU, 0): linear(*SIZES)}, names=(
        *KERNELS, "other")), "other", 400)
    for folder in (good, spoilt(1600), other):
        for command, found in untrusted(folder):
            assert found == [], (command, found)
        for command, words in commands(folder):
            out = RUN.orrery(*words, folder=folder).out
            assert "untrusted" not in out, (command, out)
            assert "perfmodel check" not in out, (command, out)


@test
def a_size_between_rests_on_all_sizes():
    said = RUN.report(folder=spoilt(1600), size=800)
    assert {f["footprint"] for f in said["untrusted"]} == {
        RUN.footprint(1600)}, said["untrusted"]


@test
def assumed_times_use_no_model():
    folder = spoilt(400)
    os.remove(os.path.join(folder, "sampling", "codelets", "45",
                           "busy_beta.gpus"))
    assume = ("--assume", "kernel[busy_beta] = 50us")
    found = RUN.report(*assume, folder=folder, size=400)["untrusted"]
    assert {f["kernel"] for f in found} == {"busy_alpha"}, found


@test
def each_device_is_named_once():
    times = linear(*SIZES)
    folder = RUN.models({(CPU, 0): linear(*SIZES, scale=100),
                         **{(CUDA, k): times for k in range(3)}})
    spoil(folder, "busy_alpha", 400)
    said = RUN.report("-s", "dmda", folder=folder, size=400)
    archs = {kernel["arch"] for kernel in said["kernels"]
             if kernel["name"] == "busy_alpha"}
    assert len(archs) > 1, said["kernels"]
    found = [f["architecture"] for f in said["untrusted"]
             if f["fault"] == "spikes"]
    assert sorted(found) == sorted({arch + "_impl0" for arch in archs}), found


@test
def few_bytes_are_not_said_to_be_none():
    folder = RUN.models({(CUDA, k): {size: 5 for size in SIZES}
                         for k in range(3)})
    ended = RUN.simulate("-s", "eager", folder=folder, size=100,
                         program=("-tasks", "2"), STARPU_NCPU="0")
    ended.has_status(0)
    assert " KiB, " in ended.out and "0.0 " not in ended.out.split(
        "transfers")[1].splitlines()[0], ended.out


@test
def a_real_run_says_nothing():
    ended = RUN.orrery("run", "--json", "--", BUSY, "-size", "400")
    ended.has_status(0)
    assert "untrusted" not in json.loads(ended.out), ended.out


sys.exit(run_all())

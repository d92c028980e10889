#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `orrery validate` finds in models that are wrong, and in models that are
right, with pretender.py as the program: the "real" times are seeded numbers, so
that nothing depends on this machine. TAP.

usage: test-validate-verdicts.py ORRERY
"""

import json
import math
import os
import subprocess
import sys
import tempfile

from pretender import DEVICES, FOOTPRINT, KERNELS
from tools_util import load_models

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import run_all, test  # noqa: E402

if len(sys.argv) != 2:
    sys.exit(__doc__.strip())
ORRERY = sys.argv[1]
PRETENDER = os.path.join(HERE, "pretender.py")
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
MODELS = load_models()

ALL_CPU = {(name, "cpu0", size) for name in KERNELS for size in (1, 2)}
BOTH_GEMM = {("gemm", "cpu0", 1), ("gemm", "cpu0", 2)}

# name: (scene, options, the kernels that must not be said to fit, words that
# the output must have)
WRONG = {
    "all models three times as long": (
        {"model": {"cpu0": 3}}, (), ALL_CPU, ("All kernels", "cpu")),
    "all models 0.3 times as long": (
        {"model": {"cpu0": 0.3}}, (), ALL_CPU, ("All kernels", "cpu")),
    "one kernel three times as long": (
        {"model": {"gemm": 3}}, (), BOTH_GEMM, ("DRIFT: gemm on cpu0",)),
    "one kernel 0.3 times as long": (
        {"model": {"gemm": 0.3}}, (), BOTH_GEMM, ("DRIFT: gemm on cpu0",)),
    "two levels in the samples of one kernel": (
        {"model": {"gemm": 5.37}, "levels": {"gemm": 5.37}}, (), BOTH_GEMM,
        ("DRIFT: gemm on cpu0",)),
    "two levels in the samples of all kernels": (
        {"model": {"cpu0": 5.37}, "levels": {name: 5.37 for name in KERNELS}},
        (), ALL_CPU, ("All kernels", "cpu")),
    "a kernel that has become 12 % slower": (
        {"slow": {"gemm": 1.12}}, (), BOTH_GEMM,
        ("DRIFT: gemm on cpu0", "slower than its model")),
    "one size wrong": (
        {"model": {"syrk/2": 2}}, (), {("syrk", "cpu0", 2)},
        ("DRIFT: syrk on cpu0", "0000abc2")),
    "one architecture wrong": (
        {"gpu": True, "model": {"trsm/cuda0": 2}}, (),
        {("trsm", "cuda0", 1), ("trsm", "cuda0", 2)},
        ("DRIFT: trsm on cuda0",)),
    "all kernels of one architecture wrong": (
        {"gpu": True, "model": {"cuda0": 4}}, (),
        {(name, "cuda0", size) for name in KERNELS for size in (1, 2)},
        ("All kernels", "cuda")),
    "right kernels, wrong from end to end": (
        {"end": 1.6}, (), set(), ("OFF", "from end to end")),
    "too few repetitions to look for drift": (
        {"model": {"gemm": 3}}, ("-n", "1"), BOTH_GEMM,
        ("OFF", "from end to end")),
    "a machine that is slower by a third": (
        {"machine": 0.3}, (), ALL_CPU, ("The whole machine (cpu) runs",)),
}
# A tenth to two fifths of the runs of a kernel at a second level, alike in all
# repetitions: no noise, and nothing that more measures mend.
for share in (0.1, 0.4):
    for model, has in ((1, "the usual one"), (3.5, "the other one")):
        WRONG[f"two levels, {share:.0%} of the runs, a model of {has}"] = (
            {"noise": 0.003, "model": {"gemm": model}, "end": 1.2,
             "second": {"gemm": {"level": 3.5, "share": share}}}, (),
            BOTH_GEMM, ("TWO LEVELS: gemm on cpu0", "footprint",
                        f"in {100 * share:.0f} % of its runs"))
RIGHT = {
    "quiet": ({"noise": 0.003}, ()),
    "shared": ({}, ()),
    "shared, another seed": ({"seed": 11}, ()),
    "shared, 20 repetitions": ({"seed": 12}, ("-n", "20")),
    "shared, one repetition": ({"seed": 13}, ("-n", "1")),
    "with a GPU": ({"seed": 14, "gpu": True}, ()),
    "slower by 3 %": ({"seed": 15, "machine": 0.03, "noise": 0.01}, ()),
    "faster by 3 %": ({"seed": 16, "machine": -0.03, "noise": 0.01}, ()),
    "a kernel slower by 2 %": ({"seed": 17, "slow": {"gemm": 1.02}}, ()),
    "one kernel alone": ({"seed": 18, "kernels": ["gemm"], "noise": 0.01}, ()),
    "two kernels": ({"seed": 19, "kernels": ["gemm", "syrk"]}, ()),
    "models with samples": (
        {"seed": 20, "levels": {name: 1 for name in KERNELS}}, ()),
    "4 % from end to end that the simulation does not know": (
        {"seed": 21, "end": 1 / 1.01}, ("-n", "7")),
}

# Machines so noisy that a limit would let a factor of 1.5 pass: what must not be
# said to fit, of the kernels and of the whole.
NOISY = {
    "from end to end, right": ({"seed": 22, "wild": 0.7}, set(), True),
    "from end to end, 40 % off": ({"seed": 23, "wild": 0.7, "end": 1.4}, set(),
                                  True),
    "one kernel": ({"seed": 24, "own": {"gemm": 0.6}}, BOTH_GEMM, False),
    "two repetitions": ({"seed": 26, "wild": 0.7, "reps": 2}, set(), True),
}
# Of these the sentence is read, too.
IN_WORDS = {"from end to end, right", "one kernel"}


def write_models(folder, levels):
    """Model and side files of the kernels in `levels`: 40 samples, of which
    those that make the mean that many times the level of the others are at a
    second level."""
    made = {}
    for name, mean in levels.items():
        rows = []
        for size in (1, 2):
            us = KERNELS[name] * size
            # A third of the samples makes up for the rest.
            upper = us * (1 + 3 * (mean - 1))
            samples = [(upper if i % 3 == 2 else us) * (1 + 0.002 * (i % 5 - 2))
                       for i in range(42)]
            rows.append(MODELS.row_of(samples, int(FOOTPRINT[size], 16),
                                      1000 * size, 0.0))
        made[name] = [{"devices": [(*DEVICES["cpu0"][:2], 1)],
                       "impls": [{"fit": MODELS.NO_FIT, "rows": rows}]}]
    sampling = os.path.join(folder, "models")
    MODELS.write(sampling, made, "pretended")
    MODELS.write_sides(sampling, made, "pretended")
    # The estimate counts both levels, as perfmodel/window.c has it.
    for name, combs in made.items():
        path = os.path.join(sampling, "codelets", "45.orrery",
                            f"{name}.pretended")
        with open(path, encoding="ascii") as file:
            lines = file.read().replace("!", "").split("\n")
        for at, line in enumerate(lines):
            words = line.split(" ")
            if words[0] == "entry":
                row = combs[0]["impls"][0]["rows"]
                words[6] = "%.9g" % next(
                    r["mean"] for r in row if "%08x" % r["hash"] == words[3])
                words[8] = "0"
                lines[at] = " ".join(words)
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(lines))


def validate(scene, options, *more):
    folder = tempfile.mkdtemp(dir=TOP.name)
    scenario = os.path.join(folder, "scenario")
    with open(scenario, "w", encoding="utf-8") as file:
        json.dump({"play": "validate", **scene}, file)
    if scene.get("levels"):
        write_models(folder, scene["levels"])
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("ORRERY_", "STARPU_"))}
    env.update(FAKE_SCENARIO=scenario, STARPU_HOME=folder,
               STARPU_PERF_MODEL_DIR=os.path.join(folder, "models"),
               STARPU_HOSTNAME="pretended")
    done = subprocess.run(
        [ORRERY, "validate", *options, *more, "--", sys.executable, "-S", "-E",
         PRETENDER], env=env, stdin=subprocess.DEVNULL, timeout=100,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, done.stdout


def check_honest(said):
    """Nothing is said to fit whose error is outside of the interval beside it.
    """
    for item in said["kernels"]:
        if item["verdict"] == "fits":
            assert item["alarm_from"] <= 0.5, item
            assert abs(math.log1p(item["error"])) <= \
                math.log1p(item["alarm_from"]) + 1e-9, item
    for end in said["ends"]:
        if end["verdict"] == "fits":
            assert end["alarm_from"] <= 0.5, end
            assert abs(math.log1p(end["error"])) <= math.log1p(
                end["alarm_from"]) + 1e-9, end


def names_of(said, word):
    number = {FOOTPRINT[size]: size for size in FOOTPRINT}
    return {(item["name"], item["arch"], number[item["footprint"]])
            for item in said["kernels"] if item["verdict"] == word}


def said_before(name):
    """Whether a scene before this one has its sentences: of whichever kernel."""
    def sentences(of):
        first, *others = WRONG[of][3]
        return first.partition(":")[0], others

    earlier = list(WRONG)[:list(WRONG).index(name)]
    return sentences(name) in map(sentences, earlier)


def check_words(name):
    """What is said, which takes a run more."""
    scene, options, _, words = WRONG[name]
    status, out = validate(scene, options)
    assert status == 3, f"{name}: {status}\n{out}"
    for word in words:
        assert word in out, f"{name}: no {word} in\n{out}"


def judge_wrong(name):
    scene, options, wrong, words = WRONG[name]
    kind, _, kernel = words[0].partition(":")
    if not said_before(name):
        check_words(name)
    status, out = validate(scene, options, "--json")
    said = json.loads(out)
    if kernel:
        assert any(f" {item['name']} on {item['arch']}" == kernel and
                   item["verdict"] == kind.lower() for item in said["kernels"]), out
    assert status == 3, f"{name}: {status} as JSON"
    assert said["verdict"] in ("drift", "off", "two levels"), said["verdict"]
    check_honest(said)
    assert not names_of(said, "fits") & wrong, f"{name}: {out}"
    everything = {(item["name"], item["arch"]) for item in said["kernels"]}
    drifted = names_of(said, "drift")
    assert drifted <= wrong, f"{name}: false alarms {drifted - wrong}"
    assert len(everything) >= 4


def judge_right(name):
    scene, options = RIGHT[name]
    status, out = validate(scene, options, "--json")
    said = json.loads(out)
    assert status == 0, f"{name}: {out}"
    assert said["verdict"] in ("fits", "shifted", "not checked"), said
    check_honest(said)


def judge_noisy(name):
    scene, unclear, ends = NOISY[name]
    options = ("-n", str(scene.get("reps", 5)))
    if name in IN_WORDS:
        status, out = validate(scene, options)
        assert status == 4, f"{name}: {status}\n{out}"
        assert "CANNOT TELL" in out and ("No drift" in out) == ends, out
    status, out = validate(scene, options, "--json")
    said = json.loads(out)
    assert status == 4 and said["verdict"] == "cannot tell", out
    check_honest(said)
    assert names_of(said, "cannot tell") == unclear, out
    assert (said["ends"][0]["verdict"] == "cannot tell") == ends, out


@test
def outliers_that_differ_between_repetitions_are_no_level():
    second = {"level": 3.5, "share": 0.2, "differs": True}
    for seed in (1, 2, 3):
        _, out = validate({"seed": seed, "noise": 0.003,
                           "second": {"gemm": second}}, (), "--json")
        said = json.loads(out)
        assert not names_of(said, "two levels"), out
        assert all(item["levels"] is None for item in said["kernels"]), out


@test
def outliers_of_any_length_are_no_level_but_may_be_steady():
    second = {name: {"level": 3.5, "share": 0.3, "near": 0.5}
              for name in KERNELS}
    status, out = validate({"noise": 0.003, "second": second}, ())
    assert status == 4 and "TWO LEVELS" not in out, out
    assert "in every repetition" in out, out
    assert "repetitions differ" not in out and "something else" not in out, out


@test
def no_remedy_is_named_that_does_not_help():
    for scene in ({"end": 1.6}, {"noise": 0.003, "end": 1.2, "second": {
            "gemm": {"level": 3.5, "share": 0.2}}}):
        status, out = validate(scene, ())
        assert status == 3 and "--restart" not in out, out
    status, out = validate({"model": {"gemm": 3}}, ())
    assert status == 3 and "--restart" in out, out


@test
def what_is_right_is_not_told_loudly():
    status, out = validate(RIGHT["shared"][0], ())
    assert status == 0 and "DRIFT" not in out and "OFF" not in out, out


@test
def one_repetition_is_singular():
    _, out = validate({}, ("-n", "1"))
    assert ", 1 repetition\n" in out, out


def claim(prefix, name, judge):
    def function():
        judge(name)

    function.__name__ = prefix + name
    test(function)


for wrong_one in WRONG:
    claim("named: ", wrong_one, judge_wrong)
for right_one in RIGHT:
    claim("no alarm: ", right_one, judge_right)
for noisy_one in NOISY:
    claim("cannot tell: ", noisy_one, judge_noisy)


@test
def an_error_from_end_to_end_that_noise_does_not_hide_fails():
    scene = {"seed": 25, "wild": 0.3, "end": 5.37}
    status, out = validate(scene, ())
    assert status == 3 and "OFF" in out, out


@test
def a_busy_machine_is_no_drift_and_no_fit():
    scene = {"busy": 0.2, "seed": 3, "noise": 0.005,
             "levels": {name: 1 for name in KERNELS}}
    _, out = validate(scene, (), "--json")
    said = json.loads(out)
    assert not names_of(said, "drift"), out
    assert not names_of(said, "fits"), out
    check_honest(said)


# Most of their time goes into starting programs.
sys.exit(run_all(at_once=3))

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery validate` and `orrery calibrate kernels` with pretender.py, a program
that only pretends. TAP.

usage: test-experiments.py ORRERY
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from pretender import DEVICES, KERNELS

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import run_all, test  # noqa: E402

if len(sys.argv) != 2:
    sys.exit(__doc__.strip())
ORRERY = sys.argv[1]
PRETENDER = os.path.join(HERE, "pretender.py")
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")


class Pretended:
    """The command with the pretending program, in a folder of its own."""

    def __init__(self, **scene):
        self.folder = tempfile.mkdtemp(dir=TOP.name)
        self.models = os.path.join(self.folder, "models")
        self.scenario = os.path.join(self.folder, "scenario")
        with open(self.scenario, "w", encoding="utf-8") as file:
            json.dump(scene, file)

    def start(self, *words):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("ORRERY_", "STARPU_"))}
        env.update(FAKE_SCENARIO=self.scenario,
                   STARPU_PERF_MODEL_DIR=self.models,
                   STARPU_HOME=self.folder, STARPU_HOSTNAME="pretended")
        return subprocess.Popen(
            [ORRERY, *words, "--", sys.executable, "-S", "-E", PRETENDER], env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def run(self, *words):
        """Exit status, output, errors."""
        process = self.start(*words)
        out, err = process.communicate(timeout=100)
        return process.returncode, out, err

    def json(self, *words):
        status, out, err = self.run(*words, "--json")
        assert out, err
        return status, json.loads(out)

    def runs(self):
        """The settings that each run of the program had."""
        with open(self.scenario + ".runs", encoding="utf-8") as file:
            return [json.loads(line) for line in file]


@test
def twenty_unchanged_repetitions_raise_no_alarm():
    status, said = Pretended(play="validate").json("validate", "-n", "20")
    assert status == 0 and not said["drift"], said
    assert len(said["kernels"]) == 8
    for item in said["kernels"]:
        assert len(item["repetitions_us"]) == 20 and not item["drifted"]


@test
def repeated_validations_raise_no_alarm():
    for seed in range(1, 5):
        status, _ = Pretended(play="validate", seed=seed).json("validate")
        assert status == 0, f"seed {seed}"


@test
def a_kernel_slower_by_10_percent_raises_the_alarm_for_it_alone():
    for name in KERNELS:
        status, said = Pretended(play="validate", slow={name: 1.1}).json(
            "validate")
        assert status == 3 and said["drift"], said
        drifted = {item["name"] for item in said["kernels"] if item["drifted"]}
        assert drifted == {name}, f"{name}: {drifted}"


@test
def the_alarm_is_told_in_words_with_a_remedy():
    status, out, _ = Pretended(play="validate", slow={"syrk": 1.1}).run(
        "validate")
    assert status == 3
    assert "DRIFT: syrk on cpu0" in out and "slower than its model" in out, out
    assert "orrery calibrate kernels --restart" in out, out


@test
def a_remedy_can_be_pasted_into_a_shell():
    _, out, _ = Pretended(play="validate", slow={"syrk": 1.5}).run("validate")
    remedy = next(line for line in out.splitlines() if line.startswith("remedy"))
    assert remedy.endswith("-- %s -S -E %s" % (sys.executable, PRETENDER)), remedy
    done = subprocess.run([ORRERY, "calibrate", "kernels", "--dry-run", "--",
                           "./a b", "it's", "x;y", ""], text=True, check=False,
                          stdout=subprocess.PIPE)
    assert done.stdout.splitlines()[0] == \
        "STARPU_CALIBRATE=1 './a b' 'it'\\''s' 'x;y' ''", done.stdout


@test
def a_slower_machine_is_told_and_is_no_drift():
    status, out, _ = Pretended(play="validate", machine=0.3).run("validate")
    assert status == 3 and "DRIFT" not in out, out
    assert "OFF: predicted" in out, out
    assert "The whole machine (cpu) runs" in out and "slower" in out, out


@test
def too_few_repetitions_are_not_checked():
    status, out, _ = Pretended(play="validate", slow={"gemm": 1.05}).run(
        "validate", "-n", "3")
    assert status == 0 and "not checked" in out, out


@test
def copies_are_compared_per_link():
    _, said = Pretended(play="validate", links=True).json("validate")
    assert len(said["links"]) == 1
    link = said["links"][0]
    assert (link["from"], link["to"]) == ("NUMA 0", "CUDA 0")
    assert abs(link["error"] + 0.2) < 1e-9, link
    assert link["measured_us_per_mib"]["median"] == 125, link


@test
def ends_are_compared_by_the_median():
    _, said = Pretended(play="validate", seed=3).json("validate", "-n", "15")
    end = said["ends"][0]
    assert abs(end["error"] - (1 / 1.05 - 1)) < 1e-9, end
    assert end["compared"] == "makespan" and end["size"] is None
    assert end["measured_us"]["min"] < end["measured_us"]["max"]


@test
def tasks_that_ran_only_for_real_are_left_out_of_the_comparison():
    pretended = Pretended(play="validate", init=True)
    _, said = pretended.json("validate")
    assert said["ends"][0]["compared"] == "modelled tasks"
    assert "init" not in {item["name"] for item in said["kernels"]}


@test
def real_and_simulated_runs_are_interleaved_and_calibrate_nothing():
    pretended = Pretended(play="validate")
    pretended.run("validate", "-n", "6")
    runs = pretended.runs()
    assert len(runs) == 13
    assert {run["STARPU_CALIBRATE"] for run in runs} == {"0"}
    simulated = ["ORRERY_MACHINE" in run for run in runs]
    assert simulated[0], "whether it can be simulated is seen first"
    pairs = [tuple(simulated[k:k + 2]) for k in range(1, 13, 2)]
    assert set(pairs) == {(True, False), (False, True)}, pairs


@test
def the_order_repeats_with_its_seed():
    orders = []
    for seed in ("7", "7", "8"):
        pretended = Pretended(play="validate")
        pretended.run("validate", "-n", "5", "--seed", seed)
        orders.append(["ORRERY_MACHINE" in run for run in pretended.runs()])
    assert orders[0] == orders[1] != orders[2]


@test
def slow_devices_are_calibrated_as_well():
    pretended = Pretended(play="calibrate")
    status, said = pretended.json("calibrate", "kernels")
    assert status == 0 and said["reached"], said
    found = {(item["name"], item["arch"]) for item in said["kernels"]}
    assert found == {(name, arch) for name in KERNELS for arch in DEVICES}
    assert {run.get("STARPU_NCUDA") for run in pretended.runs()} == {None, "0"}
    for item in said["kernels"]:
        assert item["confidence"] <= 0.02 and item["independent"], item
        assert abs(item["estimate_us"] - KERNELS[item["name"]] *
                   DEVICES[item["arch"]][2]) < 1e-6, item


@test
def devices_that_a_program_cannot_do_with_alone_do_all_they_can():
    pretended = Pretended(play="calibrate", needs_cpu=True)
    status, out, err = pretended.run("calibrate", "kernels")
    assert status == 0, err
    assert "8 of 8 kernels" in out and "left out" not in err, (out, err)
    assert [run.get("STARPU_NCPU") for run in pretended.runs()
            if run.get("ORRERY_CALIBRATE_ON") == "CUDA"][:1] == [None]


@test
def devices_that_cannot_be_given_all_they_can_do_are_left_out():
    pretended = Pretended(play="calibrate", needs_cpu=True, never_on="CUDA")
    status, out, err = pretended.run("calibrate", "kernels")
    assert status == 0, err
    assert "fails where CUDA executes all that it can, which is left out" in err, err
    assert "8 of 8 kernels" in out, out


@test
def only_what_is_not_known_yet_is_run_again():
    pretended = Pretended(play="calibrate", samples=200)
    status, said = pretended.json("calibrate", "kernels")
    # 10 % deviation, 2 %: 97 samples. All, CPU alone, CUDA alone: one each.
    assert status == 0 and said["runs"] == 3, said


@test
def what_was_set_aside_is_said_beside_the_precision():
    pretended = Pretended(play="calibrate", samples=200, aside=0.22)
    status, out, _ = pretended.run("calibrate", "kernels")
    assert status == 1 and "22 %" in out, out
    assert "set aside" in out and "warning:" in out, out
    # Both figures: the mean that StarPU takes, and the estimate.
    assert "2000" in out and "400" in out, out
    _, said = pretended.json("calibrate", "kernels")
    for item in said["kernels"]:
        assert abs(item["set_aside"] / item["measured"] - 0.22) < 1e-3, item
        assert abs(item["mean_us"] / item["estimate_us"] - 5) < 1e-6, item


def check(pretended, *words):
    """`orrery perfmodel check` of what was calibrated, as JSON."""
    env = dict(os.environ, STARPU_HOME=pretended.folder,
               STARPU_PERF_MODEL_DIR=os.path.join(pretended.folder, "models"),
               STARPU_HOSTNAME="pretended")
    done = subprocess.run([ORRERY, "perfmodel", "check", "--json", *words], env=env,
                          stdout=subprocess.PIPE, check=False, timeout=100)
    return json.loads(done.stdout)


@test
def what_the_check_of_models_does_not_trust_is_not_reached():
    pretended = Pretended(play="calibrate", samples=200, aside=0.22)
    status, said = pretended.json("calibrate", "kernels")
    assert status == 1 and not said["reached"], said
    # More measures may help, but not for ever.
    assert not said["time_limit"] and 3 < said["runs"] < 15, said["runs"]
    assert not check(pretended)["trusted"]
    for item in said["kernels"]:
        assert not item["reached"], item
        assert item["problem"].startswith("not to be trusted: "), item
        assert "set aside" in item["problem"], item
    trusted = Pretended(play="calibrate", samples=200, aside=0.15)
    _, said = trusted.json("calibrate", "kernels")
    assert said["reached"] and check(trusted)["trusted"], said


@test
def a_precision_that_the_check_finds_too_low_is_said_to_be():
    pretended = Pretended(play="calibrate", samples=20, deviation=0.3)
    status, out, _ = pretended.run("calibrate", "kernels", "--confidence", "15%")
    assert status == 0, out
    assert "reached; orrery perfmodel check says so with --confidence 15%" in out
    assert not check(pretended)["trusted"]
    assert check(pretended, "--confidence", "15%")["trusted"]


@test
def assumed_kernels_need_no_samples_and_are_said_to_be_assumed():
    times = "kernel[gemm] = 3us; kernel[potrf] on cuda = cpu / 20; nosuch = 1us"
    pretended = Pretended(play="calibrate", samples=200)
    status, said = pretended.json("calibrate", "kernels", "--assume", times)
    assert status == 0 and said["reached"], said
    assumed = {(item["name"], item["arch"]): item["assumed"]
               for item in said["kernels"] if item["assumed"]}
    assert assumed == {("gemm", "cpu0"): "kernel[gemm] = 3us",
                       ("gemm", "cuda0"): "kernel[gemm] = 3us",
                       ("potrf", "cuda0"): "kernel[potrf] on cuda = cpu / 20"}
    assert [item["used"] for item in said["assumptions"]] == [True, True, False]
    status, out, _ = pretended.run("calibrate", "kernels", "--assume", times)
    assert status == 0 and "5 of 5 kernels" in out and "3 assumed" in out, out
    assert "assumed: kernel[gemm] = 3us" in out, out
    assert "nosuch = 1us  (no such kernel ran)" in out, out


@test
def runs_for_assumed_kernels_alone_are_left_out():
    pretended = Pretended(play="calibrate", samples=3)
    status, said = pretended.json("calibrate", "kernels", "--assume",
                                  "* on cuda = 3us", "--confidence", "50%")
    # All, CPU alone, CUDA alone; then CPU alone until there are ten samples.
    assert status == 0 and said["runs"] == 3 + 3, said
    # Their figures enter no model as measures: real runs are told nothing.
    assert not any("ORRERY_ASSUME" in run for run in pretended.runs())
    # What is assumed of everything leaves nothing to measure, and says so.
    status, out, _ = Pretended(play="calibrate").run(
        "calibrate", "kernels", "--assume", "* = 3us")
    assert status == 0 and "all kernels are assumed" in out, out
    # A text that cannot be read ends it before the first run.
    wrong = Pretended(play="calibrate")
    status, _, err = wrong.run("calibrate", "kernels", "--assume", "gemm = soon")
    assert status == 2 and "`gemm = soon'" in err, err
    assert not os.path.exists(wrong.scenario + ".runs")


@test
def a_kernel_that_is_given_up_has_the_reason_that_is_its_own():
    pretended = Pretended(play="rows", rows={
        # 45 times a process, alternately fast and slow: its measures are set aside.
        "alternating": {"seen": 45, "kept": 4},
        # Once, in the first process.
        "rare": {},
        # Twice: one of them counts.
        "twice": {"seen": 1, "row": 1},
        # So short that StarPU's rule empties its row, which the side file knows.
        "tiny": {"seen": 45, "aside": 20}})
    status, out, _ = pretended.run("calibrate", "kernels", "--time-limit", "60s")
    assert status != 0, out
    lines = {line.split()[0]: line for line in out.splitlines() if line.split()}
    assert "its times differ too much: " in lines["alternating"], out
    seen = int(re.search(r"of (\d+) measures were set aside",
                         lines["alternating"]).group(1))
    assert seen >= 45 * 3 and "%d of" % (seen - 4) in lines["alternating"], out
    assert "three runs more did not measure it" in lines["rare"], out
    for name in ("twice", "tiny"):
        assert lines[name].endswith("reached"), out
    assert "three runs" not in lines["alternating"] and "differ" not in lines["rare"], out


@test
def a_kernel_that_gets_no_samples_is_given_up():
    status, said = Pretended(play="calibrate", stuck=True).json(
        "calibrate", "kernels", "-t", "60s")
    assert status == 1 and not said["time_limit"], said
    for item in said["kernels"]:
        assert item["samples"] == 0 and "did not measure" in item["problem"], item


@test
def models_that_cannot_be_saved_are_noticed_before_the_first_run():
    pretended = Pretended(play="calibrate")
    pretended.models = "/dev/null/here"
    status, out, err = pretended.run("calibrate", "kernels")
    assert status == 1 and not out, out
    assert not os.path.exists(pretended.scenario + ".runs")
    assert "/dev/null/here/codelets/45" in err, err
    assert "STARPU_PERF_MODEL_DIR" in err, err


@test
def restarting_begins_with_2_and_goes_on_with_1():
    pretended = Pretended(play="calibrate")
    pretended.run("calibrate", "kernels", "--restart")
    levels = [run["STARPU_CALIBRATE"] for run in pretended.runs()]
    assert levels[0] == "2" and levels[-1] == "1", levels


def interrupt(pretended, *words):
    """Interrupts the command when the program hangs; its status and outputs."""
    process = pretended.start(*words)
    mark = pretended.scenario + ".hangs"
    os.mkfifo(mark)
    with open(mark, encoding="utf-8") as file:
        file.read()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@test
def an_interrupt_ends_it_with_what_was_saved():
    pretended = Pretended(play="calibrate", hang=2, samples=3)
    status, out, err = interrupt(pretended, "calibrate", "kernels")
    assert status == 130, err
    assert "interrupted" in out and "3 of 10 samples" in out, out
    assert "after 1 run, " in out and "samples of 1 whole run;" in err, (out, err)
    status, out, err = interrupt(Pretended(play="compare", hang=1), "run")
    assert status == 130 and "left no report" in err, err
    status, out, err = interrupt(Pretended(play="compare", hang=1), "trace", "-o",
                                 os.path.join(TOP.name, "t.paje"))
    assert status == 130 and "t.paje was not written" in err, err
    status, out, err = interrupt(Pretended(play="compare", hang=1), "bound")
    assert status == 130 and "no bound was computed" in err, err


@test
def commands_that_measure_themselves_say_what_an_interrupt_lost():
    folder = tempfile.mkdtemp(dir=TOP.name)
    env = dict(os.environ, STARPU_PERF_MODEL_DIR=folder, STARPU_HOME=folder)
    # Later and later, until it has begun to measure.
    for moment in range(200):
        with subprocess.Popen(
                [ORRERY, "calibrate", "bus"], env=env, stdin=subprocess.DEVNULL,
                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(moment * 0.005)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGINT, (process.returncode, err)
        assert not [name for _, _, names in os.walk(folder) for name in names
                    if "bandwidth" in name], out
        if err:
            break
    assert "interrupted: nothing was stored" in err, err


@test
def an_interrupted_comparison_shows_what_has_ended():
    words = ("compare", "-m", "moon,mars", "-s", "eager,lws", "-j", "1")
    status, out, err = interrupt(Pretended(play="compare", hang=3), *words)
    assert status == 130, err
    rows = [line.split() for line in out.splitlines()]
    assert rows[1][:3] == ["moon", "pretended", "1.000"] or \
        rows[1][2] == "1.000", out
    assert rows[2][2] == "2.000", out
    # What had not ended has no row, and it is said how to keep what has.
    assert "mars" not in out, out
    assert "interrupted: 2 of 4 have ended; with --runs FILE they are kept, and the same command " \
        "goes on from there" in out, out
    status, out, err = interrupt(Pretended(play="compare", hang=3), *words,
                                 "--json")
    said = json.loads(out)
    assert status == 130 and [row.get("error") for row in said] == [
        None, None, "interrupted", "interrupted"], out


@test
def an_interrupted_validation_compares_whole_repetitions():
    # One simulation to try, then pairs: the eighth run is of the fourth.
    pretended = Pretended(play="validate", hang=8)
    status, out, err = interrupt(pretended, "validate", "-n", "9")
    assert status == 130, err
    assert "3 repetitions" in out and "interrupted after 3 of 9" in out, out
    status, out, err = interrupt(Pretended(play="validate", hang=8), "validate",
                                 "-n", "9", "--json")
    said = json.loads(out)
    assert status == 130 and said["interrupted"], said
    assert said["repetitions"] == 3 and len(said["kernels"]) == 8, said
    for item in said["kernels"]:
        assert len(item["repetitions_us"]) == 3, item
    status, out, err = interrupt(Pretended(play="validate", hang=2), "validate")
    assert status == 130 and "before a repetition" in err, err
    # Nor is it silent while it sees whether there is something to compare.
    status, out, err = interrupt(Pretended(play="validate", hang=1), "validate")
    assert status == 130 and "interrupted while the first sim" in err, err


@test
def wrong_command_lines_end_with_2_and_a_remedy():
    for words in (("calibrate",), ("calibrate", "bus"),
                  ("calibrate", "kernels", "-t", "soon"),
                  ("calibrate", "kernels", "--confidence", "much"),
                  ("calibrate", "kernels", "--confidence", "2"),
                  ("calibrate", "kernels", "--sizes", "1,2"),
                  ("validate", "-n", "0"), ("validate", "--sizes", "1"),
                  ("validate", "--seed", "x")):
        status, out, err = Pretended(play="validate").run(*words)
        assert status == 2, f"{words}: {status} {out}{err}"
        assert "see orrery" in err or "{size}" in err, err


# A shell may have had us ignore interrupts; programs inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Most of their time goes into starting programs.
sys.exit(run_all(at_once=6))

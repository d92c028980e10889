#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery validate` and `orrery calibrate kernels` with a program that only
pretends: it writes the reports and model files that a library would, with noise
from a seeded generator, on a machine with GPUs. TAP.

usage: test-experiments.py ORRERY
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import traceback

KERNELS = {"potrf": 400.0, "trsm": 1000.0, "syrk": 1050.0, "gemm": 2000.0}
FOOTPRINT = {size: f"{0xabc0 + size:08x}" for size in range(10)}
DEVICES = {"cpu0": (0, 0, 1.0), "cuda0": (1, 0, 0.1)}


# --- the program -------------------------------------------------------------

def scenario():
    """What the test asked for, and which run of the program this is."""
    with open(os.environ["FAKE_SCENARIO"], encoding="utf-8") as file:
        wishes = json.load(file)
    path = os.environ["FAKE_SCENARIO"] + ".runs"
    with open(path, "a+", encoding="utf-8") as file:
        file.write(json.dumps({name: value for name, value in os.environ.items()
                               if name.startswith(("STARPU", "ORRERY"))}) + "\n")
        file.seek(0)
        return wishes, len(file.readlines())


def kernel(name, arch, size, us, count, **more):
    return {"name": name, "arch": arch, "implementation": 0,
            "footprint": FOOTPRINT[size], "size": 1000 * size, "model": True,
            "count": count, "mean_us": us, "typical_us": us, "p05_us": us,
            "p25_us": us, "median_us": us, "p75_us": us, "p95_us": us, **more}


def measured(wishes, noise, simulated):
    """The kernels of a run, with the noise of a shared machine."""
    machine = 0 if simulated else noise.gauss(wishes.get("machine", 0), 0.04)
    for name, us in KERNELS.items():
        for size in (1, 2):
            factor = wishes.get("slow", {}).get(name, 1)
            real = us * size * factor * 2.718281828 ** (
                machine + noise.gauss(0, 0.01))
            yield kernel(name, "cpu0", size, us * size if simulated else real,
                         50, predicted_us=us * size)


def write_report(wishes, kernels, simulated, makespan, kinds):
    report = {
        "version": "0", "simulated": simulated, "machine": "pretended",
        "host": "pretended", "provenance": None, "scheduler": "lws",
        "assumed": None, "makespan_us": makespan, "modelled_us": makespan / 2,
        "flops": 0, "tasks": 400, "transfers": 0, "transferred_bytes": 0,
        "evictions": 0, "wall_s": 0.1, "exit": "shutdown",
        "workers": [{"name": f"{kind} 0", "busy_us": 1, "tasks": 1}
                    for kind in kinds],
        "kernels": kernels,
        "links": [{"from": "NUMA 0", "to": "CUDA 0", "count": 10,
                   "bytes": 10 << 20, "predicted_us": None, "alone_us": 900,
                   "total_us": 1000 if simulated else 1250}]
        if wishes.get("links") else []}
    with open(os.environ["ORRERY_REPORT"], "w", encoding="utf-8") as file:
        json.dump(report, file)


def play_validate(wishes, number):
    noise = random.Random(wishes.get("seed", 0) * 1000 + number)
    simulated = "ORRERY_MACHINE" in os.environ
    kernels = list(measured(wishes, noise, simulated))
    if wishes.get("init") and not simulated:
        kernels.append(dict(kernel("init", "cpu0", 3, 10.0, 5, predicted_us=None),
                            model=False))
    makespan = 1e5 if simulated else 1e5 * noise.choice((1.04, 1.05, 1.06))
    write_report(wishes, kernels, simulated, makespan, ("CPU",))


def model_path(name):
    folder = os.path.join(os.environ["STARPU_PERF_MODEL_DIR"], "codelets/45")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name + ".pretended")


def write_model(name, rows):
    """Version 45: for each device one row, of n samples with 10 % deviation."""
    text = ["45", str(len(rows))]
    for arch, (n, us) in rows.items():
        device, devid, _ = DEVICES[arch]
        dev = us * 0.1
        text += ["1", str(device), str(devid), "1", "1", "1",
                 "0 0 0 0 nan nan 0 0 0", "nan nan nan", "0",
                 f"{FOOTPRINT[1]} 1000 0 {us} {dev} {n * us} "
                 f"{n * (us * us + dev * dev)} {n}"]
    with open(model_path(name), "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")


# The scheduler knows that GPUs are fast: it uses the CPU only when it must.
def play_calibrate(wishes, number):
    cuda = os.environ.get("STARPU_NCUDA") != "0"
    cpu = os.environ.get("STARPU_NCPU") != "0"
    state = os.environ["FAKE_SCENARIO"] + ".samples"
    if not cpu and wishes.get("needs_cpu"):
        sys.exit("pretender: init needs a CPU")
    samples = {}
    if os.path.exists(state) and os.environ["STARPU_CALIBRATE"] == "1":
        with open(state, encoding="utf-8") as file:
            samples = json.load(file)
    arch = "cuda0" if cuda else "cpu0"
    if not wishes.get("stuck"):
        samples[arch] = samples.get(arch, 0) + wishes.get("samples", 50)
    with open(state, "w", encoding="utf-8") as file:
        json.dump(samples, file)
    for name, us in KERNELS.items():
        write_model(name, {arch: (n, us * DEVICES[arch][2])
                           for arch, n in samples.items()})
    write_report(wishes, [kernel(name, arch, 1, us * DEVICES[arch][2], 50,
                                 predicted_us=None)
                          for name, us in KERNELS.items()],
                 False, 1e5, ("CPU", "CUDA") if cuda and cpu else
                 ("CUDA",) if cuda else ("CPU",))
    if number == wishes.get("hang"):
        with open(os.environ["FAKE_SCENARIO"] + ".hangs", "w",
                  encoding="utf-8") as file:
            file.write("x")
        signal.pause()


def play():
    wishes, number = scenario()
    if wishes["play"] == "validate":
        play_validate(wishes, number)
    elif "ORRERY_MACHINE" in os.environ:
        sys.exit("pretender: calibrating a simulation")
    else:
        play_calibrate(wishes, number)


if "FAKE_SCENARIO" in os.environ:
    play()
    sys.exit(0)


# --- the tests ---------------------------------------------------------------

if len(sys.argv) != 2:
    sys.exit(__doc__.strip())
ORRERY = sys.argv[1]
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
TESTS = []


def test(function):
    """Registers a test; its name, a claim, is what TAP shows."""
    TESTS.append(function)
    return function


class Pretended:
    """The command with the pretending program, in a folder of its own."""

    count = 0

    def __init__(self, **wishes):
        Pretended.count += 1
        self.folder = os.path.join(TOP.name, str(Pretended.count))
        os.mkdir(self.folder)
        self.scenario = os.path.join(self.folder, "scenario")
        with open(self.scenario, "w", encoding="utf-8") as file:
            json.dump(wishes, file)

    def start(self, *words):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("ORRERY_", "STARPU_"))}
        env.update(FAKE_SCENARIO=self.scenario,
                   STARPU_PERF_MODEL_DIR=os.path.join(self.folder, "models"),
                   STARPU_HOME=self.folder, STARPU_HOSTNAME="pretended")
        return subprocess.Popen(
            [ORRERY, *words, "--", sys.executable, __file__], env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

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
def a_slower_machine_is_told_and_raises_no_alarm():
    status, out, _ = Pretended(play="validate", machine=0.3).run("validate")
    assert status == 0, out
    assert "The whole machine (cpu) runs" in out and "slower" in out, out


@test
def too_few_repetitions_are_not_judged():
    status, out, _ = Pretended(play="validate", slow={"gemm": 3}).run(
        "validate", "-n", "3")
    assert status == 0 and "not judged" in out, out


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
def devices_that_a_program_cannot_do_with_alone_are_left_out():
    pretended = Pretended(play="calibrate", needs_cpu=True)
    status, out, err = pretended.run("calibrate", "kernels")
    assert status == 0, err
    assert "CUDA alone, which is left out" in err, err
    assert "8 of 8 kernels" in out, out


@test
def only_what_is_not_known_yet_is_run_again():
    pretended = Pretended(play="calibrate", samples=200)
    status, said = pretended.json("calibrate", "kernels")
    # 10 % deviation, 2 %: 97 samples. All, CPU alone, CUDA alone: one each.
    assert status == 0 and said["runs"] == 3, said


@test
def a_kernel_that_gets_no_samples_is_given_up():
    status, said = Pretended(play="calibrate", stuck=True).json(
        "calibrate", "kernels", "-t", "60s")
    assert status == 1 and not said["time_limit"], said
    for item in said["kernels"]:
        assert item["samples"] == 0 and "warm-up" in item["problem"], item


@test
def restarting_begins_with_2_and_goes_on_with_1():
    pretended = Pretended(play="calibrate")
    pretended.run("calibrate", "kernels", "--restart")
    levels = [run["STARPU_CALIBRATE"] for run in pretended.runs()]
    assert levels[0] == "2" and levels[-1] == "1", levels


@test
def an_interrupt_ends_it_with_what_was_saved():
    pretended = Pretended(play="calibrate", hang=2, samples=3)
    process = pretended.start("calibrate", "kernels")
    mark = pretended.scenario + ".hangs"
    os.mkfifo(mark)
    with open(mark, encoding="utf-8") as file:
        file.read()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted" in out and "3 of 10 samples" in out, out


@test
def wrong_command_lines_end_with_2_and_a_remedy():
    for words in (("calibrate",), ("calibrate", "bus"),
                  ("calibrate", "kernels", "-t", "soon"),
                  ("calibrate", "kernels", "--confidence", "much"),
                  ("calibrate", "kernels", "--sizes", "1,2"),
                  ("validate", "-n", "0"), ("validate", "--sizes", "1"),
                  ("validate", "--seed", "x")):
        status, out, err = Pretended(play="validate").run(*words)
        assert status == 2, f"{words}: {status} {out}{err}"
        assert "see orrery" in err or "{size}" in err, err


def main():
    failed = 0
    print(f"1..{len(TESTS)}", flush=True)
    for number, function in enumerate(TESTS, 1):
        try:
            function()
            print(f"ok {number} - {function.__name__}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {function.__name__}", flush=True)
            for line in traceback.format_exc().splitlines():
                print(f"# {line}", flush=True)
    return failed != 0


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery calibrate kernels` and `orrery validate` with a real program. Nothing
here depends on how long anything takes: only on what is said, saved and
returned. TAP.

usage: test-validate.py ORRERY BUSY TWO-TIMES NVML

BUSY is the program of busy.c, TWO-TIMES that of two-times.c, NVML
the library of ../unit/fake-nvml.c.
"""

import json
import os
import re
import sys

from programs import Programs, run_all, test

if len(sys.argv) != 5:
    sys.exit(__doc__.strip())
ORRERY, BUSY, TWO_TIMES, NVML = sys.argv[1:]
PROGRAMS = Programs(None)
PROGRAMS.limit_s = 120
KERNELS = ("busy_alpha", "busy_beta", "busy_delta", "busy_gamma")


def orrery(*words, folder=None, **more):
    """The command, on models of its own: those of `folder`."""
    return PROGRAMS.run([ORRERY, *words], folder, ORRERY_MACHINE=None,
                        ORRERY_ASSUME=None, ORRERY_REPORT=None,
                        ORRERY_TRACE=None, STARPU_NCPU="2", **more)


def was_reached(said):
    """Whether all was, but for what a busy machine has spoilt, or has had no time
    for: that is said."""
    wrong = [kernel["problem"] for kernel in said["kernels"]
             if not kernel["reached"]]
    assert said["reached"] == (not wrong), said
    assert all(re.match(r"not to be trusted: |\d+ of 10 samples$", text)
               for text in wrong), wrong
    return True


def calibrated(*words, sizes=("200",)):
    """A folder with models of BUSY, as good as half a second makes them."""
    folder = PROGRAMS.folder()
    for size in sizes:
        ended = orrery("calibrate", "kernels", "-t", "0.5", "--confidence",
                       "100%", "--json", "--", BUSY, "-size", size, *words,
                       folder=folder)
        said = json.loads(ended.out)
        assert was_reached(said)
        ended.has_status(0 if said["reached"] else 1)
    return folder


def model_files(folder):
    path = os.path.join(folder, "sampling", "codelets", "45")
    return sorted(name.split(".")[0] for name in os.listdir(path)
                  if not name.startswith("."))


@test
def calibrating_saves_a_model_for_each_kernel():
    folder = PROGRAMS.folder()
    ended = orrery("calibrate", "kernels", "-t", "30s", "--confidence", "100%",
                   "--json", "--", BUSY, "-size", "200", folder=folder)
    said = json.loads(ended.out)
    assert was_reached(said)
    ended.has_status(0 if said["reached"] else 1)
    assert said["runs"] >= 1 and not said["interrupted"]
    assert [kernel["name"] for kernel in said["kernels"]] == list(KERNELS)
    for kernel in said["kernels"]:
        assert kernel["arch"] == "cpu0" and len(kernel["footprint"]) == 8
        assert kernel["samples"] >= 10 and kernel["estimate_us"] > 0
        assert 0 < kernel["confidence"] <= 1, kernel
    assert model_files(folder) == list(KERNELS)


@test
def a_confidence_out_of_reach_ends_at_the_time_limit_with_1():
    ended = orrery("calibrate", "kernels", "-t", "0.2s", "--confidence",
                   "0.000001%", "--", BUSY, "-size", "200")
    ended.has_status(1)
    assert "time limit" in ended.out and "0 of 4 kernels" in ended.out


@test
def gpus_that_were_slowed_down_are_named():
    folder = PROGRAMS.folder()
    os.symlink(NVML, os.path.join(folder, "libnvidia-ml.so.1"))
    libraries = os.pathsep.join([folder, os.environ.get("LD_LIBRARY_PATH", "")])
    words = ("calibrate", "kernels", "-t", "0", "--", BUSY, "-size", "200")
    said = orrery(*words, LD_LIBRARY_PATH=libraries, FAKE_NVML_SLOW="100000").err
    assert "warning: GPU 0 (Fake GPU) has been slower than it can be for 100 % " \
        "of the runs' time" in said and "Old GPU" not in said, said
    said = orrery(*words, LD_LIBRARY_PATH=libraries, FAKE_NVML_SLOW="0").err
    assert "GPU 0" not in said, said


@test
def sizes_are_calibrated_in_one_go():
    ended = orrery("calibrate", "kernels", "-t", "60s", "--confidence", "100%",
                   "--sizes", "100,200,300", "--json", "--", BUSY, "-size",
                   "{size}")
    assert was_reached(json.loads(ended.out))
    sizes = {kernel["size"] for kernel in json.loads(ended.out)["kernels"]}
    assert sizes == {400, 800, 1200}, sizes


def contents(folder):
    """{path: text} of all files there."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                found[os.path.join(path, name)] = file.read()
    return found


@test
def validating_changes_no_model_and_measures_none():
    """Not even those of a kernel with fewer samples than a real run wants."""
    folder = calibrated("-tasks", "200")
    before = contents(os.path.join(folder, "sampling"))
    ended = orrery("validate", "-n", "1", "--json", "--", BUSY, "-size", "200",
                   folder=folder, STARPU_CALIBRATE_MINIMUM="100000")
    assert "measured during this run" not in ended.err, ended.err
    assert ended.status in (0, 3, 4), (ended.status, ended.err)
    assert contents(os.path.join(folder, "sampling")) == before


@test
def what_is_missing_is_told_without_files_that_are_gone():
    ended = orrery("validate", "-n", "1", "--", BUSY, "-size", "200")
    ended.has_status(1)
    ended.says("needs the time of kernel `busy_", "orrery calibrate kernels --")
    assert "here.xml" not in ended.err, ended.err
    # The simulator can be judged all the same.
    assert re.search(r"^the simulator +\d+\.\d %", ended.out, re.M), ended.out
    assert re.search(r"^the models +not known: ", ended.out, re.M), ended.out
    assert "nan" not in ended.out, ended.out
    ended = orrery("validate", "-n", "2", "--json", "--", BUSY, "-size", "200")
    ended.has_status(1)
    said = json.loads(ended.out)
    assert said["verdict"] == "not checked", said
    ended = orrery("validate", "-n", "1", "--plot", "none.svg", "--", BUSY, "-size", "200")
    ended.has_status(1)
    ended.says("--plot none.svg: no picture, since kernels have no times here")
    assert said["predictions"]["models"]["median"] is None, said
    assert said["predictions"]["simulator"]["median"] >= 0, said
    assert said["predictions"]["machine"]["median"] >= 0, said


@test
def each_run_is_simulated_from_its_own_times_and_from_those_of_another():
    folder = calibrated("-tasks", "200")
    words = ("validate", "-n", "2", "--", BUSY, "-size", "200")
    said = json.loads(orrery(*words[:3], "--json", *words[3:],
                             folder=folder).out)["predictions"]
    assert said["runs"] == 2, said
    for part in ("simulator", "models", "machine"):
        assert 0 <= said[part]["median"] <= said[part]["worst"], said
    text = orrery(*words, folder=folder).out
    assert re.match(r"this machine is (quiet|busy): ", text), text
    for part in ("the simulator", "the models", "the machine"):
        assert re.search(r"^%s +\d+\.\d %% \(at most" % part, text, re.M), text


@test
def a_run_of_one_worker_is_simulated_from_its_own_times():
    """How far off that is depends on what else the machine does."""
    folder = calibrated("-tasks", "50")
    ended = PROGRAMS.run([ORRERY, "validate", "-n", "1", "--json", "--", BUSY,
                          "-size", "200", "-tasks", "50"], folder,
                         ORRERY_MACHINE=None, ORRERY_ASSUME=None,
                         ORRERY_REPORT=None, ORRERY_TRACE=None, STARPU_NCPU="1")
    said = json.loads(ended.out)["predictions"]
    assert said["runs"] == 1, said
    assert 0 <= said["simulator"]["median"] == said["simulator"]["worst"], said


@test
def restarting_drops_what_was_known():
    folder = calibrated("-tasks", "200")
    words = ("calibrate", "kernels", "-t", "0", "--json", "--", BUSY, "-size",
             "200", "-tasks", "20")
    more = json.loads(orrery(*words, folder=folder).out)
    anew = json.loads(orrery(*words[:2], "--restart", *words[2:],
                             folder=folder).out)
    for before, after in zip(more["kernels"], anew["kernels"]):
        assert before["samples"] > 100, before
        assert after["samples"] < 30, after


@test
def a_dry_run_runs_nothing():
    folder = PROGRAMS.folder()
    ended = orrery("calibrate", "kernels", "--dry-run", "--sizes", "1,2",
                   "--", BUSY, "-size", "{size}", folder=folder)
    ended.has_status(0)
    assert "busy -size 1" in ended.out and "busy -size 2" in ended.out
    assert not os.path.exists(os.path.join(folder, "sampling"))


@test
def a_program_without_models_gets_those_of_its_kernels_names():
    folder = PROGRAMS.folder()
    ended = orrery("calibrate", "kernels", "--confidence", "90%", "--time-limit",
                   "20", "--", BUSY, "-no-models", folder=folder)
    assert ended.status in (0, 1), ended.err  # 1: too noisy to be as precise
    files = os.listdir(os.path.join(folder, "sampling/codelets/45"))
    assert any("~default." in name for name in files), files


@test
def a_program_that_fails_shows_what_it_said():
    ended = orrery("calibrate", "kernels", "--", BUSY, "-fail")
    ended.has_status(1)
    ended.says("failing as requested")


@test
def validating_without_models_says_how_to_get_them():
    folder = PROGRAMS.folder()
    ended = orrery("validate", "--", BUSY, "-size", "200", folder=folder)
    ended.has_status(1)
    ended.says("busy_alpha", "orrery calibrate kernels")
    assert not os.path.exists(os.path.join(folder, "sampling", "codelets"))


@test
def validating_compares_kernels_and_ends_without_changing_models():
    folder = calibrated(sizes=("100", "200"))
    model = os.path.join(folder, "sampling", "codelets", "45")
    before = {name: os.stat(os.path.join(model, name)).st_mtime_ns
              for name in os.listdir(model)}
    ended = orrery("validate", "-n", "4", "--sizes", "100,200", "--json", "--",
                   BUSY, "-size", "{size}", folder=folder)
    assert ended.status in (0, 3, 4), ended.err
    said = json.loads(ended.out)
    assert (said["verdict"] in ("drift", "two levels", "off")) == \
        (ended.status == 3), said
    assert (said["verdict"] == "cannot tell") == (ended.status == 4), said
    assert said["repetitions"] == 4 and said["links"] == []
    assert [end["size"] for end in said["ends"]] == ["100", "200"]
    for end in said["ends"]:
        assert end["compared"] == "makespan", end
        assert end["predicted_us"]["median"] > 0
        assert end["measured_us"]["median"] > 0
    assert len(said["kernels"]) == 2 * len(KERNELS)
    for kernel in said["kernels"]:
        assert kernel["name"] in KERNELS and len(kernel["repetitions_us"]) == 4
        assert kernel["predicted_us"] > 0 and kernel["alarm_from"] > 0.05
    assert said["machine_shift"][0]["kernels"] == len(KERNELS)
    assert before == {name: os.stat(os.path.join(model, name)).st_mtime_ns
                      for name in os.listdir(model)}


@test
def the_table_names_kernels_ends_and_findings():
    folder = calibrated()
    ended = orrery("validate", "-n", "2", "--", BUSY, "-size", "200",
                   folder=folder)
    assert ended.status in (0, 3, 4), ended.err
    for words in (*KERNELS, "no copies", "median error from end to end",
                  "Drift is checked from 4 repetitions on"):
        assert words in ended.out, ended.out


# Ten times slower than its model: no noise hides that, on any machine.
@test
def a_kernel_that_takes_ten_times_as_long_ends_with_3():
    folder = calibrated(sizes=("2000",))
    ended = orrery("validate", "--json", "--", BUSY, "-size", "2000", "-slow",
                   "beta", "900", folder=folder)
    ended.has_status(3)
    drifted = {kernel["name"] for kernel in json.loads(ended.out)["kernels"]
               if kernel["drifted"]}
    assert "busy_beta" in drifted, ended.out


# That series of one population are not taken for two is a matter of seeded series
# (test-perfmodel-mixture): what other programs do to real kernels may be a second one.
@test
def a_kernel_that_takes_two_times_has_their_mean():
    """In two of five of its runs it computes 3.5 times as long, by the time of its own
    thread: whatever else this machine does, half of them or more are right."""
    folder = PROGRAMS.folder()
    calibrated_as = json.loads(orrery("calibrate", "kernels", "-t", "2s", "--confidence",
                                      "20%", "--json", "--", TWO_TIMES, folder=folder).out)
    said = json.loads(orrery("validate", "--json", "--", TWO_TIMES, folder=folder).out)
    known, = calibrated_as["kernels"]
    fast, slow = known["populations_us"]
    assert 2 < slow / fast < 6, known
    assert 1.3 * fast < known["estimate_us"] < slow, known
    kernel, = said["kernels"]
    assert kernel["mixed"] and kernel["verdict"] != "two levels", said


sys.exit(run_all())

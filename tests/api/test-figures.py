#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where the times of simulated tasks come from, and what the commands say about
that: measured sizes, sizes between them, times that are assumed. Models are
written by hand, so that nothing depends on how long anything takes. TAP.

usage: test-figures.py ORRERY BUSY MACHINE

BUSY is the program of busy.c, MACHINE is gpus.xml: four cores, three devices.
"""

import json
import os
import re
import socket
import sys

from busy_models import CPU, CUDA, KERNELS, SIZES, Busy, linear
from programs import run_all, test

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
ORRERY, BUSY, MACHINE = sys.argv[1:]
BUSY_RUN = Busy(ORRERY, BUSY, MACHINE)
PROGRAMS = BUSY_RUN.programs
orrery, simulate, report = BUSY_RUN.orrery, BUSY_RUN.simulate, BUSY_RUN.report
footprint, models = BUSY_RUN.footprint, BUSY_RUN.models
model_text = BUSY_RUN.model_text
ALL = "; ".join("kernel[%s] = 50us" % name for name in KERNELS)


def shares(said):
    return {part["origin"]: part for part in said["figures"]}


# -- sizes between those that were measured ----------------------------------


@test
def measured_sizes_are_measured():
    folder = models({(CPU, 0): linear(*SIZES)})
    said = report(folder=folder, size=400)
    assert shares(said)["measured"]["share"] == 1, said["figures"]
    assert all(kernel["origin"] == "measured" for kernel in said["kernels"])
    ended = simulate(folder=folder, size=400)
    assert "interpolated" not in ended.out + ended.err, ended.out


@test
def models_of_another_host_are_said_to_be_of_that_host():
    folder = models({(CPU, 0): linear(*SIZES)}, host="moon")
    ended = simulate(folder=folder, size=400, STARPU_HOSTNAME="moon")
    ended.has_status(0)
    assert "models      of moon, whatever the machine" in ended.out, ended.out
    ended = simulate(folder=models({(CPU, 0): linear(*SIZES)}), size=400)
    assert "models      of" not in ended.out, ended.out


@test
def a_size_between_is_simulated_and_said_to_be_interpolated():
    folder = models({(CPU, 0): linear(*SIZES)})
    said = report(folder=folder, size=800)
    part = shares(said)["interpolated"]
    assert part["share"] == 1 and 0 < part["off_by"] < 0.5, said["figures"]
    for kernel in said["kernels"]:
        assert kernel["origin"] == "interpolated", kernel
        assert abs(kernel["mean_us"] / 85 - 1) < kernel["off_by"], kernel
    ended = simulate(folder=folder, size=800)
    ended.has_status(0)
    assert "100.0 % interpolated (off by up to" in ended.out, ended.out


@test
def on_which_side_of_a_step_a_size_lies_is_not_claimed_to_be_known():
    """Nor of one below a factor of three: 800 elements may be before it or behind."""
    for factor in (1.4, 2, 2.8, 6):
        times = {size: us * (factor if size > 800 else 1)
                 for size, us in linear(*SIZES).items()}
        said = report(folder=models({(CPU, 0): times}), size=800)
        for kernel in said["kernels"]:
            for truth in (85, 85 * factor):
                assert abs(truth / kernel["mean_us"] - 1) <= kernel["off_by"], (
                    factor, kernel)
    # Without a step nothing is wider than before.
    said = report(folder=models({(CPU, 0): linear(*SIZES)}), size=800)
    assert all(kernel["off_by"] < 0.1 for kernel in said["kernels"]), said


@test
def a_device_whose_model_has_other_sizes_is_not_left_out():
    """Its program has no function for it: that there is a kernel says the model."""
    folder = models({(CPU, 0): linear(*SIZES), (CUDA, 0): {400: 5}})
    ended = simulate(folder=folder, size=800)
    ended.has_status(1)
    ended.says("needs the time of kernel `busy_", "on cuda0",
               "knows tasks with 1600 bytes of data there")
    assert "on cpu" not in ended.err, ended.err
    simulate(folder=folder, size=400).has_status(0)


@test
def the_share_is_that_of_the_time_of_tasks():
    folder = models({(CPU, 0): linear(*SIZES)})
    models({(CPU, 0): linear(800, *SIZES)}, folder, KERNELS[:1])
    said = report(folder=folder, size=800)
    busy = {kernel["name"]: kernel["count"] * kernel["mean_us"]
            for kernel in said["kernels"]}
    share = busy["busy_alpha"] / sum(busy.values())
    assert abs(shares(said)["measured"]["share"] - share) < 1e-5, said


@test
def a_program_without_the_command_says_it_as_well():
    folder = models({(CPU, 0): linear(*SIZES)})
    ended = PROGRAMS.run([BUSY, "-size", "800"], folder, ORRERY_MACHINE=MACHINE,
                         ORRERY_ASSUME=None, ORRERY_REPORT=None)
    ended.has_status(0)
    ended.says("100.0 % of the time of tasks", "interpolated")


@test
def compare_says_it_for_each_run():
    folder = models({(CPU, 0): linear(*SIZES)})
    ended = orrery("compare", "-m", MACHINE, "-s", "eager,dmda", "--", BUSY,
                   "-size", "800", folder=folder)
    ended.has_status(0)
    assert ended.out.count("100.0 % interpolated") == 2, ended.out


@test
def what_cannot_be_answered_is_refused_and_three_ways_are_shown():
    folder = models({(CPU, 0): linear(*SIZES)})
    ended = simulate(folder=folder, size=20000)
    ended.has_status(1)
    ended.says("STARPU_CALIBRATE=1", "--assume")
    # The machine has a model: only its other sizes are left to project from.
    advice = re.search(r"orrery (perfmodel project --size 80000 -m \S+ busy_\w+)",
                       ended.err)
    assert advice, ended.err
    shown = orrery(*advice.group(1).split(), folder=folder)
    shown.has_status(0)
    assert "--assume 'kernel[busy_" in shown.out, shown.out
    ended = simulate(size=20000)
    ended.says("orrery perfmodel project -m %s." % MACHINE)


@test
def a_row_without_a_sample_that_counts_is_not_known_and_each_command_says_why():
    """As StarPU leaves it that had as many outliers as samples."""
    folder = models({(CPU, 0): {400: 45}})
    for name in KERNELS:
        path = os.path.join(folder, "sampling", "codelets", "45", name + ".gpus")
        with open(path, encoding="ascii") as file:
            text = file.read()
        with open(path, "w", encoding="ascii") as file:
            file.write(re.sub(r"(?m)^(\w{8} \d+ 0) \S+ \S+ \S+ \S+ 10$",
                              r"\1 0 0 0 0 0", text))
    why = "not known: no sample of it counts: there are first runs, or outliers, alone"
    ended = simulate(folder=folder, size=400)
    ended.has_status(1)
    ended.says("on cpu0  (%s)" % why)
    for words in (("show", "busy_alpha"), ("check",)):
        ended = orrery("perfmodel", words[0], "-m", MACHINE, *words[1:], folder=folder)
        assert why in ended.out, (words, ended.out, ended.err)
    ended = orrery("perfmodel", "show", "--json", "-m", MACHINE, "busy_alpha",
                   folder=folder)
    assert '"unknown": "%s"' % why.split(": ", 1)[1] in ended.out, ended.out
    ended = orrery("perfmodel", "project", "-m", "a100-pcie-1", "--from", MACHINE,
                   "--from-peak", "cpu=50 GFlop/s", "--from-bandwidth", "cpu=10 GB/s",
                   "busy_alpha", folder=folder)
    assert why in ended.out + ended.err, (ended.out, ended.err)


# -- assumed times -----------------------------------------------------------


def cpu_models():
    return models({(CPU, 0): linear(*SIZES)})


@test
def an_assumed_device_runs_kernels_that_the_program_has_for_processors_only():
    """The program is built without a GPU; on one it would take 5 us."""
    folder = cpu_models()
    said = report("-s", "dmda", "--assume",
                  "; ".join("kernel[%s] on cuda = 5us" % name
                            for name in KERNELS), folder=folder, size=6400)
    on_cuda = [kernel for kernel in said["kernels"]
               if kernel["arch"].startswith("cuda")]
    assert on_cuda and all(kernel["mean_us"] == 5 and
                           kernel["origin"] == "assumed"
                           for kernel in on_cuda), said["kernels"]
    assert shares(said)["assumed"]["share"] > 0
    assert all(one["used"] for one in said["assumptions"])


@test
def a_law_goes_by_the_bytes_of_the_task():
    said = report("--assume", "kernel[busy_alpha] = 20us + 2ns * n; " +
                  ALL.split("; ", 1)[1], size=1000)
    means = {kernel["name"]: kernel["mean_us"] for kernel in said["kernels"]}
    assert means["busy_alpha"] == 28 and means["busy_beta"] == 50, means


@test
def a_ratio_is_of_what_was_measured_on_this_host():
    """The machine has no figures of its own; this host has them."""
    folder = models({(CPU, 0): linear(*SIZES)},
                    host=socket.gethostname().split(".")[0])
    every = "; ".join("%s = cpu / 20" % name for name in KERNELS)
    said = report("--assume", every, folder=folder, size=400)
    for kernel in said["kernels"]:
        assert abs(kernel["mean_us"] - 45 / 20) < 1e-3, kernel
        assert kernel["origin"] == "assumed", kernel


@test
def a_file_of_assumptions_works_in_each_command():
    folder = PROGRAMS.folder()
    path = os.path.join(folder, "assumed")
    with open(path, "w", encoding="ascii") as file:
        file.write("# as the vendor says\n" + ALL.replace("; ", "\n") + "\n")
    for words in (("run",), ("compare", "-s", "eager"), ("bound",),
                  ("trace", "-o", os.path.join(folder, "t.paje"))):
        ended = orrery(*words, "-m", MACHINE, "--assume", "@" + path, "--",
                       BUSY, folder=folder)
        ended.has_status(0)
        assert "kernel[busy_alpha] = 50us" in ended.out, (words, ended.out)


@test
def several_options_join_and_what_is_not_used_is_said():
    ended = simulate("--assume", ALL, "--assume", "nosuch on cuda = 3us")
    ended.has_status(0)
    assert "nosuch on cuda = 3us  (not used: no task had such a kernel" in \
        ended.out, ended.out
    assert ended.out.count("(not used") == 1, ended.out
    ended = simulate("--assume", "busy_alpha on cpu = 3us",
                     folder=models({(CPU, 0): linear(*SIZES)}), size=400)
    ended.has_status(0)
    assert "(not used: the kernel has a time of its own there" in ended.out, \
        ended.out


def derived(folder, names=KERNELS):
    """The rows that were written, as if computed from other figures."""
    for name in names:
        path = os.path.join(folder, "sampling", "codelets", "45", name + ".gpus")
        with open(path, encoding="ascii") as file:
            text = file.read()
        with open(path, "w", encoding="ascii") as file:
            file.write("# origin: derived\n" + text)
    return folder


def alpha(said):
    return next(one for one in said["assumptions"] if "alpha" in one["text"])


@test
def what_is_said_counts_before_what_is_not_measured_and_tells_what_it_replaced():
    """Between sizes, of a derived row, of derived rows of other sizes; not a measure."""
    measured = cpu_models()
    cases = {"interpolated": (measured, 800), "measured": (measured, 400),
             "derived": (derived(cpu_models()), 400),
             "derived between": (derived(cpu_models()), 800)}
    for name, (folder, size) in cases.items():
        said = report("--assume", "busy_alpha = 7us", folder=folder, size=size)
        mean = {kernel["name"]: kernel["mean_us"] for kernel in said["kernels"]}
        one, model = alpha(said), 5 + 0.1 * size
        if name == "measured":
            assert not one["used"] and abs(mean["busy_alpha"] / model - 1) < 1e-3
            assert one["behind"]["origin"] == "measured", one
            continue
        assert mean["busy_alpha"] == 7 and one["used"], (name, one)
        assert one["replaced"]["origin"] == name.split()[0], (name, one)
        assert abs(one["replaced"]["us"] / model - 1) < 0.1, (name, one)
        assert one["replaced"]["by_us"] == 7 and "behind" not in one, (name, one)
        ended = simulate("--assume", "busy_alpha = 7us", folder=folder, size=size)
        assert re.search(r"busy_alpha = 7us  \(7 us instead of [0-9.]+ us, %s\)" %
                         name.split()[0], ended.out), (name, ended.out)


@test
def one_pattern_for_several_kernels_tells_how_many_figures_it_replaced():
    folder = derived(models({(CPU, 0): linear(*SIZES)}, names=KERNELS[:2]),
                     KERNELS[:2])
    models({(CPU, 0): linear(*SIZES, scale=3.0)}, folder, KERNELS[2:3])
    derived(folder, KERNELS[2:3])
    models({(CPU, 0): linear(*SIZES)}, folder, KERNELS[3:])
    ended = simulate("--assume", "busy_* = 7us", folder=folder, size=400)
    ended.has_status(0)
    assert ("busy_* = 7us  (7 us instead of 3 figures of 45 to 135 us, derived)  "
            "(but not where there is a time: 45 us, measured)") in ended.out, ended.out


@test
def what_is_assumed_for_another_machine_is_said_to_be_unused_there():
    folder = derived(cpu_models())
    elsewhere = "moon:kernel[busy_alpha] = 7us"
    for words in (("run",), ("bound",), ("explain",)):
        ended = orrery(*words, "-m", MACHINE, "--assume", elsewhere, "--", BUSY,
                       "-size", "400", folder=folder)
        ended.has_status(0)
        assert elsewhere + "  (not used: it is for moon, and this is gpus)" in \
            ended.out, (words, ended.out)
    said = report("--assume", elsewhere, folder=folder, size=400)
    assert said["assumed"] is None and alpha(said)["elsewhere"] == "moon", said
    # For this one it counts; and where the simulation has to end it is said as well.
    said = report("--assume", "gpus:kernel[busy_alpha] = 7us", folder=folder, size=400)
    assert alpha(said)["used"] and "elsewhere" not in alpha(said), said
    ended = simulate("--assume", "moon:kernel[busy_*] = 7us", size=400)
    ended.has_status(1)
    ended.says("`moon:kernel[busy_*] = 7us' is for the machine `moon', and this is "
               "`gpus'")


@test
def each_command_says_what_the_assumption_replaced():
    folder = derived(cpu_models())
    words = ("--assume", "busy_alpha = 7us")
    said = "7 us instead of 45 us, derived"
    program = (BUSY, "-size", "400")
    record = os.path.join(folder, "busy.rec")
    orrery("record", "-o", record, "-m", MACHINE, *words, "--", *program,
           folder=folder).has_status(0)
    for command in (("run",), ("bound",), ("explain",), ("compare", "-s", "eager"),
                    ("explain", "-s", "eager"),
                    ("optimise", "--runs", "45", "-o", os.path.join(folder, "s"))):
        ended = orrery(*command, "-m", MACHINE, *words, "--", *program, folder=folder)
        ended.has_status(0)
        assert said in ended.out, (command, ended.out)
    ended = orrery("replay", record, "-m", MACHINE, *words, folder=folder)
    ended.has_status(0)
    assert said in ended.out, ended.out


@test
def why_an_assumption_was_not_used_is_one_reason():
    reasons = {
        "busy_alpha on opencl = 3us": "no such device worked",
        "busy_alpha on cuda2 = 3us": "no such device worked",
        "nosuch = 3us": "no task had such a kernel",
        "busy_* on cpu = 3us": "another assumption is more exact",
    }
    ended = simulate("--assume", ALL, *(
        word for one in reasons for word in ("--assume", one)), STARPU_NCUDA="1")
    ended.has_status(0)
    for one, reason in reasons.items():
        assert "%s  (not used: %s)" % (one, reason) in ended.out, (one, ended.out)


@test
def a_simulation_that_stops_names_assumptions_for_other_kernels_in_one_line():
    """Their tasks may come later: nothing is known to be misspelt."""
    others = ["nosuch%d = %dus" % (i, i) for i in range(1, 7)]
    ended = simulate("--assume", "; ".join(others), size=20000)
    ended.has_status(1)
    lines = [line for line in ended.err.splitlines() if "nosuch" in line]
    assert len(lines) == 1 and all(other in lines[0] for other in others), lines
    assert "misspelt" not in ended.err, ended.err


@test
def a_wrong_assumption_ends_the_command_with_the_part_and_the_remedy():
    for command in ("run", "compare", "bound"):
        words = ("-s", "eager") if command == "compare" else ()
        ended = orrery(command, "-m", MACHINE, *words, "--assume",
                       ALL + "; kernel[x] on gpu = 5us", "--", BUSY)
        assert ended.status != 0, command
        said = ended.out + ended.err
        assert "`kernel[x] on gpu = 5us'" in said, said
        assert "write cpu, cuda" in said, said


@test
def speeds_of_edits_act_on_assumed_times_as_on_others():
    def means(*edits, assume=ALL):
        said = report("--assume", assume, *(
            word for edit in edits for word in ("--set", edit)), STARPU_NCUDA="0")
        return {kernel["name"]: kernel["mean_us"] for kernel in said["kernels"]}

    usual = {name: 50 for name in KERNELS}
    assert means() == usual
    assert means("cpu.speed = 2") == {name: 25 for name in KERNELS}
    assert means("kernel[alpha].time *= 3") == {**usual, "busy_alpha": 150}
    assert means("kernel[alpha] = 2", "cpu.speed *= 2") == {
        **{name: 25 for name in KERNELS}, "busy_alpha": 12.5}
    # Bounds are of the same times.
    ended = orrery("bound", "--json", "--kind", "area", "-m", MACHINE, "--assume",
                   ALL, "--set", "cpu.speed = 2", "--", BUSY, STARPU_NCUDA="0")
    ended.has_status(0)
    times = {time["ms"] for kind in json.loads(ended.out)["types"]
             for time in kind["times"]}
    assert times == {0.025}, times
    # A ratio is of the other's time as it was measured, not as it was edited.
    folder = models({(CPU, 0): linear(*SIZES)})
    said = report("-s", "dmda", "--assume", "busy_* on cuda = cpu / 20", "--set",
                  "cpu.speed = 4", "--set", "cuda.speed = 2", folder=folder,
                  size=6400)
    on_cuda = {kernel["mean_us"] for kernel in said["kernels"]
               if kernel["arch"].startswith("cuda")}
    assert on_cuda and all(abs(us - 645 / 20 / 2) < 1e-3 for us in on_cuda), said


@test
def an_assumption_comes_before_interpolation_and_after_measures():
    folder = cpu_models()
    for size, us in ((800, 50), (400, 45)):
        said = report("--assume", ALL, folder=folder, size=size)
        for kernel in said["kernels"]:
            assert kernel["mean_us"] == us, kernel


# -- what travels with the figures -------------------------------------------


def marked(origin, names=KERNELS, host="gpus"):
    """Models whose files say where they come from."""
    folder = models({(CPU, 0): linear(*SIZES)}, names=names, host=host)
    path = os.path.join(folder, "sampling", "codelets", "45")
    for name in os.listdir(path):
        with open(os.path.join(path, name), "r+", encoding="ascii") as file:
            text = file.read()
            file.seek(0)
            file.write("# origin: %s\n%s" % (origin, text))
    return folder


@test
def a_run_says_that_its_times_are_derived_and_how_far_they_may_be_off():
    folder = marked("derived ranged")
    said = report(folder=folder, size=400)
    part = shares(said)["derived"]
    assert part["share"] == 1 and abs(part["off_by"] - 0.02) < 1e-4, part
    assert all(kernel["origin"] == "derived" for kernel in said["kernels"])
    ended = simulate(folder=folder, size=400)
    assert "100.0 % derived (off by up to 2.0 %)" in ended.out, ended.out
    assert shares(report(folder=marked("imported"), size=400)).keys() == {
        "imported"}


@test
def sizes_between_derived_ones_are_derived_and_claim_no_accuracy():
    """A curve through computed figures meets them, not the truth."""
    said = shares(report(folder=marked("derived"), size=800))
    assert said.keys() == {"derived"}, said
    assert said["derived"].get("off_by") is None, said
    ended = simulate(folder=marked("derived"), size=800)
    assert "100.0 % derived\n" in ended.out, ended.out
    assert "between sizes that were measured" not in ended.err, ended.err
    said = shares(report(folder=marked("derived ranged"), size=800))
    assert said.keys() == {"derived"} and said["derived"]["off_by"] > 0, said
    said = shares(report(folder=marked("imported"), size=800))
    assert said.keys() == {"interpolated"}, said


@test
def show_list_and_export_have_the_origin():
    for origin in ("measured", "derived ranged", "imported"):
        word = origin.split()[0]
        folder = marked(origin)
        shown = orrery("perfmodel", "show", "busy_alpha", "--host", "gpus",
                       folder=folder).out
        assert "figures    " + word in shown, shown
        assert shown.count("-  " + word + "\n") == len(SIZES), shown
        assert ("off by up to twice" in shown) == ("ranged" in origin), shown
        data = json.loads(orrery("perfmodel", "show", "busy_alpha", "--json",
                                 "--host", "gpus", folder=folder).out)
        entries = data["combinations"][0]["implementations"][0]["entries"]
        assert data["origin"] == word, data
        assert {entry["origin"] for entry in entries} == {word}, entries
        listed = orrery("perfmodel", "list", "--host", "gpus",
                        folder=folder).out
        assert listed.count(" " + word + " ") == len(KERNELS), listed
        exported = json.loads(orrery("perfmodel", "export", "--json", "--host",
                                     "gpus", folder=folder).out)
        assert {m["origin"] for m in exported["models"]} == {word}
        lines = orrery("perfmodel", "export", "--csv", "--host", "gpus",
                       folder=folder).out.splitlines()
        assert lines[0].endswith(",origin"), lines[0]
        assert all(line.endswith("," + word) for line in lines[1:]), lines


@test
def what_is_imported_says_so_and_derived_stays_derived():
    for origin, after in (("measured", "imported"),
                          ("derived ranged", "derived"),
                          ("imported", "imported")):
        folder = marked(origin)
        path = os.path.join(folder, "models.json")
        orrery("perfmodel", "export", "--json", "--host", "gpus", "-o", path,
               folder=folder).has_status(0)
        there = PROGRAMS.folder()
        orrery("perfmodel", "import", path, folder=there).has_status(0)
        data = json.loads(orrery("perfmodel", "show", "busy_alpha", "--json",
                                 "--host", "gpus", folder=there).out)
        assert data["origin"] == after, (origin, data["origin"])
        assert data["ranged"] == ("ranged" in origin), origin


def origins_of(folder, *words):
    """{(architecture, size): origin} of busy_alpha."""
    ended = orrery("perfmodel", "show", "busy_alpha", "--json", "--host", "gpus",
                   *words, folder=folder)
    ended.has_status(0)
    return {("cpu" if comb["devices"][0]["type"].lower() == "cpu" else "cuda",
             entry["size"] // 4): entry["origin"]
            for comb in json.loads(ended.out)["combinations"]
            for impl in comb["implementations"] for entry in impl["entries"]}


@test
def a_merge_keeps_measures_and_what_was_computed_apart():
    """Of a size that both have the measures stay; no mean has both."""
    folder = marked("derived ranged")
    other = models({(CPU, 0): linear(200, 400, scale=3),
                    (CUDA, 0): linear(800)})
    for first, second in ((folder, other), (other, folder)):
        out = os.path.join(PROGRAMS.folder(), "sampling")
        ended = orrery("perfmodel", "merge", os.path.join(first, "sampling"),
                       os.path.join(second, "sampling"), "-o", out)
        ended.has_status(0)
        assert "measured 3, derived 4" in ended.out, ended.out
        merged = os.path.dirname(out)
        assert origins_of(merged) == {
            ("cuda", 800): "measured",
            **{("cpu", n): "measured" if n in (200, 400) else "derived"
               for n in SIZES}}, origins_of(merged)
        said = report(folder=merged, size=400, program=("-tasks", "8"),
                      STARPU_NCUDA="0")
        assert shares(said).keys() == {"measured"}, said
        assert all(abs(k["predicted_us"] - 3 * 45) < 0.1
                   for k in said["kernels"] if k["name"] == "busy_alpha"), said


@test
def rows_of_one_file_say_each_where_they_come_from():
    folder = models({(CPU, 0): linear(*SIZES)})
    path = os.path.join(folder, "sampling", "codelets", "45")
    for name in os.listdir(path):
        with open(os.path.join(path, name), "r+", encoding="ascii") as file:
            text = file.read().replace(footprint(400), "# origin: measured\n" +
                                       footprint(400))
            file.seek(0)
            file.write("# origin: derived ranged\n" + text)
    assert origins_of(folder) == {
        ("cpu", n): "measured" if n == 400 else "derived" for n in SIZES}
    host = ("--host", "gpus")
    assert "figures    measured 1, derived 5" in orrery(
        "perfmodel", "show", "busy_alpha", *host, folder=folder).out
    assert " measured 1, derived 5 " in orrery("perfmodel", "list", *host,
                                               folder=folder).out
    listed = json.loads(orrery("perfmodel", "list", "--json", *host,
                               folder=folder).out)
    assert listed[0]["origins"] == {"measured": 1, "derived": 5}, \
        listed
    checked = orrery("perfmodel", "check", *host, folder=folder).out
    assert "5 of 6 are derived, not measured" in checked, checked
    assert "20 of 24 times of kernels are computed" in checked, checked
    assert "can be trusted" not in checked, checked
    for size, word in ((400, "measured"), (200, "derived")):
        said = report(folder=folder, size=size)
        assert shares(said).keys() == {word}, said
        ended = orrery("trace", "-m", MACHINE, "-o",
                       os.path.join(folder, "trace"), "--", BUSY, "-size",
                       str(size), folder=folder)
        ended.has_status(0)
        with open(os.path.join(folder, "trace"), encoding="utf-8") as file:
            found = re.findall(r'^# times of .*: (\w+)$', file.read(), re.M)
        assert set(found) == {word}, found
    # They are what they were after a journey, but for what was measured there.
    exported = os.path.join(folder, "models.json")
    orrery("perfmodel", "export", "--json", *host, "-o", exported,
           folder=folder).has_status(0)
    there = PROGRAMS.folder()
    orrery("perfmodel", "import", exported, folder=there).has_status(0)
    assert origins_of(there) == {
        ("cpu", n): "imported" if n == 400 else "derived" for n in SIZES}
    picture = os.path.join(folder, "alpha.svg")
    orrery("perfmodel", "plot", "busy_alpha", *host, "-o", picture,
           folder=folder).has_status(0)
    with open(picture, encoding="utf-8") as file:
        text = file.read()
    assert "hollow points: derived, not measured" in text


@test
def a_partly_measured_machine_says_which_kernels_were_measured():
    gemini = ("-m", "gemini-1")
    ended = orrery("perfmodel", "check", *gemini)
    ended.has_status(0)
    assert re.search(r"\d+ of \d+ times of kernels are computed", ended.out), ended.out
    listed = orrery("perfmodel", "list", *gemini).out
    assert listed.count("measured 4, derived 2") >= 4, listed


@test
def a_simulation_that_failed_prints_no_makespan():
    trace = os.path.join(PROGRAMS.folder(), "t.paje")
    for words in (("run",), ("trace", "-o", trace)):
        ended = orrery(*words, "-m", MACHINE, "--", BUSY)
        ended.has_status(1)
        ended.says("needs the time of kernel `busy_alpha'",
                   "kernel[busy_alpha] = 50us")
        assert "makespan" not in ended.out, (words, ended.out)
        assert "gantt" not in ended.out, (words, ended.out)
    # Eight devices of it share two models.
    ended = orrery("run", "-m", "gemini-1", "--", BUSY, "-cuda")
    missing = [line for line in ended.err.splitlines()
               if "busy_alpha  footprint" in line]
    assert len(set(missing)) == len(missing) == 3, missing
    ended = orrery("run", "-m", MACHINE, "--json", "--", BUSY)
    ended.has_status(1)
    said = json.loads(ended.out)
    assert said["exit"] == "missing" and said["makespan_us"] is None, said


@test
def a_graph_and_a_trace_say_where_times_come_from():
    folder = models({(CPU, 0): linear(1600)}, names=KERNELS[:2])
    models({(CUDA, number): linear(1600) for number in range(3)}, folder,
           KERNELS[2:3])
    graph, trace = (os.path.join(folder, name) for name in ("graph", "trace"))
    simulate("-s", "eager", "--assume", "busy_delta = 50us", folder=folder,
             size=1600, program=(), ORRERY_GRAPH=graph,
             ORRERY_TRACE=trace).has_status(0)
    with open(graph, encoding="utf-8") as file:
        text = file.read()
    # One core is left beside those that drive the three devices.
    assert re.search('kind "busy_alpha".*\nfrom 1 measured 3 -\n', text), text
    assert re.search('kind "busy_gamma".*\nfrom 1 - 3 measured\n', text), text
    assert re.search('kind "busy_delta".*\nfrom 1 assumed 3 -\n', text), text
    ended = orrery("bound", "--kind", "area", graph)
    ended.has_status(0)
    assert re.search(r"times +\S+ % measured, \S+ % assumed", ended.out), ended.out
    with open(trace, encoding="utf-8") as file:
        said = [line for line in file if line.startswith("# times of")]
    assert said == ['# times of "%s" %s on %s\n' % (name, footprint(1600), of)
                    for name, of in (("alpha", "CPU: measured"),
                                     ("beta", "CPU: measured"),
                                     ("delta", "CPU: assumed"),
                                     ("gamma", "CUDA: measured"))], said


if __name__ == "__main__":
    sys.exit(run_all(2))

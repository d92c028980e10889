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
    ended.says("STARPU_CALIBRATE=1", "--assume", "orrery perfmodel project")


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
    assert "nosuch on cuda = 3us  (not used" in ended.out, ended.out
    assert ended.out.count("(not used") == 1, ended.out


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
    assert "32 of 48 times of kernels are computed" in ended.out, ended.out
    listed = orrery("perfmodel", "list", *gemini).out
    assert listed.count("measured 4, derived 2") == 4, listed


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


# -- models for a machine that one does not have -----------------------------

RATES = ("--peak", "cpu=10Gf,cuda=1Tf", "--bandwidth", "cpu=5GBps,cuda=500GBps",
         "--from-peak", "cpu=10Gf", "--from-bandwidth", "cpu=5GBps")


def projected(*words, folder=None):
    folder = folder or models({(CPU, 0): linear(*SIZES)}, host="home")
    ended = orrery("perfmodel", "project", "-m", MACHINE, "--host", "home",
                   *RATES, *words, folder=folder)
    return folder, ended


@test
def projected_models_are_used_by_each_command_and_said_to_be_derived():
    folder, ended = projected()
    ended.has_status(0)
    assert "4 models of gpus" in ended.out, ended.out
    said = report("-s", "dmda", folder=folder, size=1600)
    part = shares(said)["derived"]
    assert part["share"] == 1 and part["off_by"] > 0.4, said["figures"]
    means = {kernel["arch"]: kernel["mean_us"] for kernel in said["kernels"]}
    # On the same core as measured, on a device a hundredth of it.
    for arch, us in means.items():
        assert abs(us / (165 if arch == "cpu0" else 1.65) - 1) < 0.01, means
    assert any(arch.startswith("cuda") for arch in means), means
    for words in (("compare", "-s", "eager"), ("bound",),
                  ("trace", "-o", os.path.join(folder, "t.paje"))):
        ended = orrery(*words, "-m", MACHINE, "--", BUSY, "-size", "1600",
                       folder=folder)
        ended.has_status(0)
        assert "100.0 % derived (off by up to" in ended.out, (words, ended.out)


@test
def checks_of_projected_models_speak_of_no_measures():
    folder, _ = projected()
    ended = orrery("perfmodel", "check", "-m", MACHINE, folder=folder)
    assert "derived, not measured" in ended.out, ended.out
    for code in ("imprecise", "spikes", "spread", "few-samples"):
        assert "[%s]" % code not in ended.out, ended.out


@test
def projected_models_are_written_where_the_user_s_lie():
    folder = PROGRAMS.folder()
    home = os.path.join(folder, "home")
    own = os.path.join(home, ".starpu", "sampling", "codelets", "45")
    os.makedirs(own)
    here = socket.gethostname().split(".")[0]
    with open(os.path.join(own, "busy_alpha." + here), "w",
              encoding="ascii") as file:
        file.write(model_text({(CPU, 0): linear(*SIZES)}))
    ended = orrery("perfmodel", "project", "-m", "epyc-64", folder=folder,
                   STARPU_HOME=home, STARPU_PERF_MODEL_DIR=None)
    ended.has_status(0)
    made = os.path.join(own, "busy_alpha.epyc-64")
    assert os.path.exists(made), os.listdir(own)
    # A simulation finds it there.
    ended = orrery("run", "-m", "epyc-64", "--assume", "busy_* = 1us", "--", BUSY,
                   "-size", "1600", folder=folder, STARPU_HOME=home,
                   STARPU_PERF_MODEL_DIR=None)
    ended.has_status(0)
    assert "derived (off by up to" in ended.out, ended.out
    # What comes with the machine is read first: it is not replaced in its place.
    with open(os.path.join(own, "dgemm." + here), "w", encoding="ascii") as file:
        file.write(model_text({(CPU, 0): linear(*SIZES)}))
    ended = orrery("perfmodel", "project", "-m", "epyc-64", "--force", "dgemm",
                   folder=folder, STARPU_HOME=home, STARPU_PERF_MODEL_DIR=None)
    ended.has_status(1)
    ended.says("comes with", "-o DIR", "STARPU_PERF_MODEL_DIR=DIR")


@test
def projected_models_are_measured_anew_where_they_are_calibrated():
    slow = {size: 1e6 * us for size, us in linear(*SIZES).items()}
    folder, _ = projected(folder=models({(CPU, 0): slow}, host="home"))
    before = report("-s", "eager", folder=folder, size=1600, STARPU_NCUDA="0")
    assert set(shares(before)) == {"derived"}, before["figures"]
    for _ in range(3):
        PROGRAMS.run([BUSY, "-size", "1600"], folder, STARPU_HOSTNAME="gpus",
                     STARPU_CALIBRATE="1", ORRERY_MACHINE=None).has_status(0)
    after = report("-s", "eager", folder=folder, size=1600, STARPU_NCUDA="0")
    assert set(shares(after)) == {"measured"}, after["figures"]
    listed = json.loads(orrery("perfmodel", "show", "busy_alpha", "--json",
                               "--host", "gpus", folder=folder).out)
    said = json.dumps(listed)
    assert '"measured"' in said and '"derived"' in said, said
    # What was computed, 165 s, is in no sum.
    for kernel in after["kernels"]:
        assert kernel["predicted_us"] < 1e6, kernel


@test
def what_the_machine_has_stays():
    folder = models({(CPU, 0): linear(*SIZES)}, host="home")
    models({(CPU, 0): linear(400)}, folder, KERNELS[:1])
    _, ended = projected(folder=folder)
    ended.says("busy_alpha.gpus is there and stays", "--force")
    assert "3 models of gpus" in ended.out, ended.out
    _, ended = projected("--force", "busy_a*", folder=folder)
    assert "1 models of gpus" in ended.out, ended.out


@test
def rates_that_are_not_known_are_named_with_the_remedy():
    folder = models({(CPU, 0): linear(*SIZES)}, host="home")
    ended = orrery("perfmodel", "project", "-m", MACHINE, "--host", "home",
                   folder=folder)
    ended.has_status(1)
    ended.says("--peak 'cuda=19.5 TFlop/s'", "--from-peak 'cpu=64 GFlop/s'",
               "--from-bandwidth 'cpu=10 GB/s'", "orrery-peak-fp32")
    _, ended = projected("--peak", "gpu=3", folder=folder)
    ended.has_status(2)
    ended.says("cuda=19.5 TFlop/s")


@test
def rates_are_written_as_in_assumptions_or_as_in_descriptions():
    folder = models({(CPU, 0): linear(*SIZES)}, host="home")
    rows = []
    for words in ((*RATES,),
                  ("--peak", "cpu = 10 GFlop/s, cuda = 1 TFlop/s",
                   "--bandwidth", "cpu = 5 GB/s; cuda = 500 GB/s",
                   "--from-peak", "CPU=10 gflop/s", "--from-bandwidth",
                   "cpu=5 GB/s"),
                  ("--peak", "cpu=10000Mf,cuda=1e12f", "--bandwidth",
                   "cpu=40Gbps,cuda=500GBps", "--from-peak", "cpu=10Gflops",
                   "--from-bandwidth", "cpu=5GBps")):
        ended = orrery("perfmodel", "project", "-m", MACHINE, "--host", "home",
                       "--force", *words, "busy_alpha", folder=folder)
        ended.has_status(0)
        path = os.path.join(folder, "sampling", "codelets", "45",
                            "busy_alpha.gpus")
        with open(path, encoding="ascii") as file:
            rows.append(file.read())
    assert rows[0] == rows[1] == rows[2]
    for wrong in ("cpu=3 GB/s", "cpu=5", "cpu=5G", "cpu", "cpu=0",
                  "cpu=10Gf cuda=1Tf", "cpu0=3Gf",
                  "=3Gf", "cpu=-1Gf", "cpu=3 lightyears"):
        _, ended = projected("--peak", wrong, folder=folder)
        ended.has_status(2)
        ended.says("--peak " + wrong, "cuda=19.5 TFlop/s")
    _, ended = projected("--bandwidth", "cpu=5", folder=folder)
    ended.has_status(2)
    ended.says("--bandwidth cpu=5", "unit", "GB/s")


@test
def rates_of_this_machine_are_measured_where_nothing_states_them():
    here = socket.gethostname().split(".")[0]
    folder = models({(CPU, 0): linear(*SIZES)}, host=here)
    rates = ("--peak", "cpu=10Gf,cuda=1Tf", "--bandwidth", "cpu=5GBps,cuda=500GBps")
    ended = orrery("perfmodel", "project", "-m", MACHINE, *rates, folder=folder)
    ended.has_status(0)
    assert re.search(r": \S+ GFlop/s, \S+ GB/s, measured now",
                     ended.out), ended.out
    assert ended.out.count("measured now") == 1, ended.out
    # One that is given is not measured.
    ended = orrery("perfmodel", "project", "-m", MACHINE, *rates, "--force",
                   "--from-peak", "cpu=12 GFlop/s", folder=folder)
    assert "a core of %s: 12 GFlop/s, " % here in ended.out, ended.out
    # Nor are those of another host.
    ended = orrery("perfmodel", "project", "-m", MACHINE, *rates, "--force",
                   "--host", "home",
                   folder=models({(CPU, 0): linear(*SIZES)}, host="home"))
    ended.has_status(1)
    ended.says("--from-peak 'cpu=64 GFlop/s'")


@test
def sizes_that_were_not_measured_are_answered_with_a_range_and_how_to_assume_them():
    folder = models({(CPU, 0): linear(*SIZES), (CUDA, 0): linear(400),
                     (CUDA, 1): linear(400)}, host="home", names=KERNELS[:1])
    ended = orrery("perfmodel", "project", "--host", "home", "--size",
                   "3200,64000", folder=folder)
    ended.has_status(0)
    rows = [line.split() for line in ended.out.splitlines()
            if line.startswith("busy_alpha")]
    assert [row[1:3] for row in rows] == [
        ["cpu", "3200"], ["cpu", "64000"], ["cuda", "3200"], ["cuda", "64000"]]
    # 4 bytes an element; what linear() says of 800 elements is between two sizes.
    expected = linear(800)[800]
    assert abs(float(rows[0][3]) / expected - 1) < 0.1, (rows, expected)
    ranges = [float(row[4]) for row in rows]
    assert ranges[0] < ranges[1] < ranges[3], rows
    text = re.search(r"--assume '(kernel\[busy_alpha\] on cpu = \S+)'",
                     ended.out).group(1)
    simulate("-s", "eager", "--assume", text + "; busy_* = 1us",
             folder=folder).has_status(0)
    for wrong in ("0", "x", "12,,x"):
        orrery("perfmodel", "project", "--host", "home", "--size", wrong,
               folder=folder).has_status(2)


def with_flops(folder, flops_of):
    """Writes the flops of each row, by its size in bytes."""
    path = os.path.join(folder, "sampling", "codelets", "45", "busy_alpha.home")
    with open(path, encoding="ascii") as file:
        lines = [line.split(" ") for line in file.read().split("\n")]
    for words in lines:
        if len(words) == 8:
            words[2] = "%.9e" % flops_of(int(words[1]))
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(map(" ".join, lines)))


def at_size(folder, size):
    """{architecture: (µs, by what)} of busy_alpha."""
    ended = orrery("perfmodel", "project", "--host", "home", "--size",
                   str(size), folder=folder)
    ended.has_status(0)
    rows = [re.split(r"  +", line.strip()) for line in ended.out.splitlines()
            if line.startswith("busy_alpha")]
    return {row[1]: (float(row[3]), row[6]) for row in rows}


@test
def other_sizes_are_projected_by_flops_then_by_a_core_then_by_bytes():
    # Times that go with the 1.5th power of the bytes, as products of tiles do.
    def cubic(*sizes):
        return {n: n ** 1.5 / 20 for n in sizes}

    folder = models({(CPU, 0): cubic(400), (CUDA, 0): cubic(*SIZES)},
                    host="home", names=KERNELS[:1])
    truth = 25600 ** 1.5 / 20
    by_bytes = at_size(folder, 4 * 25600)["cpu"]
    with_flops(folder, lambda size: 2 * size ** 1.5)
    by_flops = at_size(folder, 4 * 25600)["cpu"]
    assert by_bytes[1] == "bytes" and by_flops[1] == "flops"
    assert truth / 1.5 < by_flops[0] < truth * 1.5, (by_flops, truth, by_bytes)
    assert abs(by_bytes[0] - truth) > 2 * abs(by_flops[0] - truth), by_bytes
    folder = models({(CPU, 0): cubic(*SIZES), (CUDA, 0): cubic(400)},
                    host="home", names=KERNELS[:1])
    # A size that only the cores have; no flops are known.
    with_flops(folder, lambda size: 0)
    assert at_size(folder, 4 * 6400)["cuda"][1] == "a core's time"
    # Flops that are no function of the size say nothing of others.
    with_flops(folder, lambda size: size if size < 2000 else size ** 2)
    assert at_size(folder, 4 * 25600)["cpu"][1] == "bytes"
    assert at_size(folder, 4 * 6400)["cuda"][1] == "flops"


@test
def models_of_a_machine_are_projected_by_its_name():
    folder = PROGRAMS.folder()
    ended = orrery("perfmodel", "project", "-m", "epyc-64", "--from",
                   "sirocco-v100", "--from-peak", "cpu=64 GFlop/s",
                   "--from-bandwidth", "cpu=10 GB/s", "--force", "-o",
                   os.path.join(folder, "made"), folder=folder)
    ended.has_status(0)
    assert "derived from those of sirocco-v100" in ended.out, ended.out


@test
def tensor_units_count_where_they_are_asked_for():
    folder = PROGRAMS.folder()
    means = []
    for words in ((), ("--tensor",)):
        made = os.path.join(folder, "made" + "".join(words))
        orrery("perfmodel", "project", "-m", "hgx-h100-8", "--from",
               "sirocco-v100", "--double", *words, "--force", "-o", made, "dgemm",
               folder=folder).has_status(0)
        with open(os.path.join(made, "codelets", "45", "dgemm.hgx-h100-8"),
                  encoding="ascii") as file:
            rows = [line.split() for line in file if len(line.split()) == 8]
        means.append(float(rows[-1][3]))
    assert 1.5 < means[0] / means[1] < 2.1, means


@test
def models_are_not_projected_onto_themselves():
    folder = models({(CPU, 0): linear(*SIZES)})
    ended = orrery("perfmodel", "project", "-m", MACHINE, *RATES, "--force",
                   folder=folder, STARPU_HOSTNAME="gpus")
    ended.has_status(1)
    ended.says("models of gpus", "STARPU_HOSTNAME", "themselves")


@test
def rates_may_stand_in_the_description():
    folder = models({(CPU, 0): linear(*SIZES)}, host="home")
    path = os.path.join(folder, "gpus.xml")
    with open(MACHINE, encoding="utf-8") as file:
        text = file.read()
    for host, peak in (("MAIN", "10Gf"), ("CUDA0", "1Tf")):
        at = text.index('<host id="%s"' % host)
        end = text.index(">", at)
        close = text[end - 1] == "/"
        props = ('<prop id="orrery-peak-fp32" value="%s"/><prop id='
                 '"orrery-memory-bandwidth" value="50GBps"/>' % peak)
        text = (text[:end - 1] + ">" + props + "</host>" if close
                else text[:end + 1] + props) + text[end + 1:]
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    ended = orrery("perfmodel", "project", "-m", path, "--host", "home",
                   "--from-peak", "cpu=10Gf", "--from-bandwidth", "cpu=50GBps",
                   "busy_alpha", folder=folder)
    ended.has_status(0)
    assert "cpu0" in ended.out and "cuda0" in ended.out, ended.out
    assert "cuda1" not in ended.out, "its rates are not stated"
    ended.says("bandwidth of cuda of")


if __name__ == "__main__":
    sys.exit(run_all(2))

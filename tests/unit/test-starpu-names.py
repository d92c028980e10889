#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs for traces and schedulers with StarPU's names: what they make of a run has
the run's totals. TAP.

usage: test-starpu-names.py ORRERY CULPRIT FOLDER INCLUDE
"""
import collections
import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402
from tools_util import load_models  # noqa: E402

if len(sys.argv) != 5:
    sys.exit(__doc__.strip())
ORRERY, CULPRIT, FOLDER, INCLUDE = map(os.path.abspath, sys.argv[1:])
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
GPUS = "h100-pcie-4"
ENV = {name: value for name, value in os.environ.items()
       if not name.startswith("STARPU_") and
       name not in ("ORRERY_MACHINE", "ORRERY_CHECK_BOUNDS")}
ENV.update(STARPU_HOME=TOP.name, STARPU_SILENT="1", LC_ALL="C.UTF-8",
           CULPRIT_CPU="100", CULPRIT_CUDA="20")
SCRIPTS = ["starpu_fxt_tool", "starpu_paje_sort", "starpu_paje_state_stats",
           "starpu_paje_draw_histogram", "starpu_paje_summary",
           "starpu_codelet_profile", "starpu_codelet_histo_profile",
           "starpu_workers_activity", "starpu_trace_state_stats.py",
           "starpu_send_recv_data_use.py", "starpu_mlr_analysis"]


def path(*names):
    return os.path.join(TOP.name, *names)


def run(name, *words, code=0, stdin="", env=None):
    done = subprocess.run([os.path.join(FOLDER, name), *words], env={**ENV, **(env or {})},
                          cwd=TOP.name, input=stdin, timeout=100, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8")
    assert done.returncode == code, (name, words, done)
    return done


def path_of(program):
    return os.path.join(FOLDER, program)


def text_of(*names):
    with open(path(*names), encoding="utf-8") as file:
        return file.read()


def records(text):
    return [dict(line.split(": ", 1) for line in block.splitlines()
                 if ": " in line and not line.startswith(("#", "%")))
            for block in text.split("\n\n") if block.strip()]


def make_run():
    """A trace, its graph, its report; all that starpu_fxt_tool makes of it."""
    done = subprocess.run(
        [ORRERY, "trace", "-m", GPUS, "-s", "dmda", "-o", path("run.csv"), "--graph",
         path("run.graph"), "--json", "--", CULPRIT, "reuse", "1"], env=ENV,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
        encoding="utf-8")
    run("starpu_fxt_tool", "-i", path("run.csv"), "-d", path("out"))
    return json.loads(done.stdout)


REPORT = make_run()


def busy_ms():
    return sum(worker["busy_us"] for worker in REPORT["workers"]) / 1000


def gnuplot():
    if not shutil.which("gnuplot"):
        raise Skip("there is no gnuplot")


@test
def every_script_says_what_it_does():
    for name in SCRIPTS + ["starpu_sched_display", "starpu_tasks_rec_complete",
                           "starpu_config", "starpu_env", "starpu_lp2paje",
                           "starpu_machine_display", "starpu_calibrate_bus",
                           "starpu_perfmodel_display", "starpu_perfmodel_plot",
                           "starpu_perfmodel_recdump", "starpu_replay"]:
        said = run(name, "--help").stdout
        assert said.lstrip().startswith("usage: "), (name, said)
        assert name in said and "Exit codes: 0" in said and "example: " in said, name
        assert not re.search("^.{89}", said, re.M), name
        assert "(Orrery)" in run(name, "--version").stdout, name


@test
def tasks_rec_has_every_task_with_its_data():
    tasks = records(text_of("out", "tasks.rec"))
    assert len(tasks) == REPORT["tasks"] > 100
    total = sum(float(task["EndTime"]) - float(task["StartTime"]) for task in tasks)
    assert abs(total - busy_ms()) < 1e-5 * len(tasks), (total, busy_ms())
    assert {task["Model"] for task in tasks} == {"culprit"}
    assert all(task["Modes"] == "R RW" and len(task["Sizes"].split()) == 2
               for task in tasks)
    known = {task["JobId"] for task in tasks}
    needed = [task for task in tasks if "DependsOn" in task]
    assert needed and all(set(task["DependsOn"].split()) <= known for task in needed)


@test
def without_a_graph_there_are_tasks_all_the_same():
    shutil.copy(path("run.csv"), path("alone.csv"))
    said = run("starpu_fxt_tool", "-i", path("alone.csv"), "-d", path("alone")).stderr
    assert "without its graph" in said, said
    tasks = records(text_of("alone", "tasks.rec"))
    assert len(tasks) == REPORT["tasks"] and "Model" not in tasks[0]
    assert not os.path.exists(path("alone", "dag.dot"))


@test
def codelets_without_a_model_name_none():
    subprocess.run(
        [ORRERY, "trace", "-m", GPUS, "-s", "eager", "-o", path("models.csv"), "--graph",
         path("models.graph"), "--", CULPRIT, "waits", "1"], env=ENV,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    run("starpu_fxt_tool", "-i", path("models.csv"), "-d", path("some"))
    models = collections.Counter((task["Name"], task.get("Model"))
                                 for task in records(text_of("some", "tasks.rec")))
    assert models == {("waits", None): 10, ("any", "culprit"): 10}, models


@test
def iterations_and_kernels_that_wait_are_kept():
    """Task 1 waits from 10 to 40 ms for task 2, which its worker executes."""
    header = ("record,start_ms,end_ms,worker,job,name,priority,node,from,bytes,kind,"
              "handle,change,footprint,gflop,tag,iteration,subiteration")
    with open(path("waits.csv"), "w", encoding="utf-8") as file:
        for row in (header, 'worker,0,60,0,,"CPU0",,0,,,,,,,,,,',
                    'task,5,50,0,1,"outer",0,0,,0,,,,00000000,0,0,3,',
                    "suspended,10,40,0,1,,,,,,,,,,,,,",
                    "state,10,10,0,,,,,,,suspended,,,,,,,",
                    'task,20,30,0,2,"inner",0,0,,0,,,,00000000,0,0,3,4'):
            file.write(row + "\n")
    run("starpu_fxt_tool", "-i", path("waits.csv"), "-d", path("waits"))
    lines = [line.split("\t") for line in text_of("waits", "paje.trace").splitlines()]
    shown = [(float(line[1]), line[4].strip('"')) for line in lines
             if line[0] in ("10", "20")]
    assert shown == [(0, "I"), (5, "outer"), (10, "I"), (10, "Sp"), (20, "inner"), (30, "I"),
                     (40, "outer"), (50, "I")], shown
    levels = {tuple(line[15:17]) for line in lines if line[0] == "20"}
    assert levels == {("3", "-1"), ("3", "4")}, levels
    found = [task["Iteration"] for task in records(text_of("waits", "tasks.rec"))]
    assert found == ["3 4", "3"], found
    with open(path("waits", "activity.data"), encoding="utf-8") as file:
        rows = [line.split("\t") for line in file]
    assert abs(sum(float(row[3]) for row in rows if row[0] == "0") - 25) < 1e-6, rows


@test
def states_last_to_the_end_of_the_trace():
    """Each worker's, from the begin on, without a gap, in both forms; so do those of the
    trace itself. A worker that did nothing was idle."""
    with open(path("run.csv"), encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["record"] == "worker"]
    total = sum(float(row["end_ms"]) for row in rows)
    ends = collections.Counter()
    for event in records(text_of("out", "trace.rec")):
        if event.get("N") == "Deinitializing":
            ends[event["W"], float(event["S"])] += 1
    assert ends == {(str(w), round(float(row["end_ms"]), 6)): 1
                    for w, row in enumerate(rows)}, ends
    stats = csv.DictReader(run("starpu_trace_state_stats.py", path("out", "trace.rec")
                               ).stdout.splitlines())
    known = sum(float(row["Duration"]) for row in stats)
    assert abs(known - total) < 1e-3, (known, total)
    run("starpu_paje_state_stats", path("out", "paje.trace"))
    known = sum(float(row.split(", ")[2]) for row in
                text_of("starpu_paje_state_stats.csv").splitlines()[1:])
    assert abs(known - total) < 1e-3, (known, total)


@test
def paje_trace_opens_in_pj_dump_with_the_same_totals():
    if not shutil.which("pj_dump"):
        raise Skip("there is no pj_dump (Debian's pajeng)")
    done = subprocess.run(["pj_dump", path("out", "paje.trace")], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8")
    assert done.stderr == "", done.stderr
    rows = [line.split(", ") for line in done.stdout.splitlines()]
    tasks = [row for row in rows if row[0] == "State" and row[7] == "gpu"]
    assert len(tasks) == REPORT["tasks"]
    assert abs(sum(float(row[5]) for row in tasks) - busy_ms()) < 1e-3
    links = [row for row in rows if row[0] == "Link"]
    assert len(links) == REPORT["transfers"]
    assert sum(float(row[6]) for row in links) == REPORT["transferred_bytes"]


@test
def odd_names_of_kernels_are_readable_in_all_files():
    names = ['a ""b"", c', "a _b_, c", "tab\there", "é </script> \\ 'x'"]
    lines, n = [], 0
    for line in text_of("run.csv").splitlines(keepends=True):
        if line.startswith("task,"):
            line = line.replace('"gpu"', '"%s"' % names[n % len(names)])
            n += 1
        lines.append(line)
    with open(path("odd.csv"), "w", encoding="utf-8") as file:
        file.writelines(lines)
    run("starpu_fxt_tool", "-i", path("odd.csv"), "-d", path("odd"))
    said = run("starpu_trace_state_stats.py", path("odd", "trace.rec")).stdout
    rows = list(csv.DictReader(said.splitlines(), strict=True))
    counts = {row["Name"]: int(row["Count"]) for row in rows if row["Type"] == "Task"}
    assert sum(counts.values()) == n == REPORT["tasks"], counts
    assert 'a "b", c' in counts, counts
    if not shutil.which("pj_dump"):
        raise Skip("there is no pj_dump (Debian's pajeng)")
    done = subprocess.run(["pj_dump", path("odd", "paje.trace")], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8")
    assert done.stderr == "", done.stderr
    assert sum("a _b_, c" in line for line in done.stdout.splitlines()
               if line.startswith("State")) == 2 * ((n + 1) // 4), done.stdout


@test
def the_dag_opens_in_graphviz():
    if not shutil.which("dot"):
        raise Skip("there is no graphviz")
    done = subprocess.run(["dot", "-Tplain", "-Gnslimit=1", path("out", "dag.dot")],
                          stdout=subprocess.PIPE, check=True, encoding="utf-8")
    assert done.stdout.count("\nnode ") == REPORT["tasks"]


@test
def states_of_both_forms_of_the_trace_agree():
    stats = list(csv.DictReader(run("starpu_trace_state_stats.py", "-t", "-e", "-s",
                                    "10", path("out", "trace.rec")
                                    ).stdout.splitlines()))
    task = next(row for row in stats if row["Type"] == "Task")
    assert int(task["Count"]) == REPORT["tasks"] and task["Name"] == "gpu"
    assert abs(float(task["Duration"]) - busy_ms()) < 1e-3
    times = dict(csv.reader(text_of("times.csv").splitlines()[1:]))
    assert abs(float(times["Task"]) - busy_ms()) < 1e-3
    shares = dict(csv.reader(text_of("efficiencies.csv").splitlines()[1:]))
    assert abs(float(shares["Task"]) - 10 / busy_ms()) < 1e-5
    product = 1.0
    for name in ("Task", "Runtime", "Scheduling", "Pipeline"):
        product *= float(shares[name])
    assert abs(float(shares["Parallel"]) - product) < 1e-5

    shown = run("starpu_paje_state_stats", "-v", path("out", "paje.trace")).stdout
    assert "gpu" in shown
    rows = [line.split(", ") for line in
            text_of("starpu_paje_state_stats.csv").splitlines()]
    row = next(row for row in rows if row[0] == "gpu")
    assert int(row[1]) == REPORT["tasks"] and abs(float(row[2]) - busy_ms()) < 1e-3
    run("starpu_paje_state_stats", "-n", "gpu", "-r", "-1:0.5",
        path("out", "paje.trace"))
    fewer = text_of("starpu_paje_state_stats.csv").splitlines()
    assert len(fewer) <= 2


@test
def sorting_changes_the_order_alone():
    with open(path("out", "paje.trace"), encoding="utf-8") as file:
        lines = file.readlines()
    head = [line for line in lines if line[0] == "%" or line.split("\t")[0] in "1234567"]
    body = [line for line in lines if line not in set(head)]
    with open(path("mixed.trace"), "w", encoding="utf-8") as file:
        file.writelines(head + body[::-1])
    run("starpu_paje_sort", path("mixed.trace"))
    with open(path("mixed.trace"), encoding="utf-8") as file:
        after = file.readlines()
    assert collections.Counter(after) == collections.Counter(lines)
    moments = [float(line.split("\t")[1]) for line in after[len(head):]]
    assert moments == sorted(moments) and after[:len(head)] == head
    with open(path("broken.trace"), "w", encoding="utf-8") as file:
        file.write("%EventDef PajeSetState 10\n%EndEventDef\n99 1 2\n")
    said = run("starpu_paje_sort", path("broken.trace"), code=1).stderr
    assert "broken.trace:3" in said, said
    assert "99 1 2" in text_of("broken.trace")


@test
def durations_are_split_by_worker():
    data = [line.split("\t") for line in
            text_of("out", "distrib.data").splitlines()]
    assert len(data) == REPORT["tasks"]
    assert abs(sum(float(row[4]) for row in data) - busy_ms()) < 1e-3
    run("starpu_codelet_profile", path("out", "distrib.data"), "culprit")
    parts = [name for name in os.listdir(path("out"))
             if re.fullmatch(r"distrib\.data\.\d+", name)]
    assert sum(len(text_of("out", name).splitlines()) for name in parts) == len(data)
    said = run("starpu_codelet_profile", path("out", "distrib.data"), "nix",
               code=1).stderr
    assert "there are culprit" in said, said


@test
def pictures_are_drawn():
    gnuplot()
    subprocess.run(["gnuplot", path("out", "distrib.data.gp")], check=True,
                   stderr=subprocess.DEVNULL)
    run("starpu_codelet_histo_profile", path("out", "distrib.data"))
    run("starpu_workers_activity", "-d", path("out"), path("out", "activity.data"))
    run("starpu_paje_draw_histogram", "-n", "gpu", path("out", "paje.trace"))
    run("starpu_paje_summary", path("out", "paje.trace"))
    made = [path("out", name) for name in os.listdir(path("out"))
            if name.endswith((".pdf", ".eps"))] + [path("Rplots.pdf")]
    assert len(made) >= 4, made
    for name in made:
        with open(name, "rb") as file:
            assert file.read(4) in (b"%PDF", b"%!PS"), name
    assert f"<td>{REPORT['tasks']}<td>" in text_of("summary.html")


@test
def pictures_go_where_they_are_asked_for():
    """Folders are made, names may have quotation marks."""
    gnuplot()
    odd = path("it's new")
    run("starpu_workers_activity", "-d", odd, path("out", "activity.data"))
    shutil.copy(path("out", "distrib.data"), odd)
    run("starpu_codelet_histo_profile", os.path.join(odd, "distrib.data"))
    run("starpu_codelet_profile", os.path.join(odd, "distrib.data"), "culprit")
    subprocess.run(["gnuplot", os.path.join(odd, "distrib.data.gp")], check=True,
                   stderr=subprocess.DEVNULL)
    made = [name for name in os.listdir(odd) if name.endswith((".eps", ".pdf"))]
    assert "activity.eps" in made and "distrib.data.eps" in made and len(made) > 2, made
    with open(path("a file"), "w", encoding="utf-8"):
        pass
    for words in (("starpu_workers_activity", "-d", path("a file"),
                   path("out", "activity.data")),
                  ("starpu_workers_activity", "-d", path("a file", "x"),
                   path("out", "activity.data"))):
        said = run(*words, code=1).stderr
        assert "a file" in said and "gnuplot" not in said, said


@test
def pictures_that_cannot_be_drawn_are_said_without_a_traceback():
    gnuplot()
    folder = path("no room")
    os.mkdir(folder)
    os.mkdir(os.path.join(folder, "Rplots.pdf"))
    done = subprocess.run([path_of("starpu_paje_draw_histogram"), "-n", "gpu",
                           path("out", "paje.trace")], cwd=folder, env=ENV, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8")
    assert done.returncode == 1 and "Rplots.pdf" in done.stderr, done
    assert "Traceback" not in done.stderr, done


@test
def intervals_are_checked():
    trace, activity = path("out", "paje.trace"), path("out", "activity.data")
    for name, text in (("starpu_paje_state_stats", "5:1"),
                       ("starpu_paje_draw_histogram", "nan:1"),
                       ("starpu_paje_summary", "1")):
        assert text in run(name, "-r", text, trace, code=3).stderr, (name, text)
    for words in (("5", "1"), ("0", "nan")):
        said = run("starpu_workers_activity", activity, *words, code=2).stderr
        assert "START" in said, said
    said = run("starpu_workers_activity", activity, "1e6", "2e6", code=1).stderr
    assert "between" in said and "gnuplot" not in said, said
    for text in "-3", "nan":
        said = run("starpu_trace_state_stats.py", "-e", "-s", text,
                   path("out", "trace.rec"), code=2).stderr
        assert "-s takes ms" in said, said


@test
def states_that_are_not_there_are_named():
    trace = path("out", "paje.trace")
    for name in ("starpu_paje_state_stats", "starpu_paje_draw_histogram",
                 "starpu_paje_summary"):
        said = run(name, "-n", "gpu,nonsense", trace, code=1).stderr
        assert "nonsense" in said and "gpu" in said, said


@test
def files_without_anything_are_said_to_be_so():
    with open(path("nothing"), "w", encoding="utf-8"):
        pass
    for name in "starpu_codelet_histo_profile", "starpu_trace_state_stats.py":
        said = run(name, path("nothing"), code=1)
        assert "nothing" in said.stderr and not said.stdout, (name, said)
    said = run("starpu_codelet_profile", path("nothing"), "x", code=1).stderr
    assert "there are none" in said, said
    assert "directory" in run("starpu_tasks_rec_complete", TOP.name, code=1).stderr


@test
def activity_is_shares_of_time():
    rows = [line.split("\t") for line in
            text_of("out", "activity.data").splitlines()]
    slices = [list(map(float, row[1:])) for row in rows if row[0].isdigit()]
    assert slices
    for _, elapsed, execute, sleep in slices:
        assert -1e-9 <= execute and -1e-9 <= sleep, (execute, sleep)
        assert execute + sleep <= elapsed + 1e-6, (elapsed, execute, sleep)
    assert abs(sum(row[2] for row in slices) - busy_ms()) < 1e-3
    counts = [int(row[2]) for row in rows if row[0] == "cnt_submitted"]
    assert max(counts) > 1 and min(counts) == counts[-1] == 0


@test
def estimations_are_those_of_the_model():
    made = load_models()
    made.write(path("models"), made.models())
    row = made.models()["gemm"][0]["impls"][0]["rows"][0]
    footprint = "%x" % row["hash"]
    means = {"%e" % other["mean"] for comb in made.models()["gemm"]
             for other in comb["impls"][0]["rows"] if other["hash"] == row["hash"]}
    text = (f"Name: a\nModel: gemm\nFootprint: {footprint}\n\nName: b\nJobId: 2\n\n"
            f"Name: c\nModel: gemm\nFootprint: {footprint}\nEstimatedTime: 1\n\n")
    done = run("starpu_tasks_rec_complete", stdin=text, env={
        "STARPU_PERF_MODEL_DIR": path("models"), "STARPU_HOSTNAME": "testbox",
        "STARPU_NCPU": "2"})
    first, second, third = records(done.stdout)
    estimates = first["EstimatedTime"].split()
    assert len(estimates) == 2 and set(estimates) <= means, (estimates, means)
    assert "EstimatedTime" not in second and third["EstimatedTime"] == "1"
    assert [line for line in done.stdout.splitlines()
            if not line.startswith("EstimatedTime: ") or line.endswith(" 1")] == \
        text.splitlines()


@test
def incomplete_records_are_refused():
    for text, said in (("Model: nowhere\n\n", "nowhere"), ("no field\n", ":1:"),
                       ("Name: " + "x" * 2000 + "\n", "1022")):
        with open(path("kept.rec"), "w", encoding="utf-8") as file:
            file.write("old")
        with open(path("in.rec"), "w", encoding="utf-8") as file:
            file.write(text)
        done = run("starpu_tasks_rec_complete", path("in.rec"), path("kept.rec"),
                   code=1)
        assert said in done.stderr, done.stderr
        assert text_of("kept.rec") == "old"


@test
def policies_are_those_of_the_library():
    names = run("starpu_sched_display").stdout.split()
    assert {"eager", "lws", "dmda", "dmdas", "heteroprio"} <= set(names)
    assert len(names) == len(set(names)) > 20
    done = subprocess.run([ORRERY, "run", "-s", "no-such-policy", "--", CULPRIT, "chain",
                           "1"], env=ENV, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    known = done.stdout.split("known are ")[1].split("\n")[0]
    assert names == known.split(", "), known


@test
def the_configuration_is_that_of_the_header():
    lines = run("starpu_config").stdout.splitlines()
    assert lines[0].startswith("processing ") and lines[1:] == sorted(lines[1:])
    assert any(re.match(r"#define STARPU_MAJOR_VERSION +1", line) for line in lines)
    named = run("starpu_config", "STARPU_MAXCUDADEVS").stdout.splitlines()[1:]
    with open(os.path.join(INCLUDE, "starpu_config.h"), encoding="utf-8") as file:
        assert named == [line.rstrip("\n") for line in file
                         if "STARPU_MAXCUDADEVS" in line and line[0] == "#"]
    run("starpu_config", "-x", code=2)


@test
def an_environment_needs_an_installation():
    def source(prefix):
        return subprocess.run(
            ["sh", "-c", f'set -- -d "{prefix}"; . "{FOLDER}/starpu_env"; '
             'echo "ROOT=${STARPU_ROOT-}"; echo "PATH=$PATH"'], env=ENV,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
            encoding="utf-8").stdout

    assert "[Error]" in source(path("nowhere")) and \
        "ROOT=\n" in source(path("nowhere"))
    with open(os.path.join(FOLDER, "starpu_env"), encoding="utf-8") as file:
        libdir = re.search(r"starpu_env_libdir=\$starpu_env_prefix/(.*)",
                           file.read())[1]
    for name in ("bin/starpu_machine_display", libdir + "/pkgconfig/libstarpu.pc",
                 "share/x"):
        os.makedirs(os.path.dirname(path("prefix", name)), exist_ok=True)
        open(path("prefix", name), "w", encoding="utf-8").close()
    said = source(path("prefix"))
    assert f"ROOT={path('prefix')}\n" in said and \
        f"PATH={path('prefix')}/bin:" in said, said
    # A shell that says where the file lies needs no prefix.
    shutil.copy(path_of("starpu_env"), path("prefix", "bin"))
    for shell in "bash", "zsh":
        if shutil.which(shell):
            said = subprocess.run(
                [shell, "-c", '. prefix/bin/starpu_env; echo "ROOT=$STARPU_ROOT"'],
                env=ENV, cwd=TOP.name, stdout=subprocess.PIPE, check=True,
                stderr=subprocess.STDOUT, encoding="utf-8").stdout
            assert f"ROOT={path('prefix')}\n" in said, (shell, said)
    assert "must source it" in run("starpu_env", code=2).stderr


@test
def messages_wait_until_their_data_are_used():
    os.makedirs(path("mpi"))
    with open(path("mpi", "tasks.rec"), "w", encoding="utf-8") as file:
        file.write("Name: c\nWorkerId: 2\nStartTime: 9.0\nHandles: a1\nMPIRank: 1\n\n"
                   "Name: a\nWorkerId: 0\nStartTime: 5.0\nHandles: a1 b2\nMPIRank: 1\n\n"
                   "Name: b\nWorkerId: 1\nStartTime: 1.0\nHandles: a1\nMPIRank: 1\n\n")
    with open(path("mpi", "comms.rec"), "w", encoding="utf-8") as file:
        file.write("Src: 0\nDst: 1\nSendTime: 1.0\nRecvTime: 2.0\nSendHandle: a0\n"
                   "RecvHandle: a1\n\n")
    gnuplot()
    said = run("starpu_send_recv_data_use.py", path("mpi")).stdout
    assert "recv_use.png: 1 of 1" in said and "send_use.png: 0 of 1" in said, said
    assert "recv_use.png: from 3.000 to 3.000 ms" in said, said
    with open(path("mpi", "recv_use.png"), "rb") as file:
        assert file.read(4) == b"\x89PNG"
    assert "comms.rec" in run("starpu_send_recv_data_use.py", path("out"),
                              code=1).stderr


@test
def the_products_that_explain_durations_are_found():
    with open(path("gemm.out"), "w", encoding="utf-8") as file:
        file.write("Duration, M, N, K\n")
        for m in (8, 16, 24):
            for n in (8, 20, 32):
                for k in (8, 12, 40):
                    noise = 1 + 0.001 * ((m + 3 * n + 7 * k) % 5 - 2)
                    file.write(f"{(5 + 0.002 * m * n * k + 0.1 * m) * noise}, "
                               f"{m}, {n}, {k}\n")
    said = run("starpu_mlr_analysis", path("gemm.out")).stdout
    found = re.findall(r"^[\d.]+  (.*)$", said, re.M)
    assert found[0] == "M N K" and "M" in found, said
    assert "model.combinations[0][2] = 1;" in said, said
    assert float(re.findall(r"^(0\.\d+|1\.0+)  ", said, re.M)[-1]) > 0.999, said
    run("starpu_mlr_analysis", path("missing.out"), code=5)
    run("starpu_mlr_analysis", path("out", "tasks.rec"), code=1)


@test
def products_of_many_parameters_are_found():
    """There are 65,535 products of eight."""
    chance = random.Random(2)
    with open(path("many.out"), "w", encoding="utf-8") as file:
        file.write("Duration, A, B, C, D, E, F, G, H")
        for _ in range(150):
            at = [chance.randint(1, 60) for _ in range(8)]
            us = 10 + 0.0005 * at[0] * at[2] * at[3] * at[6] + 3 * at[4] ** 2
            file.write("\n" + ", ".join(
                map(str, [us * chance.gauss(1, 0.01), *at])))
    said = run("starpu_mlr_analysis", path("many.out")).stdout
    found = re.findall(r"^[\d.]+  (.*)$", said, re.M)
    assert found[:2] == ["E^2", "A C D G"], said # noise may be taken for a third


@test
def measures_that_something_disturbed_are_left_out():
    chance = random.Random(1)
    with open(path("disturbed.out"), "w", encoding="utf-8") as file:
        file.write("Duration, M, N, threads")
        for m in range(10, 60, 7):
            for n in range(10, 60, 9):
                for threads in (1, 2, 4):
                    us = 100 + 2 * m * n * chance.gauss(1, 0.02)
                    if (m, n, threads) in ((17, 28, 2), (45, 10, 4)):
                        us *= 90
                    file.write(f"\n{us:f}, {m:f}, {n:f}, {threads:f}")
    said = run("starpu_mlr_analysis", path("disturbed.out")).stdout
    assert "\n2 of them took more than five times" in said, said
    assert re.findall(r"^[\d.]+  (.*)$", said, re.M) == ["M N"], said
    with open(path("chance.out"), "w", encoding="utf-8") as file:
        file.write("Duration, M")
        for m in range(50):
            file.write(f"\n{chance.gauss(100, 3)}, {m % 10}")
    said = run("starpu_mlr_analysis", path("chance.out")).stdout
    assert "model.ncombinations = 0;" in said, said


@test
def options_that_are_not_there_are_named():
    """They are no files that are not there."""
    for name, code in (
            ("starpu_codelet_profile", 2), ("starpu_codelet_histo_profile", 2),
            ("starpu_mlr_analysis", 2), ("starpu_paje_sort", 2),
            ("starpu_paje_summary", 3), ("starpu_paje_state_stats", 3),
            ("starpu_paje_draw_histogram", 3), ("starpu_workers_activity", 2),
            ("starpu_send_recv_data_use.py", 2), ("starpu_trace_state_stats.py", 2),
            ("starpu_tasks_rec_complete", 2), ("starpu_replay", 2),
            ("starpu_perfmodel_recdump", 2), ("starpu_perfmodel_plot", 2),
            ("starpu_perfmodel_display", 2), ("starpu_machine_display", 2),
            ("starpu_lp2paje", 2), ("starpu_sched_display", 2),
            ("starpu_calibrate_bus", 2), ("starpu_config", 2), ("starpu_fxt_tool", 77)):
        said = run(name, "--bogus", code=code)
        assert "--bogus" in said.stderr and "--help" in said.stderr, (name, said.stderr)
        assert "No such file" not in said.stderr and not said.stdout, (name, said)


@test
def output_that_cannot_be_written_is_a_failure():
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    names = [name for name in os.listdir(FOLDER) if name.startswith("starpu_") and
             os.access(path_of(name), os.X_OK) and os.path.isfile(path_of(name))]
    assert len(names) > 20, names
    for words in [(name, option) for name in names for option in ("--help", "--version")] + \
            [("starpu_config",), ("starpu_config", "STARPU_MAXNODES"),
             ("starpu_sched_display",), ("starpu_machine_display", "-c")]:
        with open("/dev/full", "wb") as full:
            done = subprocess.run([path_of(words[0]), *words[1:]], env=ENV, timeout=100,
                                  stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 1 and done.stderr, (words, done)


@test
def what_is_no_trace_is_said():
    with open(path("prof_file_me_0"), "wb") as file:
        file.write(b"\x01\x02FxT")
    for words, code, text in (
            ((), 77, "-i FILE.csv"), (("-i", path("prof_file_me_0")), 1, "ORRERY_TRACE"),
            (("-i", path("no.csv")), 1, "No such file"), (("-x",), 77, "-x"),
            (("-i", path("run.csv"), "-d", path("run.csv", "x")), 1, "run.csv")):
        said = run("starpu_fxt_tool", *words, code=code).stderr
        assert text in said and "Traceback" not in said, said
    # Bytes that are no text, wherever a file is read.
    with open(path("bytes"), "wb") as file:
        file.write(bytes(range(128, 256)) * 9 + b"\n\xff\t\xfe\t\xfd\t1\t1\n")
    for name, *words in (("starpu_fxt_tool", "-i"), ("starpu_mlr_analysis",),
                         ("starpu_codelet_histo_profile",), ("starpu_workers_activity",),
                         ("starpu_trace_state_stats.py",), ("starpu_paje_sort",),
                         ("starpu_paje_state_stats",)):
        said = run(name, *words, path("bytes"), code=1).stderr
        assert "bytes" in said and "Traceback" not in said, (name, said)
    with open(path("cut.csv"), "w", encoding="utf-8") as file:
        file.write(text_of("run.csv")[:-40])
    said = run("starpu_fxt_tool", "-i", path("cut.csv"), code=1).stderr
    assert "no record of a trace" in said, said


sys.exit(run_all())

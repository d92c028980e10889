#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traces in formats beside Pajé, read again by readers of others: JSON and CSV
by Python, DOT by Graphviz where it is. Totals are those of the report. TAP.

usage: test-trace-formats.py ORRERY ODD_TASKS WAITING_TASKS SIMULATES
"""
import bisect
import collections
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402

if len(sys.argv) != 5:
    sys.exit(__doc__.strip())
ORRERY, ODD_TASKS, WAITING_TASKS = map(os.path.abspath, sys.argv[1:4])
SIMULATES = sys.argv[4] == "1"
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
GPUS = "h100-pcie-4"


def without_their_handlers(env):
    """Sanitizers handle crashes themselves."""
    for name in "ASAN_OPTIONS", "TSAN_OPTIONS":
        env[name] = env.get(name, "") + ":handle_segv=0:handle_abort=0"


class Traced:
    """A program run by orrery trace; its report, the text of its trace."""

    def __init__(self, extension, *words, machine=GPUS, options=(), policy="dmda"):
        if machine and not SIMULATES:
            raise Skip("this build does not simulate")
        folder = tempfile.mkdtemp(dir=TOP.name)
        self.path = os.path.join(folder, "run." + extension)
        env = {name: value for name, value in os.environ.items()
               if not name.startswith("STARPU_") and
               name not in ("ORRERY_MACHINE", "ORRERY_CHECK_BOUNDS")}
        env.update(STARPU_HOME=folder, STARPU_SILENT="1", LC_ALL="C.UTF-8",
                   STARPU_PERF_MODEL_DIR=os.path.join(folder, "models"),
                   ORRERY_ASSUME="kernel[*] = 100us")
        without_their_handlers(env)
        self.done = subprocess.run(
            [ORRERY, "trace", *(("-m", machine) if machine else ()), "-s",
             policy, "--json", "-o", self.path, *options, "--", ODD_TASKS,
             *words], env=env, stdin=subprocess.DEVNULL, timeout=200,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.err = self.done.stderr.decode("utf-8", "replace")
        self.report = json.loads(self.done.stdout) if self.done.stdout else {}

    def text(self):
        with open(self.path, encoding="utf-8") as file: # strict
            return file.read()

    def events(self):
        return json.loads(self.text())["traceEvents"]

    def rows(self):
        with open(self.path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, strict=True))


def busy(report):
    return sum(worker["busy_us"] for worker in report["workers"])


def near(a, b):
    return abs(a - b) <= 1e-6 * abs(b) + 0.05


@test
def json_has_the_totals_of_the_report():
    ran = Traced("json", "plain", "30")
    assert ran.done.returncode == 0, ran.err
    tasks = [e for e in ran.events() if e.get("cat") == "task"]
    copies = [e for e in ran.events() if e["ph"] == "X" and e["pid"] == 2]
    assert len(tasks) == ran.report["tasks"] == 30, len(tasks)
    assert near(sum(e["dur"] for e in tasks), busy(ran.report))
    assert len(copies) == ran.report["transfers"] > 0, len(copies)
    assert (sum(e["args"]["bytes"] for e in copies) ==
            ran.report["transferred_bytes"])


@test
def json_slices_of_a_track_never_overlap():
    for words in (("plain", "300"), ("names",)):
        tracks = {}
        for event in Traced("json", *words).events():
            if event["ph"] == "X":
                tracks.setdefault((event["pid"], event["tid"]), []).append(
                    (event["ts"], event["ts"] + event["dur"]))
        assert len(tracks) > 3
        for slices in tracks.values():
            slices.sort()
            for (_, end), (start, _) in zip(slices, slices[1:]):
                assert start >= end - 0.0021, (end, start)


@test
def json_arrows_join_slices_in_order_of_time():
    events = Traced("json", "plain", "30").events()
    slices = {}
    for e in events:
        if e["ph"] == "X":
            slices.setdefault((e["pid"], e["tid"]), []).append(e)
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    kinds = {e["cat"] for e in begins.values()}
    assert begins.keys() == ends.keys() and begins
    assert kinds == {"dependency", "transfer"}, kinds
    for number, end in ends.items():
        for e in (begins[number], end):
            assert any(s["ts"] - 0.002 <= e["ts"] <= s["ts"] + s["dur"] + 0.002
                       for s in slices[e["pid"], e["tid"]]), e
        assert begins[number]["ts"] <= end["ts"], end


@test
def steals_are_in_each_format():
    for policy in ("lws", "ws", "modular-ws"):
        ran = Traced("csv", "readers", "40", policy=policy)
        assert ran.done.returncode == 0, ran.err
        names = {row["worker"]: row["name"] for row in ran.rows()
                 if row["record"] == "worker"}
        ran_on = {row["job"]: row["worker"] for row in ran.rows()
                  if row["record"] == "task"}
        steals = [(row["job"], names[row["worker"]], names[row["from"]])
                  for row in ran.rows() if row["record"] == "steal"]
        assert steals, policy
        for job, thief, victim in steals:
            assert thief != victim and names[ran_on[job]] == thief, (
                policy, job, thief, victim)
        events = Traced("json", "readers", "40", policy=policy).events()
        threads = {e["tid"]: e["args"]["name"] for e in events
                   if e["name"] == "thread_name" and e["pid"] == 1}
        assert [(str(e["args"]["job"]), threads[e["tid"]], e["args"]["from"])
                for e in events if e.get("cat") == "steal"] == steals
        lines = [line.split("\t") for line in
                 Traced("paje", "readers", "40", policy=policy).text().splitlines()]
        links = [line for line in lines if len(line) > 5 and line[2] == "WSL" and
                 line[0] in ("18", "19")]
        assert [(begin[4], end[5], begin[5]) for begin, end in zip(
            links[::2], links[1::2])] == [
                (job, "w%d" % list(names.values()).index(thief),
                 "w%d" % list(names.values()).index(victim))
                for job, thief, victim in steals], policy
    assert not [row for row in Traced("csv", "readers", "40", policy="eager").rows()
                if row["record"] == "steal"]


@test
def json_counters_have_one_value_per_moment():
    seen = set()
    for e in Traced("json", "plain", "300").events():
        if e["ph"] == "C":
            key = e["pid"], e["name"], e["ts"]
            assert key not in seen, key
            seen.add(key)
    assert len({key[1] for key in seen}) >= 3, seen


@test
def json_counters_end_at_zero():
    last = {}
    for event in Traced("json", "plain", "30").events():
        if event["ph"] == "C":
            last[event["name"]] = event["args"]
    assert last["ready tasks"] == {"tasks": 0}, last
    assert last["submitted tasks"] == {"tasks": 0}, last
    assert any(name.endswith(" used") for name in last), last


@test
def csv_has_the_totals_of_the_report():
    ran = Traced("csv", "plain", "30")
    rows = ran.rows()
    tasks = [row for row in rows if row["record"] == "task"]
    copies = [row for row in rows if row["record"] == "copy"]
    assert all(None not in row and None not in row.values() for row in rows)
    assert len(tasks) == 30
    assert near(1000 * sum(float(row["end_ms"]) - float(row["start_ms"])
                           for row in tasks), busy(ran.report))
    assert (sum(int(row["bytes"]) for row in copies) ==
            ran.report["transferred_bytes"])
    assert ([row["name"] for row in rows if row["record"] == "worker"] ==
            [w["name"].split(" (")[0].replace("CUDA ", "CUDA").replace(
                ".", "_").replace("CPU ", "CPU")
             for w in ran.report["workers"]])


@test
def csv_says_when_each_task_was_submitted_ready_and_taken():
    rows = Traced("csv", "plain", "30").rows()
    when = {}
    for row in rows:
        if row["record"] in ("submitted", "ready") and row["job"]:
            when[row["record"] + row["change"], row["job"]] = float(
                row["start_ms"])
    for row in rows:
        if row["record"] == "task":
            steps = [when["submitted1", row["job"]],
                     when["ready1", row["job"]], when["ready-1", row["job"]],
                     float(row["start_ms"])]
            assert steps == sorted(steps), steps


@test
def iterations_of_the_program_are_in_json_csv_and_paje():
    expected = {("waits", "100", ""), ("waits", "101", ""),
                ("gamma", "100", "7"), ("gamma", "101", "7"), ("beta", "", "")}
    found = {(e["name"], str(e["args"].get("iteration", "")),
              str(e["args"].get("subiteration", "")))
             for e in Traced("json", "loops", "2", machine="laptop-8").events()
             if e.get("cat") == "task" and e["name"] != "alpha"}
    assert found == expected, found
    found = {(row["name"], row["iteration"], row["subiteration"])
             for row in Traced("csv", "loops", "2", machine="laptop-8").rows()
             if row["record"] == "task" and row["name"] != "alpha"}
    assert found == expected, found
    found = {tuple(line.split("\t")[n].strip('"') for n in (4, 15, 16))
             for line in Traced("paje", "loops", "2",
                                machine="laptop-8").text().split("\n")
             if line.startswith("20\t") and '"alpha"' not in line}
    assert found == {(name, outer or "0", inner or "-1")
                     for name, outer, inner in expected}, found


@test
def what_a_worker_does_while_its_kernels_wait_is_shown():
    rows = Traced("csv", "loops", "1", machine="laptop-8").rows()
    outer, inner = ([row for row in rows if row["name"] == name]
                    for name in ("waits", "alpha"))
    waited = [row for row in rows if row["record"] == "suspended"]
    assert len(outer) == len(inner) == 1
    assert {row["job"] for row in waited} == {outer[0]["job"]}, waited
    assert {row["worker"] for row in waited} == {outer[0]["worker"]} == {"0"}
    # The one that it waits for is on another worker and takes 100 us.
    start, end = (float(waited[-1][name]) for name in ("start_ms", "end_ms"))
    assert float(outer[0]["start_ms"]) <= start and end <= float(
        outer[0]["end_ms"])
    assert start < float(inner[0]["end_ms"])
    assert end >= float(inner[0]["end_ms"])
    assert any(row["kind"] == "suspended" and row["worker"] == "0" and
               start <= float(row["start_ms"]) < end for row in rows), rows
    slices = [e for e in Traced("json", "loops", "1",
                                machine="laptop-8").events()
              if e["ph"] == "X" and e["name"] == "suspended"]
    assert slices and all(e["cat"] == "state" for e in slices)
    lines = Traced("paje", "loops", "1",
                   machine="laptop-8").text().split("\n")
    shown = [line.split("\t") for line in lines if line[:3] in ("10\t", "20\t")]
    shown = [line[4].strip('"') for line in shown if line[2] == "w0"]
    assert '6\tSp\tWS\t"Suspended"' in "\n".join(lines)
    # The task, nothing to do (gamma is in between or not), and the task again.
    first = shown.index("waits")
    assert "Sp" in shown[first:], shown
    assert "waits" in shown[shown.index("Sp"):], shown


@test
def traces_without_waiting_kernels_have_no_such_state():
    assert "Suspended" not in Traced("paje", "plain", "30").text()


@test
def odd_names_are_read_again():
    names = {e["name"] for e in Traced("json", "names").events()
             if e.get("cat") == "task"}
    assert {'say "hello"', "\u00e9t\u00e9 \u20ac",
            "100 % `ls` $HOME \\", "a,b;c", "?? broken"} <= names, names
    names = {row["name"] for row in Traced("csv", "names").rows()
             if row["record"] == "task"}
    assert {'say "hello"', "two lines", "a,b;c", "?? broken"} <= names, names


LIST = r"\S+(?: \S+)*"
NUMBER, HEX, MS = r"-?\d+", "[0-9a-f]+", r"\d+\.\d{6}"
# Of the files that StarVZ and recutils read: each field in its place, and what it is; "?"
# behind the name of one that may lack.
RECORDS = {
    "tasks.rec": [
        ("Name?", ".*"), ("Model?", ".*"), ("JobId", r"\d+"), ("SubmitOrder?", r"[1-9]\d*"),
        ("Priority", NUMBER), ("DependsOn?", r"\d+(?: \d+)*"), ("Tag", HEX),
        ("WorkerId?", r"\d+"), ("MemoryNode?", r"\d+"), ("SubmitTime?", MS),
        ("StartTime?", MS), ("EndTime?", MS), ("Footprint", HEX), ("GFlop?", MS),
        ("Iteration?", r"-?\d+(?: -?\d+)?"), ("Handles?", f"{HEX}(?: {HEX})*"),
        ("Modes?", "[RWSXC]+(?: [RWSXC]+)*"), ("Sizes?", r"\d+(?: \d+)*"),
        ("NumaNodes?", "-1(?: -1)*"), ("MPIRank", "-1")],
    "data.rec": [
        ("Handle", HEX), ("HomeNode", NUMBER), ("MPIRank?", NUMBER), ("Name?", ".*"),
        ("Size", r"\d+"), ("MaxSize?", r"\d+"), ("Description?", ".*"),
        ("Coordinates?", LIST)],
    "sched.rec": [
        ("SubmitOrder", r"\d+"), ("Priority?", NUMBER), ("SpecificWorker?", r"\d+"),
        ("Workers?", r"\d+(?: \d+)*"), ("DependsOn?", r"\d+(?: \d+)*"),
        ("MemoryNode?", r"\d+"), ("Parameters?", r"\d+"), ("Workerorder?", r"\d+")],
}


def check_record(record, fields):
    """Its lines are those fields, in that order, and of parallel lists as long."""
    lines, at = [line.partition(": ") for line in record.split("\n")], 0
    for name, wanted in fields:
        if at < len(lines) and lines[at][0] == name.rstrip("?"):
            assert re.fullmatch(wanted, lines[at][2].strip()), (lines[at], wanted)
            at += 1
        else:
            assert name.endswith("?"), (name, record)
    assert at == len(lines), (lines[at:], record)
    lengths = {len(value.split()) for name, _, value in lines
               if name in ("Handles", "Modes", "Sizes", "NumaNodes")}
    assert len(lengths) <= 1, record


@test
def records_have_the_fields_that_are_described():
    for words in (("plain", "30"), ("names",)):
        ran = Traced("tasks.rec", *words)
        for name, fields in RECORDS.items():
            with open(ran.path[:-len("tasks.rec")] + name, encoding="latin-1") as file:
                text = file.read()
            assert text.endswith("\n\n"), text[-80:]
            records = [part for part in text[:-2].split("\n\n")
                       if not part.startswith("%")]
            assert records, name
            for record in records:
                if not record.startswith("Control:"):
                    check_record("\n".join(line for line in record.split("\n")
                                           if line[:1] not in "#%"), fields)


@test
def large_graphs_ask_graphviz_to_hurry():
    for count, hurries in ("30", False), ("400", True):
        ran = Traced("dot", "plain", count)
        text = ran.text()
        assert ("nslimit=0.5" in text and "splines=line" in text) == hurries, text[:200]
        if shutil.which("gc"): # Graphviz', without a layout
            done = subprocess.run(["gc", "-n", ran.path], check=True,
                                  stdout=subprocess.PIPE, encoding="utf-8")
            assert done.stdout.split()[0] == count, done


@test
def dot_has_a_node_per_task_and_an_edge_per_dependency():
    ran = Traced("dot", "plain", "30")
    text = ran.text()
    assert len(re.findall(r'^"task_\d+" \[', text, re.M)) == 30, text
    # Each datum of four is written by every fourth task.
    assert len(re.findall(r'^"task_\d+"->"task_\d+"', text, re.M)) == 26, text
    if shutil.which("dot"):
        plain = subprocess.run(["dot", "-Tplain", ran.path], check=True,
                               stdout=subprocess.PIPE, encoding="utf-8").stdout
        assert len(re.findall("^node ", plain, re.M)) == 30
        assert len(re.findall("^edge ", plain, re.M)) == 26


@test
def real_runs_are_written_too():
    for extension in "json", "csv", "dot":
        ran = Traced(extension, "plain", "30", machine=None)
        assert ran.done.returncode == 0, ran.err
        assert ran.text().count("alpha") >= 10, ran.text()


@test
def interrupted_runs_leave_what_they_had_done():
    for machine in (None, GPUS) if SIMULATES else (None,):
        for extension, task in (("csv", "\ntask,"), ("json", '"cat":"task"'),
                                ("paje", "\n20\t")):
            ran = Traced(extension, "interrupted", machine=machine)
            assert ran.done.returncode == 130, (machine, ran.err)
            assert ran.text().replace(": ", ":").count(task) == 20, (machine, extension)
    path = os.path.join(TOP.name, "none.csv")
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_"))}
    done = subprocess.run([ODD_TASKS, "interrupted"], check=False, timeout=100,
                          env=dict(env, ORRERY_TRACE=path, STARPU_CATCH_SIGNALS="0"))
    assert done.returncode == -signal.SIGINT and not os.path.exists(path), done


@test
def real_runs_that_end_early_are_explained_and_shown():
    """With the graph of what was submitted until then."""
    for number, words in ((signal.SIGINT, ("interrupted",)),
                          (signal.SIGABRT, ("crash", str(int(signal.SIGABRT)))),
                          (signal.SIGSEGV, ("crash", str(int(signal.SIGSEGV))))):
        graph = os.path.join(TOP.name, words[0] + words[-1] + ".graph")
        ran = Traced("csv", *words, machine=None, options=("--graph", graph))
        assert ran.done.returncode == 128 + number, (words, ran.err)
        with open(graph, encoding="utf-8") as file:
            tasks = sum(line.startswith("task ") for line in file)
        assert tasks == 20 + (number != signal.SIGINT), (words, tasks)
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("STARPU_", "ORRERY_"))}
        without_their_handlers(env)
        page = os.path.join(TOP.name, "early.html")
        for command in (["explain", "--graph", graph, "--json", ran.path],
                        ["report", "--graph", graph, "--json", "-o", page, ran.path]):
            done = subprocess.run([ORRERY, *command], env=env, timeout=200, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if b"node-d3" in done.stderr: # a build without the page
                continue
            assert done.returncode == 0, (words, done)
            said = json.loads(done.stdout)
            if command[0] == "explain":
                assert said["tasks_left"] == tasks - 20 and not done.stderr, (words, done)
        done = subprocess.run([ORRERY, "explain", "--json", "--", ODD_TASKS, *words],
                              env=env, timeout=200, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        assert done.returncode == 128 + number, (words, done)
        assert json.loads(done.stdout)["tasks_left"] == tasks - 20, (words, done)


@test
def a_run_without_tasks_gives_files_that_can_be_read():
    for extension in "json", "csv", "dot":
        path = os.path.join(TOP.name, "none." + extension)
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("STARPU_", "ORRERY_"))}
        subprocess.run([ODD_TASKS, "none"], check=True, timeout=100,
                       env=dict(env, ORRERY_TRACE=path))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if extension == "json":
            json.loads(text)
        assert text.count("{") == text.count("}"), text


# Files that are written with one of that extension, which comes first.
COMPANIONS = {"tasks.rec": ("tasks.rec", "data.rec", "sched.rec")}


def in_all_ways(program, words, extension, **more):
    """What a program writes to a trace on one processor; on two, where a second thread
    writes it beside the run; and to a pipe; and what it says on stderr each time."""
    extensions = COMPANIONS.get(extension, (extension,))
    if not SIMULATES:
        raise Skip("this build does not simulate")
    some = sorted(os.sched_getaffinity(0))
    if len(some) < 2:
        raise Skip("there is one processor")
    folder = tempfile.mkdtemp(dir=TOP.name)
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("STARPU_") and name != "ORRERY_CHECK_BOUNDS"}
    env.update(STARPU_HOME=folder, STARPU_SILENT="1", ORRERY_MACHINE=GPUS,
               STARPU_SCHED="dmda", ORRERY_ASSUME="kernel[*] = 100us", **more)
    written, said = [], []
    for name, processors in ("one", some[:1]), ("two", some[:2]), ("pipe", some[:2]):
        path = os.path.join(folder, f"{name}.{extension}")
        if name == "pipe":
            os.symlink("/dev/stdout", path)
        done = subprocess.run(
            [program, *words], env=dict(env, ORRERY_TRACE=path),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=200, check=True,
            preexec_fn=lambda on=processors: os.sched_setaffinity(0, on))
        said.append(done.stderr)
        written.append(b"")
        for part in extensions:
            if name == "pipe" and part == extension:
                written[-1] += done.stdout
                continue
            with open(os.path.join(folder, f"{name}.{part}"), "rb") as file:
                written[-1] += file.read()
    assert sorted(os.listdir(folder)) == sorted(
        f"{name}.{part}" for name in ("one", "two", "pipe")
        for part in extensions), os.listdir(folder)
    return written, said


@test
def a_trace_written_beside_the_run_is_the_one_written_at_its_end():
    """A second processor writes the trace of a long simulation while that goes on."""
    for extension in "csv", "paje", "json", "dot", "tasks.rec":
        written, _ = in_all_ways(ODD_TASKS, ("plain", "4000"), extension)
        assert written[0] == written[1] == written[2], extension
        assert written[0].count(b"\n") > 7000, extension
    written, _ = in_all_ways(ODD_TASKS, ("advised", "4000"), "tasks.rec")
    assert written[0] == written[1] == written[2]
    assert written[0].count(b"\nControl: WontUse\n") == 400


def edges_of_graph(path):
    """(before, after, whether tags say so) of a file of ORRERY_GRAPH, by jobs."""
    jobs, found = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and words[0] == "task":
                jobs.append(words[2])
            elif words and words[0] == "after":
                found.append((int(words[1]), len(jobs) - 1, "tag" in words[3:]))
    return sorted((jobs[before], jobs[after], tag) for before, after, tag in found)


@test
def json_has_the_colours_that_the_program_gave():
    colours = [e["args"].get("color") for e in Traced("json", "names").events()
               if e.get("cat") == "task"]
    assert "#ff0000" in colours and "#ffffff" in colours and None in colours, colours


@test
def so_have_csv_and_dot():
    in_json = collections.Counter(
        (e["args"]["job"], e["args"].get("color", "")) for e in
        Traced("json", "names").events() if e.get("cat") == "task")
    in_csv = collections.Counter((int(row["job"]), row["color"]) for row in
                                 Traced("csv", "names").rows()
                                 if row["record"] == "task")
    assert in_csv == in_json, (in_csv, in_json)
    for options in (), ("--graph", os.path.join(TOP.name, "colours.graph")):
        found = dict(re.findall(r'^"task_(\d+)" \[.* fillcolor="(#[0-9a-f]{6})"',
                                Traced("dot", "names", options=options).text(), re.M))
        given = {str(job): colour for job, colour in in_json if colour}
        assert given and given == {job: found[job] for job in given}, (found, given)
        assert set(found.values()) - set(given.values()) <= {"#fdd49e", "#c7e9c0"}, found


def edges_of_dot(text):
    return sorted((before, after, style == " [style=dashed]") for before, after, style in
                  re.findall(r'^"task_(\d+)"->"task_(\d+)"(.*)$', text, re.M))


def edges_of_json(text):
    """(before, after) of the arrows between tasks: by the slices that they bind to."""
    events = json.loads(text)["traceEvents"]
    slices = {}
    for e in events:
        if e.get("cat") == "task":
            slices.setdefault(e["tid"], []).append((e["ts"], str(e["args"]["job"])))
    for starts in slices.values():
        starts.sort(key=lambda item: item[0])
    ends = {"s": {}, "f": {}}
    for e in events:
        if e["ph"] in ends and e["cat"] == "dependency":
            starts = slices[e["tid"]]
            at = bisect.bisect_right(starts, e["ts"], key=lambda item: item[0])
            assert e["id"] not in ends[e["ph"]], e
            ends[e["ph"]][e["id"]] = starts[at - 1][1]
    assert ends["s"].keys() == ends["f"].keys()
    return sorted((job, ends["f"][number]) for number, job in ends["s"].items())


def claim_waits(kind, seed):
    """What tasks wait for is the same in all, whether that is known when they are
    submitted or not."""
    def function():
        for extension in "json", "dot", "tasks.rec":
            folder = tempfile.mkdtemp(dir=TOP.name)
            graph = os.path.join(folder, "graph") # has another record
            written, said = in_all_ways(WAITING_TASKS, (kind, str(seed), "700"),
                                        extension, ORRERY_GRAPH=graph)
            assert written[0] == written[1] == written[2], extension
            assert written[0].count(b"\n") > 1000, extension
            assert int(said[1]) == int(said[0]) + 1 == int(said[2]) + 1, said
            if extension == "dot":
                edges = edges_of_graph(graph)
                assert edges == edges_of_dot(written[0].decode()) and len(edges) > 900
            elif extension == "json":
                arrows = edges_of_json(written[0])
                edges = edges_of_graph(graph)
                tasks = {job for _, job in arrows} | {job for job, _ in arrows}
                assert arrows == sorted((before, after) for before, after, _ in edges
                                        if {before, after} <= tasks), kind
                assert len(arrows) > 900 or kind == "wide", len(arrows)

    function.__name__ = f"written beside the run, what tasks wait for is right: {kind} {seed}"
    test(function)


for number, waiting in enumerate(("plain", "tags", "late", "joins", "wide")):
    claim_waits(waiting, number)


@test
def links_stay_links_and_open_files_are_written_in_place():
    """A trace goes where a link leads; to standard output behind what is there."""
    folder = tempfile.mkdtemp(dir=TOP.name)
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_"))}
    env.update(STARPU_HOME=folder, STARPU_SILENT="1")
    target, link, out = (os.path.join(folder, name) for name in ("a.csv", "b.csv", "out"))
    with open(target, "w", encoding="utf-8") as file:
        file.write("earlier")
    os.symlink("a.csv", link)
    subprocess.run([ODD_TASKS, "plain", "3"], env=dict(env, ORRERY_TRACE=link),
                   check=True, timeout=100)
    assert os.path.islink(link)
    with open(target, encoding="utf-8") as file:
        assert file.read().count("\ntask,") == 3
    link = os.path.join(folder, "c.csv")
    os.symlink("/proc/self/fd/1", link)
    with open(out, "w", encoding="utf-8") as file:
        file.write("before\n")
        file.flush()
        subprocess.run(["sh", "-c", '"$@"; echo after', "sh", ODD_TASKS, "plain", "3"],
                       env=dict(env, ORRERY_TRACE=link), check=True, timeout=100,
                       stdout=file)
    assert os.path.islink(link)
    with open(out, encoding="utf-8") as file:
        text = file.read()
    assert text.startswith("before\nrecord,") and text.endswith("after\n"), text[:100]
    assert text.count("\ntask,") == 3


@test
def where_there_is_no_room_beside_the_run_the_trace_is_written_at_its_end():
    """On a file system that has room for the file once; and for half of it: then an
    earlier file stays."""
    if not shutil.which("unshare"):
        raise Skip("unshare is missing")
    for extension in "json", "dot", "tasks.rec":
        words = ("plain", "3", "120")
        whole = in_all_ways(WAITING_TASKS, words, extension)[0][1]
        folder = tempfile.mkdtemp(dir=TOP.name)
        name = "run." + extension
        names = sorted("run." + part for part in COMPANIONS.get(extension, (extension,)))
        env = {name: value for name, value in os.environ.items()
               if not name.startswith("STARPU_") and name != "ORRERY_CHECK_BOUNDS"}
        env.update(STARPU_HOME=TOP.name, STARPU_SILENT="1", ORRERY_MACHINE=GPUS,
                   STARPU_SCHED="dmda", ORRERY_ASSUME="kernel[*] = 100us",
                   ORRERY_TRACE=os.path.join(folder, name))
        for size, expected in (len(whole) * 5 // 4, whole), (len(whole) // 2, b"earlier"):
            done = subprocess.run(
                ["unshare", "-rm", "sh", "-c",
                 f"mount -t tmpfs -o size={size} none {folder} || exit 99\n"
                 f"cd {folder} && printf earlier >{name} && \"$@\" >&2\n"
                 "cat run.[!ds]* run.d* run.s* 2>/dev/null; ls >&2",
                 "sh", WAITING_TASKS, *words], env=env, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200, check=False)
            if done.returncode == 99 or b"unshare" in done.stderr:
                raise Skip("no file system can be mounted: " + done.stderr.decode().strip())
            assert done.stdout == expected, (extension, size, len(done.stdout), done.stderr)
            left = names if expected == whole else [name]
            assert done.stderr.endswith("\n".join(["", *left, ""]).encode()), done.stderr
            assert (b"No space left" in done.stderr) == (expected == b"earlier"), done.stderr


@test
def pictures_need_paje():
    ran = Traced("json", "plain", "3",
                 options=("--gantt", os.path.join(TOP.name, "x.png")))
    assert ran.done.returncode == 2 and ".paje" in ran.err, ran.err


sys.exit(run_all())

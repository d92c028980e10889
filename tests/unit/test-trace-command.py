#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery trace` with programs whose traces are hard to write and to draw: what
it writes is read by pj_dump (Debian's pajeng), simulated and real. TAP.

usage: test-trace-command.py ORRERY ODD_TASKS SIMULATES
"""
import collections
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
ORRERY, ODD_TASKS = map(os.path.abspath, sys.argv[1:3])
SIMULATES = sys.argv[3] == "1"
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
KERNELS = ("alpha", "beta", "gamma")
GPUS, NUMA, BIG = "h100-pcie-4", "r940xa-4", "hgx-h100-8"


class Traced:
    """A program run by orrery trace: its exit code, output, files."""

    def __init__(self, machine, *words, options=(), **env):
        folder = tempfile.mkdtemp(dir=TOP.name)
        self.paje = os.path.join(folder, "run.paje")
        self.picture = os.path.join(folder, "run.svg")
        if machine and not SIMULATES:
            raise Skip("this build does not simulate")
        if not shutil.which("gnuplot"):
            raise Skip("there is no gnuplot")
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith("STARPU_") and
                 name not in ("ORRERY_MACHINE", "ORRERY_CHECK_BOUNDS")}
        clean.update(STARPU_HOME=folder, STARPU_SILENT="1",
                     STARPU_PERF_MODEL_DIR=os.path.join(folder, "models"),
                     ORRERY_ASSUME=";".join(
                         "kernel[%s] = 100us" % name for name in KERNELS), LC_ALL="C.UTF-8", **env)
        done = subprocess.run(
            [ORRERY, "trace", *(("-m", machine) if machine else ()), "-s",
             "dmda" if machine else "lws", "-o", self.paje, "--gantt",
             self.picture, *options, "--", ODD_TASKS, *words],
            env=clean, stdin=subprocess.DEVNULL, timeout=250, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")

    def __str__(self):
        return "ended with %d\n%s%s" % (self.code, self.out, self.err)

    def dump(self):
        """What pj_dump makes of the trace, as lists of fields."""
        if not shutil.which("pj_dump"):
            raise Skip("there is no pj_dump (Debian's pajeng)")
        # latin-1 takes any byte.
        done = subprocess.run(["pj_dump", self.paje], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="latin-1",
                              timeout=250, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == "", "pj_dump warns: " + done.stderr
        return [line.split(", ") for line in done.stdout.splitlines()]

    def lines(self):
        with open(self.paje, encoding="latin-1") as file:
            return [line.rstrip("\n").split("\t") for line in file]

    def drawing(self):
        with open(self.picture, encoding="utf-8") as file:
            return file.read()

    def texts(self):
        """What is written in the picture, blanks joined."""
        return [" ".join(html.unescape(re.sub("<[^>]*>", "", text)).split())
                for text in re.findall("<text[^>]*>.*?</text>", self.drawing(),
                                       re.DOTALL)]


def states(dump):
    """How often each state of workers was entered."""
    return collections.Counter(line[-1] for line in dump if line[0] == "State")


def curve(dump, container, variable):
    """Its values in order of time."""
    return [float(line[6]) for line in dump
            if line[0] == "Variable" and line[1] == container and
            line[2] == variable]


def origins(ran):
    """What the file says of the times of its tasks, without footprints."""
    return [re.sub(" [0-9a-f]{8} ", " ", " ".join(line))
            for line in ran.lines() if line[0].startswith("# times of")]


@test
def a_trace_says_where_the_times_of_its_tasks_come_from():
    ran = Traced(GPUS, "plain", "30", STARPU_NCPU="0")
    assert ran.code == 0, ran
    said = ['# times of "%s" on CUDA: assumed' % name for name in KERNELS]
    assert origins(ran) == said, origins(ran)
    ran.dump()
    # Real times need no origin.
    assert origins(Traced(None, "plain", "30")) == []


@test
def a_simulated_trace_opens_in_pj_dump():
    ran = Traced(GPUS, "plain", "30")
    assert ran.code == 0, ran
    dump = ran.dump()
    seen = states(dump)
    assert seen["alpha"] == seen["beta"] == seen["gamma"] == 10, seen
    # The names by which StarVZ takes copies out of what pj_dump prints.
    links = {line[2] for line in dump if line[0] == "Link"}
    assert links and links <= {"Intra-node data " + kind for kind in (
        "Fetch", "TaskPreFetch", "PreFetch", "IdleFetch")}, links
    assert all(line[7].startswith("MEMMANAGER") and line[8].startswith("MEMMANAGER")
               for line in dump if line[0] == "Link"), dump


@test
def fields_of_tasks_are_what_pj_dump_prints_for_starvz():
    ran = Traced(GPUS, "plain", "30")
    ran.dump() # or there is none
    done = subprocess.run(["pj_dump", "--user-defined", ran.paje], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="latin-1")
    # Size, Params, Footprint, Tag, JobId, SubmitOrder, Priority, GFlop, X, Y,
    # Iteration, Subiteration, NumaNodes behind the name.
    tasks = [line.split(", ") for line in done.stdout.splitlines()
             if line.startswith("State") and
             line.split(", ")[7] in ("alpha", "beta", "gamma")]
    assert len(tasks) == 30 and {len(task) for task in tasks} == {21}, tasks[0]
    assert len({task[12] for task in tasks}) == 30, tasks
    types = (r"\d+", r'"?-"?', "[0-9a-f]{8}", "[0-9a-f]{16}", r"\d+", r"\d+", r"-?\d+",
             r"\d+\.\d{6}", "0", "0", r"-?\d+", r"-?\d+", r'"?\d+"?')
    for task in tasks:
        for field, wanted in zip(task[8:], types):
            assert re.fullmatch(wanted, field), (wanted, task)


@test
def kernels_differ_when_printed_in_grey():
    ran = Traced(GPUS, "named", "6")
    colours = [[float(part) for part in line[4].strip('"').split()]
               for line in ran.lines()
               if line[0] == "6" and line[3] in (
                   # Those between them have colours of their own.
                   '"gemm(0)"', '"gemm(2)"', '"gemm(3)"', '"gemm(5)"')]
    grey = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in colours)
    assert len(grey) == 4, colours
    assert min(b - a for a, b in zip(grey, grey[1:])) > 0.08, grey


@test
def counters_are_curves_over_time():
    ran = Traced(GPUS, "plain", "30")
    dump = ran.dump()
    for name in ("Number of Submitted Uncompleted Tasks",
                 "Number of Ready Tasks"):
        values = curve(dump, "scheduler", name)
        assert len(values) > 10 and max(values) >= 2, (name, values)
        assert min(values) == values[-1] == 0, (name, values)


@test
def memory_is_a_curve_of_each_node():
    ran = Traced(GPUS, "plain", "30")
    dump = ran.dump()
    peaks = [max(curve(dump, "MEMMANAGER%d" % node, "Used (MB)"))
             for node in range(5)]
    # The last worker is the fourth device's; it has two of the vectors.
    assert abs(peaks[4] - 2 * 4 * 2 ** 18 / 1e6) < 1e-3, peaks
    assert peaks[0] == 0, "main memory is the program's own: %s" % peaks
    last = curve(dump, "MEMMANAGER4", "Used (MB)")[-1]
    assert last == 0, "all is unregistered, %f MB remain" % last


@test
def a_real_trace_opens_in_pj_dump():
    ran = Traced(None, "plain", "30")
    assert ran.code == 0, ran
    dump = ran.dump()
    seen = states(dump)
    assert seen["alpha"] == seen["beta"] == seen["gamma"] == 10, seen
    values = curve(dump, "scheduler", "Number of Submitted Uncompleted Tasks")
    assert max(values) > 0 and min(values) == values[-1] == 0, values


def check_odd_names(machine):
    ran = Traced(machine, "names")
    assert ran.code == 0, ran
    dump = ran.dump()
    seen = states(dump)
    for name in ("plain", "say _hello_", "two lines", "tab here", "it's", "#3",
                 "gemm<float, 3>", "100 % `ls` $HOME \\"):
        assert seen[name.split(", ")[-1]] == 2, (name, seen)
    assert seen["\xc3\xa9t\xc3\xa9 \xe2\x82\xac"] == 2, seen
    assert seen["x" * 2999] == 1, seen
    # A task that is called like a state's alias is none.
    assert seen["B"] == 2, seen
    marks = [line[-1] for line in dump if line[0] == "Event"]
    assert "42" in marks and "two lines" in marks, marks


@test
def odd_names_open_in_pj_dump_simulated():
    check_odd_names(GPUS)


@test
def odd_names_open_in_pj_dump_real():
    check_odd_names(None)


@test
def colours_of_tasks_and_codelets_are_in_the_trace():
    ran = Traced(GPUS, "names")
    colours = collections.defaultdict(set)
    for line in ran.lines():
        if line[0] == "6" and line[2] == "WS":
            colours[line[3].strip('"')].add(line[4].strip('"'))
    # With no colour of its own a task has its codelet's, here beta's.
    assert "1.00 0.00 0.00" in colours["unknown"], colours
    assert len(colours["plain"]) == 2, colours["plain"]
    plain = Traced(GPUS, "plain", "3")
    shown = {line[3]: line[4] for line in plain.lines()
             if line[0] == "6" and line[2] == "WS"}
    assert shown['"beta"'] == '"0.06 0.75 0.25"', shown


@test
def colours_are_those_of_the_picture():
    ran = Traced(GPUS, "plain", "9")
    assert "rgb( 15, 191,  64)" in ran.drawing(), "no box of beta's colour"


@test
def a_run_without_tasks_is_a_trace():
    for machine in (GPUS, None):
        ran = Traced(machine, "none")
        assert ran.code == 0, ran
        seen = states(ran.dump())
        assert not set(seen) & {"alpha", "beta", "gamma"}, seen
        assert any("idle worker" in text or text.endswith(" 0 %")
                   for text in ran.texts()), ran.texts()


@test
def a_run_that_fails_leaves_a_trace_that_opens():
    for machine in (GPUS, None):
        ran = Traced(machine, "fail")
        assert ran.code == 7, ran
        ran.dump()


@test
def copies_from_numa_nodes_open():
    ran = Traced(NUMA, "plain", "30", STARPU_USE_NUMA="1")
    assert ran.code == 0, ran
    assert any(text.startswith("NUMA 0 \u2192 CUDA3 ")
               for text in ran.texts()), ran.texts()
    assert any(line[0] == "Link" for line in ran.dump())


@test
def as_many_workers_as_possible_open():
    for machine in (BIG, None):
        settings = {"STARPU_NCPU": "240"}
        ran = Traced(machine, "plain", "300", **settings)
        assert ran.code == 0, ran
        workers = [line for line in ran.dump()
                   if line[0] == "Container" and line[2] == "Worker"]
        assert len(workers) >= 112, len(workers)


@test
def each_task_may_have_its_own_name():
    ran = Traced(GPUS, "named", "5000")
    assert ran.code == 0, ran
    assert "4977 others" in ran.texts(), ran.texts()
    seen = states(ran.dump())
    assert sum(name.startswith("gemm(") for name in seen) == 5000


@test
def idle_workers_are_one_row_that_counts_them():
    ran = Traced(BIG, "plain", "40")
    texts = ran.texts()
    busy = sum(bool(re.match(r"(CPU|CUDA)\d+(_\d+)? +\d+ %", text))
               for text in texts)
    assert 1 <= busy <= 40, texts
    assert "%d idle workers" % (112 - busy) in texts, (busy, texts)


@test
def links_are_rows_with_what_they_carried():
    texts = Traced(GPUS, "plain", "30").texts()
    # Two vectors of a MiB each way.
    for way in ("RAM \u2192 CUDA3", "CUDA3 \u2192 RAM"):
        rows = [text for text in texts if text.startswith(way)]
        assert len(rows) == 1 and re.search(r" 2 MB +\d+ %$", rows[0]), texts
    assert "Fetch" in texts or "TaskPrefetch" in texts, texts


@test
def memory_is_drawn_for_nodes_that_used_some():
    texts = Traced(GPUS, "plain", "30").texts()
    assert "memory used (MB)" in texts and "CUDA3" in texts, texts
    assert "CUDA2" not in texts, texts
    assert "memory used (MB)" not in Traced(GPUS, "none").texts()


@test
def lines_of_memory_differ_when_printed_in_grey():
    ran = Traced("hgx-h100-8", "plain", "60", options=("-s", "random"),
                 STARPU_NCPU="0")
    with open(ran.picture, encoding="utf-8") as file:
        lines = re.findall(r"<text>(CUDA\d)</text>.*?<path stroke='[^']*'"
                           r"(?: *stroke-dasharray='([^']*)')?", file.read(), re.S)
    assert [name for name, _ in lines] == [f"CUDA{i}" for i in range(8)], lines
    assert len({dashes for _, dashes in lines}) == 8, lines


@test
def odd_names_are_drawn():
    for machine in GPUS, None:
        ran = Traced(machine, "names")
        assert ran.code == 0, ran
        texts = ran.texts()
        # Which rows are folded is chance: 12 of all, which leaves some of
        # these 10 names, each of which has two.
        odd = {"it's", "\u00e9t\u00e9 \u20ac", "100 % `ls` $HOME \\", "a,b;c",
               "gemm<float, 3>", "two lines", "tab here", "say _hello_", "#3",
               "?? broken"}
        assert "12 others" in texts and len(odd & set(texts)) >= 2, texts


def device_link():
    """A link to a device: where it is replaced, the device is not."""
    link = os.path.join(tempfile.mkdtemp(dir=TOP.name), "link")
    os.symlink(os.devnull, link)
    return link


@test
def devices_are_written_to_and_not_replaced():
    links = {name: device_link() for name in
             ("ORRERY_TRACE", "ORRERY_REPORT", "ORRERY_GRAPH")}
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_"))}
    done = subprocess.run([ODD_TASKS, "plain", "6"], env=dict(env, **links),
                          stderr=subprocess.PIPE, encoding="utf-8",
                          timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    for name, link in links.items():
        assert os.path.islink(link), name + " has replaced a device"
        folder = os.path.dirname(link)
        assert os.listdir(folder) == ["link"], os.listdir(folder)


@test
def the_trace_must_be_a_file_of_its_own():
    link = device_link()
    refused = Traced(None, "plain", "6", options=("-o", link))
    assert refused.code == 2 and "must be a file" in refused.err, refused
    assert os.path.islink(link)
    same = os.path.join(os.path.dirname(link), "x.svg")
    refused = Traced(None, "plain", "6", options=("-o", same, "--gantt", same))
    assert refused.code == 2 and "the picture is --gantt" in refused.err, refused
    assert not os.path.exists(same)
    for option in ("-o", "--gantt", "--schedule", "--graph"):
        refused = Traced(None, "plain", "6", options=(option, "-"))
        assert refused.code == 2 and option + " -" in refused.err, refused
        assert not os.path.exists("-")


sys.exit(run_all())

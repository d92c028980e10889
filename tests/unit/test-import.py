#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of other programs in the place of a program: what is made of them, and what is
wrong with others. Prints TAP.

usage: test-import.py ORRERY STARPU_REPLAY RECORDED [CHOLESKY]
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

MACHINE = "h100-pcie-4"
tap = Tap()
ORRERY, STARPU_REPLAY, RECORDED = sys.argv[1:4]
CHOLESKY = sys.argv[4] if len(sys.argv) > 4 else None


def environment(**more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("STARPU_") and
           name not in ("ORRERY_RECORD", "ORRERY_TRACE", "ORRERY_REPORT",
                        "ORRERY_MACHINE", "ORRERY_SET", "ORRERY_ASSUME")}
    return dict(env, STARPU_SILENT="1", STARPU_PERF_MODEL_DIR="/nonexistent",
                **more)


class Ran:
    def __init__(self, *words, **more):
        done = subprocess.run(words, env=environment(**more), text=True,
                              capture_output=True, errors="replace",
                              timeout=100, check=False)
        self.code, self.out, self.err = (done.returncode, done.stdout,
                                         done.stderr)
        self.words = words

    def __str__(self):
        return "%s ended with %d\n%s%s" % (self.words, self.code, self.out,
                                           self.err)


def claim(text, passed, *details):
    tap.claim(text, bool(passed), *details)


def write(path, text):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def lines_of(path, *words):
    """The record of a file, [] and what was said where there is none."""
    record = path + ".orr"
    if os.path.exists(record):
        os.remove(record)
    ran = Ran(ORRERY, "record", "import", "-o", record, path, *words)
    if ran.code:
        return [], ran
    return read(record).splitlines(), ran


def has(lines, *wanted):
    """Whether all these lines are there, in this order."""
    rest = iter(lines)
    return all(any(line == want for line in rest) for want in wanted)


def makespan(path, *words, machine=MACHINE):
    ran = Ran(ORRERY, "run", "-m", machine, "--json", *words, "--", path)
    return json.loads(ran.out)["makespan_us"] if ran.code == 0 else str(ran)


# --- StarPU's files ---

def task(job, order, *fields, worker=1, start=0, end=1, name="work"):
    text = "Name: %s\nJobId: %s\n" % (name, job)
    if order:
        text += "SubmitOrder: %d\n" % order
    if worker is not None:
        text += "WorkerId: %d\nStartTime: %g\nEndTime: %g\n" % (worker, start,
                                                                 end)
    return text + "".join(field + "\n" for field in fields) + "\n"


def uses(handles, modes, sizes):
    return "Handles: %s\nModes: %s\nSizes: %s" % (handles, modes, sizes)


def test_tasks(folder):
    path = write(os.path.join(folder, "tasks.rec"), "%rec: task\n\n" +
                 task("0_3", 2, "Priority: -4", "Footprint: c0ffee",
                      "GFlop: 0.5", "Tag: 1f", "Model: thing",
                      uses("a b", "W RW", "100 200"), worker=2, end=0.25) +
                 task("0_9", 5, "DependsOn: 0_3 0_77", "Iteration: 3 1",
                      uses("a", "RWC", "100"), start=1, end=3.5) +
                 "Control: WontUse\nJobId: 0_10\nSubmitOrder: 6\nHandles: a\n\n"
                 + task("0_11", 7, "DependsOn: 0_3", worker=None,
                        name="sync"))
    lines, ran = lines_of(path)
    claim("a tasks.rec: data when they are used first, gaps filled, what data "
          "order is not declared, advice", has(
              lines,
              "depend 7 before=2",
              "submit 1",
              'model 1 kind="history" symbol="thing" flags=9',
              'codelet 1 name="work" cpu=1 cuda=1 opencl=1 hip=1 '
              'asynchronous=1110 buffers=-1 model=1',
              'data 1 kind="variable" home=-1 shape=100',
              'data 2 kind="variable" shape=200',
              "submit 2 codelet=1 data=1:w,2:rw priority=-4 tagged=1 tag=31 "
              "flops=500000000 footprint=c0ffee times=250,250,250,250 ran=2",
              "submit 3", "submit 4", "iteration value=3",
              "submit 5 codelet=2 data=1:rwc times=2500,2500,2500,2500 ran=1",
              "wont-use 1", "iteration how=end", 'submit 7 name="sync"',
              "wait-all") and "depend 5" not in "\n".join(lines), ran, *lines)
    claim("what the file lacks is said", "not in the file" in ran.err, ran)
    write(os.path.join(folder, "data.rec"), "Handle: a\nHomeNode: 0\n"
          "Name: A\nSize: 100\nCoordinates: 3 4\n\nHandle: b\nHomeNode: -1\n"
          "Size: 200\n\n")
    lines, ran = lines_of(path)
    claim("data.rec beside it names data and their homes", has(
        lines, 'data 1 kind="variable" shape=100', 'name 1 name="A"',
        "coordinates 1 nodes=3,4"), ran, *lines)
    claim("what is first read has a value, though it has no home there", has(
        lines, 'data 2 kind="variable" shape=200'), ran, *lines)
    os.remove(os.path.join(folder, "data.rec"))
    return path


def test_ends(folder):
    path = write(os.path.join(folder, "ends.rec"),
                 task(1, 1).rstrip("\n") + "\nEndDependencies: 2 \n" +
                 task(2, 2))
    lines, ran = lines_of(path)
    claim("no empty line behind EndDependencies: the record ends all the same",
          has(lines, "end-depend 1 before=2") and
          sum(line.startswith("submit") for line in lines) == 2, ran, *lines)


def test_times(folder):
    path = write(os.path.join(folder, "times.rec"),
                 task(1, 1, uses("a", "RW", "8"), end=2) +
                 task(2, 2, uses("a", "RW", "8"), end=3) +
                 task(3, 3, uses("b", "RW", "8"), worker=2, end=1))
    us = makespan(path)
    claim("without models tasks take their own times, where they ran",
          isinstance(us, float) and 5000 <= us < 5100, us)
    us = makespan(path, "--assume", "work = 1ms")
    claim("a time that is assumed comes before those of the file",
          isinstance(us, float) and 2000 <= us < 2100, us)
    us = makespan(path, "--set", "kernel[work] on cpu *= 2")
    claim("edits of kernels hold for times of the file",
          isinstance(us, float) and 2500 <= us < 2600, us)
    ran = Ran(STARPU_REPLAY, "-m", MACHINE, path)
    claim("starpu_replay prints the milliseconds",
          ran.code == 0 and ran.out.endswith(" ms\n") and
          5 <= float(ran.out.split()[0]) < 5.1, ran)
    ran = Ran(STARPU_REPLAY, path, ORRERY_MACHINE=MACHINE, STARPU_SCHED="eager")
    claim("starpu_replay takes machine and policy of the environment",
          ran.code == 0 and 5 <= float(ran.out.split()[0]) < 5.1, ran)
    spread = write(os.path.join(folder, "class.rec"), "".join(
        task(n, n, uses("d%d" % n, "RW", "8"), worker=0, end=1) for n in range(1, 9)))
    ran = Ran(ORRERY, "replay", spread, "-m", "epyc-64", "--json")
    us = json.loads(ran.out)["makespan_us"] if ran.code == 0 else 0
    claim("tasks that ran on one worker may run on all of its class", 1000 <= us < 1100, us,
          ran)
    ran = Ran(ORRERY, "replay", spread, "-m", "epyc-64", "--static-workerid", "--json")
    us = json.loads(ran.out)["makespan_us"] if ran.code == 0 else 0
    claim("… unless the workers of the file are asked for", 8000 <= us < 8100, us, ran)


def test_schedule(folder):
    path = write(os.path.join(folder, "sched-tasks.rec"),
                 "".join(task(j, j, uses("%x" % j, "RW", "8"), worker=0)
                         for j in range(1, 5)))
    schedule = write(os.path.join(folder, "sched.rec"),
                     "SubmitOrder: 1\nPriority: 7\nSpecificWorker: 3\n"
                     "Workerorder: 2\n\nSubmitOrder: 2\nWorkers: 1 2 33\n"
                     "DependsOn: 1 3\n\nPrefetch: 4\nDependsOn: 2\n"
                     "MemoryNode: 1\nParameters: 0\n\n")
    lines, ran = lines_of(path, schedule)
    claim("a schedule: workers, order, priorities, waits, prefetches", has(
        lines, "depend 2 before=1,3", "depend 5 before=2",
        "submit 1 codelet=1 data=1:rw priority=7 "
        "times=1000,1000,1000,1000 worker=3 order=2 ran=0",
        "submit 2 codelet=1 data=2:rw times=1000,1000,1000,1000 ran=0 "
        "workers=6,2", "fetch 4 how=prefetch node=1 task=5", "submit 5",
        "submit 3 codelet=1 data=3:rw times=1000,1000,1000,1000 ran=0"), ran,
          *lines)
    us = makespan(path, "--assume", "work = 1ms")
    static = Ran(STARPU_REPLAY, "-m", MACHINE, "--static-workerid", path,
                 ORRERY_ASSUME="work = 1ms")
    claim("--static-workerid: all on the worker where they ran",
          isinstance(us, float) and us < 1200 and static.code == 0 and
          4 <= float(static.out.split()[0]) < 4.2, us, static)
    for text, said in (("SubmitOrder: 9\n", "no task with SubmitOrder 9"),
                       ("Priority: 9\n", "neither SubmitOrder nor"),
                       ("SubmitOrder: 1\nFrob: 2\n", "no field of a schedule"),
                       ("Prefetch: 1\nParameters: 4\n", "has 1 data"),
                       ("SubmitOrder: 1\nWorkers: -1\n", "a number is to be"),
                       ("SubmitOrder: 1\nWorkers: 99999999\n",
                        "no worker 99999999")):
        write(schedule, text)
        _, ran = lines_of(path, schedule)
        claim("%r: %s" % (text, said), ran.code == 1 and said in ran.err and
              "sched.rec" in ran.err, ran)


def test_written(folder):
    """What Orrery writes is what it reads."""
    path = os.path.join(folder, "run", "tasks.rec")
    os.mkdir(os.path.dirname(path))
    run = {}
    for policy in ("dmda", "eager"):
        run[policy] = json.loads(
            Ran(ORRERY, "trace", "-m", MACHINE, "-s", policy, "--assume",
                "kernel[*] = 3ms", "--json", "-o", path, "--",
                RECORDED).out)
    tasks = read(path)
    lines, ran = lines_of(path)
    claim("a tasks.rec of ours has the tasks of the run",
          tasks.count("WorkerId:") == run["eager"]["tasks"] and
          sum(" codelet=" in line for line in lines) == run["eager"]["tasks"],
          ran, tasks[:600])
    claim("data.rec and sched.rec lie beside it",
          read(os.path.join(folder, "run", "data.rec")).startswith("Handle: ")
          and "SpecificWorker: " in
          read(os.path.join(folder, "run", "sched.rec")), ran)
    ran = Ran(STARPU_REPLAY, "-m", MACHINE, path,
              os.path.join(folder, "run", "sched.rec"),
              STARPU_SCHED="dmda")
    claim("its schedule, replayed under another policy, takes as long",
          ran.code == 0 and abs(float(ran.out.split()[0]) * 1000 /
                                run["eager"]["makespan_us"] - 1) < 0.02,
          ran, run["eager"])


def test_as_the_application(folder):
    """What the application would have taken, under every policy: to the last digit, but
    for which kernels are asynchronous, which the file does not say."""
    folder = os.path.join(folder, "again")
    path = os.path.join(folder, "tasks.rec")
    os.mkdir(folder)
    for machine, size, policies in (
            ("laptop-8", "6", ("eager", "dmdas")),
            (MACHINE, "12", ("eager", "prio", "random", "ws", "lws", "dmda",
                             "dmdas"))):
        for policy in policies:
            said = "a tasks.rec gives the application's makespan: %s, %s" % (
                machine, policy)
            if not CHOLESKY:
                tap.skip(said, "the examples are not built")
                continue
            run = Ran(ORRERY, "trace", "-m", machine, "-s", policy, "--json",
                      "-o", path, "--", CHOLESKY, "-size", "11520", "-nblocks",
                      size)
            _, ran = lines_of(path)
            record = read(path + ".orr") if ran.code == 0 else ""
            write(path + ".orr",
                  re.sub("(name=\"potrf\".*) asynchronous=1110", r"\1", record))
            claim(said, run.code == 0 and record and
                  makespan(path + ".orr", "-s", policy, machine=machine) ==
                  json.loads(run.out)["makespan_us"], run, ran)


def test_everywhere(path):
    for words in (["run", "-m", MACHINE], ["replay", "-m", MACHINE],
                  ["compare", "-m", MACHINE, "-s", "eager,dmda"],
                  ["explain", "-m", MACHINE], ["bound", "-m", MACHINE]):
        tail = [path] if words[0] == "replay" else ["--", path]
        ran = Ran(ORRERY, *words, *tail)
        claim("orrery %s takes a tasks.rec" % words[0], ran.code == 0, ran)
    for words, said in ((["run", "-m", MACHINE, "--", path, "--frob"],
                         "--frob goes with no file"),
                        (["replay", "-m", MACHINE, path, path, path],
                         "One file is named")):
        ran = Ran(ORRERY, *words)
        claim("orrery %s: %s" % (words[0], said),
              ran.code != 0 and said in ran.err, ran)


def test_wrong_tasks(folder):
    path = os.path.join(folder, "wrong.rec")
    good = task(1, 1, uses("a", "RW", "8"))
    for text, said in (
            ("Name: x\nfrob\n", "wrong.rec:2: \"frob\" is no line"),
            ("Name: x\n\n", "has no JobId"),
            (good + good, "a second job 1"),
            (task(1, 1, uses("a b", "RW", "8 8")), "more Handles than"),
            (task(1, 1, uses("a", "RQ", "8")), "\"RQ\" is no access mode"),
            (task(1, 1, uses("a", "RW", "-8")), "Sizes: \"-8\""),
            (task(1, 1, "Footprint: xyz"), "Footprint: \"xyz\""),
            (task(1, 99999999999), "of so few tasks"),
            (task(1, 1, "DependsOn: 2") + task(2, 2, "DependsOn: 1"),
             "in a circle"),
            ("Control: Frob\nJobId: 1\n\n", "does not know"),
            (task(1, 1, "MPIRank: 0") + task(2, 2, "MPIRank: 1"),
             "several MPI processes"),
            ("Name: x\0y\n", "byte 0")):
        write(path, text)
        lines, ran = lines_of(path)
        claim("%r: %s" % (text[-30:], said),
              ran.code == 1 and said in ran.err and "wrong.rec" in ran.err and
              not lines, ran)
    claim("a refused file leaves no record",
          not os.path.exists(path + ".orr"))


# --- workflows and graphs ---

DAX = """<?xml version="1.0" encoding="UTF-8"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1">
  <job id="ID2" name="mDiffFit" runtime="2">
    <uses file="p.fits" link="input" size="4222080"/>
    <uses file="d.fits" link="output" size="300000"/>
  </job>
  <job id="ID0" name="mProject" runtime="13.5">
    <uses file="region.hdr" link="input" size="304"/>
    <uses name="p.fits" link="output" size="4222080"/>
    <uses file="mProject" link="none"/>
  </job>
  <job id="ID3" name="mConcat">
    <profile namespace="pegasus" key="runtime">4</profile>
  </job>
  <child ref="ID3"><parent ref="ID2"/></child>
  <child ref="ID2"><parent ref="ID0"/></child>
</adag>
"""

WORKFLOW = {
    "name": "x", "schemaVersion": "1.5", "workflow": {
        "specification": {
            "tasks": [
                {"name": "work", "id": "work_ID0002", "parents": ["split_1"],
                 "children": [], "inputFiles": ["b"], "outputFiles": ["d"]},
                {"name": "split", "id": "split_1", "parents": [],
                 "children": ["work_ID0002"], "inputFiles": ["a"],
                 "outputFiles": ["b"]}],
            "files": [{"id": "a", "sizeInBytes": 1000000},
                      {"id": "b", "sizeInBytes": 500000},
                      {"id": "d", "sizeInBytes": 10}]},
        "execution": {"tasks": [
            {"id": "split_1", "runtimeInSeconds": 1.5},
            {"id": "work_ID0002", "runtimeInSeconds": 2, "coreCount": 4}]}}}

OLDER = {"name": "x", "schemaVersion": "1.3", "workflow": {"tasks": [
    {"name": "work_00000002", "parents": ["split_00000001"], "runtime": 2.0,
     "files": [{"link": "input", "name": "b", "size": 500000}]},
    {"name": "split_00000001", "parents": [], "runtime": 1.0,
     "files": [{"link": "output", "name": "b", "size": 500000}]}]}}


def test_dax(folder):
    path = write(os.path.join(folder, "m.dax"), DAX)
    lines, ran = lines_of(path)
    claim("a DAX: in an order that its dependencies allow, those that files "
          "give are not declared", has(
              lines, "depend 3 before=2",
              'codelet 1 name="mProject" cpu=1 asynchronous=1110 buffers=-1 '
              'model=1', 'data 3 kind="variable" shape=304',
              'name 3 name="region.hdr"',
              'data 1 kind="variable" home=-1 shape=4222080',
              'submit 1 codelet=1 data=3:r,1:w name="ID0" times=13500000',
              'submit 2 codelet=2 data=1:r,2:w name="ID2" times=2000000',
              'submit 3 codelet=3 name="ID3" times=4000000')
          and "depend 2" not in "\n".join(lines), ran, *lines)
    us = makespan(path)
    claim("a DAX is simulated: the chain takes as long as its jobs",
          isinstance(us, float) and 19.5e6 <= us < 19.6e6, us)
    us = makespan(path, "-s", "dmdas", "--assume",
                  "kernel[*] on cuda = cpu / 10")
    claim("a ratio of the file's times opens devices to the kernels",
          isinstance(us, float) and 1.95e6 <= us < 1.96e6, us)
    for text, said in (
            (DAX.replace('runtime="2"', 'runtime="two"'), "m.dax:3: \"two\""),
            (DAX.replace('ref="ID0"', 'ref="ID7"'), 'no job "ID7"'),
            (DAX.replace('id="ID3"', 'id="ID2"'), 'second job "ID2"'),
            (DAX.replace('"300000"', '"-3"'), "no size in bytes"),
            (DAX.replace("</child>", "", 1), "m.dax:"),
            (DAX.replace("<adag", "<!DOCTYPE x [<!ENTITY e SYSTEM "
                         "'/etc/passwd'>]><adag"), "document type"),
            (DAX.replace('<child ref="ID2"><parent ref="ID0"/>',
                         '<child ref="ID2"><parent ref="ID3"/>'),
             "in a circle"),
            ("<adag></adag>", "no task in it")):
        write(path, text)
        lines, ran = lines_of(path)
        claim("a wrong DAX: %s" % said,
              ran.code == 1 and said in ran.err and not lines, ran)


def test_wfcommons(folder):
    path = write(os.path.join(folder, "w.json"), json.dumps(WORKFLOW))
    lines, ran = lines_of(path)
    claim("WfCommons 1.5: specification and execution; the kernel is the name "
          "without its number", has(
              lines, 'model 1 kind="history" symbol="split" flags=9',
              'submit 1 codelet=1 data=1:r,2:w name="split_1" times=1500000',
              'model 2 kind="history" symbol="work" flags=9',
              "write-through 3 value=1",
              'submit 2 codelet=2 data=2:r,3:w name="work_ID0002" '
              'times=2000000 cores=4')
          and "several cores" in ran.err, ran, *lines)
    us = makespan(path)
    claim("a WfCommons instance is simulated",
          isinstance(us, float) and 3.5e6 <= us < 3.51e6, us)
    write(path, json.dumps(OLDER))
    lines, ran = lines_of(path)
    claim("WfCommons 1.3: all in the tasks", has(
        lines, 'submit 1 codelet=1 data=1:w name="split_00000001" '
        'times=1000000', 'submit 2 codelet=2 data=1:r name="work_00000002" '
        'times=2000000') and "taken for bytes" in ran.err, ran, *lines)
    jobs = ["step_%d_of_40" % i for i in range(40)]
    jobs += ["align-%s-%d" % ("3fa4c0%02x" % i, i) for i in range(40)]
    jobs += ["merge"]
    write(path, json.dumps({"workflow": {"tasks": [
        {"name": name, "runtime": 1 + i} for i, name in enumerate(jobs)]}}))
    lines, ran = lines_of(path)
    models = {line.split('symbol="')[1].split('"')[0] for line in lines
              if line.startswith("model ")}
    claim("WfCommons: names that differ by numbers and hashes are one kernel",
          models == {"step_N_of", "align-N-N", "merge"} and
          "81 names of jobs are taken for 3 kernels" in ran.err and
          len([line for line in lines if line.startswith("submit ")]) == 81,
          ran, sorted(models))
    write(path, json.dumps({"workflow": {"tasks": [
        {"name": name, "category": "c%d" % (i % 3), "runtime": 1}
        for i, name in enumerate(jobs)]}}))
    lines, ran = lines_of(path)
    claim("WfCommons: a category comes before the name",
          sum(line.startswith("model ") for line in lines) == 3, ran, *lines)
    letters = ["".join(chr(97 + (i * 7 + j * i) % 26) for j in range(5))
               for i in range(40)]
    write(path, json.dumps({"workflow": {"tasks": [
        {"name": name, "id": str(i), "runtime": 1}
        for i, name in enumerate(letters)]}}))
    lines, ran = lines_of(path)
    claim("WfCommons: names of words stay kernels of their own",
          sum(line.startswith("model ") for line in lines) == len(set(letters)),
          ran, *lines)
    for text, said in (("{", "w.json:1:"), ("{}", 'no "workflow"'),
                       ('{"workflow": {}}', "no list of tasks"),
                       ('{"workflow": {"tasks": [{}]}}', "neither id nor name"),
                       ('{"workflow": {"tasks": [{"name": "a", "parents": '
                        '["b"]}]}}', 'no job "b"'),
                       ('{"workflow": {"tasks": [{"name": "a", "files": '
                        '[{}]}]}}', "lacks name or link")):
        write(path, text)
        lines, ran = lines_of(path)
        claim("%r: %s" % (text[:40], said),
              ran.code == 1 and said in ran.err and not lines, ran)


def test_dot(folder):
    path = write(os.path.join(folder, "a.dot"), """// of some program
digraph G { rankdir=LR; node [flops="1e9"]; a [label="gemm", ms=3];
  t [us="4500", kernel=trsm, priority=7]; a -> t [size=1000];
  subgraph c { b [ms=1]; d [start_ms=1, end_ms=3, weight=5]; } t -> {b d};
  b:n -> d; }
""")
    if Ran("sh", "-c", "command -v gv2gxl").code:
        tap.skip("graphs in DOT", "no gv2gxl (Debian: graphviz)")
        return
    lines, ran = lines_of(path)
    claim("DOT: kernels, times and data of nodes and edges, defaults, groups",
          has(lines, "depend 3 before=2", "depend 4 before=2,3",
              'data 1 kind="variable" home=-1 shape=1000',
              'submit 1 codelet=1 data=1:w name="a" flops=1000000000 '
              'times=3000',
              'submit 2 codelet=2 data=1:r priority=7 name="t" '
              'flops=1000000000 times=4500',
              'submit 3 codelet=3 flops=1000000000 times=1000',
              'submit 4 codelet=4 flops=1000000000 times=2000')
          and "weight has no unit" in ran.err, ran, *lines)
    us = makespan(path)
    claim("a DOT graph is simulated", isinstance(us, float) and
          10500 <= us < 10600, us)
    for text, said in (("graph G { a -- b }", "no directions"),
                       ("digraph G { a -> ", "gv2gxl finds it wrong"),
                       ("digraph G { a [ms=x] }", "a number is to be"),
                       ("digraph G { a -> b -> a }", "in a circle")):
        write(path, text)
        lines, ran = lines_of(path)
        claim("%r: %s" % (text, said),
              ran.code == 1 and said in ran.err and not lines, ran)
    write(path, "digraph G { a }")
    ran = Ran(ORRERY, "record", "import", "-o", path + ".orr", path,
              PATH="/nonexistent")
    claim("without Graphviz its package is named",
          ran.code == 1 and "Debian: graphviz" in ran.err, ran)


def test_csv(folder):
    path = write(os.path.join(folder, "e.csv"),
                 'from,to,bytes\r\na,b,1000\r\na,c,\r\nb,"d ""1"", x",5\r\n'
                 'c,"d ""1"", x",0\r\n')
    lines, ran = lines_of(path)
    claim("a CSV of edges: tasks of the kernel `task'", has(
        lines, "depend 3 before=1", "depend 4 before=3",
        'codelet 1 name="task" cpu=1 asynchronous=1110 buffers=-1 model=1',
        'submit 1 codelet=1 data=1:w name="a"') and
          "4 tasks have no run time" in ran.err, ran, *lines)
    us = makespan(path, "--assume", "task = 1ms")
    claim("a CSV of edges is simulated with times that are assumed",
          isinstance(us, float) and 3000 <= us < 3100, us)
    write(os.path.join(folder, "timed.nodes.csv"), "id,kernel,us\na,k,1\nb,k,1\n")
    ran = Ran(ORRERY, "run", "-m", MACHINE, "--", write(os.path.join(folder, "timed.csv"),
                                                       "from,to\na,b\n"))
    claim("a time of the file is no assumption for devices: nobody says that",
          ran.code == 0 and "that is assumed for all devices" not in ran.out and
          "where the program itself would be asked for times" in ran.out, ran)
    write(os.path.join(folder, "e.nodes.csv"),
          'id,kernel,us,flops,priority\na,init,100,,1\nb,gemm,200,1e6,2\n'
          'c,gemm,50,,\n"d ""1"", x",end,10,,\n')
    lines, ran = lines_of(path)
    claim("e.nodes.csv beside e.csv says more of the tasks", has(
        lines, 'submit 1 codelet=1 data=1:w priority=1 name="a" times=100',
        'submit 2 codelet=2 data=1:r,2:w priority=2 name="b" flops=1000000 '
        'times=200', 'submit 4 codelet=3 data=2:r name="d \\"1\\", x" '
        'times=10'), ran, *lines)
    for text, said in (("a,b\n", "does not name the columns"),
                       ("from,to\na\n", "e.csv:2: 1 fields in a table of 2"),
                       ("from,to\na,\n", "two ends"),
                       ('from,to\na,"b\n', "no second one"),
                       ("from,to,bytes\na,b,x\n", "a number is to be"),
                       ("from,to,bytes\na,b,-1\n", "-1 bytes"),
                       ("from,to\na,b\nb,a\n", "in a circle")):
        write(path, text)
        lines, ran = lines_of(path)
        claim("%r: %s" % (text, said),
              ran.code == 1 and said in ran.err and not lines, ran)


def test_starvz(folder):
    folder = os.path.join(folder, "starvz")
    os.mkdir(folder)
    path = write(os.path.join(folder, "application.csv"),
                 "ResourceId,Start,End,Duration,Value,Footprint,JobId\n"
                 "CPU0,0,2,2,gemm,c0ffee,0_4\nCPU1,0,2,2,Idle,NA,NA\n"
                 "CPU1,2,6,4,gemm,c0ffee,0_5\n"
                 "0_CUDA1_0,1,1.5,0.5,gemm,c0ffee,0_6\n"
                 "CPU0,2,6,4,trsm,abc,0_7\n")
    lines, ran = lines_of(path)
    claim("StarVZ without dag.csv: the file that is missing is named",
          ran.code == 1 and "starvz/dag.csv" in ran.err, ran)
    write(os.path.join(folder, "dag.csv"),
          "JobId,Dependent\n0_7,0_4\n0_7,0_6\n0_4,NA\n")
    lines, ran = lines_of(path)
    claim("StarVZ: mean times of kernel and footprint per kind of worker", has(
        lines, "depend 4 before=1,3",
        'submit 1 codelet=1 name="0_4" footprint=c0ffee '
        'times=3000,500,nan,nan',
        'codelet 2 name="trsm" cpu=1 asynchronous=1110 buffers=-1 model=2',
        'submit 4 codelet=2 name="0_7" footprint=abc times=4000,nan,nan,nan'),
          ran, *lines)
    us = makespan(path, "-s", "dmdas")
    claim("StarVZ's tasks are simulated, on devices where they ran there",
          isinstance(us, float) and 4500 <= us < 4600, us)


def wrong_types():
    """(change of WORKFLOW or OLDER, what is said): each container and each value of
    another type than the format has there."""
    def change(document, path, value):
        document = json.loads(json.dumps(document))
        at = document
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        return document

    spec, run = ("workflow", "specification"), ("workflow", "execution")
    for document, path, value, said in [
            (WORKFLOW, ("workflow",), [], "workflow is a list, not an object"),
            (WORKFLOW, spec, "x", "workflow.specification is text, not an object"),
            (WORKFLOW, run, [], "workflow.execution is a list, not an object"),
            (WORKFLOW, run + ("tasks",), {}, "execution.tasks is an object, not a list"),
            (WORKFLOW, run + ("tasks", 0), "x", "execution.tasks[0] is text, not an obj"),
            (WORKFLOW, run + ("tasks", 0, "runtimeInSeconds"), "1.5",
             "execution.tasks[0].runtimeInSeconds is text, not a number"),
            (WORKFLOW, run + ("tasks", 0, "coreCount"), True,
             "execution.tasks[0].coreCount is true or false, not a number"),
            (WORKFLOW, run + ("tasks", 0, "id"), 1, "tasks[0].id is a number, not text"),
            (WORKFLOW, spec + ("tasks",), "x", "specification.tasks is text, not a list"),
            (WORKFLOW, spec + ("tasks", 0), [], "specification.tasks[0] is a list, not"),
            (WORKFLOW, spec + ("tasks", 0, "id"), 7, "tasks[0].id is a number, not text"),
            (WORKFLOW, spec + ("tasks", 0, "name"), [], "tasks[0].name is a list, not t"),
            (WORKFLOW, spec + ("tasks", 0, "category"), 3, "category is a number, not t"),
            (WORKFLOW, spec + ("tasks", 1, "parents"), "work",
             "specification.tasks[1].parents is text, not a list"),
            (WORKFLOW, spec + ("tasks", 1, "parents"), [3],
             "specification.tasks[1].parents[0] is a number, not text"),
            (WORKFLOW, spec + ("tasks", 0, "children"), {"a": 1},
             "specification.tasks[0].children is an object, not a list"),
            (WORKFLOW, spec + ("tasks", 0, "inputFiles"), "f",
             "specification.tasks[0].inputFiles is text, not a list"),
            (WORKFLOW, spec + ("tasks", 0, "outputFiles"), [{}],
             "specification.tasks[0].outputFiles[0] is an object, not text"),
            (WORKFLOW, spec + ("files",), "f", "specification.files is text, not a list"),
            (WORKFLOW, spec + ("files", 0), "f", "specification.files[0] is text, not"),
            (WORKFLOW, spec + ("files", 0, "id"), 1, "files[0].id is a number, not text"),
            (WORKFLOW, spec + ("files", 0, "sizeInBytes"), "9",
             "specification.files[0].sizeInBytes is text, not a number"),
            (WORKFLOW, spec + ("files", 0, "sizeInBytes"), -9, "a file of -9 bytes"),
            (OLDER, ("workflow", "tasks", 0, "files"), "f", "tasks[0].files is text, not"),
            (OLDER, ("workflow", "tasks", 0, "files", 0), "f", "files[0] is text, not an"),
            (OLDER, ("workflow", "tasks", 0, "files", 0, "link"), 1,
             "workflow.tasks[0].files[0].link is a number, not text"),
            (OLDER, ("workflow", "tasks", 0, "files", 0, "size"), "1",
             "workflow.tasks[0].files[0].size is text, not a number"),
            (OLDER, ("workflow", "tasks", 0, "runtime"), "1",
             "workflow.tasks[0].runtime is text, not a number")]:
        yield change(document, path, value), said


def test_wrong_types(folder):
    path = os.path.join(folder, "types.json")
    for document, said in wrong_types():
        write(path, json.dumps(document))
        lines, ran = lines_of(path)
        claim("WfCommons: %s" % said, ran.code == 1 and said in ran.err and not lines,
              ran)
    document = json.loads(json.dumps(OLDER))
    document["workflow"]["tasks"][0].update(parents=None, category=None)
    write(path, json.dumps(document))
    lines, ran = lines_of(path)
    claim("WfCommons: null is nothing", lines, ran)


def kernels_of(lines):
    names = {line.split()[1]: re.search('name="([^"]*)"', line).group(1)
             for line in lines if line.startswith("codelet ")}
    return [names[re.search(r"codelet=(\d+)", line).group(1)]
            for line in lines if re.match(r"submit \d+ codelet=", line)]


def test_kinds(folder):
    names = ["step_%d_of_40" % i for i in range(40)] + ["align-%d" % i for i in range(3)]
    path = write(os.path.join(folder, "kinds.json"), json.dumps({"workflow": {"tasks": [
        {"name": name, "runtime": 1, "category": "c", "machine": "m%d" % (i % 2),
         "command": {"program": "p%d" % (i % 3)}} for i, name in enumerate(names)]}}))
    claim("kinds: a category, as it is", set(kernels_of(lines_of(path)[0])) == {"c"})
    for rules, expected in (
            ("name", names),
            ("align-*=align", ["c"] * 40 + ["align"] * 3),
            ("align-1 = one; align-*=align", ["c"] * 40 + ["align", "one", "align"]),
            ("field:machine", ["m%d" % (i % 2) for i in range(43)]),
            ("field:command.program", ["p%d" % (i % 3) for i in range(43)]),
            ("name; align-*=align", names[:40] + ["align"] * 3)):
        lines, ran = lines_of(path, "--kinds", rules)
        claim("kinds: %s" % rules, kernels_of(lines) == expected, ran, kernels_of(lines))
    for rules, said in (("align", "is no rule: write name, field:FIELD or PATTERN=KIND"),
                        ("=x", "is no rule"), ("x=", "is no rule"),
                        ("field:", "is no rule"),
                        ("field:nosuch", 'no task has the field "nosuch"'),
                        ("field:command", "command is an object, not text"),
                        ("nosuch*=x", '"nosuch*" is the name of no task')):
        lines, ran = lines_of(path, "--kinds", rules)
        claim("kinds: %s: %s" % (rules, said),
              ran.code == 1 and said in ran.err and not lines, ran)
    record = path + ".orr"
    lines_of(path)
    ran = Ran(ORRERY, "record", "import", "-o", record + "2", "--kinds", "name", record)
    claim("kinds: a record has its kernels", ran.code == 2 and "is a record" in ran.err,
          ran)


def test_kinds_of_formats(folder):
    """The name and a field of each format."""
    tables = os.path.join(folder, "kinds")
    os.mkdir(tables)
    write(os.path.join(tables, "e.nodes.csv"), "id,kernel,site\na,k1,s\nb,k2,t\n")
    write(os.path.join(tables, "dag.csv"), "JobId,Dependent\n0_5,0_4\n")
    files = {
        "a.dax": ("""<?xml version="1.0"?><adag name="x">
<job id="ID1" name="k1" site="s" runtime="1"/><job id="ID2" name="k2" site="t" runtime="1"/>
</adag>""", "site"),
        "e.csv": ("from,to\na,b\n", "site"),
        "application.csv": ("Value,JobId,Duration,Site\nk1,0_4,1,s\nk2,0_5,1,t\n", "Site"),
        "tasks.rec": (task("0_1", 1, "Site: s", name="k1") +
                      task("0_2", 2, "Site: t", name="k2"), "Site"),
    }
    if Ran("sh", "-c", "command -v gv2gxl").code == 0:
        files["a.dot"] = ('digraph G { a [label=k1, ms=1, site=s]; '
                          'b [label=k2, ms=1, site=t]; a -> b }', "site")
    for name, (text, field) in files.items():
        path = write(os.path.join(tables, name), text)
        for rules, expected in (("field:" + field, ["s", "t"]), ("k?=k", ["k", "k"]),
                                ("name", ["k1", "k2"])):
            lines, ran = lines_of(path, "--kinds", rules)
            claim("kinds of %s: %s" % (name, rules), kernels_of(lines) == expected, ran,
                  kernels_of(lines), *lines[:20])


def test_scale(folder):
    """A graph of the same shape, wider."""
    path = write(os.path.join(folder, "wide.csv"), "from,to,bytes\n" + "".join(
        "s,w%d,10\nw%d,v%d,20\nv%d,m,30\n" % (i, i, i, i) for i in range(3)) + "m,e,40\n")
    write(os.path.join(folder, "wide.nodes.csv"), "id,kernel,us\ns,split,100\nm,merge,100\n"
          "e,end,100\n" + "".join("w%d,work,%d\nv%d,look,50\n" % (i, 100 + i, i)
                                 for i in range(3)))
    lines, ran = lines_of(path, "--scale", "4")
    kernels = kernels_of(lines)
    claim("--scale: tasks of which there are several are as many more, others stay",
          {name: kernels.count(name) for name in kernels} ==
          {"split": 1, "work": 12, "look": 12, "merge": 1, "end": 1}, ran, *lines)
    reads = {}
    for line in lines:
        found = re.match(r"submit (\d+) codelet=\d+ data=(\S+)", line)
        if found:
            uses = [use.split(":") for use in found.group(2).split(",")]
            reads[found.group(1)] = ([d for d, mode in uses if mode == "r"],
                                     [d for d, mode in uses if mode == "w"])
    writers = {d: task for task, (_, written) in reads.items() for d in written}
    merge = max(reads, key=lambda task: len(reads[task][0]))
    claim("… what is there once waits for all, each of them for its own",
          len(reads[merge][0]) == 12 and len({writers[d] for d in reads[merge][0]}) == 12 and
          all(len(reads[writers[d]][0]) == 1 for d in reads[merge][0]), ran, reads)
    claim("--scale 1 is the graph itself",
          lines_of(path)[0] == lines_of(path, "--scale", "1")[0])
    lines_of(path, "--scale", "40")
    us = makespan(path + ".orr", "--assume", "kernel[*] = 1ms", machine="epyc-64")
    claim("a wide graph takes the rounds of its workers", isinstance(us, float) and
          7000 <= us < 7300, us)
    wide = write(os.path.join(folder, "twice.json"), json.dumps({"workflow": {"tasks": [
        {"name": "a_%d" % i, "runtime": 1, "files": [
            {"name": "in", "link": "input", "sizeInBytes": 7},
            {"name": "own%d" % i, "link": "input", "sizeInBytes": 8}]} for i in range(2)] +
        [{"name": "b", "runtime": 1, "files": [
            {"name": "in", "link": "input", "sizeInBytes": 7}]}]}}))
    lines, ran = lines_of(wide, "--scale", "3")
    claim("--scale: a file that several read stays one, that of one task is multiplied",
          sum("shape=7" in line for line in lines) == 1 and
          sum("shape=8" in line for line in lines) == 6, ran, *lines)
    for file, words, said in ((path, ["--scale", "x"], "--scale takes a number from 1"),
                              (os.path.join(folder, "tasks.rec"), ["--scale", "2"],
                               "--scale is for workflows and graphs")):
        lines, ran = lines_of(file, *words)
        claim("%s: %s" % (" ".join(words), said), ran.code != 0 and said in ran.err, ran)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = test_tasks(folder)
        test_ends(folder)
        test_times(folder)
        test_schedule(folder)
        test_written(folder)
        test_as_the_application(folder)
        test_everywhere(path)
        test_wrong_tasks(folder)
        test_dax(folder)
        test_wfcommons(folder)
        test_wrong_types(folder)
        test_kinds(folder)
        test_kinds_of_formats(folder)
        test_dot(folder)
        test_csv(folder)
        test_starvz(folder)
        test_scale(folder)
    tap.end()


if __name__ == "__main__":
    main()

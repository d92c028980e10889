#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What StarPU's trace tools make of an FxT file, as timelines, records and models: paje.trace,
tasks.rec, trace.rec, by hand and as Orrery writes them. Prints TAP.

usage: test-import-fxt.py ORRERY RECORDED STARPU_FXT_TOOL
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

ORRERY, RECORDED, FXT_TOOL = sys.argv[1:4]
MACHINE = "h100-pcie-4"
tap = Tap()


def run(*words, **more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("STARPU_") and not name.startswith("ORRERY_RECORD")}
    env.update({"STARPU_SILENT": "1", "STARPU_PERF_MODEL_DIR": "/nonexistent", **more})
    done = subprocess.run(words, env=env, text=True, capture_output=True, errors="replace",
                          timeout=100, check=False)
    done.words = "%s\n%s%s" % (words, done.stdout, done.stderr)
    return done


def write(path, text):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def claim(text, passed, *details):
    tap.claim(text, bool(passed), *details)


# Other numbers and another order than StarPU's usual ones: what the header says counts.
HEAD = """%EventDef PajeDefineContainerType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 3
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 6
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 7
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 8
% Time date
% Name string
% Type string
%EndEventDef
%EventDef PajeSetState 110
% Time date
% Container string
% Type string
% Value string
%EndEventDef
%EventDef PajeSetState 33
% Time date
% Value string
% Container string
% Type string
% Footprint string
% JobId string
%EndEventDef
%EventDef PajeStartLink 18
% Time date
% Type string
% Container string
% Value string
% StartContainer string
% Key string
%EndEventDef
%EventDef PajeEndLink 19
% Time date
% Type string
% Container string
% Value string
% EndContainer string
% Key string
%EndEventDef
1 W T "Worker"
3 WS W "Worker State"
6 I WS "Idle" "1 1 1"
6 "gemm" WS "gemm" "0 0 1"
6 "k2" WS "trsm, of a panel" "0 1 1"
7 0.0 p P 0 program
"""
BODY = """7 0.0 mn0 Mn p MEMNODE0
7 0.0 mm0 Mm mn0 MEMMANAGER0
7 0.0 mn1 Mn p MEMNODE1
7 0.0 mm1 Mm mn1 MEMMANAGER1
7 0.0 t0 T mn0 T0
7 0.0 w0 W t0 CPU0
7 0.0 t1 T mn1 T1
7 0.0 w1 W t1 CUDA0_0
110 0.0 w0 WS I
33 1.0 "gemm" w0 WS c0ffee 3
18 1.5 F p 4096 mm0 com_1
19 2.0 F p 4096 mm1 com_1
110 2.5 w0 WS I
33 2.0 "k2" w1 WS abc 4
33 4.0 "gemm" w1 WS c0ffee 5
110 4.25 t1 S I
18 4.5 WSL p 5 w0 steal_1
19 4.5 WSL p 5 w1 steal_1
8 5.0 w1 W
"""
TASKS = """Name: gemm
Model: my_gemm
JobId: 3
SubmitOrder: 1
WorkerId: 0
MemoryNode: 0
StartTime: 1.0
EndTime: 2.5
Footprint: c0ffee
Handles: a
Modes: RW
Sizes: 4096

Name: trsm
JobId: 4
SubmitOrder: 2
DependsOn: 3
WorkerId: 1
MemoryNode: 1
StartTime: 2.0
EndTime: 4.0
Footprint: abc

Name: gemm
Model: my_gemm
JobId: 5
SubmitOrder: 3
WorkerId: 1
MemoryNode: 1
StartTime: 4.0
EndTime: 5.0
Footprint: c0ffee
Handles: a
Modes: R
Sizes: 4096

"""
STATES = """# E: event

E: start_profiling
C: Program
W: -1
T: -1
S: 0.5

E: SetState
N: gemm
C: Task
W: 0
T: 0
S: 1.0

E: SetState
N: Idle
C: Other
W: 0
T: 0
S: 2.5

E: SetState
N: trsm
C: Task
W: 1
T: 1
S: 2.0

E: SetState
N: Deinitializing
C: Runtime
W: 1
T: 1
S: 4.0

"""


def rows_of(path, kind):
    with open(path, encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["record"] == kind]


def spans(path):
    """(worker's name, task's name, begin, end), ms."""
    names = {row["worker"]: row["name"] for row in rows_of(path, "worker")}
    return sorted((names[row["worker"]], row["name"], round(float(row["start_ms"]), 5),
                   round(float(row["end_ms"]), 5)) for row in rows_of(path, "task"))


def as_timeline(folder, path):
    trace = os.path.join(folder, "timeline.csv")
    done = run(ORRERY, "record", "import", "-o", os.path.join(folder, "x.rec"), "--timeline",
               trace, path)
    return (trace if done.returncode == 0 else None), done


def test_by_hand(folder):
    tasks = write(os.path.join(folder, "tasks.rec"), TASKS)
    paje = write(os.path.join(folder, "paje.trace"), HEAD + BODY)
    states = write(os.path.join(folder, "trace.rec"), STATES)
    trace, done = as_timeline(folder, paje)
    # Times count from the first start.
    claim("paje.trace: executions by the numbers and the order of its header",
          trace and spans(trace) == [("CPU0", "gemm", 0.0, 1.5),
                                     ("CUDA0_0", "gemm", 3.0, 4.0),
                                     ("CUDA0_0", "trsm, of a panel", 1.0, 3.0)],
          done.words, trace and spans(trace))
    copies = rows_of(trace, "copy") if trace else []
    claim("links between memories are copies, others are not",
          [(row["from"], row["node"], row["bytes"], float(row["start_ms"]),
            float(row["end_ms"])) for row in copies] == [("0", "1", "4096", 0.5, 1.0)], copies)
    claim("the device's tasks are on its memory node",
          trace and {row["name"]: row["node"] for row in rows_of(trace, "worker")} ==
          {"CPU0": "0", "CUDA0_0": "1"}, done.words)
    with open(os.path.join(folder, "x.rec"), encoding="utf-8") as file:
        record = file.read()
    claim("the record is that of the tasks.rec beside it",
          'symbol="my_gemm"' in record and 'name="trsm"' in record and
          "submit 3 " in record, done.words, record)
    trace, done = as_timeline(folder, tasks)
    claim("tasks.rec: when each task was executed",
          trace and spans(trace) == [("worker 0", "gemm", 0.0, 1.5),
                                     ("worker 1", "gemm", 3.0, 4.0),
                                     ("worker 1", "trsm", 1.0, 3.0)], done.words)
    trace, done = as_timeline(folder, states)
    claim("trace.rec: states of the category Task, until the next one",
          trace and spans(trace) == [("worker 0", "gemm", 0.0, 1.5),
                                     ("worker 1", "trsm", 1.0, 3.0)], done.words)
    return tasks, paje, states


def test_models(folder, tasks):
    models = os.path.join(folder, "models.json")
    done = run(ORRERY, "record", "import", "-o", os.path.join(folder, "y.rec"), "--models",
               models, tasks)
    found = {}
    if done.returncode == 0:
        with open(models, encoding="utf-8") as file:
            found = {model["symbol"]: model for model in json.load(file)["models"]}
    rows = [(combination["devices"][0]["type"], entry["footprint"], entry["mean"], entry["n"])
            for combination in found.get("my_gemm", {}).get("combinations", [])
            for entry in combination["implementations"][0]["entries"]]
    claim("models: by the model's symbol, footprint and kind of worker, µs",
          rows == [("cpu", "00c0ffee", 1500.0, 1), ("cuda", "00c0ffee", 1000.0, 1)] and
          set(found) == {"my_gemm", "trsm"}, done.words, found)
    home = os.path.join(folder, "home")
    done = run(ORRERY, "perfmodel", "import", "--host", "mine", models, HOME=home,
               STARPU_HOME=home, STARPU_PERF_MODEL_DIR=os.path.join(home, "sampling"))
    claim("orrery perfmodel takes them", done.returncode == 0, done.words)
    os.rename(os.path.join(folder, "paje.trace"), os.path.join(folder, "kept"))
    done = run(ORRERY, "record", "import", "-o", os.path.join(folder, "y.rec"), "--models",
               models, tasks)
    claim("without paje.trace the kinds of workers are not known, which is said",
          done.returncode == 1 and "keep the paje.trace beside it" in done.stderr, done.words)
    os.rename(os.path.join(folder, "kept"), os.path.join(folder, "paje.trace"))


def test_beside(folder, paje):
    page = os.path.join(folder, "page.html")
    done = run(ORRERY, "report", "-m", MACHINE, "-s", "dmdas", "-o", page, "--beside", paje, "--",
               paje)
    text = ""
    if os.path.exists(page):
        with open(page, encoding="utf-8") as file:
            text = file.read()
    claim("the run as it was stands beside the simulated one", done.returncode == 0 and
          "CUDA0_0" in text and "trsm, of a panel" in text, done.words)


def test_wrong(folder, states):
    alone = os.path.join(folder, "alone")
    os.mkdir(alone)
    for name, text, said in (
            ("paje.trace", HEAD + BODY, "keep the tasks.rec beside it"),
            ("trace.rec", STATES, "keep the tasks.rec beside it")):
        done = run(ORRERY, "record", "import", "-o", os.path.join(alone, "x.rec"),
                   write(os.path.join(alone, name), text))
        claim("%s alone has no dependencies: the remedy is said" % name,
              done.returncode == 1 and said in done.stderr, done.words)
    write(os.path.join(alone, "tasks.rec"), TASKS)
    for text, said in (
            (HEAD + "99 0.0 w0", "event 99 is not defined"),
            (HEAD + "33 1.0 gemm", "event 33 has 6 fields, not 2"),
            (HEAD + BODY.replace("33 2.0", "33 soon"), '"soon" is no time in ms'),
            (HEAD + BODY.replace("w1 WS abc", "w7 WS abc"), 'there is no container "w7"'),
            (HEAD + BODY.replace("t1 T mn1", "t0 T mn1"), 'second container "t0"'),
            (HEAD + BODY.replace("33 ", "# "), "no state in it is a task's"),
            ("%EventDef PajeSetState x\n", "EventDef"),
            (HEAD + "% a b\n",
             "a field of no event"),
            ("%EventDef PajeSetState 1\n" + "% Time date\n" * 40, "more than 32 fields")):
        path = write(os.path.join(alone, "paje.trace"), text)
        if os.path.exists(os.path.join(alone, "t.csv")):
            os.remove(os.path.join(alone, "t.csv"))
        done = run(ORRERY, "record", "import", "-o", os.path.join(alone, "x.rec"), "--timeline",
                   os.path.join(alone, "t.csv"), path)
        claim("paje.trace: %s" % said, done.returncode == 1 and said in done.stderr and
              not os.path.exists(os.path.join(alone, "t.csv")), done.words)
    for text, said in (
            (STATES.replace("S: 2.0", "S: late"), "where a number is to be"),
            (STATES.replace("S: 2.0\n", ""), "has no time"),
            (STATES.replace("W: 1", "W: 99999999"), "a worker that there is not"),
            (STATES.replace("C: Task", "C: Other"), "no task in it says")):
        path = write(os.path.join(alone, "trace.rec"), text)
        done = run(ORRERY, "record", "import", "-o", os.path.join(alone, "x.rec"), "--timeline",
                   os.path.join(alone, "t.csv"), path)
        claim("trace.rec: %s" % said, done.returncode == 1 and said in done.stderr, done.words)
    script = write(os.path.join(alone, "script"), "#!/bin/sh\n: <<'END'\n" + HEAD +
                   BODY + STATES + "END\nexit 7\n")
    os.chmod(script, 0o755)
    done = run(ORRERY, "run", "-m", MACHINE, "--", script)
    claim("a script that has such a file in it is a program", done.returncode == 7, done.words)
    claim("a whole one is read after all", as_timeline(folder, states)[0])


def plain(name):
    return name.replace('"', "_").strip()


def test_as_written(folder):
    """What our own writers make of a run is the run."""
    own = os.path.join(folder, "own")
    os.mkdir(own)
    traces = {name: os.path.join(own, name) for name in ("run.csv", "paje.trace", "tasks.rec")}
    for path in traces.values():
        done = run(ORRERY, "trace", "-m", MACHINE, "-s", "dmda", "--assume", "kernel[*] = 3ms",
                   "-o", path, *(("--gantt", path + ".png") if "paje" in path else ()), "--",
                   RECORDED)
        if not os.path.exists(path):
            claim("%s is written" % path, False, done.words)
            return
    first = min(float(row["start_ms"]) for row in rows_of(traces["run.csv"], "task"))
    # Quotation marks of names are not in these files.
    truth = sorted((plain(name), round(begin - first, 4), round(end - first, 4))
                   for _, name, begin, end in spans(traces["run.csv"]))
    for name in ("paje.trace", "tasks.rec"):
        trace, done = as_timeline(folder, traces[name])
        found = trace and sorted((plain(kernel), round(begin, 4), round(end, 4))
                                 for _, kernel, begin, end in spans(trace))
        claim("%s of a simulated run has its tasks" % name, trace and len(found) == len(truth) and
              all(a[0] == b[0] and abs(a[1] - b[1]) < 2e-3 and abs(a[2] - b[2]) < 2e-3
                  for a, b in zip(found, truth)), done.words, found and found[:5], truth[:5])
    trace, done = as_timeline(folder, traces["paje.trace"])
    claim("… and its copies", trace and len(rows_of(trace, "copy")) ==
          len(rows_of(traces["run.csv"], "copy")), done.words)
    made = os.path.join(folder, "made")
    os.mkdir(made)
    done = run(sys.executable, FXT_TOOL, "-i", traces["run.csv"], "-d", made)
    if not os.path.exists(os.path.join(made, "trace.rec")):
        claim("starpu_fxt_tool makes a trace.rec", False, done.words)
        return
    shutil.copy(traces["tasks.rec"], made)
    trace, done = as_timeline(folder, os.path.join(made, "trace.rec"))
    claim("trace.rec of starpu_fxt_tool has as many executions",
          trace and len(spans(trace)) == len(truth), done.words)


def main():
    with tempfile.TemporaryDirectory() as folder:
        tasks, paje, states = test_by_hand(folder)
        test_models(folder, tasks)
        test_beside(folder, paje)
        test_wrong(folder, states)
        test_as_written(folder)
    tap.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application without models, from real to simulated: the record of a run brings
the times of its kernels, and a calibration keeps them under the codelets' names. The
"real" machine measures in virtual time, so that all times are exact. TAP.

usage: test-own-times.py ORRERY BENCH FAKE_DIRECTORY GPUS_XML
"""
import collections
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../unit"))
from tools_util import Result, Tap  # noqa: E402  pylint: disable=wrong-import-position

ORRERY, BENCH, FAKE, GPUS = sys.argv[1:]
TAP = Tap()
FOLDER = tempfile.mkdtemp()
SHAPE = {"STARPU_NCPU": "3", "STARPU_NCUDA": "0", "STARPU_SCHED": "lws"}
REAL = dict(SHAPE, ORRERY_MODULE_DIR=FAKE, ORRERY_MACHINE="fake",
            STARPU_NCPU="3")
HERE = {"STARPU_HOSTNAME": "fake"}  # whose models a simulation has


def path(name):
    return os.path.join(FOLDER, name)


def run(words, sampling="none", **more):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("STARPU_", "ORRERY_"))}
    env.update(more, STARPU_HOME=path(sampling))
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", check=False)
    return Result(words, done.returncode, done.stdout, done.stderr)


def read(name):
    with open(path(name), "rb") as file:
        return file.read()


def took(name):
    """µs of each run of a task in a record, as text, by the task's number."""
    times = collections.defaultdict(list)
    for task, us in re.findall(r"^took (\d+) us=([\d.e+-]+)",
                               read(name).decode(), re.M):
        times[int(task)].append(float(us))
    return times


def lengths(name):
    """µs of all tasks that a trace in CSV has, sorted. Kernels take whole hundredths: with one
    digit 71.05 would be rounded either way."""
    with open(path(name), encoding="utf-8") as file:
        rows = list(csv.DictReader(
            line for line in file if not line.startswith("#")))
    return sorted(round(1e3 * (float(row["end_ms"]) - float(row["start_ms"])), 2)
                  for row in rows if row["record"] == "task")


def kernels(result):
    return {(kernel["name"], kernel["footprint"]): kernel
            for kernel in json.loads(result.out)["kernels"]}


def replay(name, *words, **more):
    return run([ORRERY, "replay", path(name), "-m", GPUS, "--json", *words],
               **SHAPE, **more)


def test_record():
    ran = run([BENCH, "60"], ORRERY_RECORD=path("a.rec"),
              ORRERY_REPORT=path("real.json"), **REAL)
    TAP.claim("the program runs on the fake machine", ran.code == 0, ran)
    text = read("a.rec").decode()
    real = json.loads(read("real.json"))
    times = took("a.rec")
    TAP.claim("a record of a real run has each task's time and whose they are",
              ran.code == 0 and 'host="fake"' in text and
              len(times) == text.count("\nsubmit ") - 2, ran, text)
    TAP.claim("a task that is submitted three times has three",
              sorted(map(len, times.values()))[-2:] == [1, 3], times)
    TAP.claim("tasks of the library's own have a row",
              re.search(r"^row codelet=\d+ footprint=\w+ size=8 value=\d+ us=3\d",
                        text, re.M), text)
    for name in ("a.rec", "a.recb"):
        if name == "a.recb":
            ran = run([ORRERY, "record", "import", "-o", path(name),
                       path("a.rec")])
        again = replay(name, ORRERY_TRACE=path("again.csv"), **HERE)
        report = json.loads(again.out or "{}")
        mine = sorted(round(us, 2) for one in times.values() for us in one)
        left = collections.Counter(mine) - collections.Counter(
            lengths("again.csv") if again.code == 0 else [])
        TAP.claim("%s: in a replay on that machine each takes its own" % name,
                  again.code == 0 and len(left) < 2, left, ran, again)
        TAP.claim("%s: its makespan is the run's, but for what the runtime "
                  "costs, which changes who takes what" % name,
                  abs(report.get("makespan_us", 0) / real["makespan_us"] - 1)
                  < 0.1, real["makespan_us"], again)
    ran = run([BENCH, "60"], ORRERY_RECORD=path("none.rec"),
              ORRERY_RECORD_TIMES="0", **REAL)
    text = read("none.rec").decode()
    TAP.claim("without times if so wanted", ran.code == 0 and "host=" not in text
              and "took" not in text and "\nrow" not in text, ran, text)


def test_choice():
    for policy in ("eager", "dmda", "dmdas"):
        again = replay("a.rec", "-s", policy, **HERE)
        TAP.claim("%s takes no implementation that never ran" % policy,
                  again.code == 0, again)
    again = replay("a.rec")
    TAP.claim("another machine does not take them", again.code == 1 and
              "which is not known" in again.err, again)
    again = replay("a.rec", "--times", "record")
    TAP.claim("unless it is told to", again.code == 0 and
              json.loads(again.out)["makespan_us"] > 0, again)
    again = replay("a.rec", "--times", "models", **HERE)
    TAP.claim("the same machine does not if it is told not to",
              again.code == 1 and "which is not known" in again.err, again)
    again = replay("a.rec", "--assume", "* = 5us", **HERE)
    own = kernels(again) if again.code == 0 else {}
    TAP.claim("own times win over assumed ones", own and
              all(kernel["mean_us"] > 20 for kernel in own.values()), again)
    for words, said in ((["--times", "mine"], "write record or models"),):
        again = replay("a.rec", *words)
        TAP.claim("a wrong choice is refused", again.code == 2 and
                  said in again.err, again)
    again = replay("a.rec", ORRERY_REPLAY_TIMES="x")
    TAP.claim("so is a wrong variable", again.code == 1 and
              "write `record'" in again.err, again)


def damaged(name, *changes):
    text = read("a.rec").decode()
    for old, new in changes:
        text = re.sub(old, new, text, count=1, flags=re.M)
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(text)


def test_damage():
    for change, said in (
            ((r"^took (\d+) us=", r'took \1 kind="TPU" us='), '"TPU"'),
            ((r"^took (\d+) us=", r"took \1 implementation=9 us="),
             "implementation 9"),
            ((r"^row codelet=\d+", "row codelet=99"), "no codelet 99"),
            ((r"^took \d+ us=", "took 99999999999 us="), "number 99999999999"),
            ((r"^took (\d+) us=[^ \n]*", r"took \1 us=-5"), None)):
        damaged("bad.rec", change)
        again = replay("bad.rec", **HERE)
        TAP.claim("a record with %s %s" % (change[1], "is refused" if said else
                                           "takes the row's time there"),
                  again.code == (1 if said else 0) and (said or "") in again.err,
                  again)


def test_calibration():
    for _ in range(3):
        ran = run([BENCH, "240"], "models", STARPU_CALIBRATE="1", **REAL)
    TAP.claim("codelets that share a name are told to", ran.err.count(
        "codelets with different kernels have the name `step'") == 1, ran)
    names = sorted(name for name in os.listdir(
        path("models/.starpu/sampling/codelets/45")) if name[0] != ".")
    TAP.claim("a calibration keeps what codelets without model take, by their "
              "names", ran.code == 0 and names ==
              ["add~default.fake", "first_way~default.fake", "join~default.fake",
               "step~default.fake", "two%20ways~default.fake"], ran, names)
    said = run([ORRERY, "perfmodel", "show", "step~default", "--json"], "models",
               **HERE)
    rows = [row for comb in json.loads(said.out)["combinations"]
            for impl in comb["implementations"] for row in impl["entries"]] \
        if said.code == 0 else []
    TAP.claim("tasks without data are told apart by their flops",
              sorted(row["flops"] or 0 for row in rows) ==
              [0, 20000, 40000, 80000], said)
    again = run([ORRERY, "run", "-m", GPUS, "--json", "--", BENCH, "60"],
                "models", **SHAPE, **HERE)
    found = kernels(again) if again.code == 0 else {}
    times = sorted(round(kernel["mean_us"]) for (name, _), kernel in found.items()
                   if name == "step")
    TAP.claim("which is what a simulation takes", len(times) == 4 and
              all(abs(time / flops - 1) < 0.11 for time, flops in
                  zip(times, (20, 30, 40, 80))), again, times)
    again = run([ORRERY, "run", "-m", GPUS, "--json", "--", BENCH, "60", "60000"],
                "models", **SHAPE, **HERE)
    found = kernels(again) if again.code == 0 else {}
    times = [kernel for (name, _), kernel in found.items() if name == "step" and
             kernel["origin"] == "interpolated"]
    TAP.claim("other flops lie between them", len(times) == 1 and
              abs(times[0]["mean_us"] / 60 - 1) < 0.11, again, times)
    again = run([ORRERY, "run", "-m", GPUS, "--", BENCH, "60"], "models",
                ORRERY_DEFAULT_MODELS="0", **SHAPE, **HERE)
    TAP.claim("not where they are switched off", again.code == 1 and
              "which is not known" in again.err, again)
    again = run([ORRERY, "perfmodel", "list"], "models", **HERE)
    TAP.claim("they are listed as models", "step~default" in again.out, again)


try:
    test_record()
    test_choice()
    test_damage()
    test_calibration()
finally:
    shutil.rmtree(FOLDER)
TAP.end()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that use OpenMP, compiled by gcc and by clang, are recorded; their records are
replayed on machines of 1 to 64 cores: in less time on more cores (but for what threads do
that wait), never in less than the bounds, and the same each time. TAP.

usage: test-programs.py ORRERY FOLDER_OF_PROGRAMS
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "../unit")]
import compilers  # noqa: E402  pylint: disable=wrong-import-position
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

ORRERY, PROGRAMS = map(os.path.abspath, sys.argv[1:3])
MACHINE, CORES = "epyc-64", (1, 2, 4, 8, 16, 32, 64)
HELD = (1, 2, 8, 64)
TAP = Tap()
# How many explicit tasks each has in its region; None: not counted here.
TASKS = {"fib": 176, "nqueens": None, "sort": None, "sparselu": None, "strassen": 56,
         "alignment": 120, "health": 840, "uts": 268, "cholesky": 120, "loops": None,
         "modes": None, "reductions": None, "wavefront": 0}


def orrery(*words, threads=2):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_MAX_ACTIVE_LEVELS="2")
    return subprocess.run([ORRERY, *words], capture_output=True, text=True, check=False, env=env,
                          timeout=200)


def with_cores(n):
    return "-m", MACHINE, "--set", "cpu.count = %d" % n, "--json"


def replay(record, n, *more):
    done = orrery("replay", record, *with_cores(n), *more)
    return json.loads(done.stdout) if done.returncode == 0 else {"makespan_us": -1,
                                                                "wrong": done.stderr}


def work_of(record):
    """That of its tasks, and what the application does between its regions."""
    with open(record, encoding="utf-8") as file:
        text = file.read()
    return sum(float(us) for us in re.findall(r"^took .* us=(\S+)", text, re.M) +
               re.findall(r"^submit .* after=(\S+)", text, re.M))


def test_record(what, record, done):
    TAP.claim("%s is recorded, and right" % what, done.returncode == 0 and
              "record " in done.stdout, done.returncode, done.stdout, done.stderr)
    return int((re.search(r"with (\d+) tasks", done.stderr) or [0, -1])[1])


def test_replays(what, record):
    runs = [replay(record, n, "-s", "lws")["makespan_us"] for n in CORES]
    TAP.claim("%s: one core takes all the work, more take less" % what,
              abs(runs[0] - work_of(record)) < 1e-3 * runs[0] + 1000 and
              all(0 < b <= 1.02 * a for a, b in zip(runs, runs[1:])), runs, work_of(record))
    # A thread that waits may have begun what takes longer than its wait: more of them are not
    # always faster.
    held = [replay(record, n)["makespan_us"] for n in HELD]
    TAP.claim("%s: so do threads that wait for what is theirs, but for a tenth" % what,
              abs(held[0] - work_of(record)) < 1e-3 * held[0] + 1000 and
              all(0 < b <= 1.1 * a for a, b in zip(held, held[1:])), held, work_of(record))
    wrong = []
    for n in (2, 8, 64):
        done = orrery("bound", *with_cores(n), "--", record)
        bound = json.loads(done.stdout) if done.returncode == 0 else {}
        if not bound or bound["makespan_ms"] < bound["best"]["ms"] * (1 - 1e-9):
            wrong.append((n, bound.get("makespan_ms"), bound.get("best"), done.stderr))
    TAP.claim("%s: never less than the bounds" % what, not wrong, *wrong)
    again = replay(record, 8)["makespan_us"]
    named = replay(record, 8, "-s", "openmp-threads")["makespan_us"]
    TAP.claim("%s: the same where their policy is named" % what, named == again, named, again)
    TAP.claim("%s: the same each time" % what, again == held[HELD.index(8)], again, held)


def test_traces(what, folder, record):
    texts = []
    for name in ("one.csv", "other.csv"):
        path = os.path.join(folder, name)
        orrery("trace", "-m", MACHINE, "-o", path, "--", record)
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    TAP.claim("%s: traces of two replays are equal" % what, texts[0] == texts[1] and texts[0])


def test_names(what, record):
    """gcc inlines the functions that the three constructs call."""
    with open(record, encoding="utf-8") as file:
        kernels = re.findall(r'^codelet \d+ name="(\w+):\d+"', file.read(), re.M)
    TAP.claim("%s: constructs are called by the function that they are in" % what,
              kernels.count("factorize") == 3 and set(kernels) <= {"main", "factorize"}, kernels)


def test_commands(what, record):
    for words in (("compare", "-m", MACHINE, "-s", "lws,dmdas"), ("explain", "-m", MACHINE),
                  ("report", "-m", MACHINE, "-o", record + ".html")):
        done = orrery(*words, "--", record)
        TAP.claim("orrery %s takes the record of %s" % (words[0], what), done.returncode == 0,
                  done.stdout, done.stderr)
    done = orrery("replay", record, "--json")
    TAP.claim("here, times are those that were measured",
              done.returncode == 0 and json.loads(done.stdout)["makespan_us"] > 0, done.stderr)
    compact = record + "b"
    orrery("record", "import", "-o", compact, record)
    TAP.claim("the compact form is replayed alike",
              replay(compact, 8)["makespan_us"] == replay(record, 8)["makespan_us"])


def test_order(what, record):
    """Ten paths have all points of a grid of 10 by 10, so that the longest one has a tenth of the
    work at least, whatever each point took; pieces that nothing held back would take a 64th."""
    share = replay(record, 64)["makespan_us"] / work_of(record)
    TAP.claim("%s: iterations wait for others in replays, too" % what, 0.09 < share < 1, share)


def test_program(folder, name, there):
    counts = {}
    for compiler, words in there.items():
        program, what = os.path.join(folder, name), "%s (%s)" % (name, compiler)
        wrong = compilers.compile_program(words, os.path.join(PROGRAMS, name + ".c"), program)
        if wrong:
            TAP.claim("%s is compiled" % what, False, wrong)
            continue
        record = os.path.join(folder, "%s-%s.rec" % (name, compiler))
        for threads in (1, 2):
            done = orrery("record", "--cpu-time", "-o", record, "--", program, threads=threads)
            counts.setdefault(compiler, set()).add(
                test_record("%s with %d threads" % (what, threads), record, done))
        test_replays(what, record)
        if name == "wavefront":
            test_order(what, record)
        if name == "cholesky":
            test_traces(what, folder, record)
            test_names(what, record)
            test_commands(what, record)
    if name == "reductions":  # one thread has another number of tasks in a taskloop than two
        return
    # clang's runtime counts what a taskloop's tasks are copied from, gcc's is told of waits.
    sets = list(counts.values()) if name == "modes" else [set().union(*counts.values())]
    TAP.claim("%s: as many tasks as the program creates, by whichever runtime" % name,
              all(len(one) == 1 for one in sets) and
              (TASKS[name] is None or sets == [{TASKS[name]}]), counts)


with tempfile.TemporaryDirectory(prefix="orrery-openmp-") as where:
    have, lack = compilers.find(where)
    for one in TASKS:
        test_program(where, one, have)
    for one, why in lack.items():
        TAP.skip("programs of %s" % one, why)
TAP.end()

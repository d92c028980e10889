#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each allocation of `orrery record import` of a timeline and of a wider workflow fails in turn:
it ends with 1 and a message, and each file is whole, or not there. Prints TAP.

    test-oom-import.py ORRERY REFUSE.so [all]

Without `all` some of them, spread evenly, are tried.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit"))
import tools_util as util  # noqa: E402
from oom_util import numbers  # noqa: E402
from timeline_files import Loop, write_kineto  # noqa: E402

ORRERY, REFUSE = sys.argv[1:3]
TRIED = None if sys.argv[3:] else 60


def files_of(folder):
    found = {}
    for name in ("out.rec", "out.csv"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                found[name] = file.read()
            os.remove(path)
    return found


def run(folder, words, number):
    """The result, what it left, and how many allocations there were."""
    count = os.path.join(folder, "count")
    env = util.clean_environment(folder, "testbox", LD_PRELOAD=REFUSE, REFUSE=str(number),
                                 REFUSE_COUNT=count)
    result = util.run(ORRERY, "record", "import", "-o", os.path.join(folder, "out.rec"), *words,
                      env=env)
    with open(count, encoding="ascii") as file:
        return result, files_of(folder), int(file.read())


def verify(tap, folder, title, words):
    good, whole, n = run(folder, words, 0)
    wrong = []
    for number in numbers(n, TRIED):
        result, left, _ = run(folder, words, number)
        whole_ones = all(left[name] == whole[name] for name in left)
        if not whole_ones or (left != whole if result.code == 0
                              else result.code != 1 or not result.err.strip()):
            wrong.append("allocation %d: %d %s %s" % (number, result.code, result.err[-200:],
                                                      sorted(left)))
    tap.claim("%s: %d allocations" % (title, n), good.code == 0 and n > 100 and not wrong,
              *wrong[:5])


def main():
    tap = util.Tap()
    with tempfile.TemporaryDirectory() as folder:
        timeline = write_kineto(os.path.join(folder, "train.json"), Loop(steps=1))
        verify(tap, folder, "replicas of a timeline",
               ["--replicas", "2", "--exchange", "1MB", "--kinds", "*gemm*=g; field:stream",
                timeline])
        verify(tap, folder, "a timeline, and it as a trace",
               ["--timeline", os.path.join(folder, "out.csv"), timeline])
        workflow = os.path.join(folder, "wide.json")
        with open(workflow, "w", encoding="utf-8") as file:
            json.dump({"workflow": {"tasks": [
                {"name": "a_%d" % i, "runtime": 1, "files": [
                    {"name": "f%d" % i, "link": "output", "sizeInBytes": 8}]}
                for i in range(3)] + [{"name": "b", "runtime": 2, "files": [
                    {"name": "f%d" % i, "link": "input", "sizeInBytes": 8}
                    for i in range(3)]}]}}, file)
        traces = os.path.join(folder, "fxt")
        os.mkdir(traces)
        seeds = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "import")
        for seed, name in (("paje", "paje.trace"), ("states", "trace.rec"),
                           ("tasks", "tasks.rec")):
            with open(os.path.join(seeds, seed), encoding="utf-8") as file:
                text = file.read()[1:] # the letter before it is the fuzz target's
            with open(os.path.join(traces, name), "w", encoding="utf-8") as file:
                file.write(text)
        for name in ("paje.trace", "trace.rec", "tasks.rec"):
            verify(tap, folder, "a %s as a timeline" % name,
                   ["--timeline", os.path.join(folder, "out.csv"), os.path.join(traces, name)])
        verify(tap, folder, "a wider workflow", ["--scale", "3", workflow])
    tap.end()


main()

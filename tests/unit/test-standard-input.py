#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands that read traces, graphs and records take them from standard input, - : they
say what they say of the file. Prints TAP.

usage: test-standard-input.py ORRERY STARPU_REPLAY RECORDED
"""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tools_util import Result, Tap   # pylint: disable=wrong-import-position

M = ("-m", "h100-pcie-4")
ASSUME = ("--assume", "kernel[*] = 100us")
# A graph that can be imported, known by what is in it.
DOT = 'digraph G {\n a [label="a"];\n b [label="b"];\n a -> b;\n}\n'
tap = Tap()


class Bench:
    def __init__(self, orrery, folder):
        self.orrery, self.folder = orrery, folder
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(("STARPU_", "ORRERY_"))
                    or name == "ORRERY_MODULE_DIR"}
        self.env.update(STARPU_SILENT="1", STARPU_HOME=folder)

    def ran(self, words, text=None):
        """A pipe, or nothing, on standard input."""
        done = subprocess.run(
            words, cwd=self.folder, env=self.env, input=text or "", text=True,
            capture_output=True, timeout=100, check=False)
        return Result(words, done.returncode, done.stdout, done.stderr)

    def __call__(self, *words, text=None):
        return self.ran([self.orrery, *words], text)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()


def plain(result, name):
    """What is said, without the file's name and how long was computed."""
    text = re.sub(r"(/dev/)?(%s|stdin)\b" % re.escape(name), "@", result.out)
    text = re.sub(r"(yes|no|-) +\d+\.\d+  ", r"\1  ", text)
    return re.sub(r'((simulated in |"wall_s": )[\d.e-]+|[\d.e-]+(?=,+derived))', "", text)


def test_equal(bench, name, *words):
    """`words` have the name as a word."""
    by_name = bench(*words)
    by_pipe = bench(*["-" if word == name else word for word in words],
                    text=bench.read(name))
    tap.claim("orrery %s: %s from standard input is the file" % (words[0], name),
              by_name.code == 0 and by_pipe.code == 0
              and plain(by_name, name) == plain(by_pipe, name), by_name, by_pipe)


def test_read(bench):
    test_equal(bench, "run.csv", "explain", "run.csv", "--graph", "run.graph")
    test_equal(bench, "run.graph", "explain", "--graph", "run.graph", "run.csv")
    test_equal(bench, "run.csv", "explain", "other.csv", "run.csv")
    test_equal(bench, "run.csv", "explain", "--json", "run.csv", "other.csv")
    test_equal(bench, "run.csv", "report", "run.csv", "--plain", "--json")
    test_equal(bench, "run.graph", "bound", "--kind", "area", "run.graph")
    test_equal(bench, "run.rec", "bound", *M, *ASSUME, "--kind", "area", "run.rec")


def test_place(bench):
    """Where a record may stand for a program."""
    for words in (("run",), ("compare", "-s", "eager,dmda", "--csv"),
                  ("explain", "--json"), ("trace", "-o", "again.csv"),
                  ("replay",)):
        test_equal(bench, "run.rec", *words, *M, *ASSUME, "run.rec")
    test_equal(bench, "run.rec", "run", *M, *ASSUME, "--", "run.rec")
    test_equal(bench, "run.rec", "record", "import", "-o", "copy.rec", "run.rec")
    test_equal(bench, "graph.dot", "record", "import", "-o", "dot.rec", "graph.dot")
    tap.claim("what is imported from standard input is the record",
              bench.read("copy.rec") == bench.read("run.rec"))


def test_wrong(bench):
    for words in (("explain", "-"), ("report", "-"), ("run", *M, "-"),
                  ("replay", *M, "-"), ("bound", "-"),
                  ("record", "import", "-o", "x.rec", "-")):
        result = bench(*words, text="nothing of ours\n")
        tap.claim("orrery %s: what comes is named standard input" % words[0],
                  result.code in (1, 2) and re.search(
                      "standard input|/dev/stdin", result.err)
                  and "denied" not in result.err, result)
    result = bench("explain", "-", text=bench.read("run.csv"))
    tap.claim("explain: a trace that has no name has no graph beside it",
              result.code == 1 and "--graph FILE" in result.err, result)
    result = bench("explain", "-", "-", text=bench.read("run.csv"))
    tap.claim("standard input is one file", result.code == 2
              and "one file only" in result.err, result)
    result = bench("run", "--", "cat", "-", text="for the program\n")
    tap.claim("behind a program - is its own word",
              "for the program" in result.out, result)


def main():
    orrery, replay, recorded = map(os.path.abspath, sys.argv[1:4])
    with tempfile.TemporaryDirectory(prefix="orrery-test-") as folder:
        bench = Bench(orrery, folder)
        made = [bench("trace", *M, "-s", "dmda", *ASSUME, "-o", "run.csv", "--graph",
                      "run.graph", "--", recorded, "filter"),
                bench("trace", *M, "-s", "eager", *ASSUME, "-o", "other.csv", "--",
                      recorded, "filter"),
                bench("record", *M, *ASSUME, "-o", "run.rec", "--", recorded, "filter")]
        with open(os.path.join(folder, "graph.dot"), "w", encoding="utf-8") as file:
            file.write(DOT)
        tap.claim("files to be read", not any(one.code for one in made), *made)
        test_read(bench)
        test_place(bench)
        test_wrong(bench)
        tasks = "Name: a\nJobId: 1\nSubmitOrder: 1\nWorkerId: 0\n" \
                "StartTime: 1\nEndTime: 3.5\n\n"
        with open(os.path.join(folder, "tasks.rec"), "w", encoding="utf-8") as file:
            file.write(tasks)
        results = [bench.ran([replay, *M, name], text)
                   for name, text in (("tasks.rec", None), ("-", tasks))]
        tap.claim("starpu_replay: tasks.rec from standard input is the file",
                  results[0].out.startswith("2.5") and results[0].out == results[1].out,
                  *results)
    tap.end()


main()

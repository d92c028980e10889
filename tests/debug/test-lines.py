#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where tasks were submitted, in all that shows it (lines.c). Prints TAP.

    test-lines.py ORRERY LINES STF

STF is examples/stf/dot.cpp, whose tasks are submitted by a header.
"""
import csv
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import debug_util as debug
from tools_util import Tap

TOOL, PROGRAM, STF = map(os.path.abspath, sys.argv[1:4])
TOP = tempfile.TemporaryDirectory(prefix="orrery lines ")
SAID = 'a "folder"/<said> & done.c:7'
INSERTED = "/a, b/inserted.c:8"
CALLED = "/no such/folder & more/called<1>.c:40"
ALL = [SAID, INSERTED, CALLED]
OPTIONS = ("-m", debug.CPUS, "-s", "lws", "--assume", debug.TIMES)


def path(name):
    return os.path.join(TOP.name, name)


def orrery(*words, **more):
    return subprocess.run([TOOL, *words], env=debug.environment(**more), cwd=TOP.name,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", timeout=100, check=False)


def trace(name, *options, **more):
    done = orrery("trace", *OPTIONS, "-o", path(name), *options, "--", PROGRAM, **more)
    assert done.returncode == 0, done.stderr
    with open(path(name), encoding="utf-8") as file:
        return file.read()


def sources_of_csv(name):
    with open(path(name), encoding="utf-8", newline="") as file:
        return [row["name"] for row in csv.DictReader(file)
                if row["record"] == "submitted" and row["change"] == "1"]


def test_csv():
    trace("run.csv", "--lines", "--graph", path("run.graph"))
    found = sources_of_csv("run.csv")
    assert found == ALL, found


def test_as_before():
    """Who does not ask for them has the files that there were before."""
    with_lines = trace("with.csv", "--lines")
    plain = trace("plain.csv")
    assert sources_of_csv("plain.csv") == ["", "", ""]
    for source in ALL:
        with_lines = with_lines.replace('"' + source.replace('"', '""') + '"', "")
    assert with_lines == plain


def test_perfetto():
    slices = {event["args"]["job"]: event["args"].get("source")
              for event in json.loads(trace("run.json", "--lines"))["traceEvents"]
              if event.get("cat") == "task"}
    assert slices == {1: SAID, 2: INSERTED, 3: CALLED}, slices
    assert '"source"' not in trace("plain.json")


def test_dot():
    text = trace("run.dot", "--lines", ORRERY_LINKS="vscode")
    found = re.findall(r'"task_\d" \[.*?source="(.*?)"(?:, URL="(.*?)")?, tooltip="(.*?)"', text)
    # Quotation marks go, as in all names in such files.
    assert [one[0] for one in found] == [SAID.replace('"', "_"), INSERTED, CALLED], text
    assert [one[1] for one in found] == [
        "", "vscode://file/a%2C%20b/inserted.c:8",
        "vscode://file/no%20such/folder%20%26%20more/called%3C1%3E.c:40"], found
    assert found[1][2].endswith(", " + INSERTED), found
    assert "source=" not in trace("plain.dot")
    if shutil.which("dot"):
        svg = subprocess.run(["dot", "-Tsvg", path("run.dot")], stdout=subprocess.PIPE,
                             encoding="utf-8", check=True).stdout
        links = [html.unescape(one) for one in re.findall(r'xlink:href="([^"]*)"', svg)]
        assert links == [one[1] for one in found[1:]], svg


def test_rec():
    text = trace("run.tasks.rec", "--lines")
    found = re.findall(r"^File: (.*)\nLine: (\d+)$", text, re.MULTILINE)
    assert found == [(SAID[:-2].replace('"', "_"), "7"), (INSERTED[:-2], "8"),
                     (CALLED[:-3], "40")], text
    assert "File:" not in trace("plain.tasks.rec")


def test_explain():
    done = orrery("explain", *OPTIONS, "--", PROGRAM)
    assert done.returncode == 0, done.stderr
    for source, kernel in zip(ALL, ("said", "inserted", "called")):
        assert re.search(f"^{re.escape(source)}: {kernel} on CPU, .*, 1 time$", done.stdout,
                         re.MULTILINE), done.stdout
    done = orrery("explain", *OPTIONS, "--json", "--", PROGRAM)
    found = [link["source"] for link in json.loads(done.stdout)["critical_path"]
             if "source" in link]
    assert found == ALL, found


def test_explain_trace():
    trace("old.csv", "--lines", "--graph", path("old.graph"))
    assert f"{INSERTED}: inserted on CPU" in orrery("explain", path("old.csv")).stdout
    trace("older.csv", "--graph", path("older.graph"))
    shown = orrery("explain", path("older.csv"))
    assert shown.returncode == 0 and "submitted" not in shown.stdout, shown.stdout


def data_of(page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    return json.loads(re.search('<script type="application/json" id="data">(.*?)</script>',
                                text, re.DOTALL)[1])


def report(*options, **more):
    return orrery("report", *OPTIONS, "--plain", "-o", path("page.html"), *options, "--",
                  PROGRAM, **more)


def test_page():
    done = report("--links", "my-editor:{line}?{file}")
    if "without the charting library" in done.stderr:
        raise Skip("no page: built without d3")
    assert done.returncode == 0, done.stderr
    data = data_of(path("page.html"))
    texts = [data["sources"][i]["text"] for i in data["tasks"]["source"]]
    assert texts == ALL, data["sources"]
    links = [data["sources"][i].get("link") for i in data["tasks"]["source"]]
    assert links == [None, "my-editor:8?/a%2C%20b/inserted.c",
                     "my-editor:40?/no%20such/folder%20%26%20more/called%3C1%3E.c"], links
    assert report(ORRERY_LINKS="idea").returncode == 0
    assert "idea://open?file=/a%2C%20b/inserted.c&line=8" in [
        one.get("link") for one in data_of(path("page.html"))["sources"]]


def test_wrong_words():
    done = report("--links", "nowhere")
    assert done.returncode == 2, done
    assert "--links nowhere: no scheme: there are vscode" in done.stderr, done.stderr
    done = orrery("trace", *OPTIONS, "--lines", "-o", path("run.paje"), "--", PROGRAM)
    assert done.returncode == 2 and "Pajé file has no place" in done.stderr, done.stderr
    done = orrery("trace", *OPTIONS, "--lines", "-o", path("run.dot"), "--", PROGRAM,
                  ORRERY_LINKS="nowhere")
    assert "ORRERY_LINKS=nowhere: no scheme" in done.stderr, done.stderr


def simulated(*words, **more):
    return subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", timeout=100, check=False,
                          env=debug.environment(ORRERY_MACHINE=debug.CPUS,
                                                ORRERY_ASSUME=debug.TIMES, **more))


def stuck(**more):
    done = simulated("stuck", **more)
    assert done.returncode != 0
    return done.stdout


def test_deadlock():
    """What the program has said itself is known in any case."""
    for more, known in (({}, ALL[:2]), ({"ORRERY_SOURCE_LINES": "1"}, ALL)):
        shown = stuck(**more)
        for source in ALL:
            assert (re.search(re.escape(source) + r": task `\w+' \(number \d\) waits for ",
                              shown) is not None) == (source in known), shown


def test_state():
    shown = simulated(ORRERY_BREAK_AT="500us", ORRERY_SOURCE_LINES="1").stdout
    for source in ALL[1:]:
        assert f"  {source}: `" in shown, shown


def test_debug():
    shown, code = debug.typed(TOOL, [PROGRAM], [
        f"break \"{CALLED}\"", "continue", "info tasks", "quit"])
    assert code == 0, shown
    assert "called #3 is submitted" in shown, shown
    session = debug.Session(TOOL, [PROGRAM])
    said = [task.get("source") for task in
            (session.do("break submit called"), session.do("continue"),
             session.do("info tasks"))[2]["answer"]]
    session.process.stdin.close()
    session.process.wait()
    assert said == ALL, said


def test_a_record_has_no_lines_of_its_player():
    """Its calls are those of a program that is not there."""
    done = orrery("record", "-o", path("run.rec"), *OPTIONS, "--", PROGRAM)
    assert done.returncode == 0, done.stderr
    done = orrery("explain", *OPTIONS, "--", path("run.rec"))
    assert done.returncode == 0, done.stderr
    assert "submitted" not in done.stdout and "task.c" not in done.stdout, done.stdout
    done = orrery("explain", *OPTIONS, "--", PROGRAM)
    assert "where its tasks are submitted" in done.stdout, done.stdout


def record(name, *options):
    done = orrery("record", *OPTIONS, *options, "-o", path(name), "--", PROGRAM)
    assert done.returncode == 0, done.stderr
    return path(name)


def replay(name, *options):
    done = orrery(*options, "-m", debug.CPUS, "-s", "lws", "--assume", debug.TIMES, "--", name)
    assert done.returncode == 0, done.stderr
    return done


def test_record():
    """Both forms, again as a record, and back; without --lines it is as it was."""
    trace("direct.csv", "--lines")
    with open(record("plain.rec"), encoding="utf-8") as file:
        plain = file.read()
    assert "place" not in plain
    with open(record("lines.rec", "--lines"), encoding="utf-8") as file:
        lines = file.read()
    assert len(re.findall("^place ", lines, re.MULTILINE)) == 3, lines
    kept = re.sub("^place .*\n", "", lines, flags=re.MULTILINE)
    kept = re.sub(r"^(submit .*?) place=\d+", r"\1", kept, flags=re.MULTILINE)
    assert kept.splitlines()[:-1] == plain.splitlines()[:-1]
    record("lines.recb", "--lines")
    for name in ("lines.rec", "lines.recb"):
        replay(path(name), "trace", "--lines", "-o", path("replayed.csv"))
        assert sources_of_csv("replayed.csv") == ALL, name
        with open(path("direct.csv"), "rb") as one, open(path("replayed.csv"), "rb") as other:
            assert one.read() == other.read(), name
        shown = replay(path(name), "explain").stdout
        assert f"{INSERTED}: inserted on CPU" in shown, shown
    back = orrery("record", "import", "-o", path("back.rec"), path("lines.recb"))
    assert back.returncode == 0, back.stderr
    with open(path("back.rec"), encoding="utf-8") as file:
        assert file.read() == lines


def test_debug_of_a_record():
    session = debug.Session(TOOL, [record("session.rec", "--lines")])
    said = [task.get("source") for task in
            (session.do("break submit called"), session.do("continue"),
             session.do("info tasks"))[2]["answer"]]
    session.process.stdin.close()
    session.process.wait()
    assert said == ALL, said
    shown, code = debug.typed(TOOL, [record("no lines.rec")], [
        "break submit said", "continue", "why", "list"])
    assert code == 1 and "made with --lines" in shown and "task.c" not in shown, shown
    assert "`said' (number 1) is being submitted, and waits for nothing else" in shown, shown


def test_sequential_task_flow():
    done = orrery("trace", "-m", debug.CPUS, "-s", "lws", "--assume", "* = 1ms", "--lines", "-o",
                  path("stf.csv"), "--", STF)
    assert done.returncode == 0, done.stderr
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "examples", "stf", "dot.cpp"),
              encoding="utf-8") as file:
        text = file.read().splitlines()
    found = sources_of_csv("stf.csv")
    assert found and all(re.search(r"/dot\.cpp:\d+$", source) for source in found), found
    for source in set(found):
        line = int(source.rsplit(":", 1)[1])
        assert any("->*" in near for near in text[line - 3:line]), (source, text[line - 3:line])
    drawn = []
    for more in ({"ORRERY_SOURCE_LINES": "1", "ORRERY_LINKS": "vscode"}, {}):
        done = orrery("run", "-m", debug.CPUS, "--assume", "* = 1ms", "--", STF,
                      CUDASTF_DOT_FILE=path("stf.dot"), **more)
        assert done.returncode == 0, done.stderr
        with open(path("stf.dot"), encoding="utf-8") as file:
            drawn.append(file.read())
    assert set(re.findall(r'tooltip="(.*?)"', drawn[0])) == set(found), drawn[0]
    assert drawn[0].count(', URL="vscode://file/') == drawn[0].count("tooltip="), drawn[0]
    assert "tooltip" not in drawn[1] and "URL" not in drawn[1], drawn[1]


class Skip(Exception):
    """What the test needs is not there."""


def main():
    tap = Tap()
    if not shutil.which("addr2line"):
        print("1..0 # SKIP addr2line (binutils) is not installed")
        return
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
                tap.claim(name[5:].replace("_", " "), True)
            except Skip as skip:
                tap.skip(name[5:], str(skip))
            except AssertionError as error:
                tap.claim(name[5:].replace("_", " "), False, error)
    tap.end()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery report`: the page has all of the run and nothing from elsewhere, and its
totals are those of the report; with --browser Chromium shows it. TAP.

usage: test-report.py ORRERY CULPRIT [--browser]
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

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402
sys.path.insert(0, HERE)
from tools_util import on_terminal  # noqa: E402

BROWSER = "--browser" in sys.argv
if len(sys.argv) != 3 + BROWSER:
    sys.exit(__doc__.strip())
ORRERY, CULPRIT = map(os.path.abspath, sys.argv[1:3])
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
GPUS, BIG = "h100-pcie-4", "hgx-h100-8"
ENV = {name: value for name, value in os.environ.items()
       if not name.startswith("STARPU_") and
       name not in ("ORRERY_MACHINE", "ORRERY_CHECK_BOUNDS")}
ENV.update(STARPU_HOME=TOP.name, STARPU_SILENT="1", LC_ALL="C.UTF-8",
           STARPU_PERF_MODEL_DIR=os.path.join(TOP.name, "models"), TMPDIR=TOP.name,
           CULPRIT_CPU="100", CULPRIT_CUDA="20")


def path(name):
    return os.path.join(TOP.name, name)


def orrery(*words):
    return subprocess.run([ORRERY, *words], env=ENV, cwd=TOP.name,
                          stdin=subprocess.DEVNULL, timeout=280, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8")


def report(*words, page="page.html"):
    done = orrery("report", "-o", path(page), *words)
    assert done.returncode == 0, done.stderr
    with open(path(page), encoding="utf-8") as file:
        return file.read()


def data_of(page):
    return json.loads(re.search('<script type="application/json" id="data">(.*?)'
                                "</script>", page, re.DOTALL)[1])


def sums(steps):
    values, total = [], 0
    for step in steps:
        total += step
        values.append(total)
    return values


def write_trace(name, ntasks, nworkers):
    """A trace of tasks side by side, each 10 us."""
    with open(path(name), "w", encoding="utf-8") as file:
        file.write("record,start_ms,end_ms,worker,job,name,priority,node,from,"
                   "bytes,kind,handle,change,footprint,gflop,tag\n")
        for w in range(nworkers):
            file.write(f"worker,0,0,{w},,\"CPU{w}\",,0,,,,,,,,\n")
        for t in range(ntasks):
            start = t // nworkers * 0.011
            file.write(f"submitted,{start:.9f},{start:.9f},,{t + 1},,,,,,,,1,,,\n"
                       f"task,{start:.9f},{start + 0.01:.9f},{t % nworkers},{t + 1},"
                       f"\"k{t % 5}\",0,0,,0,,,,0,0,0\n")


# On CPU0 outer waits from 10 to 40 us, and inner runs meanwhile, from 15 to 30.
WAITS = '''\
record,start_ms,end_ms,worker,job,name,priority,node,from,bytes,kind,handle,change,\
footprint,gflop,tag,iteration,subiteration
worker,0,0.07,0,,"CPU0",,0,,,,,,,,,,
worker,0,0.07,1,,"CPU1",,0,,,,,,,,,,
submitted,0,0,,1,,,,,,,,1,,,,,
state,0,0,0,,,,,,,fetching,,,,,,,
state,0,0,1,,,,,,,scheduling,,,,,,,
task,0.005,0.06,0,1,"outer",0,0,,0,,,,0,0,1f,3,
suspended,0.01,0.04,0,1,,,,,,,,,,,,,
state,0.01,0.01,0,,,,,,,suspended,,,,,,,
mark,0.012,0.012,,,"half ""way""",,,,,,,,,,,,
task,0.015,0.03,0,2,"inner",0,0,,0,,,,0,0,ffffffffffffffff,3,1
state,0.025,0.025,1,,,,,,,sleeping,,,,,,,
state,0.05,0.05,1,,,,,,,callback,,,,,,,
state,0.061,0.061,0,,,,,,,overhead,,,,,,,
steal,0.062,0.062,1,3,,,,0,,,,,,,,,
task,0.065,0.07,1,3,"last",0,0,,0,,,,0,0,0,,
'''


def write_waits():
    with open(path("waits.csv"), "w", encoding="utf-8") as file:
        file.write(WAITS)


if not os.path.exists(os.path.join(os.path.dirname(ORRERY), "report", "report.html")):
    print("1..0 # SKIP built without the charting library (Debian: node-d3)")
    sys.exit(0)


@test
def the_totals_are_those_of_the_report():
    data = data_of(report("-m", GPUS, "-s", "dmda", "--", CULPRIT, "streams", "1"))
    run, tasks, copies = data["run"], data["tasks"], data["copies"]
    assert len(tasks["job"]) == run["tasks"] > 50, run["tasks"]
    assert len(copies["bytes"]) == run["transfers"]
    assert sum(copies["bytes"]) == run["transferred_bytes"] > 0
    assert abs(data["end"] / 1000 - run["makespan_us"]) < 0.01
    busy = [0] * len(data["workers"])
    for worker, length in zip(tasks["worker"], tasks["length"]):
        busy[worker] += length / 1000
    for ours, worker in zip(busy, run["workers"]):
        assert abs(ours - worker["busy_us"]) < 0.01, worker
    pairs = {}
    for src, dst, length in zip(copies["from"], copies["to"], copies["bytes"]):
        pairs[src, dst] = pairs.get((src, dst), 0) + length
    assert sorted(pairs.values()) == sorted(l["bytes"] for l in run["links"])
    assert sum(data["submitted"]["change"]) == 0 == sum(data["ready"]["change"])
    assert sums(tasks["start"]) == sorted(sums(tasks["start"]))


@test
def the_page_has_what_the_other_commands_say():
    words = ("-m", GPUS, "-s", "dmda", "--set", "cuda.count = 2")
    data = data_of(report(*words, "--", CULPRIT, "mixed", "2"))
    said = json.loads(orrery("explain", *words, "--json", "--", CULPRIT, "mixed",
                             "2").stdout)
    for part in ("critical_path", "idle", "changes", "links"):
        assert data["explanation"][part] == said[part], part
    best = data["bounds"]["best"]
    assert 0 < best["ms"] <= data["end"] / 1e6 + 1e-9, best
    assert data["picture"].lstrip().startswith("<?xml") or \
        "<svg" in data["picture"]
    assert "CUDA1" in data["picture"] and "CUDA2" not in data["picture"]


@test
def the_page_needs_nothing_else():
    page = report("-m", GPUS, "--plain", "--", CULPRIT, "tiny", "1")
    data = data_of(page)
    assert data["explanation"] is None and data["bounds"] is None
    assert len(data["tasks"]["job"]) >= 1540
    assert len(page.encode()) <= 2 << 20, len(page)
    assert not re.search(r"""<(?:link|script|img|iframe)[^>]*(?:src|href)="(?!data:,")""", page)
    assert not re.search(r"@import|url\(", page.split("</style>")[0])
    assert sorted(os.listdir(TOP.name)) == sorted(
        name for name in os.listdir(TOP.name)
        if not name.startswith("orrery-report")), os.listdir(TOP.name)


@test
def names_cannot_end_what_they_stand_in():
    write_trace("odd.csv", 6, 2)
    with open(path("odd.csv"), encoding="utf-8") as file:
        text = file.read().replace('"k1"', '"</script><b>""x"""')
    with open(path("odd.csv"), "w", encoding="utf-8") as file:
        file.write(text)
    page = report(path("odd.csv"))
    assert '</script><b>"x"' in data_of(page)["names"]
    assert "</script><b>" not in page


@test
def a_trace_alone_is_shown_with_a_note():
    trace, graph = path("run.csv"), path("run.graph")
    orrery("trace", "-m", GPUS, "-o", trace, "--graph", graph, "--", CULPRIT,
           "chain", "3")
    data = data_of(report(trace))
    assert data["explanation"]["run"]["machine"] == GPUS and data["bounds"]
    os.remove(graph)
    done = orrery("report", "-o", path("page.html"), trace)
    assert done.returncode == 0 and "run.graph" in done.stderr, done.stderr
    with open(path("page.html"), encoding="utf-8") as file:
        assert data_of(file.read())["bounds"] is None


@test
def states_waits_tags_loops_and_marks_are_in_the_page():
    write_waits()
    data = data_of(report("--plain", path("waits.csv")))
    tasks, waits, states = data["tasks"], data["waits"], data["states"]
    assert [data["names"][n] for n in tasks["name"]] == ["outer", "inner", "last"]
    assert tasks["tag"] == ["1f", "f" * 16, ""], tasks["tag"]
    assert tasks["iteration"] == [3, 3, -1], tasks["iteration"]
    assert tasks["subiteration"] == [-1, 1, -1], tasks["subiteration"]
    assert waits == {"task": [0], "start": [10000], "length": [30000]}, waits
    assert data["marks"] == [{"time": 12000, "text": 'half "way"'}], data["marks"]
    stretches = sorted(zip(states["worker"], sums(states["start"]), states["length"],
                           (data["names"][k] for k in states["kind"])))
    assert stretches == [
        (0, 0, 5000, "fetching"), (0, 10000, 5000, "suspended"),
        (0, 30000, 10000, "suspended"), (0, 60000, 1000, "suspended"),
        (0, 61000, 9000, "overhead"), (1, 0, 25000, "scheduling"),
        (1, 50000, 15000, "callback")], stretches
    assert data["steals"] == {"time": [62000], "thief": [1], "victim": [0],
                              "job": [3]}, data["steals"]
    write_trace("none.csv", 4, 2)
    data = data_of(report("--plain", path("none.csv")))
    assert data["steals"]["job"] == []
    assert "tag" not in data["tasks"] and "iteration" not in data["tasks"]
    assert data["states"]["kind"] == data["marks"] == data["waits"]["task"] == []


@test
def steals_are_those_of_the_trace():
    words = ("-m", GPUS, "-s", "lws", "--", CULPRIT, "mixed", "1")
    assert orrery("trace", "-o", path("steals.csv"), *words).returncode == 0
    steals = data_of(report("--plain", path("steals.csv")))["steals"]
    with open(path("steals.csv"), encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["record"] == "steal"]
    assert len(rows) > 5, rows
    for column, field in (("thief", "worker"), ("victim", "from"), ("job", "job")):
        assert steals[column] == [int(row[field]) for row in rows], column
    assert sums(steals["time"]) == sorted(sums(steals["time"]))
    write_trace("bad.csv", 4, 2)
    with open(path("bad.csv"), "a", encoding="utf-8") as file:
        file.write("steal,0,0,1,3,,,,2,,,,,,,\n")
    done = orrery("report", "--plain", "-o", path("bad.html"), path("bad.csv"))
    assert done.returncode == 1 and "bad.csv:12" in done.stderr, done.stderr


@test
def states_are_those_of_the_trace_in_json():
    words = ("-m", GPUS, "-s", "dmda", "--", CULPRIT, "streams", "1")
    for name in "states.csv", "states.json":
        assert orrery("trace", "-o", path(name), *words).returncode == 0
    data = data_of(report("--plain", path("states.csv")))
    with open(path("states.json"), encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    with open(path("states.csv"), encoding="utf-8", newline="") as file:
        begin = min(float(row["start_ms"]) * 1000 for row in csv.DictReader(file)
                    if row["record"] == "submitted")
    ours, theirs = {}, {}
    for worker, kind, length in zip(*(data["states"][c] for c in (
            "worker", "kind", "length"))):
        key = data["workers"][worker]["name"], data["names"][kind]
        ours[key] = ours.get(key, 0) + length / 1000
    names = {e["tid"]: e["args"]["name"] for e in events
             if e["name"] == "thread_name" and e["pid"] == 1}
    for e in events:
        if e.get("cat") == "state":
            start = max(e["ts"], begin)
            end = min(e["ts"] + e["dur"], begin + data["end"] / 1000)
            if start < end:
                key = names[e["tid"]], e["name"]
                theirs[key] = theirs.get(key, 0) + end - start
    assert len(theirs) > 5, theirs
    for key in ours.keys() | theirs.keys():
        assert abs(ours.get(key, 0) - theirs.get(key, 0)) < 0.5, (
            key, ours.get(key), theirs.get(key))


@test
def comparisons_are_in_the_page():
    compared = orrery("compare", "-m", GPUS, "-s", "dmda,lws", "--json", "--",
                      CULPRIT, "mixed", "1")
    with open(path("cmp.json"), "w", encoding="utf-8") as file:
        file.write(compared.stdout)
    write_trace("plain.csv", 4, 2)
    data = data_of(report("--compare", path("cmp.json"), path("plain.csv")))
    rows = data["comparisons"][0]["rows"]
    assert rows == json.loads(compared.stdout) and len(rows) == 2
    done = orrery("report", "-o", path("page.html"), "--compare", path("plain.csv"),
                  path("plain.csv"))
    assert done.returncode == 1 and "plain.csv" in done.stderr, done.stderr


@test
def a_real_run_is_shown():
    done = orrery("report", "-o", path("real.html"), "--json", "--", CULPRIT,
                  "mixed", "1")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["page"] == path("real.html") and not said["simulated"]
    with open(path("real.html"), encoding="utf-8") as file:
        data = data_of(file.read())
    assert data["explanation"] and data["bounds"] and data["picture"]


@test
def what_goes_wrong_leaves_the_old_page():
    with open(path("kept.html"), "w", encoding="utf-8") as file:
        file.write("old")
    write_trace("plain.csv", 4, 2)
    with open(path("cut.csv"), "w", encoding="utf-8") as file:
        with open(path("plain.csv"), encoding="utf-8") as whole:
            file.write(whole.read()[:-30])
    for words, code, text in (
            ((), 2, "which program"),
            (("-m", GPUS, path("plain.csv")), 2, "need a program"),
            (("--graph", "x", "--", CULPRIT, "chain", "1"), 2, "for a trace"),
            (("--", "false"), 1, "false"),
            (("--", CULPRIT, "nothing", "1"), 1, "no task"),
            ((path("cut.csv"),), 1, "cut.csv:11")):
        done = orrery("report", "-o", path("kept.html"), *words)
        assert done.returncode == code, (words, done.returncode, done.stderr)
        assert text in done.stderr, done.stderr
    with open(path("kept.html"), encoding="utf-8") as file:
        assert file.read() == "old"
    done = orrery("report", "-o", path("no/page.html"), path("plain.csv"))
    assert done.returncode != 0 and "no/page.html" in done.stderr, done.stderr
    with open("/dev/full", "wb") as full:
        done = subprocess.run([ORRERY, "report", "-o", "-", path("plain.csv")],
                              env=ENV, stdout=full, stderr=subprocess.PIPE,
                              check=False, encoding="utf-8")
    assert done.returncode == 1 and "No space" in done.stderr, done.stderr


@test
def a_terminal_shows_what_is_computed_for_the_page():
    code, shown = on_terminal([ORRERY, "report", "-m", GPUS, "-s", "dmda", "-o", "t.html", "--",
                               CULPRIT, "streams", "1"], TOP.name, ENV)
    assert code == 0, shown
    assert "the page: simulating what would help, computing bounds, drawing the machine (" \
        in shown and shown.rstrip().endswith("t.html"), shown
    assert "the page" not in orrery("report", "-m", GPUS, "-s", "dmda", "-o", path("t.html"), "--",
                                    CULPRIT, "streams", "1").stderr


@test
def the_page_may_have_a_title_of_its_own():
    write_waits()
    page = report("--plain", "--title", "a <b> run", path("waits.csv"))
    assert data_of(page)["title"] == "a <b> run", data_of(page)["title"]


# --- in a browser ---

def drive(page, width=1400):
    """What report_driver.js notes of the page, in a window of so many pixels."""
    chromium = shutil.which("chromium")
    if not chromium:
        raise Skip("there is no chromium")
    with open(os.path.join(HERE, "report_driver.js"), encoding="utf-8") as file:
        driver = file.read()
    # Without a screen and with virtual time there are no frames to wait for.
    page = page.replace("<head>", "<head><script>window.errors = []; "
                        "addEventListener('error', e => errors.push(e.message));"
                        "requestAnimationFrame = f => setTimeout(f, 16);"
                        "</script>", 1)
    page = page.replace("</body>", f"<script>{driver}</script></body>")
    with open(path("driven.html"), "w", encoding="utf-8") as file:
        file.write(page)
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu",
         f"--window-size={width},1000", "--virtual-time-budget=60000",
         f"--user-data-dir={path('chromium')}", "--dump-dom",
         "file://" + path("driven.html")],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        timeout=280, check=True, encoding="utf-8")
    text = re.search('<pre id="noted">(.*?)</pre>', done.stdout, re.DOTALL)
    assert text, done.stderr[-2000:]
    noted = json.loads(html.unescape(text[1]))
    assert "error" not in noted and noted["errors"] == [], noted
    return noted


def check_use(noted, ntasks):
    """Zooming, hiding a kernel and searching a task do what they say."""
    assert noted["zoomed"][1] - noted["zoomed"][0] < \
        0.5 * (noted["whole"][1] - noted["whole"][0]), noted
    assert noted["again"] == noted["whole"], noted
    seen, of = re.match(r"([\d,]+) of ([\d,]+) tasks", noted["filtered"]).groups()
    assert int(of.replace(",", "")) == ntasks > int(seen.replace(",", ""))
    assert noted["pressed"] == "false"
    assert noted["found"].startswith("1 of "), noted["found"]
    assert "task " in noted["detail"], noted["detail"]
    assert noted["searched"][0] <= noted["wanted"] <= noted["searched"][1]
    assert noted["missed"].startswith("0 of "), noted["missed"]
    assert noted["outside"] == [], noted["outside"]


if BROWSER:
    @test
    def a_browser_shows_zooms_filters_and_finds():
        swept = orrery("compare", "-m", GPUS, "-s", "dmda", "--set",
                       "cuda.count = 1..2", "--json", "--", CULPRIT, "streams", "1")
        with open(path("sweep.json"), "w", encoding="utf-8") as file:
            file.write(swept.stdout)
        page = report("-m", GPUS, "-s", "dmda", "--compare", path("sweep.json"), "--",
                      CULPRIT, "streams", "1")
        noted = drive(page)
        assert "tried" in noted["titles"], noted["titles"]
        assert noted["cells"] == ["cuda.count 1", "cuda.count 2"], noted["cells"]
        check_use(noted, len(data_of(page)["tasks"]["job"]))
        assert noted["path"] > 0 and noted["curves"] == 3, noted
        for title in ("Over time", "What stood in the way", "Kernels", "Copies",
                      "Bounds: what no scheduler can beat", "The machine",
                      "Where the values come from"):
            assert title in noted["sections"], noted["sections"]
        assert noted["rows"] > 20, noted

    @test
    def texts_of_axes_do_not_meet_in_a_narrow_window():
        page = report("--plain", "-m", GPUS, "-s", "dmda", "--", CULPRIT, "streams", "1")
        for width in (420, 1400):
            noted = drive(page, width)
            assert noted["meeting"] == [], (width, noted["meeting"])
            # … nor is a legend cut when the window becomes narrow.
            assert noted["cut"] == [], (width, noted["cut"])
        # The colours of kernels are those of other pictures.
        assert noted["colours"][0] == "rgb(37, 86, 138)", noted["colours"]

    @test
    def rows_of_many_workers_say_how_many_are_idle():
        # A hundred tasks on 112 workers.
        page = report("--plain", "-m", "r940xa-4", "-s", "eager", "--", CULPRIT, "mixed",
                      "57")
        labels = drive(page)["labels"]
        idle = [label for label in labels if label.endswith(" idle")]
        assert len(idle) == 1 and sum(label.startswith("CPU") for label in labels) > 20, labels

    @test
    def a_browser_shows_waits_states_tags_and_loops():
        write_waits()
        noted = drive(report("--plain", path("waits.csv")))
        # Two boxes of outer, inner, last; five states hidden or shown.
        assert noted["withStates"] - noted["withoutStates"] == 7, noted
        assert noted["stolen"] == ["CPU1 took it from the queue of CPU0, 3.000 \u00b5s "
                                   "before its start", 1, 0], noted["stolen"]
        assert "Steals" in noted["sections"], noted["sections"]
        assert noted["pointed"] == ["outer", "inner", "outer", "suspended"], noted
        assert noted["tagged"] == "1 of 3 tasks", noted["tagged"]
        assert noted["looped"] == "2 of 3 tasks", noted["looped"]
        assert "waited 30" in noted["described"] and "tag 1f" in noted["described"] and \
            "iteration 3" in noted["described"], noted["described"]
        assert "What workers did beside tasks" in noted["sections"], noted["sections"]

    @test
    def a_hundred_thousand_tasks_are_as_quick():
        for workers in 12, 112:
            write_trace("big.csv", 100000, workers)
            noted = drive(report(path("big.csv")))
            check_use(noted, 100000)
            # No more boxes than there are pixels in its rows.
            assert noted["painted"]["boxes"] < 3 * 1400 * workers, noted
            print("# %d workers: %d boxes in %.1f ms, zoomed %d in %.1f ms" % (
                workers, noted["painted"]["boxes"], noted["painted"]["took"],
                noted["paintedZoomed"]["boxes"], noted["paintedZoomed"]["took"]))

sys.exit(run_all())

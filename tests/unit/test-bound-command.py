# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery bound: recorded graphs, programs that only pretend, all options, what
is refused; exports against other solvers, the values of ORRERY_SHARED.
usage: test-bound-command.py ORRERY HAS_SOLVER"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import tools_util

KERNELS = ("potrf", "trsm", "syrk", "gemm")
CPU = (18.84969, 45.64676, 43.8901, 87.7802)
GPUS = ((5.36674, 6.393638, 1.402745, 2.805491),
        (5.557011, 6.416842, 1.414295, 2.82859),
        (5.500099, 6.409443, 1.414104, 2.828209))
KINDS = ["critical-path", "area", "paths", "precedence", "transfers", "runtime", "memory",
         "integer-area", "integer", "exact"]
UNKNOWN = "nan"


def cholesky_tasks(tiles):
    """(kind, earlier tasks) of the tiled Cholesky factorisation."""
    tasks, writer = [], {}

    def task(kind, reads, tile):
        deps = {writer[r] for r in reads + [tile] if r in writer}
        tasks.append((kind, sorted(deps)))
        writer[tile] = len(tasks) - 1

    for k in range(tiles):
        task(0, [], (k, k))
        for i in range(k + 1, tiles):
            task(1, [(k, k)], (i, k))
        for i in range(k + 1, tiles):
            task(2, [(i, k)], (i, i))
            for j in range(k + 1, i):
                task(3, [(i, k), (j, k)], (i, j))
    return tasks


def graph_text(tasks, gpus=GPUS, cpu=CPU, makespan="nan", kernels=KERNELS,
               run="simulated", deviation=0):
    lines = ["orrery-graph 1", 'machine "mirage"', "run %s %s" % (run, makespan),
             'node "NUMA 0" inf']
    lines += ['node "CUDA %d" 5e9' % g for g in range(len(gpus))]
    lines += ['worker "CPU %d" 0' % c for c in range(9)]
    lines += ['worker "CUDA %d.0" %d' % (g, g + 1) for g in range(len(gpus))]
    for k, name in enumerate(kernels):
        lines.append('kind "%s" %x 0 9 %s %g %s' % (
            name, k, cpu[k], deviation,
            " ".join("1 %s %g" % (gpu[k], deviation) for gpu in gpus)))
    for number, (kind, deps) in enumerate(tasks):
        lines.append("task %d %d 0" % (kind, number + 1))
        lines += ["after %d 0" % earlier for earlier in deps]
    return "\n".join(lines + ["end", ""])


# The program that --lp and the like write is solved by all that read it. glpsol
# removes the file that it writes to, as root even /dev/stdout.
def glpsol(option):
    return ["sh", "-c", "glpsol %s \"$0\" -o \"$0.out\"; cat \"$0.out\"" % option,
            "FILE"]


SOLVERS = [
    ("glpsol", "lp", glpsol("--lp"),
     r"OPTIMAL\nObjective:.*= (\S+)"),
    ("glpsol", "mps", glpsol("--freemps"),
     r"OPTIMAL\nObjective:.*= (\S+)"),
    ("cbc", "lp", ["cbc", "FILE", "solve"],
     r"(?:Optimal objective|Objective value:) +(\S+)"),
    ("cbc", "mps", ["cbc", "FILE", "solve"],
     r"(?:Optimal objective|Objective value:) +(\S+)"),
    ("lp_solve", "lp-solve", ["lp_solve", "-S3", "FILE"],
     r"objective function: (\S+)"),
    ("lp_solve", "mps", ["lp_solve", "-S3", "-fmps", "FILE"],
     r"objective function: (\S+)"),
]


def optimum(command, pattern, path):
    words = [path if word == "FILE" else word for word in command]
    out = subprocess.run(words, stdout=subprocess.PIPE, encoding="utf-8",
                         stderr=subprocess.STDOUT, timeout=100,
                         check=False).stdout
    found = re.search(pattern, out)
    return float(found.group(1)) if found else None


class Suite(tools_util.Tap):
    def __init__(self, orrery, has_solver, folder):
        super().__init__()
        self.orrery, self.has_solver = orrery, has_solver
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def bound(self, *words, **env):
        keep = {key: value for key, value in os.environ.items()
                if key != "ORRERY_MACHINE"}
        keep.update(env)
        return tools_util.run(self.orrery, "bound", *words, env=keep)

    def json(self, *words, **env):
        result = self.bound("--json", *words, **env)
        try:
            return json.loads(result.out), result
        except ValueError:
            return {}, result

    def fails(self, text, code, pattern, *words, **env):
        result = self.bound(*words, **env)
        self.claim(text, result.code == code and
                   re.search(pattern, result.err), result)


def near(a, b, share=1e-6):
    return a is not None and b is not None and abs(a - b) <= share * abs(b)


def value(document, key):
    for entry in document.get("bounds", []):
        if entry["bound"] == key:
            return entry["ms"]
    return None


def explained(entry):
    """A value, or why there is none; never neither."""
    if entry["ms"] is None:
        return bool(entry["why"]) and entry["outcome"] != "optimal"
    return entry["outcome"] in ("optimal", "time-limit")


def test_table(suite):
    graph = suite.write("c5.graph",
                        graph_text(cholesky_tasks(5), makespan="100.5"))
    document, result = suite.json("--time", "5", graph)
    values = [e["ms"] for e in document.get("bounds", []) if e["ms"]]
    suite.claim("--json is JSON; the exit code says whether there is a bound",
                document and result.code == (0 if values else 1), result)
    suite.claim("the module is found where it was built",
                "-Dbound=enabled" not in result.out or not suite.has_solver,
                result)
    suite.claim("without --kind every bound is in the table",
                [e["bound"] for e in document.get("bounds", [])] == KINDS,
                result)
    suite.claim("no bound is missing without its reason",
                all(map(explained, document.get("bounds", []))), result)
    suite.claim("tasks, dependencies and the makespan are the graph's",
                document.get("tasks") == 35 and
                document.get("dependencies") == 60 and
                document.get("makespan_ms") == 100.5, result)
    if document.get("best"):
        best = document["best"]["ms"]
        suite.claim("the best bound is the highest verified one",
                    best == max(e["ms"] for e in document["bounds"]
                                if e["verified"] and e["ms"] is not None),
                    result)
        suite.claim("the distance is that of the makespan from it",
                    near(document["above_best"], 100.5 / best - 1, 1e-9),
                    result)
    table = suite.bound("--time", "5", graph)
    suite.claim("the table has a row for every bound",
                all(re.search("^" + e["name"] + "  ", table.out, re.M)
                    for e in document["bounds"]), table)
    suite.claim("the table says what the schedule took",
                "scheduled 100.500 ms" in table.out, table)
    some, result = suite.json("--kind", "area,memory", graph)
    suite.claim("--kind chooses",
                [e["bound"] for e in some.get("bounds", [])] ==
                ["area", "memory"], result)
    options_behind = suite.bound(graph, "--kind", "area")
    suite.claim("options may stand behind the file",
                re.search("^area  ", options_behind.out, re.M), options_behind)


def test_time(suite):
    """The time is for all bounds, and what is known is printed at once."""
    if not suite.has_solver:
        suite.skip("the time of all bounds", "built without GLPK")
        return
    graph = suite.write("c20.graph", graph_text(cholesky_tasks(20)))
    # Two that do not end by themselves: 8 s if each had the time.
    document, result = suite.json("--time", "4", "--kind",
                                  "integer,transfers", graph)
    took = sum(e["seconds"] for e in document.get("bounds", []))
    suite.claim("--time is a total", 0 < took < 7, took, result)
    suite.claim("all have a value or a reason",
                all(map(explained_or_late, document["bounds"])), result)
    suite.claim("steps say what was proved when", all(
        [step["ms"] for step in e["steps"]] == sorted(step["ms"] for step in e["steps"])
        and (not e["ms"] or abs(e["steps"][-1]["ms"] / e["ms"] - 1) < 1e-4)
        for e in document["bounds"]), result)
    usual, result = suite.json("--kind", "paths,integer", graph)
    values = {e["bound"]: e for e in usual["bounds"]}
    suite.claim("without --time there is a reason, too, where a bound is not the best",
                values["paths"]["ms"] > 0 and
                all(map(explained_or_late, usual["bounds"])), result)
    program = subprocess.Popen(
        [suite.orrery, "bound", "--time", "1000", graph],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={k: v for k, v in os.environ.items() if k != "ORRERY_MACHINE"})
    lines = []
    for line in program.stdout:
        lines.append(line)
        if line.startswith("precedence  "):
            program.send_signal(signal.SIGINT)
            break
    out, err = program.communicate(timeout=60)
    text = "".join(lines) + out
    suite.claim("rows are printed as they are known, and an interrupt keeps "
                "them", program.returncode == 130 and
                re.search(r"^area +\d", text, re.M) and
                "skipped: interrupted" in text and "interrupted:" in text,
                program.returncode, text, err)
    suite.fails("a recorded graph has its times", 2, "--assume", "--assume",
                "kernel[gemm] = 5us", graph)


def explained_or_late(entry):
    return explained(entry) or entry["outcome"] == "time-limit"


def test_figures(suite):
    """Derived figures stay derived in the file of a graph, and after it."""
    text = graph_text(cholesky_tasks(3)).replace(
        'machine "mirage"\n', 'machine "mirage"\nfigures "derived"\n')
    graph = suite.write("derived.graph", text)
    result = suite.bound("--kind", "area", graph)
    suite.claim("a graph's derived figures are said to be derived",
                "(simulated, figures derived)" in result.out and
                "figures are derived" in result.out, result)
    document, result = suite.json("--kind", "area", graph)
    suite.claim("in JSON as well", document.get("figures") == "derived", result)
    text = text.replace("task 0 1 0\n", "task 0 1 0 ran 0 0 3\n").replace(
        "task 1 2 0\n", "task 1 2 0 ran 9 3 4\n")
    for k in range(4):
        text = re.sub('(kind "%s".*)\n' % KERNELS[k],
                      "\\1\nfrom 9 measured 1 derived 2 -\n", text)
    result = suite.bound("--kind", "area", suite.write("origins.graph", text))
    suite.claim("the share of the time of tasks that comes from where is said",
                "times       75.0 % measured, 25.0 % derived" in result.out,
                result)
    document, result = suite.json("--kind", "area", suite.path("origins.graph"))
    suite.claim("in JSON, too", document.get("times") == [
        {"origin": "measured", "share": 0.75},
        {"origin": "derived", "share": 0.25}], document.get("times"))
    gemm = [t for t in document.get("types", []) if t["symbol"] == "gemm"][0]
    suite.claim("with those of each task type", [
        (one["worker"], one["workers"], one["origin"])
        for one in gemm["times"]] == [
            ("CPU 0", 9, "measured"), ("CUDA 0.0", 1, "derived"),
            ("CUDA 1.0", 1, None), ("CUDA 2.0", 1, None)], gemm)
    suite.fails("two lines of figures are one too many", 1, "second line",
                suite.write("two.graph", text.replace(
                    'figures "derived"\n', 'figures "derived"\n' * 2)))
    if shutil.which("gnuplot"):
        picture = suite.path("derived.svg")
        result = suite.bound("--kind", "critical-path,area", "--plot", picture,
                             graph)
        drawn = ""
        if os.path.exists(picture):
            with open(picture, encoding="utf-8") as file:
                drawn = file.read()
        suite.claim("in the picture as well",
                    "derived" in drawn or not suite.has_solver, result)


def test_durations(suite):
    tasks = cholesky_tasks(3)
    graph = suite.write("wide.graph", graph_text(tasks, deviation=0.5))
    area = {}
    for words in ((), ("--optimistic",), ("--optimistic=2",), ("--merge=50%",)):
        path = suite.path("o.lp")
        result = suite.bound("--kind", "area", "--lp", path, *words, graph)
        with open(path, encoding="utf-8") as file:
            area[words] = file.read()
        suite.claim("the table says what durations are, with %s" %
                    (" ".join(words) or "no option"),
                    "durations are means" in result.out and
                    ("standard deviation" in result.out) ==
                    any("opt" in w for w in words) and
                    ("the fastest counts" in result.out) ==
                    any("merge" in w for w in words), result)
    graph = suite.write("twice.graph", graph_text(cholesky_tasks(3)))
    document, result = suite.json("--kind", "area", "--kind",
                                  "critical-path,paths", graph)
    suite.claim("--kind may be repeated",
                [b["bound"] for b in document.get("bounds", [])] ==
                ["critical-path", "area", "paths"], result)
    suite.claim("means are not changed", "18.8496" in area[()], area[()])
    suite.claim("--optimistic takes a deviation off",
                "18.349" in area[("--optimistic",)], area[("--optimistic",)])
    suite.claim("--optimistic=2 takes two",
                "17.849" in area[("--optimistic=2",)])
    suite.claim("--merge makes one class of the devices",
                area[()].count("\nbusy_") == 4 and
                area[("--merge=50%",)].count("\nbusy_") == 2,
                area[("--merge=50%",)])


def test_exports(suite):
    tasks = cholesky_tasks(4)
    graph = suite.write("c4.graph", graph_text(tasks, gpus=GPUS[:1] * 3))
    for kind in ("area", "precedence", "integer-area", "integer"):
        files = {key: suite.path("%s.%s" % (kind, {"lp-solve": "lps"}.get(
            key, key))) for key in ("lp", "lp-solve", "mps")}
        words = [word for key, path in files.items()
                 for word in ("--" + key, path)]
        document, result = suite.json("--kind", kind, "--time", "20", *words,
                                      graph)
        suite.claim("exports of %s are written" % kind, result.code == 0 and
                    all(map(os.path.exists, files.values())), result)
        expected = value(document, kind)
        outcome = (document.get("bounds") or [{}])[0].get("outcome")
        for solver, key, command, pattern in SOLVERS:
            text = "%s finds the table's %s in --%s" % (solver, kind, key)
            if not shutil.which(solver):
                suite.skip(text, solver + " is not installed")
                continue
            found = optimum(command, pattern, files[key])
            suite.claim(text.replace("the table's", "an optimum of"),
                        found is not None, files[key])
            if expected is not None and outcome == "optimal":
                # Branch and cut stops at a small gap; and of whole tasks the
                # table uses more than is in the exported program: that a task
                # as long as the bound fits nowhere, and the single workers.
                if "integer" in kind:
                    suite.claim("no more than that: " + text,
                                found <= expected * (1 + 1e-3), found, result)
                else:
                    suite.claim(text, near(found, expected, 1e-6), found,
                                result)
    plain = suite.bound("--kind", "area", "--mps", "-", graph)
    suite.claim("an export may go to standard output",
                "\nENDATA\n" in plain.out and "\nROWS\n" in plain.out, plain)
    every = suite.path("every.lp")
    suite.bound("--time", "2", "--lp", every, graph)
    with open(every, encoding="utf-8") as file:
        text = file.read()
    suite.claim("without --kind precedence is exported, not with whole tasks",
                "Precedence bound, 20 tasks on mirage" in text and
                "Generals" not in text, text[:300])


def test_reference(suite):
    path = os.path.join(tools_util.shared_folder(), "reference", "bounds.tsv")
    if not os.path.exists(path):
        suite.skip("bounds are those of the reference",
                   "no reference/bounds.tsv in ORRERY_SHARED")
        return
    with open(path, encoding="utf-8") as file:
        rows = [line.split("\t") for line in file.read().splitlines()
                if line and not line.startswith("#")]
    heads = rows[0]
    for row in (dict(zip(heads, r)) for r in rows[1:4]):
        tiles = int(row["tiles"])
        graph = suite.write("r.graph", graph_text(cholesky_tasks(tiles)))
        document, result = suite.json(
            "--kind", "critical-path,area,precedence", graph)
        for key, column in (("area", "area4"),
                            ("critical-path", "critical_path")):
            if value(document, key) is not None:
                suite.claim("%s of %d tiles is the reference's" % (key, tiles),
                            near(value(document, key), float(row[column]),
                                 1e-3), result)
        if value(document, "precedence") is not None:
            suite.claim("precedence of %d tiles is no lower than the "
                        "reference's" % tiles, value(document, "precedence") >=
                        0.999 * float(row["lp_precedence2"]), result)
        if not shutil.which("glpsol"):
            suite.skip("programs of %d tiles" % tiles, "glpsol is not installed")
            continue
        for kind, column, words in (("area", "area4", ()),
                                    ("area", "area2", ("--merge", "5%")),
                                    ("precedence", "lp_precedence2",
                                     ("--merge", "5%"))):
            suite.bound("--kind", kind, "--lp", suite.path("r.lp"), *words,
                        graph)
            found = optimum(SOLVERS[0][2], SOLVERS[0][3], suite.path("r.lp"))
            suite.claim("the exported %s of %d tiles gives the reference's %s"
                        % (kind, tiles, column),
                        near(found, float(row[column]), 1e-3), found, row)


def test_refusals(suite):
    good = suite.write("good.graph", graph_text(cholesky_tasks(3)))
    suite.fails("no program and no file is a wrong command line", 2,
                "which program")
    suite.fails("an unknown bound is named, with those there are", 2,
                "no bound guess; there are critical-path, .*exact",
                "--kind", "area,guess", good)
    suite.fails("operands that are no number are refused", 2, "takes a number",
                "--optimistic=much", good)
    suite.fails("a share beyond reason is refused", 2, "share",
                "--merge", "120%", good)
    suite.fails("no time is refused", 2, "--time takes seconds", "--time", "0",
                good)
    suite.fails("a recorded graph has its machine", 2, "has its machine",
                "-m", "mirage", good)
    suite.fails("a program comes after --", 2, "after --", good, "-size",
                "960")
    suite.fails("two graphs are those of two ranks", 1, "this is of no rank", good, good)
    suite.fails("a bound that is no linear program cannot be exported", 2,
                "linear program", "--kind", "critical-path", "--lp", "x.lp",
                good)
    suite.fails("JSON and an export do not share standard output", 2,
                "standard output", "--json", "--lp", "-", good)
    suite.fails("a file that is not there is named", 1, "nowhere.graph",
                suite.path("nowhere.graph"))
    text = graph_text(cholesky_tasks(3))
    suite.fails("a graph cut off is refused with its line", 1,
                r"cut.graph:\d+:", suite.write("cut.graph", text[:-5]))
    suite.fails("a damaged graph is refused with its line", 1,
                r"bad.graph:\d+:", suite.write(
                    "bad.graph", text.replace("task 3", "task 33", 1)))
    early = graph_text(cholesky_tasks(3), makespan="0.001").replace(
        "task 0 1 0", "task 0 1 0 ran 0 0 0.001", 1)
    document, result = suite.json("--kind", "area", suite.write("early.graph", early))
    suite.claim("a run that ended early is no schedule to compare with",
                document.get("makespan_ms", 0) is None and any(
                    "9 of 10 tasks had not run" in note
                    for note in document.get("notes", ())), result)
    suite.fails("a graph without task is refused", 1, "no task was recorded",
                suite.write("empty.graph", graph_text([])))
    unknown = (UNKNOWN,) * 4
    suite.fails("kernels without model are all named", 1,
                "(?s)potrf.*trsm.*syrk.*gemm.*[Cc]alibrate",
                suite.write("unknown.graph", graph_text(
                    cholesky_tasks(3), gpus=(unknown,) * 3, cpu=unknown)))
    unable = ("inf",) + CPU[1:]
    suite.fails("a task that no worker can run is named", 1,
                "No worker.*potrf", suite.write("unable.graph", graph_text(
                    cholesky_tasks(3), gpus=(unable,), cpu=unable)))
    unknown_times = graph_text(cholesky_tasks(1), gpus=(), cpu=unknown,
                              run="real", makespan="9")
    ran = unknown_times.replace("task 0 1 0", "task 0 1 0 ran 0 0.5 8")
    document, result = suite.json(
        "--kind", "area", "--lp", suite.path("ran.lp"),
        suite.write("ran.graph", ran))
    suite.claim("a real run without model has the times of its own tasks",
                document.get("unknown_pairs") == 8 and
                any("own tasks" in note for note in document["notes"]) and
                "7.5" in open(suite.path("ran.lp"), encoding="utf-8").read(),
                result)
    half = suite.write("half.graph", graph_text(
        cholesky_tasks(3), gpus=((UNKNOWN,) + GPUS[0][1:],)))
    document, result = suite.json("--kind", "area,precedence", half)
    suite.claim("a pair of unknown duration is counted, nothing is proved",
                document.get("unknown_pairs") == 1 and
                not any(e["proved"] for e in document["bounds"]) and
                any("left out" in note for note in document["notes"]), result)


def test_outputs(suite):
    good = suite.write("good.graph",
                       graph_text(cholesky_tasks(3), makespan="80"))
    for option in ("--lp", "--lp-solve", "--mps"):
        suite.fails("%s in a folder that is not there is an error" % option, 1,
                    "cannot be written", "--kind", "area", option,
                    suite.path("no/where"), good)
        suite.fails("%s on a full disk is an error" % option, 1,
                    "cannot be written", "--kind", "area", option, "/dev/full",
                    good)
    picture = suite.path("p.png")
    if shutil.which("gnuplot"):
        result = suite.bound("--kind", "critical-path,area", "--plot", picture,
                             good)
        with open(picture, "rb") as file:
            suite.claim("--plot draws a picture", file.read(4)[1:] == b"PNG",
                        result)
        suite.fails("a picture in a folder that is not there is an error", 1,
                    "cannot be written", "--kind", "area", "--plot",
                    suite.path("no/p.png"), good)
    else:
        suite.skip("--plot draws a picture", "gnuplot is not installed")
    # The module's folder is looked at before all others.
    path = suite.path("without.mps")
    hidden = suite.path("hidden")
    os.makedirs(hidden, exist_ok=True)
    copy = os.path.join(hidden, "orrery")
    shutil.copy(suite.orrery, copy)
    result = tools_util.run(copy, "bound", "--mps", path, good,
                            env=dict(os.environ, ORRERY_MODULE_DIR=hidden))
    suite.claim("without the module exports are written",
                result.code == 0 and os.path.exists(path), result)
    suite.claim("without the module every bound says how to build it",
                len(re.findall("-Dbound=enabled", result.out)) == len(KINDS),
                result)
    result = tools_util.run(copy, "bound", good,
                            env=dict(os.environ, ORRERY_MODULE_DIR=hidden))
    suite.claim("without the module and an export it ends with 1",
                result.code == 1, result)


PRETENDER = """#!/bin/sh
echo "machine $ORRERY_MACHINE scheduler $STARPU_SCHED set $ORRERY_SET $*"
echo "assumed <$ORRERY_ASSUME>"
[ -z "${FAKE_GRAPH-}" ] || cat "$FAKE_GRAPH" >"$ORRERY_GRAPH"
cat >"$ORRERY_REPORT" <<REPORT
{"version": "0", "simulated": true, "machine": "$ORRERY_MACHINE",
 "provenance": "derived", "scheduler": "$STARPU_SCHED", "makespan_us": 90000,
 "edits": [{"edit": "cuda.count = 3", "echo": "3 devices"}],
 "flops": 5e9, "tasks": 10, "wall_s": 0.25, "exit": "shutdown", "workers": []}
REPORT
exit "${FAKE_EXIT-0}"
"""


def test_programs(suite):
    program = suite.write("pretender", PRETENDER, 0o755)
    graph = suite.write("ten.graph", graph_text(cholesky_tasks(3)))
    saved = suite.path("saved.graph")
    result = suite.bound("--kind", "area,critical-path", "-m", "moon", "-s",
                         "dmdas", "--set", "cuda.count = 3", "--save-graph",
                         saved, "--lp", suite.path("p.lp"), "--", program,
                         "-size", "5", FAKE_GRAPH=graph)
    suite.claim("machine, scheduler, edits and arguments reach the program",
                "machine moon scheduler dmdas set cuda.count = 3 -size 5" in
                result.out, result)
    result = suite.bound("--kind", "area", "-m", "moon", "--assume",
                         "kernel[gemm] = 5us", "--", program, FAKE_GRAPH=graph)
    suite.claim("--assume reaches the program, as with other commands",
                "assumed <kernel[gemm] = 5us>" in result.out, result)
    result = suite.bound("--kind", "area,critical-path", "-m", "moon", "-s",
                         "dmdas", "--set", "cuda.count = 3", "--", program,
                         FAKE_GRAPH=graph)
    suite.claim("edits are echoed", "cuda.count = 3: 3 devices" in result.out,
                result)
    suite.claim("derived parameters are reported", "figures are derived" in result.out,
                result)
    suite.claim("without one in the graph the makespan is the report's",
                "scheduled 90.000 ms" in result.out, result)
    with open(graph, encoding="utf-8") as one, \
            open(saved, encoding="utf-8") as two:
        suite.claim("--save-graph keeps the graph as it was",
                    one.read() == two.read())
    document, result = suite.json("--kind", "area", "-m", "moon", "--lp",
                                  suite.path("p.lp"), "--", program,
                                  FAKE_GRAPH=graph)
    suite.claim("--json keeps the program's output away",
                document.get("program") == "pretender" and
                document["run"]["edits"][0]["echo"] == "3 devices" and
                document["makespan_ms"] == 90, result)
    suite.fails("a program that records nothing is an error", 1,
                "recorded no graph", "--", program)
    suite.fails("a program that fails ends it", 1, "exit status 7", "--",
                program, FAKE_GRAPH=graph, FAKE_EXIT="7")
    suite.fails("a program that does not exist is named", 1, "missing", "--",
                suite.path("missing"))
    bad = suite.write("bad.graph", "orrery-graph 1\nnonsense\n")
    result = suite.bound("--save-graph", suite.path("kept"), "--", program,
                         FAKE_GRAPH=bad)
    suite.claim("a damaged record is an error and is not kept",
                result.code == 1 and ":2:" in result.err and
                not os.path.exists(suite.path("kept")), result)
    suite.claim("nothing is left in the temporary folder", not [
        name for name in os.listdir(suite.folder) if "orrery-" in name])


def main():
    orrery, has_solver = sys.argv[1:3]
    folder = tempfile.mkdtemp()
    os.environ["TMPDIR"] = folder
    os.environ.pop("ORRERY_GRAPH", None)
    suite = Suite(os.path.abspath(orrery), has_solver == "1", folder)
    try:
        for test in (test_table, test_time, test_figures, test_durations, test_exports, test_reference,
                     test_refusals, test_outputs, test_programs):
            test(suite)
    finally:
        shutil.rmtree(folder)
    suite.end()


if __name__ == "__main__":
    main()

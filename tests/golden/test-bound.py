# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery bound of the Cholesky example on machines of the catalogue: no run
beats a bound, and the bounds are those that glpsol finds.
usage: test-bound.py ORRERY CHOLESKY HAS_SOLVER PROGRAMS"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "unit"))
import tools_util  # noqa: E402

MACHINES = ("h100-pcie-4", "rtx4090-2", "mixed-a100-v100")
# What rounding may explain.
ROUNDING = 1e-6
tap = tools_util.Tap()
claim = tap.claim


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, encoding="utf-8",
                          stderr=subprocess.STDOUT, timeout=200, check=False)


def glpsol(path):
    # Not to /dev/stdout: glpsol removes what it writes to, as root that, too.
    out = path + ".out"
    run("glpsol", "--lp", path, "-o", out)
    with open(out, encoding="utf-8") as file:
        found = re.search(r"OPTIMAL\nObjective:.*= (\S+)", file.read())
    return float(found.group(1)) if found else None


def test_machine(orrery, cholesky, has_solver, machine, folder):
    graph = os.path.join(folder, machine + ".graph")
    run_words = ("-m", machine, "-s", "dmdas", "--save-graph", graph, "--set",
                 "cpu.count = 4", "--assume", "kernel[x] = 5us; kernel[y] = 1us",
                 "--", cholesky, "-size", "5760", "-nblocks", "6")
    lp = os.path.join(folder, "p.lp")
    for kind in ("area", "precedence"):
        words = [orrery, "bound", "--json", "--kind", kind, "--lp", lp]
        ran = run(*words, *run_words)
        claim("%s on %s ends with 0" % (kind, machine), ran.returncode == 0,
              ran.stdout)
        if ran.returncode != 0:
            continue
        document = json.loads(ran.stdout)
        claim("56 tasks ran on %s" % machine, document["tasks"] == 56 and
              document["makespan_ms"] > 0, ran.stdout)
        again = run(*words, graph)
        claim("the graph that was kept has the same %s" % kind,
              again.returncode == 0 and [
                  entry["ms"] for entry in json.loads(again.stdout)["bounds"]
              ] == [entry["ms"] for entry in document["bounds"]], again.stdout)
        then, now = document["run"], json.loads(again.stdout)["run"]
        claim("its policy, assumptions and the machine's figures are kept",
              now["scheduler"] == "dmdas" and now["assumed"] ==
              then["assumed"] == "kernel[x] = 5us; kernel[y] = 1us" and
              now["provenance"] == then["provenance"] == "derived",
              again.stdout)
        claim("so is what was edited", now["edits"][0]["text"] ==
              "%s: %s" % (then["edits"][0]["edit"], then["edits"][0]["echo"]),
              again.stdout)
        told = run(orrery, "bound", "--kind", kind, graph).stdout
        claim("and all of it is told", "scheduler   dmdas" in told and
              "what if     cpu.count = 4: " in told and
              "times       100.0 % derived" in told, told)
        value = document["bounds"][0]["ms"]
        if has_solver and value is not None:
            claim("no run on %s beats its %s" % (machine, kind),
                  value <= document["makespan_ms"] * (1 + ROUNDING), value,
                  document["makespan_ms"])
        if not shutil.which("glpsol"):
            tap.skip("no run on %s beats the %s that glpsol finds" % (
                machine, kind), "glpsol is not installed")
            continue
        found = glpsol(lp)
        claim("no run on %s beats the %s that glpsol finds" % (machine, kind),
              found and found <= document["makespan_ms"] * (1 + ROUNDING),
              found, document["makespan_ms"])
        if value is not None:
            claim("%s on %s is what glpsol finds" % (kind, machine),
                  found and abs(value - found) <= 1e-4 * found, value, found)


def tiny_tasks(path, ntasks):
    calls = ["run", 'model 1 kind="per-arch" flags=4',
             'codelet 1 name="tiny" cpu=1 buffers=-1 model=1']
    calls += ["submit %d codelet=1 times=1,1" % (i + 1) for i in range(ntasks)]
    calls.append("wait-all")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(["orrery-record 1"] + calls +
                             ["end value=%d" % len(calls), ""]))
    return path


def test_runtime(orrery, folder):
    """What the runtime takes is a bound, and not the scheduler's fault."""
    path = tiny_tasks(os.path.join(folder, "tiny.rec"), 2000)
    words = ("-m", "epyc-64", "-s", "eager")
    ran = run(orrery, "bound", "--json", "--kind", "area,precedence,runtime",
              *words, "--", path)
    document = json.loads(ran.stdout) if ran.returncode == 0 else {}
    found = {entry["bound"]: entry for entry in document.get("bounds", ())}
    makespan = document.get("makespan_ms")
    claim("2000 tasks of 1 us are bound by their submission", makespan and
          found["area"]["ms"] < 0.02 * makespan and
          0.95 * makespan < found["runtime"]["ms"] <= makespan * (1 + ROUNDING) and
          found["runtime"]["proved"] and
          "submission of 2000 tasks" in found["runtime"]["limited_by"], ran.stdout)
    ran = run(orrery, "explain", *words, "--", path)
    claim("explain tries all costs together", ran.returncode == 0 and
          "a runtime that takes no time for anything" in ran.stdout, ran.stdout)
    first = re.search(r"on the critical path.*\n(\w+) .* (\d+\.\d) %", ran.stdout)
    claim("submission is the critical path, not the worker that happens to be free then",
          first and first.group(1) == "submission" and float(first.group(2)) > 95,
          ran.stdout)


def runtime_of(words, env=None):
    """The runtime's bound, that of precedence, the makespan, and all that was said."""
    ran = subprocess.run(words, stdout=subprocess.PIPE, encoding="utf-8",
                         stderr=subprocess.STDOUT, timeout=200, check=False,
                         env=dict(os.environ, **(env or {})))
    document = json.loads(ran.stdout) if ran.returncode == 0 else {"bounds": ()}
    found = {entry["bound"]: entry for entry in document["bounds"]}
    return (found.get("runtime", {"ms": 0, "limited_by": "", "ignores": ""}),
            found.get("precedence", {"ms": 0}), document.get("makespan_ms") or 0,
            ran.stdout)


def test_threads(orrery, programs):
    """Programs with several threads that submit, and with tasks in callbacks."""
    for program, machine, least in (("submitters", "epyc-64", 0.7),
                                    ("submitters", "rtx4090-2", 0.2),
                                    ("pipeline", "epyc-64", 0.95),
                                    ("recursion", "epyc-64", 0.0)):
        runtime, precedence, makespan, text = runtime_of(
            [orrery, "bound", "--json", "--kind", "precedence,runtime", "-m", machine,
             "-s", "eager", "--assume", "*=1us", "--",
             os.path.join(programs, program)], {"ORRERY_SIM_KERNELS": "run"})
        claim("%s on %s is bound by more than its kernels" % (program, machine),
              precedence["ms"] < runtime["ms"] <= makespan * (1 + ROUNDING) and
              runtime["ms"] >= least * makespan and runtime["proved"], text)


def device_tasks(path, ntasks, asynchronous, worker):
    calls = ["run", 'model 1 kind="per-arch" flags=4',
             'codelet 1 name="tiny" cuda=1 buffers=-1 model=1' +
             (" asynchronous=10" if asynchronous else "")]
    calls += ["submit %d codelet=1%s times=nan,2" % (
        i + 1, "" if worker is None else " worker=%d" % worker) for i in range(ntasks)]
    calls.append("wait-all")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(["orrery-record 1"] + calls +
                             ["end value=%d" % len(calls), ""]))
    return path


def test_queues(orrery, folder):
    """Kernels of 2 us on devices, whose workers spend 10 us for each beside it, or wait
    for it for as long; also where all are for one of them."""
    for asynchronous in (False, True):
        for worker in (None, 8):  # behind the processors
            path = device_tasks(os.path.join(folder, "queue.rec"), 600, asynchronous,
                                worker)
            runtime, precedence, makespan, text = runtime_of(
                [orrery, "bound", "--json", "--kind", "precedence,runtime", "-m",
                 "h100-pcie-4", "-s", "eager", "--", path])
            claim("queues of devices bound kernels that are %sasynchronous, on %s" % (
                "" if asynchronous else "not ",
                "all" if worker is None else "one of them"),
                  precedence["ms"] < 0.3 * makespan and runtime["proved"] and
                  0.9 * makespan < runtime["ms"] <= makespan * (1 + ROUNDING) and
                  "queues" not in runtime["ignores"], text)


ODD = re.compile(r"(^|[^\w.\"])-?(inf|nan)\b|-0\.0+ %|Infinity|NaN", re.MULTILINE)


def test_nothing(orrery, folder):
    """Without tasks, and with tasks that take no time on a machine that costs nothing,
    commands say so; nowhere is a share of nothing."""
    nothing = os.path.join(folder, "nothing.rec")
    with open(nothing, "w", encoding="utf-8") as file:
        file.write("orrery-record 1\nrun\nwait-all\nend value=2\n")
    idle = tiny_tasks(os.path.join(folder, "idle.rec"), 3)
    free = ("--set", "cost = 0us", "--assume", "*=0")
    for command, says in ((["bound", "--time", "1"], "no task was"),
                          (["explain"], "no task ran"),
                          (["explain", "-s", "eager,lws"], "no task ran"),
                          (["optimise", "--time", "1", "-o", folder + "/s"],
                           "no task was"),
                          (["report", "-o", folder + "/r.html"], "no task ran")):
        ran = run(orrery, *command, "-m", "epyc-64", "--", nothing)
        claim("%s of a program without tasks says just that" % command[0],
              ran.returncode == 1 and says in ran.stdout and
              "liborrery" not in ran.stdout and "not written" not in ran.stdout,
              ran.stdout)
    for command in (["run"], ["bound", "--time", "1"], ["explain"],
                    ["optimise", "--time", "1", "-o", folder + "/s"],
                    ["compare", "--bound", "-s", "eager,lws"],
                    ["compare", "--repeat", "2"], ["trace", "-o", folder + "/t.csv"],
                    ["report", "-o", folder + "/r.html"]):
        for json_too in ([], ["--json"]):
            if json_too and command[0] in ("trace", "report"):
                continue
            for what in ((nothing, idle) if command[0] in ("run", "compare", "trace")
                         else (idle,)):
                ran = run(orrery, *command, *json_too, "-m", "epyc-64", *free, "--", what)
                claim("%s of %s has no share of nothing" % (
                    " ".join(command[:1] + json_too), os.path.basename(what)),
                      ran.returncode == 0 and not ODD.search(ran.stdout), ran.stdout)


def main():
    orrery, cholesky, has_solver, programs = sys.argv[1:5]
    folder = tempfile.mkdtemp()
    os.environ.pop("ORRERY_MACHINE", None)
    try:
        for machine in MACHINES:
            test_machine(orrery, cholesky, has_solver == "1", machine, folder)
        test_runtime(orrery, folder)
        test_threads(orrery, programs)
        test_queues(orrery, folder)
        test_nothing(orrery, folder)
    finally:
        shutil.rmtree(folder)
    tap.end()


if __name__ == "__main__":
    main()

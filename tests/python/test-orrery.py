#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The package orrery: graphs, machines, simulations, bounds, models.

usage: test-orrery.py MACHINE STUDY     STUDY is examples/python/study.py
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from common import Skip, equal, need, raises, test_all

import orrery

MACHINE = sys.argv[1]

SCRIPT = """import starpu
starpu.init()
@starpu.access(a="R", b="RW")
def kernel(a, b): pass
data = [bytearray(1 << 20) for _ in range(3)]
for i in range(12):
    starpu.task_submit(ret_fut=False)(kernel, data[i % 2], data[2])
starpu.shutdown()
"""


def chain(n=4):
    graph = orrery.Graph()
    datum = graph.add_data(1 << 20, name="A")
    for _ in range(n):
        graph.add_task("scale", writes=[datum], times={"cpu": 1000, "cuda": 10})
    return graph


def machines_are_found():
    equal(MACHINE in orrery.machines(), True)
    machine = orrery.machine(MACHINE)
    equal(machine.describe()["name"], MACHINE)
    edited = orrery.machine(MACHINE, set=["cuda.count = 2"])
    equal(edited.describe()["cuda_devices"], 2)
    equal(str(edited), MACHINE + "; cuda.count = 2")
    equal(edited == orrery.machine(MACHINE, set="cuda.count = 2"), True)
    xml.etree.ElementTree.fromstring(machine._repr_svg_())
    raises(orrery.Error, "unknown machine \"nowhere\"", orrery.machine,
           "nowhere")
    raises(orrery.Error, "cuda.cuont", orrery.machine, MACHINE,
           set="cuda.cuont = 2")


def graphs_are_made_and_simulated():
    run = orrery.simulate(chain(), MACHINE, "eager")
    equal([task["kernel"] for task in run.tasks], ["scale"] * 4)
    ends = [task["end_us"] for task in run.tasks]
    equal(ends == sorted(ends), True)
    equal(run.scheduler, "eager")
    equal(abs(run.makespan_us - max(ends)) < 1, True)
    equal(sum(worker["tasks"] for worker in run.workers), 4)
    picture = run._repr_svg_()
    xml.etree.ElementTree.fromstring(picture)
    equal(' ms</text>' in picture and '>0 ms</text>' in picture, True)  # an axis
    equal('fill="#fff"/>' in picture, True)  # notebooks may be dark
    equal(run._repr_html_().count("<tr>"), 2)
    equal(picture.count("transfers, "), len(run.links))


def data_order_tasks():
    graph = orrery.Graph()
    made, other = graph.add_data(8), graph.add_data(shape=(10, 20))
    graph.add_task("makes", makes=[made, other], times={"cpu": 100})
    graph.add_task("reads", reads=[made], times={"cpu": 100})
    graph.add_task("reads", reads=[made], times={"cpu": 100})
    graph.add_task("changes", writes=[made], reads=[other], times={"cpu": 100})
    starts = [task["start_us"] for task in
              orrery.simulate(graph, MACHINE, "eager").tasks]
    equal([int(start) // 100 for start in starts], [0, 1, 1, 2])


def tasks_come_after_others():
    graph = orrery.Graph()
    first = graph.add_task("a", times={"cpu": 100})
    graph.add_task("b", times={"cpu": 100})
    graph.add_task("c", after=[first], times={"cpu": 300})
    run = orrery.simulate(graph, MACHINE, "eager")
    equal(round(run.makespan_us / 100), 4)
    equal(run.transfers, 0)


def each_task_has_its_own_time():
    graph = orrery.Graph()
    datum = graph.add_data(8)
    for us in (100, 200.5, 300):
        graph.add_task("t", writes=[datum], times={"cpu": us})
    lengths = [task["end_us"] - task["start_us"] for task in
               orrery.simulate(graph, MACHINE, "eager").tasks]
    equal([round(length, 3) for length in lengths], [100, 200.5, 300])


def times_may_be_assumed():
    graph = orrery.Graph()
    graph.add_task("t")
    run = orrery.simulate(graph, MACHINE, "eager", assume="t = 250us")
    equal(round(run.tasks[0]["end_us"] - run.tasks[0]["start_us"]), 250)


def bad_graphs_are_refused():
    graph = orrery.Graph()
    raises(orrery.Error, "no tasks", graph.path)
    raises(orrery.Error, "no datum 7", graph.add_task, "t", reads=[7])
    raises(orrery.Error, "no task 1", graph.add_task, "t", after=[1])
    raises(orrery.Error, "'gpu'|cuda", graph.add_task, "t",
           times={"gpu": 1})
    raises(orrery.Error, "'fpga'|cuda", graph.add_task, "t",
           devices=["fpga"])
    for wrong in (-5, float("nan"), float("inf"), "5", True, None):
        raises(orrery.Error, "times=|from 0", graph.add_task, "t",
               times={"cpu": wrong})
    for wrong in (1 << 31, -1.5, "1", True):
        raises(orrery.Error, "priority=|32 bits", graph.add_task, "t",
               priority=wrong)
    raises(orrery.Error, "times= or model=", graph.add_task, "t",
           times={"cpu": 1}, model="m")
    raises(orrery.Error, "size= or shape=", graph.add_data)
    raises(orrery.Error, "5 dimensions", graph.add_data, shape=[1] * 5)
    raises(orrery.Error, "lengths", graph.add_data, size=-1)
    equal(len(graph), 0)
    for wrong in (None, 5):
        raises(orrery.Error, "is no machine|orrery.machines()", orrery.simulate,
               chain(), wrong)
        raises(orrery.Error, "is no graph|orrery.Graph", orrery.simulate, wrong,
               MACHINE)
    raises(orrery.Error, "null", orrery.simulate, chain(), MACHINE, "ea\0ger")
    raises(orrery.Error, "no scheduling policy", orrery.simulate, chain(),
           MACHINE, "ea\udc80ger")
    raises(orrery.Error, "simulate", orrery.simulate, chain(), MACHINE,
           "ea\ud800ger")
    raises(orrery.Error, "no record", orrery.Graph.from_record, __file__)
    raises(orrery.Error, "No such file", orrery.Graph.from_record, "/nowhere")
    raises(orrery.Error, "no scheduling policy `nowhere'", orrery.simulate,
           chain(), MACHINE, "nowhere")


def a_program_is_recorded_and_replayed():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "app.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        path = os.path.join(folder, "app.rec")
        graph = orrery.record([sys.executable, "-B", script], path)
        run = orrery.simulate(graph, MACHINE, "dmda", assume="kernel = 1ms")
        equal([task["kernel"] for task in run.tasks], ["kernel"] * 12)
        equal(run.makespan_us > 12000, True)
        equal(orrery.simulate(path, MACHINE, "dmda",
                              assume="kernel = 1ms").makespan_us,
              run.makespan_us)
        raises(orrery.Error, "cannot be changed", graph.add_data, 8)


def records_have_the_waits_for_futures():
    """Replays take as long as the program does, whatever kernels took when it was recorded."""
    with tempfile.TemporaryDirectory() as folder:
        script, path = (os.path.join(folder, name) for name in ("waits.py", "waits.rec"))
        with open(script, "w", encoding="utf-8") as file:
            file.write("import asyncio\nimport starpu\nstarpu.init()\n"
                       "async def main():\n    for i in range(5):\n"
                       "        await starpu.task_submit()(pow, i, 2)\n"
                       "for i in range(5):\n    starpu.task_submit()(pow, i, 2).wait()\n"
                       "asyncio.run(main())\nstarpu.shutdown()\n")
        subprocess.run([sys.executable, "-B", script], check=True,
                       env=dict(os.environ, ORRERY_ASSUME="* = 100us", ORRERY_MACHINE=MACHINE,
                                ORRERY_RECORD=path))
        with open(path, encoding="utf-8") as file:
            equal(file.read().count("\nwait-task "), 10)
        for us in (1, 1000):
            makespan = orrery.simulate(path, MACHINE, "eager", assume=f"* = {us}us").makespan_us
            equal(10 * us <= makespan <= 10 * us + 100, True)


def names_may_have_any_letters():
    graph = orrery.Graph()
    datum = graph.add_data(8, name='a "b" \\ é')
    kernels = ['k "quoted" \\', "a\tb", "é", "x"]
    for kernel in kernels:
        graph.add_task(kernel, writes=[datum], name="n\n1", times={"cpu": 1},
                       priority=3, flops=1e9)
    run = orrery.simulate(graph, MACHINE, "eager")
    equal([task["kernel"] for task in run.tasks], kernels)


def many_run_at_once():
    graph = chain(20)
    runs = orrery.compare(graph, [MACHINE, orrery.machine(
        MACHINE, set="cuda.count = 0")], ["eager", "dmdas"])
    equal([(str(run.machine), run.scheduler) for run in runs],
          [(name, scheduler) for name in (MACHINE, MACHINE + "; cuda.count = 0")
           for scheduler in ("eager", "dmdas")])
    for run in runs:
        equal(run.makespan_us, orrery.simulate(
            graph, run.machine, run.scheduler).makespan_us)
    equal(runs.best.makespan_us, min(run.makespan_us for run in runs))
    equal(runs._repr_html_().count("<tr>"), 5)


def a_seed_is_one_of_the_possible_runs():
    plain = orrery.simulate(chain(), MACHINE, "eager")
    one, same, other = (orrery.simulate(chain(), MACHINE, "eager", seed=seed,
                                        noise=0.1) for seed in (1, 1, 2))
    equal(one.tasks == same.tasks, True)
    equal(len({run.makespan_us for run in (plain, one, other)}), 3)
    equal(one.report["noise"], {"deviation": 0.1, "seed": 1})
    equal((plain.seed, one.seed, other.seed), (None, 1, 2))
    equal(orrery.simulate(chain(), MACHINE, "eager", noise=0).tasks,
          plain.tasks)
    equal(orrery.simulate(chain(), MACHINE, "eager", noise="10%",
                          seed=1).tasks, one.tasks)
    equal(orrery.simulate(chain(), MACHINE, "eager",
                          seed=4).report["noise"]["deviation"], "measured")
    runs = orrery.compare(chain(), MACHINE, ["eager", "dmda"], seed=range(1, 3),
                          noise=0.1)
    equal([(run.scheduler, run.seed) for run in runs],
          [("eager", 1), ("eager", 2), ("dmda", 1), ("dmda", 2)])
    equal([run.tasks for run in runs[:2]], [one.tasks, other.tasks])
    for wrong in ({"seed": -1}, {"seed": "1"}, {"seed": True},
                  {"seed": 1 << 31}):
        raises(orrery.Error, "seed=|int from 0", orrery.simulate, chain(),
               MACHINE, **wrong)
    for wrong in (-1, 11, float("nan"), True, []):
        raises(orrery.Error, "noise=|0.02", orrery.simulate, chain(), MACHINE,
               noise=wrong)
    raises(orrery.Error, "ORRERY_SIM_NOISE=loud", orrery.simulate, chain(),
           MACHINE, noise="loud")


def sweeps_compare():
    graph = chain(10)
    sweep = orrery.sweep(graph, MACHINE, ["eager", "dmda"],
                         set="cuda.count = 1..2", repeat=4, noise=0.1,
                         bound=True)
    equal([(row["scheduler"], row["cuda.count"]) for row in sweep.rows],
          [("eager", "1"), ("dmda", "1"), ("eager", "2"), ("dmda", "2")])
    for row in sweep.rows:
        equal(row["low_ms"] <= row["median_ms"] <= row["high_ms"], True)
        equal(row["to_best"] >= 1 and 0 < row["of_bound"] <= 1.01, True)
    equal(sweep.best["median_ms"], min(row["median_ms"] for row in sweep.rows))
    equal(sweep._repr_html_().count("<tr>"), 5)
    one = orrery.sweep(graph, orrery.machine(MACHINE, set="cuda.count = 1"),
                       "eager")
    equal(one.rows[0]["median_ms"] * 1e3, orrery.simulate(
        graph, orrery.machine(MACHINE, set="cuda.count = 1"),
        "eager").makespan_us)
    raises(orrery.Error, "different edits", orrery.sweep, graph,
           [MACHINE, orrery.machine(MACHINE, set="cuda.count = 1")], "eager")
    raises(orrery.Error, "repeat=0", orrery.sweep, graph, MACHINE, "eager",
           repeat=0)
    raises(orrery.Error, "no scheduling policy `nowhere'", orrery.sweep, graph,
           MACHINE, "nowhere")


def sweeps_keep_what_fails():
    sweep = orrery.sweep(chain(), MACHINE, ["nowhere", "eager"])
    equal([row["error"] is None for row in sweep.rows], [False, True])
    equal(sweep.best["scheduler"], "eager")
    equal("nowhere" in sweep._repr_html_(), True)


def sweeps_are_drawn():
    if not shutil.which("gnuplot"):
        raise Skip("there is no gnuplot")
    graph = chain()
    sweep = orrery.sweep(graph, MACHINE, ["nowhere", "eager", "dmda"])
    del graph  # the file of its calls stays as long as the sweep needs it
    picture = sweep.plot()
    xml.etree.ElementTree.fromstring(picture._repr_svg_())
    equal("dmda" in picture.svg and "nowhere" not in picture.svg, True)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.svg")
        picture.save(path)
        with open(path, encoding="utf-8") as file:
            equal(file.read() == picture.svg, True)
        path = os.path.join(folder, "a.png")
        picture.save(path)
        with open(path, "rb") as file:
            equal(file.read(8), b"\x89PNG\r\n\x1a\n")
        raises(orrery.Error, ".svg or .png", picture.save, os.path.join(folder, "a.pdf"))


def graphs_show_themselves():
    graph = orrery.Graph()
    equal(graph._repr_html_(), "&lt;orrery.Graph of 0 tasks&gt;")
    a = graph.add_data(8)
    graph.add_task("make <it>", makes=[a], times={"cuda": 2}, name="first")
    graph.add_task("use", reads=[a], model="use")
    graph.add_task("use", reads=[a], model="use")
    shown = graph._repr_html_()
    equal("<td>make &lt;it&gt;</td><td>1</td>" in shown, True)
    equal("<td>use</td><td>2</td>" in shown, True)
    if not shutil.which("dot"):
        raise Skip("there is no Graphviz")
    picture = xml.etree.ElementTree.fromstring(shown[:shown.index("<table>")])
    classes = [part.get("class") for part in picture.iter() if part.get("class")]
    equal(classes.count("node"), 3)
    equal(classes.count("edge"), 2)
    for i in range(200):  # too many to be seen
        graph.add_task(f"one of {i % 2}", times={"cpu": 1})
    equal("<svg" in graph._repr_html_(), False)


def bounds_hold():
    graph = chain(10)
    bounds = orrery.bounds(graph, MACHINE, "dmdas", time=2)
    run = orrery.simulate(graph, MACHINE, "dmdas")
    equal(0 < bounds.best_us <= run.makespan_us, True)
    equal(round(bounds.makespan_us, 3), round(run.makespan_us, 3))
    equal("critical path" in bounds._repr_html_(), True)


def runs_are_explained():
    why = orrery.explain(chain(10), MACHINE, "eager")
    equal(len(why.critical_path) >= 10, True)
    equal(len(why.idle) > 0 and len(why.changes) > 0, True)
    equal(why._repr_html_().count("<tr>"), len(why.changes) + 1)


def results_are_arrays():
    need("numpy")
    arrays = orrery.simulate(chain(), MACHINE, "eager").arrays()
    equal(arrays["start_us"].shape, (4,))
    equal((arrays["end_us"] > arrays["start_us"]).all(), True)
    run = orrery.simulate(chain(), MACHINE, "dmda")
    equal(run.arrays("links")["bytes"].sum(), run.transferred_bytes)
    equal(run.arrays("links")["count"].sum(), run.transfers)
    raises(orrery.Error, "'tracks'|'links'", run.arrays, "tracks")


def results_are_frames():
    need("pandas")
    runs = orrery.compare(chain(), MACHINE, ["eager", "dmda"])
    equal(list(runs.frame()["scheduler"]), ["eager", "dmda"])
    equal("graph" in runs.frame(), False)
    several = orrery.compare([chain(), chain(7)], MACHINE, ["eager", "dmda"])
    equal(list(several.frame()["graph"]), ["graph 1"] * 2 + ["graph 2"] * 2)
    equal(list(several.frame()["tasks"]), [4, 4, 7, 7])
    frame = runs[0].frame()
    equal(list(frame["kernel"]), ["scale"] * 4)
    equal(frame["end_us"].max(), max(task["end_us"] for task in runs[0].tasks))
    equal(runs[1].frame("links")["bytes"].sum(), runs[1].transferred_bytes)
    equal(runs[0].frame("workers")["tasks"].sum(), 4)
    equal(runs[0].frame("kernels")["count"].sum(), 4)
    bounds = orrery.bounds(chain(), MACHINE, "eager", time=1)
    proved = bounds.frame().query("proved")["ms"].max()
    equal(proved * 1e3, bounds.best_us)
    sweep = orrery.sweep(chain(), MACHINE, ["eager", "dmda"])
    equal(list(sweep.frame()["median_ms"] * 1e3),
          [run.makespan_us for run in runs])


def graphs_of_networkx_are_taken():
    networkx = need("networkx")
    source = networkx.DiGraph()
    source.add_node("x", kernel="makes", times={"cpu": 100})
    source.add_node("y", kernel="reads", times={"cpu": 200})
    source.add_node("z", kernel="waits", times={"cpu": 300})
    source.add_edge("x", "y", bytes=1 << 20)
    source.add_edge("y", "z")
    run = orrery.simulate(orrery.Graph.from_networkx(source), MACHINE, "eager")
    equal([task["kernel"] for task in run.tasks], ["makes", "reads", "waits"])
    equal(round(run.makespan_us / 100), 6)
    several = networkx.MultiDiGraph(source)
    several.add_edge("x", "y", bytes=1 << 20)
    run = orrery.simulate(orrery.Graph.from_networkx(several), MACHINE, "eager")
    equal(round(run.makespan_us / 100), 6)
    source.add_edge("z", "x")
    raises(orrery.Error, "cycle", orrery.Graph.from_networkx, source)
    raises(orrery.Error, "directed", orrery.Graph.from_networkx,
           networkx.Graph())


def models_predict():
    model = orrery.perfmodel("chol_model_gemm", machine=MACHINE)
    equal("cpu0" in model.architectures, True)
    entry = model.entries("cpu0")[0]
    known = model.predict(entry["size"], "cpu0")
    equal((known.us, known.measured), (entry["mean"], True))
    equal(known.low_us <= known.us <= known.high_us, True)
    other = model.predict(entry["size"] * 2 // 3, "cpu0")
    equal(other.measured, False)
    equal(other.low_us < other.us < other.high_us, True)
    equal(known.us / 3 < other.us < known.us, True)
    equal(set(model.predict(entry["size"])), set(model.architectures))
    raises(orrery.Error, "no architecture 'nothing'|cpu0", model.predict, 8,
           "nothing")
    raises(orrery.Error, "nowhere", orrery.perfmodel, "nowhere",
           machine=MACHINE)


def the_example_compares():
    done = subprocess.run([sys.executable, "-B", sys.argv[2], "sirocco-v100",
                           "4"], capture_output=True, text=True, check=False)
    equal((done.returncode, done.stderr), (0, ""))
    equal(done.stdout.count(" transfers"), 6)
    equal("no scheduler is faster than" in done.stdout, True)


def without_the_command_it_says_so():
    done = subprocess.run(
        [sys.executable, "-B", "-c",
         "import orrery\ntry: orrery.machines()\n"
         "except orrery.Error as error: print(error)"],
        env={**os.environ, "PATH": "/nowhere"}, capture_output=True, text=True,
        check=False)
    equal(done.stdout, "the command orrery is not found: source orrery-env "
          "first\n")


if __name__ == "__main__":
    test_all([value for value in list(globals().values())
              if callable(value) and value.__module__ == "__main__"
              and value is not chain])

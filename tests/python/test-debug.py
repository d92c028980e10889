#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery.debug: a run as an iterator of events, forward and back.

usage: test-debug.py CASES     CASES is tests/debug/cases.c
"""
import gc
import os
import sys
import tempfile

from common import equal, raises, test_all

import orrery

CASES = sys.argv[1]
MACHINE = "laptop-8"
TIMES = ["kernel[*] = 1ms", "kernel[slow] = 10ms"]


def case(name="wrong-dependency", **more):
    return orrery.debug([CASES, name], MACHINE, "lws", assume=TIMES, **more)


def is_there(process):
    return process.poll() is None


def every_event_comes_in_order():
    with case() as run:
        first = run.event
        events = [first, *run]
        equal(first.kind, "begin")
        equal([event.number for event in events], list(range(1, len(events) + 1)))
        equal(events[-1].kind, "finish")
        equal(sorted(event.date_us for event in events), [event.date_us for event in events])
        equal(run.exit_code, 0)
        equal(run.event, None)


def breakpoints_are_where_it_stops():
    run = case(stops=["start use"])
    event = next(run)
    equal((event.kind, event.name, event.task, event.stop), ("start", "use", 3, 1))
    equal(run.break_at("end use"), 2)
    equal(next(run).kind, "end")
    run.delete(2)
    equal(run.back_to_stop().number, event.number)


def it_says_why_and_goes_back():
    run = case(stops="submit use")
    there = next(run)
    found = run.why()
    equal((found[0]["task"], found[0]["before"]), (3, 2))
    equal("it reads other" in found[0]["text"], True)
    equal(run.tasks()[0]["name"], "prepare")
    before = run.back(3)
    equal(before.number, there.number - 3)
    equal(run.goto(there.number).text, there.text)
    equal(run.finish(2).kind, "end")
    equal(run.until(10500).date_us >= 10500, True)


def what_it_prints_is_kept():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "says.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("import starpu\nstarpu.init()\nprint('hello', flush=True)\n"
                       "starpu.shutdown()\n")
        with orrery.debug([sys.executable, script], MACHINE) as run:
            for _ in run:
                pass
            equal((run.output, run.exit_code), ("hello\n", 0))


def graphs_may_be_debugged():
    graph = orrery.Graph()
    datum = graph.add_data(1 << 20, name="A")
    for _ in range(3):
        graph.add_task("scale", writes=[datum], times={"cpu": 1000, "cuda": 10})
    run = orrery.debug(graph, MACHINE, "lws", stops=["end scale"])
    del graph
    equal([event.task for event in run if event.kind == "end"], [1, 2, 3])


def the_program_ends_with_the_iterator():
    run = case()
    process = run._process
    next(run)
    equal(is_there(process), True)
    del run
    gc.collect()
    equal(is_there(process), False)
    run = case()
    for _ in run:
        break
    process = run._process
    run.close()
    run.close()
    equal(is_there(process), False)
    equal(list(run), [])
    raises(orrery.Error, "it was closed", run.step)


PROGRAM = '''\
import starpu
from starpu.joblib import Parallel, delayed


def work():
    pass


def submit():
    starpu.task_submit(name="first")(work)


starpu.init()
submit()
starpu.task_submit(name="second")(
    work)
Parallel(n_jobs=2, mode="normal")(delayed(work)() for _ in range(2))
starpu.task_wait_for_all()
starpu.shutdown()
'''


def line_of(text):
    return PROGRAM[:PROGRAM.index(text)].count("\n") + 1


def tasks_of_python_have_lines_of_python():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        with orrery.debug([sys.executable, path], MACHINE, "lws", assume="* = 1ms",
                          stops="submit") as run:
            found = [event.source for event in run if event.kind == "submit"]
        lines = [line_of('starpu.task_submit(name="first"'),
                 line_of('starpu.task_submit(name="second"'), line_of("Parallel(n_jobs"),
                 line_of("Parallel(n_jobs")]
        equal(found, [f"{path}:{line}" for line in lines])


def mistakes_are_errors():
    run = case()
    raises(orrery.Error, "no command", run.do, "fly")
    raises(orrery.Error, "one command", run.do, "step\nstep")
    raises(orrery.Error, "fly", run.break_at, "start use if fly > 1")
    equal(run.step().number, 2)
    raises(orrery.Error, "nowhere", orrery.debug, [CASES, "thrashing"], "nowhere")
    raises(orrery.Error, "nowhere", orrery.debug, ["/nowhere/cases"], MACHINE)
    raises(orrery.Error, "without a simulated run", orrery.debug, ["/bin/true"], MACHINE)


if __name__ == "__main__":
    test_all([value for value in list(globals().values())
              if callable(value) and value.__module__ == "__main__"
              and value not in (case, is_there, line_of)])

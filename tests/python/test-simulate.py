#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery.simulate in the process that calls it, and in the pool's: what it leaves,
what ends it, who else is there.

usage: test-simulate.py MACHINE [ROUNDS]        ROUNDS: simulations whose memory is
                                                looked at, 200
"""
import os
import signal
import sys
import tempfile
import threading
import time

from common import equal, program, raises, test_all

import orrery
from orrery import _pool, _simulation, _study

MACHINE = sys.argv[1]
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 200

PROGRAM = """import os, signal, sys, tempfile, threading
import orrery
from orrery import _pool, _simulation, _study
MACHINE = %r
def chain(n=4):
    graph = orrery.Graph()
    datum = graph.add_data(1 << 20)
    for _ in range(n):
        graph.add_task("scale", writes=[datum], times={"cpu": 1000, "cuda": 10})
    return graph
def endless(folder, name="endless.rec"):
    graph = orrery.Graph()
    graph._path = os.path.join(folder, name)
    os.mkfifo(graph._path)
    return graph
def feed(graph, after, then):
    with open(graph.path(), "wb", buffering=0) as file:
        file.write(b"orrery-record 1\\nrun\\n")
        try:
            for _ in range(after):
                file.write(b"schedule\\n")
            then()
            while True:
                file.write(b"schedule\\n")
        except BrokenPipeError:
            pass
""" % MACHINE
exec(PROGRAM)  # the same here


def case_of(graph, scheduler="eager", assume=None):
    return _study._case(graph, orrery.machine(MACHINE), scheduler, assume, None,
                        None)


def without_model():
    graph = orrery.Graph()
    graph.add_task("nomodel")
    return graph


def hung():
    """A record whose second task is never submitted."""
    graph = chain(2)
    with open(graph.path(), encoding="utf-8") as file:
        lines = file.read().split("\n")
    lines.insert(lines.index("wait-all"), "tag-wait before=77")
    return broken(lines)


def broken(lines):
    folder = tempfile.TemporaryDirectory(prefix="orrery-")
    graph = orrery.Graph()
    graph._keeps = folder
    graph._path = os.path.join(folder.name, "broken.rec")
    with open(graph._path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return graph


def children():
    """The processes that this one has started and that are there still."""
    found = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children", encoding="ascii") as file:
            found += file.read().split()
    return set(found)


def it_needs_no_command_and_no_process():
    path, os.environ["PATH"] = os.environ["PATH"], "/nowhere"
    before = children()
    try:
        run = orrery.simulate(chain(), MACHINE, "eager")
    finally:
        os.environ["PATH"] = path
    equal(len(run.tasks), 4)
    equal(children(), before)


def it_says_what_the_command_says():
    for scheduler in ("eager", "dmdas", None):
        here, there = (how(case_of(chain(9), scheduler)) for how in
                       (_simulation.play, _simulation.command))
        for report in (here[0], there[0]):
            del report["wall_s"]
            report.pop("untrusted", None)
        equal(here, there)


def edits_without_effect_are_compared():
    machine = orrery.machine(MACHINE, set="cuda.count = 1")
    graph = orrery.Graph()
    graph.add_task("k", times={"cpu": 100})
    case = _study._case(graph, machine, "eager", None, None, None)
    here, there = _simulation.play(case), _simulation.command(case)
    equal(here[0]["without_edits"], there[0]["without_edits"])
    equal("makespan_us" in here[0]["without_edits"], True)
    equal(here[1:], there[1:])
    # The run with edits is what is returned: there is one such device.
    equal(len([name for name in here[1] if "CUDA" in name]), 1)


def machines_follow_each_other():
    spans = [[orrery.simulate(chain(), machine, scheduler).makespan_us
              for machine in (MACHINE, "sirocco-v100",
                              orrery.machine(MACHINE, set="cuda.count = 0"))
              for scheduler in ("eager", "dmda")] for _ in range(3)]
    equal(spans[0], spans[1])
    equal(spans[0], spans[2])
    equal(len(set(spans[0])) > 1, True)


def faults_are_exceptions():
    lines = ["orrery-record 1", "run", "unregister 7", "end value=2", ""]
    for _ in range(3):
        raises(orrery.Error, "time of kernel `nomodel'|assume a time",
               orrery.simulate, without_model(), MACHINE, "eager")
        raises(orrery.Error, "deadlock|main waits for tag", orrery.simulate,
               hung(), MACHINE, "eager")
        raises(orrery.Error, "broken.rec:3|no datum 7", orrery.simulate,
               broken(lines), MACHINE)
        raises(orrery.Error, "no scheduling policy `nowhere'", orrery.simulate,
               chain(), MACHINE, "nowhere")
        raises(orrery.Error, "unknown machine \"nowhere\"", orrery.simulate,
               chain(), "nowhere")
        raises(orrery.Error, "cuda.cuont", orrery.simulate, chain(),
               orrery.machine.__globals__["Machine"](MACHINE, "cuda.cuont = 2"))
        equal(len(orrery.simulate(chain(), MACHINE, "eager").tasks), 4)
    raises(orrery.Error, "time of kernel `nomodel'", orrery.compare,
           without_model(), MACHINE, ["eager", "dmda"], jobs=2)
    raises(orrery.Error, "scheduler=7", orrery.simulate, chain(), MACHINE, 7)
    for jobs in (0, -1, True, "2"):
        raises(orrery.Error, "jobs=", orrery.compare, chain(), MACHINE,
               jobs=jobs)


def programs_of_tasks_begin_and_end_beside_it():
    done = program(PROGRAM + """
import starpu
def spans():
    return [orrery.simulate(chain(), MACHINE, s).makespan_us
            for s in ("eager", "dmda")]
def task():
    return 7
before = spans()
try:
    orrery.simulate((lambda g: (g.add_task("x"), g)[1])(orrery.Graph()), MACHINE)
except orrery.Error:
    pass
for _ in range(2):
    starpu.init()
    assert not _pool.pool()._idle or before == spans()
    future = starpu.task_submit()(task)
    assert before == spans()
    starpu.task_wait_for_all()
    assert future.result() == 7
    starpu.shutdown()
    assert before == spans()
assert len(_pool.pool()._idle) == 1
print("good")
""", env={"STARPU_NCPU": "2"})
    equal((done.code, done.out, done.err), (0, "good\n", ""))


def no_program_of_tasks_begins_meanwhile():
    done = program(PROGRAM + """
import starpu
with tempfile.TemporaryDirectory() as folder:
    graph = endless(folder)
    case = _study._case(graph, orrery.machine(MACHINE), None, None, None, None)
    def begin():
        try:
            starpu.init()
        except starpu.error as error:
            print("refused", "orrery.simulate" in str(error))
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=feed, args=(graph, 100, begin)).start()
    try:
        _simulation.play(case)
    except KeyboardInterrupt:
        print("stopped")
starpu.init()
starpu.shutdown()
""", env={"STARPU_NCPU": "2"})
    equal((done.code, done.out, done.err), (0, "refused True\nstopped\n", ""))


def threads_simulate_at_once():
    spans, expected = [], orrery.simulate(chain(), MACHINE, "eager").makespan_us

    def several():
        for _ in range(5):
            spans.append(orrery.simulate(chain(), MACHINE, "eager").makespan_us)

    threads = [threading.Thread(target=several) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(spans, [expected] * 20)


def the_pool_stays():
    for _ in range(2):
        runs = orrery.compare(chain(), MACHINE, ["eager", "dmda"], jobs=2)
        equal(len(runs), 2)
        if _ == 0:
            first = children()
    equal(children(), first)
    equal(len(first) >= 1, True)


def a_lost_worker_is_replaced():
    orrery.compare(chain(), MACHINE, ["eager", "dmda"], jobs=2)
    for worker in _pool.pool()._idle:
        worker.end()
        worker._process.wait()
    equal(len(orrery.compare(chain(), MACHINE, ["eager", "dmda"], jobs=2)), 2)


def a_worker_that_is_killed_is_an_exception():
    with tempfile.TemporaryDirectory() as folder:
        graph, group, found = endless(folder), [], []

        def simulate():
            try:
                _pool.pool().simulate(case_of(graph), group)
            except orrery.Error as error:
                found.append(str(error))

        thread = threading.Thread(target=simulate)
        thread.start()
        feed(graph, 10, lambda: group[0].end())
        thread.join()
    equal(["SIGKILL" in text for text in found], [True])
    equal(len(orrery.simulate(chain(), MACHINE).tasks), 4)


def workers_see_the_environment_of_now():
    def count(ncpus):
        os.environ["STARPU_NCPU"] = ncpus
        try:
            runs = orrery.compare(chain(), MACHINE, ["eager", "dmda"], jobs=2)
            here = orrery.simulate(chain(), MACHINE, "eager")
        finally:
            del os.environ["STARPU_NCPU"]
        return {len(run.workers) for run in (*runs, here)}

    three, four = count("3"), count("4")
    equal((len(three), len(four)), (1, 1))
    equal(four.pop() - three.pop(), 1)


def an_interrupt_ends_it():
    done = program(PROGRAM + """
with tempfile.TemporaryDirectory() as folder:
    graph = endless(folder)
    thread = threading.Thread(target=feed, args=(
        graph, 1000, lambda: os.kill(os.getpid(), signal.SIGINT)))
    thread.start()
    try:
        orrery.simulate(graph, MACHINE)
    except KeyboardInterrupt:
        print("interrupted")
    thread.join()
    print(len(orrery.simulate(chain(), MACHINE).tasks))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
""")
    equal((done.code, done.out, done.err), (0, "interrupted\n4\n", ""))


def an_interrupt_ends_the_workers():
    done = program(PROGRAM + """
with tempfile.TemporaryDirectory() as folder:
    graphs = [endless(folder, "a"), endless(folder, "b")]
    both = threading.Barrier(2)
    def then():
        if both.wait() == 0:
            os.kill(os.getpid(), signal.SIGINT)
    threads = [threading.Thread(target=feed, args=(graph, 100, then))
               for graph in graphs]
    for thread in threads:
        thread.start()
    try:
        orrery.compare(graphs, MACHINE, jobs=2)
    except KeyboardInterrupt:
        print("interrupted")
    for thread in threads:
        thread.join()
    print(len(orrery.compare(chain(), MACHINE, ["eager", "dmda"], jobs=2)))
""")
    equal((done.code, done.out, done.err), (0, "interrupted\n2\n", ""))


def children_of_fork_simulate():
    orrery.compare(chain(), MACHINE, ["eager", "dmda"], jobs=2)
    child = os.fork()
    if child == 0:
        try:
            orrery.simulate(chain(), MACHINE, "eager")
            orrery.compare(chain(), MACHINE, ["eager", "dmda"], jobs=2)
        except BaseException:
            os._exit(1)
        _pool.pool().trim(0)
        os._exit(0)
    equal(os.waitpid(child, 0)[1], 0)
    equal(len(orrery.compare(chain(), MACHINE, ["eager", "dmda"], jobs=2)), 2)


def usage():
    """Resident pages, and files. No thread stays: those of the simulations end soon
    after them."""
    while len(os.listdir("/proc/self/task")) > threading.active_count():
        time.sleep(0.01)
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return pages, len(os.listdir("/proc/self/fd"))


def flat(function, pages):
    """After the first ones nothing grows by more than so many pages for each."""
    for _ in range(ROUNDS // 4):
        function()
    before = usage()
    for _ in range(ROUNDS):
        function()
    after = usage()
    equal(after[1], before[1])
    if after[0] - before[0] > max(ROUNDS * pages, 64):
        raise AssertionError(f"{after[0] - before[0]} pages more after "
                             f"{ROUNDS} simulations")


def memory_stays():
    case = case_of(chain(30))
    flat(lambda: _simulation.play(case), 0.1)


def memory_stays_after_faults():
    case = case_of(without_model())
    flat(lambda: raises(orrery.Error, "nomodel", _simulation.play, case), 1)


if __name__ == "__main__":
    test_all([value for value in list(globals().values())
              if callable(value) and value.__module__ == "__main__"
              and value.__code__.co_argcount == 0
              and value not in (children, usage, hung, without_model)
              and value.__name__ != "chain"])

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that use the module starpu: their end, signals, forks, the console of
asyncio, what a simulation says that calls no functions, and memory.

usage: test-process.py ORRERY HEAT [full]     HEAT is examples/python/heat.py
"""
import os
import signal
import subprocess
import sys
import tempfile

from common import equal, need, program, test_all

ORRERY, HEAT = sys.argv[1:3]
SIMULATED = {"ORRERY_MACHINE": "h100-pcie-4", "ORRERY_ASSUME": "*=1ms"}
MACHINES = ({}, SIMULATED, {**SIMULATED, "ORRERY_SIM_KERNELS": "run"})


def good(result, out=None, err=""):
    if result.code != 0 or (out is not None and result.out != out) \
            or err not in result.err:
        raise AssertionError(str(result))


def a_program_that_closes_says_nothing():
    for env in MACHINES:
        result = program("import starpu; starpu.init(); starpu.shutdown()",
                         env=env)
        equal((result.code, result.out, result.err), (0, "", ""))


def an_interpreter_per_worker_is_refused():
    text = ("import starpu\nstarpu.init()\nstarpu.init()\n"
            "print(starpu.task_submit(synchronous=True)(abs, -1).done())\n"
            "starpu.shutdown()\nstarpu.shutdown()\n")
    for name in ("STARPUPY_OWN_GIL", "STARPUPY_MULTI_INTERPRETER"):
        for value in ("", "0", "no"):
            equal(program(text, env={name: value}).err, "")
        result = program(text, env={name: "1"})
        good(result, "True\n", "starpu: %s has no effect: " % name)
        equal(result.err.count("\n"), 1)
        equal("CPython 3.12, this is 3.11" in result.err, True)


def after_a_wrong_number_of_processors_it_goes_on():
    good(program(
        "import starpu\nstarpu.init(1)\nstarpu.init()\n"
        "def count():\n"
        "    return starpu.worker_get_count_by_type(starpu.STARPU_CPU_WORKER)\n"
        "for n in (0, -1, True, '2', 100000):\n"
        "    try: starpu.set_ncpu(n)\n"
        "    except starpu.error as error: print(str(error)[:9])\n"
        "print(count(), starpu.task_submit()(abs, -1).wait())\n"
        "starpu.set_ncpu(2)\nprint(count())\n"
        "starpu.shutdown()\nstarpu.shutdown()\n"),
        "set_ncpu:\n" * 4 + "init: Inv\n1 1\n2\n")


def an_interpreter_that_ends_waits_and_says_so():
    for env in MACHINES:
        good(program("import starpu\nstarpu.init()\nstarpu.pause()\n"
                     "for i in range(9): starpu.task_submit()(abs, i)\n",
                     env=env), "",
             "the interpreter ends and 9 tasks have not: waiting for them; call "
             "starpu.shutdown()")


def an_uncaught_exception_ends_the_program():
    for env in MACHINES:
        result = program("import starpu\nstarpu.init()\n"
                         "f = starpu.task_submit()(abs, 1)\n1 / 0\n", env=env)
        equal(result.code, 1)
        equal("ZeroDivisionError" in result.err, True)


def interrupt(text, env):
    """The program is interrupted when it says that it is ready."""
    child = subprocess.Popen(
        [sys.executable, "-B", "-u", "-c", text], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, **env})
    equal(child.stdout.readline(), "ready\n")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=100)
    return child.returncode, out, err


def an_interrupt_ends_waits():
    for wait in ("starpu.task_wait_for_all()", "future.wait()",
                 "starpu.acquire(data)"):
        code, out, err = interrupt(
            "import starpu, threading\nstarpu.init()\n"
            "go = threading.Event()\ndata = bytearray(3)\n"
            "def kernel(x): print('ready'); go.wait()\n"
            "try:\n"
            "    future = starpu.task_submit(modes=['RW'])(kernel, data)\n"
            "    %s\n"
            "except KeyboardInterrupt: print('interrupted')\n"
            "go.set()\nstarpu.shutdown()\nprint('closed')\n" % wait, {})
        equal((code, out, err), (0, "interrupted\nclosed\n", ""))


def an_interrupt_ends_simulated_kernels():
    code, out, err = interrupt(
        "import starpu\nstarpu.init()\n"
        "def kernel():\n    print('ready')\n    while True: pass\n"
        "try:\n"
        "    future = starpu.task_submit()(kernel)\n"
        "    starpu.task_wait_for_all()\n"
        "except KeyboardInterrupt: print('interrupted')\n"
        "starpu.shutdown()\n"
        "print(repr(future.exception()))\n", dict(MACHINES[2], STARPU_SILENT="1"))
    equal((code, out, err), (0, "interrupted\nKeyboardInterrupt()\n", ""))


def an_interrupt_ends_simulations_without_kernels():
    code, out, err = interrupt(
        "import starpu\nstarpu.init()\n"
        "n = 0\n"
        "def again(future):\n"
        "    global n\n"
        "    n += 1\n"
        "    starpu.task_submit()(abs, 1).add_done_callback(again)\n"
        "    if n == 10: print('ready')\n"
        "try:\n"
        "    again(None)\n"
        "    starpu.task_wait_for_all()\n"
        "except KeyboardInterrupt: print('interrupted')\n"
        "again = lambda future: None\n"
        "starpu.shutdown()\n", dict(SIMULATED, STARPU_SILENT="1"))
    equal((code, out, err), (0, "interrupted\n", ""))


def a_fork_is_told():
    for env in MACHINES[:2]:
        good(program(
            "import os, starpu\nstarpu.init()\n"
            "starpu.task_submit()(abs, 1).wait()\n"
            "if os.fork() == 0:\n"
            "    try: starpu.task_submit()(abs, 1)\n"
            "    except starpu.error as error: print(error, flush=True)\n"
            "else:\n"
            "    print(os.wait()[1])\n"
            "    print(starpu.task_submit()(abs, 1).done() in (True, False))\n"
            "    starpu.shutdown()\n", env=env),
            "task_submit: this process is a fork of one that called "
            "starpu.init(), whose workers it does not have: fork before init(), "
            "or start a program of its own (multiprocessing's method spawn)\n"
            "0\nTrue\n")


CONSOLE = """import starpu, asyncio
starpu.init()
def add(a, b): return a + b

@starpu.delayed
def twice(a): return 2 * a

fut = starpu.task_submit()(add, 1, 2)
print("value", await fut)
print("value", await twice(await starpu.task_submit()(add, fut, 1)))
import starpu.joblib
fut = starpu.joblib.Parallel(mode="future", n_jobs=2, end_msg="ready")(starpu.joblib.delayed(abs)(-i) for i in range(3))
print("value", await fut)
await asyncio.sleep(0.01)
starpu.shutdown()
"""


def the_console_of_asyncio_awaits():
    for env, values in ((MACHINES[0], ["3", "8", "[0, 1, 2]"]),
                        (MACHINES[2], ["3", "8", "[0, 1, 2]"]),
                        (SIMULATED, ["<not run: simulated>"] * 2 +
                         ["[%s]" % ", ".join(["<not run: simulated>"] * 3)])):
        result = program("", "-m", "asyncio", env=env, stdin=CONSOLE)
        found = [line.split("value ")[1] for line in result.out.splitlines()
                 if "value " in line]
        if found != values or result.code or "ready" not in result.out \
                or "Error" in result.err:
            raise AssertionError(str(result))


def a_simulation_says_what_it_did_not_run():
    good(program(
        "import starpu\nstarpu.init()\n"
        "v = starpu.task_submit()(abs, 1).wait()\n"
        "print(v, v is starpu.NOT_RUN, (v + 1) * 2 is v, v[3] is v)\n"
        "try: int(v)\nexcept TypeError as error: print(error)\n"
        "h = starpu.task_submit(ret_handle=True)(abs, 1)\n"
        "print(h.get())\n"
        "starpu.shutdown()\n", env=SIMULATED),
        "<not run: simulated> True True True\n"
        "the value is not known, since the machine is simulated and the "
        "function was not called: ORRERY_SIM_KERNELS=run calls functions\n"
        "<not run: simulated>\n")


GRAPH = """import starpu, array
starpu.init()
@starpu.access(a="R", b="RW")
def kernel(a, b): pass
data = [array.array("d", bytes(8 << 20)) for _ in range(4)]
for i in range(40):
    starpu.task_submit(ret_fut=False)(kernel, data[i % 3], data[3 - i % 2])
starpu.shutdown()
"""


def simulations_are_the_same_each_time():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "app.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(GRAPH)
        traces = []
        for i in range(2):
            trace = os.path.join(folder, "%d.paje" % i)
            done = subprocess.run(
                [ORRERY, "run", "-m", "h100-pcie-4", "-s", "dmda", "--assume",
                 "kernel on cuda = 1ms; kernel = 20ms", "--", sys.executable,
                 "-B", script], capture_output=True, text=True, check=False,
                env={**os.environ, "ORRERY_TRACE": trace})
            equal((done.returncode, done.stderr.count("error")), (0, 0))
            with open(trace, encoding="utf-8") as file:
                traces.append(file.read())
        equal(traces[0] == traces[1], True)
        equal("kernel" in traces[0] and "CUDA" in traces[0], True)


def the_example_computes_the_same_everywhere():
    need("numpy")
    found = []
    for env in (MACHINES[0], MACHINES[2],
                {**MACHINES[2], "STARPU_SCHED": "dmdas",
                 "ORRERY_ASSUME": "* on cuda = 50us; * = 20ms"}):
        done = subprocess.run([sys.executable, "-B", HEAT, "3", "4"],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, **env})
        equal((done.returncode, done.stdout[:20]), (0, "3 strips, 4 steps: "
                                                    + done.stdout[19:20]))
        found.append(done.stdout.split("total heat ")[1])
    equal(found, [found[0]] * 3)


LEAKS = """import gc, resource, starpu, sys, tracemalloc
starpu.init()
def one(a): return a
def some(n):
    data = bytearray(100)
    last = None
    for i in range(n):
        last = starpu.task_submit()(one, i)
        starpu.task_submit(ret_fut=False)(one, last)
        starpu.task_submit(ret_handle=True)(one, i)
        starpu.task_submit(ret_fut=False, modes=["RW"])(len, data)
        starpu.task_submit(ret_fut=False)(len, bytearray(1000))
        if i % 500 == 499: starpu.task_wait_for_all()
    last.wait()
    starpu.task_wait_for_all()
    gc.collect()
some(2000)
tracemalloc.start()
some(1000)
objects = len(gc.get_objects())
references = sys.getrefcount(one), sys.getrefcount(None)
memory = tracemalloc.get_traced_memory()[0]
some({n})
print(len(gc.get_objects()) - objects < 100,
      sys.getrefcount(one) == references[0],
      abs(sys.getrefcount(None) - references[1]) < 100,
      tracemalloc.get_traced_memory()[0] - memory < 100000)
starpu.shutdown()
"""


def memory_and_references_are_flat():
    for env in MACHINES:
        good(program(LEAKS.replace("{n}", "2000"), env=env, timeout=200),
             "True True True True\n")


def memory_is_flat_over_many_tasks():
    for env in MACHINES:
        good(program(LEAKS.replace("{n}", "100000"), env=env, timeout=2000),
             "True True True True\n")


FULL = (memory_is_flat_over_many_tasks,)


if __name__ == "__main__":
    chosen = [value for value in list(globals().values())
              if callable(value) and value.__module__ == "__main__"
              and value not in (good, interrupt)]
    test_all([one for one in chosen if (one in FULL) == ("full" in sys.argv)])

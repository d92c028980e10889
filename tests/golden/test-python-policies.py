#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Policies in Python: the eager of the examples makes the built-in one's trace, runs
repeat, what a script asks is answered, what it does wrong ends the run with words. TAP.

usage: test-python-policies.py ORRERY CHOLESKY SCALE EXAMPLES DOCUMENT

SCALE is a program whose kernel is for processors alone.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "unit"))
import tools_util  # noqa: E402

ORRERY, CHOLESKY, SCALE, EXAMPLES, DOCUMENT = sys.argv[1:6]
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
ENV = dict(tools_util.clean_environment(TOP.name, "here"), STARPU_SILENT="1")
for variable in ("ORRERY_CHECK_BOUNDS", "STARPU_HOSTNAME"):
    ENV.pop(variable, None)
tap = tools_util.Tap()


def example(name):
    return os.path.join(EXAMPLES, name)


def script(name, text):
    path = os.path.join(TOP.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run(policy, machine="h100-pcie-4", tiles=6, **env):
    return tools_util.run(CHOLESKY, "-size", 960 * tiles, "-nblocks", tiles,
                          env=dict(ENV, ORRERY_MACHINE=machine,
                                   STARPU_SCHED=policy, **env))


def trace(policy, machine, tiles, **env):
    path = os.path.join(TOP.name, "trace")
    if os.path.exists(path):
        os.unlink(path)
    done = run(policy, machine, tiles, ORRERY_TRACE=path, **env)
    with open(path, "rb") as file:
        return file.read(), done


# --- what runs ---

for machine, tiles in (("h100-pcie-4", 12), ("a100-pcie-1", 8),
                       ("sirocco-v100", 10), ("epyc-64", 9)):
    ours, done = trace(example("eager.py"), machine, tiles)
    built_in, _ = trace("eager", machine, tiles)
    tap.claim(f"{machine}: eager in Python makes the trace of eager",
              ours == built_in and len(ours) > 5000, done)
short, done = trace(example("eager.py"), "a100-pcie-1", 8,
                    STARPU_LIMIT_CUDA_MEM="40")
built_in, _ = trace("eager", "a100-pcie-1", 8, STARPU_LIMIT_CUDA_MEM="40")
tap.claim("… and when the device is short of memory", short == built_in, done)

DRAWS = """\
import random
class Policy:
    def __init__(self, machine):
        self.machine, self.tasks, self.seen = machine, set(), set()
        self.order = {name: 0 for name in {"potrf", "trsm", "syrk", "gemm"}}
    def push(self, task):
        self.tasks.add(task)
    def pop(self, worker):
        able = [task for task in self.tasks if task.can_run(worker)]
        if not able or random.random() < 0.1 * len(self.seen & {worker}):
            return None if not able else self.take(able[-1])
        self.seen.add(worker)
        return self.take(random.choice(able))
    def take(self, task):
        self.tasks.remove(task)
        return task
"""
draws = script("draws.py", DRAWS)
first, done = trace(draws, "h100-pcie-4", 8, PYTHONHASHSEED="1")
second, _ = trace(draws, "h100-pcie-4", 8, PYTHONHASHSEED="2")
tap.claim("random numbers, sets and dictionaries are those of the last run",
          first == second and len(first) > 5000, done)
other, _ = trace(draws, "h100-pcie-4", 8, STARPU_RAND_SEED="5")
tap.claim("STARPU_RAND_SEED draws others", other != first)

with open(DOCUMENT, encoding="utf-8") as file:
    shown = re.search(r"```python\n(.*?)```", file.read(), re.S)[1]
with open(example("earliest.py"), encoding="utf-8") as file:
    tap.claim("the document shows the example as it is, in 30 lines at most",
              file.read().endswith(shown.split("\n\n\n")[1]) and
              len(shown.splitlines()) <= 30)

# --- the commands ---

done = tools_util.run(ORRERY, "compare", "-m", "h100-pcie-4", "-s",
                      "eager,dmda," + example("earliest.py"), "--json", "--",
                      CHOLESKY, "-size", "9600", "-nblocks", "10", env=ENV)
rows = json.loads(done.out) if done.code == 0 else []
times = [row["makespan_us"] for row in rows]
tap.claim("a policy in Python is a row of orrery compare, without a warning",
          len(times) == 3 and times[2] < times[0] / 2 and
          rows[2]["scheduler"].endswith("earliest.py") and not done.err, done)
for words in (["run"], ["explain"], ["bound"], ["trace", "-o", os.path.join(TOP.name, "t")]):
    done = tools_util.run(ORRERY, *words, "-m", "h100-pcie-4", "-s",
                          example("earliest.py"), "--", CHOLESKY, "-size",
                          "3840", "-nblocks", "4", env=ENV)
    tap.claim(f"orrery {words[0]} takes one", done.code == 0, done)
record = os.path.join(TOP.name, "c.rec")
tools_util.run(ORRERY, "record", "-o", record, "-m", "h100-pcie-4", "--",
               CHOLESKY, "-size", "3840", "-nblocks", "4", env=ENV)
done = tools_util.run(ORRERY, "replay", record, "-m", "h100-pcie-4", "-s",
                      example("earliest.py"), env=ENV)
tap.claim("orrery replay takes one", done.code == 0, done)
done = tools_util.run(ORRERY, "sched", "show", example("eager.py"), "-m",
                      "h100-pcie-4", env=ENV)
tap.claim("orrery sched show names it",
          done.code == 0 and "a policy in Python" in done.out and
          "from 0 to 0" in done.out, done)

# --- what is answered ---

ASKS = """\
class Policy:
    def __init__(self, machine):
        self.machine, self.tasks = machine, []
        cpu = [w for w in machine.workers if w.kind == "CPU"]
        assert [w.id for w in machine.workers] == list(
            range(len(machine.workers)))
        assert cpu and cpu[0].node == 0 and cpu[0].name == "CPU 0"
        self.gpu = machine.workers[-1]
        assert self.gpu.kind == "CUDA" and self.gpu.node == machine.nodes - 1
        assert machine.copy_time(0, 1, 1) == 0
        assert 0 < machine.copy_time(10**6, 0, 1) < machine.copy_time(10**7, 0, 1)
        self.now = self.nstarted = 0
    def push(self, task):
        assert not task.name.endswith("potrf") or task.priority > 0
        assert {d.bytes for d in task.data} == {960 * 960 * 4}
        assert task.data[-1].writes and task.data[-1].reads
        if task.id == 1:
            assert not task.data[0].is_at(self.gpu)
            assert task.missing(self.gpu) == 960 * 960 * 4
            assert task.transfer_time(self.gpu) > 0
            assert task.missing(self.machine.workers[0]) == 0
            assert task.length(self.gpu) > 0
            task.prefetch(self.gpu)
            assert task.data[0].will_be_at(self.gpu)
        self.tasks.append(task)
    def pop(self, worker):
        if worker is self.gpu and self.tasks:
            return self.tasks.pop(0)
    def started(self, task, worker):
        assert worker is self.gpu and not worker.idle
        assert self.machine.now >= self.now and task.missing(worker) == 0
        self.now = self.machine.now
        self.nstarted += 1
    def ended(self, task, worker):
        assert self.machine.now > self.now - 1e-9
        if task.name.endswith("potrf"):
            print("potrf", task.id, self.nstarted)
"""
done = run(script("asks.py", ASKS), tiles=3)
tap.claim("estimates, residency and dates are what they are",
          done.code == 0 and done.out.count("potrf") == 3, done)

# --- what goes wrong ---

HEAD = """\
class Policy:
    def __init__(self, machine):
        self.tasks, self.machine = [], machine
"""
PUSH = "    def push(self, task):\n        self.tasks.append(task)\n"
POP = """\
    def pop(self, worker):
        return self.tasks.pop() if self.tasks else None
"""
for name, text, code, said in (
        ("syntax", "class Policy\n", 1, r"SyntaxError: .*line 1"),
        ("no-class", "x = 1\n", 1, "no class Policy"),
        ("no-pop", HEAD + PUSH, 1, "needs a method pop"),
        ("raises", HEAD + PUSH + POP.replace("self.tasks else", "nothing else"),
         1, r"NameError: .* \(in pop, line 7; the traceback is above\)"),
        ("import", "import nothing_like_it\n", 1, "ModuleNotFoundError"),
        ("exits", HEAD + "    def push(self, task):\n        raise SystemExit(7)\n"
         + POP, 1, "SystemExit: 7"),
        ("push-returns", HEAD + PUSH + "        return 5\n" + POP, 1,
         "push returns the worker that is to be woken"),
        ("pop-returns", HEAD + PUSH + "    def pop(self, worker):\n"
         "        return 5 if self.tasks else None\n", 1,
         "pop returns a task that was pushed"),
        ("twice", HEAD + PUSH + "    def pop(self, worker):\n"
         "        return self.tasks[0] if self.tasks else None\n", 1,
         "a second time"),
        ("wake", HEAD + "    wake = 'some'\n" + PUSH + POP, 1, "Policy.wake"),
        ("priorities", HEAD + "    priorities = (3, 1)\n" + PUSH + POP, 1,
         "Policy.priorities"),
        ("gone", HEAD + PUSH + POP + "    old = []\n"
         "    def pop(self, worker):\n"
         "        for task in self.old: task.length(worker)\n"
         "        if self.tasks:\n"
         "            self.old.append(self.tasks.pop())\n"
         "            return self.old[-1]\n", 1, "was given to a worker"),
        ("keeps", HEAD + PUSH + "    def pop(self, worker):\n"
         "        return None\n", 3, "deadlock")):
    done = run(script(name + ".py", text))
    found = re.search(said, done.err)
    errors = [line for line in done.err.splitlines() if "error: " in line]
    tap.claim(f"{name}: the run ends with words", done.code == code and found
              and (name == "keeps" or len(errors) == 1), done)
unable = script("unable.py", HEAD + PUSH + """\
    def pop(self, worker):
        if self.tasks and worker.kind == "CUDA":
            return self.tasks.pop()
""")
done = tools_util.run(SCALE, env=dict(
    ENV, ORRERY_MACHINE="h100-pcie-4", STARPU_SCHED=unable,
    ORRERY_ASSUME="kernel[*] = 1us"))
tap.claim("a task that its worker cannot run ends the run with words",
          done.code == 1 and re.search(r"pop\(CUDA .* returned task \d+ .*"
                                       "task.can_run", done.err), done)
raised = run(script("deep.py", HEAD + "    def push(self, task):\n"
                    "        self.deep(task)\n    def deep(self, task):\n"
                    "        return self.deep(task)\n" + POP))
tap.claim("a recursion without end is an exception, not a crash",
          raised.code == 1 and "RecursionError" in raised.err, raised)
with subprocess.Popen(
        [CHOLESKY, "-size", "960", "-nblocks", "1"], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env=dict(ENV, ORRERY_MACHINE="h100-pcie-4", STARPU_SCHED=script(
            "turns.py", HEAD + "    def push(self, task):\n"
            "        print('turning', flush=True)\n"
            "        while True:\n            pass\n" + POP))) as turning:
    first = turning.stdout.readline()
    turning.send_signal(signal.SIGINT)
    out, err = turning.communicate()
tap.claim("Ctrl-C ends a loop without end, and says where it was",
          first == "turning\n" and turning.returncode == 1 and
          re.search("KeyboardInterrupt.*in push, line", err) and
          "Traceback" in err, (first, turning.returncode, out, err))
done = run(os.path.join(TOP.name, "nowhere.py"))
tap.claim("a file that is not there is named",
          done.code == 1 and "nowhere.py: No such file" in done.err, done)
done = tools_util.run(CHOLESKY, "-size", "960", "-nblocks", "1", env=dict(
    {key: value for key, value in ENV.items() if key != "ORRERY_MACHINE"},
    STARPU_SCHED=example("eager.py"), STARPU_NCPU="1"))
tap.claim("on the real machine it is refused",
          done.code == 1 and "simulated machines only" in done.err, done)
built = os.environ["ORRERY_MODULE_DIR"]
for name in "liborrery.so.0", "sim.so":
    shutil.copy(os.path.join(built, name), TOP.name)
done = run(example("eager.py"), ORRERY_MODULE_DIR=TOP.name,
           LD_LIBRARY_PATH=TOP.name)
tap.claim("without the module the option to build with is named",
          done.code == 1 and "-Dpython=enabled" in done.err, done)
tap.end()

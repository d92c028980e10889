#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of tools/gdb/orrery.py on a program that is stopped in the middle of
a run, real and simulated, and on a core file of it. Prints TAP.

    test-gdb.py COMMANDS PROGRAM ORRERY STANDING [MACHINE]

COMMANDS is tools/gdb/orrery.py, PROGRAM is made from stopped.c, STANDING from
standing_still.c.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tools_util as util

# A command, and what its output has.
SHOWN = (
    ("orrery-workers", [r"^id +device", r"^0 +cpu 0 .*first #1"]),
    ("orrery-tasks", ["9 tasks submitted, 0 ended", "8 blocked", "1 running",
                      "worker 0 executes first #1"]),
    ("orrery-all-tasks", ["running +first #1", "blocked +step #2",
                          "blocked +many #8", "blocked +lone #9"]),
    ("orrery-print-all-tasks", [r"many #8: blocked", r"buffer 8: R data #"]),
    ("orrery-print-task task", ["first #1: running", "priority 0",
                                r"buffer 0: RW values\(3,4\) #1, granted"]),
    ("orrery-print-job task->starpu_private", ["first #1: running"]),
    ("orrery-print-task-and-successors task", ["first #1: running"]),
    ("orrery-tasks-on-workers", ["worker 0:"]),
    ("orrery-waits", [
        "first #1, running, waits for the kernel on worker 0",
        r"step #2, blocked, waits for values\(3,4\) #1 \(RW\), in use by "
        "first #1",
        "tag 7: waits for 1 of 1 tags, holds step #7 back",
        "many #8, blocked, waits for data #2",
        "first thread is in a call that waits for submitted tasks"]),
    ("orrery-why", [
        "the application waits for submitted tasks",
        r"^task `step' \(number 2\) waits for task `first' \(number 1\): it reads and "
        r"writes data `values\(3,4\)', which that one reads and writes$",
        r"^task `first' \(number 1\) is executed on CPU 0$"]),
    ("orrery-why 9", [r"^task `lone' \(number 9\) waits for task `.*', which was never "
                      "submitted$"]),
    ("orrery-tags", ["tag 7: waits for 1 of 1 tags", "tag 8: waits for 0 of 0 "
                     "tags\n  before tag 7"]),
    ("orrery-print-tag 7", ["holds step #7 back"]),
    ("orrery-print-data handle", [r"values\(3,4\) #1: .* 4000 bytes, home node 0",
                                  "users 6", "valid on 0",
                                  "in use by first #1",
                                  r"awaited by step #6 \(RW\)"]),
    ("orrery-print-datas", [r"values\(3,4\) #1", "data #10"]),
    ("orrery-print-datas-summary", ["10 data, 0 partitioned, 10 in use"]),
    ("orrery-print-requests", []),
    ("orrery-memusage", [r"^node +MiB used"]),
    ("orrery-sched-data 0", ["scheduling context 0: policy lws"]),
    ("orrery-print-replicate &((struct orr_handle *)handle)->replicates[0]",
     [r"values\(3,4\) #1 on node 0: valid, allocated"]),
)
WRONG = (
    ("orrery-print-task", "which task?"),
    ("orrery-print-task 0", "the task is NULL"),
    ("orrery-print-tag 99", "nothing was said about tag 99"),
    ("orrery-why 99", "no task that is not over has the number 99"),
    ("orrery-break fly away", "`away' is too much"),
    ("orrery-break transfer step", "`transfer' is an event of no task"),
    ("orrery-break start data", "`data' what?"),
    ("orrery-break start #x", "a task is # and its number"),
    ("orrery-sched-data 3", "there is no scheduling context 3"),
)


class Debugger:
    def __init__(self, commands, program, env):
        self.commands, self.program, self.env = commands, program, env

    def say(self, words, core=None):
        """What gdb says to these commands, in the kernel or on the core file."""
        begin = [] if core else ["set breakpoint pending on", "break middle",
                                 "run"]
        return self.run(begin + [f"source {self.commands}"] + words, core)

    def run(self, words, core=None):
        """What gdb says to these commands."""
        line = ["gdb", "-nx", "-batch"]
        for word in words:
            line += ["-ex", word]
        done = subprocess.run(line + [self.program] + ([core] if core else []),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self.env,
                              text=True, errors="replace", timeout=300)
        return done.stdout


def after(marker, output):
    """What was said between this marker and the next one."""
    return output.partition(f"<{marker}>\n")[2].partition("\n<")[0] + "\n"


def check_shown(tap, kind, debugger, core=None):
    words = []
    for number, (command, _) in enumerate(SHOWN):
        words += [f"echo \\n<{number}>\\n", command]
    output = debugger.say(words + ["echo \\n<end>\\n"], core)
    for number, (command, expected) in enumerate(SHOWN):
        text = after(number, output)
        missing = [e for e in expected if not re.search(e, text, re.M)]
        tap.claim(f"{kind}: {command}",
                  f"<{number}>" in output and not missing
                  and "Python Exception" not in text and "rror" not in text,
                  f"lacks {missing}", text or output)


def check_names(tap, debugger):
    """StarPU's names show the same, and what is wrong is said."""
    output = debugger.say(["echo \\n<a>\\n", "orrery-waits",
                           "echo \\n<b>\\n", "starpu-waits",
                           "echo \\n<c>\\n", "help starpu",
                           "echo \\n<d>\\n", "kill"])
    tap.claim("starpu-waits is orrery-waits",
              after("a", output) == after("b", output) != "\n", output)
    tap.claim("help starpu lists the commands",
              "orrery-waits -- What every task" in after("c", output), output)
    for command, message in WRONG:
        output = debugger.say([command])
        tap.claim(f"{command}: {message}", message in output
                  and "Traceback" not in output, output)


# What is typed after the program has begun, and what it stops at.
STOPS = (
    (["orrery-break", "orrery-break end first"],
     ["start first #1 on CPU 0", "end first #1 on CPU 0"]),
    (["orrery-break submit many"], ["submit many #8"]),
    (["orrery-break ready #1", "orrery-break take on 0"],
     ["ready first #1", "take first #1 on CPU 0"]),
    (["orrery-break submit step data values(3,4)", "ignore 2 1"],
     ["submit step #2", "submit step #3"]),
    (["orrery-break start nothing", "orrery-break start on 77", "orrery-break end data other"],
     []),
)


def check_stops(tap, kind, debugger):
    """Breakpoints that are set before the run opens, and one in it."""
    for typed, expected in STOPS:
        output = debugger.run(["tbreak main", "run", f"source {debugger.commands}", *typed,
                               *["continue"] * (len(expected) or 1), "kill"])
        found = [line for line in output.splitlines()
                 if re.match(r"(submit|ready|take|start|end) \S+ #", line)]
        tap.claim(f"{kind}: {'; '.join(typed)}", found == expected and
                  "Python Exception" not in output, found, output)
    output = debugger.say(["orrery-break end first", "continue", "kill"])
    tap.claim(f"{kind}: a breakpoint that is set in the run", "end first #1 on CPU 0" in output,
              output)


def check_attach(tap, tool, program, env):
    """`orrery debug --attach` on a program that waits for what it has itself."""
    child = subprocess.Popen([program], stdout=subprocess.PIPE, text=True,
                             env=dict(env, STARPU_NCPU="2", ORRERY_STALL_TIMEOUT="0"))
    child.stdout.readline()
    try:
        done = subprocess.run([tool, "debug", "--attach", str(child.pid)], text=True, timeout=200,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if "does not let gdb look" in done.stderr:
            tap.skip("orrery debug --attach", "ptrace is not permitted here")
            return
        lines = [
            "the application waits for submitted tasks",
            "task `last' (number 3) waits for task `use' (number 2): it reads data `A', which "
            "that one reads and writes",
            "x y.c:2: task `use' (number 2) waits for task `use' (number 1): it reads and writes "
            "data `A', which that one reads and writes",
            "x y.c:1: task `use' (number 1) waits for data `A', which the application has "
            "acquired and not released (starpu_data_release)"]
        tap.claim("--attach says who waits for what", done.stdout.splitlines() == lines,
                  done.stdout, done.stderr)
        done = subprocess.run([tool, "debug", "-p", str(child.pid), "--json"], text=True,
                              timeout=200, stdout=subprocess.PIPE, check=False)
        tap.claim("--attach as JSON", [item["text"] for item in
                                       json.loads(done.stdout)["answer"]] == lines, done.stdout)
        tap.claim("the program goes on", child.poll() is None)
        one = subprocess.run([tool, "debug", "-p", str(child.pid)], text=True, check=False,
                             stderr=subprocess.PIPE, env=dict(env, PATH="/nowhere"))
        tap.claim("--attach without gdb", one.returncode == 1 and
                  "needs gdb, which is not installed" in one.stderr, one.stderr)
    finally:
        child.kill()
        child.wait()
    for pid, code, message in ((str(child.pid), 1, "there is no such process"),
                               ("x", 2, "the number of a process is expected")):
        one = subprocess.run([tool, "debug", "-p", pid], text=True, stderr=subprocess.PIPE,
                             check=False)
        tap.claim(f"--attach: {message}", one.returncode == code and message in one.stderr,
                  one.stderr)
    other = subprocess.Popen(["sleep", "100"])
    one = subprocess.run([tool, "debug", "-p", str(other.pid)], text=True, timeout=200,
                         stderr=subprocess.PIPE, check=False)
    other.kill()
    other.wait()
    tap.claim("--attach to what is no run", one.returncode == 1 and
              "no symbols of liborrery" in one.stderr, one.stderr)


def main():
    commands, program = sys.argv[1:3]
    tap = util.Tap()
    if not shutil.which("gdb"):
        tap.skip("the commands of gdb", "gdb is not installed")
        tap.end()
    env = dict(os.environ, ORRERY_SIM_KERNELS="run", ORRERY_ASSUME="* = 5us")
    env.pop("ORRERY_MACHINE", None)
    real = Debugger(commands, program, env)
    if "Breakpoint 1, middle" not in real.say([]):
        tap.skip("the commands of gdb", "gdb cannot run a program here")
        tap.end()
    check_shown(tap, "real", real)
    check_names(tap, real)
    check_stops(tap, "real", real)
    check_attach(tap, sys.argv[3], sys.argv[4], env)
    with tempfile.TemporaryDirectory() as folder:
        core = os.path.join(folder, "core")
        real.say([f"generate-core-file {core}"])
        tap.claim("a core file was written", os.path.exists(core))
        check_shown(tap, "core", real, core)
    if len(sys.argv) > 5:
        check_shown(tap, "simulated", Debugger(commands, program, dict(
            env, ORRERY_MACHINE=sys.argv[5])))
    output = subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", "break main", "-ex", "run", "-ex",
         f"source {commands}", "-ex", "orrery-waits", program],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env=env, text=True, timeout=300).stdout
    tap.claim("before starpu_init it is said that there is no run",
              "there is no run: starpu_init has not" in output
              and "Traceback" not in output, output)
    tap.end()


if __name__ == "__main__":
    main()

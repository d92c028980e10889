#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of tools/gdb/orrery.py on a program that is stopped in the middle of
a run, real and simulated, and on a core file of it. Prints TAP.

    test-gdb.py COMMANDS PROGRAM [MACHINE]

COMMANDS is tools/gdb/orrery.py, PROGRAM is made from stopped.c.
"""
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
    ("orrery-sched-data 3", "there is no scheduling context 3"),
)


class Debugger:
    def __init__(self, commands, program, env):
        self.commands, self.program, self.env = commands, program, env

    def say(self, words, core=None):
        """What gdb says to these commands, in the kernel or on the core file."""
        begin = [] if core else ["set breakpoint pending on", "break middle",
                                 "run"]
        line = ["gdb", "-nx", "-batch"]
        for word in begin + [f"source {self.commands}"] + words:
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
    with tempfile.TemporaryDirectory() as folder:
        core = os.path.join(folder, "core")
        real.say([f"generate-core-file {core}"])
        tap.claim("a core file was written", os.path.exists(core))
        check_shown(tap, "core", real, core)
    if len(sys.argv) > 3:
        check_shown(tap, "simulated", Debugger(commands, program, dict(
            env, ORRERY_MACHINE=sys.argv[3])))
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

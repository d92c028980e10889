#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands that are asked to end, by SIGINT, SIGTERM or SIGHUP, at random moments: they
leave no temporary files, no half of a file, no process, and end as the signal says. What a
real run has recorded until then is there. A program that the debugger was about to start when
it was ended does not start: LATE delays it. Prints TAP.

usage: test-interrupts.py ORRERY PROGRAM LATE [MOMENTS [SEED [COMMAND...]]]
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from tools_util import Tap

ORRERY, PROGRAM, LATE = map(os.path.abspath, sys.argv[1:4])
MOMENTS = int(sys.argv[4]) if len(sys.argv) > 4 else 1
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(10**6)
ONLY = sys.argv[6:]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ON = ["-m", "h100-pcie-4"]
APPLICATION = ["--", PROGRAM]
RECORD = "kept.rec"
STUDY = f"""programs: [{RECORD}]
machines: [{ON[1]}]
policies: [eager, lws, dmda, prio]
repetitions: 3
"""
# With the files that may be there afterwards: each is whole.
COMMANDS = {
    "run": (["run", *ON, *APPLICATION], ()),
    "run, real": (["run", *APPLICATION], ()),
    "compare": (["compare", *ON, "-s", "all", *APPLICATION], ()),
    "compare, a record": (["compare", *ON, "-s", "all", RECORD], ()),
    "explain": (["explain", *ON, *APPLICATION], ()),
    "report": (["report", *ON, "-o", "page.html", *APPLICATION], ("page.html",)),
    "trace": (["trace", *ON, "-o", "trace.json", *APPLICATION], ("trace.json",)),
    "bound": (["bound", *ON, *APPLICATION], ()),
    "optimise": (["optimise", *ON, *APPLICATION], ("sleeping.schedule",)),
    "record": (["record", *ON, "-o", "run.rec", *APPLICATION], ("run.rec",)),
    "replay": (["replay", *ON, RECORD], ()),
    "validate": (["validate", *APPLICATION], ()),
    "try": (["try", *ON, *APPLICATION], ("sleeping.rec",)),
    "advise": (["advise", *APPLICATION], ()),
    "calibrate runtime": (["calibrate", "runtime"], ()),
    "calibrate bus": (["calibrate", "bus", "--quick", "--spread", "1000000%"], ()),
    "debug": (["debug", *ON, *APPLICATION], ()),
    "watch": (["watch", *ON, "--plain", *APPLICATION], ("report.html",)),
    "study": (["study", "study.yaml"], ("study.results",)),
    "sched show": (["sched", "show", "modular-heft", "--svg", "policy.svg", *ON], ("policy.svg",)),
}


def members_of_session(leader):
    """The command lines of all processes of its session but itself."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/stat", encoding="utf-8") as file:
                fields = file.read().rpartition(")")[2].split()
            if int(fields[3]) == leader and int(number) != leader and fields[0] != "Z":
                with open(f"/proc/{number}/cmdline", encoding="utf-8") as file:
                    found.append(file.read().replace("\0", " "))
        except OSError:
            continue
    return found


def remaining(leader):
    """Those that do not end: the kernel ends others as their parent ends, which takes some
    time."""
    found = members_of_session(leader)
    for _ in range(200):
        if not found:
            break
        time.sleep(0.05)
        found = members_of_session(leader)
    return found


def environment(top):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith("STARPU_")}
    env.update(STARPU_HOME=os.path.join(top, "home"), ORRERY_ASSUME="* = 1.5ms",
               TMPDIR=os.path.join(top, "temporary"))
    return env


def start(words, top, **settings):
    return subprocess.Popen([ORRERY, *words], cwd=os.path.join(top, "work"),
                            env=dict(environment(top), **settings), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            encoding="utf-8", start_new_session=True)


def new_folders(top, record):
    for name in ("work", "temporary"):
        shutil.rmtree(os.path.join(top, name), ignore_errors=True)
        os.makedirs(os.path.join(top, name))
    if record:
        shutil.copy(record, os.path.join(top, "work"))
    with open(os.path.join(top, "work", "study.yaml"), "w", encoding="utf-8") as file:
        file.write(STUDY)


def faults(top, process, number, files):
    """What is left of the command, and whether it ended as it should."""
    try:
        _, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return ["it does not end"]
    left = [f"runs: {line}" for line in remaining(process.pid)]
    left += [f"temporary: {name}" for name in os.listdir(os.path.join(top, "temporary"))]
    left += [f"file: {name}" for name in os.listdir(os.path.join(top, "work"))
             if name not in (*files, RECORD, "study.yaml")]
    if process.returncode not in (0, 128 + number, -number):
        left.append(f"status {process.returncode}: {said[-300:]}")
    return left


def check_command(tap, top, record, name):
    words, files = COMMANDS[name]
    for number in SIGNALS:
        found = []
        for _ in range(MOMENTS):
            new_folders(top, record)
            process = start(words, top)
            time.sleep(random.choice((0.01, 0.05, 0.2, 0.6)) * random.random() * 2)
            if process.poll() is None:
                process.send_signal(number)
            found += faults(top, process, number, files)
        tap.claim(f"{name}: {signal.Signals(number).name} leaves nothing", not found,
                  f"seed {SEED}", *found)


def check_recorded(tap, top):
    """The program says that it is under way; it would go on for seconds."""
    for number in SIGNALS:
        new_folders(top, None)
        process = start(["record", "-o", "run.rec", *APPLICATION], top)
        while "under way" not in (process.stdout.readline() or "under way"):
            pass
        process.send_signal(number)
        found = faults(top, process, number, ("run.rec",))
        path = os.path.join(top, "work", "run.rec")
        text = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
        tap.claim(f"record, real: {signal.Signals(number).name} leaves the calls until then",
                  not found and "text=\"signal\"" in text
                  and process.returncode == 128 + number,
                  *found, process.returncode, text[-300:])


def check_late(tap, top):
    """The debugger is ended between the fork and the start of the program."""
    new_folders(top, None)
    begun, ran = (os.path.join(top, "work", name) for name in ("begun", "ran"))
    process = start(["debug", *ON, "--", "touch", ran], top, LD_PRELOAD=LATE, LATE_FILE=begun)
    while not os.path.exists(begun) and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    left = remaining(process.pid)
    tap.claim("debug: a program that was about to start ends with it",
              not left and os.path.exists(begun) and not os.path.exists(ran), *left)


def main():
    tap = Tap()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where nohup runs this
    random.seed(SEED)
    print(f"# seed {SEED}")
    with tempfile.TemporaryDirectory() as top:
        new_folders(top, None)
        done = start(["record", *ON, "-o", RECORD, *APPLICATION], top)
        done.communicate()
        record = shutil.copy(os.path.join(top, "work", RECORD), top)
        for name in ONLY or COMMANDS:
            check_command(tap, top, record, name)
        check_recorded(tap, top)
        check_late(tap, top)
    tap.end()


main()

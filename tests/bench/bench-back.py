#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long `orrery debug` takes for each step back from the end of a long simulated run.

usage: bench-back.py ORRERY WATCH_TASKS [TASKS [STEPS]]

Seconds of real time until the answer is there; the first step comes from the end of the run.
"""
import json
import os
import statistics
import subprocess
import sys
import time

MACHINE = "gtx1650-4gb"


class Debugged:
    def __init__(self, orrery, words):
        self.process = subprocess.Popen(
            [orrery, "debug", "--json", "-m", MACHINE, "-s", "dmda", "--assume",
             "kernel[*] = 1ms", "--", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            encoding="utf-8")
        self.answer()

    def answer(self):
        while True:
            said = json.loads(self.process.stdout.readline())
            if "output" not in said:
                return said

    def do(self, command):
        """The answer, and how long it took."""
        begin = time.monotonic()
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer(), time.monotonic() - begin

    def end(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    orrery, program = map(os.path.abspath, sys.argv[1:3])
    tasks = sys.argv[3] if len(sys.argv) > 3 else "100000"
    steps = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    run = Debugged(orrery, [program, tasks, "1"])
    last, forward = run.do("continue")
    took = []
    for _ in range(steps):
        said, seconds = run.do("reverse-step")
        took.append(seconds)
    if said["event"] != last["event"] - steps:
        sys.exit("%d steps back from event %d came to %s" % (steps, last["event"], said))
    run.end()
    print("bench back: %d steps back from event %d of %s tasks: %.3f s each (median, %.3f at "
          "most; %.1f s forward)" % (steps, last["event"], tasks, statistics.median(took),
                                      max(took), forward))


main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs under `orrery debug`, for the tests of this folder."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit"))

TIMES = "kernel[*] = 1ms; kernel[slow] = 10ms"
CPUS, GPU = "laptop-8", "a100-pcie-1"
# One device with memory for one datum.
SMALL = {"STARPU_NCPU": "0", "STARPU_LIMIT_CUDA_MEM": "1"}


def environment(**more):
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith("STARPU_") or key == "STARPU_HOME"}
    kept.pop("ORRERY_MACHINE", None)
    kept.pop("OPENBLAS_NUM_THREADS", None)
    kept.update(more)
    return kept


def words(tool, program, machine, policy, *options):
    return [tool, "debug", "-m", machine, "-s", policy, "--assume", TIMES, *options, "--",
            *program]


def typed(tool, program, commands, machine=CPUS, policy="lws", options=(), **more):
    """What the commands show, and the exit code."""
    done = subprocess.run(words(tool, program, machine, policy, *options),
                          input="\n".join(commands) + "\n", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=environment(**more), encoding="utf-8",
                          timeout=100, check=False)
    return done.stdout, done.returncode


class Session:
    """A session by lines of JSON."""

    def __init__(self, tool, program, machine=CPUS, policy="lws", **more):
        self.process = subprocess.Popen(
            words(tool, program, machine, policy, "--json"), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(**more),
            encoding="utf-8")
        self.output = ""
        self.first = self.read()

    def read(self):
        while True:
            line = json.loads(self.process.stdout.readline())
            if "output" not in line:
                return line
            self.output += line["output"]

    def do(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.read()

    def end(self):
        self.process.stdin.write("quit\n")
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait(), rest

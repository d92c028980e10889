#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs in Java for real and simulated: they check their own results and print the same
wherever kernels run; the JVM finds no fault with how it is called (-Xcheck:jni). TAP.

usage: test-java.py JAVA ORRERY_JAR EXAMPLES_JAR TESTS_JAR KERNELS GPUS_XML STANDIN PART
PART: programs, runs, collectors (of garbage), traces, many (tasks)
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

JAVA, ORRERY, EXAMPLES, TESTS, KERNELS, GPUS, STANDIN, PART = sys.argv[1:]
README = os.path.join(HERE, "README.md")
TAP = Tap()
VIRTUAL = {"ORRERY_MACHINE": GPUS, "ORRERY_ASSUME": "* = 5us"}
REAL = {"STARPU_NCPU": "2"}
RUN = dict(VIRTUAL, ORRERY_SIM_KERNELS="run")
PLACES = {
    "real": REAL,
    "real, one worker, lws": {"STARPU_NCPU": "1", "STARPU_SCHED": "lws"},
    "simulated, its kernels run": RUN,
    "simulated, its kernels run, dmdas": dict(RUN, STARPU_SCHED="dmdas"),
    "simulated": dict(VIRTUAL, STARPU_SCHED="dmda"),
}


def run(words, options=("-Xcheck:jni",), **settings):
    path = ":".join((ORRERY, EXAMPLES, TESTS))
    env = dict(os.environ, STARPU_SILENT="1", **settings)
    try:
        return subprocess.run([JAVA, *options, "-cp", path, *words], env=env, timeout=600,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(words, "does not end", str(late.stdout),
                                           str(late.stderr))


def ran(name, done):
    TAP.claim(name, done.returncode == 0, f"status {done.returncode}", done.stdout,
              done.stderr)
    return done.stdout


def is_silent(done):
    """Whether -Xcheck:jni has found nothing."""
    return not re.search(r"WARNING in native|FATAL ERROR in native|Warning: SIG", done.stdout +
                         done.stderr)


def everywhere(words, expected=None, skipped=True):
    """In each place; that of skipped kernels leaves values out."""
    for place, settings in PLACES.items():
        if place == "simulated" and not skipped:
            continue
        done = run(words, **settings)
        name = f"{words[0]} {place}"
        said = [line for line in ran(name, done).splitlines() if not line.endswith(" ms")]
        TAP.claim(name + ": no fault of JNI", is_silent(done), done.stdout, done.stderr)
        if place == "simulated":
            continue
        expected = said if expected is None else expected
        TAP.claim(name + ": the same result", said == expected, *said, "---", *expected)


def java_random(seed):
    """java.util.Random's nextInt(bound), as its documentation has it."""
    state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def bits():
        nonlocal state
        state = (state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        return state >> 17

    def below(bound):
        if bound & (bound - 1) == 0:
            return bound * bits() >> 31
        while True:
            value = bits()
            if value - value % bound + bound - 1 < 1 << 31:
                return value % bound
    return below


def closure(edges, vertices):
    """How many pairs TransitiveClosure finds."""
    below, graph = java_random(42), set()
    while len(graph) < edges:
        one, other = below(vertices), below(vertices)
        if one != other:
            graph.add((one, other))
    behind = collections.defaultdict(set)
    for one, other in graph:
        behind[one].add(other)
    total = 0
    for first in range(vertices):
        seen, front = set(), list(behind[first])
        while front:
            vertex = front.pop()
            if vertex not in seen:
                seen.add(vertex)
                front += behind[vertex]
        total += len(seen)
    return total


def primes(n):
    """How many of RndNumbers' numbers are primes."""
    below = java_random(7)
    sieve = bytearray([0, 0]) + bytearray([1]) * 999_998
    for i in range(2, 1000):
        if sieve[i]:
            sieve[i * i::i] = bytes(len(sieve[i * i::i]))
    return sum(sieve[below(1_000_000)] for _ in range(n))


def most_frequent(path, most):
    with open(path, encoding="utf-8") as file:
        words = re.findall("[a-z]+", file.read().lower())
    pairs = sorted(collections.Counter(words).items(), key=lambda pair: (-pair[1], pair[0]))
    return [f"{count} {word}" for word, count in pairs[:most]]


def programs():
    everywhere(["VectorScal", "100000", "7"], ["all elements are right"])
    everywhere(["Pi1", "40", "1000"])
    everywhere(["Pi2", "40", "1000"])
    everywhere(["Pi3", "40", "1000"])
    everywhere(["RndNumbers", "20000", "3000"],
               [f"{primes(20000)} of 20000 numbers are primes"])
    everywhere(["WordCount", README, "6"], most_frequent(README, 6))
    done = run(["TransitiveClosure", "1000", "500"], **RUN)
    said = ran("TransitiveClosure, 1000 edges of 500 vertices", done)
    TAP.claim("it finds the pairs there are",
              said.startswith(f"{closure(1000, 500)} pairs in "), said, closure(1000, 500))
    everywhere(["TransitiveClosure", "60", "50", "3"])


def models():
    """A run measures what a policy that predicts, and a simulation, then know."""
    with tempfile.TemporaryDirectory() as home:
        settings = {"STARPU_HOME": home, "STARPU_HOSTNAME": "gpus", "STARPU_NCPU": "1",
                    "STARPU_SCHED": "dmda", "STARPU_CALIBRATE": "1"}
        for _ in range(2):
            ran("a run that calibrates", run(["VectorScal", "100000", "20"], (), **settings))
        files = [os.path.join(folder, name) for folder, _, names in os.walk(home)
                 for name in names if name.startswith("scale.")]
        TAP.claim("there is a model of the codelet's name", len(files) >= 1, *files)
        virtual = {"STARPU_SCHED": "dmda", "ORRERY_MACHINE": GPUS, "STARPU_NCUDA": "0"}
        ran("a simulation knows what was measured",
            run(["VectorScal", "100000", "20"], (), STARPU_HOME=home, **virtual))
        done = run(["VectorScal", "100000", "10"], (), STARPU_HOME=home, **virtual)
        TAP.claim("and not what was not", done.returncode != 0 and "scale" in done.stderr,
                  done.returncode, done.stderr)


def runs():
    everywhere(["Handles"], skipped=False)
    everywhere(["Sets", "1", "60"], skipped=False)
    everywhere(["Runs", KERNELS])
    swap("300", "3")
    models()
    for ncpu in "0", "2":
        ran(f"a function of C for devices, {ncpu} processors beside",
            run(["Device", KERNELS], ORRERY_CUDA_LIBRARY=STANDIN, GPU_STANDIN="devices=2 seed=3",
                STARPU_NCPU=ncpu))
    done = run(["TransitiveClosure", "30", "20"], ORRERY_SIM_CONTEXTS="actors", **RUN)
    if "simgrid.so" in done.stderr:
        TAP.skip("contexts that are actors", "SimGrid is not built")
    else:
        ran("contexts that are actors", done)


def collectors():
    for collector in ("Serial", "G1", "Z"):
        for place in ("real", "simulated, its kernels run"):
            options = ["-Xmx64m", "-Xcheck:jni", f"-XX:+Use{collector}GC"]
            for words in (["Runs", KERNELS], ["Sets", "2", "20"], ["Handles"]):
                done = run(words, options, **PLACES[place])
                ran(f"{words[0]} with {collector}GC and 64 MiB, {place}", done)
                TAP.claim("… no fault of JNI", is_silent(done), done.stdout, done.stderr)
    done = run(["Runs", KERNELS], ["-Xcomp", "-XX:TieredStopAtLevel=1"], **RUN)
    ran("Runs, all of it compiled, simulated", done)


def traces():
    for place in ("simulated", "simulated, its kernels run"):
        found = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "trace.csv")
                ran(f"TransitiveClosure, traced, {place}",
                    run(["TransitiveClosure", "100", "60"], (), ORRERY_TRACE=path,
                        **PLACES[place]))
                with open(path, "rb") as file:
                    found.append(file.read())
        TAP.claim(f"the trace is the same to the last byte, {place}",
                  found[0] == found[1] and len(found[0]) > 10_000, len(found[0]),
                  len(found[1]))


    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.csv")
        ran("WordCount, traced", run(["WordCount", README, "3"], (), ORRERY_TRACE=path, **RUN))
        with open(path, encoding="utf-8") as file:
            names = collections.Counter(re.findall(r'^task,.*?"([^"]*)"', file.read(), re.M))
        TAP.claim("steps that need no other part are one task",
                  names["flatMap+filter+mapToPair+reduceByKey"] > 0 and
                  not {"flatMap", "filter", "mapToPair"} & set(names), *names.items())


def swap(vectors, rounds):
    with tempfile.TemporaryDirectory() as folder:
        done = run(["Swap", vectors, "1000", rounds], STARPU_NCPU="2", STARPU_LIMIT_CPU_MEM="1",
                   STARPU_DISK_SWAP=folder, STARPU_DISK_SWAP_SIZE="200", STARPUJNI_TRACE="1")
        ran(f"{vectors} vectors of objects that memory has no room for", done)
        TAP.claim("they go to a disk", "orrery: pack 1000 objects: " in done.stderr,
                  done.stderr[:500])
        TAP.claim("they come back", "orrery: unpack 1000 objects: " in done.stderr)
        TAP.claim("no fault of JNI on the way", is_silent(done))


def many():
    swap("1000", "10")
    for place in ("real", "simulated, its kernels run"):
        ran(f"a million tasks, {place}", run(["Runs", KERNELS, "1000000"], (), **PLACES[place]))
        ran(f"sets by chance, {place}", run(["Sets", "3", "1000"], ("-Xmx512m",),
                                            **PLACES[place]))


{"programs": programs, "runs": runs, "collectors": collectors, "traces": traces,
 "many": many}[PART]()
TAP.end()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Workflows on hosts that share a file system: cores and memory that tasks take, files
through the file system, each against a time that can be told without simulating. Prints
TAP.

usage: test-workflow-hosts.py ORRERY
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

tap = Tap()
ORRERY = sys.argv[1]
GB = 1e9


def environment():
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_"))}
    return dict(env, STARPU_SILENT="1", STARPU_PERF_MODEL_DIR="/nonexistent",
                ORRERY_CHECK_BOUNDS="1")


class Ran:
    def __init__(self, *words):
        done = subprocess.run([ORRERY, *words], env=environment(), text=True,
                              capture_output=True, timeout=100, check=False)
        self.code, self.out, self.err, self.words = (
            done.returncode, done.stdout, done.stderr, words)

    def __str__(self):
        return "%s ended with %d\n%s%s" % (" ".join(self.words), self.code, self.out, self.err)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def task(name, seconds, reads=(), writes=(), **fields):
    return ({"name": name, "id": name, "inputFiles": list(reads), "outputFiles": list(writes)},
            {"id": name, "runtimeInSeconds": seconds, **fields})


def flow(folder, tasks, files=(), **execution):
    """An instance in WfCommons' format 1.5; files: (name, bytes)."""
    return write(os.path.join(folder, "flow.json"), json.dumps({
        "name": "x", "schemaVersion": "1.5", "workflow": {
            "specification": {
                "tasks": [one for one, _ in tasks],
                "files": [{"id": name, "sizeInBytes": int(size)} for name, size in files]},
            "execution": {"tasks": [one for _, one in tasks], **execution}}}))


def hosts(folder, *options):
    path = os.path.join(folder, "hosts.xml")
    ran = Ran("machine", "new", "hosts", "hosts", "-o", path, "--force", *options)
    tap.claim("machine new hosts %s" % " ".join(options), ran.code == 0, ran)
    return path


def seconds(machine, path, policy="lws"):
    ran = Ran("run", "-m", machine, "-s", policy, "--json", "--", path)
    return json.loads(ran.out)["makespan_us"] / 1e6 if ran.code == 0 else str(ran)


def takes(text, machine, path, expected, policy="lws"):
    found = seconds(machine, path, policy)
    tap.claim("%s: %g s under %s" % (text, expected, policy),
              isinstance(found, float) and expected <= found < expected * 1.001 + 0.004,
              found)


def same(n, **fields):
    return [task("work_%d" % i, 10, **fields) for i in range(n)]


def test_cores(folder):
    one, two = hosts(folder, "--cores", "4", "--storage", "1GB/s"), None
    for policy in ("lws", "eager", "prio", "dmda", "modular-eager", "heteroprio"):
        takes("8 tasks of one core on 4 cores", one, flow(folder, same(8)), 20, policy)
        takes("8 tasks of 4 cores on 4 cores", one, flow(folder, same(8, coreCount=4)), 80,
              policy)
        takes("a task of 4 cores and 4 of one", one,
              flow(folder, [task("big", 10, coreCount=4)] + same(4)), 20, policy)
    for policy in ("lws", "eager", "heteroprio"):
        takes("8 tasks of 2 cores on 4 cores", one, flow(folder, same(8, coreCount=2)), 40,
              policy)
        takes("8 tasks of 3 cores on 4 cores", one, flow(folder, same(8, coreCount=3)), 80,
              policy)
    takes("1.5 cores are 2", one, flow(folder, same(4, coreCount=1.5)), 20)
    two = hosts(folder, "--cores", "4", "--hosts", "2", "--storage", "1GB/s")
    takes("8 tasks of 4 cores on two hosts", two, flow(folder, same(8, coreCount=4)), 40)
    takes("8 tasks of 3 cores on two hosts of 4", two, flow(folder, same(8, coreCount=3)), 40)
    path = flow(folder, [*same(2), task("wide", 10, coreCount=8)])
    ran = Ran("run", "-m", two, "-s", "lws", "--", path)
    tap.claim("8 cores are not those of two hosts", ran.code == 1 and
              "task `wide' takes 8 cores of one memory node, and this machine has at most 4"
              in ran.err, ran)


def test_cores_record(folder):
    path = flow(folder, same(2, coreCount=3, memoryInBytes=5e9, priority=7))
    record = os.path.join(folder, "a.rec")
    for again in ("a", "b"):
        ran = Ran("record", "import", "-o", record, path)
        with open(record, encoding="utf-8") as file:
            lines = file.read().splitlines()
        tap.claim("cores, memory and priority are in the record (%s)" % again, any(
            "priority=7" in line and "cores=3" in line and "memory=5000000000" in line
            for line in lines), ran, *lines)
    tap.claim("they are said", "2 tasks take several cores of a host, up to 3" in ran.err and
              "what memory they need, up to 5 GB" in ran.err, ran)
    machine = hosts(folder, "--cores", "4", "--storage", "1GB/s")
    copy = os.path.join(folder, "copy.rec")
    env = dict(environment(), ORRERY_RECORD=copy)
    subprocess.run([ORRERY, "run", "-m", machine, "--", record], env=env, check=False,
                   capture_output=True)
    with open(copy, encoding="utf-8") as file:
        lines = file.read().splitlines()
    tap.claim("a run of a record records them again",
              sum("cores=3" in line for line in lines) == 2, *lines)


def test_memory(folder):
    machine = hosts(folder, "--cores", "4", "--memory", "10GB", "--storage", "1GB/s")
    for policy in ("lws", "dmda", "eager"):
        takes("4 tasks of 4 GB in 10 GB: two at once", machine,
              flow(folder, same(4, memoryInBytes=4 * GB)), 20, policy)
    takes("4 tasks of 2 GB in 10 GB: all at once", machine,
          flow(folder, same(4, memoryInBytes=2 * GB)), 10)
    takes("small tasks go past those that wait for memory", machine,
          flow(folder, same(2, memoryInBytes=9 * GB) +
               [task("small_%d" % i, 10, memoryInBytes=GB / 4) for i in range(4)]), 20)
    two = hosts(folder, "--cores", "4", "--hosts", "2", "--memory", "10GB", "--storage", "1GB/s")
    takes("4 tasks of 9 GB on two hosts", two,
          flow(folder, same(4, memoryInBytes=9 * GB)), 20)
    ran = Ran("run", "-m", machine, "--", flow(folder, same(1, memoryInBytes=11 * GB)))
    tap.claim("a task of more memory than the host has is refused",
              ran.code == 1 and "takes 1 cores and 11 GB of one memory node" in ran.err and
              "the most are 4 cores, 10 GB" in ran.err, ran)
    free = hosts(folder, "--cores", "4", "--storage", "1GB/s")
    takes("without --memory it never limits", free,
          flow(folder, same(4, memoryInBytes=400 * GB)), 10)


def test_files(folder):
    machine = hosts(folder, "--cores", "4", "--storage", "1GB/s")
    reads = [task("read_%d" % i, 10, reads=["in%d" % i]) for i in range(2)]
    takes("two files of 1 GB share 1 GB/s", machine,
          flow(folder, reads, [("in0", GB), ("in1", GB)]), 12)
    machine = hosts(folder, "--cores", "4", "--storage", "4GB/s", "--network", "8Gb/s")
    takes("a host's network is narrower", machine,
          flow(folder, reads, [("in0", GB), ("in1", GB)]), 12)
    machine = hosts(folder, "--cores", "4", "--storage", "4GB/s", "--disk", "500MB/s")
    takes("a host's disk is narrower still", machine,
          flow(folder, reads, [("in0", GB), ("in1", GB)]), 14)
    machine = hosts(folder, "--cores", "4", "--storage", "1GB/s", "--latency", "2s")
    takes("and it takes its time to open", machine, flow(folder, reads[:1], [("in0", GB)]), 13)
    # 4 of the readers are where the writer was.
    machine = hosts(folder, "--cores", "4", "--hosts", "2", "--storage", "1GB/s")
    chain = [task("write", 10, writes=["x"])] + [
        task("read_%d" % i, 10, reads=["x"]) for i in range(8)]
    found = seconds(machine, flow(folder, chain, [("x", GB)]))
    tap.claim("another host reads when the file is written: one second each",
              isinstance(found, float) and 21.0 <= found <= 22.1, found)


def test_wrong(folder):
    for options, said in (
            (["--cores", "4"], "--cores and --storage"),
            (["--storage", "1GB/s"], "--cores and --storage"),
            (["--cores", "0", "--storage", "1GB/s"], "--cores 0: a whole number from 1 to 256"),
            (["--cores", "200", "--hosts", "2", "--storage", "1GB/s"], "from 1 to 128"),
            (["--cores", "1", "--hosts", "16", "--storage", "1GB/s"], "--hosts 16: a whole"),
            (["--cores", "1", "--storage", "fast"], "--storage fast: a value such as 2GB/s"),
            (["--cores", "1", "--storage", "1GB/s", "--memory", "-1"], "--memory -1: a value"),
            (["--cores", "1", "--storage", "1GB/s", "-o", "x"], "ends with .xml")):
        ran = Ran("machine", "new", "hosts", "wrong", *(
            options if "-o" in options else
            [*options, "-o", os.path.join(folder, "wrong.xml")]))
        tap.claim("machine new hosts %s: %s" % (" ".join(options), said),
                  ran.code in (1, 2) and said in ran.err, ran)
    for fields, said in (({"coreCount": 0}, "execution.tasks[0]: 0 cores of a task"),
                         ({"coreCount": -2}, "-2 cores of a task"),
                         ({"memoryInBytes": -5}, "-5 bytes of memory"),
                         ({"priority": 1e300}, "priority 1e+300"),
                         ({"memoryInBytes": "4"}, "memoryInBytes is text, not a number")):
        ran = Ran("record", "import", "-o", os.path.join(folder, "no.rec"),
                  flow(folder, [task("a", 1, **fields)]))
        tap.claim("%s: %s" % (fields, said), ran.code == 1 and said in ran.err, ran)


def test_said(folder):
    machines = [{"nodeName": "a", "cpu": {"speedInMHz": 2400}},
                {"nodeName": "b", "cpu": {"speedInMHz": 3600}}]
    ran = Ran("record", "import", "-o", os.path.join(folder, "s.rec"),
              flow(folder, [task("a", 1, memory=5)], machines=machines))
    tap.claim("hosts of different speeds are said", "hosts of 2400 to 3600 MHz" in ran.err, ran)
    tap.claim("memory without unit is said", '"memory" of tasks has no unit' in ran.err, ran)


def test_price(folder):
    machine = hosts(folder, "--cores", "4", "--storage", "1GB/s")
    costs = write(os.path.join(folder, "costs"), "machine hosts price=3.6USD/h\n")
    path = flow(folder, [task("work_%d" % i, 3600) for i in range(8)])
    ran = Ran("compare", "-m", machine, "-s", "lws,eager", "--costs", costs, path)
    tap.claim("compare: minutes of walltime, and what a run costs", ran.code == 0 and
              "predicted min" in ran.out and "USD a run" in ran.out and "7.2" in ran.out, ran)
    ran = Ran("compare", "-m", machine, "-s", "lws", "--costs", costs, "--json", path)
    rows = json.loads(ran.out) if ran.code == 0 else [{}]
    tap.claim("… in JSON", abs((rows[0].get("run_price") or 0) - 7.2) < 1e-3, ran)
    ran = Ran("run", "-m", machine, "--", path)
    tap.claim("run: a walltime in minutes", "makespan    120.000 min" in ran.out, ran)


def test_picture(folder):
    machine = hosts(folder, "--cores", "4", "--hosts", "2", "--storage", "1GB/s")
    ran = Ran("machine", "show", machine, "--svg", "-")
    tap.claim("the picture has hosts, and what they share", all(
        text in ran.out for text in (">file system<", ">host 1<", ">host 2<")) and
        "NUMA" not in ran.out, ran)
    ran = Ran("machine", "show", machine)
    tap.claim("and so does the text", "on a file system that the hosts share" in ran.out and
              "host 2      4 CPUs" in ran.out, ran)


DAX = """<?xml version="1.0"?>
<adag name="x"><job id="ID1" name="a" runtime="10">
<profile namespace="pegasus" key="cores">%s</profile>
<profile namespace="condor" key="request_memory">%s</profile></job>
<job id="ID2" name="a" runtime="10"/></adag>
"""


def test_dax(folder):
    machine = hosts(folder, "--cores", "4", "--memory", "4GiB", "--storage", "1GB/s")
    path = write(os.path.join(folder, "a.dax"), DAX % (4, 1024))
    takes("a DAX's cores", machine, path, 20)
    path = write(path, DAX % (1, 8192))
    ran = Ran("run", "-m", machine, "--", path)
    tap.claim("a DAX's megabytes", ran.code == 1 and "takes 1 cores and 8.59 GB" in ran.err, ran)
    for cores, memory, said in (("two", 1, '"two" is no number of cores'),
                                (1, "much", '"much" is no number of megabytes'),
                                (0, 1, "0 cores of a task")):
        write(path, DAX % (cores, memory))
        ran = Ran("record", "import", "-o", os.path.join(folder, "no.rec"), path)
        tap.claim("a DAX: %s" % said, ran.code == 1 and said in ran.err, ran)


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_cores(folder)
        test_cores_record(folder)
        test_memory(folder)
        test_files(folder)
        test_wrong(folder)
        test_said(folder)
        test_price(folder)
        test_picture(folder)
        test_dax(folder)
    tap.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small applications on small machines whose makespan can be said exactly: each case
is a machine, a record (docs/RECORD.md) and a formula. Prints TAP.

usage: test-analytic.py PLAYER [WORD]    only cases with that word, with their figures

Times are µs, sizes bytes, bandwidths MB/s, which are bytes per µs. What the runtime
itself costs is 0 unless a case says otherwise.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

COSTS = ("submit", "submit-per-buffer", "push", "fetch", "device-alloc",
         "device-free", "pinned-alloc-per-mib", "first-use-per-mib",
         "device-first-use-per-mib", "kernel-queue", "kernel-latency", "copy-queue",
         "progress")
MB = 1000000
# Dates of transfers lie on a grid of 2^-20 µs, and reports have three digits.
EXACT = 100 * 2.0 ** -20 + 0.0005


# --- machines ---

STREAMS = '<prop id="orrery-memory-bandwidth" value="%dMBps"/>'


class Link:
    def __init__(self, name, bandwidth, latency=0, sharing="SHARED"):
        self.name, self.bandwidth = name, bandwidth
        self.latency, self.sharing = latency, sharing

    def __str__(self):
        return ('<link id="%s" bandwidth="%gMBps" latency="%gus" '
                'sharing_policy="%s"/>' % (self.name, self.bandwidth,
                                           self.latency, self.sharing))


def machine(cpus=1, gpus=0, memory=1 << 30, peer=False, links=(), routes=(),
            ram=("RAM",), numa=(), processors=0, streams=None, **costs):
    """`cpus` that compute, besides those that drive GPUs; routes are (from, to,
    names of links), in one direction. streams: bandwidths of a core and of each main
    memory."""
    lines = ["<?xml version='1.0'?>",
             '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
             '<platform version="4.1"><zone id="AS0" routing="Full">',
             '<host id="MAIN" speed="1f">']
    lines += ['<prop id="orrery-cost-%s" value="%g"/>' %
              (cost, costs.get(cost.replace("-", "_"), 0)) for cost in COSTS]
    if processors:
        lines.append('<prop id="processors" value="%d"/>' % processors)
    if streams:
        lines.append(STREAMS % streams[0])
    lines += ["</host>"]
    for i in range(cpus + gpus):
        where = '<prop id="numa" value="%d"/>' % numa[i] if numa else ""
        lines.append('<host id="CPU%d" speed="1Gf">%s</host>' % (i, where))
    lines += ['<host id="CUDA%d" speed="1Gf"><prop id="model" value="Toy"/>'
              '<prop id="memsize" value="%d"/><prop id="memcpy_peer" '
              'value="%d"/></host>' % (i, memory, peer) for i in range(gpus)]
    lines += ['<host id="%s" speed="1f">%s</host>' % (
        name, STREAMS % streams[1] if streams else "") for name in ram]
    lines += [str(link) for link in links] or [
        str(Link("none", 1))]
    lines += ['<route src="%s" dst="%s" symmetrical="NO">%s</route>' %
              (src, dst, "".join('<link_ctn id="%s"/>' % name
                                 for name in names.split()))
              for src, dst, names in routes]
    return "\n".join(lines + ["</zone></platform>", ""])


def own_links(gpus, bandwidth=1000, latency=0, host=None, sharing="SHARED",
              **more):
    """Each GPU has a link per direction; all of them share `host`, if there is
    one."""
    links, routes = [], []
    if host:
        links.append(Link("Host", host, 0, sharing))
    for i in range(gpus):
        speed = bandwidth[i] if isinstance(bandwidth, tuple) else bandwidth
        for src, dst in (("RAM", "CUDA%d" % i), ("CUDA%d" % i, "RAM")):
            name = "%s-%s" % (src, dst)
            links.append(Link(name, speed, latency))
            routes.append((src, dst, name + (" Host" if host else "")))
    return machine(gpus=gpus, links=links + more.pop("links", []),
                   routes=routes + more.pop("routes", []), **more)


# --- records ---

CPU, CUDA = 0, 1


class Record:
    """Calls of an application. Tasks are numbered from 1, and data."""

    def __init__(self):
        self.calls, self.ntasks, self.ndata = ["run"], 0, 0
        self.calls += ['model 1 kind="per-arch" flags=4']
        self.codelet(1)

    def codelet(self, number, synchronous=False):
        self.calls.append('codelet %d name="k%d" cpu=1 cuda=1 %sbuffers=-1 '
                          'model=1' % (number, number, "" if synchronous
                                       else "asynchronous=10 "))
        return self

    def data(self, size, home=0):
        self.ndata += 1
        self.calls.append('data %d kind="variable" shape=%d home=%d' %
                          (self.ndata, size, home))
        return self

    def call(self, text):
        self.calls.append(text)
        return self

    def task(self, us, uses="", more="", codelet=1):
        times = us if isinstance(us, tuple) else (us, us)
        self.ntasks += 1
        self.calls.append("submit %d codelet=%d times=%s%s%s" % (
            self.ntasks, codelet, ",".join("%r" % float(t) for t in times),
            " data=" + uses if uses else "", " " + more if more else ""))
        return self

    def tasks(self, n, us, *arguments):
        for _ in range(n):
            self.task(us, *arguments)
        return self

    def home(self, node):
        """All data so far are there, -1: nowhere until they are written."""
        self.calls = [call.replace("home=0", "home=%d" % node)
                      for call in self.calls]
        return self

    def text(self):
        calls = self.calls + ["wait-all"] + [
            "unregister %d" % d for d in range(1, self.ndata + 1)]
        return "\n".join(["orrery-record 1"] + calls +
                         ["end value=%d" % len(calls), ""])


def on(worker):
    return "worker=%d" % worker


def many(n, us, *arguments):
    return Record().tasks(n, us, *arguments)


def fork_join(n, us):
    record = Record()
    for _ in range(n + 1):
        record.data(8)
    record.task(us, ",".join("%d:w" % d for d in range(1, n + 2)))
    for d in range(2, n + 2):
        record.task(us, "1:r,%d:rw" % d)
    return record.task(us, ",".join("%d:r" % d for d in range(2, n + 2)))


def copies(sizes, gpus, us=100):
    """A task on each GPU that reads its own datum from main memory."""
    record = Record()
    for i, size in enumerate(sizes):
        record.data(size).task(us, "%d:r" % (i + 1), on(1 + gpus[i]))
    return record


def shared(sizes, capacity):
    """When the last of copies that begin at once over one link ends."""
    return sum(sizes) / capacity


# --- cases: name, machine, record, makespan, settings ---

def cases_of_processors():
    two, four = machine(2), machine(4)
    yield "one kernel", machine(1), many(1, 1000), 1000
    yield "a chain", four, many(0, 0).data(8).task(100, "1:rw").task(
        200, "1:rw").task(300, "1:rw"), 100 + 200 + 300
    yield "independent tasks on as many processors", four, many(4, 700), 700
    yield "more independent tasks than processors", four, many(10, 50), \
        3 * 50    # ceil(10 / 4)
    yield "fork and join, one per processor", four, fork_join(4, 250), 3 * 250
    yield "fork and join in two rounds", four, fork_join(6, 250), 4 * 250
    yield "readers together, a writer alone", four, Record().data(8).task(
        10, "1:w").task(30, "1:r").task(20, "1:r").task(5, "1:rw"), 10 + 30 + 5
    yield "commuting writers take turns", four, many(3, 40).data(8).task(
        100, "1:rwc").task(100, "1:rwc").task(100, "1:rwc"), 3 * 100
    yield "scratch data order nothing", four, Record().data(64, -1).task(
        80, "1:s").task(80, "1:s").task(80, "1:s"), 80
    yield "an explicit dependency", two, Record().call(
        "depend 2 before=1").task(30).task(40), 70
    yield "a tag", two, Record().call("tag-depend 5 before=4").task(
        30, "", "tagged=1 tag=4").task(40, "", "tagged=1 tag=5"), 70
    yield "the end of a task waits for another one", two, Record().data(
        8).call("end-depend 1 before=2").task(30, "1:w").task(90).task(
            10, "1:r"), 90 + 10
    yield "the application waits between tasks", two, Record().task(30).call(
        "wait-all").call("sleep us=12.5").task(40), 30 + 12.5 + 40
    yield "the application's own time", two, Record().task(10).task(
        10, "", "after=100"), 110
    yield "priorities on one processor", machine(1), Record().data(8).task(
        50, "1:rw").task(1000).task(10, "1:rw", "priority=9").task(
            1000, "1:rw", "priority=9"), 50 + 10 + 1000 + 1000, \
        {"STARPU_SCHED": "prio"}
    yield "a faster processor", machine(1), many(1, 900), 300, \
        {"ORRERY_SET": "cpu.speed = 3"}
    yield "a faster kernel", machine(1), many(1, 900).codelet(2).task(
        100, "", "", 2), 900 + 25, {"ORRERY_SET": "kernel[k2] on cpu = 4"}


def streams(lengths, size=10 * MB, mode="rw"):
    """A task for each length, with a datum of its own."""
    record = Record()
    for i, us in enumerate(lengths):
        record.data(size).task(us, "%d:%s" % (i + 1, mode), on(i))
    return record


def cases_of_streams():
    """A core streams 10 GB/s, all of them 20."""
    four = machine(4, streams=(10000, 20000))
    yield "one kernel that streams", four, streams([2000]), 2000
    yield "as many that stream as memory can serve", four, streams([2000] * 2), 2000
    yield "three that stream", four, streams([2000] * 3), 3 * 20 * MB / 20000
    yield "four that stream", four, streams([2000] * 4), 4 * 20 * MB / 20000
    yield "four that read", four, streams([1000] * 4, mode="r"), 40 * MB / 20000
    # Two end at 4000, the others have done half and go on alone.
    yield "streams of two lengths", four, Record().data(10 * MB).data(10 * MB).data(
        20 * MB).data(20 * MB).task(2000, "1:rw", on(0)).task(
            2000, "2:rw", on(1)).task(4000, "3:rw", on(2)).task(
                4000, "4:rw", on(3)), 4000 + 2000
    # 6 GB/s is less than a third of 20, so the others have 7 each.
    yield "a stream that wants less than its share", four, Record().data(
        6 * MB).data(10 * MB).data(10 * MB).task(2000, "1:rw", on(0)).task(
            2000, "2:rw", on(1)).task(2000, "3:rw", on(2)), 2000 + (
                20 * MB - 7000 * 2000) / 10000
    yield "kernels that compute leave memory alone", four, streams(
        [2000] * 4, 2 * MB), 2000
    yield "data that no kernel can touch in its time", four, streams(
        [100] * 4, 100 * MB), 100
    yield "a stream that begins when others run", machine(
        4, streams=(10000, 20000)), Record().data(10 * MB).data(10 * MB).data(
            10 * MB).task(2000, "1:rw", on(0)).task(2000, "2:rw", on(1)).task(
                2000, "3:rw", on(2) + " after=1000"), 1000 + 1500 + 1000
    # 5 of 20 GB/s for 1000 us, in which the four do 375 us of 2000.
    yield "a copy takes its part of memory", own_links(
        1, 5000, cpus=4, host=10000, streams=(10000, 20000)), Record().data(
            5 * MB).task(1, "1:r", on(4)).data(10 * MB).data(10 * MB).data(
                10 * MB).data(10 * MB).task(2000, "2:rw", on(0)).task(
                    2000, "3:rw", on(1)).task(2000, "4:rw", on(2)).task(
                        2000, "5:rw", on(3)), 1000 + (2000 - 375) / 0.5
    yield "each node has a bandwidth", machine(
        8, ram=("RAM", "RAM0", "RAM1"), numa=(0, 0, 0, 0, 1, 1, 1, 1),
        links=[Link("UPI", 1000)], routes=[("RAM0", "RAM1", "UPI"),
                                           ("RAM1", "RAM0", "UPI")],
        streams=(10000, 20000)), streams([1000] * 8, mode="w").home(-1), \
        40 * MB / 20000, {"STARPU_USE_NUMA": "1"}


def cases_of_the_runtime():
    yield "bound by submission", machine(4, submit=10), many(20, 5), \
        20 * 10 + 5 - 10    # the makespan begins when the first one is there
    yield "submission hidden behind a kernel", machine(1, submit=10), \
        many(5, 100), 5 * 100
    yield "submission of tasks with buffers", machine(
        4, submit=10, submit_per_buffer=5), Record().data(8).data(8).task(
            5, "1:r,2:r").task(5, "1:r,2:r").task(5, "1:r,2:r"), \
        2 * (10 + 2 * 5) + 5
    # One of the two begins to compute 10 us later; each loses half of what main takes
    # to submit ten more tasks meanwhile.
    yield "main takes a processor from workers", machine(
        2, processors=2, submit=10), many(2, 1000, "").tasks(10, 100), \
        10 + 1000 + 10 * 10 / 2 + 5 * 100
    yield "main has a processor left", machine(
        2, processors=3, submit=10), many(2, 1000, "").tasks(10, 100), \
        10 + 1000 + 5 * 100
    yield "main runs where a worker has nothing to do", machine(
        2, processors=2, submit=10), many(1, 1000, "", on(1)).tasks(
            10, 100, "", on(1)), \
        1000 + 10 * 100
    yield "pushing takes its time", machine(1, push=7), many(
        0, 0).data(8).task(100, "1:rw").task(100, "1:rw"), 7 + 100 + 7 + 100
    yield "asking for data takes its time", machine(1, fetch=3), many(
        0, 0).data(8).task(100, "1:rw").task(100, "1:rw"), 3 + 100 + 3 + 100
    yield "the time of a kernel that is waited for has its launch in it", own_links(
        1, kernel_queue=10), Record().codelet(2, True).task(
            100, "", on(1), 2).task(100, "", on(1), 2), 2 * 100
    waited = Record().codelet(2, True)
    for _ in range(5):
        waited.task(4, "", on(1), 2)
    yield "no kernel that is waited for is shorter than its launch", own_links(
        1, kernel_queue=10), waited, 5 * 10
    yield "handing over kernels is hidden behind them", own_links(
        1, kernel_queue=10), many(3, 100, "", on(1)), 3 * 100
    yield "handing over kernels that are shorter", own_links(
        1, kernel_queue=10), many(5, 4, "", on(1)), 4 * 10 + 4
    yield "what is submitted again has ended", machine(2), Record().task(100, "", "kept=1").call(
        "submit 1 codelet=1 times=50.0,50.0 kept=1"), 100 + 50
    yield "a device that is idle begins later", own_links(
        1, kernel_latency=30), many(1, 100, "", on(1)), 30 + 100
    yield "one that has the next kernel begins that at once", own_links(
        1, kernel_latency=30), many(3, 100, "", on(1)), 30 + 3 * 100
    yield "a kernel that is waited for has the latency in its time", own_links(
        1, kernel_latency=30), Record().codelet(2, True).task(
            100, "", on(1), 2).task(100, "", on(1), 2), 2 * 100
    yield "handing over a copy is hidden behind it", own_links(
        1, copy_queue=10), copies([MB], [0]), MB / 1000 + 100
    yield "handing over copies that are shorter", own_links(
        1, copy_queue=10), Record().data(1).data(1).data(1).task(
            100, "1:r,2:r,3:r", on(1)), 3 * 10 + 100
    yield "memory of a device", own_links(1, device_alloc=175), Record().data(
        MB, -1).task(100, "1:w", on(1)), 175 + 100
    new = own_links(1, device_first_use_per_mib=300, first_use_per_mib=200)
    yield "memory of a device that is new", new, copies([MB], [0]), \
        MB / 1000 + 300 * MB / (1 << 20) + 100
    yield "main memory that is new", new, Record().data(MB, -1).task(
        100, "1:w", on(1)).task(1, "1:r", on(0)), \
        100 + MB / 1000 + 200 * MB / (1 << 20) + 1
    yield "memory is new once", new, Record().data(MB).task(100, "1:rw", on(1)).task(
        10, "1:rw", on(0)).task(100, "1:r", on(1)), \
        3 * MB / 1000 + 300 * MB / (1 << 20) + 210
    yield "memory that the program has not used", new, Record().data(MB).call(
        "untouched 1").task(100, "1:w", on(1)).task(10, "1:rw", on(0)).task(
            100, "1:rw", on(1)).task(10, "1:r", on(0)), \
        3 * MB / 1000 + 200 * MB / (1 << 20) + 220
    yield "pinned memory", own_links(1, pinned_alloc_per_mib=650), \
        Record().task(10).call("pin size=%d" % (2 << 20)).task(10), \
        2 * 650 + 10


def cases_of_transfers():
    yield "a transfer", own_links(1, latency=15), copies([MB], [0]), \
        15 + MB / 1000 + 100
    yield "a transfer there and back", own_links(1, latency=15), Record().data(
        MB).task(100, "1:rw", on(1)).task(1, "1:r", on(0)), \
        2 * (15 + MB / 1000) + 100 + 1
    yield "what is there already is not transferred", own_links(1), \
        copies([MB], [0]).task(100, "1:r", on(1)), MB / 1000 + 2 * 100
    yield "what is written is not transferred before", own_links(1), \
        Record().data(MB).task(100, "1:w", on(1)), 100
    yield "transfers on links of their own", own_links(2), copies(
        [MB, 2 * MB], [0, 1]), 2 * MB / 1000 + 100
    yield "transfers on a shared link", own_links(2, host=1000), copies(
        [MB, MB], [0, 1]), shared([MB, MB], 1000) + 100
    yield "a shared link, until the shorter one has ended", own_links(
        2, host=1000), copies([MB, 3 * MB], [0, 1]), \
        shared([MB, 3 * MB], 1000) + 100
    yield "three on a link that is narrower than their own", own_links(
        3, bandwidth=1000, host=1500), copies([MB] * 3, [0, 1, 2]), \
        MB / (1500 / 3) + 100
    yield "the rest of a link that one cannot fill", own_links(
        2, bandwidth=(200, 1000), host=900), copies([MB, 7 * MB], [0, 1]), \
        max(MB / 200, 7 * MB / 700 if 7 * MB / 700 <= MB / 200 else
            MB / 200 + (7 * MB - 700 * MB / 200) / 900) + 100
    yield "a link that is not shared", own_links(
        2, host=1000, sharing="FATPIPE"), copies([MB, MB], [0, 1]), \
        MB / 1000 + 100
    both = Record().data(MB).data(MB).task(100, "2:rw", on(1)).call(
        "wait-all").task(100, "1:r", on(1)).task(100, "2:r", on(0))
    first = MB / 1000 + 100
    yield "opposite directions of two links", own_links(1), both, \
        first + MB / 1000 + 100
    yield "opposite directions of one link", own_links(
        1, host=1000), both, first + 2 * MB / 1000 + 100
    peers = [Link("P", 4000, 5)]
    route = [("CUDA0", "CUDA1", "P"), ("CUDA1", "CUDA0", "P")]
    over = Record().data(MB, -1).task(100, "1:w", on(1)).task(
        50, "1:r", on(2))
    yield "from device to device", own_links(
        2, links=peers, routes=route, peer=True), over, \
        100 + 5 + MB / 4000 + 50
    yield "from device to device, without copies between them", own_links(
        2, bandwidth=(1000, 500), links=peers, routes=route, peer=True), over, \
        100 + MB / 1000 + MB / 500 + 50, {
            "STARPU_ENABLE_CUDA_GPU_GPU_DIRECT": "0"}
    yield "from device to device by way of main memory", own_links(
        2, bandwidth=(1000, 500)), over, 100 + MB / 1000 + MB / 500 + 50
    yield "a transfer behind a kernel", own_links(1), Record().data(MB).data(
        MB).task(5000, "1:r", on(1)).task(70, "2:r", on(1)), \
        MB / 1000 + 5000 + 70
    yield "a kernel behind a transfer", own_links(1), Record().data(
        MB).data(4 * MB).task(500, "1:r", on(1)).task(70, "2:r", on(1)), \
        MB / 1000 + 4 * MB / 1000 + 70
    yield "a prefetch before the task", own_links(1), Record().data(
        MB).task(2000, "", on(1)).call("fetch 1 how=prefetch node=1").task(
            70, "1:r", on(1)), 2000 + 70
    yield "a faster link", own_links(1, latency=15), copies([MB], [0]), \
        15 + MB / 2000 + 100, {"ORRERY_SET": "pcie.bandwidth *= 2"}


def cases_of_memory():
    full = Record().data(6 * MB, -1).data(6 * MB, -1).task(
        100, "1:w", on(1)).task(100, "2:w", on(1))
    small = own_links(1, memory=12 * MB)
    yield "full memory: the only copy is written back first", small, full, \
        100 + 6 * MB / 1000 + 100
    yield "room enough: nothing is written back", own_links(1), full, 2 * 100
    clean = Record().data(6 * MB).data(6 * MB).task(100, "1:r", on(1)).task(
        100, "2:r", on(1))
    yield "full memory: a copy that main memory has, too, is dropped", small, \
        clean, 2 * (6 * MB / 1000 + 100)
    nodes = machine(2, ram=("RAM", "RAM0", "RAM1"), numa=(0, 1),
                    links=[Link("U", 2000, 1)],
                    routes=[("RAM0", "RAM1", "U"), ("RAM1", "RAM0", "U")])
    yield "from one NUMA node to the other", nodes, Record().data(MB).task(
        100, "1:rw", on(1)), 1 + MB / 2000 + 100, {"STARPU_USE_NUMA": "1"}
    disk = machine(1, ram=("RAM", "DISK0"),
                   links=[Link("D", 400, 100), Link("E", 500, 50)],
                   routes=[("RAM", "DISK0", "D"), ("DISK0", "RAM", "E")])
    swap = {"STARPU_DISK_SWAP": "FOLDER", "STARPU_LIMIT_CPU_MEM": "10"}
    yield "main memory is full: a disk takes what it had", disk, Record().data(
        6 * MB, -1).data(6 * MB, -1).task(100, "1:w").task(100, "2:w"), \
        100 + 100 + 6 * MB / 400 + 100, swap
    yield "on the NUMA node where the data are", nodes, Record().data(
        MB).task(100, "1:rw", on(0)), 100, {"STARPU_USE_NUMA": "1"}


def rounds(n, us, processors):
    record = Record()
    for _ in range(n):
        for _ in range(processors):
            record.task(us)
        record.call("wait-all")
    return record


def cases_of_noise():
    """Lengths are lognormal of a mean that is known: the sum of n of them is so within
    four standard errors. Rounds of two take the longer one, of which the mean is
    2 mean Phi(sigma / sqrt 2), and the deviation at most that of one."""
    n, mean, deviation = 8000, 100, 0.2
    within = 4 * deviation * mean * math.sqrt(n)
    sigma = math.sqrt(math.log(1 + deviation ** 2))
    longer = 1 + math.erf(sigma / 2)   # 2 Phi(sigma / sqrt 2)
    for seed in "17", "18":
        noise = {"ORRERY_SIM_NOISE": "%g" % deviation, "ORRERY_SIM_SEED": seed}
        yield "noise on one processor, seed " + seed, machine(1), \
            many(n, mean), n * mean, noise, within
        yield "noise in rounds of two, seed " + seed, machine(2), \
            rounds(n, mean, 2), n * mean * longer, noise, within
    yield "no noise", machine(1), many(n, mean), n * mean, \
        {"ORRERY_SIM_NOISE": "0", "ORRERY_SIM_SEED": "17"}


# --- runs ---

def makespan(player, folder, text, record, settings):
    paths = [os.path.join(folder, name) for name in
             ("machine.xml", "record", "report")]
    for path, content in zip(paths, (text, record.text())):
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    kept = ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR", "ORRERY_CHECK_BOUNDS")
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_")) or name in kept}
    env.update(STARPU_SILENT="1", STARPU_PERF_MODEL_DIR=folder,
               STARPU_SCHED="eager", ORRERY_MACHINE=paths[0],
               ORRERY_REPORT=paths[2])
    env.update((name, value.replace("FOLDER", folder))
               for name, value in settings.items())
    done = subprocess.run([player, paths[1]], env=env, text=True, timeout=60,
                          capture_output=True, check=False, errors="replace")
    if done.returncode != 0:
        return done.stderr
    with open(paths[2], encoding="utf-8") as file:
        return json.load(file)["makespan_us"]


def claim_dates_of_copies(tap, player, folder):
    """Two that are asked for at once, over one link: the second is taken when the first
    has ended, and the trace has both dates."""
    record = Record().data(MB).data(MB).task(100, "1:r,2:r", on(1))
    found = makespan(player, folder, own_links(1), record,
                     {"ORRERY_TRACE": "FOLDER/trace.csv"})
    with open(os.path.join(folder, "trace.csv"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["record"] == "copy"]
    dates = sorted((float(row["start_ms"]) + float(row["change"] or 0),
                    float(row["end_ms"]), float(row["start_ms"])) for row in rows)
    tap.claim("a copy that waits for another one has the date at which it is taken",
              len(dates) == 2 and dates[0][2] == dates[1][2] and
              abs(dates[1][0] - dates[0][1]) <= EXACT / 1000 and
              abs(dates[1][0] - dates[1][2] - 1) <= EXACT / 1000, found, rows)


def main():
    player = sys.argv[1]
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    tap = Tap()
    varied = []
    with tempfile.TemporaryDirectory() as folder:
        for cases in (cases_of_processors, cases_of_streams, cases_of_the_runtime,
                      cases_of_transfers, cases_of_memory, cases_of_noise):
            for name, text, record, expected, *more in cases():
                if only not in name:
                    continue
                settings, within = more + [{}, EXACT][len(more):]
                found = makespan(player, folder, text, record, settings)
                if only:
                    print("# %s: %s, expected %s" % (name, found, expected))
                tap.claim("%s takes %.12g us%s" % (
                    name, expected, " +- %.3g" % within if within > EXACT else ""),
                          isinstance(found, float) and
                          abs(found - expected) <= within,
                          "it took", found, record.text())
                if within > EXACT:
                    varied.append(found)
        if not only:
            claim_dates_of_copies(tap, player, folder)
        if varied:
            tap.claim("noise: every seed gives another makespan",
                      len(set(varied)) == len(varied), varied)
    tap.end()


if __name__ == "__main__":
    main()

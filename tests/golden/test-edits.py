#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every what-if edit equals the same change made by hand in the XML: a
simulated Cholesky leaves the same trace, byte for byte. The hand's side is
written here with xml.etree alone, link by link. Prints TAP.

usage: test-edits.py CHOLESKY CATALOGUE
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "unit"))
import tools_util  # noqa: E402

CHOLESKY, CATALOGUE = sys.argv[1:3]
SHARED = tools_util.shared_folder()
SIZE = ["-size", "9600", "-nblocks", "10"]
UNITS = {"kBps": 1e3, "MBps": 1e6, "GBps": 1e9, "Bps": 1.0, "us": 1e-6,
         "ms": 1e-3, "s": 1.0}


def figure(text):
    for unit, factor in UNITS.items():
        if text.endswith(unit) and text[:-len(unit)][-1] in "0123456789.":
            return float(text[:-len(unit)]) * factor
    return float(text)


class Hand:
    """A platform file, changed by hand."""

    def __init__(self, path):
        self.tree = ET.parse(path)
        root = self.tree.getroot()
        self.zone = root.find("zone") if root.find("zone") is not None \
            else root.find("AS")
        self.bandwidth = self.latency = None  # measured matrices

    def insert(self, element):
        """Behind the last of its kind: hosts, links, routes are in order."""
        at = max(i for i, e in enumerate(self.zone) if e.tag == element.tag)
        self.zone.insert(at + 1, element)
        return element

    def find(self, tag, **attributes):
        for element in self.zone.iter(tag):
            if all(element.get(k) == v for k, v in attributes.items()):
                return element
        return None

    def host(self, name):
        return self.find("host", id=name)

    def prop(self, host, name, value):
        for prop in self.host(host).iter("prop"):
            if prop.get("id") == name:
                prop.set("value", value)
                return
        ET.SubElement(self.host(host), "prop", id=name, value=value)

    def new_host(self, name, like, own_models=False):
        host = self.insert(ET.Element("host", dict(self.host(like).attrib,
                                                   id=name)))
        for prop in self.host(like).iter("prop"):
            ET.SubElement(host, "prop", dict(prop.attrib))
        if not own_models:
            self.prop(name, "orrery-models-of", like)

    def drop_host(self, name):
        self.zone.remove(self.host(name))
        for route in [r for r in self.zone.iter("route")
                      if name in (r.get("src"), r.get("dst"))]:
            self.zone.remove(route)

    def new_link(self, name, like):
        self.insert(ET.Element("link", dict(self.find("link", id=like).attrib,
                                            id=name)))

    def route(self, src, dst, links, both=False):
        """links: (name, direction or None)"""
        route = self.insert(ET.Element("route", src=src, dst=dst,
                                       symmetrical="YES" if both else "NO"))
        for name, way in links:
            hop = ET.SubElement(route, "link_ctn", id=name)
            if way:
                hop.set("direction", way)

    def hops(self, src, dst):
        return [h.get("id") for h in self.find("route", src=src, dst=dst)]

    def set(self, link, **figures):
        for name, change in figures.items():
            unit = "Bps" if name == "bandwidth" else "s"
            element = self.find("link", id=link)
            value = change(figure(element.get(name)))
            element.set(name, repr(value) + unit)

    def links(self, start=""):
        return [e.get("id") for e in self.zone.iter("link")
                if e.get("id").startswith(start)]

    def write(self, path):
        self.tree.write(path)


def times(factor):
    return lambda old: old * factor


def over(factor):
    return lambda old: old / factor


def become(value):
    return lambda old: value


# ---- the changes; each takes a Hand ----

GPUS = ["CUDA%d" % k for k in range(8)]


def hgx_ten(hand):
    for k, like in ((8, "CUDA0"), (9, "CUDA1")):
        new = "CUDA%d" % k
        hand.new_host(new, like)
        hand.new_host("CPU%d" % (112 + k - 8), "CPU%d" % (k - 8))
        hand.new_link("PCIe-" + new, "PCIe-" + like)
        hand.new_link("NVLink-" + new, "NVLink-" + like)
        for memory, first in (("RAM", ["Host"]), ("RAM0", ["Host"]),
                              ("RAM1", ["Host1", "UPI-0-1"])):
            hand.route(memory, new, [(link, "UP" if "UPI" in link else None)
                                     for link in first] +
                       [("PCIe-" + new, "DOWN")], True)
        for other in range(k):
            hand.route(new, "CUDA%d" % other,
                       [("NVLink-" + new, "UP"),
                        ("NVLink-CUDA%d" % other, "DOWN")], True)


def hgx_four(hand):
    for k in range(4, 8):
        hand.drop_host("CUDA%d" % k)
    for k in range(108, 112):
        hand.drop_host("CPU%d" % k)


def rtx_four(hand):
    ncpu = sum(1 for h in hand.zone.iter("host")
               if h.get("id").startswith("CPU"))
    for k in (2, 3):
        new, like = "CUDA%d" % k, "CUDA%d" % (k - 2)
        hand.new_host(new, like)
        hand.new_host("CPU%d" % (ncpu + k - 2), "CPU%d" % (k - 2))
        hand.new_link("PCIe-" + new, "PCIe-" + like)
        hand.route("RAM", new, [("Host", None), ("PCIe-" + new, "DOWN")], True)


def cpus(count):
    """count: CPU workers and the cores that drive devices"""
    def change(hand):
        there = [h.get("id") for h in hand.zone.iter("host")
                 if h.get("id").startswith("CPU")]
        for name in there[count:]:
            hand.drop_host(name)
        for k in range(len(there), count):
            hand.new_host("CPU%d" % k, there[k % len(there)])
    return change


def props(hosts, name, value):
    return lambda hand: [hand.prop(h, name, value) for h in hosts]


def links(start, **figures):
    def change(hand):
        names = [l for s in start.split(",") for l in hand.links(s)]
        for name in dict.fromkeys(names):
            hand.set(name, **figures)
    return change


def rtx_nvlink(hand):
    for k in (0, 1):
        hand.insert(ET.Element("link", id="NVLink-CUDA%d" % k,
                               bandwidth="382500MBps", latency="6.5us",
                               sharing_policy="SPLITDUPLEX"))
        hand.prop("CUDA%d" % k, "memcpy_peer", "1")
    hand.route("CUDA0", "CUDA1", [("NVLink-CUDA0", "UP"),
                                  ("NVLink-CUDA1", "DOWN")], True)


def hgx_no_nvlink(hand):
    for route in list(hand.zone.iter("route")):
        ends = route.get("src"), route.get("dst")
        if ends[0].startswith("RAM") or ends[1].startswith("RAM"):
            continue
        # Over the routes to main memory, which is at socket 0.
        for hop in list(route):
            route.remove(hop)
        for name, way in [("PCIe-" + ends[0], "UP")] + [
                ("UPI-0-1", way) for end, way in zip(ends, ("UP", "DOWN"))
                if int(end[4:]) >= 4] + [("PCIe-" + ends[1], "DOWN")]:
            ET.SubElement(route, "link_ctn", id=name, direction=way)


def several(*changes):
    return lambda hand: [change(hand) for change in changes]


def cuda(key, value, which=range(8)):
    return props(["CUDA%d" % k for k in which], key, value)


KERNEL = "orrery-kernel-speed[%s]"
CPUS = ["CPU%d" % k for k in range(112)]

HGX = [
    ("cuda.count = 10", hgx_ten),
    ("cuda.count -= 4", hgx_four),
    ("cpu.count = 12", cpus(20)),
    ("cpu.count *= 2", cpus(216)),
    ("cuda.memory = 48MiB", cuda("memsize", str(48 << 20))),
    ("cuda[2].memory = 64MiB", cuda("memsize", str(64 << 20), [2])),
    ("cuda[0,4-5].memory /= 2048",
     cuda("memsize", str(81559 * 2**20 // 2048), [0, 4, 5])),
    ("cuda.speed *= 1.5", cuda("orrery-speed", "1.5")),
    ("cuda[0-1].speed = 0.25", cuda("orrery-speed", "0.25", [0, 1])),
    ("cpu.speed *= 300", props(CPUS, "orrery-speed", "300")),
    ("kernel[gemm] on cuda *= 0.8", cuda(KERNEL % "gemm", "0.8")),
    ("kernel[\"chol_model_potrf\"].time on cuda = 3",
     cuda(KERNEL % "\"chol_model_potrf\"", repr(1 / 3.0))),
    ("kernel[chol*trsm] on cuda[3] /= 4", cuda(KERNEL % "chol*trsm", "0.25",
                                               [3])),
    ("kernel[syrk] *= 0.5", several(cuda(KERNEL % "syrk", "0.5"),
                                    props(CPUS, KERNEL % "syrk", "0.5"))),
    ("pcie.bandwidth /= 16", links("PCIe", bandwidth=over(16))),
    ("pcie[1].latency += 100us",
     links("PCIe-CUDA1", latency=lambda old: old + 100e-6)),
    ("nvlink.bandwidth = 20GBps", links("NVLink", bandwidth=become(20e9))),
    ("nvlink.latency *= 8", links("NVLink", latency=times(8))),
    ("nvlink[0-3].bandwidth = 4GB/s",
     links("NVLink", bandwidth=become(4e9))),
    ("nvlink = off", hgx_no_nvlink),
    ("peer.latency = 30us", links("NVLink", latency=become(30e-6))),
    ("ram.bandwidth /= 8", links("Host,UPI,PCIe", bandwidth=over(8))),
    ("membus.bandwidth = 5GiBps", links("Host,UPI", bandwidth=become(5 * 2.0**30))),
    ("bus.latency += 50us", links("", latency=lambda old: old + 50e-6)),
    ("link[\"Host\"].latency = 200us", links("Host", latency=become(200e-6))),
    ("link[PCIe-CUDA0].bandwidth = 1GBps",
     links("PCIe-CUDA0", bandwidth=become(1e9))),
    ("cuda.count = 10; cuda[9].speed = 3\ncpu.count = 4; nvlink.latency = 9us",
     several(hgx_ten, cpus(14), props(["CUDA9"], "orrery-speed", "3"),
             links("NVLink", latency=become(9e-6)))),
]
RTX = [
    ("cuda.count = 4", rtx_four),
    ("nvlink = on", rtx_nvlink),
    ("pcie.bandwidth /= 4", links("PCIe", bandwidth=over(4))),
    ("nvlink.bandwidth *= 2", None),
]

# ---- four NUMA nodes, with 28 cores and a device each ----


def r940_devices(count):
    """New devices with their routes from and to all main memories, and a core
    on the node of each."""
    def change(hand):
        for k in range(4, count):
            new, like = "CUDA%d" % k, "CUDA%d" % (k % 4)
            hand.new_host(new, like)
            hand.new_link("PCIe-" + new, "PCIe-" + like)
            for route in list(hand.zone.iter("route")):
                if route.get("dst") == like:
                    hand.route(route.get("src"), new,
                               [(h.get("id").replace(like, new),
                                 h.get("direction")) for h in route], True)
        cores = [(k - 4) // 4 for k in range(4, count)]
        nodes = sorted((k % 4, turn) for k, turn in zip(range(4, count), cores))
        for number, (node, turn) in enumerate(nodes, 112):
            hand.new_host("CPU%d" % number, "CPU%d" % (28 * node + turn))
    return change


def r940_one(hand):
    for k in (1, 2, 3):
        hand.drop_host("CUDA%d" % k)
    keep_cores([28, 27, 27, 27])(hand)


def keep_cores(kept):
    """The first cores of each node stay, with new numbers."""
    def change(hand):
        stay = [28 * node + i for node in range(4) for i in range(kept[node])]
        for k in range(112):
            if k not in stay:
                hand.drop_host("CPU%d" % k)
        for number, k in enumerate(stay):
            hand.host("CPU%d" % k).set("id", "CPU%d" % number)
    return change


def r940_cores(hand):
    for k in range(12):
        hand.new_host("CPU%d" % (112 + k), "CPU%d" % (28 * (k // 3) + k % 3))


NUMA, FLAT = {"STARPU_USE_NUMA": "1"}, {"STARPU_USE_NUMA": "0"}
# Cores of all nodes work, and their memories fill.
EAGER = dict(NUMA, STARPU_SCHED="lws")
UPI_HOST = "UPI,Host"
R940 = [(edit, change, more) for more in (NUMA, FLAT) for edit, change in (
    ("cuda.count = 7", r940_devices(7)),
    ("cuda.count = 9", r940_devices(9)),
    ("cuda.count = 1", r940_one),
    ("cpu.count = 50", keep_cores([14, 14, 13, 13])),
    ("cpu.count = 120", r940_cores),
    ("membus.bandwidth /= 4", links(UPI_HOST, bandwidth=over(4))),
    ("membus.latency = 20us", links(UPI_HOST, latency=become(20e-6))),
    ("ram[2].latency += 10us",
     links("Host2,UPI-0-2,UPI-1-2,UPI-2-3,PCIe,Host,Host1,Host3",
           latency=lambda old: old + 10e-6)),
    ("link[\"UPI-0-1\"].bandwidth = 1GBps",
     links("UPI-0-1", bandwidth=become(1e9))),
)] + [
    ("ram[1].memory = 24MiB", props(["RAM1"], "memsize", str(24 << 20)), EAGER),
    ("ram.memory = 40MiB",
     props(["RAM%d" % k for k in range(4)], "memsize", str(40 << 20)), EAGER),
    ("ram.memory = 40MiB", None, FLAT),
]

# ---- the description and bus figures that StarPU measured ----


def of_host(names):
    """The links of the first device that only it uses."""
    return [n for n in names if n == "CUDA0-RAM" or n == "RAM-CUDA0" or
            ":06" in n or "[06" in n or "[00" in n]


def mirage_four(hand):
    def copied(name):
        return name.replace("CUDA0", "CUDA3") if "CUDA0" in name \
            else name + " copied"
    hand.new_host("CUDA3", "CUDA0")
    hand.new_host("CPU12", "CPU0")
    own = of_host(hand.links())
    pairs = ["CUDA0-CUDA1", "CUDA0-CUDA2", "CUDA1-CUDA0", "CUDA2-CUDA0"]
    for link in own + pairs:
        hand.new_link(copied(link), link)
    for src, dst in (("CUDA0", "RAM"), ("RAM", "CUDA0"), ("CUDA0", "CUDA1"),
                     ("CUDA1", "CUDA0"), ("CUDA0", "CUDA2"),
                     ("CUDA2", "CUDA0")):
        hand.route(src.replace("CUDA0", "CUDA3"), dst.replace("CUDA0", "CUDA3"),
                   [(copied(h) if h in own + pairs else h, None)
                    for h in hand.hops(src, dst)])
    # The first and its copy: from one as it reaches CUDA1, through the host,
    # to the other as CUDA1 reaches the first.
    down = [h for h in hand.hops("CUDA1", "CUDA0") if h in own]
    up = [h for h in hand.hops("CUDA0", "CUDA1") if h in own]
    hand.new_link("CUDA0-CUDA3", "CUDA0-CUDA1")
    hand.new_link("CUDA3-CUDA0", "CUDA1-CUDA0")
    for src, dst, ups, downs in (
            ("CUDA0", "CUDA3", up, [copied(h) for h in down]),
            ("CUDA3", "CUDA0", [copied(h) for h in up], down)):
        hand.route(src, dst, [(h, None) for h in ups + [src + "-" + dst] +
                              ["Host", "Host"] + downs])
    for matrix in (hand.bandwidth, hand.latency):
        for row in matrix:
            row.insert(4, row[1])
        matrix.insert(4, list(matrix[1]))
    # Unmeasured, so the route's: Host is passed twice and shared.
    for i, j in ((1, 4), (4, 1)):
        hand.bandwidth[i][j] = derived(hand, i - 1, j - 1)[0]
        hand.latency[i][j] = derived(hand, i - 1, j - 1)[1]
    hand.bandwidth[4][4] = hand.latency[4][4] = 0.0


def derived(hand, i, j):
    """What the route between two devices gives, MB/s and us."""
    uses, slowest, latency = {}, float("inf"), 0.0
    for name in hand.hops("CUDA%d" % i, "CUDA%d" % j):
        link = hand.find("link", id=name)
        uses[name] = uses.get(name, 0) + 1
        slowest = min(slowest, figure(link.get("bandwidth")) / uses[name])
        latency += figure(link.get("latency"))
    return slowest / 1e6, latency * 1e6


def mirage_faster(hand):
    """All links between memories but the disk's: each route twice as fast."""
    for link in hand.links():
        if "DISK" not in link:
            hand.set(link, bandwidth=times(2))
    hand.bandwidth = [[2 * f for f in row] for row in hand.bandwidth]


def mirage_one(hand):
    for k in (1, 2):
        hand.drop_host("CUDA%d" % k)
        hand.drop_host("OpenCL%d" % k)
    for k in (10, 11):
        hand.drop_host("CPU%d" % k)
    for name in ("bandwidth", "latency"):
        matrix = getattr(hand, name)
        setattr(hand, name, [[matrix[i][j] for j in (0, 1, 4)]
                             for i in (0, 1, 4)])


def opencl(hand):
    """CUDA0 to CUDA2 still want three cores for their drivers."""
    hand.drop_host("OpenCL2")
    for name in ("bandwidth", "latency"):
        setattr(hand, name, [row[:6] for row in getattr(hand, name)[:6]])


MIRAGE = [
    ("cuda.count = 4", mirage_four, {}),
    ("cuda.count = 1", mirage_one, {}),
    ("membus.bandwidth *= 2; pcie.bandwidth *= 2", mirage_faster, {}),
    ("cuda[1].memory = 128MiB", cuda("memsize", str(128 << 20), [1]), {}),
    ("kernel[gemm] on cuda *= 0.8", cuda(KERNEL % "gemm", "0.8", range(3)),
     {}),
    ("opencl.count = 2", opencl, {"STARPU_NCUDA": "0"}),
]

# ---- running ----


def read_matrix(path):
    rows = [[float(word) for word in line.split()]
            for line in open(path) if line.strip() and line[0] != "#"]
    return [row[:7] for row in rows[:7]]


def write_matrix(path, matrix):
    """With a column and a row to spare, as StarPU wants it."""
    wide = [row + [float("nan")] for row in matrix]
    wide.append([float("nan")] * (len(matrix) + 1))
    with open(path, "w") as out:
        for row in wide:
            out.write("\t".join(repr(f) for f in row) + "\n")


def simulate(machine, edits, more, trace, scheduler):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("STARPU_") and
           k not in ("ORRERY_SET", "ORRERY_REPORT")}
    env.update(more, ORRERY_MACHINE=machine, STARPU_SCHED=scheduler,
               ORRERY_TRACE=trace)
    if edits:
        env["ORRERY_SET"] = edits
    else:  # the same run, whose bounds are the same: nine tenths of the time
        env["ORRERY_CHECK_BOUNDS"] = "0"
    run = subprocess.run([CHOLESKY] + SIZE, env=env, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=120, text=True)
    if run.returncode:
        return None, run.stdout
    return open(trace, "rb").read(), run.stdout


def claim(number, good, words, output):
    print("%sok %d - %s" % ("" if good else "not ", number, words), flush=True)
    if not good:
        for line in output.splitlines()[-6:]:
            print("# " + line)
    return good


class Bench:
    """The same machine in two places: as it is, and changed by hand."""

    def __init__(self, folder, name, original, models, bus=None):
        self.name, self.original, self.bus = name, original, bus
        self.folder = folder
        for side in "ab":
            where = os.path.join(folder, side, name)
            os.makedirs(where)
            os.symlink(models, os.path.join(where, "codelets"))
        self.path = [os.path.join(folder, side, name, "platform.xml")
                     for side in "ab"]
        shutil.copyfile(original, self.path[0])
        for suffix in (".bandwidth", ".latency") if bus else ():
            write_matrix(self.path[0][:-4] + suffix, read_matrix(bus + suffix))

    def compare(self, edit, change, more, scheduler="dmdas"):
        hand = Hand(self.original)
        if self.bus:
            hand.bandwidth = read_matrix(self.bus + ".bandwidth")
            hand.latency = read_matrix(self.bus + ".latency")
        if change:
            change(hand)
        hand.write(self.path[1])
        if self.bus:
            write_matrix(self.path[1][:-4] + ".bandwidth", hand.bandwidth)
            write_matrix(self.path[1][:-4] + ".latency", hand.latency)
        trace = os.path.join(self.folder, "trace")
        edited, words = simulate(self.path[0], edit, more, trace, scheduler)
        by_hand, more_words = simulate(self.path[1], None, more, trace,
                                       scheduler)
        plain, _ = simulate(self.path[0], None, more, trace, scheduler)
        same = edited is not None and edited == by_hand
        if same and (edited != plain) != (change is not None):
            return False, "%s the trace of the machine as it was\n%s" % (
                "this is" if change else "this is not", words)
        return same, words + more_words


# ---- what edits say ----


def sayings(folder):
    """(claim, whether it holds, output) of runs on the NVLink machine."""
    trace = os.path.join(folder, "words")
    report = trace + ".json"

    def run(edits, **more):
        return simulate("hgx-h100-8", edits, dict(more, ORRERY_REPORT=report),
                        trace, "dmdas")

    ran, out = run("cuda.speed *= 2; kernel[gem5] = 3; nvlink.latency = 1us")
    edits = json.load(open(report))["edits"] if ran else []
    yield ("the report has each edit, and what the run did where it applies",
           len(edits) == 3 and edits[0]["tasks"] > 0 and
           edits[2]["bytes"] > 0 and not edits[1]["kernels_met"] and
           [e["effect"] for e in edits] == [True, False, True] and
           edits[0]["devices"][0] == {"name": "CUDA0", "before": 1,
                                      "after": 2} and
           ["CUDA0", "CUDA1"] in edits[2]["ways"], out)
    yield ("an edit that nothing of the run met says so in the end",
           "kernel[gem5] = 3: no effect on this run, no kernel" in out and
           out.count("no effect") == 1, out)
    _, out = run("pcie.bandwidth = 100kBps")
    yield ("links that no transfer used are not said to have no effect",
           "no transfer used these links" in out and "no effect" not in out,
           out)
    ended = subprocess.run(
        [CHOLESKY, "-size", "1000", "-nblocks", "10"], stdin=subprocess.DEVNULL,
        env=dict(os.environ, ORRERY_MACHINE="rtx4090-2",
                 ORRERY_ASSUME="kernel[gem5] = 5us; kernel[*potrf*] on "
                               "cuda7 = 1us"), timeout=100,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    yield ("tiles of a size that was never measured are said to be that",
           ended.returncode != 0 and "knows tasks with 409600, " in
           ended.stdout and "this one has 40000:" in ended.stdout, ended.stdout)
    yield ("a time that is assumed for no kernel is named when times are missing",
           re.search(r"Assumed for kernels that no task submitted so far has .*: "
                     r"`kernel\[gem5\] = 5us'\n", ended.stdout) and
           "potrf*] on" not in ended.stdout, ended.stdout)
    _, out = run("cuda.count = 10", STARPU_SILENT="1")
    yield "STARPU_SILENT=1 keeps the echo back", "what if" not in out, out
    ran, out = run("cpu.count = 4; pcie.bandwith = 2")
    yield ("a wrong edit ends the program and is named with its place",
           ran is None and "ORRERY_SET: edit 2, \"pcie.bandwith = 2\", column 6"
           in out, out)
    ran, out = simulate("", "cuda.count = 2", {}, trace, "lws")
    yield ("the real machine cannot be edited",
           ran is None and "edits a simulated machine" in out, out)
    _, out = run("", STARPU_NCUDA="10", STARPU_NCPU="120")
    advice = re.findall(r"ORRERY_SET='(\S+ = \d+)'", out)
    yield ("more workers than there can be: the edit that allows them is named",
           advice == ["cuda.count = 10", "cpu.count = 120"], out)
    _, out = run("; ".join(advice), STARPU_NCUDA="10", STARPU_NCPU="120")
    yield "and allows them", "were requested" not in out, out
    ran, out = run("cuda.count = 100")
    yield ("a machine of too many devices to run is refused",
           ran is None and "at most" in out, out)


def main():
    number, good = 0, True
    folder = tempfile.mkdtemp()
    mirage = os.path.join(SHARED, "sampling", "bus", "mirage")
    groups = [(name, os.path.join(CATALOGUE, name, "platform.xml"),
               os.path.join(CATALOGUE, name, "codelets"), None,
               edits)
              for name, edits in (("hgx-h100-8", [(e, c, {}) for e, c in HGX]),
                                  ("rtx4090-2", [(e, c, {}) for e, c in RTX]),
                                  ("r940xa-4", R940))]
    if os.path.exists(mirage + ".platform.v4.xml"):
        groups.append(("mirage", mirage + ".platform.v4.xml",
                       os.path.join(SHARED, "sampling", "codelets"), mirage,
                       MIRAGE))
    else:
        number += 1
        print("ok %d - edits of measured figures # SKIP no sampling/bus in "
              "ORRERY_SHARED" % number, flush=True)
    try:
        for name, original, models, bus, edits in groups:
            bench = Bench(folder, name, original, os.path.abspath(models), bus)
            for edit, change, more in edits:
                number += 1
                same, words = bench.compare(edit, change, more,
                                            more.get("STARPU_SCHED", "dmdas"))
                good &= claim(number, same, "%s: %s%s" % (
                    name, edit.replace("\n", "; ").replace("#", ""),
                    ", STARPU_USE_NUMA=1" if more.get("STARPU_USE_NUMA") == "1" else ""), words)
        for what, holds, output in sayings(folder):
            number += 1
            good &= claim(number, holds, what, output)
    finally:
        shutil.rmtree(folder)
    print("1..%d" % number)
    return 0 if good else 1


sys.exit(main())

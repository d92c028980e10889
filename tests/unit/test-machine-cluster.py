#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clusters in `orrery machine`: made, listed, shown. Prints TAP.

    test-machine-cluster.py ORRERY
"""
import json
import os
import sys

import xml.etree.ElementTree as ET

from machine_bench import SVG, boxes_apart, inside, platform, run_all

LINE = "3*./node.xml + 1*epyc-64 + ib 2x100Gb/s fat-tree:4 ranks-per-node=2"


def show(bench, name, *words):
    return json.loads(bench.run("show", name, *words, "--json").out)


def show_tests(tap, bench):
    os.chdir(bench.folder)
    bench.write("node.xml", platform(2))
    result = bench.run("show", LINE)
    tap.claim("a cluster is shown by its line", result.code == 0 and
              LINE in result.out and "0-2" in result.out and
              "4, with 8 ranks: 2 of each" in result.out, str(result))
    root = show(bench, LINE)
    tap.claim("nodes are counted by group",
              [(g["first"], g["count"], g["machine"]) for g in root["groups"]] ==
              [(0, 3, "./node.xml"), (3, 1, "epyc-64")] and
              root["nodes"] == 4 and root["ranks_per_node"] == 2, str(root))
    node, epyc = (g["each"] for g in root["groups"])
    tap.claim("what there is in all nodes is added up",
              root["total"]["cuda"] == 6 and
              root["total"]["cpu"] == 3 * node["cpu"] + epyc["cpu"] and
              root["total"]["device_memory"] == 6 * 2**30, str(root["total"]))
    network = root["network"]
    # Eight NICs, the two of a node at one leaf.
    tap.claim("the network is that of its words",
              network["topology"] == "fat tree" and
              network["nic_bytes_per_second"] == 12.5e9 and
              [level["switches"] for level in network["levels"]] == [4, 2] and
              network["bisection_bytes_per_second"] == 4 * 12.5e9 and
              network["oversubscription"] == 1 and
              network["shortest_latency_us"] == network["longest_latency_us"] == 1.26,
              str(network))
    one = show(bench, "1*epyc-64")["network"]
    tap.claim("a node alone has no latency", one["shortest_latency_us"] is None and
              one["words"] == "ib 200Gb/s", str(one))


def wrong_tests(tap, bench):
    for words, expected in [
            (("show", "4*epic-64"), 'is "epyc-64" meant?'),
            (("show", "4*epyc-64 + ib torus:1 1Gb/s"), "larger dimensions"),
            (("show", "4*epyc-64 + ibb 1Gb/s"), "did you mean ib"),
            (("show", "no.cluster.xml"), "no.cluster.xml"),
            (("diff", "4*epyc-64", "epyc-64"), "is a cluster, and one machine"),
            (("new", "cluster", "lab", "--nodes", "8"), "16*h100-pcie-4"),
            (("new", "cluster", "lab"), "--nodes"),
            (("new", "cluster", "epyc-64", "--nodes", "8*laptop-8"),
             "is the name of a machine"),
            (("new", "cluster", "lab", "--nodes", "8*laptop-8", "-o", "lab.xml"),
             "ends with .cluster.xml")]:
        result = bench.run(*words)
        tap.claim("refused, and why: " + " ".join(words), result.code > 0 and
                  expected in result.err, str(result))


def new_tests(tap, bench):
    os.chdir(bench.folder)
    bench.write("node.xml", platform(2))
    result = bench.run("new", "cluster", "lab", "--nodes", "3*./node.xml + 1*laptop-8",
                       "--network", "ib 2x100Gb/s", "--ranks-per-node", "2",
                       "--description", "a test")
    tap.claim("a cluster is made from options", result.code == 0, str(result))
    os.chdir("/")
    node = os.path.join(os.path.realpath(bench.folder), "node.xml")
    root = show(bench, "lab")
    tap.claim("it is found by its name, from everywhere",
              root["line"] == f"3*{node} + 1*laptop-8 + ib 2x100Gb/s ranks-per-node=2" and
              root["name"] == "lab" and root["description"] == "a test", str(root))
    listed = {m["name"]: m for m in json.loads(bench.run("list", "--json").out)}
    tap.claim("it is listed", listed["lab"]["cluster"] == root["line"] and
              listed["lab"]["nodes"] == 4 and "cluster" not in listed["epyc-64"],
              str(listed["lab"]))
    tap.claim("in the table as well", "a test" in bench.run("list").out)
    result = bench.run("new", "cluster", "lab", "--nodes", "1*laptop-8")
    tap.claim("nothing is replaced unasked", result.code == 1 and
              show(bench, "lab")["nodes"] == 4, str(result))
    result = bench.run("new", "cluster", "lab", "--nodes", "1*laptop-8", "--force",
                       "--json")
    tap.claim("with --force it is", json.loads(result.out)["nodes"] == 1 and
              show(bench, "lab")["nodes"] == 1, str(result))
    path = bench.path("own.cluster.xml")
    bench.run("new", "cluster", "own", "--nodes", "5*laptop-8", "-o", path)
    tap.claim("a path means the file", show(bench, path)["nodes"] == 5)
    with open(path, "w", encoding="utf-8") as file:
        file.write("<platform version='4.1'><host id='MAIN' speed='1f'/></platform>")
    result = bench.run("show", path)
    tap.claim("what is wrong with a file is said with its line", result.code == 1 and
              f"{path}:1: <host>" in result.err, str(result))


def picture_tests(tap, bench):
    os.chdir(bench.folder)
    path = bench.path("cluster.svg")
    for line, nboxes in [
            ("8*hgx-h100-8 + 4*epyc-64 + ib 8x400Gb/s fat-tree:32,2:1", 12),
            ("32*laptop-8", 32), ("31*laptop-8 + 2*epyc-64 + 10Gb/s torus:6x6", 2),
            ("1*epyc-64", 1), ("9999*mi300x-8 + 1Gb/s dragonfly g=9", 1),
            (" + ".join(["1*laptop-8"] * 9), 9)]:
        result = bench.run("show", line, "--svg", path)
        tap.claim(f"{line} is drawn", result.code == 0, str(result))
        root = ET.parse(path).getroot()
        boxes = [e for e in root.iter(SVG + "rect")
                 if e.get("fill") in ("#e6f4e6", "#e8f1fb")]
        tap.claim(f"{line}: boxes that are apart, inside the picture",
                  boxes_apart(root) and inside(root) and len(boxes) == nboxes,
                  f"{len(boxes)} boxes")


def doctor_tests(tap, bench):
    os.chdir(bench.folder)
    bench.write("node.xml", platform(2))
    for line, faults in [
            ("16*h100-pcie-4 + ib 2x200Gb/s fat-tree", []),
            ("8*h100-pcie-4 + ib 200GB/s", ["nic-slot", "nic-fast"]),
            ("8*h100-pcie-4 + ib 16x400Gb/s", ["nic-memory"]),
            ("4*epyc-64 + 100Mb/s", ["nic-slow"]),
            ("4*epyc-64 + 100Gb/s latency=1ns", ["latency-short", "hop"]),
            ("4*epyc-64 + 100Gb/s latency=1ms", ["latency-long"]),
            ("1*epyc-64 + 100Mb/s latency=1s", []),
            ("512*epyc-64 + 100Gb/s fat-tree:40,7:1", ["oversubscribed"]),
            ("4*laptop-8 + 100Gb/s ranks-per-node=9", ["ranks"]),
            ("7*epyc-64 + 100Gb/s torus:2x4", ["places"])]:
        result = bench.run("doctor", line, "--json")
        found = json.loads(result.out)["findings"]
        tap.claim(f"{line}: " + (", ".join(faults) or "healthy"),
                  [f["fault"] for f in found] == faults and
                  result.code == 0, str(result))
    bad = bench.write("bad.xml", platform(1).replace("1GBps", "1Bps", 1))
    result = bench.run("doctor", f"2*epyc-64 + 3*{bad} + 8Gb/s")
    tap.claim("what is wrong with the machine of a node is said with its nodes",
              f"nodes 2-4 ({bad}):" in " ".join(result.out.split()), str(result))


def edit_tests(tap, bench):
    line = "4*mi300x-8 + ib 200Gb/s"
    edits = ("--set", "network.latency *= 3; node[1].cuda.count = 4", "--set",
             "nic.count = 2")
    result = bench.run("show", line, *edits)
    tap.claim("what edits have changed is said",
              "what if network.latency *= 3: ib 200Gb/s -> ib 200Gb/s latency=3us" in
              result.err and "cuda.count = 4: node 1: 8 -> 4 CUDA" in result.err and
              result.code == 0, str(result))
    root = show(bench, line, *edits)
    tap.claim("and shown", [g["count"] for g in root["groups"]] == [1, 1, 2] and
              [g["edits"] for g in root["groups"]] == [None, "cuda.count = 4", None] and
              root["total"]["cuda"] == 28 and
              root["network"]["words"] == "ib latency=3us 2x200Gb/s", str(root))
    picture = bench.run("show", line, *edits, "--svg").out
    tap.claim("and drawn", "1 × mi300x-8, edited" in picture, picture)
    for edit, expected in [("node[4].cuda.count = 4", "there is no node 4"),
                           ("network = torus:1", "larger dimensions"),
                           ("disk.latency = 1", "has no unit"),
                           ("nic.count = 1.5", "1.5")]:
        result = bench.run("show", line, "--set", edit)
        tap.claim(f"refused, and why: {edit}", result.code == 1 and
                  expected in result.err, str(result))
    result = bench.run("doctor", line, "--set", "network.latency = 1ns", "--json")
    tap.claim("the doctor sees them, too", "latency-short" in result.out, str(result))
    result = bench.run("show", "epyc-64", "--set", "network.latency = 1us")
    tap.claim("one machine has no network", result.code == 1 and
              "of a cluster, and this is one machine" in result.err, str(result))


if __name__ == "__main__":
    run_all(os.path.abspath(sys.argv[1]), ("show", show_tests), ("wrong", wrong_tests),
            ("new", new_tests), ("picture", picture_tests),
            ("doctor", doctor_tests), ("edit", edit_tests))

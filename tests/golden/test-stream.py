#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that stream, as STREAM does, reach what the descriptions of the catalogue say
of main memory, and never more. Prints TAP.

usage: test-stream.py PLAYER
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

FOLDER = os.environ["ORRERY_PLATFORM_DIR"]
SIZE, ROUNDS = 16000000, 4


def stated(name):
    """Bytes per us by host."""
    root = ElementTree.parse(os.path.join(FOLDER, name, "platform.xml")).getroot()
    rates = {}
    for host in root.iter("host"):
        for prop in host.iter("prop"):
            if prop.get("id") == "orrery-memory-bandwidth":
                value = prop.get("value")
                unit = 1000 if value.endswith("GBps") else 1
                rates[host.get("id")] = float(value[:-4]) * unit
    cpus = sum(host.get("id").startswith("CPU") for host in root.iter("host"))
    return rates, cpus


def record(ntasks, us, mode, home):
    """Each task has a datum of its own."""
    calls = ["run", 'model 1 kind="per-arch" flags=4',
             'codelet 1 name="stream" cpu=1 buffers=-1 model=1']
    for i in range(1, ntasks + 1):
        calls.append('data %d kind="variable" shape=%d home=%d' % (i, SIZE, home))
        calls.append("submit %d codelet=1 times=%r,%r data=%d:%s" % (i, us, us, i,
                                                                     mode))
    calls.append("wait-all")
    calls += ["unregister %d" % i for i in range(1, ntasks + 1)]
    return "\n".join(["orrery-record 1"] + calls + ["end value=%d" % len(calls), ""])


def bandwidth(player, folder, name, text, moved, **more):
    """Bytes per us that all tasks moved together."""
    path, report = (os.path.join(folder, word) for word in ("record", "report"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("STARPU_", "ORRERY_"))
           or key in ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")}
    env.update(STARPU_SILENT="1", STARPU_SCHED="eager", STARPU_NCUDA="0",
               ORRERY_MACHINE=name, ORRERY_REPORT=report, **more)
    done = subprocess.run([player, path], env=env, text=True, timeout=120,
                          capture_output=True, check=False, errors="replace")
    if done.returncode != 0:
        return done.stderr
    with open(report, encoding="utf-8") as file:
        return moved / json.load(file)["makespan_us"]


def main():
    player, tap = sys.argv[1], Tap()
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(os.listdir(FOLDER)):
            rates, cpus = stated(name)
            if "RAM" not in rates or "MAIN" not in rates:
                continue
            ntasks, us = ROUNDS * cpus, 2 * SIZE / rates["MAIN"]
            most = min(rates["RAM"], cpus * rates["MAIN"])
            found = bandwidth(player, folder, name, record(ntasks, us, "rw", 0),
                              2 * SIZE * ntasks)
            tap.claim("%s streams %.1f GB/s" % (name, most / 1000),
                      isinstance(found, float) and 0.9 <= found / most <= 1,
                      "it streams", found)
            nodes = [rates[host] for host in rates if host[:3] == "RAM" and
                     host != "RAM"]
            if len(nodes) < 2:
                continue
            most = min(sum(nodes), cpus * rates["MAIN"])
            found = bandwidth(player, folder, name,
                              record(ntasks, us / 2, "w", -1), SIZE * ntasks,
                              STARPU_USE_NUMA="1")
            tap.claim("%s streams %.1f GB/s on %d nodes" % (name, most / 1000,
                                                           len(nodes)),
                      isinstance(found, float) and 0.9 <= found / most <= 1,
                      "it streams", found)
    tap.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery calibrate bus and runtime, and starpu_calibrate_bus: what they write
and where it is used afterwards. Nothing here depends on how fast the machine
is. usage: test-calibrate.py ORRERY STARPU_CALIBRATE_BUS PROGRAM"""
import json
import math
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
from tools_util import Tap, clean_environment, run  # noqa: E402

ORRERY, CALIBRATE_BUS, PROGRAM = sys.argv[1:4]
SUFFIXES = ["affinity", "latency", "bandwidth", "config", "platform.xml",
            "platform.v4.xml"]
KERNELS = ["alpha", "beta", "gamma", "delta"]
# Whatever others do on the machine: no claim is about how it is then.
QUICK = ("--quick", "--spread", "1000000%")
COSTS = ["submit", "submit-per-buffer", "push", "progress", "fetch", "wake", "wake-soon"]

tap = Tap()
top = tempfile.mkdtemp(prefix="orrery-calibrate-")


def environment(name, **more):
    folder = os.path.join(top, name)
    return folder, clean_environment(folder, "here", **more)


def bus(folder, suffix):
    return os.path.join(folder, "bus", "here." + suffix)


def there(folder, suffixes):
    return all(os.path.getsize(bus(folder, s)) > 0 for s in suffixes
               if os.path.exists(bus(folder, s))) and \
        all(os.path.exists(bus(folder, s)) for s in suffixes)


def parsed(result):
    try:
        return json.loads(result.out)
    except ValueError:
        return {}


def content(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def is_estimate(estimate):
    return estimate["median"] > 0 and estimate["samples"] > 0 and \
        estimate["spread"] >= 0 and \
        (estimate["low"] is None
         or estimate["low"] <= estimate["median"] <= estimate["high"])


# --- bus ---

folder, env = environment("bus")
picture = os.path.join(top, "bus.svg")
result = run(ORRERY, "calibrate", "bus", *QUICK, "--json", "--plot",
             picture, env=env)
found = parsed(result)
tap.claim("calibrate bus writes all files of this machine",
          result.code == 0 and there(folder, SUFFIXES + ["machine.xml"]),
          result)
within = [link for link in found.get("links", [])
          if link["from"] == link["to"]]
tap.claim("JSON has copies within each node, with spread and interval",
          len(within) == len(found["nodes"]) >= 1
          and all(is_estimate(link["bandwidth_MBps"])
                  and is_estimate(link["latency_us"])
                  and [size["bytes"] for size in link["sizes"]][0] == 1
                  for link in within), result)
tap.claim("each pair of different nodes is there in both directions",
          {(a["name"], b["name"]) for a in found["nodes"]
           for b in found["nodes"]}
          == {(link["from"], link["to"]) for link in found["links"]}, result)
tap.claim("the picture is drawn", os.path.getsize(picture) > 1000
          and content(picture).lstrip().startswith("<?xml"), result)
shown = run(ORRERY, "machine", "show", "here", "--json", env=env)
tap.claim("the machine is known by its name, with the description first",
          shown.code == 0
          and parsed(shown).get("file", "").endswith("here.machine.xml"),
          shown)
description = content(bus(folder, "machine.xml"))
tap.claim("the description has the memory and what a copy within it carries",
          'id="memsize"' in description
          and 'id="orrery-copy-bandwidth"' in description
          and 'id="orrery-copy-latency"' in description)
text = run(ORRERY, "calibrate", "bus", *QUICK, env=env)
tap.claim("the tables name the nodes, the spread and the files",
          text.code == 0 and "NUMA 0" in text.out and "spread" in text.out
          and bus(folder, "machine.xml") in text.out, text)
before = os.stat(bus(folder, "config")).st_ino
start = run(PROGRAM, "-tasks", "1", env=dict(env, STARPU_NCPU="1"))
tap.claim("programs find the files as if they had made them",
          start.code == 0
          and os.stat(bus(folder, "config")).st_ino == before, start)

# --- disks ---

folder, env = environment("disks")
here = os.path.join(top, "disk")
os.mkdir(here)
for way in "", "stdio:":
    result = run(ORRERY, "calibrate", "bus", *QUICK, "--json", "--disk",
                 way + here, env=env)
    links = {(link["from"], link["to"]): link
             for link in parsed(result).get("links", [])}
    tap.claim("--disk %s: links to and from the disk are measured"
              % (way or "PATH"),
              result.code == 0 and not os.listdir(here)
              and all(is_estimate(links[pair]["bandwidth_MBps"]) for pair in
                      (("NUMA 0", "Disk 0"), ("Disk 0", "NUMA 0"))), result)
tap.claim("the description has the disk, the bus files have not",
          'id="DISK0"' in content(bus(folder, "machine.xml"))
          and "Disk" not in "".join(
              line for line in content(bus(folder, "bandwidth")).splitlines()
              if not line.startswith("#"))
          and 'id="DISK0"' not in content(bus(folder, "platform.xml")))
result = run(PROGRAM, "-tasks", "1",
             env=dict(env, ORRERY_MACHINE="here", STARPU_DISK_SWAP=here,
                      ORRERY_ASSUME="; ".join(
                          f"kernel[busy_{name}] = 50us" for name in
                          ("alpha", "beta", "gamma", "delta"))))
tap.claim("the simulated machine has it",
          result.code == 0 and "without that disk" not in result.err, result)
before = content(bus(folder, "machine.xml"))
result = run(ORRERY, "calibrate", "bus", *QUICK, "--disk", "/proc/no/disk",
             env=env)
tap.claim("a disk that cannot be opened is named, and nothing is written",
          result.code == 1 and "--disk /proc/no/disk" in result.err
          and content(bus(folder, "machine.xml")) == before, result)

# --- several nodes: hwloc makes up the machine ---

folder, env = environment("nodes", HWLOC_SYNTHETIC="numa:3 core:2 pu:1",
                          STARPU_WORKERS_NOBIND="1")
result = run(ORRERY, "calibrate", "bus", *QUICK, "--json", env=env)
found = parsed(result)
tap.claim("three nodes have six links and three copies within",
          result.code == 0 and len(found["links"]) == 9
          and len({(k["from"], k["to"]) for k in found["links"]}) == 9, result)
kinds = [group["kind"] for group in found["crowds"]]
tap.claim("pairs are measured in both directions at once, and all at once",
          kinds.count("both ways") == 3 and kinds.count("all at once") == 1
          and all(group["total_MBps"] > 0 for group in found["crowds"]),
          result)
rows = [line.split("\t") for line in content(bus(folder, "bandwidth"))
        .splitlines() if not line.startswith("#")]
bandwidths = {(k["from"], k["to"]): k["bandwidth_MBps"]["median"]
           for k in found["links"]}
tap.claim("the matrix has the values that are shown, and 0 on the diagonal",
          all(float(rows[i][j]) == 0 if i == j else
              math.isclose(float(rows[i][j]),
                           bandwidths["NUMA %d" % i, "NUMA %d" % j],
                           rel_tol=1e-5)
              for i in range(3) for j in range(3))
          and rows[3][0] == "nan", result)
description = content(bus(folder, "machine.xml"))
tap.claim("the description has a host per node and a link per pair",
          all('<host id="RAM%d"' % i in description for i in range(3))
          and all('<link id="RAM%d-RAM%d" ' % (i, j) in description
                  for i in range(3) for j in range(3) if i != j))
tap.claim("a link has the spread by which its bandwidth was measured",
          description.count('id="orrery-spread"') ==
          sum(k["from"] != k["to"] and
              k["bandwidth_MBps"].get("spread") is not None
              for k in found["links"]), found["links"])
again = run(ORRERY, "machine", "show", "here", env=env)
tap.claim("such a description is read again", again.code == 0, again)
simulated = run(ORRERY, "run", "-m", "here",
                "--assume", "; ".join("kernel[%s] = 5us" % k
                                      for k in KERNELS),
                "--", PROGRAM, "-tasks", "1", env=env)
tap.claim("and simulated by SimGrid", simulated.code == 0, simulated)

# --- runtime ---

folder, env = environment("runtime")
result = run(ORRERY, "calibrate", "runtime", "--json", env=env)
costs = parsed(result).get("costs_us", {})
tap.claim("calibrate runtime measures what the runtime costs",
          result.code == 0
          and all(is_estimate(costs[name]) and costs[name]["simulated"]
                  for name in COSTS), result)
tap.claim("it says what this machine has no device for",
          all(costs[name] == {"missing": "no device has it"}
              for name in ("kernel-queue", "kernel-latency", "copy-queue", "device-alloc",
                           "device-free", "pinned-alloc-per-mib", "device-first-use-per-mib",
                           "event")), result)


tap.claim("what a core can do is kept, with its date and spread",
          all('id="%s"' % prop in content(bus(folder, "machine.xml"))
              for prop in ("orrery-peak-fp32", "orrery-peak-fp64",
                           "orrery-memory-bandwidth", "orrery-rates-date",
                           "orrery-rates-spread")))


def costs_of(env):
    return parsed(run(ORRERY, "machine", "show", "here", "--json",
                      env=env)).get("costs_us", {})


kept = costs_of(env)
tap.claim("the description of this machine has the costs",
          all(math.isclose(kept[name], costs[name]["median"], rel_tol=1e-4)
              for name in COSTS) and kept["kernel-queue"] is None)
result = run(ORRERY, "calibrate", "bus", *QUICK, env=env)
tap.claim("measuring the bus keeps the costs",
          result.code == 0 and costs_of(env) == kept
          and "orrery-copy-bandwidth" in content(bus(folder, "machine.xml")),
          result)
whole = content(bus(folder, "machine.xml"))
memory = whole[whole.index('<host id="RAM"'):]
result = run(ORRERY, "calibrate", "runtime", env=env)
tap.claim("measuring costs keeps the bus",
          result.code == 0 and "no device has it" in result.out
          and content(bus(folder, "machine.xml")).endswith(memory), result)

copy = os.path.join(top, "copy.xml")
result = run(ORRERY, "machine", "copy", copy, env=env)
tap.claim("a copy of this machine is the calibrated one",
          result.code == 0 and "orrery-cost-submit" in content(copy)
          and "calibrate has measured" in result.out, result)
plain, plain_env = environment("none")
result = run(ORRERY, "machine", "copy", copy + "2.xml", env=plain_env)
tap.claim("without calibration it is what hwloc finds",
          result.code == 0 and "orrery-cost" not in content(copy + "2.xml")
          and "links and the runtime's own costs not calibrated" in result.out,
          result)

# --- what goes wrong ---

before = {name: content(bus(folder, name))
          for name in ("bandwidth", "latency", "machine.xml")}
result = run(ORRERY, "calibrate", "bus", "--quick", "--spread", "0%", env=env)
tap.claim("bandwidths that spread more than they may are not stored, and named",
          result.code == 1 and "NUMA 0 to NUMA 0: " in result.err
          and "nothing was stored" in result.err
          and result.err.count("--spread ") == 1
          and before == {name: content(bus(folder, name)) for name in before},
          result)
fresh, fresh_env = environment("noisy")
result = run(ORRERY, "calibrate", "bus", "--quick", "--spread", "0%", env=fresh_env)
doctor = run(ORRERY, "machine", "doctor", env=fresh_env)
tap.claim("the doctor of a host that was not measured says how it is",
          doctor.code == 1 and "has not been measured: orrery calibrate bus" in doctor.err
          and "unknown machine" not in doctor.err, doctor)
tap.claim("nor where nothing was there before",
          result.code == 1 and not os.path.exists(bus(fresh, "machine.xml")), result)

for words, says in [(["--no"], "--no"), (["here"], "not understood"),
                    (["--spread", "0.8"], "percentage"), (["--spread", "-1%"], "percentage"),
                    (["--plot", "x.gif"], ".svg")]:
    result = run(ORRERY, "calibrate", "bus", *words, env=env)
    tap.claim("calibrate bus %s is a wrong command line" % " ".join(words),
              result.code == 2 and says in result.err, result)
result = run(ORRERY, "calibrate", "runtime", "now", env=env)
tap.claim("so is calibrate runtime now", result.code == 2, result)
for word in ("bus", "runtime"):
    result = run(ORRERY, "calibrate", word, "--help", env=env)
    tap.claim("calibrate %s has a help with an example" % word,
              result.code == 0 and "example: orrery calibrate " + word
              in result.out, result)
    occupied = os.path.join(top, "occupied")
    with open(occupied, "w", encoding="ascii"):
        pass
    result = run(ORRERY, "calibrate", word,
                 env=dict(env, STARPU_PERF_MODEL_DIR=occupied))
    tap.claim("calibrate %s names a place that cannot be written" % word,
              result.code == 1 and occupied in result.err, result)
with open(bus(folder, "machine.xml"), "w", encoding="ascii") as file:
    file.write("<platform version='4.1'>")
result = run(ORRERY, "calibrate", "runtime", env=env)
tap.claim("a broken description is named and left alone",
          result.code == 1 and "here.machine.xml" in result.err
          and content(bus(folder, "machine.xml"))
          == "<platform version='4.1'>", result)

# --- StarPU's program ---

folder, env = environment("starpu", ORRERY_MACHINE="none-such")
result = run(CALIBRATE_BUS, "-f", env=env)
tap.claim("starpu_calibrate_bus makes the files and names them",
          result.code == 0 and there(folder, SUFFIXES)
          and bus(folder, "bandwidth") in result.out, result)
before = os.stat(bus(folder, "config")).st_ino
with open(bus(folder, "affinity"), "w", encoding="ascii") as file:
    file.write("# old\n")
result = run(CALIBRATE_BUS, env=env)
tap.claim("each time anew", result.code == 0
          and "old" not in content(bus(folder, "affinity")), result)
result = run(CALIBRATE_BUS, "--what", env=env)
tap.claim("an unknown option is refused", result.code == 2
          and "--what" in result.err, result)

shutil.rmtree(top)
tap.end()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A run with a bit of everything, simulated and real, in each format of traces: what
readers that are not ours add up is what its report says. TAP.

usage: test-trace-totals.py ORRERY MEDLEY [--full]
"""
import collections
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402

FULL = "--full" in sys.argv
if len(sys.argv) != 3 + FULL:
    sys.exit(__doc__.strip())
ORRERY, MEDLEY = map(os.path.abspath, sys.argv[1:3])
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
GPUS = "h100-pcie-4"
N = 3
KINDS = ["reduction", "partition", "contexts", "disk", "parallel", "eviction", "acquire",
         "waits"]
# µs in which kernels ran, without those in which they waited; None: it does not say.
Totals = collections.namedtuple("Totals", "tasks us waits_us copies bytes")
ENV = {name: value for name, value in os.environ.items()
       if not name.startswith("STARPU_") and
       name not in ("ORRERY_MACHINE", "ORRERY_CHECK_BOUNDS")}
ENV.update(STARPU_HOME=TOP.name, STARPU_SILENT="1", LC_ALL="C.UTF-8", TMPDIR=TOP.name,
           STARPU_NCPU="2", STARPU_PERF_MODEL_DIR=os.path.join(TOP.name, "models"),
           STARPU_LIMIT_CUDA_MEM="2")


def traced(extension, machine, kinds):
    """The path of a trace, beside which is the graph, and the report of the same run."""
    folder = tempfile.mkdtemp(dir=TOP.name)
    path = os.path.join(folder, "run." + extension)
    policy = "pheft" if "parallel" in kinds else "dmda"
    options = ("-m", machine, "--assume", "kernel[*] = 100us") if machine else ()
    done = subprocess.run(
        [ORRERY, "trace", *options, "-s", policy, "--json", "-o", path,
         *(("--graph", os.path.join(folder, "run.graph")) if kinds else ()), "--",
         MEDLEY, str(N), *kinds], env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=100, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return path, json.loads(done.stdout)


def pieces_of(program, *words):
    """What it prints, without a warning."""
    if not shutil.which(program):
        raise Skip(f"there is no {program}")
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8")
    assert done.stderr == "", done.stderr
    return done.stdout.splitlines()


def of_csv(path):
    sums = collections.Counter()
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, strict=True):
            kind = row["record"]
            sums[kind] += 1
            sums[kind, "us"] += 1000 * (float(row["end_ms"]) - float(row["start_ms"]))
            sums[kind, "bytes"] += int(row["bytes"] or 0)
    waits = sums["suspended", "us"]
    return Totals(sums["task"], sums["task", "us"] - waits, waits, sums["copy"],
                  sums["copy", "bytes"])


def of_json(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    tasks = [event for event in events if event.get("cat") == "task"]
    copies = [event for event in events if event["ph"] == "X" and event["pid"] == 2]
    return Totals(len({event["args"]["job"] for event in tasks}),
                  sum(event["dur"] for event in tasks), None, len(copies),
                  sum(event["args"]["bytes"] for event in copies))


def of_paje(path):
    rows = [line.split(", ") for line in pieces_of("pj_dump", "--user-defined", path)]
    tasks = [row for row in rows if row[0] == "State" and len(row) > 8]
    copies = [row for row in rows if row[0] == "Link" and row[2] != "Work steal"]
    return Totals(len({row[12] for row in tasks}),
                  1000 * sum(float(row[5]) for row in tasks), 0, len(copies),
                  sum(float(row[6]) for row in copies))


def of_dot(path):
    nodes = [line for line in pieces_of("dot", "-Tplain", path)
             if line.startswith("node ")]
    return Totals(len(nodes), None, None, None, None)


def of_rec(path):
    with open(path, encoding="utf-8") as file:
        records = [dict(line.split(": ", 1) for line in block.splitlines())
                   for block in file.read().split("\n\n") if block.strip()]
    tasks = [record for record in records if "Control" not in record]
    return Totals(len(tasks), 1000 * sum(
        float(task["EndTime"]) - float(task["StartTime"]) for task in tasks), None, None,
        None)


FORMATS = {"csv": of_csv, "json": of_json, "paje": of_paje, "dot": of_dot, "rec": of_rec}


def compare(extension, machine, kinds, waits_us):
    """waits_us: what kernels waited where the format does not tell; None: not known."""
    path, report = traced(extension, machine, kinds)
    found = FORMATS[extension](path)
    busy = sum(worker["busy_us"] for worker in report["workers"])
    if found.waits_us is None:
        busy = None if waits_us is None else busy + waits_us
    wanted = Totals(report["tasks"], busy, None, report["transfers"],
                    report["transferred_bytes"])
    # A simulated kernel's own calls take time in the trace, and are none of its length.
    slack = 0.5 + 3 * N * (machine is not None and "waits" in kinds)
    for name, a, b in zip(Totals._fields, found, wanted):
        if a is not None and b is not None:
            assert abs(a - b) <= 1e-6 * abs(b) + (slack if name == "us" else 0), (
                extension, machine, kinds, name, found, wanted)
    return found


def runs(machine, kinds):
    """A simulation is the same in each format: how long its kernels wait is in CSV."""
    first = compare("csv", machine, kinds, 0)
    assert first.tasks > 0 and (first.waits_us > 0) == ("waits" in kinds), first
    known = machine or "waits" not in kinds
    for extension in FORMATS:
        if extension != "csv":
            compare(extension, machine, kinds, first.waits_us if known else None)


@test
def each_format_of_a_simulated_run_has_the_totals_of_its_report():
    runs(GPUS, [kind for kind in KINDS if kind not in ("disk", "parallel")])


@test
def each_format_of_a_real_run_has_the_totals_of_its_report():
    runs(None, [kind for kind in KINDS if kind not in ("waits", "parallel")])


@test
def explanations_add_up_to_the_trace():
    for machine, left_out in (GPUS, ("disk", "parallel")), (None, ("parallel",)):
        path, _ = traced("csv", machine, [kind for kind in KINDS if kind not in left_out])
        said = json.loads("".join(pieces_of(ORRERY, "explain", "--json", path)))
        busy = sum(worker["busy_ms"] for worker in said["idle"])
        assert abs(1000 * busy - of_csv(path).us) < 0.5, (busy, of_csv(path))
        for worker in said["idle"]:
            assert abs(worker["busy_ms"] + sum(worker["causes_ms"].values()) -
                       said["makespan_ms"]) < 1e-6, worker
        links = said["critical_path"]
        assert abs(sum(link["end_ms"] - link["start_ms"] for link in links) -
                   said["makespan_ms"]) < 1e-6, links


@test
def each_kind_of_run_alone_has_the_totals_of_its_report():
    if not FULL:
        return
    for kind in KINDS + ["none", "acquire rounds"]:
        kinds = kind.split()
        if kind == "none":
            for machine in (GPUS, None):
                assert compare("csv", machine, [], 0).tasks == 0
            continue
        runs(None, kinds)
        if kind != "disk":
            runs(GPUS, kinds)


sys.exit(run_all())

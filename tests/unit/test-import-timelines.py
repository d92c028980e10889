#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Timelines in the place of a program: what is made of kernels, queues, copies, launches and
waits; files that are cut, compressed, or wrong. Prints TAP.

usage: test-import-timelines.py ORRERY RECORDED
"""
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from timeline_files import Loop, kineto, write_kineto, write_nsys  # noqa: E402
from tools_util import Tap   # noqa: E402, pylint: disable=wrong-import-position

ORRERY, RECORDED = sys.argv[1:3]
MACHINE = "h100-pcie-4"
tap = Tap()


def run(*words, **more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("STARPU_") and not name.startswith("ORRERY_RECORD")}
    env.update(STARPU_SILENT="1", STARPU_PERF_MODEL_DIR="/nonexistent", **more)
    done = subprocess.run(words, env=env, text=True, capture_output=True, errors="replace",
                          timeout=100, check=False)
    done.words = "%s\n%s%s" % (words, done.stdout, done.stderr)
    return done


def write(path, content):
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def lines_of(path, *words, **more):
    record = path + ".rec"
    if os.path.exists(record):
        os.remove(record)
    done = run(ORRERY, "record", "import", "-o", record, path, *words, **more)
    if done.returncode:
        return [], done
    with open(record, encoding="utf-8") as file:
        return file.read().splitlines(), done


class Graph:
    """The tasks of a record: their kernels, times, data, and what they wait for."""

    def __init__(self, lines):
        self.kernels, self.tasks, self.before, self.bytes = {}, {}, {}, {}
        iteration = None
        for line in lines:
            word, _, rest = line.partition(" ")
            fields = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', rest))
            if word == "codelet":
                self.kernels[rest.split()[0]] = fields["name"].strip('"')
            elif word == "data":
                self.bytes[rest.split()[0]] = int(fields.get("shape", 0))
            elif word == "iteration":
                iteration = None if "how=end" in line else int(fields.get("value", 0))
            elif word == "depend":
                self.before[rest.split()[0]] = fields["before"].split(",")
            elif word == "submit":
                fields["iteration"] = iteration
                self.tasks[rest.split()[0]] = fields

    def kernel(self, task):
        return self.kernels[self.tasks[task]["codelet"]]

    def of(self, kernel):
        return [task for task in self.tasks if self.kernel(task) == kernel]

    def us(self, task, kind):
        return float(self.tasks[task]["times"].split(",")[kind])

    def waits(self, task):
        return [self.kernel(one) for one in self.before.get(task, [])]


def makespan(path, *words, machine=MACHINE, **more):
    done = run(ORRERY, "run", "-m", machine, "--json", *words, "--", path, **more)
    return json.loads(done.stdout)["makespan_us"] if done.returncode == 0 else done.words


def test_kineto(folder):
    loop = Loop()
    path = write_kineto(os.path.join(folder, "train.pt.trace.json"), loop)
    lines, done = lines_of(path)
    graph = Graph(lines)
    gemms = graph.of("gemm")
    tap.claim("a kernel is a task of devices, with a short name and the mean time of those that "
              "are alike", all([graph.us(task, kind) for task in gemms] == [500, 1000] * 3
                               for kind in (1, 2, 3)) and
              all(graph.tasks[task]["times"].startswith("nan,") for task in gemms), done.words,
              *lines)
    tap.claim("shapes of the operator are in the footprint",
              len({graph.tasks[task]["footprint"] for task in gemms}) == 2, *lines)
    tap.claim("names without templates, parameters and anonymous namespaces",
              len(graph.of("at::native::norm")) == 3, *lines)
    tap.claim("what is launched waits for what the host did until then",
              graph.waits(gemms[0]) == ["aten::linear"] and
              graph.us(graph.of("aten::linear")[0], 0) == 25, *lines)
    tap.claim("a queue is a datum that its tasks write in turn",
              [graph.tasks[task]["data"] for task in gemms[:2]] == ["1:rw", "1:rw"], *lines)
    tap.claim("an event: one queue waits for another",
              "gemm" in graph.waits(graph.of("at::native::norm")[0]) and
              "at::native::norm" in graph.waits(graph.of("Memcpy DtoH")[0]), *lines)
    copies = graph.of("Memcpy HtoD")
    tap.claim("a copy to the device takes no time, and reads what the host has written",
              graph.us(copies[0], 1) < 0.01 and
              any(graph.bytes.get(use.split(":")[0]) == 4 << 20 and use.endswith(":r")
                  for use in graph.tasks[copies[0]]["data"].split(",")), *lines)
    reads = [task for task in graph.of("aten::copy_")[1:]
             if any(use.endswith(":r") for use in graph.tasks[task].get("data", "").split(","))]
    tap.claim("what comes back is read by the host behind its wait", len(reads) == 2, *lines)
    tap.claim("the steps of the profiler are iterations",
              [graph.tasks[task]["iteration"] for task in gemms] == [0, 0, 1, 1, 2, 2], *lines)
    us = makespan(path, "-s", "dmdas")
    tap.claim("simulated on such a machine it takes about as long",
              isinstance(us, float) and abs(us / loop.length_us() - 1) < 0.15, us,
              loop.length_us())
    half = makespan(path, "-s", "dmdas", "--set", "kernel[gemm] on cuda *= 2")
    tap.claim("a kernel that is twice as fast",
              isinstance(half, float) and abs(us - half - 2250) < 100, us, half)
    for command in ("replay", "compare", "bound", "explain", "advise"):
        words = {"replay": [path, "-m", MACHINE], "advise": ["-m", MACHINE, "--draws", "8", path]}
        done = run(ORRERY, command, *words.get(command, ["-m", MACHINE, "--", path]))
        tap.claim("orrery %s takes a timeline" % command, done.returncode == 0, done.words)
    return path


def test_rules(path):
    lines, done = lines_of(path, "--kinds", "name")
    tap.claim("--kinds name: whole names of kernels",
              len(Graph(lines).of("void gemm<float, 4>(int, float*)")) == 6, done.words, *lines)
    lines, done = lines_of(path, "--kinds", "*gemm*=matrix; field:stream")
    graph = Graph(lines)
    tap.claim("--kinds with a pattern, and a field of the arguments",
              len(graph.of("matrix")) == 6 and len(graph.of("20")) == 3, done.words, *lines)


def test_memory(folder):
    loop = Loop()
    document = kineto(loop)
    document["traceEvents"] += [
        {"ph": "i", "name": "[memory]", "pid": 11, "tid": 11, "ts": 1001, "args": {
            "Device Type": 1, "Device Id": 0, "Total Allocated": total, "Bytes": 1}}
        for total in (1 << 30, 3 << 30)]
    lines, done = lines_of(write(os.path.join(folder, "memory.json"), json.dumps(document)))
    graph = Graph(lines)
    tap.claim("queues share the memory that PyTorch had in use",
              graph.bytes["1"] == 3 << 29 and graph.bytes.get("3", 3 << 29) == 3 << 29,
              done.words, *lines)


def test_lost(folder):
    document = kineto(Loop())
    document["traceEvents"] = [event for event in document["traceEvents"]
                               if event.get("cat") not in ("cuda_sync", "cuda_runtime")]
    _, done = lines_of(write(os.path.join(folder, "lost.json"), json.dumps(document)))
    tap.claim("what the file lacks is said: launches, waits of queues",
              "18 kernels and copies without a launch" in done.stderr and
              "2 queues, and no wait" in done.stderr, done.words)


def test_overlap(folder):
    events = [{"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": stream, "ts": start,
               "dur": 100, "args": {"device": device, "stream": stream}}
              for device, stream, start in ((0, 7, 0), (0, 8, 50), (0, 7, 200), (1, 7, 0))]
    path = write(os.path.join(folder, "overlap.json"), json.dumps(events))
    lines, done = lines_of(path)
    tap.claim("streams that overlap: how much that was",
              "12 % of the time of kernels was beside others" in done.stderr, done.words)
    tap.claim("… devices have their own kernels", makespan(path, "-s", "eager") < 310, *lines)


def test_cut(folder, path):
    with open(path, "rb") as file:
        whole = file.read()
    cut = os.path.join(folder, "cut.json")
    counts, wrong = [], []
    for size in range(400, len(whole), 331):
        lines, done = lines_of(write(cut, whole[:size]))
        said = "the file ends behind event" in done.stderr
        counts.append(sum(line.startswith("submit") for line in lines))
        if done.returncode not in (0, 1) or (done.returncode == 0 and not said) or \
                (done.returncode == 1 and "no event in it" not in done.stderr and
                 "no list of events" not in done.stderr):
            wrong.append((size, done.words))
    tap.claim("a file that is cut anywhere: what comes before is used, and that is said",
              not wrong and max(counts) > 30, *wrong[:3])
    with gzip.open(path + ".gz", "wb") as file:
        file.write(whole)
    os.rename(path + ".gz", os.path.join(folder, "packed.json.gz"))
    packed = os.path.join(folder, "packed.json.gz")
    tap.claim("a file that is compressed gives the same record",
              lines_of(packed)[0] == lines_of(path)[0])
    with open(packed, "rb") as file:
        content = file.read()
    lines, done = lines_of(write(packed, content[:len(content) // 2]))
    with open(path, "rb") as file:
        piped = subprocess.run([ORRERY, "replay", "-", "-m", MACHINE], input=gzip.compress(
            file.read()), env=dict(os.environ, STARPU_SILENT="1"), capture_output=True,
            timeout=100, check=False)
    tap.claim("… also on standard input", piped.returncode == 0 and b"makespan" in piped.stdout,
              piped.stderr)
    tap.claim("… one of which the half is there, a part", lines and
              "the file ends behind event" in done.stderr, done.words)


def test_nsys(folder, path):
    export = write_nsys(os.path.join(folder, "train.sqlite"), Loop())
    lines, done = lines_of(export)
    graph = Graph(lines)
    tap.claim("Nsight Systems: kernels, launches, events, copies",
              [graph.us(task, 1) for task in graph.of("gemm")] == [750] * 6 and
              graph.waits(graph.of("gemm")[0]) == ["cudaLaunchKernel"] and
              "gemm" in graph.waits(graph.of("at::native::norm")[0]) and
              len(graph.of("Memcpy HtoD")) == 3, done.words, *lines)
    us, other = makespan(export, "-s", "dmdas"), makespan(path, "-s", "dmdas")
    tap.claim("… simulated as the trace of PyTorch is", isinstance(us, float) and
              abs(us / other - 1) < 0.01, us, other)
    empty = os.path.join(folder, "empty.sqlite")
    base = sqlite3.connect(empty)
    base.execute("create table other (x integer)")
    base.commit()
    base.close()
    _, done = lines_of(empty)
    tap.claim("another SQLite file is refused", done.returncode == 1 and
              "no export of Nsight Systems" in done.stderr, done.words)
    with open(export, "rb") as file:
        content = file.read()
    _, done = lines_of(write(empty, content[:len(content) // 2]))
    tap.claim("a broken one, too", done.returncode == 1 and "empty.sqlite" in done.stderr,
              done.words)


def test_devices(folder, path):
    """A timeline of one device, and the same several times."""
    record = path + ".rec"
    lines, done = lines_of(path)
    tap.claim("queues keep the number of their device", any("device=0" in line for line in lines),
              done.words)
    free = Graph(lines_of(path, "--any-device")[0])
    tap.claim("--any-device: or go anywhere",
              not any("device" in task for task in free.tasks.values()))
    one, twin = os.path.join(folder, "one.rec"), os.path.join(folder, "copies.rec")
    os.replace(record, one)
    n, megabytes = 4, 500
    done = run(ORRERY, "record", "import", "-o", twin, "--replicas", str(n), "--exchange",
               "%dMB" % megabytes, path)
    with open(twin, encoding="utf-8") as file:
        graph = Graph(file.read().splitlines())
    tap.claim("--replicas: each on a device of its own, with the exchange behind each iteration",
              len(graph.of("gemm")) == 6 * n and
              len({graph.tasks[task]["device"] for task in graph.of("gemm")}) == n and
              len(graph.of("gradients")) == len(graph.of("sums")) == 3 * n and
              len(graph.of("add neighbour's")) == len(graph.of("take neighbour's")) ==
              3 * n * (n - 1) and graph.tasks[graph.of("sums")[0]]["iteration"] == 0,
              done.words)
    results = {}
    for name in (one, twin):
        for machine in ("hgx-h100-8", "a100-pcie-1"):
            ran = run(ORRERY, "run", "-m", machine, "-s", "dmdas", "--json", "--", name)
            results[name, machine] = json.loads(ran.stdout)
    copies = results[twin, "hgx-h100-8"]
    between = sum(link["bytes"] for link in copies["links"]
                  if link["from"].startswith("CUDA") and link["to"].startswith("CUDA"))
    tap.claim("a ring carries 2 (n-1)/n of the bytes from each, and nothing else moves",
              abs(between / (3 * 2 * (n - 1) * megabytes * 1e6) - 1) < 1e-6, between)
    tap.claim("on eight devices four copies take a little longer than one, on one device four "
              "times as long",
              results[one, "hgx-h100-8"]["makespan_us"] < copies["makespan_us"] and
              results[twin, "a100-pcie-1"]["makespan_us"] >
              3.5 * results[one, "a100-pcie-1"]["makespan_us"],
              *(value["makespan_us"] for value in results.values()))
    plain = write(os.path.join(folder, "graph.csv"), "from,to\na,b\n")
    for words, said in ((["--replicas", "0", path], "--replicas takes a number from 1"),
                        (["--exchange", "1GB", path], "--exchange is between replicas"),
                        (["--replicas", "2", "--exchange", "-1", path], "--exchange takes bytes"),
                        (["--replicas", "2", "--exchange", "1GB", plain],
                         "--exchange is for timelines"),
                        (["--replicas", "2", one], "is a record")):
        done = run(ORRERY, "record", "import", "-o", record, *words)
        tap.claim("%s: %s" % (" ".join(words[:-1]), said),
                  done.returncode != 0 and said in done.stderr, done.words)
    done = run(ORRERY, "record", "import", "-o", record, "--replicas", "3", plain)
    tap.claim("--replicas of any graph", done.returncode == 0 and "6 tasks" in done.stdout,
              done.words)


def test_models(folder, path):
    """What kernels took, as models of a machine."""
    models, record = os.path.join(folder, "models.json"), os.path.join(folder, "modelled.rec")
    kept = os.path.join(folder, "sampling")
    os.mkdir(kept)
    done = run(ORRERY, "record", "import", "-o", record, "--replicas", "2", "--models", models,
               path)
    with open(models, encoding="utf-8") as file:
        told = {model["symbol"]: model for model in json.load(file)["models"]}
    rows = told["gemm"]["combinations"][0]["implementations"][0]["entries"]
    tap.claim("--models: a history per kernel, a row per footprint, for all devices",
              sorted(told) == ["add", "at::native::norm", "gemm"] and
              sorted(row["mean"] for row in rows) == [500, 1000] and
              all(row["n"] == 3 and row["deviation"] == 0 for row in rows) and
              [c["devices"][0]["id"] for c in told["gemm"]["combinations"]] == [0, 1],
              done.words, told)
    env = dict(os.environ, STARPU_PERF_MODEL_DIR=kept, STARPU_SILENT="1")
    made = subprocess.run([ORRERY, "perfmodel", "import", "--host", MACHINE, models], env=env,
                          capture_output=True, text=True, check=False)
    ran = subprocess.run([ORRERY, "run", "-m", MACHINE, "-s", "dmdas", "--json", "--", record],
                         env=env, capture_output=True, text=True, check=False)
    told = json.loads(ran.stdout)
    tap.claim("… that orrery perfmodel takes, and simulations: the same time, by models",
              made.returncode == 0 and
              abs(told["makespan_us"] / makespan(record, "-s", "dmdas") - 1) < 1e-3 and
              "for workers that this machine has not" not in ran.stderr, made.stderr,
              ran.stderr, told["makespan_us"])
    done = run(ORRERY, "record", "import", "-o", record, "--models", models,
               write(os.path.join(folder, "plain.csv"), "from,to\na,b\n"))
    tap.claim("--models of what has none is refused", done.returncode == 1 and
              "of which models could be made" in done.stderr, done.words)


def test_threads(folder):
    events = [{"ph": "B", "name": "compile a.c", "pid": 1, "tid": 1, "ts": 0},
              {"ph": "B", "name": "parse", "pid": 1, "tid": 1, "ts": 1},
              {"ph": "E", "pid": 1, "tid": 1, "ts": 2}, {"ph": "E", "pid": 1, "tid": 1, "ts": 10},
              {"ph": "X", "name": "compile b.c", "pid": 1, "tid": 2, "ts": 0, "dur": 20},
              {"ph": "X", "name": "link", "pid": 1, "tid": "1", "ts": 20, "dur": 5},
              {"ph": "C", "name": "count", "pid": 1, "ts": 3, "args": {"n": 1}}]
    path = write(os.path.join(folder, "build.trace"), json.dumps(events))
    lines, done = lines_of(path)
    graph = Graph(lines)
    tap.claim("slices of threads: the outermost are tasks, a thread's one after the other",
              sorted(graph.us(task, 0) for task in graph.tasks) == [5, 10, 20] and
              graph.waits(graph.of("link")[0]) == ["compile a.c"], done.words, *lines)
    events += [{"ph": "s", "id": 1, "cat": "needs", "pid": 1, "tid": 1, "ts": 10},
               {"ph": "f", "id": 1, "cat": "needs", "pid": 1, "tid": 1, "ts": 20, "bp": "e"},
               {"ph": "s", "id": 2, "cat": "needs", "pid": 1, "tid": 2, "ts": 19},
               {"ph": "f", "id": 2, "cat": "needs", "pid": 1, "tid": 1, "ts": 19.5}]
    lines, done = lines_of(write(path, json.dumps(events)))
    graph = Graph(lines)
    tap.claim("arrows lead to the slice around them, or to the next one",
              sorted(graph.waits(graph.of("link")[0])) == ["compile a.c", "compile b.c"],
              done.words, *lines)
    lines, done = lines_of(write(path, json.dumps(events[:3])))
    tap.claim("what was open at the end ends with the file", lines and
              "1 slices have no end" in done.stderr, done.words)


def test_ours(folder):
    trace, twin = os.path.join(folder, "ours.json"), os.path.join(folder, "ours.csv")
    for path in (trace, twin):
        done = run(ORRERY, "trace", "-m", MACHINE, "-s", "dmdas", "--assume", "kernel[*] = 3ms",
                   "-o", path, "--", RECORDED)
    lines, imported = lines_of(trace)
    tasks = sum(" codelet=" in line for line in lines)
    with open(twin, encoding="utf-8") as file:
        expected = sum(line.startswith("task,") for line in file)
    tap.claim("what Orrery has written: its tasks, with the arrows' dependencies",
              tasks == expected > 0 and any(line.startswith("depend") for line in lines),
              done.words, imported.words)


def test_wrong(folder):
    path = os.path.join(folder, "wrong.json")
    slice_ = {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 1}
    for event, said in (("x", "event 1 is text, not an object"),
                        (dict(slice_, ts="soon"), "event 1: ts is text, not a number"),
                        (dict(slice_, ts=None), 'event 1 has no time, "ts"'),
                        (dict(slice_, dur=-1), "event 1 takes -1"),
                        (dict(slice_, dur=[1]), "event 1: dur is a list, not a number"),
                        (dict(slice_, name=5), "event 1: name is a number, not text"),
                        (dict(slice_, args=[]), "event 1: args is a list, not an object"),
                        (dict(slice_, ph=7), "event 1: ph is a number, not text"),
                        (dict(slice_, cat="gpu_memcpy", args={"bytes": -3}), "event 1: -3 bytes"),
                        (dict(slice_, ph="i"), "there is no event in it that takes time")):
        _, done = lines_of(write(path, json.dumps({"traceEvents": [event]})))
        tap.claim("wrong: %s" % said, done.returncode == 1 and said in done.stderr, done.words)
    for text, said in (('{"displayTimeUnit": "ms"}', "there is no list of events"),
                       ('{"displayTimeUnit": "ms", "traceEvents": 5}', "there is no list of"),
                       ('[\n{"ph": "X",\n"name": }]', "wrong.json:3: ")):
        _, done = lines_of(write(path, text))
        tap.claim("wrong: %s" % text.replace("\n", " "), done.returncode == 1 and said in done.stderr, done.words)


def test_locale(path):
    tap.claim("numbers have points in every locale",
              lines_of(path)[0] == lines_of(path, LC_ALL="de_DE.UTF-8")[0] != [])


def test_report(folder, path):
    trace, page = os.path.join(folder, "was.csv"), os.path.join(folder, "page.html")
    _, done = lines_of(path, "--timeline", trace)
    with open(trace, encoding="utf-8") as file:
        rows = file.read().splitlines()
    tap.claim("--timeline: the timeline as a trace: queues and threads, kernels, copies",
              sum(row.startswith("worker,") for row in rows) == 3 and
              sum(row.startswith("task,") and '"gemm"' in row for row in rows) == 6 and
              sum(row.startswith("copy,") for row in rows) == 6, done.words, *rows[:8])
    done = run(ORRERY, "report", "-o", page, "--plain", trace)
    tap.claim("orrery report shows it", done.returncode == 0, done.words)
    done = run(ORRERY, "report", "-m", MACHINE, "-s", "dmdas", "--plain", "--beside", path, "-o",
               page, "--", path)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))
    names = [worker["name"] for worker in data["workers"]]
    where = [names[worker].split()[0] for worker in data["tasks"]["worker"]]
    begins = {kind: sum(data["tasks"]["start"][:where.index(kind) + 1])
              for kind in ("simulated", "measured")}
    tap.claim("orrery report --beside: the run as it was beside the simulated one",
              "measured GPU 0 stream 7" in names and where.count("measured") > 18 and
              where.count("simulated") > 18 and begins["measured"] == begins["simulated"] == 0 and
              data["other"]["label"] == "measured" and
              all((worker["node"] >= data["other"]["node"]) ==
                  worker["name"].startswith("measured ") for worker in data["workers"]),
              done.words, names, begins)
    done = run(ORRERY, "report", "-o", page, "--plain", "--beside", trace, trace)
    tap.claim("… or a trace beside another one", done.returncode == 0, done.words)
    for words, said in ((["--beside", "/nonexistent", trace], "No such file"),
                        (["--beside", page, trace], "page.html")):
        done = run(ORRERY, "report", "-o", page, *words)
        tap.claim("--beside %s is refused" % words[1], done.returncode != 0 and
                  said in done.stderr, done.words)
    _, done = lines_of(write(os.path.join(folder, "e.csv"), "from,to\na,b\n"), "--timeline",
                       trace)
    tap.claim("--timeline of what is none is refused", done.returncode == 1 and
              "is no timeline" in done.stderr, done.words)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = test_kineto(folder)
        test_rules(path)
        test_memory(folder)
        test_lost(folder)
        test_overlap(folder)
        test_cut(folder, path)
        test_nsys(folder, path)
        test_devices(folder, path)
        test_models(folder, path)
        test_threads(folder)
        test_ours(folder)
        test_wrong(folder)
        test_locale(path)
        test_report(folder, path)
    tap.end()


if __name__ == "__main__":
    main()

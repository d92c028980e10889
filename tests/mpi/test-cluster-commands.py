#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands on simulated clusters: -m 'N*MACHINE + NETWORK'. Prints TAP.
usage: test-cluster-commands.py [ORRERY CHOLESKY ALONE CHAIN PART]
(ALONE: a program without MPI; CHAIN: one whose ranks have a task each, one after the other; PART:
"runs", or "answers", what commands say of them)"""
import glob
import json
import os
import subprocess
import sys
import tempfile

if len(sys.argv) < 7:
    print("1..0 # SKIP no MPI: neither Open MPI nor MPICH was there when this was built")
    sys.exit(0)
ORRERY, CHOLESKY, ALONE, CHAIN, RING = map(os.path.abspath, sys.argv[1:6])
ENV = {name: value for name, value in os.environ.items()
       if not name.startswith(("ORRERY_MACHINE", "ORRERY_SET", "ORRERY_ASSUME"))}
PROGRAM = ["--", CHOLESKY, "-size", "768", "-nblocks", "8"]
CLUSTER = "4*epyc-64 + ib 200Gb/s"
TIMES = ["--assume", "* = 100us"]
results = []


def claim(text, true, *what):
    results.append(bool(true))
    print(("ok" if true else "not ok") + f" {len(results)} - {text}")
    if not true:
        print("\n".join("# " + line for line in "\n".join(str(w)[:2000] for w in what).splitlines()))


def orrery(*words, **env):
    return subprocess.run([ORRERY, *words], capture_output=True, text=True,
                          env={**ENV, **env}, check=False)


def said(done):
    return json.loads(done.stdout) if done.returncode == 0 else {}


def on(machine, *words):
    """What the program does there, as JSON."""
    return said(orrery("run", "-m", machine, *words, "--json", *TIMES, *PROGRAM))


def test_shares():
    """As many ranks as processors: each has one worker, and the thread MPI none of its own."""
    whole = on("1*epyc-64 + ib 200Gb/s ranks-per-node=64 node-latency=1us")
    claim("a rank whose share is one processor has a worker there",
          len(whole.get("workers", [])) == 64 and whole["tasks"] == 120, whole)
    more = on("1*epyc-64 + ib 200Gb/s ranks-per-node=128 node-latency=1us")
    claim("more ranks than processors have a worker each, and share these",
          len(more.get("workers", [])) == 128 and more["tasks"] == 120, more)
    half = said(orrery("run", "-m", "1*epyc-64 + ib 200Gb/s node-latency=1us ranks-per-node=2",
                       "--set", "cpu.count = 1", "--json", *TIMES, *PROGRAM))
    claim("two ranks on one processor, which has 120 tasks of 100 us, take 12 ms at least",
          half.get("makespan_us", 0) >= 12000, half)
    looking = on("1*epyc-64 + ib 200Gb/s ranks-per-node=64 node-latency=1us look=20us")
    claim("looking for messages takes of a processor that a worker has, too",
          looking.get("makespan_us", 0) > 1.01 * whole["makespan_us"], whole, looking)
    whole, looking = [
        said(orrery("run", "-m", "1*epyc-64 + ib 200Gb/s ranks-per-node=64 node-latency=1us" + look,
                    "--assume", "* = 1ms", "--json", *PROGRAM)) for look in ("", " look=20us")]
    claim("beside kernels looks are few: they take less than a twentieth",
          0 < looking.get("makespan_us", 0) < 1.05 * whole["makespan_us"], whole, looking)
    asleep, awake = [
        said(orrery("run", "-m", "1*epyc-64 + ib 200Gb/s ranks-per-node=64 node-latency=1us",
                    "--set", f"cost[wake] = {wake}", "--assume", "* = 1us", "--json", "--", RING,
                    "-rounds", "10")) for wake in ("50us", "0us")]
    # The thread MPI, of the rank's only processor, is woken by each message, and wakes the
    # worker.
    claim("a processor that is awake need not wake up: 640 messages wake it once each",
          0 < asleep.get("makespan_us", 0) - awake.get("makespan_us", 0) <= 640 * 50, asleep,
          awake)
    wide = [on("4*epyc-64 + ib 200Gb/s" + look) for look in ("", " look=20us")]
    claim("and of none where there are enough",
          wide[0].get("makespan_us", 0) > 0 and
          wide[0]["makespan_us"] == wide[1].get("makespan_us"), wide)


def test_energy(place):
    costs = os.path.join(place, "costs")
    with open(costs, "w", encoding="utf-8") as file:
        file.write("machine * idle=100W\ncore * busy=5W\n")
    for machine, nodes in ((CLUSTER, 4), ("2*epyc-64 + ib 200Gb/s ranks-per-node=2", 2)):
        ran = on(machine, "--costs", costs)
        busy_s = sum(worker["busy_us"] for worker in ran.get("workers", [])) * 1e-6
        hand = nodes * 100 * ran.get("makespan_us", 0) * 1e-6 + 5 * busy_s
        claim("the energy of a cluster is that of all its nodes",
              busy_s > 0 and abs(ran["energy"]["joules"] - hand) < 1e-6 * hand, hand,
              ran.get("energy"))
    claim("of nodes that differ it is not known",
          "energy" not in on("1*epyc-64 + 1*laptop-8 + ib 200Gb/s", "--costs", costs))


def test_run():
    done = orrery("run", "-m", CLUSTER, *TIMES, *PROGRAM)
    rows = [line.split() for line in done.stdout.splitlines()]
    claim("run: what all ranks did, a line of each, and the matrix",
          done.returncode == 0 and ["tasks", "120"] in rows and
          f"machine     {CLUSTER} (simulated" in done.stdout and
          [row[0] for row in rows if len(row) >= 10 and row[0].isdigit()] == list("0123") and
          "KiB from rank to rank" in done.stdout and "imbalance" in done.stdout, done)
    whole = on(CLUSTER)
    ranks = whole.get("ranks", [])
    claim("run --json: sums, one makespan, the ranks' reports",
          len(ranks) == 4 and whole["tasks"] == sum(r["tasks"] for r in ranks) == 120 and
          abs(whole["makespan_us"] - max(r["begin_us"] + r["makespan_us"] for r in ranks) +
              min(r["begin_us"] for r in ranks)) < 0.01 and
          whole["machine"] == CLUSTER and len(whole["workers"]) == 4 * 63 and
          [f["share"] for f in whole["figures"]] == [1], done)
    chain = said(orrery("run", "-m", CLUSTER, "--json", "--assume", "* = 1ms", "--", CHAIN))
    claim("a run goes from the first submission of any rank to the end of the last task",
          chain and all(r["makespan_us"] < 2000 for r in chain["ranks"]) and
          4000 < chain["makespan_us"] < 5000, chain)
    again = said(orrery("run", "--json", *TIMES, *PROGRAM, ORRERY_MACHINE=CLUSTER))
    claim("the environment names a cluster as well",
          again and again["makespan_us"] == whole["makespan_us"], again)
    slow = on(CLUSTER, "--set", "network.latency = 1ms")
    claim("--set edits the network", slow and slow["makespan_us"] > whole["makespan_us"], slow)
    few = on(CLUSTER, "--set", "node[3].cpu.count = 2")
    claim("--set edits a node",
          few and [len(r["workers"]) for r in few["ranks"]] == [63, 63, 63, 1] and
          [e["edit"] for e in few["edits"]] == ["cpu.count = 2"], few)
    two = on("2*epyc-64 + ib 200Gb/s ranks-per-node=2")
    claim("several ranks of a node", two and len(two["ranks"]) == 4, two)
    one = on("1*epyc-64 + ib 200Gb/s")
    claim("a cluster of one node is one rank", one and one["tasks"] == 120, one)


def test_files(at):
    with open(at + "/lab.cluster.xml", "w", encoding="utf-8") as file:
        file.write("""<?xml version='1.0'?>
<platform version="4.1">
  <zone id="cluster" routing="None">
    <prop id="network" value="ib 200Gb/s"/>
    <zone id="nodes0" routing="None">
      <prop id="machine" value="epyc-64"/>
      <prop id="nodes" value="2"/>
    </zone>
  </zone>
</platform>
""")
    whole = on(at + "/lab.cluster.xml")
    claim("a cluster's file", whole and len(whole["ranks"]) == 2, whole)
    orrery("record", "--ranks", "2", "-m", "epyc-64", "-o", at + "/r.rec", *PROGRAM)
    played = orrery("run", "--json", "-m", CLUSTER, *TIMES, "--", at + "/r.rank0.rec")
    claim("records of ranks stand in the place of the program, on as many nodes",
          len(said(played).get("ranks", [])) == 2, played)


def test_explain():
    done = orrery("explain", "-m", CLUSTER, *TIMES, *PROGRAM)
    claim("explain: the chain through ranks, and who waited for whom",
          done.returncode == 0 and f"4 ranks on {CLUSTER}" in done.stdout and
          "message of rank" in done.stdout and "waited" in done.stdout, done)
    whole = on(CLUSTER)
    told = said(orrery("explain", "--json", "-m", CLUSTER, *TIMES, *PROGRAM))
    length = sum(link["end_ms"] - link["start_ms"] for link in told.get("critical_path", []))
    claim("explain --json: its chain has the run's length",
          whole and abs(1e3 * length - whole["makespan_us"]) < 1, told, length)
    bounds = told.get("bounds", {})
    claim("... with the bounds of that run", bounds and
          bounds["best"]["ms"] <= told["makespan_ms"] and
          bounds["best"] == said(orrery("bound", "--json", "--kind", "critical-path,area", "-m",
                                        CLUSTER, *TIMES, *PROGRAM))["best"] and
          "No run with this distribution takes less than" in done.stdout and
          "The critical path is longer" in done.stdout, bounds, done)
    slow = orrery("explain", "-m", "4*epyc-64 + ib 1Gb/s", *TIMES, *PROGRAM)
    twice = orrery("explain", "-m", "2*epyc-64 + ib 200Gb/s ranks-per-node=4", *TIMES, *PROGRAM,
                   "-p", "4")
    claim("... and that ranks of a node get the same values", "are values that these had got" in
          twice.stdout and "are values that these had got" not in slow.stdout, twice)
    claim("explain says where NICs limit", "What the NICs of a node have to carry takes longer" in
          slow.stdout and "another\ndistribution helps" in slow.stdout, slow)
    done = orrery("explain", "-m", "2,4*epyc-64 + ib 200Gb/s", *TIMES, *PROGRAM)
    rows = [" ".join(line.split()) for line in done.stdout.splitlines()]
    claim("two clusters of different sizes: sums, messages, bounds", done.returncode == 0 and
          "different numbers of ranks" in done.stdout and "ranks 2 4 +100.0 %" in rows and
          any(row.startswith("NICs and links at least, ms") for row in rows) and
          any(row.startswith("tasks on CPU 120 120") for row in rows), done)
    two = said(orrery("explain", "--json", "-m", CLUSTER, "-s", "lws,eager", *TIMES, *PROGRAM))
    claim("two policies on one: the first task that fares differently", two and
          two["tasks_in_both"] == 120 and two["a"]["ranks"] == two["b"]["ranks"] == 4 and
          two["a"]["message_bytes"] == two["b"]["message_bytes"] ==
          sum(map(sum, whole["bytes"])) and two["first_difference"] and
          two["a"]["bounds"]["best"]["ms"] <= two["a"]["makespan_ms"], two)
    slow = orrery("explain", "-m", CLUSTER + ",4*epyc-64 + ib 1Gb/s", *TIMES, *PROGRAM)
    claim("two networks: a task is named with its rank", slow.returncode == 0 and
          "each worker executed the same tasks" in slow.stdout and
          "first difference" in slow.stdout and " of rank " in slow.stdout, slow)
    done = orrery("explain", "-n", "2", "-s", "lws,eager", *PROGRAM)
    claim("ranks for real are not compared", done.returncode == 2 and "on clusters" in done.stderr,
          done)


def test_trace(at):
    done = orrery("trace", "-m", CLUSTER, "-o", at + "/all.json", *TIMES, *PROGRAM)
    events = []
    if done.returncode == 0:
        with open(at + "/all.json", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    claim("trace: one file with the processes of each rank, and nothing else",
          {f"rank {r}: workers" for r in range(4)} <=
          {e["args"]["name"] for e in events if e["name"] == "process_name"} and
          not glob.glob(at + "/all.json.*"), done)
    for machine, blocks, rows in ((CLUSTER, "8", "rank 3 CPU"),
                                  ("64*epyc-64 + ib 200Gb/s", "24", "ranks 0 to 1")):
        done = orrery("trace", "-m", machine, "-o", at + "/all.paje", "--gantt", at + "/all.svg",
                      *TIMES, "--", CHOLESKY, "-size", "768", "-nblocks", blocks)
        picture = ""
        if os.path.exists(at + "/all.svg"):
            with open(at + "/all.svg", encoding="utf-8") as file:
                picture = file.read()
        claim("a picture of all ranks, with rows of " + rows, "gnuplot" in done.stderr or (
            done.returncode == 0 and rows in picture and "gemm" in picture and
            "between ranks (GB/s)" in picture and "gantt       " in done.stdout), done)
    done = orrery("trace", "-m", CLUSTER, "-o", at + "/all.json", "--gantt", at + "/all.svg",
                  *TIMES, *PROGRAM)
    claim("it is drawn from Pajé files", done.returncode == 2 and ".paje" in done.stderr, done)
    done = orrery("trace", "-m", CLUSTER, "-o", at + "/all.csv", *TIMES, *PROGRAM)
    claim("formats of one rank are refused", done.returncode == 2 and ".json" in done.stderr,
          done)


def test_messages(at):
    """Who inserts owes time while the thread MPI sends what it has granted."""
    done = orrery("run", "-m", "4*h100-pcie-4 + ib 200Gb/s", "-s", "dmdas", "--", CHOLESKY, "-size",
                  "15360", "-nblocks", "16", ORRERY_TRACE=at + "/m.csv")
    ends = []
    for name in glob.glob(at + "/m.rank*.csv"):
        with open(name, encoding="utf-8") as file:
            ends += [tuple(map(float, line.split(",")[1:3])) for line in file
                     if line.startswith("message,")]
    claim("no message ends before it begins", len(ends) > 400 and
          all(start <= end for start, end in ends), done, len(ends),
          [e for e in ends if e[0] > e[1]][:3])


def test_report(at):
    done = orrery("report", "--plain", "-m", CLUSTER, "-o", at + "/page.html", *TIMES, *PROGRAM)
    none = "without the charting library" in done.stderr
    claim("report: the page of all ranks", none or (
        done.returncode == 0 and "imbalance" in done.stdout and
        "takes less than" not in done.stdout and
        os.path.getsize(at + "/page.html") > 1000), done)
    done = orrery("report", "-m", CLUSTER, "-o", at + "/page.html", *TIMES, *PROGRAM)
    page = ""
    if not none:
        with open(at + "/page.html", encoding="utf-8") as file:
            page = file.read()
    claim("... with its bounds, in the page and beside it", none or (
        "No run with this distribution takes less than" in done.stdout and
        "No run with this distribution takes less than" in page and
        '"distribution_costs"' in page), done)


def compare(*words):
    done = orrery("compare", "--json", "-s", "lws", *TIMES, *words, *PROGRAM)
    return (json.loads(done.stdout) if done.stdout.startswith("[") else []), done


def test_compare(at):
    whole = on(CLUSTER)
    rows, done = compare("-m", "1..4*epyc-64 + ib 200Gb/s")
    claim("compare: counts that double, and what all ranks did",
          [r["machine"] for r in rows] == [f"{n}*epyc-64 + ib 200Gb/s" for n in (1, 2, 4)] and
          whole and rows[2]["median_us"] == whole["makespan_us"] and rows[2]["tasks"] == 120 and
          rows[2]["message_bytes"] == sum(map(sum, whole["bytes"])), done)
    claim("speed-up and efficiency are against the first",
          rows and all(abs(r["speedup"] - rows[0]["median_us"] / r["median_us"]) < 1e-9 and
                       abs(r["efficiency"] * n - r["speedup"]) < 1e-9
                       for n, r in zip((1, 2, 4), rows)), rows)
    rows, done = compare("-m", "2,1*epyc-64 + ib 200Gb/s fat-tree:32,2:1,epyc-64")
    claim("commas between counts, in fat trees and between machines",
          [r["machine"] for r in rows] ==
          ["2*epyc-64 + ib 200Gb/s fat-tree:32,2:1", "1*epyc-64 + ib 200Gb/s fat-tree:32,2:1",
           "epyc-64"] and rows[0]["speedup"] is None, done)
    rows, done = compare("-m", "2*epyc-64 + ib 200Gb/s", "--ranks-per-node", "1,2",
                         "--set", "node[0].cpu.speed = 2")
    claim("ranks of a node", [r["settings"] for r in rows] ==
          [{"network": "ranks-per-node=1"}, {"network": "ranks-per-node=2"}] and
          [len(r["workers"]) for r in rows] == [126, 124], done)
    speeds = "bandwidth=8KiB:2GB/s,0.5MB:8GB/s"
    rows, done = compare("-m", f"2*epyc-64 + ib 200Gb/s {speeds},epyc-64")
    claim("compare: nor those of speeds by size",
          [row["machine"] for row in rows] == [f"2*epyc-64 + ib 200Gb/s {speeds}", "epyc-64"],
          done)
    rows, done = compare("-m", CLUSTER, "--set", "network = crossbar, fat-tree:32,2:1")
    claim("a fat tree is one value", [r["settings"]["network"] for r in rows] ==
          ["crossbar", "fat-tree:32,2:1"], done)
    rows, done = compare("-m", CLUSTER, "--assume", "epyc-64:kernel[potrf] = 1ms")
    claim("times that are assumed on the nodes' machine", rows and
          rows[0]["median_us"] > whole["makespan_us"], done)
    for words, text in ((["-m", CLUSTER, "--ranks-per-node", "0"], "write numbers from 1 on"),
                        (["-m", "4*epyc-64 + 200Gx"], "200Gx")):
        rows, done = compare(*words)
        claim("refused: " + text, done.returncode != 0 and text in done.stderr, done)
    done = orrery("compare", "-m", "1,2*epyc-64", "-s", "lws", "--plot", at + "/s.svg", *TIMES,
                  *PROGRAM)
    claim("times over nodes are drawn", "gnuplot" in done.stderr or
          (done.returncode == 0 and "lines: " in done.stdout and
           os.path.getsize(at + "/s.svg") > 1000), done)


def test_scaling(at):
    words = ["-m", "1,2,4*epyc-64 + ib 1Gb/s", "--bound", "--set", "cpu.count = 3"]
    rows, done = compare(*words)
    claim("--bound: of each size what is the bound", [r["bounded_by"]["nics_us"] > 0
          for r in rows] == [False, True, True] and
          all(r["bound_us"] >= max(r["bounded_by"][part] for part in
                                   ("tasks_us", "nics_us", "links_us", "path_us")) - 1e-3 and
              r["bound_us"] <= r["median_us"] for r in rows), done)
    done = orrery("compare", "-s", "lws", *TIMES, *words, *PROGRAM)
    claim("... as a table, and from where on another limit is the longer one",
          "what bounds it, ms at least" in done.stdout and
          "From 2 nodes on what NICs have to carry takes longer than the tasks" in done.stdout and
          "From 2 nodes on the critical path is longer" in done.stdout, done)
    best = min(rows, key=lambda row: row["median_us"]) if rows else {}
    claim("... and which size is fastest, where that is not the last", rows and
          (f"It is fastest with {best['machine'].split('*')[0]} node" in done.stdout) ==
          (best is not rows[-1]), done, best)
    done = orrery("compare", "-s", "lws", *TIMES, "-m", "1,2*epyc-64", "--bound", "--set",
                  "cpu.count = 2", *PROGRAM)
    claim("... or that none is yet", "more nodes may make it faster" in done.stdout, done)
    done = orrery("compare", "-m", "1,2*epyc-64", "-s", "lws", "--bound", "--plot", at + "/s.svg",
                  *TIMES, *PROGRAM)
    picture = ""
    if os.path.exists(at + "/s.svg"):
        with open(at + "/s.svg", encoding="utf-8") as file:
            picture = file.read()
    claim("the picture has the bound", "gnuplot" in done.stderr or "lower bound" in picture, done)


def bound(*words):
    return said(orrery("bound", "--json", *words, *TIMES, *PROGRAM))


def test_bounds():
    told = bound("-m", "2*epyc-64 + ib 200Gb/s", "--set", "cpu.count = 3")
    workers = [rank["workers"] for rank in told.get("ranks", [])]
    claim("bound: each rank's tasks take their share of its workers at least",
          workers == [2, 2] and
          all(abs(rank["area_ms"] - 0.1 * rank["tasks"] / 2) < 1e-6 <= rank["ms"] and
              rank["proved"] for rank in told["ranks"]) and
          told["best"]["ms"] == max(rank["ms"] for rank in told["ranks"]), told)
    claim("... and with each task anywhere all of all",
          told and told["anywhere"]["tasks"] == 120 and told["anywhere"]["workers"] == 4 and
          0.1 * 120 / 4 - 1e-6 <= told["anywhere"]["ms"] <= told["best"]["ms"] and
          abs(told["distribution_costs"] - (told["best"]["ms"] / told["anywhere"]["ms"] - 1)) <
          1e-9, told)
    claim("no run is shorter", told and told["best"]["ms"] <= told["makespan_ms"] * (1 + 1e-9),
          told)
    whole = on("2*epyc-64 + ib 200Gb/s", "--set", "cpu.count = 3")
    nodes = told.get("nodes", [])
    claim("of two ranks each value that was sent passes the NICs once", whole and
          [(n["sent_bytes"], n["received_bytes"]) for n in nodes] ==
          [(whole["bytes"][0][1], whole["bytes"][1][0]),
           (whole["bytes"][1][0], whole["bytes"][0][1])] and
          all(abs(n["sending_ms"] - n["sent_bytes"] / 25e6) < 1e-9 and
              n["sent_ms"] > n["sending_ms"] for n in nodes) and
          told["messages"]["bytes"] == max(n["sent_bytes"] for n in nodes), told, whole)
    four = bound("-m", CLUSTER)
    one = bound("-m", "2*epyc-64 + ib 200Gb/s ranks-per-node=2")
    claim("those within a node do not, nor does a value twice for its ranks", one and four and
          sum(n["received_bytes"] for n in one["nodes"]) <
          sum(n["received_bytes"] for n in four["nodes"]), one)
    claim("the critical path has messages between nodes", four and
          four["path"]["messages"] > 0 and four["path"]["ms"] <= four["best"]["ms"] and
          four["path"]["ms"] > 22 * 0.1 + four["path"]["messages_ms"] - 1e-9, four)
    slow = bound("-m", "4*epyc-64 + ib 1Gb/s fat-tree:6,2:1")
    claim("on a slow network what has to pass it is the bound", slow and
          slow["best"]["bound"] == "messages" and "NICs of node" in slow["best"]["limited_by"] and
          slow["best"]["ms"] <= slow["makespan_ms"] and slow["distribution_costs"] > 0.1, slow)
    leaf = said(orrery("bound", "--json", "-m", "8*epyc-64 + ib 2x1Gb/s fat-tree:9,8:1", *TIMES,
                       "--", CHOLESKY, "-size", "1536", "-nblocks", "16"))
    claim("... or links that leaves share", leaf and
          "links of nodes 0 to 3" in leaf["best"]["limited_by"] and len(leaf["cuts"][0]) == 2 and
          leaf["best"]["ms"] <= leaf["makespan_ms"], leaf)
    mixed = bound("-m", "1*epyc-64 + 1*laptop-8 + ib 200Gb/s")
    claim("nodes that differ", mixed and
          [rank["workers"] for rank in mixed["ranks"]] == [63, 7] and
          mixed["best"]["ms"] <= mixed["makespan_ms"], mixed)
    done = orrery("bound", "-m", CLUSTER, "--lp", "-", *PROGRAM)
    claim("what is of one graph is refused", done.returncode == 2 and "--lp" in done.stderr,
          done)
    done = orrery("bound", "-m", CLUSTER, "--kind", "transfers", *PROGRAM)
    claim("... and bounds of one machine", done.returncode == 2 and "the others know one machine" in
          done.stderr, done)
    some = bound("-m", CLUSTER, "--kind", "critical-path")
    claim("a kind of bound alone", some and some["best"]["bound"] == "critical-path" and
          some["best"]["ms"] == some["path"]["ms"], some)
    rows, done = compare("-m", CLUSTER, "--bound")
    claim("compare --bound", rows and 0 < rows[0]["of_bound"] <= 1, done)
    with tempfile.TemporaryDirectory() as at:
        orrery("run", *TIMES, *PROGRAM, ORRERY_MACHINE=CLUSTER, ORRERY_GRAPH=at + "/r.graph")
        files = sorted(glob.glob(at + "/r.rank*.graph"), reverse=True)
        again = said(orrery("bound", "--json", "-m", CLUSTER, *files))
        claim("the graphs that ranks have left have the same bounds, in any order", again and
              again["makespan_ms"] is None and again["best"]["ms"] == four["best"]["ms"] and
              again["nodes"] == four["nodes"], again)
        done = orrery("bound", "-m", CLUSTER, *files[1:])
        claim("not all of them are no run's", done.returncode == 1 and
              "the graph of rank 3 of 4 is missing" in done.stderr, done)
        done = orrery("bound", *files)
        claim("... and they need their cluster", done.returncode == 1 and
              "which cluster" in done.stderr, done)


def distribution(machine, *words):
    return orrery("optimise", "distribution", "-m", machine, "-s", "lws", *TIMES, *words)


def is_symmetric(path):
    """Off the diagonals of the squares that are repeated; and which ranks there are."""
    with open(path, encoding="utf-8") as file:
        rows, columns, *of = map(int, file.read().split())
    at = lambda i, j: of[i * columns + j]
    return len(of) == rows * columns and sorted(set(of)) == list(range(max(of) + 1)) and \
        all(at(k + i, j) == at(k + j, i) for k in range(0, rows, columns)
            for i in range(columns) for j in range(columns) if i != j)


def test_distributions(at):
    grids = distribution("6*epyc-64 + ib 1Gb/s", "--json", *PROGRAM, "-p", "{p}")
    told = said(grids)
    rows = told.get("distributions", [])
    claim("optimise distribution: all grids of so many ranks, the fastest first",
          sorted(row["p"] for row in rows) == [1, 2, 3, 6] and
          all(row["p"] * row["q"] == 6 for row in rows) and
          [row["ms"] for row in rows] == sorted(row["ms"] for row in rows) and
          told["best"] == rows[0]["distribution"] and rows[0]["to_best"] == 1 and
          all(row["anywhere_ms"] <= row["bound_ms"] <= row["ms"] for row in rows) and
          told["above_any"] > 0, grids)
    alone = said(orrery("run", "--json", "-m", "6*epyc-64 + ib 1Gb/s", "-s", "lws", *TIMES,
                        *PROGRAM, "-p", str(rows[0]["p"] if rows else 1)))
    claim("... each as long as a run of its own", rows and
          abs(alone["makespan_us"] / 1e3 - rows[0]["ms"]) < 1e-6, alone, rows[:1])
    claim("... and again the same", distribution("6*epyc-64 + ib 1Gb/s", "--json", "-j", "3",
                                                 *PROGRAM, "-p", "{p}").stdout == grids.stdout)
    done = distribution("6*epyc-64 + ib 1Gb/s", "-o", at + "/best", *PROGRAM, "-owners",
                        "{owners}")
    names = [line.split("  ")[0] for line in done.stdout.splitlines()]
    claim("files of owners: the grids, and symmetric block-cyclic",
          {"1x6", "2x3", "3x2", "6x1", "symmetric of 4x4"} <= set(names) and
          "best        symmetric of 4x4" in done.stdout and is_symmetric(at + "/best"), done)
    done = orrery("run", "-m", "6*epyc-64", *TIMES, *PROGRAM, "-check", "-owners", at + "/best",
                  ORRERY_SIM_KERNELS="run")
    claim("the program computes the right values with it", done.returncode == 0 and
          ": right" in done.stdout, done)
    done = distribution("8*epyc-64 + ib 1Gb/s", "-o", at + "/best8", "--json", *PROGRAM,
                        "-owners", "{owners}")
    claim("so it is of 8 ranks", "symmetric of 4x4" in
          [row["distribution"] for row in said(done).get("distributions", [])], done)
    done = distribution("1*epyc-64 + 1*laptop-8", "-o", at + "/w", "--json", "--", CHOLESKY,
                        "-size", "1152", "-nblocks", "12", "-owners", "{owners}")
    rows = said(done).get("distributions", [])
    claim("ranks that differ have different shares", {"weighted rows", "weighted columns"} <=
          {row["distribution"] for row in rows}, done)
    done = distribution("4*epyc-64", "--json", "--", "/usr/bin/env", "GRID={p}", *PROGRAM[1:])
    claim("a program that reads variables", len(said(done).get("distributions", [])) == 3, done)
    orrery("record", "--ranks", "2", "-m", "epyc-64", "-o", at + "/ranks/", *TIMES, *PROGRAM)
    for name in ("/ranks/", "/ranks", "/ranks/rank0.recb"):
        done = orrery("optimise", "distribution", at + name)
        claim("records of ranks keep theirs: which program, and how far it is from any",
              done.returncode == 2 and "name the program" in done.stderr and
              f"orrery bound -m CLUSTER -- {at}/ranks/rank0.recb" in
              done.stderr.replace("//", "/"), done)
    done = orrery("bound", "-m", "2*epyc-64 + ib 1Gb/s", *TIMES, "--", at + "/ranks/rank0.recb")
    claim("... which it says", "bound is" in done.stdout and "above that of any" in done.stdout,
          done)
    for words, code, text in (
            ([CLUSTER, *PROGRAM], 2, "which argument says how data are distributed"),
            ([CLUSTER, *PROGRAM, "-p", "{p}", "-owners", "{owners}"], 2, "two ways to say it"),
            (["epyc-64", *PROGRAM, "-p", "{p}"], 2, "has one rank"),
            ([CLUSTER, "-o", at + "/x", *PROGRAM, "-p", "{p}"], 2, "-o is for {owners}"),
            ([CLUSTER, *PROGRAM, "-q", "{p}"], 1, "orrery run with the same arguments says why")):
        done = distribution(*words)
        claim("refused: " + text, done.returncode == code and text in done.stderr, done)


def test_refusals():
    for words, code, text in (
            (["-n", "4", "-m", CLUSTER, *PROGRAM], 2, "leave -n out"),
            (["-n", "4", "-m", "mirage", *PROGRAM], 2, "'4*mirage + ib 200Gb/s'"),
            (["-m", "4*epyc-64 + 200Gx", *PROGRAM], 1, "200Gx"),
            (["-m", "4*epyk-64", *PROGRAM], 1, "epyk-64"),
            (["-m", CLUSTER, "--", ALONE], 1, "is a cluster, and one machine is wanted here"),
            (["-m", CLUSTER, "--", "/bin/true"], 0, "never started liborrery")):
        done = orrery("run", *words)
        claim("refused: " + text, done.returncode == code and text in done.stderr, done)
    done = orrery("optimise", "-m", CLUSTER, "-o", "/dev/null", *PROGRAM)
    claim("commands for one rank say so", done.returncode != 0 and "cluster" in done.stderr,
          done)
    done = orrery("run", CHOLESKY, "-m", CLUSTER)
    claim("an option behind the program is noticed", done.returncode == 2, done)


with tempfile.TemporaryDirectory() as place:
    if sys.argv[6] == "runs":
        test_run()
        test_energy(place)
        test_shares()
        test_files(place)
        test_trace(place)
        test_messages(place)
        test_compare(place)
        test_refusals()
    else:
        test_explain()
        test_report(place)
        test_bounds()
        test_scaling(place)
        test_distributions(place)
print(f"1..{len(results)}")
sys.exit(not all(results))

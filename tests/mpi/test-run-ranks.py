#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery run -n, and the files of several ranks. Prints TAP.
usage: test-run-ranks.py [ORRERY openmpi|mpich PROGRAM COOP]   (programs/status.c, coop.c)"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

if len(sys.argv) < 5:
    print("1..0 # SKIP no MPI: neither Open MPI nor MPICH was there when this was built")
    sys.exit(0)
orrery, mpi = os.path.abspath(sys.argv[1]), sys.argv[2]
program, coop = map(os.path.abspath, sys.argv[3:5])
if not shutil.which("mpirun." + mpi) and not shutil.which("mpirun"):
    print("1..0 # SKIP there is no mpirun." + mpi)
    sys.exit(0)
failed = n = 0
# In containers, one process may not read another one's memory.
os.environ.setdefault("OMPI_MCA_btl_vader_single_copy_mechanism", "none")
for name in ("ORRERY_MACHINE", "ORRERY_TRACE", "ORRERY_REPORT"):
    os.environ.pop(name, None)


def claim(text, true, *what):
    global failed, n
    n += 1
    print(("ok" if true else "not ok") + f" {n} - {text}")
    if not true:
        failed += 1
        for line in "\n".join(map(str, what)).splitlines():
            print("# " + line)


def run(*args, env=None, text="41\n"):
    return subprocess.run([orrery, "run", *args], input=text, capture_output=True, text=True,
                          env={**os.environ, **(env or {})})


folder = tempfile.TemporaryDirectory()
at = folder.name

out = run("-n", "2", "--", program)
claim("two ranks run, and the first has standard input",
      out.returncode == 0 and "went around: 43" in out.stdout, out)
lines = out.stdout.splitlines()
claim("a table has a line for each", any(line.split()[:2] == ["1", "1"] for line in lines), out)
claim("a matrix has what was sent", any(line.split() == ["0", "-", "4"] for line in lines),
      out)
out = run("-n", "2", "--", program, "3")
claim("the exit status is the program's", out.returncode == 3, out)
out = run("-n", "3", "--", program, "killed")
claim("a rank that is killed is named, with its signal",
      out.returncode != 0 and re.search(r"rank 1 \(process \d+ on .+\) was killed by signal 9, "
                                        r"Killed", out.stderr) and
      out.stderr.count("was killed by") == 1, out)
out = run("-n", "5", "--json", "--", program)
said = json.loads(out.stdout) if out.returncode == 0 else {"ranks": [], "bytes": []}
ranks = said["ranks"]
claim("more ranks than cores have one worker each, or a core",
      len(ranks) == 5 and all(len(r["workers"]) >= 1 for r in ranks), out)
claim("so does their JSON, with the matrix and the imbalance",
      said["bytes"] == [[4 if to == r + 1 else 0 for to in range(5)] for r in range(5)] and
      said["ranks_per_row"] == 1 and said["imbalance"] >= 0, out)
claim("reports say which rank they are of",
      [(r["rank"], r["ranks"]) for r in ranks] == [(i, 5) for i in range(5)], out)
claim("reports have the messages with each other rank",
      [[(m["rank"], m["sent_bytes"], m["received_bytes"]) for m in r["messages"]]
       for r in ranks[:2]] == [[(1, 4, 0)], [(0, 0, 4), (2, 4, 0)]], ranks[:2])

files = {"ORRERY_TRACE": at + "/t.csv", "ORRERY_RECORD": at + "/calls.rec",
         "ORRERY_GRAPH": at + "/g.graph"}
out = run("-n", "2", "--", program, env=files)
claim("each rank has files of its own",
      sorted(os.listdir(at)) == ["calls.rank0.rec", "calls.rank1.rec", "g.rank0.graph",
                                 "g.rank1.graph", "t.rank0.csv", "t.rank1.csv"],
      sorted(os.listdir(at)), out)
rows = [[], []]
for rank in (0, 1):
    if os.path.exists(f"{at}/t.rank{rank}.csv"):
        with open(f"{at}/t.rank{rank}.csv", newline="") as file:
            rows[rank] = list(csv.DictReader(file))
claim("traces say which rank they are of",
      [r["node"] for rank in rows for r in rank if r["record"] == "rank"] == ["0", "1"], rows)
clocks = [[float(r["change"]) for r in rank if r["record"] == "clocks"] for rank in rows]
claim("clocks were compared at the beginning and at the end",
      [len(c) for c in clocks] == [2, 2] and clocks[0] == [0, 0], clocks)
messages = [[(r["kind"], r["from"], r["bytes"], r["tag"], r["change"]) for r in rank
             if r["record"] == "message"] for rank in rows]
claim("a message has the same number on both sides",
      [len(m) for m in messages] == [1, 1] and
      messages[0][0] == ("sent", "1", "4", "7", messages[1][0][4]) and
      messages[1][0][:4] == ("received", "0", "4", "7"), messages)
out = run("-n", "1", "--", program, env={"ORRERY_TRACE": at + "/one.csv"})
claim("one process keeps the name", out.returncode == 0 and os.path.exists(at + "/one.csv"), out)

out = subprocess.run([orrery, "trace", "-n", "3", "-o", at + "/all.json", "--", program],
                     input="1\n", capture_output=True, text=True)
claim("traces of ranks are put together, and nothing else is left",
      out.returncode == 0 and "all.json, 2 messages" in out.stdout and
      not [name for name in os.listdir(at) if name.startswith("all.json.")],
      out, os.listdir(at))
events = []
if os.path.exists(at + "/all.json"):
    with open(at + "/all.json") as file:
        events = json.load(file)["traceEvents"]
claim("processes are named by rank",
      {e["args"]["name"] for e in events if e["name"] == "process_name"} >=
      {f"rank {r}: {what}" for r in range(3) for what in ("workers", "messages")}, events)
arrows = {}
for event in events:
    if event["ph"] in "sf" and event["cat"] == "message":
        arrows.setdefault(event["id"], {})[event["ph"]] = event
claim("an arrow leads from each message's sender to its receiver",
      sorted((a["s"]["pid"] // 8, a["f"]["pid"] // 8) for a in arrows.values()) ==
      [(0, 1), (1, 2)], arrows)
out = subprocess.run([orrery, "trace", "-n", "2", "-o", at + "/all.csv", "--", program],
                     input="1\n", capture_output=True, text=True)
claim("other formats are refused", out.returncode == 2 and ".json" in out.stderr, out)
out = subprocess.run([orrery, "trace", "-n", "3", "-o", at + "/all.paje", "--", program],
                     input="1\n", capture_output=True, text=True)
claim("Pajé files are put together, too", out.returncode == 0 and
      "all.paje, 2 messages" in out.stdout, out)
if shutil.which("pj_dump"):
    dump = subprocess.run(["pj_dump", at + "/all.paje"], capture_output=True, text=True)
    rows = [[field.strip() for field in line.split(",")] for line in dump.stdout.splitlines()]
    claim("pj_dump takes them: a container per rank, a link per message",
          dump.returncode == 0 and not dump.stderr and
          {f"rank {r}" for r in range(3)} <= {r[-1] for r in rows if r[0] == "Container"} and
          sorted((r[-3], r[-2]) for r in rows
                 if r[0] == "Link" and r[2] == "MPI communication") ==
          [("0_mpict", "1_mpict"), ("1_mpict", "2_mpict")], dump)
else:
    n += 1
    print(f"ok {n} - pj_dump takes them # SKIP there is no pj_dump (pajeng)")

out = run("-n", "4", "--", coop, env={"ORRERY_TRACE": at + "/c.csv",
                                    "ORRERY_GRAPH": at + "/c.graph"})
traces = [f"{at}/c.rank{rank}.csv" for rank in range(4)]
ends = {}
for rank, path in enumerate(traces if out.returncode == 0 else []):
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["record"] == "message":
                other = int(row["from"])
                sent = row["kind"] == "sent"
                key = (*((rank, other) if sent else (other, rank)), row["tag"], row["change"])
                ends[key] = ends.get(key, 0) + (1 if sent else -1)
claim("both ranks tell of each message, also of those that others pass on",
      any(key[3] == "0" for key in ends) and not any(ends.values()), ends, out)
out = subprocess.run([orrery, "explain", "--json", *traces], capture_output=True, text=True)
said = json.loads(out.stdout) if out.returncode == 0 else {"idle": [], "critical_path": []}
claim("their traces are explained together",
      {w["rank"] for w in said["idle"]} == {0, 1, 2, 3} and
      any(link["type"] == "message" for link in said["critical_path"]), out)
for words in (("explain",), ("report", "--plain", "-o", at + "/page.html")):
    out = subprocess.run([orrery, *words, "-n", "2", "--", program], input="1\n",
                         capture_output=True, text=True)
    none = words[0] == "report" and "without the charting library" in out.stderr
    claim(f"{words[0]} runs ranks, and says what each did", none or out.returncode == 0 and
          [line.split()[:2] for line in out.stdout.splitlines() if line.startswith("   1")],
          out)

out = run("-n", "2", "-m", "mirage", "--", program)
claim("several ranks on a simulated machine are refused, and a cluster is proposed",
      out.returncode == 2 and "-m '2*mirage + ib 200Gb/s'" in out.stderr, out)
out = run("-n", "0", "--", program)
claim("no ranks are refused", out.returncode == 2 and "-n 0" in out.stderr, out)
out = run("-n", "2", "--", "/bin/true")
claim("so is a program without MPI",
      out.returncode == 1 and "/bin/true is no program that is linked to" in out.stderr, out)
out = run("-n", "2", "--", program, env={"PATH": at})
claim("without a launcher there is a sentence", out.returncode == 1 and
      ("is its launcher" in out.stderr or "is linked to" in out.stderr), out)
print(f"1..{n}")
sys.exit(failed > 0)

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery explain` and `orrery report` of the traces of several ranks, which this test
writes: three ranks, each with one task, and with clocks of their own; and many ranks. TAP.

usage: test-rank-tools.py ORRERY PAGE    (PAGE: 1 if pages of orrery report can be made)
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
ORRERY, PAGE = os.path.abspath(sys.argv[1]), sys.argv[2] == "1"
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
HEAD = ("record,start_ms,end_ms,worker,job,name,priority,node,from,bytes,kind,"
        "handle,change,footprint,gflop,tag,iteration,subiteration,color\n")
# How far the clock of each rank is ahead of rank 0's, and what it says at time 0, ms.
AHEAD, ZERO = (0, 4000, -250), (1000, 5003, 748)


def orrery(*words):
    return subprocess.run([ORRERY, *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "TMPDIR": TOP.name})


class Rank:
    """The files of a rank; times are those of rank 0."""

    def __init__(self, rank, ranks):
        self.rank, self.shift = rank, 0
        if rank < len(AHEAD):
            self.shift = AHEAD[rank] - (ZERO[rank] - ZERO[0])
            self.zero, self.ahead = ZERO[rank], AHEAD[rank]
        else:
            self.zero, self.ahead = ZERO[0], 0
        self.rows = [f"rank,0,0,,,,,{rank},{ranks},,,,{self.zero},,,,,,\n"]
        self.tasks, self.kernels = [], []

    def at(self, time):
        return f"{time + self.shift:.6f}"

    def task(self, kernel, submitted, ready, start, end):
        job, number = len(self.tasks) + 1, len(self.kernels)
        self.kernels.append(f'kind "{kernel}" 0 0 1 {end - start} 0\n')
        self.tasks.append(f"task {number} {job} 0 ran 0 {start} {end}\n")
        for record, time, change in (("submitted", submitted, 1), ("ready", ready, 1),
                                     ("ready", start, -1)):
            self.rows.append(f"{record},{self.at(time)},{self.at(time)},,{job},,,,,,,,"
                             f"{change},,,,,,\n")
        self.rows.append(f'task,{self.at(start)},{self.at(end)},0,{job},"{kernel}",0,0,,8,,,,'
                         "00000000,0,0,,,\n")
        self.rows.append(f"submitted,{self.at(end)},{self.at(end)},,{job},,,,,,,,-1,,,,,,\n")

    def message(self, kind, peer, number, called, start, end, size=100, tag=7):
        last = f',,"",,,{peer},{size},{kind},1,{number},,,{tag},,,\n'
        self.rows.append(f"request,{self.at(called)},{self.at(start)}" + "," + last)
        self.rows.append(f"message,{self.at(start)},{self.at(end)}" + "," + last)

    def write(self, name, end):
        for time in (0.1, end - 0.1):
            self.rows.append(f"clocks,{self.at(time)},{self.at(time)},,,,,,,,,,"
                             f"{-self.ahead},,,,,,\n")
        path = os.path.join(TOP.name, f"{name}.rank{self.rank}")
        with open(path + ".csv", "w", encoding="utf-8") as file:
            file.write(HEAD + f'worker,0,{self.at(end)},0,,"CPU 0",,0,,,,,,,,,,,\n' +
                       "".join(self.rows) +
                       f'mark,{self.at(end)},{self.at(end)},,,"end",,,,,,,,,,,,,\n')
        if self.tasks:
            with open(path + ".graph", "w", encoding="utf-8") as file:
                file.write('orrery-graph 1\nmachine "host"\nabout "scheduler" "lws"\n'
                           f'run real {end}\nnode "NUMA 0" inf\nworker "CPU 0" 0 blocking\n' +
                           "".join(self.kernels) + "".join(self.tasks) + "end\n")
        return path + ".csv"


def three(name):
    """gemm on rank 0, whose result trsm on rank 1 waits for; its result, syrk on rank 2."""
    ranks = [Rank(r, 3) for r in range(3)]
    ranks[0].task("gemm", 5, 5, 5, 10)
    ranks[0].message("sent", 1, 1, 6, 10, 11)
    ranks[1].message("received", 0, 1, 0.2, 0.25, 12)
    ranks[1].task("trsm", 0.5, 12, 12, 20)
    ranks[1].message("sent", 2, 1, 0.6, 20, 21, 300)
    ranks[2].message("received", 1, 1, 0.2, 0.25, 22, 300)
    ranks[2].task("syrk", 0.5, 22, 22, 30)
    return [rank.write(name, 32) for rank in ranks]


def explained(paths):
    done = orrery("explain", "--json", *paths)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def near(a, b):
    return abs(a - b) < 0.01


@test
def the_chain_goes_from_rank_to_rank_on_one_clock_without_holes():
    said = explained(reversed(three("chain")))
    chain = said["critical_path"]
    long = [(l["what"], l["rank"], round(l["end_ms"] - l["start_ms"])) for l in chain
            if l["end_ms"] - l["start_ms"] > 0.5]
    assert long == [("submission", 0, 4), ("gemm on CPU", 0, 5),
                    ("message of rank 0 to rank 1", 1, 2), ("trsm on CPU", 1, 8),
                    ("message of rank 1 to rank 2", 2, 2), ("syrk on CPU", 2, 8)], chain
    assert near(said["makespan_ms"], 29.5) and near(chain[0]["start_ms"], 0), said
    assert all(near(a["end_ms"], b["start_ms"]) for a, b in zip(chain, chain[1:])), chain
    assert near(chain[-1]["end_ms"], 29.5), chain


@test
def idle_time_has_the_causes_of_several_ranks_which_add_up():
    idle = explained(three("idle"))["idle"]
    for worker in idle:
        assert near(sum(worker["causes_ms"].values()), worker["idle_ms"]), worker
        assert near(worker["busy_ms"] + worker["idle_ms"], 29.5), worker
    assert near(idle[1]["causes_ms"]["messages"], 11.5), idle
    assert near(idle[2]["causes_ms"]["messages"], 21.5), idle
    assert near(idle[0]["causes_ms"]["other ranks"], 20), idle


@test
def a_wait_for_a_message_says_what_its_sender_did_meanwhile():
    waits = explained(three("waits"))["waits"]
    found = {(w["rank"], w["for_rank"], w["why"], w.get("kernel"), w.get("waits_for_rank")):
             w["ms"] for w in waits}
    expected = {(1, 0, "under way", None, None): 2, (1, 0, "computing", "gemm", None): 5,
                (1, 0, "not submitted", None, None): 4.5,
                (2, 1, "under way", None, None): 2, (2, 1, "computing", "trsm", None): 8,
                (2, 1, "waiting", None, 0): 11.5}
    assert found.keys() == expected.keys(), waits
    assert all(near(found[key], expected[key]) for key in expected), waits
    text = orrery("explain", *three("waits")).stdout
    assert "rank 1 waited 5.000 ms for a message of rank 0, which was computing gemm" in text
    assert "for a message of rank 1, which itself waited for rank 0" in text, text
    assert "for a message of rank 0, which had not submitted yet what it needs" in text, text


@test
def a_receiver_that_was_not_ready_itself_is_named():
    ranks = [Rank(r, 2) for r in range(2)]
    ranks[0].task("gemm", 0, 0, 0, 1)
    ranks[0].message("sent", 1, 1, 0.5, 1, 9)
    ranks[1].task("before", 0, 0, 0, 2)
    ranks[1].task("trsm", 0, 10, 10, 12)
    ranks[1].message("received", 0, 1, 8, 8, 10)
    waits = explained([rank.write("late", 13) for rank in ranks])["waits"]
    assert {w["why"] for w in waits} == {"under way", "receiver not ready"}, waits


@test
def a_wait_of_the_application_for_a_message_is_one():
    ranks = [Rank(r, 2) for r in range(2)]
    ranks[0].task("gemm", 0, 0, 0, 9)
    ranks[0].message("sent", 1, 1, 0.5, 9, 9.5)
    ranks[1].task("before", 0, 0, 0, 2)
    ranks[1].message("received", 0, 1, 3, 3, 10)
    ranks[1].rows.append(f'application,{ranks[1].at(3)},{ranks[1].at(10)},,,"a receive",'
                         ",,,,waiting,,,,,,,,\n")
    ranks[1].task("after", 10.5, 10.5, 10.5, 12)
    said = explained([rank.write("asked", 13) for rank in ranks])
    causes = said["idle"][1]["causes_ms"]
    assert near(causes["messages"], 7) and "application waits" not in causes, causes
    assert [(w["why"], round(w["ms"])) for w in said["waits"]] == [
        ("computing", 6), ("under way", 1)], said["waits"]
    assert [l["what"] for l in said["critical_path"] if l["end_ms"] - l["start_ms"] > 0.6] == [
        "gemm on CPU", "message of rank 0 to rank 1", "after on CPU"], said["critical_path"]


@test
def messages_that_went_by_way_of_others_are_known_by_their_order():
    ranks = [Rank(r, 2) for r in range(2)]
    ranks[0].task("one", 0, 0, 0, 4)
    ranks[0].task("two", 0, 4, 4, 8)
    ranks[0].message("sent", 1, 0, 1, 4, 12)
    ranks[0].message("sent", 1, 0, 2, 8, 12)
    ranks[1].message("received", 0, 0, 0.1, 0.2, 10)
    ranks[1].message("received", 0, 0, 0.3, 0.4, 11)
    ranks[1].task("last", 0, 11, 11, 12)
    chain = explained([rank.write("tree", 13) for rank in ranks])["critical_path"]
    assert [l["what"] for l in chain if l["end_ms"] - l["start_ms"] > 0.5] == [
        "one on CPU", "two on CPU", "message of rank 0 to rank 1", "last on CPU"], chain


@test
def traces_of_two_runs_are_doubted():
    ranks = [Rank(r, 2) for r in range(2)]
    for rank in ranks:
        rank.task("gemm", 0, 0, 0, 4)
        rank.message("sent", 1 - rank.rank, 1, 1, 4, 4.5)
    done = orrery("explain", *(rank.write("apart", 5) for rank in ranks))
    assert done.returncode == 0 and "are these traces of one run?" in done.stderr, done


@test
def a_rank_without_tasks_has_no_graph():
    ranks = [Rank(r, 2) for r in range(2)]
    ranks[0].task("gemm", 0, 0, 0, 4)
    said = explained([rank.write("lazy", 5) for rank in ranks])
    assert near(said["idle"][1]["causes_ms"]["other ranks"], 4), said


@test
def files_that_are_not_those_of_all_ranks_are_refused_by_name():
    paths = three("some")
    done = orrery("explain", *paths[:2])
    assert done.returncode == 1 and "a run of 3 ranks" in done.stderr, done
    done = orrery("explain", *paths[:2], paths[1])
    assert done.returncode == 1 and "a trace of rank 1 already" in done.stderr, done
    os.remove(paths[1].replace(".csv", ".graph"))
    done = orrery("explain", *paths)
    assert done.returncode == 1 and "some.rank1.graph" in done.stderr, done
    done = orrery("explain", "-n", "3", *paths)
    assert done.returncode == 2 and "-n needs a program" in done.stderr, done
    done = orrery("explain", "--graph", "x", *paths)
    assert done.returncode == 2 and "--graph is for one trace" in done.stderr, done


def need_page():
    if not PAGE:
        raise Skip("no charting library was there when this was built")


def page(*words):
    path = os.path.join(TOP.name, "page.html")
    done = orrery("report", "-o", path, *words)
    assert done.returncode == 0, done
    with open(path, encoding="utf-8") as file:
        text = file.read()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(data.group(1)), done.stdout


@test
def the_report_has_a_line_per_rank_the_bytes_between_them_and_their_imbalance():
    need_page()
    data, text = page(*three("report"))
    ranks = data["ranks"]
    assert [(r["tasks"], round(r["busy_us"]), r["sent_bytes"], r["received_bytes"])
            for r in ranks["ranks"]] == [(1, 5000, 100, 0), (1, 8000, 300, 100),
                                         (1, 8000, 0, 300)], ranks
    assert ranks["bytes"] == [[0, 100, 0], [0, 0, 300], [0, 0, 0]], ranks
    assert ranks["busiest_rank"] == 1 and near(ranks["imbalance"], 8 / 7 - 1), ranks
    rows = [line.split() for line in text.splitlines()]
    assert "bytes from rank to rank" in text and ["1", "-", "-", "300"] in rows, text
    assert "imbalance   14.3 %: rank 1 computed for 8.000 ms" in text, text


@test
def the_page_has_the_workers_of_all_ranks_on_one_clock():
    need_page()
    data, _ = page(*three("report"))
    assert [w["name"] for w in data["workers"]] == [f"rank {r}: CPU 0" for r in range(3)]
    assert data["tasks"]["worker"] == [0, 1, 2] and data["tasks"]["job"] == [1, 2, 3], data
    starts, time = [], 0
    for step in data["tasks"]["start"]:
        time += step
        starts.append(time)
    assert all(near(a, b) for a, b in zip((s / 1e6 for s in starts), (4.5, 11.5, 21.5)))
    assert data["explanation"]["ranks"] == 3, data["explanation"]


@test
def many_ranks_are_put_together_in_the_matrix_and_lose_no_byte():
    need_page()
    n = 70
    ranks = [Rank(r, n) for r in range(n)]
    for r in range(n):
        ranks[r].zero, ranks[r].shift, ranks[r].ahead = ZERO[0], 0, 0
        ranks[r].rows[0] = f"rank,0,0,,,,,{r},{n},,,,{ZERO[0]},,,,,,\n"
        ranks[r].task("gemm", 0, 0, 0, 4)
        ranks[r].message("sent", (r + 1) % n, 1, 1, 4, 5, 10)
        ranks[r].message("received", (r - 1) % n, 1, 1, 1, 5, 10)
    data, text = page("--plain", *(rank.write("many", 6) for rank in ranks))
    said = data["ranks"]
    assert said["ranks_per_row"] == 3 and len(said["bytes"]) == 24, said
    assert sum(map(sum, said["bytes"])) == 10 * n and said["bytes"][0][0] == 20, said
    assert "to 60-65" in text and "to 66-69" in text, text


sys.exit(run_all())

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
usage: starpu_send_recv_data_use.py FOLDER
How long data of messages between processes waited until a task used them, from
comms.rec and tasks.rec in FOLDER: FOLDER/recv_use.png and FOLDER/send_use.png, drawn
with gnuplot. starpu_fxt_tool writes no comms.rec, since there is no MPI here yet: the
files are those of StarPU.
  -h, --help     this text
  -v, --version  the version
Exit codes: 0; 1 when something failed; 2 for a wrong command line.
example: starpu_send_recv_data_use.py .
"""
import bisect
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True  # where uninstalling finds none
sys.path[:0] = [HERE, os.path.join(HERE, "..", "share", "orrery")]
from starpu_traces import (  # noqa: E402
    Failed, gnuplot, main, only_files, quoted, read_records)


def uses_of(path):
    """By process and datum: (start, worker) of the tasks that use it, in order."""
    uses = {}
    for record in read_records(path):
        if "Control" in record or "StartTime" not in record:
            continue
        rank = record.get("MPIRank", "-1")
        use = float(record["StartTime"]), record.get("WorkerId", "-1")
        for handle in set(record.get("Handles", "").split()):
            uses.setdefault((rank, handle), []).append(use)
    for list_of_uses in uses.values():
        list_of_uses.sort()
    return uses


def delays(messages, uses, rank, handle, time):
    """(rank-worker, ms) of the first task after each message that uses its data."""
    found = []
    for message in messages:
        at = float(message[time])
        after = uses.get((message[rank], message[handle]), [])
        place = bisect.bisect_right(after, (at, "\U0010ffff"))
        if place < len(after):
            start, worker = after[place]
            found.append((f"{message[rank]}-{worker}", start - at))
    return found


def draw(path, found, title):
    workers = sorted({worker for worker, _ in found})
    bars = "".join("%d %f\n" % (workers.index(worker), delay)
                   for worker, delay in found)
    tics = ", ".join(f"'{worker}' {n}" for n, worker in enumerate(workers))
    gnuplot(f"set terminal pngcairo size 900,500\nset output {quoted(path)}\n"
            f"set title '{title}'\nset ylabel 'ms until it is used'\nset logscale y\n"
            f"set xtics ({tics})\nset xrange [-0.5:{len(workers) - 0.5}]\n"
            f"plot '-' with points pt 7 lc rgb '#444444' notitle\n{bars}e\n")


def run(words):
    if len(only_files(words)) != 1:
        raise Failed("a folder with comms.rec and tasks.rec; see --help", 2)
    messages = read_records(os.path.join(words[0], "comms.rec"))
    uses = uses_of(os.path.join(words[0], "tasks.rec"))
    try:
        pictures = (("recv_use.png", delays(messages, uses, "Dst", "RecvHandle",
                                            "RecvTime"), "data received"),
                    ("send_use.png", delays(messages, uses, "Src", "SendHandle",
                                            "SendTime"), "data sent"))
    except (KeyError, ValueError) as error:
        raise Failed(f"comms.rec: a message without {error}") from error
    for name, found, title in pictures:
        print(f"{name}: {len(found)} of {len(messages)} messages have data that are "
              "used later")
        if found:
            waits = [delay for _, delay in found]
            print("%s: from %.3f to %.3f ms" % (name, min(waits), max(waits)))
            draw(os.path.join(words[0], name), found, title)


main("starpu_send_recv_data_use.py", __doc__, run)

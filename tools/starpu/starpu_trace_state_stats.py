#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
usage: starpu_trace_state_stats.py [-t] [-e] [-s SEQTIME] trace.rec
How often all workers entered each state and how long they were in it, as CSV, from
what starpu_fxt_tool writes. Only what lies between start_profiling and stop_profiling,
where these are marked. What a worker did last ends with its Deinitializing; without
that it has no end, and is left out.
  -t, --time              times.csv, too: Runtime, Task, Idle, Scheduling
  -e, --efficiency        efficiencies.csv, too
  -s, --seq_task_time MS  the time of all tasks one after the other on one worker;
                          with -e
  -h, --help              this text
Exit codes: 0; 1 when something failed; 2 for a wrong command line.
example: starpu_trace_state_stats.py -t trace.rec
"""
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True  # where uninstalling finds none
sys.path[:0] = [HERE, os.path.join(HERE, "..", "share", "orrery")]
from starpu_traces import Failed, main, moment, read_records, write_whole  # noqa: E402


def profiled(events, path):
    starts = [e["S"] for e in events if e["E"] == "start_profiling"]
    stops = [e["S"] for e in events if e["E"] == "stop_profiling"]
    if len(starts) != len(stops):
        raise Failed(f"{path}: {len(starts)} start_profiling, {len(stops)} "
                     "stop_profiling")
    if not starts:
        return lambda begin, end: end - begin
    return lambda begin, end: sum(
        max(0.0, min(end, stop) - max(begin, start))
        for start, stop in zip(sorted(starts), sorted(stops)))


def intervals(events):
    """(name, category, begin, end): SetState until the next; Push and Pop in pairs."""
    now, stacks = {}, {}
    for event in events:
        worker, time = event.get("W"), event["S"]
        if event["E"] == "SetState":
            if worker in now:
                yield *now[worker], time
            if event["N"] == "Deinitializing":
                now.pop(worker, None)
                stacks[worker] = None
            elif stacks.get(worker, []) is not None:
                now[worker] = event["N"], event["C"], time
        elif event["E"] == "PushState" and stacks.get(worker, []) is not None:
            stacks.setdefault(worker, []).append((event["N"], event["C"], time))
        elif event["E"] == "PopState" and stacks.get(worker):
            yield *stacks[worker].pop(), time


def statistics(path):
    events = read_records(path)
    if not events:
        raise Failed(f"{path}: no event")
    try:
        for event in events:
            event["S"] = moment(event["S"])
            event["E"] = event["E"].strip()
            if event["E"] in ("SetState", "PushState") and not {"N", "C"} <= event.keys():
                raise KeyError("N, C")
    except (KeyError, ValueError) as error:
        raise Failed(f"{path}: a record without event or time, or a state without name or "
                     "category") from error
    within, rows = profiled(events, path), {}
    for name, category, begin, end in intervals(events):
        time = within(begin, end)
        if time > 0 or begin == end:
            row = rows.setdefault((name, category), [0, 0.0])
            row[0] += 1
            row[1] += time
    return rows


def efficiencies(times, sequential):
    task, runtime = times["Task"], times["Runtime"]
    idle, scheduling = times["Idle"], times["Scheduling"]

    def share(part, whole):
        return part / whole if whole else 1.0

    found = {"Task": share(sequential, task) if sequential else 1.0,
             "Runtime": share(task + scheduling, task + runtime + scheduling),
             "Scheduling": share(task, task + scheduling),
             "Pipeline": share(task + runtime + scheduling,
                               task + runtime + idle + scheduling)}
    parallel = 1.0
    for value in found.values():
        parallel *= value
    return {"Parallel": parallel, **found}


def write_csv(path, head, rows):
    write_whole(path, head + "\n" + "".join(
        f'"{name}",{value:.6f}\n' for name, value in rows.items()))


def read_ms(option, text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise Failed(f"{option} takes ms; see --help", 2)
    return value


def read_words(words):
    show_times = show_shares = False
    sequential, paths, words = None, [], list(words)
    while words:
        word = words.pop(0)
        if word in ("-t", "--time"):
            show_times = True
        elif word in ("-e", "--efficiency"):
            show_shares = True
        elif word in ("-s", "--seq_task_time"):
            sequential = read_ms(word, "".join(words[:1]))
            words = words[1:]
        elif word.startswith("-"):
            raise Failed(f"{word} is not understood; see --help", 2)
        else:
            paths.append(word)
    if len(paths) != 1:
        raise Failed("one trace.rec; see --help", 2)
    return paths[0], show_times, show_shares or sequential is not None, sequential


def run(words):
    path, show_times, show_shares, sequential = read_words(words)
    rows = statistics(path)
    print('"Name","Count","Type","Duration"')
    for (name, category), (count, time) in sorted(rows.items()):
        quoted = name.replace('"', '""')
        print(f'"{quoted}",{count},"{category}",{time:.6f}')
    times = {"Runtime": 0.0, "Task": 0.0, "Idle": 0.0, "Scheduling": 0.0}
    for (name, category), (_, time) in rows.items():
        times["Scheduling" if name == "Scheduling" else
              "Idle" if category == "Other" else
              category if category in times else "Runtime"] += time
    if show_times:
        write_csv("times.csv", '"Time","Duration"', times)
    if show_shares:
        if sequential is None:
            print("starpu_trace_state_stats.py: warning: without -s the efficiency of "
                  "tasks is taken for 1", file=sys.stderr)
        write_csv("efficiencies.csv", '"Efficiency","Value"',
                  efficiencies(times, sequential))


main("starpu_trace_state_stats.py", __doc__, run)

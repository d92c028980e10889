#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program of several ranks, and the records of one, under the debugger: events have their
rank, messages are events, a chain goes on at the rank that sends. Prints TAP.

    test-ranks.py ORRERY RANKS
"""
import os
import re
import subprocess
import sys
import tempfile

import dap
import debug_util as debug
from tools_util import Tap

TOOL, PROGRAM = map(os.path.abspath, sys.argv[1:3])
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
RECORD = os.path.join(TOP.name, "row/")


def cluster(n):
    return f"{n}*{debug.CPUS} + ib 100Gb/s"


def typed(commands, n=3, program=(PROGRAM,), **more):
    return debug.typed(TOOL, program, commands, machine=cluster(n), **more)


def claim(tap, what, shown, *found, code=0):
    text, status = shown
    lacks = [words for words in found if words not in text]
    tap.claim(what, not lacks and status == code, f"lacks {lacks}, exit code {status}: {text}")


def check_programs(tap):
    claim(tap, "a breakpoint on a receive of one rank", typed(
        ["break receive rank 2", "continue", "info ranks", "quit"]),
          "rank 2: value 1, 4 bytes, has come from rank 1, tag 2",
          "  rank 0, on laptop-8: submitted and not over: 0",
          "* rank 2, on laptop-8: submitted and not over: 1")
    claim(tap, "sends are events, too", typed(["break send data 'value 0'", "continue"]),
          "rank 0: value 0, 4 bytes, has gone to rank 1, tag 1")
    claim(tap, "a chain through the ranks that send", typed(
        ["break start slow", "continue", "rank 2", "why #1"]),
          "rank 2: task `add' (number 1) waits for a message of data `value 1'",
          "rank 2: the value of value 1, 4 bytes, comes from rank 1, tag 2: there it is not its "
          "turn yet",
          "rank 1: a message of data `value 1' waits for task `add' (number 1)",
          "rank 1: the value of value 0, 4 bytes, comes from rank 0, tag 1: there it is not its "
          "turn yet",
          "rank 0: a message of data `value 0' waits for task `slow' (number 1)",
          "rank 0: task `slow' (number 1) starts on CPU ")
    claim(tap, "a message that nobody sends", typed(
        ["continue", "rank 1", "info tasks blocked", "why #2"], program=(PROGRAM, "stuck")),
          "deadlock: nothing can go on any more", "add #2: blocked",
          "rank 1: the value of ", "comes from rank 0, tag 99: that rank has not asked for "
          "that yet",
          "rank 0: the application waits for")
    claim(tap, "a task of a rank, its end, and the next event of its worker", typed(
        ["break start add rank 1", "continue", "finish #1", "reverse-next"]),
          "rank 1: add #1 starts on CPU ", "rank 1: add #1 ends on CPU ")
    claim(tap, "the run ends with its last rank", typed(["continue"]), "rank 2: the run ends")
    claim(tap, "--ranks says how many there are to be", typed(
        ["quit"], options=("--ranks", "4")), "the machine has a node for 3: name 4 of them", code=2)
    claim(tap, "a rank that there is not", typed(["continue", "rank 7"]),
          "there is no rank 7 with a run now", code=1)
    claim(tap, "a run that is alone has no ranks", debug.typed(
        TOOL, [PROGRAM], ["rank 1"]), "the program has one rank", code=1)


def check_records(tap):
    done = subprocess.run([TOOL, "record", "--ranks", "3", "--lines", "-o", RECORD, "--",
                           PROGRAM], env=debug.environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", check=False, timeout=100)
    tap.claim("the program's ranks are recorded", done.returncode == 0, done.stdout)
    shown = typed(["break start add rank 2", "continue", "reverse-step 2", "step 2",
                   "info copies", "list"], program=(RECORD,))
    claim(tap, "a record of ranks goes back, by copies, to lines", shown,
          "rank 2: add #1 starts on CPU ", "a copy of the process stands at event ",
          "ranks.c:")
    stops = re.findall(r"event (\d+) at .*: rank 2: add #1 starts", shown[0])
    tap.claim("forward again it comes to the same event",
              len(stops) >= 2 and len(set(stops)) == 1, shown[0])


def start(*options, **more):
    """An editor, whose program stands where its first run begins; what launch said."""
    client = dap.Client([TOOL, "debug", "--dap", "--assume", debug.TIMES, *options],
                        debug.environment())
    client.ask("initialize", adapterID="orrery")
    said = client.ask("launch", **dict({"program": PROGRAM, "machine": cluster(3),
                                        "scheduler": "lws", "stopOnEntry": True}, **more))
    if said["success"]:
        client.event("initialized")
    return client, said


def names_of(client, reference):
    return {one["name"]: one for one in
            client.body("variables", variablesReference=reference)["variables"]}


def scopes_of(client, frame):
    return {one["name"]: one["variablesReference"]
            for one in client.body("scopes", frameId=frame["id"])["scopes"]}


def check_stops(tap, client):
    said = client.body("setFunctionBreakpoints", breakpoints=[
        {"name": "start add rank 2"}, {"name": "start add", "condition": "rank 1"},
        {"name": "start add", "condition": "rank one"}])["breakpoints"]
    tap.claim("breakpoints of one rank in editors", [one["verified"] for one in said] ==
              [True, True, False] and "one is no rank" in said[2]["message"], said)
    client.way("configurationDone")
    stops = [client.way("continue", threadId=1) for _ in range(2)]
    tap.claim("they are come to on that rank", [
        (one["description"].split(" starts")[0], one["hitBreakpointIds"]) for one in stops] ==
        [("rank 1: add #1", [2]), ("rank 2: add #1", [1])], stops)
    client.ask("setFunctionBreakpoints", breakpoints=[{"name": "start add"}])
    back = [client.way("reverseContinue", threadId=1)]
    tap.claim("without a rank all ranks are meant, also back", [
        one["description"].split(" starts")[0] for one in back] == ["rank 1: add #1"], back)
    return back[0]


def check_threads(tap, client, stopped):
    threads = {one["name"]: one["id"] for one in client.body("threads")["threads"]}
    tap.claim("threads are named by rank", [
        sum(name.startswith(f"rank {n}: ") for name in threads) for n in range(3)] ==
        [9, 9, 9] and len(set(threads.values())) == 27, threads)
    frames = client.body("stackTrace", threadId=stopped["threadId"])["stackFrames"]
    tap.claim("the thread that stopped has the event on its stack",
              frames[0]["name"].startswith("rank 1: add #1 starts"), frames)
    other = client.body("stackTrace", threadId=threads["rank 2: the application"])["stackFrames"]
    tap.claim("the application of another rank has a stack of its own", other and
              not any(one["name"].startswith("rank 1") for one in other), other)
    return frames[0], other[0]


def check_variables(tap, client, here, there):
    first, second = scopes_of(client, here), scopes_of(client, there)
    tap.claim("a frame has the scopes of its rank", {"Task", "Ranks"} <= set(first) and
              "Task" not in second and {"Data", "Workers", "Ranks"} <= set(second), first, second)
    ranks = names_of(client, first["Ranks"])
    tap.claim("what each rank does", list(ranks) == ["rank 0", "rank 1", "rank 2"] and
              "laptop-8" in ranks["rank 2"]["value"], ranks)
    own, others = names_of(client, first["Data"]), names_of(client, second["Data"])
    tap.claim("data are those of the rank", "value 1" in own and
              others["value 0"]["value"].endswith("no value on this rank now") and
              own["value 0"]["value"] != others["value 0"]["value"], own, others)
    inside = names_of(client, own["value 1"]["variablesReference"])
    tap.claim("and so is what is inside of them",
              any("add #1" in one["value"] for one in inside.values()), inside)
    said = client.body("evaluate", expression="info tasks", frameId=there["id"])
    tap.claim("the console asks the rank of the frame", "add #1: blocked" in said["result"], said)
    one = client.body("dataBreakpointInfo", name="value 2",
                      variablesReference=second["Data"])
    tap.claim("a variable is watched on its rank", one["dataId"] == "rank 2: value 2", one)
    client.ask("setFunctionBreakpoints", breakpoints=[])
    client.ask("setDataBreakpoints", breakpoints=[{"dataId": one["dataId"]}])
    said = client.way("continue", threadId=1)
    tap.claim("where it changes it stops", "rank 2: " in said["description"], said)


def check_steps(tap, client):
    threads = {one["name"]: one["id"] for one in client.body("threads")["threads"]}
    client.ask("setDataBreakpoints", breakpoints=[])
    said = client.way("next", threadId=threads["rank 0: the application"])
    tap.claim("next is the next event of that rank's thread, or the end",
              said["threadId"] == threads["rank 0: the application"] or
              "the run ends" in said["description"], said)
    while "the run ends" not in said["description"]:
        said = client.way("continue", threadId=1)
    client.ask("continue", threadId=1)
    tap.claim("all ranks end", client.event("exited") == {"exitCode": 0})


def check_editors(tap):
    client, _ = start()
    stopped = check_stops(tap, client)
    here, there = check_threads(tap, client, stopped)
    check_variables(tap, client, here, there)
    check_steps(tap, client)
    client.end()
    client, said = start(ranks=4)
    tap.claim("an editor may say how many ranks there are to be",
              not said["success"] and "cannot be run" in said["message"], said)
    client.end()
    client, said = start("--ranks", "3")
    tap.claim("so may the command line", said["success"], said)
    client.end()


def check_record_in_editor(tap):
    """A chain that goes on at another rank; lines, on all ranks or one."""
    client, said = start(program=RECORD)
    tap.claim("a folder of records is a program in editors, too", said["success"], said)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ranks.c")
    with open(source, encoding="utf-8") as file:
        line = 1 + [text.strip() for text in file].index(
            "STARPU_RW, data[i], 0);")
    client.ask("setBreakpoints", source={"path": source},
               breakpoints=[{"line": line}, {"line": line - 1, "condition": "rank 2"}])
    client.way("configurationDone")
    said = client.way("continue", threadId=1)
    if "the run ends" in said["description"]:
        tap.skip("lines stop at all ranks, or at one", "no addr2line")
    else:
        found = re.match(r"rank (\d): add #1 is submitted", said["description"])
        tap.claim("lines stop at all ranks, or at one", found, said)
    client.ask("setBreakpoints", source={"path": source}, breakpoints=[])
    client.ask("setFunctionBreakpoints", breakpoints=[{"name": "start slow"}])
    client.way("reverseContinue", threadId=1)
    client.way("continue", threadId=1)
    client.body("threads")
    said = client.body("evaluate", expression="rank 2")
    said = client.body("evaluate", expression="why #1")
    tap.claim("the console follows a chain through ranks",
              "rank 1: a message of data `value 1' waits" in said["result"], said)
    client.end()


def main():
    tap = Tap()
    check_programs(tap)
    check_editors(tap)
    check_records(tap)
    check_record_in_editor(tap)
    tap.end()


main()

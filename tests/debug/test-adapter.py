#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Debug Adapter Protocol: initialise, breakpoints, threads, stacks, variables, steps
forward and back. Prints TAP.

    test-adapter.py ORRERY CASES TWO-THREADS
"""
import os
import subprocess
import sys

import dap
import debug_util as debug
from tools_util import Tap


def start(tool, program, argument, machine=debug.CPUS, policy="lws", edits=None, first=1,
          **more):
    client = dap.Client([tool, "debug", "--dap", "--assume", debug.TIMES],
                        debug.environment(**more))
    able = client.body("initialize", adapterID="orrery", linesStartAt1=bool(first),
                       columnsStartAt1=bool(first))
    client.launched = client.ask("launch", program=program, args=[argument], machine=machine,
                                 scheduler=policy, **({"set": edits} if edits else {}))
    client.able = able
    if client.launched["success"]:
        client.event("initialized")
    return client


def check_session(tap, tool, cases):
    client = start(tool, cases, "wrong-dependency")
    tap.claim("it says what it can", all(client.able.get(word) for word in (
        "supportsConfigurationDoneRequest", "supportsFunctionBreakpoints", "supportsStepBack",
        "supportsDataBreakpoints")) and "supportsGotoTargetsRequest" not in client.able,
              client.able)
    said = client.body("setFunctionBreakpoints", breakpoints=[
        {"name": "submit use"}, {"name": "end slow", "condition": "date > 3ms"},
        {"name": "start", "condition": "weight > 3"}])["breakpoints"]
    tap.claim("names of kernels and events are breakpoints, and what is none is said to be so",
              [one["verified"] for one in said] == [True, True, False] and
              "is no condition" in said[2]["message"], said)
    stopped = client.way("configurationDone")
    tap.claim("it stops there", stopped["reason"] == "breakpoint" and
              stopped["hitBreakpointIds"] == [1] and stopped["threadId"] == 1 and
              "use #3 is submitted" in stopped["description"], stopped)
    check_looks(tap, client)
    steps = [client.way("stepIn", threadId=1) for _ in range(3)]
    back = [client.way("stepBack", threadId=1) for _ in range(3)]
    tap.claim("steps back undo steps",
              [one["description"] for one in back] ==
              [one["description"] for one in steps[1::-1] + [stopped]], steps, back)
    said = client.way("continue", threadId=1)
    tap.claim("continue comes to the next breakpoint", said["hitBreakpointIds"] == [2] and
              "slow #2 ends" in said["description"], said)
    said = client.way("reverseContinue", threadId=1)
    tap.claim("and back to the one before", said["hitBreakpointIds"] == [1] and
              said["description"] == stopped["description"], said)
    said = client.body("evaluate", expression="why", context="repl")
    tap.claim("the console takes commands", "waits for task `slow'" in said["result"], said)
    client.body("setFunctionBreakpoints", breakpoints=[])
    said = client.way("continue", threadId=1)
    tap.claim("without breakpoints it stops at the end of the run",
              said["description"] == "the run ends", said)
    client.ask("continue", threadId=1)
    tap.claim("then the program ends", client.event("exited") == {"exitCode": 0})
    client.event("terminated")
    tap.claim("the adapter ends with the editor", client.end() == 0)


def check_looks(tap, client):
    threads = client.body("threads")["threads"]
    tap.claim("the application and the workers are threads",
              [one["id"] for one in threads] == list(range(1, 10)) and
              "CPU 0" in threads[1]["name"], threads)
    frames = client.body("stackTrace", threadId=1)["stackFrames"]
    tap.claim("the stack begins with the event", "use #3 is submitted" in frames[0]["name"], frames)
    scopes = client.body("scopes", frameId=frames[0]["id"])["scopes"]
    names = {one["name"]: one["variablesReference"] for one in scopes}
    tap.claim("a frame has scopes", set(names) == {"Task", "Data", "Workers", "Memory nodes",
                                                   "Ready tasks"}, scopes)
    data = {one["name"]: one for one in
            client.body("variables", variablesReference=names["Data"])["variables"]}
    tap.claim("data are variables", {"input", "other", "result"} <= set(data) and
              "NUMA 0" in data["other"]["value"], data)
    inside = client.body("variables",
                         variablesReference=data["other"]["variablesReference"])["variables"]
    tap.claim("inside of them are those who use them",
              any("slow #2 reads and writes it" in one["value"] for one in inside) and
              any("use #3 reads it" in one["value"] for one in inside), inside)
    task = client.body("variables", variablesReference=names["Task"])["variables"]
    tap.claim("a task has its data", any(one["name"] == "other" and
                                         "reads other" in one["value"] for one in task), task)
    tap.claim("a number that is none has nothing inside",
              client.body("variables", variablesReference=4000)["variables"] == [])


def check_stack_of_worker(tap, tool, cases):
    client = start(tool, cases, "priority-inversion", policy="prio", STARPU_NCPU="1")
    client.body("setFunctionBreakpoints", breakpoints=[{"name": "submit urgent"}])
    client.way("configurationDone")
    client.body("setFunctionBreakpoints", breakpoints=[{"name": "ready urgent"}])
    said = client.way("continue", threadId=1)
    frames = client.body("stackTrace", threadId=said["threadId"])["stackFrames"]
    tap.claim("a task that no worker has is a thread of its own",
              said["threadId"] == 1000009 and "urgent #9 is ready" in frames[0]["name"] and
              "in the queues of the policy prio" in frames[1]["name"], said, frames)
    said = client.way("next", threadId=2)
    tap.claim("next stays with the worker", said["threadId"] == 2, said)
    said = client.way("stepOut", threadId=2)
    tap.claim("stepping out is to the end of the task", "ends on CPU 0" in said["description"], said)
    client.end()


def check_line(tap, tool, cases):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.c")
    with open(source, encoding="utf-8") as file:
        lines = [n for n, text in enumerate(file, 1) if "starpu_task_submit(task)" in text]
    client = start(tool, cases, "late-callback")
    # The one of insert(), and the one of late_callback(); of others nothing is submitted.
    here = [lines[0], lines[2]]
    said = client.body("setBreakpoints", source={"path": source},
                       breakpoints=[{"line": line} for line in here])["breakpoints"]
    tap.claim("lines are breakpoints", [one["verified"] for one in said] == [True, True], said)
    stops = [client.way("configurationDone")]
    while "the run ends" not in stops[-1]["description"] and len(stops) < 9:
        stops.append(client.way("continue", threadId=1))
    if "the run ends" in stops[0]["description"]:
        tap.skip("they are come to where tasks are submitted there",
                 "no addr2line, or the program was compiled elsewhere")
    else:
        shown = [one["description"].split(" is")[0] for one in stops[:3]]
        tap.claim("they are come to where tasks are submitted there",
                  shown == ["prepare #1", "slow #2", "look #3"] and
                  len(stops) == 4, stops)
        back = [client.way("reverseContinue", threadId=1) for _ in range(2)]
        tap.claim("and back", ["look #3" in back[0]["description"],
                               "slow #2" in back[1]["description"]] == [True, True], back)
        frames = client.body("stackTrace", threadId=1)["stackFrames"]
        tap.claim("the frame has the line", frames[0]["line"] == here[1] and
                  frames[0]["column"] == 1 and
                  frames[0]["source"]["name"] == "cases.c", frames)
    client.end()


def check_conditions_of_lines(tap, tool, cases):
    """And an edit of the machine, which is the editor's."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.c")
    with open(source, encoding="utf-8") as file:
        lines = [n for n, text in enumerate(file, 1) if "starpu_task_submit(task)" in text]
    client = start(tool, cases, "late-callback", edits="cpu.speed = 2", MALLOC_PERTURB_="17")
    said = client.body("setBreakpoints", source={"path": source}, breakpoints=[
        {"line": lines[0], "condition": "task == 2"}, {"line": lines[2], "condition": "#1"},
        {"line": lines[2], "condition": "weight > 2"}])["breakpoints"]
    tap.claim("conditions of lines are read", [one["verified"] for one in said] ==
              [True, True, False] and "is no condition" in said[2]["message"], said)
    stopped = client.way("configurationDone")
    if "the run ends" in stopped["description"]:
        tap.skip("they hold", "no addr2line, or the program was compiled elsewhere")
    else:
        stops = [stopped, client.way("continue", threadId=1)]
        tap.claim("they hold", "slow #2 is submitted" in stops[0]["description"] and
                  "the run ends" in stops[1]["description"], stops)
    tap.claim("the adapter ends well", client.end() == 0)
    client = start(tool, cases, "late-callback", first=0)
    client.body("setBreakpoints", source={"path": source}, breakpoints=[{"line": lines[0] - 1}])
    stopped = client.way("configurationDone")
    frame = client.body("stackTrace", threadId=stopped["threadId"])["stackFrames"][0]
    if "the run ends" in stopped["description"]:
        tap.skip("an editor may count from 0", "no addr2line, or it was compiled elsewhere")
    else:
        tap.claim("an editor may count from 0",
                  (frame["line"], frame["column"]) == (lines[0] - 1, 0), frame)
    client.end()


def check_watch(tap, tool, cases):
    client = start(tool, cases, "thrashing", machine=debug.GPU, policy="dmda", **debug.SMALL)
    said = client.body("dataBreakpointInfo", name="left")
    tap.claim("data that there are not yet cannot be watched", said["dataId"] is None, said)
    client.ask("setFunctionBreakpoints", breakpoints=[{"name": "submit look"}])
    client.way("configurationDone")
    client.ask("setFunctionBreakpoints", breakpoints=[])
    said = client.body("dataBreakpointInfo", name="left")
    client.ask("setDataBreakpoints", breakpoints=[{"dataId": said["dataId"]}])
    stopped = client.way("continue", threadId=1)
    tap.claim("a datum is watched", "left sets out" in stopped["description"], stopped)
    client.end()


def check_refusals(tap, tool, cases):
    for command, arguments, words in (
            ("threads", {}, "not started yet"), ("restartFrame", {}, "does not know"),
            ("launch", {"machine": debug.CPUS}, "names no `program'"),
            ("launch", {"program": cases}, "names no `machine'")):
        client = dap.Client([tool, "debug", "--dap"], debug.environment())
        client.ask("initialize")
        said = client.ask(command, **arguments)
        tap.claim("%s %s is refused" % (command, "".join(arguments)),
                  not said["success"] and words in said["message"], said)
        client.process.stdin.close()
        tap.claim("it ends when the editor is gone", client.process.wait() == 0)
        client.process.stdout.close()
    client = start(tool, cases, "none")
    tap.claim("a program that does not start its run is said to fail",
              not client.launched["success"], client.launched)
    client.end()


def check_odd_names(tap, tool, cases):
    """What the run cannot read is refused, and answers belong to their questions."""
    client = start(tool, cases, "wrong-dependency")
    stops = [client.body("setFunctionBreakpoints", breakpoints=[{"name": "submit use"}])
             ["breakpoints"][0] for _ in range(70)]
    tap.claim("breakpoints may be set anew as often as one likes",
              all(one["verified"] for one in stops) and stops[-1]["id"] == 70, stops[-1])
    client.way("configurationDone")
    for name, words in (("x" * 5000, "less than 4000 bytes"), ("x" * 200, "does not understand"),
                        ("a\tb", "does not understand"), ("a\nclear", "no line end")):
        said = client.body("setDataBreakpoints", breakpoints=[{"dataId": name}])["breakpoints"]
        tap.claim("%.12r is no name of a datum" % name,
                  not said[0]["verified"] and words in said[0]["message"], said)
        said = client.body("dataBreakpointInfo", name=name)
        tap.claim("nor is there one", said["dataId"] is None, said)
        said = client.body("evaluate", expression="why", context="repl")
        tap.claim("the next answer is the right one", "task `slow'" in said["result"], said)
    client.end()


def check_what_is_no_message(tap, tool):
    for text in (b"GET / HTTP/1.1\r\n\r\n", b"Content-Length: 99999999999\r\n\r\n"):
        done = subprocess.run([tool, "debug", "--dap"], input=text, env=debug.environment(),
                              capture_output=True, timeout=100, check=False)
        tap.claim("what is no message of the protocol ends it, with a reason",
                  b"Content-Length: BYTES" in done.stderr, done)


def main():
    tool, cases, _ = sys.argv[1:]
    tap = Tap()
    check_session(tap, tool, cases)
    check_stack_of_worker(tap, tool, cases)
    check_line(tap, tool, cases)
    check_conditions_of_lines(tap, tool, cases)
    check_watch(tap, tool, cases)
    check_refusals(tap, tool, cases)
    check_odd_names(tap, tool, cases)
    check_what_is_no_message(tap, tool)
    tap.end()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Forward and back through a run: the same events, the same answers, the program's output
once; breakpoints; what is said of mistakes. Prints TAP.

    test-ways.py ORRERY CASES TWO-THREADS
"""
import os
import subprocess
import sys
import tempfile

import debug_util as debug
from tools_util import Tap

PLACE = ("event", "date", "kind", "text")


def place(said):
    return tuple(said.get(key) for key in PLACE)


def walk(session, command, most=10000):
    """All places that the command comes to, until it stays, or the run is over."""
    places = [place(session.first)]
    for _ in range(most):
        said = session.do(command)
        if "event" not in said or place(said) == places[-1]:
            return places
        places.append(place(said))
        if said["kind"] == "finish":
            return places
    return places


def check_steps(tap, tool, program, what, **setting):
    """Each event forward is the same back, with the same answer to `where'."""
    session = debug.Session(tool, program, **setting)
    forward = walk(session, "step")
    answers = {}
    back = []
    for number in range(len(forward) - 1, 0, -1):
        said = session.do("reverse-step")
        back.append(place(said))
        answers[said["event"]] = session.do("where")
    tap.claim("%s: %d steps back come to the same events" % (what, len(back)),
              len(forward) > 10 and back == forward[-2::-1], forward, back)
    again = [session.do("goto %d" % number) for number in (1, 5, 9)]
    same = all(session.do("goto %d" % number) and session.do("where") == answers[number]
               for number in range(1, len(forward)))
    tap.claim("%s: forward again, the answers are the same" % what,
              same and [one["event"] for one in again] == [1, 5, 9])
    session.do("goto %d" % len(forward))
    said = session.do("continue")
    code, rest = session.end()
    printed = session.output + "".join(rest)
    tap.claim("%s: it ends as it does by itself, and has printed each line once" % what,
              said == {"exited": 0} and code == 0 and
              all(printed.count(line) == 1 for line in setting_lines(program)),
              said, code, printed)


def setting_lines(program):
    return ["all are submitted\n"] if "two-threads" in program[0] else ["over\n"]


def check_breakpoints(tap, tool, cases):
    session = debug.Session(tool, [cases, "starvation"], policy="prio", STARPU_NCPU="1")
    session.do("break start alone")
    forward = []
    said = session.do("continue")
    while said.get("stop") == 1:
        forward.append(place(said))
        said = session.do("continue")
    back = []
    said = session.do("reverse-continue")
    while said.get("stop") == 1:
        back.append(place(said))
        said = session.do("reverse-continue")
    tap.claim("reverse-continue comes to the same breakpoints, last first, then to the beginning",
              len(forward) == 20 and back == forward[::-1] and said["kind"] == "begin",
              forward, back, said)
    hits = session.do("info breakpoints")["answer"][0]
    tap.claim("hits are counted", hits["hits"] == 2 * 20, hits)
    session.do("delete 1")
    tap.claim("a breakpoint that was deleted is none",
              session.do("continue").get("kind") == "finish")
    session.do("goto 1")
    session.do("break start alone on 0 if date >= 4ms and ready >= 1 and unfinished < 100")
    said = session.do("continue")
    tap.claim("words of a breakpoint hold together",
              said["stop"] == 2 and said["kind"] == "start" and 4000 <= said["date"] < 4100, said)
    session.do("goto 1")
    session.do("delete")
    session.do("break at 7.5ms")
    said = session.do("continue")
    tap.claim("a date is come to once",
              said["stop"] == 3 and said["date"] >= 7500 and
              session.do("continue").get("kind") == "finish", said)
    said = session.do("reverse-next")
    tap.claim("reverse-next stays with the application", said["lane"] == -1, said)
    session.do("delete")
    session.do("goto 40")
    lane = session.do("where")["answer"][0]["lane"]
    tap.claim("next stays with the worker", session.do("next")["lane"] == lane or lane < 0, lane)
    session.do("goto 2")
    said = session.do("finish #3")
    tap.claim("finish comes to the end of the task",
              said["kind"] == "end" and said["task"] == 3, said)
    session.end()
    session = debug.Session(tool, [cases, "wrong-dependency"])
    session.do("watch 2")
    said = session.do("continue")
    tap.claim("a datum may be called by its number",
              said.get("stop") == 1 and said.get("name") == "slow", said)
    session.do("delete")
    session.do("break wait")
    session.do("continue")
    said = session.do("where")["answer"]
    tap.claim("where the application begins to wait it says so",
              any(item["text"].startswith("the application begins to wait, in ")
                  for item in said), said)
    session.end()


def check_copies(tap, tool, cases, two_threads):
    """No step back runs far: copies stand all along the run, and not too many."""
    session = debug.Session(tool, [cases, "many"])
    last = session.do("continue")["event"]
    copies = [item["at"] for item in session.do("info copies")["answer"]] + [last]
    gaps = [b - a for a, b in zip(copies, copies[1:])]
    tap.claim("copies stand all along a run of many events",
              last > 100000 and 12 <= len(copies) <= 33 and copies[0] == 1 and
              max(gaps) <= last / 8, last, copies)
    said = [session.do("reverse-step")["event"] for _ in range(5)]
    tap.claim("steps back are by one event there, too",
              said == [last - n for n in range(1, 6)], said)
    there = copies[-2] + 2000  # far from the copy before it, so that one is left near it
    text = session.do("goto %d" % there)["text"]
    left = session.do("info copies")["answer"][-1]
    said = [session.do("reverse-step")["event"] for _ in range(300)]
    after = session.do("info copies")["answer"][-1]["at"]
    tap.claim("a copy is left shortly before where it goes back to",
              left["at"] == there - 256 and "on the way back" in left["text"] and
              after == there - 257 - 256, there, left, after)
    tap.claim("steps go on behind it",
              said == [there - n for n in range(1, 301)] and
              session.do("goto %d" % there)["text"] == text, said)
    half = last // 2
    text = session.do("goto %d" % half)["text"]
    session.do("step")
    tap.claim("in the middle as well", session.do("reverse-step")["text"] == text, text)
    session.end()
    session = debug.Session(tool, [two_threads])
    shown = session.do("info copies")["answer"][0]["text"]
    tap.claim("a process with threads has none", "no copies" in shown, shown)
    session.end()
    ask = ["sh", "-c", 'echo "of BLAS: $OPENBLAS_NUM_THREADS"; exec "$0" starvation', cases]
    for setting, wanted in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")):
        shown, _ = debug.typed(tool, ask, ["continue"], **setting)
        tap.claim("OpenBLAS starts no threads, unless the user says how many: " + wanted,
                  "of BLAS: %s\n" % wanted in shown, shown)


def check_source(tap, tool, cases):
    session = debug.Session(tool, [cases, "wrong-dependency"])
    session.do("break submit use")
    said = session.do("continue")
    shown = session.do("list")
    if "source" not in said:
        tap.skip("a task knows its line", "no addr2line")
    else:
        # A compiler's cache may have an object that was made in another folder.
        if not os.path.exists(said["source"].rsplit(":", 1)[0]):
            tap.skip("a task knows the line where it was submitted", shown)
            session.end()
            return
        here = [item["text"] for item in shown["answer"] if item["text"].startswith(">")]
        tap.claim("a task knows the line where it was submitted",
                  "cases.c:" in said["source"] and "starpu_task_submit(task)" in here[0],
                  said, shown)
    session.end()


def check_mistakes(tap, tool, cases):
    session = debug.Session(tool, [cases, "missing-wait"])
    for command, words in (
            ("jump", "jump is no command"), ("break", "break where?"),
            ("break start if size > 3", "is no condition"), ("break at noon", "noon is no date"),
            ("break if", "needs a condition"), ("break data", "needs a word"),
            ("break a b", "has one kernel"),
            ("break a at 3ms", "stands alone"), ("info", "info about what?"),
            ("info data nothing", "there are no data nothing"),
            ("info node X", "there is no memory node X"), ("why #99", "task #99 is over"),
            ("why idle 99", "there is no worker 99"), ("delete 7", "no breakpoint 7"),
            ("until soon", "Write one such as 3.5ms"), ("step x", "Write a number"),
            ("watch nothing", None), ("goto", "Write its number"), ("diff", "which policy")):
        said = session.do(command)
        tap.claim("`%s' is answered" % command,
                  words is None or words in said.get("error", ""), said)
    session.do("delete")
    session.do("break start sloow")
    said = session.do("continue")
    tap.claim("a breakpoint that was never come to is named at the end",
              said.get("notes") == ["breakpoint %s (start sloow) was never come to" %
                                    session.do("info breakpoints")["answer"][0]["breakpoint"]],
              said)
    session.do("continue")
    tap.claim("a run that is over can only go back",
              "has ended" in session.do("step").get("error", "") and
              session.do("reverse-step")["kind"] == "finish")
    code, _ = session.end()
    tap.claim("that ends well", code == 0, code)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "script")
        with open(path, "w", encoding="ascii") as file:
            file.write("# a comment\nstep\n\nnonsense\nstep 3\n")
        shown, code = debug.typed(tool, [cases, "missing-wait"], [], options=["--script", path])
        tap.claim("a script ends with the command that fails",
                  code == 1 and "event 2" in shown and "event 5" not in shown, shown)
    for options, code, text in (
            (["debug", "-m", debug.CPUS, "--", "/bin/true"], 1, "without a simulated run"),
            (["debug", "-m", debug.CPUS, "--", "./none"], 1, "cannot be started"),
            (["debug", "--", cases, "thrashing"], 2, "only a simulated run"),
            (["debug", "-m", debug.CPUS], 2, "which program?"),
            (["debug", "--dap", "--json"], 2, "protocol of its own"),
            (["debug", "-m", debug.CPUS, "--input", "none", "--", cases, "x"], 1, "--input none")):
        done = subprocess.run([tool, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=debug.environment(),
                              encoding="utf-8", timeout=60, check=False)
        tap.claim("%s is refused" % " ".join(options[:4]).replace(cases, "cases"),
                  done.returncode == code and text in done.stdout, done.stdout, done.returncode)


def check_deadlock(tap, tool, cases):
    session = debug.Session(tool, [cases, "acquisitions"])
    still = session.do("continue")
    said = session.do("continue")
    tap.claim("a deadlock is stopped at, then ends the program, which says why",
              still["kind"] == "deadlock" and said == {"exited": 3} and
              "nothing can go on any more" in session.output and
              session.output.count("unfinished tasks") == 1, still, said, session.output)
    tap.claim("and it goes back from there",
              place(session.do("reverse-step")) == place(still) and
              session.do("reverse-step")["event"] == still["event"] - 1)
    session.end()


def check_words(tap, tool, cases):
    """What is said fits the moment."""
    session = debug.Session(tool, [cases, "parts"], STARPU_NCPU="1")
    tap.claim("one worker is one", session.first["text"].endswith(": 1 worker"), session.first)
    session.do("break end")
    session.do("continue")
    said = session.do("why")["answer"][0]["text"]
    tap.claim("a task that ends does not run any more",
              said.startswith("task `change' (number 1) has just ended on CPU 0, after "), said)
    said = session.do("info data whole")["answer"][0]["text"]
    tap.claim("data in parts have a value", said.endswith(": 1048576 bytes, cut into 2 parts, "
                                                         "which have its value"), said)
    session.do("delete")
    while "event" in session.do("continue"):
        pass
    for command in ("why", "choice", "list", "where", "info tasks"):
        said = session.do(command)
        tap.claim("%s of a program that has ended" % command,
                  "the program has ended: go back" in said.get("error", ""), said)
    session.end()


def check_script(tap, tool, cases):
    """Of a script's programs the first one with a run is stopped."""
    session = debug.Session(tool, ["/bin/sh", "-c", "%s missing-wait; %s late-callback; exit 5" %
                                   (cases, cases)])
    session.do("break submit look")
    said = session.do("continue")
    tap.claim("a script's first program is stopped", said["kind"] == "finish", said)
    said = session.do("continue")
    tap.claim("the others run, and the script ends as it does",
              said == {"exited": 5} and session.output.count("over\n") == 2, said,
              session.output)
    tap.claim("back is in the first one", session.do("reverse-step")["kind"] == "finish")
    session.end()


def check_policies(tap, tool, cases):
    session = debug.Session(tool, [cases, "priority-inversion"], policy="prio", STARPU_NCPU="1")
    said = session.do("diff eager")["answer"]
    tap.claim("the first decision that differs is found",
              said[0]["same"] == 1 and "alone #3" in said[1]["text"] and
              "change #2" in said[2]["text"], said)
    said = session.do("diff prio")["answer"]
    tap.claim("a policy takes the same decisions as itself",
              "the same decisions, 9 of them" in said[0]["text"], said)
    tap.claim("the session stays where it is", session.do("where")["answer"][0]["event"] == 1)
    session.end()


def check_record(tap, tool, cases):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "case.rec")
        done = subprocess.run([tool, "record", "-m", debug.CPUS, "--assume", debug.TIMES, "-o",
                               path, "--", cases, "wrong-dependency"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=debug.environment(), timeout=60,
                              encoding="utf-8", check=False)
        session = debug.Session(tool, [path]) if done.returncode == 0 else None
        if session:
            session.do("break submit use")
            said = session.do("continue")
            why = session.do("why")["answer"]
            session.end()
        tap.claim("a record in the place of the program",
                  session and said["stop"] == 1 and "it reads other" in why[0]["text"],
                  done.stdout)


def main():
    tool, cases, two_threads = sys.argv[1:]
    tap = Tap()
    check_steps(tap, tool, [cases, "early-reduction"], "copies")
    check_steps(tap, tool, [cases, "thrashing"], "transfers", machine=debug.GPU, policy="dmda",
                **debug.SMALL)
    check_steps(tap, tool, [two_threads], "another thread")
    check_breakpoints(tap, tool, cases)
    check_copies(tap, tool, cases, two_threads)
    check_source(tap, tool, cases)
    check_mistakes(tap, tool, cases)
    check_deadlock(tap, tool, cases)
    check_words(tap, tool, cases)
    check_script(tap, tool, cases)
    check_policies(tap, tool, cases)
    check_record(tap, tool, cases)
    tap.end()


main()

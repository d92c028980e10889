#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ten mistakes, each found in five commands at most (cases.c). Prints TAP.

    test-sessions.py ORRERY CASES TWO-THREADS
"""
import re
import sys

import debug_util as debug
from tools_util import Tap

ONE = {"STARPU_NCPU": "1"}

# A case, what it runs on, what is typed, and what the answers have, in that order.
CASES = (
    ("wrong-dependency", {},
     ["break submit use", "continue", "why"],
     [r"use #3 is submitted and waits",
      r"waits for task `slow' \(number 2\): it reads other, which that one reads and writes"]),
    ("missing-wait", {},
     ["break mark", "continue", "info tasks", "info data result"],
     [r"mark: the result is read", r"slow #1: (fetching|running) on CPU 0",
      r"slow #1 reads and writes it, (fetching|running)"]),
    ("priority-inversion", dict(policy="prio", **ONE),
     ["break submit urgent", "continue", "until 1.5ms", "why #9"],
     [r"urgent #9 is submitted and waits",
      r"`urgent' \(number 9\) waits for task `change' \(number 2\): it reads and writes shared",
      r"`change' \(number 2\) is ready, with priority -5, in the queues of the policy prio: "
      r"5 ready tasks are of higher priority"]),
    ("thrashing", dict(machine=debug.GPU, policy="dmda", **debug.SMALL),
     ["watch left", "continue", "continue", "continue", "continue"],
     [r"left sets out: 1048576 bytes from NUMA 0 to CUDA 0", r"left arrives",
      r"left leaves CUDA 0, which is full",
      r"left sets out: 1048576 bytes from NUMA 0 to CUDA 0"]),
    ("bound-to-one", {},
     ["until 1.5ms", "why idle 1", "why #6"],
     [r"CPU 1 has nothing to do",
      r"alone #6 is ready, and bound to CPU 0 \(execute_on_a_specific_worker\)",
      r"4 tasks are ready, 0 of them could run there",
      r"`alone' \(number 6\) is ready, and bound to one worker"]),
    ("acquisitions", {},
     ["continue", "why #3", "info data one", "info data two"],
     [r"deadlock: nothing can go on any more",
      r"waits for data `one', which the application has acquired and not released",
      r"the application has acquired it, and not released",
      r"the application waits to acquire it",
      r"the application has acquired it, and not released",
      r"the application waits to acquire it"]),
    ("late-callback", {},
     ["break submit look", "continue", "where"],
     [r"event \d+ at 10\.\d* ms: look #3 is submitted, inside of slow #2",
      r"the application waits for 2 submitted tasks, in starpu_task_wait_for_all",
      r"CPU 7 has nothing to do"]),
    ("starvation", dict(policy="prio", **ONE),
     ["until 5ms", "why #3", "info ready"],
     [r"`look' \(number 3\) is ready, with priority 0, in the queues of the policy prio: "
      r"1 ready task is of higher priority",
      r"alone #\d+: ready, priority 5\nlook #3: ready\n"]),
    ("prefetch", dict(machine=debug.GPU, policy="dmda", ORRERY_EVICTION="starpu", **debug.SMALL),
     ["break evict data needed", "continue", "step", "watch needed", "continue"],
     [r"needed leaves CUDA 0, which is full",
      r"wanted sets out: 1048576 bytes from NUMA 0 to CUDA 0", r"needed sets out"]),
    ("early-reduction", {},
     ["break start combine", "continue", "info data sum"],
     [r"combine #6 starts on CPU 0", r"look #3 reads it, claiming",
      r"add #4 adds to it, when those before it are over"]),
)


def has_in_order(text, patterns):
    """The pattern that is not found behind those before it; None: all are."""
    at = 0
    for pattern in patterns:
        found = re.compile(pattern).search(text, at)
        if not found:
            return pattern
        at = found.end()
    return None


def check_comparison(tap, tool, cases):
    """What a policy of the dm family compares at `ready' is what it does then."""
    for policy in ("dm", "dmda", "dmdas"):
        session = debug.Session(tool, [cases, "starvation"], machine=debug.GPU, policy=policy,
                                STARPU_NCPU="3")
        chosen, taken, ends = {}, {}, []
        said = session.first
        while "event" in said and said["kind"] != "finish":
            if said["kind"] == "ready":
                items = session.do(f"choice #{said['task']}")["answer"]
                costs = [item["cost"] for item in items if item.get("cost") is not None]
                best = [item for item in items if "the policy's choice" in item["text"]]
                chosen[said["task"]] = best[0]["best"] if len(best) == 1 else items
                ends.append(best[0]["cost"] == min(costs) and best[0]["end"] > said["date"])
            if said["kind"] == "take":
                taken.setdefault(said["task"], said["worker"])
            said = session.do("step")
        session.end()
        tap.claim("%s: `choice' names the worker that takes the task, of %d" % (policy, len(taken)),
                  len(taken) > 4 and all(ends) and len(set(taken.values())) > 1 and
                  all(chosen.get(task) == worker for task, worker in taken.items()),
                  chosen, taken)
    text, _ = debug.typed(tool, [cases, "starvation"], ["break ready", "continue", "choice"],
                          policy="prio", STARPU_NCPU="1")
    tap.claim("a policy that compares no times: `choice' expects nothing", "CPU 0" in text and
              "expected to end" not in text, text)


def main():
    tool, cases, _ = sys.argv[1:]
    tap = Tap()
    for name, setting, commands, patterns in CASES:
        shown, code = debug.typed(tool, [cases, name], commands, **setting)
        missing = has_in_order(shown, patterns)
        tap.claim("%s is found in %d commands" % (name, len(commands)),
                  code == 0 and missing is None and len(commands) <= 5, missing, shown)
    check_comparison(tap, tool, cases)
    tap.end()


main()

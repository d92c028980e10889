#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Schedules: the policy static=FILE, `orrery trace --schedule` and `orrery
optimise`; settings of modular policies. TAP.

usage: test-schedules.py ORRERY CHOLESKY MACHINE
"""
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "unit"))
import tools_util  # noqa: E402

ORRERY, CHOLESKY, MACHINE = sys.argv[1:4]
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
PROGRAM = [CHOLESKY, "-size", "3840", "-nblocks", "4"]
NTASKS = 4 + 6 + 6 + 4
tap = tools_util.Tap()


def path(name, text=None):
    """A file of this test, with that text."""
    full = os.path.join(TOP.name, name)
    if text is not None:
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
    return full


ENV = dict(tools_util.clean_environment(TOP.name, "here"), STARPU_SILENT="1")
for variable in ("ORRERY_CHECK_BOUNDS", "STARPU_HOSTNAME"):
    ENV.pop(variable, None)


def simulate(sched, program=None, **env):
    """What a run reports, None if it failed; and the run."""
    report = path("report.json")
    if os.path.exists(report):
        os.unlink(report)
    program = program or PROGRAM
    done = tools_util.run(*program, env=dict(
        ENV, ORRERY_MACHINE=MACHINE, STARPU_SCHED=sched, ORRERY_REPORT=report,
        **env))
    if done.code != 0:
        return None, done
    with open(report, encoding="utf-8") as file:
        return json.load(file), done


def lines_of(name):
    with open(path(name), encoding="utf-8") as file:
        return [line.split() for line in file
                if line[0].isdigit()]


# --- queues of modular policies ---

TEN = [CHOLESKY, "-size", "9600", "-nblocks", "10"]


def ten(sched, **settings):
    return simulate(sched, TEN, **{
        "STARPU_SCHED_" + name: value for name, value in settings.items()
    })[0]["makespan_us"]


# They differ by their queues alone.
for name, settings in (
        ("modular-dmdap", {"SORTED_BELOW": "1"}),
        ("modular-dmdar", {"READY": "1"}),
        ("modular-dmdas", {"SORTED_BELOW": "1", "READY": "1"})):
    usual = ten(name), ten("modular-dmda")
    off = ten(name, **{key: "0" for key in settings})
    tap.claim(f"settings make {name} of modular-dmda and back",
              usual == (ten("modular-dmda", **settings), off) and
              usual[0] != usual[1], usual, off)
usual = ten("modular-eager"), ten("modular-prio")
tap.claim("and modular-prio of modular-eager and back",
          usual == (ten("modular-prio", SORTED_ABOVE="0"),
                    ten("modular-eager", SORTED_ABOVE="1")) and
          usual[0] != usual[1], usual)

# --- static ---

best, done = simulate("dmdas")
traced = tools_util.run(
    ORRERY, "trace", "-m", MACHINE, "-s", "dmdas", "-o", path("t.paje"),
    "--gantt", path("t.svg"), "--schedule", path("t.schedule"), "--",
    *PROGRAM, env=ENV)
tap.claim("trace --schedule has a line per task",
          traced.code == 0 and
          sorted(int(line[0]) for line in lines_of("t.schedule")) ==
          list(range(1, NTASKS + 1)), traced)
tap.claim("and leaves no graph", not os.path.exists(path("t.schedule.graph")))
again, done = simulate("static=" + path("t.schedule"))
tap.claim("a run that follows it takes as long, within a hundredth",
          again and abs(again["makespan_us"] / best["makespan_us"] - 1) < 0.01,
          done, best["makespan_us"], again and again["makespan_us"])
tap.claim("and says nothing", not re.search("warning", done.err), done)

one = "".join("%s 0 %s\n" % (line[0], line[2])
              for line in lines_of("t.schedule"))
moved, done = simulate("static=" + path("one", "orrery schedule 1\n" + one),
                       ORRERY_TRACE=path("one.paje"))
tap.claim("all tasks go to the worker that the file names",
          moved and moved["makespan_us"] > 5 * best["makespan_us"], done)
order = lines_of("t.schedule")
backwards = "".join("%s %s %s\n" % tuple(line) for line in reversed(order))
turned, done = simulate(
    "static=" + path("turned", "orrery schedule 1\n" + backwards))
tap.claim("an order against the dependencies does not stop the run",
          turned and turned["tasks"] == NTASKS, done)
part, done = simulate("static=" + path(
    "part", "orrery schedule 1\n\n# few\n" +
    "".join("%s %s %s\n" % tuple(line) for line in order[:3])),
    STARPU_SILENT="0")
tap.claim("tasks without a line go to any worker, with a warning",
          part and part["tasks"] == NTASKS and
          "has no line for a task" in done.err, done)
other, done = simulate("static=" + path("t.schedule"),
                       [CHOLESKY, "-size", "4800", "-nblocks", "5"],
                       STARPU_SILENT="0")
tap.claim("so do those of another program",
          other and "of another program or machine" in done.err, done)
named, done = simulate("static=" + path(
    "named", "orrery schedule 1\npolicy eager\n"))
tap.claim("a file may leave all to a policy",
          named and named["scheduler"] == "eager", done)
real = tools_util.run(CHOLESKY, "-size", "960", "-nblocks", "4", "-check",
                      env=dict(ENV, STARPU_NCPU="2",
                               STARPU_SCHED="static=" + path("t.schedule")))
tap.claim("a real run follows one as well",
          real.code == 0 and ": right" in real.out, real)

for what, text, words in [
        ("no schedule", "hello\n", "is no schedule"),
        ("an empty file", "", "is empty"),
        ("no worker", "orrery schedule 1\n1 x potrf\n",
         "line 2: no number of a worker"),
        ("no task", "orrery schedule 1\nzwei 1 potrf\n",
         "line 2: no number of a task"),
        ("a number without reason", "orrery schedule 1\n268435456 1 potrf\n",
         "line 2: no number of a task"),
        ("no kernel", "orrery schedule 1\n1 1\n", "line 2: no kernel"),
        ("a task twice", "orrery schedule 1\n1 1 a\n1 1 a\n",
         "line 3: a second line"),
        ("an unknown policy", "orrery schedule 1\npolicy best\n",
         "no scheduling policy `best'")]:
    bad, done = simulate("static=" + path("bad", text))
    tap.claim("a message for " + what, bad is None and words in done.err, done)
bad, done = simulate("static=" + path("absent"))
tap.claim("a message for a file that is not there",
          bad is None and "cannot be read: No such file" in done.err, done)
bad, done = simulate("static")
tap.claim("a message for no file",
          bad is None and "static=FILE" in done.err, done)

# --- optimise ---


def optimise(name, *options, program=None):
    return tools_util.run(
        ORRERY, "optimise", "-m", MACHINE, "-o", path(name), "--time", "10m",
        "-j", "2", *options, "--", *(program or PROGRAM), env=ENV, timeout=250)


found = optimise("found", "--runs", "120")
figures = re.search(r"best policy +([0-9.]+) ms +(\S+)\nschedule +([0-9.]+) ms"
                    r".*\nbound +([0-9.]+) ms", found.out)
tap.claim("optimise prints policy, schedule and bound",
          found.code == 0 and figures, found)
if figures:
    policy_ms, policy, ms, bound = (
        float(figures[1]), figures[2], float(figures[3]), float(figures[4]))
    tap.claim("the schedule is not worse than the best policy, nor below the "
              "bound", bound <= ms <= policy_ms, found)
    run, done = simulate("static=" + path("found"))
    tap.claim("a run that follows it takes what was said",
              run and abs(run["makespan_us"] / 1000 - ms) < 0.001, done, ms)
    run, done = simulate(policy)
    tap.claim("so does one under the best policy",
              run and abs(run["makespan_us"] / 1000 - policy_ms) < 0.001, done)
    worse = [name for name in ("dmdas", "dmda", "lws", "modular-heft")
             if simulate(name)[0]["makespan_us"] / 1000 < policy_ms - 0.001]
    tap.claim("no policy is better than the one it calls best", not worse,
              worse)
same = optimise("same", "--runs", "120", "--json")
said = json.loads(same.out) if same.code == 0 else {}
tap.claim("as JSON it says the same",
          figures and said["best_policy"] == policy and said["better"] ==
          (ms < policy_ms) and abs(said["schedule_ms"] - ms) < 1e-3 and
          abs(said["bound_ms"] - bound) < 1e-3 and
          min(row["ms"] for row in said["policies"] if row["ms"]) ==
          said["best_policy_ms"], same)
with open(path("found"), encoding="utf-8") as a, \
        open(path("same"), encoding="utf-8") as b:
    tap.claim("the same search finds the same", a.read() == b.read(), same)
done = tools_util.run(ORRERY, "optimise", "--", *PROGRAM, env=ENV)
tap.claim("a message without a machine",
          done.code == 2 and "which machine" in done.err, done)
done = tools_util.run(ORRERY, "optimise", "-m", MACHINE, "--time", "soon",
                      "--", *PROGRAM, env=ENV)
tap.claim("a message for a bad time",
          done.code == 2 and "--time soon" in done.err, done)
tap.claim("a search in which all policies run counts none as failed",
          said.get("failed") == 0 and "failed" not in found.err, found)
SURVIVORS = ["/bin/sh", path("survivors", """case $STARPU_SCHED in
eager | lws) echo "orrery: error: it is broken" >&2; exit 1 ;;
esac
exec "$@"
"""), *PROGRAM]
lost = optimise("survivor", "--runs", "50", program=SURVIVORS)
tap.claim("the best of the policies that are left is said to be that",
          lost.code == 1 and os.path.exists(path("survivor")) and
          re.search(r"best policy .*\(of the \d+ of \d+ that ran\)", lost.out) and
          re.search(r"optimise: 2 of \d+ policies failed: .*\n  (eager lws|lws eager)\n",
                    lost.err) and
          lost.err.count("broken") == 1, lost)
TREE = os.path.join(os.path.dirname(CHOLESKY), "..", "tree")
free = optimise("free", "--runs", "20", "--assume", "*=0", "--set", "cost = 0us",
                program=[TREE])
tap.claim("what takes no time is no multiple of its bound",
          free.code == 0 and "no task takes any time" in free.out and
          "inf" not in free.out, free)
done = optimise("fails", program=["/bin/false"])
tap.claim("a message for a program that fails",
          done.code == 1 and not os.path.exists(path("fails")), done)
tap.end()

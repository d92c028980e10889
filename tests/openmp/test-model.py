#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What each construct of OpenMP becomes in a record: logs that are made by hand, with exact
times. And logs that are wrong. TAP.

usage: test-model.py ORRERY
"""
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "../unit")]
from log_by_hand import (  # noqa: E402  pylint: disable=wrong-import-position
    ALL, AT_ONCE, BARRIER, CREATE, EXCLUSION, FINAL, GAP, GROUP, GROUP_BEGIN, IF0,
    IMPLICIT_BEGIN, IMPLICIT_END, IN, INOUT, INOUTSET, LIBGOMP, LIBOMP, LOOP_BEGIN, LOOP_CHUNK, LOOP_END,
    MUTEXINOUTSET, NOTE, ORDERED, ORDERED_END, OUT, REGION_BEGIN, RUNTIME, SINK, SOURCE, TASKWAIT, UNDEFERRED, WAIT_BEGIN, WAIT_END, Log, tasks_of)
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

ORRERY = os.path.abspath(sys.argv[1])
TAP = Tap()
MAIN, A, B, C = "program+0x100", "program+0x200", "program+0x300", "program+0x400"


class Record:
    def __init__(self, folder, log):
        self.path = os.path.join(folder, "x.rec")
        content = log if isinstance(log, bytes) else log.bytes()
        with open(os.path.join(folder, "log"), "wb") as file:
            file.write(content)
        done = subprocess.run([ORRERY, "record", "import", "-o", self.path,
                               os.path.join(folder, "log")], capture_output=True, text=True,
                              check=False, timeout=60)
        self.code, self.err, self.text = done.returncode, done.stderr, ""
        if self.code == 0:
            with open(self.path, encoding="utf-8") as file:
                self.text = file.read()
        self.tasks = tasks_of(self.text)

    def named(self, kernel):
        return {n: t for n, t in self.tasks.items() if t.kernel == kernel}

    def one(self, kernel):
        found = list(self.named(kernel).items())
        return found[0] if len(found) == 1 else (None, None)

    def makespan(self, cores):
        done = subprocess.run([ORRERY, "replay", self.path, "-m", "epyc-64", "--set",
                               "cpu.count = %d" % cores, "--json"], capture_output=True,
                              text=True, check=False, timeout=60)
        import json
        return json.loads(done.stdout)["makespan_us"] if done.returncode == 0 else done.stderr

    def __str__(self):
        return "%d\n%s\n%s" % (self.code, self.err,
                               "\n".join("%s: %s" % t for t in self.tasks.items()))


def near(a, b):
    return isinstance(a, float) and abs(a - b) < 0.01


def test_children(folder):
    log = Log().region(1, [1], 10).work(1, 30)
    log.create(1, 11).create(1, 12, 0x300).wait(1, TASKWAIT, [(11, 100, 10), (12, 200, 10)])
    rec = Record(folder, log.work(1, 50).end(1, 1))
    main, a, b = rec.one(MAIN), rec.one(A), rec.one(B)
    after = rec.one(MAIN + " after wait")
    TAP.claim("a task waits for what was before it; taskwait, for the tasks",
              main[1] and a[1].before == {main[0]} and b[1].before == {main[0]} and
              after[1].before == {main[0], a[0], b[0]} and
              [t[1].us for t in (main, a, b, after)] == [30, 100, 200, 50], rec)
    TAP.claim("its replays take the critical path, or all one after the other",
              near(rec.makespan(8), 280) and near(rec.makespan(1), 380), rec.makespan(8),
              rec.makespan(1))
    log = Log().region(1, [1], 10).create(1, 11).create(1, 12, 0x300)
    log.wait(1, TASKWAIT, [(11, 100, 10)]).run(1, 12, 100, 10).work(1, 50).end(1, 1)
    rec = Record(folder, log)
    TAP.claim("what a thread waits is nobody's work",
              sum(t.us for t in rec.tasks.values()) < 250.1, rec)


def test_cuts(folder):
    log = Log().region(1, [1], 10).work(1, 1)
    for i in range(4):
        log.create(1, 11 + i).work(1, 100)
    log.wait(1, TASKWAIT, [(11 + i, 40, 10) for i in range(4)]).end(1, 1)
    rec = Record(folder, log)
    pieces = sorted(rec.named(MAIN).items(), key=lambda item: int(item[0]))
    TAP.claim("where a task creates others with work between, each waits for what was before it",
              len(pieces) == 5 and
              [t.us for _, t in pieces] == [1, 100, 100, 100, 100] and
              [t.before for t in rec.named(A).values()] == [{n} for n, _ in pieces[:4]], rec)
    log = Log().region(1, [1], 10).work(1, 1)
    for i in range(10):
        log.create(1, 11 + i).work(1, 6)
    log.wait(1, TASKWAIT, [(11 + i, 40, 10) for i in range(10)]).end(1, 1)
    rec = Record(folder, log)
    pieces = {n: t for n, t in rec.tasks.items() if t.kernel == MAIN}
    TAP.claim("short strands are joined as long as less than the grain is waited for",
              2 <= len(pieces) <= 4 and near(sum(t.us for t in pieces.values()), 61.) and
              all(t.us < 31 for t in pieces.values()), rec)
    log = Log().region(1, [1], 10).create(1, 11).switch(1, 11)
    log.create(1, 12, 0x300).create(1, 13, 0x300).work(1, 1)
    log.wait(1, TASKWAIT, [(12, 5, 11), (13, 6, 11)]).work(1, 2).switch(1, 10, True).end(1, 1)
    rec = Record(folder, log)
    TAP.claim("a task that is short with all it creates is one",
              len(rec.tasks) == 1 and near(rec.one(A)[1].us, 14.), rec)
    log = Log().region(1, [1], 10)
    for i in range(5):
        log.create(1, 20 + i).run(1, 20 + i, 5, 10)
    rec = Record(folder, log.end(1, 1))
    TAP.claim("neighbours that are short are one, up to the grain",
              sorted(t.us for t in rec.named(A).values()) == [5, 20], rec)
    log = Log().region(1, [1], 10)
    for i in range(6):
        log.create(1, 20 + i, 0x200 + 0x100 * (i % 2), priority=i // 4).run(1, 20 + i, 5, 10)
    rec = Record(folder, log.end(1, 1))
    TAP.claim("but not those of other kinds", len(rec.named(A)) + len(rec.named(B)) == 6, rec)
    log = Log().region(1, [1], 10)
    for i in range(4):
        log.create(1, 20 + i).wait(1, TASKWAIT, [(20 + i, 5, 10)])
    rec = Record(folder, log.end(1, 1))
    TAP.claim("nor those that were waited for in between", len(rec.named(A)) == 4 and
              near(rec.makespan(8), 20), rec, rec.makespan(8))


def nested(log, thread, outer, inner, us):
    """outer creates inner, which it does not wait for."""
    log.switch(thread, outer).create(thread, inner, 0x300).work(thread, us)
    return log


def test_groups(folder):
    log = Log().region(1, [1], 10).put(1, GROUP_BEGIN).create(1, 11)
    nested(log.put(1, WAIT_BEGIN, n=GROUP), 1, 11, 12, 50).switch(1, 10, True)
    log.run(1, 12, 60, 10).put(1, WAIT_END, n=GROUP).work(1, 40).end(1, 1)
    rec = Record(folder, log)
    after = rec.one(MAIN + " after wait")[1]
    TAP.claim("the end of a taskgroup waits for descendants",
              after and {rec.one(A)[0], rec.one(B)[0]} <= after.before, rec)
    log = Log().region(1, [1], 10).create(1, 11)
    nested(log.put(1, WAIT_BEGIN, n=TASKWAIT), 1, 11, 12, 50).switch(1, 10, True)
    log.put(1, WAIT_END, n=TASKWAIT).work(1, 40).run(1, 12, 60, 10).end(1, 1)
    rec = Record(folder, log)
    after = rec.named(MAIN + " after wait")
    TAP.claim("a taskwait, for children alone",
              after and all(rec.one(A)[0] in t.before and
                        rec.one(B)[0] not in t.before for t in after.values()), rec)


def test_undeferred(folder):
    log = Log().region(1, [1], 10).work(1, 30).create(1, 11, flags=UNDEFERRED)
    log.run(1, 11, 100, 10).work(1, 20).end(1, 1)
    rec = Record(folder, log)
    TAP.claim("what is executed at once is part of its creator",
              len(rec.tasks) == 1 and rec.one(MAIN)[1].us == 150, rec)
    log = Log().region(1, [1], 10).work(1, 30).create(1, 12, 0x300, uses=[(OUT, 0x8)])
    log.create(1, 11, flags=UNDEFERRED, uses=[(IN, 0x8)])
    log.put(1, WAIT_BEGIN, n=RUNTIME).run(1, 12, 70, 10).run(1, 11, 100, 10)
    rec = Record(folder, log.put(1, WAIT_END, n=RUNTIME).work(1, 20).end(1, 1))
    a, after = rec.one(A), rec.one(MAIN + " after wait")
    TAP.claim("with dependences it is a strand that uses data, and its creator waits",
              a[1] and a[1].before == {rec.one(MAIN)[0]} and after[1].before == {a[0]} and
              [d[2] for d in a[1].data] == ["r"] and [d[2] for d in rec.one(B)[1].data] == ["w"],
              rec)
    log = Log().region(1, [1], 10).create(1, 11, flags=AT_ONCE).run(1, 11, 100, 10)
    log.create(1, 12, 0x300, flags=AT_ONCE).run(1, 12, 100, 10).work(1, 20).end(1, 1)
    rec = Record(folder, log)
    TAP.claim("a team of one thread executes all at once, which is no order",
              rec.one(A)[1].before == rec.one(B)[1].before and near(rec.makespan(4), 100), rec,
              rec.makespan(4))
    log = Log().region(1, [1], 10).create(1, 11, flags=AT_ONCE).put(1, IF0).run(1, 11, 100, 10)
    log.create(1, 12, 0x300, flags=AT_ONCE).run(1, 12, 100, 10).work(1, 20).end(1, 1)
    rec = Record(folder, log)
    TAP.claim("but where the program says if(0)", near(rec.makespan(4), 200), rec)
    log = Log().region(1, [1], 10).create(1, 11, flags=AT_ONCE | FINAL).switch(1, 11)
    log.create(1, 12, 0x300, flags=AT_ONCE | FINAL).run(1, 12, 100, 11).work(1, 40)
    rec = Record(folder, log.switch(1, 10, True).work(1, 20).end(1, 1))
    TAP.claim("and in final tasks", not rec.named(B) and rec.one(A)[1].us == 140, rec)


def producer(uses, sizes=0):
    """A task of 100 us for each list of uses, 11 and on."""
    log = Log(sizes=sizes).region(1, [1], 10)
    for i, use in enumerate(uses):
        log.create(1, 11 + i, 0x200 + 0x10 * i, uses=use)
    log.wait(1, BARRIER, [(11 + i, 100, 10) for i in range(len(uses))])
    return log.end(1, 1)


def modes(rec):
    return [t.data[0][2] for t in rec.tasks.values() if t.data]


def test_dependences(folder):
    rec = Record(folder, producer([[(OUT, 8)], [(IN, 8)], [(IN, 8)], [(INOUT, 8)]]))
    TAP.claim("depend clauses are data by their address",
              modes(rec) == ["w", "r", "r", "rw"] and near(rec.makespan(8), 300) and
              {t.data[0][0] for t in rec.tasks.values() if t.data} == {"0x8"}, rec,
              rec.makespan(8))
    rec = Record(folder, producer([[(OUT, 8)]] + 3 * [[(MUTEXINOUTSET, 8)]] + [[(IN, 8)]]))
    TAP.claim("mutexinoutset: in any order, one at a time",
              modes(rec) == ["w", "rwc", "rwc", "rwc", "r"] and near(rec.makespan(8), 500), rec,
              rec.makespan(8))
    rec = Record(folder, producer([[(IN, 8)], [(INOUTSET, 8)], [(INOUTSET, 8)], [(IN, 8)],
                                   [(OUT, 8)], [(IN, 8)]]))
    TAP.claim("inoutset: together, but not with readers", near(rec.makespan(8), 500), rec,
              rec.makespan(8))
    rec = Record(folder, producer([[(OUT, 8, 8, 90)], [(OUT, 40, 8, 90)], [(INOUT, 8, 8, 120)],
                                   [(IN, 200, 150, 7), (IN, 300)]], sizes=1))
    TAP.claim("data share their block alike, of several the largest; others have no size",
              re.findall(r"^data \d+ kind=\S+(?:.* shape=(\d+))?", rec.text, re.M) ==
              ["60", "60", "7", ""] and "3 of 4 data have" in rec.err, rec, rec.text)
    rec = Record(folder, producer([[(IN, 8), (OUT, 8)], [(IN, 8)], [(IN, 16), (OUT, 24)],
                                   [(INOUT, 24)]]))
    TAP.claim("several clauses", near(rec.makespan(8), 200), rec)
    rec = Record(folder, producer([[(OUT, 8)], [(ALL, 0)]]))
    TAP.claim("of all memory: it is said that this orders nothing",
              "omp_all_memory" in rec.text and "no size" in rec.text, rec)
    log = Log().region(1, [1], 10)
    for parent in (11, 12):
        log.create(1, parent).switch(1, parent).create(1, parent + 10, 0x300, uses=[(INOUT, 8)])
        log.work(1, 30).switch(1, 10, True).run(1, parent + 10, 100, 10)
    rec = Record(folder, log.end(1, 1))
    TAP.claim("siblings alone depend on each other",
              len({t.data[0][1] for t in rec.named(B).values()}) == 2 and
              near(rec.makespan(8), 100), rec, rec.makespan(8))
    log = Log()
    for r in (1, 2):
        log.region(r, [1], 10 * r).create(1, 10 * r + 1, uses=[(INOUT, 8)])
        log.run(1, 10 * r + 1, 100, 10 * r).end(r, 1).work(1, 10)
    rec = Record(folder, log)
    TAP.claim("regions one after the other have the same data",
              len({t.data[0][1] for t in rec.named(A).values()}) == 1, rec)
    log = Log().region(1, [1], 10).create(1, 11, uses=[(INOUT, 8)]).create(
        1, 12, 0x300, uses=[(IN, 8)]).switch(1, 11).create(1, 13, 0x400).work(1, 50)
    log.wait(1, TASKWAIT, [(13, 60, 11)]).work(1, 40).switch(1, 10, True).run(1, 12, 70, 10)
    rec = Record(folder, log.end(1, 1))
    TAP.claim("a task in several strands has its data until the last",
              near(rec.makespan(8), 60 + 40 + 70), rec, rec.makespan(8))
    rec = Record(folder, Log().region(1, [1], 10).create(1, 11, priority=7)
                 .run(1, 11, 100, 10).end(1, 1))
    TAP.claim("priorities are kept", rec.one(A)[1].priority == 7, rec)


def test_barriers(folder):
    log = Log().region(1, [1, 2], 10).work(1, 100).work(2, 60)
    log.put(1, WAIT_BEGIN, n=BARRIER).put(2, WAIT_BEGIN, n=BARRIER)
    log.at(2, 100).put(1, WAIT_END, n=BARRIER).put(2, WAIT_END, n=BARRIER)
    log.work(1, 30).work(2, 90).put(1, WAIT_BEGIN, n=BARRIER).put(2, WAIT_BEGIN, n=BARRIER)
    rec = Record(folder, log.end(1, 1, 191))
    TAP.claim("barriers: a piece per thread and phase, each behind all of the phase before",
              sorted(t.us for t in rec.tasks.values()) == [30, 60, 90, 100] and
              near(rec.makespan(8), 190) and near(rec.makespan(1), 280), rec, rec.makespan(8))
    log = Log().region(1, [1, 2], 10).create(1, 12).work(1, 30)
    log.put(1, WAIT_BEGIN, n=BARRIER).put(2, WAIT_BEGIN, n=BARRIER)
    nested(log, 2, 12, 13, 40).switch(2, 11, True).run(2, 13, 100, 11)
    log.at(1, 140).at(2, 140).put(1, WAIT_END, n=BARRIER).put(2, WAIT_END, n=BARRIER)
    rec = Record(folder, log.work(2, 50).put(2, WAIT_BEGIN, n=BARRIER)
                 .end(1, 1, 191))
    last = [t for t in rec.named(MAIN).values() if t.us == 50]
    TAP.claim("tasks have ended at a barrier, with those inside of them",
              len(last) == 1 and {rec.one(A)[0], rec.one(B)[0]} <= last[0].before, rec)


def test_loops(folder):
    log = Log().region(1, [1, 2], 10)
    for thread in (1, 2):
        log.put(thread, LOOP_BEGIN, n=1, a=1000).work(thread, 3200).put(thread, LOOP_END)
    rec = Record(folder, log.put(1, WAIT_BEGIN, n=BARRIER).put(2, WAIT_BEGIN, n=BARRIER)
                 .work(1, 1).end(1, 1))
    TAP.claim("a loop whose count is known is cut into 64 pieces",
              len(rec.named(MAIN + " loop")) == 64 and near(rec.makespan(64), 100), rec)
    log = Log().region(1, [1], 10).put(1, LOOP_BEGIN, n=1)
    for us in (500, 10, 10, 1000):
        log.put(1, LOOP_CHUNK, a=2).work(1, us)
    rec = Record(folder, log.put(1, LOOP_END).end(1, 1))
    TAP.claim("chunks are cut by their iterations, and short ones joined",
              [t.us for t in rec.named(MAIN + " loop").values()] == [250, 250, 520, 500], rec)
    log = Log().region(1, [1], 10).put(1, LOOP_BEGIN, n=0, a=1000).work(1, 3200)
    rec = Record(folder, log.put(1, LOOP_END).end(1, 1))
    TAP.claim("a loop that is ordered is not cut", len(rec.tasks) == 1, rec)
    log = Log().region(1, [1], 10).put(1, LOOP_BEGIN, n=1, a=100)
    log.create(1, 11).work(1, 3200).put(1, LOOP_END).run(1, 11, 50, 10)
    rec = Record(folder, log.end(1, 1))
    TAP.claim("nor is one that creates tasks", not rec.named(MAIN + " loop"), rec)
    log = Log().region(1, [1], 10).create(1, 11).work(1, 100).put(1, LOOP_BEGIN, n=1, a=10)
    log.work(1, 1000).put(1, LOOP_END).work(1, 30).run(1, 11, 50, 10)
    rec = Record(folder, log.end(1, 1))
    TAP.claim("all of a loop's time is in its pieces, or around it",
              near(sum(t.us for t in rec.tasks.values()), 1180.) and
              near(rec.makespan(64), 100 + 100 + 30), rec, rec.makespan(64))


def wavefront(log, thread, rows, us):
    """Iterations of ordered(2), each behind the one above and the one to the left."""
    log.put(thread, LOOP_BEGIN, n=1, a=rows)
    for i in range(1, rows + 1):
        for j in range(1, rows + 1):
            log.iteration(thread, 100 * i + j, us, (100 * (i - 1) + j, 100 * i + j - 1))
    return log.put(thread, LOOP_END)


def test_doacross(folder):
    rec = Record(folder, wavefront(Log().region(1, [1], 10), 1, 4, 100).end(1, 1))
    TAP.claim("iterations wait for those that their sinks name, and for no others",
              near(rec.makespan(64), 700) and near(rec.makespan(1), 1600) and
              len(rec.named(MAIN + " loop")) == 16, rec, rec.makespan(64))
    TAP.claim("which the record says", "16 iterations" in rec.err, rec.err)
    log = Log().region(1, [1], 10).work(1, 30).put(1, LOOP_BEGIN, n=1, a=8)
    for i in range(1, 9):
        log.iteration(1, 100 * i, 50, (100 * (i - 1),), head=100)
    rec = Record(folder, log.work(1, 10).put(1, LOOP_END).work(1, 40).end(1, 1))
    TAP.claim("what is before a sink waits for nobody",
              near(rec.makespan(64), 30 + 100 + 8 * 50 + 40) and
              near(rec.makespan(1), 30 + 8 * 150 + 10 + 40), rec, rec.makespan(64))
    log = Log().region(1, [1], 10).put(1, LOOP_BEGIN, n=1, a=2)
    for at in (101, 102, 103, 201, 202, 203):
        log.iteration(1, at, 100, (at - 100,))
    rec = Record(folder, log.put(1, LOOP_END).end(1, 1))
    TAP.claim("inner loops that are not dealt out are one after the other",
              near(rec.makespan(64), 400), rec, rec.makespan(64))
    log = Log().region(1, [1], 10)
    for _ in range(2):
        wavefront(log, 1, 2, 100)
    rec = Record(folder, log.end(1, 1))
    TAP.claim("a second loop has iterations of its own", near(rec.makespan(64), 600), rec,
              rec.makespan(64))
    log = Log().region(1, [1], 10).put(1, LOOP_BEGIN, n=1, a=100)
    for i in range(1, 101):
        log.iteration(1, 100 * i, 2, (100 * (i - 1),))
    rec = Record(folder, log.put(1, LOOP_END).end(1, 1))
    TAP.claim("iterations that are short are joined", len(rec.tasks) == 10 and
              near(rec.makespan(64), 200), rec, rec.makespan(64))
    rec = Record(folder, wavefront(Log().region(1, [1], 10), 1, 9, 6).end(1, 1))
    TAP.claim("but not the last ones of a row with the first ones of the next",
              near(rec.makespan(1), 81 * 6) and rec.makespan(64) <= (4 * 3 + 8 * 4) * 6, rec,
              rec.makespan(64))
    log = Log().region(1, [1, 2], 10)
    log.put(1, LOOP_BEGIN, n=1, a=100).put(2, LOOP_BEGIN, n=1, a=100)
    for i in range(1, 101):
        thread = 1 + i % 2
        log.put(thread, WAIT_BEGIN, n=SINK).at(thread, 7 * i)
        log.put(thread, WAIT_END, n=SINK, a=100 * (i - 1)).iteration(thread, 100 * i, 6)
    log.put(1, LOOP_END).put(2, LOOP_END).put(1, WAIT_BEGIN, n=BARRIER)
    log.put(2, WAIT_BEGIN, n=BARRIER)
    rec = Record(folder, log.end(1, 1, max(log.now.values())))
    TAP.claim("threads that take turns wait for each other",
              near(rec.makespan(64), sum(t.us for t in rec.tasks.values())), rec,
              rec.makespan(64))


def test_ordered(folder):
    for free in (0, 1): # gcc says that a loop is ordered, clang does not
        log = Log().region(1, [1, 2], 10)
        log.put(1, LOOP_BEGIN, n=free, a=8).put(2, LOOP_BEGIN, n=free, a=8)
        for i in range(8):
            thread = 1 + i % 2
            log.work(thread, 100).put(thread, WAIT_BEGIN, n=ORDERED)
            log.at(thread, max(log.now.values()) + 6)
            log.put(thread, WAIT_END, n=ORDERED).work(thread, 50).put(thread, ORDERED_END)
        log.put(1, LOOP_END).put(2, LOOP_END).put(1, WAIT_BEGIN, n=BARRIER)
        log.put(2, WAIT_BEGIN, n=BARRIER)
        rec = Record(folder, log.end(1, 1, max(log.now.values()) + 1))
        TAP.claim("what is ordered comes in the order of iterations",
                  near(rec.makespan(64), 100 + 8 * 50) and "8 iterations" in rec.err, rec,
                  rec.makespan(64))


def slow_start(cpu):
    """Its first thread comes after 40 us and works 160, the second one 60 us later."""
    log = Log(cpu=cpu).code(1, 0x100).put(1, REGION_BEGIN, a=1, b=0x100).work(1, 40)
    log.put(1, IMPLICIT_BEGIN, 0, 2, 10, 1).at(2, 100).put(2, IMPLICIT_BEGIN, 1, 2, 11, 1)
    log.work(1, 160).work(2, 90).put(2, IMPLICIT_END, a=11)
    return log.end(1, 1)


def test_starts(folder):
    rec = Record(folder, slow_start(0))
    TAP.claim("threads that come late are part of a run, by their share",
              near(rec.makespan(1), 40 + 60 / 2 + 160 + 90) and
              near(rec.makespan(2), 40 + 60 / 2 + 160), rec, rec.makespan(1), rec.makespan(2))
    rec = Record(folder, slow_start(1))
    TAP.claim("by the processor's clock, what it takes to start them",
              near(rec.makespan(1), 40 + 160 + 90), rec, rec.makespan(1))


def test_regions(folder):
    log = Log().region(1, [1], 10).work(1, 100).end(1, 1).work(1, 75)
    rec = Record(folder, log.region(2, [1], 20).work(1, 100).end(2, 1))
    after = [t.after for t in rec.tasks.values()]
    TAP.claim("what is between two regions, the application takes; it waits for each",
              after == [0, 75] and rec.text.count("\nwait-all") == 3 and
              near(rec.makespan(4), 275), rec, rec.makespan(4))
    log = Log().region(1, [1], 10).work(1, 40).region(2, [1, 2], 20, 0x400, 40)
    log.work(1, 50).work(2, 50).put(1, WAIT_BEGIN, n=BARRIER)
    log.put(2, WAIT_BEGIN, n=BARRIER).work(1, 1).end(2, 1).work(1, 30).end(1, 1)
    rec = Record(folder, log)
    TAP.claim("a region inside of another one: what follows waits for its threads",
              near(rec.makespan(4), 120) and near(rec.makespan(1), 170), rec, rec.makespan(4))
    log = Log().region(1, [1], 10).work(1, 40).region(2, [1], 20, 0x400).work(1, 50)
    rec = Record(folder, log.end(2, 1).work(1, 30).end(1, 1))
    TAP.claim("with one thread it is part of the task that has met it",
              len(rec.tasks) == 1 and rec.one(MAIN)[1].us == 120, rec)


def threads_log(runtime):
    """Task 20 waits for 21 and 22 while 23 and 24, which are not below it, are ready."""
    log = Log(runtime=runtime).region(1, [1, 2], 10).put(2, WAIT_BEGIN, n=BARRIER)
    log.work(1, 30).create(1, 20).work(1, 60).create(1, 23, 0x400).create(1, 24, 0x400)
    log.put(1, WAIT_BEGIN, n=BARRIER).switch(1, 20).work(1, 10)
    log.create(1, 21, 0x300).create(1, 22, 0x300)
    log.wait(1, TASKWAIT, [(22, 50, 20), (21, 400, 20)]).work(1, 10).switch(1, 10, True)
    log.run(1, 23, 100, 10).run(1, 24, 100, 10).put(1, WAIT_END, n=BARRIER)
    return log.at(2, 760).put(2, WAIT_END, n=BARRIER).end(1, 1)


def test_threads(folder):
    spans, texts = {}, {}
    for runtime in (0, LIBGOMP, LIBOMP):
        rec = Record(folder, threads_log(runtime))
        spans[runtime], texts[runtime] = (rec.makespan(2), rec.makespan(1)), rec.text
    TAP.claim("where nothing is known of threads, workers take whatever is ready",
              spans[0][0] < 500 and "resumes" not in texts[0], spans, texts[0])
    # At 90 the second thread has done 20 and 22, and the first takes 21, the oldest.
    TAP.claim("a thread in a taskwait of libgomp's waits for a child that another one has",
              near(spans[LIBGOMP][0], 600), spans, texts[LIBGOMP])
    # The first prefers what it has made: 24, 23.
    TAP.claim("a thread of libomp's takes what it has made last",
              near(spans[LIBOMP][0], 500), spans, texts[LIBOMP])
    TAP.claim("one thread does all", all(near(one[1], 760) for one in spans.values()), spans)


def test_times(folder):
    log = Log().region(1, [1], 10).work(1, 40).put(1, GAP, n=1000).work(1, 40)
    log.put(1, WAIT_BEGIN, n=EXCLUSION).work(1, 500).put(1, WAIT_END, n=EXCLUSION)
    rec = Record(folder, log.work(1, 30).end(1, 1))
    TAP.claim("what the recorder took, and waits for others' exclusion, are no work",
              rec.one(MAIN)[1].us == 110 and "critical sections" in rec.text and
              "0.500 ms" in rec.text, rec)
    log = Log().region(1, [1], 10).create(1, 11).put(1, WAIT_BEGIN, n=TASKWAIT).work(1, 3)
    log.run(1, 11, 100, 10).work(1, 2).put(1, WAIT_END, n=TASKWAIT)
    rec = Record(folder, log.work(1, 50).end(1, 1))
    TAP.claim("what the runtime takes to come to a task belongs to it",
              rec.one(A)[1].us == 103 and rec.one(MAIN + " after wait")[1].us == 52, rec)
    rec = Record(folder, Log().region(1, [1], 10).work(1, 50).end(1, 1))
    TAP.claim("that is why a replay adds no costs: the record says so",
              "run flags=1" in rec.text and rec.makespan(1) == 50, rec, rec.makespan(1))


def test_notes(folder):
    log = Log().region(1, [1], 10).create(1, 11).work(1, 40)
    for what, said in ((1, "target regions (1)"), (2, "cancellations (1)"),
                       (3, "tasks with detach (1)"), (4, "teams (1)")):
        rec = Record(folder, Log().region(1, [1], 10).put(1, NOTE, n=what).work(1, 40).end(1, 1))
        TAP.claim(said + ": that is said", said in rec.text and said in rec.err, rec)
    for words, said in (({"ended": 0}, "did not come to its end"), ({"forked": 1}, "has forked"),
                        ({"lost": 1}, "file system was full"),
                        ({"cpu": 1}, "times are the processor's"),
                        ({"processors": 1}, "more threads than processors")):
        log = Log(**words).region(1, [1, 2], 10).work(1, 40).end(1, 1)
        rec = Record(folder, log)
        TAP.claim("%s: that is said" % said, rec.code == 0 and said in rec.err, rec)
    log = Log().region(1, [1], 10).region(2, [2], 20).work(1, 40).work(2, 50).end(2, 2)
    rec = Record(folder, log.end(1, 1, 60))
    TAP.claim("regions of several threads at one time come one after the other",
              "at one time" in rec.err and near(rec.makespan(4), 110), rec, rec.makespan(4))
    log = Log(ended=0).region(1, [1], 10).create(1, 11).switch(1, 11).create(1, 12, 0x300)
    log.work(1, 60).put(1, WAIT_BEGIN, n=TASKWAIT)
    rec = Record(folder, log.switch(1, 12).work(1, 70).put(1, NOTE))
    TAP.claim("a program that was killed leaves what it had done",
              rec.code == 0 and rec.one(A)[1].us == 60 and rec.one(B)[1].us == 70, rec)


def test_wrong(folder):
    good = Log().region(1, [1], 10).work(1, 40).end(1, 1).bytes()
    for content, said in ((good[:100], "too short"),
                          (good.replace(b"openmp 4", b"openmp 9"), "that this version knows"),
                          (Log().bytes(), "no parallel region"),
                          (good[:4096], "no parallel region")):
        rec = Record(folder, content)
        TAP.claim("%s: that is said" % said, rec.code == 1 and said in rec.err, rec)
    rec = Record(folder, Log().put(1, CREATE, a=5).put(1, WAIT_END, n=2).switch(1, 77)
                 .end(9, 1).region(1, [1], 10).work(1, 40).end(1, 1))
    TAP.claim("events about what is not there are left out, which is said",
              rec.code == 0 and len(rec.tasks) == 1 and "beginning is missing" in rec.err, rec)
    log = Log()
    for depth in range(1, 400):
        log.region(depth, [1, 2], 1000 + 2 * depth)
    rec = Record(folder, log)
    TAP.claim("too many regions inside of each other", rec.code == 1 and "256" in rec.err, rec)
    log = Log().region(1, [1], 10)
    for depth in range(30000):
        log.create(1, 100 + depth).switch(1, 100 + depth).work(1, 25)
    for depth in range(29999, -1, -1):
        log.switch(1, 99 + depth if depth else 10, True)
    rec = Record(folder, log.end(1, 1))
    TAP.claim("tasks may be nested as deep as memory allows",
              rec.code == 0 and len(rec.named(A)) == 30000, rec.code, rec.err)
    again = Record(folder, log)
    TAP.claim("the same log gives the same record", again.text == rec.text)


def some_log(rng):
    """Whatever constructs come, mostly as they must."""
    log = Log().region(1, [1, 2], 10)
    stack, number = {1: [10], 2: [11]}, 100
    for _ in range(200):
        thread = rng.choice((1, 2))
        inside = stack[thread]
        what = rng.randrange(12)
        log.work(thread, rng.choice((0, 3, 50)))
        if what < 4:
            log.create(thread, number, 0x200, rng.choice((0, 0, 0, 1)),
                       uses=[(rng.randrange(1, 6), 8 * rng.randrange(3))][:rng.randrange(2)])
            log.switch(thread, number)
            inside.append(number)
            number += 1
        elif what < 7 and len(inside) > 1:
            inside.pop()
            log.switch(thread, inside[-1], True)
        elif what == 7:
            log.wait(thread, rng.choice((TASKWAIT, EXCLUSION, RUNTIME)))
        elif what == 8:
            log.put(thread, GROUP_BEGIN).wait(thread, GROUP)
        elif what > 9 and len(inside) == 1:
            log.put(thread, LOOP_BEGIN, n=1, a=9)
            for at in range(100 * thread, 900, 100 * rng.choice((1, 2))):
                if what == 10:
                    log.iteration(thread, at, rng.choice((1, 40)), rng.sample(range(0, at, 100), 1),
                                  head=rng.choice((0, 2, 30)))
                else:
                    log.wait(thread, ORDERED).work(thread, 7).put(thread, ORDERED_END)
            log.put(thread, LOOP_END)
        else:
            log.put(thread, LOOP_BEGIN, n=1, a=9).work(thread, 200).put(thread, LOOP_END)
    for thread in (1, 2):
        while len(stack[thread]) > 1:
            stack[thread].pop()
            log.switch(thread, stack[thread][-1], True)
    return log.end(1, 1, max(log.now.values()))


def test_chance(folder):
    bad = []
    for seed in range(40):
        log = some_log(random.Random(seed))
        log.runtime = seed % 3
        rec = Record(folder, log)
        path, work = rec.makespan(64), rec.makespan(1)
        if rec.code or not isinstance(path, float) or path > work + 0.01 or \
                not near(work, sum(t.us for t in rec.tasks.values())):
            bad.append((seed, rec.code, rec.err, path, work))
    TAP.claim("programs by chance: replays take the work on one core, and less on many",
              not bad, *bad[:2])
    bad = []
    for seed in range(60):
        rng = random.Random(seed)
        content = bytearray(some_log(rng).bytes())
        for _ in range(rng.choice((1, 5, 50))):
            content[rng.randrange(16, 4096 + 12000)] = rng.randrange(256)
        rec = Record(folder, bytes(content[:rng.choice((len(content), 30000))]))
        if rec.code not in (0, 1):
            bad.append((seed, rec.code, rec.err))
    TAP.claim("logs with wrong bytes are read, or refused", not bad, *bad[:3])


with tempfile.TemporaryDirectory(prefix="orrery-openmp-") as where:
    for test in (test_children, test_cuts, test_groups, test_undeferred, test_dependences,
                 test_barriers, test_loops, test_doacross, test_ordered, test_starts,
                 test_regions, test_threads, test_times, test_notes, test_wrong, test_chance):
        test(where)
TAP.end()

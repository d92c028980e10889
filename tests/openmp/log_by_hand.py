# SPDX-License-Identifier: LGPL-2.1-or-later
"""Logs of OpenMP programs (record/openmp/log.h) that are made by hand, with dates in
microseconds, and the records that come of them."""
import re
import struct

PAGE, CHUNK = 4096, 1 << 16
(REGION_BEGIN, REGION_END, IMPLICIT_BEGIN, IMPLICIT_END, CREATE, DEPEND, SWITCH, WAIT_BEGIN,
 WAIT_END, GROUP_BEGIN, LOOP_BEGIN, LOOP_CHUNK, LOOP_END, GAP, CODE, NOTE, IF0, BLOCK,
 DATUM, SOURCE, ORDERED_END) = range(1, 22)
UNDEFERRED, FINAL, AT_ONCE = 1, 2, 4
IN, OUT, INOUT, MUTEXINOUTSET, INOUTSET, ALL = range(1, 7)
TASKWAIT, GROUP, BARRIER, EXCLUSION, RUNTIME, ORDERED, SINK = range(1, 8)
LIBGOMP, LIBOMP = 1, 2
PROGRAM = "/nowhere/program"


class Log:
    """Threads are numbers; `at` moves a thread's clock, `work` lets it go on."""

    def __init__(self, ended=1, cpu=0, forked=0, lost=0, processors=4, sizes=0,
                 runtime=0):
        self.header = (7, cpu, ended, forked, lost, processors, sizes)
        self.runtime = runtime
        self.events, self.now, self.known = {}, {}, set()

    def put(self, thread, kind, flags=0, n=0, a=0, b=0):
        date = self.now.setdefault(thread, 0)
        ns = 1000000 + round(date * 1000)
        if kind == GAP:
            a = b = ns
            self.now[thread] += n
            ns, n = ns + n * 1000, 0
        self.events.setdefault(thread, []).append(
            struct.pack("<QQHHIQQ", ns, ns, kind, flags, n & 0xffffffff, a, b))
        return self

    def work(self, thread, us):
        self.now[thread] = self.now.get(thread, 0) + us
        return self

    def at(self, thread, us):
        self.now[thread] = us
        return self

    def code(self, thread, place):
        """Events about that place of the program may follow."""
        if (thread, place) not in self.known:
            self.known.add((thread, place))
            text = PROGRAM.encode() + b"\0"
            self.put(thread, CODE, 0, len(text), place, 0)
            self.events[thread].append(text.ljust(-(-len(text) // 40) * 40, b"\0"))
        return self

    def region(self, number, threads, task=None, place=0x100, date=None):
        """The region begins, and its threads; thread t executes task + t."""
        first = next(iter(threads))
        task = number * 100 if task is None else task
        if date is not None:
            for thread in threads:
                self.at(thread, date)
        self.code(first, place).put(first, REGION_BEGIN, a=number, b=place)
        for i, thread in enumerate(threads):
            self.put(thread, IMPLICIT_BEGIN, i, len(threads), task + i, number)
        return self

    def end(self, number, thread, date=None):
        if date is not None:
            self.at(thread, date)
        return self.put(thread, REGION_END, a=number)

    def create(self, thread, task, place=0x200, flags=0, priority=0, uses=()):
        self.code(thread, place).put(thread, CREATE, flags, priority, task, place)
        for mode, address, *block in uses:
            if block:
                self.put(thread, BLOCK, 0, 0, *block)
            self.put(thread, DEPEND, 0, mode, task, address)
        return self

    def switch(self, thread, task, ended=False):
        return self.put(thread, SWITCH, int(ended), 0, task)

    def run(self, thread, task, us, back):
        """The task as a whole."""
        return self.switch(thread, task).work(thread, us).switch(thread, back, True)

    def wait(self, thread, kind, inside=()):
        """A wait, in which (task, us, task that waits) are executed."""
        self.put(thread, WAIT_BEGIN, n=kind)
        for task, us, back in inside:
            self.run(thread, task, us, back)
        return self.put(thread, WAIT_END, n=kind)

    def iteration(self, thread, at, us, sinks=(), head=0):
        """One of a doacross loop: `head` before it waits for the sinks, `us` behind it."""
        self.work(thread, head)
        for sink in sinks:
            self.put(thread, WAIT_BEGIN, n=SINK).put(thread, WAIT_END, n=SINK, a=sink)
        return self.work(thread, us).put(thread, SOURCE, n=2 if at % 100 else 1, a=at, b=at // 100)

    def bytes(self):
        whole = b"orrery-openmp 4\n" + struct.pack("<7Q", *self.header) + PROGRAM.encode()
        whole = whole.ljust(16 + 7 * 8 + 1024, b"\0") + struct.pack("<Q", self.runtime)
        whole = whole.ljust(PAGE, b"\0")
        for thread, events in self.events.items():
            chunk = b""
            for event in events + [None]:
                if event is None or 16 + len(chunk) + len(event) > CHUNK:
                    whole += (struct.pack("<QQ", thread, len(chunk)) + chunk).ljust(CHUNK, b"\0")
                    chunk = b""
                chunk += event or b""
        return whole


class Task:
    def __init__(self, kernel, us, data, before, after, priority):
        self.kernel, self.us, self.data = kernel, us, data
        self.before, self.after, self.priority = before, after, priority

    def __repr__(self):
        return "%s %g %s behind %s" % (self.kernel, self.us, self.data, sorted(self.before))


def tasks_of(record):
    """Of the text of a record: {number: Task}; tasks without kernel are passed through. Data
    are by address, with the number of those of equal address."""
    codelets = dict(re.findall(r'^codelet (\d+) name="([^"]*)"', record, re.M))
    names = dict(re.findall(r'^name (\d+) name="([^"]*)"', record, re.M))
    before = {}
    for task, others in re.findall(r"^depend (\d+) before=(\S+)", record, re.M):
        before.setdefault(task, []).extend(others.split(","))
    lines = re.findall(r"^submit .*", record, re.M)
    empty = {line.split()[1] for line in lines if " codelet=" not in line}
    tasks = {}
    for line in lines:
        fields = dict(re.findall(r"(\S+)=(\S+)", line))
        number = line.split()[1]
        behind, to_do = set(), list(before.get(number, []))
        while to_do:
            other = to_do.pop()
            if other in empty:
                to_do += before.get(other, [])
            else:
                behind.add(other)
        if number in empty:
            continue
        data = [(names[use.split(":")[0]], use.split(":")[0], use.split(":")[1])
                for use in fields.get("data", "").split(",") if use]
        tasks[number] = Task(codelets[fields["codelet"]],
                             float(fields["times"].split(",")[0]), data, behind,
                             float(fields.get("after", 0)), int(fields.get("priority", 0)))
    return tasks

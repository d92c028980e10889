#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scripts by chance: tasks on arrays, on their parts, on objects and on values of
others, run by the module starpu and one after the other in plain Python, on the
machine that the environment names. Both have the same results.

usage: test-random.py NSCRIPTS [SEED]
"""
import array
import random
import sys

from common import test_all

import starpu

NSCRIPTS = int(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
LARGE = 1 << 61


def mix(into, value):
    """Order shows in the result."""
    for i in range(len(into)):
        into[i] = (into[i] * 3 + value + i) % LARGE
    return sum(into) % LARGE


def mix_from(into, other):
    for i in range(len(into)):
        into[i] = (into[i] * 5 + other[i % len(other)]) % LARGE
    return into[0]


def push(items, value):
    items.append((value + len(items)) % LARGE)
    return len(items)


def plus(*values):
    return sum(values) % LARGE


def total(items):
    return sum(items) % LARGE


def refuse(value):
    raise ValueError(value)


class Sequential:
    """What the script would do without tasks."""

    def call(self, function, modes, how, *args):
        try:
            return function(*args)
        except ValueError as error:
            return error

    def value(self, result):
        return result

    def handle(self, obj):
        return obj

    def parts(self, obj, lengths):
        view, cut, start = memoryview(obj), [], 0
        for length in lengths:
            cut.append(view[start:start + length])
            start += length
        return cut

    join = end = lambda self, *objects: None

    def content(self, obj):
        return list(obj)


class Tasks:
    """What it does with them."""

    def call(self, function, modes, how, *args):
        options = {"future": {}, "handle": {"ret_handle": True},
                   "none": {"ret_fut": False},
                   "synchronous": {"synchronous": True}}[how]
        return starpu.task_submit(modes=modes, priority=len(args),
                                  **options)(function, *args)

    def value(self, result):
        try:
            return result.get() if isinstance(result, starpu.Handle) \
                else result.wait()
        except ValueError as error:
            return error

    def handle(self, obj):
        return starpu.Handle(obj)

    def parts(self, obj, lengths):
        handle = obj if isinstance(obj, starpu.Handle) \
            else starpu.Handle._of(obj)
        return handle.partition(len(lengths), 0, lengths)

    def join(self, obj, parts):
        handle = obj if isinstance(obj, starpu.Handle) \
            else starpu.Handle._of(obj)
        handle.unpartition(parts)

    def end(self, handle):
        handle.unregister_submit()

    def content(self, obj):
        if isinstance(obj, starpu.Handle):
            return list(obj.get())
        copy = list(starpu.acquire(obj))
        starpu.release(obj)
        return copy


class Script:
    """One by a seed; it makes the same choices with either."""

    def __init__(self, seed, how):
        self.chance = random.Random(seed)
        self.how = how
        self.arrays = [array.array("q", range(self.chance.randint(1, 12)))
                       for _ in range(3)]
        self.handles = [how.handle(array.array("q", range(5)))]
        self.items = [how.handle([]) for _ in range(2)]
        self.cut = {}  # number of an array: its parts
        self.values = []
        self.results = []

    def pick_array(self):
        objects = self.arrays + self.handles
        number = self.chance.randrange(len(objects))
        if number in self.cut and self.chance.random() < 0.7:
            return self.chance.choice(self.cut[number])
        return objects[number]

    def pick_value(self):
        if self.values and self.chance.random() < 0.5:
            return self.chance.choice(self.values)
        return self.chance.randint(0, 99)

    def keep(self, how, result):
        if how == "none":
            return
        self.results.append(result)
        self.values.append(result)

    def step(self):
        kind = self.chance.choice(("mix", "mix", "from", "push", "plus",
                                   "total", "cut", "look", "refuse"))
        way = self.chance.choice(("future", "handle", "none", "synchronous"))
        if way == "none" and kind in ("plus", "total", "refuse"):
            way = "future"
        getattr(self, "do_" + kind)(way)

    def do_mix(self, way):
        # A value that is an error: nothing is done, on either side.
        value = self.chance.randint(0, 99)
        self.keep(way, self.how.call(mix, {0: "RW"}, way, self.pick_array(),
                                     value))

    def do_from(self, way):
        into, other = self.pick_array(), self.pick_array()
        if self.overlap(into, other):
            return
        self.keep(way, self.how.call(mix_from, {0: "RW", 1: "R"}, way, into,
                                     other))

    def overlap(self, one, two):
        """Whether one is a part of the other: a task cannot write that."""
        objects = self.arrays + self.handles
        whole = [next(number for number, obj in enumerate(objects)
                      if obj is each or any(each is part for part in
                                            self.cut.get(number, ())))
                 for each in (one, two)]
        return whole[0] == whole[1]

    def do_push(self, way):
        self.keep(way, self.how.call(push, ["RW"], way,
                                     self.chance.choice(self.items),
                                     self.chance.randint(0, 99)))

    def do_plus(self, way):
        values = [self.pick_value() for _ in range(self.chance.randint(1, 4))]
        wrong = [value for value in values if isinstance(value, ValueError)]
        if isinstance(self.how, Sequential) and wrong:
            result = wrong[0]
        else:
            result = self.how.call(plus, None, way, *values)
        self.keep(way, result)

    def do_total(self, way):
        self.keep(way, self.how.call(
            total, None, way, self.chance.choice(self.items +
                                                 [self.pick_array()])))

    def do_refuse(self, way):
        self.keep(way, self.how.call(refuse, None, way,
                                     self.chance.randint(0, 99)))

    def do_cut(self, way):
        objects = self.arrays + self.handles
        number = self.chance.randrange(len(objects))
        if number in self.cut:
            self.how.join(objects[number], self.cut.pop(number))
            return
        left = 5 if number == 3 else len(self.arrays[number])
        lengths = []
        while left:
            lengths.append(self.chance.randint(1, left))
            left -= lengths[-1]
        self.cut[number] = self.how.parts(objects[number], lengths)

    def do_look(self, way):
        self.results.append(tuple(self.how.content(self.pick_array())))

    def run(self):
        for _ in range(self.chance.randint(1, 40)):
            self.step()
        found = [result if isinstance(result, tuple) else
                 self.how.value(result) for result in self.results]
        objects = self.arrays + self.handles
        for number, parts in self.cut.items():
            self.how.join(objects[number], parts)
        found += [self.how.content(obj) for obj in objects + self.items]
        for handle in self.handles + self.items:
            self.how.end(handle)
        return [str(value) for value in found]


def tasks_have_the_results_of_plain_python():
    for seed in range(SEED, SEED + NSCRIPTS):
        expected = Script(seed, Sequential()).run()
        found = Script(seed, Tasks()).run()
        if found != expected:
            raise AssertionError("seed %d: %s instead of %s"
                                 % (seed, found, expected))


if __name__ == "__main__":
    starpu.init()
    test_all([tasks_have_the_results_of_plain_python])

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Options of task_submit and access modes: which arguments they mean, and what is
refused. On the machine that the environment names. usage: test-options.py"""
import array
import functools
import operator

from common import equal, need, raises, test_all

import starpu


def first(a, b=0, *, c=0):
    return a


def size(a, b=0, *, c=0):
    return len(a)


def refused(words, kind=starpu.error, **options):
    raises(kind, words, starpu.task_submit, **options)


# --- values that no call can have ---


def values_out_of_range_are_refused():
    for where in (-1, 1, 1 << 20, 1 << 70, True, ["cpu"], "gpu", b"cpu", 1.0):
        refused("where=|'cpu'|starpu.STARPU_CPU", where=where)
    for priority in (1 << 31, -1 << 40, 1 << 70):
        refused("priority=|use an int", priority=priority)
    for color in (-1, 1 << 32, 1 << 70):
        refused("color=|0xRRGGBB", color=color)
    for flops in (-1, float("nan"), float("inf"), -1e-9):
        refused("flops=|number from 0", flops=flops)
    for name in ("a\0b", "\udc80", 3, b"a"):
        refused("name= must be a text", name=name)
        refused("perfmodel= must be a text", perfmodel=name)
    for symbol in ("", ".a", "../a", "a/b"):
        refused("perfmodel=|slash", perfmodel=symbol)
    equal(starpu.task_submit()(first, 1).wait(), 1)


def values_of_other_types_are_type_errors():
    for option in ("priority", "color", "flops"):
        refused("", TypeError, **{option: "high"})
    refused("nonsense", TypeError, nonsense=1)


def numbers_may_be_those_of_numpy():
    numpy = need("numpy")
    submit = starpu.task_submit(priority=numpy.int64(3), color=numpy.uint8(9),
                                flops=numpy.float32(5))
    equal(submit(first, 1).wait(), 1)
    handle = starpu.Handle(numpy.arange(10))
    parts = handle.partition(numpy.int64(2), 0, numpy.array([3, 7]))
    equal([len(part.get()) for part in parts], [3, 7])
    handle.unpartition(parts, 2)
    handle.unregister()


def functions_may_have_any_name():
    def odd():
        return 1

    odd.__name__ = "\udc80"
    raises(UnicodeEncodeError, "", starpu.task_submit(), odd)
    equal(starpu.task_submit(name="even")(odd).wait(), 1)
    equal(starpu.task_submit(name="")(odd).wait(), 1)


def lengths_of_parts_are_refused():
    handle = starpu.Handle(bytearray(10))
    for chunks in (5, None, 1.5):
        raises(starpu.error, "chunks=|lengths of the parts", handle.partition,
               2, 0, chunks)
    for nchildren in (0, -1, 11, "2", 2.0, None):
        raises(starpu.error, "cannot be cut into|1 to 10", handle.partition,
               nchildren)
    parts = handle.partition(2)
    for wrong in (None, 2, parts[:1], [1, 2], handle):
        raises(starpu.error, "not the parts|partition returned",
               handle.get_partition_size, wrong)
    handle.unpartition(parts)
    handle.unregister()


# --- modes ---


def modes_are_checked():
    data = bytearray(4)
    for modes in (5, "RW", {1, 2}, iter(["R"])):
        refused("modes=|a dict by name or position, or a list", modes=modes)
    for modes in ({"a": "X"}, ["RW", None], {0: 0}, {"a": 3.5}, (b"R",)):
        refused("is no access mode|'R', 'W' or 'RW'", modes=modes)
    for modes in ({"z": "RW"}, {1: "RW"}, {-1: "RW"}, {1 << 70: "RW"},
                  {None: "R"}, {"self": "R"}):
        raises(starpu.error, "the call has no argument|position from 0",
               starpu.task_submit(modes=modes), first, data)
    raises(starpu.error, "has 1 arguments by position",
           starpu.task_submit(modes=["R", "RW"]), first, data)
    for modes in ({"a": "RW"}, {0: "RW"}, {"b": "R", "c": "R"}, ["RW"], (), {}):
        equal(starpu.task_submit(modes=modes)(size, data).wait(), 4)
    raises(starpu.error, "no argument 'z'",
           starpu.task_submit(modes={"z": "RW"}), len, data)
    starpu.unregister(data)


def put(into, i):
    """Depends on all that it follows."""
    into[0] = into[0] * 3 % 1000003 + i


def ordered(function, *before, **options):
    """Whether tasks of the function follow each other: they do only if their mode
    is known."""
    data = array.array("q", [1])
    value = 1
    starpu.pause()
    for i in range(50):
        starpu.task_submit(ret_fut=False, **options)(function, *before, data, i)
        # Reads come after, so that a missing mode is seen whatever the order.
        value = value * 3 % 1000003 + i
    last = starpu.task_submit()(operator.getitem, data, 0)
    starpu.resume()
    equal(last.wait(), value)
    starpu.unregister(data)


def modes_mean_the_arguments_of_whatever_is_called():
    class Adder:
        @starpu.access(into="RW")
        def put(self, into, i):
            put(into, i)

        @classmethod
        @starpu.access(into="RW")
        def of_class(cls, into, i):
            put(into, i)

        @staticmethod
        @starpu.access(into="RW")
        def static(into, i):
            put(into, i)

        def __call__(self, into, i):
            put(into, i)

    @starpu.access(into="RW")
    def marked(into, i):
        put(into, i)

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    adder = Adder()
    for function in (marked, decorate(marked), adder.put, Adder.of_class,
                     Adder.static, decorate(decorate(adder.put)),
                     starpu.set_access(Adder().put, into="RW"),
                     starpu.set_access(Adder(), into="RW")):
        ordered(function)
    ordered(Adder.put, adder)
    for function in (put, adder, adder.put, functools.partial(put),
                     decorate(put)):
        ordered(function, modes={"into": "RW"})
        ordered(function, modes={0: "RW"})
    ordered(functools.partial(lambda more, into, i: put(into, i), 7),
            modes={"into": "RW"})
    ordered(starpu.set_access(functools.partial(put), into="RW"))


def access_modes_name_parameters():
    raises(starpu.error, "first has no argument `z', it has a, b, c",
           starpu.set_access, first, z="R")
    raises(starpu.error, "no argument `z'", starpu.set_access,
           functools.partial(first, b=3), z="R")
    raises(starpu.error, "no argument `z', it has", starpu.set_access,
           operator.getitem, z="R")
    starpu.set_access(lambda **more: None, z="R")


if __name__ == "__main__":
    starpu.init()
    test_all([value for value in list(globals().values())
              if callable(value) and value.__module__ == "__main__"
              and value not in (first, size, refused, put, ordered)])

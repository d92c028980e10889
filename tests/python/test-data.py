#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Objects of all sorts as data of tasks, on the machine that the environment names.
usage: test-data.py"""
import ctypes
import gc
import mmap
import operator
import random
import threading
import time

from common import Skip, equal, need, raises, test_all

import starpu


def put(into, i, value):
    into[i] = value


def put_all(obj, values, at=operator.getitem):
    """Tasks write the elements, one reads each of them."""
    submit = starpu.task_submit(modes={"into": "RW"}, ret_fut=False)
    for i, value in enumerate(values):
        submit(put, obj, i, value)
    return [starpu.task_submit()(at, obj, i).wait()
            for i in range(len(values))]


def memory_of_c_is_used():
    numbers = (ctypes.c_int * 5)()
    equal(put_all(numbers, [5, 4, 3, 2, 1]), [5, 4, 3, 2, 1])
    starpu.acquire(numbers)
    equal(list(numbers), [5, 4, 3, 2, 1])
    starpu.release(numbers)
    starpu.unregister(numbers)
    starpu.Handle((ctypes.c_double * 3 * 4)()).unregister()

    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double)]

    pairs = (Pair * 3)()
    equal(put_all(pairs, [Pair(i, i / 2) for i in range(3)],
                  lambda obj, i: (obj[i].a, obj[i].b)),
          [(0, 0.0), (1, 0.5), (2, 1.0)])
    handle = starpu.Handle(numbers)
    halves = handle.partition(2)
    equal([list(half.get()) for half in halves], [[5, 4, 3], [2, 1]])
    for half in halves:
        starpu.task_submit(modes=["RW"], ret_fut=False)(put, half, 0, 7)
    equal([list(half.get()) for half in halves], [[7, 4, 3], [7, 1]])
    handle.unpartition(halves)
    handle.unregister()


def mapped_memory_is_used():
    memory = mmap.mmap(-1, 4096)
    equal(put_all(memory, [7, 8, 9]), [7, 8, 9])
    raises(BufferError, "", memory.close)
    starpu.unregister(memory)
    memory.close()


def elements_without_memory_order_tasks():
    """Dates and references of numpy are no bytes that may be copied."""
    numpy = need("numpy")
    dates = numpy.zeros(4, "M8[s]")
    one, two = numpy.datetime64("2001-01-01"), numpy.datetime64("2002-02-02")
    equal(put_all(dates, [one, two, one]), [one, two, one])
    things = numpy.zeros((3, 2), object)
    made = ["a", {}, object()]
    found = put_all(things, made, lambda obj, i: obj[i, 0])
    equal([a is b for a, b in zip(found, made)], [True] * 3)
    mixed = numpy.zeros(3, [("a", object), ("b", int)])
    submit = starpu.task_submit(modes={"into": "W"}, ret_fut=False)
    for i in range(3):
        submit(put, mixed, i, ([i], i))
    starpu.acquire(mixed)
    equal([row[0] for row in mixed], [[0], [1], [2]])
    starpu.release(mixed)
    handle = starpu.Handle(numpy.zeros(4, "M8[s]"))
    raises(starpu.error, "no memory of its own", handle.partition, 2)
    handle.unregister()


def elements_without_memory_wait_for_each_other():
    numpy = need("numpy")
    things = numpy.zeros(1, object)

    def more(into):
        into[0] = into[0] * 3 % 1000003 + 1

    value = 0
    starpu.pause()
    for _ in range(50):
        starpu.task_submit(modes=["RW"], ret_fut=False)(more, things)
        value = value * 3 % 1000003 + 1
    last = starpu.task_submit()(operator.getitem, things, 0)
    starpu.resume()
    equal(last.wait(), value)


def scalars_and_empty_arrays_are_values():
    numpy = need("numpy")
    for value in (numpy.array(3), numpy.float64(2), numpy.zeros(0),
                  numpy.zeros((0, 3)), numpy.datetime64("2001-01-01")):
        equal(starpu.task_submit()(type, value).wait(), type(value))


# --- memory of several objects ---


def add_to(into, value):
    for i in range(len(into)):
        into[i] += value


def slices_are_used_in_turn():
    numpy = need("numpy")
    data = numpy.zeros(20, int)
    kept = data[:15]
    submit = starpu.task_submit(modes=["RW"], ret_fut=False)
    for turn in range(5):
        submit(add_to, kept, 1)
        submit(add_to, data[10:], 10)
        submit(add_to, data, 100)
        submit(add_to, memoryview(data)[5:12], 1000)
    starpu.acquire(data)
    equal(list(data[:5]), [505] * 5)
    equal(list(data[5:10]), [5505] * 5)
    equal(list(data[10:12]), [5555] * 2)
    equal(list(data[12:15]), [555] * 3)
    equal(list(data[15:]), [550] * 5)
    starpu.release(data)
    starpu.unregister(data)


def a_call_has_no_overlapping_arguments():
    numpy = need("numpy")
    data = numpy.zeros(10, int)

    def both(one, other):
        one += 1
        other += 1

    submit = starpu.task_submit(modes=["RW", "RW"], ret_fut=False)
    for _ in range(2):
        raises(starpu.error, "same call|Handle.partition", submit, both,
               data[:6], data[4:])
        submit(both, data[:5], data[5:])
    starpu.task_wait_for_all()
    equal(list(data), [2] * 10)


def threads_use_slices_in_turn():
    numpy = need("numpy")
    if starpu.is_simulated():
        raise Skip("only one thread submits in a simulation")
    data = numpy.zeros(10, int)
    slices = [data[:6], data[3:8], data[1:9]]
    go, log = threading.Event(), []

    def change(part, name):
        log.append("begin " + name)
        if name == "first":
            go.wait()
        part += 1
        log.append("end " + name)

    submit = starpu.task_submit(modes=["RW"], ret_fut=False)
    submit(change, slices[0], "first")
    threads = [threading.Thread(target=submit, args=(change, slices[i], name))
               for i, name in ((1, "a"), (1, "b"), (2, "c"))]
    for thread in threads:
        thread.start()
        time.sleep(0.05)  # so that each is likely to be waiting
    go.set()
    for thread in threads:
        thread.join()
    starpu.task_wait_for_all()
    equal(log[:2], ["begin first", "end first"])
    equal([(log[i][:6], log[i + 1][:4], log[i][-1] == log[i + 1][-1])
           for i in range(0, 8, 2)], [("begin ", "end ", True)] * 4)
    equal(list(data), [1, 2, 2, 4, 4, 4, 3, 3, 1, 0])


def threads_submit_calls_of_several_slices():
    numpy = need("numpy")
    if starpu.is_simulated():
        raise Skip("only one thread submits in a simulation")
    data, expected = numpy.zeros(24, int), numpy.zeros(24, int)
    slices = [data[i:i + 7] for i in range(0, 16, 2)]
    failures = []

    def both(one, other):
        one += 1
        other += 1

    def several(seed):
        chance = random.Random(seed)
        submit = starpu.task_submit(modes=["RW", "RW"], ret_fut=False)
        for _ in range(60):
            i = chance.randrange(4)
            j = chance.randrange(i + 4, 8)
            try:
                submit(both, slices[i], slices[j])
            except starpu.error as error:
                failures.append(str(error))

    for seed in range(4):
        chance = random.Random(seed)
        for _ in range(60):
            i = chance.randrange(4)
            for k in (i, chance.randrange(i + 4, 8)):
                expected[2 * k:2 * k + 7] += 1
    threads = [threading.Thread(target=several, args=(seed,))
               for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    starpu.task_wait_for_all()
    equal(failures, [])
    equal(list(data), list(expected))


def the_same_object_may_be_given_twice():
    numpy = need("numpy")
    data = numpy.arange(10)
    starpu.task_submit()(len, data[3:]).wait()

    def double(into, data):
        into += data

    starpu.task_submit(modes={"into": "RW"})(double, data, data).wait()
    starpu.acquire(data)
    equal(list(data), [2 * i for i in range(10)])
    starpu.release(data)
    starpu.unregister(data)


def memory_that_the_program_has_is_refused():
    numpy = need("numpy")
    data, other = numpy.zeros(20, int), [1]
    half = data[:10]
    handle = starpu.Handle(half)
    raises(starpu.error, "part of another|partition|unregister",
           starpu.task_submit(), len, data)
    handle.unregister()
    equal(starpu.task_submit()(len, data).wait(), 20)
    starpu.acquire(data)
    raises(starpu.error, "part of another", starpu.task_submit(), len, half)
    starpu.release(data)
    parts = starpu.Handle._of(data).partition(2)
    raises(starpu.error, "part of another", starpu.task_submit(), len, half)
    starpu.Handle._of(data).unpartition(parts)
    # Whoever waited for the tasks here would do so for ever.
    handle = starpu.Handle(other)
    handle.acquire("RW")
    last = starpu.task_submit()(lambda other, data: len(data), handle, data)
    raises(starpu.error, "part of another", starpu.task_submit(), len, half)
    handle.release()
    equal(last.wait(), 20)
    starpu.pause()
    last = starpu.task_submit()(len, data)
    raises(starpu.error, "part of another", starpu.task_submit(), len, half)
    starpu.resume()
    equal(last.wait(), 20)
    equal(starpu.task_submit()(len, half).wait(), 10)
    starpu.unregister(half)
    handle.unregister()


def handles_that_are_dropped_give_their_data_back():
    for obj in ([1], bytearray(4)):
        handle = starpu.Handle(obj)
        handle.acquire("RW")
        del handle
        gc.collect()
        equal(starpu.task_submit()(abs, -1).wait(), 1)
        starpu.Handle(obj).unregister()


def what_is_acquired_does_not_end_later():
    data = bytearray(3)
    starpu.acquire(data, mode="RW")
    raises(starpu.error, "acquired|release it", starpu.unregister_submit, data)
    starpu.release(data)
    starpu.unregister_submit(data)


# --- values that replace objects ---


def a_handle_s_object_is_replaced():
    old, new = [1], [2]
    handle = starpu.Handle(old)
    starpu.task_submit(ret_param=True)(lambda into: new, handle).wait()
    equal(handle.get() is new, True)
    raises(starpu.error, "registered already", starpu.Handle, new)
    other = starpu.Handle(old)  # nobody has it any more
    handle.unregister()
    starpu.Handle(new).unregister()
    equal(other.get() is old, True)
    other.unregister()


def many_handles_are_replaced_and_end():
    handles = [starpu.Handle([i]) for i in range(100)]
    for turn in range(3):
        for i, handle in enumerate(handles):
            starpu.task_submit(ret_param=True, ret_fut=False)(
                lambda into: [into[0] + 1], handle)
    starpu.task_wait_for_all()
    equal([handle.get()[0] for handle in handles], list(range(3, 103)))
    for handle in handles[::2] + handles[1::2]:
        handle.unregister()


def an_object_that_has_a_handle_is_no_other_one_s():
    taken = [1]
    first, second = starpu.Handle(taken), starpu.Handle([2])
    raises(starpu.error, "registered already",
           starpu.task_submit(ret_param=True)(lambda into: taken, second).wait)
    equal(second.get(), [2])
    first.unregister()
    second.unregister()


def elements_without_memory_are_replaced_in_place():
    numpy = need("numpy")
    things = numpy.zeros(2, object)
    starpu.task_submit(ret_param=True)(lambda into: ["a", "b"], things).wait()
    equal(list(things), ["a", "b"])


if __name__ == "__main__":
    starpu.init()
    test_all([value for value in list(globals().values())
              if callable(value) and value.__module__ == "__main__"
              and value not in (put, put_all, add_to)])

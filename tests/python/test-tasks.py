#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tasks, futures, handles and access modes of the module starpu, on the machine
that the environment names.

usage: test-tasks.py [devices]     with `devices`, these run the functions
"""
import array
import asyncio
import contextvars
import math
import sys
import threading
import time

from common import Skip, equal, need, raises, test_all

import starpu
from starpu import starpupy

SIMULATED_ONLY = "the machine is real"


def add(a, b):
    return a + b


def fail_with(error):
    raise error


# --- tasks and futures ---


def a_task_returns_a_future_of_its_value():
    future = starpu.task_submit()(add, 1, 2)
    equal(future.wait(), 3)
    equal(future.result(), 3)
    equal(future.exception(), None)
    equal((future.done(), future.cancelled(), future.running()),
          (True, False, False))
    equal(repr(future), "<Future of add finished result=3>")


def functions_can_be_named():
    def local(a):
        return -a

    equal(starpu.task_submit()("add", 1, 2).wait(), 3)
    equal(starpu.task_submit()("local", 1).wait(), -1)
    equal(starpu.task_submit()("abs", -4).wait(), 4)
    raises(starpu.error, "no function `nowhere'|the function itself",
           starpu.task_submit(), "nowhere")


def callables_of_all_sorts_are_called():
    class Adder:
        def __init__(self, more):
            self.more = more

        def __call__(self, a):
            return a + self.more

        def method(self, a):
            return a - self.more

    equal(starpu.task_submit()(Adder(3), 4).wait(), 7)
    equal(starpu.task_submit()(Adder(3).method, 4).wait(), 1)
    equal(starpu.task_submit()(lambda: "nothing").wait(), "nothing")
    equal(starpu.task_submit()(math.sqrt, 16).wait(), 4.0)
    equal(starpu.task_submit()(dict, a=1, b=2).wait(), {"a": 1, "b": 2})


def all_options_are_taken():
    submit = starpu.task_submit(
        name="named", synchronous=True, priority=2, color=0xff0000, flops=1e6,
        perfmodel="python_test", where="cpu", ret_handle=False, ret_fut=True,
        ret_param=False, arg_handle=True, modes={"a": "R"})
    future = submit(add, [1], b=[2])
    equal(future.done(), True)
    equal(future.name, "named")
    equal(future.result(), [1, 2])
    equal(starpu.task_submit(where=starpu.STARPU_CPU)(add, 1, 2).wait(), 3)


def without_future_a_task_returns_none():
    seen = []
    equal(starpu.task_submit(ret_fut=False)(seen.append, 1), None)
    starpu.task_wait_for_all()
    equal(seen, [1])


def synchronous_tasks_raise_what_nobody_else_would():
    raises(KeyError, "gone", starpu.task_submit(synchronous=True,
                                                ret_fut=False),
           fail_with, KeyError("gone"))


def futures_are_arguments_before_they_are_ready():
    starpu.pause()
    total = starpu.task_submit()(add, 0, 0)
    for i in range(50):
        total = starpu.task_submit()(add, total, b=starpu.task_submit()(abs, i))
    equal(total.done(), False)
    raises(asyncio.InvalidStateError, "add has not ended|await", total.result)
    if starpu.is_simulated():
        raises(starpu.error, "paused|resume()", total.wait)
        raises(starpu.error, "paused|resume()", starpu.task_wait_for_all)
    starpu.resume()
    equal(total.wait(), sum(range(50)))


def exceptions_come_with_their_traceback():
    future = starpu.task_submit()(fail_with, ValueError("bad"))
    error = raises(ValueError, "bad", future.wait)
    names = []
    trace = error.__traceback__
    while trace:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    equal(names[-1], "fail_with")
    equal(future.exception() is error, True)


def exceptions_reach_what_depends_on_them():
    first = starpu.task_submit()(fail_with, ValueError("first"))
    second = starpu.task_submit()(add, first, 1)
    handle = starpu.task_submit(ret_handle=True)(add, second, 1)
    raises(ValueError, "first", second.wait)
    raises(ValueError, "first", handle.get)
    raises(ValueError, "first", starpu.task_submit()(abs, handle).wait)
    raises(ValueError, "first", first.result)


def what_was_cancelled_is_not_called():
    seen = []
    starpu.pause()
    future = starpu.task_submit()(seen.append, 1)
    after = starpu.task_submit()(add, future, 1)
    equal(future.cancel(), True)
    equal(future.cancelled(), True)
    starpu.resume()
    raises(asyncio.CancelledError, "was cancelled", future.wait)
    raises(asyncio.CancelledError, "was cancelled", after.wait)
    starpu.task_wait_for_all()
    equal(seen, [])
    equal(starpu.task_submit()(add, 1, 1).wait(), 2)


def an_ended_task_cannot_be_cancelled():
    future = starpu.task_submit()(add, 1, 2)
    future.wait()
    equal(future.cancel(), False)
    equal(future.result(), 3)


def callbacks_are_called_once():
    seen = []
    starpu.pause()
    future = starpu.task_submit()(add, 1, 2)
    future.add_done_callback(seen.append)
    future.add_done_callback(print)
    equal(future.remove_done_callback(print), 1)
    starpu.resume()
    starpu.task_wait_for_all()
    equal(seen, [future])
    future.add_done_callback(seen.append)
    equal(seen, [future, future])


def exceptions_that_nobody_asked_for_are_said():
    said = []
    former, sys.unraisablehook = sys.unraisablehook, said.append
    try:
        starpu.task_submit(ret_fut=False)(fail_with, ValueError("alone"))
        starpu.task_submit()(fail_with, ValueError("dropped"))
        starpu.task_wait_for_all()
    finally:
        sys.unraisablehook = former
    equal(sorted(str(one.exc_value) for one in said), ["alone", "dropped"])


# --- tasks inside of tasks ---


def need_processors():
    if "devices" in sys.argv:
        raise Skip("functions on simulated devices cannot wait")


def tasks_submit_and_wait():
    need_processors()

    def fib(n):
        if n < 2:
            return n
        one, two = (starpu.task_submit()(fib, n - i) for i in (1, 2))
        return one.wait() + two.wait()

    equal(starpu.task_submit()(fib, 9).wait(), 34)


def in_a_task_all_are_those_that_it_submitted():
    need_processors()

    def outer(n):
        seen = []
        for i in range(n):
            starpu.task_submit(ret_fut=False)(seen.append, i)
        starpu.task_wait_for_all()
        return sorted(seen)

    equal(starpu.task_submit()(outer, 20).wait(), list(range(20)))


def every_stack_has_its_own_frames():
    need_processors()

    def deep(n, inner):
        if n:
            return deep(n - 1, inner) + 1
        return starpu.task_submit()(deep, 60, inner - 1).wait() if inner else 0

    futures = [starpu.task_submit()(deep, 60, 5) for _ in range(8)]
    equal([future.wait() for future in futures], [60 * 6] * 8)


def exceptions_being_handled_stay_apart():
    need_processors()

    def handles(n):
        try:
            raise ValueError(n)
        except ValueError as error:
            if n:
                starpu.task_submit()(handles, n - 1).wait()
            return sys.exc_info()[1] is error

    equal(starpu.task_submit()(handles, 4).wait(), True)


# --- handles ---


def values_stay_in_handles():
    one = starpu.task_submit(ret_handle=True)(add, 1, 2)
    two = starpu.task_submit(ret_handle=True)(add, one, 10)
    equal(two.get(), 13)
    equal(starpu.task_submit()(add, one, two).wait(), 16)
    two.unregister()
    raises(starpu.error, "unregistered|starpu.Handle(object)", two.get)


def handles_of_objects_order_tasks():
    items = []
    handle = starpu.Handle(items)
    for i in range(100):
        starpu.task_submit(ret_fut=False, modes={0: "RW"})(list.append, handle,
                                                           i)
    equal(handle.acquire(mode="R"), list(range(100)))
    handle.release()
    equal(handle.get() is items, True)
    handle.unregister()


def immutable_objects_have_several_handles():
    handles = [starpu.Handle(obj) for obj in (5, 5, "a", "a", (1,), None, None)]
    for handle in handles:
        handle.unregister()


def mutable_objects_have_one():
    for obj in ([1], {}, bytearray(3), array.array("d", [1.0])):
        handle = starpu.Handle(obj)
        raises(starpu.error, "registered already|unregister it",
               starpu.Handle, obj)
        handle.unregister()
        starpu.Handle(obj).unregister()


def the_value_goes_into_the_first_argument():
    data = array.array("i", [0, 0, 0])
    target = starpu.Handle(data)
    starpu.task_submit(ret_param=True, ret_fut=False)(
        lambda into, a: array.array("i", [a] * len(into)), target, 7)
    equal(list(target.get()), [7, 7, 7])
    same = starpu.task_submit(ret_param=True, ret_handle=True)(
        lambda into: array.array("i", [v + 1 for v in into]), target)
    equal(same is target, True)
    equal(list(target.get()), [8, 8, 8])
    target.unregister()


# --- memory ---


def change(data, i, value):
    data[i] = value


def memory_is_used_where_it_is():
    for obj in (bytearray(8), array.array("B", bytes(8)),
                memoryview(bytearray(8))):
        submit = starpu.task_submit(modes={"data": "RW"})
        futures = [submit(change, obj, i, i) for i in range(8)]
        starpu.acquire(obj, mode="R")
        equal(bytes(obj), bytes(range(8)))
        equal([future.done() for future in futures], [True] * 8)
        starpu.release(obj)
        starpu.unregister(obj)


def bytes_are_read():
    equal(starpu.task_submit()(sum, b"abc").wait(), sum(b"abc"))
    raises(starpu.error, "only be read|R", starpu.task_submit(modes=["RW"]),
           sum, b"abc")


def memory_in_use_cannot_move():
    obj = bytearray(8)
    starpu.task_submit()(len, obj).wait()
    raises(BufferError, "", obj.extend, b"more")
    starpu.unregister(obj)
    obj.extend(b"more")
    equal(len(obj), 12)


def without_arg_handle_memory_is_a_value():
    obj = bytearray(8)
    starpu.task_submit(arg_handle=False)(len, obj).wait()
    obj.extend(b"more")


def memory_that_overlaps_is_refused():
    obj = bytearray(64)
    handle = starpu.Handle(memoryview(obj)[:40])
    raises(starpu.error, "part of another|partition", starpu.Handle,
           memoryview(obj)[20:])
    other = starpu.Handle(memoryview(obj)[40:])
    handle.unregister()
    other.unregister()


def modes_order_tasks():
    @starpu.access(into="RW", data="R")
    def total(into, data):
        into[0] += sum(data)

    into, data = array.array("q", [0]), array.array("q", range(10))
    for i in range(20):
        starpu.task_submit(ret_fut=False)(total, into, data)
        starpu.task_submit(ret_fut=False, modes={"data": "RW"})(
            change, data, 0, i + 1)
    starpu.acquire(into)
    equal(into[0], 20 * 45 + sum(range(20)))
    starpu.release(into)


def objects_that_ended_are_forgotten():
    for i in range(300):
        starpu.task_submit(ret_fut=False)(len, bytearray(1000))
    starpu.task_wait_for_all()
    starpu.task_submit()(len, bytearray(10)).wait()


# --- decorators ---


def delayed_functions_are_tasks():
    @starpu.delayed
    def plain(a):
        return a + 1

    @starpu.delayed(name="other", a="R", b="RW", ret_fut=False)
    def writes(a, b):
        b[0] = a[0]

    equal(plain(1).wait(), 2)
    equal(plain.__name__, "plain")
    one, two = bytearray(b"x"), bytearray(b"y")
    equal(writes(one, two), None)
    starpu.acquire(two)
    equal(two, b"x")
    starpu.release(two)


def access_modes_are_checked():
    raises(starpu.error, "'X' is no access mode|'RW'", starpu.set_access, add,
           a="X")
    raises(starpu.error, "no argument `c'|a, b", starpu.set_access, add, c="R")
    raises(starpu.error, "no access mode", starpu.task_submit, modes=["Q"])
    marked = starpu.set_access(len, obj="R")
    equal(starpu.task_submit()(marked, bytearray(3)).wait(), 3)


# --- parts ---


def parts_are_worked_on_apart():
    @starpu.access(part="RW")
    def fill(part, value):
        for i in range(len(part)):
            part[i] = value

    data = array.array("i", [0] * 10)
    handle = starpu.Handle(data)
    parts = handle.partition(3, 0, [1, 4, 5])
    equal(handle.get_partition_size(parts), 3)
    for i, part in enumerate(parts):
        starpu.task_submit(ret_fut=False)(fill, part, i + 1)
    equal(starpu.task_submit()(list, handle).wait(),
          [1] + [2] * 4 + [3] * 5)
    equal(list(parts[1].get()), [2] * 4)
    handle.unpartition(parts, 3)
    raises(starpu.error, "unregistered", parts[0].get)
    equal(list(handle.get()), [1] + [2] * 4 + [3] * 5)
    handle.unregister()


def wrong_parts_are_refused():
    handle = starpu.Handle(array.array("i", [0] * 10))
    for words, args in (("11|1 to 10", (11,)), ("0", (0,)), ("no dimension 1", (2, 1)),
                        ("9 elements together|has 10", (2, 0, [4, 5])),
                        ("2 parts have 3 lengths", (2, 0, [4, 5, 1])),
                        ("positive", (2, 0, [10, 0]))):
        raises(starpu.error, words, handle.partition, *args)
    raises(starpu.error, "not partitioned", handle.unpartition)
    parts = handle.partition(2)
    raises(starpu.error, "already", handle.partition, 2)
    raises(starpu.error, "unpartition it", handle.unregister)
    raises(starpu.error, "not the parts", handle.unpartition, [handle])
    parts[0].acquire(mode="R")
    raises(starpu.error, "part 0 is acquired", handle.unpartition)
    parts[0].release()
    handle.unpartition()
    handle.unregister()
    raises(starpu.error, "no memory", starpu.Handle([1]).partition, 2)
    handle = starpu.Handle(memoryview(bytearray(12)).cast("B", (3, 4)))
    raises(starpu.error, "numpy.asarray", handle.partition, 2, 1)
    equal(len(handle.partition(3)), 3)
    handle.unpartition()
    handle.unregister()


# --- numpy ---


def arrays_of_any_layout_are_used_in_place():
    numpy = need("numpy")

    @starpu.access(x="RW")
    def one_more(x):
        x += 1

    plain = numpy.arange(24.0).reshape(2, 3, 4)
    for view in (plain, plain.T, plain[:, 1:, ::2], plain[0, :, 1]):
        expected = view.copy() + 1
        handle = starpu.Handle(view)
        for dim, length in enumerate(view.shape):
            parts = handle.partition(length, dim)
            for part in parts:
                starpu.task_submit(ret_fut=False)(one_more, part)
            handle.unpartition(parts)
            equal((handle.get() == expected).all(), True)
            expected += 1
        handle.unregister()


def arrays_that_cannot_be_used_in_place_are_refused():
    numpy = need("numpy")
    raises(starpu.error, "reverse|contiguous copy", starpu.Handle,
           numpy.arange(4)[::-1])
    raises(starpu.error, "overlap|contiguous copy", starpu.Handle,
           numpy.broadcast_to(numpy.arange(3), (2, 3)))


def scalars_of_numpy_are_values():
    numpy = need("numpy")
    equal(starpu.task_submit()(add, numpy.float64(2), 1).wait(), 3.0)
    equal(starpu.task_submit()(len, numpy.zeros(0)).wait(), 0)


def handles_make_arrays():
    numpy = need("numpy")

    @starpu.access(x="RW")
    def fill(x):
        x[:] = 3

    handle = starpu.HandleNumpy((2, 3), numpy.dtype("float32"))
    starpu.task_submit(ret_fut=False)(fill, handle)
    equal(handle.get().tolist(), [[3.0] * 3] * 2)
    equal(handle.get().dtype, numpy.dtype("float32"))
    handle.unregister()


# --- asyncio ---


def futures_are_awaited():
    async def main():
        future = starpu.task_submit()(add, 1, 2)
        after = starpu.task_submit()(add, future, 1)
        equal(await after, 4)
        equal(await future, 3)
        equal(await asyncio.gather(*(starpu.task_submit()(abs, -i)
                                     for i in range(20))), list(range(20)))
        done, pending = await asyncio.wait(
            [starpu.task_submit()(abs, i) for i in range(5)])
        equal((len(done), len(pending)), (5, 0))
        equal(await asyncio.wait_for(starpu.task_submit()(abs, -1), 1e3), 1)
        try:
            await starpu.task_submit()(fail_with, ValueError("awaited"))
        except ValueError as error:
            return str(error)

    equal(asyncio.run(main()), "awaited")


def awaiting_is_cancelled_with_the_coroutine():
    async def main():
        starpu.pause()
        future = starpu.task_submit()(add, 1, 2)

        async def wait():
            await future

        waiting = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        waiting.cancel()
        try:
            await waiting
        except asyncio.CancelledError:
            pass
        starpu.resume()
        return future.cancelled()

    equal(asyncio.run(main()), True)


def callbacks_run_in_the_loop():
    async def main():
        variable = contextvars.ContextVar("variable")
        variable.set(7)
        loop = asyncio.get_running_loop()
        called = loop.create_future()

        def call(future):
            called.set_result((threading.get_ident(), future.result(),
                               variable.get()))

        starpu.task_submit()(add, 1, 2).add_done_callback(call)
        equal(await called, (threading.get_ident(), 3, 7))

    asyncio.run(main())


def loops_follow_virtual_time():
    if not starpu.is_simulated():
        raise Skip(SIMULATED_ONLY)

    async def main():
        loop = asyncio.get_running_loop()
        start, real = loop.time(), time.monotonic()
        now = starpu.timing_now()
        await asyncio.gather(asyncio.sleep(3600), asyncio.sleep(7200))
        equal(round(loop.time() - start), 7200)
        equal(round((starpu.timing_now() - now) * 1e-6), 7200)
        equal(time.monotonic() - real < 3600, True)
        order = []

        async def sleeper():
            await asyncio.sleep(1000)
            order.append("timer")

        async def worker():
            await starpu.task_submit()(order.append, "task")
            order.append("awaited")

        await asyncio.gather(sleeper(), worker())
        equal(order, ["task", "awaited", "timer"])

    asyncio.run(main())


def time_is_the_machine_s():
    start = starpu.timing_now()
    starpu.sleep(0.001)
    passed = starpu.timing_now() - start
    equal(passed >= 1000, True)
    if starpu.is_simulated():
        equal(round(passed), 1000)


# --- the rest ---


def the_machine_can_be_asked():
    cpus = starpu.worker_get_count_by_type(starpu.STARPU_CPU_WORKER)
    equal(cpus >= 1, True)
    equal(starpu.sched_get_min_priority() <= starpu.sched_get_max_priority(),
          True)
    equal(starpu.task_submit()(starpu.worker_get_id).wait() >= 0, True)
    equal(starpu.worker_get_id(), -1)
    raises(starpu.error, "no type of workers", starpu.worker_get_count_by_type,
           77)


def tasks_are_counted():
    starpu.task_wait_for_all()
    starpu.pause()
    for _ in range(5):
        starpu.task_submit(ret_fut=False)(add, 1, 1)
    equal(starpu.task_nsubmitted(), 5)
    raises(starpu.error, "paused|resume", starpu.shutdown)
    starpu.resume()
    starpu.task_wait_for_all()
    equal(starpu.task_nsubmitted(), 0)
    raises(starpu.error, "pause()", starpu.resume)


def bad_options_are_exceptions():
    for words, kind, options in (
            ("where=|'cpu'", starpu.error, {"where": "gpu"}),
            ("name= must be a text", starpu.error, {"name": 3}),
            ("perfmodel= must be", starpu.error, {"perfmodel": 3}),
            ("nonsense", TypeError, {"nonsense": 1}),
            ("", TypeError, {"color": "red"})):
        raises(kind, words, starpu.task_submit, **options)
    raises(starpu.error, "int object cannot be called",
           starpu.task_submit(), 3)
    raises(starpu.error, "no function", starpu.task_submit())
    raises(starpu.error, "no worker|where=",
           starpu.task_submit(where="opencl"), add, 1, 2)
    raises(starpu.error, "no first argument",
           starpu.task_submit(ret_param=True), add)
    raises(starpu.error, "first argument must",
           starpu.task_submit(ret_param=True, ret_handle=True), add, 1, 2)
    equal(starpu.task_submit()(add, 1, 2).wait(), 3)


def acquired_objects_are_checked():
    obj = bytearray(3)
    raises(starpu.error, "not registered|starpu.Handle(object)", starpu.acquire,
           [1])
    starpu.acquire(obj, mode="RW")
    raises(starpu.error, "release it first", starpu.acquire, obj)
    raises(starpu.error, "no access mode", starpu.acquire, bytearray(1),
           mode="WR")
    future = starpu.task_submit(modes=["RW"])(change, obj, 0, 1)
    raises(starpu.error, "release them", starpu.task_submit(synchronous=True),
           len, obj)
    equal(obj[0], 0)
    starpu.release(obj)
    raises(starpu.error, "not acquired", starpu.release, obj)
    future.wait()
    equal(starpu.acquire(obj)[0], 1)
    starpu.release(obj)
    starpu.unregister_submit(obj)
    raises(starpu.error, "only be read", starpu.acquire, b"abc", mode="RW")


def data_end_after_the_tasks_that_use_them():
    obj = bytearray(3)
    starpu.pause()
    future = starpu.task_submit(modes=["RW"])(change, obj, 0, 9)
    starpu.unregister_submit(obj)
    starpu.resume()
    future.wait()
    starpu.task_wait_for_all()
    obj.extend(b"free")
    equal(obj[0], 9)


def another_thread_is_welcome_or_told():
    found = []

    def other():
        try:
            found.append(starpu.task_submit()(add, 1, 2).wait())
        except starpu.error as error:
            found.append(str(error))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    if starpu.is_simulated():
        equal("runs on one thread" in found[0], True)
    else:
        equal(found, [3])


def it_opens_and_closes_again():
    future = starpu.task_submit()(add, 1, 2)
    handle = starpu.Handle([1])
    starpu.init()
    starpu.shutdown()
    equal(starpu.task_submit()(add, 1, 2).wait(), 3)
    starpu.shutdown()
    equal(future.result(), 3)
    raises(starpu.error, "starpu.init()", starpu.task_submit(), add, 1, 2)
    raises(starpu.error, "starpu.init()", handle.get)
    raises(starpu.error, "starpu.init()", starpu.shutdown)
    starpu.init()
    raises(starpu.error, "unregistered", handle.get)
    starpu.set_ncpu(2)
    equal(starpu.worker_get_count_by_type(starpu.STARPU_CPU_WORKER), 2)
    raises(starpu.error, "no number", starpu.set_ncpu, 0)
    equal(starpu.task_submit()(add, 1, 2).wait(), 3)


def the_error_has_starpu_s_name():
    equal(starpu.error is starpupy.error, True)
    equal(starpupy.error.__module__ + "." + starpupy.error.__name__,
          "starpupy.error")


if __name__ == "__main__":
    starpu.init()
    test_all([value for name, value in list(globals().items())
              if callable(value) and value.__module__ == "__main__"
              and name not in ("add", "fail_with", "change",
                               "need_processors")])

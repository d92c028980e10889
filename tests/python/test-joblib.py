#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""starpu.joblib, and joblib on its backend, on the machine that the environment
names. usage: test-joblib.py"""
import array
import asyncio
import contextlib
import gc
import io
import operator
import sys
from math import sqrt

from common import equal, need, raises, test_all

import starpu
import starpu.joblib
from starpu.joblib import Parallel, delayed


def multiply(a, b):
    for i in range(len(a)):
        a[i] = a[i] * b[i]
    return len(a)


def calls_of_a_generator_are_tasks():
    for n_jobs in (1, 2, 3, -1, -2, 100):
        equal(Parallel(n_jobs=n_jobs)(delayed(sqrt)(i ** 2)
                                      for i in range(10)),
              [float(i) for i in range(10)])
    equal(Parallel()([]), [])
    equal(Parallel(n_jobs=2)([delayed(divmod)(7, 4), delayed(int)("12", base=8)]),
          [(1, 3), 10])


def options_are_those_of_tasks():
    equal(Parallel(mode="normal", n_jobs=2, perfmodel=None,
                   name="log", synchronous=True, priority=1, color=0xff,
                   flops=10)(delayed(abs)(-i) for i in range(4)), [0, 1, 2, 3])
    raises(starpu.error, "no option nonsense=", Parallel, nonsense=1)
    raises(starpu.error, "mode='fast'", Parallel, mode="fast")
    raises(starpu.error, "n_jobs=0", Parallel, n_jobs=0)
    raises(starpu.error, "delayed(f)", Parallel(), [3])
    raises(starpu.error, "cannot be called", delayed, 3)


def arrays_are_cut_and_updated_in_place():
    a, b = array.array("q", range(10)), array.array("q", range(10, 20))
    equal(Parallel(n_jobs=2)(delayed(multiply)(a, b)), [5, 5])
    equal(list(a), [i * (10 + i) for i in range(10)])


def other_arguments_go_to_all_parts():
    @starpu.access(t="RW")
    def scale(factor, t):
        for i in range(len(t)):
            t[i] *= factor

    t = array.array("q", range(7))
    Parallel(n_jobs=3)(delayed(scale)(2, t))
    equal(list(t), [2 * i for i in range(7)])


def generators_and_lists_are_cut():
    equal(Parallel(n_jobs=2)(delayed(multiply)((i for i in range(7)),
                                               [1] * 7)), [4, 3])
    raises(starpu.error, "different lengths, [2, 3]", Parallel(n_jobs=2),
           delayed(multiply)([1, 2], [1, 2, 3]))
    raises(starpu.error, "cut into parts", Parallel(), delayed(sqrt)(3))


def arrays_of_numpy_are_cut():
    numpy = need("numpy")
    a, b = numpy.arange(10), numpy.arange(10, 20, 1)
    Parallel(n_jobs=4)(delayed(multiply)(a, b))
    equal((a == numpy.arange(10) * b).all(), True)
    matrix = numpy.ones((6, 4))

    def twice(m):
        m *= 2

    Parallel(n_jobs=-1)(delayed(twice)(matrix))
    equal(matrix.sum(), 48)


def arguments_by_name_are_cut():
    a, b = array.array("q", range(6)), array.array("q", range(6))
    equal(Parallel(n_jobs=2)(delayed(multiply)(a, b=b)), [3, 3])
    equal(Parallel(n_jobs=2)(delayed(multiply)(b=b, a=a)), [3, 3])
    equal(list(a), [i ** 3 for i in range(6)])
    equal(Parallel(n_jobs=3)(delayed(lambda a, n=0: (len(a), n))(a, n=[1] * 6)),
          [(2, [1, 1])] * 3)


def memory_that_can_only_be_read_goes_to_all_parts():
    numpy = need("numpy")
    a, dates = array.array("q", range(4)), numpy.zeros(3, "M8[s]")
    equal(Parallel(n_jobs=2)(delayed(lambda a, *more: [len(x) for x in more])(
        a, b"abc", "de", dates, numpy.zeros(5, object))), [[3, 2, 3, 5]] * 2)


def numbers_of_jobs_are_those_of_joblib():
    numpy = need("numpy")
    for n_jobs in (None, numpy.int64(2), numpy.int8(-1), -100):
        equal(Parallel(n_jobs=n_jobs)(delayed(abs)(-i) for i in range(3)),
              [0, 1, 2])
    for n_jobs in (0, 2.0, "2", []):
        raises(starpu.error, "n_jobs=|-1 for all", Parallel, n_jobs=n_jobs)


def arrays_are_whole_after_failures():
    a = array.array("q", range(10))

    def fails(part):
        part[0] = 7
        raise KeyError("it failed")

    for call, kind in ((delayed(fails)(a), KeyError),
                       (delayed(multiply)(a, 3, 4), TypeError),
                       (delayed(fails)(nobody=a), TypeError)):
        raises(kind, "", Parallel(n_jobs=2), call)
        future = Parallel(mode="future", n_jobs=2)(call)
        raises(kind, "", future.wait)

        async def main(call):
            await Parallel(mode="future", n_jobs=2)(call)

        raises(kind, "", asyncio.run, main(call))
        equal(len(Parallel(n_jobs=3)(delayed(len)(a))), 3)


def arrays_of_calls_under_way_are_used_in_turn():
    a = array.array("q", range(10))
    first = Parallel(mode="future", n_jobs=2)(delayed(multiply)(a, [2] * 10))
    second = Parallel(mode="future", n_jobs=3)(delayed(multiply)(a, [3] * 10))
    equal(second.wait(), [4, 3, 3])
    equal(first.wait(), [5, 5])
    equal(list(a), [6 * i for i in range(10)])


def after_a_failure_nothing_goes_on():
    seen = []

    def one(i):
        seen.append(i)
        if i % 2:
            raise ValueError("odd")

    def calls():
        for i in range(5):
            yield delayed(one)(0)
        raise KeyError("no more")

    said = []
    former, sys.unraisablehook = sys.unraisablehook, said.append
    try:
        for n_jobs in (1, 2, -1):
            raises(ValueError, "odd", Parallel(n_jobs=n_jobs),
                   [delayed(one)(i) for i in range(20)])
            count = len(seen)
            starpu.task_wait_for_all()
            equal(len(seen), count)
            raises(KeyError, "no more", Parallel(n_jobs=n_jobs), calls())
        gc.collect()
    finally:
        sys.unraisablehook = former
    equal(said, [])


def a_future_of_all_is_awaited():
    async def main():
        fut = Parallel(mode="future", n_jobs=2, end_msg="it is there")(
            delayed(sqrt)(i ** 2) for i in range(5))
        return await fut, await fut

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        one, two = asyncio.run(main())
    equal(one, [0.0, 1.0, 2.0, 3.0, 4.0])
    equal(one is two, True)
    equal(said.getvalue(), "it is there\n")
    a = array.array("q", range(4))
    future = Parallel(mode="future", n_jobs=2)(delayed(multiply)(a, a))
    equal(future.wait(), [2, 2])
    equal(future.result(), [2, 2])
    equal(list(a), [0, 1, 4, 9])


def exceptions_of_calls_are_raised():
    for n_jobs in (1, -1):
        raises(ZeroDivisionError, "", Parallel(n_jobs=n_jobs),
               [delayed(operator.truediv)(1, i) for i in (1, 0, 2)])
    starpu.task_wait_for_all()


def joblib_runs_on_tasks():
    joblib = need("joblib")
    starpu.joblib.register()
    with joblib.parallel_backend("starpu"):
        for n_jobs in (1, 2, -1):
            equal(joblib.Parallel(n_jobs=n_jobs)(
                joblib.delayed(sqrt)(i ** 2) for i in range(100)),
                [float(i) for i in range(100)])
        a = array.array("q", [0] * 20)
        joblib.Parallel(n_jobs=2)(
            joblib.delayed(operator.setitem)(a, i, i) for i in range(20))
        equal(list(a), list(range(20)))
        raises(ZeroDivisionError, "", joblib.Parallel(n_jobs=2),
               [joblib.delayed(operator.truediv)(1, i) for i in (1, 0, 2)])


if __name__ == "__main__":
    starpu.init()
    test_all([value for value in list(globals().values())
              if callable(value) and value.__module__ == "__main__"
              and value is not multiply])

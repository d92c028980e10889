#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Futures of tasks in what asyncio makes of futures, on the machine that the
environment names. usage: test-asyncio.py"""
import asyncio
import contextvars
import threading

from common import Skip, equal, raises, test_all

import starpu


def pending(n):
    """Futures of tasks that have not begun; resume() lets them."""
    starpu.pause()
    return [starpu.task_submit()(pow, 2, i) for i in range(n)]


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 100))


def cancelled_futures_are_gathered():
    async def main():
        futures = pending(20)
        for future in futures[::2]:
            future.cancel()
        starpu.resume()
        found = await asyncio.gather(*futures, return_exceptions=True)
        equal(found[1::2], [2 ** i for i in range(1, 20, 2)])
        equal({type(one) for one in found[::2]}, {asyncio.CancelledError})
        futures = pending(3)
        futures[1].cancel()
        starpu.resume()
        await asyncio.gather(*futures)

    raises(asyncio.CancelledError, "", run, main())


def gathering_is_cancelled():
    async def main():
        futures = pending(20)
        gathering = asyncio.gather(*futures)
        await asyncio.sleep(0)
        equal(gathering.cancel("no more"), True)
        starpu.resume()
        try:
            await gathering
        except asyncio.CancelledError:
            return [future.cancelled() for future in futures]

    equal(run(main()), [True] * 20)


def the_message_of_a_cancellation_is_kept():
    future, other = pending(2)
    equal(future.cancel(msg="too late"), True)
    equal(future.cancel(msg="later still"), False)
    starpu.resume()
    equal(str(future._make_cancelled_error()), "too late")
    equal(other.wait(), 2)
    equal(other.cancel("x"), False)
    equal(other._cancel_message, None)


def shields_wait_and_timeouts():
    async def main():
        future, = pending(1)
        shield = asyncio.shield(future)
        shield.cancel()
        starpu.resume()
        equal(await future, 1)
        done, left = await asyncio.wait(
            [starpu.task_submit()(pow, 3, i) for i in range(10)])
        equal((sorted(one.result() for one in done), left),
              ([3 ** i for i in range(10)], set()))
        found = [await one for one in asyncio.as_completed(
            [starpu.task_submit()(pow, 3, i) for i in range(10)])]
        equal(sorted(found), [3 ** i for i in range(10)])
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(i)) for i in range(5)]
        equal([task.result() for task in tasks], [1, 2, 4, 8, 16])
        future, = pending(1)
        try:
            async with asyncio.timeout(0.01):
                await future
        except TimeoutError:
            equal(future.cancelled(), True)
        starpu.resume()

    async def one(i):
        return await starpu.task_submit()(pow, 2, i)

    if starpu.is_simulated():
        raise Skip("a simulation does not wait while it is paused")
    run(main())


def loops_run_until_a_future_is_there():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        for i in range(50):
            equal(loop.run_until_complete(starpu.task_submit()(pow, 2, i)),
                  2 ** i)
        done = starpu.task_submit()(pow, 2, 3)
        done.wait()
        equal(loop.run_until_complete(done), 8)
        raises(ValueError, "invalid literal", loop.run_until_complete,
               starpu.task_submit()(int, "x"))
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def callbacks_have_their_context():
    variable = contextvars.ContextVar("variable", default=0)

    async def main():
        variable.set(7)
        seen = []
        future = starpu.task_submit()(pow, 2, 3)
        future.add_done_callback(lambda _: seen.append(variable.get()))
        await future
        await asyncio.sleep(0)
        return seen

    equal(run(main()), [7])


def threads_have_loops_of_their_own():
    if starpu.is_simulated():
        raise Skip("a simulation has one thread")
    found = []

    async def main():
        return sum(await asyncio.gather(
            *[starpu.task_submit()(pow, 2, i) for i in range(50)]))

    threads = [threading.Thread(target=lambda: found.append(run(main())))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(found, [2 ** 50 - 1] * 4)


if __name__ == "__main__":
    starpu.init()
    test_all([value for value in list(globals().values())
              if callable(value) and value.__module__ == "__main__"
              and value not in (pending, run)])

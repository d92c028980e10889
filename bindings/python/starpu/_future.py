# SPDX-License-Identifier: LGPL-2.1-or-later
"""Futures as asyncio uses them. A future belongs to no event loop: whoever awaits
it, or adds a callback, is called in the loop that runs there."""

import asyncio
import contextvars

from . import starpupy


# What ends a loop that runs until a future is there.
_STOP = getattr(asyncio.base_events, "_run_until_complete_cb", None)


def _running_loop():
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def call_back(future, entry):
    """Called for each callback when a future's task has ended, on any thread."""
    function, context, loop = entry
    if loop is None:
        context.run(function, future)
        return
    try:
        loop.call_soon_threadsafe(function, future, context=context)
    except RuntimeError:
        pass  # the loop was closed: nobody waits any more


def _wake(waiter):
    if not waiter.done():
        waiter.set_result(None)


class Future(starpupy.Future):
    """The value that a task will have: await it, or call wait()."""

    _asyncio_future_blocking = False

    # What asyncio looks at in futures that were cancelled.
    _cancel_message = None

    def cancel(self, msg=None):
        """Lets the task end without calling its function.

        Returns False if that was called already.
        """
        former, self._cancel_message = self._cancel_message, msg
        if super().cancel():
            return True
        self._cancel_message = former
        return False

    def _make_cancelled_error(self):
        if self._cancel_message is None:
            return asyncio.CancelledError(f"task {self.name} was cancelled")
        return asyncio.CancelledError(self._cancel_message)

    def get_loop(self):
        """The event loop that runs here, else the one that is to run next."""
        return (_running_loop()
                or asyncio.get_event_loop_policy().get_event_loop())

    def add_done_callback(self, function, *, context=None):
        """Has function(future) called once the task has ended: in the event loop
        that runs here, without one where the task ends."""
        loop = _running_loop()
        if loop is None and function is _STOP:
            loop = self.get_loop()  # run_until_complete() is about to run it
        entry = (function, context or contextvars.copy_context(), loop)
        if self._add_callback(entry):
            return
        if loop is not None:
            loop.call_soon(function, self, context=entry[1])
        else:
            call_back(self, entry)

    def remove_done_callback(self, function):
        """Takes out all callbacks that are the function; returns how many."""
        entries = self._callbacks
        if not entries:
            return 0
        kept = [entry for entry in entries if entry[0] != function]
        removed = len(entries) - len(kept)
        entries[:] = kept
        return removed

    def __await__(self):
        while not self.done():
            waiter = asyncio.get_running_loop().create_future()

            def wake(_, waiter=waiter):
                _wake(waiter)

            self.add_done_callback(wake)
            try:
                yield from waiter
            except asyncio.CancelledError:
                # Whoever cancels a coroutine cancels what it awaits.
                self.cancel()
                self.remove_done_callback(wake)
                raise
        return self.result()

    __iter__ = __await__

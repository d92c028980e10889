# SPDX-License-Identifier: LGPL-2.1-or-later
"""Event loops of asyncio on a simulated machine: their time is virtual, and where
they wait, the simulation goes on."""

import asyncio
import math
import time
import weakref

from . import starpupy


class _Selector:
    """Waits in the simulation where an event loop would wait for the system."""

    def __init__(self, real, clock):
        self._real = real
        self._clock = clock

    def select(self, timeout=None):
        events = self._real.select(0)
        if events or (timeout is not None and timeout <= 0):
            return events
        if not self._clock.is_virtual():
            return self._real.select(timeout)
        if timeout is None:
            # Nothing will happen in the simulation: another thread, as that of
            # the console, has to.
            if not starpupy._unfinished():
                return self._real.select(None)
            until = math.inf
        else:
            until = starpupy.timing_now() + timeout * 1e6
        starpupy._wait_until(until)
        return self._real.select(0)

    def __getattr__(self, name):
        return getattr(self._real, name)


class _Clock:
    """The time of one loop, in seconds; goes on where it was on either machine."""

    def __init__(self, now):
        self._ahead = now - starpupy.timing_now() * 1e-6
        self._virtual = True

    def is_virtual(self):
        return self._virtual and starpupy.is_simulated()

    def time(self):
        if self.is_virtual():
            return self._ahead + starpupy.timing_now() * 1e-6
        return self._ahead + time.monotonic()

    def leave(self):
        self._ahead += starpupy.timing_now() * 1e-6 - time.monotonic()
        self._virtual = False

    def enter(self):
        self._ahead = self.time() - starpupy.timing_now() * 1e-6
        self._virtual = True


_clocks = weakref.WeakSet()


def _follow(loop):
    """Has a loop follow virtual time."""
    if not hasattr(loop, "_selector"):
        return loop  # one of another library, with a time of its own
    if isinstance(loop._selector, _Selector):
        clock = loop._selector._clock
        clock.enter()
    else:
        clock = _Clock(loop.time())
        loop.time = clock.time
        loop._selector = _Selector(loop._selector, clock)
    _clocks.add(clock)
    return loop


class _Policy(asyncio.DefaultEventLoopPolicy):
    """Makes loops that follow virtual time."""

    def new_event_loop(self):
        return _follow(super().new_event_loop())


_former = None


def follow_virtual_time():
    """The machine is simulated from now on."""
    global _former
    _former = asyncio.get_event_loop_policy()
    try:
        _follow(asyncio.get_running_loop())
    except RuntimeError:
        pass
    if type(_former) is asyncio.DefaultEventLoopPolicy:
        asyncio.set_event_loop_policy(_Policy())


def leave_virtual_time():
    """The machine is about to be closed."""
    for clock in _clocks:
        clock.leave()
    _clocks.clear()
    if isinstance(asyncio.get_event_loop_policy(), _Policy):
        asyncio.set_event_loop_policy(_former)

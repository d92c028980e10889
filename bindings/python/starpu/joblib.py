# SPDX-License-Identifier: LGPL-2.1-or-later
"""joblib's Parallel on tasks, and a backend for joblib itself.

    starpu.joblib.Parallel(n_jobs=2)(starpu.joblib.delayed(sqrt)(i) for i in r)

    import joblib
    starpu.joblib.register()
    with joblib.parallel_backend("starpu"):
        joblib.Parallel()(joblib.delayed(sqrt)(i) for i in r)
"""

import asyncio
import functools
import sys
import types

from . import (
    Handle,
    STARPU_CPU_WORKER,
    _names_by_position,
    error,
    init,
    starpupy,
    task_submit,
    worker_get_count_by_type,
)

_TASK_OPTIONS = ("name", "synchronous", "priority", "color", "flops",
                 "perfmodel")


def delayed(function):
    """delayed(f)(arguments) is a call for Parallel: (f, args, kwargs)."""
    if not callable(function):
        raise error(f"delayed: {type(function).__name__} object cannot be "
                    "called")

    @functools.wraps(function)
    def call(*args, **kwargs):
        return function, args, kwargs

    return call


def _is_call(call):
    return (isinstance(call, tuple) and len(call) == 3 and callable(call[0])
            and isinstance(call[1], tuple) and isinstance(call[2], dict))


def _njobs(n_jobs):
    """The number of jobs that is meant: -1 all processors, -2 all but one, …"""
    cpus = max(1, worker_get_count_by_type(STARPU_CPU_WORKER))
    if not isinstance(n_jobs, int) or n_jobs == 0:
        raise error(f"Parallel: n_jobs={n_jobs!r}: use a positive number, -1 "
                    "for all processors, -2 for all but one, …")
    if n_jobs < 0:
        return max(1, cpus + 1 + n_jobs)
    return n_jobs


def _is_memory(arg):
    """Whether it is an array, parts of which tasks can write."""
    try:
        view = memoryview(arg)
    except TypeError:
        return False
    return view.ndim > 0 and not view.readonly


class _Cut:
    """The arguments of a call, cut into as many parts as there are jobs."""

    def __init__(self, args, njobs):
        self._handles = {}  # with their parts
        self._args = [list(arg) if isinstance(arg, types.GeneratorType)
                      else arg for arg in args]
        lengths = {len(arg) for arg in self._args if self._is_long(arg)}
        if len(lengths) > 1:
            raise error("Parallel: the arrays, lists and generators of a call "
                        f"have different lengths, {sorted(lengths)}: use equal "
                        "ones")
        if not lengths:
            raise error("Parallel: no argument of the call can be cut into "
                        "parts: hand over a generator of calls, or arrays, "
                        "lists or generators as arguments")
        (length,) = lengths
        self.nparts = min(njobs, length)

    @staticmethod
    def _is_long(arg):
        return isinstance(arg, list) or _is_memory(arg)

    def _parts(self, arg):
        if isinstance(arg, list):
            least, more = divmod(len(arg), self.nparts)
            starts = [i * least + min(i, more)
                      for i in range(self.nparts + 1)]
            return [arg[a:b] for a, b in zip(starts, starts[1:])]
        if not _is_memory(arg):
            return [arg] * self.nparts
        handle = Handle._of(arg)
        if handle not in self._handles:
            self._handles[handle] = handle.partition(self.nparts)
        return self._handles[handle]

    def parts(self):
        """The arguments of each part."""
        return list(zip(*map(self._parts, self._args))) if self.nparts else []

    def join(self):
        """The arrays are whole again, with what the parts have written."""
        for handle in self._handles:
            handle.unpartition()
            handle.get()
        self._handles.clear()


class Parallel:
    """Parallel(options)(calls): calls as tasks.

    mode="normal" waits and returns the list of values; mode="future" returns a
    future of that, to be awaited, which prints end_msg when it is there. n_jobs
    limits how many calls of this object are under way. Other options are those of
    task_submit.

    `calls` is an iterable of delayed(f)(…), or one such call with arrays, lists
    or generators as arguments, each of which is cut into n_jobs parts; arrays
    are updated in place.
    """

    def __init__(self, mode="normal", n_jobs=1, end_msg=None, **options):
        if mode not in ("normal", "future"):
            raise error(f"Parallel: mode={mode!r}: use 'normal' or 'future'")
        for option in options:
            if option not in _TASK_OPTIONS:
                raise error(f"Parallel: there is no option {option}=: there "
                            f"are mode, n_jobs, end_msg, "
                            f"{', '.join(_TASK_OPTIONS)}")
        if not starpupy._is_open():
            init()
        self._mode = mode
        self._njobs = _njobs(n_jobs)
        self._end_msg = end_msg
        self._options = options

    def _submit_calls(self, calls):
        """With fewer jobs than processors, call i begins after call i - n_jobs:
        both use the same token."""
        tokens = []
        if self._njobs < worker_get_count_by_type(STARPU_CPU_WORKER):
            tokens = [Handle([]) for _ in range(self._njobs)]
        submit = task_submit(**self._options)
        futures = []
        for call in calls:
            if not _is_call(call):
                raise error("Parallel: the iterable must have calls that "
                            f"starpu.joblib.delayed(f)(…) makes, not {call!r}")
            function, args, kwargs = call
            if tokens:
                token = tokens[len(futures) % self._njobs]
                limited = task_submit(
                    modes=_modes_behind_token(function, args, kwargs),
                    **self._options)
                futures.append(limited(_behind_token(function), token, *args,
                                       **kwargs))
            else:
                futures.append(submit(function, *args, **kwargs))
        for token in tokens:
            token.unregister_submit()
        return futures

    def _submit_cut(self, call):
        function, args, kwargs = call
        cut = _Cut(args, self._njobs)
        modes = None if hasattr(function, "starpu_access") else \
            ["RW"] * len(args)
        submit = task_submit(modes=modes, **self._options)
        return [submit(function, *part, **kwargs)
                for part in cut.parts()], cut

    def __call__(self, calls):
        if _is_call(calls):
            futures, cut = self._submit_cut(calls)
        else:
            futures, cut = self._submit_calls(calls), None
        if self._mode == "future":
            return _Gathered(futures, cut, self._end_msg)
        try:
            return [future.wait() for future in futures]
        finally:
            if cut:
                cut.join()


def _behind_token(function):
    """The function with one more argument, before all others."""

    def call(_token, *args, **kwargs):
        return function(*args, **kwargs)

    call.__name__ = getattr(function, "__name__", type(function).__name__)
    return call


def _modes_behind_token(function, args, kwargs):
    """The modes of what _behind_token returns, by position and name."""
    access = getattr(function, "starpu_access", {})
    modes = {name: access[name] for name in kwargs if name in access}
    modes[0] = "RW"
    modes.update((position + 1, access[name])
                 for position, name in zip(range(len(args)),
                                           _names_by_position(function))
                 if name in access)
    return modes


class _Gathered:
    """The future of all values of a Parallel."""

    def __init__(self, futures, cut, end_msg):
        self._futures = futures
        self._cut = cut
        self._end_msg = end_msg
        self._values = None

    def done(self):
        """Whether all tasks have ended."""
        return all(future.done() for future in self._futures)

    def cancel(self):
        """Cancels the tasks that have not begun; returns whether there were any."""
        return any([future.cancel() for future in self._futures])

    def _finish(self, values):
        if self._values is None:
            if self._cut:
                self._cut.join()
            if self._end_msg is not None:
                print(self._end_msg)
            self._values = values
        return self._values

    def result(self):
        """The values, once all tasks have ended."""
        if self._values is not None:
            return self._values
        return self._finish([future.result() for future in self._futures])

    def wait(self):
        """Waits for the values without an event loop."""
        return self._finish([future.wait() for future in self._futures])

    def __await__(self):
        if self._values is None:
            values = yield from asyncio.gather(*self._futures).__await__()
            self._finish(values)
        return self._values


# --- joblib's own Parallel ---


def register(name="starpu", make_default=False):
    """Lets joblib.parallel_backend(name) run joblib's Parallel, and what is built
    upon it, on tasks. joblib must be installed."""
    try:
        from ._joblib_backend import StarPUBackend
    except ImportError as missing:
        raise error("joblib.register: there is no joblib: install "
                    "python3-joblib") from missing
    from joblib import register_parallel_backend

    register_parallel_backend(name, StarPUBackend, make_default=make_default)


# A program that has joblib need not register the backend.
if "joblib" in sys.modules:
    register()

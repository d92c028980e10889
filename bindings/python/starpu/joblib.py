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
import operator
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
    try:
        wanted = 1 if n_jobs is None else operator.index(n_jobs)
    except TypeError:
        wanted = 0
    if wanted == 0:
        raise error(f"Parallel: n_jobs={n_jobs!r}: use a positive number, -1 "
                    "for all processors, -2 for all but one, …")
    return wanted if wanted > 0 else max(1, cpus + 1 + wanted)


def _is_memory(arg):
    """Whether it is an array, parts of which tasks can write."""
    try:
        view = memoryview(arg)
    except (TypeError, ValueError, BufferError):
        return False
    return view.ndim > 0 and not view.readonly and "O" not in view.format


_cuts = {}  # of each handle that is cut now, the call that did it


class _Cut:
    """The arguments of a call, cut into as many parts as there are jobs."""

    def __init__(self, args, kwargs, njobs):
        self._handles = {}  # with their parts
        self._args = [self._known(arg) for arg in args]
        self._kwargs = {name: self._known(arg) for name, arg in kwargs.items()}
        lengths = {len(arg) for arg in self._all() if self._is_long(arg)}
        if len(lengths) > 1:
            raise error("Parallel: the arrays, lists and generators of a call "
                        f"have different lengths, {sorted(lengths)}: use equal "
                        "ones")
        if not lengths:
            raise error("Parallel: no argument of the call can be cut into "
                        "parts: hand over a generator of calls, or arrays, "
                        "lists or generators as arguments")
        (length,) = lengths
        self._nparts = min(njobs, length)

    @staticmethod
    def _known(arg):
        return list(arg) if isinstance(arg, types.GeneratorType) else arg

    def _all(self):
        return (*self._args, *self._kwargs.values())

    @staticmethod
    def _is_long(arg):
        return isinstance(arg, list) or _is_memory(arg)

    def modes(self):
        """The parts may be changed."""
        return {which: "RW" for which, arg in
                (*enumerate(self._args), *self._kwargs.items())
                if _is_memory(arg)}

    def _parts(self, arg):
        if isinstance(arg, list):
            least, more = divmod(len(arg), self._nparts)
            starts = [i * least + min(i, more)
                      for i in range(self._nparts + 1)]
            return [arg[a:b] for a, b in zip(starts, starts[1:])]
        if not _is_memory(arg):
            return [arg] * self._nparts
        handle = Handle._of(arg)
        if handle not in self._handles:
            if handle in _cuts:
                _cuts[handle].join()  # a call that nobody has awaited yet
            self._handles[handle] = handle.partition(self._nparts)
            _cuts[handle] = self
        return self._handles[handle]

    def parts(self):
        """The arguments of each part."""
        if not self._nparts:
            return []
        args = [self._parts(arg) for arg in self._args]
        kwargs = {name: self._parts(arg) for name, arg in self._kwargs.items()}
        return [([parts[i] for parts in args],
                 {name: parts[i] for name, parts in kwargs.items()})
                for i in range(self._nparts)]

    def join(self):
        """The arrays are whole again, with what the parts have written."""
        for handle in list(self._handles):
            handle.unpartition()
            del self._handles[handle], _cuts[handle]
            handle.get()


def _give_up(futures):
    """The calls are wanted no more: those that have not begun never do, and what
    the others raise is not said."""
    for future in futures:
        future.cancel()
    for future in futures:
        try:
            future.wait()
        except Exception:
            pass
        except asyncio.CancelledError:
            pass


def _values(futures):
    """The values of all; once one has failed, nothing goes on behind the caller's
    back."""
    try:
        return [future.wait() for future in futures]
    except (Exception, asyncio.CancelledError):
        _give_up(futures)
        raise


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
        self._submit = task_submit(**options)

    def _submit_calls(self, calls):
        """With fewer jobs than processors, call i begins after call i - n_jobs:
        both use the same token."""
        tokens = []
        if self._njobs < worker_get_count_by_type(STARPU_CPU_WORKER):
            tokens = [Handle([]) for _ in range(self._njobs)]
        futures = []
        try:
            for call in calls:
                futures.append(self._submit_call(call, len(futures), tokens))
        except BaseException:
            _give_up(futures)
            raise
        finally:
            for token in tokens:
                token.unregister_submit()
        return futures

    def _submit_call(self, call, number, tokens):
        if not _is_call(call):
            raise error("Parallel: the iterable must have calls that "
                        f"starpu.joblib.delayed(f)(…) makes, not {call!r}")
        function, args, kwargs = call
        if not tokens:
            return self._submit(function, *args, **kwargs)
        limited = task_submit(modes=_modes_behind_token(function, args, kwargs),
                              **self._options)
        return limited(_behind_token(function), tokens[number % self._njobs],
                       *args, **kwargs)

    def _submit_cut(self, call):
        function, args, kwargs = call
        cut = _Cut(args, kwargs, self._njobs)
        modes = None if hasattr(function, "starpu_access") else cut.modes()
        submit = task_submit(modes=modes, **self._options)
        futures = []
        try:
            for args, kwargs in cut.parts():
                futures.append(submit(function, *args, **kwargs))
        except BaseException:
            _give_up(futures)
            cut.join()
            raise
        return futures, cut

    def __call__(self, calls):
        if _is_call(calls):
            futures, cut = self._submit_cut(calls)
        else:
            futures, cut = self._submit_calls(calls), None
        if self._mode == "future":
            return _Gathered(futures, cut, self._end_msg)
        try:
            return _values(futures)
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

    def _join(self):
        if self._cut:
            self._cut.join()

    def _finish(self, values):
        if self._values is None:
            self._join()
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
        try:
            values = _values(self._futures)
        finally:
            self._join()
        return self._finish(values)

    def __await__(self):
        if self._values is None:
            try:
                values = yield from asyncio.gather(*self._futures).__await__()
            finally:
                self._join()
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

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tasks of Python functions, as StarPU's own module has them, on a machine that is
real or simulated. docs/PYTHON.md describes it.

    import starpu
    starpu.init()
    future = starpu.task_submit()(pow, 2, 10)
    print(future.wait())
    starpu.shutdown()
"""

import asyncio
import functools
import inspect
import sys

from . import starpupy
from ._future import Future, call_back
from ._handle import Handle, HandleNumpy, view_like
from ._perfmodel import perfmodel_plot
from ._placeholder import NOT_RUN
from ._run import close_at_exit, init, set_ncpu, shutdown
from .starpupy import (
    STARPU_ANY_WORKER,
    STARPU_CPU,
    STARPU_CPU_WORKER,
    STARPU_CUDA,
    STARPU_CUDA_WORKER,
    STARPU_HIP,
    STARPU_HIP_WORKER,
    STARPU_OPENCL,
    STARPU_OPENCL_WORKER,
    STARPU_R,
    STARPU_RW,
    STARPU_W,
    error,
    is_simulated,
    pause,
    resume,
    save_history_based_model,
    sched_get_max_priority,
    sched_get_min_priority,
    sleep,
    task_nsubmitted,
    task_submit,
    task_wait_for_all,
    timing_now,
    worker_get_count_by_type,
    worker_get_id,
)

__all__ = [
    "Future", "Handle", "HandleNumpy", "NOT_RUN", "STARPU_ANY_WORKER",
    "STARPU_CPU", "STARPU_CPU_WORKER", "STARPU_CUDA", "STARPU_CUDA_WORKER",
    "STARPU_HIP", "STARPU_HIP_WORKER", "STARPU_OPENCL",
    "STARPU_OPENCL_WORKER", "STARPU_R", "STARPU_RW", "STARPU_W", "access",
    "acquire", "delayed", "error", "init", "is_simulated", "pause",
    "perfmodel_plot", "release", "resume", "save_history_based_model",
    "sched_get_max_priority", "sched_get_min_priority", "set_access",
    "set_ncpu", "shutdown", "sleep", "starpupy", "task_nsubmitted",
    "task_submit", "task_wait_for_all", "timing_now", "unregister",
    "unregister_submit", "worker_get_count_by_type", "worker_get_id",
]

_OPTIONS = frozenset((
    "name", "synchronous", "priority", "color", "flops", "perfmodel", "where",
    "ret_handle", "ret_fut", "ret_param", "arg_handle", "modes",
))


def _find(name):
    """The callable of that name where task_submit is called, or built in."""
    frame = sys._getframe(1)
    for scope in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if name in scope:
            found = scope[name]
            break
    else:
        raise error(
            f"task_submit: there is no function `{name}' here: hand over the "
            "function itself"
        )
    if not callable(found):
        raise error(f"task_submit: `{name}' is {type(found).__name__} object, "
                    "which cannot be called")
    return found


# --- access modes ---


def _parameters(func):
    """The names of a function's parameters, those that can be given by position
    first, and whether there may be others."""
    try:
        parameters = inspect.signature(func).parameters.values()
    except (TypeError, ValueError):
        return {}, True  # built in, and does not say
    named = {one.name: one.kind in (one.POSITIONAL_ONLY,
                                    one.POSITIONAL_OR_KEYWORD)
             for one in parameters
             if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
    return named, any(one.kind == one.VAR_KEYWORD for one in parameters)


def _names_by_position(func):
    """The names of a function's parameters that can be given by position: those of
    what a decorator has wrapped, without what a method or functools.partial gives
    itself."""
    return tuple(name for name, positional in _parameters(func)[0].items()
                 if positional)


def _has_parameter(func, name):
    return name in _parameters(func)[0]


def set_access(func, **modes):
    """Says how func uses its arguments: set_access(func, a="R", b="RW").

    Returns func, or if that cannot be marked (it is built in) one that calls it.
    """
    for name, mode in modes.items():
        if mode not in ("R", "W", "RW"):
            raise error(f"set_access: {mode!r} is no access mode of `{name}': "
                        "use 'R', 'W' or 'RW'")
    names, open_ended = _parameters(func)
    for name in modes:
        if name not in names and not open_ended:
            raise error(f"set_access: {getattr(func, '__name__', func)} has no "
                        f"argument `{name}', it has "
                        f"{', '.join(names) or 'none'}")
    try:
        func.starpu_access = modes
    except AttributeError:
        def func_with_access(*args, _func=func, **kwargs):
            return _func(*args, **kwargs)

        functools.update_wrapper(func_with_access, func, updated=())
        func_with_access.starpu_access = modes
        return func_with_access
    return func


def access(**modes):
    """A decorator: @starpu.access(a="R", b="RW")."""
    return lambda func: set_access(func, **modes)


def delayed(func=None, **options):
    """A decorator: calls of the function are tasks.

    @starpu.delayed, or @starpu.delayed(name="gemm", a="R", c="RW"): options of
    task_submit, and access modes of arguments.
    """
    if func is not None and not callable(func):
        raise error(f"delayed: {type(func).__name__} object cannot be called")
    modes = {k: v for k, v in options.items() if k not in _OPTIONS}
    submit = task_submit(**{k: options[k] for k in options if k in _OPTIONS})

    def decorate(function):
        if modes:
            function = set_access(function, **modes)

        @functools.wraps(function)
        def submitted(*args, **kwargs):
            return submit(function, *args, **kwargs)

        return submitted

    return decorate if func is None else decorate(func)


# --- objects as data ---


def acquire(obj, mode="R"):
    """Waits for the tasks that use an object, which then is the application's
    until release(). Returns it."""
    return Handle._of(obj).acquire(mode=mode)


def release(obj):
    """Gives an acquired object back to the tasks."""
    Handle._of(obj).release()


def unregister(obj):
    """Waits for the tasks that use an object; they know it no more then."""
    Handle._of(obj).unregister()


def unregister_submit(obj):
    """As unregister, without waiting: once its tasks have ended."""
    Handle._of(obj).unregister_submit()


def _use():
    starpupy._use(
        Future=Future, Handle=Handle, placeholder=NOT_RUN,
        call_back=call_back, find=_find, view_like=view_like,
        names_of=_names_by_position, has_parameter=_has_parameter,
        cancelled=asyncio.CancelledError, unready=asyncio.InvalidStateError,
    )


_use()
close_at_exit()

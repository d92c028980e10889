# SPDX-License-Identifier: LGPL-2.1-or-later
"""The beginning and the end of a run."""

import atexit
import os
import sys

from . import starpupy
from ._loop import follow_virtual_time, leave_virtual_time
from .starpupy import error

# What StarPU's module does with them needs an interpreter for each worker, with a
# lock of its own.
_INTERPRETERS = ("STARPUPY_OWN_GIL", "STARPUPY_MULTI_INTERPRETER")


def _tell_of_interpreters():
    """These variables are heard, and answered."""
    for name in _INTERPRETERS:
        if os.environ.get(name, "0").strip().lower() in ("", "0", "no", "false"):
            continue
        print(f"starpu: {name} has no effect: interpreters with locks of their "
              "own need CPython 3.12, this is "
              f"{sys.version_info.major}.{sys.version_info.minor}. Functions of "
              "tasks take turns in one interpreter; numpy and other code in C "
              "that releases the GIL overlap", file=sys.stderr)
        return


_users = 0
_ncpus = -1  # of the first init()


def init(ncpus=-1):
    """Opens the machine: the real one, or what ORRERY_MACHINE names.

    Programs under `orrery run -m MACHINE --` need not be changed. May be called
    again; shutdown() closes when it was called as often.
    """
    global _users, _ncpus
    starpupy.init(ncpus)
    _users += 1
    if _users == 1:
        _ncpus = ncpus
        _tell_of_interpreters()
        if starpupy.is_simulated():
            follow_virtual_time()


def shutdown():
    """Waits for all tasks, and closes the machine."""
    global _users
    if starpupy._finish() and starpupy.is_simulated():
        leave_virtual_time()
    starpupy.shutdown()
    _users -= 1


def set_ncpu(ncpus):
    """Uses so many processors: opens the machine with them, again if it is open.

    All tasks end before, and handles must have been unregistered.
    """
    if isinstance(ncpus, bool) or not isinstance(ncpus, int) or ncpus < 1:
        raise error(f"set_ncpu: {ncpus!r} is no number of processors: use an "
                    "int from 1")
    former, former_ncpus, users = os.environ.get("STARPU_NCPU"), _ncpus, _users
    os.environ["STARPU_NCPU"] = str(ncpus)
    for _ in range(users):
        shutdown()
    try:
        for _ in range(users):
            init()
    except error:
        # As many as before, so that the program can go on.
        if former is None:
            del os.environ["STARPU_NCPU"]
        else:
            os.environ["STARPU_NCPU"] = former
        for _ in range(users):
            init(former_ncpus)
        raise


def _close():
    """The interpreter ends: the workers must not go on without it."""
    if not starpupy._is_open():
        return
    pending = starpupy._unfinished()
    if pending:
        print(f"starpu: the interpreter ends and {pending} tasks have not: "
              "waiting for them; call starpu.shutdown() at the end of the "
              "program", file=sys.stderr)
    try:
        starpupy._abandon()
    except KeyboardInterrupt:
        print("starpu: interrupted; the tasks are left as they are",
              file=sys.stderr)
        sys.stderr.flush()
        sys.stdout.flush()
        os._exit(130)


def close_at_exit():
    atexit.register(_close)

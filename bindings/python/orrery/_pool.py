# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pool: processes that simulate, one simulation at a time each. They are started
when they are needed, and stay until this process ends."""

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading

from ._command import Error

_START = ("import sys; sys.path.insert(0, sys.argv.pop(1)); "
          "from orrery._worker import serve; serve()")


class _Worker:
    def __init__(self):
        packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, packages],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise Error("a process that simulates cannot be started: "
                        f"{sys.executable!r}: {error.strerror}") from error

    def simulate(self, case):
        """What _simulation.play returns. Any exception but Error leaves the worker
        in a state that nobody knows."""
        request = (case, dict(os.environ), os.getcwd())
        try:
            pickle.dump(request, self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
            how, what = pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            raise Lost(self._end_of(self._process.wait())) from None
        if how == "error":
            raise Error(what)
        return what

    @staticmethod
    def _end_of(status):
        if status >= 0:
            return f"it ended with {status}"
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = str(-status)
        return f"it was ended by signal {name}"

    def is_alive(self):
        return self._process.poll() is None

    def end(self):
        """From another thread than that which waits for it."""
        self._process.kill()

    def kill(self):
        self._process.kill()
        self.close()

    def close(self):
        for stream in (self._process.stdin, self._process.stdout):
            try:
                stream.close()
            except OSError:  # it has ended before it had read all
                pass
        self._process.wait()


class Lost(Error):
    """A worker has ended."""

    def __init__(self, how):
        super().__init__(f"the process that simulated is lost: {how}")


class _Pool:
    def __init__(self):
        self._lock = threading.Lock()
        self._idle = []
        self.process = os.getpid()

    def _take(self):
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if not worker:
                return _Worker()
            if worker.is_alive():
                return worker
            worker.close()

    def _give(self, worker):
        with self._lock:
            self._idle.append(worker)

    def simulate(self, case, group=None):
        """One simulation; `group`, a list, has its worker meanwhile."""
        worker = self._take()
        if group is not None:
            group.append(worker)
        try:
            found = worker.simulate(case)
        except Lost:
            worker.kill()
            raise
        except Error:
            self._give(worker)
            raise
        except BaseException:
            worker.kill()
            raise
        finally:
            if group is not None:
                group.remove(worker)
        self._give(worker)
        return found

    def trim(self, most):
        """Ends those that are idle beyond so many."""
        with self._lock:
            ended, self._idle = self._idle[most:], self._idle[:most]
        for worker in ended:
            worker.close()


_pool = None


def pool():
    """The pool of this process; a child of fork has its own."""
    global _pool
    if _pool is None or _pool.process != os.getpid():
        _pool = _Pool()
    return _pool


def _close():
    if _pool is not None and _pool.process == os.getpid():
        _pool.trim(0)


atexit.register(_close)

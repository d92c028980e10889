# SPDX-License-Identifier: LGPL-2.1-or-later
"""A backend of joblib whose workers are the runtime's."""

from joblib._parallel_backends import AutoBatchingMixin, ParallelBackendBase

from . import joblib as tasks
from . import init, starpupy, task_submit


class _Result:
    """What joblib asks about a batch of calls."""

    def __init__(self, future):
        self._future = future

    def get(self, timeout=None):
        """The values of the calls. Waits as long as that takes."""
        return self._future.wait()


class StarPUBackend(AutoBatchingMixin, ParallelBackendBase):
    """Batches of calls as tasks named by joblib, in this process: arrays are
    shared with the program."""

    supports_sharedmem = True
    uses_threads = True
    supports_timeout = False

    def effective_n_jobs(self, n_jobs):
        """As joblib counts: -1 is all processors."""
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if not starpupy._is_open():
            init()
        return tasks._njobs(1 if n_jobs is None else n_jobs)

    def configure(self, n_jobs=1, parallel=None, **options):
        """Called when a Parallel begins."""
        self.parallel = parallel
        self._submit = task_submit(name="joblib", arg_handle=False)
        return self.effective_n_jobs(n_jobs)

    def apply_async(self, func, callback=None):
        """Submits a batch; the callback is joblib's, which submits the next."""
        future = self._submit(func)
        if callback is not None:
            future.add_done_callback(lambda done: self._call(callback, done))
        return _Result(future)

    @staticmethod
    def _call(callback, future):
        if not future.cancelled() and future.exception() is None:
            callback(future.result())

    def abort_everything(self, ensure_ready=True):
        """An exception came: what was submitted ends before the next."""
        starpupy.task_wait_for_all()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each task goes to the worker on which it is expected to end first.

    orrery compare -m MACHINE -s eager,dmda,./earliest.py -- PROGRAM
"""
from collections import deque


class Policy:
    def __init__(self, machine):
        self.machine = machine
        self.queues = {worker: deque() for worker in machine.workers}
        self.free = {worker: 0.0 for worker in machine.workers}

    def push(self, task):
        def end(worker):
            there = self.machine.now + task.transfer_time(worker)
            return max(self.free[worker], there) + (task.length(worker) or 0.0)

        best = min((worker for worker in self.machine.workers
                    if task.can_run(worker)), key=end)
        self.free[best] = end(best)
        task.prefetch(best)
        self.queues[best].append(task)
        return best  # who is to be woken

    def pop(self, worker):
        queue = self.queues[worker]
        return queue.popleft() if queue else None

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The policy eager: one list, from which workers take the first task that they can run.

    orrery compare -m MACHINE -s eager,./eager.py -- PROGRAM
"""
from collections import deque


class Policy:
    wake = "one"  # of the idle workers that can run a task, the first
    priorities = (0, 0)  # they do not matter

    def __init__(self, machine):
        self.tasks = deque()

    def push(self, task):
        self.tasks.append(task)

    def pop(self, worker):
        tasks = self.tasks
        for i, task in enumerate(tasks):
            if task.can_run(worker):
                del tasks[i]
                return task
        return None

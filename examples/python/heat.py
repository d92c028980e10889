#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Heat that spreads over a plate, cut into strips of rows: a task computes one
strip for the next step from its old state and its neighbours'.

usage: heat.py [STRIPS [STEPS]]
       orrery run -m MACHINE --assume 'heat on cuda = 50us; heat = 20ms' -- heat.py

Needs numpy, whose operations run without Python's lock: strips are computed at the
same time.
"""

import sys

import numpy
import starpu

COLUMNS = 2048
ROWS = 256  # of a strip


@starpu.delayed(to="RW", old="R", above="R", below="R", ret_fut=False)
def heat(to, old, above, below):
    """Each new cell is the mean of the four old ones around it."""
    up = numpy.concatenate((above[-1:], old[:-1]))
    down = numpy.concatenate((old[1:], below[:1]))
    to[:, 1:-1] = 0.25 * (old[:, :-2] + old[:, 2:]
                          + up[:, 1:-1] + down[:, 1:-1])
    to[:, 0], to[:, -1] = old[:, 0], old[:, -1]


def main():
    strips = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    starpu.init()
    plates = [numpy.zeros((strips * ROWS, COLUMNS)) for _ in range(2)]
    for plate in plates:
        plate[:, 0] = 100.0
    handles = [starpu.Handle(plate) for plate in plates]
    old, new = (handle.partition(strips) for handle in handles)
    start = starpu.timing_now()
    for _ in range(steps):
        for i in range(strips):
            heat(new[i], old[i], old[max(i - 1, 0)],
                 old[min(i + 1, strips - 1)])
        old, new = new, old
    starpu.task_wait_for_all()
    elapsed = (starpu.timing_now() - start) / 1000
    last = handles[steps % 2].get()
    where = "virtual " if starpu.is_simulated() else ""
    print(f"{strips} strips, {steps} steps: {elapsed:.3f} {where}ms, "
          f"total heat {last.sum():.0f}")
    starpu.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())

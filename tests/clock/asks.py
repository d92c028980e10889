# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python's clocks, and its sleep, around a second of the run: ms. usage: asks.py
LIBRARY"""
import ctypes
import sys
import time

LIBRARY = ctypes.CDLL(sys.argv[1])
LIBRARY.orrery_usleep.argtypes = [ctypes.c_double]
CLOCKS = (time.time, time.monotonic, time.perf_counter, time.process_time)
assert LIBRARY.starpu_init(None) == 0
BEFORE = [clock() for clock in CLOCKS]
LIBRARY.orrery_usleep(1e6)
time.sleep(0.5)
for clock, before in zip(CLOCKS, BEFORE):
    print("tasks %s %.6f" % (clock.__name__, 1e3 * (clock() - before)))
LIBRARY.starpu_shutdown()

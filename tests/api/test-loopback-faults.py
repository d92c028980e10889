#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What becomes of a program whose device fails: loopback devices fail on request
(ORRERY_LOOPBACK). Either all values are right in the end, or the run ends with
status 1 and a message with the device, what failed, and the task or the data. TAP.

usage: test-loopback-faults.py LOOPBACK MACHINE

LOOPBACK is the program of loopback.c, MACHINE is gpus.xml.
"""

import sys

from programs import Programs, run_all, test

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
LOOPBACK, MACHINE = sys.argv[1:]
PROGRAMS = Programs(MACHINE)


def loop(options):
    return PROGRAMS.run([LOOPBACK], None, ORRERY_MACHINE=None,
                        ORRERY_ASSUME=None, STARPU_NCPU="0",
                        STARPU_SILENT="0", ORRERY_LOOPBACK=options)


@test
def without_faults_all_values_are_right():
    for seed in range(1, 6):
        loop(f"2 seed={seed} peers").has_status(0)


@test
def options_that_cannot_be_read_are_refused():
    for options in ("2 nosuch", "2 fault=copy", "2 fault=nosuch@1",
                    "2 fault=copy@0", "2 mib=0", "x"):
        ended = loop(options)
        ended.says("ORRERY_LOOPBACK", "fault=alloc|copy|start|kernel|lost@N")
        ended.has_status(77)


@test
def an_allocation_that_fails_once_is_made_again():
    for n in (1, 2, 3, 4):
        ended = loop(f"2 fault=alloc@{n}")
        ended.says("an allocation of 4000 bytes on Loopback",
                   "out of memory")
        ended.has_status(0)


@test
def a_device_that_never_has_memory_ends_the_run():
    ended = loop("1 fault=alloc@1+")
    ended.says("an allocation of 4000 bytes on Loopback 0",
               "memory node 1 (Loopback 0) is full", "waits for 4000 bytes")
    ended.has_status(1)


@test
def a_short_copy_is_made_again():
    for n in range(1, 9):
        ended = loop(f"2 fault=copy@{n}")
        ended.says("loopback: the copy of data number", "4000 bytes, failed",
                   "made once more", "Loopback", "NUMA 0")
        ended.has_status(0)


@test
def copies_that_never_succeed_end_the_run():
    ended = loop("1 fault=copy@1+")
    ended.says("the copy of data number", "from NUMA 0 to Loopback 0, 4000 "
               "bytes, failed: Input/output error")
    ended.has_status(1)


@test
def a_kernel_that_was_refused_is_started_again():
    for n in range(1, 21):
        ended = loop(f"2 fault=start@{n}")
        ended.says("the kernel of task `add_one' (number", "on Loopback",
                   "it was not begun; it is started once more")
        ended.has_status(0)


@test
def a_kernel_that_failed_ends_the_run():
    for n in (1, 7, 20):
        ended = loop(f"2 fault=kernel@{n}")
        ended.says("the kernel of task `add_one' (number", "on Loopback",
                   "failed: Input/output error")
        ended.has_status(1)


@test
def a_lost_device_ends_the_run():
    for n in (1, 2, 5, 9, 14):
        ended = loop(f"2 fault=lost@{n}")
        ended.says("Loopback", "the device is lost")
        ended.has_status(1)


sys.exit(run_all())

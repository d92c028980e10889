#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What becomes of a program whose device fails: loopback devices fail on request. Either all values are right in the end, or the run ends with
status 1 and a message with the device, what failed, and the task or the data. TAP.

usage: test-loopback-faults.py LOOPBACK MACHINE MODULE

LOOPBACK is the program of loopback.c, MACHINE is gpus.xml, MODULE the driver.
"""

import sys

from programs import Programs, run_all, test

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
LOOPBACK, MACHINE, MODULE = sys.argv[1:]
PROGRAMS = Programs(MACHINE)


def loop(options, mode="chain", ncpu=0, **env):
    return PROGRAMS.run([LOOPBACK, mode], None, ORRERY_MACHINE=None,
                        ORRERY_ASSUME=None, STARPU_NCPU=str(ncpu),
                        STARPU_SILENT="0", ORRERY_DRIVERS=f"{MODULE}:{options}", **env)


def goes_on(ended, *words):
    """With a processor beside the devices, which may be faster than they: all is
    right, and whatever failed was done elsewhere."""
    ended.has_status(0)
    if "failed" in ended.err:
        ended.says("it goes to another worker", *words)


@test
def without_faults_all_values_are_right():
    for seed in range(1, 6):
        loop(f"2 seed={seed} peers").has_status(0)


@test
def options_that_cannot_be_read_are_refused():
    for options in ("2 nosuch", "2 fault=copy", "2 fault=nosuch@1",
                    "2 fault=copy@0", "2 mib=0", "x"):
        ended = loop(options)
        ended.says("loopback: ", "fault=alloc|copy|start|kernel|pin|lost@N")
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
               "memory node 1 (Loopback 0) allocates no more, although",
               "waits for 4000 bytes", "Free what others have there")
    ended.has_status(1)


@test
def what_devices_have_no_memory_for_runs_on_processors():
    for n in (1, 3, 6):
        for mode in ("chain", "pure", "sum"):
            ended = loop(f"2 fault=alloc@{n}+", mode, 1)
            ended.has_status(0)
            # A task that waits for memory may get what another one gives back, or be
            # taken by the processor meanwhile: then none is sent elsewhere.
            if "failed" in ended.err:
                ended.says("out of memory")


@test
def a_short_copy_is_made_again():
    for n in range(1, 9):
        ended = loop(f"2 fault=copy@{n}")
        ended.says("loopback: the copy of data number", "4000 bytes, failed",
                   "made once more", "Loopback", "NUMA 0")
        ended.has_status(0)


@test
def a_short_copy_within_a_device_is_made_again():
    within = 0
    for n in (1, 4, 5, 9, 14, 20, 28):
        ended = loop(f"1 fault=copy@{n}", "copies")
        ended.says("Loopback 0", "failed: Input/output error")
        within += "the kernel of task `starpu_data_cpy' (number" in ended.err
        ended.has_status(0)
    assert within > 0


@test
def a_short_copy_of_a_sum_is_made_again():
    within = 0
    for n in range(1, 9):
        ended = loop(f"1 fault=copy@{n}", "fresh")
        ended.says("4000 bytes", "failed: Input/output error; it is made once "
                   "more")
        within += "within Loopback 0" in ended.err
        ended.has_status(0)
    assert within > 0
    ended = loop("1 fault=copy@1+", "fresh")
    ended.says("could not be copied on Loopback 0: it is lost")
    ended.has_status(1)


@test
def copies_that_never_succeed_end_the_run():
    ended = loop("1 fault=copy@1+")
    ended.says("the copy of data number", "from NUMA 0 to Loopback 0, 4000 "
               "bytes, failed: Input/output error", "no other worker can run")
    ended.has_status(1)


@test
def where_copies_never_succeed_nothing_runs():
    goes_on(loop("2 fault=copy@1+", ncpu=1), "failed: Input/output error")


@test
def a_kernel_that_was_refused_is_started_again():
    for n in range(1, 21):
        ended = loop(f"2 fault=start@{n}")
        ended.says("the kernel of task `add_one' (number", "on Loopback",
                   "it was not begun; it is started once more")
        ended.has_status(0)


@test
def a_kernel_that_is_always_refused_goes_to_processors():
    goes_on(loop("2 fault=start@2+", ncpu=1), "it was not begun",
            "was not done by Loopback")


@test
def nobody_runs_what_all_devices_refuse():
    ended = loop("2 fault=start@2+")
    ended.says("failed on Loopback", "no other worker can run it")
    ended.has_status(1)


@test
def a_kernel_that_failed_goes_elsewhere():
    for n in (1, 7, 20):
        ended = loop(f"2 fault=kernel@{n}", "pure")
        ended.says("the kernel of task `plus_one' (number", "on Loopback",
                   "failed: Input/output error", "it goes to another worker")
        ended.has_status(0)


@test
def a_kernel_that_fails_on_all_devices_runs_on_a_processor():
    goes_on(loop("2 fault=kernel@1+", "pure", 1), "was not done by Loopback")


@test
def a_kernel_that_failed_on_the_only_worker_is_tried_again_there():
    ended = loop("1 fault=kernel@3", "pure")
    ended.says("it is tried again, as no other worker can run it")
    ended.has_status(0)


@test
def a_kernel_that_always_fails_ends_the_run():
    ended = loop("1 fault=kernel@3+", "pure")
    ended.says("it is tried again", "failed on Loopback 0, and no other worker")
    ended.has_status(1)


@test
def what_a_kernel_changed_is_what_it_was_where_there_is_a_copy():
    ended = loop("2 fault=kernel@1")
    ended.says("the kernel of task `add_one'", "it goes to another worker")
    ended.has_status(0)


@test
def a_kernel_that_changed_the_only_value_ends_the_run():
    ended = loop("1 fault=kernel@20")
    ended.says("the kernel of task `add_one' (number", "on Loopback 0",
               "failed: Input/output error",
               "buffer 0 of task `add_one' (number", "it is lost")
    ended.has_status(1)


@test
def a_contribution_that_failed_is_made_elsewhere_if_it_is_the_first():
    for n in (1, 2):
        ended = loop(f"2 fault=kernel@{n} pipeline=0", "sum")
        ended.says("the kernel of task `contribute'",
                   "it goes to another worker")
        ended.has_status(0)


@test
def contributions_behind_one_that_was_refused_are_kept():
    for n in range(1, 9):
        for pipeline in 2, 4:
            loop(f"2 fault=start@{n} pipeline={pipeline}",
                 "sum").has_status(0)
            loop(f"1 fault=start@{n} pipeline={pipeline} seed={n}",
                 "sum").has_status(0)


@test
def contributions_behind_one_that_failed_are_kept():
    for n in 1, 2:
        ended = loop(f"2 fault=kernel@{n}", "sum")
        ended.says("it goes to another worker")
        ended.has_status(0)


@test
def tasks_for_a_lost_worker_alone_end_the_run():
    for sched in ("eager", "lws", "dmda"):
        for n in (2, 9):
            ended = loop(f"2 fault=lost@{n}", "named", 1, STARPU_SCHED=sched)
            ended.says("Loopback 1 is lost", "task `add_one'")
            assert ("by workers of lost devices only" in ended.err
                    or "no other worker can run it" in ended.err
                    or "it is lost" in ended.err), ended.err
            ended.has_status(1)


@test
def a_try_that_failed_is_the_programs():
    for n in (1, 7):
        ended = loop(f"2 fault=kernel@{n}", "tries")
        ended.says("task `plus_one' (number", "a try, has failed on Loopback")
        assert ended.out.startswith("1 tries had failed"), ended.out
        ended.has_status(0)


@test
def the_next_try_is_made_elsewhere():
    loop("2 fault=kernel@3+", "tries", ncpu=1).has_status(0)


@test
def tasks_of_a_lost_device_go_elsewhere():
    for mode in ("chain", "pure", "tries"):
        ended = loop("2 fault=lost@2", mode)
        ended.says("Loopback", "the device is lost", "is lost: its tasks",
                   "it goes to another worker")
        ended.has_status(0)
        goes_on(loop("2 fault=lost@2", mode, 1), "is lost: its tasks")


@test
def a_value_that_was_on_the_lost_device_only_ends_the_run():
    lost = 0
    for n in (5, 20, 26, 33):
        for mode in ("chain", "pure", "sum"):
            ended = loop(f"2 fault=lost@{n}", mode)
            ended.says("Loopback", "the device is lost")
            assert ended.status in (0, 1), ended.err
            lost += ended.status
            if ended.status == 1:
                assert ("only value was on a device that is lost" in ended.err
                        or "it is lost" in ended.err), ended.err
    assert lost > 0


@test
def without_its_only_device_the_run_ends():
    ended = loop("1 fault=lost@3")
    ended.says("Loopback 0 is lost")
    ended.has_status(1)


@test
def a_device_may_be_lost_while_a_policy_looks_for_a_worker():
    for sched in ("dm", "dmda", "pheft", "heteroprio"):
        ended = loop("1 fault=lost@4", "late", STARPU_SCHED=sched)
        ended.says("Loopback 0 is lost", "task `late' (number 3) can be run by "
                   "workers of lost devices only")
        ended.has_status(1)


@test
def what_policies_keep_for_a_device_that_is_lost_ends_the_run():
    for sched in ("eager", "prio", "lws", "peager", "graph_test",
                  "modular-eager", "modular-heft"):
        ended = loop("1 pipeline=0 fault=lost@2", "queued", STARPU_SCHED=sched)
        ended.says("a try, has failed on Loopback 0", "task `zero'")
        assert ("by workers of lost devices only" in ended.err
                or "no other worker can run it" in ended.err), ended.err
        ended.has_status(1)


@test
def under_each_policy_tasks_go_elsewhere():
    for sched in ("eager", "prio", "random", "ws", "lws", "dm", "dmda",
                  "dmdas"):
        for fault in ("kernel@3", "lost@2"):
            ended = loop(f"2 fault={fault}", "pure", STARPU_SCHED=sched)
            ended.says("failed", "it goes to another worker")
            ended.has_status(0)
        for fault in ("kernel@1+", "lost@2", "start@1+"):
            goes_on(loop(f"2 fault={fault}", "pure", 1, STARPU_SCHED=sched))
        # As above: who waits for memory may get what another one gives back.
        loop("2 fault=alloc@3+", "pure", 1, STARPU_SCHED=sched).has_status(0)


sys.exit(run_all())

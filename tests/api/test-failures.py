#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How programs end that are given bad input or make mistakes: each with a clear
message and a clean exit. TAP.

usage: test-failures.py MISUSE RETHROW MACHINE LIBRARY EXAMPLE

MISUSE and RETHROW are the programs of misuse.c and rethrow.cpp, MACHINE is
gpus.xml, LIBRARY is liborrery.so, EXAMPLE is two_machines.py.
"""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from programs import Programs, Skip, run_all, test

REAL = {"ORRERY_MACHINE": None, "ORRERY_ASSUME": None, "STARPU_NCPU": "2"}
CATALOGUE = ("h100-pcie-4", "rtx4090-2")

if len(sys.argv) != 6:
    sys.exit(__doc__.strip())
MISUSE, RETHROW, MACHINE, LIBRARY, EXAMPLE = sys.argv[1:]
PROGRAMS = Programs(MACHINE)


def misuse(scenario, folder=None, **settings):
    return PROGRAMS.run([MISUSE, scenario], folder, **settings)


# -- machines and schedulers -------------------------------------------------


@test
def an_unknown_machine_is_refused_and_the_known_ones_are_named():
    ended = misuse("run-some", ORRERY_MACHINE="nosuch")
    ended.says('unknown machine "nosuch"', *CATALOGUE)
    ended.has_status(1)


@test
def an_unknown_scheduler_is_refused_and_the_known_ones_are_named():
    for settings in ({}, REAL):
        ended = misuse("run-some", STARPU_SCHED="nosuch", **settings)
        ended.says("`nosuch'", "eager", "prio", "lws", "dmda", "dmdas")
        ended.has_status(1)


def broken_machine(old, new):
    folder = PROGRAMS.folder()
    path = os.path.join(folder, "broken.xml")
    with open(MACHINE, encoding="utf-8") as file:
        text = file.read()
    at = text.index(old)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new, 1) if new is not None else text[:at])
    begin = text.rindex("<", 0, at + 1) # errors are reported at the element
    return path, text[:begin].count("\n") + 1


@test
def an_error_in_a_platform_is_told_with_file_line_and_element():
    for old, new, words in (
            ("12GBps", "12GBpss", ["<link>", "12GBpss"]),
            ("<link id", "<lonk id", ["<lonk>"]),
            ('dst="CUDA0"', 'dst="CUDA9"', ["<route>", "CUDA9"]),
            ('"74565404"', '"lots"', ["<prop>", "memsize", "lots"])):
        path, line = broken_machine(old, new)
        ended = misuse("run-some", ORRERY_MACHINE=path)
        ended.says(f"{path}:{line}: ", *words)
        ended.has_status(1)


@test
def a_truncated_or_garbled_platform_is_told_with_file_and_line():
    path, line = broken_machine("<host id=\"CUDA2\"", None)
    ended = misuse("run-some", ORRERY_MACHINE=path)
    ended.says(f"{path}:{line}: ", "not well-formed XML")
    ended.has_status(1)
    for content in (b"", b"hello\n", b"\0\1\2\3"):
        with open(path, "wb") as file:
            file.write(content)
        ended = misuse("run-some", ORRERY_MACHINE=path)
        ended.says(f"{path}:1: ")
        ended.has_status(1)


@test
def a_platform_that_is_not_there_is_told_with_its_path():
    ended = misuse("run-some", ORRERY_MACHINE="/nowhere/m.xml")
    ended.says("/nowhere/m.xml")
    ended.has_status(1)


@test
def bad_values_of_variables_are_refused_by_name():
    for name, value in (
            ("STARPU_NCPU", "abc"), ("STARPU_NCPU", "-1"),
            ("STARPU_NCUDA", "99999999999"), ("STARPU_CALIBRATE", "x"),
            ("STARPU_HISTORY_MAX_ERROR", "0"),
            ("STARPU_PREFETCH", "yes"), ("STARPU_SCHED_ALPHA", "fast"),
            ("STARPU_LIMIT_CUDA_MEM", "1G"),
            ("STARPU_LIMIT_CUDA_0_MEM", "-3"),
            ("STARPU_CUDA_PIPELINE", "two"), ("ORRERY_SIM_KERNELS", "maybe"),
            ("ORRERY_EVICTION", "fifo"),
            ("ORRERY_SIM_WATCHDOG", "soon")):
        ended = misuse("run-some", **{name: value})
        ended.says(name, value)
        ended.has_status(1)
        assert "starpu_init: -22" in ended.out, ended.out


@test
def files_that_cannot_be_written_are_named_and_the_run_is_good():
    ended = misuse("run-some", ORRERY_TRACE="/nowhere/t",
                   ORRERY_REPORT="/nowhere/r")
    ended.says("/nowhere/t", "/nowhere/r")
    ended.has_status(0)


# -- performance models ------------------------------------------------------


def calibrated(tried):
    """A folder with the model of a real run, and the model's path."""
    folder = PROGRAMS.folder()
    ended = misuse("with-model", folder, STARPU_HOSTNAME="host",
                   STARPU_CALIBRATE="1", **REAL)
    ended.has_status(0)
    path = os.path.join(folder, "sampling/codelets/45/misuse.host")
    assert os.path.exists(path), "the real run saved no model"
    if tried:
        simulate(folder).has_status(0)
    return folder, path


def simulate(folder):
    return misuse("with-model", folder, STARPU_HOSTNAME="host",
                  STARPU_NCUDA="0", ORRERY_ASSUME=None)


def check_broken(folder, path, words):
    """Neither machine uses the file, and neither touches it."""
    with open(path, "rb") as file:
        before = file.read()
    ended = simulate(folder)
    ended.says(*words)
    ended.says("misuse", "STARPU_CALIBRATE=1")
    ended.has_status(1)
    ended = misuse("with-model", folder, STARPU_HOSTNAME="host",
                   STARPU_CALIBRATE="1", **REAL)
    ended.says(*words)
    ended.has_status(0)
    assert "done" in ended.out
    with open(path, "rb") as file:
        assert file.read() == before, "the file was changed"


@test
def a_truncated_model_is_told_with_file_and_line_and_left_as_it_is():
    folder, path = calibrated(tried=True)
    with open(path, "rb") as file:
        whole = file.read()
    # After a line, within the line of values, and before the first number.
    for size in (len(whole) // 2, whole.rindex(b"\n", 0, -3) + 20,
                 whole.index(b"\n45\n") + 4):
        with open(path, "wb") as file:
            file.write(whole[:size])
        lines = whole[:size].count(b"\n")
        ended = simulate(folder)
        found = re.search(re.escape(path) + r":(\d+): ", ended.err)
        assert found and lines <= int(found[1]) <= lines + 1, ended.err
        check_broken(folder, path, [f"{path}:{found[1]}: ", "left as it is"])


@test
def a_model_full_of_garbage_is_told_with_file_and_line_and_left_as_it_is():
    folder, path = calibrated(tried=False)
    for content in (b"hello world\n", bytes(range(256)) * 8,
                    b"# only a remark\n45\n-7\n", b"45\n1\n99999999\n"):
        with open(path, "wb") as file:
            file.write(content)
        check_broken(folder, path, [f"{path}:", "left as it is"])


@test
def a_model_that_cannot_be_read_is_named_and_left_as_it_is():
    folder, path = calibrated(tried=False)
    os.remove(path)
    os.mkdir(path)
    ended = simulate(folder)
    ended.says(path)
    ended.has_status(1)
    ended = misuse("with-model", folder, STARPU_HOSTNAME="host", **REAL)
    ended.says(path)
    ended.has_status(0)
    assert os.path.isdir(path)


@test
def a_model_without_permission_to_read_it_is_named():
    folder, path = calibrated(tried=False)
    command = [MISUSE, "with-model"]
    if os.geteuid() == 0: # which may read everything
        if not shutil.which("setpriv"):
            raise Skip("root reads everything, and there is no setpriv")
        command[:0] = ["setpriv",
                       "--bounding-set=-dac_override,-dac_read_search"]
    os.chmod(path, 0)
    PROGRAMS.run(command, folder, STARPU_HOSTNAME="host", STARPU_NCUDA="0",
                 ORRERY_ASSUME=None).says(path, "ermission")


@test
def kernels_without_times_are_all_listed_with_the_remedy():
    ended = misuse("kernels-without-times", ORRERY_ASSUME=None)
    rows = re.findall(r"  (\w+)  footprint ([0-9a-f]{8})  on (\w+)", ended.err)
    assert len({footprint for _, footprint, _ in rows}) == 2, rows
    for name, footprints in (("misuse", 2), ("second", 1)):
        mine = {row[1] for row in rows if row[0] == name}
        assert len(mine) == footprints, rows
    for arch in ("cpu0", "cuda0", "cuda1", "cuda2"):
        assert ("misuse", rows[0][1], arch) in rows, rows
    assert ("second", rows[0][1], "cuda0") not in rows, "it has no function"
    ended.says("STARPU_CALIBRATE=1", "STARPU_PERF_MODEL_DIR", "ORRERY_ASSUME")
    ended.has_status(1)
    ended.saved("missing")
    assert ended.out == "still buffered", ended.out


@test
def a_codelet_without_a_model_is_told_and_can_be_assumed():
    ended = misuse("codelet-without-model", ORRERY_ASSUME=None)
    ended.says("the codelet has no model", "ORRERY_ASSUME='kernel[k] = 50us'",
               "STARPU_CALIBRATE=1")
    ended.has_status(1)
    ended = misuse("codelet-without-model", STARPU_NCUDA="0",
                   ORRERY_ASSUME="kernel[k] = 3ms")
    ended.has_status(0)
    assert 3000 <= float(ended.out.split()[1]) < 7000, ended.out
    ended = misuse("codelet-without-model", STARPU_NCUDA="0",
                   ORRERY_ASSUME="kernel[*] = 3ms")
    ended.has_status(0)
    assert 3000 <= float(ended.out.split()[1]) < 7000, ended.out


@test
def the_kernel_that_is_named_is_what_can_be_assumed():
    ended = misuse("codelet-without-name", ORRERY_ASSUME=None)
    ended.has_status(1)
    name = re.search("time of kernel `(.*)'", ended.err).group(1)
    misuse("codelet-without-name", STARPU_NCUDA="0",
           ORRERY_ASSUME="kernel[%s] = 1us" % name).has_status(0)


@test
def an_assumption_that_cannot_be_read_is_told():
    ended = misuse("codelet-without-model", ORRERY_ASSUME="kernel[k] = soon")
    ended.says("`kernel[k] = soon'", "50us")
    ended.has_status(9) # the program's own: it could not start


# -- no able worker ----------------------------------------------------------


@test
def without_workers_the_start_fails_with_enodev():
    for settings in ({}, {"ORRERY_MACHINE": None}):
        ended = misuse("no-worker-at-all", **settings)
        ended.says("no worker")
        ended.has_status(0)
        assert "-ENODEV" in ended.out, ended.out


@test
def a_task_that_no_worker_can_run_is_refused_with_enodev():
    for settings in ({}, REAL):
        ended = misuse("no-worker-for-task", **settings)
        ended.has_status(0)
        assert "-ENODEV" in ended.out, ended.out


@test
def a_mode_that_the_codelet_does_not_have_is_named():
    ended = misuse("another-mode")
    ended.has_status(0)
    ended.says("`adds'", "with mode STARPU_RW|STARPU_COMMUTE, but",
               "modes[0] is STARPU_RW;")


@test
def limits_that_leave_no_worker_are_named():
    ended = misuse("run-some", STARPU_NCPU="0", STARPU_NCUDA="0",
                   STARPU_NOPENCL="0")
    ended.says("no worker is left", "STARPU_NCPU", "STARPU_NCUDA")


@test
def a_task_larger_than_every_gpu_is_refused_with_its_size():
    ended = misuse("task-too-large", STARPU_LIMIT_CUDA_MEM="40",
                   ORRERY_ASSUME="kernel[large] = 50us")
    ended.says("`large'", "48.0 MiB", "40.0 MiB", "STARPU_LIMIT_CUDA_MEM")
    ended.has_status(1)
    assert "-ENODEV" in ended.out, ended.out
    ended = misuse("task-too-large", STARPU_LIMIT_CUDA_MEM="48",
                   ORRERY_ASSUME="kernel[large] = 50us")
    ended.has_status(0)


@test
def data_larger_than_a_memory_are_named_with_both_sizes():
    words = ("A(3,4)", "16777216 bytes", "8388608", "CUDA 0")
    small = {"STARPU_LIMIT_CUDA_MEM": "8", "WHERE": "1"}
    ended = misuse("data-too-large", HOW="acquire", **small)
    ended.says("an acquisition", *words)
    ended.has_status(1)
    for how, call in (("prefetch", "starpu_data_prefetch_on_node"),
                      ("allocate", "starpu_data_request_allocation")):
        ended = misuse("data-too-large", HOW=how, **small)
        ended.says(call, *words)
        assert ended.err.count("A(3,4)") == 1, ended.err
        ended.has_status(0)
    ended = misuse("data-too-large", HOW="acquire", WHERE="0",
                   STARPU_LIMIT_CPU_MEM="8", **REAL)
    ended.says("an acquisition", "A(3,4)", "16777216 bytes", "NUMA 0")
    ended.has_status(1)


# -- deadlocks ---------------------------------------------------------------


def deadlock(scenario, *words):
    ended = misuse(scenario)
    ended.says("deadlock", *words)
    ended.has_status(3)
    ended.saved("deadlock")
    assert "not reached" not in ended.out
    return ended


def has_sanitizer(path):
    with open(path, "rb") as file:
        symbols = file.read()
    return b"__asan_init" in symbols or b"__tsan_init" in symbols


@test
def data_that_take_much_of_this_machines_memory_are_told_once():
    """A limit of 2 GiB stands for a small machine."""
    if has_sanitizer(MISUSE): # which says why in a file, or not at all
        raise Skip("sanitizers reserve more address space than this limit")

    def held(kernels):
        ended = PROGRAMS.run(
            ["sh", "-c", "ulimit -v 2097152 && exec \"$0\" hold-much", MISUSE],
            ORRERY_MACHINE="h100-pcie-4", ORRERY_SIM_KERNELS=kernels)
        ended.has_status(0)
        return ended.err.count("take memory of this machine")
    assert held("run") == 1
    assert held("skip") == 0


@test
def a_deadlock_names_the_task_that_was_never_submitted():
    ended = deadlock("wait-for-unsubmitted", "main waits for",
                     "`blocked'", "`forgotten', which was never submitted")
    assert ended.out == "still buffered", ended.out
    assert "EventType" in ended.left("trace") or "\tk\t" in ended.left("trace")


@test
def a_long_deadlock_begins_with_its_cause_and_is_cut():
    ended = deadlock("long-chain", "unfinished tasks: 3000")
    lines = ended.err.splitlines()
    assert "`forgotten', which was never submitted" in lines[2], lines[2]
    assert re.search(r" waits for task `link' \(number \d+\)$", lines[3])
    assert len(lines) < 30 and re.search("and [0-9]+ more$", lines[-1]), lines


@test
def a_deadlock_names_the_tag_that_is_not_reached():
    deadlock("wait-for-tag", "`tagged'", "tag 42")


@test
def a_deadlock_names_the_data_that_are_not_released():
    deadlock("acquire-twice", "main waits for", "`vector A'",
             "starpu_data_release")
    deadlock("wait-while-acquired", "`user'", "starpu_data_release")


@test
def who_waits_for_what_it_has_acquired_itself_is_told_on_both_machines():
    for scenario, call, reads in (
            ("acquire-twice", "starpu_data_acquire", None),
            ("unregister-acquired", "starpu_data_unregister", None),
            ("unregister-acquired", "starpu_data_unregister", "1"),
            ("partition-acquired", "starpu_data_partition", None)):
        words = ("main waits for", call, "`vector A'", "starpu_data_release")
        ended = misuse(scenario, READS=reads)
        ended.says("deadlock", *words)
        ended.has_status(3)
        ended = misuse(scenario, READS=reads, STARPU_NOPENCL="0", **REAL)
        ended.says("deadlock", *words)
        ended.has_status(1)


@test
def a_task_that_waits_for_what_its_own_data_keep_from_running_is_named():
    words = ("`reader' (number 1) waits in its kernel, on CPU 0, for task "
             "`writer' (number 2)",
             "`writer' (number 2) waits for the end of task `reader' (number 1)",
             "STARPU_RW")
    deadlock("wait-for-writer-in-kernel", *words)
    ended = misuse("wait-for-writer-in-kernel", **REAL)
    ended.says("deadlock", *words)
    ended.has_status(1)
    assert "not reached" not in ended.out


@test
def a_task_cannot_unregister_what_it_was_given():
    for settings in ({}, REAL):
        ended = misuse("unregister-in-kernel", **settings)
        ended.says("task `reader'", "vector A any more, which it uses",
                   "starpu_data_partition_plan")
        ended.has_status(1)
        assert "not reached" not in ended.out


@test
def what_is_not_acquired_or_for_reading_only_cannot_be_kept_for_writing():
    for settings in ({}, REAL):
        ended = misuse("keep-otherwise", **settings)
        ended.says("starpu_data_release_to_on_node of data",
                   "acquired for reading cannot be kept for writing: release")
        assert ended.err.count("starpu_data_release_to of data number 1: the "
                               "data are not acquired") == 2, ended.err
        ended.has_status(-signal.SIGABRT)
        assert ended.out == "kept for reading\n", ended.out


@test
def a_deadlock_of_mutexes_names_their_holders():
    deadlock("lock-each-other", "main waits for the mutex at 0x",
             " that a thread", "waits for the mutex at 0x", " that main holds")


# -- early ends --------------------------------------------------------------


@test
def exit_ends_a_simulation_wherever_it_is_called():
    for scenario, settings in (
            ("exit-in-main", {}), ("exit-in-callback", {}),
            ("exit-in-task", {"ORRERY_SIM_KERNELS": "run"}),
            ("exit-in-callback", {"ORRERY_SIM_KERNELS": "run"})):
        ended = misuse(scenario, **settings)
        ended.has_status(7)
        ended.saved("exit")
        assert ended.out == "atexit ran\n", ended.out
        assert ended.err == "", ended.err


@test
def exit_ends_a_real_run():
    ended = misuse("exit-in-main", **REAL)
    ended.has_status(7)
    assert ended.err == "", ended.err


@test
def main_may_return_without_shutdown():
    ended = misuse("no-shutdown")
    ended.has_status(0)
    ended.saved("exit")
    assert ended.err == "", ended.err


@test
def a_signal_ends_a_simulation_at_once_and_saves_it():
    for scenario in ("run-for-ever", "compute-for-ever"):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = PROGRAMS.start([MISUSE, scenario])
            assert process.stdout.readline() == "ready\n"
            process.send_signal(number)
            ended = PROGRAMS.finish(process)
            ended.has_status(-number)
            ended.saved("signal")
            assert ended.err == "", ended.err


@test
def a_signal_that_comes_twice_at_once_is_one():
    for scenario in ("run-for-ever", "compute-for-ever"):
        process = PROGRAMS.start([MISUSE, scenario])
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        ended = PROGRAMS.finish(process)
        assert ended.status in (-signal.SIGTERM, -signal.SIGINT), ended.status
        ended.saved("signal")


@test
def a_later_signal_does_not_wait_for_the_first():
    folder = PROGRAMS.folder()
    path = os.path.join(folder, "nobody-reads-it")
    os.mkfifo(path) # so that saving never ends
    process = PROGRAMS.start([MISUSE, "run-for-ever"], folder,
                             STARPU_BUS_STATS="1", STARPU_BUS_STATS_FILE=path)
    assert process.stdout.readline() == "ready\n"
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    PROGRAMS.finish(process).has_status(-signal.SIGINT)


@test
def a_signal_handler_of_the_application_stays():
    for settings in ({}, {"AFTER": "1"}):
        ended = misuse("own-handler", **settings)
        ended.has_status(0)
        assert ended.out == "caught 1\ncaught 1\n", ended.out
        ended.saved("shutdown")


@test
def a_child_of_fork_may_exit_and_leaves_the_files_to_its_parent():
    ended = misuse("fork")
    ended.has_status(0)
    assert ended.out == ("child ended with 5\nreport there: 0\n"
                         "report there: 1\n"), ended.out
    ended.saved("shutdown")


# -- main and virtual time ---------------------------------------------------


@test
def a_main_that_blocks_outside_virtual_time_is_told():
    process = PROGRAMS.start([MISUSE, "block-outside"],
                             ORRERY_SIM_WATCHDOG="1")
    assert process.stdout.readline() == "ready\n"
    line = process.stderr.readline()
    assert '"main"' in line and "starpu_pthread_" in line, line
    process.send_signal(signal.SIGTERM)
    ended = PROGRAMS.finish(process)
    ended.has_status(-signal.SIGTERM)
    ended.saved("signal")


@test
def a_call_from_another_thread_is_refused_by_name():
    for which, call in (("submit", "starpu_task_submit"),
                        ("acquire", "starpu_data_acquire"),
                        ("wait", "starpu_task_wait_for_all")):
        ended = misuse(which + "-in-thread")
        ended.says(f"{call}: called from a second thread",
                   "starpu_pthread_create")
        ended.has_status(1)
        ended.saved("error")
        assert "not reached" not in ended.out


@test
def threads_of_the_system_may_call_a_real_run():
    for which in ("submit", "acquire", "wait"):
        ended = misuse(which + "-in-thread", **REAL)
        assert "returned 0" in ended.out, ended.out + ended.err
        ended.has_status(0)


@test
def a_task_without_function_and_time_names_both_and_the_remedy():
    ended = misuse("forkjoin-without-time", STARPU_NCUDA="0", STARPU_SILENT="0")
    ended.says("neither a function nor a time on CPU", "ORRERY_ASSUME='kernel[wide] = ")
    ended.has_status(0)
    ended = misuse("forkjoin-without-time", STARPU_NCUDA="0", STARPU_SILENT="0", **REAL)
    assert "neither" not in ended.err, ended.err


@test
def a_mutex_may_be_held_across_a_virtual_sleep():
    for settings in ({}, REAL):
        ended = misuse("mutex-across-sleep", **settings)
        ended.has_status(0)
        assert ended.out == "80 turns, 1 inside at once\n", ended.out


@test
def main_may_jump_out_of_and_into_waits():
    ended = misuse("jump")
    ended.has_status(0)
    assert ended.out == "5 jumps\n", ended.out


@test
def exceptions_are_rethrown_as_they_were_across_waits():
    for settings in ({}, REAL):
        ended = PROGRAMS.run([RETHROW], **settings)
        ended.has_status(0)
        if settings is REAL:
            continue # workers and threads count at once, only the end matters
        assert ended.out == "100 of 100 were right\n", ended.out


# -- data --------------------------------------------------------------------


@test
def reading_what_was_never_written_is_told_with_task_and_data():
    for settings in ({}, REAL):
        ended = misuse("read-unwritten", **settings)
        ended.says("`reader'", "buffer 0", "empty one", "never written")
        assert ended.status in (1, -signal.SIGABRT), ended.status
        ended = misuse("acquire-unwritten", **settings)
        ended.says("never written")
        assert ended.status in (1, -signal.SIGABRT), ended.status


@test
def data_that_have_ended_are_not_used():
    for settings in ({}, REAL):
        ended = misuse("after-the-end", WHAT="twice", **settings)
        ended.says("starpu_data_unregister", "were unregistered")
        ended.has_status(-signal.SIGABRT)
        ended = misuse("after-the-end", WHAT="piece", **settings)
        ended.says("starpu_data_unregister", "piece of data number 1",
                   "starpu_data_unpartition")
        ended.has_status(-signal.SIGABRT)
        ended = misuse("after-the-end", WHAT="acquire", **settings)
        ended.says("starpu_data_acquire", "were unregistered")
        ended.has_status(errno.EINVAL)
        ended = misuse("after-the-end", WHAT="task", **settings)
        ended.says("starpu_task_submit", "`modelled'", "were unregistered")
        ended.has_status(errno.EINVAL)


@test
def wrong_calls_about_pieces_name_the_call_and_the_data():
    of = "starpu_data_%s of A(3,4): "
    abort = -signal.SIGABRT
    for what, call, text, status in (
            ("cut", "partition", "partitioned already", abort),
            ("plan-cut", "partition", "starpu_data_partition_clean", abort),
            ("plan-join", "unpartition_submit", "not partitioned so", abort),
            ("join", "unpartition", "are not partitioned", 0),
            ("child", "get_child", "there is no child 2", abort),
            ("plan-end", "unregister", "have planned partitions", abort),
            ("acquire", "acquire", "use their sub-data", errno.EINVAL)):
        for settings in ({}, REAL):
            ended = misuse("wrong-pieces", WHAT=what, **settings)
            ended.says(of % call, text)
            ended.has_status(status)


# -- rounds ------------------------------------------------------------------


@test
def one_process_simulates_two_machines_in_turn():
    for first, second, workers in (
            (CATALOGUE[0], MACHINE, ["12", "4"]),
            (MACHINE, MACHINE, ["4", "4"])):
        ended = misuse("two-rounds", FIRST=first, SECOND=second)
        ended.has_status(0)
        counts = [line.split()[0] for line in ended.out.splitlines()]
        assert counts == workers, ended.out


@test
def a_python_program_simulates_two_machines_in_turn():
    linked = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True,
                            check=False).stdout
    if "asan" in linked:
        raise Skip("the library needs AddressSanitizer in the interpreter")
    ended = PROGRAMS.run([sys.executable, EXAMPLE, *CATALOGUE],
                         ORRERY_LIBRARY=LIBRARY, ORRERY_MACHINE=None,
                         ORRERY_ASSUME=None)
    ended.has_status(0)
    times = dict(line.split(": ") for line in ended.out.splitlines())
    assert set(times) == set(CATALOGUE), ended.out
    assert len(set(times.values())) == 2, "both machines take the same time"


if __name__ == "__main__":
    sys.exit(run_all())

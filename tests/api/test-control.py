#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a run says while it goes on (progress, data that come and go for nothing), and
what is left of one that is interrupted: its trace, its report, its record. TAP.

usage: test-control.py CONTROL MACHINE [ORRERY]

CONTROL is the program of control.c, MACHINE is gpus.xml, ORRERY the command, if it
is built.
"""

import os
import pty
import re
import signal
import subprocess
import sys

from programs import Programs, Skip, run_all, test

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__.strip())
CONTROL, MACHINE = sys.argv[1:3]
ORRERY = sys.argv[3] if len(sys.argv) > 3 else None
PROGRAMS = Programs(MACHINE)
ASSUMED = {"ORRERY_ASSUME": "kernel[some] = 50us; kernel[alone] = 100s; "
                            "kernel[gemm] = 1ms"}
LINE = (r"(\d+\.\d{6}) s of virtual time: ([\d,]+) of ([\d,]+) submitted tasks "
        r"ended, ([\d,]+) tasks/s")


def number(text):
    return int(text.replace(",", ""))


# -- progress ------------------------------------------------------------------


@test
def a_run_that_is_asked_for_progress_ends_with_a_line():
    ended = PROGRAMS.run([CONTROL, "some", "1234"], ORRERY_PROGRESS="1000",
                         **ASSUMED)
    ended.has_status(0)
    found = re.fullmatch(LINE + "\n", ended.err)
    assert found, ended.err
    assert found[2] == found[3] == "1,234", ended.err
    assert float(found[1]) > 1234 * 50e-6 / 7, ended.err


@test
def starpus_variable_asks_for_it_too():
    ended = PROGRAMS.run([CONTROL, "some", "1234"], STARPU_TASK_PROGRESS="1",
                         **ASSUMED)
    ended.has_status(0)
    last = ended.err.splitlines()[-1]
    assert number(re.fullmatch(LINE, last)[2]) == 1234, ended.err
    ended = PROGRAMS.run([CONTROL, "some", "1234"], STARPU_TASK_PROGRESS="1",
                         ORRERY_PROGRESS="0", **ASSUMED)
    ended.has_status(0)
    assert ended.err == "", ended.err


@test
def lines_come_while_it_runs_and_count_on():
    process = PROGRAMS.start([CONTROL, "for-ever"], ORRERY_PROGRESS="0.001",
                             **ASSUMED)
    lines = [process.stderr.readline() for _ in range(5)]
    process.send_signal(signal.SIGINT)
    ended = PROGRAMS.finish(process)
    ended.has_status(-signal.SIGINT)
    ended.saved("signal")
    found = [re.fullmatch(LINE + "\n", line) for line in lines]
    assert all(found), lines
    for before, after in zip(found, found[1:]):
        assert float(before[1]) <= float(after[1]), lines
        assert number(before[2]) <= number(after[2]), lines
        assert number(after[2]) <= number(after[3]), lines


@test
def without_the_variable_nothing_is_said():
    for more in ({}, {"ORRERY_PROGRESS": "0"}, {"ORRERY_PROGRESS": ""}):
        ended = PROGRAMS.run([CONTROL, "some", "10"], **ASSUMED, **more)
        ended.has_status(0)
        assert ended.err == "", ended.err


@test
def a_real_run_has_progress_too():
    ended = PROGRAMS.run([CONTROL, "some", "20"], ORRERY_PROGRESS="1000",
                         ORRERY_MACHINE=None, ORRERY_ASSUME=None,
                         STARPU_NCPU="2")
    ended.has_status(0)
    assert re.search(r"\d s: 20 of 20 submitted tasks ended", ended.err), ended.err


class Terminal:
    """A terminal, and what has been written to it."""

    def __init__(self):
        self.own, self.other = pty.openpty()
        self.text = ""

    def read(self):
        """More of it; False at its end."""
        try:
            more = os.read(self.own, 4096)
        except OSError: # nobody has it any more
            more = b""
        self.text += more.decode("utf-8", "replace")
        return bool(more)

    def start(self, command, **settings):
        folder = PROGRAMS.folder()
        process = subprocess.Popen(
            command, env=PROGRAMS.environment(folder, settings),
            stdin=subprocess.DEVNULL, stdout=self.other, stderr=self.other,
            start_new_session=True)
        os.close(self.other)
        return process

    def wait_for(self, pattern):
        while not re.search(pattern, self.text, re.S):
            assert self.read(), self.text

    def finish(self, process):
        while self.read():
            pass
        os.close(self.own)
        return process.wait(PROGRAMS.limit_s)


@test
def on_a_terminal_one_line_is_written_over_and_left_at_an_interrupt():
    terminal = Terminal()
    process = terminal.start([CONTROL, "for-ever"], ORRERY_PROGRESS="0.001",
                             **ASSUMED)
    terminal.wait_for(r"(\r\x1b\[K" + LINE + ".*){3}")
    process.send_signal(signal.SIGINT)
    assert terminal.finish(process) == -signal.SIGINT
    assert "\n" not in terminal.text.replace("ready\r\n", "").rstrip("\r\n"), (
        terminal.text)


@test
def on_a_terminal_a_run_that_ends_leaves_no_line():
    terminal = Terminal()
    process = terminal.start([CONTROL, "some", "30000"], ORRERY_PROGRESS="0.001",
                             ORRERY_TRACE=None, ORRERY_REPORT=None, **ASSUMED)
    assert terminal.finish(process) == 0
    # What is seen once all escapes are done.
    seen = [line.split("\r\x1b[K")[-1]
            for line in terminal.text.replace("\r\n", "\n").split("\n")]
    assert seen == ["done", ""], terminal.text


@test
def orrery_run_shows_progress_when_asked():
    if not ORRERY:
        raise Skip("the orrery command is not built")
    for words in (["run", "--progress", "--", CONTROL, "some", "7"],
                  ["replay", "--progress"]):
        if words[0] == "replay":
            folder = PROGRAMS.folder()
            record = os.path.join(folder, "r.rec")
            PROGRAMS.run([CONTROL, "some", "7"], folder, ORRERY_RECORD=record,
                         **ASSUMED).has_status(0)
            words.append(record)
        ended = PROGRAMS.run([ORRERY] + words, **ASSUMED)
        ended.has_status(0)
        ended.says("7 of 7 submitted tasks ended")


@test
def commands_show_it_on_a_terminal_without_asking():
    if not ORRERY:
        raise Skip("the orrery command is not built")
    folder = PROGRAMS.folder()
    for words in (["run"], ["trace", "-o", os.path.join(folder, "t.csv")],
                  ["record", "-o", os.path.join(folder, "r.rec")]):
        terminal = Terminal()
        process = terminal.start([ORRERY] + words + ["--", CONTROL, "for-ever"],
                                 ORRERY_TRACE=None, ORRERY_REPORT=None,
                                 **ASSUMED)
        terminal.wait_for(r"\r\x1b\[K" + LINE)
        os.killpg(process.pid, signal.SIGINT)
        assert terminal.finish(process) == 130, terminal.text


# -- data that come and go -----------------------------------------------------


@test
def data_that_come_and_go_while_no_task_ends_are_told():
    for rule in ("nextuse", "lru", "starpu"):
        ended = PROGRAMS.run([CONTROL, "come-and-go", "5000"], STARPU_NCUDA="1",
                             ORRERY_EVICTION=rule, STARPU_LIMIT_CUDA_MEM="4",
                             **ASSUMED)
        ended.has_status(0)
        ended.says("no task ends, but data come and go: ", "1,000 times",
                   "task `gemm' (number 3), which needs it, waits; ",
                   "--break-at")
        assert re.search(r"(A\(3,4\)|B) left CUDA 0 \(memory node 1\)",
                         ended.err), ended.err
        assert ended.err.count("come and go") == 1, ended.err
        assert "done" in ended.out


@test
def data_that_come_and_go_less_often_or_not_at_all_are_not():
    for n, limit in (("1500", "4"), ("5000", "60")):
        ended = PROGRAMS.run([CONTROL, "come-and-go", n], STARPU_NCUDA="1",
                             STARPU_LIMIT_CUDA_MEM=limit, **ASSUMED)
        ended.has_status(0)
        assert ended.err == "", ended.err


# -- interrupts ----------------------------------------------------------------


@test
def an_interrupt_leaves_trace_report_and_record():
    for name in ("trace.json", "trace.csv", "trace.rec"):
        folder = PROGRAMS.folder()
        trace = os.path.join(folder, name)
        record = os.path.join(folder, "r.rec")
        process = PROGRAMS.start([CONTROL, "for-ever"], folder,
                                 ORRERY_TRACE=trace, ORRERY_RECORD=record,
                                 **ASSUMED)
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        ended = PROGRAMS.finish(process)
        ended.has_status(-signal.SIGINT)
        assert '"exit": "signal"' in ended.left("report.json")
        assert ended.left(name), name
        text = ended.left("r.rec")
        assert text.startswith("orrery-record 1\n"), text[:80]
        assert re.match(r'end .*text="signal"', text.splitlines()[-1]), text[-200:]
        # It can be replayed, and those who do are told that it is not whole.
        again = PROGRAMS.run([ORRERY, "replay", record], **ASSUMED) if ORRERY \
            else None
        if again:
            again.has_status(0)
            again.says("signal")


class Interrupted:
    """A command that runs CONTROL, interrupted as on a terminal, where its
    program is, too, or alone, once that is ready."""

    def __init__(self, words, together, folder):
        fifo = os.path.join(folder, "ready")
        if not os.path.exists(fifo):
            os.mkfifo(fifo)
        process = subprocess.Popen(
            [ORRERY] + words + ["--", CONTROL, "for-ever", fifo], text=True,
            env=PROGRAMS.environment(folder, dict(
                ASSUMED, ORRERY_TRACE=None, ORRERY_REPORT=None)),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        with open(fifo, encoding="utf-8") as file:
            assert file.read() == "ready\n"
        (os.killpg if together else os.kill)(process.pid, signal.SIGINT)
        self.out, self.err = process.communicate(timeout=PROGRAMS.limit_s)
        assert process.returncode == 130, (process.returncode, self.err)
        assert "interrupted: " in self.err + self.out, self.err
        assert "submitted tasks" not in self.err, self.err # it was not asked


@test
def an_interrupted_command_keeps_what_its_program_has_saved():
    if not ORRERY:
        raise Skip("the orrery command is not built")
    for together in True, False:
        folder = PROGRAMS.folder()
        trace, record = (os.path.join(folder, name) for name in ("t.csv", "r.rec"))
        found = Interrupted(["run"], together, folder)
        assert "makespan" in found.out and "tasks " in found.out, found.out
        assert "the report is of what it had done" in found.err, found.err
        found = Interrupted(["trace", "-o", trace], together, folder)
        assert "t.csv has what it had done" in found.err, found.err
        with open(trace, encoding="utf-8") as file:
            assert sum(line.startswith("task,") for line in file) >= 80
        found = Interrupted(["record", "-o", record], together, folder)
        assert "r.rec has its calls until then" in found.err, found.err
        again = PROGRAMS.run([ORRERY, "replay", record], **ASSUMED)
        again.has_status(0)
        again.says("did not end with starpu_shutdown (signal)")
        assert not [name for name in os.listdir(folder) if ".rec." in name]


@test
def an_interrupted_comparison_counts_what_has_ended():
    if not ORRERY:
        raise Skip("the orrery command is not built")
    for together in True, False:
        found = Interrupted(["compare", "-m", MACHINE, "-s", "eager,lws", "-j",
                             "1"], together, PROGRAMS.folder())
        assert "interrupted: 0 of 2 have ended" in found.out, found.out
        assert "the same command goes on from there" in found.out, found.out


if __name__ == "__main__":
    sys.exit(run_all(2))

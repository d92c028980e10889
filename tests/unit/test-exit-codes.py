#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The exit codes of the orrery command, by a table: what each command documents is what
it ends with. TAP.

usage: test-exit-codes.py MANUAL.PY ORRERY CHOLESKY
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
MANUAL, ORRERY, CHOLESKY = map(os.path.abspath, sys.argv[1:4])
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(MANUAL))
from manual import commands_of  # noqa: E402

TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
M = ("-m", "h100-pcie-4")
PROGRAM = ("--", CHOLESKY, "-size", "1920", "-nblocks", "4")
FULL = "full.svg"  # a link to /dev/full: what renames onto it must not harm /dev


def orrery(*words, out=subprocess.PIPE):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("STARPU_")}
    return subprocess.run(
        [ORRERY, *words], cwd=TOP.name, stdin=subprocess.DEVNULL, stdout=out,
        stderr=subprocess.PIPE, text=True, check=False, timeout=100,
        env=dict(env, STARPU_HOME=TOP.name,
                 STARPU_SILENT="1"))


def all_commands(commands):
    for command in commands:
        yield command
        yield from all_commands(command.verbs)


COMMANDS = list(all_commands(commands_of(ORRERY)))

# Of commands that run programs, with what they need.
RUNNERS = (("try", *M, "-o", "out.rec"), ("run", *M), ("trace", *M, "-o", "out.csv"), ("record", "-o", "out.rec"),
           ("report", *M, "-o", "out.html"), ("explain", *M), ("bound", *M),
           ("compare", *M, "-s", "eager"),
           ("optimise", *M, "--time", "1s", "-o", "out.schedule"))
# Those that run one program once end as it does.
AS_PROGRAM = {"try", "run", "trace", "record", "report", "explain"}

SUCCEED = (
    ("run", *M, *PROGRAM),
    ("compare", *M, "-s", "eager,lws", *PROGRAM),
    ("trace", *M, "-o", "x.csv", "--graph", "x.graph", *PROGRAM),
    ("explain", "x.csv"),
    ("explain", "x.csv", "x.csv"),
    ("report", "-o", "x.html", "x.csv"),
    # Behind a file that takes no arguments options may follow.
    ("report", "x.csv", "-o", "y.html", "--plain"), ("explain", "x.csv", "--json"),
    ("explain", "x.csv", "--json", "x.csv"),
    ("bound", *M, *PROGRAM),
    ("record", "-o", "x.rec", *PROGRAM),
    ("record", "import", "-o", "y.rec", "x.rec"),
    ("replay", "x.rec", *M), ("run", "x.rec", *M), ("bound", "x.graph", "--json"),
    ("explain", "x.rec", *M, "-s", "eager,lws"), ("trace", "x.rec", *M, "-o", "y.csv"),
    ("sched", "list"), ("sched", "show", "eager", *M),
    ("machine", "list"), ("machine", "show", M[1]),
    ("machine", "show", M[1], "--svg", "m.svg"), ("machine", "diff", M[1], M[1]),
    ("machine", "doctor", M[1]), ("machine", "check", M[1]),
    ("machine", "copy", "c.xml", *M), ("machine", "export", M[1], "-o", "c.orrery"),
    ("perfmodel", "list"), ("env",))

DIFFERENT = ((("machine", "diff", M[1], "laptop-8"), 1),)

# What would be ignored, and what is too much.
WRONG = (
    ("compare", "a.json", "b.json", *M), ("compare", "a.json", "b.json", "--plot", "p.svg"),
    ("compare", *M, "--worse", "2%", *PROGRAM), ("report", "x.csv", "x.csv"),
    ("report", "x.csv", *M), ("explain", "x.csv", "x.csv", "x.csv"),
    ("explain", "x.csv", "-s", "eager"), ("machine", "show", M[1], "--svg", "a.png"),
    ("perfmodel", "plot", "m", "-o", "a.pdf"), ("calibrate", "bus", "--plot", "a.pdf"))

NOT_THERE = (
    (("explain", "none.csv"), 127), (("explain", "x.csv", "none.csv"), 1),
    (("report", "-o", "q.html", "none.csv"), 127),
    (("replay", "none.rec", *M), 1), (("record", "import", "-o", "z", "none"), 1),
    (("bound", "none.graph"), 1), (("machine", "show", "nowhere"), 1),
    (("machine", "diff", M[1], "nowhere"), 1), (("machine", "doctor", "nowhere"), 1),
    (("machine", "copy", "z.xml", "-m", "nowhere"), 1),
    (("machine", "import", "none.orrery"), 1),
    (("perfmodel", "import", "none.json"), 1), (("perfmodel", "show", "none"), 1),
    (("perfmodel", "export", "--json", "none"), 1), (("perfmodel", "plot", "none"), 1),
    (("perfmodel", "check", "-m", "nowhere"), 1), (("sched", "show", "none"), 1),
    (("compare", "none.json", "none2.json"), 2))

# Files that cannot be made are told before anything runs, those that cannot be filled
# when they are: the same code. (x.csv is no folder, and machine new makes folders.)
WRITERS = (
    ("report", *M, "-o", "{}", *PROGRAM), ("record", "-o", "{}", *PROGRAM),
    ("record", "import", "-o", "{}", "x.rec"),
    ("bound", *M, "--kind", "area", "--lp", "{}", *PROGRAM),
    ("bound", "--kind", "area", "--mps", "{}", "x.graph"),
    ("machine", "copy", "{}", *M), ("machine", "show", M[1], "--svg", "{}"),
    ("sched", "show", "modular-heft", *M, "--svg", "{}"))
# What takes long or needs another program before it writes.
LONG_WRITERS = (
    ("trace", *M, "-o", "{}", *PROGRAM), ("trace", *M, "--gantt", "{}", *PROGRAM),
    ("trace", *M, "-o", "q.csv", "--graph", "{}", *PROGRAM),
    ("trace", *M, "-o", "q.csv", "--schedule", "{}", *PROGRAM),
    ("bound", *M, "--plot", "{}", *PROGRAM),
    ("bound", *M, "--save-graph", "{}", *PROGRAM),
    ("compare", *M, "--plot", "{}", *PROGRAM), ("compare", *M, "--runs", "{}", *PROGRAM),
    ("optimise", *M, "-o", "{}", *PROGRAM), ("validate", "--plot", "{}", *PROGRAM),
    ("machine", "export", M[1], "-o", "x.csv/x.orrery"),
    ("machine", "new", "n", "--cpu", "EPYC 7763", "--cores", "8", "-o", "x.csv/x.xml"),
    ("calibrate", "bus", "--plot", "{}"), ("perfmodel", "plot", "m", "-o", "{}"))

PRINTERS = (("--help",), ("run", *M, *PROGRAM), ("compare", *M, "-s", "eager", *PROGRAM),
            ("explain", "x.csv"), ("bound", *M, *PROGRAM), ("sched", "list"),
            ("sched", "show", "eager", *M), ("machine", "list"), ("machine", "show", M[1]),
            ("machine", "doctor", M[1]), ("machine", "diff", M[1], "laptop-8"), ("env",),
            ("replay", "x.rec", *M), ("trace", *M, *PROGRAM))


def expect(code, words, out=subprocess.PIPE):
    done = orrery(*words, out=out)
    assert done.returncode == code, (code, done)
    assert code == 0 or done.stderr or done.stdout, done
    return done


@test
def what_succeeds_is_0():
    for words in SUCCEED:
        expect(0, words)


@test
def differences_and_what_is_not_there_are_told_by_the_code():
    for words, code in DIFFERENT + NOT_THERE:
        expect(code, words)


@test
def a_wrong_command_line_is_2_everywhere():
    for command in COMMANDS:
        done = orrery(*command.words, "--no-such-option")
        assert done.returncode == 2 and not done.stdout, (command.words, done)
        assert "--no-such-option" in done.stderr, (command.words, done)
        assert orrery(*command.words, "--help").returncode == 0, command.words


@test
def options_that_would_be_ignored_are_2():
    for words in WRONG:
        expect(2, words)


@test
def each_command_says_its_codes():
    for command in COMMANDS:
        if not command.verbs:
            text = " ".join(command.help.split())
            assert re.search(r"Exit codes: .*\b2 for a wrong command line", text), \
                command.words


@test
def the_end_of_the_program_is_the_one_of_commands_that_run_it_once():
    for runner in RUNNERS:
        own = runner[0] in AS_PROGRAM
        help_text = " ".join(orrery(runner[0], "--help").stdout.split())
        assert own == ("the program's own" in help_text), runner
        for script, code in (("exit 7", 7), ("kill -TERM $$", 128 + 15)):
            expect(code if own else 1, (*runner, "--", "sh", "-c", script))
        expect(127 if own else 1, (*runner, "--", "./nonexistent"))
        # Nothing to tell of a program that runs no task, but that it ran.
        expect(0 if runner[0] == "run" else 1, (*runner, "--", "true"))


@test
def interrupted_is_128_and_the_signal():
    for runner in RUNNERS:
        expect(128 + 2, (*runner, "--", "sh", "-c", "kill -INT $PPID; kill -INT $$"))
        help_text = " ".join(orrery(runner[0], "--help").stdout.split())
        assert runner[0] in AS_PROGRAM or "128 plus the signal" in help_text, runner


@test
def files_that_cannot_be_written_are_told():
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    link = os.path.join(TOP.name, FULL)
    os.symlink("/dev/full", link)
    for words in WRITERS + LONG_WRITERS:
        # Where data and pictures go neither is written in the place of the other.
        inside = "x.csv/x.csv" if words[:1] == ("trace",) and "--gantt" not in words \
            else "x.csv/x.svg"
        for path in (inside, FULL)[:1 + (words in WRITERS)]:
            done = expect(1, [word.format(path) for word in words])
            assert path[:6] in done.stderr, done
            assert os.readlink(link) == "/dev/full", words


@test
def standard_output_that_is_full_is_1():
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    for words in PRINTERS:
        with open("/dev/full", "wb") as full:
            expect(1, words, out=full)


run_all()

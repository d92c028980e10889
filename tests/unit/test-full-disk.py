#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The orrery command where there is no room: nothing that is not whole is
announced, and the exit code says so. Output goes to /dev/full, and to a small
file system of memory that only this test sees. TAP.

usage: test-full-disk.py ORRERY PERFMODEL_PLOT
"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402
from tools_util import load_models  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
ORRERY, PERFMODEL_PLOT = map(os.path.abspath, sys.argv[1:])
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
PROGRAM = os.path.join(TOP.name, "program")
FULL_AT_END = os.path.join(TOP.name, "fills")
MODELS = os.path.join(TOP.name, "models")
SMALL = os.path.join(TOP.name, "small")
ROOM = 0  # of the small file system when all but these bytes are taken

REPORT = """{"version": "0", "simulated": true, "machine": "m",
 "provenance": "derived", "scheduler": "eager", "makespan_us": 2500,
 "flops": 5e9, "tasks": 2, "transfers": 0, "transferred_bytes": 0,
 "evictions": 0, "wall_s": 0.25, "exit": "shutdown", "kernels": [],
 "workers": [{"name": "CPU 0", "busy_us": 1250, "tasks": 2}]}"""
TRACE = r"""%EventDef PajeSetState 20
7\t0.0\tw0\tW\tt0\tCPU0
20\t0.5\tw0\tWS\t"potrf"\t4\t""\t0\t0\t1\t1\t0\t0.1\t0\t0\t0\t-1\t"0"
10\t1.0\tw0\tWS\tI
"""


def make_programs():
    with open(PROGRAM, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\ncat >\"$ORRERY_REPORT\" <<'END'\n{REPORT}\nEND\n"
                   "if [ -n \"${ORRERY_TRACE-}\" ]; then\n"
                   f"printf '{TRACE}' >\"$ORRERY_TRACE\"\nfi\n".replace(
                       "%EventDef", "%%EventDef"))
    with open(FULL_AT_END, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nhead -c 1000000 /dev/zero >"
                   "\"${ORRERY_REPORT%/*}/../rest\" 2>/dev/null\nexit 0\n")
    os.chmod(PROGRAM, 0o755)
    os.chmod(FULL_AT_END, 0o755)
    os.mkdir(SMALL)
    made = load_models()
    made.write(MODELS, made.models())


def environment(**more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("ORRERY_", "STARPU_"))}
    env.update(STARPU_HOME=TOP.name, STARPU_PERF_MODEL_DIR=MODELS,
               STARPU_HOSTNAME="testbox", **more)
    return env


def into_full(*words):
    """The command with /dev/full as its standard output."""
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    with open("/dev/full", "wb") as full:
        return subprocess.run([*words], env=environment(), stdout=full,
                              stdin=subprocess.DEVNULL, timeout=100,
                              stderr=subprocess.PIPE, text=True, check=False)


def on_small(room, script, *words, **more):
    """A shell script at a file system of 64 KiB, mounted at SMALL, of which
    `room` KiB are free; "$@" are the words."""
    if not shutil.which("unshare"):
        raise Skip("unshare is missing")
    text = (f"mount -t tmpfs -o size=64k none {SMALL} || exit 99\n"
            f"head -c {(64 - room) * 1024} /dev/zero >{SMALL}/filler\n{script}")
    done = subprocess.run(["unshare", "-rm", "sh", "-c", text, "sh", *words],
                          env=environment(**more), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=100, text=True, check=False)
    if done.returncode == 99 or "unshare" in done.stderr:
        raise Skip("no file system can be mounted: " + done.stderr.strip())
    return done


def needs_gnuplot():
    if not shutil.which("gnuplot"):
        raise Skip("gnuplot is not installed")


def claim_stdout(*words):
    def function():
        done = into_full(ORRERY, *words)
        assert done.returncode == 1, done
        assert "standard output" in done.stderr and \
            "No space left" in done.stderr, done

    function.__name__ = "standard output that is full: " + " ".join(words[:2])
    test(function)


for words in (("--help",), ("machine", "list"), ("machine", "show", "laptop-8"),
              ("machine", "list", "--json"), ("perfmodel", "list"),
              ("perfmodel", "show", "gemm"), ("perfmodel", "check", "--json"),
              ("perfmodel", "export", "--json", "gemm"),
              ("run", "-m", "m", "--", PROGRAM),
              ("run", "-m", "m", "--json", "--", PROGRAM),
              ("compare", "-m", "m", "-s", "eager", "--", PROGRAM)):
    claim_stdout(*words)

LEFT = f"; code=$?; rm {SMALL}/filler; ls -l {SMALL} >&2; exit $code"


def claim_picture(name, suffix, *words):
    """No picture, and no word of one, where gnuplot had no room for it."""
    def function():
        needs_gnuplot()
        picture = os.path.join(SMALL, "picture" + suffix)
        done = on_small(2, '"$@"' + LEFT, ORRERY,
                        *(word.replace("PICTURE", picture) for word in words))
        assert done.returncode == 1, done
        assert "picture" + suffix in done.stderr, done
        assert picture not in done.stdout, f"announced: {done}"
        assert " picture" not in done.stderr.split("total")[1], \
            f"left behind: {done}"

    function.__name__ = f"no room for a picture: {name} {suffix}"
    test(function)


for ending in (".png", ".svg"):
    claim_picture("compare", ending, "compare", "-m", "m", "-s", "eager",
                  "--plot", "PICTURE", "--", PROGRAM)
    claim_picture("trace", ending, "trace", "-m", "m", "-o",
                  os.path.join(TOP.name, "t.paje"), "--gantt", "PICTURE", "--",
                  PROGRAM)
    claim_picture("perfmodel plot", ending, "perfmodel", "plot", "gemm", "-o",
                  "PICTURE")


def claim_early(*words):
    """The program is not even started."""
    def function():
        started = os.path.join(TOP.name, "started")
        program = os.path.join(TOP.name, "starts")
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n: >{started}\n")
        os.chmod(program, 0o755)
        done = subprocess.run([ORRERY, *words, "--", program],
                              env=environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=100, text=True, check=False)
        assert done.returncode == 1 and "nowhere/" in done.stderr, done
        assert "No such file" in done.stderr, done
        assert not os.path.exists(started), done

    function.__name__ = "a folder that there is not is noticed at once: " + \
        " ".join((words[0], words[-2]))
    test(function)


for words in (("trace", "-m", "m", "-o", "nowhere/t.paje"),
              ("trace", "-m", "m", "-o", TOP.name + "/t.paje", "--gantt",
               "nowhere/t.png"),
              ("trace", "-m", "m", "-o", TOP.name + "/t.paje", "--schedule",
               "nowhere/t.sched"),
              ("trace", "-m", "m", "-o", TOP.name + "/t.csv", "--graph",
               "nowhere/t.graph"),
              ("report", "-m", "m", "-o", "nowhere/r.html"),
              ("record", "-o", "nowhere/r.rec"),
              ("compare", "-m", "m", "--plot", "nowhere/c.png"),
              ("bound", "-m", "m", "--plot", "nowhere/b.png"),
              ("bound", "-m", "m", "--mps", "nowhere/b.mps"),
              ("bound", "-m", "m", "--save-graph", "nowhere/g.graph"),
              ("optimise", "-m", "m", "-o", "nowhere/o.sched"),
              ("validate", "--plot", "nowhere/v.png")):
    claim_early(*words)


def earlier(folder, name):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("earlier")
    return path


def claim_kept(lacking, trace, *words):
    """A run that has no room for its trace, or the graph, leaves those that were there
    before."""
    def function():
        folder = tempfile.mkdtemp(dir=TOP.name)
        program = os.path.join(folder, "lacks")
        with open(PROGRAM, encoding="utf-8") as file:
            text = file.read()
        if lacking == "trace":
            text = text.replace("ORRERY_TRACE-", "ORRERY_NOTHING-")
        with open(program, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(program, 0o755)
        paths = [earlier(folder, trace), earlier(folder, "kept.graph")]
        done = subprocess.run(
            [ORRERY, "trace", "-m", "m", "-o", paths[0], "--graph", paths[1], *words,
             "--", program], env=environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100, text=True,
            check=False)
        lost = paths[lacking == "graph"]
        assert done.returncode == 1, done
        assert lost + " was not written" in done.stderr and lost not in done.stdout, done
        for path in paths[lacking == "graph":]:
            with open(path, encoding="utf-8") as file:
                assert file.read() == "earlier", done

    function.__name__ = f"what was there before stays: no {lacking}, {trace} {words}"
    test(function)


for what in "trace", "graph":
    claim_kept(what, "kept.csv")
    claim_kept(what, "kept.csv", "--json")


@test
def a_file_cannot_have_the_name_of_a_folder():
    done = subprocess.run([ORRERY, "record", "-o", TOP.name, "--", PROGRAM],
                          env=environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=100, text=True, check=False)
    assert done.returncode == 1, done
    assert "record: -o " + TOP.name + ": that is a folder" in done.stderr, done


@test
def a_picture_goes_to_a_device_as_bytes():
    needs_gnuplot()
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    # A link to it: a command that renames a file onto it must not harm /dev.
    device = os.path.join(TOP.name, "device")
    os.symlink("/dev/full", device)
    done = subprocess.run(
        [ORRERY, "compare", "-m", "m", "-s", "eager", "--plot", device,
         "--", PROGRAM], env=environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100, text=True,
        check=False)
    assert done.returncode == 1 and "bars:" not in done.stdout, done
    assert device in done.stderr and os.path.islink(device), done


@test
def the_program_of_starpu_s_name_leaves_no_half_picture():
    """There is room for the data and the commands."""
    needs_gnuplot()
    done = on_small(40, f'cd {SMALL} && "$@"' + LEFT, PERFMODEL_PLOT, "-s",
                    "gemm")
    assert done.returncode == 1, done
    assert "starpu_gemm.svg" not in done.stdout, done
    assert "starpu_gemm.svg" not in done.stderr.split("total")[1], done


@test
def the_program_of_starpu_s_name_leaves_an_earlier_picture():
    needs_gnuplot()
    done = on_small(40, f'cd {SMALL} && printf earlier >starpu_gemm.svg && "$@"\n'
                    "code=$?; cat starpu_gemm.svg; ls; exit $code", PERFMODEL_PLOT,
                    "-s", "gemm")
    assert done.returncode == 1, done
    assert "starpu_gemm.svg cannot be written: No space" in done.stderr, done
    assert done.stdout.startswith("earlier") and ".tmp" not in done.stdout, done


@test
def a_full_folder_for_temporary_files_is_named():
    done = on_small(0, '"$@"', ORRERY, "run", "-m", "m", "--", PROGRAM,
                    TMPDIR=SMALL)
    assert done.returncode == 1 and "never started" not in done.stderr, done
    assert "TMPDIR" in done.stderr and SMALL in done.stderr, done


@test
def a_folder_that_fills_while_the_program_runs_is_named():
    done = on_small(40, '"$@"', ORRERY, "run", "-m", "m", "--", FULL_AT_END,
                    TMPDIR=SMALL)
    assert done.returncode == 1 and "never started" not in done.stderr, done
    assert "TMPDIR" in done.stderr and SMALL in done.stderr, done


make_programs()
sys.exit(run_all(at_once=2))

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery record and orrery replay, records in the place of programs, files that
are no records. Prints TAP.

usage: test-record-command.py ORRERY RECORDED PLAYER
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

MACHINE = "h100-pcie-4"
ASSUME = "kernel[*] = 100us"
tap = Tap()


def without_seconds(bounds):
    """What orrery bound printed, but how long each bound took."""
    return re.sub(r"(yes|no|-) +\d+\.\d+  ", r"\1  ", bounds)


def environment(**more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("STARPU_") and
           name not in ("ORRERY_RECORD", "ORRERY_TRACE", "ORRERY_REPORT",
                        "ORRERY_MACHINE", "ORRERY_SET")}
    return {**env, "STARPU_SILENT": "1", "STARPU_PERF_MODEL_DIR": "/nonexistent",
            **more}


class Ran:
    def __init__(self, words, **more):
        done = subprocess.run(words, env=environment(**more), text=True,
                              capture_output=True, errors="replace",
                              timeout=100, check=False)
        self.code, self.out, self.err = (done.returncode, done.stdout,
                                         done.stderr)
        self.words = words

    def __str__(self):
        return "%s ended with %d\n%s%s" % (self.words, self.code, self.out,
                                           self.err)


def claim(text, passed, *details):
    tap.claim(text, bool(passed), *details)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, text):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def traces(recorded, player, folder, *arguments, ending=""):
    """Of a run and of its replay, and the record."""
    paths = [os.path.join(folder, name)
             for name in ("run" + ending, "again" + ending, "rec")]
    simulated = {"ORRERY_MACHINE": MACHINE, "STARPU_SCHED": "dmda",
                 "ORRERY_ASSUME": ASSUME}
    run = Ran([recorded, *arguments], ORRERY_TRACE=paths[0],
              ORRERY_RECORD=paths[2], **simulated)
    again = Ran([player, paths[2]], ORRERY_TRACE=paths[1], **simulated)
    if run.code or again.code:
        return run, again, paths[2]
    return read(paths[0]), read(paths[1]), paths[2]


def test_calls(recorded, player, folder):
    run, again, record = traces(recorded, player, folder, "filter")
    claim("models that ask, pauses, waits, limits, copies, an odd filter: the "
          "replay is the run", run == again and b"\n20\t" in run, run, again)
    run, again, record = traces(recorded, player, folder, "filter",
                                ending=".csv")
    claim("the calls that wait have the same names in both", run == again and
          b'"starpu_data_acquire"' in run and b'"starpu_tag_wait"' in run,
          run, again)
    text = read(record).decode()
    claim("a record of the main thread's calls alone lacks nothing",
          "note" not in text, text)
    for word, said in (("callback", "calls in kernels and callbacks"),
                       ("poll", "questions what has ended"),
                       ("thread", "calls of other threads"),
                       ("synchronous", "waits in kernels, callbacks and other "
                        "threads"),
                       ("knob", "performance knobs")):
        run, again, record = traces(recorded, player, folder, word)
        claim("%s: the record says that" % word,
              said in read(record).decode() and isinstance(again, bytes),
              again, read(record).decode())


def test_record(orrery, recorded, folder):
    path = os.path.join(folder, "one.rec")
    ran = Ran([orrery, "record", "-o", path, "-m", MACHINE, "-s", "dmda",
               "--assume", ASSUME, "--", recorded, "callback"])
    claim("orrery record counts what is in the file and says what it lacks",
          ran.code == 0 and "29 tasks" in ran.out and
          "callbacks" in ran.err, ran)
    ran = Ran([orrery, "record", "-o", path, "-m", MACHINE, "-s", "dmda",
               "--assume", ASSUME, "--json", "--", recorded, "callback"])
    said = json.loads(ran.out) if ran.code == 0 else {}
    claim("as JSON it says the same",
          said.get("tasks") == 29 and said["record"] == path and
          said["ended"] is None and
          any("callbacks" in line for line in said["lacks"]), ran)
    before = read(path)
    ran = Ran([orrery, "record", "-o", path, "--", "true"])
    claim("a program without the library is an error, the file as it was",
          ran.code == 1 and "was not written" in ran.err and
          read(path) == before, ran)
    ran = Ran([orrery, "record", "-o", path, "-m", MACHINE, "--assume", ASSUME,
               "--", recorded, "quit"])
    claim("a program that leaves early: the record has what was called",
          b'text="returned"' in read(path) and "did not end" in ran.err, ran)
    ran = Ran([orrery, "run", "-m", MACHINE, "--assume", ASSUME, "--", recorded,
               "quit"])
    claim("one whose tasks have ended by then is no failure of orrery run",
          ran.code == 0 and "did not end" not in ran.err, ran)
    write(path, before)
    for words, code, said in (
            (["record", "--", "true"], 2, "-o FILE"),
            (["record", "-o", path], 2, "which program"),
            (["record", "-o", os.path.join(folder, "no/such"), "--", recorded],
             1, "No such file"),
            (["replay"], 2, "which record"),
            (["replay", path, path], 2, "is no tasks.rec"),
            (["replay", path, path, path], 2, "One file"),
            (["replay", "/nonexistent", "-m", MACHINE], 1, "No such file"),
            (["replay", folder, "-m", MACHINE], 1, "is a folder"),
            (["replay", path], 1, "no kernels"),
            (["run", "-m", MACHINE, "--", path, "-x"], 1, "no arguments")):
        ran = Ran([orrery, *words])
        claim("orrery %s: says %s" % (" ".join(words[:1]), said),
              ran.code == code and said in ran.err, ran)
    ran = Ran([recorded], ORRERY_MACHINE=MACHINE, ORRERY_ASSUME=ASSUME,
              ORRERY_RECORD="/dev/full")
    claim("a full disk is said", "was not written to /dev/full" in ran.err,
          ran)
    return path


def makespan(ran):
    report = json.loads(ran.out)
    return report["makespan_us"], report["tasks"]


def test_replay(orrery, recorded, folder):
    path = os.path.join(folder, "two.rec")
    Ran([orrery, "record", "-o", path, "-m", MACHINE, "-s", "dmda",
         "--assume", ASSUME, "--", recorded])
    options = ["-m", "laptop-8", "-s", "lws", "--assume", ASSUME]
    program = Ran([orrery, "run", *options, "--json", "--", recorded])
    for words in (["replay", path, *options, "--json"],
                  ["replay", *options, "--json", path],
                  ["run", *options, "--json", "--", path]):
        ran = Ran([orrery, *words])
        claim("orrery %s gives the program's makespan" % " ".join(words[:1]),
              ran.code == 0 and makespan(ran) == makespan(program), ran,
              program)
    ran = Ran([orrery, "replay", path, "-m", MACHINE, "--assume", ASSUME])
    claim("without a scheduler it is the recorded one",
          "scheduler   dmda\n" in ran.out, ran)
    ran = Ran([orrery, "replay", path, "-m", MACHINE, "--assume", ASSUME,
               "--set", "cuda.count = 0"])
    claim("edits apply", ran.code == 0 and "\nCUDA " not in ran.out and
          "4 -> 0 CUDA devices" in ran.out, ran)
    ran = Ran([orrery, "compare", "-m", "laptop-8," + MACHINE, "-s",
               "eager,dmda", "--assume", ASSUME, "--", path])
    claim("orrery compare takes it", ran.code == 0 and
          sum(line.startswith(("laptop-8 ", MACHINE + " "))
              for line in ran.out.splitlines()) == 4, ran)
    out = os.path.join(folder, "paje")
    ran = Ran([orrery, "trace", *options, "-o", out, "--", path])
    claim("orrery trace takes it", os.path.exists(out), ran)
    ran = Ran([orrery, "bound", *options, "--", path])
    claim("orrery bound takes it", ran.code == 0 and "critical path" in ran.out,
          ran)
    other = Ran([orrery, "bound", *options, path])
    claim("also without dashes", other.code == 0 and
          without_seconds(other.out) == without_seconds(ran.out), other)
    for command in ("run", "compare", "trace", "explain", "report", "optimise",
                    "bound"):
        ran = Ran([orrery, command, "--help"])
        claim("the help of %s says that it takes a record" % command,
              "may stand in the place of the program" in
              ran.out.replace("\n", " "), ran)
    ran = Ran([orrery, "validate", path])
    claim("orrery validate says that a record is not enough",
          ran.code == 2 and "no kernels that could run for real" in ran.err, ran)
    return path


def test_break(orrery, player, folder, good):
    simulated = {"ORRERY_MACHINE": MACHINE, "ORRERY_ASSUME": ASSUME,
                 "STARPU_SCHED": "eager"}
    paths = [os.path.join(folder, name) for name in ("whole", "broken")]
    Ran([player, good], ORRERY_TRACE=paths[0], **simulated)
    ran = Ran([player, good], ORRERY_TRACE=paths[1], ORRERY_BREAK_AT="700us",
              **simulated)
    claim("a break tells what workers do and tasks wait for, and the run goes "
          "on as it does without", ran.code == 0 and
          "At 0.000700 s of virtual time" in ran.err and
          "\n  CPU 0: " in ran.err and " executes `" in ran.err and
          "waits for " in ran.err and read(paths[0]) == read(paths[1]), ran)
    for words in (["replay", "--break-at", "700us", good],
                  ["run", "--break-at=0.7ms", "--", good]):
        ran = Ran([orrery, *words], **simulated)
        claim("orrery %s --break-at" % words[0],
              ran.code == 0 and "At 0.000700 s" in ran.err, ran)
    ran = Ran([player, good], ORRERY_BREAK_AT="1000s", STARPU_SILENT="0", **simulated)
    claim("a date that the run does not come to is told",
          ran.code == 0 and "ORRERY_BREAK_AT=1000s" in ran.err and
          "ended before that" in ran.err and "\nAt " not in "\n" + ran.err, ran)
    ran = Ran([player, good], ORRERY_BREAK_AT="soon", **simulated)
    claim("a date that is none is an error that says how to write one",
          ran.code == 1 and "19.0s, 250ms or 30us" in ran.err, ran)


def test_binary(orrery, player, folder, good):
    """The compact form: the same calls, every end of the file is refused."""
    small = os.path.join(folder, "small.recb")
    back = os.path.join(folder, "back.rec")
    there = Ran([orrery, "record", "import", "-o", small, good])
    again = Ran([orrery, "record", "import", "-o", back, small])
    claim("a record, made compact and text again, is the same",
          there.code == again.code == 0 and read(back) == read(good) and
          2 * os.path.getsize(small) < os.path.getsize(good), there, again)
    simulated = {"ORRERY_MACHINE": MACHINE, "ORRERY_ASSUME": ASSUME}
    paths = [os.path.join(folder, name) for name in ("text", "bytes")]
    runs = [Ran([player, record], ORRERY_TRACE=path, **simulated)
            for record, path in zip((good, small), paths)]
    claim("both have the same trace", not any(run.code for run in runs) and
          read(paths[0]) == read(paths[1]), *runs)
    whole = read(small)
    bad = os.path.join(folder, "bad.recb")
    failed = []
    for n in range(24, len(whole), 13):
        write(bad, whole[:n])
        ran = Ran([orrery, "replay", bad, "-m", MACHINE])
        if ran.code != 1 or "bad.recb:" not in ran.err:
            failed.append(ran)
    claim("one that ends anywhere is refused with the call", not failed,
          *failed[:2])
    head = b"orrery-record 1 binary\n"
    for text, said in ((b"\x01\xff", "of this version has not"),
                       (b"\x02\x00\x63", "this call has not"),
                       (b"\x03\x00\x09\x81", "ends within a field"),
                       (b"\xff\xff\xff\xff\xff\x01", "than there can be"),
                       (b"\xff\xff\xff\x7f\x00", "cut off"),
                       (b"\x05\x00\x00\x02ab", "without its end"),
                       (whole[len(head):] + b"\x01\x00", "behind the last")):
        write(bad, head + text)
        ran = Ran([orrery, "replay", bad, "-m", MACHINE])
        claim("compact %r: %s" % (text[-6:], said),
              ran.code == 1 and said in ran.err, ran)


def test_numbers(orrery, folder):
    """Each is written with as few digits as give it again, however it was written."""
    numbers = [0.001, 0.012, 0.3, 1.5, 12.34, 123.456, 100.001, 999999999.999,
               0.0005, 0.1234567, 1e-7, 1 / 3, 2.0000000000000004, 1e9 + 0.25, 1e300]
    lines = ['orrery-record 1', 'run machine="here"',
             'codelet 1 name="k" cpu=1 buffers=0']
    lines += ['submit %d codelet=1 times=%s' % (i + 1, format(x, ".17g"))
              for i, x in enumerate(numbers)]
    lines.append("end value=%d" % (len(lines) - 1))
    source, back = (os.path.join(folder, name) for name in ("long.rec", "short.rec"))
    write(source, "\n".join(lines) + "\n")
    ran = Ran([orrery, "record", "import", "-o", back, source])
    found = re.findall(r"times=(\S+)", read(back).decode()) if ran.code == 0 else []
    claim("numbers are short and exact", [float(x) for x in found] == numbers and
          all(len(x) <= len(repr(number)) for x, number in zip(found, numbers)),
          ran, found)


def test_wrong_files(orrery, player, folder, good):
    bad = os.path.join(folder, "bad.rec")
    lines = read(good).decode().splitlines(keepends=True)
    simulated = {"ORRERY_MACHINE": MACHINE, "ORRERY_ASSUME": ASSUME}
    failed = []
    for n in range(len(lines)):
        for text in ("".join(lines[:n]), "".join(lines[:n]) + lines[n][:-1],
                     "".join(lines[:n]) + lines[n][:len(lines[n]) // 2]):
            write(bad, text)
            ran = Ran([orrery, "replay", bad, "-m", MACHINE])
            if ran.code != 1 or "bad.rec:" not in ran.err:
                failed.append(ran)
    claim("a record that ends anywhere is refused with the line", not failed,
          *failed[:2])
    head, tail = "orrery-record 1\nrun\n", "end value=%d\n"
    data = 'data 1 kind="vector" shape=8,8,64,0\n'
    codelet = "codelet 1 cpu=1 buffers=1 modes=3\n"
    for text, said in (
            ("", "is no record"), ("hello\n", "is no record"), ("hello", "orrery record -o FILE"),
            ("orrery-record 2\n", "version 2"),
            (b"orrery-record 1\nrun\0\n", "byte 0"),
            (head + "frob 1\n", "bad.rec:3: \"frob\" is no call"),
            (head + "data\n", "lacks its number"),
            (head + "data x\n", "where a number"),
            (head + "data 1 frob=1\n", "no field of `data'"),
            (head + "data 1 home=\n", "where a number"),
            (head + "data 1 kind=x\n", "quotes"),
            (head + "data 1 kind=\"x\n", "last quote"),
            (head + "data 1 kind=\"\\q\"\n", "is none of"),
            (head + "submit 99999999999999999999\n", "64 bits"),
            (head + "submit 1 data=1\n", "without `:'"),
            (head + "submit 1 data=1:\n", "without an access mode"),
            (head + "switch 1 how=x\n", "means nothing"),
            (head + "end value=7\n", "lines are missing"),
            (head + tail % 1 + data, "behind the last")):
        write(bad, text)
        ran = Ran([orrery, "replay", bad, "-m", MACHINE])
        claim("%r: %s" % (text[-25:], said), ran.code == 1 and said in ran.err,
              ran)
    for text, said in (
            ("submit 1 codelet=3\n", "no codelet 3"),
            ("submit 1 place=4\n", "no place 4"),
            ('place 1 text="a.c" value=2\nplace 1 text="b.c"\n', "a place 1 already"),
            ("submit 99999999\n", "of so few calls"),
            (codelet + "submit 1 codelet=1 data=5:rw\n", "no datum 5"),
            (codelet + "submit 1 codelet=1\n", "0 data for a codelet of 1"),
            ("codelet 1 buffers=3 modes=1\n", "3 buffers with 1 modes"),
            ("codelet 1 model=4\n", "no model 4"),
            ('model 1 kind="x"\n', "which there is not"),
            ('model 1 terms=3 exponents=1,2\n', "3 terms with 2 exponents"),
            ("data 1\n", "without a kind"),
            ('data 1 kind="x"\n', "which there is not"),
            ('data 1 kind="vector" shape=1\n', "lacks numbers"),
            ('data 1 kind="vector" shape=5000000000,1,1,1\n', "32 bits"),
            (data + data, "datum 1 already"),
            (data + "partition 1 parts=2\n", "not those of the lines before"),
            (data + "unpartition 1\n", "is not partitioned"),
            (data + "switch 1\n", "without how="),
            (data + 'part 2 of=1 kind="csr" shape=1,1,0,8 start=0\n',
             "no place"),
            ("wait-task 1\n", "cannot be waited for"),
            ("run\n", "a second `run'"),
            (codelet + data + "submit 1 codelet=1 data=1:rw ordered=1,1\n",
             "ordered= is not")):
        calls = text.count("\n") + 1
        write(bad, head + text + tail % calls)
        ran = Ran([player, bad], **simulated)
        claim("%r: %s" % (text[-40:], said),
              ran.code == 1 and said in ran.err and "bad.rec:" in ran.err, ran)


def main():
    orrery, recorded, player = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        test_calls(recorded, player, folder)
        test_record(orrery, recorded, folder)
        good = test_replay(orrery, recorded, folder)
        test_wrong_files(orrery, player, folder, good)
        test_binary(orrery, player, folder, good)
        test_numbers(orrery, folder)
        test_break(orrery, player, folder, good)
    tap.end()


if __name__ == "__main__":
    main()

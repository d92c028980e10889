#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sizes of data in records of OpenMP programs, by --sizes: memory of all sorts, what is not
known, replays that transfer. TAP.

usage: test-sizes.py ORRERY
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "../unit")]
import compilers  # noqa: E402  pylint: disable=wrong-import-position
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

ORRERY = os.path.abspath(sys.argv[1])
TAP = Tap()


def orrery(*words):
    return subprocess.run([ORRERY, *words], capture_output=True, text=True, check=False,
                          env=dict(os.environ, OMP_NUM_THREADS="2"), timeout=100)


def sizes_of(record):
    """{address: bytes} of the data of a record."""
    with open(record, encoding="utf-8") as file:
        text = file.read()
    names = dict(re.findall(r'^name (\d+) name="(0x[0-9a-f]+)"', text, re.M))
    data = re.findall(r"^data (\d+) kind=\S+(?:.* shape=(\d+))?", text, re.M)
    return {names[number]: int(size or 0) for number, size in data}


def transfers(record):
    done = orrery("replay", record, "-m", "h100-pcie-4", "-s", "dmdas", "--json",
                  "--assume", "kernel[*] on cuda = 1us; kernel[*] on cpu = 10ms")
    report = json.loads(done.stdout) if done.returncode == 0 else {}
    return report.get("transferred_bytes", done.stdout + done.stderr)


def test_compiler(folder, compiler, words):
    program = os.path.join(folder, "memory-" + compiler)
    record = os.path.join(folder, compiler + ".rec")
    wrong = compilers.compile_program(words, os.path.join(HERE, "memory.c"), program)
    TAP.claim("%s compiles the program" % compiler, not wrong, wrong)
    done = orrery("record", "--sizes", "--grain", "0", "-o", record, "--", program)
    said = dict(line.split() for line in done.stdout.splitlines() if line.startswith("0x"))
    right = {address: int(size) for address, size in said.items()}
    found = sizes_of(record) if done.returncode == 0 else {}
    wrong = {a: (right.get(a), found.get(a)) for a in {*right, *found}
             if right.get(a) != found.get(a)}
    TAP.claim("%s: data have the size of their share of an allocation or a variable" % compiler,
              len(right) > 30 and not wrong, wrong, done.stderr)
    TAP.claim("%s: what has no size is counted" % compiler,
              "%d of %d data have the size" % (len(right) - 2, len(right)) in done.stderr and
              "\n  2 data are in memory that is no allocation" in done.stderr, done.stderr)
    moved = transfers(record)
    TAP.claim("%s: a replay with GPUs transfers them" % compiler,
              isinstance(moved, (int, float)) and moved > 0, moved)
    done = orrery("record", "--grain", "0", "-o", record, "--", program)
    TAP.claim("%s: without --sizes they have none, and the option is named" % compiler,
              set(sizes_of(record).values()) == {0} and "--sizes" in done.stderr, done.stderr)
    TAP.claim("%s: and nothing is transferred" % compiler, transfers(record) == 0)


with tempfile.TemporaryDirectory(prefix="orrery-openmp-") as where:
    have, lack = compilers.find(where)
    for one, words_of in have.items():
        test_compiler(where, one, words_of)
    for one, why in lack.items():
        TAP.skip("programs of %s" % one, why)
TAP.end()

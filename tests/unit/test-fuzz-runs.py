#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tools/project/fuzz.py, with which ./check --full runs fuzz targets: what it runs, and what
it says of what it finds. meson, ninja, clang and the targets are scripts here. Prints TAP.

    test-fuzz-runs.py FUZZ.PY
"""
import os
import subprocess
import sys
import tempfile

import tools_util as util

sys.dont_write_bytecode = True

CLANG = """#!/bin/sh
echo "$HAS_FUZZER"
"""
MESON = """#!/bin/sh
echo "$CC $*" >"$2/options"
touch "$2/build.ninja"
"""
# What libFuzzer says at its end, or what is found.
NINJA = """#!/bin/sh
[ "$BREAKS" ] && echo "fuzz-one.c:3: no such thing" && exit 1
exit 0
"""
WELL = """#!/bin/sh
echo "$@" >>words
echo "#90 DONE cov: 41 ft: 60" >&2
echo "stat::number_of_executed_units: 90" >&2
"""
CRASHES = """#!/bin/sh
echo "ERROR: AddressSanitizer: heap-buffer-overflow in parse f.c:3" >&2
exit 77
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def call(fuzz, folder, *words, **more):
    env = {"PATH": os.path.join(folder, "bin") + ":/usr/bin:/bin",
           "HAS_FUZZER": os.path.join(folder, "there"), **more}
    return subprocess.run([sys.executable, "-B", fuzz, os.path.join(folder, "source"),
                           os.path.join(folder, "build"), *words], env=env,
                          capture_output=True, text=True, check=False)


def prepare(folder):
    for name, text in (("clang", CLANG), ("meson", MESON), ("ninja", NINJA)):
        write(os.path.join(folder, "bin", name), text)
    for name in ("one", "two"):
        write(os.path.join(folder, f"source/tests/fuzz/fuzz-{name}.c"), "")
        write(os.path.join(folder, f"source/tests/fuzz/{name}/seed"), "")
    write(os.path.join(folder, "source/tests/fuzz/two.dict"), "")
    os.mkdir(os.path.join(folder, "build"))
    write(os.path.join(folder, "build/tests/fuzz/fuzz-one"), WELL)
    write(os.path.join(folder, "build/tests/fuzz/fuzz-two"), WELL)


def tests(tap, fuzz, folder):
    prepare(folder)
    done = call(fuzz, folder, "-s", "7", "-j", "1")
    tap.claim("all targets run, and how much they have tried is said",
              done.returncode == 0 and "1..2\n" in done.stdout and
              "ok 1 - one: 90 inputs, 41 edges of the program reached" in done.stdout and
              "ok 2 - two: 90" in done.stdout, done.stdout + done.stderr)
    with open(os.path.join(folder, "build/words"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    tap.claim("each for so long, on its seeds, with its words where it has some",
              len(lines) == 2 and all("-max_total_time=7 " in line for line in lines) and
              lines[0].endswith("source/tests/fuzz/one") and "-dict" not in lines[0] and
              "tests/fuzz/two.dict" in lines[1], "\n".join(lines))
    with open(os.path.join(folder, "build/options"), encoding="utf-8") as file:
        options = file.read()
    tap.claim("the build is clang's, with libFuzzer", options.startswith("clang ") and
              "-Dfuzzers=true" in options, options)
    tap.claim("targets are tests, and these need the examples",
              "-Dtests=enabled" in options and "-Dexamples=disabled" not in options, options)
    write(os.path.join(folder, "build/tests/fuzz/fuzz-one"), CRASHES)
    done = call(fuzz, folder)
    tap.claim("what is found fails, and is said; others run all the same",
              done.returncode == 1 and "not ok 1 - one" in done.stdout and
              "# ERROR: AddressSanitizer: heap-buffer-overflow" in done.stdout and
              "ok 2 - two" in done.stdout, done.stdout)
    done = call(fuzz, folder, "-s", "7", "two")
    tap.claim("only targets that are named", done.returncode == 0 and
              "1..1\nok 1 - two" in done.stdout, done.stdout)
    done = call(fuzz, folder, "three")
    tap.claim("a target that is not there is named, and those that are",
              done.returncode == 2 and "no target three: they are one two" in done.stderr,
              done.stderr)
    done = call(fuzz, folder, BREAKS="1")
    tap.claim("a build that fails is no pass", done.returncode == 1 and
              "Bail out!" in done.stdout and "# fuzz-one.c:3: no such thing" in done.stdout,
              done.stdout)
    done = call(fuzz, folder, HAS_FUZZER="libclang_rt.fuzzer-x86_64.a")
    tap.claim("without libFuzzer it is skipped, with Debian's package",
              done.returncode == 0 and "# SKIP" in done.stdout and
              "package libclang-rt-dev" in done.stdout, done.stdout)


def main():
    tap = util.Tap()
    with tempfile.TemporaryDirectory() as folder:
        tests(tap, os.path.abspath(sys.argv[1]), folder)
    tap.end()


if __name__ == "__main__":
    main()

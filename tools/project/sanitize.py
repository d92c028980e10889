#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Run tests under a sanitizer or valgrind. Called by ./check --sanitize.

usage: sanitize.py thread|address|valgrind BUILD [--tenth[=SEED]] [TEST...]
Builds in BUILD, which is configured, what the tests need, and runs them: those that
are named, else those of the suites that are the tool's (SUITES). What cannot be run
so is listed in tests/sanitizers/not-run, with reasons; what libraries that are not
ours do, in the *.supp beside it. What is reported is kept in BUILD/reports, and fails
the run whether a test has noticed it or not. The last line counts.
--tenth runs one test of ten: those of the SEED, else of today; ten seeds in a row are all.
"""

import collections
import fnmatch
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zlib

import count_tests

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = os.path.join(ROOT, "tests", "sanitizers")
DEVICES = ("opencl", "loopback", "gpu")
SUITES = {
    "address": ("unit", "api", "sim", "stress", "oom") + DEVICES,
    "thread": ("api", "stress") + DEVICES,
    "valgrind": ("unit", "api"),
}
# How much longer a test may take.
TIMES = {"address": 4, "thread": 10, "valgrind": 30}
# The first line of a report that says what it is.
SUMMARY = re.compile(r"SUMMARY: (\w+Sanitizer: .*)|(\S+:\d+:\d+: runtime error: .*)|"
                     r"^==\d+== (?!  )(\S.*\S)\s*$")
# What a test has asked for that cannot be: it was refused, and there is no report.
REFUSED = re.compile(r"==\d+==WARNING: AddressSanitizer failed to allocate ")
# Where gcc's two runtimes are two libraries, that for undefined behaviour writes to
# standard error alone, and goes on unless it is told not to.
UNDEFINED = re.compile(r"\S+:\d+:\d+: runtime error: ")
SCRIPT = "a script: valgrind would look at its interpreter"


def not_run(path, tool):
    """Pairs of pattern and reason of a file with lines "TOOL[,TOOL] PATTERN REASON"."""
    pairs = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            words = line.split(None, 2)
            tools = words[0].split(",")
            if len(words) < 3 or not set(tools) <= set(SUITES):
                raise ValueError(f"{path}:{number}: not \"TOOL PATTERN REASON\"")
            if tool in tools:
                pairs.append((words[1], words[2].strip()))
    return pairs


def suites_of(test):
    return {suite.split(":")[-1] for suite in test["suite"]}


def choose(tests, tool, build, names, left_out):
    """Names of the tests to run, and pairs of name and reason of those that cannot be."""
    chosen, skipped = [], []
    for test in tests:
        if names:
            if not any(fnmatch.fnmatch(test["name"], name) for name in names):
                continue
        elif not suites_of(test) <= set(SUITES[tool]):
            continue
        reason = next((reason for pattern, reason in left_out
                       if fnmatch.fnmatch(test["name"], pattern)), None)
        if tool == "valgrind" and not test["cmd"][0].startswith(build + os.sep):
            reason = SCRIPT
        if reason:
            skipped.append((test["name"], reason))
        else:
            chosen.append(test["name"])
    return chosen, skipped


def tenth_of(names, seed):
    """Those whose turn it is: each with one seed of ten, wherever others come and go."""
    return [name for name in names if (zlib.crc32(name.encode()) + seed) % 10 == 0]


def read_words(words):
    """Seed or None, and the names of tests."""
    seed, names = None, []
    for word in words:
        if word == "--tenth":
            seed = int(time.time() // 86400)
        elif re.fullmatch(r"--tenth=\d+", word):
            seed = int(word.partition("=")[2])
        elif word.startswith("-"):
            raise ValueError(word)
        else:
            names.append(word)
    return seed, names


def summary_of(path):
    """What a file with reports says: a line for each."""
    found, refused = [], True
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            refused = refused and bool(REFUSED.match(line))
            match = SUMMARY.search(line)
            if match and match[3] and found:
                continue # valgrind: the first line of the first one
            if match:
                found.append(next(filter(None, match.groups())))
    return found or ([] if refused else ["a report without a summary"])


def reports_in(folder):
    """How often each was seen, and a file that has it."""
    seen, files = collections.Counter(), {}
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        if os.path.getsize(path):
            for line in summary_of(path):
                seen[line] += 1
                files.setdefault(line, path)
    return seen, files


def keep_undefined(log, folder):
    """Makes files with reports of what tests have printed, as meson's log has it."""
    with open(log, encoding="utf-8") as file:
        for number, line in enumerate(file):
            test = json.loads(line)
            text = test.get("stdout", "") + test.get("stderr", "")
            first = UNDEFINED.search(text)
            if first:
                path = os.path.join(folder, f"undefined.{number}")
                with open(path, "w", encoding="utf-8") as report:
                    report.write(text[first.start():])


def log_of(tool, build):
    """Where meson writes what tests have said, without the ending: it names the wrapper."""
    return os.path.join(build, "meson-logs",
                        "testlog-valgrind" if tool == "valgrind" else "testlog")


def options(tool, folder):
    """The environment of the tests, and arguments of meson."""
    log = "log_path=" + os.path.join(folder, "r")
    supp = "suppressions=" + os.path.join(FILES, "{}.supp")
    if tool == "thread":
        return {"TSAN_OPTIONS": f"{log}:{supp.format('thread')}:second_deadlock_stack=1"}, []
    if tool == "address":
        # Some tests ask for more memory than there can be.
        return {"ASAN_OPTIONS": f"{log}:detect_stack_use_after_return=1:"
                "allocator_may_return_null=1",
                "LSAN_OPTIONS": supp.format("leak") + ":print_suppressions=0",
                "UBSAN_OPTIONS": f"{log}:{supp.format('undefined')}:print_stacktrace=1:"
                "halt_on_error=1:exitcode=99"}, []
    # hwloc asks the processor, and says that valgrind is there.
    return {"VALGRIND_RUN": "1", "HWLOC_COMPONENTS": "-x86"}, [
        "--wrapper", "valgrind -q --error-exitcode=99 --leak-check=full "
        "--show-leak-kinds=definite --errors-for-leak-kinds=definite "
        f"--suppressions={os.path.join(FILES, 'valgrind.supp')} "
        f"--log-file={os.path.join(folder, '%p')}"]


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in SUITES:
        print(__doc__.strip())
        return 0 if "--help" in sys.argv else 2
    tool, build = sys.argv[1], os.path.abspath(sys.argv[2])
    try:
        seed, names = read_words(sys.argv[3:])
    except ValueError as error:
        print(f"{error} is no option: --tenth, or --tenth=SEED, is")
        return 2
    tests = json.loads(subprocess.run(
        ["meson", "introspect", "--tests", build], check=True, capture_output=True,
        text=True).stdout)
    chosen, skipped = choose(tests, tool, build, names,
                             not_run(os.path.join(FILES, "not-run"), tool))
    if seed is not None:
        chosen = tenth_of(chosen, seed)
        print(f"one test of ten, {len(chosen)}: again with --tenth={seed}")
    folder = os.path.join(build, "reports")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for name, reason in skipped:
        print(f"not run: {name}: {reason}")
    if not chosen:
        print("no test is called so" if names and not skipped else "nothing to run")
        return 1
    env, arguments = options(tool, folder)
    env["CK_TIMEOUT_MULTIPLIER"] = str(TIMES[tool])
    log = log_of(tool, build)
    if os.path.exists(log + ".json"):  # of a run before
        os.remove(log + ".json")
    code = subprocess.run(
        ["meson", "test", "-C", build, "--print-errorlogs", "-t", str(TIMES[tool]),
         *arguments, *chosen], env={**os.environ, **env}, check=False).returncode
    if not os.path.exists(log + ".json"):
        print(f"no test was run: meson ended with {code}, as said above")
        return 1
    keep_undefined(log + ".json", folder)
    seen, files = reports_in(folder)
    for line, times in seen.items():
        print(f"report: {line}" + (f" ({times} times)" if times > 1 else "") +
              f", {os.path.relpath(files[line])}")
    passed, failed, left = count_tests.count(log + ".junit.xml")
    for line, times in left.items():
        print(f"skipped: {line}" + (f" ({times} times)" if times > 1 else ""))
    if code and not failed:
        failed = 1
    print(f"{passed} passed, {failed} failed, {sum(left.values())} skipped, "
          f"{len(skipped)} not run, {sum(seen.values())} reports")
    return 0 if passed and not failed and not seen else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tools/project/sanitize.py, with which ./check --sanitize runs tests: what it runs, and
what it says of reports. Prints TAP.

    test-sanitize.py SANITIZE.PY
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

import tools_util as util

sys.dont_write_bytecode = True

TESTS = [
    {"name": "queue", "suite": ["orrery:unit"], "cmd": ["/b/tests/test-queue"]},
    {"name": "calls", "suite": ["orrery:api"], "cmd": ["/b/tests/test-calls"]},
    {"name": "long", "suite": ["orrery:full", "orrery:api"],
     "cmd": ["/b/tests/test-calls"]},
    {"name": "text", "suite": ["orrery:api"], "cmd": ["/usr/bin/python3", "t.py"]},
    {"name": "figures", "suite": ["orrery:golden"], "cmd": ["/b/tests/figures"]},
]
NOT_RUN = "# why\nthread,valgrind call* one reason\n\naddress queue another reason\n"
RACE = """==================
WARNING: ThreadSanitizer: data race (pid=5)
  Read of size 8 at 0x7b by thread T4:
SUMMARY: ThreadSanitizer: data race a.c:39 in f
==================
"""
VALGRIND = """==7== Invalid read of size 8
==7==    at 0x4: f (a.c:3)
==7==  Address 0x0 is not stack'd, malloc'd or (recently) free'd
==7==
"""
UNDEFINED = """#include <limits.h>
int main(int argc, char **argv)
{
    (void)argv;
    return argc + INT_MAX == 0;
}
"""
# Stands in for meson: one test runs, and passes.
MESON = """#!/bin/sh
if [ "$1" = introspect ]; then
    echo '[{"name": "queue", "suite": ["orrery:unit"], "cmd": ["'$3'/test-queue"]}]'
    exit
fi
log=$3/meson-logs/testlog
for word; do
    [ "$word" = --wrapper ] && log=$log-valgrind
done
: >"$log.json"
echo '<testsuites><testcase name="queue"/></testsuites>' >"$log.junit.xml"
"""
EARLIER = "<testsuites><testcase name='a'/><testcase name='b'/></testsuites>"
WORDS = "x.c:5:17: runtime error: signed integer overflow"


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def refuses(sanitize, path):
    try:
        sanitize.not_run(path, "thread")
    except ValueError as error:
        return str(error).startswith(f"{path}:1: ")
    return False


def ends_with(options, folder):
    """What undefined behaviour ends with under these options; None: the compiler has
    no sanitizers."""
    program = os.path.join(folder, "undefined")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if subprocess.run(
            [*compiler, "-fsanitize=address,undefined", "-o", program,
             write(folder, "undefined.c", UNDEFINED)],
            check=False, capture_output=True).returncode:
        return None
    return subprocess.run([program], check=False, capture_output=True,
                          env={**os.environ, **options}).returncode


def last_line(script, tool, folder):
    """Of a run in a folder with the logs of earlier ones."""
    os.makedirs(os.path.join(folder, "meson-logs"))
    for name in ("testlog", "testlog-valgrind"):
        write(folder, f"meson-logs/{name}.junit.xml", EARLIER)
    os.chmod(write(folder, "meson", MESON), 0o755)
    return subprocess.run(
        [sys.executable, script, tool, folder], check=False, capture_output=True,
        text=True, env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        ).stdout.splitlines()[-1:]


def main():
    sys.path.insert(0, os.path.dirname(sys.argv[1]))
    import sanitize # pylint: disable=import-outside-toplevel,import-error

    tap = util.Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, "not-run", NOT_RUN)
        left_out = sanitize.not_run(path, "thread")
        tap.claim("a tool has its own list",
                  left_out == [("call*", "one reason")] and
                  sanitize.not_run(path, "address") == [("queue", "another reason")])
        tap.claim("a line without a reason is refused, with its place",
                  refuses(sanitize, write(folder, "bad", "thread queue\n")) and
                  refuses(sanitize, write(folder, "bad", "memory queue why\n")))
        tap.claim("the tool's suites run, long ones do not",
                  sanitize.choose(TESTS, "address", "/b", [], []) ==
                  (["queue", "calls", "text"], []))
        tap.claim("what cannot be run is named",
                  sanitize.choose(TESTS, "thread", "/b", [], left_out) ==
                  (["text"], [("calls", "one reason")]))
        many = [f"test-{i}" for i in range(200)]
        tenths = [sanitize.tenth_of(many, seed) for seed in range(20660, 20670)]
        tap.claim("ten seeds in a row have each test once, and none has most",
                  sorted(sum(tenths, [])) == sorted(many) and max(map(len, tenths)) < 60)
        tap.claim("a seed is read, and today's is one",
                  sanitize.read_words(["--tenth=7", "a*"]) == (7, ["a*"]) and
                  sanitize.read_words(["--tenth"])[0] > 20000 and
                  sanitize.read_words(["a"]) == (None, ["a"]))
        tap.claim("names choose from all suites",
                  sanitize.choose(TESTS, "thread", "/b", ["fig*", "long"], []) ==
                  (["long", "figures"], []))
        tap.claim("valgrind runs programs only",
                  sanitize.choose(TESTS, "valgrind", "/b", [], []) ==
                  (["queue", "calls"], [("text", sanitize.SCRIPT)]))
        os.mkdir(os.path.join(folder, "reports"))
        logs = os.path.join(folder, "reports")
        for tool in ("address", "valgrind"):
            tap.claim(f"the tests of the run are counted: {tool}",
                      last_line(sys.argv[1], tool, os.path.join(folder, tool)) == [
                          "1 passed, 0 failed, 0 skipped, 0 not run, 0 reports"])
        tap.claim("no report is none", not sanitize.reports_in(logs)[0])
        write(logs, "r.1", RACE)
        write(logs, "r.2", RACE + RACE)
        write(logs, "r.3", "../x.c:3:9: runtime error: shift exponent 64\n    #0 f\n")
        write(logs, "r.4", "killed in the middle")
        write(logs, "r.5", "")
        write(logs, "r.6", VALGRIND)
        write(logs, "r.7", "==7==WARNING: AddressSanitizer failed to allocate 0x8 bytes\n")
        tap.claim("each report is counted, with its summary",
                  dict(sanitize.reports_in(logs)[0]) ==
                  {"ThreadSanitizer: data race a.c:39 in f": 3,
                   "../x.c:3:9: runtime error: shift exponent 64": 1,
                   "a report without a summary": 1,
                   "Invalid read of size 8": 1})
        log = write(folder, "testlog.json", "".join(json.dumps(test) + "\n" for test in [
            {"name": "a", "stdout": "ok 1\n"},
            {"name": "b", "stdout": "ok 1\n", "stderr": f"{WORDS}: …\n    #0 f\n"},
            {"name": "c", "stdout": f"#   {WORDS}: …\n"}]))
        printed = os.path.join(folder, "printed")
        os.mkdir(printed)
        sanitize.keep_undefined(log, printed)
        tap.claim("undefined behaviour that a test prints is a report",
                  dict(sanitize.reports_in(printed)[0]) == {f"{WORDS}: …": 2})
        name = "undefined behaviour ends a program with a status of its own"
        status = ends_with(sanitize.options("address", logs)[0], folder)
        if status is None:
            tap.skip(name, "the compiler has no sanitizers")
        else:
            tap.claim(name, status == 99)
        for tool in sanitize.SUITES:
            sanitize.not_run(os.path.join(sanitize.FILES, "not-run"), tool)
        tap.claim("the tree's list can be read", True)
    tap.end()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()

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
        tap.claim("names choose from all suites",
                  sanitize.choose(TESTS, "thread", "/b", ["fig*", "long"], []) ==
                  (["long", "figures"], []))
        tap.claim("valgrind runs programs only",
                  sanitize.choose(TESTS, "valgrind", "/b", [], []) ==
                  (["queue", "calls"], [("text", sanitize.SCRIPT)]))
        os.mkdir(os.path.join(folder, "reports"))
        logs = os.path.join(folder, "reports")
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

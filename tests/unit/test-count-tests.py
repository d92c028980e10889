#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tools/project/count_tests.py, with which ./check ends, on made-up JUnit files
as meson writes them. Prints TAP.

    test-count-tests.py COUNT_TESTS.PY
"""
import os
import sys
import tempfile

import tools_util as util


def case(name, result="", out="", program="orrery.orrery:unit / queue"):
    return (f'<testcase name="{name}" classname="{program}">{result}'
            f"{out and '<system-out>' + out + '</system-out>'}</testcase>")


def document(*suites):
    return ("<?xml version='1.0' encoding='utf-8'?>\n<testsuites>" +
            "".join(f'<testsuite name="s">{s}</testsuite>' for s in suites) +
            "</testsuites>")


GOOD = case("1 - it grows")
SKIPPED = case("2 - it shrinks", "<skipped />", "no scissors")
LOOP = case("7 - ../tests/unit/test-queue.c:all:it_ends",
            "<skipped />", "no end")
PLAN = case("orrery:golden / spread", "<skipped />", "# a remark\n1..0 # SKIP no figures",
            "orrery")
# name, file, exit status of meson, lines, exit status
CASES = (
    ("tests that passed are counted", document(GOOD * 3, GOOD), 0,
     ["4 passed, 0 failed, 0 skipped"], 0),
    ("failures and errors have failed",
     document(GOOD + case("2 x", "<failure />") + case("3 y", "<error />")), 1,
     ["failed: queue: x", "failed: queue: y", "1 passed, 2 failed, 0 skipped"], 1),
    ("what a sub-test that failed said stands below it",
     document(case("1 - it grows") + case("12 - it ends", "<failure />") +
              "<system-out>ok 1 - it grows\n# alone\nnot ok 1 - other\n"
              "not ok 12 - it ends\n# expected 1\n# got 2\nok 3 - more\n"
              "# of another</system-out>"), 1,
     ["failed: queue: it ends", "    not ok 12 - it ends", "    # expected 1",
      "    # got 2", "1 passed, 1 failed, 0 skipped"], 1),
    ("so does the end of what a program printed",
     document(case("orrery:api / gpu", "<failure />",
                   "\n".join(f"line {n}" for n in range(40)), "orrery"), GOOD), 1,
     ["failed: gpu", *(f"    line {n}" for n in range(24, 40)),
      "1 passed, 1 failed, 0 skipped"], 1),
    ("a skipped sub-test is listed with its reason, and has not passed",
     document(GOOD + SKIPPED), 0,
     ["skipped: queue: it shrinks: no scissors",
      "1 passed, 0 failed, 1 skipped"], 0),
    ("of Check's names claims are left, and the same is listed once",
     document(GOOD + LOOP * 3 + SKIPPED), 0,
     ["skipped: queue: it_ends: no end (3 times)",
      "skipped: queue: it shrinks: no scissors",
      "1 passed, 0 failed, 4 skipped"], 0),
    ("what a suite printed is no reason",
     document(GOOD + SKIPPED + "<system-out>1..2\nok 1</system-out>"), 0,
     ["skipped: queue: it shrinks: no scissors",
      "1 passed, 0 failed, 1 skipped"], 0),
    ("a program that skips all says why in its plan", document(GOOD, PLAN), 0,
     ["skipped: spread: no figures", "1 passed, 0 failed, 1 skipped"], 0),
    ("so does one in lower case",
     document(GOOD, PLAN.replace("SKIP", "skipped:")), 0,
     ["skipped: spread: no figures", "1 passed, 0 failed, 1 skipped"], 0),
    ("a program that ends with 77 says why in its last line",
     document(GOOD, case("orrery:api / gpu", "<skipped />", "looking\nno GPU here\n",
                         "orrery")), 0,
     ["skipped: gpu: no GPU here", "1 passed, 0 failed, 1 skipped"], 0),
    ("one that says nothing is listed all the same",
     document(GOOD, case("orrery:api / gpu", "<skipped />", "", "orrery")), 0,
     ["skipped: gpu: no reason given", "1 passed, 0 failed, 1 skipped"], 0),
    ("a failure that says why it wanted to skip has failed",
     document(GOOD + case("2 x", "<failure />", "no scissors")), 1,
     ["failed: queue: x", "    no scissors", "1 passed, 1 failed, 0 skipped"], 1),
    ("what only meson knows has failed, too", document(GOOD), 1,
     ["1 passed, 1 failed, 0 skipped"], 1),
    ("a failure is not counted twice",
     document(GOOD + case("2 x", "<failure />")), 1,
     ["failed: queue: x", "1 passed, 1 failed, 0 skipped"], 1),
    ("nothing but skipped tests is no success", document(PLAN), 0,
     ["skipped: spread: no figures", "0 passed, 0 failed, 1 skipped"], 1),
    ("no tests are no success", document(), 0,
     ["0 passed, 0 failed, 0 skipped"], 1),
    ("a file that is cut has failed", document(GOOD)[:-5], 0,
     ["0 passed, 1 failed, 0 skipped"], 1),
)


def main(program):
    tap = util.Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "junit.xml")
        for name, text, status, lines, code in CASES:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result = util.run(sys.executable, program, path, status)
            tap.claim(name, result.out.splitlines() == lines and
                      result.code == code, result)
        result = util.run(sys.executable, program, path + "x", 0)
        tap.claim("a file that is not there has failed, and is named",
                  result.code == 1 and path + "x" in result.err and
                  result.out == "0 passed, 1 failed, 0 skipped\n", result)
    result = util.run(sys.executable, program)
    tap.claim("without words it says how it is used", result.code == 2 and
              "usage:" in result.out, result)
    tap.end()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

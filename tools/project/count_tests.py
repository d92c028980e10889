#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Count the tests of meson's last run, sub-tests of TAP programs one by one.

usage: count_tests.py JUNIT.xml EXIT_STATUS_OF_MESON
Prints what was skipped, each with its reason, what failed, each with what it
said, and a last line, "N passed, N failed, N skipped". Ends with 0 when there were
tests, none failed and meson ended with 0.
"""

import collections
import itertools
import re
import sys
import xml.etree.ElementTree as xml

LINES, WIDTH = 16, 200  # of what a failed test said, its end


def name_of(case):
    """Program and claim: "bounds: reference_is_met". A program without sub-tests
    is its own claim."""
    # "orrery.orrery:unit / bounds", "12 - ../tests/unit/bounds.c:values:claim"
    program = case.get("classname", "").partition(".")[2].split(" / ")[-1]
    claim = re.sub(r"^\d+ (- )?(\S+\.(c|cpp):[^:]*:)?", "",
                   case.get("name", "").split(" / ")[-1])
    return f"{program}: {claim}" if program else claim


def reason_of(case):
    """Of a sub-test the text is the reason itself; of a program it is all that
    it printed, among it the empty plan of TAP with the reason."""
    text = (case.findtext("system-out") or "").strip()
    plan = re.search(r"^1\.\.0\s*#\s*SKIP\S*\s*(.*)$", text, re.M | re.I)
    if plan:
        text = plan[1]
    # A program that ended with 77 has said why before, if it has.
    return text.splitlines()[-1].strip() if text else "no reason given"


def has_failed(case):
    return case.find("failure") is not None or case.find("error") is not None


def count(path):
    """Numbers of passed and failed tests in a JUnit file, and how often each was
    skipped, by name and reason."""
    passed = failed = 0
    skipped = collections.Counter()
    for case in xml.parse(path).getroot().iter("testcase"):
        if has_failed(case):
            failed += 1
        elif case.find("skipped") is not None:
            skipped[f"{name_of(case)}: {reason_of(case)}"] += 1
        else:
            passed += 1
    return passed, failed, skipped


def said_by(case, suite):
    """What a failed test said: of a sub-test its line of TAP and the remarks below
    it, of a program all that it printed."""
    if case.findtext("system-out"):
        return case.findtext("system-out")
    number = re.match(r"\d+", case.get("name", ""))
    lines = (suite.findtext("system-out") or "").splitlines()
    for at, line in enumerate(lines):
        if number and re.match(rf"not ok {number[0]}\b", line):
            remarks = itertools.takewhile(lambda line: line.startswith("#"),
                                          lines[at + 1:])
            return "\n".join([line, *remarks])
    return suite.findtext("system-err") or ""


def failures(path):
    """Name of each failed test in a JUnit file, and the end of what it said."""
    for suite in xml.parse(path).getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            if has_failed(case):
                yield name_of(case), [
                    line[:WIDTH] for line in
                    said_by(case, suite).rstrip().splitlines()[-LINES:]]


def main():
    if len(sys.argv) != 3 or sys.argv[1] == "--help":
        print(__doc__.strip())
        return 2
    try:
        passed, failed, skipped = count(sys.argv[1])
        said = list(failures(sys.argv[1]))
    except (OSError, xml.ParseError) as error:
        print(f"count_tests.py: {sys.argv[1]}: {error}", file=sys.stderr)
        passed, failed, skipped, said = 0, 1, collections.Counter(), []
    # A program that failed although its sub-tests passed (a leak, a crash at
    # its end) is known to meson only.
    if int(sys.argv[2]) != 0 and failed == 0:
        failed = 1
    for line, times in skipped.items():
        print(f"skipped: {line}" + (f" ({times} times)" if times > 1 else ""))
    for name, lines in said:
        print(f"failed: {name}", *lines, sep="\n    ")
    print(f"{passed} passed, {failed} failed, {sum(skipped.values())} skipped")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

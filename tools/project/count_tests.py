#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Count the tests of meson's last run, sub-tests of TAP programs one by one.

usage: count_tests.py JUNIT.xml EXIT_STATUS_OF_MESON
Prints one line, "N passed, N failed, N skipped". Ends with 0 when there were
tests, none failed and meson ended with 0.
"""

import sys
import xml.etree.ElementTree as xml


def count(path):
    """Numbers of passed, failed and skipped tests in a JUnit file."""
    passed = failed = skipped = 0
    for case in xml.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    if len(sys.argv) != 3 or sys.argv[1] == "--help":
        print(__doc__.strip())
        return 2
    try:
        passed, failed, skipped = count(sys.argv[1])
    except (OSError, xml.ParseError) as error:
        print(f"count_tests.py: {sys.argv[1]}: {error}", file=sys.stderr)
        passed, failed, skipped = 0, 1, 0
    # A program that failed although its sub-tests passed (a leak, a crash at
    # its end) is known to meson only.
    if int(sys.argv[2]) != 0 and failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

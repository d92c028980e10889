#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Suites of tests/api on loopback devices that fail: whatever fails, each test of
theirs either passes, so that its values are right, or its run has ended with status
1 and a message. No wrong value, no crash, nobody waits for ever. TAP.

usage: test-loopback-sweep.py MODULE PROGRAM SUITE ...
"""

import os
import subprocess
import sys

FAULTS = ("alloc@2", "alloc@5+", "copy@3", "copy@2+", "start@3", "start@2+",
          "kernel@1", "kernel@3", "kernel@4+", "lost@4", "lost@11", "pin@1+")
ENDED = "Early exit with return value 1"


def run(program, suite, fault):
    return subprocess.run(
        [program, suite], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=300, check=False,
        env=dict(os.environ, TEST_MACHINES="real", TEST_NCPU="2",
                 ORRERY_DRIVERS=f"{sys.argv[1]}:2 seed=3 fault={fault}"))


def trouble_of(result):
    lines = result.stdout.splitlines()
    failed = [line for line in lines if line.startswith("not ok")]
    wrong = [line for line in failed if not line.endswith(ENDED)]
    nerrors = result.stderr.count("orrery: error: ")
    if not any(line.startswith("ok") for line in lines):
        wrong.append("no test of it passes")
    if nerrors < len(failed):
        wrong.append(f"{len(failed)} runs ended, with {nerrors} messages")
    return wrong


def main():
    program, *suites = sys.argv[2:]
    number = 0
    failed = 0
    print(f"1..{len(suites) * len(FAULTS)}")
    for suite in suites:
        for fault in FAULTS:
            number += 1
            try:
                wrong = trouble_of(run(program, suite, fault))
            except subprocess.TimeoutExpired:
                wrong = ["it does not end"]
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - "
                  f"{suite} with {fault}", flush=True)
            for line in wrong:
                print("# " + line)
    return failed > 0


sys.exit(main())

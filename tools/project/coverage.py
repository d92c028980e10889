#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which lines and branches tests reach. Called by hand.

usage: coverage.py SOURCE FOLDER [-r ROOM]... [-t TARGET]... [-k] [TEST...]
Configures and builds in FOLDER with gcc's counters, runs the suites but `full`, or these TESTs
alone, and has gcovr count for each ROOM (core, sim, platforms, perfmodel, bound) the lines and
branches that were reached. Prints TAP: a room passes from 90 % of lines and 75 % of branches on;
files below are listed, the one with the most lines that are not reached first.
  -r ROOM    of this folder only; may be given several times
  -t TARGET  build this target only; may be given several times
  -k         keep the counters of earlier runs: the figures are of these, too
example: tools/project/coverage.py . build-coverage -r perfmodel -t tests/unit/test-unit model
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

ROOMS = ("core", "sim", "platforms", "perfmodel", "bound")
LINES, BRANCHES = 90, 75 # percent
# Threads count together: else counts are lost, or fall below zero, which gcovr refuses.
OPTIONS = ["-Db_coverage=true", "-Dbuildtype=debug", "-Dc_args=-fprofile-update=atomic",
           "-Dcpp_args=-fprofile-update=atomic"]
TIMES = 4 # how much longer a test may take


class Failed(Exception):
    """What went wrong: the last lines that were said."""


def run(words, accepted=(0,), env=None):
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if done.returncode not in accepted:
        said = (done.stdout + done.stderr).splitlines()[-40:]
        raise Failed(f"{' '.join(words)[:300]} ended with {done.returncode}\n" + "\n".join(said))
    return done.stdout


def forget_counters(folder):
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".gcda"):
                os.remove(os.path.join(place, name))


def run_tests(source, folder, words):
    """Counters are those of this run."""
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        run(["meson", "setup", folder, source, *OPTIONS])
    run(["ninja", "-C", folder, *words.targets])
    if not words.keep:
        forget_counters(folder)
    # What counts, without optimization, may take longer: suites of Check have a clock of their own.
    run(["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs", "-t", str(TIMES),
         *(words.tests or ["--no-suite", "full"])],
        env={**os.environ, "CK_TIMEOUT_MULTIPLIER": str(TIMES)})


class Count:
    """Of a file, or of several: lines and branches that there are, and that were reached."""

    def __init__(self, name):
        self.name = name
        self.lines = self.lines_reached = self.branches = self.branches_reached = 0

    def add(self, entry):
        self.lines += entry["line_total"]
        self.lines_reached += entry["line_covered"]
        self.branches += entry["branch_total"]
        self.branches_reached += entry["branch_covered"]

    def line_percent(self):
        return 100 * self.lines_reached / self.lines if self.lines else 100

    def branch_percent(self):
        return 100 * self.branches_reached / self.branches if self.branches else 100

    def is_enough(self):
        return self.line_percent() >= LINES and self.branch_percent() >= BRANCHES

    def __str__(self):
        return (f"{self.name}: {self.line_percent():.1f} % of {self.lines} lines, "
                f"{self.branch_percent():.1f} % of {self.branches} branches")


def count(source, folder, room):
    """The room, and its files."""
    text = run(["gcovr", "-r", source, "--object-directory", folder, "--filter",
                os.path.join(source, room, ""), "--exclude-unreachable-branches",
                "--gcov-ignore-parse-errors", "--json-summary", "-", folder])
    whole, files = Count(room), []
    for entry in json.loads(text)["files"]:
        files.append(Count(entry["filename"]))
        files[-1].add(entry)
        whole.add(entry)
    if not whole.lines:
        raise Failed(f"nothing of {room} was built with counters, or run")
    return whole, sorted(files, key=lambda file: file.lines_reached - file.lines)


def read_words(arguments):
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("source", type=os.path.abspath)
    parser.add_argument("folder", type=os.path.abspath)
    parser.add_argument("-r", dest="rooms", action="append", choices=ROOMS)
    parser.add_argument("-t", dest="targets", action="append", default=[])
    parser.add_argument("-k", dest="keep", action="store_true")
    parser.add_argument("tests", nargs="*")
    words = parser.parse_intermixed_args(arguments)
    words.rooms = words.rooms or list(ROOMS)
    return words


def main():
    words = read_words(sys.argv[1:])
    for program, package in (("gcovr", "gcovr"), ("gcov", "gcc")):
        if not shutil.which(program):
            print(f"1..0 # SKIP there is no {program}: package {package}")
            return 0
    print(f"1..{len(words.rooms)}", flush=True)
    failed = False
    try:
        run_tests(words.source, words.folder, words)
        for number, room in enumerate(words.rooms, 1):
            whole, files = count(words.source, words.folder, room)
            failed |= not whole.is_enough()
            print(f"{'ok' if whole.is_enough() else 'not ok'} {number} - {whole}")
            for file in files:
                if not file.is_enough():
                    print(f"# {file}")
            sys.stdout.flush()
    except Failed as why:
        first, *more = str(why).splitlines()
        print(f"Bail out! {first}")
        print("".join(f"# {line}\n" for line in more), end="")
        return 1
    return failed


if __name__ == "__main__":
    sys.exit(main())

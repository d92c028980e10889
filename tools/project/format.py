#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether lines of C and C++ that a change touches are as clang-format writes them.

usage: format.py [--fix] SOURCE [BASE]
A change is what the working tree has and the commit BASE has not: without BASE, what this
branch has and origin/main (else main) has not; on main itself, the last commit and what is
not committed. Other lines are not looked at. Prints TAP; --fix rewrites these lines instead.
Called by ./check --full (tests/analysis).
example: tools/project/format.py --fix .
"""
import os
import re
import shutil
import subprocess
import sys

ENDINGS = "c,h,cpp,hpp"


class Skip(Exception):
    """What is missing."""


def git(source, *words):
    """What git prints; None where it refuses."""
    done = subprocess.run(["git", "-C", source, *words], capture_output=True, text=True,
                          errors="replace", check=False)
    return None if done.returncode else done.stdout.strip()


def base_of(source):
    """The commit that a change begins with."""
    head = git(source, "rev-parse", "HEAD")
    if head is None:
        raise Skip("this is no working tree of git, which would know what has changed")
    for name in ("origin/main", "main"):
        base = git(source, "merge-base", name, "HEAD")
        if base and base != head:
            return base
    base = git(source, "rev-parse", "--verify", "--quiet", "HEAD~1")
    if not base:
        raise Skip("there is no commit before this one: a clone with more of the history has it")
    return base


def check(source, base):
    """What clang-format would change of the lines that have changed: a difference, or ''."""
    if not shutil.which("clang-format") or not shutil.which("git-clang-format"):
        raise Skip("there is no clang-format: package clang-format")
    if git(source, "rev-parse", "--verify", "--quiet", base + "^{commit}") is None:
        raise ValueError(f"there is no commit {base}")
    # It finds its style by the folder where it runs.
    done = subprocess.run(["git-clang-format", "--diff", "--extensions", ENDINGS, base],
                          cwd=source, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", check=False)
    if done.stderr or (done.returncode and not done.stdout.startswith("diff ")):
        raise ValueError((done.stderr or done.stdout).strip())
    return done.stdout if done.stdout.startswith("diff ") else ""


def fix(source, difference):
    """Applies it."""
    subprocess.run(["git", "apply", "-"], cwd=source, input=difference, text=True, check=True)


def main():
    words = sys.argv[1:]
    repairs = "--fix" in words
    words = [word for word in words if word != "--fix"]
    if not 1 <= len(words) <= 2 or any(word.startswith("-") for word in words):
        print(__doc__.strip())
        return 0 if "--help" in words else 2
    source = os.path.abspath(words[0])
    try:
        base = words[1] if len(words) > 1 else base_of(source)
        difference = check(source, base)
    except Skip as skip:
        print(f"1..0 # SKIP {skip}")
        return 0
    except ValueError as error:
        print(f"Bail out! {error}")
        return 1
    files = re.findall(r"^\+\+\+ b/(.*)$", difference, re.M)
    if repairs:
        if difference:
            fix(source, difference)
        print(f"{len(files)} files were rewritten: git diff shows how")
        return 0
    print(f"1..1\n{'not ok' if files else 'ok'} 1 - lines since {base[:12]} are as clang-format "
          "writes them")
    if files:
        print("".join(f"# {line}\n" for line in difference.splitlines()[:200]) +
              f"# {len(files)} files: tools/project/format.py --fix . {base[:12]} rewrites these "
              "lines")
    return 1 if files else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tools/project/format.py, in trees of its own: lines that a change touches count, others do
not; what the base is; what --fix rewrites. Prints TAP.

    test-format.py FORMAT.PY
"""
import os
import shutil
import subprocess
import sys
import tempfile

import tools_util as util

sys.dont_write_bytecode = True

STYLE = "BasedOnStyle: LLVM\nIndentWidth: 4\n"
OLD = "int  old( void ){return 1;}\n\n"  # which nobody touches
GOOD = "int fine(void) { return 2; }\n"
BAD = "int   bad(int  a)  { return a ;}\n"


def git(folder, *words):
    subprocess.run(["git", "-C", folder, "-c", "user.name=n", "-c", "user.email=e", *words],
                   check=True, capture_output=True)


def write(folder, text, name="a.c"):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def read(folder, name="a.c"):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def commit(folder):
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "more")


def call(script, *words, path=None):
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    if path:
        env["PATH"] = path
    return util.run(sys.executable, "-B", script, *words, env=env)


def new_tree(top, name):
    folder = os.path.join(top, name)
    os.mkdir(folder)
    git(folder, "init", "-q", "-b", "main")
    write(folder, STYLE, ".clang-format")
    write(folder, OLD)
    commit(folder)
    return folder


def claim_of_lines(tap, script, folder):
    write(folder, OLD + GOOD)
    result = call(script, folder, "HEAD")
    tap.claim("a line that nobody touched may be as it is",
              result.code == 0 and "ok 1 - " in result.out, result)
    write(folder, OLD + BAD)
    result = call(script, folder, "HEAD")
    tap.claim("a line that was touched may not, and the remedy is named",
              result.code == 1 and "not ok 1 - " in result.out and "return a;" in result.out and
              "format.py --fix . HEAD" in result.out and "old" not in result.out.split("@@")[0],
              result)
    write(folder, "var   a ;\n", "new.js")
    git(folder, "add", "new.js")
    result = call(script, "--fix", folder, "HEAD")
    tap.claim("--fix rewrites it, and nothing else",
              result.code == 0 and read(folder) == OLD + "int bad(int a) { return a; }\n" and
              read(folder, "new.js") == "var   a ;\n", result, read(folder))


def claim_of_bases(tap, script, folder):
    write(folder, OLD + GOOD + BAD)
    commit(folder)
    result = call(script, folder)
    tap.claim("on main the last commit counts", result.code == 1, result)
    write(folder, OLD + GOOD + BAD + GOOD.replace("fine", "finer"))
    commit(folder)
    result = call(script, folder)
    tap.claim("and those before it do not", result.code == 0, result)
    git(folder, "checkout", "-q", "-b", "work", "HEAD~1")
    for name in "one", "two":
        write(folder, OLD + GOOD + BAD + GOOD.replace("fine", name))
        commit(folder)
    result = call(script, folder)
    tap.claim("on a branch, all that main has not", result.code == 0, result)
    write(folder, OLD + GOOD + BAD + "int   one( void );\n" + GOOD.replace("fine", "two"))
    commit(folder)
    write(folder, "int b(void);\n", "b.c")
    commit(folder)
    result = call(script, folder)
    tap.claim("not the last commit alone", result.code == 1 and "int one(void)" in result.out,
              result)


def claim_of_what_is_missing(tap, script, top, folder):
    result = call(script, folder, "nosuch")
    tap.claim("an unknown commit is an error that names it",
              result.code == 1 and "Bail out! there is no commit nosuch" in result.out, result)
    result = call(script, top)
    tap.claim("no tree of git is a skip", result.code == 0 and "# SKIP this is no" in result.out,
              result)
    tools = os.path.join(top, "bin")
    os.mkdir(tools)
    os.symlink(shutil.which("git"), os.path.join(tools, "git"))
    result = call(script, folder, "HEAD", path=tools)
    tap.claim("so is no clang-format, whose package is named",
              result.code == 0 and "# SKIP there is no clang-format: package clang-format" in
              result.out, result)
    result = call(script)
    tap.claim("no words: usage", result.code == 2 and "usage: format.py" in result.out, result)


def main():
    script = os.path.abspath(sys.argv[1])
    tap = util.Tap()
    if not shutil.which("git"):
        print("1..0 # SKIP there is no git: package git")
        return
    with tempfile.TemporaryDirectory(prefix="orrery-format-") as top:
        os.environ["GIT_CEILING_DIRECTORIES"] = os.path.dirname(top)
        if shutil.which("git-clang-format"):
            claim_of_lines(tap, script, new_tree(top, "lines"))
            claim_of_bases(tap, script, new_tree(top, "bases"))
        else:
            tap.skip("lines, bases, --fix", "there is no clang-format: package clang-format")
        claim_of_what_is_missing(tap, script, top, new_tree(top, "missing"))
    tap.end()


if __name__ == "__main__":
    main()

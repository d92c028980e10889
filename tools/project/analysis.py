#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What analysers of C find in the sources. Called by ./check --full.

usage: analysis.py SOURCE BUILD TOOL...
  analyzer     gcc -fanalyzer, of all of core
  cppcheck     of what has changed in the last commits, and since
  clang-tidy   the same
What is found and is none, or meant, is listed in tests/analysis/accepted, each with its
reason; an entry that nothing is found of fails, too, if its file was looked at. BUILD is
configured: its compile_commands.json says how each file is compiled. Prints TAP.
"""
import atexit
import concurrent.futures
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from xml.sax.saxutils import quoteattr

COMMITS = 30 # what has changed in these is new
FOUND = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?:warning|error|portability): "
                   r"(?P<text>.*)$", re.M)
# Without what is how this code is written: strcmp(a, b) as a condition, calloc(n, sizeof(struct
# x *)), doubles that are compared bit by bit, text that Fortran pads.
TIDY = ("-*,bugprone-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,"
        "-bugprone-narrowing-conversions,-bugprone-reserved-identifier,"
        "-bugprone-macro-parentheses,-bugprone-implicit-widening-of-multiplication-result,"
        "-bugprone-branch-clone,-bugprone-assignment-in-if-condition,"
        "-bugprone-suspicious-include,-bugprone-suspicious-string-compare,-bugprone-sizeof-expression,"
        "-bugprone-suspicious-memory-comparison,-bugprone-not-null-terminated-result,"
        "-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,"
        "-clang-analyzer-security.insecureAPI.strcpy")


# gcc 12's analyzer forgets what is in a list, or in memory that another function has got,
# and takes the address of an element of a list for NULL: ten of these classes in core were
# looked at, and none was one. What is left are double and late frees, files, and arguments.
ANALYZER = [f"-Wno-analyzer-{word}" for word in
            ("malloc-leak", "null-dereference", "possible-null-dereference", "null-argument",
             "use-of-uninitialized-value")]


class Skip(Exception):
    """What is missing."""


def commands_of(source, build):
    """How each of our sources in C is compiled: words without what is made, by path."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), source)
        if not path.endswith(".c") or path.startswith(("..", "tests", "build")):
            continue
        words = shlex.split(entry["command"])
        kept = [word for word in words[1:] if re.match(r"-(D|I|std|isystem)", word)]
        found.setdefault(path, [
            "-I" + os.path.join(entry["directory"], word[2:]) if word.startswith("-I") else word
            for word in kept])
    return found


def changed(source):
    """What the last commits, and what is not committed, have changed."""
    def git(*words):
        done = subprocess.run(["git", "-C", source, *words], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise Skip("this is no working tree of git, which would know what has changed")
        return set(done.stdout.split())
    return (git("log", f"-{COMMITS}", "--format=", "--name-only") | git("diff", "--name-only",
                                                                       "HEAD"))


def analyzer(commands, _):
    wanted = sorted(path for path in commands if path.startswith("core/"))
    return wanted, lambda path, words: ["gcc", *words, "-O1", "-fanalyzer", *ANALYZER, "-c", path, "-o",
                                        "/dev/null"]


MACROS = { # of other projects' headers, which are not read
    "json_array_foreach(a, i, v)": "for (i = 0; (v = json_array_get(a, i)) != 0; i++)",
    "json_object_foreach(o, k, v)": "for (k = first(o); (v = json_object_get(o, k)) != 0; k = next(k))",
    "Py_RETURN_NONE": "return 0", "Py_RETURN_TRUE": "return 0", "Py_RETURN_FALSE": "return 0",
}


def what_is_meant(source):
    """A file that tells cppcheck what macros are, and which of our functions do not come back:
    it takes this from no declaration in another file."""
    names = set()
    for folder, _, files in os.walk(source):
        if "/build" in folder or "/.git" in folder:
            continue
        for name in files:
            if name.endswith((".c", ".h")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    names |= set(re.findall(r"_Noreturn\s+(?:static\s+)?void\s+(\w+)\(", file.read()))
    with tempfile.NamedTemporaryFile("w", suffix=".cfg", delete=False, encoding="utf-8") as file:
        file.write('<?xml version="1.0"?>\n<def format="2">\n')
        for name in sorted(names):
            file.write(f'  <function name="{name}"><noreturn>true</noreturn>'
                       '<arg nr="variadic"/></function>\n')
        for name, value in MACROS.items():
            file.write(f"  <define name={quoteattr(name)} value={quoteattr(value)}/>\n")
        file.write("</def>\n")
    atexit.register(os.unlink, file.name)
    return file.name


def cppcheck(commands, source):
    wanted = sorted(commands.keys() & changed(source))
    ours = what_is_meant(source)
    return wanted, lambda path, words: [
        "cppcheck", "--quiet", "--enable=warning,portability", "--inline-suppr",
        f"--library={ours}",
        *(word for word in words if word[:2] in ("-D", "-I")), path]


def clang_tidy(commands, source):
    wanted = sorted(commands.keys() & changed(source))
    return wanted, lambda path, words: [
        "clang-tidy", "--quiet", f"--checks={TIDY}", path, "--", *words, "-Wno-gcc-compat"]


TOOLS = {"analyzer": (analyzer, "gcc"), "cppcheck": (cppcheck, "cppcheck"),
         "clang-tidy": (clang_tidy, "clang-tidy")}


def accepted(source, tool):
    """Pairs (pattern of file and text, reason) of a file "TOOL FILE: PATTERN | REASON"."""
    found = []
    with open(os.path.join(source, "tests/analysis/accepted"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            head, bar, reason = line.partition(" | ")
            word, _, pattern = head.strip().partition(" ")
            if not bar or not reason.strip() or word not in TOOLS or ": " not in pattern:
                raise ValueError(f"accepted:{number}: not \"TOOL FILE: PATTERN | REASON\"")
            if word == tool:
                found.append(pattern.strip())
    return found


def look(source, commands, make, path):
    words = commands[path]
    done = subprocess.run(make(path, words), cwd=source, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    found = set()
    for match in FOUND.finditer(done.stdout):
        where = os.path.relpath(os.path.join(source, match["file"]), source)
        if not where.startswith(".."):
            found.add((where, int(match["line"]), match["text"].strip()))
    if done.returncode and not found:
        found.add((path, 0, f"ended with {done.returncode}: {done.stdout[-500:]}"))
    return found


def judge(source, build, tool):
    """Lines that say what is wrong, and how many files were looked at."""
    chooser, program = TOOLS[tool]
    if not shutil.which(program):
        raise Skip(f"there is no {program}: package {program}")
    commands = commands_of(source, build)
    wanted, make = chooser(commands, source)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = set().union(*pool.map(lambda path: look(source, commands, make, path), wanted))
    patterns, used, wrong = accepted(source, tool), set(), []
    for path, line, text in sorted(found):
        hit = next((p for p in patterns if fnmatch.fnmatchcase(f"{path}: {text}", p)), None)
        if hit:
            used.add(hit)
        else:
            wrong.append(f"{path}:{line}: {text}")
    wrong += [f"nothing is found any more of the entry \"{pattern}\"" for pattern in patterns
              if pattern not in used and
              any(fnmatch.fnmatchcase(path, pattern.partition(": ")[0]) for path in wanted)]
    return wrong, len(wanted)


def main():
    if len(sys.argv) < 4 or not set(sys.argv[3:]) <= TOOLS.keys():
        print(__doc__.strip())
        return 0 if "--help" in sys.argv else 2
    source, build = map(os.path.abspath, sys.argv[1:3])
    print(f"1..{len(sys.argv) - 3}")
    failed = False
    for number, tool in enumerate(sys.argv[3:], 1):
        try:
            wrong, n = judge(source, build, tool)
        except Skip as skip:
            print(f"ok {number} - {tool} # SKIP {skip}", flush=True)
            continue
        failed |= bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {tool} of {n} files")
        for line in wrong:
            print(f"# {line}")
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main())

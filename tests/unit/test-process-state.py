#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is writable in the library and outlives a runtime: variables of its object files
against the table of ARCHITECTURE.md, "What a process has once". TAP.

usage: test-process-state.py ROOT NM ARCHIVE|MODULE ...

ARCHIVE are static libraries, MODULE shared objects, whose variables have no file.
"""
import fnmatch
import re
import subprocess
import sys

# Constants that are passed on as variables: types of the public interface, and of
# CPython's, are not const.
CONSTANTS = (
    "core/api/copy.c codelet", "core/api/copy.c model", "core/api/execute.c codelet",
    "core/api/insert.c orr_codelet_sync", "core/api/parallel_worker.c prepares",
    "core/api/task.c names", "core/api/task.c unknown",
    "core/api/transaction.c codelet", "core/layouts/* *compound*literal",
    "core/api/void.c name", "core/layouts/multiformat.c multiformat_ops",
    "core/policies/component/modular.c hooks_*", "core/task/task.c orr_task_freed",
    "python.so *_members", "python.so *_methods", "python.so *_getset",
    "python.so *_slots", "python.so *_spec")
# What the compiler puts into a shared object.
STARTUP = ("completed", "__dso_handle", "__TMC_END__")
WRITABLE = re.compile(r"^(\.(t?data|t?bss)(?!\.rel\.ro)|\*?COM\*?)")


def table(root):
    """(file, variable) of each row."""
    with open(f"{root}/ARCHITECTURE.md", encoding="utf-8") as file:
        text = file.read().split("## What a process has once")[1].split("\n## ")[0]
    return {(path, name)
            for path, names in re.findall(r"^\| `([^`]*)` \| (.*?) \|", text, re.M)
            for name in re.findall(r"`([^`]*)`", names)}


def variables(nm, library):
    """(object, variable) of what is writable; the object "" in a shared object."""
    done = subprocess.run([nm, "-f", "sysv", library], capture_output=True, text=True,
                          check=True)
    where = ""
    for line in done.stdout.splitlines():
        member = re.match(r"Symbols from .*\[(.*)\]:", line)
        if member:
            where = member[1].rsplit("/", 1)[-1]
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 7 or not WRITABLE.match(fields[6]):
            continue
        # A number that makes a name unique, or the function that a variable is in.
        name = re.sub(r"\.\d+$", "", fields[0])
        if not fields[6].startswith(".data.rel.ro") and name not in STARTUP:
            yield where, name.split(".")[-1]


def is_of(where, path):
    """Whether the object is that of the source, of whose path meson makes its name."""
    return fnmatch.fnmatch(where, path.replace("/", "_") + ".o")


def is_constant(where, name, library):
    rows = (row.split() for row in CONSTANTS)
    return any(fnmatch.fnmatch(name, pattern) and (
        is_of(where, path) or not where and library.rsplit("/", 1)[-1] == path)
        for path, pattern in rows)


def main():
    root, nm, *libraries = sys.argv[1:]
    rows = table(root)
    seen, unknown = set(), []
    for library in libraries:
        for where, name in variables(nm, library):
            found = {row for row in rows
                     if row[1] == name and (not where or is_of(where, row[0]))}
            seen |= found
            # The interface's own: applications may write them.
            if not found and not name.startswith("starpu_") and \
                    not is_constant(where, name, library):
                unknown.append(f"{where or library}: {name}")
    absent = [f"{path}: {name}" for path, name in rows - seen
              if "sched/python" not in path or any("python" in l for l in libraries)]
    print("1..2")
    status = 0
    for number, (claim, wrong) in enumerate((
            ("all variables are in the table of what a process has once", unknown),
            ("what is in that table there is", absent)), 1):
        print(f"{'not ok' if wrong else 'ok'} {number} - {claim}")
        for line in sorted(set(wrong)):
            print("# " + line)
        status |= bool(wrong)
    return status


sys.exit(main())

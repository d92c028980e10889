#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What programs that were linked with liborrery.so rely on, as a list: exported functions,
exported variables and their sizes, structures of the public headers with their members'
places, constants and macros with their values. And whether a library keeps such a list.

usage: abi.py list LIBRARY INCLUDE COMPILER...
       abi.py compare LIST LIBRARY INCLUDE COMPILER...

The library's symbols are nm's; structures and constants are those that gdb sees of a file
with all headers of the folder INCLUDE but MPI's. `list` prints, a thing a line. `compare`
prints the lines of LIST that do not hold, a # before what is there instead, with exit
code 1; what is new is no fault. Exit code 77: there is no gdb.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PUBLIC = re.compile(r"^(_?starpu_|fstarpu_|orrery_)")
# What a build has, and its version: not promised.
NO_PROMISE = re.compile(r"STARPU_(HAVE_|USE_|\w+_VERSION$)")

# In gdb: prints the lines of types and macros. Macros that are no numbers are left out.
INSIDE = r"""
import gdb, json, os
names = json.loads(os.environ["ABI_NAMES"])
gdb.execute("list orrery_abi_scope", to_string=True)

def members(kind):
    for field in kind.fields():
        if hasattr(field, "bitpos"):
            place = str(field.bitpos // 8)
            if field.bitsize:
                place += ".%d:%d" % (field.bitpos % 8, field.bitsize)
            else:
                place += "+%d" % field.type.sizeof
            yield "%s@%s" % (field.name or "_", place)

for tag in ("struct", "union"):
    for name in names[tag]:
        try:
            kind = gdb.lookup_type("%s %s" % (tag, name))
            fields = list(members(kind))
        except (gdb.error, TypeError):
            continue
        if fields:
            print(tag, name, kind.sizeof, *fields)
for name in names["enum"]:
    try:
        kind = gdb.lookup_type("enum " + name)
        print("enum", name, kind.sizeof,
              *("%s=%d" % (field.name, field.enumval) for field in kind.fields()))
    except (gdb.error, TypeError):
        continue
for name in names["macro"]:
    try:
        value = gdb.parse_and_eval(name)
        if value.type.strip_typedefs().code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_ENUM):
            print("macro", name, int(value))
    except (gdb.error, RuntimeError):
        continue
"""


def symbols(library):
    """Lines of exported functions and variables."""
    done = subprocess.run(["nm", "-D", "-S", "--defined-only", "-f", "posix", library],
                          check=True, stdout=subprocess.PIPE, encoding="utf-8")
    for line in done.stdout.splitlines():
        name, kind, _, *size = line.split()
        name = name.split("@")[0]
        if not PUBLIC.match(name):
            continue
        if kind in "TtWi":
            yield f"function {name}"
        else:
            yield f"variable {name} {int(size[0], 16)}"


def declared(headers):
    """Names that the headers define, by what they are."""
    found = {"struct": set(), "union": set(), "enum": set(), "macro": set()}
    for path in headers:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for kind, name in re.findall(r"\b(struct|union|enum) (\w+)\s*\{", text):
            found[kind].add(name)
        found["macro"].update(re.findall(
            r"^#\s*define ((?:STARPU|ORRERY)_\w+)[ \t]+\S", text, re.M))
    found["macro"] = {name for name in found["macro"] if not NO_PROMISE.match(name)}
    return {kind: sorted(names) for kind, names in found.items()}


def types(include, compiler):
    """Lines of structures, constants and macros."""
    headers = sorted(path for path in glob.glob(os.path.join(include, "*.h"))
                     if "_mpi" not in os.path.basename(path))
    with tempfile.TemporaryDirectory(prefix="orrery-abi-") as folder:
        source = os.path.join(folder, "all.c")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(f'#include "{os.path.basename(path)}"\n' for path in headers)
            file.write("int orrery_abi_scope(void);\n"
                       "int orrery_abi_scope(void)\n{\n    return 0;\n}\n")
        script = os.path.join(folder, "inside.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(INSIDE)
        binary = os.path.join(folder, "all.so")
        subprocess.run([*compiler, "-std=gnu11", "-w", "-g3", "-O0",
                        "-fno-eliminate-unused-debug-types", "-I", include, "-shared", "-fPIC", source,
                        "-o", binary], check=True)
        done = subprocess.run(
            ["gdb", "-nx", "-batch", "-x", script, binary], check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8",
            env={**os.environ, "ABI_NAMES": json.dumps(declared(headers)), "LC_ALL": "C"})
    return [line for line in done.stdout.splitlines()
            if line.split(" ")[0] in ("struct", "union", "enum", "macro")]


def interface(library, include, compiler):
    """All lines, sorted."""
    return sorted([*symbols(library), *types(include, compiler)])


def holds(promised, there):
    """Whether a line keeps what another one promises: an enum, or a structure that is as
    large, may have more members."""
    promised, there = promised.split(" "), there.split(" ")
    if promised[0] not in ("struct", "union", "enum"):
        return promised == there
    return promised[:3] == there[:3] and set(promised[3:]) <= set(there[3:])


def broken(promised, there):
    """Pairs of lines: what was promised, what is there or None."""
    now = {tuple(line.split(" ")[:2]): line for line in there}
    for line in promised:
        found = now.get(tuple(line.split(" ")[:2]))
        if found is None or not holds(line, found):
            yield line, found


def main(words):
    if len(words) > 3 and words[0] == "list":
        print(*interface(words[1], words[2], words[3:]), sep="\n")
        return 0
    if len(words) <= 4 or words[0] != "compare":
        sys.exit(__doc__.strip())
    with open(words[1], encoding="utf-8") as file:
        promised = [line for line in file.read().splitlines()
                    if line and not line.startswith("#")]
    faults = list(broken(promised, interface(words[2], words[3], words[4:])))
    for line, found in faults:
        print(line)
        print("#", found or "is gone")
    return 1 if faults else 0


if __name__ == "__main__":
    if not shutil.which("gdb"):
        print("there is no gdb", file=sys.stderr)
        sys.exit(77)
    sys.exit(main(sys.argv[1:]))

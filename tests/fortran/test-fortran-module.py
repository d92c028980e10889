#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The modules of Fortran, what they are made of, what the libraries export, and the list
of StarPU's names, against each other. TAP.

usage: test-fortran-module.py GENERATE DESCRIPTION INCLUDE MODULE MPI_MODULE SMALL ORRERY
       LIBRARY [MPI_LIBRARY]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
from tools_util import Tap, shared_folder  # noqa: E402  pylint: disable=wrong-import-position

TAP = Tap()
GENERATE, DESCRIPTION, INCLUDE, MODULE, MPI_MODULE, SMALL, OURS, *LIBRARIES = sys.argv[1:]
# What differs from StarPU's module, and why: 64 bits of a tag, a handle that was passed as
# its own address, an array that is written to.
MENDED = {
    "fstarpu_tag_declare_deps_array": "a generic name for tags of 32 and 64 bits",
    "fstarpu_create_sync_task": "a generic name for tags of 32 and 64 bits",
    "fstarpu_data_assign_arbiter": "the handle is a value",
    "fstarpu_mpi_comm_stats_retrieve": "the array is a result",
}
TYPES = {
    "type(c_ptr),value": "ptr", "type(c_ptr),intent(out)": "ptr_out",
    "type(c_ptr),intent(in)": "ptr_ref", "type(c_ptr),dimension(*),intent(in)": "ptrs",
    "integer(c_int),value": "int", "integer(c_int),intent(out)": "int_out",
    "integer(c_size_t),value": "size", "integer(c_long),value": "long",
    "integer(c_long_long),value": "tag", "integer(c_int64_t),value": "int64",
    "integer(c_intptr_t),value": "address", "type(c_funptr),value": "fun",
    "real(c_double),value": "double", "real(c_float),value": "float",
    "character(c_char),intent(in)": "text", "*type(c_ptr),intent(in)": "ptrs",
    "*integer(c_int),intent(in)": "ints", "*integer(c_int),intent(out)": "ints_out",
    "*character(c_char),intent(out)": "text_out",
    "*integer(c_long_long),intent(in)": "tags", "*integer(c_int64_t),intent(in)": "int64s",
}


def described():
    """Rows of the description, by module and name in small letters."""
    done = subprocess.run([sys.executable, "-B", GENERATE, "names", DESCRIPTION],
                          capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {(row[0], row[2].lower()): row for row in rows}


def exported(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                          text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r" &\n\s*", " ", file.read())


def kinds_of(signature):
    """The types of a row of the list, in the description's words."""
    arguments, result, _ = signature.partition(") -> ")
    arguments = arguments[1:] if result else arguments[1:-1]
    kinds = []
    for argument in arguments.split("; ") if arguments else []:
        name, kind = argument.split(": ", 1)
        kind = kind.replace(" ", "").replace(",value,intent(in)", ",value")
        kinds.append(TYPES.get(("*" if "(*)" in name else "") + kind, kind))
    return " ".join(kinds)


def modules_have(rows, texts):
    missing = []
    for (module, name), row in rows.items():
        if row[1] in ("function", "subroutine"):
            pattern = rf'{row[1]} {name}\(.*\) bind\(C, name="{row[3]}"\)'
        else:
            pattern = rf":: {name} ?(=|=>) "
        if not re.search(pattern, texts[module], re.I):
            missing.append(f"{module} {name}")
    TAP.claim(f"the modules have all {len(rows)} names of the description", not missing,
              *missing)


def libraries_have(rows):
    core = exported(LIBRARIES[0])
    mpi = [(library, exported(library)) for library in LIBRARIES[1:]]
    bound = [row for row in rows.values() if row[1] in ("function", "subroutine")]
    missing = [row[3] for row in bound if row[0] != "fstarpu_mpi_mod" and
               row[3] not in core]
    TAP.claim("liborrery.so has what fstarpu_mod and starpu_mod are bound to", not missing, *missing)
    mine = {name for name in core if name.startswith("fstarpu_")}
    unknown = mine - {row[3] for row in bound}
    TAP.claim("and no function for Fortran that is not described", not unknown, *unknown)
    if not mpi:
        TAP.skip("libstarpumpi has what fstarpu_mpi_mod is bound to", "there is no MPI")
    for library, names in mpi:
        missing = [row[3] for row in bound
                   if row[0] == "fstarpu_mpi_mod" and row[3] not in names | core]
        TAP.claim(f"{os.path.basename(os.path.dirname(library))}'s libstarpumpi has what "
                  "fstarpu_mpi_mod is bound to", not missing, *missing)


NUMBERS = {"int": 4, "size": 8, "long": 8, "tag": 8, "int64": 8, "address": 8,
           "double": "double", "float": "float"}


def class_of(argument):
    """Of an argument in C: "pointer", the bytes of an integer, "double", "float"."""
    if "*" in argument or re.search(r"_handle_t|_func_t|_arbiter_t|_arbiter\b", argument):
        return "pointer"
    for real in ("double", "float"):
        if real in argument:
            return real
    long = r"\b(long|size_t|ssize_t|u?intptr_t|starpu_tag_t|u?int64_t|starpu_mpi_tag_t)\b"
    return 8 if re.search(long, argument) else 4


def arguments_of(text):
    """The arguments of a prototype, of which functions have some themselves."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [] if parts == ["void"] else [part.strip() for part in parts]


def headers_agree(rows, include):
    """The types in Fortran are those of the headers, as far as the call is concerned."""
    if not shutil.which("gcc"):
        TAP.skip("arguments are those of the headers", "there is no gcc")
        return
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "all.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <starpu.h>\n#include <orrery.h>\n")
        subprocess.run(["gcc", "-I" + include, "-aux-info", source + ".list", "-c", source,
                        "-o", source + ".o"], check=True)
        with open(source + ".list", encoding="utf-8") as file:
            text = file.read()
    known = {name: arguments_of(arguments) for name, arguments in re.findall(
        r"^/\*.*\*/ extern [^(]*[ *]((?:starpu|orrery)_\w+) \((.*)\);", text, re.M)}
    wrong, n = [], 0
    for row in rows.values():
        if row[1] not in ("function", "subroutine") or row[3] not in known:
            continue
        n += 1
        kinds, in_c = row[4].split(), [class_of(a) for a in known[row[3]]]
        # An address may hold a number, which is in a register as it would be.
        fits = len(kinds) == len(in_c) and all(
            NUMBERS.get(kind, c) == c or (kind in ("ptr", "fun") and c in (4, 8))
            for kind, c in zip(kinds, in_c))
        if not fits or any(kind in NUMBERS and c == "pointer" for kind, c in zip(kinds, in_c)):
            wrong.append(f"{row[3]}: {row[4]} / {', '.join(known[row[3]])}")
    TAP.claim("functions of the headers are there", n > 150, n)
    TAP.claim(f"{n} functions take arguments as their headers say", not wrong, *wrong)


def compilers_take(paths, ours):
    """Every Fortran compiler that is here compiles the sources without a warning; the
    module orrery, gfortran alone: flang 19 has no arrays of assumed rank yet."""
    names = ["gfortran"] + [f"gfortran-{n}" for n in range(9, 16)] + ["flang"] + [
        f"flang-{n}" for n in range(15, 22)] + [f"flang-new-{n}" for n in range(15, 22)]
    found = [name for name in names if shutil.which(name)]
    if not found:
        TAP.skip("compilers take the modules", "there is no Fortran compiler")
    for name in found:
        flags = ["-std=f2018", "-pedantic", "-c"] + (
            ["-Wall", "-Wextra"] if name.startswith("gfortran") else [])
        with tempfile.TemporaryDirectory() as folder:
            said = ""
            for path in (*paths, ours) if name.startswith("gfortran") else paths:
                done = subprocess.run([name, *flags, os.path.abspath(path)], cwd=folder,
                                      capture_output=True, text=True, check=False)
                said += done.stdout + done.stderr + (f"status {done.returncode}"
                                                     if done.returncode else "")
        TAP.claim(f"{name} compiles the modules without a warning", not said, said)


def starpu_has(rows, texts):
    path = os.path.join(shared_folder() or "", "faces", "fortran.tsv")
    if not os.path.exists(path):
        TAP.skip("all names of StarPU's modules are there", "there is no faces/fortran.tsv")
        return
    missing, other = [], []
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file][1:]
    for module, kind, name, signature, symbol, *_ in lines:
        row = rows.get((module, name.lower()))
        in_text = name.replace(" ", "").lower() in texts[module].lower()
        if not row and not in_text:
            missing.append(f"{module} {name}")
        elif row and kind in ("function", "subroutine") and name not in MENDED and (
                row[3] != symbol or row[4] != kinds_of(signature)):
            other.append(f"{name}: {row[3]} {row[4]} / {symbol} {kinds_of(signature)}")
    TAP.claim(f"all {len(lines)} rows of StarPU's modules are there", not missing, *missing)
    TAP.claim("with the same C functions and types of arguments", not other, *other)


ROWS = described()
TEXTS = {"fstarpu_mod": text_of(MODULE), "fstarpu_mpi_mod": text_of(MPI_MODULE),
         "starpu_mod": text_of(SMALL)}
modules_have(ROWS, TEXTS)
libraries_have(ROWS)
headers_agree(ROWS, INCLUDE)
compilers_take((MODULE, MPI_MODULE, SMALL), OURS)
starpu_has(ROWS, TEXTS)
TAP.end()

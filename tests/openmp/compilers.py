# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compilers that have OpenMP, and programs that they have compiled."""
import os
import shutil
import subprocess


def compile_program(words, source, program):
    """None, or what went wrong."""
    done = subprocess.run(words + ["-O2", "-g", "-fopenmp", source, "-o", program, "-lm"],
                          capture_output=True, text=True, check=False, timeout=120)
    return None if done.returncode == 0 else done.stderr


def find(folder):
    """{name: words} of those that can compile such a program, {name: why not} of others."""
    source, there, lacking = os.path.join(folder, "try.c"), {}, {}
    with open(source, "w", encoding="ascii") as file:
        file.write("#include <omp.h>\nint main(void)\n{\n    int n = 0;\n"
                   "#pragma omp parallel reduction(+ : n)\n    n += omp_get_max_threads();\n"
                   "    return n < 1;\n}\n")
    for name in ("gcc", "clang"):
        if not shutil.which(name):
            lacking[name] = "there is no " + name
            continue
        wrong = compile_program([name], source, os.path.join(folder, "try"))
        if wrong:
            lacking[name] = "%s has no OpenMP (Debian: %s)" % (
                name, "libomp-dev" if name == "clang" else "gcc")
        else:
            there[name] = [name]
    return there, lacking

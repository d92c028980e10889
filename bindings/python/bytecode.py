# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compile the files of a package for its __pycache__, unchecked: what is installed
changes by another installation only, which has these anew.

usage: bytecode.py FOLDER INSTALLED PACKAGE FILE...

Writes NAME.cpython-XY.pyc into FOLDER; what tracebacks name is INSTALLED/PACKAGE/NAME.py.
"""
import os
import py_compile
import sys


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__.strip())
    folder, installed, package, *files = sys.argv[1:]
    for path in files:
        name = os.path.basename(path)
        py_compile.compile(
            path, doraise=True, dfile=os.path.join(installed, package, name),
            cfile=os.path.join(folder, os.path.splitext(name)[0] +
                               f".{sys.implementation.cache_tag}.pyc"),
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


if __name__ == "__main__":
    main()

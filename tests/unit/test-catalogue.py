#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The catalogue is what its script derives, byte for byte. Prints TAP.

    test-catalogue.py CATALOGUE_FOLDER
"""

import os
import subprocess
import sys
import tempfile


def files_below(folder):
    """Relative paths of the files of all machines: the script's own folder
    also holds the script."""
    found = set()
    for machine in os.listdir(folder):
        top = os.path.join(folder, machine)
        for where, _, names in os.walk(top):
            if "__pycache__" in where:
                continue
            found |= {os.path.relpath(os.path.join(where, n), folder)
                      for n in names}
    return found


def content(folder, path):
    with open(os.path.join(folder, path), "rb") as source:
        return source.read()


def main(catalogue):
    results = []
    with tempfile.TemporaryDirectory() as fresh:
        subprocess.run([sys.executable, "-B",
                        os.path.join(catalogue, "derive.py"), fresh],
                       check=True)
        there, derived = files_below(catalogue), files_below(fresh)
        results.append((there == derived and bool(derived),
                        "the tree holds the derived files and no others"))
        for path in sorted(there & derived):
            results.append((content(catalogue, path) == content(fresh, path),
                            "%s is what derive.py writes" % path))
            results.append((b"erived from published figures" in
                            b" ".join(content(catalogue, path).split()),
                            "%s says that it is derived" % path))
    symbols = ["chol_model_" + k for k in ("gemm", "potrf", "syrk", "trsm")]
    machines = sorted({path.split(os.sep)[0] for path in there})
    results.append((len(machines) >= 8, "there are at least 8 machines"))
    for name in machines:
        models = {os.path.join(name, "codelets", "45", s + "." + name)
                  for s in symbols + ["vector_scal"]}
        results.append((models <= there,
                        "%s has models for the examples" % name))
        platform = content(catalogue, os.path.join(name, "platform.xml"))
        for word in (b'"description"', b'"derived"', b"Sources:"):
            results.append((word in platform, "%s has its %s" % (
                name, word.decode().strip('": ').lower())))
    print("1..%d" % len(results))
    for number, (passed, claim) in enumerate(results, 1):
        print("%s %d - %s" % ("ok" if passed else "not ok", number, claim))
    return 0 if all(passed for passed, _ in results) else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))

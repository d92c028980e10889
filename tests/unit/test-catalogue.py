#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The catalogue that was built: the script writes the same bytes each time, each
file says where its figures come from, each machine has its models. Prints TAP.

    test-catalogue.py SCRIPTS_FOLDER CATALOGUE_FOLDER
"""

import os
import re
import subprocess
import sys
import tempfile


def files_below(folder):
    """Relative paths of the files of all machines."""
    return {os.path.relpath(os.path.join(where, name), folder)
            for where, _, names in os.walk(folder) for name in names}


def content(folder, path):
    with open(os.path.join(folder, path), "rb") as source:
        return source.read()


def main(scripts, catalogue):
    results = []
    with tempfile.TemporaryDirectory() as fresh:
        derive = [sys.executable, "-B", os.path.join(scripts, "derive.py")]
        subprocess.run([*derive, fresh], check=True)
        there, derived = files_below(catalogue), files_below(fresh)
        results.append((there == derived and bool(derived),
                        "the build has the machines and no other files"))
        for path in sorted(there & derived):
            results.append((content(catalogue, path) == content(fresh, path),
                            "%s is the same, written again" % path))
            words = b" ".join(content(catalogue, path).split())
            results.append((b"erived from published figures" in words or
                            b"igures measured and published by others" in words
                            or b"Figures of " in words,
                            "%s says where it comes from" % path))
    with tempfile.TemporaryDirectory() as other:
        with open(os.path.join(other, "letter"), "w", encoding="ascii"):
            pass
        done = subprocess.run([*derive, other], stderr=subprocess.DEVNULL,
                              check=False)
        results.append((done.returncode != 0 and os.listdir(other) == ["letter"],
                        "a folder with other files is left alone"))
    kernels = ("gemm", "potrf", "syrk", "trsm")
    symbols = [p + k for k in kernels for p in ("chol_model_", "s", "d")]
    machines = sorted({path.split(os.sep)[0] for path in there})
    results.append((len(machines) >= 15, "there are at least 15 machines"))
    count = {"derived": 0, "measured": 0, "partly measured": 0}
    for name in machines:
        platform = content(catalogue, os.path.join(name, "platform.xml"))
        kind = re.search(rb'orrery-provenance" value="([a-z ]+)"',
                         platform).group(1).decode()
        count[kind] += 1
        models = {os.path.join(name, "codelets", "45", s + "." + name)
                  for s in symbols + ["vector_scal"] * (kind == "derived")}
        results.append((models <= there,
                        "%s has models for the examples" % name))
        for word in ["description", "orrery-origin"] + [
                "orrery-licence"] * (kind != "derived"):
            results.append((b'"%s"' % word.encode() in platform,
                            "%s has its %s" % (name, word)))
    results.append((all(count.values()), "machines are of all kinds: %s" %
                    count))
    print("1..%d" % len(results))
    for number, (passed, claim) in enumerate(results, 1):
        print("%s %d - %s" % ("ok" if passed else "not ok", number, claim))
    return 0 if all(passed for passed, _ in results) else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

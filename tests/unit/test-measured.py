#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The catalogue's measured machines have the figures of their sources, and the
gemm laws of the derived ones are as good as docs/CATALOGUE.md says. Prints TAP.

    test-measured.py SCRIPTS_FOLDER DOCS_FOLDER

Skipped without measured/ in ORRERY_SHARED.
"""
import os
import re
import sys

sys.dont_write_bytecode = True

import tools_util  # noqa: E402

SHARED = os.path.join(tools_util.shared_folder(), "measured")
FILES = {"sirocco-v100": "sirocco-v100", "sirocco-p100": "sirocco-p100",
         "sirocco-rtx8000": "sirocco-rtx8000",
         "sirocco-a100": "sirocco-a100-ctest"}
GEMINI = {("fp32", "gemm"): "chol_model_22.gemini-1-fgcs",
          ("fp32", "trsm"): "chol_model_21.gemini-1-fgcs",
          ("fp64", "gemm"):
          "starpu_dlu_lu_model_22.gemini-1-lu_sans_cusolver",
          ("fp64", "trsm"):
          "starpu_dlu_lu_model_21.gemini-1-lu_sans_cusolver"}


def source_file(machine, precision, kernel):
    if machine == "gemini-1":
        return GEMINI[precision, kernel]
    return "%s%s.%s" % ({"fp32": "s", "fp64": "d"}[precision], kernel,
                        FILES[machine])


def read_models(name):
    """{place: {hash: (mean, deviation, samples)}} of a file of StarPU."""
    found, place = {}, None
    with open(os.path.join(SHARED, "codelets", "45", name),
              encoding="ascii") as source:
        for line in source:
            match = re.match(r"# Model for (\w+)_impl0", line)
            place = match.group(1) if match else place
            words = line.split()
            if len(words) == 8 and re.fullmatch("[0-9a-f]{8}", words[0]):
                found.setdefault(place, {})[int(words[0], 16)] = (
                    float(words[3]), float(words[4]), int(words[7]))
    return found


def read_matrix(name):
    with open(os.path.join(SHARED, "bus", name), encoding="ascii") as source:
        return [[float(x) for x in line.split()] for line in source
                if not line.startswith("#")]


def close(ours, theirs, digits):
    """Whether ours is theirs, rounded to so many digits."""
    return abs(ours - float("%.*g" % (digits, theirs))) <= 1e-9 * abs(ours)


def wrong_rows(name, machine, catalogue):
    wrong = []
    for (precision, kernel, n), places in machine["rows"].items():
        theirs = read_models(source_file(name, precision, kernel))
        number = catalogue["files"].footprint(
            n, catalogue["law"].KERNELS[kernel]["operands"])
        for place, (us, spread, samples) in places.items():
            mean, deviation, count = theirs[place][number]
            if not (close(us, mean, 4) and samples == count and
                    close(spread, 100 * deviation / mean, 2)):
                wrong.append((precision, kernel, n, place))
    return wrong


def wrong_bus(name, machine):
    source = FILES.get(name, "gemini-1-fgcs")
    wrong = []
    for kind, digits in (("bandwidth", 0.5), ("latency", 0.005)):
        theirs = read_matrix("%s.%s" % (source, kind))
        for i, row in enumerate(machine[kind]):
            for j, value in enumerate(row):
                if i != j and abs(value - theirs[i][j]) > digits + 1e-9:
                    wrong.append((kind, i, j))
    return wrong


def wrong_host(name, machine):
    """Main memory's own links, as the source's platform file has them; the link of
    gemini-1 is what its authors put there by hand, in a file that is not at hand."""
    if name == "gemini-1":
        return []
    with open(os.path.join(SHARED, "bus", FILES[name] + ".platform.v4.xml"),
              encoding="ascii") as source:
        found = re.findall(r'<link id="(?:Host|NUMA\d+)" bandwidth="([0-9.]+)Bps"',
                           source.read())
    theirs = [float(rate) / 1e6 for rate in found]
    return [pair for pair in zip(machine["host"], theirs)
            if abs(pair[0] - pair[1]) > 0.5] or (
                [] if len(theirs) == len(machine["host"]) else [theirs])


def is_spoiled(name, key, place):
    """The rows that the sources' readers found to be no times of kernels."""
    _, kernel, n = key
    if name == "sirocco-a100":
        return kernel in ("gemm", "syrk") and n == 800 and place != "cpu0"
    return name == "gemini-1" and (kernel == "potrf" or
                                   place not in ("cuda0", "cuda1"))


def main(folder, docs):
    if not os.path.isdir(SHARED):
        print("1..0 # SKIP no measured/ in ORRERY_SHARED")
        return 0
    sys.path.insert(0, folder)
    import files
    import judge
    import law
    import measured
    modules = {"files": files, "law": law}
    results = []
    for name, machine in measured.MACHINES.items():
        wrong = wrong_rows(name, machine, modules)
        results.append((not wrong, "kernels of %s have the source's figures: "
                        "%s" % (name, wrong)))
        wrong = wrong_bus(name, machine)
        results.append((not wrong, "the bus of %s has the source's figures: %s"
                        % (name, wrong)))
        wrong = wrong_host(name, machine)
        results.append((not wrong, "main memory of %s has the source's link: %s"
                        % (name, wrong)))
        spoiled = [(key, place) for key, places in machine["rows"].items()
                   for place in places if is_spoiled(name, key, place)]
        results.append((not spoiled, "%s has no spoiled rows: %s" % (
            name, spoiled)))
        results.append((machine["licence"] in (
            "CeCILL-C", "LGPL-2.1-or-later") and machine["origin"],
                        "%s has origin and licence" % name))
    rows = judge.table(os.path.join(SHARED, "gemm-fp32.tsv"))
    print("\n".join("# " + row for row in rows))
    with open(os.path.join(docs, "CATALOGUE.md"), encoding="utf-8") as said:
        text = said.read()
    for row in rows:
        results.append((row in text, "docs/CATALOGUE.md has: " + row))
    good = judge.errors(os.path.join(SHARED, "gemm-fp32.tsv"))
    for name in judge.NAMES.values():
        _, median, within, _ = judge.summary(good[name, "linear"] +
                                             good[name, "bmm"])
        results.append((median < 0.20 and within > 0.55,
                        "%s: the median product is within 20 %%, %.0f %% of "
                        "them within the stated range" % (name,
                                                          100 * within)))
    print("1..%d" % len(results))
    for number, (passed, claim) in enumerate(results, 1):
        print("%s %d - %s" % ("ok" if passed else "not ok", number, claim))
    return 0 if all(passed for passed, _ in results) else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

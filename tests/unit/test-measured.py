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
GEMINI = {"sgemm": "chol_model_22.gemini-1-fgcs",
          "strsm": "chol_model_21.gemini-1-fgcs",
          "dgemm": "starpu_dlu_lu_model_22.gemini-1-lu_sans_cusolver",
          "dtrsm": "starpu_dlu_lu_model_21.gemini-1-lu_sans_cusolver"}


def source_file(machine, kernel):
    if machine == "gemini-1":
        return GEMINI[kernel]
    return "%s.%s" % (kernel, FILES[machine])


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


def wrong_rows(name, measured):
    wrong = []
    for (kernel, n), places in measured.ROWS[name].items():
        theirs = read_models(source_file(name, kernel))
        number, _ = measured.task(kernel, n)
        for place, (us, spread, samples) in places.items():
            mean, deviation, count = theirs[place][number]
            if not (close(us, mean, 4) and samples == count and
                    close(spread, 100 * deviation / mean, 2)):
                wrong.append((kernel, n, place))
    return wrong


def missing_kernels(name, measured):
    """Those of the source that have rows on tiles and are not taken over."""
    if name == "gemini-1":
        return []
    folder, ending = os.path.join(SHARED, "codelets", "45"), "." + FILES[name]
    side, theirs = measured.MACHINES[name]["side"], set()
    for file in os.listdir(folder):
        kernel = file.removesuffix(ending)
        if file != kernel and any(measured.task(kernel, side)[0] in rows
                                  for rows in read_models(file).values()):
            theirs.add(kernel)
    return sorted(theirs - {kernel for kernel, _ in measured.ROWS[name]})


def ratio_errors(measured, place):
    """Of the kernels that several machines have measured there, each from the others',
    as factors, sorted."""
    errors = []
    kernels = {kernel for name in measured.RATIO_SOURCES
               for kernel, _ in measured.ROWS[name]}
    for name in measured.RATIO_SOURCES:
        for kernel in kernels:
            if kernel[1:] == measured.RATIO_TO[place] or (
                    kernel[0] == "d" and place != "cpu0" and
                    name == "sirocco-rtx8000"):
                continue
            own = measured.ratio(name, kernel, place)
            others = measured.ratio_elsewhere(name, kernel, place)
            if own and others:
                errors.append(max(own / others, others / own))
    return sorted(errors)


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
    kernel, n = key
    if name == "sirocco-a100":
        return kernel[1:] in ("gemm", "syrk") and n == 800 and place != "cpu0"
    return name == "gemini-1" and (kernel[1:] == "potrf" or
                                   place not in ("cuda0", "cuda1"))


def main(folder, docs):
    if not os.path.isdir(SHARED):
        print("1..0 # SKIP no measured/ in ORRERY_SHARED")
        return 0
    sys.path.insert(0, folder)
    import judge
    import measured
    results = []
    for name, machine in measured.MACHINES.items():
        wrong = wrong_rows(name, measured)
        results.append((not wrong, "kernels of %s have the source's figures: "
                        "%s" % (name, wrong)))
        wrong = missing_kernels(name, measured)
        results.append((not wrong, "%s has all kernels of its source: %s"
                        % (name, wrong)))
        wrong = wrong_bus(name, machine)
        results.append((not wrong, "the bus of %s has the source's figures: %s"
                        % (name, wrong)))
        wrong = wrong_host(name, machine)
        results.append((not wrong, "main memory of %s has the source's link: %s"
                        % (name, wrong)))
        spoiled = [(key, place) for key, places in measured.ROWS[name].items()
                   for place in places if is_spoiled(name, key, place)]
        results.append((not spoiled, "%s has no spoiled rows: %s" % (
            name, spoiled)))
        results.append((machine["licence"] in (
            "CeCILL-C", "LGPL-2.1-or-later") and machine["origin"],
                        "%s has origin and licence" % name))
    for place in ("cpu0", "cuda0"):
        errors = ratio_errors(measured, place)
        ninth = errors[int(0.9 * len(errors))]
        results.append((abs(ninth - measured.RATIO_RANGE[place]) < 0.005,
                        "nine of ten rows in proportion on %s are within the stated "
                        "range: %.3f, of %d" % (place, ninth, len(errors))))
        print("# in proportion on %s: median %.2f, %.2f at most" % (
            place, errors[len(errors) // 2], errors[-1]))
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

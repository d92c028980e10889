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


def derived_over_measured(scripts):
    """For each link of the measured machines what the rules of the derived ones give of
    its bandwidth, and of its latency, relative to the measured ones."""
    sys.path.insert(0, scripts)
    sys.dont_write_bytecode = True
    import measured  # pylint: disable=import-outside-toplevel
    import parts  # pylint: disable=import-outside-toplevel
    bandwidths, latencies = [], []
    for machine in measured.MACHINES.values():
        name, memories = machine["devices"][0], machine["memories"]
        device = parts.DEVICES[name]
        bus = parts.pcie(device["pcie"])
        for i, row in enumerate(machine["bandwidth"]):
            for j, mbps in enumerate(row):
                if i == j or (i < memories and j < memories):
                    continue  # no figure of main memories was seen
                if i < memories or j < memories:
                    bandwidth = bus * parts.PCIE_EFFICIENCY[device["pcie"]]
                    latency = parts.PCIE_LATENCY
                elif mbps > machine.get("nvlink", float("inf")):
                    # One or two of six links.
                    bandwidth = (device["link"] / 6 * parts.link_efficiency(name) *
                                 round(mbps / 25e3))
                    latency = parts.LINK_LATENCY
                else:
                    bandwidth = bus * parts.PEER_EFFICIENCY
                    latency = 2 * parts.PCIE_LATENCY
                bandwidths.append(bandwidth / (mbps * 1e6))
                latencies.append(latency / (machine["latency"][i][j] * 1e-6))
    return bandwidths, latencies


def check_draws(scripts, results):
    """What compare --draws takes for the errors of links is half as much again as what
    holds nine of ten of those that the rules were found from, as docs/COMPARE.md says."""
    source = os.path.dirname(os.path.dirname(scripts))
    with open(os.path.join(source, "platforms", "draw.h"), encoding="utf-8") as file:
        stated = dict(re.findall(r"#define ORR_DRAW_(\w+)\s+([0-9.]+)", file.read()))
    with open(os.path.join(source, "docs", "COMPARE.md"), encoding="utf-8") as file:
        docs = " ".join(file.read().split())
    for name, ratios in zip(("bandwidth", "latency"), derived_over_measured(scripts)):
        error = float(stated[name.upper()]) / 1.5
        share = sum(1 / (1 + error) <= one <= 1 + error for one in ratios) / len(ratios)
        text = "%.0f %% of %d %s lie within %.0f %%" % (
            100 * share, len(ratios), {"bandwidth": "bandwidths",
                                       "latency": "latencies"}[name], 100 * error)
        results.append((0.9 <= share < 0.95 and text in docs,
                        "docs/COMPARE.md says it: " + text))


def main(scripts, catalogue):
    results = []
    check_draws(scripts, results)
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

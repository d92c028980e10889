#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges the gemm laws of law.py by measures of others.

    judge.py TABLE      prints a row per device, as docs/CATALOGUE.md has them

TABLE is gemm-fp32.tsv of the reference data: NeuSight's times of PyTorch's
products in float32 without TF32 (MIT), which contain 30 to 55 us of the host in
small shapes. Shapes of at least LEAST_FLOPS are judged; `linear` (one product)
was used to fit the parameters, `bmm` (a batch of smaller ones) was not.
"""
import csv
import statistics
import sys

import law

LEAST_FLOPS = 1e9
# The devices' names there.
NAMES = {"NVIDIA H100 80GB HBM3": "H100 SXM",
         "NVIDIA A100 80GB PCIe": "A100 PCIe 80GB",
         "NVIDIA A100-PCIE-40GB": "A100 PCIe 40GB",
         "Tesla V100-PCIE-32GB": "V100 PCIe",
         "Tesla P100-PCIE-16GB": "P100 PCIe",
         "NVIDIA L4": "L4", "Tesla T4": "T4", "Tesla P4": "P4"}


def errors(path):
    """(device, kind): how long the law says over how long it took, per shape."""
    found = {}
    with open(path, newline="", encoding="utf-8") as source:
        for row in csv.DictReader(source, delimiter="\t"):
            name = NAMES[row["device"]]
            b, m, n, k = (int(row[key]) for key in ("batch", "m", "n", "k"))
            if 2 * b * m * n * k < LEAST_FLOPS:
                continue
            ratio = law.gemm_us(name, m, n, k, b) / (
                float(row["milliseconds"]) * 1e3)
            found.setdefault((name, row["kind"]), []).append(ratio)
    return found


def summary(ratios):
    """Median error in either direction and how many are within the range."""
    off = [max(ratio, 1 / ratio) - 1 for ratio in ratios]
    within = sum(x <= law.GEMM_RANGE - 1 for x in off) / len(off)
    return (len(ratios), statistics.median(off), within,
            statistics.median(ratios))


def table(path):
    rows = ["| device | products | shapes | median error | within %g %% | "
            "law / measured, median |" % round(100 * (law.GEMM_RANGE - 1)),
            "|---|---|---|---|---|---|"]
    found = errors(path)
    for name in NAMES.values():
        for kind in ("linear", "bmm"):
            rows.append("| %s | %s | %d | %.0f %% | %.0f %% | %.2f |" % (
                (name, kind) + tuple(
                    value * scale for value, scale in zip(
                        summary(found[name, kind]), (1, 100, 100, 1)))))
    return rows


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] == "--help":
        sys.exit(__doc__)
    print("\n".join(table(sys.argv[1])))

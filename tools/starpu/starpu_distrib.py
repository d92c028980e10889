# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads distrib.data, which starpu_fxt_tool writes: a line per executed task."""
import collections

from starpu_traces import Failed

Row = collections.namedtuple("Row", "codelet worker bytes footprint ms line")


def read_distrib(path):
    rows = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip("\n").split("\t")
            try:
                codelet, worker, size, footprint, ms = fields
                rows.append(Row(codelet, worker, int(size), footprint, float(ms), line))
            except ValueError as error:
                raise Failed(f"{path}:{number}: codelet, worker, bytes, footprint and "
                             "ms, separated by tabs, are expected") from error
    return rows

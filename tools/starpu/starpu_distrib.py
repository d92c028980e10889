# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads distrib.data, which starpu_fxt_tool writes: a line per executed task."""
import collections

from starpu_traces import Failed, lines_of, moment, whole

Row = collections.namedtuple("Row", "codelet worker bytes footprint ms line")


def read_distrib(path):
    rows = []
    for number, line in enumerate(lines_of(path), 1):
        fields = line.rstrip("\n").split("\t")
        try:
            codelet, worker, size, footprint, ms = fields
            whole(worker), int(footprint, 16) # which become parts of file names
            rows.append(Row(codelet, worker, whole(size), footprint, moment(ms), line))
        except ValueError as error:
            raise Failed(f"{path}:{number}: codelet, worker, bytes, footprint and "
                         "ms, separated by tabs, are expected") from error
    return rows

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints what an SQLite export of Nsight Systems has, as trace events in JSON with the
arguments of PyTorch's profiler. Times are µs since the first event; errors are a line on
standard output, and status 1.

usage: nsys.py FILE
"""
import bisect
import json
import sqlite3
import sys

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"
SETS = "CUPTI_ACTIVITY_KIND_MEMSET"
CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
WAITS = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
RECORDS = "CUPTI_ACTIVITY_KIND_CUDA_EVENT"
COPY_NAMES = {1: "Memcpy HtoD", 2: "Memcpy DtoH", 8: "Memcpy DtoD", 9: "Memcpy HtoH",
              10: "Memcpy PtoP"}
WAIT_NAMES = {1: "Event Sync", 2: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}
RANGES = (59, 60, 70, 71)   # NVTX: of a thread, of a process, and what they were before


def fail(words):
    print(words)
    sys.exit(1)


class Export:
    def __init__(self, path):
        self.base = sqlite3.connect("file:%s?mode=ro&immutable=1" % path.replace("?", "%3f"),
                                    uri=True)
        self.base.row_factory = sqlite3.Row
        self.tables = {row[0] for row in
                       self.base.execute("select name from sqlite_master where type='table'")}
        if not self.tables & {KERNELS, COPIES, CALLS, "NVTX_EVENTS"}:
            fail("it is no export of Nsight Systems: no table %s" % KERNELS)
        self.texts = {row["id"]: row["value"] for row in self.rows("StringIds")}
        self.count = 0

    def rows(self, table):
        if table not in self.tables:
            return []
        return self.base.execute("select * from %s" % table)

    def text(self, number):
        return self.texts.get(number, str(number))

    def put(self, event):
        sys.stdout.write("%s%s" % (",\n" if self.count else "", json.dumps(event)))
        self.count += 1

    def slice(self, row, category, name, pid, tid, args):
        end = row["end"] if row["end"] is not None else row["start"]
        self.put({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                  "ts": row["start"] / 1000, "dur": max(0, end - row["start"]) / 1000,
                  "args": args})


def field(row, name, otherwise=None):
    return row[name] if name in row.keys() and row[name] is not None else otherwise


def process(identifier):
    return (identifier // 0x1000000) % 0x1000000


def thread(row):
    identifier = field(row, "globalTid", 0)
    return process(identifier), identifier % 0x1000000


def correlation(row):
    """Each process counts for itself."""
    of = field(row, "globalPid", field(row, "globalTid", 0))
    return process(of) << 32 | field(row, "correlationId", 0) & 0xffffffff


def on_device(row):
    return {"device": field(row, "deviceId", 0), "stream": field(row, "streamId", 0),
            "correlation": correlation(row)}


def put_kernels(export):
    for row in export.rows(KERNELS):
        name = field(row, "demangledName", field(row, "shortName", 0))
        args = on_device(row)
        args["grid"] = [field(row, "grid" + axis, 1) for axis in "XYZ"]
        args["block"] = [field(row, "block" + axis, 1) for axis in "XYZ"]
        export.slice(row, "kernel", export.text(name), args["device"], args["stream"], args)
    for row in export.rows(COPIES):
        args = dict(on_device(row), bytes=field(row, "bytes", 0))
        name = COPY_NAMES.get(field(row, "copyKind", 0), "Memcpy")
        export.slice(row, "gpu_memcpy", name, args["device"], args["stream"], args)
    for row in export.rows(SETS):
        args = on_device(row)
        export.slice(row, "gpu_memset", "Memset (Device)", args["device"], args["stream"], args)


def put_calls(export):
    for row in export.rows(CALLS):
        name = export.text(field(row, "nameId", 0))
        if "_v" in name:   # cudaLaunchKernel_v7000
            name = name[:name.rindex("_v")]
        pid, tid = thread(row)
        export.slice(row, "cuda_runtime", name, pid, tid, {"correlation": correlation(row)})


def put_ranges(export):
    for row in export.rows("NVTX_EVENTS"):
        if row["eventType"] not in RANGES or row["end"] is None:
            continue
        name = field(row, "text") or export.text(field(row, "textId", ""))
        pid, tid = thread(row)
        export.slice(row, "user_annotation", name, pid, tid, {})


def event_key(row):
    """Which record of an event a wait is for: newer exports have a number for each."""
    return (process(field(row, "globalPid", 0)), field(row, "contextId", 0),
            field(row, "eventId"), field(row, "eventSyncId"))


def put_waits(export):
    """An event was recorded last before the wait was asked for."""
    records = {}
    for row in export.rows(RECORDS):
        records.setdefault(event_key(row), []).append(
            (field(row, "correlationId", 0), correlation(row), field(row, "streamId", 0)))
    for made in records.values():
        made.sort()
    for row in export.rows(WAITS):
        args = dict(on_device(row), wait_on_stream=-1, wait_on_cuda_event_record_corr_id=-1)
        if args["stream"] >= 0xffffffff:
            args["stream"] = -1
        made = records.get(event_key(row), [])
        place = bisect.bisect_left(made, (field(row, "correlationId", 0),))
        if place:
            _, args["wait_on_cuda_event_record_corr_id"], args["wait_on_stream"] = made[place - 1]
        export.put({"ph": "X", "cat": "cuda_sync", "name": WAIT_NAMES.get(row["syncType"], ""),
                    "ts": row["start"] / 1000, "args": args})


def put_names(export):
    for row in export.rows("PROCESSES"):
        export.put({"ph": "M", "name": "process_name", "tid": 0,
                    "pid": process(field(row, "globalPid", 0)),
                    "args": {"name": str(field(row, "name", ""))}})


def main():
    try:
        export = Export(sys.argv[1])
        sys.stdout.write("[")
        put_names(export)
        put_kernels(export)
        put_calls(export)
        put_ranges(export)
        put_waits(export)
        sys.stdout.write("]\n")
    except (sqlite3.Error, IndexError, KeyError, TypeError) as error:
        fail("\nit cannot be read as an export of Nsight Systems: %s" % error)


main()

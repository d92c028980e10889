# SPDX-License-Identifier: LGPL-2.1-or-later
"""Timelines for tests, written as the public descriptions of the formats have them: a training
loop as PyTorch's profiler (Kineto) sees it, and the same as Nsight Systems exports it."""
import json
import sqlite3


class Loop:
    """Steps of a training loop on one GPU: the input is copied, kernels run in stream 7, and
    in stream 20 behind an event; the loss comes back, and the host waits for it."""

    def __init__(self, steps=3, gemm_us=500.0, batch=64):
        self.operators, self.calls, self.device, self.waits, self.spans = [], [], [], [], []
        self.now, self.number, self.free = 1000.0, 0, {7: 0.0, 20: 0.0}
        self.batch = batch
        for step in range(steps):
            begin = self.now
            self.step(gemm_us)
            self.spans.append({"name": "ProfilerStep#%d" % step, "start": begin,
                               "end": self.now})

    def call(self, name, length=5.0):
        self.number += 1
        self.calls.append({"name": name, "start": self.now, "end": self.now + length,
                           "correlation": self.number, "operator": len(self.operators)})
        self.now += length
        return self.number

    def launch(self, operator, kernel, length, stream=7, dims=(), copied=None):
        self.operators.append({"name": operator, "start": self.now, "end": self.now + 20,
                               "number": len(self.operators) + 1, "dims": list(dims)})
        self.now += 10
        number = self.call("cudaMemcpyAsync" if copied else "cudaLaunchKernel")
        start = max(self.now, self.free[stream])
        self.free[stream] = start + length
        self.device.append({"name": kernel, "start": start, "end": start + length,
                            "stream": stream, "correlation": number, "copied": copied,
                            "operator": len(self.operators)})
        self.now += 10

    def wait(self, stream, other):
        record = self.call("cudaEventRecord", 1.0)
        number = self.call("cudaStreamWaitEvent", 1.0)
        self.waits.append({"stream": stream, "other": other, "correlation": number,
                           "record": record, "start": self.now})
        self.free[stream] = max(self.free[stream], self.free[other])

    def step(self, gemm_us):
        n = self.batch
        self.launch("aten::copy_", "Memcpy HtoD (Pinned -> Device)", 200.0, copied=4 << 20)
        self.launch("aten::linear", "void gemm<float, 4>(int, float*)", gemm_us,
                    dims=[[n, 1024], [1024, 1024]])
        self.launch("aten::linear", "void gemm<float, 4>(int, float*)", 2 * gemm_us,
                    dims=[[n, 1024], [1024, 2048]])
        self.wait(20, 7)
        self.launch("aten::norm", "void at::native::(anonymous namespace)::norm<float>(float*)",
                    100.0, stream=20)
        self.launch("aten::add", "void add(int)", 40.0)
        self.wait(7, 20)
        self.launch("aten::item", "Memcpy DtoH (Device -> Pageable)", 10.0, copied=4)
        end = self.free[7]
        self.call("cudaStreamSynchronize", end + 5 - self.now)

    def length_us(self):
        return self.now - 1000.0


def kineto(loop, **more):
    """The file of PyTorch's profiler."""
    events = [{"ph": "M", "name": "process_name", "pid": 11, "tid": 0,
               "args": {"name": "python"}}]
    for o in loop.operators:
        events.append({"ph": "X", "cat": "cpu_op", "name": o["name"], "pid": 11, "tid": 11,
                       "ts": o["start"], "dur": o["end"] - o["start"],
                       "args": {"External id": o["number"], "Input Dims": o["dims"]}})
    for c in loop.calls:
        events.append({"ph": "X", "cat": "cuda_runtime", "name": c["name"], "pid": 11, "tid": 11,
                       "ts": c["start"], "dur": c["end"] - c["start"],
                       "args": {"External id": c["operator"], "correlation": c["correlation"]}})
    for d in loop.device:
        args = {"External id": d["operator"], "device": 0, "stream": d["stream"],
                "correlation": d["correlation"]}
        if d["copied"]:
            args["bytes"] = d["copied"]
        else:
            args.update(grid=[64, 1, 1], block=[128, 1, 1])
        events.append({"ph": "X", "cat": "gpu_memcpy" if d["copied"] else "kernel",
                       "name": d["name"], "pid": 0, "tid": d["stream"], "ts": d["start"],
                       "dur": d["end"] - d["start"], "args": args})
        events.append({"ph": "f", "id": d["correlation"], "pid": 0, "tid": d["stream"],
                       "ts": d["start"], "cat": "ac2g", "name": "ac2g", "bp": "e"})
    for w in loop.waits:
        events.append({"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0,
                       "tid": w["stream"], "ts": w["start"], "dur": 0,
                       "args": {"stream": w["stream"], "device": 0,
                                "correlation": w["correlation"], "wait_on_stream": w["other"],
                                "wait_on_cuda_event_record_corr_id": w["record"]}})
    for s in loop.spans:
        events.append({"ph": "X", "cat": "user_annotation", "name": s["name"], "pid": 11,
                       "tid": 11, "ts": s["start"], "dur": s["end"] - s["start"]})
    return dict({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}],
                 "traceEvents": events, "traceName": "trace.json"}, **more)


def write_kineto(path, loop):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(kineto(loop), file, indent=1)
    return path


NSYS = """
create table StringIds (id integer primary key, value text not null);
create table PROCESSES (globalPid integer, pid integer, name text);
create table NVTX_EVENTS (start integer, end integer, eventType integer, text text,
  globalTid integer, textId integer);
create table CUPTI_ACTIVITY_KIND_RUNTIME (start integer, end integer, globalTid integer,
  correlationId integer, nameId integer, returnValue integer);
create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer,
  contextId integer, streamId integer, correlationId integer, globalPid integer,
  demangledName integer, shortName integer, gridX integer, gridY integer, gridZ integer,
  blockX integer, blockY integer, blockZ integer);
create table CUPTI_ACTIVITY_KIND_MEMCPY (start integer, end integer, deviceId integer,
  contextId integer, streamId integer, correlationId integer, globalPid integer,
  bytes integer, copyKind integer);
create table CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId integer, contextId integer,
  streamId integer, correlationId integer, globalPid integer, eventId integer);
create table CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start integer, end integer, deviceId integer,
  contextId integer, streamId integer, correlationId integer, globalPid integer,
  syncType integer, eventId integer);
"""


def write_nsys(path, loop):
    """What nsys export --type sqlite makes. Times are ns."""
    pid, tid = 11 << 24, 11 << 24 | 11
    texts = {}
    base = sqlite3.connect(path)
    base.executescript(NSYS)

    def text(value):
        return texts.setdefault(value, len(texts) + 1)

    def ns(us):
        return round(us * 1000)

    for c in loop.calls:
        base.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?,?,?,?,?,0)",
                     (ns(c["start"]), ns(c["end"]), tid, c["correlation"],
                      text(c["name"] + "_v7000")))
    for d in loop.device:
        row = (ns(d["start"]), ns(d["end"]), 0, 1, d["stream"], d["correlation"], pid)
        if d["copied"]:
            base.execute("insert into CUPTI_ACTIVITY_KIND_MEMCPY values (?,?,?,?,?,?,?,?,?)",
                         row + (d["copied"], 1 if "HtoD" in d["name"] else 2))
            continue
        base.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values "
                     "(?,?,?,?,?,?,?,?,?,64,1,1,128,1,1)",
                     row + (text(d["name"]), text(d["name"].split("<")[0])))
    for i, w in enumerate(loop.waits):
        base.execute("insert into CUPTI_ACTIVITY_KIND_CUDA_EVENT values (0,1,?,?,?,?)",
                     (w["other"], w["record"], pid, i % 2))
        base.execute("insert into CUPTI_ACTIVITY_KIND_SYNCHRONIZATION values "
                     "(?,?,0,1,?,?,?,2,?)",
                     (ns(w["start"]), ns(w["start"]), w["stream"], w["correlation"], pid, i % 2))
    for s in loop.spans:
        base.execute("insert into NVTX_EVENTS values (?,?,59,?,?,null)",
                     (ns(s["start"]), ns(s["end"]), s["name"], tid))
    base.execute("insert into PROCESSES values (?,11,'python')", (pid,))
    base.executemany("insert into StringIds values (?,?)",
                     [(number, value) for value, number in texts.items()])
    base.commit()
    base.close()
    return path

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small simulated runs write the traces that are stored, byte for byte. Prints
TAP.

    test-traces.py STORED OUT CHOLESKY VECTOR_SCAL PIECES [--update]

STORED is the folder with digests.txt, a line per case, and with the traces that
are stored whole. A trace that is not the stored one is left in OUT. --update
makes the new traces the stored ones and prints what differs; it leaves all of
them in OUT, so that two versions can be compared by `diff -r`.
"""
import difflib
import hashlib
import json
import os
import subprocess
import sys
import tempfile

HEAD = """\
# Simulated runs, see ../test-traces.py, which wrote this with --update: case,
# makespan in microseconds, events of the trace, its SHA-256.
"""
TILE = 960
TILES = 5


class Case:
    """A run whose trace is stored. `program` is one of those of the command
    line; `whole` stores the trace itself; `like` names the case that must give
    the same trace; `evicts` says that device memory must be too small."""

    def __init__(self, name, program, machine, sched, words=(), whole=False,
                 like=None, evicts=False, **env):
        self.name, self.program, self.words = name, program, words
        self.whole, self.like, self.evicts = whole, like, evicts
        self.env = dict(env, ORRERY_MACHINE=machine, STARPU_SCHED=sched)


def cholesky(name, machine, sched, tiles=TILES, **more):
    words = ("-size", str(TILE * tiles), "-nblocks", str(tiles))
    return Case(name, "cholesky", machine, sched, words, **more)


def pieces(name, sched, **more):
    """One processor, so that devices compute as well."""
    return Case(name, "pieces", "h100-pcie-4", sched, STARPU_NCPU="1",
                ORRERY_ASSUME="kernel[add] = 100us", **more)


CASES = [
    pieces("pieces-dmda", "dmda", STARPU_NCUDA="2", whole=True),
    cholesky("h100-dmdas-4", "h100-pcie-4", "dmdas", 4, whole=True),
    # One line per policy.
    *(cholesky("h100-" + sched, "h100-pcie-4", sched)
      for sched in ("eager", "prio", "lws", "random", "dm", "dmda", "dmdas")),
    # Machines: no device, one bus for two devices, copies between devices, and
    # a NUMA node per socket.
    cholesky("laptop-lws", "laptop-8", "lws"),
    cholesky("mixed-dmda", "mixed-a100-v100", "dmda"),
    cholesky("hgx-dmdas", "hgx-h100-8", "dmdas"),
    cholesky("numa-lws", "r940xa-4", "lws", STARPU_USE_NUMA="1"),
    cholesky("numa-dmdas", "r940xa-4", "dmdas", STARPU_USE_NUMA="1"),
    # Four tiles of 15 have room on the device.
    cholesky("evict-prio", "gtx1650-4gb", "prio", STARPU_NCPU="1",
             STARPU_LIMIT_CUDA_MEM="16", evicts=True),
    cholesky("evict-dmdas", "gtx1650-4gb", "dmdas", STARPU_NCPU="1",
             STARPU_LIMIT_CUDA_MEM="16", evicts=True),
    cholesky("starpu-dmdas", "gtx1650-4gb", "dmdas", STARPU_NCPU="1",
             STARPU_LIMIT_CUDA_MEM="16", ORRERY_EVICTION="starpu",
             evicts=True),
    cholesky("lru-dmdas", "gtx1650-4gb", "dmdas", STARPU_NCPU="1",
             STARPU_LIMIT_CUDA_MEM="16", ORRERY_EVICTION="lru", evicts=True),
    cholesky("edit-dmda", "h100-pcie-4", "dmda",
             ORRERY_SET="cuda.count = 2; pcie.bandwidth *= 0.3; "
             "kernel[gemm] on cuda[0] *= 0.7"),
    # Kernels that run take the time that they are said to take. (Cholesky also
    # fills its matrix then.)
    cholesky("run-dmda", "h100-pcie-4", "dmda", ORRERY_SIM_KERNELS="run"),
    pieces("pieces-run", "dmda", STARPU_NCUDA="2", ORRERY_SIM_KERNELS="run",
           like="pieces-dmda"),
    pieces("pieces-eager", "eager"),
    Case("scal-lws", "vector_scal", "laptop-8", "lws"),
    Case("scal-numa", "vector_scal", "r940xa-4", "dmda", STARPU_USE_NUMA="1"),
]


class Trace:
    """What a run of a case has left."""

    def __init__(self, path, report):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.makespan = "%.3f" % report["makespan_us"]
        self.evictions = report["evictions"]
        # 1 to 6 define types and values, % events; # are comments.
        self.events = sum(line.split(b"\t")[0] not in b"1 2 3 4 5 6".split()
                          for line in self.bytes.splitlines()
                          if not line.startswith((b"%", b"#")))

    def lines(self):
        return self.bytes.decode("utf-8", "replace").splitlines()

    def digest(self):
        """As in digests.txt."""
        return (self.makespan, str(self.events),
                hashlib.sha256(self.bytes).hexdigest())


def clean_environment():
    """Nothing but the case decides what is simulated."""
    kept = ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR",
            "ORRERY_CHECK_BOUNDS")
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_")) or name in kept}
    return dict(env, STARPU_SILENT="1", STARPU_PERF_MODEL_DIR="/nonexistent",
                OPENBLAS_NUM_THREADS="1", LC_ALL="C")


def simulate(case, programs, folder):
    """Returns a Trace, or what went wrong."""
    paths = [os.path.join(folder, name) for name in ("trace", "report")]
    env = dict(clean_environment(), ORRERY_TRACE=paths[0],
               ORRERY_REPORT=paths[1], **case.env)
    for path in paths:
        if os.path.exists(path):
            os.remove(path)
    done = subprocess.run([programs[case.program], *case.words], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=100, check=False, encoding="utf-8")
    if done.returncode != 0 or not all(map(os.path.exists, paths)):
        return "%s ended with %d\n%s" % (done.args, done.returncode,
                                         done.stdout)
    with open(paths[1], encoding="utf-8") as file:
        return Trace(paths[0], json.load(file))


def remove_traces(folder):
    """Makes an empty folder, or removes the traces in it."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith(".paje"):
            os.remove(os.path.join(folder, name))


class Store:
    """The stored traces and digests."""

    def __init__(self, folder):
        self.folder = folder
        self.digests = {}
        try:
            with open(self.path("digests.txt"), encoding="ascii") as file:
                for line in file:
                    if not line.startswith("#"):
                        name, *digest = line.split()
                        self.digests[name] = tuple(digest)
        except FileNotFoundError:
            pass

    def path(self, name):
        return os.path.join(self.folder, name)

    def trace_lines(self, case):
        try:
            with open(self.path(case.name + ".paje"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def differences(self, case, trace):
        """Lines about what differs, [] if nothing does."""
        old, new = self.digests.get(case.name), trace.digest()
        lines = []
        if old is None:
            lines.append("this case is not in digests.txt")
        elif old[2] != new[2]:
            lines += ["%s: stored %s, now %s" % (what, *pair)
                      for what, *pair in zip(("makespan (us)", "events"),
                                             old, new) if pair[0] != pair[1]]
            lines = lines or ["makespan and number of events are the same, the "
                              "events are not"]
        elif old != new:
            lines.append("digests.txt contradicts itself")
        stored = self.trace_lines(case) if case.whole else trace.lines()
        if stored != trace.lines():
            lines += difflib.unified_diff(stored, trace.lines(), "stored",
                                          "now", n=1, lineterm="")
        return lines

    def write(self, traces):
        remove_traces(self.folder)
        with open(self.path("digests.txt"), "w", encoding="ascii") as file:
            file.write(HEAD)
            for case, trace in traces:
                file.write(" ".join((case.name, *trace.digest())) + "\n")
        for case, trace in traces:
            if case.whole:
                with open(self.path(case.name + ".paje"), "wb") as file:
                    file.write(trace.bytes)


def keep(out, case, trace):
    path = os.path.join(out, case.name + ".paje")
    with open(path, "wb") as file:
        file.write(trace.bytes)
    return path


def own_faults(case, trace, digests):
    """What is wrong whatever is stored."""
    if case.evicts and trace.evictions == 0:
        yield "nothing was evicted: the memory is large enough"
    if not case.evicts and trace.evictions > 0:
        yield "data were evicted"
    if case.like and digests[case.like] != trace.digest():
        yield "the trace is not that of " + case.like


def update(store, out, traces):
    changed = 0
    for case, trace in traces:
        keep(out, case, trace)
        lines = store.differences(case, trace)
        changed += bool(lines)
        for line in lines[:20]:
            print("%s: %s" % (case.name, line))
    gone = set(store.digests) - {case.name for case, _ in traces}
    for name in sorted(gone):
        print(name + ": the case is gone")
    if changed or gone:
        store.write(traces)
    print("%d of %d traces differ from the stored ones; all new ones are in %s"
          % (changed, len(traces), out))


def judge(store, out, results):
    """Prints TAP, returns the exit code."""
    failed = 0
    digests = {case.name: trace.digest() for case, trace in results
               if isinstance(trace, Trace)}
    digests = {name: digests.get(name) for name in [c.name for c in CASES]}
    for n, (case, trace) in enumerate(results, 1):
        if isinstance(trace, str):
            lines = trace.splitlines()
        else:
            lines = store.differences(case, trace)[:40]
            lines += own_faults(case, trace, digests)
            if lines:
                lines.append("the new trace is " + keep(out, case, trace))
        print("%s %d - %s" % ("not ok" if lines else "ok", n, case.name))
        for line in lines:
            print("# " + line)
        failed += bool(lines)
    if failed:
        print("# README.md beside the stored traces' folder says how to see "
              "the old ones")
    extra = set(store.digests) - {case.name for case in CASES}
    print("%s %d - each stored trace has its case" %
          ("not ok" if extra else "ok", len(results) + 1))
    print("1..%d" % (len(results) + 1))
    return 1 if failed or extra else 0


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    if len(words) != 5:
        sys.exit(__doc__)
    store, out = Store(words[0]), words[1]
    programs = dict(zip(("cholesky", "vector_scal", "pieces"), words[2:]))
    remove_traces(out)
    with tempfile.TemporaryDirectory() as folder:
        results = [(case, simulate(case, programs, folder)) for case in CASES]
    if "--update" not in sys.argv:
        return judge(store, out, results)
    for case, trace in results:
        if isinstance(trace, str):
            sys.exit(case.name + ": " + trace)
    update(store, out, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())

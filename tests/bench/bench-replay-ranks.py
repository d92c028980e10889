#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the replay of several ranks costs: a block-cyclic Cholesky of as many ranks, whose
records are written as orrery record --ranks would, played on one node each. Processor time
and memory per task (goal: 1,000 ranks, a million tasks, in 60 s and 16 GB).

usage: bench-replay-ranks.py PLAYER [TILES [RANKS…]]

182 tiles are a million tasks; a power of two of ranks, or 1000.
"""
import collections
import os
import subprocess
import sys
import tempfile

MACHINE = "h100-pcie-4"
NETWORK = "ib 200Gb/s fat-tree"
TILE = 960
ENV = {"STARPU_SCHED": "lws", "STARPU_SILENT": "1", "STARPU_PERF_MODEL_DIR": "/dev/null/none",
       "STARPU_NCPU": "4", "ORRERY_ASSUME": "* = 500us"}
CODELETS = "".join(
    f'codelet {i + 1} name="{name}" cpu=1 cuda=1 buffers={len(modes)} '
    f'modes={",".join(modes)}\n'
    for i, (name, modes) in enumerate((("potrf", "3"), ("trsm", "13"), ("syrk", "13"),
                                       ("gemm", "113"))))


def grid(ranks):
    rows = int(ranks ** 0.5)
    while ranks % rows:
        rows -= 1
    return rows, ranks // rows


class Rank:
    """The lines of one, as they come."""

    def __init__(self, path, number, size, tiles):
        # A descriptor for each, of a thousand, would be too many.
        self.path, self.lines, self.n, self.tasks = path, [], 0, 0
        self.named, self.received = set(), set()
        with open(path, "w", encoding="utf-8"):
            pass
        self.put('orrery-record 1')
        self.put(f'run machine="{MACHINE}" scheduler="lws"')
        self.put(f"rank {number} size={size}")
        self.put(f"numbers value={tiles}")
        for line in CODELETS.splitlines():
            self.put(line)

    def put(self, line):
        self.lines.append(line)
        self.n += 1

    def name(self, datum, owned):
        if datum not in self.named:
            self.named.add(datum)
            self.put(f'data {datum} kind="matrix"{"" if owned else " home=-1"} '
                     f"shape={TILE},{TILE},{TILE},4,{TILE * TILE * 4}")

    def flush(self):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n" if self.lines else "")
        self.lines = []


def write(folder, ranks, n):
    rows, columns = grid(ranks)
    number, count = {}, 0
    for j in range(n):
        for i in range(j, n):
            count += 1
            number[i, j] = count
    places = [Rank(os.path.join(folder, f"it.rank{r}.rec"), r, ranks, count)
              for r in range(ranks)]
    sent = collections.defaultdict(set)

    def owner(tile):
        return tile[0] % rows * columns + tile[1] % columns

    def insert(codelet, reads, written, priority):
        executor = owner(written)
        at = places[executor]
        for tile in reads:
            of = owner(tile)
            if of == executor or executor in sent[tile]:
                continue
            sent[tile].add(executor)
            tag = f" tag={number[tile]}"
            peer = f" peer={executor}" if executor else ""
            places[of].name(number[tile], True)
            places[of].put(f"send {number[tile]}{peer}{tag} priority={priority}")
            peer = f" peer={of}" if of else ""
            at.name(number[tile], False)
            at.put(f"receive {number[tile]}{peer}{tag} priority={priority}")
        for tile in (*reads, written):
            at.name(number[tile], owner(tile) == executor)
        at.tasks += 1
        data = ",".join(f"{number[tile]}:r" for tile in reads)
        at.put(f"submit {at.tasks} codelet={codelet} data={data}{',' if data else ''}"
               f"{number[written]}:rw priority={priority}")

    def flush(tile):
        for rank in sorted(sent.pop(tile, ())):
            places[rank].put(f"invalidate {number[tile]} how=submit")

    for k in range(n):
        insert(1, [], (k, k), 3 * (n - k))
        for m in range(k + 1, n):
            insert(2, [(k, k)], (m, k), 3 * n - 2 * k - m)
        flush((k, k))
        for j in range(k + 1, n):
            insert(3, [(j, k)], (j, j), 3 * n - k - 2 * j)
            for i in range(j + 1, n):
                insert(4, [(i, k), (j, k)], (i, j), 3 * n - k - i - j)
        for m in range(k + 1, n):
            flush((m, k))
        for place in places:
            place.flush()
    for place in places:
        place.put("wait-messages")
        place.put("end-rank")
        place.put(f"end value={place.n - 1}")
        place.flush()
    return sum(place.tasks for place in places)


def play(player, path, ranks):
    """Seconds of the processor, KiB at most."""
    env = {**os.environ, **ENV, "ORRERY_MACHINE": f"{ranks}*{MACHINE} + {NETWORK}"}
    env.pop("ORRERY_CHECK_BOUNDS", None)
    process = subprocess.Popen([player, path], env=env)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{player} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def main():
    player = os.path.abspath(sys.argv[1])
    tiles = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    for ranks in map(int, sys.argv[3:] or ("16", "64", "256")):
        with tempfile.TemporaryDirectory() as folder:
            tasks = write(folder, ranks, tiles)
            size = sum(os.path.getsize(os.path.join(folder, name))
                       for name in os.listdir(folder))
            seconds, kilobytes = play(player, os.path.join(folder, "it.rank0.rec"), ranks)
        print(f"bench replay-ranks ranks={ranks} tasks={tasks} {seconds / tasks * 1e6:.2f} "
              f"us/task {kilobytes * 1024 / tasks:.0f} B/task {seconds:.1f} s "
              f"{kilobytes / 2 ** 20:.2f} GiB {size / tasks:.0f} B/task in records", flush=True)


main()

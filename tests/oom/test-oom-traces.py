#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each allocation of `orrery explain` and `orrery report` of traces fails in turn: they
end with 1 and a message, and leave the old page. Prints TAP.

    test-oom-traces.py ORRERY REFUSE.so [all]

Without `all` some of them, spread evenly, are tried.
"""
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
import tools_util as util  # noqa: E402
from oom_util import content, numbers  # noqa: E402

TRACE = os.path.join(HERE, "..", "fuzz", "trace", "two.csv")
GRAPH = """orrery-graph 1
machine "two"
about "scheduler" "dmda"
run simulated 0.2
node "NUMA 0" inf
node "CUDA 0" inf
worker "CPU 0" 0
worker "CPU 1" 0
link "PCIe" 6000000
route 0 1 0.015 0
kind "gemm" c0ffee12 0 2 0.1 0
datum 0 valued 4096 "A"
task 0 1 -5 ran 1 0.03 0.13
uses 0 rw
task 0 2 0 ran 0 0.17 0.2
after 0 4096
uses 0 rw
end
"""


def of_rank(text, rank):
    """The trace as that of one of two ranks, the second of which has a message of the
    first."""
    lines = text.splitlines(keepends=True)
    behind = max(i for i, line in enumerate(lines) if line.startswith("worker,")) + 1
    way = "received" if rank else "sent"
    more = [f"rank,0,0,,,,,{rank},2,,,,0,,,,,,\n",
            f'message,0.01,0.02,,,"A",,,{1 - rank},4096,{way},1,1,,,7,,,\n']
    return "".join(lines[:behind] + more + lines[behind:])


def run_once(orrery, refuse, words, number):
    """(result, allocations, files before, after)."""
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "files")
        count = os.path.join(parent, "count")
        os.mkdir(folder)
        shutil.copy(TRACE, os.path.join(folder, "run.csv"))
        with open(TRACE, encoding="utf-8") as file:
            other = file.read().replace("0.170000000,0.200", "0.170000000,0.300")
        with open(TRACE, encoding="utf-8") as file:
            trace = file.read()
        for name, text in (("of.rank0.csv", of_rank(trace, 0)), ("of.rank0.graph", GRAPH),
                           ("of.rank1.csv", of_rank(trace, 1)), ("of.rank1.graph", GRAPH),
                           ("other.csv", other), ("run.graph", GRAPH),
                           ("page.html", "old")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        env = util.clean_environment(folder, "testbox", LD_PRELOAD=refuse,
                                     REFUSE=str(number), REFUSE_COUNT=count)
        before = content(folder)
        result = util.run(orrery, *[word.format(f=folder) for word in words],
                          env=env)
        result.out = result.out.replace(parent, "")
        after = {name: text.replace(parent.encode(), b"")
                 for name, text in content(folder).items()}
        with open(count, encoding="ascii") as file:
            return result, int(file.read()), before, after


def verify(result, before, after, good, done):
    """Why a run that lacked memory is wrong, or None."""
    if result.code == 0:
        return None if result.out == good.out and after == done else \
            "ended with 0, but did not do it"
    if result.code != 1 or not result.err:
        return "ended with %d, said %r" % (result.code, result.err)
    return None if after["page.html"] in (before["page.html"], done["page.html"]) \
        else "left half a page"


def main(orrery, refuse, tried):
    tap = util.Tap()
    for text in ("explain {f}/run.csv", "explain --json {f}/run.csv",
                 "explain {f}/run.csv {f}/other.csv",
                 "explain --json {f}/run.csv {f}/other.csv",
                 "explain {f}/of.rank0.csv {f}/of.rank1.csv",
                 "explain --json {f}/of.rank0.csv {f}/of.rank1.csv",
                 "report --plain -o {f}/page.html {f}/of.rank0.csv {f}/of.rank1.csv",
                 "report --plain -o {f}/page.html {f}/run.csv"):
        words = text.split()
        good, n, before, done = run_once(orrery, refuse, words, 0)
        if "charting library" in good.err:
            tap.claim(f"`{text}` # SKIP the page was not built", True)
            continue
        tap.claim(f"`{text}` works with enough memory",
                  good.code == 0 and n > 0 and
                  (done["page.html"] != b"old") == (words[0] == "report"), good)
        wrong = []
        for number in numbers(n, tried):
            result, _, before, after = run_once(orrery, refuse, words, number)
            why = verify(result, before, after, good, done)
            if why:
                wrong.append(f"allocation {number}: {why}")
        tap.claim(f"`{text}` survives {len(numbers(n, tried))} of {n} "
                  "allocations that fail", not wrong)
        for line in wrong[:10]:
            print("# " + line)
    tap.end()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["all"]):
        sys.exit(__doc__)
    main(*sys.argv[1:3], None if sys.argv[3:] else 8)

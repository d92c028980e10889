#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Allocations of the commands on machines fail in turn: they end with 1 and
a message, leave no half of a file, and of several files all or none. Prints TAP.

    test-oom-machine.py ORRERY REFUSE.so [all]

Without `all` some of them, spread evenly, are tried.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "unit"))
import tools_util as util  # noqa: E402
from oom_util import content, numbers  # noqa: E402


def run_once(orrery, refuse, words, packed, number):
    """Returns (result, allocations, files that were made)."""
    with tempfile.TemporaryDirectory() as parent:
        count = os.path.join(parent, "count")
        made = os.path.join(parent, "made")
        os.mkdir(made)
        env = util.clean_environment(made, "box", LD_PRELOAD=refuse,
                                     REFUSE=str(number), REFUSE_COUNT=count)
        del env["STARPU_HOSTNAME"]
        result = util.run(orrery, "machine", *(
            word.format(made=made, packed=packed) for word in words), env=env)
        result.out = result.out.replace(parent, "")
        if not os.path.exists(count): # it was killed
            return result, 0, content(made)
        with open(count, encoding="ascii") as file:
            return result, int(file.read()), content(made)


def verify(result, made, good, done):
    """Why a run that lacked memory is wrong, or None."""
    if result.code < 0:
        return "killed by signal %d" % -result.code
    if result.code == good.code and made == done and result.out == good.out:
        return None
    if result.code != 1:
        return "ended with %d, but did not do it" % result.code
    if not result.err:
        return "said nothing"
    return "left " + ", ".join(made) if made else None


def main(orrery, refuse, tried):
    tap = util.Tap()
    with tempfile.TemporaryDirectory() as parent:
        packed = os.path.join(parent, "it.orrery")
        env = util.clean_environment(parent, "box")
        util.run(orrery, "machine", "export", "rtx4090-2", "-o", packed,
                 env=env)
        for text in ("show rtx4090-2 --json", "show rtx4090-2 --svg -",
                     "export rtx4090-2 -o {made}/a.orrery",
                     "import {packed} --name other",
                     "diff rtx4090-2 epyc-64 --json",
                     "diff rtx4090-2 epyc-64",
                     "check a100-pcie-1 --json", "check laptop-8",
                     "show 2*laptop-8+1*epyc-64+200Gb/s --json "
                     "--set node[1].cpu.speed=2;nic.count=2",
                     "show 3*laptop-8", "show 3*laptop-8 --svg -",
                     "doctor 2*laptop-8+1*epyc-64 --json",
                     "new cluster lab --nodes 2*laptop-8 --network 1Gb/s",
                     "new hosts lab --hosts 2 --cores 2 --memory 1GB --storage 1GB/s "
                     "--network 1GB/s --disk 1GB/s",
                     "new lab --cpu 2 --cores 2 --gpu h100pcie --gpus 2 "
                     "--models"):
            words = text.split()
            good, n, done = run_once(orrery, refuse, words, packed, 0)
            tap.claim(f"`{text}` works with enough memory", n > 0 and
                      good.code == words.count("epyc-64"), good)
            wrong = []
            for number in numbers(n, tried):
                result, _, made = run_once(orrery, refuse, words, packed,
                                           number)
                why = verify(result, made, good, done)
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

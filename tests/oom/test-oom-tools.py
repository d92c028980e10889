#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each allocation of the commands on models fails in turn: they end with 1 and
a message, and never leave half a file. Prints TAP.

    test-oom-tools.py ORRERY REFUSE.so [all]

Without `all` some of them, spread evenly, are tried.
"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "unit"))
import tools_util as util  # noqa: E402
from oom_util import content, numbers  # noqa: E402

models = util.load_models()


def small():
    """One model is enough, each entry is one more of the same."""
    made = models.models()
    for impl in (i for comb in made["syrk"] for i in comb["impls"]):
        impl["rows"] = impl["rows"][:4]
    return {"syrk": made["syrk"][:2]}


def side_name(name):
    return ".orrery/" in name


def run_once(orrery, refuse, case, number):
    """Returns (result, allocations, files before, after)."""
    with tempfile.TemporaryDirectory() as parent:
        folder, more = (os.path.join(parent, n) for n in ("models", "more"))
        shutil.copytree(case["models"], folder)
        shutil.copytree(case["models"], more)
        count = os.path.join(parent, "count")
        words = [word.format(models=folder, more=more, json=case["json"],
                             parent=parent) for word in case["words"]]
        env = util.clean_environment(folder, "testbox", LD_PRELOAD=refuse,
                                     REFUSE=str(number), REFUSE_COUNT=count)
        before = content(folder)
        result = util.run(orrery, "perfmodel", *words, env=env)
        result.out = result.out.replace(parent, "")
        with open(count, encoding="ascii") as file:
            seen = int(file.read())
        return result, seen, before, content(folder)


def verify(result, before, after, good, done):
    """Why a run that lacked memory is wrong, or None."""
    if result.code < 0:
        return "killed by signal %d" % -result.code
    if result.code == 0:
        # Something it can do without; then the work must be done. Intervals
        # and interpolated values are unknown without memory, and so shown.
        same = result.out == good.out or "show" in result.words
        return None if after == done and same else \
            "ended with 0, but did not do it"
    if result.code != 1 or not result.err:
        return "ended with %d, said %r" % (result.code, result.err)
    # A side file that went ahead of its model file belongs to nothing and is
    # ignored.
    for name in {*before, *after}:
        if not side_name(name) and \
                after.get(name) not in (before.get(name), done.get(name)):
            return "left half of " + name
    return None


def main(orrery, refuse, tried):
    tap = util.Tap()
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "models")
        models.write(folder, small())
        models.write_sides(folder, small())
        exported = os.path.join(parent, "export.json")
        util.run(orrery, "perfmodel", "export", "--json", "-o", exported,
                 env=util.clean_environment(folder, "testbox"))
        for text in ("list", "list --json", "show syrk", "show syrk --json",
                     "export --csv", "export --json",
                     "import {json} --force", "import {json} --host other",
                     "merge {models} {more} -o {parent}/out --host other",
                     "prune --fewer-than 40 --yes", "prune --symbol s* --yes",
                     "prune --other-versions --empty"):
            case = {"words": text.split(), "models": folder, "json": exported}
            good, n, _, done = run_once(orrery, refuse, case, 0)
            tap.claim(f"`{text}` works with enough memory",
                      good.code == 0 and n > 0, good)
            wrong = []
            for number in numbers(n, tried):
                result, _, before, after = run_once(orrery, refuse, case,
                                                    number)
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

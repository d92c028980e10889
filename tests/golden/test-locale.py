#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program whose locale has a decimal comma: every command and every file says the same
of its simulated runs, byte for byte, as in the C locale; what it asks for in variables is
read; models and statistics of its real runs have points. Prints TAP.

usage: test-locale.py ORRERY PROGRAM
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
sys.dont_write_bytecode = True
from tools_util import Tap, run   # pylint: disable=wrong-import-position

ORRERY, PROGRAM = map(os.path.abspath, sys.argv[1:3])
MACHINE = "h100-pcie-4"
LOCALE = 'LC_NUMERIC\ndecimal_point ","\nthousands_sep "."\ngrouping 3;3\nEND LC_NUMERIC\n'
SAYS_MORE = {"STARPU_BUS_STATS": "1", "STARPU_WORKER_STATS": "1", "STARPU_PROFILING": "1",
             "STARPU_MEMORY_STATS": "1", "STARPU_IDLE_FILE": "idle",
             "STARPU_FXT_TRACE": "1", "STARPU_FXT_PREFIX": ".", "STARPU_SCHED": "dmda"}
READ = {"ORRERY_SIM_NOISE": "0.05", "ORRERY_SIM_WATCHDOG": "30.5", "ORRERY_ASSUME":
        "kernel[*] on cpu = 1.5ms; kernel[*] on cuda = 62.5us",
        "STARPU_SCHED_ALPHA": "1.25", "STARPU_SCHED": "dmda"}
# The command, its variables, and the files that it writes.
RUNS = (
    (["run"], {}, ()),
    (["run"], READ, ()),
    (["run"], SAYS_MORE, ("idle",)),
    (["run"], {"STARPU_SCHED": "heteroprio",
               "STARPU_AUTOHETEROPRIO_PRINT_AFTER_ORDERING": "1"}, ()),
    (["explain"], {}, ()),
    (["bound"], {}, ()),
    (["compare", "-s", "eager,dmda", "--noise", "2.5%"], {}, ()),
    (["trace", "-o", "trace.json"], {}, ("trace.json",)),
    (["record", "-o", "run.rec"], {}, ("run.rec",)),
    (["report", "-o", "page.html"], {}, ("page.html",)),
)
# What the host's clock says, and names of temporary folders.
CLOCKS = re.compile(r"\d+\.\d+ s\b|(?<=yes) +\d\.\d{3}\b|(?<=  -) +\d\.\d{3}\b|"
                    r"\d\.\d\d(?=  derived)|"
                    r"/tmp/orrery-\w+|(wall_s|seconds)\W+[\d.e-]+")


def comma_locale(folder):
    """The variables that give a program a locale with a decimal comma; None: there is
    no such locale, nor anything to make one."""
    source = os.path.join(folder, "source")
    with open(source, "w", encoding="ascii") as file:
        file.write(LOCALE)
    if shutil.which("localedef"):
        # It warns of all that is not defined, and works.
        subprocess.run(["localedef", "-c", "-i", source, os.path.join(folder, "comma")],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return {"LOCPATH": folder, "LC_ALL": "comma"}
    return None


def environment(home, more):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("STARPU_", "LC_", "LANG"))}
    env.update({"STARPU_HOME": home, "LC_ALL": "C", "ORRERY_ASSUME": "* = 1.5ms"}, **more)
    return env


def said(command, variables, files, folder, locale):
    """What one command says and writes, without what depends on the host's clock."""
    os.makedirs(folder, exist_ok=True)
    before = os.getcwd()
    os.chdir(folder)
    done = run(ORRERY, command[0], "-m", MACHINE, *command[1:], "--", PROGRAM,
               env=environment(os.path.join(folder, "home"), {**variables, **locale}))
    texts = {}
    for name in files:
        with open(name, encoding="utf-8", errors="surrogateescape") as file:
            texts[name] = file.read()
    os.chdir(before)
    number = "1,5\n" if locale else "1.5\n"
    if done.code:
        return done, None
    texts.update(out=done.out, err=done.err.replace(number, ""))
    return done, {name: CLOCKS.sub("", text.replace(folder, ""))
                  for name, text in texts.items()}


def first_difference(one, other):
    for name, text in one.items():
        for left, right in zip(text.splitlines(), other[name].splitlines()):
            if left != right:
                return f"{name}:\n  C     {left[:300]}\n  comma {right[:300]}"
    return "lengths differ" if one != other else ""


def check_simulated(tap, top, locale):
    for number, (command, variables, files) in enumerate(RUNS):
        kinds = []
        for kind, more in (("c", {}), ("comma", locale)):
            done, texts = said(command, variables, files,
                               os.path.join(top, f"{number}-{kind}"), more)
            kinds.append(texts)
            if texts is None:
                break
        name = " ".join(command) + "".join(" " + word for word in sorted(variables))
        tap.claim(f"{name}: the same with a decimal comma",
                  None not in kinds and not first_difference(*kinds),
                  done if None in kinds else first_difference(*kinds))


def check_real(tap, top, locale):
    """Times are the host's: what is written has no comma between digits, and is read."""
    home = os.path.join(top, "real")
    env = environment(home, {**SAYS_MORE, **locale, "STARPU_NCPU": "2",
                             "STARPU_CALIBRATE": "1",
                             "STARPU_IDLE_FILE": os.path.join(top, "idle"),
                             "STARPU_FXT_PREFIX": top})
    del env["ORRERY_ASSUME"]
    done = run(PROGRAM, env=env)
    tap.claim("a real run ends", done.code == 0, done)
    wrong = [line for line in done.err.replace("1,5\n", "").splitlines()
             if re.search(r"\d,\d", line)]
    tap.claim("its statistics have points", not wrong, *wrong)
    nfiles = 0
    for folder, _, names in os.walk(home):
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8",
                      errors="replace") as file:
                wrong += [f"{name}: {line}" for line in file if re.search(r"\d,\d", line)]
            nfiles += 1
    tap.claim("its files have points", nfiles > 3 and not wrong, nfiles, *wrong)
    shown = run(ORRERY, "perfmodel", "show", "--json", "comma",
                env=environment(home, {}))
    tap.claim("its model is read", shown.code == 0 and json.loads(shown.out), shown)
    again = run(PROGRAM, env=dict(env, STARPU_CALIBRATE="0"))
    tap.claim("the next run reads it, too", again.code == 0, again)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as top:
        locale = comma_locale(top)
        probe = locale and run(PROGRAM, env=environment(top, {**locale, "STARPU_NCPU": "1"}))
        if not probe or "1,5\n" not in probe.err:
            tap.skip("a locale with a decimal comma", "localedef cannot make one")
            tap.end()
        check_simulated(tap, top, locale)
        check_real(tap, top, locale)
    tap.end()


main()

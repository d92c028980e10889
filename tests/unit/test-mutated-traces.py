#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traces and what is made of them, with changes by chance: the programs with StarPU's
names that read them refuse each in words, or read it, and come to an end. What is
changed is made here. Prints TAP.

usage: test-mutated-traces.py ORRERY ODD_TASKS FOLDER_OF_STARPU_PROGRAMS MACHINE TIMES [SEED]
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import traceback

from tools_util import Tap

if len(sys.argv) not in (6, 7):
    sys.exit(__doc__.strip())
ORRERY, ODD_TASKS, STARPU, MACHINE = map(os.path.abspath, sys.argv[1:5])
TIMES, SEED = int(sys.argv[5]), int(sys.argv[6]) if len(sys.argv) > 6 else 1
LIMIT_S = 60 # a hundred times what the longest takes
# What readers of numbers and of lines may fail on.
WORDS = [b"", b"-1", b"0", b"nan", b"inf", b"-inf", b"1e999", b"1e18", b"-1e300", b"1e11",
         b"99999999999999999999", b"1" * 5000, b"0x10", b"1_000", b"\n", b"\r", b"\0",
         b"\xff", b"\"", b"'", b",", b"\t", b"%EventDef", b"\xd9\xa1", b"#", b":"]


def load(name):
    """A program as a module, without what it does when it is started."""
    loader = importlib.machinery.SourceFileLoader(name.replace(".", "_"),
                                                  os.path.join(STARPU, name))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader))
    with open(loader.path, encoding="utf-8") as file:
        code = file.read().replace("\nmain(", "\n(lambda *words: None)(")
    sys.path.insert(0, STARPU)
    exec(compile(code, loader.path, "exec"), module.__dict__)
    sys.path.pop(0)
    return module


def changed(text, rng):
    """Some of its words are others, a piece is missing, twice, or has another bit."""
    text = bytearray(text)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(8)
        if kind == 0 and at < len(text):
            text[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            to = rng.randrange(len(text) + 1)
            text[to:to] = text[at:at + rng.randrange(64)]
        elif kind == 2:
            del text[at:at + rng.randrange(64) if rng.randrange(4) else None]
        else:
            while 0 < at < len(text) and text[at - 1] not in b",\t\n: \"":
                at -= 1
            end = at
            while end < len(text) and text[end] not in b",\t\n: \"":
                end += 1
            text[at:end] = rng.choice(WORDS)
    return bytes(text)


class Bench:
    def __init__(self, tap, top):
        self.tap, self.top = tap, top

    def path(self, name):
        return os.path.join(self.top, name)

    def call(self, module, words):
        """Why it did not go as it should; None: it did."""
        def too_long(*_):
            raise TimeoutError
        signal.signal(signal.SIGALRM, too_long)
        signal.alarm(LIMIT_S)
        try:
            with contextlib.redirect_stdout(io.StringIO()), \
                    contextlib.redirect_stderr(io.StringIO()):
                module.run(words)
        except sys.modules["starpu_traces"].Failed:
            return None
        except TimeoutError:
            return f"no end within {LIMIT_S} s"
        except Exception: # whatever it is, it is none that was meant
            return traceback.format_exc()
        finally:
            signal.alarm(0)
        return None

    def fuzz(self, program, file, words):
        """Calls it with changed versions of a file, which is put back."""
        module = load(program)
        if hasattr(module, "gnuplot"): # what is drawn is not looked at
            module.gnuplot = lambda script: script.encode()
        path = self.path(file)
        with open(path, "rb") as whole:
            text = whole.read()
        why = self.call(module, words)
        for i in range(TIMES):
            if why:
                break
            with open(path, "wb") as out:
                out.write(changed(text, random.Random(f"{program} {file} {SEED} {i}")))
            why = self.call(module, words)
        kept = ""
        if why:
            kept = tempfile.mkstemp(prefix="orrery-changed-")[1]
            os.replace(path, kept)
        with open(path, "wb") as out:
            out.write(text)
        self.tap.claim(f"{program} takes {TIMES} changes of {file}, seed {SEED}", not why,
                       kept, why)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="orrery-test-") as top:
        bench = Bench(tap, top)
        done = subprocess.run(
            [ORRERY, "trace", "-m", MACHINE, "-o", "run.csv", "--graph", "run.graph", "--",
             ODD_TASKS, "plain", "6"], cwd=top, capture_output=True, text=True, check=False,
            env={**os.environ, "ORRERY_ASSUME": "kernel[*] = 100us", "STARPU_HOME": top})
        tap.claim("there is a trace", done.returncode == 0, done.stderr)
        os.chdir(top)
        for name in "run.csv", "run.graph":
            bench.fuzz("starpu_fxt_tool", name, ["-i", "run.csv", "-d", "out"])
        for program, name in (("starpu_paje_state_stats", "paje.trace"),
                              ("starpu_paje_summary", "paje.trace"),
                              ("starpu_paje_draw_histogram", "paje.trace"),
                              ("starpu_trace_state_stats.py", "trace.rec"),
                              ("starpu_workers_activity", "activity.data"),
                              ("starpu_codelet_histo_profile", "distrib.data")):
            bench.fuzz(program, "out/" + name, ["out/" + name])
        bench.fuzz("starpu_codelet_profile", "out/distrib.data",
                   ["out/distrib.data", "alpha"])
        with open("measures.out", "w", encoding="utf-8") as file:
            file.write("M N Duration\n" + "".join(
                f"{m} {n} {m * n * 1e-3 + m % 3}\n" for m in range(3) for n in range(4)))
        bench.fuzz("starpu_mlr_analysis", "measures.out", ["measures.out"])
        os.chdir("/")
    tap.end()


main()

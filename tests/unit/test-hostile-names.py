#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names that come from outside, of kernels, models, machines and members of archives,
with characters that terminals obey and bytes that are no UTF-8: neither what is printed
nor a file of any format has these as they are. Prints TAP.

usage: test-hostile-names.py ORRERY ODD_TASKS FOLDER_OF_STARPU_PROGRAMS MACHINE
"""
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from tools_util import Tap

if len(sys.argv) != 5:
    sys.exit(__doc__.strip())
ORRERY, ODD_TASKS, STARPU, MACHINE = map(os.path.abspath, sys.argv[1:])
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
EVIL = b"evil\x1b[31m\x07\x7f\xc2\x9b31m\xff"
SAID = b"evil"


def environment(top, **more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_"))}
    env.update(STARPU_HOME=top, STARPU_PERF_MODEL_DIR=os.path.join(top, "models"),
               STARPU_SILENT="1", LC_ALL="C.UTF-8", TMPDIR=top, **more)
    return env


def faults(text):
    """What is wrong with bytes that are to be shown; empty: nothing."""
    try:
        found = CONTROL.search(text.decode())
    except UnicodeDecodeError as error:
        return str(error)
    return repr(text[max(0, found.start() - 20):found.start() + 20]) if found else ""


class Bench:
    def __init__(self, tap, top):
        self.tap, self.top = tap, top

    def path(self, name):
        return os.path.join(self.top, name)

    def write(self, name, data):
        path = os.path.join(os.fsencode(self.top), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def run(self, *words, **more):
        return subprocess.run(words, env=environment(self.top, **more), cwd=self.top,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=200,
                              check=False)

    def claim(self, what, done, codes=(0,), names=True):
        """That it ended so, and has said the name, in whatever form."""
        wrong = faults(done.stdout) or faults(done.stderr)
        self.tap.claim(what, not wrong and done.returncode in codes and
                       (not names or SAID in done.stdout + done.stderr),
                       wrong, done.returncode, done.stdout[-500:], done.stderr[-500:])

    def claim_file(self, what, path):
        with open(path, "rb") as file:
            text = file.read()
        self.tap.claim(what, text and not faults(text), faults(text))


def library_tests(bench):
    """What the library writes of names that a program gives."""
    for ending in "csv", "json", "dot", "paje":
        path = bench.path(f"run.{ending}")
        done = bench.run(ORRERY, "trace", "-m", MACHINE, "-o", path, "--", ODD_TASKS,
                         "names", ORRERY_ASSUME="kernel[*] = 100us")
        if done.returncode:
            bench.claim(f"a trace in {ending}", done)
            continue
        bench.claim_file(f"a trace in {ending}", path)


def traces_tests(bench):
    """What reads a trace, of a program or a malefactor."""
    trace, graph = bench.path("good.csv"), bench.path("good.graph")
    done = bench.run(ORRERY, "trace", "-m", MACHINE, "-o", trace, "--graph", graph, "--",
                     ODD_TASKS, "plain", "6", ORRERY_ASSUME="kernel[*] = 100us")
    if done.returncode:
        bench.claim("a trace with its graph", done)
        return
    for name in "csv", "graph":
        with open(bench.path(f"good.{name}"), "rb") as file:
            text = file.read()
        for word in b"alpha", b"beta", b"gamma", b"CPU ", b"CUDA ":
            text = text.replace(word, EVIL + word)
        bench.write(f"bad.{name}", text)
    bad = bench.path("bad.csv")
    bench.claim("explain", bench.run(ORRERY, "explain", bad))
    bench.claim("explain --json", bench.run(ORRERY, "explain", bad, "--json"))
    bench.claim("explain of two", bench.run(ORRERY, "explain", bad, bad), names=False)
    bench.claim("report", bench.run(ORRERY, "report", bad, "-o", bench.path("page.html")),
                names=False)
    if os.path.exists(bench.path("page.html")):
        bench.claim_file("the page", bench.path("page.html"))
    out = bench.path("fxt")
    bench.claim("starpu_fxt_tool", bench.run(os.path.join(STARPU, "starpu_fxt_tool"), "-i",
                                             bad, "-d", out), names=False)
    for name in sorted(os.listdir(out)):
        bench.claim_file(f"starpu_fxt_tool: {name}", os.path.join(out, name))
    bench.claim("starpu_paje_state_stats", bench.run(
        os.path.join(STARPU, "starpu_paje_state_stats"), os.path.join(out, "paje.trace")),
                names=False)
    with open(os.path.join(out, "trace.rec"), "ab") as file:
        file.write(b"E: SetState\nN: " + EVIL + b"\nC: Task\nW: 0\nT: 0\nS: 1e3\n\n")
    bench.claim("starpu_trace_state_stats.py", bench.run(
        os.path.join(STARPU, "starpu_trace_state_stats.py"), os.path.join(out, "trace.rec")))
    for name in "activity.data", "distrib.data", "tasks.rec", "trace.rec", "paje.trace":
        shutil.copy(os.path.join(out, name), bench.path("once"))
        with open(bench.path("once"), "ab") as file:
            file.write(EVIL + b"\n")
        program = {"activity.data": "starpu_workers_activity",
                   "distrib.data": "starpu_codelet_histo_profile",
                   "paje.trace": "starpu_paje_summary"}.get(name)
        if program:
            bench.claim(f"{program} refuses a line", bench.run(
                os.path.join(STARPU, program), bench.path("once")), codes=(1,), names=False)


def models_tests(bench):
    """Files of models, whose names are those of kernels and hosts."""
    from tools_util import load_models
    made = load_models()
    made.write(bench.path("models"), made.models())
    folder = os.path.join(bench.top, "models", "codelets", "45")
    first = sorted(os.listdir(folder))[0]
    shutil.copy(os.fsencode(os.path.join(folder, first)),
                os.path.join(os.fsencode(folder), EVIL + b".box"))
    for words in (("list",), ("list", "--json"), ("check",), ("export", "--csv"),
                  ("export", "--json")):
        bench.claim("perfmodel " + " ".join(words),
                    bench.run(ORRERY, "perfmodel", *words, STARPU_HOSTNAME="box"),
                    codes=(0, 1))
    bench.claim("perfmodel show", bench.run(ORRERY, "perfmodel", "show", EVIL,
                                            STARPU_HOSTNAME="box"), codes=(0, 1))
    bench.claim("starpu_perfmodel_display -l", bench.run(
        os.path.join(STARPU, "starpu_perfmodel_display"), "-l", STARPU_HOSTNAME="box"))


def machines_tests(bench):
    """Machines of files that others have sent."""
    for what, names in (("a member of an archive", ["m/orrery-machine", b"m/" + EVIL]),
                        ("the first one", [EVIL]), ("one outside", ["m/orrery-machine", EVIL])):
        path = bench.path("sent.orrery")
        with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as tar:
            for name in names:
                text = b"orrery machine 1\n"
                info = tarfile.TarInfo(os.fsdecode(name))
                info.size = len(text)
                tar.addfile(info, io.BytesIO(text))
        bench.claim(f"{what} is refused", bench.run(ORRERY, "machine", "show", path),
                    codes=(1,))
        bench.claim(f"{what} in a run", bench.run(ORRERY, "run", "-m", path, "--", ODD_TASKS,
                                                  "plain", "1"), codes=(77,))
    with open(MACHINE, encoding="utf-8") as file:
        text = file.read()
    named = re.sub('model" value="[^"]*', 'model" value="evil\u009b31m\x7f', text)
    path = bench.write("named.xml", named.encode())
    for words in ((), ("--json",), ("--svg", "-"), ("--dot",)):
        done = bench.run(ORRERY, "machine", "show", path, *words)
        bench.claim("machine show " + " ".join(words), done, codes=(0, 1, 2), names=False)


def words_tests(bench):
    """What is typed is said again."""
    # 77: the program could not start.
    for words in ((EVIL,), ("run", "-m", EVIL, "--", ODD_TASKS), ("run", "--", EVIL),
                  ("run", b"--" + EVIL), ("explain", EVIL), ("sched", "show", EVIL),
                  ("env", EVIL), ("replay", EVIL), ("machine", "show", EVIL)):
        done = bench.run(ORRERY, *words)
        bench.claim(f"orrery {words[0] if isinstance(words[0], str) else ''} "
                    f"{len(words)} words", done, codes=(0, 1, 2, 77, 127),
                    names=words[0] != "env")
    done = bench.run(ORRERY, "env", **{"STARPU_SHCED": os.fsdecode(EVIL)})
    bench.claim("a value in the environment", done, codes=(0, 1))
    done = bench.run(ORRERY, "env", "--json", **{"STARPU_SHCED": os.fsdecode(EVIL)})
    bench.claim("the same in JSON", done, codes=(1,))
    json.loads(done.stdout)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="orrery-test-") as top:
        bench = Bench(tap, top)
        for tests in (library_tests, traces_tests, models_tests, machines_tests, words_tests):
            tests(bench)
    tap.end()


main()

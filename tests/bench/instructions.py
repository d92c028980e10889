#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions of small runs, counted by valgrind: of two builds, or of two commits,
beside one another. Counts, no times: the same on a busy machine.

usage: instructions.py BEFORE AFTER [--only ROW]... [--limit PERCENT]
       instructions.py --write FILE WHAT

BEFORE, AFTER and WHAT are build folders, commits, which are built in a folder of their
own like the build folder beside them (else with --buildtype=release), or files that
--write wrote. Prints a line per row: its name, before, after, after over before. Ends
with 1 where a row has grown by more than the limit (2), with 77 where that cannot be
known: counts of a file are of another compiler, libc, valgrind, processor or sort of
build, or the commit is not in this clone; with 2 where something else is amiss.
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
import tools_util   # noqa: E402

TILE = 960
SKIPPED = 77
MACHINE = "h100-pcie-4"
SIMULATED = {"ORRERY_MACHINE": MACHINE, "STARPU_SCHED": "dmdas",
             "ORRERY_ASSUME": "kernel[empty] = 50us"}
REAL = {"STARPU_NCPU": "1", "STARPU_SCHED": "lws"}


class Impossible(Exception):
    """Why there is no count: something is amiss."""


class Missing(Exception):
    """What is not here, of a row or of all."""


def cholesky(env, mib_of=None, small=16, large=24):
    """Of a task: a run of many less one of few. mib_of: the memory of a GPU for so many
    tiles."""
    def runs(build):
        for tiles in small, large:
            given = {"STARPU_LIMIT_CUDA_MEM": str(mib_of(tiles))} if mib_of else {}
            yield (tiles * (tiles + 1) * (tiles + 2) // 6,
                   [os.path.join(build.folder, "examples", "cholesky", "cholesky"),
                    "-size", str(TILE * tiles), "-nblocks", str(tiles)],
                   {**SIMULATED, **env, **given})
    return runs


def tasks(env, nbuffers, small=4000, large=8000):
    def runs(build):
        for ntasks in small, large:
            yield ntasks, [build.probe, str(ntasks), str(nbuffers)], env
    return runs


def record(ntasks, nbuffers, ndata):
    """Independent or ordered tasks of 100 us, in turns on the data."""
    calls = ["run", 'model 1 kind="per-arch" flags=4',
             'codelet 1 name="k" cpu=1 cuda=1 asynchronous=10 buffers=-1 model=1']
    calls += [f'data {d} kind="vector" shape=1000,4,4000,0' for d in range(1, ndata + 1)]
    for t in range(ntasks):
        data = ",".join(f"{(t * 7 + b * 3) % ndata + 1}:{'r' if b else 'rw'}"
                        for b in range(nbuffers))
        calls.append(f"submit {t + 1} codelet=1{' data=' * bool(data)}{data} "
                     f"priority={t % 5} times=100,20")
    calls += ["wait-all", *(f"unregister {d}" for d in range(1, ndata + 1))]
    return "\n".join(["orrery-record 1", *calls, f"end value={len(calls)}", ""])


def replayed(policy, nbuffers, ndata=100, edit="", small=300, large=1100):
    """Of 256 workers most have nothing to do, and look for something at every push."""
    def runs(build):
        path = os.path.join(build.scratch, "record")
        for ntasks in small, large:
            with open(path, "w", encoding="ascii") as file:
                file.write(record(ntasks, nbuffers, ndata))
            yield (ntasks, [os.path.join(build.folder, "replay", "play-record"), path],
                   {"ORRERY_MACHINE": MACHINE, "STARPU_SCHED": policy,
                    "ORRERY_SIM_WATCHDOG": "0", "ORRERY_SET": edit})
    return runs


def start(env):
    def runs(build):
        yield 1, [build.probe], env
    return runs


def command(*words):
    def runs(build):
        yield 1, [os.path.join(build.folder, "tools", "orrery"), *words], {}
    return runs


def quarter(ngpus):
    """MiB per GPU of which all together hold a quarter of the matrix."""
    return lambda tiles: tiles * tiles * 4 * TILE * TILE // 4 // ngpus >> 20


MIRAGE = {"ORRERY_MACHINE": "mirage", "STARPU_NOPENCL": "0"}
# Name, runs, whether another machine with equal software counts the same: a real run
# reads what the system says of its processors.
ROWS = (
    ("simulated task", cholesky({}), True),
    ("simulated task, eviction", cholesky({}, quarter(4)), True),
    ("simulated task, mirage with eviction", cholesky(MIRAGE, quarter(3)), True),
    ("simulated empty task, 2 buffers", tasks(SIMULATED, 2), True),
    ("replayed task, no data, eager", replayed("eager", 0, 1), True),
    ("replayed task, 1 buffer, lws", replayed("lws", 1), True),
    ("replayed task, 3 buffers, dmdas", replayed("dmdas", 3), True),
    ("replayed task, 256 workers, lws",
     replayed("lws", 0, 1, "cpu.count = 255\ncuda.count = 1", 100, 200), True),
    ("real empty task, 0 buffers", tasks(REAL, 0), True),
    ("real empty task, 1 buffer", tasks(REAL, 1), True),
    ("real empty task, 2 buffers", tasks(REAL, 2), True),
    ("real empty task, 4 buffers", tasks(REAL, 4), True),
    ("start, real, one task", start(REAL), False),
    ("start, simulated, one task", start(SIMULATED), True),
    ("orrery --version", command("--version"), True),
)


def said(words):
    """The first line that a command prints; Impossible where it cannot be run."""
    try:
        done = subprocess.run(words, check=True, text=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        told = "".join(getattr(error, name, "") or "" for name in ("stdout", "stderr"))
        raise Impossible(f"{' '.join(words)}: {told.strip()[-800:] or error}") from error
    return done.stdout.strip().split("\n")[0]


def processor():
    """What libc takes its functions by."""
    text = subprocess.run(["/lib64/ld-linux-x86-64.so.2", "--help"], check=False,
                          capture_output=True, text=True).stdout
    levels = re.findall(r"(x86-64-v\d) \(supported", text)
    return levels[0] if levels else os.uname().machine


class Build:
    """A folder that meson has set up."""
    def __init__(self, folder, scratch):
        self.folder = os.path.abspath(folder)
        self.scratch = scratch
        self.probe = os.path.join(scratch, "probe")
        with open(os.path.join(folder, "meson-info", "intro-buildoptions.json"),
                  encoding="utf-8") as file:
            self.options = {o["name"]: o["value"] for o in json.load(file)}
        with open(os.path.join(folder, "meson-info", "meson-info.json"),
                  encoding="utf-8") as file:
            self.source = json.load(file)["directories"]["source"]

    def key(self):
        """All that counts depend on, other than the sources."""
        if not shutil.which("valgrind"):
            raise Missing("valgrind is not installed")
        with open(os.path.join(self.folder, "compile_commands.json"),
                  encoding="utf-8") as file:
            words = json.load(file)[0]["command"].split()
        words = words[words[0].endswith("ccache"):]
        return {"compiler": said([words[0], "--version"]),
                "build": "buildtype=%s sanitize=%s lto=%s" % tuple(
                    self.options[name] for name in ("buildtype", "b_sanitize", "b_lto")),
                "libc": said(["ldd", "--version"]),
                "valgrind": said(["valgrind", "--version"]),
                "processor": processor()}

    def make_probe(self):
        said(["cc", "-O2", "-I" + os.path.join(self.source, "include"),
              os.path.join(HERE, "instructions.c"), "-o", self.probe,
              "-L" + self.folder, "-lorrery"])

    def count(self, words, env):
        """Instructions of a run. Its environment is the same everywhere: the time of a
        getenv depends on it."""
        if env.get("ORRERY_MACHINE") == "mirage":
            sampling = os.path.join(tools_util.shared_folder(), "sampling")
            if not os.path.isdir(sampling):
                raise Missing("no models of mirage in ORRERY_SHARED")
            env = {**env, "STARPU_PERF_MODEL_DIR": sampling}
        home = os.path.join(self.scratch, "home")
        shutil.rmtree(home, ignore_errors=True)
        os.mkdir(home)
        done = subprocess.run(
            ["valgrind", "--tool=callgrind",
             "--callgrind-out-file=" + os.path.join(home, "counts"), *words],
            check=False, text=True, capture_output=True,
            env={"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C",
                 "LD_LIBRARY_PATH": self.folder, "ORRERY_MODULE_DIR": self.folder,
                 "ORRERY_PLATFORM_DIR":
                     os.path.join(self.folder, "platforms", "platforms"),
                 "OPENBLAS_NUM_THREADS": "1", "STARPU_SILENT": "1", **env})
        if done.returncode:
            raise Impossible(f"{' '.join(words)} ended with {done.returncode}: "
                             + done.stderr.strip()[-400:])
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])

    def counts(self, only):
        """Name of a row: its count."""
        self.make_probe()
        found = {}
        for name, runs, portable in ROWS:
            if only and name not in only or only is None and not portable:
                continue
            try:
                points = [(n, self.count(words, env)) for n, words, env in runs(self)]
            except Missing as why:
                print(f"{name}: {why}")
                continue
            if len(points) == 2:
                (few, less), (many, more) = points
                found[name] = round((more - less) / (many - few))
            else:
                found[name] = points[0][1]
        return found


class Kept:
    """Counts that --write has written."""
    def __init__(self, path):
        self.path, self.kept, self.rows = path, {}, {}
        with open(path, encoding="utf-8") as file:
            for line in file.read().splitlines():
                name, tab, value = line.removeprefix("# ").partition("\t")
                if not tab:
                    continue
                if line.startswith("#"):
                    self.kept[name] = value
                else:
                    self.rows[name] = int(value)

    def key(self):
        return self.kept

    def counts(self, only):
        return {n: c for n, c in self.rows.items() if not only or n in only}


def build_commit(commit, scratch, options):
    """A folder with the commit's sources, built there with these options."""
    source = os.path.join(scratch, "source")
    # As in other trees: a compiler's cache knows what it compiled there.
    folder = os.path.join(source, "build")
    os.mkdir(source)
    archive = os.path.join(scratch, "archive.tar")
    said(["git", "-C", ROOT, "archive", "-o", archive, commit])
    said(["tar", "-xf", archive, "-C", source])
    said(["meson", "setup", folder, source, *options])
    said(["ninja", "-C", folder, "examples/cholesky/cholesky", "tools/orrery",
          "replay/play-record", "sim.so"])
    return folder


def open_thing(name, scratch, options):
    """A build, or counts of a file."""
    if os.path.isdir(name):
        if not os.path.isfile(os.path.join(name, "build.ninja")):
            raise Impossible(f"{name} is no build folder: meson setup {name}")
        return Build(name, scratch)
    if os.path.isfile(name):
        return Kept(name)
    try:
        said(["git", "-C", ROOT, "rev-parse", "--verify", name + "^{commit}"])
    except Impossible as why:
        raise Missing(f"{name} is neither a build folder, nor a file of counts, nor a "
                      "commit of this clone") from why
    return Build(build_commit(name, scratch, options), scratch)


def options_like(names):
    """Of a commit: those of the build folder beside it."""
    for name in names:
        if os.path.isfile(os.path.join(name, "build.ninja")):
            options = Build(name, "").options
            return [f"-Dbuildtype={options['buildtype']}", f"-Db_lto="
                    f"{str(options['b_lto']).lower()}"]
    return ["-Dbuildtype=release"]


def compare(before, after, limit):
    """Prints the table; how many rows have grown."""
    grown = 0
    print(f"{'':<38}{'before':>12}{'after':>12}{'ratio':>8}")
    for name, *_ in ROWS:
        if name not in before or name not in after:
            continue
        old, new = before[name], after[name]
        more = new > old * (1 + limit / 100)
        grown += more
        print(f"{name:<38}{old:>12}{new:>12}{new / old:>8.3f}{' more' if more else ''}")
    return grown


def write(path, thing):
    """All rows that other machines can compare, or no file."""
    key, found = thing.key(), thing.counts(None)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("# Written by tests/bench/instructions.py --write, not by hand.\n")
        file.writelines(f"# {n}\t{v}\n" for n, v in key.items())
        file.writelines(f"{n}\t{v}\n" for n, v in found.items())
    os.replace(path + ".new", path)
    for name, value in found.items():
        print(f"{name:<38}{value}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS)
    parser.add_argument("what", nargs="+")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--only", action="append", metavar="ROW",
                        choices=[row[0] for row in ROWS])
    parser.add_argument("--limit", type=float, default=2.0, metavar="PERCENT")
    given = parser.parse_args()
    if len(given.what) != (1 if given.write else 2):
        parser.error("two builds, commits or files of counts; one with --write")
    with contextlib.ExitStack() as stack:
        try:
            options = options_like(given.what)
            things = [open_thing(name, stack.enter_context(tempfile.TemporaryDirectory()),
                                 options) for name in given.what]
            if given.write:
                write(given.write, things[0])
                return 0
            keys = [thing.key() for thing in things]
            for name in keys[0]:
                if keys[0][name] != keys[1].get(name):
                    raise Missing(f"the {name} differs: {keys[0][name]}, and "
                                  f"{keys[1].get(name)}")
            only = given.only or (None if any(isinstance(t, Kept) for t in things)
                                  else [row[0] for row in ROWS])
            grown = compare(*(thing.counts(only) for thing in things), given.limit)
        except (Impossible, OSError, ValueError) as why:
            print(f"instructions.py: {why}", file=sys.stderr)
            return 2
        except Missing as why:
            print(f"not comparable: {why}")
            return SKIPPED
    if grown:
        print(f"{grown} of these have grown by more than {given.limit:g} %: make them "
              "less, or say in the commit why not, and write the counts that are kept "
              "anew:\n"
              "tests/bench/instructions.py --write tests/bench/instructions.tsv build")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the tree is built, in figures: what calls what between core's folders, how large
its objects are, in how many ways it does one thing. Reads the sources, and the object
files of a build.

usage: structure.py [BUILD] [--json] [--compare OTHER.json] [--calls] [--names]
                    [--unused] [--no-way]

BUILD is a build folder whose library is built, `build` if none is named; one with
optimisation where functions and instructions of a task are to be compared. With --json
the figures are JSON, with --compare they are beside those that another run has printed
so. --calls lists the calls that run up, --names the names that static functions of
several files share, --unused the functions that nobody needs; --no-way does not run
valgrind.

What is counted:
  calls     (source file, function) whose function another folder defines: undefined
            symbols of the objects, and inline functions of headers that the source
            names. A file counts once for each function, however often it calls that.
            Folders are those directly in core, "run" is core's own files.
  up        of these, the calls to a folder that comes later than the caller's in an
            order of the folders: in the best of all orders, and in LAYERS.
  pairs     of folders with calls both ways.
  fields    members of a struct, and of structs and unions in it that have no name.
  waiters   structs with a context that blocks, by their names: WAITERS.
  orders    implementations of turns of accesses to a datum: a header and its source
            that say who is granted, or who has a turn with whom: ORDERS.
  hooks     lines of core outside core/observe that name a function or a macro that
            core/observe's headers, or the one with the events, declare, or a member
            of the runtime that observes (OBSERVERS), but what makes results of what
            was observed (RESULTS) or answers the application (ANSWERS); the macros by
            which a call of the application is recorded are counted apart.
  way       functions that callgrind sees called at least every other time that a task
            of one buffer is submitted and executed on the real machine, and their
            files: the difference of two runs of structure_task.c. What the compiler has
            inlined is none of them.
  lines     of core's .c and .h files, with comments and empty lines.
  static    definitions of static functions in .c files of the product, and how many
            have a name that one in another file has.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Bottom up. Names of folders that are not there are passed over.
LAYERS = ("base device exec worker job data cost sched task "
          "loop observe run api layouts policies omp fortran").split()
PRODUCT = "core bound debug import perfmodel platforms record replay sim tools".split()
STRUCTS = ("orr_runtime", "orr_job", "orr_handle", "orr_worker", "orr_node",
           "orr_context")
WAITERS = r"(?:\w+_)?waiter|orr_sync|block"
ORDERS = r"\baccess->granted = |\bgroup != \w+->group\b"
OBSERVERS = ("trace tally tool bound graph calls perf perf_owned profiling listens "
             "follows iterations application").split()
RECORDS = r"ORR_RECORD\w*|ORR_ABOUT|ORR_CALLED|ORR_RETURNS|ORR_API(_IF|_SCOPE)?"
RESULTS = "check_bounds deadlock graph_ahead progress report state watchdog what_if".split()
ANSWERS = (r"orr_recording_(kind|problem|start|stop)|orr_graph_record_(make|window_tags)|"
           r"orr_perf_(global|listen\w*|of_worker|switch)|orr_profile_(is_on|switch|time)|"
           r"orr_worker_profile\w+")
OLD_SECTIONS = r"\b(FORMATS|DESIGN|STYLE)(\.md)?,? §?[0-9]+(\.[0-9]+)*"
# Tasks of the shorter of two runs, the longer one has twice as many.
TASKS = 2000


def files(*folders, ends=(".c", ".h")):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in ends and path.is_file()]


def relative(path):
    return pathlib.Path(path).relative_to(ROOT).as_posix()


def code(path):
    """The text without comments, line for line."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: "\n" * m[0].count("\n"),
                  path.read_text(), flags=re.S)


def folder_of(path):
    """The folder in core that a source belongs to."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else "run"


# --- symbols ---

def objects(build, *folders):
    """The object of each source below the folders, by the source's path: the product's
    own, not what tests have compiled once more. And the sources that are not built."""
    found, missing = {}, set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = (build / entry["file"]).resolve()
        output = build / entry["output"]
        if ROOT not in source.parents or build in source.parents or \
                not source.exists() or entry["output"].startswith(("tests/", "examples/")):
            continue
        source = relative(source)
        if not source.startswith(tuple(f + "/" for f in folders)):
            continue
        if output.exists():
            found.setdefault(source, output)
        else:
            missing.add(source)
    return found, sorted(missing - set(found))


def read_symbols(paths):
    """For each object, {name: type} as nm has them."""
    symbols = {path: {} for path in paths}
    current = None
    run = subprocess.run(["nm", "--format=posix", *map(str, paths)], check=True,
                         capture_output=True, text=True)
    by_name = {str(path): path for path in paths}
    for line in run.stdout.splitlines():
        words = line.split()
        if line.endswith(":") and line[:-1] in by_name:
            current = by_name[line[:-1]]
        elif len(words) >= 2:
            symbols[current if current else paths[0]][words[0]] = words[1]
    return symbols


class Symbols:
    """What the sources of a build define and need."""

    def __init__(self, build, *folders):
        of_source, self.missing = objects(build, *folders)
        if not of_source:
            sys.exit(f"structure.py: {build} has no objects of {', '.join(folders)}")
        read = read_symbols(list(of_source.values()))
        self.defines = {s: {n: t for n, t in read[o].items() if t in "TDBRVWC"}
                        for s, o in of_source.items()}
        self.needs = {s: {n for n, t in read[o].items() if t in "Uw"}
                      for s, o in of_source.items()}
        # Static ones, too: the sources of each.
        self.functions = collections.defaultdict(list)
        for source in sorted(of_source):
            for name, kind in read[of_source[source]].items():
                if kind in "tTW":
                    self.functions[name].append(source)
        self.home = {}
        for source in sorted(self.defines):
            for name in self.defines[source]:
                self.home.setdefault(name, source)

    def uses(self, functions_only=False):
        """(source, name, source that defines it) of every symbol of another source."""
        for source in sorted(self.needs):
            for name in sorted(self.needs[source]):
                home = self.home.get(name)
                if home and (not functions_only or self.defines[home][name] in "TW"):
                    yield source, name, home


def best_order(folders, weight):
    """The order in which least runs up: for each set of folders at the bottom, by sets
    that are smaller by one."""
    n = len(folders)
    into = [[weight.get((a, b), 0) for b in folders] for a in folders]
    least = {0: (0, None)}
    for size in range(n):
        for chosen in [s for s in least if bin(s).count("1") == size]:
            for f in range(n):
                if chosen >> f & 1:
                    continue
                # What f calls that is not below it runs up.
                up = sum(into[f][g] for g in range(n)
                         if g != f and not chosen >> g & 1)
                both, total = chosen | 1 << f, least[chosen][0] + up
                if both not in least or (total, f) < least[both]:
                    least[both] = (total, f)
    order, left = [], (1 << n) - 1
    while left:
        f = least[left][1]
        order.append(folders[f])
        left &= ~(1 << f)
    return order[::-1]


def runs_up(order, weight):
    place = {folder: i for i, folder in enumerate(order)}
    return sum(n for (a, b), n in weight.items() if place[b] > place[a])


def inline_uses():
    """(source, name, header that defines it) of inline functions; headers are sources
    that call, too."""
    texts = {relative(path): code(path) for path in files("core")}
    home = {name: path for path, text in texts.items() if path.endswith(".h")
            for name in re.findall(r"^static inline\s[^;{}()=]*?\b(\w+)\(", text, re.M)}
    for path, text in texts.items():
        for name in sorted(set(re.findall(r"\b(orr_\w+)\(", text))):
            if home.get(name, path) != path:
                yield path, name, home[name]


def count_calls(build):
    symbols = Symbols(build, "core")
    calls = sorted(c for c in {*symbols.uses(functions_only=True), *inline_uses()}
                   if folder_of(c[0]) != folder_of(c[2]))
    weight = collections.Counter((folder_of(s), folder_of(h)) for s, _, h in calls)
    folders = sorted({f for pair in weight for f in pair})
    best = best_order(folders, weight)
    known = [f for f in LAYERS if f in folders]
    intended = known + [f for f in best if f not in known]
    mutual = {f"{a}/{b}": [weight[a, b], weight[b, a]] for a, b in sorted(weight)
              if a < b and (b, a) in weight}
    inner = {pair: n for pair, n in weight.items() if "run" not in pair}
    place = {folder: i for i, folder in enumerate(intended)}
    upward = [c for c in calls if place[folder_of(c[2])] > place[folder_of(c[0])]]
    return {"calls between folders": len(calls),
            "up in the best order": runs_up(best, weight),
            "best order": " ".join(best),
            "up in the intended order": runs_up(intended, weight),
            "intended order": " ".join(intended),
            "pairs that call each other": len(mutual),
            "pairs": mutual,
            "calls without those of core's own files": sum(inner.values()),
            "of these up in the best order": runs_up(
                best_order(folders, inner), inner)}, upward


# --- sources ---

def count_fields():
    """Declarations within the struct, and how many structs and unions of it have no
    name."""
    counts = {}
    for path in files("core", ends=(".h",)):
        for struct, text in re.findall(r"^struct (%s) \{\n(.*?)^\}" % "|".join(STRUCTS),
                                       code(path), re.M | re.S):
            counts[struct] = [text.count(";"), len(re.findall(r"\}\s*;", text))]
    return {"fields of " + s: counts.get(s, [None])[0] for s in STRUCTS} | {
        "structs and unions without a name in them": sum(c[1] for c in counts.values())}


def count_lines_with(pattern, paths):
    return sum(1 for path in paths for line in code(path).split("\n")
               if not line.startswith("#") and re.search(pattern, line))


def count_hooks():
    inside = [path for path in files("core/observe", ends=(".h",))
              if path.stem not in RESULTS] + [ROOT / "core/exec/tell.h"]
    outside = [path for path in files("core")
               if not relative(path).startswith(("core/observe/", "core/exec/tell."))]
    names = set()
    for path in inside:
        text = code(path)
        names |= set(re.findall(r"^(?:[a-z][^\n;{}()]*?[ *])?(orr_\w+)\(", text, re.M))
        names |= set(re.findall(r"^#\s*define\s+(\w+)\(", text, re.M))
    names = {name for name in names if not re.fullmatch(RECORDS + "|" + ANSWERS, name)}
    observers = r"\bviews->(%s)\b" % "|".join(OBSERVERS)
    hook = r"^(?!.*\b(%s)\b).*(\b(%s)\(|%s)" % (RECORDS, "|".join(sorted(names)), observers)
    return {"hook lines in core outside core/observe": count_lines_with(hook, outside),
            "lines that record a call": count_lines_with(r"\b(%s)\b" % RECORDS, outside)}


def count_mechanisms():
    waiters, wakes, woken, orders = [], 0, 0, set()
    for path in files("core"):
        text = code(path)
        waiters += re.findall(r"^struct (%s) \{[^}]*struct orr_context \*" % WAITERS,
                              text, re.M)
        n = len(re.findall(r"->wake\(", text))
        wakes, woken = wakes + n, woken + (n > 0)
        if re.search(ORDERS, text):
            orders.add(relative(path.with_suffix("")))
    return {"types of waiter": len(waiters), "waiters": " ".join(sorted(waiters)),
            "calls that wake": wakes, "files with such calls": woken,
            "implementations of order": len(orders), "orders": " ".join(sorted(orders))}


STATIC = re.compile(r"^static\s[^;{}()=]*?\b(\w+)\(((?:[^(){};]|\([^(){};]*\))*)\)"
                    r"[^;{}=]*\n\{", re.M)


def static_names():
    """The files of each name of a static function."""
    found = collections.defaultdict(list)
    for path in files(*PRODUCT, ends=(".c",)):
        for name in sorted({m[1] for m in STATIC.finditer(code(path))}):
            found[name].append(relative(path))
    return found


def count_sources():
    names = static_names()
    n = sum(len(paths) for paths in names.values())
    shared = sum(len(paths) for paths in names.values() if len(paths) > 1)
    core = files("core")
    everything = files(*PRODUCT, "tests", "bindings", ends=(".c", ".h", ".cpp", ".py",
                                                          ".sh", ".md"))
    grow = [path for path in files(*PRODUCT, ends=(".c", ".h", ".cpp"))
            if re.search(r"\brealloc(array)?\(", code(path))]
    return {"files that include runtime.h": sum('"core/exec/runtime.h"' in p.read_text()
                                                for p in core),
            "lines of core": sum(p.read_text().count("\n") for p in core),
            "static functions": n, "of these with a name that others have": shared,
            "per cent": round(100 * shared / n, 1),
            "files that call realloc": len(grow),
            "mentions of sections of no document here": sum(
                len(re.findall(OLD_SECTIONS, p.read_text())) for p in everything
                if p != pathlib.Path(__file__).resolve())}


def count_build(build):
    entries = json.loads((build / "compile_commands.json").read_text())
    sources = collections.Counter(str((build / e["file"]).resolve()) for e in entries)
    product = tuple(f"{ROOT}/{folder}/" for folder in PRODUCT)
    links = len(re.findall(r"^build .*: (?:c|cpp)_LINKER\b",
                           (build / "build.ninja").read_text(), re.M))
    return {"compilations": len(entries),
            "of a source once more": len(entries) - len(sources),
            "of the product's sources for tests": sum(
                1 for e in entries if e["output"].startswith("tests/") and
                str((build / e["file"]).resolve()).startswith(product)),
            "links": links}


# --- a task's way ---

class Calls:
    """Of a file of callgrind's: instructions of the library's own functions, and how
    often each is called, by (file, function)."""

    def __init__(self, path):
        self.names, self.calls = {}, collections.Counter()
        self.instructions = collections.Counter()
        ob = cob = fl = cfi = fn = cfn = None
        called = False
        for line in path.read_text().splitlines():
            key, _, text = line.partition("=")
            if key == "ob":
                ob = cob = self.name("ob", text)
            elif key == "fl":
                fl = cfi = self.name("fl", text)
            elif key == "fn":
                fn = self.name("fn", text)
                cob, cfi = ob, fl
            elif key == "cob":
                cob = self.name("ob", text)
            elif key in ("cfi", "cfl"):
                cfi = self.name("fl", text)
            elif key == "cfn":
                cfn = self.name("fn", text)
            elif key in ("fi", "fe"):
                self.name("fl", text)
            elif key == "calls":
                if "liborrery" in cob:
                    # Recursion numbers a function: f'2.
                    self.calls[cfi, cfn.split("'")[0]] += int(text.split()[0])
                called = True
            elif re.match(r"[+\-*\d]", line):
                if not called and "liborrery" in ob:
                    self.instructions[fl, fn.split("'")[0]] += int(line.split()[1])
                elif called:
                    called, cob, cfi = False, ob, fl

    def name(self, kind, text):
        number, _, name = text.partition(" ")
        if name:
            self.names[kind, number] = name
        return self.names[kind, number]


# In these threads wait for each other.
WAITS = ("threads_park", "threads_linger")


def count_way(build):
    library = build / "liborrery.so"
    if not shutil.which("valgrind"):
        return {"a task's way": "not counted: there is no valgrind"}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "task")
        subprocess.run(["cc", "-O2", f"-I{ROOT / 'include'}", f"-I{build / 'include'}",
                        str(ROOT / "tools/project/structure_task.c"), "-o", program,
                        str(library), f"-Wl,-rpath,{build}"], check=True)
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("STARPU_", "ORRERY_"))}
        env |= {"STARPU_NCPU": "1", "STARPU_NCUDA": "0", "STARPU_NOPENCL": "0",
                "STARPU_SCHED": "lws", "STARPU_SILENT": "1", "STARPU_HOME": folder}
        subprocess.run([program, "10"], env=env, check=True, capture_output=True)
        runs = []
        for n in (TASKS, 2 * TASKS):
            out = pathlib.Path(folder, f"out.{n}")
            subprocess.run(["valgrind", "--tool=callgrind", "-q",
                            f"--callgrind-out-file={out}", program, str(n)],
                           env=env, check=True, capture_output=True)
            runs.append(Calls(out))
    less, more = runs
    functions = Symbols(build, *PRODUCT).functions

    def home(path, name):
        """A function that begins with an inlined one has the header's name."""
        sources = functions.get(name, [])
        there = [s for s in sources if path.endswith("/" + s)]
        return (there or (sources if len(sources) == 1 else [path]))[0]

    way = collections.Counter()
    for path, name in more.calls:
        way[home(path, name), name] += more.calls[path, name] - less.calls[path, name]
    way = sorted(f for f, n in way.items()
                 if n >= TASKS / 2 and not f[1].startswith(WAITS))
    instructions = sum(more.instructions[f] - less.instructions[f]
                       for f in more.instructions if not f[1].startswith(WAITS)) / TASKS
    return {"functions on a task's way": len(way),
            "files on a task's way": len({f for f, _ in way}),
            "instructions of a task": round(instructions),
            "the way": " ".join(name for _, name in way)}


# --- what nobody needs ---

def exported():
    """A pattern of what the library and its modules export, and CPython's; of C++,
    whose compiler adds functions, nothing is looked at."""
    maps = "".join((ROOT / path).read_text()
                   for path in ("core/api/exports.map", "core/base/module.map",
                                "record/openmp/exports.map"))
    return re.compile("|".join(name.replace("*", ".*") for name in
                               re.findall(r"^\s*(\w+\*?);", maps, re.M)) +
                      "|main|PyInit_.*|_Z.*")


def unused_functions(build):
    """(source, function, whether its own source calls it) of each external function of
    the product that no other object of the product or of bindings needs; and the
    sources that are not built, which may need some."""
    symbols = Symbols(build, *PRODUCT, "bindings")
    needed = set().union(*symbols.needs.values())
    public = exported()
    unused = []
    for source in sorted(symbols.defines):
        text = code(ROOT / source)
        for name, kind in sorted(symbols.defines[source].items()):
            if kind == "T" and name not in needed and not public.fullmatch(name):
                unused.append((source, name,
                               len(re.findall(r"\b%s\b" % name, text)) > 1))
    return unused, symbols.missing


def show(figures, before=None):
    for name, value in figures.items():
        if isinstance(value, dict):
            text = ", ".join(f"{k} {v[0]} and {v[1]}" for k, v in value.items())
        else:
            text = str(value)
        old = before.get(name) if before else None
        if before is None or isinstance(value, (str, dict)):
            print(f"{name}: {text}")
        else:
            print(f"{name}: {old} -> {text}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("build", nargs="?", default="build", type=pathlib.Path)
    for option in ("json", "calls", "names", "unused", "no-way"):
        parser.add_argument("--" + option, action="store_true")
    parser.add_argument("--compare", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    if not (build / "compile_commands.json").exists():
        sys.exit(f"structure.py: {options.build} is no build folder of meson's")
    figures, upward = count_calls(build)
    if options.calls:
        for source, name, home in upward:
            print(f"{source}: {name} of {home}")
        return
    if options.names:
        for name, paths in sorted(static_names().items(), key=lambda i: (-len(i[1]), i)):
            if len(paths) > 1:
                print(f"{len(paths)} {name}: {' '.join(paths)}")
        return
    if options.unused:
        unused, missing = unused_functions(build)
        for source, name, own in unused:
            print(f"{source}: {name}{', which its own source calls' if own else ''}")
        if missing:
            print(f"not built: {' '.join(missing)}")
        return
    figures |= count_fields() | count_hooks() | count_mechanisms() | count_sources()
    figures |= count_build(build)
    figures |= {} if options.no_way else count_way(build)
    if options.json:
        json.dump(figures, sys.stdout, indent=1)
        print()
    else:
        show(figures, json.loads(options.compare.read_text()) if options.compare else None)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each function's test fails if the function does nothing. docs/API.md names a
test for each function of the interface. This program makes one function after
the other return 0 at once, in copies of the library and of the test's program,
runs that test, and expects it to fail. Nothing is compiled: the first bytes of
the function are overwritten. TAP, a line per function.

usage: test-mutations.py [--jobs N] [--only NAME,...] [--all-tests NAME,...]
                         BUILD_FOLDER SOURCE_ROOT

--all-tests runs every test program that names the function, until one fails: it
says whether another one than that of docs/API.md notices.

A function that is a macro, inline, or returns 0 at once as it is cannot be
changed in this way and is skipped. Those of `KNOWN` may survive.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import platform
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

# xor eax,eax; xorps xmm0,xmm0; ret
RETURN_0 = bytes.fromhex("31c0 0f57c0 c3")
# xor eax,eax; ret · ret · rep ret · pxor xmm0,xmm0; ret
ALREADY = (bytes.fromhex("31c0 c3"), bytes.fromhex("c3"),
           bytes.fromhex("f3c3"), bytes.fromhex("660fefc0 c3"))
# Survivors that are known: most cannot be noticed, for the reason given.
ONLY_FREES = "only frees memory: sanitizers see it"
KNOWN = {
    "starpu_arbiter_destroy": ONLY_FREES,
    "starpu_pthread_attr_destroy": ONLY_FREES,
    "starpu_pthread_mutexattr_destroy": ONLY_FREES,
    "starpu_pthread_queue_destroy": ONLY_FREES,
    "starpu_sem_destroy": ONLY_FREES,
    "starpu_codelet_unpack_arg_fini": ONLY_FREES,
    "starpu_perf_counter_listener_exit": ONLY_FREES,
    "starpu_perf_counter_set_free": ONLY_FREES,
    "starpu_data_test_if_mapped_on_node": "no memory is mapped: always 0",
    "starpu_hip_worker_get_count": "there are no such workers: always 0",
    "starpu_mpi_ms_worker_get_count": "there are no such workers: always 0",
    "starpu_tcpip_ms_worker_get_count": "there are no such workers: always 0",
    "starpu_worker_is_slave_somewhere": "workers are no slaves: always 0",
    "starpu_worker_get_subworkerid": "0 but for the second worker of a device",
}
LONGEST_S = 600


class Elf:
    """Where the functions of a 64-bit ELF file are."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.functions = {}
        if self.bytes[:5] == b"\x7fELF\x02":
            self.read_symbols()

    def read_symbols(self):
        offset, = struct.unpack_from("<Q", self.bytes, 0x28)
        size, count = struct.unpack_from("<HH", self.bytes, 0x3a)
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.bytes,
                                       offset + i * size)
                    for i in range(count)]
        for section in sections:
            if section[1] not in (2, 11):  # SHT_SYMTAB, SHT_DYNSYM
                continue
            names = sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], 24):
                name, info, _, index, value, _ = struct.unpack_from(
                    "<IBBHQQ", self.bytes, at)
                if info & 15 != 2 or not 0 < index < count:  # STT_FUNC
                    continue
                end = self.bytes.index(b"\0", names + name)
                own = sections[index]
                self.functions[self.bytes[names + name:end].decode()] = \
                    value - own[3] + own[4]

    def does_nothing(self, name):
        at = self.functions[name]
        return any(self.bytes[at:at + len(code)] == code for code in ALREADY)

    def write_mutant(self, name, path):
        at = self.functions[name]
        changed = bytearray(self.bytes)
        changed[at:at + len(RETURN_0)] = RETURN_0
        with open(path, "wb") as file:
            file.write(changed)
        os.chmod(path, 0o755)


class Suite:
    """The tests of a build folder, by the source that they are made from."""

    def __init__(self, build, source):
        self.build, self.source = build, source
        self.library = Elf(os.path.realpath(
            os.path.join(build, "liborrery.so")))
        self.elves, self.normal = {}, {}
        self.by_source = collections.defaultdict(list)
        made_of = collections.defaultdict(set)
        for target in self.introspect("--targets"):
            for file in target["filename"]:
                for part in target["target_sources"]:
                    made_of[file] |= {os.path.normpath(s) for s in
                                      part["sources"]}
        for test in self.introspect("--tests"):
            if any(s.endswith(":full") for s in test["suite"]):
                continue
            words = [self.absolute(w) for w in test["cmd"]]
            test["cmd"] = words
            sources = {w for w in words if w.startswith(source)}
            for word in words:
                sources |= made_of.get(word, set())
            # Of a program of many suites, the one that its words name.
            suites = {os.path.join(os.path.dirname(path), f"test-{word}{end}")
                      for path in sources for word in test["cmd"][1:]
                      for end in (".c", ".cpp")} & sources
            if suites:
                sources = suites | {path for path in sources if not
                                    os.path.basename(path).startswith("test-")}
            for path in sources:
                self.by_source[os.path.relpath(path, source)].append(test)

    def introspect(self, what):
        return json.loads(subprocess.run(
            ["meson", "introspect", what, self.build], check=True,
            stdout=subprocess.PIPE).stdout)

    def absolute(self, word):
        path = os.path.normpath(os.path.join(self.build, word))
        return path if os.path.exists(path) and "/" in word else word

    def elf(self, path):
        if path not in self.elves:
            self.elves[path] = Elf(path)
        return self.elves[path]

    def seconds(self, test):
        """What the test takes without a change; None if it does not pass."""
        key = test["name"]
        if key not in self.normal:
            start = time.monotonic()
            verdict = run(test["cmd"], test["env"], self.build, LONGEST_S)
            self.normal[key] = None if verdict else time.monotonic() - start
        return self.normal[key]


def run(words, variables, folder, limit_s):
    """None if the test passes, else why it does not: the first claim that
    fails ends it."""
    env = dict(os.environ, CK_DEFAULT_TIMEOUT="20", **variables)
    ours, theirs = pty.openpty()  # so that each line comes at once
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=subprocess.DEVNULL, env=env, cwd=folder,
                               start_new_session=True)
    os.close(theirs)
    verdict, text, end = None, "", time.monotonic() + limit_s
    while verdict is None:
        left = end - time.monotonic()
        if left <= 0:
            verdict = "does not end"
            break
        if not select.select([ours], [], [], left)[0]:
            continue
        try:
            new = os.read(ours, 65536)
        except OSError:  # what a terminal without writers gives
            new = b""
        if not new:
            break
        text += new.decode(errors="replace")
        found = re.search(r"^not ok (?!.*# TODO).*\n", text, flags=re.M)
        if found:
            verdict = found.group(0).strip()
    status = finish(process, verdict is not None)
    os.close(ours)
    if verdict is None and status not in (0, 77):
        verdict = f"status {status}"
    return verdict


def finish(process, now):
    """The status; with `now` ends it and the children that Check has put into
    groups of their own."""
    if now:
        process.send_signal(signal.SIGTERM)
    try:
        return process.wait(10 if now else LONGEST_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


class Outcome:
    def __init__(self, name, verdict, skip=False):
        self.name, self.verdict, self.skip = name, verdict, skip


def mutated(suite, name, test, folder):
    """The test's words and variables with the function changed; None if it is
    nowhere to be changed."""
    words, variables, found = list(test["cmd"]), dict(test["env"]), False
    if name in suite.library.functions and \
            not suite.library.does_nothing(name):
        suite.library.write_mutant(name,
                                   os.path.join(folder, "liborrery.so.0"))
        variables["LD_LIBRARY_PATH"] = folder
        variables["ORRERY_LIBRARY"] = os.path.join(folder, "liborrery.so.0")
        found = True
    for i, word in enumerate(words):
        if not word.startswith(suite.build) or not os.access(word, os.X_OK) \
                or os.path.isdir(word) or ".so" in word:
            continue
        if name in suite.elf(word).functions and \
                not suite.elf(word).does_nothing(name):
            words[i] = os.path.join(folder, os.path.basename(word))
            suite.elf(word).write_mutant(name, words[i])
            found = True
    variables.setdefault("ORRERY_MODULE_DIR", suite.build)
    return (words, variables) if found else None


def try_function(suite, name, sources):
    """Changes one function; the first of the tests that notices decides."""
    tests = {t["name"]: t for s in sources for t in suite.by_source.get(s, ())}
    if not tests:
        return Outcome(name, f"no test of the build is made from "
                       f"{' '.join(sources)}", skip=True)
    tried = []
    for test in tests.values():
        normal = suite.seconds(test)
        if normal is None:
            continue
        with tempfile.TemporaryDirectory(prefix="orrery-mutant-") as folder:
            change = mutated(suite, name, test, folder)
            if change is None:
                return Outcome(name, "not a function in the library that does "
                               "something: a macro, inline or empty", skip=True)
            verdict = run(*change, suite.build, 30 + 4 * normal)
        if verdict:
            return Outcome(name, f"{test['name']}: {verdict}")
        tried.append(test["name"])
    if not tried:
        return Outcome(name, "its test does not pass without a change",
                       skip=True)
    return Outcome(name, None)


def functions(source):
    """[(name, the test that docs/API.md names)] of those that do something."""
    found = []
    with open(os.path.join(source, "docs/API.md"), encoding="utf-8") as file:
        for line in file:
            cells = [c.strip() for c in line.strip().strip("|").split("|")]
            if len(cells) == 3 and cells[0].startswith("`") and \
                    re.match("works|differs", cells[1]):
                found.append((cells[0].strip("`"), "tests/" + cells[2]))
    return found


def naming(source, name):
    """All test sources that name the function."""
    found = []
    for path in sorted(glob.glob(os.path.join(source, "tests", "*", "*"))):
        if path.endswith((".c", ".cpp", ".py")):
            with open(path, encoding="utf-8", errors="replace") as file:
                if re.search(r"\b%s\b" % name, file.read()):
                    found.append(os.path.relpath(path, source))
    return found


def report(outcomes):
    survivors = 0
    for n, outcome in enumerate(outcomes, 1):
        if outcome.skip:
            print(f"ok {n} - {outcome.name} # SKIP {outcome.verdict}")
        elif outcome.verdict:
            print(f"ok {n} - {outcome.name}: {outcome.verdict}")
        elif outcome.name in KNOWN:
            print(f"not ok {n} - {outcome.name} # TODO {KNOWN[outcome.name]}")
        else:
            survivors += 1
            print(f"not ok {n} - {outcome.name}: its test passes although it "
                  "does nothing")
        sys.stdout.flush()
    return survivors


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only")
    parser.add_argument("--all-tests")
    parser.add_argument("build")
    parser.add_argument("source")
    given = parser.parse_args()
    if platform.machine() != "x86_64" or not shutil.which("meson"):
        print("1..0 # SKIP this writes instructions of x86-64, and asks meson")
        return 0
    build, source = os.path.abspath(given.build), os.path.abspath(given.source)
    suite = Suite(build, source)
    work = [(name, [test]) for name, test in functions(source)]
    if given.only:
        work = [w for w in work if w[0] in given.only.split(",")]
    if given.all_tests:
        work = [(name, naming(source, name))
                for name in given.all_tests.split(",")]
    print(f"1..{len(work)}")
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        survivors = report(pool.map(
            lambda w: try_function(suite, *w), work))
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())

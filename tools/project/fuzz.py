#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the fuzz targets of tests/fuzz under clang's libFuzzer. Called by ./check --full.

usage: fuzz.py SOURCE FOLDER [-s SECONDS] [-j JOBS] [TARGET...]
Configures and builds the targets in FOLDER, with the sanitizers of addresses and of undefined
behaviour, and runs each for SECONDS (60), JOBS at a time (as there are processors), on its
seeds and on what earlier runs have found in FOLDER/corpus/TARGET. An input that crashes a target,
that takes more than 25 s or 2 GiB, or that leaks is kept in FOLDER/found. Prints TAP.
example: tools/project/fuzz.py . build-fuzz -s 30 edit study
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

# What targets do not need, and what clang would have to build a second time.
LEFT_OUT = ("mpi", "python", "fortran", "rust", "java", "opencl", "simgrid", "hdf5", "report")
OPTIONS = ["-Dfuzzers=true", "-Dtests=enabled", "-Db_lundef=false", *(f"-D{name}=disabled" for name in LEFT_OUT)]


class Skip(Exception):
    """What is missing."""


def need_fuzzer():
    if not shutil.which("clang"):
        raise Skip("there is no clang: package clang")
    processor = os.uname().machine
    name = f"libclang_rt.fuzzer-{processor}.a"
    found = subprocess.run(["clang", f"--print-file-name={name}"], capture_output=True,
                           text=True, check=True).stdout.strip()
    plain = os.path.join(os.path.dirname(found) or ".", "libclang_rt.fuzzer.a")
    if not os.path.isabs(found) and not os.path.exists(plain):
        raise Skip("clang has no libFuzzer: package libclang-rt-dev")


def run(words, **more):
    """What it says; an error with its last lines where it fails."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}\n" +
                           "\n".join(done.stdout.splitlines()[-40:]))
    return done.stdout


def targets_of(source):
    """Names of the sources fuzz-NAME.c."""
    found = [re.fullmatch(r"fuzz-(.+)\.c", name)
             for name in os.listdir(os.path.join(source, "tests/fuzz"))]
    return sorted(match[1] for match in found if match)


def build(source, folder, targets):
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        run(["meson", "setup", folder, source, *OPTIONS],
            env={**os.environ, "CC": "clang", "CXX": "clang++"})
    run(["ninja", "-C", folder, *(f"tests/fuzz/fuzz-{name}" for name in targets)])


def fuzz(source, folder, name, seconds):
    """Whether all was well, and in words how much was tried, or what was found."""
    corpus, found = (os.path.join(folder, what) for what in (f"corpus/{name}", "found"))
    words = [os.path.join(folder, f"tests/fuzz/fuzz-{name}"), f"-max_total_time={seconds}",
             "-timeout=25", "-rss_limit_mb=2048", "-print_final_stats=1",
             f"-artifact_prefix={found}/{name}-"]
    words_list = os.path.join(source, f"tests/fuzz/{name}.dict")
    if os.path.exists(words_list):
        words.append(f"-dict={words_list}")
    for place in (corpus, found):
        os.makedirs(place, exist_ok=True)
    done = subprocess.run([*words, corpus, os.path.join(source, "tests/fuzz", name)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, cwd=folder, check=False)
    text = done.stderr.decode(errors="replace")
    if done.returncode:
        return False, "\n".join(line[:300] for line in text.splitlines()[-60:])
    runs = re.search(r"stat::number_of_executed_units: *(\d+)", text)
    edges = re.findall(r" cov: (\d+)", text)
    return bool(runs), (f"{runs[1] if runs else 'no'} inputs, "
                        f"{edges[-1] if edges else 'no'} edges of the program reached")


def read_words(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("source", type=os.path.abspath)
    parser.add_argument("folder", type=os.path.abspath)
    parser.add_argument("-s", "--seconds", type=int, default=60)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("targets", nargs="*")
    words = parser.parse_intermixed_args(arguments)
    there = targets_of(words.source)
    unknown = sorted(set(words.targets) - set(there))
    if unknown:
        parser.error(f"there is no target {unknown[0]}: they are {' '.join(there)}")
    if words.seconds < 1 or words.jobs < 1:
        parser.error("-s and -j are numbers from 1 on")
    words.targets = words.targets or there
    return words


def main():
    words = read_words(sys.argv[1:])
    try:
        need_fuzzer()
    except Skip as skip:
        print(f"1..0 # SKIP {skip}")
        return 0
    print(f"1..{len(words.targets)}", flush=True)
    try:
        build(words.source, words.folder, words.targets)
    except RuntimeError as error:
        print("Bail out! The targets could not be built")
        print("".join(f"# {line}\n" for line in str(error).splitlines()), end="")
        return 1
    failed = False
    with concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
        results = pool.map(lambda name: fuzz(words.source, words.folder, name, words.seconds),
                           words.targets)
        for number, (name, (well, text)) in enumerate(zip(words.targets, results), 1):
            failed |= not well
            print(f"{'ok' if well else 'not ok'} {number} - {name}" +
                  (f": {text}" if well else ""))
            if not well:
                print("".join(f"# {line}\n" for line in text.splitlines()), end="")
            sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main())

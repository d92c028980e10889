#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What orrery record says of programs that use OpenMP in ways that a record cannot have, or
not at all. TAP.

usage: test-errors.py ORRERY
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "../unit")]
import compilers  # noqa: E402  pylint: disable=wrong-import-position
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

ORRERY = os.path.abspath(sys.argv[1])
TAP = Tap()
BEGIN = """#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void spin(void)
{
    for (volatile int i = 0; i < 200000; i++)
        ;
}
static void region(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp task
        spin();
    }
}
"""
PROGRAMS = {
    "plain": "int main(void) { region(); return 3; }",
    "none": "int main(void) { spin(); return 0; }",
    # The child has the memory of its parent, whose log goes on.
    "forks": """int main(void)
{
    int status;

    region();
    if (fork() == 0) {
#pragma omp parallel num_threads(1)
        spin();
        _exit(0);
    }
    wait(&status);
    region();
    return status != 0;
}""",
    "killed": """int main(void)
{
    region();
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        spin();
#pragma omp taskwait
        kill(getpid(), SIGKILL);
    }
    return 0;
}""",
    "leaves": "int main(void) { region(); _exit(0); }",
    "target": """int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp target
    spin();
    return 0;
}""",
    "moves": "int main(void) { if (chdir(\"/\")) return 1; region(); return 0; }",
    "many": """int main(void)
{
#pragma omp parallel num_threads(300)
    spin();
    return 0;
}""",
}


class Case:
    def __init__(self, folder, compiler, words):
        self.folder, self.compiler = folder, compiler
        for name, text in PROGRAMS.items():
            source = os.path.join(folder, name + ".c")
            with open(source, "w", encoding="ascii") as file:
                file.write(BEGIN + text + "\n")
            wrong = compilers.compile_program(words, source, os.path.join(folder, name))
            if wrong:
                TAP.claim("%s: %s is compiled" % (compiler, name), False, wrong)

    def record(self, *words, program="plain", to="x.rec"):
        if os.path.exists(os.path.join(self.folder, to)):
            os.unlink(os.path.join(self.folder, to))
        command = [ORRERY, "record", "-o", to, *words, "--"]
        command += [os.path.join(self.folder, program)] if isinstance(program, str) else program
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100,
                              cwd=self.folder)

    def replays(self):
        done = subprocess.run([ORRERY, "replay", "x.rec", "-m", "epyc-64"], capture_output=True,
                              text=True, check=False, timeout=100, cwd=self.folder)
        return done.returncode == 0 and "makespan" in done.stdout

    def claim(self, text, done, *rest):
        TAP.claim("%s: %s" % (self.compiler, text), all(rest), done.returncode, done.stdout,
                  done.stderr)

    def run(self):
        done = self.record()
        self.claim("the exit code is the program's", done, done.returncode == 3, self.replays())
        left = [name for name in os.listdir(self.folder) if "openmp" in name]
        self.claim("nothing is left beside the record %s" % left, done, not left)
        done = self.record(program="none")
        self.claim("no region, no record: said", done, done.returncode == 1,
                   "was not written" in done.stderr or "no parallel region" in done.stderr,
                   not os.path.exists(os.path.join(self.folder, "x.rec")))
        done = self.record(program="forks")
        self.claim("a fork is said", done, done.returncode == 0, "has forked" in done.stderr,
                   "2 parallel regions" in done.stderr, self.replays())
        done = self.record(program="killed")
        self.claim("a killed program leaves what it did until then", done,
                   done.returncode == 137, "did not come to its end" in done.stderr,
                   "9 tasks" in done.stderr, self.replays())
        done = self.record(program="leaves")
        self.claim("_exit is said", done, done.returncode == 0,
                   "did not come to its end" in done.stderr, self.replays())
        done = self.record(program="target")
        self.claim("target regions are said", done, done.returncode == 0,
                   "target regions" in done.stderr or self.compiler == "clang", self.replays())
        done = self.record(program="moves")
        self.claim("a program that goes to another folder", done, done.returncode == 0,
                   self.replays())
        done = self.record(program="many")
        self.claim("more threads than processors: their processors' time", done,
                   done.returncode == 0, "times are the processor's" in done.stderr,
                   self.replays())
        plain = os.path.join(self.folder, "plain")
        done = self.record(program=["sh", "-c", "%s; %s; true" % (plain, plain)])
        self.claim("several processes: said, and one is recorded", done, done.returncode == 0,
                   "2 processes used OpenMP" in done.stderr, self.replays())
        for words in (("-m", "epyc-64"), ("-s", "eager")):
            done = self.record(*words)
            self.claim("%s holds for replays: said" % words[0], done, done.returncode == 3,
                       "as it ran here" in done.stderr, self.replays())
        done = self.record("--no-times")
        self.claim("--no-times: not as times of this machine", done, done.returncode == 3,
                   "times of kernels on" not in done.stdout, self.replays())
        done = self.record(to="with blank [1].rec")
        self.claim("names with blanks and brackets", done, done.returncode == 3,
                   "8 tasks" in done.stderr)


def test_names(folder):
    """Function and line, as far as compilers tell them."""
    text = """namespace pool { template <class T> T twice(T n)
{
    T sum = 0;
#pragma omp task shared(sum)
    for (volatile int i = 0; i < 200000; i++)
        sum = i;
#pragma omp taskwait
    return sum + n;
} }
int main()
{
#pragma omp parallel
#pragma omp single
    pool::twice(3);
    return 0;
}
"""
    source, program = os.path.join(folder, "twice.cpp"), os.path.join(folder, "twice")
    record = os.path.join(folder, "twice.rec")
    with open(source, "w", encoding="ascii") as file:
        file.write(text)
    for compiler, more, names in (("g++", ["-g"], ("main:12", '"pool::twice<int>:')),
                                  ("g++", [], ("main._omp_fn.0", "_omp_fn")),
                                  ("clang++", ["-g"], ("main:12", "twice.cpp:4")),
                                  ("clang++", [], ("main+0x", ".omp_outlined"))):
        done = subprocess.run([compiler, "-O1", "-fopenmp", *more, source, "-o", program],
                              capture_output=True, text=True, check=False)
        subprocess.run([ORRERY, "record", "--cpu-time", "-o", record, "--", program],
                       capture_output=True, text=True, check=False)
        with open(record, encoding="utf-8") as file:
            kernels = [line for line in file if line.startswith("codelet ")]
        TAP.claim("%s %s: %s" % (compiler, " ".join(more), ", ".join(names)),
                  done.returncode == 0 and any(names[1] in line for line in kernels),
                  done.stderr, *kernels)


def test_words(folder):
    for grain in ("x", "-1", "nan", "1e13"):
        done = subprocess.run([ORRERY, "record", "-o", os.path.join(folder, "x.rec"), "--grain",
                               grain, "--", "true"], capture_output=True, text=True, check=False)
        TAP.claim("--grain %r is refused" % grain, done.returncode == 2 and
                  "from 0 on" in done.stderr, done.stderr)


with tempfile.TemporaryDirectory(prefix="orrery-openmp-") as where:
    have, lack = compilers.find(where)
    for one, command in have.items():
        Case(where, one, command).run()
    for one, why in lack.items():
        TAP.skip("programs of %s" % one, why)
    if len(have) == 2:
        test_names(where)
    test_words(where)
TAP.end()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What orrery/stf.hpp costs: instructions of an empty task of two data beside one that is
made in C, as valgrind counts them, on one worker; processor time to compile
examples/stf/axpy.cpp, and its like with nvcc, and the size of its object; loops beside
OpenMP's, in turns.

usage: bench-stf.py BUILD_FOLDER SOURCE_ROOT CC CXX [ELEMENTS]
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = map(os.path.abspath, sys.argv[1:3])
CC, CXX = sys.argv[3].split(), sys.argv[4].split()
ELEMENTS = sys.argv[5] if len(sys.argv) > 5 else "100000000"
BENCH = os.path.join(SOURCE, "tests", "bench")
INCLUDE = os.path.join(SOURCE, "include")
LINK = ["-L", BUILD, "-lorrery", "-Wl,-rpath," + BUILD]


def compiled(folder, compiler, source, *flags):
    out = os.path.join(folder, os.path.basename(source) + ".out")
    subprocess.run([*compiler, "-O3", "-isystem", INCLUDE, *flags,
                    os.path.join(BENCH, source), "-o", out, *LINK], check=True)
    return out


def counted(words):
    """Instructions of a run, or NaN where they cannot be counted."""
    done = subprocess.run(["valgrind", "--tool=callgrind",
                           "--callgrind-out-file=/dev/null", *words],
                          env=dict(os.environ, STARPU_NCPU="1"), check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8")
    return int(re.search(r"Collected : (\d+)", done.stdout).group(1))


def per_task(program, *arguments):
    few, many = 2000, 10000
    return (counted([program, str(many), *arguments]) -
            counted([program, str(few), *arguments])) / (many - few)


C_TASKS = r"""
#include <starpu.h>
#include <stdlib.h>
static void nothing(void *b[], void *a) { (void)b; (void)a; }
int main(int argc, char **argv)
{
    static struct starpu_codelet cl = {.cpu_funcs = {nothing}, .nbuffers = 2,
                                       .modes = {STARPU_R, STARPU_RW}};
    double x[16], y[16];
    starpu_data_handle_t hx, hy;
    if (starpu_init(NULL)) return 77;
    starpu_vector_data_register(&hx, 0, (uintptr_t)x, 16, sizeof(*x));
    starpu_vector_data_register(&hy, 0, (uintptr_t)y, 16, sizeof(*y));
    for (long i = 0; i < atol(argv[argc - 1]); i++) {
        struct starpu_task *task = starpu_task_create();
        task->cl = &cl;
        task->handles[0] = hx;
        task->handles[1] = hy;
        if (starpu_task_submit(task)) return 1;
    }
    starpu_data_unregister(hx);
    starpu_data_unregister(hy);
    starpu_shutdown();
    return 0;
}
"""


def instructions(folder):
    if not shutil.which("valgrind"):
        print("# instructions: no valgrind")
        return
    source = os.path.join(folder, "tasks.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(C_TASKS)
    by_hand = per_task(compiled(folder, CC, source))
    print(f"bench stf-task-in-C {by_hand:.0f} instructions")
    program = compiled(folder, CXX, "stf-tasks.cpp", "-std=c++17")
    for how in ("task", "host_launch", "parallel_for"):
        flow = per_task(program, how)
        print(f"bench stf-{how} {flow:.0f} instructions, ratio "
              f"{flow / by_hand:.2f}")


def seconds(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least_seconds(words):
    """Of three times: others who use the machine add to them."""
    return min(seconds(words) for _ in range(3))


def compilers(folder):
    axpy = os.path.join(SOURCE, "examples", "stf", "axpy.cpp")
    out = os.path.join(folder, "axpy")
    plain = [word for word in CXX if os.path.basename(word) != "ccache"]
    env_free = ["env", "CCACHE_DISABLE=1"]
    took = least_seconds([*env_free, *plain, "-O2", "-std=c++17", "-isystem", INCLUDE,
                    axpy, "-o", out, *LINK])
    print(f"bench stf-compile-axpy {took:.1f} s of processor time")
    subprocess.run([*plain, "-O2", "-std=c++17", "-isystem", INCLUDE, "-c",
                    axpy, "-o", out + ".o"], check=True)
    print(f"bench stf-object-axpy {os.path.getsize(out + '.o')} bytes")
    if not shutil.which("nvcc"):
        print("# compiling with nvcc: no nvcc in PATH")
        return
    with open(axpy, encoding="utf-8") as file:
        text = file.read().replace("->*[a](", "->*[a] __device__(")
    source = os.path.join(folder, "axpy.cu")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    took = least_seconds([*env_free, "nvcc", "-std=c++17", "--extended-lambda",
                    "--expt-relaxed-constexpr", "-arch=sm_80", "-I", INCLUDE,
                    source, "-o", out, "-L", BUILD, "-lorrery"])
    print(f"bench stf-compile-axpy-nvcc {took:.1f} s of processor time")
    source = os.path.join(folder, "nothing.cu")
    with open(source, "w", encoding="utf-8") as file:
        file.write("int main() { return 0; }\n")
    took = least_seconds([*env_free, "nvcc", "-std=c++17", "-arch=sm_80",
                          source, "-o", out])
    print(f"bench stf-compile-nothing-nvcc {took:.1f} s of processor time")


def loops(folder):
    program = compiled(folder, CXX, "stf-loops.cpp", "-std=c++17", "-fopenmp")
    subprocess.run([program, ELEMENTS], check=True)


with tempfile.TemporaryDirectory() as scratch:
    instructions(scratch)
    compilers(scratch)
    loops(scratch)

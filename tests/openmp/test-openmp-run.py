#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs with OpenMP, compiled by gcc, clang and gfortran, run on our runtime: what each
construct promises, whatever the number of threads; what is not possible is said; no entry
of the compilers' own libraries is left to them. TAP.

usage: test-openmp-run.py OPENMP.SO COMMAND
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

TAP = Tap()
MODULE, COMMAND = (word and os.path.abspath(word) for word in sys.argv[1:3])
# What only StarPU-like programs, debuggers and tools call, or libomp's own extensions.
NOT_ENTRIES = ("GOMP_PLUGIN_", "GOMP_offload_", "GOMP_1", "GOMP_2", "GOMP_3", "GOMP_4", "GOMP_5",
               "__kmpc_atomic_", "omp_cgroup_", "omp_const_", "omp_default_", "omp_high_",
               "omp_large_", "omp_low_", "omp_null_", "omp_pteam_", "omp_thread_mem",
               "omp_get_mapped", "omp_target_", "omp_get_uid", "omp_in_explicit",
               "omp_set_device", "omp_alloc_", "omp_free_", "llvm_omp_")


def run(words, **settings):
    env = {**os.environ, "STARPU_SILENT": "1", "LD_PRELOAD": MODULE, **settings}
    try:
        return subprocess.run(words, env=env, stdin=subprocess.DEVNULL, timeout=120,
                              capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(words, "does not end", str(late.stdout),
                                           str(late.stderr))


def build(compiler, source, folder):
    """The program, or None where the compiler, or its OpenMP, is not there."""
    program = os.path.join(folder, os.path.basename(source) + "-" + compiler)
    done = shutil.which(compiler) and subprocess.run(
        [compiler, "-O1", "-g", "-fopenmp", os.path.join(HERE, source), "-o", program, "-lm"],
        capture_output=True, text=True, check=False, cwd=folder)
    return program if done and done.returncode == 0 else None


def promises(compiler, source, folder):
    program = build(compiler, source, folder)
    if not program:
        TAP.skip(f"{source} with {compiler}", f"no {compiler} with OpenMP")
        return
    for threads in "1", "2", "4", "7":
        for cancels in "false", "true":
            done = run([program], OMP_NUM_THREADS=threads, OMP_CANCELLATION=cancels)
            wrong = [line for line in done.stdout.splitlines() if line.startswith("not ok")]
            TAP.claim(f"{source} with {compiler}, {threads} threads, cancellation {cancels}",
                      done.returncode == 0 and not wrong and "1.." in done.stdout and
                      "error" not in done.stderr,
                      f"{done.returncode} {wrong} {done.stderr[-300:]}")


def watched(folder):
    """A trace watches tasks: main is thread 0 all the same."""
    for compiler in "gcc", "clang":
        program = build(compiler, "features.c", folder)
        if not program:
            TAP.skip(f"features.c of {compiler} with a trace", f"no {compiler} with OpenMP")
            continue
        for threads in "1", "2", "5":
            done = run([program], OMP_NUM_THREADS=threads,
                       ORRERY_TRACE=os.path.join(folder, "trace.json"))
            wrong = [line for line in done.stdout.splitlines() if line.startswith("not ok")]
            TAP.claim(f"features.c of {compiler} with a trace, {threads} threads",
                      done.returncode == 0 and not wrong and "1.." in done.stdout,
                      f"{done.returncode} {wrong} {done.stderr[-300:]}")


def shared_variables(folder):
    """Threads beyond the workers share thread-local variables, which is said."""
    source = os.path.join(folder, "shared.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("static int own;\n#pragma omp threadprivate(own)\nint main(void)\n{\n"
                   "#pragma omp parallel num_threads(20)\n    own++;\n    return 0;\n}\n")
    program = build("gcc", source, folder)
    for workers, says in ("2", True), ("2", False):
        done = run([program], STARPU_NCPU=workers, STARPU_SILENT="0" if says else "1")
        said = ("orrery: OpenMP: regions have 20 threads on 2 workers, and the program has "
                "thread-local variables (threadprivate, thread_local): threads that take turns "
                "on a worker share them. If they matter, set STARPU_NCPU=20\n")
        TAP.claim(f"shared thread-local variables are said{'' if says else ', but silently'}",
                  done.returncode == 0 and (said in done.stderr) == says,
                  f"{done.returncode} {done.stderr[-500:]}")


def mistakes(folder):
    program = build("gcc", "mistakes.c", folder)
    for mistake, said in (
            ("thread", "parallel was met in a thread that the program has made itself: use "
                       "OpenMP's constructs in its main thread"),
            ("fork", "parallel was met after fork(): use OpenMP in one process"),
            ("lock", "a lock was used that omp_init_lock has not made"),
            ("target", "GOMP_target_ext (target regions) is not possible: compile them for the "
                       "host, without `target'")):
        done = run([program, mistake], OMP_NUM_THREADS="2")
        TAP.claim(f"{mistake}: a clear message and an end",
                  done.returncode == 1 and f"orrery: OpenMP: {said}\n" in done.stderr,
                  f"{done.returncode} {done.stderr[-300:]}")
    done = run([program, "exit"], OMP_NUM_THREADS="2")
    TAP.claim("exit in a region ends the program with its code", done.returncode == 7,
              f"{done.returncode} {done.stderr[-300:]}")


def programs(folder):
    """The small benchmarks, which check their own results."""
    for name in sorted(os.listdir(os.path.join(HERE, "programs"))):
        if not name.endswith(".c"):
            continue
        for compiler in "gcc", "clang":
            program = build(compiler, os.path.join("programs", name), folder)
            if not program:
                TAP.skip(f"{name} with {compiler}", f"no {compiler} with OpenMP")
                continue
            for threads in "1", "2", "5":
                done = run([program], OMP_NUM_THREADS=threads)
                TAP.claim(f"{name} with {compiler}, {threads} threads: the right result",
                          done.returncode == 0, f"{done.returncode} {done.stdout[-200:]} "
                          f"{done.stderr[-200:]}")


def command(folder):
    """`orrery run` finds by itself that a program is one of OpenMP."""
    if not COMMAND:
        TAP.skip("orrery run", "this build has no command")
        return
    program = build("gcc", "programs/fib.c", folder)
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("ORRERY_", "STARPU_"))}
    done = subprocess.run([COMMAND, "run", "--json", "--", program], env=env,
                          capture_output=True, text=True, check=False, timeout=120)
    report = json.loads(done.stdout) if done.returncode == 0 else {}
    TAP.claim("orrery run puts a program of OpenMP on our runtime",
              report.get("tasks", 0) > 0 and report.get("simulated") is False,
              done.stdout[-300:], done.stderr[-300:])
    done = subprocess.run([COMMAND, "run", "-m", "epyc-64", "--", program], env=env,
                          capture_output=True, text=True, check=False, timeout=120)
    TAP.claim("another machine is refused, with the remedy", done.returncode == 1 and
              f"{program} is a program of OpenMP, which runs on this machine only: record it, "
              f"orrery record -o FILE -- {program}, then give FILE in its place" in done.stderr,
              f"{done.returncode} {done.stderr[-300:]}")


def symbols(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                          text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def where(compiler, library):
    """The compiler's own library, or None."""
    if not shutil.which(compiler):
        return None
    done = subprocess.run([compiler, "-print-file-name=" + library], capture_output=True,
                          text=True, check=True)
    path = os.path.realpath(done.stdout.strip())
    return path if os.path.isabs(path) and os.path.exists(path) else None


def entries():
    ours = symbols(MODULE)
    for compiler, library, starts in (("gcc", "libgomp.so.1", ("GOMP_", "omp_")),
                                      ("clang", "libomp.so.5", ("__kmpc_", "omp_", "GOMP_"))):
        path = where(compiler, library)
        if not path:
            TAP.skip(f"entries of {library}", f"no {library} of {compiler}'s")
            continue
        left = sorted(name for name in symbols(path)
                      if name.startswith(starts) and not name.startswith(NOT_ENTRIES)
                      and not name.endswith("_8_") and not name.startswith("omp_get_interop")
                      and not name.startswith("omp_get_num_interop") and name not in ours)
        TAP.claim(f"every entry of {library} is one of ours, or refused", not left, str(left))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for compiler in "gcc", "clang":
            promises(compiler, "features.c", folder)
            promises(compiler, "sets.c", folder)
            promises(compiler, "all-memory.c", folder)
        promises("gfortran", "lines.f90", folder)
        programs(folder)
        watched(folder)
        shared_variables(folder)
        mistakes(folder)
        command(folder)
    entries()
    TAP.end()


main()

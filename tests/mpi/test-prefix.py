#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery run --prefix: each line that a simulated rank writes to standard output is whole and
has its rank, in the order of virtual time, by whatever calls it was written. TAP.

usage: test-prefix.py ORRERY PRINTS STREAMS [MPI LIBRARY]

STREAMS is a program in C++; with the other two words one in Fortran is compiled.
"""
import os
import shutil
import subprocess
import sys
import tempfile

ORRERY, PRINTS, STREAMS, MPI, LIBRARY = sys.argv[1:]
CLUSTER = "{}*epyc-64 + ib 100Gb/s"
FORTRAN = """program lines
    use mpi
    implicit none
    integer :: error, rank

    call mpi_init(error)
    call mpi_comm_rank(mpi_comm_world, rank, error)
    write (*, '(a)', advance='no') 'half'
    call mpi_barrier(mpi_comm_world, error)
    write (*, '(a,i0)') ' of ', rank
    call mpi_barrier(mpi_comm_world, error)
    print '(a)', 'second'
    call mpi_finalize(error)
end program
"""
results = []


def claim(text, true, *what):
    results.append(bool(true))
    print(f"{'ok' if true else 'not ok'} {len(results)} - {text}")
    if not true:
        print("\n".join("# " + line for w in what for line in str(w).splitlines()[-40:]))


def run(*command, **more):
    env = dict(os.environ, STARPU_NCPU="2", ORRERY_SIM_KERNELS="run", STARPU_SILENT="1",
               ORRERY_ASSUME="* = 50us", **more)
    env.pop("ORRERY_MACHINE", None)
    env.update(more)
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=200,
                          check=False)


def prefixed(n, *program):
    return run(ORRERY, "run", "-m", CLUSTER.format(n), "--prefix", "--", *program)


def lines_of(text, rank):
    return [line.split(": ", 1)[1] for line in text.splitlines() if
            line.startswith(f"rank {rank}: ")]


def expected(rank, ends=True):
    return [f"half of {rank}, the rest", "", "direct", "and more", "kernel", "late"] + \
        ["no end"] * ends


def said(done, n):
    return all(lines_of(done.stdout, rank) == expected(rank) for rank in range(n))


def c_programs():
    done = prefixed(3, PRINTS)
    order = [line for line in done.stdout.splitlines() if line.endswith(": late")]
    claim("lines are whole and have their rank", done.returncode == 0 and said(done, 3), done)
    claim("they come in the order of virtual time",
          order == ["rank 2: late", "rank 1: late", "rank 0: late"], done)
    again = prefixed(3, PRINTS)
    claim("and equal runs print the same", [line for line in done.stdout.splitlines() if
                                            line.startswith("rank ")] ==
          [line for line in again.stdout.splitlines() if line.startswith("rank ")], done, again)
    done = prefixed(3, PRINTS, "exits")
    claim("also where a rank leaves by exit", done.returncode == 3 and said(done, 3), done)
    done = prefixed(2, PRINTS, "stuck")
    claim("also before a deadlock that ends the program",
          done.returncode != 0 and "deadlock" in done.stderr and said(done, 2), done)
    done = prefixed(2, PRINTS, "dies")
    claim("also before an exit in a kernel",
          done.returncode == 4 and done.stdout.splitlines().count("rank 0: kernel") +
          done.stdout.splitlines().count("rank 1: kernel") > 0, done)
    done = run(PRINTS, ORRERY_MACHINE=CLUSTER.format(2), ORRERY_SIM_PREFIX="1")
    claim("and by the variable, without the command", done.returncode == 0 and said(done, 2), done)
    done = run(PRINTS, ORRERY_MACHINE=CLUSTER.format(2))
    claim("nobody who does not ask gets it",
          done.returncode == 0 and "rank 1" not in done.stdout and "half of 1" in done.stdout, done)


def other_languages():
    done = prefixed(3, STREAMS)
    claim("streams of C++", done.returncode == 0 and
          [lines_of(done.stdout, rank) for rank in range(3)] ==
          [[f"rank {rank}"] for rank in range(3)], done)
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "lines.f90"), os.path.join(folder, "lines")
        with open(source, "w", encoding="utf-8") as file:
            file.write(FORTRAN)
        library = os.path.dirname(LIBRARY)
        compiler = shutil.which("mpifort." + MPI)
        done = compiler and run(
            compiler, "-w", "-J", folder, source, "-o", program, "-Wl,--no-as-needed", LIBRARY,
            f"-Wl,-rpath,{library}", f"-Wl,-rpath-link,{os.path.join(library, '..', '..', '..')}")
        if not done or done.returncode:
            results.append(True)
            print(f"ok {len(results)} - units of Fortran # SKIP there is no mpifort.{MPI} that "
                  "compiles a program with mpi")
            return
        done = prefixed(3, program)
        claim("units of Fortran", done.returncode == 0 and
              [lines_of(done.stdout, rank) for rank in range(3)] ==
              [[f"half of {rank}", "second"] for rank in range(3)], done)


def main():
    c_programs()
    other_languages()
    done = run(ORRERY, "run", "-m", "epyc-64", "--prefix", "--", PRINTS)
    claim("where one process is one rank, the option is refused with the remedy",
          done.returncode == 2 and "--prefix" in done.stderr and "mpirun" in done.stderr, done)
    print(f"1..{len(results)}")
    return not all(results)


sys.exit(main())

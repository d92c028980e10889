#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs in Fortran that call MPI, run as the ranks of a simulated cluster: the same as real
ranks do. They are compiled here, by the compiler of that MPI. TAP.

usage: test-hosted-fortran.py MPI MPIRUN.SH LIBRARY CALLS.f90
"""
import os
import shutil
import subprocess
import sys
import tempfile

MPI, MPIRUN, LIBRARY, CALLS = sys.argv[1:]
COMPILER = "mpifort." + MPI
WINDOW = """program window
    use mpi
    implicit none
    integer :: error, handle, memory(1)

    call mpi_init(error)
    call mpi_win_create(memory, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, handle, error)
end program
"""
STOPS = """program stops
    use mpi
    implicit none
    integer :: error, rank

    call mpi_init(error)
    call mpi_comm_rank(mpi_comm_world, rank, error)
    if (rank == 1) call give_up()
    call mpi_finalize(error)
contains
    subroutine give_up()
        error stop 3
    end subroutine
end program
"""
results = []


def claim(text, true, *what):
    results.append(bool(true))
    print(f"{'ok' if true else 'not ok'} {len(results)} - {text}")
    if not true:
        print("\n".join("# " + line for w in what for line in str(w).splitlines()[-40:]))


def run(command, cluster=None):
    env = dict(os.environ, **({"ORRERY_MACHINE": cluster} if cluster else {}))
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=200,
                          check=False)


def compiled(folder, source):
    """The program; None: the compiler is not there, or lacks MPI's module."""
    program = os.path.join(folder, os.path.basename(source)[:-len(".f90")])
    library = os.path.dirname(LIBRARY)
    done = run([COMPILER, "-g", "-w", "-J", folder, source, "-o", program, "-Wl,--no-as-needed",
                LIBRARY, f"-Wl,-rpath,{library}",
                f"-Wl,-rpath-link,{os.path.join(library, '..', '..', '..')}"])
    return program if done.returncode == 0 else None


def written(folder, name, text):
    source = os.path.join(folder, name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    return compiled(folder, source)


def compare(program, n):
    real, hosted = run([MPIRUN, MPI, str(n), program]), run([program], f"{n}*epyc-64 + ib 100Gb/s")
    expected = sorted(line for line in real.stdout.splitlines() if line.startswith("rank "))
    claim(f"{n} ranks in Fortran say what real ones do",
          hosted.returncode == 0 and len(expected) >= 14 * n and
          sorted(hosted.stdout.splitlines()) == expected, real, hosted)


def main():
    if not shutil.which(COMPILER):
        print(f"1..0 # SKIP there is no {COMPILER}: gfortran and the compiler's wrapper are needed")
        return
    with tempfile.TemporaryDirectory() as folder:
        calls = compiled(folder, CALLS)
        if not calls:
            print(f"1..0 # SKIP {COMPILER} compiles no program that uses mpi")
            return
        for n in (1, 2, 5):
            compare(calls, n)
        done = run([written(folder, "window.f90", WINDOW)], "2*epyc-64 + ib 100Gb/s")
        claim("what ranks do not have is refused by its name, with the remedy",
              done.returncode == 1 and "MPI_Win_create" in done.stderr and "mpirun" in done.stderr,
              done)
        done = run([written(folder, "stops.f90", STOPS)], "2*epyc-64 + ib 100Gb/s")
        claim("a rank that stops says where, as the program itself would",
              done.returncode == 3 and "stops.f90:12" in done.stderr and
              "Could not" not in done.stderr, done)
    print(f"1..{len(results)}")
    sys.exit(not all(results))


main()

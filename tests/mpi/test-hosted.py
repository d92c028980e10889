#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs as they were built, run as the ranks of a simulated cluster: the same as real
ranks do, whatever cannot be hosted is refused with the remedy. TAP.

usage: test-hosted.py MPI MPIRUN.SH CALLS RING THREADED ABSOLUTE STREAMS SHARED UNKNOWN LIBRARIES

STREAMS and SHARED are one program in C++, compiled without and with -fPIC.
"""
import os
import subprocess
import sys
import tempfile

MPI, MPIRUN, CALLS, RING, THREADED, ABSOLUTE, STREAMS, SHARED, UNKNOWN, LIBRARIES = \
    sys.argv[1:]
OPTIONS = ["-a", "-b", "one", "--long", "two", "rest"]
failures = 0
number = 0


def check(claim, well, text=""):
    global failures, number
    number += 1
    print(f"{'ok' if well else 'not ok'} {number} - {claim}")
    if not well:
        failures += 1
        for line in text.splitlines()[-40:]:
            print("# " + line)


def run(command, cluster=None, **more):
    env = dict(os.environ, STARPU_NCPU="2", STARPU_WORKERS_NOBIND="1", **more)
    if cluster:
        env.update(ORRERY_MACHINE=cluster, ORRERY_SIM_KERNELS="run",
                   ORRERY_ASSUME="* = 50us")
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)


def say(command, *args, **more):
    """What it does, and what its ranks said: (rank, its lines)."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(command, *args, RANK_LINES=folder, **more)
        said = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                said[int(name)] = file.read().splitlines()
    return done, said


def cluster(n):
    return f"{n}*epyc-64 + ib 100Gb/s"


def compare(program, n, least):
    """The last rank ends with 3; a launcher would kill the others then."""
    name = os.path.basename(program)
    real, expected = say([MPIRUN, MPI, str(n), program] + OPTIONS)
    hosted, said = say([program] + OPTIONS, cluster(n), RANK_STATUS="3")
    differ = [f"{rank}: {a}   |   {b}" for rank in expected if rank in said
              for a, b in zip(expected[rank], said[rank]) if a != b]
    check(f"{n} ranks of {name} say what real ones do",
          len(expected) == n and min(map(len, expected.values())) >= least and
          said == expected, "\n".join(differ) + "\n" + hosted.stderr + real.stderr)
    check(f"the status of a rank of {n}", hosted.returncode == 3,
          f"{hosted.returncode} {hosted.stderr}")


def refuse(claim, command, words):
    done = run(command, cluster(2))
    check(claim, done.returncode not in (0, -11) and all(w in done.stderr for w in words),
          f"{done.returncode}: {done.stdout}{done.stderr}")


def main():
    for n in (1, 2, 5):
        compare(CALLS, n, 20)
        compare(LIBRARIES, n, 2)
    done = run([RING], "3*epyc-64 + 2*h100-pcie-4 + ib 100Gb/s")
    check("nodes that differ", done.returncode == 0 and "10\t50" in done.stdout,
          done.stdout + done.stderr)
    done = run([RING], "2*epyc-64 + ib 100Gb/s ranks-per-node=3")
    check("several ranks on a node", done.returncode == 0 and "10\t60" in done.stdout,
          done.stdout + done.stderr)
    done = run([RING], cluster(2), ORRERY_SET="network.latency = 20us; node[1].cpu.count = 4")
    check("edits of a cluster", done.returncode == 0 and "10\t20" in done.stdout and
          done.stderr.count("network.latency") == 1 and done.stderr.count("cpu.count") == 1,
          done.stdout + done.stderr)
    _, moved = say([CALLS], cluster(2))
    _, kept = say([CALLS], cluster(2), ORRERY_SIM_MPI_VALUES="4096")
    check("long messages leave memory as it is where that is asked for, short ones do not",
          moved[0][:4] != kept[0][:4] and "30000 doubles, the last is 0; null 1" in kept[0] and
          [line for line in moved[0][:4] if "doubles" not in line] ==
          [line for line in kept[0][:4] if "doubles" not in line],
          f"{moved[0][:4]}\n{kept[0][:4]}")
    for program in (STREAMS, SHARED):
        done = run([program], cluster(3))
        check("a program in C++", done.returncode == 0 and
              sorted(done.stdout.split()) == ["0", "1", "2"] + 3 * ["rank"],
              done.stdout + done.stderr)
    done = run(["env", "ORRERY_ASSUME=do_nothing = 50us", UNKNOWN, "nameless"], cluster(3))
    check("each rank's kernels have the names of their functions", done.returncode == 0 and
          done.stdout.split() == ["1", "1", "1"], done.stdout + done.stderr)
    refuse("thread-local variables", [THREADED], ["thread-local", "orrery record --ranks"])
    refuse("an address that is fixed", [ABSOLUTE], ["position-independent", "-pie"])
    refuse("a function of MPI that is not there", [UNKNOWN], ["MPI_Win_create"])
    refuse("a rank that ends too early", [UNKNOWN, "early"],
           ["rank 1: error: the rank ends", "starpu_mpi_shutdown"])
    with tempfile.TemporaryDirectory() as folder:
        done = run([UNKNOWN, "term"], cluster(3), ORRERY_TRACE=folder + "/run.csv",
                   ORRERY_REPORT=folder + "/run.json")
        files = sorted(os.listdir(folder))
        check("a signal leaves the files of all ranks", done.returncode == -15 and
              files == [f"run.rank{i}.{end}" for i in range(3) for end in ("csv", "json")] and
              all(os.path.getsize(os.path.join(folder, name)) > 0 for name in files),
              f"{done.returncode}: {files} {done.stderr}")
    refuse("a message that nobody sends, before there is a run", [UNKNOWN, "vain"],
           ["rank 0: error: deadlock: main waits for a message of MPI from rank 1, tag 7",
            "rank 1: error:   main of rank 1 waits for the other ranks"])
    refuse("a wrong cluster", ["env", "ORRERY_MACHINE=2*epyc-64 + tin cans", CALLS],
           ["ORRERY_MACHINE=", "tin"])
    refuse("several processes", ["env", "OMPI_COMM_WORLD_SIZE=2", CALLS],
           ["leave mpirun out"])
    print(f"1..{number}")
    return failures > 0


sys.exit(main())

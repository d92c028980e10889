#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery validate --ranks: ranks for real beside ranks that are simulated. Nothing depends on
how long anything takes. Prints TAP.
usage: test-validate-ranks.py [ORRERY openmpi|mpich CHOLESKY]"""
import json
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
from tools_util import Tap, clean_environment, run  # noqa: E402

if len(sys.argv) < 4:
    print("1..0 # SKIP no MPI, or no BLAS, when this was built")
    sys.exit(0)
ORRERY, MPI, CHOLESKY = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
if not shutil.which("mpirun." + MPI) and not shutil.which("mpirun"):
    print("1..0 # SKIP there is no mpirun." + MPI)
    sys.exit(0)
PROGRAM = ["--", CHOLESKY, "-size", "384", "-nblocks", "4"]
tap = Tap()
top = tempfile.mkdtemp(prefix="orrery-validate-")
env = clean_environment(top, "here")
env.setdefault("OMPI_MCA_btl_vader_single_copy_mechanism", "none")


def validate(*words, **more):
    return run(ORRERY, "validate", "-n", "2", *words, *PROGRAM, env={**env, **more})


for words, code, what in [(["--ranks", "1"], 2, "from 2 on"), (["--ranks", "x"], 2, "from 2 on"),
                          (["--ranks", "2"], 1, "orrery calibrate network")]:
    done = validate(*words)
    tap.claim(f"{' '.join(words)}: refused, with the remedy",
              done.code == code and what in done.err, done)

done = run(ORRERY, "calibrate", "kernels", "--ranks", "1", *PROGRAM, env=env)
tap.claim("calibrate kernels --ranks 1: refused, with the remedy",
          done.code == 2 and "from 2 on" in done.err, done)
done = run(ORRERY, "calibrate", "kernels", "--ranks", "2", "--", "/bin/true", env=env)
tap.claim("a program that is none of MPI's is refused",
          done.code == 1 and "linked to Open MPI or MPICH" in done.err, done)
measured = run(ORRERY, "calibrate", "kernels", "--ranks", "2", "--confidence", "50%", "-t", "60s",
               "--json", *PROGRAM, env=env)
models = json.loads(measured.out)["kernels"] if measured.out.startswith("{") else []
tap.claim("kernels of all ranks are measured beside each other",
          len(models) >= 4 and all(model["samples"] > 0 for model in models), measured)
network = run(ORRERY, "calibrate", "network", "--mpi", MPI, "-r", "1", env=env)
tap.claim("messages are measured", network.code == 0, network)
done = validate("--ranks", "2", "--json")
try:
    found = json.loads(done.out)
except ValueError:
    found = {}
tap.claim("ranks for real are compared with those of one simulated node",
          done.code in (0, 3, 4) and found.get("repetitions") == 2 and
          found.get("ranks") == 2 and len(found["ends"]) == 1, done)
names = {kernel.get("name") for kernel in found.get("kernels", [])}
tap.claim("the kernels of both are", len(names) >= 4, done)
done = validate("--ranks", "2", "-m", "1*here + 100Gb/s ranks-per-node=2")
tap.claim("a cluster may be named", done.code in (0, 3, 4) and "from end to end" in done.out, done)
done = validate("--ranks", "2", "-m", "3*epyc-64 + 100Gb/s")
tap.claim("one with other ranks is refused", done.code == 1 and "has 3" in done.err, done)
done = validate("--ranks", "2", "-m", "epyc-64")
tap.claim("so is a machine", done.code == 1 and "1*epyc-64" in done.err, done)
shutil.rmtree(top)
tap.end()

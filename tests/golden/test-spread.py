#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Predictions beside StarPU 1.4's on SimGrid, as medians over seeds of noise.

usage: test-spread.py CHOLESKY [SEEDS]

ORRERY_SHARED holds reference/ and sampling/. Every kernel mean is multiplied by
1+u, u uniform in +-0.2 %, once per seed; a single run is chaotic. Prints the table and
TAP: dmda and dmdas within 5 % of the reference median, eager and lws within
10 %.
"""
import concurrent.futures
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "unit"))
import tools_util  # noqa: E402

LIMITS = {"dmda": 0.05, "dmdas": 0.05, "eager": 0.10, "lws": 0.10}
NOISE = "0.002"


def simulate(cholesky, sampling, machine, arguments, sched):
    """Predicted milliseconds."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        env = dict(os.environ, ORRERY_MACHINE=machine, STARPU_SCHED=sched,
                   STARPU_PERF_MODEL_DIR=sampling, ORRERY_REPORT=report.name,
                   STARPU_NOPENCL="0", STARPU_SILENT="1")
        env.pop("STARPU_HOSTNAME", None)
        done = subprocess.run([cholesky] + arguments, env=env, text=True,
                              capture_output=True)
        if done.returncode != 0:
            sys.exit(f"{machine} {sched}: {done.stderr}")
        for line in reversed(done.stdout.splitlines()):
            fields = line.split()
            if len(fields) >= 2 and fields[0].isdigit():
                return float(fields[1])
        with open(report.name, encoding="utf-8") as file:
            return json.load(file)["makespan_us"] / 1e3


def read_reference(path):
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if "cholesky" in row["app"] and row["sched"] in LIMITS:
                yield row


def perturbed(shared, folder, seed):
    target = os.path.join(folder, str(seed))
    subprocess.run([sys.executable,
                    os.path.join(shared, "reference", "perturb.py"),
                    os.path.join(shared, "sampling"), target, str(seed), NOISE,
                    "mirage,attila"], check=True)
    return target


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cholesky, shared = sys.argv[1], tools_util.shared_folder()
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    reference = os.path.join(shared, "reference", "starpu14-simgrid-spread.tsv")
    if not os.path.exists(reference):
        print("1..0 # SKIP no reference/starpu14-simgrid-spread.tsv in "
              "ORRERY_SHARED")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        samplings = [perturbed(shared, folder, s) for s in range(seeds)]
        rows = list(read_reference(reference))
        print(f"1..{len(rows)}")
        for n, row in enumerate(rows, 1):
            ours = sorted(pool.map(
                lambda sampling, row=row: simulate(
                    cholesky, sampling, row["machine"], row["args"].split(),
                    row["sched"]), samplings))
            median = statistics.median(ours)
            theirs = float(row["median_ms"])
            off = median / theirs - 1
            good = abs(off) <= LIMITS[row["sched"]]
            failed += not good
            print(f"{'ok' if good else 'not ok'} {n} - {row['machine']} "
                  f"{row['args']} {row['sched']}: "
                  f"{ours[0]:.0f} {median:.0f} {ours[-1]:.0f} ms, StarPU "
                  f"{row['min_ms']} {row['median_ms']} {row['max_ms']} ms, "
                  f"median {100 * off:+.1f} %", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

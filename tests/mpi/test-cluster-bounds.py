#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No simulated run on a cluster is shorter than its bounds: clusters, networks and programs by
chance. Prints TAP. usage: test-cluster-bounds.py [ORRERY FIRST NUMBER PROGRAM...]"""
import json
import os
import random
import subprocess
import sys

if len(sys.argv) < 5:
    print("1..0 # SKIP no MPI, or no GLPK: neither was there when this was built")
    sys.exit(0)
ORRERY, FIRST, NUMBER = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
PROGRAMS = {os.path.basename(name).split("-")[0]: os.path.abspath(name) for name in sys.argv[4:]}
MACHINES = ["laptop-8", "epyc-64", "h100-pcie-4", "sirocco-v100", "rtx4090-2"]
TOPOLOGIES = ["crossbar", "fat-tree:4", "fat-tree:9,8:1", "fat-tree:6,2:1", "dragonfly g=2",
              "dragonfly g=3 a=2 p=6", "torus:2x5", "torus:3x3", "torus:9", "torus:2x2x3"]
RATES = ["1Gb/s", "10Gb/s", "100Gb/s", "2x25Gb/s", "4x1Gb/s"]
EXTRAS = [(["half-duplex"], .3), (["gpudirect"], .3),
          (["eager=1KiB", "eager=16KiB", "eager=1MiB"], .6),
          (["latency=1us", "latency=100us", "latency=1ms"], .3), (["hop=1us", "hop=300us"], .2),
          (["send=5us"], .2), (["match=5us"], .2),
          (["ranks-per-node=2", "ranks-per-node=3"], .4),
          (["bandwidth=8KiB:500MB/s,1MiB:8GB/s", "bandwidth=64KiB:2GB/s"], .3),
          (["node-latency=2us node-bandwidth=64KiB:1GB/s", "node-latency=50us node-total=2GB/s"],
           .2), (["copy=500MB/s"], .2)]


def a_cluster(rng):
    words = [rng.choice(["ib", "ethernet", "slingshot"]), rng.choice(RATES),
             rng.choice(TOPOLOGIES)]
    words += [rng.choice(choices) for choices, share in EXTRAS if rng.random() < share]
    first = "1*laptop-8 + " if rng.random() < .2 else ""
    return f"{first}{rng.randint(2, 8)}*{rng.choice(MACHINES)} + " + " ".join(words)


def a_program(rng):
    kind = rng.choice(sorted(PROGRAMS))
    blocks = rng.randint(2, 10)
    size = blocks * rng.choice([16, 96, 320])
    return [PROGRAMS[kind]] + ([] if kind == "stencil" else
                               ["-size", str(size), "-nblocks", str(blocks)])


def check(seed):
    rng = random.Random(seed)
    cluster, program = a_cluster(rng), a_program(rng)
    words = [ORRERY, "bound", "--json", "--time", "0.3", "-m", cluster, "-s",
             rng.choice(["lws", "dmda", "dmdas", "eager", "random"]), "--assume",
             rng.choice(["* = 10us", "* = 100us", "* = 1ms", "* = 20ms"]), "--", *program]
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          env={**os.environ, "STARPU_MPI_COOP_SENDS": rng.choice("01")})
    told = json.loads(done.stdout) if done.returncode == 0 else {}
    limit = told.get("makespan_ms", 0) * (1 + 1e-9)
    good = told and told["best"]["proved"] and told["best"]["ms"] <= limit and \
        told["path"]["ms"] <= limit and told["anywhere"]["ms"] <= limit and \
        told["anywhere"]["ms"] <= told["best"]["ms"] * (1 + 1e-6)
    print(f"{'ok' if good else 'not ok'} {seed - FIRST + 1} - seed {seed}: {cluster}")
    if not good:
        print("\n".join("# " + line for line in f"{words}\n{told}\n{done.stderr}".splitlines()))
    return good, told.get("best", {}).get("bound"), told.get("best", {}).get("ms", 0) / (limit or 1)


results = [check(seed) for seed in range(FIRST, FIRST + NUMBER)]
shares = sorted(share for _, _, share in results)
print("# limits: " + ", ".join(f"{sum(1 for _, b, _ in results if b == limit)} {limit}"
                               for limit in ("critical-path", "workers", "messages")))
print(f"# of the makespan, median: {shares[len(shares) // 2]:.3f}")
# A bound that says nothing would always hold.
near = shares[len(shares) // 2] > 0.5 and any(b == "messages" for _, b, _ in results)
print(f"{'ok' if near else 'not ok'} {NUMBER + 1} - half of them are near, some by messages")
print(f"1..{NUMBER + 1}")
sys.exit(not (near and all(good for good, _, _ in results)))

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A study of a tiled Cholesky without running one: its graph is made here, its
kernels take the times that the machine's performance models have.

usage: study.py [MACHINE [TILES]]       (sirocco-v100, 10)
"""

import sys

import orrery

TILE = 1600


def cholesky(tiles):
    """The graph of the factorisation of a matrix of floats."""
    graph = orrery.Graph()
    a = {(i, j): graph.add_data(shape=(TILE, TILE), itemsize=4)
         for i in range(tiles) for j in range(i + 1)}
    for k in range(tiles):
        graph.add_task("potrf", writes=[a[k, k]], model="chol_model_potrf",
                       devices=["cpu"], priority=2)
        for i in range(k + 1, tiles):
            graph.add_task("trsm", reads=[a[k, k]], writes=[a[i, k]],
                           model="chol_model_trsm", priority=1)
        for i in range(k + 1, tiles):
            graph.add_task("syrk", reads=[a[i, k]], writes=[a[i, i]],
                           model="chol_model_syrk")
            for j in range(k + 1, i):
                graph.add_task("gemm", reads=[a[i, k], a[j, k]],
                               writes=[a[i, j]], model="chol_model_gemm")
    return graph


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "sirocco-v100"
    graph = cholesky(int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    machines = [orrery.machine(name),
                orrery.machine(name, set="pcie.bandwidth *= 4")]
    runs = orrery.compare(graph, machines, ["eager", "dmda", "dmdas"])
    for run in runs:
        print(f"{str(run.machine):40} {run.scheduler:6} "
              f"{run.makespan_us / 1e3:9.3f} ms {run.transfers:6} transfers")
    print(f"best: {runs.best}")
    bounds = orrery.bounds(graph, runs.best.machine, runs.best.scheduler,
                           time=2)
    print(f"no scheduler is faster than {bounds.best_us / 1e3:.3f} ms there")
    why = orrery.explain(graph, machines[0], "dmdas")
    for change in why.changes[:3]:
        print(f"{change['change']}: {change['gain_percent']:.1f} % faster")
    return 0


if __name__ == "__main__":
    sys.exit(main())

/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

/** A sort of worker, for {@link Codelet#getTime}. */
public enum WorkerType {
    CPU, CUDA, OPENCL, HIP, OTHER;

    /* By enum starpu_worker_archtype. */
    static WorkerType of(int type)
    {
        switch (type) {
        case 0:
            return CPU;
        case 1:
            return CUDA;
        case 2:
            return OPENCL;
        case 7:
            return HIP;
        default:
            return OTHER;
        }
    }
}

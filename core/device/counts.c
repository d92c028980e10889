/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/counts.c - the queries of starpu_worker.h whose names have a
 * kind of device. Any thread.
 */
#include <starpu.h>

static unsigned count_workers_of_type(enum starpu_worker_archtype type)
{
    return (unsigned)starpu_worker_get_count_by_type(type);
}

unsigned starpu_cpu_worker_get_count(void)
{
    return count_workers_of_type(STARPU_CPU_WORKER);
}

unsigned starpu_cuda_worker_get_count(void)
{
    return count_workers_of_type(STARPU_CUDA_WORKER);
}

unsigned starpu_hip_worker_get_count(void)
{
    return count_workers_of_type(STARPU_HIP_WORKER);
}

unsigned starpu_opencl_worker_get_count(void)
{
    return count_workers_of_type(STARPU_OPENCL_WORKER);
}

unsigned starpu_mpi_ms_worker_get_count(void)
{
    return count_workers_of_type(STARPU_MPI_MS_WORKER);
}

unsigned starpu_tcpip_ms_worker_get_count(void)
{
    return count_workers_of_type(STARPU_TCPIP_MS_WORKER);
}

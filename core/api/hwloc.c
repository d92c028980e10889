/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hwloc's types are in the signatures. */
#undef _ORR_LEAN
/*
 * core/api/hwloc.c - hwloc's view of the processors. Compiled where its headers are:
 * without these nobody can call it. Any thread.
 */
#include "core/api/api.h"
#include "core/api/bind.h"
#include "core/device/cpu/topology.h"

hwloc_topology_t starpu_get_hwloc_topology(void)
{
    ORR_QUESTION();
    return orr_topology_hwloc(orr_api_topology(__func__));
}

hwloc_cpuset_t starpu_worker_get_hwloc_cpuset(int workerid)
{
    ORR_QUESTION();

    return orr_topology_set(orr_api_topology(__func__),
                            orr_api_worker_processor(__func__, workerid));
}

hwloc_obj_t starpu_worker_get_hwloc_obj(int workerid)
{
    ORR_QUESTION();

    return orr_topology_processor(orr_api_topology(__func__),
                                  orr_api_worker_processor(__func__, workerid));
}

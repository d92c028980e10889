/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/refused.c - entries that end the program with a message: without them a call would
 * go to the compiler's own library, which has threads of its own and knows nothing of ours.
 */
#include "openmp/start.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"

#define REFUSE(name, remedy)                                                           \
    ENTRY void name(void)                                                              \
    {                                                                                  \
        openmp_refuse(#name, remedy);                                                  \
    }

#define DEVICES "(target regions) is not possible: compile them for the host, without `target'"
#define OLD "is of compilers older than gcc 4.9: compile the program again"
#define PRIVATE                                                                        \
    "is not possible: compile the program with thread-local variables "                \
    "(-fopenmp-use-tls, which is clang's default)"
#define LIBRARY "is libomp's own, and not possible here: use the function omp_* of OpenMP"

REFUSE(GOMP_target, DEVICES)
REFUSE(GOMP_target_ext, DEVICES)
REFUSE(GOMP_target_data, DEVICES)
REFUSE(GOMP_target_data_ext, DEVICES)
REFUSE(GOMP_target_end_data, DEVICES)
REFUSE(GOMP_target_update, DEVICES)
REFUSE(GOMP_target_update_ext, DEVICES)
REFUSE(GOMP_target_enter_exit_data, DEVICES)
REFUSE(GOMP_teams, DEVICES)
REFUSE(GOMP_teams4, DEVICES)
REFUSE(omp_target_alloc, DEVICES)
REFUSE(omp_target_free, DEVICES)
REFUSE(omp_target_is_present, DEVICES)
REFUSE(omp_target_memcpy, DEVICES)
REFUSE(omp_target_memcpy_rect, DEVICES)
REFUSE(omp_target_associate_ptr, DEVICES)
REFUSE(omp_target_disassociate_ptr, DEVICES)
REFUSE(__kmpc_omp_target_task_alloc, DEVICES)
REFUSE(__kmpc_proxy_task_completed, DEVICES)
REFUSE(__kmpc_proxy_task_completed_ooo, DEVICES)

#define FORTRAN "is not possible from Fortran: leave it out"
#define INTEROP "(interop) is not possible: there are no devices"
REFUSE(omp_capture_affinity_, FORTRAN)
REFUSE(omp_display_affinity_, FORTRAN)
REFUSE(omp_get_affinity_format_, FORTRAN)
REFUSE(omp_set_affinity_format_, FORTRAN)
REFUSE(omp_init_allocator_, FORTRAN)
REFUSE(omp_destroy_allocator_, FORTRAN)
REFUSE(omp_get_default_allocator_, FORTRAN)
REFUSE(omp_set_default_allocator_, FORTRAN)
REFUSE(omp_get_interop_int, INTEROP)
REFUSE(omp_get_interop_name, INTEROP)
REFUSE(omp_get_interop_ptr, INTEROP)
REFUSE(omp_get_interop_rc_desc, INTEROP)
REFUSE(omp_get_interop_str, INTEROP)
REFUSE(omp_get_interop_type_desc, INTEROP)
REFUSE(omp_get_num_interop_properties, INTEROP)

REFUSE(GOMP_parallel_start, OLD)
REFUSE(GOMP_parallel_end, OLD)
REFUSE(GOMP_parallel_loop_static_start, OLD)
REFUSE(GOMP_parallel_loop_dynamic_start, OLD)
REFUSE(GOMP_parallel_loop_guided_start, OLD)
REFUSE(GOMP_parallel_loop_runtime_start, OLD)
REFUSE(GOMP_parallel_sections_start, OLD)

REFUSE(__kmpc_threadprivate, PRIVATE)
REFUSE(__kmpc_threadprivate_cached, PRIVATE)
REFUSE(__kmpc_threadprivate_register, PRIVATE)
REFUSE(__kmpc_threadprivate_register_vec, PRIVATE)

REFUSE(__kmpc_init_lock, LIBRARY)
REFUSE(__kmpc_init_lock_with_hint, LIBRARY)
REFUSE(__kmpc_init_nest_lock, LIBRARY)
REFUSE(__kmpc_init_nest_lock_with_hint, LIBRARY)
REFUSE(__kmpc_destroy_lock, LIBRARY)
REFUSE(__kmpc_destroy_nest_lock, LIBRARY)
REFUSE(__kmpc_set_lock, LIBRARY)
REFUSE(__kmpc_set_nest_lock, LIBRARY)
REFUSE(__kmpc_unset_lock, LIBRARY)
REFUSE(__kmpc_unset_nest_lock, LIBRARY)
REFUSE(__kmpc_test_lock, LIBRARY)
REFUSE(__kmpc_test_nest_lock, LIBRARY)
REFUSE(__kmpc_invoke_task_func, LIBRARY)
REFUSE(__kmpc_task_reduction_init, LIBRARY)
REFUSE(__kmpc_task_reduction_modifier_init, LIBRARY)
REFUSE(__kmpc_omp_reg_task_with_affinity, LIBRARY)
REFUSE(__kmpc_pause_resource, LIBRARY)
REFUSE(__kmpc_init_allocator, LIBRARY)
REFUSE(__kmpc_destroy_allocator, LIBRARY)
REFUSE(__kmpc_set_default_allocator, LIBRARY)
REFUSE(__kmpc_get_default_allocator, LIBRARY)
REFUSE(__kmpc_get_taskid, LIBRARY)
REFUSE(__kmpc_get_parent_taskid, LIBRARY)
REFUSE(__kmpc_get_target_offload, LIBRARY)

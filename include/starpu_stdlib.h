/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_stdlib.h - memory that devices reach quickly, accounting of memory
 * nodes, and sleeping in the machine's time. Any thread.
 */
#pragma once

#include <stddef.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of starpu_malloc_flags(): pin for devices; count against the node's
 * capacity, for which data leave the node or -ENOMEM is returned; count, but
 * evict nothing and exceed the capacity; wait for room; exceed the capacity. */
#define STARPU_MALLOC_PINNED            ((1ULL) << 1)
#define STARPU_MALLOC_COUNT             ((1ULL) << 2)
#define STARPU_MALLOC_NORECLAIM         ((1ULL) << 3)
#define STARPU_MEMORY_WAIT              ((1ULL) << 4)
#define STARPU_MEMORY_OVERFLOW          ((1ULL) << 5)
/* Simulated, the content does not matter: a small piece of memory may stand
 * behind the whole, or this must not happen. */
#define STARPU_MALLOC_SIMULATION_FOLDED ((1ULL) << 6)
#define STARPU_MALLOC_SIMULATION_UNIQUE ((1ULL) << 7)

#define starpu_data_malloc_pinned_if_possible starpu_malloc
#define starpu_data_free_pinned_if_possible   starpu_free

/* Alignment in bytes, a power of two, of all later allocations. */
void starpu_malloc_set_align(size_t align);

/* Allocates `dim` bytes of main memory, pinned where some device gains by that: *A,
 * which is the caller's. 0, or -ENOMEM. Also before starpu_init() and after
 * starpu_shutdown(). */
int starpu_malloc(void **A, size_t dim);
/* Frees memory of which nobody knows the size; not what was counted. 0. */
int starpu_free(void *A);
/* The same with STARPU_MALLOC_ flags. */
int starpu_malloc_flags(void **A, size_t dim, int flags);
/* Frees memory of these flags and this size, which a count needs. 0. */
int starpu_free_flags(void *A, size_t dim, int flags);
/* Frees what starpu_malloc() made. 0. */
int starpu_free_noflag(void *A, size_t dim);

/* A hook gets the node, the pointer, the size and the flags. */
typedef int (*starpu_malloc_hook)(unsigned dst_node, void **A, size_t dim,
                                  int flags);
typedef int (*starpu_free_hook)(unsigned dst_node, void *A, size_t dim,
                                int flags);

/* From now on main memory, that of data included, is allocated and freed by
 * these functions, which return 0 or -ENOMEM; NULL twice: by the library. To be
 * called before the first allocation, since all is freed by the present ones.
 * On a simulated machine data on its nodes are not, unless kernels are run. */
void starpu_malloc_set_hooks(starpu_malloc_hook malloc_hook,
                             starpu_free_hook free_hook);

/* Pins memory that the application has allocated otherwise, for all devices that gain by
 * it. 0, or -1 when a driver refuses. */
int starpu_memory_pin(void *addr, size_t size);
/* Ends that, before the memory is freed. 0, or -1. */
int starpu_memory_unpin(void *addr, size_t size);

/* How many bytes the node may have, -1 = it has no limit. */
starpu_ssize_t starpu_memory_get_total(unsigned node);
/* How many of these are not in use: less than 0 when the limit is exceeded; -1 too where
 * there is none. */
starpu_ssize_t starpu_memory_get_available(unsigned node);
/* Bytes in use, by data and by what was counted for the application. */
size_t starpu_memory_get_used(unsigned node);
/* The sum over the nodes that have a limit; -1 when none has. */
starpu_ssize_t starpu_memory_get_total_all_nodes(void);
/* The same of what is available. */
starpu_ssize_t starpu_memory_get_available_all_nodes(void);
/* The sum over all nodes. */
size_t starpu_memory_get_used_all_nodes(void);

/* Counts `size` bytes for memory that the application allocates by other means. 0, or
 * -ENOMEM when the node has not so many left: with STARPU_MEMORY_WAIT it waits for them,
 * where it may, and with STARPU_MEMORY_OVERFLOW it exceeds the limit. Evicts nothing. */
int starpu_memory_allocate(unsigned node, size_t size, int flags);
/* Gives such bytes back, in any portions. */
void starpu_memory_deallocate(unsigned node, size_t size);
/* Waits until `size` bytes are free; reserves nothing. */
void starpu_memory_wait_available(unsigned node, size_t size);

/* Adds joules to those of the run. */
void starpu_energy_use(float joules);
/* The joules of the run: what was added; on a simulated machine the energy of the tasks
 * that have ended, by their models; and STARPU_IDLE_POWER times the time since
 * starpu_init(). */
double starpu_energy_used(void);

/* Lets so many seconds pass on the machine: virtual time when simulated. */
void starpu_sleep(float nb_sec);
/* So many microseconds. */
void starpu_usleep(float nb_micro_sec);

#ifdef __cplusplus
}
#endif

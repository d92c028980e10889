/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_data.h - handles on registered data: access from the application,
 * prefetch, hints. Any thread, unless documented otherwise. In a callback or a
 * kernel no call that waits is allowed; those return -EDEADLK.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_codelet;
struct starpu_data_interface_ops;

/* A registered piece of data, wherever its valid copies are. */
struct _starpu_data_state;
typedef struct _starpu_data_state *starpu_data_handle_t;

/* How a task uses one of its buffers. The first four are the mode itself, the
 * others may be or-ed to it. */
enum starpu_data_access_mode {
    STARPU_R = 1, /* read */
    STARPU_W = 2, /* write all of it without reading */
    STARPU_RW = 3,
    STARPU_SCRATCH = 4,     /* a temporary of one task, on its node */
    STARPU_REDUX = 8,       /* accumulate */
    STARPU_COMMUTE = 16,    /* neighbours with this flag may run in any order */
    STARPU_SSEND = 32,      /* MPI: synchronous send */
    STARPU_LOCALITY = 64,   /* data the scheduler should run next to */
    STARPU_MPI_REDUX = 128, /* MPI: reduction over nodes */
    STARPU_NOPLAN = 256,    /* no automatic partitioning */
    STARPU_UNMAP = 512,     /* internal to mapping */
    STARPU_NOFOOTPRINT = 1024,    /* not part of the task's footprint */
    STARPU_NONE = 2048,           /* a placeholder, not accessed */
    STARPU_ACCESS_MODE_MAX = 4096 /* first bit that no mode has */
};

/* Why data is moved, most urgent first. */
enum starpu_is_prefetch {
    STARPU_FETCH = 0,         /* a task waits for it */
    STARPU_TASK_PREFETCH = 1, /* a queued task will need it */
    STARPU_PREFETCH = 2,      /* the application requested it */
    STARPU_IDLEFETCH = 3,     /* only while the link is idle */
    STARPU_NFETCH = 4         /* how many there are */
};

/* -- names -- */

/* A text for traces and messages; it is copied. */
void starpu_data_set_name(starpu_data_handle_t handle, const char *name);

/* The position of this piece in the application's own arrangement, such as
 * the row and column of a tile. At most 5 dimensions are kept. */
void starpu_data_set_coordinates_array(starpu_data_handle_t handle,
                                       unsigned dimensions, int *dims);
void starpu_data_set_coordinates(starpu_data_handle_t handle,
                                 unsigned dimensions, ...);
/* Fills at most `dimensions` values and returns how many there are. */
unsigned starpu_data_get_coordinates_array(starpu_data_handle_t handle,
                                           unsigned dimensions, int *dims);

/* -- the end of a handle -- */

/* Waits for all tasks that use the handle, brings the valid copy back to the
 * home node and frees the handle. */
void starpu_data_unregister(starpu_data_handle_t handle);
/* The same without the copy back: the content is lost. */
void starpu_data_unregister_no_coherency(starpu_data_handle_t handle);
/* Does not wait: the handle goes when the submitted tasks are done. */
void starpu_data_unregister_submit(starpu_data_handle_t handle);

/* Declares all copies worthless, and frees memory that the library allocated for
 * them; the next access must be a write. The second form takes its place in the
 * order of submitted tasks. */
void starpu_data_invalidate(starpu_data_handle_t handle);
void starpu_data_invalidate_submit(starpu_data_handle_t handle);

/* The same; the memory of the copies is kept. */
void starpu_data_deinitialize(starpu_data_handle_t handle);
void starpu_data_deinitialize_submit(starpu_data_handle_t handle);

/* -- access from the application -- */

/* As node of an acquisition: the data are held, but brought nowhere. */
#define STARPU_ACQUIRE_NO_NODE          -1
#define STARPU_ACQUIRE_NO_NODE_LOCK_ALL -2

/* Waits until earlier tasks are done with the data and a copy is valid on the
 * node (STARPU_MAIN_RAM where none is given), then holds it for the
 * application until it is released. Returns 0, or -EDEADLK in a callback or a
 * kernel. */
int starpu_data_acquire(starpu_data_handle_t handle,
                        enum starpu_data_access_mode mode);
int starpu_data_acquire_on_node(starpu_data_handle_t handle, int node,
                                enum starpu_data_access_mode mode);

/* Do not wait: `callback` runs when the data is there, and it or a later call
 * must release it. */
int starpu_data_acquire_cb(starpu_data_handle_t handle,
                           enum starpu_data_access_mode mode,
                           void (*callback)(void *), void *arg);
int starpu_data_acquire_on_node_cb(starpu_data_handle_t handle, int node,
                                   enum starpu_data_access_mode mode,
                                   void (*callback)(void *), void *arg);
/* `sequential_consistency` = 0 ignores the order of submission. */
int starpu_data_acquire_cb_sequential_consistency(
    starpu_data_handle_t handle, enum starpu_data_access_mode mode,
    void (*callback)(void *), void *arg, int sequential_consistency);
int starpu_data_acquire_on_node_cb_sequential_consistency(
    starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
    void (*callback)(void *), void *arg, int sequential_consistency);

/* The same with more to say. callback_acquired(arg, &node, mode), unless NULL, is
 * called when it is the turn of the acquisition, before the data are brought, and
 * may choose another node. `prio` is the priority of what it waits for. The
 * numbers of the job that is ordered before and after are stored unless NULL; -1
 * without sequential consistency. `quick` is a hint. */
int starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
    starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
    void (*callback_acquired)(void *arg, int *node,
                              enum starpu_data_access_mode mode),
    void (*callback)(void *arg), void *arg, int sequential_consistency,
    int quick, long *pre_sync_jobid, long *post_sync_jobid, int prio);

/* Runs `code` when the data are there, and releases them. It may run after the
 * block that has the macro is left: of variables, it uses global ones only. For
 * compilers with functions inside functions (gcc, in C). */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus)
#    define STARPU_DATA_ACQUIRE_CB(handle, mode, code)                         \
        do {                                                                   \
            __extension__ void _orr_acquired(void *_orr_handle)                \
            {                                                                  \
                code;                                                          \
                starpu_data_release((starpu_data_handle_t)_orr_handle);        \
            }                                                                  \
            starpu_data_handle_t _orr_acquire = (handle);                      \
            (void)starpu_data_acquire_cb(_orr_acquire, mode, _orr_acquired,    \
                                         (void *)_orr_acquire);                \
        } while (0)
#endif

/* Returns -EAGAIN instead of waiting. */
int starpu_data_acquire_try(starpu_data_handle_t handle,
                            enum starpu_data_access_mode mode);
int starpu_data_acquire_on_node_try(starpu_data_handle_t handle, int node,
                                    enum starpu_data_access_mode mode);

/* Ends an access. The _to forms keep a weaker one (STARPU_R). */
void starpu_data_release(starpu_data_handle_t handle);
void starpu_data_release_on_node(starpu_data_handle_t handle, int node);
void starpu_data_release_to(starpu_data_handle_t handle,
                            enum starpu_data_access_mode down_to_mode);
void starpu_data_release_to_on_node(starpu_data_handle_t handle,
                                    enum starpu_data_access_mode down_to_mode,
                                    int node);

/* -- transfers -- */

/* Bring a copy to the node, `async` = 1 without waiting. 0 or negative
 * errno: -ENOMEM when the node has no room. */
int starpu_data_fetch_on_node(starpu_data_handle_t handle, unsigned node,
                              unsigned async);
int starpu_data_prefetch_on_node(starpu_data_handle_t handle, unsigned node,
                                 unsigned async);
int starpu_data_prefetch_on_node_prio(starpu_data_handle_t handle,
                                      unsigned node, unsigned async, int prio);
int starpu_data_idle_prefetch_on_node(starpu_data_handle_t handle,
                                      unsigned node, unsigned async);
int starpu_data_idle_prefetch_on_node_prio(starpu_data_handle_t handle,
                                           unsigned node, unsigned async,
                                           int prio);

/* Memory for the data on the node, as a prefetch would make it, without a value.
 * 0. */
int starpu_data_request_allocation(starpu_data_handle_t handle, unsigned node);

/* Returns whether the node has a valid copy, or one on its way. */
unsigned starpu_data_is_on_node(starpu_data_handle_t handle, unsigned node);

/* The data will not be used soon: its copies may leave the devices first. */
void starpu_data_wont_use(starpu_data_handle_t handle);
/* Removes the node's copy now, the only one after it was written back; -1 when the data
 * are in use, when they have nowhere else to go or are planned, and from callbacks and
 * kernels for the only one. */
int starpu_data_evict_from_node(starpu_data_handle_t handle, unsigned node);

/* One pass over a node's memory that makes room as STARPU_MINIMUM_AVAILABLE_MEM
 * says; the node's workers do so by themselves. */
void starpu_memchunk_tidy(unsigned memory_node);

/* Bit n set: node n gets the value after each write, as soon as its links are
 * idle, and keeps it. Pieces get the mask of the whole. */
void starpu_data_set_wt_mask(starpu_data_handle_t handle, uint32_t wt_mask);
/* Data that are not important (0) are evicted first. */
void starpu_data_advise_as_important(starpu_data_handle_t handle,
                                     unsigned is_important);

/* Flags about one node's copy; pointers may be NULL. */
void starpu_data_query_status2(starpu_data_handle_t handle, int memory_node,
                               int *is_allocated, int *is_valid,
                               int *is_loading, int *is_requested);
void starpu_data_query_status(starpu_data_handle_t handle, int memory_node,
                              int *is_allocated, int *is_valid,
                              int *is_requested);

/* Whether there is memory for the data on the node, whatever is in it; whether
 * that is another node's memory, used in place, which never is. */
unsigned starpu_data_test_if_allocated_on_node(starpu_data_handle_t handle,
                                               unsigned memory_node);
unsigned starpu_data_test_if_mapped_on_node(starpu_data_handle_t handle,
                                            unsigned memory_node);

/* -- order of tasks -- */

/* With the flag (the default) tasks on a handle run in the order of their
 * submission wherever one of two writes. */
void starpu_data_set_sequential_consistency_flag(starpu_data_handle_t handle,
                                                 unsigned flag);
unsigned
starpu_data_get_sequential_consistency_flag(starpu_data_handle_t handle);
/* For handles registered from now on. */
unsigned starpu_data_get_default_sequential_consistency_flag(void);
void starpu_data_set_default_sequential_consistency_flag(unsigned flag);

/* Without the flag the data never goes to a disk node. */
void starpu_data_set_ooc_flag(starpu_data_handle_t handle, unsigned flag);
unsigned starpu_data_get_ooc_flag(starpu_data_handle_t handle);

/* -- pointers of the application and of policies, stored with the handle -- */

void starpu_data_set_user_data(starpu_data_handle_t handle, void *user_data);
void *starpu_data_get_user_data(starpu_data_handle_t handle);
void starpu_data_set_sched_data(starpu_data_handle_t handle, void *sched_data);
void *starpu_data_get_sched_data(starpu_data_handle_t handle);

/* The operations of the handle's interface, borrowed. */
struct starpu_data_interface_ops *
starpu_data_get_interface_ops(starpu_data_handle_t handle);

/* -- for schedulers -- */

/* Returns whether the node's copy could be evicted for such a fetch. */
int starpu_data_can_evict(starpu_data_handle_t handle, unsigned node,
                          enum starpu_is_prefetch is_prefetch);

/* -- reductions: tasks contribute to data side by side -- */

/* Tasks with STARPU_REDUX add to a part of their worker's own, which init_cl
 * (one buffer, STARPU_W) begins: its first function is called on the worker.
 * When the data are used otherwise, tasks of redux_cl (STARPU_RW|STARPU_COMMUTE
 * and STARPU_R) add the parts and the value before, if there is one.
 * init_cl also makes the value of data that are read before any task writes
 * them. Either may be NULL. Partitioned data: all pieces get them, and pieces
 * made later. redux_cl_arg is the cl_arg of the adding tasks, init_cl_arg that
 * of init_cl (StarPU does not pass it on). Aborts when a codelet has other buffers. Borrows all. */
void starpu_data_set_reduction_methods(starpu_data_handle_t handle,
                                       struct starpu_codelet *redux_cl,
                                       struct starpu_codelet *init_cl);
void starpu_data_set_reduction_methods_with_args(
    starpu_data_handle_t handle, struct starpu_codelet *redux_cl,
    void *redux_cl_arg, struct starpu_codelet *init_cl, void *init_cl_arg);

/* -- arbiters: tasks take all data of one at once, or none -- */

struct starpu_arbiter;
typedef struct starpu_arbiter *starpu_arbiter_t;

/* The caller's, who ends it with starpu_arbiter_destroy when its data have been
 * unregistered. Aborts without memory. */
starpu_arbiter_t starpu_arbiter_create(void);
/* Once per handle, before its first use; aborts otherwise. Borrows. */
void starpu_data_assign_arbiter(starpu_data_handle_t handle,
                                starpu_arbiter_t arbiter);
void starpu_arbiter_destroy(starpu_arbiter_t arbiter);

#ifdef __cplusplus
}
#endif

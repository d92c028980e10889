/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_data.h - handles on registered data: access from the application,
 * prefetch, hints. Any thread, unless documented otherwise. A call that would wait
 * returns -EDEADLK in a callback, and in a kernel that runs on a device; a kernel of a
 * processor may wait: its worker executes other tasks meanwhile.
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

/* A text for traces and messages; it is copied. NULL: none. */
void starpu_data_set_name(starpu_data_handle_t handle, const char *name);

/* The position of this piece in the application's own arrangement, such as
 * the row and column of a tile. At most 5 dimensions are kept. */
void starpu_data_set_coordinates_array(starpu_data_handle_t handle,
                                       unsigned dimensions, int *dims);
/* The same, each coordinate an argument of type int. */
void starpu_data_set_coordinates(starpu_data_handle_t handle,
                                 unsigned dimensions, ...);
/* Fills at most `dimensions` values and returns how many there are. */
unsigned starpu_data_get_coordinates_array(starpu_data_handle_t handle,
                                           unsigned dimensions, int *dims);

/* -- the end of a handle -- */

/* Waits for all tasks and acquisitions that use the handle, brings the value to the
 * memory that was registered, if there is some, and frees the handle. In a callback,
 * where it cannot wait, and with data that are partitioned it ends the program. */
void starpu_data_unregister(starpu_data_handle_t handle);
/* The same without bringing the value back: what the registered memory holds then is
 * not defined. */
void starpu_data_unregister_no_coherency(starpu_data_handle_t handle);
/* The same as that without waiting: the handle is freed when the tasks submitted so far
 * have ended. It may not be used any more. */
void starpu_data_unregister_submit(starpu_data_handle_t handle);

/* Waits for all that uses the data; then they have no value on any node, and memory
 * that the library allocated for copies is freed. The next use must write them, unless
 * there is a codelet for first values (starpu_data_set_reduction_methods). Where nothing
 * may wait a message says so, and nothing is done. */
void starpu_data_invalidate(starpu_data_handle_t handle);
/* The same without waiting, in the order of submission, as a task that writes. */
void starpu_data_invalidate_submit(starpu_data_handle_t handle);

/* As the two above, but the memory of the copies is kept for the next value. */
void starpu_data_deinitialize(starpu_data_handle_t handle);
/* Without waiting. */
void starpu_data_deinitialize_submit(starpu_data_handle_t handle);

/* -- access from the application -- */

/* As node of an acquisition: the data are held, but brought nowhere. */
#define STARPU_ACQUIRE_NO_NODE          -1
#define STARPU_ACQUIRE_NO_NODE_LOCK_ALL -2

/* Waits until the tasks submitted before that conflict with `mode` (STARPU_R, _W or
 * _RW) have ended, and the value is where the application has its own memory for the
 * data, else in STARPU_MAIN_RAM. From then until it is released the application holds
 * the data, and conflicting tasks that are submitted later wait. 0, -EINVAL after a
 * message, -EDEADLK where nothing may wait, -ENOMEM. */
int starpu_data_acquire(starpu_data_handle_t handle,
                        enum starpu_data_access_mode mode);
/* The same with the value on `node`: a memory node, or one of the macros above. It is
 * released with the same number. */
int starpu_data_acquire_on_node(starpu_data_handle_t handle, int node,
                                enum starpu_data_access_mode mode);

/* The same without waiting: callback(arg) is called when the data are held, in this call
 * if that is so at once, else by whoever ends what was waited for. It may not wait. The
 * callback, or any later call, releases the data. `arg` stays the caller's. */
int starpu_data_acquire_cb(starpu_data_handle_t handle,
                           enum starpu_data_access_mode mode,
                           void (*callback)(void *), void *arg);
/* On that node, as starpu_data_acquire_on_node(). */
int starpu_data_acquire_on_node_cb(starpu_data_handle_t handle, int node,
                                   enum starpu_data_access_mode mode,
                                   void (*callback)(void *), void *arg);
/* With `sequential_consistency` 0 the acquisition has no place in the order of
 * submission: it may get the data before tasks submitted earlier, but not beside those
 * that use them. */
int starpu_data_acquire_cb_sequential_consistency(
    starpu_data_handle_t handle, enum starpu_data_access_mode mode,
    void (*callback)(void *), void *arg, int sequential_consistency);
/* Both of that. */
int starpu_data_acquire_on_node_cb_sequential_consistency(
    starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
    void (*callback)(void *), void *arg, int sequential_consistency);

/* The same, for libraries built on this one. Unless it is NULL,
 * callback_acquired(arg, &node, mode) is called when it is the turn of the
 * acquisition, before the value is brought, and may store another node. `prio` is
 * the priority with which the value is brought. An acquisition takes the place of
 * one job in the order of tasks: *pre_sync_jobid and *post_sync_jobid become its
 * number, -1 without sequential consistency; either may be NULL. `quick` changes
 * nothing here. */
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

/* As starpu_data_acquire() if no task or acquisition submitted before still uses the
 * data, not even to read them; else returns -EAGAIN at once. Waits for a copy at
 * most. */
int starpu_data_acquire_try(starpu_data_handle_t handle,
                            enum starpu_data_access_mode mode);
/* On that node. */
int starpu_data_acquire_on_node_try(starpu_data_handle_t handle, int node,
                                    enum starpu_data_access_mode mode);

/* Ends an acquisition that was made without a node, the oldest of several by the same
 * task or, outside of tasks, by the application. Any thread may do that. Where there is
 * none a message says so. */
void starpu_data_release(starpu_data_handle_t handle);
/* Ends one that was made with this node. */
void starpu_data_release_on_node(starpu_data_handle_t handle, int node);
/* The data stay acquired, for `down_to_mode`: STARPU_R after one of the others lets
 * readers go on, STARPU_W and _RW keep what was acquired for writing, STARPU_NONE
 * ends it. What was acquired for reading cannot be kept for writing: that ends the
 * program. */
void starpu_data_release_to(starpu_data_handle_t handle,
                            enum starpu_data_access_mode down_to_mode);
/* Of one that was made with this node. */
void starpu_data_release_to_on_node(starpu_data_handle_t handle,
                                    enum starpu_data_access_mode down_to_mode,
                                    int node);

/* -- transfers -- */

/* Brings the value to the node, after the tasks submitted before that write it, as
 * urgently as what tasks wait for; other copies stay. With `async` 0 it waits until the
 * value is there, else it returns at once. Nothing keeps the copy there afterwards. 0,
 * -EINVAL after a message, -ENOMEM; waiting, -EDEADLK in a callback. */
int starpu_data_fetch_on_node(starpu_data_handle_t handle, unsigned node,
                              unsigned async);
/* The same as a hint: its copies begin when no task waits for one on that node, and get
 * no memory that tasks wait for. Where the data could never fit it has no effect, which
 * is said once. */
int starpu_data_prefetch_on_node(starpu_data_handle_t handle, unsigned node,
                                 unsigned async);
/* The same; of prefetches to one node those with larger `prio` begin first, then older
 * ones. Forms without `prio` have 0. With `async` 0 it makes no difference. */
int starpu_data_prefetch_on_node_prio(starpu_data_handle_t handle,
                                      unsigned node, unsigned async, int prio);
/* A hint that is less urgent still: it begins when no fetch and no prefetch waits for
 * that node. */
int starpu_data_idle_prefetch_on_node(starpu_data_handle_t handle,
                                      unsigned node, unsigned async);
/* With a priority among such hints. */
int starpu_data_idle_prefetch_on_node_prio(starpu_data_handle_t handle,
                                           unsigned node, unsigned async,
                                           int prio);

/* Allocates memory for the data on the node, as urgently as a prefetch, without bringing
 * a value there; does not wait. 0, -EINVAL after a message for partitioned data. */
int starpu_data_request_allocation(starpu_data_handle_t handle, unsigned node);

/* Returns whether the node has a valid copy, or one on its way. */
unsigned starpu_data_is_on_node(starpu_data_handle_t handle, unsigned node);

/* A hint that no task will use the data for long: once the writers submitted before have
 * ended, copies leave full memories first, and the value is brought to the registered
 * memory when links are idle. A later use of the data is no mistake. */
void starpu_data_wont_use(starpu_data_handle_t handle);
/* Frees the memory of the data on the node now. If no other node has the value, it
 * is copied to one first, which the caller waits for. Returns 0. Returns -1, and
 * nothing has changed, when a task or an acquisition uses the data, when no other
 * node can have the value, when the memory is the application's own, and when the
 * caller, a callback or a kernel, cannot wait for the copy. */
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

/* Stores 1 or 0 for each: whether there is memory for the data on the node, whether it
 * holds the present value, whether that is on its way there, and whether anything is
 * requested there. A pointer may be NULL. Others may change all this at any time. */
void starpu_data_query_status2(starpu_data_handle_t handle, int memory_node,
                               int *is_allocated, int *is_valid,
                               int *is_loading, int *is_requested);
/* The same without `is_loading`. */
void starpu_data_query_status(starpu_data_handle_t handle, int memory_node,
                              int *is_allocated, int *is_valid,
                              int *is_requested);

/* Whether there is memory for the data on the node, whatever is in it. */
unsigned starpu_data_test_if_allocated_on_node(starpu_data_handle_t handle,
                                               unsigned memory_node);
/* Whether the node uses another node's memory in place: always 0. */
unsigned starpu_data_test_if_mapped_on_node(starpu_data_handle_t handle,
                                            unsigned memory_node);

/* -- order of tasks -- */

/* With the flag (the default) tasks on a handle run in the order of their
 * submission wherever one of two writes. */
void starpu_data_set_sequential_consistency_flag(starpu_data_handle_t handle,
                                                 unsigned flag);
/* Returns the flag, 0 or 1. */
unsigned
starpu_data_get_sequential_consistency_flag(starpu_data_handle_t handle);
/* The flag that handles get when they are registered: 1 unless it was set. */
unsigned starpu_data_get_default_sequential_consistency_flag(void);
/* Sets it, for handles registered from now on. */
void starpu_data_set_default_sequential_consistency_flag(unsigned flag);

/* With 0 the library never moves the data to a disk by itself; 1 is the default. Pieces
 * get the flag of the whole. */
void starpu_data_set_ooc_flag(starpu_data_handle_t handle, unsigned flag);
/* Returns the flag, 0 or 1. */
unsigned starpu_data_get_ooc_flag(starpu_data_handle_t handle);

/* -- pointers of the application and of policies, stored with the handle -- */

/* Keeps a pointer of the application's, which the library never follows nor frees. */
void starpu_data_set_user_data(starpu_data_handle_t handle, void *user_data);
/* That pointer; NULL until one was set. */
void *starpu_data_get_user_data(starpu_data_handle_t handle);
/* The same for the scheduling policy. */
void starpu_data_set_sched_data(starpu_data_handle_t handle, void *sched_data);
/* That pointer; NULL until one was set. */
void *starpu_data_get_sched_data(starpu_data_handle_t handle);

/* The operations of the handle's interface, borrowed. */
struct starpu_data_interface_ops *
starpu_data_get_interface_ops(starpu_data_handle_t handle);

/* -- for schedulers -- */

/* Returns whether the node's copy could be evicted for such a fetch. */
int starpu_data_can_evict(starpu_data_handle_t handle, unsigned node,
                          enum starpu_is_prefetch is_prefetch);

/* -- reductions: tasks contribute to data side by side -- */

/* A task with STARPU_REDUX adds to a partial value of its worker's own. init_cl (one
 * buffer, STARPU_W) makes a new partial value: its first function for the worker's
 * kind is called there. When the data are used in another mode, the library submits
 * tasks of redux_cl (two buffers, STARPU_RW|STARPU_COMMUTE and STARPU_R), which add
 * the second to the first: the partial values, and the value from before, if there
 * is one. init_cl also makes the value of data that are read before any task has
 * written them. Either may be NULL, for none. Pieces of the data get both, now and
 * when they are made. The codelets stay the caller's, until the data are
 * unregistered. Other buffers than these end the program. */
void starpu_data_set_reduction_methods(starpu_data_handle_t handle,
                                       struct starpu_codelet *redux_cl,
                                       struct starpu_codelet *init_cl);
/* The same; redux_cl_arg and init_cl_arg are what the functions of the codelets get as
 * cl_arg. They stay the caller's, until the data are unregistered. (StarPU does not hand
 * on init_cl_arg.) */
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
/* Frees it; its data have been unregistered. NULL is allowed. */
void starpu_arbiter_destroy(starpu_arbiter_t arbiter);

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_mpi.h - tasks and data of several processes, the ranks of an MPI program. Compile
 * with mpicc, and with what pkg-config says of starpumpi-1.4. docs/MPI.md is about all of
 * it.
 *
 * One thread per rank, called MPI here, makes all calls of MPI. What the application has
 * called back runs on it, so callbacks must not wait: calls that would are refused there
 * with -EDEADLK, after a message. Unless it is said otherwise, functions may be called by
 * any thread between starpu_mpi_init and starpu_mpi_shutdown, also in tasks; those that
 * concern one datum in one order, as its tasks.
 *
 * Ranks are those of the communicator that is given. A communicator is learnt when it is
 * first named, and must then stay until starpu_mpi_shutdown. A mistake of the caller ends
 * the program with status 1, after a message that names the call and the remedy, unless an
 * error is listed.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- start and end: of the application's main thread -- */

/* Starts the library with conf (NULL: the defaults; it is not changed), which leaves one
 * processor to the thread MPI unless conf->ncpus or STARPU_MPI_THREAD_CPUID say otherwise,
 * then starts that thread. initialize_mpi 1: MPI is initialised there, with
 * MPI_THREAD_SERIALIZED, and argc and argv, which may be NULL, are main's; comm is
 * MPI_COMM_WORLD then, and starpu_mpi_shutdown ends MPI. 0: the application has initialised
 * MPI, and ends it after starpu_mpi_shutdown. All ranks of comm call it. Returns 0, the
 * error of starpu_init, or after a message -EINVAL, -EIO, -ENOMEM, -EALREADY; then nothing
 * was started. Under a simulated machine there may be one rank only: docs/MPI.md. */
int starpu_mpi_init_conf(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm,
                         struct starpu_conf *conf);
/* The same when starpu_init was called already; no processor is left to the thread. */
int starpu_mpi_init_comm(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm);
/* The same with MPI_COMM_WORLD. */
int starpu_mpi_init(int *argc, char ***argv, int initialize_mpi);
/* Older: MPI was initialised by the application … */
int starpu_mpi_initialize(void) STARPU_DEPRECATED;
/* … or is to be initialised; stores this rank and their number. */
int starpu_mpi_initialize_extended(int *rank, int *world_size) STARPU_DEPRECATED;

/* Waits as starpu_mpi_wait_for_all, ends the thread MPI, and MPI and the library if they
 * were started by starpu_mpi_init*. Prints statistics (STARPU_MPI_STATS). No barrier: other
 * ranks may go on. Messages that came and nobody has asked for end the program, after each
 * was named. Data are to be unregistered before. Returns 0, or -EDEADLK in tasks and
 * callbacks. */
int starpu_mpi_shutdown(void);
/* The same; comm says nothing. */
int starpu_mpi_shutdown_comm(MPI_Comm comm);

/* -- communicators -- */

/* Makes a communicator known to this rank. Messages of one are taken from this or the first
 * other call on that names it. Returns 0. */
int starpu_mpi_comm_register(MPI_Comm comm);
/* Number of ranks, and the caller's; return 0. STARPU_MPI_FAKE_SIZE and _RANK say others. */
int starpu_mpi_comm_size(MPI_Comm comm, int *size);
int starpu_mpi_comm_rank(MPI_Comm comm, int *rank);
/* The same of MPI_COMM_WORLD, as results. */
int starpu_mpi_world_rank(void);
int starpu_mpi_world_size(void);

/* Tags of data, not of MPI. */
typedef int64_t starpu_mpi_tag_t;

#define STARPU_MPI_TAG_UB MPI_TAG_UB
/* For keyval STARPU_MPI_TAG_UB: *flag is 1, and *(int64_t **)attribute_val the address of
 * the largest tag of data; of others *flag is 0. Returns 0. */
int starpu_mpi_comm_get_attr(MPI_Comm comm, int keyval, void *attribute_val, int *flag);

/* The processor to which the thread MPI is bound, -1: to none. */
int starpu_mpi_get_thread_cpuid(void);
/* Tags of MPI that messages have: this one and the two after it, 42 unless set before
 * starpu_mpi_init, equally on all ranks. */
int starpu_mpi_get_communication_tag(void);
void starpu_mpi_set_communication_tag(int tag);

/* -- messages --
 *
 * A message takes its place among the tasks of its handle when the call is made: a send
 * sees what was submitted before it, and a receive is seen by what is submitted after it.
 * It moves when it is its turn, whatever the application does meanwhile. The handle need
 * not be registered with starpu_mpi_data_register; both sides give data_tag, 0 or more.
 *
 * Messages from one rank to another one with one tag in one communicator are matched in the
 * order of the calls on both sides. A message may have fewer bytes than the data of its
 * receive; more end the program. Priorities (prio, larger is sooner) order what is ready at
 * the same time. A source or tag that means any does not exist. */

/* A message under way; of the library until wait or test have ended it. */
typedef void *starpu_mpi_req;

/* Begins to send the value, or to receive one. *req is to be ended with starpu_mpi_wait or
 * starpu_mpi_test. Return 0. */
int starpu_mpi_isend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
                     starpu_mpi_tag_t data_tag, MPI_Comm comm);
int starpu_mpi_isend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
                          starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm);
int starpu_mpi_irecv(starpu_data_handle_t data_handle, starpu_mpi_req *req, int source,
                     starpu_mpi_tag_t data_tag, MPI_Comm comm);
/* A send that ends when the receiver has asked for the message. */
int starpu_mpi_issend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
                      starpu_mpi_tag_t data_tag, MPI_Comm comm);
int starpu_mpi_issend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
                           starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm);

/* The same, and wait. status (MPI_STATUS_IGNORE, NULL: unwanted) is as of starpu_mpi_wait.
 * Return 0, or -EDEADLK in callbacks: then nothing was begun. */
int starpu_mpi_send(starpu_data_handle_t data_handle, int dest, starpu_mpi_tag_t data_tag,
                    MPI_Comm comm);
int starpu_mpi_send_prio(starpu_data_handle_t data_handle, int dest,
                         starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm);
int starpu_mpi_recv(starpu_data_handle_t data_handle, int source, starpu_mpi_tag_t data_tag,
                    MPI_Comm comm, MPI_Status *status);
int starpu_mpi_recv_prio(starpu_data_handle_t data_handle, int source,
                         starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
                         MPI_Status *status);

/* Detached: nobody waits for it; callback(arg), unless it is NULL, is called once on the
 * thread MPI when the data were released. Return 0. */
int starpu_mpi_isend_detached(starpu_data_handle_t data_handle, int dest,
                              starpu_mpi_tag_t data_tag, MPI_Comm comm,
                              void (*callback)(void *), void *arg);
int starpu_mpi_isend_detached_prio(starpu_data_handle_t data_handle, int dest,
                                   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
                                   void (*callback)(void *), void *arg);
int starpu_mpi_irecv_detached(starpu_data_handle_t data_handle, int source,
                              starpu_mpi_tag_t data_tag, MPI_Comm comm,
                              void (*callback)(void *), void *arg);
int starpu_mpi_irecv_detached_prio(starpu_data_handle_t data_handle, int source,
                                   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
                                   void (*callback)(void *), void *arg);
/* With sequential_consistency 0 the receive has no place among the tasks of the handle: it
 * only waits for whoever has the data. */
int starpu_mpi_irecv_detached_sequential_consistency(
    starpu_data_handle_t data_handle, int source, starpu_mpi_tag_t data_tag, MPI_Comm comm,
    void (*callback)(void *), void *arg, int sequential_consistency);
int starpu_mpi_issend_detached(starpu_data_handle_t data_handle, int dest,
                               starpu_mpi_tag_t data_tag, MPI_Comm comm,
                               void (*callback)(void *), void *arg);
int starpu_mpi_issend_detached_prio(starpu_data_handle_t data_handle, int dest,
                                    starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
                                    void (*callback)(void *), void *arg);

/* Blocks until the message has ended; *req is NULL then. status has the peer's rank, the
 * tag of the data, as an int, and the number of bytes, for MPI_Get_count with MPI_BYTE.
 * Returns 0, or -EDEADLK in callbacks; then *req is as before. */
int starpu_mpi_wait(starpu_mpi_req *req, MPI_Status *status);
/* Whether it has ended: *flag 1, and as starpu_mpi_wait; else *flag is 0. Returns 0. */
int starpu_mpi_test(starpu_mpi_req *req, int *flag, MPI_Status *status);

/* Returns when all ranks of the communicator have called it. Messages go on meanwhile;
 * tasks and messages are not waited for. Returns 0; -EDEADLK in callbacks; -ECONNRESET: a
 * rank has ended. */
int starpu_mpi_barrier(MPI_Comm comm);
/* Ends reductions that are open, then waits until this rank has neither a message under way
 * nor an unfinished task. Of other ranks it says nothing; nor does comm. Returns 0, or
 * -EDEADLK in callbacks. */
int starpu_mpi_wait_for_all(MPI_Comm comm);

/* Detached; the task tag `tag` is notified when the message has ended
 * (starpu_tag_notify_from_apps). Return 0. */
int starpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t data_handle, int dest,
                                         starpu_mpi_tag_t data_tag, MPI_Comm comm,
                                         starpu_tag_t tag);
int starpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t data_handle, int dest,
                                              starpu_mpi_tag_t data_tag, int prio,
                                              MPI_Comm comm, starpu_tag_t tag);
int starpu_mpi_irecv_detached_unlock_tag(starpu_data_handle_t data_handle, int source,
                                         starpu_mpi_tag_t data_tag, MPI_Comm comm,
                                         starpu_tag_t tag);
/* array_size messages, of which the arrays have one element each; the tag is notified when
 * all have ended, at once if there are none. prio may be NULL. Return 0. */
int starpu_mpi_isend_array_detached_unlock_tag(unsigned array_size,
                                               starpu_data_handle_t *data_handle, int *dest,
                                               starpu_mpi_tag_t *data_tag, MPI_Comm *comm,
                                               starpu_tag_t tag);
int starpu_mpi_isend_array_detached_unlock_tag_prio(unsigned array_size,
                                                    starpu_data_handle_t *data_handle,
                                                    int *dest, starpu_mpi_tag_t *data_tag,
                                                    int *prio, MPI_Comm *comm,
                                                    starpu_tag_t tag);
int starpu_mpi_irecv_array_detached_unlock_tag(unsigned array_size,
                                               starpu_data_handle_t *data_handle,
                                               int *source, starpu_mpi_tag_t *data_tag,
                                               MPI_Comm *comm, starpu_tag_t tag);

/* -- datatypes of MPI for interfaces of the application --
 *
 * Dense data of the predefined interfaces are sent from where they lie; data of others are
 * packed by their interface's pack_data, or by a datatype that is given here, of which one
 * element describes a datum. */

/* Makes the datatype of a datum as it lies on a memory node (0 in the first form): commits
 * it and returns 0; not 0: this datum is to be packed by its interface. On the thread MPI. */
typedef int (*starpu_mpi_datatype_allocate_func_t)(starpu_data_handle_t, MPI_Datatype *);
typedef int (*starpu_mpi_datatype_node_allocate_func_t)(starpu_data_handle_t, unsigned,
                                                        MPI_Datatype *);
/* Frees one. On the thread MPI. */
typedef void (*starpu_mpi_datatype_free_func_t)(MPI_Datatype *);

/* Data of the interface (a number from STARPU_MAX_INTERFACE_ID on), or of this handle's
 * interface, have these datatypes from the next message on, on this rank; again: others.
 * Addresses in the datatype are relative to what starpu_data_handle_to_pointer says, so the
 * interface has to_pointer. Needs no starpu_mpi_init, and outlasts starpu_mpi_shutdown. Any
 * thread. Return 0, or -ENOMEM. */
int starpu_mpi_datatype_register(
    starpu_data_handle_t handle, starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
    starpu_mpi_datatype_free_func_t free_datatype_func);
int starpu_mpi_interface_datatype_register(
    enum starpu_data_interface_id id,
    starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
    starpu_mpi_datatype_free_func_t free_datatype_func);
int starpu_mpi_datatype_node_register(
    starpu_data_handle_t handle,
    starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
    starpu_mpi_datatype_free_func_t free_datatype_func);
int starpu_mpi_interface_datatype_node_register(
    enum starpu_data_interface_id id,
    starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
    starpu_mpi_datatype_free_func_t free_datatype_func);
/* They have none any more. Return 0. */
int starpu_mpi_datatype_unregister(starpu_data_handle_t handle);
int starpu_mpi_interface_datatype_unregister(enum starpu_data_interface_id id);

/* -- the cache: which values other ranks have already --
 *
 * Insertions send the value of a datum once to each rank that reads it, until it is
 * written. Calls that change this are made by all ranks at the same point of submission. */

int starpu_mpi_cache_is_enabled(void);
/* Off (0), which flushes all, or on again. Returns 0. */
int starpu_mpi_cache_set(int enabled);
/* Forgets who has the value, and the value where it is not owned; of one datum, or of all
 * of the communicator's. */
void starpu_mpi_cache_flush(MPI_Comm comm, starpu_data_handle_t data_handle);
void starpu_mpi_cache_flush_all_data(MPI_Comm comm);
/* Whether this rank has received the value, … */
int starpu_mpi_cached_receive(starpu_data_handle_t data_handle);
/* … from now on has (both: the same here): returns whether it had; … */
int starpu_mpi_cached_receive_set(starpu_data_handle_t data);
int starpu_mpi_cached_cp_receive_set(starpu_data_handle_t data_handle);
/* … or has no more, and its value here is invalid. */
void starpu_mpi_cached_receive_clear(starpu_data_handle_t data);
/* The same of sending it to a rank, … */
int starpu_mpi_cached_send(starpu_data_handle_t data_handle, int dest);
int starpu_mpi_cached_send_set(starpu_data_handle_t data, int dest);
/* … or to all. */
void starpu_mpi_cached_send_clear(starpu_data_handle_t data);

/* -- data that ranks know by a tag, and their owners -- */

/* Instead of a rank: each rank has a value of its own. */
#define STARPU_MPI_PER_NODE (-2)

/* The datum has this tag on this rank, and is owned by that rank of comm; -1 leaves either
 * as it is. No other rank is told: all call it alike. A tag belongs to one datum of a rank
 * at a time. When the handle is unregistered, all of this ends with it; parts of a
 * partitioned handle have tags and owners of their own. */
void starpu_mpi_data_register_comm(starpu_data_handle_t data_handle,
                                   starpu_mpi_tag_t data_tag, int rank, MPI_Comm comm);
#define starpu_mpi_data_register(data_handle, data_tag, rank)                              \
    starpu_mpi_data_register_comm(data_handle, data_tag, rank, MPI_COMM_WORLD)
void starpu_mpi_data_set_tag(starpu_data_handle_t handle, starpu_mpi_tag_t data_tag);
void starpu_mpi_data_set_rank_comm(starpu_data_handle_t handle, int rank, MPI_Comm comm);
#define starpu_mpi_data_set_rank(handle, rank)                                             \
    starpu_mpi_data_set_rank_comm(handle, rank, MPI_COMM_WORLD)
/* -1: none was set. */
int starpu_mpi_data_get_rank(starpu_data_handle_t handle);
starpu_mpi_tag_t starpu_mpi_data_get_tag(starpu_data_handle_t handle);
/* Of a reduction under way: a char per rank of the communicator, 1 of those that have
 * contributed; NULL: there is none. Lent until it ends. */
char *starpu_mpi_data_get_redux_map(starpu_data_handle_t handle);
#define starpu_data_set_tag  starpu_mpi_data_set_tag
#define starpu_data_set_rank starpu_mpi_data_set_rank
#define starpu_data_get_rank starpu_mpi_data_get_rank
#define starpu_data_get_tag  starpu_mpi_data_get_tag

/* nbtags tags in a row that no other call has, the lowest ones: the first of them, -1 if
 * nbtags is 0. No other rank is told, and starpu_mpi_data_register takes any tag. Need no
 * starpu_mpi_init, and outlast starpu_mpi_shutdown. */
int64_t starpu_mpi_tags_allocate(int64_t nbtags);
/* Gives those back that begin with this tag. */
void starpu_mpi_tags_free(int64_t mintag);

/* -- tasks that all ranks insert and one executes --
 *
 * All ranks that own some of a task's data, or need them, insert it, in the same order. It
 * is executed on the rank of STARPU_EXECUTE_ON_NODE or STARPU_EXECUTE_ON_DATA; else on that
 * which owns all that it writes; else where a policy says. What that rank reads and has not
 * got is sent to it, what it writes goes back to the owners. */

/* Arguments as of starpu_task_insert, and STARPU_EXECUTE_ON_NODE, STARPU_EXECUTE_ON_DATA,
 * STARPU_NODE_SELECTION_POLICY; modes may have STARPU_SSEND and STARPU_MPI_REDUX. Without
 * codelet, a rank is found and values go there alike, for a task that runs nothing. Returns 0
 * on all ranks; -EINVAL without a message where a datum that is written is NULL, so that
 * this rank takes no part; -EINVAL or -ENOMEM after a message; -ENODEV on the rank that
 * executes: none of its workers can. */
int starpu_mpi_task_insert(MPI_Comm comm, struct starpu_codelet *codelet, ...);
int starpu_mpi_insert_task(MPI_Comm comm, struct starpu_codelet *codelet, ...);
/* The same up to the task, which the rank that executes it gets, and submits; others get
 * NULL, and so does that one after a message. Then all call task_post_build with the same
 * arguments, which does the rest. */
struct starpu_task *starpu_mpi_task_build(MPI_Comm comm, struct starpu_codelet *codelet,
                                          ...);
struct starpu_task *starpu_mpi_task_build_v(MPI_Comm comm, struct starpu_codelet *codelet,
                                            va_list varg_list);
int starpu_mpi_task_post_build(MPI_Comm comm, struct starpu_codelet *codelet, ...);
int starpu_mpi_task_post_build_v(MPI_Comm comm, struct starpu_codelet *codelet,
                                 va_list varg_list);
/* They note file and line of the call in the task. */
#define starpu_mpi_task_insert(comm, cl, ...)                                              \
    starpu_mpi_task_insert(comm, cl, STARPU_TASK_FILE, __FILE__, STARPU_TASK_LINE,         \
                           __LINE__, ##__VA_ARGS__)
#define starpu_mpi_insert_task(comm, cl, ...)                                              \
    starpu_mpi_insert_task(comm, cl, STARPU_TASK_FILE, __FILE__, STARPU_TASK_LINE,         \
                           __LINE__, ##__VA_ARGS__)
#define starpu_mpi_task_build(comm, cl, ...)                                               \
    starpu_mpi_task_build(comm, cl, STARPU_TASK_FILE, __FILE__, STARPU_TASK_LINE,          \
                          __LINE__, ##__VA_ARGS__)

/* What becomes of a task on this rank. */
struct starpu_mpi_task_exchange_params {
    int do_execute; /* this rank submits it */
    int xrank;      /* who does; STARPU_MPI_PER_NODE: each rank does */
    int priority;   /* of the messages */
};

/* The messages before a task that the application submits itself: stores the task's handles
 * and modes in descrs, which has room for all, and *params. Then the rank with do_execute
 * submits the task, and all call the second one, for the messages behind it. Return 0, or
 * -EINVAL as starpu_mpi_task_insert. */
int starpu_mpi_task_exchange_data_before_execution(
    MPI_Comm comm, struct starpu_task *task, struct starpu_data_descr *descrs,
    struct starpu_mpi_task_exchange_params *params);
int starpu_mpi_task_exchange_data_after_execution(
    MPI_Comm comm, struct starpu_data_descr *descrs, unsigned nb_data,
    struct starpu_mpi_task_exchange_params params);

/* Instead of a policy's number: the one that is current. */
#define STARPU_MPI_NODE_SELECTION_CURRENT_POLICY (-1)
/* The rank that owns most bytes of the task's data, the lowest of equals. */
#define STARPU_MPI_NODE_SELECTION_MOST_R_DATA 0

/* Returns the rank that executes a task of nb_data data; the same on all ranks. me is the
 * caller, nb_nodes the number of ranks. */
typedef int (*starpu_mpi_select_node_policy_func_t)(int me, int nb_nodes,
                                                    struct starpu_data_descr *descr,
                                                    int nb_data);
/* A number for the policy, from 1 to 23, until starpu_mpi_shutdown. */
int starpu_mpi_node_selection_register_policy(
    starpu_mpi_select_node_policy_func_t policy_func);
/* Takes it away; if it was the current one, that is policy 0 then. Returns 0. */
int starpu_mpi_node_selection_unregister_policy(int policy);
int starpu_mpi_node_selection_get_current_policy(void);
/* Returns 0. */
int starpu_mpi_node_selection_set_current_policy(int policy);

/* f(task) is called for each inserted task on the rank that executes it, just before it is
 * submitted, by the caller of starpu_mpi_task_insert. There is one such function at a time.
 * Return 0. */
int starpu_mpi_pre_submit_hook_register(void (*f)(struct starpu_task *));
int starpu_mpi_pre_submit_hook_unregister(void);

/* -- data move: all ranks of the communicator call these at the same point of submission - */

/* The owner's value comes to rank `node`, unless that has it; both wait. Returns 0, or
 * -EDEADLK in callbacks. */
int starpu_mpi_get_data_on_node(MPI_Comm comm, starpu_data_handle_t data_handle, int node);
/* The same without waiting: callback(arg) is called on that rank if the value has to come,
 * on the thread MPI. Returns 0. */
int starpu_mpi_get_data_on_node_detached(MPI_Comm comm, starpu_data_handle_t data_handle,
                                         int node, void (*callback)(void *), void *arg);
void starpu_mpi_get_data_on_all_nodes_detached(MPI_Comm comm,
                                               starpu_data_handle_t data_handle);
/* The datum belongs to another rank from now on, which gets the value. */
void starpu_mpi_data_migrate(MPI_Comm comm, starpu_data_handle_t handle, int new_rank);

/* Copies a value from datum to datum, by a message if they belong to two ranks.
 * callback_func(callback_arg), unless NULL, is called on the rank of dst_handle. Without
 * `asynchronous` the owners' ranks wait. Return 0, or -EDEADLK in callbacks. */
int starpu_mpi_data_cpy(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
                        MPI_Comm comm, int asynchronous, void (*callback_func)(void *),
                        void *callback_arg);
int starpu_mpi_data_cpy_priority(starpu_data_handle_t dst_handle,
                                 starpu_data_handle_t src_handle, MPI_Comm comm,
                                 int asynchronous, void (*callback_func)(void *),
                                 void *callback_arg, int priority);

/* Each of `count` data, or none where a handle is NULL, goes from rank `root` to its owner,
 * or from its owner to root. When all messages of a rank have ended the thread MPI calls
 * scallback(sarg) there if it has sent, rcallback(rarg) if it has received; nothing where
 * there were none. Return 0. */
int starpu_mpi_scatter_detached(starpu_data_handle_t *data_handles, int count, int root,
                                MPI_Comm comm, void (*scallback)(void *), void *sarg,
                                void (*rcallback)(void *), void *rarg);
int starpu_mpi_gather_detached(starpu_data_handle_t *data_handles, int count, int root,
                               MPI_Comm comm, void (*scallback)(void *), void *sarg,
                               void (*rcallback)(void *), void *rarg);

/* -- reductions -- */

/* Ends a reduction: combines what tasks with STARPU_REDUX or STARPU_MPI_REDUX have
 * contributed on several ranks in the owner's datum, by tasks and messages that are
 * submitted here. All ranks that contribute call it, and the owner; whoever inserts a task
 * that reads the datum, the calls under "data move", and starpu_mpi_wait_for_all do so by
 * themselves; messages of the application's own do not. The tree combines
 * `arity` values at a time (less than 2: all of them). Return 0, also where no reduction is
 * under way. */
int starpu_mpi_redux_data(MPI_Comm comm, starpu_data_handle_t data_handle);
int starpu_mpi_redux_data_prio(MPI_Comm comm, starpu_data_handle_t data_handle, int prio);
int starpu_mpi_redux_data_tree(MPI_Comm comm, starpu_data_handle_t data_handle, int arity);
int starpu_mpi_redux_data_prio_tree(MPI_Comm comm, starpu_data_handle_t data_handle,
                                    int prio, int arity);

/* -- one value sent to many ranks -- */

/* Detached sends of one value, without callback, are made together: ranks that receive it
 * pass it on, from three on; or are not (0). Fewer than three ranks: a notice, nothing
 * changes. Any thread. */
void starpu_mpi_coop_sends_set_use(int use_coop_sends);
int starpu_mpi_coop_sends_get_use(void);
/* The next value of the datum is going to be sent to so many ranks (less than 1: that is
 * not known): a hint; if fewer are sent when the value is there, these go a little later.
 * Any thread. */
void starpu_mpi_coop_sends_data_handle_nb_sends(starpu_data_handle_t data_handle,
                                                int nb_sends);

/* -- statistics -- */

/* Bytes that go to each rank of the communicator of starpu_mpi_init are counted from now
 * on, and printed at starpu_mpi_shutdown; or no more. */
void starpu_mpi_comm_stats_enable(void);
void starpu_mpi_comm_stats_disable(void);
/* Stores the bytes sent to each; nothing if they were never counted. */
void starpu_mpi_comm_stats_retrieve(size_t *comm_stats);

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_task_util.h - building a task from a list of arguments, and packing
 * arguments for its kernel.
 *
 * A list is a sequence of (tag, values), ended by 0. A tag is an access mode,
 * followed by a handle, or one of the constants below. Widths matter: values
 * pass through `...`, so write 0 casts where a pointer or a size is meant.
 */
#pragma once

#include <stddef.h>

#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tags lie above every access mode. */
#define STARPU_MODE_SHIFT 17

/* void *, size_t: copied for unpack_args */
#define STARPU_VALUE                           (1 << STARPU_MODE_SHIFT)
/* void (*)(void *) */
#define STARPU_CALLBACK                        (2 << STARPU_MODE_SHIFT)
/* void (*)(void *), void * */
#define STARPU_CALLBACK_WITH_ARG               (3 << STARPU_MODE_SHIFT)
/* void *, freed after use */
#define STARPU_CALLBACK_ARG                    (4 << STARPU_MODE_SHIFT)
/* int */
#define STARPU_PRIORITY                        (5 << STARPU_MODE_SHIFT)
/* int, MPI only */
#define STARPU_EXECUTE_ON_NODE                 (6 << STARPU_MODE_SHIFT)
/* handle, MPI only */
#define STARPU_EXECUTE_ON_DATA                 (7 << STARPU_MODE_SHIFT)
/* handle *, int */
#define STARPU_DATA_ARRAY                      (8 << STARPU_MODE_SHIFT)
/* struct starpu_data_descr *, int */
#define STARPU_DATA_MODE_ARRAY                 (9 << STARPU_MODE_SHIFT)
/* starpu_tag_t, also sets use_tag */
#define STARPU_TAG                             (10 << STARPU_MODE_SHIFT)
/* int */
#define STARPU_HYPERVISOR_TAG                  (11 << STARPU_MODE_SHIFT)
/* double */
#define STARPU_FLOPS                           (12 << STARPU_MODE_SHIFT)
/* unsigned */
#define STARPU_SCHED_CTX                       (13 << STARPU_MODE_SHIFT)
/* void (*)(void *) */
#define STARPU_PROLOGUE_CALLBACK               (14 << STARPU_MODE_SHIFT)
/* void *, freed */
#define STARPU_PROLOGUE_CALLBACK_ARG           (15 << STARPU_MODE_SHIFT)
/* void (*)(void *) */
#define STARPU_PROLOGUE_CALLBACK_POP           (16 << STARPU_MODE_SHIFT)
/* void *, freed */
#define STARPU_PROLOGUE_CALLBACK_POP_ARG       (17 << STARPU_MODE_SHIFT)
/* int, -1 = any */
#define STARPU_EXECUTE_ON_WORKER               (18 << STARPU_MODE_SHIFT)
/* unsigned long long */
#define STARPU_EXECUTE_WHERE                   (19 << STARPU_MODE_SHIFT)
/* starpu_tag_t */
#define STARPU_TAG_ONLY                        (20 << STARPU_MODE_SHIFT)
/* unsigned */
#define STARPU_POSSIBLY_PARALLEL               (21 << STARPU_MODE_SHIFT)
/* unsigned */
#define STARPU_WORKER_ORDER                    (22 << STARPU_MODE_SHIFT)
/* int, MPI only */
#define STARPU_NODE_SELECTION_POLICY           (23 << STARPU_MODE_SHIFT)
/* const char * */
#define STARPU_NAME                            (24 << STARPU_MODE_SHIFT)
/* void *, size_t: freed with the task */
#define STARPU_CL_ARGS                         (25 << STARPU_MODE_SHIFT)
/* void *, size_t */
#define STARPU_CL_ARGS_NFREE                   (26 << STARPU_MODE_SHIFT)
/* unsigned, struct starpu_task ** */
#define STARPU_TASK_DEPS_ARRAY                 (27 << STARPU_MODE_SHIFT)
/* int */
#define STARPU_TASK_COLOR                      (28 << STARPU_MODE_SHIFT)
/* unsigned char * */
#define STARPU_HANDLES_SEQUENTIAL_CONSISTENCY  (29 << STARPU_MODE_SHIFT)
/* int */
#define STARPU_TASK_SYNCHRONOUS                (30 << STARPU_MODE_SHIFT)
/* unsigned, struct starpu_task ** */
#define STARPU_TASK_END_DEPS_ARRAY             (31 << STARPU_MODE_SHIFT)
/* int */
#define STARPU_TASK_END_DEP                    (32 << STARPU_MODE_SHIFT)
/* unsigned, uint32_t * */
#define STARPU_TASK_WORKERIDS                  (33 << STARPU_MODE_SHIFT)
/* unsigned */
#define STARPU_SEQUENTIAL_CONSISTENCY          (34 << STARPU_MODE_SHIFT)
/* struct starpu_profiling_task_info * */
#define STARPU_TASK_PROFILING_INFO             (35 << STARPU_MODE_SHIFT)
/* unsigned */
#define STARPU_TASK_NO_SUBMITORDER             (36 << STARPU_MODE_SHIFT)
/* void * */
#define STARPU_CALLBACK_ARG_NFREE              (37 << STARPU_MODE_SHIFT)
/* void (*)(void *), void * */
#define STARPU_CALLBACK_WITH_ARG_NFREE         (38 << STARPU_MODE_SHIFT)
/* void * */
#define STARPU_PROLOGUE_CALLBACK_ARG_NFREE     (39 << STARPU_MODE_SHIFT)
/* void * */
#define STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE (40 << STARPU_MODE_SHIFT)
/* void * */
#define STARPU_TASK_SCHED_DATA                 (41 << STARPU_MODE_SHIFT)
/* struct starpu_transaction * */
#define STARPU_TRANSACTION                     (42 << STARPU_MODE_SHIFT)
/* const char * */
#define STARPU_TASK_FILE                       (43 << STARPU_MODE_SHIFT)
/* int */
#define STARPU_TASK_LINE                       (44 << STARPU_MODE_SHIFT)
/* void (*)(void *) */
#define STARPU_EPILOGUE_CALLBACK               (45 << STARPU_MODE_SHIFT)
/* void *, freed */
#define STARPU_EPILOGUE_CALLBACK_ARG           (46 << STARPU_MODE_SHIFT)
/* starpu_bubble_func_t */
#define STARPU_BUBBLE_FUNC                     (47 << STARPU_MODE_SHIFT)
/* void * */
#define STARPU_BUBBLE_FUNC_ARG                 (48 << STARPU_MODE_SHIFT)
/* starpu_bubble_gen_dag_func_t */
#define STARPU_BUBBLE_GEN_DAG_FUNC             (49 << STARPU_MODE_SHIFT)
/* void * */
#define STARPU_BUBBLE_GEN_DAG_FUNC_ARG         (50 << STARPU_MODE_SHIFT)
/* struct starpu_task * */
#define STARPU_BUBBLE_PARENT                   (51 << STARPU_MODE_SHIFT)
/* First value that no tag has. */
#define STARPU_SHIFTED_MODE_MAX                (52 << STARPU_MODE_SHIFT)

/* Fills `task` (of starpu_task_init()) from the list. 0 or -EINVAL after a
 * message that names the argument. */
int starpu_task_set(struct starpu_task *task, struct starpu_codelet *cl, ...);
/* A new task for the caller to submit, or NULL. Without codelet, the task runs nothing,
 * and has its place in the order of accesses to the data of the list, each given with its
 * mode (not by STARPU_DATA_ARRAY). */
struct starpu_task *starpu_task_build(struct starpu_codelet *cl, ...);
/* Builds and submits. 0, or the negative errno of either: then the task is freed,
 * with all that it was to free. */
int starpu_task_insert(struct starpu_codelet *cl, ...);
/* An older name of that. */
int starpu_insert_task(struct starpu_codelet *cl, ...);

/* -- the steps behind the list, for other front ends -- */

/* Makes sure that the task, and a codelet that takes its modes from it, have
 * room for `room` more handles behind the first `current_buffer`. */
void starpu_task_insert_data_make_room(struct starpu_codelet *cl,
                                       struct starpu_task *task,
                                       int *allocated_buffers,
                                       int current_buffer, int room);
/* Adds one handle with the access mode `arg_type`. */
void starpu_task_insert_data_process_arg(struct starpu_codelet *cl,
                                         struct starpu_task *task,
                                         int *allocated_buffers,
                                         int *current_buffer, int arg_type,
                                         starpu_data_handle_t handle);
/* Adds several, with the modes of the codelet. */
void starpu_task_insert_data_process_array_arg(
    struct starpu_codelet *cl, struct starpu_task *task, int *allocated_buffers,
    int *current_buffer, int nb_handles, starpu_data_handle_t *handles);
/* Adds several, each with its own mode. */
void starpu_task_insert_data_process_mode_array_arg(
    struct starpu_codelet *cl, struct starpu_task *task, int *allocated_buffers,
    int *current_buffer, int nb_descrs, struct starpu_data_descr *descrs);

/* -- packed arguments: a count, then a size and the bytes of each -- */

/* Packs (STARPU_VALUE, void *, size_t)... until 0 into a buffer, which is the
 * caller's, to be free()d, for instance by the task whose cl_arg it is
 * (cl_arg_free). */
void starpu_codelet_pack_args(void **arg_buffer, size_t *arg_buffer_size, ...);

struct starpu_codelet_pack_arg_data {
    char *arg_buffer;
    /* Bytes allocated, bytes in use, and where reading is. */
    size_t arg_buffer_size;
    size_t arg_buffer_used;
    size_t current_offset;
    int nargs;
};

/* The same value by value: begins an empty buffer. */
void starpu_codelet_pack_arg_init(struct starpu_codelet_pack_arg_data *state);
/* Copies ptr_size bytes behind those that are there. Without memory the program ends. */
void starpu_codelet_pack_arg(struct starpu_codelet_pack_arg_data *state,
                             const void *ptr, size_t ptr_size);
/* The buffer is finished: it is the caller's, as above. */
void starpu_codelet_pack_arg_fini(struct starpu_codelet_pack_arg_data *state,
                                  void **cl_arg, size_t *cl_arg_size);

/* Copies the values to the given addresses, in order; stops at a NULL or when
 * all are read. An address of a value to skip is not possible here. */
void starpu_codelet_unpack_args(void *cl_arg, ...);
/* The same; what is left goes to `buffer` in packed form. */
void starpu_codelet_unpack_args_and_copyleft(void *cl_arg, void *buffer,
                                             size_t buffer_size, ...);

/* The same value by value: begins at the first one. The buffer stays the caller's. */
void starpu_codelet_unpack_arg_init(struct starpu_codelet_pack_arg_data *state,
                                    void *cl_arg, size_t cl_arg_size);
/* Copies the next value to `ptr`. One of another size, and none, end the program,
 * here and below. */
void starpu_codelet_unpack_arg(struct starpu_codelet_pack_arg_data *state,
                               void *ptr, size_t size);
/* Stores a copy of the next value, malloc()ed for the caller, and its size. */
void starpu_codelet_dup_arg(struct starpu_codelet_pack_arg_data *state,
                            void **ptr, size_t *size);
/* Stores the address of the next value in the buffer, which need not be aligned, and its
 * size. */
void starpu_codelet_pick_arg(struct starpu_codelet_pack_arg_data *state,
                             void **ptr, size_t *size);
/* Leaves the next value out. */
void starpu_codelet_unpack_discard_arg(
    struct starpu_codelet_pack_arg_data *state);
/* Ends the reading. */
void starpu_codelet_unpack_arg_fini(struct starpu_codelet_pack_arg_data *state);

#ifdef __cplusplus
}
#endif

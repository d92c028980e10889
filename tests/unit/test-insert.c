/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-insert.c - the argument lists of starpu_task_insert() and of
 * packed arguments, over fakes of the few calls they need. One thread.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/api/insertion.h"
#include "tests/suite.h"

/* --- fakes --- */

static struct starpu_task *submitted; /* by the last insertion */
static int submit_result;             /* what submission returns */
static int ndestroyed;
static struct {
    struct starpu_task *task;
    unsigned n;
    struct starpu_task **tasks;
} deps, end_deps;
static int end_dep;

struct starpu_task *starpu_task_create(void)
{
    struct starpu_task *task = calloc(1, sizeof(*task));

    task->where = -1;
    task->sequential_consistency = 1;
    task->destroy = 1;
    task->sched_ctx = STARPU_NMAX_SCHED_CTXS;
    return task;
}

void starpu_task_destroy(struct starpu_task *task)
{
    if (task->cl_arg_free)
        free(task->cl_arg);
    if (task->callback_arg_free)
        free(task->callback_arg);
    free(task->dyn_handles);
    free(task->dyn_interfaces);
    free(task->dyn_modes);
    free(task);
    ndestroyed++;
}

int starpu_task_submit(struct starpu_task *task)
{
    submitted = submit_result ? NULL : task;
    return submit_result;
}

void starpu_task_declare_deps_array(struct starpu_task *task, unsigned ndeps,
                                    struct starpu_task **task_array)
{
    deps.task = task, deps.n = ndeps, deps.tasks = task_array;
}

void starpu_task_declare_end_deps_array(struct starpu_task *task,
                                        unsigned ndeps,
                                        struct starpu_task **task_array)
{
    end_deps.task = task, end_deps.n = ndeps, end_deps.tasks = task_array;
}

void starpu_task_end_dep_add(struct starpu_task *t, int nb_deps)
{
    (void)t;
    end_dep = nb_deps;
}

unsigned long starpu_task_get_job_id(struct starpu_task *task)
{
    (void)task;
    return 99;
}

/* --- helpers --- */

static starpu_data_handle_t handle(uintptr_t n)
{
    return (starpu_data_handle_t)(0x1000 + n);
}

static void setup(void)
{
    submitted = NULL;
    submit_result = 0;
    ndestroyed = 0;
}

/* Ends with the task of the last insertion. */
static void teardown(void)
{
    if (submitted)
        starpu_task_destroy(submitted);
}

static void callback(void *arg)
{
    (void)arg;
}

static int bubble(struct starpu_task *task, void *arg)
{
    (void)task;
    (void)arg;
    return 0;
}

static void gen_dag(struct starpu_task *task, void *arg)
{
    (void)task;
    (void)arg;
}

/* --- data --- */

START_TEST(handles_come_in_order)
{
    struct starpu_codelet cl = {
        .nbuffers = 2,
        .modes = {STARPU_R, STARPU_RW},
    };

    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_R, handle(1), STARPU_RW, handle(2), 0),
        0);
    ck_assert_ptr_eq(submitted->cl, &cl);
    ck_assert_ptr_eq(submitted->handles[0], handle(1));
    ck_assert_ptr_eq(submitted->handles[1], handle(2));
    ck_assert_ptr_null(submitted->dyn_handles);
    ck_assert_ptr_null(submitted->cl_arg);
}
END_TEST

START_TEST(unset_modes_are_set_by_insertion)
{
    struct starpu_codelet cl = {.nbuffers = 3};

    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_R | STARPU_SSEND, handle(1),
                                        STARPU_RW | STARPU_COMMUTE, handle(2),
                                        STARPU_MPI_REDUX, handle(3), 0),
                     0);
    ck_assert_int_eq((int)cl.modes[0], STARPU_R);
    ck_assert_int_eq((int)cl.modes[1], STARPU_RW | STARPU_COMMUTE);
    ck_assert_int_eq((int)cl.modes[2], STARPU_RW | STARPU_COMMUTE);
}
END_TEST

START_TEST(later_modes_must_agree)
{
    struct starpu_codelet cl = {
        .name = "reader",
        .nbuffers = 1,
        .modes = {STARPU_R},
    };

    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_W, handle(1), 0), -EINVAL);
    ck_assert_ptr_null(submitted);
    ck_assert_int_eq(ndestroyed, 1);
    ck_assert_int_eq((int)cl.modes[0], STARPU_R);
    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_R | STARPU_NOFOOTPRINT, handle(1), 0),
        0);
}
END_TEST

START_TEST(a_wrong_number_of_handles_is_refused)
{
    struct starpu_codelet cl = {.name = "two", .nbuffers = 2};

    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_R, handle(1), 0), -EINVAL);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_R, handle(1), STARPU_R,
                                        handle(2), STARPU_R, handle(3), 0),
                     -EINVAL);
    ck_assert_int_eq(ndestroyed, 2);
}
END_TEST

START_TEST(data_without_codelet_are_accessed_by_a_task_that_runs_nowhere)
{
    starpu_data_handle_t two[] = {handle(1), handle(2)};
    struct starpu_data_descr descrs[] = {{handle(2), STARPU_RW}};

    ck_assert_int_eq(starpu_task_insert(NULL, STARPU_R, handle(1),
                                        STARPU_DATA_MODE_ARRAY, descrs, 1, 0),
                     0);
    ck_assert_int_eq(submitted->cl->where, STARPU_NOWHERE);
    ck_assert_int_eq(submitted->nbuffers, 2);
    ck_assert_int_eq(submitted->modes[0], STARPU_R);
    ck_assert_int_eq(submitted->modes[1], STARPU_RW);
    ck_assert_ptr_eq(submitted->handles[1], handle(2));
    /* Whose modes? */
    ck_assert_int_eq(starpu_task_insert(NULL, STARPU_DATA_ARRAY, two, 2, 0), -EINVAL);
}
END_TEST

START_TEST(a_null_handle_is_refused)
{
    struct starpu_codelet cl = {.name = "one", .nbuffers = 1};

    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_R, (starpu_data_handle_t)NULL, 0),
        -EINVAL);
}
END_TEST

START_TEST(a_none_handle_is_skipped)
{
    struct starpu_codelet cl = {.nbuffers = 1};

    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_NONE, handle(9), STARPU_W, handle(1), 0),
        0);
    ck_assert_ptr_eq(submitted->handles[0], handle(1));
}
END_TEST

START_TEST(an_open_number_puts_modes_into_the_task)
{
    struct starpu_codelet cl = {.nbuffers = STARPU_VARIABLE_NBUFFERS};

    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_R, handle(1), STARPU_RW, handle(2), 0),
        0);
    ck_assert_int_eq(submitted->nbuffers, 2);
    ck_assert_int_eq((int)STARPU_TASK_GET_MODE(submitted, 0), STARPU_R);
    ck_assert_int_eq((int)STARPU_TASK_GET_MODE(submitted, 1), STARPU_RW);
    ck_assert_int_eq((int)cl.modes[0], 0);
}
END_TEST

START_TEST(many_handles_move_to_the_heap)
{
    struct starpu_codelet cl = {.nbuffers = STARPU_VARIABLE_NBUFFERS};
    struct starpu_data_descr descrs[100];

    for (int i = 0; i < 100; i++) {
        descrs[i].handle = handle((uintptr_t)i + 1);
        descrs[i].mode = i % 2 ? STARPU_R : STARPU_W;
    }
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handle(500),
                                        STARPU_DATA_MODE_ARRAY, descrs, 100, 0),
                     0);
    ck_assert_int_eq(submitted->nbuffers, 101);
    ck_assert_ptr_nonnull(submitted->dyn_handles);
    ck_assert_ptr_nonnull(submitted->dyn_interfaces);
    ck_assert_ptr_eq(STARPU_TASK_GET_HANDLE(submitted, 0), handle(500));
    ck_assert_int_eq((int)STARPU_TASK_GET_MODE(submitted, 0), STARPU_RW);
    for (int i = 0; i < 100; i++) {
        ck_assert_ptr_eq(STARPU_TASK_GET_HANDLE(submitted, i + 1),
                         descrs[i].handle);
        ck_assert_int_eq((int)STARPU_TASK_GET_MODE(submitted, i + 1),
                         (int)descrs[i].mode);
    }
}
END_TEST

START_TEST(a_large_codelet_gets_its_modes)
{
    struct starpu_codelet cl = {.nbuffers = 10};
    struct starpu_data_descr descrs[10];

    for (int i = 0; i < 10; i++) {
        descrs[i].handle = handle((uintptr_t)i + 1);
        descrs[i].mode = STARPU_RW;
    }
    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_DATA_MODE_ARRAY, descrs, 10, 0), 0);
    ck_assert_int_eq((int)STARPU_CODELET_GET_MODE(&cl, 9), STARPU_RW);
    ck_assert_ptr_eq(STARPU_TASK_GET_HANDLE(submitted, 9), handle(10));
    free(cl.dyn_modes);
}
END_TEST

START_TEST(an_array_takes_the_modes_of_the_codelet)
{
    struct starpu_codelet cl = {
        .nbuffers = 2,
        .modes = {STARPU_R, STARPU_W},
    };
    struct starpu_codelet unset = {.name = "unset", .nbuffers = 2};
    starpu_data_handle_t handles[2] = {handle(1), handle(2)};

    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_DATA_ARRAY, handles, 2, 0),
                     0);
    ck_assert_ptr_eq(submitted->handles[1], handle(2));
    starpu_task_destroy(submitted);
    submitted = NULL;
    ck_assert_int_eq(
        starpu_task_insert(&unset, STARPU_DATA_ARRAY, handles, 2, 0), -EINVAL);
}
END_TEST

/* --- the other tags --- */

START_TEST(fields_get_the_values_of_their_tags)
{
    struct starpu_codelet cl = {.nbuffers = 0};
    struct starpu_profiling_task_info info;
    unsigned char flags[1] = {1};
    uint32_t workers[1] = {3};
    int data;

    ck_assert_int_eq(
        starpu_task_insert(
            &cl, STARPU_PRIORITY, -7, STARPU_NAME, "n", STARPU_FLOPS, 2.5e12,
            STARPU_TAG, (starpu_tag_t)0x123456789abcULL,
            STARPU_EXECUTE_ON_WORKER, 3, STARPU_WORKER_ORDER, 4u,
            STARPU_EXECUTE_WHERE, STARPU_CUDA | STARPU_CPU, STARPU_SCHED_CTX,
            2u, STARPU_HYPERVISOR_TAG, 5, STARPU_POSSIBLY_PARALLEL, 1u,
            STARPU_TASK_COLOR, 0xff00, STARPU_TASK_SYNCHRONOUS, 1,
            STARPU_SEQUENTIAL_CONSISTENCY, 0u, STARPU_TASK_NO_SUBMITORDER, 1u,
            STARPU_HANDLES_SEQUENTIAL_CONSISTENCY, flags, STARPU_TASK_WORKERIDS,
            1u, workers, STARPU_TASK_PROFILING_INFO, &info,
            STARPU_TASK_SCHED_DATA, &data, STARPU_TASK_FILE, "f.c",
            STARPU_TASK_LINE, 12, 0),
        0);
    ck_assert_int_eq(submitted->priority, -7);
    ck_assert_str_eq(submitted->name, "n");
    ck_assert_double_eq(submitted->flops, 2.5e12);
    ck_assert_uint_eq(submitted->tag_id, 0x123456789abcULL);
    ck_assert_uint_eq(submitted->use_tag, 1);
    ck_assert_uint_eq(submitted->workerid, 3);
    ck_assert_uint_eq(submitted->execute_on_a_specific_worker, 1);
    ck_assert_uint_eq(submitted->workerorder, 4);
    ck_assert_int_eq(submitted->where, STARPU_CUDA | STARPU_CPU);
    ck_assert_uint_eq(submitted->sched_ctx, 2);
    ck_assert_int_eq(submitted->hypervisor_tag, 5);
    ck_assert_uint_eq(submitted->possibly_parallel, 1);
    ck_assert_uint_eq(submitted->color, 0xff00);
    ck_assert_uint_eq(submitted->synchronous, 1);
    ck_assert_uint_eq(submitted->sequential_consistency, 0);
    ck_assert_uint_eq(submitted->no_submitorder, 1);
    ck_assert_ptr_eq(submitted->handles_sequential_consistency, flags);
    ck_assert_ptr_eq(submitted->workerids, workers);
    ck_assert_uint_eq(submitted->workerids_len, 1);
    ck_assert_ptr_eq(submitted->profiling_info, &info);
    ck_assert_ptr_eq(submitted->sched_data, &data);
    ck_assert_str_eq(submitted->file, "f.c");
    ck_assert_int_eq(submitted->line, 12);
}
END_TEST

START_TEST(worker_minus_one_means_any_and_tag_only_does_not_use_the_tag)
{
    struct starpu_codelet cl = {.nbuffers = 0};

    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER, -1,
                                        STARPU_TAG_ONLY, (starpu_tag_t)8, 0),
                     0);
    ck_assert_uint_eq(submitted->execute_on_a_specific_worker, 0);
    ck_assert_uint_eq(submitted->use_tag, 0);
    ck_assert_uint_eq(submitted->tag_id, 8);
}
END_TEST

START_TEST(callbacks_and_their_arguments_are_freed_as_the_tag_says)
{
    struct starpu_codelet cl = {.nbuffers = 0};
    void *arg = malloc(1);
    int other;

    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_CALLBACK_WITH_ARG, callback, arg,
                           STARPU_EPILOGUE_CALLBACK, callback,
                           STARPU_EPILOGUE_CALLBACK_ARG, &other,
                           STARPU_PROLOGUE_CALLBACK, callback,
                           STARPU_PROLOGUE_CALLBACK_ARG_NFREE, &other,
                           STARPU_PROLOGUE_CALLBACK_POP, callback,
                           STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE, &other, 0),
        0);
    ck_assert_ptr_eq((void *)submitted->callback_func, (void *)callback);
    ck_assert_ptr_eq(submitted->callback_arg, arg);
    ck_assert_uint_eq(submitted->callback_arg_free, 1);
    ck_assert_ptr_eq(submitted->epilogue_callback_arg, &other);
    ck_assert_uint_eq(submitted->epilogue_callback_arg_free, 1);
    ck_assert_ptr_eq(submitted->prologue_callback_arg, &other);
    ck_assert_uint_eq(submitted->prologue_callback_arg_free, 0);
    ck_assert_ptr_eq(submitted->prologue_callback_pop_arg, &other);
    ck_assert_uint_eq(submitted->prologue_callback_pop_arg_free, 0);
    submitted->epilogue_callback_arg = NULL; /* was on the stack */
}
END_TEST

START_TEST(dependencies_are_declared)
{
    struct starpu_codelet cl = {.nbuffers = 0};
    struct starpu_task *others[2] = {NULL, NULL};

    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_TASK_DEPS_ARRAY, 2u, others,
                                        STARPU_TASK_END_DEPS_ARRAY, 1u, others,
                                        STARPU_TASK_END_DEP, 6, 0),
                     0);
    ck_assert_ptr_eq(deps.task, submitted);
    ck_assert_uint_eq(deps.n, 2);
    ck_assert_ptr_eq(deps.tasks, others);
    ck_assert_uint_eq(end_deps.n, 1);
    ck_assert_int_eq(end_dep, 6);
}
END_TEST

START_TEST(tags_of_the_mpi_layer_and_of_bubbles_are_accepted)
{
    struct starpu_codelet cl = {.nbuffers = 0};
    struct starpu_task parent;
    int arg;

    ck_assert_int_eq(
        starpu_task_insert(
            &cl, STARPU_EXECUTE_ON_NODE, 1, STARPU_EXECUTE_ON_DATA, handle(1),
            STARPU_NODE_SELECTION_POLICY, 2, STARPU_BUBBLE_FUNC, bubble,
            STARPU_BUBBLE_FUNC_ARG, &arg, STARPU_BUBBLE_GEN_DAG_FUNC, gen_dag,
            STARPU_BUBBLE_GEN_DAG_FUNC_ARG, &arg, STARPU_BUBBLE_PARENT, &parent,
            STARPU_TRANSACTION, (struct starpu_transaction *)NULL,
            STARPU_PRIORITY, 1, 0),
        0);
    ck_assert_ptr_eq(submitted->bubble_func_arg, &arg);
    ck_assert_uint_eq(submitted->bubble_parent, 99);
    ck_assert_int_eq(submitted->priority, 1); /* the walk kept its place */
}
END_TEST

/* --- in two steps --- */

static int decode(struct orr_insertion *in, struct starpu_codelet *cl, ...)
{
    va_list ap;
    int err;

    va_start(ap, cl);
    err = orr_insertion_decode(in, "the test", cl, ap);
    va_end(ap);
    return err;
}

START_TEST(a_list_is_decoded_without_a_task)
{
    struct starpu_codelet cl = {.nbuffers = 4, .modes = {0, 0, STARPU_R}};
    starpu_data_handle_t array[1] = {handle(3)};
    struct starpu_data_descr descrs[1] = {{handle(4), STARPU_W}};
    struct orr_insertion in;
    struct starpu_task *task;
    int value = 5, *arg = malloc(sizeof(*arg));

    ck_assert_int_eq(
        decode(&in, &cl, STARPU_RW | STARPU_SSEND, handle(1), STARPU_PRIORITY,
               3, STARPU_R, NULL, STARPU_VALUE, &value, sizeof(value),
               STARPU_CALLBACK_ARG, arg, STARPU_NONE, handle(9),
               STARPU_DATA_ARRAY, array, 1, STARPU_EXECUTE_ON_NODE, -1,
               STARPU_EXECUTE_ON_DATA, handle(2), STARPU_EXECUTE_ON_DATA,
               handle(3), STARPU_NODE_SELECTION_POLICY, 7,
               STARPU_DATA_MODE_ARRAY, descrs, 1, 0),
        0);
    ck_assert_ptr_null(submitted);
    ck_assert_uint_eq(in.ndata, 4);
    ck_assert_ptr_eq(in.data[0].handle, handle(1));
    ck_assert_uint_eq(in.data[0].mode, STARPU_RW | STARPU_SSEND);
    ck_assert_ptr_null(in.data[1].handle);
    ck_assert_ptr_eq(in.data[2].handle, handle(3));
    ck_assert_uint_eq(in.data[2].mode, STARPU_R);
    ck_assert_ptr_eq(in.data[3].handle, handle(4));
    ck_assert_uint_eq(in.data[3].mode, STARPU_W);
    ck_assert_int_eq(in.priority, 3);
    ck_assert_int_eq(in.policy, 7);
    ck_assert_int_eq(in.where, ORR_INSERT_ON_DATA);
    ck_assert_ptr_eq(in.on, handle(2));
    ck_assert_uint_eq(cl.modes[0], 0); /* nothing was made of it */
    in.data[1].handle = handle(2);
    ck_assert_int_eq(orr_insertion_make(&in, &task), 0);
    orr_insertion_end(&in);
    ck_assert_ptr_eq(task->handles[1], handle(2));
    ck_assert_uint_eq(cl.modes[0], STARPU_RW);
    ck_assert_int_eq(task->priority, 3);
    ck_assert_ptr_eq(task->callback_arg, arg);
    starpu_task_destroy(task);
}
END_TEST

START_TEST(what_a_dropped_list_gave_is_freed)
{
    struct starpu_codelet cl = {.nbuffers = 1};
    struct orr_insertion in;
    int *arg = malloc(sizeof(*arg)); /* else the leak checker finds it */

    ck_assert_int_eq(decode(&in, &cl, STARPU_RW, handle(1), STARPU_CALLBACK_ARG,
                            arg, 0),
                     0);
    orr_insertion_drop(&in);
    orr_insertion_end(&in);
    ck_assert_int_eq(ndestroyed, 1);
    arg = malloc(sizeof(*arg));
    ck_assert_int_eq(
        decode(&in, &cl, STARPU_CALLBACK_ARG, arg, STARPU_SHIFTED_MODE_MAX, 0),
        -EINVAL);
    ck_assert_int_eq(ndestroyed, 2);
}
END_TEST

START_TEST(the_last_node_or_else_the_first_datum_says_where)
{
    struct starpu_codelet cl = {.nbuffers = 0};
    struct orr_insertion in;

    ck_assert_int_eq(decode(&in, &cl, 0), 0);
    ck_assert_int_eq(in.where, ORR_INSERT_ANYWHERE);
    ck_assert_int_eq(in.policy, -1);
    ck_assert_int_eq(decode(&in, &cl, STARPU_EXECUTE_ON_DATA, handle(1),
                            STARPU_EXECUTE_ON_NODE, 2, STARPU_EXECUTE_ON_DATA,
                            handle(3), STARPU_EXECUTE_ON_NODE, 4, 0),
                     0);
    ck_assert_int_eq(in.where, ORR_INSERT_ON_NODE);
    ck_assert_int_eq(in.node, 4);
    orr_insertion_end(&in);
}
END_TEST

START_TEST(long_lists_are_decoded_whole)
{
    enum { MANY = 100 };
    struct starpu_codelet cl = {.nbuffers = STARPU_VARIABLE_NBUFFERS};
    struct starpu_data_descr descrs[MANY];
    struct starpu_task *task;
    struct orr_insertion in;

    for (uintptr_t i = 0; i < MANY; i++)
        descrs[i] = (struct starpu_data_descr){handle(i + 1), STARPU_R};
#define FOUR                                                                   \
    STARPU_TASK_LINE, 1, STARPU_TASK_LINE, 2, STARPU_TASK_LINE, 3,             \
        STARPU_TASK_LINE, 4
    ck_assert_int_eq(decode(&in, &cl, STARPU_DATA_MODE_ARRAY, descrs, MANY,
                            FOUR, FOUR, FOUR, FOUR, FOUR, STARPU_PRIORITY, 9,
                            0),
                     0);
    ck_assert_uint_eq(in.ndata, MANY);
    ck_assert_uint_eq(in.nargs, 21);
    ck_assert_int_eq(orr_insertion_make(&in, &task), 0);
    orr_insertion_end(&in);
    ck_assert_int_eq(task->nbuffers, MANY);
    ck_assert_int_eq(task->line, 4);
    ck_assert_int_eq(task->priority, 9);
    for (uintptr_t i = 0; i < MANY; i++)
        ck_assert_ptr_eq(STARPU_TASK_GET_HANDLE(task, i), handle(i + 1));
    starpu_task_destroy(task);
}
END_TEST

START_TEST(unknown_tags_are_refused)
{
    struct starpu_codelet cl = {.nbuffers = 0};

    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_SHIFTED_MODE_MAX, 0),
                     -EINVAL);
    ck_assert_int_eq(starpu_task_insert(&cl, -1, 0), -EINVAL);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_COMMUTE, 0), -EINVAL);
}
END_TEST

START_TEST(a_refused_submission_frees_the_task)
{
    struct starpu_codelet cl = {.nbuffers = 0};
    int value = 3;

    submit_result = -ENODEV;
    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_VALUE, &value, sizeof(value), 0),
        -ENODEV);
    ck_assert_int_eq(ndestroyed, 1);
}
END_TEST

START_TEST(build_and_set_do_not_submit)
{
    struct starpu_codelet cl = {.nbuffers = 1};
    struct starpu_task *task =
        starpu_task_build(&cl, STARPU_RW, handle(1), STARPU_PRIORITY, 5, 0);
    struct starpu_task mine;

    ck_assert_ptr_nonnull(task);
    ck_assert_ptr_null(submitted);
    ck_assert_int_eq(task->priority, 5);
    starpu_task_destroy(task);
    memset(&mine, 0, sizeof(mine));
    ck_assert_int_eq(starpu_task_set(&mine, &cl, STARPU_RW, handle(1), 0), 0);
    ck_assert_ptr_eq(mine.handles[0], handle(1));
    ck_assert_ptr_null(starpu_task_build(&cl, 0));
}
END_TEST

/* --- packed arguments --- */

START_TEST(values_reach_the_kernel)
{
    struct starpu_codelet cl = {.nbuffers = 0};
    int i = 42, got_i = 0;
    double d = 1.5, got_d = 0;
    char c = 'x', got_c = 0;

    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_VALUE, &i, sizeof(i),
                                        STARPU_VALUE, &c, sizeof(c),
                                        STARPU_VALUE, &d, sizeof(d), 0),
                     0);
    ck_assert_uint_eq(submitted->cl_arg_free, 1);
    ck_assert_uint_eq(submitted->cl_arg_size, 4 + 8 + 4 + 8 + 1 + 8 + 8);
    starpu_codelet_unpack_args(submitted->cl_arg, &got_i, &got_c, &got_d);
    ck_assert_int_eq(got_i, 42);
    ck_assert_int_eq(got_c, 'x');
    ck_assert_double_eq(got_d, 1.5);
}
END_TEST

START_TEST(values_and_a_ready_argument_exclude_each_other)
{
    struct starpu_codelet cl = {.nbuffers = 0};
    int i = 1;

    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_VALUE, &i, sizeof(i),
                                        STARPU_CL_ARGS_NFREE, &i, sizeof(i), 0),
                     -EINVAL);
    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &i, sizeof(i), 0), 0);
    ck_assert_ptr_eq(submitted->cl_arg, &i);
    ck_assert_uint_eq(submitted->cl_arg_size, sizeof(i));
    ck_assert_uint_eq(submitted->cl_arg_free, 0);
}
END_TEST

START_TEST(unpacking_stops_at_null)
{
    int a = 1, b = 2, got_a = 0, got_b = 0;
    void *buffer;
    size_t size;

    starpu_codelet_pack_args(&buffer, &size, STARPU_VALUE, &a, sizeof(a),
                             STARPU_VALUE, &b, sizeof(b), 0);
    starpu_codelet_unpack_args(buffer, &got_a, NULL, &got_b);
    ck_assert_int_eq(got_a, 1);
    ck_assert_int_eq(got_b, 0);
    free(buffer);
}
END_TEST

START_TEST(what_is_left_can_be_unpacked_later)
{
    int a = 1, b = 2, c = 3, got_a = 0, got_b = 0, got_c = 0;
    char left[64];
    void *buffer;
    size_t size;

    starpu_codelet_pack_args(&buffer, &size, STARPU_VALUE, &a, sizeof(a),
                             STARPU_VALUE, &b, sizeof(b), STARPU_VALUE, &c,
                             sizeof(c), 0);
    starpu_codelet_unpack_args_and_copyleft(buffer, left, sizeof(left), &got_a,
                                            NULL);
    starpu_codelet_unpack_args(left, &got_b, &got_c);
    ck_assert_int_eq(got_a, 1);
    ck_assert_int_eq(got_b, 2);
    ck_assert_int_eq(got_c, 3);
    free(buffer);
}
END_TEST

START_TEST(values_can_be_read_one_by_one)
{
    struct starpu_codelet_pack_arg_data state;
    int numbers[] = {10, 20, 30, 40}, got = 0, *picked;
    void *buffer, *copy;
    size_t size, n;

    starpu_codelet_pack_arg_init(&state);
    for (int i = 0; i < 4; i++)
        starpu_codelet_pack_arg(&state, &numbers[i], sizeof(int));
    starpu_codelet_pack_arg_fini(&state, &buffer, &size);
    starpu_codelet_unpack_arg_init(&state, buffer, size);
    starpu_codelet_unpack_arg(&state, &got, sizeof(got));
    ck_assert_int_eq(got, 10);
    starpu_codelet_unpack_discard_arg(&state);
    starpu_codelet_dup_arg(&state, &copy, &n);
    ck_assert_int_eq(*(int *)copy, 30);
    ck_assert_uint_eq(n, sizeof(int));
    starpu_codelet_pick_arg(&state, (void **)&picked, &n);
    memcpy(&got, picked, sizeof(got));
    ck_assert_int_eq(got, 40);
    starpu_codelet_unpack_arg_fini(&state);
    free(copy);
    free(buffer);
}
END_TEST

START_TEST(large_values_grow_the_buffer)
{
    static char big[100000], got[100000];
    void *buffer;
    size_t size;
    int last = 7, got_last = 0;

    memset(big, 'z', sizeof(big));
    starpu_codelet_pack_args(&buffer, &size, STARPU_VALUE, big, sizeof(big),
                             STARPU_VALUE, &last, sizeof(last), 0);
    starpu_codelet_unpack_args(buffer, got, &got_last);
    ck_assert_mem_eq(big, got, sizeof(big));
    ck_assert_int_eq(got_last, 7);
    free(buffer);
}
END_TEST

/* The address sanitizer's build says when NULL is copied to. */
START_TEST(values_of_no_bytes_need_no_memory)
{
    struct starpu_codelet_pack_arg_data state;
    int seven = 7, got = 0;
    void *buffer;
    size_t size;

    starpu_codelet_pack_args(&buffer, &size, STARPU_VALUE, NULL, (size_t)0,
                             STARPU_VALUE, &seven, sizeof(seven), 0);
    starpu_codelet_unpack_arg_init(&state, buffer, size);
    starpu_codelet_unpack_arg(&state, NULL, 0);
    starpu_codelet_unpack_arg(&state, &got, sizeof(got));
    starpu_codelet_unpack_arg_fini(&state);
    ck_assert_int_eq(got, 7);
    free(buffer);
}
END_TEST

START_TEST(no_values_make_an_empty_buffer)
{
    void *buffer;
    size_t size;
    int untouched = 5;

    starpu_codelet_pack_args(&buffer, &size, 0);
    ck_assert_uint_eq(size, sizeof(int));
    starpu_codelet_unpack_args(buffer, &untouched);
    ck_assert_int_eq(untouched, 5);
    free(buffer);
}
END_TEST

START_TEST(a_task_for_which_nothing_was_packed_is_refused)
{
    int value;

    starpu_codelet_unpack_args(NULL, &value);
}
END_TEST

START_TEST(reading_past_the_end_is_refused)
{
    struct starpu_codelet_pack_arg_data state;
    void *buffer;
    size_t size;
    int i;

    starpu_codelet_pack_args(&buffer, &size, 0);
    starpu_codelet_unpack_arg_init(&state, buffer, size);
    starpu_codelet_unpack_arg(&state, &i, sizeof(i));
}
END_TEST

static TCase *lists(void)
{
    TCase *tc = tcase_create("lists");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, handles_come_in_order);
    tcase_add_test(tc, unset_modes_are_set_by_insertion);
    tcase_add_test(tc, later_modes_must_agree);
    tcase_add_test(tc, a_wrong_number_of_handles_is_refused);
    tcase_add_test(tc, data_without_codelet_are_accessed_by_a_task_that_runs_nowhere);
    tcase_add_test(tc, a_null_handle_is_refused);
    tcase_add_test(tc, a_none_handle_is_skipped);
    tcase_add_test(tc, an_open_number_puts_modes_into_the_task);
    tcase_add_test(tc, many_handles_move_to_the_heap);
    tcase_add_test(tc, a_large_codelet_gets_its_modes);
    tcase_add_test(tc, an_array_takes_the_modes_of_the_codelet);
    tcase_add_test(tc, fields_get_the_values_of_their_tags);
    tcase_add_test(
        tc, worker_minus_one_means_any_and_tag_only_does_not_use_the_tag);
    tcase_add_test(tc, callbacks_and_their_arguments_are_freed_as_the_tag_says);
    tcase_add_test(tc, dependencies_are_declared);
    tcase_add_test(tc, tags_of_the_mpi_layer_and_of_bubbles_are_accepted);
    tcase_add_test(tc, unknown_tags_are_refused);
    tcase_add_test(tc, a_refused_submission_frees_the_task);
    tcase_add_test(tc, build_and_set_do_not_submit);
    tcase_add_test(tc, a_list_is_decoded_without_a_task);
    tcase_add_test(tc, what_a_dropped_list_gave_is_freed);
    tcase_add_test(tc, the_last_node_or_else_the_first_datum_says_where);
    tcase_add_test(tc, long_lists_are_decoded_whole);
    return tc;
}

static TCase *packed(void)
{
    TCase *tc = tcase_create("packed");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, values_reach_the_kernel);
    tcase_add_test(tc, values_and_a_ready_argument_exclude_each_other);
    tcase_add_test(tc, unpacking_stops_at_null);
    tcase_add_test(tc, what_is_left_can_be_unpacked_later);
    tcase_add_test(tc, values_can_be_read_one_by_one);
    tcase_add_test(tc, large_values_grow_the_buffer);
    tcase_add_test(tc, values_of_no_bytes_need_no_memory);
    tcase_add_test(tc, no_values_make_an_empty_buffer);
    tcase_add_test_raise_signal(
        tc, a_task_for_which_nothing_was_packed_is_refused, 6);
    tcase_add_test_raise_signal(tc, reading_past_the_end_is_refused, 6);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("insert");

    suite_add_tcase(suite, lists());
    suite_add_tcase(suite, packed());
    return suite_main(suite);
}

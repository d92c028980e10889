/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-buffers.c - the buffers of tasks, on each machine: a thousand of
 * them, the same datum in several, all mixtures of modes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>

#include "machines.h"
#include "together.h"

enum { MANY = 1000 };

static int nkernels, wrong;

static void note(int condition)
{
    if (!condition)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void check_kernels(int n)
{
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(nkernels, n);
}

/* --- many --- */

static int numbers[MANY];
static starpu_data_handle_t data[MANY];

static void open_many(int machine)
{
    machine_open(machine);
    for (unsigned i = 0; i < MANY; i++) {
        numbers[i] = (int)i;
        starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&numbers[i], sizeof(int));
    }
}

/* Each even number was increased `rounds` times. */
static void close_many(int rounds)
{
    for (unsigned i = 0; i < MANY; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
    for (unsigned i = 0; i < MANY; i++)
        ck_assert_int_eq(numbers[i], (int)i + (i % 2 ? 0 : rounds));
    check_kernels(rounds);
}

static void increase_even(void *buffers[], void *arg)
{
    int round = nkernels++;

    (void)arg;
    for (unsigned i = 0; i < MANY; i++) {
        int *number = (int *)STARPU_VARIABLE_GET_PTR(buffers[i]);

        note(*number == (int)i + (i % 2 ? 0 : round));
        if (i % 2 == 0)
            ++*number;
    }
}

static enum starpu_data_access_mode mode_of(unsigned i)
{
    return i % 2 ? STARPU_R : STARPU_RW;
}

static struct starpu_codelet cl_many(int nbuffers)
{
    return (struct starpu_codelet){
        .cpu_funcs = {increase_even},
        .cuda_funcs = {increase_even},
        .nbuffers = nbuffers,
        .name = "k",
    };
}

START_TEST(a_thousand_by_the_arrays_of_codelet_and_task)
{
    enum starpu_data_access_mode modes[MANY];
    struct starpu_codelet cl = cl_many(MANY);

    open_many(_i);
    for (unsigned i = 0; i < MANY; i++)
        modes[i] = mode_of(i);
    cl.dyn_modes = modes;
    for (unsigned t = 0; t < 4; t++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        task->dyn_handles = malloc(sizeof(data));
        memcpy(task->dyn_handles, data, sizeof(data));
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    close_many(4);
}
END_TEST

START_TEST(a_thousand_with_modes_of_the_task)
{
    struct starpu_codelet cl = cl_many(STARPU_VARIABLE_NBUFFERS);

    open_many(_i);
    for (unsigned t = 0; t < 4; t++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        task->nbuffers = MANY;
        task->dyn_handles = malloc(sizeof(data));
        memcpy(task->dyn_handles, data, sizeof(data));
        task->dyn_modes = malloc(MANY * sizeof(*task->dyn_modes));
        for (unsigned i = 0; i < MANY; i++)
            task->dyn_modes[i] = mode_of(i);
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    close_many(4);
}
END_TEST

START_TEST(a_thousand_inserted)
{
    struct starpu_codelet fixed = cl_many(MANY),
                          variable = cl_many(STARPU_VARIABLE_NBUFFERS);
    struct starpu_data_descr descrs[MANY];

    open_many(_i);
    for (unsigned i = 0; i < MANY; i++)
        descrs[i] = (struct starpu_data_descr){data[i], mode_of(i)};
    ck_assert_int_eq(
        starpu_task_insert(&fixed, STARPU_DATA_MODE_ARRAY, descrs, MANY, 0), 0);
    ck_assert_int_eq(
        starpu_task_insert(&variable, STARPU_DATA_MODE_ARRAY, descrs, MANY, 0),
        0);
    /* The codelet knows the modes now. */
    ck_assert_int_eq(
        starpu_task_insert(&fixed, STARPU_DATA_ARRAY, data, MANY, 0), 0);
    ck_assert_int_eq(starpu_task_insert(&variable, STARPU_RW, data[0], STARPU_R,
                                        data[1], STARPU_DATA_MODE_ARRAY,
                                        &descrs[2], MANY - 4, STARPU_RW,
                                        data[MANY - 2], STARPU_R,
                                        data[MANY - 1], 0),
                     0);
    close_many(4);
    free(fixed.dyn_modes);
}
END_TEST

/* --- one datum in several buffers --- */

enum { NMODES = 5, NTWICE = 3 };

static const enum starpu_data_access_mode modes[NMODES] = {
    STARPU_R, STARPU_W, STARPU_RW, STARPU_SCRATCH, STARPU_RW | STARPU_COMMUTE};

struct mixture {
    enum starpu_data_access_mode modes[NTWICE];
    int value; /* before */
};

/* All but scratch are one place; what is read has the value before. */
static void use_mixture(void *buffers[], void *arg)
{
    const struct mixture *mixture = arg;
    int *value = NULL, *scratch = NULL, all = 0;

    nkernels++;
    for (unsigned i = 0; i < NTWICE; i++) {
        int *at = (int *)STARPU_VARIABLE_GET_PTR(buffers[i]);
        int **same = mixture->modes[i] & STARPU_SCRATCH ? &scratch : &value;

        note(at && (!*same || *same == at));
        *same = at;
        all |= (int)mixture->modes[i];
    }
    note(!scratch || scratch != value);
    if (scratch)
        *scratch = -1;
    if (all & STARPU_R)
        note(*value == mixture->value);
    if (all & STARPU_W)
        *value = mixture->value + 1;
}

/* Each mixture by itself; between two of them another worker may have the value. */
START_TEST(a_datum_in_several_buffers_is_one_place)
{
    static struct mixture mixtures[NMODES * NMODES * NMODES];
    struct starpu_codelet cl = {
        .cpu_funcs = {use_mixture},
        .cuda_funcs = {use_mixture},
        .nbuffers = STARPU_VARIABLE_NBUFFERS,
        .name = "k",
    };
    starpu_data_handle_t h;
    int value = 5, now = 5, n = 0;

    machine_open(_i);
    starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    for (int m = 0; m < NMODES * NMODES * NMODES; m++) {
        struct mixture *mixture = &mixtures[m];
        struct starpu_data_descr descrs[NTWICE];
        int all = 0;

        mixture->value = now;
        for (int i = 0, left = m; i < NTWICE; i++, left /= NMODES) {
            mixture->modes[i] = modes[left % NMODES];
            descrs[i] = (struct starpu_data_descr){h, modes[left % NMODES]};
            all |= (int)modes[left % NMODES];
        }
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_DATA_MODE_ARRAY, descrs,
                                            NTWICE, STARPU_CL_ARGS_NFREE,
                                            mixture, sizeof(*mixture), 0),
                         0);
        starpu_task_wait_for_all(); /* those that commute may change places */
        now += (all & STARPU_W) != 0;
        n++;
    }
    starpu_data_unregister(h);
    starpu_shutdown();
    check_kernels(n);
    ck_assert_int_eq(value, now);
}
END_TEST

/* --- modes that say more --- */

static void increase(void *buffers[], void *arg)
{
    (void)arg;
    nkernels++;
    ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

/* They are hints, of MPI, of the library or about the footprint: tasks,
 * acquisitions and insertions take them, and the order stays. */
START_TEST(hints_in_modes_change_no_order)
{
    static const int hints[] = {
        STARPU_LOCALITY, STARPU_SSEND,       STARPU_NOPLAN,
        STARPU_UNMAP,    STARPU_NOFOOTPRINT, STARPU_LOCALITY | STARPU_NOPLAN};
    enum { N = sizeof(hints) / sizeof(*hints) };
    struct starpu_codelet cl[N], variable;
    starpu_data_handle_t h;
    int value = 0;

    machine_open(_i);
    starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    variable = (struct starpu_codelet){.cpu_funcs = {increase},
                                       .cuda_funcs = {increase},
                                       .nbuffers = STARPU_VARIABLE_NBUFFERS,
                                       .name = "k"};
    for (unsigned i = 0; i < N; i++) {
        struct starpu_task *task = starpu_task_create();
        int mode = STARPU_RW | hints[i];

        cl[i] = (struct starpu_codelet){.cpu_funcs = {increase},
                                        .cuda_funcs = {increase},
                                        .nbuffers = 1,
                                        .name = "k"};
        cl[i].modes[0] = (enum starpu_data_access_mode)mode;
        task->cl = &cl[i];
        task->handles[0] = h;
        ck_assert_int_eq(starpu_task_submit(task), 0);
        ck_assert_int_eq(starpu_task_insert(&variable, mode, h, 0), 0);
        ck_assert_int_eq(
            starpu_data_acquire(h, (enum starpu_data_access_mode)mode), 0);
        ck_assert_int_eq(value, 3 * (int)i + 2);
        value++;
        starpu_data_release(h);
    }
    starpu_data_unregister(h);
    starpu_shutdown();
    ck_assert_int_eq(value, 3 * N);
    check_kernels(2 * N);
}
END_TEST

/* The whole is used as it stands in main memory, beside its parts. */
START_TEST(noplan_switches_no_partition)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    struct starpu_codelet cl = {
        .cpu_funcs = {increase},
        .cuda_funcs = {increase},
        .nbuffers = 1,
        .modes = {(enum starpu_data_access_mode)(STARPU_R | STARPU_NOPLAN)},
        .name = "k",
    };
    starpu_data_handle_t h, parts[2];
    int values[2] = {1, 2}, allocated, valid, requested;

    machine_open(_i);
    starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)values, 2,
                                sizeof(int));
    starpu_data_partition_plan(h, &filter, parts);
    starpu_data_partition_submit(h, 2, parts);
    cl.modes[0] = (enum starpu_data_access_mode)STARPU_RW;
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, parts[0], 0), 0);
    starpu_task_wait_for_all();
    /* A part that the switch would have taken away is valid still. */
    ck_assert_int_eq(starpu_data_acquire_on_node(h, STARPU_ACQUIRE_NO_NODE,
                                                 (enum starpu_data_access_mode)(
                                                     STARPU_W | STARPU_NOPLAN)),
                     0);
    starpu_data_release_on_node(h, STARPU_ACQUIRE_NO_NODE);
    valid = 0;
    for (int node = 0; node < (int)starpu_memory_nodes_get_count(); node++) {
        int here;

        starpu_data_query_status(parts[0], node, &allocated, &here, &requested);
        valid |= here;
    }
    ck_assert(valid);
    starpu_data_unpartition_submit(h, 2, parts, STARPU_MAIN_RAM);
    starpu_data_partition_clean(h, 2, parts);
    starpu_data_unregister(h);
    starpu_shutdown();
    ck_assert_int_eq(values[0], 2);
}
END_TEST

/* --- modes that the first tasks teach, of several threads at once --- */

enum { NBUFFERS = 12, NTEACHERS = 2, NTURNS = 1000 };

static struct starpu_codelet learner;
static starpu_pthread_barrier_t turn;
static atomic_int nstarted;
static int taught[NBUFFERS];
static starpu_data_handle_t taught_data[NBUFFERS];

static void increase_all(void *buffers[], void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < NBUFFERS; i++)
        ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[i]);
}

static void forget_modes(void)
{
    free(learner.dyn_modes);
    learner = (struct starpu_codelet){.cpu_funcs = {increase_all},
                                      .cuda_funcs = {increase_all},
                                      .nbuffers = NBUFFERS,
                                      .name = "k"};
}

#define BUFFER(i) STARPU_RW, taught_data[i]

static void *teach(void *arg)
{
    for (int i = 0; i < NTURNS; i++) {
        STARPU_PTHREAD_BARRIER_WAIT(&turn);
        start_together(&nstarted, NTEACHERS * (i + 1));
        note(starpu_task_insert(&learner, BUFFER(0), BUFFER(1), BUFFER(2),
                                BUFFER(3), BUFFER(4), BUFFER(5), BUFFER(6),
                                BUFFER(7), BUFFER(8), BUFFER(9), BUFFER(10),
                                BUFFER(11), 0) == 0);
        STARPU_PTHREAD_BARRIER_WAIT(&turn);
    }
    return arg;
}

START_TEST(several_threads_teach_a_codelet_its_modes)
{
    starpu_pthread_t threads[NTEACHERS];

    machine_open(_i);
    wrong = nstarted = 0;
    memset(taught, 0, sizeof(taught));
    for (int i = 0; i < NBUFFERS; i++)
        starpu_variable_data_register(&taught_data[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&taught[i], sizeof(int));
    STARPU_PTHREAD_BARRIER_INIT(&turn, NULL, NTEACHERS + 1);
    for (int t = 0; t < NTEACHERS; t++)
        STARPU_PTHREAD_CREATE(&threads[t], NULL, teach, NULL);
    for (int i = 0; i < NTURNS; i++) {
        forget_modes();
        STARPU_PTHREAD_BARRIER_WAIT(&turn);
        STARPU_PTHREAD_BARRIER_WAIT(&turn);
        ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    }
    for (int t = 0; t < NTEACHERS; t++)
        STARPU_PTHREAD_JOIN(threads[t], NULL);
    for (int i = 0; i < NBUFFERS; i++) {
        starpu_data_unregister(taught_data[i]);
        ck_assert_int_eq(taught[i], NTEACHERS * NTURNS);
    }
    ck_assert_int_eq(wrong, 0);
    starpu_shutdown();
    free(learner.dyn_modes);
    learner.dyn_modes = NULL;
}
END_TEST

SUITE_MAIN(buffers)
{
    Suite *suite = suite_create("buffers");
    TCase *tc = tcase_create("buffers");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_thousand_by_the_arrays_of_codelet_and_task, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_thousand_with_modes_of_the_task, 0, NMACHINES);
    tcase_add_loop_test(tc, a_thousand_inserted, 0, NMACHINES);
    tcase_add_loop_test(tc, a_datum_in_several_buffers_is_one_place, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, hints_in_modes_change_no_order, 0, NMACHINES);
    tcase_add_loop_test(tc, noplan_switches_no_partition, 0, NMACHINES);
    tcase_add_loop_test(tc, several_threads_teach_a_codelet_its_modes, 0,
                        NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

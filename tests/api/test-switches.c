/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-switches.c - calls that say what would happen by itself later, or
 * only take time: each is seen to have had its effect at once. Switches of planned
 * partitions, by which of the whole and its parts have a value; waits; structures
 * that are made out of memory with anything in it.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

/* -- planned partitions --------------------------------------------------- */

static starpu_data_handle_t whole, parts[2];

/* Of the whole and its parts, which ones main memory has a value of. */
static const char *valid(void)
{
    static char seen[4];
    starpu_data_handle_t all[] = {whole, parts[0], parts[1]};

    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    for (int i = 0; i < 3; i++) {
        int allocated, has_value, loading;

        starpu_data_query_status(all[i], STARPU_MAIN_RAM, &allocated,
                                 &has_value, &loading);
        seen[i] = has_value ? '1' : '0';
    }
    return seen;
}

/* shows starpu_data_partition_submit, starpu_data_partition_readonly_submit,
 * starpu_data_partition_readwrite_upgrade_submit,
 * starpu_data_partition_readonly_downgrade_submit, starpu_data_unpartition_submit,
 * starpu_data_unpartition_readonly_submit,
 * starpu_data_partition_submit_sequential_consistency,
 * starpu_data_unpartition_submit_sequential_consistency,
 * starpu_data_partition_readonly_submit_sequential_consistency */
START_TEST(switches_are_made_when_they_are_submitted)
{
    static int values[8];
    struct starpu_data_filter in_two = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};

    machine_open(_i);
    starpu_vector_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)values, 8,
                                sizeof(values[0]));
    starpu_data_partition_plan(whole, &in_two, parts);
    ck_assert_str_eq(valid(), "100");
    starpu_data_partition_submit(whole, 2, parts);
    ck_assert_str_eq(valid(), "011");
    starpu_data_unpartition_submit(whole, 2, parts, -1);
    ck_assert_str_eq(valid(), "100");
    starpu_data_partition_readonly_submit(whole, 2, parts);
    ck_assert_str_eq(valid(), "111");
    starpu_data_partition_readwrite_upgrade_submit(whole, 2, parts);
    ck_assert_str_eq(valid(), "011");
    starpu_data_partition_readonly_downgrade_submit(whole, 2, parts);
    ck_assert_str_eq(valid(), "111");
    starpu_data_unpartition_submit(whole, 2, parts, STARPU_MAIN_RAM);
    ck_assert_str_eq(valid(), "100");
    starpu_data_partition_submit(whole, 2, parts);
    starpu_data_unpartition_readonly_submit(whole, 2, parts, STARPU_MAIN_RAM);
    ck_assert_str_eq(valid(), "111");
    starpu_data_unpartition_submit(whole, 2, parts, STARPU_MAIN_RAM);
    /* Out of its order the whole keeps its value. */
    starpu_data_partition_submit_sequential_consistency(whole, 2, parts, 0);
    ck_assert_str_eq(valid(), "111");
    starpu_data_unpartition_submit_sequential_consistency(whole, 2, parts,
                                                          STARPU_MAIN_RAM, 0);
    ck_assert_str_eq(valid(), "100");
    starpu_data_partition_readonly_submit_sequential_consistency(whole, 2,
                                                                 parts, 0);
    ck_assert_str_eq(valid(), "111");
    starpu_data_partition_clean(whole, 2, parts);
    starpu_data_unregister(whole);
    starpu_shutdown();
}
END_TEST

/* -- waits ---------------------------------------------------------------- */

enum { NTASKS = 20 };

static atomic_int nended;

static void take_time(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    starpu_usleep(2000);
    nended++;
}

static struct starpu_codelet takes_time = {
    .cpu_funcs = {take_time},
    .cuda_funcs = {take_time},
    .cpu_funcs_name = {"take_time"},
    .name = "slow",
};

static void submit_slow(struct starpu_task *tasks[NTASKS], int detach)
{
    nended = 0;
    for (int i = 0; i < NTASKS; i++) {
        tasks[i] = starpu_task_create();
        tasks[i]->cl = &takes_time;
        tasks[i]->detach = detach & 1;
        tasks[i]->destroy = detach & 1;
        ck_assert_int_eq(starpu_task_submit(tasks[i]), 0);
    }
}

/* shows starpu_task_wait_array, starpu_task_wait_for_no_ready */
START_TEST(what_is_waited_for_has_ended)
{
    struct starpu_task *tasks[NTASKS];

    machine_choose(_i);
    setenv("ORRERY_ASSUME", "kernel[slow] = 2ms", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    submit_slow(tasks, 0);
    ck_assert_int_eq(starpu_task_wait_array(tasks, NTASKS), 0);
    ck_assert_int_eq(nended, NTASKS);
    for (int i = 0; i < NTASKS; i++)
        starpu_task_destroy(tasks[i]);
    submit_slow(tasks, 1);
    ck_assert_int_eq(starpu_task_wait_for_no_ready(), 0);
    ck_assert_int_eq(nended, NTASKS);
    starpu_shutdown();
}
END_TEST

/* -- structures ----------------------------------------------------------- */

/* shows starpu_task_list_init, starpu_pthread_mutex_init,
 * starpu_pthread_cond_init */
START_TEST(structures_are_made_whatever_was_in_their_memory)
{
    struct starpu_task_list list;
    struct starpu_task *task;
    starpu_pthread_mutex_t mutex;
    starpu_pthread_cond_t cond;
    struct timespec past = {0, 0};

    machine_open(_i);
    memset(&list, 0x5a, sizeof(list));
    starpu_task_list_init(&list);
    ck_assert_int_ne(starpu_task_list_empty(&list), 0);
    task = starpu_task_create();
    starpu_task_list_push_back(&list, task);
    ck_assert_ptr_eq(starpu_task_list_pop_front(&list), task);
    ck_assert_int_ne(starpu_task_list_empty(&list), 0);
    starpu_task_destroy(task);
    memset(&mutex, 0x5a, sizeof(mutex));
    ck_assert_int_eq(starpu_pthread_mutex_init(&mutex, NULL), 0);
    ck_assert_int_eq(starpu_pthread_mutex_trylock(&mutex), 0);
    ck_assert_int_ne(starpu_pthread_mutex_trylock(&mutex), 0);
    memset(&cond, 0x5a, sizeof(cond));
    ck_assert_int_eq(starpu_pthread_cond_init(&cond, NULL), 0);
    ck_assert_int_eq(starpu_pthread_cond_timedwait(&cond, &mutex, &past),
                     ETIMEDOUT);
    ck_assert_int_eq(starpu_pthread_cond_signal(&cond), 0);
    ck_assert_int_eq(starpu_pthread_cond_destroy(&cond), 0);
    ck_assert_int_eq(starpu_pthread_mutex_unlock(&mutex), 0);
    starpu_pthread_mutex_destroy(&mutex);
    starpu_shutdown();
}
END_TEST

/* -- what is refused ------------------------------------------------------- */

/* shows starpu_interface_unmap */
START_TEST(a_simulated_device_unmaps_no_memory)
{
    machine_open(FIRST_SIMULATED);
    (void)starpu_interface_unmap((uintptr_t)&_i, 0, STARPU_MAIN_RAM,
                                 (uintptr_t)&_i, 1, 4);
}
END_TEST

/* shows starpu_interface_update_map */
START_TEST(a_simulated_device_updates_no_map)
{
    machine_open(FIRST_SIMULATED);
    (void)starpu_interface_update_map((uintptr_t)&_i, 0, STARPU_MAIN_RAM,
                                      (uintptr_t)&_i, 0, 1, 4);
}
END_TEST

SUITE_MAIN(switches)
{
    Suite *suite = suite_create("switches");
    TCase *each = tcase_create("on each machine");
    TCase *refused = tcase_create("refused");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, refused);
    tcase_add_test_raise_signal(refused, a_simulated_device_unmaps_no_memory,
                                SIGABRT);
    tcase_add_test_raise_signal(refused, a_simulated_device_updates_no_map,
                                SIGABRT);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(switches_are_made_when_they_are_submitted);
    EACH(what_is_waited_for_has_ended);
    EACH(structures_are_made_whatever_was_in_their_memory);
    return suite_main(suite);
}

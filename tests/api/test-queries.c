/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-queries.c - questions about workers, memory nodes, contexts,
 * data and tasks, and the settings that they answer for.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../loopback/use.h"
#include "machines.h"

static char text[4096];

/* What `print` writes to a file. */
static const char *printed(void (*print)(FILE *))
{
    FILE *file = tmpfile();
    size_t n;

    ck_assert_ptr_nonnull(file);
    print(file);
    rewind(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

/* --- workers --- */

START_TEST(workers_are_counted_by_type)
{
    /* Each GPU takes a processor. */
    int cuda = machine_simulated(_i) ? 3 : 0;
    int cpus = machine_simulated(_i) ? 1 : 2;
    int ids[STARPU_NMAXWORKERS], devids[STARPU_NMAXWORKERS];

    machine_open(_i);
    starpu_worker_wait_for_initialisation();
    ck_assert_uint_eq(starpu_worker_get_count(), (unsigned)(cpus + cuda));
    ck_assert_uint_eq(starpu_cpu_worker_get_count(), (unsigned)cpus);
    ck_assert_uint_eq(starpu_cuda_worker_get_count(), (unsigned)cuda);
    ck_assert_uint_eq(starpu_hip_worker_get_count(), 0);
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 0);
    ck_assert_uint_eq(starpu_mpi_ms_worker_get_count(), 0);
    ck_assert_uint_eq(starpu_tcpip_ms_worker_get_count(), 0);
    ck_assert_int_eq(starpu_worker_get_count_by_type(STARPU_CPU_WORKER), cpus);
    ck_assert_int_eq(starpu_worker_get_count_by_type(STARPU_CUDA_WORKER), cuda);
    ck_assert_int_eq(starpu_worker_get_count_by_type(STARPU_ANY_WORKER),
                     cpus + cuda);
    ck_assert_uint_eq(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, 2),
                      (unsigned)cpus);
    ck_assert_int_eq(starpu_worker_get_type(ids[cpus - 1]), STARPU_CPU_WORKER);
    ck_assert_uint_eq(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, 0),
                      (unsigned)-ERANGE);
    ck_assert_int_eq(starpu_worker_get_by_type(STARPU_CPU_WORKER, cpus - 1),
                     ids[cpus - 1]);
    ck_assert_int_eq(starpu_worker_get_by_type(STARPU_CPU_WORKER, cpus), -1);
    ck_assert_int_eq(starpu_worker_get_devids(STARPU_CUDA_WORKER, devids, 8),
                     cuda);
    for (int d = 0; d < cuda; d++) {
        int worker = starpu_worker_get_by_devid(STARPU_CUDA_WORKER, d);

        ck_assert_int_eq(devids[d], d);
        ck_assert_int_eq(starpu_worker_get_devid(worker), d);
        ck_assert_int_eq(starpu_worker_get_devnum(worker), d);
        ck_assert_int_eq(starpu_worker_get_subworkerid(worker), 0);
    }
    ck_assert_int_eq(starpu_worker_get_by_devid(STARPU_CUDA_WORKER, 9), -1);
    starpu_shutdown();
}
END_TEST

START_TEST(types_have_names_and_masks)
{
    static const struct {
        enum starpu_worker_archtype type;
        const char *name, *variable;
        unsigned long long mask;
        enum starpu_node_kind memory;
    } types[] = {
        {STARPU_CPU_WORKER, "CPU", "CPU", STARPU_CPU, STARPU_CPU_RAM},
        {STARPU_CUDA_WORKER, "CUDA", "CUDA", STARPU_CUDA, STARPU_CUDA_RAM},
        {STARPU_OPENCL_WORKER, "OpenCL", "OPENCL", STARPU_OPENCL,
         STARPU_OPENCL_RAM},
        {STARPU_HIP_WORKER, "HIP", "HIP", STARPU_HIP, STARPU_HIP_RAM},
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        enum starpu_worker_archtype type = types[i].type;

        ck_assert_uint_eq(starpu_worker_archtype_is_valid(type), 1);
        ck_assert_str_eq(starpu_worker_get_type_as_string(type), types[i].name);
        ck_assert_str_eq(starpu_worker_get_type_as_env_var(type),
                         types[i].variable);
        ck_assert_int_eq(starpu_worker_get_type_from_string(types[i].name),
                         type);
        ck_assert_int_eq(
            starpu_arch_mask_to_worker_archtype((unsigned)types[i].mask), type);
        ck_assert_int_eq(starpu_worker_get_memory_node_kind(type),
                         types[i].memory);
        ck_assert_int_eq(
            starpu_memory_node_get_worker_archtype(types[i].memory), type);
    }
    ck_assert_uint_eq(starpu_worker_archtype_is_valid(3), 0);
    ck_assert_str_eq(starpu_perfmodel_get_archtype_name(STARPU_CUDA_WORKER),
                     "cuda");
}
END_TEST

static void display_names(FILE *file)
{
    starpu_worker_display_names(file, STARPU_CPU_WORKER);
}

static void display_count(FILE *file)
{
    starpu_worker_display_count(file, STARPU_CUDA_WORKER);
}

static void display_context(FILE *file)
{
    starpu_sched_ctx_display_workers(0, file);
}

static void display_bindings(FILE *file)
{
    int out;

    fflush(stdout);
    out = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    starpu_display_bindings();
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
}

START_TEST(workers_are_printed)
{
    char name[64], cuda[32];

    machine_open(_i);
    starpu_worker_get_name(starpu_worker_get_by_type(STARPU_CPU_WORKER, 0),
                           name, sizeof(name));
    ck_assert_str_eq(name, "CPU 0");
    ck_assert_ptr_nonnull(strstr(printed(display_names), "CPU 0"));
    snprintf(cuda, sizeof(cuda), "%d CUDA worker",
             machine_simulated(_i) ? 3 : 0);
    ck_assert_ptr_nonnull(strstr(printed(display_count), cuda));
    ck_assert_ptr_nonnull(strstr(printed(starpu_worker_display_all), "CPU 0"));
    ck_assert_ptr_nonnull(strstr(printed(display_context), "CPU 0"));
    ck_assert_ptr_nonnull(strstr(printed(starpu_topology_print), "CPU 0"));
    ck_assert_ptr_nonnull(strstr(printed(display_bindings), "CPU 0"));
    ck_assert_ptr_nonnull(
        strstr(printed(starpu_bus_print_bandwidth), "from/to"));
    starpu_shutdown();
}
END_TEST

static int seen_id[3];
static unsigned seen_node;

static void look_around(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    seen_id[0] = (int)starpu_worker_get_id_check();
    seen_id[1] = (int)_starpu_worker_get_id_check("here", 1);
    seen_id[2] = starpu_combined_worker_get_id();
    seen_node = starpu_worker_get_local_memory_node();
    starpu_worker_lock_self();
    ck_assert_int_ne(starpu_worker_trylock(seen_id[0]), 0);
    starpu_worker_unlock_self();
    ck_assert_int_eq(starpu_worker_trylock(seen_id[0]), 0);
    starpu_worker_unlock(seen_id[0]);
    ck_assert_int_eq(starpu_combined_worker_get_size(), 1);
    ck_assert_int_eq(starpu_combined_worker_get_rank(), 0);
}

static struct starpu_codelet cl_look = {
    .cpu_funcs = {look_around}, .cuda_funcs = {look_around}, .name = "k"};

START_TEST(kernels_learn_where_they_run)
{
    machine_open(_i);
    ck_assert_uint_eq(starpu_worker_get_local_memory_node(), STARPU_MAIN_RAM);
    ck_assert_int_eq(starpu_combined_worker_get_size(), -1);
    ck_assert_int_eq(starpu_combined_worker_get_rank(), -1);
    for (int w = 0; w < (int)starpu_worker_get_count(); w++) {
        ck_assert_int_eq(starpu_task_insert(&cl_look, STARPU_EXECUTE_ON_WORKER,
                                            w, STARPU_TASK_SYNCHRONOUS, 1, 0),
                         0);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(seen_id[i], w);
        ck_assert_uint_eq(seen_node,
                          starpu_worker_get_memory_node((unsigned)w));
        ck_assert_uint_eq(starpu_worker_is_combined_worker(w), 0);
    }
    ck_assert_uint_eq(starpu_combined_worker_get_count(), 0);
    starpu_shutdown();
}
END_TEST

/* --- memory nodes --- */

START_TEST(memory_nodes_are_found_by_kind)
{
    unsigned cuda = machine_simulated(_i) ? 3 : 0, ids[8];

    machine_open(_i);
    ck_assert_uint_eq(starpu_memory_nodes_get_count_by_kind(STARPU_CPU_RAM), 1);
    ck_assert_uint_eq(starpu_memory_nodes_get_count_by_kind(STARPU_CUDA_RAM),
                      cuda);
    ck_assert_uint_eq(
        starpu_memory_node_get_ids_by_type(STARPU_CUDA_RAM, ids, 8), cuda);
    for (unsigned i = 0; i < cuda; i++) {
        ck_assert_int_eq(starpu_node_get_kind(ids[i]), STARPU_CUDA_RAM);
        ck_assert_int_eq(starpu_memory_node_get_devid(ids[i]), (int)i);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(memory_is_reserved_and_given_back)
{
    unsigned node;
    starpu_ssize_t total, before;
    size_t used;

    machine_open(_i);
    node = starpu_memory_nodes_get_count() - 1;
    total = starpu_memory_get_total(node);
    used = starpu_memory_get_used(node);
    before = starpu_memory_get_available(node);
    ck_assert_int_eq(before, total < 0 ? -1 : total - (starpu_ssize_t)used);
    ck_assert_int_eq(starpu_memory_allocate(node, 1000, 0), 0);
    ck_assert_uint_eq(starpu_memory_get_used(node), used + 1000);
    ck_assert_uint_ge(starpu_memory_get_used_all_nodes(), used + 1000);
    if (total > 0) {
        ck_assert_int_eq(starpu_memory_get_available(node), before - 1000);
        ck_assert_int_eq(starpu_memory_allocate(node, (size_t)total, 0),
                         -ENOMEM);
        ck_assert_int_eq(
            starpu_memory_allocate(node, (size_t)total, STARPU_MEMORY_OVERFLOW),
            0);
        ck_assert_int_eq(starpu_memory_get_available(node), -1000);
        starpu_memory_deallocate(node, (size_t)total);
        ck_assert_int_ge(starpu_memory_get_available_all_nodes(),
                         before - 1000);
    }
    starpu_memory_deallocate(node, 1000);
    ck_assert_uint_eq(starpu_memory_get_used(node), used);
    starpu_memory_wait_available(node, 1000); /* there is that much */
    starpu_shutdown();
}
END_TEST

static atomic_int given_back;

static void *give_back(void *arg)
{
    (void)arg;
    starpu_usleep(2000);
    atomic_store(&given_back, 1);
    starpu_memory_deallocate(STARPU_MAIN_RAM, 30u << 20);
    return NULL;
}

START_TEST(waiting_for_memory_ends_when_it_is_given_back)
{
    pthread_t thread;

    machine_choose(0);
    setenv("STARPU_LIMIT_CPU_MEM", "32", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(starpu_memory_allocate(STARPU_MAIN_RAM, 30u << 20, 0), 0);
    pthread_create(&thread, NULL, give_back, NULL);
    starpu_memory_wait_available(STARPU_MAIN_RAM, 20u << 20);
    ck_assert_int_eq(atomic_load(&given_back), 1);
    pthread_join(thread, NULL);
    starpu_shutdown();
}
END_TEST

START_TEST(memory_is_allocated_aligned_and_on_nodes)
{
    unsigned node;
    size_t used;
    void *memory = NULL;
    uintptr_t there;

    starpu_malloc_set_align(4096);
    machine_open(_i);
    ck_assert_int_eq(starpu_malloc(&memory, 100), 0);
    ck_assert_uint_eq((uintptr_t)memory % 4096, 0);
    memset(memory, 1, 100);
    ck_assert_int_eq(starpu_memory_pin(memory, 100), 0);
    ck_assert_int_eq(starpu_memory_unpin(memory, 100), 0);
    ck_assert_int_eq(starpu_free_noflag(memory, 100), 0);
    ck_assert_int_eq(starpu_malloc(&memory, 0), 0);
    ck_assert_int_eq(starpu_free(memory), 0);
    node = starpu_memory_nodes_get_count() - 1;
    used = starpu_memory_get_used(node);
    starpu_malloc_on_node_set_default_flags(node, STARPU_MALLOC_COUNT);
    there = starpu_malloc_on_node_flags(node, 4096, STARPU_MALLOC_COUNT);
    ck_assert_uint_ne(there, 0);
    ck_assert_uint_eq(starpu_memory_get_used(node), used + 4096);
    starpu_free_on_node_flags(node, there, 4096, STARPU_MALLOC_COUNT);
    ck_assert_uint_eq(starpu_memory_get_used(node), used);
    starpu_shutdown();
}
END_TEST

/* --- the context --- */

START_TEST(the_one_context_has_all_workers)
{
    int *list, n = 0;
    struct starpu_worker_collection *workers;
    struct starpu_sched_ctx_iterator it;
    unsigned ctx = 0, count;

    machine_open(_i);
    count = starpu_worker_get_count();
    starpu_sched_ctx_set_context(&ctx);
    ck_assert_uint_eq(starpu_sched_ctx_get_context(), 0);
    ck_assert_ptr_null(starpu_sched_ctx_get_user_data(0));
    ck_assert_uint_eq(starpu_sched_ctx_get_nworkers(0), count);
    ck_assert_uint_eq(starpu_sched_ctx_get_workers_list(0, &list), count);
    ck_assert_int_eq(list[count - 1], (int)count - 1);
    free(list);
    ck_assert_uint_eq(starpu_sched_ctx_contains_worker(0, 0), 1);
    ck_assert_uint_eq(starpu_sched_ctx_contains_worker((int)count, 0), 0);
    ck_assert_uint_eq(
        starpu_sched_ctx_contains_type_of_worker(STARPU_CPU_WORKER, 0), 1);
    ck_assert_uint_eq(
        starpu_sched_ctx_contains_type_of_worker(STARPU_HIP_WORKER, 0), 0);
    starpu_sched_ctx_list_task_counters_increment(0, 0);
    starpu_sched_ctx_list_task_counters_decrement(0, 0);
    workers = starpu_sched_ctx_create_worker_collection(0, STARPU_WORKER_LIST);
    ck_assert_ptr_eq(workers, starpu_sched_ctx_get_worker_collection(0));
    workers->init_iterator(workers, &it);
    while (workers->has_next(workers, &it))
        ck_assert_int_eq(workers->get_next(workers, &it), n++);
    ck_assert_int_eq(n, (int)count);
    starpu_sched_ctx_delete_worker_collection(0);
    starpu_shutdown();
}
END_TEST

START_TEST(priorities_that_the_application_sets_stay)
{
    struct starpu_conf conf;

    machine_choose(_i);
    starpu_conf_init(&conf);
    conf.global_sched_ctx_min_priority = -7;
    conf.global_sched_ctx_max_priority = 8;
    ck_assert_int_eq(starpu_init(&conf), 0);
    ck_assert_int_eq(starpu_sched_ctx_min_priority_is_set(0), 1);
    ck_assert_int_eq(starpu_sched_ctx_max_priority_is_set(0), 1);
    ck_assert_int_eq(starpu_sched_ctx_set_min_priority(0, -3), 0);
    ck_assert_int_eq(starpu_sched_ctx_get_min_priority(0), -7);
    starpu_shutdown();
}
END_TEST

/* shows starpu_sched_ctx_set_min_priority, starpu_sched_ctx_set_max_priority */
START_TEST(the_context_has_the_policy_and_its_priorities)
{
    struct starpu_sched_policy **list = starpu_sched_get_predefined_policies();
    struct starpu_sched_policy *policy;
    starpu_pthread_mutex_t *mutex;
    starpu_pthread_cond_t *cond;
    int found = 0;

    machine_open(_i);
    policy = starpu_sched_ctx_get_sched_policy(0);
    ck_assert_str_eq(policy->policy_name, getenv("STARPU_SCHED"));
    ck_assert_ptr_eq(starpu_sched_get_sched_policy_in_ctx(0), policy);
    for (; *list; list++)
        found |= *list == policy;
    ck_assert_int_eq(found, 1);
    ck_assert_int_eq(starpu_sched_ctx_set_min_priority(0, -3), 0);
    ck_assert_int_eq(starpu_sched_ctx_set_max_priority(0, 4), 0);
    ck_assert_int_eq(starpu_sched_ctx_get_min_priority(0), -3);
    ck_assert_int_eq(starpu_sched_ctx_get_max_priority(0), 4);
    ck_assert_int_eq(starpu_sched_get_min_priority(), -3);
    ck_assert_int_eq(starpu_sched_ctx_min_priority_is_set(0), 0);
    ck_assert_int_eq(starpu_sched_ctx_max_priority_is_set(0), 0);
    starpu_worker_get_sched_condition(0, &mutex, &cond);
    ck_assert_int_eq(starpu_pthread_mutex_trylock_sched(mutex), 0);
    ck_assert_int_ne(starpu_worker_trylock(0), 0);
    starpu_pthread_mutex_unlock_sched(mutex);
    starpu_worker_lock(0);
    ck_assert_int_ne(starpu_pthread_mutex_trylock_sched(mutex), 0);
    starpu_worker_unlock(0);
    starpu_worker_relax_on();
    ck_assert_int_eq(starpu_worker_get_relax_state(), 1);
    starpu_worker_relax_off();
    starpu_shutdown();
}
END_TEST

/* --- data --- */

static void keep_int(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

START_TEST(handles_keep_what_is_attached_to_them)
{
    int x[12], dims[5] = {0}, y;
    starpu_data_handle_t handle;

    machine_open(_i);
    starpu_matrix_data_register(&handle, 0, (uintptr_t)x, 4, 3, 3, sizeof(int));
    ck_assert_int_eq(starpu_data_get_interface_id(handle),
                     STARPU_MATRIX_INTERFACE_ID);
    ck_assert_ptr_eq(starpu_data_get_interface_ops(handle),
                     &starpu_interface_matrix_ops);
    ck_assert_int_eq(starpu_data_get_home_node(handle), 0);
    ck_assert_uint_eq(starpu_data_get_alloc_size(handle), 9 * sizeof(int));
    ck_assert_uint_eq(starpu_matrix_get_elemsize(handle), sizeof(int));
    ck_assert_ptr_null(starpu_data_get_user_data(handle));
    starpu_data_set_user_data(handle, x);
    starpu_data_set_sched_data(handle, &y);
    ck_assert_ptr_eq(starpu_data_get_user_data(handle), x);
    ck_assert_ptr_eq(starpu_data_get_sched_data(handle), &y);
    starpu_data_set_coordinates(handle, 2, 5, 6);
    ck_assert_uint_eq(starpu_data_get_coordinates_array(handle, 5, dims), 2);
    ck_assert_int_eq(dims[1], 6);
    starpu_data_set_coordinates_array(handle, 3, (int[]){7, 8, 9});
    ck_assert_uint_eq(starpu_data_get_coordinates_array(handle, 2, dims), 3);
    ck_assert_int_eq(dims[0], 7);
    ck_assert_int_eq(dims[1], 8);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(hints_are_accepted)
{
    int x = 1;
    starpu_data_handle_t handle;

    machine_open(_i);
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    starpu_data_set_wt_mask(handle, 1);
    starpu_data_advise_as_important(handle, 0);
    starpu_data_set_ooc_flag(handle, 0);
    ck_assert_uint_eq(starpu_data_get_ooc_flag(handle), 0);
    starpu_iteration_push(3);
    starpu_iteration_pop();
    starpu_profiling_set_id(1);
    starpu_perfmodel_initialize();
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_R), 0);
    ck_assert_int_eq(x, 1);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(order_by_submission_is_a_flag_of_each_handle)
{
    int x = 1;
    starpu_data_handle_t handle, second;

    machine_open(_i);
    ck_assert_uint_eq(starpu_data_get_default_sequential_consistency_flag(), 1);
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    starpu_data_set_default_sequential_consistency_flag(0);
    ck_assert_uint_eq(starpu_data_get_default_sequential_consistency_flag(), 0);
    starpu_variable_data_register(&second, -1, 0, sizeof(x));
    ck_assert_uint_eq(starpu_data_get_sequential_consistency_flag(handle), 1);
    ck_assert_uint_eq(starpu_data_get_sequential_consistency_flag(second), 0);
    starpu_data_unregister(second);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* shows starpu_data_can_evict */
START_TEST(copies_are_seen_on_their_nodes)
{
    static struct starpu_codelet cl = {.cpu_funcs = {keep_int},
                                       .cuda_funcs = {keep_int},
                                       .nbuffers = 1,
                                       .modes = {STARPU_R},
                                       .name = "k"};
    int x = 1, allocated, valid, loading, requested;
    starpu_data_handle_t handle;
    unsigned last;

    machine_open(_i);
    last = starpu_memory_nodes_get_count() - 1;
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    ck_assert_uint_eq(starpu_data_is_on_node(handle, 0), 1);
    if (last > 0) {
        ck_assert_uint_eq(starpu_data_is_on_node(handle, last), 0);
        starpu_data_query_status(handle, (int)last, &allocated, &valid,
                                 &requested);
        ck_assert_int_eq(allocated + valid + requested, 0);
        ck_assert_double_gt(
            starpu_data_expected_transfer_time(handle, last, STARPU_R), 0);
    }
    ck_assert_double_eq(starpu_data_expected_transfer_time(handle, 0, STARPU_R),
                        0);
    ck_assert_int_eq(starpu_data_prefetch_on_node_prio(handle, last, 0, 3), 0);
    ck_assert_int_eq(starpu_data_idle_prefetch_on_node_prio(handle, last, 0, 3),
                     0);
    starpu_data_query_status2(handle, (int)last, &allocated, &valid, &loading,
                              &requested);
    ck_assert_int_eq(allocated, 1);
    ck_assert_int_eq(valid, 1);
    ck_assert_int_eq(loading + requested, 0);
    ck_assert_int_eq(starpu_data_can_evict(handle, last, STARPU_FETCH),
                     last > 0);
    ck_assert_int_eq(starpu_data_can_evict(handle, 0, STARPU_FETCH), 0);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_R, handle, 0), 0);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

static atomic_int acquired;

static void release(void *arg)
{
    atomic_fetch_add(&acquired, 1);
    starpu_data_release(*(starpu_data_handle_t *)arg);
}

START_TEST(data_are_acquired_without_waiting)
{
    int x = 1;
    starpu_data_handle_t handle;

    machine_open(_i);
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    ck_assert_int_eq(starpu_data_acquire_try(handle, STARPU_W), 0);
    starpu_data_release_to(handle, STARPU_R);
    ck_assert_int_eq(starpu_data_acquire_cb_sequential_consistency(
                         handle, STARPU_R, release, &handle, 1),
                     0);
    starpu_data_release(handle);
    ck_assert_int_eq(starpu_data_acquire_on_node(handle, 0, STARPU_W), 0);
    ck_assert_int_eq(starpu_data_acquire_try(handle, STARPU_W), -EAGAIN);
    starpu_data_release_to_on_node(handle, STARPU_R, 0);
    starpu_data_release_on_node(handle, 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(acquired, 1);
    ck_assert_int_eq(starpu_data_acquire_on_node_cb_sequential_consistency(
                         handle, 0, STARPU_W, release, &handle, 0),
                     0);
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
    ck_assert_int_eq(acquired, 2);
    starpu_shutdown();
}
END_TEST

/* --- filters --- */

static starpu_data_handle_t vget(starpu_data_handle_t root, unsigned depth, ...)
{
    starpu_data_handle_t found;
    va_list args;

    va_start(args, depth);
    found = starpu_data_vget_sub_data(root, depth, args);
    va_end(args);
    return found;
}

static void vmap(starpu_data_handle_t root, unsigned n, ...)
{
    va_list args;

    va_start(args, n);
    starpu_data_vmap_filters(root, n, args);
    va_end(args);
}

START_TEST(several_filters_are_applied_in_turn)
{
    int x[4][4] = {{0}};
    starpu_data_handle_t handle;
    struct starpu_data_filter filters[2] = {
        {.filter_func = starpu_matrix_filter_block, .nchildren = 2},
        {.filter_func = starpu_matrix_filter_vertical_block, .nchildren = 2},
    };
    struct starpu_data_filter *pointers[] = {&filters[0], &filters[1]};

    x[2][2] = 5;
    machine_open(_i);
    starpu_matrix_data_register(&handle, 0, (uintptr_t)x, 4, 4, 4, sizeof(int));
    for (int way = 0; way < 3; way++) {
        starpu_data_handle_t child;

        if (way == 0)
            starpu_data_map_filters_array(handle, 2, filters);
        else if (way == 1)
            starpu_data_map_filters_parray(handle, 2, pointers);
        else
            vmap(handle, 2, &filters[0], &filters[1]);
        child = vget(handle, 2, 1, 1);
        ck_assert_uint_eq(starpu_matrix_get_nx(child), 2);
        ck_assert_uint_eq(starpu_matrix_get_ny(child), 2);
        starpu_data_acquire(child, STARPU_R);
        ck_assert_int_eq(*(int *)starpu_matrix_get_local_ptr(child), 5);
        starpu_data_release(child);
        starpu_data_unpartition(handle, 0);
    }
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* Each child has its part and `shadow` elements of the neighbours. */
START_TEST(shadow_filters_overlap)
{
    static int x[6 * 6 * 6];
    static const struct {
        void (*filter)(void *, void *, struct starpu_data_filter *, unsigned,
                       unsigned);
        int ndim, along;
    } cases[] = {
        {starpu_matrix_filter_block_shadow, 2, 0},
        {starpu_matrix_filter_vertical_block_shadow, 2, 1},
        {starpu_block_filter_block_shadow, 3, 0},
        {starpu_block_filter_vertical_block_shadow, 3, 1},
        {starpu_block_filter_depth_block_shadow, 3, 2},
    };

    for (int i = 0; i < 6 * 6 * 6; i++)
        x[i] = i;
    machine_open(_i);
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct starpu_data_filter f = {.filter_func = cases[c].filter,
                                       .nchildren = 2,
                                       .filter_arg_ptr = (void *)1};
        starpu_data_handle_t handle, child;
        unsigned lengths[3];
        int step[] = {1, 6, 36};

        if (cases[c].ndim == 2)
            starpu_matrix_data_register(&handle, 0, (uintptr_t)x, 6, 6, 6, 4);
        else
            starpu_block_data_register(&handle, 0, (uintptr_t)x, 6, 36, 6, 6, 6,
                                       4);
        starpu_data_partition(handle, &f);
        child = starpu_data_get_child(handle, 1);
        lengths[0] = cases[c].ndim == 2 ? starpu_matrix_get_nx(child)
                                        : starpu_block_get_nx(child);
        lengths[1] = cases[c].ndim == 2 ? starpu_matrix_get_ny(child)
                                        : starpu_block_get_ny(child);
        lengths[2] = cases[c].ndim == 2 ? 6 : starpu_block_get_nz(child);
        for (int d = 0; d < 3; d++)
            ck_assert_uint_eq(lengths[d], d == cases[c].along ? 4 : 6);
        ck_assert_int_eq(*(int *)starpu_data_handle_to_pointer(child, 0),
                         2 * step[cases[c].along]);
        starpu_data_unpartition(handle, 0);
        starpu_data_unregister(handle);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(picking_filters_have_children_of_another_kind)
{
    ck_assert_ptr_eq(starpu_vector_filter_pick_variable_child_ops(NULL, 0),
                     &starpu_interface_variable_ops);
    ck_assert_ptr_eq(starpu_matrix_filter_pick_vector_child_ops(NULL, 0),
                     &starpu_interface_vector_ops);
    ck_assert_ptr_eq(starpu_block_filter_pick_matrix_child_ops(NULL, 0),
                     &starpu_interface_matrix_ops);
    ck_assert_int_eq(starpu_interface_void_ops.interfaceid,
                     STARPU_VOID_INTERFACE_ID);
}
END_TEST

/* --- the library --- */

START_TEST(the_library_tells_its_version_and_state)
{
    int major, minor, patch, argc = 1;
    char *name = text, **argv = &name;
    struct starpu_conf conf;

    ck_assert_int_eq(starpu_is_initialized(), 0);
    starpu_get_version(&major, &minor, &patch);
    ck_assert_int_eq(major, STARPU_MAJOR_VERSION);
    ck_assert_int_eq(minor, STARPU_MINOR_VERSION);
    ck_assert_int_eq(patch, STARPU_RELEASE_VERSION);
    machine_choose(_i);
    unsetenv("STARPU_NCPU");
    ck_assert_int_eq(starpu_conf_init(&conf), 0);
    ck_assert_int_eq(starpu_conf_noworker(&conf), 0);
    ck_assert_int_eq(conf.ncpus, 0);
    ck_assert_int_eq(conf.ncuda, 0);
    ck_assert_int_eq(starpu_initialize(&conf, &argc, &argv), -ENODEV);
    conf.ncpus = 1;
    ck_assert_int_eq(starpu_initialize(&conf, &argc, &argv), 0);
    ck_assert_int_eq(starpu_is_initialized(), 1);
    ck_assert_uint_eq(starpu_worker_get_count(), 1);
    ck_assert_int_eq(starpu_is_paused(), 0);
    starpu_pause();
    ck_assert_int_eq(starpu_is_paused(), 1);
    starpu_resume();
    ck_assert_int_eq(starpu_get_prefetch_flag(), 1);
    starpu_shutdown();
    ck_assert_int_eq(starpu_is_initialized(), 0);
}
END_TEST

START_TEST(variables_have_numbers_sizes_and_choices)
{
    const char *choices[] = {"one", "two", NULL};

    setenv("ORRERY_TEST_VALUE", "12k", 1);
    ck_assert_str_eq(starpu_getenv("ORRERY_TEST_VALUE"), "12k");
    ck_assert_int_eq(starpu_get_env_size_default("ORRERY_TEST_VALUE", 3),
                     12 << 10);
    ck_assert_int_eq(starpu_get_env_size_default("ORRERY_TEST_NONE", 3), 3);
    setenv("ORRERY_TEST_VALUE", "TWO", 1);
    ck_assert_int_eq(
        starpu_get_env_string_var_default("ORRERY_TEST_VALUE", choices, 0), 1);
    ck_assert_int_eq(
        starpu_get_env_string_var_default("ORRERY_TEST_NONE", choices, 0), 0);
    setenv("ORRERY_TEST_VALUE", "17", 1);
    ck_assert_int_eq(starpu_get_env_number("ORRERY_TEST_VALUE"), 17);
    ck_assert_int_eq(starpu_get_env_number("ORRERY_TEST_NONE"), -1);
}
END_TEST

/* shows starpu_memory_pin, starpu_memory_unpin */
START_TEST(what_a_driver_has_pinned_is_unpinned_once)
{
    static char memory[100];

    loopback_use("1");
    machine_open(0);
    ck_assert_int_eq(starpu_memory_pin(memory, sizeof(memory)), 0);
    ck_assert_int_eq(starpu_memory_pin(memory, sizeof(memory)), -1);
    ck_assert_int_eq(starpu_memory_unpin(memory, sizeof(memory)), 0);
    ck_assert_int_eq(starpu_memory_unpin(memory, sizeof(memory)), -1);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(queries)
{
    Suite *suite = suite_create("queries");
    TCase *each = tcase_create("on each machine");
    TCase *once = tcase_create("once");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, once);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(workers_are_counted_by_type);
    EACH(workers_are_printed);
    EACH(kernels_learn_where_they_run);
    EACH(memory_nodes_are_found_by_kind);
    EACH(memory_is_reserved_and_given_back);
    EACH(memory_is_allocated_aligned_and_on_nodes);
    EACH(the_one_context_has_all_workers);
    EACH(the_context_has_the_policy_and_its_priorities);
    EACH(priorities_that_the_application_sets_stay);
    EACH(handles_keep_what_is_attached_to_them);
    EACH(hints_are_accepted);
    EACH(order_by_submission_is_a_flag_of_each_handle);
    EACH(copies_are_seen_on_their_nodes);
    EACH(data_are_acquired_without_waiting);
    EACH(several_filters_are_applied_in_turn);
    EACH(shadow_filters_overlap);
    EACH(the_library_tells_its_version_and_state);
    tcase_add_test(once, types_have_names_and_masks);
    tcase_add_test(once, what_a_driver_has_pinned_is_unpinned_once);
    tcase_add_test(once, waiting_for_memory_ends_when_it_is_given_back);
    tcase_add_test(once, picking_filters_have_children_of_another_kind);
    tcase_add_test(once, variables_have_numbers_sizes_and_choices);
    return suite_main(suite);
}

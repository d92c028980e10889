/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-processors.c - processors and threads on them, functions of the application
 * that allocate and that idle workers call, sets and trees, libraries of devices.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <starpu_cublasLt.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>

#include "machines.h"
#include "silence.h"

static void work(void *buffers[], void *arg)
{
    (void)buffers;
    if (arg)
        atomic_fetch_add((atomic_int *)arg, 1);
}

static struct starpu_codelet cl_k = {
    .cpu_funcs = {work}, .cuda_funcs = {work}, .name = "k"};

/* --- libraries of devices --- */

/* Without devices these calls have nothing to do; that they are there, and
 * leave a program alone, is all there is to them. */
START_TEST(libraries_of_devices_that_are_not_there_do_no_harm)
{
    machine_open(_i);
    starpu_cublas_init();
    starpu_cublas_set_stream();
    starpu_cublasLt_init();
    starpu_cusparse_init();
    starpu_cusolver_init();
    starpu_hipblas_init();
    starpu_hipblas_shutdown();
    starpu_cusolver_shutdown();
    starpu_cusparse_shutdown();
    starpu_cublasLt_shutdown();
    starpu_cublas_shutdown();
    ck_assert_int_eq(starpu_task_nsubmitted(), 0);
    starpu_shutdown();
}
END_TEST

/* --- processors --- */

START_TEST(processors_have_positions_and_the_systems_numbers)
{
    int n = 0, *list;
    unsigned active, passive;
    struct starpu_tree *tree;

    machine_open(_i);
    while (starpu_cpu_os_index(n) >= 0) {
        ck_assert_int_eq(starpu_get_pu_os_index((unsigned)n),
                         starpu_cpu_os_index(n));
        n++;
    }
    ck_assert_int_gt(n, 0);
    ck_assert_int_eq(starpu_cpu_os_index(-1), -1);
    tree = starpu_workers_get_tree();
    ck_assert_ptr_nonnull(starpu_tree_get(tree, n - 1));
    ck_assert_ptr_null(starpu_tree_get(tree, n));
    for (int w = 0; w < (int)starpu_worker_get_count(); w++) {
        int position = starpu_worker_get_bindid(w), found = 0;

        ck_assert_int_lt(position, n);
        ck_assert(!machine_simulated(_i) || position >= 0);
        if (position < 0)
            continue;
        for (int i = starpu_bindid_get_workerids(position, &list); i > 0; i--)
            found |= list[i - 1] == w;
        ck_assert_int_eq(found, 1);
        /* Each worker of the simulated machine has one of its own. */
        for (int v = 0; machine_simulated(_i) && v < w; v++)
            ck_assert_int_ne(starpu_worker_get_bindid(v), position);
    }
    if (machine_simulated(_i)) /* 4, of which 3 are the GPUs' */
        ck_assert_int_eq(n, 4);
    ck_assert_int_eq(starpu_bindid_get_workerids(-1, &list), 0);
    ck_assert_ptr_null(list);
    active = starpu_get_next_bindid(STARPU_THREAD_ACTIVE, NULL, 0);
    passive = starpu_get_next_bindid(0, NULL, 0);
    ck_assert_uint_lt(active, (unsigned)n);
    ck_assert_uint_eq(starpu_get_next_bindid(0, NULL, 0), passive);
    starpu_shutdown();
}
END_TEST

START_TEST(threads_of_the_application_are_bound)
{
    cpu_set_t mine, before;

    machine_choose(_i);
    setenv("STARPU_NCPU", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    sched_getaffinity(0, sizeof(before), &before);
    silence_begin();
    ck_assert_int_eq(starpu_bind_thread_on(-1, 0, "any"), 0);
    (void)starpu_bind_thread_on(0, STARPU_THREAD_ACTIVE, "mine");
    ck_assert_int_eq(starpu_bind_thread_on(1 << 20, 0, "nowhere"),
                     machine_simulated(_i) ? 0 : -1);
    ck_assert_int_eq(starpu_bind_thread_on(0, STARPU_THREAD_ACTIVE, "other"),
                     machine_simulated(_i) ? 0 : -1);
    (void)silence_end();
    sched_getaffinity(0, sizeof(mine), &mine);
    if (machine_simulated(_i)) {
        ck_assert(CPU_EQUAL(&mine, &before));
        starpu_shutdown();
        return;
    }
    ck_assert_int_eq(CPU_COUNT(&mine), 1);
    ck_assert(CPU_ISSET(starpu_cpu_os_index(0), &mine));
    sched_setaffinity(0, sizeof(before), &before);
    starpu_bind_thread_on_cpu(0);
    sched_getaffinity(0, sizeof(mine), &mine);
    ck_assert_int_eq(CPU_COUNT(&mine), 1);
    sched_setaffinity(0, sizeof(before), &before);
    starpu_bind_thread_on_worker(0);
    starpu_bind_thread_on_main(); /* main has no processor of its own */
    sched_getaffinity(0, sizeof(mine), &mine);
    if (starpu_worker_get_bindid(0) >= 0) {
        ck_assert_int_eq(CPU_COUNT(&mine), 1);
        ck_assert(
            CPU_ISSET(starpu_cpu_os_index(starpu_worker_get_bindid(0)), &mine));
    }
    starpu_shutdown();
}
END_TEST

START_TEST(written_memory_is_on_a_node)
{
    size_t size = 8 << 20;
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long nodes;

    ck_assert_ptr_ne(pages, MAP_FAILED);
    machine_open(_i);
    ck_assert_int_eq(starpu_get_memory_location_bitmap(NULL, 4), -1);
    ck_assert_int_eq(starpu_get_memory_location_bitmap(pages, 0), -1);
    ck_assert_int_eq(starpu_get_memory_location_bitmap(pages, size), -1);
    memset(pages, 1, size);
    nodes = starpu_get_memory_location_bitmap(pages, size);
#ifdef STARPU_HAVE_HWLOC
    if (starpu_worker_get_hwloc_obj(0))
        ck_assert_int_gt(nodes, 0);
#endif
    ck_assert(nodes == -1 || nodes > 0);
    munmap(pages, size);
    starpu_shutdown();
}
END_TEST

#ifdef STARPU_HAVE_HWLOC
/* By hwloc, which the library has opened: the test is not linked with it. */
static void free_set(hwloc_cpuset_t set)
{
    void *function = dlsym(RTLD_DEFAULT, "hwloc_bitmap_free");

    ck_assert_ptr_nonnull(function);
    ((void (*)(hwloc_cpuset_t))(uintptr_t)function)(set);
}

/* shows starpu_get_hwloc_topology */
START_TEST(hwlocs_objects_of_workers_are_those_of_its_topology)
{
    machine_open(_i);
    if (!starpu_worker_get_hwloc_obj(0)) {
        starpu_shutdown();
        SKIP_TEST("the library was built without hwloc");
    }
    ck_assert_ptr_nonnull(starpu_get_hwloc_topology());
    ck_assert_ptr_eq(starpu_get_hwloc_topology(), starpu_get_hwloc_topology());
    for (int w = 0; w < (int)starpu_worker_get_count(); w++) {
        hwloc_cpuset_t set = starpu_worker_get_hwloc_cpuset(w);
        hwloc_cpuset_t other = starpu_worker_get_hwloc_cpuset(w);
        hwloc_obj_t object = starpu_worker_get_hwloc_obj(w);

        ck_assert_ptr_nonnull(object);
        ck_assert_ptr_nonnull(set);
        /* hwloc_bitmap_isequal and so on would need its library here. */
        ck_assert_ptr_ne(set, other);
        free_set(other);
        free_set(set);
        if (starpu_worker_get_bindid(w) >= 0)
            ck_assert_uint_eq(
                object->os_index,
                (unsigned)starpu_cpu_os_index(starpu_worker_get_bindid(w)));
    }
    starpu_shutdown();
}
END_TEST
#endif

/* --- functions that allocate --- */

static atomic_int allocated, freed;

static int my_malloc(unsigned node, void **A, size_t dim, int flags)
{
    ck_assert_uint_eq(node, STARPU_MAIN_RAM);
    ck_assert(flags & STARPU_MALLOC_PINNED);
    *A = malloc(dim);
    atomic_fetch_add(&allocated, 1);
    return 0;
}

static int my_free(unsigned node, void *A, size_t dim, int flags)
{
    ck_assert_uint_eq(node, STARPU_MAIN_RAM);
    (void)dim;
    (void)flags;
    free(A);
    atomic_fetch_add(&freed, 1);
    return 0;
}

START_TEST(main_memory_comes_from_the_applications_functions)
{
    starpu_data_handle_t handle;
    void *memory = NULL;
    size_t used;

    starpu_malloc_set_hooks(my_malloc, my_free);
    machine_open(_i);
    ck_assert_int_eq(starpu_malloc(&memory, 100), 0);
    ck_assert_int_eq(allocated, 1);
    used = starpu_memory_get_used(STARPU_MAIN_RAM);
    starpu_vector_data_register(&handle, -1, 0, 100, 4);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_W), 0);
    ck_assert_int_eq(allocated, 2);
    ck_assert_uint_eq(starpu_memory_get_used(STARPU_MAIN_RAM), used + 400);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    ck_assert_int_eq(starpu_free_noflag(memory, 100), 0);
    starpu_shutdown();
    ck_assert_int_eq(freed, allocated);
    starpu_malloc_set_hooks(NULL, NULL);
    ck_assert_int_eq(starpu_malloc(&memory, 100), 0);
    ck_assert_int_eq(starpu_free_noflag(memory, 100), 0);
    ck_assert_int_eq(freed, 2);
}
END_TEST

/* --- functions that idle workers call --- */

static atomic_int progressed, idled;

static unsigned progress(void *arg)
{
    return atomic_fetch_add((atomic_int *)arg, 1) >= 10;
}

static unsigned idle(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
    return 0;
}

START_TEST(idle_workers_call_functions_again_and_again)
{
    int hook, other, seen;

    machine_open(_i);
    hook = starpu_progression_hook_register(progress, &progressed);
    ck_assert_int_ge(hook, 0);
    while (atomic_load(&progressed) < 11)
        starpu_usleep(50);
    starpu_progression_hook_deregister(hook);
    other = starpu_idle_hook_register(idle, &idled);
    while (atomic_load(&idled) < 5)
        starpu_usleep(50);
    starpu_idle_hook_deregister(other);
    starpu_task_insert(&cl_k, 0);
    starpu_task_wait_for_all();
    starpu_usleep(1000);
    seen = idled;
    starpu_wake_all_blocked_workers();
    starpu_usleep(1000);
    ck_assert_int_eq(idled, seen);
    silence_begin();
    for (int i = 0; i < 16; i++)
        ck_assert_int_ge(starpu_idle_hook_register(idle, &idled), 0);
    ck_assert_int_eq(starpu_idle_hook_register(idle, &idled), -1);
    starpu_progression_hook_deregister(3);
    ck_assert_ptr_nonnull(strstr(silence_end(), "registered as 3"));
    for (int i = 0; i < 16; i++)
        starpu_idle_hook_deregister(i);
    starpu_shutdown();
}
END_TEST

static atomic_int nlate;

/* Long enough for the other side to go on meanwhile. */
static unsigned look_twice(void *arg)
{
    atomic_int *lives = arg;

    if (atomic_load(lives))
        for (int i = 0; i < 2000 && atomic_load(lives); i++) {
        }
    if (!atomic_load(lives))
        atomic_fetch_add(&nlate, 1);
    return 0;
}

/* Its argument may be freed then. */
START_TEST(a_function_that_was_taken_out_is_called_no_more)
{
    atomic_int lives;

    machine_open(_i);
    nlate = 0;
    for (int i = 0; i < 2000; i++) {
        int hook;

        atomic_store(&lives, 1);
        hook = starpu_progression_hook_register(look_twice, &lives);
        if (i % 16 == 0)
            starpu_usleep(50); /* somebody may begin to call it */
        starpu_progression_hook_deregister(hook);
        atomic_store(&lives, 0);
    }
    ck_assert_int_eq(nlate, 0);
    starpu_shutdown();
}
END_TEST

static atomic_int own_hook, nself;

static unsigned leave_itself(void *arg)
{
    int hook = atomic_exchange(&own_hook, -1);

    (void)arg;
    if (hook < 0)
        return 0;
    starpu_progression_hook_deregister(hook);
    atomic_store(&nself, 1);
    return 1;
}

START_TEST(a_function_may_take_itself_out)
{
    machine_open(_i);
    nself = 0;
    own_hook = -1;
    own_hook = starpu_progression_hook_register(leave_itself, NULL);
    while (!atomic_load(&nself))
        starpu_usleep(50);
    starpu_shutdown();
}
END_TEST

/* A sleeping worker calls what was registered meanwhile once it is awake. */
START_TEST(waking_workers_makes_them_look_again)
{
    machine_open(_i);
    starpu_usleep(1000);
    (void)starpu_progression_hook_register(progress, &progressed);
    while (atomic_load(&progressed) < 11)
        starpu_usleep(50);
    starpu_usleep(1000); /* now it lets them sleep */
    progressed = 100;
    starpu_wake_all_blocked_workers();
    while (atomic_load(&progressed) == 100)
        starpu_usleep(50);
    starpu_shutdown();
}
END_TEST

/* --- functions that give the worker that calls them something to do --- */

static atomic_int asked_for, nsubmitted_late, nran_late;

static void count_late(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    nran_late++;
}

static struct starpu_codelet cl_late = {
    .cpu_funcs = {count_late},
    .name = "k",
};

/* A task for the only worker, if one was asked for: once through the policy, once
 * past it. */
static unsigned submit_one(void *arg)
{
    int how = atomic_exchange(&asked_for, 0), failed;
    struct starpu_task *task;

    (void)arg;
    if (how == 0)
        return 1;
    task = starpu_task_create();
    task->cl = &cl_late;
    task->workerid = (unsigned)starpu_worker_get_id();
    task->execute_on_a_specific_worker = how == 2;
    failed = starpu_task_submit(task);
    atomic_store(&nsubmitted_late, failed ? 0 : 1);
    return 1;
}

/* Nobody but the worker itself would wake it, and it is about to sleep. */
START_TEST(a_function_may_submit_what_its_worker_does_next)
{
    int hook;

    setenv("TEST_NCPU", "1", 1);
    setenv("STARPU_NCUDA", "0", 1);
    machine_open(_i);
    for (int kind = 0; kind < 2; kind++) {
        hook = kind ? starpu_idle_hook_register(submit_one, NULL)
                    : starpu_progression_hook_register(submit_one, NULL);
        for (int how = 1; how <= 2; how++) {
            nsubmitted_late = nran_late = 0;
            atomic_store(&asked_for, how);
            starpu_wake_all_blocked_workers();
            while (!atomic_load(&nsubmitted_late))
                starpu_usleep(50);
            starpu_task_wait_for_all();
            ck_assert_int_eq(nran_late, 1);
        }
        if (kind)
            starpu_idle_hook_deregister(hook);
        else
            starpu_progression_hook_deregister(hook);
    }
    starpu_shutdown();
}
END_TEST

/* --- the library --- */

START_TEST(copies_wait_on_request_only)
{
    static const struct {
        const char *variable;
        enum starpu_node_kind kind;
        int (*is_set)(void);
        size_t field;
    } flags[] = {
#define FLAG(KIND, kind)                                                       \
    {"STARPU_DISABLE_ASYNCHRONOUS_" #KIND "_COPY", STARPU_##KIND##_RAM,        \
     starpu_asynchronous_##kind##_copy_disabled,                               \
     offsetof(struct starpu_conf, disable_asynchronous_##kind##_copy)}
        FLAG(CUDA, cuda),     FLAG(HIP, hip),
        FLAG(OPENCL, opencl), FLAG(MAX_FPGA, max_fpga),
        FLAG(MPI_MS, mpi_ms), FLAG(TCPIP_MS, tcpip_ms),
#undef FLAG
    };
    enum { N = sizeof(flags) / sizeof(flags[0]) };
    struct starpu_conf conf;

    /* Each by its variable, then by its field. */
    for (int i = 0; i < 2 * N; i++) {
        const char *variable = flags[i % N].variable;
        int one = 1;

        machine_choose(_i);
        if (i < N)
            setenv(variable, "1", 1);
        starpu_conf_init(&conf);
        memcpy(&one, (char *)&conf + flags[i % N].field, sizeof(one));
        ck_assert_int_eq(one, i < N);
        one = 1;
        if (i >= N)
            memcpy((char *)&conf + flags[i % N].field, &one, sizeof(one));
        ck_assert_int_eq(starpu_init(&conf), 0);
        for (int k = 0; k < N; k++) {
            ck_assert_int_eq(flags[k].is_set(), k == i % N);
            ck_assert_int_eq(
                starpu_asynchronous_copy_disabled_for(flags[k].kind),
                k == i % N);
        }
        ck_assert_int_eq(starpu_asynchronous_copy_disabled(), 0);
        ck_assert_int_eq(starpu_asynchronous_copy_disabled_for(STARPU_CPU_RAM),
                         0);
        starpu_shutdown();
        unsetenv(variable);
    }
}
END_TEST

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet quick = {
    .cpu_funcs = {nothing},
    .cuda_funcs = {nothing},
    .name = "k",
};

/* Virtual µs until a task has ended on a GPU that was given data to bring. */
static double time_beside_copy(void)
{
    enum { MIB = 1 << 20 };
    static char data[32 * MIB];
    struct starpu_task *task = starpu_task_create();
    int worker = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
    unsigned node = starpu_worker_get_memory_node((unsigned)worker);
    starpu_data_handle_t handle;
    double began = starpu_timing_now(), ended;

    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)data,
                                sizeof(data), 1);
    starpu_data_prefetch_on_node(handle, node, 1);
    starpu_usleep(100);
    task->cl = &quick;
    task->execute_on_a_specific_worker = 1;
    task->workerid = (unsigned)worker;
    task->synchronous = 1;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ended = starpu_timing_now();
    starpu_data_unregister(handle);
    return ended - began;
}

START_TEST(who_starts_a_copy_waits_for_it_on_request)
{
    double apart, together;

    machine_open(_i);
    apart = time_beside_copy();
    starpu_shutdown();
    setenv("STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY", "1", 1);
    machine_open(_i);
    together = time_beside_copy();
    starpu_shutdown();
    /* 32 MiB take some milliseconds. */
    ck_assert_double_lt(apart, 1000);
    ck_assert_double_gt(together, 2000);
}
END_TEST

START_TEST(copies_never_block_and_nothing_is_mapped)
{
    int workers[STARPU_NMAXWORKERS];

    machine_open(_i);
    starpu_wait_initialized();
    ck_assert_int_eq(starpu_asynchronous_copy_disabled(), 0);
    ck_assert_int_eq(starpu_asynchronous_cuda_copy_disabled(), 0);
    ck_assert_int_eq(starpu_asynchronous_hip_copy_disabled(), 0);
    ck_assert_int_eq(starpu_asynchronous_opencl_copy_disabled(), 0);
    ck_assert_int_eq(starpu_asynchronous_max_fpga_copy_disabled(), 0);
    ck_assert_int_eq(starpu_asynchronous_mpi_ms_copy_disabled(), 0);
    ck_assert_int_eq(starpu_asynchronous_tcpip_ms_copy_disabled(), 0);
    ck_assert_int_eq(starpu_asynchronous_copy_disabled_for(STARPU_CUDA_RAM), 0);
    ck_assert_int_eq(starpu_map_enabled(), 0);
    for (unsigned d = 0; d < starpu_cuda_worker_get_count(); d++) {
        ck_assert_int_eq(
            starpu_worker_get_stream_workerids(d, workers, STARPU_CUDA_WORKER),
            1);
        ck_assert_int_eq(starpu_worker_get_devid(workers[0]), (int)d);
    }
    starpu_shutdown();
}
END_TEST

static void *start_as_well(void *arg)
{
    *(int *)arg = starpu_init(NULL);
    *(int *)arg += starpu_worker_get_count() == 0;
    return NULL;
}

START_TEST(who_starts_second_waits_until_it_is_started)
{
    pthread_t threads[4];
    int rc[4];

    machine_choose(0);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, start_as_well, &rc[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(rc[i], 0);
    }
}
END_TEST

/* --- sets and trees --- */

START_TEST(bitmaps_are_sets)
{
    struct starpu_bitmap a, *b = starpu_bitmap_create(), c;

    starpu_bitmap_init(&a);
    starpu_bitmap_init(&c);
    ck_assert_int_eq(starpu_bitmap_first(&a), -1);
    ck_assert_int_eq(starpu_bitmap_last(&a), -1);
    ck_assert_int_eq(starpu_bitmap_has_next(&a, -1), 0);
    starpu_bitmap_set(&a, 3);
    starpu_bitmap_set(&a, 3);
    starpu_bitmap_set(&a, 64);
    starpu_bitmap_set(&a, STARPU_NMAXWORKERS - 1);
    ck_assert_int_eq(starpu_bitmap_cardinal(&a), 3);
    ck_assert_int_eq(starpu_bitmap_get(&a, 64), 1);
    ck_assert_int_eq(starpu_bitmap_get(&a, 63), 0);
    ck_assert_int_eq(starpu_bitmap_first(&a), 3);
    ck_assert_int_eq(starpu_bitmap_next(&a, 3), 64);
    ck_assert_int_eq(starpu_bitmap_next(&a, 64), STARPU_NMAXWORKERS - 1);
    ck_assert_int_eq(starpu_bitmap_has_next(&a, STARPU_NMAXWORKERS - 1), 0);
    ck_assert_int_eq(starpu_bitmap_last(&a), STARPU_NMAXWORKERS);
    starpu_bitmap_set(b, 64);
    starpu_bitmap_set(b, 5);
    ck_assert_int_eq(starpu_bitmap_and_get(&a, b, 64), 1);
    ck_assert_int_eq(starpu_bitmap_and_get(&a, b, 5), 0);
    starpu_bitmap_unset_and(&c, &a, b);
    ck_assert_int_eq(starpu_bitmap_cardinal(&c), 1);
    ck_assert_int_eq(starpu_bitmap_first(&c), 64);
    starpu_bitmap_or(b, &a);
    ck_assert_int_eq(starpu_bitmap_cardinal(b), 4);
    starpu_bitmap_unset(b, 5);
    starpu_bitmap_unset(b, 5);
    ck_assert_int_eq(starpu_bitmap_cardinal(b), 3);
    starpu_bitmap_unset_all(b);
    ck_assert_int_eq(starpu_bitmap_cardinal(b), 0);
    ck_assert_int_eq(starpu_bitmap_first(b), -1);
    starpu_bitmap_destroy(b);
}
END_TEST

START_TEST(trees_find_the_nearest_leaf_with_a_worker)
{
    struct starpu_tree root;
    char visited[STARPU_NMAXWORKERS], present[STARPU_NMAXWORKERS];
    struct starpu_tree *leaf;
    int position;

    machine_open(0);
    position = starpu_worker_get_bindid(1);
    if (position < 0 || position == starpu_worker_get_bindid(0)) {
        starpu_shutdown();
        SKIP_TEST("needs two processors to bind to");
    }
    memset(visited, 0, sizeof(visited));
    memset(present, 1, sizeof(present));
    starpu_tree_insert(&root, 7, 0, 0, 0, NULL);
    starpu_tree_prepare_children(2, &root);
    for (int i = 0; i < 2; i++) {
        starpu_tree_insert(&root.nodes[i], i, 1, 0, 0, &root);
        starpu_tree_prepare_children(2, &root.nodes[i]);
        starpu_tree_insert(&root.nodes[i].nodes[0], starpu_worker_get_bindid(i),
                           2, 1, 0, &root.nodes[i]);
        starpu_tree_insert(&root.nodes[i].nodes[1], 1000 + i, 2, 1, 0,
                           &root.nodes[i]);
    }
    leaf = &root.nodes[0].nodes[1];
    ck_assert_ptr_eq(starpu_tree_get(&root, 1000), leaf);
    ck_assert_ptr_null(starpu_tree_get(&root, 999));
    ck_assert_ptr_eq(starpu_tree_get_neighbour(&root, leaf, visited, present),
                     &root.nodes[0].nodes[0]);
    visited[0] = 1;
    ck_assert_ptr_eq(starpu_tree_get_neighbour(&root, leaf, visited, present),
                     &root.nodes[1].nodes[0]);
    present[1] = 0;
    ck_assert_ptr_null(
        starpu_tree_get_neighbour(&root, leaf, visited, present));
    starpu_tree_reset_visited(&root.nodes[1], visited);
    ck_assert_int_eq(visited[0], 1);
    starpu_tree_reset_visited(&root, visited);
    ck_assert_int_eq(visited[0], 0);
    starpu_tree_free(&root);
    ck_assert_int_eq(root.arity, 0);
    ck_assert_ptr_null(root.nodes);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(processors)
{
    Suite *suite = suite_create("processors");
    TCase *each = tcase_create("on each machine");
    TCase *once = tcase_create("once");

    tcase_set_timeout(each, 60);
    tcase_set_timeout(once, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, once);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(libraries_of_devices_that_are_not_there_do_no_harm);
    EACH(processors_have_positions_and_the_systems_numbers);
    EACH(threads_of_the_application_are_bound);
    EACH(written_memory_is_on_a_node);
#ifdef STARPU_HAVE_HWLOC
    EACH(hwlocs_objects_of_workers_are_those_of_its_topology);
#endif
    EACH(main_memory_comes_from_the_applications_functions);
    EACH(idle_workers_call_functions_again_and_again);
    EACH(a_function_that_was_taken_out_is_called_no_more);
    EACH(a_function_may_take_itself_out);
    EACH(waking_workers_makes_them_look_again);
    EACH(a_function_may_submit_what_its_worker_does_next);
    EACH(copies_never_block_and_nothing_is_mapped);
    EACH(copies_wait_on_request_only);
    tcase_add_loop_test(each, who_starts_a_copy_waits_for_it_on_request,
                        FIRST_SIMULATED, NMACHINES);
    tcase_add_test(once, who_starts_second_waits_until_it_is_started);
    tcase_add_test(once, bitmaps_are_sets);
    tcase_add_test(once, trees_find_the_nearest_leaf_with_a_worker);
    return suite_main(suite);
}

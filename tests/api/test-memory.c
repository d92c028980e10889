/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-memory.c - main memory that is full: tasks wait until some is
 * freed, by whomever, and the program ends only when nobody is left who could.
 * The limit is 10 MiB, temporaries are 6 MiB unless said otherwise.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machines.h"

enum { MIB = 1 << 20, LARGE = 6 * MIB, N = 30 };

static int nread; /* tasks that read, one after the other */

static void write_one(void *buffers[], void *arg)
{
    char *v = (char *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    v[0] = 7;
    v[STARPU_VECTOR_GET_NX(buffers[0]) - 1] = 8;
}

static void read_one(void *buffers[], void *arg)
{
    const char *v = (const char *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    if (v[0] == 7 && v[STARPU_VECTOR_GET_NX(buffers[0]) - 1] == 8)
        __atomic_fetch_add(&nread, 1, __ATOMIC_SEQ_CST);
}

static void do_nothing(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static struct starpu_codelet cl_write = {
    .cpu_funcs = {write_one}, .nbuffers = 1, .modes = {STARPU_W}, .name = "k"};
static struct starpu_codelet cl_read = {
    .cpu_funcs = {read_one}, .nbuffers = 1, .modes = {STARPU_R}, .name = "k"};
static struct starpu_codelet cl_convert = {.cpu_funcs = {do_nothing},
                                           .nbuffers = 2,
                                           .modes = {STARPU_R, STARPU_W},
                                           .name = "k"};
static struct starpu_codelet cl_both = {.cpu_funcs = {do_nothing},
                                        .nbuffers = 2,
                                        .modes = {STARPU_W, STARPU_W},
                                        .name = "k"};

/* Main memory has 10 MiB; no GPU. */
static void open_small(int machine)
{
    setenv("STARPU_LIMIT_CPU_MEM", "10", 1);
    setenv("STARPU_NCUDA", "0", 1);
    setenv("STARPU_NOPENCL", "0", 1);
    machine_open(machine);
}

static starpu_data_handle_t temporary(uint32_t size)
{
    starpu_data_handle_t handle;

    starpu_vector_data_register(&handle, -1, 0, size, 1);
    return handle;
}

static void submit(struct starpu_codelet *cl, starpu_data_handle_t handle)
{
    ck_assert_int_eq(starpu_task_insert(cl, cl->modes[0], handle, 0), 0);
}

/* Both workers may have taken a writer when the first temporary is there: the
 * reader after which it ends is behind all of them. */
START_TEST(temporaries_wait_for_each_other)
{
    starpu_data_handle_t handle[N];

    open_small(_i);
    for (int i = 0; i < N; i++) {
        handle[i] = temporary(LARGE);
        submit(&cl_write, handle[i]);
    }
    for (int i = 0; i < N; i++) {
        submit(&cl_read, handle[i]);
        starpu_data_unregister_submit(handle[i]);
    }
    starpu_task_wait_for_all();
    ck_assert_int_eq(nread, N);
    starpu_shutdown();
}
END_TEST

static double pinning_us(void)
{
    double start;
    void *address;

    machine_open(FIRST_SIMULATED);
    start = starpu_timing_now();
    ck_assert_int_eq(starpu_malloc(&address, 10 * MIB), 0);
    start = starpu_timing_now() - start;
    starpu_free_noflag(address, 10 * MIB);
    starpu_shutdown();
    return start;
}

START_TEST(pinning_takes_time_unless_it_is_disabled)
{
    setenv("STARPU_DISABLE_PINNING", "0", 1);
    ck_assert_double_ge(pinning_us(), 6500);
    setenv("STARPU_DISABLE_PINNING", "1", 1);
    ck_assert_double_lt(pinning_us(), 100);
}
END_TEST

static void begin_sum(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VECTOR_GET_PTR(buffers[0]) = 0;
}

static void add_sum(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VECTOR_GET_PTR(buffers[0]) +=
        *(int *)STARPU_VECTOR_GET_PTR(buffers[1]);
}

static void count_up(void *buffers[], void *arg)
{
    (void)arg;
    ++*(int *)STARPU_VECTOR_GET_PTR(buffers[0]);
}

static struct starpu_codelet cl_begin = {.cpu_funcs = {begin_sum},
                                         .nbuffers = 1,
                                         .modes = {STARPU_W},
                                         .name = "k"};
static struct starpu_codelet cl_sum = {
    .cpu_funcs = {add_sum},
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
    .name = "k"};
static struct starpu_codelet cl_count = {.cpu_funcs = {count_up},
                                         .nbuffers = 1,
                                         .modes = {STARPU_REDUX},
                                         .name = "k"};

/* Each worker has a part of the sum, which leave no room for a temporary until
 * they are added up; then tasks go on to contribute. Real workers do so often: some of
 * them find all others asleep, and memory that was not there when they were tried. */
START_TEST(parts_of_a_sum_are_added_up_when_memory_is_full)
{
    static int sum[3 * MIB / sizeof(int)];
    const int nrounds = machine_simulated(_i) ? 4 : 1000;
    starpu_data_handle_t handle, other;

    open_small(_i);
    sum[0] = 100;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)sum,
                                sizeof(sum) / sizeof(*sum), sizeof(*sum));
    starpu_data_set_reduction_methods(handle, &cl_sum, &cl_begin);
    for (int round = 0; round < nrounds; round++) {
        for (int worker = 0; worker < 2; worker++)
            starpu_task_insert(&cl_count, STARPU_REDUX, handle,
                               STARPU_EXECUTE_ON_WORKER, worker, 0);
        starpu_task_wait_for_all();
        other = temporary(LARGE);
        submit(&cl_write, other);
        submit(&cl_read, other);
        starpu_data_unregister_submit(other);
        starpu_task_wait_for_all();
    }
    starpu_data_unregister(handle);
    ck_assert_int_eq(nread, nrounds);
    ck_assert_int_eq(sum[0], 100 + 2 * nrounds);
    starpu_shutdown();
}
END_TEST

/* A value is freed after a task that needs some memory, too, less than the
 * writers that wait. */
START_TEST(what_fits_passes_what_does_not)
{
    starpu_data_handle_t large[N], small[N];

    open_small(_i);
    for (int i = 0; i < N; i++) {
        large[i] = temporary(LARGE);
        small[i] = temporary(MIB / 16);
        submit(&cl_write, large[i]);
    }
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(starpu_task_insert(&cl_convert, STARPU_R, large[i],
                                            STARPU_W, small[i], 0),
                         0);
        starpu_data_unregister_submit(large[i]);
    }
    for (int i = 0; i < N; i++)
        starpu_data_unregister(small[i]);
    starpu_shutdown();
}
END_TEST

/* Two data of each task are 60 per cent of the memory. */
START_TEST(tasks_that_fit_alone_run_alone)
{
    open_small(_i);
    for (int i = 0; i < N; i++) {
        starpu_data_handle_t a = temporary(3 * MIB), b = temporary(3 * MIB);

        ck_assert_int_eq(
            starpu_task_insert(&cl_both, STARPU_W, a, STARPU_W, b, 0), 0);
        starpu_data_unregister_submit(a);
        starpu_data_unregister_submit(b);
    }
    starpu_task_wait_for_all();
    ck_assert_uint_eq(starpu_memory_get_used(STARPU_MAIN_RAM), 0);
    starpu_shutdown();
}
END_TEST

/* Who frees: the end of a datum, memory that was counted, or memory of the
 * node. */
START_TEST(the_application_frees)
{
    enum { WAYS = 3 };
    starpu_data_handle_t first, second;
    uintptr_t memory = 0;
    void *counted = NULL;
    int way = _i % WAYS;

    open_small(_i / WAYS);
    first = temporary(LARGE);
    second = temporary(LARGE);
    if (way == 0)
        submit(&cl_write, first);
    else if (way == 1)
        ck_assert_int_eq(
            starpu_malloc_flags(&counted, LARGE, STARPU_MALLOC_COUNT), 0);
    else
        memory = starpu_malloc_on_node(STARPU_MAIN_RAM, LARGE);
    starpu_task_wait_for_all();
    submit(&cl_write, second);
    submit(&cl_read, second);
    starpu_sleep(0.002f); /* it may be taken, or not */
    if (way == 0)
        starpu_data_unregister(first);
    else if (way == 1)
        starpu_free_flags(counted, LARGE, STARPU_MALLOC_COUNT);
    else
        starpu_free_on_node(STARPU_MAIN_RAM, memory, LARGE);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nread, 1);
    if (way != 0)
        starpu_data_unregister(first);
    starpu_data_unregister(second);
    starpu_shutdown();
}
END_TEST

/* -- nobody is left who could free -- */

static void fill_for_ever(int machine)
{
    starpu_data_handle_t first, second;

    open_small(machine);
    first = temporary(LARGE);
    second = temporary(LARGE);
    starpu_data_set_name(first, "either");
    starpu_data_set_name(second, "either");
    submit(&cl_write, first);
    submit(&cl_write, second);
    starpu_task_wait_for_all();
}

static void acquire_for_ever(int machine)
{
    starpu_data_handle_t first, second;

    open_small(machine);
    first = temporary(LARGE);
    second = temporary(LARGE);
    starpu_data_set_name(first, "first");
    starpu_data_acquire(first, STARPU_W);
    starpu_data_acquire(second, STARPU_W);
}

static void partition_for_ever(int machine)
{
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t first, second;

    open_small(machine);
    first = temporary(LARGE);
    second = temporary(LARGE);
    starpu_data_set_name(first, "first");
    submit(&cl_write, first);
    starpu_data_partition(first, &halves);
    starpu_data_acquire(second, STARPU_W);
}

/* The whole's memory has left for another one, which does not go away. */
static void switch_for_ever(int machine)
{
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t whole, other, parts[2];

    open_small(machine);
    whole = temporary(LARGE);
    other = temporary(LARGE);
    starpu_data_set_name(whole, "whole");
    starpu_data_partition_plan(whole, &halves, parts);
    starpu_data_acquire(other, STARPU_W);
    submit(&cl_write, parts[0]);
    starpu_task_wait_for_all();
}

/* What the child prints, and its exit status. */
static int run_child(void (*body)(int), int machine, char *text, size_t size)
{
    FILE *file = tmpfile();
    size_t n;
    pid_t child;
    int status;

    ck_assert_ptr_nonnull(file);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        dup2(fileno(file), STDERR_FILENO);
        body(machine);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    rewind(file);
    n = fread(text, 1, size - 1, file);
    text[n] = '\0';
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_says(const char *text, const char *what)
{
    ck_assert_msg(strstr(text, what) != NULL, "no `%s' in:\n%s", what, text);
}

/* The sanitizer's own thread could be one of the application for all that the
 * library knows. */
static bool has_foreign_threads(int machine)
{
#ifdef __SANITIZE_THREAD__
    return !machine_simulated(machine);
#else
    (void)machine;
    return false;
#endif
}

START_TEST(who_holds_full_memory_is_named)
{
    char text[4000];
    int status;

    if (has_foreign_threads(_i))
        return;
    status = run_child(fill_for_ever, _i, text, sizeof(text));
    ck_assert_int_eq(status, machine_simulated(_i) ? 3 : 1);
    check_says(text, "memory node 0");
    check_says(text, "limit 10485760 bytes");
    check_says(text, "task `k' (number ");
    check_says(text, ") waits for 6291456 bytes");
    check_says(text, "data `either': 6291456 bytes, the only copy");
    check_says(text, "STARPU_LIMIT_CPU_MEM");
}
END_TEST

START_TEST(an_acquisition_is_named_as_the_holder)
{
    char text[4000];
    int status;

    if (has_foreign_threads(_i))
        return;
    status = run_child(acquire_for_ever, _i, text, sizeof(text));
    ck_assert_int_eq(status, machine_simulated(_i) ? 3 : 1);
    check_says(text, "the acquisition of data number 2 waits for 6291456");
    check_says(text, "data `first': 6291456 bytes, acquired");
}
END_TEST

START_TEST(a_switch_of_planned_data_is_named_as_who_waits)
{
    char text[4000];
    int status;

    if (has_foreign_threads(_i))
        return;
    status = run_child(switch_for_ever, _i, text, sizeof(text));
    ck_assert_int_eq(status, machine_simulated(_i) ? 3 : 1);
    check_says(text, "the switch between data `whole' and its planned parts "
                     "waits for 6291456");
    ck_assert_msg(!strstr(text, "acquisition"), "something else:\n%s", text);
}
END_TEST

/* Writes the usual description to `to`, whose devices are OpenCL's. */
static void make_opencl(char *to)
{
    FILE *in = fopen(TEST_MACHINE, "r"), *out;
    char line[512];
    int fd = mkstemps(to, 4);

    ck_assert_int_ge(fd, 0);
    out = fdopen(fd, "w");
    while (fgets(line, sizeof(line), in)) {
        const char *from = line, *at;

        for (; (at = strstr(from, "CUDA")); from = at + 4)
            fprintf(out, "%.*sOpenCL", (int)(at - from), from);
        fputs(from, out);
    }
    fclose(in);
    ck_assert_int_eq(fclose(out), 0);
}

static void submit_too_much(int machine)
{
    static struct starpu_codelet cl = {.opencl_funcs = {do_nothing},
                                       .nbuffers = 1,
                                       .modes = {STARPU_W},
                                       .name = "k"};
    char path[] = "/tmp/orrery-test-memory-XXXXXX.xml";
    struct starpu_task *task;
    int opened;

    make_opencl(path);
    machine_choose(machine);
    setenv("ORRERY_MACHINE", path, 1);
    setenv("STARPU_LIMIT_OPENCL_MEM", "1", 1);
    opened = starpu_init(NULL);
    unlink(path);
    if (opened != 0)
        exit(1);
    task = starpu_task_create();
    task->cl = &cl;
    task->handles[0] = temporary(LARGE);
    exit(starpu_task_submit(task) == -ENODEV ? 0 : 2);
}

START_TEST(data_too_large_for_a_device_name_what_limits_its_kind)
{
    char text[4000];
    int status =
        run_child(submit_too_much, FIRST_SIMULATED, text, sizeof(text));

    ck_assert_msg(status == 0, "%d:\n%s", status, text);
    check_says(text, "raise STARPU_LIMIT_OPENCL_MEM");
}
END_TEST

/* Pieces are not named beside the whole, in whose memory they are. */
START_TEST(partitioned_data_are_named_as_the_holder)
{
    char text[4000];
    int status;

    if (has_foreign_threads(_i))
        return;
    status = run_child(partition_for_ever, _i, text, sizeof(text));
    ck_assert_int_eq(status, machine_simulated(_i) ? 3 : 1);
    check_says(text, "data `first': 6291456 bytes, partitioned");
    ck_assert_msg(!strstr(text, "3145728"), "a piece has memory in:\n%s", text);
}
END_TEST

/* --- values in each other's way --- */

enum { NVALUES = 9 };

static int nwrong; /* values at the end */

static void add_times_three(void *buffers[], void *arg)
{
    unsigned *v = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const unsigned *w = (const unsigned *)STARPU_VECTOR_GET_PTR(buffers[1]);
    size_t last = STARPU_VECTOR_GET_NX(buffers[0]) / sizeof(*v) - 1;

    (void)arg;
    v[0] = 3 * v[0] + w[0];
    v[last] = 3 * v[last] + w[last];
}

static void set_to(void *buffers[], void *arg)
{
    unsigned *v = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);
    size_t last = STARPU_VECTOR_GET_NX(buffers[0]) / sizeof(*v) - 1;

    starpu_codelet_unpack_args(arg, &v[0]);
    v[last] = v[0];
}

static void compare_with(void *buffers[], void *arg)
{
    const unsigned *v = (const unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);
    size_t last = STARPU_VECTOR_GET_NX(buffers[0]) / sizeof(*v) - 1;
    unsigned expected;

    starpu_codelet_unpack_args(arg, &expected);
    if (v[0] != expected || v[last] != expected)
        __atomic_fetch_add(&nwrong, 1, __ATOMIC_SEQ_CST);
}

static struct starpu_codelet cl_set = {.cpu_funcs = {set_to},
                                       .cuda_funcs = {set_to},
                                       .nbuffers = 1,
                                       .modes = {STARPU_W},
                                       .name = "k"};
static struct starpu_codelet cl_compare = {.cpu_funcs = {compare_with},
                                           .cuda_funcs = {compare_with},
                                           .nbuffers = 1,
                                           .modes = {STARPU_R},
                                           .name = "k"};
static struct starpu_codelet cl_add = {.cpu_funcs = {add_times_three},
                                       .cuda_funcs = {add_times_three},
                                       .nbuffers = 2,
                                       .modes = {STARPU_RW, STARPU_R},
                                       .name = "k"};

/* Four GPUs that have room for two values each, main memory for one, or for two and
 * a processor. Only copies fill it, each is needed beside another one, and most
 * workers have a task whose other value is somewhere else: by themselves none of them
 * could go on. */
static void run_in_each_others_way(unsigned nvalues, unsigned nrounds,
                                   unsigned seed)
{
    unsigned value[NVALUES];
    starpu_data_handle_t handle[NVALUES];

    ck_assert_int_eq(starpu_init(NULL), 0);
    for (unsigned i = 0; i < nvalues; i++) {
        value[i] = i + 1;
        handle[i] = temporary(LARGE);
        starpu_task_insert(&cl_set, STARPU_W, handle[i], STARPU_VALUE,
                           &value[i], sizeof(value[i]), 0);
    }
    for (unsigned r = 0; r < nrounds; r++) {
        unsigned i = (unsigned)rand_r(&seed) % nvalues;
        unsigned j =
            (i + 1 + (unsigned)rand_r(&seed) % (nvalues - 1)) % nvalues;

        value[i] = 3 * value[i] + value[j];
        starpu_task_insert(&cl_add, STARPU_RW, handle[i], STARPU_R, handle[j],
                           0);
    }
    for (unsigned i = 0; i < nvalues; i++) {
        starpu_task_insert(&cl_compare, STARPU_R, handle[i], STARPU_VALUE,
                           &value[i], sizeof(value[i]), 0);
        starpu_data_unregister_submit(handle[i]);
    }
    starpu_task_wait_for_all();
    ck_assert_int_eq(nwrong, 0);
    starpu_shutdown();
}

static void choose_gpus(const char *policy, const char *ncpu, const char *ram)
{
    machine_choose(FIRST_SIMULATED);
    setenv("ORRERY_MACHINE", "h100-pcie-4", 1);
    setenv("STARPU_SCHED", policy, 1);
    setenv("STARPU_NCPU", ncpu, 1);
    setenv("STARPU_LIMIT_CPU_MEM", ram, 1);
    setenv("STARPU_LIMIT_CUDA_MEM", "14", 1);
}

START_TEST(values_find_a_place_that_are_in_each_others_way)
{
    static const char *const policies[] = {"random", "lws", "heteroprio",
                                           "dmda"};

    choose_gpus(policies[_i % 4], "0", "10");
    run_in_each_others_way(6, 60, 1 + (unsigned)_i / 4);
}
END_TEST

/* One or two of ten places are free: whatever one value leaves must be there for the
 * next one, and not for prefetches, nor for what others would write back. */
START_TEST(values_change_places_with_one_to_spare)
{
    static const char *const policies[] = {"dmda", "lws", "random"};

    choose_gpus(policies[_i % 3], "1", "14");
    run_in_each_others_way(8 + (unsigned)_i / 3, 160, 1);
}
END_TEST

static Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *tc = tcase_create("all");

    tcase_add_loop_test(tc, temporaries_wait_for_each_other, 0, NMACHINES);
    tcase_add_test(tc, pinning_takes_time_unless_it_is_disabled);
    tcase_add_loop_test(tc, parts_of_a_sum_are_added_up_when_memory_is_full, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, what_fits_passes_what_does_not, 0, NMACHINES);
    tcase_add_loop_test(tc, tasks_that_fit_alone_run_alone, 0, NMACHINES);
    tcase_add_loop_test(tc, the_application_frees, 0, 3 * NMACHINES);
    tcase_add_loop_test(tc, who_holds_full_memory_is_named, 0, NMACHINES);
    tcase_add_test(tc, data_too_large_for_a_device_name_what_limits_its_kind);
    tcase_add_loop_test(tc, a_switch_of_planned_data_is_named_as_who_waits, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, an_acquisition_is_named_as_the_holder, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, partitioned_data_are_named_as_the_holder, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, values_change_places_with_one_to_spare, 0, 6);
    tcase_add_loop_test(tc, values_find_a_place_that_are_in_each_others_way, 0,
                        8);
    suite_add_tcase(suite, tc);
    return suite;
}

SUITE_MAIN(memory)
{
    return suite_main(memory_suite());
}

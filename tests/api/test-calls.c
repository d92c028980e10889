/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-calls.c - calls that most applications make beside tasks and
 * data: on workers, copies and packing, profiling, processors, marks in the
 * trace, functions that allocate and that idle workers call.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu_cublasLt.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>

#include "machines.h"

/* What the program printed on stderr since silence_begin(). */
static char printed[1 << 16];
static int real_stderr;
static FILE *catcher;

static void silence_begin(void)
{
    fflush(stderr);
    catcher = tmpfile();
    ck_assert_ptr_nonnull(catcher);
    real_stderr = dup(STDERR_FILENO);
    dup2(fileno(catcher), STDERR_FILENO);
}

static const char *silence_end(void)
{
    size_t n;

    fflush(stderr);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    rewind(catcher);
    n = fread(printed, 1, sizeof(printed) - 1, catcher);
    printed[n] = '\0';
    fclose(catcher);
    return printed;
}

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

/* --- calls on workers --- */

static atomic_int calls[STARPU_NMAXWORKERS];

static void count_call(void *arg)
{
    ck_assert_ptr_eq(arg, calls);
    atomic_fetch_add(&calls[starpu_worker_get_id()], 1);
}

START_TEST(a_function_is_called_once_on_each_worker_of_a_type)
{
    unsigned only[] = {0, 1};

    machine_open(_i);
    starpu_execute_on_each_worker(count_call, calls, STARPU_CPU | STARPU_CUDA);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_int_eq(calls[w], 1);
    starpu_execute_on_each_worker_ex(count_call, calls, STARPU_CPU, "mine");
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_int_eq(calls[w], 1 + (starpu_worker_get_type((int)w) ==
                                        STARPU_CPU_WORKER));
    memset(calls, 0, sizeof(calls));
    starpu_execute_on_specific_workers(count_call, calls, 2, only, "two");
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_int_eq(calls[w], w < 2);
    starpu_shutdown();
}
END_TEST

/* Kernels only take time, these functions run. */
START_TEST(such_functions_run_where_kernels_do_not)
{
    machine_choose(FIRST_SIMULATED);
    setenv("ORRERY_SIM_KERNELS", "skip", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_execute_on_each_worker(count_call, calls, STARPU_CUDA);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_int_eq(calls[w],
                         starpu_worker_get_type((int)w) == STARPU_CUDA_WORKER);
    starpu_shutdown();
}
END_TEST

/* --- copies --- */

static void called(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void choose_with_copies(int i)
{
    machine_choose(i);
    if (machine_simulated(i))
        setenv("ORRERY_ASSUME",
               "kernel[k] = 50us; kernel[starpu_data_cpy] = 20us", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

START_TEST(the_value_of_one_handle_is_copied_to_another)
{
    int from[4] = {1, 2, 3, 4}, to[4] = {0};
    starpu_data_handle_t src, dst, dup;
    atomic_int n = 0;

    choose_with_copies(_i);
    starpu_vector_data_register(&src, STARPU_MAIN_RAM, (uintptr_t)from, 4,
                                sizeof(int));
    starpu_vector_data_register(&dst, STARPU_MAIN_RAM, (uintptr_t)to, 4,
                                sizeof(int));
    ck_assert_int_eq(starpu_data_cpy(dst, src, 0, called, &n), 0);
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(starpu_data_acquire(dst, STARPU_RW), 0);
    ck_assert_mem_eq(to, from, sizeof(to));
    to[0] = 7;
    starpu_data_release(dst);
    ck_assert_int_eq(starpu_data_cpy_priority(src, dst, 1, called, &n, 3), 0);
    ck_assert_int_eq(starpu_data_cpy(src, src, 1, called, &n), 0);
    ck_assert_int_eq(starpu_data_dup_ro(&dup, src, 1), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(n, 3);
    ck_assert_int_eq(starpu_data_acquire(dup, STARPU_R), 0);
    ck_assert_int_eq(((int *)starpu_data_get_local_ptr(dup))[0], 7);
    ck_assert_int_eq(((int *)starpu_data_get_local_ptr(dup))[3], 4);
    starpu_data_release(dup);
    starpu_data_unregister(dup);
    starpu_data_unregister(dst);
    starpu_data_unregister(src);
    ck_assert_int_eq(from[0], 7);
    starpu_shutdown();
}
END_TEST

/* --- packing --- */

START_TEST(data_are_packed_without_gaps_and_unpacked)
{
    int matrix[3][4] = {{1, 2, -1, -1}, {3, 4, -1, -1}, {5, 6, -1, -1}};
    const int packed[] = {1, 2, 3, 4, 5, 6}, other[] = {9, 8, 7, 6, 5, 4};
    starpu_data_handle_t handle;
    starpu_ssize_t count = 0;
    void *bytes = NULL;

    machine_open(_i);
    starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)matrix, 4,
                                2, 3, sizeof(int));
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    ck_assert_int_eq(starpu_data_pack(handle, NULL, &count), 0);
    ck_assert_int_eq(count, sizeof(packed));
    ck_assert_int_eq(starpu_data_pack(handle, &bytes, &count), 0);
    ck_assert_mem_eq(bytes, packed, sizeof(packed));
    memcpy(bytes, other, sizeof(other));
    ck_assert_int_eq(starpu_data_peek(handle, bytes, (size_t)count), 0);
    ck_assert_int_eq(matrix[1][0], 7);
    ck_assert_int_eq(matrix[1][2], -1);
    memcpy(bytes, packed, sizeof(packed));
    ck_assert_int_eq(starpu_data_unpack(handle, bytes, (size_t)count), 0);
    ck_assert_int_eq(matrix[2][1], 6);
    ck_assert_int_eq(starpu_data_pack_node(handle, 0, &bytes, &count), 0);
    memcpy(bytes, other, sizeof(other));
    ck_assert_int_eq(starpu_data_peek_node(handle, 0, bytes, (size_t)count), 0);
    ck_assert_int_eq(matrix[0][0], 9);
    memcpy(bytes, packed, sizeof(packed));
    ck_assert_int_eq(starpu_data_unpack_node(handle, 0, bytes, (size_t)count),
                     0);
    ck_assert_int_eq(matrix[0][0], 1);
    silence_begin();
    ck_assert_int_eq(starpu_data_peek(handle, matrix, 5), -EINVAL);
    ck_assert_ptr_nonnull(strstr(silence_end(), "5 bytes for data of 24"));
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* --- sparse matrices --- */

static void double_rows(void *buffers[], void *arg)
{
    double *values = (double *)STARPU_CSR_GET_NZVAL(buffers[0]);
    uint32_t *rowptr = STARPU_CSR_GET_ROWPTR(buffers[0]);

    ck_assert_uint_eq(STARPU_CSR_GET_NROW(buffers[0]), 3);
    ck_assert_uint_eq(STARPU_CSR_GET_COLIND(buffers[0])[3], 2);
    for (uint32_t row = 0; row < 3; row++)
        for (uint32_t i = rowptr[row]; i < rowptr[row + 1]; i++)
            values[i] *= 2 + row;
    (void)arg;
}

static void double_blocks(void *buffers[], void *arg)
{
    int *values = (int *)STARPU_BCSR_GET_NZVAL(buffers[0]);

    (void)arg;
    for (uint32_t i = 0;
         i < 2 * STARPU_BCSR_GET_R(buffers[0]) * STARPU_BCSR_GET_C(buffers[0]);
         i++)
        values[i] *= 2;
}

static void double_values(void *buffers[], void *arg)
{
    float *values = (float *)STARPU_COO_GET_VALUES(buffers[0]);

    (void)arg;
    ck_assert_uint_eq(STARPU_COO_GET_ROWS(buffers[0])[1], 5);
    for (uint32_t i = 0; i < STARPU_COO_GET_NVALUES(buffers[0]); i++)
        values[i] *= 2;
}

static void run_on_all(starpu_data_handle_t handle,
                       void (*func)(void **, void *))
{
    static struct starpu_codelet codelets[3];
    static int n;
    struct starpu_codelet *cl = &codelets[n++];

    *cl = (struct starpu_codelet){.cpu_funcs = {func},
                                  .cuda_funcs = {func},
                                  .nbuffers = 1,
                                  .modes = {STARPU_RW},
                                  .name = "k"};
    for (int w = 0; w < (int)starpu_worker_get_count(); w++)
        ck_assert_int_eq(starpu_task_insert(cl, STARPU_RW, handle,
                                            STARPU_EXECUTE_ON_WORKER, w, 0),
                         0);
}

START_TEST(sparse_matrices_travel_to_all_workers_and_back)
{
    double values[] = {1, 1, 1, 1};
    int blocks[] = {1, 2, 3, 4, 5, 6, 7, 8};
    float points[] = {1, 2};
    uint32_t colind[] = {0, 1, 1, 2}, rowptr[] = {0, 2, 3, 4};
    uint32_t bcol[] = {0, 1}, brow[] = {0, 1, 2}, rows[] = {0, 5}, factor;
    starpu_data_handle_t csr, bcsr, coo;

    machine_open(_i);
    factor = 1u << starpu_worker_get_count();
    starpu_csr_data_register(&csr, 0, 4, 3, (uintptr_t)values, colind, rowptr,
                             0, sizeof(*values));
    starpu_bcsr_data_register(&bcsr, 0, 2, 2, (uintptr_t)blocks, bcol, brow, 0,
                              2, 2, sizeof(*blocks));
    starpu_coo_data_register(&coo, 0, 6, 6, 2, rows, rows, (uintptr_t)points,
                             sizeof(*points));
    ck_assert_uint_eq(starpu_csr_get_nnz(csr), 4);
    ck_assert_uint_eq(starpu_csr_get_nrow(csr), 3);
    ck_assert_uint_eq(starpu_csr_get_firstentry(csr), 0);
    ck_assert_uint_eq(starpu_csr_get_elemsize(csr), sizeof(double));
    ck_assert_ptr_eq(starpu_csr_get_local_colind(csr), colind);
    ck_assert_ptr_eq(starpu_csr_get_local_rowptr(csr), rowptr);
    ck_assert_uint_eq(starpu_csr_get_local_nzval(csr), (uintptr_t)values);
    ck_assert_uint_eq(starpu_bcsr_get_nnz(bcsr), 2);
    ck_assert_uint_eq(starpu_bcsr_get_nrow(bcsr), 2);
    ck_assert_uint_eq(starpu_bcsr_get_r(bcsr), 2);
    ck_assert_uint_eq(starpu_bcsr_get_c(bcsr), 2);
    ck_assert_uint_eq(starpu_bcsr_get_firstentry(bcsr), 0);
    ck_assert_uint_eq(starpu_bcsr_get_elemsize(bcsr), sizeof(int));
    ck_assert_ptr_eq(starpu_bcsr_get_local_colind(bcsr), bcol);
    ck_assert_ptr_eq(starpu_bcsr_get_local_rowptr(bcsr), brow);
    ck_assert_uint_eq(starpu_bcsr_get_local_nzval(bcsr), (uintptr_t)blocks);
    ck_assert_uint_eq(starpu_data_get_size(csr), 4 * 8 + 4 * 4 + 4 * 4);
    ck_assert_uint_eq(starpu_data_get_size(coo), 6 * 6 * 4);
    ck_assert_uint_eq(starpu_data_get_alloc_size(coo), 2 * 12);
    ck_assert_int_eq(starpu_data_get_interface_id(coo),
                     STARPU_COO_INTERFACE_ID);
    run_on_all(csr, double_rows);
    run_on_all(bcsr, double_blocks);
    run_on_all(coo, double_values);
    starpu_data_unregister(csr);
    starpu_data_unregister(bcsr);
    starpu_data_unregister(coo);
    ck_assert_double_eq(values[0], factor);
    ck_assert_double_gt(values[2], factor);
    ck_assert_int_eq(blocks[7], 8 * (int)factor);
    ck_assert_int_eq((int)points[1], 2 * (int)factor);
    starpu_shutdown();
}
END_TEST

/* StarPU's hashes of tasks with such data, from its users' model files. */
START_TEST(footprints_of_sparse_data_are_those_of_starpu)
{
    static struct starpu_codelet cl = {
        .where = STARPU_CPU, .nbuffers = 1, .modes = {STARPU_R}};
    uint32_t index[101] = {0};
    double values[100] = {0};
    starpu_data_handle_t handles[3];
    const uint32_t known[] = {0x3f066703, 0x050566a3, 0x0385a2aa};

    machine_open(0);
    starpu_csr_data_register(&handles[0], 0, 100, 5, (uintptr_t)values, index,
                             index, 0, 8);
    starpu_bcsr_data_register(&handles[1], 0, 10, 5, (uintptr_t)values, index,
                              index, 0, 2, 3, 8);
    starpu_coo_data_register(&handles[2], 0, 10, 20, 10, index, index,
                             (uintptr_t)values, 8);
    for (int i = 0; i < 3; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        task->handles[0] = handles[i];
        ck_assert_uint_eq(starpu_task_data_footprint(task), known[i]);
        task->destroy = 0;
        starpu_task_destroy(task);
        starpu_data_unregister(handles[i]);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(sparse_data_are_packed_indices_first)
{
    double values[] = {1, 2};
    uint32_t colind[] = {3, 4}, rowptr[] = {0, 1, 2};
    starpu_data_handle_t handle;
    starpu_ssize_t count;
    void *bytes;

    machine_open(_i);
    starpu_csr_data_register(&handle, 0, 2, 2, (uintptr_t)values, colind,
                             rowptr, 0, sizeof(*values));
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    ck_assert_int_eq(starpu_data_pack(handle, &bytes, &count), 0);
    ck_assert_int_eq(count, 8 + 12 + 16);
    ck_assert_mem_eq(bytes, colind, 8);
    ck_assert_mem_eq((char *)bytes + 8, rowptr, 12);
    ck_assert_mem_eq((char *)bytes + 20, values, 16);
    values[1] = 0;
    ck_assert_int_eq(starpu_data_unpack(handle, bytes, (size_t)count), 0);
    ck_assert_double_eq(values[1], 2);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* --- profiling --- */

static void work(void *buffers[], void *arg)
{
    (void)buffers;
    if (arg)
        atomic_fetch_add((atomic_int *)arg, 1);
}

static struct starpu_codelet cl_k = {
    .cpu_funcs = {work}, .cuda_funcs = {work}, .name = "k"};

static struct starpu_task *new_kept(void)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl_k;
    task->detach = 0;
    task->destroy = 0;
    task->flops = 1000;
    return task;
}

static double us(struct timespec ts)
{
    return starpu_timing_timespec_to_us(&ts);
}

START_TEST(a_profiled_task_has_the_times_of_its_stages_in_order)
{
    struct starpu_profiling_task_info *info;
    struct starpu_profiling_worker_info worker;
    struct starpu_task *before, *task;
    atomic_int n = 0;

    machine_open(_i);
    before = new_kept();
    ck_assert_int_eq(starpu_task_submit(before), 0);
    ck_assert_int_eq(starpu_task_wait(before), 0);
    ck_assert_ptr_null(before->profiling_info);
    starpu_task_destroy(before);

    ck_assert_int_eq(starpu_profiling_status_get(), STARPU_PROFILING_DISABLE);
    ck_assert_int_eq(starpu_profiling_status_set(STARPU_PROFILING_ENABLE),
                     STARPU_PROFILING_DISABLE);
    ck_assert_int_eq(starpu_profiling_status_get(), STARPU_PROFILING_ENABLE);
    task = new_kept();
    task->callback_func = called;
    task->callback_arg = &n;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    info = task->profiling_info;
    ck_assert_ptr_nonnull(info);
    ck_assert_double_gt(us(info->submit_time), 0);
    ck_assert_double_ge(us(info->push_start_time), us(info->submit_time));
    ck_assert_double_ge(us(info->push_end_time), us(info->push_start_time));
    ck_assert_double_ge(us(info->pop_end_time), us(info->pop_start_time));
    ck_assert_double_ge(us(info->acquire_data_start_time),
                        us(info->pop_end_time));
    ck_assert_double_ge(us(info->acquire_data_end_time),
                        us(info->acquire_data_start_time));
    ck_assert_double_ge(us(info->start_time),
                        us(info->acquire_data_end_time) - 0.01);
    ck_assert_double_ge(us(info->end_time), us(info->start_time));
    ck_assert_double_ge(us(info->release_data_start_time),
                        us(info->end_time) - 0.01);
    ck_assert_double_ge(us(info->release_data_end_time),
                        us(info->release_data_start_time));
    ck_assert_double_ge(us(info->callback_start_time),
                        us(info->release_data_end_time));
    ck_assert_double_ge(us(info->callback_end_time),
                        us(info->callback_start_time));
    ck_assert_int_ge(info->workerid, 0);
    if (machine_simulated(_i))
        ck_assert_double_eq_tol(
            starpu_timing_timespec_delay_us(&info->start_time, &info->end_time),
            50, 0.01);
    ck_assert_int_eq(starpu_profiling_worker_get_info(info->workerid, &worker),
                     0);
    ck_assert_int_eq(worker.executed_tasks, 1);
    ck_assert_double_eq(worker.flops, 1000);
    ck_assert_double_eq_tol(
        us(worker.executing_time),
        starpu_timing_timespec_delay_us(&info->start_time, &info->end_time),
        0.01);
    ck_assert_double_ge(us(worker.total_time), us(worker.executing_time) +
                                                   us(worker.sleeping_time) -
                                                   0.1);
    ck_assert_int_eq(starpu_profiling_worker_get_info(info->workerid, &worker),
                     0);
    ck_assert_int_eq(worker.executed_tasks, 0);
    ck_assert_double_eq(us(worker.executing_time), 0);
    ck_assert_int_eq(starpu_profiling_status_set(STARPU_PROFILING_DISABLE),
                     STARPU_PROFILING_ENABLE);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

START_TEST(profiling_may_be_wanted_before_the_start_or_by_a_variable)
{
    struct starpu_profiling_worker_info info;

    machine_choose(_i);
    ck_assert_int_eq(starpu_profiling_status_set(STARPU_PROFILING_ENABLE), 0);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(starpu_profiling_status_get(), 1);
    starpu_shutdown();
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(starpu_profiling_status_get(), 0);
    starpu_shutdown();
    setenv("STARPU_PROFILING", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(starpu_profiling_status_get(), 1);
    starpu_task_insert(&cl_k, STARPU_EXECUTE_ON_WORKER, 0, STARPU_FLOPS, 5.0,
                       0);
    starpu_task_wait_for_all();
    starpu_profiling_init();
    starpu_profiling_worker_get_info(0, &info);
    ck_assert_int_eq(info.executed_tasks, 0);
    ck_assert_double_eq(info.flops, 0);
    starpu_shutdown();
}
END_TEST

START_TEST(summaries_count_the_tasks_of_each_worker)
{
    const char *text;

    machine_open(_i);
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    for (int i = 0; i < 3; i++)
        starpu_task_insert(&cl_k, STARPU_EXECUTE_ON_WORKER, 0, 0);
    starpu_task_insert(&cl_k, STARPU_EXECUTE_ON_WORKER, 1, 0);
    starpu_task_wait_for_all();
    silence_begin();
    starpu_codelet_display_stats(&cl_k);
    starpu_profiling_worker_helper_display_summary();
    starpu_data_display_memory_stats();
    text = silence_end();
    ck_assert_ptr_nonnull(strstr(text, "codelet k"));
    ck_assert_ptr_nonnull(strstr(text, ": 3 / 4 (75.00 %)"));
    ck_assert_ptr_nonnull(strstr(text, ": 1 / 4 (25.00 %)"));
    ck_assert_ptr_nonnull(strstr(text, ": 3 tasks"));
    ck_assert_ptr_nonnull(strstr(text, "executing"));
    ck_assert_ptr_nonnull(strstr(text, "bytes used"));
    starpu_shutdown();
}
END_TEST

START_TEST(tasks_are_not_counted_per_codelet_on_request)
{
    machine_choose(0);
    setenv("STARPU_CODELET_PROFILING", "0", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    starpu_task_insert(&cl_k, STARPU_EXECUTE_ON_WORKER, 0, 0);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(cl_k.per_worker_stats[0], 0);
    starpu_shutdown();
}
END_TEST

START_TEST(times_are_arithmetic)
{
    struct timespec a = {1, 500}, b = {2, 0};

    ck_assert_double_eq_tol(starpu_timing_timespec_to_us(&a), 1000000.5, 1e-6);
    ck_assert_double_eq_tol(starpu_timing_timespec_delay_us(&a, &b), 999999.5,
                            1e-6);
    ck_assert_double_eq_tol(starpu_timing_timespec_delay_us(&b, &a), -999999.5,
                            1e-6);
}
END_TEST

/* --- marks in the trace --- */

START_TEST(marks_of_the_application_are_in_the_trace)
{
    char path[] = "/tmp/orr-calls-XXXXXX", text[1 << 16];
    int fd = mkstemp(path);
    const char *first, *second;
    FILE *file;
    size_t n;

    ck_assert_int_ge(fd, 0);
    close(fd);
    machine_choose(_i);
    setenv("ORRERY_TRACE", path, 1);
    starpu_fxt_autostart_profiling(0);
    ck_assert_int_eq(starpu_fxt_is_enabled(), 0);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(starpu_fxt_is_enabled(), 1);
    starpu_fxt_start_profiling();
    starpu_fxt_trace_user_event(42);
    starpu_fxt_trace_user_event_string("half \"time\"");
    starpu_fxt_trace_user_meta_string("meta");
    starpu_fxt_stop_profiling();
    starpu_shutdown();
    file = fopen(path, "r");
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    unlink(path);
    first = strstr(text, "\tprog_event\tp\t\"start_profiling\"\n");
    second = strstr(text, "\tprog_event\tp\t\"stop_profiling\"\n");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(second);
    ck_assert(first < second);
    ck_assert_ptr_nonnull(strstr(first, "\tuser_event\tp\t\"42\"\n"));
    ck_assert_ptr_nonnull(strstr(first, "\tprog_event\tp\t\"half _time_\"\n"));
    ck_assert_ptr_nonnull(strstr(first, "\tprog_event\tp\t\"meta\"\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n2\tprog_event\tP\t"));
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
        if (position < 0)
            continue;
        for (int i = starpu_bindid_get_workerids(position, &list); i > 0; i--)
            found |= list[i - 1] == w;
        ck_assert_int_eq(found, 1);
    }
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
    if (starpu_worker_get_bindid(0) >= 0)
        ck_assert(
            CPU_ISSET(starpu_cpu_os_index(starpu_worker_get_bindid(0)), &mine));
    starpu_shutdown();
}
END_TEST

#ifdef STARPU_HAVE_HWLOC
START_TEST(hwlocs_objects_of_workers_are_those_of_its_topology)
{
    machine_open(_i);
    if (!starpu_get_hwloc_topology()) {
        starpu_shutdown();
        SKIP_TEST("the library was built without hwloc");
    }
    ck_assert_ptr_eq(starpu_get_hwloc_topology(), starpu_get_hwloc_topology());
    for (int w = 0; w < (int)starpu_worker_get_count(); w++) {
        hwloc_cpuset_t set = starpu_worker_get_hwloc_cpuset(w);
        hwloc_obj_t object = starpu_worker_get_hwloc_obj(w);

        ck_assert_ptr_nonnull(object);
        ck_assert_ptr_nonnull(set);
        /* hwloc_bitmap_isequal and so on would need its library here. */
        ck_assert_ptr_ne(set, starpu_worker_get_hwloc_cpuset(w));
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

/* --- tasks --- */

START_TEST(a_task_tells_whether_it_has_finished)
{
    struct starpu_task *task;

    machine_open(_i);
    starpu_pause();
    task = new_kept();
    ck_assert_int_eq(starpu_task_finished(task), 0);
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_finished(task), 0);
    ck_assert_str_eq(starpu_task_status_get_as_string(task->status),
                     "STARPU_TASK_READY");
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_all_in_ctx(0), 0);
    ck_assert_int_eq(starpu_task_finished(task), 1);
    ck_assert_str_eq(starpu_task_status_get_as_string(task->status),
                     "STARPU_TASK_FINISHED");
    ck_assert_int_eq(starpu_task_wait(task), 0);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

START_TEST(an_empty_task_calls_back)
{
    atomic_int n = 0;

    machine_open(_i);
    starpu_create_callback_task(called, &n);
    starpu_task_wait_for_all();
    ck_assert_int_eq(n, 1);
    starpu_shutdown();
}
END_TEST

START_TEST(submission_waits_while_too_many_tasks_are_unfinished)
{
    atomic_int n = 0;
    int most = 0;

    machine_open(_i);
    starpu_set_limit_min_submitted_tasks(2);
    starpu_set_limit_max_submitted_tasks(5);
    for (int i = 0; i < 200; i++) {
        starpu_task_insert(&cl_k, STARPU_CL_ARGS_NFREE, &n, (size_t)0, 0);
        most = STARPU_MAX(most, starpu_task_nsubmitted());
    }
    ck_assert_int_le(most, 6);
    ck_assert_int_eq(starpu_task_wait_for_n_submitted_in_ctx(0, 3), 0);
    ck_assert_int_le(starpu_task_nsubmitted(), 3);
    starpu_task_wait_for_all();
    ck_assert_int_eq(n, 200);
    starpu_shutdown();
}
END_TEST

START_TEST(waiting_for_ready_tasks_leaves_blocked_ones)
{
    atomic_int n = 0, late = 0;
    struct starpu_task *task;

    machine_open(_i);
    starpu_tag_declare_deps((starpu_tag_t)2, 1, (starpu_tag_t)1);
    task = new_kept();
    task->cl_arg = &late;
    task->use_tag = 1;
    task->tag_id = 2;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    for (int i = 0; i < 20; i++)
        starpu_task_insert(&cl_k, STARPU_CL_ARGS_NFREE, &n, (size_t)0, 0);
    ck_assert_int_eq(starpu_task_wait_for_no_ready(), 0);
    ck_assert_int_eq(n, 20);
    ck_assert_int_eq(late, 0);
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_int_eq(late, 1);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

/* A tag that was reached holds nobody back; once cleared it does. */
START_TEST(cleared_tags_were_never_reached)
{
    atomic_int n = 0;
    struct starpu_task *task;

    machine_open(_i);
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    starpu_tag_clear();
    starpu_tag_declare_deps((starpu_tag_t)2, 1, (starpu_tag_t)1);
    task = new_kept();
    task->cl_arg = &n;
    task->use_tag = 1;
    task->tag_id = 2;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    starpu_task_wait_for_no_ready();
    ck_assert_int_eq(n, 0);
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_int_eq(n, 1);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

/* --- data --- */

START_TEST(data_tell_where_they_have_memory)
{
    int x = 3;
    starpu_data_handle_t handle, lazy;

    machine_open(_i);
    starpu_variable_data_register(&handle, 0, (uintptr_t)&x, sizeof(x));
    starpu_variable_data_register(&lazy, -1, 0, sizeof(x));
    ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(handle, 0), 1);
    ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(lazy, 0), 0);
    ck_assert_uint_eq(starpu_data_test_if_mapped_on_node(handle, 0), 0);
    starpu_data_acquire(lazy, STARPU_W);
    ck_assert_uint_eq(starpu_data_test_if_allocated_on_node(lazy, 0), 1);
    starpu_data_release(lazy);
    starpu_data_deinitialize(lazy);
    ck_assert_uint_eq(starpu_data_is_on_node(lazy, 0), 0);
    starpu_data_acquire(lazy, STARPU_W);
    starpu_data_release(lazy);
    starpu_data_deinitialize_submit(lazy);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(starpu_data_is_on_node(lazy, 0), 0);
    starpu_data_unregister(lazy);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(data_describe_themselves)
{
    int x[6];
    char text[64] = "";
    starpu_data_handle_t handle;
    FILE *file = tmpfile();

    machine_open(_i);
    starpu_matrix_data_register(&handle, 0, (uintptr_t)x, 2, 2, 3, 4);
    starpu_data_print(handle, 0, file);
    rewind(file);
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
    ck_assert_ptr_nonnull(strstr(text, "2x3x4"));
    fclose(file);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(tables_of_operations_get_a_number_once)
{
    struct starpu_data_interface_ops ops = starpu_interface_vector_ops;
    int id;

    ops.interfaceid = STARPU_UNKNOWN_INTERFACE_ID;
    starpu_data_register_ops(&ops);
    id = (int)ops.interfaceid;
    ck_assert_int_ge(id, STARPU_MAX_INTERFACE_ID);
    starpu_data_register_ops(&ops);
    ck_assert_int_eq(ops.interfaceid, id);
    ck_assert_int_eq(starpu_data_interface_get_next_id(), id + 1);
}
END_TEST

START_TEST(arrays_of_any_dimensions_are_copied)
{
    int from[2][3][4], to[2][2][2];
    uint32_t nn[] = {2, 2, 2}, src[] = {1, 4, 12}, dst[] = {1, 2, 4};
    double start = -1;
    int rc = 0;

    for (int i = 0; i < 24; i++)
        (&from[0][0][0])[i] = i;
    machine_open(_i);
    ck_assert_int_eq(starpu_interface_copynd((uintptr_t)from, 1, 0,
                                             (uintptr_t)to, 0, 0, sizeof(int),
                                             3, nn, src, dst, NULL),
                     0);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq((&to[0][0][0])[i],
                         1 + i % 2 + i / 2 % 2 * 4 + i / 4 * 12);
    starpu_interface_data_copy(0, 0, 4);
    starpu_interface_start_driver_copy_async(0, 0, &start);
    ck_assert_double_ge(start, 0);
    unsetenv("STARPU_SILENT");
    starpu_interface_end_driver_copy_async(0, 0, start);
    ck_assert_uint_eq(starpu_interface_map((uintptr_t)from, 0, 0, 0, 4, &rc),
                      0);
    ck_assert_int_eq(rc, -EIO);
    starpu_shutdown();
}
END_TEST

/* --- the library --- */

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

int main(void)
{
    Suite *suite = suite_create("calls");
    TCase *each = tcase_create("on each machine");
    TCase *once = tcase_create("once");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, once);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(libraries_of_devices_that_are_not_there_do_no_harm);
    EACH(a_function_is_called_once_on_each_worker_of_a_type);
    EACH(the_value_of_one_handle_is_copied_to_another);
    EACH(data_are_packed_without_gaps_and_unpacked);
    EACH(sparse_matrices_travel_to_all_workers_and_back);
    EACH(sparse_data_are_packed_indices_first);
    EACH(a_profiled_task_has_the_times_of_its_stages_in_order);
    EACH(profiling_may_be_wanted_before_the_start_or_by_a_variable);
    EACH(summaries_count_the_tasks_of_each_worker);
    EACH(marks_of_the_application_are_in_the_trace);
    EACH(processors_have_positions_and_the_systems_numbers);
    EACH(threads_of_the_application_are_bound);
#ifdef STARPU_HAVE_HWLOC
    EACH(hwlocs_objects_of_workers_are_those_of_its_topology);
#endif
    EACH(main_memory_comes_from_the_applications_functions);
    EACH(idle_workers_call_functions_again_and_again);
    EACH(waking_workers_makes_them_look_again);
    EACH(a_task_tells_whether_it_has_finished);
    EACH(an_empty_task_calls_back);
    EACH(submission_waits_while_too_many_tasks_are_unfinished);
    EACH(waiting_for_ready_tasks_leaves_blocked_ones);
    EACH(cleared_tags_were_never_reached);
    EACH(data_tell_where_they_have_memory);
    EACH(data_describe_themselves);
    EACH(arrays_of_any_dimensions_are_copied);
    EACH(copies_never_block_and_nothing_is_mapped);
    if (NMACHINES > FIRST_SIMULATED)
        tcase_add_test(once, such_functions_run_where_kernels_do_not);
    tcase_add_test(once, footprints_of_sparse_data_are_those_of_starpu);
    tcase_add_test(once, tasks_are_not_counted_per_codelet_on_request);
    tcase_add_test(once, times_are_arithmetic);
    tcase_add_test(once, tables_of_operations_get_a_number_once);
    tcase_add_test(once, who_starts_second_waits_until_it_is_started);
    tcase_add_test(once, bitmaps_are_sets);
    tcase_add_test(once, trees_find_the_nearest_leaf_with_a_worker);
    return suite_main(suite);
}

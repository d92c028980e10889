/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-gpu-faults.c - what is said of each fault of a GPU (tests/standin):
 * the device, the call, the data or the task, and what becomes of it; and no value is
 * changed by it.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>
#include <orrery.h>
#include <starpu.h>

#include "../suite.h"
#include "gpu-graph.h"
#include "on-gpu.h"

enum { NTASKS = 6 };

/* -- what is said -- */

static FILE *said;

static void listen(void)
{
    said = tmpfile();
    ck_assert_ptr_nonnull(said);
    fflush(stderr);
    ck_assert_int_ge(dup2(fileno(said), STDERR_FILENO), 0);
}

static const char *hear(void)
{
    static char text[1 << 16];
    size_t n;

    rewind(said);
    n = fread(text, 1, sizeof(text) - 1, said);
    text[n] = 0;
    fclose(said);
    return text;
}

static void check_said(const char *const *words)
{
    const char *text = hear();

    for (unsigned i = 0; words[i]; i++)
        ck_assert_msg(strstr(text, words[i]), "no \"%s\" in\n%s", words[i],
                      text);
}

/* -- what is done -- */

static void open_runtime(const char *fault, const char *ncpus)
{
    char options[64];

    snprintf(options, sizeof(options), "devices=2 delay=0 fault=%s", fault);
    setenv("GPU_STANDIN", options, 1);
    setenv("STARPU_NCPU", ncpus, 1);
    unsetenv("STARPU_SILENT");
    ck_assert_int_eq(starpu_init(NULL), 0);
}

/* So many additions to one vector, by the devices in turn or by any. */
static void add_up(bool in_turn)
{
    static uint64_t values[GPU_LENGTH], expected[GPU_LENGTH];
    starpu_data_handle_t handle;
    uint64_t add = 5;

    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                GPU_LENGTH, sizeof(uint64_t));
    for (int k = 0; k < NTASKS; k++) {
        struct starpu_task *task = starpu_task_build(
            &gpu_scale, STARPU_RW, handle, STARPU_VALUE, &add, sizeof(add), 0);

        gpu_compute(&(struct gpu_step){expected, NULL, add, GPU_LENGTH});
        task->execute_on_a_specific_worker = in_turn;
        task->workerid = (unsigned)k % 2;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_data_unregister(handle);
    ck_assert_mem_eq(values, expected, sizeof(values));
}

static const struct {
    const char *fault;
    bool in_turn;
    const char *words[5];
} cases[] = {
    {"alloc@1",
     false,
     {"an allocation of 4000 bytes on " ON_KIND " ", "out of memory (2)"}},
    {"copy@1",
     false,
     {"the copy of data number ", " from NUMA 0 to " ON_KIND " ",
      "it is made once more"}},
    {"peer@2",
     true,
     {"the copy of data number ",
      " from " ON_KIND " 1 to " ON_KIND " 0, 4000 bytes, failed",
      "it is made once more"}},
    {"kernel@1",
     false,
     {"a kernel on " ON_KIND " ", "unknown error (999)",
      "the kernel of task `scale' (number ",
      "task `scale' (number 1) was not done by " ON_KIND " ",
      "it goes to another worker"}},
    /* The first kernel, behind the first copy. */
    {"lost@2",
     false,
     {"unspecified launch failure (719)",
      "the kernel of task `scale' (number 1) on " ON_KIND " ",
      "failed: the device is lost", ON_KIND " ",
      "is lost: its tasks go elsewhere"}},
};

START_TEST(a_fault_is_said_with_its_device_call_and_task)
{
    const char *words[6] = {NULL};

    memcpy(words, cases[_i].words, sizeof(cases[_i].words));
    listen();
    /* Else tasks follow each other, which a copy must not fail for: test-gpu-clock.c. */
    if (cases[_i].in_turn)
        setenv("STARPU_" ON_KIND "_PIPELINE", "1", 1);
    open_runtime(cases[_i].fault, "0");
    add_up(cases[_i].in_turn);
    starpu_shutdown();
    check_said(words);
}
END_TEST

/* Users limit what may be pinned (ulimit -l): that is no failure, but said, once. */
START_TEST(memory_that_is_not_pinned_is_said_once)
{
    static const char reason[] = "are not pinned: out of memory (2)";
    void *blocks[2];
    const char *text, *first;

    listen();
    open_runtime("pin@1+", "0");
    for (int b = 0; b < 2; b++) {
        ck_assert_int_eq(starpu_malloc(&blocks[b], 100000), 0);
        memset(blocks[b], 1, 100000);
    }
    ck_assert_int_eq(starpu_memory_pin(blocks[0], 100000), -1);
    for (int b = 0; b < 2; b++)
        starpu_free_noflag(blocks[b], 100000);
    starpu_shutdown();
    text = hear();
    first = strstr(text, reason);
    ck_assert_msg(first, "no reason in\n%s", text);
    ck_assert_ptr_null(strstr(first + 1, reason));
}
END_TEST

/* -- devices for OpenGL, which need nothing but to be used -- */

START_TEST(devices_for_opengl_that_are_not_used_are_said)
{
    unsigned devices[] = {1, 7};
    struct starpu_conf conf;
    const char *text;

    listen();
    setenv("GPU_STANDIN", "devices=2 delay=0", 1);
    setenv("STARPU_NCPU", "1", 1);
    unsetenv("STARPU_SILENT");
    ck_assert_int_eq(starpu_conf_init(&conf), 0);
    conf.n_cuda_opengl_interoperability = 2;
    ck_assert_int_eq(starpu_init(&conf), -EINVAL);
    conf.cuda_opengl_interoperability = devices;
    ck_assert_int_eq(starpu_init(&conf), 0);
    starpu_shutdown();
    text = hear();
    ck_assert_ptr_nonnull(strstr(text, "without a list"));
    ck_assert_ptr_nonnull(strstr(text, "names CUDA device 7, which"));
    ck_assert_int_eq(!strstr(text, "names CUDA device 1, which"),
                     ON_WORKER == STARPU_CUDA_WORKER);
}
END_TEST

/* A task without another worker ends the program, which says what to change. */
static const struct {
    bool in_turn;
    const char *remedy;
} remedies[] = {
    {false, "give its codelet a function for processors, or for other devices"},
    {true, "it was submitted for this one only (execute_on_a_specific_worker)"},
};

static void fail_all_copies(const char *remedy, bool in_turn)
{
    pid_t child = fork();
    int status;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        open_runtime("copy@1+", "0");
        add_up(in_turn);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    check_said((const char *[]){"no other worker can run it: ", remedy, NULL});
}

START_TEST(what_to_change_is_said_where_no_worker_is_left)
{
    listen();
    fail_all_copies(remedies[_i].remedy, remedies[_i].in_turn);
}
END_TEST

/* -- kernels that others follow -- */

static atomic_bool may_go;

static void wait_on_device(void *arg)
{
    (void)arg;
    while (!atomic_load(&may_go))
        sched_yield();
}

static void put_wait(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ck_assert_int_eq(on_launch(wait_on_device, NULL), 0);
}

static struct starpu_codelet wait_codelet = {
    .on_funcs = {put_wait},
    .on_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "wait",
};

/* The last kernel that is put behind the one that waits lets it go: it waits for ever where
 * none may be put there. */
static void put_scale_and_let_go(void *buffers[], void *arg)
{
    gpu_scale.on_funcs[0](buffers, arg);
    atomic_store(&may_go, true);
}

static struct starpu_codelet last_codelet = {
    .on_funcs = {put_scale_and_let_go},
    .on_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "scale",
};

static void submit_for(int worker, struct starpu_codelet *cl,
                       starpu_data_handle_t handle)
{
    uint64_t add = 1;
    struct starpu_task *task =
        starpu_task_build(cl, STARPU_RW, handle, STARPU_VALUE, &add,
                          sizeof(add), STARPU_EXECUTE_ON_WORKER, worker, 0);

    ck_assert_int_eq(orrery_task_submit_and_call(task), 0);
}

static const struct {
    const char *fault;
    bool follows;
    const char *words;
} followed[] = {
    {"kernel@1", false, "was submitted to be called once"},
    {"kernel@2", true, "task `scale' (number 2) has failed on " ON_KIND " 0"},
    {"kernel@2", true, "what was to follow it in the queue (1) may have used"},
};

/* All functions have been called when the first kernel ends. */
static void run_followed(unsigned way)
{
    static uint64_t values[GPU_LENGTH];
    starpu_data_handle_t handle;

    open_runtime(followed[way].fault, "0");
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                GPU_LENGTH, sizeof(uint64_t));
    if (followed[way].follows) {
        submit_for(0, &wait_codelet, handle);
        submit_for(0, &gpu_scale, handle);
        submit_for(0, &last_codelet, handle);
    } else {
        submit_for(0, &gpu_scale, handle);
    }
    starpu_data_unregister(handle);
    _exit(0);
}

START_TEST(a_kernel_fails_that_was_to_be_called_once_or_is_followed)
{
    pid_t child;
    int status;

    listen();
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        run_followed((unsigned)_i);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    check_said((const char *[]){followed[_i].words, NULL});
}
END_TEST

/* A copy between devices is in its queue, and a kernel behind it, when the kernel before
 * ends: what is in its place may have been used when it fails. */
static void run_behind_copy(void)
{
    static uint64_t values[GPU_LENGTH];
    starpu_data_handle_t handle;

    setenv("ORRERY_FOLLOW_PLACED", "1", 1);
    open_runtime("copy@2", "0");
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                GPU_LENGTH, sizeof(uint64_t));
    submit_for(0, &wait_codelet, handle);
    submit_for(1, &last_codelet, handle);
    starpu_data_unregister(handle);
    _exit(0);
}

START_TEST(a_copy_that_kernels_follow_fails_and_the_remedy_is_said)
{
    pid_t child;
    int status;

    listen();
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        run_behind_copy();
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    /* Whichever is seen first to fail, the copy or the kernel behind it. */
    check_said((const char *[]){" the copy of data number 1 to " ON_KIND " 1",
                                "ORRERY_FOLLOW_PLACED=0 lets tasks wait",
                                NULL});
}
END_TEST

/* -- a device that has no memory for anybody -- */

static pid_t begin_without_memory(void)
{
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        open_runtime("alloc@1+", "0");
        add_up(false);
        _exit(0);
    }
    return child;
}

/* How often, so far. */
static unsigned count_said(const char *words)
{
    static char text[1 << 16];
    ssize_t n = pread(fileno(said), text, sizeof(text) - 1, 0);
    unsigned count = 0;

    text[n > 0 ? n : 0] = 0;
    for (const char *at = text; (at = strstr(at, words)); at++)
        count++;
    return count;
}

/* Threads of the vendor's may give some back: it waits, and says how not to. */
START_TEST(who_waits_for_memory_of_others_says_how_to_end_that)
{
    pid_t child;
    int status;

    listen();
    child = begin_without_memory();
    /* Both at once cannot tell Check what holds. */
    while (!count_said("STARPU_WATCHDOG_CRASH=1") &&
           waitpid(child, &status, WNOHANG) == 0)
        usleep(10000);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    /* Once a device, however often it was asked. */
    ck_assert_uint_le(count_said("allocation of 4000 bytes on " ON_KIND " 0"),
                      1);
    ck_assert_uint_le(count_said("allocation of 4000 bytes on " ON_KIND " 1"),
                      1);
    check_said((const char *[]){"an allocation of 4000 bytes on " ON_KIND " ",
                                "allocates no more, although ",
                                "waits for 4000 bytes",
                                "Free what others have there",
                                "STARPU_WATCHDOG_TIMEOUT=MICROSECONDS", NULL});
}
END_TEST

START_TEST(what_it_says_ends_the_run)
{
    int status;
    pid_t child;

    setenv("STARPU_WATCHDOG_TIMEOUT", "100000", 1);
    setenv("STARPU_WATCHDOG_CRASH", "1", 1);
    listen();
    child = begin_without_memory();
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    check_said((const char *[]){"no task has ended for 0.100 s", NULL});
}
END_TEST

/* -- a launch that is refused is seen by the codelet's function only -- */

/* From nothing: a try that fails leaves nothing to be undone. */
static void compute(void *arg)
{
    struct gpu_step *step = arg;

    memset(step->to, 0, step->n * sizeof(*step->to));
    gpu_compute(step);
    free(step);
}

static atomic_int nlaunches;

static void launch(void *buffers[], void *arg)
{
    struct gpu_step *step = malloc(sizeof(*step));

    ck_assert_ptr_nonnull(step);
    *step = (struct gpu_step){
        .to = on_bytes((void *)STARPU_VECTOR_GET_PTR(buffers[0])),
        .add = *(uint64_t *)arg,
        .n = GPU_LENGTH,
    };
    atomic_fetch_add(&nlaunches, 1);
    if (on_launch(compute, step) == 0)
        return;
    free(step);
    starpu_task_ft_failed(starpu_task_get_current());
}

START_TEST(a_task_whose_launch_is_refused_is_tried_again)
{
    static struct starpu_codelet cl = {
        .on_funcs = {launch},
        .on_flags = {STARPU_CUDA_ASYNC},
        .nbuffers = 1,
        .modes = {STARPU_W},
        .name = "launch",
    };
    static uint64_t values[GPU_LENGTH], expected[GPU_LENGTH];
    static uint64_t add = 7;
    starpu_data_handle_t handle;
    struct starpu_task *task;

    open_runtime("launch@1", "0");
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                GPU_LENGTH, sizeof(uint64_t));
    task = starpu_task_create();
    task->cl = &cl;
    task->cl_arg = &add;
    task->cl_arg_size = sizeof(add);
    task->handles[0] = handle;
    task->prologue_callback_func = starpu_task_ft_prologue;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    starpu_data_unregister(handle);
    gpu_compute(&(struct gpu_step){expected, NULL, add, GPU_LENGTH});
    ck_assert_mem_eq(values, expected, sizeof(values));
    ck_assert_int_eq(atomic_load(&nlaunches), 2);
    starpu_shutdown();
}
END_TEST

/* -- a launch that is refused, wherever it comes -- */

static atomic_uint nlaunches_of[2], nrefused; /* of devices and processors */

/* to = from + 1, element by element. */
static void compute_next(void *arg)
{
    struct gpu_step *step = arg;

    for (unsigned i = 0; i < step->n; i++)
        step->to[i] = step->from[i] + 1;
    free(step);
}

static void launch_next(void *buffers[], void *arg)
{
    struct gpu_step *step = malloc(sizeof(*step));

    (void)arg;
    ck_assert_ptr_nonnull(step);
    *step = (struct gpu_step){
        .to = on_bytes((void *)STARPU_VECTOR_GET_PTR(buffers[0])),
        .from = on_bytes((void *)STARPU_VECTOR_GET_PTR(buffers[1])),
        .n = STARPU_VECTOR_GET_NX(buffers[0]),
    };
    atomic_fetch_add(&nlaunches_of[0], 1);
    if (on_launch(compute_next, step) == 0)
        return;
    free(step);
    atomic_fetch_add(&nrefused, 1);
    starpu_task_ft_failed(starpu_task_get_current());
}

static void launch_and_wait(void *buffers[], void *arg)
{
    launch_next(buffers, arg);
    (void)on_synchronize();
}

static void next_on_cpu(void *buffers[], void *arg)
{
    const uint64_t *from = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);
    uint64_t *to = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    atomic_fetch_add(&nlaunches_of[1], 1);
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] = from[i] + 1;
}

/* By the devices alone in their streams, waited for in the kernel, beside
 * processors; in parts or not. */
static const struct way {
    struct starpu_codelet cl;
    const char *name, *ncpus;
    unsigned nparts;
} ways[] = {
    {{.on_funcs = {launch_next},
      .on_flags = {STARPU_CUDA_ASYNC},
      .nbuffers = 2,
      .modes = {STARPU_W, STARPU_R}},
     "asynchronous",
     "0",
     1},
    {{.on_funcs = {launch_and_wait},
      .nbuffers = 2,
      .modes = {STARPU_W, STARPU_R}},
     "synchronous",
     "0",
     1},
    {{.on_funcs = {launch_next},
      .on_flags = {STARPU_CUDA_ASYNC},
      .nbuffers = 2,
      .modes = {STARPU_W, STARPU_R}},
     "in parts",
     "0",
     3},
    {{.on_funcs = {launch_next},
      .cpu_funcs = {next_on_cpu},
      .on_flags = {STARPU_CUDA_ASYNC},
      .nbuffers = 2,
      .modes = {STARPU_W, STARPU_R}},
     "beside processors",
     "2",
     2},
};

enum { NWAYS = sizeof(ways) / sizeof(ways[0]), NSTEPS = 4 };

static void submit_try(struct starpu_codelet *cl, starpu_data_handle_t to,
                       starpu_data_handle_t from)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->handles[0] = to;
    task->handles[1] = from;
    task->prologue_callback_func = starpu_task_ft_prologue;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

/* From one vector to the other, and back. */
static void walk(struct starpu_codelet *cl, starpu_data_handle_t *handles,
                 unsigned nparts)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block,
        .nchildren = nparts,
    };

    for (int d = 0; d < 2; d++)
        starpu_data_partition(handles[d], &filter);
    for (int k = 0; k < NSTEPS; k++)
        for (unsigned i = 0; i < nparts; i++)
            submit_try(cl, starpu_data_get_sub_data(handles[(k + 1) % 2], 1, i),
                       starpu_data_get_sub_data(handles[k % 2], 1, i));
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    for (int d = 0; d < 2; d++)
        starpu_data_unpartition(handles[d], STARPU_MAIN_RAM);
}

START_TEST(a_launch_is_refused_once_and_no_value_is_missing)
{
    static uint64_t values[2][GPU_LENGTH];
    const struct way *way = &ways[_i % NWAYS];
    struct starpu_codelet cl = way->cl;
    unsigned at = 1 + (unsigned)_i / NWAYS, n = NSTEPS * way->nparts;
    starpu_data_handle_t handles[2];
    char fault[32];

    snprintf(fault, sizeof(fault), "launch@%u", at);
    open_runtime(fault, way->ncpus);
    for (int d = 0; d < 2; d++)
        starpu_vector_data_register(&handles[d], STARPU_MAIN_RAM,
                                    (uintptr_t)values[d], GPU_LENGTH,
                                    sizeof(uint64_t));
    walk(&cl, handles, way->nparts);
    for (int d = 0; d < 2; d++)
        starpu_data_unregister(handles[d]);
    for (unsigned i = 0; i < GPU_LENGTH; i++)
        ck_assert_msg(values[0][i] == NSTEPS && values[1][i] == NSTEPS - 1,
                      "%s, %s: element %u", way->name, fault, i);
    ck_assert_uint_eq(nrefused, at <= nlaunches_of[0]);
    ck_assert_uint_eq(nlaunches_of[0] + nlaunches_of[1], n + nrefused);
    starpu_shutdown();
}
END_TEST

/* So many places of the launch that is refused: LAUNCHES in the environment. */
static int nplaces(void)
{
    const char *text = getenv("LAUNCHES");

    return text ? (int)strtol(text, NULL, 10) : 2;
}

SUITE_MAIN(gpu_faults)
{
    Suite *suite = suite_create("gpu-faults");
    TCase *tc = tcase_create("all");

    gpu_measure_links();
    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_fault_is_said_with_its_device_call_and_task, 0,
                        sizeof(cases) / sizeof(*cases));
    tcase_add_test(tc, memory_that_is_not_pinned_is_said_once);
    tcase_add_test(tc, devices_for_opengl_that_are_not_used_are_said);
    tcase_add_loop_test(tc, what_to_change_is_said_where_no_worker_is_left, 0,
                        sizeof(remedies) / sizeof(*remedies));
    tcase_add_loop_test(
        tc, a_kernel_fails_that_was_to_be_called_once_or_is_followed, 0,
        sizeof(followed) / sizeof(*followed));
    tcase_add_test(tc, a_copy_that_kernels_follow_fails_and_the_remedy_is_said);
    tcase_add_test(tc, who_waits_for_memory_of_others_says_how_to_end_that);
    tcase_add_test(tc, what_it_says_ends_the_run);
    tcase_add_test(tc, a_task_whose_launch_is_refused_is_tried_again);
    tcase_add_loop_test(tc, a_launch_is_refused_once_and_no_value_is_missing, 0,
                        nplaces() * NWAYS);
    return suite_main(suite);
}

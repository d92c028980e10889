/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/misuse.c - programs that go wrong, one per name on the command
 * line; test-failures.py runs them and looks at how they end. A scenario
 * returns what the program returns. One thread unless documented otherwise.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <orrery.h>
#include <starpu.h>

#define TILE 1024 /* bytes of a datum */

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet plain = {
    .cpu_funcs = {nothing},
    .cuda_funcs = {nothing},
    .name = "k",
};

static struct starpu_perfmodel model = {
    .type = STARPU_HISTORY_BASED,
    .symbol = "misuse",
};

static struct starpu_codelet modelled = {
    .cpu_funcs = {nothing},
    .cuda_funcs = {nothing},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .model = &model,
    .name = "modelled",
};

/* The status for a call that must succeed and did not. */
static void need(int rc, const char *call)
{
    if (rc == 0)
        return;
    fprintf(stderr, "misuse: %s: %s\n", call, strerror(-rc));
    exit(9);
}

static void open_machine(void)
{
    need(starpu_init(NULL), "starpu_init");
}

static struct starpu_task *new_task(const char *name)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &plain;
    task->name = name;
    return task;
}

static void submit(struct starpu_task *task)
{
    need(starpu_task_submit(task), "starpu_task_submit");
}

static void submit_many(int n)
{
    for (int i = 0; i < n; i++)
        submit(new_task("some"));
}

static char memory[TILE];
static starpu_data_handle_t shared_handle;
static struct starpu_task *shared_task;

static starpu_data_handle_t register_memory(void)
{
    starpu_data_handle_t handle;

    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)memory,
                                TILE, 1);
    return handle;
}

/* -- starting ------------------------------------------------------------- */

static int run_some(void)
{
    int rc = starpu_init(NULL);

    printf("starpu_init: %d\n", rc);
    if (rc != 0)
        return 1;
    submit_many(10);
    need(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    printf("at %.1f\n", starpu_timing_now());
    starpu_shutdown();
    return 0;
}

static int no_worker_at_all(void)
{
    struct starpu_conf conf;
    int rc;

    starpu_conf_init(&conf);
    conf.ncpus = conf.ncuda = conf.nopencl = 0;
    rc = starpu_init(&conf);
    printf("starpu_init: %s\n", rc == -ENODEV ? "-ENODEV" : "another");
    return rc != -ENODEV;
}

/* On the combined worker of two, which has no function for it, and no time. */
static int forkjoin_without_time(void)
{
    static struct starpu_codelet wide = {.where = STARPU_CPU,
                                         .type = STARPU_FORKJOIN,
                                         .max_parallelism = 2,
                                         .name = "wide"};
    int members[] = {0, 1}, rc;
    struct starpu_task *task;

    if (starpu_init(NULL) != 0)
        return 2;
    task = starpu_task_create();
    task->cl = &wide;
    task->execute_on_a_specific_worker = 1;
    task->workerid =
        (unsigned)starpu_combined_worker_assign_workerid(2, members);
    task->destroy = 0;
    rc = starpu_task_submit(task);
    printf("starpu_task_submit: %s\n", rc == -ENODEV ? "-ENODEV" : "another");
    starpu_task_destroy(task);
    starpu_shutdown();
    return rc != -ENODEV;
}

static int no_worker_for_task(void)
{
    struct starpu_codelet fpga = {.where = STARPU_MAX_FPGA, .name = "fpga"};
    struct starpu_task *task;
    int rc;

    open_machine();
    task = starpu_task_create();
    task->cl = &fpga;
    rc = starpu_task_submit(task);
    printf("starpu_task_submit: %s\n", rc == -ENODEV ? "-ENODEV" : "another");
    task->destroy = 0;
    starpu_task_destroy(task);
    submit_many(3);
    starpu_task_wait_for_all();
    starpu_shutdown();
    return rc != -ENODEV;
}

static char *host_of_round(int i)
{
    return getenv(i == 0 ? "FIRST" : "SECOND");
}

/* A mode that the codelet does not have. */
static int another_mode(void)
{
    static struct starpu_codelet cl = {.where = STARPU_CPU,
                                       .name = "adds",
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW}};
    starpu_data_handle_t handle;
    int rc;

    open_machine();
    handle = register_memory();
    rc = starpu_task_insert(&cl, (int)STARPU_RW | (int)STARPU_COMMUTE, handle, 0);
    starpu_data_unregister(handle);
    starpu_shutdown();
    return rc != -EINVAL;
}

static int two_rounds(void)
{
    for (int i = 0; i < 2; i++) {
        setenv("ORRERY_MACHINE", host_of_round(i), 1);
        open_machine();
        submit_many(100);
        starpu_task_wait_for_all();
        printf("%u workers\n", starpu_worker_get_count());
        starpu_shutdown();
    }
    return 0;
}

/* -- models --------------------------------------------------------------- */

static int with_model(void)
{
    starpu_data_handle_t handle;

    open_machine();
    handle = register_memory();
    for (int i = 0; i < 30; i++)
        need(starpu_task_insert(&modelled, STARPU_RW, handle, 0),
             "starpu_task_insert");
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
    starpu_shutdown();
    puts("done");
    return 0;
}

/* Two codelets lack times, one of them for two footprints. */
static int kernels_without_times(void)
{
    static struct starpu_perfmodel second = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "second"};
    static struct starpu_codelet other = {
        .cpu_funcs = {nothing},
        .nbuffers = 1,
        .modes = {STARPU_RW},
        .model = &second,
    };
    static char more[2 * TILE];
    starpu_data_handle_t handle[2];

    open_machine();
    handle[0] = register_memory();
    starpu_vector_data_register(&handle[1], STARPU_MAIN_RAM, (uintptr_t)more,
                                2 * TILE, 1);
    starpu_pause();
    for (int i = 0; i < 2; i++)
        need(starpu_task_insert(&modelled, STARPU_RW, handle[i], 0), "insert");
    need(starpu_task_insert(&other, STARPU_RW, handle[0], 0), "insert");
    starpu_resume();
    fputs("still buffered", stdout);
    starpu_task_wait_for_all();
    puts("not reached");
    return 0;
}

static int codelet_without_model(void)
{
    open_machine();
    submit_many(2);
    starpu_task_wait_for_all();
    printf("simulated %.1f us\n", starpu_timing_now());
    starpu_shutdown();
    return 0;
}

static int codelet_without_name(void)
{
    static struct starpu_codelet nameless = {.cpu_funcs = {nothing}};
    struct starpu_task *task;

    open_machine();
    task = new_task("named");
    task->cl = &nameless;
    submit(task);
    starpu_task_wait_for_all();
    starpu_shutdown();
    return 0;
}

/* -- deadlocks ------------------------------------------------------------ */

/* What is done with data that have ended, or that others end. */
/* More than memory node WHERE has, which HOW says. */
static int data_too_large(void)
{
    enum { SIZE = 16 << 20 };
    const char *how = getenv("HOW");
    int node = atoi(getenv("WHERE"));
    starpu_data_handle_t handle;
    void *bytes = calloc(SIZE, 1);

    open_machine();
    starpu_vector_data_register(&handle, node ? STARPU_MAIN_RAM : -1,
                                node ? (uintptr_t)bytes : 0, SIZE, 1);
    starpu_data_set_name(handle, "A");
    starpu_data_set_coordinates(handle, 2, 3, 4);
    for (int i = 0; i < 2 && strcmp(how, "prefetch") == 0; i++)
        need(starpu_data_prefetch_on_node(handle, (unsigned)node, 1),
             "starpu_data_prefetch_on_node");
    if (strcmp(how, "allocate") == 0)
        need(starpu_data_request_allocation(handle, (unsigned)node),
             "starpu_data_request_allocation");
    if (strcmp(how, "acquire") == 0)
        starpu_data_acquire_on_node(handle, node,
                                    node ? STARPU_R : STARPU_W);
    starpu_data_unregister(handle);
    free(bytes);
    starpu_shutdown();
    return 0;
}

static int after_the_end(void)
{
    static uint64_t words[100];
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    struct starpu_task *task;
    starpu_data_handle_t h;
    int rc;

    open_machine();
    starpu_vector_data_register(&h, 0, (uintptr_t)words, 100, 8);
    if (strcmp(getenv("WHAT"), "piece") == 0) {
        starpu_data_partition(h, &filter);
        starpu_data_unregister(starpu_data_get_child(h, 0));
    }
    starpu_data_unregister(h);
    if (strcmp(getenv("WHAT"), "twice") == 0)
        starpu_data_unregister(h);
    if (strcmp(getenv("WHAT"), "acquire") == 0)
        return -starpu_data_acquire(h, STARPU_R);
    task = starpu_task_create();
    task->cl = &modelled;
    task->handles[0] = h;
    rc = starpu_task_submit(task);
    starpu_shutdown();
    return -rc;
}

/* What is said of data A(3,4), in pieces or not, cannot be done. */
static int wrong_pieces(void)
{
    const char *what = getenv("WHAT");
    static uint64_t words[100];
    starpu_data_handle_t h, parts[2];
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};

    open_machine();
    starpu_vector_data_register(&h, 0, (uintptr_t)words, 100, 8);
    starpu_data_set_name(h, "A");
    starpu_data_set_coordinates(h, 2, 3, 4);
    if (strncmp(what, "plan", 4) == 0)
        starpu_data_partition_plan(h, &filter, parts);
    else if (strcmp(what, "join") != 0)
        starpu_data_partition(h, &filter);
    if (strcmp(what, "plan-cut") == 0 || strcmp(what, "cut") == 0)
        starpu_data_partition(h, &filter);
    if (strcmp(what, "plan-join") == 0)
        starpu_data_unpartition_submit(h, 2, parts, -1);
    if (strcmp(what, "join") == 0)
        starpu_data_unpartition(h, STARPU_MAIN_RAM);
    if (strcmp(what, "child") == 0)
        (void)starpu_data_get_child(h, 2);
    if (strcmp(what, "plan-end") == 0)
        starpu_data_unregister(h);
    if (strcmp(what, "acquire") == 0)
        return -starpu_data_acquire(h, STARPU_R);
    return 0;
}

static int wait_for_unsubmitted(void)
{
    struct starpu_task *first, *second;

    open_machine();
    submit_many(4);
    first = new_task("forgotten");
    second = new_task("blocked");
    starpu_task_declare_deps(second, 1, first);
    submit(second);
    fputs("still buffered", stdout);
    starpu_task_wait_for_all();
    puts("not reached");
    return 0;
}

/* A chain through one datum whose first task waits for one never submitted, which would
 * use another datum. */
static int long_chain(void)
{
    struct starpu_codelet uses = plain;
    struct starpu_task *first, *task;

    open_machine();
    uses.nbuffers = 1;
    uses.modes[0] = STARPU_RW;
    first = new_task("forgotten");
    first->cl = &uses;
    first->handles[0] = register_memory();
    shared_handle = register_memory();
    for (int i = 0; i < 3000; i++) {
        task = new_task("link");
        task->cl = &uses;
        task->handles[0] = shared_handle;
        if (i == 0)
            starpu_task_declare_deps(task, 1, first);
        submit(task);
    }
    starpu_task_wait_for_all();
    puts("not reached");
    return 0;
}

static int wait_for_tag(void)
{
    struct starpu_task *task;

    open_machine();
    task = new_task("tagged");
    task->use_tag = 1;
    task->tag_id = 7;
    starpu_tag_declare_deps((starpu_tag_t)7, 1, (starpu_tag_t)42);
    submit(task);
    starpu_task_wait_for_all();
    puts("not reached");
    return 0;
}

static int acquire_twice(void)
{
    starpu_data_handle_t handle;

    open_machine();
    handle = register_memory();
    starpu_data_set_name(handle, "vector A");
    need(starpu_data_acquire(handle, STARPU_RW), "starpu_data_acquire");
    starpu_data_acquire(handle, STARPU_RW);
    puts("not reached");
    return 0;
}

static int unregister_acquired(void)
{
    starpu_data_handle_t handle;

    open_machine();
    handle = register_memory();
    starpu_data_set_name(handle, "vector A");
    need(starpu_data_acquire(handle, getenv("READS") ? STARPU_R : STARPU_RW),
         "starpu_data_acquire");
    starpu_data_unregister(handle);
    puts("not reached");
    return 0;
}

static int partition_acquired(void)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t handle;

    open_machine();
    handle = register_memory();
    starpu_data_set_name(handle, "vector A");
    need(starpu_data_acquire(handle, STARPU_RW), "starpu_data_acquire");
    starpu_data_partition(handle, &filter);
    puts("not reached");
    return 0;
}

static int wait_while_acquired(void)
{
    struct starpu_codelet uses = plain;
    starpu_data_handle_t handle;

    open_machine();
    handle = register_memory();
    uses.nbuffers = 1;
    uses.modes[0] = STARPU_RW;
    need(starpu_data_acquire(handle, STARPU_RW), "starpu_data_acquire");
    need(starpu_task_insert(&uses, STARPU_RW, handle, STARPU_NAME, "user", 0),
         "starpu_task_insert");
    starpu_task_wait_for_all();
    puts("not reached");
    return 0;
}

/* A kernel that waits for a task that writes what it reads itself. */
static void wait_for_writer(void *buffers[], void *arg)
{
    static struct starpu_codelet writes;
    struct starpu_task *task = new_task("writer");

    (void)buffers;
    (void)arg;
    writes = plain;
    writes.nbuffers = 1;
    writes.modes[0] = STARPU_RW;
    task->cl = &writes;
    task->handles[0] = shared_handle;
    task->detach = 0;
    submit(task);
    need(starpu_task_wait(task), "starpu_task_wait");
}

static void unregister_own(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    starpu_data_unregister(shared_handle);
}

static int in_kernel(void (*kernel)(void *buffers[], void *arg))
{
    struct starpu_codelet reads = plain;

    open_machine();
    shared_handle = register_memory();
    starpu_data_set_name(shared_handle, "vector A");
    reads.cpu_funcs[0] = kernel;
    reads.cuda_funcs[0] = NULL;
    reads.nbuffers = 1;
    reads.modes[0] = STARPU_R;
    reads.flags = STARPU_CODELET_SIMGRID_EXECUTE;
    need(starpu_task_insert(&reads, STARPU_R, shared_handle, STARPU_NAME,
                            "reader", 0),
         "starpu_task_insert");
    starpu_task_wait_for_all();
    puts("not reached");
    return 0;
}

static int wait_for_writer_in_kernel(void)
{
    return in_kernel(wait_for_writer);
}

static int unregister_in_kernel(void)
{
    return in_kernel(unregister_own);
}

/* Keeps data in another mode that are not acquired, and then, acquired for
 * reading, for writing. */
static int keep_otherwise(void)
{
    starpu_data_handle_t handle;

    open_machine();
    handle = register_memory();
    starpu_data_release_to(handle, STARPU_R);
    starpu_data_release_to_on_node(handle, STARPU_W, STARPU_MAIN_RAM);
    starpu_data_release_to(handle, STARPU_NONE);
    starpu_data_acquire(handle, STARPU_R);
    starpu_data_release_to(handle, STARPU_R);
    puts("kept for reading");
    fflush(stdout);
    starpu_data_release_to(handle, STARPU_RW);
    puts("not reached");
    return 0;
}

/* -- early ends ----------------------------------------------------------- */

static void leave(void *arg)
{
    exit(*(int *)arg);
}

static void leave_kernel(void *buffers[], void *arg)
{
    (void)buffers;
    leave(arg);
}

static int status_left = 7;

static void printed_at_exit(void)
{
    puts("atexit ran");
}

static int exit_in_main(void)
{
    atexit(printed_at_exit);
    open_machine();
    submit_many(100);
    starpu_usleep(200);
    exit(7);
}

static int exit_in_task(void)
{
    struct starpu_codelet leaves = plain;
    struct starpu_task *task;

    atexit(printed_at_exit);
    leaves.cpu_funcs[0] = leaves.cuda_funcs[0] = leave_kernel;
    open_machine();
    submit_many(10);
    task = new_task("leaves");
    task->cl = &leaves;
    task->cl_arg = &status_left;
    submit(task);
    starpu_task_wait_for_all();
    puts("not reached");
    return 0;
}

static int exit_in_callback(void)
{
    struct starpu_task *task;

    atexit(printed_at_exit);
    open_machine();
    submit_many(10);
    task = new_task("leaves");
    task->callback_func = leave;
    task->callback_arg = &status_left;
    submit(task);
    starpu_task_wait_for_all();
    puts("not reached");
    return 0;
}

static int no_shutdown(void)
{
    open_machine();
    submit_many(100);
    return 0;
}

/* Goes on for ever in virtual time; the other end looks for "ready". */
static int run_for_ever(void)
{
    open_machine();
    for (int i = 0;; i++) {
        submit_many(20);
        starpu_task_wait_for_all();
        if (i == 3)
            puts("ready");
        fflush(stdout);
    }
    return 0;
}

/* Never enters the library again. */
static int compute_for_ever(void)
{
    open_machine();
    submit_many(20);
    starpu_task_wait_for_all();
    puts("ready");
    fflush(stdout);
    for (volatile unsigned i = 0;; i++)
        ;
    return 0;
}

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

/* The application's own handler stays, and outlives starpu_shutdown. */
static int own_handler(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    int after_start = getenv("AFTER") != NULL;

    if (!after_start)
        sigaction(SIGINT, &action, NULL);
    open_machine();
    if (after_start)
        sigaction(SIGINT, &action, NULL);
    raise(SIGINT);
    printf("caught %d\n", caught == SIGINT);
    caught = 0;
    submit_many(3);
    starpu_task_wait_for_all();
    starpu_shutdown();
    raise(SIGINT);
    printf("caught %d\n", caught == SIGINT);
    return 0;
}

static int fork_and_go_on(void)
{
    int status = -1;
    pid_t child;

    open_machine();
    submit_many(10);
    fflush(stdout);
    child = fork();
    if (child == 0)
        exit(5);
    waitpid(child, &status, 0);
    printf("child ended with %d\n",
           WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    printf("report there: %d\n", access(getenv("ORRERY_REPORT"), F_OK) == 0);
    starpu_task_wait_for_all();
    starpu_shutdown();
    printf("report there: %d\n", access(getenv("ORRERY_REPORT"), F_OK) == 0);
    return 0;
}

/* -- main and virtual time ------------------------------------------------ */

static pthread_mutex_t raw_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t raw_cond = PTHREAD_COND_INITIALIZER;

static void signal_raw(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&raw_mutex);
    pthread_cond_signal(&raw_cond);
    pthread_mutex_unlock(&raw_mutex);
}

static int block_outside(void)
{
    struct starpu_task *task;

    open_machine();
    task = new_task("signals");
    task->callback_func = signal_raw;
    pthread_mutex_lock(&raw_mutex);
    submit(task);
    puts("ready");
    fflush(stdout);
    pthread_cond_wait(&raw_cond, &raw_mutex);
    puts("not reached");
    return 0;
}

static void *call_from_outside(void *arg)
{
    const char *which = arg;

    if (strcmp(which, "submit") == 0)
        printf("returned %d\n", starpu_task_submit(shared_task));
    else if (strcmp(which, "acquire") == 0)
        printf("returned %d\n", starpu_data_acquire(shared_handle, STARPU_R));
    else
        printf("returned %d\n", starpu_task_wait_for_all());
    fflush(stdout);
    return NULL;
}

static int call_in_thread(const char *which)
{
    char name[16];
    pthread_t thread;

    snprintf(name, sizeof(name), "%s", which);
    open_machine();
    submit_many(5);
    shared_handle = register_memory();
    shared_task = new_task("outside");
    pthread_create(&thread, NULL, call_from_outside, name);
    pthread_join(thread, NULL);
    puts("not reached");
    return 0;
}

static int submit_in_thread(void)
{
    return call_in_thread("submit");
}

static int acquire_in_thread(void)
{
    return call_in_thread("acquire");
}

static int wait_in_thread(void)
{
    return call_in_thread("wait");
}

static starpu_pthread_mutex_t locks[2] = {STARPU_PTHREAD_MUTEX_INITIALIZER,
                                          STARPU_PTHREAD_MUTEX_INITIALIZER};
static int inside, most_inside, turns;

static void *hold_while_asleep(void *arg)
{
    for (int i = 0; i < 20; i++) {
        starpu_pthread_mutex_lock(&locks[0]);
        if (++inside > most_inside)
            most_inside = inside;
        starpu_usleep(10);
        turns++;
        inside--;
        starpu_pthread_mutex_unlock(&locks[0]);
    }
    return arg;
}

static int mutex_across_sleep(void)
{
    starpu_pthread_t threads[4];

    open_machine();
    for (int i = 0; i < 4; i++)
        starpu_pthread_create(&threads[i], NULL, hold_while_asleep, NULL);
    submit_many(50);
    for (int i = 0; i < 4; i++)
        starpu_pthread_join(threads[i], NULL);
    starpu_task_wait_for_all();
    starpu_shutdown();
    printf("%d turns, %d inside at once\n", turns, most_inside);
    return 0;
}

static void *lock_second_first(void *arg)
{
    starpu_pthread_mutex_lock(&locks[1]);
    starpu_usleep(10);
    starpu_pthread_mutex_lock(&locks[0]);
    return arg;
}

static int lock_each_other(void)
{
    starpu_pthread_t thread;

    open_machine();
    starpu_pthread_create(&thread, NULL, lock_second_first, NULL);
    starpu_pthread_mutex_lock(&locks[0]);
    starpu_usleep(20);
    starpu_pthread_mutex_lock(&locks[1]);
    puts("not reached");
    return 0;
}

static int jump(void)
{
    static jmp_buf point;
    volatile int jumps = 0;

    open_machine();
    setjmp(point);
    submit_many(10);
    starpu_usleep(100);
    if (jumps < 5) {
        jumps++;
        longjmp(point, 1);
    }
    starpu_task_wait_for_all();
    starpu_shutdown();
    printf("%d jumps\n", jumps);
    return 0;
}

/* -- data ----------------------------------------------------------------- */

static int read_unwritten(void)
{
    struct starpu_codelet reads = plain;
    starpu_data_handle_t handle;
    int rc;

    open_machine();
    starpu_vector_data_register(&handle, -1, 0, TILE, 1);
    starpu_data_set_name(handle, "empty one");
    reads.nbuffers = 1;
    reads.modes[0] = STARPU_R;
    reads.name = "reader";
    rc = starpu_task_insert(&reads, STARPU_R, handle, 0);
    printf("starpu_task_insert: %d\n", rc);
    fflush(stdout);
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
    starpu_shutdown();
    return 0;
}

static int acquire_unwritten(void)
{
    starpu_data_handle_t handle;

    open_machine();
    starpu_vector_data_register(&handle, -1, 0, TILE, 1);
    printf("starpu_data_acquire: %d\n", starpu_data_acquire(handle, STARPU_R));
    fflush(stdout);
    starpu_data_unregister(handle);
    starpu_shutdown();
    return 0;
}

/* Three data of 16 MiB in one task, for GPUs only. */
/* More of a GPU than there is of this process's memory, twice. */
static int hold_much(void)
{
    enum { SIZE = 700 << 20 };
    uintptr_t block[2];

    open_machine();
    for (int i = 0; i < 2; i++) {
        block[i] = starpu_malloc_on_node(1, SIZE);
        printf("block %d: %s\n", i, block[i] ? "there" : "none");
    }
    for (int i = 0; i < 2; i++)
        if (block[i])
            starpu_free_on_node(1, block[i], SIZE);
    starpu_shutdown();
    return 0;
}

static int task_too_large(void)
{
    struct starpu_codelet large = plain;
    starpu_data_handle_t handle[3];
    enum { SIZE = 16 << 20 };
    char *memory_of[3];
    int rc;

    memset(large.cpu_funcs, 0, sizeof(large.cpu_funcs));
    large.where = STARPU_CUDA;
    large.name = "large";
    large.nbuffers = 3;
    open_machine();
    for (int i = 0; i < 3; i++) {
        memory_of[i] = calloc(SIZE, 1);
        starpu_vector_data_register(&handle[i], STARPU_MAIN_RAM,
                                    (uintptr_t)memory_of[i], SIZE, 1);
        large.modes[i] = STARPU_RW;
    }
    rc = starpu_task_insert(&large, STARPU_RW, handle[0], STARPU_RW, handle[1],
                            STARPU_RW, handle[2], 0);
    printf("starpu_task_insert: %s\n", rc == -ENODEV ? "-ENODEV" : "another");
    starpu_task_wait_for_all();
    for (int i = 0; i < 3; i++) {
        starpu_data_unregister(handle[i]);
        free(memory_of[i]);
    }
    starpu_shutdown();
    return rc != 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} scenarios[] = {
    {"run-some", run_some},
    {"no-worker-at-all", no_worker_at_all},
    {"no-worker-for-task", no_worker_for_task},
    {"forkjoin-without-time", forkjoin_without_time},
    {"another-mode", another_mode},
    {"two-rounds", two_rounds},
    {"with-model", with_model},
    {"kernels-without-times", kernels_without_times},
    {"codelet-without-model", codelet_without_model},
    {"codelet-without-name", codelet_without_name},
    {"wait-for-unsubmitted", wait_for_unsubmitted},
    {"long-chain", long_chain},
    {"wait-for-tag", wait_for_tag},
    {"acquire-twice", acquire_twice},
    {"unregister-acquired", unregister_acquired},
    {"partition-acquired", partition_acquired},
    {"wait-while-acquired", wait_while_acquired},
    {"keep-otherwise", keep_otherwise},
    {"wait-for-writer-in-kernel", wait_for_writer_in_kernel},
    {"unregister-in-kernel", unregister_in_kernel},
    {"lock-each-other", lock_each_other},
    {"exit-in-main", exit_in_main},
    {"exit-in-task", exit_in_task},
    {"exit-in-callback", exit_in_callback},
    {"no-shutdown", no_shutdown},
    {"run-for-ever", run_for_ever},
    {"compute-for-ever", compute_for_ever},
    {"own-handler", own_handler},
    {"fork", fork_and_go_on},
    {"block-outside", block_outside},
    {"submit-in-thread", submit_in_thread},
    {"acquire-in-thread", acquire_in_thread},
    {"wait-in-thread", wait_in_thread},
    {"mutex-across-sleep", mutex_across_sleep},
    {"jump", jump},
    {"read-unwritten", read_unwritten},
    {"acquire-unwritten", acquire_unwritten},
    {"hold-much", hold_much},
    {"task-too-large", task_too_large},
    {"data-too-large", data_too_large},
    {"after-the-end", after_the_end},
    {"wrong-pieces", wrong_pieces},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
        if (argc == 2 && strcmp(argv[1], scenarios[i].name) == 0)
            return scenarios[i].run();
    fprintf(stderr, "usage: misuse SCENARIO\n");
    return 2;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/recorded.c - a program whose calls are recorded: those that random
 * programs do not make. Arguments have it do what records cannot have.
 *
 *     recorded [callback] [poll] [thread] [synchronous] [knob] [filter] [quit]
 */
#include <orrery.h>
#include <starpu.h>
#include <stdlib.h>
#include <string.h>

static int argc_;
static char **argv_;

static int wants(const char *what)
{
    for (int i = 1; i < argc_; i++)
        if (!strcmp(argv_[i], what))
            return 1;
    return 0;
}

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

/* --- models that ask --- */

static double cost(struct starpu_task *task, unsigned impl)
{
    (void)impl;
    return 10.0 + 0.1 * task->priority;
}

static double arch_cost(struct starpu_task *task,
                        struct starpu_perfmodel_arch *arch, unsigned impl)
{
    return cost(task, impl) *
           (arch->devices[0].type == STARPU_CPU_WORKER ? 3 : 1);
}

static uint32_t footprint(struct starpu_task *task)
{
    return 0xabc00000U + (uint32_t)task->priority;
}

static size_t size_base(struct starpu_task *task, unsigned impl)
{
    (void)impl;
    return 1000 + (size_t)task->priority;
}

static struct starpu_perfmodel common = {
    .type = STARPU_COMMON, .cost_function = cost, .symbol = "recorded_common"};
static struct starpu_perfmodel per_arch = {.type = STARPU_PER_ARCH,
                                           .arch_cost_function = arch_cost,
                                           .symbol = "recorded_per_arch"};
static struct starpu_perfmodel printed = {.type = STARPU_HISTORY_BASED,
                                          .footprint = footprint,
                                          .symbol = "recorded_printed"};
static struct starpu_perfmodel sized = {.type = STARPU_NL_REGRESSION_BASED,
                                        .size_base = size_base,
                                        .symbol = "recorded_sized"};

#define CODELET(model_)                                                        \
    {                                                                          \
        .cpu_funcs = {nothing}, .cuda_funcs = {nothing}, .nbuffers = 1,        \
        .modes = {STARPU_RW}, .model = &(model_), .name = #model_,             \
    }

static struct starpu_codelet codelets[] = {CODELET(common), CODELET(per_arch),
                                           CODELET(printed), CODELET(sized)};
static struct starpu_codelet unnamed = {.cpu_funcs = {nothing}};

/* --- what records cannot have --- */

static void submit_more(void *arg)
{
    (void)arg;
    starpu_task_insert(&codelets[0], STARPU_RW, *(starpu_data_handle_t *)arg,
                       0);
}

static void *submit_beside(void *arg)
{
    submit_more(arg);
    return NULL;
}

/* A part of other elements than its whole has. */
static void reinterpret(void *whole, void *part, struct starpu_data_filter *f,
                        unsigned i, unsigned n)
{
    struct starpu_vector_interface *from = whole, *to = part;
    size_t offset = i * (size_t)from->nx / n * from->elemsize;

    (void)f;
    *to = *from;
    to->nx = from->nx / n * 2;
    to->elemsize = from->elemsize / 2;
    to->allocsize = to->nx * to->elemsize;
    if (from->dev_handle) {
        to->ptr = from->ptr ? from->ptr + offset : 0;
        to->offset = from->offset + offset;
    }
}

/* --- the program --- */

static struct starpu_task *make(struct starpu_codelet *cl,
                                starpu_data_handle_t handle, int priority)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->handles[0] = handle;
    task->priority = priority;
    return task;
}

static void check(int rc)
{
    if (rc != 0)
        abort();
}

static void use_tasks(starpu_data_handle_t handle)
{
    struct starpu_task *first = make(&codelets[0], handle, 1),
                       *second = make(&codelets[1], handle, 2),
                       *inner = make(&codelets[2], handle, 3);

    first->destroy = second->destroy = 0;
    first->detach = second->detach = 0;
    second->name = "the \"second\"\n";
    starpu_task_declare_deps(second, 1, first);
    inner->sequential_consistency = 0;
    starpu_task_declare_end_deps(first, 1, inner);
    check(starpu_task_submit(inner));
    check(starpu_task_submit(first));
    check(starpu_task_submit(second));
    check(starpu_task_wait(first));
    check(starpu_task_wait(second));
    check(starpu_task_submit(first)); /* once more */
    check(starpu_task_wait(first));
    starpu_task_destroy(first);
    starpu_task_destroy(second);
}

static void use_calls(starpu_data_handle_t *handle)
{
    starpu_data_handle_t copy;

    starpu_iteration_push(3);
    starpu_pause();
    for (int i = 0; i < 8; i++)
        check(starpu_task_submit(make(&codelets[i % 4], *handle, i)));
    orrery_usleep(12.34567890123);
    starpu_resume();
    starpu_iteration_pop();
    starpu_task_insert(&unnamed, STARPU_NAME, "task", 0);
    starpu_set_limit_min_submitted_tasks(2);
    starpu_set_limit_max_submitted_tasks(4);
    for (int i = 0; i < 12; i++)
        check(starpu_task_submit(make(&codelets[3], *handle, i)));
    starpu_sleep(0.0001f);
    check(starpu_data_dup_ro(&copy, *handle, 1));
    starpu_task_wait_for_n_submitted(1);
    starpu_data_unregister(copy);
    starpu_tag_declare_deps(7, 1, (starpu_tag_t)8);
    starpu_tag_notify_from_apps(8);
    starpu_do_schedule();
    starpu_task_insert(&codelets[3], STARPU_RW, *handle, STARPU_TAG,
                       (starpu_tag_t)9, 0);
    check(starpu_tag_wait(9));
    check(starpu_task_submit(make(&codelets[3], *handle, 1)));
    check(starpu_data_acquire(*handle, STARPU_R));
    starpu_data_release(*handle);
    starpu_task_wait_for_no_ready();
}

static void *wait_beside(void *handle)
{
    struct starpu_task *task =
        make(&codelets[3], *(starpu_data_handle_t *)handle, 0);

    task->synchronous = 1;
    check(starpu_task_submit(task));
    return NULL;
}

static void use_what_lacks(starpu_data_handle_t *handle)
{
    starpu_pthread_t thread;
    struct starpu_task *task = make(&codelets[0], *handle, 0);
    struct starpu_data_filter halves = {.filter_func = reinterpret,
                                        .nchildren = 2};

    if (wants("callback")) {
        task->callback_func = submit_more;
        task->callback_arg = handle;
    }
    check(starpu_task_submit(task));
    while (wants("poll") && starpu_task_nsubmitted() > 0)
        ;
    if (wants("thread")) {
        starpu_pthread_create(&thread, NULL, submit_beside, handle);
        starpu_pthread_join(thread, NULL);
    }
    if (wants("synchronous")) { /* in a pause: it waits for the other thread */
        starpu_pause();
        starpu_pthread_create(&thread, NULL, wait_beside, handle);
        starpu_sleep(0.0001f);
        starpu_resume();
        starpu_pthread_join(thread, NULL);
    }
    if (wants("knob"))
        starpu_perf_knob_set_per_worker_int32_value(
            starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_worker,
                                        "starpu.worker.w_enable_worker_knob"),
            0, 1);
    starpu_task_wait_for_all();
    if (!wants("filter"))
        return;
    starpu_data_partition(*handle, &halves);
    for (unsigned i = 0; i < 2; i++)
        check(starpu_task_submit(
            make(&codelets[0], starpu_data_get_sub_data(*handle, 1, i), 0)));
    starpu_data_unpartition(*handle, STARPU_MAIN_RAM);
}

int main(int argc, char **argv)
{
    static double values[1000];
    starpu_data_handle_t handle;

    argc_ = argc;
    argv_ = argv;
    if (starpu_init(NULL) != 0)
        return 77;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
                                1000, sizeof(*values));
    starpu_data_set_name(handle, "values");
    starpu_data_set_coordinates(handle, 2, 4, 5);
    use_tasks(handle);
    use_calls(&handle);
    use_what_lacks(&handle);
    if (wants("quit"))
        exit(0);
    starpu_data_unregister(handle);
    starpu_shutdown();
    return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/run.c - see run.h. One function per kind of call; the calls of
 * several threads are gone through by each of them, which does its own.
 */
#include "run.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "replayed.h"
#include "run_private.h"

#ifdef ON_CLOCK
#    include "../api/gpu-clock.h"
#endif

/* -- what the library may lack -- */

/* Looked for by name, so that this program can be built without. */
typedef void *(*arbiter_create)(void);
typedef void (*arbiter_destroy)(void *);
typedef void (*arbiter_assign)(starpu_data_handle_t, void *);
typedef void (*set_methods)(starpu_data_handle_t, struct starpu_codelet *,
                            struct starpu_codelet *);

#define LOOK_UP(type, name) ((type)(uintptr_t)dlsym(RTLD_DEFAULT, name))

bool run_has_arbiters(void)
{
    return dlsym(RTLD_DEFAULT, "starpu_data_assign_arbiter") != NULL;
}

bool run_has_reductions(void)
{
    return dlsym(RTLD_DEFAULT, "starpu_data_set_reduction_methods") != NULL;
}

static void extras(struct run *run, unsigned d)
{
    const struct data *data = &run->graph->data[d];

    if (data->redux)
        LOOK_UP(set_methods, "starpu_data_set_reduction_methods")
    (run->handles[d], kernels_redux(), kernels_init());
    if (data->through)
        starpu_data_set_wt_mask(run->handles[d], data->through);
    if (data->in_core)
        starpu_data_set_ooc_flag(run->handles[d], 0);
    if (data->unimportant)
        starpu_data_advise_as_important(run->handles[d], 0);
    if (!data->arbitered)
        return;
    if (!run->arbiter)
        run->arbiter = LOOK_UP(arbiter_create, "starpu_arbiter_create")();
    LOOK_UP(arbiter_assign, "starpu_data_assign_arbiter")
    (run->handles[d], run->arbiter);
}

/* -- calls -- */

static const struct call *call_of(struct run *run, unsigned index)
{
    return &run->graph->calls[index];
}

static void check(struct run *run, unsigned index, const char *name, int rc)
{
    if (rc < 0)
        report_failure(run->report, REFUSED, "call %u: %s returns %d (%s)",
                       index, name, rc, strerror(-rc));
}

static void fill_memory(struct run *run, const struct call *call)
{
    const struct data *data = &run->graph->data[call->data];
    uint64_t *memory = run->memory[call->data], *words;

    if (!memory)
        return;
    words = malloc((data_words(data) + 1) * sizeof(*words));
    if (!words)
        abort();
    bytes_fill(words, data_words(data), call->salt);
    fill_home(&data->shape, memory, words);
    free(words);
}

static void do_register(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    const struct data *data = &run->graph->data[call->data];
    starpu_data_handle_t *handle = &run->handles[call->data];

    fill_memory(run, call);
    register_shape(handle, data->home, &data->shape, run->memory[call->data]);
    if (data->disordered)
        starpu_data_set_sequential_consistency_flag(*handle, 0);
    extras(run, call->data);
}

static starpu_tag_t tag_of(const struct run *run, unsigned task)
{
    return run->first_tag + task;
}

static void declare_deps(struct run *run, const struct call *call,
                         struct starpu_task *task)
{
    uint64_t before = call->after | call->needs;
    struct starpu_task *tasks[MAX_TASKS];
    starpu_tag_t tags[MAX_TASKS];
    unsigned n = 0;

    for (; before; before &= before - 1, n++) {
        unsigned t = (unsigned)__builtin_ctzll(before);

        tasks[n] = run->tasks[t];
        tags[n] = tag_of(run, t);
    }
    if (n && call->by_tags)
        starpu_tag_declare_deps_array(tag_of(run, call->task), n, tags);
    else if (n)
        starpu_task_declare_deps_array(task, n, tasks);
}

static void fill_buffers(struct run *run, unsigned index,
                         struct starpu_task *task)
{
    const struct call *call = call_of(run, index);
    struct order *order = &run->orders[index];

    task->nbuffers = call->nbuffers;
    for (unsigned k = 0; k < call->nbuffers; k++) {
        const struct access *access = &call->buffers[k];

        task->handles[k] = run->handles[access->data];
        task->modes[k] = (enum starpu_data_access_mode)access->mode;
        order->flags[k] = !access->disordered;
        if (access->disordered)
            task->handles_sequential_consistency = order->flags;
    }
}

static void do_task(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    struct starpu_task *task = starpu_task_create();
    uint64_t me = bit(call->task);

    run->tasks[call->task] = task;
    task->cl = kernels_codelet(call);
    task->cl_arg = &run->orders[index];
    task->epilogue_callback_func = kernels_leave;
    task->epilogue_callback_arg = &run->orders[index];
    task->priority = call->priority;
    task->sequential_consistency = !call->disordered;
    task->synchronous = call->synchronous;
    if (call->in_second)
        task->sched_ctx = run->second;
    task->use_tag = (run->graph->tagged & me) != 0;
    task->tag_id = tag_of(run, call->task);
    task->detach = !(run->graph->awaited & me);
    task->destroy = !(run->graph->kept & me);
    if (call->worker >= 0) {
        task->execute_on_a_specific_worker = 1;
        task->workerid = (unsigned)call->worker;
    }
    fill_buffers(run, index, task);
    declare_deps(run, call, task);
    if (run->promise)
        seen_watch(&run->seen, call, task);
    check(run, index, "starpu_task_submit", starpu_task_submit(task));
}

static void called_back(void *arg)
{
    struct order *order = arg;
    struct run *run = order->run;
    const struct call *call = call_of(run, order->index);

    kernels_visit(run, order->index, order->handle);
    kernels_visited(run, call->data, call->mode);
    starpu_data_release_on_node(order->handle, call->node);
}

static void try_to_acquire(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    starpu_data_handle_t handle = run->handles[call->data];
    int rc = starpu_data_acquire_on_node_try(
        handle, call->node, (enum starpu_data_access_mode)call->mode);

    if (rc == -EAGAIN)
        return;
    check(run, index, "starpu_data_acquire_on_node_try", rc);
    kernels_visit(run, index, handle);
    kernels_visited(run, call->data, call->mode);
    starpu_data_release_on_node(handle, call->node);
}

static void do_acquire(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    enum starpu_data_access_mode mode = call->mode;
    starpu_data_handle_t handle = run->handles[call->data];
    int rc;

    run->orders[index].handle = handle;
    if (call->how == HOW_TRY) {
        try_to_acquire(run, index);
        return;
    }
    if (call->how == HOW_CALLBACK) {
        rc = starpu_data_acquire_on_node_cb(handle, call->node, mode,
                                            called_back, &run->orders[index]);
        check(run, index, "starpu_data_acquire_on_node_cb", rc);
        return;
    }
    if (call->copied) {
        rc = starpu_data_dup_ro(&run->orders[index].handle, handle,
                                call->salt & 1);
        check(run, index, "starpu_data_dup_ro", rc);
        return;
    }
    rc = starpu_data_acquire_on_node(handle, call->node, mode);
    check(run, index, "starpu_data_acquire_on_node", rc);
    kernels_visit(run, index, handle);
    if (!call->downgraded)
        return;
    kernels_visited(run, call->data, call->mode);
    starpu_data_release_to_on_node(handle, STARPU_R, call->node);
}

/* It has the value of when it was made. */
static void end_duplicate(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    starpu_data_handle_t handle = run->orders[index].handle;
    int rc = starpu_data_acquire_on_node(handle, call->node, STARPU_R);

    check(run, index, "starpu_data_acquire_on_node of a duplicate", rc);
    kernels_visit(run, index, handle);
    starpu_data_release_on_node(handle, call->node);
    starpu_data_unregister(handle);
}

/* The acquisition that is released is the last one of the datum. */
static void do_release(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);

    for (unsigned i = index; i-- > 0;) {
        const struct call *begun = call_of(run, i);

        if (begun->kind != CALL_ACQUIRE || begun->data != call->data ||
            begun->how != HOW_WAIT)
            continue;
        if (begun->copied) {
            end_duplicate(run, i);
            return;
        }
        if (!begun->downgraded)
            kernels_visited(run, call->data, begun->mode);
        starpu_data_release_on_node(run->orders[i].handle, begun->node);
        return;
    }
}

static void do_prefetch(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    starpu_data_handle_t handle = run->handles[call->data];
    int rc;

    if (call->how == HOW_IDLE)
        rc = starpu_data_idle_prefetch_on_node(handle, call->node, 1);
    else if (call->salt & 1)
        rc = starpu_data_fetch_on_node(handle, call->node,
                                       call->how == HOW_SUBMIT);
    else
        rc = starpu_data_prefetch_on_node(handle, call->node,
                                          call->how == HOW_SUBMIT);
    check(run, index, "a prefetch", rc);
}

static void do_wont_use(struct run *run, unsigned index)
{
    starpu_data_wont_use(run->handles[call_of(run, index)->data]);
}

static void do_evict(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);

    (void)starpu_data_evict_from_node(run->handles[call->data], call->node);
}

static void do_invalidate(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);

    if (call->how == HOW_SUBMIT)
        starpu_data_invalidate_submit(run->handles[call->data]);
    else
        starpu_data_invalidate(run->handles[call->data]);
}

static void do_copy(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);

    check(run, index, "starpu_data_cpy",
          starpu_data_cpy(run->handles[call->data], run->handles[call->from],
                          call->how == HOW_SUBMIT, NULL, NULL));
}

/* The pieces of the plan, in order. Returns their number. */
static unsigned pieces_of(const struct run *run, const struct call *call,
                          unsigned plan, starpu_data_handle_t *ret)
{
    unsigned n = 0;

    for (unsigned d = 0; d < run->graph->ndata; d++) {
        const struct data *piece = &run->graph->data[d];

        if (piece->parent == (int8_t)call->data && piece->plan == plan)
            ret[n++] = run->handles[d];
    }
    return n;
}

static void do_plan(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    const struct data *data = &run->graph->data[call->data];
    starpu_data_handle_t pieces[MAX_PIECES];
    struct filter filter;
    unsigned n = 0;

    starpu_data_partition_plan(
        run->handles[call->data],
        make_filter(&data->shape, &data->cuts[call->how], &filter), pieces);
    for (unsigned d = 0; d < run->graph->ndata; d++) {
        const struct data *piece = &run->graph->data[d];

        if (piece->parent == (int8_t)call->data && piece->plan == call->how)
            run->handles[d] = pieces[n++];
    }
}

static void do_switch(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    starpu_data_handle_t whole = run->handles[call->data], pieces[MAX_PIECES];
    unsigned n = pieces_of(run, call, call->salt & 1, pieces);

    if (call->mode == PLAN_IDLE)
        starpu_data_unpartition_submit(whole, n, pieces, -1);
    else if (call->how == PLAN_IDLE && call->mode == PLAN_WRITE)
        starpu_data_partition_submit(whole, n, pieces);
    else if (call->how == PLAN_IDLE)
        starpu_data_partition_readonly_submit(whole, n, pieces);
    else if (call->mode == PLAN_WRITE)
        starpu_data_partition_readwrite_upgrade_submit(whole, n, pieces);
    else
        starpu_data_partition_readonly_downgrade_submit(whole, n, pieces);
}

static void do_partition(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    const struct data *data = &run->graph->data[call->data];
    struct filter filter;

    if (data->planned) {
        do_plan(run, index);
        return;
    }
    starpu_data_partition(run->handles[call->data],
                          make_filter(&data->shape, &data->cuts[0], &filter));
    for (unsigned d = 0; d < run->graph->ndata; d++) {
        const struct data *piece = &run->graph->data[d];

        if (piece->parent == (int8_t)call->data)
            run->handles[d] =
                starpu_data_get_child(run->handles[call->data], piece->part);
    }
}

static void do_unpartition(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    starpu_data_handle_t whole = run->handles[call->data], pieces[MAX_PIECES];

    if (run->graph->data[call->data].planned)
        starpu_data_partition_clean(
            whole, pieces_of(run, call, call->how, pieces), pieces);
    else
        starpu_data_unpartition(whole, call->node);
}

static void do_wait_all(struct run *run, unsigned index)
{
    check(run, index, "starpu_task_wait_for_all", starpu_task_wait_for_all());
}

static void do_wait_task(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);

    check(run, index, "starpu_task_wait",
          starpu_task_wait(run->tasks[call->task]));
}

static void do_wait_tag(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);

    check(run, index, "starpu_tag_wait",
          starpu_tag_wait(tag_of(run, call->task)));
}

/* What is left in the memory that was registered. */
static void check_home(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    const struct data *data = &run->graph->data[call->data];
    uint64_t *words = malloc((data_words(data) + 1) * sizeof(*words));

    if (!words)
        abort();
    if (!read_home(&data->shape, run->memory[call->data], words))
        report_failure(run->report, WRONG,
                       "call %u: what is not datum %u's was changed, or its "
                       "indices were",
                       index, call->data);
    kernels_compare(run, index, 0, bytes_hash(words, data_words(data)));
    free(words);
}

static void do_unregister(struct run *run, unsigned index)
{
    const struct call *call = call_of(run, index);
    starpu_data_handle_t handle = run->handles[call->data];

    if (call->how == HOW_SUBMIT) {
        starpu_data_unregister_submit(handle);
        run->late[call->data] = true;
    } else if (call->how == HOW_DROP) {
        starpu_data_unregister_no_coherency(handle);
    } else {
        starpu_data_unregister(handle);
    }
    if (call->how == HOW_WAIT && run->memory[call->data] &&
        run->answers->hash[index][0])
        check_home(run, index);
}

static void (*const actions[CALL_KINDS])(struct run *, unsigned) = {
    [CALL_REGISTER] = do_register,
    [CALL_TASK] = do_task,
    [CALL_ACQUIRE] = do_acquire,
    [CALL_RELEASE] = do_release,
    [CALL_PREFETCH] = do_prefetch,
    [CALL_WONT_USE] = do_wont_use,
    [CALL_EVICT] = do_evict,
    [CALL_INVALIDATE] = do_invalidate,
    [CALL_COPY] = do_copy,
    [CALL_PARTITION] = do_partition,
    [CALL_UNPARTITION] = do_unpartition,
    [CALL_SWITCH] = do_switch,
    [CALL_WAIT_ALL] = do_wait_all,
    [CALL_WAIT_TASK] = do_wait_task,
    [CALL_WAIT_TAG] = do_wait_tag,
    [CALL_UNREGISTER] = do_unregister,
};

/* -- pauses, absences -- */

/* Goes from what was so around the thread's last call to what is around the next. */
static void change_around(struct run *run, struct around *now,
                          struct around next)
{
    int back = now->away - 1, gone = next.away - 1;

    if (now->paused && !next.paused)
        starpu_resume();
    if (back >= 0 && back != gone)
        starpu_sched_ctx_add_workers(&back, 1, run->second);
    if (next.paused && !now->paused)
        starpu_pause();
    if (gone >= 0 && back != gone)
        starpu_sched_ctx_remove_workers(&gone, 1, run->second);
    *now = next;
}

/* -- threads -- */

struct submitter {
    starpu_pthread_t id;
    struct run *run;
    unsigned thread, from, to; /* calls between FORK and JOIN */
};

static void do_calls(struct run *run, unsigned thread, unsigned from,
                     unsigned to)
{
    struct around now = {false, 0};

    for (unsigned i = from; i < to; i++) {
        if (call_of(run, i)->thread != thread ||
            !actions[call_of(run, i)->kind])
            continue;
        atomic_store(&run->report->calls[thread], i + 1);
        change_around(run, &now, around_call(call_of(run, i)));
        actions[call_of(run, i)->kind](run, i);
    }
    change_around(run, &now, (struct around){false, 0});
    atomic_store(&run->report->calls[thread], 0);
}

static void *submit(void *arg)
{
    struct submitter *submitter = arg;

    do_calls(submitter->run, submitter->thread, submitter->from, submitter->to);
    return NULL;
}

static unsigned find_call(const struct graph *graph, enum call_kind kind)
{
    unsigned i = 0;

    while (i < graph->ncalls && graph->calls[i].kind != kind)
        i++;
    return i;
}

static void do_all(struct run *run)
{
    unsigned fork = find_call(run->graph, CALL_FORK);
    unsigned join = find_call(run->graph, CALL_JOIN);
    struct submitter threads[MAX_THREADS];

    do_calls(run, 0, 0, fork);
    for (unsigned t = 1; t < run->graph->nthreads; t++) {
        threads[t] = (struct submitter){
            .run = run, .thread = t, .from = fork, .to = join};
        starpu_pthread_create(&threads[t].id, NULL, submit, &threads[t]);
    }
    do_calls(run, 0, fork, join);
    for (unsigned t = 1; t < run->graph->nthreads; t++)
        starpu_pthread_join(threads[t].id, NULL);
    do_calls(run, 0, join, run->graph->ncalls);
}

/* -- a graph -- */

static int allocate(struct run *run)
{
    for (unsigned d = 0; d < run->graph->ndata; d++) {
        const struct data *data = &run->graph->data[d];

        if (!data_has_memory(data))
            continue;
        run->memory[d] = malloc(shape_home(&data->shape) * sizeof(uint64_t));
        if (!run->memory[d])
            return -ENOMEM;
    }
    return 0;
}

/* What is freed when the machine has closed. */
struct late {
    struct late *next;
    void *memory;
};

static struct late *lates;

static void free_late(void *memory)
{
    struct late *late = malloc(sizeof(*late));

    if (!late)
        abort();
    *late = (struct late){lates, memory};
    lates = late;
}

static void free_lates(void)
{
    while (lates) {
        struct late *next = lates->next;

        free(lates->memory);
        free(lates);
        lates = next;
    }
}

static void free_all(struct run *run)
{
    for (unsigned t = 0; t < MAX_TASKS; t++) {
        if (run->graph->kept & bit(t))
            starpu_task_destroy(run->tasks[t]);
        if (run->graph->tagged & bit(t))
            starpu_tag_remove(tag_of(run, t));
    }
    for (unsigned d = 0; d < run->graph->ndata; d++)
        if (run->late[d])
            free_late(run->memory[d]);
        else
            free(run->memory[d]);
    if (run->arbiter)
        LOOK_UP(arbiter_destroy, "starpu_arbiter_destroy")(run->arbiter);
}

/* All have ended. */
static void check_counts(struct run *run)
{
    for (unsigned i = 0; i < run->graph->ncalls; i++)
        if (call_of(run, i)->kind == CALL_TASK &&
            atomic_load(&run->orders[i].nruns) != 1)
            report_failure(run->report, MISCOUNTED, "task %u runs %u times",
                           call_of(run, i)->task,
                           atomic_load(&run->orders[i].nruns));
}

/* Where time is real nobody knows who was ready when; a record of calls has no such
 * callbacks. */
static void watch_order(struct run *run)
{
    if (run->machine->real || replay_wanted())
        return;
    run->promise = promise_of(machine_policy(run->machine));
    seen_begin(&run->seen, run->machine, run->graph, run->tasks);
}

/* All have ended. */
static void check_order(struct run *run)
{
    char failure[300];

    if (!run->promise)
        return;
    run->report->nordered +=
        seen_judge(&run->seen, run->promise, failure, sizeof(failure));
    if (*failure)
        report_failure(run->report, PASSED_OVER, "%s", failure);
}

static int run_graph(const struct program *program, unsigned g, unsigned second,
                     struct report *report)
{
    static struct answers answers;
    static struct run run;
    const struct graph *graph = &program->graphs[g];
    int err = oracle_ask(graph, &program->machine, &answers);

    memset(&run, 0, sizeof(run));
    run.machine = &program->machine;
    run.graph = graph;
    run.answers = &answers;
    run.report = report;
    run.spoilt = program->spoilt;
    run.second = second;
    run.first_tag = ((starpu_tag_t)g + 1) << 8;
    for (unsigned i = 0; i < graph->ncalls; i++)
        run.orders[i] = (struct order){.run = &run, .index = i};
    watch_order(&run);
    if (!err)
        err = allocate(&run);
    if (!err)
        do_all(&run);
    if (!err)
        check_counts(&run);
    if (!err)
        check_order(&run);
    free_all(&run);
    return err;
}

/* -- the machine -- */

static void set(const char *name, const char *value, void *arg)
{
    (void)arg;
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Errors: -errno. The file is to be removed. */
static int write_machine(const struct machine *machine, char *path)
{
    int fd = mkstemps(path, 4);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

    if (!out)
        return -errno;
    machine_write(out, machine, "", "\n");
    if (fclose(out) != 0)
        return -errno;
    setenv("ORRERY_MACHINE", path, 1);
    return 0;
}

/* One that no other process has. */
static void set_disk(void)
{
    char path[40];

    snprintf(path, sizeof(path), "/tmp/orrery-random-disk-%d", (int)getpid());
    setenv("STARPU_DISK_SWAP", path, 1);
}

/* `path` is the name to make one of, and is that of the file then. The seed draws
 * in which order GPUs do what they may, where that is drawn (ON_CLOCK). */
static int open_machine(const struct machine *machine, uint64_t seed,
                        char *path)
{
    int rc = 0;

    machine_environment(machine, set, NULL);
    if (machine->disk)
        set_disk();
    if (!machine->real)
        rc = write_machine(machine, path);
    if (replay_wanted())
        replay_record();
#ifdef ON_CLOCK
    gpu_clock_set(seed);
#else
    (void)seed;
#endif
    if (rc == 0)
        rc = starpu_init(NULL);
    return rc;
}

/* A context of all workers with the policy that the first one has. */
static unsigned open_second(const struct machine *machine)
{
    return machine->contexts
               ? starpu_sched_ctx_create(NULL, -1, "second",
                                         STARPU_SCHED_CTX_POLICY_NAME,
                                         machine_second_policy(machine), 0)
               : 0;
}

bool run_program(const struct program *program, unsigned limit_s,
                 struct report *report)
{
    char path[] = "/tmp/orrery-random-XXXXXX.xml";
    unsigned second;
    int rc;

    alarm(limit_s);
    rc = open_machine(&program->machine, program->graphs[0].seed, path);
    if (!program->machine.real && !replay_wanted())
        unlink(path);
    if (rc != 0) {
        report_failure(report, REFUSED, "the machine cannot be opened: %s",
                       strerror(-rc));
        return false;
    }
    second = open_second(&program->machine);
    for (unsigned g = 0; g < program->ngraphs; g++) {
        atomic_store(&report->graph, g);
        alarm(limit_s);
        rc = run_graph(program, g, second, report);
        if (rc != 0 || atomic_load(&report->outcome) != PASSED)
            break;
    }
    if (program->machine.contexts && rc == 0 &&
        atomic_load(&report->outcome) == PASSED)
        starpu_sched_ctx_delete(second);
    starpu_shutdown();
    free_lates();
    if (replay_wanted()) {
        replay_compare(report);
        unlink(path);
    }
    return rc == 0;
}

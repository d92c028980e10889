/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/init.c - starting, stopping and pausing the library, and queries
 * about the library. Start and stop are for the application's main thread.
 */
#include <errno.h>
#include <string.h>

#include <orrery.h>

#include "core/api/api.h"
#include "core/api/clock.h"
#include "core/api/early.h"
#include "core/api/policy.h"
#include "core/api/process.h"
#include "core/api/state.h"
#include "core/base/capped.h"
#include "core/base/number.h"
#include "core/data/bus.h"
#include "core/data/nodes.h"
#include "core/device/gpu/gpu.h"
#include "core/device/kind_settings.h"
#include "core/exec/program.h"
#include "core/observe/views.h"
#include "core/open.h"
#include "core/task/task.h"
#include "core/worker/workers.h"

#ifndef ORR_VERSION
#    define ORR_VERSION "unknown" /* from the build */
#endif

int starpu_init(struct starpu_conf *conf)
{
    return starpu_initialize(conf, NULL, NULL);
}

static int check_conf(const struct starpu_conf *conf)
{
    if (conf && conf->magic != 42)
        orr_log_error("starpu_init: the structure starpu_conf was not filled "
                      "by starpu_conf_init; call that first");
    else if (conf && conf->n_cuda_opengl_interoperability > 0 &&
             !conf->cuda_opengl_interoperability)
        orr_log_error("starpu_init: n_cuda_opengl_interoperability is %u, "
                      "without a list of devices",
                      conf->n_cuda_opengl_interoperability);
    else
        return 0;
    return -EINVAL;
}

static bool uses_cuda_device(const struct orr_runtime *rt, unsigned number)
{
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (rt->workers->at[w].desc->type == orr_gpu_cuda.type &&
            (unsigned)rt->workers->at[w].desc->devid == number)
            return true;
    return false;
}

/* Warns of OpenGL devices that the run does not use. Those that it uses need nothing
 * (docs/CUDA.md). */
static void check_opengl(const struct orr_runtime *rt,
                         const struct starpu_conf *conf)
{
    for (unsigned i = 0; conf && i < conf->n_cuda_opengl_interoperability; i++)
        if (!uses_cuda_device(rt, conf->cuda_opengl_interoperability[i]))
            orr_log_warning("starpu_init: cuda_opengl_interoperability names "
                            "CUDA device %u, which this run does not use",
                            conf->cuda_opengl_interoperability[i]);
}

/* A built-in policy may be named by its structure as well. */
static int start(struct orr_program *program, struct starpu_conf *user_conf)
{
    struct starpu_conf conf;

    program->user_policy = user_conf ? user_conf->sched_policy : NULL;
    if (!orr_policy_is_name(program->user_policy))
        return orr_runtime_start(user_conf, program->settings,
                                 &orr_process()->pinned);
    conf = *user_conf;
    conf.sched_policy_name = conf.sched_policy->policy_name;
    conf.sched_policy = program->user_policy = NULL;
    return orr_runtime_start(&conf, program->settings, &orr_process()->pinned);
}

/* Another thread. */
static bool is_replaying(const struct orr_program *program)
{
    if (!atomic_load(&program->replaying) ||
        pthread_equal(atomic_load(&program->replayer), pthread_self()))
        return false;
    orr_log_error("starpu_init: a record is played in this process "
                  "(orrery_replay): wait until that has ended");
    return true;
}

static void tell_vain(const char *name, const char *reason)
{
    orr_log_notice("%s has no effect: %s", name, reason);
}

static void tell_capped(const char *name, int asked, int used)
{
    orr_log_notice("%s=%d: at most %d, which is used", name, asked, used);
}

/* The state of the library from now on. */
static void set_state(struct orr_program *program, unsigned users, bool ready)
{
    pthread_mutex_lock(&program->lock);
    atomic_store(&program->users, users);
    atomic_store(&program->ready, ready);
    pthread_cond_broadcast(&program->changed);
    pthread_mutex_unlock(&program->lock);
}

/* Whether another thread starts or stops the library just now, so that the caller has
 * to wait. */
static bool is_changing(const struct orr_program *program)
{
    return atomic_load(&program->users) > 0 && !atomic_load(&program->ready);
}

/* One user more. 1: the caller has to start the library; 0: it runs; -EBUSY: a record
 * that is played has it, or the library is being stopped on the same thread, which
 * cannot wait for that. */
static int enter(struct orr_program *program)
{
    int rc = 0;

    pthread_mutex_lock(&program->lock);
    if (atomic_load(&program->users) > 0 && atomic_load(&program->replaying))
        rc = -EBUSY;
    while (!rc && is_changing(program))
        if (orr_self && orr_self->exec->one_thread)
            rc = -EBUSY;
        else
            pthread_cond_wait(&program->changed, &program->lock);
    if (!rc)
        rc = atomic_fetch_add(&program->users, 1) == 0;
    pthread_mutex_unlock(&program->lock);
    return rc;
}

/* One user less. 1: the caller is the last one and has to stop the library; 0: there
 * are others; -EINVAL: there was none. */
static int leave(struct orr_program *program)
{
    int rc = -EINVAL;

    pthread_mutex_lock(&program->lock);
    if (atomic_load(&program->ready)) {
        rc = atomic_load(&program->users) == 1;
        if (rc)
            atomic_store(&program->ready, false);
        else
            atomic_fetch_sub(&program->users, 1);
    }
    pthread_mutex_unlock(&program->lock);
    return rc;
}

static void begin(struct orr_program *program, struct orr_runtime *rt)
{
    if (atomic_load(&program->profiling))
        (void)starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    if (atomic_load(&program->unordered))
        starpu_data_set_default_sequential_consistency_flag(0);
    orr_api_swap(rt);
    orr_early_make();
    set_state(program, 1, true);
    orr_config_each_vain(tell_vain);
    orr_config_each_capped(tell_capped);
    if (orr_config_int(&rt->config, ORR_CFG_DISPLAY_BINDINGS) > 0)
        starpu_display_bindings();
    if (orr_config_bool(&rt->config, ORR_CFG_SIMGRID))
        orr_log_notice("STARPU_SIMGRID is ignored: every program can be "
                       "simulated; set ORRERY_MACHINE to do so");
}

int starpu_initialize(struct starpu_conf *user_conf, int *argc, char ***argv)
{
    struct orr_program *program = orr_program();
    int rc = check_conf(user_conf);

    (void)argc; /* there are no options of ours to take out */
    (void)argv;
    if (rc < 0)
        return rc;
    if (is_replaying(program))
        return -EBUSY;
    rc = enter(program);
    if (rc <= 0)
        return rc;
    rc = start(program, user_conf);
    if (rc < 0) {
        orr_api_state_drop();
        set_state(program, 0, false);
        return rc;
    }
    begin(program, ORR_API_RUNTIME());
    orr_clock_begin(ORR_API_RUNTIME());
    check_opengl(ORR_API_RUNTIME(), user_conf);
    return 0;
}

void starpu_wait_initialized(void)
{
    struct orr_program *program = orr_program();

    pthread_mutex_lock(&program->lock);
    while (is_changing(program))
        pthread_cond_wait(&program->changed, &program->lock);
    pthread_mutex_unlock(&program->lock);
}

int starpu_is_initialized(void)
{
    return atomic_load(&orr_program()->users) > 0;
}

void starpu_shutdown(void)
{
    struct orr_program *program = orr_program();
    struct orr_runtime *rt;
    int rc = leave(program);

    if (rc < 0)
        orr_log_error("starpu_shutdown: called without starpu_init");
    if (rc <= 0)
        return;
    rt = ORR_API_RUNTIME(); /* maybe the first call that this thread makes */
    if (!orr_is_outside("starpu_shutdown"))
        abort();
    orr_clock_end(rt);
    orr_runtime_stop(rt);
    orr_api_state_drop();
    set_state(program, 0, false);
}

/* -- pausing -- */

void starpu_pause(void)
{
    ORR_API(rt, __func__);

    ORR_RECORD(rt, PAUSE);
    atomic_fetch_add(&rt->workers->paused, 1);
}

void starpu_resume(void)
{
    ORR_API(rt, __func__);
    int before;

    ORR_RECORD(rt, RESUME);
    before = atomic_fetch_sub(&rt->workers->paused, 1);
    if (before <= 0) {
        atomic_fetch_add(&rt->workers->paused, 1);
        orr_log_error("starpu_resume: called without starpu_pause");
    }
    for (unsigned w = 0; before == 1 && w < rt->workers->n; w++)
        orr_worker_wake(&rt->workers->at[w]);
}

int starpu_is_paused(void)
{
    ORR_QUESTION();
    return atomic_load(&ORR_API_RUNTIME()->workers->paused) > 0;
}

/* -- what there is -- */

static void print_worker(const struct orr_worker *worker, FILE *f)
{
    const struct orr_worker_desc *desc = worker->desc;

    fprintf(f, "  worker %u: %s, memory node %u (%s)", worker->id, desc->name,
            desc->node, worker->runtime->machine->nodes[desc->node].name);
    if (desc->cpu >= 0)
        fprintf(f, ", bound to processor %d", desc->cpu);
    fputc('\n', f);
}

void starpu_topology_print(FILE *f)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();

    fprintf(f, "%s machine %s: %u workers, %u memory nodes\n",
            rt->exec->virtual_time ? "simulated" : "real", rt->machine->name,
            rt->workers->n, rt->nodes->n);
    for (unsigned w = 0; w < rt->workers->n; w++)
        print_worker(&rt->workers->at[w], f);
}

void starpu_display_stats(void)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    unsigned long long transfers, bytes;

    orr_buses_total(rt, &transfers, &bytes);
    orr_fprintf(stderr, "copies: %llu (%.1f MiB), evictions: %llu\n", transfers,
                (double)bytes / 1048576, atomic_load(&rt->nodes->nevictions));
    for (unsigned w = 0; w < rt->workers->n; w++)
        orr_fprintf(stderr, "  %s: %lu tasks, %.3f ms busy\n",
                    rt->workers->at[w].desc->name, rt->workers->at[w].ntasks,
                    rt->workers->at[w].busy_us / 1e3);
}

/* -- copies that are waited for -- */

int starpu_asynchronous_copy_disabled(void)
{
    ORR_QUESTION();
    return ORR_API_RUNTIME()->nodes->sync_copies;
}

int starpu_asynchronous_copy_disabled_for(enum starpu_node_kind kind)
{
    ORR_QUESTION();
    return (int)(ORR_API_RUNTIME()->nodes->sync_kinds >> kind & 1);
}

/* The kind that has this setting. */
static int is_disabled(enum orr_config_id setting)
{
    const struct orr_device_kind *kind;

    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++)
        if (orr_kind_settings(kind)->sync_copies == setting)
            return starpu_asynchronous_copy_disabled_for(kind->memory);
    return 0;
}

int starpu_asynchronous_cuda_copy_disabled(void)
{
    return is_disabled(ORR_CFG_SYNC_CUDA_COPIES);
}

int starpu_asynchronous_hip_copy_disabled(void)
{
    return is_disabled(ORR_CFG_SYNC_HIP_COPIES);
}

int starpu_asynchronous_opencl_copy_disabled(void)
{
    return is_disabled(ORR_CFG_SYNC_OPENCL_COPIES);
}

int starpu_asynchronous_max_fpga_copy_disabled(void)
{
    return is_disabled(ORR_CFG_SYNC_MAX_FPGA_COPIES);
}

int starpu_asynchronous_mpi_ms_copy_disabled(void)
{
    return is_disabled(ORR_CFG_SYNC_MPI_MS_COPIES);
}

int starpu_asynchronous_tcpip_ms_copy_disabled(void)
{
    return is_disabled(ORR_CFG_SYNC_TCPIP_MS_COPIES);
}

/* Always 0: each memory node has a replicate of its own, and no memory is mapped. */
int starpu_map_enabled(void)
{
    return 0;
}

void starpu_get_version(int *major, int *minor, int *release)
{
    *major = STARPU_MAJOR_VERSION;
    *minor = STARPU_MINOR_VERSION;
    *release = STARPU_RELEASE_VERSION;
}

const char *orrery_version(void)
{
    return ORR_VERSION;
}

int orrery_is_simulated(void)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);

    return rt && rt->exec->virtual_time;
}

void orrery_call_on_thread_stack(void (*function)(void *argument), void *argument)
{
    struct orr_context *self = orr_self;

    if (self)
        self->exec->ops->on_thread_stack(self->exec, function, argument);
    else
        function(argument);
}

int orrery_thread_takes_part(void)
{
    struct orr_runtime *rt = orr_runtime_adopted();

    if (orr_self && orr_self->runtime)
        return 1;
    return rt && !rt->exec->one_thread;
}

const char *orrery_machine_name(void)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);

    return rt ? rt->machine->name : NULL;
}

int orrery_asks_for_lines(void)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);

    return rt && rt->views->sources;
}

int orrery_runs_kernels(void)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);

    return !rt || rt->machine->runs_kernels;
}

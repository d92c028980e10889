/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/open.c - see open.h. Everything here is set before workers start.
 */
#include "core/open.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/host.h"
#include "core/base/log.h"
#include "core/base/module.h"
#include "core/base/stack_size.h"
#include "core/check.h"
#include "core/cost/cost.h"
#include "core/data/bus.h"
#include "core/data/cache.h"
#include "core/data/data.h"
#include "core/data/eviction.h"
#include "core/data/node.h"
#include "core/data/request.h"
#include "core/device/clock.h"
#include "core/device/driver.h"
#include "core/device/kind_settings.h"
#include "core/device/open.h"
#include "core/device/simulated.h"
#include "core/ends.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/loop/driven.h"
#include "core/loop/loop.h"
#include "core/observe/calls.h"
#include "core/observe/check_bounds.h"
#include "core/observe/deadlock.h"
#include "core/observe/debugger.h"
#include "core/observe/observers.h"
#include "core/observe/profile.h"
#include "core/observe/progress.h"
#include "core/observe/report.h"
#include "core/observe/state.h"
#include "core/observe/tool.h"
#include "core/observe/watchdog.h"
#include "core/observe/what_if.h"
#include "core/runtime_members.h"
#include "core/sched/ctx.h"
#include "core/sched/direct.h"
#include "core/slab_set.h"
#include "core/slabs.h"
#include "core/task/again.h"
#include "core/task/tag.h"
#include "core/task/task.h"
#include "core/worker/combined.h"
#include "perfmodel/arch.h"
#include "perfmodel/model.h"
#include "perfmodel/sampling.h"

/* --- opening --- */

static int make_sampling(struct orr_runtime *rt)
{
    const struct orr_config *config = &rt->config;
    static const enum orr_config_id homes[] = {
        ORR_CFG_STARPU_HOME, ORR_CFG_XDG_CACHE_HOME, ORR_CFG_HOME,
        ORR_CFG_TMPDIR,      ORR_CFG_TEMP,           ORR_CFG_TMP};
    struct orr_sampling_options options = {
        .perf_model_dir = orr_config_string(config, ORR_CFG_PERF_MODEL_DIR),
        .perf_model_path = orr_config_string(config, ORR_CFG_PERF_MODEL_PATH),
        .machine_dir = rt->machine ? rt->machine->sampling_dir : NULL,
        .home = "/tmp",
    };
    struct orr_sampling *sampling;
    int err;

    for (unsigned i = sizeof(homes) / sizeof(*homes); i-- > 0;)
        if (orr_config_string(config, homes[i]))
            options.home = orr_config_string(config, homes[i]);
    err = orr_sampling_new(&options, &sampling);
    if (err)
        return err;
    orr_sampling_free(rt->estimates->sampling);
    rt->estimates->sampling = sampling;
    return 0;
}

static int open_machine(struct orr_runtime *rt, const struct starpu_conf *conf,
                        struct orr_error *err)
{
    const struct orr_config *config = &rt->config;
    const char *kernels = orr_config_string(config, ORR_CFG_SIM_KERNELS);
    const char *devices = orr_config_string(config, ORR_CFG_DEVICES);
    struct orr_machine_options options = {
        .sampling_dirs = orr_sampling_dirs(rt->estimates->sampling),
        .pinned = orr_config_bool(config, ORR_CFG_DISABLE_PINNING)
                      ? NULL
                      : rt->nodes->pinned,
    };
    const void *table;
    int code = 0;

    orr_machine_options_fill(&options, conf, config);
    if (options.host && *options.host)
        code = orr_host_check(options.host, err);
    if (code)
        return code;

    if (kernels && strcmp(kernels, "run") && strcmp(kernels, "skip"))
        return orr_fail(err, -EINVAL,
                        "ORRERY_SIM_KERNELS=%s: the values are `run' and "
                        "`skip'",
                        kernels);
    if (devices && strcmp(devices, "all") && strcmp(devices, "program"))
        return orr_fail(err, -EINVAL,
                        "ORRERY_DEVICES=%.100s: the values are `program' and "
                        "`all'",
                        devices);
    if (!options.name && devices && !strcmp(devices, "all"))
        orr_log_notice("ORRERY_DEVICES=all has no effect: the machine is real, "
                       "and kernels run where they have functions");
    if (!options.name && options.edits)
        return orr_fail(err, -EINVAL,
                        "ORRERY_SET=\"%.100s\" edits a simulated machine: name "
                        "one with ORRERY_MACHINE, or unset it",
                        options.edits);
    if (!options.name && options.mbps > 0)
        orr_log_warning(
            "STARPU_LIMIT_BANDWIDTH has no effect: links of the real "
            "machine are as they are");
    if (options.name && options.drivers)
        orr_log_warning("ORRERY_DRIVERS has no effect: machine \"%s\" is "
                        "simulated",
                        options.name);
    if (!options.name)
        return orr_real_machine_open(&options, &rt->machine, err);
    options.reserve_ncpu += options.main_bind;
    code = orr_module_open("sim", &table, err);
    if (code)
        return code;
    rt->sim = table;
    return rt->sim->open(&options, &rt->machine, err);
}

static int choose_eviction(struct orr_runtime *rt, struct orr_error *err)
{
    const char *name = orr_config_string(&rt->config, ORR_CFG_EVICTION);

    rt->nodes->eviction = orr_eviction_find(name);
    if (!rt->nodes->eviction)
        return orr_fail(err, -EINVAL,
                        "ORRERY_EVICTION=%.100s: the values are `lru', "
                        "`starpu' and `nextuse'",
                        name);
    return 0;
}

/* Main memories come first. */
static unsigned count_ram_nodes(const struct orr_machine *machine)
{
    unsigned n = 0;

    while (n < machine->nnodes && orr_node_is_main(&machine->nodes[n]))
        n++;
    return n;
}

/* MiB for a node of main memory, -1 for no limit. */
static int main_memory_mib(const struct orr_config *config,
                           const struct orr_machine *machine,
                           const struct orr_node_desc *node)
{
    int mib = orr_config_device_mib(config, ORR_CFG_LIMIT_CPU_NUMA_MEM,
                                    node->os_number);

    if (mib >= 0)
        return mib;
    mib = orr_config_int(config, ORR_CFG_LIMIT_CPU_MEM);
    return mib < 0 ? -1 : mib / (int)count_ram_nodes(machine);
}

static int device_mib(const struct orr_config *config,
                      const struct orr_node_desc *node)
{
    enum orr_config_id limit =
        orr_kind_settings(orr_device_kind_of_memory(node->kind))->limit;

    return limit == ORR_CFG_COUNT
               ? -1
               : orr_config_device_mib(config, limit, node->devid);
}

static void apply_debugging(struct orr_runtime *rt)
{
    static const enum orr_config_id ids[] = {
        [ORR_BREAK_PUSH] = ORR_CFG_TASK_BREAK_ON_PUSH,
        [ORR_BREAK_SCHED] = ORR_CFG_TASK_BREAK_ON_SCHED,
        [ORR_BREAK_POP] = ORR_CFG_TASK_BREAK_ON_POP,
        [ORR_BREAK_EXEC] = ORR_CFG_TASK_BREAK_ON_EXEC,
    };

    rt->workers->disables_kernels =
        orr_config_bool(&rt->config, ORR_CFG_DISABLE_KERNELS);
    for (unsigned i = 0; i < ORR_NBREAKS; i++) {
        rt->tasks->break_on[i] = orr_config_int(&rt->config, ids[i]);
        rt->tasks->breaks |= rt->tasks->break_on[i] > 0;
    }
}

/* -1 is what count_of leaves alone. */
static bool flag_of(const struct starpu_conf *conf, int from_conf,
                    const struct orr_config *config, enum orr_config_id id)
{
    return orr_conf_count(conf, from_conf, config, id) > 0;
}

/* Copies that are waited for. */
static void apply_sync_copies(struct orr_runtime *rt,
                              const struct starpu_conf *conf)
{
    const struct orr_config *config = &rt->config;
    const struct orr_device_kind *kind;

    rt->nodes->sync_copies =
        flag_of(conf, conf ? conf->disable_asynchronous_copy : -1, config,
                ORR_CFG_SYNC_COPIES);
    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++) {
        const struct orr_kind_settings *settings = orr_kind_settings(kind);
        int value = -1;

        if (settings->sync_copies == ORR_CFG_COUNT)
            continue;
        if (conf)
            memcpy(&value, (const char *)conf + settings->conf_sync_copies,
                   sizeof(value));
        if (flag_of(conf, value, config, settings->sync_copies))
            rt->nodes->sync_kinds |= 1U << kind->memory;
    }
    for (unsigned n = 0; n < rt->machine->nnodes; n++) {
        struct orr_node_desc *node = &rt->machine->nodes[n];

        node->copies_wait =
            !orr_node_is_main(node) &&
            (rt->nodes->sync_copies || rt->nodes->sync_kinds >> node->kind & 1);
    }
}

/* Settings of the environment for the machine that was opened. */
/* One of the two limits of submission needs the other. */
static void tell_half_limit(const struct orr_config *config)
{
    bool most = orr_config_is_set(config, ORR_CFG_LIMIT_MAX_SUBMITTED_TASKS);
    bool least = orr_config_is_set(config, ORR_CFG_LIMIT_MIN_SUBMITTED_TASKS);

    if (most != least)
        orr_log_notice(
            "%s has no effect unless %s is set as well (or "
            "starpu_set_limit_%s_submitted_tasks called)",
            orr_config_name(most ? ORR_CFG_LIMIT_MAX_SUBMITTED_TASKS
                                 : ORR_CFG_LIMIT_MIN_SUBMITTED_TASKS),
            orr_config_name(most ? ORR_CFG_LIMIT_MIN_SUBMITTED_TASKS
                                 : ORR_CFG_LIMIT_MAX_SUBMITTED_TASKS),
            most ? "min" : "max");
}

static void apply_limits(struct orr_runtime *rt)
{
    const struct orr_config *config = &rt->config;
    struct orr_machine *machine = rt->machine;

    for (unsigned n = 0; n < machine->nnodes; n++) {
        struct orr_node_desc *node = &machine->nodes[n];
        int mib = orr_node_is_main(node)
                      ? main_memory_mib(config, machine, node)
                      : device_mib(config, node);

        if (mib >= 0)
            node->capacity = (size_t)mib << 20;
        rt->nodes->expects_disks |= mib >= 0 && orr_node_is_main(node);
    }
    for (unsigned w = 0; w < machine->nworkers; w++) {
        struct orr_worker_desc *worker = &machine->workers[w];
        enum orr_config_id pipeline =
            orr_kind_settings(orr_device_kind(worker->type))->pipeline;

        if (pipeline != ORR_CFG_COUNT)
            worker->pipeline = (unsigned)orr_config_int(config, pipeline);
    }
    tell_half_limit(config);
    atomic_init(&rt->tasks->limit_max,
                (int)orr_config_int(config, ORR_CFG_LIMIT_MAX_SUBMITTED_TASKS));
    atomic_init(&rt->tasks->limit_min,
                (int)orr_config_int(config, ORR_CFG_LIMIT_MIN_SUBMITTED_TASKS));
    rt->workers->counts_codelets =
        orr_config_bool(config, ORR_CFG_CODELET_PROFILING);
    rt->nodes->counts_hits =
        orr_config_string(config, ORR_CFG_ENABLE_STATS) != NULL;
    rt->nodes->count_write_back =
        orr_config_bool(config, ORR_CFG_EXPECTED_TRANSFER_TIME_WRITEBACK);
    rt->nodes->minimum_available =
        orr_config_int(config, ORR_CFG_MINIMUM_AVAILABLE_MEM);
    rt->nodes->target_available =
        orr_config_int(config, ORR_CFG_TARGET_AVAILABLE_MEM);
    if (rt->nodes->target_available < rt->nodes->minimum_available)
        rt->nodes->target_available = rt->nodes->minimum_available;
    rt->nodes->minimum_clean =
        orr_config_int(config, ORR_CFG_MINIMUM_CLEAN_BUFFERS);
    rt->nodes->target_clean =
        orr_config_int(config, ORR_CFG_TARGET_CLEAN_BUFFERS);
    if (rt->nodes->target_clean < rt->nodes->minimum_clean)
        rt->nodes->target_clean = rt->nodes->minimum_clean;
    rt->nodes->tidies =
        rt->nodes->minimum_available > 0 || rt->nodes->minimum_clean > 0;
    apply_debugging(rt);
    rt->tasks->follow_placed =
        orr_config_bool(&rt->config, ORR_CFG_FOLLOW_PLACED);
}

static int make_models(struct orr_runtime *rt, const struct starpu_conf *conf)
{
    const struct orr_config *config = &rt->config;
    struct orr_models_options options = {
        .sampling = rt->estimates->sampling,
        .host = rt->machine->host,
        .calibrate = orr_conf_count(conf, conf ? conf->calibrate : -1, config,
                                    ORR_CFG_CALIBRATE),
        .minimum = (unsigned)orr_config_int(config, ORR_CFG_CALIBRATE_MINIMUM),
        .max_error = orr_config_int(config, ORR_CFG_HISTORY_MAX_ERROR),
        .simulated = rt->machine->kernels_take_their_length,
        .fixed = orr_config_bool(config, ORR_CFG_MODELS_FIXED),
    };
    const struct orr_device_kind *kind;

    if (options.calibrate < 0)
        options.calibrate = 0;
    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++) {
        enum orr_config_id same = orr_kind_settings(kind)->homogeneous;

        if (same != ORR_CFG_COUNT && orr_config_bool(config, same))
            options.homogeneous |= 1U << kind->type;
    }
    rt->estimates->homogeneous = options.homogeneous;
    return orr_models_new(&options, &rt->estimates->models);
}

/* --- worker classes --- */

static int find_class(struct orr_runtime *rt, unsigned w, unsigned *ret)
{
    const struct orr_worker_desc *desc = &rt->machine->workers[w];
    struct orr_device device = {
        (int)desc->type,
        desc->models_of ? (int)desc->models_of - 1 : desc->devid, 1};
    struct orr_worker_class *class;
    unsigned comb;
    int err;

    /* Processors are one class then; other devices differ by their memory. */
    if (orr_device_kind(desc->type)->is_processor &&
        rt->estimates->homogeneous & 1U << desc->type)
        device.devid = 0;
    err = orr_combs_get(orr_models_combs(rt->estimates->models), &device, 1,
                        &comb);
    if (err)
        return err;
    for (*ret = 0; *ret < rt->workers->nclasses; ++*ret) {
        class = &rt->workers->classes[*ret];
        if (class->comb == comb && class->node == desc->node &&
            class->type == desc->type && class->speed == desc->speed &&
            class->kernels == desc->kernels && class->powers == desc->powers)
            return 0;
    }
    if (rt->workers->nclasses == ORR_MAX_CLASSES)
        return -EOVERFLOW;
    class = &rt->workers->classes[rt->workers->nclasses++];
    *class = (struct orr_worker_class){
        .type = desc->type,
        .devid = device.devid,
        .ncores = 1,
        .comb = comb,
        .node = desc->node,
        .speed = desc->speed,
        .kernels = desc->kernels,
        .powers = desc->powers,
        .relative_speedup = orr_devices_speedup(&device, 1),
    };
    return 0;
}

static int make_workers(struct orr_runtime *rt)
{
    unsigned n = rt->workers->n, next = 0;

    rt->workers->at = calloc(n, sizeof(*rt->workers->at));
    rt->workers->classes = calloc(n, sizeof(*rt->workers->classes));
    rt->workers->class_members = calloc(n, sizeof(*rt->workers->class_members));
    if (!rt->workers->at || !rt->workers->classes ||
        !rt->workers->class_members)
        return -ENOMEM;
    for (unsigned w = 0; w < n; w++) {
        struct orr_worker *worker = &rt->workers->at[w];
        int err = find_class(rt, w, &worker->class_id);

        if (err)
            return err;
        worker->id = w;
        worker->desc = &rt->machine->workers[w];
        worker->runtime = rt;
    }
    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        rt->workers->classes[k].members = &rt->workers->class_members[next];
        for (unsigned w = 0; w < n; w++)
            if (rt->workers->at[w].class_id == k)
                rt->workers->class_members[next++] = w;
        rt->workers->classes[k].nworkers =
            (unsigned)(&rt->workers->class_members[next] -
                       rt->workers->classes[k].members);
    }
    return 0;
}

static int make_scheduler(struct orr_runtime *rt,
                          const struct starpu_conf *conf, struct orr_error *err)
{
    const struct orr_config *config = &rt->config;
    struct orr_sched_options options = {
        .name = orr_config_string(config, ORR_CFG_SCHED),
        .user = conf ? conf->sched_policy : NULL,
        .min_priority = orr_conf_count(
            conf, conf ? conf->global_sched_ctx_min_priority : -1, config,
            ORR_CFG_MIN_PRIO),
        .max_priority = orr_conf_count(
            conf, conf ? conf->global_sched_ctx_max_priority : -1, config,
            ORR_CFG_MAX_PRIO),
    };
    const int unset = -1;
    int code;

    rt->workers->single_combined =
        orr_conf_count(conf, conf ? conf->single_combined_worker : -1, config,
                       ORR_CFG_SINGLE_COMBINED_WORKER) > 0;

    if (conf && conf->sched_policy_name &&
        !orr_config_is_set(config, ORR_CFG_SCHED))
        options.name = conf->sched_policy_name;
    options.min_given = options.min_priority != unset;
    options.max_given = options.max_priority != unset;
    code = orr_sched_ctx_start(rt, &options, err);
    if (code)
        return code;
    rt->nodes->pops_by_priority = rt->sched_ctxs->at[0]->ops->by_priority;
    rt->nodes->follows_memory = rt->sched_ctxs->at[0]->ops->follows_memory;
    if (conf && conf->sched_policy_callback) {
        rt->sched_ctxs->at[0]->said->policy_init = conf->sched_policy_callback;
        orr_self->frozen++;
        conf->sched_policy_callback(0); /* the first scheduling context */
        orr_self->frozen--;
    }
    return 0;
}

/* What workers need, made when the machine is open. */
static int make_parts(struct orr_runtime *rt, const struct starpu_conf *conf,
                      struct orr_error *err)
{
    int code;

    rt->exec = rt->machine->exec;
    rt->views->opened_at = orr_exec_now(rt->exec);
    rt->main = orr_self;
    rt->main->runtime = rt;
    if (!rt->main->name)
        rt->main->name = "main";
    if (orr_machine_reserve_nodes(rt->machine) != 0)
        return orr_fail(err, -ENOMEM, "out of memory");
    rt->nodes->n = rt->machine->nnodes;
    rt->nodes->nram = count_ram_nodes(rt->machine);
    rt->workers->n = rt->machine->nworkers;
    if (rt->nodes->n > STARPU_MAXNODES || rt->workers->n > STARPU_NMAXWORKERS)
        return orr_fail(err, -EINVAL,
                        "machine \"%s\" has %u workers and %u memory nodes; "
                        "at most %d and %d are possible (starpu_config.h): "
                        "use less, with STARPU_NCPU and the like for devices",
                        rt->machine->name, rt->workers->n, rt->nodes->n,
                        STARPU_NMAXWORKERS, STARPU_MAXNODES);
    apply_limits(rt);
    apply_sync_copies(rt, conf);
    if ((code = make_sampling(rt)) || (code = make_models(rt, conf)) ||
        (code = orr_slabs_new(rt)) || (code = orr_buses_new(rt)) ||
        (code = orr_nodes_new(rt)) || (code = make_workers(rt)) ||
        (code = orr_tags_new(&rt->tasks->tags)) ||
        (code = orr_agains_new(&rt->tasks->agains)))
        return orr_fail(err, code,
                        code == -EOVERFLOW
                            ? "the workers are of more than 64 classes (type, "
                              "device and memory): use less, with STARPU_NCPU "
                              "and the like for devices"
                            : "out of memory");
    code = orr_costs_table_new(rt, &rt->estimates->costs, err);
    if (code)
        return code;
    if (orr_observers_open(rt, conf) != 0)
        return orr_fail(err, -ENOMEM, "out of memory");
    code = orr_debugger_observe(rt, err);
    if (code)
        return code;
    return make_scheduler(rt, conf, err);
}

static void free_parts(struct orr_runtime *rt)
{
    orr_observers_free(rt);
    orr_tags_free(rt->tasks->tags);
    orr_agains_free(rt->tasks->agains);
    orr_costs_table_free(rt->estimates->costs);
    orr_nodes_free(rt);
    orr_buses_free(rt);
    orr_direct_free(rt);
    orr_slabs_free(rt);
    orr_combined_free_all(rt);
    free(rt->nodes->returned);
    free(rt->workers->at);
    free(rt->workers->classes);
    free(rt->workers->class_members);
    orr_models_free(rt->estimates->models);
    orr_sampling_free(rt->estimates->sampling);
    orr_config_done(&rt->config);
}

/* What is wrong with the variable a program with OpenMP's constructs is told. */
static void size_stacks(const struct orr_config *config, struct orr_exec *exec)
{
    const char *text = orr_config_string(config, ORR_CFG_OMP_STACKSIZE);
    size_t wanted;

    if (text && !orr_stack_size_read(text, &wanted) &&
        exec->stack_size < wanted)
        exec->stack_size = wanted;
}

static int start(struct orr_runtime *rt, struct starpu_conf *conf,
                 const struct orr_setting *settings, struct orr_error *err)
{
    int code = orr_config_read_with(&rt->config, settings, err);

    if (code)
        return code;
    code = orr_tool_observe(rt);
    ORR_TELL(rt, ORR_TOLD_RUN_BEGINS);
    if (!code)
        code = make_sampling(rt);
    if (!code)
        code = choose_eviction(rt, err);
    if (!code)
        code = orr_noise_init(&rt->estimates->noise, &rt->config, err);
    if (!code)
        code = orr_calls_open(rt, err);
    if (!code)
        code = open_machine(rt, conf, err);
    if (code)
        return code;
    code = make_parts(rt, conf, err);
    if (!code)
        code = orr_state_arm(rt, err);
    if (!code) {
        orr_ends_watch(rt);
        if (!flag_of(conf, conf ? conf->catch_signals : 1, &rt->config,
                     ORR_CFG_CATCH_SIGNALS))
            orr_ends_catch(rt, false);
        if (conf) {
            atomic_init(&rt->workers->hooks.sleeps,
                        conf->callback_worker_going_to_sleep);
            atomic_init(&rt->workers->hooks.wakes,
                        conf->callback_worker_waking_up);
        }
        rt->exec->all_parked_arg = rt;
        __atomic_store_n(&rt->exec->all_parked, orr_deadlock_all_parked,
                         __ATOMIC_RELEASE);
        orr_workers_leave_out(rt, conf);
        size_stacks(&rt->config, rt->exec);
        code = orr_workers_start(rt);
        if (!code) {
            code = orr_watchdog_tasks_start(rt);
            if (!code)
                code = orr_progress_start(rt);
            if (code) {
                orr_watchdog_tasks_stop(rt);
                orr_workers_stop(rt);
            }
        }
        if (code)
            orr_fail(err, code,
                     "the workers could not be started, with stacks of %zu "
                     "bytes: %s",
                     rt->exec->stack_size, strerror(-code));
    }
    if (code) {
        orr_ends_forget(rt);
        rt->machine->ops->close(rt->machine);
    }
    return code;
}

/* The runtime first, by whose address all of it is freed. */
struct whole_runtime {
    struct orr_runtime rt;
    struct orr_runtime_members members;
};

int orr_runtime_start(struct starpu_conf *conf,
                      const struct orr_setting *settings,
                      struct orr_pinned *pinned)
{
    struct whole_runtime *whole = calloc(1, sizeof(*whole));
    struct orr_error err = {""};
    struct orr_runtime *rt;
    int code;

    if (!whole)
        return -ENOMEM;
    rt = &whole->rt;
    orr_runtime_set_members(rt, &whole->members);
    orr_iterations_init(&rt->views->iterations);
    rt->nodes->pinned = pinned;
    rt->views->wall_start = orr_wall_time_s();
    rt->fail = orr_ends_fail;
    code = start(rt, conf, settings, &err);
    if (code) {
        orr_calls_abandon(rt);
        orr_log_error("starpu_init: %s",
                      err.text[0] ? err.text : strerror(-code));
        orr_sched_ctx_stop(rt);
        free_parts(rt);
        free(rt);
        return code;
    }
    orr_runtime_adopt_threads(rt);
    orr_calls_begin(rt, conf);
    ORR_TELL(rt, ORR_TOLD_RUN_IS_OPEN, .conf = conf);
    return 0;
}

/* --- closing --- */

static void model_not_saved(const char *symbol, const struct orr_error *err,
                            void *arg)
{
    (void)arg;
    orr_log_error("performance model `%s' was not saved: %s", symbol,
                  err->text);
}

void orr_runtime_stop(struct orr_runtime *rt)
{
    bool dropped;

    (void)orr_application_enter(rt); /* never to return */
    atomic_store(&rt->workers->paused, 0);
    for (unsigned w = 0; w < rt->workers->n; w++)
        orr_worker_wake(&rt->workers->at[w]);
    orr_wait_at_end(rt);
    dropped = atomic_load(&rt->tasks->drops);
    if (dropped)
        orr_deadlock_explain_left(rt);
    orr_watchdog_tasks_stop(rt);
    orr_progress_stop(rt);
    orr_runtime_check_quiet(rt, UINT_MAX);
    orr_state_end(rt);
    orr_ends_settle(rt);
    orr_report_write(rt, "shutdown");
    orr_worker_profiles_report(rt);
    if (!dropped) /* whose time is in the bounds and not in the run's */
        orr_check_bounds(rt);
    orr_what_if_report(rt);
    orr_workers_stop(rt);
    ORR_TELL(rt, ORR_TOLD_RUN_ENDS);
    orr_handles_free_dead(rt);
    while (!orr_list_empty(&rt->data->handles))
        orr_handle_free(
            orr_container(rt->data->handles.next, struct orr_handle, all));
    orr_tasks_drop(rt);
    orr_slab_trim(rt->slabs->tasks);
    orr_caches_empty(rt);
    (void)orr_models_save(rt->estimates->models, model_not_saved, NULL);
    orr_ends_forget(rt);
    __atomic_store_n(&rt->exec->all_parked, NULL, __ATOMIC_RELEASE);
    orr_runtime_forget_threads(rt);
    /* The slabs and caches below need a context: the machine goes last. */
    orr_sched_ctx_stop(rt);
    orr_context_end();
    rt->machine->ops->close(rt->machine);
    free_parts(rt);
    free(rt);
}

void orr_runtime_abandon(struct orr_runtime *rt)
{
    orr_progress_leave(rt);
    orr_watchdog_tasks_stop(rt);
    orr_progress_stop(rt);
    orr_calls_abandon(rt);
    orr_ends_forget_left(rt);
    orr_runtime_forget_threads(rt);
    orr_tasks_abandon(rt);
    if (rt->machine)
        rt->machine->ops->close(rt->machine);
    orr_self = NULL;
    free_parts(rt);
    free(rt);
}

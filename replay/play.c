/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/play.c - an application whose calls are those of a record (docs/
 * RECORD.md), on the machine that is simulated.
 */
#include <errno.h>
#include <limits.h>
#include <orrery.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/number.h"
#include "replay/player.h"
#include "replay/threads.h"

static _Noreturn void player_exit(const struct player *player)
{
    player->host->fail(player->host->arg);
    exit(1);
}

void player_fail(const struct player *player, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "orrery: error: %s: ", orr_record_where(player->reader));
    orr_vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    player_exit(player);
}

void *player_need(const struct player *player, void *memory)
{
    if (!memory)
        player_fail(player, "out of memory");
    return memory;
}

void player_check_number(const struct player *player, uint64_t number)
{
    /* Numbers are given in turn; the runtime takes some for itself. */
    if (number > 64 * player->ncalls + 1000000)
        player_fail(player, "the number %llu, of so few calls",
                    (unsigned long long)number);
}

void *player_at(const struct player *player, void *array, size_t *n,
                uint64_t number, size_t size)
{
    char **elements = array;

    player_check_number(player, number);
    if (orr_grow(array, n, number + 1, size) < 0)
        player_need(player, NULL);
    return *elements + number * size;
}

/* --- short calls --- */

static void player_skip_call(struct player *player, const struct orr_call *call)
{
    (void)player;
    (void)call;
}

static void tag_depend(struct player *player, const struct orr_call *call)
{
    (void)player;
    starpu_tag_declare_deps_array(call->id, (unsigned)call->before.n,
                                  (starpu_tag_t *)(uintptr_t)call->before.at);
}

static void tag_notify(struct player *player, const struct orr_call *call)
{
    (void)player;
    starpu_tag_notify_from_apps(call->id);
}

static void tag_restart(struct player *player, const struct orr_call *call)
{
    (void)player;
    starpu_tag_restart(call->id);
}

static void tag_notify_restart(struct player *player,
                               const struct orr_call *call)
{
    (void)player;
    starpu_tag_notify_restart_from_apps(call->id);
}

static void tag_remove(struct player *player, const struct orr_call *call)
{
    (void)player;
    starpu_tag_remove(call->id);
}

static void tag_clear(struct player *player, const struct orr_call *call)
{
    (void)player;
    (void)call;
    starpu_tag_clear();
}

static void launch_graph(struct player *player, const struct orr_call *call)
{
    (void)player;
    (void)call;
    orrery_graph_launch();
}

static void tag_wait(struct player *player, const struct orr_call *call)
{
    /* Traces name the call. */
    int rc =
        call->before.n == 1
            ? starpu_tag_wait(call->before.at[0])
            : starpu_tag_wait_array((unsigned)call->before.n,
                                    (starpu_tag_t *)(uintptr_t)call->before.at);

    if (rc != 0)
        player_fail(player, "the tags cannot be waited for");
}

static void wait_all(struct player *player, const struct orr_call *call)
{
    (void)player;
    if (call->value)
        starpu_task_wait_for_n_submitted((unsigned)call->value);
    else
        starpu_task_wait_for_all();
}

static void wait_ready(struct player *player, const struct orr_call *call)
{
    (void)player;
    (void)call;
    starpu_task_wait_for_no_ready();
}

static void play_schedule(struct player *player, const struct orr_call *call)
{
    (void)player;
    (void)call;
    starpu_do_schedule();
}

static void play_invalidate(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t handle = player_datum(player, call->id);

    if (call->how == ORR_HOW_SUBMITTED)
        (call->kept ? starpu_data_deinitialize_submit
                    : starpu_data_invalidate_submit)(handle);
    else
        (call->kept ? starpu_data_deinitialize
                    : starpu_data_invalidate)(handle);
}

static void play_fetch(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t handle = player_datum(player, call->id);
    unsigned node = (unsigned)call->node, async = !call->synchronous;

    if (call->task) {
        player_prefetch_later(player, call);
        return;
    }
    if (!player_has_node(call->node) || call->node < 0)
        return;
    if (call->how == ORR_HOW_PREFETCH)
        starpu_data_prefetch_on_node_prio(handle, node, async,
                                          (int)call->priority);
    else if (call->how == ORR_HOW_IDLE)
        starpu_data_idle_prefetch_on_node_prio(handle, node, async,
                                               (int)call->priority);
    else
        starpu_data_fetch_on_node(handle, node, async);
}

static void play_allocate(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t handle = player_datum(player, call->id);

    if (player_has_node(call->node) && call->node >= 0)
        starpu_data_request_allocation(handle, (unsigned)call->node);
}

static void play_evict(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t handle = player_datum(player, call->id);

    if (player_has_node(call->node) && call->node >= 0)
        starpu_data_evict_from_node(handle, (unsigned)call->node);
}

static void wont_use(struct player *player, const struct orr_call *call)
{
    starpu_data_wont_use(player_datum(player, call->id));
}

static void untouched(struct player *player, const struct orr_call *call)
{
    orrery_data_untouched(player_datum(player, call->id));
}

static void set_name(struct player *player, const struct orr_call *call)
{
    starpu_data_set_name(player_datum(player, call->id), call->name);
}

static void play_set_coordinates(struct player *player,
                                 const struct orr_call *call)
{
    int list[8] = {0};
    size_t n = call->nodes.n < 8 ? call->nodes.n : 8;

    for (size_t i = 0; i < n; i++)
        list[i] = (int)call->nodes.at[i];
    starpu_data_set_coordinates_array(player_datum(player, call->id),
                                      (unsigned)n, list);
}

static void set_sequential(struct player *player, const struct orr_call *call)
{
    if (!call->id) /* those to come */
        starpu_data_set_default_sequential_consistency_flag(
            (unsigned)call->value);
    else
        starpu_data_set_sequential_consistency_flag(
            player_datum(player, call->id), (unsigned)call->value);
}

static void play_set_reduction(struct player *player,
                               const struct orr_call *call)
{
    starpu_data_set_reduction_methods(player_datum(player, call->id),
                                      player_find_codelet(player, call->redux),
                                      player_find_codelet(player, call->init));
}

static void set_write_through(struct player *player,
                              const struct orr_call *call)
{
    starpu_data_set_wt_mask(player_datum(player, call->id),
                            (uint32_t)call->value);
}

static void set_out_of_core(struct player *player, const struct orr_call *call)
{
    starpu_data_set_ooc_flag(player_datum(player, call->id),
                             (unsigned)call->value);
}

static void set_important(struct player *player, const struct orr_call *call)
{
    starpu_data_advise_as_important(player_datum(player, call->id),
                                    (unsigned)call->value);
}

/* The library claims such data, whichever arbiter they have. */
static void set_arbiter(struct player *player, const struct orr_call *call)
{
    if (!player->arbiter)
        player->arbiter = starpu_arbiter_create();
    starpu_data_assign_arbiter(player_datum(player, call->id), player->arbiter);
}

static void set_limits(struct player *player, const struct orr_call *call)
{
    (void)player;
    starpu_set_limit_min_submitted_tasks((int)call->least);
    starpu_set_limit_max_submitted_tasks((int)call->most);
}

/* It takes time. */
static void play_pin(struct player *player, const struct orr_call *call)
{
    starpu_memory_pin((void *)player->address, call->size);
}

static void play_set_priorities(struct player *player,
                                const struct orr_call *call)
{
    (void)player;
    starpu_sched_set_min_priority((int)call->least);
    starpu_sched_set_max_priority((int)call->most);
}

static void set_range(struct player *player, const struct orr_call *call)
{
    player->least = call->least;
    player->most = call->most;
    player->widened = call->least == INT_MIN && call->most == INT_MAX;
    player->asked_least = call->least < call->most && call->value & 1;
    player->asked_most = call->least < call->most && call->value & 2;
}

static void pause_workers(struct player *player, const struct orr_call *call)
{
    (void)player;
    (void)call;
    starpu_pause();
}

static void resume_workers(struct player *player, const struct orr_call *call)
{
    (void)player;
    (void)call;
    starpu_resume();
}

static void play_sleep(struct player *player, const struct orr_call *call)
{
    (void)player;
    orrery_usleep(call->us);
}

static void play_iteration(struct player *player, const struct orr_call *call)
{
    (void)player;
    if (call->how == ORR_HOW_END)
        starpu_iteration_pop();
    else
        starpu_iteration_push(call->value);
}

static void play_second_run(struct player *player, const struct orr_call *call)
{
    (void)call;
    player_fail(player, "a second `run'");
}

static void play_message(struct player *player, const struct orr_call *call)
{
    if (!player->messages)
        player_fail(player, "this is the record of one of several ranks, which is played "
                            "by `orrery replay', with the others");
    player->messages->play(player, call);
}

static void (*const actions[ORR_NVERBS])(struct player *,
                                         const struct orr_call *) = {
    [ORR_CALL_RUN] = play_second_run,
    [ORR_CALL_MODEL] = player_model,
    [ORR_CALL_CODELET] = player_codelet,
    [ORR_CALL_DATA] = player_register,
    [ORR_CALL_PART] = player_add_part,
    [ORR_CALL_PARTITION] = player_partition,
    [ORR_CALL_UNPARTITION] = player_unpartition,
    [ORR_CALL_PLAN] = player_partition,
    [ORR_CALL_SWITCH] = player_switch,
    [ORR_CALL_CLEAN] = player_clean,
    [ORR_CALL_SUBMIT] = player_submit,
    [ORR_CALL_DEPEND] = player_depend,
    [ORR_CALL_END_DEPEND] = player_end_depend,
    [ORR_CALL_END_HOLD] = player_end_hold,
    [ORR_CALL_END_RELEASE] = player_end_release,
    [ORR_CALL_FORGET] = player_forget,
    [ORR_CALL_TAG_DEPEND] = tag_depend,
    [ORR_CALL_TAG_NOTIFY] = tag_notify,
    [ORR_CALL_TAG_RESTART] = tag_restart,
    [ORR_CALL_TAG_NOTIFY_RESTART] = tag_notify_restart,
    [ORR_CALL_TAG_REMOVE] = tag_remove,
    [ORR_CALL_TAG_CLEAR] = tag_clear,
    [ORR_CALL_TAG_WAIT] = tag_wait,
    [ORR_CALL_WAIT_TASK] = player_wait,
    [ORR_CALL_WAIT_ALL] = wait_all,
    [ORR_CALL_WAIT_READY] = wait_ready,
    [ORR_CALL_SCHEDULE] = play_schedule,
    [ORR_CALL_ACQUIRE] = player_acquire,
    [ORR_CALL_RELEASE] = player_release,
    [ORR_CALL_UNREGISTER] = player_unregister,
    [ORR_CALL_INVALIDATE] = play_invalidate,
    [ORR_CALL_FETCH] = play_fetch,
    [ORR_CALL_ALLOCATE] = play_allocate,
    [ORR_CALL_EVICT] = play_evict,
    [ORR_CALL_WONT_USE] = wont_use,
    [ORR_CALL_UNTOUCHED] = untouched,
    [ORR_CALL_DUPLICATE] = player_duplicate,
    [ORR_CALL_NAME] = set_name,
    [ORR_CALL_COORDINATES] = play_set_coordinates,
    [ORR_CALL_SEQUENTIAL] = set_sequential,
    [ORR_CALL_REDUCTION] = play_set_reduction,
    [ORR_CALL_WRITE_THROUGH] = set_write_through,
    [ORR_CALL_OUT_OF_CORE] = set_out_of_core,
    [ORR_CALL_IMPORTANT] = set_important,
    [ORR_CALL_ARBITER] = set_arbiter,
    [ORR_CALL_LIMITS] = set_limits,
    [ORR_CALL_PIN] = play_pin,
    [ORR_CALL_RANGE] = set_range,
    [ORR_CALL_PRIORITIES] = play_set_priorities,
    [ORR_CALL_PAUSE] = pause_workers,
    [ORR_CALL_RESUME] = resume_workers,
    [ORR_CALL_SLEEP] = play_sleep,
    [ORR_CALL_ITERATION] = play_iteration,
    [ORR_CALL_NOTE] = player_skip_call,
    [ORR_CALL_END] = player_skip_call,
    [ORR_CALL_TOOK] = player_skip_call,
    [ORR_CALL_ROW] = player_skip_call,
    [ORR_CALL_RANK] = play_message,
    [ORR_CALL_COMM] = play_message,
    [ORR_CALL_SEND] = play_message,
    [ORR_CALL_RECEIVE] = play_message,
    [ORR_CALL_WAIT_MESSAGE] = play_message,
    [ORR_CALL_WAIT_MESSAGES] = play_message,
    [ORR_CALL_BARRIER] = play_message,
    [ORR_CALL_EXPECT_SENDS] = play_message,
    [ORR_CALL_GATHER_SENDS] = play_message,
    [ORR_CALL_SKIP] = player_skip_call,
    [ORR_CALL_UNREAL] = player_skip_call,
    [ORR_CALL_END_RANK] = play_message,
    [ORR_CALL_NUMBERS] = play_message,
    [ORR_CALL_GRAPH_LAUNCH] = launch_graph,
    [ORR_CALL_PLACE] = player_place,
};

/* --- the run --- */

/* Returns whether there was one more. */
static bool player_next_call(struct player *player, const struct orr_call **ret)
{
    struct orr_error err;
    int rc = orr_record_next(player->reader, ret, &err);

    if (rc < 0) {
        fprintf(stderr, "orrery: error: %s\n", err.text);
        player_exit(player);
    }
    player->ncalls++;
    return rc > 0;
}

/* The threads of an OpenMP program are the policy, if nobody has named one. */
static void choose_policy(struct player *player, uint64_t flags,
                          struct starpu_conf *conf)
{
    const char *named = getenv("STARPU_SCHED");

    if (!(flags & (ORR_RUN_THREADS_OLDEST | ORR_RUN_THREADS_NEWEST)))
        return;
    /* The library would refuse a name that it does not know. */
    if (named && strcmp(named, PLAYER_THREADS_NAME) == 0)
        unsetenv("STARPU_SCHED");
    else if (conf->sched_policy_name || (named && *named))
        return;
    player->threads = player_need(
        player, player_threads_new((flags & ORR_RUN_THREADS_NEWEST) != 0));
    conf->sched_policy = player_threads_policy(player->threads);
}

/* STARPU_SCHED and the like go before what the application asked for. */
static int player_start(struct player *player)
{
    const struct orr_call *run;
    struct starpu_conf conf;
    char *scheduler, *host;
    uint64_t flags;
    int rc;

    if (!player_next_call(player, &run) || run->verb != ORR_CALL_RUN)
        player_fail(player, "the first call is not `run'");
    starpu_conf_init(&conf);
    scheduler =
        run->scheduler ? player_need(player, strdup(run->scheduler)) : NULL;
    conf.sched_policy_name = scheduler;
    conf.ncpus = (int)run->ncpus;
    conf.ncuda = (int)run->ncuda;
    conf.nopencl = (int)run->nopencl;
    conf.reserve_ncpus = (int)run->reserved;
    conf.single_combined_worker = (int)run->combined;
    conf.calibrate = (int)run->calibrate;
    conf.global_sched_ctx_min_priority = (int)run->least;
    conf.global_sched_ctx_max_priority = (int)run->most;
    host = run->host ? player_need(player, strdup(run->host)) : NULL;
    flags = run->flags;
    choose_policy(player, flags, &conf);
    rc = starpu_init(&conf);
    free(scheduler);
    if (rc == 0 && player->threads)
        starpu_sched_ctx_set_policy_data(0, player->threads);
    if (rc == 0 && flags & ORR_RUN_COSTS_IN_TIMES)
        orrery_set_costs_in_times();
    if (rc == 0 && host && orrery_is_simulated())
        player_take_times(player, host);
    free(host);
    if (rc != 0)
        return rc;
    if (!orrery_is_simulated())
        player_fail(player, "a record has no kernels that could run on this "
                            "machine: name one to be simulated, with -m or "
                            "ORRERY_MACHINE");
    return 0;
}

static void make_calls(struct player *player)
{
    const struct orr_player_host *host = player->host;
    const struct orr_call *call;

    while (player_next_call(player, &call)) {
        if (host->is_stopped && host->is_stopped(host->arg))
            player_exit(player);
        if (call->after > 0)
            orrery_usleep(call->after);
        actions[call->verb](player, call);
    }
}

/* --- the table --- */

static int open_record(const char *path, const struct orr_player_host *host,
                       struct player **ret, struct orr_error *err)
{
    struct player *player = calloc(1, sizeof(*player));
    int rc;

    if (!player)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    rc = orr_record_open(path, &player->reader, err);
    if (rc < 0) {
        free(player);
        return rc;
    }
    player->host = host;
    player->path = path;
    player->address = (uintptr_t)1 << 40;
    *ret = player;
    return 0;
}

static int player_play(struct player *player)
{
    int rc = player_start(player);

    if (rc != 0)
        return rc;
    make_calls(player);
    starpu_shutdown();
    return 0;
}

static void close_record(struct player *player)
{
    if (!player)
        return;
    if (player->arbiter && !starpu_is_initialized())
        starpu_arbiter_destroy(player->arbiter);
    player_forget_data(player);
    player_forget_tasks(player);
    player_forget_chains(player);
    player_forget_ahead(player);
    player_forget_places(player);
    player_forget_codelets(player);
    player_forget_times(player);
    player_threads_free(player->threads);
    if (player->calls)
        orr_record_close(player->calls);
    orr_record_close(player->reader);
    free(player);
}

const struct orr_player_ops player_ops = {open_record, player_play,
                                          close_record};

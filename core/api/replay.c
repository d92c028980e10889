/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/replay.c - records played in this process (orrery.h). The module "replay"
 * makes the calls, on the calling thread, as any application. A run that cannot go on
 * is left by a jump, from the stack of the run that has found this, back to the stack
 * on which the run was opened; then the run is forgotten.
 *
 * Where the library ends a process by abort(), for a mistake in the calls, the signal's
 * handler does the same, if the thread that plays has raised it.
 */
/* Stacks of contexts lie anywhere: longjmp must not compare them. */
#undef _FORTIFY_SOURCE
#include <errno.h>
#include <orrery.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "core/api/api.h"
#include "core/api/state.h"
#include "core/base/module.h"
#include "core/ends.h"
#include "core/exec/program.h"
#include "core/open.h"
#include "record/player.h"

enum { MOST_SETTINGS = 16 };

/* The one of this process; a signal handler has no other way to it. */
static struct {
    atomic_bool stopped;
    struct sigaction before; /* of SIGABRT */
    sigjmp_buf frame;
    int status; /* with which the process would have ended */
} replay;

/* --- how it is left --- */

static void replay_leave_run(void *arg, int status)
{
    (void)arg;
    replay.status = status;
    siglongjmp(replay.frame, 1);
}

static void replay_fail_run(void *arg)
{
    (void)arg;
    orr_ends_exit(1);
}

static bool is_stopped(void *arg)
{
    (void)arg;
    return atomic_load(&replay.stopped);
}

/* Of another thread, abort() goes on when this returns, with what was before. */
static void on_abort(int number)
{
    if (pthread_equal(pthread_self(), orr_program()->replayer))
        orr_ends_exit(128 + number);
    sigaction(SIGABRT, &replay.before, NULL);
}

void orrery_replay_stop(void)
{
    atomic_store(&replay.stopped, true);
    orr_ends_interrupt();
}

/* The run may have been left before starpu_init had returned, when no runtime was in
 * place yet. */
static void forget_run(void)
{
    struct orr_program *program = orr_program();
    struct orr_runtime *rt = orr_runtime_adopted();

    if (!rt && orr_self)
        rt = orr_self->runtime;
    atomic_store(&program->ready, false);
    if (rt)
        orr_runtime_abandon(rt);
    orr_api_state_drop();
    atomic_store(&program->users, 0);
}

static int code_of(int status)
{
    if (atomic_load(&replay.stopped))
        return -EINTR;
    return status == 3 ? -EDEADLK : -ECANCELED;
}

/* --- settings --- */

static const struct orr_setting *
settings_of(const struct orrery_replay_settings *given,
            struct orr_setting room[MOST_SETTINGS])
{
    const struct orr_setting all[] = {
        {ORR_CFG_MACHINE, given->machine}, {ORR_CFG_SET, given->edits},
        {ORR_CFG_SCHED, given->scheduler}, {ORR_CFG_ASSUME, given->assume},
        {ORR_CFG_SIM_NOISE, given->noise}, {ORR_CFG_SIM_SEED, given->seed},
        {ORR_CFG_REPORT, given->report},   {ORR_CFG_GRAPH, given->graph},
        {ORR_CFG_TRACE, given->trace},
    };
    size_t n = 0;

    static_assert(sizeof(all) / sizeof(*all) < MOST_SETTINGS, "room");
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].text)
            room[n++] = all[i];
    room[n] = (struct orr_setting){0};
    return room;
}

/* Whether a machine is named; if not, the run would be on the real one, which is
 * refused with a message. */
static bool names_machine(const struct orrery_replay_settings *settings)
{
    const char *name = settings && settings->machine ? settings->machine
                                                     : getenv("ORRERY_MACHINE");

    if (name && *name)
        return true;
    orr_log_error("orrery_replay: a record has no kernels that could run on "
                  "this machine: name one to be simulated, in the settings or "
                  "by ORRERY_MACHINE");
    return false;
}

/* --- the run --- */

static int open_player(const char *path, const struct orr_player_host *host,
                       const struct orr_player_ops **ret_ops,
                       struct player **ret)
{
    struct orr_error err = {""};
    const void *table;
    int rc = orr_module_open("replay", &table, &err);

    if (rc == 0) {
        *ret_ops = table;
        rc = (*ret_ops)->open(path, host, ret, &err);
    }
    if (rc < 0)
        orr_log_error("%s", err.text);
    return rc;
}

/* The handler for abort() is there while calls are made. */
static int play(const struct orr_player_ops *ops, struct player *player)
{
    struct sigaction action = {.sa_handler = on_abort};
    volatile bool left = false;
    volatile int rc;

    sigaction(SIGABRT, &action, &replay.before);
    orr_ends_leave(replay_leave_run, NULL);
    if (sigsetjmp(replay.frame, 1) == 0) {
        rc = ops->play(player);
    } else {
        left = true;
        rc = code_of(replay.status);
    }
    orr_ends_leave(NULL, NULL);
    sigaction(SIGABRT, &replay.before, NULL);
    if (left)
        forget_run();
    return rc;
}

/* What the application has set for runs to come, which the replay neither has nor
 * changes. */
struct wishes {
    bool profiling, unordered;
    struct orr_early *early;
};

static struct wishes put_wishes(struct wishes wishes)
{
    struct orr_program *program = orr_program();
    struct wishes before = {
        .profiling = atomic_exchange(&program->profiling, wishes.profiling),
        .unordered = atomic_exchange(&program->unordered, wishes.unordered),
    };

    pthread_mutex_lock(&program->lock);
    before.early = program->early;
    program->early = wishes.early;
    pthread_mutex_unlock(&program->lock);
    return before;
}

int orrery_replay(const char *path,
                  const struct orrery_replay_settings *settings)
{
    static const struct orr_player_host host = {replay_fail_run, is_stopped,
                                                NULL};
    struct orr_setting room[MOST_SETTINGS];
    const struct orr_player_ops *ops = NULL;
    struct player *player = NULL;
    int rc;

    if (!names_machine(settings))
        return -EINVAL;
    if (starpu_is_initialized() ||
        atomic_exchange(&orr_program()->replaying, true))
        return -EBUSY;
    atomic_store(&orr_program()->replayer, pthread_self());
    atomic_store(&replay.stopped, false);
    rc = open_player(path, &host, &ops, &player);
    if (rc == 0) {
        struct wishes wishes = put_wishes((struct wishes){0});

        orr_program()->settings = settings ? settings_of(settings, room) : NULL;
        rc = play(ops, player);
        orr_program()->settings = NULL;
        (void)put_wishes(wishes);
        ops->close(player);
    }
    atomic_store(&orr_program()->replaying, false);
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/watchdog.c - see watchdog.h. */
#include "core/observe/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/config.h"
#include "core/base/log.h"
#include "core/base/wait.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/observe/ticker.h"
#include "core/observe/views.h"

struct orr_watchdog_tasks {
    struct orr_runtime *rt;
    double period; /* µs */
    bool crash;
    bool looked;          /* [ticker] once … */
    unsigned long before; /* [ticker] … when so many tasks had ended */
    struct orr_ticker *ticker;
};

/* Lives longer than a runtime: it may be set before starpu_init. */
static struct {
    pthread_mutex_t lock;
    void (*func)(void *);
    void *arg;
} hook = {.lock = PTHREAD_MUTEX_INITIALIZER};

void orr_watchdog_tasks_hook(void (*func)(void *), void *arg)
{
    pthread_mutex_lock(&hook.lock);
    hook.func = func;
    hook.arg = arg;
    pthread_mutex_unlock(&hook.lock);
}

/* Reports that no task has ended; there are tasks, or main waits for something else. */
static void watchdog_report(const struct orr_watchdog_tasks *w)
{
    char what[ORR_AWAITED_TEXT] = "nothing";
    bool seen;

    pthread_mutex_lock(&hook.lock);
    if (hook.func)
        hook.func(hook.arg);
    else if (orr_count_unfinished(w->rt) == 0 &&
             orr_context_tell(w->rt->main, what, sizeof(what), &seen))
        orr_log_error("no task has ended for %.3f s (STARPU_WATCHDOG_TIMEOUT), "
                      "and none is submitted: %s waits for %s",
                      w->period / 1e6, w->rt->main->name, what);
    else
        orr_log_error("no task has ended for %.3f s (STARPU_WATCHDOG_TIMEOUT), "
                      "and %lu are submitted: %lu of them wait for a worker",
                      w->period / 1e6, orr_count_unfinished(w->rt),
                      orr_count_ready(w->rt));
    pthread_mutex_unlock(&hook.lock);
    if (!w->crash)
        return;
    orr_log_error("the program ends, as STARPU_WATCHDOG_CRASH wants");
    abort();
}

static void watchdog_check(void *arg)
{
    struct orr_watchdog_tasks *w = arg;
    unsigned long ended = orr_count_all_ended(w->rt);
    bool same = false; /* wait of main as at the last look */

    (void)orr_context_tell(w->rt->main, NULL, 0, &same);
    if (w->looked && ended == w->before &&
        (same || orr_count_unfinished(w->rt) > 0))
        watchdog_report(w);
    w->before = ended;
    w->looked = true;
}

int orr_watchdog_tasks_start(struct orr_runtime *rt)
{
    const struct orr_config *config = &rt->config;
    double period = orr_config_double(config, ORR_CFG_WATCHDOG_TIMEOUT);
    struct orr_watchdog_tasks *w;
    int err;

    if (!(period > 0))
        return 0;
    w = calloc(1, sizeof(*w));
    if (!w)
        return -ENOMEM;
    w->rt = rt;
    w->period = period;
    w->crash = orr_config_bool(config, ORR_CFG_WATCHDOG_CRASH);
    err = orr_ticker_start(orr_config_double(config, ORR_CFG_WATCHDOG_DELAY),
                           period, watchdog_check, w, &w->ticker);
    if (err)
        free(w);
    else
        rt->views->watchdog = w;
    return err;
}

void orr_watchdog_tasks_stop(struct orr_runtime *rt)
{
    struct orr_watchdog_tasks *w = rt->views->watchdog;

    if (!w)
        return;
    rt->views->watchdog = NULL;
    orr_ticker_stop(w->ticker);
    free(w);
}

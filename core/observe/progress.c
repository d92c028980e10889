/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/progress.c - see progress.h. The thread reads counters and the
 * machine's clock.
 */
#include "core/observe/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/number.h"
#include "core/device/clock.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/observe/ticker.h"
#include "core/observe/views.h"

enum { LINE = 200 };

struct orr_progress {
    struct orr_runtime *rt;
    struct orr_ticker *ticker;
    bool terminal;        /* [const] */
    atomic_bool left;     /* nothing is printed any more */
    atomic_bool shows;    /* there is a line on the terminal */
    pthread_mutex_t lock; /* held while one is written, or cleared */
    double begin_s;       /* [const] wall time when it began … */
    double last_s;        /* [ticker] … and of the last line … */
    unsigned long before; /* [ticker] … when so many tasks had ended */
};

struct number {
    char text[32];
};

/* The number with commas: 1,234,567. */
static struct number with_commas(unsigned long value)
{
    struct number plain, out = {""};
    size_t n, at = 0;

    n = (size_t)snprintf(plain.text, sizeof(plain.text), "%lu", value);
    for (size_t i = 0; i < n && at + 2 < sizeof(out.text); i++) {
        if (i && (n - i) % 3 == 0)
            out.text[at++] = ',';
        out.text[at++] = plain.text[i];
    }
    out.text[at] = '\0';
    return out;
}

/* Writes the text in one call, so that no other message comes in between. */
static void write_out(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));

    (void)n; /* an error could not be written either */
}

/* The tasks that ended in so many seconds. */
static void progress_print(struct orr_progress *p, unsigned long ended,
                           unsigned long n, double seconds)
{
    struct orr_runtime *rt = p->rt;
    unsigned long all = ended + orr_count_unfinished(rt);
    char line[LINE];

    orr_snprintf(line, sizeof(line),
                 "%s%.6f s%s: %s of %s submitted tasks ended, %s tasks/s%s",
                 p->terminal ? "\r\033[K" : "", orr_exec_now(rt->exec) / 1e6,
                 rt->exec->virtual_time ? " of virtual time" : "",
                 with_commas(ended).text, with_commas(all).text,
                 with_commas(seconds > 0 ? (unsigned long)((double)n / seconds) : 0)
                     .text,
                 p->terminal ? "" : "\n");
    if (atomic_load(&p->left))
        return;
    write_out(line);
    atomic_store(&p->shows, p->terminal);
}

static void tick(void *arg)
{
    struct orr_progress *p = arg;
    unsigned long ended;
    double now_s = orr_wall_time_s();

    pthread_mutex_lock(&p->lock);
    ended = orr_count_all_ended(p->rt);
    /* The application may have printed something since all have ended. */
    if (!p->terminal || orr_count_unfinished(p->rt) > 0)
        progress_print(p, ended, ended - p->before, now_s - p->last_s);
    pthread_mutex_unlock(&p->lock);
    p->before = ended;
    p->last_s = now_s;
}

/* If there is a line. */
static void end_line(struct orr_progress *p, const char *how)
{
    if (atomic_exchange(&p->shows, false))
        write_out(how);
}

static void progress_done(struct orr_progress *p)
{
    pthread_mutex_destroy(&p->lock);
    free(p);
}

int orr_progress_start(struct orr_runtime *rt)
{
    double s = orr_config_double(&rt->config, ORR_CFG_PROGRESS);
    struct orr_progress *p;
    int err;

    if (!orr_config_is_set(&rt->config, ORR_CFG_PROGRESS) &&
        orr_config_bool(&rt->config, ORR_CFG_TASK_PROGRESS))
        s = 1;
    if (!(s > 0))
        return 0;
    p = calloc(1, sizeof(*p));
    if (!p)
        return -ENOMEM;
    p->rt = rt;
    pthread_mutex_init(&p->lock, NULL);
    p->terminal = isatty(STDERR_FILENO);
    p->begin_s = p->last_s = orr_wall_time_s();
    err = orr_ticker_start(s * 1e6, s * 1e6, tick, p, &p->ticker);
    if (err)
        progress_done(p);
    else
        rt->views->progress = p;
    return err;
}

void orr_progress_stop(struct orr_runtime *rt)
{
    struct orr_progress *p = rt->views->progress;
    unsigned long ended;

    if (!p)
        return;
    rt->views->progress = NULL;
    orr_ticker_stop(p->ticker);
    ended = orr_count_all_ended(rt);
    if (!p->terminal)
        progress_print(p, ended, ended, orr_wall_time_s() - p->begin_s);
    else
        end_line(p, "\r\033[K");
    progress_done(p);
}

void orr_progress_clear(struct orr_runtime *rt)
{
    if (!rt->views->progress)
        return;
    pthread_mutex_lock(&rt->views->progress->lock);
    end_line(rt->views->progress, "\r\033[K");
    pthread_mutex_unlock(&rt->views->progress->lock);
}

void orr_progress_leave(struct orr_runtime *rt)
{
    struct orr_progress *p = rt->views->progress;

    if (!p)
        return;
    atomic_store(&p->left, true);
    end_line(p, "\n");
}

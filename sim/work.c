/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/work.c - see work.h. */
#include "sim/work.h"

#include <math.h>
#include <stddef.h>

void orr_processors_init(struct orr_processors *processors, unsigned n)
{
    *processors = (struct orr_processors){.n = n, .speed = 1};
    orr_list_init(&processors->working);
}

static double speed_of(const struct orr_sim_work *work)
{
    return work->processors ? work->rate * work->processors->speed : work->rate;
}

static void set_speed(struct orr_timers *timers, double now, struct orr_sim_work *work)
{
    double speed = speed_of(work);

    if (!(speed < work->speed || speed > work->speed))
        return;
    work->left = fmax(0, work->left - (now - work->since) * work->speed);
    work->since = now;
    work->speed = speed;
    /* Not set: it has not begun yet, or is over. */
    if (work->timer->place == 0)
        return;
    orr_timers_cancel(timers, work->timer);
    orr_timers_set(timers, work->timer, now + work->left / speed);
}

/* One more works there, or one less. */
static void share(struct orr_timers *timers, double now, struct orr_processors *processors)
{
    double speed = processors->nworking > processors->n
                       ? (double)processors->n / processors->nworking
                       : 1;

    if (!(speed < processors->speed || speed > processors->speed))
        return;
    processors->speed = speed;
    orr_list_foreach(link, &processors->working)
        set_speed(timers, now, orr_container(link, struct orr_sim_work, link));
}

double orr_sim_work_begin(struct orr_timers *timers, double now, struct orr_sim_work *work,
                          struct orr_processors *processors, double us)
{
    work->processors = processors;
    if (processors) {
        processors->nworking++;
        share(timers, now, processors);
        orr_list_append(&processors->working, &work->link);
    }
    work->left = us;
    work->since = now;
    work->speed = speed_of(work);
    return work->speed < 1 ? now + us / work->speed : now + us;
}

void orr_sim_work_end(struct orr_timers *timers, double now, struct orr_sim_work *work)
{
    struct orr_processors *processors = work->processors;

    if (!processors)
        return;
    orr_list_remove(&work->link);
    processors->nworking--;
    share(timers, now, processors);
}

void orr_sim_work_set_rate(struct orr_timers *timers, double now, struct orr_sim_work *work,
                           double rate)
{
    work->rate = rate;
    set_speed(timers, now, work);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/exec/program.c - see program.h. */
#include "core/exec/program.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/exec.h"
#include "core/base/log.h"

/* Of the process: it is written before there is a runtime. */
static struct orr_program program = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};

/* Of ranks in this process: sums of what was said, a table with open places. */
enum { SAID = 4096 };
static struct {
    uint64_t sums[SAID]; /* 0: free */
    unsigned n;
    unsigned nranks; /* that there are: the last one ends the simulation */
} said;

bool orr_log_was_said(const char *text)
{
    uint64_t sum = UINT64_C(14695981039346656037); /* FNV-1a */
    unsigned at;

    if (!orr_self || !orr_self->program)
        return false;
    for (; *text; text++)
        sum = (sum ^ (unsigned char)*text) * UINT64_C(1099511628211);
    sum |= sum == 0;
    for (at = (unsigned)(sum % SAID); said.sums[at]; at = (at + 1) % SAID)
        if (said.sums[at] == sum)
            return true;
    if (said.n < SAID / 2) {
        said.sums[at] = sum;
        said.n++;
    }
    return false;
}

struct orr_program *orr_program(void)
{
    return orr_self && orr_self->program ? orr_self->program : &program;
}

struct orr_program *orr_program_new(int rank, const struct orr_setting *settings,
                                    void *place)
{
    struct orr_program *new = calloc(1, sizeof(*new));

    if (!new)
        return NULL;
    pthread_mutex_init(&new->lock, NULL);
    pthread_cond_init(&new->changed, NULL);
    new->rank = rank;
    new->settings = settings;
    said.nranks++;
    new->place = place;
    return new;
}

void orr_program_free(struct orr_program *old)
{
    while (old->early) {
        struct orr_early *early = old->early;

        old->early = early->next;
        free(early);
    }
    if (atomic_load(&old->kept))
        old->free_kept(atomic_load(&old->kept));
    pthread_mutex_destroy(&old->lock);
    pthread_cond_destroy(&old->changed);
    if (--said.nranks == 0)
        memset(&said, 0, sizeof(said));
    free(old);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/early.c - see early.h. The list is the program's, under its lock, the last
 * call first. */
#include "core/api/early.h"

#include <stdlib.h>
#include <string.h>

#include "core/api/api.h"
#include "core/exec/program.h"

void orr_early_keep(const char *name, orr_early_call_t call, uint64_t about,
                    unsigned n, const uint64_t *more)
{
    struct orr_early *early = malloc(sizeof(*early) + n * sizeof(*more));
    struct orr_program *program = orr_program();
    struct orr_runtime *rt;

    if (!early) {
        orr_log_error("%s: out of memory", name);
        abort();
    }
    *early = (struct orr_early){.call = call, .about = about, .n = n};
    if (n)
        memcpy(early->more, more, n * sizeof(*more));
    pthread_mutex_lock(&program->lock);
    /* A run that is opened meanwhile makes the calls after that, under the lock. */
    rt = orr_self ? orr_self->runtime : orr_runtime_adopted();
    if (!rt) {
        early->next = program->early;
        program->early = early;
    }
    pthread_mutex_unlock(&program->lock);
    if (!rt)
        return;
    free(early);
    (void)orr_runtime_need(name); /* as a part of it, or the program ends */
    call(about, n, (uint64_t *)(uintptr_t)more);
}

static bool has(const struct orr_early *early, uint64_t about)
{
    bool found = early->about == about;

    for (unsigned i = 0; i < early->n; i++)
        found |= early->more[i] == about;
    return found;
}

bool orr_early_forget(uint64_t about)
{
    struct orr_program *program = orr_program();
    struct orr_early **at = &program->early;
    bool found = false;

    pthread_mutex_lock(&program->lock);
    while (*at) {
        struct orr_early *early = *at;

        if (has(early, about)) {
            *at = early->next;
            free(early);
            found = true;
        } else {
            at = &early->next;
        }
    }
    pthread_mutex_unlock(&program->lock);
    return found;
}

void orr_early_make(void)
{
    struct orr_program *program = orr_program();
    struct orr_early *last, *early = NULL;

    pthread_mutex_lock(&program->lock);
    last = program->early;
    program->early = NULL;
    pthread_mutex_unlock(&program->lock);
    while (last) {
        struct orr_early *before = last->next;

        last->next = early;
        early = last;
        last = before;
    }
    while (early) {
        struct orr_early *next = early->next;

        early->call(early->about, early->n, early->more);
        free(early);
        early = next;
    }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/times.c - the times of kernels in a record of a real run. They stand behind the
 * tasks that had them, so that the record is read twice. A task takes its own time again
 * where the same kind of worker executes it; for others, and for tasks of the library's
 * own, models get the means of the record.
 */
#include <errno.h>
#include <math.h>
#include <orrery.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/grow.h"
#include "record/models.h"
#include "replay/player.h"

/* Of one run of a task. */
struct own_time {
    double us;
    uint32_t next; /* place of that of its next run, from 1; 0: none */
    uint8_t kind, implementation;
};

struct own_times {
    struct own_time *at;
    size_t n;
    uint32_t *first, *last; /* by task: place of the times that are left, from 1 */
    size_t ntasks, nlast;   /* of which there is room */
    char **symbols;         /* by model; NULL: not in files */
    size_t nsymbols;
    struct codelet_names {
        char *name;     /* owned */
        uint64_t model; /* its number */
    } * codelets;
    size_t ncodelets;
};

/* The kind of worker of a line. */
static int kind_number(const struct player *player, const char *kind)
{
    for (int i = 0; kind && i < ORR_NKINDS; i++)
        if (!strcmp(kind, orr_kind_variables[i]))
            return i;
    if (kind)
        player_fail(player, "a kernel on \"%s\", which there is not", kind);
    return ORR_KIND_CPU;
}

static void take_own_time(struct player *player, const struct orr_call *call)
{
    struct own_times *times = player->times;
    struct own_time *time;
    uint32_t *first, *last;

    if (call->implementation >= STARPU_MAXIMPLEMENTATIONS)
        player_fail(player, "implementation %llu of a kernel",
                    (unsigned long long)call->implementation);
    first = player_at(player, &times->first, &times->ntasks, call->id,
                      sizeof(*times->first));
    last = player_at(player, &times->last, &times->nlast, call->id,
                     sizeof(*times->last));
    time = orr_array_add(times->at, times->n);
    player_need(player, time);
    *time = (struct own_time){
        .us = call->us,
        .kind = (uint8_t)kind_number(player, call->kind),
        .implementation = (uint8_t)call->implementation,
    };
    if (*first)
        times->at[*last - 1].next = (uint32_t)times->n;
    else
        *first = (uint32_t)times->n;
    *last = (uint32_t)times->n;
}

static void take_model(struct player *player, const struct orr_call *call)
{
    struct own_times *times = player->times;
    char **symbol = player_at(player, &times->symbols, &times->nsymbols,
                              call->id, sizeof(*times->symbols));

    if (call->symbol && !*symbol && !(call->flags & ORR_MODEL_TIMES))
        *symbol = player_need(player, strdup(call->symbol));
}

static void take_codelet(struct player *player, const struct orr_call *call)
{
    struct own_times *times = player->times;
    const char *name = call->name ? call->name : call->called;
    struct codelet_names *names =
        player_at(player, &times->codelets, &times->ncodelets, call->id,
                  sizeof(*times->codelets));

    names->model = call->model;
    if (name && !names->name)
        names->name = player_need(player, strdup(name));
}

static void take_row(struct player *player, const struct orr_call *call)
{
    static const enum starpu_worker_archtype types[ORR_NKINDS] = {
        [ORR_KIND_CPU] = STARPU_CPU_WORKER,
        [ORR_KIND_CUDA] = STARPU_CUDA_WORKER,
        [ORR_KIND_OPENCL] = STARPU_OPENCL_WORKER,
        [ORR_KIND_HIP] = STARPU_HIP_WORKER,
    };
    const struct own_times *times = player->times;
    const struct codelet_names *names;
    struct orrery_kernel kernel = {
        .type = types[kind_number(player, call->kind)],
        .implementation = (unsigned)call->implementation,
        .footprint = (uint32_t)call->footprint,
        .size = call->size,
        .flops = call->flops,
        .n = (unsigned)call->value,
        .mean = call->us,
        .deviation = call->deviation,
    };

    if (call->codelet >= times->ncodelets)
        player_fail(player, "there is no codelet %llu",
                    (unsigned long long)call->codelet);
    names = &times->codelets[call->codelet];
    kernel.name = names->name;
    if (names->model && names->model < times->nsymbols)
        kernel.symbol = times->symbols[names->model];
    /* Nothing names the kernels of the others: they have their own times. */
    if ((kernel.name || kernel.symbol) &&
        orrery_teach_kernel(&kernel) == -ENOMEM)
        player_need(player, NULL);
}

static void take_line(struct player *player, const struct orr_call *call)
{
    switch (call->verb) {
    case ORR_CALL_MODEL:
        take_model(player, call);
        break;
    case ORR_CALL_CODELET:
        take_codelet(player, call);
        break;
    case ORR_CALL_TOOK:
        take_own_time(player, call);
        break;
    case ORR_CALL_ROW:
        take_row(player, call);
        break;
    default:
        break;
    }
}

static double own_time(struct starpu_task *task,
                       enum starpu_worker_archtype type, unsigned impl)
{
    static const int kinds[STARPU_NARCH] = {
        [STARPU_CPU_WORKER] = ORR_KIND_CPU,
        [STARPU_CUDA_WORKER] = ORR_KIND_CUDA,
        [STARPU_OPENCL_WORKER] = ORR_KIND_OPENCL,
        [STARPU_HIP_WORKER] = ORR_KIND_HIP,
    };
    const struct told *told =
        player_is_codelet(task->cl) ? task->cl_arg : NULL;

    return told && told->own_kind == kinds[type] &&
                   told->own_implementation == impl
               ? told->own_us
               : (double)NAN;
}

/* From a pipe it cannot be read again. */
static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

void player_take_times(struct player *player, const char *host)
{
    struct orr_record_reader *calls = player->reader;
    const struct orr_call *call;
    struct orr_error err = {""};
    int rc;

    if (!orrery_takes_times_of(host) || !is_file(player->path))
        return;
    player->times = player_need(player, calloc(1, sizeof(*player->times)));
    rc = orr_record_open(player->path, &player->reader, &err);
    if (rc < 0) {
        player->reader = calls;
        player_fail(player, "%s", err.text);
    }
    player->calls = calls;
    player->ncalls = 0;
    while ((rc = orr_record_next(player->reader, &call, &err)) > 0) {
        player->ncalls++;
        take_line(player, call);
    }
    if (rc < 0)
        player_fail(player, "%s", err.text);
    orr_record_close(player->reader);
    player->reader = calls;
    player->calls = NULL;
    orrery_set_kernel_times(own_time);
}

bool player_has_time(const struct player *player, uint64_t task)
{
    const struct own_times *times = player->times;

    return times && task < times->ntasks && times->first[task];
}

void player_tell_time(struct player *player, uint64_t task, struct told *told)
{
    struct own_times *times = player->times;
    const struct own_time *time;

    if (!player_has_time(player, task))
        return;
    time = &times->at[times->first[task] - 1];
    told->own_us = time->us;
    told->own_kind = time->kind;
    told->own_implementation = time->implementation;
    times->first[task] = time->next;
}

void player_forget_times(struct player *player)
{
    struct own_times *times = player->times;

    if (!times)
        return;
    for (size_t i = 0; i < times->nsymbols; i++)
        free(times->symbols[i]);
    for (size_t i = 0; i < times->ncodelets; i++)
        free(times->codelets[i].name);
    free(times->symbols);
    free(times->codelets);
    free(times->first);
    free(times->last);
    free(times->at);
    free(times);
}

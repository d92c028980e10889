/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/task.c - the tasks of a record. Those that the library frees at their end
 * are forgotten when they have been submitted: memory does not grow with them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>

#include "replay/player.h"
#include "replay/threads.h"

static struct starpu_task **player_task_slot(struct player *player,
                                             uint64_t number)
{
    return player_at(player, &player->tasks, &player->ntasks, number,
                     sizeof(*player->tasks));
}

/* Made when it is first named. */
static struct starpu_task *task_of(struct player *player, uint64_t number)
{
    struct starpu_task **place = player_task_slot(player, number);

    if (!*place)
        *place = player_need(player, starpu_task_create());
    return *place;
}

/* --- what is told of it --- */

static bool needs_telling(const struct orr_call *call)
{
    return call->footprint || call->size || call->parameters.n ||
           call->times.n || call->workers.n || call->ordered.n || call->name ||
           call->device >= 0;
}

/* Of a set of workers, in words of 32 bits. */
static size_t worker_words(const struct orr_call *call)
{
    return call->device >= 0 ? starpu_worker_get_count() / 32 + 1 : call->workers.n;
}

/* One block, which ends with the task, or is kept with it. */
static struct told *player_make_told(const struct player *player,
                                     const struct orr_call *call)
{
    size_t workers = worker_words(call) * sizeof(uint32_t);
    size_t reals = call->parameters.n * sizeof(double);
    size_t name = call->name ? strlen(call->name) + 1 : 0;
    struct told *told =
        player_need(player, calloc(1, sizeof(*told) + reals + workers +
                                          call->ordered.n + name));
    char *at = (char *)(told + 1);

    told->has_footprint = call->footprint != 0;
    told->footprint = (uint32_t)call->footprint;
    told->size = call->size;
    for (size_t i = 0; i < ORR_NKINDS; i++)
        told->times[i] = i < call->times.n ? call->times.at[i] : (double)NAN;
    told->own_us = (double)NAN;
    told->parameters = (double *)(void *)at;
    for (size_t i = 0; i < call->parameters.n; i++)
        told->parameters[i] = call->parameters.at[i];
    at += reals;
    told->workers = (uint32_t *)(void *)at;
    for (size_t i = 0; i < call->workers.n && call->device < 0; i++)
        told->workers[i] = (uint32_t)call->workers.at[i];
    at += workers;
    told->ordered = (unsigned char *)at;
    for (size_t i = 0; i < call->ordered.n; i++)
        told->ordered[i] = (unsigned char)call->ordered.at[i];
    at += call->ordered.n;
    if (call->name)
        told->name = memcpy(at, call->name, name);
    return told;
}

/* --- places --- */

struct player_place {
    char *file; /* owned, NULL: there is none of that number */
    int line;
};

void player_place(struct player *player, const struct orr_call *call)
{
    struct player_place *place =
        player_at(player, &player->places, &player->nplaces, call->id,
                  sizeof(*player->places));

    if (place->file)
        player_fail(player, "there is a place %llu already",
                    (unsigned long long)call->id);
    place->file = player_need(player, strdup(call->text ? call->text : ""));
    place->line = (int)call->value;
}

/* The task says that it is submitted there. */
static void set_place(const struct player *player, const struct orr_call *call,
                      struct starpu_task *task)
{
    const struct player_place *place =
        call->place < player->nplaces ? &player->places[call->place] : NULL;

    if (call->place && (!place || !place->file))
        player_fail(player, "there is no place %llu",
                    (unsigned long long)call->place);
    task->file = call->place ? place->file : NULL;
    task->line = call->place ? place->line : 0;
}

void player_forget_places(struct player *player)
{
    for (size_t i = 0; i < player->nplaces; i++)
        free(player->places[i].file);
    free(player->places);
}

/* --- submission --- */

static void set_data(struct player *player, const struct orr_call *call,
                     struct starpu_task *task)
{
    size_t n = call->data.n;

    if (task->cl && task->cl->nbuffers >= 0 && n != (size_t)task->cl->nbuffers)
        player_fail(player, "%zu data for a codelet of %d", n,
                    task->cl->nbuffers);
    if (!task->cl && n)
        player_fail(player, "data of a task without codelet");
    task->nbuffers = (int)n;
    if (n > STARPU_NMAXBUFS) {
        free(task->dyn_handles);
        free(task->dyn_modes);
        task->dyn_handles =
            player_need(player, calloc(n, sizeof(*task->dyn_handles)));
        task->dyn_modes =
            player_need(player, calloc(n, sizeof(*task->dyn_modes)));
    }
    for (size_t i = 0; i < n; i++) {
        STARPU_TASK_SET_HANDLE(task,
                               player_datum(player, call->data.at[i].datum), i);
        STARPU_TASK_SET_MODE(
            task, (enum starpu_data_access_mode)call->data.at[i].mode, i);
    }
}

/* Whether this machine has one of the workers (bits). */
static bool has_some_worker(const struct orr_numbers *workers)
{
    unsigned n = starpu_worker_get_count();

    for (unsigned w = 0; w < n; w++)
        if (w / 32 < workers->n && workers->at[w / 32] >> w % 32 & 1)
            return true;
    return false;
}

static void say_moved(struct player *player)
{
    if (!player->moved)
        fprintf(stderr,
                "orrery replay: %s: the task is for workers that this machine "
                "has not: it and others like it run on any\n",
                orr_record_where(player->reader));
    player->moved = true;
}

/* The class of that worker here: those of its type. */
static void restrict_to_class(struct starpu_task *task, unsigned worker)
{
    int32_t where = (int32_t)STARPU_WORKER_TO_MASK(starpu_worker_get_type((int)worker));

    if (task->where == -1 || task->where & where)
        task->where = where;
}

/* Whether the codelet has a function for such devices. Where the machine's models say who can
 * run it, it has none for any, and all of them count. */
static bool has_function(const struct starpu_codelet *cl, enum starpu_worker_archtype type)
{
    bool cuda = cl->cuda_funcs[0], opencl = cl->opencl_funcs[0], hip = cl->hip_funcs[0];
    bool none = !cuda && !opencl && !hip;

    if (cl->where && !(cl->where & STARPU_WORKER_TO_MASK(type)))
        return false;
    switch (type) {
    case STARPU_CUDA_WORKER:
        return cuda || none;
    case STARPU_OPENCL_WORKER:
        return opencl || none;
    case STARPU_HIP_WORKER:
        return hip || none;
    default:
        return false;
    }
}

/* Workers in order: of which device they are, of those that can run the codelet. */
struct device_walk {
    const struct starpu_codelet *cl;
    bool any; /* has functions for none of this machine's devices: all that it allows count */
    int type, number;
    unsigned n; /* devices up to now; the last one is the worker's */
};

static bool is_of_device(struct device_walk *walk, unsigned worker)
{
    int type = (int)starpu_worker_get_type((int)worker);
    int number = starpu_worker_get_devid((int)worker);

    if (walk->any ? type == STARPU_CPU_WORKER ||
                        (walk->cl->where && !(walk->cl->where & STARPU_WORKER_TO_MASK(type)))
                  : !has_function(walk->cl, (enum starpu_worker_archtype)type))
        return false;
    walk->n += walk->n == 0 || type != walk->type || number != walk->number;
    walk->type = type;
    walk->number = number;
    return true;
}

/* Fills `workers` (bits) with those of the device with that number, of those that can run
 * the codelet, which count from 0 again behind the last one. Returns whether there is one. */
static bool workers_of_device(const struct starpu_codelet *cl, int64_t device, uint32_t *workers)
{
    struct device_walk all = {.cl = cl}, walk = {.cl = cl};
    unsigned n = starpu_worker_get_count();

    for (unsigned w = 0; w < n; w++)
        is_of_device(&all, w);
    walk.any = all.any = all.n == 0;
    for (unsigned w = 0; all.any && w < n; w++)
        is_of_device(&all, w);
    for (unsigned w = 0; w < n; w++)
        if (is_of_device(&walk, w) && walk.n - 1 == (unsigned)(device % all.n))
            workers[w / 32] |= UINT32_C(1) << w % 32;
    return all.n > 0;
}

/* Of a task that the program has bound to a worker of a device: on another machine that
 * number is somebody else's, and the device's first worker stands for it. Returns -1 where
 * there is no such device. */
static int64_t worker_here(const struct orr_call *call,
                           const struct starpu_codelet *cl, uint32_t *workers)
{
    unsigned n = starpu_worker_get_count();
    int64_t worker = call->worker;

    if (!cl || !workers_of_device(cl, call->device, workers))
        return -1;
    if (worker < (int64_t)n && workers[worker / 32] & UINT32_C(1)
                                                          << worker % 32)
        return worker;
    for (worker = 0; !(workers[worker / 32] & UINT32_C(1) << worker % 32);
         worker++)
        ;
    return worker;
}

static void set_device(struct player *player, const struct orr_call *call,
                       struct starpu_task *task, const struct told *told)
{
    if (task->cl && workers_of_device(task->cl, call->device, told->workers)) {
        task->workerids = told->workers;
        task->workerids_len = (unsigned)worker_words(call);
    } else {
        say_moved(player);
    }
}

static void player_set_workers(struct player *player,
                               const struct orr_call *call,
                               struct starpu_task *task,
                               const struct told *told)
{
    unsigned n = starpu_worker_get_count() + starpu_combined_worker_get_count();
    int64_t worker = call->worker;

    /* Its time is that of the workers of the class where it ran. */
    if (worker < 0 && call->ran >= 0 && player_needs_hints(task->cl)) {
        if (call->ran < (int64_t)starpu_worker_get_count())
            restrict_to_class(task, (unsigned)call->ran);
        else
            say_moved(player);
    }
    if (worker >= 0 && call->device >= 0)
        worker = worker_here(call, task->cl, told->workers);
    task->execute_on_a_specific_worker = worker >= 0 && worker < (int64_t)n;
    if (task->execute_on_a_specific_worker) {
        task->workerid = (unsigned)worker;
        task->workerorder = (unsigned)call->order;
    } else if (call->worker >= 0) {
        say_moved(player);
    }
    if (call->device >= 0) {
        if (call->worker < 0)
            set_device(player, call, task, told);
    } else if (call->workers.n && has_some_worker(&call->workers)) {
        task->workerids = told->workers;
        task->workerids_len = (unsigned)call->workers.n;
    } else if (call->workers.n) {
        say_moved(player);
    }
}

/* The least or greatest priority of the recorded policy becomes that of this
 * policy. */
static int player_priority(const struct player *player, int64_t priority)
{
    int least, most;

    if (player->widened && priority != STARPU_DEFAULT_PRIO) {
        least = starpu_sched_get_min_priority();
        most = starpu_sched_get_max_priority();
        return (int)(priority < least  ? least
                     : priority > most ? most
                                       : priority);
    }
    if (player->asked_most && priority == player->most)
        return starpu_sched_get_max_priority();
    if (player->asked_least && priority == player->least)
        return starpu_sched_get_min_priority();
    return (int)priority;
}

/* In place of that of its last run. */
static void keep_told(struct player *player, uint64_t number, struct told *told)
{
    struct told **place = player_at(player, &player->told, &player->ntold,
                                    number, sizeof(*player->told));

    free(*place);
    *place = told;
}

static void set_fields(struct player *player, const struct orr_call *call,
                       struct starpu_task *task)
{
    struct told *told = needs_telling(call) ||
                                player_has_time(player, call->id) ||
                                player->threads
                            ? player_make_told(player, call)
                            : NULL;

    if (told)
        player_tell_time(player, call->id, told);
    if (player->threads) {
        told->strand = player_threads_enter(player->threads, call);
        if (!told->strand)
            player_fail(
                player,
                "task %llu resumes, or is under, none before it, or memory is out",
                (unsigned long long)call->id);
    }
    if (call->kept || call->id < player->ntold)
        keep_told(player, call->id, call->kept ? told : NULL);
    task->cl_arg = told;
    task->cl_arg_free = told && !call->kept;
    task->name = told ? told->name : NULL;
    if (call->ordered.n && call->ordered.n != call->data.n)
        player_fail(player, "ordered= is not of as many data");
    task->handles_sequential_consistency =
        call->ordered.n ? told->ordered : NULL;
    task->priority = player_priority(player, call->priority);
    task->use_tag = call->tagged != 0;
    task->tag_id = call->tag;
    task->flops = call->flops;
    task->color = (unsigned)call->color;
    task->where = call->where ? (int32_t)call->where : -1;
    task->destroy = !call->kept;
    task->detach = !call->awaited;
    task->synchronous = call->synchronous != 0;
    task->sequential_consistency = !call->unordered;
    task->possibly_parallel = (unsigned)call->possibly;
    player_set_workers(player, call, task, told);
    set_place(player, call, task);
}

struct strand *player_strand_of(const struct starpu_task *task)
{
    return ((const struct told *)task->cl_arg)->strand;
}

static int submit_call(struct starpu_task *task, const struct orr_call *call)
{
    if (call->alone)
        return starpu_task_submit_nodeps(task);
    if (call->graph)
        return orrery_task_submit_in_graph(task, call->graph > 1);
    if (call->cores > 1 || call->memory)
        return orrery_task_submit_on_host(
            task, call->cores < UINT16_MAX ? (unsigned)call->cores : UINT16_MAX,
            call->memory);
    return starpu_task_submit(task);
}

void player_submit(struct player *player, const struct orr_call *call)
{
    struct starpu_task **place = player_task_slot(player, call->id);
    struct starpu_task *task =
        *place ? *place : player_need(player, starpu_task_create());
    int rc;

    /* The program knew that it had ended, by means that no record has. */
    if (task->status != STARPU_TASK_INIT)
        (void)orrery_task_await(task);
    task->cl = player_find_codelet(player, call->codelet);
    if (task->cl && task->cl->model &&
        task->cl->model->nparameters != call->parameters.n &&
        call->parameters.n)
        player_fail(player, "%zu parameters for a model of %u",
                    call->parameters.n, task->cl->model->nparameters);
    set_data(player, call, task);
    set_fields(player, call, task);
    player_chain_begin(player, call, task);
    *place = call->kept || (call->awaited && !call->synchronous) ? task : NULL;
    rc = submit_call(task, call);
    if (rc == -ENODEV)
        player_fail(player, "no worker of this machine can run task %llu (%s)",
                    (unsigned long long)call->id,
                    starpu_task_get_name(task) ? starpu_task_get_name(task)
                                               : "without name");
    if (rc)
        player_fail(player, "task %llu cannot be submitted: %s",
                    (unsigned long long)call->id, strerror(-rc));
}

/* --- other calls --- */

static struct starpu_task **tasks_before(struct player *player,
                                         const struct orr_call *call)
{
    struct starpu_task **list =
        player_need(player, calloc(call->before.n + 1, sizeof(*list)));

    for (size_t i = 0; i < call->before.n; i++)
        list[i] = task_of(player, call->before.at[i]);
    return list;
}

void player_depend(struct player *player, const struct orr_call *call)
{
    struct starpu_task **before = tasks_before(player, call);

    starpu_task_declare_deps_array(task_of(player, call->id),
                                   (unsigned)call->before.n, before);
    free(before);
}

void player_end_depend(struct player *player, const struct orr_call *call)
{
    struct starpu_task **before = tasks_before(player, call);

    starpu_task_declare_end_deps_array(task_of(player, call->id),
                                       (unsigned)call->before.n, before);
    free(before);
}

void player_end_hold(struct player *player, const struct orr_call *call)
{
    struct starpu_task *task = task_of(player, call->id);

    starpu_task_end_dep_add(task, (int)call->value);
    if (task->status == STARPU_TASK_INIT)
        player_chain_new(player, call->id);
}

void player_end_release(struct player *player, const struct orr_call *call)
{
    if (!player_chain_release(player, call->id))
        starpu_task_end_dep_release(task_of(player, call->id));
}

struct prefetch {
    starpu_data_handle_t handle;
    unsigned node;
    int priority;
};

static void prefetch_callback(void *arg)
{
    const struct prefetch *prefetch = arg;

    starpu_data_prefetch_on_node_prio(prefetch->handle, prefetch->node, 1,
                                      prefetch->priority);
}

void player_prefetch_later(struct player *player, const struct orr_call *call)
{
    struct starpu_task *task = task_of(player, call->task);
    struct prefetch *arg;

    if (!player_has_node(call->node) || call->node < 0)
        return;
    arg = player_need(player, malloc(sizeof(*arg)));
    *arg = (struct prefetch){player_datum(player, call->id),
                             (unsigned)call->node, (int)call->priority};
    if (task->callback_func)
        player_fail(player, "a second datum to be fetched when task %llu ends",
                    (unsigned long long)call->task);
    task->callback_func = prefetch_callback;
    task->callback_arg = arg;
    task->callback_arg_free = 1;
}

void player_wait(struct player *player, const struct orr_call *call)
{
    struct starpu_task **place = player_task_slot(player, call->id);
    bool gone;

    if (!*place)
        player_fail(player,
                    "task %llu cannot be waited for: it was not "
                    "submitted so, or was waited for before",
                    (unsigned long long)call->id);
    gone = (*place)->destroy;
    if (((*place)->detach ? orrery_task_await(*place)
                          : starpu_task_wait(*place)) != 0)
        player_fail(player, "task %llu cannot be waited for",
                    (unsigned long long)call->id);
    if (gone)
        *place = NULL;
}

/* What was forgotten in its callback, or after a wait that no record has, may not have ended
 * here: it goes when it does. */
static void forget_task(struct starpu_task *task)
{
    if (task->detach && !task->destroy && task->status != STARPU_TASK_INIT)
        starpu_task_set_destroy(task);
    else
        starpu_task_destroy(task);
}

void player_forget(struct player *player, const struct orr_call *call)
{
    struct starpu_task **place = player_task_slot(player, call->id);

    if (*place)
        forget_task(*place);
    *place = NULL;
    if (call->id < player->ntold)
        keep_told(player, call->id, NULL);
    player_chain_forget(player, call->id);
}

void player_forget_tasks(struct player *player)
{
    for (size_t i = 0; i < player->ntold; i++)
        free(player->told[i]);
    free(player->told);
    free(player->tasks);
}

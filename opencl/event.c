/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/event.c - commands, and the events by which they are known. A command is one task
 * of the run. Those for devices have a codelet. Those of the host (reads, writes, maps,
 * user events) are empty tasks whose end is held back: when what they wait for has ended,
 * their prologue takes the data, without waiting, and the end is released when the bytes
 * are there. So all commands depend on each other as tasks do.
 *
 * A command's end is told in the task's epilogue, before others that wait for it go on: what
 * comes later never ends earlier. A task may be named in a dependency as long as its event is
 * there, also when it has ended: a record then has the order, which a replay whose kernels take
 * longer needs.
 */
#include <math.h>
#include <stdlib.h>

#include "opencl/socl.h"

/* -- lists -- */

static void link_event(cl_event *list, cl_event event)
{
    event->next = *list;
    event->link = list;
    if (event->next)
        event->next->link = &event->next;
    *list = event;
}

static void unlink_event(cl_event event)
{
    if (!event->link)
        return;
    *event->link = event->next;
    if (event->next)
        event->next->link = event->link;
    event->link = NULL;
}

/* -- references -- */

static void drop_waits(cl_event event)
{
    for (unsigned i = 0; i < event->nwaits; i++)
        socl_event_unref(event->waits[i]);
    free(event->waits);
    event->waits = NULL;
    event->nwaits = 0;
}

void socl_work_free(struct socl_work *work)
{
    if (!work)
        return;
    if (work->free)
        work->free(work);
    for (unsigned i = 0; i < work->nuses; i++)
        socl_mem_unref(work->uses[i].mem);
    free(work->uses);
    free(work);
}

void socl_event_unref(cl_event event)
{
    if (!socl_drop(&event->head))
        return;
    drop_waits(event);
    socl_work_free(event->work);
    while (event->callbacks) {
        struct socl_callback *next = event->callbacks->next;

        free(event->callbacks);
        event->callbacks = next;
    }
    starpu_task_destroy(event->task); /* in its callback, too */
    if (event->queue)
        socl_queue_unref(event->queue);
    socl_context_unref(event->context);
    free(event);
}

/* A reference that may be none. */
static void set_event(cl_event *place, cl_event event)
{
    cl_event before = *place;

    if (event)
        socl_retain(&event->head);
    *place = event;
    if (before)
        socl_event_unref(before);
}

/* -- status -- */

/* The lock is not held. */
static void call_back(cl_event event)
{
    struct socl_callback *due = NULL, **place, **last = &due;
    cl_int status;

    socl_lock();
    status = event->status;
    for (place = &event->callbacks; *place;) {
        struct socl_callback *one = *place;

        if (one->when < status) {
            place = &one->next;
            continue;
        }
        *place = one->next;
        one->next = NULL;
        *last = one;
        last = &one->next;
    }
    socl_unlock();
    while (due) {
        struct socl_callback *next = due->next;

        due->call(event, status < 0 ? status : due->when, due->data);
        free(due);
        due = next;
    }
}

static void set_status(cl_event event, cl_int status)
{
    bool told;

    socl_lock();
    event->status = status;
    told = event->callbacks != NULL;
    if (status <= CL_COMPLETE)
        starpu_pthread_cond_broadcast(&socl.changed);
    socl_unlock();
    if (told)
        call_back(event);
}

/* What the library measured of the kernel, where it did. */
static void read_times(cl_event event)
{
    struct starpu_profiling_task_info *info = event->task->profiling_info;
    struct timespec start, end;

    event->ended = socl_now();
    if (!info || !event->task->cl)
        return;
    start = info->start_time;
    end = info->end_time;
    if (starpu_timing_timespec_to_us(&start) <= 0)
        return;
    /* A device's clock is known but nearly: a kernel began after what it waited for. */
    event->started = fmax(event->started, starpu_timing_timespec_to_us(&start));
    event->ended = fmax(event->started, starpu_timing_timespec_to_us(&end));
}

/* The task's epilogue. */
static void command_ended(void *arg)
{
    cl_event event = arg;
    cl_event last = NULL, barrier = NULL;
    cl_command_queue queue = event->queue;
    struct socl_work *work = event->work;

    socl_inside++;
    read_times(event);
    event->work = NULL;
    socl_work_free(work);
    socl_lock();
    unlink_event(event);
    if (queue && queue->released && queue->last == event) {
        last = event;
        queue->last = NULL;
    }
    if (queue && queue->released && queue->barrier == event) {
        barrier = event;
        queue->barrier = NULL;
    }
    socl_unlock();
    set_status(event, event->error < 0 ? event->error : CL_COMPLETE);
    if (last)
        socl_event_unref(last);
    if (barrier)
        socl_event_unref(barrier);
    socl_inside--;
}

/* The task's callback: the run has done with it. */
static void command_over(void *arg)
{
    socl_inside++;
    socl_event_unref(arg);
    socl_inside--;
}

bool socl_command_begin(cl_event event)
{
    socl_lock();
    for (unsigned i = 0; i < event->nwaits; i++)
        if (event->waits[i]->status < 0)
            event->error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    socl_unlock();
    drop_waits(event);
    event->started = socl_now();
    if (event->type != CL_COMMAND_USER)
        set_status(event, CL_RUNNING);
    return event->error == CL_SUCCESS;
}

/* The task's prologue: nothing holds it back any more. */
static void command_ready(void *arg)
{
    cl_event event = arg;

    socl_inside++;
    if (event->type == CL_COMMAND_USER)
        ; /* the application ends it */
    else if (!socl_command_begin(event) && event->begin)
        socl_command_end(event, event->error);
    else if (event->begin)
        event->begin(event);
    socl_inside--;
}

void socl_command_end(cl_event event, cl_int error)
{
    event->error = error;
    starpu_task_end_dep_release(event->task);
}

/* -- new commands -- */

static cl_event new_event(cl_context context, cl_command_queue queue, cl_command_type type)
{
    cl_event event = calloc(1, sizeof(*event));

    if (!event)
        return NULL;
    event->task = starpu_task_create();
    if (!event->task) {
        free(event);
        return NULL;
    }
    event->head = (struct socl_head){&socl_dispatch, 1};
    socl_retain(&context->head);
    event->context = context;
    if (queue)
        socl_retain(&queue->head);
    event->queue = queue;
    event->type = type;
    event->status = CL_QUEUED;
    event->queued = socl_now();
    event->task->prologue_callback_func = command_ready;
    event->task->prologue_callback_arg = event;
    event->task->epilogue_callback_func = command_ended;
    event->task->epilogue_callback_arg = event;
    event->task->callback_func = command_over;
    event->task->callback_arg = event;
    event->task->destroy = 0; /* others depend on it: it goes with the event */
    return event;
}

cl_int socl_command_new(cl_command_queue queue, cl_command_type type, struct socl_work *work,
                        void (*begin)(cl_event event), cl_event *ret)
{
    cl_event event = new_event(queue->context, queue, type);

    if (!event) {
        socl_work_free(work);
        return CL_OUT_OF_HOST_MEMORY;
    }
    event->work = work;
    event->begin = begin;
    if (begin)
        starpu_task_end_dep_add(event->task, 1);
    *ret = event;
    return CL_SUCCESS;
}

/* -- what a command waits for -- */

cl_int socl_check_waits(cl_context context, struct socl_waits waits)
{
    if ((waits.n == 0) != (waits.events == NULL))
        return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < waits.n; i++) {
        if (!socl_is(waits.events[i]))
            return CL_INVALID_EVENT_WAIT_LIST;
        if (waits.events[i]->context != context)
            return CL_INVALID_CONTEXT;
    }
    return CL_SUCCESS;
}

/* Commands that one depends on, each with a reference: what is replaced as a queue's last
 * one goes on being there until it is named. */
struct list {
    cl_event *events;
    unsigned n, room;
    bool failed; /* no memory */
};

static void depend(struct list *list, cl_event before)
{
    /* One that failed may have no task that the run knows. */
    if (!before || before->status < 0 ||
        (before->status == CL_COMPLETE && !before->handed))
        return;
    if (list->n == list->room) {
        unsigned room = list->room ? 2 * list->room : 16;
        void *more = realloc(list->events, room * sizeof(*list->events));

        if (!more) {
            list->failed = true;
            return;
        }
        list->events = more;
        list->room = room;
    }
    socl_retain(&before->head);
    list->events[list->n++] = before;
}

/* Under the lock. */
static void declare_dependencies(cl_event event, struct list *list)
{
    struct starpu_task **tasks =
        malloc((list->n + 1) * sizeof(struct starpu_task *));

    if (!tasks) {
        list->failed = true;
        return;
    }
    for (unsigned i = 0; i < list->n; i++)
        tasks[i] = list->events[i]->task;
    if (list->n)
        starpu_task_declare_deps_array(event->task, list->n, tasks);
    free(tasks);
}

static void list_done(struct list *list)
{
    for (unsigned i = 0; i < list->n; i++)
        socl_event_unref(list->events[i]);
    free(list->events);
}

static bool keep_waits(cl_event event, struct socl_waits waits)
{
    if (waits.n == 0)
        return true;
    event->waits = malloc(waits.n * sizeof(*event->waits));
    if (!event->waits)
        return false;
    for (cl_uint i = 0; i < waits.n; i++) {
        socl_retain(&waits.events[i]->head);
        event->waits[event->nwaits++] = waits.events[i];
    }
    return true;
}

static bool is_in_order(cl_command_queue queue)
{
    return !(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) &&
           (socl.order & SOCL_ORDER_QUEUE);
}

bool socl_events_add(struct socl_events *events, cl_event event)
{
    if (events->n == events->room) {
        unsigned left = 0, room;
        void *more;

        for (unsigned i = 0; i < events->n; i++)
            if (events->at[i]->status > CL_COMPLETE)
                events->at[left++] = events->at[i];
            else
                socl_event_unref(events->at[i]);
        events->n = left;
        room = 2 * left + 8;
        more = realloc(events->at, room * sizeof(*events->at));
        if (!more)
            return false;
        events->at = more;
        events->room = room;
    }
    events->at[events->n] = NULL;
    set_event(&events->at[events->n++], event);
    return true;
}

void socl_events_clear(struct socl_events *events)
{
    for (unsigned i = 0; i < events->n; i++)
        socl_event_unref(events->at[i]);
    free(events->at);
    *events = (struct socl_events){0};
}

static void depend_on_all(struct list *list, struct socl_events *events)
{
    for (unsigned i = 0; i < events->n; i++)
        depend(list, events->at[i]);
    socl_events_clear(events);
}

/* The first use of those that share its data. */
static bool takes(const struct socl_work *work, unsigned use)
{
    return use == 0 || work->uses[use].data != work->uses[use - 1].data;
}

/* After those that use the same data, and before later ones. */
static void order_by_data(cl_event event, struct list *list)
{
    for (unsigned i = 0; event->work && i < event->work->nuses; i++) {
        cl_mem mem = event->work->uses[i].data;

        if (!takes(event->work, i))
            continue;
        depend(list, mem->writer);
        if (event->work->uses[i].mode == STARPU_R) {
            list->failed |= !socl_events_add(&mem->readers, event);
            continue;
        }
        depend_on_all(list, &mem->readers);
        set_event(&mem->writer, event);
    }
}

/* After the last change of what it uses, and before the next one. */
static void order_by_changes(cl_event event, struct list *list)
{
    for (unsigned i = 0; i < event->work->nuses; i++) {
        cl_mem whole = socl_whole(event->work->uses[i].mem);

        if (i > 0 && whole == socl_whole(event->work->uses[i - 1].mem))
            continue;
        depend(list, whole->changed);
        list->failed |= !socl_events_add(&whole->users, event);
    }
}

cl_event socl_change_new(cl_mem whole, struct socl_work *work, void (*begin)(cl_event event))
{
    cl_event event = new_event(whole->context, NULL, CL_COMMAND_MIGRATE_MEM_OBJECTS);
    struct list list = {0};

    if (!event) {
        socl_work_free(work);
        return NULL;
    }
    event->work = work;
    event->begin = begin;
    event->status = CL_SUBMITTED;
    starpu_task_end_dep_add(event->task, 1);
    depend(&list, whole->changed);
    depend_on_all(&list, &whole->users);
    declare_dependencies(event, &list);
    list_done(&list);
    set_event(&whole->changed, event);
    if (!list.failed)
        return event;
    event->error = CL_OUT_OF_HOST_MEMORY;
    return event;
}

/* Those that are to be submitted before a command; their first references are the run's. */
static void submit_changes(cl_event changes)
{
    while (changes) {
        cl_event change = changes;

        changes = change->next; /* it may be gone behind its submission */
        if (starpu_task_submit(change->task) != 0) {
            change->error = CL_OUT_OF_RESOURCES;
            command_ended(change);
            command_over(change);
        }
    }
}

/* Under the lock. */
static void order(cl_event event, struct socl_waits waits, bool after_all, struct list *list)
{
    cl_command_queue queue = event->queue;

    for (cl_uint i = 0; i < waits.n; i++)
        depend(list, waits.events[i]);
    depend(list, queue->barrier);
    if (is_in_order(queue))
        depend(list, queue->last);
    event->covers = after_all;
    if (!is_in_order(queue))
        for (cl_event e = queue->first_pending; after_all && e; e = e->covers ? NULL : e->next)
            depend(list, e);
    if (socl.order & SOCL_ORDER_DATA)
        order_by_data(event, list);
    if (is_in_order(queue))
        set_event(&queue->last, event);
}

/* By its task where that is known to the run, so that a recording has the wait. Another thread
 * may be about to submit it. */
static void wait_for(cl_event event)
{
    bool handed;

    socl_lock();
    handed = event->handed && event->status > CL_COMPLETE;
    socl_unlock();
    if (handed)
        (void)orrery_task_await(event->task);
    socl_lock();
    while (event->status > CL_COMPLETE)
        starpu_pthread_cond_wait(&socl.changed, &socl.lock);
    socl_unlock();
}

static cl_int note_handed(cl_event event)
{
    socl_lock();
    event->handed = true;
    socl_unlock();
    return CL_SUCCESS;
}

/* Which data the command uses; those of a device are its task's. */
static bool use_data(cl_event event, cl_event *changes, struct list *list)
{
    bool maps = event->type == CL_COMMAND_MAP_BUFFER ||
                event->type == CL_COMMAND_UNMAP_MEM_OBJECT;
    bool chosen = socl_choose_data(event->work, maps, event->task->cl != NULL, changes);

    order_by_changes(event, list);
    return chosen && (!event->task->cl || socl_device_set_data(event->task, event->work));
}

/* The command's task, with what it depends on. `role` is what a marker is. */
enum role { COMMAND, MARKER, BARRIER };

static cl_int submit(cl_event event, struct socl_waits waits, enum role role)
{
    cl_command_queue queue = event->queue;
    bool after_all = role != COMMAND && waits.n == 0;
    struct starpu_task *task = event->task;
    cl_event changes = NULL;
    struct list list = {0};

    socl_lock();
    if (event->work)
        socl_parts_settle(event->work);
    list.failed = !keep_waits(event, waits);
    if (event->work)
        list.failed |= !use_data(event, &changes, &list);
    order(event, waits, after_all, &list);
    declare_dependencies(event, &list);
    link_event(&queue->first_pending, event);
    if (role == BARRIER)
        set_event(&queue->barrier, event);
    event->submitted = socl_now();
    event->status = CL_SUBMITTED;
    if (queue->context->owns_sched_ctx)
        event->task->sched_ctx = queue->context->sched_ctx;
    socl_unlock();
    list_done(&list);
    if (list.failed)
        event->error = CL_OUT_OF_HOST_MEMORY;
    submit_changes(changes);
    socl_retain(&event->head); /* the run's */
    if (starpu_task_submit(task) == 0)
        return note_handed(event);
    /* Nothing can execute it. Its end is told all the same: others may wait for it. */
    event->error = CL_OUT_OF_RESOURCES;
    command_ended(event);
    command_over(event);
    return CL_OUT_OF_RESOURCES;
}

static cl_int hand_out(cl_event event, cl_int error, bool blocking, cl_event *ret_event)
{
    if (error == CL_SUCCESS && blocking) {
        wait_for(event);
        error = event->status < 0 ? event->status : CL_SUCCESS;
    }
    if (error == CL_SUCCESS && ret_event)
        *ret_event = event;
    else
        socl_event_unref(event);
    return error;
}

cl_int socl_command_submit(cl_event event, struct socl_waits waits, bool blocking,
                           cl_event *ret_event)
{
    return hand_out(event, submit(event, waits, COMMAND), blocking, ret_event);
}

cl_int socl_marker(cl_command_queue queue, cl_command_type type, struct socl_waits waits,
                   bool barrier, cl_event *ret_event)
{
    cl_event event;
    cl_int error;

    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    error = socl_check_waits(queue->context, waits);
    if (error == CL_SUCCESS)
        error = socl_command_new(queue, type, NULL, NULL, &event);
    if (error != CL_SUCCESS)
        return error;
    return hand_out(event, submit(event, waits, barrier ? BARRIER : MARKER), false, ret_event);
}

void socl_queue_finish(cl_command_queue queue)
{
    cl_event event;

    do {
        socl_lock();
        event =
            queue
                ->first_pending; /* the last one, behind which others are seldom left */
        if (event)
            socl_retain(&event->head);
        socl_unlock();
        if (event) {
            wait_for(event);
            socl_event_unref(event);
        }
    } while (event);
}

/* -- data of host commands -- */

void *socl_work_new(size_t bytes, unsigned n)
{
    struct socl_work *work = calloc(1, bytes);

    if (work)
        work->uses = calloc(n ? n : 1, sizeof(*work->uses));
    if (work && !work->uses) {
        free(work);
        work = NULL;
    }
    return work;
}

/* All take data in this order: parts of a buffer together. */
static bool is_before(cl_mem a, cl_mem b)
{
    uint64_t of_a = socl_whole(a)->number, of_b = socl_whole(b)->number;

    return of_a != of_b ? of_a < of_b : a->number < b->number;
}

void socl_work_use(struct socl_work *work, cl_mem mem, enum starpu_data_access_mode mode)
{
    unsigned i = work->nuses;

    socl_retain(&mem->head);
    while (i > 0 && is_before(mem, work->uses[i - 1].mem)) {
        work->uses[i] = work->uses[i - 1];
        i--;
    }
    work->uses[i] = (struct socl_use){.mem = mem, .mode = mode};
    work->nuses++;
}

static void take_next(void *arg)
{
    cl_event event = arg;
    struct socl_work *work = event->work;

    socl_inside++;
    while (work->at < work->nuses && !takes(work, work->at))
        work->at++;
    if (work->at == work->nuses) {
        event->begin(event);
    } else {
        struct socl_use *use = &work->uses[work->at++];
        size_t first_used = use->to ? socl_first_use(use->to, use->copied) : 0;

        if (orrery_data_acquire_for_task(
                event->task, use->data->handle, STARPU_MAIN_RAM, use->mode,
                use->copied, first_used, take_next, event) != 0) {
            work->at--;
            socl_release_all(event);
            socl_command_end(event, CL_OUT_OF_RESOURCES);
        }
    }
    socl_inside--;
}

void socl_take_all(cl_event event, void (*then)(cl_event command))
{
    event->begin = then;
    take_next(event);
}

void socl_release_all(cl_event event)
{
    struct socl_work *work = event->work;

    while (work->at-- > 0)
        if (takes(work, work->at))
            starpu_data_release_on_node(work->uses[work->at].data->handle, STARPU_MAIN_RAM);
    work->at = 0;
}

/* -- functions of events -- */

/* Events are of one context. */
static cl_int CL_API_CALL wait_for_events(cl_uint n, const cl_event *events)
{
    cl_int error = CL_SUCCESS;

    if (n == 0 || !events)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++) {
        if (!socl_is(events[i]))
            return CL_INVALID_EVENT;
        if (events[i]->context != events[0]->context)
            return CL_INVALID_CONTEXT;
    }
    if (socl_inside)
        return CL_INVALID_OPERATION; /* a callback may not wait */
    for (cl_uint i = 0; i < n; i++) {
        wait_for(events[i]);
        if (events[i]->status < 0)
            error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return error;
}

/* Who asks again and again lets the time of a simulation pass. */
static cl_int ask_status(cl_event event)
{
    cl_int status;

    socl_lock();
    status = event->status;
    socl_unlock();
    if (status > CL_COMPLETE && socl.simulated && !socl_inside)
        orrery_usleep(1);
    return status;
}

static cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info what, size_t size,
                                         void *to, size_t *ret)
{
    if (!socl_is(event))
        return CL_INVALID_EVENT;
    switch (what) {
    case CL_EVENT_COMMAND_QUEUE:
        SOCL_ANSWER(cl_command_queue, event->queue);
    case CL_EVENT_COMMAND_TYPE:
        SOCL_ANSWER(cl_command_type, event->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
        SOCL_ANSWER(cl_int, ask_status(event));
    case CL_EVENT_REFERENCE_COUNT:
        SOCL_ANSWER(cl_uint, event->head.refs);
    case CL_EVENT_CONTEXT:
        SOCL_ANSWER(cl_context, event->context);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_profile(cl_event event, cl_profiling_info what, size_t size,
                                      void *to, size_t *ret)
{
    double us;

    if (!socl_is(event))
        return CL_INVALID_EVENT;
    if (!event->queue || !(event->queue->properties & CL_QUEUE_PROFILING_ENABLE) ||
        event->status != CL_COMPLETE)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    switch (what) {
    case CL_PROFILING_COMMAND_QUEUED:
        us = event->queued;
        break;
    case CL_PROFILING_COMMAND_SUBMIT:
        us = event->submitted;
        break;
    case CL_PROFILING_COMMAND_START:
        us = event->started;
        break;
    case CL_PROFILING_COMMAND_END:
        us = event->ended;
        break;
    default:
        return CL_INVALID_VALUE;
    }
    SOCL_ANSWER(cl_ulong, llround(us * 1e3));
}

static cl_int CL_API_CALL retain_event(cl_event event)
{
    if (!socl_is(event))
        return CL_INVALID_EVENT;
    socl_retain(&event->head);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_event(cl_event event)
{
    if (!socl_is(event))
        return CL_INVALID_EVENT;
    socl_event_unref(event);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL set_callback(cl_event event, cl_int when,
                                       void(CL_CALLBACK *call)(cl_event, cl_int, void *),
                                       void *data)
{
    struct socl_callback *one;
    bool due;

    if (!socl_is(event))
        return CL_INVALID_EVENT;
    if (!call || when < CL_COMPLETE || when > CL_SUBMITTED)
        return CL_INVALID_VALUE;
    one = malloc(sizeof(*one));
    if (!one)
        return CL_OUT_OF_HOST_MEMORY;
    *one = (struct socl_callback){NULL, when, call, data};
    socl_lock();
    one->next = event->callbacks;
    event->callbacks = one;
    due = event->status <= when;
    socl_unlock();
    if (due)
        call_back(event);
    return CL_SUCCESS;
}

static cl_event CL_API_CALL create_user_event(cl_context context, cl_int *ret_error)
{
    cl_event event;

    if (!socl_is(context))
        return socl_fail(ret_error, CL_INVALID_CONTEXT);
    event = new_event(context, NULL, CL_COMMAND_USER);
    if (!event)
        return socl_fail(ret_error, CL_OUT_OF_HOST_MEMORY);
    event->status = CL_SUBMITTED;
    starpu_task_end_dep_add(event->task, 1);
    socl_retain(&event->head); /* the run's */
    socl_lock();
    link_event(&socl.user_events, event);
    socl_unlock();
    socl_fail(ret_error, CL_SUCCESS);
    if (starpu_task_submit(event->task) != 0)
        return socl_fail(ret_error, CL_OUT_OF_RESOURCES);
    note_handed(event);
    return event;
}

static cl_int CL_API_CALL set_user_status(cl_event event, cl_int status)
{
    bool first;

    if (!socl_is(event) || event->queue)
        return CL_INVALID_EVENT;
    if (status > CL_COMPLETE)
        return CL_INVALID_VALUE;
    socl_lock();
    first = event->link != NULL;
    unlink_event(event);
    socl_unlock();
    if (!first)
        return CL_INVALID_OPERATION;
    socl_command_end(event, status);
    return CL_SUCCESS;
}

void socl_fill_events(cl_icd_dispatch *to)
{
    to->clWaitForEvents = wait_for_events;
    to->clGetEventInfo = get_event_info;
    to->clGetEventProfilingInfo = get_profile;
    to->clRetainEvent = retain_event;
    to->clReleaseEvent = release_event;
    to->clSetEventCallback = set_callback;
    to->clCreateUserEvent = create_user_event;
    to->clSetUserEventStatus = set_user_status;
}

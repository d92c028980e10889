/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/streams.c - see streams.h. Functions are called when a kernel is handed
 * over, not when it ends: then its inputs are there, the worker's context is
 * the one that runs it, and its outputs may not be read before `done`.
 */
#include "sim/streams.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { NEXT }; /* the slot of orr_kernel.machine_link */

struct stream {
    struct orr_timer timer; /* first; end of the first kernel */
    struct orr_streams *streams;
    struct orr_kernel *first, *last; /* in the order of their execution */
};

struct orr_streams {
    struct orr_sim_exec *exec;
    const struct orr_sim_user *user; /* of it: the machine */
    const struct orr_machine *machine;
    struct orr_streaming *streaming; /* lent; NULL: memories have no bandwidth */
    unsigned n;
    struct stream streams[];
};

static void end_first(struct orr_timer *timer)
{
    struct stream *stream = (struct stream *)timer;
    struct orr_kernel *kernel = stream->first;

    orr_sim_work_for(stream->streams->user);
    stream->first = kernel->machine_link[NEXT];
    if (stream->first)
        orr_sim_exec_set_timer(stream->streams->exec, &stream->timer,
                               stream->first->end);
    else
        stream->last = NULL;
    kernel->done(kernel);
}

static void stream_enqueue(struct stream *stream, struct orr_kernel *kernel,
                           double duration)
{
    struct orr_sim_exec *exec = stream->streams->exec;

    kernel->start = exec->now + kernel->latency;
    if (stream->last && stream->last->end > kernel->start)
        kernel->start = stream->last->end;
    kernel->end = kernel->start + duration;
    kernel->machine_link[NEXT] = NULL;
    if (stream->last) {
        stream->last->machine_link[NEXT] = kernel;
    } else {
        stream->first = kernel;
        orr_sim_exec_set_timer(exec, &stream->timer, kernel->end);
    }
    stream->last = kernel;
}

/* Calls the user's function, in no virtual time. */
static void kernel_run_function(struct orr_kernel *kernel)
{
    orr_self->frozen++;
    kernel->run(kernel);
    orr_self->frozen--;
}

static double true_duration(const struct orr_kernel *kernel)
{
    return kernel->duration > 0 ? kernel->duration : 0;
}

int orr_streams_start(struct orr_streams *streams, struct orr_kernel *kernel)
{
    const struct orr_worker_desc *worker =
        &streams->machine->workers[kernel->worker];
    const struct orr_exec_ops *ops = streams->exec->head.ops;
    double duration = true_duration(kernel);

    assert(kernel->worker < streams->n);
    if (streams->machine->runs_kernels && kernel->run) {
        kernel->start = streams->exec->now;
        kernel_run_function(kernel);
    }
    if (kernel->async && worker->async) {
        stream_enqueue(&streams->streams[kernel->worker], kernel, duration);
        return 0;
    }
    /* One that has waited began before that. */
    if (kernel->away > 0)
        kernel->away = streams->exec->now - kernel->start;
    else
        kernel->start = streams->exec->now;
    if (streams->streaming)
        orr_streaming_begin(streams->streaming, kernel->worker, kernel->bytes, duration);
    kernel->end = streams->exec->now + duration;
    (worker->type == STARPU_CPU_WORKER ? ops->work : ops->sleep)(&streams->exec->head,
                                                                 duration);
    if (streams->streaming)
        orr_streaming_end(streams->streaming, kernel->worker);
    kernel->end = streams->exec->now;
    return 1;
}

static int init_stream(struct orr_streams *streams, unsigned i)
{
    int error = orr_timers_reserve(&streams->exec->timers);

    if (error < 0)
        return error;
    streams->streams[i].timer.fire = end_first;
    streams->streams[i].streams = streams;
    streams->n++;
    return 0;
}

int orr_streams_new(const struct orr_sim_user *user,
                    const struct orr_machine *machine,
                    struct orr_streaming *streaming, struct orr_streams **ret)
{
    struct orr_streams *streams = calloc(
        1, sizeof(*streams) + machine->nworkers * sizeof(streams->streams[0]));

    if (!streams)
        return -ENOMEM;
    streams->exec = user->exec;
    streams->user = user;
    streams->machine = machine;
    streams->streaming = streaming;
    for (unsigned i = 0; i < machine->nworkers; i++) {
        int error = init_stream(streams, i);

        if (error < 0) {
            orr_streams_free(streams);
            return error;
        }
    }
    *ret = streams;
    return 0;
}

void orr_streams_free(struct orr_streams *streams)
{
    if (!streams)
        return;
    for (unsigned i = 0; i < streams->n; i++) {
        orr_timers_cancel(&streams->exec->timers, &streams->streams[i].timer);
        orr_timers_release(&streams->exec->timers);
    }
    free(streams);
}

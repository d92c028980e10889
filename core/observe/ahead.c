/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/ahead.c - see ahead.h.
 *
 * The clock of a simulation never goes back, and an event is recorded when it has
 * happened: the only moments that may still come before the present are the beginnings
 * of what goes on now. So all before `settled`, the first of these beginnings, is in the
 * record. The run's thread computes that each time it has filled a chunk and posts a
 * semaphore; the other thread reads the chunks, which never move (events.h).
 */
#include "core/observe/ahead.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bound/graph.h"
#include "core/base/exec.h"
#include "core/base/spool.h"
#include "core/observe/formats.h"
#include "core/observe/out.h"
#include "core/observe/waits.h"
#include "core/runtime.h"

enum {
    /* Chunks that are filled before the thread begins, and between two times that it
     * looks: so much is left for the end at least. */
    CHUNKS = 4,
    NOT_OPEN = 0
};

struct orr_ahead {
    struct orr_trace_follower follower;
    struct orr_exec *exec; /* [const] */
    char *path;            /* [const] owned */
    pid_t process;         /* [const] children have no thread */
    /* -- of the run's thread -- */
    double
        *opens; /* owned, by ticket - 1: when what goes on began; INFINITY: an
                    * entry that is free */
    uint32_t *free_entries; /* owned: a stack of them */
    uint32_t nopens, nfree, room;
    unsigned noffers;
    bool runs;  /* the thread does */
    bool blind; /* what began could not be noted: nothing is settled any more */
    /* -- of both -- */
    _Atomic double settled; /* [atomic] all that is before was recorded */
    atomic_bool ends;       /* [atomic] the thread shall */
    sem_t offered;
    /* -- of the other one, and of the run's when that has ended -- */
    pthread_t thread;
    const struct orr_trace *trace; /* [const] */
    const struct orr_trace_parts *parts;
    void *writer;
    struct orr_timeline_reader reader;
    struct orr_trace_whole whole;
    FILE *spool;
    struct orr_out out; /* into it */
    int rc;             /* what went wrong */
    /* What tasks wait for, of formats that show it; NULL: it could not be had, … */
    struct orr_waits *waits;
    FILE *spool_behind; /* … and then what was written of it is of no use */
    struct orr_out behind;
};

/* -- the other thread ------------------------------------------------------ */

/* Of what tasks wait for, what is known. Where that is not all that there is to know, the
 * graph is made of it at the end. */
static void advance_waits(struct orr_ahead *ahead, bool is_all)
{
    int rc;

    if (!ahead->waits)
        return;
    rc = orr_waits_read(ahead->waits);
    if (rc == 0)
        rc = ahead->parts->waits(ahead->writer, ahead->waits, is_all,
                                 &ahead->out, &ahead->behind);
    if (rc == 0 && !ferror(ahead->spool_behind))
        return;
    orr_waits_free(ahead->waits);
    ahead->waits = NULL;
}

/* The moments before `until`. */
static int advance_moments(struct orr_ahead *ahead, double until)
{
    struct orr_timeline part;
    int rc = orr_timeline_read(&ahead->reader, until, &part);

    if (rc)
        return rc;
    orr_trace_whole_add(&ahead->whole, &part);
    if (ahead->parts->learn)
        rc = ahead->parts->learn(ahead->writer, &part, false);
    if (rc == 0)
        rc = ahead->parts->moments(ahead->writer, &part, &ahead->out);
    orr_timeline_done(&part);
    return rc;
}

/* Writes what is before `until`. */
static int advance(struct orr_ahead *ahead, double until)
{
    int rc = 0;

    if (ahead->parts->moments)
        rc = advance_moments(ahead, until);
    else
        ahead->reader.until = until;
    if (rc == 0)
        advance_waits(ahead, until == (double)INFINITY);
    if (rc == 0 && ferror(ahead->spool))
        rc = -EIO;
    return rc;
}

/* Looks at so many chunks at once that what is kept for later, which is looked at again,
 * is no more than what is new. */
static void *work(void *arg)
{
    struct orr_ahead *ahead = arg;
    size_t nchunks = 0;

    for (;;) {
        double until;

        while (sem_wait(&ahead->offered) != 0)
            ;
        if (atomic_load_explicit(&ahead->ends, memory_order_acquire))
            return NULL;
        nchunks++;
        /* Pairs with offer. */
        until = atomic_load_explicit(&ahead->settled, memory_order_acquire);
        if (ahead->rc || until <= ahead->reader.until || nchunks < CHUNKS ||
            nchunks * ORR_TRACE_CHUNK < ahead->reader.nlater)
            continue;
        ahead->rc = advance(ahead, until);
        nchunks = 0;
    }
}

/* Without signals: their handlers are the application's. */
static int start(struct orr_ahead *ahead)
{
    sigset_t all, old;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&ahead->thread, NULL, work, ahead);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -rc;
}

static void stop(struct orr_ahead *ahead)
{
    if (!ahead->runs)
        return;
    atomic_store_explicit(&ahead->ends, true, memory_order_release);
    sem_post(&ahead->offered);
    pthread_join(ahead->thread, NULL);
    ahead->runs = false;
}

/* Without memory, or room on the disk, the graph is made at the end. */
static void begin_waits(struct orr_ahead *ahead)
{
    if (!ahead->trace->waits ||
        orr_spool_open(ahead->path, &ahead->spool_behind) != 0)
        return;
    if (orr_out_init(&ahead->behind, ahead->spool_behind) == 0)
        (void)orr_waits_new(ahead->trace->waits, &ahead->waits);
}

/* What the thread works with; where some of it cannot be had the file is written at
 * the end. */
static void begin(struct orr_ahead *ahead)
{
    ahead->rc = orr_spool_open(ahead->path, &ahead->spool);
    if (!ahead->rc)
        ahead->rc = orr_out_init(&ahead->out, ahead->spool);
    if (!ahead->rc)
        ahead->rc = ahead->parts->begin(ahead->trace, &ahead->writer);
    if (!ahead->rc)
        ahead->rc = orr_timeline_reader_init(ahead->trace, &ahead->reader);
    if (!ahead->rc)
        begin_waits(ahead);
    if (!ahead->rc)
        ahead->rc = start(ahead);
    ahead->runs = !ahead->rc;
}

/* -- the run's thread ------------------------------------------------------ */

static bool has_processors(void)
{
    cpu_set_t set;

    /* More than the set has room for are more than one. */
    return sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) > 1;
}

void orr_ahead_free(struct orr_ahead *ahead)
{
    if (!ahead)
        return;
    if (ahead->process != getpid()) /* the parent's */
        return;
    stop(ahead);
    if (ahead->writer)
        ahead->parts->free(ahead->writer);
    orr_timeline_reader_done(&ahead->reader);
    if (ahead->out.begin)
        orr_out_done(&ahead->out);
    if (ahead->spool)
        fclose(ahead->spool);
    orr_waits_free(ahead->waits);
    if (ahead->behind.begin)
        orr_out_done(&ahead->behind);
    if (ahead->spool_behind)
        fclose(ahead->spool_behind);
    sem_destroy(&ahead->offered);
    free(ahead->opens);
    free(ahead->free_entries);
    free(ahead->path);
    free(ahead);
}

/* Room for twice as many. */
static bool grow(struct orr_ahead *ahead)
{
    uint32_t room = ahead->room ? 2 * ahead->room : 64;
    double *opens = reallocarray(ahead->opens, room, sizeof(*opens));
    uint32_t *entries =
        opens ? reallocarray(ahead->free_entries, room, sizeof(*entries))
              : NULL;

    if (opens)
        ahead->opens = opens;
    if (!entries)
        return false;
    ahead->free_entries = entries;
    ahead->room = room;
    return true;
}

static void note_begin(struct orr_trace_follower *self, uint32_t *ticket)
{
    struct orr_ahead *ahead = (struct orr_ahead *)self;
    uint32_t entry;

    if (*ticket != NOT_OPEN) /* it began before that */
        return;
    if (ahead->nfree > 0) {
        entry = ahead->free_entries[--ahead->nfree];
    } else if (ahead->nopens < ahead->room || grow(ahead)) {
        entry = ahead->nopens++;
    } else {
        ahead->blind = true;
        return;
    }
    ahead->opens[entry] = orr_exec_now(ahead->exec);
    *ticket = entry + 1;
}

static void note_end(struct orr_trace_follower *self, uint32_t *ticket)
{
    struct orr_ahead *ahead = (struct orr_ahead *)self;

    if (*ticket == NOT_OPEN)
        return;
    ahead->opens[*ticket - 1] = (double)INFINITY;
    ahead->free_entries[ahead->nfree++] = *ticket - 1;
    *ticket = NOT_OPEN;
}

/* Many events are there: what is before all that has begun may be written. */
static void offer(struct orr_trace_follower *self)
{
    struct orr_ahead *ahead = (struct orr_ahead *)self;
    double settled = orr_exec_now(ahead->exec);

    if (++ahead->noffers < CHUNKS || ahead->blind || ahead->process != getpid())
        return;
    if (ahead->noffers == CHUNKS)
        begin(ahead);
    if (!ahead->runs)
        return;
    for (uint32_t i = 0; i < ahead->nopens; i++)
        settled = fmin(settled, ahead->opens[i]);
    atomic_store_explicit(&ahead->settled, settled, memory_order_release);
    sem_post(&ahead->offered);
}

static void free_follower(struct orr_trace_follower *self)
{
    orr_ahead_free((struct orr_ahead *)self);
}

static struct orr_ahead *make(const struct orr_trace *trace,
                              struct orr_exec *exec, const char *path)
{
    const struct orr_trace_parts *parts = orr_trace_format_of(path)->parts;
    struct orr_ahead *ahead;
    struct stat st;

    if (!parts || !has_processors() ||
        (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return NULL;
    ahead = calloc(1, sizeof(*ahead));
    if (!ahead)
        return NULL;
    ahead->path = strdup(path);
    if (!ahead->path || sem_init(&ahead->offered, 0, 0) != 0) {
        free(ahead->path);
        free(ahead);
        return NULL;
    }
    ahead->follower =
        (struct orr_trace_follower){note_begin, note_end, offer, free_follower};
    ahead->exec = exec;
    ahead->process = getpid();
    ahead->trace = trace;
    ahead->parts = parts;
    ahead->whole.end = trace->start;
    return ahead;
}

void orr_ahead_start(struct orr_trace *trace, struct orr_exec *exec,
                     const char *path)
{
    struct orr_ahead *ahead = make(trace, exec, path);

    assert(!trace->follower);
    trace->follower = ahead ? &ahead->follower : NULL;
}

/* -- the end --------------------------------------------------------------- */

struct orr_ahead *orr_ahead_take(struct orr_trace *trace, const char *path)
{
    struct orr_ahead *ahead = (struct orr_ahead *)trace->follower;

    if (!ahead || !ahead->runs || ahead->process != getpid() ||
        strcmp(ahead->path, path) != 0)
        return NULL;
    trace->follower = NULL;
    return ahead;
}

/* What head and tail get of the graph; *ret_graph is the caller's. */
static void find_graph(struct orr_ahead *ahead, struct orr_graph **ret_graph)
{
    const struct orr_waits_log *log = ahead->trace->waits;
    struct orr_error err = {""};

    if (!log)
        return;
    if (ahead->waits) {
        orr_out_flush(&ahead->behind);
        ahead->whole.behind = ahead->spool_behind;
        /* Without tasks there is no graph. */
        if (ahead->waits->ntasks > 0)
            ahead->whole.machine = log->runtime->machine;
        return;
    }
    (void)orr_waits_log_graph(log, ret_graph, &err);
    ahead->whole.graph = *ret_graph;
}

static int write_whole(struct orr_ahead *ahead, FILE *file)
{
    struct orr_out out;
    int rc = orr_out_init(&out, file);

    if (rc)
        return rc;
    rc = ahead->parts->head(ahead->writer, &ahead->whole, &out);
    orr_out_flush(&out);
    orr_out_flush(&ahead->out);
    if (rc == 0)
        rc = orr_spool_append(ahead->spool, file);
    if (rc == 0)
        rc = ahead->parts->tail(ahead->writer, &ahead->whole, &out);
    orr_out_done(&out);
    return rc;
}

int orr_ahead_write(struct orr_ahead *ahead, FILE *file)
{
    struct orr_graph *graph = NULL;
    int rc;

    stop(ahead);
    rc = ahead->rc ? ahead->rc : advance(ahead, (double)INFINITY);
    if (rc)
        return rc;
    find_graph(ahead, &graph);
    rc = write_whole(ahead, file);
    orr_graph_free(graph);
    return rc;
}

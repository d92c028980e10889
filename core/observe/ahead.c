/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/ahead.c - see ahead.h.
 *
 * The clock of a simulation never goes back, and an event is recorded when it has
 * happened: the only moments that may still come before the present are the beginnings
 * of what goes on now. So all before `settled`, the first of these beginnings, is in the
 * record. The run's thread computes that each time it has filled a chunk and posts a
 * semaphore; the other thread reads the chunks, which never move (trace_events.h).
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
#include "core/base/out.h"
#include "core/base/place.h"
#include "core/base/result.h"
#include "core/base/spool.h"
#include "core/exec/runtime.h"
#include "core/observe/formats.h"
#include "core/observe/waits.h"

enum {
    /* Chunks that are filled before the thread begins, and between two times that it
     * looks: so much is left for the end at least. */
    CHUNKS = 4,
    NOT_OPEN = 0
};

/* A file, for the other thread. */
struct piece {
    const struct orr_trace_parts *parts; /* [const] */
    void *writer;
    FILE *spool;
    struct orr_out out; /* into it */
    char *head;         /* owned: what it begins with; NULL: with moments */
    size_t nhead;
    int rc;             /* what went wrong */
};

struct orr_ahead {
    struct orr_trace_follower follower;
    struct orr_exec *exec;        /* [const] */
    struct orr_trace_files files; /* [const] */
    pid_t process;                /* [const] children have no thread */
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
    struct piece pieces[ORR_TRACE_FILES];
    struct orr_timeline_reader reader;
    struct orr_trace_whole whole;
    struct orr_graph *graph; /* owned, at the end; NULL: not needed */
    bool is_over;            /* all was read */
    int rc;                  /* what went wrong for all files */
    /* What tasks wait for, of a format that shows it; NULL: it could not be had, … */
    struct orr_waits *waits;
    FILE *spool_behind; /* … and then what was written of it is of no use */
    struct orr_out behind;
};

/* -- the other thread ------------------------------------------------------ */

/* What tasks wait for cannot be had. Moments that show it are of no use then. */
static void give_up_waits(struct orr_ahead *ahead)
{
    struct piece *piece = ahead->pieces; /* companions show no graph */

    orr_waits_free(ahead->waits);
    ahead->waits = NULL;
    if (piece->parts->waits && piece->parts->moments && !piece->rc)
        piece->rc = -ESTALE;
}

/* Reads what is known of what tasks wait for. If that is not final, the graph is made
 * of the list at the end. */
static void advance_waits(struct orr_ahead *ahead, bool is_all)
{
    struct piece *piece = ahead->pieces;
    int rc;

    if (!ahead->waits || piece->rc)
        return;
    rc = orr_waits_read(ahead->waits);
    if (rc == 0)
        rc = piece->parts->waits(piece->writer, ahead->waits, is_all,
                                 &piece->out, &ahead->behind);
    if (rc != 0 || ferror(ahead->spool_behind))
        give_up_waits(ahead);
}

static int piece_write_moments(struct piece *piece,
                               const struct orr_timeline *part)
{
    int rc = 0;

    if (piece->parts->learn)
        rc = piece->parts->learn(piece->writer, part, false);
    if (rc == 0 && piece->parts->moments)
        rc = piece->parts->moments(piece->writer, part, &piece->out);
    if (rc == 0 && ferror(piece->spool))
        rc = -EIO;
    return rc;
}

/* The moments before `until`. */
static int advance_moments(struct orr_ahead *ahead, double until)
{
    struct orr_timeline part;
    int rc = orr_timeline_read(&ahead->reader, until, &part);

    if (rc)
        return rc;
    orr_trace_whole_add(&ahead->whole, &part);
    for (unsigned i = 0; i < ahead->files.n; i++)
        if (!ahead->pieces[i].rc)
            ahead->pieces[i].rc = piece_write_moments(&ahead->pieces[i], &part);
    orr_timeline_done(&part);
    return 0;
}

static bool ahead_needs_moments(const struct orr_trace_files *files)
{
    for (unsigned i = 0; i < files->n; i++)
        if (files->items[i].parts->moments)
            return true;
    return false;
}

/* Writes what is before `until`. */
static int advance(struct orr_ahead *ahead, double until)
{
    int rc = 0;

    /* What has begun by then was submitted by now. */
    advance_waits(ahead, until == (double)INFINITY);
    if (ahead_needs_moments(&ahead->files))
        rc = advance_moments(ahead, until);
    else
        ahead->reader.until = until;
    if (rc == 0 && ferror(ahead->pieces[0].spool))
        ahead->pieces[0].rc = -EIO;
    return rc;
}

/* Looks at so many chunks at once that moments that were left for later, and are looked
 * at once more, are no more than the new ones. */
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

/* Starts the thread with all signals blocked: their handlers are the application's. */
static int ahead_start(struct orr_ahead *ahead)
{
    sigset_t all, old;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&ahead->thread, NULL, work, ahead);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -rc;
}

static void ahead_stop(struct orr_ahead *ahead)
{
    if (!ahead->runs)
        return;
    atomic_store_explicit(&ahead->ends, true, memory_order_release);
    sem_post(&ahead->offered);
    pthread_join(ahead->thread, NULL);
    ahead->runs = false;
}

/* Begins the graph beside the run. Without memory, or room on the disk, it is made at
 * the end. */
static void begin_waits(struct orr_ahead *ahead)
{
    if (!ahead->trace->waits)
        return;
    if (orr_spool_open(ahead->files.items[0].path, &ahead->spool_behind) != 0 ||
        orr_out_init(&ahead->behind, ahead->spool_behind) != 0 ||
        orr_waits_new(ahead->trace->waits, &ahead->waits) != 0)
        give_up_waits(ahead);
}

/* What stands before the moments, as far as is known. Errors: as orr_trace_parts. */
static int make_head(const struct piece *piece,
                     const struct orr_trace_whole *whole, char **ret,
                     size_t *ret_n)
{
    FILE *file = open_memstream(ret, ret_n);
    struct orr_out out;
    int rc = file ? orr_out_init(&out, file) : -ENOMEM;

    if (rc == 0) {
        rc = piece->parts->head(piece->writer, whole, &out);
        orr_out_done(&out);
    }
    if (file && fclose(file) != 0 && rc == 0)
        rc = -ENOMEM;
    return rc;
}

/* Begins the file with the head that it will have if all goes well. */
static int begin_head(struct orr_ahead *ahead, struct piece *piece)
{
    const struct orr_waits_log *log = ahead->trace->waits;
    struct orr_trace_whole whole = ahead->whole;
    int rc;

    if (!piece->parts->has_early_head)
        return 0;
    whole.machine = log ? log->runtime->machine : NULL;
    rc = make_head(piece, &whole, &piece->head, &piece->nhead);
    if (rc == 0)
        orr_put_long(&piece->out, piece->head, piece->nhead);
    return rc;
}

static int begin_piece(struct orr_ahead *ahead, unsigned i)
{
    struct piece *piece = &ahead->pieces[i];
    int rc;

    piece->parts = ahead->files.items[i].parts;
    rc = orr_spool_open(ahead->files.items[i].path, &piece->spool);
    if (!rc)
        rc = orr_out_init(&piece->out, piece->spool);
    if (!rc)
        rc = piece->parts->begin(ahead->trace, &piece->writer);
    return rc ? rc : begin_head(ahead, piece);
}

/* What the thread works with; where some of it cannot be had the files are written at
 * the end. */
static void ahead_begin(struct orr_ahead *ahead)
{
    for (unsigned i = 0; !ahead->rc && i < ahead->files.n; i++)
        ahead->rc = begin_piece(ahead, i);
    if (!ahead->rc)
        ahead->rc = orr_timeline_reader_init(ahead->trace, &ahead->reader);
    if (!ahead->rc)
        begin_waits(ahead);
    if (!ahead->rc)
        ahead->rc = ahead_start(ahead);
    ahead->runs = !ahead->rc;
}

/* -- the run's thread ------------------------------------------------------ */

static bool has_processors(void)
{
    cpu_set_t set;

    /* More than the set has room for are more than one. */
    return sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) > 1;
}

static void end_piece(struct piece *piece)
{
    if (piece->writer)
        piece->parts->free(piece->writer);
    if (piece->out.begin)
        orr_out_done(&piece->out);
    if (piece->spool)
        fclose(piece->spool);
    free(piece->head);
}

static void end_all(struct orr_ahead *ahead)
{
    orr_trace_files_done(&ahead->files);
    free(ahead->opens);
    free(ahead->free_entries);
    free(ahead);
}

void orr_ahead_free(struct orr_ahead *ahead)
{
    if (!ahead)
        return;
    if (ahead->process != getpid()) /* the parent's */
        return;
    ahead_stop(ahead);
    for (unsigned i = 0; i < ahead->files.n; i++)
        end_piece(&ahead->pieces[i]);
    orr_timeline_reader_done(&ahead->reader);
    orr_graph_free(ahead->graph);
    orr_waits_free(ahead->waits);
    if (ahead->behind.begin)
        orr_out_done(&ahead->behind);
    if (ahead->spool_behind)
        fclose(ahead->spool_behind);
    sem_destroy(&ahead->offered);
    end_all(ahead);
}

/* Room for twice as many. */
static bool ahead_grow(struct orr_ahead *ahead)
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
    } else if (ahead->nopens < ahead->room || ahead_grow(ahead)) {
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
        ahead_begin(ahead);
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

static struct orr_ahead *ahead_make(const struct orr_trace *trace,
                                    struct orr_exec *exec, const char *path)
{
    struct orr_ahead *ahead;

    if (!has_processors() || orr_place_is_fixed(path))
        return NULL;
    ahead = calloc(1, sizeof(*ahead));
    if (!ahead)
        return NULL;
    if (orr_trace_files_of(path, &ahead->files) < 0 ||
        sem_init(&ahead->offered, 0, 0) != 0) {
        end_all(ahead);
        return NULL;
    }
    ahead->follower =
        (struct orr_trace_follower){note_begin, note_end, offer, free_follower};
    ahead->exec = exec;
    ahead->process = getpid();
    ahead->trace = trace;
    ahead->whole.end = trace->start;
    return ahead;
}

void orr_ahead_start(struct orr_trace *trace, struct orr_exec *exec,
                     const char *path)
{
    struct orr_ahead *ahead = ahead_make(trace, exec, path);

    assert(!trace->follower);
    trace->follower = ahead ? &ahead->follower : NULL;
}

/* -- the end --------------------------------------------------------------- */

struct orr_ahead *orr_ahead_take(struct orr_trace *trace, const char *path)
{
    struct orr_ahead *ahead = (struct orr_ahead *)trace->follower;

    if (!ahead || !ahead->runs || ahead->process != getpid() ||
        strcmp(ahead->files.items[0].path, path) != 0)
        return NULL;
    trace->follower = NULL;
    return ahead;
}

/* What head and tail get of the graph. */
static void find_graph(struct orr_ahead *ahead)
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
    (void)orr_waits_log_graph(log, &ahead->graph, &err);
    ahead->whole.graph = ahead->graph;
}

/* Writes all that was recorded to all files. */
static int finish(struct orr_ahead *ahead)
{
    if (ahead->is_over)
        return ahead->rc;
    ahead_stop(ahead);
    if (!ahead->rc)
        ahead->rc = advance(ahead, (double)INFINITY);
    if (!ahead->rc && !ahead->pieces[0].rc)
        find_graph(ahead);
    ahead->is_over = true;
    return ahead->rc;
}

/* The head, and what was written ahead behind it. */
static int write_front(struct piece *piece, const struct orr_trace_whole *whole,
                       struct orr_result *result)
{
    char *head = NULL;
    size_t n = 0;
    int rc = piece->parts->head ? make_head(piece, whole, &head, &n) : 0;
    bool is_there =
        n == piece->nhead && (n == 0 || !memcmp(head, piece->head, n));

    orr_out_flush(&piece->out);
    if (rc == 0 && ferror(piece->spool))
        rc = -EIO;
    if (rc == 0 && (!is_there || orr_result_adopt(result, piece->spool) != 0)) {
        fwrite(head, 1, n, result->file);
        rc = orr_spool_append(piece->spool, piece->nhead, result->file);
    }
    free(head);
    return rc;
}

static int write_whole(struct piece *piece, const struct orr_trace_whole *whole,
                       struct orr_result *result)
{
    struct orr_out out;
    int rc = write_front(piece, whole, result);

    if (rc || !piece->parts->tail)
        return rc;
    rc = orr_out_init(&out, result->file);
    if (rc)
        return rc;
    rc = piece->parts->tail(piece->writer, whole, &out);
    orr_out_done(&out);
    return rc;
}

int orr_ahead_write(struct orr_ahead *ahead, unsigned which,
                    struct orr_result *result)
{
    struct piece *piece = &ahead->pieces[which];
    int rc = finish(ahead);

    if (rc == 0)
        rc = piece->rc;
    return rc ? rc : write_whole(piece, &ahead->whole, result);
}

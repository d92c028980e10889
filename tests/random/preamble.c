/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* tests/random/preamble.c - what printed programs do their tasks and accesses
 * with; NDATA is how many data there are. */

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu.h>

/* One buffer of a task: the number of its datum, how it is accessed, what is
 * done with it, the hash that it must have. */
struct part {
    int datum;
    int mode;
    enum use use;
    uint64_t hash;
};

struct work {
    const char *name;
    int node;                    /* of an acquisition … */
    starpu_data_handle_t handle; /* … what is acquired */
    uint64_t salt;
    int n;
    struct part parts[8];
    unsigned refused; /* workers, by can_execute: bits */
};

static atomic_int failures;
static atomic_int users[NDATA]; /* readers, + 1000 per writer */
static starpu_data_handle_t h[NDATA];
static unsigned second; /* a scheduling context of all workers */

static inline void fail(const char *who, const char *what, int datum)
{
    printf("%s: %s datum %d\n", who, what, datum);
    failures++;
}

static inline void check(const char *call, int rc)
{
    if (rc == 0)
        return;
    printf("%s returns %d\n", call, rc);
    failures++;
}

#define CHECK(call) check(#call, call)

static inline int weight(const struct part *part)
{
    if (part->mode & (STARPU_SCRATCH | STARPU_REDUX))
        return 0;
    return part->mode & STARPU_W ? 1000 : 1;
}

/* The weight of the datum in the task; 0 but for its first buffer. */
static inline int whole_weight(const struct work *work, int k)
{
    int most = 0;

    for (int i = 0; i < work->n; i++) {
        if (work->parts[i].datum != work->parts[k].datum)
            continue;
        if (i < k)
            return 0;
        if (weight(&work->parts[i]) > most)
            most = weight(&work->parts[i]);
    }
    return most;
}

static inline void come(const struct work *work)
{
    for (int k = 0; k < work->n; k++) {
        int mine = whole_weight(work, k);
        int others = atomic_fetch_add(&users[work->parts[k].datum], mine);

        if (mine && (mine == 1 ? others >= 1000 : others != 0))
            fail(work->name, "does not have for itself", work->parts[k].datum);
    }
}

static inline void leave(void *arg)
{
    const struct work *work = arg;

    for (int k = 0; k < work->n; k++)
        atomic_fetch_sub(&users[work->parts[k].datum], whole_weight(work, k));
}

static inline uint64_t look_at(const struct work *work, const struct part *part,
                               const struct view *v)
{
    uint64_t *words = view_open(v), hash = bytes_hash(words, view_words(v));

    view_close(v, words, false);
    if (hash != part->hash || !view_has_indices(v))
        fail(work->name, "finds other bytes than it should in", part->datum);
    return hash;
}

static inline void write_with(const struct view *v, enum use use, uint64_t x)
{
    uint64_t *words = view_open(v);

    bytes_write(words, view_words(v), use, x);
    view_close(v, words, use != READ && use != PEEK);
    if (use == WRITE || use == TEMP)
        view_set_indices(v);
}

static inline void do_work(const struct work *work, const struct view v[])
{
    uint64_t x = work->salt;

    come(work);
    for (int k = 0; k < work->n; k++) {
        const struct part *part = &work->parts[k];

        if (part->use == READ || part->use == UPDATE)
            x = bytes_mix(x + look_at(work, part, &v[k]));
    }
    for (int k = 0; k < work->n; k++)
        write_with(&v[k], work->parts[k].use, x);
}

static inline struct view view_in(int datum, void *buffer, int node)
{
    if (shapes[datum].layout == NOTHING)
        return view_flat(0);
    return view_of(buffer, node < 0 ? 0 : (unsigned)node);
}

static inline void kernel(void *buffers[], void *arg)
{
    const struct work *work = arg;
    struct view v[8];

    for (int k = 0; k < work->n; k++)
        v[k] = view_in(work->parts[k].datum, buffers[k],
                       starpu_task_get_current_data_node((unsigned)k));
    do_work(work, v);
}

/* can_execute. */
static inline int accepts(unsigned worker, struct starpu_task *task,
                          unsigned nimpl)
{
    const struct work *work = task->cl_arg;

    (void)nimpl;
    return !(work->refused >> worker & 1);
}

/* A task on the data of the work. */
static inline struct starpu_task *new_task(struct starpu_codelet *cl,
                                           struct work *work)
{
    struct starpu_task *task = starpu_task_create();

    cl->nbuffers = STARPU_VARIABLE_NBUFFERS;
    cl->cpu_funcs[0] = cl->cuda_funcs[0] = kernel;
    task->cl = cl;
    task->cl_arg = work;
    task->epilogue_callback_func = leave;
    task->epilogue_callback_arg = work;
    task->nbuffers = work->n;
    for (int k = 0; k < work->n; k++) {
        task->handles[k] = h[work->parts[k].datum];
        task->modes[k] = (enum starpu_data_access_mode)work->parts[k].mode;
    }
    return task;
}

/* The worker joins the second context, or leaves it. */
static inline void come_back(int worker)
{
    starpu_sched_ctx_add_workers(&worker, 1, second);
}

static inline void go_away(int worker)
{
    starpu_sched_ctx_remove_workers(&worker, 1, second);
}

/* The data that have an arbiter share one, which is never destroyed. */
static inline void set_arbiter(starpu_data_handle_t handle)
{
    static starpu_arbiter_t arbiter;

    if (!arbiter)
        arbiter = starpu_arbiter_create();
    starpu_data_assign_arbiter(handle, arbiter);
}

/* The program's own access to one datum, which it has acquired. Only those to
 * main memory look at it. */
static inline void look(struct work *work, int main_memory)
{
    int datum = work->parts[0].datum;
    struct view v;

    if (!main_memory) {
        come(work);
        return;
    }
    v = view_in(
        datum,
        starpu_data_get_interface_on_node(work->handle, (unsigned)work->node),
        work->node);
    do_work(work, &v);
}

/* Other readers may come from then on. */
static inline void go_on_reading(struct work *work)
{
    leave(work);
    work->parts[0].mode = STARPU_R;
    come(work);
    starpu_data_release_to_on_node(work->handle, STARPU_R, work->node);
}

static inline void release(struct work *work)
{
    leave(work);
    starpu_data_release_on_node(work->handle, work->node);
}

/* For acquisitions with a callback. */
static inline void called_back(void *work)
{
    look(work, 1);
    release(work);
}

static inline void called_back_elsewhere(void *work)
{
    look(work, 0);
    release(work);
}

static inline void register_at_home(int datum, int home, uint64_t *memory,
                                    uint64_t salt)
{
    const struct shape *s = &shapes[datum];
    uint64_t *words = malloc((shape_words(s) + 1) * sizeof(*words));

    if (!words)
        abort();
    bytes_fill(words, shape_words(s), salt);
    fill_home(s, memory, words);
    register_shape(&h[datum], home, s, memory);
    free(words);
}

static inline void compare(int datum, uint64_t *memory, uint64_t hash)
{
    const struct shape *s = &shapes[datum];
    uint64_t *words = malloc((shape_words(s) + 1) * sizeof(*words));

    if (!words)
        abort();
    if (!read_home(s, memory, words) ||
        bytes_hash(words, shape_words(s)) != hash)
        fail("unregister", "leaves other bytes than it should in", datum);
    free(words);
}

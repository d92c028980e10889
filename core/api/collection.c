/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/collection.c - the workers of a scheduling context as policies walk
 * over them: in the order in which they came, or from neighbour to neighbour in
 * the tree of processors. Only public functions: applications make collections
 * of their own from the same methods. The caller keeps others away.
 */
#include <starpu.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"

static void worker_list_init(struct starpu_worker_collection *workers)
{
    workers->workerids = calloc(STARPU_NMAXWORKERS, sizeof(int));
    if (!workers->workerids) {
        orr_log_error("out of memory for the workers of a scheduling context");
        abort();
    }
    workers->nworkers = 0;
    memset(workers->present, 0, sizeof(workers->present));
}

static void worker_list_deinit(struct starpu_worker_collection *workers)
{
    free(workers->workerids);
    workers->workerids = NULL;
    workers->nworkers = 0;
}

static int worker_list_add(struct starpu_worker_collection *workers, int worker)
{
    if (worker < 0 || worker >= STARPU_NMAXWORKERS || workers->present[worker])
        return -1;
    workers->present[worker] = 1;
    workers->workerids[workers->nworkers++] = worker;
    return worker;
}

static int worker_list_remove(struct starpu_worker_collection *workers,
                              int worker)
{
    unsigned i = 0;

    if (worker < 0 || worker >= STARPU_NMAXWORKERS || !workers->present[worker])
        return -1;
    while (workers->workerids[i] != worker)
        i++;
    workers->nworkers--;
    memmove(&workers->workerids[i], &workers->workerids[i + 1],
            (workers->nworkers - i) * sizeof(int));
    workers->present[worker] = 0;
    return worker;
}

static void init_iterator(struct starpu_worker_collection *workers,
                          struct starpu_sched_ctx_iterator *it)
{
    (void)workers;
    it->cursor = 0;
    it->value = it->possible_value = NULL;
    it->possibly_parallel = -1;
    memset(it->visited, 0, sizeof(it->visited));
}

static void init_parallel(struct starpu_worker_collection *workers,
                          struct starpu_sched_ctx_iterator *it,
                          struct starpu_task *task)
{
    init_iterator(workers, it);
    it->possibly_parallel = task->possibly_parallel != 0;
}

/* A walk for a task passes workers that are blocked. */
static bool is_passed(const struct starpu_sched_ctx_iterator *it, int worker)
{
    return it->possibly_parallel >= 0 &&
           starpu_worker_is_blocked_in_parallel(worker);
}

/* At the end the same iterator begins again. */
static unsigned
worker_iterator_restart(struct starpu_worker_collection *workers,
                        struct starpu_sched_ctx_iterator *it)
{
    int parallel = it->possibly_parallel;

    init_iterator(workers, it);
    it->possibly_parallel = parallel;
    return 0;
}

/* --- in the order in which they came --- */

static unsigned list_has_next(struct starpu_worker_collection *workers,
                              struct starpu_sched_ctx_iterator *it)
{
    while ((unsigned)it->cursor < workers->nworkers &&
           is_passed(it, workers->workerids[it->cursor]))
        it->cursor++;
    return (unsigned)it->cursor < workers->nworkers
               ? 1
               : worker_iterator_restart(workers, it);
}

static int list_get_next(struct starpu_worker_collection *workers,
                         struct starpu_sched_ctx_iterator *it)
{
    return workers->workerids[it->cursor++];
}

struct starpu_worker_collection starpu_worker_list = {
    .type = STARPU_WORKER_LIST,
    .has_next = list_has_next,
    .get_next = list_get_next,
    .add = worker_list_add,
    .remove = worker_list_remove,
    .init = worker_list_init,
    .deinit = worker_list_deinit,
    .init_iterator = init_iterator,
    .init_iterator_for_parallel_tasks = init_parallel,
};

/* --- from neighbour to neighbour --- */

/* A worker that is to be visited, on the processor or on any (-1). */
static int unvisited_on(const struct starpu_worker_collection *workers,
                        const struct starpu_sched_ctx_iterator *it,
                        int processor)
{
    for (unsigned i = 0; i < workers->nworkers; i++) {
        int w = workers->workerids[i];

        if (w < (int)starpu_worker_get_count() && !it->visited[w] &&
            !is_passed(it, w) &&
            (processor < 0 || starpu_worker_get_bindid(w) == processor))
            return w;
    }
    return -1;
}

/* The first processor of a part of the tree that has a worker. */
static struct starpu_tree *
first_processor(struct starpu_tree *tree,
                const struct starpu_worker_collection *workers,
                const struct starpu_sched_ctx_iterator *it)
{
    struct starpu_tree *found = NULL;

    if (tree->is_pu)
        return unvisited_on(workers, it, tree->id) >= 0 ? tree : NULL;
    for (int i = 0; i < tree->arity && !found; i++)
        found = first_processor(&tree->nodes[i], workers, it);
    return found;
}

/* The next worker, or -1; *ret_at: its processor. First the others on the last worker's
 * processor, then the nearest, then those that are bound to none. */
static int tree_next(struct starpu_worker_collection *workers,
                     struct starpu_sched_ctx_iterator *it,
                     struct starpu_tree **ret_at)
{
    struct starpu_tree *tree = starpu_workers_get_tree();
    int worker = -1;

    *ret_at = it->value;
    if (*ret_at)
        worker = unvisited_on(workers, it, (*ret_at)->id);
    if (worker >= 0)
        return worker;
    if (*ret_at)
        *ret_at = starpu_tree_get_neighbour(tree, *ret_at, it->visited,
                                            workers->present);
    if (*ret_at)
        worker = unvisited_on(workers, it, (*ret_at)->id);
    if (worker >= 0)
        return worker;
    *ret_at = tree ? first_processor(tree, workers, it) : NULL;
    return unvisited_on(workers, it, *ret_at ? (*ret_at)->id : -1);
}

static unsigned tree_has_next(struct starpu_worker_collection *workers,
                              struct starpu_sched_ctx_iterator *it)
{
    struct starpu_tree *at;

    return tree_next(workers, it, &at) >= 0
               ? 1
               : worker_iterator_restart(workers, it);
}

static int tree_get_next(struct starpu_worker_collection *workers,
                         struct starpu_sched_ctx_iterator *it)
{
    struct starpu_tree *at;
    int worker = tree_next(workers, it, &at);

    it->value = at;
    it->visited[worker] = 1;
    it->cursor++;
    return worker;
}

struct starpu_worker_collection starpu_worker_tree = {
    .type = STARPU_WORKER_TREE,
    .has_next = tree_has_next,
    .get_next = tree_get_next,
    .add = worker_list_add,
    .remove = worker_list_remove,
    .init = worker_list_init,
    .deinit = worker_list_deinit,
    .init_iterator = init_iterator,
    .init_iterator_for_parallel_tasks = init_parallel,
};

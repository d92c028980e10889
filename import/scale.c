/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/scale.c - what stays single where a workflow is made wider, see replicas.h. The role
 * of a task is a hash of its kernel and of the roles before it, and one of those behind it:
 * the type hash of Coleman, Casanova, Pottier, Kaushik, Deelman and Ferreira da Silva,
 * "WfCommons: A framework for enabling scientific workflow research and development", 2022.
 * How many there are of a role before or behind makes no difference.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "import/replicas.h"

struct roles {
    const struct flow *flow;
    size_t *order; /* each behind what it waits for */
    uint64_t *up, *down, *both; /* by task */
};

static uint64_t mix(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(1469598103934665603);

    for (; text && *text; text++)
        hash = mix(hash, (unsigned char)*text);
    return hash;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Of a list of roles, sorted here, each once. */
static uint64_t hash_roles(uint64_t hash, uint64_t *roles, size_t n)
{
    qsort(roles, n, sizeof(*roles), compare_hashes);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || roles[i] != roles[i - 1])
            hash = mix(hash, roles[i]);
    return hash;
}

static int hash_upwards(struct roles *r)
{
    for (size_t i = 0; i < r->flow->ntasks; i++) {
        const struct flow_task *task = &r->flow->tasks[r->order[i]];
        uint64_t *before = calloc(task->nbefore + 1, sizeof(*before));

        if (!before)
            return -ENOMEM;
        for (size_t b = 0; b < task->nbefore; b++)
            before[b] = r->up[task->before[b]];
        r->up[r->order[i]] =
            task->nbefore ? hash_roles(hash_text(task->kernel), before, task->nbefore)
                          : hash_text(task->kernel);
        free(before);
    }
    return 0;
}

/* Tasks behind each: their roles, in one list. */
static int hash_downwards(struct roles *r)
{
    size_t n = r->flow->ntasks, nedges = 0;
    size_t *first = calloc(n + 2, sizeof(*first)), *at = calloc(n + 1, sizeof(*at));
    uint64_t *behind;

    for (size_t t = 0; first && t < n; t++) {
        nedges += r->flow->tasks[t].nbefore;
        for (size_t b = 0; b < r->flow->tasks[t].nbefore; b++)
            first[r->flow->tasks[t].before[b] + 1]++;
    }
    behind = calloc(nedges + 1, sizeof(*behind));
    for (size_t t = 0; first && t < n; t++)
        first[t + 1] += first[t];
    for (size_t i = n; first && at && behind && i-- > 0;) {
        size_t t = r->order[i];
        const struct flow_task *task = &r->flow->tasks[t];

        r->down[t] = hash_text(task->kernel);
        if (at[t])
            r->down[t] = hash_roles(r->down[t], behind + first[t], at[t]);
        for (size_t b = 0; b < task->nbefore; b++)
            behind[first[task->before[b]] + at[task->before[b]]++] = r->down[t];
    }
    free(first);
    free(at);
    free(behind);
    return first && at && behind ? 0 : -ENOMEM;
}

static void find_single_tasks(struct roles *r, bool *ret)
{
    size_t n = r->flow->ntasks;
    uint64_t *sorted = r->both;

    for (size_t t = 0; t < n; t++)
        sorted[t] = r->up[t] = mix(mix(r->up[t], 1), r->down[t]); /* they may be equal */
    if (n)
        qsort(sorted, n, sizeof(*sorted), compare_hashes);
    for (size_t t = 0; t < n; t++) {
        const uint64_t *found =
            bsearch(&r->up[t], sorted, n, sizeof(*sorted), compare_hashes);
        size_t at = (size_t)(found - sorted);

        ret[t] = !(at > 0 && sorted[at - 1] == *found) &&
                 !(at + 1 < n && sorted[at + 1] == *found);
    }
}

/* A datum is there several times if a task writes it that is, or if all that read it are and
 * none writes it. */
static int find_single_data(const struct flow *flow, const bool *single, bool *ret)
{
    bool *written = calloc(flow->ndata + 1, sizeof(*written));

    if (!written)
        return -ENOMEM;
    for (size_t t = 0; t < flow->ntasks; t++)
        for (size_t u = 0; u < flow->tasks[t].nuses; u++) {
            const struct flow_use *use = &flow->tasks[t].uses[u];

            if (use->mode & STARPU_W) {
                ret[use->datum] = single[t] && (!written[use->datum] || ret[use->datum]);
                written[use->datum] = true;
            }
        }
    for (size_t t = 0; t < flow->ntasks; t++)
        for (size_t u = 0; u < flow->tasks[t].nuses; u++)
            if (!written[flow->tasks[t].uses[u].datum])
                ret[flow->tasks[t].uses[u].datum] |= single[t];
    free(written);
    return 0;
}

int flow_find_single(struct flow *flow, bool *ret_tasks, bool *ret_data)
{
    size_t n = flow->ntasks + 1;
    struct roles r = {.flow = flow};
    int rc;

    r.order = calloc(n, sizeof(*r.order));
    r.up = calloc(n, sizeof(*r.up));
    r.down = calloc(n, sizeof(*r.down));
    r.both = calloc(n, sizeof(*r.both));
    rc = r.order && r.up && r.down && r.both ? flow_sort(flow, r.order) : -ENOMEM;
    if (!rc)
        rc = hash_upwards(&r);
    if (!rc)
        rc = hash_downwards(&r);
    if (!rc) {
        find_single_tasks(&r, ret_tasks);
        rc = find_single_data(flow, ret_tasks, ret_data);
    }
    free(r.order);
    free(r.up);
    free(r.down);
    free(r.both);
    return rc == -ENOMEM ? flow_no_memory(flow) : rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/heteroprio_groups.c - heteroprio's locality mode: the workers of each
 * memory node are a group, each bucket has a list per group. A task is pushed to the
 * group that suits its data; workers look at their own group before those that are
 * near.
 *
 * A group is near if it looks at buckets in another order, so that both seldom want the
 * same task, and if it takes long to copy from its memory (StarPU's rule: what is
 * copied quickly may wait for its own workers).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/plural.h"
#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/device/kind.h"
#include "core/policies/heteroprio.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

/* --- settings --- */

static const char *const rule_names[ORR_HP_NRULES] = {
    "WORKER", "LcS", "LS_SDH", "LS_SDH2", "LS_SDHB", "LC_SMWB"};

/* AUTO stands for LS_SDHB: StarPU's AUTO begins with that rule, and leaves it only
 * where there are several contexts. */
static bool find_rule(const char *text, enum orr_hp_rule *ret)
{
    unsigned r = 0;

    if (strcmp(text, "AUTO") == 0)
        text = rule_names[ORR_HP_LS_SDHB];
    while (r < ORR_HP_NRULES && strcmp(text, rule_names[r]) != 0)
        r++;
    *ret = (enum orr_hp_rule)r;
    return r < ORR_HP_NRULES;
}

static void put_all_in_one(struct orr_hp_locality *l)
{
    l->n = 1;
    l->mapped = false;
    memset(l->of_node, 0, sizeof(l->of_node));
}

/* The value of the variable named `prefix` and the kind's name; -1: it is not set, or
 * there is no such variable. */
static int of_kind(const struct orr_config *config,
                   const struct orr_device_kind *kind, const char *prefix)
{
    size_t n = strlen(prefix);

    for (enum orr_config_id id = 0; id < ORR_CFG_COUNT; id++)
        if (strncmp(orr_config_name(id), prefix, n) == 0 &&
            strcmp(orr_config_name(id) + n, kind->variable) == 0)
            return orr_config_int(config, id);
    return -1;
}

int orr_hp_locality_init(struct orr_sched *sched, struct orr_error *err)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_hp_locality *l = &hp->locality;
    const struct orr_config *config = &sched->runtime->config;
    const char *rule = orr_config_string(config, ORR_CFG_HETEROPRIO_PUSH);

    if (!find_rule(rule, &l->rule))
        return orr_fail(err, -EINVAL,
                        "STARPU_LAHETEROPRIO_PUSH=%s is no rule: WORKER, LcS, "
                        "LS_SDH, LS_SDH2, LS_SDHB, LC_SMWB or AUTO",
                        rule);
    for (unsigned a = 0; a < STARPU_NARCH; a++) {
        const struct orr_device_kind *kind =
            orr_device_kind((enum starpu_worker_archtype)a);
        int near, step;

        if (!kind)
            continue;
        near = of_kind(config, kind, "STARPU_LAHETEROPRIO_S_");
        step = of_kind(config, kind, "STARPU_LAHETEROPRIO_PRIO_STEP_");
        l->near[a] = near < 0 ? ORR_HP_GROUPS : (unsigned)near;
        l->step[a] = step < 0 ? 0 : (unsigned)step;
    }
    put_all_in_one(l);
    atomic_store(&l->on, orr_config_bool(config, ORR_CFG_HETEROPRIO_LOCALITY));
    return 0;
}

/* --- groups --- */

static const char *map_locked(struct orr_sched *sched)
{
    const struct orr_runtime *rt = sched->runtime;
    struct orr_heteroprio *hp = sched->data;
    struct orr_hp_locality *l = &hp->locality;
    unsigned n = 0;

    if (!atomic_load(&l->on))
        return "locality is off: set STARPU_HETEROPRIO_USE_LA=1, or call "
               "starpu_heteroprio_set_use_locality";
    if (l->mapped)
        return NULL;
    for (unsigned node = 0; node < rt->nodes->n; node++) {
        struct orr_hp_group group = {.node = node};

        for (unsigned w = rt->workers->n; w-- > 0;)
            if (rt->workers->at[w].desc->node == node) {
                group.arch = orr_hp_arch_of(&rt->workers->at[w]);
                group.nworkers++;
            }
        if (!group.nworkers)
            continue;
        if (n == ORR_HP_GROUPS) {
            put_all_in_one(l);
            return "more than 10 memory nodes have workers";
        }
        l->of_node[node] = n;
        l->groups[n++] = group;
    }
    l->n = n;
    l->mapped = l->stale = true;
    return NULL;
}

const char *orr_heteroprio_map_groups(struct orr_sched *sched)
{
    struct orr_heteroprio *hp = sched->data;
    const char *trouble;

    orr_lock(&hp->lock);
    trouble = map_locked(sched);
    orr_unlock(&hp->lock);
    return trouble;
}

/* Moves all queued tasks to the first group; the order within each group
 * stays. */
static void bucket_gather_groups(struct orr_hp_bucket *bucket)
{
    struct orr_list *link;

    for (unsigned g = 1; g < ORR_HP_GROUPS; g++)
        while ((link = orr_list_pop(&bucket->jobs[g])))
            orr_list_append(&bucket->jobs[0], link);
}

void orr_heteroprio_set_locality(struct orr_sched *sched, bool on)
{
    struct orr_heteroprio *hp = sched->data;

    orr_lock(&hp->lock);
    atomic_store(&hp->locality.on, on);
    if (!on) {
        put_all_in_one(&hp->locality);
        for (unsigned b = 0; b < ORR_HP_BUCKETS; b++)
            bucket_gather_groups(&hp->buckets[b]);
    }
    orr_unlock(&hp->lock);
}

/* --- which groups are near --- */

/* Place + 1 of each bucket in the order of an architecture; 0: it has none. */
static void find_places(const struct orr_hp_arch *arch,
                        int places[ORR_HP_BUCKETS])
{
    memset(places, 0, ORR_HP_BUCKETS * sizeof(places[0]));
    for (unsigned i = 0; i < arch->n; i++)
        places[arch->order[i]] = (int)i + 1;
}

/* How much the orders differ; 0: both look at the same buckets in the same order. */
static double arch_order_difference(const struct orr_hp_arch *a,
                                    const struct orr_hp_arch *b)
{
    int of_a[ORR_HP_BUCKETS], of_b[ORR_HP_BUCKETS], sum = 0;
    double most = a->n > b->n ? a->n : b->n;

    find_places(a, of_a);
    find_places(b, of_b);
    for (unsigned i = 0; i < ORR_HP_BUCKETS; i++)
        sum += abs(of_a[i] - of_b[i]);
    return 2 * sum / ((most + 1) * (most + 2));
}

/* Writes how long a copy of a fixed size takes between each two groups, as a part of
 * the longest such time: the less, the nearer. */
static void find_copies(const struct orr_sched *sched,
                        double copies[ORR_HP_GROUPS][ORR_HP_GROUPS])
{
    struct orr_runtime *rt = sched->runtime;
    const struct orr_heteroprio *hp = sched->data;
    const struct orr_hp_locality *l = &hp->locality;
    const size_t much = (size_t)1 << 30;
    double longest = 0;

    for (unsigned a = 0; a < l->n; a++)
        for (unsigned b = 0; b < l->n; b++) {
            double us = orr_transfer_predict(rt, l->groups[a].node,
                                             l->groups[b].node, much);

            copies[a][b] = isfinite(us) && us > 0 ? us : 0;
            longest = fmax(longest, copies[a][b]);
        }
    for (unsigned a = 0; longest > 0 && a < l->n; a++)
        for (unsigned b = 0; b < l->n; b++)
            copies[a][b] /= longest;
}

/* Insertion sort of the others, the nearest first, equals by number. */
static void sort_others(struct orr_hp_locality *l, unsigned group,
                        const double *distance)
{
    unsigned *nearest = l->groups[group].nearest, n = 0;

    for (unsigned other = 0; other < l->n; other++) {
        unsigned at = n;

        if (other == group)
            continue;
        for (; at > 0 && distance[nearest[at - 1]] > distance[other]; at--)
            nearest[at] = nearest[at - 1];
        nearest[at] = other;
        n++;
    }
}

void orr_hp_sort_groups(struct orr_sched *sched)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_hp_locality *l = &hp->locality;
    double copies[ORR_HP_GROUPS][ORR_HP_GROUPS];

    if (!l->stale)
        return;
    find_copies(sched, copies);
    for (unsigned g = 0; g < l->n; g++) {
        const struct orr_hp_arch *arch = &hp->archs[l->groups[g].arch];
        double distance[ORR_HP_GROUPS];

        for (unsigned other = 0; other < l->n; other++)
            distance[other] =
                (1 - arch_order_difference(arch,
                                           &hp->archs[l->groups[other].arch])) /
                    2 +
                copies[other][g] / 2;
        sort_others(l, g, distance);
    }
    l->stale = false;
}

/* --- which group suits a job --- */

struct bytes {
    double there, missing; /* read only */
    double written_there, squares_there, written_missing;
    unsigned nwritten_missing;
    unsigned n, nwritten; /* data, of those that are written */
};

static struct bytes count_bytes(const struct orr_job *job, unsigned node)
{
    struct bytes sum = {.n = 0};

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        const struct orr_handle *handle = access->handle;
        bool there =
            atomic_load_explicit(&handle->valid, memory_order_relaxed) >> node &
            1;
        double size = (double)handle->size;

        if (access->duplicate)
            continue;
        sum.n++;
        if (access->mode == STARPU_R) {
            *(there ? &sum.there : &sum.missing) += size;
            continue;
        }
        sum.nwritten++;
        if (there) {
            sum.written_there += size;
            sum.squares_there += size * size;
        } else {
            sum.written_missing += size;
            sum.nwritten_missing++;
        }
    }
    return sum;
}

static double bytes_weight(const struct bytes *sum, enum orr_hp_rule rule)
{
    switch (rule) {
    case ORR_HP_LS_SDH:
        return sum->there + sum->written_there;
    case ORR_HP_LS_SDH2:
        return sum->there + sum->squares_there;
    case ORR_HP_LS_SDHB:
        return sum->n
                   ? -(sum->missing + sum->written_missing *
                                          (2 - (double)sum->nwritten / sum->n))
                   : 0;
    case ORR_HP_LC_SMWB:
        return -(sum->missing +
                 1000 * sum->written_missing * sum->nwritten_missing);
    default:
        return 0;
    }
}

void orr_hp_weigh(const struct orr_sched *sched, const struct orr_job *job,
                  double *suits)
{
    struct orr_runtime *rt = sched->runtime;
    const struct orr_heteroprio *hp = sched->data;
    enum orr_hp_rule rule = hp->locality.rule;

    if (!atomic_load_explicit(&hp->locality.on, memory_order_relaxed))
        memset(suits, 0, rt->nodes->n * sizeof(*suits));
    else if (rule == ORR_HP_LCS)
        for (unsigned node = 0; node < rt->nodes->n; node++)
            suits[node] = -orr_sched_transfer_time(rt, job, node);
    else
        for (unsigned node = 0; node < rt->nodes->n; node++) {
            struct bytes sum = count_bytes(job, node);

            suits[node] = bytes_weight(&sum, rule);
        }
}

/* The memory node of the pushing context. */
static unsigned node_of_pusher(const struct orr_runtime *rt)
{
    const struct orr_worker *worker = orr_self ? orr_self->worker : NULL;

    for (unsigned w = 0; !worker && w < rt->workers->n; w++)
        if (orr_device_kind(rt->workers->at[w].desc->type)->is_processor)
            worker = &rt->workers->at[w];
    return worker ? worker->desc->node : 0;
}

unsigned orr_hp_choose_group(struct orr_sched *sched, uint64_t able,
                             const double *suits)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_hp_locality *l = &hp->locality;
    unsigned pusher = node_of_pusher(sched->runtime);
    unsigned best = STARPU_MAXNODES;

    if (!l->mapped && map_locked(sched))
        l->mapped = true; /* one group for all: there are too many nodes */
    if (l->n < 2)
        return 0;
    if (able >> pusher & 1)
        best = pusher;
    for (unsigned g = 0; g < l->n; g++) {
        unsigned node = l->groups[g].node;

        if (able >> node & 1 &&
            (best == STARPU_MAXNODES || suits[node] > suits[best]))
            best = node;
    }
    return best == STARPU_MAXNODES ? 0 : l->of_node[best];
}

/* --- printing --- */

static unsigned group_count_tasks(const struct orr_heteroprio *hp,
                                  unsigned group)
{
    unsigned n = 0;

    for (unsigned b = 0; b < ORR_HP_BUCKETS; b++) {
        orr_list_foreach (link, &hp->buckets[b].jobs[group])
            n++;
    }
    return n;
}

void orr_heteroprio_print_groups(struct orr_sched *sched, FILE *out)
{
    struct orr_heteroprio *hp = sched->data;
    struct orr_hp_group groups[ORR_HP_GROUPS];
    unsigned n = 0, ntasks[ORR_HP_GROUPS];

    orr_lock(&hp->lock);
    if (hp->locality.n > 1) {
        orr_hp_sort_groups(sched);
        n = hp->locality.n;
        memcpy(groups, hp->locality.groups, n * sizeof(*groups));
    }
    for (unsigned g = 0; g < n; g++)
        ntasks[g] = group_count_tasks(hp, g);
    orr_unlock(&hp->lock);
    if (n == 0)
        fprintf(out, "one group of all workers\n");
    for (unsigned g = 0; g < n; g++) {
        fprintf(
            out, "group %u: memory node %u, %u worker%s, %u task%s; near:", g,
            groups[g].node, groups[g].nworkers, orr_plural(groups[g].nworkers),
            ntasks[g], orr_plural(ntasks[g]));
        for (unsigned i = 0; i + 1 < n; i++)
            fprintf(out, " %u", groups[g].nearest[i]);
        fputc('\n', out);
    }
}

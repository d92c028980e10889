/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_make.c - makes a graph from the record. Nodes that are not
 * tasks of the view only pass dependencies on, and are taken out: a node that
 * waits for one waits for all its predecessors. Where that would make very many
 * pairs, the node stays as a task that takes no time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/exec/runtime.h"
#include "core/job/tasks.h"
#include "core/observe/graph_record_private.h"
#include "core/observe/views.h"
#include "perfmodel/origin.h"

struct pred {
    uint32_t node; /* index in nodes */
    bool tag;
    uint64_t bytes;
};

struct slice {
    uint32_t first, n;
};

struct maker {
    const struct orr_graph_record *record;
    struct orr_graph *graph;
    enum orr_graph_view view;
    unsigned n;           /* nodes */
    struct slice *direct; /* per node, in direct_preds */
    struct pred *direct_preds;
    uint32_t ndirect;
    struct slice *all; /* per node, in preds: tasks only */
    struct pred *preds;
    uint32_t npreds;
    uint32_t *nsuccs, *mark, *order;
    uint32_t *task_of; /* per node: task, or ORR_NONE */
    uint32_t norder;
    bool *stays;
    uint32_t *type_of;  /* per type of the record: the graph's, or ORR_NONE */
    uint32_t *datum_of; /* likewise */
    unsigned join_type, message_type;
};

static bool is_task(const struct maker *m, uint32_t i)
{
    const struct orr_graph_node_record *node = &m->record->nodes[i];

    if (node->type == ORR_NONE)
        return false;
    return m->view == ORR_GRAPH_ALL ||
           (node->window && node->window == m->record->window);
}

/* StarPU's bounds know one process. */
static bool is_message(const struct maker *m, uint32_t i)
{
    return m->view == ORR_GRAPH_ALL && m->record->nodes[i].is_message;
}

static struct pred *add_pred(struct pred **preds, uint32_t *n, struct pred pred)
{
    struct pred *added = orr_array_add(*preds, *n);

    if (added)
        *added = pred;
    return added;
}

/* --- tags --- */

struct bearer {
    uint64_t tag;
    uint32_t node; /* ORR_NONE: several, or the tag is vague */
};

static int compare_bearers(const void *a, const void *b)
{
    const struct bearer *x = a, *y = b;

    return (x->tag > y->tag) - (x->tag < y->tag);
}

/* Which task has which tag, sorted; tags that several tasks have had, or that
 * are vague, count as tags of none. */
static struct bearer *find_bearers(const struct orr_graph_record *record,
                                   size_t *ret_n)
{
    size_t n = 0, kept = 0;
    struct bearer *all =
        calloc((size_t)record->nnodes + record->nvague + 1, sizeof(*all));

    if (!all)
        return NULL;
    for (uint32_t i = 0; i < record->nnodes; i++)
        if (record->nodes[i].has_tag)
            all[n++] = (struct bearer){record->nodes[i].tag, i};
    for (uint32_t i = 0; i < record->nvague; i++)
        all[n++] = (struct bearer){record->vague[i], ORR_NONE};
    qsort(all, n, sizeof(*all), compare_bearers);
    for (size_t i = 0; i < n; i++) {
        if (kept && all[kept - 1].tag == all[i].tag)
            all[kept - 1].node = ORR_NONE;
        else
            all[kept++] = all[i];
    }
    *ret_n = kept;
    return all;
}

static uint32_t bearer_of(const struct bearer *all, size_t n, uint64_t tag)
{
    struct bearer key = {tag, 0};
    const struct bearer *found =
        bsearch(&key, all, n, sizeof(key), compare_bearers);

    return found ? found->node : ORR_NONE;
}

/* --- direct dependencies --- */

struct tag_edge {
    uint32_t later, earlier;
};

static int compare_edges(const void *a, const void *b)
{
    const struct tag_edge *x = a, *y = b;

    return (x->later > y->later) - (x->later < y->later);
}

/* The edges that tags declare, sorted by the later node. */
static struct tag_edge *find_tag_edges(const struct orr_graph_record *record,
                                       size_t *ret_n)
{
    size_t nbearers, n = 0;
    struct bearer *bearers = find_bearers(record, &nbearers);
    struct tag_edge *edges = calloc((size_t)record->ntags + 1, sizeof(*edges));

    for (uint32_t i = 0; bearers && edges && i < record->ntags; i++) {
        const struct orr_graph_tags_record *tags = &record->tags[i];
        struct tag_edge edge = {bearer_of(bearers, nbearers, tags->dep.tag),
                                bearer_of(bearers, nbearers, tags->dep.before)};

        if (tags->holds && edge.later != ORR_NONE && edge.earlier != ORR_NONE &&
            edge.later != edge.earlier)
            edges[n++] = edge;
    }
    if (bearers && edges)
        qsort(edges, n, sizeof(*edges), compare_edges);
    if (!bearers) {
        free(edges);
        edges = NULL;
    }
    free(bearers);
    *ret_n = n;
    return edges;
}

static int collect_direct(struct maker *m)
{
    const struct orr_graph_record *record = m->record;
    size_t ntags, t = 0;
    struct tag_edge *tags = find_tag_edges(record, &ntags);
    bool good = tags != NULL;

    for (uint32_t i = 0; good && i < m->n; i++) {
        m->direct[i].first = m->ndirect;
        for (uint32_t e = record->nodes[i].edges; good && e != ORR_NONE;
             e = record->edges[e].next)
            good =
                add_pred(&m->direct_preds, &m->ndirect,
                         (struct pred){record->edges[e].before - record->first,
                                       false, record->edges[e].bytes});
        for (; good && t < ntags && tags[t].later == i; t++)
            good = add_pred(&m->direct_preds, &m->ndirect,
                            (struct pred){tags[t].earlier, true, 0});
        m->direct[i].n = m->ndirect - m->direct[i].first;
    }
    free(tags);
    for (uint32_t e = 0; good && e < m->ndirect; e++)
        m->nsuccs[m->direct_preds[e].node]++;
    return good ? 0 : -ENOMEM;
}

/* --- without joining nodes --- */

/* Nodes, each after all that it waits for; those of cycles come last, in any
 * order. Kahn from the end, then backwards. */
static void sort_nodes(struct maker *m)
{
    uint32_t at = 0;
    uint32_t *left = m->mark; /* not used yet */

    m->norder = 0;
    memcpy(left, m->nsuccs, m->n * sizeof(*left));
    for (uint32_t i = 0; i < m->n; i++)
        if (left[i] == 0)
            m->order[m->norder++] = i;
    for (; at < m->norder; at++) {
        const struct slice *slice = &m->direct[m->order[at]];

        for (uint32_t e = slice->first; e < slice->first + slice->n; e++)
            if (--left[m->direct_preds[e].node] == 0)
                m->order[m->norder++] = m->direct_preds[e].node;
    }
    for (uint32_t i = 0; i < m->norder / 2; i++) {
        uint32_t other = m->order[m->norder - 1 - i];

        m->order[m->norder - 1 - i] = m->order[i];
        m->order[i] = other;
    }
    for (uint32_t i = 0; i < m->n; i++)
        if (left[i] > 0)
            m->order[m->norder++] = i;
}

/* One more predecessor of the node whose list is being made; one that is there
 * already gets its bytes. */
static bool maker_merge_pred(struct maker *m, struct slice *list,
                             struct pred pred)
{
    uint32_t place = m->mark[pred.node];

    if (place >= list->first && place < m->npreds &&
        m->preds[place].node == pred.node) {
        m->preds[place].bytes += pred.bytes;
        m->preds[place].tag &= pred.tag;
        return true;
    }
    m->mark[pred.node] = m->npreds;
    return add_pred(&m->preds, &m->npreds, pred) != NULL;
}

/* What a node waits for in tasks, and in nodes that stay. */
static bool resolve(struct maker *m, uint32_t i)
{
    const struct slice *direct = &m->direct[i];
    struct slice *list = &m->all[i];
    bool good = true;

    list->first = m->npreds;
    for (uint32_t e = direct->first; good && e < direct->first + direct->n;
         e++) {
        struct pred pred = m->direct_preds[e];
        struct slice through = m->all[pred.node];

        if (m->stays[pred.node])
            good = maker_merge_pred(m, list, pred);
        for (uint32_t j = 0; good && !m->stays[pred.node] && j < through.n; j++)
            good = maker_merge_pred(
                m, list,
                (struct pred){m->preds[through.first + j].node, pred.tag, 0});
    }
    list->n = m->npreds - list->first;
    return good;
}

static int resolve_all(struct maker *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        m->stays[i] = is_task(m, i) || is_message(m, i);
    sort_nodes(m);
    memset(m->mark, 0xff, m->n * sizeof(*m->mark));
    for (uint32_t o = 0; o < m->n; o++) {
        uint32_t i = m->order[o];
        uint64_t p, s = m->nsuccs[i];

        if (!resolve(m, i))
            return -ENOMEM;
        p = m->all[i].n;
        if (!m->stays[i] && p * s > ORR_GRAPH_JOIN_RATIO * (p + s))
            m->stays[i] = true;
    }
    return 0;
}

/* --- the parts of the graph --- */

/* Tasks by their jobs' numbers, then what is none. */
struct placed {
    uint64_t id;
    uint32_t node;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static bool is_sorted(const struct placed *placed, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        if (compare_placed(&placed[i - 1], &placed[i]) > 0)
            return false;
    return true;
}

static int make_order(struct maker *m)
{
    struct placed *placed = calloc((size_t)m->n + 1, sizeof(*placed));
    unsigned n = 0;

    if (!placed)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->stays[i])
            placed[n++] = (struct placed){
                is_task(m, i) ? m->record->nodes[i].id : UINT64_MAX, i};
    if (!is_sorted(placed, n)) /* tasks mostly come in that order */
        qsort(placed, n, sizeof(*placed), compare_placed);
    memset(m->task_of, 0xff, m->n * sizeof(*m->task_of));
    for (unsigned t = 0; t < n; t++) {
        m->order[t] = placed[t].node;
        m->task_of[placed[t].node] = t;
    }
    m->graph->ntasks = n;
    free(placed);
    return 0;
}

static struct orr_graph_task_type *add_type(struct maker *m, const char *symbol)
{
    unsigned nworkers = m->graph->nworkers;
    struct orr_graph_task_type *type;

    type = orr_array_add(m->graph->types, m->graph->ntypes);
    if (!type)
        return NULL;
    *type = (struct orr_graph_task_type){
        .symbol = strdup(symbol),
        .mean_ms = calloc((size_t)nworkers + 1, sizeof(double)),
        .deviation_ms = calloc((size_t)nworkers + 1, sizeof(double)),
        .origin = calloc((size_t)nworkers + 1, sizeof(uint8_t)),
    };
    return type->symbol && type->mean_ms && type->deviation_ms && type->origin
               ? type
               : NULL;
}

static bool set_origin(struct maker *m, struct orr_graph_task_type *type,
                       unsigned worker, enum orr_origin origin)
{
    int number = origin == ORR_ORIGIN_UNKNOWN
                     ? 0
                     : orr_graph_origin(m->graph, orr_origin_name(origin));

    type->origin[worker] = (uint8_t)(number > 0 ? number : 0);
    return number >= 0;
}

static bool copy_awaited(const struct maker *m, struct orr_graph_task_type *type,
                         const struct orr_graph_type_record *from)
{
    unsigned nworkers = m->graph->nworkers;

    if (!from->awaits)
        return true;
    type->awaited = malloc((size_t)nworkers + 1);
    if (type->awaited)
        memcpy(type->awaited, from->awaited, nworkers);
    return type->awaited != NULL;
}

static struct orr_graph_task_type *copy_type(struct maker *m, uint32_t k)
{
    const struct orr_graph_type_record *from = m->record->types.all[k];
    struct orr_graph_task_type *type = add_type(m, from->symbol);

    if (!type)
        return NULL;
    type->footprint = from->footprint;
    type->flops = from->flops;
    type->unmodelled = from->unmodelled;
    if (!copy_awaited(m, type, from))
        return NULL;
    for (unsigned w = 0; w < m->graph->nworkers; w++) {
        type->mean_ms[w] = from->best[w] / 1e3;
        type->deviation_ms[w] = from->deviation[w] / 1e3;
        if (!set_origin(m, type, w, (enum orr_origin)from->origin[w]))
            return NULL;
        if (m->view == ORR_GRAPH_WINDOW) {
            type->mean_ms[w] = from->floor[w] / 1e3;
            type->deviation_ms[w] = 0;
        }
    }
    return type;
}

/* The number of the node's type; ORR_NONE without memory. Where a simulated
 * kernel was charged less than its type has, or where the type has no time, as
 * of kernels that are executed, the task is of a type of its own. */
static uint32_t maker_type(struct maker *m,
                           const struct orr_graph_node_record *node)
{
    const struct orr_graph_type_record *from = m->record->types.all[node->type];
    struct orr_graph_task_type *type;

    if (m->view == ORR_GRAPH_ALL && node->worker != ORR_NONE &&
        node->charged >= 0 && !(from->best[node->worker] <= node->charged)) {
        type = copy_type(m, node->type);
        if (!type)
            return ORR_NONE;
        type->mean_ms[node->worker] = node->charged / 1e3;
        return m->graph->ntypes - 1;
    }
    if (m->type_of[node->type] == ORR_NONE) {
        if (!copy_type(m, node->type))
            return ORR_NONE;
        m->type_of[node->type] = m->graph->ntypes - 1;
    }
    return m->type_of[node->type];
}

/* The type of a node that is no task, made with the first one; ORR_NONE without memory. */
static uint32_t other_type(struct maker *m, bool message)
{
    unsigned *type = message ? &m->message_type : &m->join_type;

    if (*type == ORR_NONE && add_type(m, message ? ORR_GRAPH_MESSAGE : ORR_GRAPH_JOIN))
        *type = m->graph->ntypes - 1;
    return *type;
}

/* ORR_NONE without memory. Room is there for all of the record's. */
static uint32_t maker_datum(struct maker *m, uint32_t d)
{
    const struct orr_graph_datum_record *from = &m->record->data[d];
    struct orr_graph_datum *datum;

    if (m->datum_of[d] != ORR_NONE)
        return m->datum_of[d];
    datum = &m->graph->data[m->graph->ndata];
    *datum = (struct orr_graph_datum){from->name ? strdup(from->name) : NULL,
                                      from->bytes, from->home, from->valued};
    if (from->name && !datum->name)
        return ORR_NONE;
    return m->datum_of[d] = m->graph->ndata++;
}

static bool maker_add_accesses(struct maker *m, struct orr_graph_task *task,
                               const struct orr_graph_node_record *node)
{
    task->first_access = m->graph->naccesses;
    for (uint32_t i = 0; i < node->naccesses; i++) {
        const struct orr_graph_access *from =
            &m->record->accesses[node->first_access + i];
        uint32_t d = maker_datum(m, from->datum);

        if (d == ORR_NONE)
            return false;
        m->graph->accesses[m->graph->naccesses++] =
            (struct orr_graph_access){d, from->mode};
        task->naccesses++;
    }
    return true;
}

/* Of tasks that the view does not have nothing is known. */
static void add_submitter(const struct maker *m, struct orr_graph_task *task,
                          unsigned t, const struct orr_graph_node_record *node)
{
    uint32_t outer;

    task->by = node->by;
    task->submitter = node->by == ORR_GRAPH_BY_THREAD ? node->submitter : 0;
    if (node->by != ORR_GRAPH_BY_TASK)
        return;
    outer = m->task_of[node->submitter - m->record->first];
    if (outer != ORR_NONE && outer < t)
        task->submitter = outer;
    else
        task->by = ORR_GRAPH_BY_OTHER;
}

static int compare_deps(const void *a, const void *b)
{
    const struct orr_graph_dep *x = a, *y = b;

    return (x->task > y->task) - (x->task < y->task);
}

static void add_deps(struct maker *m, struct orr_graph_task *task, uint32_t i)
{
    const struct slice *list = &m->all[i];

    task->first_dep = m->graph->ndeps;
    task->ndeps = list->n;
    for (uint32_t e = list->first; e < list->first + list->n; e++)
        m->graph->deps[m->graph->ndeps++] = (struct orr_graph_dep){
            m->task_of[m->preds[e].node], m->preds[e].bytes, m->preds[e].tag};
    if (task->ndeps > 1)
        qsort(&m->graph->deps[task->first_dep], task->ndeps,
              sizeof(*m->graph->deps), compare_deps);
}

static bool maker_add_task(struct maker *m, unsigned t, double begin,
                           uint64_t *join)
{
    const struct orr_graph_node_record *node = &m->record->nodes[m->order[t]];
    struct orr_graph_task *task = &m->graph->tasks[t];

    *task = (struct orr_graph_task){
        .id = node->id,
        .tag = node->tag,
        .has_tag = node->has_tag,
        .priority = node->priority,
        .colour = node->colour,
        .worker = ORR_GRAPH_NOT_RUN,
        .start_ms = NAN,
        .end_ms = NAN,
    };
    add_deps(m, task, m->order[t]);
    if (is_task(m, m->order[t]))
        add_submitter(m, task, t, node);
    if (!is_task(m, m->order[t])) {
        task->id = (*join)++;
        task->type = other_type(m, is_message(m, m->order[t]));
        task->by = is_message(m, m->order[t]) ? ORR_GRAPH_BY_OTHER : ORR_GRAPH_BY_THREAD;
        return task->type != ORR_NONE && maker_add_accesses(m, task, node);
    }
    if (node->worker != ORR_NONE) {
        task->worker = node->worker;
        task->start_ms = fmax(0, (node->start - begin) / 1e3);
        task->end_ms = fmax(task->start_ms, (node->end - begin) / 1e3);
        m->graph->makespan_ms = fmax(m->graph->makespan_ms, task->end_ms);
    }
    task->type = maker_type(m, node);
    return task->type != ORR_NONE && maker_add_accesses(m, task, node);
}

static int compare_message_tasks(const void *a, const void *b)
{
    const struct orr_graph_message *x = a, *y = b;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->peer > y->peer) - (x->peer < y->peer);
}

/* A turn sends one message to a rank at most. */
static int make_messages(struct maker *m)
{
    const struct orr_graph_record *record = m->record;
    struct orr_graph *graph = m->graph;

    graph->messages = calloc((size_t)record->nmessages + 1, sizeof(*graph->messages));
    if (!graph->messages)
        return -ENOMEM;
    for (uint32_t i = 0; m->view == ORR_GRAPH_ALL && i < record->nmessages; i++) {
        struct orr_graph_message *to = &graph->messages[graph->nmessages++];

        *to = record->messages[i].message;
        to->task = m->task_of[record->messages[i].node - record->first];
    }
    qsort(graph->messages, graph->nmessages, sizeof(*graph->messages), compare_message_tasks);
    return 0;
}

static int make_tasks(struct maker *m)
{
    const struct orr_graph_record *record = m->record;
    struct orr_graph *graph = m->graph;
    double begin = atomic_load(&record->runtime->views->first_submit);
    uint64_t join = atomic_load(&record->runtime->tasks->last_job) + 1;
    unsigned ndeps = 0;

    for (unsigned t = 0; t < graph->ntasks; t++)
        ndeps += m->all[m->order[t]].n;
    graph->tasks = calloc((size_t)graph->ntasks + 1, sizeof(*graph->tasks));
    graph->deps = calloc((size_t)ndeps + 1, sizeof(*graph->deps));
    graph->data = calloc((size_t)record->ndata + 1, sizeof(*graph->data));
    graph->accesses =
        calloc((size_t)record->naccesses + 1, sizeof(*graph->accesses));
    if (!graph->tasks || !graph->deps || !graph->data || !graph->accesses)
        return -ENOMEM;
    for (unsigned t = 0; t < graph->ntasks; t++)
        if (!maker_add_task(m, t, begin, &join))
            return -ENOMEM;
    return 0;
}

/* --- the machine --- */

/* The platform's links, else a link for each direct pair. */
static int make_links(struct orr_graph *graph, const struct orr_machine *from)
{
    size_t nlinks = from->nlinks, nhops = 0;

    for (unsigned r = 0; r < from->nroutes; r++)
        nhops += from->routes[r].nlinks;
    graph->links = calloc(nlinks + 1, sizeof(*graph->links));
    graph->routes = calloc((size_t)from->nroutes + 1, sizeof(*graph->routes));
    graph->route_links = calloc(nhops + 1, sizeof(*graph->route_links));
    if (!graph->links || !graph->routes || !graph->route_links)
        return -ENOMEM;
    for (unsigned l = 0; l < from->nlinks; l++) {
        graph->links[l] = (struct orr_graph_link){
            strdup(from->links[l].name), from->links[l].bandwidth * 1e3};
        graph->nlinks++;
        if (!graph->links[l].name)
            return -ENOMEM;
    }
    for (unsigned r = 0; r < from->nroutes; r++) {
        const struct orr_machine_route *route = &from->routes[r];

        graph->routes[r] = (struct orr_graph_route){
            route->src, route->dst, graph->nroute_links, route->nlinks,
            route->latency / 1e3};
        for (unsigned i = 0; i < route->nlinks; i++)
            graph->route_links[graph->nroute_links++] =
                from->route_links[route->first_link + i];
        graph->nroutes++;
    }
    return 0;
}

static int make_pairs(struct orr_graph *graph, const struct orr_machine *from)
{
    unsigned n = from->nnodes;
    size_t pairs = (size_t)n * n;
    char name[80];

    graph->links = calloc(pairs, sizeof(*graph->links));
    graph->routes = calloc(pairs, sizeof(*graph->routes));
    graph->route_links = calloc(pairs, sizeof(*graph->route_links));
    if (!graph->links || !graph->routes || !graph->route_links)
        return -ENOMEM;
    for (size_t i = 0; i < pairs; i++) {
        unsigned l = graph->nlinks, src = (unsigned)i / n, dst = (unsigned)i % n;
        size_t pair = orr_machine_pair(from, src, dst);

        if (!from->direct[pair] || src == dst || !(from->bandwidth[pair] > 0))
            continue;
        snprintf(name, sizeof(name), "%s to %s", from->nodes[src].name,
                 from->nodes[dst].name);
        graph->links[l] =
            (struct orr_graph_link){strdup(name), from->bandwidth[pair] * 1e3};
        graph->routes[l] = (struct orr_graph_route){
            src, dst, l, 1,
            from->latency[pair] > 0 ? from->latency[pair] / 1e3 : 0};
        graph->route_links[l] = l;
        graph->nlinks = graph->nroutes = graph->nroute_links = l + 1;
        if (!graph->links[l].name)
            return -ENOMEM;
    }
    return 0;
}

/* "measured but for pcie.bandwidth (set)"; NULL: not known. */
static int make_figures(struct orr_graph *graph, const struct orr_machine *from)
{
    const char *but = from->not_measured;

    if (from->provenance && asprintf(&graph->figures, "%s%s%s", from->provenance,
                                     but ? " but for " : "", but ? but : "") < 0) {
        graph->figures = NULL;
        return -ENOMEM;
    }
    return 0;
}

static int make_machine(struct orr_graph *graph, const struct orr_machine *from)
{
    graph->machine = strdup(from->name);
    graph->simulated = from->exec->virtual_time;
    graph->nodes = calloc((size_t)from->nnodes + 1, sizeof(*graph->nodes));
    graph->workers =
        calloc((size_t)from->nworkers + 1, sizeof(*graph->workers));
    if (make_figures(graph, from) || !graph->machine || !graph->nodes ||
        !graph->workers)
        return -ENOMEM;
    graph->nnodes = from->nnodes;
    graph->nworkers = from->nworkers;
    for (unsigned n = 0; n < from->nnodes; n++) {
        graph->nodes[n].name = strdup(from->nodes[n].name);
        graph->nodes[n].capacity = from->nodes[n].capacity
                                       ? (double)from->nodes[n].capacity
                                       : (double)INFINITY;
        if (!graph->nodes[n].name)
            return -ENOMEM;
    }
    for (unsigned w = 0; w < from->nworkers; w++) {
        graph->workers[w].name = strdup(from->workers[w].name);
        graph->workers[w].node = from->workers[w].node;
        if (!graph->workers[w].name)
            return -ENOMEM;
    }
    return from->routes ? make_links(graph, from) : make_pairs(graph, from);
}

/* --- what the runtime takes --- */

/* A thread's task that was not ready at once without predecessors waited for what the
 * graph does not have. */
static bool roots_were_ready(const struct maker *m)
{
    for (unsigned t = 0; t < m->graph->ntasks; t++)
        if (m->graph->tasks[t].ndeps == 0 && is_task(m, m->order[t]) &&
            m->graph->tasks[t].by == ORR_GRAPH_BY_THREAD && !m->record->nodes[m->order[t]].ready)
            return false;
    return true;
}

static void make_costs(struct maker *m)
{
    const struct orr_machine *machine = m->record->runtime->machine;
    const struct orr_costs *costs = &machine->costs;

    for (unsigned w = 0; w < machine->nworkers; w++)
        m->graph->workers[w].blocking = !machine->workers[w].async &&
                                        machine->workers[w].pipeline <= 1;
    if (!machine->exec->virtual_time || !m->record->tells ||
        m->view != ORR_GRAPH_ALL)
        return;
    m->graph->costs = (struct orr_graph_costs){
        .submit_ms = costs->submit / 1e3,
        .submit_access_ms = costs->submit_per_buffer / 1e3,
        .submit_ready_ms =
            !m->record->late && roots_were_ready(m) ? costs->push / 1e3 : 0,
        .push_ms = m->record->late ? 0 : costs->push / 1e3,
        .progress_ms = costs->progress / 1e3,
        .fetch_ms = costs->fetch / 1e3,
        .queue_ms = costs->kernel_queue / 1e3,
    };
}

/* --- all of it --- */

static int maker_make_locked(struct maker *m)
{
    const struct orr_graph_record *record = m->record;
    size_t n = (size_t)m->n + 1;
    int rc = make_machine(m->graph, record->runtime->machine);

    if (rc)
        return rc;
    m->direct = calloc(n, sizeof(*m->direct));
    m->all = calloc(n, sizeof(*m->all));
    m->nsuccs = calloc(n, sizeof(*m->nsuccs));
    m->mark = calloc(n, sizeof(*m->mark));
    m->order = calloc(n, sizeof(*m->order));
    m->task_of = calloc(n, sizeof(*m->task_of));
    m->stays = calloc(n, sizeof(*m->stays));
    m->type_of = malloc(((size_t)record->types.n + 1) * sizeof(*m->type_of));
    m->datum_of = malloc(((size_t)record->ndata + 1) * sizeof(*m->datum_of));
    if (!m->direct || !m->all || !m->nsuccs || !m->mark || !m->order ||
        !m->task_of || !m->stays || !m->type_of || !m->datum_of)
        return -ENOMEM;
    memset(m->type_of, 0xff, record->types.n * sizeof(*m->type_of));
    memset(m->datum_of, 0xff, record->ndata * sizeof(*m->datum_of));
    rc = collect_direct(m);
    if (!rc)
        rc = resolve_all(m);
    if (!rc)
        rc = make_order(m);
    if (!rc)
        rc = make_tasks(m);
    if (!rc)
        rc = make_messages(m);
    if (!rc)
        make_costs(m);
    return rc;
}

static void maker_done(struct maker *m)
{
    free(m->direct);
    free(m->direct_preds);
    free(m->all);
    free(m->preds);
    free(m->nsuccs);
    free(m->mark);
    free(m->order);
    free(m->task_of);
    free(m->stays);
    free(m->type_of);
    free(m->datum_of);
}

int orr_graph_record_make_of(struct orr_graph_record *record,
                             enum orr_graph_view view, struct orr_graph **ret,
                             struct orr_error *err)
{
    struct maker m = {.record = record,
                      .view = view,
                      .join_type = ORR_NONE,
                      .message_type = ORR_NONE,
                      .graph = calloc(1, sizeof(*m.graph))};
    struct orr_error message = {""};
    int rc = m.graph ? 0 : -ENOMEM;

    if (!rc) {
        m.graph->makespan_ms = NAN;
        /* Only contexts that submit tasks in the meantime wait for this. */
        if (record) {
            orr_lock(&record->lock);
            orr_graph_record_settle(record);
            m.n = record->nnodes;
            rc = maker_make_locked(&m);
            orr_unlock(&record->lock);
        }
    }
    maker_done(&m);
    /* That of a whole run may be empty. */
    if (!rc && m.graph->ntasks == 0 &&
        !(view == ORR_GRAPH_ALL && record && record->tells))
        rc = orr_fail(&message, -ENODATA, "no task was recorded");
    if (!rc)
        rc = orr_graph_check(m.graph, &message);
    if (rc) {
        orr_graph_free(m.graph);
        return orr_fail(err, rc, "%s",
                        message.text[0] ? message.text : strerror(-rc));
    }
    *ret = m.graph;
    return 0;
}

int orr_graph_record_make(struct orr_runtime *rt, enum orr_graph_view view,
                          struct orr_graph **ret, struct orr_error *err)
{
    return orr_graph_record_make_of(atomic_load(&rt->views->graph), view, ret,
                                    err);
}

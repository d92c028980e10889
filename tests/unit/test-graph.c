/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-graph.c - graphs: what is sound, and their text, which holds
 * them to the last bit. Seeded. One thread.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/graph_text.h"
#include "tests/rng.h"
#include "tests/unit/perfmodel_util.h"

/* --- graphs to begin with --- */

static double number(uint64_t *rng)
{
    static const double odd[] = {0, 1, 0.1, 1e-300, 5e-324, 1.7976931e308};
    unsigned i = (unsigned)(rng_next(rng) % 12);

    return i < 6 ? odd[i] : rng_uniform(rng) * 1e3;
}

static char *name(uint64_t *rng)
{
    static const char *const names[] = {"",        "CUDA 0.0 (H100 \"PCIe\")",
                                        "a\\b\tc", "\n\r\x01\x7f",
                                        "# no",    "Pajé"};

    return strdup(names[rng_next(rng) % 6]);
}

static unsigned count(uint64_t *rng, unsigned most)
{
    return (unsigned)(rng_next(rng) % (most + 1));
}

static void add_machine(struct orr_graph *graph, uint64_t *rng)
{
    graph->machine = count(rng, 1) ? name(rng) : NULL;
    graph->simulated = count(rng, 1);
    graph->makespan_ms = count(rng, 3) ? number(rng) : (double)NAN;
    if (count(rng, 1))
        graph->costs = (struct orr_graph_costs){
            0.25 * count(rng, 5), 0.25 * count(rng, 5), 0.5, 0.125,
            0.25 * count(rng, 5), 0.25 * count(rng, 5), 0.25 * count(rng, 5)};
    graph->nnodes = 1 + count(rng, 3);
    graph->nodes = calloc(graph->nnodes, sizeof(*graph->nodes));
    for (unsigned n = 0; n < graph->nnodes; n++)
        graph->nodes[n] = (struct orr_graph_node){
            name(rng), count(rng, 1) ? number(rng) : (double)INFINITY};
    graph->nworkers = count(rng, 5);
    graph->workers = calloc(graph->nworkers + 1, sizeof(*graph->workers));
    for (unsigned w = 0; w < graph->nworkers; w++)
        graph->workers[w] =
            (struct orr_graph_worker){name(rng), count(rng, graph->nnodes - 1),
                                      count(rng, 1) != 0};
    graph->nlinks = 1 + count(rng, 3);
    graph->links = calloc(graph->nlinks, sizeof(*graph->links));
    for (unsigned l = 0; l < graph->nlinks; l++)
        graph->links[l] = (struct orr_graph_link){name(rng), 1 + number(rng)};
    graph->nroutes = count(rng, 4);
    graph->routes = calloc(graph->nroutes + 1, sizeof(*graph->routes));
    graph->route_links = calloc(13, sizeof(*graph->route_links));
    for (unsigned r = 0; r < graph->nroutes; r++) {
        unsigned n = count(rng, 3);

        graph->routes[r] = (struct orr_graph_route){
            count(rng, graph->nnodes - 1), count(rng, graph->nnodes - 1),
            graph->nroute_links, n, number(rng)};
        while (n-- > 0)
            graph->route_links[graph->nroute_links++] =
                count(rng, graph->nlinks - 1);
    }
}

static const char *const origins[] = {"", "derived", "measured"};

static void add_types(struct orr_graph *graph, uint64_t *rng)
{
    graph->ntypes = 1 + count(rng, 3);
    graph->types = calloc(graph->ntypes, sizeof(*graph->types));
    for (unsigned k = 0; k < graph->ntypes; k++) {
        struct orr_graph_task_type *type = &graph->types[k];

        *type = (struct orr_graph_task_type){
            .symbol = name(rng),
            .unmodelled = k % 3 == 1,
            .footprint = (uint32_t)rng_next(rng),
            .flops = number(rng),
            .mean_ms = calloc(graph->nworkers + 1, sizeof(double)),
            .deviation_ms = calloc(graph->nworkers + 1, sizeof(double)),
        };
        for (unsigned w = 0; w < graph->nworkers; w++) {
            unsigned i = count(rng, 4);

            type->mean_ms[w] = i == 0   ? (double)NAN
                               : i == 1 ? (double)INFINITY
                               : i == 2 ? 1.5
                                        : number(rng);
            type->deviation_ms[w] = count(rng, 1) ? number(rng) : 0;
        }
        if (count(rng, 1)) {
            type->awaited = calloc(graph->nworkers + 1, sizeof(*type->awaited));
            for (unsigned w = 0; w < graph->nworkers; w++)
                type->awaited[w] = (uint8_t)count(rng, 1);
        }
        if (count(rng, 1))
            continue;
        type->origin = calloc(graph->nworkers + 1, sizeof(*type->origin));
        for (unsigned w = 0; w < graph->nworkers; w++)
            type->origin[w] =
                (uint8_t)orr_graph_origin(graph, origins[count(rng, 2)]);
    }
    graph->ndata = 1 + count(rng, 3);
    graph->data = calloc(graph->ndata, sizeof(*graph->data));
    for (unsigned d = 0; d < graph->ndata; d++)
        graph->data[d] = (struct orr_graph_datum){
            count(rng, 1) ? name(rng) : NULL, number(rng),
            count(rng, graph->nnodes - 1), count(rng, 1)};
}

static void add_submitter(struct orr_graph_task *task, uint64_t *rng, unsigned t)
{
    task->by = (enum orr_graph_by)count(rng, 2);
    if (task->by == ORR_GRAPH_BY_TASK && t == 0)
        task->by = ORR_GRAPH_BY_OTHER;
    if (task->by != ORR_GRAPH_BY_OTHER)
        task->submitter = count(rng, t ? t - 1 : 0);
}

static void add_task(struct orr_graph *graph, uint64_t *rng, unsigned t)
{
    struct orr_graph_task *task = &graph->tasks[t];

    *task = (struct orr_graph_task){
        .type = count(rng, graph->ntypes - 1),
        .id = rng_next(rng),
        .tag = rng_next(rng),
        .has_tag = count(rng, 1),
        .priority = (int)(uint32_t)rng_next(rng),
        .first_dep = graph->ndeps,
        .ndeps = t ? count(rng, 3) : 0,
        .first_access = graph->naccesses,
        .naccesses = count(rng, 3),
        .worker = graph->nworkers && count(rng, 1)
                      ? count(rng, graph->nworkers - 1)
                      : ORR_GRAPH_NOT_RUN,
        .start_ms = NAN,
        .end_ms = NAN,
    };
    add_submitter(task, rng, t);
    if (!task->has_tag)
        task->tag = 0;
    if (task->worker != ORR_GRAPH_NOT_RUN) {
        task->start_ms = number(rng);
        task->end_ms = task->start_ms + number(rng);
        if (isinf(task->end_ms))
            task->end_ms = task->start_ms;
    }
    for (unsigned i = 0; i < task->ndeps; i++)
        graph->deps[graph->ndeps++] = (struct orr_graph_dep){
            count(rng, t - 1), rng_next(rng), count(rng, 1)};
    for (unsigned i = 0; i < task->naccesses; i++)
        graph->accesses[graph->naccesses++] = (struct orr_graph_access){
            count(rng, graph->ndata - 1), 1 + count(rng, 2)};
}

static struct orr_graph *random_graph(uint64_t seed)
{
    uint64_t rng = rng_of(seed);
    struct orr_graph *graph = calloc(1, sizeof(*graph));

    ck_assert_ptr_nonnull(graph);
    add_machine(graph, &rng);
    add_types(graph, &rng);
    graph->ntasks = count(&rng, 8);
    graph->tasks = calloc(graph->ntasks + 1, sizeof(*graph->tasks));
    graph->deps = calloc(3 * graph->ntasks + 1, sizeof(*graph->deps));
    graph->accesses = calloc(3 * graph->ntasks + 1, sizeof(*graph->accesses));
    for (unsigned t = 0; t < graph->ntasks; t++)
        add_task(graph, &rng, t);
    return graph;
}

/* --- the text --- */

static char *text_of(const struct orr_graph *graph)
{
    size_t size;
    char *text;
    FILE *f = open_memstream(&text, &size);

    ck_assert_int_eq(orr_graph_write(graph, f), 0);
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

static int parse(const char *text, struct orr_graph **ret,
                 struct orr_error *err)
{
    FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    int rc;

    ck_assert_ptr_nonnull(f);
    rc = orr_graph_read(f, "g", ret, err);
    fclose(f);
    return rc;
}

/* Two doubles are the same, NaN being equal to NaN. */
static void same(double a, double b)
{
    ck_assert(memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b)));
}

static void same_name(const char *a, const char *b)
{
    ck_assert_int_eq(!a, !b);
    if (a)
        ck_assert_str_eq(a, b);
}

static void same_places(const struct orr_graph *a, const struct orr_graph *b)
{
    same_name(a->machine, b->machine);
    ck_assert_int_eq(a->simulated, b->simulated);
    same(a->makespan_ms, b->makespan_ms);
    same(a->costs.submit_ms, b->costs.submit_ms);
    same(a->costs.submit_access_ms, b->costs.submit_access_ms);
    same(a->costs.submit_ready_ms, b->costs.submit_ready_ms);
    same(a->costs.push_ms, b->costs.push_ms);
    same(a->costs.progress_ms, b->costs.progress_ms);
    same(a->costs.fetch_ms, b->costs.fetch_ms);
    same(a->costs.queue_ms, b->costs.queue_ms);
    ck_assert_uint_eq(a->nnodes, b->nnodes);
    for (unsigned n = 0; n < a->nnodes; n++) {
        same_name(a->nodes[n].name, b->nodes[n].name);
        same(a->nodes[n].capacity, b->nodes[n].capacity);
    }
    ck_assert_uint_eq(a->nworkers, b->nworkers);
    for (unsigned w = 0; w < a->nworkers; w++) {
        same_name(a->workers[w].name, b->workers[w].name);
        ck_assert_uint_eq(a->workers[w].node, b->workers[w].node);
        ck_assert_int_eq(a->workers[w].blocking, b->workers[w].blocking);
    }
    ck_assert_uint_eq(a->nlinks, b->nlinks);
    for (unsigned l = 0; l < a->nlinks; l++) {
        same_name(a->links[l].name, b->links[l].name);
        same(a->links[l].bandwidth, b->links[l].bandwidth);
    }
    ck_assert_uint_eq(a->nroutes, b->nroutes);
    ck_assert_uint_eq(a->nroute_links, b->nroute_links);
    for (unsigned r = 0; r < a->nroutes; r++)
        ck_assert_mem_eq(&a->routes[r], &b->routes[r], sizeof(a->routes[r]));
    if (a->nroute_links)
        ck_assert_mem_eq(a->route_links, b->route_links,
                         a->nroute_links * sizeof(*a->route_links));
}

static void same_types(const struct orr_graph *a, const struct orr_graph *b)
{
    ck_assert_uint_eq(a->ntypes, b->ntypes);
    for (unsigned k = 0; k < a->ntypes; k++) {
        same_name(a->types[k].symbol, b->types[k].symbol);
        ck_assert_uint_eq(a->types[k].unmodelled, b->types[k].unmodelled);
        ck_assert_uint_eq(a->types[k].footprint, b->types[k].footprint);
        same(a->types[k].flops, b->types[k].flops);
        for (unsigned w = 0; w < a->nworkers; w++) {
            same(a->types[k].mean_ms[w], b->types[k].mean_ms[w]);
            same(a->types[k].deviation_ms[w], b->types[k].deviation_ms[w]);
            ck_assert_str_eq(orr_graph_origin_of(a, &a->types[k], w),
                             orr_graph_origin_of(b, &b->types[k], w));
            ck_assert_int_eq(a->types[k].awaited && a->types[k].awaited[w],
                             b->types[k].awaited && b->types[k].awaited[w]);
        }
    }
    ck_assert_uint_eq(a->ndata, b->ndata);
    for (unsigned d = 0; d < a->ndata; d++) {
        same_name(a->data[d].name, b->data[d].name);
        same(a->data[d].bytes, b->data[d].bytes);
        ck_assert_uint_eq(a->data[d].home, b->data[d].home);
        ck_assert_int_eq(a->data[d].valued, b->data[d].valued);
    }
}

static void same_tasks(const struct orr_graph *a, const struct orr_graph *b)
{
    ck_assert_uint_eq(a->ntasks, b->ntasks);
    ck_assert_uint_eq(a->ndeps, b->ndeps);
    ck_assert_uint_eq(a->naccesses, b->naccesses);
    for (unsigned t = 0; t < a->ntasks; t++) {
        const struct orr_graph_task *s = &a->tasks[t], *u = &b->tasks[t];

        ck_assert_uint_eq(s->type, u->type);
        ck_assert(s->id == u->id && s->tag == u->tag);
        ck_assert_int_eq(s->has_tag, u->has_tag);
        ck_assert_int_eq(s->priority, u->priority);
        ck_assert_int_eq(s->by, u->by);
        ck_assert_uint_eq(s->submitter, u->submitter);
        ck_assert_uint_eq(s->first_dep, u->first_dep);
        ck_assert_uint_eq(s->ndeps, u->ndeps);
        ck_assert_uint_eq(s->first_access, u->first_access);
        ck_assert_uint_eq(s->naccesses, u->naccesses);
        ck_assert_uint_eq(s->worker, u->worker);
        same(s->start_ms, u->start_ms);
        same(s->end_ms, u->end_ms);
    }
    for (unsigned i = 0; i < a->ndeps; i++)
        ck_assert(a->deps[i].task == b->deps[i].task &&
                  a->deps[i].bytes == b->deps[i].bytes &&
                  a->deps[i].tag == b->deps[i].tag);
    for (unsigned i = 0; i < a->naccesses; i++)
        ck_assert(a->accesses[i].datum == b->accesses[i].datum &&
                  a->accesses[i].mode == b->accesses[i].mode);
}

START_TEST(what_is_written_is_read_again_to_the_last_bit)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct orr_graph *graph = random_graph(seed), *again = NULL;
        struct orr_error err = {""};
        char *text, *twice;

        ck_assert_msg(orr_graph_check(graph, &err) == 0, "%s", err.text);
        text = text_of(graph);
        ck_assert_msg(parse(text, &again, &err) == 0, "%s in\n%s", err.text,
                      text);
        same_places(graph, again);
        same_types(graph, again);
        same_tasks(graph, again);
        twice = text_of(again);
        ck_assert_str_eq(text, twice);
        free(text);
        free(twice);
        orr_graph_free(graph);
        orr_graph_free(again);
    }
}
END_TEST

START_TEST(messages_stand_behind_the_turns_that_have_them)
{
    static const char text[] =
        "orrery-graph 1\nrun simulated nan\nnode \"RAM\" inf\n"
        "kind \"k\" 0 0\nkind \"(message)\" 0 0\ntask 0 1 0\ntask 1 2 0 by -\n"
        "after 0 8\nmessage sent 1 -7 3 800\nmessage sent 2 -7 0 800 early\n"
        "task 1 3 0 by -\nmessage received 3 9223372036854775807 1 0\nend\n";
    struct orr_graph *graph = NULL;
    struct orr_error err = {""};
    char *again;

    ck_assert_msg(parse(text, &graph, &err) == 0, "%s", err.text);
    ck_assert_uint_eq(graph->nmessages, 3);
    ck_assert(graph->messages[1].task == 1 && graph->messages[1].peer == 2 &&
              graph->messages[1].tag == -7 && graph->messages[1].early &&
              graph->messages[1].bytes == 800 && !graph->messages[1].received);
    ck_assert(graph->messages[2].received && graph->messages[2].number == 1);
    ck_assert(orr_graph_is_task(graph, 0) && !orr_graph_is_task(graph, 1));
    again = text_of(graph);
    ck_assert_str_eq(text, again);
    free(again);
    orr_graph_free(graph);
    ck_assert_int_eq(parse("orrery-graph 1\nrun real nan\nkind \"k\" 0 0\ntask 0 1 0\n"
                           "message sent 1 0 0 0\nend\n", &graph, &err), -EINVAL);
    ck_assert_int_eq(parse("orrery-graph 1\nrun real nan\nkind \"(message)\" 0 0\n"
                           "task 0 1 0\nmessage lost 1 0 0 0\nend\n", &graph, &err), -EINVAL);
}
END_TEST

START_TEST(the_text_does_not_depend_on_the_locale)
{
    struct orr_graph *graph = random_graph(7), *again = NULL;
    char *text = text_of(graph), *other;

    if (suite_comma_locale() == 0) {
        other = text_of(graph);
        ck_assert_str_eq(text, other);
        ck_assert_int_eq(parse(text, &again, NULL), 0);
        free(other);
    }
    free(text);
    orr_graph_free(graph);
    orr_graph_free(again);
}
END_TEST

START_TEST(comments_blank_lines_and_a_missing_last_newline_are_read)
{
    struct orr_graph *graph = NULL;
    struct orr_error err = {""};

    ck_assert_msg(parse("orrery-graph 1\r\n# hello\n\n \t\nrun real nan\n"
                        "  node \"n\"\tinf # \n",
                        &graph, &err) == -EINVAL,
                  "a comment may not follow something");
    ck_assert_msg(parse("orrery-graph 1\r\n# hello\n\n \t\nrun real nan\r\n"
                        "  node \"n\"\tinf\nend",
                        &graph, &err) == 0,
                  "%s", err.text);
    ck_assert_uint_eq(graph->nnodes, 1);
    orr_graph_free(graph);
}
END_TEST

#define HEAD "orrery-graph 1\nrun real 3\nnode \"m\" inf\nworker \"c\" 0\n"
#define KIND HEAD "kind \"k\" 1f 0 1 2 0\n"
#define TASK KIND "datum 0 new 8\ntask 0 1 0\n"

static const struct {
    const char *text, *message;
} refusals[] = {
    {"", "g:1: this is no graph"},
    {"digraph {\n", "g:1: this is no graph"},
    {"orrery-graph 2\nend\n", "g:1: version \"2\""},
    {"orrery-graph\n", "g:1: version \"\""},
    {"orrery-graph 1 1\n", "g:1: \"1\" is too much"},
    {"orrery-graph 1\nend\n", "g:2: the line of the run is missing"},
    {HEAD, "g:5: the text is cut off"},
    {HEAD "end\nnode \"n\" 0\n", "g:6: \"node\" after the end"},
    {HEAD "nodes \"n\" 0\n", "g:5: \"nodes\" is no keyword"},
    {HEAD "run real 3\n", "g:5: a second run"},
    {"orrery-graph 1\nrun\n", "g:2: a run is"},
    {"orrery-graph 1\nrun virtual 3\n", "g:2: a run is"},
    {"orrery-graph 1\nrun real\n", "g:2: the makespan is missing"},
    {"orrery-graph 1\nrun real -1\n", "g:2: makespan: -1 is negative"},
    {"orrery-graph 1\nrun real inf\n", "g:2: makespan: inf is not finite"},
    {"orrery-graph 1\nrun real 1,5\n", "g:2: makespan: \"1,5\" is no number"},
    {HEAD "machine x\n", "g:5: the name of the machine is missing"},
    {HEAD "machine \"x\n", "g:5: the name of the machine has no closing"},
    {HEAD "machine \"x\"y\n", "g:5: no blank follows"},
    {HEAD "machine \"\\n\"\n", "g:5: the name of the machine has a \\"},
    {HEAD "machine \"\\x00\"\n", "g:5: the name of the machine has a \\"},
    {HEAD "machine \"x\\", "g:5: the name of the machine has a \\"},
    {HEAD "machine \"x\"\nmachine \"y\"\n", "g:6: a second machine"},
    {HEAD "node \"n\" nan\n", "g:5: the capacity cannot be unknown"},
    {HEAD "node \"n\" -1\n", "g:5: capacity: -1 is negative"},
    {HEAD "node \"n\"\n", "g:5: the capacity is missing"},
    {HEAD "worker \"w\" 1\n", "g:5: memory node 1 does not exist"},
    {HEAD "worker \"w\" -1\n", "g:5: memory node: \"-1\" is no number"},
    {HEAD "worker \"w\" 99999999999999999999\n", "g:5: memory node: 999"},
    {KIND "worker \"w\" 0\n", "g:6: workers must come before task types"},
    {HEAD "link \"l\" 0\n", "g:5: the bandwidth cannot be 0"},
    {HEAD "link \"l\" -2\n", "g:5: bandwidth: -2 is negative"},
    {HEAD "route 0 1 0\n", "g:5: memory node 1 does not exist"},
    {HEAD "route 0 0 -1\n", "g:5: latency: -1 is negative"},
    {HEAD "route 0 0 0 0\n", "g:5: link 0 does not exist"},
    {HEAD "kind \"k\" xyz 0\n", "g:5: footprint: \"xyz\" is no hexadecimal"},
    {HEAD "kind \"k\" 1ffffffff 0\n", "g:5: footprint: 1ffffffff is too large"},
    {HEAD "kind \"k\" 1 nan\n", "g:5: the number of flop cannot be unknown"},
    {HEAD "kind \"k\" 1 0\n", "g:5: the number of workers is missing"},
    {HEAD "kind \"k\" 1 0 2 1 0\n", "g:5: number of workers: 2 is too large"},
    {HEAD "kind \"k\" 1 0 4294967297 1 0\n", "g:5: number of workers: 42949"},
    {HEAD "kind \"k\" 1 0 0 1 0\n", "g:5: times of 0 workers"},
    {HEAD "kind \"k\" 1 0 1 -1 0\n", "g:5: mean: -1 is negative"},
    {HEAD "kind \"k\" 1 0 1 1 nan\n", "g:5: the deviation cannot be unknown"},
    {HEAD "kind \"k\" 1 0 1 1 0 1 1 0\n", "g:5: \"1\" is too much"},
    {HEAD "about\n", "g:5: the word for what is told of the run is missing"},
    {HEAD "about \"x\"\n", "g:5: the text about the run is missing"},
    {HEAD "about \"x\" \"y\" \"z\"\n", "g:5: \"\"z\"\" is too much"},
    {HEAD "unmodelled\n", "g:5: \"unmodelled\" stands behind a task type"},
    {KIND "unmodelled 1\n", "g:6: \"1\" is too much"},
    {HEAD "from 1 derived\n", "g:5: origins of times stand behind a task type"},
    {KIND "from 2 derived\n", "g:6: number of workers: 2 is too large"},
    {KIND "from 0 derived\n", "g:6: an origin of 0 workers"},
    {KIND "from 1\n", "g:6: the origin of the times is missing"},
    {KIND "from 1 derived 1 -\n", "g:6: \"1\" is too much"},
    {KIND "from 1 -\nfrom 1 -\n", "g:7: a second line of origins"},
    {HEAD "awaited 1 1\n", "g:5: \"awaited\" stands behind a task type"},
    {KIND "awaited 0 1\n", "g:6: \"awaited\" of 0 workers"},
    {KIND "awaited 1 2\n", "g:6: whether they wait: 2 is too large"},
    {KIND "awaited 1 1\nawaited 1 1\n", "g:7: a second line \"awaited\""},
    {HEAD "datum 1 new 0\n", "g:5: memory node 1 does not exist"},
    {HEAD "datum 0 old 0\n", "g:5: a datum is"},
    {HEAD "datum 0 new -8\n", "g:5: number of bytes: -8 is negative"},
    {HEAD "datum 0 new 8 x\n", "g:5: the name of the datum is missing"},
    {HEAD "task 0 1 0\n", "g:5: task type 0 does not exist"},
    {KIND "task 0 -1 0\n", "g:6: id: \"-1\" is no number"},
    {KIND "task 0 1 x\n", "g:6: \"x\" is no priority"},
    {KIND "task 0 1 2147483648\n", "g:6: \"2147483648\" is no priority"},
    {KIND "task 0 1 0 tag\n", "g:6: the tag is missing"},
    {KIND "task 0 1 0 tag 1 tag 1\n", "g:6: \"tag\" is none of"},
    {KIND "task 0 1 0 by\n", "g:6: the thread that submits is missing"},
    {KIND "task 0 1 0 by 0 in 0\n", "g:6: \"in\" is none of"},
    {KIND "task 0 1 0 by -1\n", "g:6: thread that submits: \"-1\" is no number"},
    {KIND "task 0 1 0 by 7\nend\n", "g: task 0 is submitted by thread 7, more"},
    {KIND "task 0 1 0 in -\n", "g:6: task that submits: \"-\" is no number"},
    {KIND "task 0 1 0 in 0\n", "g:6: the task is submitted by a later one"},
    {KIND "task 0 1 0 ran 1 0 1\n", "g:6: worker 1 does not exist"},
    {KIND "task 0 1 0 ran 0 2 1\n", "g:6: the task ends before it starts"},
    {KIND "task 0 1 0 ran 0 -1 1\n", "g:6: start: -1 is negative"},
    {KIND "task 0 1 0 ran 0 0 inf\n", "g:6: end: inf is not finite"},
    {KIND "after 0 0\n", "g:6: no task comes before"},
    {KIND "uses 0 r\n", "g:6: no task comes before"},
    {TASK "after 0 0\n", "g:8: the task waits for itself"},
    {TASK "after 1\n", "g:8: the number of bytes is missing"},
    {TASK "after 1 -8\n", "g:8: number of bytes: \"-8\" is no number"},
    {TASK "after 1 0 tags\n", "g:8: \"tags\" is not \"tag\""},
    {TASK "after 1 0\nend\n", "g: task 0 depends on task 1, and there are 1"},
    {TASK "after 1 0\ntask 0 2 0\nafter 0 0\nend\n", "g: dependencies form a "},
    {TASK "uses 1 r\n", "g:8: datum 1 does not exist"},
    {TASK "uses 0 wr\n", "g:8: a datum is used as"},
};

START_TEST(a_broken_text_is_refused_with_its_line)
{
    struct orr_graph *graph = NULL;
    struct orr_error err = {""};
    int rc;

    if (refusals[_i].text[0] == '\0') {
        FILE *f = fopen("/dev/null", "r");

        rc = orr_graph_read(f, "g", &graph, &err);
        fclose(f);
    } else {
        rc = parse(refusals[_i].text, &graph, &err);
    }
    ck_assert_int_eq(rc, -EINVAL);
    ck_assert_ptr_null(graph);
    ck_assert_msg(
        !strncmp(err.text, refusals[_i].message, strlen(refusals[_i].message)),
        "`%s' instead of `%s'", err.text, refusals[_i].message);
}
END_TEST

static ssize_t zeroes(void *cookie, char *buffer, size_t n)
{
    static const char head[] = "orrery-graph 1\n";
    size_t *read = cookie;

    if (*read == 0 && n >= sizeof(head)) {
        memcpy(buffer, head, sizeof(head) - 1);
        return (ssize_t)(*read = sizeof(head) - 1);
    }
    memset(buffer, 'x', n);
    *read += n;
    return (ssize_t)n;
}

START_TEST(an_endless_line_is_refused)
{
    size_t read = 0;
    FILE *f = fopencookie(&read, "r", (cookie_io_functions_t){.read = zeroes});
    struct orr_graph *graph;
    struct orr_error err = {""};

    ck_assert_int_eq(orr_graph_read(f, "g", &graph, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "g:2: the line is longer than"));
    ck_assert_uint_lt(read, 2 * ORR_GRAPH_MAX_LINE);
    fclose(f);
}
END_TEST

START_TEST(a_short_text_cannot_request_much_memory)
{
    struct orr_graph *graph;
    struct orr_error err = {""};
    size_t size;
    char *text;
    FILE *f = open_memstream(&text, &size);
    int rc;

    fputs("orrery-graph 1\nrun real nan\nnode \"\" 0\n", f);
    for (unsigned w = 0; w < 4096; w++)
        fputs("worker \"\" 0\n", f);
    for (unsigned k = 0; k < 4097; k++)
        fputs("kind \"\" 0 0 4096 1 0\n", f);
    fclose(f);
    rc = parse(text, &graph, &err);
    ck_assert_int_eq(rc, -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "g:8196: more than 16777216 times"));
    free(text);
}
END_TEST

START_TEST(a_file_appears_whole_or_not_at_all)
{
    struct orr_graph *graph = random_graph(3), *again = NULL;
    struct orr_error err = {""};
    char folder[64], path[96], missing[160];

    tmp_make(folder);
    snprintf(path, sizeof(path), "%s/g", folder);
    snprintf(missing, sizeof(missing), "%s/none/g", folder);
    ck_assert_int_eq(orr_graph_save(graph, missing, &err), -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, missing));
    ck_assert_int_eq(orr_graph_load(path, &again, &err), -ENOENT);
    ck_assert_int_eq(orr_graph_save(graph, path, &err), 0);
    ck_assert_int_eq(orr_graph_save(graph, path, &err), 0);
    ck_assert_int_eq(orr_graph_load(path, &again, &err), 0);
    same_tasks(graph, again);
    orr_graph_free(graph);
    orr_graph_free(again);
    tmp_remove(folder);
}
END_TEST

/* --- what is sound --- */

static void break_node(struct orr_graph *g)
{
    g->workers[0].node = 1;
}

static void break_capacity(struct orr_graph *g)
{
    g->nodes[0].capacity = NAN;
}

static void break_mean(struct orr_graph *g)
{
    g->types[0].mean_ms[0] = -1;
}

static void break_deviation(struct orr_graph *g)
{
    g->types[0].deviation_ms[0] = NAN;
}

static void break_origin(struct orr_graph *g)
{
    g->types[0].origin = calloc(g->nworkers + 1, 1);
    g->types[0].origin[0] = 1;
}

static void break_type(struct orr_graph *g)
{
    g->tasks[1].type = 1;
}

static void break_deps(struct orr_graph *g)
{
    g->tasks[1].ndeps = UINT32_MAX;
}

static void break_accesses(struct orr_graph *g)
{
    g->tasks[1].first_access = 9;
}

static void break_mode(struct orr_graph *g)
{
    g->accesses[0].mode = 4;
}

static void break_home(struct orr_graph *g)
{
    g->data[0].home = 1;
}

static void break_end(struct orr_graph *g)
{
    g->tasks[1].end_ms = -1;
}

static void break_dep(struct orr_graph *g)
{
    g->deps[0].task = 2;
}

static void break_self(struct orr_graph *g)
{
    g->deps[0].task = 1;
}

static void break_makespan(struct orr_graph *g)
{
    g->makespan_ms = INFINITY;
}

static const struct {
    void (*damage)(struct orr_graph *graph);
    const char *message;
} unsound[] = {
    {break_node, "worker 0 computes in memory node 1"},
    {break_capacity, "memory node 0 has capacity nan"},
    {break_mean, "task type 0 (k) takes -1 ms on worker 0"},
    {break_deviation, "task type 0 (k) deviates by nan ms"},
    {break_origin, "task type 0 (k) has origin 1 on worker 0, and there are 0"},
    {break_type, "task 1 is of type 1"},
    {break_deps, "the dependencies of task 1 are out of range"},
    {break_accesses, "the accesses of task 1 are out of range"},
    {break_mode, "task 0 accesses datum 0 in mode 4"},
    {break_home, "datum 0 is at home in memory node 1"},
    {break_end, "task 1 ran from"},
    {break_dep, "task 1 depends on task 2"},
    {break_self, "task 1 depends on itself"},
    {break_makespan, "the makespan is inf ms"},
};

START_TEST(an_unsound_graph_is_refused_with_a_message)
{
    struct orr_graph *graph = NULL;
    struct orr_error err = {""};

    ck_assert_int_eq(
        parse(TASK "uses 0 rw\ntask 0 2 0\nafter 0 8\nend\n", &graph, &err), 0);
    unsound[_i].damage(graph);
    ck_assert_int_eq(orr_graph_check(graph, &err), -EINVAL);
    ck_assert_msg(
        !strncmp(err.text, unsound[_i].message, strlen(unsound[_i].message)),
        "`%s' instead of `%s'", err.text, unsound[_i].message);
    graph->tasks[1].ndeps = 1;
    orr_graph_free(graph);
}
END_TEST

/* A chain as long as the longest run, recorded from its end: a check that were
 * not linear, or deep, would show. */
START_TEST(long_chains_are_checked)
{
    enum { N = 1000000 };
    struct orr_graph graph = {.ntasks = N, .ndeps = N - 1, .ntypes = 1};
    char symbol[] = "k";
    struct orr_graph_task_type type = {.symbol = symbol};
    struct orr_error err = {""};

    graph.makespan_ms = NAN;
    graph.types = &type;
    graph.tasks = calloc(N, sizeof(*graph.tasks));
    graph.deps = calloc(N, sizeof(*graph.deps));
    for (unsigned t = 0; t < N; t++) {
        graph.tasks[t] = (struct orr_graph_task){
            .first_dep = t, .ndeps = t < N - 1, .worker = ORR_GRAPH_NOT_RUN};
        graph.tasks[t].start_ms = graph.tasks[t].end_ms = NAN;
        graph.deps[t].task = t + 1;
    }
    ck_assert_msg(orr_graph_check(&graph, &err) == 0, "%s", err.text);
    graph.tasks[N - 1].ndeps = 1;
    graph.ndeps = N;
    graph.deps[N - 1].task = 5;
    ck_assert_int_eq(orr_graph_check(&graph, &err), -EINVAL);
    ck_assert_str_eq(err.text, "dependencies form a cycle: task 5 is on it or "
                               "before it");
    free(graph.tasks);
    free(graph.deps);
}
END_TEST

SUITE_MAIN(graph)
{
    Suite *suite = suite_create("graph");
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, what_is_written_is_read_again_to_the_last_bit);
    tcase_add_test(tc, messages_stand_behind_the_turns_that_have_them);
    tcase_add_test(tc, the_text_does_not_depend_on_the_locale);
    tcase_add_test(tc,
                   comments_blank_lines_and_a_missing_last_newline_are_read);
    tcase_add_loop_test(tc, a_broken_text_is_refused_with_its_line, 0,
                        sizeof(refusals) / sizeof(*refusals));
    tcase_add_test(tc, an_endless_line_is_refused);
    tcase_add_test(tc, a_short_text_cannot_request_much_memory);
    tcase_add_test(tc, a_file_appears_whole_or_not_at_all);
    tcase_add_loop_test(tc, an_unsound_graph_is_refused_with_a_message, 0,
                        sizeof(unsound) / sizeof(*unsound));
    tcase_add_test(tc, long_chains_are_checked);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/export_deps.c - see export_deps.h. Names are StarPU's, with the jobs'
 * numbers: s<i> and c<i> are the start and the end of task i in ms, t<i>w<w>
 * is 1 where it runs, t<i>after<j> is 1 when it runs after the end of j, tag<t>
 * is when tag t is reached. 1e5 stands for infinity. Lists run backwards, the
 * latest task first, as readers of these files expect.
 */
#include "bound/export_deps.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/number.h"

struct print {
    const struct orr_bound_text *text;
    const struct orr_graph *graph;
    FILE *f;
    uint64_t *ancestors; /* ntasks rows of `words` words: bit j of row i: task i
                          * waits for j, at whatever distance */
    size_t words;
};

static double task_duration_on_worker(const struct print *p, unsigned t,
                                      unsigned w)
{
    return p->graph->types[p->graph->tasks[t].type].mean_ms[w];
}

static bool task_duration_is_known(const struct print *p, unsigned t,
                                   unsigned w)
{
    return isfinite(task_duration_on_worker(p, t, w));
}

static uint64_t print_task_id(const struct print *p, unsigned t)
{
    return p->graph->tasks[t].id;
}

static const struct orr_graph_dep *print_task_dep(const struct print *p,
                                                  unsigned t, unsigned i)
{
    return &p->graph->deps[p->graph->tasks[t].first_dep + i];
}

/* Dependencies but those that tags declare. */
static unsigned count_deps(const struct print *p, unsigned t)
{
    unsigned n = 0;

    for (unsigned i = 0; i < p->graph->tasks[t].ndeps; i++)
        n += !print_task_dep(p, t, i)->tag;
    return n;
}

#define BACKWARDS(t, p) for (unsigned t = (p)->graph->ntasks; t-- > 0;)

/* --- order of tasks --- */

/* Depth first, with an explicit stack: chains are long. */
static int find_ancestors(struct print *p)
{
    unsigned n = p->graph->ntasks, depth;
    unsigned *stack = calloc((size_t)n + 1, sizeof(*stack));
    unsigned *next = calloc((size_t)n + 1, sizeof(*next));
    bool *begun = calloc((size_t)n + 1, sizeof(*begun));

    p->words = ((size_t)n + 63) / 64;
    p->ancestors = calloc(n * p->words + 1, sizeof(*p->ancestors));
    for (unsigned root = 0; stack && next && begun && p->ancestors && root < n;
         root++) {
        if (begun[root])
            continue;
        begun[root] = true;
        stack[0] = root;
        for (depth = 1; depth > 0;) {
            unsigned t = stack[depth - 1], before;
            uint64_t *row = &p->ancestors[t * p->words];

            if (next[t] == p->graph->tasks[t].ndeps) {
                depth--;
                continue;
            }
            before = print_task_dep(p, t, next[t])->task;
            if (!begun[before]) {
                begun[before] = true;
                stack[depth++] = before;
                continue; /* it comes to this dependency again */
            }
            next[t]++;
            row[before / 64] |= UINT64_C(1) << before % 64;
            for (size_t i = 0; i < p->words; i++)
                row[i] |= p->ancestors[before * p->words + i];
        }
    }
    n = stack && next && begun && p->ancestors;
    free(stack);
    free(next);
    free(begun);
    return n ? 0 : -ENOMEM;
}

static bool is_ancestor(const struct print *p, unsigned t, unsigned of)
{
    return p->ancestors[of * p->words + t / 64] >> t % 64 & 1;
}

/* Either may run before the other. */
static bool tasks_are_independent(const struct print *p, unsigned i, unsigned j)
{
    return !is_ancestor(p, i, j) && !is_ancestor(p, j, i);
}

/* --- the program --- */

static void print_end_variables(const struct print *p)
{
    fprintf(p->f, "/* tmax: the end of the last task, ms */\nmin: tmax;\n");
    fprintf(p->f, "/* numbers of tasks and of workers */\nnt = %u;\nnw = %u;\n",
            p->graph->ntasks, p->graph->nworkers);
    BACKWARDS(t, p)
    fprintf(p->f, "c%" PRIu64 " <= tmax;\n", print_task_id(p, t));
}

/* What could end a comment is left out. */
static void print_comment(const struct print *p, unsigned t)
{
    const struct orr_graph_task_type *type =
        &p->graph->types[p->graph->tasks[t].type];

    fprintf(p->f, "/* ");
    for (const char *c = type->symbol; *c; c++)
        if (*c != '*' && *c != '/')
            fputc(*c, p->f);
    fprintf(p->f, ", footprint %x */\n", type->footprint);
}

static void print_worker_rows(const struct print *p)
{
    fprintf(p->f, "\n/* each task runs on one worker */\n");
    BACKWARDS(t, p)
    {
        print_comment(p, t);
        for (unsigned w = 0; w < p->graph->nworkers; w++)
            if (task_duration_is_known(p, t, w))
                fprintf(p->f, "+t%" PRIu64 "w%u ", print_task_id(p, t), w);
        fprintf(p->f, "= 1;\n");
    }
    fprintf(p->f, "\n/* and ends when it has run there */\n");
    BACKWARDS(t, p)
    {
        fprintf(p->f, "c%" PRIu64 " = s%" PRIu64, print_task_id(p, t),
                print_task_id(p, t));
        for (unsigned w = 0; w < p->graph->nworkers; w++)
            if (task_duration_is_known(p, t, w))
                orr_fprintf(p->f, " %+.12g t%" PRIu64 "w%u",
                            task_duration_on_worker(p, t, w), print_task_id(p, t),
                            w);
        fprintf(p->f, ";\n");
    }
}

/* Calls `action` for all pairs of workers of different memory nodes on which
 * the two tasks may run. */
static void
each_copy(const struct print *p, unsigned from, unsigned to, uint64_t bytes,
          void (*action)(const struct print *p, unsigned from, unsigned to,
                         unsigned v, unsigned w, double ms))
{
    const struct orr_graph *graph = p->graph;

    for (unsigned src = 0; src < graph->nnodes; src++)
        for (unsigned v = 0; v < graph->nworkers; v++) {
            if (graph->workers[v].node != src ||
                !task_duration_is_known(p, from, v))
                continue;
            for (unsigned dst = 0; dst < graph->nnodes; dst++) {
                double ms = dst == src ? 0
                                       : p->text->transfer_ms(src, dst, bytes,
                                                              p->text->arg);

                for (unsigned w = 0; dst != src && w < graph->nworkers; w++)
                    if (graph->workers[w].node == dst &&
                        task_duration_is_known(p, to, w))
                        action(p, from, to, v, w, ms);
            }
        }
}

static void print_route_variable(const struct print *p, unsigned from,
                                 unsigned to, unsigned v, unsigned w, double ms)
{
    (void)ms;
    fprintf(p->f, " + d_t%" PRIu64 "w%ut%" PRIu64 "w%u", print_task_id(p, from),
            v, print_task_id(p, to), w);
}

static void print_copy(const struct print *p, unsigned from, unsigned to,
                       unsigned v, unsigned w, double ms)
{
    uint64_t i = print_task_id(p, from), j = print_task_id(p, to);

    fprintf(p->f, "d_t%" PRIu64 "w%ut%" PRIu64 "w%u >= 0;\n", i, v, j, w);
    orr_fprintf(p->f,
                "d_t%" PRIu64 "w%ut%" PRIu64 "w%u >= %.12g + 1e5 t%" PRIu64
                "w%u + 1e5 t%" PRIu64 "w%u;\n",
                i, v, j, w, ms - 2e5, i, v, j, w);
}

static void print_deps(const struct print *p)
{
    fprintf(p->f, "\n/* tasks wait for those they depend on, and for the "
                  "copies */\n");
    BACKWARDS(t, p)
    for (unsigned i = 0; i < p->graph->tasks[t].ndeps; i++) {
        const struct orr_graph_dep *d = print_task_dep(p, t, i);

        if (d->tag)
            continue;
        fprintf(p->f, "/* %" PRIu64 " bytes */\n", d->bytes);
        fprintf(p->f, "s%" PRIu64 " >= c%" PRIu64, print_task_id(p, t),
                print_task_id(p, d->task));
        each_copy(p, d->task, t, d->bytes, print_route_variable);
        fprintf(p->f, ";\n");
        each_copy(p, d->task, t, d->bytes, print_copy);
    }
}

static void print_tags(const struct print *p)
{
    fprintf(p->f, "\n/* tags */\n");
    BACKWARDS(t, p)
    if (p->graph->tasks[t].has_tag)
        fprintf(p->f, "c%" PRIu64 " = tag%" PRIu64 ";\n", print_task_id(p, t),
                p->graph->tasks[t].tag);
    for (unsigned i = 0; i < p->text->ntags; i++)
        fprintf(p->f, "tag%" PRIu64 " >= tag%" PRIu64 ";\n",
                p->text->tags[i].tag, p->text->tags[i].before);
}

/* On one worker one of the two runs after the other. */
static void print_order(const struct print *p, unsigned t, unsigned u)
{
    uint64_t i = print_task_id(p, t), j = print_task_id(p, u);

    for (unsigned w = 0; w < p->graph->nworkers; w++) {
        if (!task_duration_is_known(p, t, w) ||
            !task_duration_is_known(p, u, w))
            continue;
        orr_fprintf(p->f,
                    "s%" PRIu64 " - c%" PRIu64 " >= -3e5 + 1e5 t%" PRIu64
                    "w%u + 1e5 t%" PRIu64 "w%u + 1e5 t%" PRIu64 "after%" PRIu64
                    ";\n",
                    i, j, i, w, j, w, i, j);
        orr_fprintf(p->f,
                    "s%" PRIu64 " - c%" PRIu64 " >= -2e5 + 1e5 t%" PRIu64
                    "w%u + 1e5 t%" PRIu64 "w%u - 1e5 t%" PRIu64 "after%" PRIu64
                    ";\n",
                    j, i, i, w, j, w, i, j);
    }
}

/* Of two tasks the one of lower priority starts after the other, or before one
 * of the dependencies of that one has ended. `first`: which of the two tasks is
 * named first in the variable "after". */
static void print_priority_row(const struct print *p, unsigned high,
                               unsigned low, bool first)
{
    unsigned n = count_deps(p, high), k = 0;
    uint64_t h = print_task_id(p, high), l = print_task_id(p, low);

    if (n > 1) {
        for (unsigned i = 0; i < n; i++)
            fprintf(p->f, "+t%" PRIu64 "t%" PRIu64 "d%u ", l, h, i);
        fprintf(p->f, "= 1;\n");
    }
    for (unsigned i = 0; i < p->graph->tasks[high].ndeps; i++) {
        const struct orr_graph_dep *d = print_task_dep(p, high, i);

        if (d->tag)
            continue;
        fprintf(p->f,
                "c%" PRIu64 " - s%" PRIu64 " >= ", print_task_id(p, d->task),
                l);
        if (n > 1)
            fprintf(p->f, "%s + 1e5 t%" PRIu64 "t%" PRIu64 "d%u",
                    first ? "-2e5" : "-1e5", l, h, k);
        else
            fprintf(p->f, "%s", first ? "-1e5" : "0");
        if (first)
            orr_fprintf(p->f, " + 1e5 t%" PRIu64 "after%" PRIu64 ";\n", h, l);
        else
            orr_fprintf(p->f, " - 1e5 t%" PRIu64 "after%" PRIu64 ";\n", l, h);
        k++;
    }
    if (first)
        orr_fprintf(p->f,
                    "s%" PRIu64 " - s%" PRIu64 " >= -1e5 t%" PRIu64 "after%" PRIu64
                    ";\n",
                    l, h, h, l);
    else
        orr_fprintf(p->f,
                    "s%" PRIu64 " - s%" PRIu64 " >= -1e5 + 1e5 t%" PRIu64
                    "after%" PRIu64 ";\n",
                    l, h, l, h);
}

static bool priorities_differ(const struct print *p, unsigned t, unsigned u)
{
    return p->text->prio &&
           p->graph->tasks[t].priority != p->graph->tasks[u].priority;
}

static void print_pairs(const struct print *p)
{
    fprintf(p->f, "\n/* a worker does one task after the other */\n");
    BACKWARDS(t, p)
    for (unsigned u = t; u-- > 0;) {
        if (!tasks_are_independent(p, t, u))
            continue;
        print_order(p, t, u);
        if (!priorities_differ(p, t, u))
            continue;
        if (p->graph->tasks[t].priority > p->graph->tasks[u].priority)
            print_priority_row(p, t, u, true);
        else
            print_priority_row(p, u, t, false);
    }
}

static void print_binaries(const struct print *p)
{
    fprintf(p->f, "\n");
    BACKWARDS(t, p)
    for (unsigned u = t; u-- > 0;) {
        unsigned high = t, low = u;

        if (!tasks_are_independent(p, t, u))
            continue;
        orr_fprintf(p->f, "bin t%" PRIu64 "after%" PRIu64 ";\n",
                    print_task_id(p, t), print_task_id(p, u));
        if (!priorities_differ(p, t, u))
            continue;
        if (p->graph->tasks[t].priority < p->graph->tasks[u].priority) {
            high = u;
            low = t;
        }
        for (unsigned i = 0, n = count_deps(p, high); n > 1 && i < n; i++)
            fprintf(p->f, "bin t%" PRIu64 "t%" PRIu64 "d%u;\n",
                    print_task_id(p, low), print_task_id(p, high), i);
    }
    BACKWARDS(t, p)
    for (unsigned w = 0; w < p->graph->nworkers; w++)
        if (task_duration_is_known(p, t, w))
            fprintf(p->f, "bin t%" PRIu64 "w%u;\n", print_task_id(p, t), w);
}

int orr_bound_print_deps_lp(const struct orr_bound_text *text, FILE *f)
{
    struct print p = {.text = text, .graph = text->graph, .f = f};
    int rc = find_ancestors(&p);

    if (!rc) {
        print_end_variables(&p);
        print_worker_rows(&p);
        print_deps(&p);
        print_tags(&p);
        print_pairs(&p);
        print_binaries(&p);
        rc = ferror(f) ? -EIO : 0;
    }
    free(p.ancestors);
    return rc;
}

/* --- the graph --- */

/* Within quotation marks. */
static void print_quoted(const char *text, FILE *f)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', f);
        fputc(*text, f);
    }
}

int orr_bound_print_dot(const struct orr_bound_text *text, FILE *f)
{
    struct print p = {.text = text, .graph = text->graph, .f = f};

    fprintf(f, "strict digraph bounddeps {\n");
    BACKWARDS(t, &p)
    {
        fprintf(f, "\"t%" PRIu64 "\" [label=\"%" PRIu64 ": ",
                print_task_id(&p, t), print_task_id(&p, t));
        print_quoted(p.graph->types[p.graph->tasks[t].type].symbol, f);
        fprintf(f, "\"]\n");
        for (unsigned i = 0; i < p.graph->tasks[t].ndeps; i++)
            if (!print_task_dep(&p, t, i)->tag)
                fprintf(f, "\"t%" PRIu64 "\" -> \"t%" PRIu64 "\"\n",
                        print_task_id(&p, print_task_dep(&p, t, i)->task),
                        print_task_id(&p, t));
    }
    for (unsigned i = 0; i < text->ntags; i++)
        fprintf(f, "\"tag%" PRIu64 "\" -> \"tag%" PRIu64 "\";\n",
                text->tags[i].before, text->tags[i].tag);
    fprintf(f, "}\n");
    return ferror(f) ? -EIO : 0;
}

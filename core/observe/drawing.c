/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/drawing.c - the graph of tasks that a program submits, for Graphviz
 * (orrery_drawing.h). Any thread, under a mutex of the drawing's, under which nothing is
 * called.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery_drawing.h>
#include <starpu.h>

#include "core/base/grow.h"
#include "core/base/number.h"
#include "core/exec/runtime.h"
#include "core/observe/source_line.h"
#include "core/observe/sources.h"
#include "core/observe/views.h"
#include "core/worker/workers.h"

/* Where a task ran, and how long; of the drawing once the task is. */
struct orrery_drawn_end {
    struct starpu_task *task; /* until it has ended */
    void (*callback)(void *); /* the program's */
    void *arg;
    double us;
    int device; /* 0: processors; -1: nobody knows */
};

struct section {
    char *name;
    int outer, depth; /* -1: none; from 1 on */
};

/* What a task uses. */
struct data_use {
    size_t data;
    bool reads, writes;
};

/* A task, with the tasks before it that use the same data. */
struct node {
    char *name, *data;
    /* where it was submitted, and an editor's address; or NULL */
    char *source, *link;
    struct data_use *uses; /* where copies are drawn, else NULL */
    unsigned nuses;
    int section; /* -1: none */
    size_t *after;
    size_t nafter;
    struct orrery_drawn_end *end; /* NULL: it is not watched */
};

/* Since the data were written. */
struct last_uses {
    size_t *readers;
    size_t nreaders, writer;
    bool written;
    char *name; /* where copies are drawn, else NULL */
};

struct orrery_drawing {
    pthread_mutex_t lock;
    struct section *sections; /* [lock] */
    size_t nsections;
    struct node *nodes; /* [lock] in the order of submission */
    size_t nnodes;
    struct last_uses *uses; /* [lock] by number of the data */
    size_t room;
    int open;                        /* [lock] -1: no section */
    struct orrery_drawing_look look; /* [const] */
    bool failed;                     /* [lock] there was no memory */
};

struct orrery_drawing *
orrery_drawing_new(const struct orrery_drawing_look *look)
{
    struct orrery_drawing *drawing = calloc(1, sizeof(*drawing));

    if (!drawing)
        return NULL;
    pthread_mutex_init(&drawing->lock, NULL);
    drawing->open = -1;
    drawing->look = *look;
    return drawing;
}

void orrery_drawing_free(struct orrery_drawing *drawing)
{
    if (!drawing)
        return;
    for (size_t i = 0; i < drawing->nsections; i++)
        free(drawing->sections[i].name);
    for (size_t i = 0; i < drawing->nnodes; i++) {
        free(drawing->nodes[i].name);
        free(drawing->nodes[i].data);
        free(drawing->nodes[i].source);
        free(drawing->nodes[i].link);
        free(drawing->nodes[i].uses);
        free(drawing->nodes[i].after);
        free(drawing->nodes[i].end);
    }
    for (size_t i = 0; i < drawing->room; i++) {
        free(drawing->uses[i].readers);
        free(drawing->uses[i].name);
    }
    free(drawing->sections);
    free(drawing->nodes);
    free(drawing->uses);
    pthread_mutex_destroy(&drawing->lock);
    free(drawing);
}

/* --- sections --- */

static int depth_of(const struct orrery_drawing *drawing, int section)
{
    return section < 0 ? 0 : drawing->sections[section].depth;
}

void orrery_drawing_begin_section(struct orrery_drawing *drawing,
                                  const char *name)
{
    struct section *made;

    pthread_mutex_lock(&drawing->lock);
    made = orr_array_add(drawing->sections, drawing->nsections);
    if (made) {
        made->name = strdup(name);
        made->outer = drawing->open;
        made->depth = depth_of(drawing, drawing->open) + 1;
        drawing->open = (int)drawing->nsections - 1;
    }
    drawing->failed |= !made || !made->name;
    pthread_mutex_unlock(&drawing->lock);
}

void orrery_drawing_end_section(struct orrery_drawing *drawing)
{
    pthread_mutex_lock(&drawing->lock);
    if (drawing->open >= 0)
        drawing->open = drawing->sections[drawing->open].outer;
    pthread_mutex_unlock(&drawing->lock);
}

/* --- tasks --- */

/* The number of a worker's device among all, from 1 on; 0: a processor. */
static int device_of(const struct orr_runtime *rt, int worker)
{
    const struct orr_node_desc *nodes = rt->machine->nodes;
    unsigned node;
    int number = 0;

    if (worker < 0 || (unsigned)worker >= rt->workers->n)
        return 0;
    node = rt->workers->at[worker].desc->node;
    for (unsigned i = 0; i <= node; i++)
        number += !orr_node_is_main(&nodes[i]);
    return orr_node_is_main(&nodes[node]) ? 0 : number;
}

static double us_between(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) * 1e6 +
           (double)(to->tv_nsec - from->tv_nsec) / 1e3;
}

static void task_ended(void *arg)
{
    struct orrery_drawn_end *end = arg;
    const struct starpu_profiling_task_info *info = end->task->profiling_info;
    void (*callback)(void *) = end->callback;
    void *of_callback = end->arg;

    if (info) {
        end->us = us_between(&info->start_time, &info->end_time);
        end->device = device_of(orr_self->runtime, info->workerid);
    }
    end->task = NULL;
    /* After it, nobody may be there to draw. */
    if (callback)
        callback(of_callback);
}

struct orrery_drawn_end *orrery_drawing_watch(struct orrery_drawing *drawing,
                                              struct starpu_task *task)
{
    struct orrery_drawn_end *end;

    if (!drawing->look.times && !drawing->look.colours && !drawing->look.copies)
        return NULL;
    end = malloc(sizeof(*end));
    if (!end) {
        pthread_mutex_lock(&drawing->lock);
        drawing->failed = true;
        pthread_mutex_unlock(&drawing->lock);
        return NULL;
    }
    *end = (struct orrery_drawn_end){task, task->callback_func,
                                     task->callback_arg, 0., -1};
    task->callback_func = task_ended;
    task->callback_arg = end;
    return end;
}

void orrery_drawing_forget(struct orrery_drawn_end *end)
{
    free(end);
}

/* The second task is behind the first one. False: there is no memory. */
static bool add_edge(struct orrery_drawing *drawing, size_t from, size_t to)
{
    struct node *node = &drawing->nodes[to];
    size_t *place;

    if (from == to)
        return true;
    for (size_t i = 0; i < node->nafter; i++)
        if (node->after[i] == from)
            return true;
    place = orr_array_add(node->after, node->nafter);
    if (place)
        *place = from;
    return place != NULL;
}

static bool add_use(struct orrery_drawing *drawing, size_t number,
                    const struct orrery_drawn_use *use)
{
    struct last_uses *last;
    bool fine = true;
    size_t *reader;

    if (orr_grow(&drawing->uses, &drawing->room, use->data + 1,
                 sizeof(*drawing->uses)))
        return false;
    last = &drawing->uses[use->data];
    if (last->written)
        fine = add_edge(drawing, last->writer, number);
    if (!use->writes) {
        reader = orr_array_add(last->readers, last->nreaders);
        if (reader)
            *reader = number;
        return fine && reader;
    }
    for (size_t i = 0; i < last->nreaders; i++)
        fine &= add_edge(drawing, last->readers[i], number);
    free(last->readers);
    *last = (struct last_uses){
        .writer = number, .written = true, .name = last->name};
    return fine;
}

/* For copies. */
static bool keep_uses(struct orrery_drawing *drawing, struct node *node,
                      const struct orrery_drawn_use *uses, unsigned n)
{
    node->uses = calloc(n ? n : 1, sizeof(*node->uses));
    if (!node->uses)
        return false;
    node->nuses = n;
    for (unsigned i = 0; i < n; i++) {
        char **name = &drawing->uses[uses[i].data].name;
        node->uses[i] = (struct data_use){uses[i].data, uses[i].reads != 0,
                                          uses[i].writes != 0};
        if (!*name)
            *name = strdup(uses[i].name);
        if (!*name)
            return false;
    }
    return true;
}

/* "x(r) y(w)"; NULL: there is no memory. */
static char *words_of(const struct orrery_drawn_use *uses, unsigned n)
{
    size_t length = 1;
    char *text, *at;

    for (unsigned i = 0; i < n; i++)
        length += strlen(uses[i].name) + 4;
    text = at = malloc(length);
    if (!text)
        return NULL;
    *text = 0;
    for (unsigned i = 0; i < n; i++)
        at += sprintf(at, "%s%s(%c)", i ? " " : "", uses[i].name,
                      uses[i].writes ? 'w' : 'r');
    return text;
}

/* Where the calling context submits, owned, with the address by which an editor opens it if
 * there is a scheme; NULL: nobody asks, or it is not known. */
static char *present_source(char **ret_link)
{
    const struct orr_runtime *rt = orr_self ? orr_self->runtime : NULL;
    const char *source = rt ? orr_sources_here(rt->views->sources, NULL) : NULL;

    if (source)
        *ret_link = orr_source_link(
            orr_config_string(&rt->config, ORR_CFG_LINKS), source);
    return source ? strdup(source) : NULL;
}

void orrery_drawing_add(struct orrery_drawing *drawing, const char *name,
                        const struct orrery_drawn_use *uses, unsigned n,
                        struct orrery_drawn_end *end)
{
    bool fine = false;
    char *link = NULL, *source = present_source(&link);
    struct node *node;

    pthread_mutex_lock(&drawing->lock);
    node = orr_array_add(drawing->nodes, drawing->nnodes);
    if (node) {
        node->name = strdup(name);
        node->data = words_of(uses, drawing->look.nameless ? 0 : n);
        node->section = drawing->open;
        node->end = end;
        node->source = source;
        node->link = link;
        fine = node->name && node->data;
        for (unsigned i = 0; i < n; i++)
            fine &= add_use(drawing, drawing->nnodes - 1, &uses[i]);
        if (drawing->look.copies && fine)
            fine = keep_uses(drawing, node, uses, n);
    }
    drawing->failed |= !fine;
    pthread_mutex_unlock(&drawing->lock);
    if (!node) {
        free(source);
        free(link);
    }
}

/* --- the file --- */

static bool is_shown(const struct orrery_drawing *drawing, int section)
{
    return drawing->look.deepest < 0 ||
           depth_of(drawing, section) <= drawing->look.deepest;
}

/* The outermost section that is one node and has the task in it, -1: none. */
static int hidden(const struct orrery_drawing *drawing, size_t number)
{
    int found = -1;

    for (int in = drawing->nodes[number].section; in >= 0;
         in = drawing->sections[in].outer)
        if (!is_shown(drawing, in))
            found = in;
    return found;
}

static bool is_inside(const struct orrery_drawing *drawing, int section,
                      int outer)
{
    for (; section >= 0; section = drawing->sections[section].outer)
        if (section == outer)
            return true;
    return false;
}

static double us_of(const struct node *node)
{
    return node->end ? node->end->us : 0.;
}

/* Of all tasks of a section. */
static double us_inside(const struct orrery_drawing *drawing, int section)
{
    double us = 0.;

    for (size_t i = 0; i < drawing->nnodes; i++)
        if (is_inside(drawing, drawing->nodes[i].section, section))
            us += us_of(&drawing->nodes[i]);
    return us;
}

static double longest(const struct orrery_drawing *drawing)
{
    double most = 0.;

    for (size_t i = 0; i < drawing->nnodes; i++)
        if (us_of(&drawing->nodes[i]) > most)
            most = us_of(&drawing->nodes[i]);
    return most;
}

static void print_quoted(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
}

/* White is short, red the longest task; or one of twelve colours for each device, grey
 * for processors. */
static void print_colour(const struct orrery_drawing *drawing, FILE *out,
                         double us, double most, int device)
{
    if (drawing->look.colours && device > 0)
        fprintf(out, ", style=filled, colorscheme=set312, fillcolor=%d",
                (device - 1) % 12 + 1);
    else if (drawing->look.colours)
        fprintf(out, ", style=filled, fillcolor=%s",
                device == 0 ? "lightgrey" : "white");
    else if (drawing->look.times)
        orr_fprintf(out, ", style=filled, fillcolor=\"0.000 %.3f 1.000\"",
                    us < most ? us / most : most > 0.);
}

static void print_task(const struct orrery_drawing *drawing, FILE *out,
                       size_t number, double most)
{
    const struct node *node = &drawing->nodes[number];

    fprintf(out, "t%zu [label=\"", number);
    print_quoted(out, node->name);
    if (drawing->look.times)
        orr_fprintf(out, "\n%.3f us", us_of(node));
    if (!drawing->look.nameless) {
        fputc('\n', out);
        print_quoted(out, node->data);
    }
    fputc('"', out);
    if (node->source) {
        fputs(", tooltip=\"", out);
        print_quoted(out, node->source);
        fputc('"', out);
    }
    if (node->link) {
        fputs(", URL=\"", out);
        print_quoted(out, node->link);
        fputc('"', out);
    }
    print_colour(drawing, out, us_of(node), most,
                 node->end ? node->end->device : -1);
    fputs("]\n", out);
}

static void print_section(const struct orrery_drawing *drawing, FILE *out,
                          int number, double most)
{
    const double us = drawing->look.times ? us_inside(drawing, number) : 0.;

    fprintf(out, "s%d [shape=box, label=\"", number);
    print_quoted(out, drawing->sections[number].name);
    if (drawing->look.times)
        orr_fprintf(out, "\n%.3f us", us);
    fputc('"', out);
    if (drawing->look.times)
        print_colour(drawing, out, us, most, -1);
    fputs("]\n", out);
}

/* Tasks of a section, and the sections in it, -1: of none. As deep as the program's. */
static void print_inside(const struct orrery_drawing *drawing, FILE *out,
                         int outer, double most)
{
    for (size_t i = 0; i < drawing->nnodes; i++)
        if (drawing->nodes[i].section == outer)
            print_task(drawing, out, i, most);
    for (int i = 0; i < (int)drawing->nsections; i++) {
        if (drawing->sections[i].outer != outer)
            continue;
        if (!is_shown(drawing, i)) {
            print_section(drawing, out, i, most);
            continue;
        }
        fprintf(out, "subgraph cluster_%d {\nstyle=dashed\nlabel=\"", i);
        print_quoted(out, drawing->sections[i].name);
        fputs("\"\n", out);
        print_inside(drawing, out, i, most);
        fputs("}\n", out);
    }
}

/* A node is a task, or the section that it is hidden in. */
static void print_node(FILE *out, int section, size_t task)
{
    if (section < 0)
        fprintf(out, "t%zu", task);
    else
        fprintf(out, "s%d", section);
}

/* Returns 0 or -ENOMEM. */
static int print_edges(const struct orrery_drawing *drawing, FILE *out)
{
    size_t n = drawing->nsections;
    /* From section i to section k: drawn once. */
    bool *drawn = calloc(n * n + 1, sizeof(*drawn));

    if (!drawn)
        return -ENOMEM;
    for (size_t to = 0; to < drawing->nnodes; to++) {
        const struct node *node = &drawing->nodes[to];
        int into = hidden(drawing, to);
        for (size_t k = 0; k < node->nafter; k++) {
            int from = hidden(drawing, node->after[k]);
            size_t pair = (size_t)from * n + (size_t)into;
            if (from >= 0 && into >= 0) {
                if (from == into || drawn[pair])
                    continue;
                drawn[pair] = true;
            }
            print_node(out, from, node->after[k]);
            fputs(" -> ", out);
            print_node(out, into, to);
            fputc('\n', out);
        }
    }
    free(drawn);
    return 0;
}

/* --- copies --- */

enum { NPLACES = 64 }; /* main memory, then devices */

/* Where a piece of data has its value: the node that brought it there, a task or, from
 * `nnodes` on, a copy. */
struct whereabouts {
    size_t by[NPLACES];
    uint64_t here;  /* a bit for each place */
    uint64_t begun; /* those of which nobody in the drawing is the cause */
    unsigned last;  /* where it was written */
};

static void print_place(FILE *out, unsigned place)
{
    if (place == 0)
        fputs("main memory", out);
    else
        fprintf(out, "device %u", place - 1);
}

/* Copy number `copy`, for the task, from where the value was written last. */
static void print_copy(const struct orrery_drawing *drawing, FILE *out,
                       size_t copy, const struct whereabouts *data,
                       const char *name, size_t task, unsigned to)
{
    size_t by = data->by[data->last];

    fprintf(out, "c%zu [style=dotted, label=\"copy ", copy);
    print_quoted(out, name);
    fputs("\n", out);
    print_place(out, data->last);
    fputs(" to ", out);
    print_place(out, to);
    fputs("\"]\n", out);
    if (!(data->begun >> data->last & 1)) {
        print_node(out, hidden(drawing, by), by);
        fprintf(out, " -> c%zu\n", copy);
    }
    fprintf(out, "c%zu -> ", copy);
    print_node(out, hidden(drawing, task), task);
    fputc('\n', out);
}

/* The task at a place uses the data. Returns whether that took a copy. */
static bool follow_use(struct whereabouts *data, const struct data_use *use,
                       size_t task, unsigned place, bool known)
{
    bool copied = use->reads && known && !(data->here >> place & 1);

    if (use->writes) {
        data->here = UINT64_C(1) << place;
        data->begun = 0;
        data->last = place;
        data->by[place] = task;
    } else {
        data->here |= UINT64_C(1) << place;
    }
    return copied;
}

/* Those that tasks needed where they ran, if each value stays where it was: data that were
 * never written begin in main memory. Returns 0 or -ENOMEM. */
static int print_copies(const struct orrery_drawing *drawing, FILE *out)
{
    struct whereabouts *data = calloc(drawing->room + 1, sizeof(*data));
    size_t ncopies = 0;

    if (!data)
        return -ENOMEM;
    for (size_t i = 0; i < drawing->room; i++)
        data[i].here = data[i].begun = 1;
    for (size_t task = 0; task < drawing->nnodes; task++) {
        const struct node *node = &drawing->nodes[task];
        bool known =
            node->end && node->end->device >= 0 && node->end->device < NPLACES;
        unsigned place = known ? (unsigned)node->end->device : 0;

        for (unsigned i = 0; i < node->nuses; i++) {
            struct whereabouts before = data[node->uses[i].data];
            if (follow_use(&data[node->uses[i].data], &node->uses[i], task,
                           place, known) &&
                hidden(drawing, task) < 0)
                print_copy(drawing, out, ncopies++, &before,
                           drawing->uses[node->uses[i].data].name, task, place);
        }
    }
    free(data);
    return 0;
}

int orrery_drawing_write(struct orrery_drawing *drawing, const char *path)
{
    FILE *out = fopen(path, "w");
    int err;

    if (!out)
        return -errno;
    pthread_mutex_lock(&drawing->lock);
    fputs("digraph {\n", out);
    print_inside(drawing, out, -1, longest(drawing));
    err = print_edges(drawing, out);
    if (!err && drawing->look.copies)
        err = print_copies(drawing, out);
    if (drawing->failed)
        err = -ENOMEM;
    pthread_mutex_unlock(&drawing->lock);
    fputs("}\n", out);
    if (ferror(out) && !err)
        err = -EIO;
    if (fclose(out) && !err)
        err = -errno;
    return err;
}

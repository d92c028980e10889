/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/dot.c - graphs in Graphviz' language. Graphviz' own gv2gxl makes them XML,
 * which is read here: attributes that hold for all nodes, or edges, come first.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/base/number.h"
#include "import/child.h"
#include "import/edges.h"
#include "import/formats.h"
#include "import/kinds.h"
#include "import/workflow.h"
#include "import/xml.h"

/* The attributes of a node or an edge; texts are owned. */
struct dot_attributes {
    char *kernel, *label, *kind; /* the last as kinds.h says */
    double us, start_ms, end_ms, flops, priority, bytes,
        size; /* NaN: nothing */
};

struct dot {
    struct flow *flow;
    struct xml_file file;
    struct dot_attributes nodes, edges; /* of all of them */
    struct dot_attributes own;          /* of the one in which the reader is */
    const char *node, *tail, *head; /* in which the reader is; borrowed */
    struct dot_attributes *where; /* whose value comes next, or NULL … */
    char *attribute;          /* … and the attribute's name; owned */
};

static void dot_attributes_clear(struct dot_attributes *to)
{
    double none = (double)NAN;

    free(to->kernel);
    free(to->label);
    free(to->kind);
    *to = (struct dot_attributes){NULL, NULL, NULL, none, none, none,
                                  none, none, none, none};
}

/* --- attributes --- */

/* "4.5" in units of `unit`. */
static int dot_set_number(struct dot *dot, const char *text, double unit,
                          double *ret)
{
    char *end;
    double value = orr_strtod(text, &end);

    if (end == text || *end || !isfinite(value))
        return flow_wrong(dot->flow, "%s: \"%.40s\" where a number is to be",
                          dot->attribute, text);
    *ret = value * unit;
    return 0;
}

static int set_attribute(struct dot *dot, const char *text)
{
    const char *name = dot->attribute;
    struct dot_attributes *to = dot->where;
    const char *field = flow_kinds_field(dot->flow);

    if (field && !strcmp(name, field) && flow_text(&to->kind, text))
        return flow_no_memory(dot->flow);
    if (!strcmp(name, "kernel"))
        return flow_text(&to->kernel, text) ? flow_no_memory(dot->flow) : 0;
    if (!strcmp(name, "label"))
        return flow_text(&to->label, text) ? flow_no_memory(dot->flow) : 0;
    if (!strcmp(name, "us"))
        return dot_set_number(dot, text, 1, &to->us);
    if (!strcmp(name, "ms"))
        return dot_set_number(dot, text, 1e3, &to->us);
    if (!strcmp(name, "seconds"))
        return dot_set_number(dot, text, 1e6, &to->us);
    if (!strcmp(name, "start_ms"))
        return dot_set_number(dot, text, 1, &to->start_ms);
    if (!strcmp(name, "end_ms"))
        return dot_set_number(dot, text, 1, &to->end_ms);
    if (!strcmp(name, "flops"))
        return dot_set_number(dot, text, 1, &to->flops);
    if (!strcmp(name, "priority"))
        return dot_set_number(dot, text, 1, &to->priority);
    if (!strcmp(name, "bytes"))
        return dot_set_number(dot, text, 1, &to->bytes);
    if (!strcmp(name, "size"))
        return dot_set_number(dot, text, 1, &to->size);
    if (!strcmp(name, "weight") || !strcmp(name, "time") ||
        !strcmp(name, "duration") || !strcmp(name, "runtime") ||
        !strcmp(name, "cost"))
        return flow_note(dot->flow,
                         "the attribute %s has no unit and is not "
                         "used: us, ms or seconds of a task, bytes "
                         "of an edge",
                         name)
                   ? flow_no_memory(dot->flow)
                   : 0;
    return 0;
}

/* <attr name="node:ms">, <attr name="ms">: whose value comes next. */
static int begin_attribute(struct dot *dot)
{
    const char *name = xml_attribute(&dot->file, "name");
    const char *bare = name ? name : "";

    dot->where = dot->node || dot->tail ? &dot->own : NULL;
    if (!strncmp(bare, "node:", 5) || !strncmp(bare, "edge:", 5)) {
        dot->where = *bare == 'n' ? &dot->nodes : &dot->edges;
        bare += 5;
    }
    return flow_text(&dot->attribute, bare) ? flow_no_memory(dot->flow) : 0;
}

/* --- nodes and edges --- */

static double own_or_common(double own, double of_all)
{
    return isnan(own) ? of_all : own;
}

static const char *kernel_of(const struct dot *dot)
{
    const struct dot_attributes *own = &dot->own, *all = &dot->nodes;
    const char *kernel = own->kernel   ? own->kernel
                         : all->kernel ? all->kernel
                                       : own->label;

    /* The label \N is the name. */
    return kernel && *kernel && strcmp(kernel, "\\N") ? kernel : dot->node;
}

static int end_node(struct dot *dot)
{
    struct flow_task *task = edges_task(dot->flow, dot->node, "task");
    const struct dot_attributes *own = &dot->own;
    double priority = own_or_common(own->priority, dot->nodes.priority);

    if (!task)
        return -ENOMEM; /* with a message */
    task->us = own_or_common(own->us, dot->nodes.us);
    if (isnan(task->us) && own->end_ms >= own->start_ms)
        task->us = (own->end_ms - own->start_ms) * 1000;
    task->flops = own_or_common(own->flops, dot->nodes.flops);
    if (isnan(task->flops)) /* as SimGrid's graphs have it */
        task->flops = own_or_common(own->size, dot->nodes.size);
    if (isnan(task->flops))
        task->flops = 0;
    if (task->us < 0 || task->flops < 0 || fabs(priority) > 1e9)
        return flow_wrong(dot->flow,
                          "%s: a negative time or flops, or a "
                          "priority of more than nine digits",
                          dot->node);
    if (!isnan(priority))
        task->priority = (int64_t)priority;
    return flow_set_kind(dot->flow, task, kernel_of(dot),
                         own->kind ? own->kind : dot->nodes.kind);
}

static int end_edge(struct dot *dot)
{
    double bytes = own_or_common(dot->own.bytes, dot->edges.bytes);

    if (isnan(bytes))
        bytes = own_or_common(dot->own.size, dot->edges.size);
    return edges_connect(dot->flow, dot->tail, dot->head,
                         isnan(bytes) ? 0 : bytes);
}

static int dot_begin_element(struct dot *dot, const char *name)
{
    const char *directed;
    char *text;
    int rc = 0;

    if (!strcmp(name, "node") || !strcmp(name, "edge")) {
        dot_attributes_clear(&dot->own);
        dot->node = *name == 'n' ? xml_attribute(&dot->file, "id") : NULL;
        dot->tail = *name == 'e' ? xml_attribute(&dot->file, "from") : NULL;
        dot->head = *name == 'e' ? xml_attribute(&dot->file, "to") : NULL;
        directed = xml_attribute(&dot->file, "isdirected");
        if (directed && strcmp(directed, "true"))
            rc = flow_wrong(dot->flow, "the graph has no directions: write "
                                       "digraph and ->");
        return rc;
    }
    if (!strcmp(name, "graph")) {
        /* The node was a subgraph: its nodes are listed outside of it, too. */
        dot->node = NULL;
        return 0;
    }
    if (!strcmp(name, "attr"))
        return begin_attribute(dot);
    if (strcmp(name, "string") || !dot->where || !dot->attribute)
        return 0;
    text = xml_text(&dot->file);
    rc = text ? set_attribute(dot, text) : 0;
    free(text);
    dot->where = NULL;
    return rc;
}

static int dot_end_element(struct dot *dot, const char *name)
{
    int rc = 0;

    if (!strcmp(name, "node") && dot->node)
        rc = end_node(dot);
    if (!strcmp(name, "edge") && dot->tail && dot->head)
        rc = end_edge(dot);
    if (!strcmp(name, "node") || !strcmp(name, "edge")) {
        dot->node = dot->tail = dot->head = NULL;
    }
    return rc;
}

static int read_elements(struct dot *dot, int fd)
{
    const char *name;
    bool ends;
    int rc = xml_open(dot->flow, fd, &dot->file);

    while (!rc && (rc = xml_next(&dot->file, &name, &ends)) > 0)
        rc = ends ? dot_end_element(dot, name) : dot_begin_element(dot, name);
    xml_close(&dot->file);
    free(dot->attribute);
    return rc;
}

int import_gxl(struct flow *flow, int fd, bool *ret_broken)
{
    struct dot dot = {.flow = flow};
    int rc;

    dot_attributes_clear(&dot.nodes);
    dot_attributes_clear(&dot.edges);
    dot_attributes_clear(&dot.own);
    rc = read_elements(&dot, fd);
    dot_attributes_clear(&dot.nodes);
    dot_attributes_clear(&dot.edges);
    dot_attributes_clear(&dot.own);
    flow->line = 0; /* of the XML: nobody has seen it */
    *ret_broken = *dot.file.markup.problem;
    return rc;
}

/* --- gv2gxl --- */

int import_dot(struct flow *flow, const char *path,
               const struct orr_import_options *options)
{
    char program[] = "gv2gxl", end_of_options[] = "--";
    char *words[] = {program, end_of_options, (char *)(uintptr_t)path, NULL};
    bool broken = false;
    pid_t child;
    int fd = -1, status;
    int rc = child_start(flow, words, "install Graphviz (Debian: graphviz)", &child, &fd);

    (void)options;
    if (rc)
        return rc;
    rc = import_gxl(flow, fd, &broken);
    status = child_end(child);
    if ((status != 0 || broken) && rc != -ENOMEM)
        return flow_wrong(flow, "gv2gxl finds it wrong, see above");
    return rc ? rc : workflow_end(flow);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/sched/tree.c - see tree.h. Components are alike if what is below them is, and
 * what is above them is the same node.
 */
#include "tools/sched/tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/shown.h"
#include "tools/common/tool.h"

/* While a tree is made: per component its shape, the text of what it and all below
 * it is called, and the node that stands for it. */
struct making {
    const json_t *components;
    size_t n;
    char **shapes;     /* owned, as are the texts */
    char **keys;       /* per node: shape and parents; owned */
    unsigned *node_of; /* NONE: not yet known */
    struct tree *tree;
};

enum { NONE = -1U };

static const json_t *making_component(const struct making *m, size_t i)
{
    return json_array_get(m->components, i);
}

static size_t component_child(const json_t *component, size_t k)
{
    return (size_t)json_integer_value(
        json_array_get(json_object_get(component, "below"), k));
}

static size_t count_below(const json_t *component)
{
    return json_array_size(json_object_get(component, "below"));
}

static const char *worker_text(const json_t *component, const char *what)
{
    return json_string_value(
        json_object_get(json_object_get(component, "worker"), what));
}

static const char *component_name(const json_t *component)
{
    const char *kind = worker_text(component, "kind");

    return kind ? kind : json_string_value(json_object_get(component, "name"));
}

/* Children come behind one of their parents, but maybe before another one. */
static int find_shape(struct making *m, size_t i)
{
    const json_t *c = making_component(m, i);
    char *shape = tool_format("%s(", component_name(c));

    for (size_t k = 0; shape && k < count_below(c); k++) {
        size_t below = component_child(c, k);
        char *longer;

        if (below >= m->n || (!m->shapes[below] && find_shape(m, below) < 0))
            break;
        longer = tool_format("%s%s%s", shape, k ? "," : "", m->shapes[below]);
        free(shape);
        shape = longer;
    }
    m->shapes[i] = shape ? tool_format("%s)", shape) : NULL;
    free(shape);
    return m->shapes[i] ? 0 : -ENOMEM;
}

/* --- nodes --- */

static bool component_is_below(const struct making *m, size_t parent, size_t i)
{
    const json_t *c = making_component(m, parent);
    bool found = false;

    for (size_t k = 0; !found && k < count_below(c); k++)
        found = component_child(c, k) == i;
    return found;
}

/* Shape and nodes of the parents; *ret_key is NULL while one of these is not known.
 * Errors: -ENOMEM. */
static int find_key(const struct making *m, size_t i, char **ret_key)
{
    char *key = tool_format("%s", m->shapes[i]);

    *ret_key = NULL;
    for (size_t p = 0; key && p < m->n; p++) {
        char *longer;

        if (!component_is_below(m, p, i))
            continue;
        if (m->node_of[p] == NONE) {
            free(key);
            return 0;
        }
        longer = tool_format("%s|%u", key, m->node_of[p]);
        free(key);
        key = longer;
    }
    *ret_key = key;
    return key ? 0 : -ENOMEM;
}

/* The node with that key, a new one if there is none. */
static unsigned node_with(struct making *m, char *key, const json_t *c)
{
    struct tree *tree = m->tree;
    unsigned k = 0;

    while (k < tree->nnodes && strcmp(m->keys[k], key) != 0)
        k++;
    if (k < tree->nnodes) {
        free(key);
    } else {
        m->keys[tree->nnodes++] = key;
        tree->nodes[k].name = component_name(c);
        tree->nodes[k].first = worker_text(c, "name");
    }
    tree->nodes[k].n++;
    tree->nodes[k].last = worker_text(c, "name");
    return k;
}

/* Those whose parents have nodes get theirs, until all have. */
static int making_find_nodes(struct making *m)
{
    size_t ndone = 0, before;

    do {
        before = ndone;
        for (size_t i = 0; i < m->n; i++) {
            char *key = NULL;

            if (m->node_of[i] != NONE)
                continue;
            if (find_key(m, i, &key) < 0)
                return -ENOMEM;
            if (!key)
                continue;
            m->node_of[i] = node_with(m, key, making_component(m, i));
            ndone++;
        }
    } while (ndone < m->n && ndone > before);
    return ndone == m->n ? 0 : -EINVAL;
}

static int connect_nodes(struct tree *tree, unsigned parent, unsigned below)
{
    struct tree_node *node = &tree->nodes[parent];
    unsigned *added;

    for (unsigned k = 0; k < node->nbelow; k++)
        if (node->below[k] == below)
            return 0;
    added = orr_array_add(node->below, node->nbelow);
    if (!added)
        return -ENOMEM;
    *added = below;
    return 0;
}

static int find_edges(struct making *m)
{
    int rc = 0;

    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; rc == 0 && k < count_below(making_component(m, i));
             k++)
            rc = connect_nodes(
                m->tree, m->node_of[i],
                m->node_of[component_child(making_component(m, i), k)]);
    return rc;
}

static int making_build_tree(struct making *m)
{
    int rc = 0;

    m->shapes = calloc(m->n, sizeof(*m->shapes));
    m->keys = calloc(m->n, sizeof(*m->keys));
    m->node_of = calloc(m->n, sizeof(*m->node_of));
    m->tree->nodes = calloc(m->n, sizeof(*m->tree->nodes));
    if (!m->shapes || !m->keys || !m->node_of || !m->tree->nodes)
        return -ENOMEM;
    for (size_t i = 0; i < m->n && rc == 0; i++) {
        m->node_of[i] = NONE;
        if (!m->shapes[i])
            rc = find_shape(m, i);
    }
    if (rc == 0)
        rc = making_find_nodes(m);
    return rc == 0 ? find_edges(m) : rc;
}

int tree_new(const json_t *components, struct tree *ret)
{
    struct making m = {.components = components,
                       .n = json_array_size(components),
                       .tree = ret};
    int rc;

    *ret = (struct tree){0};
    rc = m.n > 0 ? making_build_tree(&m) : -EINVAL;
    for (size_t i = 0; m.shapes && i < m.n; i++)
        free(m.shapes[i]);
    for (unsigned k = 0; m.keys && k < ret->nnodes; k++)
        free(m.keys[k]);
    free(m.shapes);
    free(m.keys);
    free(m.node_of);
    if (rc)
        tree_done(ret);
    return rc;
}

void tree_done(struct tree *tree)
{
    for (unsigned k = 0; k < tree->nnodes; k++)
        free(tree->nodes[k].below);
    free(tree->nodes);
    *tree = (struct tree){0};
}

/* --- text --- */

/* "CPU × 12: CPU 0 … CPU 11" */
static void print_label(const struct tree_node *node, FILE *out)
{
    fputs(node->name, out);
    if (node->n > 1)
        fprintf(out, " × %u", node->n);
    if (node->first)
        fprintf(out, ": %s", node->first);
    if (node->first && node->n > 1)
        fprintf(out, "%s%s", node->n > 2 ? " … " : ", ", node->last);
}

struct branch {
    const struct branch *above; /* NULL: the root */
    bool last;                  /* of its parent */
};

static void print_indent(const struct branch *branch, bool own, FILE *out)
{
    if (!branch || !branch->above)
        return;
    print_indent(branch->above, false, out);
    if (own)
        fputs(branch->last ? "└─ " : "├─ ", out);
    else
        fputs(branch->last ? "   " : "│  ", out);
}

static void print_tree_node(const struct tree *tree, unsigned k,
                            const struct branch *branch, bool *printed,
                            FILE *out)
{
    const struct tree_node *node = &tree->nodes[k];

    print_indent(branch, true, out);
    print_label(node, out);
    if (printed[k] && node->nbelow)
        fputs(", as above", out);
    fputc('\n', out);
    for (unsigned i = 0; i < node->nbelow && !printed[k]; i++) {
        struct branch next = {branch, i + 1 == node->nbelow};

        print_tree_node(tree, node->below[i], &next, printed, out);
    }
    printed[k] = true;
}

void tree_print(const struct tree *tree, FILE *out)
{
    const struct branch root = {NULL, true};
    bool *printed = calloc(tree->nnodes, sizeof(*printed));

    if (printed)
        print_tree_node(tree, 0, &root, printed, out);
    free(printed);
}

/* --- Graphviz --- */

static void write_dot_quoted(const char *text, FILE *out)
{
    size_t n;
    const char *shown;

    while ((shown = orr_shown_next(&text, &n), n > 0)) {
        if (*shown == '"' || *shown == '\\')
            fputc('\\', out);
        fwrite(shown, 1, n, out);
    }
}

static void write_node(const struct tree_node *node, unsigned k, FILE *out)
{
    fprintf(out, "    n%u [label=\"", k);
    write_dot_quoted(node->name, out);
    if (node->n > 1)
        fprintf(out, " × %u", node->n);
    if (node->first) {
        fputs("\\n", out);
        write_dot_quoted(node->first, out);
    }
    if (node->first && node->n > 1) {
        fputs(node->n > 2 ? " … " : ", ", out);
        write_dot_quoted(node->last, out);
    }
    fprintf(out, "\"%s];\n",
            node->first ? ", style=filled, fillcolor=\"#e3ecf5\"" : "");
}

void tree_write_dot(const struct tree *tree, const char *title, FILE *out)
{
    fputs("digraph policy {\n    graph [fontname=\"sans-serif\", labelloc=t, "
          "label=\"",
          out);
    write_dot_quoted(title, out);
    fputs("\"];\n    node [fontname=\"sans-serif\", fontsize=12, shape=box, "
          "style=rounded];\n    edge [arrowsize=0.7];\n",
          out);
    for (unsigned k = 0; k < tree->nnodes; k++)
        write_node(&tree->nodes[k], k, out);
    for (unsigned k = 0; k < tree->nnodes; k++)
        for (unsigned i = 0; i < tree->nodes[k].nbelow; i++)
            fprintf(out, "    n%u -> n%u;\n", k, tree->nodes[k].below[i]);
    fputs("}\n", out);
}

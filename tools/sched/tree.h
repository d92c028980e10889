/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/sched/tree.h - a tree of components as text and as a graph of Graphviz.
 * Components that are alike and have the same place are one node with a count: a
 * machine has many equal workers. One thread.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

struct tree_node {
    const char *name; /* of its components, or the kind of its workers; lent */
    unsigned n;       /* how many are alike */
    const char
        *first; /* the names of the first and the last worker, or NULL: it
                        * is none; lent */
    const char *last;
    unsigned *below; /* nodes, owned */
    unsigned nbelow;
};

struct tree {
    struct tree_node *nodes; /* owned; the first one is the root */
    unsigned nnodes;
};

/* From `components` of describe-policies, which is to live as long. Errors:
 * -ENOMEM, -EINVAL. */
int tree_new(const json_t *components, struct tree *ret);
void tree_done(struct tree *tree);

/* As indented lines, each node below its first parent. */
void tree_print(const struct tree *tree, FILE *out);

/* In the language of Graphviz. */
void tree_write_dot(const struct tree *tree, const char *title, FILE *out);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_tree.h - trees of processors: leaves are processors, what is above
 * are caches, packages and so on. Nothing is locked.
 */
#pragma once

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_tree {
    /* `arity` children in one array that the library allocates. */
    struct starpu_tree *nodes;
    /* NULL at the root. */
    struct starpu_tree *father;
    int arity;
    /* Of a leaf: the position of its processor, as starpu_worker_get_bindid()
     * numbers them. */
    int id;
    int level;
    int is_pu;
};

/* Gives `father` room for `arity` children, zeroed, for starpu_tree_free; ends the
 * program without memory. */
void starpu_tree_prepare_children(unsigned arity, struct starpu_tree *father);
/* Fills one of these, or the root, whose father is NULL, with the fields of those
 * names; frees and allocates nothing. */
void starpu_tree_insert(struct starpu_tree *tree, int id, int level, int is_pu,
                        int arity, struct starpu_tree *father);

/* The leaf of processor `id`, lent; NULL without. */
struct starpu_tree *starpu_tree_get(struct starpu_tree *tree, int id);

/* The leaf nearest to `node`, and not `node`, with a worker w that is present
 * and was not visited (both arrays are indexed by workers): siblings first, in
 * turn, then those one level above, and so on. NULL without. */
struct starpu_tree *starpu_tree_get_neighbour(struct starpu_tree *tree,
                                              struct starpu_tree *node,
                                              char *visited, char *present);

/* Sets visited[w] to 0 for the workers of the tree. */
void starpu_tree_reset_visited(struct starpu_tree *tree, char *visited);

/* Frees all below `tree`, which stays the caller's. */
void starpu_tree_free(struct starpu_tree *tree);

#ifdef __cplusplus
}
#endif

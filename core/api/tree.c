/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/tree.c - trees of processors. The caller keeps others away. */
#include <stdlib.h>

#include "core/api/api.h"
#include "core/api/bind.h"

void starpu_tree_prepare_children(unsigned arity, struct starpu_tree *father)
{
    father->nodes = calloc(arity ? arity : 1, sizeof(*father->nodes));
    if (!father->nodes) {
        orr_log_error("%s: out of memory", __func__);
        abort();
    }
    father->arity = (int)arity;
    for (unsigned i = 0; i < arity; i++)
        father->nodes[i].father = father;
}

void starpu_tree_insert(struct starpu_tree *tree, int id, int level, int is_pu,
                        int arity, struct starpu_tree *father)
{
    tree->id = id;
    tree->level = level;
    tree->is_pu = is_pu;
    tree->arity = arity;
    tree->father = father;
}

struct starpu_tree *starpu_tree_get(struct starpu_tree *tree, int id)
{
    struct starpu_tree *found = NULL;

    if (tree->is_pu)
        return tree->id == id ? tree : NULL;
    for (int i = 0; i < tree->arity && !found; i++)
        found = starpu_tree_get(&tree->nodes[i], id);
    return found;
}

/* Whether the leaf has a worker that is wanted. */
static bool tree_leaf_is_wanted(const struct starpu_tree *leaf,
                                const char *visited, const char *present)
{
    unsigned n = orr_api_worker_count();

    for (unsigned w = 0; w < n; w++)
        if (orr_api_worker_position(w) == leaf->id && present[w] && !visited[w])
            return true;
    return false;
}

/* The first wanted leaf of a part of the tree. */
static struct starpu_tree *find_wanted(struct starpu_tree *tree,
                                       const char *visited, const char *present)
{
    struct starpu_tree *found = NULL;

    if (tree->is_pu)
        return tree_leaf_is_wanted(tree, visited, present) ? tree : NULL;
    for (int i = 0; i < tree->arity && !found; i++)
        found = find_wanted(&tree->nodes[i], visited, present);
    return found;
}

struct starpu_tree *starpu_tree_get_neighbour(struct starpu_tree *tree,
                                              struct starpu_tree *node,
                                              char *visited, char *present)
{
    while (node && node != tree && node->father) {
        struct starpu_tree *father = node->father, *found;
        int place = (int)(node - father->nodes);

        for (int i = 1; i < father->arity; i++) {
            found = find_wanted(&father->nodes[(place + i) % father->arity],
                                visited, present);
            if (found)
                return found;
        }
        node = father;
    }
    return NULL;
}

void starpu_tree_reset_visited(struct starpu_tree *tree, char *visited)
{
    unsigned n = orr_api_worker_count();

    for (int i = 0; !tree->is_pu && i < tree->arity; i++)
        starpu_tree_reset_visited(&tree->nodes[i], visited);
    for (unsigned w = 0; tree->is_pu && w < n; w++)
        if (orr_api_worker_position(w) == tree->id)
            visited[w] = 0;
}

void starpu_tree_free(struct starpu_tree *tree)
{
    for (int i = 0; i < tree->arity; i++)
        starpu_tree_free(&tree->nodes[i]);
    free(tree->nodes);
    tree->nodes = NULL;
    tree->arity = 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/sched/describe_policies.c - a program that says what the library it is
 * linked with knows of scheduling policies, for `orrery sched`. Prints one line of
 * JSON: without an argument all policies, those of STARPU_SCHED_LIB among them; with
 * the name of one, what it is on the machine that starts with it, as a tree of
 * components if it has one. One thread besides the library's.
 */
#include <starpu.h>
#include <starpu_sched_component.h>

#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LENGTH = 64 };

/* --- all of them --- */

static void add_policies(json_t *to, struct starpu_sched_policy **list,
                         const char *from)
{
    for (; list && *list; list++)
        json_array_append_new(
            to, json_pack("{ss* ss* ss?}", "name", (*list)->policy_name, "what",
                          (*list)->policy_description, "library", from));
}

/* A library that cannot be opened is left to a run under one of its policies,
 * which says why. */
static void add_library(json_t *to, const char *file)
{
    void *object = file && *file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    struct starpu_sched_policy **(*list)(void);

    if (!object)
        return;
    /* ISO C has no conversion between the two, POSIX has. */
    *(void **)(void *)&list = dlsym(object, "starpu_get_sched_lib_policies");
    if (list)
        add_policies(to, list(), file);
}

static json_t *describe_all(void)
{
    json_t *list = json_array();

    add_policies(list, starpu_sched_get_predefined_policies(), NULL);
    add_library(list, getenv("STARPU_SCHED_LIB"));
    return list;
}

/* --- one --- */

struct found {
    struct starpu_sched_component **components; /* in the order found */
    size_t n;
};

static size_t found_component_index(const struct found *found,
                                    const struct starpu_sched_component *c)
{
    size_t i = 0;

    while (i < found->n && found->components[i] != c)
        i++;
    return i;
}

/* Each component once, before those that are below it alone. */
static int find_below(struct found *found, struct starpu_sched_component *c)
{
    struct starpu_sched_component **more;
    int rc = 0;

    if (found_component_index(found, c) < found->n)
        return 0;
    more = realloc(found->components, (found->n + 1) * sizeof(*more));
    if (!more)
        return -1;
    found->components = more;
    more[found->n++] = c;
    for (unsigned i = 0; i < c->nchildren && rc == 0; i++)
        rc = find_below(found, c->children[i]);
    return rc;
}

/* The machine's name of a worker without the device's model, and the properties
 * that equal workers share. */
static json_t *describe_component_worker(struct starpu_sched_component *leaf)
{
    int worker = starpu_bitmap_first(&leaf->workers);
    char name[NAME_LENGTH] = "";

    if (starpu_worker_is_combined_worker(worker))
        return json_pack("{ss ss}", "name", leaf->name, "kind", "combined");
    starpu_worker_get_name(worker, name, sizeof(name));
    if (strstr(name, " ("))
        *strstr(name, " (") = '\0';
    return json_pack(
        "{ss ss}", "name", name, "kind",
        starpu_worker_get_type_as_string(starpu_worker_get_type(worker)));
}

static json_t *describe_component(const struct found *found,
                                  struct starpu_sched_component *c)
{
    json_t *below = json_array(), *row;

    for (unsigned i = 0; i < c->nchildren; i++)
        json_array_append_new(below,
                              json_integer((json_int_t)found_component_index(
                                  found, c->children[i])));
    row = json_pack("{ss so si}", "name", c->name ? c->name : "component",
                    "below", below, "workers",
                    starpu_bitmap_cardinal(&c->workers));
    if (starpu_sched_component_is_worker(c))
        json_object_set_new(row, "worker", describe_component_worker(c));
    return row;
}

/* The first one is the root; null without a tree. */
static json_t *describe_tree(const struct starpu_sched_tree *tree)
{
    struct found found = {NULL, 0};
    json_t *list;

    if (!tree || !tree->root)
        return json_null();
    list = find_below(&found, tree->root) == 0 ? json_array() : NULL;
    for (size_t i = 0; list && i < found.n; i++)
        json_array_append_new(list,
                              describe_component(&found, found.components[i]));
    free(found.components);
    return list;
}

/* The runtime runs with that policy. */
static json_t *describe_one(void)
{
    const struct starpu_sched_policy *policy = starpu_sched_get_sched_policy();
    json_t *tree = describe_tree(starpu_sched_tree_get(0));

    return json_pack("{ss* ss* si si so}", "name", policy->policy_name, "what",
                     policy->policy_description, "least_priority",
                     starpu_sched_get_min_priority(), "most_priority",
                     starpu_sched_get_max_priority(), "components", tree);
}

static int print_compact_json(json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    int rc = text && puts(text) >= 0 && fflush(stdout) == 0 ? 0 : 1;

    free(text);
    json_decref(json);
    return rc;
}

int main(int argc, char **argv)
{
    struct starpu_conf conf;
    int rc;

    if (argc < 2)
        return print_compact_json(describe_all());
    starpu_conf_init(&conf);
    conf.sched_policy_name = argv[1];
    if (starpu_init(&conf) != 0)
        return 1;
    rc = print_compact_json(describe_one());
    starpu_shutdown();
    return rc;
}

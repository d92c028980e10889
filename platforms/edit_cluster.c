/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_cluster.c - edits of clusters: of the network at once, of nodes by way of
 * the edits of their groups. No state.
 */
#include "core/base/number.h"
#include "platforms/edit_private.h"

#include "core/base/grow.h"
#include "platforms/cluster.h"
#include "platforms/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

/* Makes a group begin at that node. */
static int split_at(struct orr_cluster_desc *cluster, unsigned node)
{
    struct orr_cluster_group *group, *copy;
    unsigned at = 0;

    while (at < cluster->ngroups && node >= cluster->groups[at].n)
        node -= cluster->groups[at++].n;
    if (node == 0 || at == cluster->ngroups)
        return 0;
    group = orr_array_add(cluster->groups, cluster->ngroups);
    if (!group)
        return -ENOMEM;
    group = &cluster->groups[at];
    copy = group + 1;
    memmove(copy, group, (cluster->ngroups - 1 - at) * sizeof(*group));
    copy->machine = strdup(group->machine);
    copy->edits = group->edits ? strdup(group->edits) : NULL;
    copy->n = group->n - node;
    group->n = node;
    return copy->machine && (copy->edits || !group->edits) ? 0 : -ENOMEM;
}

static int append_edit(struct orr_cluster_group *group, const char *text)
{
    size_t length = group->edits ? strlen(group->edits) : 0;
    size_t room = length + strlen(text) + 3;
    char *edits = realloc(group->edits, room);

    if (!edits)
        return -ENOMEM;
    snprintf(edits + length, room - length, "%s%s", length ? "; " : "", text);
    group->edits = edits;
    return 0;
}

static bool has_node(const struct orr_edit *edit, unsigned node)
{
    for (unsigned i = 0; i < edit->nnodes; i++)
        if (edit->nodes[i].first <= node && node <= edit->nodes[i].last)
            return true;
    return edit->nnodes == 0;
}

static int split_groups(const struct orr_edit_work *work,
                        struct orr_cluster_desc *cluster)
{
    const struct orr_edit *edit = work->edit;
    int rc = 0;

    for (unsigned i = 0; i < edit->nnodes && rc == 0; i++) {
        if (edit->nodes[i].last >= cluster->nnodes)
            return orr_edit_wrong(work, edit->at_target,
                                  "there is no node %u: nodes are 0 to %u",
                                  edit->nodes[i].last, cluster->nnodes - 1);
        rc = split_at(cluster, edit->nodes[i].first);
        if (rc == 0)
            rc = split_at(cluster, edit->nodes[i].last + 1);
    }
    return rc ? orr_edit_no_memory(work) : 0;
}

/* Each group is then inside or outside of what is edited. */
static int edit_nodes(const struct orr_edit_work *work,
                      struct orr_cluster_desc *cluster)
{
    const char *text = work->edit->text + work->edit->at_machine;
    int rc = split_groups(work, cluster);
    unsigned node = 0;

    for (unsigned i = 0; i < cluster->ngroups && rc == 0; i++) {
        if (has_node(work->edit, node) &&
            append_edit(&cluster->groups[i], text))
            rc = orr_edit_no_memory(work);
        node += cluster->groups[i].n;
    }
    return rc;
}

/* ---- the network ---- */

enum { WORD = 80 };

/* "2x200Gb/s"; `rate` in bytes per second. */
static void print_nics(double nics, double rate, char word[WORD])
{
    if (nics > 1)
        orr_snprintf(word, WORD, "%.0fx%.12gGb/s", nics, rate * 8e-9);
    else
        orr_snprintf(word, WORD, "%.12gGb/s", rate * 8e-9);
}

static int compute_nics(const struct orr_edit_work *work,
                        const struct orr_fabric *fabric, char word[WORD])
{
    double rate = fabric->bandwidth * 1e6, nics = fabric->nics;
    bool count = work->edit->class == ORR_EDIT_NIC;
    double *value = count ? &nics : &rate, before = *value;
    int rc = orr_edit_compute(work, before, false, value);

    if (rc)
        return rc;
    if (count && (floor(nics) != nics || nics > 65535))
        return orr_edit_wrong(
            work, work->edit->at_value,
            "the result would be %g NICs: a whole number from 1 to "
            "65535 is needed",
            nics);
    print_nics(nics, rate, word);
    work->echo->quantity = count ? "count" : "bytes_per_second";
    return orr_edit_echo_link(work->echo, "network", before, *value)
               ? orr_edit_no_memory(work)
               : 0;
}

static int compute_latency(const struct orr_edit_work *work,
                           const struct orr_fabric *fabric, char word[WORD])
{
    bool hop = work->edit->prop == ORR_EDIT_HOP;
    double before = (hop ? fabric->hop_us : fabric->latency_us) * 1e-6,
           after = 0;
    int rc = orr_edit_compute(work, before, true, &after);

    if (rc)
        return rc;
    orr_snprintf(word, WORD, "%s=%.12gus", hop ? "hop" : "latency", after * 1e6);
    work->echo->quantity = "seconds";
    return orr_edit_echo_link(work->echo, "network", before, after)
               ? orr_edit_no_memory(work)
               : 0;
}

/* The words that an edit puts in place of others: in `word`, or its own. */
static int new_words(const struct orr_edit_work *work,
                     const struct orr_fabric *fabric, char word[WORD],
                     const char **ret)
{
    *ret = word;
    if (work->edit->prop == ORR_EDIT_WORDS) {
        *ret = work->edit->name;
        return 0;
    }
    return work->edit->class == ORR_EDIT_NIC ||
                   work->edit->prop == ORR_EDIT_BANDWIDTH
               ? compute_nics(work, fabric, word)
               : compute_latency(work, fabric, word);
}

/* What a network is, for comparisons and for display. Owned. */
static char *network_text(const struct orr_cluster_desc *cluster)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    orr_cluster_print_network(cluster, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static int say_network(struct orr_edit_echo *echo,
                       const struct orr_cluster_desc *cluster,
                       const char *before, const char *after)
{
    if (strcmp(before, after) == 0)
        return orr_edit_echo_say(echo, "no effect: already so");
    if (cluster->nnodes == 1 && !cluster->fabric.node.takes_time)
        return orr_edit_echo_say(echo,
                                 "no effect: one node alone sends nothing");
    echo->effect = true;
    return orr_edit_echo_say(echo, "%s -> %s", before, after);
}

static int set_words(const struct orr_edit_work *work,
                     struct orr_cluster_desc *cluster, const char *words)
{
    char *before = network_text(cluster), *after = NULL;
    char *text = orr_fabric_replace(cluster->network, words);
    struct orr_error why = {""};
    int rc = before && text ? 0 : -ENOMEM;

    if (rc == 0)
        rc = orr_cluster_set_network(cluster, text, &why);
    if (rc == -EINVAL)
        orr_edit_wrong(work, work->edit->at_value, "%s", why.text);
    if (rc == 0 && (!(after = network_text(cluster)) ||
                    say_network(work->echo, cluster, before, after)))
        rc = -ENOMEM;
    free(text);
    free(before);
    free(after);
    return rc == -ENOMEM ? orr_edit_no_memory(work) : rc;
}

static int edit_network(struct orr_edit_work *work,
                        struct orr_cluster_desc *cluster)
{
    struct orr_edit_echo *echo = orr_array_add(cluster->edits, cluster->nedits);
    char word[WORD];
    const char *words;
    int rc;

    if (!echo)
        return orr_edit_no_memory(work);
    work->echo = echo;
    echo->quantity = "count";
    echo->edit = strdup(work->edit->text);
    if (!echo->edit)
        return orr_edit_no_memory(work);
    rc = new_words(work, &cluster->fabric, word, &words);
    return rc ? rc : set_words(work, cluster, words);
}

/* ---- all of it ---- */

static int apply_all(struct orr_cluster_desc *cluster,
                     const struct orr_edit_list *list, struct orr_error *err)
{
    int rc = 0;

    for (unsigned i = 0; i < list->n && rc == 0; i++) {
        struct orr_edit_work work = {.edit = &list->items[i], .err = err};

        rc = list->items[i].class >= ORR_EDIT_NETWORK
                 ? edit_network(&work, cluster)
                 : edit_nodes(&work, cluster);
    }
    return rc;
}

int orr_cluster_edit(struct orr_cluster_desc *cluster, const char *edits,
                     struct orr_error *err)
{
    struct orr_edit_list list;
    int rc = orr_edit_parse(edits, &list, err);

    if (rc == 0) {
        rc = apply_all(cluster, &list, err);
        orr_edit_list_done(&list);
    }
    return rc;
}

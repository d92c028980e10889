/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster_read.c - the ranks of a program on a cluster, for those who do not read
 * descriptions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "platforms/cluster.h"
#include "platforms/edit.h"
#include "platforms/machine_desc.h"
#include "sim/cluster_events.h"

struct read_ranks {
    struct orr_cluster_ranks ranks; /* first */
    struct orr_cluster_desc desc;
    struct orr_cluster_rank *at; /* owned; its machines are the description's … */
    char **edits;                /* owned: … and these, by group and by rank of a node */
    struct orr_cluster_processors *processors; /* owned: likewise */
};

static struct read_ranks *read_of(struct orr_cluster_ranks *ranks)
{
    return (struct read_ranks *)ranks;
}

void orr_sim_cluster_forget(struct orr_cluster_ranks *ranks)
{
    struct read_ranks *read = read_of(ranks);
    size_t n = (size_t)read->desc.ngroups * read->desc.ranks_per_node;

    for (size_t i = 0; read->edits && i < n; i++)
        free(read->edits[i]);
    free(read->edits);
    free(read->processors);
    free(read->at);
    orr_cluster_free(&read->desc);
    free(read);
}

/* --- shares of a node --- */

/* Kinds of hosts, and the edits that say how many there are. */
static const struct {
    const char *host, *edit;
} kinds[] = {{"CPU", "cpu"}, {"CUDA", "cuda"}, {"OpenCL", "opencl"}};
enum { CPU, NKINDS = sizeof(kinds) / sizeof(*kinds) };

/* How many hosts of each kind a node of the group has. */
static int count_hosts(const struct orr_cluster_group *group, const char *const *dirs,
                       unsigned counts[NKINDS], struct orr_error *err)
{
    struct orr_machine_desc *machine;
    int rc = orr_machine_desc_load(group->machine, dirs, &machine, err);

    if (rc < 0)
        return rc;
    if (group->edits)
        rc = orr_machine_desc_edit(machine, group->edits, err);
    for (unsigned h = 0; rc == 0 && h < machine->nhosts; h++)
        for (unsigned k = 0; k < NKINDS; k++)
            if (orr_host_desc_number(&machine->hosts[h], kinds[k].host) >= 0)
                counts[k]++;
    orr_machine_desc_free(machine);
    return rc;
}

/* Of `count` things the k-th of n ranks has those from k * count / n on. */
static unsigned share_of(unsigned count, unsigned k, unsigned n)
{
    return count * (k + 1) / n - count * k / n;
}

/* … but at least one, which several then have. */
static unsigned share_of_kind(unsigned kind, unsigned count, unsigned k, unsigned n)
{
    unsigned share = share_of(count, k, n);

    return kind == CPU && count > 0 && share == 0 ? 1 : share;
}

/* Threads of a rank that has one processor share that, and where ranks are more than
 * processors all share all, as orrery run -n binds them: a launcher binds nobody then. */
static struct orr_cluster_processors shared_processors(unsigned count, unsigned k, unsigned n)
{
    if (n > count)
        return (struct orr_cluster_processors){0, count};
    if (n > 1 && share_of(count, k, n) == 1)
        return (struct orr_cluster_processors){count * k / n, 1};
    return (struct orr_cluster_processors){0};
}

/* The edits of the k-th rank of a node of the group. NULL without memory. */
static char *write_edits(const struct orr_cluster_group *group, const unsigned counts[NKINDS],
                         unsigned k, unsigned n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    fprintf(out, "%s", group->edits ? group->edits : "");
    for (unsigned i = 0; n > 1 && i < NKINDS; i++)
        if (counts[i] > 0)
            fprintf(out, "%s%s.count = %u", ftell(out) > 0 ? "; " : "", kinds[i].edit,
                    share_of_kind(i, counts[i], k, n));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static int fill_group(struct read_ranks *read, unsigned g, const char *const *dirs,
                      struct orr_error *err)
{
    const struct orr_cluster_group *group = &read->desc.groups[g];
    unsigned counts[NKINDS] = {0}, n = read->desc.ranks_per_node;
    int rc = n > 1 ? count_hosts(group, dirs, counts, err) : 0;

    if (rc == 0 && n > 1 && counts[CPU] == 0)
        return orr_fail(err, -EINVAL,
                        "ranks-per-node=%u: a node \"%s\" has no processors, and each rank "
                        "needs one",
                        n, group->machine);
    for (unsigned k = 0; rc == 0 && k < n; k++) {
        char *edits = write_edits(group, counts, k, n);

        if (!edits)
            return orr_fail(err, -ENOMEM, "out of memory");
        read->edits[g * n + k] = edits;
        if (n > 1)
            read->processors[g * n + k] = shared_processors(counts[CPU], k, n);
    }
    return rc;
}

static void place_ranks(struct read_ranks *read)
{
    const struct orr_cluster_desc *desc = &read->desc;
    unsigned rank = 0, node = 0, per_node = desc->ranks_per_node;

    for (unsigned g = 0; g < desc->ngroups; g++)
        for (unsigned i = 0; i < desc->groups[g].n; i++, node++)
            for (unsigned k = 0; k < per_node; k++)
                read->at[rank++] = (struct orr_cluster_rank){
                    node, read->processors[g * per_node + k], desc->groups[g].machine,
                    read->edits[g * per_node + k]};
}

/* --- the entry of the table --- */

static int make_ranks(struct read_ranks *read, const char *const *dirs, struct orr_error *err)
{
    const struct orr_cluster_desc *desc = &read->desc;
    unsigned n = desc->nnodes * desc->ranks_per_node;
    int rc = 0;

    read->at = calloc(n, sizeof(*read->at));
    read->edits = calloc((size_t)desc->ngroups * desc->ranks_per_node, sizeof(char *));
    read->processors =
        calloc((size_t)desc->ngroups * desc->ranks_per_node, sizeof(*read->processors));
    if (!read->at || !read->edits || !read->processors)
        return orr_fail(err, -ENOMEM, "out of memory");
    for (unsigned g = 0; rc == 0 && g < desc->ngroups; g++)
        rc = fill_group(read, g, dirs, err);
    if (rc)
        return rc;
    place_ranks(read);
    read->ranks = (struct orr_cluster_ranks){
        .n = n, .nnodes = desc->nnodes, .at = read->at, .network = desc->network};
    return 0;
}

int orr_sim_cluster_read(const char *name, const char *edits,
                         const char *const *sampling_dirs, struct orr_cluster_ranks **ret,
                         struct orr_error *err)
{
    struct read_ranks *read = calloc(1, sizeof(*read));
    int rc;

    if (!read)
        return orr_fail(err, -ENOMEM, "out of memory");
    rc = orr_cluster_load(name, sampling_dirs, &read->desc, err);
    if (rc) {
        free(read);
        return rc;
    }
    if (edits && *edits)
        rc = orr_cluster_edit(&read->desc, edits, err);
    if (rc == 0)
        rc = make_ranks(read, sampling_dirs, err);
    if (rc) {
        orr_sim_cluster_forget(&read->ranks);
        return rc;
    }
    for (unsigned i = 0; i < read->desc.nedits; i++)
        orr_log_notice("what if %s: %s", read->desc.edits[i].edit, read->desc.edits[i].text);
    *ret = &read->ranks;
    return 0;
}

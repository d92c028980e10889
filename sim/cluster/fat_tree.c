/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/fat_tree.c - fat trees, as generalised by Öhring, Ibel, Das & Kumar, "On
 * generalized fat trees", IPPS 1995 (XGFT): a switch has a number of children and of
 * parents that its level decides.
 *
 *   level 2      S0      S1        two switches for the one part of all ends,
 *               /  \    /  \       each the parent of one switch of every part
 *   level 1    A    \  /    B      below
 *            / | \   \/   / | \
 *   ends    0  1  2      3  4  5
 *
 * A message goes up until a part has both its ends, and down again. Which parent it takes
 * is the destination's choice, the same for all that go there (D-mod-k; Zahavi,
 * Johnson, Kerbyson & Lang, 2010): in a tree without oversubscription, shifts of all
 * ends share no link. The way down is the only one there is: it passes the same switch of
 * each part, by the link of the same number.
 */
#include "sim/cluster/interconnect_private.h"

#include <errno.h>
#include <math.h>

/* How a switch's ports are divided: all down at the top, by the ratio at the leaves, by
 * halves between. */
struct split {
    unsigned down, up;
};

static struct split fat_tree_split(const struct orr_fabric *fabric,
                                   unsigned level, unsigned nlevels)
{
    unsigned radix = fabric->fat_tree.radix;
    unsigned down = fabric->fat_tree.down, up = fabric->fat_tree.up;

    if (level == nlevels)
        return (struct split){radix, 0};
    if (level > 1)
        return (struct split){radix / 2, radix / 2};
    return (struct split){radix / (down + up) * down, radix / (down + up) * up};
}

/* How many ends so many levels have. */
static uint64_t fat_tree_room(const struct orr_fabric *fabric, unsigned nlevels)
{
    uint64_t ends = 1;

    for (unsigned i = 1; i <= nlevels && ends <= UINT32_MAX; i++)
        ends *= fat_tree_split(fabric, i, nlevels).down;
    return ends;
}

static int fat_tree_find_levels(const struct orr_fabric *fabric,
                                struct orr_interconnect *net,
                                struct orr_error *err)
{
    unsigned given = fabric->fat_tree.levels;
    unsigned nlevels = given ? given : 1;
    uint64_t room;

    if (given > ORR_INTERCONNECT_MAX_LEVELS)
        return orr_fail(err, -EINVAL,
                        "a fat tree of %u levels is too high: give fewer "
                        "levels, up to %d",
                        given, ORR_INTERCONNECT_MAX_LEVELS);
    room = fat_tree_room(fabric, nlevels);
    while (!given && room < net->nends && nlevels < ORR_INTERCONNECT_MAX_LEVELS)
        room = fat_tree_room(fabric, ++nlevels);
    if (room < net->nends)
        return orr_fail(
            err, -EINVAL,
            "a fat tree of %u levels of switches with %u ports, %u:%u at the "
            "leaves, has places for %llu NICs and not for %u: give more ports, "
            "or more levels",
            nlevels, fabric->fat_tree.radix, fabric->fat_tree.down,
            fabric->fat_tree.up, (unsigned long long)room, net->nends);
    net->u.fat_tree.nlevels = nlevels;
    return 0;
}

static int fat_tree_size(const struct orr_fabric *fabric,
                         struct orr_interconnect *net, struct orr_error *err)
{
    struct orr_fat_tree_level *levels = net->u.fat_tree.levels;
    unsigned nlevels;
    int rc = fat_tree_find_levels(fabric, net, err);

    if (rc < 0)
        return rc;
    nlevels = net->u.fat_tree.nlevels;
    net->u.fat_tree.radix = fabric->fat_tree.radix;
    levels[0] = (struct orr_fat_tree_level){.ends = 1};
    for (unsigned i = 1; i <= nlevels; i++) {
        struct split split = fat_tree_split(fabric, i, nlevels);
        uint64_t nparts;

        levels[i].ends = levels[i - 1].ends * split.down;
        levels[i].switches =
            i == 1 ? 1 : levels[i - 1].switches * levels[i - 1].up;
        levels[i].up = split.up;
        levels[i].first = net->nlinks;
        nparts = (net->nends + levels[i].ends - 1) / levels[i].ends;
        net->nlinks += nparts * levels[i].switches * split.up;
        if (net->nlinks > INT32_MAX)
            return orr_fail(err, -EINVAL,
                            "a fat tree of %u levels of switches with %u ports "
                            "has too many links: give fewer levels or ports",
                            nlevels, fabric->fat_tree.radix);
    }
    net->longest = 2 * (nlevels - 1);
    return 0;
}

/* The channel up to parent number `parent` from a switch of the part of `end`. */
static unsigned channel_up(const struct orr_fat_tree_level *level, uint64_t end,
                           uint64_t number, uint64_t parent)
{
    uint64_t part = end / level->ends;

    return (unsigned)(2 *
                      (level->first +
                       (part * level->switches + number) * level->up + parent));
}

static unsigned fat_tree_route(const struct orr_interconnect *net, unsigned src,
                               unsigned dst, unsigned *channels)
{
    const struct orr_fat_tree_level *levels = net->u.fat_tree.levels;
    uint64_t number = 0; /* of the switch in its part */
    unsigned top = 1;

    while (src / levels[top].ends != dst / levels[top].ends)
        top++;
    for (unsigned i = 1; i < top; i++) {
        uint64_t parent = dst / levels[i].switches % levels[i].up;

        channels[i - 1] = channel_up(&levels[i], src, number, parent);
        channels[2 * top - 2 - i] =
            channel_up(&levels[i], dst, number, parent) + 1;
        number = number * levels[i].up + parent;
    }
    return 2 * (top - 1);
}

/* The links up from a level end in as many of both halves. What is in one part below
 * goes no higher. */
static void fat_tree_describe(const struct orr_interconnect *net,
                              struct orr_interconnect_shape *shape)
{
    const struct orr_fat_tree_level *levels = net->u.fat_tree.levels;

    shape->nlevels = net->u.fat_tree.nlevels;
    shape->ports = net->u.fat_tree.radix;
    shape->bisection = net->nends;
    for (unsigned i = 1; i <= shape->nlevels; i++) {
        uint64_t nparts = (net->nends + levels[i].ends - 1) / levels[i].ends;

        shape->switches[i - 1] = nparts * levels[i].switches;
        shape->links[i - 1] = shape->switches[i - 1] * levels[i].up;
        if (nparts > 1)
            shape->bisection =
                fmin(shape->bisection, (double)shape->links[i - 1] / 2);
    }
}

/* The links up from the switches of a part are the only ones that lead out of it. A level whose
 * parts have some NICs of a node and not the others divides no nodes. */
static bool fat_tree_divide(const struct orr_interconnect *net, unsigned k, unsigned *part,
                            struct orr_interconnect_division *ret)
{
    for (unsigned i = 1; i < net->u.fat_tree.nlevels; i++) {
        const struct orr_fat_tree_level *level = &net->u.fat_tree.levels[i];

        if (level->ends % net->nics != 0 || k-- > 0)
            continue;
        for (unsigned node = 0; node < net->nnodes; node++)
            part[node] = (unsigned)((uint64_t)node * net->nics / level->ends);
        *ret = (struct orr_interconnect_division){part[net->nnodes - 1] + 1,
                                                  (double)(level->switches * level->up)};
        return true;
    }
    return false;
}

const struct orr_topology_rules orr_fat_tree_rules = {fat_tree_size, fat_tree_route,
                                                      fat_tree_describe, fat_tree_divide};

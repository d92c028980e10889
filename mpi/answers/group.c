/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/answers/group.c - groups: lists of ranks, by their numbers in that of all. */
#include <stdlib.h>

#include "mpi/answers/answers.h"
#include "mpi/images/image.h"

static const intptr_t first_handle = 0x5d000000;

static MPI_Group in(MPI_Group group)
{
    return (MPI_Group)(intptr_t)orr_image_shared((void *)(intptr_t)group);
}

static MPI_Group out(MPI_Group group)
{
    return (MPI_Group)(intptr_t)orr_image_private((void *)(intptr_t)group);
}

static const struct orr_answers_group *find(MPI_Group native, const char *call)
{
    static const struct orr_answers_group empty = {.n = 0};
    struct orr_answers *answers = orr_answers();
    MPI_Group group = in(native);
    size_t place = (size_t)((intptr_t)group - first_handle);

    if (group == MPI_GROUP_EMPTY)
        return &empty;
    if (place >= answers->ngroups || !answers->groups[place])
        orr_answers_fail(call, "the group is none, or was freed");
    return answers->groups[place];
}

/* With room for n ranks. */
static struct orr_answers_group *make(int n, const char *call)
{
    struct orr_answers_group *group =
        malloc(sizeof(*group) + (size_t)n * sizeof(group->ranks[0]));

    if (!group)
        orr_answers_fail(call, "out of memory");
    group->n = 0;
    return group;
}

static MPI_Group add(struct orr_answers_group *group, const char *call)
{
    struct orr_answers *answers = orr_answers();
    struct orr_answers_group **grown;

    if (group->n == 0) {
        free(group);
        return out(MPI_GROUP_EMPTY);
    }
    grown = realloc(answers->groups,
                    (answers->ngroups + 1) * sizeof(struct orr_answers_group *));
    if (!grown)
        orr_answers_fail(call, "out of memory");
    answers->groups = grown;
    grown[answers->ngroups] = group;
    return (MPI_Group)(first_handle + (intptr_t)answers->ngroups++);
}

/* Where it is in the group; MPI_UNDEFINED: nowhere. */
static int place_in(const struct orr_answers_group *group, int world)
{
    for (int i = 0; i < group->n; i++)
        if (group->ranks[i] == world)
            return i;
    return MPI_UNDEFINED;
}

int orr_answer_Comm_group(MPI_Comm comm, MPI_Group *ret)
{
    static const char call[] = "MPI_Comm_group";
    const struct orr_answers_comm *of = orr_answers_comm(comm, call);
    struct orr_answers_group *group = make(of->size, call);

    while (group->n < of->size) {
        group->ranks[group->n] = orr_simulated_world_rank(of->simulated, group->n);
        group->n++;
    }
    *ret = add(group, call);
    return MPI_SUCCESS;
}

int orr_answer_Group_size(MPI_Group group, int *size)
{
    *size = find(group, "MPI_Group_size")->n;
    return MPI_SUCCESS;
}

int orr_answer_Group_rank(MPI_Group group, int *rank)
{
    *rank = place_in(find(group, "MPI_Group_rank"), orr_simulated_place()->rank);
    return MPI_SUCCESS;
}

int orr_answer_Group_free(MPI_Group *group)
{
    struct orr_answers *answers = orr_answers();
    size_t place = (size_t)((intptr_t)*group - first_handle);

    (void)find(*group, "MPI_Group_free");
    if (place < answers->ngroups) {
        free(answers->groups[place]);
        answers->groups[place] = NULL;
    }
    *group = out(MPI_GROUP_NULL);
    return MPI_SUCCESS;
}

int orr_answer_Group_translate_ranks(MPI_Group from, int n, const int ranks[], MPI_Group to,
                                     int ret[])
{
    static const char call[] = "MPI_Group_translate_ranks";
    const struct orr_answers_group *one = find(from, call), *other = find(to, call);

    for (int i = 0; i < n; i++) {
        if (ranks[i] != MPI_PROC_NULL && (ranks[i] < 0 || ranks[i] >= one->n))
            orr_answers_fail(call, "rank %d is none of the group, which has %d", ranks[i],
                             one->n);
        ret[i] = ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL
                                           : place_in(other, one->ranks[ranks[i]]);
    }
    return MPI_SUCCESS;
}

int orr_answer_Group_compare(MPI_Group a, MPI_Group b, int *result)
{
    static const char call[] = "MPI_Group_compare";
    const struct orr_answers_group *one = find(a, call), *other = find(b, call);
    bool same = one->n == other->n, similar = same;

    for (int i = 0; similar && i < one->n; i++) {
        same = same && one->ranks[i] == other->ranks[i];
        similar = place_in(other, one->ranks[i]) != MPI_UNDEFINED;
    }
    *result = !similar ? MPI_UNEQUAL : same ? MPI_IDENT : MPI_SIMILAR;
    return MPI_SUCCESS;
}

static int rank_at(const struct orr_answers_group *group, int rank, const char *call)
{
    if (rank < 0 || rank >= group->n)
        orr_answers_fail(call, "rank %d is none of the group, which has %d", rank, group->n);
    return group->ranks[rank];
}

int orr_answer_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *ret)
{
    static const char call[] = "MPI_Group_incl";
    const struct orr_answers_group *from = find(group, call);
    struct orr_answers_group *made = make(n, call);

    while (made->n < n) {
        made->ranks[made->n] = rank_at(from, ranks[made->n], call);
        made->n++;
    }
    *ret = add(made, call);
    return MPI_SUCCESS;
}

/* Those of one that are, or are not, in the other one; behind what there is. */
static void append(struct orr_answers_group *to, const struct orr_answers_group *one,
                   const struct orr_answers_group *other, bool common)
{
    for (int i = 0; i < one->n; i++)
        if ((place_in(other, one->ranks[i]) != MPI_UNDEFINED) == common)
            to->ranks[to->n++] = one->ranks[i];
}

int orr_answer_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *ret)
{
    static const char call[] = "MPI_Group_excl";
    const struct orr_answers_group *from = find(group, call);
    struct orr_answers_group *without = make(n, call), *made = make(from->n, call);

    while (without->n < n) {
        without->ranks[without->n] = rank_at(from, ranks[without->n], call);
        without->n++;
    }
    append(made, from, without, false);
    free(without);
    *ret = add(made, call);
    return MPI_SUCCESS;
}

int orr_answer_Group_union(MPI_Group a, MPI_Group b, MPI_Group *ret)
{
    static const char call[] = "MPI_Group_union";
    const struct orr_answers_group *one = find(a, call), *other = find(b, call);
    struct orr_answers_group *made = make(one->n + other->n, call);

    append(made, one, one, true);
    append(made, other, one, false);
    *ret = add(made, call);
    return MPI_SUCCESS;
}

int orr_answer_Group_intersection(MPI_Group a, MPI_Group b, MPI_Group *ret)
{
    static const char call[] = "MPI_Group_intersection";
    const struct orr_answers_group *one = find(a, call), *other = find(b, call);
    struct orr_answers_group *made = make(one->n, call);

    append(made, one, other, true);
    *ret = add(made, call);
    return MPI_SUCCESS;
}

int orr_answer_Group_difference(MPI_Group a, MPI_Group b, MPI_Group *ret)
{
    static const char call[] = "MPI_Group_difference";
    const struct orr_answers_group *one = find(a, call), *other = find(b, call);
    struct orr_answers_group *made = make(one->n, call);

    append(made, one, other, false);
    *ret = add(made, call);
    return MPI_SUCCESS;
}

/* Members ask for the order of the group; others give an empty one, or another group. */
int orr_answer_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *ret)
{
    static const char call[] = "MPI_Comm_create";
    const struct orr_answers_group *members = find(group, call);
    int place = place_in(members, orr_simulated_place()->rank);

    /* Groups that are disjoint make a communicator each. */
    return orr_answer_Comm_split(comm,
                                 place == MPI_UNDEFINED ? MPI_UNDEFINED : members->ranks[0],
                                 place, ret);
}

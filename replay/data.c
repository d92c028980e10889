/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/data.c - the data of a record. They have the layouts that were recorded,
 * and addresses where nothing is: simulations that skip kernels read none. Parts
 * are made by a filter that knows where in its whole each one lies.
 */
#include <errno.h>
#include <orrery.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/layouts/kinds.h"
#include "replay/layout.h"
#include "replay/player.h"

enum { DIMENSIONS = 8 };

struct part {
    uint64_t id;
    struct laid_out laid;
    bool placed; /* `start` and `axes`, else `offset` */
    uint64_t start[DIMENSIONS], axes[DIMENSIONS];
    int64_t offset;
};

/* --- nodes --- */

bool player_has_node(int64_t node)
{
    return node < (int64_t)starpu_memory_nodes_get_count();
}

int player_node(int64_t node)
{
    return player_has_node(node) ? (int)node : STARPU_MAIN_RAM;
}

/* --- addresses --- */

/* Messages pack such data. */
static bool is_looked_at(const struct player *player, const struct laid_out *laid)
{
    switch ((int)laid->ops->interfaceid) {
    case STARPU_CSR_INTERFACE_ID:
    case STARPU_BCSR_INTERFACE_ID:
    case STARPU_COO_INTERFACE_ID:
        return player->messages || orrery_runs_kernels();
    default:
        return orrery_runs_kernels();
    }
}

static uintptr_t take_address(struct player *player, const struct laid_out *laid,
                              void **ret_memory)
{
    size_t bytes = layout_reach(laid);
    const size_t alignment = 4096;
    uintptr_t address = player->address;

    *ret_memory = NULL;
    if (is_looked_at(player, laid)) {
        *ret_memory = player_need(player, calloc(1, bytes + 1));
        return (uintptr_t)*ret_memory;
    }
    player->address += (bytes + alignment) & ~(alignment - 1);
    return address;
}

/* --- numbers --- */

static struct datum *make_datum(struct player *player, uint64_t number)
{
    player_check_number(player, number);
    return player_need(player, numbered_make(&player->data, number));
}

static struct datum *player_new_datum(struct player *player, uint64_t number)
{
    struct datum *datum = make_datum(player, number);

    if (datum->handle)
        player_fail(player, "there is a datum %llu already",
                    (unsigned long long)number);
    return datum;
}

static struct datum *find_datum(const struct player *player, uint64_t number)
{
    struct datum *datum = numbered_find(&player->data, number);

    if (datum && datum->handle)
        return datum;
    player_fail(player,
                "there is no datum %llu: it is not registered yet, or "
                "not any more",
                (unsigned long long)number);
}

starpu_data_handle_t player_datum(const struct player *player, uint64_t number)
{
    return find_datum(player, number)->handle;
}

void player_register(struct player *player, const struct orr_call *call)
{
    struct datum *datum = player_new_datum(player, call->id);
    struct laid_out laid;

    player_lay_out(player, call, &laid);
    if (call->home >= 0)
        layout_set_address(
            laid.ops->interfaceid, &laid.layout,
            take_address(player, &laid, &datum->memory));
    if (player->messages)
        player->messages->number(player, call->id);
    starpu_data_register(&datum->handle,
                         call->home < 0 ? -1 : player_node(call->home),
                         &laid.layout, laid.ops);
}

/* --- parts --- */

static const struct orr_dense_kind *dense_kind(enum starpu_data_interface_id id)
{
    static const struct orr_dense_kind kinds[] = {
        ORR_VARIABLE_KIND, ORR_VECTOR_KIND, ORR_MATRIX_KIND, ORR_BLOCK_KIND,
        ORR_TENSOR_KIND,   ORR_NDIM_KIND};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (kinds[i].id == id)
            return &kinds[i];
    return NULL;
}

static void part_move(const place_t *whole, place_t *part, int64_t bytes)
{
    part->ptr = whole->ptr ? whole->ptr + (uintptr_t)bytes : 0;
    part->dev_handle = whole->dev_handle;
    part->offset = whole->offset + (size_t)bytes;
}

/* Wherever the whole's columns begin in that copy. */
static void put_in_place(const struct part *part, const void *whole, void *to)
{
    enum starpu_data_interface_id id = part->laid.ops->interfaceid;
    const struct orr_dense_kind *kind = dense_kind(id);
    const struct orr_dense_kind *outer_kind =
        dense_kind(*(const enum starpu_data_interface_id *)whole);
    struct orr_dense outer = orr_dense_look(outer_kind, whole);
    struct orr_dense inner = orr_dense_look(kind, to);
    uint32_t *ld = inner.ndim ? orr_dense_ld(kind, to) : NULL;
    size_t elements = 0;

    for (size_t k = 0; k < outer.ndim; k++)
        elements += part->start[k] * orr_dense_step(&outer, k);
    part_move(whole, to, (int64_t)(elements * outer.elemsize));
    for (size_t k = kind->rank ? 0 : 1; k < inner.ndim; k++)
        ld[k] = (uint32_t)orr_dense_step(&outer, part->axes[k]);
}

static uint32_t *copy_uint32_array(const uint32_t *from, size_t n)
{
    uint32_t *to = malloc((n + 1) * sizeof(*to));

    if (!to)
        abort();
    memcpy(to, from, n * sizeof(*to));
    return to;
}

static bool has_address(enum starpu_data_interface_id id)
{
    return dense_kind(id) || id == recorded_ops.interfaceid;
}

/* The filter of all partitions. */
static void replayed_filter(void *whole, void *to,
                            struct starpu_data_filter *filter, unsigned i,
                            unsigned n)
{
    const struct part *part = (const struct part *)filter->filter_arg_ptr + i;
    enum starpu_data_interface_id id = part->laid.ops->interfaceid;
    struct starpu_ndim_interface *ndim = to;

    (void)n;
    memcpy(to, &part->laid.layout, part->laid.ops->interface_size);
    if (id == STARPU_NDIM_INTERFACE_ID) {
        ndim->nn = copy_uint32_array(part->laid.nn, ndim->ndim);
        ndim->ldn = copy_uint32_array(part->laid.ldn, ndim->ndim);
    }
    if (part->placed)
        put_in_place(part, whole, to);
    else if (has_address(id) &&
             has_address(*(const enum starpu_data_interface_id *)whole))
        part_move(whole, to, part->offset);
    else
        layout_set_address(id, to, layout_address(whole));
}

static struct starpu_data_interface_ops *
replayed_child_ops(struct starpu_data_filter *filter, unsigned i)
{
    return ((const struct part *)filter->filter_arg_ptr + i)->laid.ops;
}

static bool is_placed(const struct player *player, const struct orr_call *call,
                      const struct laid_out *laid)
{
    starpu_data_handle_t whole = player_datum(player, call->of);
    const struct orr_dense_kind *kind =
        dense_kind(starpu_data_get_interface_id(whole));
    size_t ndim;

    if (!call->start.n)
        return false;
    if (call->start.n > DIMENSIONS || call->axes.n > DIMENSIONS || !kind ||
        !dense_kind(laid->ops->interfaceid))
        player_fail(player, "a part with a start that is no place in its "
                            "whole");
    ndim = orr_dense_look(kind, starpu_data_get_interface_on_node(whole, 0))
               .ndim;
    if (ndim > DIMENSIONS ||
        orr_dense_look(dense_kind(laid->ops->interfaceid), &laid->layout).ndim >
            DIMENSIONS)
        player_fail(player, "a part with a start in more than eight "
                            "dimensions");
    for (size_t i = 0; i < call->axes.n; i++)
        if (call->axes.at[i] && call->axes.at[i] >= ndim)
            player_fail(player, "a part along a dimension that its whole has "
                                "not");
    return true;
}

void player_add_part(struct player *player, const struct orr_call *call)
{
    struct part *part =
        player_need(player, orr_array_add(player->parts, player->nparts));

    part->id = call->id;
    part->offset = call->offset;
    player_lay_out(player, call, &part->laid);
    part->placed = is_placed(player, call, &part->laid);
    for (size_t i = 0; part->placed && i < call->start.n; i++)
        part->start[i] = call->start.at[i];
    for (size_t i = 0; part->placed && i < call->axes.n; i++)
        part->axes[i] = call->axes.at[i];
}

static void check_parts(const struct player *player,
                        const struct orr_call *call)
{
    bool right = call->parts.n && call->parts.n == player->nparts;

    for (size_t i = 0; right && i < player->nparts; i++)
        right = player->parts[i].id == call->parts.at[i];
    if (!right)
        player_fail(player, "the parts are not those of the lines before");
}

void player_partition(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t whole = player_datum(player, call->id), *children;
    struct starpu_data_filter filter = {
        .filter_func = replayed_filter,
        .nchildren = (unsigned)player->nparts,
        .get_child_ops = replayed_child_ops,
        .filter_arg_ptr = player->parts,
    };

    check_parts(player, call);
    children = player_need(player, calloc(player->nparts, sizeof(*children)));
    if (call->verb == ORR_CALL_PLAN)
        starpu_data_partition_plan(whole, &filter, children);
    else
        starpu_data_partition(whole, &filter);
    for (unsigned i = 0; i < player->nparts; i++) {
        uint64_t id = player->parts[i].id;

        if (call->verb == ORR_CALL_PARTITION)
            children[i] = starpu_data_get_child(whole, i);
        player_new_datum(player, id)->handle = children[i];
        starpu_data_set_user_data(children[i], (void *)(uintptr_t)id);
    }
    free(children);
    player->nparts = 0;
}

/* They end with the partition of their whole. */
static void drop_parts(struct player *player, starpu_data_handle_t whole)
{
    for (int i = 0; i < starpu_data_get_nb_children(whole); i++) {
        starpu_data_handle_t part = starpu_data_get_child(whole, (unsigned)i);

        drop_parts(player, part);
        find_datum(player, (uintptr_t)starpu_data_get_user_data(part))->handle =
            NULL;
    }
}

void player_unpartition(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t whole = player_datum(player, call->id);

    if (starpu_data_get_nb_children(whole) <= 0)
        player_fail(player, "datum %llu is not partitioned",
                    (unsigned long long)call->id);
    drop_parts(player, whole);
    starpu_data_unpartition(whole, (unsigned)player_node(call->node));
}

static starpu_data_handle_t *player_find_parts(const struct player *player,
                                               const struct orr_call *call)
{
    starpu_data_handle_t *parts =
        player_need(player, calloc(call->parts.n + 1, sizeof(*parts)));

    for (size_t i = 0; i < call->parts.n; i++)
        parts[i] = player_datum(player, call->parts.at[i]);
    return parts;
}

void player_switch(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t whole = player_datum(player, call->id);
    starpu_data_handle_t *parts = player_find_parts(player, call);
    unsigned n = (unsigned)call->parts.n;

    switch (call->how) {
    case ORR_HOW_TO_PARTS:
        starpu_data_partition_submit_sequential_consistency(whole, n, parts,
                                                            !call->unordered);
        break;
    case ORR_HOW_TO_READERS:
        starpu_data_partition_readonly_submit_sequential_consistency(
            whole, n, parts, !call->unordered);
        break;
    case ORR_HOW_UPGRADE:
        starpu_data_partition_readwrite_upgrade_submit(whole, n, parts);
        break;
    case ORR_HOW_DOWNGRADE:
        starpu_data_partition_readonly_downgrade_submit(whole, n, parts);
        break;
    case ORR_HOW_TO_READ_WHOLE:
        starpu_data_unpartition_readonly_submit(whole, n, parts, -1);
        break;
    case ORR_HOW_TO_WHOLE:
        starpu_data_unpartition_submit_sequential_consistency(
            whole, n, parts, -1, !call->unordered);
        break;
    default:
        player_fail(player, "a switch without how=");
    }
    free(parts);
}

void player_clean(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t whole = player_datum(player, call->id);
    starpu_data_handle_t *parts = player_find_parts(player, call);

    starpu_data_partition_clean(whole, (unsigned)call->parts.n, parts);
    for (size_t i = 0; i < call->parts.n; i++)
        find_datum(player, call->parts.at[i])->handle = NULL;
    free(parts);
}

/* --- the end of data --- */

void player_unregister(struct player *player, const struct orr_call *call)
{
    struct datum *datum = find_datum(player, call->id);
    starpu_data_handle_t handle = datum->handle;

    if (call->how == ORR_HOW_SUBMITTED)
        starpu_data_unregister_submit(handle);
    else if (call->how == ORR_HOW_DROPPED)
        starpu_data_unregister_no_coherency(handle);
    else
        starpu_data_unregister(handle);
    if (datum->shares > 1) {
        datum->shares--;
        return;
    }
    /* What is submitted may still be copied to. */
    if (call->how != ORR_HOW_SUBMITTED)
        free(datum->memory);
    *datum = (struct datum){.number = datum->number};
}

void player_forget_data(struct player *player)
{
    numbered_done(&player->data);
    free(player->parts);
}

/* --- uses by the application --- */

void player_duplicate(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t of = player_datum(player, call->of), copy;
    struct datum *datum;

    if (starpu_data_dup_ro(&copy, of, !call->synchronous) != 0)
        player_fail(player, "starpu_data_dup_ro failed");
    datum = make_datum(player, call->id);
    datum->handle = copy;
    datum->shares++;
}

struct acquired {
    starpu_data_handle_t handle;
    int node;
};

static void release_again(void *arg)
{
    struct acquired *acquired = arg;

    starpu_data_release_on_node(acquired->handle, acquired->node);
    free(acquired);
}

static int acquire_later(struct player *player, const struct orr_call *call,
                         starpu_data_handle_t handle, int node)
{
    struct acquired *acquired;

    if (call->task && player_chain_acquire(player, call, handle, node))
        return 0;
    acquired = player_need(player, malloc(sizeof(*acquired)));
    *acquired = (struct acquired){handle, node};
    if (call->size)
        return orrery_data_acquire_to_copy_new(
            handle, node, (enum starpu_data_access_mode)call->value, call->size,
            call->memory, release_again, acquired);
    return starpu_data_acquire_on_node_cb_sequential_consistency(
        handle, node, (enum starpu_data_access_mode)call->value, release_again,
        acquired, !call->unordered);
}

/* Whether data were free may be otherwise than when that was recorded: what comes
 * next is as it was. */
static int try_to_acquire(const struct orr_call *call,
                          starpu_data_handle_t handle, int node)
{
    enum starpu_data_access_mode mode =
        (enum starpu_data_access_mode)call->value;
    int rc = starpu_data_acquire_on_node_try(handle, node, mode);

    if (rc == 0 && call->how == ORR_HOW_REFUSED)
        starpu_data_release_on_node(handle, node);
    else if (rc == -EAGAIN && call->how == ORR_HOW_TRIED)
        rc = starpu_data_acquire_on_node(handle, node, mode);
    else if (rc == -EAGAIN)
        rc = 0;
    return rc;
}

/* With the call that most programs make: traces name it. */
static int acquire_now(starpu_data_handle_t handle, int node,
                       enum starpu_data_access_mode mode)
{
    int home = starpu_data_get_home_node(handle);
    int base =
        home > 0 && starpu_node_get_kind((unsigned)home) == STARPU_CPU_RAM
            ? home
            : STARPU_MAIN_RAM;

    if (node == base)
        return starpu_data_acquire(handle, mode);
    return starpu_data_acquire_on_node(handle, node, mode);
}

void player_acquire(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t handle = player_datum(player, call->id);
    int node = player_node(call->node), rc;

    if (call->how == ORR_HOW_CALLBACK)
        rc = acquire_later(player, call, handle, node);
    else if (call->how == ORR_HOW_TRIED || call->how == ORR_HOW_REFUSED)
        rc = try_to_acquire(call, handle, node);
    else
        rc = acquire_now(handle, node,
                         (enum starpu_data_access_mode)call->value);
    if (rc < 0)
        player_fail(player, "datum %llu cannot be acquired: %s",
                    (unsigned long long)call->id, strerror(-rc));
}

void player_release(struct player *player, const struct orr_call *call)
{
    starpu_data_handle_t handle = player_datum(player, call->id);
    int node = player_node(call->node);

    if (call->value)
        starpu_data_release_to_on_node(
            handle, (enum starpu_data_access_mode)call->value, node);
    else
        starpu_data_release_on_node(handle, node);
}

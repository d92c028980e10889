/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/memory.c - data, their copies, who has them and who is next; memory nodes, and
 * what would leave them next.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/plural.h"
#include "core/data/block.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/registry.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/observe/waiting.h"
#include "debug/answers.h"
#include "debug/event.h"

enum { DATA = 60, ACCESSES = 12, BLOCKS = 20 };

/* --- data --- */

/* What is said where no node has the value. */
static struct debug_words no_value_words(const struct orr_runtime *rt,
                                         const struct orr_handle *handle)
{
    struct debug_words words = {"no value yet"};

    if (debug_rank_of(rt) >= 0)
        strcpy(words.text, "no value on this rank now");
    if (handle->nchildren)
        snprintf(words.text, sizeof(words.text),
                 "cut into %u part%s, which have its value", handle->nchildren,
                 orr_plural(handle->nchildren));
    return words;
}

static void put_datum(struct debug_answer *answer, const struct orr_handle *handle)
{
    uint64_t valid = atomic_load(&handle->valid), loading = atomic_load(&handle->loading);

    debug_item(answer);
    debug_name(answer, "data", orr_handle_label(handle).text);
    debug_number(answer, "bytes", (double)handle->size);
    debug_name(answer, "copies", debug_nodes_words(answer->rt, valid).text);
    debug_text(answer, "%s: %zu bytes, %s%s%s%s", orr_handle_label(handle).text,
               handle->size,
               valid ? "on " : no_value_words(answer->rt, handle).text,
               valid ? debug_nodes_words(answer->rt, valid).text : "",
               loading ? "; on its way to " : "",
               loading ? debug_nodes_words(answer->rt, loading).text : "");
}

static void put_access(struct debug_answer *answer, const struct orr_access *access)
{
    const struct orr_job *job = access->job;

    debug_item(answer);
    debug_number(answer, "task", (double)job->id);
    debug_name(answer, "turn", access->granted ? "present" : "later");
    if (ORR_JOB_IS(job, acquire))
        debug_text(answer, orr_waiting_is_acquired(job)
                               ? "  the application has acquired it, and not released"
                               : "  the application waits to acquire it");
    else
        debug_text(answer, "  %s %s it, %s", debug_job_words(job).text,
                   debug_mode_words(access->mode),
                   access->granted ? debug_state_word(job) : "when those before it are over");
}

static void show_datum(struct debug_answer *answer, const char *name)
{
    const struct orr_handle *handle = debug_find_data(answer->rt, name);
    unsigned n = 0;

    if (!handle) {
        debug_no_answer(answer, "there are no data %s: `info data' has their names", name);
        return;
    }
    put_datum(answer, handle);
    orr_turns_foreach (access, &handle->turns)
        if (n++ < ACCESSES)
            put_access(answer, access);
    if (n > ACCESSES) {
        debug_item(answer);
        debug_text(answer, "  and %u more", n - ACCESSES);
    }
    if (!n) {
        debug_item(answer);
        debug_text(answer, "  no task that is submitted uses it");
    }
}

void debug_list_data(struct debug_answer *answer)
{
    const char *name = debug_word(answer, "data");
    unsigned n = 0;

    if (name) {
        show_datum(answer, name);
        return;
    }
    orr_list_foreach (link, &answer->rt->data->handles)
        if (n++ < DATA)
            put_datum(answer, orr_container(link, struct orr_handle, all));
    if (n > DATA || !n) {
        debug_item(answer);
        debug_text(answer, n ? "and %u more" : "no data are registered", n - DATA);
    }
}

/* --- memory nodes --- */

static void put_node(struct debug_answer *answer, unsigned id)
{
    const struct orr_node *node = &answer->rt->nodes->at[id];
    size_t used = atomic_load(&node->used);

    debug_item(answer);
    debug_name(answer, "node", answer->rt->machine->nodes[id].name);
    debug_number(answer, "used", (double)used);
    debug_number(answer, "capacity", (double)node->capacity);
    if (node->capacity)
        debug_text(answer, "%s: %.1f of %.1f MiB are used", answer->rt->machine->nodes[id].name,
                   (double)used / 1048576.0, (double)node->capacity / 1048576.0);
    else
        debug_text(answer, "%s: %.1f MiB are used, without a limit",
                   answer->rt->machine->nodes[id].name, (double)used / 1048576.0);
}

/* What leaves first by age; or, once memory was short, by the next use, where nextuse is
 * the rule: its heaps, and in a heap the last one needed first. */
static int by_leaving(const void *a, const void *b)
{
    const struct orr_block *x = *(const struct orr_block *const *)a;
    const struct orr_block *y = *(const struct orr_block *const *)b;

    if ((x->pins > 0) != (y->pins > 0))
        return x->pins > 0 ? 1 : -1;
    if (x->of_node->nextuse.pressed && x->pins == 0) {
        if (x->list != y->list)
            return x->list < y->list ? -1 : 1;
        if (orr_use_is_sooner(x->use, y->use) || orr_use_is_sooner(y->use, x->use))
            return orr_use_is_sooner(y->use, x->use) ? -1 : 1;
        return (x->id > y->id) - (x->id < y->id);
    }
    return (x->age > y->age) - (x->age < y->age);
}

static void put_block(struct debug_answer *answer, const struct orr_block *block)
{
    const struct orr_replicate *replicate = orr_block_next(block, &block->inhabitants);
    const struct orr_handle *handle;
    uint64_t valid;

    if (!replicate)
        return;
    handle = replicate->handle;
    valid = atomic_load(&handle->valid);
    debug_item(answer);
    debug_name(answer, "data", orr_handle_label(handle).text);
    debug_number(answer, "bytes", (double)block->size);
    debug_name(answer, "leaves", block->pins ? "no" : "yes");
    debug_text(answer, "  %s, %zu bytes: %s%s%s", orr_handle_label(handle).text, block->size,
               block->pins ? "in use" : "may leave",
               replicate->promised ? ", promised to queued tasks" : "",
               atomic_load(&handle->loading) >> block->node & 1 ? ", its value is on its way"
               : !(valid >> block->node & 1)                   ? ", its value is outdated"
               : valid == UINT64_C(1) << block->node ? ", the only copy"
                                                        : "");
}

static void show_node(struct debug_answer *answer, unsigned id)
{
    const struct orr_node *node = &answer->rt->nodes->at[id];
    const struct orr_block **blocks;
    size_t n = 0;

    put_node(answer, id);
    orr_list_foreach (link, &node->all)
        n++;
    blocks = calloc(n + 1, sizeof(*blocks));
    if (!blocks)
        abort();
    n = 0;
    orr_list_foreach (link, &node->all)
        blocks[n++] = orr_container(link, struct orr_block, present);
    qsort(blocks, n, sizeof(*blocks), by_leaving);
    for (size_t i = 0; i < n && i < BLOCKS; i++)
        put_block(answer, blocks[i]);
    if (n > BLOCKS) {
        debug_item(answer);
        debug_text(answer, "  and %zu more", n - BLOCKS);
    }
    free(blocks);
}

void debug_list_nodes(struct debug_answer *answer)
{
    const char *name = debug_word(answer, "node");

    for (unsigned id = 0; id < answer->rt->nodes->n; id++) {
        if (name && strcmp(answer->rt->machine->nodes[id].name, name) != 0)
            continue;
        if (name)
            show_node(answer, id);
        else
            put_node(answer, id);
    }
    if (!answer->n)
        debug_no_answer(answer, "there is no memory node %s: `info nodes' has them", name);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/what_if.c - see what_if.h. */
#include "core/observe/what_if.h"

#include <string.h>

#include "core/base/log.h"
#include "core/data/bus.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"

/* What the run did where an edit has changed something. */
struct use {
    bool any_workers, any_pairs; /* the edit concerns some */
    unsigned long tasks;
    unsigned long long bytes;
    bool met; /* of an edit of kernels: there were such */
};

static bool was_met(const struct orr_machine *machine, const char *pattern)
{
    for (unsigned i = 0; i < machine->nkernel_speeds; i++)
        for (unsigned k = 0; k < machine->kernel_speeds[i].n; k++) {
            struct orr_kernel_speed *item = &machine->kernel_speeds[i].items[k];

            if (__atomic_load_n(&item->met, __ATOMIC_RELAXED) &&
                strcmp(item->pattern, pattern) == 0)
                return true;
        }
    return false;
}

static struct use use_of(struct orr_runtime *rt,
                         const struct orr_machine_edit *edit)
{
    struct use use = {0};

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (edit->workers[w]) {
            use.any_workers = true;
            use.tasks += rt->workers->at[w].ntasks;
        }
    for (unsigned p = 0; p < rt->nodes->n * rt->nodes->n; p++) {
        unsigned src = p / rt->nodes->n, dst = p % rt->nodes->n;
        const struct orr_bus *bus = orr_bus_find(rt, src, dst);

        if (!edit->pairs[orr_machine_pair(rt->machine, src, dst)])
            continue;
        use.any_pairs = true;
        if (bus)
            use.bytes +=
                atomic_load_explicit(&bus->bytes, memory_order_relaxed);
    }
    use.met = edit->kernel && was_met(rt->machine, edit->kernel);
    return use;
}

void orr_what_if_write(FILE *out, struct orr_runtime *rt)
{
    const struct orr_machine *machine = rt->machine;

    fputs("\"edits\": [", out);
    for (unsigned i = 0; i < machine->nedits; i++) {
        const struct orr_machine_edit *edit = &machine->edits[i];
        struct use use = use_of(rt, edit);

        fprintf(out,
                "%s\n  {%s, \"effect\": %s, \"tasks\": %lu, "
                "\"bytes\": %llu",
                i ? "," : "", edit->members,
                edit->effect && (use.met || !edit->kernel) ? "true" : "false",
                use.tasks, use.bytes);
        if (edit->kernel)
            fprintf(out, ", \"kernels_met\": %s", use.met ? "true" : "false");
        fputc('}', out);
    }
    fputs("],\n", out);
}

/* Which part of an edited machine the run did not use; NULL when it used all. An edit
 * may have had an effect nevertheless: policies expect other times of what is edited,
 * and may have decided otherwise for that reason. */
static const char *unused(struct orr_runtime *rt,
                          const struct orr_machine_edit *edit)
{
    struct use use = use_of(rt, edit);

    if (!edit->effect)
        return NULL; /* reported when the machine was opened */
    if (edit->values && !use.any_workers && !use.any_pairs)
        return "no effect on this run, what it concerns is not in use";
    if (edit->kernel && !use.met)
        return "no effect on this run, no kernel of it has that name";
    if (use.any_workers && !use.tasks)
        return "no task ran on these workers; whether the policy decided "
               "otherwise because of it, a run without the edit shows";
    if (!use.any_workers && use.any_pairs && !use.bytes)
        return "no transfer used these links; whether the policy decided "
               "otherwise because of it, a run without the edit shows";
    return NULL;
}

void orr_what_if_report(struct orr_runtime *rt)
{
    for (unsigned i = 0; i < rt->machine->nedits; i++) {
        const struct orr_machine_edit *edit = &rt->machine->edits[i];
        const char *what = unused(rt, edit);

        if (what)
            orr_log_notice("what if %s: %s", edit->edit, what);
    }
}

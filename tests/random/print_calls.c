/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/print_calls.c - see print_calls.h. */
#include "print_calls.h"

#include <inttypes.h>
#include <string.h>

void print_codelet_name(const struct call *call, char *name, size_t size)
{
    static const char *const where[] = {"", "_cpu", "_cuda"};
    static const char *const places[NPLACES] = {"", "_main", "_near", "_mixed",
                                                "_first"};

    snprintf(name, size, "%s%s%s%s%s", codelet_names[call->length],
             where[call->where], call->async ? "_async" : "",
             places[call->places], call->refused ? "_choosy" : "");
}

/* -- records -- */

static const char *mode_text(unsigned mode)
{
    if (mode & STARPU_REDUX)
        return "STARPU_REDUX";
    if (mode & STARPU_SCRATCH)
        return "STARPU_SCRATCH";
    if (mode & STARPU_COMMUTE)
        return "STARPU_RW | STARPU_COMMUTE";
    if ((mode & STARPU_RW) == STARPU_RW)
        return "STARPU_RW";
    return mode & STARPU_R ? "STARPU_R" : "STARPU_W";
}

static void print_part(const struct printer *p, unsigned index, unsigned k,
                       unsigned d, unsigned mode)
{
    static const char *const uses[] = {
        [READ] = "READ",     [PEEK] = "PEEK", [WRITE] = "WRITE",
        [UPDATE] = "UPDATE", [SUM] = "SUM",   [TEMP] = "TEMP",
    };

    fprintf(p->out, "{%u, %s, %s, UINT64_C(0x%" PRIx64 ")}", p->base + d,
            mode_text(mode), uses[use_of(&p->graph->data[d], mode)],
            p->answers->hash[index][k]);
}

static void print_flags(const struct printer *p, const struct call *call,
                        unsigned index)
{
    bool any = false;

    for (unsigned k = 0; k < call->nbuffers; k++)
        any |= call->buffers[k].disordered;
    if (!any)
        return;
    fprintf(p->out, "static unsigned char f%u_%u[] = {", p->number, index);
    for (unsigned k = 0; k < call->nbuffers; k++)
        fprintf(p->out, "%s%d", k ? ", " : "", !call->buffers[k].disordered);
    fprintf(p->out, "};\n");
}

void print_work(const struct printer *p, unsigned index)
{
    const struct call *call = &p->graph->calls[index];
    bool task = call->kind == CALL_TASK;

    if (!task && call->kind != CALL_ACQUIRE)
        return;
    fprintf(p->out,
            "static struct work w%u_%u = {\"%s %u\", %u, 0, %" PRIu64 ", %u, {",
            p->number, index, task ? "task" : "call", task ? call->task : index,
            call->node, call->salt, task ? call->nbuffers : 1U);
    for (unsigned k = 0; task && k < call->nbuffers; k++) {
        fprintf(p->out, "%s", k ? ", " : "");
        print_part(p, index, k, call->buffers[k].data, call->buffers[k].mode);
    }
    if (!task)
        print_part(p, index, 0, call->data, call->mode);
    fprintf(p->out, "}, 0x%x};\n", task ? call->refused : 0U);
    if (task)
        print_flags(p, call, index);
}

/* -- calls -- */

#define LINE(p, ...)                                                           \
    (fprintf((p)->out, "    "), fprintf((p)->out, __VA_ARGS__),                \
     fputc('\n', (p)->out))

static void print_register(const struct printer *p, const struct call *call)
{
    const struct data *data = &p->graph->data[call->data];
    unsigned d = p->base + call->data;

    if (data_has_memory(data))
        LINE(p, "register_at_home(%u, %d, m%u, %" PRIu64 ");", d, data->home, d,
             call->salt);
    else
        LINE(p, "register_shape(&h[%u], %d, &shapes[%u], NULL);", d, data->home,
             d);
    if (data->disordered)
        LINE(p, "starpu_data_set_sequential_consistency_flag(h[%u], 0);", d);
    if (data->redux)
        LINE(p,
             "starpu_data_set_reduction_methods(h[%u], &redux_cl, &init_cl);",
             d);
    if (data->through)
        LINE(p, "starpu_data_set_wt_mask(h[%u], 0x%x);", d, data->through);
    if (data->in_core)
        LINE(p, "starpu_data_set_ooc_flag(h[%u], 0);", d);
    if (data->unimportant)
        LINE(p, "starpu_data_advise_as_important(h[%u], 0);", d);
    if (data->arbitered)
        LINE(p, "starpu_data_assign_arbiter(h[%u], arbiter);", d);
}

static unsigned tag_of(const struct printer *p, unsigned task)
{
    return (p->number + 1) * 256 + task;
}

static void print_deps(const struct printer *p, const struct call *call)
{
    uint64_t before = call->after | call->needs;

    if (!before)
        return;
    fprintf(p->out,
            call->by_tags ? "    starpu_tag_declare_deps(%u, %u"
                          : "    starpu_task_declare_deps(t%u[%u], %u",
            call->by_tags ? tag_of(p, call->task) : p->number,
            call->by_tags ? (unsigned)__builtin_popcountll(before) : call->task,
            (unsigned)__builtin_popcountll(before));
    for (; before; before &= before - 1) {
        unsigned t = (unsigned)__builtin_ctzll(before);

        if (call->by_tags)
            fprintf(p->out, ", (starpu_tag_t)%u", tag_of(p, t));
        else
            fprintf(p->out, ", t%u[%u]", p->number, t);
    }
    fprintf(p->out, ");\n");
}

static void print_attributes(const struct printer *p, unsigned index,
                             const char *task)
{
    const struct call *call = &p->graph->calls[index];
    uint64_t me = bit(call->task);
    bool flags = false;

    for (unsigned k = 0; k < call->nbuffers; k++)
        flags |= call->buffers[k].disordered;
    if (call->priority)
        LINE(p, "%s->priority = %d;", task, call->priority);
    if (call->disordered)
        LINE(p, "%s->sequential_consistency = 0;", task);
    if (flags)
        LINE(p, "%s->handles_sequential_consistency = f%u_%u;", task, p->number,
             index);
    if (call->in_second)
        LINE(p, "%s->sched_ctx = second;", task);
    if (call->synchronous)
        LINE(p, "%s->synchronous = 1;", task);
    if (p->graph->tagged & me)
        LINE(p, "%s->use_tag = 1, %s->tag_id = %u;", task, task,
             tag_of(p, call->task));
    if (p->graph->awaited & me)
        LINE(p, "%s->detach = 0;", task);
    if (p->graph->kept & me)
        LINE(p, "%s->destroy = 0;", task);
    if (call->worker >= 0)
        LINE(p, "%s->execute_on_a_specific_worker = 1, %s->workerid = %d;",
             task, task, call->worker);
}

static void print_task(const struct printer *p, unsigned index)
{
    const struct call *call = &p->graph->calls[index];
    bool later = ((p->graph->kept | p->graph->awaited) & bit(call->task)) ||
                 (!call->by_tags && (call->after | call->needs));
    char codelet[32], task[32];

    print_codelet_name(call, codelet, sizeof(codelet));
    snprintf(task, sizeof(task), later ? "t%u[%u]" : "task", p->number,
             call->task);
    LINE(p, "%s = new_task(&%s, &w%u_%u);", task, codelet, p->number, index);
    print_attributes(p, index, task);
    print_deps(p, call);
    LINE(p, "CHECK(starpu_task_submit(%s));", task);
}

static void print_acquire(const struct printer *p, unsigned index)
{
    const struct call *call = &p->graph->calls[index];
    bool main_memory = is_main(&p->program->machine, call->node);
    const char *mode = mode_text(call->mode);
    char work[32];

    snprintf(work, sizeof(work), "w%u_%u", p->number, index);
    LINE(p, "%s.handle = h[%u];", work, p->base + call->data);
    if (call->how == HOW_CALLBACK) {
        LINE(p,
             "CHECK(starpu_data_acquire_on_node_cb(h[%u], %u, %s, %s, &%s));",
             p->base + call->data, call->node, mode,
             main_memory ? "called_back" : "called_back_elsewhere", work);
    } else if (call->how == HOW_TRY) {
        LINE(p, "if (starpu_data_acquire_on_node_try(h[%u], %u, %s) == 0)",
             p->base + call->data, call->node, mode);
        LINE(p, "    look(&%s, %d), release(&%s);", work, main_memory, work);
    } else if (call->copied) {
        LINE(p, "CHECK(starpu_data_dup_ro(&%s.handle, h[%u], %d));", work,
             p->base + call->data, (int)(call->salt & 1));
    } else {
        LINE(p, "CHECK(starpu_data_acquire_on_node(h[%u], %u, %s));",
             p->base + call->data, call->node, mode);
        LINE(p, "look(&%s, %d);", work, main_memory);
        if (call->downgraded)
            LINE(p, "go_on_reading(&%s);", work);
    }
}

static void print_end_of_duplicate(const struct printer *p, unsigned index)
{
    char work[32];

    snprintf(work, sizeof(work), "w%u_%u", p->number, index);
    LINE(p, "CHECK(starpu_data_acquire_on_node(%s.handle, %u, STARPU_R));",
         work, p->graph->calls[index].node);
    LINE(p, "look(&%s, 1), release(&%s);", work, work);
    LINE(p, "starpu_data_unregister(%s.handle);", work);
}

static void print_release(const struct printer *p, unsigned index)
{
    for (unsigned i = index; i-- > 0;) {
        const struct call *begun = &p->graph->calls[i];

        if (begun->kind == CALL_ACQUIRE && begun->how == HOW_WAIT &&
            begun->data == p->graph->calls[index].data) {
            if (begun->copied)
                print_end_of_duplicate(p, i);
            else
                LINE(p, "release(&w%u_%u);", p->number, i);
            return;
        }
    }
}

static void print_prefetch(const struct printer *p, const struct call *call)
{
    const char *name = call->how == HOW_IDLE ? "idle_prefetch"
                       : call->salt & 1      ? "fetch"
                                             : "prefetch";

    LINE(p, "CHECK(starpu_data_%s_on_node(h[%u], %u, %d));", name,
         p->base + call->data, call->node, call->how != HOW_WAIT);
}

static void print_pieces(const struct printer *p, const struct call *call,
                         unsigned plan, const char *name)
{
    fprintf(p->out, "    %s(h[%u], %u, (starpu_data_handle_t[]){", name,
            p->base + call->data, p->graph->data[call->data].cuts[plan].n);
    for (unsigned d = 0; d < p->graph->ndata; d++)
        if (p->graph->data[d].parent == (int8_t)call->data &&
            p->graph->data[d].plan == plan)
            fprintf(p->out, "h[%u], ", p->base + d);
}

static void print_switch(const struct printer *p, const struct call *call)
{
    const char *name = "starpu_data_partition_readonly_downgrade_submit";

    if (call->mode == PLAN_IDLE)
        name = "starpu_data_unpartition_submit";
    else if (call->how == PLAN_IDLE && call->mode == PLAN_WRITE)
        name = "starpu_data_partition_submit";
    else if (call->how == PLAN_IDLE)
        name = "starpu_data_partition_readonly_submit";
    else if (call->mode == PLAN_WRITE)
        name = "starpu_data_partition_readwrite_upgrade_submit";
    print_pieces(p, call, call->salt & 1, name);
    fprintf(p->out, "}%s);\n", call->mode == PLAN_IDLE ? ", -1" : "");
}

static void print_plan(const struct printer *p, const struct call *call)
{
    const struct data *data = &p->graph->data[call->data];
    const struct cut *cut = &data->cuts[call->how];
    unsigned d = p->base + call->data, n = 0;

    LINE(
        p,
        "starpu_data_partition_plan(h[%u], make_filter(&shapes[%u], "
        "&(struct cut){%u, %u, %u}, &(struct filter){.lengths = {0}}), pieces);",
        d, d, cut->n, cut->axis, cut->style);
    for (unsigned k = 0; k < p->graph->ndata; k++)
        if (p->graph->data[k].parent == (int8_t)call->data &&
            p->graph->data[k].plan == call->how)
            LINE(p, "h[%u] = pieces[%u];", p->base + k, n++);
}

static void print_unpartition(const struct printer *p, const struct call *call)
{
    if (!p->graph->data[call->data].planned) {
        LINE(p, "starpu_data_unpartition(h[%u], %u);", p->base + call->data,
             call->node);
        return;
    }
    print_pieces(p, call, call->how, "starpu_data_partition_clean");
    fprintf(p->out, "});\n");
}

static void print_partition(const struct printer *p, const struct call *call)
{
    const struct data *data = &p->graph->data[call->data];
    unsigned d = p->base + call->data;

    if (data->planned) {
        print_plan(p, call);
        return;
    }
    LINE(p,
         "starpu_data_partition(h[%u], make_filter(&shapes[%u], &(struct cut)"
         "{%u, %u, %u}, &(struct filter){.lengths = {0}}));",
         d, d, data->cuts[0].n, data->cuts[0].axis, data->cuts[0].style);
    for (unsigned k = 0; k < p->graph->ndata; k++)
        if (p->graph->data[k].parent == (int8_t)call->data)
            LINE(p, "h[%u] = starpu_data_get_child(h[%u], %u);", p->base + k, d,
                 p->graph->data[k].part);
}

static void print_unregister(const struct printer *p, unsigned index)
{
    static const char *const suffixes[] = {[HOW_WAIT] = "",
                                           [HOW_SUBMIT] = "_submit",
                                           [HOW_DROP] = "_no_coherency"};
    const struct call *call = &p->graph->calls[index];
    uint64_t hash = p->answers->hash[index][0];
    unsigned d = p->base + call->data;

    LINE(p, "starpu_data_unregister%s(h[%u]);", suffixes[call->how], d);
    if (call->how == HOW_WAIT && hash &&
        data_has_memory(&p->graph->data[call->data]))
        LINE(p, "compare(%u, m%u, UINT64_C(0x%" PRIx64 "));", d, d, hash);
}

void print_around(const struct printer *p, struct around *now,
                  struct around next)
{
    int back = now->away - 1, gone = next.away - 1;

    if (now->paused && !next.paused)
        LINE(p, "starpu_resume();");
    if (back >= 0 && back != gone)
        LINE(p, "come_back(%d);", back);
    if (next.paused && !now->paused)
        LINE(p, "starpu_pause();");
    if (gone >= 0 && back != gone)
        LINE(p, "go_away(%d);", gone);
    *now = next;
}

void print_call(const struct printer *p, unsigned index, struct around *now)
{
    const struct call *call = &p->graph->calls[index];
    unsigned d = p->base + call->data;

    print_around(p, now, around_call(call));
    switch ((enum call_kind)call->kind) {
    case CALL_REGISTER:
        print_register(p, call);
        break;
    case CALL_TASK:
        print_task(p, index);
        break;
    case CALL_ACQUIRE:
        print_acquire(p, index);
        break;
    case CALL_RELEASE:
        print_release(p, index);
        break;
    case CALL_PREFETCH:
        print_prefetch(p, call);
        break;
    case CALL_WONT_USE:
        LINE(p, "starpu_data_wont_use(h[%u]);", d);
        break;
    case CALL_EVICT:
        LINE(p, "(void)starpu_data_evict_from_node(h[%u], %u);", d, call->node);
        break;
    case CALL_INVALIDATE:
        LINE(p, "starpu_data_invalidate%s(h[%u]);",
             call->how == HOW_SUBMIT ? "_submit" : "", d);
        break;
    case CALL_COPY:
        LINE(p, "CHECK(starpu_data_cpy(h[%u], h[%u], %d, NULL, NULL));", d,
             p->base + call->from, call->how == HOW_SUBMIT);
        break;
    case CALL_PARTITION:
        print_partition(p, call);
        break;
    case CALL_UNPARTITION:
        print_unpartition(p, call);
        break;
    case CALL_SWITCH:
        print_switch(p, call);
        break;
    case CALL_WAIT_ALL:
        LINE(p, "CHECK(starpu_task_wait_for_all());");
        break;
    case CALL_WAIT_TASK:
        LINE(p, "CHECK(starpu_task_wait(t%u[%u]));", p->number, call->task);
        break;
    case CALL_WAIT_TAG:
        LINE(p, "CHECK(starpu_tag_wait(%u));", tag_of(p, call->task));
        break;
    case CALL_UNREGISTER:
        print_unregister(p, index);
        break;
    default:
        break;
    }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/codelet.c - the codelets and models of a record. Kernels do nothing, and
 * what functions of models were asked comes with each task.
 */
#include <math.h>
#include <orrery.h>
#include <stdlib.h>
#include <string.h>

#include "record/models.h"
#include "replay/player.h"

static const struct told *told_of(const struct starpu_task *task)
{
    return task->cl_arg;
}

/* --- what models ask --- */

static uint32_t replayed_footprint(struct starpu_task *task)
{
    const struct told *told = told_of(task);

    return told && told->has_footprint ? told->footprint
                                       : starpu_task_data_footprint(task);
}

static size_t size_base(struct starpu_task *task, unsigned impl)
{
    const struct told *told = told_of(task);

    (void)impl;
    return told ? told->size : 0;
}

static double time_on(struct starpu_task *task,
                      struct starpu_perfmodel_arch *arch, unsigned impl)
{
    static const enum starpu_worker_archtype types[ORR_NKINDS] = {
        [ORR_KIND_CPU] = STARPU_CPU_WORKER,
        [ORR_KIND_CUDA] = STARPU_CUDA_WORKER,
        [ORR_KIND_OPENCL] = STARPU_OPENCL_WORKER,
        [ORR_KIND_HIP] = STARPU_HIP_WORKER,
    };
    const struct told *told = told_of(task);

    (void)impl;
    for (int kind = 0; told && kind < ORR_NKINDS; kind++)
        if (arch->devices[0].type == types[kind])
            return told->times[kind];
    return (double)NAN;
}

/* As many as the task's model has. */
static void replayed_parameters(struct starpu_task *task, double *ret)
{
    const struct told *told = told_of(task);
    unsigned n = task->cl->model->nparameters;

    for (unsigned i = 0; i < n; i++)
        ret[i] = told && told->parameters ? told->parameters[i] : 0;
}

/* --- models --- */

static char *player_copy_text(const struct player *player, const char *text)
{
    return text ? player_need(player, strdup(text)) : NULL;
}

/* Cuts names at commas. */
static const char **split_parameter_names(const struct player *player,
                                          char *names, unsigned n)
{
    const char **list = player_need(player, calloc(n + 1, sizeof(*list)));

    for (unsigned i = 0; i < n; i++) {
        size_t length = strcspn(names, ",");

        list[i] = names;
        if (!names[length])
            names += length;
        else
            names += length + 1;
        ((char *)(uintptr_t)list[i])[length] = '\0';
    }
    return list;
}

static void set_terms(const struct player *player, const struct orr_call *call,
                      struct starpu_perfmodel *model)
{
    size_t n = call->terms ? call->exponents.n / call->terms : 0;

    if (!n || n * call->terms != call->exponents.n)
        player_fail(player, "a model of %llu terms with %zu exponents",
                    (unsigned long long)call->terms, call->exponents.n);
    model->nparameters = (unsigned)n;
    model->ncombinations = (unsigned)call->terms;
    model->parameters = replayed_parameters;
    model->parameters_names = split_parameter_names(
        player, player_copy_text(player, call->name ? call->name : ""),
        (unsigned)n);
    model->combinations =
        player_need(player, calloc(call->terms, sizeof(*model->combinations)));
    for (size_t t = 0; t < call->terms; t++) {
        model->combinations[t] =
            player_need(player, calloc(n, sizeof(**model->combinations)));
        for (size_t p = 0; p < n; p++)
            model->combinations[t][p] = (unsigned)call->exponents.at[t * n + p];
    }
}

static void model_set_time_function(struct starpu_perfmodel *model)
{
    model->type = STARPU_PER_ARCH;
    model->arch_cost_function = time_on;
}

void player_model(struct player *player, const struct orr_call *call)
{
    struct model **place = player_at(player, &player->models, &player->nmodels,
                                     call->id, sizeof(*player->models));
    struct starpu_perfmodel *model;
    int type = call->kind ? orr_model_type_find(call->kind) : 0;

    if (type < 0)
        player_fail(player, "a model of the kind \"%s\", which there is not",
                    call->kind);
    *place = player_need(player, calloc(1, sizeof(**place)));
    model = &(*place)->pub;
    model->type = (enum starpu_perfmodel_type)type;
    model->symbol = player_copy_text(player, call->symbol);
    if (call->flags & ORR_MODEL_FOOTPRINTS)
        model->footprint = replayed_footprint;
    if (call->flags & ORR_MODEL_SIZES)
        model->size_base = size_base;
    if (call->flags & ORR_MODEL_TIMES)
        model_set_time_function(model);
    (*place)->hints = call->flags & ORR_MODEL_HINTS;
    if (call->terms)
        set_terms(player, call, model);
}

static struct starpu_perfmodel *player_find_model(const struct player *player,
                                                  uint64_t number)
{
    if (!number)
        return NULL;
    if (number < player->nmodels && player->models[number])
        return &player->models[number]->pub;
    player_fail(player, "there is no model %llu", (unsigned long long)number);
}

/* --- codelets --- */

static void replayed_kernel(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

/* If the machine has no times for the kernel, it takes those of its tasks.
 * Returns whether the machine's models say which workers can run it. */
static bool take_hints(struct starpu_codelet *cl)
{
    struct model *model = (struct model *)cl->model;

    if (!model || !model->hints)
        return false;
    model->known = orrery_knows_kernel(cl->name, model->pub.symbol);
    if (model->known)
        model->pub.type = STARPU_HISTORY_BASED;
    else
        model_set_time_function(&model->pub);
    return model->known == 1;
}

bool player_is_codelet(const struct starpu_codelet *cl)
{
    for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
        if (cl->cpu_funcs[i] == replayed_kernel ||
            cl->cuda_funcs[i] == replayed_kernel ||
            cl->opencl_funcs[i] == replayed_kernel ||
            cl->hip_funcs[i] == replayed_kernel)
            return true;
    return false;
}

bool player_needs_hints(const struct starpu_codelet *cl)
{
    const struct model *model = cl ? (const struct model *)cl->model : NULL;

    return model && model->hints && !model->known;
}

/* `by_models`: the machine's models say which workers can run it. */
static void set_functions(const struct orr_call *call, bool by_models,
                          struct starpu_codelet *cl)
{
    starpu_cpu_func_t *functions[ORR_NKINDS] = {
        [ORR_KIND_CPU] = cl->cpu_funcs,
        [ORR_KIND_CUDA] = cl->cuda_funcs,
        [ORR_KIND_OPENCL] = cl->opencl_funcs,
        [ORR_KIND_HIP] = cl->hip_funcs,
    };
    char *flags[ORR_NKINDS] = {
        [ORR_KIND_CUDA] = cl->cuda_flags,
        [ORR_KIND_OPENCL] = cl->opencl_flags,
        [ORR_KIND_HIP] = cl->hip_flags,
    };

    for (int kind = 0; kind < ORR_NKINDS; kind++)
        for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
            unsigned bit = (unsigned)kind * STARPU_MAXIMPLEMENTATIONS + i;

            if (!by_models && call->implementations[kind] >> i & 1)
                functions[kind][i] = replayed_kernel;
            if (flags[kind] && call->asynchronous >> bit & 1)
                flags[kind][i] = 1;
        }
}

static void set_buffers(const struct player *player,
                        const struct orr_call *call, struct starpu_codelet *cl)
{
    size_t n = call->modes.n, most = n > call->nodes.n ? n : call->nodes.n;

    if (call->buffers > UINT16_MAX || call->buffers < -1 ||
        (call->buffers >= 0 && n != (size_t)call->buffers) ||
        (call->nodes.n && n && call->nodes.n != n))
        player_fail(player,
                    "a codelet of %lld buffers with %zu modes and %zu "
                    "nodes",
                    (long long)call->buffers, n, call->nodes.n);
    cl->nbuffers = (int)call->buffers;
    if (most > STARPU_NMAXBUFS) {
        cl->dyn_modes =
            player_need(player, calloc(most, sizeof(*cl->dyn_modes)));
        cl->dyn_nodes =
            player_need(player, calloc(most, sizeof(*cl->dyn_nodes)));
    }
    cl->specific_nodes = call->nodes.n > 0;
    for (size_t i = 0; i < n; i++)
        STARPU_CODELET_SET_MODE(
            cl, (enum starpu_data_access_mode)call->modes.at[i], i);
    for (size_t i = 0; i < call->nodes.n; i++)
        (cl->dyn_nodes ? cl->dyn_nodes : cl->nodes)[i] =
            player_has_node(call->nodes.at[i]) ? (int)call->nodes.at[i]
                                               : STARPU_SPECIFIC_NODE_CPU;
}

static void free_codelet(struct starpu_codelet *cl)
{
    if (!cl)
        return;
    free((char *)(uintptr_t)cl->name);
    free((char *)(uintptr_t)cl->cpu_funcs_name[0]);
    free(cl->dyn_modes);
    free(cl->dyn_nodes);
    free(cl);
}

static void free_model(struct model *model)
{
    struct starpu_perfmodel *pub = model ? &model->pub : NULL;

    if (!pub)
        return;
    (void)starpu_perfmodel_deinit(pub);
    for (unsigned i = 0; i < pub->ncombinations; i++)
        free(pub->combinations[i]);
    free(pub->combinations);
    /* The first one is where all of the text begins. */
    if (pub->parameters_names)
        free((char *)(uintptr_t)pub->parameters_names[0]);
    free(pub->parameters_names);
    free((char *)(uintptr_t)pub->symbol);
    free(model);
}

void player_forget_codelets(struct player *player)
{
    for (size_t i = 0; i < player->ncodelets; i++)
        free_codelet(player->codelets[i]);
    for (size_t i = 0; i < player->nmodels; i++)
        free_model(player->models[i]);
    free(player->codelets);
    free(player->models);
}

void player_codelet(struct player *player, const struct orr_call *call)
{
    struct starpu_codelet **place =
        player_at(player, &player->codelets, &player->ncodelets, call->id,
                  sizeof(*player->codelets));
    struct starpu_codelet *cl = player_need(player, calloc(1, sizeof(*cl)));

    starpu_codelet_init(cl);
    *place = cl;
    cl->name = player_copy_text(player, call->name);
    cl->cpu_funcs_name[0] = player_copy_text(player, call->called);
    cl->where = (uint32_t)call->where;
    cl->type = (enum starpu_codelet_type)call->type;
    cl->max_parallelism = (int)call->parallelism;
    cl->flags = (int)call->flags;
    cl->color = (unsigned)call->color;
    cl->model = player_find_model(player, call->model);
    cl->energy_model = player_find_model(player, call->energy);
    set_functions(call, take_hints(cl), cl);
    set_buffers(player, call, cl);
}

struct starpu_codelet *player_find_codelet(const struct player *player,
                                           uint64_t number)
{
    if (!number)
        return NULL;
    if (number < player->ncodelets && player->codelets[number])
        return player->codelets[number];
    player_fail(player, "there is no codelet %llu", (unsigned long long)number);
}

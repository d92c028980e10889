/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/reduction.c - the codelets by which data are reduced, or get their
 * first value. Application threads.
 */
#include "core/data/reduction.h"
#include "core/api/api.h"
#include "core/observe/views.h"

static void check_init(const char *call, struct starpu_codelet *cl)
{
    if (cl->nbuffers != 1 || STARPU_CODELET_GET_MODE(cl, 0) != STARPU_W)
        STARPU_ABORT_MSG("%s: the init codelet `%s' must have one buffer, of "
                         "mode STARPU_W, which it begins",
                         call, cl->name ? cl->name : "?");
}

/* As in StarPU, a plain STARPU_RW is accepted and corrected. */
static void check_redux(const char *call, struct starpu_codelet *cl)
{
    const char *name = cl->name ? cl->name : "?";

    if (cl->nbuffers == 2 && STARPU_CODELET_GET_MODE(cl, 0) == STARPU_RW) {
        orr_log_warning("%s: the first buffer of the redux codelet `%s' should "
                        "have the mode STARPU_RW|STARPU_COMMUTE; it is set",
                        call, name);
        STARPU_CODELET_SET_MODE(cl, STARPU_RW | STARPU_COMMUTE, 0);
    }
    if (cl->nbuffers != 2 ||
        STARPU_CODELET_GET_MODE(cl, 0) != (STARPU_RW | STARPU_COMMUTE) ||
        STARPU_CODELET_GET_MODE(cl, 1) != STARPU_R)
        STARPU_ABORT_MSG("%s: the redux codelet `%s' must have two buffers, of "
                         "modes STARPU_RW|STARPU_COMMUTE and STARPU_R: it adds "
                         "the second to the first",
                         call, name);
}

static void set_methods(const char *call, starpu_data_handle_t handle,
                        struct starpu_codelet *redux_cl, void *redux_cl_arg,
                        struct starpu_codelet *init_cl, void *init_cl_arg)
{
    ORR_API(rt, call);
    struct orr_handle *h = orr_api_handle(call, handle);

    if (redux_cl)
        check_redux(call, redux_cl);
    if (init_cl)
        check_init(call, init_cl);
    ORR_RECORD_ABOUT(
        rt, ORR_ABOUT(.handle = h, .redux = redux_cl, .init = init_cl),
        REDUCTION);
    if (orr_handle_set_reduction(h, redux_cl, redux_cl_arg, init_cl,
                                 init_cl_arg) != 0)
        STARPU_ABORT_MSG("%s: out of memory", call);
}

void starpu_data_set_reduction_methods(starpu_data_handle_t handle,
                                       struct starpu_codelet *redux_cl,
                                       struct starpu_codelet *init_cl)
{
    set_methods(__func__, handle, redux_cl, NULL, init_cl, NULL);
}

/* Here the init codelet's calls get init_cl_arg; in StarPU they do not. */
void starpu_data_set_reduction_methods_with_args(
    starpu_data_handle_t handle, struct starpu_codelet *redux_cl,
    void *redux_cl_arg, struct starpu_codelet *init_cl, void *init_cl_arg)
{
    set_methods(__func__, handle, redux_cl, redux_cl_arg, init_cl, init_cl_arg);
}

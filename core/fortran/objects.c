/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/fortran/objects.c - structures of which Fortran has the address only:
 * configurations, codelets, models of performance.
 */
#include <limits.h>

#include "core/fortran/fortran.h"

/* --- configurations --- */

void *fstarpu_conf_allocate(void)
{
    struct starpu_conf *conf = orr_fortran_new(__func__, 1, sizeof(*conf));

    starpu_conf_init(conf);
    return conf;
}

void fstarpu_conf_free(struct starpu_conf *conf)
{
    free(conf);
}

void fstarpu_conf_set_sched_policy_name(struct starpu_conf *conf,
                                        const char *policy_name)
{
    conf->sched_policy_name = orr_fortran_keep(__func__, policy_name);
}

void fstarpu_conf_set_min_prio(struct starpu_conf *conf, int min_prio)
{
    conf->global_sched_ctx_min_priority = min_prio;
}

void fstarpu_conf_set_max_prio(struct starpu_conf *conf, int max_prio)
{
    conf->global_sched_ctx_max_priority = max_prio;
}

void fstarpu_conf_set_ncpu(struct starpu_conf *conf, int ncpu)
{
    ORR_FORTRAN_RANGE("a number of workers", ncpu, 0, STARPU_NMAXWORKERS);
    conf->ncpus = ncpu;
}

void fstarpu_conf_set_ncuda(struct starpu_conf *conf, int ncuda)
{
    ORR_FORTRAN_RANGE("a number of workers", ncuda, 0, STARPU_NMAXWORKERS);
    conf->ncuda = ncuda;
}

void fstarpu_conf_set_nhip(struct starpu_conf *conf, int nhip)
{
    ORR_FORTRAN_RANGE("a number of workers", nhip, 0, STARPU_NMAXWORKERS);
    conf->nhip = nhip;
}

void fstarpu_conf_set_nopencl(struct starpu_conf *conf, int nopencl)
{
    ORR_FORTRAN_RANGE("a number of workers", nopencl, 0, STARPU_NMAXWORKERS);
    conf->nopencl = nopencl;
}

void fstarpu_conf_set_calibrate(struct starpu_conf *conf, int calibrate)
{
    ORR_FORTRAN_RANGE("calibrate", calibrate, 0, 1);
    conf->calibrate = calibrate;
}

void fstarpu_conf_set_bus_calibrate(struct starpu_conf *conf, int bus_calibrate)
{
    ORR_FORTRAN_RANGE("bus_calibrate", bus_calibrate, 0, 1);
    conf->bus_calibrate = bus_calibrate;
}

/* --- codelets --- */

void *fstarpu_codelet_allocate(void)
{
    struct starpu_codelet *cl = orr_fortran_new(__func__, 1, sizeof(*cl));

    starpu_codelet_init(cl);
    return cl;
}

/* Its tasks have ended. Of many buffers it has an array of modes that insertion made. */
void fstarpu_codelet_free(struct starpu_codelet *cl)
{
    if (cl)
        orr_fortran_retire(__func__, cl->dyn_modes);
    orr_fortran_retire(__func__, cl);
}

void fstarpu_codelet_set_name(struct starpu_codelet *cl, const char *cl_name)
{
    cl->name = orr_fortran_keep(__func__, cl_name);
}

void fstarpu_codelet_set_color(struct starpu_codelet *cl, int cl_color)
{
    ORR_FORTRAN_RANGE("a colour", cl_color, 0, INT_MAX);
    cl->color = (unsigned)cl_color;
}

void fstarpu_codelet_set_model(struct starpu_codelet *cl,
                               struct starpu_perfmodel *cl_perfmodel)
{
    cl->model = cl_perfmodel;
}

void fstarpu_codelet_set_energy_model(struct starpu_codelet *cl,
                                      struct starpu_perfmodel *cl_perfmodel)
{
    cl->energy_model = cl_perfmodel;
}

/* The first free place among functions for one sort of workers. */
static unsigned place_for(const char *call, void *const *funcs)
{
    for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
        if (!funcs[i])
            return i;
    orr_log_error("%s: the codelet has %d functions for these workers, as many as there "
                  "may be",
                  call, STARPU_MAXIMPLEMENTATIONS);
    abort();
}

#define PLACE(funcs) ((funcs) + place_for(__func__, (void *const *)(funcs)))

void fstarpu_codelet_add_cpu_func(struct starpu_codelet *cl, void *f_ptr)
{
    *PLACE(cl->cpu_funcs) = (starpu_cpu_func_t)(uintptr_t)f_ptr;
}

void fstarpu_codelet_add_cuda_func(struct starpu_codelet *cl, void *f_ptr)
{
    *PLACE(cl->cuda_funcs) = (starpu_cuda_func_t)(uintptr_t)f_ptr;
}

void fstarpu_codelet_add_hip_func(struct starpu_codelet *cl, void *f_ptr)
{
    *PLACE(cl->hip_funcs) = (starpu_hip_func_t)(uintptr_t)f_ptr;
}

void fstarpu_codelet_add_opencl_func(struct starpu_codelet *cl, void *f_ptr)
{
    *PLACE(cl->opencl_funcs) = (starpu_opencl_func_t)(uintptr_t)f_ptr;
}

/* The next flags that are 0. Where 0 is added the place is not taken: as in StarPU. */
static void add_flags(const char *call, char *flags, intptr_t added)
{
    unsigned i = 0;

    while (i < STARPU_MAXIMPLEMENTATIONS && flags[i])
        i++;
    if (i == STARPU_MAXIMPLEMENTATIONS) {
        orr_log_error("%s: the codelet has flags of %d functions, as many as there may "
                      "be",
                      call, STARPU_MAXIMPLEMENTATIONS);
        abort();
    }
    flags[i] = (char)added;
}

void fstarpu_codelet_add_cuda_flags(struct starpu_codelet *cl, intptr_t flags)
{
    add_flags(__func__, cl->cuda_flags, flags);
}

void fstarpu_codelet_add_hip_flags(struct starpu_codelet *cl, intptr_t flags)
{
    add_flags(__func__, cl->hip_flags, flags);
}

void fstarpu_codelet_add_opencl_flags(struct starpu_codelet *cl, intptr_t flags)
{
    add_flags(__func__, cl->opencl_flags, flags);
}

void fstarpu_codelet_add_buffer(struct starpu_codelet *cl, intptr_t mode)
{
    if (mode <= 0 || mode >= STARPU_ACCESS_MODE_MAX)
        ORR_FORTRAN_FAIL("%#lx is no access mode", (unsigned long)mode);
    if (cl->nbuffers < 0 || cl->nbuffers >= STARPU_NMAXBUFS)
        ORR_FORTRAN_FAIL("the codelet has %d buffers: it may have FSTARPU_NMAXBUFS (%d) "
                         "so, and more by fstarpu_codelet_set_nbuffers and "
                         "FSTARPU_DATA_MODE_ARRAY",
                         cl->nbuffers, STARPU_NMAXBUFS);
    cl->modes[cl->nbuffers++] = (enum starpu_data_access_mode)mode;
}

void fstarpu_codelet_set_variable_nbuffers(struct starpu_codelet *cl)
{
    cl->nbuffers = STARPU_VARIABLE_NBUFFERS;
}

void fstarpu_codelet_set_nbuffers(struct starpu_codelet *cl, int nbuffers)
{
    ORR_FORTRAN_RANGE("a number of buffers", nbuffers, 0, INT_MAX);
    cl->nbuffers = nbuffers;
}

void fstarpu_codelet_set_flags(struct starpu_codelet *cl, intptr_t flags)
{
    cl->flags = (int)flags;
}

void fstarpu_codelet_set_where(struct starpu_codelet *cl, intptr_t where)
{
    if (where < 0)
        ORR_FORTRAN_FAIL("%ld is no mask of FSTARPU_CPU, FSTARPU_CUDA ...", (long)where);
    cl->where = (uint32_t)where;
}

void fstarpu_codelet_set_type(struct starpu_codelet *cl, intptr_t type_constant)
{
    switch (type_constant) {
    case STARPU_SEQ:
    case STARPU_SPMD:
    case STARPU_FORKJOIN:
        cl->type = (enum starpu_codelet_type)type_constant;
        return;
    default:
        ORR_FORTRAN_FAIL("%ld is none of FSTARPU_SEQ, FSTARPU_SPMD and FSTARPU_FORKJOIN",
                         (long)type_constant);
    }
}

void fstarpu_codelet_set_max_parallelism(struct starpu_codelet *cl,
                                         int max_parallelism)
{
    ORR_FORTRAN_RANGE("a number of workers", max_parallelism, 1, INT_MAX);
    cl->max_parallelism = max_parallelism;
}

/* --- models of performance --- */

void *fstarpu_perfmodel_allocate(void)
{
    return orr_fortran_new(__func__, 1, sizeof(struct starpu_perfmodel));
}

void fstarpu_perfmodel_free(struct starpu_perfmodel *model)
{
    if (model)
        starpu_perfmodel_deinit(model);
    orr_fortran_retire(__func__, model);
}

void fstarpu_perfmodel_set_symbol(struct starpu_perfmodel *model,
                                  const char *model_symbol)
{
    model->symbol = orr_fortran_keep(__func__, model_symbol);
}

void fstarpu_perfmodel_set_type(struct starpu_perfmodel *model, intptr_t type)
{
    switch (type) {
    case STARPU_HISTORY_BASED:
    case STARPU_REGRESSION_BASED:
    case STARPU_NL_REGRESSION_BASED:
    case STARPU_MULTIPLE_REGRESSION_BASED:
    case STARPU_PER_ARCH:
    case STARPU_PER_WORKER:
    case STARPU_COMMON:
        model->type = (enum starpu_perfmodel_type)type;
        return;
    default:
        ORR_FORTRAN_FAIL("%ld is no type of a model: FSTARPU_HISTORY_BASED, "
                         "FSTARPU_NL_REGRESSION_BASED ...",
                         (long)type);
    }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/called.c - a name for codelets that have none, see row.h. No state. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* dladdr */
#endif
#include <dlfcn.h>
#include <string.h>

#include "core/cost/assume.h"
#include "core/cost/row.h"
#include "core/device/kind.h"

/* The symbol at that very address; exported ones only are known. */
static const char *exported(orr_kernel_func_t function)
{
    const void *address;
    Dl_info info;

    /* POSIX guarantees that a function pointer fits; ISO C has no cast for it. */
    memcpy(&address, &function, sizeof(address));
    return address && dladdr(address, &info) && info.dli_saddr == address
               ? info.dli_sname
               : NULL;
}

const char *orr_codelet_called(const struct starpu_codelet *cl)
{
    const char *name = cl->cpu_funcs_name[0];

    for (int type = 0; !name && type < STARPU_NARCH; type++)
        if (orr_codelet_functions(cl, (enum starpu_worker_archtype)type) & 1)
            name = exported(orr_codelet_function(
                cl, (enum starpu_worker_archtype)type, 0));
    return name ? name : ORR_UNNAMED_CODELET;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/called.c - a name for codelets that have none, see row.h. No state. */
#include <string.h>

#include "core/base/symbol.h"
#include "core/cost/row.h"
#include "core/device/kind.h"

static char *symbol_of(orr_kernel_func_t function)
{
    const void *address;

    /* POSIX guarantees that a function pointer fits; ISO C has no cast for it. */
    memcpy(&address, &function, sizeof(address));
    return orr_symbol_at(address);
}

char *orr_codelet_called(const struct starpu_codelet *cl)
{
    char *name = NULL;

    if (cl->cpu_funcs_name[0])
        return strdup(cl->cpu_funcs_name[0]);
    for (int type = 0; !name && type < STARPU_NARCH; type++)
        if (orr_codelet_functions(cl, (enum starpu_worker_archtype)type) & 1)
            name = symbol_of(orr_codelet_function(
                cl, (enum starpu_worker_archtype)type, 0));
    return name;
}

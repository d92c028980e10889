/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/speed.c - see speed.h. No state but the marks of entries that
 * matched. */
#include "core/cost/speed.h"

#include <fnmatch.h>
#include <string.h>

#include "core/device/machine.h"

/* "name" as it is quoted: \" and \\ stand for one character. */
static bool is_quoted_name(const char *quoted, const char *name)
{
    for (quoted++; *quoted && *quoted != '"'; quoted++, name++) {
        if (*quoted == '\\' && quoted[1])
            quoted++;
        if (*quoted != *name)
            return false;
    }
    return *name == '\0';
}

bool orr_kernel_pattern_fits(const char *pattern, const char *name)
{
    if (!name)
        return false;
    if (*pattern == '"')
        return is_quoted_name(pattern, name);
    if (strpbrk(pattern, "*?"))
        return fnmatch(pattern, name, FNM_NOESCAPE) == 0;
    return strstr(name, pattern) != NULL;
}

double orr_class_speed(const struct orr_worker_class *class,
                       const struct starpu_codelet *cl,
                       const struct starpu_perfmodel *perfmodel)
{
    double speed = class->speed;

    for (unsigned i = 0; class->kernels && i < class->kernels->n; i++) {
        struct orr_kernel_speed *item = &class->kernels->items[i];

        if (!orr_kernel_pattern_fits(item->pattern, cl ? cl->name : NULL) &&
            !orr_kernel_pattern_fits(item->pattern,
                                     perfmodel ? perfmodel->symbol : NULL))
            continue;
        speed *= item->speed;
        /* Only read when the run is over. */
        __atomic_store_n(&item->met, true, __ATOMIC_RELAXED);
    }
    return speed;
}

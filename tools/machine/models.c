/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/models.c - the kernel models of a machine, see machine.h. */
#include "tools/common/tool.h"
#include "tools/machine/machine.h"

#include "core/base/installed.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

struct each {
    int (*visit)(const struct perfmodel_item *item, void *arg);
    void *arg;
};

static int skip_shadowed(const struct perfmodel_item *item, void *arg)
{
    const struct each *each = arg;

    return item->shadowed ? 0 : each->visit(item, each->arg);
}

int machine_models_each(const struct orr_machine_desc *desc,
                        int (*visit)(const struct perfmodel_item *item,
                                     void *arg),
                        void *arg)
{
    char data[PATH_MAX];
    struct orr_sampling_options dirs = {
        .perf_model_dir = orr_getenv("STARPU_PERF_MODEL_DIR"),
        .machine_dir = desc->sampling_dir,
        .home = orr_sampling_home(orr_getenv),
        .perf_model_path = orr_getenv("STARPU_PERF_MODEL_PATH"),
        .datadir = orr_data_directory(data),
    };
    struct perfmodel_place place = {.host = desc->host, .chosen = true};
    struct each each = {visit, arg};
    int rc = orr_sampling_new(&dirs, &place.sampling);

    if (rc == 0)
        rc = perfmodel_each(&place, desc->host, skip_shadowed, &each);
    if (rc == -ENOMEM)
        tool_error("out of memory");
    orr_sampling_free(place.sampling);
    return rc;
}

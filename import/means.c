/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/means.c - see means.h. */
#include "import/means.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct mean {
    double sum[ORR_NKINDS];
    unsigned long n[ORR_NKINDS];
};

unsigned means_kind(const char *worker)
{
    static const char *const names[ORR_NKINDS] = {
        [ORR_KIND_CPU] = "CPU",
        [ORR_KIND_CUDA] = "CUDA",
        [ORR_KIND_OPENCL] = "OpenCL",
        [ORR_KIND_HIP] = "HIP",
    };

    /* Behind the rank of an MPI process. */
    while (worker && (isdigit((unsigned char)*worker) || *worker == '_'))
        worker++;
    for (unsigned k = 0; worker && k < ORR_NKINDS; k++)
        if (!strncasecmp(worker, names[k], strlen(names[k])))
            return k + 1;
    return 0;
}

/* The number of the task's kernel and footprint. */
static int find_kernel_of_task(struct flow_index *index,
                               const struct flow_task *task, size_t next,
                               size_t *ret)
{
    size_t length = strlen(task->kernel) + 16;
    char *key = malloc(length);
    int rc = 0;

    if (!key)
        return -ENOMEM;
    snprintf(key, length, "%s\n%x", task->kernel,
             task->has_footprint ? task->footprint : 0);
    *ret = flow_find(index, key);
    if (*ret == FLOW_NONE)
        rc = flow_set(index, key, *ret = next);
    free(key);
    return rc;
}

static int add_up(struct flow *flow, struct flow_index *index, size_t *of,
                  struct mean *means)
{
    size_t n = 0;

    for (size_t t = 0; t < flow->ntasks; t++) {
        const struct flow_task *task = &flow->tasks[t];
        unsigned kind = task->kind_of_worker ? task->kind_of_worker - 1 : 0;

        if (find_kernel_of_task(index, task, n, &of[t]))
            return -ENOMEM;
        n += of[t] == n;
        if (!(task->us >= 0))
            continue;
        means[of[t]].sum[kind] += task->us;
        means[of[t]].n[kind]++;
    }
    return 0;
}

int means_take(struct flow *flow)
{
    struct flow_index index = {0};
    size_t *of = calloc(flow->ntasks + 1, sizeof(*of));
    struct mean *means = calloc(flow->ntasks + 1, sizeof(*means));
    int rc = of && means ? add_up(flow, &index, of, means) : -ENOMEM;

    for (size_t t = 0; !rc && t < flow->ntasks; t++)
        for (unsigned k = 0; k < ORR_NKINDS; k++)
            flow->tasks[t].times[k] =
                means[of[t]].n[k]
                    ? means[of[t]].sum[k] / (double)means[of[t]].n[k]
                    : (double)NAN;
    flow->per_kind = !rc;
    flow_index_done(&index);
    free(of);
    free(means);
    return rc ? flow_no_memory(flow) : 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/kernel_models.c - see kernel_models.h. */
#include "import/kernel_models.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/base/number.h"

/* µs: what takes less is no kernel, but stands for a copy. */
#define LEAST_US 0.001

/* A task, by what tells its row from others. */
struct sample {
    const char *kernel;
    unsigned kind; /* of worker */
    int64_t device;
    uint32_t footprint;
    double us;
};

static int samples_compare(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    int order = strcmp(x->kernel, y->kernel);

    if (order)
        return order;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->footprint > y->footprint) - (x->footprint < y->footprint);
}

static bool is_sample(const struct flow_task *task)
{
    return task->kind == FLOW_TASK && task->kind_of_worker > 0 &&
           task->has_footprint && task->us > LEAST_US;
}

static size_t take_samples(const struct flow *flow, struct sample *ret, int64_t *ret_devices)
{
    size_t n = 0;

    for (size_t t = 0; t < flow->ntasks; t++) {
        const struct flow_task *task = &flow->tasks[t];

        if (!is_sample(task))
            continue;
        ret[n] = (struct sample){
            task->model ? task->model : task->kernel, task->kind_of_worker - 1,
            task->device < 0 ? 0 : task->device, task->footprint, task->us};
        if (ret[n].device >= *ret_devices)
            *ret_devices = ret[n].device + 1;
        n++;
    }
    if (n)
        qsort(ret, n, sizeof(*ret), samples_compare);
    return n;
}

/* The samples of one footprint, n of them. */
static void put_entry(const struct sample *samples, size_t n, FILE *out)
{
    double sum = 0, squares = 0, mean, variance = 0;

    for (size_t i = 0; i < n; i++) {
        sum += samples[i].us;
        squares += samples[i].us * samples[i].us;
    }
    mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        variance += (samples[i].us - mean) * (samples[i].us - mean);
    orr_fprintf(out,
                "{\"footprint\": \"%08x\", \"size\": 0, \"flops\": 0.0, \"mean\": %.17g, "
                "\"deviation\": %.17g, \"sum\": %.17g, \"sum2\": %.17g, \"n\": %zu}",
                samples->footprint, mean, sqrt(variance / (double)n), sum, squares, n);
}

/* The samples of one kernel on one device, as those of device `device`. */
static void put_combination(const struct sample *samples, size_t n,
                            size_t number, size_t device, FILE *out)
{
    static const char *const types[ORR_NKINDS] = {[ORR_KIND_CPU] = "cpu",
                                                  [ORR_KIND_CUDA] = "cuda",
                                                  [ORR_KIND_OPENCL] = "opencl",
                                                  [ORR_KIND_HIP] = "hip"};

    fprintf(
        out,
        "{\"number\": %zu, \"devices\": [{\"type\": \"%s\", \"id\": %zu, \"cores\": 1}], "
        "\"implementations\": [{\"regression\": {\"sumlnx\": 0.0, \"sumlnx2\": 0.0, "
        "\"sumlny\": 0.0, \"sumlnxlny\": 0.0, \"alpha\": null, \"beta\": null, \"n\": 0, "
        "\"minx\": 0, \"maxx\": 0, \"a\": null, \"b\": null, \"c\": null, "
        "\"coefficients\": []}, \"entries\": [\n",
        number, types[samples->kind], device);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && samples[end].footprint == samples[i].footprint; end++)
            ;
        put_entry(samples + i, end - i, out);
        fputs(end < n ? ",\n" : "\n", out);
    }
    fputs("]}]}", out);
}

/* All samples of one kernel. */
static int put_model(const struct sample *samples, size_t n, int64_t devices, size_t copies,
                     FILE *out)
{
    json_t *symbol = json_string(samples->kernel);
    size_t combinations = 0;

    fputs("{\"symbol\": ", out);
    if (!symbol || json_dumpf(symbol, out, JSON_ENCODE_ANY) < 0) {
        json_decref(symbol);
        return -ENOMEM;
    }
    json_decref(symbol);
    fputs(", \"host\": \"timeline\", \"origin\": \"measured\", \"ranged\": false, "
          "\"combinations\": [\n",
          out);
    for (size_t copy = 0; copy < copies; copy++)
        for (size_t i = 0, end; i < n; i = end) {
            const struct sample *first = samples + i;

            for (end = i; end < n && samples[end].kind == first->kind &&
                          samples[end].device == first->device;
                 end++)
                ;
            if (copy && first->kind == ORR_KIND_CPU)
                continue; /* all processors have one */
            fputs(combinations ? ",\n" : "", out);
            put_combination(first, end - i, combinations,
                            copy * (size_t)devices + (size_t)first->device,
                            out);
            combinations++;
        }
    fputs("]}", out);
    return 0;
}

int flow_write_models(struct flow *flow, size_t copies, FILE *out)
{
    struct sample *samples = calloc(flow->ntasks + 1, sizeof(*samples));
    int64_t devices = 1;
    size_t n = samples ? take_samples(flow, samples, &devices) : 0;
    int rc = samples ? 0 : -ENOMEM;

    flow->line = 0;
    if (!rc && !n) {
        free(samples);
        return flow_wrong(
            flow, "no kernel has a time and a footprint in it, of which "
                  "models could be made");
    }
    fputs("{\"format\": \"orrery-perfmodels\", \"version\": 1, \"models\": [\n", out);
    for (size_t i = 0, end; !rc && i < n; i = end) {
        for (end = i; end < n && !strcmp(samples[end].kernel, samples[i].kernel); end++)
            ;
        rc = put_model(samples + i, end - i, devices, copies, out);
        fputs(end < n ? ",\n" : "\n", out);
    }
    fputs("]}\n", out);
    free(samples);
    return rc ? flow_no_memory(flow) : 0;
}

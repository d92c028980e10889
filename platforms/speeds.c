/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/speeds.c - see speeds.h. No state. */
#include "platforms/speeds.h"

#include "platforms/units.h"

#include <stdio.h>
#include <string.h>

/* The number in `text`, 0 when it is none or is not above 0. */
static double parse_positive(const char *text)
{
    double value;

    return orr_number_parse(text, &value) || !(value > 0) ? 0 : value;
}

double orr_host_desc_speed(const struct orr_host_desc *host)
{
    const char *text = orr_host_desc_prop(host, ORR_PROP_SPEED);
    double value = text ? parse_positive(text) : 1;

    return value > 0 ? value : 1;
}

/* What stands between the brackets of the property's name. */
static const char *pattern_of(const char *id, size_t *ret_length)
{
    const size_t head = sizeof(ORR_PROP_KERNEL_SPEED) - 1;
    size_t length = strlen(id);

    if (strncmp(id, ORR_PROP_KERNEL_SPEED, head) != 0 || length < head + 2 ||
        id[length - 1] != ']')
        return NULL;
    *ret_length = length - head - 1;
    return id + head;
}

const char *orr_host_desc_kernel_speed(const struct orr_host_desc *host,
                                       unsigned prop, size_t *ret_length,
                                       double *ret_speed)
{
    const char *pattern = pattern_of(host->props[prop].id, ret_length);
    double value = pattern ? parse_positive(host->props[prop].value) : 0;

    if (!(value > 0))
        return NULL;
    *ret_speed = value;
    return pattern;
}

int orr_host_desc_models_of(const struct orr_host_desc *host, const char *kind)
{
    const char *name = orr_host_desc_prop(host, ORR_PROP_MODELS_OF);
    struct orr_host_desc other;

    if (!name)
        return -1;
    other = *host;
    other.id = (char *)(uintptr_t)name; /* only read */
    return orr_host_desc_number(&other, kind);
}

static const char *models_problem(const struct orr_host_desc *host, char *text,
                                  size_t size)
{
    static const char *const kinds[] = {"CPU", "CUDA", "OpenCL"};
    const char *name = orr_host_desc_prop(host, ORR_PROP_MODELS_OF);

    for (unsigned k = 0; name && k < 3; k++)
        if (orr_host_desc_number(host, kinds[k]) >= 0 &&
            orr_host_desc_models_of(host, kinds[k]) >= 0)
            name = NULL;
    if (!name)
        return NULL;
    snprintf(text, size,
             "property " ORR_PROP_MODELS_OF " is \"%.40s\": write the name of "
             "a device of the same type, such "
             "as CUDA0",
             name);
    return text;
}

const char *orr_host_desc_speeds_problem(const struct orr_host_desc *host,
                                         char *text, size_t size)
{
    const size_t head = sizeof(ORR_PROP_KERNEL_SPEED) - 2; /* without "[" */
    size_t length;

    for (unsigned i = 0; i < host->nprops; i++) {
        const struct orr_prop_desc *prop = &host->props[i];
        bool kernel = strncmp(prop->id, ORR_PROP_KERNEL_SPEED, head) == 0;

        if (kernel && !pattern_of(prop->id, &length)) {
            snprintf(text, size,
                     "property \"%.80s\": write the kernel in brackets, "
                     "orrery-kernel-speed[gemm]",
                     prop->id);
            return text;
        }
        if (!kernel && strcmp(prop->id, ORR_PROP_SPEED) != 0)
            continue;
        if (parse_positive(prop->value) > 0)
            continue;
        snprintf(text, size,
                 "property %.80s is \"%.40s\": write a number above 0, 2 for "
                 "twice as fast",
                 prop->id, prop->value);
        return text;
    }
    return models_problem(host, text, size);
}

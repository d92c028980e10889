/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/project_rates.c - see project_rates.h. One thread. */
#include "tools/perfmodel/project_rates.h"
#include "platforms/rates.h"
#include "tools/common/tool.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *project_rate_example(int type, enum orr_rate_of of)
{
    if (type != ORR_DEVICE_CPU)
        return orr_rate_example(of);
    return of == ORR_RATE_OF_FLOPS ? "64 GFlop/s" : "10 GB/s";
}

const char *project_host_prefix(int type)
{
    return type == ORR_DEVICE_CUDA     ? "CUDA"
           : type == ORR_DEVICE_OPENCL ? "OpenCL"
                                       : "HIP";
}

/* --- options --- */

static void skip_option_blanks(const char **text)
{
    while (isspace((unsigned char)**text))
        ++*text;
}

/* "cuda", with blanks before and behind; -1: no type. */
static int parse_device_type(const char **text)
{
    char name[16] = "";
    size_t n = 0;
    int type;

    skip_option_blanks(text);
    while (n + 1 < sizeof(name) && isalpha((unsigned char)(*text)[n])) {
        name[n] = (*text)[n];
        n++;
    }
    type = orr_device_type_find(name);
    *text += n;
    skip_option_blanks(text);
    return type < PROJECT_NTYPES ? type : -1;
}

/* `type` is what the wrong part speaks of, -1: of nothing that is known. */
static int wrong_rates(const char *option, const char *text,
                       enum orr_rate_of of, int type)
{
    int shown = type < 0 ? ORR_DEVICE_CUDA : type;

    tool_error("perfmodel project: --%s %s: give a type of device%s and its "
               "rate with the unit, such as '%s=%s'; several are separated by "
               "commas",
               option, text, type < 0 ? " (cpu, cuda, opencl, hip)" : "",
               orr_device_type_name(shown), project_rate_example(shown, of));
    return -EINVAL;
}

/* "cuda = 19.5 TFlop/s, cpu=64Gf" */
static int read_rates(const char *option, const char *text, enum orr_rate_of of,
                      struct orr_rates rates[PROJECT_NTYPES])
{
    const char *at = text ? text : "";

    while (*at) {
        int type = parse_device_type(&at);
        double rate;

        if (type < 0 || *at++ != '=' || !orr_rate_take(of, &at, &rate))
            return wrong_rates(option, text, of, type);
        *(of == ORR_RATE_OF_FLOPS ? &rates[type].flops : &rates[type].bytes) =
            rate;
        skip_option_blanks(&at);
        if (*at && !strchr(",;", *at))
            return wrong_rates(option, text, of, type);
        at += *at != '\0';
    }
    return 0;
}

int project_rates_read(struct project_rates *rates, const char *prefix)
{
    char peak[32], bandwidth[32];
    int rc;

    snprintf(peak, sizeof(peak), "%speak", prefix);
    snprintf(bandwidth, sizeof(bandwidth), "%sbandwidth", prefix);
    rc = read_rates(peak, rates->peak, ORR_RATE_OF_FLOPS, rates->of);
    if (rc == 0)
        rc = read_rates(bandwidth, rates->bandwidth, ORR_RATE_OF_BYTES,
                        rates->of);
    return rc;
}

/* --- descriptions --- */

/* Per µs, 0 where the description does not say. */
static double described_rate(const struct orr_machine_desc *desc,
                             const char *host, enum orr_rate rate)
{
    double per_second =
        desc ? orr_machine_desc_rate_of(desc, host, rate) : (double)NAN;

    return per_second > 0 ? per_second / 1e6 : 0;
}

struct orr_rates project_rates_of(const struct project_rates *given,
                                  const struct orr_machine_desc *desc,
                                  const struct orr_device *device)
{
    struct orr_rates rates = given->of[device->type];
    char host[32] = "MAIN";

    if (device->type != ORR_DEVICE_CPU)
        snprintf(host, sizeof(host), "%s%d", project_host_prefix(device->type),
                 device->devid);
    if (!(rates.flops > 0) && given->tensor)
        rates.flops = described_rate(desc, host,
                                     given->is_double ? ORR_RATE_FP64_TENSOR
                                                      : ORR_RATE_FP32_TENSOR);
    if (!(rates.flops > 0))
        rates.flops = described_rate(
            desc, host, given->is_double ? ORR_RATE_FP64 : ORR_RATE_FP32);
    if (!(rates.bytes > 0))
        rates.bytes = described_rate(desc, host, ORR_RATE_MEMORY);
    return rates;
}

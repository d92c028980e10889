/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/noise.c - see noise.h. */
#include "core/cost/noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/draw.h"
#include "core/base/number.h"
#include "core/base/splitmix.h"
#include "perfmodel/distributions.h"

/* "0.002", "0.2%", "0.2 %"; NaN for anything else. */
static double share_of(const char *text)
{
    char *end;
    double value = orr_strtod(text, &end);

    if (end == text)
        return (double)NAN;
    end += strspn(end, " ");
    if (*end == '%') {
        value /= 100;
        end++;
    }
    return *end == '\0' && value >= 0 && value <= 10 ? value : (double)NAN;
}

int orr_noise_init(struct orr_noise *noise, const struct orr_config *config,
                   struct orr_error *err)
{
    const char *text = orr_config_string(config, ORR_CFG_SIM_NOISE);

    *noise = (struct orr_noise){
        .relative = (double)NAN,
        .seed = (uint64_t)orr_config_int(config, ORR_CFG_SIM_SEED),
        .draw = (uint64_t)orr_config_int(config, ORR_CFG_SIM_DRAW)};
    if (!text || !*text)
        return 0;
    if (strcmp(text, "measured") != 0) {
        noise->relative = share_of(text);
        if (isnan(noise->relative))
            return orr_fail(
                err, -EINVAL,
                "ORRERY_SIM_NOISE=%.100s: the values are `measured' "
                "and a share from 0 to 10, such as 0.02 or 2%%",
                text);
    }
    noise->on = !(noise->relative == 0);
    return 0;
}

/* A normal variable of the task's own. */
static double task_normal_deviate(uint64_t seed, uint64_t id)
{
    uint64_t state = seed, mixed = orr_splitmix(&state) ^ id;
    double unit = orr_splitmix_unit(&mixed);

    return orr_normal_quantile(fmax(unit, 0x1p-54));
}

double orr_noise_draw(const struct orr_noise *noise, const char *kernel,
                      const char *device, uint32_t footprint,
                      enum orr_origin origin, double error)
{
    uint64_t key;

    if (!noise->draw || (origin != ORR_ORIGIN_DERIVED &&
                         origin != ORR_ORIGIN_INTERPOLATED))
        return 1;
    if (!(error >= 0))
        error = ORR_NOISE_UNSTATED;
    key = orr_draw_key(orr_draw_key(ORR_DRAW_KEY, kernel), device);
    if (origin == ORR_ORIGIN_INTERPOLATED)
        key ^= footprint;
    return orr_draw_factor(noise->draw, key, error);
}

double orr_noise_length(const struct orr_noise *noise,
                        struct orr_noise_source *source, uint64_t id, double us)
{
    const struct orr_variation given = {.deviation = noise->relative};
    double z = task_normal_deviate(noise->seed, id), phi;

    if (!(us > 0))
        return us;
    if (!isnan(noise->relative))
        return us * orr_variation_factor(&given, z);
    phi = source->variation.phi;
    if (phi > 0) {
        if (!isnan(source->last))
            z = phi * source->last + sqrt(1 - phi * phi) * z;
        source->last = z;
    }
    return us * orr_variation_factor(&source->variation, z);
}

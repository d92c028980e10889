/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/data.c - reads a model file with its side file, and formats
 * their values. One thread.
 */
#include "tools/common/tool.h"
#include "tools/perfmodel/perfmodel.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

unsigned perfmodel_minimum(void)
{
    const char *text = getenv("STARPU_CALIBRATE_MINIMUM");
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : -1;

    if (n == 0 && end != text)
        return 1; /* as the library has it */
    return n > 0 && n < 1000000 ? (unsigned)n : 10;
}

void perfmodel_unload(struct perfmodel_data *data)
{
    orr_model_file_free(data->file);
    orr_side_free(data->side);
    *data = (struct perfmodel_data){0};
}

const struct orr_side_entry *
perfmodel_side_of(const struct perfmodel_data *data,
                  const struct orr_model_comb *comb, unsigned impl,
                  const struct orr_model_row *row, bool *ret_stale)
{
    bool stale = false;
    const struct orr_side_entry *entry =
        data->side ? orr_side_find(data->side, comb->devices, comb->ndevices,
                                   impl, row, &stale)
                   : NULL;

    if (ret_stale)
        *ret_stale = stale;
    return entry;
}

/* Looks for the side entry of each row. */
static enum perfmodel_side side_state(const struct perfmodel_data *data)
{
    unsigned valid = 0, nstale = 0;

    for (unsigned c = 0; c < data->file->ncombs; c++) {
        const struct orr_model_comb *comb = &data->file->combs[c];

        for (unsigned i = 0; i < comb->nimpls; i++)
            for (unsigned r = 0; r < comb->impls[i].nrows; r++) {
                bool stale;

                if (perfmodel_side_of(data, comb, i, &comb->impls[i].rows[r],
                                      &stale))
                    valid++;
                nstale += stale;
            }
    }
    if (nstale > 0)
        return valid ? PERFMODEL_SIDE_PARTLY : PERFMODEL_SIDE_STALE;
    return valid ? PERFMODEL_SIDE_VALID : PERFMODEL_SIDE_NONE;
}

static int perfmodel_data_load_side(const char *path,
                                    struct perfmodel_data *data)
{
    char *side = NULL;
    int rc = orr_side_path(path, &side);

    if (rc == -EINVAL)
        return 0; /* a file outside of a sampling directory */
    if (rc == 0)
        rc = orr_side_read(side, ORR_SIDE_SAMPLES, &data->side, &data->problem);
    free(side);
    if (rc == -ENOMEM)
        return rc;
    if (rc == 0)
        data->state = side_state(data);
    else if (rc != -ENOENT)
        data->state = PERFMODEL_SIDE_BROKEN;
    return 0;
}

int perfmodel_load(const char *path, struct perfmodel_data *ret,
                   struct orr_error *err)
{
    struct perfmodel_data data = {0};
    int rc = orr_model_file_read(path, &data.file, err);

    if (rc < 0)
        return rc;
    rc = perfmodel_data_load_side(path, &data);
    if (rc < 0) {
        perfmodel_unload(&data);
        return orr_fail(err, rc, "%s: out of memory", path);
    }
    *ret = data;
    return 0;
}

/* -- texts -- */

const char *perfmodel_side_text(enum perfmodel_side state)
{
    static const char *const texts[] = {
        [PERFMODEL_SIDE_NONE] = "none",
        [PERFMODEL_SIDE_VALID] = "valid",
        [PERFMODEL_SIDE_PARTLY] = "partly stale",
        [PERFMODEL_SIDE_STALE] = "stale",
        [PERFMODEL_SIDE_BROKEN] = "broken",
    };

    return texts[state];
}

void perfmodel_note_energy(const char *symbol)
{
    tool_error("note: model files do not say whether they have times or "
               "energies; those of %s are taken for joules, as --energy says",
               symbol);
}

const char *perfmodel_time_text(double us, char ret[PERFMODEL_TEXT])
{
    static const struct {
        double us;
        const char *name;
    } units[] = {{1e6, "s"}, {1e3, "ms"}, {1, "µs"}, {1e-3, "ns"}};
    unsigned u = 0;
    double value;

    if (isnan(us) || isinf(us)) {
        snprintf(ret, PERFMODEL_TEXT, "%s", isnan(us) ? "-" : "inf");
        return ret;
    }
    /* The first unit in which three digits do not round to less than 1. */
    while (u < 3 && fabs(us) < units[u].us * 0.9995)
        u++;
    if (us == 0)
        u = 2;
    value = us / units[u].us;
    snprintf(ret, PERFMODEL_TEXT, "%.*f %s",
             fabs(value) >= 99.95   ? 0
             : fabs(value) >= 9.995 ? 1
                                    : 2,
             value, units[u].name);
    return ret;
}

const char *perfmodel_arch_text(const struct orr_device *devices,
                                unsigned ndevices, char ret[PERFMODEL_TEXT])
{
    size_t at = 0;

    ret[0] = '\0';
    for (unsigned d = 0; d < ndevices && at < PERFMODEL_TEXT; d++) {
        const char *type = orr_device_type_name(devices[d].type);
        char number[16];

        snprintf(number, sizeof(number), "type%d-", devices[d].type);
        at += (size_t)snprintf(ret + at, PERFMODEL_TEXT - at, "%s%s%d",
                               d ? "+" : "", type ? type : number,
                               devices[d].devid);
        if (devices[d].ncores != 1 && at < PERFMODEL_TEXT)
            at += (size_t)snprintf(ret + at, PERFMODEL_TEXT - at, ":%d",
                                   devices[d].ncores);
    }
    return ret;
}

bool perfmodel_arch_wanted(const char *arch, const struct orr_device *devices,
                           unsigned ndevices)
{
    char text[PERFMODEL_TEXT];
    const char *type;

    if (!arch)
        return true;
    if (!strcasecmp(arch, perfmodel_arch_text(devices, ndevices, text)))
        return true;
    type = ndevices == 1 ? orr_device_type_name(devices[0].type) : NULL;
    return type && !strcasecmp(arch, type);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/origins.c - where the rows of models come from, counted, see
 * perfmodel.h. No state. */
#include "tools/perfmodel/perfmodel.h"

#include <stdio.h>

enum orr_origin perfmodel_row_origin(const struct orr_model_row *row,
                                     enum orr_origin of_file,
                                     const struct orr_side_entry *side)
{
    return orr_model_row_origin(row, of_file, side && side->nseen > 0);
}

void perfmodel_count_origins(const struct perfmodel_data *data,
                             enum orr_origin of_file,
                             struct perfmodel_origins *ret)
{
    const struct orr_model_file *file = data->file;

    *ret = (struct perfmodel_origins){{0}};
    for (unsigned c = 0; c < file->ncombs; c++)
        for (unsigned i = 0; i < file->combs[c].nimpls; i++) {
            const struct orr_model_impl *impl = &file->combs[c].impls[i];

            for (unsigned r = 0; r < impl->nrows; r++)
                ret->n[perfmodel_row_origin(
                    &impl->rows[r], of_file,
                    perfmodel_side_of(data, &file->combs[c], i, &impl->rows[r],
                                      NULL))]++;
        }
}

const char *perfmodel_origins_text(const struct perfmodel_origins *origins,
                                   char ret[PERFMODEL_ORIGINS_TEXT])
{
    unsigned kinds = 0, used = 0;

    for (int o = 0; o < ORR_NORIGINS; o++)
        kinds += origins->n[o] > 0;
    snprintf(ret, PERFMODEL_ORIGINS_TEXT, "-");
    for (int o = 0; o < ORR_NORIGINS; o++) {
        const char *name = orr_origin_name((enum orr_origin)o);

        if (origins->n[o] == 0)
            continue;
        if (kinds == 1)
            snprintf(ret, PERFMODEL_ORIGINS_TEXT, "%s", name);
        else
            used += (unsigned)snprintf(ret + used,
                                       PERFMODEL_ORIGINS_TEXT - used, "%s%s %u",
                                       used ? ", " : "", name, origins->n[o]);
    }
    return ret;
}

enum orr_origin perfmodel_origins_least(const struct perfmodel_origins *origins)
{
    enum orr_origin least = ORR_ORIGIN_MEASURED;

    for (int o = 0; o < ORR_NORIGINS; o++)
        if (origins->n[o] > 0)
            least = (enum orr_origin)o;
    return least;
}

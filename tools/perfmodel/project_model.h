/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/project_model.h - one model for the devices of another machine,
 * from those of the devices where it was measured. One thread.
 */
#pragma once

#include <jansson.h>

#include "platforms/machine_desc.h"
#include "tools/common/table.h"
#include "tools/perfmodel/perfmodel.h"
#include "tools/perfmodel/project_rates.h"

/* A command, and what became of it so far. */
struct projecting {
    const char *machine, *host, *from, *output, *sizes;
    struct project_rates given, from_given; /* as options say */
    const char *only;                       /* text of the option, or NULL */
    bool leave_out[PROJECT_NTYPES];
    bool force;
    struct orr_sampling *own; /* owned */
    const char *folder; /* lent by it: where models are written by default,
                               * the first that programs read but for the
                               * machine's */
    bool is_here;       /* the models were measured on this machine */
    bool core_is_known; /* its rates were looked for */
    char **symbols;     /* patterns, borrowed; none: all */
    int nsymbols;
    /* Opened. */
    struct perfmodel_place source, target;
    struct orr_machine_desc *desc,
        *from_desc; /* owned; from_desc may be NULL */
    struct table table;
    bool json;
    json_t *models; /* owned: an array, NULL where a table is printed */
    unsigned nmodels, nrows;
    unsigned nthere;   /* models that the machine has already */
    unsigned nlimited; /* rows at the limit of their device */
    unsigned nmixed;   /* of accelerators, from those of cores */
    const char *unknown; /* why a row has no time, of which none could be made; NULL */
    /* Rates that were needed. */
    bool missing[PROJECT_NTYPES], from_missing[PROJECT_NTYPES];
};

/* Adds to `to` the rows of each device of the machine, and to the table what they
 * come from. Devices whose rates are not known are noted. Errors: -ENOMEM. */
int project_model(struct projecting *p, const char *symbol,
                  const struct perfmodel_data *from, struct orr_model_file *to);

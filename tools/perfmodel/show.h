/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/show.h - the two output formats of `orrery perfmodel show`.
 * One thread.
 */
#pragma once

#include "tools/perfmodel/perfmodel.h"

struct perfmodel_view {
    const char *symbol, *host, *path; /* borrowed */
    const char *arch;                 /* only this one; NULL: all */
    bool energy;                      /* values are joules */
    enum orr_origin origin;           /* of the file */
    const struct perfmodel_data *data;
};

/* Each writes to stdout. Errors: -ENOMEM. */
int perfmodel_show_text(const struct perfmodel_view *view);
int perfmodel_show_json(const struct perfmodel_view *view);

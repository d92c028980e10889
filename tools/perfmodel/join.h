/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/join.h - several measurements of one model made one, and the
 * result put in its file. One thread.
 */
#pragma once

#include "tools/perfmodel/perfmodel.h"

/* Counts of a join. */
struct perfmodel_report {
    const char *name; /* of the model, for warnings; borrowed */
    unsigned nadded;  /* rows that only the later source has */
    unsigned njoined; /* rows that both have: samples added up */
    unsigned nsame;   /* rows that are the same measures: taken once */
    unsigned nreplaced; /* rows that one has computed: the other's stay */
    unsigned nsizes;  /* conflicts: other size, same footprint; not joined */
    unsigned nmeans;  /* conflicts: means further apart than their errors */
};

/* Adds what `from` has to `to`, which may be empty but has a file. Rows of the
 * same device set (exactly), implementation and footprint add n, Σy and Σy²;
 * their valid side entries are joined in order of time. Rows with the same n,
 * Σy and Σy² are the same measures and count once. Of two sizes under one
 * footprint the one with more samples stays alone. Regression sums are added
 * and α, β computed anew; a, b, c and coefficients are those of more samples.
 * Each row keeps its origin. Figures that were computed are not joined with
 * measures: these stay alone. Of two other origins a row has the one that says
 * less (perfmodel/origin.h).
 * Conflicts give warnings on stderr. Errors: -ENOMEM, -EOVERFLOW with a message
 * when samples do not fit a model file; `to` is then fit to be freed. */
int perfmodel_join(struct perfmodel_data *to, const struct perfmodel_data *from,
                   struct perfmodel_report *report, struct orr_error *err);

/* Whether models can be written into the sampling directory, which may be missing
 * so far; else a message of `command`, whose option -o names it. */
bool perfmodel_can_write_to(const char *command, const char *directory);

/* What to do with a model that is in the file already. */
enum perfmodel_mode {
    PERFMODEL_NEW,     /* it stays: -EEXIST */
    PERFMODEL_REPLACE, /* it is lost */
    PERFMODEL_JOIN,    /* the other is joined to it */
};

/* Writes the model file `path` and its side file, each in one step, under the
 * lock of model files; the directories are made. Errors: with a message, the
 * model file is then as before. */
int perfmodel_write(const char *path, const struct perfmodel_data *data,
                    enum perfmodel_mode mode, struct perfmodel_report *report,
                    struct orr_error *err);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel.h - what the verbs of `orrery perfmodel` share: where models
 * lie, whose they are, and reading one together with its side file. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "perfmodel/sampling.h"
#include "perfmodel/side.h"
#include "perfmodel/store.h"

/* The verbs. argv[0] is "perfmodel VERB"; each returns the process's exit code
 * (tools/tool.h). */
int orr_perfmodel_list(int argc, char **argv);
int orr_perfmodel_show(int argc, char **argv);
int orr_perfmodel_export(int argc, char **argv);
int orr_perfmodel_import(int argc, char **argv);
int orr_perfmodel_merge(int argc, char **argv);
int orr_perfmodel_prune(int argc, char **argv);
int orr_perfmodel_check(int argc, char **argv);
int orr_perfmodel_plot(int argc, char **argv);

/* -- where and whose -- */

/* What the command line says; all borrowed, NULL: not given. */
struct orr_perfmodel_choice {
    const char *machine; /* -m: a machine of platforms/, its models and host */
    const char *host;    /* --host, wins over the machine's */
};

/* A search path and a host name, opened from the environment and a choice. */
struct orr_perfmodel_place {
    struct orr_sampling *sampling; /* owned */
    char *host;                    /* owned; the choice's, else this machine's,
                                    * as the runtime would name it */
    bool chosen;                   /* the choice named a machine or a host */
};

/* Opens it; *ret is ended with orr_perfmodel_close. Errors are printed: -ENOENT
 * for a machine that is not known, -EINVAL, -ENOMEM. */
int orr_perfmodel_open(const struct orr_perfmodel_choice *choice,
                       struct orr_perfmodel_place *ret);
void orr_perfmodel_close(struct orr_perfmodel_place *place);

/* One model file. All lent for the visit. */
struct orr_perfmodel_item {
    const char *path;
    const char *dir;    /* the folder it lies in, ".../codelets/45" */
    const char *name;   /* of the file */
    const char *symbol; /* the name up to its first dot */
    const char *host;   /* what follows that dot, "" without */
    bool shadowed;      /* an earlier directory has a file of that name, which
                         * is read instead */
};

/* Visits the model files of `host` (NULL: of all hosts), directory after
 * directory, sorted by name within each. A result other than 0 ends it and is
 * returned. Errors: -ENOMEM. */
int orr_perfmodel_each(
    const struct orr_perfmodel_place *place, const char *host,
    int (*visit)(const struct orr_perfmodel_item *item, void *arg), void *arg);

/* The path of `symbol`'s model for the place's host, for the caller to free();
 * a symbol with a dot in it is a file name. Errors are printed: -ENOENT, with
 * the hosts that have such a model; -EINVAL; -ENOMEM. */
int orr_perfmodel_find(const struct orr_perfmodel_place *place,
                       const char *symbol, char **ret);

/* -- reading -- */

/* How a model file and its side file stand to each other. */
enum orr_perfmodel_side {
    ORR_PERFMODEL_SIDE_NONE,   /* there is none */
    ORR_PERFMODEL_SIDE_VALID,  /* its entries belong to the rows */
    ORR_PERFMODEL_SIDE_PARTLY, /* some rows were changed by somebody else */
    ORR_PERFMODEL_SIDE_STALE,  /* all were */
    ORR_PERFMODEL_SIDE_BROKEN, /* it cannot be read: see `problem` */
};

/* A model file and what lies beside it. */
struct orr_perfmodel_data {
    struct orr_model_file *file; /* owned */
    struct orr_side *side;       /* owned; NULL without, or when broken */
    enum orr_perfmodel_side state;
    struct orr_error problem; /* why the side file cannot be read */
};

/* Reads both; *ret is ended with orr_perfmodel_unload. A broken side file is
 * no error. Errors: as orr_model_file_read. */
int orr_perfmodel_load(const char *path, struct orr_perfmodel_data *ret,
                       struct orr_error *err);
void orr_perfmodel_unload(struct orr_perfmodel_data *data);

/* The side entry of a row, NULL without a valid one. Lent. */
const struct orr_side_entry *
orr_perfmodel_side_of(const struct orr_perfmodel_data *data,
                      const struct orr_model_comb *comb, unsigned impl,
                      const struct orr_model_row *row, bool *ret_stale);

/* Samples from which a row is used in a real run: STARPU_CALIBRATE_MINIMUM, or
 * 10. */
unsigned orr_perfmodel_minimum(void);

/* -- texts -- */

#define ORR_PERFMODEL_TEXT 48

/* "valid", "none", "stale" … */
const char *orr_perfmodel_side_text(enum orr_perfmodel_side state);

/* A duration in µs with its unit, "190 µs", "12.3 ms", "4.56 s"; "-" for NaN.
 * Three significant digits. Returns `ret`. */
const char *orr_perfmodel_time_text(double us, char ret[ORR_PERFMODEL_TEXT]);

/* A device set as options name it: "cuda0", "cpu0", "cpu0:4" for four cores,
 * "cpu0+cuda1". Returns `ret`. */
const char *orr_perfmodel_arch_text(const struct orr_device *devices,
                                    unsigned ndevices,
                                    char ret[ORR_PERFMODEL_TEXT]);

/* Whether `arch` means the device set: the name as above, or a type alone
 * ("cuda"), in any letter case; NULL means all. */
bool orr_perfmodel_arch_wanted(const char *arch,
                               const struct orr_device *devices,
                               unsigned ndevices);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/perfmodel.h - what the verbs of `orrery perfmodel` share: the
 * places and hosts of models, and reading one together with its side file. One
 * thread.
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
 * (tools/common/tool.h). */
int perfmodel_list(int argc, char **argv);
int perfmodel_show(int argc, char **argv);
int perfmodel_export(int argc, char **argv);
int perfmodel_import(int argc, char **argv);
int perfmodel_merge(int argc, char **argv);
int perfmodel_prune(int argc, char **argv);
int perfmodel_check(int argc, char **argv);
int perfmodel_plot(int argc, char **argv);
int perfmodel_project(int argc, char **argv);

/* -- places and hosts -- */

/* The options; all borrowed, NULL: not given. */
struct perfmodel_choice {
    const char *machine; /* -m: a machine of platforms/, its models and host */
    const char *host;    /* --host, wins over the machine's */
};

/* A search path and a host name, opened from the environment and a choice. */
struct perfmodel_place {
    struct orr_sampling *sampling; /* owned */
    char *host;                    /* owned; the choice's, else this machine's,
                                    * as the runtime would name it */
    bool chosen;                   /* the choice named a machine or a host */
    char *derived_dir; /* owned: of a machine whose figures are derived, where
                        * its models lie; NULL: they are measured, or not known
                        * not to be */
};

/* The origin of the rows of a model file: the one that it states, else derived
 * if it comes with such a machine, else measured, here or there. */
enum orr_origin perfmodel_origin(const struct perfmodel_place *place,
                                 const char *path,
                                 const struct orr_model_file *file);

/* The origin of a row of a file of that origin, with its valid side entry or
 * NULL. */
enum orr_origin perfmodel_row_origin(const struct orr_model_row *row,
                                     enum orr_origin of_file,
                                     const struct orr_side_entry *side);

/* Opens it; *ret is ended with perfmodel_close. Errors are printed: -ENOENT
 * for a machine that is not known, -EINVAL, -ENOMEM. */
int perfmodel_open(const struct perfmodel_choice *choice,
                   struct perfmodel_place *ret);
void perfmodel_close(struct perfmodel_place *place);

/* The same, with the message in `err`. */
int perfmodel_open_place(const struct perfmodel_choice *choice,
                         struct perfmodel_place *ret, struct orr_error *err);

/* One model file. All lent for the visit. */
struct perfmodel_item {
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
int perfmodel_each(const struct perfmodel_place *place, const char *host,
                   int (*visit)(const struct perfmodel_item *item, void *arg),
                   void *arg);

/* The path of `symbol`'s model for the place's host, for the caller to free();
 * a symbol with a dot in it is a file name. Errors are printed: -ENOENT, with
 * the hosts that have such a model; -EINVAL; -ENOMEM. */
int perfmodel_find(const struct perfmodel_place *place, const char *symbol,
                   char **ret);

/* -- reading -- */

/* The state of a side file relative to its model file. */
enum perfmodel_side {
    PERFMODEL_SIDE_NONE,   /* there is none */
    PERFMODEL_SIDE_VALID,  /* its entries belong to the rows */
    PERFMODEL_SIDE_PARTLY, /* some rows were changed by another program */
    PERFMODEL_SIDE_STALE,  /* all were */
    PERFMODEL_SIDE_BROKEN, /* it cannot be read: see `problem` */
};

/* A model file and its side file. */
struct perfmodel_data {
    struct orr_model_file *file; /* owned */
    struct orr_side *side;       /* owned; NULL without, or when broken */
    enum perfmodel_side state;
    struct orr_error problem; /* why the side file cannot be read */
};

/* Reads both; *ret is ended with perfmodel_unload. A broken side file is
 * no error. Errors: as orr_model_file_read. */
int perfmodel_load(const char *path, struct perfmodel_data *ret,
                   struct orr_error *err);
void perfmodel_unload(struct perfmodel_data *data);

/* The side entry of a row, NULL without a valid one. Lent. */
const struct orr_side_entry *
perfmodel_side_of(const struct perfmodel_data *data,
                  const struct orr_model_comb *comb, unsigned impl,
                  const struct orr_model_row *row, bool *ret_stale);

/* How many rows there are of each origin. */
struct perfmodel_origins {
    unsigned n[ORR_NORIGINS];
};

/* Of all rows of a model. */
void perfmodel_count_origins(const struct perfmodel_data *data,
                             enum orr_origin of_file,
                             struct perfmodel_origins *ret);

#define PERFMODEL_ORIGINS_TEXT 160

/* "derived", or "measured 2, derived 4"; "-" without rows. Returns `ret`. */
const char *perfmodel_origins_text(const struct perfmodel_origins *origins,
                                   char ret[PERFMODEL_ORIGINS_TEXT]);

/* The one that says least; MEASURED without rows. */
enum orr_origin perfmodel_origins_least(const struct perfmodel_origins *origins);

/* Samples from which a row is used in a real run: STARPU_CALIBRATE_MINIMUM, or
 * 10. */
unsigned perfmodel_minimum(void);

/* The text for tool_if_interrupted while models are written one after the
 * other. */
#define PERFMODEL_INTERRUPTED                                                  \
    "models that were written are whole and stay, the others are as they "     \
    "were; repeat it"

/* -- texts -- */

#define PERFMODEL_TEXT 48

/* "valid", "none", "stale" … */
const char *perfmodel_side_text(enum perfmodel_side state);

/* The note of an option --energy: nothing in a file could confirm it. */
void perfmodel_note_energy(const char *symbol);

/* A duration in µs with its unit, "190 µs", "12.3 ms", "4.56 s"; "-" for NaN.
 * Three significant digits. Returns `ret`. */
const char *perfmodel_time_text(double us, char ret[PERFMODEL_TEXT]);

/* A device set as options name it: "cuda0", "cpu0", "cpu0:4" for four cores,
 * "cpu0+cuda1". Returns `ret`. */
const char *perfmodel_arch_text(const struct orr_device *devices,
                                unsigned ndevices, char ret[PERFMODEL_TEXT]);

/* Whether `arch` means the device set: the name as above, or a type alone
 * ("cuda"), in any letter case; NULL means all. */
bool perfmodel_arch_wanted(const char *arch, const struct orr_device *devices,
                           unsigned ndevices);

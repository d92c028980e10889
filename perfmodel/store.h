/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/store.h - the version-45 model files that StarPU and we share, as
 * plain data. No threads in here: each object belongs to one caller. Files are
 * locked against other threads and processes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "perfmodel/arch.h"
#include "perfmodel/origin.h"

#define ORR_MODEL_VERSION 45

/* The measures of one kernel for one footprint. Durations in µs, or joules in
 * energy models. */
struct orr_model_row {
    uint32_t hash;
    uint32_t n;       /* samples */
    uint64_t size;    /* bytes, or the value of the model's size_base */
    double flops;     /* 0: unknown; NaN: tasks of this hash disagreed */
    double mean, dev; /* mean and standard deviation */
    double sum, sum2; /* Σy, Σy² */
    /* The origin of a row, if it differs from its file's, in a comment on the
     * line before it: "# origin: measured". UNKNOWN: as its file. */
    enum orr_origin origin;
    bool ranged; /* as in struct orr_model_file; only with an origin */
};

/* The regressions of one implementation; x = size, y = duration. */
struct orr_model_fit {
    double sumlnx, sumlnx2, sumlny, sumlnxlny; /* Σ over accepted samples */
    double alpha, beta;                        /* y = alpha·x^beta, or NaN */
    uint32_t n;
    uint64_t minx, maxx;
    double a, b, c;  /* y = a·x^b + c, or NaN */
    unsigned ncoeff; /* multiple regression, else 0 */
    double *coeff;   /* owned, ncoeff */
};

struct orr_model_impl {
    struct orr_model_fit fit;
    unsigned nrows;
    struct orr_model_row *rows; /* owned, in the order of the file */
};

struct orr_model_comb {
    unsigned number; /* only for the comments of the file that is written */
    unsigned ndevices;
    struct orr_device *devices; /* owned */
    unsigned nimpls;
    struct orr_model_impl *impls; /* owned */
};

struct orr_model_file {
    /* The origin of its rows, in a comment before the version: "# origin:
     * derived ranged", or one that begins with that word. UNKNOWN without. */
    enum orr_origin origin;
    bool ranged; /* twice a row's deviation is how far its mean may be off */
    unsigned ncombs;
    struct orr_model_comb *combs; /* owned */
};

/* Makes an empty file, owned by the caller. Errors: -ENOMEM. */
int orr_model_file_new(struct orr_model_file **ret);
void orr_model_file_free(struct orr_model_file *file);

/* Each appends an element, borrowed in *ret; earlier elements of the same array
 * move. The comb copies `devices`; an implementation starts
 * empty, all those below `impl` are added too. Errors: -ENOMEM; what was there
 * is as before. */
int orr_model_file_add_comb(struct orr_model_file *file,
                            const struct orr_device *devices, unsigned ndevices,
                            struct orr_model_comb **ret);
int orr_model_comb_get_impl(struct orr_model_comb *comb, unsigned impl,
                            struct orr_model_impl **ret);
int orr_model_impl_add_row(struct orr_model_impl *impl,
                           const struct orr_model_row *row);

/* Copies what a fit owns too; what `to` owned is freed. Errors: -ENOMEM; `to`
 * is then as before. */
int orr_model_fit_copy(struct orr_model_fit *to,
                       const struct orr_model_fit *from);

/* The origin of a row: its own, else that of its file; of a computed one that
 * was measured since (`sampled`: there are samples of it here), that of measures.
 */
enum orr_origin orr_model_row_origin(const struct orr_model_row *row,
                                     enum orr_origin of_file, bool sampled);

/* Whether twice the deviation is how far the mean may be off. */
bool orr_model_row_is_ranged(const struct orr_model_row *row,
                             const struct orr_model_file *file);

/* Makes the row say its origin where that is not what its file says. */
void orr_model_row_say_origin(struct orr_model_row *row,
                              const struct orr_model_file *file,
                              enum orr_origin origin, bool ranged);

/* Clears a fit, and frees what it owned. */
void orr_model_fit_clear(struct orr_model_fit *fit);

/* Whether the fit is empty. */
bool orr_model_fit_is_empty(const struct orr_model_fit *fit);

/* alpha·x^beta, and a·x^b + c; NaN without. */
double orr_model_fit_power(const struct orr_model_fit *fit, double x);
double orr_model_fit_offset(const struct orr_model_fit *fit, double x);

/* The standard error of a row's mean, relative to it, as if its samples were
 * independent; 0 when there are too few. */
double orr_model_row_error(const struct orr_model_row *row);

/* The first comb equal to `devices` under `homogeneous` (perfmodel/arch.h, an
 * exactly equal one preferred), NULL without. Lent. */
struct orr_model_comb *
orr_model_file_find_comb(const struct orr_model_file *file,
                         const struct orr_device *devices, unsigned ndevices,
                         unsigned homogeneous);

/* The first row of footprint `hash`, NULL without. Lent. */
struct orr_model_row *orr_model_impl_find_row(const struct orr_model_impl *impl,
                                              uint32_t hash);

/* Parses `size` bytes of text. `name` stands for the file in messages. *ret is
 * owned by the caller. All implementations are kept, also those StarPU drops.
 * Errors: -ENODATA when the text has nothing but blanks and comments; -EINVAL
 * when it is broken, with "name:line: reason" in `err`; -ENOMEM. */
int orr_model_file_parse(const char *name, const char *text, size_t size,
                         struct orr_model_file **ret, struct orr_error *err);

/* Formats `file` as the same grammar demands, numbers in the C locale. The
 * text, ended by a NUL beyond *ret_size, is for the caller to free(). Errors:
 * -ENOMEM. */
int orr_model_file_format(const struct orr_model_file *file, char **ret_text,
                          size_t *ret_size);

/* Reads and parses `path` under a shared lock; may block until a writer has
 * finished. Errors: -ENOENT, silently, when there is no such file; those of
 * orr_model_file_parse; others of open and read, with a message. */
int orr_model_file_read(const char *path, struct orr_model_file **ret,
                        struct orr_error *err);

/* Changes `file`, what `path` holds now, in place. A negative result gives the
 * update up. It is called again, with what the file then holds, when another
 * process made the file meanwhile. */
typedef int (*orr_model_edit_fn)(struct orr_model_file *file, void *arg,
                                 struct orr_error *err);

/* Reads `path`, lets `edit` change what it holds, and puts the result in its
 * place, in one step: a reader sees the old file or the new one, also when this
 * process is killed at any moment. No other Orrery process, and no StarPU that
 * takes its own lock, writes meanwhile. The directory, with mode 0700, and the
 * file are made when they are missing; an empty file counts as missing. *ret,
 * unless NULL, is what the file then holds, owned by the caller. May block on
 * locks. Errors as orr_model_file_read has them, -EINVAL for a broken file
 * included, and those of writing, with a message; the file is then as
 * before. */
int orr_model_file_update(const char *path, orr_model_edit_fn edit, void *arg,
                          struct orr_model_file **ret, struct orr_error *err);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bound/programs.c - see programs.h. No state; any thread. */
#include "bound/programs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Class names are for texts; these are for columns. */
enum { CLASS_NAME = 40, KERNEL_NAME = 30, VARIANT_NAME = CLASS_NAME + 16 };

struct making {
    const struct orr_bound_instance *in;
    struct orr_lp *lp;
    char (*class_names)[CLASS_NAME]; /* owned */
    unsigned makespan;               /* column */
};

/* The letters a worker's name begins with: "cuda" of "CUDA 0.0 (A100)". */
static int class_letters(const struct orr_bound_instance *in, unsigned c,
                         const char **ret)
{
    *ret = in->graph->workers[in->classes[c].worker].name;
    return (int)strcspn(*ret, " 0123456789(");
}

/* Classes with the same letters get their numbers as well. */
static void class_name(struct making *m, unsigned c)
{
    const char *name, *other;
    int n = class_letters(m->in, c, &name);
    bool alike = n == 0;

    for (unsigned d = 0; d < m->in->nclasses; d++)
        alike = alike || (d != c && class_letters(m->in, d, &other) == n &&
                          strncmp(name, other, (size_t)n) == 0);
    if (n > CLASS_NAME / 2)
        n = CLASS_NAME / 2;
    if (alike)
        snprintf(m->class_names[c], CLASS_NAME, "%.*s_class%u", n, name, c);
    else
        snprintf(m->class_names[c], CLASS_NAME, "%.*s", n, name);
}

static int program_begin(struct making *m, const struct orr_bound_instance *in,
                         struct orr_lp *lp, const char *what)
{
    const char *machine = in->graph->machine;
    char title[400];

    *m = (struct making){.in = in, .lp = lp};
    snprintf(title, sizeof(title),
             "%s, %u tasks%s%.100s, times in ms. Least makespan; %s", what,
             in->ntasks, machine ? " on " : "", machine ? machine : "",
             in->merged ? "devices merged, the fastest counts"
                        : "workers of a class are equal");
    orr_lp_begin(lp, title);
    m->class_names = calloc(in->nclasses + 1, sizeof(*m->class_names));
    if (!m->class_names)
        return -ENOMEM;
    for (unsigned c = 0; c < in->nclasses; c++)
        class_name(m, c);
    m->makespan = orr_lp_column(lp, 1, 0, INFINITY, false, "makespan");
    return 0;
}

static int program_end(struct making *m)
{
    free(m->class_names);
    return orr_lp_end(m->lp);
}

/* Variants of one class differ in their widths: the names of those of several
 * workers have the width. */
static const char *variant_name(const struct making *m, unsigned variant,
                                char to[VARIANT_NAME])
{
    const struct orr_bound_variant *w = &m->in->variants[variant];

    if (w->width == 1)
        return m->class_names[w->class];
    snprintf(to, VARIANT_NAME, "%s_%u_together", m->class_names[w->class],
             w->width);
    return to;
}

static int kernel_length(const char *symbol)
{
    size_t n = strlen(symbol);

    return n < KERNEL_NAME ? (int)n : KERNEL_NAME;
}

/* Makes the row of a class; the caller adds the coefficients. */
static void class_row(struct making *m, unsigned c)
{
    orr_lp_row(m->lp, -INFINITY, 0, "busy_%s", m->class_names[c]);
    orr_lp_coef(m->lp, m->makespan, -(double)m->in->classes[c].size);
}

int orr_bound_area_program(const struct orr_bound_instance *in, bool integer,
                           struct orr_lp *lp)
{
    struct making m;
    unsigned *column; /* per variant, of types with tasks */
    int rc = program_begin(&m, in, lp,
                           integer ? "Integer area bound" : "Area bound");

    if (rc)
        return rc;
    column = calloc(in->nvariants + 1, sizeof(*column));
    if (!column)
        lp->failed = true;
    for (unsigned k = 0; column && k < in->ntypes; k++) {
        const struct orr_bound_task_type *type = &in->types[k];
        int n = kernel_length(type->symbol);

        if (type->ntasks == 0)
            continue;
        for (unsigned w = 0; w < type->nvariants; w++) {
            char name[VARIANT_NAME];

            column[type->first_variant + w] = orr_lp_column(
                lp, 0, 0, INFINITY, integer, "x_%.*s_%u_%s", n, type->symbol, k,
                variant_name(&m, type->first_variant + w, name));
        }
        orr_lp_row(lp, type->ntasks, type->ntasks, "do_%.*s_%u", n,
                   type->symbol, k);
        for (unsigned w = 0; w < type->nvariants; w++)
            orr_lp_coef(lp, column[type->first_variant + w], 1);
    }
    for (unsigned c = 0; column && c < in->nclasses; c++) {
        class_row(&m, c);
        for (unsigned w = 0; w < in->nvariants; w++)
            if (in->variants[w].class == c && column[w])
                orr_lp_coef(lp, column[w],
                            in->variants[w].ms * in->variants[w].width);
    }
    free(column);
    return program_end(&m);
}

/* --- precedence --- */

/* Per task: its column c_, and the first one of its variants. */
struct task_columns {
    unsigned completion, first;
};

static const struct orr_bound_task_type *
program_task_type(const struct making *m, unsigned t)
{
    return &m->in->types[m->in->type[t]];
}

static uint64_t program_task_id(const struct making *m, unsigned t)
{
    return m->in->graph->tasks[t].id;
}

static void task_add(struct making *m, unsigned t, bool integer,
                     struct task_columns *columns)
{
    const struct orr_bound_task_type *type = program_task_type(m, t);
    uint64_t id = program_task_id(m, t);

    columns->completion =
        orr_lp_column(m->lp, 0, 0, INFINITY, false, "c_%" PRIu64, id);
    for (unsigned w = 0; w < type->nvariants; w++) {
        char name[VARIANT_NAME];
        unsigned column = orr_lp_column(
            m->lp, 0, 0, integer ? 1 : (double)INFINITY, integer,
            "x_%.*s_%" PRIu64 "_%s", kernel_length(type->symbol), type->symbol,
            id, variant_name(m, type->first_variant + w, name));

        if (w == 0)
            columns->first = column;
    }
    orr_lp_row(m->lp, 1, 1, "place_%" PRIu64, id);
    for (unsigned w = 0; w < type->nvariants; w++)
        orr_lp_coef(m->lp, columns->first + w, 1);
}

/* Completion less the task's time: what its start row and edges share. */
static void start_coefs(struct making *m, unsigned t,
                        const struct task_columns *columns)
{
    const struct orr_bound_task_type *type = program_task_type(m, t);

    orr_lp_coef(m->lp, columns[t].completion, 1);
    for (unsigned w = 0; w < type->nvariants; w++)
        orr_lp_coef(m->lp, columns[t].first + w,
                    -m->in->variants[type->first_variant + w].ms);
}

static void task_times(struct making *m, unsigned t,
                       const struct task_columns *columns)
{
    const struct orr_bound_instance *in = m->in;

    if (in->first_pred[t] == in->first_pred[t + 1]) {
        orr_lp_row(m->lp, 0, INFINITY, "start_%" PRIu64, program_task_id(m, t));
        start_coefs(m, t, columns);
    }
    for (unsigned e = in->first_pred[t]; e < in->first_pred[t + 1]; e++) {
        orr_lp_row(m->lp, 0, INFINITY, "after_%" PRIu64 "_%" PRIu64,
                   program_task_id(m, t), program_task_id(m, in->preds[e]));
        start_coefs(m, t, columns);
        orr_lp_coef(m->lp, columns[in->preds[e]].completion, -1);
    }
    if (in->first_succ[t] == in->first_succ[t + 1]) {
        orr_lp_row(m->lp, 0, INFINITY, "end_%" PRIu64, program_task_id(m, t));
        orr_lp_coef(m->lp, m->makespan, 1);
        orr_lp_coef(m->lp, columns[t].completion, -1);
    }
}

/* Walks through all tasks once per class: classes are few. */
static void precedence_areas(struct making *m,
                             const struct task_columns *columns)
{
    const struct orr_bound_instance *in = m->in;

    for (unsigned c = 0; c < in->nclasses; c++) {
        class_row(m, c);
        for (unsigned t = 0; t < in->ntasks; t++) {
            const struct orr_bound_task_type *type = program_task_type(m, t);

            for (unsigned w = 0; w < type->nvariants; w++) {
                const struct orr_bound_variant *variant =
                    &in->variants[type->first_variant + w];

                if (variant->class == c)
                    orr_lp_coef(m->lp, columns[t].first + w,
                                variant->ms * variant->width);
            }
        }
    }
}

int orr_bound_precedence_program(const struct orr_bound_instance *in,
                                 bool integer, struct orr_lp *lp)
{
    struct task_columns *columns;
    struct making m;
    int rc = program_begin(
        &m, in, lp, integer ? "Integer precedence bound" : "Precedence bound");

    if (rc)
        return rc;
    columns = calloc(in->ntasks + 1, sizeof(*columns));
    if (columns) {
        for (unsigned t = 0; t < in->ntasks; t++)
            task_add(&m, t, integer, &columns[t]);
        for (unsigned t = 0; t < in->ntasks; t++)
            task_times(&m, t, columns);
        precedence_areas(&m, columns);
    } else {
        lp->failed = true;
    }
    free(columns);
    return program_end(&m);
}

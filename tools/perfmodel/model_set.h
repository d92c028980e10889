/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_set.h - the models of a host, read to be checked
 * together. One thread.
 */
#pragma once

#include "tools/perfmodel/model_findings.h"
#include "tools/perfmodel/perfmodel.h"

struct model_set {
    struct check_model *models;   /* owned; what they borrow is in `files` */
    struct model_set_file *files; /* owned */
    unsigned n, slots;
    struct orr_findings problems; /* of files that cannot be read */
};

/* Reads the models of the place's host whose symbol is `wanted`; NULL: all. *ret
 * is ended with model_set_done, also after a failure. Errors: -ENOMEM. */
int model_set_read(const struct perfmodel_place *place,
                   bool (*wanted)(const char *symbol, const void *arg),
                   const void *arg, struct model_set *ret);
void model_set_done(struct model_set *set);

/* The model of that symbol, NULL without. Lent. */
const struct check_model *model_set_find(const struct model_set *set,
                                         const char *symbol);

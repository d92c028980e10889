/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/study/yaml.h - YAML as a tree that knows its lines (libyaml). One thread. The library
 * exports more names than it documents, yaml_free among them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

/* A list has items, a map has keys beside them. */
struct yaml_value {
    enum yaml_kind kind;
    unsigned line; /* from 1 */
    bool quoted;   /* a text in quotation marks: "null" is one, null is nothing */
    char *text;    /* owned; NULL: none of that kind */
    char **keys;   /* owned, as are the texts */
    struct yaml_value **items; /* owned */
    size_t n;
};

/* Reads a file with one document, without anchors that contain themselves; an empty one is an
 * empty map. *ret is for yaml_value_free. Errors: -EINVAL, or those of the system, with a message that
 * names file and line. */
int yaml_value_read(const char *path, struct yaml_value **ret, struct orr_error *err);
void yaml_value_free(struct yaml_value *value);

/* Of a map; NULL: it has none. */
const struct yaml_value *yaml_value_find(const struct yaml_value *map, const char *key);

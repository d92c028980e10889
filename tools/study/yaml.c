/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/study/yaml.c - see yaml.h. */
#include "tools/study/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* A list in a list in a list; also ends anchors that contain themselves. */
enum { DEEPEST = 16 };

struct yaml_reader {
    const char *path; /* borrowed, for messages */
    yaml_document_t document;
    struct orr_error *err;
};

static int out_of_memory(const struct yaml_reader *reader)
{
    return orr_fail(reader->err, -ENOMEM, "%s: out of memory", reader->path);
}

static int convert(struct yaml_reader *reader, int number, unsigned depth,
                   struct yaml_value **ret);

/* Adds the item, with its key in a map. */
static int add_item(struct yaml_reader *reader, struct yaml_value *to, int key, int item,
                    unsigned depth)
{
    struct yaml_value **items = realloc(to->items, (to->n + 1) * sizeof(struct yaml_value *));
    int rc;

    if (!items)
        return out_of_memory(reader);
    to->items = items;
    items[to->n] = NULL;
    if (to->kind == YAML_MAP) {
        const yaml_node_t *node = yaml_document_get_node(&reader->document, key);
        char **keys = realloc(to->keys, (to->n + 1) * sizeof(*keys));

        if (!keys)
            return out_of_memory(reader);
        to->keys = keys;
        if (node->type != YAML_SCALAR_NODE)
            return orr_fail(reader->err, -EINVAL, "%s:%zu: a name is to stand before the colon",
                            reader->path, node->start_mark.line + 1);
        if (yaml_value_find(to, (const char *)node->data.scalar.value))
            return orr_fail(reader->err, -EINVAL, "%s:%zu: `%s' is there twice", reader->path,
                            node->start_mark.line + 1, node->data.scalar.value);
        keys[to->n] = strdup((const char *)node->data.scalar.value);
        if (!keys[to->n])
            return out_of_memory(reader);
    }
    to->n++;
    rc = convert(reader, item, depth + 1, &items[to->n - 1]);
    return rc;
}

static int convert_items(struct yaml_reader *reader, const yaml_node_t *node, unsigned depth,
                         struct yaml_value *to)
{
    int rc = 0;

    if (node->type == YAML_SEQUENCE_NODE) {
        const yaml_node_item_t *end = node->data.sequence.items.top;

        for (const yaml_node_item_t *i = node->data.sequence.items.start; i < end && rc == 0; i++)
            rc = add_item(reader, to, 0, *i, depth);
    } else {
        const yaml_node_pair_t *end = node->data.mapping.pairs.top;

        for (const yaml_node_pair_t *p = node->data.mapping.pairs.start; p < end && rc == 0; p++)
            rc = add_item(reader, to, p->key, p->value, depth);
    }
    return rc;
}

static int convert(struct yaml_reader *reader, int number, unsigned depth,
                   struct yaml_value **ret)
{
    const yaml_node_t *node = yaml_document_get_node(&reader->document, number);
    struct yaml_value *value = calloc(1, sizeof(*value));

    if (!value)
        return out_of_memory(reader);
    *ret = value;
    value->line = (unsigned)node->start_mark.line + 1;
    if (depth > DEEPEST)
        return orr_fail(reader->err, -EINVAL, "%s:%u: this is nested too deep", reader->path,
                        value->line);
    if (node->type == YAML_SCALAR_NODE) {
        value->quoted = node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        value->text = strdup((const char *)node->data.scalar.value);
        return value->text ? 0 : out_of_memory(reader);
    }
    value->kind = node->type == YAML_SEQUENCE_NODE ? YAML_LIST : YAML_MAP;
    return convert_items(reader, node, depth, value);
}

/* The first document, which is to be the only one. */
static int load_document(struct yaml_reader *reader, yaml_parser_t *parser)
{
    yaml_document_t more;
    bool several;

    if (!yaml_parser_load(parser, &reader->document))
        return orr_fail(reader->err, -EINVAL, "%s:%zu: this is no YAML: %s%s%s", reader->path,
                        parser->problem_mark.line + 1, parser->problem,
                        parser->context ? ", " : "", parser->context ? parser->context : "");
    if (!yaml_document_get_root_node(&reader->document))
        return 0;
    if (!yaml_parser_load(parser, &more)) {
        yaml_document_delete(&reader->document);
        return orr_fail(reader->err, -EINVAL, "%s:%zu: this is no YAML: %s", reader->path,
                        parser->problem_mark.line + 1, parser->problem);
    }
    several = yaml_document_get_root_node(&more) != NULL;
    yaml_document_delete(&more);
    if (!several)
        return 0;
    yaml_document_delete(&reader->document);
    return orr_fail(reader->err, -EINVAL, "%s: there is more than one document in it",
                    reader->path);
}

static int read_document(struct yaml_reader *reader, FILE *file, struct yaml_value **ret)
{
    yaml_parser_t parser;
    const yaml_node_t *root;
    int rc;

    if (!yaml_parser_initialize(&parser))
        return out_of_memory(reader);
    yaml_parser_set_input_file(&parser, file);
    rc = load_document(reader, &parser);
    yaml_parser_delete(&parser);
    if (rc < 0)
        return rc;
    root = yaml_document_get_root_node(&reader->document);
    if (root) {
        rc = convert(reader, 1, 0, ret);
    } else {
        *ret = calloc(1, sizeof(**ret));
        if (*ret)
            **ret = (struct yaml_value){.kind = YAML_MAP, .line = 1};
        rc = *ret ? 0 : out_of_memory(reader);
    }
    yaml_document_delete(&reader->document);
    return rc;
}

int yaml_value_read(const char *path, struct yaml_value **ret, struct orr_error *err)
{
    struct yaml_reader reader = {.path = path, .err = err};
    FILE *file = fopen(path, "re");
    int rc;

    *ret = NULL;
    if (!file)
        return orr_fail(err, -errno, "%s: %s", path, strerror(errno));
    rc = read_document(&reader, file, ret);
    fclose(file);
    if (rc < 0) {
        yaml_value_free(*ret);
        *ret = NULL;
    }
    return rc;
}

void yaml_value_free(struct yaml_value *value)
{
    if (!value)
        return;
    for (size_t i = 0; i < value->n; i++) {
        yaml_value_free(value->items[i]);
        if (value->keys)
            free(value->keys[i]);
    }
    free(value->items);
    free(value->keys);
    free(value->text);
    free(value);
}

const struct yaml_value *yaml_value_find(const struct yaml_value *map, const char *key)
{
    for (size_t i = 0; i < map->n && map->keys; i++)
        if (!strcmp(map->keys[i], key))
            return map->items[i];
    return NULL;
}

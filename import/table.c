/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/table.c - see table.h. Lines are cut in place. */
#include "import/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"

/* The field at *at without its quotes; *at is moved behind it and its comma, or
 * becomes NULL behind the last one. NULL: a quote has no end. */
static char *table_cut_field(char **at)
{
    char *from = *at, *to = *at, *field = *at;

    if (*from != '"') {
        from += strcspn(from, ",");
        to = from;
    } else {
        for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
            from += *from == '"';
            *to++ = *from;
        }
        if (*from != '"' || (from[1] && from[1] != ','))
            return NULL;
        from++;
    }
    *at = *from ? from + 1 : NULL;
    *to = '\0';
    return field;
}

/* How many fields, at most `most`, are in the line; -1: a quote has no end. */
static int cut_all(char *line, char **fields, size_t most)
{
    size_t n = 0;

    for (char *at = line; at; n++) {
        char *field = table_cut_field(&at);

        if (!field)
            return -1;
        if (n < most)
            fields[n] = field;
    }
    return (int)n;
}

static int table_read_line(struct table *t)
{
    int rc;

    do
        rc = flow_read_line(t->flow, t->file, &t->line, &t->room);
    while (rc > 0 && !*t->line);
    return rc;
}

static int read_head(struct table *t)
{
    int rc = table_read_line(t), n = 1;

    if (rc < 0)
        return rc;
    if (!rc)
        return flow_wrong(t->flow, "the table is empty");
    t->head = strdup(t->line);
    for (const char *at = t->line; *at; at++)
        n += *at == ',';
    t->names = calloc((size_t)n + 1, sizeof(*t->names));
    t->fields = calloc((size_t)n + 1, sizeof(*t->fields));
    if (!t->head || !t->names || !t->fields)
        return flow_no_memory(t->flow);
    n = cut_all(t->head, t->names, (size_t)n);
    if (n < 0)
        return flow_wrong(t->flow, "a quotation mark has no second one");
    t->n = (size_t)n;
    return 0;
}

int table_open(struct flow *flow, const char *path, struct table *ret)
{
    *ret = (struct table){
        .flow = flow, .before = flow->path, .file = fopen(path, "re")};
    flow->path = path;
    flow->line = 0;
    if (!ret->file)
        return orr_fail(flow->err, -errno, "%s: %s", path, strerror(errno));
    return read_head(ret);
}

void table_close(struct table *table)
{
    if (table->file)
        fclose(table->file);
    table->file = NULL;
    table->flow->path = table->before;
    table->flow->line = 0;
    free(table->line);
    free(table->head);
    free(table->names);
    free(table->fields);
    table->line = table->head = NULL;
    table->names = table->fields = NULL;
}

int table_column(const struct table *table, const char *name, const char *other)
{
    for (size_t c = 0; c < table->n; c++)
        if (!strcmp(table->names[c], name) ||
            (other && !strcmp(table->names[c], other)))
            return (int)c;
    return -1;
}

int table_next(struct table *table)
{
    int rc = table_read_line(table), n;

    if (rc <= 0)
        return rc;
    n = cut_all(table->line, table->fields, table->n);
    if (n < 0)
        return flow_wrong(table->flow, "a quotation mark has no second one");
    if ((size_t)n != table->n)
        return flow_wrong(table->flow, "%d fields in a table of %zu columns", n,
                          table->n);
    return 1;
}

const char *table_field(const struct table *table, int column)
{
    const char *field = column < 0 ? NULL : table->fields[column];

    return field && *field && strcmp(field, "NA") ? field : NULL;
}

int table_number(const struct table *table, int column, double *ret)
{
    const char *field = table_field(table, column);
    char *end;
    double value = field ? orr_strtod(field, &end) : 0;

    if (!field)
        return 0;
    if (end == field || *end)
        return flow_wrong(table->flow, "%s: \"%.40s\" where a number is to be",
                          table->names[column], field);
    *ret = value;
    return 0;
}

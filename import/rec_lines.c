/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/rec_lines.c - see rec_lines.h. */
#include "import/rec_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"

int rec_open(struct flow *flow, const char *path, struct rec_file *ret)
{
    *ret = (struct rec_file){.flow = flow, .file = fopen(path, "re")};
    flow->path = path;
    flow->line = 0;
    if (!ret->file)
        return orr_fail(flow->err, -errno, "%s: %s", path, strerror(errno));
    return 0;
}

void rec_close(struct rec_file *file)
{
    if (file->file)
        fclose(file->file);
    free(file->line);
    *file = (struct rec_file){0};
}

static int rec_split_field(struct rec_file *file, struct rec_field *ret)
{
    char *colon = strchr(file->line, ':');

    if (!colon)
        return flow_wrong(file->flow, "\"%.40s\" is no line `Field: value'",
                          file->line);
    *colon++ = '\0';
    ret->name = file->line;
    ret->value = colon + strspn(colon, " \t");
    return 1;
}

int rec_next(struct rec_file *file, struct rec_field *ret)
{
    int rc;

    *ret = (struct rec_field){0};
    do
        rc = flow_read_line(file->flow, file->file, &file->line, &file->room);
    while (rc > 0 && (*file->line == '#' || *file->line == '%'));
    return rc > 0 && *file->line ? rec_split_field(file, ret) : rc;
}

/* --- values --- */

static int not_a_number(struct flow *flow, const struct rec_field *field)
{
    return flow_wrong(flow, "%s: \"%.40s\" where a number is to be",
                      field->name, field->value);
}

int rec_number(struct flow *flow, const struct rec_field *field, unsigned base,
               uint64_t *ret)
{
    char *end;
    uint64_t value;

    errno = 0;
    value = strtoull(field->value, &end, (int)base);
    if (end == field->value || errno || *field->value == '-' ||
        end[strspn(end, " \t")])
        return not_a_number(flow, field);
    *ret = value;
    return 0;
}

int rec_integer(struct flow *flow, const struct rec_field *field, int64_t *ret)
{
    char *end;
    int64_t value;

    errno = 0;
    value = strtoll(field->value, &end, 10);
    if (end == field->value || errno || end[strspn(end, " \t")])
        return not_a_number(flow, field);
    *ret = value;
    return 0;
}

int rec_real(struct flow *flow, const struct rec_field *field, double *ret)
{
    char *end;
    double value = orr_strtod(field->value, &end);

    if (end == field->value || end[strspn(end, " \t")])
        return not_a_number(flow, field);
    *ret = value;
    return 0;
}

char *rec_word(char **text)
{
    static const char between[] = " \t,";
    char *word = *text + strspn(*text, between);
    size_t n = strcspn(word, between);

    if (!n)
        return NULL;
    *text = word + n + (word[n] != '\0');
    word[n] = '\0';
    return word;
}

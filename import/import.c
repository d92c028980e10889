/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/import.c - see import.h: which format a file has. */
#include "import/import.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/c_locale.h"
#include "import/formats.h"

/* The first field of a record of tasks; comments and %rec: may be before it. */
static bool begins_tasks_rec(const char *text)
{
    static const char *const first[] = {
        "Control:", "Name:", "Model:", "File:", "JobId:", "%rec: task"};

    while (*text) {
        for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
            if (!strncmp(text, first[i], strlen(first[i])))
                return true;
        if (*text != '#' && *text != '%' && *text != '\n')
            return false;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return false;
}

static const struct format {
    const char *name;
    bool (*begins)(const char *text);
    import_reader *read;
} formats[] = {
    {"tasks.rec", begins_tasks_rec, import_tasks_rec},
};

static const struct format *format_of(const char *path)
{
    char begin[4096] = "";
    struct stat st;
    FILE *file =
        stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    size_t n;

    if (!file)
        return NULL;
    n = fread(begin, 1, sizeof(begin) - 1, file);
    fclose(file);
    begin[n] = '\0';
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (formats[i].begins(begin))
            return &formats[i];
    return NULL;
}

const char *orr_import_format(const char *path)
{
    const struct format *format = format_of(path);

    return format ? format->name : NULL;
}

int orr_import(const char *path, const struct orr_import_options *options,
               FILE *out, struct orr_error *err)
{
    const struct format *format = format_of(path);
    struct orr_c_locale locale;
    struct flow flow;
    int rc;

    if (!format)
        return orr_fail(err, -EINVAL,
                        "%s has no format that can be imported: docs/IMPORT.md "
                        "lists them",
                        path);
    rc = orr_c_locale_begin(&locale);
    if (rc)
        return orr_fail(err, rc, "%s: out of memory", path);
    flow_init(&flow, path, err);
    rc = format->read(&flow, path, options);
    if (rc == -ENOMEM)
        flow_no_memory(&flow);
    if (!rc)
        rc = flow_write(&flow, out);
    flow_done(&flow);
    orr_c_locale_end(&locale);
    return rc;
}

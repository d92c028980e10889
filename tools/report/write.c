/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/report/write.c - the page: what the build has made of page/ and of the
 * charting library, with the data of the run in its place.
 */
#include "tools/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/modules.h"
#include "tools/common/tool.h"

/* What stands where the data are to be; see embed.py. */
static const char place[] = "\"DATA OF THE RUN\"";

/* The whole of a file; owned. A message and NULL. */
static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "re"), *to = NULL;
    char bytes[8192], *text = NULL;
    size_t size, n;

    if (file)
        to = open_memstream(&text, &size);
    while (to && (n = fread(bytes, 1, sizeof(bytes), file)) > 0)
        fwrite(bytes, 1, n, to);
    if (!to || ferror(file) || ferror(to))
        tool_error("%s: cannot be read: %s", path, strerror(errno));
    if (file)
        fclose(file);
    if (to)
        fclose(to);
    return text;
}

/* The page without its data; owned. A message and NULL. */
static char *read_frame(void)
{
    char *path = tool_find_data("report", "report.html");
    char *frame = path ? read_whole(path) : NULL;

    if (!path)
        tool_error(
            "report: the page is neither beside this command nor in " ORR_SHAREDIR
            ": Orrery was built without the charting "
            "library; install Debian's node-d3 and build it again");
    else if (frame && !strstr(frame, place)) {
        tool_error("%s: no page of orrery report", path);
        free(frame);
        frame = NULL;
    }
    free(path);
    return frame;
}

/* "<" in a page could end the element around the data. In JSON it is only in
 * texts. */
static void write_safe(FILE *to, const char *text, size_t size)
{
    for (const char *end = text + size; text < end; text++)
        if (*text == '<')
            fputs("\\u003c", to);
        else
            fputc(*text, to);
}

/* The data as text; owned. NULL without memory. */
static char *data_text(const struct report_page *page, size_t *ret_size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, ret_size);
    int rc = file ? report_data(page, file) : -ENOMEM;

    if (file && (ferror(file) || fclose(file) != 0))
        rc = -ENOMEM;
    if (rc) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Frame and data as one text; owned. NULL without memory. */
static char *insert_page_data(const char *frame, const char *data, size_t size,
                              size_t *ret_size)
{
    const char *at = strstr(frame, place);
    char *text = NULL;
    FILE *to = open_memstream(&text, ret_size);

    if (!to)
        return NULL;
    fwrite(frame, 1, (size_t)(at - frame), to);
    write_safe(to, data, size);
    fputs(at + sizeof(place) - 1, to);
    if (ferror(to) | (fclose(to) != 0)) {
        free(text);
        text = NULL;
    }
    return text;
}

int report_write(const struct report_page *page, const char *path)
{
    char *frame = read_frame(), *data = NULL, *text = NULL;
    size_t size = 0, whole = 0;
    int rc = -1;

    if (frame)
        data = data_text(page, &size);
    if (data)
        text = insert_page_data(frame, data, size, &whole);
    if (text)
        rc = tool_write_file(path, text, whole);
    else if (frame)
        tool_error("out of memory");
    free(text);
    free(data);
    free(frame);
    return rc < 0 ? -1 : 0;
}

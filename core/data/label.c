/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/label.c - see label.h. */
#include "core/data/label.h"

#include <stdio.h>

#include "core/data/handle.h"

/* A piece goes by the name of the whole; where that was only planned the whole
 * may have ended before its pieces. */
static const struct orr_handle *named(const struct orr_handle *handle)
{
    return !handle->name && handle->parent && !orr_handle_plan(handle) &&
                   handle->parent->partitioned
               ? handle->parent
               : handle;
}

/* At most 5 of them. */
static size_t write_coordinates(const struct orr_handle *handle, char *text,
                                size_t size)
{
    size_t n = 0;

    for (unsigned i = 0; i < handle->ncoordinates && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%d%s", i ? "," : "(",
                              handle->coordinates[i],
                              i + 1 == handle->ncoordinates ? ")" : "");
    return n;
}

struct orr_label orr_handle_label(const struct orr_handle *handle)
{
    const struct orr_handle *of = named(handle);
    struct orr_label label;
    char *text = label.text;
    size_t size = sizeof(label.text), n;

    if (!of->name)
        of = handle;
    n = (size_t)(of->name ? snprintf(text, size, "%.48s", of->name)
                          : snprintf(text, size, "data number %llu",
                                     (unsigned long long)handle->id));
    if (handle->ncoordinates || of == handle) {
        write_coordinates(handle, text + n, size - n);
        return label;
    }
    n += write_coordinates(of, text + n, size - n);
    if (n < size)
        snprintf(text + n, size - n, "[%u]", handle->child_index);
    return label;
}

struct orr_label orr_handle_words(const struct orr_handle *handle)
{
    struct orr_label label = orr_handle_label(handle), words;

    if (!named(handle)->name)
        return label;
    snprintf(words.text, sizeof(words.text), "data `%.*s'", ORR_DATA_NAME - 8,
             label.text);
    return words;
}

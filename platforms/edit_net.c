/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_net.c - what is different after all edits of a description. No state.
 */
#include "platforms/edit.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Lists of items of an echo, in one order. */
enum { NLISTS = 3 };

static const struct orr_edit_item *items_of(const struct orr_edit_echo *echo,
                                            unsigned list, unsigned *ret_n)
{
    const struct orr_edit_item *items[NLISTS] = {echo->devices, echo->links,
                                                 echo->costs};
    unsigned n[NLISTS] = {echo->ndevices, echo->nlinks, echo->ncosts};

    *ret_n = n[list];
    return items[list];
}

/* Whether both echoes are of figures of one sort. */
static bool echoes_are_alike(const struct orr_edit_echo *a,
                             const struct orr_edit_echo *b)
{
    return strcmp(a->quantity, b->quantity) == 0 && !a->kernel == !b->kernel &&
           (!a->kernel || strcmp(a->kernel, b->kernel) == 0);
}

/* Whether the last edit of a figure leaves another value than it had before the first;
 * what came or went counts as different. */
static bool item_is_changed(const struct orr_machine_desc *desc,
                            const struct orr_edit_echo *like, unsigned list,
                            const char *name)
{
    double first = (double)NAN, last = (double)NAN;
    bool found = false;

    for (unsigned e = 0; e < desc->nedits; e++) {
        const struct orr_edit_item *items;
        unsigned n;

        if (!echoes_are_alike(&desc->edits[e], like))
            continue;
        items = items_of(&desc->edits[e], list, &n);
        for (unsigned i = 0; i < n; i++)
            if (strcmp(items[i].name, name) == 0) {
                first = found ? first : items[i].before;
                last = items[i].after;
                found = true;
            }
    }
    return !(fabs(last - first) <= 1e-9 * fabs(first));
}

static bool echo_is_net(const struct orr_machine_desc *desc,
                        const struct orr_edit_echo *echo)
{
    if (!echo->effect)
        return false;
    for (unsigned list = 0; list < NLISTS; list++) {
        unsigned n;
        const struct orr_edit_item *items = items_of(echo, list, &n);

        for (unsigned i = 0; i < n; i++)
            if (item_is_changed(desc, echo, list, items[i].name))
                return true;
    }
    return false;
}

/* How long the target is, without the operator and blanks. */
static int target_length(const char *edit)
{
    const char *end = orr_edit_find(edit, "=");

    while (end > edit && (isspace((unsigned char)end[-1]) ||
                          strchr("*/+-", end[-1])))
        end--;
    return (int)(end - edit);
}

static bool is_told(const struct orr_machine_desc *desc, unsigned at)
{
    int length = target_length(desc->edits[at].edit);

    for (unsigned e = 0; e < at; e++)
        if (echo_is_net(desc, &desc->edits[e]) &&
            target_length(desc->edits[e].edit) == length &&
            strncmp(desc->edits[e].edit, desc->edits[at].edit, (size_t)length) == 0)
            return true;
    return false;
}

bool orr_edits_print_net(const struct orr_machine_desc *desc, const char *before,
                         FILE *out)
{
    bool any = false;

    for (unsigned e = 0; e < desc->nedits; e++) {
        if (!echo_is_net(desc, &desc->edits[e]))
            continue;
        if (out && !is_told(desc, e))
            fprintf(out, "%s%.*s (set)", any ? ", " : before,
                    target_length(desc->edits[e].edit), desc->edits[e].edit);
        any = true;
    }
    return any;
}

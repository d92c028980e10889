/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/choice.c - see choice.h. */
#include "core/device/choice.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"

static int read_ids(const struct orr_device_choice *choice, unsigned *ids,
                    unsigned *ret_n, struct orr_error *err)
{
    const char *rest = choice->ids;

    *ret_n = 0;
    for (;;) {
        unsigned long id;
        char *end;

        rest += strspn(rest, " ,\t");
        if (!*rest)
            return 0;
        id = strtoul(rest, &end, 10);
        if (end == rest || strchr("+-", *rest) || id > UINT16_MAX ||
            *ret_n == choice->max)
            return orr_fail(err, -EINVAL,
                            "%s=\"%.100s\": write up to %u numbers of devices, "
                            "such as `1 0'",
                            choice->variable, choice->ids, choice->max);
        ids[(*ret_n)++] = (unsigned)id;
        rest = end;
    }
}

/* Each device once, in the order of the list, as StarPU has it: programs repeat lists
 * that are meant for machines with more of them. */
static unsigned drop_repeated(const struct orr_device_choice *choice,
                              unsigned *ids, unsigned n)
{
    unsigned nkept = 0;

    for (unsigned i = 0; i < n; i++) {
        unsigned j = 0;

        while (j < nkept && ids[j] != ids[i])
            j++;
        if (j == nkept)
            ids[nkept++] = ids[i];
        else
            orr_log_notice("%s device %u is named twice (%s or starpu_conf): "
                           "it is used once",
                           choice->kind, ids[i], choice->variable);
    }
    return nkept;
}

static int check_ids(const struct orr_device_choice *choice,
                     const unsigned *ids, unsigned n, struct orr_error *err)
{
    for (unsigned i = 0; i < n; i++)
        if (ids[i] >= choice->there)
            return orr_fail(err, -EINVAL,
                            "%s device %u was asked for (%s or starpu_conf), "
                            "but there are %u devices, counted from 0",
                            choice->kind, ids[i], choice->variable,
                            choice->there);
    return 0;
}

int orr_device_choose(const struct orr_device_choice *choice, unsigned *chosen,
                      unsigned *ret_n, struct orr_error *err)
{
    unsigned n = 0, wanted = (unsigned)choice->wanted;
    int rc = 0;

    for (unsigned i = 0; i < choice->there; i++) {
        if (choice->first)
            chosen[n++] = choice->first[i];
        else if (!choice->spared || !choice->spared[i])
            chosen[n++] = i;
    }
    if (choice->ids && !choice->first)
        rc = read_ids(choice, chosen, &n, err);
    if (rc < 0)
        return rc;
    /* A list in starpu_conf has room for more than there are asked for. */
    if (choice->first && choice->wanted >= 0 && wanted < n)
        n = wanted;
    n = drop_repeated(choice, chosen, n);
    if (choice->wanted >= 0 && wanted < n)
        n = wanted;
    else if (choice->wanted >= 0 && wanted > n)
        orr_log_warning("%u %s workers were requested, but there are only "
                        "%u devices%s",
                        wanted, choice->kind, n, choice->hint);
    *ret_n = n;
    return check_ids(choice, chosen, n, err);
}

void orr_device_bus_shorten(char *bus)
{
    if (strncmp(bus, "0000:", 5) == 0)
        memmove(bus, bus + 5, strlen(bus + 5) + 1);
    for (; *bus; bus++)
        *bus = (char)tolower((unsigned char)*bus);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/notes.c - see notes.h. One thread. */
#include "tools/common/notes.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "record/read.h"
#include "tools/common/tool.h"

/* Replaces *to by a copy. */
static int replace_by_copy(char **to, const char *text)
{
    free(*to);
    *to = text ? strdup(text) : NULL;
    return text && !*to ? -ENOMEM : 0;
}

static int add_line(struct notes *notes, const char *text)
{
    char *longer = tool_format("%s  %s\n", notes->lacks, text);

    if (!longer)
        return -ENOMEM;
    free(notes->lacks);
    notes->lacks = longer;
    return 0;
}

static int notes_count_call(struct notes *notes, const struct orr_call *call)
{
    switch (call->verb) {
    case ORR_CALL_RUN:
        if (replace_by_copy(&notes->host, call->host) < 0)
            return -ENOMEM;
        return replace_by_copy(&notes->scheduler, call->scheduler);
    case ORR_CALL_RANK:
        notes->ranks = call->size < UINT_MAX ? (unsigned)call->size : UINT_MAX;
        return 0;
    case ORR_CALL_SUBMIT:
        notes->tasks++;
        return 0;
    case ORR_CALL_DATA:
    case ORR_CALL_PART:
        notes->data++;
        return 0;
    case ORR_CALL_NOTE:
        return add_line(notes, call->text ? call->text : "");
    case ORR_CALL_END:
        return replace_by_copy(&notes->ended, call->text);
    default:
        return 0;
    }
}

int notes_read(const char *path, struct notes *ret, struct orr_error *err)
{
    struct orr_record_reader *reader;
    const struct orr_call *call;
    int rc = orr_record_open(path, &reader, err);

    *ret = (struct notes){0};
    if (rc)
        return rc;
    rc = replace_by_copy(&ret->lacks, "");
    while (!rc && (rc = orr_record_next(reader, &call, err)) > 0) {
        ret->calls++;
        rc = notes_count_call(ret, call);
        if (rc)
            orr_fail(err, rc, "%s: out of memory", path);
    }
    orr_record_close(reader);
    if (rc)
        notes_done(ret);
    return rc;
}

void notes_print(const struct notes *notes, FILE *to)
{
    if (notes->ended)
        fprintf(to,
                "The recorded run did not end with starpu_shutdown (%s): the "
                "record ends there, too.\n",
                notes->ended);
    if (*notes->lacks)
        fprintf(to,
                "The record lacks, or a replay does otherwise (how often):\n%s",
                notes->lacks);
}

void notes_done(struct notes *notes)
{
    free(notes->host);
    free(notes->scheduler);
    free(notes->ended);
    free(notes->lacks);
    *notes = (struct notes){0};
}

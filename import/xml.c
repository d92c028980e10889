/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/xml.c - see xml.h. */
#include "import/xml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/grow.h"

/* Errors, with a message. */
static int read_all(struct flow *flow, int fd, char **text, size_t *ret_size)
{
    size_t room = 0, size = 0;
    ssize_t n;

    do {
        if (orr_grow(text, &room, size + 65536, 1))
            return flow_no_memory(flow);
        n = read(fd, *text + size, room - size - 1);
        size += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0)
        return orr_fail(flow->err, -errno, "%s: %s", flow->path, strerror(errno));
    (*text)[size] = '\0';
    *ret_size = size;
    return 0;
}

int xml_open(struct flow *flow, int fd, struct xml_file *ret)
{
    size_t size = 0;
    int rc;

    memset(ret, 0, sizeof(*ret));
    ret->flow = flow;
    rc = read_all(flow, fd, &ret->text, &size);
    close(fd);
    /* gv2gxl writes UTF-8 whatever it declares, and so do the writers of DAX
     * files. */
    if (rc == 0 && orr_markup_begin(&ret->markup, ret->text, size, "UTF-8"))
        rc = flow_no_memory(flow);
    return rc;
}

void xml_close(struct xml_file *file)
{
    orr_markup_end(&file->markup);
    free(file->text);
    file->text = NULL;
}

int xml_next(struct xml_file *file, const char **ret_name, bool *ret_ends)
{
    int piece = file->piece;

    file->piece = 0;
    while (piece != ORR_MARKUP_START && piece != ORR_MARKUP_END) {
        piece = orr_markup_next(&file->markup);
        file->flow->line = file->markup.line;
        if (piece == ORR_MARKUP_DONE)
            return 0;
        if (piece == ORR_MARKUP_DOCTYPE)
            return flow_wrong(file->flow, "a document type: such files have none");
        if (piece < 0)
            return flow_wrong(file->flow, "%s", file->markup.problem);
    }
    *ret_name = file->markup.name;
    *ret_ends = piece == ORR_MARKUP_END;
    return 1;
}

const char *xml_attribute(const struct xml_file *file, const char *name)
{
    for (unsigned i = 0; i < file->markup.nattrs; i++)
        if (!strcmp(file->markup.attrs[i].name, name))
            return file->markup.attrs[i].value;
    return NULL;
}

char *xml_text(struct xml_file *file)
{
    char *text = NULL;
    size_t room = 0, length = 0;

    while ((file->piece = orr_markup_next(&file->markup)) == ORR_MARKUP_TEXT) {
        if (orr_grow(&text, &room, length + file->markup.length + 1, 1)) {
            free(text);
            return NULL;
        }
        memcpy(text + length, file->markup.text, file->markup.length);
        length += file->markup.length;
        text[length] = '\0';
    }
    return text;
}

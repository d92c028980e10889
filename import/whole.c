/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/whole.c - see whole.h. */
#include "import/whole.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/grow.h"

int whole_read(struct flow *flow, int fd, char **ret, size_t *ret_size)
{
    char *text = NULL;
    size_t room = 0, size = 0;
    ssize_t n = 1;

    while (n != 0) {
        if (orr_grow(&text, &room, size + 65536, 1) < 0) {
            free(text);
            return flow_no_memory(flow);
        }
        n = read(fd, text + size, room - size - 1);
        if (n < 0 && errno != EINTR) {
            int error = errno;

            free(text);
            return orr_fail(flow->err, -error, "%s: %s", flow->path, strerror(error));
        }
        size += n > 0 ? (size_t)n : 0;
    }
    text[size] = '\0';
    *ret = text;
    *ret_size = size;
    return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/printed.c - see printed.h. */
#include "tools/common/printed.h"

#include "core/base/shown.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 4096, LONGEST = 4 };

/* Of the process. */
static struct printed {
    FILE *file; /* NULL: not begun. Never freed: a C++ library keeps what stdout was when it
                 * was loaded, and flushes that at the end */
    /* The beginning of a character whose end is not printed yet. */
    char kept[LONGEST];
    size_t n;
    char buffer[BUFSIZ];
} printed;

/* All of it, or false. */
static bool write_whole(const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(STDOUT_FILENO, bytes, size);

        if (n < 0 && errno != EINTR)
            return false;
        bytes += n < 0 ? 0 : n;
        size -= n < 0 ? 0 : (size_t)n;
    }
    return true;
}

/* Appends at most PIECE bytes to what is kept, and writes what is whole of it. */
static bool print_piece(const char *bytes, size_t size, bool is_last)
{
    char piece[LONGEST + PIECE];
    size_t all = printed.n + size, done, shown;

    memcpy(piece, printed.kept, printed.n);
    memcpy(piece + printed.n, bytes, size);
    done = orr_shown_piece(piece, all, is_last, &shown);
    memcpy(printed.kept, piece + done, all - done);
    printed.n = all - done;
    return write_whole(piece, shown);
}

static ssize_t printed_write(void *cookie, const char *bytes, size_t size)
{
    (void)cookie;
    for (size_t at = 0; at < size; at += PIECE) {
        size_t n = size - at < PIECE ? size - at : PIECE;

        if (!print_piece(bytes + at, n, false))
            return 0;
    }
    return (ssize_t)size;
}

void printed_begin(void)
{
    FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){.write = printed_write});

    if (!file)
        return;
    setvbuf(file, printed.buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF,
            sizeof(printed.buffer));
    printed.file = stdout = file;
}

int printed_end(void)
{
    bool written = fflush(stdout) == 0 && !ferror(stdout);

    if (printed.file)
        written &= print_piece("", 0, true);
    return close(STDOUT_FILENO) == 0 && written ? 0 : -1;
}

void printed_csv(FILE *out, const char *text)
{
    bool quoted = text[strcspn(text, ",\"\r\n")];
    const char *shown;
    size_t n;

    fputs(quoted ? "\"" : "", out);
    while ((shown = orr_shown_next(&text, &n), n > 0)) {
        if (*shown == '"')
            fputc('"', out);
        fwrite(shown, 1, n, out);
    }
    fputs(quoted ? "\"" : "", out);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/simulated/output.c - see output.h. */
#include "mpi/simulated/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/grow.h"

/* What a rank has begun of a line. */
struct begun {
    char *text; /* owned */
    size_t n, room;
};

/* Of the process, which has one standard output. */
static struct {
    FILE *to;            /* standard output as it was; NULL: no lines are made */
    struct begun *begun; /* owned, by rank */
    unsigned nranks;
    char *taken; /* owned: what has just been read */
    size_t room;
} output;

static void print_line(int rank, const char *text, size_t n)
{
    struct begun *begun = &output.begun[rank];

    fprintf(output.to, "rank %d: ", rank);
    fwrite(begun->text, 1, begun->n, output.to);
    fwrite(text, 1, n, output.to);
    putc('\n', output.to);
    begun->n = 0;
}

/* Without memory the line is cut here. */
static void keep_begun(int rank, const char *text, size_t n)
{
    struct begun *begun = &output.begun[rank];

    if (n == 0)
        return;
    if (orr_grow(&begun->text, &begun->room, begun->n + n, 1) < 0) {
        print_line(rank, text, n);
        return;
    }
    memcpy(begun->text + begun->n, text, n);
    begun->n += n;
}

static void print_lines(int rank, const char *text, size_t n)
{
    const char *end;

    while ((end = memchr(text, '\n', n))) {
        size_t length = (size_t)(end - text);

        print_line(rank, text, length);
        text = end + 1;
        n -= length + 1;
    }
    keep_begun(rank, text, n);
}

/* The file begins anew. How much was written is the place at which more would be. */
static size_t take_written(void)
{
    off_t written;
    ssize_t n = 0;

    fflush(stdout);
    written = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    if (written <= 0)
        return 0;
    if (orr_grow(&output.taken, &output.room, (size_t)written, 1) == 0)
        n = pread(STDOUT_FILENO, output.taken, (size_t)written, 0);
    (void)lseek(STDOUT_FILENO, 0, SEEK_SET);
    return n > 0 ? (size_t)n : 0;
}

void orr_simulated_output_take(int rank, bool ends)
{
    size_t n;

    if (!output.to || rank < 0 || (unsigned)rank >= output.nranks)
        return;
    n = take_written();
    if (n > 0)
        print_lines(rank, output.taken, n);
    if (ends && output.begun[rank].n > 0)
        print_line(rank, "", 0);
    if (n > 0 || ends)
        fflush(output.to);
}

/* Standard output is a file in memory from now on. Returns what it was, -1 with errno. */
static int exchange_output(void)
{
    int file = memfd_create("standard output of ranks", MFD_CLOEXEC);
    int before = file < 0 ? -1 : dup(STDOUT_FILENO);

    if (before >= 0 && dup2(file, STDOUT_FILENO) < 0) {
        close(before);
        before = -1;
    }
    if (file >= 0)
        close(file);
    return before;
}

int orr_simulated_output_begin(unsigned nranks, struct orr_error *err)
{
    int before;

    output.begun = calloc(nranks, sizeof(*output.begun));
    if (!output.begun)
        return orr_fail(err, -ENOMEM, "out of memory");
    output.nranks = nranks;
    fflush(stdout);
    before = exchange_output();
    if (before >= 0)
        output.to = fdopen(before, "w");
    if (output.to)
        return 0;
    free(output.begun);
    output.begun = NULL;
    return orr_fail(err, -errno, "lines of standard output cannot be told by rank: %s",
                    strerror(errno));
}

void orr_simulated_output_end(void)
{
    if (!output.to)
        return;
    for (unsigned i = 0; i < output.nranks; i++) {
        orr_simulated_output_take((int)i, true);
        free(output.begun[i].text);
    }
    (void)dup2(fileno(output.to), STDOUT_FILENO);
    fclose(output.to);
    output.to = NULL;
    free(output.begun);
    free(output.taken);
    output.begun = NULL;
    output.taken = NULL;
    output.room = 0;
}

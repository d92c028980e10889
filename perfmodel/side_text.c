/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/side_text.c - reads and writes the text of side files, whose
 * grammar side_private.h has. No threads.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "core/base/number.h"
#include "perfmodel/side_private.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/side.h"
#include "perfmodel/window.h"

#define DEVICES_MAX 64
#define REMEDY                                                                  \
    "The file is not used and left as it is: remove it; it is made again when " \
    "the model is measured."

struct reader {
    const char *name;
    const char *at;   /* within the line */
    const char *stop; /* where the line ends, a newline or the end */
    const char *end;
    unsigned line;
    struct orr_side *side;
    struct orr_error *err;
};

static int side_expected(const struct reader *r, const char *what)
{
    return orr_fail(r->err, -EINVAL, "%s:%u: expected %s. " REMEDY, r->name,
                    r->line, what);
}

/* Goes to the next line that has something; false at the end. */
static bool side_next_line(struct reader *r)
{
    for (; r->stop < r->end; r->line++) {
        r->at = r->stop + (r->line > 0 ? 1 : 0);
        if (r->at > r->end)
            r->at = r->end;
        r->stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        if (!r->stop)
            r->stop = r->end;
        if (r->at < r->stop && *r->at != '#') {
            r->line++;
            return true;
        }
    }
    return false;
}

static void side_skip_blanks(struct reader *r)
{
    while (r->at < r->stop && *r->at == ' ')
        r->at++;
}

/* Whether the line goes on with `word`, and a blank or nothing after it. */
static bool side_take_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);

    side_skip_blanks(r);
    if ((size_t)(r->stop - r->at) < n || memcmp(r->at, word, n) != 0 ||
        (r->at + n < r->stop && r->at[n] != ' '))
        return false;
    r->at += n;
    return true;
}

/* The text ends with a NUL, so that numbers end somewhere. */
static int take_real(struct reader *r, const char *what, double least,
                     double *ret)
{
    char *stop;
    double value;

    side_skip_blanks(r);
    value = orr_strtod(r->at, &stop);
    if (stop == r->at || stop > r->stop || !isfinite(value) || value < least)
        return side_expected(r, what);
    r->at = stop;
    *ret = value;
    return 0;
}

static int take_count(struct reader *r, const char *what, int base,
                      uint64_t most, uint64_t *ret)
{
    unsigned long long value;
    char *stop;

    side_skip_blanks(r);
    errno = 0;
    value = strtoull(r->at, &stop, base);
    if (stop == r->at || stop > r->stop || errno || *r->at == '-' ||
        value > most)
        return side_expected(r, what);
    r->at = stop;
    *ret = value;
    return 0;
}

static int take_device(struct reader *r, struct orr_device *ret)
{
    int *const fields[] = {&ret->type, &ret->devid, &ret->ncores};

    for (unsigned i = 0; i < 3; i++) {
        uint64_t value = 0;
        int rc;

        if (i > 0 && (r->at == r->stop || *r->at++ != '/'))
            return side_expected(r, "a device as type/number/cores");
        rc =
            take_count(r, "a device as type/number/cores", 10, INT_MAX, &value);
        if (rc)
            return rc;
        *fields[i] = (int)value;
    }
    return 0;
}

static int take_devices(struct reader *r, struct orr_device *devices,
                        unsigned *ret)
{
    unsigned n = 0;
    int rc;

    do {
        if (n == DEVICES_MAX)
            return side_expected(r, "fewer devices");
        rc = take_device(r, &devices[n++]);
    } while (!rc && r->at < r->stop && *r->at == '+' && r->at++);
    *ret = n;
    return rc;
}

static int read_entry_values(struct reader *r, struct orr_side_entry *entry)
{
    uint64_t row_n = 0, nfirst = 0, time = 0;
    int rc = take_count(r, "the samples of a row", 10, UINT32_MAX, &row_n);

    if (!rc)
        rc = take_real(r, "the sum of a row", 0, &entry->row_sum);
    if (!rc)
        rc = take_real(r, "an estimate", 0, &entry->estimate);
    if (!rc)
        rc = take_count(r, "how many measures were seen", 10, UINT64_MAX / 2,
                        &entry->nseen);
    if (!rc)
        rc = take_count(r, "how many outliers there were", 10, UINT64_MAX / 2,
                        &entry->noutliers);
    if (!rc)
        rc = take_count(r, "how many first runs there were", 10, UINT32_MAX,
                        &nfirst);
    if (!rc)
        rc = take_real(r, "the sum of first runs", 0, &entry->first_sum);
    if (!rc)
        rc =
            take_count(r, "the time of the last measure", 10, INT64_MAX, &time);
    if (!rc && side_take_word(r, "preempted"))
        rc = take_count(r, "how many measures were preempted", 10,
                        UINT64_MAX / 2, &entry->npreempted);
    side_skip_blanks(r);
    if (!rc && r->at < r->stop) {
        rc = take_real(r, "the lower of two levels", 0, &entry->low);
        if (!rc)
            rc = take_real(r, "the higher of two levels", 0, &entry->high);
        if (!rc && !(entry->low > 0 && entry->low < entry->high))
            rc = side_expected(r, "the lower of two levels, then the higher");
    }
    entry->row_n = (uint32_t)row_n;
    entry->nfirst = (uint32_t)nfirst;
    entry->last_time = (int64_t)time;
    return rc;
}

static int side_read_entry(struct reader *r)
{
    struct orr_device devices[DEVICES_MAX];
    struct orr_side_entry *entry;
    uint64_t impl = 0, hash = 0;
    unsigned ndevices = 0;
    int rc = take_devices(r, devices, &ndevices);

    if (!rc)
        rc = take_count(r, "an implementation", 10, UINT_MAX, &impl);
    if (!rc)
        rc = take_count(r, "a footprint of hex digits", 16, UINT32_MAX, &hash);
    if (rc)
        return rc;
    entry = orr_side_append(r->side, devices, ndevices, (unsigned)impl,
                            (uint32_t)hash);
    if (!entry)
        return -ENOMEM;
    return read_entry_values(r, entry);
}

/* The entry that a line of samples is about. */
static int side_take_entry(struct reader *r, struct orr_side_entry **ret)
{
    uint64_t at;
    int rc = take_count(r, "the number of an entry", 10, UINT_MAX, &at);

    if (rc)
        return rc;
    if (at >= r->side->nentries)
        return side_expected(r, "the number of an entry that there is");
    *ret = &r->side->entries[at];
    return 0;
}

static int read_recent(struct reader *r)
{
    struct orr_side_entry *entry = NULL;
    uint64_t n = 0;
    int rc = side_take_entry(r, &entry);

    if (!rc)
        rc = take_count(r, "at most 128 samples", 10, ORR_WINDOW_SIZE, &n);
    if (!rc && entry->recent)
        rc = side_expected(r, "the recent samples of an entry once");
    if (rc)
        return rc;
    entry->recent = malloc((n ? n : 1) * sizeof(*entry->recent));
    entry->set_aside = malloc((n ? n : 1) * sizeof(*entry->set_aside));
    if (!entry->recent || !entry->set_aside)
        return -ENOMEM;
    for (unsigned i = 0; !rc && i < n; i++) {
        rc = take_real(r, "as many samples as announced", 0, &entry->recent[i]);
        entry->set_aside[i] = !rc && r->at < r->stop && *r->at == '!';
        if (entry->set_aside[i])
            r->at++;
        entry->nrecent = rc ? i : i + 1;
    }
    return rc;
}

static int read_blocks(struct reader *r)
{
    struct orr_side_entry *entry = NULL;
    uint64_t size = 0, n = 0;
    int rc = side_take_entry(r, &entry);

    if (!rc)
        rc = take_count(r, "the size of a block", 10, UINT_MAX / 2, &size);
    if (!rc)
        rc = take_count(r, "at most 128 blocks", 10, ORR_WINDOW_BLOCKS, &n);
    if (!rc)
        rc = take_real(r, "the measures of the last block", 0, &entry->tail_n);
    if (!rc)
        rc = take_real(r, "the sum of the last block", 0, &entry->tail_sum);
    if (!rc && (entry->blocks || (n > 0 && size == 0)))
        rc = side_expected(r, "the blocks of an entry once, of some size");
    if (rc)
        return rc;
    entry->blocks = malloc((n ? n : 1) * sizeof(*entry->blocks));
    if (!entry->blocks)
        return -ENOMEM;
    entry->blocksize = (unsigned)size;
    for (unsigned i = 0; !rc && i < n; i++) {
        rc = take_real(r, "as many blocks as announced", 0, &entry->blocks[i]);
        entry->nblocks = rc ? i : i + 1;
    }
    return rc;
}

static int side_read_line(struct reader *r, bool samples)
{
    int rc;

    if (!samples && side_take_word(r, "entry"))
        rc = side_read_entry(r);
    else if (samples && side_take_word(r, "recent"))
        rc = read_recent(r);
    else if (samples && side_take_word(r, "blocks"))
        rc = read_blocks(r);
    else
        return side_expected(r, samples ? "a line `recent' or `blocks'"
                                        : "a line `entry' or `samples'");
    side_skip_blanks(r);
    if (!rc && r->at < r->stop)
        rc = side_expected(r, "the end of the line");
    return rc;
}

static int side_read_lines(struct reader *r, enum orr_side_part part)
{
    bool samples = false;
    uint64_t version = 0;
    int rc;

    if (!side_next_line(r) || !side_take_word(r, "orrery-side"))
        return side_expected(r, "`orrery-side' and a version at the beginning");
    rc = take_count(r, "a version", 10, UINT_MAX, &version);
    if (!rc && (version < 1 || version > ORR_SIDE_VERSION))
        rc = side_expected(r, "version 1 to 3: a newer Orrery wrote this");
    while (!rc && side_next_line(r)) {
        if (!samples && side_take_word(r, "samples")) {
            samples = true;
            if (part == ORR_SIDE_ESTIMATES)
                break;
        } else {
            rc = side_read_line(r, samples);
        }
    }
    if (!rc && !samples)
        rc = side_expected(r, "a line `samples' before the end");
    return rc;
}

int orr_side_parse(const char *name, const char *text, size_t size,
                   enum orr_side_part part, struct orr_side **ret,
                   struct orr_error *err)
{
    struct reader r = {name, text, text, text + size, 0, orr_side_new(), err};
    char *copy = strndup(text, size);
    int rc = -ENOMEM;

    if (!copy || !r.side)
        goto free_side;
    r.at = r.stop = copy;
    r.end = copy + strlen(copy);
    rc = (size_t)(r.end - copy) == size
             ? side_read_lines(&r, part)
             : side_expected(&r, "text without NUL bytes");
    if (rc)
        goto free_side;
    *ret = r.side;
    free(copy);
    return 0;

free_side:
    if (rc == -ENOMEM)
        orr_fail(err, rc, "%s: not enough memory to read it.", name);
    orr_side_free(r.side);
    free(copy);
    return rc;
}

/* --- writing --- */

static void side_print_entry(FILE *f, const struct orr_side_entry *entry)
{
    fputs("entry", f);
    for (unsigned i = 0; i < entry->ndevices; i++)
        fprintf(f, "%c%d/%d/%d", i ? '+' : ' ', entry->devices[i].type,
                entry->devices[i].devid, entry->devices[i].ncores);
    orr_fprintf(f,
                " %u %08" PRIx32 " %" PRIu32 " %.9g %.9g %" PRIu64 " %" PRIu64
                " %" PRIu32 " %.9g %" PRId64,
                entry->impl, entry->hash, entry->row_n, entry->row_sum,
                entry->estimate, entry->nseen, entry->noutliers, entry->nfirst,
                entry->first_sum, entry->last_time);
    if (entry->npreempted > 0)
        fprintf(f, " preempted %" PRIu64, entry->npreempted);
    if (entry->low > 0)
        orr_fprintf(f, " %.9g %.9g", entry->low, entry->high);
    fputc('\n', f);
}

static void print_samples(FILE *f, unsigned at,
                          const struct orr_side_entry *entry)
{
    fprintf(f, "recent %u %u", at, entry->nrecent);
    for (unsigned i = 0; i < entry->nrecent; i++)
        orr_fprintf(f, " %.6g%s", entry->recent[i], entry->set_aside[i] ? "!" : "");
    orr_fprintf(f, "\nblocks %u %u %u %.9g %.9g", at, entry->blocksize,
                entry->nblocks, entry->tail_n, entry->tail_sum);
    for (unsigned i = 0; i < entry->nblocks; i++)
        orr_fprintf(f, " %.9g", entry->blocks[i]);
    fputc('\n', f);
}

static void print_side(FILE *f, const struct orr_side *side)
{
    fprintf(f,
            "# Beside the model file of the same name: what is predicted "
            "(us or J), and the\n# measures it rests on. An entry whose n and "
            "sum are not the model file's any\n# more is not used.\n"
            "orrery-side %d\n"
            "# devices impl hash n sum estimate seen outliers firsts "
            "first_sum last_time [preempted n] [low high]\n",
            ORR_SIDE_VERSION);
    for (unsigned i = 0; i < side->nentries; i++)
        side_print_entry(f, &side->entries[i]);
    fprintf(f, "samples\n# recent: entry n durations (! set aside)\n"
               "# blocks: entry size n tail_n tail_sum means\n");
    for (unsigned i = 0; i < side->nentries; i++)
        print_samples(f, i, &side->entries[i]);
}

int orr_side_format(const struct orr_side *side, char **ret_text,
                    size_t *ret_size)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f;
    int rc = -ENOMEM;

    f = open_memstream(&text, &size);
    if (f) {
        print_side(f, side);
        rc = ferror(f) ? -ENOMEM : 0;
        if (fclose(f))
            rc = -ENOMEM;
    }
    if (rc) {
        free(text);
        return rc;
    }
    *ret_text = text;
    *ret_size = size;
    return 0;
}

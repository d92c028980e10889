/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/saved.c - see saved.h. */
#include "mpi/saved.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/crc.h"
#include "core/base/result.h"

static const char magic[8] = "ORRCKPT1";

/* What is in front of each record's bytes. */
struct head {
    uint32_t entry;
    int32_t source;
    uint64_t size;
};

/* --- names --- */

struct name {
    char text[PATH_MAX];
};

static struct name part_name(const struct orr_saved *s, int rank)
{
    struct name name;

    snprintf(name.text, sizeof(name.text), "%s/%d-%d-%" PRIu64 ".%d.part", s->folder, s->id,
             s->domain, s->number, rank);
    return name;
}

static struct name manifest_name(const struct orr_saved *s)
{
    struct name name;

    snprintf(name.text, sizeof(name.text), "%s/%d-%d-%" PRIu64 ".manifest", s->folder,
             s->id, s->domain, s->number);
    return name;
}

int orr_saved_folder(const char *folder, struct orr_error *err)
{
    struct stat st;

    if (strlen(folder) + 100 > PATH_MAX)
        return orr_fail(err, -ENAMETOOLONG, "the folder's name is too long");
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return orr_fail(err, -errno, "the folder \"%s\" cannot be made: %s", folder,
                        strerror(errno));
    if (stat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
        return orr_fail(err, -ENOTDIR, "\"%s\" is no folder", folder);
    if (access(folder, R_OK | W_OK | X_OK) < 0)
        return orr_fail(err, -errno, "the folder \"%s\" cannot be written to: %s", folder,
                        strerror(errno));
    return 0;
}

/* --- written, then named --- */

struct writing {
    struct name name;
    struct orr_result result;
    struct orr_saved_sum sum;
};

static int cannot_write(const struct writing *w, int rc, struct orr_error *err)
{
    return orr_fail(err, rc, "\"%s\" cannot be written: %s", w->name.text, strerror(-rc));
}

static int write_begin(struct writing *w, struct name name, struct orr_error *err)
{
    int rc;

    *w = (struct writing){.name = name};
    rc = orr_result_open(name.text, &w->result);
    w->result.durable = true;
    return rc ? cannot_write(w, rc, err) : 0;
}

static void write_bytes(struct writing *w, const void *bytes, size_t n)
{
    w->sum.crc = orr_crc_bytes(bytes, n, w->sum.crc);
    w->sum.size += n;
    if (n)
        (void)fwrite(bytes, 1, n, w->result.file); /* ferror tells at the end */
}

static int write_end(struct writing *w, struct orr_error *err)
{
    int rc = orr_result_close(&w->result, 0);

    return rc ? cannot_write(w, rc, err) : 0;
}

int orr_saved_write_part(const struct orr_saved *saved, int rank,
                         const struct orr_saved_record *records, unsigned n,
                         struct orr_saved_sum *ret, struct orr_error *err)
{
    struct writing w;
    int rc = write_begin(&w, part_name(saved, rank), err);

    if (rc)
        return rc;
    write_bytes(&w, magic, sizeof(magic));
    write_bytes(&w, &(uint64_t){n}, sizeof(uint64_t));
    for (unsigned i = 0; i < n; i++) {
        struct head head = {.entry = records[i].entry,
                            .source = records[i].source,
                            .size = records[i].size};

        write_bytes(&w, &head, sizeof(head));
        write_bytes(&w, records[i].bytes, records[i].size);
    }
    *ret = w.sum;
    return write_end(&w, err);
}

int orr_saved_write_manifest(const struct orr_saved *saved,
                             const struct orr_saved_manifest *manifest,
                             struct orr_error *err)
{
    struct writing w;
    char line[128];
    int rc = write_begin(&w, manifest_name(saved), err);

    if (rc)
        return rc;
    write_bytes(&w, line,
                (size_t)snprintf(line, sizeof(line),
                                 "orrery-checkpoint 1\nid %d domain %d number %" PRIu64
                                 "\nranks %d entries %u\n",
                                 saved->id, saved->domain, saved->number, manifest->nranks,
                                 manifest->nentries));
    for (int r = 0; r < manifest->nranks; r++)
        write_bytes(&w, line,
                    (size_t)snprintf(line, sizeof(line), "%d %" PRIu64 " %08x\n", r,
                                     manifest->sums[r].size, manifest->sums[r].crc));
    write_bytes(&w, line,
                (size_t)snprintf(line, sizeof(line), "crc %08x\n", w.sum.crc));
    return write_end(&w, err);
}

/* --- read --- */

uint64_t orr_saved_newest(const char *folder, int id, int domain, uint64_t below)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    uint64_t newest = 0;

    while (dir && (entry = readdir(dir))) {
        int its_id, its_domain, end = 0;
        uint64_t number;

        if (sscanf(entry->d_name, "%d-%d-%" SCNu64 ".manifest%n", &its_id, &its_domain,
                   &number, &end) == 3 &&
            end > 0 && entry->d_name[end] == '\0' && its_id == id &&
            its_domain == domain && number < below && number > newest)
            newest = number;
    }
    if (dir)
        closedir(dir);
    return newest;
}

static int is_damaged(const char *name, struct orr_error *err)
{
    return orr_fail(err, -EBADMSG, "\"%s\" is damaged", name);
}

/* The text without its last line, which has its checksum. */
static bool check_text(char *text, size_t size)
{
    char *last = NULL, *next = text;
    unsigned crc;
    int end = 0;

    while ((next = strstr(next, "crc ")))
        last = next++;
    if (!last || sscanf(last, "crc %8x\n%n", &crc, &end) != 1 ||
        last + end != text + size || crc != orr_crc_bytes(text, (size_t)(last - text), 0))
        return false;
    *last = '\0';
    return true;
}

/* Of a manifest, as "0 0 0\n" of a rank: there are not more ranks than have room in the text. */
enum { SHORTEST_LINE = 6 };

static bool parse(const char *text, const struct orr_saved *saved,
                  struct orr_saved_manifest *ret)
{
    int id, domain, end = 0;
    uint64_t number;

    if (sscanf(text,
               "orrery-checkpoint 1 id %d domain %d number %" SCNu64 " ranks %d entries "
               "%u %n",
               &id, &domain, &number, &ret->nranks, &ret->nentries, &end) != 5 ||
        end == 0 || id != saved->id || domain != saved->domain ||
        number != saved->number || ret->nranks < 1 ||
        (size_t)ret->nranks > strlen(text) / SHORTEST_LINE)
        return false;
    ret->sums = calloc((size_t)ret->nranks, sizeof(*ret->sums));
    for (int r = 0; ret->sums && r < ret->nranks; r++) {
        int its;

        text += end;
        if (sscanf(text, "%d %" SCNu64 " %x %n", &its, &ret->sums[r].size,
                   &ret->sums[r].crc, &end) != 3 ||
            its != r) {
            free(ret->sums);
            return false;
        }
    }
    return ret->sums != NULL;
}

int orr_saved_read_manifest(const struct orr_saved *saved, struct orr_saved_manifest *ret,
                            struct orr_error *err)
{
    struct name name = manifest_name(saved);
    FILE *file = fopen(name.text, "rb");
    struct stat st;
    char *text;
    size_t n;
    bool ok;

    *ret = (struct orr_saved_manifest){0};
    if (!file)
        return orr_fail(err, -errno, "\"%s\" cannot be read: %s", name.text,
                        strerror(errno));
    if (fstat(fileno(file), &st) < 0 || !(text = malloc((size_t)st.st_size + 1))) {
        fclose(file);
        return orr_fail(err, -ENOMEM, "\"%s\": out of memory", name.text);
    }
    n = fread(text, 1, (size_t)st.st_size, file);
    text[n] = '\0';
    fclose(file);
    ok = check_text(text, n) && parse(text, saved, ret);
    free(text);
    return ok ? 0 : is_damaged(name.text, err);
}

/* Reads so many bytes, if the file has them. */
static bool read_bytes(FILE *file, void *to, size_t n, struct orr_saved_sum *sum)
{
    if (n && fread(to, 1, n, file) != n)
        return false;
    sum->crc = orr_crc_bytes(to, n, sum->crc);
    sum->size += n;
    return true;
}

static int read_records(FILE *file, const struct orr_saved_sum *sum,
                        int (*take)(void *arg, const struct orr_saved_record *record),
                        void *arg)
{
    struct orr_saved_sum is = {0, 0};
    char start[sizeof(magic)];
    uint64_t n;

    if (!read_bytes(file, start, sizeof(start), &is) ||
        memcmp(start, magic, sizeof(magic)) != 0 || !read_bytes(file, &n, sizeof(n), &is))
        return -EBADMSG;
    for (uint64_t i = 0; i < n; i++) {
        struct head head;
        void *bytes;
        int rc = 0;

        if (!read_bytes(file, &head, sizeof(head), &is) ||
            head.size > sum->size - is.size)
            return -EBADMSG;
        bytes = malloc(head.size ? head.size : 1);
        if (!bytes)
            return -ENOMEM;
        if (!read_bytes(file, bytes, head.size, &is))
            rc = -EBADMSG;
        else
            rc = take(arg, &(struct orr_saved_record){.entry = head.entry,
                                                      .source = head.source,
                                                      .size = head.size,
                                                      .bytes = bytes});
        free(bytes);
        if (rc)
            return rc;
    }
    return is.size == sum->size && is.crc == sum->crc ? 0 : -EBADMSG;
}

int orr_saved_read_part(const struct orr_saved *saved, int rank,
                        const struct orr_saved_sum *sum,
                        int (*take)(void *arg, const struct orr_saved_record *record),
                        void *arg, struct orr_error *err)
{
    struct name name = part_name(saved, rank);
    FILE *file = fopen(name.text, "rb");
    struct stat st;
    int rc;

    if (!file)
        return orr_fail(err, errno == ENOENT ? -EBADMSG : -errno,
                        "\"%s\" cannot be read: %s", name.text, strerror(errno));
    if (fstat(fileno(file), &st) < 0 || (uint64_t)st.st_size != sum->size)
        rc = -EBADMSG;
    else
        rc = read_records(file, sum, take, arg);
    fclose(file);
    if (rc == -EBADMSG)
        return is_damaged(name.text, err);
    return rc == -ENOMEM ? orr_fail(err, rc, "\"%s\": out of memory", name.text) : rc;
}

/* --- removed --- */

void orr_saved_remove_part(const struct orr_saved *saved, int rank)
{
    struct name name = part_name(saved, rank);

    (void)unlink(name.text);
}

void orr_saved_remove_manifest(const struct orr_saved *saved)
{
    struct name name = manifest_name(saved);

    (void)unlink(name.text);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/heteroprio_file.c - what heteroprio's automatic mode keeps between
 * runs, in StarPU's format: architectures, µs that their workers were busy and
 * free, then of each bucket name, architectures, and figures. Simulations read
 * and write it only where the user names it: else a run would depend on earlier
 * ones.
 *
 *     2 0 1                                       architectures
 *      busy free busy free
 *     gemm 1 1                                    who can run it
 *     NOD n n(URT) share n n(share on archs) S n best n
 *     URT time n share                            per architecture of these
 *     #####
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* program_invocation_short_name, getline */
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/number.h"
#include "core/cost/estimates.h"
#include "core/policies/heteroprio.h"
#include "perfmodel/disk.h"
#include "perfmodel/sampling.h"

/* The busy and the free µs of an architecture that are written add up to this at most. */
static const double most_us = 1e9;

/* --- which file --- */

/* Errors: -ENOENT, there is to be none; -ENOMEM. */
static int find_path(const struct orr_runtime *rt, char **ret)
{
    const struct orr_config *config = &rt->config;
    const char *file = orr_config_string(config, ORR_CFG_HETEROPRIO_DATA_FILE);
    const char *folder = orr_config_string(config, ORR_CFG_HETEROPRIO_DATA_DIR);
    const char *program = program_invocation_short_name;
    const char *const *dirs = orr_sampling_dirs(rt->estimates->sampling);
    int n;

    if (!file && !folder && rt->exec->one_thread)
        return -ENOENT;
    if (file)
        n = asprintf(ret, "%s", file);
    else if (folder)
        n = asprintf(ret, "%s/%s.data", folder, program);
    else
        n = asprintf(ret, "%s/heteroprio/%s.data", dirs[0], program);
    if (n < 0)
        *ret = NULL;
    return n < 0 ? -ENOMEM : 0;
}

/* --- writing --- */

static void write_busy(FILE *file, const struct orr_sched *sched, unsigned arch)
{
    const struct orr_heteroprio *hp = sched->data;
    double us = orr_exec_now(sched->runtime->exec) - hp->began;
    double all = us * hp->archs[arch].nworkers + hp->archs[arch].before;
    double busy = hp->archs[arch].busy, scale;

    if (all < busy)
        all = busy;
    scale = all > most_us ? most_us / all : 1;
    orr_fprintf(file, " %f %f", scale * busy, scale * (all - busy));
}

static bool arch_is_present(const struct orr_heteroprio *hp, unsigned arch)
{
    return hp->present >> (arch + 1) & 1;
}

static double sum_executed(const struct orr_hp_figures *known)
{
    double n = 0;

    for (unsigned a = 0; a < STARPU_NARCH; a++)
        n += known->nexecuted[a];
    return n;
}

static void write_bucket(FILE *file, const struct orr_heteroprio *hp,
                         const struct orr_hp_bucket *bucket, double npushed)
{
    const struct orr_hp_figures *known = &bucket->known;
    double executed = sum_executed(known);
    unsigned fastest = orr_hp_fastest(bucket);

    fputs(known->name, file);
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        if (arch_is_present(hp, a))
            fprintf(file, " %u", known->where >> (a + 1) & 1);
    orr_fprintf(file, "\n%f %u %u %f %.0f %.0f %f %u %f %u\n", known->nod.value,
                known->nod.n, known->released[fastest].n,
                npushed > 0 ? known->npushed / npushed : 0, npushed, executed,
                known->best_released.value, known->best_released.n,
                orr_hp_time_on(bucket, fastest), known->time[fastest].n);
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        if (arch_is_present(hp, a) && known->where >> (a + 1) & 1)
            orr_fprintf(file, "%f %f %u %f\n", known->released[a].value,
                        known->time[a].value, known->time[a].n,
                        executed > 0 ? known->nexecuted[a] / executed : 0);
    fputs("#####\n", file);
}

/* With the lock, and numbers as in C. */
static void write_figures(FILE *file, const struct orr_sched *sched)
{
    const struct orr_heteroprio *hp = sched->data;
    double npushed = 0;
    unsigned n = 0;

    for (unsigned a = 0; a < STARPU_NARCH; a++)
        n += arch_is_present(hp, a);
    fprintf(file, "%u", n);
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        if (arch_is_present(hp, a))
            fprintf(file, " %u", a);
    fputc('\n', file);
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        if (arch_is_present(hp, a))
            write_busy(file, sched, a);
    fputc('\n', file);
    for (unsigned b = 0; b < hp->nbuckets; b++)
        npushed += hp->buckets[b].known.npushed;
    for (unsigned b = 0; b < hp->nbuckets; b++)
        write_bucket(file, hp, &hp->buckets[b], npushed);
}

static void write_order(FILE *file, const struct orr_heteroprio *hp)
{
    for (unsigned a = 0; a < STARPU_NARCH; a++) {
        if (!hp->archs[a].n)
            continue;
        fprintf(
            file, "heteroprio, order for %s:",
            starpu_worker_get_type_as_string((enum starpu_worker_archtype)a));
        for (unsigned i = 0; i < hp->archs[a].n; i++)
            fprintf(file, " %s", hp->buckets[hp->archs[a].order[i]].known.name);
        fputc('\n', file);
    }
}

/* The text is made under the lock, and printed without it. */
static char *make_text(struct orr_sched *sched, bool order, bool figures)
{
    struct orr_heteroprio *hp = sched->data;
    char *text = NULL;
    size_t size;
    FILE *file;

    file = open_memstream(&text, &size);
    if (file) {
        orr_lock(&hp->lock);
        if (order)
            write_order(file, hp);
        if (figures)
            write_figures(file, sched);
        orr_unlock(&hp->lock);
        if (fclose(file)) {
            free(text);
            text = NULL;
        }
    }
    return text;
}

void orr_hp_tell(struct orr_sched *sched)
{
    const struct orr_heteroprio *hp = sched->data;
    char *text = make_text(sched, hp->tells_order, hp->tells_data);

    if (text)
        fputs(text, stderr);
    free(text);
}

void orr_hp_write(struct orr_sched *sched)
{
    struct orr_error err = {.text = ""};
    char *path = NULL, *text;
    int rc = find_path(sched->runtime, &path);

    if (rc == -ENOENT)
        return;
    text = rc ? NULL : make_text(sched, false, true);
    if (!text)
        rc = orr_fail(&err, -ENOMEM, "heteroprio: out of memory");
    else
        rc = orr_disk_replace(path, text, strlen(text), &err);
    if (rc)
        orr_log_warning("heteroprio's figures are not kept: %s", err.text);
    free(text);
    free(path);
}

/* --- reading --- */

struct reading {
    FILE *file;
    char *line;
    size_t room;
    unsigned narchs, archs[STARPU_NARCH];
};

/* The next line that is no comment; false: there is none. */
static bool next_line(struct reading *r)
{
    do {
        ssize_t n = getline(&r->line, &r->room, r->file);

        if (n < 0)
            return false;
        if (n && r->line[n - 1] == '\n')
            r->line[n - 1] = '\0';
    } while (r->line[0] == '#' || !r->line[0]);
    return true;
}

/* Figures are no larger, so that a product of two, and sums of these, are finite. */
static const double most_figure = 1e100;

/* Reads n numbers of at least 0 from the line. */
static bool heteroprio_read_numbers(const char *text, double *ret, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char *end;

        ret[i] = orr_strtod(text, &end);
        if (end == text || !(ret[i] >= 0) || ret[i] > most_figure)
            return false;
        text = end;
    }
    return text[strspn(text, " \t")] == '\0';
}

static bool read_archs(struct reading *r)
{
    double numbers[STARPU_NARCH + 1];
    char *end;

    if (!next_line(r))
        return false;
    r->narchs = (unsigned)strtoul(r->line, &end, 10);
    if (end == r->line || r->narchs > STARPU_NARCH ||
        !heteroprio_read_numbers(r->line, numbers, r->narchs + 1))
        return false;
    for (unsigned i = 0; i < r->narchs; i++) {
        if (numbers[i + 1] >= STARPU_NARCH)
            return false;
        r->archs[i] = (unsigned)numbers[i + 1];
    }
    return true;
}

static bool read_busy(struct reading *r, struct orr_heteroprio *hp)
{
    double us[2 * STARPU_NARCH];

    if (!next_line(r) || !heteroprio_read_numbers(r->line, us, 2 * r->narchs))
        return false;
    for (unsigned i = 0; i < r->narchs; i++) {
        hp->archs[r->archs[i]].busy = us[2 * i];
        hp->archs[r->archs[i]].before = us[2 * i] + us[2 * i + 1];
    }
    return true;
}

/* The name is all but the last words, which say which architectures can
 * run it. */
static bool heteroprio_read_name(const struct reading *r,
                                 struct orr_hp_figures *known)
{
    char *end = r->line + strlen(r->line);

    for (unsigned i = r->narchs; i-- > 0;) {
        while (end > r->line && end[-1] == ' ')
            *--end = '\0';
        if (end - r->line < 3 || end[-2] != ' ' ||
            (end[-1] != '0' && end[-1] != '1'))
            return false;
        if (*--end == '1')
            known->where |= 2U << r->archs[i];
        *end = '\0';
    }
    while (end > r->line && end[-1] == ' ')
        *--end = '\0';
    strncpy(known->name, r->line, ORR_HP_NAME);
    return known->name[0] != '\0';
}

static struct orr_hp_mean mean_of_file(double value, double n)
{
    return (struct orr_hp_mean){value, n < 256 ? (unsigned)n : 256};
}

static bool read_figures(struct reading *r, struct orr_hp_figures *known)
{
    double f[10], on[4];

    if (!next_line(r) || !heteroprio_read_numbers(r->line, f, 10))
        return false;
    known->nod = mean_of_file(f[0], f[1]);
    known->npushed = f[3] * f[4];
    known->best_released = mean_of_file(f[6], f[7]);
    for (unsigned i = 0; i < r->narchs; i++) {
        unsigned a = r->archs[i];

        if (!(known->where >> (a + 1) & 1))
            continue;
        if (!next_line(r) || !heteroprio_read_numbers(r->line, on, 4))
            return false;
        known->released[a] = mean_of_file(on[0], f[2]);
        known->time[a] = mean_of_file(on[1], on[2]);
        known->nexecuted[a] = on[3] * f[5];
    }
    return true;
}

static bool read_all(struct reading *r, struct orr_heteroprio *hp)
{
    if (!read_archs(r) || !read_busy(r, hp))
        return false;
    while (next_line(r)) {
        struct orr_hp_figures known = {.where = 0};

        if (!heteroprio_read_name(r, &known) || !read_figures(r, &known))
            return false;
        known.where &= hp->present;
        if (known.where && hp->nbuckets < ORR_HP_BUCKETS)
            hp->buckets[hp->nbuckets++].known = known;
    }
    return true;
}

/* Forgets what was read of a file that turned out to be broken. */
static void heteroprio_forget_known(struct orr_heteroprio *hp)
{
    for (unsigned b = 0; b < hp->nbuckets; b++)
        hp->buckets[b].known = (struct orr_hp_figures){.where = 0};
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        hp->archs[a].busy = hp->archs[a].before = 0;
    hp->nbuckets = 0;
}

bool orr_hp_read_figures(struct orr_heteroprio *hp, FILE *file)
{
    struct reading r = {.file = file};
    bool well = read_all(&r, hp);

    if (!well)
        heteroprio_forget_known(hp);
    free(r.line);
    return well;
}

int orr_hp_read(struct orr_sched *sched)
{
    FILE *file;
    char *path;
    int rc = find_path(sched->runtime, &path);

    if (rc)
        return rc == -ENOENT ? 0 : rc;
    file = fopen(path, "re");
    rc = file ? 0 : -errno;
    if (file && !orr_hp_read_figures(sched->data, file))
        orr_log_warning("%s: not in the format of heteroprio's figures: it is "
                        "not read, and written anew at the end",
                        path);
    if (rc && rc != -ENOENT && rc != -ENOMEM)
        orr_log_warning("%s: %s: heteroprio begins without figures", path,
                        strerror(-rc));
    if (file)
        fclose(file);
    free(path);
    return rc == -ENOMEM ? rc : 0;
}

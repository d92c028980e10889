/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-heteroprio.c - libFuzzer target for what heteroprio keeps between runs
 * (core/policies/heteroprio_file.c): what is accepted has names, architectures of the machine,
 * and finite figures; what is refused leaves none. One thread.
 */
#include <math.h>

#include "core/policies/heteroprio.h"
#include "tests/fuzz/fuzz.h"

static bool is_figure(double value)
{
    return isfinite(value) && value >= 0;
}

static void check_mean(const struct orr_hp_mean *mean)
{
    must(is_figure(mean->value) && mean->n <= 256);
}

static void check_known(const struct orr_hp_figures *known, uint32_t present)
{
    double executed = 0;

    must(*known->name && memchr(known->name, '\0', sizeof(known->name)));
    must(known->where && !(known->where & ~present));
    check_mean(&known->nod);
    check_mean(&known->best_released);
    for (unsigned a = 0; a < STARPU_NARCH; a++) {
        check_mean(&known->time[a]);
        check_mean(&known->released[a]);
        executed += known->nexecuted[a];
    }
    must(is_figure(executed) && is_figure(known->npushed));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_heteroprio *hp = calloc(1, sizeof(*hp));
    char path[32];
    int fd = fuzz_file(data, size, path);
    FILE *file = fopen(path, "re");
    double pushed = 0;
    bool well;

    must(hp && file);
    hp->present = 2U << 0 | 2U << 1; /* processors and CUDA */
    well = orr_hp_read_figures(hp, file);
    must(hp->nbuckets <= ORR_HP_BUCKETS && (well || !hp->nbuckets));
    for (unsigned a = 0; a < STARPU_NARCH; a++)
        must(is_figure(hp->archs[a].busy) && is_figure(hp->archs[a].before) &&
             hp->archs[a].busy <= hp->archs[a].before &&
             (well || !hp->archs[a].before));
    for (unsigned b = 0; b < hp->nbuckets; b++) {
        check_known(&hp->buckets[b].known, hp->present);
        pushed += hp->buckets[b].known.npushed;
    }
    must(is_figure(pushed));
    fclose(file);
    close(fd);
    free(hp);
    return 0;
}

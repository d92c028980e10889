/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/workflow.c - see workflow.h. */
#include "import/workflow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "import/kinds.h"

#define MOST_CORES 65535

/* How long the name is without "_ID0000012" or "_12". */
static size_t without_number(const char *name)
{
    size_t n = strlen(name), end = n;

    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    if (end == n)
        return n;
    if (end >= 2 && !strncmp(name + end - 2, "ID", 2))
        end -= 2;
    return end >= 2 && name[end - 1] == '_' ? end - 1 : n;
}

/* ---- kinds ---- */

#define FEW_KINDS 16 /* that many names may well be as many kernels */

static bool is_word_end(char c)
{
    return !c || strchr("_-.:/ ", c) != NULL;
}

/* Whether "3fa4c0…" stands there up to the end of the word: a hash. */
static size_t hash_length(const char *word)
{
    size_t n = strspn(word, "0123456789abcdefABCDEF");
    size_t digits = strcspn(word, "0123456789");

    return n >= 6 && digits < n && is_word_end(word[n]) ? n : 0;
}

/* The name with an N for each number and each hash in it; owned, NULL without
 * memory. */
static char *name_pattern(const char *name)
{
    char *pattern = malloc(strlen(name) + 1), *to = pattern;
    const char *from = name;

    while (pattern && *from) {
        size_t n = from == name || is_word_end(from[-1]) ? hash_length(from) : 0;

        if (!n)
            n = strspn(from, "0123456789");
        if (!n) {
            *to++ = *from++;
            continue;
        }
        *to++ = 'N';
        from += n;
    }
    if (pattern)
        *to = '\0';
    return pattern;
}

static int kernel_names_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* How many different ones; sorts them. */
static size_t count_different(char **texts, size_t n)
{
    size_t different = n > 0;

    qsort(texts, n, sizeof(*texts), kernel_names_compare);
    for (size_t i = 1; i < n; i++)
        different += strcmp(texts[i - 1], texts[i]) != 0;
    return different;
}

static void kernel_names_free(char **texts, size_t n)
{
    for (size_t i = 0; texts && i < n; i++)
        free(texts[i]);
    free(texts);
}

/* The kernel's name, where no rule has chosen it. */
static char *kind_of(const struct flow_task *task, char *none)
{
    return task->kernel && !task->chosen ? task->kernel : none;
}

/* Where most jobs have a name of their own, and half as many would be left without the
 * numbers in them, a kernel is what the rest of the name says. */
static int join_numbered_kinds(struct flow *flow)
{
    size_t n = flow->ntasks, names, kinds;
    char no_name[] = "";
    char **texts = calloc(n + 1, sizeof(*texts));
    char **sorted = calloc(n + 1, sizeof(*sorted));
    int rc = texts && sorted ? 0 : -ENOMEM;

    for (size_t t = 0; !rc && t < n; t++)
        sorted[t] = kind_of(&flow->tasks[t], no_name);
    names = rc ? 0 : count_different(sorted, n);
    if (names <= FEW_KINDS || names * 4 < n) {
        kernel_names_free(texts, 0);
        free(sorted);
        return rc;
    }
    for (size_t t = 0; !rc && t < n; t++) {
        const char *kernel = kind_of(&flow->tasks[t], no_name);

        texts[t] = *kernel ? name_pattern(kernel) : NULL;
        sorted[t] = texts[t] ? texts[t] : no_name;
        rc = texts[t] || !*kernel ? 0 : -ENOMEM;
    }
    kinds = rc ? names : count_different(sorted, n);
    if (kinds * 2 <= names) {
        for (size_t t = 0; t < n; t++) {
            char *kernel = flow->tasks[t].kernel;

            if (!texts[t])
                continue;
            flow->tasks[t].kernel = texts[t];
            texts[t] = kernel;
        }
        rc = flow_note(flow,
                       "%zu names of jobs are taken for %zu kernels: without "
                       "the numbers in them",
                       names, kinds);
    }
    kernel_names_free(texts, n);
    free(sorted);
    return rc;
}

struct flow_task *workflow_add_job(struct flow *flow, const char *id,
                                   const char *name, const char *field,
                                   const char *usual)
{
    struct flow_task *task = flow_add_task(flow);
    int rc;

    if (!task) {
        flow_no_memory(flow);
        return NULL;
    }
    if (flow_set_kind(flow, task, name, field))
        return NULL;
    if (!task->chosen) {
        free(task->kernel);
        task->kernel = strndup(usual, without_number(usual));
    }
    rc = task->kernel ? flow_text(&task->name, id) : -ENOMEM;
    if (!rc)
        rc = flow_set(&flow->task_names, id, flow->ntasks - 1);
    if (rc == -EEXIST)
        flow_wrong(flow, "a second job \"%.60s\"", id);
    else if (rc)
        flow_no_memory(flow);
    return rc ? NULL : task;
}

/* Of one that is named again, what is known of it counts. */
int workflow_use(struct flow *flow, size_t job, const char *file,
                 uint64_t bytes, uint32_t mode)
{
    size_t d = flow_find(&flow->datum_names, file);
    struct flow_task *task = &flow->tasks[job];
    int rc = 0;

    if (d == FLOW_NONE) {
        d = flow_add_datum(flow, file, bytes);
        rc = d == FLOW_NONE ? -ENOMEM : flow_set(&flow->datum_names, file, d);
    } else if (bytes > flow->data[d].bytes) {
        flow->data[d].bytes = bytes;
    }
    if (!rc)
        flow->data[d].is_file = true;
    for (size_t u = 0; !rc && u < task->nuses; u++)
        if (task->uses[u].datum == d) {
            task->uses[u].mode |= mode;
            return 0;
        }
    if (!rc)
        rc = flow_use(task, d, mode);
    return rc ? flow_no_memory(flow) : 0;
}

/* "workflow.execution.tasks[3]: 0 cores" or "0 cores". */
static int wrong_amount(struct flow *flow, const char *where, double amount,
                        const char *of)
{
    return flow_wrong(flow, "%s%s%g %s", where ? where : "", where ? ": " : "",
                      amount, of);
}

int workflow_set_cores(struct flow *flow, size_t job, double cores,
                       const char *where)
{
    struct flow_task *task = &flow->tasks[job];

    if (!(cores > 0 && cores <= MOST_CORES))
        return wrong_amount(flow, where, cores, "cores of a task");
    if (ceil(cores) > (task->ncores ? task->ncores : 1))
        task->ncores = (unsigned)ceil(cores);
    return 0;
}

int workflow_set_memory(struct flow *flow, size_t job, double bytes,
                        const char *where)
{
    struct flow_task *task = &flow->tasks[job];

    if (!(bytes >= 0 && bytes < 1e18))
        return wrong_amount(flow, where, bytes, "bytes of memory of a task");
    if ((uint64_t)bytes > task->memory)
        task->memory = (uint64_t)bytes;
    return 0;
}

int workflow_wait(struct flow *flow, const char *child, const char *parent)
{
    size_t c = flow_find(&flow->task_names, child);
    size_t p = flow_find(&flow->task_names, parent);

    if (c == FLOW_NONE || p == FLOW_NONE)
        return flow_wrong(flow, "there is no job \"%.60s\"",
                          c == FLOW_NONE ? child : parent);
    return flow_wait(&flow->tasks[c], p) ? flow_no_memory(flow) : 0;
}

/* What tasks need of a host. */
static int note_needs(struct flow *flow)
{
    size_t wide = 0, big = 0;
    unsigned most = 0;
    uint64_t most_memory = 0;
    int rc = 0;

    for (size_t t = 0; t < flow->ntasks; t++) {
        const struct flow_task *task = &flow->tasks[t];

        wide += task->ncores > 1;
        big += task->memory > 0;
        most = task->ncores > most ? task->ncores : most;
        most_memory = task->memory > most_memory ? task->memory : most_memory;
    }
    if (wide)
        rc = flow_note(
            flow,
            "%zu tasks take several cores of a host, up to %u, for as "
            "long as the file says; policies that compare expected "
            "times (dmda ...) count each for one core: try lws, too",
            wide, most);
    if (!rc && big)
        rc = flow_note(flow,
                       "%zu tasks say what memory they need, up to %.3g GB: it "
                       "counts on hosts whose memory the machine states "
                       "(orrery machine new --hosts)",
                       big, (double)most_memory / 1e9);
    return rc;
}

int workflow_end(struct flow *flow)
{
    size_t timeless = 0, sizeless = 0;
    int rc = 0;

    flow->line = 0;
    if (!flow->ntasks)
        return flow_wrong(flow, "there is no task in it");
    flow->has_all_waits = true;
    for (size_t t = 0; t < flow->ntasks; t++)
        timeless +=
            flow->tasks[t].kind == FLOW_TASK && !(flow->tasks[t].us >= 0);
    for (size_t d = 0; d < flow->ndata; d++)
        sizeless += !flow->data[d].bytes;
    rc = join_numbered_kinds(flow);
    if (!rc)
        rc = note_needs(flow);
    if (!rc && timeless)
        rc = flow_note(flow,
                       "%zu tasks have no run time: their kernels need a "
                       "model on the machine, or --assume",
                       timeless);
    if (!rc && sizeless)
        rc = flow_note(flow, "%zu data have no size: they move in no time",
                       sizeless);
    if (!rc)
        rc = flow_wait_for_writers(flow);
    if (rc == -ENOMEM)
        return flow_no_memory(flow);
    return rc ? rc : flow_give_order(flow);
}

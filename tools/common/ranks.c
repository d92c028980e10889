/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/ranks.c - see ranks.h. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "tools/common/ranks.h"

#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/interrupt.h"
#include "tools/common/launch.h"
#include "tools/common/process.h"
#include "tools/common/tool.h"

enum mpi { NO_MPI, OPEN_MPI, MPICH };

static const struct {
    const char *name, *launcher; /* the latter where several MPIs are installed */
    const char *version;         /* what the launcher says of itself */
} mpis[] = {
    [OPEN_MPI] = {"Open MPI", "mpirun.openmpi", "Open MPI"},
    [MPICH] = {"MPICH", "mpirun.mpich", "HYDRA"},
};

/* --- which MPI --- */

/* What a program prints; owned; NULL: it could not be started, or failed. */
static char *output_of(const char *program, const char *argument)
{
    char *argv[] = {(char *)(size_t)program, (char *)(size_t)argument, NULL};
    struct process process = {.argv = argv, .quiet = true, .output = -1};
    int stopped = process_run(&process, 1, 1, NULL, NULL);
    char *text = NULL;

    if (stopped)
        interrupt_end(stopped);
    if (process_exit_code(&process) == 0) {
        text = process.text ? process.text : strdup("");
        process.text = NULL;
    }
    process_done(&process);
    return text;
}

/* The file that execvp would take; owned, NULL: none. */
static char *find_in_path(const char *name)
{
    const char *path = getenv("PATH");
    char *copy, *rest, *folder, *found = NULL;

    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? strdup(name) : NULL;
    rest = copy = strdup(path ? path : "/usr/bin:/bin");
    while (!found && (folder = strsep(&rest, ":"))) {
        found = tool_format("%s/%s", *folder ? folder : ".", name);
        if (found && access(found, X_OK) != 0) {
            free(found);
            found = NULL;
        }
    }
    free(copy);
    return found;
}

/* MPICH's library is libmpich.so, or, of those with its binary interface, libmpi.so.12;
 * Open MPI's is libmpi.so with a higher number. */
static enum mpi mpi_among(const char *libraries)
{
    const char *found = strstr(libraries, "libmpi.so.");

    if (strstr(libraries, "libmpich.so"))
        return MPICH;
    if (!found)
        return NO_MPI;
    return strtol(found + strlen("libmpi.so."), NULL, 10) == 12 ? MPICH : OPEN_MPI;
}

static enum mpi mpi_of(const char *program)
{
    char *file = find_in_path(program);
    char *libraries = file ? output_of("ldd", file) : NULL;
    enum mpi ret = libraries ? mpi_among(libraries) : NO_MPI;

    free(file);
    free(libraries);
    return ret;
}

/* The launcher that fits; NULL: none. */
static const char *find_launcher(enum mpi mpi)
{
    const char *const names[] = {mpis[mpi].launcher, "mpirun", "mpiexec"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char *version = output_of(names[i], "--version");
        bool fits = version && strstr(version, mpis[mpi].version);

        free(version);
        if (fits)
            return names[i];
    }
    return NULL;
}

/* --- which processors --- */

/* The core that a processor is part of, by its first processor. */
static unsigned core_of(unsigned cpu)
{
    char path[96];
    unsigned first = cpu;
    FILE *file;

    snprintf(path, sizeof(path),
             "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
    file = fopen(path, "re");
    if (file && fscanf(file, "%u", &first) != 1)
        first = cpu;
    if (file)
        fclose(file);
    return first;
}

struct cores {
    unsigned n;
    struct {
        unsigned first; /* names it */
        char *cpus;     /* owned: those of its processors that we may use, "0+8" */
    } at[CPU_SETSIZE];
};

static int add_cpu(struct cores *cores, unsigned cpu)
{
    unsigned first = core_of(cpu), i = 0;
    char *joined;

    while (i < cores->n && cores->at[i].first != first)
        i++;
    joined = i < cores->n ? tool_format("%s+%u", cores->at[i].cpus, cpu)
                          : tool_format("%u", cpu);
    if (!joined)
        return -1;
    if (i == cores->n)
        cores->n++;
    else
        free(cores->at[i].cpus);
    cores->at[i].first = first;
    cores->at[i].cpus = joined;
    return 0;
}

/* NULL without memory; freed by cores_free. */
static struct cores *cores_here(void)
{
    struct cores *cores = calloc(1, sizeof(*cores));
    cpu_set_t set;

    if (!cores || sched_getaffinity(0, sizeof(set), &set) != 0)
        return cores;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set) && add_cpu(cores, cpu) < 0)
            break;
    return cores;
}

static void cores_free(struct cores *cores)
{
    for (unsigned i = 0; cores && i < cores->n; i++)
        free(cores->at[i].cpus);
    free(cores);
}

/* "user:0+1,2+3": the processors of each rank, as MPICH takes them. */
static char *list_of_cpus(const struct cores *cores, unsigned n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    unsigned share = cores->n / n;

    if (!out)
        return NULL;
    fputs("user:", out);
    for (unsigned i = 0; i < n * share; i++)
        fprintf(out, "%s%s", i == 0 ? "" : i % share ? "+" : ",", cores->at[i].cpus);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* --- the command line --- */

struct words {
    char **argv;
    size_t n;
    bool failed;
};

static void add_word(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_word(struct words *words, const char *format, ...)
{
    char **argv = realloc(words->argv, (words->n + 2) * sizeof(*argv)), *text = NULL;
    va_list ap;

    if (argv) {
        words->argv = argv;
        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0)
            text = NULL;
        va_end(ap);
        argv[words->n] = text;
        argv[words->n + (text ? 1 : 0)] = NULL;
        words->n += text ? 1 : 0;
    }
    words->failed |= !text;
}

static void add_openmpi(struct words *words, unsigned share)
{
    if (geteuid() == 0)
        add_word(words, "--allow-run-as-root");
    add_word(words, "--bind-to");
    add_word(words, share ? "core" : "none");
    if (share) {
        add_word(words, "--map-by");
        add_word(words, "slot:pe=%u", share);
    } else {
        add_word(words, "--oversubscribe");
    }
}

static void add_mpich(struct words *words, const struct cores *cores, unsigned n)
{
    char *list = cores->n >= n ? list_of_cpus(cores, n) : NULL;

    if (cores->n < n)
        return;
    add_word(words, "-bind-to");
    add_word(words, "%s", list ? list : "none");
    words->failed |= !list;
    free(list);
}

/* What stands before the program, run_rank.h. */
static void add_rank(struct words *words)
{
    char own[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (n <= 0)
        return;
    own[n] = '\0';
    add_word(words, "%s", own);
    add_word(words, "--rank");
}

/* With a core or less for each: the thread of MPI has none of its own then. */
static void choose_settings(struct ranks *ranks, unsigned share)
{
    unsigned n = 0;

    if (share <= 1 && !getenv("STARPU_NCPU"))
        ranks->more[n++] = "STARPU_NCPU=1";
    if (share > 0)
        return;
    ranks->more[n++] = "STARPU_WORKERS_NOBIND=1";
    ranks->more[n++] = "STARPU_MPI_NOBIND=1";
}

int ranks_init(struct ranks *ranks, const char *command, char *const *argv, unsigned n)
{
    enum mpi mpi = mpi_of(argv[0]);
    const char *launcher = mpi ? find_launcher(mpi) : NULL;
    struct words words = {0};
    struct cores *cores;

    *ranks = (struct ranks){.n = n};
    if (!mpi) {
        tool_error(
            "%s: %u ranks: %s is no program that is linked to Open MPI or MPICH (see "
            "ldd %s), so that it has one process: do not ask for ranks",
            command, n, argv[0], argv[0]);
        return -1;
    }
    if (!launcher) {
        tool_error(
            "%s: %u ranks: %s is linked to %s, and none of %s, mpirun, mpiexec is its "
            "launcher: install it, or put it into PATH",
            command, n, argv[0], mpis[mpi].name, mpis[mpi].launcher);
        return -1;
    }
    cores = cores_here();
    if (cores) {
        add_word(&words, "%s", launcher);
        add_word(&words, "-n");
        add_word(&words, "%u", n);
        if (mpi == OPEN_MPI)
            add_openmpi(&words, cores->n / n);
        else
            add_mpich(&words, cores, n);
        choose_settings(ranks, cores->n / n);
        add_rank(&words);
        for (char *const *word = argv; *word; word++)
            add_word(&words, "%s", *word);
    }
    ranks->argv = words.argv;
    if (!cores || words.failed)
        tool_error("out of memory");
    cores_free(cores);
    return !cores || words.failed ? -1 : 0;
}

void ranks_settings(const char *const *more, const struct ranks *ranks, const char **ret)
{
    size_t n = 0;

    for (size_t i = 0; more && more[i] && n < LAUNCH_MORE; i++)
        ret[n++] = more[i];
    for (size_t i = 0; ranks->more[i] && n < LAUNCH_MORE; i++)
        ret[n++] = ranks->more[i];
    ret[n] = NULL;
}

void ranks_done(struct ranks *ranks)
{
    for (char **word = ranks->argv; word && *word; word++)
        free(*word);
    free(ranks->argv);
    ranks->argv = NULL;
}

int ranks_launch(struct launch *launch, const char *command, unsigned n)
{
    const char *more[LAUNCH_MORE + 1], *const *own = launch->more;
    struct ranks ranks;
    int rc = -1;

    if (n == 0)
        return launch_all(launch, 1, 1, NULL, NULL);
    if (ranks_init(&ranks, command, launch->argv, n) == 0) {
        ranks_settings(own, &ranks, more);
        launch->nranks = n;
        launch->more = more;
        launch->ranks_argv = ranks.argv;
        rc = launch_all(launch, 1, 1, NULL, NULL);
        launch->more = own;
        launch->ranks_argv = NULL;
    }
    ranks_done(&ranks);
    return rc;
}

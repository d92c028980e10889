/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/images/host.c - see host.h. The executable begins by calling __libc_start_main with the
 * address of main; its import of that function is exchanged before, so that another main is
 * called in its place.
 */
#include "mpi/images/host.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "core/base/log.h"
#include "core/remote.h"
#include "mpi/images/copy.h"
#include "mpi/images/elf.h"
#include "mpi/images/originals.h"
#include "mpi/images/refusals.h"
#include "mpi/simulated/program.h"

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *main, int argc, char **argv,
                           void (*init)(void), void (*fini)(void),
                           void (*linker_fini)(void), void *stack_end);

/* Of the process, which has one executable. */
static struct {
    const struct orr_host *own;
    start_function *start;
    main_function *main;
    struct orr_cluster_ranks *ranks;
    struct orr_image *images; /* by rank */
    unsigned nranks;
    int argc;
    char **argv, **environment;
} host;

static struct orr_image *current_image(void)
{
    const struct orr_simulated_place *place = orr_self ? orr_simulated_place() : NULL;

    return place ? &host.images[place->rank] : NULL;
}

/* --- images --- */

static int make_images(struct orr_error *err)
{
    const struct link_map *program = orr_elf_program();
    const char *trouble = host.nranks > 1 ? orr_copy_trouble() : NULL;
    size_t main = (size_t)((const char *)(void *)host.main - (const char *)program->l_addr);
    struct orr_originals *originals;
    int rc;

    if (trouble)
        return orr_fail(err, -EINVAL, "%s", trouble);
    host.images = calloc(host.nranks, sizeof(*host.images));
    if (!host.images)
        return orr_fail(err, -ENOMEM, "out of memory");
    rc = orr_originals_find(host.nranks - 1, &originals, err);
    if (rc < 0)
        return rc;
    for (unsigned i = 1; rc == 0 && i < host.nranks; i++)
        rc = orr_originals_copy(originals, main, host.own->find, &host.images[i], err);
    if (rc == 0)
        rc = orr_originals_use(originals, main, host.own->find, &host.images[0], err);
    orr_originals_free(originals);
    return rc;
}

/* --- ranks --- */

static void rank_main(int rank, void *arg)
{
    struct orr_image *image = &host.images[rank];

    (void)arg;
    orr_image_run(image, host.argc, host.argv, host.environment);
    host.own->end_rank();
}

static int status_of_all(void)
{
    for (unsigned i = 0; i < host.nranks; i++)
        if (host.images[i].status)
            return host.images[i].status;
    return 0;
}

/* As they are when MPI has begun. */
static int copy_variables(void)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < host.nranks; i++)
        rc = orr_image_copy_variables(&host.images[i], host.own->variables);
    if (rc)
        orr_log_error("%u simulated ranks: out of memory", host.nranks);
    return rc;
}

/* Begins MPI, whose libraries may catch signals (LLVM's, which an OpenCL of hwloc's loads): those
 * that would end the process end the ranks, which save their files first. */
static void begin_mpi(void)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct sigaction before[2];

    for (unsigned i = 0; i < 2; i++)
        sigaction(signals[i], NULL, &before[i]);
    host.own->begin();
    for (unsigned i = 0; i < 2; i++)
        if (before[i].sa_handler == SIG_DFL)
            sigaction(signals[i], &before[i], NULL);
}

/* In the place of the program's. */
static int host_main(int argc, char **argv, char **environment)
{
    struct orr_error err = {""};
    int status = EXIT_FAILURE;

    host.argc = argc;
    host.argv = argv;
    host.environment = environment;
    host.nranks = host.ranks->n;
    if (make_images(&err) < 0) {
        orr_log_error("the program cannot be run as %u simulated ranks: %s", host.nranks,
                      err.text);
        return EXIT_FAILURE;
    }
    orr_image_current = current_image;
    begin_mpi();
    if (copy_variables() == 0 &&
        orr_simulated_program_run_on(host.ranks, host.nranks, rank_main, NULL) == 0)
        status = status_of_all();
    host.own->end();
    orr_image_current = NULL;
    for (unsigned i = 0; i < host.nranks; i++)
        orr_image_done(&host.images[i]);
    free(host.images);
    orr_remote_forget_cluster(host.ranks);
    return status;
}

/* --- before main --- */

static int start_instead(main_function *main, int argc, char **argv, void (*init)(void),
                         void (*fini)(void), void (*linker_fini)(void), void *stack_end)
{
    host.main = main;
    return host.start(host_main, argc, argv, init, fini, linker_fini, stack_end);
}

static void exchange_start(const struct orr_import *import, void *arg)
{
    start_function *instead = start_instead;

    (void)arg;
    if (import->addend != 0 || strcmp(import->name, "__libc_start_main") != 0)
        return;
    memcpy(&host.start, import->slot, sizeof(host.start));
    memcpy(import->slot, &instead, sizeof(instead));
}

/* A launcher has started several processes, of which each would be all ranks. */
static const char *find_launcher(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const char *text = getenv(sizes[i]);

        if (text && atoi(text) > 1)
            return sizes[i];
    }
    return NULL;
}

static _Noreturn void give_up(const char *reason)
{
    orr_log_error("ORRERY_MACHINE=%s: %s", getenv("ORRERY_MACHINE"), reason);
    exit(EXIT_FAILURE);
}

static void answer_alone(const struct orr_import *import, void *arg)
{
    const orr_finder *find = arg;
    orr_function function = import->addend ? NULL : (*find)(import->name);

    if (!function && !import->addend && orr_refusal_is_due_alone(import->name))
        function = orr_refusal_of(import->name);
    if (function)
        memcpy(import->slot, &function, sizeof(function));
}

void orr_host_alone(orr_finder find)
{
    struct orr_originals *originals;
    struct orr_error err = {""};
    int rc = orr_originals_find(0, &originals, &err);

    orr_refusals_say("this process is one rank of several without the others "
                     "(STARPU_MPI_FAKE_SIZE), which would have to take part: record them together "
                     "(ORRERY_RECORD=FILE.rec mpirun ...), or simulate all ranks (orrery run -m "
                     "CLUSTER)");
    if (rc == 0) {
        rc = orr_originals_each_import(originals, answer_alone, &find, &err);
        orr_originals_free(originals);
    }
    if (rc)
        orr_log_warning("STARPU_MPI_FAKE_SIZE: functions of MPI will say that there is one rank: "
                        "%s",
                        err.text);
}

void orr_host_watch(const struct orr_host *own)
{
    const char *name = getenv("ORRERY_MACHINE");
    const struct link_map *program = orr_elf_program();
    struct orr_error err = {""};
    int rc;

    if (!name || !*name)
        return;
    rc = orr_remote_read_cluster(name, &host.ranks, &err);
    if (rc > 0)
        return;
    if (rc < 0)
        give_up(err.text);
    if (find_launcher())
        give_up("a cluster is simulated by one process, and several were started: leave mpirun "
                "out");
    host.own = own;
    if (orr_elf_set_writable(program, true)) {
        orr_elf_each_import(program, exchange_start, NULL);
        (void)orr_elf_set_writable(program, false);
    }
    if (!host.start)
        give_up("the program does not begin as programs of this system do, so that it cannot be "
                "run as ranks: record each rank (orrery record --ranks)");
}

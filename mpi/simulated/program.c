/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/simulated/program.c - see program.h. */
#include "mpi/simulated/program.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "core/base/log.h"
#include "core/base/wait.h"
#include "core/remote.h"
#include "mpi/simulated/output.h"

struct member {
    struct orr_simulated_place place; /* first */
    const struct orr_simulated_program *program;
    const bool *begins; /* all could be started */
    struct orr_context *context; /* NULL: the caller */
    char name[32];
};

struct orr_simulated_place *orr_simulated_place(void)
{
    return orr_remote_place();
}

static int run_member(struct member *member)
{
    const struct orr_simulated_program *program = member->program;
    int rank = member->place.rank;
    int rc = orr_remote_enter_program(
        rank, program->settings ? program->settings[rank] : NULL, member);

    if (rc == 0)
        rc = orr_simulated_seat(member->place.net, rank,
                                program->processors ? &program->processors[rank] : NULL);
    if (rc) {
        orr_log_error("rank %d: out of memory", rank);
        return rc;
    }
    program->main(rank, program->arg);
    if (orr_self->runtime) {
        orr_log_error("the rank ends, by exit or by a return from main, before starpu_shutdown "
                      "or starpu_mpi_shutdown, so that other ranks would wait for it: call "
                      "that first, on all ranks");
        orr_runtime_fail(orr_self->runtime);
    }
    orr_simulated_output_take(rank, true);
    (void)orr_simulated_seat(member->place.net, rank, NULL);
    orr_remote_leave_program();
    return 0;
}

static void member_body(void *arg)
{
    struct member *member = arg;

    /* Without it the others would wait for ever. */
    if (*member->begins && run_member(member))
        abort();
    orr_context_end();
}

static int start_member(struct member *member)
{
    struct orr_exec *exec = orr_self->exec;
    struct orr_context init = {.name = member->name};
    int rc;

    snprintf(member->name, sizeof(member->name), "main of rank %d", member->place.rank);
    rc = exec->ops->spawn(exec, &init, -1, member_body, member, &member->context);
    if (rc)
        orr_log_error("rank %d could not be started: error %d", member->place.rank, rc);
    return rc;
}

/* As the context that is left. `last`: the process ends. */
static void take_output(bool last)
{
    const struct orr_simulated_place *place = orr_simulated_place();

    orr_simulated_output_take(place ? place->rank : 0, false);
    if (last)
        orr_simulated_output_end();
}

/* Who calls exit elsewhere than in main of a rank ends the process. */
static void take_rest(void)
{
    take_output(true);
}

static int run_members(const struct orr_simulated_program *program, struct orr_simulated *net,
                       struct member *members)
{
    static const struct orr_awaited awaited = {.noun = "the end of the other ranks"};
    unsigned n = program->conf.nranks;
    bool begins = false;
    int rc = 0;

    for (unsigned i = 0; i < n; i++)
        members[i] = (struct member){
            .place = {.net = net, .rank = (int)i}, .program = program, .begins = &begins};
    for (unsigned i = 1; rc == 0 && i < n; i++)
        rc = start_member(&members[i]);
    begins = rc == 0;
    if (begins)
        rc = run_member(&members[0]);
    for (unsigned i = 1; i < n; i++)
        if (members[i].context)
            orr_context_join(&awaited, members[i].context);
    return rc;
}

void orr_simulated_allow_files(unsigned n)
{
    static const rlim_t others = 256; /* of the program and its libraries */
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= n + others)
        return;
    limit.rlim_cur = n + others < limit.rlim_max ? n + others : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int read_settings(size_t *ret_most, bool *ret_prefix, struct orr_error *err)
{
    struct orr_config config;
    int rc = orr_config_read(&config, err);

    if (rc)
        return rc;
    *ret_prefix = orr_config_bool(&config, ORR_CFG_SIM_PREFIX);
    if (orr_config_is_set(&config, ORR_CFG_SIM_MPI_VALUES)) {
        int most = orr_config_int(&config, ORR_CFG_SIM_MPI_VALUES);

        *ret_most = most > 0 ? (size_t)most : 1;
    }
    orr_config_done(&config);
    return 0;
}

int orr_simulated_program_run(const struct orr_simulated_program *program)
{
    struct orr_simulated_conf conf = program->conf;
    struct member *members = calloc(conf.nranks, sizeof(*members));
    struct orr_simulated *net = NULL;
    struct orr_error err = {"out of memory"};
    bool prefix = false;
    int rc = -ENOMEM;

    conf.cluster = orr_remote_cluster();
    if (members)
        rc = conf.cluster ? read_settings(&conf.most_values, &prefix, &err) : -EINVAL;
    if (rc == 0)
        rc = orr_simulated_new(&conf, &net, &err);
    if (rc == 0 && prefix)
        rc = orr_simulated_output_begin(conf.nranks, &err);
    if (rc == 0) {
        orr_self->exec->turn_ends = prefix ? take_output : NULL;
        if (prefix && atexit(take_rest))
            orr_log_warning("what ranks have written when one of them calls exit may be lost: "
                            "out of memory");
        rc = run_members(program, net, members);
        orr_self->exec->turn_ends = NULL;
        orr_simulated_output_end();
    } else if (conf.cluster) {
        orr_log_error("%u simulated ranks: %s", conf.nranks, err.text);
    }
    if (net)
        orr_simulated_free(net);
    free(members);
    return rc;
}

/* Of a rank, before the environment's. */
enum { NSETTINGS = 4 };

static void place_members(const struct orr_cluster_ranks *cluster,
                          struct orr_simulated_program *program, unsigned *nodes,
                          struct orr_setting (*settings)[NSETTINGS],
                          const struct orr_setting **first,
                          struct orr_cluster_processors *processors)
{
    const char *ncpu = getenv("STARPU_NCPU");

    for (unsigned i = 0; i < program->conf.nranks; i++) {
        const struct orr_cluster_rank *rank = &cluster->at[i];

        nodes[i] = rank->node;
        settings[i][0] = (struct orr_setting){ORR_CFG_MACHINE, rank->machine};
        settings[i][1] = (struct orr_setting){ORR_CFG_SET, rank->edits};
        /* As orrery run -n has it: else none would be left for a worker. */
        processors[i] = rank->processors;
        settings[i][2] = rank->processors.n > 0 && !ncpu ? (struct orr_setting){ORR_CFG_NCPU, "1"}
                                                   : (struct orr_setting){0, NULL};
        settings[i][3] = (struct orr_setting){0, NULL};
        first[i] = settings[i];
    }
    program->conf.nodes = nodes;
    program->settings = first;
    program->processors = processors;
}

int orr_simulated_program_run_on(const struct orr_cluster_ranks *cluster, unsigned n,
                                 void (*main)(int rank, void *arg), void *arg)
{
    unsigned *nodes = calloc(n, sizeof(*nodes));
    struct orr_setting(*settings)[NSETTINGS] = calloc(n, sizeof(*settings));
    const struct orr_setting **first = calloc(n, sizeof(const struct orr_setting *));
    struct orr_cluster_processors *processors = calloc(n, sizeof(*processors));
    struct orr_simulated_program program = {
        .conf = {.nranks = n, .nnodes = cluster->nnodes, .network = cluster->network},
        .main = main,
        .arg = arg,
    };
    int rc = -ENOMEM;

    if (nodes && settings && first && processors) {
        place_members(cluster, &program, nodes, settings, first, processors);
        rc = orr_simulated_program_run(&program);
    } else {
        orr_log_error("%u simulated ranks: out of memory", n);
    }
    free(nodes);
    free(settings);
    free(first);
    free(processors);
    return rc;
}

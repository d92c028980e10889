/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/ranks/ranks.c - see ranks.h. */
#include "replay/ranks/ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/exec.h"
#include "core/base/log.h"
#include "core/remote.h"
#include "mpi/simulated/program.h"
#include "replay/ranks/messages.h"

/* All ranks. */
struct program {
    char **paths; /* owned, by rank */
    unsigned n;
    const struct orr_player_host *host;
    struct played_comm *comms; /* owned */
    int error;                 /* the first one */
};

/* --- the records --- */

/* The path of that rank's record. NULL: no memory, or no "rank0". */
static char *path_of(const char *path, unsigned rank)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *at = NULL;
    size_t size = strlen(path) + 16;
    char *ret;

    for (const char *word = name; (word = strstr(word, "rank0")); word++)
        if ((word == name || word[-1] == '.') && (word[5] == '.' || !word[5]))
            at = word;
    ret = at ? malloc(size) : NULL;
    if (ret)
        snprintf(ret, size, "%.*srank%u%s", (int)(at - path), path, rank, at + 5);
    return ret;
}

/* -EINVAL after a message. */
static int find_records(struct program *program, const char *path)
{
    program->paths = calloc(program->n, sizeof(char *));
    for (unsigned rank = 0; program->paths && rank < program->n; rank++) {
        FILE *file;

        program->paths[rank] = path_of(path, rank);
        if (!program->paths[rank])
            return orr_log_error("%s: the record of a rank of %u: name that of rank 0, in "
                                 "which \"rank0\" stands for the others'",
                                 path, program->n),
                   -EINVAL;
        file = fopen(program->paths[rank], "r");
        if (!file)
            return orr_log_error("%s: the record of rank %u, of %u: %s: make it with orrery "
                                 "record --ranks %u --rank %u",
                                 program->paths[rank], rank, program->n, strerror(errno),
                                 program->n, rank),
                   -EINVAL;
        fclose(file);
    }
    return program->paths ? 0 : -ENOMEM;
}

/* --- a rank --- */

/* Threads that a rank starts run no code of an application, but policies. Of the thousands of
 * stacks each is used in turn, for a few hundred bytes: where they lie close together the tables
 * of pages by which the processor finds them take a quarter. */
static void narrow_stacks(void)
{
    static const size_t enough = (size_t)256 << 10;
    struct orr_exec *exec = orr_self->exec;

    if (exec->stack_size > enough && !getenv("STARPU_SCHED_LIB"))
        exec->stack_size = enough;
}

static void play_rank(int number, void *arg)
{
    struct program *program = arg;
    struct played_rank played = {
        .number = number, .size = (int)program->n, .comms = &program->comms};
    struct player *player;
    struct orr_error err = {""};
    int rc = player_ops.open(program->paths[number], program->host, &player, &err);

    narrow_stacks();
    if (rc) {
        orr_log_error("%s", err.text);
    } else {
        player->messages = &played_messages;
        player->rank = &played;
        /* Memory that a rank pins is none of the others'. */
        player->address = (uintptr_t)(number + 1) << 40;
        rc = player_ops.play(player);
        if (rc == 0 && played.rank)
            player_fail(player, "the record has no `end-rank'");
        player_ops.close(player);
    }
    played_rank_done(&played);
    /* The others would wait for it. */
    if (rc)
        program->host->fail(program->host->arg);
}

/* --- all of them --- */

int ranks_play(const char *path, unsigned n, const struct orr_cluster_ranks *cluster,
               const struct orr_player_host *host)
{
    struct program program = {.n = n, .host = host};
    int rc = find_records(&program, path);

    orr_simulated_allow_files(n); /* its record */
    if (rc == 0)
        rc = orr_simulated_program_run_on(cluster, n, play_rank, &program);
    if (rc == 0)
        rc = program.error;
    for (unsigned i = 0; program.paths && i < n; i++)
        free(program.paths[i]);
    free(program.paths);
    played_comms_free(program.comms);
    return rc;
}

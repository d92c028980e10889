/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/server.h - processes that do one job after the other, where a program takes
 * jobs: what a process has to do before it can begin, it does once. The jobs are those of
 * replay/jobs.h. A job that fails ends its process, as one of its own would end. One thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct server {
    pid_t pid;         /* 0: it has ended, or was never there */
    int socket;        /* jobs go there, answers come from there; -1 */
    int output;        /* what it prints; -1: that is passed on */
    char *program;     /* owned */
    bool quiet, apart; /* as those of struct process, of its jobs */
    bool works;        /* it has a job */
};

/* Gives it a job: a record, and settings of the environment, as those of struct process.
 * Returns false when it has ended meanwhile. */
bool server_begin(struct server *server, const char *record,
                  const char *const *settings);

/* Takes an answer, if one has come: whether the job has ended well. Else the end of the
 * process tells. Does not wait. */
bool server_has_ended_job(struct server *server);

/* Ends one that is idle, or was found to have ended; waits for that. */
void server_end(struct server *server);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/jobs.h - play-record as a process that plays one record after the other. Who
 * sends jobs is tools/common/server.h. One thread.
 *
 * A job is a number of bytes, uint32_t as this machine has it, and as many bytes: texts,
 * each with its null character. The first is the record; those behind it are settings of
 * the environment, "NAME=value" or "NAME", which is taken out; they are gone before the
 * next job. The answer to a job that went well is its exit status, an int: 0. After one
 * that did not, the process ends as one does that has played this record alone: its end is
 * the answer.
 */
#pragma once

/* Plays what comes on the socket, until its other end is closed: then returns 0. `play`
 * returns the exit status of a process that plays this record alone. */
int jobs_serve(int socket, int (*play)(const char *path));

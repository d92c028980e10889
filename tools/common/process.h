/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/process.h - child processes: several at once, their output passed
 * through or kept, all of them ended when the tool is interrupted. One
 * thread, one group of children at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* What is done beside one that runs alone: `act` whenever `fd` can be read (-1: none), and
 * at least every so many ms. */
struct process_meanwhile {
    int fd, every_ms;
    void (*act)(void *arg);
    void *arg;
};

struct process {
    /* Filled in by the caller; borrowed. */
    char *const *argv;
    const char *const *set; /* NULL-terminated: "NAME=value" is added to the
                             * environment, "NAME" taken out of it */
    bool quiet;             /* keep the output instead of passing it on */
    bool apart;             /* quiet: keep the standard output alone; messages on
                             * the other stream are lost */
    bool takes_jobs;        /* the program with the argument --jobs=SOCKET does this, and
                             * then what else comes (server.h) */
    const struct process_meanwhile *meanwhile; /* or NULL */
    /* Filled in by the calls below. */
    pid_t pid;  /* 0 before and after it runs */
    int output; /* pipe to read from, -1 */
    char *text; /* quiet: what it printed; owned */
    size_t length;
    bool ended;
    int error;  /* errno when it could not be started, else 0 */
    int status; /* as of waitpid, once ended */
    double start_s, wall_s;
    struct server *server; /* that does it now, or NULL: it has a process of its own */
};

/* Runs all `n`, at most `at_once` at a time; of several that take jobs one process does
 * one after the other, as long as that goes well. `ended` (may be NULL) is called with
 * `arg` and the number of each that ends by itself or cannot be started. Returns 0,
 * or the number of the signal that interrupted it: then all children have been
 * ended. */
int process_run(struct process *processes, size_t n, unsigned at_once,
                void (*ended)(void *arg, size_t which), void *arg);

/* In a child: it ends with its parent, whatever ends that. `parent` is what getpid said before
 * the fork: where the parent has ended meanwhile, the child ends here. */
void process_end_with(pid_t parent);

void process_done(struct process *process);

/* The exit code a shell would show: 128 + signal when it was killed. */
int process_exit_code(const struct process *process);

/* Copies the most useful line of the text for a failure: the first of the
 * library's own errors, else the last line that is not empty, else "". Returns
 * whether it is one of the library's. */
bool process_error_line(const struct process *process, char *to, size_t size);

/* Prints all errors of the library's own in the text, indented. */
void process_print_errors(const struct process *process, FILE *to);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fake/fake-run.h - programs on the fake machine: a sampling directory of
 * their own, kernels that take the time which a function of the test returns,
 * and waves of tasks with a barrier after each. One thread.
 */
#pragma once

#include <starpu.h>

enum { FAKE_MAXWORKERS = 32 };

/* µs that run number `nth` (from 0) of any kernel on the worker takes, with
 * that implementation. Called for each run, in the order in which they start.
 */
typedef double (*fake_duration)(unsigned worker, unsigned impl,
                                unsigned long nth);

struct fake_options {
    const char *sched;    /* policy */
    const char *machine;  /* "fake", "asynchronous", "paced" */
    unsigned ncuda, ncpu; /* workers 0 … ncuda − 1 drive devices */
    int calibrate;        /* STARPU_CALIBRATE */
    fake_duration duration;
};

/* What the kernels did so far in this run. */
struct fake_tally {
    unsigned long n[FAKE_MAXWORKERS];
    unsigned long impls[FAKE_MAXWORKERS][STARPU_MAXIMPLEMENTATIONS];
    double us[FAKE_MAXWORKERS];
};

extern struct fake_tally fake_tally;

/* The codelet of all tasks: implementation 0 on CUDA, and on CPUs if there
 * are; its model is named "kernel". A test may change it before the first
 * task. */
extern struct starpu_codelet fake_codelet;

/* For a second implementation. */
void fake_kernel_1(void **buffers, void *arg);

/* Makes an empty sampling directory, which the next runs share. The test
 * removes it. */
void fake_directory(void);
void fake_directory_remove(void);

void fake_start(const struct fake_options *options);

/* Ends the run, which saves its models. */
void fake_stop(void);

/* Submits n tasks in waves of w, with a barrier after each; returns the
 * virtual time that they took in µs. */
double fake_waves(unsigned long n, unsigned long w);

/* Uniform within 1 ± spread, from a generator that fake_start seeds anew. */
double fake_noise(double spread);

/* Puts a model file into the directory; `text` is its whole content. */
void fake_model_file(const char *name, const char *text);

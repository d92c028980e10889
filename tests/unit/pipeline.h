/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/pipeline.h - the schedules that a device with queues keeps, whatever its
 * driver is, on a virtual clock (on-clock.c).
 */
#pragma once

#include <check.h>
#include <starpu.h>

/* A policy under which nothing is fetched before a worker has its task. */
extern struct starpu_sched_policy pipeline_policy;

/* A driver's: `open' starts the runtime with one device and that policy. Its kernels
 * take 100 us, its copies so many and 1 us per 100 bytes. The codelet's function,
 * for one buffer, calls pipeline_run in the middle of the kernel. */
struct pipeline_device {
    void (*open)(unsigned copy_us, unsigned pipeline);
    struct starpu_codelet *codelet;
};

/* The argument of the task is an int, its number; `bytes' is the buffer. */
void pipeline_run(int number, char *bytes);

/* Tests of the device's schedules. */
void pipeline_add_tests(TCase *tc, const struct pipeline_device *device);

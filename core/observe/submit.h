/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/submit.h - what is kept of submissions where a file of them is asked
 * for (submissions.h). Any context.
 */
#pragma once

struct orr_handle;
struct orr_job;
struct orr_submissions;

/* A task is submitted: its job has a number. */
void orr_submit_task(struct orr_submissions *submissions,
                     const struct orr_job *job, double time);

/* The application says that it will not use the datum for long. */
void orr_submit_wont_use(struct orr_submissions *submissions,
                         const struct orr_handle *handle, double time);
